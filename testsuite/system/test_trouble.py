# SPDX-License-Identifier: GPL-2.0-or-later
"""Cancelled jobs, a killed slurmctld, failing tasks, and the mode that only
observes."""

import re
import signal
import time

import pytest

from cluster import Cluster, patience, wait_for
from stages import Held
from worlds import world

SLOW_CLONE = {"CloneVM_Task": "4s"}


def make_cluster():
    c = Cluster(inventory=world(hosts=2, vfs=2, durations=SLOW_CLONE), nodes=4)
    c.vsphere = {"ShutdownGrace": 1}
    c.slurm = {"SuspendTimeout": 4}
    return c


def clean(cluster, names=None, timeout=40):
    """No VM of these is on, no VF is used or held for them."""
    names = names or cluster.node_names()
    wait_for("no VM of ours is on", timeout,
             lambda: not cluster.names_on() & set(names))
    wait_for("no VF is held", timeout, lambda: all(
        pf["managed"] == 0 and pf["reserved"] == 0
        for h in cluster.svf("hosts")["hosts"] for pf in h["pfs"]))


def wait_task(cluster, kind, timeout=20):
    wait_for(f"{kind} is running", timeout,
             lambda: cluster.running_tasks(kind))


def nobody_down(cluster):
    return not [n for n, s in cluster.node_states().items()
                if s.startswith("DOWN") or "DRAIN" in s]


def test_scancel_during_the_clone_leaves_no_vm_and_no_vf(cluster):
    job = cluster.sbatch("-N2", "-w", "vm[001-002]")
    wait_task(cluster, "CloneVM_Task")
    cluster.must("scancel", str(job))
    clean(cluster, ["vm001", "vm002"])
    assert nobody_down(cluster)


def test_after_the_cancel_the_same_nodes_serve_the_next_job(cluster):
    out = cluster.wait_job(cluster.sbatch("-N2", "-w", "vm[001-002]",
                                          script="srun hostname"), 60)
    assert "vm001" in out and "vm002" in out


def test_scancel_during_the_boot_leaves_no_vf(cluster):
    cluster.delay_boot("vm003", 30)
    job = cluster.sbatch("-N1", "-w", "vm003")
    wait_for("vm003 is powered on", 30, lambda: cluster.is_on("vm003"))
    cluster.must("scancel", str(job))
    wait_for("vm003 is off or gone", 40, lambda: not cluster.is_on("vm003"))
    cluster.delay_boot("vm003", 0)
    out = cluster.wait_job(cluster.sbatch("-N1", "-w", "vm003",
                                          script="hostname"), 60)
    assert out.strip() == "vm003"


def test_kill_9_of_slurmctld_during_the_clone_leaks_nothing(fresh):
    c = fresh(nodes=2, inventory=world(hosts=1, vfs=2, durations=SLOW_CLONE),
              vsphere={"ShutdownGrace": 1},
              slurm={"SuspendTimeout": 4, "SuspendTime": 8})
    job = c.sbatch("-N2", script="srun -l hostname")
    wait_task(c, "CloneVM_Task")
    c.kill_slurmctld()
    c.start_slurmctld()
    if c.job_state(job) != "GONE":
        out = c.wait_job(job, 90)
        assert "vm001" in out and "vm002" in out
    assert len({v["name"] for v in c.our_vms()}) == len(c.our_vms()) <= 2
    clean(c, timeout=60)
    assert nobody_down(c)


@pytest.mark.parametrize("phase", ["PowerOnVM_Task", "boot", "run"])
def test_kill_9_of_slurmctld_at_any_phase_leaks_nothing(fresh, phase):
    c = fresh(nodes=2, start=False,
              inventory=world(hosts=1, vfs=2, durations={"PowerOnVM_Task": "2s"}),
              vsphere={"ShutdownGrace": 1},
              slurm={"SuspendTimeout": 4, "SuspendTime": 8})
    c.delay_boot("vm001", 2)
    c.start()
    job = c.sbatch("-N2", script="srun -l hostname; sleep 3")
    if phase == "boot":
        wait_for("both are on", 30, lambda: len(c.names_on()) == 2)
    elif phase == "run":
        wait_for("it runs", 40, lambda: c.output(job))
    else:
        wait_task(c, phase)
    c.kill_slurmctld()
    c.start_slurmctld()
    if c.job_state(job) != "GONE":
        c.wait_job(job, 90)
    clean(c, timeout=60)
    assert nobody_down(c)


