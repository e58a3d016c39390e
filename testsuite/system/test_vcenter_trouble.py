# SPDX-License-Identifier: GPL-2.0-or-later
"""The vCenter client alone, when something goes wrong."""

import socket
import threading
import time

import pytest

from daemons import patience, patient
from vclive import clone, pair, start, world   # noqa: F401


# ---- trouble -----------------------------------------------------------------

def test_an_expired_session_costs_one_login_and_no_task(start):
    w = world()
    w["durations"]["CloneVM_Task"] = "2s"
    sim = start(w)
    live = start.live(sim).up()
    i = live.send(f"clone vm001 host={live.host('esx01')['moid']}")
    live.wait("started", id=i)
    sim.do("expireSessions")
    assert live.wait("down")["code"] == "retry"
    live.wait("load_begin")
    live.wait("load_end")
    assert live.wait("done", id=i)["code"] == "ok"
    assert live.vm("vm001")
    assert sim.calls("Login") == 2 and sim.calls("CloneVM_Task") == 1


def test_a_task_that_a_restart_forgot_keeps_nobody_away(start):
    """Its outcome is unknown; the client comes back all the same."""
    w = world()
    w["durations"]["CloneVM_Task"] = "20s"
    sim = start(w)
    live = start.live(sim).up()
    i = live.send(f"clone vm001 host={live.host('esx01')['moid']}")
    live.wait("started", id=i)
    sim.do("restart")
    assert live.wait("down")
    live.until("the outcome is known to be unknown", lambda: [
        e for e in live.seen if e["event"] == "done" and e["id"] == i and
        e["code"] == "unknown"])
    live.until("it is back", lambda: len([
        e for e in live.seen if e["event"] == "load_end"]) == 2)
    assert sim.calls("CloneVM_Task") == 1


def test_a_call_on_an_expired_session_did_not_start(pair):
    sim, live = pair
    sim.fault(on="request", method="CloneVM_Task", count=1,
              fault={"_typeName": "NotAuthenticated",
                     "object": {"_typeName": "ManagedObjectReference",
                                "type": "Folder", "value": "group-d1"},
                     "privilegeId": "System.View"})
    assert clone(live, "vm001")["code"] == "relogin"
    live.up()
    assert clone(live, "vm001")["code"] == "ok"


@pytest.mark.parametrize("when", ["request", "reply"])
def test_a_lost_reply_is_unknown_and_never_resent(pair, when):
    sim, live = pair
    sim.fault(on=when, method="CloneVM_Task", count=1,
              drop="before" if when == "request" else "after")
    assert clone(live, "vm001")["code"] == "unknown"
    live.quiet(1, "done", "down")
    # The rule is spent: a second request would have been carried out.
    assert (sim.vm("vm001") is not None) == (when == "reply")
    assert (live.vm("vm001") is not None) == (when == "reply")
    if when == "reply":
        assert sim.calls("CloneVM_Task") == 1


def test_what_was_sent_is_unknown_though_nobody_listens_any_more(start):
    """A kept connection dies after the request; libcurl connects once more by
    itself, and is refused. That is no sign that nothing was sent."""
    sim = start()
    proxy = start.proxy(sim)
    live = start.live(sim, url=proxy.url).up()
    live.tell("slow")       # its connection is kept for what comes next
    live.wait("slow")
    proxy.go_away_at_the_next_request()
    done = clone(live, "vm001")
    assert proxy.cut == 1
    assert done["code"] == "unknown", done["text"]
    until = time.monotonic() + patient(5)
    while sim.calls("CloneVM_Task") != 1:
        assert time.monotonic() < until, "it was not sent"
        time.sleep(0.05)


def test_only_the_logins_reply_names_the_session(start):
    """A header in another reply, from a proxy or from an attacker who can make
    vCenter send one, takes nothing over."""
    sim = start()
    proxy = start.proxy(sim)
    proxy.add_to_replies("vmware-api-session-id: 0000-not-ours", start.work)
    live = start.live(sim, url=proxy.url, ca=proxy.ca).up()
    assert clone(live, "vm001")["code"] == "ok"
    assert proxy.cut > 5
    assert sim.calls("Login") == 1


@pytest.mark.parametrize("spoil", [
    {"truncate": 10}, {"http": 502, "body": "<html>bad gateway</html>"},
    {"body": "{\"_typeName\":"}, {"body": "7"}, {"body": "[" * 500},
    {"http": 500, "body": "<?xml version=\"1.0\"?><x/>"}, {"body": ""},
])
def test_an_answer_that_is_none_leaves_the_outcome_unknown(pair, spoil):
    sim, live = pair
    sim.fault(on="reply", method="CloneVM_Task", count=1, **spoil)
    assert clone(live, "vm001")["code"] == "unknown"
    live.until("it is seen", lambda: live.vm("vm001") is not None)
    assert live.run(f"power_on {live.vm('vm001')['moid']}")["code"] == "ok"
    live.quiet(0.3, "down")


def test_a_stalled_vcenter_ends_calls_at_their_deadline(start):
    sim = start()
    live = start.live(sim, timeout_ms=1000).up()
    host = live.host("esx01")["moid"]
    stall = 1 + 3 * patience()
    sim.do("stall", duration=f"{stall}s")
    before = time.monotonic()
    i = live.send(f"clone vm001 host={host}")
    assert live.wait("done", id=i)["code"] == "unknown"
    assert time.monotonic() - before < stall - 1
    live.until("it is up and sees what came of it",
               lambda: live.vm("vm001") or time.monotonic() > before + stall + 5, stall + 8)
    assert sim.calls("Login") == 1


