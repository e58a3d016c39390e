# SPDX-License-Identifier: GPL-2.0-or-later
"""contribs/health: what the programs print, what it means, whom it accuses. The
outputs are written by the formats of perftest's and OSU's sources (perf.py names
them), not by our reader."""

import json
import os
import random
import re
import subprocess
import sys

import pytest

from conftest import TOP

HEALTH = TOP / "contribs/health"
sys.path.insert(0, str(HEALTH))

import choose       # noqa: E402
import judge        # noqa: E402
import keep         # noqa: E402
import perf         # noqa: E402
from perf import Unreadable     # noqa: E402

# ---- outputs -----------------------------------------------------------------

LINE = "-" * 87 + "\n"
ABOUT = LINE + """                    Send BW Test
 Dual-port       : OFF\t\tDevice         : mlx5_0
 Number of qps   : 1\t\tTransport type : IB
 Mtu             : 4096[B]
 Link type       : Ethernet
""" + LINE + """ local address: LID 0000 QPN 0x0127 PSN 0x4a5a0f
 GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:01:00:01
""" + LINE
GB = " #bytes     #iterations    BW peak[Gb/sec]    " \
    "BW average[Gb/sec]   MsgRate[Mpps]\n"
MB = GB.replace("Gb/sec", "MB/sec")
MIB = GB.replace("Gb/sec", "MiB/sec")
LAT = " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    " \
    "t_avg[usec]    t_stdev[usec]   99% percentile[usec]   " \
    "99.9% percentile[usec] \n"
LAT_DUR = " #bytes        #iterations       t_avg[usec]    tps average\n"


def bw_row(avg, size=65536, peak=0.0):
    return " %-7u    %-10u       %-7.2f            %-7.2f\t\t   %-7.6f\n" % (
        size, 1000, peak, avg, 0.175841)


def lat_row(typical, size=2):
    return " %-7u %u          %-7.2f        %-7.2f      %-7.2f  \t       " \
        "%-7.2f     \t%-7.2f\t\t%-7.2f \t\t%-7.2f\n" % (
            size, 1000, typical - .1, 9.9, typical, typical + .05, .1, 2, 9)


def osu(kind, rows, head=None, more=""):
    title, unit = {"latency": ("Latency", "Latency (us)"),
                   "bw": ("Bandwidth", "Bandwidth (MB/s)")}[kind]
    return f"# OSU MPI {title} Test v5.9\n" + \
        "%-*s%*s%s\n" % (10, "# Size", 18, head or unit, more and
                         "%18s" % "Validation") + \
        "".join("%-*d%*.2f%s\n" % (10, s, 18, v, more and "%18s" % more)
                for s, v in rows)


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

def job_text(bw=92.0, lat=1.1, rate="100 Gb/sec (4X EDR)", done=True):
    t = "slurm: something\nhealth: version=1 job=7 nodes=vm001,vm002\n"
    for n in ("vm001", "vm002"):
        t += f"health: card node={n} card=0 device=mlx5_0 rate={rate}\n"
    for test, a, b, text in (
            ("ib_send_bw", "vm001", "vm002", GB + bw_row(bw)),
            ("ib_send_bw", "vm002", "vm001", GB + bw_row(bw)),
            ("ib_send_lat", "vm001", "vm002", LAT + lat_row(lat))):
        edge = f"test={test} card=0 from={a} to={b}"
        t += f"health: begin {edge}\n{text}health: end {edge} rc=0\n"
    return t + ("health: done\n" if done else "")


def test_a_jobs_output_is_taken_apart():
    job = perf.read_job(job_text())
    assert (job["job"], job["nodes"], job["done"]) == (
        7, ["vm001", "vm002"], True)
    assert job["cards"]["vm002", 0] == {"device": "mlx5_0", "rate": 100.0}
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
        assert got["verdict"] == "none" and "ended with 1" in got["why"]
    test = dict(perf.read_job(text)["tests"][0], rc=127,
                text="timeout: failed to run command 'ib_send_bw'\n")
    with pytest.raises(Unreadable, match="isn't installed"):
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


