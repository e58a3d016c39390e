# SPDX-License-Identifier: GPL-2.0-or-later
"""The chaos run's own parts that decide: the plan and what excuses Slurm."""

import subprocess
import threading
import time

import pytest

import chaos_hostile
from chaos_forgot import copy_explains, forgotten
from chaos_hostile import NEEDS_ROOT, Bug, judge_order, judge_plans, must_reach
from chaos_judge import never_done, restarts_max, was_blind
from chaos_loop import Loop
from chaos_pending import (EXCUSED_S, UNSEEN, Excuses, Job, Moment, Pending, demands,
                           node_lists, startable, vf_lists)
from chaos_plan import CARDS, LANES, MUTE, STORM, calms, draw
from chaos_watch import Watch
from cluster import ClusterError
from worlds import IB, ROCE

T0 = 1_700_000_000.0
REFUSED = ("[" + time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(T0 + 20)) +
           ".500] error: Job 34 already running, do not launch second copy\n")


def test_a_seed_repeats_the_plan():
    assert draw(4711, 300) == draw(4711, 300)
    assert draw(4711, 300) != draw(4712, 300)


def test_a_lane_that_is_left_out_changes_no_other():
    world, every = draw(4711, 300)
    for lane in LANES:
        assert draw(4711, 300, [lane]) == (
            world, [e for e in every if e.lane == lane])


def test_a_second_copy_of_a_run_that_a_kill_made_forgotten_is_slurms_own():
    assert copy_explains(T0 + 21, REFUSED, [(T0 + 10, "34")], [T0 + 12])


def test_a_second_copy_of_anything_else_is_a_violation():
    run = [(T0 + 10, "34")]
    for at, log, runs, kills in (
            (T0 + 21, "", run, [T0 + 12]),          # slurmd refused nothing
            (T0 + 21, REFUSED, [(T0 + 10, "33")], [T0 + 12]),   # another job
            (T0 + 21, REFUSED, [], [T0 + 12]),      # nothing ran there
            (T0 + 21, REFUSED, run, []),            # no slurmd was killed
            (T0 + 21, REFUSED, run, [T0 + 5]),      # before it began
            (T0 + 21, REFUSED, run, [T0 + 22]),     # after the refusal
            (T0 + 21, REFUSED, [(T0 - 20, "34")], [T0 + 12]),   # was saved
            (T0 + 90, REFUSED, run, [T0 + 12])):    # another drain
        assert not copy_explains(at, log, runs, kills)


def test_only_what_was_not_saved_is_forgotten():
    assert forgotten(T0, [T0 + 5], T0 + 60)
    assert not forgotten(T0, [T0 + 40], T0 + 60)
    assert not forgotten(T0, [], T0 + 60)


def ready(seconds):
    at = time.localtime(T0 + seconds)
    return time.strftime("[%Y-%m-%dT%H:%M:%S", at) + ".500] slurm-vsphere: ready: nodes=24 hosts=4\n"


@pytest.mark.parametrize("log, blind", [
    ("", True),                             # vCenter never answered
    (ready(55), True),                      # it answered just before Slurm's timeout
    (ready(5), True),                       # that was slurmctld before the kill
    (ready(15), False), (ready(49), False),
    (ready(5) + ready(30) + ready(55), False),
    (ready(30).replace("slurm-vsphere", "other"), True)])
def test_a_core_that_has_not_seen_vcenter_cannot_tell_slurm_of_a_vm(log, blind):
    assert was_blind(log, T0 + 10, T0 + 60) is blind


# ---- chaos_pending: who could start ---------------------------------------------------

def job(id_, partition="roce", constraint="sriov-roce", n=1, priority=None):
    return Job(f"j{id_}", id_, (1, priority or 1000 - id_),
               demands(partition, constraint, n))


def moment(*jobs, at=T0, up=None, off=None, free=None, whole=None, able=None):
    """10 nodes of each adapter that are off, and two hosts of 2 and 1+1 VFs."""
    free = {ROCE: [[2], [1, 1]], IB: [[1]], "VM-PG": [[]]} if free is None else free
    off = dict.fromkeys(CARDS, 10) if off is None else off
    return Moment(at, list(jobs), up or {}, off, free, whole or free, able or off)


