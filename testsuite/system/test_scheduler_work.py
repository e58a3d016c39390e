# SPDX-License-Identifier: GPL-2.0-or-later
"""The work of a scheduler's round, in counts that no load of the machine changes.

A queue of which no job can start, on nodes that running jobs have for hours: for
each job that backfill tries, how many calls it makes to the select plugin, and
how many queries the plugin makes for them to stock cons_tres and to the core.
doc/performance.md has the figures. A commit that adds more than 3 % to one of
them changes the figure there, and says why."""

import pathlib
import re
import time

import pytest

from cluster import TOP, wait_for
from worlds import IB, ROCE, host, world

ADAPTERS = ("sriov-roce", "sriov-ib")
HOSTS, VFS = 5, 8                   # of each adapter, on each host
HALF = HOSTS * VFS                  # nodes of each adapter
RUNNING = (12, 4, 12, 8)            # nodes of each job; four stay idle
# Nodes and minutes of the jobs that wait. All limits are shorter than what the
# first running job has left, so the time of the test is in no comparison.
PENDING = ((16, 180), (24, 95), (8, 240), (32, 130), (12, 60), (20, 210),
           (6, 285), (28, 75))
FIRST_END, APART = 10 * 3600, 2400  # s
LOOKS = 3
MORE = 1.03
RELEASE = (22, 5)                   # its backfill makes these calls


def cluster_of(fresh, more_names):
    inv = world(hosts=[host(f"esx{i}.example.org", vfs=VFS, ib_vfs=VFS, cores=64,
                            memory=512 * 1024) for i in range(1, HOSTS + 1)])
    inv["guest"] = {"command": ["/bin/true"]}       # nodes keep on booting
    return fresh(inventory=inv, nodes=0, vsphere={
        "BootTimeout": 86400, "AllowMoreNodesThanVFs":
        "yes" if more_names else "no", "lines": [
            "VSphereCluster=HPC1 ResourcePool=slurm",
            f"AdapterName={ADAPTERS[0]} Type=sriov Network={ROCE} MTU=9000",
            f"AdapterName={ADAPTERS[1]} Type=sriov Network={IB} "
            "LinkLayer=InfiniBand",
            f"PartitionName=roce Adapter={ADAPTERS[0]} Template=rhel9-ofed",
            f"PartitionName=ib Adapter={ADAPTERS[1]} Template=rhel9-ofed"],
    }, node_lines=[
        f"NodeName=vm[{first:03d}-{first + HALF - 1:03d}] NodeHostname=localhost "
        "NodeAddr=127.0.0.1 Port=6818 CPUs=2 RealMemory=1024 "
        f"Features={adapter} State=CLOUD"
        for first, adapter in zip((1, HALF + 1), ADAPTERS)
    ], partition_lines=[
        "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE",
        f"PartitionName=roce Nodes=vm[001-{HALF:03d}]",
        f"PartitionName=ib Nodes=vm[{HALF + 1:03d}-{2 * HALF:03d}]"
    ], slurm={
        "PrologFlags": "Alloc", "PrivateData": "cloud", "SuspendTime": 36000,
        "ResumeTimeout": 36000, "ResumeRate": 0, "SchedulerParameters":
        "nohold_on_prolog_fail,bf_interval=2,bf_continue,bf_resolution=600,"
        "bf_window=2880"})


# ---- the queue ------------------------------------------------------------------

def fill(c):
    """Jobs on all nodes but four of each adapter, and the queue behind them."""
    running = [c.sbatch(f"-C{a}", f"-N{n}", "-t1440")
               for a in ADAPTERS for n in RUNNING]
    wait_for("the VMs of the running jobs are on", 120, lambda:
             len(c.names_on()) == 2 * sum(RUNNING))
    first = int(time.time()) // 600 * 600 + 600 + FIRST_END
    for i, job in enumerate(running):
        c.must("scontrol", "update", f"JobId={job}", "EndTime=" + time.strftime(
            "%Y-%m-%dT%H:%M:%S", time.localtime(first + i * APART)))
    for nodes, minutes in PENDING:
        for a in ADAPTERS:
            c.sbatch(f"-C{a}", f"-N{nodes}", f"-t{minutes}")


