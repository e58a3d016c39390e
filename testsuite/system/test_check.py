# SPDX-License-Identifier: GPL-2.0-or-later
"""svf check: each fault of a site's set-up is found by its own code, on its own
object, with the command that fixes it, and by no other. The finding goes when the
fault is fixed. Hosts that fail a hard check get no job."""

import json

import pytest

from cluster import Cluster, wait_for
from daemons import USERNAME
from worlds import PF0, ROCE, world
from test_preflight import LEAST, ROLES

H = "esx02.example.org"
T = "rhel9-ofed"


def make_cluster():
    c = Cluster(inventory=world(hosts=4, vfs=4, roles=ROLES,
                                permissions=LEAST), nodes=6)
    c.vsphere = {"ShutdownGrace": 1, "BootTimeout": 30, "lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
        "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed "
        "LatencySensitivity=high NumaAffinity=pf"]}
    c.slurm = {"SuspendTimeout": 3}
    return c


def findings(cluster, *args):
    r = cluster.run("svf", "--json", "check", *args)
    assert r.returncode in (0, 1), r.stderr
    doc = json.loads(r.stdout)
    hard = [f for f in doc["findings"] if f["severity"] == "hard"]
    assert args or r.returncode == (1 if hard else 0)
    return doc["findings"]


def test_a_sound_site_has_nothing_to_mend(cluster):
    assert findings(cluster) == []
    r = cluster.run("svf", "check")
    assert r.returncode == 0 and "0 findings, 4 hosts" in r.stdout


# ---- faults -----------------------------------------------------------------

def on_host(**change):
    return {"op": "setHost", "host": H, "set": change}


def on_template(**change):
    return {"op": "setVm", "vm": T, "setVm": change}


def roles_without(*privs):
    return {k: [p for p in v if p not in privs] for k, v in ROLES.items()}


def rights(roles=None, permissions=None):
    return {"op": "permissions", "roles": roles or ROLES,
            "permissions": permissions or LEAST}


