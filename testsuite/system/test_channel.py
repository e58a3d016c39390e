# SPDX-License-Identifier: GPL-2.0-or-later
"""Who catches an operator's order on its way can neither read it nor
have another slurmctld obey it."""

import pytest

from channel import Caught
from cluster import wait_for
from users import DAEMON, NOBODY, needs_root

HOST = "esx01.example.org"


def drained(c):
    """Does slurm-vsphere keep VMs away from the host?"""
    return {h["host"]: h["state"] for h in c.svf("hosts")["hosts"]}[HOST] == \
        "drained"


def refused(c):
    return c.ctld_log().count("verb=drain JobId=0 uid=0 bytes=0 refused: the "
                              "request is for controller ")


@needs_root
@pytest.mark.parametrize("uid", [NOBODY, DAEMON])
def test_another_user_at_the_port_cannot_open_an_order(cluster, uid):
    caught = Caught(cluster, uid, "host", "drain", HOST, "a secret reason",
                    opens=True)
    assert caught.svf.returncode == 3
    assert "closed the connection without an answer" in caught.svf.stderr
    assert "nauthorized" in caught.opened and HOST not in caught.opened
    assert not drained(cluster)


@needs_root
@pytest.mark.parametrize("change", [
    {r"(?m)^SlurmctldHost=.*$": "SlurmctldHost=elsewhere(127.0.0.1)"},
    {r"(?m)^ClusterName=vstest$": "ClusterName=another"}], ids=list("ab"))
def test_an_order_for_another_controller_is_refused(cluster, change):
    caught = Caught(cluster, NOBODY, "host", "drain", HOST, conf=change)
    was = refused(cluster)
    assert caught.hand_over(cluster.control_port), "the sender may know why"
    wait_for("it is refused", 10, lambda: refused(cluster) == was + 1)
    assert not drained(cluster)


@needs_root
def test_an_order_for_this_controller_is_obeyed_once(cluster):
    """It is the name that is minded, not the way that it came."""
    caught = Caught(cluster, NOBODY, "host", "drain", HOST, conf={})
    assert caught.hand_over(cluster.control_port)
    wait_for("the host is drained", 10, lambda: drained(cluster))
    cluster.must("svf", "host", "resume", HOST)
    wait_for("it is not", 10, lambda: not drained(cluster))
    assert not caught.hand_over(cluster.control_port), "munge knows it"
    assert not drained(cluster)


