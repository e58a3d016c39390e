#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The story of one job, as demo.sh tells it. Every sentence that is printed as
a fact was seen a moment before; what isn't seen ends the demo with one line."""

import fcntl
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "system"))

from cluster import Cluster, ClusterError, Timeout, wait_for   # noqa: E402
from worlds import foreign, host, world                        # noqa: E402

HOSTS = ["esx01.example.org", "esx02.example.org"]
JOB = """#!/bin/bash
#SBATCH --constraint=sriov-roce
#SBATCH --nodes=4
date +"first line at %T.%3N (%s.%3N)"
srun -l "$VS_CLUSTER_DIR"/bin/report | sort -n
"""
DURATIONS = {"CloneVM_Task": "2s", "PowerOnVM_Task": "1s",
             "PowerOffVM_Task": "500ms", "ShutdownGuest": "500ms"}
FIRST = re.compile(r"^first line at \S+ \(([\d.]+)\)", re.M)
ROW = re.compile(r"^\d+: (\S+) adapter=(\S+) mac=(\S+)", re.M)


class Unseen(Exception):
    """Something that the story tells did not happen."""


EXPECTED = (Unseen, ClusterError, AssertionError, OSError,
            subprocess.SubprocessError)
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def must(seen, what):
    if not seen:
        raise Unseen(what)


def tell(text=""):
    print(text, flush=True)


def show(cluster, *argv):
    tell(f"\n$ {' '.join(argv)}")
    r = cluster.run(*argv)
    tell((r.stdout + r.stderr).rstrip())
    must(r.returncode == 0, f"`{' '.join(argv)}` failed")
    return r.stdout


def make_cluster():
    c = Cluster(None, nodes=8, inventory=world(
        hosts=[host(h, vfs=4) for h in HOSTS],
        vms=[foreign("somebody-elses-vm", HOSTS[0])], durations=DURATIONS))
    c.slurm = {"SuspendTime": 8, "SuspendTimeout": 5, "ResumeTimeout": 1200,
               "JobSubmitPlugins": "vsphere"}
    c.vsphere = {"ShutdownGrace": 5}
    return c


def take_plugins(cluster):
    """Its own copy: other users can't look into the cache of root, and a later
    build doesn't change what a kept cluster runs."""
    root = cluster.path("root")
    try:
        shutil.copytree(cluster.root, root,
                        ignore=shutil.ignore_patterns("man"))
    except shutil.Error as e:       # (from, to, why) of each file
        raise ClusterError(f"copying the plugins: {e.args[0][0][2]}") from e
    cluster.root = str(root)


def submit(cluster, script):
    f = cluster.path("out", "job.sh")
    f.write_text(script)
    tell("\n$ sbatch job.sh        # --constraint=sriov-roce --nodes=4")
    r = cluster.run("sbatch", "--output", cluster.path("out", "%A.out"), f,
                    cwd=cluster.path("out"))
    tell((r.stdout + r.stderr).strip())
    m = re.search(r"(\d+)$", r.stdout.strip())
    must(r.returncode == 0 and m, "sbatch was refused")
    return int(m.group(1))


class Progress:
    """What became of a job's nodes: told when seen, and how long it took."""

    def __init__(self, cluster, job, began):
        self.cluster, self.job, self.began = cluster, job, began
        self.at = {}            # node: {state: when it was first seen}

    def look(self):
        try:
            rows = self.cluster.svf("nodes")["nodes"]
        except AssertionError:
            return
        now = time.time()
        news = {}
        for n in rows:
            name, state = n["node"], n["vm_state"]
            if n.get("job") != self.job or state == "NONE" or \
                    state in self.at.get(name, {}):
                continue
            if name not in self.at and n.get("pf"):
                tell(f"  {now - self.began:5.1f} s  {name} gets a VF of PF "
                     f"{n['pf']} on {n.get('host')}, MAC {n.get('mac')}")
            self.at.setdefault(name, {})[state] = now
            news.setdefault(state, []).append(name)
        for state, names in news.items():
            tell(f"  {now - self.began:5.1f} s  {' '.join(names)}: {state}")

    def until_it_ends(self, timeout=90):
        end = time.monotonic() + timeout
        while True:
            must(time.monotonic() < end,
                 f"job {self.job} has not ended in {timeout} s")
            state = self.cluster.job_state(self.job)
            self.look()
            if state == "COMPLETED":
                return
            must(state in ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING"),
                 f"job {self.job} ended {state}")
            time.sleep(0.05)

    def last(self, state):
        """When the last of the nodes was seen so, None if that was missed."""
        times = [t.get(state) for t in self.at.values()]
        return max(times) if times and None not in times else None

    def tell_steps(self, registered, line):
        tell("\nhow long each step took, for the last of the four:")
        since = self.began
        for what, at in (
                ("Slurm scheduled the job and the clones began",
                 self.last("cloning")),
                ("the VMs were cloned", self.last("starting")),
                ("they were powered on", self.last("on")),
                ("they booted and their slurmd registered", registered),
                ("the job's first line", line)):
            if at is not None and at >= since:
                tell(f"  {at - since:5.2f} s  {what}")
                since = at
        tell(f"  {line - self.began:5.2f} s  in all, from sbatch")


