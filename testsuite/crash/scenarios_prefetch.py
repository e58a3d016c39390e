# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios of VMs that are made ahead, and of jobs that end for others."""

from scenario import job_that_waits, scenario
from worker import foreign, wait_for, wait_until


def prefetch(w):
    w.edit("ShutdownGrace=1\n",
           "ShutdownGrace=1\nPrefetch=4\nPrefetchOptions=grace=1\n")


def one_vf_left(w):
    for i in range(5):
        host = f"esx{i % 2 + 1:02d}.example.org"
        w.c.do("addVm", spec=foreign(f"theirs{i}", host))


def runs(w, options):
    """A job that runs until it is told to end, and Slurm has saved that."""
    job = job_that_waits(w, options)
    w.release(job)
    wait_for("its script runs", 30, lambda: "began" in w.c.output(job))
    w.saved("job_state")
    w.pool["first"] = [job]


def first_ends(w):
    w.c.path("out", "end").touch()
    w.did()
    w.done(w.pool.pop("first")[0])


def vf_used(w):
    runs(w, "-N1 -w vm001")
    prefetch(w)


def vf_lent(w):
    one_vf_left(w)
    runs(w, "-p off -w vm005")
    prefetch(w)


def is_ahead(w, node, on):
    """Its VM is there; if slurmctld has not died, nor a call failed."""
    w.did()
    wait_until(f"{node} is made ahead", 40, lambda: w.died or w.troubled() or
               (w.state(node) - {"PLANNED"} == {"IDLE", "CLOUD"} if on
                else w.c.our_vm(node) and
                not w.c.running_tasks("CloneVM_Task")), lambda: w.state(node))
    w.did()


AHEAD = ("tell.power_up", "hold.take", "send.CloneVM_Task",
         "answer.CloneVM_Task", "end.CloneVM_Task", "send.PowerOnVM_Task",
         "answer.PowerOnVM_Task", "end.PowerOnVM_Task", "tell.booted",
         "tell.boot_push", "core.job_begin", "core.job_claim")


@scenario(prepare=vf_used, edits=True, ends=True, points=AHEAD)
def ahead(w):
    """A node of a job that is planned is powered up while that one waits."""
    job = w.jobs("-N2 -w vm[001-002]")
    w.release(job, "PENDING")
    is_ahead(w, "vm002", on=True)
    first_ends(w)
    w.done(job)


@scenario(prepare=vf_lent, edits=True, ends=True, points=(
    "send.CloneVM_Task", "answer.CloneVM_Task", "end.CloneVM_Task",
    "hold.*", "send.PowerOnVM_Task", "core.job_begin"))
def cloned(w):
    """No VF is free: the VM is cloned while its job waits, and stays off."""
    job = w.jobs("-N1 -w vm001")
    w.release(job, "PENDING")
    is_ahead(w, "vm001", on=False)
    first_ends(w)
    w.done(job)


@scenario(prepare=vf_used, edits=True, ends=True, points=(
    "tell.power_down", "send.ShutdownGuest", "end.ShutdownGuest",
    "hold.drop", "send.Destroy_Task", "answer.Destroy_Task",
    "end.Destroy_Task"))
def unused(w):
    """The job that a VM was made ahead of is cancelled: the VM goes. A new
    slurmctld finds a warm VM, or one that is off."""
    job = w.jobs("-N2 -w vm[001-002]")
    w.release(job, "PENDING")
    is_ahead(w, "vm002", on=True)
    w.cancel(job)
    wait_until("its VM is gone", 40, lambda: w.died or w.troubled() or
               not w.c.our_vm("vm002"), lambda: w.state("vm002"))
    first_ends(w)


def preempted(w):
    one_vf_left(w)
    runs(w, "-N1 -w vm002")


@scenario(prepare=preempted, ends=True, points=(
    "core.*", "hold.*", "tell.epilog", "tell.power_down", "tell.schedule",
    "send.ShutdownGuest", "end.ShutdownGuest", "send.CloneVM_Task"))
def preempts(w):
    """A job ends for another one's sake: its VM goes, the other one gets the
    VF; then it runs again."""
    w.done(w.jobs("-p high -N1 -w vm001"))
    first_ends(w)
