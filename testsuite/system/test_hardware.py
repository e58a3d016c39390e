# SPDX-License-Identifier: GPL-2.0-or-later
"""A VM's hardware is what its partition's line says: reservations, shares,
sockets, secure boot, and the NUMA node of its PF; what hangs on the host follows
it. Two hosts, whose cores differ and whose PFs are on different NUMA nodes."""

from cluster import Cluster, wait_for
from stages import Held, nobody_down
from worlds import host, template, world

E1, E2 = "esx01.example.org", "esx02.example.org"
MHZ = {E1: 2000, E2: 3000}
NODE = {E1: "0", E2: "1"}


def make_cluster():
    hosts = [host(E1, vfs=4, cores=16), host(E2, vfs=4, cores=16)]
    for h in hosts:
        h["mhz"] = MHZ[h["name"]]
        h["pnics"][1]["numa"] = int(NODE[h["name"]])
    c = Cluster(nodes=7, inventory=world(hosts=hosts, templates=[
        template(), template("legacy", firmware="bios")]))
    c.vsphere = {"ShutdownGrace": 1, "AllowMoreNodesThanVFs": "yes", "lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
        "AdapterName=vmxnet3 Type=vmxnet3 Network=VM-PG",
        "PartitionName=hpc Adapter=sriov-roce Template=rhel9-ofed "
        "LatencySensitivity=high NumaAffinity=pf CoresPerSocket=2 "
        "CPUShares=high MemoryShares=5000 SecureBoot=yes",
        "PartitionName=eth Adapter=vmxnet3 Template=rhel9-ofed "
        "CPUReservation=1500 MemoryReservation=512 CPUShares=low",
        "PartitionName=all Adapter=vmxnet3 Template=rhel9-ofed "
        "CPUReservation=full MemoryReservation=full",
        "PartitionName=wide Adapter=sriov-roce Template=rhel9-ofed "
        "NumaAffinity=pf",
        "PartitionName=legacy Adapter=vmxnet3 Template=legacy SecureBoot=yes"]}
    c.choose_ports()
    c.node_lines = [c.node_line(1, 2, "sriov-roce", cpus=4),
                    c.node_line(3, 3, "vmxnet3"), c.node_line(4, 5, "vmxnet3", cpus=14),
                    c.node_line(6, 6, "sriov-roce", cpus=12),
                    c.node_line(7, 7, "vmxnet3")]
    c.partition_lines = [
        "PartitionName=hpc Nodes=vm[001-002] Default=YES",
        "PartitionName=eth Nodes=vm003", "PartitionName=all Nodes=vm[004-005]",
        "PartitionName=wide Nodes=vm006", "PartitionName=legacy Nodes=vm007"]
    return c


def vm_of(c, name):
    return next(v for v in c.state()["vms"] if v["name"] == name)


def shown(c, name):
    """What vCenter shows of it."""
    return {k: v for k, v in vm_of(c, name)["hardware"].items()
            if k != "cpus"}


def hpc(at, **other):
    """What line hpc says of a VM of 4 vCPUs on that host."""
    return {"coresPerSocket": 2, "cpuMhz": 4 * MHZ[at], "numa": NODE[at],
            "locked": True, "latency": "high", "secureBoot": True,
            "hotAdd": False, "cpuShares": 8000, "memoryShares": 5000, **other}


def off(c, *names):
    c.must("scontrol", "update", "nodename=" + ",".join(names),
           "state=power_down")
    wait_for(f"{names} are off", 60, lambda: all(
        c.is_powered_down(n) and not c.is_on(n) for n in names))


