# SPDX-License-Identifier: GPL-2.0-or-later
"""Every way to start a job, and every way in which it may leave its nodes."""

import concurrent.futures
import os
import re
import shutil
import time

import pytest

from cluster import Cluster, wait_for
from stages import backfill_looks
from worlds import ROCE_AND_ETH, world

HOSTNAMES = "srun hostname"


def make_cluster():
    """Six RoCE nodes and two of Ethernet; the administrator's own PrologSlurmctld
    and EpilogSlurmctld beside prep/vsphere."""
    c = Cluster(nodes=8, inventory=world(hosts=2, vfs=3))
    c.choose_ports()
    for name in ("prolog", "epilog"):
        f = c.path("bin", name)
        f.write_text("#!/bin/sh\n"
                     f'echo "$SLURM_JOB_ID" >>"{c.dir}/out/{name}.log"\n')
        f.chmod(0o755)
    c.vsphere = {"ShutdownGrace": 1, "lines": ROCE_AND_ETH}
    c.slurm = {"SuspendTimeout": 2,
               "PrologSlurmctld": c.path("bin", "prolog"),
               "EpilogSlurmctld": c.path("bin", "epilog"),
               "SchedulerParameters": Cluster.scheduler_parameters +
               ",permit_job_expansion"}
    c.node_lines = [c.node_line(1, 6, "sriov-roce"),
                    c.node_line(7, 8, "vmxnet3")]
    c.partition_lines = ["PartitionName=roce Nodes=vm[001-006] Default=YES",
                         "PartitionName=eth Nodes=vm[007-008]",
                         "PartitionName=all Nodes=ALL"]
    return c


def test_salloc_and_srun_in_it_find_their_nodes_up(cluster):
    r = cluster.run("salloc", "-N2", "srun", "hostname", timeout=60)
    assert r.returncode == 0, r.stderr
    assert len(set(r.stdout.split())) == 2
    assert set(r.stdout.split()) <= cluster.names_on()


def test_srun_by_itself_starts_on_new_vms(cluster):
    r = cluster.run("srun", "-N2", "-x", ",".join(cluster.names_on()),
                    "hostname", timeout=60)
    assert r.returncode == 0, r.stderr
    assert len(set(r.stdout.split())) == 2


def test_clients_hear_nothing_of_the_plugin(cluster):
    """It is loaded by every command; a word of it would stand in scripts."""
    for argv in (["sinfo"], ["squeue"], ["scontrol", "show", "nodes"],
                 ["srun", "-N1", "true"], ["sbatch", "--wrap=true"]):
        r = cluster.run(*argv, timeout=60)
        assert r.returncode == 0 and "vsphere" not in r.stderr, r.stderr


def test_clients_need_the_select_plugin_alone(cluster):
    """No core, no libcurl, no prep plugin on login nodes."""
    alone = cluster.path("clients")
    alone.mkdir()
    conf = cluster.path("etc", "slurm.conf").read_text().splitlines()
    dirs = next(ln for ln in conf if ln.startswith("PluginDir="))[10:]
    shutil.copy(os.path.join(dirs.split(":")[0], "select_cons_tres_vsphere.so"),
                alone)
    (alone / "slurm.conf").write_text("\n".join(
        f"PluginDir={alone}:{dirs.split(':', 1)[1]}"
        if ln.startswith("PluginDir=") else ln for ln in conf) + "\n")
    for argv in (["sinfo", "-h"], ["scontrol", "show", "nodes"],
                 ["srun", "-N1", "hostname"]):
        r = cluster.run("env", f"SLURM_CONF={alone}/slurm.conf", *argv,
                        timeout=60)
        assert r.returncode == 0 and r.stdout.strip(), r.stderr


def test_an_array_has_a_vm_for_each_task_and_none_starves(cluster):
    """Eight tasks of a whole node on six VFs: all of them run."""
    job = cluster.sbatch("-n2", "--array=1-8", "-o",
                         cluster.path("out", "array-%a.out"),
                         script="hostname")

    def outs():
        files = [cluster.path("out", f"array-{i}.out") for i in range(1, 9)]
        return [f.read_text().strip() for f in files
                if f.exists() and f.read_text().strip()]
    got = wait_for("all tasks have run", 60, lambda: len(outs()) == 8 and outs())
    assert set(got) <= {f"vm00{i}" for i in range(1, 7)}
    wait_for("the array is done", 10, lambda: not cluster.run(
        "squeue", "-h", "-j", str(job)).stdout.strip())


def test_a_heterogeneous_job_gets_both_kinds_of_vm(cluster):
    job = cluster.sbatch("-p", "roce", "-N2", ":", "-p", "eth", "-N1",
                         script="srun --het-group=0,1 hostname")
    out = set(cluster.wait_job(job, 90).split())
    assert len(out & {f"vm00{i}" for i in range(1, 7)}) == 2
    assert len(out & {"vm007", "vm008"}) == 1


