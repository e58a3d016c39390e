# SPDX-License-Identifier: GPL-2.0-or-later
"""A site's first week, Slurm's side: hosts that go into maintenance, now or at a
planned time, and the reservation that says so."""

import time

import pytest

from cluster import Cluster, parse_fields, patience, wait_for
from stages import Held, ready_count, wait_ready_again, wait_saved
from worlds import template, world

E1, E2 = "esx01.example.org", "esx02.example.org"


def make_cluster():
    c = Cluster(nodes=2, inventory=world(hosts=2, vfs=1))
    c.vsphere = {"ShutdownGrace": 1}
    # idle_on_node_suspend makes Slurm itself lift drains at power-down.
    c.slurm = {"SlurmctldParameters": None, "SuspendTime": 300}
    return c


@pytest.fixture(autouse=True)
def hosts_serve(request):
    """What one test has done to a host is no other's matter."""
    yield
    if "cluster" in request.fixturenames:
        c = request.getfixturevalue("cluster")
        for host in (E1, E2):
            c.run("svf", "host", "resume", host)
        c.run("scontrol", "delete", "reservationname=vsphere_mine")


def reservations(c):
    """By name, as scontrol shows them."""
    out = c.run("scontrol", "-o", "show", "reservation").stdout
    rows = [parse_fields(line) for line in out.splitlines()
            if line.startswith("ReservationName=")]
    return {r["ReservationName"]: r for r in rows}


def of_host(c, host):
    return reservations(c).get(f"vsphere_{host}")


def epoch(text):
    return time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))


def row(c, host):
    found = [h for h in c.svf("hosts")["hosts"] if h["host"] == host]
    assert found, f"svf hosts doesn't know {host} (yet)"
    return found[0]


def host_of(c, node):
    vm = c.our_vm(node)
    return vm["host"] if vm and vm["on"] else None


def nodes_off(c):
    c.run("scontrol", "update", "nodename=ALL", "state=power_down")
    wait_for("all are off", 40, lambda: not c.names_on() and all(
        c.is_powered_down(n) for n in c.node_names()))


def flags_of(resv):
    return set(resv["Flags"].split(","))


def test_a_drained_host_is_a_reservation_until_its_last_job_ends(cluster):
    """Safe at T is the job's end; the reservation follows what becomes of it,
    slurmctld's death included, and goes with the VM."""
    c = cluster
    c.must("scontrol", "create", "reservation", "reservationname=vsphere_mine",
           "starttime=now+1hour", "duration=60", "users=root",
           "flags=maint,ignore_jobs", "nodes=vm001")
    job = Held(c, "-N1", "-t", "30").wait_running()
    node = c.job(job.id)["NodeList"]
    host = host_of(c, node)
    end = epoch(c.job(job.id)["EndTime"])
    answer = c.svf("host", "drain", host, "a", "fan")
    assert answer["jobs_remaining"] == 1 and answer["nodes_remaining"] == 1
    # (Slurm counts the time limit again from the launch, a second later.)
    assert abs(answer["safe_at"] - end) <= 2
    assert abs(row(c, host)["safe_at"] - end) <= 2
    resv = wait_for("Slurm shows it", 10, lambda: of_host(c, host))
    assert resv["Nodes"] == node and resv["Users"] == "root"
    assert {"MAINT", "IGNORE_JOBS", "SPEC_NODES"} <= flags_of(resv)
    assert abs(epoch(resv["EndTime"]) - end) <= 60
    assert epoch(resv["StartTime"]) <= time.time()
    assert "1 job on 1 node, safe at" in " ".join(row(c, host)["reasons"])

    c.must("scontrol", "update", f"jobid={job.id}", "timelimit=60")
    wait_for("its end follows the job's", 15, lambda: abs(
        epoch(of_host(c, host)["EndTime"]) - end - 1800) <= 60)

    was = ready_count(c)
    c.kill_slurmctld()
    c.start_slurmctld()
    wait_ready_again(c, was)
    wait_for("it is there after the restart", 15, lambda: of_host(c, host))
    assert set(reservations(c)) == {"vsphere_mine", f"vsphere_{host}"}
    c.must("scontrol", "reconfigure")
    wait_for("it is read anew", 20, lambda: row(c, host).get("safe_at"))
    assert set(reservations(c)) == {"vsphere_mine", f"vsphere_{host}"}
    job.end_well()
    wait_for("it goes with the VM", 40, lambda: not of_host(c, host))
    wait_for("the log says so", 10, lambda: f"host={host} is empty: no managed "
             "VM is on, safe now" in c.ctld_log())
    assert row(c, host)["safe"] and not c.is_on(node)
    c.svf("host", "resume", host)
    wait_for("its node is served again", 30, lambda: "DRAIN" not in
             c.node(node)["State"])
    assert list(reservations(c)) == ["vsphere_mine"]
    c.must("scontrol", "delete", "reservationname=vsphere_mine")
    nodes_off(c)


