# SPDX-License-Identifier: GPL-2.0-or-later
"""What a type of adapter allows is made use of: a host that is to be empty is
left by VMs of vmxnet3 and PVRDMA with their jobs running; those with a VF stay
until their job has ended, or is requeued by an order."""

import json
import pathlib
import re

from cluster import Cluster, wait_for
from stages import Held, guest_states, power, ready_count, stands_still, \
    wait_ready_again, wait_saved
from test_check import findings
from test_check_while import found
from test_preflight import LEAST, ROLES
from worlds import ROCE, host, world

E1, E2, E3 = (f"esx{i:02d}.example.org" for i in (1, 2, 3))
ETH, RDMA, VF = "vm001", "vm002", "vm003"


def make_cluster():
    """On esx01 there is room for all, on the others for one VM of `eth` each:
    its CPUs are reserved."""
    c = Cluster(nodes=5, inventory=world(
        hosts=[host(E1), host(E2, cores=3), host(E3, cores=3)],
        durations={"RelocateVM_Task": "1s"}))
    c.choose_ports()
    c.vsphere = {"ShutdownGrace": 1, "Placement": "pack", "lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        "AdapterName=vmxnet3 Type=vmxnet3 Network=VM-PG",
        f"AdapterName=pvrdma Type=pvrdma Network={ROCE}",
        f"AdapterName=sriov-roce Type=sriov Network={ROCE}",
        "PartitionName=eth Adapter=vmxnet3 Template=rhel9-ofed LatencySensitivity=high",
        "PartitionName=rdma Adapter=pvrdma Template=rhel9-ofed",
        "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed"]}
    c.node_lines = [c.node_line(1, 1, "vmxnet3"), c.node_line(2, 2, "pvrdma"),
                    c.node_line(3, 3, "sriov-roce"),
                    c.node_line(4, 5, "vmxnet3")]
    c.partition_lines = ["PartitionName=eth Nodes=vm001,vm[004-005] Default=YES",
                         "PartitionName=rdma Nodes=vm002",
                         "PartitionName=roce Nodes=vm003"]
    return c


class Living(Held):
    """A job of which the very process is looked at."""

    def process(self):
        """(PID, when it began) of its script, seen from outside of the guest."""
        top, job = str(self.c.path("x").parent), f"/job{int(self.id):05d}/"
        for p in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                line = (p / "cmdline").read_text()
                if top in line and f"{job}slurm_script" in line:
                    return p.name, (p / "stat").read_text().split()[21]
            except OSError:
                pass
        return None

    def wait_running(self, *timeout):
        super().wait_running(*timeout)
        self.born = wait_for("its script runs", 30, self.process)
        return self

    def lives(self):
        now = self.process()
        assert now == self.born, (now, self.born)
        return self.runs_on()


def host_of(c, node):
    vm = c.our_vm(node)
    return vm["host"] if vm and vm["on"] else None


def boots(c, node):
    return c.our_vm(node)["boots"]


def state_of(c, name):
    return {h["host"]: h for h in c.svf("hosts")["hosts"]}[name]["state"]


def drains(c):
    return {n: c.node(n).get("Reason", "") for n in (ETH, RDMA, VF, "vm004", "vm005")
            if "DRAIN" in c.node(n)["State"]}


def moved_to(c, node, *hosts, seconds=30):
    wait_for(f"{node}'s VM is on {' or '.join(hosts)}", seconds,
             lambda: host_of(c, node) in hosts)
    wait_for("svf jobs shows it there", 20, lambda: host_of(c, node) in str(
        [j for j in c.svf("jobs")["jobs"]]))


def back(c, *names):
    """Hosts that an operator drained take VMs again, and no host is drained."""
    for name in names:
        c.svf("host", "resume", name, json_out=False)
    wait_for("nobody is drained", 40, lambda: drains(c) == {})


def on_the_first(c, **jobs):
    """These jobs' VMs, partition=node, run on esx01: the other hosts take VMs
    only after that."""
    for name in (E2, E3):
        c.svf("host", "drain", name, json_out=False)
    run = {n: Living(c, "-p", p, "-w", n).wait_running()
           for p, n in jobs.items()}
    assert {host_of(c, n) for n in run} == {E1}
    for name in (E2, E3):
        c.svf("host", "resume", name, json_out=False)
    return run


