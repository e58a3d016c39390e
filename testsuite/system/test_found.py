# SPDX-License-Identifier: GPL-2.0-or-later
"""What the chaos run found, each as small as it can be told."""

import signal
import subprocess
import time

import pytest

from cluster import Cluster, wait_for
from daemons import PASSWORD, USERNAME
from worlds import world


def make_cluster():
    c = Cluster(inventory=world(hosts=2, vfs=2), nodes=4)
    c.vsphere = {"ShutdownGrace": 1}
    c.slurm = {"SuspendTimeout": 2, "TCPTimeout": 1,
               "AuthInfo": f"socket={c.path('run', 'munge.socket')},"
                           "cred_expire=5"}
    return c


def test_a_node_resumed_while_off_can_be_had_after_a_restart(cluster):
    """Slurm's "resume" sets "not responding" on a node that is off, and keeps
    such a node from all jobs when it starts."""
    for state in (("drain", "reason=test"), ("resume",)):
        cluster.must("scontrol", "update", "nodename=vm001",
                     "state=" + state[0], *state[1:])
    cluster.restart_slurmctld()
    out = cluster.wait_job(cluster.sbatch("-N1", "-w", "vm001",
                                          script="hostname"), 40)
    assert out.strip() == "vm001"


def test_jobs_whose_vm_somebody_switches_off_run_again(cluster):
    """slurmctld keeps trying to reach the dead guest to end the first run, and
    once hit the second run in the VM's next boot."""
    go = cluster.path("out", "go-on")
    script = "echo began $SLURM_RESTART_COUNT\n" \
        f"while [ ! -e {go} ]; do sleep 0.2; done\necho the end"
    one = cluster.sbatch("-N1", "-w", "vm001", "--requeue", script=script)
    two = cluster.sbatch("-N2", "-w", "vm[002-003]", "--requeue",
                         script=script)
    wait_for("they run", 40, lambda: "began" in cluster.output(one) and
             "began" in cluster.output(two))
    cluster.do("powerOff", vm="vm001")
    cluster.do("powerOff", vm="vm003")
    # Or slurmctld was done with it before svf was asked.
    wait_for("svf says what the second run waits for", 40, lambda: "ending the"
             " job whose VM was powered off" in cluster.svf(
                 "why", str(one))["text"] or "began 1" in cluster.output(one))
    go.touch()
    # Others needn't wait.
    other = cluster.sbatch("-N1", "-w", "vm004", script="hostname")
    assert cluster.wait_job(other, 40).strip() == "vm004"
    for job in (one, two):
        assert cluster.wait_job(job, 60).splitlines() == ["began 1", "the end"]
        assert cluster.job(job)["Restarts"] == "1"
    assert not [s for s in cluster.node_states().values()
                if s.startswith("DOWN") or "DRAIN" in s]


def test_an_idle_node_whose_vm_is_destroyed_is_powered_down(cluster):
    cluster.wait_job(cluster.sbatch("-N1", "-w", "vm004", script="true"), 40)
    cluster.do("powerOff", vm="vm004")
    cluster.wait_node("vm004", lambda s: "POWER" in s and "DOWN" in s, 20,
                      "been powered down")
    out = cluster.wait_job(cluster.sbatch("-N1", "-w", "vm004",
                                          script="hostname"), 40)
    assert out.strip() == "vm004"


def test_slurmctld_exits_in_peace_while_vcenter_talks(cluster):
    """exit() frees OpenSSL's memory and takes some time after that; our thread
    must not be in it any more. Here it takes 1.5 s, with connections to make."""
    lib = cluster.path("run", "slow-exit.so")
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", lib],
                   text=True, check=True, input="#include <unistd.h>\n"
                   "__attribute__((destructor)) static void last(void)\n"
                   "{ usleep(1500000); }\n")
    cluster.ctld_env = {"LD_PRELOAD": str(lib)}
    try:
        cluster.restart_slurmctld()
        wait_for("vCenter is read", 20, lambda: cluster.svf("status")["up"])
        d = cluster.daemons.pop("slurmctld")
        d.p.send_signal(signal.SIGTERM)
        end = time.monotonic() + 90
        while d.alive() and time.monotonic() < end:
            cluster.do("cutConnections")
            time.sleep(0.02)
        d.end()
        assert d.returncode == 0
    finally:
        cluster.ctld_env = {}
        cluster.start_slurmctld()


