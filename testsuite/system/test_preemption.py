# SPDX-License-Identifier: GPL-2.0-or-later
"""Preemption where VFs are what lacks: jobs end whose VMs hold what the
preemptor needs, no others, none at all if it would not help or isn't needed;
and then their VMs go, so that the preemptor really starts."""

from cluster import Cluster, wait_for
from stages import Held, backfill_looks
from worlds import ROCE_AND_ETH, world

SMALL = [f"vm00{i}" for i in range(1, 5)]
LARGE = [f"vm00{i}" for i in range(5, 8)]
ETH = ["vm008", "vm009"]


def make_cluster():
    """Four VFs for four small nodes and three large ones; two of Ethernet."""
    c = Cluster(nodes=9, inventory=world(hosts=2, vfs=2))
    c.choose_ports()
    c.vsphere = {"ShutdownGrace": 1, "AllowMoreNodesThanVFs": "yes",
                 "lines": ROCE_AND_ETH}
    c.slurm = {"SuspendTimeout": 2, "PreemptType": "preempt/partition_prio",
               "PreemptMode": "SUSPEND,GANG"}
    c.node_lines = [c.node_line(1, 4, "sriov-roce"),
                    c.node_line(5, 7, "sriov-roce", memory=2048),
                    c.node_line(8, 9, "vmxnet3")]
    c.partition_lines = [
        "PartitionName=roce Nodes=vm[001-007] PreemptMode=REQUEUE",
        "PartitionName=eth Nodes=vm[008-009] PreemptMode=REQUEUE",
        "PartitionName=low Nodes=ALL Default=YES PreemptMode=REQUEUE",
        "PartitionName=doomed Nodes=ALL PreemptMode=CANCEL",
        "PartitionName=pausing Nodes=ALL PreemptMode=SUSPEND",
        "PartitionName=high Nodes=ALL PriorityTier=10 PreemptMode=OFF"]
    return c


def start(cluster, *nodes, partition="low"):
    """A job that has these nodes to itself; where they are running already."""
    return cluster.sbatch("-p", partition, f"-N{len(nodes)}",
                          "--ntasks-per-node=2", "--mem=100", "-w",
                          ",".join(nodes), script="echo began; sleep 300")


def running(cluster, *jobs):
    for job in jobs:
        wait_for(f"JobId={job} runs", 60,
                 lambda j=job: "began" in cluster.output(j))


def undisturbed(cluster, *jobs):
    for job in jobs:
        show = cluster.job(job)
        assert (show["JobState"], show["Restarts"]) == ("RUNNING", "0"), show


def high(cluster, *nodes):
    return cluster.sbatch("-p", "high", f"-N{len(nodes)}", "-w",
                          ",".join(nodes), script="srun hostname")


def test_those_end_whose_vfs_are_needed_and_no_others(cluster):
    """First an idle VM gives its VF. Then a gang of two wants two VFs: those of
    a job of two nodes. One of a single node comes first by Slurm's order, but
    would not be enough, nor is it needed besides. Jobs that wait for a VF get
    none of them."""
    one = start(cluster, SMALL[0])
    two = start(cluster, *SMALL[1:3])
    ether = [start(cluster, n) for n in ETH]
    running(cluster, one, two, *ether)
    cluster.wait_job(cluster.sbatch("-w", SMALL[3], script="true"))
    assert cluster.vfs_used() == 4
    firm = start(cluster, LARGE[0], partition="high")
    running(cluster, firm)
    undisturbed(cluster, one, two)
    assert cluster.vfs_used() == 4
    queue = [cluster.sbatch("-n2", "--mem=100", script="sleep 300", *more)
             for more in (["-C", "sriov-roce"], ["-w", SMALL[1]])]
    job = high(cluster, *LARGE[1:])
    assert set(cluster.wait_job(job, 60).split()) == set(LARGE[1:])
    undisturbed(cluster, one, firm, *ether)
    assert cluster.job(two)["Restarts"] == "1"
    assert cluster.job(job)["Restarts"] == "0"
    assert [cluster.job(j)["Restarts"] for j in queue] == ["0", "0"]


def test_nobody_ends_in_vain(cluster):
    """No job ends for two VFs if preemption frees one, nor is a job suspended for
    them: its VM stays on. It gives way on its own node, and continues afterwards."""
    victim = start(cluster, SMALL[0], partition="doomed")
    paused = [start(cluster, n, partition="pausing") for n in SMALL[1:]]
    running(cluster, victim, *paused)
    gang = high(cluster, *LARGE[:2])
    wait_for("it says why", 15, lambda: "VF" in cluster.squeue(gang, "%r"))
    backfill_looks(cluster, 2)
    assert cluster.job_state(gang) == "PENDING"
    undisturbed(cluster, victim, *paused)
    assert cluster.names_on() & set(SMALL + LARGE) == set(SMALL)
    cluster.must("scancel", str(gang))
    job = high(cluster, LARGE[0])
    assert cluster.wait_job(job, 60).split() == [LARGE[0]]
    assert cluster.job_state(victim) == "PREEMPTED"
    undisturbed(cluster, *paused)
    calls = cluster.mutating()
    job = Held(cluster, "-p", "high", "-n2", "--mem=100", "-w",
               SMALL[1]).wait_running()
    assert cluster.job_state(paused[0]) == "SUSPENDED"
    assert cluster.vfs_of(SMALL) == 3
    job.end_well()
    wait_for("the other one goes on", 20,
             lambda: cluster.job_state(paused[0]) == "RUNNING")
    undisturbed(cluster, *paused)
    assert cluster.mutating() == calls
