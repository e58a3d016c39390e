# SPDX-License-Identifier: GPL-2.0-or-later
"""A live cluster moves from select/cons_tres to select/cons_tres_vsphere, back, and
there again, by the steps of doc/existing-cluster.md and no other; and slurm-vsphere's plugins
are installed again under a running slurmctld. Jobs, reservations and VMs stay."""

import os
import pathlib
import shutil

import pytest

from cluster import parse_fields, slurm_binary, wait_for
from stages import ready_count, wait_ready_again, wait_saved
from worlds import world

METAL = ("vm005", "vm006", "vm007")
STOCK = {"SelectType": "select/cons_tres", "PrEpPlugins": "prep/script",
         "SuspendTime": -1}
OURS = {"SelectType": "select/cons_tres_vsphere",
        "PrEpPlugins": "prep/script,prep/vsphere", "SuspendTime": 600}

# What of a job must be the same before and after.
OF_JOB = ("JobId", "ArrayJobId", "ArrayTaskId", "Priority", "NodeList", "NumNodes",
          "NumCPUs", "ReqTRES", "AllocTRES", "TRES", "TimeLimit", "Dependency",
          "Restarts", "Nodes", "CPU_IDs", "Mem", "MinMemoryNode", "SubmitTime")
OF_NODE = ("State", "CPUAlloc", "AllocMem", "Reason", "Weight", "Partitions",
           "AllocTRES")


class Stepping:
    """A job that starts a step whenever it is told to."""

    def __init__(self, c, *options):
        self.c, self.n = c, 0
        self.base = c.path("out", f"steps-{len(list(c.path('out').iterdir()))}")
        self.id = c.sbatch(*options, script=f"""echo began
            n=1
            while [ ! -f {self.base}.end ]; do
                if [ -f {self.base}.$n ]; then
                    srun hostname && echo step $n; n=$((n + 1))
                fi
                sleep 0.2
            done
            echo the end""")

    def wait_running(self):
        wait_for(f"JobId={self.id} runs", 60,
                 lambda: "began" in self.c.output(self.id))
        return self

    def step(self):
        self.n += 1
        pathlib.Path(f"{self.base}.{self.n}").touch()
        wait_for(f"step {self.n} of JobId={self.id} has run", 30,
                 lambda: f"step {self.n}\n" in self.c.output(self.id))

    def end_well(self):
        pathlib.Path(f"{self.base}.end").touch()
        assert "the end" in self.c.wait_job(self.id)
        assert self.c.job(self.id)["Restarts"] == "0"


def pick(show, keys):
    return {k: show[k] for k in keys if k in show}


def picture(c):
    """All that must be the same before and after a move."""
    jobs, nodes = {}, {}
    for line in c.must("scontrol", "-o", "-d", "show", "job").splitlines():
        job = parse_fields(line)
        if job.get("JobState") in ("RUNNING", "SUSPENDED", "PENDING"):
            keys = OF_JOB + (("StartTime", ) if job["JobState"] == "RUNNING"
                             else ())
            job["NumNodes"] = job["NumNodes"].partition("-")[0]     # "2-2"
            jobs[job["JobId"]] = {"JobState": job["JobState"],
                                  **pick(job, keys)}
    for line in c.must("scontrol", "-o", "show", "node").splitlines():
        node = parse_fields(line)
        nodes[node["NodeName"]] = pick(node, OF_NODE)
    return {"jobs": jobs, "nodes": nodes,
            "reservations": c.must("scontrol", "-o", "show", "reservation"),
            "queue": c.must("squeue", "-h", "-t", "PD", "-S", "-p,i", "-o",
                            "%i %Q").splitlines()}


def differs(before, now):
    return [f"{what} {a} {key}={now[what].get(a, {}).get(key)}, was {value}"
            for what in ("jobs", "nodes") for a, show in before[what].items()
            for key, value in show.items()
            if now[what].get(a, {}).get(key) != value]


