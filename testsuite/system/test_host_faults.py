# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts that fail every start, don't answer, lose VFs or are drained, and VMs
that a user switches off, moves, renames or that die by themselves, each
under a job. One cluster for all: three hosts of two VFs, six nodes."""

import os

import pytest

from cluster import Cluster, wait_for
from stages import Held
from test_check import findings
from worlds import PF0, world

E1, E2, E3 = (f"esx{i:02d}.example.org" for i in (1, 2, 3))


def make_cluster():
    c = Cluster(nodes=6, inventory=world(hosts=3, vfs=2))
    c.vsphere = {"ShutdownGrace": 1}
    # a job that runs again on the node it ran on finds its credential revoked
    c.slurm = {"SuspendTimeout": 3, "TCPTimeout": 1,
               "SchedulerParameters": c.scheduler_parameters +
               ",sched_interval=2",
               "AuthInfo": f"socket={c.path('run', 'munge.socket')},"
                           "cred_expire=5"}
    return c


def hosts(cluster):
    return {h["host"]: h for h in cluster.svf("hosts")["hosts"]}


def said_of(cluster, host):
    """Why VMs are kept away from it, and what is wrong with it."""
    return " ".join(hosts(cluster).get(host, {}).get("reasons", []))


def all_off(cluster):
    """Every node powered down and usable, no VM on, no drain, no fault."""
    cluster.clear_faults()
    cluster.run("scontrol", "update", "nodename=vm[001-006]", "state=resume")
    cluster.must("scontrol", "update", "nodename=vm[001-006]",
                 "state=power_down")
    wait_for("all are off", 40, lambda: not cluster.names_on() and all(
        cluster.is_powered_down(n) for n in cluster.node_names()))
    for h in (E1, E2, E3):
        cluster.must("svf", "host", "resume", h)


@pytest.fixture(autouse=True)
def clean(cluster):
    all_off(cluster)


def not_down(cluster):
    return not [n for n, s in cluster.node_states().items()
                if s.startswith("DOWN")]


def restarts(cluster, job):
    return int(cluster.job(job).get("Restarts", "0"))


def test_one_bad_host_does_not_eat_the_queue(cluster):
    """cluster-toolkit#4419: one bad record, or host, stops everything. Every
    power-on on the first host fails; all jobs run, on the others, and the host
    is quarantined: for people too."""
    before = cluster.counters()["calls"].get("PowerOnVM_Task", 0)
    jobs = []
    for h in (E2, E3):
        cluster.must("svf", "host", "drain", h, "only for this test")
    cluster.fault(on="task", method="PowerOnVM_Task",
                  fault={"_typeName": "GenericVmConfigFault"},
                  message="the NIC is broken")
    jobs = [cluster.sbatch("-N1", script="hostname") for _ in range(6)]
    wait_for("the first host is out", 60, lambda: hosts(cluster)[E1][
        "state"] in ("QUARANTINED", "EXCLUDED"))
    cluster.clear_faults()
    for h in (E2, E3):
        cluster.must("svf", "host", "resume", h)
    for j in jobs:
        cluster.wait_job(j, 90)
    row = hosts(cluster)[E1]
    assert "the NIC is broken" in " ".join(row["reasons"])
    assert row["excluded_until"]
    assert not_down(cluster)
    # two VFs there: as many starts, and none after them
    tried = cluster.counters()["calls"]["PowerOnVM_Task"] - before
    assert tried <= 6 + 4
    text = cluster.run("svf", "hosts", E1).stdout
    assert "until" in text and "the NIC is broken" in text


def test_a_full_datastore_makes_jobs_wait_and_no_node_down(cluster):
    """cluster-toolkit#4940: shortage marks nodes DOWN, requeue loops."""
    cluster.fault(on="task", method="PowerOnVM_Task",
                  fault={"_typeName": "NoDiskSpace", "file": "x.vswp",
                         "datastore": "vsan"},
                  message="Insufficient disk space on datastore 'vsan'.")
    job = cluster.sbatch("-N1", script="hostname")
    wait_for("it waits with the cause", 60, lambda: (
        cluster.job_state(job) == "PENDING" and "Insufficient disk space" in
        cluster.svf("why", str(job))["text"]))
    assert not_down(cluster)
    assert restarts(cluster, job) <= 1
    cluster.clear_faults()
    cluster.must("svf", "host", "resume", E1)   # believed for minutes else
    cluster.wait_job(job, 60)


