# SPDX-License-Identifier: GPL-2.0-or-later
"""What Slurm says of a start comes true: squeue --start and sbatch --test-only
against what then happened, for all that VFs can wait for (VS_LONG=1: all rows).
Big jobs are not starved by small ones (AllowMoreNodesThanVFs), jobs for other
adapters are not held up by those that wait, and each says what it waits for."""

import os

import pytest

import timeline
from cluster import wait_for
from timeline import Row, seconds

CLOSE_S = 15    # bf_interval, two beats of power saving, a VM's end; load
SAME_S = 10     # a reason's time is Slurm's plan; which moves by seconds
MINUTE = "sleep 58"

ALL = [
    Row("all names are busy", 2, [2], [("1-2", "E1")], "-N2", "E1",
        says=True),
    Row("the last of two must end", 2, [2], [("1", "E1"), ("2", "E2")],
        "-N2", "E2", long=True),
    Row("more names than VFs, one is enough", 4, [2],
        [("1", "E1"), ("2", "E2")], "-N1", "E1"),
    Row("more names than VFs, both are needed", 4, [2],
        [("1", "E1"), ("2", "E2")], "-N2", "E2", long=True),
    Row("names that have no VM", 4, [2], [("1-2", "E1")],
        "-N2 -w {3-4}", "E1", says=True),
    Row("one is free, one is held", 4, [2], [("1", "E1")], "-N2", "E1",
        says=True, long=True),
    Row("beside somebody else's VM", 3, [3], [("1-2", "E1")], "-N2", "E1",
        theirs=1, long=True),
    Row("somebody else's VM for ever", 3, [2], [], "-N2", "never", theirs=1,
        says=True),
    Row("idle VMs give way", 4, [2], [], "-N2 -w {3-4}", "soon", warm="1-2"),
    Row("whichever host", 4, [1, 1], [("1", "E1"), ("2", "E2")],
        "-N1 -w {4}", "E1", says=True, long=True),
    Row("another adapter on the same PF", 4, [2], [("1-2", "E1")],
        "-p @b -N1", "E1", second="3-4", says=True),
    Row("larger VMs want the same VFs", 4, [2], [("1-2", "E1")],
        "-N1 --mem=1500", "E1", large="3-4", says=True, long=True),
    Row("at its own time", 2, [2], [], "-N2 --begin=E1", "E1"),
    Row("an array", 4, [2], [("1-2", "E1")], "-N1 --array=1-2", "E1",
        says=True, long=True),
    Row("two jobs on one VM", 3, [1], [("1", "E1"), ("1", "E2")],
        "-N1 -w {2}", "E2", says=True, long=True),
    Row("as many as there are", 4, [2], [("1-2", "E1")], "-N1-4", "E1",
        long=True),
    Row("VMs that are switched off", 3, [1], [("1", "E1")], "-N1 -w {2}",
        "E1", retention="power_off", says=True, long=True),
    Row("behind a reservation", 4, [2], [], "-N1 -t 5", "E2", resv="1-2",
        says=True, long=True),
    # (the one before it runs for a minute from its boot on)
    Row("behind another job that waits", 4, [2], [("1-2", "E1")],
        "-N2", "E2", before=[("-N2 -t 1", MINUTE)], slack=30, long=True),
    Row("a host is in maintenance", 3, [1, 1], [("1", "E1")], "-N1 -w {3}",
        "E1", away=2, says=True, long=True),
    Row("small ones don't pass a big one", 8, [4], [("1-3", "E1")], "-N4",
        "E1", after=[("-N1 -t 5", "sleep 1")] * 4, says=True),
    Row("who is done before may pass", 8, [4], [("1-3", "E2")], "-N4",
        "E2", after=[("-N1 -t 1", "sleep 1"), ("-N1 -t 9", "sleep 1")],
        says=True, long=True),
    Row("other adapters are not held up", 6, [2], [("1-2", "E1")],
        "-p @m -C @ -N2", "E1", ether="5-6",
        after=[("-p @m -C @e -N1", "sleep 1")]),
]
ROWS = [r for r in ALL if not r.long or os.environ.get("VS_LONG")]


def make_cluster():
    return timeline.make(ROWS)


@pytest.fixture(scope="module")
def story(cluster):
    return timeline.Play(cluster, ROWS).play()


def row(name):
    found = [r for r in ROWS if r.name == name]
    return found[0] if found else pytest.skip("VS_LONG=1 has it")


@pytest.mark.parametrize("r", ROWS, ids=lambda r: r.name)
def test_a_start_is_what_was_said(story, r):
    if r.starts == "never":
        assert not r.said or seconds(r.said, timeline.now()) > 30 * 86400
        assert str(r.job) not in story.began
        return
    began = story.began[str(r.job)]
    if r.starts == "soon":
        assert r.only and abs(seconds(began, r.only)) <= CLOSE_S
        return
    meant = story.times[r.starts]
    told = f"said {r.said}, {r.only}; began {began}; meant {meant}"
    assert r.said and abs(seconds(began, r.said)) <= CLOSE_S + r.slack, told
    assert abs(seconds(began, meant)) <= CLOSE_S + r.slack, told
    if r.alone:
        assert r.only and abs(seconds(began, r.only)) <= CLOSE_S, told


def test_small_jobs_do_not_pass_a_big_one(story):
    r = row("small ones don't pass a big one")
    for job in r.jobs:
        assert story.began[str(job)] > story.began[str(r.job)]


def test_who_is_done_before_passes_and_who_is_not_waits(story):
    r = row("who is done before may pass")
    quick, slow = (story.began[str(j)] for j in r.jobs)
    assert quick < story.times["E1"]
    assert slow > story.began[str(r.job)]


def test_a_job_for_another_adapter_is_not_held_up(story):
    r = row("other adapters are not held up")
    assert story.began[str(r.jobs[0])] < story.times["E1"]
    assert story.began[str(r.job)] > story.times["E1"]


@pytest.mark.parametrize("r", [r for r in ROWS if r.says],
                         ids=lambda r: r.name)
def test_a_reason_tells_what_and_when(story, r):
    assert r.why["text"] == r.text
    if r.starts == "never":
        assert r.text.endswith("; start time unknown"), r.text
        assert "start_time" not in r.why
        return
    at = r.text.split("; start expected ")[1]
    assert at in {f"{r.said:%H:%M}", f"{r.said:%Y-%m-%dT%H:%M}"} or \
        abs(r.why["start_time"] - r.said.timestamp()) < 60, (r.text, r.said)
    assert abs(r.why["start_time"] - r.said.timestamp()) <= SAME_S
    assert f"{r.id}" in r.text and " VF" in r.text
    # nothing of whose jobs are in its way
    assert "root" not in r.text and "JobId" not in r.text


def test_a_reason_survives_a_restart(cluster, story):
    del story
    r = row("somebody else's VM for ever")
    job = cluster.sbatch("-p", r.id, "-N2")

    def says():
        text = cluster.squeue(job, "%r")
        return "start time unknown" in text and text
    text = wait_for("it says why", 30, says)
    wait_for("its record has it", 30, lambda: cluster.job(job).get(
        "SystemComment", "").strip() == f"vsphere: {text}")
    cluster.restart_slurmctld()
    assert cluster.job(job)["SystemComment"].strip() == f"vsphere: {text}"
    wait_for("it says so again", 40, lambda: says() == text)
