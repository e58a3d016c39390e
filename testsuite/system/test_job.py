# SPDX-License-Identifier: GPL-2.0-or-later
"""One job, end to end: new VMs, warm VMs, the nodes a user names or excludes."""

import glob
import ipaddress
import os
import re
import time

import pytest

from cluster import Cluster, patience, wait_for
from worlds import world

# What a user would look at: who am I, which adapter, which NIC.
REPORT = 'srun -l "$VS_CLUSTER_DIR"/bin/report'


def make_cluster():
    return Cluster(inventory=world(hosts=4, vfs=4))


def rows(text):
    """{node: (adapter, mac)} of REPORT's lines."""
    res = {}
    for line in text.splitlines():
        m = re.match(r"\d+: (\S+) adapter=(\S+) mac=(\S+)", line)
        if m:
            res[m.group(1)] = (m.group(2), m.group(3))
    return res


def test_sbatch_by_constraint_runs_on_four_new_vms_with_a_vf_each(cluster):
    before = cluster.mutating()
    job = cluster.sbatch("--constraint=sriov-roce", "-N4", script=REPORT)
    seen = rows(cluster.wait_job(job))
    assert len(seen) == 4
    assert {a for a, _ in seen.values()} == {"sriov-roce"}
    assert len({mac for _, mac in seen.values()}) == 4
    # The simulator agrees: these VMs are on, with these NICs.
    vms = {vm["name"]: vm for vm in cluster.our_vms() if vm["on"]}
    assert set(vms) == set(seen)
    for name, (_, mac) in seen.items():
        assert mac in vms[name]["vf_macs"]
    # I7: a clone and a power-on for each, and nothing else.
    assert cluster.mutating() - before == 2 * 4


def test_the_batch_output_names_host_adapter_and_mac_as_svf_does(cluster):
    job = cluster.sbatch("-C", "sriov-roce", "-N2", script=REPORT)
    seen = rows(cluster.wait_job(job))
    nodes = {n["node"]: n for n in cluster.svf("nodes")["nodes"]}
    for name, (adapter, mac) in seen.items():
        assert nodes[name]["adapter"] == adapter
        assert nodes[name]["mac"] == mac
        assert nodes[name]["host"].startswith("esx")
        assert nodes[name]["pf"] == "0000:3b:00.0"


def test_the_same_vms_serve_the_next_job_within_two_seconds(cluster):
    first = rows(cluster.wait_job(cluster.sbatch("-C", "sriov-roce", "-N4",
                                                 script=REPORT)))
    calls = cluster.mutating()
    began = time.time()
    job = cluster.sbatch("-C", "sriov-roce", "-N4",
                         script="date +%s.%N; " + REPORT)
    out = cluster.wait_job(job)
    assert float(out.splitlines()[0]) - began < 2.0 * patience()
    assert rows(out) == first
    assert cluster.mutating() == calls, "a warm VM needs no call"


def test_warm_vms_are_preferred_over_new_ones(cluster):
    out = cluster.wait_job(cluster.sbatch("-N2", "-w", "vm[011-012]",
                                          script=REPORT))
    assert set(rows(out)) == {"vm011", "vm012"}
    warm = cluster.names_on()
    keep_out = sorted(warm - {"vm011", "vm012"})
    out = cluster.wait_job(cluster.sbatch("-N2", "-x", ",".join(keep_out),
                                          script=REPORT))
    assert set(rows(out)) == {"vm011", "vm012"}
    out = cluster.wait_job(cluster.sbatch(f"-N{len(warm)}", script=REPORT))
    assert set(rows(out)) == warm


def test_w_gives_the_named_node_though_others_are_warm(cluster):
    out = cluster.wait_job(cluster.sbatch("-N1", "-w", "vm009", script=REPORT))
    assert set(rows(out)) == {"vm009"}


def test_w_is_honoured_beside_free_choices(cluster):
    out = cluster.wait_job(cluster.sbatch("-N3", "-w", "vm016", script=REPORT))
    assert "vm016" in rows(out) and len(rows(out)) == 3


