# SPDX-License-Identifier: GPL-2.0-or-later
"""For the conftest.py of each directory of tests: pytest's temporary files go
with the run, where pytest itself would leave /tmp/pytest-of-USER behind."""

import shutil
import tempfile


def make(config):
    """In pytest_configure."""
    if not config.option.basetemp:
        config.vs_scratch = tempfile.mkdtemp(prefix="vs-pytest-")
        config.option.basetemp = config.vs_scratch + "/t"


def remove(config):
    """In pytest_unconfigure."""
    shutil.rmtree(getattr(config, "vs_scratch", ""), ignore_errors=True)