def wait_as(c, before, nodes=None):
    """Each daemon has to answer once before its node is what it was."""
    def same():
        now = picture(c)
        if nodes is not None:
            for p in (now, before):
                p["nodes"] = pick(p["nodes"], nodes)
        assert "; ".join(differs(before, now)) == ""
        assert now == before
        return True
    wait_for("all is as before", 30, same)


# slurmd in a VM, which restarts when the test asks for it. As with systemctl, its
# jobs stay. Only the first start gets -b: the VM boots once.
AGAIN = """#!/bin/sh
name=; last=
for a; do [ "$last" != -N ] || name=$a; last=$a; done
again=$(dirname "$0")/../guests/$name.again
while :; do
    {slurmd} "$@" & pid=$!
    while kill -0 $pid 2>/dev/null && [ ! -e "$again" ]; do sleep 0.1; done
    [ -e "$again" ] || exit 1
    kill $pid; wait $pid; rm "$again"
    [ "$2" != -b ] || {{ shift 2; set -- -D "$@"; }}
done
"""


def start_metal(c, name):
    """Not in a space of its own: its jobs outlive it."""
    c._start("slurmd-" + name, [slurm_binary("slurmd"), "-D", "-N", name, "-f",
                                c.path("etc", "slurm.conf")])


def restart_slurmds(c):
    for n in METAL:
        c.daemons.pop("slurmd-" + n).end()
        start_metal(c, n)
    on = [c.path("guests", n + ".again") for n in c.names_on()]
    for f in on:
        f.touch()
    wait_for("the VMs' slurmds begin anew", 20,
             lambda: not [f for f in on if f.exists()])


def move(c, to):
    """What doc/existing-cluster.md says."""
    c.end_slurmctld()
    c.slurm.update(to)
    c.write_configuration()
    was = ready_count(c)
    c.start_slurmctld()
    restart_slurmds(c)
    if to is OURS:
        wait_ready_again(c, was)


def layout(c, *vms):
    metal = c.node_line(5, 7, "metal").replace("State=CLOUD", "State=UNKNOWN")
    c.node_lines = [*vms, metal]
    c.partition_lines = [
        "PartitionName=metal Nodes=vm[005-007] Default=YES"] + [
        "PartitionName=roce Nodes=vm[001-004]" for _ in vms]


@pytest.fixture
def site(fresh):
    """Stock cons_tres on real hosts, with all kinds of jobs."""
    c = fresh(nodes=7, start=False, inventory=world(hosts=2, vfs=2),
              vsphere={"ShutdownGrace": 1})
    c.slurm = {"SuspendTimeout": 2, **STOCK}
    c.choose_ports()
    layout(c)
    c.start()
    again = c.path("bin", "slurmd-again")
    again.write_text(AGAIN.format(slurmd=slurm_binary("slurmd")))
    again.chmod(0o755)
    env = c.path("bin", "guest.env")
    env.write_text(env.read_text().replace(
        f"slurmd='{slurm_binary('slurmd')}'", f"slurmd='{again}'"))
    for n in METAL:
        start_metal(c, n)
    for n in METAL:
        c.wait_node(n, lambda s: s == "IDLE", 20, "IDLE")
    return c


def has_cores(c):
    return c.release < (26, 5)


def fill(c):
    """(the job that makes steps, the suspended one, the array)"""
    runs = Stepping(c, "-n1", "--mem=100", "-w", "vm005").wait_running()
    asleep = Stepping(c, "-n1", "--mem=200", "-w", "vm006").wait_running()
    c.must("scontrol", "suspend", str(asleep.id))
    array = c.sbatch("--array=0-3%1", "-n1", "--mem=50", "-w", "vm005",
                     script="sleep 1000")
    wait_for("one of the array's tasks runs", 30, lambda: "RUNNING" in c.must(
        "squeue", "-h", "-r", "-j", str(array), "-o", "%T"))
    c.must("scontrol", "update", "nodename=vm007", "state=drain",
           "reason=a fan is broken")
    c.sbatch("-N2", "--exclusive", "--nice=50", script="true")
    c.sbatch("-N2", "--exclusive", "--nice=10", script="true")
    c.sbatch("-N1", "--hold", script="true")
    c.sbatch("-N1", f"--dependency=afterany:{array}", script="true")
    c.must("scontrol", "create", "reservation", "reservationname=nodes",
           "starttime=now+2days", "duration=60", "users=root", "nodes=vm006")
    # Stock 26.05.3 has no cores for it here: "Requested nodes are busy".
    if has_cores(c):
        c.must("scontrol", "create", "reservation", "reservationname=cores",
               "starttime=now+3days", "duration=60", "users=root", "nodecnt=1",
               "corecnt=1", "partition=metal")
    wait_saved(c, runs.id, "vm005")
    return runs, asleep, array


