# SPDX-License-Identifier: GPL-2.0-or-later
"""Another slurm-vsphere takes over while jobs run: from an earlier commit to this
tree, and back. No VM is changed, no job is lost, and what operators asked for is
kept. Each side has a vsphere.conf with the keys of its own day."""

import importlib.util
import os
import pathlib
import re

import pytest

import aftermath
from cluster import Cluster, wait_for
from stages import Held, ready_count, wait_ready_again, wait_saved
from worlds import world

EARLIER = [ln.split() for ln in os.environ.get("VS_EARLIER", "").splitlines()]
HOST2 = "esx02.example.org"


def configuration_of(tree):
    """That tree's class of the system tests that writes vsphere.conf."""
    path = pathlib.Path(tree) / "testsuite/system/configuration.py"
    spec = importlib.util.spec_from_file_location("earlier_configuration", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Configuration


class Site(Cluster):
    """One of two installations is in use."""

    writes = None       # the other tree's Configuration, while that is in use

    def vsphere_conf(self):
        return self.writes.vsphere_conf(self) if self.writes else \
            super().vsphere_conf()

    def take(self, root, writes=None):
        self.root, self.writes = root, writes

    def change_to(self, root, writes=None):
        self.end_slurmctld()
        self.take(root, writes)
        self.write_configuration()
        was = ready_count(self)
        self.start_slurmctld()
        wait_ready_again(self, was)


@pytest.fixture(params=EARLIER, ids=[e[0][:12] for e in EARLIER])
def site(request):
    """(cluster, how it takes the earlier installation, and this tree's)"""
    _, tree, root = request.param
    c = Site(nodes=6, inventory=world(hosts=2, vfs=6))
    c.vsphere = {"ShutdownGrace": 1}
    c.slurm = {"SuspendTimeout": 2}
    earlier, here = (root, configuration_of(tree)), (os.environ["VS_ROOT"],)
    try:
        yield c, earlier, here
    except BaseException:
        aftermath.say(c)
        raise
    finally:
        c.remove()


def vms(c, *names):
    """What a rebuild, a restart or a move would change."""
    return {v["name"]: (v["uuid"], v["boots"], v["host"], v["on"])
            for v in c.our_vms() if v["name"] in names}


def svf_of(c, root):
    """The other side's svf is answered, or says what is to be done: vsphere.conf has
    the keys of this side, and the port another name."""
    svf = next(pathlib.Path(root).glob("usr/**/bin/svf"))
    r = c.run("env", f"SVF_CONTROL=127.0.0.1:{c.control_port}", svf, "status")
    assert r.returncode == 0 or re.search(
        r"install the svf of slurmctld's release|\w+= was renamed: write \w+=",
        r.stderr), r.stderr


class Work:
    """Jobs in each state: on two VMs, suspended, waiting for its node, and an
    operator's drain of one host. One VM is warm and has no job."""

    def __init__(self, c):
        self.c = c
        self.runs = Held(c, "-N2", "-w", "vm[001-002]").wait_running()
        self.asleep = Held(c, "-w", "vm003").wait_running()
        c.must("scontrol", "suspend", str(self.asleep.id))
        c.wait_job(c.sbatch("-w", "vm004", script="true"), 60)
        self.waits = c.sbatch("-w", "vm001", "--exclusive", script="hostname")
        c.must("svf", "host", "drain", HOST2, "new memory")
        self.old = vms(c, "vm001", "vm002", "vm003", "vm004")
        assert len(self.old) == 4
        self.idle_again()
        self.calls = c.mutating()

    def idle_again(self):
        """The drain has moved what it may move off: the VM without a job."""
        on = self.old["vm004"][2]
        if on == HOST2:
            wait_for("the idle VM has left the drained host", 60,
                     lambda: self.c.is_powered_down("vm004") and
                     not self.c.is_on("vm004"))
            self.c.wait_job(self.c.sbatch("-w", "vm004", script="true"), 60)
            self.old = vms(self.c, *self.old)

    def is_untouched(self, calls=0):
        """calls: that new jobs have made meanwhile."""
        assert vms(self.c, *self.old) == self.old
        assert self.c.mutating() == self.calls + calls
        self.runs.runs_on()
        assert self.c.job_state(self.asleep.id) == "SUSPENDED"
        assert self.c.job_state(self.waits) == "PENDING"
        for job in (self.runs.id, self.asleep.id, self.waits):
            assert self.c.job(job)["Restarts"] == "0"

    def serves(self, node):
        """A job gets this node. A new VM is not made on the drained host."""
        before = self.c.mutating()
        out = self.c.wait_job(self.c.sbatch("-w", node, script="hostname"), 60)
        assert out.strip() == node
        assert self.c.our_vm(node)["host"] != HOST2
        return self.c.mutating() - before

    def end(self):
        self.c.must("scontrol", "resume", str(self.asleep.id))
        for job in (self.runs, self.asleep):
            wait_for("it runs", 20, lambda job=job: self.c.job_state(job.id) ==
                     "RUNNING")
            job.end_well()
        assert self.c.wait_job(self.waits, 60).strip() == "vm001"


def test_jobs_run_on_over_an_upgrade_and_the_way_back(site):
    c, earlier, here = site
    c.take(*earlier)
    c.start()
    c.wait_ready()
    work = Work(c)
    wait_saved(c, work.runs.id, "vm001")

    c.change_to(*here)
    work.is_untouched()
    svf_of(c, earlier[0])
    assert work.serves("vm004") == 0, "the warm VM of before was not taken as it is"
    made = work.serves("vm005")
    assert made > 0
    work.is_untouched(made)
    new = vms(c, "vm005")
    wait_saved(c, work.runs.id, "vm005")

    c.change_to(*earlier)
    work.is_untouched(made)
    svf_of(c, here[0])
    assert work.serves("vm004") == 0
    assert work.serves("vm005") == 0, "the warm VM of the later one was not taken"
    assert vms(c, "vm005") == new
    made += work.serves("vm006")
    work.is_untouched(made)
    wait_saved(c, work.runs.id, "vm006")

    # The second upgrade, after which all ends well.
    c.change_to(*here)
    work.is_untouched(made)
    assert work.serves("vm006") == 0
    work.end()


