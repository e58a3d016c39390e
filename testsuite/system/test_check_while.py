# SPDX-License-Identifier: GPL-2.0-or-later
"""svf check where more than one object is concerned: slurm.conf, the clusters,
vCenter itself; hosts that fail a hard check get no job, with the reason where
people look; what changes under a running job is told once; what is for
operators alone."""

import json
import re

import pytest

from cluster import Cluster, wait_for
from stages import Held
from test_check import HARD, findings
from users import NOBODY, as_user, needs_root
from worlds import PF0, ROCE, foreign, host as machine, world

H1, H2 = "esx01.example.org", "esx02.example.org"
T = "rhel9-ofed"
NIC = {"pci": PF0}


def make_cluster():
    c = Cluster(inventory=world(hosts=2, vfs=3), nodes=4)
    c.vsphere = {"ShutdownGrace": 2, "BootTimeout": 30}
    c.slurm = {"SuspendTimeout": 3, "SchedulerParameters":
               c.scheduler_parameters + ",sched_interval=2"}
    return c


def codes(cluster, *args):
    return {(f["code"], f["object"]) for f in findings(cluster, *args)}


def sound(cluster):
    # The account may everything here: no permissions are declared.
    return {c for c in codes(cluster) if c[0] != "rights-excess"} == set()


@pytest.fixture(autouse=True)
def mended(cluster):
    wait_for("nothing is wrong before", 30, lambda: sound(cluster))
    yield
    for h in (H1, H2):
        host(cluster, h, link=True, **NIC)
        host(cluster, h, mtu=9000, switch="dvs-roce")
    wait_for("nothing is wrong after", 40, lambda: sound(cluster))


def host(cluster, name, **change):
    cluster.do("setHost", host=name, set=change)


def all_off(cluster):
    cluster.must("scontrol", "update", "nodename=vm[001-004]",
                 "state=power_down")
    wait_for("all are off", 40, lambda: not cluster.names_on() and all(
        cluster.is_powered_down(n) for n in cluster.node_names()))


def found(cluster, code, what, timeout=20):
    return wait_for(f"{code} of {what}", timeout, lambda: [
        f for f in findings(cluster, code)
        if (f["code"], f["object"]) == (code, what)])[0]


# ---- slurm.conf ---------------------------------------------------------------

SLURM = [
    ("slurm-resume-rate", r"^ResumeRate=.*$", "ResumeRate=100",
     "ResumeRate=0"),
    ("slurm-suspend-rate", r"^SuspendRate=.*$", "SuspendRate=60",
     "SuspendRate=0"),
    ("slurm-return-to-service", r"^ReturnToService=.*$", "ReturnToService=1",
     "ReturnToService=2"),
    ("slurm-prolog-flags", r"^PrologFlags=.*$", "", "add to PrologFlags=: Alloc"),
    ("slurm-hold-on-prolog", r",nohold_on_prolog_fail", "",
     "add to SchedulerParameters=: nohold_on_prolog_fail"),
    ("slurm-memlock", r"^PropagateResourceLimitsExcept=.*$", "",
     "add to PropagateResourceLimitsExcept=: MEMLOCK"),
    ("slurm-private-data", r"^PrivateData=.*$", "",
     "add to PrivateData=: cloud"),
    ("slurm-resume-timeout", r"^ResumeTimeout=.*$", "ResumeTimeout=40",
     "ResumeTimeout=60"),
    ("slurm-suspend-timeout", r"^SuspendTimeout=.*$", "SuspendTimeout=1",
     "SuspendTimeout=2"),
    ("slurm-vf-tres", r"^SuspendTime=", "Licenses=other:1,vf:8\nSuspendTime=",
     "add to AccountingStorageTRES=: license/vf"),
    ("slurm-suspend-exc", r"^SuspendTime=", "SuspendExcNodes=vm004\n"
     "SuspendTime=", "SuspendExcNodes="),
    # Hard ones: slurmctld doesn't start with them, but took them meanwhile.
    ("slurm-suspend-program", r"^SuspendProgram=.*$", "",
     "SuspendProgram=/bin/true"),
    ("slurm-resume-program", r"^ResumeProgram=.*$", "",
     "ResumeProgram=/bin/true"),
    ("slurm-suspend-time", r"^SuspendTime=.*$", "SuspendTime=-1",
     "SuspendTime=600"),
    ("slurm-prep-plugins", r"^PrEpPlugins=.*$", "PrEpPlugins=prep/script",
     "add to PrEpPlugins= (prep/script by default): prep/vsphere"),
    ("slurm-topology", r"^ReturnToService=", "TopologyPlugin=topology/tree\n"
     "ReturnToService=", "leave TopologyPlugin= out"),
]
HARD_KEYS = {"slurm-suspend-program", "slurm-resume-program",
             "slurm-suspend-time", "slurm-prep-plugins", "slurm-topology"}