CURL_SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int curl_global_init(long flags)
{
	int (*real)(long) = (int (*)(long))dlsym(RTLD_NEXT, "curl_global_init");
	void *lib = real ? NULL : dlopen("libcurl.so.4", RTLD_NOW);
	FILE *f = fopen(getenv("VS_CURL_LOG"), "a");

	if (!real && lib)
		real = (int (*)(long))dlsym(lib, "curl_global_init");
	fprintf(f, "%ld %ld\n", (long)getpid(), (long)syscall(SYS_gettid));
	fclose(f);
	return real ? real(flags) : 2;
}
"""


def test_libcurl_is_set_up_by_slurmctlds_first_thread(cluster):
    """libcurl before 7.84 counts its users without a lock, and other plugins of
    slurmctld use it: so at most one call, in the thread that loads plugins."""
    lib, log = cluster.path("run", "curl.so"), cluster.path("run", "curl.log")
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", lib],
                   text=True, check=True, input=CURL_SHIM)
    cluster.ctld_env = {"LD_PRELOAD": str(lib), "VS_CURL_LOG": str(log)}
    try:
        cluster.restart_slurmctld()
        wait_for("vCenter is read", 20, lambda: cluster.svf("status")["up"])
        pid = str(cluster.daemons["slurmctld"].pid)
        calls = [line.split() for line in log.read_text().splitlines()]
        assert [tid for p, tid in calls if p == pid] == [pid]
        assert all(p == tid for p, tid in calls)
    finally:
        cluster.ctld_env = {}
        cluster.restart_slurmctld()


def test_a_vcenter_that_shows_no_host_says_nothing_about_vms(cluster):
    """A wait that is answered with nothing at the load, as when the account's
    rights went: a node's VM is not gone, and no job can "never run"."""
    job = cluster.sbatch("-N1", "-w", "vm002", script="hostname; sleep 6; hostname")
    wait_for("it runs", 40, lambda: "vm002" in cluster.output(job))
    seen = len(cluster.ctld_log())
    cluster.fault(on="reply", method="WaitForUpdatesEx", count=1000, body="null")
    cluster.do("expireSessions")
    wait_for("it is said", 20, lambda: "vCenter shows no host" in
             cluster.ctld_log()[seen:])
    cluster.clear_faults()
    later = cluster.sbatch("-N1", "-w", "vm001", script="hostname")
    assert cluster.wait_job(job, 40).split() == ["vm002", "vm002"]
    assert cluster.job(job)["Restarts"] == "0"
    assert cluster.wait_job(later, 40).strip() == "vm001"


def test_a_slurmctld_that_is_started_again_and_again_locks_no_account(cluster):
    """A wrong password is sent once, whichever process has sent it; the right
    one is sent as soon as it is there."""
    def up():
        return cluster.svf("status")["up"]

    before = cluster.counters()["failedLogins"]
    cluster.do("setPassword", user=USERNAME, password="another")
    cluster.do("expireSessions")
    # and remembered: a kill between the two may cost one try
    wait_for("it is refused", 20, lambda: cluster.counters()[
        "failedLogins"] == before + 1 and
        cluster.path("state", "slurm_vsphere.login").exists())
    for _ in range(3):
        cluster.kill_slurmctld()
        seen = len(cluster.ctld_log())
        cluster.start_slurmctld()
        wait_for("it is said", 20, lambda s=seen: "before this start: the "
                 "login is tried again in" in cluster.ctld_log()[s:])
    assert cluster.counters()["failedLogins"] == before + 1
    cluster.must("svf", "reconcile")        # an operator's word is one try
    wait_for("it is tried", 20, lambda: cluster.counters()[
        "failedLogins"] == before + 2)
    cluster.kill_slurmctld()
    cluster.start_slurmctld()
    f = cluster.path("etc", "vcenter.password")
    f.write_text("another\n")
    wait_for("vCenter is there", 30, up)
    assert not cluster.path("state", "slurm_vsphere.login").exists()
    cluster.do("setPassword", user=USERNAME, password=PASSWORD)
    f.write_text(PASSWORD + "\n")


