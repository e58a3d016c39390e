# SPDX-License-Identifier: GPL-2.0-or-later
"""What is a violation in a chaos run, judged from the simulator's books, from
what jobs wrote down themselves and from Slurm; the core's own word is only
compared with theirs.
"""

import glob
import json
import os
import re
import time

from chaos_end import all_jobs
from chaos_forgot import copy_explains, forgotten
from chaos_hostile import NEEDS_ROOT
from chaos_plan import CARDS, NODES, PARTITIONS, adapter_of
from chaos_watch import OUR_FOLDER, is_ours, nodes_of
from cluster import Timeout, wait_for
from simulator import MUTATING

CLASSES = ("I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "ledger", "jobs",
           "pending", "down", "crash")
RESTARTS_MIN, RESTARTS_EVERY_S = 6, 120     # by a job's own time
TRIES_MIN = 8       # fewer tells nothing of a kind of event
READY_S = 10        # from the core's first view of vCenter to what it asks of Slurm
SEEN_S = 5          # a look at the books is so old at most
TOUCH_S = 90        # for how long a person's action may explain a node's state,
GONE_S = 10         # or for as long as its VM is not on from so soon after it: a
                    # slurmctld that is killed again and again finds that out late


def restarts_max(seconds):
    """How often a job may be requeued that is in the queue for so long: a kill of
    slurmctld, a person or an urgent job may do it, a loop may not."""
    return RESTARTS_MIN + int(seconds / RESTARTS_EVERY_S)


def never_done(journal):
    """Kinds of a lane that were refused each time, with the last answer."""
    tries, last = {}, {}
    for _, lane, kind, _, out in journal:
        if lane in ("hostile", "starts", "lost"):
            tries.setdefault((lane, kind), []).append(out == "done")
            last[lane, kind] = out
    return [f"{lane} {kind} was tried {len(done)} times, and never done: "
            f"{last[lane, kind]}" for (lane, kind), done in tries.items()
            if len(done) >= TRIES_MIN and not any(done) and
            NEEDS_ROOT not in last[lane, kind]]


def percentile(values, p):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * p))] if values else 0.0


