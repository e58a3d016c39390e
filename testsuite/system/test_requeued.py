# SPDX-License-Identifier: GPL-2.0-or-later
"""What svf why, squeue and the node's Reason say of a job whose last run was requeued.
The quotes are those of doc/operations/guest-trouble.md, which testsuite/guests compares
with booted machines."""

import pathlib
import sys

from cluster import Cluster, wait_for
from stages import Held, is_requeued
from worlds import world

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "guests"))

import texts        # noqa: E402


def make_cluster():
    return Cluster(nodes=2, inventory=world(hosts=2, vfs=1))


def test_a_vm_that_was_powered_off_under_a_job_of_two_nodes(cluster):
    held = Held(cluster, "-N2", "--requeue").wait_running()
    cluster.do("powerOff", vm="vm002")
    wait_for("its job is requeued", 90, lambda: is_requeued(cluster, held.id))
    texts.check(cluster, "an administrator powered the VM off", held.id, "vm002")
    held.let_go()
    cluster.must("scancel", str(held.id))


def test_a_job_of_one_node_starts_again_at_once(cluster):
    """On another node, with no trace of the first run in its record."""
    held = Held(cluster, "-N1", "--requeue").wait_running()
    lost = cluster.job(held.id)["NodeList"]
    cluster.do("powerOff", vm=lost)
    wait_for("it runs again", 60, lambda: (
        cluster.job(held.id).get("Restarts") == "1" and
        cluster.squeue(held.id, "%T") == "RUNNING"))
    assert cluster.job(held.id)["NodeList"] != lost
    assert cluster.job(held.id)["SystemComment"].startswith("vsphere: adapter=")
    held.let_go()
    cluster.wait_job(held.id, 30)


def test_a_port_that_went_down_before_a_job(cluster):
    cluster.wait_job(cluster.sbatch("-w", "vm001", script="hostname"), 60)
    cluster.port_state("vm001", "1: DOWN")
    try:
        job = cluster.sbatch("-w", "vm001", script="echo it ran")
        wait_for("the job is requeued", 60, lambda: is_requeued(cluster, job))
        texts.check(cluster, "the port of the VF went down before a job", job, "vm001")
        assert "it ran" not in cluster.output(job)
        cluster.must("scancel", str(job))
    finally:
        cluster.port_state("vm001", "4: ACTIVE")
        cluster.must("scontrol", "update", "nodename=vm001", "state=resume")


def test_a_requeue_by_its_user_has_no_such_text(cluster):
    held = Held(cluster, "-N1", "--requeue").wait_running()
    cluster.must("scontrol", "requeue", str(held.id))
    wait_for("the job is requeued", 60, lambda: is_requeued(cluster, held.id))
    assert "requeued" not in cluster.svf("why", str(held.id), json_out=False)
    held.let_go()
    cluster.must("scancel", str(held.id))
