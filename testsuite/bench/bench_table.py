#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""bench_table.py FILE...: what bench.sh printed becomes the table of
doc/performance.md. What the table says of a figure's cause stays beside its name; figures
that were not measured this time stay as they are."""

import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).parents[2] / "doc/performance.md"
BEGIN = "| figure | measured | bar | | remark |\n|---|---|---|---|---|\n"
LINE = re.compile(r"(\S+) (-?[\d.]+(?:e[-+]\d+)?) (\S+) ((?:>=)?[\d.]+) (pass|fail)")


def figures(text):
    """{name: (measured, bar, verdict)} of bench.sh's lines."""
    found = {}
    for ln in text.splitlines():
        m = LINE.fullmatch(ln)
        if m:
            name, value, unit, bar, verdict = m.groups()
            least = bar.startswith(">=")
            found[name] = (f"{float(value):g} {unit}",
                           f"{'≥' if least else '≤'} {bar.lstrip('>=')}",
                           verdict)
    return found


def renewed(page, found):
    head, begin, rest = page.partition(BEGIN)
    if not begin:
        sys.exit("bench_table.py: doc/performance.md has no table of figures")
    rows = {}
    while rest.startswith("| `"):
        row, _, rest = rest.partition("\n")
        cells = [c.strip() for c in row.strip("|").split("|")]
        rows[cells[0].strip("`")] = cells[1:]
    for name, (measured, bar, verdict) in found.items():
        remark = rows.get(name, [""])[-1]
        rows[name] = [measured, bar,
                      "**fail**" if verdict == "fail" else verdict, remark]
    table = "".join(f"| `{name}` | {' | '.join(cells)} |\n".replace("  |", " |")
                    for name, cells in rows.items())
    return head + begin + table + rest


def main():
    if len(sys.argv) < 2:
        sys.exit("bench_table.py: the files that bench.sh printed are expected")
    found = figures("\n".join(pathlib.Path(f).read_text()
                              for f in sys.argv[1:]))
    if not found:
        sys.exit("bench_table.py: no line of bench.sh is in these files")
    PAGE.write_text(renewed(PAGE.read_text(), found))


if __name__ == "__main__":
    main()
