# SPDX-License-Identifier: GPL-2.0-or-later
"""No secret gets out: after logins, a refused one, expired sessions, faults, a
reconfigure and a failing vCenter, neither the password nor any session's key
is in a log, a process list, an environment, the control channel or a file that
others can read."""

import pathlib
import re
import socket
import threading

from cluster import free_ports, wait_for
from stages import ready_count, wait_ready_again
from worlds import world


class Tap:
    """Between svf and the control channel: keeps what goes by, both ways."""

    def __init__(self, to):
        self.to, self.seen, self.lock = to, b"", threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.to))
            for a, b in ((near, far), (far, near)):
                threading.Thread(target=self.pump, args=(a, b),
                                 daemon=True).start()

    def pump(self, a, b):
        while data := a.recv(65536):
            with self.lock:
                self.seen += data
            b.sendall(data)
        b.shutdown(socket.SHUT_WR)

    def stop(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def files_of(c):
    """Everything below the cluster's directory but what the simulator and the
    harness themselves keep, and the password's own file."""
    own = {c.path("etc", "vcenter.password"), c.path("vcsim", "inventory.json")}
    for f in c.dir.rglob("*"):
        if f.is_file() and not f.is_symlink() and f not in own:
            yield f


def processes_of(c):
    """cmdline and environ of our daemons and of what they have started."""
    for p in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            env = (p / "environ").read_bytes()
            if c.mark.encode() in env.split(b"\0"):
                yield p / "cmdline", (p / "cmdline").read_bytes()
                yield p / "environ", env
        except OSError:
            continue            # it has ended


def trouble(c):
    """What makes a client talk: of each kind something."""
    was = ready_count(c)
    c.do("expireSessions")
    wait_ready_again(c, was)
    for rule in ({"method": "PowerOnVM_Task", "on": "task", "count": 1,
                  "fault": {"_typeName": "SystemError", "reason": "declared"}},
                 {"method": "CloneVM_Task", "on": "reply", "count": 1,
                  "truncate": 10},
                 {"method": "CreateContainerView", "on": "request", "count": 1,
                  "fault": {"_typeName": "ManagedObjectNotFound"}},
                 {"method": "WaitForUpdatesEx", "on": "request", "count": 2,
                  "http": 503, "body": "no healthy upstream"}):
        c.fault(**rule)
    c.wait_job(c.sbatch("-N2", script="srun hostname"), 90)
    was = ready_count(c)
    c.change_vsphere("Placement=balance", "Placement=pack")
    wait_ready_again(c, was, 60)
    c.do("setPassword", user="slurm@vsphere.local", password="another-secret")
    c.do("expireSessions")
    wait_for("the login is refused", 30,
             lambda: c.counters()["failedLogins"] == 1)
    wait_for("svf says so", 30, lambda: "login" in c.svf(
        "status", json_out=False))
    was = ready_count(c)
    c.path("etc", "vcenter.password").write_text("another-secret\n")
    wait_ready_again(c, was)


def say_all(c, port):
    """All that svf gets to say, through another port; with its words."""
    conf = c.path("tap")
    conf.mkdir()
    for name in ("slurm.conf", "vsphere.conf"):
        (conf / name).write_text(c.path("etc", name).read_text().replace(
            f"SvfPort={c.control_port}", f"SvfPort={port}"))
    out = ""
    for verb in (["status"], ["hosts"], ["nodes"], ["reconcile"], ["why", "1"]):
        r = c.run("env", f"SLURM_CONF={conf / 'slurm.conf'}", "svf", "--json",
                  *verb)
        out += r.stdout + r.stderr
    assert '"nodes"' in out
    return out


def test_no_secret_is_anywhere_after_all_that_can_happen(fresh):
    c = fresh(nodes=2, inventory=world(hosts=1, vfs=2),
              slurm={"SlurmctldDebug": "debug3", "SlurmdDebug": "debug3"},
              vsphere={"ShutdownGrace": 1})
    trouble(c)
    keys = c.sim("keys")
    assert len(keys) >= 6, "two of each session, of which there were three"
    tap = Tap(c.control_port)
    try:
        said = say_all(c, tap.port)
    finally:
        tap.stop()
    assert len(tap.seen) > 1000
    places = [("svf", said.encode()), ("the control channel", tap.seen),
              *processes_of(c), *((f, f.read_bytes()) for f in files_of(c))]
    assert len(places) > 30
    assert c.path("log", "slurmctld.log") in [
        p for p, data in places if b"Logged in to vCenter" in data]
    secrets = ["simulated-secret", "another-secret", *keys]
    assert [(str(p), s[:8]) for p, data in places for s in secrets
            if s.encode() in data] == []
    for f in c.path("state").glob("slurm_vsphere*"):
        assert f.stat().st_mode & 0o077 == 0, f"{f} is for others to read"


def sockets_at(pid, port):
    """Flags of a process' descriptors that are connected to a local port, or
    listen there."""
    inodes = set()
    for line in pathlib.Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        here, there = (int(w.split(":")[1], 16) for w in words[1:3])
        if there == port or (here == port and words[3] == "0A"):
            inodes.add(words[9])
    for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = str(fd.readlink())
        except OSError:
            continue
        if target.startswith("socket:[") and target[8:-1] in inodes:
            info = pathlib.Path(f"/proc/{pid}/fdinfo/{fd.name}").read_text()
            yield int(info.split("flags:")[1].split()[0], 8)


def vcenter_port(c):
    url = re.search(r"^VCenter=(\S+)",
                    c.path("etc", "vsphere.conf").read_text(), re.M)[1]
    return int(url.strip("/").rsplit(":", 1)[1])


def test_what_slurmctld_starts_has_none_of_its_sockets(fresh):
    """libcurl of Debian 12 opens its sockets without close-on-exec."""
    metrics, owned = free_ports(1)
    c = fresh(nodes=2, inventory=world(hosts=1, vfs=2),
              vsphere={"MetricsPort": metrics})
    assert owned        # its block of ports is kept until the end
    pid = c.daemons["slurmctld"].p.pid
    for what, port in (("vCenter", vcenter_port(c)),
                       ("the control channel", c.control_port),
                       ("the metrics", metrics)):
        flags = wait_for(f"it has a socket for {what}", 20, lambda port=port:
                         list(sockets_at(pid, port)))
        assert all(f & 0o2000000 for f in flags), (what, [oct(f) for f in flags])
