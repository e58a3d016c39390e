# SPDX-License-Identifier: GPL-2.0-or-later
"""Many small waits side by side in one cluster: each row of a table is a pool
of VFs of its own (hosts, a switch, an adapter, a partition), jobs that hold
them until a certain time, and a job that waits. All of them are played at once,
and what Slurm had said of each is kept with what came of it."""

import datetime
import re
import threading
import time

from cluster import Cluster, wait_for
from stages import backfill_looks
from worlds import PF0, foreign, host, world

E1_S, GAP_S = 45, 60    # from the last submission to E1, and from E1 to E2


class Row:
    """One wait. Nodes are numbered from 1 within the row."""

    def __init__(self, name, names, vfs, held, wait, starts, **more):
        self.name, self.names, self.vfs = name, names, vfs
        self.held = held            # (nodes, when they end: "E1", "E2")
        self.wait = wait            # options of the job that waits; {1-2}
        self.starts = starts        # E1, E2, never, soon
        self.theirs = more.get("theirs", 0)     # VFs of other users' VMs
        self.warm = more.get("warm")            # nodes left idle before
        self.second = more.get("second")        # nodes of another adapter
        self.large = more.get("large")          # nodes with more memory
        self.retention = more.get("retention")
        self.before = more.get("before", [])    # jobs that wait before it
        self.after = more.get("after", [])      # jobs submitted behind it
        self.resv = more.get("resv")            # nodes reserved, E1 to E2
        self.away = more.get("away")            # a host that goes
        self.says = more.get("says")            # its reason, in VF terms
        self.ether = more.get("ether")          # nodes with vmxnet3
        self.slack = more.get("slack", 0)       # s: what Slurm can't know
        self.alone = not more.get("before")     # --test-only sees no queue
        self.long = more.get("long", False)
        self.jobs, self.said, self.only, self.text = [], {}, None, None

    def hosts(self):
        return [f"{self.id}-{i}.example.org"
                for i in range(1, len(self.vfs) + 1)]

    def nodes(self, which):
        """"2-3" of this row, in Slurm's words."""
        ends = [self.first + int(x) - 1 for x in str(which).split("-")]
        return f"vm[{ends[0]:03d}-{ends[-1]:03d}]"

    def options(self, text):
        return [re.sub(r"\{(.*?)\}", lambda m: self.nodes(m.group(1)), o)
                for o in text.replace("@", self.id).split()]


def switch(name):
    return f"dvs-{name}"


def pool_host(row, name, vfs):
    h = host(name, vfs)
    h["pnics"][1]["switch"] = switch(row.id)
    return h


def number(rows):
    first = 1
    for i, row in enumerate(rows, 1):
        row.id, row.first = f"p{i:02d}", first
        first += row.names
    return first - 1


def inventory(rows):
    vms = [foreign(f"theirs-{r.id}-{k}", r.hosts()[0], PF0, f"NET-{r.id}")
           for r in rows for k in range(r.theirs)]
    w = world(hosts=[pool_host(r, n, v) for r in rows
                     for n, v in zip(r.hosts(), r.vfs)], vms=vms)
    dc = w["datacenters"][0]
    dc["switches"] += [{"name": switch(r.id), "maxMtu": 9000} for r in rows]
    dc["networks"] += [{"name": f"NET-{r.id}", "switch": switch(r.id)}
                       for r in rows]
    dc["networks"] += [{"name": f"NET2-{r.id}", "switch": switch(r.id)}
                       for r in rows if r.second]
    return w


def vsphere_lines(rows):
    lines = ["VSphereCluster=HPC1 ResourcePool=slurm"]
    for r in rows:
        lines += [f"AdapterName={r.id} Type=sriov Network=NET-{r.id} MTU=9000",
                  f"PartitionName={r.id} Adapter={r.id} Template=rhel9-ofed"
                  + (f" Retention={r.retention}" if r.retention else "")]
        if r.ether:
            lines += [f"AdapterName={r.id}e Type=vmxnet3 Network=VM-PG",
                      f"PartitionName={r.id}e Adapter={r.id}e "
                      "Template=rhel9-ofed"]
        if r.second:
            lines += [f"AdapterName={r.id}b Type=sriov Network=NET2-{r.id}",
                      f"PartitionName={r.id}b Adapter={r.id}b "
                      "Template=rhel9-ofed"]
    return lines


