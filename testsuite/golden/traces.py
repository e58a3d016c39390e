#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""traces.py make BUILD DIR | compare DIR DIR | print BUILD SEED | keep BUILD

The calls that the engine sends to the fake vCenter and to Slurm in 200 worlds of
unit/test_engine_model.c, with their fields and without texts for people. A step
that changes no behaviour leaves them as they are.

  make      writes the traces of a build into a new directory, one file per world
  compare   compares two such directories: the first difference of the first world
            that differs, and how many worlds differ
  print     prints the trace of one world
  keep      writes the digests of a build into model_traces.txt, which the unit
            test compares; for a change that is meant to change calls

BUILD is a build directory, as contribs/check.sh unit leaves one below $VS_CACHE.
"""

import difflib
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

KEPT = pathlib.Path(__file__).resolve().parent / "model_traces.txt"
HEAD = """\
# What the engine sends in each world of unit/test_engine_model.c: world, lines,
# digest. Written by `traces.py keep BUILD`; see doc/dev/testing.md, golden traces.
"""


def make(build, directory):
    """The traces of a build, and the file `digests`, in a directory."""
    program = pathlib.Path(build) / "testsuite/unit/test_engine_model"
    if not program.is_file():
        sys.exit(f"{program} does not exist: build it with `make check-programs`")
    done = subprocess.run([str(program)], text=True, capture_output=True, check=False,
                          env={**os.environ, "VS_TRACE": str(directory)})
    if done.returncode:
        sys.exit(f"{program} failed:\n{done.stdout}{done.stderr}")


def worlds(directory):
    """The names of the traces in a directory, in order."""
    names = [p.name for p in pathlib.Path(directory).iterdir() if p.name.isdigit()]
    if not names:
        sys.exit(f"{directory} holds no traces")
    return sorted(names, key=int)


def first_difference(old, new):
    """(line number, old line, new line) or None; a line that is missing is ""."""
    for n, (a, b) in enumerate(itertools.zip_longest(old, new, fillvalue=""), 1):
        if a != b:
            return n, a, b
    return None


def fields_that_differ(old, new):
    """The words of one line that the other doesn't have, as `OLD -> NEW`."""
    a, b = old.split(), new.split()
    for what, i, j, k, n in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if what != "equal":
            yield f"{' '.join(a[i:j]) or '(none)'} -> {' '.join(b[k:n]) or '(none)'}"


def lines(directory, name):
    f = pathlib.Path(directory) / name
    return f.read_text().splitlines() if f.is_file() else []


def compare(old, new, names, what):
    """The first difference of the files of these names, and how many differ."""
    differ = [n for n in names if lines(old, n) != lines(new, n)]
    if not differ:
        print(f"{len(names)} {what}s, no difference")
        return 0
    n, a, b = first_difference(lines(old, differ[0]), lines(new, differ[0]))
    print(f"{what} {differ[0]}, line {n}:\n- {a or '(no more calls)'}\n+ {b or '(no more calls)'}")
    if a and b:
        print("differs: " + ", ".join(fields_that_differ(a, b)))
    print(f"{len(differ)} of {len(names)} {what}s differ")
    return 1


def main(words):
    command, words = (words[0], words[1:]) if words else ("", [])
    if command == "make" and len(words) == 2:
        pathlib.Path(words[1]).mkdir()
        make(*words)
        return 0
    if command == "compare" and len(words) == 2:
        names = {*worlds(words[0]), *worlds(words[1])}
        return compare(*words, sorted(names, key=int), "world")
    if command in ("print", "keep") and len(words) == 1 + (command == "print"):
        with tempfile.TemporaryDirectory() as t:
            make(words[0], t)
            if command == "keep":
                KEPT.write_text(HEAD + (pathlib.Path(t) / "digests").read_text())
            elif words[1] in worlds(t):
                print("\n".join(lines(t, words[1])))
            else:
                sys.exit(f"there is no world {words[1]}")
        return 0
    print(__doc__)
    return 0 if command in ("-h", "--help") else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
