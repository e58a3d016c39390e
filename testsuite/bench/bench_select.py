#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What scheduling costs beside stock cons_tres: two slurmctld with one and the
same slurm.conf but for SelectType and PrEpPlugins, 10,000 nodes of two
adapters nearly all taken by running jobs, 5,000 pending jobs of which none can
start; slurm-vsphere's has a vCenter of 1,000 hosts. First VFs are ample, then other
people's VMs take those of one adapter, which half of the queue wants. The idle
nodes of that adapter then serve no job: stock's are drained, so that both
schedulers have the same nodes to plan with. (With them stock's backfill plans
earlier starts, and makes 6.6 calls for a job instead of 8.5.) All of that twice:
without and with AllowMoreNodesThanVFs=yes.

Cycles of the two are measured turn by turn, one of them stopped meanwhile. The
measure is the CPU time of the scheduler's thread (/proc/*/schedstat), which
other work on the machine changes little: of backfill for each job that it tried,
of the main scheduler, which ends a partition's turn with its first job that
can't start, for each that it looked at. sdiag says how many these are.

Three numbers as arguments, nodes, hosts and pending jobs: another size."""

import os
import random
import re
import signal
import statistics
import subprocess
import sys
import time

from bench_lines import line, remark, run, slurmctld_pid, thread_cpu
from cluster import Cluster, ClusterError, wait_for
from worlds import IB, ROCE, host, world

NODES, HOSTS, PENDING = (int(x) for x in sys.argv[1:4] or (10000, 1000, 5000))
IDLE = 20                   # nodes of each adapter that no job has
ROUNDS = 7                  # cycles of each
DEPTH = 200                 # jobs that a cycle of backfill tries
ADAPTERS = ("sriov-roce", "sriov-ib")
MAIN, BACKFILL = "Main schedule", "Backfilling"
AMPLE_BAR, SHORT_BAR, OWN_P99_BAR_US = 1.02, 1.05, 100


def inventory():
    """As many VFs of each adapter as it has nodes: five a host."""
    hosts = [host(f"esx{i:04d}.example.org", vfs=NODES // 2 // HOSTS,
                  ib_vfs=NODES // 2 // HOSTS, cores=64, memory=512 * 1024)
             for i in range(1, HOSTS + 1)]
    inv = world(hosts=hosts, durations={
        k: "0ms" for k in ("CloneVM_Task", "PowerOnVM_Task", "call")},
        taskSlots={"vcenter": 640, "host": 640, "datastore": 640})
    inv["guest"] = {"command": ["/bin/true"]}
    inv["datacenters"][0]["datastores"] = [
        {"name": "vsan", "capacityGB": 2000000, "freeGB": 1900000}]
    return inv


def cluster_make(plain, more_names):
    half = NODES // 2
    c = Cluster(inventory=None if plain else inventory(), nodes=0, plain=plain)
    c.vsphere = {"MaxProvisionOps": 640, "MaxPowerOps": 640, "MaxOpsPerHost": 128,
                 "BootTimeout": 86400, "ProvisionTimeout": 86400,
                 "AllowMoreNodesThanVFs": "yes" if more_names else "no", "lines": [
                     "VSphereCluster=HPC1 ResourcePool=slurm",
                     f"AdapterName={ADAPTERS[0]} Type=sriov Network={ROCE} MTU=9000",
                     f"AdapterName={ADAPTERS[1]} Type=sriov Network={IB} "
                     "LinkLayer=InfiniBand",
                     f"PartitionName=roce Adapter={ADAPTERS[0]} Template=rhel9-ofed",
                     f"PartitionName=ib Adapter={ADAPTERS[1]} Template=rhel9-ofed"]}
    c.node_lines = [
        f"NodeName=vm[{first:05d}-{last:05d}] NodeHostname=localhost "
        "NodeAddr=127.0.0.1 Port=6818 CPUs=2 RealMemory=1024 "
        f"Features={feature} State=CLOUD" for first, last, feature in (
            (1, half, ADAPTERS[0]), (half + 1, NODES, ADAPTERS[1]))]
    c.partition_lines = [
        "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE",
        f"PartitionName=roce Nodes=vm[00001-{half:05d}]",
        f"PartitionName=ib Nodes=vm[{half + 1:05d}-{NODES:05d}]"]
    c.slurm = {
        "PrologFlags": "Alloc", "PrivateData": "cloud",
        "SuspendProgram": "/bin/true", "ResumeProgram": "/bin/true",
        "SuspendTime": 36000, "SuspendTimeout": 5, "ResumeTimeout": 36000,
        "ResumeRate": 0, "SuspendRate": 0, "TreeWidth": 65000,
        "MessageTimeout": 60, "SlurmctldDebug": "info",
        "MaxJobCount": 4 * PENDING, "SchedulerParameters":
        f"nohold_on_prolog_fail,bf_interval=2,bf_max_job_test={DEPTH},"
        "bf_continue,bf_max_time=600,bf_resolution=600,bf_window=2880,"
        "sched_interval=2"}
    return c


# ---- the queue ------------------------------------------------------------------

def running_jobs():
    """Nearly all nodes for hours, in gangs of three sizes."""
    rng = random.Random("running")
    for adapter in ADAPTERS:
        left = NODES // 2 - IDLE
        while left:
            n = min(left, rng.choice((16, 32, 64)))
            yield f"all {adapter} {n} 1440 900000"
            left -= n


def pending_jobs():
    """More nodes than are idle each, the adapters in turn."""
    rng = random.Random("pending")
    for i in range(PENDING):
        yield (f"all {ADAPTERS[i % 2]} {rng.choice((24, 32, 48, 64))} "
               f"{rng.randint(30, 1440)} {800000 - i}")


def submit(cluster, jobs):
    r = subprocess.run(
        [f"{os.environ['VS_BUILD']}/testsuite/bench/submit"], text=True,
        input="\n".join(jobs) + "\n", env=cluster.env, capture_output=True,
        timeout=600, check=False)
    if r.returncode:
        raise ClusterError(f"submit: {r.stderr.strip()}")
    return int(r.stdout)


def ends_alike(cluster, n, first):
    """What backfill does hangs on when jobs end, and VMs take their time to
    begin: the n jobs that run end at the same times in both."""
    rng = random.Random("ends")
    r = subprocess.run(["scontrol"], text=True, env=cluster.env, timeout=300,
                       capture_output=True, check=False, input="".join(
        f"update JobId={i} EndTime=" + time.strftime(
            "%Y-%m-%dT%H:%M:%S\n",
            time.localtime(first + 60 * rng.randint(0, 1320)))
        for i in range(1, n + 1)))
    if r.returncode or r.stderr:
        raise ClusterError(f"scontrol update: {r.stderr.strip()}")


def fill(cluster, ends):
    began = time.monotonic()
    n = submit(cluster, running_jobs())
    wait_for("the running jobs have their nodes", 300, lambda: not
             cluster.must("squeue", "-h", "-tPD", "-o%i").split(), every=1)
    if not cluster.plain:
        want = NODES - 2 * IDLE
        wait_for(f"{want} VMs are on", 1800,
                 lambda: len(cluster.names_on()) >= want, every=5)
    ends_alike(cluster, n, ends)
    # Slurm would try to schedule at each of the 5,000 submissions, for minutes.
    cluster.must("scontrol", "update", "PartitionName=all", "State=DOWN")
    submit(cluster, pending_jobs())
    cluster.must("scontrol", "update", "PartitionName=all", "State=UP")
    waits = len(cluster.must("squeue", "-h", "-tPD", "-o%i").split())
    if waits != PENDING:
        raise ClusterError(f"{waits} jobs wait, not {PENDING}")
    remark(f"{'stock' if cluster.plain else 'ours'}: {n} jobs on "
           f"{NODES - 2 * IDLE} nodes, {waits} pending, after "
           f"{time.monotonic() - began:.0f} s")


def take_infiniband(cluster, stock):
    """Other people's VMs take every VF of it that is left; stock's idle nodes of
    that adapter, which backfill may have planned jobs on, are drained."""
    n = 0
    for h in cluster.state()["hosts"]:
        for pf in h["pfs"]:
            for _ in range((pf["vfs"] - pf["used"]) *
                           (pf["switch"] == "dvs-ib")):
                n += 1
                cluster.do("addVm", spec={
                    "name": f"other{n:03d}", "folder": "", "host": h["name"],
                    "powerOn": True, "numCPUs": 1, "memoryMB": 512,
                    "lockMemory": True, "nics": ["VM-PG"],
                    "cards": [{"type": "sriov", "network": IB,
                               "pf": pf["id"]}]})
    wait_for("svf sees them", 60, lambda: n == sum(
        pf["foreign"] for h in cluster.svf("hosts")["hosts"]
        for pf in h["pfs"]))
    idle = stock.must("sinfo", "-h", "-pib", "-tidle,planned", "-N", "-o%N").split()
    if len(idle) != IDLE:
        raise ClusterError(f"{len(idle)} nodes of stock's are idle, not {IDLE}")
    stock.must("scontrol", "update", f"NodeName={','.join(idle)}",
               "State=DRAIN", "Reason=bench")
    remark(f"other people's VMs have taken the last {n} VFs of {ADAPTERS[1]}, "
           f"and stock's {IDLE} idle nodes are drained")


# ---- cycles ------------------------------------------------------------------------

def diag(cluster, section):
    """{"Total cycles": ...} of one section of sdiag."""
    text = cluster.must("sdiag").split(section, 1)[1].split("\n\n", 1)[0]
    return {k.strip(): int(v) for k, v in
            re.findall(r"^\s*([^:\n]+):\s+(\d+)\s*$", text, re.M)}


class Cycles:
    """Of one slurmctld, which is stopped while the other one is measured."""

    def __init__(self, cluster):
        self.cluster, self.pid = cluster, slurmctld_pid(cluster)
        self.tried_us, self.main_us, self.queries = [], [], ""
        self.stop()

    def stop(self):
        os.kill(self.pid, signal.SIGSTOP)

    def go(self):
        os.kill(self.pid, signal.SIGCONT)

    def ended(self):
        """Waits for the end of a cycle of backfill; its CPU time so far."""
        was = diag(self.cluster, BACKFILL)["Total cycles"]

        wait_for("a cycle of backfill ends", 300, lambda: diag(
            self.cluster, BACKFILL)["Total cycles"] > was, every=0.1)
        return thread_cpu(self.pid, "bckfl")

    def measure(self):
        self.go()
        main = thread_cpu(self.pid, "sched_agent")
        self.cluster.must("sdiag", "--reset")
        before = self.ended()
        asked = self.asked()
        cpu = self.ended() - before
        tried = diag(self.cluster, BACKFILL)["Last depth cycle (try sched)"]
        if tried < DEPTH / 2:
            raise ClusterError(f"backfill tried only {tried} jobs")
        self.tried_us.append(cpu * 1e6 / tried)
        self.queries = ", ".join(f"{(n - asked[k]) / tried:.2f} {k}"
                                 for k, n in self.asked().items())
        looked = diag(self.cluster, MAIN)
        self.main_us.append((thread_cpu(self.pid, "sched_agent") - main) * 1e6 /
                            looked["Total cycles"] / looked["Mean depth cycle"])
        self.stop()

    def asked(self):
        """Calls of backfill, and queries made for them. No load changes these."""
        return {} if self.cluster.plain else \
            self.cluster.svf("status")["select_queries"]["start_time"]


def compare(name, bar, clusters):
    ours, stock = (Cycles(c) for c in clusters)
    try:
        for _ in range(ROUNDS):
            for one in (stock, ours):
                one.measure()
    finally:
        ours.go()
        stock.go()
    for kind, of, unit in (("backfill", "tried_us", "us of CPU a job"),
                           ("main", "main_us", "us a job")):
        a, b = (statistics.median(getattr(x, of)) for x in (ours, stock))
        remark(f"{name}, {kind}: ours {a:.1f}, stock {b:.1f} {unit} ("
               + ", ".join(f"{x:.1f}" for x in getattr(ours, of)) + "; "
               + ", ".join(f"{x:.1f}" for x in getattr(stock, of)) + ")")
        line(f"select_{name}_{kind}_over_stock", a / b, "ratio", bar)
    counts = ours.queries
    remark(f"{name}: for each job that backfill tried, {counts}")


def own_part(cluster, name):
    t = cluster.svf("status")["select_calls"]
    remark(f"our own part of {t['count']} calls: CPU median "
           f"{t['cpu_p50_us']} us, worst {t['cpu_worst_us']} us; with waits "
           f"p99 {t['p99_us']} us")
    line(name, t["cpu_p99_us"], "us", OWN_P99_BAR_US)


def measure(more_names=False):
    clusters = [cluster_make(plain, more_names) for plain in (False, True)]
    suffix = "_more_names" if more_names else ""
    ours = clusters[0]
    try:
        for c in clusters:
            c.start()
        wait_for("the plugin has read vCenter", 120, lambda:
                 ours.svf("status")["up"])
        ends = int(time.time()) // 60 * 60 + 7200
        for c in clusters:
            fill(c, ends)
        compare(f"ample{suffix}", AMPLE_BAR, clusters)
        take_infiniband(*clusters)
        compare(f"short{suffix}", SHORT_BAR, clusters)
        own_part(ours, f"select_own_part{suffix}_p99")
    finally:
        for c in clusters:
            c.remove()


def measure_more_names():
    measure(more_names=True)


if __name__ == "__main__":
    sys.exit(run(measure, measure_more_names))
