# SPDX-License-Identifier: GPL-2.0-or-later
"""The chaos run's hands: each event of the plan done to a private cluster, at
its time, and a journal of what was done and what came of it.

Rules: an event that is refused (no such job any more, a host that has no VF
left) is written down and is nothing else. slurmctld is ended and started by
one thread only. What lasts has its end in the same event.
"""

import concurrent.futures
import contextlib
import json
import os
import re
import signal
import subprocess
import threading
import time
import urllib.error

from chaos_plan import (BOOT_TIMEOUT_S, FIRST, NODES, OVER, PARTITIONS, PF_VFS,
                        SLURMD_TIMEOUT_S, SUSPEND_TIMEOUT_S)
from chaos_hostile import Hostile
from cluster import Cluster, ClusterError, wait_for
from daemons import USERNAME
from worlds import foreign

QUEUE_MAX = 25
SOON_S = 5          # an event comes so late at most
SRUN_S = 100        # an srun that takes longer hangs

# VMs without a VF, which vMotion moves while they run
MOVABLE = {f"vm{i:03d}" for a, lo, hi in PARTITIONS.values() if a == "vmxnet3"
           for i in range(lo, hi + 1)}

REFUSED = (ClusterError, AssertionError, subprocess.SubprocessError, OSError)

WITNESS = r"""#!/bin/sh
# What a step really runs in: the VM that the simulator started this guest for
# (the first process of its name space has the simulator's environment), and
# the NICs that the simulator gave it. One line to one file.
of() { tr '\0' '\n' </proc/1/environ 2>/dev/null | sed -n "s/^$1=//p"; }
dir=$(of VM_DIR)
[ -n "$dir" ] || dir=$(readlink -f "$VS_CLUSTER_DIR/guests/$SLURMD_NODENAME")
printf '{"job":"%s","id":"%s","run":"%s","step":"%s","node":"%s","t":%s,"moid":"%s","name":"%s","host":"%s","cards":%s}\n' \
	"$SLURM_JOB_NAME" "$SLURM_JOB_ID" "${SLURM_RESTART_COUNT:-0}" \
	"${SLURM_STEP_ID:-0}" "$SLURMD_NODENAME" "$(date +%s.%N)" "${dir##*/}" \
	"$(of VM_NAME)" "$(of VM_HOST)" "$(tr -d '\n' <"$dir/cards.json")" \
	>>"$VS_CLUSTER_DIR/out/witness.log"
"""

SCRIPT = r"""
printf '{"job":"%s","id":"%s","run":"%s","t":%s,"nodes":"%s"}\n' \
	"$SLURM_JOB_NAME" "$SLURM_JOB_ID" "${SLURM_RESTART_COUNT:-0}" \
	"$(date +%s.%N)" "$SLURM_JOB_NODELIST" >>"$VS_CLUSTER_DIR/out/begun.log"
# A slurmctld that is killed between a step's beginning and its answer leaves a
# step that nobody ends, and an srun that waits for its place for ever. What a
# user would do: end it and ask again. The judge reads which ones it were.
step() {
	since=$(date +%s.%N)
	timeout -k 5 @SRUN_S@ srun -v -l "$VS_CLUSTER_DIR"/bin/witness && return
	rc=$?
	[ $rc = 124 ] || [ $rc = 137 ] || exit 3
	squeue -s -j "$SLURM_JOB_ID"
	printf '{"job":"%s","id":"%s","since":%s,"t":%s}\n' "$SLURM_JOB_NAME" \
		"$SLURM_JOB_ID" "$since" "$(date +%s.%N)" \
		>>"$VS_CLUSTER_DIR/out/hung.log"
	srun -l --overlap "$VS_CLUSTER_DIR"/bin/witness || exit 3
}
""".replace("@SRUN_S@", str(SRUN_S))


