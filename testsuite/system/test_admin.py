# SPDX-License-Identifier: GPL-2.0-or-later
"""What an administrator does: powers nodes up and down in every state they may
be in, and gets slurm.conf right or is told."""

import re

import pytest

from cluster import Cluster, wait_for
from test_bad_input import refuses
from stages import Held
from worlds import world

COLD, BOOT, BOOTJOB, IDLE, BUSY, DYING = (f"vm00{i}" for i in range(1, 7))
ALL = "vm[001-006]"


def make_cluster():
    c = Cluster(nodes=6, inventory=world(hosts=2, vfs=3))
    c.vsphere = {"ShutdownGrace": 1}
    c.slurm = {"SuspendTimeout": 2}
    return c


def flags(cluster, name):
    return set(cluster.node(name)["State"].split("+"))


def is_off(cluster, name):
    return not cluster.is_on(name) and \
        flags(cluster, name) == {"IDLE", "CLOUD", "POWERED_DOWN"}


def is_up(cluster, name):
    return cluster.is_on(name) and flags(cluster, name) == {"IDLE", "CLOUD"}


def boots(cluster):
    return [cluster.path("guests", f"{n}.hold") for n in (BOOT, BOOTJOB)]


def go_on(cluster, busy):
    """What boots has booted, what runs has run."""
    for f in boots(cluster):
        f.unlink()
    busy.let_go()


def each_in_its_state(cluster):
    """A node in every state, until go_on(); the jobs on BOOTJOB and BUSY."""
    cluster.must("scontrol", "update", f"nodename={ALL}", "state=power_down")
    wait_for("all are off", 40, lambda: all(
        is_off(cluster, n) for n in cluster.node_names()))
    cluster.wait_job(cluster.sbatch(
        "-N3", "-w", ",".join((IDLE, BUSY, DYING)), script="true"))
    busy = Held(cluster, "-N1", "-w", BUSY)
    for f in boots(cluster):
        f.touch()
    cluster.must("scontrol", "update", f"nodename={BOOT}", "state=power_up")
    boot = cluster.sbatch("-N1", "-w", BOOTJOB, script="hostname")
    wait_for("both boot", 30, lambda: all(
        cluster.is_on(n) and "POWERING_UP" in flags(cluster, n)
        for n in (BOOT, BOOTJOB)))
    busy.wait_running()
    cluster.must("scontrol", "update", f"nodename={DYING}", "state=power_down")
    wait_for("one goes down", 10,
             lambda: "POWERING_DOWN" in flags(cluster, DYING))
    assert flags(cluster, COLD) == {"IDLE", "CLOUD", "POWERED_DOWN"}
    assert flags(cluster, IDLE) == {"IDLE", "CLOUD"}
    return boot, busy


def all_serve(cluster):
    out = cluster.wait_job(cluster.sbatch("-N6", script="srun hostname"), 60)
    assert set(out.split()) == set(cluster.node_names())
    assert not re.search(r"\bbug: |is up in Slurm but its VM",
                         cluster.ctld_log())


def test_power_up_in_every_state_ends_with_the_vm_up(cluster):
    boot, busy = each_in_its_state(cluster)
    uuid = cluster.our_vm(IDLE)["boots"], cluster.our_vm(BUSY)["boots"]
    for n in (COLD, BOOT, BOOTJOB, IDLE, BUSY):
        cluster.must("scontrol", "update", f"nodename={n}", "state=power_up")
    cluster.run("scontrol", "update", f"nodename={DYING}", "state=power_up")
    go_on(cluster, busy)
    assert cluster.wait_job(boot, 40).strip() == BOOTJOB
    cluster.wait_job(busy.id, 20)
    for n in (COLD, BOOT, BOOTJOB, IDLE, BUSY):
        wait_for(f"{n} is up", 40, lambda n=n: is_up(cluster, n))
    wait_for(f"{DYING} is at rest", 40,
             lambda: is_up(cluster, DYING) or is_off(cluster, DYING))
    assert cluster.job(boot)["Restarts"] == cluster.job(busy.id)["Restarts"] == "0"
    assert uuid == (cluster.our_vm(IDLE)["boots"], cluster.our_vm(BUSY)["boots"])
    all_serve(cluster)


def test_power_down_in_every_state_waits_for_jobs_then_gives_the_vf(cluster):
    boot, busy = each_in_its_state(cluster)
    cluster.must("scontrol", "update", f"nodename={ALL}", "state=power_down")
    go_on(cluster, busy)
    assert cluster.wait_job(boot, 40).strip() == BOOTJOB
    cluster.wait_job(busy.id, 20)
    for n in cluster.node_names():
        wait_for(f"{n} is off", 40, lambda n=n: is_off(cluster, n))
    assert cluster.job(boot)["Restarts"] == cluster.job(busy.id)["Restarts"] == "0"
    assert cluster.vfs_used() == 0
    all_serve(cluster)


