#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges slurm-vsphere by Slurm's own tests: what passes three times in a row
with stock select/cons_tres must pass with select/cons_tres_vsphere.

Several small clusters of each kind (see kinds.py) run side by side, a test at a
time on each. A test is on one cluster at a time, because tests share names in
/tmp. A test that fails with vsphere runs three times more with stock and vsphere.
It is a difference unless stock fails too (where the nodes are VMs: stock with
cloud nodes), or vsphere passes three times in a row as stock had to. Those are named.

Rules: nothing counts as passed that did not run. A test that has not passed with
stock says nothing about vsphere and is named with its reason.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import traceback
import typing

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "system"))
sys.path.insert(0, str(HERE))

from cluster import ClusterError                        # noqa: E402
import kinds                                            # noqa: E402
from kinds import (                                         # noqa: E402
    AGAINST, CLOUD, PLAIN, STOCK, STOCK_CLOUD, Judged)

TIMES = 3
PASS, FAIL, SKIP = "pass", "fail", "skip"
# How a test went with select/cons_tres_vsphere.
PASSES, DIFFERS = "passes", "DIFFERS"
WAVERS = f"failed, then passed {TIMES} times"
ALIKE = "fails with select/cons_tres too if the nodes are cloud nodes"


def selected(path):
    """The names in a list."""
    lines = (ln.split("#")[0].strip() for ln in path.read_text().splitlines())
    return {ln for ln in lines if ln}


class Run(typing.NamedTuple):
    result: str
    why: str = ""
    seconds: float = 0
    skipped: int = 0    # parts of the test
    tidy: bool = True   # it left the cluster as it was


class Test:
    def __init__(self, name, stages):
        self.name, self.stages = name, list(stages)
        self.runs = collections.defaultdict(list)   # kind: results
        self.why = {}                               # kind: of the last failure
        self.left = collections.defaultdict(int)    # kind: skipped in it
        self.untidy = False                         # with stock
        self.seconds = 0
        self.busy = self.over = False

    def next(self):
        return None if self.over or self.busy or not self.stages \
            else self.stages[0]

    def done(self, kind, run):
        self.stages.pop(0)
        result, why = run.result, run.why
        if kind in AGAINST and result == PASS:
            if run.skipped > self.left[STOCK]:
                result, why = SKIP, "it skips more of itself: " + why
            elif not run.tidy and not self.untidy:
                result, why = FAIL, "it leaves the cluster otherwise"
        if kind == STOCK:
            self.left[kind] = max(self.left[kind], run.skipped)
            self.untidy |= not run.tidy
        self.runs[kind].append(result)
        self.seconds = max(self.seconds, run.seconds)
        if result != PASS:
            self.why[kind] = why
            if kind == STOCK:
                self.stages.clear()
            elif kind == STOCK_CLOUD:
                self.drop(CLOUD, STOCK_CLOUD)
            elif len(self.runs[kind]) == 1:
                self.stages += [AGAINST[kind]] * TIMES + [kind] * TIMES
            else:
                self.drop(kind)
        self.over = not self.stages

    @property
    def steady(self):
        r = self.runs[STOCK]
        return len(r) >= TIMES and set(r) == {PASS}

    def drop(self, *these):
        self.stages = [s for s in self.stages if s not in these]

    def judged(self, kind):
        """How it went with vsphere; None if it didn't run."""
        runs = self.runs[kind]
        if not self.steady or not runs:
            return None
        if runs[-1] == PASS:
            return PASSES if set(runs) == {PASS} else WAVERS
        return ALIKE if set(self.runs[AGAINST[kind]]) - {PASS} else DIFFERS


def last_words(text, name):
    """Why a test says it failed or was skipped."""
    if name.startswith("python/"):
        said = re.findall(r"^(?:SKIPPED|E  ) *(.*)$", text, re.M)
    else:
        said = re.findall(r"\] *\[? *(?:Fatal|Error|Warning)[ \]:]+(.*)", text)
    said = [re.sub(r" \((?:sub)?(?:fail|skip)[^)]*\).*$", "", s).strip()
            for s in said] or text.strip().splitlines()[-1:]
    return said[-1][:200] if said else "it said nothing"


