# SPDX-License-Identifier: GPL-2.0-or-later
"""The vCenter client alone: connections cut at any byte of any request and any
reply, answers that are empty, cut, malformed, of another kind or too large.

VS_CUTS=1 takes every byte, VS_CUTS=16 each sixteenth; by default it is the edges
and some between them.
"""

import os
import random

import pytest

from vclive import WORLD, clone, start, world   # noqa: F401
from vcproxy import CutProxy

# On the way from an address to the inventory, in order.
START = ["system?action=hello", "content", "Login", "RetrievePropertiesEx",
         "FindByInventoryPath", "CreateContainerView", "CreateListView",
         "CreatePropertyCollector", "CreateFilter", "WaitForUpdatesEx"]


def points(length, some):
    edges = {0, length // 2, length - 1}
    if os.environ.get("VS_CUTS"):
        return sorted(edges | set(range(0, length, int(os.environ["VS_CUTS"]))))
    rest = random.Random(length).sample(range(length), min(some, length))
    return sorted(edges | set(rest))


@pytest.fixture
def cut(start):
    w = world()
    w["durations"]["CloneVM_Task"] = "10ms"
    sim = start(w)
    proxy = CutProxy(sim, start.work)
    live = start.live(sim, url=proxy.url, ca=proxy.ca).up()
    yield sim, proxy, live
    live.tell("quit")
    live.proc.wait(15)
    proxy.stop()


def loads(live):
    return sum(e["event"] == "load_end" for e in live.seen)


def back_up(sim, live, to_cut=()):
    """Ends the session, and waits until all that is to be cut has been cut and the
    client is back, without its backoff. The client may first report a load from
    before the end. Then it has a session again, which must end, too. Returns how
    often that happened."""
    was, end, again = loads(live), [0], [0]
    sim.do("expireSessions")

    def there():
        if len(live.seen) > end[0]:
            end[0] = len(live.seen)
            if live.seen[-1]["event"] == "down":
                live.tell("retry")
        n = loads(live) - was - again[0]
        if n > 0 and to_cut:
            again[0] += 1
            sim.do("expireSessions")
        return n > 0 and not to_cut
    live.until("all is cut, and it is back", there, 30)
    return again[0]


@pytest.mark.parametrize("which", ["request", "reply"])
def test_a_clone_cut_at_any_byte_is_never_done_twice(cut, which):
    sim, proxy, live = cut
    assert clone(live, "whole")["code"] == "ok"
    length = proxy.lengths["CloneVM_Task"][which == "reply"]
    for at in points(length, 6):
        name, calls = f"at{at}", sim.calls("CloneVM_Task")
        proxy.rules.append(["CloneVM_Task", which, at])
        done = clone(live, name)
        assert done["code"] in ("unknown", "retry"), (at, done)
        assert which == "request" or done["code"] == "unknown", (at, done)
        if which == "reply":
            live.until("it is seen", lambda n=name: live.vm(n) is not None)
            assert sim.calls("CloneVM_Task") == calls + 1, at
        else:
            assert sim.vm(name) is None, "what wasn't sent whole is not done"
            assert sim.calls("CloneVM_Task") == calls, at
        assert not proxy.rules
    assert clone(live, "after")["code"] == "ok"
    assert sim.calls("Login") == 1


@pytest.mark.parametrize("method", START)
def test_a_start_cut_at_any_byte_of_a_call_begins_again(cut, method):
    sim, proxy, live = cut
    if method not in proxy.lengths:
        pytest.skip("not among the calls of this vCenter's start")
    lengths, again = proxy.lengths[method], 0
    for which, length in zip(("request", "reply"), lengths):
        for at in points(length, 0):
            if method in START[:2]:     # not said again by a mere new login
                proxy.rules.append(["Login", "reply", 0])
            proxy.rules.append([method, which, at])
            again += back_up(sim, live, proxy.rules)
    assert clone(live, "after")["code"] == "ok"
    counters = sim.ask("counters")
    assert counters["failedLogins"] == 0
    assert counters["logins"] <= 3 * proxy.cut + 1 + again


SPOILT = [{"body": ""}, {"body": "{\"_typeName\":"}, {"body": "7"},
          {"body": "[null]"}, {"cut": 30}, {"garble": 5}, {"pad": 3000000},
          {"http": 502, "body": "<html>bad gateway</html>"},
          {"http": 500, "body": "<?xml version=\"1.0\"?><x/>"},
          {"http": 200, "body": "<html>a portal</html>"}]


@pytest.mark.parametrize("method", ["Login", "RetrievePropertiesEx",
                                    "CreateFilter", "WaitForUpdatesEx"])
def test_an_answer_that_is_none_is_survived_by_a_start(start, method):
    sim = start()
    live = start.live(sim, max_body=2000000).up()
    if not sim.calls(method):
        pytest.skip("not among the calls of this vCenter's start")
    hits = 0
    for spoil in SPOILT:
        sim.fault(on="reply", method=method, count=1, **spoil)
        back_up(sim, live)
        sim.ask("faults", method="DELETE")
        hits += 1
    # A login is asked for again only where vCenter has not refused it.
    assert sim.ask("counters")["failedLogins"] == 0
    assert clone(live, "after")["code"] == "ok"
    assert sim.ask("counters")["faults"] >= hits - 2
