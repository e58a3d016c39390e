# SPDX-License-Identifier: GPL-2.0-or-later
"""Other users than the one who runs the tests."""

import os

import pytest

NOBODY, DAEMON = 65534, 1       # on every machine
needs_root = pytest.mark.skipif(os.getuid() != 0,
                                reason="needs root to become another")


def as_user(cluster, uid, *argv):
    """uid 0: the one who runs the tests."""
    if uid == 0:
        return cluster.run(*argv)
    return cluster.run("setpriv", f"--reuid={uid}", f"--regid={uid}",
                       "--clear-groups", *argv, cwd="/")
