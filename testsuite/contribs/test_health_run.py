# SPDX-License-Identifier: GPL-2.0-or-later
"""contribs/health: what a run does to hosts. Slurm, svf and the jobs are stand-ins
that know which hosts are slow; what is decided and kept is the program's own."""

import importlib.machinery
import importlib.util
import os
import re
import time
import types

import pytest

from conftest import TOP

PROGRAM = TOP / "contribs/health/slurm-vsphere-health"
DAY = 86400


def load():
    loader = importlib.machinery.SourceFileLoader("slurm_vsphere_health",
                                                  str(PROGRAM))
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class Clock:
    """Each call of time() adds a second; sleep() does not wait."""

    def __init__(self):
        self.now = time.time()

    def time(self):
        self.now += 1
        return self.now

    def sleep(self, seconds):
        self.now += seconds


class World:
    """Hosts a to f with a PF each, as many nodes of each partition as are
    needed."""

    def __init__(self, hosts="abcdef", partitions=("roce",)):
        self.state = dict.fromkeys(hosts, "UP")
        self.partitions, self.slow, self.bad_switch = partitions, set(), False
        self.drained, self.pairs, self.clock = [], [], Clock()

    @property
    def hosts(self):
        return [{"host": h, "state": s, "pfs": [
            {"pci": "p", "network": "net", "total": 9, "free": 9}]}
            for h, s in self.state.items()]

    @property
    def nodes(self):
        return [{"node": f"{p}{i}", "partition": p, "vm_state": "NONE",
                 "node_state": "POWERED_DOWN"}
                for p in self.partitions for i in range(8)]

    def must(self, *argv, **_):
        if argv[:3] == ("svf", "host", "drain"):
            self.state[argv[3]] = "DRAINED"
            self.drained.append(argv[3])
        return ""

    def job(self, conf, partition, pair, nodes):
        """Over at once."""
        self.pairs.append(tuple(pair))
        n = len(self.pairs)
        slow = self.bad_switch or self.slow & set(pair)
        return types.SimpleNamespace(
            id=n, state="COMPLETED", look=lambda: None, over=lambda: True,
            rows=lambda: [slow_or_good(n, pair, slow, self.clock.time(),
                                       partition)])


def slow_or_good(job, pair, slow, at, partition="roce"):
    return {"time": round(at, 1), "job": job, "adapter": "", "nic": 0,
            "partition": partition, "test": "ib_send_bw", "unit": "Gb/s",
            "value": 41.2 if slow else 98.0, "limit": 90.0, "line_rate": 100.0,
            "verdict": "slow" if slow else "good", "reason": "",
            **{e: {"node": "vm", "host": h, "pf": "p"}
               for e, h in zip(("from", "to"), pair)}}


@pytest.fixture
def site(tmp_path, monkeypatch, capsys):
    """site(World, key=value, ...): a run; what it said."""
    m = load()

    def run(world, no_drain=False, **keys):
        for name, stand_in in {
                "Site": lambda: types.SimpleNamespace(
                    hosts=world.hosts, nodes=world.nodes),
                "must": world.must, "Job": world.job, "time": world.clock,
                "call": lambda *a: types.SimpleNamespace(stdout="")}.items():
            monkeypatch.setattr(m, name, stand_in)
        conf = {k: default for k, (_, default) in m.keep.KEYS.items()}
        conf.update(partitions=list(world.partitions), fresh="no",
                    state=str(tmp_path / "state"),
                    output=str(tmp_path / "out"), pairs=3, drain=not no_drain,
                    limits={"": {}})
        conf.update(keys)
        world.status = m.run(conf, types.SimpleNamespace(partition=None))
        world.clock.sleep(DAY)      # the timer's next
        return capsys.readouterr().out

    run.module = m
    run.results = m.keep.Results(tmp_path / "state")
    run.out = tmp_path / "out"
    (tmp_path / "state").mkdir()
    return run


def test_a_slow_host_is_drained_and_no_other(site):
    world = World()
    world.slow = {"c"}
    assert "c is drained: ib_send_bw 41.2 Gb/s" in site(world)
    assert world.drained == ["c"]


def test_a_host_found_by_a_run_that_drains_not_is_tested_before_it_is_drained(
        site):
    world = World()
    world.slow = {"c"}
    assert "c is slow" in site(world, no_drain=True) and not world.drained
    world.slow = set()                  # its cable is replaced
    world.pairs = []
    said = site(world)
    assert not world.drained, said
    # It wasn't due: it was taken because of what is known of it.
    assert world.pairs[0][0] == "c"
    assert "c is slow" not in said and "c was slow" not in said
    world.pairs = []                    # and its slow partner, then no host
    site(world)
    assert all("c" not in p for p in world.pairs)
    world.pairs = []
    site(world)
    assert not world.pairs and not world.drained


def test_a_host_that_is_still_slow_is_drained_by_the_next_run(site):
    world = World()
    world.slow = {"c"}
    site(world, no_drain=True)
    site(world)
    assert world.drained == ["c"]


def test_a_suspect_without_a_test_is_told_and_not_drained(site):
    world = World()
    world.slow = {"c"}
    site(world, no_drain=True)
    world.state = {h: "UP" if h == "c" else "MAINTENANCE" for h in "abcdef"}
    said = site(world)
    assert "c was slow: ib_send_bw 41.2 Gb/s" in said and not world.drained
    assert "this run has no result of it" in said
    assert world.status == 1
    world.state, world.slow = dict.fromkeys("abcdef", "UP"), set()
    site(world)
    said = site(world)          # who was slow beside it is cleared, too
    assert world.status == 0, said


