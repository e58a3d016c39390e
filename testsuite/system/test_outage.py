# SPDX-License-Identifier: GPL-2.0-or-later
"""vCenter is away, restarts, hangs, changes its certificate or its mind about
the password: running jobs don't notice, new ones wait with a reason, and what
was under way ends once."""

import shutil

import pytest

from cluster import Cluster, wait_for
from stages import Held, holds, nobody_down, ready_count, wait_ready_again
from worlds import world


def make_cluster():
    c = Cluster(nodes=4, inventory=world(hosts=2, vfs=2))
    c.vsphere = {"ShutdownGrace": 1}
    # Slurm looks at a queue once a minute when nothing changes; an outage here
    # is shorter.
    c.slurm = {"SuspendTimeout": 2, "SchedulerParameters":
               c.scheduler_parameters + ",sched_interval=2"}
    return c


def why(c, job):
    return str(c.svf("why", str(job))["text"])


def all_off(c):
    """Every VM off and gone: each job of a test costs a clone."""
    for name in c.names_on():
        c.run("scontrol", "update", f"nodename={name}", "state=power_down")
    wait_for("all are off", 60, lambda: not c.names_on() and all(
        c.is_powered_down(n) for n in c.node_names()))
    for vm in c.our_vms():
        c.do("destroyVm", vm=vm["name"], wait=True)


@pytest.mark.parametrize("how", ["503", "refuse"])
def test_while_vcenter_is_away_jobs_run_and_new_ones_wait(cluster, how):
    runs = Held(cluster, "-N1", "-w", "vm001").wait_running()
    before, calls = holds(cluster), cluster.mutating()
    was = ready_count(cluster)
    cluster.do("outage", duration="9s", how=how)
    cluster.do("cutConnections")
    wait_for("svf says so", 20, lambda: not cluster.svf("status")["up"])
    job = cluster.sbatch("-N1", "-w", "vm002", script="hostname")
    wait_for("the job says why it waits", 10,
             lambda: "vCenter" in why(cluster, job))
    # Neither free nor gone: nothing is promised on what isn't known.
    assert cluster.job_state(job) == "PENDING"
    runs.runs_on()
    wait_ready_again(cluster, was, 40)
    assert cluster.wait_job(job, 60).strip() == "vm002"
    runs.end_well()
    assert cluster.mutating() - calls <= 2
    assert [h[:3] for h in holds(cluster)] == [h[:3] for h in before]
    nobody_down(cluster)


@pytest.mark.parametrize("tasks", ["lost", "finish"])
@pytest.mark.parametrize("method", ["CloneVM_Task", "PowerOnVM_Task"])
def test_a_restart_of_vcenter_forgets_tasks_but_no_job(cluster, method, tasks):
    all_off(cluster)
    cluster.do("setDuration", name=method, duration="2s")
    clones, starts = (cluster.calls(m) for m in ("CloneVM_Task", "PowerOnVM_Task"))
    was = ready_count(cluster)
    job = cluster.sbatch("-N2", "-w", "vm[003-004]", script="srun hostname")
    wait_for(f"{method} is under way", 30,
             lambda: len(cluster.running_tasks(method)) == 2)
    cluster.do("restart", tasks=tasks, duration="1s")
    cluster.do("setDuration", name=method, duration="300ms")
    wait_ready_again(cluster, was, 40)
    assert set(cluster.wait_job(job, 60).split()) == {"vm003", "vm004"}
    assert cluster.job(job)["Restarts"] == "0"
    again = 2 if tasks == "lost" else 0
    assert cluster.calls("CloneVM_Task") - clones == 2 + (
        again if method == "CloneVM_Task" else 0)
    assert cluster.calls("PowerOnVM_Task") - starts == 2 + (
        again if method == "PowerOnVM_Task" else 0)
    assert len([v for v in cluster.our_vms() if v["on"]]) == 2
    nobody_down(cluster)


def test_a_certificate_that_changes_gets_no_password_until_cafile_has_it(cluster):
    runs = Held(cluster, "-N1", "-w", "vm001").wait_running()
    ca, logins = cluster.path("etc", "ca.pem"), cluster.counters()["logins"]
    shutil.copy(cluster.sim_ca, ca)
    was = ready_count(cluster)
    cluster.change_vsphere(f"VCenterCAFile={cluster.sim_ca}", f"VCenterCAFile={ca}")
    wait_ready_again(cluster, was)
    old = ca.read_text()
    cluster.do("newCertificate")
    cluster._ctx = None
    cluster.do("expireSessions")
    cluster.do("cutConnections")
    wait_for("svf names VCenterCAFile", 30,
             lambda: "VCenterCAFile" in cluster.svf("status", json_out=False))
    counters = cluster.counters()
    assert counters["logins"] == logins + 1 and counters["failedLogins"] == 0
    runs.runs_on()
    was = ready_count(cluster)
    shutil.copy(cluster.sim_ca, ca)
    assert ca.read_text() != old
    cluster.must("svf", "reconcile")
    wait_ready_again(cluster, was)
    runs.end_well()


