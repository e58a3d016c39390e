# SPDX-License-Identifier: GPL-2.0-or-later
"""Several jobs on one VM: side by side, one after the other on the same CPUs,
suspended or not. It has one VF, and goes when the last of them has left."""

import pytest

from cluster import Cluster, wait_for
from stages import Held, nobody_down
from worlds import world


def make_cluster():
    """VMs that go off with their job; two jobs share the CPUs of vm003."""
    c = Cluster(nodes=3, inventory=world(hosts=1, vfs=3))
    c.choose_ports()
    c.vsphere = {"ShutdownGrace": 1, "lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
        *(f"PartitionName={p} Adapter=sriov-roce Template=rhel9-ofed "
          "Retention=power_off" for p in ("roce", "gang"))]}
    c.slurm = {"SuspendTimeout": 2, "PreemptMode": "GANG",
               "SchedulerTimeSlice": 5}
    c.node_lines = [c.node_line(1, 3, "sriov-roce", cpus=3)]
    c.partition_lines = [
        "PartitionName=roce Nodes=vm[001-002] Default=YES",
        "PartitionName=gang Nodes=vm003 OverSubscribe=FORCE:2"]
    return c


@pytest.fixture(autouse=True)
def all_given_back(cluster):
    yield
    wait_for("no VF is in use or held", 30, lambda: not cluster.vfs_used() and
             all(pf["reserved"] == 0 for h in cluster.svf("hosts")["hosts"]
                 for pf in h["pfs"]))
    nobody_down(cluster)


def beside(cluster, node="vm001", *options):
    return Held(cluster, "-n1", "--mem=100", "-w", node, *options)


def jobs_on(cluster, node):
    """As the plugin believes."""
    row = {n["node"]: n for n in cluster.svf("nodes")["nodes"]}[node]
    return row.get("job")


def test_a_vm_goes_with_the_last_of_its_jobs_whichever_that_is(cluster):
    """The first job is cancelled, the second is suspended while the third ends; a
    restarted slurmctld finds out in between which jobs are on the VM."""
    first, second, third = (beside(cluster) for _ in range(3))
    for job in (first, second, third):
        job.wait_running()
    boots = cluster.our_vm("vm001")["boots"]
    assert cluster.vfs_used() == 1 and cluster.names_on() == {"vm001"}
    cluster.must("scancel", str(first.id))
    cluster.wait_state(first.id, "CANCELLED")
    cluster.must("scontrol", "suspend", str(second.id))
    cluster.wait_state(second.id, "SUSPENDED")
    cluster.restart_slurmctld()
    third.end_well()
    wait_for("its CPU is free", 20,
             lambda: cluster.node("vm001")["CPUAlloc"] in ("0", "1"))
    assert jobs_on(cluster, "vm001") == second.id
    assert cluster.is_on("vm001") and cluster.vfs_used() == 1
    cluster.must("scontrol", "resume", str(second.id))
    cluster.wait_state(second.id, "RUNNING")
    second.end_well()
    wait_for("the VM is off", 30, lambda: not cluster.is_on("vm001"))
    assert cluster.our_vm("vm001")["boots"] == boots


def test_a_job_that_wants_the_node_alone_has_its_vm_alone(cluster):
    alone = Held(cluster, "-n1", "--exclusive", "-w", "vm001").wait_running()
    assert cluster.node("vm001")["CPUAlloc"] == "3"
    waits = beside(cluster)
    other = beside(cluster, "vm002").wait_running()
    alone.runs_on()
    assert cluster.job_state(waits.id) == "PENDING"
    assert cluster.vfs_used() == 2
    alone.end_well()
    waits.wait_running()
    for job in (waits, other):
        job.end_well()


def test_two_jobs_take_turns_on_one_vm_and_its_vf(cluster):
    """Gang scheduling suspends the one for the other, again and again."""
    both = [Held(cluster, "-p", "gang", "-n3", "--mem=100") for _ in "ab"]
    for job in both:
        job.wait_running()
    turn = [cluster.job_state(job.id) for job in both]
    assert sorted(turn) == ["RUNNING", "SUSPENDED"]
    boots = cluster.our_vm("vm003")["boots"]
    wait_for("it is the other one's turn", 20, lambda: [
        cluster.job_state(job.id) for job in both] == turn[::-1])
    assert cluster.vfs_used() == 1 and cluster.names_on() == {"vm003"}
    for job in both:
        job.let_go()
    for job in both:
        cluster.wait_job(job.id, 60)
        assert cluster.job(job.id)["Restarts"] == "0"
    assert cluster.our_vm("vm003")["boots"] == boots