SOUND = rights()
ROOT = [{"user": USERNAME, "role": "Root"}] + LEAST[1:]
NIC = {"pci": PF0}
# code, object, spoil, repair, in the command
FAULTS = [
    ("vf-off", H, on_host(**NIC, enabled=False), on_host(**NIC, enabled=True),
     f"-host {H} system module parameters set -a -m nmlx5_core "
     "-p max_vfs=4\n"),
    ("vf-incapable", H, on_host(**NIC, capable=False),
     on_host(**NIC, capable=True),
     f"mlxconfig -y -d {PF0} set SRIOV_EN=1 NUM_OF_VFS=5\n"),
    ("vf-inactive", H, on_host(**NIC, active=False),
     on_host(**NIC, active=True), "govc host.shutdown -r " + H),
    ("vf-count", H, on_host(**NIC, max=4), on_host(**NIC, max=16),
     f"mlxconfig -y -d {PF0} set SRIOV_EN=1 NUM_OF_VFS=5"),
    ("vf-fewer", H, on_host(**NIC, requested=6), on_host(**NIC, requested=0),
     "govc host.shutdown -r " + H),
    ("vf-lost", H, {"op": "setVfs", "host": H, "pci": PF0, "vfs": 2},
     {"op": "setVfs", "host": H, "pci": PF0, "vfs": 4}, "-p max_vfs=4\n"),
    ("pf-changed", H,
     {"op": "renumberPf", "host": H, "pci": PF0, "newPci": "0000:5e:00.0"},
     {"op": "renumberPf", "host": H, "pci": "0000:5e:00.0", "newPci": PF0},
     "svf host resume " + H),
    ("uplink-missing", H, on_host(**NIC, uplink=False),
     on_host(**NIC, uplink=True),
     f"govc dvs.add -dvs dvs-roce -pnic vmnic4 {H}"),
    ("network-missing", H, on_host(switch="dvs-roce", member=False),
     on_host(switch="dvs-roce", member=True),
     f"govc dvs.add -dvs dvs-roce -pnic vmnic4 {H}"),
    ("link-down", H, on_host(**NIC, link=False), on_host(**NIC, link=True),
     f"-host {H} network nic up -n vmnic4"),
    ("mtu", H, on_host(switch="dvs-roce", mtu=1500),
     on_host(switch="dvs-roce", mtu=9000),
     "govc dvs.change -mtu 9000 dvs-roce"),
    ("datastore-missing", H, on_host(datastore="vsan", mounted=False),
     on_host(datastore="vsan", mounted=True), "-rescan"),
    ("power-policy", H, on_host(power="dynamic"), on_host(power="static"),
     "-o /Power/CpuPolicy -s 'High Performance'"),
    ("host-clock", H, on_host(ntp=[]), on_host(ntp=["ntp.example.org"]),
     f"govc host.date.change -host {H} -server"),
    ("host-reboot", H, on_host(reboot=True), on_host(reboot=False),
     "govc host.shutdown -r " + H),
    ("esxi-odd", H, on_host(build="1"), on_host(build="24022510"),
     "software profile update"),
    ("esxi-old", H, on_host(apiVersion="6.7.0"), on_host(apiVersion="8.0.3"),
     "software profile update"),
    ("host-memory", H, on_host(memoryMB=1024), on_host(memoryMB=131072),
     "RealMemory="),
    ("host-cores", H, on_host(cores=2), on_host(cores=32), "CPUs=1"),
    ("numa-unknown", H, on_host(numaPci=False), on_host(numaPci=True),
     "NumaAffinity=none"),
    ("driver-odd", H, on_host(**NIC, driverVersion="4.24.0.7"),
     on_host(**NIC, driverVersion="4.23.0.66"), "software vib update"),
    ("firmware-odd", H, on_host(**NIC, firmware="22.40.1000"),
     on_host(**NIC, firmware="22.39.2048"), f"mlxfwmanager -y -d {PF0}"),
    ("template-hardware", T, on_template(hardware="vmx-9"),
     on_template(hardware="vmx-20"), f"govc vm.upgrade -vm {T} -version 14"),
    ("template-guest", T, on_template(guestId="windows2022srvNext_64Guest"),
     on_template(guestId="rhel9_64Guest"), f"govc vm.change -vm {T} -g"),
    ("template-nic", T, on_template(card="sriov", network=ROCE),
     on_template(card=""), f"govc device.remove -vm {T}"),
    ("template-hot-add", T, on_template(hotAdd=True),
     on_template(hotAdd=False), "-memory-hot-add-enabled=false"),
    ("template-snapshot", T, on_template(snapshot=True),
     on_template(snapshot=False), f"govc snapshot.remove -vm {T}"),
    ("template-tools", T, on_template(tools=False), on_template(tools=True),
     "open-vm-tools"),
    ("template-missing", T, {"op": "markVm", "vm": T},
     {"op": "markTemplate", "vm": T}, f"govc vm.markastemplate {T}"),
    ("datastore-away", "vsan",
     {"op": "setStore", "datastore": "vsan", "accessible": False},
     {"op": "setStore", "datastore": "vsan", "accessible": True},
     "govc datastore.info vsan"),
    ("datastore-room", "vsan",
     {"op": "setFree", "datastore": "vsan", "freeGB": 30},
     {"op": "setFree", "datastore": "vsan", "freeGB": 15000},
     "govc datastore.info vsan"),
    ("pool-room", "slurm", {"op": "limitPool", "cluster": "HPC1",
                            "name": "slurm", "memoryMB": 500},
     {"op": "limitPool", "cluster": "HPC1", "name": "slurm"},
     "govc pool.change -mem.limit -1 -cpu.limit -1 "
     "/DC0/host/HPC1/Resources/slurm"),
    ("pool-nodes", "slurm", {"op": "limitPool", "cluster": "HPC1",
                             "name": "slurm", "memoryMB": 6000},
     {"op": "limitPool", "cluster": "HPC1", "name": "slurm"},
     "govc pool.change -mem.limit -1 -mem.expandable=true "
     "/DC0/host/HPC1/Resources/slurm"),
    ("drs", "HPC1", {"op": "cluster", "cluster": "HPC1",
                     "drs": "fullyAutomated"},
     {"op": "cluster", "cluster": "HPC1", "drs": "manual"},
     "govc cluster.change -drs-mode manual /DC0/host/HPC1"),
    ("ha", "HPC1", {"op": "cluster", "cluster": "HPC1", "ha": True},
     {"op": "cluster", "cluster": "HPC1", "ha": False},
     "govc cluster.change -ha-enabled=false /DC0/host/HPC1"),
    ("dpm", "HPC1", {"op": "cluster", "cluster": "HPC1",
                     "dpm": "automated"},
     {"op": "cluster", "cluster": "HPC1", "dpm": ""}, "Power Management"),
    ("networks-apart", "sriov-roce", on_host(mgmt=ROCE),
     on_host(mgmt="VM-PG"), "govc dvs.portgroup.add -dvs dvs-roce"),
    ("networks-apart", "sriov-roce",
     on_template(card="vmxnet3", network=ROCE), on_template(card=""),
     f"govc vm.network.change -vm {T} -net"),
    ("rights-missing", "slurm", rights(roles_without(
        "VirtualMachine.Interact.PowerOff")), SOUND,
     "govc role.update -a ROLE VirtualMachine.Interact.PowerOff"),
    ("rights-excess", USERNAME,
     rights({**ROLES, "Root": ["Host.Config.Maintenance"]}, ROOT), SOUND,
     f"-principal '{USERNAME}' -role ReadOnly -propagate=true /"),
    ("rights-excess", USERNAME,
     rights({**ROLES, "Dc": ["VirtualMachine.Inventory.Delete"]},
            LEAST + [{"user": USERNAME, "entity": "DC0", "role": "Dc"}]),
     SOUND, f"-principal '{USERNAME}' -role ReadOnly -propagate=true /DC0"),
]
HARD = {"vf-off", "vf-incapable", "vf-inactive", "uplink-missing", "link-down", "mtu",
        "datastore-missing", "esxi-old", "pf-changed", "template-hardware",
        "template-nic", "template-missing", "datastore-away", "pool-room",
        "drs", "ha", "rights-missing"}


