# SPDX-License-Identifier: GPL-2.0-or-later
"""What a cluster lives through in the matrices: functions of a worker, each
with its preparation.

prepare makes what is needed while nothing can go wrong. Then slurmctld restarts
(`between`: while it is away; `sig`: how it was ended), to die at a point or not.
The scenario ends when what was wanted is there.
"""

import signal

import scenarios_prefetch      # noqa: F401 (they are found in SCENARIOS)
from scenario import SCENARIOS, job_that_waits, scenario  # noqa: F401
from worker import foreign, wait_for, wait_until
from worlds import PF0

# ---- one node's life -----------------------------------------------------------

@scenario()
def new(w):
    """Two VMs are made for a job."""
    w.done(w.jobs("-N2 -w vm[001-002]"))


@scenario(prepare=lambda w: w.up("vm001"))
def warm(w):
    """A job in a VM that is on."""
    w.done(w.jobs("-N1 -w vm001"))


@scenario(prepare=lambda w: w.up("vm001"))
def suspend(w):
    """Slurm powers a node down."""
    w.power_down("vm001")


def vm_is_off(w):
    w.up("vm001")
    w.power_down("vm001")


@scenario(prepare=vm_is_off)
def again(w):
    """A job in a VM that is off."""
    w.done(w.jobs("-N1 -w vm001"))


def deaf_guest(w):
    w.up("vm001")
    w.c.fault(on="request", method="ShutdownGuest", body="")


@scenario(prepare=deaf_guest)
def deaf(w):
    """The guest doesn't shut down when it is asked: the VM is switched off."""
    w.power_down("vm001")


def changed_profile(w):
    w.up("vm001")
    w.edit("Template=rhel9-ofed\n", "Template=rhel9-ofed MemoryOverhead=512\n")


@scenario(prepare=changed_profile, edits=True)
def profile(w):
    """The profile of a VM that is on has changed."""
    w.done(w.jobs("-N1 -w vm001"))


def full_host(w):
    """As the engine knows: a vCenter that is silent then can't tell it."""
    vm_is_off(w)
    host = w.c.our_vm("vm001")["host"]
    for i in range(3):
        w.c.do("addVm", spec=foreign(f"theirs{i}", host))
    wait_until("the host is known to be full", w.goal, lambda: not free(w, host),
               lambda: free(w, host))


def free(w, host):
    """VFs of the first PF that svf calls free there."""
    return sum(pf["free"] for h in w.c.svf("hosts")["hosts"] if h["host"] == host
               for pf in h["pfs"] if pf["pci"] == PF0)


def ask_drs(w):
    w.edit("Placement=balance\n", "Placement=drs\n")


@scenario(prepare=ask_drs, edits=True)
def drs(w):
    """vCenter is asked where a new VM goes."""
    w.done(w.jobs("-N1 -w vm001"))


def by_address(w):
    w.edit("MTU=9000\n", "MTU=9000 ExtraDevice=fpga\nAdapterName=fpga "
           "Type=directpath Vendor=0x10ee Device=0x5000\n")


@scenario(prepare=by_address, edits=True)
def bound(w):
    """The host is asked for the device that a new VM gets by its address."""
    w.done(w.jobs("-N1 -w vm001"))


@scenario(prepare=full_host)
def move(w):
    """The host of a VM that is off is full."""
    w.done(w.jobs("-N1 -w vm001"))


@scenario()
def off(w):
    """Retention=power_off."""
    w.done(w.jobs("-p off -w vm005"))
    w.until_down("vm005")


@scenario()
def destroy(w):
    """Retention=destroy."""
    w.done(w.jobs("-p fresh -w vm006"))
    w.until_down("vm006")
    wait_until("its VM is gone", w.goal, lambda: not w.c.our_vm("vm006"),
               lambda: w.c.our_vm("vm006"))


def slow_boot(w):
    w.c.do("setDuration", name="CloneVM_Task", duration="5s")
    w.c.delay_boot("vm001", 6)


@scenario(prepare=slow_boot)
def slow(w):
    """A new VM, and Slurm has had the time to save that the job has begun."""
    w.done(w.jobs("-N1 -w vm001"))


def linked_clones(w):
    w.edit("Template=rhel9-ofed\n", "Template=rhel9-ofed Clone=linked\n")


