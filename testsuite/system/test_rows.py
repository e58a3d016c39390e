# SPDX-License-Identifier: GPL-2.0-or-later
"""Each kind of adapter that `svf adapters` offers, in one cluster, by vCenter's
own books: the VM of its job has that device and no other, as the table of kinds
says; what there is of it is counted, lacked with a reason, and given back when
the job ends; a spec that breaks the kind's rules fails in vCenter."""

import json
import os
import re
import subprocess

import pytest

from cluster import Cluster, free_ports, wait_for
from monitoring import PREFIX, families, value
from stages import Held, nobody_down
from vcenter_json import Fault, VCenter
from worlds import IB, PF0, ROCE, host, template, world

E1, E2, E3 = (f"esx0{i}.example.org" for i in (1, 2, 3))
IB_PF, GPU, FPGA = "0000:af:00.0", "0000:65:00.0", "0000:ca:00.0"
CLASS, PROFILE, VGPU = "com.vendor.fpga", "nvidia_a100-40c", "0000:e3:00.0"
ETH, PVRDMA = "ETH-PG", "PVRDMA-PG"


class Row:
    """A kind of adapter at this site: its line, and which device its VM has.
    of: (host, address, how many there are at the site), None: not counted."""

    # VMware's: is all memory reserved, and the least hardware version
    rules = {"vmxnet3": (False, 7), "pvrdma": (False, 13), "sriov": (True, 10),
             "dynamic-directpath": (True, 17), "directpath": (True, 7),
             "dvx": (True, 20), "vgpu": (True, 11)}

    def __init__(self, kind, line, device, of=None, words=""):
        self.full, self.hw = self.rules[kind]
        self.kind, self.line, self.device, self.of = kind, line, device, of
        self.words = words      # what a second job waits for


def port(network):
    return lambda d, vc: d["backing"]["port"]["portgroupKey"] == vc.find(
        f"DC0/network/{network}")[1]


def vf(network, pf):
    def is_right(d, vc):
        of = d["sriovBacking"]["physicalFunctionBacking"]["id"]
        return port(network)(d, vc) and of in (pf, f"Automatic-{pf}")
    return is_right


def any_gpu(d, _):
    b = d["backing"]
    ids = [(a["vendorId"], a["deviceId"]) for a in b["allowedDevice"]]
    return b["_typeName"] == "VirtualPCIPassthroughDynamicBackingInfo" and \
        ids == [(0x10de, 0x20b0)] and GPU in b["assignedId"]


def that_fpga(d, vc):
    """Of that host: its addresses are other hosts' too."""
    b = d["backing"]
    host = vc.get(vc.find(f"DC0/host/HPC1/{E2}"), "hardware")
    return b["_typeName"] == "VirtualPCIPassthroughDeviceBackingInfo" and \
        b["id"] == FPGA and b["systemId"] == host["systemInfo"]["uuid"]


def of_class(d, _):
    b = d["backing"]
    return b["_typeName"] == "VirtualPCIPassthroughDvxBackingInfo" and \
        b["deviceClass"] == CLASS and \
        [(o["key"], o["value"]["_value"]) for o in b["configParams"]] == \
        [("queues", 8)]       # digits are a number


def of_profile(d, _):
    b = d["backing"]
    return b["_typeName"] == "VirtualPCIPassthroughVmiopBackingInfo" and \
        b["vgpu"] == PROFILE


