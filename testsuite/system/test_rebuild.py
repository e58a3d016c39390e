# SPDX-License-Identifier: GPL-2.0-or-later
"""A changed profile, and an administrator's own power_up and power_down."""

import datetime

from cluster import Cluster, wait_for
from worlds import world


def make_cluster():
    c = Cluster(inventory=world(hosts=2, vfs=2), nodes=4)
    c.vsphere = {"ShutdownGrace": 2}
    return c


def uuids(cluster):
    return {v["name"]: v["uuid"] for v in cluster.our_vms()}


def test_a_changed_profile_rebuilds_an_idle_node_that_slurm_believes_up(cluster):
    cluster.wait_job(cluster.sbatch("-N2", "-w", "vm[001-002]"))
    before, warm = cluster.calls("ReconfigVM_Task"), uuids(cluster)
    cluster.change_vsphere("Template=rhel9-ofed",
                           "Template=rhel9-ofed MemoryOverhead=512")
    cluster.delay_boot("vm001", 3)
    job = cluster.sbatch("-N2", "-t", "1", "-w", "vm[001-002]",
                         script="date +%FT%T; srun hostname")
    out = cluster.wait_job(job, 60)
    cluster.delay_boot("vm001", 0)
    assert "vm001" in out and "vm002" in out
    start, first = (datetime.datetime.fromisoformat(t) for t in
                    (cluster.job(job)["StartTime"], out.split()[0]))
    assert (first - start).total_seconds() <= 1, \
        "the time limit begins with the job, not with the rebuild"
    assert cluster.calls("ReconfigVM_Task") == before + 2
    assert uuids(cluster) == warm, "the same VMs, reconfigured"
    assert cluster.job(job)["Restarts"] == "0"
    assert "unexpectedly rebooted" not in cluster.ctld_log()
    assert "no job gets a VM" not in cluster.ctld_log()


def test_a_changed_template_is_cloned_anew(cluster):
    cluster.wait_job(cluster.sbatch("-N1", "-w", "vm001"))
    old = uuids(cluster)["vm001"]
    cluster.touch_template("rhel9-ofed")
    wait_for("the plugin has seen the new template", 40,
             lambda: "template rhel9-ofed has changed" in cluster.ctld_log())
    job = cluster.sbatch("-N1", "-w", "vm001", script="hostname")
    assert cluster.wait_job(job, 60).strip() == "vm001"
    assert uuids(cluster)["vm001"] != old
    assert cluster.job(job)["Restarts"] == "0"
    assert "unexpectedly rebooted" not in cluster.ctld_log()
    assert "no job gets a VM" not in cluster.ctld_log()


def test_power_up_by_the_administrator_brings_the_node_up(cluster):
    cluster.must("scontrol", "update", "nodename=vm003", "state=power_up")
    cluster.wait_node("vm003", lambda s: set(s.split("+")) == {"IDLE", "CLOUD"},
                      40, "IDLE+CLOUD")
    assert cluster.is_on("vm003")
    nodes = {n["node"]: n for n in cluster.svf("nodes")["nodes"]}
    assert nodes["vm003"]["vm_state"] == "ON"


def test_power_down_by_the_administrator_gives_the_vf_back(cluster):
    cluster.must("scontrol", "update", "nodename=vm003", "state=power_down")
    wait_for("the VM is off", 40, lambda: not cluster.is_on("vm003"))
    wait_for("the node is powered down", 40,
             lambda: cluster.is_powered_down("vm003"))
    assert cluster.vfs_of(["vm003"]) == 0
    cluster.wait_job(cluster.sbatch("-N1", "-w", "vm003"))


def test_a_job_on_a_dying_vm_waits_for_its_end(cluster):
    cluster.wait_job(cluster.sbatch("-N1", "-w", "vm004"))
    cluster.must("scontrol", "update", "nodename=vm004", "state=power_down")
    out = cluster.wait_job(cluster.sbatch("-N1", "-w", "vm004",
                                          script="hostname"), 60)
    assert out.strip() == "vm004"
