# SPDX-License-Identifier: GPL-2.0-or-later
"""svf pause and svf resume: no call that changes vCenter is sent meanwhile, jobs
wait with the operator's reason, and a restart of slurmctld does not end it."""

import pytest

from channel import asked
from cluster import Cluster, free_ports, wait_for
from monitoring import families_now, value
from stages import ready_count, wait_ready_again
from users import NOBODY
from worlds import world

WHY = "vCenter is upgraded"


def make_cluster():
    c = Cluster(nodes=3, inventory=world(hosts=2, vfs=2))
    c.metrics_port, c.metrics_owned = free_ports(1)
    c.vsphere = {"ShutdownGrace": 1, "MetricsPort": c.metrics_port}
    c.slurm = {"SuspendTime": "600"}
    return c


@pytest.fixture(autouse=True)
def resumed(cluster):
    yield
    cluster.run("svf", "resume")


def restart(cluster):
    was = ready_count(cluster)
    cluster.kill_slurmctld()
    cluster.start_slurmctld()
    wait_ready_again(cluster, was, 40)


def paused_metric(cluster):
    return value(families_now(cluster.metrics_port), "paused")


def saved(cluster):
    wait_for("the pause is saved", 20, lambda: WHY in cluster.path(
        "state", "slurm_vsphere.hints").read_text())


def test_a_job_waits_with_the_reason_over_a_restart_until_resume(cluster):
    assert paused_metric(cluster) == 0
    said = cluster.svf("pause", WHY)["paused"]
    assert said["user"] == "root" and said["uid"] == 0 and said["reason"] == WHY
    calls = cluster.mutating()
    job = cluster.sbatch("-N1")
    text = f"paused by root: {WHY}"
    wait_for("squeue shows who paused and why", 30,
             lambda: text in cluster.squeue(job, "%r") or
             text in cluster.job(job).get("SystemComment", ""))
    assert text in cluster.svf("why", str(job))["text"]
    assert cluster.svf("status")["paused"] == said
    assert "by root since " in cluster.svf("status", json_out=False)
    assert paused_metric(cluster) == 1
    saved(cluster)
    restart(cluster)
    assert cluster.svf("status")["paused"] == said
    wait_for("the job's reason is said again", 60,
             lambda: text in cluster.svf("why", str(job))["text"])
    assert cluster.job_state(job) == "PENDING"
    assert cluster.mutating() == calls
    assert "it was paused by root since" in cluster.svf("resume", json_out=False)
    assert "vm00" in cluster.wait_job(job, 90)
    assert "paused" not in cluster.svf("status")
    assert paused_metric(cluster) == 0


def test_a_job_in_its_prolog_waits_and_is_not_requeued(cluster):
    """The clone is under way when the pause comes: it ends, and no power-on
    follows before svf resume."""
    cluster.do("setDuration", name="CloneVM_Task", duration="3s")
    job = cluster.sbatch("-N1", "-w", "vm003")
    wait_for("the clone is under way", 30,
             lambda: cluster.running_tasks("CloneVM_Task"))
    cluster.must("svf", "pause", WHY)
    calls = cluster.mutating()
    wait_for("the clone has ended", 30, lambda: cluster.our_vm("vm003"))
    cluster.do("setDuration", name="CloneVM_Task", duration="300ms")
    saved(cluster)
    restart(cluster)
    assert cluster.svf("status")["paused"]["reason"] == WHY
    assert cluster.mutating() == calls and not cluster.is_on("vm003")
    assert cluster.job_state(job) == "CONFIGURING"
    cluster.must("svf", "resume")
    assert "vm003" in cluster.wait_job(job, 90)
    assert cluster.job(job).get("Restarts") == "0"


def test_a_job_waits_with_the_reason_where_backfill_alone_schedules(fresh):
    """After a failover slurmctld 22.05 may have no main scheduler. Backfill tests a
    job in the second of its submission, and again only after a change."""
    c = fresh(nodes=1, inventory=world(hosts=1, vfs=1), slurm={
        "SchedulerParameters": Cluster.scheduler_parameters +
        ",sched_interval=-1"})
    text = f"paused by root: {WHY}"
    c.must("svf", "pause", WHY)
    held = c.sbatch("-N1", "-H", script="hostname")
    free = c.sbatch("-N1", script="hostname")
    assert c.svf("why", str(free))["text"] == text, "before any test of the job"
    wait_for("squeue shows who paused and why", 20,
             lambda: text in c.squeue(free, "%r"))
    assert "Slurm's own reason applies" in c.svf("why", str(held))["text"]
    c.must("svf", "resume")
    assert "vm001" in c.wait_job(free, 60)
    assert "Running job scheduler" not in c.ctld_log()


def test_who_may_not_and_what_is_refused(cluster):
    for verb, fields in (("pause", {"text": "for fun"}), ("pause-end", {})):
        answer = asked(cluster, NOBODY, verb, **fields)
        assert "only root, SlurmUser and operators" in answer[0]["error"]
    assert "paused" not in cluster.svf("status")
    assert cluster.run("svf", "pause").returncode == 2
    assert cluster.run("svf", "pause", "x" * 120).returncode == 2
    refused = cluster.run("svf", "resume")
    assert refused.returncode == 1 and "is not paused" in refused.stderr


def test_a_hostile_reason_is_one_line_of_plain_text(cluster):
    cluster.must("svf", "pause", "a\x1b[31m\nb")
    line = [n for n in cluster.svf("status", json_out=False).splitlines()
            if n.startswith("paused")]
    assert len(line) == 1 and line[0].endswith(": a [31m b")
