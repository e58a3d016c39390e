# SPDX-License-Identifier: GPL-2.0-or-later
"""The call matrix: every call that the client can send fails once, in each of
its ways, in each scenario that sends it; the simulator makes it fail. After
it the job runs or has failed with a reason, nothing is leaked or doubled, and
the calls are bounded.

A call that no scenario sends, or that is not in the table, is a failure. What
the engine makes of each outcome is shown exhaustively, and without waiting, by
unit/test_engine_calls.
"""

import fnmatch
import time

from crash import points
from runner import Runner
from scenarios import SCENARIOS
from worker import GOAL_S, Wrong, wait_until


def fault(name, on="request", **members):
    return {"on": on, "message": "declared for the test",
            "fault": {"_typeName": name, **members}}


NOBODY = fault("NotAuthenticated", privilegeId="System.View",
               object={"_typeName": "ManagedObjectReference",
                       "type": "Folder", "value": "group-d1"})
# Of every call.
WAYS = {
    "cut-before": {"on": "request", "drop": "before"},
    "cut-after": {"on": "reply", "drop": "after"},
    "500": {"on": "request", "http": 500, "body": "<html>oops</html>"},
    "502": {"on": "request", "http": 502, "body": "<html>bad gateway</html>"},
    "503": {"on": "request", "http": 503, "body": "<html>later</html>"},
    "503-after": {"on": "reply", "http": 503, "body": "<html>later</html>"},
    "empty": {"on": "reply", "body": ""},
    "broken": {"on": "reply", "truncate": 10},
    "short": {"on": "reply", "cut": 20},
    "malformed": {"on": "reply", "body": "{\"_typeName\":"},
    "deep": {"on": "reply", "body": "[" * 500},
    "garbled": {"on": "reply", "garble": 7},
    "oversized": {"on": "reply", "pad": 65 << 20},
    "wrong-type": {"on": "reply", "body": "7"},
    "SystemError": fault("SystemError", reason="declared"),
    "NotAuthenticated": NOBODY,
}
# Of what changes something, besides.
CALL_FAULTS = {
    "busy": fault("TaskInProgress", task={
        "_typeName": "ManagedObjectReference", "type": "Task",
        "value": "task-1"}),
    "host-away": fault("HostNotConnected"),
    "forbidden": fault("NoPermission", privilegeId="VirtualMachine.X",
                       object={"_typeName": "ManagedObjectReference",
                               "type": "Folder", "value": "group-d1"}),
}
TASK_FAULTS = {f"task-{n}": fault(n, on="task", **m) for n, m in (
    ("SystemError", {"reason": "declared"}), ("InvalidState", {}),
    ("GenericVmConfigFault", {"reason": "declared"}),
    ("InsufficientResourcesFault", {}), ("HostCommunication", {}),
    ("InvalidVmConfig", {"property": "x"}), ("Timedout", {}),
    ("FileLocked", {"file": "x"}), ("NoDiskSpace", {
        "file": "x", "datastore": "vsan"}),
    ("InvalidPowerState", {"existingState": "poweredOn"}),
    ("RequestCanceled", {}))}
TASK_FAULTS["task-endless"] = {"on": "task", "hang": True}
# For tasks that slurm-vsphere never cancels: a vCenter administrator ends the task.
NEVER_OFF = {**TASK_FAULTS, "task-endless": {"on": "task", "delay": "100s"}}

# Of none in particular, at the beginning of the scenario.
TROUBLE = {"refused": {"op": "outage", "how": "refuse", "duration": "1500ms"},
           "cut": {"op": "cutConnections"},
           "silent": {"op": "stall", "duration": "5s"}}
# The reply never comes: so long that it is tried with a few.
NEVER = {"never": {"on": "reply", "hang": True}}

TASKS = ("CloneVM_Task", "ReconfigVM_Task", "RelocateVM_Task",
         "PowerOnVM_Task", "PowerOffVM_Task", "Destroy_Task",
         "CreateSnapshot_Task", "InstantClone_Task")
# The calls that every start sends, and those that repeat while the client lives.
START = ("hello", "vimServiceVersions.xml", "content", "Login",
         "CreateContainerView", "DestroyView", "FindByInventoryPath",
         "HasUserPrivilegeOnEntities", "CreatePropertyCollector",
         "CreateFilter", "CreateListView",
         "RetrievePropertiesEx", "ContinueRetrievePropertiesEx",
         "WaitForUpdatesEx", "recentTask")
ASKED_BEFORE = "vimServiceVersions.xml"     # where hello is not known
# The scenario that begins with slurmctld's start has all of it; elsewhere
# only what belongs to the work itself.
CALLS = {**{m: {**WAYS, **CALL_FAULTS, **TASK_FAULTS, **NEVER}
            for m in TASKS},
         "ShutdownGuest": {**WAYS, **CALL_FAULTS},
         "CancelTask": {**WAYS, **CALL_FAULTS},
         "ModifyListView": WAYS, "Logout": WAYS, "PlaceVm": WAYS,
         "QueryConfigTarget": WAYS,
         **{m: WAYS for m in START}}
for m in ("PowerOffVM_Task", "Destroy_Task", "CreateSnapshot_Task"):
    CALLS[m].update(NEVER_OFF)
CALLS["WaitForUpdatesEx"] = {**WAYS, **NEVER}
COLD = ("connect", "older", "adopt", "adopted", "running")
WORK = ("new", "warm", "again", "profile", "move", "suspend", "deaf",
        "destroy", "cancel", "reconfigure", "connect", "older", "drs", "bound",
        "gang", "ahead", "cloned", "unused",
        "linked", "instant")
# Scenarios that are there for one call.
ALONE = (("drs", "PlaceVm"), ("bound", "QueryConfigTarget"),
         ("linked", "CreateSnapshot_Task"),
         ("instant", "InstantClone_Task"))