def parts(text, name):
    """How many parts of a test passed, and were skipped."""
    if name.startswith("python/"):
        found = [re.search(rf"(\d+) {w}\b", text.strip().splitlines()[-1])
                 for w in ("passed", "skipped")] if text.strip() else []
    elif "Subtests passed" in text:
        found = [re.search(rf"Subtests {w} *: *(\d+)", text)
                 for w in ("passed", "skipped")]
    else:   # it has no parts
        return bool(re.search(r"^SUCCESS +: ", text, re.M)), 0
    return [int(m[1]) if m else 0 for m in found] or (0, 0)


def wait(process, limit, ending):
    """Its return code; None after `limit` seconds, or when all is to end."""
    end = time.monotonic() + limit
    while time.monotonic() < end and not ending():
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(0.5)
    return None


def run_one(cluster, name, limit, log, ending):
    argv, where = kinds.command(cluster, name)
    began = time.monotonic()
    with open(log, "wb") as out:
        p = subprocess.Popen(argv, cwd=where, env=cluster.suite_env,
                             stdin=subprocess.DEVNULL, stdout=out,
                             stderr=subprocess.STDOUT, start_new_session=True)
        try:
            rc = wait(p, limit, ending)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(p.pid, signal.SIGKILL)
            p.wait()
    took = time.monotonic() - began
    text = pathlib.Path(log).read_text(errors="replace")
    if rc is None:
        return Run(FAIL, f"not over within {limit} s", took)
    passed, skipped = parts(text, name)
    # Tests that skip a part of themselves say that they are skipped.
    over = rc in (0, 5) if name.startswith("python/") else rc in (0, 255)
    result = FAIL if not over else PASS if passed else SKIP
    why = "" if result == PASS and not skipped else last_words(text, name)
    return Run(result, why, took, skipped)


class Judge:
    def __init__(self, tests, options):
        self.tests, self.options = tests, options
        self.changed = threading.Condition()
        self.ending = None

    def take(self, kind):
        """The next test for a cluster of this kind, None when all are over."""
        with self.changed:
            while not self.ending:
                for t in self.tests:
                    if t.next() == kind:
                        t.busy = True
                        return t
                if all(t.over for t in self.tests):
                    return None
                self.changed.wait(1)
        return None

    def put(self, test, kind, run):
        with self.changed:
            test.busy = False
            test.done(kind, run)
            self.changed.notify_all()
        result = test.runs[kind][-1]
        if self.options.verbose or (result != PASS and kind in AGAINST):
            print(f"{kind}: {test.name}: {result} ({run.seconds:.0f} s) "
                  f"{test.why.get(kind, '')}", flush=True)

    def serve(self, kind):
        cluster = None
        try:
            while test := self.take(kind):
                cluster = cluster or Judged(kind, self.options.source).start()
                log = self.options.logs / (
                    f"{test.name.replace('/', '%')}.{kind}."
                    f"{len(test.runs[kind]) + 1}")
                run = run_one(cluster, test.name, self.options.limit, log,
                              lambda: self.ending)
                if not cluster.tidy():
                    run = run._replace(tidy=False)
                    with open(log, "a") as f:
                        f.write("\n==== it looks otherwise: "
                                f"{cluster.otherwise()}\n==== slurmctld\n"
                                f"{cluster.ctld_log()[-60000:]}")
                    cluster.remove()
                    cluster = None
                self.put(test, kind, run)
        except BaseException as e:
            if not isinstance(e, ClusterError):
                traceback.print_exc()
            with self.changed:
                self.ending = self.ending or f"a cluster ({kind}): {e}"
                self.changed.notify_all()
        finally:
            if cluster:
                cluster.remove()

    def run(self):
        hands = {STOCK: self.options.stock, PLAIN: self.options.ours,
                 CLOUD: self.options.ours, STOCK_CLOUD: 1}
        wanted = {k for t in self.tests for k in t.stages}
        wanted |= {AGAINST[k] for k in wanted if k in AGAINST}
        threads = [threading.Thread(target=self.serve, args=[kind])
                   for kind in kinds.KINDS if kind in wanted
                   for _ in range(hands[kind])]
        for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(sig, interrupt)
        try:
            for t in threads:
                t.start()
            for t in threads:
                t.join()
        except BaseException:
            with self.changed:
                self.ending = "interrupted"
            for t in threads:
                if t.ident:
                    t.join()
            raise