class Judge:
    def __init__(self, run, watch):
        self.run, self.watch, self.c = run, watch, run.c
        self.violations = {k: [] for k in CLASSES}
        self.lost = self.begun = self.copies = self.hangs = self.preempted = 0
        self.p99 = (0.0, 0.0)
        self.waits = ""
        self.most = 0       # times that one job was requeued

    def found(self, what, text, key=None, at=None):
        """key: what to look for in slurmctld's log."""
        if text not in [v["text"] for v in self.violations[what]]:
            self.violations[what].append(
                {"text": text, "key": key, "at": at or time.time()})

    def total(self):
        return sum(len(v) for v in self.violations.values())

    # ---- who did something to a node -------------------------------------------
    def touched(self, node, t, before=TOUCH_S, after=2):
        """The run's actions that explain trouble of a node at that time."""
        res = []
        for at, lane, kind, a, out in self.run.journal:
            lasting = float(a.get("seconds", 0))
            its = lane in ("people", "guests", "admin") and \
                node in (a.get("node"), a.get("vm"))
            if out != "done" or t < at - lasting - after or t > at + before and \
                    not (its and lane == "admin" and
                         self.never_on(node, at + GONE_S, t)):
                continue
            if its:
                res.append(f"{lane} {kind}")
            if lane == "lost" or lane == "outages" and kind in (
                    "disconnected", "notResponding", "failHost", "maintenance"):
                res += [f"{kind} {h}" for h in a.get("hosts") or [a["host"]]
                        if self.watch.was_there(node, h, at - lasting - SEEN_S, at)]
        return res

    def never_on(self, node, since, until):
        return not any(node in on for t, on in self.watch.on if since < t <= until)

    def ctld_was_away(self, since, until):
        return any(a <= until and (b or time.time()) >= since
                   for a, b in self.run.down)

    def records(self, name):
        f = self.c.path("out", name)
        return [json.loads(x) for x in f.read_text().splitlines()] \
            if f.exists() else []

    # ---- I1, I4 -----------------------------------------------------------------
    def counters(self):
        n = self.run.sim("counters")
        for key, what, words in (
                ("powerOnKnownFullPF", "I1", "power-ons were sent to a PF that "
                 "was known to be full"),
                ("foreignKnownTouches", "I4", "calls changed something foreign"),
                ("foreignKnownDisks", "I4", "disks of others were deleted"),
                ("lockedLogins", "I5", "logins met a locked account")):
            if n[key]:
                self.found(what, f"{n[key]} {words}: {n.get('notes')}")
        left = {v["name"] for v in self.run.sim("state")["vms"]}
        gone = {e[3].get("vm") for e in self.run.did(
            "admin", ("destroyVm", "destroyOn", "unregister", "rename"))}
        for name in self.watch.copies - left - gone:
            self.found("I4", f"the copy {name} of a VM is gone", key=name)
        return n

    # ---- I2 -----------------------------------------------------------------------
    def steps(self):
        for r in self.records("begun.log"):
            self.begun += 1
            for node in nodes_of(r["nodes"]):
                if self.watch.was_on(node, r["t"]) is False and \
                        not self.touched(node, r["t"], before=6):
                    self.found("I2", f"{r['job']} JobId={r['id']} began at "
                               f"{r['t']:.1f} though {node} was not on",
                               key=node, at=r["t"])
        for r in self.records("witness.log"):
            self.step(r)

    def hung(self):
        """An srun that hung: Slurm's, if slurmctld went away meanwhile, or in
        the same run before: a step whose end it didn't hear of is recovered,
        and keeps its place."""
        begun = self.records("begun.log")
        for r in self.records("hung.log"):
            self.hangs += 1
            since = max((b["t"] for b in begun if b["job"] == r["job"] and
                         b["t"] <= r["since"]), default=r["since"])
            if not self.ctld_was_away(since - 2, r["t"]):
                self.found("jobs", f"an srun of {r['job']} JobId={r['id']} hung "
                           f"since {r['since']:.1f}", key=f"JobId={r['id']}",
                           at=r["since"])

    def step(self, r):
        asked = self.run.asked[r["job"]]
        adapter = adapter_of(r["node"])
        kind, network, count = CARDS[adapter]
        right = [k for k in r["cards"] if k["type"] == kind and
                 k["network"] == network and (kind != "sriov" or k["vf"])]
        vfs = [k for k in r["cards"] if k["vf"]]
        where = f"{r['job']} JobId={r['id']} on {r['node']} ({r['moid']})"
        if adapter not in re.split(r"[^\w-]+", asked["constraint"]):
            self.found("I2", f"{where} wants {asked['constraint']}",
                       key=r["node"], at=r["t"])
        apart = not any("DistinctPFs=no" in ln for ln in self.c.vsphere["lines"])
        if not right or len(vfs) != count or \
                apart and len({k["pf"] for k in vfs}) != count:
            self.found("I2", f"{where} had not the NICs of {adapter}: "
                       f"{r['cards']}", key=r["node"], at=r["t"])
        if r["name"] and r["name"] != r["node"] and \
                not self.touched(r["node"], r["t"]):
            self.found("I2", f"{where} ran in the VM {r['name']}",
                       key=r["node"], at=r["t"])

    # ---- jobs ---------------------------------------------------------------------
    def jobs(self, jobs):
        last = {}       # job: its last run's first words
        for r in self.records("begun.log"):
            last[r["job"]] = r
        seen = {}       # job: the nodes of its steps since then
        for r in self.records("witness.log"):
            if r["job"] in last and r["t"] >= last[r["job"]]["t"]:
                seen.setdefault(r["job"], set()).add(r["node"])
        for name, a in self.run.asked.items():
            f = jobs.get(name)
            if f:
                self.job(name, a, f, seen.get(name, set()))
            elif a["id"]:
                self.absent(name, a)

    def absent(self, name, a):
        """slurmctld saves its jobs some seconds late; a killed one forgets."""
        if forgotten(a["t"], self.run.kills, time.time()):
            self.lost += 1
        else:
            self.found("jobs", f"{name} JobId={a['id']} is gone")

    def job(self, name, a, f, seen):
        state, key = f["JobState"], f"JobId={f['JobId']}"
        again, lived = int(f.get("Restarts", 0)), lasted(f, time.time()) - a["t"]
        self.most = max(self.most, again)
        if again > restarts_max(lived):
            self.found("jobs", f"{name} {key} was requeued {again} times in "
                       f"{lived:.0f} s", key=key)
        if "launch_failed" in f.get("Reason", ""):
            self.found("jobs", f"{name} {key} was held: {f['Reason']}", key=key)
        if state == "COMPLETED":
            # more: a killed slurmctld forgot that it had begun elsewhere
            if len(seen) < a["nodes"]:
                self.found("jobs", f"{name} {key} completed, but its steps ran "
                           f"on {sorted(seen)}, not {a['nodes']} nodes", key=key)
        elif state == "CANCELLED" and a["partition"] == "doomed" and \
                f"preempted {key} has been killed" in self.c.ctld_log():
            # so Slurm calls it where the job was still configuring
            self.preempted += 1
        elif state == "CANCELLED":
            if "cancelled" not in a:
                self.found("jobs", f"{name} {key} was cancelled by nobody", key=key)
        elif state == "FAILED" and self.explained(f):
            pass
        elif state == "PREEMPTED" and a["partition"] == "doomed":
            self.preempted += 1
        elif state not in ("PENDING", "RUNNING", "COMPLETING", "CONFIGURING"):
            self.found("jobs", f"{name} {key} ended {state} exit={f.get('ExitCode')} "
                       f"nodes={f.get('NodeList')} start={f.get('StartTime')}",
                       key=key)

    def pending(self):
        """Who could have started and did not."""
        cycles = [stamp(ln) + float(ln[20:24]) for ln in
                  self.c.ctld_log().splitlines()
                  if ln.endswith("_attempt_backfill: beginning")]
        if not cycles:
            self.found("pending", "backfill's cycles are not in slurmctld's log")
        self.waits = self.watch.pending.told(cycles)
        if self.run.seconds >= 120 and "jobs" in self.run.lanes and \
                not self.watch.pending.judged(cycles):
            self.found("pending", f"no wait was judged: {self.waits}")
        for name, id_, since, until, m in self.watch.pending.kept(cycles):
            if name in self.run.asked:
                self.found("pending", f"{name} JobId={id_} could have started from "
                           f"{since:.1f} to {until:.1f}; at first up={m.up} "
                           f"off={m.off} free={m.free} able={m.able} "
                           f"whole={m.whole} jobs={m.jobs}", key=f"JobId={id_}",
                           at=since)

    def explained(self, f):
        """A failed job: was slurmctld away, or did a person act, while it ran?"""
        try:
            since, until = epoch(f["StartTime"]), epoch(f["EndTime"])
        except (KeyError, ValueError):
            return False
        return self.ctld_was_away(since - 2, until + 2) or any(
            self.touched(n, until, before=until - since + 10)
            for n in nodes_of(f["NodeList"]) if n != "(null)")

    # ---- nodes ---------------------------------------------------------------------
    def down(self):
        declared = re.compile(r"chaos|declared for the test")
        for (node, reason), at in self.watch.nodes_down.items():
            if declared.search(reason) or self.touched(node, at):
                continue
            if reason == "Duplicate jobid" and self.second_copy(node, at):
                self.copies += 1
                continue
            if reason.endswith("its VM was powered off while a job ran") and \
                    self.forgot_the_end(node, at):
                continue
            self.found("down", f"{node} went down or was drained: {reason}",
                       key=node, at=at)

    def forgot_the_end(self, node, at):
        """A killed slurmctld that had not saved a job's end begins with the job on a
        node whose VM is off since then: off before the kill, and never on after."""
        return any(self.watch.was_on(node, k - 1) is False and
                   self.never_on(node, k, at) for k in self.run.kills if k < at)

    def second_copy(self, node, at):
        log = self.c.path("log", node + ".log")
        runs = [(r["t"], r["id"]) for r in self.records("begun.log")
                if nodes_of(r["nodes"])[0] == node]
        return log.exists() and copy_explains(
            at, log.read_text(errors="replace"), runs, self.run.kills)

    def doubles(self):
        moved = {e[3].get("node") for e in self.run.did("admin", (
            "rename", "powerOn"))}
        for node, (at, moids) in self.watch.marks.items():
            if node not in moved:
                self.found("I3", f"two VMs of {node} were on: {sorted(moids)}",
                           key=node, at=at)

    # ---- the end's state ---------------------------------------------------------
    def leaks(self):
        keep = {n for n in self.c.node_names()}
        kinds = self.c.vsphere["lines"]
        gone = {f"vm{i:03d}" for p, (_, lo, hi) in PARTITIONS.items()
                if any(f"={p} " in ln and "destroy" in ln for ln in kinds)
                for i in range(lo, hi + 1)}
        for v in self.run.sim("state")["vms"]:
            if not v["folder"].endswith(OUR_FOLDER) or not is_ours(v):
                continue
            if v["name"] not in keep:
                self.found("I3", f"VM {v['name']} is left over", key=v["name"])
            elif v["name"] in gone:
                self.found("I3", f"VM {v['name']} is left of Retention=destroy",
                           key=v["name"])

    def ledger(self, when):
        try:
            wait_for("svf and the simulator agree", 15, lambda: not self.differ(),
                     every=1)
        except Timeout:
            for text in self.differ():
                self.found("ledger", f"{when}: {text}")

    def differ(self):
        s = self.run.sim("state")
        ours = {v["name"] for v in s["vms"] if is_ours(v)}
        svf = {h["host"]: h for h in self.c.svf("hosts")["hosts"]}
        said = []
        for h in s["hosts"]:
            theirs = {pf["pci"]: pf for pf in svf.get(h["name"], {"pfs": []})["pfs"]}
            for pf in h["pfs"]:
                if not pf["max"]:
                    continue
                mine = sum(1 for vm in pf["by"].values() if vm in ours)
                want = {"total": pf["vfs"], "managed": mine, "reserved": 0,
                        "free": pf["vfs"] - pf["used"],
                        "foreign+unverified": pf["used"] - mine}
                got = dict(theirs.get(pf["id"], {}))
                got["foreign+unverified"] = got.get("foreign", 0) + got.get("unverified", 0)
                bad = {k: (v, got.get(k)) for k, v in want.items() if got.get(k) != v}
                if bad:
                    said.append(f"{h['name']} {pf['id']} (simulator, svf): {bad}")
        power = {v["name"]: {"poweredOn": "ON", "poweredOff": "OFF"}.get(v["power"])
                 for v in s["vms"] if v["folder"].endswith(OUR_FOLDER)}
        for n in self.c.svf("nodes")["nodes"]:
            if n["vm_state"] != power.get(n["node"], "NONE"):
                said.append(f"{n['node']} is {power.get(n['node'], 'NONE')}, "
                            f"svf says {n['vm_state']}")
        return said

    def restart(self):
        """Capacity after a restart is what it was before."""
        def pfs():
            return {(h["host"], pf["pci"]): {k: v for k, v in pf.items()}
                    for h in self.c.svf("hosts")["hosts"] for pf in h["pfs"]}
        before = pfs()
        self.c.restart_slurmctld()
        try:
            wait_for("capacity as before the restart", 30,
                     lambda: pfs() == before, every=0.5)
        except Timeout:
            after = pfs()
            for k in before:
                if after.get(k) != before[k]:
                    self.found("ledger", f"{k}: {before[k]} before the restart, "
                               f"{after.get(k)} after it")

    # ---- I6, I7, I8, crashes ---------------------------------------------------------
    def squeue(self):
        def inside(spans, t, dt, more=0.0):
            return any(a - more <= t + dt and t <= (b or t) + more
                       for a, b in spans)
        calm, stalled = [], []
        for t, dt, rc in self.watch.squeue:
            if rc or inside(self.run.down, t, dt, 3):
                continue
            (stalled if inside(self.run.stalls, t, dt) else calm).append(dt)
        self.p99 = percentile(calm, 0.99), percentile(stalled, 0.99)
        if self.p99[1] > max(1.0, 4 * self.p99[0]):
            self.found("I6", "squeue's p99 is %.0f ms while vCenter is silent, "
                       "%.0f ms otherwise" % (self.p99[1] * 1e3, self.p99[0] * 1e3))

    def calls(self, n):
        """A bound that only a storm passes, and none at all when quiet."""
        starts = sum(a["nodes"] for a in self.run.asked.values())
        again = sum(int(f.get("Restarts", 0)) * self.run.asked[name]["nodes"]
                    for name, f in all_jobs(self.c).items()
                    if name in self.run.asked)
        troubles = n["faults"] + NODES * len(self.run.down) + \
            2 * len(self.run.did("people")) + 2 * len(self.run.did("admin"))
        made = sum(n["calls"].get(m, 0) for m in MUTATING)
        bound = 6 * (starts + again) + 4 * troubles
        if made > bound:
            self.found("I7", f"{made} mutating calls for {starts + again} node "
                       f"starts and {troubles} troubles")
        before = self.c.mutating()
        time.sleep(5)
        if self.c.mutating() != before:
            self.found("I7", f"{self.c.mutating() - before} mutating calls in 5 s "
                       "though all is quiet")

    def secrets(self):
        for line in self.watch.bare:
            self.found("I8", f"a command line shows the password: {line}")
        own = {str(self.c.path("vcsim", "inventory.json")),
               str(self.c.path("etc", "vcenter.password")),
               str(self.c.path("journal.jsonl"))}
        for f in glob.glob(str(self.c.path("**")), recursive=True):
            if f in own or not os.path.isfile(f) or "/vcsim/vms/" in f:
                continue
            with open(f, "rb") as fh:
                text = fh.read()
            # the first one is the beginning of all others
            if self.run.passwords[0].encode() in text:
                self.found("I8", f"a password is in {f}")

    def crashes(self):
        for at, rc in self.run.crashes:
            self.found("crash", f"slurmctld ended by itself with {rc}", at=at)
        d = self.c.daemons.get("slurmctld")
        if not d or not d.alive():
            self.found("crash", "slurmctld is not there at the end")
        for e in self.run.journal:
            if e[1] == "ctld" and e[4].startswith("refused: slurmctld did not start"):
                self.found("crash", e[4], at=e[0])
            if e[4].startswith("BUG"):
                self.found("crash", f"the test itself: {e[1]} {e[2]}: {e[4]}", at=e[0])
        for f in self.c.path("log").glob("core*"):
            self.found("crash", f"{f}: somebody dumped core",
                       at=f.stat().st_mtime)
        for f in sorted(self.c.path("log").glob("sanitizer.*")):
            self.found("crash", f"{f}: " + " | ".join(
                ln.strip() for ln in f.read_text(errors="replace").splitlines()
                if ln.strip())[:600])
        # What a reconfigure has started refuses a wrong file, and goes.
        refuses = "; the old configuration stays in force"
        for line in self.c.ctld_log().splitlines():
            if self.c.reexec and line.endswith(refuses):
                continue
            if " fatal: " in line or "slurm-vsphere: bug: " in line:
                self.found("crash", line)

    def own(self, threads, counters):
        """What the run itself failed to do: it would show nothing."""
        for t in threads:
            for text in t.faults(self.run.seconds):
                self.found("crash", f"the test itself: {text}")
        met = any(label.startswith("start-") for label in counters["faultsBy"] or ())
        if len(self.run.did("starts", ("faulty",))) >= 3 and not met:
            self.found("crash", "the test itself: no client that began met a fault")
        for text in never_done(self.run.journal):
            self.found("crash", f"the test itself: {text}")

    # ---- all of it ---------------------------------------------------------------------
    def all(self, jobs, threads):
        self.crashes()
        n = self.counters()
        self.own(threads, n)
        self.steps()
        self.hung()
        self.jobs(jobs)
        self.pending()
        self.down()
        self.doubles()
        self.leaks()
        self.ledger("when quiet")
        self.squeue()
        self.calls(n)
        self.restart()
        self.secrets()
        return n

    def tell(self):
        """Each violation with the log lines that belong to it."""
        log = self.c.ctld_log().splitlines()
        for what, list_ in self.violations.items():
            for v in list_:
                at = time.strftime("%H:%M:%S", time.localtime(v["at"]))
                print(f"VIOLATION {what} at {at}: {v['text']}")
                lines = [ln for ln in log if v["key"] and re.search(
                    rf"{re.escape(v['key'])}\b", ln) and
                    "slurm-vsphere" in ln or v["key"] and f" {v['key']} " in ln]
                near = [ln for ln in lines if abs(stamp(ln) - v["at"]) < 30]
                for ln in (near or lines)[-12:]:
                    print("    " + ln[:220])


def epoch(s):
    return time.mktime(time.strptime(s, "%Y-%m-%dT%H:%M:%S"))


def lasted(f, now):
    """When the job ended, or now."""
    try:
        return min(epoch(f["EndTime"]), now)
    except (KeyError, ValueError):
        return now


def was_blind(log, since, at):
    """slurmctld began after `since`, and the core had not seen vCenter READY_S before
    `at`: its first pass and its request to Slurm take some seconds."""
    return not any(since < stamp(ln) <= at - READY_S for ln in log.splitlines()
                   if "] slurm-vsphere: ready: " in ln)


def stamp(line):
    try:
        return time.mktime(time.strptime(line[1:20], "%Y-%m-%dT%H:%M:%S"))
    except ValueError:
        return 0.0