@pytest.mark.parametrize("code, old, new, line", SLURM,
                         ids=[s[0] for s in SLURM])
def test_a_key_of_slurm_conf_is_found_with_its_line(cluster, code, old, new,
                                                    line):
    f = cluster.path("etc", "slurm.conf")
    text = f.read_text()
    assert re.search(old, text, re.M)
    f.write_text(re.sub(old, new, text, flags=re.M))
    # (Without one, newer Slurm looks for it for a minute.)
    cluster.path("etc", "topology.conf").write_text(
        "SwitchName=s1 Nodes=vm[001-004]\n")
    try:
        r = cluster.run("scontrol", "reconfigure")
        if cluster.reexec and code in HARD_KEYS:
            # A new process can't start with it, so the old slurmctld continues.
            assert r.returncode
            wait_for("the old one is there", 20, lambda: sound(cluster))
            return
        assert r.returncode == 0, r.stderr
        if code == "slurm-private-data" and cluster.release >= (23, 2):
            wait_for("it is of no matter there", 20, lambda: sound(cluster))
            return
        one = found(cluster, code, "slurm.conf", 30)
        hard = code in HARD_KEYS
        assert one["severity"] == ("hard" if hard else "warning")
        assert cluster.run("svf", "check", code).returncode == hard
        assert one["fix"].startswith("slurm.conf: " + line)
        # vCenter is read again if one of vsphere.conf's keys follows from it.
        wait_for("nothing else", 30, lambda: {
            c for c, _ in codes(cluster)} - {"rights-excess"} == {code})
    finally:
        f.write_text(text)
        cluster.must("scontrol", "reconfigure")


# ---- hosts that fail ----------------------------------------------------------

def test_a_host_that_fails_a_hard_check_gets_no_job(cluster):
    drift = f"host={H1}", "MTU of a switch was 9000, is 1500 now"
    before = len(said(cluster, *drift))
    host(cluster, H1, mtu=1500, switch="dvs-roce")
    f = found(cluster, "mtu", H1)
    assert len(said(cluster, *drift)) == before + 1
    assert f["pf"] == PF0 and f["severity"] == "hard"
    reasons = {h["host"]: h for h in cluster.svf("hosts")["hosts"]}
    assert reasons[H1]["state"] == "EXCLUDED"
    assert any("mtu: MTU 1500 on dvs-roce, should be 9000" in r
               for r in reasons[H1]["reasons"])
    assert reasons[H2]["state"] == "UP"
    jobs = [Held(cluster, "-N1", "--exclusive") for _ in range(3)]
    for j in jobs:
        j.wait_running()
    assert {cluster.our_vm(n)["host"] for n in cluster.names_on()} == {H2}
    # Nothing is left but the host that is wrong: the job says why.
    last = cluster.sbatch("-N1", "--exclusive", script="hostname")
    words = "mtu: MTU 1500 on dvs-roce"
    wait_for("the reason names it", 30, lambda: words in
             cluster.svf("why", str(last))["text"])
    # Each look of the scheduler's wipes it, and it is written again after that.
    wait_for("squeue says it, too", 30, lambda: words in cluster.squeue(last))
    host(cluster, H1, mtu=9000, switch="dvs-roce")
    assert cluster.wait_job(last, 60).strip().startswith("vm")
    assert cluster.counters()["powerOnFullPF"] == 0
    for j in jobs:
        j.end_well()


