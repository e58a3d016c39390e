# SPDX-License-Identifier: GPL-2.0-or-later
"""What a job got, as its tasks read it in their environment and people in the
job's record; both against the simulator's own books."""

import json
import re

from cluster import Cluster, wait_for
from stages import Held
from worlds import ROCE_AND_ETH, world

NAMES = ("SLURM_VSPHERE_ADAPTER", "SLURM_VSPHERE_HOST", "SLURM_VSPHERE_PF",
         "SLURM_VSPHERE_MAC", "SLURM_VSPHERE_DEVICE", "UCX_NET_DEVICES",
         "NCCL_IB_HCA")
# Short: srun mixes what its tasks say beyond a kilobyte.
SAY = "/usr/bin/python3 -c 'import os, json; print(\"env\", json.dumps({" \
      "k: v for k, v in os.environ.items() if k.split(\"_\")[0] in " \
      "(\"UCX\", \"NCCL\") or \"VSPHERE_\" in k or k == \"SLURMD_NODENAME\"}))'"


def make_cluster():
    c = Cluster(nodes=4, inventory=world(hosts=3, vfs=1))
    c.choose_ports()
    c.vsphere = {"lines": ROCE_AND_ETH}
    c.node_lines = [c.node_line(1, 3, "sriov-roce"),
                    c.node_line(4, 4, "vmxnet3")]
    c.partition_lines = ["PartitionName=roce Nodes=vm[001-003] Default=YES",
                         "PartitionName=eth Nodes=vm004",
                         "PartitionName=both Nodes=ALL"]
    return c


def said(text):
    """{node: what its tasks saw}, of a step's output."""
    found = [json.loads(m) for m in re.findall(r"env (\{.*\})$", text, re.M)]
    return {e["SLURMD_NODENAME"]: {n: e[n] for n in NAMES if n in e}
            for e in found}


def truth(cluster, name):
    """What the simulator's books say of an SR-IOV node."""
    vm = cluster.our_vm(name)
    pfs = [(h["name"], pf["id"]) for h in cluster.state()["hosts"]
           for pf in h["pfs"] if name in pf["by"].values()]
    assert len(pfs) == 1
    ready = cluster.path("guests", name, "slurm-vsphere", "ready").read_text()
    device = re.search(r"^device (\S+)$", ready, re.M)[1]
    return dict(zip(NAMES, ("sriov-roce", pfs[0][0], pfs[0][1], vm["vf_macs"][0],
                            device, f"{device}:1", device)))


def record(cluster, job):
    """Without its last words, what the job waited for: test_accounting.py."""
    return re.sub(r" waited_s=[\d.]+ provision_s=[\d.]+ cold=\d+( \w+_s=[\d.]+)*$",
                  "", cluster.job(job).get("SystemComment", "").strip())


def test_a_step_on_two_nodes_sees_each_nodes_own(cluster):
    """A step inherits its script's environment, which is the first node's."""
    job = cluster.sbatch("-N2", script=f"{SAY}\necho step\nsrun {SAY}")
    script, step = cluster.wait_job(job).split("step\n")
    seen = said(step)
    assert set(seen) == {"vm001", "vm002"}
    for name, env in seen.items():
        assert env == truth(cluster, name)
    assert seen["vm001"]["SLURM_VSPHERE_HOST"] != \
        seen["vm002"]["SLURM_VSPHERE_HOST"]
    assert said(script) == {"vm001": seen["vm001"]}


def test_srun_and_salloc_tell_it_as_sbatch_does(cluster):
    want = {n: truth(cluster, n) for n in ("vm001", "vm002")}
    two = ("-N2", "-w", "vm[001-002]")
    assert said(cluster.must("srun", *two, "sh", "-c", SAY)) == want
    assert said(cluster.must("salloc", *two, "srun", "sh", "-c", SAY)) == want


def test_what_the_user_has_set_stays(cluster):
    out = cluster.wait_job(cluster.sbatch(
        "-N1", "-w", "vm001", script="export UCX_NET_DEVICES=all\n"
        f"srun {SAY}"))
    env = said(out)["vm001"]
    assert env.pop("UCX_NET_DEVICES") == "all"
    want = truth(cluster, "vm001")
    del want["UCX_NET_DEVICES"]
    assert env == want


def test_who_wants_none_of_it_gets_none(cluster):
    """Neither in the script nor, inherited, in a step that says so itself."""
    out = cluster.wait_job(cluster.sbatch(
        "-N1", "-w", "vm001", "--vsphere-env=no", script=SAY))
    assert said(out) == {"vm001": {}}
    out = cluster.wait_job(cluster.sbatch(
        "-N1", "-w", "vm001", script=f"srun --vsphere-env=no {SAY}"))
    assert said(out) == {"vm001": {}}
    wrong = cluster.run("srun", "--vsphere-env=maybe", "true")
    assert wrong.returncode and "expected yes or no" in wrong.stderr


def test_without_rdma_no_library_is_told_of_a_device(cluster):
    job = cluster.sbatch("-p", "both", "-w", "vm[001,004]",
                         script=f"srun {SAY}")
    seen = said(cluster.wait_job(job))
    assert seen["vm001"] == truth(cluster, "vm001")
    eth = seen["vm004"]
    assert set(eth) == {"SLURM_VSPHERE_ADAPTER", "SLURM_VSPHERE_HOST",
                        "SLURM_VSPHERE_MAC"}
    assert eth["SLURM_VSPHERE_ADAPTER"] == "vmxnet3"
    assert eth["SLURM_VSPHERE_HOST"] == cluster.our_vm("vm004")["host"]
    assert record(cluster, job) == "vsphere: adapter=sriov-roce vm001={}/{} " \
        "adapter=vmxnet3 vm004={}".format(seen["vm001"]["SLURM_VSPHERE_HOST"],
                                          seen["vm001"]["SLURM_VSPHERE_PF"],
                                          eth["SLURM_VSPHERE_HOST"])


def line_of(cluster, name):
    want = truth(cluster, name)
    return "vsphere: adapter=sriov-roce {}={}/{}".format(
        name, want["SLURM_VSPHERE_HOST"], want["SLURM_VSPHERE_PF"])


def test_the_record_says_it_until_the_job_is_back_in_the_queue(cluster):
    """And comments of people stay theirs; a restart of slurmctld changes
    nothing."""
    job = Held(cluster, "-N1", "-w", "vm002", "--comment=mine",
               after=f"srun {SAY}\necho the end").wait_running()
    cluster.must("scontrol", "update", f"jobid={job.id}", "admincomment=ours")
    assert record(cluster, job.id) == line_of(cluster, "vm002")
    cluster.must("scontrol", "requeue", str(job.id))
    wait_for("its record says it no more", 30, lambda:
             cluster.job_state(job.id) == "PENDING" and
             not record(cluster, job.id))

    def runs():
        # Its end, which may still be to come, delays it by two minutes, for
        # so long the old node's slurmd refuses it.
        cluster.run("scontrol", "update", f"jobid={job.id}", "starttime=now",
                    "reqnodelist=vm003")
        return cluster.job_state(job.id) == "RUNNING"
    wait_for("it runs again", 60, runs)
    line = line_of(cluster, "vm003")
    assert record(cluster, job.id) == line
    cluster.restart_slurmctld()
    cluster.wait_state(job.id, "RUNNING")
    job.let_go()
    out = cluster.wait_job(job.id, 60)
    assert said(out) == {"vm003": truth(cluster, "vm003")}
    end = cluster.job(job.id)
    assert record(cluster, job.id) == line
    assert (end["Comment"].strip(), end["AdminComment"].strip()) == \
        ("mine", "ours")
