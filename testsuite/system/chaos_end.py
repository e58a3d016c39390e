# SPDX-License-Identifier: GPL-2.0-or-later
"""The end of a chaos run: nothing is injected any more, and within bounds all
jobs end, all nodes go down, and all is quiet.

What people would do is done: nodes that are down or drained are resumed, VMs
forgotten that a person destroyed while the engine was logged out, held jobs
released, breakers (hosts avoided for minutes) cleared by losing the hints file,
which is allowed at any time. Each of it is written down. A job that a killed
slurmctld forgot to have ended is found out by Slurm when the node registers the
next time, which it is asked for at every 20th ping; then the job is held off and
runs again. The bound for jobs is longer than that.
"""

import json
import subprocess
import time

from chaos_loop import Loop
from chaos_plan import SLURMD_TIMEOUT_S, SUSPEND_MAX_S, SUSPEND_TIMEOUT_S
from chaos_watch import is_ours
from cluster import DONE, Timeout, parse_fields, wait_for

REGISTERS_S = 20 * SLURMD_TIMEOUT_S // 3
UP_S, JOBS_S = 90, REGISTERS_S + 140
QUIET_S = SUSPEND_MAX_S + SUSPEND_TIMEOUT_S + 60
NOT_SHOWN = "is not shown by vCenter"
DRAINS_S = 45       # two of the core's slow beats and more


def all_jobs(c):
    """{name: fields} of scontrol show jobs, the latest of each name."""
    out = {}
    for line in c.must("scontrol", "-o", "show", "jobs").splitlines():
        f = parse_fields(line)
        old = out.get(f.get("JobName"))
        if "JobId" in f and (not old or int(old["JobId"]) < int(f["JobId"])):
            out[f["JobName"]] = f
    return out


def resume_nodes(run, which=lambda f: True, lane="end"):
    """What an administrator does with nodes that are down or drained."""
    for line in run.c.must("scontrol", "-o", "show", "nodes", "-a").splitlines():
        f = parse_fields(line)
        state = f.get("State", "").replace("*", "").split("+")
        if (state[0] == "DOWN" or "DRAIN" in state) and which(f):
            r = run.c.run("scontrol", "update", "nodename=" + f["NodeName"],
                          "state=resume")
            run.note(lane, "resume", {"node": f["NodeName"], "state": state,
                                       "reason": f.get("Reason", "")},
                     r.stderr.strip() or "done")


def resume_hosts(run, lane="end"):
    """Each host that is avoided, and what it shares with all."""
    for name in avoided(run.c):
        r = run.c.run("svf", "host", "resume", name)
        run.note(lane, "host", {"host": name}, r.stderr.strip() or "done")


def forget_vms(run, lane="end"):
    """Each VM that was on when it was last shown, and isn't there: a person
    destroyed it while the engine heard nothing. Only a person can tell that
    from a vCenter that has lost track of it, once Slurm has powered it down."""
    lost = [v["vm"] for v in run.c.svf("reconcile")["vms"] if NOT_SHOWN in v["description"]]
    there = {v["name"] for v in run.sim("state")["vms"]} if lost else ()
    for name in lost:
        if name not in there:
            r = run.c.run("svf", "vm", "forget", name)
            run.note(lane, "forget", {"vm": name}, r.stderr.strip() or "done")


class Operator:
    """Resumes nodes that Slurm took away for its own reasons, as people do, or the
    nodes would be used up in a long run. Every half minute it also resumes the
    hosts that failed: here all of them fail all the time, and a queue that stands
    still for five minutes shows nothing. It never resumes what other people or
    slurm-vsphere drained: they resume that themselves."""

    def __init__(self, run):
        self.run, self.looks, self.seen = run, 0, set()
        self.thread = Loop("operator", self.look, 6, run.stopped)

    def wants(self, f):
        """It was so at the last look too: the watch has seen it."""
        reason = f.get("Reason", "")
        if reason.startswith("chaos people") or \
                reason.startswith("slurm-vsphere: ") and "DRAIN" in f["State"]:
            return False
        self.now.add((f["NodeName"], reason))
        return (f["NodeName"], reason) in self.seen

    def look(self):
        self.now = set()
        self.looks += 1
        resume_nodes(self.run, self.wants, "operator")
        self.seen = self.now
        if self.looks % 5 == 0:
            resume_hosts(self.run, "operator")
            forget_vms(self.run, "operator")


def our_drains(c):
    nodes = (parse_fields(ln) for ln in
             c.must("scontrol", "-o", "show", "nodes", "-a").splitlines())
    return [f"{f['NodeName']} {f['State']}: {f['Reason']}" for f in nodes
            if "DRAIN" in f.get("State", "") and
            f.get("Reason", "").startswith("slurm-vsphere: ")]


def release_jobs(run, jobs):
    for f in jobs.values():
        if f["JobState"] == "PENDING" and "Held" in f.get("Reason", ""):
            run.note("end", "release", {"job": f["JobName"],
                                        "reason": f["Reason"]}, "done")
            run.c.run("scontrol", "release", f["JobId"])


