# SPDX-License-Identifier: GPL-2.0-or-later
"""What a chaos run will do, as data, drawn from one seed before anything runs.

Rules: nothing here looks at a clock or at the cluster. An event that needs
something that exists then (a job, a VM, a host) carries a number in [0, 1)
with which the runner picks among what there is. Each lane has a generator of
its own, made from the seed, so that a lane left out changes no other.
"""

import random
from typing import NamedTuple

from channel import ORDERS
from worlds import IB, PF0, ROCE, host, template, world

RAIL2 = "0000:5e:00.0"          # a second RoCE adapter, in two of the hosts
HOSTS = [f"esx{i:02d}.example.org" for i in range(1, 5)]
PF_VFS = {PF0: 4, RAIL2: 2, "0000:af:00.0": 2}
SUSPEND_MAX_S, SUSPEND_TIMEOUT_S, BOOT_TIMEOUT_S = 25, 4, 25
SLURMD_TIMEOUT_S = 30
PARTITIONS = {                  # name: adapter, first node, last node
    "roce": ("sriov-roce", 1, 10),
    "ib": ("sriov-ib", 11, 16),
    "eth": ("vmxnet3", 17, 20),
    "rails": ("rails", 21, 24),
}
NODES = 24
CARDS = {                       # adapter: kind, network, number of VFs
    "sriov-roce": ("sriov", ROCE, 1), "sriov-ib": ("sriov", IB, 1),
    "vmxnet3": ("vmxnet3", "VM-PG", 0), "rails": ("sriov", ROCE, 2)}
# Jobs of `urgent` end others, or those of `doomed` for good.
OVER = {"urgent": ("roce", "ib", "rails"), "doomed": ("roce", "rails")}
KINDS = (       # weight, partition, constraint, nodes at most
    (10, "roce", "sriov-roce", 8), (6, "ib", "sriov-ib", 6),
    (4, "eth", "vmxnet3", 4), (5, "rails", "rails", 4),
    (3, "roce,eth", "sriov-roce|vmxnet3", 4),
    (2, "urgent", "sriov-roce", 4), (2, "urgent", "rails", 2),
    (1, "urgent", "[sriov-roce|sriov-ib]", 4),
    (1, "urgent", "[sriov-roce*1&sriov-ib*1]", 2),
    (1, "urgent", "sriov-roce|rails", 4),
    (2, "doomed", "sriov-roce", 6), (1, "doomed", "rails", 2))


def adapter_of(node):
    """By its name."""
    return next(a for a, lo, hi in PARTITIONS.values()
                if lo <= int(node[2:]) <= hi)


class Event(NamedTuple):
    at: float
    lane: str
    kind: str
    args: dict


def instants(rng, seconds, mean, first=0.5):
    t = first
    while True:
        t += rng.expovariate(1 / mean)
        if t >= seconds:
            return
        yield round(t, 3)


# ---- storm and calm ------------------------------------------------------------

PERIOD_S, CALM = 150, 0.4       # of each period the last part is calm
STORM = {"ctld", "starts", "outages"}       # lanes that pause while it is calm
FAULTS_CALM = 4                 # of so many faults one comes in calm


