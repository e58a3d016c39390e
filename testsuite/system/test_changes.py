# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs that change while they run: they lose a VM or a host and continue without
it (--no-kill), are made smaller or larger, end sooner or later than was said. The
VFs go with the nodes, and jobs that wait for VFs show the new end."""

import datetime
import re
import time

import pytest

from cluster import Cluster, wait_for
from stages import Held
from worlds import world

NODES = [f"vm00{i}" for i in range(1, 5)]
HOSTNAME = "srun hostname"


def make_cluster():
    """Two VFs, of a host each, for four nodes."""
    c = Cluster(nodes=4, inventory=world(hosts=2, vfs=1))
    c.vsphere = {"ShutdownGrace": 1, "AllowMoreNodesThanVFs": "yes"}
    c.slurm = {"SuspendTimeout": 2, "TCPTimeout": 1,
               "SchedulerParameters": Cluster.scheduler_parameters +
               ",permit_job_expansion,sched_interval=2"}
    return c


def vfs(c):
    """The core's counts of VFs: in use by managed VMs that are on, and reserved."""
    pfs = [pf for h in c.svf("hosts")["hosts"] for pf in h["pfs"]]
    return sum(pf["managed"] for pf in pfs), sum(pf["reserved"] for pf in pfs)


@pytest.fixture(autouse=True)
def all_is_given_back(cluster):
    yield
    cluster.run("scancel", "--user", cluster.user)
    wait_for("the queue is empty", 40, lambda: not cluster.must(
        "squeue", "-h"))
    cluster.must("scontrol", "update", f"nodename={','.join(NODES)}",
                 "state=power_down")
    wait_for("nothing is held, nobody is down", 40, lambda: vfs(cluster) == (
        0, 0) and not cluster.names_on() and all(
            set(s.split("+")) == {"IDLE", "CLOUD", "POWERED_DOWN"}
            for s in cluster.node_states().values()))


def gang(c, *options):
    """On vm001 and vm002: it has both VFs, and its script is on vm001."""
    return Held(c, "-N2", "-w", "vm[001-002]", "--ntasks-per-node=2", *options,
                before="trap 'echo warned; exit 0' USR1; echo began"
                ).wait_running()


def nodes_of(c, job):
    """Where the core believes it to be."""
    return {n["node"] for n in c.svf("why", str(job.id))["nodes"]}


def goes_on_alone(c, job):
    wait_for("it is on the other node alone", 60, lambda: c.job(
        job.id)["NodeList"] == "vm001" and nodes_of(c, job) == {"vm001"})
    job.runs_on()


def test_a_job_with_no_kill_outlives_a_vm_that_somebody_destroys(cluster):
    job = gang(cluster, "--no-kill")
    cluster.do("powerOff", vm="vm002")
    goes_on_alone(cluster, job)
    cluster.do("destroyVm", vm="vm002")
    other = cluster.sbatch("-N1", "-w", "vm003", script=HOSTNAME)
    assert cluster.wait_job(other, 60).split() == ["vm003"]
    assert cluster.vfs_used() == 2
    job.end_well()


def resume(c, node):
    """With ReturnToService=2 an answer of its slurmd that was under way when
    the host was lost has Slurm return the node by itself: then there is no more
    to resume, and Slurm says so."""
    r = c.run("scontrol", "update", f"nodename={node}", "state=resume")
    if r.returncode:
        # ("transition" is 26.05's word)
        assert re.search("Invalid node state (specified|transition)",
                         r.stderr), r.stderr
        assert "DOWN" not in c.node(node)["State"].split("+")


def test_a_job_with_no_kill_outlives_a_host(cluster):
    """Slurm sets the node down after SlurmdTimeout; here the test does it. The
    state of the host's VMs is unknown, and their VFs stay counted, until the host
    is back: then the VM is off, and another job gets its VF."""
    job = gang(cluster, "--no-kill")
    host = cluster.our_vm("vm002")["host"]
    boots = cluster.our_vm("vm001")["boots"]
    cluster.do("failHost", host=host)
    cluster.must("scontrol", "update", "nodename=vm002", "state=down",
                 "reason=its host is lost")
    try:
        goes_on_alone(cluster, job)
        waits = cluster.sbatch("-N1", "-w", "vm003", script=HOSTNAME)
        wait_for("it says why", 20, lambda: "VF" in cluster.squeue(
            waits, "%r"))
        assert cluster.job_state(waits) == "PENDING"
    finally:
        cluster.do("hostState", host=host, state="connected")
        resume(cluster, "vm002")
    assert cluster.wait_job(waits, 60).split() == ["vm003"]
    assert cluster.our_vm("vm003")["host"] == host
    job.end_well()
    assert cluster.our_vm("vm001")["boots"] == boots


def test_the_vf_of_a_node_that_a_job_gives_up_is_anothers(cluster):
    # Slurm 24.11 lets no job shrink that said how many tasks a node has.
    job = Held(cluster, "-N2", "-w", "vm[001-002]").wait_running()
    other = cluster.sbatch("-N1", "-w", "vm003", script=HOSTNAME)
    wait_for("it says why", 20, lambda: "VF" in cluster.squeue(other, "%r"))
    cluster.must("scontrol", "update", f"jobid={job.id}", "numnodes=1")
    assert cluster.wait_job(other, 60).split() == ["vm003"]
    assert nodes_of(cluster, job) == {"vm001"}
    assert not cluster.is_on("vm002")
    job.end_well()


def said_start(c, *options):
    out = c.run("sbatch", "--test-only", *options, "--wrap=true").stderr
    said = re.search(r"to start at (\S+)", out)
    assert said, out
    return datetime.datetime.fromisoformat(said[1])


def minutes_off(c, job, minutes, *options):
    """From that many minutes after the job's start to the start that is said
    for one that needs its VF."""
    began = datetime.datetime.fromisoformat(c.job(job.id)["StartTime"])
    return abs((said_start(c, *options) - began).total_seconds() / 60 -
               minutes)


def expected(c, job):
    """Minutes from now, by what it says."""
    return (c.svf("why", str(job)).get("start_time", 0) - time.time()) / 60


def test_who_waits_hears_of_an_end_that_is_moved_and_gets_the_vf(cluster):
    """Moved by a time limit: later, sooner; then by an end that is as near as
    the job's --signal, which ends it at once."""
    job = gang(cluster, "-t", "30", "--signal=B:USR1@60")
    waits = cluster.sbatch("-N1", "-w", "vm003", "-t", "5", script=HOSTNAME)
    wait_for("its VF comes with the job's end", 30,
             lambda: abs(expected(cluster, waits) - 30) < 2)
    for minutes in (50, 20):
        cluster.must("scontrol", "update", f"jobid={job.id}",
                     f"timelimit={minutes}")
        wait_for(f"who asks hears of {minutes} minutes", 8, lambda m=minutes:
                 minutes_off(cluster, job, m, "-N1", "-w", "vm004", "-t", "5",
                             "--priority=999999") < 2)
    end = datetime.datetime.now() + datetime.timedelta(seconds=50)
    cluster.must("scontrol", "update", f"jobid={job.id}",
                 f"endtime={end.isoformat(timespec='seconds')}")
    assert "warned" in cluster.wait_job(job.id, 60)
    assert cluster.wait_job(waits, 60).split() == ["vm003"]
