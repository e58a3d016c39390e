# SPDX-License-Identifier: GPL-2.0-or-later
"""contribs/vhpc-import: the eight samples of vHPC-toolkit's tag v1.0.3
(examples/cluster-scripts there, corpus/vhpc-import here, Apache-2.0, byte for byte),
cluster-simple as v0.2.0 had it, our own file with every key (all-keys), and what
is wrong with a file. Expected lines are written by hand from the samples, whose
comments say which VM goes to which host."""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import random
import re
import subprocess

import pytest

from conftest import TOP

SCRIPT = TOP / "contribs/vhpc-import/vhpc-import"
CORPUS = TOP / "testsuite/contribs/corpus/vhpc-import"
SVF = pathlib.Path(os.environ["VS_BUILD"]) / "src/svf"
PASSWORD = "VMware1!"

SECTION = "[B]\ntemplate: t\ndatacenter: D\n"
VMS = "[_VMS_]\n"


def load():
    loader = importlib.machinery.SourceFileLoader("vhpc_import", str(SCRIPT))
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


tool = load()


def run(*args, path=f"{SVF}:/usr/bin:/bin", stdin=b""):
    p = subprocess.run([str(SCRIPT), *map(str, args)], input=stdin, check=False,
                       capture_output=True, timeout=60,
                       env={**os.environ, "PATH": path})
    return p.returncode, p.stdout.decode("latin-1"), p.stderr.decode("latin-1")


def must(*args, **how):
    code, out, err = run(*args, **how)
    assert (code, err) == (0, "")
    return out


@pytest.fixture
def imported(tmp_path):
    """The configuration of a text, which svf conf takes."""
    def do(text, *options):
        (tmp_path / "cluster.conf").write_text(text, newline="")
        return must(*options, tmp_path / "cluster.conf")
    return do


def svf_takes(tmp_path, conf):
    (tmp_path / "new.conf").write_text(conf)
    p = subprocess.run([SVF / "svf", "conf", tmp_path / "new.conf"],
                       capture_output=True, check=False, text=True)
    assert p.returncode == 0, p.stderr


# ---- the samples -----------------------------------------------------------------

