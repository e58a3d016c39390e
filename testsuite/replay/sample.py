#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""sample.py DIRECTORY: writes small recordings in the form of `govc object.save`.

Two made-up sites have the shapes that real vCenters show and that are easily read
wrongly:
  north   SR-IOV active on one PF and requested on another, a PF with its host but
          no NIC, a NIC without SR-IOV, an account with several roles, NUMA nodes
          with pciId, signed PCI ids,
          ports and cookies in templates' NICs, an escaped slash in a name, a
          linked clone, disks of another VM, a property that vCenter fails to read
  south   NUMA nodes without pciId and a node of one page, a host that does not
          respond and has no config, a VM without config, a VM in a vApp (no parent),
          a standard and an opaque network, DRS and HA off
No name, id or address is a real site's.
"""

import pathlib
import sys
from xml.sax.saxutils import escape, quoteattr

XSI = "http://www.w3.org/2001/XMLSchema-instance"
GB = 1 << 30


class Typed:
    """An element with an xsi:type."""

    def __init__(self, kind, value=""):
        self.kind, self.value = kind, value


class Ref:
    """A managed object reference; kind is an attribute, or in any an xsi:type."""

    def __init__(self, kind, moid):
        self.kind, self.moid = kind, moid


def obj(kind, **members):
    return Typed(kind, members)


def string(value):
    return Typed("xsd:string", value)


def plain(value):
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def element(tag, value, indent):
    """Lines of one member; a list is the member again and again."""
    pad = "  " * indent
    if isinstance(value, list):
        return [line for v in value for line in element(tag, v, indent)]
    head = tag
    if isinstance(value, Ref):
        return [f'{pad}<{tag} type={quoteattr(value.kind)}>{value.moid}</{tag}>']
    if isinstance(value, Typed):
        head += f' xmlns:XMLSchema-instance="{XSI}"' \
                f' XMLSchema-instance:type={quoteattr(value.kind)}'
        value = value.value
    if isinstance(value, dict):
        inner = [line for k, v in value.items() for line in element(k, v, indent + 1)]
        return [f"{pad}<{head}>", *inner, f"{pad}</{tag}>"]
    return [f"{pad}<{head}>{escape(plain(value))}</{tag}>"]


def top_level(value):
    """A property's val: any has a type, references and lists too."""
    if isinstance(value, Ref):
        return [f'    <val xmlns:XMLSchema-instance="{XSI}" XMLSchema-instance:type='
                f'"ManagedObjectReference" type={quoteattr(value.kind)}>'
                f'{value.moid}</val>']
    if isinstance(value, bool):
        value = Typed("xsd:boolean", value)
    if isinstance(value, int) and not isinstance(value, bool):
        value = Typed("xsd:int", value)
    return element("val", string(value) if isinstance(value, str) else value, 2)


def references(kind, moids):
    return Typed("ArrayOfManagedObjectReference",
                 {"ManagedObjectReference": [Ref(kind, m) for m in moids]})


class Site:
    """Objects in the order of their files."""

    def __init__(self, directory):
        self.directory, self.count = pathlib.Path(directory), 0
        self.directory.mkdir(parents=True)

    def add(self, kind, moid, missing=(), **properties):
        lines = ["<ObjectContent>", f'  <obj type="{kind}">{moid}</obj>']
        for name, value in sorted(properties.items()):
            lines += ["  <propSet>", f"    <name>{name}</name>",
                      *top_level(value), "  </propSet>"]
        for path in missing:
            lines += [f'  <missingSet xmlns:xsi="{XSI}">', f"    <path>{path}</path>",
                      "    <fault>", '      <fault xsi:type="SystemError">',
                      "        <reason>unexpected error reading property</reason>",
                      "      </fault>", "    </fault>", "  </missingSet>"]
        name = f"{self.count:04d}-{kind}-{moid}.xml"
        (self.directory / name).write_text("\n".join(lines + ["</ObjectContent>", ""]))
        self.count += 1


# ---- the frame: everything but hosts and VMs -------------------------------------

# The account's roles on an object of that name; on others it is an administrator.
ROLES = {"Datacenters": [-2], "vm": [1101], "Resources": [1101], "storage": [-2],
         "Mgmt-192.0.2.0%2f24": [-2, -568960247], "segment": [], "golden-old": [-2]}


def effective(numbers):
    return Typed("ArrayOfInt", {"int": list(numbers)})


