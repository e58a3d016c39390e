# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixtures of the tests with booted machines. They run inside space.sh.

A module may define make_cluster() -> GuestCluster (not started); its tests share it,
in the order of the file. --whole runs the modules named test_whole_* too."""

import pathlib
import signal
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "system"), str(HERE.parent / "lib")]

import scratch                                              # noqa: E402


def pytest_addoption(parser):
    parser.addoption("--whole", action="store_true", help="run the long modules too")


def end(signum, frame):
    raise KeyboardInterrupt


def pytest_configure(config):
    # The first process of space.sh hears no signal that it has no handler for.
    signal.signal(signal.SIGTERM, end)
    scratch.make(config)


def pytest_unconfigure(config):
    scratch.remove(config)


def pytest_ignore_collect(collection_path, config):
    if collection_path.name.startswith("test_whole_") and not config.option.whole:
        return True
    return None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    cluster = getattr(item, "funcargs", {}).get("cluster")
    if report.failed and report.when != "teardown" and cluster is not None and \
            not vars(cluster).get("shown"):
        import guest_cluster
        cluster.shown = report.when == "setup"      # each test would show the same
        for node in sorted(cluster.names_on()):
            report.sections.append((node, guest_cluster.console(cluster, node)))
        report.sections.append(("slurmctld", "\n".join(
            cluster.ctld_log().splitlines()[-40:])))


@pytest.fixture(scope="module")
def cluster(request):
    import guest_cluster
    make = getattr(request.module, "make_cluster", guest_cluster.GuestCluster)
    c = make()
    try:
        c.start()
        c.wait_ready()
        yield c
    finally:
        c.remove()


@pytest.fixture(autouse=True)
def no_job_is_left(request):
    yield
    if "cluster" not in request.fixturenames:
        return
    from daemons import wait_for
    c = request.getfixturevalue("cluster")
    c.run("scancel", *c.run("squeue", "-h", "-o", "%A").stdout.split())

    def empty():
        r = c.run("squeue", "-h")
        return r.returncode == 0 and not r.stdout.strip()
    wait_for("the queue is empty", 60, empty)
    n = c.counters()
    assert n["powerOnFullPF"] == 0 and n["foreignTouches"] == 0