SAMPLES = {
    "cluster-gpu-passthru.conf": [
        "AdapterName=vmxnet3 Type=vmxnet3 Network=vHPC-PG-VMNetwork\n",
        "PartitionName=gpu-vm Adapter=vmxnet3 Template=vhpc_clone\n",
        "#NodeName=gpu-vm[1-2] CPUs=20 RealMemory=",
        "# note: device ['0000:3B:00.0']: an AdapterName line with Type=directpath and Address= gives this very device",
        "# note: ip 172.1.10.1,172.1.10.2: ManagementAddresses=FIRST-LAST/BITS ",
        "# note: gateway 172.1.101.1: Gateway= on the PartitionName line"],
    "cluster-linked-clone.conf": [
        "Datacenter=HPC_Datacenter\n", "Datastore=COMPUTE01_vsanDatastore\n",
        "#NodeName=linked-vm[1-9],linked-vm[10-20] CPUs=CHANGE-ME ",
        "# note: no cpu and memory are given for linked-vm[1-9],linked-vm[10-20]: ",
        "PartitionName=linked-vm Adapter=vmxnet3 Template=vhpc_clone Clone=linked\n"],
    "cluster-pvrdma.conf": [
        "VSphereCluster=COMPUTE_GPU_Cluster\n",
        "AdapterName=pvrdma Type=pvrdma Network=pvrdma-pg\n",
        "PartitionName=pvrdma-vm Adapter=pvrdma Template=vhpc_clone LatencySensitivity=high\n",
        "#NodeName=pvrdma-vm[1-8] CPUs=10 RealMemory=49400 Features=pvrdma State=CLOUD\n",
        "#PartitionName=pvrdma-vm Nodes=pvrdma-vm[1-8] Default=YES\n",
        "# note: port_group vHPC-PG-VMNetwork: the first NIC is the template's own",
        "# note: switch pvrdma-dvs: "],
    "cluster-simple.conf": [
        "Datacenter=HPC_Datacenter\n", "VSphereCluster=HPC_Cluster\n",
        "PartitionName=vhpc_vm Adapter=vmxnet3 Template=vhpc_clone\n",
        "#NodeName=vhpc_vm[01-02] CPUs=CHANGE-ME ",
        "# note: guest_password: ", "# note: sequence 0,1: ",
        "# note: script ../examples/post-scripts/hello_world1.sh,../examples/post-scripts/hello_world2.sh: "],
    "rhel-hpc-demo-cluster.conf": [
        "\nDatacenter=CHANGE-ME\n", "\nDatastore=CHANGE-ME\n",
        "\nVSphereCluster=CHANGE-ME ResourcePool=CHANGE-ME\nAdapterName=",
        "\nAdapterName=vmxnet3 Type=vmxnet3 Network=rhel-hpc-demo-management\n",
        "\nAdapterName=sriov Type=sriov Network=rhel-hpc-demo-IB-SRIOV-PG PF=0000:3b:00.0\n",
        "\nPartitionName=rhel-hpc-demo-head Adapter=vmxnet3 Template=RHEL-8.1-template SecureBoot=no\n",
        "\nPartitionName=rhel-hpc-demo-compute Adapter=sriov Template=RHEL-8.1-template LatencySensitivity=high CoresPerSocket=22 SecureBoot=no\n",
        "#NodeName=rhel-hpc-demo-compute[1-4] CPUs=44 ",
        "# note: cluster ${cluster_name_in_vSphere_to_store_Compute_VMs},${cluster_name_in_vSphere_to_store_FrontEnd_VM}: CHANGE-ME is in its place: ",
        "# note: cores_per_socket 22 (rhel-hpc-demo-compute[1-4]): CPUs= must be",
        "# note: switch rhel-hpc-demo-IB-SRIOV-DVS: make it yourself"],
    "cluster-simple-0.2.conf": [
        "VSphereCluster=HPC_Cluster\n", "#NodeName=vhpc_vm[01-02] CPUs=CHANGE-ME ",
        "# note: host vhpc-esx-01.hpc.vmware.com: ",
        "# note: guest_password: ", "# note: barrier [0-1]: ",
        "# note: vhpc_vm01: a name with _ is no host name"],
    "cluster-sriov-gpu.conf": [
        "AdapterName=sriov Type=sriov Network=sriov-pg PF=0000:af:00.0\n",
        "PartitionName=ml-vm Adapter=sriov Template=vhpc_clone\n",
        "#NodeName=ml-vm[1-4],tp-vm[1-4] CPUs=4 ",
        "# note: device ['0000:3B:00.0'] (ml-vm[1-2]): ",
        "# note: guest_hostname ml-vm[1-4],tp-vm[1-4]: "],
    "cluster-sriov.conf": [
        "AdapterName=sriov Type=sriov Network=sriov-pg PF=0000:af:00.0\n",
        "PartitionName=sriov-vm Adapter=sriov Template=vhpc_clone LatencySensitivity=high\n",
        "#NodeName=sriov-vm[1-8] CPUs=10 RealMemory=49400 Features=sriov State=CLOUD\n",
        "# note: switch sriov-svs: make it yourself, as a distributed one"],
    "cluster-vgpu.conf": [
        "PartitionName=vgpu-vm Adapter=vmxnet3 Template=vhpc_clone LatencySensitivity=high\n",
        "#NodeName=vgpu-vm[1-4] CPUs=5 ",
        "# note: vgpu grid_p100-4q: a vGPU is an adapter of its own: AdapterName=vgpu Type=vgpu with this Profile="],
    "all-keys": [
        "VSphereCluster=\"C 1\" ResourcePool=p\nVSphereCluster=Other ResourcePool=p\n",
        "AdapterName=sriov Type=sriov Network=s PF=0000:3b:00.1 MTU=9000\n",
        "PartitionName=n Adapter=sriov Template=\"t 1\" CPUReservation=full CPUShares=1 MemoryShares=2 CoresPerSocket=2 SecureBoot=yes\n",
        "#NodeName=n[1-4],m9 CPUs=2 ", "# note: script a,b (n[1-4]): ",
        "# note: port_group m%: ",
        "# note: ip 10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4 (n[1-4]): ",
        "Datastore=ds1,ds2,one\n", "# note: cores_per_socket 2: ",
        "# note: allow_guest_mtu_change yes: ", "# note: svs_name vs0: "],
}