@pytest.mark.parametrize("deed", ["powerOff", "moveVm", "rename"])
def test_a_job_whose_vm_is_taken_by_an_administrator(cluster, deed):
    """Switched off: the job runs again. Moved or renamed: it finishes."""
    held = Held(cluster, "-N2", "-w", "vm[001-002]", "--requeue",
                before="srun hostname; echo began").wait_running()
    job = held.id
    assert "vm002" in cluster.output(job)
    more = {"moveVm": {"folder": ""},
            "rename": {"name": "old-vm002"}}.get(deed, {})
    cluster.do(deed, vm="vm002", wait=True, **more)
    try:
        if deed == "powerOff":
            wait_for("the job is requeued", 60,
                     lambda: restarts(cluster, job) == 1)
        held.let_go()
        assert "the end" in cluster.wait_job(job, 120)
    finally:
        for vm in cluster.state()["vms"]:
            if vm["name"] == "old-vm002" or (
                    vm["name"] == "vm002" and
                    not vm["folder"].endswith("/slurm")):
                cluster.do("destroyVm", vm=vm["name"], force=True)


def test_a_copy_of_a_vm_with_a_job_disturbs_nobody(cluster):
    """slurm-gcp#54: the cleaner takes what isn't its own."""
    job = Held(cluster, "-N1", "-w", "vm001").wait_running()
    cluster.do("cloneVm", vm="vm001", name="copy-of-vm001", folder="slurm")
    wait_for("svf shows it", 20, lambda: "copy-of-vm001" in [
        v["vm"] for v in cluster.svf("nodes").get("unverified", [])])
    job.end_well()
    cluster.do("destroyVm", vm="copy-of-vm001", force=True)


def test_a_silent_host_keeps_its_job_and_its_node_is_not_built_twice(cluster):
    """slurm-operator#79: what can't be seen is taken for gone. All have VMs
    before: the template may be on that very host."""
    cluster.wait_job(cluster.sbatch("-N6", script="true"), 90)
    all_off(cluster)
    job = Held(cluster, "-N1", "-w", "vm001").wait_running()
    where = cluster.our_vm("vm001")["host"]
    cluster.do("hostState", host=where, state="notResponding")
    wait_for("svf knows", 20,
             lambda: hosts(cluster)[where]["state"] == "DISCONNECTED")
    clones = cluster.calls("CloneVM_Task")
    job.end_well()
    late = cluster.sbatch("-N1", "-w", "vm001", script="hostname")
    other = cluster.sbatch("-N1", "-x", "vm001", script="hostname")
    cluster.wait_job(other, 60)
    assert cluster.job_state(late) == "PENDING"
    assert len([v for v in cluster.our_vms() if v["name"] == "vm001"]) == 1
    assert cluster.calls("CloneVM_Task") <= clones + 1
    cluster.do("hostState", host=where, state="connected")
    cluster.wait_job(late, 60)


def test_fewer_vfs_than_are_in_use_are_told_and_disturb_nobody(cluster):
    """sriov-network-device-plugin#565: capacity is lost, or hidden."""
    job = Held(cluster, "-N6").wait_running()
    assert len(cluster.names_on()) == 6
    cluster.do("setVfs", host=E1, pci=PF0, vfs=1)
    try:
        wait_for("it is said", 20,
                 lambda: "over-committed" in said_of(cluster, E1))
        assert hosts(cluster)[E1]["pfs"][0]["free"] == -1
        job.end_well()
    finally:
        cluster.do("setVfs", host=E1, pci=PF0, vfs=2)


