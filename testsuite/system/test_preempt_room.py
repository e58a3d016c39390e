# SPDX-License-Identifier: GPL-2.0-or-later
"""Preemption where room on hosts, or a device, is missing: the job of a lower
partition is requeued, its VM is switched off, and the preemptor has what that VM
had. No VM is ever suspended for it, whatever its adapter's type allows."""

from cluster import Cluster, wait_for
from stages import Held, off, power
from worlds import ROCE, host, world

import pytest

E1, E2 = (f"esx{i:02d}.example.org" for i in (1, 2))
FPGA, GPU = "com.vendor.fpga", "0000:65:00.0"
HALF, WHOLE = "nvidia_a100-20c", "nvidia_a100-40c"


def make_cluster():
    """Each host has memory for one large VM."""
    hosts = [host(n, vfs=0, memory=7 * 1024) for n in (E1, E2)]
    for h in hosts:
        h["dvx"] = [{"class": FPGA, "instances": 1, "checkpoint": True}]
    hosts[0]["gpus"] = [{
        "pci": GPU, "name": "NVIDIA A100-PCIE-40GB",
        "device": 0x20f1, "memoryGB": 40, "numa": 1,
        "profiles": {HALF: [2, 2], WHOLE: [1, 1]}}]
    c = Cluster(nodes=6, inventory=world(hosts=hosts))
    c.choose_ports()
    c.vsphere = {"ShutdownGrace": 1, "AllowMoreNodesThanVFs": "yes", "lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        "AdapterName=vmxnet3 Type=vmxnet3 Network=VM-PG",
        f"AdapterName=pvrdma Type=pvrdma Network={ROCE}",
        f"AdapterName=fpga Type=dvx DeviceClass={FPGA} Instances=1",
        f"AdapterName=half Type=vgpu Profile={HALF}",
        f"AdapterName=whole Type=vgpu Profile={WHOLE}",
        "PartitionName=rdma Adapter=pvrdma Template=rhel9-ofed"
        " MemoryReservation=full",
        "PartitionName=fpga Adapter=fpga Template=rhel9-ofed",
        "PartitionName=other Adapter=vmxnet3 Template=rhel9-ofed"
        " MemoryReservation=full",
        "PartitionName=half Adapter=half Template=rhel9-ofed",
        "PartitionName=whole Adapter=whole Template=rhel9-ofed"]}
    c.slurm = {"SuspendTimeout": 2, "PreemptType": "preempt/partition_prio",
               "PreemptMode": "REQUEUE"}
    c.node_lines = [c.node_line(1, 1, "pvrdma", memory=4096),
                    c.node_line(2, 2, "fpga", memory=4096),
                    c.node_line(3, 4, "vmxnet3", memory=4096),
                    c.node_line(5, 5, "half", memory=512),
                    c.node_line(6, 6, "whole", memory=512)]
    c.partition_lines = [
        "PartitionName=rdma Nodes=vm001 Default=YES",
        "PartitionName=fpga Nodes=vm002",
        "PartitionName=other Nodes=vm[003-004] PreemptMode=OFF",
        "PartitionName=half Nodes=vm005", "PartitionName=whole Nodes=vm006",
        "PartitionName=high Nodes=ALL PriorityTier=10"]
    return c


def devices(c, name):
    """Who has such a device, by host."""
    return {h["name"]: sorted(pf["by"].values()) for h in c.state()["hosts"]
            for pf in h["pfs"] if pf["id"] == name and pf["used"]}


def requeued(c, low):
    job = c.job(low.id)
    assert (job["JobState"], job["Restarts"]) == ("PENDING", "1"), job


def runs_again(c, low):
    low.let_go()
    # Slurm keeps it back for as long as its old credential lives, 120 s.
    c.must("scontrol", "update", f"jobid={low.id}", "starttime=now")
    assert "the end" in c.wait_job(low.id, 60)
    assert c.calls("SuspendVM_Task") == 0
    off(c, *c.names_on())


@pytest.mark.parametrize("partition,node", [("rdma", "vm001"),
                                            ("fpga", "vm002")])
def test_a_job_whose_host_has_no_room_for_another_is_requeued(
        cluster, partition, node):
    """A job that no job may preempt has one host, one of this partition the other."""
    c = cluster
    beside = Held(c, "-p", "other", "--exclusive", "-w", "vm003").wait_running()
    low = Held(c, "-p", partition, "--exclusive", "-w", node).wait_running()
    at = c.our_vm(node)["host"]
    assert {c.our_vm("vm003")["host"], at} == {E1, E2}
    assert devices(c, FPGA) == ({at: [node]} if partition == "fpga" else {})
    high = Held(c, "-p", "high", "--exclusive", "-w", "vm004").wait_running()
    assert c.our_vm("vm004")["host"] == at and power(c, node) == "poweredOff"
    requeued(c, low)
    assert devices(c, FPGA) == {}
    for other in (high, beside):
        other.end_well()
    runs_again(c, low)
    assert devices(c, FPGA) == {}


def test_a_vgpu_that_a_requeued_jobs_vm_had_is_the_preemptors(cluster):
    c = cluster
    low = Held(c, "-p", "half", "--mem=100").wait_running()
    assert devices(c, GPU) == {E1: ["vm005"]}
    high = Held(c, "-p", "high", "--mem=100", "-w", "vm006").wait_running()
    assert devices(c, GPU) == {E1: ["vm006"]}
    requeued(c, low)
    high.end_well()
    runs_again(c, low)
    wait_for("nobody has it", 20, lambda: devices(c, GPU) == {})