@scenario(prepare=linked_clones, edits=True, points=(
    "send.CloneVM_Task", "answer.CloneVM_Task", "end.CloneVM_Task",
    "hold.take"))
def linked(w):
    """A VM that is a linked clone: its parent is made before, and is the only
    one when all is over."""
    w.done(w.jobs("-N1 -w vm001"))

    def there():
        return [v["snapshots"] for v in w.c.state()["vms"] if v["parent"]]
    wait_until("there is one parent, with a snapshot", w.goal,
               lambda: there() == [["slurm-vsphere"]], there)


def two_cards(w):
    w.edit("MTU=9000\n", "MTU=9000 NICsPerNode=2 DistinctPFs=no\n")
    w.edit("ShutdownGrace=1\n", "ShutdownGrace=1\nAllowMoreNodesThanVFs=yes\n")


@scenario(prepare=two_cards, edits=True, points=(
    "hold.*", "send.CloneVM_Task", "end.CloneVM_Task", "send.PowerOnVM_Task",
    "end.PowerOnVM_Task", "core.job_begin", "core.job_claim"))
def gang(w):
    """Two VMs of two VFs each are made for a job."""
    w.done(w.jobs("-N2 -w vm[001-002]"))


def instant_clones(w):
    w.edit("Type=sriov Network=SRIOV-ROCE-PG MTU=9000\n",
           "Type=vmxnet3 Network=VM-PG\n")
    w.edit("PartitionName=warm Adapter=sriov-roce Template=rhel9-ofed\n",
           "PartitionName=warm Adapter=sriov-roce Template=rhel9-ofed "
           "Clone=instant\n")


@scenario(prepare=instant_clones, edits=True, points=(
    "send.CloneVM_Task", "end.CloneVM_Task", "send.PowerOnVM_Task",
    "end.PowerOnVM_Task", "send.InstantClone_Task", "answer.InstantClone_Task",
    "end.InstantClone_Task"))
def instant(w):
    """A clone source boots and is frozen, and two VMs continue from it."""
    w.done(w.jobs("-N2 -w vm[001-002]"))


# ---- people ---------------------------------------------------------------------

def slow_clone(w):
    w.c.do("setDuration", name="CloneVM_Task", duration="4s")


@scenario(prepare=slow_clone)
def cancel(w):
    """scancel while the VM is cloned."""
    job = w.jobs("-N1 -w vm001", "sleep 100")
    w.wish("release", str(job))
    wait_until("a clone runs", 20, lambda: w.c.running_tasks("CloneVM_Task") or
               w.died or w.troubled(), lambda: w.job(job))
    w.cancel(job)
    w.until_down("vm001")


def clone_under_way(w):
    # The kill must not bring back a job of the cell before.
    w.saved("job_state", "node_state")
    slow_clone(w)
    job = w.jobs("-N1 -w vm001")
    w.pool["adopted"] = [job]
    w.wish("release", str(job))
    wait_for("a clone runs", 20, lambda: w.c.running_tasks("CloneVM_Task"))


@scenario(prepare=clone_under_way, sig=signal.SIGKILL)
def adopted(w):
    """slurmctld begins while a clone is under way."""
    w.done(w.pool.pop("adopted")[0])


def forget_nodes(w):
    for f in w.c.path("state").glob("node_state*"):
        f.unlink()


@scenario(prepare=lambda w: w.up("vm001"), between=forget_nodes)
def adopt(w):
    """Slurm has forgotten that a node is up."""
    w.until_up("vm001")
    w.done(w.jobs("-N1 -w vm001"))


@scenario()
def reconfigure(w):
    """Another vsphere.conf."""
    w.until_connected()
    was = w.readies()
    w.edit("ShutdownGrace=1\n", "ShutdownGrace=2\n")
    w.wish("reconfigure")
    wait_for("it is in force", w.agrees_s, lambda: w.readies() > was)
    w.done(w.jobs("-N1 -w vm001"))


# ---- trouble ----------------------------------------------------------------------

def first_start(w):
    w.c.path("state", "slurm_vsphere.id").unlink()


def old_vcenter(w):
    w.c.fault(on="request", method="hello", http=404)


@scenario(between=first_start)
def connect(w):
    """The first start."""
    w.until_connected()


@scenario(prepare=old_vcenter, between=first_start)
def older(w):
    """The first start, with a vCenter that can't negotiate."""
    w.until_connected()


