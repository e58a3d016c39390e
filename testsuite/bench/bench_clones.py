#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""64 VMs on 16 hosts, made in the three ways (Clone=full, linked, instant), with
the durations that are published for each task: a full clone 90 s, a linked one 5 to
10 s (puppetlabs/vmpooler), an instant one 2 s (64 in 128 s: VMware, What's new in
vSphere 6.7 for HPC). The simulator runs ten times as fast, and what is measured is
told as if it didn't, so that our own work counts tenfold. The parents of the latter
two are there. Nothing boots: of the boot of a full or linked clone, which an instant
one doesn't have, nothing is in it."""

import sys

from bench_lines import line, remark, run
from bench_provision import allocated_at, c_node_lines
from cluster import Cluster, wait_for
from worlds import world

VMS, HOSTS = 64, 16
FASTER = 10
PUBLISHED_S = 128                   # of 64 instant clones
TASKS = {"full": ("CloneVM_Task", 90), "linked": ("CloneVM_Task", 7.5),
         "instant": ("InstantClone_Task", PUBLISHED_S / VMS)}
POWER_S = 4
# A parent asks to be frozen; the others only sit there.
GUEST = """grep -q '"guestinfo.slurm.parent": *"yes"' "$VM_GUESTINFO" &&
: >"$VM_DIR/frozen"; exec sleep 100000"""
took = {}


def cluster_make(how):
    task, seconds = TASKS[how]
    inv = world(hosts=HOSTS, durations={
        "CloneVM_Task": "50ms", "PowerOnVM_Task": f"{POWER_S * 100}ms",
        "Destroy_Task": "50ms", "call": "1ms"})
    inv["guest"] = {"command": ["/bin/sh", "-c", GUEST]}
    inv["taskSlots"] = {"vcenter": 640, "host": 8, "datastore": 128}
    c = Cluster(inventory=inv, nodes=VMS)
    c.vsphere = {"BootTimeout": 86400, "lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        "AdapterName=sriov-roce Type=vmxnet3 Network=VM-PG",
        "PartitionName=debug Adapter=sriov-roce Template=rhel9-ofed "
        f"Clone={how}"]}
    c.slurm = {"ResumeTimeout": 36000, "SlurmctldDebug": "verbose",
               "TreeWidth": 65000, "MessageTimeout": 60,
               "SuspendProgram": "/bin/true", "ResumeProgram": "/bin/true",
               "SuspendTime": 36000, "SuspendTimeout": 2, "ResumeRate": 0,
               "SuspendRate": 0, "PrivateData": "cloud",
               "DebugFlags": "NO_CONF_HASH"}
    c.node_lines = [c_node_lines(VMS)]
    c.partition_lines = ["PartitionName=debug Nodes=ALL Default=YES "
                         "MaxTime=INFINITE"]
    return c, task, seconds


def nodes_on(c):
    return {v["name"] for v in c.our_vms()
            if v["on"] and not v["name"].startswith("parent-")}


def gang(c, last):
    """Seconds until the last of 64 is on, by the simulator's tasks."""
    job = c.sbatch(f"-N{VMS}", "--exclusive", script="true")
    wait_for(f"{VMS} VMs are on", 600, lambda: len(nodes_on(c)) >= VMS,
             every=0.5)
    ended = max(t["ended"] for t in c.state()["tasks"]
                if t["method"] == last and t["state"] == "success")
    took_s = ended - allocated_at(c, job)
    c.must("scancel", job)
    return took_s


def parents_first(c):
    """The parents are made by a job of as many nodes, whose VMs go again."""
    gang(c, "PowerOnVM_Task")
    c.must("scontrol", "update", f"node=vm[0001-{VMS:04d}]",
           "state=power_down_force")
    wait_for("they are off", 120, lambda: not nodes_on(c))
    wait_for("the nodes are powered down", 120, lambda: all(
        "POWERED_DOWN" in s for s in c.node_states().values()))
    for vm in c.our_vms():
        if not vm["name"].startswith("parent-"):
            c.do("destroyVm", vm=vm["name"], wait=True)


def measure(how):
    def go():
        c, task, seconds = cluster_make(how)
        try:
            c.start()
            wait_for("the plugin has read vCenter", 120,
                     lambda: c.svf("status")["up"])
            if how != "full":
                parents_first(c)
            c.do("setDuration", name=task,
                 duration=f"{int(seconds / FASTER * 1000)}ms")
            took[how] = FASTER * gang(
                c, task if how == "instant" else "PowerOnVM_Task")
        finally:
            c.remove()
        remark(f"{VMS} VMs by Clone={how}: {took[how]:.0f} s")
    go.__name__ = how
    return go


def compared():
    line("clones_instant_over_published", took["instant"] / PUBLISHED_S,
         "ratio", 1)
    line("clones_linked_over_instant", took["linked"] / took["instant"],
         "ratio", 2, at_least=True)
    line("clones_full_over_linked", took["full"] / took["linked"], "ratio", 2,
         at_least=True)


if __name__ == "__main__":
    sys.exit(run(*(measure(how) for how in TASKS), compared))
