# SPDX-License-Identifier: GPL-2.0-or-later
"""Two VMs boot for a job and run RDMA between them; then the same two in trouble."""

import re
import time

import pytest

import jobs
import texts
from daemons import patience, wait_for
from guest_cluster import GuestCluster
from boot_times import say_boots

NODES = ("vm001", "vm002")


def make_cluster():
    return GuestCluster(nodes=2, vfs=1)


@pytest.fixture(scope="module")
def first(cluster):
    """The job that boots both VMs: its id and its output."""
    began = time.time()
    job = cluster.submit("date +'first line at %s.%N'\n" + jobs.SEES + jobs.PERFTEST +
                         "perftest ib_send_bw '-s 65536 -n 300'\n"
                         "perftest ib_send_lat '-n 300'\n", "-N2")
    text = cluster.wait_done(job)
    print(f"\nthe job's first line: {float(re.search(r'first line at (.*)', text)[1]) - began:.1f} s "
          "after sbatch")
    say_boots(cluster, NODES)
    return job, text


def test_a_job_boots_two_machines_that_register(cluster, first):
    rows = jobs.seen(first[1])
    assert set(rows) == set(NODES), first[1]
    hosts = set()
    for node, row in rows.items():
        shell = cluster.shell(node)
        assert row["name"] == node and row["kernel"].endswith("-amd64")
        assert row["mtu"] == "9000" and row["pf"] == "0000:3b:00.0"
        hosts.add(row["host"])
        ready = shell("cat /run/slurm-vsphere/ready").splitlines()
        assert ready[0] == "ok" and "device rxe0" in ready, ready
        assert shell("cat /etc/machine-id") not in ("", "\n")
        assert "10.88.0." in shell("ip -br -4 address show dev $(sed -n 's/^netdev //p' "
                                   "/run/slurm-vsphere/ready)")
    assert hosts == {"esx01.example.org", "esx02.example.org"}
    ids = {cluster.shell(n)("cat /etc/machine-id") for n in NODES}
    assert len(ids) == 2


def test_an_ordinary_user_runs_rdma_between_them(first):
    """The user's limit of locked memory at sbatch is a login node's 8 MB."""
    _, text = first
    for row in jobs.seen(text).values():
        assert row["user"] != "root" and row["memlock"] == "unlimited", row
    print(f"\nib_send_bw {jobs.bandwidth(text):.1f} MB/s, "
          f"ib_send_lat typically {jobs.latency(text):.0f} us")
    assert jobs.bandwidth(text) > 1
    assert 1 < jobs.latency(text) < 1e6


def test_a_second_job_runs_on_the_warm_machines(cluster, first):
    calls = cluster.mutating()
    began = time.time()
    job = cluster.submit("date +'first line at %s.%N'\nsrun -l hostname\n", "-N2")
    text = cluster.wait_done(job, 60)
    took = float(re.search(r"first line at (.*)", text)[1]) - began
    print(f"\nwarm: the first line {took:.1f} s after sbatch")
    assert sorted(re.findall(r"^\d: (\S+)", text, re.M)) == sorted(NODES)
    assert cluster.mutating() == calls and took < 15 * patience()


def test_a_restart_of_the_units_during_a_job_keeps_it_and_its_variables(cluster, first):
    """The step after the restart has the variables, and RDMA still works."""
    job = cluster.submit(jobs.SEES + "touch /tmp/half\n"
                         "while [ ! -e /tmp/go ]; do sleep 0.2; done\n" + jobs.SEES +
                         jobs.PERFTEST + "perftest ib_send_bw '-s 4096 -n 100'\n", "-N2")
    shells = [cluster.shell(n) for n in NODES]
    wait_for("the job's first half is done", 60, lambda: shells[0]("test -e /tmp/half; echo $?") == "0\n")
    for shell in shells:
        shell("systemctl restart slurm-vsphere-identity.service slurm-vsphere-slurmd.service", 120)
    wait_for("both slurmd run again", 120, lambda: all(shell(
        "head -n 1 /run/slurm-vsphere/ready; pgrep -cx slurmd") == "ok\n1\n" for shell in shells))
    texts.check(cluster, "the guest's units were restarted or reloaded", job, "vm001")
    shells[0]("touch /tmp/go")
    text = cluster.wait_done(job, 120)
    rows = jobs.seen(text)      # of the second half: later lines replace earlier ones
    for node in NODES:
        assert rows[node]["host"].startswith("esx") and rows[node]["pf"], text
    assert text.count("sees node=") == 4 and jobs.bandwidth(text) > 0.1


def test_a_port_that_went_down_before_a_job_drains_its_node(cluster, first):
    """The prolog finds it, the job is requeued and has run nothing there."""
    cluster.link("vm002", False)
    try:
        job = cluster.submit("touch /tmp/ran\n", "-N1", "-w", "vm002")
        wait_for("the node is drained and the job requeued", 90, lambda: (
            "DRAIN" in cluster.node("vm002")["State"] and
            cluster.job(job).get("Restarts") == "1"))
        reason = cluster.node("vm002")["Reason"]
        assert reason.startswith("prep/vsphere: ") and "rxe0" in reason, reason
        cluster.wait_state(job, "PENDING")
        wait_for("Slurm says why the job waits", 60, lambda: cluster.squeue(job) != "None")
        texts.check(cluster, "the port of the VF went down before a job", job, "vm002")
        assert cluster.shell("vm002")("test -e /tmp/ran; echo $?") == "1\n"
    finally:
        cluster.link("vm002", True)
    # Slurm lets a requeued job wait two minutes; another one needs not.
    cluster.must("scancel", str(job))
    cluster.must("scontrol", "update", "nodename=vm002", "state=resume")
    cluster.wait_done(cluster.submit("hostname\n", "-N1", "-w", "vm002"), 60)