# ---- judgement -------------------------------------------------------------------

def assess(test, value, rates=(100, 100), **limits):
    text = {"ib_send_bw": GB + bw_row(value), "ib_send_lat":
            LAT + lat_row(value), "osu_bw": osu("bw", [(1 << 22, value)]),
            "osu_latency": osu("latency", [(8, value)])}[test]
    return judge.assess({"test": test, "rc": 0, "text": text}, rates,
                        {**judge.DEFAULT_LIMITS, **limits})


@pytest.mark.parametrize("test, value, verdict", [
    ("ib_send_bw", 90.0, "good"), ("ib_send_bw", 89.99, "slow"),
    ("ib_send_lat", 3.0, "good"), ("ib_send_lat", 3.01, "slow"),
    ("osu_bw", 11250.0, "good"), ("osu_bw", 11248.0, "slow"),
    ("osu_latency", 3.0, "good"), ("osu_latency", 3.01, "slow"),
    ("ib_send_bw", 106.0, "none"), ("ib_send_bw", 0.0, "none")])
def test_the_limits_are_what_they_say(test, value, verdict):
    assert assess(test, value)["verdict"] == verdict


def test_the_slower_port_is_the_line():
    assert assess("ib_send_bw", 23.0, (100, 25))["verdict"] == "good"
    assert assess("ib_send_bw", 23.0, (100, None))["verdict"] == "none"
    got = assess("ib_send_bw", 92.0, (None, None), line_rate=200.0)
    assert (got["verdict"], got["line_rate"]) == ("slow", 200)
    assert assess("osu_bw", 10000.0, osu_bandwidth=75.0)["verdict"] == "good"
    assert assess("ib_send_bw", 80.0, osu_bandwidth=75.0)["verdict"] == "slow"


NOW, DAY = 1_800_000_000, 86400
PF = "0000:3b:00.0"


def end(host, pf=PF):
    return {"node": "vm", "host": host, "pf": pf}


def row(job, a, b, verdict, at=None, pf=PF):
    value = {"good": 98.0, "slow": 41.2, "none": None}[verdict]
    return {"time": NOW - 1000 + job if at is None else at, "job": job,
            "test": "ib_send_bw", "card": 0, "from": end(a, pf), "to": end(b),
            "value": value, "unit": "Gb/s", "limit": 90.0, "line_rate": 100.0,
            "verdict": verdict, "why": ""}


def found(*rows, now=NOW):
    return judge.verdicts(list(rows), now, 14 * DAY, DAY)


def slow_hosts(*rows, **kw):
    return [h for h, _ in found(*rows, **kw)[0]]


OTHERS = row(900, "x", "y", "good")     # somebody was good


def test_one_slow_pair_proves_nothing_and_is_told():
    hosts, said = found(OTHERS, row(1, "a", "b", "slow"))
    assert not hosts and "between a and b, JobId=1: which of them" in said[0]


def test_who_is_slow_with_two_others_is_slow():
    hosts, said = found(OTHERS, row(1, "a", "b", "slow"),
                        row(2, "a", "c", "slow"))
    assert hosts == [("a", "ib_send_bw 41.2 Gb/s of 100 (90 % asked), "
                      "PF 0000:3b:00.0, JobId=2")] and not said
    assert len(hosts[0][1]) <= judge.REASON_MAX


def test_twice_with_the_same_partner_is_once():
    assert not slow_hosts(OTHERS, row(1, "a", "b", "slow"),
                          row(2, "a", "b", "slow"))


def test_who_is_slow_with_one_known_good_is_slow():
    assert slow_hosts(row(1, "b", "c", "good"), row(2, "a", "b", "slow")) == ["a"]
    assert slow_hosts(row(2, "a", "b", "slow"), row(3, "b", "c", "good")) == ["a"]
    # not if it was good too long ago
    assert not slow_hosts(row(1, "b", "c", "good", at=NOW - 2 * DAY),
                          row(2, "a", "b", "slow"))


