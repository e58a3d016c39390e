# SPDX-License-Identifier: GPL-2.0-or-later
"""A whole private cluster in one directory: munged, the vCenter simulator,
slurmctld, and a slurmd in every VM that the simulator powers on.

Used by the system tests, by testsuite/demo/demo.py and by testsuite/bench/bench_start.py.

Rules: everything lies below one directory and listens on loopback ports that
were free; nothing of the system's own Slurm or munge is read or changed; what
was started is ended, by pid, also after a failure. Nothing here sleeps and
hopes: waits poll a condition and have a bound.

Environment: VS_ROOT (where `make install DESTDIR=` put the plugins and svf),
VS_SIM (the simulator's binary), VS_TOP (the checkout), VS_TSAN (where plugins
with TSan are, which slurmctld alone shall load).
"""

import datetime
import json
import os
import pathlib
import pwd
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from daemons import (   # noqa: F401 (the tests take them from here)
    DONE, GUEST_HOOK, GUEST_SPACES, INSIDE, PASSWORD, REPORT, TOP, ClusterError,
    Controller, Daemon, Timeout, free_ports, isolation, kill_marked,
    parse_fields, patience, plugin_dirs, slurm_binary, slurm_release, wait_for)
import forms
from configuration import Configuration
from simulator import Simulator

SIMULATED_PORT = pathlib.Path(os.environ.get("VS_BUILD", TOP)) / \
    "testsuite/guest/simulated-port"
GUEST_WAIT_S = 5    # a guest's patience with its NIC, which is there at once


