# SPDX-License-Identifier: GPL-2.0-or-later
"""A private cluster whose VMs are booted machines: Cluster of testsuite/system, with
QEMU in the place of a slurmd process. Runs inside space.sh.

Slurm is configless and has its own ports and paths, because slurm.conf is the same on
the controller and in the VMs. slurmctld's network is the bridge brm.
"""

import base64
import ctypes
import os
import pathlib
import re
import shutil
import socket
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "system"))

import template                                             # noqa: E402
from cluster import Cluster, patience             # noqa: E402
from daemons import plugin_dirs                             # noqa: E402
from monitor import qmp                                     # noqa: E402
from worlds import host, world                              # noqa: E402

CONTROLLER = "10.77.0.1"
HOSTS = ("esx01.example.org", "esx02.example.org")
MS_BIND, MNT_DETACH = 4096, 2
BOOT_S = 240        # without KVM, beside other work
VSPHERE_LINES = [
    "VSphereCluster=HPC1 ResourcePool=slurm",
    "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000 "
    "AdapterAddresses=10.88.0.11-10.88.0.200/24",
    "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed "
    "ManagementAddresses=10.77.0.11-10.77.0.200/24"]


def accelerator():
    """kvm where the processor offers it and this user may use it."""
    if os.environ.get("VG_ACCEL"):
        return os.environ["VG_ACCEL"]
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    if re.search(r"^flags\s*:.*\b(vmx|svm)\b", flags, re.M) and \
            os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "kvm"
    return "tcg"


libc = ctypes.CDLL(None, use_errno=True)


def bind(source, target):
    """In the mount namespace that space.sh made."""
    if libc.mount(os.fsencode(source), os.fsencode(target), None, MS_BIND, None):
        n = ctypes.get_errno()
        raise OSError(n, f"{source} can't be bound over {target}: {os.strerror(n)}")


class Shell:
    """A root shell in one VM, over its second serial port."""

    count = 0

    def __init__(self, directory):
        self.path = directory / "run/shell"

    def __call__(self, command, timeout=60, check=True):
        """The command's output. An AssertionError if it fails, or gives no answer."""
        Shell.count += 1
        name = f"r{Shell.count}"
        text = base64.b64encode(command.encode()).decode()
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(timeout * patience())
            s.connect(str(self.path))
            s.sendall(f"{name} {text}\n".encode())
            with s.makefile(encoding="latin-1") as f:
                for line in f:
                    word = line.split()
                    if word and word[0] == name:
                        break
                else:
                    raise AssertionError(f"`{command}`: the VM's shell ended")
        out = base64.b64decode(word[2]).decode(errors="replace") if len(word) > 2 else ""
        assert not check or word[1] == "0", f"`{command}` ended with {word[1]}: {out}"
        return out


