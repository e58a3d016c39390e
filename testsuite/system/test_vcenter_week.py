# SPDX-License-Identifier: GPL-2.0-or-later
"""A site's first week with its vCenter: what a real one has that a tidy one
hasn't. Each is served, or refused by name."""

import json
import time

from cluster import wait_for
from worlds import world


def reason_of(cluster, job):
    return " ".join([cluster.squeue(job, "%r"),
                     cluster.job(job).get("SystemComment", "")])


def notes(c):
    return c.svf("status").get("notes", [])


# ---- how many VMs are made in an hour -----------------------------------------

CAPPED = {"MaxClonesPerHour": 2}


def hints(c):
    return json.loads(c.path("state", "slurm_vsphere.hints").read_text())


def test_the_hours_vms_are_used_up_and_said_so_until_the_hour_is_over(fresh):
    """A restart forgets nothing; VMs that are there run jobs all the while."""
    c = fresh(nodes=4, inventory=world(hosts=2, vfs=2), vsphere=CAPPED)
    c.wait_ready()
    two = c.sbatch("-N2", script="true")
    c.wait_job(two, 60)
    wait_for("svf status counts them", 5,
             lambda: c.svf("status")["clones_hour"] == 2)
    assert c.svf("status")["clones_max"] == 2
    wait_for("it is told", 10, lambda: any(
        "MaxClonesPerHour=2: so many" in n for n in notes(c)))
    waits = c.sbatch("-N3", script="true")
    wait_for("the reason says what, and until when", 20, lambda:
             "MaxClonesPerHour=2 is used up until" in reason_of(c, waits))
    assert "MaxClonesPerHour=2 is used up until" in \
        c.svf("why", str(waits))["text"]
    # nobody expects it before that
    expected = c.svf("why", str(waits)).get("expected")
    assert expected is None or expected > time.time() + 50 * 60
    c.wait_job(c.sbatch("-N2", "-t5", script="true"), 30)
    assert c.calls("CloneVM_Task") == 2
    # An hour all but a minute ago, by what slurmctld remembers.
    wait_for("it is written", 10, lambda: sum(
        m["made"] for m in hints(c).get("clones", [])) == 2)
    c.end_slurmctld()
    was = hints(c)
    was["clones"] = [{"minute": int(time.time() // 60) - 59, "made": 2}]
    c.path("state", "slurm_vsphere.hints").write_text(json.dumps(was))
    c.start_slurmctld()
    c.wait_ready()
    if int(time.time() // 60) - 59 == was["clones"][0]["minute"]:
        assert c.job_state(waits) == "PENDING"
    c.wait_job(waits, 90)
    assert time.time() // 60 >= was["clones"][0]["minute"] + 60
    assert c.calls("CloneVM_Task") == 3
