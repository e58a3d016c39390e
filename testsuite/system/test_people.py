# SPDX-License-Identifier: GPL-2.0-or-later
"""Every operation of an administrator or user, in every phase of a job's VM (see
people.py): within seconds no VF stays reserved without a job, the job's state is
right and says why, no node is down or drained but by a person's hand, and that
hand's work is kept; then the node serves again.

aws-parallelcluster-node#325 #327: a job cancelled while its nodes powered up
kept them for the whole timeout."""

import re

import pytest

import people
from cluster import Cluster, wait_for
from worlds import world

EPILOG = """#!/bin/sh
while [ -e '{guests}'/"$SLURMD_NODENAME".epilog ]; do sleep 0.1; done
"""
CALLS_EACH = 8      # off, reconfigure or destroy and clone, on: twice at most


def make_cluster():
    c = Cluster(nodes=len(people.DEEDS), inventory=world(
        hosts=4, vfs=4, taskSlots={"vcenter": 640, "host": 32, "datastore": 128}))
    c.make_dirs()
    epilog = c.path("bin", "epilog")
    epilog.write_text(EPILOG.format(guests=c.path("guests")))
    epilog.chmod(0o755)
    c.vsphere = {"ShutdownGrace": 1, "lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
        "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed "
        f"MemoryOverhead={people.Reconfigure.overhead}"]}
    # Drains by hand are kept: idle_on_node_suspend would lift them.
    c.slurm = {"SuspendTimeout": 2, "ResumeTimeout": 300, "Epilog": epilog,
               "SlurmctldParameters": "power_save_interval=1",
               # Else Slurm schedules no job whose begin time has come while
               # nothing changes.
               "SchedulerParameters": Cluster.scheduler_parameters +
               ",sched_interval=2",
               "AuthInfo": f"socket={c.path('run', 'munge.socket')},"
                           "cred_expire=5"}
    return c


played = {}


@pytest.fixture
def phase(cluster, request):
    name = request.param
    if name not in played:
        played[name] = None
        played[name] = people.play(cluster, name)
    assert played[name], "the phase could not be played, see its first test"
    return name, *played[name]


@pytest.mark.parametrize("deed", people.DEEDS)
@pytest.mark.parametrize("phase", people.PHASES, indirect=True)
def test_a_deed_in_a_phase(phase, deed):
    name, cells, _ = phase
    cell = cells[deed]
    assert not cell.wrong, \
        f"{deed} during {name}, after {people.BOUND_S} s: {cell.wrong} " \
        f"(it said: {cell.refused!r})"
    assert cell.after is None


@pytest.mark.parametrize("phase", people.PHASES, indirect=True)
def test_no_vf_is_held_for_nobody_and_vcenter_has_peace(phase):
    name, cells, got = phase
    print(name, got, {d: c.seconds and round(c.seconds, 1)
                      for d, c in cells.items()})
    assert got["reserved"] == 0 and got["managed"] == got["on"]
    assert got["calls"] <= CALLS_EACH * len(cells)
    assert got["late"] == 0, "nothing is to be done, and calls go on"


def test_nothing_was_called_a_bug(cluster):
    assert not re.search(r"\bbug: ", cluster.ctld_log())
    assert "ResumeTimeout reached" not in cluster.ctld_log()
