# SPDX-License-Identifier: GPL-2.0-or-later
"""The crash matrix: slurmctld is killed exactly before and exactly after every
step of the engine, and comes back.

The build under test (--enable-crash-points) prints its points; each scenario
runs once undisturbed and tells which of them it reaches. Then one cell after
the other: the first scenario that reaches a point runs again with slurmctld
armed to die there. It must die, come back, reach the scenario's goal, send its
last repairing call within 10 s, and agree with vCenter and Slurm. A point that
no scenario reaches is a failure.
"""

import fnmatch
import os
import pathlib
import subprocess
import time

from runner import Runner
from scenarios import SCENARIOS
from worker import GOAL_S, Wrong, wait_until

# Without --whole: the points of these, so many cells.
SAMPLE, SAMPLED = ("new", "slow", "suspend", "profile", "destroy"), 16
# slurmctld has heard that a job has ended, and dies before it is saved: Slurm
# finds that out at a later registration. Where nothing of the job was saved it
# begins a second time beside itself, which is Slurm's own; so not in `new`.
ENDS = ("tell.epilog", "core.job_end")
LATE_S = 240


def points():
    binary = pathlib.Path(os.environ["VS_BUILD"], "testsuite/crash/points")
    return subprocess.run([binary], check=True, capture_output=True,
                          text=True).stdout.split()


def lived(w, scenario, crash=None, trace=None):
    """The scenario, from a clean state to the judge's word. Gives the number
    of mutating calls."""
    w.goal, w.forgives = GOAL_S, False
    w.reset()
    scenario.prepare(w)
    if crash and (scenario.ends or crash.split(":")[1] in ENDS):
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
    w.in_time()
    return w.c.mutating() - before


class Crash(Runner):
    def __init__(self, workers, options):
        super().__init__(workers)
        self.options = options
        self.reached = {}           # point: scenarios
        self.normal = {}            # scenario: its mutating calls

    def look(self, w, s):
        trace = w.c.path(f"trace-{s.name}")
        trace.unlink(missing_ok=True)
        n = lived(w, s, trace=trace)
        seen = set(trace.read_text().split())
        with self.lock:
            self.normal[s.name] = n
            for p in seen:
                self.reached.setdefault(p, []).append(s.name)

    def first_of(self, point):
        order = list(SCENARIOS)
        if point.split(":")[1] in ENDS:
            order.insert(0, "slow")
        return SCENARIOS[min(self.reached[point], key=order.index)]

    def crash(self, w, point, s):
        n = lived(w, s, crash=f"{point}:1")
        bound = 2 * self.normal[s.name] + 4
        if n > bound:
            raise Wrong(f"{n} mutating calls, {bound} are enough")

    def run(self):
        o = self.options
        declared = [f"{side}:{p}" for p in points()
                    for side in ("before", "after")]
        names = o.scenario or (SCENARIOS if o.whole or o.only else SAMPLE)
        self.all([(f"undisturbed {n}", lambda w, n=n: self.look(
            w, SCENARIOS[n])) for n in names])
        some = [p for p in declared if p in self.reached]
        never = [p for p in declared if p not in self.reached] \
            if o.whole and not o.scenario else []
        if o.only:
            some = [p for p in some
                    if any(fnmatch.fnmatch(p, g) for g in o.only)]
        elif not o.whole:
            some = some[::len(some) // SAMPLED | 1]     # odd: both sides
        for p in never:
            self.say(f"FAILED {p}: no scenario reaches it")
        where = [(p, self.first_of(p)) for p in some]
        if o.whole or o.only:
            where += [(p, SCENARIOS[n]) for p in some for n in self.reached[p]
                      if any(fnmatch.fnmatch(p.split(":")[1], g)
                             for g in SCENARIOS[n].points)
                      and n != self.first_of(p).name]
        cells = [(f"{p} in {s.name}", lambda w, p=p, s=s: self.crash(w, p, s))
                 for p, s in where]
        self.all(cells)
        self.say(f"crash: points={len(declared)} cells={len(cells)} "
                 f"failed={len(self.failed)} never reached={len(never)}")
        return not self.failed and not never
