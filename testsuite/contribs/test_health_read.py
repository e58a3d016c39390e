# SPDX-License-Identifier: GPL-2.0-or-later
"""contribs/health/perf.py: figures are read from what the programs print, and
from nothing else."""

import random
import sys

import pytest

from conftest import TOP
from printed import (ABOUT, GB, LAT, LAT_DUR, LINE, MB, MIB, bw_row, job_text,
                     lat_row, osu)

sys.path.insert(0, str(TOP / "contribs/health"))

import judge        # noqa: E402
import perf         # noqa: E402
from perf import Unreadable     # noqa: E402

@pytest.mark.parametrize("head, value, gbits", [
    (GB, 92.19, 92.19), (MB, 10990.12, 92.19), (MIB, 10990.12, 92.19)])
def test_bandwidth_is_read_in_both_units(head, value, gbits):
    """A factor of 2^20 * 8 / 10^9, by perftest's own manual 1/119.2."""
    text = ABOUT + head + bw_row(value) + LINE
    assert perf.send_bw(text) == pytest.approx(gbits, rel=1e-3)


def test_the_average_counts_not_the_peak():
    assert perf.send_bw(GB + bw_row(41.2, peak=97.0)) == 41.2


def test_what_stands_between_head_and_row_does_no_harm():
    said = "Conflicting CPU frequency values detected: 2400.000000 != " \
        "1800.000000. CPU Frequency is not max.\n"
    assert perf.send_bw(ABOUT + GB + said + bw_row(92.19)) == 92.19


def test_a_cpu_column_is_another_column():
    head = GB.rstrip("\n") + "    CPU_Util[%]\n"
    row = bw_row(92.19).rstrip("\n") + "\t    3.21\n"
    assert perf.send_bw(head + row) == 92.19


def test_latency_is_the_typical_one_and_with_a_duration_the_average():
    assert perf.send_lat(LAT + lat_row(1.08)) == 1.08
    row = " %-7u       %u            %-7.2f        %-7.2f\n" % (
        2, 100000, 1.11, 450450.45)
    assert perf.send_lat(LAT_DUR + row) == 1.11


def test_latency_of_large_messages_is_none_of_small_ones():
    with pytest.raises(Unreadable, match="4096 bytes are not small"):
        perf.send_lat(LAT + lat_row(3.5, 4096))


def test_osu_latency_is_that_of_eight_bytes():
    rows = [(0, 1.0), (1, 1.1), (8, 1.3), (16, 9.9)]
    assert perf.osu_latency(osu("latency", rows)) == 1.3
    assert perf.osu_latency(osu("latency", rows[1:], "Avg Latency(us)")) == 1.3
    with pytest.raises(Unreadable, match="at most 8"):
        perf.osu_latency(osu("latency", rows[3:]))


def test_osu_bandwidth_is_the_best_of_all_sizes_in_gigabits():
    rows = [(1, 5.0), (1 << 19, 12001.0), (1 << 20, 12100.5), (1 << 22, 11800)]
    assert perf.osu_bw(osu("bw", rows)) == pytest.approx(96.804)
    with pytest.raises(Unreadable, match="1 MB or more"):
        perf.osu_bw(osu("bw", rows[:2]))


def test_osu_data_that_arrived_wrong_is_no_result():
    rows = [(1, 5.0), (1 << 20, 12100.5)]
    assert perf.osu_bw(osu("bw", rows, more="Pass")) == pytest.approx(96.804)
    with pytest.raises(Unreadable, match="Validation"):
        perf.osu_bw(osu("bw", rows, more="Fail"))


