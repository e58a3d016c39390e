# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever Slurm schedules: what waits holds no VF, what may begin has its VMs,
what ends leaves none behind. More names than VFs, Ethernet and a node that is
no VM beside them."""

import pytest

from cluster import Cluster, wait_for
from stages import Held, nobody_down
from worlds import ROCE_AND_ETH, world

ROCE = {f"vm00{i}" for i in range(1, 7)}
ETH = {"vm007", "vm008"}
METAL = "vm009"
HOSTNAMES = "srun hostname"


def make_cluster():
    c = Cluster(nodes=9, inventory=world(hosts=2, vfs=2))
    c.choose_ports()
    c.vsphere = {"ShutdownGrace": 1, "AllowMoreNodesThanVFs": "yes",
                 "lines": ROCE_AND_ETH}
    c.slurm = {"SuspendTimeout": 2, "Licenses": "tool:1"}
    c.node_lines = [c.node_line(1, 6, "sriov-roce"),
                    c.node_line(7, 8, "vmxnet3"),
                    c.node_line(9, 9, "metal").replace("CLOUD", "UNKNOWN")]
    c.partition_lines = ["PartitionName=roce Nodes=vm[001-006] Default=YES",
                         "PartitionName=eth Nodes=vm[007-008]",
                         "PartitionName=small Nodes=vm[001-006] MaxNodes=2",
                         "PartitionName=all Nodes=ALL"]
    return c


def holds_nothing(c):
    """VFs are in use by VMs that are on, and none is reserved for a job."""
    pfs = [pf for h in c.svf("hosts")["hosts"] for pf in h["pfs"]]
    return sum(pf["reserved"] for pf in pfs) == 0 and \
        sum(pf["managed"] for pf in pfs) == c.vfs_used() == \
        len(c.names_on() & ROCE)


@pytest.fixture(autouse=True)
def nothing_is_left(cluster):
    yield
    wait_for("no VF is held for nobody", 30, lambda: holds_nothing(cluster))
    nobody_down(cluster)


def says(c, job, word):
    return wait_for(f"JobId={job} waits for {word}", 20,
                    lambda: word in c.squeue(job, "%r"))


def cycle(c):
    """The scheduler has looked at the queue once more."""
    c.wait_job(c.sbatch("-p", "eth", "-N1", "-w", "vm007", script="true"), 60)


def test_an_array_with_a_limit_uses_no_more_vfs_than_that(cluster):
    """Six tasks of a whole node, two at a time, though four could run. (Where one
    follows another, its node may be a new one: the old one is completing.)"""
    go = cluster.path("out", "limit-go")
    job = cluster.sbatch("-n2", "--array=1-6%2", "-o",
                         cluster.path("out", "limit-%a.out"),
                         script=f"date +%s.%N; while [ ! -f {go} ]; do sleep "
                                "0.2; done; sleep 0.4; date +%s.%N")
    files = [cluster.path("out", f"limit-{i}.out") for i in range(1, 7)]

    def spans(words):
        got = [f.read_text().split() for f in files if f.exists()]
        return [s for s in got if len(s) == words]
    wait_for("two tasks run", 60, lambda: len(spans(1)) == 2)
    says(cluster, job, "JobArrayTaskLimit")
    cycle(cluster)
    assert cluster.vfs_used() == 2 and holds_nothing(cluster)
    go.touch()
    got = wait_for("all tasks have run", 60,
                   lambda: len(spans(2)) == 6 and spans(2))
    at = [(float(a), float(b)) for a, b in got]
    assert max(sum(a <= t < b for a, b in at) for t, _ in at) == 2
    wait_for("the array is done", 20, lambda: not cluster.run(
        "squeue", "-h", "-j", str(job)).stdout.strip())


def test_what_waits_for_something_else_holds_no_vf(cluster):
    """Held, for its time, for another job, for its name, a licence, its
    partition's limit: each begins when that is over, and no VM sooner."""
    first = Held(cluster, "-N1", "-L", "tool:1", "-J", "one").wait_running()
    calls, on = cluster.mutating(), cluster.names_on()
    held = cluster.sbatch("-H", "-N1", script=HOSTNAMES)
    later = cluster.sbatch("--begin=now+1hour", "-N1", script=HOSTNAMES)
    after = cluster.sbatch(f"--dependency=afterok:{first.id}", "-N1",
                           script=HOSTNAMES)
    never = cluster.sbatch(f"--dependency=afternotok:{first.id}", "-N1")
    same = cluster.sbatch("-J", "one", "--dependency=singleton", "-N1",
                          script=HOSTNAMES)
    tool = cluster.sbatch("-L", "tool:1", "-N1", script=HOSTNAMES)
    wide = cluster.sbatch("-p", "small", "-N3", script=HOSTNAMES)
    waiting = {held: "JobHeld", later: "BeginTime", after: "Dependency",
               never: "Dependency", same: "Dependency", tool: "Licenses",
               wide: "PartitionNodeLimit"}
    for job, why in waiting.items():
        says(cluster, job, why)
    assert cluster.mutating() == calls and cluster.names_on() == on
    assert holds_nothing(cluster)
    first.end_well()
    cluster.must("scontrol", "release", str(held))
    cluster.must("scontrol", "update", f"jobid={later}", "starttime=now")
    cluster.must("scontrol", "update", f"jobid={wide}", "numnodes=2-2")
    for job in waiting:
        if job != never:
            n = 2 if job == wide else 1
            assert len(set(cluster.wait_job(job, 60).split())) == n
    says(cluster, never, "DependencyNeverSatisfied")


