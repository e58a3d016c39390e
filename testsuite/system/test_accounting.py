# SPDX-License-Identifier: GPL-2.0-or-later
"""VFs in Slurm's accounting, with a real slurmdbd and MariaDB: license/vf of
each job is what it got, whatever it asked for; reports, limits and fair share
go by it."""

import json
import os
import re
import time

import pytest

import accounting
from cluster import Cluster, patience, wait_for
from stages import Held, nobody_down
from users import DAEMON, as_user, needs_root
from worlds import ROCE, host, world

pytestmark = pytest.mark.skipif(bool(accounting.missing()),
                                reason=f"needs {accounting.missing()}")
HOSTNAMES = "srun hostname"
# slurmctld's first start makes the TRES known.
LIMITS = ["modify qos four set grptres=license/vf=4",
          "modify qos two set grptres=license/vf=2",
          "modify qos each set maxtresperuser=license/vf=1",
          "modify account few set grptres=license/pair=2"]
USER2 = "daemon"                # Slurm 26.05 takes user 65534 for no user
CLONE, ON = 1.5, 0.7            # s, in this vCenter


def allocated(show):
    """Of scontrol show job; newer Slurm tells what is asked apart."""
    return show["AllocTRES"] if "AllocTRES" in show else show["TRES"]


def two_pfs(name):
    h = host(name, vfs=3)
    h["pnics"].append({"device": "vmnic5", "pci": "0000:5e:00.0", "numa": 1,
                       "speedMb": 100000, "switch": "dvs-roce", "rdma": True,
                       "sriov": {"vfs": 3, "max": 16}})
    return h


def make_cluster():
    """Four nodes of one VF, two of two VFs, two without."""
    c = accounting.AccountedCluster(nodes=8, inventory=world(
        hosts=[two_pfs(f"esx0{i}.example.org") for i in (1, 2)],
        durations={"CloneVM_Task": f"{CLONE}s", "PowerOnVM_Task": f"{ON}s"}))
    c.accounts = [
        "add cluster vstest",
        "add qos four,two,each",
        f"add user {c.user} account=root" if c.user != "root" else "",
        "add account heavy description=a organization=a fairshare=10",
        "add account light description=a organization=a fairshare=10",
        "add account few description=a organization=a",
        *(f"add user {c.user} account={a}" for a in ("heavy", "light", "few")),
        f"add user {USER2} account=few",
        f"modify user {c.user} set qos+=four,two,each",
        f"modify user {USER2} set qos+=each",
    ]
    c.accounts = [line for line in c.accounts if line]
    c.choose_ports()
    c.vsphere = {"ShutdownGrace": 1, "SaveToAdminComment": "yes", "lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        f"AdapterName=sriov-roce Type=sriov Network={ROCE} MTU=9000",
        f"AdapterName=pair Type=sriov Network={ROCE} MTU=9000 NICsPerNode=2",
        "AdapterName=vmxnet3 Type=vmxnet3 Network=VM-PG",
        *(f"PartitionName={p} Adapter={a} Template=rhel9-ofed"
          for p, a in (("roce", "sriov-roce"), ("two", "pair"),
                       ("eth", "vmxnet3")))]}
    c.slurm = {"SuspendTimeout": 2, "Licenses": "vf:8,pair:4,other:3",
               "AccountingStorageTRES": "license/vf,license/pair",
               "AccountingStorageEnforce": "limits,qos",
               "AccountingStoreFlags": "job_comment",
               "PriorityType": "priority/multifactor",
               "PriorityWeightFairshare": 100000,
               "PriorityDecayHalfLife": "1-0",
               "SchedulerParameters": Cluster.scheduler_parameters +
               ",sched_interval=2,permit_job_expansion"}
    c.node_lines = [c.node_line(1, 4, "sriov-roce"), c.node_line(5, 6, "pair"),
                    c.node_line(7, 8, "vmxnet3")]
    weights = 'TRESBillingWeights="CPU=0,License/vf=1000"'
    c.partition_lines = [
        f"PartitionName=roce Nodes=vm[001-004] Default=YES {weights}",
        f"PartitionName=two Nodes=vm[005-006] {weights}",
        f"PartitionName=eth Nodes=vm[007-008] {weights}",
        f"PartitionName=all Nodes=ALL {weights}"]
    return c


