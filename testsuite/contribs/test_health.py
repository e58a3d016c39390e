# SPDX-License-Identifier: GPL-2.0-or-later
"""contribs/health: what figures mean and whom they accuse, whose turn it is, what
is kept. (What programs print is test_health_read.py's.)"""

import json
import os
import re
import subprocess
import sys

import pytest

from conftest import TOP
from printed import GB, LAT, bw_row, job_text, lat_row, osu

HEALTH = TOP / "contribs/health"
sys.path.insert(0, str(HEALTH))

import choose       # noqa: E402
import judge        # noqa: E402
import keep         # noqa: E402

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
            "test": "ib_send_bw", "nic": 0, "from": end(a, pf), "to": end(b),
            "value": value, "unit": "Gb/s", "limit": 90.0, "line_rate": 100.0,
            "verdict": verdict, "reason": ""}


def found(*rows, now=NOW, since=None):
    return judge.verdicts(list(rows), now, 14 * DAY, DAY, since)


def slow_hosts(*rows, **kw):
    return [h for h, _ in found(*rows, **kw)[0]]


OTHERS = row(900, "x", "y", "good")     # another pair was good


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
    # not if it was good too long ago, before or after
    assert not slow_hosts(row(1, "b", "c", "good", at=NOW - 2 * DAY),
                          row(2, "a", "b", "slow"))
    assert not slow_hosts(row(1, "a", "b", "slow", at=NOW - 3 * DAY),
                          row(2, "b", "c", "good", at=NOW - 2 * DAY))


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


def test_a_run_finds_by_what_it_has_seen_and_tells_what_was_before():
    """Its cable may have been replaced since."""
    rows = row(1, "a", "b", "slow"), row(2, "a", "c", "slow")
    hosts, said = found(OTHERS, *rows, since=NOW - 999)
    assert not slow_hosts(OTHERS, *rows, since=NOW - 997)
    assert [h for h, _ in hosts] == ["a"] and not said
    assert judge.suspects([OTHERS, *rows], NOW, 14 * DAY, DAY).keys() == {"a"}
    hosts, said = found(OTHERS, *rows, since=NOW - 10)
    assert not hosts and len(said) == 1
    assert said[0].startswith("a was slow: ib_send_bw 41.2 Gb/s of 100")
    # good meanwhile: nothing is left of it
    hosts, said = found(OTHERS, *rows, row(950, "a", "d", "good"),
                        since=NOW - 60)
    assert not hosts and not any("a was slow" in s for s in said)


def test_last_nights_good_pair_proves_nothing_in_a_run():
    """b was good last night, and it is b that went bad since."""
    night = row(1, "b", "c", "good", at=NOW - DAY / 2)
    hosts, said = found(night, row(2, "a", "b", "slow"), since=NOW - 1000)
    assert not hosts and "which of them" in said[0]
    again = row(3, "b", "c", "good")
    assert slow_hosts(night, row(2, "a", "b", "slow"), again,
                      since=NOW - 1000) == ["a"]


def test_where_nobody_is_good_in_a_run_last_nights_good_ones_drain_nobody():
    night = [row(1, h, "e", "good", at=NOW - DAY / 2) for h in "xyz"]
    rows = night + [row(1, "a", "b", "slow"), row(2, "a", "c", "slow")]
    assert slow_hosts(*rows) == ["a"]
    hosts, said = found(*rows, since=NOW - 1000)
    assert not hosts and "suspects, not a" in said[0]
    assert slow_hosts(*rows, row(3, "x", "y", "good"), since=NOW - 1000) == ["a"]


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
    hosts = [{"host": h, "state": "UP", "pfs": [
        {"pci": "p", "network": "net", "total": 4, "free": 2, "foreign": 0},
        {"pci": "q", "network": "other", "total": 4, "free": 4, "foreign": 0}]}
        for h in "abcd"]
    nodes = [{"node": f"vm{i}", "partition": "roce", "vm_state": "NONE",
              "node_state": "POWERED_DOWN"} for i in range(6)]
    nodes[0].update(vm_state="ON", node_state="IDLE", host="c", pf="p")
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


