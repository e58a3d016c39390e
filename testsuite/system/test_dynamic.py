# SPDX-License-Identifier: GPL-2.0-or-later
"""Nodes that come and go while slurmctld runs. slurmds that register by themselves
are unmanaged, and run jobs beside managed nodes. slurm-vsphere manages cloud nodes
that `scontrol create` makes in a partition of vsphere.conf like those of
slurm.conf, or refuses them with a message to the user who created them."""

import re
import signal

import pytest

from cluster import Cluster, wait_for
from stages import Held, nobody_down
from worlds import world


def make_cluster():
    c = Cluster(nodes=2, inventory=world(hosts=2, vfs=8))
    c.vsphere = {"ShutdownGrace": 1}
    c.slurm = {"MaxNodeCount": 8, "TreeWidth": 65533, "SuspendTimeout": 2}
    return c


def create(c, name="dyn1", features="Feature=sriov-roce", state="cloud"):
    """A slurmd of a node that isn't in slurm.conf listens on SlurmdPort."""
    return c.must("scontrol", "create", f"nodename={name}", "NodeAddr=127.0.0.1",
                  f"Port={c.slurmd_port}", "CPUs=2", "RealMemory=1024",
                  f"state={state}", *features.split())


def is_there(c, name):
    return name in c.node_states()


def delete(c, name):
    c.must("scontrol", "delete", f"nodename={name}")
    assert not is_there(c, name)


def wait_no_vm(c, name):
    wait_for(f"there is no VM {name}", 30, lambda: not c.our_vm(name))


def ours(c):
    return {n["node"] for n in c.svf("nodes")["nodes"]}


@pytest.fixture
def tidy(cluster):
    """Names are used once: a test does not wait for the VMs that it leaves in
    vCenter. The fixture confirms their removal, because more of them may have no
    node than the removal limit permits."""
    yield cluster
    for name in [n for n in cluster.daemons if n.startswith("slurmd-")]:
        cluster.daemons.pop(name).end(signal.SIGKILL)
    cluster.run("scancel", "--user", cluster.user)
    for name in [n for n in cluster.node_states() if not n.startswith("vm")]:
        wait_for(f"{name} is deleted", 20, lambda n=name: cluster.run(
            "scontrol", "delete", f"nodename={n}").returncode == 0)
    for name in cluster.names_on() - {"vm001", "vm002"}:
        cluster.do("powerOff", vm=name)     # it listens on SlurmdPort
    cluster.run("svf", "reconcile", "--confirm")


@pytest.mark.parametrize("options", [(), ("--conf", "Feature=metal Weight=7")],
                         ids=["plain", "conf"])
def test_a_slurmd_that_comes_by_itself_runs_jobs_beside_ours(tidy, options):
    c = tidy
    c.wait_job(c.sbatch("-N1", "-w", "vm001", script="true"), 60)
    calls = c.mutating()
    for name in ("metal1", "metal2"):   # the second in the first one's place
        c.start_static_slurmd(name, "-Z", *options)
        wait_for("it has registered", 20, lambda n=name: is_there(c, n) and
                 c.node(n)["State"].startswith("IDLE"))
        job = c.sbatch("-N2", "-w", f"vm001,{name}", script="srun hostname")
        assert set(c.wait_job(job).split()) == {"vm001", name}
        assert c.mutating() == calls, "vm001 is warm"
        assert ours(c) == {"vm001", "vm002"}
        if options:
            assert c.wait_job(c.sbatch("-C", "metal", script="hostname")
                              ).strip() == name
        c.daemons.pop("slurmd-" + name).end(signal.SIGKILL)
        delete(c, name)
    assert c.wait_job(c.sbatch("-N1", "-w", "vm001", script="hostname"))
    assert c.mutating() == calls
    nobody_down(c)


def test_a_cloud_node_that_is_created_is_served_and_its_vm_ends_with_it(tidy):
    c = tidy
    create(c)
    assert ours(c) == {"vm001", "vm002", "dyn1"}
    job = Held(c, "-N1", "-w", "dyn1", before="hostname; srun hostname; echo began")
    job.wait_running()
    assert c.output(job.id).split()[:2] == ["dyn1", "dyn1"]
    assert c.is_on("dyn1") and c.calls("CloneVM_Task") >= 1
    r = c.run("scontrol", "delete", "nodename=dyn1")
    assert r.returncode and is_there(c, "dyn1"), "it has a job"
    c.must("scontrol", "reconfigure")
    c.restart_slurmctld()
    assert ours(c) >= {"dyn1"}
    job.end_well()
    calls = c.mutating()
    out = c.wait_job(c.sbatch("-N1", "-w", "dyn1", script="hostname"), 40)
    assert out.strip() == "dyn1" and c.mutating() == calls, "it is warm"
    c.must("scontrol", "update", "nodename=dyn1", "state=power_down")
    wait_for("it is off", 30, lambda: c.is_powered_down("dyn1") and
             not c.is_on("dyn1"))
    uuid = c.our_vm("dyn1")["uuid"]
    c.wait_job(c.sbatch("-N1", "-w", "dyn1", script="srun hostname"), 40)
    assert c.our_vm("dyn1")["uuid"] == uuid
    delete(c, "dyn1")
    wait_no_vm(c, "dyn1")
    assert "orphan vm=dyn1 is destroyed: no node has its name" in c.ctld_log()
    assert ours(c) == {"vm001", "vm002"}
    nobody_down(c)