def licenses(tres):
    """{"vf": 2} of "billing=..,license/vf=2,..."."""
    return {k[len("license/"):]: int(v) for k, v in (
        one.split("=") for one in tres.split(",") if one)
        if k.startswith("license/")}


def accounted(c, job):
    """As the database has it, once the job has ended there."""
    wait_for(f"the database has the end of {job}", 30, lambda: c.sacct(
        job, "State").get("State", "").split(" ")[0] not in (
            "", "PENDING", "RUNNING"))
    return licenses(c.sacct(job, "AllocTRES")["AllocTRES"])


def all_accounted(c, job, n):
    """Of all n tasks or parts, in their order."""
    def rows():
        out = c.must("sacct", "-X", "-P", "-n", "-j", str(job), "-o",
                     "State,AllocTRES").splitlines()
        return [line.split("|")[1] for line in out
                if line.startswith("COMPLETED")]
    wait_for(f"the database has {n} ends", 30, lambda: len(rows()) == n)
    return [licenses(r) for r in rows()]


def in_use(c):
    """{"vf": 3}, by scontrol show licenses."""
    lines = c.must("scontrol", "-o", "show", "licenses").splitlines()
    rows = [dict(f.split("=", 1) for f in line.split()) for line in lines]
    return {r["LicenseName"]: int(r["Used"]) for r in rows
            if "LicenseName" in r}


def all_returned(c):
    wait_for("no license is in use", 20, lambda: set(
        in_use(c).values()) == {0})


@pytest.fixture(scope="module", autouse=True)
def limits(cluster):
    cluster.sacctmgr(*LIMITS)


@pytest.fixture(autouse=True)
def nothing_left(cluster):
    yield
    cluster.run("scancel", "--user", f"{cluster.user},{USER2}")
    all_returned(cluster)


def took(c, job):
    """{"waited_s": 0.0, "cold": 1.0, ...} of its record in the database."""
    words = c.sacct(job, "AdminComment")["AdminComment"].split()
    return {k: float(v) for k, v in (w.split("=") for w in words if "=" in w)
            if k.endswith("_s") or k == "cold"}


def test_what_its_vms_took_is_apart_from_a_jobs_run_time(cluster):
    """Of a node that has no VM yet, and of the same when it is warm."""
    def ran():
        job = cluster.sbatch("-N1", "-w", "vm004", script="sleep 1")
        cluster.wait_job(job, 60)
        accounted(cluster, job)
        row = cluster.sacct(job, "ElapsedRaw", "AdminComment")
        said = row["AdminComment"]
        assert said.startswith("vsphere: adapter=sriov-roce vm004=esx0")
        assert said == cluster.job(job)["SystemComment"].strip()
        line = [x for x in cluster.ctld_log().splitlines()
                if f"JobId={job} all nodes are up" in x][-1]
        assert line.split(" waited_s=")[1] == said.split(" waited_s=")[1]
        return took(cluster, job), int(row["ElapsedRaw"])

    began = time.monotonic()
    cold, ran_s = ran()
    whole = time.monotonic() - began
    assert cold["cold"] == 1 and cold["waited_s"] == 0
    assert CLONE <= cold["clone_s"] <= CLONE + patience()
    assert ON <= cold["power_on_s"] <= ON + patience()
    steps = cold["clone_s"] + cold["power_on_s"] + cold["boot_s"]
    assert cold["boot_s"] > 0
    assert CLONE + ON <= steps <= cold["provision_s"] + 0.2
    assert cold["provision_s"] + 1 <= whole
    assert ran_s <= 1 + patience()  # the second that it slept, and no boot
    warm, ran_s = ran()
    assert warm["cold"] == 0 and warm["provision_s"] <= patience() and \
        ran_s <= 1 + patience()
    assert set(warm) == {"waited_s", "provision_s", "cold"}


