# SPDX-License-Identifier: GPL-2.0-or-later
"""A booted VM goes off or boots again under a job. After each case the same nodes serve
a job again."""

import pytest

import texts
import trouble
from daemons import wait_for
from guest_cluster import GuestCluster
from stages import is_requeued


def make_cluster():
    c = GuestCluster(nodes=2, vfs=2)
    # A registration misses a batch script that began this long before it, and 10 s.
    c.slurm["BatchStartTimeout"] = 20
    # For 11 times (this and 1 s) slurmctld tries to end a job in a VM that is off.
    c.slurm["TCPTimeout"] = 4
    return c


@pytest.fixture(autouse=True)
def warm(cluster):
    with trouble.served(cluster):
        yield


def requeued(cluster, node, case, mishap):
    """A job of both nodes runs when mishap() comes to one of them; it is requeued."""
    shell = cluster.shell(node)
    shell("rm -f /tmp/first")       # a case before left it on the other node
    job = cluster.submit("srun touch /tmp/first\nsleep 3600\n", "-N2", "--requeue")
    wait_for("the job runs", 90, lambda: shell("test -e /tmp/first; echo $?") == "0\n")
    mishap()
    wait_for("the job is requeued", 300, lambda: is_requeued(cluster, job))
    texts.check(cluster, case, job, node)
    cluster.must("scancel", str(job))


def test_a_power_off_by_a_person_requeues_the_job(cluster):
    requeued(cluster, "vm002", "an administrator powered the VM off",
             lambda: cluster.do("powerOff", vm="vm002"))


def test_a_reset_requeues_the_job(cluster):
    """The VM boots again without vCenter's doing."""
    requeued(cluster, "vm001", "the VM was reset",
             lambda: cluster.qmp("vm001", "system_reset"))


def test_a_shutdown_inside_the_guest_requeues_the_job(cluster):
    requeued(cluster, "vm001", "root in the guest ran poweroff",
             lambda: cluster.shell("vm001")("systemctl poweroff --no-block"))
