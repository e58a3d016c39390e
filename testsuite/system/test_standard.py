# SPDX-License-Identifier: GPL-2.0-or-later
"""Adapters on port groups of standard switches, which hosts know by name alone."""

from cluster import Cluster
from stages import off
from vcenter_json import VCenter
from worlds import PF0, world

ETH, ROCE = "Eth 10.3.0.0/16", "RoCE-10.1.0.0/16"


def make_cluster():
    w = world(hosts=2, vfs=2)
    dc = w["datacenters"][0]
    dc["networks"] += [{"name": ETH}, {"name": ROCE}]
    for h in dc["clusters"][0]["hosts"]:
        for pnic in h["pnics"]:
            if pnic["pci"] == PF0:
                del pnic["switch"]      # in a standard switch
    c = Cluster(nodes=4, inventory=w)
    c.choose_ports()
    c.vsphere = {"ShutdownGrace": 2, "lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        f'AdapterName=eth Type=vmxnet3 Network="{ETH}"',
        f'AdapterName=roce Type=sriov Network="{ROCE}" PF={PF0}',
        "PartitionName=eth Adapter=eth Template=rhel9-ofed",
        "PartitionName=roce Adapter=roce Template=rhel9-ofed"]}
    c.node_lines = [c.node_line(1, 2, "eth"), c.node_line(3, 4, "roce")]
    c.partition_lines = ["PartitionName=eth Nodes=vm[001-002] Default=YES",
                         "PartitionName=roce Nodes=vm[003-004]"]
    return c


def card_of(c, node, kind):
    """The backing of its one NIC of that type, as vCenter shows it."""
    vc = VCenter(c)
    vm = vc.find(f"DC0/vm/slurm/{node}")
    found = [d for d in vc.get(vm, "config")["hardware"]["device"]
             if d["_typeName"] == kind]
    return found[-1]["backing"]


def runs(c, partition, nodes):
    was = c.mutating()
    out = c.wait_job(c.sbatch("-p", partition, "-N2", script="srun hostname"), 60)
    assert sorted(out.split()) == nodes
    assert c.mutating() - was == 4          # a clone and a power-on each


def test_a_vmxnet3_card_gets_on_a_standard_network(cluster):
    runs(cluster, "eth", ["vm001", "vm002"])
    b = card_of(cluster, "vm001", "VirtualVmxnet3")
    assert b["_typeName"] == "VirtualEthernetCardNetworkBackingInfo"
    assert b["deviceName"] == ETH
    off(cluster, "vm001", "vm002")


def test_a_vf_gets_on_a_standard_network(cluster):
    runs(cluster, "roce", ["vm003", "vm004"])
    b = card_of(cluster, "vm003", "VirtualSriovEthernetCard")
    assert b["_typeName"] == "VirtualEthernetCardNetworkBackingInfo"
    assert b["deviceName"] == ROCE
    assert cluster.vfs_used() == 2
    off(cluster, "vm003", "vm004")


def test_a_card_on_a_standard_network_is_known_again(cluster):
    """After a restart its VM is as it should be: it is powered on and not built
    again."""
    cluster.restart_slurmctld()
    cluster.wait_ready()
    was = cluster.mutating()
    out = cluster.wait_job(cluster.sbatch("-p", "roce", "-w", "vm003",
                                          script="hostname"), 60)
    assert out.split() == ["vm003"]
    assert cluster.mutating() - was == 1