def test_x_keeps_a_warm_node_out(cluster):
    warm = sorted(cluster.names_on())
    out = cluster.wait_job(cluster.sbatch("-N2", "-x", warm[0], script=REPORT))
    assert warm[0] not in rows(out)


def test_a_requeued_job_runs_again(cluster):
    job = cluster.sbatch("-N1", "--requeue", script="sleep 600")
    cluster.wait_state(job, "RUNNING")
    cluster.must("scontrol", "requeue", str(job))
    wait_for("the job was requeued", 20,
             lambda: cluster.job(job).get("Restarts") == "1")


def test_an_array_gets_a_vm_per_task(cluster):
    job = cluster.sbatch("-N1", "--array=1-3", "-C", "sriov-roce",
                         script="hostname")

    def done():
        r = cluster.run("squeue", "-h", "-j", str(job))
        return r.returncode or not r.stdout.strip()
    wait_for("the array is done", 40, done)


def test_the_first_line_comes_within_a_second_of_the_last_registration(fresh):
    c = fresh(nodes=4, inventory=world(hosts=2, vfs=2))
    job = c.sbatch("-N4", "-C", "sriov-roce", script="date +%s.%N; sleep 1")
    out = c.wait_job(job)
    assert float(out.split()[0]) - c.last_registration(c.node_names()) < \
        1.0 * patience()


def test_the_batch_script_waits_for_the_slowest_node(fresh):
    c = fresh(nodes=4, inventory=world(hosts=2, vfs=2), start=False)
    c.delay_boot("vm004", 4)
    c.start()
    job = c.sbatch("-N4", "-C", "sriov-roce",
                   script="date +%s.%N; srun -l hostname")
    out = c.wait_job(job)
    assert float(out.split()[0]) >= c.last_registration(["vm004"])
    assert "vm004" in out


def our_sockets(cluster):
    """{inode: pid} of the sockets of all that carries the cluster's mark."""
    res = {}
    for env in glob.glob("/proc/[0-9]*/environ"):
        pid = int(env.split("/")[2])
        try:
            with open(env, "rb") as f:
                if cluster.mark.encode() not in f.read().split(b"\0"):
                    continue
            for fd in glob.glob(f"/proc/{pid}/fd/*"):
                to = os.readlink(fd)
                if to.startswith("socket:["):
                    res[to[8:-1]] = pid
        except OSError:
            pass    # it has ended
    return res


def listening(cluster):
    """{port: address} of these that listen."""
    ours, res = our_sockets(cluster), {}
    for name in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(name) as f:
            rows = [line.split() for line in f.readlines()[1:]]
        for row in rows:
            host, port = row[1].split(":")
            if row[3] != "0A" or row[9] not in ours:
                continue
            words = [bytes.fromhex(host[i:i + 8])[::-1]
                     for i in range(0, len(host), 8)]
            res[int(port, 16)] = ipaddress.ip_address(b"".join(words))
    return res


def test_nothing_of_a_cluster_listens_elsewhere_than_on_the_loopback(cluster):
    if not cluster.isolation:
        pytest.skip("needs mounts of its own")
    job = cluster.sbatch("-C", "sriov-roce", "-N2", script="srun sleep 600")
    cluster.wait_state(job, "RUNNING")
    wait_for("its step runs", 20, lambda: f"{job}.0" in cluster.must(
        "squeue", "-h", "-s", "-o", "%i"))
    found = listening(cluster)
    assert {cluster.ctld_port, cluster.control_port} <= set(found)
    first = cluster.node_port       # vm001's, the next ports are the others'
    assert len(set(found) & set(range(first, first + cluster.nodes))) >= 2
    assert {p: str(a) for p, a in found.items() if not a.is_loopback and not
            (getattr(a, "ipv4_mapped", None) or a).is_loopback} == {}
    cluster.run("scancel", str(job))
