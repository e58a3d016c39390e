# SPDX-License-Identifier: GPL-2.0-or-later
"""svf-probe on the simulator: each question has its answer, a vCenter that
behaves otherwise gets another one, and nothing is left behind."""

import copy
import json
import os
import pathlib
import signal
import subprocess

import pytest

from daemons import wait_for
from vclive import BUILD, PASSWORD, WORLD, Sim

PROBE = pathlib.Path(os.environ.get("VS_PROBE",
                                    BUILD / "contribs/probe/svf-probe"))
if not PROBE.exists() and os.environ.get("VS_ROOT"):
    PROBE = next(pathlib.Path(os.environ["VS_ROOT"]).glob("usr/**/svf-probe"),
                 PROBE)


def vcenter(change=None):
    w = copy.deepcopy(WORLD)
    w["datacenters"][0]["folders"] = ["slurm", "probe"]
    w["durations"].update({"CloneVM_Task": "200ms", "HaRestart": "200ms"})
    # What a report must not have in it.
    w["datacenters"][0]["clusters"][0]["hosts"][0]["name"] = "esx%02d.example.org"
    for v in w["datacenters"][0]["templates"] + w["datacenters"][0]["vms"]:
        v["host"] = "esx01.example.org"
    if change:
        change(w, w["datacenters"][0]["clusters"][0])
    return w


class Probe:
    def __init__(self, work, change=None):
        self.work = work
        self.sim = Sim(work, vcenter(change))
        self.password = work / "password"
        self.password.write_text(PASSWORD)
        self.password.chmod(0o600)

    def argv(self, *more, folder="probe"):
        return [str(a) for a in (
            PROBE, "--vcenter", self.sim.url, "--username",
            "slurm@vsphere.local", "--password-file", self.password,
            "--ca-file", self.sim.ca, "--datacenter", "DC0", "--datastore",
            "vsan", "--cluster", "HPC1", "--pool", "slurm", "--network",
            "ROCE-PG", "--template", "rhel9", "--memory", 64, "--folder",
            folder, "--yes", "--quick", *more)]

    def run(self, *more, **kw):
        return subprocess.run(self.argv(*more, **kw), text=True, timeout=120,
                              stdin=subprocess.DEVNULL, capture_output=True)

    def answers(self, *more):
        report = self.work / "report.json"
        r = self.run("--json", report, *more)
        assert r.returncode == 0, r.stderr
        self.said = r.stdout + report.read_text()
        return {a["id"]: a for a in json.loads(report.read_text())["answers"]}

    def start(self, *more):
        return subprocess.Popen(self.argv(*more), text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=open(self.work / "stderr", "w"))

    def vms(self):
        return [v for v in self.sim.ask("state")["vms"]
                if v["folder"].endswith("/probe")]

    def is_clean(self):
        """Now, with nothing under way that could still become a VM."""
        state = self.sim.ask("state")
        assert [t for t in state["tasks"] if t["state"] in (
            "queued", "running") and "Maintenance" not in t["method"]] == []
        n = self.sim.ask("counters")
        assert self.vms() == []
        # To the simulator, a VM whose uuid was replaced is nobody's.
        assert [t for t in n["notes"] if "probe-" not in t] == []
        assert n["foreignTouches"] <= 1 and n["foreignDisks"] == 0
        users = [vm for h in self.sim.ask("state")["hosts"]
                 for pf in h["pfs"] for vm in (pf["by"] or {}).values()]
        assert set(users) <= {"foreign1"}


@pytest.fixture
def probe(tmp_path):
    made = []

    def make(change=None):
        made.append(Probe(tmp_path, change))
        return made[-1]
    yield make
    for p in made:
        p.sim.stop()


READ = {"version", "drs", "ha", "rights", "placevm", "ports", "binding", "pool", "size",
        "tasks", "empty", "poll", "vanished", "boxes", "keyed", "subtype",
        "pages"}
CHANGE = {"clone", "duplicate", "uuid", "cancel", "guestinfo", "relocate",
          "parallel", "automatic", "order", "host", "shortage"}