def node_lines(c, r):
    lines = []
    for i in range(1, r.names + 1):
        def is_in(which, i=i):
            ends = [int(x) for x in str(which or "0").split("-")]
            return ends[0] <= i <= ends[-1]
        n = r.first + i - 1
        lines.append(c.node_line(n, n, r.id + "b" * is_in(r.second)
                                 + "e" * is_in(r.ether),
                                 memory=2048 if is_in(r.large) else 1024))
    return lines


def partition_lines(rows):
    lines = []
    for r in rows:
        other = r.second or r.ether
        last = int(other.split("-")[0]) - 1 if other else r.names
        lines.append(f"PartitionName={r.id} Nodes={r.nodes(f'1-{last}')} "
                     "DefaultTime=30 MaxTime=INFINITE")
        if r.ether:
            lines += [f"PartitionName={r.id}e Nodes={r.nodes(r.ether)}",
                      f"PartitionName={r.id}m DefaultTime=30 "
                      f"Nodes={r.nodes(f'1-{r.names}')}"]
        if r.second:
            lines.append(f"PartitionName={r.id}b Nodes={r.nodes(r.second)} "
                         "DefaultTime=30 MaxTime=INFINITE")
    return lines


def make(rows):
    n = number(rows)
    c = Cluster(nodes=n, inventory=inventory(rows))
    c.choose_ports()
    c.vsphere = {"ShutdownGrace": 1, "AllowMoreNodesThanVFs": "yes",
                 "lines": vsphere_lines(rows)}
    c.slurm = {"SuspendTimeout": 2, "ResumeTimeout": 300, "SchedulerParameters":
               c.scheduler_parameters + ",bf_resolution=1,bf_continue,"
               "default_queue_depth=500",
               # 26.05's backfill says only with HetJob what it started
               "DebugFlags": "NO_CONF_HASH,HetJob"}
    c.node_lines = [line for r in rows for line in node_lines(c, r)]
    c.partition_lines = partition_lines(rows)
    return c


def iso(at):
    return at.isoformat(timespec="seconds")


def when(text):
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:
        return None


