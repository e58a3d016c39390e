# SPDX-License-Identifier: GPL-2.0-or-later
"""svf plan: what it answers is what a job that is submitted at once gets.

Each round makes a queue that rests, with VMs that are on, off and not there,
busy nodes and foreign VMs as chance has it, plans a job, submits the same, and
compares: nodes, hosts, PFs, what was done, calls that the simulator saw.
VS_LONG=1 for 100 rounds, VS_SEED for others than usual.
"""

import json
import os
import random
import re
import signal
import time

import pytest

from cluster import Cluster, wait_for
from users import NOBODY, as_user, needs_root
from worlds import foreign, host, world

LONG = bool(os.environ.get("VS_LONG"))
ROUNDS = 100 if LONG else 6
SEED = int(os.environ.get("VS_SEED", "6"))
POLICIES = ("balance", "pack", "spread")
HOSTS = [host("esx01.example.org", 3, 1, cores=16),
         host("esx02.example.org", 4, 2, cores=64),
         host("esx03.example.org", 5, 1), host("esx04.example.org", 2, 0)]
THEIRS = [foreign(f"theirs{i}", HOSTS[i]["name"], on=False) for i in range(3)]


def make_cluster():
    c = Cluster(nodes=22, inventory=world(hosts=HOSTS, vms=THEIRS))
    c.choose_ports()
    c.node_lines = [c.node_line(1, 18, "sriov-roce"),
                    c.node_line(19, 22, "sriov-ib")]
    c.partition_lines = [
        "PartitionName=roce Nodes=vm[001-018] Default=YES MaxTime=INFINITE",
        "PartitionName=ib Nodes=vm[019-022] MaxTime=INFINITE",
        "PartitionName=all Nodes=ALL MaxTime=INFINITE"]
    c.slurm = {"SuspendTimeout": 2}
    c.vsphere = {"AllowMoreNodesThanVFs": "yes", "lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
        "AdapterName=sriov-ib Type=sriov Network=SRIOV-IB-PG "
        "LinkLayer=InfiniBand",
        "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed",
        "PartitionName=ib Adapter=sriov-ib Template=rhel9-ofed"]}
    return c


def rests(c):
    """Nothing is under way, for Slurm, for the engine and in vCenter."""
    moving = {"POWERING_DOWN", "POWERING_UP", "POWER_DOWN", "POWER_UP",
              "COMPLETING"}
    if any(moving & set(s.split("+")) for s in c.node_states().values()):
        return False
    if c.must("squeue", "-h", "-t", "PD,CF,CG", "-o", "%i").strip():
        return False
    if any(t["state"] == "running" for t in c.state()["tasks"]):
        return False
    if c.svf("status")["in_flight"]:
        return False
    rows = c.svf("nodes")["nodes"]
    # The engine hears of a power-down's end a moment after Slurm.
    return all(n["action"] == "nothing" and
               n["node_state"] != "POWERING_DOWN" for n in rows)


def wait_rest(c):
    wait_for("the queue rests", 60, lambda: rests(c) and rests(c))


def stir(c, dice):
    """Another queue than the one before."""
    up = sorted(n for n, s in c.node_states().items() if s == "IDLE+CLOUD")
    off = dice.sample(up, dice.randint(0, len(up)) if dice.random() < .6
                      else 0)
    if off:
        c.must("scontrol", "update", "nodename=" + ",".join(off),
               "state=power_down")
    for vm in c.our_vms():
        if not vm["on"] and dice.random() < .25:
            c.do("destroyVm", vm=vm["name"])
    for vm in THEIRS:
        c.do(dice.choice(("powerOn", "powerOff")), vm=vm["name"])
    jobs = c.must("squeue", "-h", "-o", "%i").split()
    gone = [j for j in jobs if dice.random() < .5]
    if gone:
        c.must("scancel", *gone)
    if dice.random() < .5:
        c.sbatch(f"-N{dice.randint(1, 4)}", script="sleep 1000")


