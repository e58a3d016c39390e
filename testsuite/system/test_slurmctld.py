# SPDX-License-Identifier: GPL-2.0-or-later
"""slurmctld restarted, reconfigured, switched over to stock cons_tres, robbed
of its memory: warm VMs and running jobs stay."""

import re
import time

import pytest

from cluster import Cluster, wait_for
from stages import Held, nobody_down, ready_count, wait_ready_again, wait_saved
from worlds import foreign, world

E1, E2 = "esx01.example.org", "esx02.example.org"


def make_cluster():
    c = Cluster(nodes=6, inventory=world(hosts=2, vfs=3))
    c.vsphere = {"ShutdownGrace": 1, "lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
        "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed",
        "PartitionName=fresh Adapter=sriov-roce Template=rhel9-ofed Retention=destroy"]}
    c.slurm = {"SuspendTimeout": 2}
    c.partition_lines = [
        "PartitionName=roce Nodes=vm[001-004] Default=YES",
        "PartitionName=fresh Nodes=vm[005-006] OverSubscribe=EXCLUSIVE"]
    return c


@pytest.fixture
def work(cluster):
    """A job runs on vm001, vm002 is warm and idle."""
    if "slurmctld" not in cluster.daemons:
        cluster.start_slurmctld()
    cluster.wait_job(cluster.sbatch("-N2", "-w", "vm[001-002]", script="true"),
                     60)
    job = cluster.sbatch("-N1", "-w", "vm001",
                         script="echo began; sleep 100")
    wait_for("it runs", 20, lambda: "began" in cluster.output(job))
    return job, cluster.mutating(), cluster.ctld_log().count("vsphere: ready:")


def goes_on(cluster, work, ready=1):
    """The plugin serves again; nothing was touched; the warm VM is warm."""
    job, calls, was = work
    wait_for("the plugin is ready again", 20, lambda: cluster.ctld_log()
             .count("vsphere: ready:") >= was + ready)
    assert cluster.job_state(job) == "RUNNING"
    out = cluster.wait_job(cluster.sbatch("-N1", "-x", "vm001",
                                          script="hostname"), 30)
    assert out.strip() == "vm002", "the warm one"
    assert cluster.mutating() == calls
    assert cluster.job(job)["Restarts"] == "0"
    rows = {n["node"]: n for n in cluster.svf("nodes")["nodes"]}
    assert rows["vm001"]["job"] == job and rows["vm001"]["vm_state"] == "ON"


def test_a_restart_keeps_the_running_job_and_the_warm_vm(cluster, work):
    cluster.restart_slurmctld()
    goes_on(cluster, work)


def test_a_reconfigure_without_a_change_costs_nothing(cluster, work):
    """The same session; where it makes another process, one in its place."""
    logins = cluster.counters()["logins"] + cluster.reexec
    cluster.must("scontrol", "reconfigure")
    goes_on(cluster, work, ready=int(cluster.reexec))
    assert cluster.counters()["logins"] == logins
    # A process that is replaced gives its own back if it has the time: it ends
    # when the other one is up, without asking its threads.
    wait_for("there is one session", 20,
             lambda: cluster.counters()["sessions"] <= 1 + cluster.reexec)


def test_a_reconfigure_with_a_new_vsphere_conf_keeps_them_too(cluster, work):
    cluster.change_vsphere("ShutdownGrace=1", "ShutdownGrace=1\nMaxOpsPerHost=7")
    goes_on(cluster, work)
    cluster.change_vsphere("ShutdownGrace=1\nMaxOpsPerHost=7", "ShutdownGrace=1")


def test_a_bad_vsphere_conf_at_reconfigure_leaves_the_old_in_force(cluster,
                                                                   work):
    conf = cluster.path("etc", "vsphere.conf")
    conf.write_text(conf.read_text() + "Foldr=x\n")
    r = cluster.run("scontrol", "reconfigure")
    # Where it makes another process, that one has not come up.
    assert (r.returncode != 0) == cluster.reexec, r.stdout + r.stderr
    wait_for("the log says so", 10, lambda: re.search(
        r"(error|fatal): .*vsphere\.conf.* line \d+.*Foldr.*the old configuration "
        r"stays in force", cluster.ctld_log()))
    goes_on(cluster, work, ready=0)
    cluster.change_vsphere("Foldr=x\n", "")


