# SPDX-License-Identifier: GPL-2.0-or-later
"""Clone=instant: VMs that continue from the memory of a clone source, which boots
once on each host and is frozen. Slurm's real daemons, the guest's own script."""

from cluster import Cluster, wait_for
from worlds import world

HOSTS = ["esx01.example.org", "esx02.example.org"]
PARENT = "parent-rhel9-ofed-"


def make_cluster():
    c = Cluster(nodes=8, inventory=world(hosts=2))
    c.choose_ports()
    c.vsphere = {"lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
        "AdapterName=vmxnet3 Type=vmxnet3 Network=VM-PG",
        "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed",
        "PartitionName=eth Adapter=vmxnet3 Template=rhel9-ofed Clone=instant"]}
    c.node_lines = [c.node_line(1, 2, "sriov-roce"),
                    c.node_line(3, 8, "vmxnet3")]
    c.partition_lines = [
        "PartitionName=roce Nodes=vm[001-002] Default=YES MaxTime=INFINITE",
        "PartitionName=eth Nodes=vm[003-008] MaxTime=INFINITE"]
    return c


def parents(c, **wanted):
    return [vm for vm in c.state()["vms"] if vm["name"].startswith(PARENT)
            and all(vm[k] == v for k, v in wanted.items())]


def run(c, *options):
    job = c.sbatch("-p", "eth", *options, script="srun -l hostname")
    return c.wait_job(job, 90)


def test_the_clones_of_a_job_go_on_from_a_frozen_parent_on_their_host(cluster):
    """One parent on each host, made, booted and frozen once; the clones are on
    without a power-on, with their own names, MACs and slurmds."""
    out = run(cluster, "-N4")
    assert sorted(line.split()[1] for line in out.splitlines()) == [
        "vm003", "vm004", "vm005", "vm006"], out
    found = parents(cluster)
    assert sorted(p["host"] for p in found) == HOSTS, found
    assert all(p["frozen"] and not p["deltas"] for p in found), found
    calls = cluster.counters()["calls"]
    assert calls["InstantClone_Task"] == 4
    assert calls["CloneVM_Task"] == calls["PowerOnVM_Task"] == 2, calls
    macs = [c["mac"] for vm in cluster.state()["vms"] for c in vm["cards"]]
    assert len(set(macs)) == len(macs), macs


def test_an_instant_clone_is_gone_when_its_node_is_powered_down(cluster):
    """Off it would be a slow VM like any other: it is destroyed, and the next
    one is made of the same parent."""
    before = cluster.counters()["calls"]
    cluster.must("scontrol", "update", "node=vm[003-006]", "state=power_down")
    wait_for("the clones are gone", 60, lambda: not [
        v for v in cluster.our_vms() if v["name"].startswith("vm")])
    assert len(parents(cluster, frozen=True)) == 2
    wait_for("the nodes are powered down", 60, lambda: all(
        cluster.is_powered_down(f"vm00{i}") for i in range(3, 7)))
    plan = cluster.svf("plan", "-p", "eth", "-N1")
    assert {n["action"] for n in plan["nodes"]} == {"instant-clone"}, plan
    run(cluster, "-N1")
    now = cluster.counters()["calls"]
    assert now["CloneVM_Task"] == before["CloneVM_Task"]
    assert now["PowerOnVM_Task"] == before["PowerOnVM_Task"]
    assert now["InstantClone_Task"] == before["InstantClone_Task"] + 1


def test_a_host_that_enters_maintenance_loses_its_parent(cluster):
    """A parent that is on would keep it from getting empty."""
    cluster.must("scontrol", "update", "node=vm[003-008]", "state=power_down")
    wait_for("no clone is there", 60, lambda: not [
        v for v in cluster.our_vms() if v["name"].startswith("vm")])
    cluster.do("maintenance", host=HOSTS[0], mode="enter")
    wait_for("its parent is off", 60, lambda: parents(
        cluster, host=HOSTS[0], power="poweredOff"))
    wait_for("the host is in maintenance", 60, lambda: [
        h for h in cluster.svf("hosts")["hosts"]
        if h["host"] == HOSTS[0] and "MAINTENANCE" in str(h["state"])])
    assert parents(cluster, host=HOSTS[1], frozen=True)


def test_parents_of_an_old_template_go_off(cluster):
    """And jobs have clones of a new one."""
    old = {p["moid"] for p in parents(cluster)}
    cluster.touch_template("rhel9-ofed")
    wait_for("they are off", 60, lambda: all(
        p["power"] == "poweredOff" for p in parents(cluster)
        if p["moid"] in old))
    run(cluster, "-N1")
    assert [p["host"] for p in parents(cluster, frozen=True)
            if p["moid"] not in old] == [HOSTS[1]]
    assert not cluster.counters()["foreignTouches"]


def test_it_is_refused_where_the_type_forbids_it(cluster):
    r = cluster.run("svf", "adapters", "-h", "-O", "type,instant", "sriov",
                    "vmxnet3")
    assert r.stdout.split() == ["vmxnet3", "yes", "sriov", "no"]