def wakes(c, asleep):
    c.must("scontrol", "resume", str(asleep.id))
    asleep.step()
    c.must("scontrol", "suspend", str(asleep.id))


def test_a_live_cluster_moves_to_ours_and_back_and_to_ours_again(site):
    c = site
    runs, asleep, array = fill(c)
    before = picture(c)
    assert len(before["jobs"]) == 8 and (
        ("cores" in before["reservations"]) == has_cores(c))

    # To slurm-vsphere: the nodes of the VMs come with it.
    layout(c, c.node_line(1, 4, "sriov-roce"))
    move(c, OURS)
    wait_as(c, before, METAL)
    runs.step()
    wakes(c, asleep)
    c.wait_job(c.sbatch("-p", "roce", "-N2", "-w", "vm[001-002]",
                        script="srun hostname"), 60)
    on_vm = Stepping(c, "-p", "roce", "-n1", "--mem=100", "-w",
                     "vm001").wait_running()
    calls, before = c.mutating(), picture(c)

    # Back: a job runs on a VM, another VM is warm.
    move(c, STOCK)
    wait_as(c, before)
    for job in (runs, on_vm):
        job.step()
    wakes(c, asleep)
    out = c.wait_job(c.sbatch("-p", "roce", "-w", "vm002", script="hostname"))
    assert out.strip() == "vm002" and c.names_on() == {"vm001", "vm002"}
    on_vm.end_well()
    again = Stepping(c, "-p", "roce", "-n1", "-w", "vm001").wait_running()
    before = picture(c)

    # To slurm-vsphere again: it still manages the VMs that it made.
    move(c, OURS)
    wait_as(c, before)
    again.step()
    rows = {n["node"]: n for n in c.svf("nodes")["nodes"]}
    assert rows["vm001"]["job"] == again.id and \
        rows["vm002"]["vm_state"] == "ON"
    out = c.wait_job(c.sbatch("-p", "roce", "-w", "vm002", script="hostname"))
    assert out.strip() == "vm002" and c.mutating() == calls
    again.end_well()
    runs.end_well()
    c.must("scontrol", "resume", str(asleep.id))
    asleep.end_well()
    c.must("scancel", str(array))
    c.must("scontrol", "update", "nodename=vm001", "state=power_down")
    wait_for("it is off", 30, lambda: not c.is_on("vm001"))


def test_plugins_that_are_installed_anew_serve_on(fresh, tmp_path):
    """Under a running slurmctld, as a package manager does it, and after its
    restart."""
    root = tmp_path / "root"
    shutil.copytree(os.environ["VS_ROOT"], root, symlinks=True)
    c = fresh(nodes=2, root=str(root), inventory=world(hosts=1, vfs=2))
    c.wait_job(c.sbatch("-N2", script="true"), 60)
    job = Stepping(c, "-N1", "-w", "vm001").wait_running()
    calls = c.mutating()
    root.rename(tmp_path / "old")
    shutil.copytree(os.environ["VS_ROOT"], root, symlinks=True)
    shutil.rmtree(tmp_path / "old")
    job.step()
    was = ready_count(c)
    c.restart_slurmctld()
    wait_ready_again(c, was)
    job.step()
    out = c.wait_job(c.sbatch("-N1", "-x", "vm001", script="hostname"))
    assert out.strip() == "vm002" and c.mutating() == calls
    job.end_well()
