# SPDX-License-Identifier: GPL-2.0-or-later
"""Which VMs are suspended for a preemptor, by their adapter. One with a PVRDMA
card is, and goes on at the host where it was, whatever room there is elsewhere,
with its card. One with a DVX device is not, for the table (plan/adapter.c) builds
nothing on what its driver may know: its job ends as PreemptMode says."""

import json

from cluster import Cluster, wait_for
from stages import Held, off, power, stands_still
from worlds import ROCE, host, world

E1, E2 = (f"esx{i:02d}.example.org" for i in (1, 2))
FPGA = "com.vendor.fpga"


def make_cluster():
    """Each host has memory for one large VM."""
    hosts = [host(n, vfs=0, memory=7 * 1024) for n in (E1, E2)]
    for h in hosts:
        h["dvx"] = [{"class": FPGA, "instances": 1, "checkpoint": True}]
    c = Cluster(nodes=4, inventory=world(hosts=hosts))
    c.choose_ports()
    c.vsphere = {"ShutdownGrace": 1, "OversubscribeNames": "yes", "lines": [
        "ClusterName=HPC1 ResourcePool=slurm",
        "AdapterName=vmxnet3 Type=vmxnet3 Network=VM-PG",
        f"AdapterName=pvrdma Type=pvrdma Network={ROCE}",
        f"AdapterName=fpga Type=dvx DeviceClass={FPGA} Instances=1",
        "PartitionName=rdma Adapter=pvrdma Template=rhel9-ofed"
        " MemoryReservation=full Preempt=suspend",
        "PartitionName=fpga Adapter=fpga Template=rhel9-ofed Preempt=suspend",
        "PartitionName=other Adapter=vmxnet3 Template=rhel9-ofed"
        " MemoryReservation=full"]}
    c.slurm = {"SuspendTimeout": 2, "PreemptType": "preempt/partition_prio",
               "PreemptMode": "REQUEUE"}
    c.node_lines = [c.node_line(1, 1, "pvrdma", memory=4096),
                    c.node_line(2, 2, "fpga", memory=4096),
                    c.node_line(3, 4, "vmxnet3", memory=4096)]
    c.partition_lines = [
        "PartitionName=rdma Nodes=vm001 Default=YES",
        "PartitionName=fpga Nodes=vm002",
        "PartitionName=other Nodes=vm[003-004] PreemptMode=OFF",
        "PartitionName=high Nodes=ALL PriorityTier=10"]
    return c


def cards(c, node):
    """A VM's cards, and what its guest saw of them when it booted."""
    vm = next(v for v in c.state()["vms"] if v["name"] == node)
    seen = json.loads(c.path("guests", node, "cards.json").read_text())
    return [(x["type"], x.get("mac"), x.get("network")) for x in vm["cards"]], seen


def devices(c):
    """Who has a DVX device, by host."""
    return {h["name"]: sorted(pf["by"].values()) for h in c.state()["hosts"]
            for pf in h["pfs"] if pf["id"] == FPGA and pf["used"]}


def both_full(c, partition, node):
    """A job that nobody preempts has one host, one of this partition the other."""
    off(c, *c.names_on())
    beside = Held(c, "-p", "other", "--exclusive", "-w", "vm003").wait_running()
    low = Held(c, "-p", partition, "--exclusive", "-w", node).wait_running()
    assert {c.our_vm(n)["host"] for n in ("vm003", node)} == {E1, E2}
    return beside, low


def test_a_vm_with_pvrdma_is_suspended_and_goes_on_where_it_was(cluster):
    c, node = cluster, "vm001"
    beside, low = both_full(c, "rdma", node)
    at, booted, was = c.our_vm(node)["host"], c.our_vm(node)["boots"], cards(c, node)
    assert "pvrdma" in {t for t, *_ in was[0]}, was
    high = Held(c, "-p", "high", "--exclusive", "-w", "vm004")
    wait_for("it is suspended", 60, lambda: c.job_state(low.id) == "SUSPENDED" and
             power(c, node) == "suspended")
    assert stands_still(c, node)
    high.wait_running()
    assert c.our_vm("vm004")["host"] == at
    # The other host is empty: that is no reason to leave its own.
    beside.end_well()
    off(c, "vm003")
    text = c.svf("why", str(low.id))["text"]
    assert f"there is room on {at}" in text, text
    assert (c.job_state(low.id), power(c, node)) == ("SUSPENDED", "suspended")
    high.end_well()
    wait_for("it goes on", 60, lambda: c.job_state(low.id) == "RUNNING" and
             power(c, node) == "poweredOn")
    assert (c.our_vm(node)["host"], c.our_vm(node)["boots"]) == (at, booted)
    assert cards(c, node) == was
    low.end_well()
    assert c.calls("SuspendVM_Task") == 1
    off(c, *c.names_on())


def test_a_vm_with_a_dvx_device_is_not_and_its_job_is_requeued(cluster):
    c, node = cluster, "vm002"
    asked = c.calls("SuspendVM_Task")
    beside, low = both_full(c, "fpga", node)
    at = c.our_vm(node)["host"]
    assert devices(c) == {at: [node]}
    high = Held(c, "-p", "high", "--exclusive", "-w", "vm004").wait_running()
    assert c.our_vm("vm004")["host"] == at and power(c, node) == "poweredOff"
    job = c.job(low.id)
    assert (job["JobState"], job["Restarts"]) == ("PENDING", "1"), job
    assert devices(c) == {}
    for other in (high, beside):
        other.end_well()
    low.let_go()
    c.must("scontrol", "update", f"jobid={low.id}", "starttime=now")
    assert "the end" in c.wait_job(low.id, 60)
    assert c.calls("SuspendVM_Task") == asked
    off(c, *c.names_on())
    assert devices(c) == {}
