# SPDX-License-Identifier: GPL-2.0-or-later
"""Several VFs per node: NICsPerNode=2, two rails on two PFs."""

import json

from cluster import Cluster, wait_for
from stages import Held
from worlds import PF0, ROCE, foreign, host, world

E1, E2 = "esx01.example.org", "esx02.example.org"
PF1 = "0000:5e:00.0"


def two_pfs(name):
    h = host(name, vfs=2)
    h["pnics"].append({"device": "vmnic5", "pci": PF1, "numa": 1,
                       "speedMb": 100000, "switch": "dvs-roce", "rdma": True,
                       "sriov": {"vfs": 2, "max": 16}})
    return h


def make_cluster():
    """Two hosts of two PFs with two VFs each; another user's VMs that could fill
    the second PF of both."""
    theirs = [foreign(f"theirs-{i}", e, PF1, on=False)
              for i, e in enumerate((E1, E1, E2, E2))]
    c = Cluster(nodes=4, inventory=world(
        hosts=[two_pfs(E1), two_pfs(E2)], vms=theirs))
    c.choose_ports()
    c.vsphere = {"ShutdownGrace": 2, "AllowMoreNodesThanVFs": "yes", "lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        f"AdapterName=rails Type=sriov Network={ROCE} MTU=9000 NICsPerNode=2",
        f"AdapterName=one Type=sriov Network={ROCE} MTU=9000 NICsPerNode=1",
        "PartitionName=rails Adapter=rails Template=rhel9-ofed",
        "PartitionName=one Adapter=one Template=rhel9-ofed"]}
    c.node_lines = [c.node_line(1, 2, "rails"), c.node_line(3, 4, "one")]
    c.partition_lines = ["PartitionName=rails Nodes=vm[001-002] Default=YES",
                         "PartitionName=one Nodes=vm[003-004]"]
    return c


def used(c):
    return {(h["name"][:5], pf["id"]): pf["used"] for h in c.state()["hosts"]
            for pf in h["pfs"] if pf["switch"] == "dvs-roce"}


def node(c, name):
    return {n["node"]: n for n in c.svf("nodes")["nodes"]}[name]


def off(c, *names):
    c.must("scontrol", "update", "nodename=" + ",".join(names),
           "state=power_down")
    wait_for("they are off", 60, lambda: all(
        c.is_powered_down(n) and not c.is_on(n) for n in names))


def test_a_node_gets_two_cards_on_two_pfs(cluster):
    was = cluster.mutating()
    out = cluster.wait_job(cluster.sbatch("-p", "rails", "-N2"), 90)
    assert "vm001" in out and "vm002" in out
    assert cluster.mutating() - was == 4        # I7: a clone, a power-on
    assert used(cluster) == {("esx01", PF0): 1, ("esx01", PF1): 1,
                             ("esx02", PF0): 1, ("esx02", PF1): 1}
    n = node(cluster, "vm001")
    assert n["pf"] == f"{PF0},{PF1}"
    info = json.loads(cluster.path("guests", "vm001",
                                   "guestinfo.json").read_text())
    assert info["guestinfo.slurm.mac"] == n["mac"]
    assert len(set(n["mac"].split(","))) == 2
    ready = cluster.path("guests", "vm001", "slurm-vsphere", "ready").read_text()
    assert ready.count("\nport ") == 2
    # The VMs are on and used as they are; a task's environment names both NICs.
    out = cluster.wait_job(cluster.sbatch(
        "-p", "rails", "-N2", script="srun -N1 -w vm001 env"), 60)
    told = dict(ln.split("=", 1) for ln in out.splitlines() if "=" in ln)
    devices = told["SLURM_VSPHERE_DEVICE"].split(",")
    assert len(set(devices)) == 2
    assert told["SLURM_VSPHERE_PF"] == n["pf"]
    assert told["SLURM_VSPHERE_MAC"] == n["mac"]
    assert told["UCX_NET_DEVICES"] == ",".join(f"{d}:1" for d in devices)
    assert told["NCCL_IB_HCA"] == told["SLURM_VSPHERE_DEVICE"]
    assert cluster.mutating() - was == 4


def test_a_restart_in_between_finds_both_vfs_held(cluster):
    job = Held(cluster, "-p", "rails", "-N2").wait_running()
    cluster.restart_slurmctld()
    cluster.wait_ready()
    wait_for("both are counted", 30, lambda: cluster.svf("status")["up"])
    for h in cluster.svf("hosts")["hosts"]:
        assert [(pf["managed"], pf["reserved"], pf["free"]) for pf in h["pfs"]
                if pf["pci"] in (PF0, PF1)] == [(1, 0, 1), (1, 0, 1)]
    assert node(cluster, "vm002")["pf"] == f"{PF0},{PF1}"
    job.end_well()
    off(cluster, "vm001", "vm002")
    assert not any(used(cluster).values())


def test_with_one_pf_full_the_job_waits_and_says_why(cluster):
    if cluster.names_on():
        off(cluster, *cluster.names_on())
    for i in range(4):
        cluster.do("powerOn", vm=f"theirs-{i}")
    wait_for("their VFs are counted", 20, lambda: all(
        pf["free"] == 0 for h in cluster.svf("hosts")["hosts"]
        for pf in h["pfs"] if pf["pci"] == PF1))
    job = cluster.sbatch("-p", "rails", "-N1")
    wait_for("the reason is told", 20, lambda: "needs 2 rails VFs on 1 node" in
             cluster.svf("why", str(job))["text"])
    assert cluster.job_state(job) == "PENDING"
    # a VF of the other PF serves who needs but one
    cluster.wait_job(cluster.sbatch("-p", "one", "-N1"), 60)
    cluster.do("powerOff", vm="theirs-0")
    cluster.wait_job(job, 60)
    for i in range(1, 4):
        cluster.do("powerOff", vm=f"theirs-{i}")


def test_idle_vms_are_reconfigured_when_pernode_changes(cluster):
    cluster.wait_job(cluster.sbatch("-p", "one", "-N1", "-w", "vm003"), 60)
    mac = node(cluster, "vm003")["mac"]
    assert "," not in mac
    uuid = cluster.our_vm("vm003")["uuid"]
    cluster.change_vsphere("NICsPerNode=1", "NICsPerNode=2")
    cluster.wait_job(cluster.sbatch("-p", "one", "-N1", "-w", "vm003"), 90)
    n = node(cluster, "vm003")
    assert n["pf"] == f"{PF0},{PF1}" and n["mac"].split(",")[0] == mac
    assert cluster.our_vm("vm003")["uuid"] == uuid      # not rebuilt
    # and back: the second NIC goes
    cluster.change_vsphere("AdapterName=one Type=sriov Network=SRIOV-ROCE-PG"
                           " MTU=9000 NICsPerNode=2",
                           "AdapterName=one Type=sriov Network=SRIOV-ROCE-PG"
                           " MTU=9000 NICsPerNode=1")
    cluster.wait_job(cluster.sbatch("-p", "one", "-N1", "-w", "vm003"), 90)
    assert "," not in node(cluster, "vm003")["pf"]
    assert sum(used(cluster).values()) == 1 + 2 * sum(
        cluster.is_on(v) for v in ("vm001", "vm002"))