def test_power_down_force_in_every_state_requeues_jobs_and_gives_the_vf(cluster):
    boot, busy = each_in_its_state(cluster)
    cluster.must("scontrol", "hold", str(boot))
    cluster.must("scontrol", "update", f"nodename={ALL}",
                 "state=power_down_force")
    go_on(cluster, busy)
    for n in cluster.node_names():
        wait_for(f"{n} is off", 40, lambda n=n: is_off(cluster, n))
    assert cluster.vfs_used() == 0
    assert all(pf["reserved"] == 0 for h in cluster.svf("hosts")["hosts"]
               for pf in h["pfs"])
    for job in (boot, busy.id):
        show = cluster.job(job)
        assert show["JobState"] == "PENDING" and show["Restarts"] == "1"
    cluster.must("scontrol", "release", str(boot))
    cluster.must("scontrol", "update", f"jobid={busy.id}", "starttime=now")
    assert cluster.wait_job(boot, 40).strip() == BOOTJOB
    cluster.wait_job(busy.id, 40)
    all_serve(cluster)


def test_a_drained_node_keeps_its_vm_reason_and_state(cluster):
    """And a drained one that is powered down stays drained, too."""
    cluster.wait_job(cluster.sbatch("-N2", "-w", "vm[001-002]", script="true"))
    cluster.must("scontrol", "update", "nodename=vm001", "state=drain",
                 "reason=disk")
    out = cluster.wait_job(cluster.sbatch("-N5", script="srun hostname"), 40)
    assert "vm001" not in out and cluster.is_on("vm001")
    node = cluster.node("vm001")
    assert "DRAIN" in node["State"] and node["Reason"].startswith("disk")
    job = cluster.sbatch("-N6")
    wait_for("Slurm's own reason stands", 15, lambda: "Slurm's own" in
             cluster.svf("why", str(job))["text"])
    cluster.must("scontrol", "update", "nodename=vm001", "state=resume")
    cluster.wait_job(job, 20)


def complaints(cluster):
    return {w for w in ("ResumeRate", "ReturnToService", "PrologFlags",
                        "nohold_on_prolog_fail", "PrivateData")
            if re.search(rf"error: slurm-vsphere: slurm\.conf: .*\b{w}",
                         cluster.ctld_log())}


def test_a_right_slurm_conf_is_not_complained_of(cluster):
    assert complaints(cluster) == set()


def test_what_hurts_in_slurm_conf_is_said_in_a_line_each(fresh):
    c = fresh(nodes=2, slurm={
        "ResumeRate": 60, "ReturnToService": 1, "PrologFlags": None,
        "PrivateData": None, "SchedulerParameters": None})
    hides = {"PrivateData"} if c.release < (23, 2) else set()
    assert complaints(c) == hides | {"ResumeRate", "ReturnToService",
                                     "PrologFlags", "nohold_on_prolog_fail"}
    c.wait_job(c.sbatch("-N2"))     # said, not refused


# name: (slurm.conf, what the one line says after "slurm.conf: ")
REFUSED = {
    "SuspendTime -1": ({"SuspendTime": -1}, "SuspendTime"),
    "no prep plugin": ({"PrEpPlugins": "prep/script"},
                       "prep/vsphere is not in PrEpPlugins"),
    "topology/tree": ({"TopologyPlugin": "topology/tree"}, "TopologyPlugin"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_the_plugin_refuses_a_slurm_conf_with(fresh, what):
    slurm, pattern = REFUSED[what]
    c = fresh(start=False, nodes=2, slurm=slurm)
    c.make_dirs()
    c.path("etc", "topology.conf").write_text(
        "SwitchName=s0 Nodes=vm[001-002]\n")
    refuses(c, r"slurm\.conf: " + pattern)


def test_more_names_than_vfs_are_served_only_if_allowed(fresh):
    """More nodes than VFs, with the two numbers and what to do."""
    c = fresh(nodes=5, inventory=world(hosts=2, vfs=2))
    line = wait_for("the error", 15, lambda: re.search(
        r"error: slurm-vsphere: jobs stay pending: 5 nodes .* 4 VFs.*"
        r"AllowMoreNodesThanVFs=yes", c.ctld_log()))
    job = c.sbatch("-N1")
    wait_for("the job says so", 15,
             lambda: "AllowMoreNodesThanVFs" in c.squeue(job, "%r"))
    assert line and c.mutating() == 0
    c.change_vsphere("Placement=balance",
                     "Placement=balance\nAllowMoreNodesThanVFs=yes")
    c.wait_job(job, 40)
