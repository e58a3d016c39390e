# SPDX-License-Identifier: GPL-2.0-or-later
"""No job pends while what it asks for is free: a small exact model of that.

A moment is what Slurm, the simulator and svf say within two seconds. In a moment
a job could start if a choice of nodes exists that does it: those that are up and
idle take nothing, those that are off take VFs of hosts where they can be had.
Nothing is in its way: it is eligible, not held, and no pending job before it
wants the same nodes or VFs, unless that one can't be served by all that there is:
what a lost host or an unreachable VM keeps from it lasts, and counts as absent.

Rules: where the model can't know (vCenter away or mute, a host avoided after failures, a
VM in a person's hands, an action under way) it says that nothing is free, and the
moment is left out. svf's own word excuses for EXCUSED_S only: a node that it calls
busy for longer without a break is free. Judged is who could start at each moment
while three cycles of backfill began, which holds two whole ones.
"""

import re
from typing import NamedTuple

from chaos_plan import CARDS, OVER, PARTITIONS

CYCLES = 3
APART_S = 5             # moments further apart than that are no row
# The core waits 32 s at most after a node's failure. A task may take its time.
EXCUSED_S = {"last_error": 45, "action": 180, "reason": 180, "request": 180}
UNSEEN = "vCenter does not show its VM"      # an administrator's to decide
FREE_FLAGS = {"CLOUD", "PLANNED", "POWERED_DOWN"}
# Adapters that take the same VFs.
POOLS = {a: CARDS[a][1] if CARDS[a][2] else a for a in CARDS}


class Job(NamedTuple):
    name: str
    id: int
    priority: tuple         # the partition's tier, its own
    demands: tuple          # of each way: ((adapters, nodes), ...)
    restarts: int = 0
    reason: str = ""


class Moment(NamedTuple):
    at: float
    jobs: list              # those that are eligible
    up: dict                # adapter: nodes that are on and idle
    off: dict               # adapter: nodes that can be started
    free: dict              # network: [VFs free of each PF, by host]
    whole: dict             # the same if no managed VM were on
    able: dict              # adapter: nodes that are not down, drained or lost


# ---- what a job asks for ------------------------------------------------------------

def ways(constraint, n):
    """The ways to give a job n nodes: [((adapters, nodes), ...), ...]."""
    if m := re.fullmatch(r"\[(.*)\]", constraint):
        if "&" in m[1]:
            parts = [p.split("*") for p in m[1].split("&")]
            return [tuple((frozenset((a,)), int(k)) for a, k in parts)]
        return [((frozenset((a,)), n),) for a in m[1].split("|")]
    return [((frozenset(constraint.split("|")), n),)]


def adapters_of(partition):
    return {PARTITIONS[p][0] for p in OVER.get(partition, (partition,))}


def demands(partitions, constraint, n):
    """As ways(), in one of the job's partitions."""
    found = []
    for p in partitions.split(","):
        has = adapters_of(p)
        for way in ways(constraint, n):
            there = tuple((frozenset(a & has), k) for a, k in way)
            if all(a for a, _ in there):
                found.append(there)
    return tuple(found)


# ---- whether it can be given ----------------------------------------------------------

