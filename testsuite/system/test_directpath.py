# SPDX-License-Identifier: GPL-2.0-or-later
"""Devices by their address (Type=directpath): FPGAs with large BARs, each given
to one VM at a time, alone and beside a VF."""

import json

from cluster import Cluster, wait_for
from stages import Held, off, ready_count, wait_ready_again
from worlds import PF0, ROCE, host, template, world

E1, E2, E3, E4 = (f"esx0{i}.example.org" for i in (1, 2, 3, 4))
FPGA = {"vendor": 0x10ee, "device": 0x5000, "name": "Alveo U250"}
A, B, C = "0000:65:00.0", "0000:ca:00.0", "0000:e3:00.0"
OFF, WAITS = "0000:e4:00.0", "0000:e5:00.0"
PORT = PF0[:-1] + "1"


def fpga(pci, **more):
    return {"pci": pci, "numa": 1, "barGB": 100, **FPGA, **more}


def theirs(name, on, card):
    return {"name": name, "folder": "", "host": on, "powerOn": False,
            "numCPUs": 2, "memoryMB": 2048, "lockMemory": True,
            "nics": ["VM-PG"], "cards": [card],
            "extraConfig": {"pciPassthru.use64bitMMIO": "TRUE",
                            "pciPassthru.64bitMMIOSizeGB": "256"}}


def make_cluster():
    """Two FPGAs on the first host, one on the second, where one isn't enabled
    and another waits for a reboot; the third has none. All have VFs. The
    fourth has many others, one of them on its PF's bus."""
    hosts = [host(e, vfs=4) for e in (E1, E2, E3, E4)]
    hosts[0]["devices"] = [fpga(A), fpga(B)]
    hosts[1]["devices"] = [fpga(C), fpga(OFF, enabled=False),
                           fpga(WAITS, reboot=True)]
    disk = {"vendor": 0x144d, "device": 0xa824, "name": "PM1733", "numa": 0}
    hosts[3]["devices"] = [{**disk, "pci": PORT, "sriov": True}] + [
        {**disk, "pci": f"0000:{0x80 + i:02x}:00.0"} for i in range(27)]
    c = Cluster(nodes=8, inventory=world(hosts=hosts, vms=[
        theirs("theirs", E2, {"type": "directpath", "pci": C}),
        theirs("anyone", E1, {"type": "pci", "vendor": 0x10ee,
                              "device": 0x5000})],
        templates=[template(), template("legacy", firmware="bios")]))
    c.choose_ports()
    ids = "Vendor=0x10ee Device=0x5000 MMIOSizeGB=200"
    c.vsphere = {"ShutdownGrace": 2, "AllowMoreNodesThanVFs": "yes", "lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        f"AdapterName=fpga Type=directpath {ids}",
        "AdapterName=disk Type=directpath Vendor=0x144d Device=0xa824",
        f"AdapterName=some Type=directpath {ids} Address={A},{E2}/{C}",
        f"AdapterName=roce-fpga Type=sriov Network={ROCE} MTU=9000 ExtraDevice=fpga",
        f"AdapterName=strict Type=sriov Network={ROCE} MTU=9000 ExtraDevice=fpga "
        "RelaxACS=yes",
        "PartitionName=fpga Adapter=fpga Template=rhel9-ofed",
        "PartitionName=some Adapter=some Template=rhel9-ofed",
        "PartitionName=rocefpga Adapter=roce-fpga Template=rhel9-ofed",
        "PartitionName=legacy Adapter=fpga Template=legacy",
        "PartitionName=strict Adapter=strict Template=rhel9-ofed"]}
    c.node_lines = [c.node_line(1, 4, "fpga"), c.node_line(5, 5, "some"),
                    c.node_line(6, 6, "roce-fpga"), c.node_line(7, 7, "fpga"),
                    c.node_line(8, 8, "strict")]
    c.partition_lines = ["PartitionName=fpga Nodes=vm[001-004] Default=YES",
                         "PartitionName=some Nodes=vm005",
                         "PartitionName=rocefpga Nodes=vm006",
                         "PartitionName=legacy Nodes=vm007",
                         "PartitionName=strict Nodes=vm008"]
    return c


def used(c):
    """Who has which device, by the simulator, that hands each out once."""
    return {pf["id"]: list(pf["by"].values()) for h in c.state()["hosts"]
            for pf in h["pfs"] if pf["id"] in (A, B, C, OFF, WAITS)
            and pf["used"]}


def vm_of(c, name):
    return next(v for v in c.state()["vms"] if v["name"] == name)


def rows(c, ids="10ee:5000"):
    return {pf["pci"]: pf for h in c.svf("hosts")["hosts"]
            for pf in h["pfs"] if pf.get("device") == ids}


def free(c):
    return {pci: row["free"] for pci, row in rows(c).items()}


def all_free(c):
    """No VM is on."""
    off(c, *c.names_on())
    wait_for("all devices are free", 30, lambda: free(c) == {A: 1, B: 1, C: 1})


