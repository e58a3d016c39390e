# SPDX-License-Identifier: GPL-2.0-or-later
"""A pair's job: what is asked of Slurm and svf, and the rows that come of it.

Rules: host and PF are those of slurmctld's record of the job, not what a guest
says; a file of output counts only if it belongs to the user who reads it; what
isn't whole, or was measured beside others' traffic and is slow, is no result.
"""

import json
import os
import pathlib
import re
import stat
import subprocess
import time

import choose
import judge
import keep
import perf
from keep import AUTH, AWAY, FILE, NO, Wrong

SHARE = pathlib.Path(__file__).resolve().parent

NAME = "slurm-vsphere-health"
POLL_S = 2
WRITTEN_S = 30      # a shared file system may show a job's output late
ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL",
         "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE", "PREEMPTED", "GONE")
ENV = {k: v for k, v in os.environ.items() if k == "SLURM_CONF" or
       not k.startswith(("SLURM_", "SBATCH_", "HEALTH_"))}
ENV["LC_ALL"] = "C"


def call(*argv, env=None):
    try:
        return subprocess.run([str(a) for a in argv], text=True, timeout=120,
                              env=env or ENV, stdin=subprocess.DEVNULL,
                              capture_output=True)
    except (OSError, subprocess.TimeoutExpired) as e:
        raise Wrong(f"{argv[0]}: {e}", AWAY) from None


def must(*argv, env=None):
    r = call(*argv, env=env)
    if r.returncode:
        said = (r.stderr or r.stdout).strip().replace("\n", "; ")
        code = r.returncode if argv[0] == "svf" and r.returncode in (
            AWAY, AUTH, FILE) else NO
        raise Wrong(f"{' '.join(str(a) for a in argv[:3])}: {said[:300]}", code)
    return r.stdout


def svf(*argv):
    try:
        return json.loads(must("svf", "--json", *argv))
    except ValueError as e:
        raise Wrong(f"svf {argv[0]}: {e}", AWAY) from None


class Site:
    """What slurmctld shows now."""

    def __init__(self):
        self.hosts = svf("hosts")["hosts"]
        self.nodes = svf("nodes")["nodes"]


# ---- a job -----------------------------------------------------------------------

def job_env(conf):
    env = dict(ENV, HEALTH_TESTS=" ".join(conf["tests"]),
               HEALTH_SECONDS=str(conf["seconds"]))
    for key in ("setup", "mpirun", "bandwidth_options"):
        if conf[key]:
            env[{"bandwidth_options": "HEALTH_BW_OPTIONS"}.get(
                key, "HEALTH_" + key.upper())] = conf[key]
    return env


def places(comment):
    """(adapter, {node: (host, [PF])}) of a job's SystemComment."""
    adapter, found = "", {}
    word = comment.split()
    if not word or word[0] != "vsphere:":
        return adapter, found
    for w in word[1:]:
        name, _, value = w.partition("=")
        if name == "adapter":
            adapter = value
            continue
        host, _, pfs = value.partition("/")
        names = must("scontrol", "show", "hostnames", name).split() \
            if "[" in name else [name]
        for n in names:
            found[n] = host, [p for p in pfs.split(",") if p]
    return adapter, found


