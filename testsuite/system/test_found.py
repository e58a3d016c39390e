# SPDX-License-Identifier: GPL-2.0-or-later
"""What the chaos run found, each as small as it can be told."""

from cluster import Cluster, wait_for
from worlds import world


def make_cluster():
    c = Cluster(inventory=world(hosts=2, vfs=2), nodes=4)
    c.vsphere = {"ShutdownGrace": 1}
    c.slurm = {"SuspendTimeout": 2,
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


def test_a_job_whose_vm_somebody_switches_off_runs_again(cluster):
    job = cluster.sbatch("-N2", "-w", "vm[002-003]", "--requeue",
                         script="srun hostname; sleep 8; echo the end")
    wait_for("it runs", 40, lambda: "vm003" in cluster.output(job))
    cluster.do("powerOff", vm="vm003")
    wait_for("it was requeued", 20,
             lambda: cluster.job(job).get("Restarts") == "1")
    assert "the end" in cluster.wait_job(job, 60)
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