@scenario(prepare=lambda w: w.up("vm001"))
def outage(w):
    """The session expires, then vCenter is away for a moment."""
    w.until_connected()
    w.c.do("expireSessions")
    w.c.do("outage", duration="500ms", how="drop")
    w.did()
    w.done(w.jobs("-N1 -w vm001"))


def bad_spec(w):
    # a clone with its devices, and then without them
    w.c.fault(on="task", method="CloneVM_Task", count=2, message="declared",
              fault={"_typeName": "InvalidVmConfig", "property": "x"})


@scenario(prepare=bad_spec)
def fail(w):
    """A node can't be had; an administrator resumes it."""
    w.done(w.jobs("-N1 -w vm001"), resume=True)


def host_refuses(w):
    w.c.fault(on="task", method="PowerOnVM_Task", count=1, message="declared",
              fault={"_typeName": "InsufficientResourcesFault"})


@scenario(prepare=host_refuses)
def elsewhere(w):
    """A host refuses the VM: it goes to another one, the hint is saved."""
    w.done(w.jobs("-N1 -w vm001"))
    wait_for("the hint is saved", 10, lambda: w.died or
             "declared" in w.hints())


def job_that_runs(w):
    job = job_that_waits(w)
    w.release(job)
    w.saved("job_state")
    w.pool["running"] = [job]


@scenario(prepare=job_that_runs)
def running(w):
    """slurmctld begins while a job runs."""
    w.until_connected()
    w.c.path("out", "end").touch()
    w.done(w.pool.pop("running")[0])


@scenario()
def robbed(w):
    """An administrator powers off the VM of a running job."""
    job = job_that_waits(w)
    w.release(job)
    wait_for("its script runs", 30, lambda: w.c.is_on("vm001") and
             w.job(job)["JobState"] == "RUNNING")
    w.c.do("powerOff", vm="vm001")
    w.did()
    w.c.path("out", "end").touch()
    w.done(job)


@scenario()
def maintenance(w):
    """The host of a running job is wanted, and is not any more."""
    job = job_that_waits(w)
    w.release(job)
    # A job that a killed slurmctld did not save is started a second time on the
    # node where it runs: Slurm drains that node, "Duplicate jobid".
    w.saved("job_state")
    host = w.c.our_vm("vm001")["host"]
    w.c.do("maintenance", host=host)
    wait_until("its node is drained", 30, lambda: w.state("vm001") & {
        "DRAIN", "DRAINING", "DRAINED"}, lambda: w.state("vm001"))
    w.c.do("maintenance", host=host, mode="cancel")
    wait_until("its node is not drained", 30, lambda: not w.state("vm001") & {
        "DRAIN", "DRAINING", "DRAINED"}, lambda: w.state("vm001"))
    w.c.path("out", "end").touch()
    w.done(job)


def all_taken(w):
    for i in range(6):
        host = f"esx{i % 2 + 1:02d}.example.org"
        w.c.do("addVm", spec=foreign(f"theirs{i}", host))


@scenario(prepare=all_taken)
def shortage(w):
    """A job waits for a VF."""
    job = w.jobs("-N1 -w vm001")
    w.release(job, "PENDING")
    wait_until("it says why it waits", 30, lambda: "VF" in str(
        w.c.svf("why", str(job))), lambda: (w.c.svf("why", str(job)),
                                            w.job(job)))
    w.c.do("destroyVm", vm="theirs0", force=True, wait=True)
    w.did()
    w.done(job)


@scenario(prepare=lambda w: w.up("vm001"), points=(
    "tell.drain", "tell.undrain", "tell.power_down", "send.ShutdownGuest",
    "end.ShutdownGuest", "send.Destroy_Task", "answer.Destroy_Task",
    "end.Destroy_Task", "write.*", "rename.*"))
def rebuilt(w):
    """An operator has a warm VM rebuilt, and repeats the command if a killed
    slurmctld has forgotten it."""
    was = w.c.our_vm("vm001")["uuid"]

    def look():
        vm = w.c.our_vm("vm001")
        if vm and vm["uuid"] == was:
            w.ask("svf", "vm", "rebuild", "vm001")
            w.ask("svf", "reconcile", "--confirm")  # cells before count, too
        return not vm or vm["uuid"] != was
    w.did()
    wait_until("the old VM is gone", w.goal, look, lambda: w.state("vm001"))
    w.done(w.jobs("-N1 -w vm001"))
