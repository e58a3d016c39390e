# SPDX-License-Identifier: GPL-2.0-or-later
"""Two Slurm clusters beside each other under one vCenter, each with a munge,
ports, state and a folder of its own; and several vSphere clusters of one."""

import re

import pytest

from cluster import Cluster, wait_for
from stages import Held, wait_saved
from test_check import findings
from worlds import PF0, host, world

PF1 = "0000:3b:00.1"

BOTH = """#!/bin/sh
# The simulator has one hook: the guest knows whose it is.
if grep -q '"guestinfo.slurm.cluster": *"second"' "$VM_GUESTINFO"; then
	exec {second}/bin/guest "$@"
fi
exec {first}/bin/guest "$@"
"""


class Second(Cluster):
    """On the first one's simulator, in a folder of its own."""

    def __init__(self, first, folder="second", **more):
        super().__init__(**more)
        self.first, self.folder = first, folder
        self.slurm = {"ClusterName": "second"}

    def start_vcsim(self):
        self.sim_url, self.sim_ca = self.first.sim_url, self.first.sim_ca
        self.sim_control = self.first.sim_control

    def vms(self):
        return {v["name"]: v for v in self.state()["vms"]
                if v["folder"].endswith("/" + self.folder) and
                not v["template"]}


def inventory():
    """HPC1 and HPC2, of two hosts with two VFs each."""
    inv = world(hosts=2, vfs=2)
    dc = inv["datacenters"][0]
    dc["folders"].append("second")
    dc["clusters"].append({
        "name": "HPC2", "drs": "manual", "pools": ["slurm"],
        "hosts": [host(f"esx{i:02d}.example.org", 2) for i in (3, 4)]})
    return inv


def second_pf(inv):
    for h in inv["datacenters"][0]["clusters"][0]["hosts"]:
        h["pnics"].append({**h["pnics"][1], "device": "vmnic5", "pci": PF1})
    return inv


def conf(*clusters, pf=""):
    return {"ShutdownGrace": 1, "lines": [
        *(f"VSphereCluster={c} ResourcePool=slurm" for c in clusters),
        "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000" +
        pf,
        "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed"]}


@pytest.fixture
def pair():
    made = []

    def make(first_of, second_of, folder="second", nodes=4, ready=True,
             inv=None, pfs=("", "")):
        inv = inv or inventory()
        a = Cluster(nodes=nodes, inventory=inv)
        b = Second(a, folder, nodes=nodes)
        made.extend((a, b))
        both = a.path("both")
        both.write_text(BOTH.format(first=a.dir, second=b.dir))
        both.chmod(0o755)
        inv["guest"] = {"command": [str(both)]}
        a.vsphere = conf(first_of, pf=pfs[0])
        b.vsphere = {**conf(second_of, pf=pfs[1]), "Folder": folder}
        a.start()
        a.wait_ready()
        b.start()
        if ready:
            b.wait_ready()
        return a, b
    yield make
    for c in reversed(made):
        c.remove()


def sums(c):
    """VFs by the core's books: all, managed, foreign, reserved, free."""
    pfs = [pf for h in c.svf("hosts")["hosts"] for pf in h["pfs"]]
    return [sum(pf[k] for pf in pfs)
            for k in ("total", "managed", "foreign", "reserved", "free")]


def settled(c, *want):
    wait_for(f"the VFs are {want}", 20, lambda: sums(c) == list(want))


def vms_in(c, folder):
    return [v for v in c.state()["vms"]
            if v["folder"].endswith("/" + folder) and not v["template"]]


def shared(c):
    return [(f["object"], f["severity"]) for f in findings(c)
            if f["code"] == "pf-shared"]


def shared_pfs(c):
    """What svf hosts says of it."""
    return sorted((h["host"], r) for h in c.svf("hosts")["hosts"]
                  for r in h.get("reasons", []) if "Slurm cluster" in r)


def what_they_are(c):
    return {n: (v["instanceUuid"], v["boots"], v["power"], v["owner"])
            for n, v in c.vms().items()}


def test_each_has_hosts_of_its_own_and_leaves_the_others_alone(pair):
    """The same names of nodes, the same account, jobs in both at once; one's
    death, restart and power-downs are nothing to the other."""
    a, b = pair("HPC1", "HPC2")
    jobs = [Held(a, "-N3"), Held(b, "-N3")]
    for j in jobs:
        j.wait_running(90)
    settled(a, 4, 3, 0, 0, 1)
    settled(b, 4, 3, 0, 0, 1)
    assert not shared(a) + shared(b) + shared_pfs(a) + shared_pfs(b)
    assert {v["host"] for v in b.vms().values()} <= {
        "esx03.example.org", "esx04.example.org"}
    macs = [m["mac"] for v in a.state()["vms"] for m in v["cards"]]
    assert len(set(macs)) == len(macs)
    owners = {v["owner"].split("/")[0] for v in a.state()["vms"] if v["owner"]}
    assert len(owners) == 2
    jobs[1].let_go()
    b.wait_job(jobs[1].id)
    b.must("scontrol", "update", "nodename=vm001", "state=power_down")
    wait_for("one of the second's is off", 30, lambda:
             b.vms()["vm001"]["power"] == "poweredOff")
    was = what_they_are(b)
    wait_saved(a, jobs[0].id, "vm001")
    a.kill_slurmctld()
    a.start_slurmctld()
    jobs[0].end_well()
    a.wait_job(a.sbatch("-N4"), 60)
    a.must("scontrol", "update", "nodename=ALL", "state=power_down")
    wait_for("the first's are off", 40, lambda: not a.names_on())
    assert a.svf("reconcile")["vms"] == []
    assert what_they_are(b) == was
    assert a.counters()["powerOnFullPF"] == 0 and a.overfull() == []


