# SPDX-License-Identifier: GPL-2.0-or-later
"""What people do to nodes and jobs in the middle of things, as data: phases
that can be held open, operations, and what each pair must come to.

A phase is played once, with a node and a job for each operation, so that all of
its cells run side by side; the tests then look at what was found of each.
"""

import time

from daemons import ClusterError, parse_fields, patient, wait_for

# No timer of Slurm's that could come to our help is as short as these.
BOUND_S, BUSY_BOUND_S = 30, 55
QUIET_S = 1.5
BY_HAND = "by hand"
MOVING = {"POWERING_UP", "POWERING_DOWN", "POWER_DOWN", "POWER_UP",
          "COMPLETING", "INVALID_REG"}


def node_is(state, reason=BY_HAND):
    def deed(cluster, cell):
        extra = [f"reason={reason}"] if state in ("drain", "down") else []
        return cluster.run("scontrol", "update", f"nodename={cell.node}",
                           f"state={state}", *extra)
    return deed


def job_is(*argv):
    return lambda cluster, cell: cluster.run(*argv, str(cell.job))


DEEDS = {
    "scancel": job_is("scancel"),
    "requeue": job_is("scontrol", "requeue"),
    "requeuehold": job_is("scontrol", "requeuehold"),
    **{s: node_is(s) for s in (
        "drain", "down", "resume", "power_up", "power_down",
        "power_down_asap", "power_down_force")},
}

# Operation: the job's state, how often it was requeued, the flag in the node's
# state, whether its VM is on (None: either). A requeued job has run again by
# then, unless the operation holds the job or its node.
WHILE_BUILT = {
    "scancel": ("CANCELLED", 0, "", False),
    "requeue": ("COMPLETED", 1, "", True),
    "requeuehold": ("PENDING", 1, "", False),
    "drain": ("PENDING", 1, "DRAIN", False),    # Slurm requeues it
    "down": ("PENDING", 1, "DOWN", False),
    "resume": ("COMPLETED", 0, "", True),
    "power_up": ("COMPLETED", 0, "", True),
    "power_down": ("COMPLETED", 0, "", False),  # after the job
    "power_down_asap": ("COMPLETED", 0, "", False),
    "power_down_force": ("COMPLETED", 1, "", True),
}
WHILE_IT_RUNS = {
    **WHILE_BUILT,
    "scancel": ("CANCELLED", 0, "", True),
    "requeuehold": ("PENDING", 1, "", True),
    "drain": ("COMPLETED", 0, "DRAIN", True),
    # ReturnToService=2: its slurmd, which lives, brings the node back.
    "down": ("PENDING|COMPLETED", 1, "DOWN?", True),
}
WHILE_IT_ENDS = {
    **{d: ("COMPLETED", 0, m, on) for d, (_, _, m, on)
       in WHILE_IT_RUNS.items()},
    "requeue": ("COMPLETED", 1, "", True),
    "requeuehold": ("PENDING", 1, "", True),
    "power_down_force": ("COMPLETED", 0, "", False),
}
WHILE_VM_ENDS = {
    **{d: ("COMPLETED", 0, m, False) for d, (_, _, m, _)
       in WHILE_BUILT.items()},
    "requeue": ("COMPLETED", 1, "", True),
    "requeuehold": ("PENDING", 1, "", False),
    # Slurm ignores it while POWERING_DOWN, and does it after SuspendTimeout.
    "power_up": ("COMPLETED", 0, "", None),
}


class Cell:
    def __init__(self, deed, node):
        self.deed, self.node = deed, node
        self.job = None
        self.refused = ""       # what the command said if it failed
        self.seconds = None     # until everything was as it must be
        self.wrong = ["never looked at"]
        self.after = None       # what is wrong with the job that comes next


