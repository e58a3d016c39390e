#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What job_submit/vsphere costs a submission: two slurmctld with one and the same
slurm.conf but for JobSubmitPlugins, 10,000 managed and 1,000 unmanaged nodes, a
vCenter of 1,000 hosts. Jobs are held, so that nothing but their submission is
done for them.

The measure is the CPU time of all of slurmctld (/proc/*/stat) for a thousand
submissions, the two turn by turn, medians of some turns; what was submitted is
cancelled between them, out of the measure. And what the plugin counts of itself,
which other work on the machine changes little."""

import os
import statistics
import sys

from bench_lines import line, remark, run, slurmctld_pid
from bench_select import cluster_make, submit
from cluster import wait_for

JOBS, ROUNDS = 1000, 5
OWN_P99_BAR_US = 200
METAL = 1000
# What is submitted: partition, features, nodes; bound of CPU time with / without.
KINDS = {
    "others": ("metal - 1", 1.05),
    "plain": ("all - 1", 1.10),
    "constraint": ("all sriov-roce 1", 1.10),
    "gang": ("all sriov-roce 512", 1.10),
    "either": ("all sriov-roce|sriov-ib 64", 1.10),
}


def clusters_make():
    made = []
    for plugins in ("vsphere", None):
        c = cluster_make(plain=False)
        c.node_lines.append(
            f"NodeName=metal[0001-{METAL:04d}] NodeHostname=localhost "
            "NodeAddr=127.0.0.1 Port=6818 CPUs=2 RealMemory=1024 "
            "Features=bigmem State=DOWN")
        c.partition_lines[0] = "PartitionName=all Nodes=" + ",".join(
            p.split("Nodes=")[1].split()[0] for p in c.partition_lines[1:]) + \
            " Default=YES"
        c.partition_lines.append(
            f"PartitionName=metal Nodes=metal[0001-{METAL:04d}]")
        c.slurm["JobSubmitPlugins"] = plugins
        c.slurm.update({"MaxJobCount": 100 * JOBS, "MinJobAge": 2})
        made.append(c)
    return made


def cpu_s(pid):
    """Of the process, all its threads, those that have ended too."""
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def once(cluster, what):
    """us of CPU for each."""
    pid = slurmctld_pid(cluster)
    before = cpu_s(pid)
    submit(cluster, [f"{what} 60 0"] * JOBS)
    spent = cpu_s(pid) - before
    cluster.must("scancel", "--state=PENDING", f"--user={cluster.user}",
                 timeout=300)
    wait_for("they are gone", 120, lambda: not cluster.must(
        "squeue", "-h", "-tPD", "-o%i").strip(), every=0.5)
    return spent * 1e6 / JOBS


def compare(name, what, bar, clusters):
    spent = [[], []]
    for _ in range(ROUNDS):
        for at, cluster in enumerate(clusters):
            spent[at].append(once(cluster, what))
    ours, none = (statistics.median(s) for s in spent)
    remark(f"{name}: with {ours:.0f}, without {none:.0f} us of CPU a submission ("
           + "; ".join(", ".join(f"{x:.0f}" for x in s) for s in spent) + ")")
    line(f"submit_{name}_over_none", ours / none, "ratio", bar)


def measure():
    clusters = clusters_make()
    try:
        for c in clusters:
            c.start()
        for c in clusters:
            wait_for("the plugin has read vCenter", 120,
                     lambda c=c: c.svf("status")["up"])
        for name, (what, bar) in KINDS.items():
            compare(name, what, bar, clusters)
        t = clusters[0].svf("status")["select_calls"]
        remark(f"its own part of {t['count']} calls: CPU median "
               f"{t['cpu_p50_us']} us, worst {t['cpu_worst_us']} us")
        line("submit_own_part_p99", t["cpu_p99_us"], "us", OWN_P99_BAR_US)
    finally:
        for c in clusters:
            c.remove()


if __name__ == "__main__":
    sys.exit(run(measure))