def test_without_link_no_job_begins_and_it_heals_by_itself(cluster):
    for h in (H1, H2):
        host(cluster, h, link=False, **NIC)
        found(cluster, "link-down", h)
    all_off(cluster)
    job = cluster.sbatch("-N1", script="hostname")
    wait_for("the reason names it", 30, lambda: "link-down: vmnic4 has no link"
             in cluster.svf("why", str(job))["text"])
    assert cluster.squeue(job, "%t") == "PD" and not cluster.names_on()
    host(cluster, H2, link=True, **NIC)
    assert cluster.wait_job(job, 60).strip().startswith("vm")
    assert {cluster.our_vm(n)["host"] for n in cluster.names_on()} == {H2}


@pytest.mark.parametrize("change, back, code, words", [
    ({"card": "sriov", "network": ROCE}, {"card": ""}, "template-nic",
     "template rhel9-ofed: 1 of them"),
    ({"hardware": "vmx-9"}, {"hardware": "vmx-20"}, "template-hardware",
     "template rhel9-ofed: hardware version 9")],
    ids=["card", "hardware"])
def test_jobs_of_a_template_that_cannot_serve_wait(cluster, change, back, code,
                                                   words):
    cluster.do("setVm", vm=T, setVm=change)
    assert code in HARD
    found(cluster, code, T)
    job = cluster.sbatch("-N1", script="hostname")
    wait_for("the reason names it", 30, lambda: words in cluster.squeue(job))
    cluster.do("setVm", vm=T, setVm=back)
    assert cluster.wait_job(job, 60).strip().startswith("vm")


def test_jobs_wait_for_a_datastore_that_is_away(cluster):
    cluster.do("setStore", datastore="vsan", accessible=False)
    found(cluster, "datastore-away", "vsan")
    job = cluster.sbatch("-N1", script="hostname")
    wait_for("the reason names it", 30, lambda: "datastore vsan: not "
             "accessible" in cluster.squeue(job))
    cluster.do("setStore", datastore="vsan", accessible=True)
    assert cluster.wait_job(job, 60).strip().startswith("vm")


# ---- drift --------------------------------------------------------------------

def said(cluster, *words):
    """Lines of the log that have all of these."""
    return [ln for ln in cluster.ctld_log().splitlines()
            if all(w in ln for w in words)]


def test_a_driver_that_is_updated_under_a_job_is_told_once(cluster):
    job = Held(cluster, "-N1")
    job.wait_running()
    name = next(iter(cluster.names_on()))
    where = cluster.our_vm(name)["host"]
    before = len(said(cluster, "check=driver-odd"))
    # Of two hosts the later version counts as usual: the other one is odd.
    host(cluster, where, driverVersion="4.22.0.1", **NIC)
    f = found(cluster, "driver-odd", where)
    assert "nmlx5_core 4.22.0.1" in f["actual"] and "4.23.0.66" in f["expected"]
    for _ in range(3):
        findings(cluster)
    assert len(said(cluster, f"host={where}", f"pf={PF0}",
                    "driver was 4.23.0.66, is 4.22.0.1 now")) == 1
    assert len(said(cluster, "check=driver-odd", where)) == before + 1
    assert job.runs_on()
    host(cluster, where, driverVersion="4.23.0.66", **NIC)
    wait_for("it is gone", 20, lambda: sound(cluster))
    assert len(said(cluster, "check=driver-odd resolved", where)) == 1
    job.end_well()


def test_vfs_that_go_under_a_job_are_told_and_the_job_runs_on(cluster):
    all_off(cluster)
    job = Held(cluster, "-N1", "--exclusive")
    job.wait_running()
    where = cluster.our_vm(next(iter(cluster.names_on())))["host"]
    cluster.do("setVfs", host=where, pci=PF0, vfs=1)
    f = found(cluster, "vf-lost", where)
    assert "max_vfs=3\n" in f["fix"] and f"svf host resume {where}" in f["fix"]
    assert job.runs_on()
    # An operator says that it is meant to be so.
    cluster.must("svf", "host", "resume", where)
    wait_for("it is right", 20, lambda: sound(cluster))
    cluster.do("setVfs", host=where, pci=PF0, vfs=3)
    job.end_well()


