# SPDX-License-Identifier: GPL-2.0-or-later
"""svf jobs: what jobs have of vSphere and what they wait for, one question for all
of them."""

import re

from cluster import Cluster, wait_for
from stages import Held
from users import DAEMON, NOBODY, as_user, needs_root
from worlds import ROCE_AND_ETH, world


def make_cluster():
    """Five names over four VFs."""
    c = Cluster(nodes=6, inventory=world(hosts=2, vfs=2))
    c.choose_ports()
    c.slurm = {"SuspendTimeout": 2, "PrivateData": "jobs,cloud"}
    c.vsphere = {"ShutdownGrace": 1, "AllowMoreNodesThanVFs": "yes",
                 "lines": ROCE_AND_ETH}
    c.node_lines = [c.node_line(1, 5, "sriov-roce"),
                    c.node_line(6, 6, "vmxnet3")]
    c.partition_lines = ["PartitionName=roce Nodes=vm[001-005] Default=YES",
                         "PartitionName=eth Nodes=vm006"]
    return c


def jobs(cluster):
    return {j["id"]: j for j in cluster.svf("jobs")["jobs"]}


def appears(cluster, ident, what=lambda j: True):
    wait_for(f"svf jobs knows {ident}", 30, lambda: ident in jobs(cluster) and
             what(jobs(cluster)[ident]))
    return jobs(cluster)[ident]


def test_what_a_job_has_and_what_is_on_its_way(cluster):
    cluster.do("setDuration", name="CloneVM_Task", duration="3s")
    held = Held(cluster, "-N3")
    j = appears(cluster, str(held.id), lambda j: j.get("phase") == "clone")
    assert j["provisioning"] == 3 and j["since"] and len(j["nodes"]) == 3
    held.wait_running()
    cluster.do("setDuration", name="CloneVM_Task", duration="300ms")
    j = jobs(cluster)[str(held.id)]
    assert "provisioning" not in j and "reason" not in j
    assert j["state"] == "RUNNING" and j["partition"] == "roce"
    assert (j["vfs"], j["adapters"]) == (3, ["sriov-roce"])
    on = {n["node"]: n["host"] for n in cluster.svf("nodes")["nodes"]
          if n.get("job") == held.id}
    assert sorted(on) == j["nodes"] and sorted(set(on.values())) == j["hosts"]
    line = cluster.svf("--noheader", "jobs", str(held.id), json_out=False)
    assert re.match(rf"{held.id} +\S+ +roce +RUNNING +sriov-roce +vm\[\d+-\d+\S*\] "
                    r"+esx\[01-02\]\.example\.org +3 +\S+ +\d\d:\d\d:\d\d +- +-$", line), line
    held.end_well()


def test_what_waits_says_for_what_and_until_when(cluster):
    held = Held(cluster, "-N4", "-t5").wait_running()
    one = cluster.sbatch("-N2", "-t5", script="true")
    array = cluster.sbatch("-N1", "-t5", "--array=3-5", script="true")
    own = cluster.sbatch("-N1", "-t5", "--dependency=afterany:%d" % one,
                         script="true")
    j = appears(cluster, str(one), lambda j: "start_time" in j)
    assert j["need"] == 2 and "sriov-roce VFs" in j["reason"]
    assert "nodes" not in j and "vfs" not in j
    assert appears(cluster, f"{array}_[3-5]")["need"] == 1
    assert str(own) not in jobs(cluster), "Slurm has never asked of it"
    shown = cluster.svf("--noheader", "-O", "jobid,need", "jobs", str(array),
                        json_out=False)
    assert shown.split() == [f"{array}_[3-5]", "1"]
    cluster.must("scancel", one, array, own)
    held.end_well()
    wait_for("nothing is left of them", 40, lambda: not jobs(cluster))


def test_what_a_component_waits_for_is_its_own(cluster):
    """Of a heterogeneous job. One name is left: Slurm asks about it now."""
    held = Held(cluster, "-N4", "-t5").wait_running()
    het = cluster.sbatch("-p", "eth", "-N1", "-t5", ":", "-p", "roce", "-N1",
                         script="true")
    assert "sriov-roce" in appears(cluster, f"{het}+1")["adapters"]
    shown = cluster.svf("--noheader", "-O", "jobid,need", "jobs", str(het),
                        json_out=False)
    assert shown.split() == [f"{het}+1", "1"]
    cluster.must("scancel", het)
    held.end_well()
    wait_for("nothing is left of them", 40, lambda: not jobs(cluster))


def test_a_job_without_vms_is_named(cluster):
    r = cluster.run("svf", "jobs", "99999")
    assert r.returncode == 1
    assert "job 99999 has no VM, and waits for none" in r.stderr


@needs_root
def test_others_jobs_are_not_shown(cluster):
    out = cluster.path("out")
    f = out / "theirs.sh"
    f.write_text("#!/bin/sh\nsleep 100\n")
    f.chmod(0o755)
    r = as_user(cluster, NOBODY, "sbatch", "--parsable", "-N1", "-D", out, "-o",
                out / "%A.out", f)
    assert r.returncode == 0, r.stderr
    job = r.stdout.strip()
    appears(cluster, job)
    for uid, sees in ((NOBODY, True), (DAEMON, False)):
        r = as_user(cluster, uid, "svf", "--noheader", "-O", "jobid", "jobs")
        assert r.returncode == 0, r.stderr
        assert (job in r.stdout.split()) == sees, (uid, r.stdout)
    cluster.must("scancel", job)
