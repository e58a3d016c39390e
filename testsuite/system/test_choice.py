# SPDX-License-Identifier: GPL-2.0-or-later
"""Which nodes a job gets: warm before off before new, within what the
administrator's weights and the job's own words leave open; whole gangs only."""

from cluster import Cluster, wait_for
from worlds import world

NAMES = "srun hostname"


def make_cluster():
    c = Cluster(inventory=world(hosts=2, vfs=4), nodes=8)
    c.choose_ports()
    c.vsphere = {"ShutdownGrace": 1}
    c.slurm = {"SuspendTimeout": 2}
    c.node_lines = [c.node_line(1, 6, "sriov-roce"),
                    c.node_line(7, 8, "sriov-roce", extra="Weight=10")]
    return c


def ran_on(cluster, *options, timeout=40):
    return set(cluster.wait_job(cluster.sbatch(*options, script=NAMES),
                                timeout).split())


def make_off(cluster, name):
    """A right VM of this node exists, powered off."""
    if not cluster.is_on(name):
        cluster.wait_job(cluster.sbatch("-N1", "-w", name, script="true"))
    cluster.must("scontrol", "update", f"nodename={name}", "state=power_down")
    wait_for(f"{name} is off", 20, lambda: not cluster.is_on(name) and
             set(cluster.node(name)["State"].split("+")) ==
             {"IDLE", "CLOUD", "POWERED_DOWN"})


def test_warm_comes_before_off_and_off_before_new(cluster):
    """All weights are equal, and by name the new ones would come first."""
    make_off(cluster, "vm004")
    assert ran_on(cluster, "-N1", "-w", "vm005") == {"vm005"}
    assert ran_on(cluster, "-N1") == {"vm005"}
    assert cluster.our_vm("vm001") is None
    assert ran_on(cluster, "-N2") == {"vm004", "vm005"}
    assert cluster.our_vm("vm001") is None
    three = ran_on(cluster, "-N3")
    assert three > {"vm004", "vm005"} and len(three) == 3


def test_an_administrators_weight_counts_more_than_a_vm_that_exists(cluster):
    """But what is warm comes first, as Slurm itself has it."""
    make_off(cluster, "vm008")
    warm = cluster.names_on()
    first = {f"vm00{i}" for i in range(1, 7)}
    assert first - warm
    got = ran_on(cluster, "-N1", *(("-x", ",".join(warm)) if warm else ()))
    assert got <= first, "vm008 exists, but its Weight is 10"
    assert ran_on(cluster, "-N1", "-w", "vm007") == {"vm007"}
    others = ",".join(sorted(cluster.names_on() - {"vm007"}))
    assert ran_on(cluster, "-N1", "-x", others) == {"vm007"}


def test_jobs_share_a_vm_and_its_vf(cluster):
    ran_on(cluster, "-N1", "-w", "vm005")
    calls = cluster.mutating()
    jobs = [cluster.sbatch("-n1", "--mem=100", "-w", "vm005",
                           script="echo began; sleep 600") for _ in "ab"]
    for job in jobs:
        cluster.wait_state(job, "RUNNING", 10)
    wait_for("both run", 10, lambda: all("began" in cluster.output(j)
                                         for j in jobs))
    assert cluster.vfs_of(["vm005"]) == 1
    cluster.must("scancel", str(jobs[0]))
    cluster.wait_state(jobs[0], "CANCELLED")
    wait_for("its CPU is free", 10, lambda:
             cluster.node("vm005")["CPUAlloc"] == "1")
    assert cluster.job_state(jobs[1]) == "RUNNING"
    assert cluster.mutating() == calls


def test_a_half_busy_warm_vm_refuses_no_job_that_fits_others(cluster):
    ran_on(cluster, "-N1", "-w", "vm005")
    hog = cluster.sbatch("-n1", "--mem=100", "-w", "vm005", script="sleep 600")
    cluster.wait_state(hog, "RUNNING")
    got = ran_on(cluster, "-N2", "--ntasks-per-node=2", timeout=20)
    assert len(got) == 2 and "vm005" not in got


def test_a_cancelled_job_leaves_the_booting_vm_to_the_one_beside_it(cluster):
    make_off(cluster, "vm006")
    cluster.delay_boot("vm006", 3)
    try:
        a, b = (cluster.sbatch("-n1", "--mem=100", "-w", "vm006",
                               script="hostname") for _ in "ab")
        for job in (a, b):
            cluster.wait_state(job, "CONFIGURING", 10)
        wait_for("the VM boots", 20, lambda: cluster.is_on("vm006"))
        boots = cluster.our_vm("vm006")["boots"]
        cluster.must("scancel", str(b))
        assert cluster.wait_job(a, 30).strip() == "vm006"
        assert cluster.job(a)["Restarts"] == "0"
        assert cluster.our_vm("vm006")["boots"] == boots
    finally:
        cluster.delay_boot("vm006", 0)


def test_a_vm_that_must_be_rebuilt_takes_no_job_beside_a_running_one(cluster):
    """A changed profile waits for the running job; the second job doesn't
    hang on that node, it runs on another."""
    ran_on(cluster, "-N1", "-w", "vm005")
    a = cluster.sbatch("-n1", "--mem=100", "-w", "vm005",
                       script="echo began; sleep 600")
    wait_for("it runs", 10, lambda: "began" in cluster.output(a))
    cluster.change_vsphere("Template=rhel9-ofed",
                           "Template=rhel9-ofed MemoryOverhead=512")
    wait_for("the plugin is ready again", 20,
             lambda: cluster.ctld_log().count("slurm-vsphere: ready:") > 1)
    b = cluster.sbatch("-n1", "--mem=100", "-w", "vm005", script="hostname")
    c = cluster.sbatch("-n1", "--mem=100", script="hostname")
    assert cluster.wait_job(c, 30).strip() != "vm005"
    assert cluster.job_state(b) == "PENDING"
    assert cluster.job_state(a) == "RUNNING"
    cluster.must("scancel", str(a))
    assert cluster.wait_job(b, 40).strip() == "vm005"
