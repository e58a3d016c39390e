# SPDX-License-Identifier: GPL-2.0-or-later
"""A cluster of more than VMs: bare metal, a cloud node that a site's own ResumeProgram
serves, and VMs. Power saving is on for partitions alone, as SchedMD advises ("Hybrid
Cluster" in its power saving guide): SuspendTime=INFINITE, and a time in the lines of
the cloud partitions."""

import re
import shlex
import time

import pytest

from cluster import Cluster, Timeout, slurm_binary, wait_for
from stages import Held
from test_bad_input import refuses
from worlds import template, world

METAL, CLOUD = "vm003", "vm004"     # neither is a VM of vCenter

NAMES = "srun printenv SLURMD_NODENAME"

# It knows its own nodes alone, and fails for all others.
SITE_PROGRAM = """#!/bin/bash
# {what} NODES
export PATH=$PATH:/usr/bin:/usr/local/bin:/usr/sbin
echo "{what} $1" >>{calls}
rc=0
for node in $(scontrol show hostnames "$1"); do
    case $node in
    {node}) {action} ;;
    *) rc=1 ;;
    esac
done
exit $rc
"""


def programs(c):
    """The site's: they record what they are called with."""
    env = " ".join(f"{k}={shlex.quote(v)}" for k, v in c.env.items()
                   if k.startswith(("SLURM_", "VS_CLUSTER", "MUNGE", "PATH")))
    pid = c.path("run", "site.pid")
    slurmd = [slurm_binary("slurmd"), "-D", "-b", "-N", CLOUD, "-f",
              str(c.path("etc", "slurm.conf"))]
    up = (f"env {env} setsid {shlex.join(slurmd)} </dev/null "
          f">{c.path('log', 'site.out')} 2>&1 & echo $! >{pid}")
    # SIGTERM is blocked in what slurmctld starts.
    down = f"kill -9 $(cat {pid})"
    for what, action in (("resume", up), ("suspend", down)):
        f = c.path("bin", what)
        f.write_text(SITE_PROGRAM.format(what=what, node=CLOUD, action=action,
                                         calls=c.path("out", "calls")))
        f.chmod(0o755)


class Mixed(Cluster):
    def start(self):
        super().start()
        self.start_static_slurmd(METAL)
        self.wait_node(METAL, lambda s: s == "IDLE", 20, "IDLE")
        return self


def make_cluster():
    c = Mixed(inventory=world(hosts=2, vfs=2), nodes=4)
    c.choose_ports()
    c.vsphere = {"ShutdownGrace": 1}
    c.slurm = {"SuspendTimeout": 2, "SuspendTime": "INFINITE",
               "SuspendProgram": c.path("bin", "suspend"),
               "ResumeProgram": c.path("bin", "resume")}
    c.node_lines = [
        c.node_line(1, 2, "sriov-roce"),
        c.node_line(3, 3, "").replace("State=CLOUD", "State=UNKNOWN"),
        c.node_line(4, 4, "")]
    c.partition_lines = [
        f"PartitionName=metal Nodes={METAL} Default=YES",
        f"PartitionName=cloud Nodes={CLOUD} SuspendTime=5",
        "PartitionName=roce Nodes=vm[001-002] SuspendTime=5",
        "PartitionName=all Nodes=ALL"]
    programs(c)
    return c


def calls(c, what):
    """The nodes of each call of the site's program."""
    f = c.path("out", "calls")
    lines = f.read_text().splitlines() if f.exists() else []
    return [c.must("scontrol", "show", "hostnames", ln.split()[1]).split()
            for ln in lines if ln.startswith(what + " ")]


def called(c, what):
    return {n for names in calls(c, what) for n in names}


def test_power_saving_of_partitions_alone_is_no_finding(cluster):
    codes = {f["code"] for f in cluster.svf("check")["findings"]}
    assert not {c for c in codes if c.startswith("slurm-") and (
        "suspend" in c or "program" in c)}
    shown = cluster.must("scontrol", "show", "config")
    assert re.search(r"^SuspendTime += INFINITE$", shown, re.M)
    assert " error: slurm-vsphere: slurm.conf" not in cluster.ctld_log()