def entity(name, parent=None, **more):
    out = {"name": name, "overallStatus": Typed("ManagedEntityStatus", "green"),
           "effectiveRole": effective(ROLES.get(name, [-1])), **more}
    if parent:
        out["parent"] = parent
    return out


def service(site, version, build):
    roles(site)
    names = ["propertyCollector", "ViewManager", "SessionManager", "TaskManager",
             "AuthorizationManager", "SearchIndex"]
    member = {n[0].lower() + n[1:]: Ref(n[0].upper() + n[1:], n) for n in names}
    site.add("ServiceInstance", "ServiceInstance", content=obj(
        "ServiceContent", rootFolder=Ref("Folder", "group-d1"),
        propertyCollector=member["propertyCollector"],
        viewManager=member["viewManager"],
        about={"name": "VMware vCenter Server",
               "fullName": f"VMware vCenter Server {version} build-{build}",
               "vendor": "VMware, Inc.", "version": version, "build": build,
               "localeVersion": "INTL", "localeBuild": "000",
               "osType": "linux-x64", "productLineId": "vpx",
               "apiType": "VirtualCenter", "apiVersion": version + ".0",
               "instanceUuid": "0f0e0d0c-0b0a-4908-8706-050403020100"},
        sessionManager=member["sessionManager"],
        authorizationManager=member["authorizationManager"],
        taskManager=member["taskManager"], searchIndex=member["searchIndex"]))


def role(number, name, *privileges):
    return {"roleId": number, "system": number < 0, "name": name,
            "info": {"label": name, "summary": ""}, "privilege": list(privileges)}


NEEDED = ["VirtualMachine.Inventory.CreateFromExisting",
          "VirtualMachine.Config.AddNewDisk", "VirtualMachine.Interact.PowerOn",
          "Resource.AssignVMToPool", "Datastore.AllocateSpace", "Network.Assign",
          "VirtualMachine.Provisioning.DeployTemplate"]


def roles(site):
    """Two of vCenter's own roles, and two of the site's: one for its VMs, one for
    its networks. Objects say which of them the account has (effectiveRole)."""
    site.add("AuthorizationManager", "AuthorizationManager", roleList=Typed(
        "ArrayOfAuthorizationRole", {"AuthorizationRole": [
            role(-1, "Admin", "System.Read", "Host.Config.Maintenance",
                 "Authorization.ModifyPermissions", "VirtualMachine.Config.Settings",
                 "VirtualMachine.Inventory.Delete",
                 "VirtualMachine.Interact.PowerOff", *NEEDED),
            role(-2, "ReadOnly", "System.Read", "System.View"),
            role(1101, "vm-user", "System.Read", *NEEDED),
            role(-568960247, "net-user", "Network.Assign")]}))


def folders(site, datacenter, children):
    """The root, the datacenter and its four folders."""
    dc = Ref("Datacenter", "datacenter-3")
    site.add("Folder", "group-d1", **entity("Datacenters"),
             childType=Typed("ArrayOfString", {"string": ["Folder", "Datacenter"]}),
             childEntity=references("Datacenter", ["datacenter-3"]))
    ids = {"vm": "group-v4", "host": "group-h5", "datastore": "group-s6",
           "network": "group-n7"}
    site.add("Datacenter", "datacenter-3",
             **entity(datacenter, Ref("Folder", "group-d1")),
             **{n + "Folder": Ref("Folder", i) for n, i in ids.items()},
             datastore=references("Datastore", ["datastore-11"]),
             network=Typed("ArrayOfManagedObjectReference", {
                 "ManagedObjectReference": children["network"]}))
    for name, moid in ids.items():
        site.add("Folder", moid, **entity(name, dc),
                 childEntity=Typed("ArrayOfManagedObjectReference", {
                     "ManagedObjectReference": children[name]}))


def pool(mhz, mb):
    """A root pool: all that its cluster has for VMs, in MB in its config and in
    bytes in its runtime."""
    def most(n):
        return {"reservation": n, "expandableReservation": False, "limit": n,
                "shares": {"shares": 4000, "level": "normal"}}

    def used(n):
        return {"reservationUsed": 0, "reservationUsedForVm": 0, "overallUsage": 0,
                "unreservedForPool": n, "unreservedForVm": n, "maxUsage": n}

    return {"config": obj("ResourceConfigSpec", cpuAllocation=most(mhz),
                          memoryAllocation=most(mb)),
            "runtime": obj("ResourcePoolRuntimeInfo", cpu=used(mhz),
                           memory=used(mb << 20), overallStatus="green")}