def test_a_node_that_is_deleted_while_its_vm_is_built_leaves_no_vm(tidy):
    c = tidy
    c.do("setDuration", name="CloneVM_Task", duration="2s")
    create(c, "built1")
    c.must("scontrol", "update", "nodename=built1", "state=power_up")
    wait_for("it is cloned", 20, lambda: c.running_tasks("CloneVM_Task"))
    delete(c, "built1")
    c.do("setDuration", name="CloneVM_Task", duration="300ms")
    wait_for("the clone is over", 20,
             lambda: not c.running_tasks("CloneVM_Task"))
    wait_no_vm(c, "built1")
    # Its place in the tables is another's, who gets what is another's.
    create(c, "built2")
    out = c.wait_job(c.sbatch("-N1", "-w", "built2", script="srun hostname"), 60)
    assert out.strip() == "built2" and c.is_on("built2") and not c.our_vm("built1")


def test_a_job_whose_node_is_deleted_waits_and_others_run(tidy):
    c = tidy
    create(c, "wanted")
    first = Held(c, "-N1", "-w", "vm001").wait_running()
    waits = c.sbatch("-N2", "-w", "wanted,vm001", "--exclusive", script="hostname")
    wait_for("it waits", 20, lambda: c.job_state(waits) == "PENDING")
    delete(c, "wanted")
    first.end_well()
    out = c.wait_job(c.sbatch("-N1", "-w", "vm002", script="hostname"), 60)
    assert out.strip() == "vm002"
    assert c.job_state(waits) == "PENDING"
    assert c.run("svf", "why", waits).returncode == 0


@pytest.mark.parametrize("name, features, word", [
    ("wrong1", "Feature=ib", "has no adapter among its Features"),
    ("wrong2", "Feature=sriov-roce RealMemory=1", "has no usable RealMemory")])
def test_a_cloud_node_that_can_not_be_served_is_refused_alone(tidy, name,
                                                              features, word):
    """Loudly, and slurmctld starts again with it in its saved state."""
    c = tidy
    create(c, name, features)
    for _ in range(2):
        node = c.node(name)
        assert "DRAIN" in node["State"], node
        assert re.search(rf"slurm-vsphere: .*node {name} {word}", node["Reason"])
        assert ours(c) == {"vm001", "vm002"}
        out = c.wait_job(c.sbatch("-N1", "-w", "vm001", script="hostname"), 60)
        assert out.strip() == "vm001"
        said = len(re.findall(rf"error: slurm-vsphere: .*node {name} {word}.*delete "
                              "the node, and create it again", c.ctld_log()))
        assert said, "whoever made it reads why"
        c.restart_slurmctld()
    delete(c, name)
    create(c, name)
    out = c.wait_job(c.sbatch("-N1", "-w", name, script="hostname"), 60)
    assert out.strip() == name


def test_a_partition_begins_without_nodes_and_ends_so(fresh):
    c = fresh(nodes=1, inventory=world(hosts=1, vfs=2), vsphere={
        "ShutdownGrace": 1, "lines": [
            "VSphereCluster=HPC1 ResourcePool=slurm",
            "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG",
            "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed",
            "PartitionName=late Adapter=sriov-roce Template=rhel9-ofed"]},
        slurm={"MaxNodeCount": 4, "SuspendTimeout": 2},
        partition_lines=["NodeSet=later Feature=later",
                         "PartitionName=roce Nodes=vm001 Default=YES",
                         "PartitionName=late Nodes=later"])
    create(c, features="Feature=sriov-roce,later")
    out = c.wait_job(c.sbatch("-p", "late", script="hostname"), 60)
    assert out.strip() == "dyn1"
    delete(c, "dyn1")
    wait_no_vm(c, "dyn1")
    assert c.wait_job(c.sbatch("-N1", script="hostname"), 60).strip() == "vm001"
    c.restart_slurmctld()
    assert ours(c) == {"vm001"}


def test_nodes_that_come_and_go_are_no_reason_to_try_a_password_again(fresh):
    """vCenter locks an account after a few failures."""
    c = fresh(ready=False, start=False, nodes=1, slurm={"MaxNodeCount": 4})
    c.password = "wrong"
    c.start()
    wait_for("it is refused", 20, lambda: "error: slurm-vsphere" in c.ctld_log())
    wait_for("vCenter has heard of it", 10, lambda: c.calls("Login"))
    for n in range(3):
        c.must("scontrol", "create", f"nodename=other{n}", "CPUs=1",
               "state=future")
        c.must("scontrol", "delete", f"nodename=other{n}")
    c.must("svf", "status")
    assert c.calls("Login") == 1
    c.must("scontrol", "reconfigure")
    wait_for("an operator's word is one", 20, lambda: c.calls("Login") == 2)
