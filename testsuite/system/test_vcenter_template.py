# SPDX-License-Identifier: GPL-2.0-or-later
"""The vCenter client alone: what stands behind a configured name is changed,
deleted and made again."""

import json
import queue
import time

import pytest

from daemons import patient
from vclive import clone, pair, start, world   # noqa: F401

TEMPLATE = world()["datacenters"][0]["templates"][0]
ELSEWHERE = ("; clone a template of another datacenter into it, or deploy an "
             "item of a content library (govc library.deploy)")


def add(sim, name="rhel9", **over):
    sim.do("addVm", spec={**TEMPLATE, "name": name, "template": True, **over})


def beat(live, event="template_changed"):
    """A slow beat, or a few, until this is told."""
    end = time.monotonic() + patient(10)
    while time.monotonic() < end:
        live.tell("slow")
        while True:
            try:
                e = live.next(1)
            except queue.Empty:
                break
            if e["event"] == event:
                return e
            if e["event"] == "slow":
                break
    raise AssertionError(f"no {event}")


def until(test):
    end = time.monotonic() + patient(10)
    while not test():
        assert time.monotonic() < end
        time.sleep(0.02)


def gone(sim, name="rhel9"):
    sim.do("destroyVm", vm=name)
    until(lambda: sim.vm(name) is None)


def test_a_template_that_changes_is_told_on_the_slow_beat(pair):
    sim, live = pair
    before = live.seen[0]["templates"][0]
    sim.do("setExtra", vm="rhel9", key="a", value="b")
    t = beat(live)["template"]
    assert t["moid"] == before["moid"] and "missing" not in t
    assert t["change_version"] != before["change_version"]
    beat(live, "slow")
    live.tell("slow")
    live.quiet(1, "template_changed")


def test_a_template_whose_host_is_away_or_another_is_told(pair):
    """Neither changes its version."""
    sim, live = pair
    t = live.seen[0]["templates"][0]
    assert t["link"] == "yes"
    was = live.host("esx01")["moid"]
    assert t["host"] == was
    sim.do("hostState", host="esx01", state="notResponding")
    away = beat(live)["template"]
    assert (away["host"], away["link"]) == (was, "no")
    assert away["change_version"] == t["change_version"]
    sim.do("hostState", host="esx01", state="connected")
    assert beat(live)["template"]["link"] == "yes"
    sim.do("migrate", vm="rhel9", host="esx02")
    assert beat(live)["template"]["host"] == live.host("esx02")["moid"]


def test_a_template_made_again_under_its_name_is_found(pair):
    sim, live = pair
    old = live.seen[0]["templates"][0]
    gone(sim)
    add(sim)
    t = beat(live)["template"]
    assert t["moid"] != old["moid"] and "missing" not in t
    assert clone(live, "vm001", "esx01", "mgmt=00:50:56:00:09:09")[
        "code"] == "ok"
    assert sim.calls("Login") == 1


def test_a_template_that_is_gone_is_said_and_no_failure(pair):
    sim, live = pair
    gone(sim)
    t = beat(live)["template"]
    assert (t["moid"], t["change_version"]) == ("", "")
    assert t["missing"] == (
        "Template=rhel9: vCenter has no VM template of that name in "
        'datacenter "DC0"' + ELSEWHERE)
    sent = live.send(f"clone vm001 host={live.host('esx01')['moid']}")
    assert sent["code"] == "shortage" and sent["text"] == t["missing"]
    beat(live, "slow")
    live.tell("slow")
    live.quiet(1, "template_changed", "down")      # told once
    add(sim)
    assert "missing" not in beat(live)["template"]
    assert clone(live, "vm001")["code"] == "ok"
    assert sim.calls("CloneVM_Task") == 1


def test_an_image_that_is_still_being_built_is_not_cloned(pair):
    """It has the name before it is a template."""
    sim, live = pair
    gone(sim)
    add(sim, template=False)
    t = beat(live)["template"]
    assert t["moid"] == ""
    assert t["missing"].startswith(
        "Template=rhel9: the VM of that name is not a template")
    sim.do("markTemplate", vm="rhel9")
    t = beat(live)["template"]
    assert t["moid"] == sim.vm("rhel9")["moid"] and "missing" not in t
    sim.do("markVm", vm="rhel9")            # an administrator patches it
    assert beat(live)["template"]["missing"]


def test_a_renamed_template_is_left_for_the_one_with_the_name(pair):
    sim, live = pair
    sim.do("rename", vm="rhel9", name="rhel9-old")
    until(lambda: sim.vm("rhel9-old"))
    assert beat(live)["template"]["moid"] == ""
    add(sim)
    assert beat(live)["template"]["moid"] == sim.vm("rhel9")["moid"]


def test_the_start_needs_no_template(start):
    w = world()
    w["datacenters"][0]["templates"].append({**TEMPLATE, "name": "rhel9-b"})
    sim = start(w)
    live = start.live(sim, template=["rhel8", "rhel9-b"])
    a, b = live.wait("up", 15)["templates"]
    live.up()
    assert a["moid"] == "" and a["missing"] == (
        "Template=rhel8: vCenter has no VM template of that name in "
        'datacenter "DC0"' + ELSEWHERE + '; there are: rhel9, rhel9-b')
    assert b["moid"] and "missing" not in b
    assert clone(live, "vm001", "esx01", "template=1")["code"] == "ok"
    add(sim, "rhel8")
    assert beat(live)["template"]["moid"] == sim.vm("rhel8")["moid"]


