# SPDX-License-Identifier: GPL-2.0-or-later
"""svf for root, for a job's owner and for another user, with and without
PrivateData, as text and as JSON; and its answers to arguments that make no sense."""

import json
import re

import pytest

from cluster import Cluster, wait_for
from stages import Held, ready_count, wait_ready_again
from users import DAEMON, NOBODY, as_user, needs_root
from worlds import foreign, world

OWNER, OTHER = NOBODY, DAEMON
E1 = "esx01.example.org"


def make_cluster():
    return Cluster(nodes=3, inventory=world(hosts=2, vfs=2, vms=[
        foreign("theirs-1", E1), foreign("theirs-2", E1)]))


def svf(cluster, uid, *argv):
    r = as_user(cluster, uid, "svf", "--json", *argv)
    return json.loads(r.stdout) if r.returncode == 0 else r


def submit(cluster, uid, *options, script="sleep 600"):
    out = cluster.path("out")
    f = out / f"user-{uid}.sh"
    f.write_text(f"#!/bin/sh\n{script}\n")
    f.chmod(0o755)
    r = as_user(cluster, uid, "sbatch", "--parsable", "-D", out,
                "-o", out / "%A.out", *options, f)
    assert r.returncode == 0, r.stderr
    return int(r.stdout)


def private(cluster, value):
    f = cluster.path("etc", "slurm.conf")
    text = re.sub(r"^PrivateData=.*$", f"PrivateData={value}", f.read_text(),
                  flags=re.M)
    f.write_text(text)
    was = ready_count(cluster)
    cluster.must("scontrol", "reconfigure")
    if cluster.reexec:
        wait_ready_again(cluster, was)
    # Later releases take "cloud" and don't show it.
    wait_for("it is in force", 10, lambda: set(re.search(
        r"^PrivateData\s*=\s*(\S+)$",
        cluster.must("scontrol", "show", "config"), re.M)[1].split(",")) -
        {"cloud", "none"} == set(value.split(",")) - {"cloud"})


@pytest.fixture
def jobs(cluster):
    """One of the owner's that runs, one that waits for VFs."""
    running = submit(cluster, OWNER, "-N2")
    cluster.wait_state(running, "RUNNING", 40)
    waiting = submit(cluster, OWNER, "-N1")
    wait_for("it waits for VFs", 20,
             lambda: "VF" in cluster.squeue(waiting, "%r"))
    yield running, waiting
    private(cluster, "cloud")
    for job in (running, waiting):
        cluster.run("scancel", str(job))
    wait_for("they are gone", 20,
             lambda: not cluster.must("squeue", "-h").strip())


def seen(cluster, uid, running, waiting):
    """What this user is shown: nodes, jobs on nodes, why of both jobs."""
    nodes = svf(cluster, uid, "nodes")["nodes"]
    why = [svf(cluster, uid, "why", str(j)) for j in (running, waiting)]
    return {
        "nodes": len(nodes),
        "jobs": {n["job"] for n in nodes if "job" in n},
        "why": [isinstance(w, dict) and w["text"] for w in why],
        "errors": [w.stderr.strip() for w in why if not isinstance(w, dict)],
    }


@needs_root
def test_everybody_sees_all_without_private_data(cluster, jobs):
    running, waiting = jobs
    for uid in (0, OWNER, OTHER):
        got = seen(cluster, uid, running, waiting)
        assert got["nodes"] == 3 and got["jobs"] == {running}
        assert "2 nodes are up" in got["why"][0] and "VF" in got["why"][1]
        text = as_user(cluster, uid, "svf", "nodes").stdout
        assert str(running) in text


@needs_root
def test_private_jobs_are_their_owners_and_roots_alone(cluster, jobs):
    running, waiting = jobs
    private(cluster, "cloud,jobs")
    for uid in (0, OWNER):
        got = seen(cluster, uid, running, waiting)
        assert got["nodes"] == 3 and got["jobs"] == {running}
        assert all(got["why"])
    got = seen(cluster, OTHER, running, waiting)
    assert got["nodes"] == 3 and got["jobs"] == set()
    assert got["why"] == [False, False]
    # As if there were no such job: the same words, the same status.
    none = svf(cluster, OTHER, "why", "99999")
    hidden = svf(cluster, OTHER, "why", str(running))
    assert none.returncode == hidden.returncode == 1
    assert got["errors"][0] == none.stderr.strip().replace("99999",
                                                           str(running))
    out = as_user(cluster, OTHER, "svf", "nodes")
    assert not re.search(rf"\b{running}\b", out.stdout)
    # Whom it waits for is not said to who waits: what lacks, and when it comes.
    own = submit(cluster, OTHER, "-N1")
    text = wait_for("it says why", 20, lambda: re.search(
        "VF.*; start ", svf(cluster, OTHER, "why", str(own))["text"]))
    assert re.fullmatch(r"needs 1 sriov-roce VF, 0 free(, reserved for higher-priority jobs)?"
                        r"; start (time unknown|expected [-0-9T:]+)", text.string), \
        text.string
    show = as_user(cluster, OTHER, "scontrol", "show", "job", str(own)).stdout
    assert f"Reason={text.string.replace(' ', '_')}" in show
    assert re.findall(r"JobId=(\d+)", show) == [str(own)]
    cluster.must("scancel", str(own))