def test_a_reconfigure_while_vms_are_built_ends_well(cluster):
    """A reconfigure within the process recreates all node records."""
    job = cluster.sbatch("-N3", "-w", "vm[002-004]", script="srun hostname")
    wait_for("something is built or booted", 20,
             lambda: cluster.job_state(job) == "CONFIGURING")
    for _ in range(3):
        cluster.must("scontrol", "reconfigure")
    assert len(set(cluster.wait_job(job, 60).split())) == 3
    assert cluster.job(job)["Restarts"] == "0"


@pytest.mark.parametrize("phase", ["CloneVM_Task", "PowerOnVM_Task", "boot",
                                   "run", "release"])
def test_a_new_vsphere_conf_at_any_phase_costs_no_call(fresh, phase):
    """A new client replaces the old one; tasks that the old one began continue."""
    c = fresh(nodes=1, inventory=world(hosts=1, vfs=1, durations={
        "CloneVM_Task": "2s", "PowerOnVM_Task": "2s", "ShutdownGuest": "3s"}),
        vsphere={"ShutdownGrace": 5}, slurm={"SuspendTimeout": 6})
    c.delay_boot("vm001", 2 if phase == "boot" else 0)
    was = ready_count(c)
    job = Held(c, "-N1")
    if phase in ("run", "release"):
        job.wait_running()
    if phase == "release":
        job.end_well()
        c.must("scontrol", "update", "nodename=vm001", "state=power_down")
        wait_for("it is shut down", 20, lambda: c.calls("ShutdownGuest"))
    elif phase == "boot":
        wait_for("it boots", 30, lambda: c.is_on("vm001"))
    elif phase != "run":
        wait_for(f"{phase} is under way", 30, lambda: c.running_tasks(phase))
    c.change_vsphere("Placement=balance", "Placement=pack")
    wait_ready_again(c, was)
    if phase != "release":
        job.wait_running().end_well()
        c.must("scontrol", "update", "nodename=vm001", "state=power_down")
    wait_for("it is off", 40, lambda: not c.is_on("vm001") and
             c.is_powered_down("vm001"))
    assert c.calls("CloneVM_Task") == c.calls("PowerOnVM_Task") == 1
    assert c.calls("PowerOffVM_Task", "ShutdownGuest") <= 2
    wait_for("there is one session", 20,
             lambda: c.counters()["sessions"] <= 1 + c.reexec)
    assert c.vfs_used() == 0
    nobody_down(c)


def test_stock_cons_tres_takes_the_jobs_over_and_gives_them_back(cluster, work):
    """Slurm's saved state holds no bytes of slurm-vsphere."""
    job = work[0]
    conf = cluster.path("etc", "slurm.conf")
    ours = conf.read_text()
    cluster.end_slurmctld()
    conf.write_text(ours.replace("select/cons_tres_vsphere", "select/cons_tres")
                    .replace("PrEpPlugins=prep/script,prep/vsphere",
                             "PrEpPlugins=prep/script"))
    try:
        cluster.start_slurmctld()
        assert cluster.job_state(job) == "RUNNING"
        cluster.must("sinfo")
    finally:
        cluster.end_slurmctld()
        conf.write_text(ours)
        cluster.start_slurmctld()
    goes_on(cluster, work)


def test_warm_vms_that_slurm_forgot_are_adopted(cluster, work):
    """Its node states are lost: all are powered down, the VMs are on."""
    job, calls, _ = work
    cluster.must("scancel", str(job))
    wait_for("it has ended", 20, lambda: cluster.job_state(job) == "CANCELLED"
             and "COMPLETING" not in cluster.node("vm001")["State"])
    on = cluster.names_on()
    cluster.end_slurmctld()
    for f in cluster.path("state").glob("node_state*"):
        f.unlink()
    cluster.start_slurmctld()
    for n in on:
        cluster.wait_node(n, lambda s: set(s.split("+")) == {"IDLE", "CLOUD"},
                          20, "IDLE+CLOUD")
    assert cluster.mutating() == calls and cluster.names_on() == on
    assert "unexpectedly rebooted" not in cluster.ctld_log()


