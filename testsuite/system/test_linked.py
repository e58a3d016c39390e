# SPDX-License-Identifier: GPL-2.0-or-later
"""Linked clones (Clone=linked), and the parents that are made for them."""

import time

from cluster import Cluster, wait_for
from worlds import world

NODES = 16


def make_cluster():
    c = Cluster(nodes=NODES, inventory=world(hosts=2, vfs=8, durations={
        "CloneVM_Task": "1000ms", "CloneVM_Task/linked": "200ms",
        "CreateSnapshot_Task": "600ms"}))
    c.slurm = {"SuspendTime": 600}
    c.vsphere = {"lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
        "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed "
        "Clone=linked"]}
    return c


def vms(c):
    return {v["name"]: v for v in c.state()["vms"]}


def parents(c):
    return [v for v in c.state()["vms"] if v["parent"]]


def ready(c):
    return [v for v in parents(c) if v["snapshots"] == ["slurm-vsphere"]]


def made(c):
    return c.calls("CloneVM_Task"), c.calls("CreateSnapshot_Task")


def ran(c, node, timeout=60):
    """A job on the node; its VM."""
    out = c.wait_job(c.sbatch("-N1", "-w", node, script="hostname"), timeout)
    assert out.strip() == node
    return vms(c)[node]


def gone(c, names):
    """An administrator deletes the VMs of nodes that are powered down."""
    c.must("scontrol", "update", "nodename=" + ",".join(names),
           "state=power_down")
    wait_for("they are off", 40, lambda: not set(names) & c.names_on() and
             all(c.is_powered_down(n) for n in names))
    for n in names:
        c.do("destroyVm", vm=n, wait=True)
    wait_for("svf knows", 20, lambda: all(
        n["vm_state"] == "NONE" for n in c.svf("nodes")["nodes"]
        if n["node"] in names))


def rows(c):
    return c.svf("clone-sources")["clone_sources"]


def no_parent(c):
    """Deletes every clone source, as an administrator might. Nodes' VMs stay."""
    for p in parents(c):
        c.do("destroyVm", vm=p["name"], wait=True)
    wait_for("svf shows no parent", 20, lambda: not rows(c))
    c.sim("counters/reset", {})


def test_the_first_job_makes_the_parent_and_others_find_it(cluster):
    c = cluster
    job = c.sbatch("-N2", "-w", "vm[001-002]", script="srun hostname")
    wait_for("the parent is being made", 30,
             lambda: c.running_tasks("CloneVM_Task"))
    wait_for("svf why says what the job waits for", 20, lambda:
             "waits for the clone source (linked clone): the template is being "
             "copied to parent-rhel9-ofed-" in c.svf("why", str(job))["text"])
    out = c.wait_job(job, 60)
    assert set(out.split()) == {"vm001", "vm002"}
    assert made(c) == (3, 1), c.counters()["calls"]
    p, = parents(c)
    assert p["power"] == "poweredOff" and p["cards"] == [] or not [
        x for x in p["cards"] if x["type"] == "sriov"], p
    assert p["snapshots"] == ["slurm-vsphere"], p
    assert p["owner"].split("/")[1] == p["name"], p
    for n in ("vm001", "vm002"):
        vm = vms(c)[n]
        assert vm["bases"] == [f"[vsan] {p['name']}/{p['name']}.vmdk"], vm
        assert vm["datastore"] == p["datastore"]
        assert not vm["parent"], vm
    ran(c, "vm003")
    assert made(c) == (4, 1) and len(parents(c)) == 1, c.counters()["calls"]
    row, = rows(c)
    assert (row["vm"], row["state"], row["clones"], row["removal_pending"]) == (
        p["name"], "READY", 3, False), row
    st = c.svf("status")
    assert st["clone_sources"] == 1 and st["vms_off"] == 0 and st["vms_on"] == 3, st
    plan = c.svf("plan", "-N1", "-w", "vm004")["nodes"]
    assert plan[0]["clone"] == "linked", plan
    # the clone source is no orphan that could be removed
    assert p["name"] not in str(c.svf("reconcile")), c.svf("reconcile")