def cluster(site, name, hosts, networks, drs, ha, up, mhz, mb):
    """domain-c8 with its root pool. Of its hosts so many are up, and have mhz and
    mb for VMs together."""
    ref = Ref("ClusterComputeResource", "domain-c8")
    das = {"enabled": ha, "vmMonitoring": "vmMonitoringDisabled",
           "hostMonitoring": "enabled", "failoverLevel": 1,
           "admissionControlEnabled": True,
           "defaultVmSettings": {"restartPriority": "medium",
                                 "isolationResponse": "none"}}
    conf = obj("ClusterConfigInfoEx", dasConfig=das,
               drsConfig={"enabled": drs is not None,
                          "enableVmBehaviorOverrides": True,
                          "defaultVmBehavior": drs or "fullyAutomated",
                          "vmotionRate": 3},
               dpmConfigInfo={"enabled": False, "defaultDpmBehavior": "automated",
                              "hostPowerActionRate": 3})
    sums = obj("ClusterComputeResourceSummary", totalCpu=89600, totalMemory=256 * GB,
               numCpuCores=32, numCpuThreads=64, effectiveCpu=mhz,
               effectiveMemory=mb, numHosts=len(hosts),
               numEffectiveHosts=up, overallStatus="green")
    site.add("ClusterComputeResource", "domain-c8",
             **entity(name, Ref("Folder", "group-h5")), configurationEx=conf,
             summary=sums, host=references("HostSystem", hosts),
             datastore=references("Datastore", ["datastore-11"]),
             network=Typed("ArrayOfManagedObjectReference",
                           {"ManagedObjectReference": networks}),
             resourcePool=Ref("ResourcePool", "resgroup-9"),
             environmentBrowser=Ref("EnvironmentBrowser", "envbrowser-8"))
    site.add("EnvironmentBrowser", "envbrowser-8")
    site.add("ResourcePool", "resgroup-9", **entity("Resources", ref), owner=ref,
             **pool(mhz, mb))


def datastore(site, hosts):
    mount = [{"key": Ref("HostSystem", h),
              "mountInfo": {"accessMode": "readWrite", "mounted": True,
                            "accessible": True}} for h in hosts]
    site.add("Datastore", "datastore-11",
             **entity("nvme-pool", Ref("Folder", "group-s6")),
             summary=obj("DatastoreSummary", datastore=Ref("Datastore", "datastore-11"),
                         name="nvme-pool", url="ds:///vmfs/volumes/datastore-11/",
                         capacity=20000 * GB, freeSpace=15000 * GB, accessible=True,
                         multipleHostAccess=True, type="vsan",
                         maintenanceMode="normal"),
             host=Typed("ArrayOfDatastoreHostMount", {"DatastoreHostMount": mount}))


UUID = "50 3c 11 22 33 44 55 66-77 88 99 aa bb cc dd ee"
DVS = Ref("VmwareDistributedVirtualSwitch", "dvs-20")


def switch(site, groups):
    site.add("VmwareDistributedVirtualSwitch", "dvs-20",
             **entity("dvs-fabric", Ref("Folder", "group-n7")), uuid=UUID,
             config=obj("VMwareDVSConfigInfo", uuid=UUID, name="dvs-fabric",
                        numStandalonePorts=0, numPorts=64, maxPorts=2147483647,
                        uplinkPortPolicy=obj("DVSNameArrayUplinkPortPolicy",
                                             uplinkPortName=["up1", "up2"]),
                        defaultPortConfig=obj("VMwareDVSPortSetting"),
                        maxMtu=9000),
             portgroup=references("DistributedVirtualPortgroup",
                                  [g for g, _ in groups]))
    for moid, name in groups:
        site.add("DistributedVirtualPortgroup", moid,
                 **entity(name, Ref("Folder", "group-n7")), key=moid,
                 config=obj("DVPortgroupConfigInfo", key=moid, name=name, numPorts=64,
                            distributedVirtualSwitch=DVS,
                            defaultPortConfig=obj("VMwareDVSPortSetting"),
                            type="earlyBinding"),
                 summary=obj("NetworkSummary", name=name, accessible=True))


# ---- hosts ----------------------------------------------------------------------

