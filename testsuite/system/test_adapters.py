# SPDX-License-Identifier: GPL-2.0-or-later
"""Adapters of several kinds side by side, and a NIC that is not right."""

import json
import os
import pathlib
import re
import shutil

import pytest

from cluster import Cluster, wait_for
from stages import Held
from worlds import world

REPORT = 'srun -l "$VS_CLUSTER_DIR"/bin/report'


def make_cluster():
    c = Cluster(nodes=8, inventory=world(
        hosts=2, vfs=2, ib_vfs=1, templates=None))
    c.choose_ports()
    c.vsphere = {"ShutdownGrace": 2, "BootTimeout": 60, "lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
        "AdapterName=sriov-ib Type=sriov Network=SRIOV-IB-PG LinkLayer=InfiniBand",
        "AdapterName=vmxnet3 Type=vmxnet3 Network=VM-PG AdapterAddresses=10.2.0.0/16",
        "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed",
        "PartitionName=ib Adapter=sriov-ib Template=rhel9-ofed",
        "PartitionName=eth Adapter=vmxnet3 Template=rhel9-ofed"]}
    c.node_lines = [c.node_line(1, 3, "sriov-roce"),
                    c.node_line(4, 5, "sriov-ib"),
                    c.node_line(6, 8, "vmxnet3")]
    c.partition_lines = ["PartitionName=roce Nodes=vm[001-003] Default=YES",
                         "PartitionName=ib Nodes=vm[004-005]",
                         "PartitionName=eth Nodes=vm[006-008]"]
    return c


