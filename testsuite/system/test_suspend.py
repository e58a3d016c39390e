# SPDX-License-Identifier: GPL-2.0-or-later
"""Suspend as a preemption action: a host has room for two large VMs, and for one
GPU's vGPUs, and more is wanted by a job that goes before. The VM of a job whose partition says
Preempt=suspend is suspended with it, and goes on when there is room again."""

import re
import signal
import time

from cluster import Cluster, wait_for
from stages import Held, ready_count, wait_ready_again, wait_saved
from test_check import findings
from worlds import host, world

LOW, HIGH = ["vm001", "vm002"], ["vm003", "vm004"]
HALF, WHOLE, GPU = "nvidia_a100-20c", "nvidia_a100-40c", "0000:65:00.0"
SILENCE = 8		# SlurmdTimeout, s
HOST = "esx01.example.org"


def make_cluster():
    there = host(HOST, vfs=0, memory=11 * 1024)
    there["gpus"] = [{
        "pci": GPU, "name": "NVIDIA A100-PCIE-40GB",
        "device": 0x20f1, "memoryGB": 40, "numa": 1,
        "profiles": {HALF: [2, 2], WHOLE: [1, 1]}}]
    c = Cluster(nodes=6, inventory=world(hosts=[there]))
    c.choose_ports()
    c.vsphere = {"ShutdownGrace": 1, "OversubscribeNames": "yes", "lines": [
        "ClusterName=HPC1 ResourcePool=slurm",
        "AdapterName=vmxnet3 Type=vmxnet3 Network=VM-PG",
        f"AdapterName=half Type=vgpu Profile={HALF}",
        f"AdapterName=whole Type=vgpu Profile={WHOLE}",
        "PartitionName=half Adapter=half Template=rhel9-ofed Preempt=suspend",
        "PartitionName=whole Adapter=whole Template=rhel9-ofed",
        "PartitionName=low Adapter=vmxnet3 Template=rhel9-ofed"
        " MemoryReservation=full Preempt=suspend",
        "PartitionName=other Adapter=vmxnet3 Template=rhel9-ofed"
        " MemoryReservation=full"]}
    c.slurm = {"SuspendTimeout": 2, "PreemptType": "preempt/partition_prio",
               "PreemptMode": "REQUEUE", "SlurmdTimeout": SILENCE}
    c.node_lines = [c.node_line(1, 2, "vmxnet3", memory=4096),
                    c.node_line(3, 4, "vmxnet3", memory=4096),
                    c.node_line(5, 5, "half", memory=512),
                    c.node_line(6, 6, "whole", memory=512)]
    c.partition_lines = [
        "PartitionName=low Nodes=vm[001-002] Default=YES",
        "PartitionName=other Nodes=vm[003-004]",
        "PartitionName=half Nodes=vm005", "PartitionName=whole Nodes=vm006",
        "PartitionName=high Nodes=ALL PriorityTier=10"]
    return c


def power(c, name):
    """As svf shows it."""
    return next(n["vm_state"] for n in c.svf("nodes")["nodes"]
                if n["node"] == name)


def has_gpu(c):
    """Whose vGPUs the simulator knows."""
    return sorted(vm for h in c.state()["hosts"] for pf in h["pfs"]
                  if pf["id"] == GPU for vm in pf["by"].values())


def suspended(c, *jobs):
    def look():
        states = {j: c.job_state(j) for j in jobs}
        return [j for j, s in states.items() if s == "SUSPENDED" and
                power(c, c.job(j)["NodeList"]) == "suspended"]
    return wait_for("a job is suspended, and its VM is", 60, look)[0]


