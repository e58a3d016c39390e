# SPDX-License-Identifier: GPL-2.0-or-later
"""VMs that are made ahead of jobs which backfill has planned: Prefetch=."""

import pytest

from cluster import Cluster, ClusterError, wait_for
from conftest import end_jobs
from stages import Held, backfill_looks, nobody_down, wait_saved
from worlds import template, world

GRACE_S = 4
LINES = [
    "VSphereCluster=HPC1 ResourcePool=slurm",
    "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
    "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed",
    "PartitionName=other Adapter=sriov-roce Template=other",
    "PartitionName=fresh Adapter=sriov-roce Template=rhel9-ofed Retention=destroy",
]


def make_cluster():
    """vm[001-006] on six VFs, two more names of another template, and two whose
    VMs live for one job."""
    c = Cluster(nodes=10, inventory=world(hosts=3, vfs=2, templates=[
        template(), template("other")]))
    c.vsphere = {"lines": LINES, "ShutdownGrace": 1,
                 "AllowMoreNodesThanVFs": "yes", "Prefetch": 2,
                 "PrefetchOptions": f"grace={GRACE_S}"}
    c.slurm = {"SuspendTimeout": 2}
    c.partition_lines = [
        "PartitionName=roce Nodes=vm[001-006] Default=YES",
        "PartitionName=other Nodes=vm[007-008]",
        "PartitionName=fresh Nodes=vm[009-010] OverSubscribe=EXCLUSIVE"]
    return c


def status(cluster):
    return cluster.svf("status")


def names(cluster):
    return {v["name"] for v in cluster.our_vms()}


def up(cluster, *nodes):
    states = cluster.node_states()
    return all(set(states[n].split("+")) - {"PLANNED"} == {"IDLE", "CLOUD"}
               for n in nodes)


def off(cluster, *nodes):
    states = cluster.node_states()
    return all(set(states[n].split("+")) - {"PLANNED"} ==
               {"IDLE", "CLOUD", "POWERED_DOWN"} for n in nodes)


def all_off(cluster):
    assert not cluster.names_on(), cluster.names_on()
    assert off(cluster, *cluster.node_names()), cluster.node_states()
    return True


def destroyed(cluster):
    """Every VM; one of them may be at something still."""
    try:
        for name in names(cluster):
            cluster.do("destroyVm", vm=name)
    except ClusterError:
        return False
    return True


@pytest.fixture(autouse=True)
def cold(cluster):
    """Each case ends without any VM."""
    yield
    nodes = cluster.node_names()
    end_jobs(cluster)
    # None by force, or that is down already: 22.05 doesn't plan on it for long.
    alive = [n for n in nodes if not cluster.is_powered_down(n)]
    if alive:
        cluster.must("scontrol", "update", f"nodename={','.join(alive)}",
                     "state=power_down")
    wait_for("all is powered down", 40, lambda: all_off(cluster))
    wait_for("all VMs are gone", 20, lambda: destroyed(cluster))
    wait_for("nothing is ahead", 30, lambda: not status(cluster)["prefetched"])
    nobody_down(cluster)


def begun(cluster, *options):
    """A job that runs on vm[001-004], and one that needs two of its nodes and
    vm[005-006]."""
    first = Held(cluster, "-N4", "-w", "vm[001-004]", "-t2").wait_running()
    second = Held(cluster, "-N4", "-w", "vm[003-006]", "-t2", *options)
    return first, second


def no_vf_left(cluster):
    """A job that has all VFs, and one of the other template that waits."""
    first = Held(cluster, "-N6", "-w", "vm[001-006]", "-t2").wait_running()
    return first, Held(cluster, "-p", "other", "-N2", "-t2")


def test_planned_nodes_are_up_when_the_job_starts(cluster):
    first, second = begun(cluster)
    wait_for("its other nodes are up", 60,
             lambda: up(cluster, "vm005", "vm006"))
    assert cluster.job_state(second.id) == "PENDING"
    calls = cluster.mutating()
    used = status(cluster)["prefetch_used"]
    first.end_well()
    second.wait_running()
    assert cluster.mutating() == calls
    assert status(cluster)["prefetch_used"] == used + 2
    second.end_well()