def why(c, job):
    return c.svf("why", str(job))["text"]


def test_each_device_is_a_row_of_its_own(cluster):
    assert {k: (pf["total"], pf["device"]) for k, pf in rows(cluster).items()} \
        == {pci: (1, "10ee:5000") for pci in (A, B, C)}
    out = cluster.must("svf", "adapters", "--site", "-h", "-O", "adapter,type")
    assert out.split() == ["fpga", "directpath", "disk", "directpath",
                           "some", "directpath", "roce-fpga", "sriov",
                           "strict", "sriov"]


def test_devices_that_no_vm_gets_are_told(cluster):
    r = cluster.run("svf", "--json", "check")   # its status says what it found
    idle = {f["code"]: f for f in json.loads(r.stdout)["findings"]
            if f["object"] == E2 and f.get("pf") in (OFF, WAITS)}
    off_, waits = idle.pop("device-off"), idle.pop("device-reboot")
    assert not idle and (off_["pf"], waits["pf"]) == (OFF, WAITS)
    assert off_["code"] == "device-off" and waits["code"] == "device-reboot"
    assert "pcipassthru set -d " + OFF in off_["fix"], off_
    assert "host.shutdown -r " + E2 in waits["fix"], waits


def test_what_is_more_than_a_host_may_have_is_told(cluster):
    """24 rows: the PF, and as many of the 28 disks as there is room for."""
    r = cluster.run("svf", "--json", "check")
    left = [f for f in json.loads(r.stdout)["findings"]
            if f["code"] == "device-left-out"]
    disks = rows(cluster, "144d:a824")
    assert [f["object"] for f in left] == [E4] and len(disks) == 23, (
        left, sorted(disks))
    assert left[0]["actual"].startswith("5 are not counted: "), left
    assert PORT in disks, sorted(disks)     # no VF, though on the PF's bus
    log = cluster.ctld_log()
    assert log.count("of its PFs and devices 5 are not counted (") == 1


def test_large_bars_want_efi(cluster):
    was = cluster.mutating()
    job = cluster.sbatch("-p", "legacy", "-N1")
    wait_for("it says why", 20, lambda: "BIOS, should be EFI" in
             why(cluster, job))
    assert cluster.mutating() == was
    cluster.must("scancel", str(job))


def test_a_fault_at_power_on_takes_the_vm_to_another_hosts_device(cluster):
    """It may not be registered there with the device of this host: that goes
    first, and the other one comes when it is there."""
    cluster.fault(method="PowerOnVM_Task", on="task", count=1,
                  fault={"_typeName": "GenericVmConfigFault",
                         "reason": "Device 65:00.0 is already in use."})
    was = {m: cluster.calls(m) for m in ("ReconfigVM_Task", "RelocateVM_Task",
                                         "CloneVM_Task")}
    out = cluster.wait_job(cluster.sbatch("-p", "some", "-N1"), 60)
    assert "vm005" in out
    first, then = {A: (E1, C), C: (E2, A)}, used(cluster)
    assert list(then.values()) == [["vm005"]], then
    assert list(then)[0] in first
    sent = {m: cluster.calls(m) - n for m, n in was.items()}
    assert sent["RelocateVM_Task"] == 1 and sent["ReconfigVM_Task"] == 2, sent
    node = {n["node"]: n for n in cluster.svf("nodes")["nodes"]}["vm005"]
    assert node["pf"] == list(then)[0]
    cluster.must("svf", "host", "resume", E1)
    cluster.must("svf", "host", "resume", E2)


def test_a_vf_and_a_device_are_had_together(cluster):
    out = cluster.wait_job(cluster.sbatch("-p", "rocefpga", "-N1"), 60)
    assert "vm006" in out
    pci = [k for k, by in used(cluster).items() if by == ["vm006"]]
    node = {n["node"]: n for n in cluster.svf("nodes")["nodes"]}["vm006"]
    assert node["pf"].split(",") == [PF0, *pci], node
    assert vm_of(cluster, "vm006")["passthru"] == {
        **P2P, "RelaxACSforP2P": "TRUE"}
    ready = cluster.path("guests", "vm006", "slurm-vsphere", "ready").read_text()
    assert ready.count("\nrdma ") == 1 and ready.count("\npci ") == 1


P2P = {"allowP2P": "TRUE", "use64bitMMIO": "TRUE", "64bitMMIOSizeGB": "256"}


def test_relaxacs_no_keeps_devices_isolated(cluster):
    """The VM has its VF and its device all the same. A VM that was made with
    RelaxACS=yes loses pciPassthru.RelaxACSforP2P before its next job."""
    for relaxed, expected in (("yes", {**P2P, "RelaxACSforP2P": "TRUE"}),
                              ("no", P2P)):
        if relaxed == "no":
            cluster.change_vsphere("RelaxACS=yes", "RelaxACS=no")
            wait_for("vCenter is read", 20, lambda: cluster.svf("status")["up"])
        out = cluster.wait_job(cluster.sbatch("-p", "strict", "-N1"), 90)
        assert "vm008" in out
        assert vm_of(cluster, "vm008")["passthru"] == expected
        assert [k for k, by in used(cluster).items() if by == ["vm008"]]


