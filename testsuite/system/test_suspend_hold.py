# SPDX-License-Identifier: GPL-2.0-or-later
"""An operator's hold (scontrol suspend) on a job whose VM is suspended for
another's sake: its cores stay its own, whoever starts anew meanwhile, and are
counted once when it goes on. And what else people do to such a job and its node."""

import time

from cluster import Cluster, wait_for
from stages import Held, power, ready_count, wait_ready_again, wait_saved
from worlds import host, world

HOST = "esx01.example.org"
CPUS = 2


def make_cluster():
    """Room for two VMs of low and high; all of a node's cores are its one job's,
    but not its memory."""
    c = Cluster(nodes=4, inventory=world(hosts=[
        host(HOST, vfs=0, memory=11 * 1024)]))
    c.choose_ports()
    c.vsphere = {"ShutdownGrace": 1, "OversubscribeNames": "yes", "lines": [
        "ClusterName=HPC1 ResourcePool=slurm",
        "AdapterName=vmxnet3 Type=vmxnet3 Network=VM-PG",
        "PartitionName=low Adapter=vmxnet3 Template=rhel9-ofed"
        " MemoryReservation=full Preempt=suspend",
        "PartitionName=other Adapter=vmxnet3 Template=rhel9-ofed"
        " MemoryReservation=full"]}
    c.slurm = {"SuspendTimeout": 2, "PreemptType": "preempt/partition_prio",
               "PreemptMode": "REQUEUE"}
    c.node_lines = [c.node_line(1, 2, "vmxnet3", memory=4096),
                    c.node_line(3, 4, "vmxnet3", memory=4096)]
    c.partition_lines = [
        "PartitionName=low Nodes=vm[001-002] Default=YES",
        "PartitionName=other Nodes=vm[003-004]",
        "PartitionName=high Nodes=ALL PriorityTier=10"]
    return c


class Suspended:
    """Two jobs of low; one is suspended for one of high."""

    def __init__(self, c):
        self.c = c
        low = [Held(c, f"-n{CPUS}", "--mem=100", "-w", n)
               for n in ("vm001", "vm002")]
        for job in low:
            job.wait_running()
        self.high = Held(c, "-p", "high", f"-n{CPUS}", "--mem=100", "-w",
                         "vm003")
        self.job = wait_for("a job is suspended, and its VM", 60, lambda: next(
            (j for j in low if c.job_state(j.id) == "SUSPENDED" and
             power(c, c.job(j.id)["NodeList"]) == "suspended"), None))
        self.id = self.job.id
        self.stays = next(j for j in low if j is not self.job)
        self.node = c.job(self.id)["NodeList"]
        self.high.wait_running()

    def held(self):
        self.c.must("scontrol", "suspend", str(self.id))
        assert self.c.job(self.id)["Priority"] == "0"
        return self

    def released(self):
        """Slurm says no to the operator: its VM isn't on yet."""
        assert self.c.run("scontrol", "resume", str(self.id)).returncode
        assert self.c.job(self.id)["Priority"] != "0"

    def goes_on(self):
        wait_for("it goes on", 60,
                 lambda: self.c.job_state(self.id) == "RUNNING")
        assert power(self.c, self.node) == "poweredOn"

    def cores(self):
        """Taken, of its node."""
        return int(self.c.node(self.node)["CPUAlloc"])

    def end(self):
        self.high.end_well()
        self.stays.end_well()


def restart(c, *saved):
    ready = ready_count(c)
    wait_saved(c, *saved)
    c.restart_slurmctld()
    wait_ready_again(c, ready)


def waits_for_cores(c, *options):
    """A job that these cores aren't there for; its id."""
    job = c.sbatch("--mem=100", *options, script="hostname")
    wait_for("it is judged", 60, lambda: c.job_state(job) != "PENDING" or
             c.squeue(job) in ("Resources", "Priority"))
    assert c.job_state(job) == "PENDING"
    return job