def test_a_changed_password_is_tried_once_and_locks_nobody_out(cluster):
    runs = Held(cluster, "-N1", "-w", "vm001").wait_running()
    password = cluster.path("etc", "vcenter.password")
    cluster.do("setPassword", user="slurm@vsphere.local", password="new-one")
    failed = cluster.counters()["failedLogins"]
    cluster.do("expireSessions")
    wait_for("svf says what to do", 30, lambda: "VCenterPasswordFile" in cluster.svf(
        "status", json_out=False))
    job = cluster.sbatch("-N1", "-w", "vm002", script="hostname")
    wait_for("a new job waits for it", 20,
             lambda: "vCenter" in why(cluster, job))
    # What asks again by itself would have by now: 1, 2 and 4 s of backoff.
    asked = cluster.counters()["failedLogins"]
    assert asked == failed + 1
    cluster.must("svf", "reconcile")
    wait_for("an operator's look is a try", 10,
             lambda: cluster.counters()["failedLogins"] == failed + 2)
    runs.runs_on()
    was = ready_count(cluster)
    password.write_text("new-one\n")
    wait_ready_again(cluster, was)
    assert cluster.wait_job(job, 60).strip() == "vm002"
    runs.end_well()
    counters = cluster.counters()
    assert counters["failedLogins"] == failed + 2
    assert counters["lockedLogins"] == 0


def test_a_task_that_never_ends_costs_its_node_alone(fresh):
    """The job has a deadline and goes back to the queue with the cause; the
    node waits for the task, whose late end is used."""
    c = fresh(nodes=2, inventory=world(hosts=1, vfs=2), vsphere={
        "ShutdownGrace": 1, "ProvisionTimeout": 30}, slurm={"SuspendTimeout": 2})
    c.fault(on="task", method="CloneVM_Task", count=1, hang=True)
    job = c.sbatch("-N1", "-w", "vm001", script="hostname")
    task = wait_for("it hangs", 20,
                    lambda: c.running_tasks("CloneVM_Task"))[0]
    assert c.wait_job(c.sbatch("-N1", "-w", "vm002", script="hostname"),
                      40).strip() == "vm002"
    row = [n for n in c.svf("nodes")["nodes"] if n["node"] == "vm001"][0]
    assert row["vm_state"] == "CLONING" and row["action"] == "clone"
    wait_for("the job is back in the queue", 90,
             lambda: c.job(job)["Restarts"] == "1")
    wait_for("the log says after how long", 10, lambda: "its prolog "
             "fails: after ProvisionTimeout=30 s 0 of 1" in c.ctld_log())
    wait_for("vCenter is asked to call it off", 10,
             lambda: c.calls("CancelTask") >= 1)
    assert c.calls("CloneVM_Task") == 2
    nobody_down(c)
    held = c.sbatch("-N1", "-w", "vm001", script="hostname")
    c.must("scancel", str(job))
    moid = task.get("moid") or task["task"]
    if c.running_tasks("CloneVM_Task"):
        c.do("endTask", task=moid)
    assert c.wait_job(held, 60).strip() == "vm001"
    assert c.calls("CloneVM_Task") <= 3


def test_an_outage_longer_than_slurms_timeouts_takes_no_node_down(fresh):
    """Longer than ResumeTimeout while VMs are cloned; longer than SuspendTimeout
    while nodes go down and come up again, whose VMs live on meanwhile."""
    c = fresh(nodes=2, inventory=world(hosts=1, vfs=2),
              vsphere={"ShutdownGrace": 1},
              slurm={"SuspendTimeout": 2, "ResumeTimeout": 12})
    c.do("setDuration", name="CloneVM_Task", duration="3s")
    job = c.sbatch("-N2", script="srun hostname")
    wait_for("both clones are under way", 30,
             lambda: len(c.running_tasks("CloneVM_Task")) == 2)
    was = ready_count(c)
    c.do("outage", duration="18s", how="refuse")
    c.do("cutConnections")
    wait_ready_again(c, was, 60)
    assert set(c.wait_job(job, 60).split()) == {"vm001", "vm002"}
    assert c.job(job)["Restarts"] == "0"
    nobody_down(c)

    starts, was = c.calls("PowerOnVM_Task"), ready_count(c)
    c.do("outage", duration="22s", how="refuse")
    c.do("cutConnections")
    wait_for("svf says so", 20, lambda: not c.svf("status")["up"])
    c.must("scontrol", "update", "nodename=vm[001-002]", "state=power_down")
    wait_for("Slurm holds them for powered down", 15, lambda: all(
        c.is_powered_down(n) for n in c.node_names()))
    c.must("scontrol", "update", "nodename=vm[001-002]", "state=power_up")
    wait_ready_again(c, was, 60)
    job = c.sbatch("-N2", script="srun hostname")
    assert set(c.wait_job(job, 60).split()) == {"vm001", "vm002"}
    assert c.calls("PowerOnVM_Task") == starts + 2
    assert "ResumeTimeout" not in c.ctld_log()
    nobody_down(c)