ROWS = {
    "vmxnet3": Row("vmxnet3", f"Network={ETH}",
                   ("VirtualVmxnet3", port(ETH))),
    "pvrdma": Row("pvrdma", f"Network={PVRDMA}",
                  ("VirtualVmxnet3Vrdma", port(PVRDMA))),
    "roce": Row("sriov", f"Network={ROCE} MTU=9000",
                ("VirtualSriovEthernetCard", vf(ROCE, PF0)), (E1, PF0, 1),
                "needs 1 roce VF, 0 free"),
    "ib": Row("sriov", f"Network={IB} LinkLayer=InfiniBand",
              ("VirtualSriovEthernetCard", vf(IB, IB_PF)), (E2, IB_PF, 1),
              "needs 1 ib VF, 0 free"),
    "dynamic": Row("dynamic-directpath", "Vendor=0x10de Device=0x20b0",
                   ("VirtualPCIPassthrough", any_gpu), (E3, GPU, 1),
                   "needs 1 dynamic device, 0 free"),
    "fixed": Row("directpath", "Vendor=0x10ee Device=0x5000",
                 ("VirtualPCIPassthrough", that_fpga), (E2, FPGA, 1),
                 "needs 1 fixed device, 0 free"),
    "dvx": Row("dvx", f'DeviceClass={CLASS} Instances=1 Parameters="queues=8"',
               ("VirtualPCIPassthrough", of_class), (E3, CLASS, 1),
               "needs 1 dvx device, 0 free"),
    "vgpu": Row("vgpu", f"Profile={PROFILE}",
                ("VirtualPCIPassthrough", of_profile), (E1, VGPU, 1),
                "needs 1 vgpu vGPU, 0 free"),
}
COUNTED = [name for name, r in ROWS.items() if r.of]
# Its least hardware version is older than what any template here may be.
OLDEST = 7


def kinds():
    """The table of kinds, as svf prints it without a site."""
    root = os.environ.get("VS_ROOT")
    svf = f"{root}/usr/bin/svf" if root else "svf"
    out = subprocess.run([svf, "--json", "adapters"], capture_output=True,
                         text=True, timeout=30, check=False).stdout
    return {k["type"]: k for k in json.loads(out)["types"]}


def too_old(row):
    return max(row.hw - 1, OLDEST)


def make_inventory():
    hosts = [host(E1, vfs=1), host(E2, vfs=0, ib_vfs=1), host(E3, vfs=0)]
    hosts[2]["dvx"] = [{"class": CLASS, "instances": 1, "needs": ["queues"],
                        "checkpoint": True}]
    hosts[0]["gpus"] = [{"pci": VGPU, "name": "NVIDIA A100-PCIE-40GB",
                         "device": 0x20f1, "memoryGB": 40, "numa": 1,
                         "profiles": {PROFILE: [1, 1]}}]
    hosts[1]["devices"] = [{"pci": FPGA, "vendor": 0x10ee, "device": 0x5000,
                            "name": "Alveo U250"}]
    hosts[2]["devices"] = [{"pci": GPU, "vendor": 0x10de, "device": 0x20b0,
                            "name": "GA100", "numa": 1}]
    templates = [template()] + [
        template(f"{name}-old", hardwareVersion=f"vmx-{too_old(r):02d}")
        for name, r in ROWS.items()]
    inv = world(hosts=hosts, templates=templates)
    inv["datacenters"][0]["networks"] += [
        {"name": ETH, "switch": "dvs-mgmt"},
        {"name": PVRDMA, "switch": "dvs-roce"}, {"name": "std-net"}]
    return inv


def make_cluster():
    """Of each row two nodes, and a third whose template is too old for it."""
    c = Cluster(nodes=3 * len(ROWS), inventory=make_inventory())
    c.choose_ports()
    c.metrics_port, _ = free_ports(2)
    lines = ["VSphereCluster=HPC1 ResourcePool=slurm"]
    c.node_lines, c.partition_lines = [], []
    for i, (name, r) in enumerate(ROWS.items()):
        a = 3 * i + 1
        lines += [f"AdapterName={name} Type={r.kind} {r.line}",
                  f"PartitionName={name} Adapter={name} Template=rhel9-ofed"
                  " Retention=power_off",
                  f"PartitionName={name}-old Adapter={name}"
                  f" Template={name}-old"]
        c.node_lines += [c.node_line(a, a + 1, name),
                         c.node_line(a + 2, a + 2, name)]
        c.partition_lines += [
            f"PartitionName={name} Nodes=vm[{a:03d}-{a + 1:03d}]",
            f"PartitionName={name}-old Nodes=vm{a + 2:03d}"]
    c.vsphere = {"ShutdownGrace": 1, "AllowMoreNodesThanVFs": "yes",
                 "MetricsPort": c.metrics_port, "lines": lines}
    return c


def test_each_kind_that_is_offered_has_its_row():
    offered = {k for k, v in kinds().items() if v["offered"]}
    assert offered == {r.kind for r in ROWS.values()}


# ---- one run of all rows; what was seen is judged below ------------------------