@pytest.mark.parametrize("name", SAMPLES)
def test_each_sample_becomes_a_vsphere_conf(tmp_path, name):
    out = must(CORPUS / name)
    for line in SAMPLES[name]:
        assert line in out
    assert PASSWORD not in out
    assert "guest_OS_root_password" not in out
    svf_takes(tmp_path, out)


def test_no_sample_is_left_out():
    assert {p.name for p in CORPUS.iterdir()} == set(SAMPLES)


# The tables in the samples' comments.
@pytest.mark.parametrize("name, hosts", [
    ("linked-clone", "05 05 05 05 05 06 06 06 06 06 07 07 07 07 07 08 08 08 08 08"),
    ("pvrdma", "05 06 07 08 05 06 07 08"), ("sriov", "05 06 07 08 05 06 07 08"),
    ("sriov-gpu", "05 08 06 07 05 06 07 08")])
def test_ranges_unfold_as_the_toolkit_does(name, hosts):
    cluster = tool.Cluster(tool.read(CORPUS / f"cluster-{name}.conf"))
    assert [vm["host"] for vm in cluster.vms] == [
        f"vhpc-esx-{n}.hpc.vmware.com" for n in hosts.split()]


def test_a_range_gives_each_vm_its_name_and_address():
    vm = tool.Cluster(tool.read(CORPUS / "cluster-pvrdma.conf")).vms[7]
    assert (vm.name, vm["ip"]) == ("pvrdma-vm8", "172.1.10.8")


# ---- what is wrong ---------------------------------------------------------------

