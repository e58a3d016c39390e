#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""matrix.py [crash] [calls] [--whole] [--scenario NAME]... [--only GLOB]...

The crash matrix and the call matrix (crash.py, calls.py), in private clusters
that all cells share; both without a name. A sample of each, about a minute,
unless --whole says all of it; --only picks cells: `before:tell.*`,
`CloneVM_Task:cut-*`. Needs VS_ROOT and VS_BUILD of a build with
--enable-crash-points, and VS_SIM.
"""

import argparse
import contextlib
import os
import sys

from calls import Calls
from crash import Crash
from scenarios import SCENARIOS
from worker import Worker      # it knows the way to testsuite/system
from shards import interrupt_once


def main():
    a = argparse.ArgumentParser()
    a.add_argument("what", nargs="*", help="crash, calls")
    a.add_argument("--whole", action="store_true")
    a.add_argument("--scenario", action="append", choices=list(SCENARIOS))
    a.add_argument("--only", action="append")
    a.add_argument("--jobs", type=int,
                   default=int(os.environ.get("VS_JOBS", "3")))
    o = a.parse_args()
    kinds = {"crash": Crash, "calls": Calls}
    if set(o.what) - set(kinds):
        a.error(f"{o.what}: crash and calls are there")
    good = True
    interrupt_once()
    with contextlib.ExitStack() as st:
        workers = [st.enter_context(Worker()) for _ in range(o.jobs)]
        for name in o.what or kinds:
            good &= kinds[name](workers, o).run()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
