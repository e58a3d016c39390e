# SPDX-License-Identifier: GPL-2.0-or-later
"""VMs that others start elsewhere, move, restart or destroy, VFs that they take,
and a guest with too little memory, each under a job: it runs, or is requeued, or
says why it can't; nothing leaks and nothing is there twice. One cluster for all:
three hosts of two VFs; nodes with VFs, without, and of more memory than slurmd
will find."""

import pytest

from cluster import Cluster, wait_for
from stages import Held, holds
from worlds import PF0, ROCE, ROCE_AND_ETH, host, world

E1, E2, E3 = (f"esx{i:02d}.example.org" for i in (1, 2, 3))
TOO_MUCH = 4 << 20      # MB, of no machine that runs this


def make_cluster():
    c = Cluster(nodes=8, inventory=world(
        hosts=[host(e, vfs=2, memory=2 * TOO_MUCH) for e in (E1, E2, E3)]))
    c.choose_ports()
    c.vsphere = {"ShutdownGrace": 1, "lines": ROCE_AND_ETH}
    c.node_lines = [c.node_line(1, 4, "sriov-roce"),
                    c.node_line(5, 7, "vmxnet3"),
                    c.node_line(8, 8, "vmxnet3", memory=TOO_MUCH)]
    c.partition_lines = ["PartitionName=roce Nodes=vm[001-004] Default=YES",
                         "PartitionName=eth Nodes=vm[005-008]"]
    # Slurm looks at a queue where nothing changes once a minute.
    c.slurm = {"SuspendTimeout": 3, "TCPTimeout": 1, "SlurmdTimeout": 12,
               "SchedulerParameters": c.scheduler_parameters +
               ",sched_interval=2",
               "SlurmdParameters": None,
               "AuthInfo": f"socket={c.path('run', 'munge.socket')},"
                           "cred_expire=5"}
    return c


@pytest.fixture(autouse=True)
def clean(cluster):
    """Every node powered down and usable, no VM on, DRS and HA off."""
    yield
    cluster.clear_faults()
    cluster.do("cluster", cluster="HPC1", drs="disabled", drsPerverse=False,
               ha=False)
    for h in (E1, E2, E3):
        cluster.do("hostState", host=h, state="connected")
        cluster.must("svf", "host", "resume", h)
    cluster.run("scancel", "--user", cluster.user)
    names = "nodename=vm[001-008]"
    cluster.run("scontrol", "update", names, "state=resume")
    cluster.must("scontrol", "update", names, "state=power_down_force")
    wait_for("all are off", 40, lambda: not cluster.names_on() and all(
        cluster.is_powered_down(n) for n in cluster.node_names()))
    wait_for("no VF is used or held", 20, lambda: not sum(
        ours + held for _, _, _, ours, held, _ in holds(cluster)))


def where(cluster, vm):
    """Its host, for vCenter and for svf alike; and it is there once."""
    assert len([v for v in cluster.our_vms() if v["name"] == vm]) == 1
    return cluster.our_vm(vm)["host"]


def svf_host(cluster, vm):
    return {n["node"]: n.get("host") for n in
            cluster.svf("nodes")["nodes"]}[vm]


def restarts(cluster, job):
    return cluster.job(job).get("Restarts")


def drs(cluster):
    """It starts VMs elsewhere than they are told."""
    cluster.do("cluster", cluster="HPC1", drs="fullyAutomated",
               drsPerverse=True)


def held_back(cluster, method, begin):
    """begin() while this method's tasks hang; the job and its held VF."""
    cluster.fault(on="task", method=method, hang=True)
    res = begin()
    wait_for(f"{method} is under way", 30,
             lambda: cluster.running_tasks(method))
    cluster.clear_faults()
    return res


def destroy(cluster, *names):
    """Destroys the VMs; slurm-vsphere creates them again when jobs need them."""
    for vm in cluster.our_vms():
        if vm["name"] in names:
            cluster.do("destroyVm", vm=vm["name"], wait=True)
    wait_for("they are gone", 10, lambda: not {
        n["node"] for n in cluster.svf("nodes")["nodes"]
        if n["node"] in names and n["vm_state"] != "NONE"})


def let_go(cluster, method):
    for t in cluster.running_tasks(method):
        cluster.do("endTask", task=t["moid"])


def test_a_guest_with_too_little_memory_says_so_and_takes_no_job(cluster):
    """Slurm refuses its registration: the job is requeued, eligible at once,
    the VM goes off again, and the node says why."""
    job = cluster.sbatch("-p", "eth", "-N1", "-w", "vm008", script="hostname")
    wait_for("the node says why", 40, lambda: "Low RealMemory" in
             cluster.node("vm008").get("Reason", ""))
    show = wait_for("the job waits and says for what", 20, lambda: (
        lambda j: j["JobState"] == "PENDING" and j["Restarts"] == "1" and
        j["Reason"] != "None" and j)(cluster.job(job)))
    assert show["EligibleTime"] == show["SubmitTime"]
    wait_for("the VM is off", 20, lambda: not cluster.is_on("vm008"))
    calls = cluster.mutating()
    # Others are served; nothing is tried again for this one.
    other = cluster.sbatch("-p", "eth", "-N1", script="hostname")
    assert cluster.wait_job(other, 40).strip() == "vm005"
    assert cluster.mutating() <= calls + 2
    assert cluster.job_state(job) == "PENDING"


