#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""bench_table.py FILE...: what bench.sh printed becomes the tables of
doc/performance.md: the figures, and for each part of bench.sh when and where it ran. What
the table says of a figure's cause stays beside its name; figures that were not measured
this time stay as they are. Figures that are better than half their bar are printed: their
bars are to be tightened."""

import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).parents[2] / "doc/performance.md"
BEGIN = ("| figure | part | measured | bar | | remark |\n"
         "|---|---|---|---|---|---|\n")
BEGIN_RUNS = ("| part | date | commit | processors | load before and after | Slurm |\n"
              "|---|---|---|---|---|---|\n")
LINE = re.compile(r"(\S+) (-?[\d.]+(?:e[-+]\d+)?) (\S+) ((?:>=)?[\d.]+) (pass|fail)")
# The two lines that bench.sh prints around a part.
STARTED = re.compile(r"# (\S+): started (\S+), commit (\S+), (\d+) processors, "
                     r"load (\S+), Slurm (\S+)")
ENDED = re.compile(r"# (\S+): ended, load (\S+)")


def figures(text):
    """{name: (part, measured, bar, verdict)} of bench.sh's lines."""
    found, part = {}, ""
    for ln in text.splitlines():
        started = STARTED.fullmatch(ln)
        if started:
            part = started.group(1)
        m = LINE.fullmatch(ln)
        if m:
            name, value, unit, bar, verdict = m.groups()
            least = bar.startswith(">=")
            found[name] = (part, f"{float(value):g} {unit}",
                           f"{'≥' if least else '≤'} {bar.lstrip('>=')}",
                           verdict)
    return found


def runs(text):
    """{part: [date, commit, processors, load, Slurm]}, of parts that came to their end."""
    found, begun = {}, {}
    for ln in text.splitlines():
        m = STARTED.fullmatch(ln)
        if m:
            begun[m.group(1)] = m.groups()[1:]
        m = ENDED.fullmatch(ln)
        if m and m.group(1) in begun:
            date, commit, processors, load, slurm = begun.pop(m.group(1))
            found[m.group(1)] = [date, commit, processors,
                                 f"{load}, {m.group(2)}", slurm]
    return found


def table(page, begin):
    """The page before the table, its rows as {name: other cells}, and the page after."""
    head, found, rest = page.partition(begin)
    if not found:
        sys.exit(f"bench_table.py: doc/performance.md has no table {begin.splitlines()[0]}")
    rows = {}
    while rest.startswith("| `"):
        row, _, rest = rest.partition("\n")
        cells = [c.strip() for c in row.strip("|").split("|")]
        rows[cells[0].strip("`")] = cells[1:]
    return head, rows, rest


def written(begin, rows):
    return begin + "".join(
        f"| `{name}` | {' | '.join(cells)} |\n".replace("  |", " |")
        for name, cells in rows.items())


def renewed(page, text):
    """The page with what is found in text, which bench.sh printed."""
    head, rows, rest = table(page, BEGIN_RUNS)
    rows.update(runs(text))
    page = head + written(BEGIN_RUNS, rows) + rest
    head, rows, rest = table(page, BEGIN)
    for name, (part, measured, bar, verdict) in figures(text).items():
        rows[name] = [part, measured, bar,
                      "**fail**" if verdict == "fail" else verdict,
                      rows.get(name, [""])[-1]]
    return head + written(BEGIN, rows) + rest


def loose(text):
    """Names of the figures that are better than half their bar, or twice it."""
    names = []
    for name, (_, measured, bar, _) in figures(text).items():
        value, limit = float(measured.split()[0]), float(bar[2:])
        if limit and (value > 2 * limit if bar[0] == "≥" else value < limit / 2):
            names.append(name)
    return names


def main():
    if len(sys.argv) < 2:
        sys.exit("bench_table.py: the files that bench.sh printed are expected")
    text = "\n".join(pathlib.Path(f).read_text() for f in sys.argv[1:])
    if not figures(text):
        sys.exit("bench_table.py: no line of bench.sh is in these files")
    PAGE.write_text(renewed(PAGE.read_text(), text))
    for name in loose(text):
        print(f"{name} is better than half its bar: tighten the bar in testsuite/bench")


if __name__ == "__main__":
    main()
