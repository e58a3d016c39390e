# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts that are wanted, or that fail, under warm VMs and running jobs."""

from cluster import Cluster, wait_for
from stages import Held
from worlds import world

E1, E2 = "esx01.example.org", "esx02.example.org"


def make_cluster():
    c = Cluster(nodes=2, inventory=world(hosts=2, vfs=1))
    c.vsphere = {"ShutdownGrace": 1}
    # idle_on_node_suspend makes Slurm itself lift drains at power-down.
    c.slurm = {"SlurmctldParameters": None}
    return c


def host_of(cluster, node):
    vm = cluster.our_vm(node)
    return vm["host"] if vm and vm["on"] else None


def states(cluster):
    return {h["host"]: h["state"] for h in cluster.svf("hosts")["hosts"]}


def test_a_host_that_enters_maintenance_gets_empty_and_back(cluster):
    """The idle warm VM goes at once, the running job finishes, the job after
    runs elsewhere, and no node stays drained."""
    cluster.wait_job(cluster.sbatch("-N2"))
    idle = next(n for n in ("vm001", "vm002") if host_of(cluster, n) == E1)
    other = "vm002" if idle == "vm001" else "vm001"
    job = Held(cluster, "-N1", "-w", other).wait_running()
    cluster.do("maintenance", host=E1)
    wait_for("the idle VM is off", 40, lambda: not cluster.is_on(idle))
    wait_for("the host is in maintenance", 30,
             lambda: states(cluster)[E1] == "MAINTENANCE")
    job.end_well()
    late = cluster.sbatch("-N2")
    wait_for("two nodes can't be had from one host", 20, lambda: "VF" in str(
        cluster.svf("why", str(late))["text"]))
    cluster.do("maintenance", host=E1, mode="exit")
    cluster.wait_job(late, 90)
    wait_for("nothing is drained", 30, lambda: not [
        n for n in ("vm001", "vm002") if "DRAIN" in cluster.node(n)["State"]])


def test_an_administrators_drain_outlives_a_maintenance(cluster):
    cluster.wait_job(cluster.sbatch("-N2"), 60)
    node = next(n for n in ("vm001", "vm002") if host_of(cluster, n) == E2)
    cluster.must("scontrol", "update", f"nodename={node}", "state=drain",
                 "reason=mine")
    cluster.do("maintenance", host=E2)
    wait_for("its VM is off", 60, lambda: not cluster.is_on(node))
    wait_for("the host is in maintenance", 30,
             lambda: states(cluster)[E2] == "MAINTENANCE")
    cluster.do("maintenance", host=E2, mode="exit")
    wait_for("the host is back", 30, lambda: states(cluster)[E2] == "UP")
    row = cluster.node(node)
    assert "DRAIN" in row["State"] and row["Reason"].startswith("mine")
    cluster.must("scontrol", "update", f"nodename={node}", "state=resume")