def test_two_good_hosts_that_are_slow_together_are_told():
    hosts, said = found(row(1, "b", "c", "good"), row(2, "a", "d", "good"),
                        row(3, "a", "b", "slow"))
    assert not hosts and len(said) == 1


def test_partners_of_a_slow_host_are_not_accused_with_it():
    rows = [OTHERS] + [row(i, "a", h, "slow") for i, h in
                       enumerate("bcde", 1)]
    assert slow_hosts(*rows) == ["a"]


def test_a_ring_of_slow_pairs_accuses_nobody():
    assert not slow_hosts(OTHERS, row(1, "a", "b", "slow"),
                          row(2, "b", "c", "slow"), row(3, "c", "a", "slow"))


def test_where_nobody_is_good_nobody_is_drained():
    hosts, said = found(row(1, "a", "b", "slow"), row(2, "a", "c", "slow"))
    assert not hosts and "suspects, not a" in said[0]


def test_a_good_pair_clears_what_was_before():
    assert "a" not in slow_hosts(OTHERS, row(1, "a", "b", "slow"), row(
        2, "a", "d", "good"), row(3, "a", "c", "slow"))


def test_a_drained_host_is_not_found_again_by_old_results():
    rows = [OTHERS, row(1, "a", "b", "slow"), row(2, "a", "c", "slow"),
            {"time": NOW - 1, "drained": "a", "reason": ""}]
    assert not slow_hosts(*rows)
    later = row(3, "b", "d", "slow", at=NOW)    # b's evidence went with it
    assert slow_hosts(*rows, later) == []


def test_what_is_old_or_has_no_result_or_no_wire_says_nothing():
    old = NOW - 15 * DAY
    assert not slow_hosts(OTHERS, row(1, "a", "b", "slow", at=old),
                          row(2, "a", "c", "slow"))
    assert not slow_hosts(OTHERS, row(1, "a", "b", "none"),
                          row(2, "a", "c", "slow"))
    assert not slow_hosts(OTHERS, row(1, "a", "a", "slow"),
                          row(2, "a", "c", "slow"))


def test_one_slow_test_of_a_pair_makes_it_slow_and_no_result_not_good():
    assert judge.pairs([row(1, "a", "b", "good"), dict(
        row(1, "a", "b", "slow"), test="osu_bw")])[0]["verdict"] == "slow"
    pairs = judge.pairs([row(1, "a", "b", "good"), dict(
        row(1, "a", "b", "none"), test="osu_bw")])
    assert pairs[0]["verdict"] == "none"
    assert judge.tested([row(1, "a", "b", "none")]) == {}


def test_pfs_of_a_host_are_judged_apart():
    """The good one doesn't clear the other."""
    rows = [row(1, "a", "b", "slow", pf="p1"), row(2, "a", "c", "slow", pf="p1"),
            row(3, "a", "d", "good", pf="p2")]
    hosts, _ = found(*rows)
    assert [h for h, _ in hosts] == ["a"] and "PF p1," in hosts[0][1]


# ---- whose turn it is ----------------------------------------------------------------

def site():
    hosts = [{"host": h, "state": "up", "pfs": [
        {"pci": "p", "switch": "net", "total": 4, "free": 2, "foreign": 0},
        {"pci": "q", "switch": "other", "total": 4, "free": 4, "foreign": 0}]}
        for h in "abcd"]
    nodes = [{"node": f"vm{i}", "partition": "roce", "vm_state": "none",
              "slurm_state": "powered_down"} for i in range(6)]
    nodes[0].update(vm_state="on", slurm_state="idle", host="c", pf="p")
    return hosts, nodes


