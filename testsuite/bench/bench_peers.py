#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How fast 64 and 256 VMs with an SR-IOV NIC come from nothing, made by slurm-vsphere
and by other programs. All have the same simulator: a clone takes 8 s, a power-on 4 s, a
call 10 ms, and vCenter has a slot for each task. Nothing boots: the wall time ends when
the simulator has powered the last VM on. It begins when slurmctld allocates the job, or
when the other program starts.

AT ONCE is how many VMs another program makes at a time, and slurm-vsphere's MaxProvisionOps
and MaxPowerOps. A power-on of slurm-vsphere does not hold up a clone, so it may have twice
as many tasks in flight as another program, unless all VMs are made at once. The table
says how many there were.

The others: govc in 16 and 64 processes, as an administrator's script runs it; a Go
program on govmomi with 64 and 256 goroutines (vcsim/peer); vHPC-toolkit with pyvmomi, if
VS_VHPC_TOOLKIT names its source and VS_VHPC_PYTHON a Python with its libraries. It is
stopped when it has taken 20 times as long as slurm-vsphere."""

import concurrent.futures
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from bench_lines import line, remark, run
from bench_provision import (CLONE_S, PATH_S, POWER_S, WIDE, best_s,
                             cluster_make, gang, started)
from cluster import ClusterError
from daemons import PASSWORD, USERNAME
from simulator import MUTATING
from worlds import PF0, ROCE

SIZES = {64: 16, 256: 64}               # VMs, and the hosts that they are on
BUDGETS = {64: (16, 64), 256: (16, 64, 256)}
GOVC = (16, 64)
GOROUTINES = (64, 256)
PATIENCE = 20                           # times slurm-vsphere's time
MOST_IDEAL, MOST_MUTATING, MOST_OTHER, LEAST_VHPC = 1.03, 2, 3, 15
VFS = 8


@dataclasses.dataclass
class Result:
    who: str
    vms: int
    at_once: int
    wall: float
    mutating: float = 0
    other: float = 0
    failed: int = 0
    in_flight: int = 0
    over: bool = True       # it was not stopped


results = []


def ideal_s(who, vms, at_once):
    """The best schedule: slurm-vsphere's power-ons run beside its clones."""
    if who == "slurm-vsphere":
        return best_s(vms, at_once, CLONE_S, POWER_S)
    return -(-vms // at_once) * PATH_S


def counted(cluster, result):
    """Adds what the simulator counted."""
    c = cluster.counters()
    mutating = sum(c["calls"].get(m, 0) for m in MUTATING)
    result.mutating = mutating / result.vms
    result.other = (sum(c["calls"].values()) - mutating) / result.vms
    result.in_flight = c["maxInFlight"]
    result.failed += sum(t["state"] == "error"
                         for t in cluster.state()["tasks"])
    results.append(result)
    remark(f"{result.who}, {result.vms} VMs, {result.at_once} at once: "
           f"{result.wall:.2f} s, {result.mutating:.2f} + {result.other:.2f} "
           f"calls a VM, {result.failed} failures, "
           f"{result.in_flight} tasks in flight")
    return result


def what(vms):
    return {"hosts": SIZES[vms], "vfs": VFS, "clone_s": CLONE_S,
            "power_s": POWER_S, "source_slots": WIDE}


def slurm_vsphere(vms, at_once):
    c = cluster_make(vms, **what(vms), budgets={
        "MaxProvisionOps": at_once, "MaxPowerOps": at_once,
        "MaxOpsPerHost": 128})
    try:
        started(c)
        took = gang(c, vms, 4 * ideal_s("slurm-vsphere", vms, at_once))
        return counted(c, Result("slurm-vsphere", vms, at_once, took))
    finally:
        c.remove()


# ---- the others ------------------------------------------------------------------

def env_of(cluster, home):
    return {**os.environ, "GOVC_URL": cluster.sim_url + "/sdk",
            "GOVC_USERNAME": USERNAME, "GOVC_PASSWORD": PASSWORD,
            "GOVC_TLS_CA_CERTS": str(cluster.sim_ca), "GOVC_DATACENTER": "DC0",
            "GOVC_VIM_VERSION": "8.0.3.0", "GOVC_PERSIST_SESSION": "true",
            "GOVMOMI_HOME": home, "HOME": home}


def last_on(cluster):
    return max((t["ended"] for t in cluster.state()["tasks"]
                if t["method"] == "PowerOnVM_Task" and t["state"] == "success"),
               default=None)


def by(who, vms, at_once, work):
    """WORK makes VMs in a new simulator, and returns how many commands failed."""
    c = cluster_make(vms, **what(vms))
    try:
        with tempfile.TemporaryDirectory(prefix="vs-peer-") as home:
            c.make_dirs()
            c.start_vcsim()
            c.sim("counters/reset", {})
            began = time.time()
            failed = work(c, env_of(c, home))
            ended = last_on(c)
            on = len(c.names_on())
            result = Result(who, vms, at_once, (ended or time.time()) - began,
                            failed=failed, over=on == vms)
            if on < vms:
                result.wall = time.time() - began
                remark(f"{who}: {on} of {vms} VMs are on")
            return counted(c, result)
    finally:
        c.remove()


def govc_vm(env, hosts, i):
    """One VM as an administrator's script makes it; True if a command fails."""
    name = f"govc{i:03d}"
    for args in (
            ["vm.clone", "-vm", "rhel9-ofed", "-on=false", "-folder", "slurm",
             "-pool", "slurm", "-ds", "vsan",
             "-host", f"esx{i % hosts + 1:02d}.example.org", name],
            ["vm.change", "-vm", name, "-memory-pin=true"],
            ["vm.network.add", "-vm", name, "-net", ROCE,
             "-net.adapter", "sriov"],
            ["vm.power", "-on", name]):
        r = subprocess.run([os.environ["VS_GOVC"], *args], env=env, text=True,
                           capture_output=True, timeout=1200, check=False)
        if r.returncode:
            remark(f"govc {' '.join(args)}: {r.stderr.strip()}")
            return True
    return False


def govc(vms, at_once):
    def work(_, env):
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            return sum(pool.map(lambda i: govc_vm(env, SIZES[vms], i),
                                range(vms)))
    return by("govc", vms, at_once, work)


def govmomi(vms, at_once):
    def work(_, env):
        r = subprocess.run([os.environ["VS_PEER"], "-vms", str(vms),
                            "-at-once", str(at_once), "-network", ROCE],
                           env=env, text=True, capture_output=True,
                           timeout=1200, check=False)
        if r.returncode:
            raise ClusterError(f"the program on govmomi: {r.stderr.strip()}")
        return int(r.stdout)
    return by("govmomi", vms, at_once, work)


def cluster_file(vms):
    """A cluster file of vHPC-toolkit, without ranges, which it asks about."""
    vm = [f"vhpc{i:03d}: BASE RESERVED SRIOV "
          f"host:esx{i % SIZES[vms] + 1:02d}.example.org" for i in range(vms)]
    return "\n".join([
        "[BASE]", "template: rhel9-ofed", "datacenter: DC0", "cluster: HPC1",
        "vm_folder: slurm", "resource_pool: slurm", "datastore: vsan",
        "linked: 0", "[RESERVED]", "cpu_reservation: false",
        "memory_reservation: true", "[SRIOV]", f"sriov_port_group: {ROCE}",
        f"pf: {PF0}", "dvs_name: dvs-roce", "[_VMS_]", *vm, ""])


def vhpc_toolkit(vms, patience):
    def work(cluster, env):
        host, port = re.match(r"https://(.*):(\d+)", cluster.sim_url).groups()
        home = pathlib.Path(env["HOME"])
        (home / "vhpc_toolkit").mkdir()
        (home / "vhpc_toolkit/vCenter.conf").write_text(
            f"server: {host}\nport: {port}\nusername: {USERNAME}\n"
            f"password: {PASSWORD}\n")
        (home / "site.conf").write_text(cluster_file(vms))
        (home / "run.py").write_text("from vhpc_toolkit.command import command\n"
                                     "command()\n")
        env["PYTHONPATH"] = os.environ["VS_VHPC_TOOLKIT"]
        with (home / "log").open("w") as log, subprocess.Popen(
                [os.environ["VS_VHPC_PYTHON"], "run.py", "cluster", "--create",
                 "--file", "site.conf"], cwd=home, env=env, stdout=log,
                stderr=log, stdin=subprocess.DEVNULL) as p:
            until = time.time() + patience
            # Its last step waits for addresses of guests, which do not boot here.
            while time.time() < until and p.poll() is None and \
                    len(cluster.names_on()) < vms:
                time.sleep(2)
            p.send_signal(signal.SIGKILL)
        if not cluster.names_on():
            tail = (home / "log").read_text()[-500:]
            remark("vHPC-toolkit's last words: " + tail.replace("\n", "\n# "))
        return 0
    return by("vHPC-toolkit", vms, vms, work)


# ---- the table and its limits ------------------------------------------------------

def table():
    remark("| program | VMs | at once | wall time | best schedule | changing "
           "calls a VM | other calls a VM | failures | most tasks in flight |")
    remark("|---|---|---|---|---|---|---|---|---|")
    for r in results:
        remark(f"| {r.who} | {r.vms} | {r.at_once} | "
               f"{'' if r.over else 'more than '}{r.wall:.1f} s | "
               f"{ideal_s(r.who, r.vms, r.at_once)} s | {r.mutating:.2f} | "
               f"{r.other:.2f} | {r.failed} | {r.in_flight} |")


def judge(vms):
    ours = {r.at_once: r for r in results
            if r.who == "slurm-vsphere" and r.vms == vms}
    for at_once, r in ours.items():
        name = f"peers_{vms}_by_{at_once}"
        line(f"{name}_over_ideal", r.wall / ideal_s(r.who, vms, at_once),
             "ratio", MOST_IDEAL)
        line(f"{name}_mutating_calls_per_vm", r.mutating, "calls", MOST_MUTATING)
        line(f"{name}_other_calls_per_vm", r.other, "calls", MOST_OTHER)
    for r in results:
        if r.vms != vms or r.who == "slurm-vsphere":
            continue
        if r.who == "vHPC-toolkit":
            line(f"peers_{vms}_vhpc_toolkit_over_ours",
                 r.wall / ours[vms].wall, "ratio", LEAST_VHPC, at_least=True)
        else:
            line(f"peers_{vms}_{r.who}_{r.at_once}_over_ours",
                 r.wall / ours[r.at_once].wall, "ratio", 1, at_least=True)


def size(vms):
    def measure():
        for at_once in BUDGETS[vms]:
            wide = slurm_vsphere(vms, at_once)
        for at_once in GOVC:
            govc(vms, at_once)
        for at_once in GOROUTINES:
            if at_once <= vms:
                govmomi(vms, at_once)
        if os.environ.get("VS_VHPC_TOOLKIT"):
            vhpc_toolkit(vms, PATIENCE * wide.wall)
        judge(vms)
    measure.__name__ = f"{vms} VMs"
    return measure


if __name__ == "__main__":
    sys.exit(run(*(size(vms) for vms in
                   map(int, os.environ.get("VS_PEERS_VMS", "64 256").split())),
                 table))