def test_never_more_than_prefetch_at_a_time(cluster):
    Held(cluster, "-N1", "-w", "vm001", "-t2").wait_running()
    Held(cluster, "-N6", "-t2")
    wait_for("two are up", 60, lambda: status(cluster)["prefetched"] == 2 and
             len(cluster.names_on()) == 3)
    for _ in range(2):
        backfill_looks(cluster)
        assert status(cluster)["prefetched"] == 2 and len(names(cluster)) == 3


def test_without_a_vf_the_vm_is_cloned_and_one_call_is_left(cluster):
    first, second = no_vf_left(cluster)
    wait_for("both VMs are there", 60,
             lambda: {"vm007", "vm008"} <= names(cluster))
    assert cluster.names_on() == {f"vm{i:03d}" for i in range(1, 7)}
    assert off(cluster, "vm007", "vm008")
    built = cluster.calls("CloneVM_Task", "RelocateVM_Task", "ReconfigVM_Task")
    first.end_well()
    second.wait_running()
    assert cluster.calls("CloneVM_Task", "RelocateVM_Task",
                         "ReconfigVM_Task") == built
    second.end_well()


def test_what_a_cancelled_job_leaves_goes_after_the_grace(cluster):
    first, second = begun(cluster)
    wait_for("its other nodes are up", 60,
             lambda: up(cluster, "vm005", "vm006"))
    cluster.must("scancel", str(second.id))
    wait_for("both VMs are gone", 40,
             lambda: names(cluster) == {f"vm{i:03d}" for i in range(1, 5)})
    first.end_well()


def test_clones_of_a_cancelled_job_go_and_the_brake_stays_off(cluster):
    """Two cases' four VMs are more than it lets pass."""
    for _ in range(2):
        first, second = no_vf_left(cluster)
        wait_for("both VMs are there", 60,
                 lambda: {"vm007", "vm008"} <= names(cluster))
        cluster.must("scancel", str(second.id))
        wait_for("both VMs are gone", 40,
                 lambda: not {"vm007", "vm008"} & names(cluster))
        first.end_well()
    assert "removal_limit_reached" not in status(cluster)


def test_a_restart_loses_no_vm_and_no_job_a_node(cluster):
    first, second = begun(cluster)
    wait_for("its other nodes are up", 60,
             lambda: up(cluster, "vm005", "vm006"))
    uuids = {n: cluster.our_vm(n)["uuid"] for n in names(cluster)}
    calls = cluster.mutating()
    wait_saved(cluster, first.id, "vm001")
    cluster.kill_slurmctld()
    cluster.start_slurmctld()
    wait_for("the plugin is ready", 30, lambda: status(cluster)["up"])
    first.end_well()
    second.wait_running()
    assert {n: cluster.our_vm(n)["uuid"] for n in uuids} == uuids
    assert cluster.mutating() == calls
    second.end_well()


def test_vms_for_one_job_are_not_made_ahead(cluster):
    Held(cluster, "-p", "fresh", "-N1", "-w", "vm009", "-t2").wait_running()
    job = Held(cluster, "-p", "fresh", "-N2", "-t2").id
    wait_for("backfill has planned it", 30,
             lambda: "vm[009-010]" in cluster.squeue(job, "%Y"))
    Held(cluster, "-N1", "-w", "vm001", "-t2").wait_running()
    Held(cluster, "-N2", "-w", "vm[001-002]", "-t2")    # planned after it
    wait_for("another's is made", 60, lambda: up(cluster, "vm002"))
    assert "vm010" not in names(cluster)


def test_off_by_default_nothing_is_made_before_the_start(cluster):
    cluster.change_vsphere("Prefetch=2\n", "")
    try:
        first, second = begun(cluster)
        wait_for("backfill has planned it", 30,
                 lambda: "vm[003-006]" in cluster.squeue(second.id, "%Y"))
        calls = cluster.mutating()
        for _ in range(2):
            backfill_looks(cluster)
        assert cluster.mutating() == calls and len(names(cluster)) == 4
        first.end_well()
        second.wait_running()
        assert cluster.mutating() == calls + 4
        second.end_well()
    finally:
        cluster.change_vsphere("PrefetchOptions", "Prefetch=2\nPrefetchOptions")
