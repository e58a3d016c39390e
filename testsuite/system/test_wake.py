# SPDX-License-Identifier: GPL-2.0-or-later
"""Power saving looks when Slurm's nodes change, or after ten seconds. From 24.11
an allocation in the second of its last look is no change to it: the job's node
is not asked for until those are over, unless slurm-vsphere wakes it."""

import time

from cluster import Cluster, patience, wait_for
from worlds import world

NODES = 6


def asleep(until):
    time.sleep(max(0.0, until - time.time()))


def test_power_is_asked_for_soon_whenever_a_job_is_allocated(fresh):
    # As administrators leave it, not as the other tests shorten it.
    params = ",".join(p for p in Cluster.slurmctld_parameters.split(",")
                      if not p.startswith("power_save_interval"))
    c = fresh(nodes=NODES, slurm={"SlurmctldParameters": params},
              inventory=world(hosts=1, vfs=NODES))
    took = []
    for n in range(1, NODES + 1):
        node = f"vm{n:03}"
        # A change that power saving looks at when the second after it begins:
        # the job comes late in that second.
        second = int(time.time()) + 3
        asleep(second + 0.05)
        c.must("scontrol", "update", f"nodename={node}", "comment=touched")
        asleep(second + 0.7)
        began = time.time()
        job = c.sbatch("-N1", "-w", node, script="true")
        wait_for(f"{node} is asked for", 30, lambda: "POWER" in c.node(
            node)["State"].replace("POWERED_DOWN", ""))
        took.append(round(time.time() - began, 1))
        # Quiet again: nothing else may wake it for the next one.
        c.wait_job(job)
    assert max(took) < min(5 * patience(), 9), took