def test_a_maintenance_that_ends_while_slurmctld_is_dead_leaves_nothing(cluster):
    c = cluster
    job = Held(c, "-N1", "-t", "30").wait_running()
    host = host_of(c, c.job(job.id)["NodeList"])
    c.do("maintenance", host=host)
    wait_for("Slurm shows it", 20, lambda: of_host(c, host))
    wait_saved(c, job.id, c.job(job.id)["NodeList"])
    wait_for("it is saved", 15, lambda: host.encode() in
             c.path("state", "resv_state").read_bytes())
    was = ready_count(c)
    c.kill_slurmctld()
    c.do("maintenance", host=host, mode="cancel")
    seen = len(c.ctld_log())
    c.start_slurmctld()
    assert f"Recovered state of reservation vsphere_{host}" in \
        c.ctld_log()[seen:]
    wait_ready_again(c, was)
    # vCenter shows the task's end with its next slow beat.
    wait_for("ours is gone", 40, lambda: not reservations(c))
    wait_for("nothing is drained", 30, lambda: not [
        n for n in c.node_names() if "DRAIN" in c.node(n)["State"]])
    job.end_well()
    nodes_off(c)


def test_what_somebody_made_his_own_is_left_alone(cluster):
    c = cluster
    job = Held(c, "-N1", "-t", "30").wait_running()
    host = host_of(c, c.job(job.id)["NodeList"])
    c.svf("host", "drain", host)
    wait_for("Slurm shows it", 10, lambda: of_host(c, host))
    c.must("scontrol", "update", f"reservationname=vsphere_{host}",
           "users=root,daemon")
    job.end_well()
    wait_for("the VM is off", 40, lambda: not c.names_on())
    wait_for("the host is known empty", 10, lambda: row(c, host).get("safe"))
    assert of_host(c, host)["Users"] in ("root,daemon", "daemon,root")
    c.must("scontrol", "delete", f"reservationname=vsphere_{host}")
    c.svf("host", "resume", host)
    nodes_off(c)


def in_minutes(seconds):
    """A time on slurmctld's clock, on a whole second."""
    at = int(time.time()) + seconds
    return at, time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(at))


