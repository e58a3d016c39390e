# SPDX-License-Identifier: GPL-2.0-or-later
"""What cluster.py stands on: processes that are ended by pid, ports, waits
with a bound, and the reading of Slurm's output."""

import contextlib
import glob
import os
import pathlib
import random
import re
import select
import shutil
import signal
import socket
import subprocess
import threading
import time

TOP = pathlib.Path(os.environ.get("VS_TOP", pathlib.Path(__file__).parents[2]))
INSIDE = ["/usr/bin/python3", "-ES", str(TOP / "testsuite/system/inside.py")]
PASSWORD = "simulated-secret"
USERNAME = "slurm@vsphere.local"


class Timeout(AssertionError):
    pass


class ClusterError(Exception):
    """What was to be started didn't start; the text is one clear line."""


PATIENCE = 4        # at most so many times as long
PATIENT_S = 120     # and no bound is stretched beyond this


def busy():
    """How many want each CPU: of the last minute, or just now."""
    load, _, _, now, _ = pathlib.Path("/proc/loadavg").read_text().split()
    return max(float(load), float(now.partition("/")[0])) / \
        len(os.sched_getaffinity(0))


def patience():
    """Bounds are meant for a machine that does nothing else. On one that does,
    all takes longer: so many times."""
    return min(max(1.0, busy()), PATIENCE)


def patient(seconds):
    """This bound as it is here and now."""
    return max(seconds, min(seconds * patience(), PATIENT_S))


def wait_for(what, timeout, fn, every=None):
    """Poll fn until it gives something true, and return that. An AssertionError
    or CommandFailed inside fn counts as "not yet". What comes soon is seen soon;
    later a look costs others, who run beside, more than it gains. The bound is
    that of a machine with nothing else to do."""
    began = time.monotonic()
    last, pause = None, every or 0.05
    while True:
        try:
            got = fn()
            if got:
                return got
            last = got
        except (AssertionError, subprocess.SubprocessError, OSError) as e:
            last = e
        took = time.monotonic() - began
        if took > timeout and took > patient(timeout):
            raise Timeout(f"not within {timeout} s: {what} (last: {last!r}; "
                          f"waited {took:.0f} s, {busy():.1f} want each CPU)")
        time.sleep(pause)
        if not every:
            pause = min(0.2, pause * 1.15)


PORTS = 100         # a block of ports has one owner
FIRST_PORT = 10000


def client_ports():
    """Where the kernel begins to take client ports from."""
    try:
        text = pathlib.Path(
            "/proc/sys/net/ipv4/ip_local_port_range").read_text()
        return int(text.split()[0])
    except (OSError, ValueError, IndexError):
        return 32768


