# SPDX-License-Identifier: GPL-2.0-or-later
"""What hosts have by name: vGPUs, alone and beside a VF, and DVX devices."""

import json

from cluster import Cluster, wait_for
from stages import Held, off
from vcenter_json import VCenter
from worlds import PF0, ROCE, host, template, world

E1, E2, E3 = (f"esx0{i}.example.org" for i in (1, 2, 3))
FPGA = "com.vendor.fpga"
HALF, WHOLE, SLICE = "nvidia_a100-20c", "nvidia_a100-40c", "nvidia_a100-1-5c"


def gpu(pci, **more):
    """An A100 of 40 GB: as many of each profile as NVIDIA's table says."""
    return {"pci": pci, "name": "NVIDIA A100-PCIE-40GB", "device": 0x20f1,
            "memoryGB": 40, "numa": 1,
            "profiles": {HALF: [2, 2], WHOLE: [1, 1], SLICE: [7, 7]}, **more}


BOARD = {"pci": "0000:03:00.0", "name": "ASPEED Graphics Family", "by": "ASPEED",
         "vendor": 0x1a03, "device": 0x2000, "type": "basic"}


def fpga(**more):
    """Its parameters have types, as a vendor's driver says them."""
    return {"class": FPGA, "instances": 2, "needs": ["queues"],
            "checkpoint": True, "options": [
                {"key": "queues", "type": "long", "min": 1, "max": 64},
                {"key": "trace", "type": "bool"},
                {"key": "mode", "type": "choice", "choices": ["1", "2"]}],
            **more}


def make_cluster():
    """The first host has a GPU and two DVX devices, the second a GPU whose name
    tells no model; the third's GPU is in another mode, its driver has another
    class. All have the graphics of their board, which is for no VM."""
    hosts = [host(E1, vfs=4), host(E2, vfs=4), host(E3, vfs=4)]
    hosts[0]["gpus"] = [BOARD, gpu("0000:65:00.0")]
    hosts[0]["dvx"] = [fpga()]
    hosts[1]["gpus"] = [BOARD, gpu("0000:ca:00.0", name="GA100GL")]
    hosts[2]["gpus"] = [BOARD, gpu("0000:ca:00.0", type="shared")]
    hosts[2]["dvx"] = [fpga(**{"class": "com.vendor.other"})]
    theirs = [{"name": name, "folder": "", "host": E2, "powerOn": False,
               "numCPUs": 2, "memoryMB": 2048, "lockMemory": True,
               "nics": ["VM-PG"], "cards": [{"type": "vgpu", "profile": of}]}
              for name, of in (("their-half", HALF), ("their-whole", WHOLE))]
    c = Cluster(nodes=10, inventory=world(hosts=hosts, vms=theirs, templates=[
        template(), template("old", hardwareVersion="vmx-19")]))
    c.choose_ports()
    c.vsphere = {"ShutdownGrace": 2, "AllowMoreNodesThanVFs": "yes", "lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        f"AdapterName=half Type=vgpu Profile={HALF}",
        f"AdapterName=whole Type=vgpu Profile={WHOLE}",
        f'AdapterName=fpga Type=dvx DeviceClass={FPGA} Instances=2 Parameters="queues=8,trace=true,mode=2"',
        f"AdapterName=roce-half Type=sriov Network={ROCE} MTU=9000 ExtraDevice=half",
        "PartitionName=half Adapter=half Template=rhel9-ofed",
        "PartitionName=whole Adapter=whole Template=rhel9-ofed",
        "PartitionName=fpga Adapter=fpga Template=rhel9-ofed",
        "PartitionName=rocehalf Adapter=roce-half Template=rhel9-ofed",
        "PartitionName=old Adapter=fpga Template=old"]}
    c.node_lines = [c.node_line(1, 3, "half"), c.node_line(4, 5, "whole"),
                    c.node_line(6, 8, "fpga"), c.node_line(9, 9, "roce-half"),
                    c.node_line(10, 10, "fpga")]
    c.partition_lines = ["PartitionName=half Nodes=vm[001-003] Default=YES",
                         "PartitionName=whole Nodes=vm[004-005]",
                         "PartitionName=fpga Nodes=vm[006-008]",
                         "PartitionName=rocehalf Nodes=vm009",
                         "PartitionName=old Nodes=vm010"]
    return c


