# SPDX-License-Identifier: GPL-2.0-or-later
"""vCenter is restored from a backup: it doesn't know the VMs that were made
since, which run all the same, and knows some that are no more."""

import pytest

from cluster import wait_for
from stages import Held, nobody_down, ready_count, wait_ready_again
from worlds import world


def node_rows(c):
    return {n["node"]: n for n in c.svf("nodes")["nodes"]}


def restored(c, **how):
    was = ready_count(c)
    c.do("restoreBackup", duration="1s", **how)
    wait_ready_again(c, was)
    wait_for("vCenter has read its hosts again", 20, lambda: {
        v["folder"] for v in c.state()["vms"]} and all(
            h["state"] == "UP" for h in c.svf("hosts")["hosts"]))


@pytest.mark.parametrize("how", [
    {}, {"newInstanceUuid": True, "reuseIds": True}])
def test_vms_that_a_restored_vcenter_has_forgotten_live_on(fresh, how):
    c = fresh(nodes=4, inventory=world(hosts=2, vfs=2),
              vsphere={"ShutdownGrace": 1}, slurm={"SuspendTimeout": 2})
    c.do("backup")
    c.wait_job(c.sbatch("-N2", "-w", "vm[001-002]", script="true"), 40)
    job = Held(c, "-N1", "-w", "vm001").wait_running()
    calls = c.mutating()
    restored(c, **how)
    wait_for("both are found on their hosts", 20, lambda: sum(
        "Discovered" in v["folder"] for v in c.state()["vms"]) == 2)
    wait_for("they are missed", 30, lambda: {
        v["vm"] for v in c.svf("reconcile")["vms"]
        if "not shown by vCenter" in v["description"]} == {"vm001", "vm002"})
    assert node_rows(c)["vm002"]["vm_state"] == "UNKNOWN"
    # No job gets the idle VM, and no VM is created again under its name.
    waits = c.sbatch("-N1", "-w", "vm002", script="hostname")
    job.end_well()
    assert c.job_state(waits) == "PENDING" and c.mutating() == calls
    # The others find the VFs that are left.
    out = c.wait_job(c.sbatch("-N2", "-w", "vm[003-004]",
                              script="srun hostname"), 40)
    assert len(out.split()) == 2
    calls = c.mutating()
    for vm in ("vm001", "vm002"):       # an administrator puts it right
        c.do("moveVm", vm=vm, folder="slurm")
    assert c.wait_job(waits, 40).strip() == "vm002"
    assert c.mutating() == calls
    nobody_down(c)


def test_vms_that_a_restored_vcenter_remembers_wrongly_are_left_alone(fresh):
    """vCenter lists the node's VM, but it no longer exists: the node waits until an
    operator runs `svf vm forget`."""
    c = fresh(nodes=2, inventory=world(hosts=1, vfs=2),
              vsphere={"ShutdownGrace": 1}, slurm={"SuspendTimeout": 2})
    c.wait_job(c.sbatch("-N1", "-w", "vm001", script="true"), 40)
    c.do("backup")
    c.must("scontrol", "update", "nodename=vm001", "state=power_down")
    wait_for("it is off", 20, lambda: not c.is_on("vm001") and
             c.is_powered_down("vm001"))
    c.do("destroyVm", vm="vm001", wait=True)
    restored(c)
    job = c.sbatch("-N1", "-w", "vm001", script="hostname")
    other = c.sbatch("-N1", "-w", "vm002", script="hostname")
    assert c.wait_job(other, 40).strip() == "vm002"
    assert c.job_state(job) == "PENDING"
    c.do("unregister", vm="vm001")
    assert c.run("svf", "vm", "forget", "vm001").returncode == 0
    assert c.wait_job(job, 40).strip() == "vm001"
    assert c.calls("CloneVM_Task") == 3 and c.calls("Destroy_Task") == 0
    nobody_down(c)


def test_a_vm_that_somebody_destroyed_unseen_is_missed_until_a_person_says_so(fresh):
    """By its looks it can't be told from one that vCenter has lost track of: Slurm,
    once it has powered the node down, doesn't ask its slurmd any more."""
    c = fresh(nodes=2, inventory=world(hosts=1, vfs=2),
              vsphere={"ShutdownGrace": 1}, slurm={"SuspendTimeout": 2})
    c.wait_job(c.sbatch("-N1", "-w", "vm001", script="true"), 40)
    was = ready_count(c)
    c.do("outage", duration="3s", how="refuse")
    c.do("expireSessions")              # or it would tell what it has seen
    c.do("destroyVm", vm="vm001", force=True, wait=True)
    wait_ready_again(c, was)
    wait_for("it is missed", 10,
             lambda: node_rows(c)["vm001"]["vm_state"] == "UNKNOWN")
    c.must("scontrol", "update", "nodename=vm001", "state=power_down")
    wait_for("Slurm has powered it down", 20, lambda: c.is_powered_down("vm001"))
    waits = c.sbatch("-N1", "-w", "vm001", script="hostname")
    other = c.sbatch("-N1", "-w", "vm002", script="hostname")
    assert c.wait_job(other, 40).strip() == "vm002"
    assert c.job_state(waits) == "PENDING"
    assert [pf["reserved"] for h in c.svf("hosts")["hosts"] for pf in h["pfs"]
            if pf["reserved"]] == [1]
    assert "svf vm forget" in c.must("svf", "reconcile")
    assert c.run("svf", "vm", "forget", "vm001").returncode == 0
    assert c.wait_job(waits, 40).strip() == "vm001"
    nobody_down(c)