def wish(c, dice):
    """Options of a job."""
    part = dice.choice(("roce", "roce", "ib", "all"))
    names = c.node_names()
    names = {"roce": names[:18], "ib": names[18:], "all": names}[part]
    n = dice.randint(1, min(7, len(names) - 1))
    o = ["-p", part]
    kind = dice.random()
    if kind < .15:
        o += [f"-N{n}-{n + 2}"]
    elif kind < .3:
        o += [f"-n{2 * n}"]
    else:
        o += [f"-N{n}"]
    if kind > .8:
        o = ["-p", part, f"-N{n}", "-w",
             ",".join(dice.sample(names, dice.randint(1, n)))]
    elif dice.random() < .2:
        o += ["-x", ",".join(dice.sample(names, 1))]
    if part == "all":
        o += ["-C", dice.choice(("sriov-roce", "sriov-ib"))]
    if dice.random() < .15:
        o += ["--mem=100M", "-t", "1:00:00"]
    return o


def got(c, job):
    """Its nodes with host and PF, as they are."""
    nodes = c.must("scontrol", "show", "hostnames",
                   c.job(job)["NodeList"]).split()
    rows = {n["node"]: n for n in c.svf("nodes")["nodes"]}
    return {n: (rows[n]["host"], rows[n]["pf"]) for n in nodes}


def waiting(c, plan, job):
    """The same for one that was to wait; what for, where it is for VFs."""
    reason = wait_for("Slurm has looked at the job", 20, lambda: [
        r for r in [c.squeue(job, "%t %r")] if "None" not in r])[0]
    if not reason.startswith("PD "):
        return f"it has begun: {plan}"
    said, why = plan.get("reason", ""), c.svf("why", job)["text"]
    c.must("scancel", job)
    return "" if why.startswith(said) else f"planned {said}, waits for {why}"


def empty(c):
    """Ends all jobs and powers off the other users' VMs; managed VMs stay."""
    jobs = c.must("squeue", "-h", "-o", "%i").split()
    if jobs:
        c.must("scancel", *jobs)
    for vm in THEIRS:
        c.do("powerOff", vm=vm["name"])
    wait_rest(c)


def one_round(c, plan, options):
    """"" or what differs."""
    calls = c.mutating()
    on = c.names_on()
    there = {v["name"] for v in c.our_vms()}
    job = c.sbatch(*options, script="true")
    if not plan["starts_now"]:
        return waiting(c, plan, job)
    c.wait_state(job, "COMPLETED", 60)
    planned = {n["node"]: (n["host"], n["pf"]) for n in plan["nodes"]}
    real = got(c, job)
    did = {n: "reuse" if n in on else "power-on" if n in there else "clone"
           for n in real}
    # a move or a change is more than a power-on
    said = {n["node"]: n["action"] if n["action"] not in ("relocate", "reconfigure")
            else "power-on" for n in plan["nodes"]}
    wrong = [f"{what}: planned {a}, got {b}" for what, a, b in (
        ("places", planned, real), ("done", said, did),
        ("calls", plan["calls"], c.mutating() - calls),
        ("each call", plan["calls"], sum(n["calls"] for n in plan["nodes"])),
    ) if a != b]
    return "; ".join(wrong)


