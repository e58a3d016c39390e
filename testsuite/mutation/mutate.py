#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""mutate.py --build DIR --tree DIR [--slowest S] [--jobs N] [--program NAME]... [--list] [NAME...]

Do the tests notice? Changes one operator, condition, number, statement or
entry of a table at a time in the files of FILES (or in those whose name
contains a NAME), and runs the unit programs that come by the change.

DIR of --tree is a copy of the project that this program writes to, DIR of
--build is where that copy was configured. All changes are compiled at once:
each has a number, and the environment variable VS_MUTANT names the one that is
in force. So no change costs a build. A first run without a change tells which
programs reach which changes, and how long each program takes. Programs that
take longer than S seconds (10) are left out, and named. A program that takes
10 times as long and 5 s more than in the first run has noticed the change.
N programs run at a time (one for each processor). With --program, only the
programs whose name contains a NAME are built and run.

Each file has a line of its own: how many changes it has, how many of these were
noticed, not reached and not noticed, and the percentage that was noticed. The
last line is `mutation: N changes judged, N noticed, N not reached, N survived (N % noticed)`.
Changes that accepted.txt names, with a reason, are counted and not printed.
The exit status is 1 if any other change survived or was not reached.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import changes

HERE = pathlib.Path(__file__).resolve().parent
FILES = ("plan/allocation/ledger.c", "plan/allocation/device_match.c",
         "plan/inventory/pf_match.c", "plan/placement/[!s]*.c",	# a snapshot decides nothing
         "plan/reconcile/next_action.c", "util/seal.c")


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("--tree", required=True, type=pathlib.Path)
    p.add_argument("--build", required=True, type=pathlib.Path)
    p.add_argument("--slowest", type=float, default=10)
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--program", action="append", default=[])
    p.add_argument("--list", action="store_true", help="print the changes, run nothing")
    p.add_argument("names", nargs="*")
    return p.parse_args()


def enum(header, prefix):
    """The names of an enum's values, as the header lists them."""
    text = header.read_text()
    body = text[text.index("{", text.index(prefix)):]
    names = [w.strip(" ,\t").split("=")[0].split(",")[0].strip()
             for w in body[1:body.index("}")].splitlines()]
    return [n for n in names if n.startswith("VS_")][:-1]


def change_sources(options, found):
    """Write the changed sources into the tree."""
    common = options.tree / "src/common"
    files = sorted({f for pattern in FILES for f in common.glob(pattern)})
    files = [f for f in files
             if not options.names or any(n in str(f) for n in options.names)]
    if not files:
        sys.exit("no file has such a name")
    gcc = subprocess.run(["gcc", "-print-file-name=include"], text=True,
                         capture_output=True, check=True).stdout.strip()
    flags = ["-std=gnu11", "-D_GNU_SOURCE", "-DHAVE_CONFIG_H", f"-I{common}",
             f"-I{options.build}", f"-I{gcc}", "-I/usr/include/json-c"]
    results = []
    for f in files:
        s = changes.Source(f, str(f.relative_to(common)), found, flags)
        if s.name == "plan/reconcile/next_action.c":
            h = common / "plan/reconcile/next_action.h"
            s.lookup("table", "wanted", "seen", enum(h, "enum vs_desired"),
                     enum(h, "enum vs_observed"), "VS_ACTIONS")
        results.append((f, s.result))
    for f, text in results:
        f.write_bytes(text)
    (common / "vs_mutation.h").write_bytes((HERE / "vs_mutation.h").read_bytes())


def programs(build, names):
    """The unit programs, as make lists them; of these, those that names name."""
    listed = subprocess.run(["make", "-s", "-C", build, "-f", "Makefile", "-f", "-", "listed"],
                            input="listed:\n\t@echo $(check_PROGRAMS)\n", text=True,
                            capture_output=True, check=True).stdout.split()
    return [build / p for p in listed if "/test_" in p and
            (not names or any(n in p for n in names))]


def launcher():
    """What starts a program at fixed addresses: a sanitizer's shadow needs them
    where the kernel randomises by more bits than the sanitizer knows of."""
    setarch = ["setarch", "-R"]
    works = shutil.which(setarch[0]) and \
        subprocess.run(setarch + ["true"], stderr=subprocess.DEVNULL, check=False).returncode == 0
    return setarch if works else []