@pytest.mark.parametrize("want, fits", [
    (("roce", "sriov-roce", 4), True), (("roce", "sriov-roce", 5), False),
    (("rails", "rails", 1), True), (("rails", "rails", 2), False),
    (("ib", "sriov-ib", 1), True), (("ib", "sriov-ib", 2), False),
    (("eth", "vmxnet3", 10), True), (("eth", "vmxnet3", 11), False),
    (("roce,eth", "sriov-roce|vmxnet3", 10), True),     # all of eth
    (("roce,eth", "sriov-roce|vmxnet3", 11), False),    # never of both partitions
    (("urgent", "sriov-roce|rails", 4), True),
    (("urgent", "[sriov-roce|sriov-ib]", 4), True),
    (("urgent", "[sriov-roce*1&sriov-ib*1]", 2), True),
    (("urgent", "[sriov-roce*3&sriov-ib*2]", 5), False),
    (("roce", "sriov-ib", 1), False)])
def test_what_is_asked_for_is_free_or_not(want, fits):
    j = job(1, *want)
    assert bool(startable(moment(j), True)) == fits


def test_two_vfs_of_one_pf_make_no_pair_unless_any_may():
    j, free = job(1, "rails", "rails", 2), {ROCE: [[2], [1, 1]]}
    assert not startable(moment(j, free=free), True)
    assert startable(moment(j, free=free), False)


def test_a_node_that_is_up_takes_no_vf():
    j = job(1, n=5)
    assert not startable(moment(j, free={}, up={"sriov-roce": 4}), True)
    assert startable(moment(j, free={}, up={"sriov-roce": 5}), True)


def test_who_is_before_is_in_the_way_unless_nothing_can_serve_it():
    big, small, other = job(1, n=5), job(2), job(3, "eth", "vmxnet3")
    pair = job(4, "rails", "rails")
    # one VF more when a job ends
    running = {ROCE: [[2], [2, 1]], "VM-PG": [[]]}
    assert startable(moment(big, small, other, pair, whole=running), True) == [other]
    assert startable(moment(big, small, other), True) == [small, other]


def seen(*moments):
    p = Pending(True)
    for m in moments:
        p.look(m)
    return [row[:4] for row in p.kept([T0 + 1, T0 + 3, T0 + 5])]


def test_who_could_start_while_three_cycles_began_is_told():
    j = job(1)
    row = [moment(j, at=T0 + t) for t in range(0, 7, 2)]
    assert seen(*row) == [("j1", 1, T0, T0 + 6)]
    assert seen(*row[1:]) == seen(*row[:-1]) == []          # two began
    assert seen(row[0], row[1], None, row[2], row[3]) == []     # not known
    assert seen(row[0], row[1], moment(j, at=T0 + 4, free={}), row[3]) == []
    assert seen(row[0], row[1], moment(at=T0 + 4), row[3]) == []    # it ran
    assert seen(row[0], row[3]) == []       # no look meanwhile
    again = j._replace(restarts=1)
    assert seen(row[0], row[1], moment(again, at=T0 + 4),
                moment(again, at=T0 + 6)) == []


def test_what_could_have_been_judged_is_counted():
    p = Pending(True)
    for t in range(0, 7, 2):
        p.look(moment(job(1), job(2), at=T0 + t, free={}))      # nothing is free
    p.look(None, True)
    p.look(moment(job(3), at=T0 + 20))
    assert p.kept([T0 + 1, T0 + 3, T0 + 5]) == []
    assert p.judged([T0 + 1, T0 + 3, T0 + 5]) == 2
    assert p.judged([T0 + 1, T0 + 3]) == 0
    assert p.told([T0 + 1, T0 + 3, T0 + 5]) == \
        "looks=5/6 late=1 waits=3 long-waits=2 could-start=1"


def node(name, state="IDLE+CLOUD+POWERED_DOWN"):
    return {"NodeName": name, "State": state}


