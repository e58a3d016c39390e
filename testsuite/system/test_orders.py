# SPDX-License-Identifier: GPL-2.0-or-later
"""svf vm evict and rebuild: what an operator orders of nodes' VMs."""

from cluster import Cluster, wait_for
from stages import Held, wait_saved
from worlds import world


def make_cluster():
    c = Cluster(nodes=4, inventory=world(hosts=2, vfs=2))
    c.vsphere = {"ShutdownGrace": 1}
    # idle_on_node_suspend makes Slurm itself lift drains at power-down.
    c.slurm = {"SlurmctldParameters": None, "SuspendTime": "600"}
    return c


def rows(cluster, *argv):
    r = cluster.svf("vm", *argv)["nodes"]
    return {n["node"]: n["action"] for n in r}


def drained(cluster):
    return [n for n in ("vm001", "vm002", "vm003", "vm004")
            if "DRAIN" in cluster.node(n)["State"]]


def uuid(cluster, node):
    vm = cluster.our_vm(node)
    return vm and vm["uuid"]


def used(cluster):
    return sum(pf["managed"] for h in cluster.svf("hosts")["hosts"]
               for pf in h["pfs"])


def test_idle_vms_go_off_at_once_and_their_nodes_are_usable(cluster):
    cluster.wait_job(cluster.sbatch("-N2", "-w", "vm[001-002]"), 90)
    wait_for("the nodes are idle", 30, lambda: all(
        n["node_state"] == "IDLE" and not n.get("job")
        for n in cluster.svf("nodes")["nodes"][:2]))
    assert cluster.is_on("vm001") and cluster.is_on("vm002")
    was = uuid(cluster, "vm001")
    assert rows(cluster, "evict", "vm[001-003]", "for", "a", "test") == {
        "vm001": "off", "vm002": "off", "vm003": "nothing"}
    wait_for("the VMs are off and their VFs free", 60,
             lambda: not cluster.is_on("vm001") and
             not cluster.is_on("vm002") and used(cluster) == 0)
    wait_for("nothing is drained", 30, lambda: not drained(cluster))
    assert uuid(cluster, "vm001") == was        # off, and kept
    cluster.wait_job(cluster.sbatch("-N2", "-w", "vm[001-002]"), 90)


def test_a_running_job_ends_well_before_its_vm_goes(cluster):
    job = Held(cluster, "-N1", "-w", "vm001").wait_running()
    text = cluster.svf("vm", "evict", "vm001", "it", "hums", json_out=False)
    assert "after-job" in text and f"JobId={job.id} runs on it" in text
    wait_for("the node is drained", 30,
             lambda: drained(cluster) == ["vm001"])
    assert "it hums" in cluster.node("vm001")["Reason"]
    assert cluster.is_on("vm001")
    job.end_well()
    wait_for("its VM is off", 60, lambda: not cluster.is_on("vm001"))
    wait_for("nothing is drained", 30, lambda: not drained(cluster))


def test_a_rebuilt_vm_is_another_one_also_after_a_kill(cluster):
    """slurmctld is killed while the order waits for the job's end."""
    job = Held(cluster, "-N1", "-w", "vm002").wait_running()
    was = uuid(cluster, "vm002")
    assert rows(cluster, "rebuild", "vm002") == {"vm002": "after-job"}
    wait_for("the node is drained", 30,
             lambda: drained(cluster) == ["vm002"])
    wait_for("the order is kept", 30, lambda: '"rebuild"' in cluster.path(
        "state", "slurm_vsphere.hints").read_text())
    wait_saved(cluster, job.id, "vm002")
    cluster.kill_slurmctld()
    cluster.start_slurmctld()
    cluster.wait_ready()
    job.end_well()
    wait_for("the old VM is gone", 90, lambda: uuid(cluster, "vm002") is None)
    wait_for("nothing is drained", 30, lambda: not drained(cluster))
    cluster.wait_job(cluster.sbatch("-N1", "-w", "vm002"), 90)
    assert uuid(cluster, "vm002") not in (None, was)


def test_resume_withdraws_an_order(cluster):
    job = Held(cluster, "-N1", "-w", "vm003").wait_running()
    assert rows(cluster, "evict", "vm003") == {"vm003": "after-job"}
    wait_for("the node is drained", 30,
             lambda: drained(cluster) == ["vm003"])
    seen = cluster.path("state", "slurm_vsphere.hints")
    wait_for("the drain is seen", 30,
             lambda: '"drained":true' in seen.read_text().replace(" ", ""))
    cluster.must("scontrol", "update", "nodename=vm003", "state=resume")
    wait_for("the order is gone", 30, lambda: '"node"' not in
             seen.read_text().split('"orders"')[1])
    job.end_well()
    assert cluster.is_on("vm003") and not drained(cluster)


def test_jobs_are_requeued_if_that_is_said(cluster):
    job = cluster.sbatch("--requeue", "-N1", "-w", "vm004", script="sleep 300")
    cluster.wait_state(job, "RUNNING")
    assert rows(cluster, "evict", "--requeue", "vm004") == {"vm004": "off"}
    wait_for("the job is back in the queue", 30,
             lambda: cluster.job(job)["JobState"] == "PENDING" or
             cluster.job(job).get("Restarts") == "1")
    wait_for("its VM is off", 60, lambda: not cluster.is_on("vm004"))
    cluster.must("scancel", str(job))


