# SPDX-License-Identifier: GPL-2.0-or-later
"""svf check where one code has several causes, each with a way out of its own,
and where a fault is in vsphere.conf or in what was done, not in a setting."""

import pytest

from cluster import Cluster, wait_for
from daemons import USERNAME
from test_check import findings
from worlds import host, template, world

T = "rhel9-ofed"
ADMIN = {"user": USERNAME, "role": "Admin"}
ESX1 = "esx01.example.org"
LINES = ["VSphereCluster=HPC1 ResourcePool=slurm",
         "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
         "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed"]


def of_ours(cluster):
    """The account may everything in most of these: that is not their subject."""
    return [f for f in findings(cluster) if f["code"] != "rights-excess"]


def alone(cluster, code, what, severity="hard", but=()):
    """It is found, and nothing else; svf check says so in its exit status."""
    def look():
        got = of_ours(cluster)
        got = [f for f in got if (f["code"], f["object"]) not in but]
        assert [(f["code"], f["object"]) for f in got] == [(code, what)]
        return got
    f = wait_for(f"{code} of {what}, alone", 30, look)[0]
    assert f["severity"] == severity
    assert cluster.run("svf", "check", code).returncode == (severity == "hard")
    assert f["actual"] != f["expected"] and f["reason"]
    return f


def sound(cluster):
    def look():
        assert of_ours(cluster) == []
        return True
    wait_for("nothing is found", 40, look)


def conf(*lines, **top):
    return {"ShutdownGrace": 1, "BootTimeout": 30,
            "lines": list(lines or LINES), **top}


def make_cluster():
    c = Cluster(inventory=world(hosts=3, vfs=2), nodes=2)
    c.vsphere = conf()
    return c


# ---- why a template can't serve -------------------------------------------------

def there(cluster):
    return [v for v in cluster.state()["vms"] if v["name"] == T]


def absent(cluster):
    cluster.do("destroyVm", vm=T)
    wait_for("it is gone", 10, lambda: not there(cluster))


def replace(cluster, **over):
    if there(cluster):
        absent(cluster)
    cluster.do("addVm", spec={**template(T), "host": ESX1, **over})


def view_only(cluster, entity):
    cluster.do("permissions", permissions=[
        ADMIN, {"user": USERNAME, "role": "View", "entity": entity}])


def unreadable(cluster):
    view_only(cluster, "DC0/vm/" + T)


def no_template(cluster):
    cluster.do("markVm", vm=T)


def with_tpm(cluster):
    replace(cluster, tpm=True)


def encrypted(cluster):
    replace(cluster, encrypted=True)


CAUSES = [
    (absent, "vCenter has no VM template of that name in datacenter \"DC0\"",
     [f"govc find / -type m -name '{T}'"]),
    (unreadable, "cannot be read: the account of VCenterUser= needs Read-only",
     [f"govc permissions.set -principal '{USERNAME}' -role ReadOnly "
      "-propagate=true /"]),
    (no_template, "the VM of that name is not a template",
     [f"govc vm.markastemplate {T}"]),
    (with_tpm, "the template has a virtual TPM",
     [f"govc vm.markasvm -host HOST {T}", f"govc device.remove -vm {T} DEVICE",
      f"govc vm.markastemplate {T}"]),
    (encrypted, "the template is encrypted",
     [f"govc vm.markasvm -host HOST {T}", "an unencrypted one for it and its",
      f"govc vm.markastemplate {T}"]),
]


@pytest.mark.parametrize("spoil, says, commands", CAUSES,
                         ids=[c[0].__name__ for c in CAUSES])
def test_each_cause_of_a_missing_template_has_its_own_way_out(
        cluster, spoil, says, commands):
    sound(cluster)
    spoil(cluster)
    try:
        # Who may not read it may not clone it either.
        f = alone(cluster, "template-missing", T,
                  but=[("rights-missing", T)] * (spoil is unreadable))
        assert says in f["actual"] and f["expected"] == "a template that can be read"
        at = [f["fix"].find(c) for c in commands]
        assert at == sorted(at) and min(at) >= 0, f["fix"]
        # The commands for another cause would not fix this one.
        others = {c for _, _, cs in CAUSES for c in cs} - set(commands)
        assert not [c for c in others if c in f["fix"]]
    finally:
        cluster.do("permissions", permissions=[])
        replace(cluster)
    sound(cluster)


# ---- hosts ----------------------------------------------------------------------

def test_a_host_that_cannot_be_read_is_named_with_what_is_lacking(cluster):
    sound(cluster)
    h = "esx02.example.org"
    view_only(cluster, "DC0/host/HPC1/" + h)
    try:
        f = alone(cluster, "host-unread", h, "unknown")
        assert f["actual"] == "not read: power policy, product, time servers, PFs"
        assert f["fix"] == f"govc permissions.set -principal '{USERNAME}' " \
            "-role ReadOnly -propagate=true /"
    finally:
        cluster.do("permissions", permissions=[])
    sound(cluster)