def test_a_renumbered_pf_takes_no_vm_until_somebody_has_looked(cluster):
    """Broadcom KB 309346: a NIC is added, and addresses and VFs move."""
    new = "0000:86:00.0"
    cluster.do("renumberPf", host=E1, pci=PF0, newPci=new)
    try:
        wait_for("it is said", 20,
                 lambda: f"was at {PF0} before" in said_of(cluster, E1))
        job = cluster.sbatch("-N6", script="srun hostname")
        wait_for("four can be had", 30, lambda:
                 "needs 6 sriov-roce VFs, 4 free" in
                 cluster.svf("why", str(job))["text"])
        # remembered by the one who comes after
        cluster.restart_slurmctld()
        wait_for("it is said again", 30,
                 lambda: f"was at {PF0} before" in said_of(cluster, E1))
        cluster.must("svf", "host", "resume", E1)
        cluster.wait_job(job, 90)
    finally:
        cluster.do("renumberPf", host=E1, pci=new, newPci=PF0)
        wait_for("it is as before", 30, lambda: hosts(cluster)[E1]["pfs"][0][
            "pci"] == PF0)


def test_an_operator_drains_a_host_for_as_long_as_it_takes(cluster):
    cluster.must("svf", "host", "drain", E1, "a", "fan", "is", "broken")
    cluster.restart_slurmctld()
    wait_for("it is remembered", 30,
             lambda: hosts(cluster).get(E1, {}).get("state") in
             ("DRAINING", "DRAINED"))
    assert "a fan is broken" in said_of(cluster, E1)
    cluster.wait_job(cluster.sbatch("-N4", script="srun hostname"), 60)
    assert E1 not in {v["host"] for v in cluster.our_vms() if v["on"]}
    r = cluster.run("svf", "host", "resume", "nosuch")
    assert r.returncode == 1 and "no such host: nosuch" in r.stderr
    cluster.must("svf", "host", "resume", E1)
    assert hosts(cluster)[E1]["state"] == "UP"


def test_a_host_in_standby_takes_no_vm(cluster):
    cluster.do("standby", host=E1, mode="enter")
    try:
        wait_for("it is in standby", 20,
                 lambda: hosts(cluster)[E1]["state"] == "STANDBY")
        cluster.wait_job(cluster.sbatch("-N4", script="srun hostname"), 60)
        assert E1 not in {v["host"] for v in cluster.our_vms() if v["on"]}
    finally:
        cluster.do("standby", host=E1, mode="exit")


def test_a_guest_that_dies_while_it_boots_is_tried_elsewhere_once(cluster):
    """cluster-toolkit#3337: silence until ResumeTimeout."""
    cluster.delay_boot("vm001", 60)
    job = cluster.sbatch("-N1", "-w", "vm001", script="hostname")
    try:
        seen = []
        for _ in (1, 2):
            wait_for("it is on", 60, lambda: cluster.is_on("vm001") and
                     cluster.our_vm("vm001")["host"] not in seen)
            wait_for("that has been seen", 20, lambda: [
                n["vm_state"] for n in cluster.svf("nodes")["nodes"]
                if n["node"] == "vm001"] == ["ON"])
            seen.append(cluster.our_vm("vm001")["host"])
            cluster.do("powerOff", vm="vm001")
        wait_for("the node is down with the cause", 40, lambda: "went off" in
                 cluster.node("vm001").get("Reason", ""))
        assert len(set(seen)) == 2
        assert cluster.node("vm001")["State"].startswith("DOWN")
    finally:
        os.unlink(cluster.path("guests", "vm001.delay"))
        cluster.run("scancel", str(job))


