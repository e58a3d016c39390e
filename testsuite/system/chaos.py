#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""chaos.py [--seconds N] [--seed S] [--lanes a,b,...] [--dir DIR] [--keep]

Real slurmctld, slurmd and munge on a simulated vCenter: a stream of jobs,
faults, outages, foreign and administrators' hands, people with scontrol, and a
slurmctld that is killed and reconfigured, all at instants that the seed says.
Storm and calm take turns (chaos_plan.py): jobs get through while it is calm.
When that is over everything must come to rest, and no invariant
(chaos_judge.py) may have been broken. The last line sums up; exit 1 if one was.

A seed repeats the plan: the world, the jobs, and which event comes at which
instant with which choices (--plan shows it). What it can't repeat: how fast the
machine's threads and daemons are, and so which of two things that are close
comes first, what there is to be picked from when an event comes, jobs' numbers,
ports, and the random delays of our reconnects. A run on another machine, or on
a busy one, is another run of the same plan.

The environment is that of cluster.py. With a violation the directory is kept.
"""

import argparse
import collections
import json
import random
import shutil
import signal
import sys
import time

from chaos_end import Operator, settle
from chaos_judge import Judge
from chaos_plan import LANES, draw
from chaos_run import WITNESS, Run, make_cluster
from chaos_watch import Watch
from cluster import ClusterError


def options():
    p = argparse.ArgumentParser(description="See the module's text.")
    p.add_argument("--seconds", type=float, default=120)
    p.add_argument("--seed", type=int, default=None)
    p.add_argument("--lanes", help="only these: " + ",".join(LANES))
    p.add_argument("--dir", help="work here and keep it")
    p.add_argument("--keep", action="store_true")
    p.add_argument("--plan", action="store_true", help="show it, do nothing")
    a = p.parse_args()
    a.lanes = a.lanes.split(",") if a.lanes else list(LANES)
    for lane in a.lanes:
        if lane not in LANES:
            p.error(f"{lane} is no lane: {', '.join(LANES)}")
    if a.seed is None:
        a.seed = random.SystemRandom().randrange(1 << 31)
    return a


def summary(a, run, judge, jobs, counters):
    ends = collections.Counter(f["JobState"] for f in jobs.values())
    kinds = collections.Counter(counters.get("faultsBy") or {})
    kinds.update(e[2] for e in run.did("outages"))
    for lane in ("churn", "admin", "people", "guests", "hostile", "starts", "lost",
                 "calm"):
        kinds[lane] = len(run.did(lane))
    words = " ".join(f"{k}={n}" for k, n in sorted(kinds.items()) if n)
    broken = " ".join(f"{k}={len(v)}" for k, v in judge.violations.items())
    return (f"chaos: seed={a.seed} seconds={a.seconds:g} jobs={len(jobs)} ("
            + " ".join(f"{k.lower()}={n}" for k, n in sorted(ends.items()))
            + f" forgotten={judge.lost} begun={judge.begun} "
            f"begun-twice={judge.copies} srun-hung={judge.hangs} "
            f"requeued-most={judge.most} {judge.waits}) "
            f"kills={len(run.did('ctld', ('kill',)))} "
            f"restarts={len(run.did('ctld', ('restart',)))} "
            f"reconfigures={len(run.did('ctld', ('reconfigure',)))} "
            f"faults: {words}; squeue-p99-ms={judge.p99[0] * 1e3:.0f}/"
            f"{judge.p99[1] * 1e3:.0f}; violations: {broken}")


def main():
    a = options()
    print(f"chaos: seed={a.seed} seconds={a.seconds:g} lanes={','.join(a.lanes)}",
          flush=True)
    drawn, events = draw(a.seed, a.seconds, a.lanes)
    if a.plan:
        for e in events:
            print(json.dumps(e))
        return

    def stop(signum, frame):
        raise KeyboardInterrupt
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGHUP, stop)
    c = make_cluster(drawn, a.dir)
    print(f"chaos: works in {c.dir}, placement {drawn['placement']}, "
          f"retention {json.dumps(drawn['retention'])}", flush=True)
    whole = False
    try:
        c.start()
        c.path("bin", "witness").write_text(WITNESS)
        c.path("bin", "witness").chmod(0o755)
        c.wait_ready()
        run = Run(c, events, a.seconds)
        watch = Watch(run)
        judge = Judge(run, watch)
        with watch:
            operator = Operator(run)
            operator.thread.start()
            run.play()
            operator.thread.join(60)
            print(f"chaos: the time is over at {time.strftime('%H:%M:%S')}, "
                  "all must come to rest", flush=True)
            jobs = settle(run, judge)
        counters = judge.all(jobs, [*watch.threads, operator.thread])
        judge.tell()
        whole = not judge.total()
        line = summary(a, run, judge, jobs, counters)
    except ClusterError as e:
        sys.exit(f"chaos: {e}")
    finally:
        c.stop()
        if whole and not a.keep and not a.dir:
            shutil.rmtree(c.dir, ignore_errors=True)
        else:
            print(f"chaos: {c.dir} is kept", flush=True)
    print(line)
    sys.exit(0 if whole else 1)


if __name__ == "__main__":
    main()
