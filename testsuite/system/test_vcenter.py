# SPDX-License-Identifier: GPL-2.0-or-later
"""The vCenter client alone, driven by vc_live against the simulator."""

import copy
import json
import os
import pathlib
import queue
import shutil
import ssl
import subprocess
import threading
import time
import urllib.request

import pytest

TOP = pathlib.Path(__file__).parents[2]
BUILD = pathlib.Path(os.environ.get("VS_BUILD", TOP / "build"))
LIVE = pathlib.Path(os.environ.get("VS_VC_LIVE",
                                   BUILD / "testsuite/unit/vc_live"))
BODIES = pathlib.Path(os.environ.get("VS_VC_BODIES",
                                     BUILD / "testsuite/unit/vc_bodies"))
PASSWORD = "s3cret-Zaunk0enig"

WORLD = {
    "users": [{"name": "slurm@vsphere.local", "password": PASSWORD}],
    "durations": {"CloneVM_Task": "100ms", "PowerOnVM_Task": "50ms"},
    "datacenters": [{
        "name": "DC0", "folders": ["slurm"],
        "datastores": [{"name": "vsan", "capacityGB": 9000, "freeGB": 8000}],
        "switches": [{"name": "dvs-rdma", "maxMtu": 9000},
                     {"name": "dvs-mgmt", "maxMtu": 1500}],
        "networks": [{"name": "ROCE-PG", "switch": "dvs-rdma"},
                     {"name": "VM-PG", "switch": "dvs-mgmt"}],
        "clusters": [{
            "name": "HPC1", "drs": "disabled", "pools": ["slurm"],
            "hosts": [{
                "name": "esx%02d", "count": 2, "cores": 48, "mhz": 2600,
                "memoryMB": 262144, "numa": 2, "pnics": [
                    {"device": "vmnic0", "pci": "0000:17:00.0", "numa": 0,
                     "speedMb": 25000, "switch": "dvs-mgmt"},
                    {"device": "vmnic4", "pci": "0000:3b:00.0", "numa": 1,
                     "speedMb": 100000, "switch": "dvs-rdma", "rdma": True,
                     "sriov": {"vfs": 2, "max": 63, "active": True}}]}]}],
        "templates": [{"name": "rhel9", "host": "esx01", "datastore": "vsan",
                       "hardwareVersion": "vmx-20", "numCPUs": 2,
                       "memoryMB": 4096, "diskGB": 20, "nics": ["VM-PG"]}],
        "vms": [{"name": "foreign1", "folder": "", "host": "esx01",
                 "powerOn": True, "numCPUs": 4, "memoryMB": 8192,
                 "nics": ["VM-PG"],
                 "cards": [{"type": "sriov", "network": "ROCE-PG",
                            "pf": "automatic"}]}]}]}


class Sim:
    def __init__(self, work, world):
        self.dir = work / "sim"
        self.dir.mkdir()
        inv = work / "inventory.json"
        inv.write_text(json.dumps(world))
        self.log = open(work / "sim.log", "w")
        binary = os.environ.get("VS_SIM")
        if not binary:
            binary = work.parent.parent / "vcsim-for-test_vcenter"
            if not binary.exists():
                subprocess.run([shutil.which("go") or "go", "build", "-o",
                                binary, "."], check=True,
                               cwd=TOP / "testsuite/vcsim")
        self.proc = subprocess.Popen(
            [binary, "-inventory", inv, "-listen", "127.0.0.1:0",
             "-dir", self.dir], stdout=self.log, stderr=self.log)
        ready = self.dir / "ready.json"
        until = time.monotonic() + 20
        while not ready.exists():
            assert self.proc.poll() is None, (work / "sim.log").read_text()
            assert time.monotonic() < until, "the simulator does not start"
            time.sleep(0.02)
        r = json.loads(ready.read_text())
        self.url, self.ca = r["url"], pathlib.Path(r["ca"])

    def ask(self, what, body=None, method=None):
        ctx = ssl.create_default_context(cafile=str(self.ca))
        req = urllib.request.Request(
            f"{self.url}/-/{what}", method=method,
            data=None if body is None else json.dumps(body).encode())
        with urllib.request.urlopen(req, context=ctx, timeout=10) as r:
            text = r.read()
        return json.loads(text) if text.strip() else None

    def do(self, op, **fields):
        return self.ask("do", {"op": op, **fields})

    def fault(self, **rule):
        self.ask("faults", {"rules": [rule]})

    def calls(self, method):
        return self.ask("counters")["calls"].get(method, 0)

    def vm(self, name):
        return {v["name"]: v for v in self.ask("state")["vms"]}.get(name)

    def stop(self):
        self.proc.terminate()
        self.proc.wait(10)
        self.log.close()


