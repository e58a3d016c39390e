# SPDX-License-Identifier: GPL-2.0-or-later
"""A booted VM goes off or boots again under a job. After each case the same nodes serve
a job again."""

import pytest

import texts
import trouble
from daemons import wait_for
from guest_cluster import GuestCluster


def make_cluster():
    return GuestCluster(nodes=2, vfs=2)


@pytest.fixture(autouse=True)
def warm(cluster):
    with trouble.served(cluster):
        yield


def requeued(cluster, case, mishap):
    """A job runs on a node when mishap(node) comes; it is requeued."""
    job = cluster.submit("touch /tmp/first; sleep 3600\n", "-N1", "--requeue")
    cluster.wait_state(job, "RUNNING", 60)
    node = cluster.job(job)["NodeList"]
    shell = cluster.shell(node)
    wait_for("the job runs", 90, lambda: shell("test -e /tmp/first; echo $?") == "0\n")
    mishap(node)
    wait_for("the job is requeued", 300, lambda: trouble.is_requeued(cluster, job))
    texts.check(cluster, case, job, node)
    cluster.must("scancel", str(job))


def test_a_shutdown_inside_the_guest_requeues_the_job(cluster):
    requeued(cluster, "root in the guest ran poweroff",
             lambda node: cluster.shell(node)("systemctl poweroff --no-block"))


def test_a_power_off_by_a_person_requeues_the_job(cluster):
    requeued(cluster, "an administrator powered the VM off",
             lambda node: cluster.do("powerOff", vm=node))


def test_a_reset_requeues_the_job(cluster):
    """The VM boots again without vCenter's doing."""
    requeued(cluster, "the VM was reset", lambda node: cluster.qmp(node, "system_reset"))
