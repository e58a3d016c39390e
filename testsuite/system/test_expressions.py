# SPDX-License-Identifier: GPL-2.0-or-later
"""What -C may say: each expression, where VFs are there and where they are
short, by the adapters of the nodes that the job got."""

import re

import pytest

from cluster import Cluster, wait_for
from stages import Held
from worlds import ROCE_AND_ETH, foreign, world

HOST = "esx01.example.org"
THEIRS = ("theirs-1", "theirs-2", "theirs-3")
ANY, ONE_KIND = "sriov-roce|vmxnet3", "[sriov-roce|vmxnet3]"
BOTH_KINDS = "[sriov-roce*2&vmxnet3*1]"


def make_cluster():
    """Three nodes of each kind and four VFs, of which others have three until
    the tests of plenty. The administrator would rather have VFs used."""
    c = Cluster(nodes=6, inventory=world(hosts=1, vfs=4, vms=[
        foreign(name, HOST) for name in THEIRS]))
    c.choose_ports()
    c.slurm = {"SuspendTimeout": 2}
    c.vsphere = {"ShutdownGrace": 1, "lines": ROCE_AND_ETH}
    c.node_lines = [c.node_line(1, 3, "sriov-roce"),
                    c.node_line(4, 6, "vmxnet3", extra="Weight=10")]
    c.partition_lines = ["PartitionName=roce Nodes=vm[001-003]",
                         "PartitionName=eth Nodes=vm[004-006]",
                         "PartitionName=both Nodes=ALL Default=YES"]
    return c


def kinds(cluster, job):
    """("roce", "roce", "eth") of a job that has run, all of its nodes."""
    out = cluster.wait_job(job, 60)
    return tuple("roce" if n <= "vm003" else "eth"
                 for n in sorted(set(out.split())))


def submit(cluster, *options, nodes=2):
    return cluster.sbatch(f"-N{nodes}", *options, script="srun hostname")


def all_off(cluster):
    names = cluster.names_on()
    for name in names:
        cluster.must("scontrol", "update", f"nodename={name}",
                     "state=power_down")
    wait_for("all are off", 30, lambda: not cluster.names_on() and all(
        set(cluster.node(n)["State"].split("+")) ==
        {"IDLE", "CLOUD", "POWERED_DOWN"} for n in names))


# One VF is left: what needs no more than that starts at once. VMs that are warm
# come before the administrator's weights: the first two find none.
SHORT = {
    "or mixes all that there is":
        (4, ("-C", ANY), ("roce", "eth", "eth", "eth")),
    "or mixes": (2, ("-C", ANY), ("roce", "eth")),
    "brackets are of one kind": (2, ("-C", ONE_KIND), ("eth", "eth")),
    "what is preferred and short gives way":
        (2, ("-C", ANY, "--prefer=sriov-roce"), None),
    "a ladder goes down a step": (2, ("-p", "roce,eth", "-C", ANY),
                                  ("eth", "eth")),
}


@pytest.mark.parametrize("case", SHORT)
def test_where_vfs_are_short(cluster, case):
    nodes, options, want = SHORT[case]
    if case.startswith("or"):
        all_off(cluster)
    got = kinds(cluster, submit(cluster, *options, nodes=nodes))
    assert got == want or (not want and got.count("roce") <= 1)


def reason(cluster, job):
    return cluster.job(job).get("SystemComment", "")


def test_one_node_of_each_kind_is_not_two_of_one(cluster):
    """With an Ethernet node and a VF free the brackets still wait."""
    held = Held(cluster, "-p", "eth", "-N2").wait_running()
    job = submit(cluster, "-C", ONE_KIND)
    wait_for("the reason speaks of VFs", 20, lambda: re.search(
        r"sriov-roce VF", reason(cluster, job)))
    assert kinds(cluster, submit(cluster, "-C", ANY)) == ("roce", "eth")
    assert cluster.job_state(job) == "PENDING"
    held.end_well()
    assert kinds(cluster, job) == ("eth", "eth")


def test_one_node_cannot_be_of_both_kinds(cluster):
    """A node has one adapter: Slurm itself refuses, whatever VFs there are."""
    r = cluster.sbatch("-N1", "-C", "sriov-roce&vmxnet3", expect=False)
    assert r.returncode and "node configuration is not available" in r.stderr


def test_counted_kinds_wait_for_each_of_them(cluster):
    """One VF of two is there, and one Ethernet node is enough."""
    job = submit(cluster, "-C", BOTH_KINDS, nodes=3)
    wait_for("the reason speaks of VFs", 20, lambda: re.search(
        r"sriov-roce VF", reason(cluster, job)))
    assert cluster.job_state(job) == "PENDING"
    cluster.do("powerOff", vm=THEIRS[0])
    assert kinds(cluster, job) == ("roce", "roce", "eth")


PLENTY = {
    "brackets are of one kind": (3, ("-C", ONE_KIND), ("roce",) * 3),
    "or mixes where one kind isn't enough":
        (5, ("-C", ANY), ("roce", "roce", "roce", "eth", "eth")),
    "counted kinds": (3, ("-C", BOTH_KINDS), ("roce", "roce", "eth")),
    "what is preferred comes before weights":
        (2, ("-C", ANY, "--prefer=vmxnet3"), ("eth", "eth")),
    "a ladder's first step": (2, ("-p", "roce,eth", "-C", ANY),
                              ("roce", "roce")),
}


@pytest.mark.parametrize("case", PLENTY)
def test_where_vfs_are_there(cluster, case):
    for name in THEIRS:
        if [v for v in cluster.state()["vms"] if v["name"] == name and
                v["power"] == "poweredOn"]:
            cluster.do("powerOff", vm=name)
    wait_for("the core sees them off", 20, lambda: not sum(
        pf["foreign"] for h in cluster.svf("hosts")["hosts"]
        for pf in h["pfs"]))
    nodes, options, want = PLENTY[case]
    assert kinds(cluster, submit(cluster, *options, nodes=nodes)) == want
