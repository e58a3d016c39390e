# SPDX-License-Identifier: GPL-2.0-or-later
"""Where several modules' tests begin, and what they look at afterwards."""

import os
import pathlib
import time

from cluster import wait_for


def wait_saved(c, job, node):
    """slurmctld writes its state some seconds late: touch it, and wait."""
    began = time.time_ns()
    c.must("scontrol", "update", f"jobid={job}", "comment=x")
    c.must("scontrol", "update", f"nodename={node}", "comment=x")
    for what in ("job_state", "node_state"):
        f = c.path("state", what)
        wait_for(f"{what} is saved", 30, lambda f=f: f.exists() and
                 f.stat().st_mtime_ns > began)


def is_requeued(c, job):
    """It waits again, slurmctld has ended all of its last run, and says what it waits for."""
    return c.job(job).get("Restarts") == "1" and c.squeue(job, "%T") == "PENDING" and \
        c.squeue(job) not in ("None", "Prolog", "Cleaning")


def off(c, *names):
    """These nodes are powered down, and their VMs are off; no names: nothing."""
    if not names:
        return
    c.must("scontrol", "update", "nodename=" + ",".join(names),
           "state=power_down")
    wait_for("they are off", 60, lambda: all(
        c.is_powered_down(n) and not c.is_on(n) for n in names))


def holds(c):
    """Who has how many VFs on which PF, by the core's own ledger."""
    return sorted((h["host"], pf["pci"], pf["total"], pf["managed"], pf["reserved"],
                   pf["foreign"]) for h in c.svf("hosts")["hosts"]
                  for pf in h["pfs"])


def power(c, node):
    """poweredOn, suspended or poweredOff; None: there is no such VM."""
    vm = c.our_vm(node)
    return vm and vm["power"]


def guest_states(c, node):
    """{pid: state} of all processes of the node's guest (T: stopped), as /proc
    has them: those that carry its VM_DIR, and their children."""
    mark = b"VM_DIR=" + os.fsencode(os.path.realpath(c.path("guests", node)))
    stats, ours = {}, set()
    for p in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (p / "stat").read_text().rpartition(")")[2].split()[:2]
            stats[int(p.name)] = state, int(parent)
            if mark in (p / "environ").read_bytes().split(b"\0"):
                ours.add(int(p.name))
        except OSError:
            pass        # it has ended
    while more := {p for p, (_, of) in stats.items() if of in ours} - ours:
        ours |= more
    return {p: stats[p][0] for p in ours if stats[p][0] not in "ZX"}


def stands_still(c, node):
    """All of its guest is stopped, or waits (D) for what is; an AssertionError
    says of what that isn't so."""
    states = guest_states(c, node)
    assert "T" in states.values() and set(states.values()) <= set("TD"), states
    return True


def ready_count(c):
    return c.ctld_log().count("slurm-vsphere: ready:")


def wait_ready_again(c, was, timeout=40):
    wait_for("the plugin is ready again", timeout,
             lambda: ready_count(c) > was)


def backfill_looks(c, times=1, timeout=60):
    """So many rounds of backfill's have begun and ended since now. One begins
    only after a job, node or partition has changed since the last one's end:
    a node's comment does here, until one has begun."""
    def begun():
        return c.ctld_log().count("backfill: beginning")
    for n in range(times):
        was = begun()

        def over(was=was):
            if begun() > was:
                return "in the middle of backfilling" not in c.must("sdiag")
            c.must("scontrol", "update", f"nodename={c.node_names()[0]}",
                   f"comment={time.monotonic_ns()}")
            return False
        wait_for(f"backfill has looked, {n + 1}. of {times}", timeout, over, 0.5)


def nobody_down(c):
    assert not [(n, s) for n, s in c.node_states().items()
                if s.startswith("DOWN") or "DRAIN" in s]


class Held:
    """A job that runs until it is let go, however slow the machine is."""

    def __init__(self, c, *options, before="echo began", after="echo the end"):
        self.c, self.go = c, c.path("out", f"go-{time.monotonic_ns()}")
        self.id = c.sbatch(*options, script=f"{before}\nwhile [ ! -f {self.go} ];"
                           f" do sleep 0.2; done\n{after}")

    def wait_running(self, timeout=60):
        wait_for(f"JobId={self.id} runs", timeout,
                 lambda: "began" in self.c.output(self.id))
        return self

    def runs_on(self):
        job = self.c.job(self.id)
        assert job["JobState"] == "RUNNING" and job["Restarts"] == "0", job
        return True

    def let_go(self):
        self.go.touch()

    def end_well(self, timeout=40):
        self.runs_on()
        self.let_go()
        assert "the end" in self.c.wait_job(self.id, timeout)
        assert self.c.job(self.id)["Restarts"] == "0"
