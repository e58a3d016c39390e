# SPDX-License-Identifier: GPL-2.0-or-later
"""svf-probe on the simulator: each question has its answer, a vCenter that
behaves otherwise gets another one, and nothing is left behind."""

import copy
import json
import os
import pathlib
import re
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
        # The simulator knows no owner of a VM whose uuid was replaced.
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


STAGES = ["TLS", "hello", "versions", "ServiceContent", "Login", "names",
          "RetrievePropertiesEx", "CreateFilter", "WaitForUpdatesEx"]
READ = {"version", "drs", "ha", "rights", "placevm", "ports", "binding", "pool", "size",
        "tasks", "empty", "poll", "vanished", "boxes", "keyed", "subtype",
        "pages", "truncated", "transcoder", "faultform", "checkclone",
        "checkconfig", "checkpower", "portkey", "connectable", "standard",
        "capacity", "emptypost", "removal", "linked", "instant", "backings",
        "latency", "mactwice", "session"}
CHANGE = {"clone", "result", "duplicate", "uuid", "cancel", "guestinfo", "relocate",
          "parallel", "automatic", "order", "host", "shortage"}


def all_there_is(w, c):
    """What the questions ask about: a snapshot, a standard network."""
    a_snapshot(w, c)
    w["datacenters"][0]["networks"] += [{"name": "Standard/1"}]


def a_task_fails(p):
    p.sim.fault(on="task", method="CloneVM_Task", count=1,
                fault={"_typeName": "InvalidArgument",
                       "invalidProperty": "spec.config"})
    assert p.run("--only", "clone").returncode == 0


def test_every_question_is_answered_and_all_is_cleaned_up(probe):
    p = probe(all_there_is)
    a_task_fails(p)
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


@pytest.mark.parametrize("text, words", [
    ('Mode=manage\nFolder="slurm # x\n',
     "vsphere.conf line 2: the quotes after Folder= are never closed"),
    ("SvfPort=1\nMode=manage\nsvfport=2\n",
     "vsphere.conf line 3: SvfPort is given twice, first in line 1"),
    ("Include more.conf\n",
     "vsphere.conf line 1: Include "),
    ("NewKey=1\n", 'vsphere.conf line 1: unknown key "NewKey"')])
def test_a_vsphere_conf_with_an_error_is_refused(probe, text, words):
    p = probe()
    conf = p.work / "vsphere.conf"
    conf.write_text(text)
    r = p.run("--conf", conf)
    assert r.returncode == 5 and f"svf-probe: {words}" in r.stderr
    assert p.sim.ask("counters")["logins"] == 0


def watched(p, question, deed):
    """The answer to a question during which an operator does an operation."""
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


# ---- what is asked of vCenter's own checkers ---------------------------------


def flat_or_nested(seen, fault):
    return f"{fault} (flat)" in seen or f"{fault} (nested)" in seen


@pytest.mark.parametrize("question, words", [
    ("checkclone", ["a clone without a NIC: no objection",
                    "given an address: no objection",
                    "an SR-IOV NIC in the clone: no objection"]),
    ("checkconfig", ["with a NIC: no objection"]),
    ("transcoder", ["TaskInfo.error: nested", "a reference: plain",
                    "an SR-IOV NIC: as we read it",
                    "a number in an OptionValue: boxed",
                    "a list in a DynamicProperty: boxed"]),
    ("emptypost", ["without Content-Type: HTTP 200",
                   "with Content-Type: HTTP 200"]),
    ("checkpower", ["a power-on of the template: NotSupported ("]),
    ("instant", ["an instant clone that edits a NIC: InvalidArgument ("]),
    ("truncated", ["the first set is truncated, the second is not"]),
    ("session", ["NotAuthenticated", "the client logged in again"]),
])
def test_what_a_read_only_question_sees(probe, question, words):
    p = probe()
    a = p.answers("--read-only", "--only", question)[question]
    assert a["agrees"] == "yes" and all(w in a["seen"] for w in words), a
    n = p.sim.ask("counters")
    assert n["mutating"] == 0 and n["calls"].get("CloneVM_Task", 0) == 0


@pytest.mark.parametrize("question, method, asked", [
    ("checkclone", "CheckClone_Task", 3),
    ("checkconfig", "CheckVmConfig_Task", 1),
    ("checkpower", "CheckPowerOn_Task", 1)])
