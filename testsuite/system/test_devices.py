# SPDX-License-Identifier: GPL-2.0-or-later
"""Devices that VMs get whole: dynamic DirectPath, alone and beside a VF."""

import json

import pytest

from cluster import Cluster, wait_for
from stages import Held, off
from worlds import PF0, ROCE, host, template, world

E1, E2, E3 = (f"esx0{i}.example.org" for i in (1, 2, 3))
GPU = {"vendor": 0x10de, "device": 0x20b0, "name": "GA100"}
A, B, C = "0000:65:00.0", "0000:ca:00.0", "0000:e3:00.0"


def gpu(pci, **more):
    return {"pci": pci, "numa": 1, "barGB": 80, **GPU, **more}


def make_cluster():
    """Two GPUs on the first host, one on the second, which has another that
    waits for a reboot; the third has none. All have VFs."""
    hosts = [host(E1, vfs=4), host(E2, vfs=4), host(E3, vfs=4)]
    hosts[0]["devices"] = [gpu(A), gpu(B)]
    hosts[1]["devices"] = [gpu(C), gpu("0000:e4:00.0", reboot=True)]
    theirs = [{"name": "theirs", "folder": "", "host": E2, "powerOn": False,
               "numCPUs": 2, "memoryMB": 2048, "lockMemory": True,
               "nics": ["VM-PG"], "cards": [{"type": "pci", **{
                   k: GPU[k] for k in ("vendor", "device")}}],
               "extraConfig": {"pciPassthru.use64bitMMIO": "TRUE",
                               "pciPassthru.64bitMMIOSizeGB": "128"}}]
    c = Cluster(nodes=7, inventory=world(hosts=hosts, vms=theirs, templates=[
        template(), template("old", hardwareVersion="vmx-14"),
        template("legacy", firmware="bios")]))
    c.choose_ports()
    c.vsphere = {"ShutdownGrace": 2, "AllowMoreNodesThanVFs": "yes", "lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        "AdapterName=gpu Type=dynamic-directpath Vendor=0x10de Device=0x20b0 MMIOSizeGB=100",
        f"AdapterName=roce-gpu Type=sriov Network={ROCE} MTU=9000 ExtraDevice=gpu",
        "PartitionName=gpu Adapter=gpu Template=rhel9-ofed",
        "PartitionName=rocegpu Adapter=roce-gpu Template=rhel9-ofed",
        "PartitionName=old Adapter=gpu Template=old",
        "PartitionName=legacy Adapter=gpu Template=legacy"]}
    c.node_lines = [c.node_line(1, 4, "gpu"), c.node_line(5, 5, "roce-gpu"),
                    c.node_line(6, 7, "gpu")]
    c.partition_lines = ["PartitionName=gpu Nodes=vm[001-004] Default=YES",
                         "PartitionName=rocegpu Nodes=vm005",
                         "PartitionName=old Nodes=vm006",
                         "PartitionName=legacy Nodes=vm007"]
    return c


def used(c):
    """Who has which device, by the simulator, that hands each out once."""
    return {pf["id"]: list(pf["by"].values()) for h in c.state()["hosts"]
            for pf in h["pfs"] if pf["id"] in (A, B, C) and pf["used"]}


def vm_of(c, name):
    return next(v for v in c.state()["vms"] if v["name"] == name)


def rows(c):
    return {(h["host"][:5], pf["pci"]): pf for h in c.svf("hosts")["hosts"]
            for pf in h["pfs"] if pf.get("device")}


def test_devices_of_hosts_are_rows_that_are_alike(cluster):
    r = rows(cluster)
    assert {k: (pf["total"], pf["free"], pf["device"]) for k, pf in r.items()} == {
        ("esx01", A): (2, 2, "10de:20b0"), ("esx02", C): (1, 1, "10de:20b0")}
    out = cluster.must("svf", "adapters", "--site", "-h", "-O", "adapter,type,network")
    assert out.split() == ["gpu", "dynamic-directpath", "-",
                           "roce-gpu", "sriov", ROCE]