@pytest.mark.parametrize("policy", POLICIES)
def test_what_is_planned_is_what_happens(cluster, policy):
    dice = random.Random(f"{SEED} {policy}")
    text = cluster.path("etc", "vsphere.conf").read_text()
    now = text.split("Placement=")[1].split()[0]
    if now != policy:
        cluster.change_vsphere(f"Placement={now}", f"Placement={policy}")
    wrong, waited, compared, done = [], 0, 0, set()
    for i in range(POLICIES.index(policy), ROUNDS, len(POLICIES)):
        stir(cluster, dice)
        wait_rest(cluster)
        options = wish(cluster, dice)
        plan = cluster.run("svf", "--json", "plan", *options)
        if plan.returncode:     # Slurm would refuse it: so it does
            r = cluster.sbatch(*options, expect=False)
            assert r.returncode, (options, plan.stderr)
            continue
        compared += 1
        before = json.loads(plan.stdout)
        waited += not before["starts_now"]
        done |= {n["action"] for n in before["nodes"]}
        differs = one_round(cluster, before, options)
        if differs:
            wrong.append(f"round {i} {' '.join(options)}: {differs}")
    waited += 1
    differs = one_that_waits(cluster)
    if differs:
        wrong.append(f"one that waits: {differs}")
    print(policy, compared, "compared,", waited, "wait;", *sorted(done))
    assert not wrong, "\n".join(wrong)
    assert compared


def one_that_waits(c):
    """12 of the 14 VFs are a job's: chance hardly ever makes a queue so full.
    "" or what differs."""
    empty(c)
    hog = c.sbatch("-p", "roce", "-N12", script="sleep 1000")
    c.wait_state(hog, "RUNNING", 60)
    wait_rest(c)
    options = ["-p", "roce", "-N4", "-x", c.job(hog)["NodeList"]]
    plan = c.svf("plan", *options)
    assert not plan["starts_now"] and not plan["served"], plan
    assert plan["reason"] == "needs 4 sriov-roce VFs, 2 free"
    return one_round(c, plan, options)


def test_idle_vms_that_are_in_the_way_are_those_that_go(cluster):
    empty(cluster)
    warm = cluster.sbatch("-p", "roce", "-N14", script="true")
    cluster.wait_state(warm, "COMPLETED", 60)
    wait_rest(cluster)
    wait_for("the engine knows that they are idle", 20, lambda: all(
        n["node_state"] != "ALLOCATED" for n in cluster.svf("nodes")["nodes"]))
    on = set(cluster.names_on())
    options = ["-p", "roce", "-N1", "-w",
               sorted(set(cluster.node_names()[:18]) - on)[0]]
    plan = cluster.svf("plan", *options)
    assert not plan["served"] and plan["after_reclaim"], plan
    assert len(plan.get("reclaimed_nodes", ())) == 1, plan
    job = cluster.sbatch(*options, script="true")
    cluster.wait_state(job, "COMPLETED", 60)
    assert on - set(cluster.names_on()) == set(plan["reclaimed_nodes"])


def test_what_no_host_will_ever_hold_is_refused_as_by_sbatch(cluster):
    empty(cluster)
    cluster.svf("plan", "-p", "roce", "-N14")       # all that there are
    r = cluster.run("svf", "plan", "-p", "roce", "-N15")
    assert r.returncode == 1 and "can ever hold" in r.stderr, r.stderr
    assert cluster.sbatch("-p", "roce", "-N15", expect=False).returncode


def test_of_a_heterogeneous_job_each_part_is_asked_for_alone(cluster):
    r = cluster.run("svf", "plan", "-N1", ":", "-N1")
    assert r.returncode == 2 and "heterogeneous" in r.stderr, r.stderr
    parts = ("-H", "-N1", ":", "-p", "ib", "-N1")
    job = cluster.must("sbatch", "--parsable", *parts, "--wrap=true").strip()
    ids = [cluster.svf("why", f"{job}+{i}")["job"] for i in (0, 1)]
    cluster.must("scancel", job)
    assert ids[0] == int(job) != ids[1]


def test_a_plan_changes_nothing(cluster):
    wait_rest(cluster)
    before = (cluster.mutating(), cluster.svf("hosts"),
              cluster.must("squeue", "-h", "-a"))
    for options in (["-N4"], ["-N14"], ["-N1", "-w", "vm003"]):
        cluster.svf("plan", *options)
    assert before == (cluster.mutating(), cluster.svf("hosts"),
                      cluster.must("squeue", "-h", "-a"))