def test_the_longest_untested_hosts_are_paired_first():
    hosts, nodes = site()
    where = choose.targets(hosts, nodes, "roce", [])
    assert where == {h: ["p"] for h in "abcd"}
    rows = [row(1, "a", "b", "good", NOW - 9 * DAY, "p"),
            row(2, "c", "b", "good", NOW - DAY, "p")]
    for r in rows:
        r["to"]["pf"] = "p"
    age = choose.ages(where, judge.tested(rows), NOW)
    assert age == {"a": 9 * DAY, "b": DAY, "c": DAY, "d": None}
    turn = choose.turns(where, judge.tested(rows))
    assert choose.pairs_of("abcd", age, turn, 7 * DAY, 9) == [("d", "a")]
    assert choose.pairs_of("abcd", age, turn, DAY / 2, 9) == [
        ("d", "a"), ("b", "c")]
    assert choose.pairs_of("abcd", age, turn, DAY / 2, 1) == [("d", "a")]
    assert choose.pairs_of("d", age, turn, 1, 9) == []


def test_a_host_whose_second_pf_waits_has_its_turn_like_others():
    last = {("a", "p"): row(2, "a", "b", "good", NOW - 60),
            ("b", "p"): row(1, "b", "a", "good", NOW - 8 * DAY),
            ("c", "p"): row(1, "c", "d", "good", NOW - 60)}
    where = {"a": ["p", "q"], "b": ["p"], "c": ["p"]}
    age, turn = choose.ages(where, last, NOW), choose.turns(where, last)
    assert age["a"] is None
    assert choose.pairs_of("abc", age, turn, 7 * DAY, 9) == [("b", "a")]
    assert choose.pairs_of("ac", age, turn, 7 * DAY, 9) == [("a", "c")]


def test_only_hosts_in_service_with_room_are_taken():
    hosts, nodes = site()
    where = choose.targets(hosts, nodes, "roce", [])
    hosts[0]["state"] = "drained"
    hosts[1]["pfs"][0]["free"] = 0
    hosts[2]["pfs"][0]["free"] = 0      # but an idle VM of ours is there
    free = choose.usable(nodes, "roce")
    assert choose.available(hosts, where, free) == ["c", "d"]
    nodes[0]["job"] = 5
    free = choose.usable(nodes, "roce")
    assert choose.available(hosts, where, free) == ["d"]
    assert [n["node"] for n in free] == ["vm1", "vm2", "vm3", "vm4", "vm5"]


def test_a_node_whose_vm_is_there_goes_first_and_none_serves_two():
    _, nodes = site()
    got = choose.nodes_for(("a", "c"), nodes)
    assert [n["node"] for n in got] == ["vm1", "vm0"]
    assert choose.nodes_for(("a", "c"), nodes[:1]) is None


def test_suspects_meet_others_that_are_known_good():
    assert choose.again([["a", "b"]], list("abcd"), {"d"}, 4) == [
        ("a", "d"), ("b", "c")]
    assert choose.again([["a", "b"]], list("ab"), set(), 4) == []
    assert choose.again([["a", "b"]], list("bcd"), set(), 4) == [("b", "c")]


def test_others_on_a_link_are_foreign_vms_and_nodes_with_jobs():
    hosts, nodes = site()
    hosts[3]["pfs"][0]["foreign"] = 1
    nodes[1].update(host="c", pf="p", job=4)
    nodes[2].update(host="c", pf="p", job=5)
    assert choose.shared(hosts, nodes, ["vm2"]) == {("d", "p"): 1, ("c", "p"): 1}


# ---- files ------------------------------------------------------------------------

def conf(tmp_path, text):
    f = tmp_path / "health.conf"
    f.write_text(text)
    return keep.read_conf(f)


def test_the_example_is_read_and_holds_the_defaults():
    got = keep.read_conf(HEALTH / "vsphere-health.conf")
    assert got["partitions"] == ["roce"]
    assert keep.limits_of(got, "sriov-roce") == judge.DEFAULT_LIMITS
    text = (HEALTH / "vsphere-health.conf").read_text()
    for key, (parse, default) in keep.KEYS.items():
        m = re.search(rf"^#? ?{key} *= *([^#\n]*)", text, re.M)
        assert m, f"{key} is not in the example"
        if key not in ("partitions", "output", "script", "setup", "mpirun",
                       "sbatch", "bandwidth_options"):
            assert parse(m[1].strip()) == default, key


