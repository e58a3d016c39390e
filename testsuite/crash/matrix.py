#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The crash matrix: slurmctld is killed exactly before and exactly after every
step of the engine, and comes back.

The build under test (--enable-crash-points) prints its points; each scenario
runs once undisturbed and tells which of them it reaches. Then one cell after
the other: the first scenario that reaches a point runs again with slurmctld
armed to die there. It must die, come back, bring what was wanted about, send
its last mending call within 10 s, and agree with vCenter and Slurm. A point
that no scenario reaches is a failure.

    matrix.py [--whole] [--scenario NAME]... [--point GLOB]... [--jobs N]

Without --whole a sample of the points is taken, spread over all of them.
"""

import argparse
from contextlib import ExitStack
import fnmatch
import os
import pathlib
import queue
import subprocess
import sys
import threading
import time

from scenarios import SCENARIOS
from worker import GOAL_S, Worker, Wrong, wait_until

BUILD = pathlib.Path(os.environ["VS_BUILD"])
SAMPLE = 24
# slurmctld has heard that a job has ended, and dies before it is saved: Slurm
# finds that out at a later registration. Where nothing of the job was saved it
# begins a second time beside itself, which is Slurm's own; so not in `new`.
ENDS = ("tell.epilog", "core.job_end")
LATE_S = 240


def points():
    out = subprocess.run([BUILD / "testsuite/crash/points"], check=True,
                         capture_output=True, text=True).stdout.split()
    return [f"{side}:{p}" for p in out for side in ("before", "after")]


def lived(w, scenario, crash=None, trace=None):
    """The scenario, from a clean state to the judge's word. Gives the number
    of mutating calls."""
    w.goal = GOAL_S
    w.reset()
    scenario.prepare(w)
    if crash and crash.split(":")[1] in ENDS:
        w.goal = LATE_S
    w.wished_at = time.time()
    before = w.c.mutating()
    w.ctld(crash=crash, sig=scenario.sig, between=scenario.between,
           trace=trace)
    scenario.run(w)
    if crash:
        wait_until(f"slurmctld dies at {crash}", 5, lambda: w.died,
                   lambda: "one that lives")
        if [rc for _, rc in w.died] != [-9]:
            raise Wrong(f"slurmctld ended {w.died}")
    w.judge()
    return w.c.mutating() - before


class Matrix:
    def __init__(self, options):
        self.options = options
        self.todo, self.lock = queue.SimpleQueue(), threading.Lock()
        self.reached = {}           # point: scenarios, in order
        self.normal = {}            # scenario: its mutating calls
        self.failed, self.ran = [], 0
        self.workers = []

    def say(self, text):
        with self.lock:
            print(text, flush=True)

    def cell(self, w, name, fn):
        began = time.monotonic()
        try:
            fn()
            self.say(f"ok {name} ({time.monotonic() - began:.1f} s)")
        except Exception as e:
            self.failed.append(name)
            self.say(f"FAILED {name}: {type(e).__name__} {e}\n" + "\n".join(
                "    " + ln for ln in [
                    x for x in w.c.ctld_log().splitlines()
                    if "verb=" not in x and "_attempt_backfill" not in x]
                [-25:]))
            w.spoilt = True
        self.ran += 1

    def work(self, w):
        while True:
            try:
                name, fn = self.todo.get_nowait()
            except queue.Empty:
                return
            self.cell(w, name, lambda: fn(w))

    def all(self, cells):
        """Run (name, function of a worker) with the workers there are."""
        for c in cells:
            self.todo.put(c)
        threads = [threading.Thread(target=self.work, args=(w,))
                   for w in self.workers]
        for t in threads:
            t.start()
        for t in threads:
            t.join()

    # ---- undisturbed -------------------------------------------------------------
    def look(self, w, s):
        trace = w.c.path(f"trace-{s.name}")
        trace.unlink(missing_ok=True)
        n = lived(w, s, trace=trace)
        seen = list(dict.fromkeys(trace.read_text().split()))
        with self.lock:
            self.normal[s.name] = n
            for p in seen:
                self.reached.setdefault(p, []).append(s.name)

    def first_of(self, point):
        order = list(SCENARIOS)
        if point.split(":")[1] in ENDS:
            order.insert(0, "slow")
        return min(self.reached[point], key=order.index)

    # ---- a crash -----------------------------------------------------------------
    def crash(self, w, point, s):
        n = lived(w, s, crash=f"{point}:1")
        bound = 2 * self.normal[s.name] + 4
        if n > bound:
            raise Wrong(f"{n} mutating calls, {bound} are enough")

    def chosen(self, all_points):
        o = self.options
        if o.point:
            return [p for p in all_points
                    if any(fnmatch.fnmatch(p, g) for g in o.point)]
        if o.whole:
            return all_points
        return all_points[::max(1, len(all_points) // SAMPLE)]

    def run(self):
        o = self.options
        all_points = points()
        mine = [SCENARIOS[n] for n in o.scenario or SCENARIOS]
        self.all([(f"undisturbed {s.name}", lambda w, s=s: self.look(w, s))
                  for s in mine])
        cells, never = [], []
        for p in self.chosen(all_points):
            if p not in self.reached:
                never.append(p)
                continue
            s = SCENARIOS[self.first_of(p)]
            cells.append((f"{p} in {s.name}",
                          lambda w, p=p, s=s: self.crash(w, p, s)))
        if o.scenario and not o.point:
            never = []
        for p in never:
            self.say(f"FAILED {p}: no scenario reaches it")
        self.all(cells)
        self.say(f"crash: points={len(all_points)} cells={len(cells)} "
                 f"failed={len(self.failed)} never reached={len(never)}")
        return 1 if self.failed or never else 0


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--whole", action="store_true")
    a.add_argument("--scenario", action="append", choices=list(SCENARIOS))
    a.add_argument("--point", action="append")
    a.add_argument("--jobs", type=int, default=int(os.environ.get("VS_JOBS", 3)))
    m = Matrix(a.parse_args())
    with ExitStack() as st:
        m.workers = [st.enter_context(Worker()) for _ in range(m.options.jobs)]
        return m.run()


if __name__ == "__main__":
    sys.exit(main())