def books(*vms, **hosts):
    """The simulator's state: host a and b, and VMs as (name, host, more)."""
    return {"hosts": [{"name": h, "state": hosts.get(h, "connected"),
                       "maintenance": False, "entering": False} for h in "ab"],
            "vms": [{"name": "tpl", "host": "a", "template": True}] + [
                {"name": name, "host": host, "template": False, "owner": "x",
                 "connection": "connected", "power": "poweredOff", **more}
                for name, host, more in vms]}


def svf_node(name, **more):
    return {"node": name, "adapter": "sriov-roce", "action": "nothing",
            "vm_state": "OFF", **more}


def listed(state, *names, nodes=None, excused=()):
    return node_lists(nodes or [node(n) for n in names], state,
                      [svf_node(n) for n in names], excused)


def test_a_node_whose_vm_is_lost_serves_no_job_that_waits():
    vms = [("vm001", "a", {}), ("vm002", "b", {})]
    roce = "sriov-roce"
    assert listed(books(*vms), "vm001", "vm002") == ({}, {roce: 2}, {roce: 2})
    assert listed(books(*vms, b="notResponding"), "vm001", "vm002") == \
        ({}, {roce: 1}, {roce: 1})
    vms[1][2]["connection"] = "inaccessible"
    assert listed(books(*vms), "vm001", "vm002") == ({}, {roce: 1}, {roce: 1})
    down = [node("vm001", "DOWN+CLOUD"), node("vm002")]
    assert listed(books(*vms), "vm001", "vm002", nodes=down) == ({}, {}, {})


def test_a_big_job_that_lost_hosts_keep_waiting_is_in_no_smaller_ones_way():
    big, small = job(1, n=10), job(2)
    ten = {"sriov-roce": 10}
    assert startable(moment(big, small, free={ROCE: [[4]]}, off={"sriov-roce": 4},
                            whole={ROCE: [[4, 4, 4]]}, able=ten), True) == []
    assert startable(moment(big, small, free={ROCE: [[4]]}, off={"sriov-roce": 4},
                            whole={ROCE: [[4, 4, 4]]},
                            able={"sriov-roce": 6}), True) == [small]


def test_a_node_whose_job_runs_on_a_lost_host_is_planned_by_its_end():
    """Slurm starts no smaller one before the big job that waits for that end."""
    vms = [("vm001", "a", {}), ("vm002", "b", {})]
    for state, able in (("ALLOCATED+CLOUD", 2), ("MIXED+COMPLETING+CLOUD", 2),
                        ("IDLE+CLOUD", 1)):
        nodes = [node("vm001"), node("vm002", state)]
        assert listed(books(*vms, b="notResponding"), "vm001", "vm002",
                      nodes=nodes)[2] == {"sriov-roce": able}
    state = books(b="disconnected")
    for h, by in zip(state["hosts"], ({}, {"0": "vm002", "1": "theirs"})):
        h["pfs"] = [{"switch": "dvs-roce", "max": 8, "vfs": 4, "used": len(by),
                     "by": by, "pci": "p", "id": "p"}]
    told = [{"host": "a", "state": "UP", "pfs": [{"pci": "p", "free": 3}]}]
    for busy, whole in (((), [[4]]), ({"vm002"}, [[4], [1]])):
        assert vf_lists(state, told, {"dvs-roce": ROCE}, {"vm002"}, busy) == (
            {ROCE: [[3]], "VM-PG": [[]]}, {ROCE: whole, "VM-PG": [[]]})


def test_a_vm_without_a_vf_needs_a_host_that_is_not_avoided():
    j = job(1, "eth", "vmxnet3")
    state = books()
    for h in state["hosts"]:
        h["pfs"] = []
    told = [{"host": n, "state": "UP", "pfs": [], "reasons": ["avoided"]} for n in "ab"]
    free, whole = vf_lists(state, told, {}, set())
    assert not startable(moment(j, free=free, whole=whole), True)
    del told[1]["reasons"]
    free, whole = vf_lists(state, told, {}, set())
    assert startable(moment(j, free=free, whole=whole), True) == [j]