class Runner:
    """Runs unit programs with one change in force."""

    def __init__(self, options):
        self.options, self.took, self.launch = options, {}, launcher()
        self.noticed_by = collections.Counter()     # (file, program)
        # Of tests that draw worlds from seeds, a few worlds are enough.
        self.environment = dict(os.environ, VS_WORLDS="4", srcdir=str(options.tree),
                                top_srcdir=str(options.tree), CMOCKA_MESSAGE_OUTPUT="TAP")

    def run(self, program, timeout, **more):
        """Did it pass? None if it took too long."""
        with tempfile.TemporaryDirectory(prefix="vs-mutation-") as home:
            p = subprocess.Popen(self.launch + [program], cwd=self.options.build, start_new_session=True,
                                 env=dict(self.environment, TMPDIR=home, **more),
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
            try:
                return p.wait(timeout) == 0
            except subprocess.TimeoutExpired:
                os.killpg(p.pid, 9)
                p.wait()
                return None

    def reached(self, program):
        """The changes that a program comes by when none is in force."""
        with tempfile.NamedTemporaryFile("r", prefix="vs-reached-") as f:
            begun = time.monotonic()
            good = self.run(program, self.options.slowest * 3, VS_MUTANT_REACHED=f.name)
            took = time.monotonic() - begun
            if good is False:
                sys.exit(f"{program.name} fails without a change")
            if good is None or took > self.options.slowest:
                print(f"left out: {program.name} takes {took:.0f} s", flush=True)
                return set()
            self.took[program] = took
            return {int(line) for line in f}

    def noticed(self, change, by):
        """The first program that notices a change: those first that noticed most
        of the file's changes so far, and of these the fastest."""
        for p in sorted(by, key=lambda p: (-self.noticed_by[change.path, p], self.took[p])):
            if not self.run(p, self.took[p] * 10 + 5, VS_MUTANT=str(change.number)):
                self.noticed_by[change.path, p] += 1
                return p.name
        return None


def accepted():
    """The lines of accepted.txt: a change's name, a tab and the reason."""
    lines = (HERE / "accepted.txt").read_text().splitlines()
    return {line.split("\t")[0] for line in lines if line and line[0] != "#"}


def main():
    options, found = arguments(), []
    change_sources(options, found)
    if options.list:
        for c in found:
            print(f"{c.number} {c.path}:{c.line} {c.function}: {c.words}")
        return 0
    chosen = programs(options.build, options.program)
    subprocess.run(["make", "-s", "-C", options.build, f"-j{options.jobs}",
                    *([str(p.relative_to(options.build)) for p in chosen]
                      if options.program else ["check-programs"])],
                   check=True, stdout=subprocess.DEVNULL)
    runner, by = Runner(options), collections.defaultdict(list)
    for p in chosen:
        for number in runner.reached(p):
            by[number].append(p)
    print(f"{len(found)} changes, {len(by)} reached by {len(runner.took)} programs", flush=True)
    return 1 if judge(runner, found, by) else 0


def judge(runner, found, by):
    """Run all changes and print the result. Returns how many need a look."""
    counts, reasons = collections.Counter(), accepted()
    files = collections.defaultdict(collections.Counter)
    with concurrent.futures.ThreadPoolExecutor(runner.options.jobs) as pool:
        results = pool.map(lambda c: runner.noticed(c, by[c.number]) if by[c.number] else "", found)
        for c, result in zip(found, results):
            what = "noticed" if result else "survived" if result is None else "not reached"
            counts[what] += 1
            files[c.path][what] += 1
            if not result and c.name() in reasons:
                counts["accepted"] += 1
            elif not result:
                counts["new"] += 1
                print(f"{what}: {c.path}:{c.line} {c.function}: {c.words}", flush=True)
    print(f"{counts['accepted']} of these are accepted, with a reason")
    for path, n in files.items():
        print(f"{path}: {results_line(n)}")
    print(f"mutation: {results_line(counts)}")
    return counts["new"]


def results_line(n):
    """The figures of a file, or of all: each result that was seen is counted."""
    total = n["noticed"] + n["not reached"] + n["survived"]
    return (f"{total} changes judged, {n['noticed']} noticed, {n['not reached']} not reached, "
            f"{n['survived']} survived ({100 * n['noticed'] / max(total, 1):.1f} % noticed)")


if __name__ == "__main__":
    sys.exit(main())
