# SPDX-License-Identifier: GPL-2.0-or-later
"""A large site: 1,000 hosts and 4,000 VMs."""

import os
import pathlib

from cluster import wait_for
from stages import ready_count, wait_ready_again
from worlds import host, world

OUR_SECONDS = 5


def cpu_seconds(c):
    """What slurmctld has used, all its threads."""
    for p in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (p / "comm").read_text() == "slurmctld\n" and \
                    c.mark.encode() in (p / "environ").read_bytes():
                f = (p / "stat").read_text().rsplit(")", 1)[1].split()
                return (int(f[11]) + int(f[12])) / os.sysconf("SC_CLK_TCK")
        except OSError:
            continue
    raise AssertionError("no slurmctld")


def test_a_full_load_is_one_walk_and_little_of_our_own_time(fresh):
    """After the start, and after the session was lost. The simulator's own time
    does not count."""
    c = fresh(ready=False, nodes=16, inventory=world(
        hosts=[{**host("esx%04d.example.org"), "count": 1000}], vms=[
            {"name": "theirs%04d", "count": 4000, "folder": "", "host": "*",
             "powerOn": True, "numCPUs": 2, "memoryMB": 2048,
             "nics": ["VM-PG"]}]))
    wait_for("it is read", 120, lambda: ready_count(c) == 1)
    assert "inventory loaded: hosts=1000 vms=4001" in c.ctld_log()
    assert cpu_seconds(c) < OUR_SECONDS
    used, waits = cpu_seconds(c), c.calls("WaitForUpdatesEx")
    c.do("expireSessions")
    wait_ready_again(c, 1, 120)
    assert cpu_seconds(c) - used < OUR_SECONDS
    # Pages of a hundred objects: hosts, VMs, our folder, and a few of nothing.
    assert c.calls("WaitForUpdatesEx") - waits <= 5001 // 100 + 10
    c.wait_job(c.sbatch("-N2", script="true"), 120)