class Sight:
    """One look at everything."""

    def __init__(self, cluster):
        self.nodes, self.jobs = {}, {}
        for line in cluster.must("scontrol", "-o", "show", "nodes",
                                 "-a").splitlines():
            f = parse_fields(line)
            self.nodes[f["NodeName"]] = f
        for line in cluster.must("scontrol", "-o", "show",
                                 "jobs").splitlines():
            f = parse_fields(line)
            self.jobs[int(f.get("JobId", 0))] = f
        state = cluster.state()
        self.vms = {v["name"]: v for v in state["vms"]
                    if v["folder"].endswith("/slurm")}
        self.tasks = [t for t in state["tasks"]
                      if t["state"] in ("queued", "running")]

    def flags(self, node):
        return set(self.nodes[node]["State"].rstrip("*").replace("*+", "+")
                   .split("+"))

    def is_on(self, node):
        return self.vms.get(node, {}).get("power") == "poweredOn"

    def busy(self, node):
        return [t["method"] for t in self.tasks if t["entity"] == node]


def judge(sight, cell, want):
    """What isn't yet as it must be, in words."""
    state, restarts, mark, on = want
    flags, job = sight.flags(cell.node), sight.jobs.get(cell.job, {})
    wrong = [f"{f} of {cell.node}" for f in sorted(flags & MOVING)]
    wrong += [f"{m} on {cell.node}'s VM" for m in sight.busy(cell.node)]
    for m in ("DOWN", "DRAIN"):
        if mark != m + "?" and (m in flags) != (m == mark):
            wrong.append(f"{cell.node} is {'' if m in flags else 'not '}{m}: "
                         f"{sight.nodes[cell.node].get('Reason')}")
    if flags & {"DOWN", "DRAIN"} and not sight.nodes[cell.node].get(
            "Reason", "").startswith(BY_HAND):
        wrong.append("the person's reason is lost: "
                     f"{sight.nodes[cell.node].get('Reason')}")
    if on is not None and sight.is_on(cell.node) != on:
        wrong.append(f"the VM of {cell.node} is "
                     f"{'on' if sight.is_on(cell.node) else 'off'}")
    if ("POWERED_DOWN" in flags) == sight.is_on(cell.node):
        wrong.append(f"Slurm says {sight.nodes[cell.node]['State']}")
    got = job.get("JobState", "GONE"), job.get("Restarts")
    if got[0] not in state.split("|") or got[1] != str(restarts):
        wrong.append(f"JobId={cell.job} is {got}: {job.get('Reason')}, "
                     f"eligible {job.get('EligibleTime')}, "
                     f"looked at {job.get('LastSchedEval')}")
    if got[0] == "PENDING" and job.get("Reason") in (None, "", "None"):
        wrong.append("nothing says why the job waits")
    return wrong


def watch(cluster, cells, wanted, timeout=BOUND_S):
    """Until every cell is as it must be, and each one's seconds."""
    began = time.monotonic()
    open_cells = list(cells)
    bound = min(patient(timeout), max(timeout, BUSY_BOUND_S))
    while open_cells and time.monotonic() - began < bound:
        sight = Sight(cluster)
        for cell in list(open_cells):
            cell.wrong = judge(sight, cell, wanted[cell.deed])
            if not cell.wrong:
                cell.seconds = time.monotonic() - began
                open_cells.remove(cell)
        time.sleep(0.2)


# ---- phases --------------------------------------------------------------------

def all_off(cluster):
    names = ",".join(cluster.node_names())
    sight = Sight(cluster)
    up = [n for n in cluster.node_names()
          if sight.flags(n) != {"IDLE", "CLOUD", "POWERED_DOWN"}]
    if up:
        cluster.must("scontrol", "update", f"nodename={names}",
                     "state=power_down_force")
    wait_for("all is off", 40, lambda: (lambda s: all(
        s.flags(n) == {"IDLE", "CLOUD", "POWERED_DOWN"} and not s.is_on(n)
        for n in cluster.node_names()))(Sight(cluster)))


def all_on(cluster):
    n = len(cluster.node_names())
    cluster.wait_job(cluster.sbatch(f"-N{n}", script="true"), 60)