def test_of_several_partitions_it_is_the_one_that_can_begin(cluster):
    hog = cluster.sbatch("-p", "ib", "-N4", "--exclusive", script="sleep 1000")
    cluster.wait_state(hog, "RUNNING", 60)
    wait_rest(cluster)
    plan = cluster.svf("plan", "-N2", "-p", "ib,roce")
    assert plan["starts_now"] and plan["slurm"]["partition"] == "roce"
    differs = one_round(cluster, plan, ["-N2", "-p", "ib,roce"])
    assert not differs, differs


def test_no_more_nodes_are_planned_than_the_job_gets(cluster):
    """sbatch --test-only itself asks for the most that the job may have."""
    empty(cluster)
    plan = cluster.svf("plan", "-p", "roce", "-n2")
    assert plan["starts_now"] and len(plan["nodes"]) == 1
    differs = one_round(cluster, plan, ["-p", "roce", "-n2"])
    assert not differs, differs


def test_a_time_limit_decides_whether_a_job_fits_before_a_reservation(cluster):
    empty(cluster)
    cluster.must("scontrol", "create", "reservation", "ReservationName=later",
                 "StartTime=now+1hour", "Duration=60", "Nodes=vm[019-022]",
                 f"Users={cluster.user}")
    try:
        limited = cluster.svf("plan", "-p", "ib", "-N1", "-t", "10")
        unlimited = cluster.run("svf", "--json", "plan", "-p", "ib", "-N1")
    finally:
        cluster.must("scontrol", "delete", "ReservationName=later")
    assert limited["starts_now"], limited
    assert unlimited.returncode or \
        not json.loads(unlimited.stdout)["starts_now"], unlimited.stdout


def test_a_job_with_other_options_is_planned_by_the_nodes_of_test_only(cluster):
    """As the refusal of such an option says."""
    empty(cluster)
    options = ["-p", "ib", "-N2", "--exclusive"]
    refused = cluster.run("svf", "plan", *options)
    assert refused.returncode == 2 and "unrecognized option '--exclusive'" in refused.stderr
    said = cluster.run("sbatch", "--test-only", *options, "--wrap=true").stderr
    nodes = re.search(r" on nodes (\S+) in partition ib", said)[1]
    plan = cluster.svf("plan", "-p", "ib", "-w", nodes)
    assert plan["slurm"]["nodes"] == nodes and len(plan["nodes"]) == 2
    differs = one_round(cluster, plan, options)
    assert not differs, differs


@needs_root
def test_any_user_may_plan(cluster):
    r = as_user(cluster, NOBODY, "svf", "plan", "-N2", "-C", "sriov-roce")
    assert r.returncode == 0, r.stderr
    rows = [ln.split() for ln in r.stdout.splitlines()
            if ln.startswith("vm")]
    assert len(rows) == 2 and {x[1] for x in rows} == {"sriov-roce"}


def test_what_slurm_refuses_is_said_in_its_words(cluster):
    r = cluster.run("svf", "plan", "-N1", "-C", "nothing")
    assert r.returncode == 1 and "feature" in r.stderr.lower(), r.stderr
    assert len(r.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("how", ["ended", "stopped"])
def test_when_nobody_answers_it_says_so_in_time(fresh, how):
    """slurmctld is not there, or is there and says nothing."""
    c = fresh(nodes=1, inventory=world(hosts=1, vfs=1))
    if how == "ended":
        c.end_slurmctld()
    else:
        os.kill(c.daemons["slurmctld"].p.pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        r = c.run("svf", "plan", "-C", "sriov-roce", "-N1", timeout=100)
        took = time.monotonic() - began
    finally:
        if how == "stopped":
            os.kill(c.daemons["slurmctld"].p.pid, signal.SIGCONT)
    assert r.returncode == 3, r.stderr
    assert "slurmctld" in r.stderr or "slurm controller" in r.stderr
    assert took < 40