def rows(c, *keys):
    """{(host, class or profile): the counts}"""
    return {(h["host"][:5], pf["device"]): tuple(pf[k] for k in keys)
            for h in c.svf("hosts")["hosts"] for pf in h["pfs"]
            if pf.get("device")}


def free(c):
    return {k: v[0] for k, v in rows(c, "free").items()}


EMPTY = {("esx01", HALF): 2, ("esx01", WHOLE): 1, ("esx01", FPGA): 2,
         ("esx02", HALF): 2, ("esx02", WHOLE): 1}


def by_host(c):
    """Who has which shared device, by the simulator."""
    return {(h["name"][:5], pf["id"]): sorted(pf["by"].values())
            for h in c.state()["hosts"] for pf in h["pfs"]
            if pf["used"] and (pf["id"] == FPGA or pf["id"] in
                               ("0000:65:00.0", "0000:ca:00.0"))}


def waits(c, job, words):
    wait_for(f"it says: {words}", 20, lambda: words in
             c.svf("why", str(job))["text"])


def test_hosts_tell_how_many_of_each_there_are(cluster):
    assert free(cluster) == EMPTY
    assert rows(cluster, "operations")["esx01", HALF] == (["vmotion"],)
    assert rows(cluster, "operations")["esx01", FPGA] == (["snapshot"],)
    out = cluster.must("svf", "adapters", "--site", "-h", "-O", "adapter,type")
    assert out.split() == ["half", "vgpu", "whole", "vgpu", "fpga", "dvx",
                           "roce-half", "sriov"]


def test_a_gpu_in_another_mode_is_found(cluster):
    def found():
        out = cluster.run("svf", "check", "-h", "-O", "code,object,actual,expected").stdout
        return [ln for ln in map(str.split, out.splitlines()) if ln[0] == "gpu-mode"]
    wait_for("svf check tells", 30, lambda: found() == [
        f"gpu-mode {E3} GPU 0000:ca:00.0: shared shared direct".split()])


def test_jobs_get_vgpus_of_one_profile_to_a_gpu(cluster):
    was = cluster.mutating()
    job = Held(cluster, "-p", "half", "-N3").wait_running()
    assert cluster.mutating() - was == 6        # I7: a clone, a power-on
    had = by_host(cluster)
    assert sorted(n for by in had.values() for n in by) == [
        "vm001", "vm002", "vm003"], had
    assert len(had) == 2, had
    vm = next(v for v in cluster.state()["vms"] if v["name"] == "vm001")
    assert vm["reservedMB"] == vm["memoryMB"]
    ready = cluster.path("guests", "vm001", "slurm-vsphere", "ready").read_text()
    assert ready.count("\npci ") == 1 and " 10de:any " in ready, ready
    # both GPUs run another profile now: there is none for the whole of one
    assert {k: v for k, v in free(cluster).items() if k[1] == WHOLE} == {
        ("esx01", WHOLE): 0, ("esx02", WHOLE): 0}
    more = cluster.sbatch("-p", "whole", "-N1")
    waits(cluster, more, "needs 1 whole vGPU, 0 free")
    before = rows(cluster, "managed", "reserved", "free")
    cluster.restart_slurmctld()
    cluster.wait_ready()
    wait_for("the same is counted after a restart", 30, lambda:
             before == rows(cluster, "managed", "reserved", "free"))
    job.end_well()
    off(cluster, "vm001", "vm002", "vm003")
    cluster.wait_job(more, 60)
    assert cluster.counters()["powerOnFullPF"] == 0
    off(cluster, *cluster.names_on())