def test_a_plain_restart_loses_neither_a_running_job_nor_its_vfs(fresh):
    c = fresh(nodes=2, inventory=world(hosts=1, vfs=2))
    job = Held(c, "-N2", before="srun hostname; echo began").wait_running()
    calls = c.mutating()
    c.restart_slurmctld()
    wait_for("the plugin has read vCenter again", 20, lambda: sum(
        pf["managed"] for h in c.svf("hosts")["hosts"] for pf in h["pfs"]) == 2)
    job.end_well()
    assert c.mutating() == calls, "a restart changes nothing in vCenter"


def test_a_failing_clone_is_tried_again(fresh):
    c = fresh(nodes=2, inventory=world(hosts=2, vfs=1), faults={"rules": [
        {"on": "task", "method": "CloneVM_Task", "count": 1,
         "fault": {"_typeName": "SystemError", "reason": "declared"}}]})
    out = c.wait_job(c.sbatch("-N2", script="srun hostname"), 60)
    assert "vm001" in out and "vm002" in out


def test_observe_counts_and_reports_and_changes_nothing(fresh):
    c = fresh(nodes=2, inventory=world(hosts=1, vfs=2),
              vsphere={"Mode": "observe"})
    hosts = wait_for("svf hosts answers", 20, lambda: c.svf("hosts")["hosts"])
    assert hosts[0]["pfs"][0]["total"] == 2
    job = c.sbatch("-N1", expect=False)
    if job.returncode == 0:
        n = int(job.stdout)
        wait_for("the job says why it waits", 20, lambda: "observe" in (
            c.svf("why", str(n))["text"] + c.job(n).get("Reason", "") +
            c.job(n).get("SystemComment", "")))
        assert c.job_state(n) == "PENDING"
    assert c.mutating() == 0
    assert c.our_vms() == []


def test_sigterm_ends_slurmctld_at_once(cluster):
    """Slurm itself waits for its RPCs, up to 30 s: not while there are any."""
    wait_for("it serves nobody", 60, lambda: re.search(
        r"Agent queue size: +0\nAgent count: +0\n", cluster.must("sdiag")))
    began = time.monotonic()
    cluster.end_slurmctld(signal.SIGTERM)
    assert time.monotonic() - began < 10 * patience()
    cluster.start_slurmctld()


NOT_AUTHENTICATED = {"_typeName": "NotAuthenticated"}


@pytest.mark.parametrize("rules", [
    [{"on": "request", "method": "content", "fault": NOT_AUTHENTICATED, "count": 1}],
    [{"on": "request", "method": "hello", "fault": NOT_AUTHENTICATED, "count": 1}],
    [{"on": "request", "method": "hello", "http": 404},
     {"on": "request", "method": "vimServiceVersions.xml",
      "fault": NOT_AUTHENTICATED, "count": 1}],
    [{"on": "request", "method": "content", "http": 401, "body": "x", "count": 1}],
], ids=["content", "hello", "versions", "401"])
def test_a_fault_of_sessions_before_the_first_login_ends_nothing(fresh, rules):
    """A proxy or a vCenter that starts answers so. slurmctld died of it."""
    c = fresh(nodes=2, inventory=world(hosts=2, vfs=1), faults={"rules": rules})
    c.wait_ready()
    assert c.daemons["slurmctld"].alive()
    assert c.ctld_log().count("Logged in to vCenter") == 1


def test_a_fault_of_sessions_after_another_datacenter_ends_nothing(fresh):
    """The new client has logged in nowhere yet."""
    c = fresh(nodes=2, inventory=world(hosts=2, vfs=1))
    c.wait_ready()
    c.fault(on="request", method="content", fault=NOT_AUTHENTICATED, count=1)
    c.change_vsphere("Datacenter=DC0", "Datacenter=DC9")
    wait_for("the new client says what is wrong", 30,
             lambda: "DC9" in str(c.svf("status")))
    assert c.daemons["slurmctld"].alive()