def test_a_job_gets_as_many_nodes_of_its_range_as_there_are_vfs(cluster):
    hog = Held(cluster, "-n2").wait_running()
    out = cluster.wait_job(cluster.sbatch("-N2-6", "-n6", script="srun -n "
                                          "$SLURM_JOB_NUM_NODES hostname"), 60)
    assert len(set(out.split())) == 3
    some = cluster.wait_job(cluster.sbatch(
        "-n3", "--ntasks-per-node=1", "-x", "vm003", script=HOSTNAMES), 60)
    assert len(set(some.split())) == 3 and "vm003" not in some
    assert cluster.vfs_used() == 4
    hog.end_well()


def test_nodes_that_are_no_vms_fill_up_what_vfs_cannot(cluster):
    """Nine names: four of the six with a VF can be had at once."""
    cluster.start_static_slurmd(METAL)
    try:
        wait_for("it has registered", 20, lambda: cluster.node(METAL)["State"]
                 .startswith("IDLE"))
        r = cluster.sbatch("-p", "all", "-N8", expect=False)
        assert "configuration is not available" in r.stderr
        seven = cluster.sbatch("-p", "all", "-N7", script=HOSTNAMES)
        got = set(cluster.wait_job(seven, 60).split())
        assert got >= ETH | {METAL} and len(got & ROCE) == 4
    finally:
        cluster.must("scontrol", "update", f"nodename={METAL}", "state=down",
                     "reason=test")
        cluster.daemons.pop(f"slurmd-{METAL}").end(grace=2)
        # The late answer to a ping may have done it.
        cluster.run("scontrol", "update", f"nodename={METAL}", "state=resume")
        wait_for("it is in service", 20, lambda: cluster.node(METAL)["State"]
                 .startswith("IDLE"))


