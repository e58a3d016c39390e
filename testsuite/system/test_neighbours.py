# SPDX-License-Identifier: GPL-2.0-or-later
"""Bugs that neighbouring systems had first, each named at its test; where a
test elsewhere shows the behaviour already, it names the bug there. The list is
testsuite/lint/neighbours.txt."""

from cluster import Cluster, wait_for
from worlds import world


def make_cluster():
    c = Cluster(nodes=4, inventory=world(hosts=3, vfs=2))
    c.vsphere = {"ShutdownGrace": 1}
    c.slurm = {"SuspendTimeout": 2, "ResumeTimeout": 300}
    return c


def hosts(cluster):
    """What svf says of each PF, without what is beside the point."""
    return {(h["host"], p["pci"]): (p["total"], p["managed"], p["foreign"],
                                   p["reserved"], p.get("free"))
            for h in cluster.svf("hosts")["hosts"] for p in h["pfs"]}


def all_off(cluster):
    cluster.must("scontrol", "update", "nodename=vm[001-004]",
                 "state=power_down_force")
    wait_for("all is off", 40, lambda: not cluster.names_on() and all(
        set(s.split("+")) == {"IDLE", "CLOUD", "POWERED_DOWN"}
        for s in cluster.node_states().values()))


def test_a_restart_loses_no_capacity_and_no_hold(cluster):
    """sriov-network-device-plugin#565, sriov-network-operator#1028: after a
    restart devices in use were counted as free, or free ones as lost. One VM
    runs a job, one is warm, one is being powered on."""
    cluster.wait_job(cluster.sbatch("-N2", "-w", "vm[001-002]", script="true"))
    job = cluster.sbatch("-N1", "-w", "vm001", script="sleep 600")
    cluster.wait_state(job, "RUNNING")
    cluster.fault(on="task", method="PowerOnVM_Task", hang=True)
    boots = cluster.sbatch("-N1", "-w", "vm003", script="hostname")
    wait_for("vm003 is being powered on", 20,
             lambda: cluster.running_tasks("PowerOnVM_Task"))
    before = hosts(cluster)
    assert sum(ours + held for _, ours, _, held, _ in before.values()) == 3
    cluster.restart_slurmctld()
    wait_for("the same is known again", 20,
             lambda: cluster.svf("status")["up"] and
             hosts(cluster) == before)
    cluster.clear_faults()
    for t in cluster.running_tasks("PowerOnVM_Task"):
        cluster.do("endTask", task=t["moid"])
    assert cluster.wait_job(boots, 60).strip() == "vm003"
    assert cluster.job_state(job) == "RUNNING"


def test_a_failed_query_or_a_restart_ends_no_running_job(cluster):
    """slurm-operator#79, slurm-bridge#43: what couldn't be read was taken for
    gone, and its jobs were killed. vCenter answers nonsense, then errors, then
    nothing, restarts and forgets us; slurmctld starts while it is away."""
    job = cluster.sbatch("-N2", "-w", "vm[001-002]",
                         script='echo began; while [ ! -e "$VS_CLUSTER_DIR/'
                         'out/go" ]; do sleep 0.2; done; srun hostname')
    wait_for("it runs", 40, lambda: "began" in cluster.output(job))
    calls = cluster.mutating()
    try:
        for rule in ({"on": "reply", "method": "*", "garble": 40},
                     {"on": "reply", "method": "*", "cut": 0},
                     {"on": "request", "method": "*", "http": 500,
                      "body": "{}"}):
            hits = cluster.counters()["faults"]
            cluster.fault(**rule)
            cluster.do("cutConnections")
            wait_for("some queries have failed", 20, lambda h=hits:
                     cluster.counters()["faults"] > h + 1)
            cluster.clear_faults()
        cluster.do("restart")
        cluster.do("outage", duration="5s", how="503")
        cluster.restart_slurmctld()
        assert cluster.job_state(job) == "RUNNING"
    finally:
        cluster.clear_faults()
    wait_for("vCenter is read again", 60,
             lambda: cluster.svf("status")["up"])
    assert cluster.mutating() == calls
    cluster.path("out", "go").touch()
    out = cluster.wait_job(job, 30)
    assert "vm001" in out and "vm002" in out
    assert cluster.job(job)["Restarts"] == "0"