def free_ports(n):
    """The first of n consecutive ports that are free on every address, below
    those of clients; and what reserves their blocks for as long as it lives,
    because most are listened on much later: names in the abstract space, of
    which there is one for each space of ports."""
    end = max(client_ports(), FIRST_PORT + 6000) // PORTS
    blocks = -(-n // PORTS)
    for _ in range(500):
        first = random.randrange(FIRST_PORT // PORTS, end - blocks)
        with contextlib.ExitStack() as owned, contextlib.ExitStack() as st:
            try:
                for b in range(first, first + blocks):
                    s = owned.enter_context(socket.socket(socket.AF_UNIX))
                    s.bind(f"\0slurm-vsphere-ports-{b}")
                for p in range(first * PORTS, first * PORTS + n):
                    s = st.enter_context(socket.socket())
                    s.bind(("", p))
            except OSError:
                continue
            return first * PORTS, owned.pop_all()
    raise ClusterError(f"no {n} free ports in a row between {FIRST_PORT} and "
                       f"{end * PORTS}")


def plugin_dirs(root):
    dirs = [str(p.parent) for p in pathlib.Path(root).glob(
        "usr/**/select_cons_tres_vsphere.so")] if root else []
    for d in ("/usr/lib/x86_64-linux-gnu/slurm-wlm",
              "/usr/lib/aarch64-linux-gnu/slurm-wlm",
              "/usr/lib64/slurm", "/usr/lib/slurm", "/usr/local/lib/slurm"):
        if os.path.isdir(d):
            dirs.append(d)
    if not dirs:
        raise ClusterError("Slurm's plugin directory was not found")
    return dirs


def slurm_binary(name):
    path = shutil.which(name, path=os.environ.get("PATH", "") +
                        ":/usr/local/sbin:/usr/sbin:/sbin")
    if not path:
        raise ClusterError(f"{name} is not installed")
    return path


GUEST_SPACES = ["--uts", "--pid", "--fork", "--kill-child=KILL", "--mount-proc"]


def isolation():
    """The command that gives a child mounts of its own, and with GUEST_SPACES
    its own host name and processes; [] where this machine allows neither."""
    for user in ([], ["--user", "--map-current-user", "--keep-caps"]):
        argv = ["unshare", *user, "--mount"]
        if subprocess.run([*argv, *GUEST_SPACES, *INSIDE, "probe",
                           "probe:127.0.0.1", "--", "true"],
                          stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0:
            return argv
    return []


def only_loopback():
    """No address but 127.0.0.1: the C library then finds none for IPv4, by
    which Slurm asks unless it is let take IPv6 too."""
    try:
        return not socket.getaddrinfo(None, 1, socket.AF_INET,
                                      socket.SOCK_STREAM, 0,
                                      socket.AI_ADDRCONFIG | socket.AI_PASSIVE)
    except OSError:
        return True


def kill_marked(mark, sig=signal.SIGKILL):
    """End every process that carries our mark in its environment: what a
    guest left behind (a slurmstepd has a process group of its own)."""
    n = 0
    for env in glob.glob("/proc/[0-9]*/environ"):
        pid = int(env.split("/")[2])
        if pid == os.getpid():
            continue
        try:
            with open(env, "rb") as f:
                if mark.encode() in f.read().split(b"\0"):
                    os.kill(pid, sig)
                    n += 1
        except (OSError, ProcessLookupError):
            pass
    return n


class Daemon:
    """A child in a session of its own, with a log."""

    late = None     # called with one that doesn't end in time, and the time

    def __init__(self, argv, log, env):
        self.argv, self.log = argv, log
        with open(log, "ab") as out:
            self.p = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=out,
                stderr=subprocess.STDOUT, env=env, start_new_session=True,
                cwd=os.path.dirname(log))

    @property
    def pid(self):
        return self.p.pid

    @property
    def returncode(self):
        return self.p.poll()

    def alive(self):
        return self.p.poll() is None

    def wait(self, timeout):
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.p.wait(timeout)

    def tail(self, n=12):
        try:
            return "\n".join(pathlib.Path(self.log).read_text(
                errors="replace").splitlines()[-n:])
        except OSError:
            return ""

    def end(self, sig=signal.SIGTERM, grace=10, tell=False):
        """tell: that it doesn't end in time may be why a test fails."""
        if self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, sig)
            self.wait(grace)
        if tell and self.late and self.alive():
            self.late(self, grace)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.p.pid, signal.SIGKILL)
        self.p.wait(30)     # a thousand guests go with it, perhaps


def running(pid):
    """It is there, and no zombie."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


class Controller(Daemon):
    """slurmctld as systemd starts it, where a reconfigure makes another process
    of it: it says by sd_notify which one is in charge."""

    def __init__(self, argv, log, env):
        where = pathlib.Path(log).parent / f".notify-{random.getrandbits(32):x}"
        self.main = None
        self.said = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.said.bind(str(where))
        self.said.setblocking(False)
        self.hearing = threading.Lock()
        super().__init__(argv, log, {**env, "NOTIFY_SOCKET": str(where)})
        threading.Thread(target=self._listen, daemon=True).start()

    def _hear(self):
        with self.hearing, contextlib.suppress(BlockingIOError):
            while True:
                text, fds, *_ = socket.recv_fds(self.said, 4096, 8)
                for m in re.finditer(rb"MAINPID=(\d+)", text):
                    self.main = int(m[1])
                # A barrier (from 26.05): it waits until these are closed.
                for fd in fds:
                    os.close(fd)

    def _listen(self):
        while self.alive():
            select.select([self.said], [], [], 1)
            self._hear()

    @property
    def pid(self):
        self._hear()
        return self.main or self.p.pid

    @property
    def returncode(self):
        """None of one that isn't our child."""
        return super().returncode if self.pid == self.p.pid else None

    def alive(self):
        self.p.poll()
        return running(self.pid)

    def wait(self, timeout):
        with contextlib.suppress(Timeout):
            wait_for("slurmctld has ended", timeout, lambda: not self.alive())


