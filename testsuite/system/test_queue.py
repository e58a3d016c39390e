# SPDX-License-Identifier: GPL-2.0-or-later
"""A queue of VMs that is far longer than ResumeTimeout ends with no node DOWN
and no job requeued (cluster-toolkit#4940, cyclecloud-slurm#51,
aws-parallelcluster#4030): the engine's budgets hold nodes back, and Slurm is
told so. Real slurmctld, real slurmds, a gang of half of the nodes and a job
for each of the others.

VS_LONG=1: 1,000 VMs and ten minutes, with Slurm's own ResumeTimeout of 60 s;
else 32 VMs, and a ResumeTimeout of which the queue takes four. The guest's
start script is left out: a thousand of them are this machine's load, not
vCenter's.
"""

import os
import time

from cluster import Cluster, patience, slurm_binary, wait_for
from worlds import world

LONG = bool(os.environ.get("VS_LONG"))
# VMs, hosts, clones at once, seconds of one, ResumeTimeout
NODES, HOSTS, AT_ONCE, CLONE_S, RESUME_S = \
    (1000, 125, 20, 11.5, 60) if LONG else (32, 4, 4, 3, 6)
QUEUE_S = NODES / AT_ONCE * CLONE_S
PATIENCE_S = QUEUE_S * 1.5 + 60

GUEST = """#!/bin/sh
export SLURM_CONF='{dir}/etc/slurm.conf' VS_CLUSTER_DIR='{dir}'
export MUNGE_SOCKET='{dir}/run/munge.socket'
exec '{slurmd}' -D -b -N "$VM_NAME" -f "$SLURM_CONF"
"""


class Many(Cluster):
    def write_guest(self):
        super().write_guest()
        self.path("bin", "guest").write_text(GUEST.format(
            dir=self.dir, slurmd=slurm_binary("slurmd")))


def make_cluster():
    c = Many(nodes=NODES, inventory=world(
        hosts=HOSTS, vfs=NODES // HOSTS,
        durations={"CloneVM_Task": f"{int(CLONE_S * 1000)}ms"},
        taskSlots={"vcenter": 640, "host": 32, "datastore": 128}))
    c.vsphere = {"ShutdownGrace": 1, "MaxProvisionOps": AT_ONCE,
                 "MaxPowerOps": 50}
    c.slurm = {"ResumeTimeout": RESUME_S, "MessageTimeout": 60,
               "MaxArraySize": NODES + 1, "MaxJobCount": 20 * NODES,
               "SlurmctldDebug": "verbose"}
    return c


def not_well(cluster):
    return {n: s for n, s in cluster.node_states().items()
            if s.split("+")[0].rstrip("*") in ("DOWN", "ERROR", "FAIL") or
            "DRAIN" in s}


def left(cluster):
    out = cluster.must("squeue", "-h", "-r", "-o", "%t")
    return len(out.split())


def test_a_queue_of_many_resumetimeouts_ends_with_no_node_down(cluster):
    half = NODES // 2
    began, squeue = time.monotonic(), []
    gang = cluster.sbatch(f"-N{half}", "--exclusive",
                          script='echo "$SLURM_JOB_NUM_NODES"')
    array = cluster.sbatch("-N1", "--exclusive", f"--array=1-{half}",
                           "-o", "/dev/null", script="sleep 2")
    on_at = []

    def over():
        at = time.monotonic()
        jobs = left(cluster)
        squeue.append(time.monotonic() - at)
        assert time.monotonic() - at < 5 * patience(), "squeue waits"
        bad = not_well(cluster)
        if bad:
            raise RuntimeError(f"after {time.monotonic() - began:.0f} s: "
                               f"{bad}")
        on_at.append((time.monotonic() - began, len(cluster.names_on())))
        return jobs == 0
    wait_for("all jobs are over", PATIENCE_S, over, every=1 if LONG else 0.3)
    took = time.monotonic() - began
    last = next(t for t, n in on_at if n == max(n for _, n in on_at))
    n = cluster.counters()
    print(f"{NODES} VMs: {took:.0f} s, the last one on after {last:.0f} s = "
          f"{last / RESUME_S:.1f} ResumeTimeouts; squeue median "
          f"{sorted(squeue)[len(squeue) // 2] * 1000:.0f} ms, worst "
          f"{max(squeue) * 1000:.0f} ms; calls {cluster.mutating()}, at most "
          f"{n['maxInFlight']} tasks at once")
    assert last > (8 if LONG else 3) * RESUME_S, "that was no queue"
    assert cluster.output(gang).split() == [str(half)]
    show = [cluster.job(gang), cluster.job(array)]
    assert [s["JobState"] for s in show] == ["COMPLETED"] * 2
    assert "Requeue" not in cluster.ctld_log()
    assert [s["Restarts"] for s in show] == ["0"] * 2
    assert "ResumeTimeout" not in cluster.ctld_log()
    # A job may take a warm node of one that ended: never more VMs than nodes.
    assert cluster.mutating() == 2 * len(cluster.our_vms())
