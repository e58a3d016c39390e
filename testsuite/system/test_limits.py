# SPDX-License-Identifier: GPL-2.0-or-later
"""Limits of accounting (QOS, associations) beside VFs, with a real slurmdbd:
a job that a limit holds has no VF, says what Slurm says of it, and begins with
its VFs when the limit lets it; of two QOS the lower one's jobs end for VFs."""

import pytest

import accounting
from cluster import Cluster, wait_for
from stages import Held, nobody_down
from worlds import world

pytestmark = pytest.mark.skipif(bool(accounting.missing()),
                                reason=f"needs {accounting.missing()}")
SMALL = [f"vm00{i}" for i in range(1, 5)]
LARGE = ["vm005", "vm006"]
HOSTNAMES = "srun hostname"


def make_cluster():
    """Four VFs for four small nodes and two large ones."""
    c = accounting.AccountedCluster(nodes=6, inventory=world(hosts=2, vfs=2))
    c.accounts = [
        "add cluster vstest",
        "add qos one,narrow,urgent",
        "modify qos one set grpjobs=1",
        "modify qos narrow set maxtresperjob=node=1",
        "modify qos urgent set preempt=normal",
        f"add user {c.user} account=root" if c.user != "root" else "",
        "add account few description=few organization=few",
        f"add user {c.user} account=few maxjobs=1",
        f"modify user {c.user} set qos+=one,narrow,urgent",
    ]
    c.accounts = [line for line in c.accounts if line]
    c.choose_ports()
    c.vsphere = {"ShutdownGrace": 1, "AllowMoreNodesThanVFs": "yes"}
    c.slurm = {"SuspendTimeout": 2, "PreemptType": "preempt/qos",
               "PreemptMode": "REQUEUE",
               "AccountingStorageEnforce": "limits,qos",
               # Nothing else makes Slurm look again when a limit changes.
               "SchedulerParameters": Cluster.scheduler_parameters +
               ",sched_interval=2"}
    c.node_lines = [c.node_line(1, 4, "sriov-roce"),
                    c.node_line(5, 6, "sriov-roce", memory=2048)]
    return c


def held_vfs(c):
    return sum(pf["reserved"] for h in c.svf("hosts")["hosts"] for pf in h["pfs"])


def cycle(c):
    """The scheduler has looked at the queue once more."""
    seen = c.ctld_log().count("Running job scheduler")
    wait_for("the scheduler has looked", 30, lambda: c.ctld_log().count(
        "Running job scheduler") > seen)


def limited(c, job, why):
    """It waits for that, in Slurm's words alone, and for as long as it does
    nothing is there for it."""
    wait_for(f"JobId={job} waits for {why}", 20,
             lambda: c.squeue(job, "%r") == why)
    calls, on = c.mutating(), c.names_on()
    cycle(c)
    show = c.job(job)
    assert (show["JobState"], show["Reason"]) == ("PENDING", why)
    assert "VF" not in show.get("SystemComment", "")
    assert "Slurm's own reason applies" in c.svf("why", str(job))["text"]
    assert held_vfs(c) == 0 and c.names_on() == on and c.mutating() == calls


def runs_with_vfs(c, job, nodes=1):
    names = set(c.wait_job(job, 60).split())
    assert len(names) == nodes == c.vfs_of(names)
    assert "adapter=sriov-roce" in c.job(job)["SystemComment"]
    nobody_down(c)


@pytest.mark.parametrize("options, why", [
    (["-q", "one"], "QOSGrpJobsLimit"),
    (["-A", "few"], "AssocMaxJobsLimit")], ids=["qos", "association"])
def test_a_job_over_a_limit_begins_when_one_before_it_has_ended(
        cluster, options, why):
    first = Held(cluster, "-N1", *options).wait_running()
    job = cluster.sbatch("-N2", *options, script=HOSTNAMES)
    limited(cluster, job, why)
    first.end_well()
    runs_with_vfs(cluster, job, 2)


def test_a_job_that_is_larger_than_its_qos_allows_begins_when_that_changes(
        cluster):
    job = cluster.sbatch("-N2", "-q", "narrow", script=HOSTNAMES)
    limited(cluster, job, "QOSMaxNodePerJobLimit")
    cluster.sacctmgr("modify qos narrow set maxtresperjob=node=2")
    runs_with_vfs(cluster, job, 2)


def test_what_is_said_of_vfs_goes_when_a_limit_is_what_holds_the_job(cluster):
    """No VF is free, then its QOS is full: and the other way round."""
    hogs = [Held(cluster, "-N2", "--ntasks-per-node=2") for _ in "ab"]
    for hog in hogs:
        hog.wait_running()
    job = cluster.sbatch("-N2", "-q", "one", script=HOSTNAMES)
    wait_for("it waits for VFs", 30, lambda: "VF" in cluster.squeue(job, "%r")
             and "VF" in cluster.job(job).get("SystemComment", ""))
    cluster.sacctmgr("modify qos one set grpjobs=0")
    try:
        wait_for("the limit is what it says", 30, lambda: cluster.squeue(
            job, "%r") == "QOSGrpJobsLimit" and "VF" not in cluster.job(
                job).get("SystemComment", ""))
        limited(cluster, job, "QOSGrpJobsLimit")
    finally:
        cluster.sacctmgr("modify qos one set grpjobs=1")
    wait_for("it waits for VFs", 30, lambda: "VF" in cluster.squeue(job, "%r"))
    for hog in hogs:
        hog.end_well()
    runs_with_vfs(cluster, job, 2)


def test_a_qos_that_preempts_ends_those_whose_vfs_it_needs(cluster):
    """One VF is needed, of a large node: not that of a job whose QOS is not
    below, and no more jobs than one."""
    firm = Held(cluster, "-N1", "-w", SMALL[0], "-q", "one").wait_running()
    low = [Held(cluster, "-N1", "-w", n, "--ntasks-per-node=2")
           for n in SMALL[1:]]
    for job in low:
        job.wait_running()
    assert cluster.vfs_used() == 4
    job = cluster.sbatch("-N1", "-q", "urgent", "-w", LARGE[0],
                         script=HOSTNAMES)
    assert cluster.wait_job(job, 60).split() == [LARGE[0]]
    firm.runs_on()
    assert sorted(cluster.job(j.id)["Restarts"] for j in low) == ["0", "0", "1"]
    assert cluster.job(job)["Restarts"] == "0"