def pnic(device, pci, driver="mlx5_core", link=True):
    out = {"key": "key-vim.host.PhysicalNic-" + device, "device": device, "pci": pci,
           "driver": driver}
    if driver.startswith("nmlx"):  # older ESXi says neither
        out.update(driverVersion="4.21.71.101", firmwareVersion="20.39.1002")
    if link:
        out["linkSpeed"] = {"speedMb": 100000, "duplex": True}
    return dict(out, wakeOnLanSupported=False, mac="00:00:5e:00:53:01")


def sriov(pci, active=0, asked=0, most=16):
    return obj("HostSriovInfo", id=pci, dependentDevice=pci, passthruEnabled=False,
               passthruCapable=True, passthruActive=False, sriovEnabled=asked > 0,
               sriovCapable=True, sriovActive=active > 0,
               numVirtualFunctionRequested=asked, numVirtualFunction=active,
               maxVirtualFunctionSupported=most)


def passthru(pci, capable=False):
    return obj("HostPciPassthruInfo", id=pci, dependentDevice="",
               passthruEnabled=False, passthruCapable=capable, passthruActive=False)


def function(pci, vendor, device, name):
    """Ids above 0x7fff are negative, as the API's shorts are."""
    def short(n):
        return n - 65536 if n > 32767 else n

    bus, slot = (int(x, 16) for x in pci.split(".")[0].split(":")[1:])
    return {"id": pci, "classId": 512, "bus": bus - 256 if bus > 127 else bus,
            "slot": slot, "function": int(pci[-1]), "vendorId": short(vendor),
            "subVendorId": short(vendor), "vendorName": "Example Networks",
            "deviceId": short(device), "subDeviceId": 1, "deviceName": name}


def resources(memory, cpu, system_memory, system_cpu):
    """What the host has, and what ESXi has reserved of it, in MB and MHz."""
    def node(key, mem, mhz, *children):
        def part(n):
            return {"reservation": n, "expandableReservation": True, "limit": -1,
                    "shares": {"shares": 500, "level": "custom"}}

        return {"key": key, "config": {"cpuAllocation": part(mhz),
                                       "memoryAllocation": part(mem)},
                "child": list(children)}

    return Typed("HostSystemResourceInfo", node(
        "host", memory, cpu,
        node("host/system", system_memory, 0, node("host/system/kernel", 20, 279)),
        node("host/vim", 0, system_cpu, node("host/vim/vmvisor", 0, 978)),
        node("host/user", 0, 0)))


def numa(nodes, length, pci):
    """Two threads a core, listed from the last one, as ESXi does."""
    per = 32 // nodes
    return {"type": "NUMA", "numNodes": nodes, "numaNode": [
        {"typeId": n, "cpuID": list(range(per * n + per - 1, per * n - 1, -1)),
         "memoryRangeBegin": 0, "memoryRangeLength": length, "pciId": pci.get(n, [])}
        for n in range(nodes)]}


def virtual_nic(device, portgroup=None, name=""):
    spec = {"ip": {"dhcp": False, "ipAddress": "192.0.2.21",
                   "subnetMask": "255.255.255.0"}, "mtu": 1500}
    if portgroup:
        spec["distributedVirtualPort"] = {
            "switchUuid": UUID, "portgroupKey": portgroup, "portKey": "7",
            "connectionCookie": 1700000001}
    return {"device": device, "key": f"management.key-vim.host.VirtualNic-{device}",
            "portgroup": name, "spec": spec}


def management(chosen, *candidates):
    return {"netConfig": [
        {"nicType": "vmotion", "multiSelectAllowed": True},
        {"nicType": "management", "multiSelectAllowed": True,
         "candidateVnic": list(candidates),
         "selectedVnic": f"management.key-vim.host.VirtualNic-{chosen}"}]}


def product(version, build):
    return {"name": "VMware ESXi", "fullName": f"VMware ESXi {version} build-{build}",
            "vendor": "VMware, Inc.", "version": version, "build": build,
            "osType": "vmnix-x86", "productLineId": "embeddedEsx",
            "apiType": "HostAgent", "apiVersion": version}


def runtime(connection="connected", power="poweredOn"):
    return obj("HostRuntimeInfo", connectionState=connection, powerState=power,
               standbyMode="none", inMaintenanceMode=False, inQuarantineMode=False)