def test_a_heterogeneous_job_that_is_short_of_vfs_leaves_nothing(cluster):
    """Its first part could start, the second can't: no VM stays, no VF."""
    hog = cluster.sbatch("-N5", script="sleep 600")
    cluster.wait_state(hog, "RUNNING", 60)
    on = cluster.names_on()
    job = cluster.sbatch("-p", "eth", "-N1", ":", "-p", "roce", "-N2")
    backfill_looks(cluster, 2)
    assert cluster.job_state(job) == "PENDING"
    assert cluster.names_on() == on
    assert all(pf["reserved"] == 0 for h in cluster.svf("hosts")["hosts"]
               for pf in h["pfs"])
    cluster.must("scancel", str(hog))
    cluster.wait_state(job, "COMPLETED", 90)


def test_counted_features_get_one_node_of_each_adapter(cluster):
    out = cluster.wait_job(cluster.sbatch(
        "-p", "all", "-N2", "-C", "[sriov-roce*1&vmxnet3*1]",
        script=HOSTNAMES), 60)
    assert len(set(out.split()) & {"vm007", "vm008"}) == 1
    assert len(set(out.split())) == 2


def test_the_administrators_own_prolog_and_epilog_run_too(cluster):
    job = cluster.sbatch("-N1", script="true")
    cluster.wait_job(job)
    for name in ("prolog", "epilog"):
        wait_for(f"the {name} ran once", 10, lambda n=name: cluster.path(
            "out", n + ".log").read_text().split().count(str(job)) == 1)


def nodes_of(cluster, job):
    """Where the plugin believes the job is."""
    return [n["node"] for n in cluster.svf("why", str(job))["nodes"]]


def test_a_job_with_no_kill_outlives_one_of_its_nodes(cluster):
    job = cluster.sbatch("-N2", "--no-kill", "-w", "vm[001-002]",
                         script="echo began; sleep 600")
    wait_for("it runs", 40, lambda: "began" in cluster.output(job))
    cluster.must("scontrol", "update", "nodename=vm002", "state=down",
                 "reason=test")
    wait_for("it has left the node", 10,
             lambda: cluster.job(job)["NodeList"] == "vm001")
    assert cluster.job_state(job) == "RUNNING"
    rows = {n["node"]: n for n in cluster.svf("nodes")["nodes"]}
    assert rows["vm001"]["job"] == job and "job" not in rows["vm002"]
    assert nodes_of(cluster, job) == ["vm001"]
    cluster.must("scontrol", "update", "nodename=vm002", "state=resume")
    out = cluster.wait_job(cluster.sbatch("-N1", "-w", "vm002",
                                          script="hostname"), 40)
    assert out.strip() == "vm002"


def test_a_job_that_shrinks_gives_its_node_to_others(cluster):
    job = cluster.sbatch("-N2", "-w", "vm[001-002]",
                         script="echo began; sleep 600")
    wait_for("it runs", 40, lambda: "began" in cluster.output(job))
    cluster.must("scontrol", "update", f"jobid={job}", "numnodes=1")
    wait_for("one node is left", 10,
             lambda: cluster.job(job)["NodeList"] == "vm001")
    assert nodes_of(cluster, job) == ["vm001"]
    calls = cluster.mutating()
    out = cluster.wait_job(cluster.sbatch("-N1", "-w", "vm002",
                                          script="hostname"), 20)
    assert out.strip() == "vm002" and cluster.mutating() == calls
    assert cluster.job_state(job) == "RUNNING"


def test_a_job_that_grows_has_the_nodes_of_both(cluster):
    """And a node that went over to it stays, when the other job is gone."""
    if cluster.release[:2] == (26, 5):
        pytest.skip("the slurmctld of 26.05.3 ends with SIGSEGV at it, with "
                    "select/cons_tres too (_valid_license_job_expansion)")
    job = cluster.sbatch("-N1", "-w", "vm001",
                         script="echo began; sleep 600")
    wait_for("it runs", 40, lambda: "began" in cluster.output(job))
    r = cluster.run("salloc", "--no-shell", "-N1", "-w", "vm002",
                    f"--dependency=expand:{job}", timeout=60)
    more = re.search(r"Granted job allocation (\d+)", r.stderr).group(1)
    cluster.must("scontrol", "update", f"jobid={more}", "numnodes=0")
    assert nodes_of(cluster, job) == ["vm001", "vm002"]
    cluster.must("scancel", str(more))
    wait_for("the other one is gone", 20, lambda: cluster.job_state(more) in
             ("CANCELLED", "COMPLETED", "GONE"))
    assert nodes_of(cluster, job) == ["vm001", "vm002"]
    assert {"vm001", "vm002"} <= cluster.names_on()