def test_cores_are_its_own_over_a_start_and_a_reconfiguration(cluster):
    c = cluster
    s = Suspended(c).held()
    assert s.cores() == CPUS
    restart(c, s.id, s.node)
    assert c.job(s.id)["Priority"] == "0"
    assert s.cores() == CPUS
    for again in (("reconfigure",), ("setdebugflags", "+SelectType"),
                  ("setdebugflags", "-SelectType"),
                  ("update", "partitionname=low", "nodes=vm[001-002]")):
        c.must("scontrol", *again)
        assert s.cores() == CPUS, again
    s.high.end_well()
    s.released()
    s.goes_on()
    assert s.cores() == CPUS
    other = waits_for_cores(c, "-n1", "-w", s.node)
    c.must("scontrol", "reconfigure")
    s.job.end_well()
    c.wait_job(other)
    wait_for("no core is taken", 30, lambda: s.cores() == 0)
    assert "job overflow" not in c.ctld_log()
    assert "mis-count" not in c.ctld_log()
    s.stays.end_well()


def test_a_node_that_is_set_down_has_its_vm_thrown_away(cluster):
    """The job is requeued, as from any node that is; the node serves again."""
    c = cluster
    s = Suspended(c).held()
    restart(c, s.id, s.node)
    c.must("scontrol", "update", f"nodename={s.node}", "state=down",
           "reason=by a person")
    wait_for("its job is in the queue", 60,
             lambda: c.job_state(s.id) == "PENDING")
    wait_for("its VM is off", 60, lambda: power(c, s.node) == "poweredOff")
    c.must("scontrol", "update", f"nodename={s.node}", "state=resume")
    s.end()
    c.must("scancel", str(s.id))
    c.wait_job(c.sbatch("-w", s.node, script="hostname"), 90)


def test_a_drained_nodes_job_goes_on(cluster):
    c = cluster
    s = Suspended(c)
    c.must("scontrol", "update", f"nodename={s.node}", "state=drain",
           "reason=by a person")
    restart(c, s.id, s.node)
    s.high.end_well()
    s.goes_on()
    s.job.end_well()
    s.stays.end_well()
    assert "DRAIN" in c.node_states()[s.node]
    c.must("scontrol", "update", f"nodename={s.node}", "state=resume")


def test_a_held_one_is_requeued(cluster):
    """Nothing is left of it: neither its VM's memory nor a mark."""
    c = cluster
    s = Suspended(c).held()
    restart(c, s.id, s.node)
    c.must("scontrol", "requeue", str(s.id))
    wait_for("its VM is off", 60, lambda: power(c, s.node) == "poweredOff")
    wait_for("its job is in the queue", 60,
             lambda: c.job_state(s.id) == "PENDING")
    assert s.cores() == 0
    s.end()
    c.run("scontrol", "release", str(s.id))
    # Slurm keeps it back for as long as its old credential lives, 120 s.
    c.must("scontrol", "update", f"jobid={s.id}", "starttime=now")
    wait_for("it runs again", 90, lambda: c.job_state(s.id) == "RUNNING")
    assert "suspended" not in c.job(s.id).get("SystemComment", "")
    assert s.cores() == CPUS
    c.must("scontrol", "suspend", str(s.id))
    assert s.cores() == 0
    c.must("scontrol", "reconfigure")
    assert s.cores() == 0
    c.must("scontrol", "resume", str(s.id))
    assert s.cores() == CPUS
    s.job.let_go()
    c.wait_job(s.id)


def test_one_whose_node_is_no_vm_any_more_is_an_operators(cluster):
    """Its cores are not taken a second time; and given away by the next hold."""
    c = cluster
    s = Suspended(c).held()
    low = next(x for x in c.vsphere["lines"] if "PartitionName=low" in x)
    c.change_vsphere(low, "# none of ours")
    wait_for("Slurm resumes it", 30, lambda: not c.run(
        "scontrol", "resume", str(s.id)).returncode)
    assert s.cores() == CPUS
    assert "job overflow" not in c.ctld_log()
    c.must("scontrol", "suspend", str(s.id))
    assert s.cores() == 0
    c.must("scontrol", "reconfigure")
    assert s.cores() == 0
    c.must("scontrol", "resume", str(s.id))
    assert s.cores() == CPUS
    assert "suspended" not in c.job(s.id).get("SystemComment", "")
    c.must("scancel", str(s.id))
    c.change_vsphere("# none of ours", low)
    wait_for("its VM is off", 60, lambda: power(c, s.node) == "poweredOff")
    s.end()