BAD = [
    ("", "line 1 column 1: there is no VM"),
    ("x: y\n", "line 1 column 1: [SECTION] is expected"),
    ("# c\n[B\n", "line 2 column 1: [NAME] is expected"),
    ("[B] x\n", "line 1 column 4: nothing is expected after ]"),
    ("[B]\n[B]\n", "line 2 column 1: [B] is there twice"),
    ("[DEFAULT]\n", "line 1 column 1: [DEFAULT]"),
    ("[B]\ncpu\n", "line 2 column 1: KEY: VALUE is expected"),
    ("[B]\ncpu: 1\nCPU: 2\n", "line 3 column 1: cpu is there twice"),
    (SECTION + VMS + "v: B C\n", "line 5 column 6: C is neither"),
    (SECTION + VMS + "v: B nic : 1\n", "line 5 column 6: there is no key nic"),
    (SECTION + VMS + "v: B cpu: four\n", "line 5 column 11: a number"),
    (SECTION + VMS + "v: B\n   cpu: x\n", "line 6 column 9: a number"),
    (SECTION + VMS + "v: B memory: 1,5\n", "an amount is expected"),
    (SECTION + VMS + "v: B linked: maybe\n", "yes or no is expected"),
    (SECTION + VMS + "v: B device: [__import__('os').system('id')]\n",
     "line 5 column 14: a list ['a', 'b'] is expected"),
    (SECTION + VMS + "v: B device: ['a' 'b']\n", "a list"),
    (SECTION + VMS + "v: B host: h{1:2}\n",
     "line 5 column 12: h{1:2} is a range, and the VM is none"),
    (SECTION + VMS + "v{1:3}: B host: h{1:4}\n", "4 values for 3 VMs"),
    (SECTION + VMS + "v{1:3}: B host: h{{1:2}}\n", "2 values don't divide 3 VMs"),
    (SECTION + VMS + "v{3:1}: B\n", "line 5 column 1: NAME{x:y}"),
    (SECTION + VMS + "v{{1:3}}: B\n", "NAME{x:y} is expected"),
    (SECTION + VMS + "v{1:99999}: B\n", "NAME{x:y} is expected"),
    (SECTION + VMS + "v{1:9}{1:9}: B\n", "NAME{x:y} is expected"),
    (SECTION + VMS + "v{1:6000}: B\nw{1:6000}: B\n",
     "line 6 column 1: more than 10000 VMs"),
    (SECTION + VMS + "v{1:3}: B\nv2: B\n", "VM v2 is there twice"),
    (SECTION + VMS + "v: B\nw: B datacenter: E\n",
     "line 6 column 18: datacenter E, but D before"),
    (SECTION + VMS + "v: B pf: 0000:3b:00:1 sriov_port_group: p\n",
     "line 5 column 10: "),
    (SECTION + VMS + "v: B pf: 0000:3b:00.10 sriov_port_group: p\n",
     'line 5 column 10: "0000:3b:00.10" is no PCI address'),
    (SECTION + VMS + "v: B pf: 0000:3b:00.1 sriov_port_group: p sriov_port_group: q\n",
     "line 5 column 10: 1 pf for 2 sriov_port_group: "),
    (SECTION + VMS + "v: B pf: 0000:3b:00.1 pf: x sriov_port_group: p sriov_port_group: q\n",
     "line 5 column 27: "),
    (SECTION + VMS + "v: B host: ${a\n", "{x:y} or {{x:y}} is expected in ${a"),
    (SECTION + VMS + "v{1:2}: B host: h${1:3}\n", "3 values for 2 VMs"),
    (SECTION + "[_DVS_]\nd: mtu: big\n" + VMS + "v: B\n",
     "line 5 column 9: a number"),
    (SECTION + VMS + "v: B mtu: 9000\n", "there is no key mtu"),
    (SECTION + "[_DVS_]\nd: port_group: p mtu: 900\n" + VMS + "v: B port_group: p\n",
     "vsphere.conf can't have what it says: vsphere.conf line 15: "),
    (SECTION + VMS + "v: B latency: low\n", "latency is high or normal"),
    (SECTION + "vm_folder: 50%\n" + VMS + "v: B\n", "line 4 column 14: %"),
    (SECTION + VMS + "v: B cpu_shares: 0\n",
     "line 5 column 18: cpu_shares is a number from 1 to 1000000, not 0"),
    (SECTION + VMS + "v: B memory_shares: 1000001\n", "memory_shares is a number"),
    (SECTION + VMS + "v: B cpu: 6 cores_per_socket: 4\n",
     "line 5 column 31: cores_per_socket 4 doesn't divide cpu 6"),
    (SECTION + VMS + "v/../x: B\n", "can't be the name of a node"),
    (SECTION + "cluster: a\"b\n" + VMS + "v: B\n",
     "line 4 column 10: a name with"),
    (SECTION + "cluster: a\a\n" + VMS + "v: B\n",
     "line 4 column 11: a control character (0x07)"),
    (SECTION + "[_SVS_]\ns: cpu: 1\n" + VMS + "v: B\n",
     "line 5 column 4: there is no key cpu of a switch"),
    (SECTION + VMS + "v: B memory: 0.76\n", "line 5 column 14: memory 0.76 leaves "
     "RealMemory=508, and slurm-vsphere needs 512"),
    # columns count bytes, also of a number that no C type holds
    (SECTION + VMS + "v: B domain: \u00e9 cpu: x\n", "line 5 column 22: a number"),
    (SECTION + VMS + "v: B cpu: " + "9" * 5000 + "\n", "line 5 column 11: a number"),
    (SECTION + VMS + "v{1:" + "9" * 5000 + "}: B\n", "NAME{x:y} is expected"),
    (SECTION + VMS + "v: B\n" + " " * tool.TEXT_MAX,
     "longer than 262144 bytes: this is no cluster file"),
]