def test_what_a_checker_finds_is_told(probe, question, method, asked):
    p = probe()
    p.sim.fault(on="task", method=method,
                fault={"_typeName": "InvalidArgument",
                       "invalidProperty": "spec.config"})
    a = p.answers("--read-only", "--only", question)[question]
    assert flat_or_nested(a["seen"], "InvalidArgument"), a["seen"]
    assert p.sim.calls(method) == asked


def test_an_older_vcenter_has_neither_checkers_nor_transcoder(probe):
    p = probe(top(about={"apiVersion": "8.0.1.0", "checkers": False,
                         "transcoder": False}))
    got = p.answers("--read-only", "--only",
                    "checkclone,checkconfig,transcoder")
    assert "has no VirtualMachineProvisioningChecker" in \
        got["checkclone"]["seen"]
    assert "has no VirtualMachineCompatibilityChecker" in \
        got["checkconfig"]["seen"]
    assert got["transcoder"]["seen"].count("HTTP 404") == 5
    assert {a["agrees"] for a in got.values()} == {"unknown"}
    assert p.sim.calls("CheckClone_Task") == 0


def test_a_checked_clone_names_the_same_devices_as_a_clone(probe):
    """The question is asked with the client's own specs."""
    p = probe()
    rec = p.work / "rec"
    p.answers("--only", "checkclone,clone", "--record", rec)
    sent = {}
    for e in index(rec):
        if e["path"].endswith(("CheckClone_Task", "/CloneVM_Task")):
            body = json.loads((rec / e["request"]).read_text())
            sent.setdefault(e["path"].split("/")[-1], []).append(
                body["spec"]["config"].get("deviceChange"))
    asked, made = sent["CheckClone_Task"], sent["CloneVM_Task"]
    assert asked[-1][-1] == made[0][-1]


def a_snapshot(w, c):
    w["datacenters"][0]["templates"][0]["snapshot"] = "base"


def test_a_linked_clone_is_asked_where_there_is_a_snapshot(probe):
    a = probe(a_snapshot).answers("--read-only", "--only", "linked")["linked"]
    assert a["agrees"] == "yes" and "no objection" in a["seen"], a


def reader(w, c):
    """The account may read everything, customization's specifications apart."""
    w["permissions"] = [{"user": "slurm@vsphere.local", "role": "ReadOnly"}]


@pytest.mark.parametrize("form", ["flat", "nested"])
def test_the_form_of_a_property_that_may_not_be_read_is_told(probe, form):
    def change(w, c):
        reader(w, c)
        w["faults"] = form
    a = probe(change).answers("--read-only", "--only", "faultform")["faultform"]
    assert f"CustomizationSpecManager: NoPermission ({form})" in a["seen"], a
    assert a["agrees"] == "yes"


def test_a_card_on_a_standard_network_goes_by_its_name(probe):
    p = probe(all_there_is)
    a = p.answers("--read-only", "--only", "standard")["standard"]
    assert a["agrees"] == "yes" and \
        a["seen"].count("NIC there: no objection") == 2, a
    assert "Standard/1" not in p.said


@pytest.mark.parametrize("question, why", [
    ("faultform", "ask again by an account that may not read"),
    ("standard", "the host has no standard network, so there is none to ask"),
    ("linked", "the template has no snapshot, and a linked clone needs one")])
def test_what_leaves_a_question_open_is_told(probe, question, why):
    a = probe().answers("--read-only", "--only", question)[question]
    assert a["agrees"] == "unknown" and why in a["seen"], a


def test_the_forms_of_recent_tasks_are_told(probe):
    p = probe()
    a_task_fails(p)
    assert p.run("--only", "clone").returncode == 0
    a = p.answers("--read-only", "--only", "faultform")["faultform"]
    assert flat_or_nested(a["seen"], "a task's error: InvalidArgument"), a
    assert "a reference of type VirtualMachine, plain" in a["seen"], a
    assert a["agrees"] == "yes"


def test_a_vapi_endpoint_that_restarts_is_seen(probe):
    p = probe()
    a = watched(p, "hello", lambda: p.sim.fault(
        on="request", method="hello", http=503, count=2))
    assert a["agrees"] == "yes", a["seen"]
    assert "HTTP 503; VI JSON works meanwhile; hello: HTTP 200" in a["seen"]


# ---- first contact, and what is recorded -------------------------------------


def index(rec):
    return [json.loads(x) for x in (rec / "index.jsonl").read_text()
            .splitlines()]


def everything(rec):
    return "".join(f.read_text() for f in sorted(rec.iterdir()))


