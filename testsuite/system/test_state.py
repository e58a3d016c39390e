# SPDX-License-Identifier: GPL-2.0-or-later
"""Slurm's saved state is dropped on purpose (slurmctld -c), lost, or hours old:
vCenter shows what runs, and no job's VM is switched off because Slurm forgot it."""

import shutil

import pytest

from cluster import Cluster, wait_for
from stages import Held, nobody_down, ready_count, wait_ready_again, wait_saved
from worlds import world

ON = {"vm001", "vm002", "vm003", "vm004", "vm005"}


def make_cluster():
    c = Cluster(nodes=6, inventory=world(hosts=2, vfs=3))
    c.vsphere = {"ShutdownGrace": 1}
    c.slurm = {"SuspendTimeout": 2, "SlurmdTimeout": 60,
               "AuthInfo": f"socket={c.path('run', 'munge.socket')},"
                           "cred_expire=5"}
    return c


def wait_idle(c, names, timeout=60):
    wait_for(f"{sorted(names)} are idle", timeout, lambda: all(
        set(s.split("+")) == {"IDLE", "CLOUD"}
        for n, s in c.node_states().items() if n in names))


@pytest.fixture
def work(cluster):
    """A job runs on vm001, four VMs are idle: more than the removal limit."""
    wait_idle(cluster, [n for n, s in cluster.node_states().items()
                        if "POWER" not in s])
    cluster.wait_job(cluster.sbatch("-N5", "-w", "vm[001-005]", script="true"),
                     60)
    return Held(cluster, "-N1", "-w", "vm001").wait_running(), \
        cluster.mutating()


def forget_outputs(c):
    """Job ids begin again."""
    for f in c.path("out").glob("*.out"):
        f.unlink()


def all_serve(c, calls):
    """All that ran is idle and warm; nothing was sent for it."""
    wait_idle(c, ON)
    assert c.names_on() == ON and c.mutating() == calls
    assert not c.svf("status").get("removal_limit_reached")
    assert "unexpectedly rebooted" not in c.ctld_log()
    out = c.wait_job(c.sbatch("-N5", "-w", "vm[001-005]",
                              script="srun hostname"), 60)
    assert set(out.split()) == ON and c.mutating() == calls
    nobody_down(c)


def test_state_that_is_lost_by_wish_costs_no_vm(cluster, work):
    _, calls = work
    was = ready_count(cluster)
    cluster.end_slurmctld()
    forget_outputs(cluster)
    cluster.start_slurmctld("-c")
    wait_ready_again(cluster, was)
    assert cluster.must("squeue", "-h") == ""
    all_serve(cluster, calls)


def test_a_lost_statesavelocation_costs_no_vm_once_it_is_adopted(cluster, work):
    _, calls = work
    cluster.end_slurmctld()
    forget_outputs(cluster)
    for f in cluster.path("state").iterdir():
        shutil.rmtree(f) if f.is_dir() else f.unlink()
    cluster.start_slurmctld()
    job = cluster.sbatch("-N1", "-w", "vm002", script="hostname")
    wait_for("the job says what is wrong", 30, lambda: "another cluster" in str(
        cluster.svf("why", str(job))["text"]))
    assert cluster.mutating() == calls
    assert "5 VMs are adopted" in cluster.must("svf", "adopt")
    cluster.wait_job(job, 60)
    all_serve(cluster, calls)


def test_a_statesavelocation_of_hours_ago_ends_well(cluster, work):
    """Jobs that ended are back, one that runs is unknown, nodes are up whose VMs
    are no more, others powered down whose VMs run."""
    c, (ended, _) = cluster, work
    stays = Held(c, "-N1", "-w", "vm002").wait_running()
    wait_saved(c, stays.id, "vm006")
    old = c.path("state-of-hours-ago")
    shutil.copytree(c.path("state"), old)
    ended.end_well()
    c.must("scontrol", "update", "nodename=vm001,vm003", "state=power_down")
    wait_for("two are off", 40, lambda: not {"vm001", "vm003"} & c.names_on())
    c.do("destroyVm", vm="vm001", wait=True)
    c.do("destroyVm", vm="vm003", wait=True)
    unknown = Held(c, "-N1", "-w", "vm006").wait_running()
    calls, was = c.mutating(), ready_count(c)
    c.kill_slurmctld()
    shutil.rmtree(c.path("state"))
    old.rename(c.path("state"))
    c.start_slurmctld()
    wait_ready_again(c, was)
    ended.let_go()
    wait_for("the one that had ended runs again, or has", 90, lambda:
             c.job_state(ended.id) in ("COMPLETED", "GONE"))
    assert c.job_state(unknown.id) in ("GONE", "PENDING")
    stays.end_well(60)
    wait_idle(c, {"vm002", "vm004", "vm005", "vm006"})
    wait_for("the node without a VM is off", 60, lambda: c.is_powered_down("vm003"))
    # A VM for the job that came back, and nothing else.
    assert c.mutating() - calls <= 2
    nobody_down(c)
    assert not c.svf("status").get("removal_limit_reached")
    assert c.wait_job(c.sbatch("-N1", "-w", "vm003", script="hostname"), 60)