def clear_breakers(run):
    """A restart without the hints file."""
    run.c.end_slurmctld(grace=30)
    lost = [f.name for f in run.c.path("state").glob("*hints*")]
    for name in lost:
        run.c.path("state", name).unlink()
    run.c.start_slurmctld()
    run.note("end", "clear-breakers", {"lost": lost}, "done")


def avoided(c):
    return [h["host"] for h in c.svf("hosts")["hosts"] if h.get("reasons")]


def confirm_brake(run):
    """True if it was on."""
    if not run.c.svf("status").get("removal_limit_reached"):
        return False
    r = run.c.run("svf", "reconcile", "--confirm")
    run.note("end", "confirm", {}, (r.stdout + r.stderr).strip())
    return True


def jobs_end(run, judge):
    began = time.monotonic()
    looked, cleared, hosts, fewest = 0.0, False, began, None
    while True:
        jobs = all_jobs(run.c)
        left = [f for f in jobs.values() if f["JobState"] not in DONE]
        if not left:
            return jobs
        now = time.monotonic()
        if fewest is None or len(left) < fewest:    # the bound is for each
            fewest, end = len(left), now + JOBS_S
        if now - looked > 8:
            looked = now
            resume_nodes(run)
            forget_vms(run)
            release_jobs(run, jobs)
            if confirm_brake(run):
                judge.found("I5", "the brake was on: an operator had to help")
        if not cleared and now > began + 30 and avoided(run.c):
            cleared = True
            clear_breakers(run)
            fewest = None
        if now - hosts > 30:        # guests fail to boot where nothing is broken
            hosts = now             # too, on a machine that is busy
            resume_hosts(run)
        if now > end:
            picture(run.c)
            for f in left:
                judge.found("jobs", f"{f['JobName']} JobId={f['JobId']} is still "
                            f"{f['JobState']} ({f.get('Reason')}) after {JOBS_S} s; "
                            + why(run.c, f["JobId"]), key=f"JobId={f['JobId']}")
            return jobs
        time.sleep(1)


def picture(c):
    """What there is to see when something hangs, in files."""
    for name, argv in (("nodes", ("scontrol", "show", "nodes", "-a")),
                       ("jobs", ("scontrol", "show", "jobs")),
                       ("svf-nodes", ("svf", "nodes")),
                       ("svf-hosts", ("svf", "hosts")),
                       ("svf-status", ("svf", "status"))):
        r = c.run(*argv)
        c.path(f"hangs-{name}.txt").write_text(r.stdout + r.stderr)


def why(c, job):
    r = c.run("svf", "why", job)
    return "svf why: " + " ".join((r.stdout + r.stderr).split())[:300]


def busy(run):
    """What is not quiet yet, in words, or an empty list."""
    c, said = run.c, []
    for name, state in c.node_states().items():
        flags = set(state.replace("*", "").split("+"))
        if "POWERED_DOWN" not in flags or \
                flags & {"POWERING_UP", "POWERING_DOWN", "POWER_DOWN",
                         "POWER_UP", "COMPLETING", "ALLOCATED", "MIXED"}:
            said.append(f"{name} is {state}")
    s = run.sim("state")
    said += [f"VM {v['name']} ({v['moid']}) is on" for v in s["vms"]
             if is_ours(v) and v["power"] == "poweredOn"]
    said += [f"{t['method']} of {t['entity']} is {t['state']}"
             for t in s["tasks"] if t["state"] in ("queued", "running")]
    for h in c.svf("hosts")["hosts"]:
        said += [f"svf: {h['host']} {pf['pci']} managed={pf['managed']} "
                 f"reserved={pf['reserved']}" for pf in h["pfs"]
                 if pf["managed"] or pf["reserved"]]
    return said


def settle(run, judge):
    """Until all is quiet, or a bound is passed, which is a violation. Returns
    the jobs as Slurm has them at the end."""
    run.calm()
    c = run.c

    def up():
        s = c.svf("status")
        return s["up"] or (run.note("end", "wait", s, "not up") and None)
    try:
        wait_for("the core has vCenter again", UP_S, up, every=1)
    except (Timeout, json.JSONDecodeError) as e:
        judge.found("I5", f"the core did not come back: {e}")
    try:
        wait_for("our drains are lifted", DRAINS_S, lambda: not our_drains(c), every=1)
    except Timeout:
        for text in our_drains(c):
            judge.found("down", f"a drain of ours stays: {text}",
                        key=text.split()[0])
    jobs = jobs_end(run, judge)
    resume_nodes(run)
    forget_vms(run)
    left = ["not looked"]
    end = time.monotonic() + QUIET_S
    while left and time.monotonic() < end:
        time.sleep(1)
        try:
            left = busy(run)
        except (AssertionError, OSError, subprocess.SubprocessError) as e:
            left = [str(e)]
        if left and confirm_brake(run):
            judge.found("I5", "the brake was on: an operator had to help")
    if left:
        picture(c)
    for text in left:
        judge.found("I3", f"not quiet after {QUIET_S} s: {text}",
                    key=next((w for w in text.split()
                              if w.startswith("vm")), None))
    return jobs