def pairs(pfs, apart):
    """Nodes of two VFs that a host's PFs have room for."""
    total = sum(pfs)
    return min(total // 2, total - max(pfs, default=0)) if apart else total // 2


def room(starts, free, apart):
    """Whether so many nodes of each adapter can be started on the free VFs."""
    for network in {CARDS[a][1] for a in starts}:
        there = [a for a in starts if starts[a] and CARDS[a][1] == network]
        two = sum(starts[a] for a in there if CARDS[a][2] == 2)
        one = sum(starts[a] for a in there if CARDS[a][2] == 1)
        hosts = free.get(network, [])
        if there and not hosts or two > sum(pairs(pfs, apart) for pfs in hosts) or \
                one > sum(map(sum, hosts)) - 2 * two:
            return False
    return True


def choices(way):
    """How many nodes of each adapter: each choice that is this way."""
    if not way:
        yield {}
        return
    (adapters, n), rest = way[0], way[1:]
    first, *others = sorted(adapters)
    for k in range(n + 1) if others else (n,):
        left = [(frozenset(others), n - k)] if others else []
        for more in choices([*left, *rest]):
            yield {**more, first: more.get(first, 0) + k}


def given(job, up, off, free, apart):
    for way in job.demands:
        for need in choices(list(way)):
            starts = {a: max(0, k - up.get(a, 0)) for a, k in need.items()}
            if all(k <= off.get(a, 0) for a, k in starts.items()) and \
                    room(starts, free, apart):
                return True
    return False


def pools(job):
    return {POOLS[a] for way in job.demands for adapters, _ in way for a in adapters}


def startable(moment, apart):
    """The jobs that could start at this moment."""
    found, before = [], []
    for job in sorted(moment.jobs, key=lambda j: (j.priority, -j.id), reverse=True):
        if not pools(job) & {p for b in before for p in pools(b)} and \
                given(job, moment.up, moment.off, moment.free, apart):
            found.append(job)
        if given(job, {}, moment.able, moment.whole, apart):
            before.append(job)
    return found


# ---- over time --------------------------------------------------------------------------

class Pending:
    """Which jobs could have started and did not, and how much was looked at."""

    def __init__(self, apart):
        self.apart = apart
        self.last = None        # the moment before, if the next one is of its row
        self.since = {}         # job: when it could start first
        self.waited = {}        # job: when it was seen to wait first, in this row
        self.moments = self.unknown = self.late = 0
        self.rows = {}          # (job, since): until
        self.first = {}         # (job, since): the moment
        self.waits = {}         # the same of every eligible job

    def look(self, moment, late=False):
        """The next moment, or None where there is none that can be judged;
        late: because the machine was too slow to look."""
        if not moment or self.last is None or moment.at - self.last > APART_S:
            self.since, self.waited = {}, {}
        self.last = moment.at if moment else None
        if not moment:
            self.unknown += 1
            self.late += late
            return
        self.moments += 1
        self.since = carry(self.since, startable(moment, self.apart), moment.at)
        self.waited = carry(self.waited, moment.jobs, moment.at)
        for row in self.since.items():
            self.first.setdefault(row, moment)
        self.rows.update({(k, t): moment.at for k, t in self.since.items()})
        self.waits.update({(k, t): moment.at for k, t in self.waited.items()})

    def kept(self, cycles):
        """[(job's name, id, since, until, the first moment)] of those who pended
        while three cycles began; cycles: when each did, ascending."""
        return [(k[0], k[1], a, b, self.first[k, a])
                for (k, a), b in self.rows.items() if began(cycles, a, b) >= CYCLES]

    def judged(self, cycles):
        """How many waits lasted for so long: each could have been a violation."""
        return sum(began(cycles, a, b) >= CYCLES for (_, a), b in self.waits.items())

    def told(self, cycles):
        """In the summary's words."""
        return (f"looks={self.moments}/{self.moments + self.unknown} "
                f"late={self.late} "
                f"waits={len(self.waits)} long-waits={self.judged(cycles)} "
                f"could-start={len(self.rows)}")


def carry(since, jobs, at):
    """{job: since when}: kept of those before, at of the new ones."""
    keys = [(j.name, j.id, j.restarts) for j in jobs]
    return {k: since.get(k, at) for k in keys}


def began(cycles, a, b):
    return sum(a < t < b for t in cycles)


class Excuses:
    """What svf says of a node, by how long it has said so without a break."""

    def __init__(self):
        self.since, self.at = {}, None

    def holds(self, at, told):
        """The nodes of svf's that are excused at that time."""
        if self.at is None or at - self.at > APART_S:
            self.since = {}
        words = {(n["node"], k, n[k]) for n in told for k in EXCUSED_S
                 if n.get(k) and (k, n[k]) != ("action", "nothing")}
        self.since = {w: self.since.get(w, at) for w in words}
        self.at = at
        return {w[0] for w, t in self.since.items() if at - t < EXCUSED_S[w[1]] or
                w[1] == "last_error" and w[2].startswith(UNSEEN)}


# ---- a moment as it is told ----------------------------------------------------------------

def node_lists(nodes, state, told, excused=()):
    """(up, off, able) of scontrol's nodes, the simulator's state, svf's nodes
    without those that are excused."""
    vms, hosts = {}, {h["name"]: h for h in state["hosts"]}
    for v in state["vms"]:
        vms.setdefault(v["name"], []).append(v)
    templates = [v for v in state["vms"] if v["template"]]
    clones = any(connected(hosts[v["host"]]) for v in templates)
    svf = {n["node"]: n for n in told}
    up, off, able = {}, {}, {}
    for f in nodes:
        name, flags = f["NodeName"], set(f["State"].replace("*", "").split("+"))
        adapter, mine = svf[name]["adapter"], vms.get(name, [])
        lost = any(v["connection"] != "connected" or
                   hosts[v["host"]]["state"] != "connected" for v in mine)
        if not flags & {"DOWN", "DRAIN"} and (has_job(f) or not lost):
            able[adapter] = able.get(adapter, 0) + 1
        strange = len(mine) > 1 or any(
            v["connection"] != "connected" or not v["owner"] or v["template"] or
            not connected(hosts[v["host"]]) for v in mine)
        if not flags <= {"IDLE"} | FREE_FLAGS or strange or "*" in f["State"] or \
                "Reason" in f or name in excused:
            continue
        on = bool(mine) and mine[0]["power"] == "poweredOn"
        if on and "POWERED_DOWN" not in flags and svf[name]["vm_state"] == "ON":
            up[adapter] = up.get(adapter, 0) + 1
        elif not on and "POWERED_DOWN" in flags and (mine or clones):
            off[adapter] = off.get(adapter, 0) + 1
    return up, off, able


def has_job(node):
    """As scontrol shows the node: one runs there, or ends."""
    return bool(set(node["State"].replace("*", "").split("+")) &
                {"ALLOCATED", "MIXED", "COMPLETING"})


def connected(h):
    return h["state"] == "connected" and not h["maintenance"] and not h["entering"]


def vf_lists(state, told, networks, ours, busy=()):
    """(free, whole): VFs of each PF, by network and host. networks: of a switch.
    busy: nodes with a job. Slurm plans by the job's end, on a lost host as well.
    A VM without a VF needs a host all the same."""
    svf = {h["host"]: h for h in told}
    free, whole = {}, {}
    for h in state["hosts"]:
        if not connected(h):
            for pf in h["pfs"]:
                kept = sum(vm in busy for vm in pf["by"].values())
                if kept and pf["switch"] in networks:
                    whole.setdefault(networks[pf["switch"]], []).append([kept])
            continue
        said = svf.get(h["name"], {"pfs": [], "reasons": ["not told"]})
        pfs = {pf["pci"]: pf for pf in said["pfs"]}
        now, ever = {}, {}
        for pf in h["pfs"]:
            network = networks.get(pf["switch"])
            if not network or not pf["max"]:
                continue
            theirs = sum(vm not in ours for vm in pf["by"].values())
            ever.setdefault(network, []).append(pf["vfs"] - theirs)
            now.setdefault(network, []).append(max(0, min(
                pf["vfs"] - pf["used"] - pfs.get(pf["id"], {}).get("reserved", 0),
                pfs.get(pf["id"], {}).get("free", 0))))
        now["VM-PG"] = ever["VM-PG"] = []
        for network, counts in ever.items():
            whole.setdefault(network, []).append(counts)
            if not said.get("reasons") and said.get("state") == "UP":
                free.setdefault(network, []).append(now[network])
    return free, whole