def test_foreign_vms_take_vgpus_and_whole_gpus(cluster):
    wait_for("all is free", 30, lambda: free(cluster) == EMPTY)
    cluster.do("powerOn", vm="their-half")
    wait_for("it is counted", 20, lambda: rows(cluster, "foreign")[
        "esx02", HALF] == (1,))
    assert free(cluster) == {**EMPTY, ("esx02", HALF): 1, ("esx02", WHOLE): 0}
    cluster.do("powerOff", vm="their-half")
    wait_for("and given back", 20, lambda: free(cluster) == EMPTY)
    cluster.do("powerOn", vm="their-whole")
    wait_for("it has the GPU", 20, lambda: free(cluster) == {
        **EMPTY, ("esx02", HALF): 0, ("esx02", WHOLE): 0})
    assert not [r for h in cluster.svf("hosts")["hosts"]
                for r in h.get("reasons", []) if "over-committed" in r]
    jobs = Held(cluster, "-p", "half", "-N2").wait_running()
    assert by_host(cluster)["esx01", "0000:65:00.0"] == ["vm001", "vm002"]
    more = cluster.sbatch("-p", "half", "-N1")
    waits(cluster, more, "needs 1 half vGPU, 0 free")
    cluster.must("scancel", str(more))
    jobs.end_well()
    cluster.do("powerOff", vm="their-whole")
    off(cluster, *cluster.names_on())


def test_a_vgpu_beside_a_vf_comes_with_it_or_not_at_all(cluster):
    gpus = Held(cluster, "-p", "whole", "-N2").wait_running()
    job = cluster.sbatch("-p", "rocehalf", "-N1")
    waits(cluster, job, "needs 1 roce-half VF with 1 half vGPU on 1 node")
    assert not cluster.is_on("vm009")
    gpus.end_well()
    off(cluster, "vm004", "vm005")
    assert "vm009" in cluster.wait_job(job, 60)
    assert [by for by in by_host(cluster).values()] == [["vm009"]]
    node = {n["node"]: n for n in cluster.svf("nodes")["nodes"]}["vm009"]
    assert node["pf"].split(",")[0] == PF0, node
    vm = next(v for v in cluster.state()["vms"] if v["name"] == "vm009")
    assert vm["passthru"]["allowP2P"] == "TRUE", vm
    ready = cluster.path("guests", "vm009", "slurm-vsphere", "ready").read_text()
    assert ready.count("\nrdma ") == 1 and ready.count("\npci ") == 1, ready
    off(cluster, *cluster.names_on())


def test_a_job_gets_dvx_devices_with_their_parameters(cluster):
    job = Held(cluster, "-p", "fpga", "-N2").wait_running()
    assert by_host(cluster) == {("esx01", FPGA): ["vm006", "vm007"]}
    vm = next(v for v in cluster.state()["vms"] if v["name"] == "vm006")
    assert vm["reservedMB"] == vm["memoryMB"]
    vc = VCenter(cluster)
    hw = vc.get(vc.find("DC0/vm/slurm/vm006"), "config")["hardware"]
    assert [(o["key"], o["value"]) for d in hw["device"]
            if d["_typeName"] == "VirtualPCIPassthrough"
            for o in d["backing"]["configParams"]] == [
                ("queues", {"_typeName": "long", "_value": 8}),
                ("trace", {"_typeName": "boolean", "_value": True}),
                ("mode", {"_typeName": "string", "_value": "2"})]
    info = json.loads(cluster.path("guests", "vm006", "guestinfo.json").read_text())
    assert info["guestinfo.slurm.device"] == "none"
    more = cluster.sbatch("-p", "fpga", "-N1")
    waits(cluster, more, "needs 1 fpga device, 0 free")
    out = cluster.must("svf", "hosts", "--pfs", "-h", "-O", "device,vfs,free")
    assert [FPGA, "2", "0"] in [ln.split() for ln in out.splitlines()], out
    cluster.must("scancel", str(more))
    job.end_well()
    off(cluster, *cluster.names_on())