def test_a_job_gets_devices_and_its_guest_says_which(cluster):
    was = cluster.mutating()
    job = Held(cluster, "-p", "gpu", "-N3").wait_running()
    assert cluster.mutating() - was == 6        # I7: a clone, a power-on
    assert sorted(n for by in used(cluster).values() for n in by) == [
        "vm001", "vm002", "vm003"]
    assert sorted(used(cluster)) == [A, B, C]
    assert {k: (pf["managed"], pf["free"]) for k, pf in rows(cluster).items()} == {
        ("esx01", A): (2, 0), ("esx02", C): (1, 0)}
    info = json.loads(cluster.path("guests", "vm001", "guestinfo.json").read_text())
    assert info["guestinfo.slurm.device"] == "10de:20b0"
    assert not info.get("guestinfo.slurm.mac")
    ready = cluster.path("guests", "vm001", "slurm-vsphere", "ready").read_text()
    assert ready.count("\npci ") == 1 and " 10de:20b0 " in ready
    vm = vm_of(cluster, "vm001")
    assert vm["reservedMB"] == vm["memoryMB"]
    # one more: there is none, and it waits with that reason
    more = cluster.sbatch("-p", "gpu", "-N1")
    wait_for("it says what it lacks", 20, lambda: "needs 1 gpu device, 0 free" in
             cluster.svf("why", str(more))["text"])
    assert cluster.counters()["powerOnFullPF"] == 0
    job.end_well()
    cluster.wait_job(more, 60)


def test_a_restart_in_between_counts_the_same(cluster):
    job = Held(cluster, "-p", "gpu", "-N2").wait_running()
    before = {k: (pf["managed"], pf["reserved"], pf["free"])
              for k, pf in rows(cluster).items()}
    cluster.restart_slurmctld()
    cluster.wait_ready()
    wait_for("the same is counted", 30, lambda: before == {
        k: (pf["managed"], pf["reserved"], pf["free"])
        for k, pf in rows(cluster).items()})
    job.end_well()


def test_a_foreign_vm_takes_a_device_of_its_host(cluster):
    off(cluster, *cluster.names_on())
    assert not used(cluster)
    cluster.do("powerOn", vm="theirs")
    wait_for("it is counted", 20, lambda: rows(cluster)["esx02", C]["foreign"] == 1)
    assert rows(cluster)["esx02", C]["free"] == 0
    pf = [pf for h in cluster.svf("hosts")["hosts"] for pf in h["pfs"]
          if pf["pci"] == PF0 and h["host"] == E2]
    assert pf[0]["free"] == 4                   # no VF is thought to be taken
    cluster.do("powerOff", vm="theirs")
    wait_for("and given back", 20, lambda: rows(cluster)["esx02", C]["free"] == 1)


def test_a_vf_and_a_device_are_had_together_or_not_at_all(cluster):
    gpus = Held(cluster, "-p", "gpu", "-N3").wait_running()
    job = cluster.sbatch("-p", "rocegpu", "-N1")
    wait_for("it says what it lacks", 20, lambda:
             "needs 1 roce-gpu VF with 1 gpu device on 1 node" in
             cluster.svf("why", str(job))["text"])
    assert not cluster.is_on("vm005")
    assert not [pf for h in cluster.svf("hosts")["hosts"] for pf in h["pfs"]
                if pf["pci"] == PF0 and (pf["reserved"] or pf["managed"])]
    gpus.end_well()
    off(cluster, "vm001", "vm002", "vm003")
    out = cluster.wait_job(job, 60)
    assert "vm005" in out
    had = [k for k, by in used(cluster).items() if by == ["vm005"]]
    assert len(had) == 1
    node = {n["node"]: n for n in cluster.svf("nodes")["nodes"]}["vm005"]
    assert node["pf"].split(",")[0] == PF0 and node["pf"].count(",") == 1
    assert vm_of(cluster, "vm005")["passthru"] == {
        "allowP2P": "TRUE", "RelaxACSforP2P": "TRUE",
        "use64bitMMIO": "TRUE", "64bitMMIOSizeGB": "128"}
    ready = cluster.path("guests", "vm005", "slurm-vsphere", "ready").read_text()
    assert ready.count("\nrdma ") == 1 and ready.count("\npci ") == 1


@pytest.mark.parametrize("code, partition, words", [
    ("template-hardware", "old", "hardware version 14"),
    ("template-firmware", "legacy", "BIOS, should be EFI")])
def test_a_template_that_will_not_do_is_refused_before_a_call(
        cluster, code, partition, words):
    """Assignable hardware wants version 17, large BARs want EFI; the other
    partition of the adapter has jobs all the same."""
    was = cluster.mutating()
    job = cluster.sbatch("-p", partition, "-N1")
    wait_for("it says why", 20, lambda: words in
             cluster.svf("why", str(job))["text"])
    assert cluster.mutating() == was
    out = cluster.run("svf", "check", "-h", "-O", "code,object").stdout
    assert [code, partition] in [ln.split()[:2] for ln in out.splitlines()]


def test_everything_is_given_back(cluster):
    on = cluster.names_on()
    if on:
        off(cluster, *on)
    assert not used(cluster)
    assert all(pf["free"] == pf["total"] for pf in rows(cluster).values())