def test_what_an_operator_has_drained_is_not_held_guilty_afterwards(site):
    world = World()
    world.slow = {"c"}
    site(world, no_drain=True)
    world.state["c"] = "DRAINED"
    assert "c was slow" not in site(world)
    world.state["c"], world.slow, world.pairs = "UP", set(), []
    said = site(world)
    assert not world.pairs and not world.drained and "c was" not in said


def test_one_slow_pair_with_a_host_that_was_good_last_night_drains_nobody(site):
    """b was known good, and is the one that went bad; no other host is there to
    test with."""
    world = World("abx")
    night = time.time() - DAY / 2
    site.results.add([slow_or_good(90, "bx", False, night),
                      slow_or_good(91, "ax", False, night - 9 * DAY)])
    world.state["x"] = "MAINTENANCE"
    world.slow = {"b"}
    said = site(world)
    assert world.pairs == [("a", "b")]
    assert not world.drained and "which of them it is" in said


def test_both_hosts_of_a_slow_pair_are_tested_again_though_one_was_found(site):
    """With a's slow pair of last week, b's makes a slow with two."""
    world = World("abcd")
    site.results.add(
        [slow_or_good(90, "ad", True, time.time() - 8 * DAY),
         slow_or_good(91, "bx", False, time.time() - 3 * DAY),
         slow_or_good(92, "cd", False, time.time() - DAY / 2)])
    world.slow = {"b"}
    site(world, every=1, pairs=2)
    assert world.pairs[0] == ("a", "b")
    assert len([p for p in world.pairs if "a" in p]) > 1
    assert world.drained == ["b"]


def test_a_bad_switch_drains_nobody_whatever_was_good_last_night(site):
    world = World("abc")
    night = time.time() - DAY / 2
    site.results.add([slow_or_good(90 + i, p, False, night)
                      for i, p in enumerate(("ab", "bc", "ca"))])
    world.bad_switch = True
    said = site(world, every=1)
    assert len(world.pairs) > 1 and not world.drained, said


def test_drains_is_what_a_run_may_do_over_all_partitions(site):
    world = World(partitions=("one", "two"))

    def job(conf, partition, pair, nodes):
        world.slow = {"c"} if partition == "one" else {"e"}
        return World.job(world, conf, partition, pair, nodes)
    world.job = job
    said = site(world, every=0)
    assert world.drained == ["c"], said
    assert "not drained, it would be more than 1 in a run" in said
    world.state["c"], world.drained = "UP", []
    site(world, every=0, drains=2)
    assert sorted(world.drained) == ["c", "e"]


def test_only_outputs_of_its_own_jobs_are_removed(site):
    site.out.mkdir(mode=0o700)
    old = time.time() - 15 * DAY
    mine = "slurm-vsphere-health-4711.out"
    others = ["thesis.out", "4711.out", "slurm-4711.out",
              "slurm-vsphere-health-notes.out"]
    for name in [mine, *others]:
        (site.out / name).write_text("x")
        os.utime(site.out / name, (old, old))
    (site.out / "slurm-vsphere-health-4712.out").write_text("x")
    site(World())
    assert sorted(f.name for f in site.out.iterdir()) == sorted(
        [*others, "slurm-vsphere-health-4712.out"])


def test_what_a_job_writes_has_the_name_that_is_removed(site, monkeypatch):
    job, asked = site.module.Job, []
    monkeypatch.setattr("job.must", lambda *argv, **_: asked.append(
        [str(a) for a in argv]) or "4711\n")
    conf = {k: default for k, (_, default) in site.module.keep.KEYS.items()}
    conf.update(output=str(site.out), tests=["ib_send_bw"])
    site.out.mkdir(mode=0o700)
    made = job(conf, "roce", ("a", "b"), [{"node": "vm1"}, {"node": "vm2"}])
    made.state = "COMPLETED"
    name = asked[0][asked[0].index("-o") + 1].replace("%j", "4711")
    assert re.fullmatch(r"slurm-vsphere-health-\d+\.out",
                        os.path.basename(name))
    with open(name, "w") as f:
        f.write("of it\nhealth: done\n")
    assert made.output().startswith("of it")


def test_why_a_job_has_no_result_is_its_own_word(site, monkeypatch):
    m = site.module
    monkeypatch.setattr("job.must", lambda *argv, **_: "7\n")
    conf = {k: default for k, (_, default) in m.keep.KEYS.items()}
    conf.update(output=str(site.out), limits={"": m.judge.DEFAULT_LIMITS})
    site.out.mkdir(mode=0o700)
    made = m.Job(conf, "roce", ("a", "b"), [{"node": "vm1"}, {"node": "vm2"}])
    made.state = "COMPLETED"
    made.places = {"vm1": ("a", ["p"]), "vm2": ("b", ["p"])}
    head, end = "health: version=1 job=7 nodes=vm1,vm2\n", "health: done\n"
    nic = "health: nic node={} nic=0 device=mlx5_0 rate=100 Gb/sec (4X EDR)\n"
    edge = "test=ib_send_bw nic=0 from=vm1 to=vm2"
    for text, why in (
            (f"{head}no active RDMA port on vm1 (x)\n{end}", "no active RDMA"),
            (f"{head}srun: error: no step\nsrun: bye\n{end}", "srun: error"),
            (head + nic.format("vm1") + end, "it was not run"),
            (f"{head}{nic.format('vm1')}health: begin {edge}\nFailed to x\n"
             f"health: end {edge} rc=1\n{end}", "ended with 1: Failed to x")):
        made.output = lambda text=text: text
        row = made.rows()[0]
        assert row["verdict"] == "none" and row["reason"].startswith(why), row


def test_a_partition_without_vms_is_a_mistake_and_no_busy_one(site):
    with pytest.raises(site.module.Wrong, match="rose.*there are roce"):
        site(World(), partitions=["roce", "rose"])