def test_svfs_word_excuses_a_node_for_its_time_only():
    assert listed(books(), "vm001", excused={"vm001"})[1] == {}
    for key, word in (("last_error", "no VF"), ("action", "destroy"),
                      ("reason", "a clone source"), ("request", "evict")):
        e, told = Excuses(), [svf_node("vm001", **{key: word}), svf_node("vm002")]
        for t in range(EXCUSED_S[key]):
            assert e.holds(T0 + t, told) == {"vm001"}
        assert e.holds(T0 + EXCUSED_S[key], told) == set()
        assert e.holds(T0 + EXCUSED_S[key] + 1,
                       [svf_node("vm001", **{key: "other"})]) == {"vm001"}
    told = [svf_node("vm001", last_error="no VF")]
    e = Excuses()
    assert e.holds(T0, told) and e.holds(T0 + 100, told)    # not looked meanwhile
    told = [svf_node("vm001", last_error=UNSEEN + ", which was on")]
    e = Excuses()
    assert all(e.holds(T0 + t, told) for t in range(100))


def test_nobody_could_start_while_vcenter_is_mute():
    """The engine can't know what the simulator shows then."""
    class Asked(Exception):
        """The moment is looked at."""

    class Run:
        mute = [[T0 + 10, T0 + 20]]

        lost = 0

        def sim(self, what):
            if what == "counters":
                return {"faultsBy": {MUTE: self.lost, "no-reply": 9}}
            raise Asked

        class c:
            vsphere = {"lines": []}

            def svf(*what):
                raise Asked

            must = svf

    run = Run()
    w = Watch(run)
    for t in (8, 10, 15, 20, 22):
        assert w.moment(T0 + t) is None
    for t in (7, 23, 30):
        with pytest.raises(Asked):
            w.moment(T0 + t)
    run.lost = 1                # the answer to a wait is kept back
    for t in (31, 50, 72):
        assert w.moment(T0 + t) is None
    with pytest.raises(Asked):
        w.moment(T0 + 74)


# ---- what the plan must hold --------------------------------------------------------------

def test_a_client_that_begins_meets_what_it_calls_before_its_login():
    """NotAuthenticated where no session is: slurmctld died of it."""
    met = {(e.args["rules"][0]["method"], e.args["rules"][-1]["label"])
           for seed in range(20) for e in draw(seed, 600, ["starts"])[1]
           if e.kind == "faulty" and len(e.args["rules"]) == 1}
    for call in ("hello", "content", "Login"):
        assert (call, "start-not-authenticated") in met
    versions = [e.args["rules"][1] for seed in range(20)
                for e in draw(seed, 600, ["starts"])[1] if e.kind == "faulty" and
                e.args["rules"][0]["label"] == "start-no-hello"]
    assert {r["method"] for r in versions} == {"vimServiceVersions.xml"}
    assert "start-not-authenticated" in {r["label"] for r in versions}


# ---- chaos_hostile: what has had an effect ------------------------------------------------

def test_an_order_that_is_not_refused_is_a_defect():
    refused = {"error": "drain: only root, SlurmUser and operators of Slurm may do that"}
    judge_order("drain", [refused])
    for parts in ([{}], [refused, {"done": 1}], [{"error": "no such host"}]):
        with pytest.raises(Bug):
            judge_order("drain", parts)


def test_plans_beyond_the_rate_are_a_defect():
    made, refused = [{"nodes": []}], [{"error": "plan: too many requests by uid 1"}]
    judge_plans([made] * 13 + [refused] * 17, 2.0)
    judge_plans([made] * 30, 20.0)
    with pytest.raises(Bug):
        judge_plans([made] * 14 + [refused] * 16, 2.0)


def test_a_refused_submission_was_tried_unless_slurmctld_was_away():
    def ended(rc, text):
        return subprocess.CompletedProcess([], rc, "", text)
    must_reach(ended(0, ""))
    must_reach(ended(1, "sbatch: error: Batch job submission failed: Invalid feature"))
    must_reach(ended(1, "Zero Bytes were transmitted or received"))
    for text in ("", "Unable to contact slurm controller (connect failure)",
                 "sbatch: error: Socket timed out on send/recv operation"):
        with pytest.raises(ClusterError):
            must_reach(ended(1, text))


# ---- what the run itself fails to do --------------------------------------------------------

