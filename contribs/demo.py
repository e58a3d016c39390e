#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The story of one job, as demo.sh tells it. Every sentence that is printed as
a fact was seen a moment before; what isn't seen ends the demo with one line."""

import os
import pathlib
import re
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "testsuite/system"))

from cluster import Cluster, ClusterError, Timeout, wait_for   # noqa: E402
from worlds import foreign, host, world                        # noqa: E402

HOSTS = ["esx01.example.org", "esx02.example.org"]
JOB = """#!/bin/bash
#SBATCH --constraint=sriov-roce
#SBATCH --nodes=4
date +"first line at %s.%N"
srun -l "$VS_CLUSTER_DIR"/bin/report
"""
DURATIONS = {"CloneVM_Task": "2s", "PowerOnVM_Task": "1s",
             "PowerOffVM_Task": "500ms", "ShutdownGuest": "500ms"}
ROW = re.compile(r"^\d+: (\S+) adapter=(\S+) mac=(\S+)", re.M)


class Unseen(Exception):
    """Something that the story tells did not happen."""


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


def make_cluster(directory):
    c = Cluster(directory, nodes=8, inventory=world(
        hosts=[host(h, vfs=4) for h in HOSTS],
        vms=[foreign("somebody-elses-vm", HOSTS[0])], durations=DURATIONS))
    c.slurm = {"SuspendTime": 8, "SuspendTimeout": 5}
    c.vsphere = {"ShutdownGrace": 5}
    return c


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


def follow(cluster, job, began, timeout=90):
    """Tell each change of the job's nodes until the job has ended."""
    told = {}
    end = time.monotonic() + timeout
    while True:
        must(time.monotonic() < end, f"job {job} has not ended in {timeout} s")
        state = cluster.job_state(job)
        try:
            rows = cluster.svf("nodes")["nodes"]
        except AssertionError:
            rows = []
        for n in rows:
            where = n.get("job") == job or n["node"] in told
            now = n["vm_state"]
            if where and now != "none" and told.get(n["node"]) != now:
                told[n["node"]] = now
                tell(f"  {time.time() - began:5.1f} s  {n['node']}  {now:<12}"
                     f" {n['host']} PF {n.get('pf') or '-'} MAC {n['mac']}")
        if state == "COMPLETED":
            return
        must(state in ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING"),
             f"job {job} ended {state}")
        time.sleep(0.1)


def vf_counts(cluster):
    """(ours, total) of all VFs by the simulator's own books."""
    pfs = [pf for h in cluster.state()["hosts"] for pf in h["pfs"]]
    return cluster.vfs_of(cluster.node_names()), sum(pf["vfs"] for pf in pfs)


def first_job(cluster):
    began = time.time()
    job = submit(cluster, JOB)
    follow(cluster, job, began)
    out = cluster.output(job)
    rows = ROW.findall(out)
    nodes = {n["node"]: n for n in cluster.svf("nodes")["nodes"]}
    tell("\nthe job's own output (host name, adapter, the card's MAC):")
    tell("  " + out.strip().replace("\n", "\n  "))
    must(len(rows) == 4, "the job did not report from four nodes")
    for name, adapter, mac in rows:
        n = nodes[name]
        must(adapter == n["adapter"] == "sriov-roce", f"{name}: wrong adapter")
        must(mac == n["mac"], f"{name}: the card's MAC isn't the promised one")
    must(len({mac for _, _, mac in rows}) == 4, "two nodes share a card")
    line = float(re.search(r"first line at ([\d.]+)", out).group(1))
    reg = cluster.last_registration([r[0] for r in rows])
    tell("\nhow long it took:")
    tell(f"  {reg - began:5.1f} s  from sbatch until the last of four new VMs "
         "was cloned, booted and registered")
    tell(f"  {line - reg:5.2f} s  from there to the job's first line")
    ours, total = vf_counts(cluster)
    must(ours == 4, f"{ours} VFs are in use by us, not 4")
    tell(f"  the simulator counts {ours} VFs in use by our VMs, of {total}")
    return {r[0] for r in rows}