def make_cluster(drawn, directory=None):
    """A cluster of four adapters, not started."""
    c = Cluster(directory=directory, inventory=drawn["inventory"], nodes=NODES)
    c.choose_ports()
    keep = drawn["retention"]
    slow = 3 if os.environ.get("VS_PRELOAD") or os.environ.get("VS_TSAN") else 1
    lines = ["VSphereCluster=HPC1 ResourcePool=slurm",
             "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
             "AdapterName=sriov-ib Type=sriov Network=SRIOV-IB-PG LinkLayer=InfiniBand",
             "AdapterName=vmxnet3 Type=vmxnet3 Network=VM-PG",
             "AdapterName=rails Type=sriov Network=SRIOV-ROCE-PG MTU=9000 "
             f"NICsPerNode=2 DistinctPFs={drawn['rails']}"]
    lines += [f"PartitionName={p} Adapter={a} Template=rhel9-ofed Retention={keep[p]}"
              for p, (a, _, _) in PARTITIONS.items()]
    c.vsphere = {"ShutdownGrace": 2, "BootTimeout": slow * BOOT_TIMEOUT_S,
                 "Placement": drawn["placement"], "lines": lines,
                 "AllowMoreNodesThanVFs": drawn["oversubscribe"],
                 "Prefetch": drawn["prefetch"], "PrefetchOptions": "grace=5"}
    c.slurm = {"SuspendTime": drawn["suspend"],
               "SuspendTimeout": SUSPEND_TIMEOUT_S,
               "PreemptType": "preempt/partition_prio",
               "PreemptMode": "REQUEUE", "OverTimeLimit": 60,
               "ResumeTimeout": slow * 60, "SlurmdTimeout": SLURMD_TIMEOUT_S,
               "MinJobAge": 86400,
               # for this long Slurm keeps a requeued job from running again
               "AuthInfo": f"socket={c.path('run', 'munge.socket')},"
                           "cred_expire=15"}
    c.node_lines = [c.node_line(lo, hi, a) for a, lo, hi in PARTITIONS.values()]
    c.partition_lines = [
        f"PartitionName={p} Nodes=vm[{lo:03d}-{hi:03d}]"
        + (" OverSubscribe=EXCLUSIVE" if keep[p] == "destroy" else "")
        + (" Default=YES" if p == "roce" else "")
        for p, (_, lo, hi) in PARTITIONS.items()]
    nodes = {p: ",".join("vm[{:03d}-{:03d}]".format(*PARTITIONS[of][1:])
                         for of in OVER[p]) for p in OVER}
    c.partition_lines += [
        f"PartitionName=urgent Nodes={nodes['urgent']} PriorityTier=10 "
        "PreemptMode=OFF",
        f"PartitionName=doomed Nodes={nodes['doomed']} PreemptMode=CANCEL"]
    return c