def test_a_switch_whose_mtu_no_adapter_says_is_odd_on_one_host(fresh):
    c = fresh(nodes=2, inventory=world(hosts=3, vfs=2), vsphere=conf(
        *(x.replace(" MTU=9000", "") for x in LINES)))
    sound(c)
    h = "esx03.example.org"
    c.do("setHost", host=h, set={"switch": "dvs-roce", "mtu": 1500})
    f = alone(c, "mtu-odd", h, "warning")
    assert f["actual"] == "MTU 1500 on dvs-roce"
    assert f["expected"] == "9000, as on 2 hosts"
    assert f["fix"] == "govc dvs.change -mtu 9000 dvs-roce"
    c.do("setHost", host=h, set={"switch": "dvs-roce", "mtu": 9000})
    sound(c)


# ---- vsphere.conf ---------------------------------------------------------------

@pytest.mark.parametrize("segment, where, kind", [
    ("seg-rdma", {"switch": "dvs-roce"}, "an NSX segment"),
    ("seg-old", {}, "an opaque network")], ids=["segment", "opaque"])
def test_an_rdma_adapter_on_a_network_of_nsx(fresh, segment, where, kind):
    w = world(hosts=2, vfs=2)
    w["datacenters"][0]["networks"].append(
        {"name": segment, "nsx": "overlay", **where})
    c = fresh(nodes=2, inventory=w, vsphere=conf())
    sound(c)
    c.change_vsphere("Network=SRIOV-ROCE-PG", f"Network={segment}")
    f = alone(c, "adapter-nsx", "sriov-roce")
    assert f["actual"] == kind and "port group" in f["expected"]
    c.change_vsphere(f"Network={segment}", "Network=SRIOV-ROCE-PG")
    sound(c)


def test_a_port_group_that_lets_vms_take_others_macs(fresh):
    w = world(hosts=2, vfs=2)
    w["datacenters"][0]["networks"].append(
        {"name": "loose", "switch": "dvs-roce", "accept":
         "macChanges,allowPromiscuous"})
    c = fresh(nodes=2, inventory=w, vsphere=conf())
    sound(c)
    c.change_vsphere("Network=SRIOV-ROCE-PG", "Network=loose")
    f = alone(c, "network-policy", "sriov-roce", "warning")
    assert f["actual"] == "MAC address changes, promiscuous mode accepted"
    assert f["expected"] == "rejected" and "loose" in f["fix"]
    c.wait_job(c.sbatch("-N1", script="true"), 60)
    c.change_vsphere("Network=loose", "Network=SRIOV-ROCE-PG")
    sound(c)


def test_another_vm_has_a_nodes_mac(fresh):
    c = fresh(nodes=2, inventory=world(hosts=2, vfs=2), vsphere=conf())
    sound(c)
    c.wait_job(c.sbatch("-N1", "-w", "vm001", script="true"), 60)
    mac = next(card["mac"] for v in c.state()["vms"] if v["name"] == "vm001"
               for card in v["cards"])
    c.do("addVm", spec={"name": "copy", "folder": "", "host": ESX1,
                        "numCPUs": 1, "memoryMB": 512, "cards": [
                            {"type": "vmxnet3", "network": "VM-PG",
                             "mac": mac}]})
    f = alone(c, "mac-shared", "vm001", "warning")
    copy = next(v["moid"] for v in c.state()["vms"] if v["name"] == "copy")
    assert f["actual"] == f"VM {copy} has {mac} too" and copy in f["fix"]
    c.do("destroyVm", vm="copy")
    sound(c)


def test_more_nodes_than_vfs(fresh):
    c = fresh(nodes=4, inventory=world(hosts=[host(ESX1, 3)]),
              vsphere=conf(AllowMoreNodesThanVFs="yes"))
    sound(c)
    c.change_vsphere("AllowMoreNodesThanVFs=yes", "AllowMoreNodesThanVFs=no")
    f = alone(c, "more-nodes-than-vfs", "sriov-roce")
    assert "4 nodes of adapter sriov-roce for 3 VFs" in f["actual"]
    assert f["fix"] == "vsphere.conf: AllowMoreNodesThanVFs=yes"
    job = c.sbatch("-N1", script="true")
    wait_for("no job begins", 20, lambda: "4 nodes of adapter" in
             c.svf("why", str(job))["text"])
    c.change_vsphere("AllowMoreNodesThanVFs=no", "AllowMoreNodesThanVFs=yes")
    c.wait_job(job, 60)


# ---- what was done --------------------------------------------------------------

def test_the_hours_vms_are_used_up(fresh):
    c = fresh(nodes=2, inventory=world(hosts=1, vfs=2), vsphere=conf(
        MaxClonesPerHour=1))
    sound(c)
    c.wait_job(c.sbatch("-N1", script="true"), 60)
    f = alone(c, "clones-per-hour", "MaxClonesPerHour")
    assert f["actual"] == "reached" and "Retention=warm" in f["fix"]
    c.change_vsphere("MaxClonesPerHour=1", "MaxClonesPerHour=9")
    sound(c)