@pytest.fixture
def elsewhere():
    """A port on loopback, and how many have connected to it."""
    class Elsewhere:
        asked = 0

        def run(self):
            while True:
                try:
                    self.sock.accept()[0].close()
                except OSError:
                    return
                self.asked += 1
    e = Elsewhere()
    e.sock = socket.create_server(("127.0.0.1", 0))
    e.at = f"127.0.0.1:{e.sock.getsockname()[1]}"
    thread = threading.Thread(target=e.run, daemon=True)
    thread.start()
    yield e
    e.sock.shutdown(socket.SHUT_RDWR)
    e.sock.close()
    thread.join(5)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("scheme", ["https", "http"])
def test_a_redirect_is_not_followed(start, elsewhere, status, scheme):
    """Login's body has the password."""
    sim = start()
    sim.fault(on="request", method="Login", count=1, http=status, body="",
              location=f"{scheme}://{elsewhere.at}/sdk")
    live = start.live(sim)
    assert str(status) in live.wait("down")["text"]
    live.up()
    assert elsewhere.asked == 0


@pytest.mark.parametrize("name", ["https_proxy", "HTTPS_PROXY", "all_proxy",
                                  "ALL_PROXY"])
def test_a_proxy_of_the_environment_is_not_used(start, elsewhere, monkeypatch,
                                                name):
    monkeypatch.setenv(name, f"http://{elsewhere.at}")
    for no in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(no, raising=False)
    start.live(start()).up()
    assert elsewhere.asked == 0


def test_a_lost_wait_is_asked_again_without_loading_anew(pair):
    sim, live = pair
    sim.fault(on="reply", method="WaitForUpdatesEx", count=2, truncate=5)
    vm = clone(live, "vm001")["result"]
    live.until("it is seen", lambda: vm in live.vms)
    assert not [e for e in live.seen if e["event"] == "down"]
    assert sim.calls("Login") == 1


def test_a_lost_version_loads_anew_without_a_login(pair):
    sim, live = pair
    sim.fault(on="request", method="WaitForUpdatesEx", count=1,
              fault={"_typeName": "InvalidCollectorVersion"})
    sim.do("rename", vm="foreign1", name="foreign2")
    live.wait("load_begin", 15)
    live.wait("load_end")
    assert sim.calls("Login") == 1
    assert clone(live, "vm001")["code"] == "ok"


def test_an_interrupted_load_begins_again(start):
    sim = start()
    sim.fault(on="reply", method="WaitForUpdatesEx", count=4, truncate=5)
    sim.fault(on="reply", method="RetrievePropertiesEx", count=1,
              truncate=40)
    start.live(sim).wait("load_end", 30)


def test_a_page_that_was_lost_is_not_waited_for(start):
    """When libcurl itself requests the page again, it no longer exists. The client
    loads again at once, and does not back off for a minute as after an error."""
    w = world()
    w["datacenters"][0]["networks"] += [
        {"name": f"net{i:03d}"} for i in range(110)]
    sim = start(w)
    sim.fault(on="reply", method="ContinueRetrievePropertiesEx", count=1,
              drop="after")
    start.live(sim).wait("load_end", 15)


def test_a_reply_beyond_the_bound_is_refused(start):
    live = start.live(start(), max_body=3000)
    down = live.wait("down", 15)
    assert "larger than allowed" in down["text"]
    live.tell("stats")
    assert not live.wait("stats")["up"]


def test_no_session_key_stands_in_what_is_said_of_a_call(start):
    """Views and collectors are called session[KEY]ID, also in URLs and in
    vCenter's own words."""
    sim = start()
    gone = "The object 'vim.view.ContainerView:session[52aa-bb]52cc-dd' " \
        "has already been deleted or has not been completely created"
    sim.fault(on="request", method="CreateContainerView", count=1,
              fault={"_typeName": "ManagedObjectNotFound"}, message=gone)
    live = start.live(sim)
    assert "ContainerView:session[]' has" in live.wait("down")["text"]
    live.tell("retry")
    live.up()
    sim.fault(on="request", method="WaitForUpdatesEx", http=503, body="x",
              count=8)
    down = live.wait("down", 30)
    assert "PropertyCollector/session[]/WaitForUpdatesEx: HTTP 503" in \
        down["text"]


@pytest.mark.faults
def test_a_task_that_fails_has_its_fault_and_code(pair):
    sim, live = pair
    sim.fault(on="task", method="PowerOnVM_Task", count=1,
              fault={"_typeName": "InsufficientMemoryResourcesFault",
                     "unreserved": 1, "requested": 2},
              message="The host does not have sufficient memory.")
    vm = clone(live, "vm001")["result"]
    done = live.run(f"power_on {vm}")
    assert done["code"] == "other-host"
    assert done["fault"] == "InsufficientMemoryResourcesFault"
    assert done["text"] == "The host does not have sufficient memory."


def test_calls_while_down_are_refused_at_once(start):
    sim = start()
    live = start.live(sim).up()
    host = live.host("esx01")["moid"]
    sim.do("setPassword", user="slurm@vsphere.local", password="another")
    sim.do("expireSessions")
    live.wait("down", code="login")
    sent = live.send(f"clone vm001 host={host}")
    assert sent["code"] == "retry" and "not connected" in sent["text"]


def test_the_session_is_given_back_at_the_end(start):
    sim = start()
    live = start.live(sim).up()
    live.tell("quit")
    live.proc.wait(10)
    assert sim.calls("Logout") == 1
