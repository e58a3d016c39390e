#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What it costs to watch a large site while no job runs: 1,000 hosts and 4,000
VMs, half of them managed and off, half other people's and on, of which two a
second come, go or change. Calls to vCenter by the simulator's count, and how
long svf hosts takes."""

import subprocess
import sys
import time
import uuid

from bench_lines import (children_cpu, line, remark, run, slurmctld_pid,
                         thread_cpu)
from cluster import Cluster, wait_for
from worlds import ROCE, host, world

HOSTS, OURS, FOREIGN = 1000, 2000, 2000
CHURN = 2                   # changes a second
SETTLE_S, SECONDS = 45, 60    # 30 s after the last request polling is rarest
SVF_TIMES = 21


def our_vm(cluster_id, i):
    """A VM that we made for node i, switched off."""
    name, uid = f"vm{i:04d}", str(uuid.UUID(int=(1 << 120) + i))
    return {"name": name, "folder": "slurm", "pool": "slurm",
            "host": f"esx{i % HOSTS + 1:04d}.example.org",
            "instanceUuid": uid, "numCPUs": 2, "memoryMB": 1024,
            "lockMemory": True, "nics": ["VM-PG"],
            "cards": [{"type": "sriov", "network": ROCE, "pf": "automatic"}],
            "extraConfig": {
                "slurm.vsphere.owner": f"{cluster_id}/{name}/{uid}"}}


def inventory(cluster_id):
    hosts = [host(f"esx{i:04d}.example.org", vfs=16, cores=64,
                  memory=512 * 1024) for i in range(1, HOSTS + 1)]
    vms = [our_vm(cluster_id, i) for i in range(1, OURS + 1)]
    vms.append({"name": "others%05d", "count": FOREIGN, "folder": "",
                "host": "*", "powerOn": True, "numCPUs": 2, "memoryMB": 2048,
                "nics": ["VM-PG"], "lockMemory": True,
                "cards": [{"type": "sriov", "network": ROCE,
                           "pf": "automatic"}]})
    inv = world(hosts=hosts, vms=vms)
    inv["guest"] = {"command": ["/bin/true"]}
    inv["datacenters"][0]["datastores"] = [
        {"name": "vsan", "capacityGB": 2000000, "freeGB": 1900000}]
    return inv


def cluster_make():
    cluster_id = str(uuid.uuid4())
    c = Cluster(inventory=inventory(cluster_id), nodes=0)
    c.slurm = {"SlurmctldDebug": "verbose", "MessageTimeout": 60}
    c.node_lines = [
        f"NodeName=vm[0001-{OURS:04d}] NodeHostname=localhost "
        "NodeAddr=127.0.0.1 Port=6818 CPUs=2 RealMemory=1024 "
        "Features=sriov-roce State=CLOUD"]
    c.make_dirs()
    c.path("state", "slurm_vsphere.id").write_text(cluster_id)
    return c


def steady(cluster):
    cluster.do("churn", churn={"rate": CHURN, "seed": 1, "max": 100})
    time.sleep(SETTLE_S)
    pid = slurmctld_pid(cluster)
    before, cpu = cluster.counters(), thread_cpu(pid, "vs_engine")
    time.sleep(SECONDS)
    after, cpu = cluster.counters(), thread_cpu(pid, "vs_engine") - cpu
    made = {k: n - before["calls"].get(k, 0)
            for k, n in after["calls"].items()}
    deeds = sum(after["churn"].values()) - sum(before["churn"].values())
    total = sum(made.values())
    remark(f"{SECONDS} s, {OURS + FOREIGN} VMs, {deeds} deeds of others: "
           + ", ".join(f"{k} {n}" for k, n in sorted(made.items()) if n)
           + f"; the engine's thread took {cpu:.2f} s")
    line("reconcile_calls_per_5_s", total / SECONDS * 5, "calls", 1)
    line("reconcile_mutating_calls",
         after["mutating"] - before["mutating"], "calls", 0)
    cluster.do("churn", churn={"rate": 0})


def svf_hosts(cluster):
    wall, cpu = [], []
    pid = slurmctld_pid(cluster)
    answers = thread_cpu(pid, "vs_control")
    for _ in range(SVF_TIMES):
        used, began = children_cpu(), time.monotonic()
        out = subprocess.run(["svf", "hosts"], env=cluster.env, check=True,
                             capture_output=True, text=True, timeout=60)
        wall.append((time.monotonic() - began) * 1000)
        cpu.append((children_cpu() - used) * 1000)
        assert out.stdout.count(".example.org") >= HOSTS, out.stdout[:300]
    answers = (thread_cpu(pid, "vs_control") - answers) * 1000
    middle = SVF_TIMES // 2
    remark(f"svf hosts of {HOSTS} hosts, {SVF_TIMES} times: at worst "
           f"{max(wall):.0f} ms; CPU at the mean: its own "
           f"{sum(cpu) / SVF_TIMES:.0f} ms, slurmctld's "
           f"{answers / SVF_TIMES:.0f} ms")
    line("control_svf_hosts_median", sorted(wall)[middle], "ms", 100)


def measure():
    c = cluster_make()
    try:
        c.start()
        wait_for("the plugin has read vCenter", 120, lambda:
                 " slurm-vsphere: ready: " in c.ctld_log())
        owned = [v for v in c.our_vms() if v["owner"]]
        assert len(owned) == OURS and f"vms={OURS + FOREIGN + 1}" in \
            c.ctld_log(), c.ctld_errors()
        steady(c)
        svf_hosts(c)
    finally:
        c.remove()


if __name__ == "__main__":
    sys.exit(run(measure))