def test_what_an_administrator_wrote_of_a_job_stays(cluster):
    job = cluster.sbatch("-H", "-N1", script="true")
    cluster.must("scontrol", "update", f"jobid={job}", "admincomment=mine")
    cluster.must("scontrol", "release", str(job))
    cluster.wait_job(job, 60)
    accounted(cluster, job)
    assert cluster.sacct(job, "AdminComment") == {"AdminComment": "mine"}
    assert "provision_s=" in cluster.job(job)["SystemComment"]


@pytest.mark.parametrize("options, got", [
    (["-N2"], {"vf": 2}),
    (["-N1", "-p", "two"], {"vf": 2, "pair": 2}),
    (["-N1", "-p", "eth"], {}),
    (["-N1-3"], {"vf": 3}),
    (["-n3", "--ntasks-per-node=1"], {"vf": 3}),
    (["-N1", "-p", "all", "-C", "vmxnet3|pair", "-w", "vm006"],
     {"vf": 2, "pair": 2}),
    (["-N3", "-p", "all", "-C", "[sriov-roce*2&pair*1]"],
     {"vf": 4, "pair": 2}),
    (["-N1", "-p", "roce,eth", "-w", "vm008"], {}),
    (["-N1", "-L", "other:2"], {"vf": 1}),
    (["-N1", "-L", "vf:3,other"], {"vf": 1}),
], ids=["two", "pair", "eth", "range", "tasks", "or", "counted", "partitions",
        "licenses", "asked"])
def test_what_a_job_got_is_in_the_database(cluster, options, got):
    job = cluster.sbatch(*options, script=HOSTNAMES)
    cluster.wait_job(job, 60)
    assert accounted(cluster, job) == got
    nobody_down(cluster)


def test_a_license_of_the_users_own_stays_with_the_job(cluster):
    job = Held(cluster, "-N1", "-L", "other:2").wait_running()
    assert in_use(cluster) == {"vf": 1, "pair": 0, "other": 2}
    assert set(cluster.job(job.id)["Licenses"].split(",")) == {
        "other:2", "vf:1"}
    cluster.must("scontrol", "requeue", str(job.id))
    wait_for("it is back in the queue", 20, lambda: cluster.job(
        job.id)["JobState"] == "PENDING")
    wait_for("nothing is said of what it had", 20, lambda: "vsphere" not in
             cluster.job(job.id).get("AdminComment", ""))
    wait_for("it has none of ours", 20, lambda: cluster.job(
        job.id)["Licenses"] == "other:2")
    all_returned(cluster)
    cluster.must("scancel", str(job.id))


def test_each_task_of_an_array_and_part_of_a_het_job_counts(cluster):
    array = cluster.sbatch("-N1", "-a", "1-3", script=HOSTNAMES)
    wait_for("the array is through", 90, lambda: cluster.run(
        "squeue", "-h", "-j", str(array)).stdout.strip() == "")
    assert all_accounted(cluster, array, 3) == [{"vf": 1}] * 3
    het = cluster.sbatch("-N2", ":", "-N1", "-p", "two", script=HOSTNAMES)
    cluster.wait_job(het, 90)
    assert all_accounted(cluster, het, 2) == [
        {"vf": 2}, {"vf": 2, "pair": 2}]


def test_jobs_that_share_a_vm_begin_beside_each_other(cluster):
    """And steps of one job do: nothing is scheduled by these licenses."""
    both = [Held(cluster, "-n1", "--mem=100", "-w", "vm001").wait_running()
            for _ in "ab"]
    assert in_use(cluster)["vf"] == 2
    for job in both:
        job.end_well()
        assert accounted(cluster, job.id) == {"vf": 1}
    job = cluster.sbatch("-N1", "-n2", script=(
        "srun -n1 --mem=100 --exact bash -c 'touch a.$SLURM_JOB_ID; while [ ! -f "
        "b.$SLURM_JOB_ID ]; do sleep 0.1; done' &\n"
        "srun -n1 --mem=100 --exact bash -c 'touch b.$SLURM_JOB_ID; while [ ! -f "
        "a.$SLURM_JOB_ID ]; do sleep 0.1; done' &\nwait"))
    cluster.wait_job(job, 60)


