# SPDX-License-Identifier: GPL-2.0-or-later
"""Two slurmctld on one StateSaveLocation, and one after the other: only one
engine is at work at a time, and what it finds is what the other one left."""

import fcntl
import re
import socket

import pytest

from channel import Caught
from cluster import INSIDE, free_ports, isolation, slurm_binary, wait_for
from monitoring import families, value
from stages import holds, nobody_down, ready_count, wait_ready_again, wait_saved
from worlds import world


def start_backup(c):
    """A second slurmctld on 127.0.0.2, which believes its host is "backup"."""
    conf = c.path("etc", "slurm.conf").read_text()
    conf = re.sub(r"^(Slurmctld(?:PidFile|LogFile)=.*)$", r"\1.backup", conf,
                  flags=re.M)
    there = c.path("backup")
    there.mkdir(exist_ok=True)
    (there / "slurm.conf").write_text(conf)
    (there / "vsphere.conf").symlink_to(c.path("etc", "vsphere.conf"))
    c._start("backup", [
        *c.isolation, "--uts", *INSIDE, "backup", "backup:127.0.0.2", "--",
        slurm_binary("slurmctld"), "-D", "-f", there / "slurm.conf"],
        SLURM_CONF=str(there / "slurm.conf"))
    log = c.path("log", "slurmctld.log.backup")
    wait_for("the backup stands by", 20, lambda: log.exists() and
             "slurmctld running in background mode" in log.read_text())
    return log


@pytest.fixture
def two(fresh):
    """A cluster with a backup controller that stands by; the backup's log."""
    if not isolation():
        pytest.skip("needs a host name of its own")
    c = fresh(nodes=3, start=False, inventory=world(hosts=1, vfs=3),
              vsphere={"ShutdownGrace": 1, "lines": [
                  "VSphereCluster=HPC1 ResourcePool=slurm",
                  "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG",
                  "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed",
                  "PartitionName=off Adapter=sriov-roce Template=rhel9-ofed "
                  "Retention=power_off"]},
              # Its file is gone for a moment at each beat; at less than 4 s
              # they follow one another without a pause.
              slurm={"SlurmctldTimeout": 4, "SuspendTimeout": 2},
              partition_lines=["PartitionName=roce Nodes=vm[001-002] Default=YES",
                               "PartitionName=off Nodes=vm003"])
    c.metrics_port, c.metrics_owned = free_ports(1)
    c.vsphere["MetricsPort"] = c.metrics_port
    # Both "hosts" have the same loopback addresses here.
    c.vsphere["SvfListenAddr"] = "0.0.0.0"
    c.slurm["SlurmctldHost"] = f"{socket.gethostname()}(127.0.0.1)\n" \
        "SlurmctldHost=backup(127.0.0.2)"
    c.start()
    c.wait_ready()
    log = start_backup(c)
    yield c, log
    print("--- the end of the backup's log:\n" + log.read_text()[-6000:])


def take_over(c, log):
    was = log.read_text().count("slurm-vsphere: ready:")
    c.kill_slurmctld()
    wait_for("the backup has taken over", 40, lambda: log.read_text().count(
        "slurm-vsphere: ready:") > was)


def give_back(c):
    was = ready_count(c)
    c.start_slurmctld(wait=False)
    wait_ready_again(c, was, 40)


def serves(c, job):
    """The warm VM, without a call; the running job runs."""
    calls = c.mutating()
    out = c.wait_job(c.sbatch("-N1", "-x", "vm001", script="hostname"), 40)
    assert out.strip() == "vm002" and c.mutating() == calls
    assert c.job_state(job) == "RUNNING" and c.job(job)["Restarts"] == "0"


def test_a_backup_takes_over_and_gives_back_twice(two):
    """It plays no part while it stands by, before and after its own terms; what
    it takes over is what was there."""
    c, log = two
    c.wait_job(c.sbatch("-N2", script="true"), 40)
    job = c.sbatch("-N1", "-w", "vm001", script="echo began; sleep 100")
    short = c.sbatch("-N1", "-p", "off", script="echo began; sleep 100")
    wait_for("both run", 40, lambda: "began" in c.output(job) and
             "began" in c.output(short))
    wait_saved(c, job, "vm002")
    calls, before = c.mutating(), holds(c)
    assert "vCenter" not in log.read_text() and c.counters()["logins"] == 1
    take_over(c, log)
    assert holds(c) == before
    serves(c, job)
    give_back(c)
    assert holds(c) == before, "svf is answered by the one in control"
    serves(c, job)
    assert c.mutating() == calls
    assert "no longer in control: disconnected" in log.read_text()
    assert c.counters()["logins"] == 3 and c.counters()["sessions"] <= 2
    # What ends while it stands by again is no news of its second term.
    c.must("scancel", str(short))
    wait_for("its VM goes off", 30, lambda: not c.is_on("vm003") and
             c.is_powered_down("vm003"))
    wait_saved(c, job, "vm003")
    calls, before = c.mutating(), holds(c)
    take_over(c, log)
    assert holds(c) == before
    rows = {n["node"]: n for n in c.svf("nodes")["nodes"]}
    assert "job" not in rows["vm003"] and rows["vm001"]["job"] == job
    assert c.mutating() == calls
    give_back(c)
    c.wait_job(c.sbatch("-N1", "-p", "off", script="hostname"), 40)
    wait_for("its VM goes off again", 30, lambda: not c.is_on("vm003"))
    nobody_down(c)