def hold_tasks(cluster, method, entity="*"):
    cluster.fault(on="task", method=method, object=entity, hang=True)


def release_tasks(cluster, method):
    cluster.clear_faults()
    for t in cluster.running_tasks(method):
        try:
            cluster.do("endTask", task=t["moid"])
        except ClusterError:
            pass        # it has just been cancelled


class Phase:
    """prepare, then jobs begin; reached tells when all are in the phase; it
    lasts until let_go. What needs no let_go to end well is in `early`."""

    wanted, early, deferred = WHILE_BUILT, (), None

    def prepare(self, cluster):
        all_off(cluster)

    def script(self):
        return "hostname"

    def begin(self, cluster, cells):
        for cell in cells:
            cell.job = cluster.sbatch("-N1", "-w", cell.node, "--requeue",
                                      "-J", cell.deed, script=self.script())

    def reached(self, cluster, cells):
        sight = Sight(cluster)
        return len([t for t in sight.tasks if t["method"] == self.task and
                    t["state"] == "running"]) == len(cells)

    def let_go(self, cluster):
        release_tasks(cluster, self.task)


class Clone(Phase):
    task = "CloneVM_Task"
    early = ("scancel", "requeuehold", "drain", "down")

    def prepare(self, cluster):
        all_off(cluster)
        for vm in cluster.our_vms():
            cluster.do("destroyVm", vm=vm["name"], wait=True)
        hold_tasks(cluster, self.task)


def other_memory(cluster):
    """Every VM is wrong from now on."""
    new = Reconfigure.overhead + 64
    f = cluster.path("etc", "vsphere.conf")
    f.write_text(f.read_text().replace(f"MemoryOverhead={Reconfigure.overhead}",
                                       f"MemoryOverhead={new}"))
    Reconfigure.overhead = new
    cluster.must("scontrol", "reconfigure")


class Reconfigure(Phase):
    task = "ReconfigVM_Task"
    overhead = 1024

    def prepare(self, cluster):
        if len(cluster.our_vms()) < len(cluster.node_names()):
            all_on(cluster)
        all_off(cluster)
        other_memory(cluster)
        hold_tasks(cluster, self.task)


class Rebuild(Phase):
    """The node was up, and its VM, wrong for the job, goes off first."""

    task = "PowerOffVM_Task"

    def prepare(self, cluster):
        all_on(cluster)
        other_memory(cluster)
        hold_tasks(cluster, self.task)


class PowerOn(Phase):
    task = "PowerOnVM_Task"

    def prepare(self, cluster):
        all_off(cluster)
        hold_tasks(cluster, self.task)


def gates(cluster, kind):
    return [cluster.path("guests", f"{n}.{kind}")
            for n in cluster.node_names()]


class Gated(Phase):
    """Something in the guest waits for a file to go."""

    gate = "hold"

    def prepare(self, cluster):
        super().prepare(cluster)
        cluster.path("guests").mkdir(exist_ok=True)
        for f in gates(cluster, self.gate):
            f.touch()

    def let_go(self, cluster):
        for f in gates(cluster, self.gate):
            f.unlink(missing_ok=True)


class Boot(Gated):
    early = ("scancel", "requeuehold", "drain", "down")

    def reached(self, cluster, cells):
        sight = Sight(cluster)
        return all(sight.is_on(c.node) and not sight.busy(c.node) and
                   "POWERING_UP" in sight.flags(c.node) for c in cells)


class Run(Gated):
    wanted, gate = WHILE_IT_RUNS, "job"
    early = ("scancel", "requeuehold", "down")

    def prepare(self, cluster):
        all_on(cluster)
        super().prepare(cluster)

    def script(self):
        return 'echo began; while [ -e "$VS_CLUSTER_DIR/guests/' \
            '$SLURMD_NODENAME.job" ]; do sleep 0.1; done; hostname'

    def reached(self, cluster, cells):
        return all("began" in cluster.output(c.job) for c in cells)


