# SPDX-License-Identifier: GPL-2.0-or-later
"""Temporary files go with the run."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

import scratch  # noqa: E402


def pytest_configure(config):
    scratch.make(config)


def pytest_unconfigure(config):
    scratch.remove(config)
