# SPDX-License-Identifier: GPL-2.0-or-later
"""What a job does while its VFs are short: it says so, holds nothing, idles no
nodes, gets what idle warm VMs keep from it, and is never told "never"."""

import datetime
import re
import time

import pytest

from cluster import Cluster, patience, wait_for
from worlds import foreign, world

E1, E2 = "esx01.example.org", "esx02.example.org"
HOSTNAMES = "srun hostname"


def make_cluster():
    """Four nodes, one of them larger, on four VFs of which two are taken."""
    c = Cluster(nodes=4, inventory=world(hosts=2, vfs=2, vms=[
        foreign("theirs-1", E1), foreign("theirs-2", E2)]))
    c.choose_ports()
    c.vsphere = {"ShutdownGrace": 1}
    c.slurm = {"SuspendTimeout": 2}
    c.node_lines = [c.node_line(1, 3, "sriov-roce"),
                    c.node_line(4, 4, "sriov-roce", memory=2048)]
    c.partition_lines = [
        "PartitionName=roce Nodes=ALL Default=YES MaxTime=INFINITE",
        "PartitionName=high Nodes=ALL PriorityJobFactor=100"]
    return c


def says(cluster, job, *words):
    text = cluster.squeue(job, "%r")
    return all(w in text for w in words) and text


def idle_and_cold(cluster):
    """No managed VM is on, all nodes are powered down."""
    names = ",".join(cluster.node_names())
    up = [n for n in cluster.node_names() if not cluster.is_powered_down(n)]
    if up:
        cluster.must("scontrol", "update", f"nodename={names}",
                     "state=power_down")
    wait_for("all is off", 30, lambda: not cluster.names_on() and all(
        set(s.split("+")) == {"IDLE", "CLOUD", "POWERED_DOWN"}
        for s in cluster.node_states().values()))


def warm(cluster, *names):
    """These two VMs are on and idle, and all VFs are taken."""
    idle_and_cold(cluster)
    cluster.wait_job(cluster.sbatch(f"-N{len(names)}", "-w", ",".join(names),
                                    script="true"))
    assert cluster.names_on() == set(names)


def start_of(text):
    return datetime.datetime.fromisoformat(text)


def test_a_gang_that_does_not_fit_takes_nothing(cluster):
    calls = cluster.mutating()
    job = cluster.sbatch("-N3")
    wait_for("it says why", 15, lambda: says(cluster, job, "VF"))
    assert cluster.mutating() == calls and cluster.names_on() == set()
    assert all(pf["reserved"] == 0 and pf["free"] == 1
               for h in cluster.svf("hosts")["hosts"] for pf in h["pfs"])


def test_the_reason_comes_back_after_every_scheduling_cycle(cluster):
    job = cluster.sbatch("-N3", "-J", "secretname")
    text = wait_for("squeue %r", 15, lambda: says(cluster, job, "VF"))
    assert text.startswith("needs ") and "sriov-roce VF" in text
    show = cluster.job(job)
    assert show["Reason"] == text.replace(" ", "_")
    assert show["SystemComment"].strip() == f"vsphere: {text}"
    assert cluster.must("squeue", "-h", "-j", str(job), "-o", "%R") \
        .strip() == f"({text})"
    for _ in range(3):      # a new job starts a cycle, which wipes the words
        other = cluster.sbatch("-N1", script="true")
        cluster.wait_job(other)
        wait_for("the words are back", 8, lambda: says(cluster, job, "VF"))
        assert cluster.job(job)["SystemComment"]
    assert "secretname" not in cluster.svf("why", str(job))["text"]


def test_a_record_says_no_more_than_is_true(cluster):
    job = cluster.sbatch("-N3")
    wait_for("its record says why", 15, lambda: "vsphere: needs" in
             cluster.job(job).get("SystemComment", ""))
    cluster.must("scontrol", "hold", str(job))
    wait_for("it says so no more", 20, lambda: not
             cluster.job(job).get("SystemComment", "").strip())
    assert "JobHeld" in cluster.svf("why", str(job))["text"]


