# SPDX-License-Identifier: GPL-2.0-or-later
"""A foreign VM stands in a node's place: all who look are told which
one it is, where, and what to do; and it is never touched."""

import pytest

from cluster import Cluster, wait_for
from worlds import world

PATH = "/DC0/vm/slurm/vm002"
E1 = "esx01.example.org"


def make_cluster():
    c = Cluster(nodes=2, inventory=world(hosts=1, vfs=2))
    c.vsphere = {"Datacenter": "DC0"}
    c.slurm = {"SuspendTimeout": 2}
    return c


@pytest.fixture
def taken(cluster):
    """vm002's place; vm002 never had a VM."""
    cluster.do("addVm", spec={"name": "vm002", "folder": "slurm", "host": E1,
                              "nics": ["VM-PG"]}, wait=True)
    yield cluster.mutating()
    if any(v["name"] == "vm002" for v in cluster.state()["vms"]):
        cluster.do("destroyVm", vm="vm002", force=True, wait=True)


def told(text):
    return PATH in text and "rename that VM, or move it" in text


def test_it_is_shown_wherever_one_looks(cluster, taken):
    job = cluster.sbatch("-N2", script="srun -l hostname")
    wait_for("the job's reason names it", 20,
             lambda: told(cluster.squeue(job, "%r")))
    assert told(cluster.must("svf", "why", str(job)))
    row = {n["node"]: n for n in cluster.svf("nodes")["nodes"]}["vm002"]
    assert row["vm_state"] == "FOREIGN" and told(row["last_error"])
    assert told(cluster.must("svf", "nodes"))
    assert told(cluster.must("svf", "reconcile"))
    lines = [l for l in cluster.ctld_log().splitlines()
             if "node=vm002 gets no job" in l]
    assert len(lines) == 1 and told(lines[-1])
    # what is asked of our VMs is not asked of it
    assert "guest-writes" not in cluster.must("svf", "check")
    # others are served, and it is not touched
    cluster.wait_job(cluster.sbatch("-N1", script="hostname"), 40)
    assert cluster.node_states()["vm002"].startswith("IDLE")
    assert cluster.counters()["foreignTouches"] == 0
    cluster.do("rename", vm="vm002", name="theirs", wait=True)
    out = cluster.wait_job(job, 40)
    assert len(out.split()) == 4
    assert not told(cluster.must("svf", "nodes"))
    assert "nothing to fix" in cluster.must("svf", "reconcile")
    cluster.do("destroyVm", vm="theirs", force=True, wait=True)
    cluster.must("scontrol", "update", "nodename=vm[001-002]",
                 "state=power_down")
