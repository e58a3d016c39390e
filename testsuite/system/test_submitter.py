# SPDX-License-Identifier: GPL-2.0-or-later
"""Submissions that no command of Slurm's would send: slurmctld survives what any
user can send by libslurm or in a script, and takes none of it for its own."""

import os
import pathlib

import pytest

from cluster import Cluster, ClusterError, wait_for
from submitter import build
from worlds import world

OURS = "SPANK_VSPHERE_"
# Of slurmctld's CPU. The time grew with the square of the length: 21 s for 2 MB.
CPU_S = 6


def configure(c, **slurm):
    """What EpilogSlurmctld is given is all that slurmctld made of the job's
    environment; no mail is sent."""
    c.make_dirs()
    epilog = c.path("bin", "epilog-slurmctld")
    epilog.write_text("#!/bin/sh\nd={0}\n/usr/bin/env >$d/$SLURM_JOB_ID.new\n"
                      "mv $d/$SLURM_JOB_ID.new $d/$SLURM_JOB_ID.env\n".format(
                          c.path("out")))
    epilog.chmod(0o755)
    c.choose_ports()
    c.vsphere = {"ShutdownGrace": 1}
    c.slurm = {"SuspendTimeout": 2, "EpilogSlurmctld": epilog,
               "MailProg": "/bin/true", **slurm}
    return c


def make_cluster():
    """Without job_submit/vsphere: select/cons_tres_vsphere alone is on guard."""
    return configure(Cluster(nodes=2, inventory=world(hosts=1, vfs=2)))


@pytest.fixture(scope="session")
def submitter(tmp_path_factory):
    return build(tmp_path_factory.mktemp("submitter"))


def submit(c, submitter, how, ours, nulls, users, node="vm001"):
    """The environment of its EpilogSlurmctld. Slurm ends what runs for a job that
    is cancelled, and sometimes that script too: then once more."""
    for _ in range(5):
        job, env = submitted(c, submitter, how, ours, nulls, users, node)
        if env or not job:
            return env
    raise AssertionError(f"no EpilogSlurmctld of {job} or before came to its end")


def submitted(c, submitter, how, ours, nulls, users, node):
    r = c.run(submitter, how, node, str(ours), str(nulls), str(users))
    if r.returncode and nulls:      # Slurm's own guard, in its unpacking
        assert "Malformed RPC" in c.ctld_log()
        return None, None
    assert not r.returncode, r.stderr
    job = r.stdout.strip()
    if how == "alloc" and node == "vm001":
        wait_for("the job runs, booted", 60, lambda: c.job(job)[
            "JobState"] == "RUNNING")
    if how == "alloc":      # it runs until it is ended
        c.must("scancel", job)

    def done():
        if not c.daemons["slurmctld"].alive():
            raise ClusterError("slurmctld has died")
        return c.path("out", f"{job}.env").exists() or \
            f"JobId={job} EpilogSlurmctld killed by signal" in c.ctld_log()
    wait_for("its EpilogSlurmctld has been run", 90, done)
    f = c.path("out", f"{job}.env")
    lines = f.read_text().splitlines() if f.exists() else []
    return job, dict(line.split("=", 1) for line in lines if "=" in line)


def is_right(c, env, users):
    pid = c.daemons["slurmctld"].pid
    assert {k: v for k, v in env.items() if k.startswith("SPANK_U")} == {
        f"SPANK_U{i}": "forged" for i in range(users)}
    mine = {k: v for k, v in env.items() if k.startswith(OURS)}
    assert set(mine) <= {OURS + "0"} and "forged" not in mine.values(), mine
    assert c.run("scontrol", "ping").stdout.count("UP")
    assert c.daemons["slurmctld"].pid == pid


SHAPES = {"many of ours first": (1000, 0, 2000), "ours alone": (3, 0, 0),
          "without a byte": (2, 3, 2)}


@pytest.mark.parametrize("how", ("batch", "alloc"))
@pytest.mark.parametrize("shape", SHAPES)
def test_a_users_environment_does_no_harm(cluster, submitter, how, shape):
    n = SHAPES[shape]
    env = submit(cluster, submitter, how, *n)
    if env is not None:
        is_right(cluster, env, n[2])
    # what slurm-vsphere itself wrote is there, of a job that came to its nodes
    if env and how == "batch":
        assert env[OURS + "0"].startswith("vm001=esx01"), env[OURS + "0"]
    job = cluster.sbatch("-N1", "-w", "vm001", "--mail-type=ALL",
                         script="true")    # the next one, by slurmctld as it is
    cluster.wait_job(job, 60)


def test_forged_entries_are_gone_before_a_job_begins(cluster, submitter):
    """Its node is to boot yet, and slurm-vsphere has written nothing of it. It
    gets the node in the submission: there is no question before that one."""
    env = submit(cluster, submitter, "alloc", *SHAPES["ours alone"],
                 node="vm002")
    is_right(cluster, env, 0)
    assert not [k for k in env if k.startswith(OURS)]


@pytest.fixture(scope="module")
def guarded():
    c = configure(Cluster(nodes=2, inventory=world(hosts=1, vfs=2)),
                  JobSubmitPlugins="vsphere")
    try:
        c.start()
        c.wait_ready()
        yield c
    finally:
        c.remove()


def test_job_submit_says_what_it_drops(guarded, submitter):
    n = SHAPES["many of ours first"]
    is_right(guarded, submit(guarded, submitter, "batch", *n), n[2])
    assert "sent SPANK_VSPHERE_* variables" in guarded.ctld_log()


def cpu_s(pid):
    """User and system time, of all threads."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(
        ")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


LONG = {"constraint": "--constraint=({})", "prefer": "--prefer=({})",
        "partition": "--partition={}"}


@pytest.mark.parametrize("field", LONG)
def test_what_is_too_long_is_refused_by_slurm_at_once(guarded, field):
    """In a script, for which no special client is needed."""
    word, by = ("ALL", ",") if field == "partition" else ("sriov-roce", "&")
    value = by.join([word] * (2 * 1024 * 1024 // (len(word) + 1)))
    script = guarded.path("out", "long.sh")
    script.write_text(f"#!/bin/sh\n#SBATCH {LONG[field].format(value)}\ntrue\n")
    pid = guarded.daemons["slurmctld"].pid
    before = cpu_s(pid)
    r = guarded.run("sbatch", script, timeout=120)
    assert r.returncode and "too long" in r.stderr, r.stderr
    assert "refused:" not in r.stderr
    assert cpu_s(pid) - before < CPU_S
    assert "UP" in guarded.run("scontrol", "ping").stdout