def contact(p, *more):
    """The exit code, and the stages as the report has them."""
    report = p.work / "report.json"
    report.unlink(missing_ok=True)
    r = p.run("--json", report, *more)
    p.said = r.stdout + r.stderr
    return r.returncode, {s["stage"]: s for s in
                          json.loads(report.read_text())["contact"]}


def private(p):
    """What no recording may have: as the simulator and this test know it."""
    keys = p.sim.ask("keys")
    assert len(keys) >= 2
    return [PASSWORD, "127.0.0.1", "slurm@vsphere.local", "VSPHERE.LOCAL",
            "esx01", "esx02", "example.org", "foreign1", "HPC1", "ROCE-PG",
            "VM-PG", "dvs-rdma", "dvs-mgmt", '"rhel9"', "vm/rhel9", "DC0",
            "vsan"] + keys


def test_every_answer_is_recorded_without_names_and_secrets(probe):
    p = probe()
    rec = p.work / "rec"
    code, stages = contact(p, "--record", rec)
    assert code == 0 and list(stages) == STAGES
    assert all(s["result"] == "ok" and s["ms"] >= 0 for s in stages.values())
    assert "a truncated set among them" in stages["WaitForUpdatesEx"]["seen"]
    text = everything(rec)
    low = text.lower()
    assert [w for w in private(p) if w.lower() in low] == []
    others = re.sub(r'"\w*ersion":"[^"]*"', "", text)
    for ip in re.findall(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])",
                         others):
        assert ip.startswith(("198.18.", "255.")) or \
            re.fullmatch(r"[5-9]\.\d\.\d\.\d", ip) or ip == "0.0.0.0", ip
    for uuid in re.findall(r"[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}", low):
        assert uuid.startswith("00000000-0000-4000-8000-"), uuid
    assert "vmware-api-session-id" not in low and "set-cookie" not in low
    assert "authorization:" not in low
    rows = index(rec)
    assert [e["number"] for e in rows] == list(range(1, len(rows) + 1))
    assert {e["stage"] for e in rows} >= set(STAGES) - {"TLS"}
    files = {e[k] for e in rows for k in ("file", "request") if k in e}
    assert {f.name for f in rec.iterdir()} == files | {"index.jsonl"}
    for f in files:
        if f.endswith(".json"):
            json.loads((rec / f).read_text())
    login = [e for e in rows if e["stage"] == "Login"]
    assert login and all("request" not in e for e in login)
    for e in rows:
        assert e["method"] in ("GET", "POST") and e["path"].startswith("/")
        assert isinstance(e["status"], int) and "file" in e or not e["bytes"]
        assert e["headers"] or not e["status"]
    # what a decoder needs is still there
    for word in ("0000:3b:00.0", "poweredOn", "VirtualSriovEthernetCard",
                 '"type":"HostSystem"', "sriovActive", "slurm.vsphere.owner"):
        assert word in text, word


def test_equal_names_and_addresses_stay_equal(probe):
    p = probe()
    rec = p.work / "rec"
    contact(p, "--record", rec, "--only", "clone")
    hosts, macs = set(), set()
    for f in rec.glob("[0-9][0-9][0-9][0-9].json"):
        doc = json.loads(f.read_text())
        for o in walk(doc):
            if o.get("_typeName") in ("ObjectContent", "ObjectUpdate") and \
                    o["obj"]["type"] == "HostSystem":
                hosts |= {(o["obj"]["value"], v["val"]["_value"]) for v in
                          o.get("propSet", []) + o.get("changeSet", [])
                          if v["name"] == "name"}
            if "macAddress" in o:
                macs.add(o["macAddress"])
    assert sorted(n for _, n in hosts) == ["host-1", "host-2"]
    assert len({h for h, _ in hosts}) == 2
    assert macs and all(len(m.split(":")) == 6 for m in macs)


def walk(x):
    if isinstance(x, dict):
        yield x
        x = list(x.values())
    if isinstance(x, list):
        for y in x:
            yield from walk(y)


def test_the_directory_is_private(probe):
    p = probe()
    rec = p.work / "rec"
    assert contact(p, "--record", rec, "--only", "version")[0] == 0
    assert rec.stat().st_mode & 0o777 == 0o700
    assert {f.stat().st_mode & 0o777 for f in rec.iterdir()} == {0o600}


def not_empty(rec):
    rec.mkdir(mode=0o700)
    (rec / "index.jsonl").write_text("mine\n")


