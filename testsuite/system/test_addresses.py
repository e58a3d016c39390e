# SPDX-License-Identifier: GPL-2.0-or-later
"""Addresses of nodes: pools of partitions, a subnet for each NIC, and what a
running cluster does when they change."""

import json

from cluster import Cluster, wait_for
from worlds import world

ADAPTER = ("AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000 "
           "NICsPerNode=2 DistinctPFs=no AdapterAddresses=10.1.0.0/16,10.2.0.0/16")


def make_cluster():
    c = Cluster(nodes=4, inventory=world(hosts=1, vfs=8))
    c.choose_ports()
    c.vsphere = {"ShutdownGrace": 1, "lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm", ADAPTER,
        "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed",
        "PartitionName=big Adapter=sriov-roce Template=rhel9-ofed "
        "AdapterAddresses=10.3.0.10-10.3.0.20/24@3,10.4.0.10-10.4.0.20/24@3 "
        "ManagementAddresses=10.9.0.10-10.9.0.20/24@3 Gateway=10.9.0.1 "
        "DNS=10.9.0.2,10.9.0.3 DNSSearch=hpc.example.org"]}
    c.slurm = {"SuspendTimeout": 2}
    c.partition_lines = ["PartitionName=roce Nodes=vm[001-002] Default=YES",
                         "PartitionName=big Nodes=vm[003-004]"]
    return c


def info(cluster, node):
    text = cluster.path("guests", node, "guestinfo.json").read_text()
    return {k.removeprefix("guestinfo.slurm."): v
            for k, v in json.loads(text).items()}


def ready(cluster, node):
    text = cluster.path("guests", node, "slurm-vsphere/ready").read_text()
    return dict(x.split(" ", 1) for x in text.splitlines()[1:])


def run_on(cluster, part, node):
    out = cluster.wait_job(cluster.sbatch("-p", part, "-w", node,
                                          script="hostname"), 60)
    assert out.strip() == node


def test_each_card_of_a_node_has_the_address_of_its_subnet(cluster):
    run_on(cluster, "roce", "vm002")
    got = info(cluster, "vm002")
    assert got["address"] == "10.1.0.2/16,10.2.0.2/16"
    assert "first-address" not in got and "gateway" not in got
    assert ready(cluster, "vm002")["gid"] == "::ffff:10.1.0.2,::ffff:10.2.0.2"


def test_a_partitions_own_pools_go_before_the_adapters(cluster):
    run_on(cluster, "big", "vm004")
    got = info(cluster, "vm004")
    assert got["address"] == "10.3.0.11/24,10.4.0.11/24"
    assert got["first-address"] == "10.9.0.11/24"
    assert got["gateway"] == "10.9.0.1"
    assert got["dns"] == "10.9.0.2,10.9.0.3"
    assert got["dns-search"] == "hpc.example.org"
    vm = cluster.our_vm("vm004")
    cards = json.loads(cluster.path("guests", "vm004",
                                    "cards.json").read_text())
    assert got["first-mac"] == cards[0]["mac"] not in vm["vf_macs"]
    written = cluster.path("guests", "vm004", "root/run/systemd/network",
                           "10-slurm-vsphere-first.network").read_text()
    assert f"MACAddress={got['first-mac']}\n" in written


def test_a_pool_that_changes_is_given_to_the_vm_at_its_next_start(cluster):
    """The VM is reconfigured, not rebuilt; a configuration whose pools overlap is
    refused, and the old one stays in force."""
    uuid = cluster.our_vm("vm004")["uuid"]
    cluster.must("scontrol", "update", "nodename=vm004", "state=power_down")
    wait_for("vm004 is off", 40, lambda: cluster.is_powered_down("vm004") and
             not cluster.is_on("vm004"))
    was, bad = (f"ManagementAddresses=10.{n}.0.10-10.{n}.0.20/24@3 Gateway=10.{n}.0.1"
                for n in (9, 3))
    cluster.change_vsphere(was, bad, refused=True)
    wait_for("the overlap is told of", 20, lambda:
             "is in the subnet of" in cluster.ctld_log())
    cluster.change_vsphere(bad, was.replace("0.10-", "0.5-"))
    run_on(cluster, "big", "vm004")
    assert info(cluster, "vm004")["first-address"] == "10.9.0.6/24"
    assert cluster.our_vm("vm004")["uuid"] == uuid
