#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How fast VMs come from nothing: 64 with an SR-IOV NIC on 16 hosts, where a
clone takes 8 s, a power-on 4 s and a call 10 ms, without and with the default
budgets; then 1,000 at once. Nothing boots: what is measured ends when the
simulator has powered the last one on. bench_peers.py does the same work by others."""

import datetime
import math
import re
import sys
import time

from bench_lines import (line, peak_mib, remark, run, slurmctld_pid,
                         thread_cpu)
from cluster import Cluster, ClusterError, wait_for
from worlds import world

VMS, HOSTS = 64, 16
CLONE_S, POWER_S = 8, 4
PATH_S = CLONE_S + POWER_S          # of one VM
SOURCE_SLOTS = 8                    # clones that one host's slots let through
PROVISION, POWER = 20, 50           # vsphere.conf's defaults
NARROW, WIDE = SOURCE_SLOTS, 1000
MANY, MANY_HOSTS = 1000, 125
MANY_CLONE_S, MANY_POWER_S = 0.5, 0.25


def best_s(vms, at_once, clone_s, power_s):
    """The best schedule: all slots always taken, the last one's power-on."""
    return math.ceil(vms / at_once) * clone_s + power_s


def inventory(hosts, vfs, clone_s, power_s, source_slots):
    inv = world(hosts=hosts, vfs=vfs, durations={
        "CloneVM_Task": f"{int(clone_s * 1000)}ms",
        "PowerOnVM_Task": f"{int(power_s * 1000)}ms", "call": "10ms"},
        taskSlots={"vcenter": 640, "host": source_slots, "datastore": WIDE})
    inv["guest"] = {"command": ["/bin/true"]}
    return inv


def cluster_make(nodes, plain=False, budgets=None, **what):
    c = Cluster(inventory=None if plain else inventory(**what), nodes=nodes,
                plain=plain)
    c.vsphere = {"BootTimeout": 86400, **(budgets or {})}
    c.slurm = {"ResumeTimeout": 36000, "SlurmctldDebug": "verbose",
               "TreeWidth": 65000, "MessageTimeout": 60,
               "SuspendProgram": "/bin/true", "ResumeProgram": "/bin/true",
               "SuspendTime": 36000, "SuspendTimeout": 5,
               "ResumeRate": 0, "SuspendRate": 0, "PrivateData": "cloud",
               "DebugFlags": "NO_CONF_HASH,HetJob"}
    c.node_lines = [c_node_lines(nodes)]
    c.start_static_slurmd = lambda *_: None     # plain: nothing boots there
    return c


def c_node_lines(nodes):
    # One port for all nodes: no process listens there.
    return (f"NodeName=vm[0001-{nodes:04d}] NodeHostname=localhost "
            "NodeAddr=127.0.0.1 Port=6818 CPUs=2 RealMemory=1024 "
            "Features=sriov-roce State=CLOUD")


def allocated_at(cluster, job):
    """When slurmctld gave the job its nodes, by its own log."""
    m = re.search(rf"^\[(\S+)\] .*(?:Allocate|Started) JobId={job} ",
                  cluster.ctld_log(), re.M)
    if not m:
        raise ClusterError(f"the log doesn't say when JobId={job} began")
    return datetime.datetime.fromisoformat(m.group(1)).timestamp()


def on_at(cluster, n, timeout, every=0.5):
    """When the last of n VMs had been powered on, by the simulator's tasks."""
    wait_for(f"{n} VMs are on", timeout,
             lambda: len(cluster.names_on()) >= n, every=every)
    return max(t["ended"] for t in cluster.state()["tasks"]
               if t["method"] == "PowerOnVM_Task" and t["state"] == "success")


def gang(cluster, n, timeout, every=0.5):
    """Seconds from the allocation of a job of n nodes to its last VM on."""
    cluster.sim("counters/reset", {})
    job = cluster.sbatch(f"-N{n}", "--exclusive", script="true")
    ended = on_at(cluster, n, timeout, every)
    return ended - allocated_at(cluster, job)