def test_more_jobs_than_licenses_there_are(cluster):
    """The number in Licenses= bounds nothing: 12 uses of 8."""
    jobs = [Held(cluster, "-N4", "--ntasks-per-node=1", "--mem=100")
            for _ in "ab"]
    jobs.append(Held(cluster, "-N2", "-p", "two"))
    for job in jobs:
        job.wait_running(90)
    assert in_use(cluster)["vf"] == 12
    for job in jobs:
        job.end_well()


def test_a_job_that_loses_a_node_counts_what_is_left(cluster):
    job = Held(cluster, "-N3").wait_running()
    cluster.must("scontrol", "update", f"jobid={job.id}", "numnodes=2")
    assert licenses(allocated(cluster.job(job.id))) == {"vf": 2}
    assert in_use(cluster)["vf"] == 2
    job.let_go()
    cluster.wait_job(job.id, 40)


def test_a_job_whose_licenses_were_taken_off_counts_again_when_it_shrinks(
        cluster):
    """Slurm lets its owner do that to a running job."""
    job = Held(cluster, "-N3").wait_running()
    cluster.must("scontrol", "update", f"jobid={job.id}", "licenses=")
    assert in_use(cluster)["vf"] == 0
    cluster.must("scontrol", "update", f"jobid={job.id}", "numnodes=2")
    assert licenses(allocated(cluster.job(job.id))) == {"vf": 2}
    assert in_use(cluster)["vf"] == 2
    job.let_go()
    cluster.wait_job(job.id, 40)


def test_a_job_that_grows_by_anothers_nodes_counts_them(cluster):
    """And nothing of it is left when it has ended."""
    job = Held(cluster, "-N1").wait_running()
    said = cluster.run("salloc", "--no-shell", "-N2", "-d",
                       f"expand:{job.id}").stderr
    more = re.search(r"allocation (\d+)", said)
    assert more, said
    assert in_use(cluster)["vf"] == 3
    cluster.must("scontrol", "update", f"jobid={more[1]}", "NumNodes=0")
    wait_for("it has grown", 20,
             lambda: cluster.job(job.id)["NumNodes"] == "3")
    assert licenses(allocated(cluster.job(job.id))) == {"vf": 3}
    assert in_use(cluster)["vf"] == 3
    cluster.must("scancel", str(job.id))
    all_returned(cluster)


def test_a_running_job_keeps_its_count_over_a_restart(cluster):
    """And over a reconfigure; and gives back just that."""
    job = Held(cluster, "-N2").wait_running()
    other = Held(cluster, "-N1", "-p", "two").wait_running()
    cluster.must("scontrol", "reconfigure")
    wait_for("all are in use", 20, lambda: in_use(cluster)["vf"] == 4)
    cluster.restart_slurmctld()
    wait_for("all are in use", 20, lambda: in_use(cluster)["vf"] == 4)
    assert licenses(allocated(cluster.job(job.id))) == {"vf": 2}
    job.end_well()
    wait_for("two are in use", 20, lambda: in_use(cluster)["vf"] == 2)
    assert in_use(cluster)["pair"] == 2
    other.end_well()


def findings(c):
    """Newer Slurm begins a new slurmctld to reconfigure: it may not answer yet."""
    r = c.run("svf", "--json", "check")
    assert r.returncode in (0, 1), r.stderr
    return json.loads(r.stdout)["findings"]