def test_on_the_same_hosts_the_others_vfs_are_foreign(pair):
    """Within the limits that vsphere.conf(5) names: what is on is counted by
    both, as foreign by the other, and no VF twice."""
    a, b = pair("HPC1", "HPC1", nodes=2)
    first = Held(a, "-N2").wait_running(60)
    settled(b, 4, 0, 2, 0, 2)
    second = Held(b, "-N2").wait_running(60)
    settled(a, 4, 2, 2, 0, 0)
    settled(b, 4, 2, 2, 0, 0)
    for us, theirs in ((a, vms_in(a, "second")), (b, vms_in(a, "slurm"))):
        other, = {v["owner"].split("/")[0] for v in theirs}
        def named(us=us, other=other):
            assert shared(us) == [(other, "warning")]
            return True
        wait_for("the other is named", 20, named)
        words = f"{PF0}: %s used by another Slurm cluster (id {other})"
        by = {}
        for vm in theirs:
            by[vm["host"]] = by.get(vm["host"], 0) + 1
        assert shared_pfs(us) == sorted(
            (h, words % ("1 VF is" if n == 1 else f"{n} VFs are"))
            for h, n in by.items())
        assert any(f"another Slurm cluster (id {other}) uses VFs" in f["text"]
                   for f in us.svf("status")["findings"])
        assert us.run("svf", "check", "pf-shared").returncode == 0
    third = a.sbatch("-N1", "-w", "vm001", "--exclusive")
    assert a.job_state(third) == "PENDING"
    a.must("scancel", third)
    was = what_they_are(b)
    first.end_well()
    a.must("scontrol", "update", "nodename=ALL", "state=power_down")
    wait_for("the first's are off", 40, lambda: not a.names_on())
    settled(b, 4, 2, 0, 0, 2)
    wait_for("it is over", 20, lambda: not shared(b) + shared_pfs(b))
    assert b.ctld_log().count("warning: another Slurm cluster (id") == 1
    assert what_they_are(b) == was
    second.end_well()
    assert a.counters()["powerOnFullPF"] == 0 and a.overfull() == []


def test_on_the_same_hosts_with_pfs_of_its_own_nothing_is_shared(pair):
    """PF=: each has its own of every host."""
    a, b = pair("HPC1", "HPC1", nodes=2, inv=second_pf(inventory()),
                pfs=(f" PF={PF0}", f" PF={PF1}"))
    jobs = [Held(c, "-N2").wait_running(60) for c in (a, b)]
    for c, own in ((a, PF0), (b, PF1)):
        wait_for("the VFs are in use", 20, lambda c=c: sums(c)[1:3] == [2, 2])
        of = {pf["pci"]: (pf["managed"], pf["foreign"]) for h in
              c.svf("hosts")["hosts"] for pf in h["pfs"] if pf["managed"]}
        assert set(of) == {own}
        assert shared(c) == [] and shared_pfs(c) == []
    for j in jobs:
        j.end_well()


def test_in_one_folder_the_second_is_refused(pair):
    """Nothing of the first's is touched, nor anything made."""
    a, b = pair("HPC1", "HPC2", nodes=2)
    a.wait_job(a.sbatch("-N2"), 60)
    b.change_vsphere("Folder=second", "Folder=slurm")
    b.restart_slurmctld()
    wait_for("it says so", 30, lambda: re.search(
        "no job gets a VM: the folder holds VM vm00[12] of another cluster",
        b.ctld_log()))
    made = a.mutating()
    job = b.sbatch("-N1")
    wait_for("its job waits, and why", 20, lambda: "another cluster" in
             b.svf("why", str(job))["text"])
    # The first cluster finds no VM of the second, and continues.
    a.wait_job(a.sbatch("-N2"), 60)
    assert a.mutating() == made
    b.must("scancel", job)


def test_one_slurm_cluster_runs_on_two_vsphere_clusters(fresh):
    """Jobs spread over both, each VM on its own cluster's hosts; DRS is judged by
    cluster: where one of them chooses hosts its VMs have no job, and others do."""
    c = fresh(nodes=8, inventory=inventory(), vsphere=conf("HPC1", "HPC2"))
    c.wait_job(c.sbatch("-N8", script="srun hostname"), 90)
    rows = c.svf("hosts")["hosts"]
    assert {h["cluster"] for h in rows} == {"HPC1", "HPC2"}
    assert sums(c) == [8, 8, 0, 0, 0]
    of = {h["host"]: h["cluster"] for h in rows}
    per = {cluster: sorted(v["name"] for v in c.our_vms()
                           if of[v["host"]] == cluster)
           for cluster in ("HPC1", "HPC2")}
    assert [len(names) for names in per.values()] == [4, 4]
    c.must("scontrol", "update", "nodename=ALL", "state=power_down")
    wait_for("all are off", 60, lambda: not c.names_on() and all(
        c.is_powered_down(n) for n in c.node_names()))
    c.do("cluster", cluster="HPC2", drs="fullyAutomated")
    c.run("svf", "reconcile")       # an operator has vCenter read again at once
    words = "DRS of cluster HPC2 chooses hosts automatically"
    wait_for("it is found", 60, lambda: [
        f for f in c.svf("status").get("findings", []) if words in f["text"]])
    late = c.sbatch("-N1", "-w", per["HPC2"][0])
    wait_for("a job for its VM waits", 20, lambda: words in
             c.svf("why", str(late))["text"])
    c.wait_job(c.sbatch("-N4", "-w", ",".join(per["HPC1"])), 90)
    assert c.job_state(late) == "PENDING"
    c.do("cluster", cluster="HPC2", drs="manual")
    c.run("svf", "reconcile")
    c.wait_job(late, 90)