def test_jobs_go_on_while_their_host_is_emptied(cluster):
    c = cluster
    jobs = on_the_first(c, eth=ETH, rdma=RDMA, roce=VF)
    plan = {r["node"]: r["outcome"] for r in c.svf("host", "drain", "--dry-run", E1)["nodes"]}
    assert plan == {ETH: "move", RDMA: "move", VF: "stay"}
    said = c.svf("host", "drain", E1, json_out=False)
    assert re.search(rf"{ETH} +{jobs[ETH].id} +move", said), said
    assert re.search(rf"{VF} +{jobs[VF].id} +stay", said), said
    moved_to(c, ETH, E2, E3)
    moved_to(c, RDMA, E2, E3)
    wait_for("SystemComment says where it is now", 20, lambda: host_of(
        c, ETH) in c.job(jobs[ETH].id)["SystemComment"])
    assert "waited_s=" in c.job(jobs[ETH].id)["SystemComment"]
    for n in (ETH, RDMA):
        assert jobs[n].lives() and boots(c, n) == 1
    wait_for("the one with a VF is drained, and says why", 20, lambda: re.search(
        r"drained by an operator.*type sriov allows it in no release",
        drains(c).get(VF, "")))
    wait_for("none but that", 30, lambda: set(drains(c)) == {VF})
    jobs[VF].end_well()
    wait_for("the host is empty", 40, lambda: not [
        v for v in c.our_vms() if v["on"] and v["host"] == E1])
    for n in (ETH, RDMA):
        jobs[n].lives()
        jobs[n].end_well()
    back(c, E1)


def test_without_room_it_waits_and_says_so(cluster):
    """Each of the other hosts has room for one of three VMs: the third stays
    until one of them is gone. slurmctld is killed in the middle of a move."""
    c = cluster
    for name in (E2, E3):
        c.svf("host", "drain", name, json_out=False)
    nodes = ("vm001", "vm004", "vm005")
    jobs = {n: Living(c, "-p", "eth", "-w", n).wait_running() for n in nodes}
    assert {host_of(c, n) for n in nodes} == {E1}
    for name in (E2, E3):
        c.svf("host", "resume", name, json_out=False)
    booted = {n: boots(c, n) for n in nodes}
    c.do("setDuration", name="RelocateVM_Task", duration="4s")
    was = ready_count(c)
    wait_saved(c, jobs["vm005"].id, "vm005")
    c.do("maintenance", host=E1)
    wait_for("a VM is on its way", 30,
             lambda: c.running_tasks("RelocateVM_Task"))
    c.kill_slurmctld()
    c.start_slurmctld()
    wait_ready_again(c, was)
    c.do("setDuration", name="RelocateVM_Task", duration="300ms")
    wait_for("two of them have left", 60, lambda: sorted(
        host_of(c, n) for n in nodes) == [E1, E2, E3])
    stays = next(n for n in nodes if host_of(c, n) == E1)
    wait_for("the third says what lacks", 40, lambda: re.search(
        r"entering maintenance; .*needs 1 vmxnet3 VM, 0 free",
        drains(c).get(stays, "")))
    assert state_of(c, E1) == "ENTERING_MAINTENANCE"
    for n in nodes:
        assert jobs[n].lives() and boots(c, n) == booted[n]
    gone = next(n for n in nodes if n != stays)
    jobs[gone].end_well()
    c.must("scontrol", "update", f"nodename={gone}", "state=power_down")
    moved_to(c, stays, E2, E3, seconds=60)
    wait_for("the host is in maintenance", 30,
             lambda: state_of(c, E1) == "MAINTENANCE")
    wait_for("the drain is lifted", 30, lambda: drains(c) == {})
    jobs[stays].lives()
    c.do("maintenance", host=E1, mode="exit")
    for n in nodes:
        if n != gone:
            jobs[n].end_well()


def test_jobs_with_a_vf_are_requeued_by_an_order_and_a_move_by_others_followed(
        cluster):
    c = cluster
    c.must("scontrol", "update", "nodename=vm[001-005]", "state=power_down")
    wait_for("all VMs are off", 60, lambda: not c.names_on())
    wait_for("nodes are powered down", 30, lambda: all(
        c.is_powered_down(n) for n in (ETH, RDMA, VF)))
    jobs = on_the_first(c, rdma=RDMA, roce=VF)
    eth, vf = jobs[RDMA], jobs[VF]
    booted = boots(c, RDMA)
    # Slurm's suspend stops processes: VMs stay on, and VFs in use.
    for job in (eth, vf):
        c.must("scontrol", "suspend", str(job.id))
        assert c.job_state(job.id) == "SUSPENDED"
    assert c.vfs_of([VF]) == 1 and c.names_on() >= {RDMA, VF}
    c.do("migrate", vm=RDMA, host=E2)
    moved_to(c, RDMA, E2)
    for job in (eth, vf):
        c.must("scontrol", "resume", str(job.id))
        assert job.lives()
    assert boots(c, RDMA) == booted
    wait_for("SystemComment follows", 20, lambda: E2 in c.job(eth.id)[
        "SystemComment"])
    c.do("migrate", vm=RDMA, host=E1)
    moved_to(c, RDMA, E1)
    c.svf("host", "drain", E1, "--requeue", json_out=False)
    moved_to(c, RDMA, E2, E3)
    wait_for("the job with a VF is requeued", 40,
             lambda: c.job(vf.id)["Restarts"] == "1")
    wait_for("its record says why", 20, lambda: re.search(
        r"requeued: host esx01.*drained.*type sriov",
        c.job(vf.id).get("SystemComment", "")))
    eth.lives()
    eth.end_well()
    c.must("scancel", str(vf.id))
    vf.let_go()
    back(c, E1)
    assert c.counters()["foreignTouches"] == 0


