# SPDX-License-Identifier: GPL-2.0-or-later
"""The library of the system tests, and two installations of slurm-vsphere: this
tree's, and an earlier commit's."""

import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "system"), str(TESTS / "lib")]

from private_clusters import (   # noqa: E402
    pytest_configure, pytest_unconfigure)

__all__ = ["pytest_configure", "pytest_unconfigure"]
