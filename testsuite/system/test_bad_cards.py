# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest whose NIC is not right says why, and its node's reason says it: at
once and whole, for each kind of failure. (What becomes of jobs: test_adapters.)"""

import time

import pytest

from cluster import Cluster, wait_for
from worlds import world

BOOT_TIMEOUT = 300

# node: (partition, what the guest meets, the words that its node's reason ends in)
BAD = {
    "vm001": ("roce", {"VM_RDMA": "no"},
              "eth1 has no RDMA device: is its RDMA driver in the template "
              "(mlx5_ib, vmw_pvrdma), and RDMA on for the VF? (after 1 s)"),
    "vm002": ("roce", {"PORT": "1: DOWN"},
              "mlx5_1 port 1 is DOWN, not ACTIVE: look at the uplink of the PF "
              "it is of: cable and switch port (after 1 s)"),
    "vm003": ("roce", {"VM_LINK_LAYER": "InfiniBand"},
              "mlx5_1 port 1 is InfiniBand, Ethernet is wanted: wrong network "
              "or link layer in vsphere.conf, or the adapter in the host is in "
              "the other mode (mlxconfig: set LINK_TYPE_P1 to ETH)"),
    "vm004": ("roce", {"VM_ACTIVE_MTU": "1024"},
              "mlx5_1 port 1 has active_mtu 1024, for MTU 9000 it should be "
              "4096: the NIC did not take the MTU; look at the MTU of switch "
              "and PF (after 1 s)"),
    "vm005": ("roce", {"SV_IP": "refuses"},
              "eth1: address 10.1.0.5/16 can't be set: RTNETLINK answers: "
              "Operation not permitted"),
    "vm006": ("roce", {"VM_GIDS": "v1"},
              "mlx5_1 port 1 has no GID of RoCE v2 for the address 10.1.0.6 of "
              "eth1: was the address taken away, or does the device speak RoCE "
              "v1 alone? (after 1 s)"),
    "vm007": ("ib", {"VM_NODE_GUID": "0"},
              "mlx5_1 has the node GUID 0: the host gave its VF none; power the "
              "VM off and on, and look at the host's driver and firmware if "
              "that is no help (after 1 s)"),
}


def make_cluster():
    c = Cluster(nodes=10, inventory=world(hosts=1, vfs=8, ib_vfs=2,
                                          templates=None))
    c.choose_ports()
    c.vsphere = {"ShutdownGrace": 2, "BootTimeout": BOOT_TIMEOUT, "lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000 "
        "AdapterAddresses=10.1.0.0/16",
        "AdapterName=sriov-ib Type=sriov Network=SRIOV-IB-PG "
        "LinkLayer=InfiniBand",
        "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed",
        "PartitionName=ib Adapter=sriov-ib Template=rhel9-ofed"]}
    c.node_lines = [c.node_line(1, 6, "sriov-roce"),
                    c.node_line(7, 8, "sriov-ib"),
                    c.node_line(9, 10, "sriov-roce")]
    c.partition_lines = ["PartitionName=roce Nodes=vm[001-006,009-010] "
                         "Default=YES",
                         "PartitionName=ib Nodes=vm[007-008]"]
    return c


def spoil(cluster, node, what):
    cluster.guest_variable(node, "SV_WAIT", "1")
    for name, value in what.items():
        if name == "PORT":
            cluster.port_state(node, value)
        elif name == "SV_IP":
            f = cluster.path("bin", value)
            f.write_text('#!/bin/sh\n[ "$1" != address ] || { echo "RTNETLINK '
                         'answers: Operation not permitted" >&2; exit 2; }\n')
            f.chmod(0o755)
            cluster.guest_variable(node, name, f)
        else:
            cluster.guest_variable(node, name, value)


@pytest.fixture(scope="module")
def failed(cluster):
    """All of them at once: {node: (seconds until it was down, reason)}."""
    for node, (_, what, _) in BAD.items():
        spoil(cluster, node, what)
    begin = time.monotonic()
    jobs = [cluster.sbatch("-p", part, "-w", node, script="hostname")
            for node, (part, _, _) in BAD.items()]
    seen = {}

    def look():
        for node in BAD:
            n = cluster.node(node)
            if node not in seen and n["State"].startswith("DOWN"):
                seen[node] = (time.monotonic() - begin, n["Reason"])
        return len(seen) == len(BAD)
    try:
        wait_for(f"{len(BAD)} nodes are down", 120, look)
    finally:
        for job in jobs:
            cluster.must("scancel", str(job))
    return seen


@pytest.mark.parametrize("node", BAD)
def test_the_nodes_reason_says_what_its_guest_says(failed, node):
    took, reason = failed[node]
    assert f"the guest says: {BAD[node][2]}" in reason
    assert took < BOOT_TIMEOUT / 2
