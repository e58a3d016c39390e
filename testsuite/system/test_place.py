# SPDX-License-Identifier: GPL-2.0-or-later
"""On which host and PF a VM goes: what DRS is asked, and where it is heeded;
the NUMA node of a PF."""

from cluster import Cluster, wait_for
from worlds import PF0, host, world

RAIL = "0000:86:00.0"


def place_hosts():
    """By VFs all alike; DRS likes esx03, which has most memory, then esx02."""
    hosts = [host(f"esx{i:02d}.example.org", vfs, memory=i * 64 * 1024)
             for i, vfs in ((1, 4), (2, 4), (3, 1))]
    hosts[0]["pnics"].append({
        "device": "vmnic5", "pci": RAIL, "numa": 1, "speedMb": 100000,
        "switch": "dvs-roce", "rdma": True, "sriov": {"vfs": 4, "max": 16}})
    return hosts


def make_cluster():
    c = Cluster(nodes=6, inventory=world(hosts=place_hosts()))
    c.vsphere = {"ShutdownGrace": 1, "Placement": "drs",
                 "AllowMoreNodesThanVFs": "yes"}
    c.slurm = {"SuspendTimeout": 2}
    return c


def told(cluster):
    return cluster.svf("status")["drs"]


def ran_on(cluster, node):
    """The host of the node's VM after a job on it."""
    cluster.wait_job(cluster.sbatch("-N1", "-w", node, script="true"), 60)
    return cluster.our_vm(node)["host"][:5]


def test_drs_moves_a_vm_before_its_clone_where_there_is_a_vf(cluster):
    assert ran_on(cluster, "vm001") == "esx03"
    assert told(cluster)["moved"] == 1
    # its only VF is taken now: it isn't even offered
    assert ran_on(cluster, "vm002") == "esx02"
    t = told(cluster)
    assert t["moved"] + t["agreed"] == 2 and not t["refused"] + t["failed"]
    assert cluster.calls("PlaceVm") == 2


def test_where_drs_is_off_our_own_place_is_taken(cluster):
    before = told(cluster)
    cluster.do("cluster", cluster="HPC1", drs="disabled")
    assert ran_on(cluster, "vm003") in ("esx01", "esx02")
    cluster.do("cluster", cluster="HPC1", drs="manual")
    t = told(cluster)
    assert t["failed"] == before["failed"] + 1
    assert t["moved"] == before["moved"]


def test_under_pack_a_gang_stays_below_one_leaf_switch(fresh):
    """By name, load and number of hosts esx01 and esx02 would be as good."""
    c = fresh(nodes=4, inventory=world(hosts=4, vfs=1), vsphere={
        "Placement": "pack", "lines": [
            "VSphereCluster=HPC1 ResourcePool=slurm",
            "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG",
            "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed",
            "ESXiHost=esx01.example.org,esx03.example.org Switch=leaf1",
            "ESXiHost=esx02.example.org,esx04.example.org Switch=leaf2"]})
    c.wait_job(c.sbatch("-N2", script="true"), 60)
    hosts = {vm["host"][:5] for vm in c.our_vms()}
    assert hosts in ({"esx01", "esx03"}, {"esx02", "esx04"})


def test_each_pf_is_shown_with_its_numa_node(cluster):
    esx = cluster.svf("hosts")["hosts"][0]
    assert {pf["pci"]: pf["numa"] for pf in esx["pfs"]} == {PF0: 0, RAIL: 1}
    wait_for("nothing is left to be done", 20, lambda: cluster.svf(
        "status")["in_flight"] == 0)
