# SPDX-License-Identifier: GPL-2.0-or-later
"""What the product must find in a recording of `govc object.save`, read from the
recording's XML alone.

Nothing here is shared with the converter or with the product. The sources are the
vSphere API's description of each property and doc/dev/decisions.md. A field of
which only bounds are known is a pair (least, most).
"""

import pathlib
import xml.etree.ElementTree as ET

MB = 1 << 20
NIC_KINDS = {"VirtualSriovEthernetCard": "sriov", "VirtualVmxnet3": "vmxnet3",
              "VirtualVmxnet3Vrdma": "pvrdma"}
PASSTHROUGH_KINDS = {
    "VirtualPCIPassthroughDeviceBackingInfo": ("fixed", None),
    "VirtualPCIPassthroughDynamicBackingInfo": ("dynamic", "customLabel"),
    "VirtualPCIPassthroughDvxBackingInfo": ("dvx", "deviceClass"),
    "VirtualPCIPassthroughVmiopBackingInfo": ("vgpu", "vgpu")}
# Broadcom KB 315655: the newest virtual hardware of an ESXi release.
UPDATE_2_OF_67 = 13006603    # it calls itself 6.7.0, and has vmx-15
NEWEST_HARDWARE = {"6.5": 13, "6.7.0": 14, "7.0.0": 17, "7.0.1": 18, "7.0.2": 19,
                   "7.0.3": 19, "8.0.0": 20, "8.0.1": 20, "8.0.2": 21, "8.0.3": 21,
                   "9.0.0": 22}


def xsi_type(e):
    if e is None:
        return ""
    for key, value in e.attrib.items():
        if key.startswith("{http://www.w3.org/2001/XMLSchema-instance}"):
            return value.split(":")[-1]
    return ""


def text(e, path, otherwise=""):
    """The text at a path below e; e may be None."""
    found = e.find(path) if e is not None else None
    return otherwise if found is None else (found.text or "")


def number(e, path, otherwise=0):
    return int(text(e, path) or otherwise)


def yes(e, path):
    return text(e, path) in ("true", "1")


def below(e, path):
    return [] if e is None else e.findall(path)


class Thing:
    """A recorded object: its propSet by name."""

    def __init__(self, file):
        root = ET.parse(file).getroot()
        self.moid = root.findtext("obj").strip()
        self.of = {p.findtext("name"): p.find("val") for p in root.findall("propSet")}
        self.hidden = {m.findtext("path"): xsi_type(m.find("fault/fault"))
                       for m in root.findall("missingSet")}

    def value(self, path):
        first, _, rest = path.partition("/")
        root = self.of.get(first)
        return root if not rest or root is None else root.find(rest)

    def text(self, path, otherwise=""):
        e = self.value(path)
        return otherwise if e is None else (e.text or "").strip()

    def references(self, name):
        return [(e.text or "").strip() for e in below(self.value(name), "*")]

    def option(self, key):
        for o in below(self.value("config"), "extraConfig"):
            if text(o, "key") == key:
                return text(o, "value")
        return ""


def things(directory, kind):
    return [Thing(f) for f in sorted(pathlib.Path(directory).iterdir())
            if f.suffix == ".xml" and f.name.split("-")[1] == kind]


# ---- hosts ----------------------------------------------------------------------

def unsigned(e, path):
    """PCI ids are shorts in the API."""
    return number(e, path) % 65536


def numa_of(host, pci):
    for node in below(host.value("hardware/numaInfo"), "numaNode"):
        if pci in [(p.text or "").lower() for p in node.findall("pciId")]:
            return node
    return None