@pytest.mark.parametrize("how", ["end", "kill"])
def test_a_used_vm_is_not_used_again_after_a_restart_either(cluster, how):
    """Retention=destroy, and the job ends while slurmctld is down."""
    used = Held(cluster, "-p", "fresh", "-N1", "-w", "vm005").wait_running()
    uuid = cluster.our_vm("vm005")["uuid"]
    if how == "kill":
        wait_saved(cluster, used.id, "vm005")
        cluster.kill_slurmctld()
    else:
        cluster.end_slurmctld()
    used.let_go()
    wait_for("its script has ended", 20, lambda: not [
        p for p in cluster.path("spool", "vm005").glob("job*/slurm_script")])
    cluster.start_slurmctld()
    job = Held(cluster, "-p", "fresh", "-N1", "-w", "vm005").wait_running()
    assert cluster.our_vm("vm005")["uuid"] != uuid
    job.end_well()


def test_a_requeued_job_gets_a_fresh_vm_for_its_second_run(cluster):
    """The VM is marked with the job and its restart."""
    held = Held(cluster, "-p", "fresh", "-N1", "-w", "vm006", "--requeue",
                before="echo began $SLURM_RESTART_COUNT").wait_running()
    job, uuid = held.id, cluster.our_vm("vm006")["uuid"]
    cluster.must("scontrol", "requeue", str(job))
    wait_for("it is back in the queue", 20,
             lambda: cluster.job(job)["Reason"] == "BeginTime")
    cluster.must("scontrol", "update", f"jobid={job}", "starttime=now")
    cluster.wait_state(job, "RUNNING", 60)
    wait_for("it runs again", 20, lambda: "began 1" in cluster.output(job))
    assert cluster.our_vm("vm006")["uuid"] != uuid
    held.let_go()
    cluster.wait_job(job)


def test_a_vm_whose_host_is_full_moves_before_it_is_powered_on(fresh):
    """Its disk goes with it: no clone, the same VM."""
    c = fresh(nodes=2, inventory=world(hosts=2, vfs=1), vsphere={
        "ShutdownGrace": 1}, slurm={"SuspendTimeout": 2})
    c.wait_job(c.sbatch("-N1", "-w", "vm001", script="true"))
    vm = c.our_vm("vm001")
    c.must("scontrol", "update", "nodename=vm001", "state=power_down")
    wait_for("it is off", 20, lambda: not c.is_on("vm001") and
             c.is_powered_down("vm001"))
    c.do("addVm", spec=foreign("theirs", vm["host"]))
    wait_for("its host is full", 10, lambda: [
        pf["free"] for h in c.svf("hosts")["hosts"] if h["host"] == vm["host"]
        for pf in h["pfs"]] == [0])
    clones = c.calls("CloneVM_Task")
    out = c.wait_job(c.sbatch("-N1", "-w", "vm001", script="hostname"), 40)
    assert out.strip() == "vm001"
    now = c.our_vm("vm001")
    assert now["uuid"] == vm["uuid"] and now["host"] != vm["host"]
    assert c.calls("RelocateVM_Task") == 1 and c.calls("CloneVM_Task") == clones


def test_a_queue_longer_than_resumetimeout_takes_no_node_down(fresh):
    """One VM at a time, 3 s each, and Slurm would wait for 6."""
    c = fresh(nodes=4, inventory=world(
        hosts=2, vfs=2, durations={"CloneVM_Task": "3s"}),
        vsphere={"MaxProvisionOps": 1}, slurm={"ResumeTimeout": 6})
    job = c.sbatch("-N4", script="srun hostname")
    assert len(set(c.wait_job(job, 60).split())) == 4
    assert c.job(job)["Restarts"] == "0"
    assert "ResumeTimeout" not in c.ctld_log()


