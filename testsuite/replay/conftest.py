# SPDX-License-Identifier: GPL-2.0-or-later
"""A private Slurm cluster beside a simulator that has loaded a recording: the
library of the system tests, and their rules for what is left behind."""

import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "system"), str(TESTS / "lib"), str(TESTS / "replay")]

from private_clusters import (   # noqa: E402
    pytest_configure, pytest_unconfigure)

__all__ = ["pytest_configure", "pytest_unconfigure"]