@pytest.mark.parametrize("text, says", BAD, ids=range(len(BAD)))
def test_what_is_wrong_is_told_with_line_and_column(tmp_path, text, says):
    path = tmp_path / "cluster.conf"
    path.write_text(text, encoding="utf-8")
    code, out, err = run(path)
    assert (code, out) == (5, "")
    assert err.startswith(f"vhpc-import: {path}: ")
    assert says in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("name, why", [
    ("nonexistent", "No such file or directory"), (".", "Is a directory")])
def test_a_file_that_cant_be_read_is_named(tmp_path, name, why):
    path = tmp_path / name
    assert run(path) == (5, "", f"vhpc-import: {path}: {why}\n")


@pytest.mark.parametrize("words", [[], ["a", "b"], ["--jso"], ["-x", "a"]])
def test_a_wrong_command_line_ends_with_2(words):
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    if "-" not in str(words):
        assert err == "vhpc-import: one cluster file is expected " \
            "(-: standard input)\n"


# ---- what becomes of VMs ---------------------------------------------------------

DIFFER = SECTION + VMS + """\
a1: B sriov_port_group: x
a2: B sriov_port_group: y
b1: B sriov_port_group: x cpu: 4
a3: B port_group: z\r
a01: B sriov_port_group: x template:
"""


def test_vms_that_differ_are_partitions_of_their_own(imported):
    out = imported(DIFFER)
    assert "AdapterName=sriov Type=sriov Network=x\n" in out
    assert "AdapterName=sriov2 Type=sriov Network=y\n" in out
    assert "AdapterName=vmxnet3 Type=vmxnet3 Network=z\n" in out
    assert "#NodeName=a1,a01 CPUs=" in out
    assert "\nPartitionName=a-2 Adapter=sriov2 Template=t\n" in out
    assert "\nPartitionName=b Adapter=sriov Template=t\n" in out
    assert "\nPartitionName=a-3 Adapter=vmxnet3 Template=t\n" in out


def test_json_has_the_text_and_its_notes(imported):
    top = json.loads(imported(DIFFER, "--json"))
    assert "\nDatacenter=D\n" in top["conf"]
    assert len(top["notes"]) > 3
    assert "vCenter and" in top["notes"][0]
    assert set(top) == {"conf", "notes"}


def test_standard_input_is_a_file_too(imported):
    assert must("-", stdin=DIFFER.encode()) == imported(DIFFER)


# Each key of the toolkit's cpumem, latency and secure_boot maps to vsphere.conf.
HARDWARE = [
    ("cpu_reservation: yes memory_reservation: on port_group: p",
     " CPUReservation=full MemoryReservation=full\n"),
    ("cpu_reservation: no memory_reservation: 0 port_group: p", " Template=t\n"),
    # what is so anyway is not said
    ("memory_reservation: yes sriov_port_group: p", " Template=t\n"),
    ("cpu_reservation: yes memory_reservation: yes latency: high",
     " LatencySensitivity=high\n"),
    ("cpu_shares: 500 memory_shares: 1000000",
     " CPUShares=500 MemoryShares=1000000\n"),
    ("cpu: 8 cores_per_socket: 4", " CoresPerSocket=4\n"),
    ("cores_per_socket: 0", " Template=t\n"),
    ("secure_boot: off", " SecureBoot=no\n"),
    ("linked: yes", " Template=t Clone=linked\n"),
    ("linked: no instant: no", " Template=t\n"),
    ("instant: yes port_group: p", " Template=t Clone=instant\n"),
    ("instant: yes sriov_port_group: p", " Template=t\n"),
    ("instant: yes pvrdma_port_group: p", " Template=t\n"),
    ("secure_boot: ${s} cores_per_socket: ${c} cpu_shares: ${n}",
     " Template=t\n"),
]


@pytest.mark.parametrize("vm, line", HARDWARE, ids=[h[0] for h in HARDWARE])
def test_hardware_is_the_partitions(imported, tmp_path, vm, line):
    out = imported(f"{SECTION}{VMS}v: B {vm}\n")
    assert line in out
    noted = re.findall("^# note: (cpu_reservation|memory_reservation|cpu_shares|"
                       "memory_shares|secure_boot) (.*)", out, re.M)
    if "$" in vm:
        assert "# note: secure_boot ${s}: it is left out" in out
    else:
        assert not noted
    svf_takes(tmp_path, out)