def looked(look, times=4):
    """A thread that has looked so many times, and was told to end."""
    ended, left = threading.Event(), [None] * times

    def once():
        if not left:
            ended.set()
            return
        left.pop()
        look()
    t = Loop("books", once, 0.001, ended)
    t.start()
    t.join(30)
    return t


def test_a_thread_of_the_run_that_meets_a_bug_is_told_and_looks_on():
    def bug():
        raise KeyError("vm003")
    t = looked(bug)
    assert t.looks == 1 and not t.is_alive()
    text, = t.faults(1)
    assert "KeyError: 'vm003'" in text and text.startswith("books: ")


def test_a_thread_that_missed_what_is_away_is_no_bug_unless_it_saw_nothing():
    def away():
        raise ClusterError("slurmctld did not start")
    assert looked(away).faults(20) == []
    assert looked(away).faults(120) == [
        "books looked 1 times in 120 s, and missed 4 looks"]
    assert looked(lambda: None).faults(120) == []


def test_a_thread_that_does_not_end_is_told():
    t = Loop("books", lambda: None, 60, threading.Event())
    t.looks = 9
    t.start()
    assert t.faults(1) == ["books did not end"]
    t.ended.set()
    t.join(30)
    assert t.faults(1) == []


def test_what_was_never_done_is_told():
    def tried(kind, *outs):
        return [(T0, "hostile", kind, {}, out) for out in outs]
    never = tried("order", *["refused: no answer"] * 8)
    assert never_done(never) == [
        "hostile order was tried 8 times, and never done: refused: no answer"]
    assert never_done(never[:7]) == never_done(never + tried("order", "done")) == []
    assert never_done([(T0, "jobs", *e[2:]) for e in never]) == []
    assert never_done(tried("plans", *[f"refused: {NEEDS_ROOT}"] * 8)) == []


# ---- storm and calm, and what excuses ---------------------------------------------------------

@pytest.mark.parametrize("seconds", [40, 120, 600, 3600])
def test_nothing_kills_slurmctld_while_it_is_calm(seconds):
    events, spans = draw(4711, seconds)[1], calms(seconds)
    assert sum(b - a for a, b in spans) >= seconds * 0.39
    for a, b in spans:
        lanes = {e.lane for e in events if a <= e.at < b}
        assert not lanes & STORM and {"jobs", "faults", "lost", "calm"} <= lanes
    assert {"ctld", "outages", "jobs", "faults"} <= {
        e.lane for e in events if e.at < spans[0][0]}
    assert "stall" in {e.kind for e in events}
    longs = [e.at for e in events if e.kind == "long"]
    assert len(longs) == {40: 0, 120: 0, 600: 1, 3600: 6}[seconds]


def test_a_job_is_requeued_as_often_as_its_own_time_explains():
    assert [restarts_max(s) for s in (0, 119, 120, 1200, 3600)] == [6, 6, 7, 16, 36]


def test_a_lost_host_explains_the_nodes_whose_vms_it_has():
    w = Watch.__new__(Watch)
    w.hosts = [(T0, {"vm001": "a", "vm002": "b"}), (T0 + 5, {"vm001": "b"})]
    assert w.was_there("vm001", "a", T0 - 1, T0 + 1)
    assert not w.was_there("vm001", "b", T0 - 1, T0 + 1)
    assert w.was_there("vm001", "b", T0 - 1, T0 + 6)        # it moved
    assert w.was_there("vm002", "a", T0 + 1, T0 + 6)        # there was none


def test_no_answer_is_a_bug_only_while_slurmctld_runs(monkeypatch):
    def unanswered(*_args):
        raise ClusterError("refused")

    monkeypatch.setattr(chaos_hostile, "asked", unanswered)
    monkeypatch.setattr(chaos_hostile, "CROWD_S", 0)
    away = chaos_hostile.Hostile(None, None, lambda: (3, True))
    with pytest.raises(ClusterError, match="slurmctld was away"):
        away.root_is_answered()
    up = chaos_hostile.Hostile(None, None, lambda: (3, False))
    with pytest.raises(Bug, match="refused"):
        up.root_is_answered()
