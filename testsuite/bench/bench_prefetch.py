#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How much of a job's provisioning Prefetch= hides: from its allocation to the
registration of its last node, by slurmctld's log. Two queues, each on a cluster
with Prefetch=0 and on one with it, side by side: so what else the machine does
is done to both. A clone takes 8 s and a power-on 4 s, guests boot besides.

Counted are the jobs that wait for others to end: what starts when it is
submitted was never planned."""

import re
import threading

from bench_lines import line, remark, run
from cluster import Cluster, wait_for
from worlds import template, world

CLONE_S, POWER_S = 8, 4
RUNS_S = 20         # longer than it takes to make a VM
FREE_BAR, SHORT_BAR, WASTE_BAR = 0.80, 0.60, 0.10
LINES = ["VSphereCluster=HPC1 ResourcePool=slurm",
         "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
         "PartitionName=a Adapter=sriov-roce Template=rhel9-ofed",
         "PartitionName=b Adapter=sriov-roce Template=other"]


class Queue:
    """A cluster's queue, and what became of it."""

    def __init__(self, prefetch, hosts, vfs, a, b):
        self.c = Cluster(nodes=a + b, inventory=world(
            hosts=hosts, vfs=vfs, templates=[template(), template("other")],
            durations={"CloneVM_Task": f"{CLONE_S}s", "call": "10ms",
                       "PowerOnVM_Task": f"{POWER_S}s"}))
        self.c.vsphere = {"lines": LINES, "AllowMoreNodesThanVFs": "yes",
                          "ShutdownGrace": 2, "Prefetch": prefetch,
                          "PrefetchOptions": "grace=10"}
        self.c.slurmctld_parameters += ",power_save_interval=1"
        self.c.slurm = {"SuspendTimeout": 2, "ResumeTimeout": 300}
        self.c.partition_lines = [
            f"PartitionName=a Nodes=vm[001-{a:03d}] Default=YES",
            f"PartitionName=b Nodes=vm[{a + 1:03d}-{a + b:03d}]"]
        self.waiting, self.wasted, self.made, self.error = [], 0, 0, None

    def submit(self, *options, runs_s, waits=False):
        job = self.c.sbatch("-t3", *options, script=f"sleep {runs_s}")
        if waits:
            self.waiting.append(job)
        return job

    def provisioning_s(self):
        """Of all jobs that waited, added up."""
        log = self.c.ctld_log()
        took = dict(re.findall(r"JobId=(\d+) all nodes are up nodes=\d+ "
                               r"ms=(\d+)", log))
        for job in self.waiting:
            assert str(job) in took, "no word of when its nodes were up:\n" + \
                "\n".join(re.findall(rf".*JobId={job}\b.*", log))
        return sum(int(took[str(job)]) for job in self.waiting) / 1000

    def live(self, jobs):
        """jobs(self) submits them. Runs until all jobs have ended, and until the VMs
        that no job used are gone."""
        try:
            self.c.start()
            self.c.wait_ready()
            jobs(self)
            for job in self.waiting:
                self.c.wait_state(job, "COMPLETED", 300)
            status = wait_for("nothing is ahead any more", 60, lambda: (
                lambda s: not s.get("prefetched") and s)(self.c.svf("status")))
            self.made = status.get("prefetch_made", 0)
            self.wasted = status.get("prefetch_removed", 0)
            self.took_s = self.provisioning_s()
        except Exception as e:      # pylint: disable=broad-except
            self.error = e          # the other thread's business, too
        finally:
            self.c.remove()


def side_by_side(name, bar, prefetch, jobs, **where):
    queues = [Queue(n, **where) for n in (0, prefetch)]
    threads = [threading.Thread(target=q.live, args=(jobs,)) for q in queues]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for q in queues:
        if q.error:
            raise q.error
    without, with_it = queues
    assert without.made == 0 and with_it.made > 0, "Prefetch= made nothing"
    n = len(without.waiting)
    remark(f"{name}: {n} jobs waited; without prefetch their VMs took "
           f"{without.took_s / n:.1f} s a job, with it "
           f"{with_it.took_s / n:.1f} s; {with_it.made} VMs made ahead")
    line(f"prefetch_hidden_{name}", 1 - with_it.took_s / without.took_s,
         "ratio", bar, at_least=True)
    line(f"prefetch_wasted_{name}", with_it.wasted / with_it.made, "ratio",
         WASTE_BAR)


def gangs(q):
    """Two queues, where each job waits for the one before and has a node that no
    job has had. In a they name their nodes, and the last one is cancelled when
    its VM may have been made: 1 of 10 that wait. In b they take any that are
    free, and the fifth overtakes the fourth."""
    named = [q.submit("-p", "a", "-N2", "-w", f"vm001,vm{i:03d}",
                      runs_s=RUNS_S, waits=i > 2) for i in range(2, 8)]
    free = [q.submit("-p", "b", f"-N{n}", runs_s=RUNS_S, waits=n > 5)
            for n in range(5, 11)]
    q.c.wait_state(named[2], "RUNNING", 300)
    first = int(q.c.job(free[3])["Priority"]) + 1
    q.c.must("scontrol", "update", f"jobid={free[4]}", f"priority={first}")
    q.c.wait_state(named[4], "RUNNING", 300)
    q.c.must("scancel", str(named[5]))
    q.waiting.remove(named[5])


def two_templates(q):
    """Jobs on all VFs, and jobs of another template that wait for these. Where
    they are over sooner than a VM is made, those behind them run on their VMs,
    and what was made ahead is for nothing."""
    for i in range(3):
        q.submit("-p", "a", "-N2", runs_s=30 + 6 * i)
    wait_for("all VFs are in use", 120, lambda: len(q.c.names_on()) == 6)
    for _ in range(3):
        q.submit("-p", "b", "-N2", runs_s=RUNS_S, waits=True)


def free_vfs():
    side_by_side("free_vfs", FREE_BAR, 8, gangs, hosts=4, vfs=5, a=7, b=10)


def short_of_vfs():
    side_by_side("short_of_vfs", SHORT_BAR, 6, two_templates, hosts=3, vfs=2,
                 a=6, b=6)


if __name__ == "__main__":
    raise SystemExit(run(free_vfs, short_of_vfs))