def test_until_a_planned_maintenance_short_jobs_run_and_long_ones_elsewhere(
        cluster):
    """Each host has one VF: a long job never gets the planned one's, a short one
    does; a long one that finds no other waits, and begins when the plan ends."""
    c = cluster
    at, text = in_minutes(600)
    answer = c.svf("host", "drain", E1, "--at", text, "firmware")
    assert answer["maintenance_at"] == at and answer["safe"]
    assert row(c, E1)["state"] == "UP"
    assert row(c, E1)["maintenance_at"] == at
    for _ in range(2):
        job = Held(c, "-N1", "-t", "30").wait_running()
        assert host_of(c, c.job(job.id)["NodeList"]) == E2
        assert not of_host(c, E1)
        late = c.sbatch("-N1", "-t", "30")
        wait_for("it waits, and says why", 20, lambda: "maintenance planned"
                 in c.svf("why", str(late))["text"])
        short = Held(c, "-N1", "-t", "5").wait_running()
        node = c.job(short.id)["NodeList"]
        assert host_of(c, node) == E1
        resv = wait_for("Slurm shows it", 10, lambda: of_host(c, E1))
        assert epoch(resv["StartTime"]) == at and resv["Nodes"] == node
        short.end_well()
        # Its VM is warm now, and none for the long one.
        assert c.job_state(late) == "PENDING" and host_of(c, node) == E1
        c.must("scancel", late)
        job.end_well()
        nodes_off(c)
        wait_for("no VM, no reservation", 15, lambda: not of_host(c, E1))
        # once more, by what a restart remembers
        was = ready_count(c)
        c.kill_slurmctld()
        c.start_slurmctld()
        wait_ready_again(c, was)
        assert row(c, E1)["maintenance_at"] == at
    job = Held(c, "-N1", "-t", "30").wait_running()
    late = Held(c, "-N1", "-t", "30")
    wait_for("it waits", 20, lambda: "maintenance planned"
             in c.svf("why", str(late.id))["text"])
    c.svf("host", "resume", E1)
    late.wait_running()
    assert host_of(c, c.job(late.id)["NodeList"]) == E1
    job.end_well()
    late.end_well()
    nodes_off(c)


def test_when_its_time_comes_a_planned_host_is_drained_and_empty(cluster):
    """A job that was there already is let run on and is what it waits for; an
    idle warm VM is off by then."""
    c = cluster
    both = c.sbatch("-N2", script="srun hostname")
    c.wait_job(both, 60)
    job = Held(c, "-N1", "-w", "vm001", "-t", "30").wait_running()
    host, other = host_of(c, "vm001"), host_of(c, "vm002")
    seconds = int(20 * patience())
    at, text = in_minutes(seconds)
    for h in (host, other):
        c.svf("host", "drain", h, "--at", text)
    r = wait_for("both are shown", 10, lambda: of_host(c, host) and
                 of_host(c, other) and reservations(c))
    assert {epoch(x["StartTime"]) for x in r.values()} == {at}
    wait_for("the idle one is off", seconds + 20, lambda: not c.is_on("vm002"))
    assert time.time() < at + 2, "not by the time that was planned"
    wait_for("both are drained", 30, lambda: all(
        row(c, h)["state"] == state for h, state in (
            (host, "DRAINING"), (other, "DRAINED"))))
    wait_for("one waits for its job", 10, lambda: not of_host(c, other)
             and of_host(c, host))
    assert row(c, host)["jobs_remaining"] == 1 and row(c, other)["safe"]
    assert "DRAIN" in c.node("vm001")["State"]
    job.end_well()
    wait_for("now that is empty too", 40, lambda: row(c, host).get("safe"))
    for h in (host, other):
        c.svf("host", "resume", h)
    assert c.svf("hosts")["hosts"][0].get("maintenance_at") is None
    nodes_off(c)


def test_times_that_are_none_are_refused(cluster):
    c = cluster
    for text in ("yesterday", "25:00", "now+", "now+2fortnights", "2026-13-01"):
        r = c.run("svf", "host", "drain", E1, "--at", text)
        assert r.returncode == 2 and "TIME is" in r.stderr, text
    r = c.run("svf", "host", "drain", E1, "--at", "2020-01-01T00:00")
    assert r.returncode == 1 and "in the past by slurmctld's clock" in r.stderr
    assert row(c, E1)["state"] == "UP"
    c.svf("host", "drain", E1)
    r = c.run("svf", "host", "drain", E1, "--at", "now+2hours")
    assert r.returncode == 1 and "svf host resume" in r.stderr
    c.svf("host", "resume", E1)
    tomorrow = c.svf("host", "drain", E1, "--at", "tomorrow")["maintenance_at"]
    t = time.localtime(tomorrow)
    assert (t.tm_hour, t.tm_min) == (0, 0) and tomorrow > time.time()
    assert tomorrow - time.time() <= 25 * 3600
    c.svf("host", "resume", E1)