def calls(cluster, n, name):
    c = cluster.counters()
    total = sum(c["calls"].values())
    remark(f"{name}: " + ", ".join(f"{k} {v}" for k, v in
                                   sorted(c["calls"].items())))
    line(f"{name}_mutating_calls_per_vm", cluster.mutating() / n, "calls", 2)
    line(f"{name}_calls_per_vm", total / n, "calls", 4)


def started(cluster):
    cluster.start()
    wait_for("the plugin has read vCenter", 120,
             lambda: cluster.svf("status")["up"])
    return cluster


def without_budgets():
    c = cluster_make(VMS, hosts=HOSTS, vfs=8, clone_s=CLONE_S,
                     power_s=POWER_S, source_slots=WIDE,
                     budgets={"MaxProvisionOps": WIDE, "MaxPowerOps": WIDE,
                              "MaxOpsPerHost": 128})
    try:
        started(c)
        took = gang(c, VMS, 120)
        remark(f"{VMS} VMs without budgets: {took:.2f} s")
        line("provision_unlimited_over_path", took / PATH_S, "ratio", 1.10)
        calls(c, VMS, "provision_unlimited")
    finally:
        c.remove()


def default_budgets():
    c = cluster_make(VMS, hosts=HOSTS, vfs=8, clone_s=CLONE_S,
                     power_s=POWER_S, source_slots=SOURCE_SLOTS)
    best = best_s(VMS, min(PROVISION, SOURCE_SLOTS), CLONE_S, POWER_S)
    try:
        started(c)
        took = gang(c, VMS, 4 * best)
        remark(f"{VMS} VMs with the default budgets: {took:.2f} s, the best "
               f"schedule {best} s ({SOURCE_SLOTS} clones from one host)")
        line("provision_default_over_best", took / best, "ratio", 1.10)
        calls(c, VMS, "provision_default")
    finally:
        c.remove()


# ---- many ----------------------------------------------------------------------

def stock_peak():
    """What slurmctld needs by itself for such a job."""
    c = cluster_make(MANY, plain=True)
    try:
        c.start()
        job = c.sbatch(f"-N{MANY}", "--exclusive", script="true")
        c.wait_state(job, ["CONFIGURING", "RUNNING"], 60)
        time.sleep(5)       # its nodes are told to wake
        return peak_mib(slurmctld_pid(c))
    finally:
        c.remove()


def many_at_once():
    c = cluster_make(MANY, hosts=MANY_HOSTS, vfs=MANY // MANY_HOSTS,
                     clone_s=MANY_CLONE_S, power_s=MANY_POWER_S,
                     source_slots=SOURCE_SLOTS)
    stock = stock_peak()
    best = best_s(MANY, SOURCE_SLOTS, MANY_CLONE_S, MANY_POWER_S)
    try:
        started(c)
        pid = slurmctld_pid(c)
        cpu = thread_cpu(pid, "vs_engine")
        took = gang(c, MANY, 4 * best, every=2)
        cpu = thread_cpu(pid, "vs_engine") - cpu
        peak = peak_mib(pid)
        most = c.counters()["maxInFlightBy"]
    finally:
        c.remove()
    remark(f"{MANY} VMs, a clone {MANY_CLONE_S} s, default budgets: "
           f"{took:.1f} s, the best schedule {best:.0f} s; slurmctld's peak "
           f"{peak:.1f} MiB, stock's {stock:.1f} MiB")
    line("provision_1000_engine_cpu", cpu, "s", 2)
    line("provision_1000_core_peak_memory", peak - stock, "MiB", 64)
    line("provision_1000_clones_in_flight", most.get("CloneVM_Task", 0),
         "tasks", PROVISION)
    line("provision_1000_power_ons_in_flight", most.get("PowerOnVM_Task", 0),
         "tasks", POWER)


if __name__ == "__main__":
    sys.exit(run(without_budgets, default_budgets, many_at_once))