# Any fault of Login is a refusal, and only an operator's command tries again.
CALLS["Login"] = {k: v for k, v in WAYS.items() if k != "NotAuthenticated"}
# Without --whole.
SAMPLE = (("new", "CloneVM_Task", "cut-before"),
          ("new", "CloneVM_Task", "cut-after"),
          ("new", "CloneVM_Task", "task-InvalidVmConfig"),
          ("new", "PowerOnVM_Task", "503-after"),
          ("new", "PowerOnVM_Task", "task-GenericVmConfigFault"),
          ("new", "PowerOnVM_Task", "NotAuthenticated"),
          ("new", "ModifyListView", "malformed"),
          ("new", "WaitForUpdatesEx", "oversized"),
          ("new", "vCenter", "refused"),
          ("suspend", "ShutdownGuest", "cut-after"),
          ("suspend", "ShutdownGuest", "forbidden"),
          ("destroy", "Destroy_Task", "broken"),
          ("connect", "RetrievePropertiesEx", "garbled"),
          ("connect", "CreateFilter", "502"),
          ("connect", "Login", "empty"))


def lived(w, s, rule=None, trouble=None):
    """The scenario; gives what was called. With a rule, one call fails."""
    w.goal, w.forgives, w.died = 3 * GOAL_S, True, []
    # A poll that is not answered is given up after its 20 s and 30 more; a task
    # that is never called off ends after 100 s.
    rule = rule or {}
    w.agrees_s = 90 if rule.get("hang") else 130 if rule.get("delay") else 30
    w.reset()
    s.prepare(w)
    if s.edits:                         # its start is not its work
        w.ctld(sig=s.sig, between=s.between)
    before = dict(w.c.counters()["calls"])
    w.hits, logged = w.c.counters()["faultsBy"].get("cell", 0), len(w.c.ctld_log())

    def between(w):                 # the one before has said goodbye
        s.between(w)
        before.update(w.c.counters()["calls"])
        if rule:
            w.c.fault(**rule)
    if s.name in COLD:
        w.ctld(sig=s.sig, between=between, wait=not rule)
    if rule and s.name not in COLD:
        w.c.fault(**rule)
    if trouble:
        w.c.do(**trouble)
    s.run(w)
    if rule:
        wait_until("the call has failed", 20, w.troubled, lambda: "no such call")
    if rule.get("hang") and rule["on"] == "task":
        w.ended_by_hand(rule["method"], logged)
    w.c.clear_faults()
    w.judge()
    after = w.c.counters()["calls"]
    return {k: v - before.get(k, 0) for k, v in after.items()
            if v > before.get(k, 0)}


class Calls(Runner):
    def __init__(self, workers, options):
        super().__init__(workers)
        self.options = options
        self.sent = {}              # scenario: {method: times}

    def look(self, w, s):
        sent = lived(w, s)
        with self.lock:
            self.sent[s.name] = sent

    def fail(self, w, s, method, way):
        if method == "vCenter":
            sent = lived(w, s, trouble=TROUBLE[way])
        else:
            sent = lived(w, s, {**CALLS[method][way], "method": method,
                                "count": 1, "label": "cell"})
        changes = [sum(n.get(m, 0) for m in (*TASKS, "ShutdownGuest"))
                   for n in (sent, self.sent[s.name])]
        if changes[0] > 2 * changes[1] + 6:
            raise Wrong(f"{changes[0]} calls that change something, "
                        f"{changes[1]} without trouble")

    def cells(self):
        """In a scenario's own work: what only the start sends fails there."""
        for s in self.sent:
            yield from ((s, "vCenter", way) for way in TROUBLE)
            for m in self.sent[s]:
                if m not in CALLS or (s == "older") != (m == ASKED_BEFORE) or \
                        any((s == k) != (m == v) for k, v in ALONE) or \
                        (s not in ("connect", "older") and m in START and
                         m != "WaitForUpdatesEx"):
                    continue
                for way in CALLS[m]:
                    yield s, m, way

    def strangers(self):
        """Calls that are not in the table, or in no scenario."""
        sent = {m for n in self.sent.values() for m in n}
        theirs = {p.split(".", 1)[1].replace("system?action=", "")
                  for p in points() if p.startswith("send.")}
        return [f"{m}: not in the table of calls" for m in
                (sent | theirs) - set(CALLS)] + \
            [f"{m}: no scenario sends it" for m in
             (set(CALLS) | theirs) - sent]

    def run(self):
        o = self.options
        names = o.scenario or (WORK if o.whole or o.only else
                               sorted({s for s, _, _ in SAMPLE}))
        self.all([(f"undisturbed {n}", lambda w, n=n: self.look(
            w, SCENARIOS[n])) for n in names])
        cells = [c for c in self.cells()
                 if o.whole or o.only or c in SAMPLE]
        if o.only:
            cells = [c for c in cells if any(
                fnmatch.fnmatch(":".join(c[1:]), g) for g in o.only)]
        strange = self.strangers() if o.whole and not o.scenario else []
        if not (o.whole or o.only or o.scenario):
            strange += [f"{m} {way} in {s}: {s} no longer calls it"
                        for s, m, way in SAMPLE if (s, m, way) not in cells]
        for text in strange:
            self.say(f"FAILED {text}")
        self.all([(f"{m} {way} in {s}",
                   lambda w, c=(s, m, way): self.fail(w, SCENARIOS[c[0]],
                                                      *c[1:]))
                  for s, m, way in cells])
        self.say(f"calls: methods={len(CALLS)} cells={len(cells)} "
                 f"failed={len(self.failed)} strange={len(strange)}")
        return not self.failed and not strange