def link(rec):
    (rec.parent / "elsewhere").mkdir(mode=0o700)
    rec.symlink_to(rec.parent / "elsewhere")


def open_to_all(rec):
    rec.mkdir()
    rec.chmod(0o755)


@pytest.mark.parametrize("made, why", [
    (not_empty, "is not empty"), (link, "a symbolic link isn't followed"),
    (open_to_all, "must be yours alone"),
    (lambda rec: rec.write_text(""), "it is no directory")])
def test_a_directory_that_is_not_ours_to_fill_is_refused(probe, made, why):
    p = probe()
    rec = p.work / "rec"
    made(rec)
    before = sorted(x.name for x in p.work.rglob("*") if "sim" not in str(x))
    r = p.run("--record", rec)
    assert r.returncode == 5 and why in r.stderr
    assert before == sorted(x.name for x in p.work.rglob("*")
                            if "sim" not in str(x))
    assert p.sim.ask("counters")["logins"] == 0


def wrong_ca(p):
    other = p.work / "other.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes",
                    "-subj", "/CN=other", "-keyout", "/dev/null", "-out",
                    other], check=True, capture_output=True)
    return ["--ca-file", other]


def wrong_password(p):
    p.password.write_text("Falsch-4711")
    return []


def answer(method, **rule):
    def give(p):
        p.sim.fault(on="request", method=method, **rule)
        return []
    return give


def open_password(p):
    p.password.chmod(0o644)
    return []


SYSTEM = {"fault": {"_typeName": "SystemError", "reason": "x"}}


@pytest.mark.parametrize("exits, stage, trouble, why", [
    (3, "TLS", wrong_ca, "certificate"),
    (3, "hello", answer("hello", drop="before"),
     "POST /api/vcenter/system?action=hello: Empty reply from server"),
    (1, "versions", None, "older than vCenter 8.0 Update 1"),
    (3, "ServiceContent", answer("content", http=503), "HTTP 503"),
    (4, "Login", wrong_password, "InvalidLogin"),
    (5, "Login", open_password, "mode 0644"),
    (1, "names", lambda p: ["--datacenter", "DC9"],
     "no datacenter of that name"),
    (3, "RetrievePropertiesEx", answer("RetrievePropertiesEx", **SYSTEM),
     "SystemError"),
    (3, "CreateFilter", answer("CreateFilter", **SYSTEM), "SystemError"),
    (3, "WaitForUpdatesEx", answer("WaitForUpdatesEx", **SYSTEM), "SystemError"),
])
def test_where_first_contact_ends_is_told_and_recorded(probe, exits, stage,
                                                       trouble, why):
    old = top(about={"apiVersion": "7.0.3.0", "hello": False})
    p = probe(None if trouble else old)
    more = trouble(p) if trouble else []
    rec = p.work / "rec"
    code, stages = contact(p, "--record", rec, *more)
    assert code == exits, p.said
    assert stages[stage]["result"] == "failed"
    assert why in stages[stage]["seen"], stages[stage]
    for later in STAGES[STAGES.index(stage) + 1:]:
        # asked whatever hello says; and names are found by reading
        if later != "versions" and (stage, later) != ("names", STAGES[6]):
            assert stages[later]["result"] == "not reached", later
    assert f"It ended at {stage}." in p.said
    rows, text = index(rec), everything(rec).lower()
    assert any(e.get("error") for e in rows) == \
        (stage != "names" and trouble is not open_password)
    words = [PASSWORD, "Falsch-4711", "127.0.0.1", "slurm@vsphere.local",
             "esx01", "example.org"] + (p.sim.ask("keys") or [])
    assert [w for w in words if w.lower() in text] == []


def test_what_a_proxy_echoes_has_no_password(probe):
    p = probe()
    p.sim.fault(on="reply", method="Login", body=f"<html>{PASSWORD} "
                "10.1.2.3 esx07.example.org fe80::1</html>", http=502)
    rec = p.work / "rec"
    assert contact(p, "--record", rec)[0] == 3
    text = everything(rec)
    assert "<html>" in text
    for word in (PASSWORD, "10.1.2.3", "fe80::1"):
        assert word not in text


def test_names_may_stay_and_secrets_may_not(probe):
    p = probe()
    rec = p.work / "rec"
    assert contact(p, "--record", rec, "--names", "--only", "version")[0] == 0
    text = everything(rec)
    assert "esx01.example.org" in text
    assert [w for w in [PASSWORD] + p.sim.ask("keys")
            if w in text] == []
