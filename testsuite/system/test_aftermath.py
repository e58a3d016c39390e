# SPDX-License-Identifier: GPL-2.0-or-later
"""What a failed test leaves to look at (aftermath.py)."""

import os
import pathlib
import signal
import subprocess
import sys

import aftermath
from cluster import TOP, Cluster, wait_for
from daemons import Daemon
from worlds import world

HERE = TOP / "testsuite/system"
CONFTEST = f"""
import pathlib, sys
sys.path[:0] = [{str(HERE)!r}, {str(HERE.parent / 'lib')!r}]
exec(pathlib.Path({str(HERE / "conftest.py")!r}).read_text())
"""
FAILS = """
import pytest
from cluster import Cluster
@pytest.fixture
def invariants():
    pass
@pytest.fixture
def cluster():
    c = Cluster(inventory={}, plain=True)
    mark = c.mark
    del c.mark          # what looks for its daemons comes to grief
    yield c
    c.mark = mark
    c.remove()
def test_it(cluster):
    assert 1 == 2, "its own words"
"""


def make_cluster():
    return Cluster(inventory=world(hosts=1, vfs=1), nodes=2)


def seen(cluster):
    """{title without the directory: text}"""
    return {t.partition(" (/")[0]: text for t, text in aftermath.look(cluster)}


def test_who_waits_and_why_is_seen(cluster):
    job = cluster.sbatch("-N2")
    wait_for("it says why", 60, lambda: "VF" in cluster.squeue(job))
    s = seen(cluster)
    assert f"{job} roce " in s["squeue"] and "VF" in s["squeue"]
    assert "vm001" in s["sinfo"] and "vm002" in s["sinfo"]
    many = aftermath.ask(cluster, "bash", "-c", "seq 1000; exit 3")
    assert many.splitlines()[-3:] == [
        str(aftermath.LINES), f"({1000 - aftermath.LINES} more lines)",
        "(it ended with 3)"]
    assert "esx01" in s["svf hosts"] and "vm001" in s["svf nodes"]
    assert f"{job}: " in s["svf why"] and "VF" in s["svf why"]
    assert "slurm-vsphere: ready" in s["the end of slurmctld's log"]
    assert "ready at https" in s["the end of vcsim's output"]
    assert s["what slurmctld printed beside its log"] == "(nothing)"
    assert not [t for t in s if "threads" in t]


def test_the_log_is_seen_without_its_beats(cluster):
    wait_for("a beat", 60, lambda: aftermath.without_beats(
        cluster.ctld_log()) != cluster.ctld_log().rstrip("\n"))
    left = aftermath.without_beats(cluster.ctld_log())
    assert "Running job scheduler" not in left
    assert "backfill: beginning" not in left
    for line in ("error: backfill: it went wrong", "slurm-vsphere: ready: x",
                 "debug:  slurm-vsphere: node=vm001 backfill: beginning of it",
                 "sched: Allocate JobId=2 NodeList=vm001",
                 "sched/backfill: _start_job: Started JobId=3 in roce on vm001"):
        assert aftermath.without_beats(line) == line


def test_the_threads_of_one_that_does_not_answer_are_seen(cluster, monkeypatch):
    # sstate is a thread of slurmctld of each release; rpcmgr went with 24.11.
    monkeypatch.setattr(aftermath, "ASK_S", 2)
    pid = cluster.daemons["slurmctld"].pid
    os.kill(pid, signal.SIGSTOP)
    try:
        s = seen(cluster)
    finally:
        os.kill(pid, signal.SIGCONT)
    (text,) = [v for t, v in s.items() if f"its threads, pid {pid}" in t]
    assert "sstate" in text
    assert "squeue" not in s and "slurm-vsphere: ready" in s[
        "the end of slurmctld's log"]
    wait_for("it answers again", 30, lambda: aftermath.answers(cluster))
    assert "sstate" in aftermath.kernels_view(pid), "without a debugger"


def test_one_that_does_not_end_in_time_is_seen_and_ended(
        tmp_path, capsys, monkeypatch):
    d = Daemon([sys.executable, "-c", "import pathlib, signal, time\n"
                "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                f"pathlib.Path({str(tmp_path / 'deaf')!r}).touch()\n"
                "time.sleep(300)"], str(tmp_path / "log"), dict(os.environ))
    wait_for("it is deaf", 60, (tmp_path / "deaf").exists)
    # A debugger stops what it looks at; without one it must do, too.
    monkeypatch.setattr(aftermath.shutil, "which", lambda _: None)
    d.end(grace=0.5, tell=True)
    text = capsys.readouterr().out
    assert f"pid {d.pid} hasn't ended in 0.5 s" in text and "wchan" in text
    assert not d.alive()


def test_what_goes_wrong_in_it_does_not_replace_the_failure(tmp_path):
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_fails.py").write_text(FAILS)
    p = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
         "test_fails.py"], cwd=tmp_path, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, text=True, timeout=120)
    assert p.returncode == 1, p.stdout
    assert "its own words" in p.stdout and "1 failed in" in p.stdout
    assert "the aftermath" in p.stdout and "AttributeError" in p.stdout


def test_of_one_that_is_gone_there_is_its_log():
    c = Cluster(plain=True)
    try:
        s = seen(c)
    finally:
        c.remove()
    assert s["slurmctld"] == "(there is none)"
    assert "FileNotFoundError" in s["the end of vcsim's output"]
    assert not pathlib.Path(c.dir).exists()