def test_each_node_is_served_by_its_own(cluster):
    """Slurm calls the one ResumeProgram for all nodes that it wakes; that it fails
    for VMs is of no matter."""
    job = cluster.sbatch("-N4", "-p", "all", script=NAMES)
    out = cluster.wait_job(job, 90)
    assert set(out.split()) == {
        "vm001", "vm002", METAL, CLOUD}
    assert called(cluster, "resume") == {"vm001", "vm002", CLOUD}
    assert cluster.names_on() == {"vm001", "vm002"}
    end = time.time()
    wait_for("the VMs and the site's node are powered down", 60, lambda: all(
        cluster.is_powered_down(n) for n in ("vm001", "vm002", CLOUD)))
    wait_for("the VMs are off", 20, lambda: not cluster.names_on())
    assert time.time() - end >= 5, "before SuspendTime"
    assert called(cluster, "suspend") == {"vm001", "vm002", CLOUD}
    # It was idle for as long, and stayed.
    assert cluster.node(METAL)["State"] == "IDLE"
    assert METAL not in called(cluster, "resume") | called(cluster, "suspend")


def test_a_job_of_vms_alone_needs_nothing_of_the_sites_program(cluster):
    before = len(calls(cluster, "resume"))
    cluster.wait_job(cluster.sbatch("-N2", "-p", "roce"), 90)
    assert {n for names in calls(cluster, "resume")[before:] for n in names} \
        == {"vm001", "vm002"}
    assert cluster.is_powered_down(CLOUD), "the site's node was not asked for"


def test_a_job_of_the_sites_node_makes_no_vm(cluster):
    made = cluster.mutating()
    wait_for("no VM is on", 60, lambda: not cluster.names_on() and all(
        cluster.is_powered_down(n) for n in ("vm001", "vm002")))
    made = cluster.mutating()
    cluster.wait_job(cluster.sbatch("-N1", "-p", "cloud"), 60)
    assert cluster.mutating() == made


def test_a_vm_without_suspend_time_stays_on_and_gives_way(fresh):
    """Only another partition has one: no VM is powered down for being idle, but
    one is when a job waits for what it holds."""
    c = fresh(nodes=2, start=False, inventory=world(
        hosts=1, vfs=1, templates=[template(), template("other")]),
        slurm={"SuspendTime": None, "SuspendTimeout": 2})
    c.vsphere = {"ShutdownGrace": 1, "AllowMoreNodesThanVFs": "yes", "lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
        "PartitionName=one Adapter=sriov-roce Template=rhel9-ofed",
        "PartitionName=two Adapter=sriov-roce Template=other"]}
    c.partition_lines = ["PartitionName=one Nodes=vm001 Default=YES",
                         "PartitionName=two Nodes=vm002 SuspendTime=4"]
    c.start()
    c.wait_ready()
    c.wait_job(c.sbatch("-N1", "-p", "one"), 60)
    with pytest.raises(Timeout):
        wait_for("it is powered down", 12, lambda: "POWER" in c.node("vm001")["State"])
    assert c.names_on() == {"vm001"}
    c.wait_job(c.sbatch("-N1", "-p", "two"), 90)
    wait_for("the other's SuspendTime has powered it down", 40,
             lambda: not c.names_on())


# ---- SelectTypeParameters ------------------------------------------------------

TESTED = ["CR_CPU", "CR_Core", "CR_Core_Memory", "CR_Socket_Memory",
          "CR_Core_Memory,CR_ONE_TASK_PER_CORE,CR_CORE_DEFAULT_DIST_BLOCK",
          "CR_Core_Memory,CR_LLN", "CR_Core_Memory,CR_Pack_Nodes"]


@pytest.mark.parametrize("parameters", TESTED)
def test_jobs_share_vms_as_select_type_parameters_say(fresh, parameters):
    """Two jobs on one VM: of its two CPUs each has one, of its memory each wants
    more than half."""
    c = fresh(nodes=2, inventory=world(hosts=1, vfs=2), vsphere={
        "ShutdownGrace": 1}, slurm={"SelectTypeParameters": parameters})
    one = Held(c, "-n1", "--mem=600", "-w", "vm001").wait_running()
    two = Held(c, "-n1", "--mem=600", "-w", "vm001")
    if "Memory" in parameters:
        wait_for("the second waits for memory", 20,
                 lambda: c.squeue(two.id) == "Resources")
        assert c.names_on() == {"vm001"}
        one.end_well()
        two.wait_running()
    else:
        two.wait_running()
        assert c.job_state(one.id) == "RUNNING"
        one.end_well()
    two.end_well()
    out = c.wait_job(c.sbatch("-N2", "-n2", script=NAMES), 60)
    assert set(out.split()) == {"vm001", "vm002"}
    assert c.names_on() == {"vm001", "vm002"}


@pytest.mark.parametrize("parameters", ["CR_Socket", "CR_CPU_Memory"])
def test_select_type_parameters_without_a_test_are_refused(fresh, parameters):
    c = fresh(start=False, nodes=2,
              slurm={"SelectTypeParameters": parameters})
    refuses(c, rf"slurm\.conf: SelectTypeParameters={parameters} is not tested")