def take_infiniband(c):
    """Other people's VMs take every VF of it that is left."""
    free = [(h["name"], pf["id"]) for h in c.state()["hosts"] for pf in h["pfs"]
            for _ in range((pf["vfs"] - pf["used"]) * (pf["switch"] == "dvs-ib"))]
    assert len(free) == HALF - sum(RUNNING)
    for i, (name, pf) in enumerate(free):
        c.do("addVm", spec={
            "name": f"other{i}", "folder": "", "host": name, "powerOn": True,
            "numCPUs": 1, "memoryMB": 512, "lockMemory": True,
            "nics": ["VM-PG"],
            "cards": [{"type": "sriov", "network": IB, "pf": pf}]})
    wait_for("svf sees them", 60, lambda: len(free) == sum(
        pf["foreign"] for h in c.svf("hosts")["hosts"] for pf in h["pfs"]))


# ---- counts -----------------------------------------------------------------------

def between_looks(c):
    """Counts of a moment at which backfill does not run: how often it has, how
    many jobs it tried the last time, and what it asked."""
    found = []

    def read():
        first, counts, last = c.must("sdiag"), c.svf("status"), c.must("sdiag")
        for text in (first, last):
            if "in the middle of backfilling" in text:
                return False
        looks = [re.search(r"Backfilling stats.*?Total cycles: (\d+).*?"
                           r"Last depth cycle \(try sched\): (\d+)", text, re.S)
                 for text in (first, last)]
        if looks[0].groups() != looks[1].groups():
            return False
        found[:] = [int(looks[1][1]), int(looks[1][2]),
                    counts["select_queries"]["start_time"]]
        return True
    wait_for("backfill does not run", 60, read, every=0.05)
    return found


def another_look(c):
    """Backfill begins a round only after something has changed."""
    was = between_looks(c)[0]

    def over():
        if between_looks(c)[0] > was:
            return True
        c.must("scontrol", "update", "NodeName=vm001",
               f"comment={time.monotonic_ns()}")
        return False
    wait_for("backfill has looked", 60, over, every=0.5)


def measured(c):
    """{"calls": for each job that it tries, ...}"""
    for _ in range(2):          # the first plans are made without others beside
        another_look(c)
    looks, tried, before = between_looks(c)
    assert tried == 2 * len(PENDING)
    for _ in range(LOOKS):
        another_look(c)
    until, tried, after = between_looks(c)
    assert tried == 2 * len(PENDING)
    return {k: (after[k] - before[k]) / (until - looks) / tried for k in before}


def agreed():
    """The table of doc/performance.md: {world: {"calls": figure, ...}}"""
    text = pathlib.Path(TOP, "doc/performance.md").read_text()
    rows = re.findall(r"^\| `work_(\w+)` \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|",
                      text, re.M)
    return {name: dict(zip(("calls", "stock", "core"), map(float, figures)))
            for name, *figures in rows}


def compare(name, figures):
    print(name, figures)
    for key, limit in agreed()[name].items():
        assert figures[key] <= limit * MORE, \
            f"{name}: {figures[key]:.3f} {key} a job, {limit} in doc/performance.md"
        assert figures[key] >= limit / MORE, \
            f"{name}: {figures[key]:.3f} {key} a job, {limit} in " \
            "doc/performance.md: write the lower figure there"


@pytest.mark.parametrize("more_names", [False, True])
def test_the_work_of_a_round_is_what_the_table_says(fresh, more_names):
    c = cluster_of(fresh, more_names)
    fill(c)
    ample = measured(c)
    take_infiniband(c)
    short = measured(c)
    if c.release[:2] != RELEASE:
        assert ample["stock"] >= ample["calls"] > 0
        return
    suffix = "_more_names" if more_names else ""
    compare(f"ample{suffix}", ample)
    compare(f"short{suffix}", short)
