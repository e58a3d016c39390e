# SPDX-License-Identifier: GPL-2.0-or-later
"""Where several modules' tests begin, and what they look at afterwards."""

import time

from cluster import wait_for


def wait_saved(c, job, node):
    """slurmctld writes its state some seconds late: touch it, and wait."""
    began = time.time_ns()
    c.must("scontrol", "update", f"jobid={job}", "comment=x")
    c.must("scontrol", "update", f"nodename={node}", "comment=x")
    for what in ("job_state", "node_state"):
        f = c.path("state", what)
        wait_for(f"{what} is saved", 15, lambda f=f: f.exists() and
                 f.stat().st_mtime_ns > began)


def holds(c):
    """Who has how many VFs on which PF, by the core's own ledger."""
    return sorted((h["host"], pf["pci"], pf["total"], pf["ours"], pf["held"],
                   pf["foreign"]) for h in c.svf("hosts")["hosts"]
                  for pf in h["pfs"])


def ready_count(c):
    return c.ctld_log().count("slurm-vsphere: ready:")


def wait_ready_again(c, was, timeout=30):
    wait_for("the plugin is ready again", timeout,
             lambda: ready_count(c) > was)


def nobody_down(c):
    assert not [(n, s) for n, s in c.node_states().items()
                if s.startswith("DOWN") or "DRAIN" in s]