def test_a_job_gets_its_devices_and_the_next_one_waits(cluster):
    all_free(cluster)
    was, asked = cluster.mutating(), cluster.calls("QueryConfigTarget")
    job = Held(cluster, "-p", "fpga", "-N3").wait_running()
    had = used(cluster)
    assert sorted(had) == [A, B, C] and sorted(sum(had.values(), [])) == [
        "vm001", "vm002", "vm003"], had
    assert cluster.mutating() - was == 6        # I7: a clone, a power-on
    assert cluster.calls("QueryConfigTarget") - asked <= 2
    name = had[A][0]
    node = {n["node"]: n for n in cluster.svf("nodes")["nodes"]}[name]
    assert node["pf"] == A and node["host"] == E1, node
    vm = vm_of(cluster, name)
    assert vm["reservedMB"] == vm["memoryMB"]
    assert vm["passthru"] == {"use64bitMMIO": "TRUE", "64bitMMIOSizeGB": "256"}
    ready = cluster.path("guests", name, "slurm-vsphere", "ready").read_text()
    assert ready.count("\npci ") == 1 and " 10ee:5000 " in ready
    info = json.loads(cluster.path("guests", name, "guestinfo.json").read_text())
    assert info["guestinfo.slurm.device"] == "10ee:5000"

    one = cluster.sbatch("-p", "fpga", "-N1")
    some = cluster.sbatch("-p", "some", "-N1")
    wait_for("they say what they lack", 20, lambda:
             "needs 1 fpga device, 0 free" in why(cluster, one) and
             "needs 1 some device, 0 free" in why(cluster, some))
    assert cluster.counters()["powerOnFullPF"] == 0

    before = rows(cluster)
    cluster.restart_slurmctld()
    cluster.wait_ready()
    wait_for("a restart counts the same", 30, lambda: before == rows(cluster))
    job.end_well()
    off(cluster, *[n for n in cluster.names_on() if n in sum(had.values(), [])])
    assert "vm00" in cluster.wait_job(one, 60) + cluster.wait_job(some, 60)
    assert cluster.counters()["powerOnFullPF"] == 0


def test_an_address_that_is_withdrawn_stays_with_its_job(cluster):
    """vsphere.conf is read again while a job has the device: the job keeps it, and
    the device counts as used; the next job of that line gets another."""
    all_free(cluster)
    job = Held(cluster, "-p", "some", "-N1").wait_running()
    (had, by), = used(cluster).items()
    assert by == ["vm005"], used(cluster)
    both, other = f"Address={A},{E2}/{C}", C if had == A else A
    served = ready_count(cluster)
    cluster.change_vsphere(both, f"Address={other}")
    wait_ready_again(cluster, served)
    want = {**{pci: 1 for pci in (A, B, C)}, had: 0}
    wait_for("the others are free", 30, lambda: free(cluster) == want)
    assert rows(cluster)[had]["managed"] == 1
    assert used(cluster) == {had: ["vm005"]}, used(cluster)
    was = cluster.counters()["powerOnFullPF"]
    more = Held(cluster, "-p", "fpga", "-N2").wait_running()
    assert used(cluster)[had] == ["vm005"], used(cluster)
    more.end_well()
    job.end_well()
    off(cluster, *[n for n in cluster.names_on() if n != "vm005"])
    assert "vm005" in cluster.wait_job(cluster.sbatch("-p", "some", "-N1"), 60)
    assert used(cluster) == {other: ["vm005"]}, used(cluster)
    assert cluster.counters()["powerOnFullPF"] == was
    cluster.change_vsphere(f"Address={other}", both)
    cluster.wait_ready()


def test_foreign_vms_take_theirs(cluster):
    """One VM names its device's address. The other does not say which device it
    has, so every device that it may have counts as used."""
    all_free(cluster)
    cluster.do("powerOn", vm="theirs")
    wait_for("it is counted", 20, lambda: free(cluster) == {A: 1, B: 1, C: 0})
    assert rows(cluster)[C]["foreign"] == 1
    cluster.do("powerOn", vm="anyone")
    wait_for("so is the other", 20, lambda: free(cluster) == {A: 0, B: 0, C: 0})
    assert all(pf["free"] == 4 for h in cluster.svf("hosts")["hosts"]
               for pf in h["pfs"] if pf["pci"] == PF0)
    job = cluster.sbatch("-p", "fpga", "-N1")
    wait_for("a job waits", 20, lambda: "0 free" in why(cluster, job))
    cluster.do("powerOff", vm="theirs")
    assert "vm00" in cluster.wait_job(job, 60)
    assert list(used(cluster)) and used(cluster)[C] != ["theirs"]
    cluster.do("powerOff", vm="anyone")