def said(c, job, other, node):
    """svf says since when, for whom, and where there is to be room."""
    words = rf"its VMs are suspended since \S+ for JobId={other}; they go on " \
            rf"when .*there is room on {HOST}"
    why = c.svf("why", str(job))
    assert re.match(words, why["text"]), why
    row = next(j for j in c.svf("jobs")["jobs"] if j["job"] == job)
    assert re.match(words, row["text"]) and row["hosts"] == [HOST], row
    assert "making" not in row, row
    n = next(n for n in c.svf("nodes")["nodes"] if n["node"] == node)
    assert (n["action"], n["host"], n["job"]) == ("suspended", HOST, job), n
    assert c.svf("status")["suspended"] == 1
    assert node in c.must("svf", "nodes") and str(job) in c.must("svf", "jobs")
    assert "esx01" in c.must("svf", "map")


def test_a_job_is_suspended_and_goes_on(cluster):
    """For longer than SlurmdTimeout: its node is not DOWN, it gets no other job,
    and slurmctld may begin anew."""
    c = cluster
    low = [Held(c, "--exclusive", "-w", n, before="echo began; uptime -s")
           for n in LOW]
    for job in low:
        job.wait_running()
    first = Held(c, "-p", "high", "--exclusive", "-w", HIGH[0])
    victim = suspended(c, *(j.id for j in low))
    stays = next(j for j in low if j.id != victim)
    back = next(j for j in low if j.id == victim)
    node = c.job(victim)["NodeList"]
    first.wait_running()
    stays.runs_on()
    assert c.job(victim)["Restarts"] == "0"
    assert str(first.id) in c.job(victim)["SystemComment"]
    other = c.sbatch("-p", "low", "-w", node, script="hostname")
    until = time.monotonic() + 3 * SILENCE
    while time.monotonic() < until:
        assert "DOWN" not in c.node_states()[node], c.node(node)
        time.sleep(1)
    assert c.job_state(victim) == "SUSPENDED"
    assert c.job_state(other) == "PENDING"
    ready = ready_count(c)
    wait_saved(c, victim, node)
    c.restart_slurmctld(signal.SIGKILL)
    wait_ready_again(c, ready)
    assert c.job_state(victim) == "SUSPENDED"
    first.end_well()
    wait_for("it goes on", 60, lambda: c.job_state(victim) == "RUNNING")
    assert power(c, node) == "on"
    stays.end_well()
    back.end_well()
    c.wait_job(other)


def test_nobody_but_the_engine_resumes_it_and_whoever_cancels_it_has_the_node(
        cluster):
    """Its memory is thrown away then, and the node serves the next job."""
    c = cluster
    low = [Held(c, "--exclusive", "-w", n) for n in LOW]
    for job in low:
        job.wait_running()
    high = Held(c, "-p", "high", "--exclusive", "-w", HIGH[0])
    victim = suspended(c, *(j.id for j in low))
    stays = next(j for j in low if j.id != victim)
    node = c.job(victim)["NodeList"]
    high.wait_running()
    r = c.run("scontrol", "resume", str(victim))
    assert r.returncode and c.job_state(victim) == "SUSPENDED", r
    assert power(c, node) == "suspended"
    said(c, victim, high.id, node)
    c.must("scancel", str(victim))
    wait_for("its VM is off", 60, lambda: power(c, node) == "off")
    c.wait_state(victim, {"CANCELLED"}, 60)
    high.end_well()
    stays.end_well()
    wait_for("its node is Slurm's again", 60, lambda: c.is_powered_down(node))


def test_it_waits_for_one_task_of_an_array_and_not_for_all(cluster):
    """The array's record pends until the last one has begun."""
    c = cluster
    low = [Held(c, "--exclusive", "-w", n) for n in LOW]
    for job in low:
        job.wait_running()
    go = c.path("out", "go-array")
    array = c.sbatch("-p", "high", "--exclusive", "-w", HIGH[0],
                     "--array=1-2%1",
                     script=f"while [ ! -f {go} ]; do sleep 0.2; done")
    victim = suspended(c, *(j.id for j in low))
    stays = next(j for j in low if j.id != victim)
    back = next(j for j in low if j.id == victim)
    wait_for("its first task runs", 60,
             lambda: c.job_state(f"{array}_1") == "RUNNING")
    stays.end_well()
    wait_for("it goes on", 60, lambda: c.job_state(victim) == "RUNNING")
    assert c.job_state(f"{array}_2") == "PENDING"
    go.touch()
    c.wait_state(f"{array}_2", {"COMPLETED"}, 60)
    back.end_well()


