# SPDX-License-Identifier: GPL-2.0-or-later
"""The vCenter client: what it tells of clusters' DRS and HA and of the
account's rights, and that one which may only read sends nothing."""

import copy

import pytest

from vclive import WORLD, start  # noqa: F401  (a fixture)

USER = "slurm@vsphere.local"


def guards(live):
    live.tell("slow")
    return live.wait("slow")["clusters"][0]


def test_drs_and_ha_are_told_on_each_beat_with_overrides(start):  # noqa: F811
    sim = start()
    live = start.live(sim).up()
    g = guards(live)
    assert (g["drs"], g["ha"], g["overrides"]) == ("no", "no", [])
    for drs, told in (("manual", "no"), ("partiallyAutomated", "yes"),
                      ("fullyAutomated", "yes")):
        sim.do("cluster", cluster="HPC1", drs=drs)
        assert guards(live)["drs"] == told
    sim.do("override", vm="foreign1", drs="manual", haPriority="high")
    moid = sim.vm("foreign1")["moid"]
    assert guards(live)["overrides"] == [   # HA is off
        {"vm": moid, "drs": "no", "ha": "unknown"}]
    sim.do("cluster", cluster="HPC1", ha=True)
    assert guards(live)["overrides"] == [
        {"vm": moid, "drs": "no", "ha": "yes"}]
    sim.do("override", vm="foreign1", drs="disabled")
    assert guards(live)["overrides"] == [
        {"vm": moid, "drs": "no", "ha": "unknown"}]
    assert guards(live)["ha"] == "yes"      # not said: medium
    sim.do("cluster", cluster="HPC1", haHosts="disabled")
    assert guards(live)["ha"] == "no"
    sim.do("cluster", cluster="HPC1", haHosts="enabled")
    assert guards(live)["ha"] == "yes"
    sim.do("cluster", cluster="HPC1", haPriority="disabled")
    assert guards(live)["ha"] == "no"


ROLES = {
    "folder": ["VirtualMachine.*", "Resource.*"],
    "pool": ["Resource.AssignVMToPool"],
    "template": ["VirtualMachine.Provisioning.DeployTemplate"],
    "store": ["Datastore.AllocateSpace"], "network": ["Network.Assign"],
}
PERMISSIONS = [
    {"user": USER, "role": "ReadOnly"},
    {"user": USER, "entity": "DC0/vm/slurm", "role": "folder"},
    {"user": USER, "entity": "DC0/host/HPC1/Resources/slurm", "role": "pool"},
    {"user": USER, "entity": "DC0/vm/rhel9", "role": "template"},
    {"user": USER, "entity": "DC0/datastore/vsan", "role": "store"},
    {"user": USER, "entity": "DC0/network/VM-PG", "role": "network"},
    {"user": USER, "entity": "DC0/network/ROCE-PG", "role": "network"},
]


@pytest.fixture
def limited(start):  # noqa: F811
    world = copy.deepcopy(WORLD)
    world.update(roles=ROLES, permissions=PERMISSIONS)
    sim = start(world)
    live = start.live(sim, network=["ROCE-PG"]).up()

    def told(permissions=PERMISSIONS, **roles):
        sim.do("permissions", roles={**ROLES, **roles},
               permissions=permissions)
        live.tell("slow")
        return live.wait("slow")
    return sim, live, told


def test_each_missing_right_is_named_with_what_it_is_missing_on(limited):
    _, _, told = limited
    slow = told()
    assert slow["rights_known"] and slow["lacks"] == [] and not slow["excess"]
    for role, key, name in (("pool", "ResourcePool", "slurm"),
                            ("template", "Template", "rhel9"),
                            ("store", "Datastore", "vsan")):
        assert told(**{role: []})["lacks"] == [
            {"key": key, "name": name, "privs": ROLES[role][0]}]
    assert told(network=[])["lacks"] == [
        {"key": "Network", "name": "ROCE-PG", "privs": "Network.Assign"},
        {"key": "Template", "name": "rhel9", "privs":
         "Network.Assign on the network of its own NIC"}]
    lack, = told(folder=["VirtualMachine.Config.*", "Resource.*",
                         "VirtualMachine.Inventory.*"])["lacks"]
    assert lack == {"key": "Folder", "name": "slurm", "privs":
                    "VirtualMachine.Interact.PowerOn, "
                    "VirtualMachine.Interact.PowerOff"}


def test_rights_that_are_lacking_are_asked_for_until_they_are_there(limited):
    _, live, told = limited
    live.tell("calm 2")
    told()                      # all is well
    assert told(pool=[])["lacks"] == []
    live.tell("calm 0")
    assert told(pool=[])["lacks"] != []
    live.tell("calm 2")
    assert told()["lacks"] == []


def test_rights_in_excess_are_told_where_they_come_from(limited):
    _, _, told = limited
    admin = [{**PERMISSIONS[0], "role": "big"}] + PERMISSIONS[1:]
    slow = told(admin, big=["VirtualMachine.Interact.PowerOff", "Host.*"])
    assert slow["lacks"] == [] and slow["excess"] == [
        {"key": "", "name": "", "privs": "VirtualMachine.Interact.PowerOff, "
         "Host.Config.Maintenance"}]
    dc = PERMISSIONS + [{"user": USER, "entity": "DC0", "role": "dc"}]
    slow = told(dc, dc=["VirtualMachine.Inventory.Delete"],
                folder=ROLES["folder"] + ["Authorization.ModifyPermissions"])
    assert slow["lacks"] == [] and slow["excess"] == [
        {"key": "Datacenter", "name": "DC0",
         "privs": "VirtualMachine.Inventory.Delete"},
        {"key": "Folder", "name": "slurm",
         "privs": "Authorization.ModifyPermissions"}]
    # A pool inherits from its cluster, and that from its hosts' folder.
    hosts = PERMISSIONS + [{"user": USER, "entity": "DC0/host", "role": "h"}]
    slow = told(hosts, h=["Host.*"],
                pool=ROLES["pool"] + ["Host.Config.Maintenance"])
    assert slow["excess"] == [{"key": "ResourcePool", "name": "slurm",
                               "privs": "Host.Config.Maintenance"}]


def test_rights_that_cannot_be_asked_for_are_unknown(limited):
    sim, live, _ = limited
    sim.fault(on="request", method="HasUserPriv*", count=1, fault={
        "_typeName": "NoPermission", "privilegeId": "System.View",
        "object": {"_typeName": "ManagedObjectReference", "type": "Folder",
                   "value": "group-d1"}})
    live.tell("slow")
    assert not live.wait("slow")["rights_known"]
    live.tell("slow")
    assert live.wait("slow")["rights_known"]
    live.quiet(0.2, "down")


@pytest.mark.parametrize("command", [
    "clone n1 template=0", "reconfigure {vm} memory_mb=2048",
    "power_on {vm}", "power_off {vm}", "shutdown {vm}", "destroy {vm}",
    "relocate {vm} host=host-1", "cancel task-1"])
def test_a_client_that_may_only_read_sends_nothing(start,  # noqa: F811
                                                    command):
    sim = start()
    live = start.live(sim, read_only=1).up()
    live.tell(command.format(vm=sim.vm("foreign1")["moid"]))
    e = live.wait("sent")
    assert e["id"] < 0 and e["code"] == "state"
    assert "nothing may be changed" in e["text"]
    assert sim.ask("counters")["mutating"] == 0
    assert sim.calls("CancelTask") == 0