class Cluster(Configuration, Simulator):
    """See the module's text. Attributes that callers set before start():
    nodes, slurm (dict of slurm.conf lines), vsphere (text of vsphere.conf
    or None for stock cons_tres), inventory, faults, partitions."""

    def __init__(self, directory=None, inventory=None, faults=None, nodes=16,
                 plain=False, root=None):
        self.own_dir = directory is None
        self.dir = pathlib.Path(directory or tempfile.mkdtemp(prefix="vs-"))
        self.root = root or os.environ.get("VS_ROOT")
        self.sim_binary = os.environ.get("VS_SIM")
        self.plain = plain
        self.inventory = inventory
        self.faults = faults
        self.recording = None       # a directory whose objects vcsim serves
        self.nodes = nodes
        self.node_lines = None      # list of slurm.conf lines, or the default
        self.partition_lines = None
        self.vsphere = None         # dict of vsphere.conf overrides
        self.vsphere_text = None    # the whole text instead
        self.slurm = {}             # slurm.conf overrides; None drops a key
        self.password, self.password_mode = PASSWORD, 0o600
        self.daemons = {}
        self.ctld_env = {}          # slurmctld's alone
        # Not what USER says: a service may say anything, or nothing.
        self.user = pwd.getpwuid(os.getuid()).pw_name
        self.mark = f"VS_CLUSTER_DIR={self.dir}"
        self.isolation = isolation()
        self.release = slurm_release()
        # A reconfigure makes another process, and fails without harm, where
        # systemd is told.
        self.reexec = self.release >= (23, 11)

    # ---- set-up ----------------------------------------------------------
    def path(self, *parts):
        return self.dir.joinpath(*parts)

    @property
    def env(self):
        e = {k: v for k, v in os.environ.items()
             if not k.startswith(("SLURM_", "SBATCH_", "SQUEUE_", "VS_VM"))}
        e["SLURM_CONF"] = str(self.path("etc", "slurm.conf"))
        e["VS_CLUSTER_DIR"] = str(self.dir)
        e["MUNGE_SOCKET"] = str(self.path("run", "munge.socket"))
        path = [str(self.path("bin"))] if not self.isolation else []
        path += [str(p) for p in (pathlib.Path(self.root) / "usr/bin",
                                  pathlib.Path(self.root) / "usr/local/bin")
                 if p.is_dir()] if self.root else []
        e["PATH"] = ":".join(path + [e.get("PATH", ""), "/usr/sbin", "/sbin"])
        e.pop("LD_PRELOAD", None)
        e.update(self.sanitizer)
        return e

    @property
    def sanitizer(self):
        """Plugins with a sanitizer need its runtime to come first: VS_PRELOAD
        names it. What it finds is in log/sanitizer.*."""
        if not os.environ.get("VS_PRELOAD"):
            return {}
        say = f"log_path={self.path('log', 'sanitizer')}"
        return {"LD_PRELOAD": os.environ["VS_PRELOAD"],
                # slurmctld itself leaves much behind
                "ASAN_OPTIONS": f"detect_leaks=0:abort_on_error=0:{say}",
                "UBSAN_OPTIONS": f"print_stacktrace=1:{say}"}

    def make_dirs(self):
        self.dir.mkdir(parents=True, exist_ok=True)
        self.dir.chmod(0o755)
        for d in ("etc", "run", "log", "state", "spool", "out", "bin",
                  "guests", "vcsim"):
            self.path(d).mkdir(exist_ok=True)
        self.path("out").chmod(0o1777)
        self.path("etc").chmod(0o755)

    def choose_ports(self):
        self.make_dirs()
        saved = self.path("run", "ports.json")
        if saved.exists():
            p = json.loads(saved.read_text())
        else:
            base, self.ports = free_ports(self.nodes + 4)
            p = {"ctld": base, "control": base + 1, "slurmd": base + 2,
                 "node": base + 4}
            saved.write_text(json.dumps(p))
        self.ctld_port, self.control_port = p["ctld"], p["control"]
        self.slurmd_port, self.node_port = p["slurmd"], p["node"]

    def write_configuration(self):
        self.path("etc", "slurm.conf").write_text(self.slurm_conf())
        if not self.plain:
            pw = self.path("etc", "vcenter.password")
            pw.write_text(self.password + "\n")
            pw.chmod(self.password_mode)
            self.path("etc", "vsphere.conf").write_text(self.vsphere_conf())
        for name, guest in (("conf", False), ("guest", True)):
            self.path("etc", "communication." + name).write_text(
                self.communication_conf(guest))
        self.path("etc", "plugstack.conf").write_text(
            "" if self.plain else "optional spank_vsphere.so\n")
        # Nothing uses cgroups here; autodetection would want them mounted.
        self.path("etc", "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")

    # ---- daemons ---------------------------------------------------------
    def _start(self, name, argv, **env):
        kind = Controller if self.reexec and "slurmctld" in name else Daemon
        d = kind([str(a) for a in argv], str(self.path("log", name + ".out")),
                 {**self.env, **env})
        self.daemons[name] = d
        self.path("run", name + ".harness-pid").write_text(str(d.pid))
        return d

    def start_munged(self):
        key = self.path("etc", "munge.key")
        if not key.exists():
            key.touch(mode=0o600)
            key.write_bytes(os.urandom(128))
        sock = self.path("run", "munge.socket")
        if len(str(sock)) > 100:
            raise ClusterError(f"{self.dir}: too long a path for a socket")
        d = self._start("munged", [
            slurm_binary("munged"), "--foreground", "--force",
            f"--key-file={key}", f"--socket={sock}",
            f"--pid-file={self.path('run', 'munged.pid')}",
            f"--log-file={self.path('log', 'munged.log')}",
            f"--seed-file={self.path('run', 'munged.seed')}"])

        def up():
            if not d.alive():
                raise ClusterError("munged did not start: " + d.tail())
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(str(sock))
            return True
        wait_for("munged answers", 30, up)

    def start_vcsim(self):
        if not self.sim_binary:
            raise ClusterError("VS_SIM (the simulator's binary) is not set")
        inv = forms.declared(self.inventory)
        inv.setdefault("guest", {"command": [str(self.path("bin", "guest"))]})
        self.path("vcsim", "inventory.json").write_text(json.dumps(inv, indent=1))
        argv = [self.sim_binary, "-inventory", self.path("vcsim", "inventory.json"),
                "-listen", "127.0.0.1:0", "-dir", self.path("vcsim")]
        if self.recording:
            argv += ["-load", self.recording]
        if os.environ.get("VS_REQUESTS"):   # golden/requests.py
            argv += ["-requests", os.path.join(os.environ["VS_REQUESTS"],
                                               f"{self.dir.name}.json")]
        if self.faults is not None:
            self.path("vcsim", "faults.json").write_text(json.dumps(self.faults))
            argv += ["-faults", self.path("vcsim", "faults.json")]
        ready = self.path("vcsim", "ready.json")
        ready.unlink(missing_ok=True)
        d = self._start("vcsim", argv, LD_PRELOAD="")

        def up():
            if not d.alive():
                raise ClusterError("the simulator did not start: " + d.tail())
            return json.loads(ready.read_text()) if ready.exists() else None
        try:
            r = wait_for("the simulator is ready", 30, up)
        except ValueError:
            r = wait_for("the simulator is ready", 20, up)
        self.sim_url, self.sim_ca = r["url"], r["ca"]
        self.sim_control = r["control"]
        if not os.path.exists(str(self.sim_ca)):    # the text itself
            self.path("vcsim", "ca.pem").write_text(self.sim_ca)
            self.sim_ca = str(self.path("vcsim", "ca.pem"))

    def thread_sanitizer(self):
        """slurm.conf and environment of a slurmctld with TSan. Its runtime is
        no preload for shells, so only slurmctld has it. Slurm isn't built with
        it: what Slurm itself does to memory says nothing about our code."""
        own = self.path("etc", "slurmctld.conf")
        theirs, ours = (":".join(plugin_dirs(r)) for r in (
            self.root, os.environ["VS_TSAN"]))
        own.write_text(self.path("etc", "slurm.conf").read_text().replace(
            f"PluginDir={theirs}\n", f"PluginDir={ours}\n"))
        runtime = subprocess.run(
            ["gcc", "-print-file-name=libtsan.so"], check=True, text=True,
            capture_output=True).stdout.strip()
        return own, {
            "LD_PRELOAD": os.path.realpath(runtime),
            "TSAN_OPTIONS": "ignore_noninstrumented_modules=1:exitcode=0:"
                            "die_after_fork=0:history_size=4:"
                            f"log_path={self.path('log', 'sanitizer')}"}

    def start_slurmctld(self, *options, wait=True):
        conf, env = self.path("etc", "slurm.conf"), dict(self.ctld_env)
        if os.environ.get("VS_TSAN") and not self.plain:
            conf, more = self.thread_sanitizer()
            env.update(more)
        d = self._start("slurmctld", [*self.controller_argv(conf, env),
                                      *options])
        if wait:
            def up():
                if not d.alive():
                    raise ClusterError("slurmctld did not start: " +
                                       (self.ctld_errors() or d.tail()))
                return self.run("scontrol", "ping").stdout.count(" UP")
            wait_for("slurmctld answers", 40, up)
        return d

    def ctld_errors(self):
        log = self.ctld_log()
        lines = [ln for ln in log.splitlines()
                 if " error: " in ln or " fatal: " in ln]
        return "\n".join(lines[-8:])

    def ctld_log(self):
        f = self.path("log", "slurmctld.log")
        return f.read_text(errors="replace") if f.exists() else ""

    def start_static_slurmd(self, name, *options):
        """A slurmd that no vCenter decides over."""
        return self._start("slurmd-" + name,
                           [*self.guest_argv(name), *options])

    def guest_argv(self, name):
        argv = [slurm_binary("slurmd"), "-D", "-b", "-N", name, "-f",
                str(self.path("etc", "slurm.conf"))]
        if self.isolation:
            argv = [*self.isolation, *GUEST_SPACES, *INSIDE, name,
                    f"{name}:127.0.0.1", self.guest_bind(), "--"] + argv
        return argv

    def guest_bind(self):
        """A guest sees its own communication.conf in the place of slurmctld's."""
        return (f"{self.path('etc', 'communication.guest')}:"
                f"{self.path('etc', 'communication.conf')}")

    def controller_argv(self, conf, env=()):
        """slurmctld, which finds the machine's name at 127.0.0.1 alone, and,
        where a power-down resets NodeAddr, the nodes' names too."""
        argv = [slurm_binary("slurmctld"), "--systemd" if self.reexec else "-D",
                "-f", str(conf)]
        if env:
            argv = ["env", *(f"{k}={v}" for k, v in dict(env).items())] + argv
        if self.isolation:
            names = [socket.gethostname()] + self.reexec * self.node_names()
            argv = [*self.isolation, *INSIDE, "-",
                    ",".join(f"{n}:127.0.0.1" for n in names), "--"] + argv
        return argv

    def write_guest(self):
        """What the simulator runs when it powers a VM on."""
        for name, text in (("guest", GUEST_HOOK), ("report", REPORT)):
            f = self.path("bin", name)
            f.write_text(text)
            f.chmod(0o755)
        if not self.isolation:      # the host name is the machine's: print the node's
            f = self.path("bin", "hostname")
            f.write_text('#!/bin/sh\necho "$SLURMD_NODENAME"\n')
            f.chmod(0o755)
        inside = " ".join([*self.isolation, *GUEST_SPACES, *INSIDE]) \
            if self.isolation else ""
        self.path("bin", "guest.env").write_text(
            f"export SV_WAIT={GUEST_WAIT_S}\n"
            f"export SV_PORT='{SIMULATED_PORT}'\n"
            f"dir='{self.dir}'\nisolation='{inside}'\n"
            f"top='{TOP}'\nslurmd='{slurm_binary('slurmd')}'\n"
            + "".join(f"export {k}='{v}'\n" for k, v in self.sanitizer.items()))

    def start(self):
        try:
            self.choose_ports()
            self.write_guest()
            self.start_munged()
            if not self.plain:
                self.start_vcsim()
            self.write_configuration()
            self.start_slurmctld()
            if self.plain:
                for n in self.node_names():
                    self.start_static_slurmd(n)
        except BaseException:
            self.stop()
            raise
        return self

    def wait_ready(self):
        """The plugin has read vCenter and serves."""
        wait_for("the plugin is ready", 40,
                 lambda: " slurm-vsphere: ready: " in self.ctld_log())
        return self

    def end_slurmctld(self, sig=signal.SIGTERM, grace=90):
        """Slurm waits up to 30 s for its RPCs, and saves its state then."""
        self.daemons.pop("slurmctld").end(sig, grace, tell=True)

    def restart_slurmctld(self, sig=signal.SIGTERM):
        self.end_slurmctld(sig)
        self.start_slurmctld()

    def kill_slurmctld(self):
        self.end_slurmctld(signal.SIGKILL)

    def stop(self):
        """End everything; safe to call again and from any state."""
        ctld = self.daemons.pop("slurmctld", None)
        if ctld:
            ctld.end()
        for name in [n for n in self.daemons if n.startswith("slurmd-")]:
            self.daemons.pop(name).end(grace=2)
        for name in ("vcsim", "munged"):
            d = self.daemons.pop(name, None)
            if d:
                d.end(grace=5)
        kill_marked(self.mark)

    def remove(self):
        self.stop()
        if self.own_dir:
            shutil.rmtree(self.dir, ignore_errors=True)

    def __enter__(self):
        return self.start()

    def __exit__(self, *exc):
        self.stop()

    # ---- changes under way ------------------------------------------------
    def change_vsphere(self, old, new, refused=False):
        """Edit vsphere.conf and let slurmctld read it. refused: slurmctld can't
        use it: one that restarts to read it fails, an older one only logs that."""
        f = self.path("etc", "vsphere.conf")
        text = f.read_text()
        assert old in text, f"vsphere.conf has no {old!r}"
        f.write_text(text.replace(old, new))
        r = self.run("scontrol", "reconfigure")
        assert (r.returncode != 0) == (refused and self.reexec), r.stderr

    def last_registration(self, names):
        """When slurmctld took the last of these nodes' registrations (epoch
        seconds), by its log."""
        at = {}
        for m in re.finditer(r"^\[(\S+)\] .*[Nn]ode (\S+) (?:now responding|"
                             r"returned to service)", self.ctld_log(), re.M):
            at[m.group(2)] = datetime.datetime.fromisoformat(
                m.group(1)).timestamp()
        assert set(names) <= set(at), f"no registration of {names} in the log"
        return max(at[n] for n in names)

    def is_powered_down(self, name):
        return "POWERED_DOWN" in self.node(name)["State"]

    # ---- after a keeper has gone --------------------------------------------
    def pids(self):
        """{daemon: pid} of what an earlier process left running here: its pid
        is on record and the process carries our mark."""
        res = {}
        for f in self.path("run").glob("*.harness-pid"):
            pid = int(f.read_text())
            try:
                env = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
            except OSError:
                continue
            if self.mark.encode() in env.split(b"\0"):
                res[f.name.removesuffix(".harness-pid")] = pid
        return res

    def left_running(self):
        return bool(self.pids())

    def end_by_pids(self):
        for name in ("slurmctld", "vcsim", "munged"):
            pid = self.pids().get(name)
            if pid:
                os.kill(pid, signal.SIGTERM)
                wait_for(f"{name} ends", 60, lambda: name not in self.pids())
        kill_marked(self.mark)

    # ---- Slurm's commands ------------------------------------------------
    def run(self, *argv, check=False, timeout=60, **kw):
        return subprocess.run([str(a) for a in argv], env=self.env, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=timeout, check=check, **kw)

    def must(self, *argv, **kw):
        r = self.run(*argv, **kw)
        assert r.returncode == 0, f"{' '.join(map(str, argv))}: " \
            f"{r.stdout}{r.stderr}"
        return r.stdout

    def sbatch(self, *options, script="srun -l hostname", expect=True):
        """Submit; the job's id, or the CompletedProcess if expect is False."""
        f = self.path("out", f"job-{random.randrange(1 << 48):x}.sh")
        f.write_text("#!/bin/bash\n" + script + "\n")
        r = self.run("sbatch", "--parsable", "-o", self.path("out", "%A.out"),
                     *options, f, cwd=self.path("out"))
        if not expect:
            return r
        assert r.returncode == 0, r.stderr
        return int(r.stdout.strip().split(";")[0])

    def output(self, job):
        f = self.path("out", f"{job}.out")
        return f.read_text(errors="replace") if f.exists() else ""

    def job(self, job):
        """`scontrol show job` as a dict, {} if it is gone."""
        r = self.run("scontrol", "-o", "show", "job", str(job))
        if r.returncode:
            return {}
        return parse_fields(r.stdout.splitlines()[0])

    def job_state(self, job):
        return self.job(job).get("JobState", "GONE")

    def wait_state(self, job, states, timeout=30):
        if isinstance(states, str):
            states = [states]

        def look():
            s = self.job_state(job)
            if s in DONE and s not in states:
                raise RuntimeError(
                    f"JobId={job} ended {s}: {self.job(job)}\n"
                    f"output: {self.output(job)}")
            return s if s in states else None
        return wait_for(f"JobId={job} is {'/'.join(states)}", timeout, look)

    def wait_job(self, job, timeout=40):
        """Until the job has completed well; returns its output."""
        self.wait_state(job, "COMPLETED", timeout)
        return self.output(job)

    def squeue(self, job, fmt="%r"):
        return self.must("squeue", "-h", "-j", str(job), "-o", fmt).strip()

    def node(self, name):
        return parse_fields(self.must("scontrol", "-o", "show", "node", name))

    def node_states(self):
        out = self.must("scontrol", "-o", "show", "nodes", "-a")
        res = {}
        for line in out.splitlines():
            f = parse_fields(line)
            if "NodeName" in f:
                res[f["NodeName"]] = f["State"]
        return res

    def wait_node(self, name, predicate, timeout=30, what="a state"):
        return wait_for(f"{name} has {what}", timeout,
                        lambda: predicate(self.node(name)["State"]))

    def svf(self, *argv, json_out=True):
        if json_out:
            return json.loads(self.must("svf", "--json", *argv))
        return self.must("svf", *argv)


if __name__ == "__main__":
    sys.exit("this is a module: see the system tests and contribs/demo.sh")
