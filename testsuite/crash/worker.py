# SPDX-License-Identifier: GPL-2.0-or-later
"""One private cluster that the cells of the matrices share: brought back to
the same state before each, and judged after each.

Rules: the judge asks Slurm, svf and the simulator, never the log. slurmctld is
started again by a thread of its own when it has died, so that a scenario is
written as if nothing could happen to it: what it asks of Slurm is asked again
until it is answered, and each request may be sent twice.
"""

import contextlib
import pathlib
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "system"))

from cluster import (    # noqa: E402
    Cluster, ClusterError, parse_fields, wait_for)
from simulator import MUTATING                         # noqa: E402
from worlds import foreign, with_fpgas, world           # noqa: E402

MEND_S = 10         # after a restart or a request, until the last call is sent
GOAL_S = 60
HOST = "srun hostname"
HELD = 30           # jobs of a kind that wait, saved, to be released
KINDS = [("-N1 -w vm001", HOST), ("-N2 -w vm[001-002]", HOST)]
# More of each than one page of a reply holds.
CROWD = [{"name": "crowd%03d", "count": 110, "host": "*"}]
NETWORKS = [{"name": f"net{i:03d}"} for i in range(110)]
DURATIONS = {"CloneVM_Task": "300ms", "RelocateVM_Task": "300ms"}
CONF = {"ShutdownGrace": 1, "BootTimeout": 20, "ProvisionTimeout": 45, "lines": [
    "VSphereCluster=HPC1 ResourcePool=slurm",
    "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
    "PartitionName=warm Adapter=sriov-roce Template=rhel9-ofed",
    "PartitionName=off Adapter=sriov-roce Template=rhel9-ofed Retention=power_off",
    "PartitionName=fresh Adapter=sriov-roce Template=rhel9-ofed "
    "Retention=destroy"]}
PARTITIONS = ["PartitionName=warm Nodes=vm[001-004] Default=YES",
              "PartitionName=high Nodes=vm[001-004] PriorityTier=10 "
              "PreemptMode=OFF",
              "PartitionName=off Nodes=vm005",
              "PartitionName=fresh Nodes=vm006 OverSubscribe=EXCLUSIVE"]
NODES = 6


class Wrong(AssertionError):
    """What a cell found."""


class Armed(Cluster):
    """Its next slurmctld may be told to die."""

    arms = {}

    @property
    def env(self):
        return {**super().env, **self.arms}