def test_a_short_job_starts_when_the_job_before_it_ends(cluster):
    """WILL_RUN: by the VFs it is the end of the running job, not now."""
    hog = cluster.sbatch("-N1", "-t", "7", script="sleep 600")
    cluster.wait_state(hog, "RUNNING")
    end = start_of(cluster.job(hog)["EndTime"])
    r = cluster.run("sbatch", "--test-only", "-N2", "-t", "5", "--wrap=true")
    said = start_of(r.stderr.split("to start at ")[1].split()[0])
    assert abs((said - end).total_seconds()) <= 61, r.stderr
    job = cluster.sbatch("-N2", "-t", "5")
    start = wait_for("squeue --start knows", 15, lambda: [
        s for s in cluster.must("squeue", "--start", "-h", "-j", str(job),
                                "-o", "%S").split() if s != "N/A"])[0]
    assert abs((start_of(start) - end).total_seconds()) <= 61
    assert cluster.job_state(job) == "PENDING"


def test_a_short_job_idles_no_node_for_jobs_that_end_before(cluster):
    hog = cluster.sbatch("-N1", "-t", "10", script="sleep 600")
    cluster.wait_state(hog, "RUNNING")
    big = cluster.sbatch("-p", "high", "-N2", "-t", "5")
    wait_for("it says why", 15, lambda: says(cluster, big, "VF"))
    cluster.wait_job(cluster.sbatch("-N1", "-t", "1", script="true"), 20)
    assert cluster.job_state(big) == "PENDING"


def test_a_named_node_gets_the_vf_of_an_idle_warm_vm(cluster):
    warm(cluster, "vm001", "vm002")
    job = cluster.sbatch("-N1", "-w", "vm003", script=HOSTNAMES)
    wait_for("it says why", 15, lambda: says(cluster, job, "vm003", "VF") or
             cluster.job_state(job) != "PENDING")
    assert cluster.wait_job(job, 40).split() == ["vm003"]
    assert len(cluster.names_on() & {"vm001", "vm002"}) == 1, "one was enough"


def test_a_job_for_a_node_that_is_just_reclaimed_waits_for_its_vm(cluster):
    """It must not slip onto the VM that is about to go."""
    warm(cluster, "vm001", "vm002")
    was = len(cluster.ctld_log())
    first = cluster.sbatch("-N1", "-w", "vm003", script="hostname")
    victim = wait_for("a VM is reclaimed", 20, lambda: re.search(
        r"node=(\S+) idle VM is reclaimed", cluster.ctld_log()[was:])).group(1)
    job = cluster.sbatch("-N1", "-w", victim, script="hostname; sleep 1")
    assert cluster.wait_job(first, 40).strip() == "vm003"
    assert cluster.wait_job(job, 40).strip() == victim
    assert cluster.job(job)["Restarts"] == "0"


def test_a_job_that_excludes_the_warm_vms_gets_their_vfs(cluster):
    warm(cluster, "vm001", "vm002")
    out = cluster.wait_job(cluster.sbatch(
        "-N2", "-x", "vm[001-002]", script=HOSTNAMES), 40)
    assert set(out.split()) == {"vm003", "vm004"}


def test_a_job_that_needs_a_larger_node_gets_a_warm_vms_vf(cluster):
    warm(cluster, "vm001", "vm002")
    out = cluster.wait_job(cluster.sbatch("-N1", "--mem=1500",
                                          script=HOSTNAMES), 40)
    assert out.split() == ["vm004"]
    assert len(cluster.names_on() & {"vm001", "vm002"}) == 1