# ---- nodes that Slurm keeps on ------------------------------------------------


def two_kinds(fresh, **slurm):
    """Two hosts with one VF each, of which two kinds of VM want one: a job for
    the second kind has to have a warm VM of the first one's VF."""
    c = fresh(nodes=4, start=False, inventory=world(
        hosts=2, vfs=1, templates=[template(), template("other")]),
        slurm={"SuspendTime": 600, **slurm})
    c.vsphere = {"ShutdownGrace": 1, "AllowMoreNodesThanVFs": "yes", "lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
        "PartitionName=one Adapter=sriov-roce Template=rhel9-ofed",
        "PartitionName=two Adapter=sriov-roce Template=other"]}
    c.partition_lines = ["PartitionName=one Nodes=vm[001-002] Default=YES",
                         "PartitionName=two Nodes=vm[003-004]"]
    c.start()
    return c.wait_ready()


def test_a_vm_that_slurm_keeps_on_is_not_reclaimed(fresh):
    """SuspendExcNodes: no other job gets its VF; other jobs get another VM's VF."""
    c = two_kinds(fresh, SuspendExcNodes="vm001")
    wait_for("operators are told", 10, lambda: "keep 1 node on: once up, "
             "their VMs keep 1 VF that" in c.ctld_log())
    assert [f for f in c.svf("status")["findings"] if "SuspendExcNodes" in f["text"]]
    c.wait_job(c.sbatch("-N2", "-p", "one"), 60)
    host = host_of(c, "vm001")
    c.wait_job(c.sbatch("-N1", "-p", "two"), 90)
    assert host_of(c, "vm001") == host, "a VM that is to stay on was reclaimed"
    assert not c.is_on("vm002")
    both = c.sbatch("-N2", "-p", "two")
    wait_for("it waits for VFs", 20, lambda: "VF" in c.svf("why", str(both))
             ["text"])
    # which is what it is there for
    c.wait_job(c.sbatch("-N1", "-p", "one"), 60)
    assert c.job_state(both) == "PENDING" and host_of(c, "vm001") == host
    # An administrator's word is another thing.
    c.must("scontrol", "update", "nodename=vm001", "state=power_down")
    c.wait_job(both, 90)


def test_a_drained_node_that_slurm_keeps_on_is_told_of_once(fresh):
    """Slurm powers a node that it keeps on down only if slurm-vsphere drained it,
    not while an operator has drained it."""
    c = two_kinds(fresh, SuspendExcNodes="vm001")
    c.wait_job(c.sbatch("-N1", "-w", "vm001", script="true"), 60)
    c.must("scontrol", "update", "nodename=vm001", "state=drain", "reason=fan")
    wait_for("it is drained", 20, lambda: "IDLE+" in c.node("vm001")["State"] and
             "DRAIN" in c.node("vm001")["State"])
    host = host_of(c, "vm001")
    c.must("svf", "host", "drain", host, "new", "memory")
    words = "node=vm001 stays on though "
    wait_for("it is told", 30, lambda: words in c.ctld_log())
    line, = [ln for ln in c.ctld_log().splitlines() if words in ln]
    assert "someone else drained the node" in line
    assert "SuspendExcNodes, -Parts or -States" in line
    # Turns of the engine that look at it again.
    c.must("scontrol", "update", "nodename=vm001", "reason=blower")
    c.wait_job(c.sbatch("-N1", "-w", "vm002", script="true"), 60)
    assert c.is_on("vm001") and c.ctld_log().count(words) == 1
    c.must("scontrol", "update", "nodename=vm001", "state=resume")
    wait_for("then it goes off", 40, lambda: not c.is_on("vm001"))
    assert c.ctld_log().count(words) == 1
    c.must("svf", "host", "resume", host)