# ---- vCenter, its clusters and VMs ---------------------------------------------

def test_more_vfs_in_use_than_there_are(cluster):
    all_off(cluster)
    cluster.do("addVm", spec=foreign("theirs-1", H1))
    cluster.do("addVm", spec=foreign("theirs-2", H1))
    cluster.do("setVfs", host=H1, pci=PF0, vfs=1)
    f = found(cluster, "vf-overcommitted", H1)
    assert f["actual"] == "1 VFs, 2 in use or reserved" and f["pf"] == PF0
    for vm in ("theirs-1", "theirs-2"):
        cluster.do("destroyVm", vm=vm, force=True)
    cluster.do("setVfs", host=H1, pci=PF0, vfs=3)


def test_an_override_of_a_nodes_vm_is_named(cluster):
    job = cluster.sbatch("-N1", "-w", "vm001", script="hostname")
    cluster.wait_job(job, 60)
    cluster.do("override", vm="vm001", drs="fullyAutomated")
    f = found(cluster, "vm-override", "vm001")
    assert f["fix"] == "govc cluster.override.change -cluster " \
        "/DC0/host/HPC1 -vm vm001 -drs-mode manual"
    cluster.do("override", vm="vm001")


def test_another_clusters_vms_in_the_folder(cluster):
    uuid = "50211e0a-0000-4000-8000-000000000077"
    alien = "99999999-2222-4333-8444-555555555555"
    cluster.do("addVm", spec={
        "name": "vm077", "folder": "slurm", "host": H1, "numCPUs": 1,
        "memoryMB": 512, "instanceUuid": uuid,
        "extraConfig": {"slurm.vsphere.owner": f"{alien}/vm077/{uuid}"}})
    assert found(cluster, "folder-shared", "slurm")["severity"] == "hard"
    cluster.do("destroyVm", vm="vm077")


def test_rights_that_cannot_be_asked_for_are_unknown(cluster):
    cluster.fault(method="HasUserPrivilegeOnEntities", on="request", http=500,
                  body="no")
    # What was known stays so; another configuration makes the client ask again.
    cluster.change_vsphere("ShutdownGrace=2", "ShutdownGrace=3")
    f = found(cluster, "rights-unknown", "slurm@vsphere.local", 30)
    assert f["severity"] == "unknown"
    assert cluster.run("svf", "check", "rights-unknown").returncode == 0
    cluster.clear_faults()
    cluster.change_vsphere("ShutdownGrace=3", "ShutdownGrace=2")


def test_no_uplink_on_any_host(cluster):
    for h in (H1, H2):
        host(cluster, h, uplink=False, **NIC)
    found(cluster, "adapter-uplink", "sriov-roce")
    assert codes(cluster) - {("rights-excess", "slurm@vsphere.local")} >= {
        ("adapter-uplink", "sriov-roce"), ("uplink-missing", H1),
        ("uplink-missing", H2)}
    for h in (H1, H2):
        host(cluster, h, uplink=True, **NIC)


def test_no_host_has_the_adapters_network(cluster):
    for h in (H1, H2):
        host(cluster, h, member=False, switch="dvs-roce")
    f = found(cluster, "adapter-network", "sriov-roce")
    assert f["severity"] == "hard" and f["actual"] == "on no host"
    assert f["expected"] == ROCE and "govc dvs.add" in f["fix"]
    assert "adapter-uplink" not in {c for c, _ in codes(cluster)}
    for h in (H1, H2):
        host(cluster, h, member=True, switch="dvs-roce")


def test_vcenter_away_is_a_hard_finding(cluster):
    cluster.do("outage", duration="4s", how="refuse")
    f = wait_for("it is found", 20, lambda: [
        x for x in findings(cluster) if x["code"] == "vcenter-away"])[0]
    assert f["severity"] == "hard" and f["object"] == "vCenter"
    wait_for("it is back", 40, lambda: sound(cluster))