def test_a_prolog_has_an_end_of_its_own(fresh):
    """A node that never comes: the job is requeued, none hangs for ever."""
    c = fresh(nodes=1, start=False, inventory=world(hosts=1, vfs=1),
              vsphere={"ProvisionTimeout": 60, "BootTimeout": 10,
                       "ShutdownGrace": 1})
    c.delay_boot("vm001", 100)
    c.start()
    job = c.sbatch("-N1", script="true")
    wait_for("the node is given back with the cause", 40, lambda: (
        "register" in c.node("vm001").get("Reason", "") and
        c.job(job)["Restarts"] == "1"))
    assert c.job_state(job) == "PENDING"


def test_the_time_limit_does_not_run_while_nodes_boot(fresh):
    c = fresh(nodes=1, start=False, inventory=world(hosts=1, vfs=1))
    c.delay_boot("vm001", 4)
    c.start()
    job = c.sbatch("-N1", "-t", "1", script="sleep 1")
    c.wait_state(job, "CONFIGURING", 10)
    early = c.job(job)["StartTime"]
    c.wait_job(job)
    show = c.job(job)
    assert show["StartTime"] > early
    assert show["RunTime"] <= "00:00:03"


def test_sched_builtin_works_with_the_plugin(fresh):
    """It calls with fewer locks than backfill does."""
    c = fresh(nodes=2, inventory=world(hosts=1, vfs=2, vms=[
        foreign("theirs", E1)]), slurm={"SchedulerType": "sched/builtin"})
    big = c.sbatch("-N2", script="srun hostname")
    wait_for("it waits for VFs", 20, lambda: "VF" in c.squeue(big, "%r"))
    c.do("powerOff", vm="theirs")
    assert len(c.wait_job(big, 90).split()) == 2


def test_a_node_to_be_powered_down_after_its_job_is_built_anew_for_it(fresh):
    """Slurm waits for the job's end, the job for its VM."""
    c = fresh(nodes=2, inventory=world(hosts=2, vfs=1), slurm={"SuspendTimeout": 2})
    c.wait_job(c.sbatch("-N1", "-w", "vm001", script="true"), 40)
    c.do("setDuration", name="CloneVM_Task", duration="4s")
    job = Held(c, "-N2")
    wait_for("vm002 is cloned", 20, lambda: c.running_tasks("CloneVM_Task"))
    c.must("scontrol", "update", "nodename=vm001", "state=power_down")
    c.do("powerOff", vm="vm001")
    job.wait_running().end_well()
    wait_for("it is powered down after the job", 40,
             lambda: c.is_powered_down("vm001") and not c.is_on("vm001"))
    nobody_down(c)


def test_a_start_after_resumetimeout_takes_no_booting_node_down(fresh):
    """Power saving's first tick comes before vCenter is there."""
    c = fresh(nodes=1, inventory=world(hosts=1, vfs=1, durations={
        "CloneVM_Task": "3s"}), slurm={"ResumeTimeout": 8})
    job = Held(c, "-N1")
    c.wait_node("vm001", lambda s: "POWERING_UP" in s, 20, "POWERING_UP")
    asked = time.time()
    wait_saved(c, job.id, "vm001")
    c.kill_slurmctld()
    wait_for("ResumeTimeout is over", 20, lambda: time.time() > asked + 10)
    c.do("outage", duration="4s", how="refuse")
    c.start_slurmctld()
    job.wait_running().end_well()
    assert "not resumed by ResumeTimeout" not in c.ctld_log()
    nobody_down(c)


