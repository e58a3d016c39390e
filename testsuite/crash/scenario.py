# SPDX-License-Identifier: GPL-2.0-or-later
"""What a scenario of the matrices is, and what several of them begin with."""

import signal

SCENARIOS = {}


def nothing(w):
    pass


class Scenario:
    """points: those that are tried in it though another one reaches them, too;
    edits: it has a vsphere.conf of its own, which a start brings in force;
    ends: a job in it ends just before something else, unsaved (crash.ENDS)."""

    def __init__(self, run, prepare=nothing, between=nothing,
                 sig=signal.SIGTERM, points=(), edits=False, ends=False):
        self.name, self.run = run.__name__, run
        self.prepare, self.between, self.sig = prepare, between, sig
        self.points, self.edits, self.ends = points, edits, ends


def scenario(**how):
    def add(run):
        SCENARIOS[run.__name__] = Scenario(run, **how)
        return run
    return add


def job_that_waits(w, options="-N1 -w vm001"):
    """A job that runs until it is told to end."""
    w.c.path("out", "end").unlink(missing_ok=True)
    return w.jobs(options, "echo began; "
                  f"until [ -e {w.c.path('out', 'end')} ]; do sleep 0.2; done")