# ---- who sees what --------------------------------------------------------------

@needs_root
def test_commands_and_rights_are_for_operators(cluster):
    host(cluster, H1, power="low")
    found(cluster, "power-policy", H1)
    mine = {f["code"]: f for f in findings(cluster)}
    assert "rights-excess" in mine and "fix" in mine["power-policy"]
    r = as_user(cluster, NOBODY, "svf", "--json", "check")
    theirs = {f["code"]: f for f in json.loads(r.stdout)["findings"]}
    assert set(theirs) == {"power-policy"} and r.returncode == 0
    assert "fix" not in theirs["power-policy"]
    text = as_user(cluster, NOBODY, "svf", "check").stdout
    assert "Low Power" in text and "esxcli" not in text
    text = cluster.must("svf", "check")
    assert f"\n# power-policy {H1}\ngovc host.esxcli -host {H1} " in text
    host(cluster, H1, power="static")


def test_the_codes_are_told_without_slurmctld(cluster):
    table = json.loads(cluster.run(
        "env", "SVF_CONTROL=127.0.0.1:1", "svf", "--json", "check",
        "--codes").stdout)["codes"]
    assert len({c["code"] for c in table}) == len(table) > 50
    assert all(c["reason"].endswith(".") and not c["description"].endswith(".")
               for c in table)
    assert HARD <= {c["code"] for c in table if c["severity"] == "hard"}
    out = cluster.must("svf", "check", "--codes", "-O", "code,severity",
                       "mtu")
    assert re.search(r"^mtu +hard$", out, re.M)


# ---- power saving is for all of Slurm -----------------------------------------

def test_hosts_that_are_no_vms_are_kept_from_power_saving(fresh):
    c = fresh(start=False, nodes=3, inventory=world(hosts=1, vfs=1))
    c.choose_ports()
    c.node_lines = [c.node_line(1, 1, "sriov-roce"),
                    c.node_line(2, 3, "metal").replace("State=CLOUD", "")]
    c.partition_lines = ["PartitionName=roce Nodes=vm001 Default=YES",
                         "PartitionName=batch Nodes=vm[002-003]"]
    c.start()
    c.wait_ready()
    one = found(c, "slurm-suspend-others", "slurm.conf", 30)
    assert one["actual"] == "2 nodes that are no VMs: vm002, ..."
    should = "SuspendTime=INFINITE, and SuspendTime=600 in the VMs' " \
        "PartitionName= lines"
    assert one["expected"] == should
    assert one["fix"] == f"slurm.conf: {should}; or add to " \
        "SuspendExcNodes=: vm[002-003]"
    conf = c.path("etc", "slurm.conf")
    was = conf.read_text()
    for text in (was + "SuspendExcNodes=vm[002-003]\n",
                 was.replace("SuspendTime=600", "SuspendTime=INFINITE").replace(
                     "=roce Nodes=vm001", "=roce Nodes=vm001 SuspendTime=600")):
        conf.write_text(text)
        c.must("scontrol", "reconfigure")
        wait_for("nothing is said", 30, lambda: "slurm-suspend-others" not in
                 {code for code, _ in codes(c)})
        conf.write_text(was)
        c.must("scontrol", "reconfigure")
        found(c, "slurm-suspend-others", "slurm.conf", 30)


# ---- room for all at once -----------------------------------------------------

TIMES = {"ShutdownGrace": 2, "BootTimeout": 30}
SLOW = {"SuspendTimeout": 3}


def only(c, code):
    """It is found, and nothing else is."""
    return {k for k, _ in codes(c)} - {"rights-excess"} == {code}


