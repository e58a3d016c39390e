# SPDX-License-Identifier: GPL-2.0-or-later
"""Templates come and go under one name, as image builders make them."""

from cluster import wait_for
from worlds import template, world


def has(c, name):
    return [v for v in c.state()["vms"] if v["name"] == name]


def down(c):
    return [n for n, s in c.node_states().items() if s.startswith("DOWN")]


def test_a_template_made_again_serves_the_next_job(fresh):
    c = fresh(nodes=2, inventory=world(hosts=2, vfs=2))
    c.wait_job(c.sbatch("-N1", "-w", "vm001", script="hostname"), 60)
    old = has(c, "vm001")[0]["moid"]
    c.do("destroyVm", vm="rhel9-ofed")
    wait_for("the template is gone", 10, lambda: not has(c, "rhel9-ofed"))
    c.do("addVm", spec={**template(), "host": "esx01.example.org"})
    # The first is a clone of what was deleted, or not, as the beat falls.
    job = c.sbatch("-N1", "-w", "vm002", script="hostname")
    c.wait_job(job, 90)
    assert not down(c)
    # The node's old VM is rebuilt when a job next uses it.
    job = c.sbatch("-N1", "-w", "vm001", script="hostname")
    c.wait_job(job, 90)
    assert has(c, "vm001")[0]["moid"] != old


def test_a_job_waits_for_its_template_and_says_so(fresh):
    c = fresh(nodes=2, inventory=world(hosts=2, vfs=2))
    c.do("destroyVm", vm="rhel9-ofed")
    says = "Template=rhel9-ofed: vCenter has no VM template of that name"
    wait_for("it is said", 30, lambda: says in c.ctld_log())
    job = c.sbatch("-N1", script="hostname")
    wait_for("why", 30, lambda: says in c.svf("why", str(job))["text"])
    wait_for("squeue's reason", 30, lambda: says in
             c.must("scontrol", "show", "job", str(job)))
    assert c.job_state(job) == "PENDING"
    assert c.calls("CloneVM_Task") == 0
    c.do("addVm", spec={**template(), "host": "esx01.example.org"})
    c.wait_job(job, 25)     # a slow beat, and the scheduler is told at once
    assert not down(c)