def test_an_unknown_node_and_other_users_are_refused(cluster):
    r = cluster.run("svf", "vm", "evict", "vm001,vm999")
    assert r.returncode == 1 and "vm999" in r.stderr
    for bad in (["evict"], ["rebuild"], ["rebuild", "--requeue", "vm001"],
                ["forget", "vm001", "vm002"], ["evicts", "vm001"]):
        assert cluster.run("svf", "vm", *bad).returncode == 2


def hosts_of(cluster, *nodes):
    return {n: cluster.our_vm(n)["host"] for n in nodes}


def gone(cluster, *nodes):
    """Waits until the nodes' VMs are gone, and confirms their removal when the
    removal limit stops it, as it does for so many at once."""
    def all_gone():
        if cluster.svf("reconcile")["removal_limit_reached"]:
            cluster.must("svf", "reconcile", "--confirm")
        return not any(uuid(cluster, n) for n in nodes)
    wait_for("they are gone", 60, all_gone)


def test_a_rebuilt_vm_comes_up_on_the_host_that_was_asked_for(cluster):
    """Against placement's own choice, which would take one on each host; and
    only once: the next rebuild is placed as ever."""
    names = [h["host"] for h in cluster.svf("hosts")["hosts"]]
    two = ("-N2", "-w", "vm[001-002]")
    cluster.must("svf", "vm", "evict", "vm[001-004]")
    wait_for("no VM is on", 60, lambda: used(cluster) == 0)
    for order in (["--on", names[1]], ["--on", names[0]], []):
        rows(cluster, "rebuild", "vm[001-002]", *order)
        gone(cluster, "vm001", "vm002")
        cluster.wait_job(cluster.sbatch(*two), 90)
        assert set(hosts_of(cluster, "vm001", "vm002").values()) == set(
            order[1:] or names)


def test_an_evicted_vm_moves_to_the_host_that_was_asked_for(cluster):
    """The same VM: it is off, and relocated."""
    names = [h["host"] for h in cluster.svf("hosts")["hosts"]]
    cluster.wait_job(cluster.sbatch("-N1", "-w", "vm001"), 90)
    was, on = uuid(cluster, "vm001"), hosts_of(cluster, "vm001")["vm001"]
    other = next(n for n in names if n != on)
    cluster.must("svf", "vm", "move", "vm001", "--on", other)
    wait_for("it is off", 60, lambda: not cluster.is_on("vm001"))
    cluster.wait_job(cluster.sbatch("-N1", "-w", "vm001"), 90)
    assert hosts_of(cluster, "vm001") == {"vm001": other}
    assert uuid(cluster, "vm001") == was


def test_a_vm_that_cannot_be_moved_is_made_anew_where_it_was_asked_for(cluster):
    """vCenter refuses the move for the VM's own sake: it isn't asked again, the
    job comes up where the order says, and no node goes down."""
    names = [h["host"] for h in cluster.svf("hosts")["hosts"]]
    cluster.wait_job(cluster.sbatch("-N1", "-w", "vm001"), 90)
    was, on = uuid(cluster, "vm001"), hosts_of(cluster, "vm001")["vm001"]
    other = next(n for n in names if n != on)
    cluster.must("svf", "vm", "move", "vm001", "--on", other)
    wait_for("it is off", 60, lambda: not cluster.is_on("vm001"))
    cluster.fault(on="task", method="RelocateVM_Task", object="vm001",
                  message="declared", fault={
                      "_typeName": "CannotAccessVmDevice",
                      "device": "pciPassthru", "backing": "0000:3b:00.0",
                      "connected": True})
    before = cluster.calls("RelocateVM_Task")
    try:
        cluster.wait_job(cluster.sbatch("-N1", "-w", "vm001"), 90)
        assert cluster.calls("RelocateVM_Task") == before + 1
    finally:
        cluster.clear_faults()
    assert hosts_of(cluster, "vm001") == {"vm001": other}
    assert uuid(cluster, "vm001") != was, "it was moved after all"


def test_a_host_without_room_is_no_reason_to_wait(cluster):
    names = [h["host"] for h in cluster.svf("hosts")["hosts"]]
    three = "vm[001-003]"
    cluster.must("svf", "vm", "rebuild", three, "--on", names[1])
    gone(cluster, "vm001", "vm002", "vm003")
    cluster.wait_job(cluster.sbatch("-N3", "-w", three), 90)
    assert sorted(hosts_of(cluster, "vm001", "vm002", "vm003").values()) == [
        names[0], names[1], names[1]]


def test_a_wish_for_an_unknown_host_does_nothing(cluster):
    cluster.wait_job(cluster.sbatch("-N1", "-w", "vm001"), 90)
    was = uuid(cluster, "vm001")
    r = cluster.run("svf", "vm", "rebuild", "vm001", "--on", "esx99")
    assert r.returncode == 1 and "no such host: esx99" in r.stderr
    for bad in (["rebuild", "vm001", "--on"], ["forget", "vm001", "--on"],
                ["evict", "--requeue", "vm001", "--on", "x"]):
        assert cluster.run("svf", "vm", *bad).returncode == 2
    cluster.wait_job(cluster.sbatch("-N1", "-w", "vm001"), 90)
    assert uuid(cluster, "vm001") == was