def test_a_vm_that_somebody_suspends_stands_still_and_goes_on(cluster):
    """slurm-vsphere does not react, and the job continues where it was."""
    c = cluster
    job = Living(c, "-p", "eth", "-w", ETH).wait_running()
    was, before = boots(c, ETH), guest_states(c, ETH)
    assert "T" not in before.values() and int(job.born[0]) in before, before
    c.do("suspend", vm=ETH, wait=True)
    assert power(c, ETH) == "suspended"
    wait_for("its guest stands still", 20, lambda: stands_still(c, ETH))
    assert set(guest_states(c, ETH)) >= {int(job.born[0])}, before
    job.lives()
    c.do("powerOn", vm=ETH)
    wait_for("its guest goes on", 20,
             lambda: "T" not in guest_states(c, ETH).values())
    assert (power(c, ETH), boots(c, ETH)) == ("poweredOn", was)
    job.lives()
    job.end_well()


def test_a_host_with_a_suspended_vm_is_not_empty(cluster):
    """An administrator suspends the VM of a running job. Its host's plan and drain
    say why it stays; --requeue ends the job, and the VM is switched off."""
    c = cluster
    job = Living(c, "-p", "eth", "-w", ETH).wait_running()
    at = c.our_vm(ETH)["host"]
    c.do("suspend", vm=ETH, wait=True)
    wait_for("svf shows it", 20, lambda: next(
        n["vm_state"] for n in c.svf("nodes")["nodes"]
        if n["node"] == ETH) == "SUSPENDED")
    plan = c.must("svf", "host", "drain", "--dry-run", at)
    assert any(ETH in line and "the VM is suspended" in line
               for line in plan.splitlines()), plan
    c.must("svf", "host", "drain", at)
    reason = wait_for("its node says why", 30, lambda: next(
        (r for r in [drains(c).get(ETH, "")] if "the VM is suspended" in r), None))
    assert "the VM stays until the job ends" in reason, reason
    shown = next(h for h in c.svf("hosts")["hosts"] if h["host"] == at)
    assert "1 VM is suspended" in str(shown), shown
    c.must("svf", "host", "drain", "--requeue", at)
    wait_for("its VM is off", 90, lambda: power(c, ETH) == "poweredOff")
    wait_for("its job is in the queue", 60,
             lambda: c.job_state(job.id) == "PENDING")
    assert c.job(job.id)["Restarts"] == "1", c.job(job.id)
    c.must("scancel", str(job.id))
    back(c, at)


def test_a_vm_that_somebody_suspends_for_too_long_is_switched_off(fresh):
    """Its guest is silent for longer than SlurmdTimeout: Slurm requeues the job,
    which runs again in the same VM after a boot."""
    c = fresh(start=False, nodes=1)
    c.choose_ports()
    c.slurm = {"SlurmdTimeout": 8, "SuspendTimeout": 2}
    c.vsphere = {"ShutdownGrace": 1, "lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        "AdapterName=vmxnet3 Type=vmxnet3 Network=VM-PG",
        "PartitionName=eth Adapter=vmxnet3 Template=rhel9-ofed"]}
    c.node_lines = [c.node_line(1, 1, "vmxnet3")]
    c.partition_lines = ["PartitionName=eth Nodes=vm001 Default=YES"]
    c.start().wait_ready()
    job = Held(c, "-w", ETH).wait_running()
    c.do("suspend", vm=ETH, wait=True)
    assert power(c, ETH) == "suspended"
    wait_for("its job is requeued", 90,
             lambda: c.job(job.id)["Restarts"] == "1")
    wait_for("its VM is off", 60, lambda: power(c, ETH) != "suspended")
    job.let_go()
    # Slurm keeps it back for as long as its old credential lives, 120 s.
    c.must("scontrol", "update", f"jobid={job.id}", "starttime=now")
    assert "the end" in c.wait_job(job.id, 120)
    assert boots(c, ETH) == 2
    assert c.counters()["foreignTouches"] == 0


def test_a_privilege_that_vmotion_lacks_is_told(cluster):
    """The last of the file: from now on the account has the least rights."""
    c = cluster
    lacks = "Resource.HotMigrate"
    assert "rights-vmotion" not in {f["code"] for f in findings(c)}
    assert lacks in {p for v in ROLES.values() for p in v}
    c.do("permissions", permissions=LEAST, roles={
        k: [p for p in v if p != lacks] for k, v in ROLES.items()})
    f = found(c, "rights-vmotion", "slurm", 60)
    assert f["severity"] == "warning", f
    assert lacks in json.dumps(f), f