class Play:
    """All rows, from the first job to the last start."""

    def __init__(self, c, rows):
        self.c, self.rows, self.times = c, rows, {}

    def submit(self, r, options, script="true"):
        part = [] if "-p" in options.split() else ["-p", r.id]
        return self.c.sbatch(*part, *r.options(options), script=script)

    def until(self, end):
        """A script that runs until that time has come."""
        return f"until [ -e {self.c.path('out', end)} ]; do sleep 1; done"

    def hold(self):
        c = self.c
        warm = [self.submit(r, f"-w {{{r.warm}}} -N2") for r in self.rows
                if r.warm]
        held = [(self.submit(r, f"-w {{{nodes}}} -N{count(nodes)} -t 60 "
                             "--mem=100", self.until(end)), end)
                for r in self.rows for nodes, end in r.held]
        for job in warm:
            c.wait_state(job, "COMPLETED", 120)
        wait_for("all that hold VFs run", 300, lambda: not c.must(
            "squeue", "-h", "-t", "PENDING,CONFIGURING", "-o", "%i").strip())
        for r in self.rows:
            if r.away:
                c.do("maintenance", host=r.hosts()[r.away - 1], mode="enter")
        return held

    def clock(self, held):
        now = datetime.datetime.now().replace(microsecond=0)
        self.times["E1"] = now + datetime.timedelta(seconds=E1_S)
        self.times["E2"] = self.times["E1"] + datetime.timedelta(seconds=GAP_S)
        for job, end in held:
            self.c.must("scontrol", "update", f"JobId={job}",
                        f"EndTime={iso(self.times[end])}")
        for r in self.rows:
            if r.resv:
                self.c.must(
                    "scontrol", "create", "reservation",
                    f"reservationname={r.id}", f"nodes={r.nodes(r.resv)}",
                    f"starttime={iso(self.times['E1'])}", "users=root",
                    f"endtime={iso(self.times['E2'])}")

    def if_submitted(self, r):
        """The start that sbatch --test-only says."""
        wait = r.wait.replace("E1", iso(self.times["E1"]))
        part = [] if "-p" in wait.split() else ["-p", r.id]
        out = self.c.run("sbatch", "--test-only", *part, *r.options(wait),
                         "--wrap=true").stderr
        said = re.search(r"to start at (\S+)", out)
        return said and when(said.group(1))

    def queue(self):
        # Ends that a person moves are read with the beat, which may fall between
        # two of them. (Stock itself knows when a name is free.)
        known = [r for r in self.rows if r.alone and r.held and
                 r.starts == "E1" and r.names > sum(r.vfs)]
        limit = datetime.datetime.now() + datetime.timedelta(minutes=30)
        for r in known:
            wait_for(f"{r.name}: the new ends are known", 20, lambda r=r: (
                self.if_submitted(r) or limit) < limit)
        for r in self.rows:
            for options, script in r.before:
                self.submit(r, options, script)
            r.only = self.if_submitted(r)
            r.job = self.submit(r, r.wait.replace(
                "E1", iso(self.times["E1"])), "sleep 1")
            r.jobs = [self.submit(r, options, script)
                      for options, script in r.after]

    def reason(self, r):
        """For a moment after each look of Slurm's it is Slurm's own word."""
        def text():
            return self.c.squeue(r.job, "%r")
        if not r.says:
            return text()
        return wait_for(f"{r.name}: it says why", 30, lambda: [
            t for t in [text()] if "needs " in t])[0]

    def listen(self):
        """What Slurm says once backfill has seen all of them."""
        backfill_looks(self.c, 3)
        said = dict(line.split() for line in self.c.must(
            "squeue", "-a", "-h", "-t", "PENDING", "-o", "%A %S").splitlines())
        for r in self.rows:
            r.said = when(said.get(str(r.job), "N/A"))
            if str(r.job) in said:
                r.text = self.reason(r)
                r.why = self.c.svf("why", str(r.job))
        assert datetime.datetime.now() < self.times["E1"], \
            "too slow to hear what is said before it comes true"

    def end(self):
        last = max(r.starts for r in self.rows if r.starts in self.times)
        for name in ("E1", "E2"):
            left = (self.times[name] - datetime.datetime.now()).total_seconds()
            timer = threading.Timer(
                max(left, 0), self.c.path("out", name).touch)
            timer.daemon = True
            timer.start()
        late = (self.times[last] - datetime.datetime.now()).total_seconds()
        waits = {str(j) for r in self.rows if r.starts != "never"
                 for j in [r.job, *r.jobs]}
        wait_for("all have begun", late + 60, lambda: waits <= set(
            self.starts()), 1)

    def starts(self):
        """When slurmctld allocated nodes to each job, by its log."""
        found = {}
        for at, job, task in re.findall(
                r"^\[(\S+)\] .*(?:Started|Allocate) JobId=(\d+)"
                r"(?:_\d+\((\d+)\))?", self.c.ctld_log(), re.M):
            found.setdefault(task or job, datetime.datetime.fromisoformat(at))
        return found

    def play(self):
        held = self.hold()
        self.clock(held)
        self.queue()
        self.listen()
        self.end()
        self.began = self.starts()
        return self


def count(nodes):
    ends = [int(x) for x in str(nodes).split("-")]
    return ends[-1] - ends[0] + 1


def seconds(a, b):
    return (a - b).total_seconds()


def now():
    return datetime.datetime.fromtimestamp(time.time())