def test_a_host_with_room_for_fewer_vms_than_vfs(fresh):
    """Four VFs and four nodes: one that finds no memory has no other host."""
    c = fresh(nodes=4, inventory=world(hosts=2, vfs=2), slurm=SLOW, vsphere={
        **TIMES, "lines": [
            "VSphereCluster=HPC1 ResourcePool=slurm",
            "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
            "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed "
            "LatencySensitivity=high"]})
    wait_for("nothing is wrong before", 30, lambda: sound(c))
    host(c, H2, memoryMB=3072)
    f = found(c, "host-memory-vfs", H2)
    assert f["severity"] == "warning" and only(c, f["code"])
    assert re.match(r"its VFs serve 2 VMs x (\d+) MB = \d+ MB, it has \d+ MB: "
                    "1 fit$", f["actual"])
    assert "all 4 nodes of adapter sriov-roce: the hosts have it for 3" in \
        f["expected"]
    assert f["fix"].startswith("slurm.conf: NodeName=... RealMemory=")
    host(c, H2, memoryMB=128 * 1024)
    wait_for("it is mended", 30, lambda: sound(c))
    host(c, H2, cores=4)  # a tenth of its CPU is ESXi's
    f = found(c, "host-cores-vfs", H2)
    assert f["actual"] == "its VFs serve 2 VMs x 2 cores = 4, it has 3 for " \
        "VMs: 1 fit"
    assert f["fix"].startswith("slurm.conf: NodeName=... CPUs=1")
    assert f["severity"] == "warning" and only(c, f["code"])
    host(c, H2, cores=32)
    wait_for("it is mended", 30, lambda: sound(c))


def test_room_is_judged_on_the_datastores_that_a_partition_may_use(fresh):
    """Two clusters with a datastore each; InfiniBand is in one of them alone."""
    inv = world(hosts=1, vfs=2)
    dc = inv["datacenters"][0]
    dc["datastores"] = [{"name": n, "capacityGB": 900, "freeGB": 500}
                        for n in ("fast", "slow")]
    dc["clusters"].append({
        "name": "HPC2", "drs": "manual", "pools": ["slurm"],
        "hosts": [machine(H2, 2, ib_vfs=2)]})
    c = fresh(start=False, nodes=4, inventory=inv)
    c.slurm = SLOW
    c.vsphere = {**TIMES, "Datastore": None, "lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm Datastore=fast",
        "VSphereCluster=HPC2 ResourcePool=slurm Datastore=slow",
        "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
        "AdapterName=sriov-ib Type=sriov Network=SRIOV-IB-PG "
        "LinkLayer=infiniband",
        "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed",
        "PartitionName=ib Adapter=sriov-ib Template=rhel9-ofed"]}
    c.choose_ports()
    c.node_lines = [c.node_line(1, 2, "sriov-roce"),
                    c.node_line(3, 4, "sriov-ib")]
    c.partition_lines = ["PartitionName=roce Nodes=vm[001-002] Default=YES",
                         "PartitionName=ib Nodes=vm[003-004]"]
    c.start()
    c.wait_ready()
    wait_for("nothing is wrong before", 30, lambda: sound(c))
    # There is plenty on "fast": it is of no use to nodes of InfiniBand.
    c.do("setFree", datastore="slow", freeGB=15)
    f = found(c, "datastore-room", "slow")
    assert f["actual"] == "15 GB free" and f["expected"].startswith("20 GB")
    assert only(c, f["code"])
    c.do("setFree", datastore="slow", freeGB=500)
    wait_for("it is mended", 30, lambda: sound(c))
    # Those of RoCE may use either.
    c.do("setFree", datastore="fast", freeGB=5)
    assert sound(c)


def test_a_pool_that_no_vm_of_ours_can_be_in_may_be_small(fresh):
    inv = world(hosts=1, vfs=2)
    away = machine(H2, 0)
    away["pnics"] = away["pnics"][:1]
    inv["datacenters"][0]["clusters"].append({
        "name": "HPC2", "drs": "manual", "pools": ["slurm"], "hosts": [away]})
    c = fresh(nodes=2, inventory=inv, slurm=SLOW, vsphere={**TIMES, "lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        "VSphereCluster=HPC2 ResourcePool=slurm",
        "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
        "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed"]})
    wait_for("nothing is wrong before", 30, lambda: sound(c))
    c.do("limitPool", cluster="HPC2", name="slurm", memoryMB=500)
    assert sound(c)
    c.do("limitPool", cluster="HPC1", name="slurm", memoryMB=500)
    assert "/HPC1/" in found(c, "pool-room", "slurm")["fix"]
