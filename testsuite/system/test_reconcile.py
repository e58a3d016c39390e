# SPDX-License-Identifier: GPL-2.0-or-later
"""What happens without a job: VMs without a node, the removal limit, a lost id."""

import pytest

from cluster import Cluster, wait_for
from users import NOBODY, as_user
from worlds import world


def make_cluster():
    c = Cluster(nodes=8, inventory=world(hosts=4, vfs=4))
    c.vsphere = {"ShutdownGrace": 1}
    return c


def ours(cluster):
    return {vm["name"] for vm in cluster.our_vms()}


def shrink(cluster, last):
    """slurm.conf names vm001..vm{last} alone."""
    f = cluster.path("etc", "slurm.conf")
    lines = [ln for ln in f.read_text().splitlines()
             if not ln.startswith("NodeName=")]
    lines.append(cluster.node_line(1, last, "sriov-roce"))
    f.write_text("\n".join(lines) + "\n")
    cluster.restart_slurmctld()


def grow(cluster):
    shrink(cluster, 8)


def test_vms_of_removed_nodes_end_and_their_vfs_are_free(cluster):
    cluster.wait_job(cluster.sbatch("-N4", "-w", "vm[005-008]"))
    assert cluster.vfs_used() == 4
    shrink(cluster, 6)
    wait_for("vm007 and vm008 are gone", 60,
             lambda: ours(cluster) == {"vm005", "vm006"})
    assert cluster.vfs_used() == 2
    assert cluster.counters()["foreignTouches"] == 0
    cluster.wait_job(cluster.sbatch("-N1", "-w", "vm005"))


def test_an_emptied_node_list_stops_at_the_brake(cluster):
    grow(cluster)
    cluster.wait_ready()
    cluster.wait_job(cluster.sbatch("-N8", "-w", "vm[001-008]"), 60)
    shrink(cluster, 1)
    wait_for("the brake is on", 60,
             lambda: cluster.svf("status").get("removal_limit_reached"))
    # Three may go; two of them went in the test before.
    wait_for("what passed is over", 60, lambda: len(ours(cluster)) == 7)
    report = cluster.svf("reconcile")
    waits = {v["vm"] for v in report["vms"] if v.get("confirmation_required")}
    assert waits == ours(cluster) - {"vm001"}
    cluster.restart_slurmctld()
    cluster.wait_ready()
    wait_for("it is on after a restart", 20,
             lambda: cluster.svf("status").get("removal_limit_reached"))
    assert "--confirm" in cluster.svf("reconcile", json_out=False)
    wait_for("the same VMs wait", 30, lambda: waits == {
        v["vm"] for v in cluster.svf("reconcile")["vms"] if v.get("confirmation_required")})


def test_only_an_operator_may_confirm(cluster):
    r = as_user(cluster, NOBODY, "svf", "reconcile", "--confirm")
    assert r.returncode == 1 and "operators" in r.stderr
    assert as_user(cluster, NOBODY, "svf", "reconcile").returncode == 0
    wait_for("all of them wait again", 30, lambda: len(
        [v for v in cluster.svf("reconcile")["vms"] if v.get("confirmation_required")]) ==
        len(ours(cluster)) - 1)
    assert "is confirmed" in cluster.must("svf", "reconcile", "--confirm")
    wait_for("only vm001 is left", 60, lambda: ours(cluster) == {"vm001"})
    assert not cluster.svf("status").get("removal_limit_reached")
    wait_for("svf knows", 20, lambda: cluster.must("svf", "reconcile").strip()
             == "nothing to fix")


def test_a_lost_cluster_id_owns_nothing_until_adopted(cluster):
    calls = cluster.mutating()
    cluster.end_slurmctld()
    cluster.path("state", "slurm_vsphere.id").unlink()
    cluster.start_slurmctld()
    job = cluster.sbatch("-N1", "-w", "vm001")
    wait_for("the job says so", 30, lambda: "another cluster" in str(
        cluster.svf("why", str(job))["text"]))
    assert cluster.mutating() == calls
    assert as_user(cluster, NOBODY, "svf", "adopt").returncode == 1
    assert "1 VM is adopted with cluster id" in cluster.must("svf", "adopt")
    cluster.wait_job(job, 60)
    r = cluster.run("svf", "adopt")
    assert r.returncode == 1 and "nothing is lost" in r.stderr


@pytest.mark.parametrize("args, text", [
    (("vm",), "forget NODE is expected"),
    (("vm", "forget", "vm999"), "no such node"),
    (("vm", "forget", "vm001"), "can be forgotten"),
    (("reconcile", "now"), "nothing is expected"),
])
def test_wrong_orders_are_one_clear_line(cluster, args, text):
    r = cluster.run("svf", *args)
    assert r.returncode in (1, 2) and text in r.stderr
    lines = r.stderr.strip().splitlines()
    if r.returncode == 2 and len(lines) > 1:    # as getopt says it
        assert lines.pop() == "Try 'svf --help' for more information."
    assert len(lines) == 1


def test_renamed_nodes_get_vms_of_their_own_and_the_old_ones_end(fresh):
    """vm[001-004] are n[001-004] now: the VMs of the old names have no node, keep
    their VFs while they exist, and are deleted within the removal limit."""
    c = fresh(start=False, nodes=8, inventory=world(hosts=2, vfs=2),
              vsphere={"ShutdownGrace": 1}, slurm={"SuspendTimeout": 2})
    c.choose_ports()
    # In one machine two slurmds can't listen on one port.
    lines = [c.node_line(1, 4, "sriov-roce"), c.node_line(
        5, 8, "sriov-roce").replace("vm[005-008]", "n[001-004]")]
    c.node_lines = lines[:1]
    c.start()
    c.wait_ready()
    c.wait_job(c.sbatch("-N4", script="true"), 60)
    old = {v["uuid"] for v in c.our_vms()}
    f = c.path("etc", "slurm.conf")
    f.write_text(f.read_text().replace(*lines))
    c.restart_slurmctld()
    new = {f"n{i:03d}" for i in range(1, 5)}
    job = c.sbatch("-N4", script="srun hostname")
    wait_for("three have ended, one waits", 60, lambda: len(ours(c)) == 1 and
             c.svf("status").get("removal_limit_reached"))
    left = ours(c)
    assert {v["vm"] for v in c.svf("reconcile")["vms"] if v.get("confirmation_required")} == left
    assert not left & new and c.names_on() == left
    # Its VF is not free: the gang waits, a smaller one runs.
    assert c.job_state(job) == "PENDING"
    assert ", 3 free" in wait_for(
        "the gang says why", 20, lambda: c.svf("why", str(job))["text"])
    out = c.wait_job(c.sbatch("-N3", script="srun hostname"), 60)
    assert set(out.split()) < new and ours(c) - new == left
    c.must("svf", "reconcile", "--confirm")
    assert set(c.wait_job(job, 60).split()) == new
    wait_for("no VM of an old name is left", 20, lambda: ours(c) == new)
    assert not old & {v["uuid"] for v in c.our_vms()}
    assert c.counters()["foreignTouches"] == 0