def test_an_old_parent_goes_after_its_last_child(cluster):
    c = cluster
    old, = ready(c)
    stands = [f"[vsan] {old['name']}/{old['name']}.vmdk"]
    assert vms(c)["vm001"]["bases"] == stands
    c.touch_template("rhel9-ofed")
    c.run("svf", "check")       # which has all of it read
    wait_for("svf knows that it is old", 40, lambda: rows(c)[0]["removal_pending"])
    # children are left: the old one stays beside the new one
    assert ran(c, "vm001")["bases"] != stands
    assert len(ready(c)) == 2, parents(c)
    assert old["name"] in {p["name"] for p in ready(c)}
    gone(c, ["vm002", "vm003"])
    wait_for("the old parent is gone", 60,
             lambda: old["name"] not in vms(c))
    assert c.counters()["brokenChildren"] == 0
    new, = ready(c)
    assert rows(c)[0]["vm"] == new["name"] and rows(c)[0]["clones"] == 1


def reborn(c, job):
    c.kill_slurmctld()
    c.start_slurmctld()
    c.wait_ready()
    if c.job(job).get("Reason") == "JobHeldUser":
        c.must("scontrol", "release", str(job))


def test_slurmctld_may_die_in_each_phase_of_the_making(cluster):
    """By kill -9: while the template is copied, while the snapshot is made, and
    when the parent is there and nothing stands on it yet."""
    c = cluster
    no_parent(c)
    began = time.time_ns()
    job = c.sbatch("-N1", "-w", "vm006", "--hold", script="hostname")
    saved = c.path("state", "job_state")
    wait_for("slurmctld has saved the job", 20, lambda: saved.exists() and
             saved.stat().st_mtime_ns > began)
    c.must("scontrol", "release", str(job))
    for phase, look in (
            ("the clone", lambda: c.running_tasks("CloneVM_Task")),
            ("the snapshot", lambda: c.running_tasks("CreateSnapshot_Task")),
            ("the parent", lambda: ready(c))):
        wait_for(phase, 40, look)
        reborn(c, job)
        assert len(parents(c)) <= 1, (phase, parents(c))
    assert c.wait_job(job, 90).strip() == "vm006"
    assert len(parents(c)) == 1 and len(ready(c)) == 1, parents(c)
    assert made(c) == (2, 1), c.counters()["calls"]
    ours = [v for v in c.state()["vms"] if v["folder"].endswith("/slurm")]
    assert not [v["name"] for v in ours if not v["owner"]], ours


def test_what_others_delete_is_made_again(cluster):
    c = cluster
    p, = ready(c)
    c.sim("counters/reset", {})
    # its snapshot
    c.do("removeSnapshots", vm=p["name"])
    wait_for("svf shows it", 20, lambda: rows(c)[0]["state"] == "NO_SNAPSHOT")
    ran(c, "vm007")
    assert made(c) == (1, 1) and len(ready(c)) == 1, c.counters()["calls"]
    # The clone source itself is gone: its clones can't start, and are rebuilt.
    c.must("scontrol", "update", "nodename=vm007", "state=power_down")
    wait_for("it is off", 40, lambda: not c.is_on("vm007") and
             c.is_powered_down("vm007"))
    was = vms(c)["vm007"]["instanceUuid"]
    no_parent(c)
    assert vms(c)["vm007"]["baseLost"]
    vm = ran(c, "vm007")
    assert vm["instanceUuid"] != was and not vm["baseLost"], vm
    assert len(ready(c)) == 1 and c.counters()["brokenChildren"] == 0


def test_each_host_may_have_a_parent_of_its_own(cluster):
    c = cluster
    no_parent(c)
    c.change_vsphere("Placement=balance", "Placement=spread")
    c.change_vsphere("Clone=linked", "Clone=linked_per_host")
    out = c.wait_job(c.sbatch("-N2", "-w", "vm[009-010]",
                              script="srun hostname"), 60)
    assert set(out.split()) == {"vm009", "vm010"}
    assert made(c) == (4, 2), c.counters()["calls"]
    at = {p["host"]: p["name"] for p in ready(c)}
    assert len(at) == 2, parents(c)
    for n in ("vm009", "vm010"):
        vm = vms(c)[n]
        name = at[vm["host"]]
        assert vm["bases"] == [f"[vsan] {name}/{name}.vmdk"], (vm, at)
    # one for the datastore is enough again: the other one's child stays
    c.change_vsphere("Clone=linked_per_host", "Clone=linked")
    unwanted = wait_for("one is not wanted", 30, lambda: [
        r["vm"] for r in rows(c) if r["removal_pending"]])
    extra, = unwanted
    child, = [n for n in ("vm009", "vm010") if at[vms(c)[n]["host"]] == extra]
    assert extra in vms(c)
    gone(c, [child])
    wait_for("it is gone", 60, lambda: extra not in vms(c))
    assert c.counters()["brokenChildren"] == 0
