# SPDX-License-Identifier: GPL-2.0-or-later
"""A root directory that stands for the VM of a template: mmdebstrap makes it once, each
guest is a copy with an sshd of its own on loopback, and Ansible logs in as on a VM. No
systemd runs there: what is enabled is looked at."""

import contextlib
import ctypes
import fcntl
import hashlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

from conftest import TOP

ANSIBLE = TOP / "contribs/guest/ansible"
CACHE = pathlib.Path(os.environ.get("VS_CACHE", "/nonexistent")) / "template"
AS_ROOT = [] if os.geteuid() == 0 else ["sudo", "-n"]
# dnf: for the tasks of RHEL
INCLUDE = ["python3", "systemd", "systemd-sysv", "udev", "dbus", "openssh-server", "iproute2",
           "ca-certificates", "python3-dnf", "rpm"]
# Its mounts are its own and end with it. What the test brings is below /run/test.
ENTER = r"""
d=$1 files=$2
shift 2
mount --bind "$d" "$d"
mount --rbind /dev "$d/dev"
mount -t proc proc "$d/proc"
mount -t sysfs sys "$d/sys" || mount --rbind /sys "$d/sys"
mount -t tmpfs none "$d/run"
mkdir -p "$d/run/sshd" "$d/run/systemd/resolve" "$d/run/test"
cat /etc/resolv.conf >"$d/run/systemd/resolve/stub-resolv.conf"
[ -L "$d/etc/resolv.conf" ] || cat /etc/resolv.conf >"$d/etc/resolv.conf"
mount --bind "$files" "$d/run/test"
mkdir "$d/run/archives"
mount --bind "${d%/*}/archives" "$d/run/archives"
cd "$d"
exec chroot . env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin VS_RUN="${VS_RUN:-}" "$@"
"""


def checked(*command, **more):
    done = subprocess.run([str(c) for c in command], text=True, stdin=subprocess.DEVNULL,
                          capture_output=True, check=False, **more)
    assert done.returncode == 0, f"{command[-1]}:\n{done.stdout}{done.stderr}"
    return done.stdout


def sources():
    """apt's sources of this machine, which the root has too."""
    return [str(f) for f in (pathlib.Path("/etc/apt/sources.list"),
                             *pathlib.Path("/etc/apt/sources.list.d").glob("*.sources"),
                             *pathlib.Path("/etc/apt/sources.list.d").glob("*.list"))
            if f.is_file()]


def base():
    """The root that no role has seen, made once for its list of packages."""
    assert str(CACHE) != "/nonexistent/template", "VS_CACHE is not set: contribs/check.sh sets it"
    key = hashlib.sha256(" ".join(INCLUDE).encode()).hexdigest()[:12]
    root = CACHE / f"debian-12-{key}"
    if not (root / ".made").exists():
        checked(*AS_ROOT, "rm", "-rf", CACHE)
        CACHE.mkdir(parents=True)
        checked(*AS_ROOT, "mmdebstrap", "--mode=root", "--variant=minbase",
                "--include=" + ",".join(INCLUDE), "--aptopt=APT::Install-Recommends \"false\"",
                "--skip=cleanup/apt", "bookworm", root, *sources(), timeout=900)
        # No service of a package starts: there is one machine, and it has its own.
        policy = CACHE / "policy-rc.d"
        policy.write_text("#!/bin/sh\nexit 101\n")
        checked(*AS_ROOT, "install", "-m", "755", policy, root / "usr/sbin/policy-rc.d")
        # What apt fetches is kept for the next guest.
        checked(*AS_ROOT, "mkdir", "-p", CACHE / "archives/partial")
        kept = CACHE / "archives.conf"
        kept.write_text('Dir::Cache::archives "/run/archives";\n'
                        'APT::Sandbox::User "root";\n')
        checked(*AS_ROOT, "cp", kept, root / "etc/apt/apt.conf.d/90archives")
        checked(*AS_ROOT, "touch", root / ".made")
    elif time.time() - (root / "var/lib/apt/lists").stat().st_mtime > 86400:
        checked(*AS_ROOT, "chroot", root, "apt-get", "-q", "update", timeout=300)
    # The role reads lists again that are older than an hour.
    checked(*AS_ROOT, "touch", root / "var/lib/apt/lists")
    return root


def ends_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)     # PR_SET_PDEATHSIG


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def locked():
    """Files of tests that run side by side make and copy the base one after the other."""
    CACHE.parent.mkdir(parents=True, exist_ok=True)
    with open(CACHE.parent / "template.lock", "w", encoding="utf-8") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