def test_partitions_that_slurm_keeps_on_are_not_reclaimed(fresh):
    c = two_kinds(fresh, SuspendExcParts="one", SuspendTime=5)
    wait_for("operators are told", 10, lambda: "keep 2 nodes on: once up, "
             "their VMs keep 2 VFs that" in c.ctld_log())
    c.wait_job(c.sbatch("-N2", "-p", "one"), 60)
    job = c.sbatch("-N1", "-p", "two")
    wait_for("it waits for VFs", 20, lambda: "VF" in c.svf("why", str(job))
             ["text"])
    # SuspendTime is over, and the reclaimer has looked more than once.
    wait_for("SuspendTime is over", 30, lambda: all(
        time.time() - epoch(c.node(n)["LastBusyTime"]) > 12
        for n in ("vm001", "vm002")))
    assert set(c.names_on()) == {"vm001", "vm002"}
    assert c.job_state(job) == "PENDING"


# ---- Slurm's own maintenance ---------------------------------------------------


def maintenance(c, node, start="now"):
    c.must("scontrol", "create", "reservation", "reservationname=m",
           f"starttime={start}", "duration=60", f"users={c.user}",
           "flags=maint,ignore_jobs", f"nodes={node}")
    return "--reservation=m"


def test_an_idle_vm_in_a_maintenance_reservation_serves_its_job_and_gives_way(
        fresh):
    """Its job gets it as it is. While no job runs there, waiting jobs may use its
    VF; the next job of the reservation gets a VF when they have ended."""
    c = two_kinds(fresh)
    c.wait_job(c.sbatch("-N2", "-p", "one"), 60)
    inside = maintenance(c, "vm001")
    wait_for("it has begun", 20, lambda: "MAINT" in c.node("vm001")["State"])
    made = c.mutating()
    c.wait_job(c.sbatch("-N1", "-p", "one", inside), 60)
    assert c.mutating() == made, "its VM was there"
    both = Held(c, "-N2", "-p", "two").wait_running(90)
    assert not c.is_on("vm001") and not c.is_on("vm002")
    job = Held(c, "-N1", "-p", "one", inside)
    wait_for("it waits for VFs", 30, lambda: "VF" in c.svf("why", str(job.id))
             ["text"])
    both.end_well()
    job.wait_running(90)
    assert host_of(c, "vm001")
    job.end_well()
    c.must("scontrol", "delete", "reservationname=m")


def test_a_job_of_a_planned_maintenance_begins_with_it_and_nothing_is_made_ahead(
        fresh):
    """slurm-vsphere powers up no node that a reservation takes away; the job's VM
    is made when the job begins. A VM that is on before that stays on."""
    c = fresh(nodes=2, inventory=world(hosts=2, vfs=1),
              vsphere={"ShutdownGrace": 1, "Prefetch": 2})
    c.wait_job(c.sbatch("-N1", "-w", "vm002"), 60)
    made = c.mutating()
    seconds = int(30 * patience())
    at, text = in_minutes(seconds)
    inside = maintenance(c, "vm[001-002]", text)
    jobs = {n: c.sbatch("-N1", "-w", n, "-t", "1", inside)
            for n in c.node_names()}
    assert [c.squeue(j, "%r") for j in jobs.values()] == ["Reservation"] * 2
    longer = c.sbatch("-N1", "-w", "vm002", "-t", "10")
    wait_for("Slurm keeps others away", 20, lambda: "eserved" in
             c.squeue(longer, "%r"))
    wait_for("it is near", seconds + 10, lambda: time.time() >= at - 3)
    assert c.mutating() == made and c.names_on() == {"vm002"}
    assert time.time() < at, "too slow to tell"
    for node, job in jobs.items():
        c.wait_job(job, 60)
        assert epoch(c.job(job)["StartTime"]) - at < 40 * patience(), node
    c.must("scancel", longer)
    c.must("scontrol", "delete", "reservationname=m")


# ---- drains of health checks ---------------------------------------------------


def health_check(c, node):
    """As NHC does it."""
    c.must("scontrol", "update", f"nodename={node}", "state=drain",
           "reason=NHC: check_hw_ib: no active port")


def drained(c, host):
    return row(c, host).get("node_drains", 0)