class GuestCluster(Cluster):
    """nodes: how many are declared. change: a function that makes the template differ
    (template.py). guest_env: the hypervisor's settings (VG_*)."""

    slurmctld_parameters = "idle_on_node_suspend,enable_configless"

    def __init__(self, nodes=2, vfs=2, change=None, directory=None, hosts=HOSTS,
                 **guest_env):
        super().__init__(directory, nodes=nodes, inventory=world(
            hosts=[host(h, vfs=vfs) for h in hosts],
            durations={"ShutdownGuest": "25s"},
            guest={"command": [str(HERE / "hypervisor")]}))
        self.isolation = []
        self.bound = []
        self.change = change
        self.guest_env = {"VG_MEMORY": "384", "VG_ACCEL": accelerator(), **guest_env}
        self.guest_env.setdefault("VG_IMAGES", os.environ["VS_GUESTS"])
        slow = max(1, patience())
        self.slurm = {
            # of the controller and of the VMs: the distribution's own
            "AuthInfo": None, "PluginDir": None, "SlurmdSpoolDir": "/var/spool/slurmd",
            "SlurmdLogFile": None, "SlurmdPidFile": "/run/slurmd.pid", "DebugFlags": None,
            "SlurmdPort": 6818, "SlurmctldPort": 6817, "SlurmdUser": "root",
            "SrunPortRange": "60001-60100", "PropagateResourceLimitsExcept": "MEMLOCK",
            "MessageTimeout": 60, "TCPTimeout": 20, "BatchStartTimeout": 120,
            "SuspendTime": 900, "SuspendTimeout": 30, "ResumeTimeout": int(BOOT_S * slow)}
        self.vsphere = {"ShutdownGrace": 25, "lines": list(VSPHERE_LINES)}

    @property
    def env(self):
        return {**super().env, **self.guest_env}

    def slurm_conf(self):
        text = super().slurm_conf().replace("(127.0.0.1)", f"({CONTROLLER})")
        return "".join(line + "\n" for line in text.splitlines()
                       if not line.startswith("Include "))

    def default_nodes(self):
        return [f"NodeName={n} NodeAddr=10.77.0.{10 + i} CPUs=1 RealMemory=512 "
                "Features=sriov-roce State=CLOUD"
                for i, n in enumerate(self.node_names(), 1)]

    def choose_ports(self):
        super().choose_ports()
        self.ctld_port = 6817

    def start_munged(self):
        """And what a VM's disk needs of this cluster: its key."""
        super().start_munged()
        default = pathlib.Path("/run/munge/munge.socket.2")
        default.unlink(missing_ok=True)
        default.symlink_to(self.path("run", "munge.socket"))
        disk = self.path("disk.ext4")
        self.make_disk(disk)
        self.guest_env["VG_DISK"] = str(disk)
        self.see_as_the_guests()

    def make_disk(self, disk):
        template.make(f"{self.guest_env['VG_IMAGES']}/base.ext4", disk, self.root,
                      self.path("etc", "munge.key"), self.change)

    def see_as_the_guests(self):
        """slurmctld finds the plugins and the user where the VMs have them."""
        ours, system = plugin_dirs(self.root)[:2]
        merged = self.path("plugins")
        shutil.copytree(system, merged, symlinks=True)
        shutil.copytree(ours, merged, symlinks=True, dirs_exist_ok=True)
        self.show(merged, system)
        if os.getuid() == 0:
            for name, line in (("passwd", template.passwd_line()),
                               ("group", template.group_line())):
                f = self.path("etc", name)
                f.write_text(pathlib.Path("/etc", name).read_text() + line)
                f.chmod(0o644)
                self.show(f, f"/etc/{name}")

    def show(self, source, target):
        bind(source, target)
        self.bound.append(target)

    def remove(self):
        self.stop()
        while self.bound:
            libc.umount2(os.fsencode(self.bound.pop()), MNT_DETACH)
        super().remove()

    # ---- users -------------------------------------------------------------
    def as_ordinary(self, *argv, memlock=8 << 20):
        """A command of an ordinary user, with a login node's limit of locked memory."""
        become = []
        if os.getuid() == 0:
            _, uid, gid = template.ordinary_user()
            become = ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups"]
        return self.run("prlimit", f"--memlock={memlock}", *become, *argv, cwd="/tmp")

    def submit(self, script, *options):
        """By an ordinary user; the output stays in the VM, at /tmp/JOBID.out."""
        f = self.path("out", f"job-{time.time_ns()}.sh")
        f.write_text("#!/bin/bash\n" + script)
        f.chmod(0o755)
        r = self.as_ordinary("sbatch", "--parsable", "-C", "sriov-roce", "-o", "/tmp/%A.out",
                             *options, f)
        assert r.returncode == 0, r.stderr
        return int(r.stdout.strip())

    def text_of(self, job):
        """The output of the job's batch script, read in its first VM."""
        first = self.must("scontrol", "show", "hostnames",
                          self.job(job)["NodeList"]).split()[0]
        return self.shell(first)(f"cat /tmp/{job}.out")

    # ---- guests ------------------------------------------------------------
    def vm_dir(self, node):
        return self.path("guests", node)

    def shell(self, node):
        return Shell(self.vm_dir(node))

    def qmp(self, node, execute, **arguments):
        return qmp(self.vm_dir(node), execute, **arguments)

    def link(self, node, up):
        """The cable of the NIC that stands for the VF."""
        self.qmp(node, "set_link", name="nic1", up=up)

    def requests(self, node):
        """[(time, request)] of the VM's guestinfo, the power-on first."""
        log = self.vm_dir(node) / "rpc.log"
        rows = [line.split(" ", 1) for line in log.read_text("latin-1").splitlines()]
        return [(float(at), text) for at, text in rows]

    def state_time(self, node, state):
        """When the guest wrote guestinfo's state, seconds after its power-on."""
        rows = self.requests(node)
        began = [at for at, text in rows if text.startswith("power-on ")][-1]
        want = f"info-set guestinfo.slurm.state {state}"
        at = [at for at, text in rows if text == want and at >= began]
        assert at, f"{node} has not written the state {state}"
        return at[0] - began

    def power_on_time(self, node):
        return [at for at, text in self.requests(node) if text.startswith("power-on ")][-1]

    def wait_done(self, job, timeout=BOOT_S + 120):
        self.wait_state(job, "COMPLETED", timeout)
        return self.text_of(job)


def console(cluster, node, lines=15):
    """The end of the VM's console and of its journal, for a failure's text."""
    d = cluster.vm_dir(node)
    text = []
    for name in ("console.log", "serial.log", "rpc.log"):
        f = d / name
        if f.exists():
            text += [f"-- {node} {name}", *f.read_text("latin-1").splitlines()[-lines:]]
    try:
        text.append(cluster.shell(node)("journalctl -b --no-pager -n 40 -o short-monotonic", 20))
    except (OSError, AssertionError) as e:
        text.append(f"-- no shell: {e}")
    return "\n".join(text)


def kernel_of(cluster, node):
    return cluster.shell(node)("uname -r").strip()