@pytest.mark.parametrize("read, text", [
    (perf.send_bw, ABOUT),                                  # no table
    (perf.send_bw, GB),                                     # no row
    (perf.send_bw, GB + bw_row(92.19).replace(".", ",")),   # localised
    (perf.send_bw, GB + bw_row(92.19).replace("92.19", "nan")),
    (perf.send_bw, GB + bw_row(92.19).replace("92.19", "-9.19")),
    (perf.send_bw, GB + bw_row(92.19).replace("92.19", "9e1")),
    (perf.send_bw, GB + bw_row(92.19).rstrip("\n")),        # cut off
    (perf.send_bw, GB + " 65536      1000             92.2\n"),
    (perf.send_bw, GB + bw_row(92.19) + bw_row(9.19)),      # two rows
    (perf.send_bw, GB + bw_row(92.19) + GB + bw_row(9.1)),  # two tables
    (perf.send_bw, LAT + lat_row(1.08)),                    # the wrong program
    (perf.send_lat, GB + bw_row(92.19)),
    (perf.osu_bw, osu("latency", [(1 << 20, 5.0)])),
    (perf.osu_latency, osu("bw", [(8, 5.0)])),
    (perf.osu_bw, osu("bw", [(1 << 20, 5.0), (1 << 19, 5.0)])),
    (perf.osu_bw, osu("bw", [(1 << 20, 5.0)]).rstrip("0\n")),
    (perf.osu_latency, ""),
])
def test_anything_else_is_unreadable_and_no_small_figure(read, text):
    with pytest.raises(Unreadable):
        read(text)


# ---- a job's output -------------------------------------------------------------

def test_a_jobs_output_is_taken_apart():
    job = perf.read_job(job_text())
    assert (job["job"], job["nodes"], job["done"]) == (
        7, ["vm001", "vm002"], True)
    assert job["nics"]["vm002", 0] == {"device": "mlx5_0", "rate": 100.0}
    assert [(t["test"], t["from"], t["rc"]) for t in job["tests"]] == [
        ("ib_send_bw", "vm001", 0), ("ib_send_bw", "vm002", 0),
        ("ib_send_lat", "vm001", 0)]
    assert [perf.measure(t) for t in job["tests"]] == [92.0, 92.0, 1.1]


@pytest.mark.parametrize("text, gbits", [
    ("100 Gb/sec (4X EDR)", 100), ("2.5 Gb/sec (1X SDR)", 2.5),
    ("25 Gb/sec (1X EDR)", 25), ("100", None), ("0 Gb/sec", None),
    ("", None), ("10,0 Gb/sec", None), ("400 Gb/second", None)])
def test_the_rate_is_the_kernels(text, gbits):
    assert perf.rate(text) == gbits


def test_a_test_without_its_end_is_none():
    text = job_text()
    cut = text[:text.index("health: end test=ib_send_lat")]
    assert [t["test"] for t in perf.read_job(cut)["tests"]] == [
        "ib_send_bw", "ib_send_bw"]


def test_a_failed_program_is_no_result_whatever_it_printed():
    text = job_text(bw=3.0).replace("rc=0", "rc=1")
    for test in perf.read_job(text)["tests"]:
        got = judge.assess(test, (100, 100), judge.DEFAULT_LIMITS)
        assert got["verdict"] == "none" and "ended with 1" in got["reason"]
    test = dict(perf.read_job(text)["tests"][0], rc=127,
                text="timeout: failed to run command 'ib_send_bw'\n")
    with pytest.raises(Unreadable, match="isn't installed"):
        perf.measure(test)
    test.update(rc=1, text=" Couldn't connect to vm2:18515\nserver: ****\n")
    with pytest.raises(Unreadable, match="Couldn't connect to vm2:18515$"):
        perf.measure(test)


def test_no_mutilated_output_accuses_anybody():
    """Cut, doubled, shuffled, with other characters: each reads as what was
    measured, or as nothing; never as a slow figure."""
    good, rng = job_text() + "\n", random.Random(7)
    for _ in range(4000):
        text, how = good, rng.randrange(5)
        at, n = rng.randrange(len(text)), rng.randrange(1, 80)
        if how == 0:
            text = text[:at]
        elif how == 1:
            text = text[:at] + text[at + n:]
        elif how == 2:
            text = text[:at] + chr(rng.choice((0, 10, 32, 44, 45, 233, 8239))) \
                + text[at:]
        elif how == 3:
            lines = text.splitlines(True)
            rng.shuffle(lines)
            text = "".join(lines)
        else:
            text = text[:at] + text[:n] + text[at:]
        try:
            job = perf.read_job(text)
        except Unreadable:
            continue
        for t in job["tests"]:
            try:
                value = perf.measure(t)
            except Unreadable:
                continue
            # A digit that is lost makes another number of it; nothing else may.
            if how not in (1, 2, 4):
                assert value in (92.0, 1.1), text