def test_another_word_for_the_same_is_no_other_partition(imported):
    out = imported(SECTION + VMS + "v1: B secure_boot: yes\n"
                   "v2: B secure_boot: on\nv3: B secure_boot: no\n")
    assert "#NodeName=v[1-2] " in out
    assert "#NodeName=v3 " in out


CARDS = [
    # two PFs are two rails, found by the switch's uplinks
    ("v: B pf: 0000:3b:00.0 pf: 0000:5e:00.0 sriov_port_group: p sriov_port_group: p\n",
     "Network=p NICsPerNode=2\n",
     "# note: sriov_port_group p,p with pf 0000:3b:00.0,0000:5e:00.0: NICsPerNode=2 "),
    # of two port groups the first, and its switch's MTU
    ("v: B R1 R2\n", "Network=p NICsPerNode=2 MTU=9000\n", "port group, here p: "),
    ("v: B R2 R1\n", "Network=q NICsPerNode=2 MTU=4000\n", "port group, here q: "),
    # one PF for both, and one for two of three
    ("v: B pf: 0000:3b:00.0 pf: 0000:3b:00.0 sriov_port_group: p sriov_port_group: p\n",
     "Network=p NICsPerNode=2 DistinctPFs=no PF=0000:3b:00.0\n", "NICsPerNode=2"),
    ("v: B R1 R2 R1\n", "Network=p NICsPerNode=3 DistinctPFs=no MTU=9000\n", "NICsPerNode=3"),
    # a switch that is named goes before one that has the port group
    ("v: B port_group: r\n", "Network=r MTU=1500\n", "switch Ethernet: "),
    ("v: B port_group: r dvs_name: roce-b\n", "Network=r MTU=4000\n",
     "with these hosts' uplinks and MTU 4000; "),
    ("v: B port_group: r svs_name: other\n", "Network=r\n",
     "# note: svs_name other: "),
    # variables
    ("v: B sriov_port_group: ${pg} pf: ${pf} cpu: ${n}\n",
     "AdapterName=sriov Type=sriov Network=CHANGE-ME\n",
     "# note: cpu ${n}: it is left out: put in yours\n"),
    ("v{1:2}: B datastore: ${x}-{1:2} port_group: q\n", "Network=q\n",
     "# note: datastore ${x}-[1-2]: CHANGE-ME is in its place"),
]


@pytest.mark.parametrize("vm, adapter, note", CARDS, ids=[c[0] for c in CARDS])
def test_cards_are_rails_with_their_switchs_mtu(imported, vm, adapter, note):
    out = imported(SECTION + """\
[R1]
pf: 0000:3b:00.0
sriov_port_group: p
sriov_dvs_name: roce-a
[R2]
pf: 0000:5e:00.0
sriov_port_group: q
sriov_dvs_name: roce-b
[_DVS_]
roce-a: mtu: 9000
roce-b: mtu: 4000
Ethernet: port_group: r mtu: 1500
""" + VMS + vm)
    assert adapter in out
    assert note in out


def test_another_pf_is_another_adapter_of_sriov_alone(imported):
    card = "pf: 0000:3b:00.0 {0}: p\nb: B pf: 0000:5e:00.0 {0}: p\n"
    out = imported(SECTION + VMS + "a: B " + card.format("sriov_port_group"))
    assert "AdapterName=sriov Type=sriov Network=p PF=0000:3b:00.0\n" in out
    assert "AdapterName=sriov2 Type=sriov Network=p PF=0000:5e:00.0\n" in out
    assert imported(SECTION + VMS + "a: B " + card.format("port_group")).count(
        "AdapterName=") == 1


