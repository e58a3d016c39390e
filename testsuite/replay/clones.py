# SPDX-License-Identifier: GPL-2.0-or-later
"""What the specs of a clone must say of a recorded template's devices.

An edit of the first NIC says its type, its key, its network and the new address.
All else of a NIC as it was read belongs to the template: its port and the port's
cookie (vSphere API, DistributedVirtualSwitchPortConnection), its slot, its state.
"""

import reading

MAC = "00:50:56:10:00:01"       # as clone.c asks for
FORBIDDEN = {"portKey", "connectionCookie", "slotInfo", "connectable", "deviceInfo",
             "numaNode", "unitNumber", "controllerKey"}


def backing(e):
    """The NIC's network, without its port."""
    out = {"_typeName": reading.xsi_type(e)}
    for c in e:
        if c.tag == "port":
            port = {k: reading.text(c, k) for k in ("switchUuid", "portgroupKey")}
            out["port"] = {"_typeName": "DistributedVirtualSwitchPortConnection",
                           **{k: v for k, v in port.items() if v}}
        elif c.tag == "network":
            out["network"] = {"_typeName": "ManagedObjectReference",
                              "type": c.attrib["type"], "value": c.text}
        elif c.tag in ("deviceName", "opaqueNetworkId", "opaqueNetworkType"):
            out[c.tag] = c.text or ""
    return out


def device_list(vm):
    return reading.below(vm.value("config/hardware"), "device")


def first_nic(vm):
    return next((d for d in device_list(vm) if d.find("addressType") is not None),
                None)


def edit(vm, whole, mac=MAC):
    """The edit of the first NIC, [] if there is none. whole: with its network."""
    nic = first_nic(vm)
    if nic is None:
        return []
    device = {"_typeName": reading.xsi_type(nic), "key": reading.number(nic, "key"),
              "addressType": "manual", "macAddress": mac}
    if whole and nic.find("backing") is not None:
        device["backing"] = backing(nic.find("backing"))
    return [{"_typeName": "VirtualDeviceConfigSpec", "operation": "edit",
             "device": device}]


def disks(vm):
    return [reading.number(d, "key") for d in device_list(vm)
            if reading.xsi_type(d) == "VirtualDisk"]


def removals(vm):
    return [{"_typeName": "VirtualDeviceConfigSpec", "operation": "remove",
             "device": {"_typeName": reading.xsi_type(d),
                        "key": reading.number(d, "key")}}
            for d in device_list(vm)
            if reading.xsi_type(d) == "VirtualSriovEthernetCard"]


def names_in(value):
    """All members' names at any depth."""
    if isinstance(value, dict):
        return set(value).union(*map(names_in, value.values()))
    return set().union(*map(names_in, value)) if isinstance(value, list) else set()


def split(changes):
    """(what is said of devices that exist, the devices that are new)"""
    return ([c for c in changes if c["operation"] != "add"],
            [c for c in changes if c["operation"] == "add"])


def new_nic(path, changes, added):
    """One SR-IOV NIC, with a key below 0, after all else."""
    if not added:
        return [] if not [c for c in changes if c["operation"] == "add"] else \
            [f"{path}: a NIC is added"]
    last = changes[-1] if changes else {}
    good = last.get("operation") == "add" and last["device"]["key"] < 0 and \
        last["device"]["_typeName"] == "VirtualSriovEthernetCard" and \
        len(split(changes)[1]) == 1
    return [] if good else [f"{path}: its one new SR-IOV NIC is not the last change"]


def body(path, changes, want, added):
    have, _ = split(changes)
    wrong = [] if have == want else [f"{path}: {have!r}, expected {want!r}"]
    wrong += [f"{path}: {name} is sent"
              for name in sorted(names_in(changes) & FORBIDDEN)]
    return wrong + new_nic(path, changes, added)


def compare(template, in_inventory, got):
    """Lines that say what is wrong in the bodies of one template. in_inventory: the
    VM as updates showed it, or None."""
    path = f"clone {template.moid}"
    spec = {form: got[form]["spec"] for form in
            ("whole", "plain", "reconfigure", "address", "instant")}
    gone = removals(in_inventory) if in_inventory else []
    config = {form: spec[form]["config"].get("deviceChange", [])
              for form in ("whole", "plain")}
    wrong = body(path + ".whole", config["whole"], edit(template, True), True)
    wrong += body(path + ".plain", config["plain"], edit(template, True), False)
    wrong += body(path + ".reconfigure", spec["reconfigure"]["deviceChange"], gone,
                  True)
    wrong += body(path + ".address", spec["address"]["deviceChange"],
                  edit(template, False) + gone, True)
    wrong += body(path + ".instant", spec["instant"]["location"]["deviceChange"],
                  edit(template, True), False)
    for form in ("whole", "plain"):
        have = [d["diskId"] for d in spec[form]["location"]["disk"]]
        if have != disks(template):
            wrong.append(f"{path}.{form}: disks {have}, expected {disks(template)}")
        if spec[form]["powerOn"] or spec[form]["template"]:
            wrong.append(f"{path}.{form}: it is powered on, or a template")
    return wrong