OTHER_LINES = {"pf-changed", "rights-missing",
               "host-memory"}   # twice: the next beat knows the figure better


def told(cluster, code, what):
    """How often it was said to have come, and to have gone."""
    log = cluster.ctld_log()
    return (log.count(f"check={code} {what}"),
            log.count(f"check={code} resolved: {what}"))


@pytest.mark.parametrize("code, what, spoil, mend, command", FAULTS,
                         ids=[f[0] for f in FAULTS])
def test_a_fault_is_found_by_its_code_alone(cluster, code, what, spoil, mend,
                                            command):
    wait_for("nothing is wrong before", 20, lambda: findings(cluster) == [])
    came, gone = told(cluster, code, what)
    cluster.do(**spoil)
    try:
        wait_for("something is found", 20, lambda: findings(cluster))
        found = findings(cluster)
        assert [(f["code"], f["object"]) for f in found] == [(code, what)]
        f = found[0]
        assert f["severity"] == ("hard" if code in HARD else "warning")
        assert command in f["fix"]
        assert f["actual"] != f["expected"] and f["reason"]
        if f["object_type"] == "PF":
            assert f["pf"].startswith("0000:")
        assert cluster.run("svf", "check", code).returncode == \
            (code in HARD)
        assert cluster.run("svf", "check", "--strict", what).returncode == 1
        assert cluster.run("svf", "check", "no-such").returncode == 2
    finally:
        cluster.do(**mend)
    wait_for("it is mended", 20, lambda: findings(cluster) == [])
    # Those of the preflight, and drift, have lines of their own.
    if what in (H, T, "vsan", "slurm") and code not in OTHER_LINES:
        assert told(cluster, code, what) == (came + 1, gone + 1)