def test_a_template_too_old_for_dvx_is_refused_before_a_call(cluster):
    was = cluster.mutating()
    job = cluster.sbatch("-p", "old", "-N1")
    waits(cluster, job, "hardware version 19")
    assert cluster.mutating() == was
    out = cluster.run("svf", "check", "-h", "-O", "code,object").stdout
    assert ["template-hardware", "old"] in [
        ln.split()[:2] for ln in out.splitlines()], out
    cluster.must("scancel", str(job))


def test_idle_vms_of_another_profile_make_room(cluster):
    """Both GPUs run halves that no job uses: a job that wants both whole gets
    them without an operator's command."""
    halves = Held(cluster, "-p", "half", "-N3").wait_running()
    assert sorted(by_host(cluster)) == [("esx01", "0000:65:00.0"),
                                        ("esx02", "0000:ca:00.0")]
    halves.end_well()
    wait_for("three are idle", 30, lambda: set(cluster.names_on()) == {
        "vm001", "vm002", "vm003"})
    out = cluster.wait_job(cluster.sbatch("-p", "whole", "-N2"), 90)
    assert "vm00" in out
    assert set(cluster.names_on()) == {"vm004", "vm005"}, cluster.names_on()
    assert cluster.counters()["powerOnFullPF"] == 0
    off(cluster, *cluster.names_on())


def test_a_job_leaves_a_host_for_another_gpu(cluster):
    """By vMotion, as soon as one there runs its profile: not while others have
    it whole. Both hosts' books are right on the way and afterwards."""
    c = cluster
    c.do("powerOn", vm="their-whole")
    wait_for("it has the GPU", 20, lambda: free(c)["esx02", HALF] == 0)
    job = Held(c, "-p", "half", "-w", "vm001").wait_running()
    assert by_host(c)["esx01", "0000:65:00.0"] == ["vm001"]
    booted, was = c.our_vm("vm001")["boots"], c.mutating()
    c.do("maintenance", host=E1)
    wait_for("it says what lacks", 40, lambda:
             "needs 1 half vGPU, 0 free" in c.node("vm001").get("Reason", ""))
    assert c.mutating() == was
    job.runs_on()
    c.do("powerOff", vm="their-whole")
    wait_for("its VM has moved", 40, lambda: by_host(c) == {
        ("esx02", "0000:ca:00.0"): ["vm001"]})
    assert c.our_vm("vm001")["host"] == E2
    wait_for("the host is in maintenance", 30, lambda: next(
        h for h in c.state()["hosts"] if h["name"] == E1)["maintenance"])
    assert c.mutating() == was + 1
    c.do("maintenance", host=E1, mode="exit")
    after = {**EMPTY, ("esx02", HALF): 1, ("esx02", WHOLE): 0}
    wait_for("svf counts it there", 30, lambda: free(c) == after)
    assert rows(c, "managed", "reserved", "foreign")["esx02", HALF] == (1, 0, 0)
    assert rows(c, "managed", "reserved", "foreign")["esx01", HALF] == (0, 0, 0)
    wait_for("the drain is lifted", 30, lambda:
             "DRAIN" not in c.node("vm001")["State"])
    assert c.our_vm("vm001")["boots"] == booted
    whole = Held(c, "-p", "whole", "-w", "vm004").wait_running()
    assert by_host(c) == {("esx01", "0000:65:00.0"): ["vm004"],
                          ("esx02", "0000:ca:00.0"): ["vm001"]}
    for j in (job, whole):
        j.end_well()
    off(c, *c.names_on())
    assert not by_host(c)
    wait_for("all is free", 30, lambda: free(c) == EMPTY)


def test_everything_is_given_back(cluster):
    off(cluster, *cluster.names_on())
    assert not by_host(cluster)
    wait_for("all is free", 30, lambda: free(cluster) == EMPTY)
    assert cluster.counters()["powerOnFullPF"] == 0