def test_a_job_requeued_by_hand_runs_a_second_time(cluster):
    job = cluster.sbatch("-N1", "-w", "vm001", "--open-mode=append",
                         script="echo began $SLURM_RESTART_COUNT; sleep 100")
    wait_for("it runs", 40, lambda: "began" in cluster.output(job))
    cluster.must("scontrol", "requeue", str(job))
    # 121 s: the life of slurmd's credential. An administrator may say now.
    wait_for("it is back in the queue", 20,
             lambda: cluster.job_state(job) == "PENDING" and
             cluster.job(job)["Reason"] == "BeginTime")
    # slurmd counts seconds: it would refuse a credential of the same one.
    second = int(time.time())
    wait_for("the next second", 5, lambda: int(time.time()) > second)
    cluster.must("scontrol", "update", f"jobid={job}", "starttime=now")
    wait_for("it runs again", 30, lambda: "began 1" in cluster.output(job))


def test_a_job_requeued_by_hand_while_its_vms_boot_starts_at_once(cluster):
    """No slurmd knew of it: there is no credential to outwait."""
    cluster.must("scontrol", "update", "nodename=vm006", "state=power_down")
    wait_for("vm006 is off", 30, lambda: not cluster.is_on("vm006") and
             cluster.is_powered_down("vm006"))
    cluster.delay_boot("vm006", 2)
    try:
        job = cluster.sbatch("-N1", "-w", "vm006", script="hostname")
        wait_for("the VM boots", 30, lambda: cluster.is_on("vm006"))
        cluster.must("scontrol", "requeue", str(job))
        assert cluster.wait_job(job, 60).strip() == "vm006"
        assert cluster.job(job)["Restarts"] == "1"
    finally:
        cluster.delay_boot("vm006", 0)


@pytest.mark.parametrize("state", ["drain", "down"])
def test_a_node_taken_away_while_it_boots_sends_the_job_elsewhere(cluster,
                                                                  state):
    cluster.must("scontrol", "update", "nodename=vm006", "state=power_down")
    wait_for("vm006 is off", 30, lambda: not cluster.is_on("vm006") and
             set(cluster.node("vm006")["State"].split("+")) ==
             {"IDLE", "CLOUD", "POWERED_DOWN"})
    cluster.delay_boot("vm006", 3)
    busy = ",".join(sorted(n for n in cluster.names_on() if n < "vm006"))
    hog = cluster.sbatch(f"-N{busy.count(',') + 1}", "-w", busy,
                         script="sleep 600")
    cluster.wait_state(hog, "RUNNING", 40)
    try:
        job = cluster.sbatch("-N1", "-x", busy, script="hostname")
        wait_for("a VM boots", 30, lambda: cluster.is_on("vm006"))
        cluster.must("scontrol", "update", "nodename=vm006", f"state={state}",
                     "reason=test")
        cluster.must("scancel", str(hog))
        cluster.must("scontrol", "update", f"jobid={job}", "excnodelist=")
        assert cluster.wait_job(job, 40).strip() != "vm006"
        assert cluster.job(job)["Restarts"] == "1"
        assert cluster.node("vm006")["Reason"].startswith("test")
    finally:
        cluster.delay_boot("vm006", 0)
        cluster.must("scontrol", "update", "nodename=vm006", "state=resume")
    out = cluster.wait_job(cluster.sbatch("-N1", "-w", "vm006",
                                          script="hostname"), 60)
    assert out.strip() == "vm006"


def test_a_job_cancelled_while_it_boots_stays_cancelled(cluster):
    """slurm-prep: a late callback resurrects a cancelled job."""
    cluster.must("scontrol", "update", "nodename=vm006", "state=power_down")
    wait_for("vm006 is off", 30, lambda: not cluster.is_on("vm006") and
             cluster.is_powered_down("vm006"))
    cluster.delay_boot("vm006", 30)
    job = cluster.sbatch("-N1", "-w", "vm006", "--requeue")
    wait_for("the VM boots", 30, lambda: cluster.is_on("vm006"))
    cluster.must("scancel", str(job))
    cluster.delay_boot("vm006", 0)
    wait_for("the VM is off", 30, lambda: not cluster.is_on("vm006"))
    show = cluster.job(job)
    assert show["JobState"] == "CANCELLED" and show["Restarts"] == "0"


def test_many_commands_at_once_are_all_served(cluster):
    """Submissions, cancels and queries side by side, as on any day."""
    def user(n):
        job = cluster.sbatch("-n1", "--mem=100", script="true")
        if n % 3 == 0:
            cluster.must("scancel", str(job))
        cluster.must("squeue")
        return job
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        jobs = list(pool.map(user, range(16)))
    states = wait_for("all have ended", 60, lambda: [
        s for s in [[cluster.job_state(j) for j in jobs]]
        if set(s) <= {"COMPLETED", "CANCELLED"}])
    assert states[0].count("COMPLETED") >= 10