def slurm_release():
    """(24, 11, 5) of the Slurm that is installed."""
    out = subprocess.run([slurm_binary("slurmctld"), "-V"], check=True,
                         capture_output=True, text=True).stdout
    return tuple(int(n) for n in re.search(r"(\d+)\.(\d+)\.(\d+)",
                                             out).groups())


DONE = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL",
        "BOOT_FAIL", "OUT_OF_MEMORY", "DEADLINE", "PREEMPTED", "GONE"}


def parse_fields(line):
    """Key=Value Key=Value ... of scontrol -o; a value may hold spaces."""
    out = {}
    for m in re.finditer(r"(?:^| )([A-Za-z][A-Za-z0-9_/:]*)=(.*?)"
                         r"(?= [A-Z][A-Za-z0-9_/:]*=|$)", line.strip()):
        out.setdefault(m.group(1), m.group(2))
    return out


GUEST_HOOK = r"""#!/bin/sh
# Run by the simulator when a VM powers on, ended by it at power-off.
here=$(dirname "$0")
. "$here/guest.env"
export SLURM_CONF="$dir/etc/slurm.conf" VS_CLUSTER_DIR="$dir"
export MUNGE_SOCKET="$dir/run/munge.socket"
ln -sfn "$VM_DIR" "$dir/guests/$VM_NAME"
cat "$dir/guests/$VM_NAME.port" 2>/dev/null >"$VM_DIR/port-state" ||
	echo "4: ACTIVE" >"$VM_DIR/port-state"
[ ! -f "$dir/guests/$VM_NAME.delay" ] || read -r delay <"$dir/guests/$VM_NAME.delay"
[ "${delay:-0}" = 0 ] || sleep "$delay"
[ ! -f "$dir/guests/$VM_NAME.env" ] || . "$dir/guests/$VM_NAME.env"
while [ -e "$dir/guests/$VM_NAME.hold" ]; do sleep 0.1; done
# A real guest's own script, on a fake /sys of the VM's NICs, becomes slurmd.
# The uptime is this machine's, where a cold boot's begins anew: -b. An instant
# clone has its parent's, and what is done about that is the script's.
set -- "$slurmd" -D -b -N "$VM_NAME" -f "$SLURM_CONF"
[ -z "${VM_FORKED:-}" ] || set -- "$slurmd" -D -N "$VM_NAME" -f "$SLURM_CONF"
! grep -q '"guestinfo.slurm.dynamic": *"yes"' "$VM_GUESTINFO" || set -- "$@" -Z
if [ -n "$isolation" ]; then
	# shellcheck disable=SC2086 # words
	set -- $isolation "$VM_NAME" "$VM_NAME:127.0.0.1" \
		"$dir/etc/communication.guest:$dir/etc/communication.conf" -- "$@"
fi
exec "$top/contribs/guest/simulator-hook" "$@"
"""


REPORT = r"""#!/bin/sh
# What a job sees of its node: host name, adapter, the NIC's MAC, MTU, port.
vm="$VS_CLUSTER_DIR/guests/$SLURMD_NODENAME"
what() { sed -n "s/^$1 //p" "$vm/slurm-vsphere/ready"; }
adapter=$(sed -n 's/.*"guestinfo.slurm.adapter": *"\([^"]*\)".*/\1/p' "$vm/guestinfo.json")
nic="$vm/root/sys/class/net/$(what netdev)"
port=$(what port)
echo "$(hostname) adapter=$adapter mac=$(cat "$nic/address") mtu=$(cat "$nic/mtu") port=$(cat "$port/state")"
"""