def test_warm_vms_that_the_job_can_use_are_not_given_away(cluster):
    """Three nodes are asked for and two are warm: the third VF is missing,
    powering the two down would gain nothing."""
    warm(cluster, "vm001", "vm002")
    job = cluster.sbatch("-N3")
    wait_for("it says why", 15, lambda: says(cluster, job, "VF"))
    was = cluster.calls("PowerOffVM_Task", "ShutdownGuest")
    for _ in range(2):
        cluster.wait_job(cluster.sbatch("-N1", script="true"))
        wait_for("it says why", 15, lambda: says(cluster, job, "VF"))
    assert cluster.calls("PowerOffVM_Task", "ShutdownGuest") == was
    assert cluster.names_on() == {"vm001", "vm002"}
    cluster.do("powerOff", vm="theirs-1")
    try:
        cluster.wait_state(job, "COMPLETED", 30)
    finally:
        cluster.must("scontrol", "update", "nodename=vm[001-004]",
                     "state=power_down")
        wait_for("ours are off", 30, lambda: not cluster.names_on())
        cluster.do("powerOn", vm="theirs-1")
        wait_for("theirs is on", 10, lambda: cluster.vfs_used() == 2)


@pytest.mark.parametrize("how", ["disconnected", "maintenance"])
def test_capacity_that_is_away_is_no_never(cluster, how):
    """At submit and in the queue: accepted, waiting, not held; and it runs
    when the hosts are back."""
    idle_and_cold(cluster)

    def hosts(away):
        for h in (E1, E2):
            if how == "maintenance":
                cluster.do("maintenance", host=h,
                           mode="enter" if away else "exit")
            else:
                cluster.do("hostState", host=h,
                           state=how if away else "connected")
    queued = cluster.sbatch("-N3")
    wait_for("it says why", 15, lambda: says(cluster, queued, "VF"))
    cluster.must("scancel", str(queued))
    for vm in ("theirs-1", "theirs-2"):
        cluster.do("powerOff", vm=vm)
    hosts(away=True)
    try:
        wait_for("the hosts are away", 10, lambda: all(
            h["state"] != "UP" for h in cluster.svf("hosts")["hosts"]))
        job = cluster.sbatch("-N2", script=HOSTNAMES)
        wait_for("it says why", 15, lambda: says(cluster, job, "VF"))
        show = cluster.job(job)
        assert show["JobState"] == "PENDING" and show["Priority"] != "0"
    finally:
        hosts(away=False)
    assert len(cluster.wait_job(job, 40).split()) == 2
    idle_and_cold(cluster)
    for vm in ("theirs-1", "theirs-2"):
        cluster.do("powerOn", vm=vm)
    wait_for("theirs are on", 10, lambda: cluster.vfs_used() == 2)


def test_a_job_submitted_before_vcenter_was_read_is_taken(cluster):
    """Nothing is known of its hosts: no reason to refuse, one to wait."""
    cluster.end_slurmctld()
    cluster.do("stall", duration="12s")
    cluster.start_slurmctld()
    job = cluster.sbatch("-N2", script=HOSTNAMES)
    wait_for("it waits for vCenter", 11, lambda: says(cluster, job, "vCenter"))
    assert cluster.job_state(job) == "PENDING"
    assert len(cluster.wait_job(job, 40).split()) == 2


def test_a_reservation_is_chosen_by_slurm_alone(cluster):
    """job_test with a record made up for it, under fewer locks."""
    cluster.must("scontrol", "create", "reservation", "reservationname=r1",
                 "starttime=now", "duration=5", "users=root", "nodecnt=2",
                 "partitionname=roce")
    try:
        nodes = cluster.must("scontrol", "-o", "show", "reservation", "r1")
        assert "NodeCnt=2" in nodes
        out = cluster.wait_job(cluster.sbatch(
            "-N2", "--reservation=r1", script=HOSTNAMES), 40)
        assert len(set(out.split())) == 2
    finally:
        cluster.run("scancel", "--user", cluster.user)
        wait_for("the reservation is gone", 20, lambda: cluster.run(
            "scontrol", "delete", "reservationname=r1").returncode == 0)


def test_squeue_is_quick_while_jobs_wait(cluster):
    jobs = [cluster.sbatch("-N3") for _ in range(10)]
    wait_for("they wait", 20, lambda: says(cluster, jobs[0], "VF"))
    took = []
    for _ in range(5):
        began = time.monotonic()
        cluster.must("squeue")
        took.append(time.monotonic() - began)
    assert sorted(took)[2] < 1 * patience(), took