def books(c):
    """Who has which VF or device, by the simulator, that gives each once."""
    return {(h["name"], pf["id"]): sorted(pf["by"].values())
            for h in c.state()["hosts"] for pf in h["pfs"] if pf["used"]}


# By what the simulator calls them; we have no address of theirs.
NAMED = {CLASS: CLASS, PROFILE: VGPU}


def hosts_rows(c):
    return {(h["host"], NAMED.get(pf.get("device"), pf["pci"])): pf
            for h in c.svf("hosts")["hosts"] for pf in h["pfs"]}


class Seen:
    pass


def run_rows(c):
    s = Seen()
    s.free = hosts_rows(c)
    first = {n: Held(c, "-p", n, "-N1") for n in ROWS}
    for job in first.values():
        job.wait_running(90)
    s.jobs = {n: j.id for n, j in first.items()}
    s.nodes = {n: c.job(j.id)["NodeList"] for n, j in first.items()}
    vc = VCenter(c)
    s.vms = {v["name"]: v for v in c.state()["vms"]}
    s.configs = {n: vc.get(("VirtualMachine", s.vms[node]["moid"]), "config")
                 for n, node in s.nodes.items()}
    s.right = {n: [ROWS[n].device[1](d, vc) for d in devices(s.configs[n])
                   if d["_typeName"] == ROWS[n].device[0]] for n in ROWS}
    s.books, s.rows = books(c), hosts_rows(c)
    s.hosts = c.svf("hosts")["hosts"]
    s.columns = c.must("svf", "hosts", "-h", "-O",
                       "host,pfs,vfs,managed,free,devices")
    s.page = wait_for("the metrics have it", 20, lambda: (
        lambda p: value(p, "devices", state="managed") and p)(
            families(c.metrics_port)))
    s.job_rows = {j["job"]: j for j in c.svf("jobs")["jobs"]}
    s.log = c.ctld_log()
    second = {n: c.sbatch("-p", n, "-N1", script="hostname") for n in ROWS}
    for n in COUNTED:
        wait_for(f"{n}: the second one says what it lacks", 30, lambda n=n: (
            ROWS[n].words in c.svf("why", str(second[n]))["text"]))
    for n in set(ROWS) - set(COUNTED):
        c.wait_job(second[n], 60)       # beside the first one
    s.waiting = wait_for("they have waited for a second", 20, lambda: (
        lambda rows: all(rows[second[n]].get("wait_time_s", 0) >= 1
                         for n in COUNTED) and rows)(
            {j["job"]: j for j in c.svf("jobs")["jobs"]}))
    s.second, s.full = second, books(c)
    for job in first.values():
        job.end_well()
    s.output = {n: c.wait_job(second[n], 90) for n in COUNTED}
    wait_for("every VF and device is free again", 60, lambda: not books(c))
    s.rest = wait_for("and we say so", 30, lambda: (
        lambda r: all(pf["free"] == pf["total"] for pf in r.values()) and r)(
            hosts_rows(c)))
    s.vcenter = vc
    return s


@pytest.fixture(scope="module")
def seen(cluster):
    return run_rows(cluster)


def devices(config):
    """A VM's NICs and passthrough devices but the template's first NIC."""
    cards = [d for d in config["hardware"]["device"]
             if "sriovBacking" in d or "macAddress" in d or
             d["_typeName"] == "VirtualPCIPassthrough"]
    return sorted(cards, key=lambda d: d["key"] != 4000)[1:]


@pytest.mark.parametrize("name", ROWS)
def test_its_vm_has_that_device_and_no_other(seen, name):
    want, has = ROWS[name].device[0], devices(seen.configs[name])
    assert [d["_typeName"] for d in has] == [want], has
    assert seen.right[name] == [True], has


@pytest.mark.parametrize("name", ROWS)
def test_its_vm_reserves_what_the_table_says(seen, name):
    r, config = ROWS[name], seen.configs[name]
    vm = seen.vms[seen.nodes[name]]
    assert bool(config.get("memoryReservationLockedToMax")) == r.full
    assert vm["reservedMB"] == (vm["memoryMB"] if r.full else 0), vm
    assert int(config["version"].split("-")[1]) >= r.hw
    kind = kinds()[r.kind]
    assert (kind["full_memory"], kind["hw"]) == (r.full, r.hw), kind


