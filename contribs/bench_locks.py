#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long slurmctld is kept by us: a real one with 10,000 nodes, a vCenter of
1,000 hosts and 4,000 VMs. Jobs come and are cancelled, strangers' VMs come and
go, people look at everything. What is told is what svf status says of it.
Lines `name value unit bar pass|fail`. On a machine that has other work only
`own_work` says something: the rest are waits for a processor."""

import pathlib
import random
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "testsuite/system"))

from cluster import Cluster, ClusterError, Timeout, wait_for    # noqa: E402
from worlds import ROCE, host, world                            # noqa: E402

NODES, HOSTS, FOREIGN = 10000, 1000, 4000
SECONDS = 60
P99_BAR_MS, WORST_BAR_MS = 1.0, 10.0
failed = []


def line(name, value, bar):
    ok = value <= bar
    print(f"{name} {value:.3f} ms {bar} {'pass' if ok else 'fail'}",
          flush=True)
    if not ok:
        failed.append(name)


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
        print(f"# {name}: {t['count']} times, median "
              f"{t['p50_us'] / 1000:.3f} ms, of its own work "
              f"{t['cpu_p50_us'] / 1000:.3f} ms", flush=True)
        line(f"{name}_p99", t["p99_us"] / 1000, P99_BAR_MS)
        line(f"{name}_worst", t["worst_us"] / 1000, WORST_BAR_MS)
        line(f"{name}_own_work_p99", t["cpu_p99_us"] / 1000, P99_BAR_MS)
        line(f"{name}_own_work_worst", t["cpu_worst_us"] / 1000,
             WORST_BAR_MS)


def main():
    cluster = cluster_make()
    try:
        cluster.start()
        wait_for("the plugin has read vCenter", 120,
                 lambda: cluster.svf("status")["up"])
        with Load(cluster) as load:
            time.sleep(SECONDS)
        print(f"# {SECONDS} s: {load.done}", flush=True)
        tell(cluster)
    except (ClusterError, Timeout, AssertionError) as e:
        print(f"bench.sh: {e}\n{cluster.ctld_errors()}", file=sys.stderr)
        return 1
    finally:
        cluster.remove()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