class End(Gated):
    """The job's processes are gone, its epilog is not."""

    wanted, gate = WHILE_IT_ENDS, "epilog"

    def prepare(self, cluster):
        all_on(cluster)
        super().prepare(cluster)

    def reached(self, cluster, cells):
        sight = Sight(cluster)
        return all("COMPLETING" in sight.flags(c.node) for c in cells)


class VmEnds(Phase):
    """The job is over, and its VM is being switched off."""

    wanted, task = WHILE_VM_ENDS, "PowerOffVM_Task"

    def prepare(self, cluster):
        all_on(cluster)

    def begin(self, cluster, cells):
        super().begin(cluster, cells)
        for cell in cells:
            cluster.wait_job(cell.job)
        cluster.fault(on="request", method="ShutdownGuest", fault={
            "_typeName": "ToolsUnavailable"})
        hold_tasks(cluster, self.task)
        cluster.must("scontrol", "update",
                     f"nodename={','.join(cluster.node_names())}",
                     "state=power_down")


PHASES = {"clone": Clone, "reconfigure": Reconfigure, "rebuild": Rebuild,
          "power-on": PowerOn, "boot": Boot, "run": Run, "end": End,
          "release": VmEnds}


# ---- one phase, all operations ----------------------------------------------------

def undo(cluster, cells, wanted):
    """People put right what they have done; every node serves again."""
    for cell in cells:
        state, _, mark, _ = wanted[cell.deed]
        if mark:
            cluster.run("scontrol", "update", f"nodename={cell.node}",
                        "state=resume")
        if state == "PENDING" and cell.deed == "requeuehold":
            cluster.run("scontrol", "release", str(cell.job))


def next_jobs(cluster, cells, timeout=60):
    nexts = {c.deed: cluster.sbatch("-N1", "-w", c.node, script="hostname")
             for c in cells}
    end = time.monotonic() + timeout
    for cell in cells:
        for job in (cell.job, nexts[cell.deed]):
            cell.after = None
            try:
                wait_for(f"JobId={job} is over",
                         max(1, end - time.monotonic()),
                         lambda j=job: cluster.job_state(j) in
                         ("COMPLETED", "CANCELLED"))
            except AssertionError as e:
                show = cluster.job(job)
                cell.after = f"{e}: {show.get('Reason')}, " \
                    f"{cluster.node(cell.node)['State']}"
                break
        else:
            if cluster.output(nexts[cell.deed]).strip() != cell.node:
                cell.after = "the next job did not run on the node"


def play(cluster, name):
    """{operation: cell} of this phase, judged; and what must hold for all."""
    phase = PHASES[name]()
    cells = [Cell(d, n) for d, n in zip(DEEDS, cluster.node_names())]
    phase.prepare(cluster)
    try:
        phase.begin(cluster, cells)
        wait_for(f"all are in the phase {name}", 60,
                 lambda: phase.reached(cluster, cells))
        was = cluster.mutating()
        for cell in cells:
            r = DEEDS[cell.deed](cluster, cell)
            cell.refused = r.stderr.strip() if r.returncode else ""
        early = [c for c in cells if c.deed in phase.early]
        watch(cluster, early, phase.wanted)
    finally:
        phase.let_go(cluster)
        cluster.clear_faults()
    watch(cluster, [c for c in cells if c not in early], phase.wanted)
    held = sum(pf["reserved"] for h in cluster.svf("hosts")["hosts"]
               for pf in h["pfs"])
    ours = sum(pf["managed"] for h in cluster.svf("hosts")["hosts"]
               for pf in h["pfs"])
    calls = cluster.mutating()
    time.sleep(QUIET_S)
    all_of_it = {"reserved": held, "managed": ours, "on": len(cluster.names_on()),
                 "calls": calls - was, "late": cluster.mutating() - calls}
    undo(cluster, cells, phase.wanted)
    next_jobs(cluster, cells)
    return {c.deed: c for c in cells}, all_of_it