@pytest.mark.parametrize("name", ROWS)
def test_a_template_too_old_for_it_is_refused(cluster, seen, name):
    out = cluster.run("svf", "check", "-h", "-O", "code,object").stdout
    found = ["template-hardware", f"{name}-old"] in [
        ln.split()[:2] for ln in out.splitlines()]
    assert found == (ROWS[name].hw > OLDEST), out


@pytest.mark.parametrize("name", ROWS)
def test_what_there_is_of_it_is_counted_and_given_back(seen, name):
    r, node = ROWS[name], seen.nodes[name]
    mine = {at: by for at, by in seen.books.items() if node in by}
    if not r.of:
        assert not mine, mine
        return
    at = r.of[:2]
    assert mine == {at: [node]}
    assert (seen.free[at]["total"], seen.free[at]["free"]) == (r.of[2],) * 2
    assert (seen.rows[at]["managed"], seen.rows[at]["free"]) == (1, r.of[2] - 1)
    # full, the second one waited: nothing changed hands
    assert seen.full[at] == [node]
    assert seen.output[name].split()[0] in ("vm%03d" % i for i in range(1, 99))
    assert seen.rest[at]["free"] == r.of[2] and not seen.rest[at]["managed"]


@pytest.mark.parametrize("name", ROWS)
def test_svf_jobs_says_what_it_has_and_waited_for(seen, name):
    job = seen.job_rows[seen.jobs[name]]
    device = ROWS[name].of and "network" not in seen.rows[ROWS[name].of[:2]]
    assert job["vfs"] == (1 if ROWS[name].of and not device else 0), job
    assert job.get("devices", 0) == (1 if device else 0), job
    said = re.search(rf"JobId={seen.jobs[name]} all nodes are up .* "
                     r"waited_s=0.0 provision_s=(\d+)", seen.log)
    assert said, "the log has no line of it"
    assert abs(job["provision_time_s"] - int(said.group(1))) <= 1, job
    assert "wait_time_s" not in job
    if name in COUNTED:
        late = seen.waiting[seen.second[name]]
        assert late["wait_time_s"] >= 1 and "provision_time_s" not in late, late


def test_devices_are_no_vfs_to_svf_hosts(cluster, seen):
    cells = {ln.split()[0]: ln.split()[1:] for ln in seen.columns.splitlines()}
    for h in seen.hosts:
        pfs = [pf for pf in h["pfs"] if "device" not in pf]
        devs = [pf for pf in h["pfs"] if "device" in pf]
        has = f"{sum(p['free'] for p in devs)}/{sum(p['total'] for p in devs)}"
        assert cells[h["host"]] == [
            str(len(pfs)), str(sum(p["total"] for p in pfs)),
            str(sum(p["managed"] for p in pfs)), str(sum(p["free"] for p in pfs)),
            has if devs else "-"], h
        assert h.get("devices_total", 0) == sum(p["total"] for p in devs)
    assert cells[E3][-1] == "0/2"       # a GPU, and a DVX device
    assert "DEVICES(FREE/TOTAL)" in cluster.must("svf", "hosts")
    out = cluster.must("svf", "hosts", "--pfs", "-h", "-O", "pf,device")
    assert [GPU, "10de:20b0"] in [ln.split() for ln in out.splitlines()]
    assert [PF0, "-"] in [ln.split() for ln in out.splitlines()]


def test_devices_are_no_vfs_to_prometheus(seen):
    for state in ("managed", "free", "reserved"):
        for family, is_device in (("vfs", False), ("devices", True)):
            assert value(seen.page, family, state=state) == sum(
                pf[state] for pf in seen.rows.values()
                if ("device" in pf) == is_device), (family, state)
    one = [s.labels for s in seen.page[PREFIX + "devices"].samples
           if s.labels["state"] == "managed" and s.labels["pf"] == GPU]
    assert one == [{"adapter": "dynamic", "host": E3, "pf": GPU, "label": "",
                    "device": "10de:20b0", "state": "managed"}]


# ---- specs that break a kind's rules ---------------------------------------------

