# SPDX-License-Identifier: GPL-2.0-or-later
"""Too few VFs: a scheduling answer, never a node fault."""

import datetime
import re

from cluster import Cluster, wait_for
from people import hold_tasks, release_tasks
from worlds import foreign, world

E1, E2 = "esx01.example.org", "esx02.example.org"


def make_cluster():
    """Four nodes, four VFs, two of them taken by another user's VMs."""
    return Cluster(inventory=world(hosts=2, vfs=2, vms=[
        foreign("theirs-1", E1), foreign("theirs-2", E2)]), nodes=4)


def reason_of(cluster, job):
    j = cluster.job(job)
    return " ".join([cluster.squeue(job, "%r"), j.get("Reason", ""),
                     j.get("SystemComment", "")])


def test_two_jobs_submitted_at_once_never_overfill(cluster):
    """cluster-toolkit#3354: the second request looked at itself only."""
    a = cluster.sbatch("-N1", script="sleep 4")
    b = cluster.sbatch("-N1", script="sleep 4")
    c = cluster.sbatch("-N1", script="sleep 1")
    cluster.wait_job(a)
    cluster.wait_job(b)
    cluster.wait_job(c)
    assert cluster.counters()["powerOnFullPF"] == 0
    assert cluster.vfs_used() <= 4


def test_a_shortage_pends_with_a_reason_that_users_can_read(cluster):
    job = cluster.sbatch("-N3", "-C", "sriov-roce")
    text = wait_for("the reason speaks of VFs", 15, lambda: re.search(
        r"VF", reason_of(cluster, job)) and reason_of(cluster, job))
    assert "sriov-roce" in text
    assert cluster.job_state(job) == "PENDING"
    why = cluster.svf("why", str(job))
    assert "VF" in why["text"]


def test_a_shortage_takes_no_node_down_and_requeues_nothing(cluster):
    job = cluster.sbatch("-N3", "-C", "sriov-roce")
    wait_for("the reason speaks of VFs", 15,
             lambda: "VF" in reason_of(cluster, job))
    assert not [s for s in cluster.node_states().values()
                if "DOWN" in s.replace("POWERED_DOWN", "")
                .replace("POWERING_DOWN", "") or "DRAIN" in s]
    j = cluster.job(job)
    assert j["Restarts"] == "0" and j["JobState"] == "PENDING"


def test_a_short_job_is_not_said_to_start_now(cluster):
    r = cluster.run("sbatch", "--test-only", "-N3", "-C", "sriov-roce",
                    "--wrap=true")
    m = re.search(r"to start at (\S+)", r.stderr)
    if m:
        start = datetime.datetime.fromisoformat(m.group(1))
        assert (start - datetime.datetime.now()).total_seconds() > 1
    else:
        assert r.returncode != 0
    job = cluster.sbatch("-N3", "-C", "sriov-roce")
    wait_for("it has been looked at", 15, lambda: "VF" in reason_of(cluster, job))
    start = cluster.squeue(job, "%S")
    if start != "N/A":
        assert datetime.datetime.fromisoformat(start) > datetime.datetime.now()


def test_the_waiting_job_runs_when_the_vfs_come_back(cluster):
    job = cluster.sbatch("-N3", "-C", "sriov-roce")
    wait_for("the reason speaks of VFs", 15, lambda: "VF" in reason_of(cluster, job))
    cluster.do("powerOff", vm="theirs-1")
    cluster.wait_job(job)


def two_partitions(c):
    c.vsphere = {"ShutdownGrace": 2, "lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
        "PartitionName=a Adapter=sriov-roce Template=rhel9-ofed",
        "PartitionName=b Adapter=sriov-roce Template=rhel9-ofed"]}
    return c


def test_a_job_that_waits_for_vfs_does_not_block_another_partition(fresh):
    c = two_partitions(fresh(start=False, nodes=4, inventory=world(
        hosts=1, vfs=4, vms=[foreign("theirs-1", E1), foreign("theirs-2", E1)])))
    c.partition_lines = ["PartitionName=a Nodes=vm[001-003] Default=YES",
                         "PartitionName=b Nodes=vm004"]
    c.start()
    c.wait_ready()
    big = c.sbatch("-p", "a", "-N3")
    wait_for("the reason speaks of VFs", 15, lambda: "VF" in reason_of(c, big))
    c.wait_job(c.sbatch("-p", "b", "-N1"), 15)
    assert c.job_state(big) == "PENDING"


def test_what_could_never_run_is_refused_at_submit(fresh):
    """More nodes than all hosts have VFs, where names may be more."""
    c = fresh(nodes=6, inventory=world(hosts=2, vfs=2),
              vsphere={"AllowMoreNodesThanVFs": "yes"})
    r = c.sbatch("-N5", "-C", "sriov-roce", expect=False)
    assert r.returncode != 0 and "not available" in r.stderr
    c.wait_job(c.sbatch("-N4", "-C", "sriov-roce"))


def test_a_warm_vm_is_reclaimed_for_another_partitions_job(fresh):
    c = two_partitions(fresh(start=False, nodes=4, inventory=world(
        hosts=1, vfs=4, vms=[foreign("theirs-1", E1), foreign("theirs-2", E1)])))
    c.partition_lines = ["PartitionName=a Nodes=vm[001-002] Default=YES",
                         "PartitionName=b Nodes=vm[003-004]"]
    c.start()
    c.wait_job(c.sbatch("-p", "a", "-N2"))
    job = c.sbatch("-p", "b", "-N2", script="hostname")
    c.wait_job(job, 60)
    assert not c.names_on() & {"vm001", "vm002"}
    # The first partition still works: its nodes come back the same way.
    c.wait_job(c.sbatch("-p", "a", "-N2"), 30)


def test_a_job_hears_what_bars_the_node_that_it_names(fresh):
    """More names than VFs: that others lack VFs is not why vm001 is not there."""
    c = fresh(nodes=4, inventory=world(hosts=2, vfs=1),
              vsphere={"AllowMoreNodesThanVFs": "yes"})
    hold_tasks(c, "PowerOnVM_Task")
    first = c.sbatch("-N1", "-w", "vm001", script="true")
    wait_for("its VM is switched on", 30,
             lambda: c.running_tasks("PowerOnVM_Task"))
    c.must("scancel", str(first))
    job = c.sbatch("-N2", "-w", "vm[001-002]", script="true")
    wait_for("the reason names the task", 30, lambda:
             "a cancelled task of its VM has not ended" in
             reason_of(c, job))
    release_tasks(c, "PowerOnVM_Task")
    c.wait_job(job, 60)