def test_drs_starts_a_vm_elsewhere_and_its_place_is_counted_there(cluster):
    drs(cluster)
    job = Held(cluster, "-p", "eth", "-N1", "-w", "vm005").wait_running()
    assert "power-on begins" in cluster.ctld_log()
    at = where(cluster, "vm005")
    wait_for("svf says where it is", 10,
             lambda: svf_host(cluster, "vm005") == at)
    job.end_well()


def test_drs_takes_a_vf_that_was_promised_to_another(cluster):
    """DRS is switched on after the jobs have begun."""
    destroy(cluster, "vm001", "vm002", "vm003", "vm004")
    job = held_back(cluster, "CloneVM_Task", lambda: cluster.sbatch(
        "-N4", script="srun hostname"))
    wait_for("all four are built", 20, lambda: len(
        cluster.running_tasks("CloneVM_Task")) == 4)
    drs(cluster)
    let_go(cluster, "CloneVM_Task")
    out = cluster.wait_job(job, 90)
    assert len(out.split()) == 4
    assert restarts(cluster, job) == "0"
    # Where DRS starts a VM isn't known yet when the next power-on is sent.
    cluster.sim("counters/reset", {})


def test_a_running_vm_that_is_moved_to_another_host_is_followed(cluster):
    """By DRS or by an administrator."""
    job = Held(cluster, "-p", "eth", "-N1", "-w", "vm005").wait_running()
    was = where(cluster, "vm005")
    to = next(h for h in (E1, E2, E3) if h != was)
    calls = cluster.mutating()
    cluster.do("migrate", vm="vm005", host=to)
    wait_for("svf says where it is", 20,
             lambda: svf_host(cluster, "vm005") == to)
    job.end_well()
    assert cluster.mutating() == calls


def test_a_job_whose_vm_ha_starts_elsewhere_runs_again(cluster):
    """Its host dies; the job runs once more, in the same VM."""
    cluster.do("cluster", cluster="HPC1", ha=True)
    held = Held(cluster, "-p", "eth", "-N1", "-w", "vm005", "--requeue",
                before="echo began $SLURM_RESTART_COUNT").wait_running()
    job = held.id
    was, uuid = where(cluster, "vm005"), cluster.our_vm("vm005")["uuid"]
    cluster.do("failHost", host=was)
    wait_for("HA has started it elsewhere", 20, lambda: (
        lambda v: v["on"] and v["host"] != was)(cluster.our_vm("vm005")))
    # Long before slurmctld asks the node what runs there.
    wait_for("its job is requeued", 10,
             lambda: restarts(cluster, job) == "1")
    held.let_go()
    # Where Slurm is first to miss the guest it holds the job off for 121 s.
    assert cluster.wait_job(job, 200).splitlines() == ["began 1", "the end"]
    assert where(cluster, "vm005") != was
    assert svf_host(cluster, "vm005") == where(cluster, "vm005")
    assert cluster.our_vm("vm005")["uuid"] == uuid


def test_a_job_whose_vm_is_destroyed_runs_again_in_a_new_one(cluster):
    held = Held(cluster, "-p", "eth", "-N1", "-w", "vm006", "--requeue",
                before="echo began $SLURM_RESTART_COUNT").wait_running()
    job = held.id
    uuid = cluster.our_vm("vm006")["uuid"]
    cluster.do("destroyVm", vm="vm006", force=True, wait=True)
    wait_for("its job is requeued", 40, lambda: restarts(cluster, job) == "1")
    held.let_go()
    assert cluster.wait_job(job, 200).splitlines() == ["began 1", "the end"]
    assert cluster.our_vm("vm006")["uuid"] != uuid
    assert "DOWN" not in cluster.node("vm006")["State"]


def foreign(n, h):
    return {"name": f"thief{n}", "folder": "", "host": h, "powerOn": True,
            "numCPUs": 2, "memoryMB": 2048, "lockMemory": True,
            "nics": ["VM-PG"],
            "cards": [{"type": "sriov", "network": ROCE, "pf": PF0}]}


def test_a_vf_that_is_stolen_before_the_power_on_is_had_elsewhere(cluster):
    destroy(cluster, "vm001")
    job = held_back(cluster, "CloneVM_Task", lambda: cluster.sbatch(
        "-N1", "-w", "vm001", script="hostname"))
    at = next(h for h, _, _, _, held, _ in holds(cluster) if held)
    try:
        for n in (1, 2):
            cluster.do("addVm", spec=foreign(n, at))
        wait_for("svf counts them", 20, lambda: 2 == sum(
            foreign for h, _, _, _, _, foreign in holds(cluster) if h == at))
        let_go(cluster, "CloneVM_Task")
        assert cluster.wait_job(job, 60).strip() == "vm001"
        assert where(cluster, "vm001") != at
        assert restarts(cluster, job) == "0"
    finally:
        for n in (1, 2):
            cluster.do("destroyVm", vm=f"thief{n}", force=True)