def test_drains_of_health_checks_are_counted_where_the_vms_were(fresh):
    """The name stays drained when its VM is off; the host is known by it, over a
    restart too, and takes VMs all the same unless HostDrainThreshold= says no."""
    c = fresh(nodes=6, inventory=world(hosts=1, vfs=6), vsphere={
        "ShutdownGrace": 1}, slurm={"SlurmctldParameters": None,
                                    "SuspendTime": int(8 * patience())})
    c.wait_job(c.sbatch("-N2"), 60)
    up = sorted(c.names_on())
    for n, node in enumerate(up, 1):
        health_check(c, node)
        wait_for("it counts", 10, lambda n=n: drained(c, E1) == n)
    rows = {r["node"]: r.get("drained_on") for r in c.svf("nodes")["nodes"]}
    assert [n for n in rows if rows[n] == E1] == up
    wait_for("SuspendTime ends their VMs", 40, lambda: not c.names_on() and
             all(c.is_powered_down(n) for n in up))
    assert all("DRAIN" in c.node(n)["State"] for n in up)
    assert drained(c, E1) == 2 and "may be faulty" not in c.ctld_log()
    # One that is off says nothing of a host.
    cold = next(n for n in c.node_names() if n not in up)
    health_check(c, cold)
    wait_for("it is known", 10, lambda: [r for r in c.svf("nodes")["nodes"]
             if r["node"] == cold and r["node_state"] != "IDLE"])
    was = ready_count(c)
    wait_saved(c, c.sbatch("-N1", "-H"), up[0])
    c.kill_slurmctld()
    c.start_slurmctld()
    wait_ready_again(c, was)
    wait_for("it is remembered", 15, lambda: drained(c, E1) == 2)
    c.wait_job(c.sbatch("-N1"), 60)
    third = c.names_on().pop()
    health_check(c, third)
    wait_for("the third is told", 15, lambda: f"host={E1} may be faulty: "
             "operators or Slurm drained 3 nodes" in c.ctld_log())
    assert row(c, E1)["state"] == "UP"
    c.must("scontrol", "update", f"nodename={up[1]}", "state=resume")
    wait_for("one less", 10, lambda: drained(c, E1) == 2)
    c.must("scontrol", "update", f"nodename={up[0]},{third},{cold}",
           "state=resume")
    wait_for("none", 10, lambda: drained(c, E1) == 0)


def test_with_health_drains_such_a_host_takes_no_more_vms(fresh):
    c = fresh(nodes=6, inventory=world(hosts=1, vfs=6), vsphere={
        "ShutdownGrace": 1, "HostDrainThreshold": 2},
        slurm={"SlurmctldParameters": None})
    c.wait_job(c.sbatch("-N3"), 60)
    up = sorted(c.names_on())
    job = Held(c, "-N1", "-w", up[2]).wait_running()
    for node in up[:2]:
        health_check(c, node)
    wait_for("it is quarantined", 15, lambda: row(c, E1)["state"] ==
             "QUARANTINED")
    late = c.sbatch("-N1")
    wait_for("no VM comes there", 20, lambda: "operators or Slurm drained" in
             c.svf("why", str(late))["text"])
    job.end_well()              # what runs there runs on
    c.must("scancel", late)
    wait_for("it is over", 20, lambda: c.job_state(late) == "CANCELLED")
    c.svf("host", "resume", E1)
    assert row(c, E1)["state"] == "UP" and drained(c, E1) == 0
    cold = [n for n in c.node_names() if n not in up]
    c.wait_job(c.sbatch("-N1", "-w", cold[0]), 60)
    # These count no more; the next two do.
    health_check(c, up[2])
    wait_for("it counts", 10, lambda: drained(c, E1) == 1)
    health_check(c, cold[0])
    wait_for("quarantined again", 15, lambda: row(c, E1)["state"] ==
             "QUARANTINED")
    c.must("scontrol", "update", f"nodename={up[2]},{cold[0]}", "state=resume")
    wait_for("all are resumed", 15, lambda: row(c, E1)["state"] == "UP")
    c.must("scontrol", "update", f"nodename={up[0]},{up[1]}", "state=resume")