class Job:
    """A pair's, from submission to its rows."""

    def __init__(self, conf, partition, hosts, nodes):
        self.conf, self.partition, self.hosts = conf, partition, hosts
        self.nodes = [n["node"] for n in nodes]
        self.dir = pathlib.Path(conf["output"])
        out = must("sbatch", "--parsable", f"--job-name={NAME}", "-p", partition,
                   "-w", ",".join(self.nodes), "-D", self.dir, "-o",
                   self.dir / f"{NAME}-%j.out", *conf["sbatch"],
                   conf["script"] or SHARE / "pair.sbatch", env=job_env(conf))
        self.id = int(out.split(";")[0])
        self.until = time.time() + conf["wait"]
        self.state, self.why = "PENDING", ""
        self.adapter, self.places, self.shared = "", {}, {}

    def look(self):
        """Its state; while it runs, who else uses its links."""
        r = call("scontrol", "show", "job", self.id)
        if r.returncode and "Invalid job id" not in r.stderr:
            return      # slurmctld is away: ask again
        state = re.search(r"\bJobState=(\w+)", r.stdout)
        self.state = state[1] if state else "GONE"
        got = re.search(r"^ *SystemComment=(.*)$", r.stdout, re.M)
        if got:
            self.adapter, self.places = places(got[1])
        if self.state != "PENDING":
            site = Site()
            for end, n in choose.shared(site.hosts, site.nodes,
                                        self.nodes).items():
                self.shared[end] = max(n, self.shared.get(end, 0))

    def over(self):
        if self.state in ENDED:
            return True
        if time.time() > self.until:
            call("scancel", self.id)
            self.why = f"it did not end in {self.conf['wait']} s " \
                f"({self.state})"
            self.state = "CANCELLED"
        return self.state in ENDED

    def output(self):
        """Its whole output; a file that isn't this user's own is none."""
        f, until = self.dir / f"{NAME}-{self.id}.out", time.time() + WRITTEN_S
        while True:
            try:
                fd = os.open(f, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                with os.fdopen(fd, "rb") as opened:
                    st = os.fstat(fd)
                    if not stat.S_ISREG(st.st_mode) or \
                            st.st_uid != os.geteuid():
                        raise perf.Unreadable(f"{f} is not a file of ours")
                    text = opened.read(perf.MOST + 1).decode(errors="replace")
            except OSError as e:
                text = ""
                self.why = self.why or f"{f}: {e.strerror}"
            if "\nhealth: done\n" in text or self.state != "COMPLETED" or \
                    time.time() > until:
                return text
            time.sleep(0.5)

    def end(self, node, nic, seen):
        host, pfs = self.places.get(node, ("", []))
        return {"node": node, "host": host,
                "pf": pfs[nic] if nic < len(pfs) else "",
                "device": seen.get((node, nic), {}).get("device", "")}

    def wanted(self, nodes):
        """(test, from, to) of each NIC."""
        a, b = nodes
        for test in self.conf["tests"]:
            yield test, a, b
            if test == "ib_send_bw":
                yield test, b, a

    def rows(self):
        """What it measured: a row per test, also for those without a result."""
        try:
            job = perf.read_job(self.output())
            why = ""
        except perf.Unreadable as e:
            job, why = {"nodes": self.nodes, "nics": {}, "tests": [],
                        "said": ""}, \
                self.why or f"JobState={self.state}: {e}"
        if set(job["nodes"]) != set(self.nodes) or \
                job.get("job", self.id) != self.id:
            why = "its output is of another job"
        if not why and set(self.nodes) - set(self.places):
            why = "Slurm's record doesn't say on which hosts it was"
        nics = {c for _, c in job["nics"]} or {0}
        found, now = [], round(time.time(), 1)
        for nic in sorted(nics):
            for test, a, b in self.wanted(job["nodes"]):
                row = {"time": now, "job": self.id, "adapter": self.adapter,
                       "partition": self.partition, "test": test, "nic": nic,
                       "from": self.end(a, nic, job["nics"]),
                       "to": self.end(b, nic, job["nics"])}
                row.update(self.assess(job, row, why))
                found.append(row)
        return found

    def assess(self, job, row, why):
        ends = row["from"], row["to"]
        key = row["test"], row["nic"], ends[0]["node"], ends[1]["node"]
        done = [t for t in job["tests"] if key == (
            t["test"], t["nic"], t["from"], t["to"])]
        limits = keep.limits_of(self.conf, self.adapter)
        test = done[0] if done else {"test": row["test"], "rc": 1, "text": ""}
        if not done:
            why = why or perf.complaint(job["said"]) or "it was not run"
        res = judge.assess(test, [job["nics"].get(
            (e["node"], row["nic"]), {}).get("rate") for e in ends], limits)
        if why or len(done) != 1:
            res.update(verdict="none", value=None, reason=why or res["reason"] or
                       "it was run twice")
        others = sum(self.shared.get((e["host"], e["pf"]), 0) for e in ends)
        if res["verdict"] == "slow" and others and self.conf["alone"]:
            res.update(verdict="none", reason=f"{judge.figure({**row, **res})}, "
                       f"but {others} other VM" +
                       ("s share" if others > 1 else " shares") + " these PFs")
        return res