def interrupt(sig, _):
    """Acts on the first signal only: ending the clusters takes a while."""
    for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(s, signal.SIG_IGN)
    raise KeyboardInterrupt(sig)


def report(tests, left):
    """Prints the sums, `left` tests having been left; (passed, failed)."""
    said = collections.defaultdict(list)
    for t in tests:
        if not t.steady and t.runs[STOCK]:
            what = "skipped" if t.runs[STOCK][-1] == SKIP else \
                "not always" if PASS in t.runs[STOCK] else "failed"
            said[what, t.why.get(STOCK, "")].append(t.name)
    print(f"\n{sum(map(len, said.values()))} don't pass with stock, and say "
          "nothing of ours:")
    for (what, why), names in sorted(said.items()):
        print(f"  {what}: {len(names)}: {why}: {' '.join(names)}")
    if left:
        print(f"{left} were not run: not among the selected ones (--whole "
              "runs all)")
    passed = failed = 0
    print()
    for kind in (PLAIN, CLOUD):
        how = collections.defaultdict(list)
        for t in tests:
            how[t.judged(kind)].append(t)
        good = len(how[PASSES]) + len(how[WAVERS])
        passed += good
        failed += len(how[DIFFERS])
        print(f"{kinds.SAYS[kind]}: {good} pass of "
              f"{good + len(how[DIFFERS])} that pass {TIMES} times with stock")
        for word in (ALIKE, WAVERS, DIFFERS):
            for t in how[word]:
                print(f"  {word}: {t.name}: {t.why[kind]}")
    return passed, failed


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--source", required=True, type=pathlib.Path,
                   help="Slurm's source tree")
    p.add_argument("--logs", required=True, type=pathlib.Path)
    p.add_argument("--whole", action="store_true",
                   help="all tests, not the selected ones alone")
    p.add_argument("--times", type=int, default=TIMES, help="runs with stock")
    p.add_argument("--kinds", default=f"{PLAIN},{CLOUD}")
    p.add_argument("--limit", type=int, help="seconds for one test")
    p.add_argument("--stock", type=int, default=4, help="clusters of stock")
    p.add_argument("--ours", type=int, default=2, help="clusters of each kind")
    p.add_argument("--results", type=pathlib.Path, help="as JSON")
    p.add_argument("--verbose", action="store_true")
    p.add_argument("tests", nargs="*")
    o = p.parse_args()
    o.limit = o.limit or (300 if o.whole else 100)
    o.logs.mkdir(parents=True, exist_ok=True)
    there = kinds.listed(o.source)
    if not there:
        sys.exit(f"judge.py: {o.source} has no tests of Slurm's in testsuite/")
    chosen = selected(HERE / "selected")
    names = o.tests or [n for n in there if o.whole or n in chosen]
    stages = [STOCK] * o.times + [k for k in o.kinds.split(",") if k]
    tests = [Test(n, stages) for n in names]
    judge = Judge(tests, o)
    try:
        judge.run()
    except KeyboardInterrupt:
        sys.exit("judge.py: interrupted")
    if o.results:
        o.results.write_text(json.dumps([
            {"name": t.name, "runs": t.runs, "why": t.why,
             "seconds": round(t.seconds, 1)} for t in tests], indent=0))
    if judge.ending:
        sys.exit(f"judge.py: came to no end: {judge.ending}")
    passed, failed = report(tests, len(there) - len(tests))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