def second_job(cluster, warm):
    calls = cluster.mutating()
    began = time.time()
    job = submit(cluster, JOB)
    wait_for("the second job's end", 30,
             lambda: cluster.job_state(job) == "COMPLETED")
    out = cluster.output(job)
    took = float(re.search(r"first line at ([\d.]+)", out).group(1)) - began
    names = {r[0] for r in ROW.findall(out)}
    must(names == warm, "it did not run on the warm VMs")
    must(cluster.mutating() == calls, "a warm VM needed a call to vCenter")
    must(took < 2.5, f"it took {took:.1f} s")
    tell(f"the same four VMs, still warm: first line {took:.2f} s after sbatch, "
         "no call to vCenter")


def vfs_come_back(cluster):
    began = time.time()
    tell("\nnobody needs the VMs now; after SuspendTime they are shut down ...")
    wait_for("the VFs are free again", 60, lambda: vf_counts(cluster)[0] == 0)
    wait_for("svf shows them free", 10, lambda: all(
        pf["ours"] == 0 and pf["held"] == 0
        for h in cluster.svf("hosts")["hosts"] for pf in h["pfs"]))
    tell(f"after {time.time() - began:.1f} s all VFs of ours are free again:")
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


def keep(cluster, state):
    env = cluster.path("env")
    env.write_text("".join(
        f"export {k}='{cluster.env[k]}'\n"
        for k in ("SLURM_CONF", "MUNGE_SOCKET", "VS_CLUSTER_DIR", "PATH")))
    state.parent.mkdir(parents=True, exist_ok=True)
    state.write_text(str(cluster.dir) + "\n")
    tell("\nThe cluster stays up. In your shell:\n"
         f"  source {env}\n"
         "then sbatch -C sriov-roce -N4 ..., squeue, sinfo, svf hosts, svf nodes.\n"
         "contribs/demo.sh --stop ends it.")


def stop(state):
    if not state.exists():
        tell("no demo is kept up")
        return 0
    d = state.read_text().strip()
    Cluster(d).end_by_pids()
    state.unlink()
    if re.fullmatch(r"/tmp/vs-[\w-]+", d):
        import shutil
        shutil.rmtree(d, ignore_errors=True)
    tell(f"the demo of {d} is ended")
    return 0


def on_signal(signum, frame):
    raise KeyboardInterrupt


def main():
    args = [a for a in sys.argv[1:] if a.startswith("--")]
    state = pathlib.Path(sys.argv[-1])
    if "--stop" in args:
        return stop(state)
    if "--keep" in args and state.exists():
        if Cluster(state.read_text().strip()).left_running():
            print("demo.sh: a demo is kept up already: contribs/demo.sh --stop "
                  "ends it", file=sys.stderr)
            return 1
        state.unlink()
    for s in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(s, on_signal)
    cluster = make_cluster(None)
    kept = False
    try:
        began = time.time()
        story(cluster)
        tell(f"\nall of it was seen, in {time.time() - began:.0f} s")
        if "--keep" in args:
            keep(cluster, state)
            kept = True
        return 0
    except (Unseen, ClusterError, Timeout, AssertionError) as e:
        last = cluster.ctld_errors()
        print(f"demo.sh: {e}", file=sys.stderr)
        if last:
            print(f"slurmctld's last errors:\n{last}", file=sys.stderr)
        for log in sorted(cluster.path("guests").glob("*/console.log"))[:1]:
            print(f"the end of {log.parent.name}'s console:\n" +
                  log.read_text(errors="replace")[-1000:], file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("demo.sh: interrupted, everything is ended", file=sys.stderr)
        return 130
    finally:
        if not kept:
            cluster.remove()


if __name__ == "__main__":
    sys.exit(main())