def test_a_node_whose_vm_went_off_while_vcenter_was_away_comes_back(fresh):
    """Only Slurm notices, and sets it down; no operator has to resume it."""
    c = fresh(inventory=world(hosts=1, vfs=2), nodes=2,
              slurm={"SlurmdTimeout": 6, "SuspendTimeout": 2})
    c.wait_job(c.sbatch("-N1", "-w", "vm001", script="true"), 40)
    c.do("outage", duration="90s", how="refuse")
    c.do("powerOff", vm="vm001")
    c.wait_node("vm001", lambda s: s.startswith("DOWN"), 40, "set down")
    c.do("outage", duration="0s", how="refuse")
    c.wait_node("vm001", lambda s: s.startswith("IDLE") and "POWERED_DOWN" in s,
                40, "given back")
    out = c.wait_job(c.sbatch("-N1", "-w", "vm001", script="hostname"), 40)
    assert out.strip() == "vm001"


@pytest.mark.parametrize("returns", [2, 0])
def test_a_node_that_is_powered_down_while_it_is_down_returns(fresh, returns):
    """SlurmdTimeout sets the node DOWN, and power saving powers it down while its
    VM can't be seen. A node that is off never registers. Slurm's own remedy,
    idle_on_node_suspend, lifts drains too, and is not set here."""
    c = fresh(inventory=world(hosts=1, vfs=2), nodes=2, slurm={
        "SlurmdTimeout": 6, "SuspendTimeout": 2, "SlurmctldParameters": None,
        "ReturnToService": returns})
    c.wait_job(c.sbatch("-N1", "-w", "vm001", script="true"), 40)
    c.do("outage", duration="120s", how="refuse")
    c.do("powerOff", vm="vm001")
    c.wait_node("vm001", lambda s: s.startswith("DOWN"), 40, "set down")
    c.must("scontrol", "update", "nodename=vm001", "state=power_down")
    c.wait_node("vm001", lambda s: "POWERED_DOWN" in s, 30, "powered down")
    c.do("outage", duration="0s", how="refuse")
    if returns:
        c.wait_node("vm001", lambda s: s.startswith("IDLE"), 30, "idle again")
        assert "vm001 is powered down and was DOWN because it did not respond" \
            in c.ctld_log()
    else:       # an administrator returns it
        c.wait_job(c.sbatch("-N1", "-w", "vm002", script="true"), 60)
        assert c.node_states()["vm001"].startswith("DOWN")
        c.must("scontrol", "update", "nodename=vm001", "state=resume")
    out = c.wait_job(c.sbatch("-N1", "-w", "vm001", script="hostname"), 60)
    assert out.strip() == "vm001"
    assert c.node("vm001").get("Reason", "none") == "none"


def test_a_node_that_was_completing_and_off_at_a_restart_serves_again(fresh):
    """A slurmctld that was killed may remember a job's end to come on a node of
    which it knows that it is going off; started once more it takes the node from
    the job, and leaves it COMPLETING for ever: who is off registers no more."""
    c = fresh(inventory=world(hosts=1, vfs=2), nodes=2,
              slurm={"SuspendTimeout": 8})
    job = c.sbatch("-N1", "-w", "vm001", script="hostname; sleep 300")
    wait_for("it runs", 40, lambda: "vm001" in c.output(job))
    c.do("powerOff", vm="vm001")
    c.wait_node("vm001", lambda s: "COMPLETING" in s, 60, "its job's end to come")
    c.do("outage", duration="90s", how="refuse")
    c.end_slurmctld()
    state = c.path("state", "job_state").read_bytes()
    c.start_slurmctld()
    c.must("scontrol", "update", "nodename=vm001", "state=power_down_force")
    c.wait_node("vm001", lambda s: "POWERING_DOWN" in s, 20, "on its way off")
    c.end_slurmctld()
    c.path("state", "job_state").write_bytes(state)
    c.start_slurmctld()
    c.wait_node("vm001", lambda s: "COMPLETING" in s and "POWERED_DOWN" in s,
                30, "gone off meanwhile")
    c.restart_slurmctld()
    c.do("outage", duration="0s", how="refuse")
    c.wait_node("vm001", lambda s: "COMPLETING" not in s, 30, "free of its job")
    c.must("scancel", str(job))
    out = c.wait_job(c.sbatch("-N1", "-w", "vm001", script="hostname"), 60)
    assert out.strip() == "vm001"
