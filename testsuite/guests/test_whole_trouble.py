# SPDX-License-Identifier: GPL-2.0-or-later
"""What can happen to a booted VM: its units and its NIC. After each case the same nodes
serve a job again."""

import pytest

import texts
import trouble
from daemons import wait_for
from guest_cluster import GuestCluster
from stages import is_requeued


def make_cluster():
    return GuestCluster(nodes=2, vfs=2)


@pytest.fixture(autouse=True)
def warm(cluster):
    """Both nodes serve a job before and after each case."""
    with trouble.served(cluster):
        yield


def drained_before_a_job(cluster, node, case):
    """A job on the node is requeued by its prolog, and has run nothing there."""
    job = cluster.submit("touch /tmp/ran\n", "-N1", "-w", node)
    wait_for("the node is drained and the job requeued", 90, lambda: (
        "DRAIN" in cluster.node(node)["State"] and is_requeued(cluster, job)))
    assert cluster.shell(node)("test -e /tmp/ran; echo $?") == "1\n"
    texts.check(cluster, case, job, node)
    cluster.must("scancel", str(job))


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