def test_a_host_with_a_suspended_vm_is_not_empty(cluster):
    """Its plan and its drain say why it stays; --requeue ends its job, and the
    host is empty. The job goes on from the queue when the host is back."""
    c = cluster
    low = [Held(c, "--exclusive", "-w", n) for n in LOW]
    for job in low:
        job.wait_running()
    high = Held(c, "-p", "high", "--exclusive", "-w", HIGH[0])
    victim = suspended(c, *(j.id for j in low))
    node = c.job(victim)["NodeList"]
    high.wait_running()
    plan = c.must("svf", "host", "plan", HOST)
    assert any(node in line and "it is suspended" in line
               for line in plan.splitlines()), plan
    c.must("svf", "host", "drain", HOST)
    reason = wait_for("its node says why", 30, lambda: next(
        (r for r in [c.node(node).get("Reason", "")]
         if "it is suspended" in r), None))
    assert "its VM stays till the job's end" in reason, reason
    shown = next(h for h in c.svf("hosts")["hosts"] if h["host"] == HOST)
    assert "1 VM is suspended" in str(shown), shown
    c.must("svf", "host", "drain", "--requeue", HOST)
    wait_for("its VM is off", 90, lambda: power(c, node) == "off")
    wait_for("its job is in the queue", 60,
             lambda: c.job_state(victim) == "PENDING")
    assert c.job(victim)["Restarts"] == "1", c.job(victim)
    c.must("scancel", str(high.id), *(str(j.id) for j in low))
    wait_for("the host is empty", 90, lambda: any(
        "safe now" in str(h) for h in c.svf("hosts")["hosts"]))
    c.must("svf", "host", "resume", HOST)
    other = next(n for n in LOW if n != node)
    c.wait_job(c.sbatch("-p", "low", "-w", other), 90)


def test_a_vgpu_that_a_suspended_vm_had_is_another_jobs(cluster):
    """And its own again, when that one is idle."""
    c = cluster
    low = Held(c, "-p", "half", "--mem=100").wait_running()
    assert has_gpu(c) == ["vm005"]
    high = Held(c, "-p", "high", "--mem=100", "-w", "vm006")
    assert suspended(c, low.id) == low.id
    high.wait_running()
    assert has_gpu(c) == ["vm006"]
    high.end_well()
    wait_for("it goes on", 60, lambda: c.job_state(low.id) == "RUNNING")
    assert has_gpu(c) == ["vm005"]
    low.end_well()


def test_a_slurmd_timeout_that_is_too_short_for_it_is_told(cluster):
    c = cluster
    slurm, ours = c.path("etc", "slurm.conf"), c.path("etc", "vsphere.conf")
    was, were = slurm.read_text(), ours.read_text()
    set_so = f"SlurmdTimeout={SILENCE}\n"
    assert set_so in was and " Preempt=suspend" in were

    def told(seconds, so):
        slurm.write_text(was.replace(set_so, f"SlurmdTimeout={seconds}\n"))
        c.must("scontrol", "reconfigure")
        wait_for(f"{seconds} s is told: {so}", 20, lambda: [
            tuple(x[k] for k in ("severity", "is", "should", "fix"))
            for x in findings(c) if x["code"] == "slurm-slurmd-timeout"] ==
            so * [("warning", str(seconds), "SlurmdTimeout=20",
                   "slurm.conf: SlurmdTimeout=20")])

    try:
        for seconds, so in ((19, True), (20, False), (1, True), (0, False)):
            told(seconds, so)
        ours.write_text(were.replace(" Preempt=suspend", ""))
        told(1, False)
    finally:
        slurm.write_text(was)
        ours.write_text(were)
        c.must("scontrol", "reconfigure")