def libfaketime():
    """Of the package libfaketime."""
    found = sorted(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    assert found, "libfaketime isn't installed"
    return found[0]


def seen(text):
    return set(re.findall(r"^\d+: (\S+) adapter=(\S+)", text, re.M))


def test_an_infiniband_constraint_gets_infiniband_vfs(cluster):
    out = cluster.wait_job(cluster.sbatch("-p", "ib", "-C", "sriov-ib", "-N2",
                                          script=REPORT))
    assert seen(out) == {("vm004", "sriov-ib"), ("vm005", "sriov-ib")}
    pfs = {pf["id"]: pf["used"] for h in cluster.state()["hosts"]
           for pf in h["pfs"] if pf["switch"] == "dvs-ib"}
    assert pfs == {"0000:af:00.0": 1}


def test_vmxnet3_takes_no_vf(cluster):
    before = cluster.vfs_used()
    out = cluster.wait_job(cluster.sbatch("-p", "eth", "-N2", script="srun hostname"))
    assert "vm006" in out and "vm007" in out
    assert cluster.vfs_used() == before
    nodes = {n["node"]: n for n in cluster.svf("nodes")["nodes"]}
    assert nodes["vm006"]["adapter"] == "vmxnet3"
    assert nodes["vm006"]["vm_state"] == "ON" and not nodes["vm006"].get("pf")
    info = json.loads(cluster.path("guests", "vm006", "guestinfo.json").read_text())
    assert info["guestinfo.slurm.address"] == "10.2.0.6/16"


def test_a_ladder_of_partitions_and_features_takes_what_there_is(cluster):
    """roce has three nodes: four of them can only be had as Ethernet, not."""
    first = Held(cluster, "-p", "roce", "-N3").wait_running()
    job = cluster.sbatch("-p", "roce,eth", "-C", "sriov-roce|vmxnet3", "-N2",
                         script="srun hostname")
    out = cluster.wait_job(job)
    assert set(out.split()) <= {"vm006", "vm007", "vm008"}
    first.end_well()


def test_a_card_whose_port_is_down_meets_no_job(cluster):
    """Its guest never starts slurmd: the VM is tried on another host, then the
    node goes down with the guest's own words, the job runs on another one."""
    cluster.must("scontrol", "update", "nodename=vm[001-003]", "state=power_down")
    wait_for("all of roce is off", 40, lambda: all(
        cluster.is_powered_down(n) and not cluster.is_on(n)
        for n in ("vm001", "vm002", "vm003")))
    cluster.port_state("vm001", "1: DOWN")
    job = cluster.sbatch("-p", "roce", "-N1", "-x", "vm003", script="hostname")
    out = cluster.wait_job(job, 120)
    assert out.strip() == "vm002"
    node = cluster.node("vm001")
    assert "DOWN" in node["State"].split("+")[0]
    assert "the guest says: " in node["Reason"]
    assert "not ACTIVE" in node["Reason"]
    assert "node=vm001 boots again on another host" in cluster.ctld_log()
    assert not [h for h in cluster.svf("hosts")["hosts"]
                if h["state"] == "EXCLUDED"]    # it wasn't the hosts
    cluster.port_state("vm001", "4: ACTIVE")
    cluster.must("scontrol", "update", "nodename=vm001", "state=resume")
    wait_for("vm001 is off", 40, lambda: not cluster.is_on("vm001"))
    out = cluster.wait_job(cluster.sbatch("-p", "roce", "-N1", "-w", "vm001",
                                          script="hostname"), 60)
    assert out.strip() == "vm001"


def test_a_port_that_fails_later_is_seen_before_the_first_step(cluster):
    """The warm VM's port went down: the job is requeued, not run there."""
    out = cluster.wait_job(cluster.sbatch("-p", "roce", "-N1", "-w", "vm002",
                                          script="hostname"), 60)
    assert out.strip() == "vm002"
    cluster.port_state("vm002", "1: DOWN")
    try:
        job = cluster.sbatch("-p", "roce", "-N1", "-w", "vm002",
                             script="echo it ran")
        wait_for("the node is drained with the cause", 30, lambda: (
            "DRAIN" in cluster.node("vm002")["State"] and
            cluster.job(job).get("Restarts") == "1"))
        assert "it ran" not in cluster.output(job)
        assert cluster.job(job)["JobState"] == "PENDING"
        assert cluster.node("vm002")["Reason"].startswith(
            "prep/vsphere: mlx5_1 port 1 is DOWN, not ACTIVE: look at ")
        assert "launch_failed_requeued_held" not in cluster.job(job)["Reason"]
        assert "; node vm002 is drained: prep/vsphere: mlx5_1 port 1 is DOWN" \
            in cluster.svf("why", str(job))["text"]
    finally:
        cluster.port_state("vm002", "4: ACTIVE")
        cluster.must("scontrol", "update", "nodename=vm002", "state=resume")


def test_a_clock_behind_slurmctlds_starts_no_job_after_a_failed_prolog(cluster):
    """slurmd compares the times of two clocks, and would start it there."""
    env = cluster.path("guests", "vm002.env")
    cluster.must("scontrol", "update", "nodename=vm002", "state=power_down")
    wait_for("vm002 is off", 40, lambda: cluster.is_powered_down("vm002") and
             not cluster.is_on("vm002"))
    env.write_text(f"export LD_PRELOAD={libfaketime()} FAKETIME=-4s "
                   "FAKETIME_DONT_FAKE_MONOTONIC=1\n")
    try:
        cluster.wait_job(cluster.sbatch("-p", "roce", "-N1", "-w", "vm002",
                                        script="hostname"), 60)
        cluster.port_state("vm002", "1: DOWN")
        job = cluster.sbatch("-p", "roce", "-N1", "-w", "vm002", script="echo it ran")
        wait_for("the node is drained and the job requeued", 30, lambda: (
            "DRAIN" in cluster.node("vm002")["State"] and
            cluster.job(job).get("Restarts") == "1"))
        assert "it ran" not in cluster.output(job)
        assert re.search(r"this node's clock is [45] s behind slurmctld's",
                         cluster.path("log", "vm002.log").read_text())
        cluster.must("scancel", str(job))
        cluster.must("scontrol", "update", "nodename=vm002", "state=resume")
    finally:
        env.unlink()
        cluster.port_state("vm002", "4: ACTIVE")
        cluster.must("scontrol", "update", "nodename=vm002", "state=power_down")


def test_an_active_mtu_that_changed_is_seen_before_the_first_step(cluster):
    """The link is up and ACTIVE, the interface as it was: only libibverbs tells."""
    out = cluster.wait_job(cluster.sbatch("-p", "roce", "-N1", "-w", "vm002",
                                          script="hostname"), 60)
    assert out.strip() == "vm002"
    verbs = cluster.path("guests", "vm002", "verbs")
    was = verbs.read_text()
    verbs.write_text(re.sub(r"^mtu .*", "mtu 1024", was, flags=re.M))
    try:
        job = cluster.sbatch("-p", "roce", "-N1", "-w", "vm002",
                             script="echo it ran")
        wait_for("the node is drained with the cause", 30, lambda: (
            "DRAIN" in cluster.node("vm002")["State"] and
            cluster.job(job).get("Restarts") == "1"))
        assert "it ran" not in cluster.output(job)
        assert cluster.node("vm002")["Reason"].startswith(
            "prep/vsphere: mlx5_1 port 1 has active_mtu 1024, at boot it was "
            "4096: ")
        cluster.must("scancel", str(job))
    finally:
        verbs.write_text(was)
        cluster.must("scontrol", "update", "nodename=vm002", "state=resume")


def sysfs(cluster, node, netdev, file):
    return cluster.path("guests", node, "root/sys/class/net", netdev, file)


def other_mtu(cluster):
    sysfs(cluster, "vm003", "eth1", "mtu").write_text("1500\n")


def no_interface(cluster):
    shutil.rmtree(sysfs(cluster, "vm008", "eth1", ""))


def other_guid(cluster):
    verbs = cluster.path("guests", "vm004", "verbs")
    verbs.write_text(re.sub(r"^guid .*", "guid 005056fffe0a0b0c",
                            verbs.read_text(), flags=re.M))


def hanging_driver(cluster):
    """A process that reads the MTU blocks, as in a driver that hangs."""
    mtu = sysfs(cluster, "vm007", "eth1", "mtu")
    mtu.unlink()
    os.mkfifo(mtu)


AGAIN = {
    "mtu": ("roce", "vm003", other_mtu,
            "eth1 has MTU 1500, vsphere.conf says 9000: "),
    "vmxnet3": ("eth", "vm008", no_interface, "the interface eth1 (MAC "),
    "guid": ("ib", "vm004", other_guid,
             "mlx5_1 has the node GUID 005056fffe0a0b0c and "),
    "hangs": ("eth", "vm007", hanging_driver, "/"),
}


@pytest.mark.parametrize("what", AGAIN)
def test_a_card_that_was_changed_since_boot_meets_no_job(cluster, what):
    """Each kind of NIC: the warm VM's next job is requeued, its node drained."""
    part, node, spoil, words = AGAIN[what]
    out = cluster.wait_job(cluster.sbatch("-p", part, "-w", node,
                                          script="hostname"), 60)
    assert out.strip() == node
    spoil(cluster)
    job = cluster.sbatch("-p", part, "-w", node, script="echo it ran")
    wait_for("the node is drained and the job back in the queue", 30, lambda: (
        "DRAIN" in cluster.node(node)["State"] and
        cluster.job(job).get("Restarts") == "1"))
    assert cluster.node(node)["Reason"].startswith(f"prep/vsphere: {words}")
    assert "it ran" not in cluster.output(job)
    if what == "hangs":
        assert "did not answer within 10 s: a device driver hangs" in \
            cluster.node(node)["Reason"]
    cluster.must("scancel", str(job))
    # as doc/features/adapters.md says
    cluster.must("scontrol", "update", f"nodename={node}", "state=power_down")
    wait_for("its VM is off", 60, lambda: (not cluster.is_on(node) and
                                           cluster.is_powered_down(node)))
    if "DRAIN" in cluster.node(node)["State"]:
        cluster.must("scontrol", "update", f"nodename={node}", "state=resume")
    out = cluster.wait_job(cluster.sbatch("-p", part, "-w", node,
                                          script="hostname"), 60)
    assert out.strip() == node
