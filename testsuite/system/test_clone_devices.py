# SPDX-License-Identifier: GPL-2.0-or-later
"""vCenters that take VFs in a clone, and one that refuses them: then a
reconfiguration adds them, and that is remembered until vCenter's build changes."""

import json

from cluster import Cluster, wait_for
from worlds import world


def make_cluster():
    c = Cluster(nodes=6, inventory=world(hosts=2, vfs=4))
    c.choose_ports()
    c.vsphere = {"ShutdownGrace": 2}
    return c


def calls(c):
    by = c.counters()["calls"]
    return {m: by.get(m, 0) for m in ("CloneVM_Task", "ReconfigVM_Task",
                                      "PowerOnVM_Task")}


def calls_for(c, node):
    """What its first job costs: clones, reconfigurations, power-ons."""
    was, all_was = calls(c), c.mutating()
    out = c.wait_job(c.sbatch("-w", node, script="hostname"), 60)
    assert out.split() == [node]
    now = calls(c)
    n = tuple(now[m] - was[m] for m in now)
    assert c.mutating() - all_was == sum(n)
    print(f"{node}: {sum(n)} calls: clone {n[0]}, reconfigure {n[1]}, "
          f"power-on {n[2]}")
    return n


def kept(c):
    text = c.path("state", "slurm_vsphere.hints").read_text()
    return json.loads(text).get("clone_devices_refused")


def way(c, node):
    """Of `svf plan` and `svf status`: steps and calls of a new VM, and how."""
    row, = c.svf("plan", "-w", node)["nodes"]
    assert row.get("calls_max") is None
    text = c.must("svf", "status")
    line, = [x for x in text.splitlines() if x.startswith("devices of a new VM")]
    return row["steps"], row["calls"], " ".join(line.split()[5:9])


def untried(c, node):
    """Does nothing tell yet how this vCenter makes clones? A plan says the most."""
    row = wait_for("a VM would be made", 20, lambda: next(
        (r for r in c.svf("plan", "-w", node)["nodes"] if r["calls"]), None))
    known = "not tried yet" not in c.must("svf", "status")
    assert (row["calls"], row.get("calls_max")) == (2, None if known else 4)
    return not known


def restart(c):
    c.restart_slurmctld()
    c.wait_ready()


def test_a_vcenter_that_takes_vfs_in_clones_is_called_twice_for_a_vm(cluster):
    assert untried(cluster, "vm001")
    assert calls_for(cluster, "vm001") == (1, 0, 1)
    assert way(cluster, "vm006") == (["clone", "power-on"], 2,
                                     "in the clone: 2")
    restart(cluster)
    assert not untried(cluster, "vm006")    # the state file has it


def test_one_that_refuses_them_is_asked_once(cluster):
    cluster.do("cloneDevices", value="refused")
    assert calls_for(cluster, "vm002") == (2, 1, 1)
    assert way(cluster, "vm003") == (["clone", "reconfigure", "power-on"], 3,
                                     "after the clone: 3")
    assert calls_for(cluster, "vm003") == (1, 1, 1)
    assert cluster.vfs_used() == 3
    assert not [h for h in cluster.svf("hosts")["hosts"]
                if h["state"] == "EXCLUDED"]     # no host is to blame


def test_a_restart_does_not_ask_again(cluster):
    restart(cluster)
    assert kept(cluster)["build"] == "24022515"
    assert calls_for(cluster, "vm004") == (1, 1, 1)


def test_a_new_build_is_asked_again(cluster):
    cluster.do("setBuild", value="24322831")
    restart(cluster)
    assert untried(cluster, "vm005")    # and what was planned at most comes true
    assert calls_for(cluster, "vm005") == (2, 1, 1)
    cluster.do("cloneDevices", value="")
    cluster.do("setBuild", value="24500000")
    restart(cluster)
    assert calls_for(cluster, "vm006") == (1, 0, 1)