@needs_root
def test_private_nodes_are_operators_alone(cluster, jobs):
    running, waiting = jobs
    private(cluster, "cloud,nodes")
    assert seen(cluster, 0, running, waiting)["nodes"] == 3
    for uid in (OWNER, OTHER):
        r = as_user(cluster, uid, "svf", "nodes")
        assert r.returncode == 0 and "vm00" not in r.stdout
        for job in jobs:    # what it waits for, without the nodes' rows
            why = svf(cluster, uid, "why", str(job))
            assert why["text"] and not why.get("nodes")


@needs_root
def test_hosts_are_the_same_for_all_and_add_up(cluster, jobs):
    answers = [svf(cluster, uid, "hosts") for uid in (0, OWNER, OTHER)]
    assert answers[0] == answers[1] == answers[2]
    for host in answers[0]["hosts"]:
        for pf in host["pfs"]:
            assert pf["total"] == pf["managed"] + pf["foreign"] + pf["unverified"] \
                + pf["reserved"] + pf["free"]
        for key in ("total", "managed", "reserved", "free"):
            assert host[f"vfs_{key}"] == sum(pf[key] for pf in host["pfs"])
        assert host["vfs_foreign"] == sum(pf["foreign"] + pf["unverified"]
                                          for pf in host["pfs"])
        assert host["pfs_total"] == len(host["pfs"])
        assert host["state"] == "UP"
        assert 0 < host["cpu_mhz_free"] <= host["cpu_mhz_total"]
        assert 0 < host["memory_mb_free"] <= host["memory_mb_total"]
    vfs = [pf for h in answers[0]["hosts"] for pf in h["pfs"]]
    assert sum(pf["managed"] for pf in vfs) == 2
    assert sum(pf["foreign"] for pf in vfs) == 2


def test_why_speaks_of_a_job_in_each_of_its_states(cluster):
    cluster.must("scontrol", "update", "nodename=vm[001-003]",
                 "state=power_down")
    wait_for("vm001 is off", 30, lambda: not cluster.is_on("vm001") and
             cluster.is_powered_down("vm001"))
    boot = cluster.path("guests", "vm001.hold")
    boot.touch()
    try:
        held = Held(cluster, "-N1", "-w", "vm001")
        job = held.id
        wait_for("its VF is held until the VM is on", 20, lambda: sum(
            pf["reserved"] for h in cluster.svf("hosts")["hosts"]
            for pf in h["pfs"]) == 1)
        wait_for("why names the node that is waited for", 20, lambda: re.match(
            r"0 of 1 node is up; vm001: booting$",
            cluster.svf("why", str(job))["text"]))
        boot.unlink()
        held.wait_running()
        wait_for("all are up", 5, lambda: cluster.svf(
            "why", str(job))["text"] == "its node is up")
        held.end_well()
        assert cluster.svf("why", str(job))["text"] == (
            "the job has ended, and slurm-vsphere keeps nothing of ended jobs. "
            f"SystemComment in scontrol show job {job} has its hosts and PFs; "
            f"sacct -j {job} has its nodes")
        held = cluster.sbatch("-N1", "--hold")
        assert "Slurm's own reason" in cluster.svf("why", str(held))["text"]
    finally:
        boot.unlink(missing_ok=True)


def test_why_of_a_job_that_shares_its_node(cluster):
    jobs = [cluster.sbatch("-n1", "--mem=100", "-w", "vm001",
                           script="sleep 600") for _ in "ab"]
    for job in jobs:
        cluster.wait_state(job, "RUNNING", 40)
    for job in jobs:
        why = cluster.svf("why", str(job))
        assert why["text"] == "its node is up"
        assert [n["node"] for n in why["nodes"]] == ["vm001"]


# what was typed: (exit status, a word of the one line)
GARBAGE = {
    "hots": (2, "hots"),
    "why": (2, "job id"),
    "why abc": (2, "abc"),
    "why 1 2": (2, "job id"),
    "why -1": (2, "invalid option -- '1'"),
    "why 0": (2, "job id"),
    "why 99999999999999": (2, "job id"),
    "why 12_": (2, "12_"),
    "hosts --nodes": (2, "--nodes"),
    "hosts nosuchhost": (1, "nosuchhost"),
    "nodes nosuchnode": (1, "nosuchnode"),
    "status now": (2, "now"),
    "conf /nonexistent/vsphere.conf": (5, "/nonexistent/vsphere.conf"),
}


@pytest.mark.parametrize("typed", GARBAGE)
def test_garbage_is_answered_with_one_clear_line(cluster, typed):
    code, word = GARBAGE[typed]
    r = cluster.run("svf", *typed.split())
    assert r.returncode == code and (code == 1 or not r.stdout), r
    assert word in r.stderr and r.stderr.startswith("svf: ")
    assert len(r.stderr.splitlines()) == 1 or r.stderr.splitlines()[1:] == [
        "Try 'svf --help' for more information."]


@pytest.mark.parametrize("where", ["127.0.0.1:1", "127.0.0.1", ":", "x:y",
                                   "127.0.0.1:99999"])
def test_a_wrong_address_is_answered_with_one_clear_line(cluster, where):
    r = cluster.run("env", f"SVF_CONTROL={where}", "svf", "hosts")
    assert r.returncode in (2, 3) and not r.stdout
    line, *hint = r.stderr.splitlines()
    assert where in line and hint == (
        ["Try 'svf --help' for more information."] if r.returncode == 2 else [])
