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
    return {n["node"]: n["did"] for n in r}


def drained(cluster):
    return [n for n in ("vm001", "vm002", "vm003", "vm004")
            if "DRAIN" in cluster.node(n)["State"]]


def uuid(cluster, node):
    vm = cluster.our_vm(node)
    return vm and vm["uuid"]


def used(cluster):
    return sum(pf["ours"] for h in cluster.svf("hosts")["hosts"]
               for pf in h["pfs"])


def test_idle_vms_go_off_at_once_and_their_nodes_are_usable(cluster):
    cluster.wait_job(cluster.sbatch("-N2", "-w", "vm[001-002]"), 90)
    wait_for("the nodes are idle", 30, lambda: all(
        n["slurm_state"] == "idle" and not n.get("job")
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
    assert "after-job" in text and f"JobId={job.id} has it" in text
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