def test_a_suspect_is_tested_first_and_not_with_another():
    where = {h: ["p"] for h in "abcd"}
    last = {(h, "p"): row(i, h, "x", "good", NOW - DAY + i)
            for i, h in enumerate("abcd")}
    age, turn = choose.ages(where, last, NOW), choose.turns(where, last)
    assert choose.pairs_of("abcd", age, turn, 7 * DAY, 9) == []
    assert choose.pairs_of("abcd", age, turn, 7 * DAY, 9, {"d"}) == [("d", "a")]
    assert choose.pairs_of("abcd", age, turn, 7 * DAY, 9, {"c", "d"}) == [
        ("c", "a"), ("d", "b")]
    assert choose.pairs_of("cd", age, turn, 7 * DAY, 9, {"c", "d"}) == [
        ("c", "d")]


def test_devices_beside_the_network_are_no_target():
    """ExtraDevice=: a node's PFs have its GPU among them."""
    hosts, nodes = site()
    gpu = {"pci": "g", "device": "10de:20b0", "total": 2, "free": 2}
    for h in hosts:
        h["pfs"].append(dict(gpu))
    nodes[0]["pf"] = "p,g"
    where = choose.targets(hosts, nodes, "roce", [])
    assert where == {h: ["p"] for h in "abcd"}
    # seen by results alone, and before anything was seen
    del nodes[0]["pf"]
    seen = dict(row(1, "a", "b", "good", pf="g"), partition="roce")
    seen["to"]["pf"] = "p"
    assert choose.targets(hosts, nodes, "roce", [seen]) == where
    assert choose.targets(hosts, nodes, "roce", []) == {
        h: ["p", "q"] for h in "abcd"}
    hosts[3]["pfs"] = [dict(gpu)]
    assert "d" not in choose.targets(hosts, nodes, "roce", [])
    # nor is there room for a VM where only devices are free
    hosts[0]["pfs"] = [dict(hosts[0]["pfs"][0], free=0), dict(gpu, pci="p")]
    assert choose.available(hosts[:2], where, nodes[1:]) == ["b"]


def test_only_hosts_in_service_with_room_are_taken():
    hosts, nodes = site()
    where = choose.targets(hosts, nodes, "roce", [])
    hosts[0]["state"] = "DRAINED"
    hosts[1]["pfs"][0]["free"] = 0
    hosts[2]["pfs"][0]["free"] = 0      # but an idle managed VM is there
    free = choose.usable(nodes, "roce")
    assert choose.available(hosts, where, free) == ["c", "d"]
    nodes[0]["job"] = 5
    free = choose.usable(nodes, "roce")
    assert choose.available(hosts, where, free) == ["d"]
    assert [n["node"] for n in free] == ["vm1", "vm2", "vm3", "vm4", "vm5"]


def test_nodes_that_are_only_just_freed_are_told_from_those_in_use():
    def node(name, slurm, vm, partition="roce"):
        return {"node": name, "partition": partition, "node_state": slurm,
                "vm_state": vm}
    nodes = [node("done", "COMPLETING", "ON"), node("busy", "ALLOCATED", "ON"),
             node("off", "POWERED_DOWN", "NONE"), node("idle", "IDLE", "ON"),
             node("going", "POWERING_DOWN", "ON"), node("bad", "DOWN", "ON"),
             node("still", "POWERED_DOWN", "ON"),
             node("stops", "POWERED_DOWN", "STOPPING"),
             node("other", "COMPLETING", "ON", "ib")]
    assert [n["node"] for n in choose.settling(nodes, "roce")] == [
        "done", "going", "still", "stops"]
    assert [n["node"] for n in choose.usable(nodes, "roce")] == ["off", "idle"]


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
    assert "vm002 > vm001 NIC 0: good: ib_send_bw 92 Gb/s of 100" in r.stdout
    r = program("-c", c, "--latency", "1", "judge", f)
    assert r.returncode == 1 and "slow: ib_send_lat 1.1 us (1 asked)" in r.stdout
    f.write_text("nothing\n")
    r = program("-c", c, "judge", f)
    assert r.returncode == 5 and "isn't the output of pair.sbatch" in r.stderr
    r = program("-c", tmp_path / "none", "judge", f)
    assert r.returncode == 5 and "No such file" in r.stderr