class Guest:
    """A copy of the base; root's SSH key is the test's."""

    def __init__(self, name, files):
        self.files, self.root, self.sshd, self.port = files, CACHE / name, None, 0
        files.mkdir()
        for key in ("key", "hostkey"):
            checked("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", files / key)
        checked(*AS_ROOT, "chown", "0", files / "hostkey")
        with locked():
            root = base()       # which begins with an empty CACHE if it makes one
            self.remove()
            checked(*AS_ROOT, "cp", "-a", "--reflink=auto", root, self.root)

    def remove(self):
        checked(*AS_ROOT, "rm", "-rf", "--one-file-system", self.root)

    def inside(self, *command):
        """The words that enter the root and run this there, as root."""
        return [*AS_ROOT, "unshare", "--mount", "--propagation", "private", "bash", "-euc",
                ENTER, "enter", str(self.root), str(self.files), *command]

    def run(self, script):
        return checked(*self.inside("bash", "-euc", script))

    def start(self, host_keys):
        """sshd, with the host keys of the root or with the test's."""
        self.stop()
        self.port = free_port()
        options = ["-p", str(self.port), "-o", "ListenAddress=127.0.0.1", "-o", "UsePAM=no",
                   "-o", "AuthorizedKeysFile=/run/test/key.pub", "-o", "StrictModes=no",
                   "-o", "Subsystem=sftp internal-sftp", "-o", "PidFile=none"]
        options += [f"-h/etc/ssh/ssh_host_{k}_key" for k in ("ed25519", "rsa")] \
            if host_keys == "its own" else ["-h/run/test/hostkey"]
        with open(self.files / "sshd.log", "ab") as log:
            # pylint: disable=subprocess-popen-preexec-fn
            self.sshd = subprocess.Popen(
                self.inside("/usr/sbin/sshd", "-D", "-e", "-f", "/dev/null", *options),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=ends_with_parent)
        end = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                assert self.sshd.poll() is None and time.monotonic() < end, \
                    (self.files / "sshd.log").read_text()
                time.sleep(0.05)

    def stop(self):
        if self.sshd:
            subprocess.run([*AS_ROOT, "kill", str(self.sshd.pid)], check=False)
            self.sshd.wait()
            self.sshd = None

    def play(self, variables, facts=None):
        """Plays template.yml: (exit status, output). Facts that are given are believed."""
        env = {k: v for k, v in os.environ.items() if not k.startswith("ANSIBLE_")}
        (self.files / "ansible.cfg").touch()
        env |= {"ANSIBLE_CONFIG": str(self.files / "ansible.cfg"), "ANSIBLE_HOME": str(self.files / "ansible"),
                "ANSIBLE_NOCOWS": "1", "ANSIBLE_NOCOLOR": "1", "ANSIBLE_PIPELINING": "1",
                "ANSIBLE_SSH_ARGS": "-o BatchMode=yes -o ControlMaster=auto -o ControlPersist=1",
                "ANSIBLE_SSH_CONTROL_PATH_DIR": str(self.files / "cp"),
                "ANSIBLE_HOST_KEY_CHECKING": "False"}
        if facts:
            known = self.files / "facts"
            known.mkdir(exist_ok=True)
            (known / "vm").write_text(json.dumps({**facts, "_ansible_facts_gathered": True}))
            env |= {"ANSIBLE_GATHERING": "smart", "ANSIBLE_CACHE_PLUGIN": "jsonfile",
                    "ANSIBLE_CACHE_PLUGIN_CONNECTION": str(known)}
        inventory = self.files / "inventory"
        inventory.write_text(
            f"vm ansible_host=127.0.0.1 ansible_port={self.port} ansible_user=root "
            f"ansible_ssh_private_key_file={self.files}/key "
            "ansible_python_interpreter=/usr/bin/python3 "
            "ansible_ssh_common_args='-o UserKnownHostsFile=/dev/null -o LogLevel=ERROR'\n")
        values = self.files / "variables.json"
        values.write_text(json.dumps(variables))
        done = subprocess.run(
            ["ansible-playbook", "-i", str(inventory), "-e", f"@{values}",
             str(ANSIBLE / "template.yml")],
            env=env, text=True, stdin=subprocess.DEVNULL, capture_output=True, check=False,
            timeout=600)
        return done.returncode, done.stdout + done.stderr

    def end(self):
        self.stop()
        self.remove()
        shutil.rmtree(self.files, ignore_errors=True)