def calms(seconds):
    """[(from, until)]: when jobs get through, or wait though they could start,
    and slurmctld lives for long enough to tell which."""
    period = min(PERIOD_S, seconds)
    ends = [period * n for n in range(1, int(seconds // period) + 1)]
    return [(end - CALM * period, end) for end in ends]


def pauses(event, spans):
    """Does it stay away because it is calm?"""
    return any(a <= event.at < b for a, b in spans) and (
        event.lane in STORM or
        event.lane == "faults" and int(event.at * 1000) % FAULTS_CALM)


def draw_calm(_, seconds):
    for since, _ in calms(seconds):
        yield Event(since, "calm", "begin", {})


# ---- the world ---------------------------------------------------------------

def draw_world(rng):
    """Inventory, placement policy and the partitions' retention."""
    hosts = []
    for i, name in enumerate(HOSTS):
        h = host(name, PF_VFS[PF0], ib_vfs=2)
        if i >= 2:
            h["pnics"].append(
                {"device": "vmnic5", "pci": RAIL2, "numa": 1,
                 "speedMb": 100000, "switch": "dvs-roce", "rdma": True,
                 "sriov": {"vfs": PF_VFS[RAIL2], "max": 16}})
        hosts.append(h)
    return {
        "inventory": world(
            hosts=hosts, templates=[template()], seed=rng.getrandbits(31),
            vfRelease=rng.choice(("0ms", "0ms", "400ms")),
            taskSlots={"host": rng.choice((8, 8, 2))},
            emptyReply=rng.choice(("empty", "null", "204"))),
        "placement": rng.choice(["balance", "balance", "pack", "spread"]),
        "retention": {"roce": rng.choice(["warm", "warm", "power_off"]),
                      "ib": rng.choice(["warm", "power_off"]),
                      "eth": rng.choice(["warm", "power_off", "destroy"]),
                      "rails": rng.choice(["warm", "warm", "power_off"])},
        "rails": rng.choice(("yes", "yes", "no")),
        "prefetch": rng.choice((0, 4, 8)),
        "oversubscribe": rng.choice(("no", "yes")),
        "suspend": rng.choice((8, 8, SUSPEND_MAX_S)),
    }


# Time limits: backfill starts a job of one minute beside any other that is to
# begin in a minute, so that such jobs alone never wait for one.
LIMITS_MIN = (1, 10, 60)


# ---- jobs --------------------------------------------------------------------

def draw_jobs(rng, seconds):
    """Submissions, and what people do to each job later."""
    for n, t in enumerate(instants(rng, seconds, 2.0)):
        _, part, constraint, most = rng.choices(
            KINDS, [k[0] for k in KINDS])[0]
        size = min(rng.choice((1, 1, 1, 2, 2, 3, 4, 6, 8)), most)
        if "&" in constraint:
            size = most
        job = {"name": f"c{n:04d}", "partition": part,
               "constraint": constraint, "nodes": size,
               "sleep": round(rng.uniform(0, 6), 1),
               "steps": rng.choice((1, 1, 2)), "exclusive": rng.random() < 0.3,
               "hold": rng.random() < 0.08, "limit": LIMITS_MIN[n % 3]}
        yield Event(t, "jobs", "submit", job)
        later = t + rng.choice((rng.uniform(0, 2), rng.uniform(0, 15)))
        if job["hold"]:
            yield Event(t + rng.uniform(1, 8), "jobs", "release",
                        {"name": job["name"]})
        what = rng.choices(("", "cancel", "requeue", "hold"), (60, 25, 10, 5))[0]
        if what:
            yield Event(later, "jobs", what, {"name": job["name"]})
        if what == "hold":
            yield Event(later + rng.uniform(1, 6), "jobs", "release",
                        {"name": job["name"]})


# ---- vCenter's faults ----------------------------------------------------------

VM_METHODS = ("CloneVM_Task", "ReconfigVM_Task", "PowerOnVM_Task",
              "PowerOffVM_Task", "Destroy_Task", "RelocateVM_Task")
CALLS = (*VM_METHODS, "ShutdownGuest", "WaitForUpdatesEx", "WaitForUpdatesEx",
         "RetrievePropertiesEx", "Login", "CancelTask", "CreateFilter")
NO_VF = ("pciPassthru0: No SR-IOV virtual function (VF) is available for "
         "given physical function (PF) (chaos)")


def fault(kind, **members):
    return {"_typeName": kind, **members}


RULES = {       # label: (weight, methods, rule)
    "http-502": (3, CALLS, {"on": "reply", "http": 502,
                            "body": "<html>bad gateway</html>"}),
    "http-503": (3, CALLS, {"on": "request", "http": 503, "body": ""}),
    "cut-before": (4, CALLS, {"on": "request", "drop": "before"}),
    "cut-after": (4, CALLS, {"on": "reply", "drop": "after"}),
    "truncated": (2, CALLS, {"on": "reply", "truncate": 9}),
    "garbage": (2, CALLS, {"on": "reply", "body": "{\"_typeName\":"}),
    "empty": (2, CALLS, {"on": "reply", "body": ""}),
    "cut-short": (2, CALLS, {"on": "reply", "cut": 9}),
    "garbled": (2, CALLS, {"on": "reply", "garble": 3}),
    "padded": (1, CALLS, {"on": "reply", "pad": 300000}),
    # A power-on that is kept waiting would meet a PF that its sender couldn't
    # know of: that one is not delayed, only its task is.
    "slow-call": (2, tuple(c for c in CALLS if c != "PowerOnVM_Task"),
                  {"on": "request", "delay": None}),
    "no-reply": (1, CALLS, {"on": "reply", "hang": True}),
    "not-authenticated": (2, CALLS[:8], {"on": "request", "fault": fault(
        "NotAuthenticated", privilegeId="System.View", object={
            "_typeName": "ManagedObjectReference", "type": "Folder",
            "value": "group-d1"})}),
    "task-in-progress": (2, VM_METHODS[1:], {"on": "request", "fault": fault(
        "TaskInProgress", task={"_typeName": "ManagedObjectReference",
                                "type": "Task", "value": "task-1"})}),
    "version-lost": (1, ("WaitForUpdatesEx",), {
        "on": "request", "fault": fault("InvalidCollectorVersion")}),
    "task-system-error": (4, VM_METHODS, {"on": "task", "fault": fault(
        "SystemError", reason="chaos")}),
    "task-in-use": (2, VM_METHODS, {"on": "task", "fault": fault(
        "ResourceInUse", type="VirtualMachine", name="chaos")}),
    "task-no-vf": (4, ("PowerOnVM_Task",), {
        "on": "task", "fault": fault("GenericVmConfigFault", reason=NO_VF),
        "message": NO_VF}),
    "task-no-memory": (2, ("PowerOnVM_Task", "CloneVM_Task"), {
        "on": "task", "fault": fault("InsufficientMemoryResourcesFault",
                                     unreserved=1, requested=2)}),
    "task-host-gone": (1, VM_METHODS, {
        "on": "task", "fault": fault("HostNotConnected")}),
    "task-disk-full": (1, ("CloneVM_Task",), {"on": "task", "fault": fault(
        "NoDiskSpace", file="chaos", datastore="vsan")}),
    "task-slow": (3, VM_METHODS, {"on": "task", "delay": None}),
}
OUTAGES = {     # kind: weight
    "expireSessions": 3, "restart": 3, "stall": 2, "latency": 2,
    "outage": 3, "cutConnections": 3, "forgetVersions": 2, "password": 2,
    "newCertificate": 1, "disconnected": 2, "notResponding": 2, "failHost": 2,
    "maintenance": 2, "lowerVfs": 2, "hungTask": 1,
}


MUTE = "no-updates"     # the engine waits for an answer to one of these, and hears
TELLS = ("WaitForUpdatesEx", "RetrievePropertiesEx")    # nothing else meanwhile


def draw_rule(rng, label):
    _, methods, rule = RULES[label]
    rule = {**rule, "label": label, "method": rng.choice(methods),
            "skip": rng.choice((0, 0, 0, 1, 3)), "count": rng.choice((1, 1, 2, 4))}
    if "fault" in rule:
        rule.setdefault("message", f"chaos: {label}")
    if rule.get("delay", 0) is None:
        rule["delay"] = f"{rng.randint(200, 8000)}ms"
    if label == "no-reply" and rule["method"] in TELLS:
        rule["label"] = MUTE
        if rule["method"] == "WaitForUpdatesEx":
            rule["count"] = 1
    return rule


def draw_faults(rng, seconds):
    labels = list(RULES)
    weights = [RULES[k][0] for k in labels]
    for t in instants(rng, seconds, 1.5):
        label = rng.choices(labels, weights)[0]
        yield Event(t, "faults", "rule", draw_rule(rng, label))


def draw_outages(rng, seconds):
    """Longer trouble, one at a time; its end is part of the event. A silent
    vCenter is in every plan, because I6 is judged by it."""
    yield Event(round((1 - CALM) * min(PERIOD_S, seconds) / 2, 3), "outages",
                "stall", {"seconds": 10.0, "host": HOSTS[0]})
    kinds, weights = list(OUTAGES), list(OUTAGES.values())
    for t in instants(rng, seconds, 12, first=4):
        kind = rng.choices(kinds, weights)[0]
        lasting = round(rng.uniform(2, 15), 1)
        args = {"host": rng.choice(HOSTS), "seconds": lasting}
        if kind == "restart":
            args["tasks"] = rng.choice(("lost", "finish"))
        if kind == "outage":
            args["how"] = rng.choice(("503", "502", "drop", "refuse"))
        if kind == "password":
            args["password"] = f"simulated-secret-{rng.getrandbits(40):x}"
        if kind == "latency":
            args["duration"] = f"{rng.randint(100, 900)}ms"
        if kind == "lowerVfs":
            args["pci"] = rng.choice((PF0, "0000:af:00.0"))
            args["vfs"] = rng.randrange(PF_VFS[args["pci"]])
        if kind == "hungTask":
            args["method"] = rng.choice(VM_METHODS)
        yield Event(t, "outages", kind, args)


# ---- other people's VMs, our VMs in other people's hands -------------------------

def draw_churn(rng, seconds):
    serial = 0
    for t in instants(rng, seconds, 1.5):
        kind = rng.choices(("add", "off", "on", "destroy"), (5, 5, 3, 3))[0]
        args = {"pick": rng.random()}
        if kind == "add":
            pf, net = rng.choice(((PF0, ROCE), ("automatic", ROCE),
                                  ("automatic", IB), ("automatic", IB)))
            args.update(name=f"theirs{serial:03d}", host=rng.choice(HOSTS),
                        pf=pf, network=net)
            serial += 1
        yield Event(t, "churn", kind, args)


def draw_admin(rng, seconds):
    for n, t in enumerate(instants(rng, seconds, 9, first=5)):
        kind = rng.choices(
            ("powerOff", "powerOn", "destroyVm", "destroyOn", "migrate",
             "vmotion", "rename", "cloneVm", "unregister", "setMemory",
             "inaccessible", "orphaned"),
            (5, 2, 2, 1, 4, 3, 1, 2, 1, 2, 1, 1))[0]
        yield Event(t, "admin", kind, {
            "pick": rng.random(), "host": rng.choice(HOSTS),
            "name": f"moved{n:03d}", "seconds": round(rng.uniform(2, 12), 1)})


def draw_guests(rng, seconds):
    for t in instants(rng, seconds, 8, first=2):
        kind = rng.choices(("delay", "port"), (4, 1))[0]
        yield Event(t, "guests", kind, {
            "node": f"vm{rng.randint(1, NODES):03d}",
            "delay": rng.randint(1, 6), "seconds": rng.uniform(4, 20)})


# ---- a hostile user ---------------------------------------------------------------

HOSTILE = {     # kind: weight
    "environment": 2, "length": 3, "garbage": 2, "many": 1, "order": 3,
    "plans": 1, "guestinfo": 4}


def draw_hostile(rng, seconds):
    for t in instants(rng, seconds, 5, first=2):
        kind = rng.choices(list(HOSTILE), list(HOSTILE.values()))[0]
        node = f"vm{rng.randint(1, NODES):03d}"
        yield Event(t, "hostile", kind, {
            "pick": rng.random(), "node": node, "host": rng.choice(HOSTS),
            "ours": rng.choice((0, 1, 3, 1000)), "nulls": rng.choice((0, 0, 3)),
            "users": rng.choice((0, 2, 2000)),
            "what": rng.choice(("constraint", "nodelist", "licenses", "comment",
                                "partition")),
            "bytes": rng.choice((10, 1000, 60000, 1000000)),
            "connections": rng.choice((10, 70, 200)),
            "verb": rng.choice(sorted(ORDERS)),
            "times": rng.choice((5, 30)),
            "nodes": rng.choice((f"vm[001-{NODES:03d}]", "vm[1-9999999]",
                                 ",".join(["vm001"] * 2000))),
            "words": {rng.choice(("node", "controller", "mac", "slurmd",
                                  "machine-id")): rng.choice((
                                      "vm001", "127.0.0.1:1", "x" * 9000,
                                      "$(touch /tmp/pwned)"))},
            "seconds": round(rng.uniform(1, 6), 1)})


# ---- slurmctld, and people with scontrol ------------------------------------------

def draw_ctld(rng, seconds):
    t = 1
    while (t := round(t + rng.uniform(2, 14), 3)) < seconds:
        kind = rng.choices(("kill", "restart", "reconfigure", "policy",
                            "badconf"), (10, 2, 7, 2, 1))[0]
        yield Event(t, "ctld", kind, {
            "away": rng.choice((0.0, 0.0, round(rng.uniform(0, 6), 1))),
            "policy": rng.choice(("balance", "pack", "spread"))})


# What a client begins with: until it has logged in, and right after.
BEFORE_LOGIN = ("hello", "vimServiceVersions.xml", "content", "Login")
FIRST = (*BEFORE_LOGIN, "RetrievePropertiesEx", "CreateFilter",
         "FindByInventoryPath")


def start_rules(rng):
    """What a client meets that begins: first at a call before its login, where
    it has no session to lose."""
    labels = [k for k in RULES if RULES[k][2]["on"] != "task" and k != "no-reply"]

    def rule(label, method):
        return {**draw_rule(rng, label), "method": method, "skip": 0,
                "label": f"start-{label}"}
    first = rng.choice(BEFORE_LOGIN)
    rules = [rule(rng.choice(("not-authenticated", rng.choice(labels))), first)]
    if first == "vimServiceVersions.xml":   # it is asked for where hello is missing
        rules.insert(0, {"on": "request", "method": "hello", "http": 404,
                         "body": "", "count": 1, "label": "start-no-hello"})
    return rules + [rule(rng.choice(labels), rng.choice(FIRST))
                    for _ in range(rng.randint(0, 2))]


def draw_starts(rng, seconds):
    """slurmctld begins where vCenter's first answers are wrong, or after it was
    away for as long as a node may take to boot: every fourth period of a long
    run begins so."""
    longs = [end + 5 for _, end in calms(seconds)[::4] if end < seconds]
    for t in longs:
        yield Event(t, "starts", "long", {})
    for t in instants(rng, seconds, 40, first=8):
        yield Event(t, "starts", "faulty", {"rules": start_rules(rng)})


def draw_lost(rng, seconds):
    """A job that needs all of its kind and comes before all others, and half of
    the hosts are lost: smaller jobs start. Once in each calm, too, where no restart
    excuses a wait."""
    times = [*instants(rng, seconds, 70, first=15),
             *(round(since + rng.uniform(2, (until - since) / 4), 3)
               for since, until in calms(seconds))]
    for n, t in enumerate(times):
        part, constraint, most = rng.choice(
            (("roce", "sriov-roce", 10), ("ib", "sriov-ib", 6)))
        yield Event(t, "lost", "hosts", {
            "job": {"name": f"b{n:04d}", "partition": part,
                    "constraint": constraint, "nodes": most, "sleep": 1.0,
                    "steps": 1, "exclusive": False, "hold": False,
                    "limit": LIMITS_MIN[-1], "first": True},
            "hosts": rng.sample(HOSTS, 2),
            "state": rng.choice(("disconnected", "notResponding")),
            "seconds": round(rng.uniform(15, 50), 1)})


def draw_people(rng, seconds):
    for t in instants(rng, seconds, 6, first=3):
        kind = rng.choices(("power_down", "power_down_force", "power_up",
                            "drain", "down"), (4, 2, 3, 3, 2))[0]
        yield Event(t, "people", kind, {
            "node": f"vm{rng.randint(1, NODES):03d}",
            "seconds": round(rng.uniform(2, 10), 1)})


LANES = {"jobs": draw_jobs, "faults": draw_faults, "outages": draw_outages,
         "churn": draw_churn, "admin": draw_admin, "guests": draw_guests,
         "ctld": draw_ctld, "people": draw_people, "hostile": draw_hostile,
         "starts": draw_starts, "lost": draw_lost, "calm": draw_calm}


def draw(seed, seconds, lanes=None):
    """(world, events in the order of their time) of a seed."""
    rng = random.Random(seed)
    own = {lane: random.Random(rng.getrandbits(64)) for lane in
           ("world", *LANES)}
    spans = calms(seconds)
    events = [e for lane, fn in LANES.items() if not lanes or lane in lanes
              for e in fn(own[lane], seconds) if not pauses(e, spans)]
    return draw_world(own["world"]), sorted(events, key=lambda e: e.at)