class Worker:
    def __init__(self, vfs=3):
        w = with_fpgas(world(hosts=2, vfs=vfs, vms=CROWD, durations=DURATIONS))
        w["datacenters"][0]["networks"] += NETWORKS
        self.c = c = Armed(nodes=NODES, inventory=w)
        self.goal = GOAL_S
        self.agrees_s = 30
        self.hits = 0               # of the call matrix's fault, before its cell
        self.hurried_at = 0.0
        self.forgives = False       # nodes that are down are resumed
        c.vsphere, c.partition_lines = dict(CONF), PARTITIONS
        c.slurm = {"SuspendTimeout": 2, "UnkillableStepTimeout": 180,
                   "PreemptType": "preempt/partition_prio",
                   "PreemptMode": "REQUEUE"}
        c.scheduler_parameters += ",batch_sched_delay=0"
        c.slurmctld_parameters += ",power_save_interval=1"
        self.lock = threading.RLock()       # who starts and ends slurmctld
        self.pool = {}                      # submit options: held jobs
        self.died, self.ready_at = [], 0.0
        self.wished_at = 0.0
        self.calls = []                     # (time, mutating calls so far)
        self.resting = threading.Event()
        self.over = threading.Event()
        self.threads = []

    def __enter__(self):
        try:
            self.begin()
        except BaseException:
            print(self.c.path("log", "slurmctld.out").read_text()[-400:])
            self.__exit__(None)
            raise
        return self

    def begin(self):
        self.c.start().wait_ready()
        self.conf = self.c.path("etc", "vsphere.conf").read_text()
        for key in KINDS:
            self.submit(key)
        self.saved("job_state")
        for f in (self.keep, self.count):
            self.threads.append(threading.Thread(target=f, daemon=True))
            self.threads[-1].start()

    def __exit__(self, *exc):
        self.over.set()
        for t in self.threads:
            t.join(60)
        self.c.stop()
        if exc[0] is None:
            self.c.remove()

    # ---- slurmctld ------------------------------------------------------------
    def keep(self):
        """It has died: start it again, without another death."""
        while not self.over.wait(0.05):
            with self.lock:
                d = self.c.daemons.get("slurmctld")
                if not d or d.alive():
                    continue
                self.died.append((time.time(), d.returncode))
                self.c.daemons.pop("slurmctld")
                ready = self.readies()
                self.c.start_slurmctld()
            try:
                wait_for("ready again", 20, lambda n=ready: self.readies() > n)
            except AssertionError:
                pass            # vCenter is away, or a check tells
            self.ready_at = time.time()

    def readies(self):
        return self.c.ctld_log().count(" slurm-vsphere: ready: ")

    def ctld(self, crash=None, sig=signal.SIGTERM, between=None, trace=None,
             wait=True):
        """Restarts slurmctld, which may be told to die at a point."""
        with self.lock:
            self.c.end_slurmctld(sig)
            self.died = []
            if between:
                between(self)
            was = self.readies()
            self.c.arms = {key: str(value) for key, value in (
                ("VS_CRASH", crash), ("VS_CRASH_TRACE", trace)) if value}
            try:
                # One that dies at once is started by keep().
                self.c.start_slurmctld(wait=False)
            finally:
                self.c.arms = {}
        if wait and not crash:
            wait_for("it is ready", 30, lambda: self.readies() > was)
        self.ready_at = time.time()

    def count(self):
        while not self.over.wait(0.2):
            try:
                n = self.c.mutating()
            except Exception:
                continue        # the simulator says nothing just now
            if not self.calls or self.calls[-1][1] != n:
                self.calls.append((time.time(), n))

    # ---- what a scenario asks for ------------------------------------------------
    def ask(self, *argv):
        """A command of Slurm's, until slurmctld has answered."""
        def answered():
            r = self.c.run(*argv, timeout=60)
            text = r.stdout + r.stderr
            gone = "contact" in text or "Connection" in text or \
                "Zero Bytes" in text or "timed out" in text or \
                "Socket" in text or "not responding" in text
            return None if r.returncode and gone else r
        return wait_for(f"an answer to {argv[0]}", 60, answered, every=0.3)

    def wish(self, *argv):
        self.wished_at = time.time()
        return self.ask("scontrol", *argv)

    def did(self):
        """Something else was done that the engine must follow."""
        self.wished_at = time.time()

    def submit(self, key):
        options, script = key
        self.pool[key] = [self.c.sbatch("-H", "-t", "5", *options.split(),
                                        script=script) for _ in range(HELD)]

    def jobs(self, options, script=HOST):
        """A job that was submitted, held and saved long ago."""
        key = (options, script)
        if not self.pool.get(key):
            self.submit(key)
            self.saved("job_state")
        return self.pool[key].pop(0)

    def saved(self, *what):
        """All that Slurm knows by now is in these of its state files, so that a
        slurmctld that is killed afterwards has not forgotten it."""
        mark = f"saved-{time.time_ns()}"
        if not any(self.pool.values()):
            self.submit(KINDS[0])
        job = next(j for ids in self.pool.values() for j in ids)
        for update in ("nodename=vm001", f"jobid={job}"):
            r = self.ask("scontrol", "update", update, f"comment={mark}")
            if r.returncode:
                raise ClusterError(f"scontrol update {update}: {r.stderr}")
        files = [self.c.path("state", f) for f in what]
        wait_for(f"{what} are saved", 15, lambda: all(
            f.exists() and mark.encode() in f.read_bytes() for f in files))

    def hurry(self):
        """Nodes register again, as they do by themselves some minutes later."""
        if self.goal > GOAL_S and self.died and not self.forgives and \
                time.time() > self.hurried_at + 20:
            self.hurried_at = time.time()
            self.ask("scontrol", "reconfigure")

    def job(self, job):
        def look():
            r = self.ask("scontrol", "-o", "show", "job", str(job))
            if r.stdout.strip():
                return parse_fields(r.stdout.splitlines()[0])
            return {"JobState": "GONE"} if "Invalid job id" in r.stderr \
                else None
        return wait_for(f"a word of JobId={job}", 30, look)

    def release(self, job, state="RUNNING", resume=None):
        """Until it is in one of these states: released again if a dead
        slurmctld forgot it, and eligible now if Slurm makes it wait."""
        states, was = state.split(), [None]
        self.wish("release", str(job))

        def look():
            f = self.job(job)
            now, reason = f["JobState"], f.get("Reason", "")
            if now != was[0]:
                self.did()          # Slurm begins it, or gives it back
            was[0] = now
            if resume or self.forgives:
                self.resume_all()
            self.hurry()
            if now in states and not reason.startswith("JobHeld"):
                return f
            if now == "PENDING" and reason.startswith("JobHeld"):
                self.wish("release", str(job))
            elif now == "PENDING" and "cancelled task" in self.why(job):
                self.end_tasks()    # an administrator's hand
            elif now == "PENDING" and "left out" in self.why(job):
                self.resume_hosts()     # an operator has fixed their common cause
            elif now == "PENDING" and "parent-" in self.why(job):
                self.try_parents()
            elif now == "PENDING" and reason == "BeginTime":
                self.wish("update", f"jobid={job}", "starttime=now")
            elif now not in ("PENDING", "RUNNING", "CONFIGURING",
                             "COMPLETING", "REQUEUED", "SUSPENDED"):
                raise Wrong(f"JobId={job} ended {now}: {reason} "
                            f"exit={f.get('ExitCode')} restarts="
                            f"{f.get('Restarts')}")
            return None
        return wait_until(f"JobId={job} is {state}", self.goal, look,
                          lambda: (self.job(job), self.c.svf("why", str(job))))

    def done(self, job, resume=None):
        return self.release(job, "COMPLETED", resume)

    def cancel(self, job):
        self.did()

        def look():
            f = self.job(job)
            if f["JobState"] in ("PENDING", "RUNNING", "CONFIGURING"):
                self.ask("scancel", str(job))
            return f["JobState"] in ("CANCELLED", "GONE")
        wait_until("it is cancelled", 30, look, lambda: self.job(job))
        self.did()

    def state(self, node):
        r = wait_for(f"a word of {node}", 20, lambda: self.ask(
            "scontrol", "-o", "show", "node", node).stdout)
        return set(parse_fields(r)["State"].replace("*", "+NO_RESPOND")
                   .split("+"))

    def power_down(self, node):
        """Until its VM is off and Slurm has let go of it."""
        def look():
            s = self.state(node)
            if not s & {"POWERED_DOWN", "POWERING_DOWN", "POWER_DOWN"}:
                self.wish("update", f"nodename={node}", "state=power_down")
            return "POWERED_DOWN" in s and "POWERING_DOWN" not in s and \
                not self.c.is_on(node)
        self.did()
        wait_until(f"{node} is down", self.goal, look,
                   lambda: self.state(node))

    def troubled(self):
        """The call that was to fail in this cell has failed."""
        return self.c.counters()["faultsBy"].get("cell", 0) > self.hits

    def resume_all(self):
        """Nodes that we took down, with a reason."""
        for line in self.ask("scontrol", "-o", "show", "nodes").stdout \
                .splitlines():
            f = parse_fields(line)
            if "DOWN" in f["State"].replace("*", "+").split("+"):
                if not f.get("Reason", "").startswith("slurm-vsphere: "):
                    raise Wrong(f"{f['NodeName']} is {f['State']}: "
                                f"{f.get('Reason')}")
                self.wish("update", f"nodename={f['NodeName']}",
                          "state=resume")

    def resume_hosts(self):
        for h in self.c.svf("hosts")["hosts"]:
            if h.get("reasons"):
                self.c.run("svf", "host", "resume", h["host"])

    def try_parents(self):
        """An operator has fixed why a clone source can't be made, and resumes the
        hosts. slurm-vsphere itself tries again only after five minutes."""
        for h in self.c.svf("hosts")["hosts"]:
            self.c.run("svf", "host", "resume", h["host"])

    def until_down(self, node):
        wait_until(f"{node} is down", self.goal, lambda: self.down(
            "+".join(self.state(node))) and not self.c.is_on(node),
            lambda: self.state(node))

    def until_up(self, node):
        wait_until(f"{node} is up", 40, lambda: self.state(node) ==
                   {"IDLE", "CLOUD"}, lambda: self.state(node))

    def until_connected(self):
        wait_until("it is connected", self.goal + 30, lambda: self.c.svf("status")["up"],
                   self.c.ctld_errors)

    def hints(self):
        f = self.c.path("state", "slurm_vsphere.hints")
        return f.read_text() if f.exists() else ""

    def edit(self, old, new):
        """vsphere.conf, for the next start or reconfigure."""
        f = self.c.path("etc", "vsphere.conf")
        text = f.read_text()
        assert old in text, old
        f.write_text(text.replace(old, new))

    # ---- before a cell ---------------------------------------------------------
    def reset(self):
        """No job, no VM, no fault, nothing remembered."""
        c = self.c
        c.clear_faults()
        for name, d in c.inventory["durations"].items():
            c.do("setDuration", name=name, duration=d)
        conf = c.path("etc", "vsphere.conf")
        if conf.read_text() != self.conf:
            was = self.readies()
            conf.write_text(self.conf)
            c.must("scontrol", "reconfigure")
            wait_for("the old file is in force", 90,
                     lambda: self.readies() > was)
        for f in c.path("guests").glob("*.delay"):
            f.unlink()
        self.end_tasks()
        self.end_jobs()
        for name in c.node_names():
            s = self.state(name)
            if s & {"DOWN", "DRAIN", "DRAINED", "DRAINING"}:
                self.ask("scontrol", "update", f"nodename={name}",
                         "state=resume")
            if c.is_on(name) or "POWERED_DOWN" not in s:
                self.ask("scontrol", "update", f"nodename={name}",
                         "state=power_down_force")
        wait_until("all is down", 40, lambda: c.run(   # cells' parents go, too
            "svf", "reconcile", "--confirm") and not c.names_on() and all(
            self.down(s) for s in c.node_states().values()), lambda: (
            c.node_states(), c.names_on(), c.svf("nodes")), every=0.5)
        if '"why"' in self.hints():     # a host is avoided
            self.ctld(between=lambda w: w.c.path(
                "state", "slurm_vsphere.hints").unlink())
        def emptied():
            for v in c.our_vms():
                with contextlib.suppress(ClusterError):     # it is going
                    c.do("destroyVm", vm=v["name"], wait=True)
            return not c.our_vms()
        wait_until("no VM of ours is left", 40, emptied, c.our_vms)
        for v in c.state()["vms"]:
            if v["name"].startswith("theirs"):
                c.do("destroyVm", vm=v["name"], force=True, wait=True)
        self.counted = c.counters()

    def end_tasks(self):
        """Those that hang."""
        for t in self.c.state()["tasks"]:
            if t["state"] == "running":
                with contextlib.suppress(ClusterError):
                    self.c.do("endTask", task=t["moid"])

    def ended_by_hand(self, method, logged):
        """An administrator ends a task that was called off (so says the log after so
        many characters) and that vCenter can't cancel."""
        wait_until("the task has ended, or is called off", 90, lambda: (
            not self.c.running_tasks(method) or
            "is cancelled" in self.c.ctld_log()[logged:]),
            lambda: self.c.running_tasks(method))
        self.end_tasks()

    def why(self, job):
        return self.c.svf("why", str(job))["text"] if self.forgives else ""

    @staticmethod
    def down(state):
        s = set(state.replace("*", "").split("+"))
        return "POWERED_DOWN" in s and not s & {
            "POWERING_DOWN", "POWERING_UP", "DOWN", "DRAIN", "COMPLETING",
            "ALLOCATED", "POWER_DOWN", "POWER_UP"}

    def end_jobs(self):
        c = self.c
        for line in c.must("squeue", "-h", "-o", "%i %T %r").splitlines():
            job, state, reason = line.split(None, 2)
            if state == "PENDING" and reason == "JobHeldUser" and \
                    any(int(job) in ids for ids in self.pool.values()):
                continue
            c.run("scancel", job)
        wait_for("no job is left", 40, lambda: not [
            ln for ln in c.must("squeue", "-h", "-o", "%i %T").splitlines()
            if ln.split()[1] != "PENDING"])

    def up(self, *nodes):
        """These nodes have a VM that is on and idle."""
        self.c.wait_job(self.c.sbatch(f"-N{len(nodes)}", "-w",
                                      ",".join(nodes), script="true"))

    # ---- after a cell ----------------------------------------------------------
    def judge(self):
        """Slurm, svf and vCenter agree; nothing was done twice, too late or to
        others."""
        c = self.c
        wait_until("Slurm, svf and vCenter agree", self.agrees_s,
                   lambda: not self.differ(), self.differ)
        n = c.counters()
        for key in ("powerOnFullPF", "foreignTouches", "foreignDisks",
                    "lockedLogins"):
            if n[key] > self.counted[key]:      # not by another cell
                raise Wrong(f"{key}={n[key]}, was {self.counted[key]}: {n['notes']}")
        if c.overfull():
            raise Wrong(f"overfull: {c.overfull()}")

    def in_time(self):
        late = [(t, k) for t, k in self.calls
                if t > max(self.ready_at, self.wished_at) + MEND_S + 0.5]
        if late:
            raise Wrong("a mutating call was sent %.1f s after the last reason"
                        % (late[-1][0] - max(self.ready_at, self.wished_at)))

    def differ(self):
        """In words; [] if all agree."""
        c, said = self.c, []
        s = c.state()
        ours = [v for v in s["vms"] if v["folder"].endswith("/slurm") and
                not v["template"]]
        names = [v["name"] for v in ours]
        if len(set(names)) != len(names):
            said.append(f"two VMs of one name: {names}")
        on = {v["name"] for v in ours if v["power"] == "poweredOn"}
        said += [f"{t['method']} of {t['entity']} is {t['state']}"
                 for t in s["tasks"] if t["state"] in ("queued", "running")]
        for name, state in c.node_states().items():
            flags = set(state.replace("*", "+NO_RESPOND").split("+"))
            if flags & {"POWERING_UP", "POWERING_DOWN", "POWER_DOWN",
                        "POWER_UP", "COMPLETING", "DOWN", "DRAIN",
                        "NO_RESPOND"} or \
                    ("POWERED_DOWN" in flags) == (name in on):
                said.append(f"{name} is {state}, its VM is "
                            f"{'on' if name in on else 'not on'}")
        said += self.books(s, on)
        for row in c.svf("nodes")["nodes"]:
            want = "ON" if row["node"] in on else \
                "OFF" if row["node"] in names else "NONE"
            if row["vm_state"] != want:
                said.append(f"svf says {row['vm_state']} of {row['node']}, "
                            f"which is {want}")
        return said

    def books(self, s, on):
        said = []
        svf = {h["host"]: h for h in self.c.svf("hosts")["hosts"]}
        for h in s["hosts"]:
            theirs = {p["pci"]: p for p in svf.get(h["name"], {}).get("pfs", [])}
            for pf in h["pfs"]:
                mine = sum(1 for vm in pf["by"].values() if vm in on)
                got = theirs.get(pf["id"], {})
                if not (got or pf["device"] or pf["used"]):
                    continue    # a device that no adapter names is not told
                if pf["max"] and (got.get("managed") != mine or got.get("reserved") or
                                  got.get("free") != pf["vfs"] - pf["used"]):
                    said.append(f"{h['name']} {pf['id']}: {mine} are ours, "
                                f"{pf['used']} used; svf says {got}")
        return said


def wait_until(what, timeout, look, picture, every=0.1):
    """As wait_for, and with a picture of what is there instead."""
    end = time.monotonic() + timeout
    while True:
        try:
            got = look()
            if got:
                return got
        except (subprocess.SubprocessError, OSError):
            pass
        except AssertionError as e:
            if isinstance(e, Wrong):
                raise
        if time.monotonic() > end:
            break
        time.sleep(every)
    try:
        seen = picture()
    except Exception as e:
        seen = repr(e)
    raise Wrong(f"not within {timeout} s: {what}; there is {seen}")


__all__ = ["MUTATING", "Worker", "Wrong", "foreign", "wait_for", "wait_until"]
