# SPDX-License-Identifier: GPL-2.0-or-later
"""What becomes of a VM when its job has ended: Retention=warm|off|destroy."""

import time

from cluster import Cluster, wait_for
from stages import Held
from users import DAEMON, NOBODY, needs_root
from worlds import world

LINES = [
    "VSphereCluster=HPC1 ResourcePool=slurm",
    "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
    "PartitionName=warm Adapter=sriov-roce Template=rhel9-ofed Retention=warm",
    "PartitionName=off Adapter=sriov-roce Template=rhel9-ofed Retention=power_off",
    "PartitionName=destroy Adapter=sriov-roce Template=rhel9-ofed Retention=destroy",
]


def make_cluster():
    c = Cluster(inventory=world(hosts=2, vfs=4), nodes=6)
    c.vsphere = {"lines": LINES, "ShutdownGrace": 2}
    c.slurm = {"SuspendTimeout": 4}
    c.partition_lines = [
        "PartitionName=warm Nodes=vm[001-002] Default=YES SuspendTime=6",
        "PartitionName=off Nodes=vm[003-004]",
        "PartitionName=destroy Nodes=vm[005-006] OverSubscribe=EXCLUSIVE",
    ]
    return c


def test_off_powers_the_vm_off_and_keeps_it(cluster):
    cluster.wait_job(cluster.sbatch("-p", "off", "-N2"))
    wait_for("both VMs are off", 30, lambda: all(
        cluster.our_vm(n) and not cluster.is_on(n) for n in ("vm003", "vm004")))
    assert cluster.vfs_of(["vm003", "vm004"]) == 0


def test_a_vm_that_is_off_and_right_needs_one_call(cluster):
    wait_for("the nodes are powered down", 30, lambda: all(
        cluster.is_powered_down(n) for n in ("vm003", "vm004")))
    uuids = {n: cluster.our_vm(n)["uuid"] for n in ("vm003", "vm004")}
    powered, built = (cluster.calls("PowerOnVM_Task"),
                  cluster.calls("CloneVM_Task", "ReconfigVM_Task"))
    cluster.wait_job(cluster.sbatch("-p", "off", "-N2"))
    assert cluster.calls("PowerOnVM_Task") - powered == 2
    assert cluster.calls("CloneVM_Task", "ReconfigVM_Task") == built
    assert {n: cluster.our_vm(n)["uuid"] for n in uuids} == uuids


def test_destroy_leaves_no_vm_and_the_next_job_gets_a_fresh_one(cluster):
    job = Held(cluster, "-p", "destroy", "-N1", "-w", "vm005").wait_running()
    first = cluster.our_vm("vm005")["uuid"]
    job.end_well()
    wait_for("the VM is gone", 30, lambda: cluster.our_vm("vm005") is None)
    job = Held(cluster, "-p", "destroy", "-N1", "-w", "vm005").wait_running()
    assert cluster.our_vm("vm005")["uuid"] != first
    job.end_well()


def over(cluster, partition, node, uid):
    """Runs a job of that user to its end. Its calls, and its seconds."""
    calls, begin = cluster.mutating(), time.monotonic()
    job = cluster.sbatch("-p", partition, "-N1", "-w", node, f"--uid={uid}",
                         "--output=/dev/null", "--chdir=/", script="true")
    wait_for("it has run", 60,
             lambda: cluster.job_state(job) == "COMPLETED")
    took = time.monotonic() - begin
    if partition == "destroy":
        wait_for("its VM is gone", 30, lambda: cluster.our_vm(node) is None)
    return cluster.mutating() - calls, took


@needs_root
def test_jobs_of_two_users_never_share_a_vm_or_its_disk(cluster):
    """Each job: one clone of the template, and its destruction with its disks (what
    the simulator keeps of a guest's); beside it a warm VM, which costs no call."""
    wait_for("no VM of an earlier test", 30,
             lambda: cluster.our_vm("vm005") is None)
    fresh = []
    for uid in (DAEMON, NOBODY):
        made, gone = cluster.calls("CloneVM_Task"), cluster.calls("Destroy_Task")
        fresh.append(over(cluster, "destroy", "vm005", uid))
        assert cluster.calls("CloneVM_Task") - made == 1
        assert cluster.calls("Destroy_Task") - gone == 1
    left = []
    for _ in range(2):
        job = Held(cluster, "-p", "destroy", "-N1", "-w", "vm005").wait_running()
        disk = cluster.path("guests", "vm005").resolve()
        assert disk.is_dir() and disk not in left
        assert not (disk / "left-by-a-job").exists()
        (disk / "left-by-a-job").touch()
        left.append(disk)
        job.end_well()
        wait_for("its VM is gone", 30, lambda: cluster.our_vm("vm005") is None)
        wait_for("its disk is gone", 30, lambda: not disk.exists())
    over(cluster, "warm", "vm001", DAEMON)
    warm = [over(cluster, "warm", "vm001", uid) for uid in (DAEMON, NOBODY)]
    print(f"fresh VM per job: {fresh}, warm: {warm} (calls, seconds)")
    assert [calls for calls, _ in warm] == [0, 0]
    assert all(calls == 4 for calls, _ in fresh), \
        "a clone, a power-on, a power-off, a destruction"


def test_warm_stays_on_until_suspendtime_then_gives_its_vf_back(cluster):
    cluster.wait_job(cluster.sbatch("-p", "warm", "-N2"))
    assert cluster.our_vm("vm001")["on"] and cluster.our_vm("vm002")["on"]
    wait_for("SuspendTime has powered them off", 40, lambda: all(
        not cluster.our_vm(n)["on"] for n in ("vm001", "vm002")))
    assert cluster.vfs_of(["vm001", "vm002"]) == 0


def test_quiet_for_longer_than_suspendtime_no_vf_is_ours(cluster):
    """sriov-cni#119 #219 #349: devices leaked, piece by piece."""
    def none_ours():
        return all(pf["managed"] == 0 and pf["reserved"] == 0
                   for h in cluster.svf("hosts")["hosts"] for pf in h["pfs"])
    jobs = [Held(cluster, "-p", p, "-N2") for p in ("warm", "off")]
    for job in jobs:
        job.wait_running()
    assert not none_ours()
    for job in jobs:
        job.end_well()
    wait_for("I3: no VF in use by us", 60, none_ours)
