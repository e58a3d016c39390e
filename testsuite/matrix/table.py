#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""table.py record VERSION COMMIT RESULTS FILE | keep FILE | print | check

The table feature x release of doc/compatibility.md. The file `ran`, beside this one, holds
one line for each release and feature: VERSION, tests passed, tests failed, COMMIT, DATE
and the feature, with tabs between them.
record: adds to FILE what a run of unit, system and chaos left in the directory RESULTS.
keep: puts FILE's releases into `ran`, in the place of older runs of the same
release, and writes the table into doc/compatibility.md.
print: the table. check: is the document's table that of `ran`? 1 if not."""

import collections
import datetime
import pathlib
import re
import sys
import xml.etree.ElementTree as xml

HERE = pathlib.Path(__file__).resolve().parent
RAN = HERE / "ran"
DOCUMENT = HERE.parents[1] / "doc/compatibility.md"
BEGIN, END = "<!-- testsuite/matrix/table.py writes this table -->\n", "<!-- its end -->\n"

Row = collections.namedtuple("Row", "version passed failed commit date feature")


def features():
    """{feature: [names of files without test_ and .py]}, in the order of the table."""
    rows = {}
    for line in (HERE / "features").read_text().splitlines():
        if line and not line.startswith("#"):
            name, _, files = line.rpartition(": ")
            rows[name] = files.split()
    return rows


def counts(results, part):
    """(passed, failed) of one part of check.sh; None if it did not run."""
    try:
        text = (results / f"{part}.counts").read_text().split()
    except FileNotFoundError:
        return None
    return int(text[0]), int(text[1])


def system(results):
    """{file: [passed, failed]} of the system tests."""
    files = collections.defaultdict(lambda: [0, 0])
    for case in xml.parse(results / "system.xml").iter("testcase"):
        if case.find("skipped") is None:
            bad = case.find("failure") is not None or case.find("error") is not None
            name = case.get("classname").split(".")[0].removeprefix("test_")
            files[name][bad] += 1
    return files


def rows_of(version, commit, results):
    date = datetime.date.today().isoformat()
    for part, feature in (("unit", "unit tests"), ("chaos", "chaos, runs")):
        got = counts(results, part)
        if got:
            yield Row(version, *got, commit, date, feature)
    files = system(results)
    for feature, names in features().items():
        passed, failed = (sum(files[n][i] for n in names if n in files) for i in (0, 1))
        yield Row(version, passed, failed, commit, date, feature)


def read(path):
    rows = []
    for line in path.read_text().splitlines():
        version, passed, failed, commit, date, feature = line.split("\t")
        rows.append(Row(version, int(passed), int(failed), commit, date, feature))
    return rows


def release(version):
    return tuple(int(n) for n in version.split(".")[:2])


def keep(new):
    """Replaces all rows of each release that `new` has."""
    old = read(RAN) if RAN.exists() else []
    fresh = {release(r.version) for r in new}
    rows = [r for r in old if release(r.version) not in fresh] + new
    rows.sort(key=lambda r: release(r.version))     # stable: features stay in their order
    RAN.write_text("".join("\t".join(map(str, r)) + "\n" for r in rows))


def cell(row):
    if row is None or row.passed + row.failed == 0:
        return "-"
    return f"{row.passed}, {row.failed} failed" if row.failed else str(row.passed)


def table():
    rows = read(RAN)
    versions = list(dict.fromkeys(r.version for r in rows))
    got = {(r.version, r.feature): r for r in rows}
    runs = {r.version: r for r in rows}
    names = ["unit tests", *features(), "chaos, runs"]
    lines = [["tests that passed", *versions], ["---"] * (len(versions) + 1)]
    lines += [[n, *(cell(got.get((v, n))) for v in versions)] for n in names]
    lines += [["commit", *(runs[v].commit for v in versions)],
              ["date", *(runs[v].date for v in versions)]]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def in_document(text, new):
    found = re.search(re.escape(BEGIN) + "(.*?)" + re.escape(END), text, re.S)
    if not found:
        sys.exit(f"{DOCUMENT.name} has no place for the table: {BEGIN.strip()}")
    return text[:found.start(1)] + "\n" + new + "\n" + text[found.end(1):]


def main(verb, *args):
    if verb == "record" and len(args) == 4:
        version, commit, results, path = args
        with open(path, "a") as out:
            for row in rows_of(version, commit, pathlib.Path(results)):
                out.write("\t".join(map(str, row)) + "\n")
    elif verb == "keep" and len(args) == 1:
        keep(read(pathlib.Path(args[0])))
        DOCUMENT.write_text(in_document(DOCUMENT.read_text(), table()))
    elif verb == "print" and not args:
        print(table(), end="")
    elif verb == "check" and not args:
        text = DOCUMENT.read_text()
        if in_document(text, table()) != text:
            sys.exit("doc/compatibility.md's table is not that of testsuite/matrix/ran: "
                     "table.py keep writes it")
    else:
        sys.exit(__doc__.splitlines()[0])


if __name__ == "__main__":
    main(*(sys.argv[1:] or [""]))
