# SPDX-License-Identifier: GPL-2.0-or-later
"""The simulator and the driver vc_live, for the tests of the vCenter client."""

import copy
import json
import os
import pathlib
import queue
import re
import shutil
import ssl
import subprocess
import threading
import time
import urllib.request

import pytest

import forms
from daemons import patient
from vcproxy import Proxy

TOP = pathlib.Path(__file__).parents[2]
BUILD = pathlib.Path(os.environ.get("VS_BUILD", TOP / "build"))
LIVE = pathlib.Path(os.environ.get("VS_VC_LIVE",
                                   BUILD / "testsuite/unit/vc_live"))
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
        inv.write_text(json.dumps(forms.declared(world)))
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
        until = time.monotonic() + patient(timeout)
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
        end = time.monotonic() + patient(timeout)
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
        assert not re.search(r"session\[[^]]", text), "a session's key was"


@pytest.fixture
def start(tmp_path):
    """start(world) -> Sim; start.live(sim) -> Live; start.proxy(sim) -> Proxy
    between the two; all ended afterwards."""
    made = []

    def sim(world=None):
        s = Sim(tmp_path, world or WORLD)
        made.append(s)
        return s

    def live(s, **over):
        c = Live(s, tmp_path, **over)
        made.append(c)
        return c

    def proxy(s):
        made.append(Proxy(s))
        return made[-1]
    sim.live, sim.proxy = live, proxy
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
                    "nic=sriov mac=00:50:56:00:01:02 locked=1 "
                    "memory_mb=4096 vcpus=2 " + " ".join(more))
