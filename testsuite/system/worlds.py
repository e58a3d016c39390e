# SPDX-License-Identifier: GPL-2.0-or-later
"""What the simulated vCenter holds, as data: the inventories of the tests."""

from daemons import PASSWORD, USERNAME

# Short, so that a test takes seconds; their proportions are a vCenter's.
FAST = {
    "CloneVM_Task": "300ms", "ReconfigVM_Task": "100ms",
    "PowerOnVM_Task": "200ms", "PowerOffVM_Task": "100ms",
    "Destroy_Task": "100ms", "RelocateVM_Task": "300ms",
    "ShutdownGuest": "200ms", "call": "2ms",
}
ROCE, IB = "SRIOV-ROCE-PG", "SRIOV-IB-PG"
PF0 = "0000:3b:00.0"
# vsphere.conf of a site with a partition of each.
ROCE_AND_ETH = [
    "VSphereCluster=HPC1 ResourcePool=slurm",
    "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
    "AdapterName=vmxnet3 Type=vmxnet3 Network=VM-PG",
    "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed",
    "PartitionName=eth Adapter=vmxnet3 Template=rhel9-ofed"]


def host(name, vfs=4, ib_vfs=0, cores=32, memory=128 * 1024):
    """An ESXi host with a RoCE adapter of `vfs` VFs (0: none active), one of
    InfiniBand if asked, and an Ethernet NIC."""
    pnics = [{"device": "vmnic0", "pci": "0000:18:00.0", "numa": 0,
              "speedMb": 25000, "switch": "dvs-mgmt"},
             {"device": "vmnic4", "pci": PF0, "numa": 0, "speedMb": 100000,
              "switch": "dvs-roce", "rdma": True,
              "sriov": {"vfs": vfs, "max": 16, "active": vfs > 0}}]
    if ib_vfs:
        pnics.append({"device": "vmnic6", "pci": "0000:af:00.0", "numa": 1,
                      "speedMb": 200000, "switch": "dvs-ib", "rdma": True,
                      "sriov": {"vfs": ib_vfs, "max": 16}})
    return {"name": name, "cores": cores, "mhz": 2400, "memoryMB": memory,
            "numa": 2, "pnics": pnics}


def template(name="rhel9-ofed", **over):
    return {"name": name, "numCPUs": 2, "memoryMB": 2048, "diskGB": 10,
            "nics": ["VM-PG"], "template": True, **over}


def foreign(name, where, pf=PF0, network=ROCE, on=True):
    """Another user's VM that holds a VF of a host."""
    return {"name": name, "folder": "", "host": where, "powerOn": on,
            "numCPUs": 2, "memoryMB": 2048, "lockMemory": True,
            "nics": ["VM-PG"],
            "cards": [{"type": "sriov", "network": network, "pf": pf}]}


def world(hosts=4, vfs=4, ib_vfs=0, vms=(), templates=None, durations=None,
          **top):
    """`hosts` hosts of `vfs` VFs each (or a list of host())."""
    if isinstance(hosts, int):
        hosts = [host(f"esx{i:02d}.example.org", vfs, ib_vfs)
                 for i in range(1, hosts + 1)]
    return {
        "users": [{"name": USERNAME, "password": PASSWORD}],
        "durations": {**FAST, **(durations or {})},
        "datacenters": [{
            "name": "DC0",
            "folders": ["slurm"],
            "datastores": [{"name": "vsan", "capacityGB": 20000,
                            "freeGB": 15000}],
            "switches": [{"name": "dvs-mgmt", "maxMtu": 1500},
                         {"name": "dvs-roce", "maxMtu": 9000},
                         {"name": "dvs-ib", "maxMtu": 4092}],
            "networks": [{"name": "VM-PG", "switch": "dvs-mgmt"},
                         {"name": ROCE, "switch": "dvs-roce"},
                         {"name": IB, "switch": "dvs-ib"}],
            "clusters": [{"name": "HPC1", "drs": "manual",
                          "pools": ["slurm"], "hosts": hosts}],
            "templates": templates or [template()],
            "vms": list(vms),
        }],
        **top,
    }


def with_fpgas(w):
    """A device that its hosts could hand out for each of a PF's three VFs."""
    for h in w["datacenters"][0]["clusters"][0]["hosts"]:
        h["devices"] = [{"pci": f"0000:{bus}:00.0", "vendor": 0x10ee,
                         "device": 0x5000, "name": "U250"}
                        for bus in ("65", "66", "67")]
    return w