def test_a_waiting_job_that_is_changed_gets_what_it_asks_for_then(cluster):
    hogs = [Held(cluster, "-n2") for _ in "ab"]
    for hog in hogs:
        hog.wait_running()
    fewer = cluster.sbatch("-N3", script=HOSTNAMES)
    other = cluster.sbatch("-N3", "-C", "sriov-roce", script=HOSTNAMES)
    says(cluster, fewer, "VF")
    assert cluster.job_state(other) == "PENDING"
    # Without accounting a new partition may be refused with an errno that
    # slurmctld's thread has left from something else.
    wait_for("Slurm takes it", 10, lambda: cluster.must(
        "scontrol", "update", f"jobid={other}", "partition=all",
        "features=vmxnet3", "numnodes=2-2") or True)
    assert set(cluster.wait_job(other, 60).split()) == ETH
    cluster.must("scontrol", "update", f"jobid={fewer}", "numnodes=2-2")
    assert set(cluster.wait_job(fewer, 60).split()) < ROCE
    for hog in hogs:
        hog.end_well()


def reserve(cluster, name, nodes, *more, start="now"):
    cluster.must("scontrol", "create", "reservation", f"reservationname={name}",
                 f"starttime={start}", "duration=60", "users=root",
                 f"nodes={nodes}", *more)


def test_reserved_nodes_have_vfs_for_their_jobs(cluster):
    """Of four VFs all are with idle VMs: one in a reservation for maintenance,
    where no job may use it, others on nodes that are not reserved."""
    cluster.wait_job(cluster.sbatch("-N4", "-w", "vm[001-004]",
                                    script="true"), 90)
    assert cluster.vfs_used() == 4
    reserve(cluster, "r1", "vm005")
    reserve(cluster, "r2", "vm001", "flags=maint,ignore_jobs")
    reserve(cluster, "r3", "vm006", "flags=flex", start="now+1hour")
    try:
        barred = cluster.sbatch("-N1", "-w", "vm005", script=HOSTNAMES)
        out = cluster.wait_job(cluster.sbatch("--reservation=r1", "-N1",
                                              script=HOSTNAMES), 60)
        assert out.split() == ["vm005"]
        assert cluster.job_state(barred) == "PENDING"
        # over before r3 begins, and before the first one's turn comes: with
        # both there are not VFs enough for it
        three = cluster.sbatch("-N3", "-t", "30", "-x", "vm[005-006]",
                               script=HOSTNAMES)
        assert set(cluster.wait_job(three, 60).split()) <= {
            "vm002", "vm003", "vm004"}
        early = cluster.sbatch("--reservation=r3", "-N2", "-t", "120",
                               "-w", "vm006", script=HOSTNAMES)
        assert "vm006" in cluster.wait_job(early, 60).split()
        assert cluster.job_state(barred) == "PENDING"
    finally:
        cluster.must("scancel", str(barred))
        for name in ("r1", "r2", "r3"):
            cluster.must("scontrol", "delete", f"reservationname={name}")


def test_a_suspended_job_keeps_its_vms_and_ends_well(cluster):
    """Its VFs too. Its cores are counted as Slurm counts them: given away while an
    operator has suspended it, and its own again from scontrol resume on, whatever
    is reconfigured meanwhile."""
    job = Held(cluster, "-N2", "--ntasks-per-node=2").wait_running()
    mine = {n["node"] for n in cluster.svf("why", str(job.id))["nodes"]}
    boots = {n: cluster.our_vm(n)["boots"] for n in mine}

    def cores():
        return {cluster.node(n)["CPUAlloc"] for n in mine}

    assert cores() == {"2"}
    cluster.must("scontrol", "suspend", str(job.id))
    cluster.wait_state(job.id, "SUSPENDED")
    assert cores() == {"0"}
    cluster.must("scontrol", "reconfigure")
    assert cores() == {"0"}
    wide = cluster.sbatch("-N3", "--ntasks-per-node=2", script=HOSTNAMES)
    says(cluster, wide, "VF")
    cycle(cluster)
    assert cluster.vfs_of(mine) == 2
    cluster.must("scancel", str(wide))
    cluster.must("scontrol", "resume", str(job.id))
    cluster.wait_state(job.id, "RUNNING")
    assert cores() == {"2"}
    assert "job overflow" not in cluster.ctld_log()
    assert cluster.vfs_of(mine) == 2
    job.end_well()
    assert {n: cluster.our_vm(n)["boots"] for n in mine} == boots
