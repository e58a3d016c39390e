# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixtures of the system tests.

A module may define make_cluster() -> Cluster (not started); all tests of the
module share it. After every test its jobs are ended and the invariants are
checked: no power-on was sent to a full PF, nothing foreign was touched, no PF
holds more than it has.
"""

import contextlib
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "lib"))

from cluster import Cluster, wait_for   # noqa: E402
import aftermath                        # noqa: E402
import forms                            # noqa: E402
import private_clusters                 # noqa: E402
import shards                           # noqa: E402
from worlds import world                # noqa: E402


def pytest_cmdline_main(config):
    return shards.main(config)


def pytest_configure(config):
    private_clusters.pytest_configure(config)
    config.addinivalue_line(
        "markers", "faults: runs with vCenter's faults flat and nested")


def pytest_generate_tests(metafunc):
    forms.both(metafunc)


@pytest.fixture(autouse=True)
def fault_form(request, monkeypatch):
    """First of all, so that what a test starts has the form."""
    if hasattr(request, "param"):
        monkeypatch.setenv(forms.VARIABLE, request.param)


def pytest_unconfigure(config):
    private_clusters.pytest_unconfigure(config)


def default_cluster():
    return Cluster(inventory=world())


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    setattr(item, "report_" + report.when, report)
    # At the teardown they may be gone: fixtures say it themselves.
    if report.failed and report.when != "teardown":
        report.sections += aftermath.sections(aftermath.clusters_of(item))


@contextlib.contextmanager
def looked_at(cluster):
    """A failure in here is said with what there is to see."""
    try:
        yield
    except Exception:
        aftermath.say(cluster)
        raise


@pytest.fixture(scope="module")
def cluster(request):
    make = getattr(request.module, "make_cluster", default_cluster)
    c = make()
    try:
        with looked_at(c):
            c.start()
            if not c.plain:
                c.wait_ready()
        yield c
    finally:
        c.remove()


def check_invariants(cluster):
    n = cluster.counters()
    assert n["powerOnFullPF"] == 0, "I1: a power-on was sent to a full PF"
    assert n["foreignTouches"] == 0, "I4: something foreign was touched"
    assert n["brokenChildren"] == 0, "a parent was destroyed under its children"
    assert cluster.overfull() == []
    assert cluster.not_as_suspended() == []


def end_jobs(cluster):
    if "slurmctld" not in cluster.daemons:
        return
    cluster.run("scancel", "--user", cluster.user)

    def empty():
        r = cluster.run("squeue", "-h", "-o", "%i %t")
        return r.returncode == 0 and not r.stdout.strip()
    wait_for("the queue is empty after scancel", 60, empty)


@pytest.fixture(autouse=True)
def invariants(request):
    yield
    if "cluster" not in request.fixturenames:
        return
    c = request.getfixturevalue("cluster")
    if c.plain or "vcsim" not in c.daemons:
        return
    with looked_at(c):
        end_jobs(c)
        check_invariants(c)


@pytest.fixture
def fresh(request):
    """A cluster of one test's own: fresh(inventory=..., ...) starts it."""
    made = request.node.vs_made = []

    def make(start=True, ready=True, **kw):
        kw.setdefault("inventory", world())
        attrs = {k: kw.pop(k) for k in ("slurm", "vsphere", "vsphere_text",
                                        "node_lines", "partition_lines")
                 if k in kw}
        c = Cluster(**kw)
        for k, v in attrs.items():
            setattr(c, k, v)
        made.append(c)
        if start:
            c.start()
        if start and ready:
            c.wait_ready()
        return c
    yield make
    failed = getattr(request.node, "report_call", None)
    try:
        for c in made:
            if failed is not None and failed.failed:
                continue
            if "vcsim" in c.daemons and not c.plain:
                with looked_at(c):
                    end_jobs(c)
                    check_invariants(c)
    finally:
        for c in made:
            c.remove()
