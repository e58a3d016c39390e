# SPDX-License-Identifier: GPL-2.0-or-later
"""The library of the system tests, and two installations of slurm-vsphere: this
tree's, and an earlier commit's."""

import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "system"), str(TESTS / "lib")]

from cluster import Cluster     # noqa: E402
import aftermath                # noqa: E402
import daemons                  # noqa: E402
import scratch                  # noqa: E402
import shards                   # noqa: E402

Cluster.scheduler_parameters += ",batch_sched_delay=0"
Cluster.slurmctld_parameters += ",power_save_interval=1"
daemons.Daemon.late = staticmethod(aftermath.say_late)


def pytest_configure(config):
    shards.interrupt_once()
    scratch.make(config)


def pytest_unconfigure(config):
    scratch.remove(config)
