# SPDX-License-Identifier: GPL-2.0-or-later
"""A job whose start is unknown keeps no VFs from those behind it.

A big job that comes first asks for more than can be served: a host is lost, in
maintenance or drained, a VM is not within reach, or a foreign VM stands in a
node's place. Backfill starts the smaller ones meanwhile, though they last for
longer than the minute after which the big one was once said to begin."""

import pytest

from cluster import Cluster, wait_for
from worlds import world

E1, E2 = "esx01.example.org", "esx02.example.org"
SLURM = {"SuspendTime": 5, "SuspendTimeout": 5, "ResumeTimeout": 60}


def make_cluster():
    c = Cluster(nodes=8, inventory=world(hosts=2, vfs=4))
    c.vsphere = {"ShutdownGrace": 1}
    c.slurm = SLURM
    return c


def off(cluster):
    wait_for("all is off", 60, lambda: not cluster.names_on() and all(
        cluster.is_powered_down(n) for n in cluster.node_names()))


@pytest.fixture
def begun(cluster):
    """Each node has its VM, four on each host, and all are off."""
    cluster.wait_job(cluster.sbatch("-N8", script="true"), 60)
    off(cluster)
    yield
    cluster.must("scancel", "-u", cluster.user)
    wait_for("all jobs are over", 60, lambda: not cluster.run(
        "squeue", "-h").stdout.strip())


def lost_host(cluster):
    cluster.do("hostState", host=E2, state="notResponding")
    yield
    cluster.do("hostState", host=E2, state="connected")


def unreachable_vm(cluster):
    cluster.do("vmState", vm="vm006", state="inaccessible")
    yield
    cluster.do("vmState", vm="vm006", state="connected")


def foreign_vm(cluster):
    cluster.do("destroyVm", vm="vm006", force=True, wait=True)
    cluster.do("addVm", spec={"name": "vm006", "folder": "slurm",
                              "host": E1, "nics": ["VM-PG"]})
    yield
    cluster.do("destroyVm", vm="vm006", force=True, wait=True)


def maintenance(cluster):
    cluster.do("maintenance", host=E2, mode="enter")
    yield
    cluster.do("maintenance", host=E2, mode="exit")


def drained_host(cluster):
    cluster.must("svf", "host", "drain", E2)
    yield
    cluster.must("svf", "host", "resume", E2)


def smaller_ones_start(cluster, cause):
    trouble = cause(cluster)
    next(trouble)
    big = cluster.sbatch("-C", "sriov-roce", "-N8", "--time=60",
                         script="srun -l hostname")
    wait_for("the big one says why", 20, lambda: cluster.squeue(
        big, "%r") not in ("None", "(null)", ""))
    small = [cluster.sbatch("-C", "sriov-roce", "-N1", "--time=10",
                            script="hostname") for _ in range(3)]
    for job in small:
        cluster.wait_job(job, 60)
    assert cluster.job_state(big) == "PENDING"
    wait_for("squeue --start shows no date for the big one", 40,
             lambda: cluster.squeue(big, "%S") == "N/A")
    next(trouble, None)
    off(cluster)
    assert len(cluster.wait_job(big, 60).split()) == 16


@pytest.mark.parametrize("cause", [lost_host, unreachable_vm, foreign_vm,
                                   maintenance, drained_host])
def test_smaller_jobs_start_meanwhile(cluster, begun, cause):
    smaller_ones_start(cluster, cause)


def test_so_they_do_where_names_are_oversubscribed(fresh):
    """The plans of slurm-vsphere are then what jobs wait for."""
    c = fresh(nodes=8, inventory=world(hosts=2, vfs=4),
              vsphere={"ShutdownGrace": 1, "AllowMoreNodesThanVFs": "yes"},
              slurm=SLURM)
    c.wait_job(c.sbatch("-N8", script="true"), 60)
    off(c)
    smaller_ones_start(c, lost_host)


def test_a_plan_that_backfill_makes_no_longer_keeps_nothing(fresh):
    """A node of the big job is drained: Slurm plans it no more."""
    c = fresh(nodes=8, inventory=world(hosts=2, vfs=4),
              vsphere={"ShutdownGrace": 1, "AllowMoreNodesThanVFs": "yes"},
              slurm={**SLURM, "SuspendTime": 300,
                     "SchedulerParameters": "bf_interval=2"})
    first = c.sbatch("-N8", "--time=2", script="sleep 1000")
    wait_for("it runs", 60, lambda: c.job_state(first) == "RUNNING")
    big = c.sbatch("-C", "sriov-roce", "-N8", "--time=60", script="true")
    wait_for("it is planned", 20, lambda: c.squeue(big, "%S") != "N/A")
    c.must("scontrol", "update", "nodename=vm008", "state=drain", "reason=x")
    c.must("scancel", first)
    small = c.sbatch("-C", "sriov-roce", "-N3", "--time=10", script="true")
    c.wait_job(small, 30)       # a plan alone was kept for 90 s
    assert c.job_state(big) == "PENDING"