def test_a_guest_that_booted_longer_ago_than_resumetimeout_is_taken(fresh):
    """slurmctld dies before it has saved that the node registered, and is away
    for longer than ResumeTimeout: its guest is up, and the job runs. (What it
    knows of the job is newer: else it would begin it once more by itself.)"""
    c = fresh(nodes=1, inventory=world(hosts=1, vfs=1),
              slurm={"ResumeTimeout": 8}, vsphere={"BootTimeout": 20})
    c.delay_boot("vm001", 4)
    job = Held(c, "-N1")
    wait_for("its VM is on", 20, lambda: c.is_on("vm001"))
    on = time.time()
    wait_saved(c, job.id, "vm001")
    saved = c.path("state", "node_state").read_bytes()
    assert "POWERING_UP" in c.node_states()["vm001"]
    job.wait_running()
    wait_saved(c, job.id, "vm001")
    c.kill_slurmctld()
    c.path("state", "node_state").write_bytes(saved)
    wait_for("ResumeTimeout is over", 20, lambda: time.time() > on + 10)
    calls = c.mutating()
    c.start_slurmctld()
    c.wait_node("vm001", lambda s: "POWERING_UP" not in s, 20, "up")
    # ResumeTimeout and BootTimeout are over, and neither was reached
    wait_for("BootTimeout is over", 40, lambda: time.time() > on + 35)
    assert c.job_state(job.id) == "RUNNING"
    assert c.job(job.id)["Restarts"] == "0"
    assert c.mutating() == calls
    job.end_well()
    assert "boots again" not in c.ctld_log()
    nobody_down(c)


# As slurm.h has them, in all releases from 22.05 to 26.05.
IDLE, ALLOCATED = 2, 3
CLOUD, NO_RESPOND, POWERED_DOWN = 1 << 7, 1 << 11, 1 << 12


def saved_state(c, node, was, now):
    """Write another state of a node into slurmctld's file."""
    f = c.path("state", "node_state")
    data = f.read_bytes()
    at = data.index(node.encode() + b"\0")
    at = data.index(was.to_bytes(4, "big"), at)
    assert at - data.index(node.encode() + b"\0") < 200
    f.write_bytes(data[:at] + now.to_bytes(4, "big") + data[at + 4:])


@pytest.mark.parametrize("state", [
    ALLOCATED, ALLOCATED | NO_RESPOND, IDLE | NO_RESPOND],
    ids=["allocated", "allocated-silent", "idle-silent"])
def test_a_powered_down_node_is_idle_when_no_job_has_it(fresh, state):
    """slurmctld is killed, and its files of nodes and jobs are of different
    ages: a node counts as allocated to a job that is over. It is powered down,
    so that it never registers, which would end that."""
    c = fresh(nodes=2, inventory=world(hosts=1, vfs=2),
              slurm={"SuspendTimeout": 2})
    c.wait_job(c.sbatch("-N1", "-w", "vm001", script="true"), 40)
    c.must("scontrol", "update", "nodename=vm001", "state=power_down")
    wait_for("it is off", 30, lambda: c.is_powered_down("vm001"))
    c.end_slurmctld()
    saved_state(c, "vm001", IDLE | CLOUD | POWERED_DOWN,
                state | CLOUD | POWERED_DOWN)
    c.start_slurmctld()
    c.wait_ready()
    assert set(c.node_states()["vm001"].split("+")) == {
        "IDLE", "CLOUD", "POWERED_DOWN"}
    out = c.wait_job(c.sbatch("-N2", script="srun -l hostname"), 60)
    assert len(out.split()) == 4
    nobody_down(c)


@pytest.mark.parametrize("state", [ALLOCATED, ALLOCATED | NO_RESPOND],
                         ids=["allocated", "allocated-silent"])
def test_a_node_without_a_job_and_with_its_vm_off_is_given_up_once(fresh, state):
    """slurmctld is killed and counts a node as up and allocated to a job that is
    over. Its VM was switched off meanwhile, so that its guest never registers,
    and power saving passes allocated nodes over until SlurmdTimeout."""
    c = fresh(nodes=1, inventory=world(hosts=1, vfs=1),
              slurm={"SuspendTimeout": 2, "SlurmdTimeout": 120})
    c.wait_job(c.sbatch("-N1", script="true"), 40)
    c.end_slurmctld()
    saved_state(c, "vm001", IDLE | CLOUD, state | CLOUD)
    c.do("powerOff", vm="vm001")
    c.start_slurmctld()
    wait_for("it is powered down, before SlurmdTimeout", 40,
             lambda: c.is_powered_down("vm001"))
    assert c.ctld_log().count("powering down node vm001") == 1
    assert set(c.node_states()["vm001"].split("+")) == {
        "IDLE", "CLOUD", "POWERED_DOWN"}
    c.wait_job(c.sbatch("-N1", script="hostname"), 60)
    nobody_down(c)