def test_every_question_is_answered_and_all_is_cleaned_up(probe):
    p = probe()
    got = p.answers()
    assert set(got) == READ | CHANGE
    # No IB port and fewer VMs than a page has: nothing can be said.
    assert {k: v["agrees"] for k, v in got.items() if v["agrees"] != "yes"} \
        == {"ports": "unknown", "pages": "unknown", "rights": "no"}
    assert "too many at the root: " in got["rights"]["seen"]
    assert all(a["seen"] != "nothing" for a in got.values())
    p.is_clean()
    for name in ("esx0", "example.org", "HPC1", "vsan", "slurm@", "rhel9",
                 "ROCE-PG", "foreign1", PASSWORD, "127.0.0.1"):
        assert name not in p.said
    assert "GenericVmConfigFault" in got["shortage"]["seen"]


def test_read_only_changes_nothing(probe):
    p = probe()
    assert set(p.answers("--read-only")) == READ
    assert p.sim.ask("counters")["mutating"] == 0


def test_a_plan_is_made_without_vcenter(probe):
    p = probe()
    r = p.run("--plan")
    assert r.returncode == 0 and "maintenance" in r.stdout
    assert all(q in r.stdout for q in READ | CHANGE)
    assert p.sim.ask("counters")["logins"] == 0


def top(**keys):
    return lambda w, c: w.update(keys)


def cluster(**keys):
    return lambda w, c: c.update(keys)


def port(**keys):
    return lambda w, c: c["hosts"][0]["pnics"][1].update(keys)


def no_foreign(w, c):
    w["datacenters"][0]["vms"] = []


def no_vfs(w, c):
    no_foreign(w, c)
    c["hosts"][0]["pnics"][1]["sriov"]["active"] = False


@pytest.mark.parametrize("change, question, agrees, seen", [
    (top(about={"apiVersion": "8.0.1.0", "hello": False}), "version", "yes",
     "API release 8.0.1.0"),
    (top(emptyReply="null"), "empty", "yes", "HTTP 200, null"),
    (top(emptyReply="204"), "empty", "yes", "HTTP 204, no body"),
    (cluster(drs="fullyAutomated"), "drs", "no", "DRS on, fullyAutomated"),
    (cluster(drs="fullyAutomated"), "placevm", "yes", "recommendations"),
    (cluster(ha=True), "ha", "no", "HA on"),
    (port(speedMb=0), "ports", "yes", "no linkSpeed at all"),
    (top(taskSlots={"vcenter": 640, "host": 1, "datastore": 128},
         durations={"CloneVM_Task": "1s"}), "parallel", "no", "3 at once"),
    (cluster(drs="fullyAutomated", drsPerverse=True), "host", "no",
     "was the one asked for, it runs on a third one"),
    (top(vfRelease="700ms"), "shortage", "no", "tries)"),
    (port(sriov={"vfs": 8, "max": 63, "active": True}), "shortage", "unknown",
     "no PF can be filled"),
    (no_vfs, "clone", "unknown",
     "no host has a free VF"),
])
def test_another_vcenter_gets_another_answer(probe, change, question, agrees,
                                             seen):
    p = probe(change)
    a = p.answers("--only", question)[question]
    assert (a["agrees"], seen in a["seen"]) == (agrees, True), a["seen"]
    assert p.vms() == []


@pytest.mark.parametrize("question, rule, seen", [
    ("duplicate", {"on": "task", "method": "CloneVM_Task", "count": 1,
                   "fault": {"_typeName": "InvalidName"}}, "InvalidName"),
    ("relocate", {"on": "task", "method": "RelocateVM_Task",
                  "fault": {"_typeName": "DisallowedMigrationDeviceAttached"}}, "can't move"),
    ("vanished", {"on": "request", "method": "RetrievePropertiesEx",
                  "count": 1, "skip": 99, "fault": {"_typeName": "ManagedObjectNotFound"}},
     "1 of 2 objects"),
    ("clone", {"on": "task", "method": "CloneVM_Task",
               "fault": {"_typeName": "InvalidDeviceSpec"}}, "InvalidDeviceSpec"),
])
def test_a_fault_is_an_answer(probe, question, rule, seen):
    p = probe()
    p.sim.fault(**rule)
    a = p.answers("--only", question)[question]
    assert seen in a["seen"]
    assert a["agrees"] == ("yes" if "skip" in rule else "no")
    p.is_clean()


