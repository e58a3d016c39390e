# SPDX-License-Identifier: GPL-2.0-or-later
"""Who catches an operator's order on its way can neither read it nor
have another slurmctld obey it."""

import re

import pytest

from channel import ORDERS, Caught, asked, order_fields
from cluster import wait_for
from daemons import TOP
from users import DAEMON, NOBODY, needs_root

HOST = "esx01.example.org"


def drained(c):
    """Does slurm-vsphere keep VMs away from the host?"""
    return {h["host"]: h["state"] for h in c.svf("hosts")["hosts"]}[HOST] == \
        "DRAINED"


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


READS = {"hosts", "nodes", "jobs", "why", "status", "clone-sources", "plan",
         "reconcile", "check", "recheck", "objects"}


def test_every_verb_is_known_here():
    text = (TOP / "src/common/engine/control/server.c").read_text()
    table = text[text.index("} verbs[] = {"):]
    table = table[:table.index("};")]
    assert set(re.findall(r'{ "([^"]+)",', table)) == READS | set(ORDERS)


@needs_root
@pytest.mark.parametrize("verb", sorted(ORDERS))
def test_no_order_of_an_ordinary_user_is_obeyed(cluster, verb):
    """svf is only one program: this one sends the order as it is."""
    calls, hosts = cluster.mutating(), cluster.svf("hosts")["hosts"]
    for uid in (NOBODY, DAEMON):
        parts = asked(cluster, uid, verb,
                      **order_fields(verb, "vm001", HOST))
        assert [p["error"] for p in parts] == [
            f"{verb}: only root, SlurmUser and operators of Slurm may do that"]
    assert cluster.mutating() == calls
    assert [h["state"] for h in cluster.svf("hosts")["hosts"]] == \
        [h["state"] for h in hosts]


@needs_root
def test_the_same_orders_are_obeyed_of_root(cluster):
    """So it is not for its form that one is refused above."""
    for verb in ("drain", "resume"):
        parts = asked(cluster, 0, verb, **order_fields(verb, "vm001", HOST))
        assert parts and "error" not in parts[0]
        wait_for(verb, 10, lambda: drained(cluster) == (verb == "drain"))