def numa_fields(host, pci):
    node = numa_of(host, pci)
    cpu = host.value("hardware/cpuInfo")
    if node is None:
        return {"numa": -1, "numa_cores": 0, "numa_mb": 0}
    size = number(node, "memorySize") or number(node, "memoryRangeLength")
    threads_a_core = number(cpu, "numCpuThreads") // number(cpu, "numCpuCores")
    return {"numa": number(node, "typeId"),
            "numa_cores": len(node.findall("cpuID")) // threads_a_core,
            # A length of one page is no size (single-node hosts say so).
            "numa_mb": (int(size / MB * 0.75), size // MB) if size > MB else 0}


def switch_of(host, pnic):
    for switch in below(host.value("config/network"), "proxySwitch"):
        if text(pnic, "key") in [p.text for p in switch.findall("pnic")]:
            return text(switch, "dvsUuid")
    return ""


def capable(host):
    """The functions that can have VFs: pci -> HostSriovInfo."""
    return {text(p, "id").lower(): p
            for p in below(host.value("config"), "pciPassthruInfo")
            if xsi_type(p) == "HostSriovInfo" and yes(p, "sriovCapable")}


def pnics(host):
    return {text(p, "pci").lower(): p
            for p in below(host.value("config/network"), "pnic")}


def pf(host, pci, info, pnic):
    return dict({"pci": pci, "pnic": text(pnic, "device"),
                 "switch": switch_of(host, pnic),
                 "vfs": number(info, "numVirtualFunction")
                 if yes(info, "sriovActive") else 0,
                 "link": pnic.find("linkSpeed") is not None,
                 "enabled": yes(info, "sriovEnabled"),
                 "asked": number(info, "numVirtualFunctionRequested"),
                 "most": number(info, "maxVirtualFunctionSupported"),
                 "driver": text(pnic, "driver"),
                 "driver_version": text(pnic, "driverVersion"),
                 "firmware": text(pnic, "firmwareVersion")},
                **numa_fields(host, pci))


def function(e):
    return {"pci": text(e, "id").lower(), "name": text(e, "deviceName"),
            "vendor": unsigned(e, "vendorId"), "device": unsigned(e, "deviceId")}


def devices(host):
    """What the host could hand to a VM whole."""
    names = {text(e, "id").lower(): function(e)
             for e in below(host.value("hardware"), "pciDevice")}
    out = []
    for p in below(host.value("config"), "pciPassthruInfo"):
        pci = text(p, "id").lower()
        states = [yes(p, "passthru" + s) for s in ("Active", "Enabled", "Capable")]
        if not any(states) or pci not in names:
            continue
        out.append(dict(names[pci], active=states[0], enabled=states[1],
                        label=text(p, "hardwareLabel"), sriov=yes(p, "sriovCapable"),
                        numa=numa_fields(host, pci)["numa"]))
    return out


def gpu(host, e):
    pci = text(e, "pciId").lower()
    pci = pci if pci.count(":") == 2 else "0000:" + pci
    return {"pci": pci, "name": text(e, "deviceName"),
            "vendor": text(e, "vendorName"), "type": text(e, "graphicsType"),
            "numa": numa_fields(host, pci)["numa"]}


def management(host):
    """The port groups that carry the management."""
    out = []
    for net in below(host.value("config/virtualNicManagerInfo"), "netConfig"):
        if text(net, "nicType") != "management":
            continue
        chosen = [(s.text or "").split("management.")[-1]
                  for s in net.findall("selectedVnic")]
        out += [text(v, "spec/distributedVirtualPort/portgroupKey")
                or text(v, "portgroup") for v in net.findall("candidateVnic")
                if text(v, "key").split("management.")[-1] in chosen]
    return out


def clocks(host):
    time = host.value("config/dateTimeInfo")
    if text(time, "systemClockProtocol") == "ptp":
        return 1
    ntp = None if time is None else time.find("ntpConfig")
    return -1 if ntp is None else len(ntp.findall("server"))


def setup(host):
    reboot = host.text("summary/rebootRequired")
    return {"version": host.text("config/product/version"),
            "build": host.text("config/product/build"),
            "power_policy": host.text("config/powerSystemInfo/currentPolicy/shortName"),
            "management": management(host), "clocks": clocks(host),
            "reboot": {"true": 1, "false": 0}.get(reboot, -1),
            "switches": [{"uuid": text(s, "dvsUuid"), "name": text(s, "dvsName"),
                          "mtu": number(s, "mtu")}
                         for s in below(host.value("config/network"), "proxySwitch")]}


def state(host):
    power = host.text("runtime/powerState")
    return {"name": host.text("name"), "cluster": host.text("parent"),
            "connected": host.text("runtime/connectionState") == "connected",
            "powered_on": power == "poweredOn", "standby": power == "standBy",
            "maintenance": yes(host.of["runtime"], "inMaintenanceMode"),
            "quarantine": yes(host.of["runtime"], "inQuarantineMode")}


def reserved(group, allocation):
    """A group has what it reserves, or what the groups in it do."""
    own = number(group, f"config/{allocation}/reservation")
    return max(own, sum(reserved(c, allocation) for c in group.findall("child")))


def bounds(host, allocation, most):
    """What VMs can have: by systemResources never above, at most 3 % below; else
    ESXi takes 2 to 25 % in all five recordings."""
    root = host.of.get("systemResources")
    if root is None:
        return most * 3 // 4, most
    left = number(root, f"config/{allocation}/reservation") - sum(
        reserved(c, allocation) for c in root.findall("child")
        if text(c, "key") != "host/user")
    # An HCX host has none; 1 is the least figure that is known.
    return max(left, 0) * 97 // 100, max(left, 1)


def newest_hardware(host, version):
    if version == "6.7.0" and int(host.text("config/product/build") or 0) >= \
            UPDATE_2_OF_67:
        return 15
    return NEWEST_HARDWARE.get(version, 0)


def size(host):
    memory = int(host.text("hardware/memorySize", "0")) // MB
    cpu = host.value("hardware/cpuInfo")
    version = host.text("config/product/version")
    return {"cores": number(cpu, "numCpuCores"),
            "core_mhz": number(cpu, "hz") // 1000000,
            "numa_nodes": number(host.value("hardware/numaInfo"), "numNodes"),
            "max_hw": newest_hardware(host, version),
            **{field: bounds(host, allocation, most) for field, allocation, most in (
                ("memory_mb", "memoryAllocation", memory),
                ("cpu_mhz", "cpuAllocation", number(cpu, "numCpuCores") *
                 (number(cpu, "hz") // 1000000)))}}


def host_fields(host):
    sriov, nics = capable(host), pnics(host)
    lists = {"pfs": [pf(host, pci, info, nics[pci])
                     for pci, info in sriov.items() if pci in nics],
             "incapable": [{"pci": pci, "pnic": text(n, "device"),
                            "switch": switch_of(host, n), "driver": text(n, "driver")}
                           for pci, n in nics.items()
                           if pci not in sriov and switch_of(host, n)],
             "devices": devices(host),
             "functions": [function(e)
                           for e in below(host.value("hardware"), "pciDevice")],
             "gpus": [gpu(host, e)
                      for e in below(host.value("config"), "graphicsInfo")],
             "networks": host.references("network"),
             "datastores": host.references("datastore"),
             "pfs_unread": not below(host.value("config"), "pciPassthruInfo")
             or not nics}
    return {**state(host), **size(host), **setup(host), **lists}


# ---- VMs ------------------------------------------------------------------------

def pf_of(device):
    """(pci, automatic) of an SR-IOV NIC."""
    pci = text(device, "sriovBacking/physicalFunctionBacking/id").lower()
    if not pci or pci == "automatic-0000:00:00.0":
        return "", True
    return pci.removeprefix("automatic-"), pci.startswith("automatic-")


def nic(device):
    kind = NIC_KINDS.get(xsi_type(device), "ethernet")
    backing = device.find("backing")
    pci, automatic = pf_of(device) if kind == "sriov" else ("", False)
    return {"kind": kind, "network": text(backing, "network"),
            "portgroup": text(backing, "port/portgroupKey"),
            "switch": text(backing, "port/switchUuid"), "pci": pci,
            "automatic": automatic,
            "mtu_change": kind == "sriov" and yes(device, "allowGuestOSMtuChange")}


def whole_device(device):
    kind, name = PASSTHROUGH_KINDS[xsi_type(device.find("backing"))]
    return {"kind": kind, "network": text(device, "backing/" + name) if name else "",
            "portgroup": "", "switch": "", "automatic": False, "mtu_change": False,
            "pci": text(device, "backing/id").lower() if kind == "fixed" else ""}


def nics(vm):
    out = []
    for d in below(vm.value("config/hardware"), "device"):
        if d.find("addressType") is not None:
            fields = nic(d)
        elif xsi_type(d) == "VirtualPCIPassthrough":
            fields = whole_device(d)
        else:
            continue
        out.append(dict(fields, key=number(d, "key"),
                        mac=text(d, "macAddress").lower()))
    return out


def directory_of(file):
    return file[:file.rfind("/") + 1]


def disk_fields(vm):
    own = directory_of(vm.text("config/files/vmPathName"))
    disks = [d.find("backing") for d in below(vm.value("config/hardware"), "device")
             if xsi_type(d) == "VirtualDisk"]
    bases = []
    for disk in disks:
        under = disk.find("parent")
        while under is not None:
            place = directory_of(text(under, "fileName"))
            if place not in ("", own, *bases):
                bases.append(place)
            under = under.find("parent")
    return {"disk_dir": own, "bases": "".join(b + "\n" for b in bases),
            "disks_own": own != "" and
            all(directory_of(text(d, "fileName")) == own for d in disks)}


def config_fields(vm):
    c = vm.of["config"]
    return {"uuid": text(c, "instanceUuid"), "bios_uuid": text(c, "uuid"),
            "change_version": text(c, "changeVersion"),
            "is_template": yes(c, "template"), "vcpus": number(c, "hardware/numCPU"),
            "memory_mb": number(c, "hardware/memoryMB"),
            "cpu_reserved_mhz": number(c, "cpuAllocation/reservation"),
            "mem_reserved_mb": number(c, "memoryAllocation/reservation"),
            "mem_locked": yes(c, "memoryReservationLockedToMax"),
            "latency_high": text(c, "latencySensitivity/level") == "high",
            "numa": vm.option("numa.nodeAffinity"),
            "owner": vm.option("slurm.vsphere.owner"),
            "profile": vm.option("slurm.vsphere.profile")}


def snapshot(vm):
    for s in below(vm.value("snapshot"), ".//"):
        if text(s, "name") == "slurm-vsphere":
            return text(s, "snapshot")
    return ""


def readable(vm):
    return vm.value("config/hardware") is not None


def vm_fields(vm):
    out = {"name": vm.text("name"), "folder": vm.text("parent"),
           "pool": vm.text("resourcePool"), "host": vm.text("runtime/host"),
           "power": vm.text("runtime/powerState"),
           "connected": vm.text("runtime/connectionState") == "connected",
           "tools_running":
           vm.text("guest/toolsRunningStatus") == "guestToolsRunning",
           "frozen": yes(vm.of["runtime"], "instantCloneFrozen"),
           "snapshot": snapshot(vm),
           "unreadable": not readable(vm) or "NoPermission" in vm.hidden.values()}
    if readable(vm):
        out.update(config_fields(vm), nics=nics(vm), **disk_fields(vm))
    return out


# ---- templates ------------------------------------------------------------------

def three(value):
    return {"true": "yes", "false": "no"}.get(value, "unknown")


def disk_mb(vm, disks):
    """A clone takes what the template's disks take, thick ones all they may."""
    def capacity(d):
        return number(d, "capacityInBytes") or number(d, "capacityInKB") * 1024

    thick = sum(capacity(d) for d in disks
                if text(d, "backing/thinProvisioned") == "false")
    taken = min(int(vm.text("summary/storage/committed", "0")),
                sum(map(capacity, disks)))
    return max(thick, taken) // MB


def hot_add(c):
    said = [text(c, k) for k in ("cpuHotAddEnabled", "memoryHotAddEnabled")]
    return "yes" if "true" in said else "no" if "false" in said else "unknown"


def nic_fields(devices_):
    """The template's first NIC, as a clone's spec may have it: its port is the
    template's, and so is its address."""
    for d in devices_:
        if d.find("addressType") is not None:
            port = [(k, text(d, f"backing/port/{k}"))
                    for k in ("portgroupKey", "switchUuid")]
            return {"_typeName": xsi_type(d), "key": number(d, "key"),
                    "members": ["_typeName", "backing", "key"],
                    "backing": xsi_type(d.find("backing")),
                    "port": [f"{k}={v}" for k, v in port if v],
                    "deviceName": text(d, "backing/deviceName")}
    return {}


def template_fields(vm):
    c = vm.of["config"]
    all_devices = below(vm.value("config/hardware"), "device")
    disks = [d for d in all_devices if xsi_type(d) == "VirtualDisk"]
    tools = vm.text("guest/toolsVersionStatus2")
    connection = vm.text("runtime/connectionState")
    return {
        "change_version": text(c, "changeVersion"), "host": vm.text("runtime/host"),
        "is_template": yes(c, "template"),
        "hw": int(text(c, "version").removeprefix("vmx-") or 0),
        "disk_mb": disk_mb(vm, disks), "disks": [text(d, "key") for d in disks],
        "guest": text(c, "guestId"), "bios": text(c, "firmware") == "bios",
        "passthrough": sum(xsi_type(d) in ("VirtualSriovEthernetCard",
                                           "VirtualVmxnet3Vrdma",
                                           "VirtualPCIPassthrough")
                           for d in all_devices),
        "networks": vm.references("network"), "hot_add": hot_add(c),
        "snapshot": "no" if vm.value("snapshot") is None else "yes",
        "tools": "unknown" if not tools else
        "no" if tools == "guestToolsNotInstalled" else "yes",
        "secure_boot": three(text(c, "bootOptions/efiSecureBootEnabled")),
        "link": "unknown" if not connection else
        "yes" if connection == "connected" else "no",
        "cores_per_socket": -1 if yes(c, "hardware/autoCoresPerSocket")
        else number(c, "hardware/numCoresPerSocket"),
        "tpm": any(xsi_type(d) == "VirtualTPM" for d in all_devices),
        "encrypted": c.find("keyId") is not None or
        any(d.find("backing/keyId") is not None for d in disks),
        "nic": nic_fields(all_devices)}


# ---- clusters -------------------------------------------------------------------

def cluster_fields(c):
    """DRS, HA and DPM; the overrides of VMs by their number alone."""
    conf = c.of["configurationEx"]
    behavior = text(conf, "drsConfig/defaultVmBehavior")
    drs = {"": "unknown", "false": "no"}.get(text(conf, "drsConfig/enabled")) or \
        ("no" if behavior == "manual" else "yes")
    ha = {"": "unknown", "false": "no"}.get(text(conf, "dasConfig/enabled")) or \
        ("no" if text(conf, "dasConfig/hostMonitoring") == "disabled" or
         text(conf, "dasConfig/defaultVmSettings/restartPriority") == "disabled"
         else "yes")
    dpm = yes(conf, "dpmConfigInfo/enabled") and drs != "no" and \
        text(conf, "dpmConfigInfo/defaultDpmBehavior") == "automated"
    summary = c.of["summary"]
    return {"effective": {"memory_mb": number(summary, "effectiveMemory"),
                          "cpu_mhz": number(summary, "effectiveCpu")},
            "effective_hosts": number(summary, "numEffectiveHosts"), "drs": drs, "ha": ha, "dpm": dpm,
            "moves": drs == "yes" and behavior == "fullyAutomated"}


def fields_of(hosts, vms, templates, clusters, vm_fields=vm_fields):
    return {"host": {h.moid: host_fields(h) for h in hosts},
            "vm": {v.moid: vm_fields(v) for v in vms},
            "template": {v.moid: template_fields(v) for v in templates},
            "cluster": {c.moid: cluster_fields(c) for c in clusters}}


def expected(directory):
    """{"host": {moId: fields}, "vm": ..., "template": ..., "cluster": ...}"""
    vms = things(directory, "VirtualMachine")
    return fields_of(things(directory, "HostSystem"), vms, filter(readable, vms),
                     [c for c in things(directory, "ClusterComputeResource")
                      if "configurationEx" in c.of])


def content_fields(content):
    """What a session needs of ServiceContent; content: its element."""
    return {"about": text(content, "about/fullName"),
            "version": text(content, "about/version"),
            "instance_uuid": text(content, "about/instanceUuid"),
            **{k: text(content, k) for k in (
                "rootFolder", "propertyCollector", "viewManager", "sessionManager",
                "searchIndex", "taskManager", "authorizationManager")}}