def host(site, moid, name, networks, hardware, config, vms=(), cpu=44800):
    memory = hardware["memorySize"] >> 20
    site.add("HostSystem", moid,
             **entity(name, Ref("ClusterComputeResource", "domain-c8")),
             runtime=runtime(), hardware=obj("HostHardwareInfo", **hardware),
             config=obj("HostConfigInfo", host=Ref("HostSystem", moid), **config),
             summary=obj("HostListSummary", host=Ref("HostSystem", moid),
                         hardware={"vendor": "Example", "model": "E2",
                                   "uuid": "00112233-4455-6677-8899-aabbccddeeff",
                                   "memorySize": hardware["memorySize"],
                                   "cpuModel": "Example CPU", "cpuMhz": 2800,
                                   "numCpuPkgs": 2, "numCpuCores": 16,
                                   "numCpuThreads": 32, "numNics": 3, "numHBAs": 1},
                         config={"name": name, "port": 902,
                                 "product": config["product"],
                                 "vmotionEnabled": True,
                                 "faultToleranceEnabled": False},
                         rebootRequired=False, overallStatus="green"),
             systemResources=resources(memory - 400, cpu - 1000, memory // 12, 4800),
             network=Typed("ArrayOfManagedObjectReference",
                           {"ManagedObjectReference": networks}),
             datastore=references("Datastore", ["datastore-11"]),
             vm=references("VirtualMachine", vms))


def proxy(pnics, mtu=9000):
    return {"dvsUuid": UUID, "dvsName": "dvs-fabric", "key": "DvsPortset-0",
            "numPorts": 512, "configNumPorts": 512, "numPortsAvailable": 480,
            "uplinkPort": [{"key": "16", "value": "up1"}], "mtu": mtu,
            "pnic": ["key-vim.host.PhysicalNic-" + p for p in pnics]}


def north_host(site, moid, name, networks, vms, vfs):
    pcis = [function("0000:18:00.0", 0x14e4, 0x165f, "BCM5720"),
            function("0000:3b:00.0", 0x15b3, 0xa2d6, "ConnectX-6 Dx"),
            function("0000:3b:00.1", 0x15b3, 0xa2d6, "ConnectX-6 Dx"),
            function("0000:af:00.0", 0x1000, 0x00c4, "SAS controller"),
            function("0000:d8:00.0", 0x8086, 0x0b60, "NVMe")]
    host(site, moid, name, networks,
         {"cpuInfo": {"numCpuPackages": 2, "numCpuCores": 16, "numCpuThreads": 32,
                      "hz": 2799999606},
          "memorySize": 256 * GB - 12345,
          "numaInfo": numa(2, 128 * GB, {0: ["0000:18:00.0", "0000:3b:00.0",
                                             "0000:3b:00.1"],
                                         1: ["0000:AF:00.0", "0000:d8:00.0"]}),
          "pciDevice": pcis},
         {"product": product("7.0.1", "17325551"),
          "network": {"pnic": [pnic("vmnic0", "0000:18:00.0", "ntg3"),
                               pnic("vmnic4", "0000:3b:00.0", "nmlx5_core"),
                               pnic("vmnic5", "0000:3b:00.1", "nmlx5_core",
                                    link=False)],
                      "proxySwitch": [proxy(["vmnic0", "vmnic4", "vmnic5"])]},
          "dateTimeInfo": {"timeZone": {"key": "UTC", "name": "UTC",
                                        "description": "UTC", "gmtOffset": 0},
                           "ntpConfig": {"server": ["ntp1.example.net",
                                                    "ntp2.example.net"]},
                           "systemClockProtocol": "ntp"},
          "pciPassthruInfo": [passthru("0000:18:00.0"),
                              sriov("0000:3b:00.0", vfs, vfs),
                              sriov("0000:3b:00.1", 0, 8),
                              sriov("0000:af:00.0", 0, 0, 4),  # no NIC
                              passthru("0000:d8:00.0", capable=True)],
          "powerSystemInfo": {"currentPolicy": {
              "key": 1, "name": "PowerPolicy.static.name", "shortName": "static",
              "description": "PowerPolicy.static.description"}},
          "virtualNicManagerInfo": management("vmk0", virtual_nic(
              "vmk0", "dvportgroup-22"), virtual_nic("vmk1", "dvportgroup-23"))},
         vms)


def south_host(site, moid, name, networks, vms):
    host(site, moid, name, networks,
         {"cpuInfo": {"numCpuPackages": 1, "numCpuCores": 16, "numCpuThreads": 32,
                      "hz": 2100000000},
          "memorySize": 128 * GB, "numaInfo": numa(1, 4096, {}),
          "pciDevice": [function("0000:01:00.0", 0x8086, 0x1521, "I350")]},
         {"product": product("6.7.0", "15160138"),
          "network": {"pnic": [pnic("vmnic0", "0000:01:00.0", "igbn")]},
          "dateTimeInfo": {"timeZone": {"key": "UTC", "name": "UTC",
                                        "description": "UTC", "gmtOffset": 0}},
          "pciPassthruInfo": [sriov("0000:01:00.0", 0, 0, 7)],
          "powerSystemInfo": {"currentPolicy": {
              "key": 2, "name": "PowerPolicy.dynamic.name", "shortName": "dynamic",
              "description": "PowerPolicy.dynamic.description"}},
          "virtualNicManagerInfo": management("vmk0", virtual_nic(
              "vmk0", name="Management Network"))}, vms, cpu=33600)


# ---- VMs ------------------------------------------------------------------------

def on_switch(portgroup, port, cookie):
    return obj("VirtualEthernetCardDistributedVirtualPortBackingInfo",
               port={"switchUuid": UUID, "portgroupKey": portgroup,
                     "portKey": str(port), "connectionCookie": cookie})


def on_network(moid, name):
    return obj("VirtualEthernetCardNetworkBackingInfo", deviceName=name,
               network=Ref("Network", moid), inPassthroughMode=False)


def nic(key, mac, backing, kind="VirtualVmxnet3", **more):
    return obj(kind, key=key, deviceInfo=obj("Description", label="Network adapter 1",
                                             summary="DVSwitch"),
               backing=backing,
               connectable={"startConnected": True, "allowGuestControl": True,
                            "connected": False, "status": "untried"},
               controllerKey=100, unitNumber=7, addressType="assigned",
               macAddress=mac, wakeOnLanEnabled=True, **more)


def sriov_nic(key, mac, backing, pf):
    backed = {"physicalFunctionBacking": {
        "id": pf, "deviceId": "0", "systemId": "BYPASS", "vendorId": 0,
        "deviceName": ""}}
    return nic(key, mac, backing, "VirtualSriovEthernetCard", sriovBacking=backed,
               allowGuestOSMtuChange=True)


def disk(key, file, under=None, thin=True, size=32):
    backing = {"fileName": file, "datastore": Ref("Datastore", "datastore-11"),
               "diskMode": "persistent", "thinProvisioned": thin}
    if under:
        backing["parent"] = {"fileName": under, "diskMode": "persistent"}
    return obj("VirtualDisk", key=key,
               deviceInfo=obj("Description", label="Hard disk 1", summary="disk"),
               backing=obj("VirtualDiskFlatVer2BackingInfo", **backing),
               controllerKey=1000, unitNumber=0, capacityInKB=size << 20,
               capacityInBytes=size * GB)


CONTROLLER = obj("VirtualPCIController", key=100, busNumber=0, device=[500, 4000],
                 deviceInfo=obj("Description", label="PCI controller 0", summary=""))


def share(reservation):
    return {"reservation": reservation, "expandableReservation": False, "limit": -1,
            "shares": {"shares": 1000, "level": "normal"}}


def config(name, number, devices, template=False, memory=4096, reserved=0,
           latency=None, extra=(), firmware="efi"):
    out = {"changeVersion": f"2021-01-{number % 28 + 1:02d}T10:00:00.123456Z",
           "modified": "1970-01-01T00:00:00Z", "name": name,
           "guestFullName": "Other (64-bit)", "version": "vmx-14",
           "uuid": f"421c0000-0000-4000-8000-{number:012d}",
           "instanceUuid": f"501c0000-0000-4000-8000-{number:012d}",
           "template": template, "guestId": "rhel8_64Guest", "annotation": "",
           "files": {"vmPathName": f"[nvme-pool] {name}/{name}.vmx"},
           "flags": {}, "defaultPowerOps": {},
           "hardware": {"numCPU": 4, "numCoresPerSocket": 2, "memoryMB": memory,
                        "device": [CONTROLLER, *devices]},
           "cpuAllocation": share(reserved and 2800),
           "memoryAllocation": share(reserved),
           "extraConfig": [obj("OptionValue", key=k, value=string(v))
                           for k, v in [("nvram", name + ".nvram"), *extra]],
           "bootOptions": {"enterBIOSSetup": False, "efiSecureBootEnabled": True},
           "cpuHotAddEnabled": False, "memoryHotAddEnabled": False,
           "firmware": firmware, "memoryReservationLockedToMax": reserved > 0}
    if latency:  # some VMs have none
        out["latencySensitivity"] = {"level": latency}
    return obj("VirtualMachineConfigInfo", **out)


def vm(site, number, name, on, conf, networks, power="poweredOn", parent=True,
       missing=(), connection="connected", **more):
    properties = entity(name, Ref("Folder", "group-v4") if parent else None)
    if conf is not None:
        properties["config"] = conf
    if not conf or conf.value["template"] is False:
        properties["resourcePool"] = Ref("ResourcePool", "resgroup-9")
    site.add("VirtualMachine", f"vm-{number}", missing, **properties,
             runtime=obj("VirtualMachineRuntimeInfo", host=Ref("HostSystem", on),
                         connectionState=connection, powerState=power,
                         instantCloneFrozen=False),
             guest=obj("GuestInfo", toolsStatus="toolsOk",
                       toolsVersionStatus2="guestToolsUnmanaged",
                       toolsRunningStatus="guestToolsRunning"
                       if power == "poweredOn" else "guestToolsNotRunning",
                       guestState="running"),
             summary=obj("VirtualMachineSummary", vm=Ref("VirtualMachine",
                                                         f"vm-{number}"),
                         runtime={"connectionState": connection, "powerState": power},
                         config={"name": name, "template": False, "vmPathName": ""},
                         storage={"committed": 9 * GB, "uncommitted": 23 * GB,
                                  "unshared": 9 * GB,
                                  "timestamp": "2021-01-05T10:00:00.5Z"},
                         quickStats={}, overallStatus="green"),
             datastore=references("Datastore", ["datastore-11"]),
             network=Typed("ArrayOfManagedObjectReference",
                           {"ManagedObjectReference": networks}), **more)


def group(moid):
    return Ref("DistributedVirtualPortgroup", moid)


def machines(*numbers):
    return [Ref("VirtualMachine", f"vm-{n}") for n in numbers]


def north(directory):
    """Two hosts with SR-IOV."""
    site = Site(directory)
    groups = [("dvportgroup-22", "Mgmt-192.0.2.0%2f24"), ("dvportgroup-23", "storage"),
              ("dvportgroup-24", "vf-fabric")]
    nets = [group(g) for g, _ in groups]
    service(site, "7.0.1", "17327586")
    folders(site, "North", {
        "vm": machines(41, 42, 43, 44, 45),
        "host": [Ref("ClusterComputeResource", "domain-c8")],
        "datastore": [Ref("Datastore", "datastore-11")], "network": [*nets, DVS]})
    switch(site, groups)
    datastore(site, ["host-31", "host-32"])
    cluster(site, "Compute-N", ["host-31", "host-32"], nets, "manual", ha=True,
            up=2, mhz=77400, mb=477500)
    north_host(site, "host-31", "esx-n1.example.net", nets,
               ["vm-41", "vm-42", "vm-43"], vfs=4)
    north_host(site, "host-32", "esx-n2.example.net", nets, ["vm-44", "vm-45"], vfs=0)
    mgmt = on_switch("dvportgroup-22", 165, 1700000165)
    vm(site, 41, "golden-rhel8", "host-31", config(
        "golden-rhel8", 41, [disk(2000, "[nvme-pool] golden-rhel8/golden-rhel8.vmdk"),
                             nic(4000, "00:50:56:9A:00:41", mgmt)], template=True),
       [nets[0]], power="poweredOff")
    vm(site, 42, "linked", "host-31", config(
        "linked", 42, [disk(2000, "[nvme-pool] linked/linked-000001.vmdk",
                            "[nvme-pool] golden-rhel8/golden-rhel8.vmdk"),
                       nic(4000, "00:50:56:9a:00:42", mgmt)],
        extra=[("numa.nodeAffinity", "1")], latency="normal"),
       [nets[0]], missing=["environmentBrowser"])
    vm(site, 43, "with-vf", "host-31", config(
        "with-vf", 43, [disk(2000, "[nvme-pool] with-vf/with-vf.vmdk"),
                        nic(4000, "00:50:56:9a:00:43", mgmt),
                        sriov_nic(4001, "00:50:56:9a:01:43", on_switch(
                            "dvportgroup-24", 201, 1700000201), "0000:3b:00.0")],
        memory=8192, reserved=8192, latency="high"), [nets[0], nets[2]])
    vm(site, 44, "borrows", "host-32", config(
        "borrows", 44, [disk(2000, "[nvme-pool] borrows/borrows.vmdk"),
                        disk(2001, "[nvme-pool] with-vf/data.vmdk"),
                        sriov_nic(4000, "00:50:56:9a:00:44", on_switch(
                            "dvportgroup-24", 202, 1700000202),
                            "Automatic-0000:00:00.0")]),
       [nets[2]], power="poweredOff")
    vm(site, 45, "thick", "host-32", config(
        "thick", 45, [disk(2000, "[nvme-pool] thick/thick.vmdk", thin=False),
                      nic(4000, "00:50:56:9a:00:45", mgmt, "VirtualE1000e")],
        firmware="bios"), [nets[0]], power="suspended")


def south(directory):
    """Older hosts, one of which does not answer."""
    site = Site(directory)
    nets = [Ref("Network", "network-12"), Ref("OpaqueNetwork", "network-o13")]
    service(site, "6.7.0", "17137327")
    folders(site, "South", {
        "vm": machines(51, 52, 54),
        "host": [Ref("ClusterComputeResource", "domain-c8")],
        "datastore": [Ref("Datastore", "datastore-11")], "network": nets})
    site.add("Network", "network-12",
             **entity("Lab-198.51.100.0/24", Ref("Folder", "group-n7")),
             summary=obj("NetworkSummary", name="Lab-198.51.100.0/24", accessible=True))
    site.add("OpaqueNetwork", "network-o13",
             **entity("segment", Ref("Folder", "group-n7")),
             summary=obj("OpaqueNetworkSummary", name="segment", accessible=True,
                         opaqueNetworkId="0a0b0c0d-0001-4002-8003-040506070809",
                         opaqueNetworkType="nsx.LogicalSwitch"))
    datastore(site, ["host-33"])
    cluster(site, "Compute-S", ["host-33", "host-34"], nets, None, ha=False,
            up=1, mhz=27500, mb=119300)
    south_host(site, "host-33", "esx-s1.example.net", nets,
               ["vm-51", "vm-52", "vm-53", "vm-54"])
    site.add("HostSystem", "host-34",
             **entity("esx-s2.example.net", Ref("ClusterComputeResource", "domain-c8")),
             runtime=runtime("notResponding", "unknown"),
             summary=obj("HostListSummary", host=Ref("HostSystem", "host-34"),
                         rebootRequired=False, overallStatus="red",
                         config={"name": "esx-s2.example.net", "port": 902,
                                 "vmotionEnabled": False,
                                 "faultToleranceEnabled": False}))
    vm(site, 51, "on-standard", "host-33", config(
        "on-standard", 51, [disk(2000, "[nvme-pool] on-standard/a.vmdk"),
                            nic(4000, "00:50:56:9b:00:51", on_network(
                                "network-12", "Lab-198.51.100.0/24")),
                            nic(4001, "00:50:56:9b:01:51", obj(
                                "VirtualEthernetCardOpaqueNetworkBackingInfo",
                                opaqueNetworkId="0a0b0c0d-0001-4002-8003-040506070809",
                                opaqueNetworkType="nsx.LogicalSwitch"))]), nets)
    vm(site, 54, "golden-old", "host-33", config(
        "golden-old", 54, [disk(2000, "[nvme-pool] golden-old/golden-old.vmdk"),
                           nic(4000, "00:50:56:9b:00:54", on_network(
                               "network-12", "Lab-198.51.100.0/24"))], template=True),
       nets[:1], power="poweredOff")
    vm(site, 52, "not-there", "host-33", None, [], power="poweredOff",
       connection="inaccessible")
    vm(site, 53, "in-a-vapp", "host-33", config(
        "in-a-vapp", 53, [disk(2000, "[nvme-pool] in-a-vapp.vmdk")]), [],
       parent=False)


def write(directory):
    """The recordings' directories."""
    out = [pathlib.Path(directory) / name for name in ("north", "south")]
    north(out[0])
    south(out[1])
    return out


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: sample.py DIRECTORY")
    for made in write(sys.argv[1]):
        print(made)