def test_a_pause_passes_to_the_backup_and_its_end_back(two):
    c, log = two
    c.must("svf", "pause", "vCenter is upgraded")
    paused = c.svf("status")["paused"]
    wait_for("the pause is saved", 20, lambda: '"paused"' in c.path(
        "state", "slurm_vsphere.hints").read_text())
    calls = c.mutating()
    take_over(c, log)
    assert c.svf("status")["paused"] == paused
    job = c.sbatch("-N1", script="hostname")
    wait_for("the job waits for the end of the pause", 40,
             lambda: "paused by" in c.svf("why", str(job))["text"])
    assert c.mutating() == calls
    c.must("svf", "resume")
    c.wait_job(job, 60)
    wait_for("its end is saved", 20, lambda: '"paused"' not in c.path(
        "state", "slurm_vsphere.hints").read_text())
    give_back(c)
    assert "paused" not in c.svf("status")
    c.wait_job(c.sbatch("-N1", script="hostname"), 60)


def test_an_order_for_the_first_is_not_obeyed_by_the_backup(two):
    """It was caught while the first was away. The backup has its munge key, and
    its munged has not seen the order."""
    c, log = two
    host = c.svf("hosts")["hosts"][0]["host"]
    assert c.svf("hosts")["hosts"][0]["state"] == "UP"
    c.kill_slurmctld()
    caught = Caught(c, 0, "host", "drain", host, port=c.control_port, conf={})
    wait_for("the backup has taken over", 40, lambda:
             "slurm-vsphere: ready:" in log.read_text())
    assert caught.hand_over(c.control_port, "127.0.0.2")
    wait_for("it is refused", 10, lambda: re.search(
        "verb=drain .* refused: the request is for controller [^ ]+ of cluster "
        "vstest, but controller backup of cluster", log.read_text()))
    assert c.svf("hosts")["hosts"][0]["state"] == "UP"
    give_back(c)


def test_the_metrics_are_served_by_the_one_in_control(two):
    """One port for both; who stands by has none, and says nothing of it."""
    c, log = two
    at = f"metrics are served at http://127.0.0.1:{c.metrics_port}/metrics"

    def up():
        try:
            return value(families(c.metrics_port), "vcenter_up") == 1
        except OSError:
            return False
    wait_for("the first serves them", 20, up)
    assert at in c.ctld_log() and "metrics" not in log.read_text()
    take_over(c, log)
    wait_for("the backup does", 20, up)
    assert at in log.read_text()
    was = c.ctld_log().count(at)
    give_back(c)
    wait_for("the first does again", 20,
             lambda: c.ctld_log().count(at) > was and up())
    wait_for("svf says so", 10, lambda: c.svf("status").get("metrics"))
    assert "no longer in control" in log.read_text()


def test_an_engine_waits_for_the_one_before_it(fresh):
    """A reconfigure that starts a new process: the old one may still be ending.
    Its lock, its port and its session are waited for, and no longer."""
    c = fresh(nodes=2, start=False, inventory=world(hosts=1, vfs=2))
    c.choose_ports()
    with open(c.path("state", "slurm_vsphere.lock"), "w") as old, \
            socket.create_server(("127.0.0.1", c.control_port)) as port:
        fcntl.flock(old, fcntl.LOCK_EX)
        c.start()
        job = c.sbatch("-N1", script="hostname")
        wait_for("it waits", 10, lambda: "another slurmctld still runs: "
                 "waiting" in c.ctld_log())
        # Slurm continues meanwhile, and no session logs in to vCenter.
        assert c.job_state(job) in ("PENDING", "CONFIGURING")
        assert c.counters()["logins"] == 0 and c.mutating() == 0
        fcntl.flock(old, fcntl.LOCK_UN)
        wait_for("it is its turn", 10, lambda: ready_count(c) == 1)
        wait_for("somebody else has the port", 10, lambda: re.search(
            "svf gets no answers: .*Address already in use", c.ctld_log()))
        port.close()
    wait_for("svf is answered", 10,
             lambda: c.svf("status")["up"] and c.counters()["logins"] == 1)
    c.wait_job(job)


def test_a_restart_gives_its_session_back(fresh):
    """vCenter allows an account so many; a clean end leaves none behind."""
    c = fresh(nodes=1, inventory=world(hosts=1, vfs=1))
    for n in range(2, 5):
        was = ready_count(c)
        c.restart_slurmctld()
        wait_ready_again(c, was)
        assert c.counters()["logins"] == n and c.counters()["sessions"] == 1