def test_one_broken_vm_or_host_stops_no_other(cluster):
    """cluster-toolkit#4419: one bad record stopped every sync for days. A VM
    that can't be read and a host that doesn't answer: the others are built,
    used and switched off."""
    all_off(cluster)
    for vm in cluster.our_vms():
        cluster.do("destroyVm", vm=vm["name"], wait=True)
    cluster.wait_job(cluster.sbatch("-N1", "-w", "vm004", script="true"), 40)
    broken = cluster.our_vm("vm004")
    cluster.do("vmState", vm="vm004", state="invalid")
    cluster.do("addVm", spec={
        "name": "vm999", "folder": "slurm", "host": broken["host"],
        "extraConfig": {"slurm.vsphere.owner": "no such thing"}})
    # The template is on the first host.
    away = next(h["name"] for h in reversed(cluster.state()["hosts"])
                if h["name"] != broken["host"])
    cluster.do("hostState", host=away, state="notResponding")
    try:
        wait_for("the host is known to be away", 20, lambda: 1 == sum(
            h["state"] != "UP" for h in cluster.svf("hosts")["hosts"]))
        job = cluster.sbatch("-N2", "-w", "vm[001-002]",
                             script="srun hostname")
        assert set(cluster.wait_job(job, 60).split()) == {"vm001", "vm002"}
        assert away not in {cluster.our_vm(n)["host"]
                            for n in ("vm001", "vm002")}
        cluster.must("scontrol", "update", "nodename=vm[001-002]",
                     "state=power_down")
        wait_for("they are off", 30, lambda: not cluster.names_on() &
                 {"vm001", "vm002"})
        assert cluster.is_on("vm004")
        # Its devices can't be counted, so its host takes no new VM.
        assert broken["host"] not in {cluster.our_vm(n)["host"]
                                      for n in ("vm001", "vm002")}
    finally:
        cluster.do("hostState", host=away, state="connected")
        cluster.do("vmState", vm="vm004", state="connected")
        cluster.do("destroyVm", vm="vm999", wait=True)
    cluster.wait_job(cluster.sbatch("-N4", script="true"), 60)


def test_a_vm_that_is_just_coming_up_is_nobodys_orphan(cluster):
    """slurm-gcp#54 #70 #75: the cleaner deleted nodes that were coming up, and
    guessed their age then. A slow boot, with a restart and a reconfigure in
    it, and reconciles all the time."""
    all_off(cluster)
    cluster.delay_boot("vm002", 8)
    ended = cluster.calls("Destroy_Task", "PowerOffVM_Task", "ShutdownGuest")
    boots = (cluster.our_vm("vm002") or {"boots": 0})["boots"]
    job = cluster.sbatch("-N1", "-w", "vm002", script="hostname")
    wait_for("vm002 is on", 30, lambda: cluster.is_on("vm002"))
    cluster.delay_boot("vm002", 0)
    cluster.must("scontrol", "reconfigure")
    cluster.restart_slurmctld()
    cluster.svf("reconcile")
    assert cluster.wait_job(job, 60).strip() == "vm002"
    assert cluster.our_vm("vm002")["boots"] == boots + 1
    assert ended == cluster.calls("Destroy_Task", "PowerOffVM_Task",
                                  "ShutdownGuest")


def test_why_a_node_cannot_be_had_is_said_long_before_resumetimeout(cluster):
    """cluster-toolkit#3337: silence until ResumeTimeout (here: 300 s)."""
    all_off(cluster)
    if cluster.our_vm("vm003"):
        cluster.do("destroyVm", vm="vm003", wait=True)
    cluster.fault(on="task", method="CloneVM_Task", fault={
        "_typeName": "NoPermission", "privilegeId": "VirtualMachine.Inventory."
        "CreateFromExisting"}, message="Permission to perform this operation "
        "was denied.")
    try:
        job = cluster.sbatch("-N1", "-w", "vm003", script="hostname")
        wait_for("the node says why", 10, lambda: "ermission" in
                 cluster.node("vm003").get("Reason", ""))
        wait_for("the job says something, too", 10, lambda: (
            lambda j: j["JobState"] == "PENDING" and
            j["Reason"] not in ("None", ""))(cluster.job(job)))
    finally:
        cluster.clear_faults()