def test_without_the_license_nothing_is_counted_and_check_says_so(cluster):
    f = cluster.path("etc", "slurm.conf")
    text = f.read_text()
    f.write_text(text.replace("Licenses=vf:8,pair:4,", "Licenses="))
    try:
        cluster.must("scontrol", "reconfigure")
        wait_for("svf check says it", 30, lambda: [
            f for f in findings(cluster) if f["code"] == "slurm-vf-license" and
            "add to Licenses=: vf:N" in f["fix"]])
        job = cluster.sbatch("-N1", "-L", "other", script=HOSTNAMES)
        cluster.wait_job(job, 60)
        assert accounted(cluster, job) == {}
        assert cluster.job(job)["Licenses"] == "other"
    finally:
        f.write_text(text)
        cluster.must("scontrol", "reconfigure")
    job = cluster.sbatch("-N1", script=HOSTNAMES)
    cluster.wait_job(job, 60)
    assert accounted(cluster, job) == {"vf": 1}


# ---- limits -----------------------------------------------------------------------


def held_vfs(c):
    return sum(pf["reserved"] for h in c.svf("hosts")["hosts"] for pf in h["pfs"])


def limited(c, job, why):
    wait_for(f"JobId={job} waits for {why}", 30,
             lambda: c.squeue(job, "%r") == why)
    held = held_vfs(c)
    seen = c.ctld_log().count("Running job scheduler")
    wait_for("the scheduler has looked", 30, lambda: c.ctld_log().count(
        "Running job scheduler") > seen + 1)
    show = c.job(job)
    assert (show["JobState"], show["Reason"]) == ("PENDING", why)
    assert held_vfs(c) == held


@pytest.mark.parametrize("first, second, why", [
    (["-N3", "-q", "four"], ["-N2", "-q", "four"], "QOSGrpLicense"),
    (["-N1", "-q", "each"], ["-N1", "-q", "each"], "QOSMaxLicensePerUser"),
    (["-N1", "-p", "two", "-A", "few"], ["-N1", "-p", "two", "-A", "few"],
     "AssocGrpLicense")], ids=["qos", "user", "association"])
def test_a_limit_on_vfs_holds_a_job_until_those_before_it_end(
        cluster, first, second, why):
    one = Held(cluster, *first).wait_running()
    job = cluster.sbatch(*second, script=HOSTNAMES)
    limited(cluster, job, why)
    free = cluster.sbatch("-N1", "-p", "eth", *second[-2:], script=HOSTNAMES)
    cluster.wait_job(free, 60)      # without VFs the limit is none of its
    one.end_well()
    cluster.wait_job(job, 60)


def test_a_limit_looks_at_what_the_job_would_get(cluster):
    """Two VFs are one node of a pair; where one partition is over the limit,
    the next one isn't."""
    held = Held(cluster, "-N1", "-q", "two").wait_running()
    job = cluster.sbatch("-N1", "-q", "two", "-p", "two", script=HOSTNAMES)
    limited(cluster, job, "QOSGrpLicense")
    ladder = cluster.sbatch("-N1", "-q", "two", "-p", "two,eth",
                            script=HOSTNAMES)
    assert cluster.wait_job(ladder, 60).split()[0] in ("vm007", "vm008")
    held.end_well()
    cluster.wait_job(job, 60)


# ---- reports and fair share --------------------------------------------------------


def stamp(t):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(t))


def usage(c, user, hour):
    """license/vf seconds of a user in that hour, by sreport."""
    out = c.must("sreport", "-n", "-P", "-t", "seconds", "-T", "license/vf",
                 "cluster", "AccountUtilizationByUser",
                 f"start={stamp(hour)}", f"end={stamp(hour + 3600)}",
                 "format=Login,Used")
    rows = [line.split("|") for line in out.splitlines()]
    return sum(int(n) for login, n in rows if login == user)


