# SPDX-License-Identifier: GPL-2.0-or-later
"""What each pytest of private clusters sets up: Slurm's own beats, shorter, because
they make most of what these tests wait for; what a late end says; the run's directory."""

import aftermath
import daemons
import scratch
import shards
from cluster import Cluster

Cluster.scheduler_parameters += ",batch_sched_delay=0"
Cluster.slurmctld_parameters += ",power_save_interval=1"
daemons.Daemon.late = staticmethod(aftermath.say_late)


def pytest_configure(config):
    # An ended terminal must end the daemons too: exceptions unwind fixtures.
    shards.interrupt_once()
    scratch.make(config)


def pytest_unconfigure(config):
    scratch.remove(config)