def test_vcenter_shows_what_the_line_says_on_either_host(cluster):
    # a template's hot-add ends where devices forbid it
    cluster.do("setVm", vm="rhel9-ofed", setVm={"hotAdd": True})
    job = Held(cluster, "-N2").wait_running()
    at = {n: vm_of(cluster, n)["host"] for n in ("vm001", "vm002")}
    assert sorted(at.values()) == [E1, E2]
    for name, where in at.items():
        assert shown(cluster, name) == hpc(where), (name, where)
        assert vm_of(cluster, name)["reservedMB"] == \
            vm_of(cluster, name)["memoryMB"]
    other = Held(cluster, "-p", "eth", "-N1").wait_running()
    assert shown(cluster, "vm003") == {
        "coresPerSocket": 1, "cpuMhz": 1500, "numa": "", "locked": False,
        "latency": "normal", "secureBoot": False, "hotAdd": True,
        "cpuShares": 1000, "memoryShares":
        10 * vm_of(cluster, "vm003")["memoryMB"]}
    assert vm_of(cluster, "vm003")["reservedMB"] == 512
    job.end_well()
    other.end_well()


def test_a_reservation_that_fits_nowhere_now_waits_with_the_reason(cluster):
    job = Held(cluster, "-N2").wait_running()
    # 14 of 16 cores, and 4 are reserved on either host
    more = cluster.sbatch("-p", "all", "-N1")
    wait_for("it says what it lacks", 60, lambda:
             "too little CPU left for the reservation on 2 hosts" in
             cluster.svf("why", str(more))["text"])
    assert cluster.job(more)["JobState"] == "PENDING"
    job.end_well()
    off(cluster, "vm001", "vm002")
    cluster.wait_job(more, 60)
    at = vm_of(cluster, "vm004" if cluster.is_on("vm004") else "vm005")
    assert at["hardware"]["cpuMhz"] == 14 * MHZ[at["host"]], at
    assert at["reservedMB"] == at["memoryMB"]
    off(cluster, at["name"])
    nobody_down(cluster)


def test_a_vm_that_no_pfs_numa_node_can_hold_is_refused(cluster):
    r = cluster.run("sbatch", "-p", "wide", "-N1", "--wrap", "true")
    assert r.returncode != 0, r.stdout
    said = cluster.run("svf", "--json", "check").stdout
    assert "vm006" not in {v["name"] for v in cluster.our_vms()}, said


def test_a_changed_line_reconfigures_vms_that_are_off_alone(cluster):
    job = Held(cluster, "-N1", "-w", "vm001").wait_running()
    at = vm_of(cluster, "vm001")["host"]
    calls = cluster.mutating()
    cluster.change_vsphere("CoresPerSocket=2 CPUShares=high", "CPUShares=700")
    wait_for("the new line is in force", 30, lambda:
             "CPUShares=700" in cluster.must("svf", "conf"))
    job.runs_on()
    assert shown(cluster, "vm001") == hpc(at)
    assert cluster.mutating() == calls
    boots = vm_of(cluster, "vm001")["boots"]
    job.end_well()
    job = Held(cluster, "-N1", "-w", "vm001").wait_running()
    at = vm_of(cluster, "vm001")["host"]
    # sockets are the template's again
    assert shown(cluster, "vm001") == hpc(at, cpuShares=700, coresPerSocket=1)
    assert vm_of(cluster, "vm001")["boots"] == boots + 1
    job.end_well()


def test_on_another_host_a_vm_has_that_hosts_cores_and_node(cluster):
    was = vm_of(cluster, "vm001")["host"]
    off(cluster, "vm001")
    cluster.must("svf", "host", "drain", was)
    uuid = vm_of(cluster, "vm001")["instanceUuid"]
    job = Held(cluster, "-N1", "-w", "vm001").wait_running()
    now = vm_of(cluster, "vm001")
    assert {was, now["host"]} == {E1, E2} and now["instanceUuid"] == uuid
    assert shown(cluster, "vm001") == hpc(now["host"], cpuShares=700,
                                          coresPerSocket=1)
    cluster.must("svf", "host", "resume", was)
    job.end_well()


def test_secure_boot_without_efi_is_found_before_a_vm_is_made(cluster):
    found = cluster.run("svf", "--json", "check").stdout
    assert "template-firmware" in found and "EFI (SecureBoot=yes)" in found
    job = cluster.sbatch("-p", "legacy", "-N1")
    wait_for("it says why it waits", 60, lambda: "EFI (SecureBoot=yes)" in
             cluster.svf("why", str(job))["text"])
    cluster.must("scancel", str(job))
    assert cluster.our_vm("vm007") is None