@needs_root
def test_reports_tell_users_apart_by_their_vfs(cluster):
    """Slurm sums up whole hours: what these jobs did is moved to one that had
    ended before the cluster began, with its times as they are. (The hour of the
    other jobs here may end meanwhile.)"""
    def ran(*options):
        job = cluster.sbatch("-D", "/", "-o", "/dev/null", *options,
                             script="sleep 2")
        wait_for(f"{job} is through", 60, lambda: cluster.job_state(job) ==
                 "COMPLETED")
        accounted(cluster, job)
        return job, int(cluster.sacct(job, "ElapsedRaw")["ElapsedRaw"])

    mine, took = ran("-N2")
    theirs, their = ran(f"--uid={DAEMON}", f"--gid={DAEMON}", "-A", "few",
                        "-N1", "-p", "two")
    ran(f"--uid={DAEMON}", f"--gid={DAEMON}", "-A", "few", "-N1", "-p", "eth")
    jobs = f"{mine},{theirs}"
    hour = int(time.time()) // 3600 * 3600 - 6 * 3600
    moved = ", ".join(f"{t}={t}+{hour + 600}-time_start"
                      for t in ("time_submit", "time_eligible", "time_end"))
    cluster.change_database(
        f"update vstest_job_table set {moved} where id_job in ({jobs});\n"
        f"update vstest_job_table set time_start={hour + 600} "
        f"where id_job in ({jobs});\n"
        f"update vstest_event_table set time_start={hour} where node_name='' "
        "order by time_start limit 1;")
    cluster.must("sacctmgr", "-i", "rollup", stamp(hour))
    assert usage(cluster, cluster.user, hour) == 2 * took
    assert usage(cluster, USER2, hour) == 2 * their
    out = cluster.must("sreport", "-n", "-P", "-T", "license/vf", "-t",
                       "seconds", "user", "topusage", f"start={stamp(hour)}",
                       f"end={stamp(hour + 3600)}", "format=Login,Used")
    assert cluster.user in out and USER2 in out


def raw_usage(c, account):
    out = c.must("sshare", "-n", "-P", "-A", account, "-u", c.user, "-o",
                 "Account,User,RawUsage")
    for line in out.splitlines():
        name, user, usage_ = [f.strip() for f in line.split("|")]
        if name == account and user == c.user:
            return int(usage_)
    raise AssertionError(out)


def test_fair_share_goes_by_the_vfs_that_were_used(cluster):
    """Two accounts with equal shares and equal jobs, of which one used VFs."""
    def run(account, partition):
        job = cluster.sbatch("-N1", "-A", account, "-p", partition,
                             script="sleep 2")
        cluster.wait_job(job, 60)
        return int(cluster.sacct(job, "ElapsedRaw")["ElapsedRaw"])

    before, light = (raw_usage(cluster, a) for a in ("heavy", "light"))
    elapsed = run("heavy", "roce")
    run("light", "eth")
    wait_for("it is in the sums", 30,
             lambda: raw_usage(cluster, "heavy") > before)
    used = raw_usage(cluster, "heavy") - before
    assert abs(used - 1000 * elapsed) <= 1500
    assert raw_usage(cluster, "light") <= light
    # Slurm works out the shares every PriorityCalcPeriod, and when it starts.
    cluster.restart_slurmctld()

    def priority(account):
        job = cluster.sbatch("-N1", "-A", account, "-p", "eth")
        return int(cluster.job(job)["Priority"])
    wait_for("it is in the priorities", 30,
             lambda: 0 < priority("heavy") < priority("light"))


@needs_root
def test_an_operator_in_slurmdbd_may_give_orders(cluster):
    """And who was one may no longer."""
    def order():
        return as_user(cluster, DAEMON, "svf", "host", "drain",
                       "esx01.example.org")

    def state():
        return {h["host"]: h["state"] for h in cluster.svf("hosts")["hosts"]}[
            "esx01.example.org"]
    wait_for("the hosts are shown", 30, lambda: cluster.svf("status")["up"])
    r = order()
    assert r.returncode == 1 and "operators of Slurm" in r.stderr
    assert state() == "UP"
    cluster.must("sacctmgr", "-i", "modify", "user", USER2, "set",
                 "adminlevel=operator")
    try:
        wait_for("the order is obeyed", 20, lambda: order().returncode == 0)
        assert state() in ("DRAINING", "DRAINED")   # VMs of earlier tests may be on
    finally:
        cluster.must("sacctmgr", "-i", "modify", "user", USER2, "set",
                     "adminlevel=none")
        cluster.must("svf", "host", "resume", "esx01.example.org")
    wait_for("it is refused again", 20, lambda: order().returncode == 1)
    assert state() == "UP"