@pytest.mark.parametrize("question, instant", [
    ("parallel", lambda p: p.sim.calls("CloneVM_Task") == 1),
    ("parallel", lambda p: p.sim.calls("CloneVM_Task") == 4),
    ("shortage", lambda p: any(v["power"] == "poweredOn" for v in p.vms())),
    ("shortage", lambda p: p.sim.calls("CloneVM_Task") == 3),
    ("cancel", lambda p: p.sim.calls("CloneVM_Task") == 1)])
def test_who_stops_it_finds_nothing_left(probe, question, instant):
    p = probe()
    child = p.start("--only", question)
    wait_for("the instant", 20, lambda: instant(p), every=0.01)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    assert child.returncode == 1 and "it was stopped" in out, \
        (p.work / "stderr").read_text()
    p.is_clean()


def test_a_folder_that_is_not_empty_is_refused(probe):
    p = probe()
    p.sim.do("cloneVm", vm="rhel9", name="somebodys", folder="probe",
             wait=True)
    before = p.sim.ask("counters")["mutating"]
    r = p.run()
    assert r.returncode == 1 and "is not empty (1 objects)" in r.stderr
    assert p.sim.ask("counters")["mutating"] == before
    assert [v["name"] for v in p.vms()] == ["somebodys"]


def test_the_folder_of_a_cluster_is_refused(probe):
    p = probe()
    conf = p.work / "vsphere.conf"
    conf.write_text("Folder=slurm\n")
    r = p.run("--conf", conf, folder="slurm")
    assert r.returncode == 2 and "is the cluster's own" in r.stderr
    assert p.sim.ask("counters")["logins"] == 0


def watched(p, question, deed):
    """The answer to a question for which somebody does a deed."""
    report = p.work / "report.json"
    child = p.start("--only", question, "--hosts", "--json", report)
    for line in child.stdout:
        if "Press Enter" in line:
            break
    deed()
    child.communicate("\n", timeout=90)
    assert child.returncode == 0
    p.is_clean()
    return json.loads(report.read_text())["answers"][0]


def host_of(p):
    return p.vms()[0]["host"]


def test_a_host_on_its_way_into_maintenance_is_seen(probe):
    p = probe(no_foreign)
    a = watched(p, "maintenance", lambda: p.sim.do(
        "maintenance", host=host_of(p), mode="enter"))
    assert a["agrees"] == "yes"
    assert "the task is seen" in a["seen"]


def test_a_vcenter_that_restarts_is_seen(probe):
    p = probe()
    a = watched(p, "restart", lambda: p.sim.do("restart"))
    assert a["agrees"] == "yes" and "there under its id" in a["seen"]


@pytest.mark.parametrize("passthrough, agrees", [(False, "yes"), (True, "no")])
def test_what_ha_does_with_a_card_is_seen(probe, passthrough, agrees):
    p = probe(cluster(ha=True, haPassthrough=passthrough))
    failed = []

    def fail():
        failed.append(host_of(p))
        p.sim.do("failHost", host=failed[0])

    def heal():     # a VM on a dead host can't be removed
        if failed:
            p.sim.do("hostState", host=failed[0], state="connected")
    child = p.start("--only", "hostloss", "--hosts", "--json",
                    p.work / "report.json")
    for line in child.stdout:
        if "Press Enter" in line:
            break
    fail()
    child.stdin.write("\n")
    child.stdin.flush()
    wait_for("the question is over", 40, lambda: p.sim.calls("PowerOffVM_Task")
             or child.poll() is not None)
    heal()
    child.communicate(timeout=90)
    a = json.loads((p.work / "report.json").read_text())["answers"][0]
    assert a["agrees"] == agrees, a["seen"]
    assert p.vms() == []
