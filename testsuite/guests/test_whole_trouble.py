# SPDX-License-Identifier: GPL-2.0-or-later
"""What can happen to a booted VM: its NIC, its units, its power. After each case the
same nodes serve a job again."""

import pytest

import texts
from daemons import wait_for
from guest_cluster import BOOT_S, GuestCluster


def make_cluster():
    return GuestCluster(nodes=2, vfs=2)


@pytest.fixture(autouse=True)
def warm(cluster):
    """Both nodes serve a job before and after each case."""
    serve(cluster)
    yield
    for job in cluster.run("squeue", "-h", "-o", "%A").stdout.split():
        cluster.run("scancel", job)     # of a case that failed
    serve(cluster)


def serve(cluster):
    job = cluster.submit("srun -l hostname\n", "-N2")
    text = cluster.wait_done(job, 2 * BOOT_S)
    assert "vm001" in text and "vm002" in text


# Slurm lets a requeued job wait two minutes, so each case ends the job once it is
# requeued; that the nodes serve again is seen by another.

def drained_before_a_job(cluster, node, case):
    """A job on the node is requeued by its prolog, and has run nothing there."""
    job = cluster.submit("touch /tmp/ran\n", "-N1", "-w", node)
    wait_for("the node is drained and the job requeued", 90, lambda: (
        "DRAIN" in cluster.node(node)["State"] and is_requeued(cluster, job)))
    assert cluster.shell(node)("test -e /tmp/ran; echo $?") == "1\n"
    texts.check(cluster, case, job, node)
    cluster.must("scancel", str(job))


def is_requeued(cluster, job):
    """It waits again, and slurmctld has ended all of its last run."""
    row = cluster.job(job)
    return row.get("Restarts") == "1" and row["JobState"] == "PENDING" and \
        cluster.squeue(job) != "None"


def resume(cluster, node):
    cluster.must("scontrol", "update", f"nodename={node}", "state=resume")


def netdev(cluster, node):
    return cluster.shell(node)("sed -n 's/^netdev //p' /run/slurm-vsphere/ready").strip()


def test_a_reload_of_the_unit_during_a_job_keeps_the_job(cluster):
    job = cluster.submit("touch /tmp/half\nwhile [ ! -e /tmp/go ]; do sleep 0.2; done\n"
                         "srun -l hostname\n", "-N2")
    shell = cluster.shell("vm001")
    wait_for("the job runs", 60, lambda: shell("test -e /tmp/half; echo $?") == "0\n")
    for node in ("vm001", "vm002"):
        cluster.shell(node)("systemctl reload slurm-vsphere-slurmd && systemctl is-active slurm-vsphere-slurmd")
    texts.check(cluster, "the guest's units were restarted or reloaded", job, "vm001")
    shell("touch /tmp/go")
    assert "vm002" in cluster.wait_done(job, 120)
    shell("rm -f /tmp/half /tmp/go")


def test_a_reload_while_the_port_is_waited_for_ends_nothing(cluster):
    shell = cluster.shell("vm001")
    cluster.link("vm001", False)
    shell("systemctl restart slurm-vsphere-slurmd")
    wait_for("the port is waited for", 60, lambda: shell("pgrep -c slurm-vsphere-p; true") != "0\n")
    shell("systemctl reload slurm-vsphere-slurmd; true")
    cluster.link("vm001", True)
    wait_for("slurmd runs", 120, lambda: shell("pgrep -c -x slurmd; true") == "1\n")
    assert shell("systemctl is-active slurm-vsphere-slurmd") == "active\n"
    assert shell("pgrep -c slurm-vsphere-p; true") == "0\n"


def test_an_address_that_is_gone_drains_the_node(cluster):
    cluster.shell("vm001")(f"ip -4 address flush dev {netdev(cluster, 'vm001')}")
    drained_before_a_job(cluster, "vm001", "the RoCE address is gone")
    cluster.shell("vm001")("systemctl restart slurm-vsphere-slurmd", 120)
    resume(cluster, "vm001")


def test_a_device_that_is_taken_away_drains_the_node(cluster):
    """As vCenter takes it away: the guest loses the PCI device."""
    cluster.qmp("vm002", "device_del", id="nic1")
    wait_for("the guest has lost its NIC", 60, lambda: "gone" in cluster.shell("vm002")(
        "[ -e /sys/class/net/$(sed -n 's/^netdev //p' /run/slurm-vsphere/ready) ] || echo gone"))
    drained_before_a_job(cluster, "vm002", "the device was taken away")
    cluster.must("scontrol", "update", "nodename=vm002", "state=power_down_force")
    wait_for("the VM is off", 120, lambda: not cluster.is_on("vm002"))
    resume(cluster, "vm002")


def running(cluster, node, case, trouble):
    """A job runs on the node when trouble() comes; it is requeued."""
    job = cluster.submit("touch /tmp/first; sleep 3600\n", "-N1", "-w", node, "--requeue")
    shell = cluster.shell(node)
    wait_for("the job runs", 90, lambda: shell("test -e /tmp/first; echo $?") == "0\n")
    trouble()
    wait_for("the job is requeued", 200, lambda: is_requeued(cluster, job))
    texts.check(cluster, case, job, node)
    cluster.must("scancel", str(job))


def test_a_shutdown_inside_the_guest_requeues_the_job(cluster):
    running(cluster, "vm001", "root in the guest ran poweroff",
            lambda: cluster.shell("vm001")("systemctl poweroff --no-block"))


def test_a_power_off_by_a_person_requeues_the_job(cluster):
    running(cluster, "vm002", "an administrator powered the VM off",
            lambda: cluster.do("powerOff", vm="vm002"))


def test_a_reset_requeues_the_job(cluster):
    """The VM boots again without vCenter's doing."""
    running(cluster, "vm001", "the VM was reset",
            lambda: cluster.qmp("vm001", "system_reset"))