def test_a_template_in_a_folder_is_found_by_name_and_by_path(start):
    w = world()
    w["datacenters"][0]["folders"].append("images")
    w["datacenters"][0]["templates"][0]["folder"] = "images"
    sim = start(w)
    for name in ("rhel9", "images/rhel9"):
        live = start.live(sim, template=name)
        t = live.wait("up", 15)["templates"][0]
        assert t["moid"] == sim.vm("rhel9")["moid"], name
        live.up()
        beat(live, "slow")
        live.quiet(0.2, "template_changed", "down")


def test_two_templates_of_one_name_are_not_guessed(start):
    """vhpc-toolkit: names resolved bare, the first of two was taken."""
    w = world()
    w["datacenters"][0]["folders"] += ["a", "b"]
    w["datacenters"][0]["templates"] = [
        {**TEMPLATE, "folder": "a"}, {**TEMPLATE, "folder": "b"}]
    live = start.live(start(w))
    t = live.wait("up", 15)["templates"][0]
    assert t["moid"] == "" and "two templates of that name" in t["missing"]


def test_a_search_that_fails_costs_no_session(pair):
    sim, live = pair
    gone(sim)
    sim.fault(on="request", method="FindByInventoryPath", http=503, body="x",
              count=1)
    live.tell("slow")
    live.quiet(1, "slow", "down", "template_changed")
    assert beat(live)["template"]["missing"]


def values(up, left_out):
    """The slow beat's answer, as vCenter gives it for what is not there: not at
    all."""
    objs = [("ResourcePool", up["clusters"][0]["pool"]),
            ("Datastore", up["datastore"]), ("Folder", up["folder"]),
            ("VirtualMachine", up["templates"][0]["moid"])]
    objs += [("DistributedVirtualPortgroup", n["moid"])
             for n in up["networks"]]
    i = [t for t, _ in objs].index(left_out)
    return json.dumps({"_typeName": "RetrieveResult", "objects": [{
        "_typeName": "ObjectContent",
        "obj": {"_typeName": "ManagedObjectReference", "type": t, "value": m},
        "propSet": []} for t, m in objs[:i] + objs[i + 1:]]})


@pytest.mark.parametrize("what,key", [
    ("DistributedVirtualPortgroup", "Network=ROCE-PG"),
    ("Folder", "Folder=slurm"), ("Datastore", "Datastore=vsan"),
    ("ResourcePool", "ResourcePool=slurm")])
def test_anything_else_that_is_gone_has_all_names_looked_up(pair, what, key):
    sim, live = pair
    sim.fault(on="request", method="RetrievePropertiesEx", http=200, count=1,
              body=values(live.seen[0], what))
    live.tell("slow")
    down = live.wait("down")
    assert down["code"] == "retry" and down["text"].startswith(key + ": ")
    assert "all names are looked up again" in down["text"]
    live.wait("up")
    live.up()
    assert clone(live, "vm001")["code"] == "ok"
    assert sim.calls("Login") == 2


def test_a_beat_that_is_refused_for_what_is_gone_is_heard_too(pair):
    sim, live = pair
    sim.fault(on="request", method="RetrievePropertiesEx", count=1,
              fault={"_typeName": "ManagedObjectNotFound"})
    live.tell("slow")
    assert live.wait("down")["code"] == "retry"
    live.up()


@pytest.mark.parametrize("what,says", [
    ({"tpm": True}, "Template=rhel9: the template has a virtual TPM, whose clones "
                    "need a key provider and Cryptographer privileges"),
    ({"encrypted": True}, "Template=rhel9: the template is encrypted, and clones need")])
def test_an_encrypted_template_is_not_cloned(pair, what, says):
    sim, live = pair
    gone(sim)
    beat(live)
    add(sim, **what)
    t = beat(live)["template"]
    assert t["moid"] == "" and t["missing"].startswith(says)
    sent = live.send(f"clone vm001 host={live.host('esx01')['moid']}")
    assert sent["code"] == "shortage"
    assert sim.calls("CloneVM_Task") == 0
    sim.do("destroyVm", vm="rhel9")
    until(lambda: not sim.vm("rhel9"))
    add(sim)
    assert "missing" not in beat(live)["template"]
    assert clone(live, "vm001")["code"] == "ok"


@pytest.mark.parametrize("role", ["View", "NoAccess"])
def test_a_template_that_may_be_read_no_more_is_said_so(pair, role):
    sim, live = pair
    user = world()["users"][0]["name"]
    sim.do("permissions", permissions=[
        {"user": user, "role": "Admin"},
        {"user": user, "role": role, "entity": "DC0/vm/rhel9"}])
    t = beat(live)["template"]
    assert t["moid"] == "" and t["missing"] == (
        "Template=rhel9: the template cannot be read: the account of VCenterUser= needs "
        "Read-only on it")
    sim.do("permissions", permissions=[])
    t = beat(live)["template"]
    assert t["moid"] == sim.vm("rhel9")["moid"] and "missing" not in t
    assert clone(live, "vm001")["code"] == "ok"
    assert sim.calls("Login") == 1