class Live:
    """vc_live as a child: events in order, commands in."""

    def __init__(self, sim, work, **over):
        self.password = work / "password"
        if not self.password.exists():
            self.password.write_text(PASSWORD + "\n")
            self.password.chmod(0o600)
        args = {"url": sim.url, "user": "slurm@vsphere.local", "ca": sim.ca,
                "password": self.password, "dc": "DC0", "folder": "slurm",
                "store": "vsan", "cluster": "HPC1/slurm",
                "network": ["ROCE-PG", "VM-PG"], "template": "rhel9",
                "wait": 5, **over}
        words = [f"{k}={x}" for k, v in args.items()
                 for x in (v if isinstance(v, list) else [v])
                 if x is not None]
        self.err = open(work / f"live-{time.monotonic_ns()}.err", "w+")
        self.proc = subprocess.Popen(
            [LIVE, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.err, text=True)
        self.q, self.seen = queue.Queue(), []
        self.vms, self.hosts = {}, {}
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.proc.stdout:
            self.q.put(line)
        self.q.put(None)

    def next(self, timeout):
        line = self.q.get(timeout=timeout)
        assert line is not None, f"vc_live ended: {self.errors()}"
        e = json.loads(line)
        e["line"] = line
        self.seen.append(e)
        if e["event"] == "vm":
            self.vms.setdefault(e["moid"], {}).update(e)
        elif e["event"] == "vm_gone":
            self.vms.pop(e["moid"], None)
        elif e["event"] == "host":
            self.hosts.setdefault(e["moid"], {}).update(e)
        return e

    def wait(self, event, timeout=10, **fields):
        until = time.monotonic() + timeout
        while True:
            left = until - time.monotonic()
            try:
                e = self.next(max(left, 0.001))
            except queue.Empty:
                raise AssertionError(
                    f"no {event} {fields} in {timeout} s; last events: " +
                    "".join(x["line"] for x in self.seen[-6:])) from None
            if e["event"] == event and all(e.get(k) == v
                                           for k, v in fields.items()):
                return e

    def until(self, what, test, timeout=10):
        end = time.monotonic() + timeout
        while not test():
            left = end - time.monotonic()
            try:
                self.next(max(left, 0.001))
            except queue.Empty:
                raise AssertionError(f"not so in {timeout} s: {what}") \
                    from None

    def quiet(self, seconds, *events):
        """For so long, none of these events."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                e = self.next(left)
            except queue.Empty:
                return
            assert e["event"] not in events, e["line"]

    def tell(self, command):
        self.proc.stdin.write(command + "\n")
        self.proc.stdin.flush()

    def send(self, command):
        """A mutating command: its id, or the error it met at once."""
        self.tell(command)
        e = self.wait("sent", verb=command.split()[0])
        return e["id"] if e["id"] > 0 else e

    def run(self, command, timeout=10):
        return self.wait("done", timeout, id=self.send(command))

    def up(self):
        self.wait("load_end", 15)
        return self

    def vm(self, name):
        return next((v for v in self.vms.values() if v.get("name") == name),
                    None)

    def host(self, name):
        return next(h for h in self.hosts.values() if h["name"] == name)

    def stats(self):
        self.tell("stats")
        return self.wait("stats")

    def errors(self):
        self.err.flush()
        self.err.seek(0)
        return self.err.read()

    def stop(self):
        if self.proc.poll() is None:
            try:
                self.tell("quit")
                self.proc.wait(10)
            except (OSError, subprocess.TimeoutExpired):
                self.proc.kill()
                self.proc.wait()
        self.reader.join(5)
        self.proc.stdout.close()
        text = self.errors() + "".join(e["line"] for e in self.seen)
        self.err.close()
        assert self.proc.returncode == 0, text[-3000:]
        assert PASSWORD not in text, "the password was printed"


@pytest.fixture
def start(tmp_path):
    """start(world) -> Sim; start.live(sim) -> Live; all ended afterwards."""
    made = []

    def sim(world=None):
        s = Sim(tmp_path, world or WORLD)
        made.append(s)
        return s

    def live(s, **over):
        c = Live(s, tmp_path, **over)
        made.append(c)
        return c
    sim.live = live
    sim.work = tmp_path
    yield sim
    for m in reversed(made):
        m.stop()


@pytest.fixture
def pair(start):
    s = start()
    return s, start.live(s).up()


def world(**about):
    w = copy.deepcopy(WORLD)
    w["about"] = {"apiVersion": "8.0.3.0", "apiType": "VirtualCenter",
                  "hello": True, **about}
    return w


def clone(live, name, host="esx01", *more):
    return live.run(f"clone {name} host={live.host(host)['moid']} "
                    "card=sriov mac=00:50:56:00:01:02 locked=1 "
                    "memory_mb=4096 vcpus=2 " + " ".join(more))


# ---- coming up ---------------------------------------------------------------

def test_the_inventory_is_loaded_between_load_begin_and_load_end(pair):
    sim, live = pair
    order = [e["event"] for e in live.seen]
    assert order[0] == "up" and order[1] == "load_begin"
    assert order[-1] == "load_end" and order.count("up") == 1
    up = live.seen[0]
    assert up["release"] == "8.0.3.0"
    assert [n["name"] for n in up["networks"]] == ["ROCE-PG", "VM-PG"]
    host = live.host("esx02")
    assert (host["cores"], host["core_mhz"]) == (48, 2600)
    assert host["memory_mb"] == 262144 - 262144 * 8 // 100 - 1024
    assert host["pfs"] == [{
        "pci": "0000:3b:00.0", "pnic": "vmnic4", "vfs": 2, "numa": 1,
        "link_up": True, "switch_uuid": up["networks"][0]["switch_uuid"]}]
    foreign = [v for v in live.vms.values() if len(v["cards"]) == 2]
    assert len(foreign) == 1 and "name" not in foreign[0]
    assert foreign[0]["cards"][1]["pci"] == "0000:3b:00.0"
    assert foreign[0]["cards"][1]["kind"] == "sriov"


def test_a_large_inventory_comes_page_by_page(start):
    w = world()
    w["datacenters"][0]["vms"].append(
        {"name": "many%04d", "count": 700, "folder": "slurm",
         "host": "esx02", "numCPUs": 1, "memoryMB": 16, "nics": ["VM-PG"],
         "extraConfig": {"slurm.vsphere.owner": "a/b/c"}})
    live = start.live(start(w)).up()
    named = [v for v in live.vms.values() if "name" in v]
    assert len(named) == 700
    assert all("power" in v and v["owner"] == "a/b/c" for v in named)


def test_vcenter_8_0u1_without_hello_is_spoken_to_in_its_release(start):
    live = start.live(start(world(apiVersion="8.0.1.0", hello=False)))
    assert live.wait("up", 15)["release"] == "8.0.1.0"
    live.wait("load_end")


def test_a_newer_vcenter_is_spoken_to_in_the_newest_release_we_know(start):
    live = start.live(start(world(apiVersion="9.0.0.0")))
    assert live.wait("up", 15)["release"] == "8.0.3.0"


@pytest.mark.parametrize("hello", [True, False])
def test_a_vcenter_before_8_0u1_is_refused_in_one_sentence(start, hello):
    live = start.live(start(world(apiVersion="7.0.3.0", hello=hello)))
    down = live.wait("down", 15)
    assert down["code"] == "config"
    assert "older than vCenter 8.0 Update 1" in down["text"]
    assert "7.0.3.0" in down["text"]


def test_an_esxi_host_is_called_by_its_name(start):
    live = start.live(start(world(apiType="HostAgent")))
    down = live.wait("down", 15)
    assert down["code"] == "config"
    assert "is an ESXi host, not a vCenter" in down["text"]


@pytest.mark.parametrize("key,value,says", [
    ("dc", "DC9", 'no datacenter "DC9"'),
    ("folder", "slurn", 'no VM folder "slurn"'),
    ("cluster", "HPC9", 'no cluster "HPC9" in datacenter "DC0"; '
     'there are: HPC1'),
    ("cluster", "HPC1/none", 'no resource pool "none"'),
    ("store", "nas", 'no datastore "nas" in datacenter "DC0"; '
     'there are: vsan'),
    ("network", "ROCE", 'no network "ROCE"'),
    ("template", "rhel8", 'no template "rhel8"'),
])
def test_a_name_that_is_missing_is_named(start, key, value, says):
    live = start.live(start(), **{key: value})
    down = live.wait("down", 15)
    assert down["code"] == "config"
    assert says in down["text"]
    assert "there are: " in down["text"]
    live.quiet(1.5, "up", "down")


# ---- login and TLS -----------------------------------------------------------

def test_a_wrong_password_is_tried_once_until_the_file_changes(start):
    sim = start()
    (start.work / "password").write_text("wrong\n")
    (start.work / "password").chmod(0o600)
    live = start.live(sim)
    assert live.wait("down", 15)["code"] == "login"
    live.quiet(5, "up", "down")
    assert sim.calls("Login") == 1
    live.password.write_text(PASSWORD)
    live.up()
    assert sim.calls("Login") == 2


def test_retry_now_tries_a_refused_password_once_more(start):
    sim = start()
    (start.work / "password").write_text("wrong\n")
    (start.work / "password").chmod(0o600)
    live = start.live(sim)
    live.wait("down", 15)
    live.tell("retry")
    live.wait("down", 15)
    assert sim.calls("Login") == 2


def test_a_password_file_that_others_can_read_is_not_used(start):
    sim = start()
    (start.work / "password").write_text(PASSWORD)
    (start.work / "password").chmod(0o644)
    live = start.live(sim)
    down = live.wait("down", 15)
    assert down["code"] == "config"
    assert "others can read it, make it 0600 or 0400" in down["text"]
    assert sim.calls("Login") == 0


def test_a_certificate_that_does_not_verify_names_cafile(start):
    sim = start()
    other = start.work / "other.pem"
    shutil.copy(sim.ca, other)
    sim.do("newCertificate")
    live = start.live(sim, ca=other)
    down = live.wait("down", 15)
    assert down["code"] == "config"
    assert "CAFile" in down["text"] and "certificate" in down["text"]
    assert sim.calls("Login") == 0
    shutil.copy(sim.ca, other)      # read anew at the next try
    live.tell("retry")
    live.up()


def test_unverified_tls_warns_at_login(start):
    live = start.live(start(), ca=None, insecure=1).up()
    assert "is not verified" in live.errors()


def test_nobody_at_the_address_is_retried(start):
    sim = start()
    live = start.live(sim, url="https://127.0.0.1:9")
    down = live.wait("down", 15)
    assert down["code"] == "retry" and "no connection to" in down["text"]
    live.quiet(3, "down")           # told once


# ---- the life of a VM --------------------------------------------------------

def test_a_vm_is_cloned_powered_on_and_destroyed_in_one_call_each(pair):
    sim, live = pair
    done = clone(live, "vm001", "esx01", "mgmt=00:50:56:00:09:09",
                 "slurm.vsphere.owner=c/vm001/u",
                 "slurm.vsphere.profile=00ff",
                 "uuid=50211e0a-0000-4000-8000-000000000001")
    assert done["code"] == "ok" and done["result"].startswith("vm-")
    vm = live.vm("vm001")       # its update came before the task's end
    assert vm and vm["moid"] == done["result"]
    assert vm["power"] == "poweredOff" and vm["owner"] == "c/vm001/u"
    assert vm["profile"] == "00ff" and vm["mem_locked"]
    assert vm["uuid"] == "50211e0a-0000-4000-8000-000000000001"
    assert [c["mac"] for c in vm["cards"]] == [
        "00:50:56:00:09:09", "00:50:56:00:01:02"]
    assert vm["disks_own"] and vm["disk_dir"].startswith("[vsan] ")
    assert live.run(f"power_on {vm['moid']}")["code"] == "ok"
    live.until("it is on", lambda: vm["power"] == "poweredOn")
    live.until("its PF is known",
               lambda: vm["cards"][1]["pci"] == "0000:3b:00.0")
    again = live.run(f"power_on {vm['moid']}")
    assert again["code"] == "state"
    assert live.run(f"power_off {vm['moid']}")["code"] == "ok"
    assert live.run(f"destroy {vm['moid']}")["code"] == "ok"
    live.until("it is gone", lambda: live.vm("vm001") is None)
    for method, n in (("CloneVM_Task", 1), ("PowerOnVM_Task", 2),
                      ("PowerOffVM_Task", 1), ("Destroy_Task", 1)):
        assert sim.calls(method) == n, method
    assert live.stats()["mutating"] == 5


def test_waiting_costs_one_long_poll(pair):
    sim, live = pair
    before = sim.ask("counters")["calls"]
    live.quiet(4, "vm", "host", "down")
    after = sim.ask("counters")["calls"]
    new = {k: after[k] - before.get(k, 0) for k in after
           if after[k] != before.get(k, 0)}
    assert set(new) <= {"WaitForUpdatesEx"} and sum(new.values()) <= 1


def test_a_full_pf_is_known_by_its_text(pair):
    sim, live = pair
    codes = []
    for i in range(2):      # two VFs, the foreign VM has one
        vm = clone(live, f"vm{i}", "esx01",
                   f"mac=00:50:56:00:02:{i:02x}")["result"]
        codes.append(live.run(f"power_on {vm}"))
    assert codes[0]["code"] == "ok"
    assert codes[1]["code"] == "other-host"
    assert codes[1]["fault"] == "NoVirtualFunction"
    assert "virtual function" in codes[1]["text"].lower()
    # Elsewhere there is room.
    assert live.run(f"relocate {vm} host={live.host('esx02')['moid']}"
                    )["code"] == "ok"
    assert live.run(f"power_on {vm}")["code"] == "ok"


def test_a_reconfigure_changes_card_mark_and_address(pair):
    sim, live = pair
    moid = clone(live, "vm001")["result"]
    vm = live.vm("vm001")
    old = vm["cards"][1]
    assert live.run(
        f"reconfigure {moid} change_version={vm['change_version']} "
        f"remove={old['key']} card=vmxnet3 network=1 mac=00:50:56:00:03:03 "
        "mgmt=00:50:56:00:04:04 mgmt_key=4000 vcpus=4 "
        "slurm.vsphere.job=7")["code"] == "ok"
    live.until("the cards are new", lambda: [
        (c["kind"], c["mac"]) for c in vm["cards"]] == [
            ("vmxnet3", "00:50:56:00:04:04"), ("vmxnet3", "00:50:56:00:03:03")])
    live.until("the mark is new", lambda: vm["job"] == "7")
    assert vm["vcpus"] == 4
    stale = live.run(f"reconfigure {moid} change_version=old vcpus=2")
    assert stale["code"] == "retry" and stale["fault"] == "ConcurrentAccess"


def test_a_name_that_is_taken_says_so(pair):
    sim, live = pair
    assert clone(live, "vm001")["code"] == "ok"
    assert clone(live, "vm001")["code"] == "exists"


def test_a_cancelled_clone_ends_as_cancelled_and_leaves_no_vm(start):
    w = world()
    w["durations"]["CloneVM_Task"] = "30s"
    sim = start(w)
    live = start.live(sim).up()
    i = live.send(f"clone vm001 host={live.host('esx01')['moid']}")
    live.tell(f"cancel {live.wait('started', id=i)['task']}")
    assert live.wait("done", id=i)["code"] == "canceled"
    live.quiet(0.5, "done", "vm")
    assert sim.vm("vm001") is None


def test_a_running_task_is_seen_and_adopted_by_the_next_client(start):
    w = world()
    w["durations"]["CloneVM_Task"] = "3s"
    sim = start(w)
    first = start.live(sim).up()
    i = first.send(f"clone vm001 host={first.host('esx01')['moid']}")
    task = first.wait("started", id=i)["task"]
    second = start.live(sim)
    slow = second.wait("slow", 15)
    assert [(t["moid"], t["name"], t["user"]) for t in slow["tasks"]] == [
        (task, "VirtualMachine.clone", second.seen[0]["user"])]
    second.up()
    assert second.run(f"adopt {task}")["result"] == sim.vm("vm001")["moid"]
    assert first.wait("done", id=i)["code"] == "ok"
    # It has ended: adopting it again still tells how.
    assert second.run(f"adopt {task}")["code"] == "ok"
    assert second.run("adopt task-99999")["code"] == "unknown"


def test_changes_by_others_stream_in(pair):
    sim, live = pair
    esx = live.host("esx02")
    sim.do("setVfs", host="esx02", pci="0000:3b:00.0", vfs=5)
    live.until("five VFs", lambda: esx["pfs"][0]["vfs"] == 5)
    sim.do("renumberPf", host="esx02", pci="0000:3b:00.0",
           newPci="0000:5e:00.0")
    live.until("another address", lambda: esx["pfs"] and
               esx["pfs"][0]["pci"] == "0000:5e:00.0" and
               esx["pfs"][0]["numa"] == 1)
    sim.do("hostState", host="esx02", state="notResponding")
    live.until("it does not respond", lambda: not esx["connected"])
    sim.do("hostState", host="esx02", state="connected")
    live.until("it is back", lambda: esx["connected"])
    vm = clone(live, "vm001")["result"]
    sim.do("rename", vm="vm001", name="vm009")
    live.until("renamed", lambda: live.vms[vm]["name"] == "vm009")
    sim.do("destroyVm", vm="vm009")
    live.until("gone", lambda: vm not in live.vms)


def test_a_template_that_changes_is_told_on_the_slow_beat(pair):
    sim, live = pair
    sim.do("rename", vm="rhel9", name="rhel9-new")
    until = time.monotonic() + 10
    while not sim.vm("rhel9-new"):
        assert time.monotonic() < until
        time.sleep(0.02)
    live.tell("slow")
    t = live.wait("template_changed")["template"]
    assert t["change_version"] != live.seen[0]["templates"][0][
        "change_version"]


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
    sim.do("stall", duration="4s")
    before = time.monotonic()
    i = live.send(f"clone vm001 host={host}")
    assert live.wait("done", id=i)["code"] == "unknown"
    assert time.monotonic() - before < 3
    live.until("it is up and sees what came of it",
               lambda: live.vm("vm001") or time.monotonic() > before + 9, 12)
    assert sim.calls("Login") == 1


def test_a_lost_wait_is_asked_again_without_loading_anew(pair):
    sim, live = pair
    sim.fault(on="reply", method="WaitForUpdatesEx", count=2, drop="after")
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
    sim.fault(on="reply", method="WaitForUpdatesEx", count=4, drop="after")
    sim.fault(on="reply", method="RetrievePropertiesEx", count=1,
              truncate=40)
    start.live(sim).wait("load_end", 30)


def test_a_reply_beyond_the_bound_is_refused(start):
    live = start.live(start(), max_body=3000)
    down = live.wait("down", 15)
    assert "larger than allowed" in down["text"]
    live.tell("stats")
    assert not live.wait("stats")["up"]


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


# ---- the bodies --------------------------------------------------------------

def test_govmomi_understands_every_request_body(tmp_path):
    r = subprocess.run([TOP / "testsuite/golden/run.sh", BODIES, tmp_path],
                       capture_output=True, text=True, check=False)
    assert r.returncode == 0, r.stdout + r.stderr
    assert "0 bad" in r.stdout
