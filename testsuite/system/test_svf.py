# SPDX-License-Identifier: GPL-2.0-or-later
"""svf: what people see, and that it works for any user."""

from cluster import Cluster, wait_for
from users import NOBODY, as_user, needs_root
from worlds import foreign, world

E1 = "esx01.example.org"


def make_cluster():
    return Cluster(nodes=4, inventory=world(hosts=2, vfs=2, vms=[
        foreign("theirs", E1)]))


def test_hosts_counts_ours_foreign_held_and_free(cluster):
    job = cluster.sbatch("-N2", script="sleep 600")
    cluster.wait_state(job, "RUNNING")
    hosts = {h["host"]: h["pfs"][0] for h in cluster.svf("hosts")["hosts"]}
    assert hosts[E1]["total"] == 2 and hosts[E1]["foreign"] == 1
    assert sum(pf["managed"] for pf in hosts.values()) == 2
    assert sum(pf["free"] for pf in hosts.values()) == 1
    text = cluster.svf("hosts", json_out=False)
    assert E1 in text and "FOREIGN" in text.splitlines()[0]


def test_nodes_names_the_job_that_runs(cluster):
    job = cluster.sbatch("-N1", "-w", "vm001", script="sleep 600")
    cluster.wait_state(job, "RUNNING")
    row = {n["node"]: n for n in cluster.svf("nodes")["nodes"]}["vm001"]
    assert row["job"] == job and row["vm_state"] == "ON"
    line = [ln for ln in cluster.svf("nodes", json_out=False).splitlines()
            if ln.startswith("vm001")][0]
    assert row["mac"] in line and str(job) in line


def test_why_says_in_words_what_a_job_waits_for(cluster):
    hog = cluster.sbatch("-N3", script="sleep 600")
    cluster.wait_state(hog, "RUNNING")
    job = cluster.sbatch("-N1", "-C", "sriov-roce")
    wait_for("svf why names VFs", 15,
             lambda: "VF" in cluster.svf("why", str(job))["text"])
    assert "VF" in cluster.svf("why", str(job), json_out=False)


def test_why_of_no_job_is_one_clear_line(cluster):
    r = cluster.run("svf", "why", "999999")
    assert r.returncode != 0
    assert len(r.stderr.strip().splitlines()) == 1 and "999999" in r.stderr


@needs_root
def test_any_user_may_ask_and_needs_no_password(cluster):
    r = as_user(cluster, NOBODY, "svf", "hosts")
    assert r.returncode == 0 and E1 in r.stdout, r.stderr
    r = as_user(cluster, NOBODY, "cat", cluster.path("etc", "vcenter.password"))
    assert r.returncode != 0


def test_without_slurmctld_it_says_so(cluster):
    cluster.end_slurmctld()
    try:
        r = cluster.run("svf", "hosts")
        assert r.returncode != 0
        assert len(r.stderr.strip().splitlines()) == 1
        assert "slurmctld" in r.stderr
    finally:
        cluster.start_slurmctld()
        cluster.wait_ready()