def unreserved(vc, vm, _):
    """It is not all reserved: ESXi refuses to switch it on."""
    vc.reconfigure(vm, memoryReservationLockedToMax=False, memoryAllocation={
        "_typeName": "ResourceAllocationInfo", "reservation": 0})
    try:
        vc.task(vm, "PowerOnVM_Task")
    finally:
        vc.reconfigure(vm, memoryReservationLockedToMax=True)


def on_no_network(vc, vm, device):
    """Its network is none, or of PVRDMA no distributed one."""
    backing = {"_typeName": "VirtualEthernetCardNetworkBackingInfo",
               "deviceName": "std-net" if "Vrdma" in device else "none"}
    vc.reconfigure(vm, deviceChange=[{
        "_typeName": "VirtualDeviceConfigSpec", "operation": "add",
        "device": {"_typeName": device, "key": -101, "backing": backing}}])


@pytest.mark.parametrize("name", ROWS)
def test_a_wrong_spec_fails_in_vcenter(seen, name):
    vc, vm = seen.vcenter, ("VirtualMachine",
                            seen.vms[seen.nodes[name]]["moid"])
    pinned = ROWS[name].full
    with pytest.raises(Fault) as e:
        (unreserved if pinned else on_no_network)(vc, vm, ROWS[name].device[0])
    assert e.value.name == ("GenericVmConfigFault" if pinned else
                            "InvalidDeviceBacking"), e.value
    assert not pinned or "sched.mem.min" in str(e.value)


# ---- a line of an adapter comes and goes under running jobs ------------------------

def lines_of(names):
    return re.compile(r"^(Adapter|Partition)Name=(" + "|".join(names) +
                      r")(-old)?\b.*\n", re.M)


def known(c):
    return {n["node"]: n for n in c.svf("nodes")["nodes"]}


def test_an_adapter_of_devices_comes_and_goes_under_running_jobs(cluster, seen):
    """As an adapter of VFs does: slurm-vsphere leaves the VMs alone whose line is
    gone, their jobs run on, and it manages them again when the line is back."""
    gone = ["ib"] + [n for n in COUNTED if "device" in seen.rows[ROWS[n].of[:2]]]
    assert "dynamic" in gone
    jobs = {n: Held(cluster, "-p", n, "-N1") for n in gone}
    for job in jobs.values():
        job.wait_running(60)
    nodes = {n: cluster.job(j.id)["NodeList"] for n, j in jobs.items()}
    at = {n: ROWS[n].of[:2] for n in gone}
    was, calls = books(cluster), cluster.mutating()
    assert {at[n]: [nodes[n]] for n in gone} == was
    f = cluster.path("etc", "vsphere.conf")
    text = f.read_text()
    f.write_text(lines_of(gone).sub("", text))
    cluster.must("scontrol", "reconfigure")
    try:
        wait_for("their nodes are no longer ours", 30, lambda: not (
            set(nodes.values()) & set(known(cluster))))
        wait_for("vCenter is read again", 30, lambda: (
            cluster.svf("status")["up"] and
            (E1, PF0) in hosts_rows(cluster)))
        rows = hosts_rows(cluster)
        # What no adapter names is read no more: two of them might be VFs, and
        # count as such of their host, which has none.
        assert not [pf for pf in rows.values() if "device" in pf], rows
        assert rows[E3, PF0]["managed"] == 2 and rows[E3, PF0]["free"] == -2
        assert rows[at["ib"]]["managed"] == 1 and rows[at["ib"]]["free"] == 0
        assert rows[E1, PF0]["free"] == 1
        assert "DEVICES" not in cluster.must("svf", "hosts")
        for job in jobs.values():
            job.end_well()
        assert books(cluster) == was and cluster.mutating() == calls
    finally:
        f.write_text(text)
        cluster.must("scontrol", "reconfigure")
    wait_for("they are ours again", 30, lambda: (
        set(nodes.values()) <= set(known(cluster))))
    wait_for("and counted where they were", 30, lambda: all(
        (r := hosts_rows(cluster).get(at[n])) and r["managed"] == 1 and
        r["free"] == 0 for n in gone))
    assert books(cluster) == was
    for n in gone:      # its next job finds it, and then it goes
        out = cluster.wait_job(cluster.sbatch("-p", n, "-N1",
                                              script="hostname"), 60)
        assert out.strip() == nodes[n]
    wait_for("all is given back", 60, lambda: not books(cluster))
    nobody_down(cluster)