def template_at(cluster):
    return [v for v in cluster.state()["vms"]
            if v["name"] == "rhel9-ofed"][0]["host"]


def without_vm(cluster, node):
    if [v for v in cluster.our_vms() if v["name"] == node]:
        cluster.do("destroyVm", vm=node)
    wait_for("it has no VM", 20, lambda: [
        n["vm_state"] for n in cluster.svf("nodes")["nodes"]
        if n["node"] == node] == ["NONE"])


@pytest.mark.parametrize("state", ["disconnected", "notResponding"])
def test_while_the_templates_host_is_away_jobs_wait_and_no_node_pays(
        cluster, state):
    """VMs that exist serve; what must be cloned waits with the reason, svf
    check says it, and the job runs as soon as the host is back."""
    warm, new = "vm001", "vm006"
    where = template_at(cluster)
    others = [h for h in (E1, E2, E3) if h != where]
    cluster.must("svf", "host", "drain", where, "no VM is there")
    held = Held(cluster, "-N1", "-w", warm).wait_running()
    held.end_well()
    assert cluster.our_vm(warm)["host"] in others
    without_vm(cluster, new)
    clones = cluster.calls("CloneVM_Task")
    cluster.do("hostState", host=where, state=state)
    try:
        says = f"Template=rhel9-ofed: its host {where} is not connected"
        # Before vCenter has said so a clone may be tried.
        wait_for("slurmctld knows", 20,
                 lambda: hosts(cluster)[where]["state"] == "DISCONNECTED")
        job = cluster.sbatch("-N1", "-w", new, script="hostname")
        wait_for("why", 30, lambda: says in cluster.svf("why", str(job))[
            "text"])
        wait_for("squeue's reason", 30, lambda: says in
                 cluster.must("scontrol", "show", "job", str(job)))
        f = wait_for("svf check says it", 30, lambda: [
            f for f in findings(cluster) if f["code"] == "template-missing"])[0]
        assert says in f["actual"]
        assert f["fix"].startswith(f"govc host.reconnect {where}\n")
        cluster.wait_job(cluster.sbatch("-N1", "-w", warm,
                                        script="hostname"), 60)
        assert cluster.job_state(job) == "PENDING"
        assert not_down(cluster)
        assert cluster.calls("CloneVM_Task") == clones
    finally:
        cluster.do("hostState", host=where, state="connected")
    cluster.wait_job(job, 30)
    assert restarts(cluster, job) == 0
    assert cluster.calls("CloneVM_Task") == clones + 1


def test_a_clone_that_fails_with_its_templates_host_is_no_nodes_fault(cluster):
    """The host is lost while the clone runs: the job goes back to the queue
    and runs when the host is back; no node is down, no other host avoided."""
    new = "vm006"
    where = template_at(cluster)
    cluster.must("svf", "host", "drain", where, "no VM is there")
    without_vm(cluster, new)
    before = cluster.calls("CloneVM_Task")
    cluster.do("setDuration", name="CloneVM_Task", duration="2s")
    try:
        job = cluster.sbatch("-N1", "-w", new, script="hostname")
        wait_for("it is being cloned", 30,
                 lambda: cluster.calls("CloneVM_Task") == before + 1)
        cluster.do("hostState", host=where, state="notResponding")
        says = f"Template=rhel9-ofed: its host {where} is not connected"
        wait_for("it waits again, and why", 60, lambda: (
            cluster.job_state(job) == "PENDING" and
            says in cluster.svf("why", str(job))["text"]))
        assert not_down(cluster)
        assert {h["state"] for n, h in hosts(cluster).items()
                if n != where} == {"UP"}
        assert cluster.calls("CloneVM_Task") == before + 1
    finally:
        cluster.do("setDuration", name="CloneVM_Task", duration="300ms")
        cluster.do("hostState", host=where, state="connected")
    cluster.wait_job(job, 90)
    assert not_down(cluster)
