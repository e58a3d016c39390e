#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long slurmctld is kept by us: a real one with 10,000 nodes, a vCenter of
1,000 hosts and 4,000 VMs. Jobs come and are cancelled, strangers' VMs come and
go, people look at everything. What is told is what svf status says of it.
Lines `name value unit bar pass|fail`. On a machine that has other work only
`own_work` says something: the rest are waits for a processor."""

import random
import socket
import subprocess
import sys
import threading
import time

from bench_lines import line, remark, run
from cluster import Cluster, wait_for
from worlds import ROCE, host, world

NODES, HOSTS, FOREIGN = 10000, 1000, 4000
SECONDS = 60
P99_BAR_MS, WORST_BAR_MS = 1.0, 10.0


def big():
    hosts = [host(f"esx{i:04d}.example.org", vfs=16, cores=64,
                  memory=512 * 1024) for i in range(1, HOSTS + 1)]
    inventory = world(hosts=hosts, vms=[
        {"name": "others%05d", "count": FOREIGN, "folder": "", "host": "*",
         "powerOn": True, "numCPUs": 2, "memoryMB": 2048, "lockMemory": True,
         "nics": ["VM-PG"],
         "cards": [{"type": "sriov", "network": ROCE, "pf": "automatic"}]}],
        durations={"CloneVM_Task": "2s", "PowerOnVM_Task": "2s"})
    # Nothing boots: no machine carries so many slurmds.
    inventory["guest"] = {"command": ["/bin/true"]}
    return inventory


def cluster_make():
    c = Cluster(inventory=big(), nodes=1)
    c.node_lines = [
        f"NodeName=vm[00001-{NODES:05d}] NodeHostname={socket.gethostname()} "
        "NodeAddr=127.0.0.1 Port=6818 CPUs=2 RealMemory=1024 "
        "Features=sriov-roce State=CLOUD"]
    c.slurm = {"ResumeTimeout": 600, "SlurmctldDebug": "info",
               "TreeWidth": 65000, "MessageTimeout": 60}
    return c


class Load:
    """Threads that use the cluster until they are told to end."""

    def __init__(self, cluster):
        self.cluster, self.over = cluster, threading.Event()
        self.done = {}
        self.threads = [threading.Thread(target=self.loop, args=(f,))
                        for f in (self.jobs, self.people)]

    def loop(self, what):
        rng = random.Random(what.__name__)
        while not self.over.is_set():
            what(rng)
            self.done[what.__name__] = self.done.get(what.__name__, 0) + 1

    def run(self, *argv):
        subprocess.run(argv, env=self.cluster.env, timeout=120, check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def jobs(self, rng):
        for _ in range(5):
            self.run("sbatch", f"-N{rng.randint(1, 16)}", "-o", "/dev/null",
                     f"-t{rng.randint(1, 60)}", "--wrap", "true")
        if rng.random() < 0.5:
            self.run("scancel", "--state=PENDING", "--user=root")
        if rng.random() < 0.2:
            self.run("scancel", "--user=root")

    def people(self, rng):
        self.run(*rng.choice((["squeue"], ["sinfo"], ["svf", "hosts"],
                              ["svf", "nodes"], ["svf", "status"])))

    def __enter__(self):
        for t in self.threads:
            t.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for t in self.threads:
            t.join()


def tell(cluster):
    status = cluster.svf("status")
    for key, name in (("select_calls", "select_call"),
                      ("slurm_locks", "slurm_lock_held")):
        t = status[key]
        remark(f"{name}: {t['count']} times, median "
               f"{t['p50_us'] / 1000:.3f} ms, of its own work "
               f"{t['cpu_p50_us'] / 1000:.3f} ms")
        for kind, of in (("", ""), ("_own_work", "cpu_")):
            line(f"{name}{kind}_p99", t[of + "p99_us"] / 1000, "ms",
                 P99_BAR_MS)
            line(f"{name}{kind}_worst", t[of + "worst_us"] / 1000, "ms",
                 WORST_BAR_MS)


def measure():
    cluster = cluster_make()
    try:
        cluster.start()
        wait_for("the plugin has read vCenter", 120,
                 lambda: cluster.svf("status")["up"])
        with Load(cluster) as load:
            time.sleep(SECONDS)
        remark(f"{SECONDS} s: {load.done}")
        tell(cluster)
    finally:
        cluster.remove()


if __name__ == "__main__":
    sys.exit(run(measure))