def vf_counts(cluster):
    """(used by the demo, total) of all VFs by the simulator's own books."""
    pfs = [pf for h in cluster.state()["hosts"] for pf in h["pfs"]]
    return cluster.vfs_of(cluster.node_names()), sum(pf["vfs"] for pf in pfs)


def first_job(cluster):
    began = time.time()
    job = submit(cluster, JOB)
    progress = Progress(cluster, job, began)
    progress.until_it_ends()
    out = cluster.output(job)
    rows = ROW.findall(out)
    nodes = {n["node"]: n for n in cluster.svf("nodes")["nodes"]}
    tell("\nthe job's own output (host name, adapter, the NIC's MAC):")
    tell("  " + out.strip().replace("\n", "\n  "))
    must(len(rows) == 4, "the job did not report from four nodes")
    for name, adapter, mac in rows:
        n = nodes[name]
        must(adapter == n["adapter"] == "sriov-roce", f"{name}: wrong adapter")
        must(mac == n["mac"], f"{name}: the NIC has another MAC than svf nodes shows")
    must(len({mac for _, _, mac in rows}) == 4, "two nodes have the same MAC")
    must(FIRST.search(out), "the job's first line is missing")
    progress.tell_steps(cluster.last_registration([r[0] for r in rows]),
                        float(FIRST.search(out).group(1)))
    ours, total = vf_counts(cluster)
    must(ours == 4, f"{ours} VFs are in use by the VMs, not 4")
    tell(f"the simulator counts {ours} VFs in use by these VMs, of {total}")
    return {r[0] for r in rows}


def second_job(cluster, warm):
    calls = cluster.mutating()
    began = time.time()
    job = submit(cluster, JOB)
    wait_for("the second job's end", 30,
             lambda: cluster.job_state(job) == "COMPLETED")
    out = cluster.output(job)
    must(FIRST.search(out), "the second job's first line is missing")
    took = float(FIRST.search(out).group(1)) - began
    names = {r[0] for r in ROW.findall(out)}
    must(names == warm, "it did not run on the warm VMs")
    must(cluster.mutating() == calls, "a warm VM needed a call to vCenter")
    must(took < 2.5, f"it took {took:.1f} s")
    tell(f"the same four VMs, still warm: first line {took:.2f} s after sbatch, "
         "no call to vCenter")


def vfs_come_back(cluster):
    began = time.time()
    tell("\nno job needs the VMs now; after SuspendTime Slurm powers them down ...")
    wait_for("the VFs are free again", 60, lambda: vf_counts(cluster)[0] == 0)
    wait_for("svf shows them free", 10, lambda: all(
        pf["managed"] == 0 and pf["reserved"] == 0
        for h in cluster.svf("hosts")["hosts"] for pf in h["pfs"]))
    tell(f"after {time.time() - began:.1f} s all VFs of these VMs are free again:")
    show(cluster, "svf", "hosts")
    n = cluster.counters()
    must(n["powerOnFullPF"] == 0, "a power-on was sent to a full PF")
    must(n["foreignTouches"] == 0, "something foreign was touched")


def story(cluster):
    began = time.time()
    cluster.start()
    tell(f"munged, a vCenter with {len(HOSTS)} ESXi hosts (simulated) and "
         f"slurmctld are up after {time.time() - began:.1f} s, in {cluster.dir}")
    wait_for("the plugin has read vCenter", 20,
             lambda: len(cluster.svf("hosts")["hosts"]) == len(HOSTS))
    show(cluster, "svf", "hosts")
    show(cluster, "sinfo")
    warm = first_job(cluster)
    second_job(cluster, warm)
    vfs_come_back(cluster)