class Run:
    """One chaos run; the judge reads its journal and its records."""

    def __init__(self, cluster, events, seconds):
        self.c, self.events, self.seconds = cluster, events, seconds
        self.lanes = {e.lane for e in events}
        self.lock = threading.Lock()
        self.journal = []           # (epoch, lane, kind, args, outcome)
        self.asked = {}             # job's name: its submission, "t", "id"
        self.down = []              # [from, to] of slurmctld's absences
        self.stalls = []            # [from, to] of a silent vCenter
        self.mute = []              # the same, and of one that fails or is slow
        self.kills = []             # when it was killed
        self.crashes = []           # it ended by itself
        self.passwords = [cluster.password]
        self.stopped = threading.Event()
        self.ctld_lock = threading.Lock()
        self.outage_lock = threading.Lock()
        self.hostile_user = Hostile(cluster, self.lasting,
                                    lambda: (len(self.down), self.is_away()))
        self.out = open(cluster.path("journal.jsonl"), "a", encoding="utf-8")

    def note(self, lane, kind, args, outcome):
        entry = (time.time(), lane, kind, args, outcome)
        with self.lock:
            self.journal.append(entry)
            print(json.dumps(entry), file=self.out, flush=True)

    def did(self, lane, kinds=None):
        """Journal entries of a lane that took effect."""
        return [e for e in self.journal if e[1] == lane and e[4] == "done" and
                (not kinds or e[2] in kinds)]

    # ---- time ----------------------------------------------------------------
    def play(self):
        """All events, each at its time; returns when the time is over."""
        t0 = time.monotonic()
        pool, futures = concurrent.futures.ThreadPoolExecutor(24), []
        for e in self.events:
            wait = t0 + min(e.at, self.seconds) - time.monotonic()
            if e.at >= self.seconds or (wait > 0 and self.stopped.wait(wait)):
                break
            futures.append(pool.submit(self.one, e))
        self.stopped.wait(max(0, t0 + self.seconds - time.monotonic()))
        self.stopped.set()
        pool.shutdown(wait=True)
        for f in futures:
            if f.exception():
                self.note("test", "event", {}, f"BUG: {f.exception()!r}")

    def one(self, e):
        try:
            out = getattr(self, f"{e.lane}_{e.kind}", None)
            out = (out or getattr(self, e.lane))(e.kind, e.args)
        except urllib.error.URLError as err:
            out = f"refused: {err}"
        except REFUSED as err:
            out = f"refused: {str(err).splitlines()[0][:200] if str(err) else err!r}"
        except Exception as err:    # noqa: BLE001 (a bug here must be seen)
            out = f"BUG: {err!r}"
        self.note(e.lane, e.kind, e.args, out or "done")

    @contextlib.contextmanager
    def soon(self, lock):
        """What would come late is refused: after a long absence the events that
        waited for its end would otherwise come at once."""
        if not lock.acquire(timeout=SOON_S):
            raise ClusterError("another event lasts")
        try:
            if self.stopped.is_set():
                raise ClusterError("the time is over")
            yield
        finally:
            lock.release()

    def lasting(self, seconds):
        self.stopped.wait(seconds)

    def sim(self, what, body=None, **kw):
        return self.c.sim(what, body, **kw)

    def do(self, op, **fields):
        return self.sim("do", {"op": op, **fields})

    # ---- jobs ----------------------------------------------------------------
    def queue_is_long(self):
        """More would only wait for the end of the run, and beyond."""
        pending = self.c.must("squeue", "-h", "-t", "PENDING", "-o", "%i")
        return len(pending.split()) >= QUEUE_MAX

    def jobs_submit(self, _, a, anyway=False):
        if not anyway and self.queue_is_long():
            return "refused: the queue is long"
        steps = "\n".join(
            f'step\nsleep {a["sleep"]}' for _ in range(a["steps"]))
        f = self.c.path("out", a["name"] + ".sh")
        f.write_text("#!/bin/bash\n" + SCRIPT + steps + "\n")
        with self.lock:
            self.asked[a["name"]] = {**a, "t": time.time(), "id": None}
        opts = ["--requeue", "--open-mode=append", "-J", a["name"], "-p",
                a["partition"], "-C", a["constraint"], "-N", str(a["nodes"]),
                "-t", str(a["limit"]), "-o", self.c.path("out", "%x.out")]
        opts += ["--exclusive"] * a["exclusive"] + ["-H"] * a["hold"]
        opts += ["--priority=TOP"] * a.get("first", False)
        out = self.c.must("sbatch", "--parsable", *opts, f,
                          cwd=self.c.path("out"))
        self.asked[a["name"]]["id"] = int(out.strip().split(";")[0])
        return None

    def job_id(self, name):
        known = self.asked.get(name, {}).get("id")
        assert known, f"{name} was not submitted"
        return str(known)

    def jobs_cancel(self, _, a):
        self.job_id(a["name"])
        self.asked[a["name"]]["cancelled"] = time.time()
        self.c.must("scancel", "--name", a["name"])

    def jobs_requeue(self, _, a):
        self.c.must("scontrol", "requeue", self.job_id(a["name"]))

    def jobs_hold(self, _, a):
        self.c.must("scontrol", "hold", self.job_id(a["name"]))

    def jobs_release(self, _, a):
        self.c.must("scontrol", "release", self.job_id(a["name"]))

    # ---- vCenter ---------------------------------------------------------------
    def is_away(self):
        """slurmctld was ended, and was not started again yet."""
        return bool(self.down) and self.down[-1][1] is None

    def is_up(self):
        try:
            return self.c.svf("status")["up"]
        except (json.JSONDecodeError, AssertionError):
            return False        # nor is slurmctld there

    def faults_rule(self, _, rule):
        """A client that is away tries once a minute: what is kept for its next
        tries, and grows meanwhile, would keep it away for the whole run."""
        if rule["method"] in FIRST and not self.is_up():
            return "refused: the client is away"
        self.sim("faults", {"rules": [rule]})
        return None

    def outages(self, kind, a):
        first = kind == "stall" and not self.stalls     # every run has one
        with self.outage_lock if first else self.soon(self.outage_lock):
            getattr(self, "outage_" + kind)(a)

    def outage_expireSessions(self, _):
        self.do("expireSessions")

    def outage_restart(self, a):
        self.do("restart", tasks=a["tasks"])

    def outage_cutConnections(self, _):
        self.do("cutConnections")

    def outage_forgetVersions(self, _):
        self.do("forgetVersions")

    def vcenter_is_mute(self, seconds):
        self.mute.append([time.time(), time.time() + seconds])

    def outage_outage(self, a):
        self.vcenter_is_mute(a["seconds"])
        self.do("outage", duration=f"{a['seconds']}s", how=a["how"])
        self.lasting(a["seconds"])

    def outage_password(self, a):
        """vCenter first, our file some time later; the old one never again."""
        self.passwords.append(a["password"])
        self.do("setPassword", user=USERNAME, password=a["password"])
        self.do("expireSessions")
        self.lasting(a["seconds"])
        self.c.password = a["password"]
        f = self.c.path("etc", "vcenter.password")
        new = f.with_suffix(".new")
        new.touch(mode=0o600)
        new.write_text(a["password"] + "\n")
        new.rename(f)

    def outage_newCertificate(self, _):
        self.do("newCertificate")
        self.c._ctx = None

    def outage_stall(self, a):
        """The first one with a slurmctld that lives: I6 is judged by it."""
        seconds = max(8.0, a["seconds"])
        with contextlib.nullcontext() if self.stalls else self.ctld_lock:
            self.stalls.append([time.time(), time.time() + seconds])
            self.vcenter_is_mute(seconds)
            self.do("stall", duration=f"{seconds}s")
            self.lasting(seconds)

    def outage_latency(self, a):
        self.vcenter_is_mute(a["seconds"])
        self.do("latency", duration=a["duration"])
        self.lasting(a["seconds"])
        self.do("latency", duration="0s")

    def host_away(self, a, state):
        self.do("hostState", host=a["host"], state=state)
        self.lasting(a["seconds"])
        self.do("hostState", host=a["host"], state="connected")

    def outage_disconnected(self, a):
        self.host_away(a, "disconnected")

    def outage_notResponding(self, a):
        self.host_away(a, "notResponding")

    def outage_failHost(self, a):
        self.do("failHost", host=a["host"])
        self.lasting(a["seconds"])
        self.do("hostState", host=a["host"], state="connected")

    def outage_maintenance(self, a):
        self.do("maintenance", host=a["host"], mode="enter")
        self.lasting(a["seconds"])
        self.out_of_maintenance(a["host"])

    def out_of_maintenance(self, host):
        """On its way it is called back; "exit" is for a host that is in."""
        def out():
            h = next(h for h in self.sim("state")["hosts"] if h["name"] == host)
            if h["entering"] or h["maintenance"]:
                mode = "cancel" if h["entering"] else "exit"
                self.surely("maintenance", host=host, mode=mode)
            return not (h["entering"] or h["maintenance"])
        wait_for(f"{host} is out of maintenance", 20, out, every=0.2)

    def outage_lowerVfs(self, a):
        self.do("setVfs", host=a["host"], pci=a["pci"], vfs=a["vfs"])
        self.lasting(a["seconds"])
        self.do("setVfs", host=a["host"], pci=a["pci"], vfs=PF_VFS[a["pci"]])

    def outage_hungTask(self, a):
        """A task that never ends, until vCenter is restarted."""
        self.sim("faults", {"rules": [{"on": "task", "method": a["method"],
                                       "count": 1, "hang": True,
                                       "label": "task-hung"}]})
        self.lasting(a["seconds"])
        self.do("restart")

    # ---- foreign hands -----------------------------------------------------------
    def vms(self, which):
        return [v for v in self.sim("state")["vms"] if which(v)]

    def pick(self, a, which, what):
        found = sorted(self.vms(which), key=lambda v: v["moid"])
        assert found, f"there is no {what}"
        return found[int(a["pick"] * len(found))]

    def churn_add(self, _, a):
        self.do("addVm", spec=foreign(a["name"], a["host"], pf=a["pf"],
                                      network=a["network"]))

    def churn(self, kind, a):
        op = {"off": "powerOff", "on": "powerOn", "destroy": "destroyVm"}[kind]
        power = "poweredOn" if kind == "off" else "poweredOff"
        vm = self.pick(a, lambda v: v["name"].startswith("theirs") and
                       v["power"] == power, f"foreign VM to {kind}")
        self.do(op, vm=vm["moid"])

    def admin(self, kind, a):
        """An administrator does it to a managed VM; the journal names the VM."""
        power = "poweredOn" if kind in ("powerOff", "destroyOn", "vmotion") \
            else "poweredOff"
        vm = self.pick(a, lambda v: v["folder"].endswith("/slurm") and
                       v["owner"] and (v["power"] == power or kind in (
                           "cloneVm", "inaccessible", "orphaned")) and
                       (kind != "vmotion" or v["name"] in MOVABLE),
                       f"VM of ours to {kind}")
        more = {"migrate": {"host": a["host"]},
                "vmotion": {"host": a["host"]},
                "rename": {"name": a["name"]},
                "cloneVm": {"name": "copy-" + a["name"], "folder": "slurm"},
                "setMemory": {"memoryMB": 1500},
                "destroyOn": {"force": True}}.get(kind, {})
        a["vm"], a["node"] = vm["name"], vm["owner"].split("/")[1]
        if kind in ("inaccessible", "orphaned"):
            self.do("vmState", vm=vm["moid"], state=kind)
            self.lasting(a["seconds"])
            self.do("vmState", vm=vm["moid"], state="connected")
        else:
            self.do({"destroyOn": "destroyVm", "vmotion": "migrate"}.get(
                kind, kind), vm=vm["moid"], **more)

    def guests_delay(self, _, a):
        self.c.delay_boot(a["node"], a["delay"])
        self.lasting(a["seconds"])
        self.c.delay_boot(a["node"], 0)

    def guests_port(self, _, a):
        self.c.port_state(a["node"], "1: DOWN")
        self.lasting(a["seconds"])
        self.c.port_state(a["node"], "4: ACTIVE")

    # ---- slurmctld -----------------------------------------------------------------
    def ctld_away(self, sig, seconds, meanwhile=lambda: None):
        with self.soon(self.ctld_lock):
            d = self.c.daemons.get("slurmctld")
            if d and not d.alive():
                self.crashes.append((time.time(), d.returncode))
            self.down.append([time.time(), None])
            if sig == signal.SIGKILL:
                self.kills.append(time.time())
            self.c.end_slurmctld(sig, grace=30)
            if d and sig == signal.SIGTERM and d.returncode:
                self.crashes.append((time.time(), d.returncode))
            self.lasting(seconds)
            meanwhile()
            self.c.start_slurmctld()
            self.down[-1][1] = time.time()

    def ctld_kill(self, _, a):
        self.ctld_away(signal.SIGKILL, a["away"])

    def ctld_restart(self, _, a):
        self.ctld_away(signal.SIGTERM, a["away"])

    def ctld_reconfigure(self, *_):
        with self.soon(self.ctld_lock):
            self.c.must("scontrol", "reconfigure")

    def ctld_policy(self, _, a):
        """vsphere.conf says something else: a new client, placed otherwise."""
        with self.soon(self.ctld_lock):
            f = self.c.path("etc", "vsphere.conf")
            f.write_text(re.sub(r"(?m)^Placement=.*", f"Placement={a['policy']}",
                                f.read_text()))
            self.c.must("scontrol", "reconfigure")

    def ctld_badconf(self, *_):
        """A wrong file at reconfigure; the old one must stay in force."""
        with self.soon(self.ctld_lock):
            f = self.c.path("etc", "vsphere.conf")
            good = f.read_text()
            f.write_text(good.replace("Placement=", "Plaicement="))
            try:
                self.c.must("scontrol", "reconfigure")
            finally:
                f.write_text(good)

    def people(self, kind, a):
        def node(state, *more):
            self.c.must("scontrol", "update", "nodename=" + a["node"],
                        "state=" + state, *more)
        if kind in ("drain", "down"):
            node(kind, "reason=chaos people")
            self.lasting(a["seconds"])
            kind = "resume"
        node(kind)

    # ---- calm ----------------------------------------------------------------------
    def calm_begin(self, *_):
        """What is left of the storm ends, as an administrator would end it: a
        client that waits for a minute is told to try again."""
        with self.ctld_lock:
            self.sim("faults", method="DELETE")
            self.do("latency", duration="0s")
            if not self.is_up():
                self.c.must("scontrol", "reconfigure")

    # ---- beginnings, and what is lost for longer ----------------------------------
    def starts_faulty(self, _, a):
        self.ctld_away(signal.SIGKILL, 0, lambda: self.sim(
            "faults", {"rules": a["rules"]}))

    def starts_long(self, *_):
        self.ctld_away(signal.SIGKILL, self.c.slurm["ResumeTimeout"])

    def lost_hosts(self, _, a):
        with self.outage_lock:
            for h in a["hosts"]:
                self.do("hostState", host=h, state=a["state"])
            try:
                return self.jobs_submit(None, a["job"], anyway=True)
            finally:
                self.lasting(a["seconds"])
                for h in a["hosts"]:
                    self.do("hostState", host=h, state="connected")

    def hostile(self, kind, a):
        return self.hostile_user.do(kind, a)

    # ---- the end ---------------------------------------------------------------------
    def surely(self, op, **fields):
        """Retries until it succeeds: another user's task may still be running."""
        end = time.monotonic() + 20
        while True:
            try:
                return self.do(op, **fields)
            except ClusterError as e:
                if time.monotonic() > end:
                    raise
                if "there is no" in str(e) or "not on its way" in str(e):
                    return None     # it has gone meanwhile
            time.sleep(0.2)

    def calm(self):
        """Everything back as it was, nothing injected any more."""
        self.sim("faults", method="DELETE")
        self.do("latency", duration="0s")
        self.do("stall", duration="0s")
        if self.did("outages", ("hungTask",)):
            self.do("restart")
        for v in self.vms(lambda v: v["owner"]):
            self.surely("vmState", vm=v["moid"], state="connected")
        for h in self.sim("state")["hosts"]:
            self.surely("hostState", host=h["name"], state="connected")
            self.out_of_maintenance(h["name"])
            for pf in h["pfs"]:
                if pf["max"]:
                    self.surely("setVfs", host=h["name"], pci=pf["id"],
                                vfs=PF_VFS[pf["id"]])
        for n in self.c.node_names():
            self.c.delay_boot(n, 0)
            self.c.port_state(n, "4: ACTIVE")
        for v in self.vms(lambda v: v["name"].startswith("theirs") and
                          v["power"] == "poweredOn"):
            self.surely("powerOff", vm=v["moid"])
        if not self.c.daemons.get("slurmctld") or \
                not self.c.daemons["slurmctld"].alive():
            self.c.start_slurmctld()