@pytest.mark.parametrize("text, wrong", [
    ("[health]\nparttions = roce\n", "parttions: not known"),
    ("[health]\ntests = ib_read_bw\npartitions = a\n", "tests are ib_send_bw"),
    ("[health]\npartitions = a\nevery = 7 weeks\n", "a time such as"),
    ("[health]\npartitions = a\ndrain = false\n", "yes or no"),
    ("[health]\npartitions = a\n[limits]\nbandwidth = 0\n", "above 0"),
    ("[health]\npartitions = a\n[limits]\nbandwidth = 110\n", "per cent"),
    ("[health]\npartitions = a\n[limit]\n", "is expected"),
    ("[health]\n", "none is named"), ("partitions = a\n", "no section"),
    ("[health]\npartitions = a\npartitions = b\n", "already exists")])
def test_what_is_wrong_in_a_configuration_is_said(tmp_path, text, wrong):
    with pytest.raises(keep.Wrong, match=wrong):
        conf(tmp_path, text)


def test_limits_of_an_adapter_stand_over_the_general_ones(tmp_path):
    got = conf(tmp_path, "[health]\npartitions = a b\n[limits]\nlatency = 4\n"
               "[limits sriov-ib]\nlatency = 2\nline_rate = 200\n")
    assert keep.limits_of(got, "sriov-ib")["latency"] == 2
    assert keep.limits_of(got, "sriov-ib")["line_rate"] == 200
    assert keep.limits_of(got, "sriov-roce")["latency"] == 4


def test_results_outlive_a_cut_and_turn_over(tmp_path):
    r = keep.Results(tmp_path)
    r.add([row(1, "a", "b", "good")])
    with open(r.path, "a") as f:
        f.write('{"time": 5, "job"')
    r.add([row(2, "a", "b", "slow")])
    assert [x["job"] for x in r.read()] == [1, 2] and r.bad == 1
    for k in range(keep.FILES + 2):
        with open(r.path, "a") as f:
            f.write("\n" * (keep.LINES_MOST + 1))
        r.add([row(10 + k, "a", "b", "good")])
    assert len(r.files()) == keep.FILES + 1
    assert [x["job"] for x in r.read()][-1] == 10 + k


@pytest.mark.parametrize("change", [
    {"verdict": "bad"}, {"value": "41"}, {"value": None}, {"job": "7"},
    {"from": {"node": "x"}}, {"test": "ib_read_bw"}, {"time": "now"},
    {"line_rate": None}])
def test_a_row_that_is_none_is_left_out(change):
    good = row(1, "a", "b", "slow")
    assert keep.readable(json.dumps(good)) == good
    assert keep.readable(json.dumps({**good, **change})) is None


def test_one_run_at_a_time(tmp_path):
    first = keep.Results(tmp_path)
    first.lock()
    with pytest.raises(keep.Wrong, match="another run"):
        keep.Results(tmp_path).lock()


def program(*argv, **kw):
    return subprocess.run(
        [HEALTH / "slurm-vsphere-health", *argv], text=True, timeout=60,
        capture_output=True, env={**os.environ, **kw})


def test_outputs_of_jobs_by_hand_are_judged(tmp_path):
    c = tmp_path / "c"
    c.write_text("[health]\npartitions = a\n")
    f = tmp_path / "slurm-7.out"
    f.write_text(job_text())
    r = program("-c", c, "judge", f)
    assert r.returncode == 0, r.stderr
    assert "vm002 > vm001 card 0: good: ib_send_bw 92 Gb/s of 100" in r.stdout
    r = program("-c", c, "--latency", "1", "judge", f)
    assert r.returncode == 1 and "slow: ib_send_lat 1.1 us (1 asked)" in r.stdout
    f.write_text("nothing\n")
    r = program("-c", c, "judge", f)
    assert r.returncode == 2 and "isn't the output of pair.sbatch" in r.stderr
    r = program("-c", tmp_path / "none", "judge", f)
    assert r.returncode == 2 and "No such file" in r.stderr