class Record:
    """A file in the cache that names one demo's directory. It is locked while
    the demo's own process lives, so a demo whose process was killed is known
    by a record that no process locks and that doesn't say `kept`."""

    def __init__(self, file):
        self.file = pathlib.Path(file)
        self.handle = None

    @classmethod
    def all(cls, cache):
        return [cls(f) for f in sorted(pathlib.Path(cache, "demos").glob("vs-*"))]

    @classmethod
    def new(cls, cache, cluster):
        r = cls(pathlib.Path(cache, "demos", cluster.dir.name))
        r.file.parent.mkdir(parents=True, exist_ok=True)
        r.handle = r.file.open("w")
        fcntl.flock(r.handle, fcntl.LOCK_EX)
        r.write(f"{cluster.dir}\n")
        return r

    def write(self, text):
        self.handle.write(text)
        self.handle.flush()

    def lines(self):
        return self.file.read_text().split("\n")

    def kept(self):
        return "kept" in self.lines()

    def take(self):
        """Locks the record, so that the caller may end the demo. False while its
        demo, or another process that ends it, lives."""
        try:
            self.handle = self.file.open()
            fcntl.flock(self.handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return self.file.exists()

    def end(self):
        """End what runs in the directory, then remove it and the record."""
        d = pathlib.Path(self.lines()[0])
        c = Cluster(d)
        try:
            c.end_by_pids()
        except (Timeout, OSError):
            c.stop()        # what did not end when asked is killed
        if d.name == self.file.name:
            shutil.rmtree(d, ignore_errors=True)
        self.file.unlink(missing_ok=True)
        return d


def keep(cluster, record):
    path = [d for d in (cluster.path("bin"), cluster.path("root", "usr/bin"))
            if d.is_dir()]
    env = cluster.path("env")
    env.write_text("".join(
        f"export {k}='{cluster.env[k]}'\n"
        for k in ("SLURM_CONF", "MUNGE_SOCKET", "VS_CLUSTER_DIR")) +
        f"export PATH='{':'.join(map(str, path))}':\"$PATH\"\n")
    record.write("kept\n")
    tell("\nThe cluster stays up. In your shell:\n"
         f"  source {env}\n"
         "then sbatch -C sriov-roce -N4 ..., squeue, sinfo, svf hosts, svf nodes,\n"
         "and the commands of doc/user-guide.md and doc/operations/maintenance.md.\n"
         "contribs/demo.sh --stop ends it.")


def stop(cache):
    ours = [r for r in Record.all(cache) if r.take()]
    for r in ours:
        tell(f"the demo of {r.end()} is ended")
    if not ours:
        tell("no demo is kept up")
    return 0


def one_line(error):
    """An error's text as one line: of a log's lines, the worst."""
    if not isinstance(error, EXPECTED):
        return f"a bug of the demo itself: {error!r}"
    lines = [ln for ln in str(error).splitlines() if ln.strip()]
    if len(lines) < 2:
        return "".join(lines) or type(error).__name__
    what = lines[0].split(": ")[0]
    worst = ([ln for ln in lines if "fatal: " in ln] or lines)[-1]
    text = what + ": " + re.sub(r"^.*?(?=fatal: |error: )", "", worst)
    if "Address already in use" in worst:
        text += ": another program took the port first, run it again"
    return text


def save_logs(cluster, cache):
    """Copies what tells why; gives the words that name the place."""
    place = pathlib.Path(cache, "log", "demo")
    try:
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(cluster.path("log"), place)
        (place / "traceback").write_text(traceback.format_exc())
        for log in cluster.path("guests").glob("*/console.log"):
            shutil.copy(log, place / f"{log.parent.name}.console")
    except OSError:
        return ""
    return f" (the logs: {place})"


def complain(text):
    print(f"demo.sh: {text}", file=sys.stderr)


def on_signal(signum, frame):
    raise KeyboardInterrupt


def run(cluster, cache, keep_it):
    """The demo in this cluster; its exit code. Whatever happens, nothing is
    left, or all of it is kept."""
    record, why = None, ""
    try:
        record = Record.new(cache, cluster)
        began = time.time()
        take_plugins(cluster)
        story(cluster)
        tell(f"\neach step succeeded, in {time.time() - began:.0f} s")
        if keep_it:
            keep(cluster, record)
            return 0
        rc = 0
    except BaseException as e:      # a signal too
        for s in SIGNALS:
            signal.signal(s, signal.SIG_IGN)
        rc = 130 if isinstance(e, KeyboardInterrupt) else 1
        why = "interrupted, everything that it started is ended"
        if rc == 1:
            why = one_line(e) + save_logs(cluster, cache)
        if isinstance(e, BrokenPipeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    for s in SIGNALS:
        signal.signal(s, signal.SIG_IGN)
    cluster.remove()
    if record:
        record.file.unlink(missing_ok=True)
    if why:
        complain(why)
    return rc


def main():
    cache = sys.argv[-1]
    if "--stop" in sys.argv:
        return stop(cache)
    os.umask(0o022)
    for s in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(s, on_signal)
    for r in Record.all(cache):
        if not r.take():
            continue
        if not r.kept():
            tell(f"ending what an earlier demo left behind: {r.end()}")
        elif "--keep" in sys.argv:
            if Cluster(r.lines()[0]).left_running():
                complain("a demo is kept up already: contribs/demo.sh --stop "
                         "ends it")
                return 1
            r.end()
        r.handle.close()
    try:
        cluster = make_cluster()
    except (OSError, ClusterError) as e:
        complain(one_line(e))
        return 1
    return run(cluster, cache, "--keep" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
