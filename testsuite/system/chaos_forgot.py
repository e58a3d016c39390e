# SPDX-License-Identifier: GPL-2.0-or-later
"""What a killed slurmctld forgot, as far as it can be proven.

slurmctld saves its jobs some seconds late, and takes nodes of State=CLOUD for up
before they have registered. One that was killed right after it started a job
doesn't know of that run, nor perhaps of the job: it gives the number again, or
starts the job again, on a node where the first run still is. slurmd refuses
the second copy, slurmctld drains the node for "Duplicate jobid" and holds the
job off. Stock select/cons_tres does the same with cloud nodes (a job started,
kill -9 half a second later: at the first trial). That, and only that, is what
is recognised here: from slurmd's own log, from what the first run wrote down
when it began, and from the time of the kill.
"""

import re
import time

SAVED_S = 15        # a run that is older than this has been saved
DRAINED_S = 30      # from slurmd's refusal to the drain, as we look at it

COPY = re.compile(r"^\[(\S+?)(\.\d+)?\] error: Job (\d+) already running", re.M)


def refusals(log):
    """(epoch, job's id) of each second copy in a slurmd's log."""
    return [(time.mktime(time.strptime(at, "%Y-%m-%dT%H:%M:%S")) +
             float(part or 0), job) for at, part, job in COPY.findall(log)]


def forgotten(began, kills, until):
    """A kill so soon after the run's begin that slurmctld can't know of it."""
    return any(began - 1 <= k <= min(until, began + SAVED_S) for k in kills)


def copy_explains(at, log, runs, kills):
    """Is a drain for "Duplicate jobid" at that time one of these? runs: (epoch,
    job's id) of what began on the node, by its own word."""
    return any(at - DRAINED_S <= t <= at + 1 and any(
        job == was and began < t and forgotten(began, kills, t)
        for began, was in runs) for t, job in refusals(log))
