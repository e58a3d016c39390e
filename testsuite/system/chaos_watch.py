# SPDX-License-Identifier: GPL-2.0-or-later
"""What is written down while a chaos run lasts: the simulator's books twice
a second, Slurm's nodes, squeue's times, and what processes show of themselves.

Rules: looks, never acts; asks the simulator, Slurm and /proc. Our own code is asked
for one thing alone: why something can't be had at the moment, which only excuses.
"""

import glob
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from chaos_loop import Loop
from chaos_pending import (Excuses, Job, Moment, Pending, demands, has_job,
                           node_lists, vf_lists)
from chaos_plan import CARDS, MUTE, NODES
from cluster import parse_fields
from worlds import IB, ROCE

OUR_FOLDER = "/slurm"
LOOK_S = 2      # what took longer to read is no moment
MUTE_S = 40     # the client's bound of one wait for updates: 10 s, and 30 s more


def is_ours(v):
    """A VM in our folder, not a template, whose ownership tag names the VM itself:
    slurm-vsphere must not touch a VM that an administrator cloned or renamed."""
    mark = (v["owner"] or "").split("/")
    return v["folder"].endswith(OUR_FOLDER) and not v["template"] and \
        mark[1:] == [v["name"], v["instanceUuid"]]


class Watch:
    def __init__(self, run):
        self.run, self.c = run, run.c
        self.on = []        # (epoch, {name: [moids that are on]}) of our folder
        self.hosts = []     # (epoch, {name: its VM's host}) of our folder
        self.marks = {}     # node: set of moids, by mark, while two were on
        self.copies = set() # names of an administrator's clones of our VMs
        self.nodes_down = {}    # (node, reason): first epoch
        self.squeue = []    # (began, seconds, rc)
        self.bare = set()   # command lines that show the secret
        self.pending = Pending(not any("DistinctPFs=no" in ln
                                       for ln in self.c.vsphere["lines"]))
        self.excuses = Excuses()
        self.waits_lost = 0
        self.ended = threading.Event()
        self.threads = [Loop(look.__name__, look, every, self.ended)
                        for look, every in (
                            (self.books, 0.5), (self.slurm, 2.0),
                            (self.queue, 0.25), (self.processes, 5.0),
                            (self.waiting, 1.0))]

    def __enter__(self):
        for t in self.threads:
            t.start()
        return self

    def __exit__(self, *exc):
        self.ended.set()
        for t in self.threads:
            t.join(60)

    # ---- the simulator -----------------------------------------------------------
    def books(self):
        t = time.time()
        s = self.run.sim("state")
        on, by_mark = {}, {}
        self.hosts.append((t, {v["name"]: v["host"] for v in s["vms"]
                               if v["folder"].endswith(OUR_FOLDER)}))
        for v in s["vms"]:
            if v["name"].startswith("copy-"):
                self.copies.add(v["name"])
            if not v["folder"].endswith(OUR_FOLDER) or v["power"] != "poweredOn":
                continue
            on.setdefault(v["name"], []).append(v["moid"])
            if is_ours(v):
                by_mark.setdefault(v["owner"].split("/")[1], set()).add(v["moid"])
        self.on.append((t, on))
        for node, moids in by_mark.items():
            if len(moids) > 1:
                self.marks.setdefault(node, (t, moids))

    def was_on(self, name, t, slack=0.0):
        """Was the VM on at this time, as far as two looks around it can tell?
        None if the books were not read around then."""
        before = [on for at, on in self.on if t - 2 - slack <= at <= t][-1:]
        after = [on for at, on in self.on if t <= at <= t + 2 + slack][:1]
        if not before and not after:
            return None
        return any(name in on for on in before + after)

    def was_there(self, name, host, since, until):
        """Was the node's VM on that host then? Also true if there was no VM."""
        seen = {hosts[name] for t, hosts in self.hosts
                if since <= t <= until and name in hosts}
        return not seen or host in seen

    # ---- Slurm --------------------------------------------------------------------
    def slurm(self):
        r = self.c.run("scontrol", "-o", "show", "nodes", "-a", timeout=10)
        if r.returncode:
            return
        for line in r.stdout.splitlines():
            f = parse_fields(line)
            if "NodeName" not in f:
                continue
            state = f["State"].replace("*", "").split("+")
            if state[0] == "DOWN" or "DRAIN" in state:
                key = (f["NodeName"], f.get("Reason", "").split(" [")[0])
                self.nodes_down.setdefault(key, time.time())

    def queue(self):
        began = time.time()
        r = self.c.run("squeue", "-h", "-o", "%i %T", timeout=60)
        self.squeue.append((began, time.time() - began, r.returncode))

    # ---- who could start ---------------------------------------------------------
    def waiting(self):
        at, moment = time.time(), None
        try:
            moment = self.moment(at)
        except KeyError:
            pass            # one list has a node or a host that another lacks yet
        finally:
            late = time.time() - at > LOOK_S
            self.pending.look(None if late else moment, late)

    def moment(self, at):
        """chaos_pending's, or None while nothing can be said."""
        self.note_lost_wait(at)
        if any(a - LOOK_S <= at <= b + LOOK_S for a, b in self.run.mute):
            return None     # the engine has not received what the simulator shows
        asks = (lambda: self.run.sim("state"), lambda: self.c.svf("status"),
                lambda: self.fields("NodeName", "nodes", "-a"),
                lambda: self.fields("JobId", "jobs"),
                lambda: self.c.svf("nodes")["nodes"],
                lambda: self.c.svf("hosts")["hosts"])
        with ThreadPoolExecutor(len(asks)) as pool:     # at one time, or nearly
            state, status, nodes, jobs, told, hosts = pool.map(
                lambda ask: ask(), asks)
        if not status["up"] or status.get("removal_limit_reached"):
            return None
        ours = {v["name"] for v in state["vms"] if is_ours(v)}
        up, off, able = node_lists(nodes, state, told, self.excuses.holds(at, told))
        busy = {n["NodeName"] for n in nodes if has_job(n)}
        free, whole = vf_lists(state, hosts, {"dvs-roce": ROCE, "dvs-ib": IB}, ours,
                               busy)
        eligible = [self.job(f) for f in jobs if is_eligible(f, at)]
        return Moment(at, eligible, up, off, free, whole, able)

    def note_lost_wait(self, at):
        """The answer to a wait for updates was kept back, or to a reading that the
        next wait waits for: when that is, depends on when the client asks. It hears
        nothing until its own bound."""
        lost = (self.run.sim("counters")["faultsBy"] or {}).get(MUTE, 0)
        if lost > self.waits_lost:
            self.run.mute.append([at, at + MUTE_S])
        self.waits_lost = lost

    def fields(self, key, *what):
        lines = self.c.must("scontrol", "-o", "show", *what).splitlines()
        return [f for f in map(parse_fields, lines) if key in f]

    def job(self, f):
        name = f["JobName"]
        a = self.run.asked.get(name)
        tier = 10 if "urgent" in f["Partition"] else 1
        if a:
            ways = demands(a["partition"], a["constraint"], a["nodes"])
        else:                   # of a user who means harm: it is in all others' way
            ways = (tuple((frozenset((kind,)), 1) for kind in CARDS),)
        return Job(name, int(f["JobId"]), (tier, int(f["Priority"])), ways,
                   int(f.get("Restarts", 0)), f["Reason"])

    # ---- processes -----------------------------------------------------------------
    def processes(self):
        secret = self.c.password.encode()
        for f in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                with open(f, "rb") as fh:
                    text = fh.read()
            except OSError:
                continue
            if secret in text:
                self.bare.add(text.replace(b"\0", b" ").decode(errors="replace"))


def is_eligible(f, now):
    if f["JobState"] != "PENDING" or f["Priority"] == "0" or \
            f["Dependency"] != "(null)" or "Held" in f["Reason"]:
        return False
    try:
        since = time.strptime(f["EligibleTime"], "%Y-%m-%dT%H:%M:%S")
    except ValueError:
        return False
    return time.mktime(since) <= now


def nodes_of(expression):
    """vm[001-003,007] as names."""
    if "[" not in expression:
        return expression.split(",")
    head, rest = expression.split("[", 1)
    names = []
    for part in rest.rstrip("]").split(","):
        lo, _, hi = part.partition("-")
        names += [f"{head}{i:0{len(lo)}d}" for i in range(int(lo), int(hi or lo) + 1)]
    return names


assert NODES < 1000     # the form of names that nodes_of reads