def test_names_keep_their_case(imported):
    out = imported("[B]\nTemplate: T\n" + VMS + "VM{1:2}: B\n")
    assert "\nPartitionName=VM Adapter=vmxnet3 Template=T\n" in out
    assert "#NodeName=VM[1-2] " in out


def test_bytes_of_any_encoding_come_out_as_they_went_in(imported, tmp_path):
    assert "# note: domain \u00c3\u00a9: " in imported(
        SECTION + VMS + "v: B domain: \u00e9\n")
    (tmp_path / "latin").write_bytes(
        (SECTION + VMS + "v: B domain: ").encode() + b"\xe9\n")
    assert "# note: domain \u00e9: " in must(tmp_path / "latin")


def test_without_svf_the_result_is_printed_with_a_warning(imported, tmp_path):
    whole = imported(DIFFER)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").symlink_to("/usr/bin/python3")
    assert run(tmp_path / "cluster.conf", path=tmp_path / "bin") == (
        0, whole, "vhpc-import: there is no svf on PATH: check what is printed "
        "with svf conf\n")


@pytest.mark.parametrize("names, lists", [
    # as Slurm writes them: zeros count, a kind comes where its first name did
    ("n1 n2 n3 x n5", "n[1-3,5],x"), ("n09 n10 n9", "n[09-10],n9"),
    ("a1.x1 a2.x1 a1.y", "a[1-2].x1,a1.y"), ("n3 n1 n3", "n[1,3]"),
    ("12345678901 12345678902", "12[345678901-345678902]"),
    ("['0000:3B:00.0'] a[1]", "['0000:3B:00.0'],a[1]"), ("", "")])
def test_names_become_a_host_list(names, lists):
    assert tool.host_list(names.split()) == lists


# ---- any text at all -------------------------------------------------------------

BEGINS = re.compile("#|$|VCenter=|VCenterUser=|VCenterPasswordFile=|Mode=observe$|"
                    "Datacenter=|Folder=|"
                    "Datastore=|VSphereCluster=|AdapterName=|PartitionName=")


def judge(text):
    """A text becomes lines of vsphere.conf and comments without a password, or an
    error: one line, with its place if the file can't be read."""
    try:
        cluster = tool.Cluster(text)
    except tool.Wrong as e:
        assert re.match(r"line [0-9]+ column [0-9]+: .", str(e)), str(e)
        return "unread"
    assert 0 < len(cluster.vms) <= tool.VMS_MAX
    assert all(vm.name for vm in cluster.vms)
    try:
        conf = tool.configuration(cluster)
    except tool.Wrong as e:
        assert str(e)
        return "refused"
    assert conf.endswith("\n")
    assert all(BEGINS.match(line) for line in conf.split("\n"))
    if text.count(PASSWORD) == 1 and \
            cluster.vms[0]["guest_password"] == PASSWORD:
        assert PASSWORD not in conf
    return "printed"


def mutations(rounds):
    """The samples with up to eight changes; the same ones each time."""
    rng = random.Random(18)
    seeds = [p.read_bytes().decode("latin-1") for p in sorted(CORPUS.iterdir())]
    for _ in range(rounds):
        s = rng.choice(seeds)
        for _ in range(rng.randint(1, 8)):
            at, other = rng.randint(0, len(s)), rng.choice(seeds)
            start = rng.randrange(len(other))
            s = rng.choice([
                s[:at] + chr(rng.randrange(256)) + s[at + 1:],
                s[:at] + rng.choice("{}[]'\",:0-%$=#;\n ") + s[at + 1:],
                s[:at] + s[at + rng.randint(1, 64):],
                s[:at] if rng.random() < .2 else s,
                s[:at] + other[start:start + rng.randint(1, 256)] + s[at:]])
        yield s


def test_the_corpus_is_read():
    for p in sorted(CORPUS.iterdir()):
        assert judge(tool.read(p)) == "printed"


def test_any_text_ends_in_a_configuration_or_an_error():
    ends = [judge(s) for s in mutations(10000)]
    # the mutations reach each end
    assert min(ends.count(e) for e in ("unread", "refused", "printed")) > 20
