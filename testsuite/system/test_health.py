# SPDX-License-Identifier: GPL-2.0-or-later
"""slurm-vsphere-health: pairs of hosts measured by jobs, a slow host drained.

The programs in the guests are fabric.py's: their output is as the real ones
print it, the figures are those the test gives each host.
"""

import json
import os
import pathlib
import re

import fabric
from cluster import Cluster, wait_for
from daemons import TOP
from stages import Held
from worlds import PF0, world

HEALTH = pathlib.Path(TOP) / "contribs/health/slurm-vsphere-health"
E1, E2, E3, E4 = (f"esx0{i}.example.org" for i in range(1, 5))
TESTS = "ib_send_bw", "ib_send_lat", "osu_latency", "osu_bw"


def make_cluster():
    c = Cluster(nodes=6, inventory=world(hosts=4, vfs=2))
    c.vsphere = {"ShutdownGrace": 1}
    # idle_on_node_suspend makes Slurm itself lift drains at power-down.
    c.slurm = {"SlurmctldParameters": None, "SuspendTime": "600"}
    return c


def configure(c, **more):
    """The programs, and a configuration that tests every host each time."""
    (c.path("fabric")).mkdir(exist_ok=True)
    for name in TESTS:
        f = c.path("bin", name)
        if not f.exists():
            f.symlink_to(fabric.__file__)
    pathlib.Path(fabric.__file__).chmod(0o755)
    c.path("etc", "setup.sh").write_text(
        f"PATH={c.path('bin')}:$PATH\n"
        f"HEALTH_SYS={c.path('guests')}/$SLURMD_NODENAME/root/sys\n")
    keys = {"partitions": "roce", "every": "1s", "pairs": "2",
            "state": c.path("health"), "output": c.path("out", "health"),
            "setup": c.path("etc", "setup.sh"), "wait": "120s", **more}
    c.path("etc", "health.conf").write_text("[health]\n" + "".join(
        f"{k} = {v}\n" for k, v in keys.items()))


def health(c, *argv):
    return c.run(HEALTH, "-c", c.path("etc", "health.conf"), *argv,
                 timeout=240)


def speed(c, host, text=None):
    f = c.path("fabric", host)
    f.unlink(missing_ok=True)
    if text:
        f.write_text(text)


def rows(c):
    return [json.loads(line) for line in
            c.path("health", "results.jsonl").read_text().splitlines()]


def hosts(c):
    return {h["host"]: h for h in c.svf("hosts")["hosts"]}


def start_afresh(c):
    for f in [*c.path("health").glob("results*"), *c.path("fabric").glob("*.*")]:
        if f.is_file():
            f.unlink()
    for h in hosts(c):
        c.must("svf", "host", "resume", h)
    wait_for("nobody has a node", 60, lambda: all(
        (n["node_state"], n["vm_state"]) in
        (("IDLE", "ON"), ("POWERED_DOWN", "OFF"), ("POWERED_DOWN", "NONE"))
        and not n.get("job") and not n.get("request")
        for n in c.svf("nodes")["nodes"]))


def test_good_hosts_are_measured_and_none_is_drained(cluster):
    configure(cluster)
    r = health(cluster, "run")
    assert r.returncode == 0, r.stdout + r.stderr
    got = rows(cluster)
    assert {x["verdict"] for x in got} == {"good"}
    # Each host once, with its PF by the simulator's books; bandwidth both ways.
    ends = [(x[e]["host"], x[e]["pf"]) for x in got
            if x["test"] == "osu_bw" for e in ("from", "to")]
    assert sorted(ends) == [(h, PF0) for h in (E1, E2, E3, E4)]
    assert sorted(x["test"] for x in got) == sorted(
        2 * (TESTS + ("ib_send_bw",)))
    assert {x["value"] for x in got if x["test"] == "ib_send_bw"} == {97.8}
    assert {x["line_rate"] for x in got if x["unit"] == "Gb/s"} == {100}
    assert all(h["state"] == "UP" for h in hosts(cluster).values())
    said = health(cluster, "report")
    assert said.returncode == 0 and said.stdout.count(" good ") == 4
    assert "ib_send_lat 1.1 us" in said.stdout


def test_a_slow_host_is_drained_with_its_figure_and_jobs_avoid_it(cluster):
    configure(cluster)
    start_afresh(cluster)
    speed(cluster, E3, "41.2 1.1")
    r = health(cluster, "run")
    assert r.returncode == 1, r.stdout + r.stderr
    slow = hosts(cluster)[E3]
    assert slow["state"] in ("DRAINING", "DRAINED"), r.stdout
    (text,) = [w for w in slow["reasons"] if "by an operator" in w]
    assert "ib_send_bw 40.29 Gb/s of 100 (90 % asked), PF " + PF0 in text
    # The job of that figure is one that was there, by Slurm's own record.
    job = text.rsplit("JobId=", 1)[1]
    assert f"{E3}/{PF0}" in cluster.job(job)["SystemComment"]
    assert [h for h, x in hosts(cluster).items() if x["state"] != "UP"] == [E3]
    ran = Held(cluster, "-N6").wait_running()
    assert E3 not in {cluster.our_vm(f"vm00{i}")["host"]
                      for i in range(1, 7)}
    ran.end_well()
    # What is drained is tested no more, and after its repair not held guilty.
    cluster.must("svf", "host", "resume", E3)
    speed(cluster, E3)
    r = health(cluster, "run")
    assert r.returncode == 0, r.stdout + r.stderr
    assert all(h["state"] == "UP" for h in hosts(cluster).values())


def test_latency_is_judged_too_and_no_drain_only_tells(cluster):
    configure(cluster)
    start_afresh(cluster)
    speed(cluster, E2, "100 7.5")
    r = health(cluster, "run", "--no-drain")
    speed(cluster, E2)
    assert r.returncode == 1
    assert f"{E2} is slow: ib_send_lat 7.5 us (3 asked), PF {PF0}" in r.stdout
    assert all(h["state"] == "UP" for h in hosts(cluster).values())


def test_what_fails_or_prints_garbage_drains_nobody(cluster):
    configure(cluster, pairs="1")
    start_afresh(cluster)
    speed(cluster, E1, "10 50")
    cluster.path("fabric", "ib_send_bw.fails").write_text(
        " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]"
        "   MsgRate[Mpps]\n 65536      1000             1.0\n")
    for name in TESTS[1:]:
        cluster.path("fabric", name + ".fails").write_text("Segmentation\n")
    r = health(cluster, "run")
    speed(cluster, E1)
    assert r.returncode == 1 and "no result of ib_send_bw" in r.stdout
    assert {x["verdict"] for x in rows(cluster)} == {"none"}
    assert all(h["state"] == "UP" for h in hosts(cluster).values())
    # Nor does it count as a test of that host.
    assert f"{E1} (UP): never tested" in r.stdout


def test_slow_beside_others_traffic_is_no_result(cluster):
    """Two VFs share a link: the rate that another user's job leaves over says
    nothing about the host."""
    configure(cluster, pairs="1")
    start_afresh(cluster)
    busy = []
    for i, h in enumerate((E1, E2, E3, E4), 1):
        cluster.must("svf", "vm", "move", f"vm00{i}", "--on", h)
        cluster.wait_node(f"vm00{i}", lambda s: s == "IDLE+CLOUD+POWERED_DOWN",
                          40, "off")
        busy.append(Held(cluster, "-N1", "-w", f"vm00{i}").wait_running())
        assert cluster.our_vm(f"vm00{i}")["host"] == h
        speed(cluster, h, "50 1.1")
    r = health(cluster, "run")
    for h in (E1, E2, E3, E4):
        speed(cluster, h)
    for job in busy:
        job.end_well()
    assert r.returncode == 1, r.stdout + r.stderr
    assert re.search(r"but (1 other VM shares|[23] other VMs share) these PFs",
                     r.stdout), r.stdout
    assert "slow" not in {x["verdict"] for x in rows(cluster)}


def test_where_all_are_slow_the_network_is_told_and_no_host_drained(cluster):
    configure(cluster)
    start_afresh(cluster)
    for h in (E1, E2, E3, E4):
        speed(cluster, h, "50 1.1")
    r = health(cluster, "run")
    for h in (E1, E2, E3, E4):
        speed(cluster, h)
    assert r.returncode == 1 and "slow" in r.stdout
    assert all(h["state"] == "UP" for h in hosts(cluster).values()), r.stdout


def test_limits_are_the_files_and_the_command_lines(cluster):
    configure(cluster, pairs="1")
    start_afresh(cluster)
    with open(cluster.path("etc", "health.conf"), "a") as f:
        f.write("[limits]\nbandwidth = 99\n[limits sriov-roce]\nlatency = 2\n")
    r = health(cluster, "--bandwidth", "95", "run", "--no-drain")
    assert r.returncode == 0, r.stdout + r.stderr
    got = {x["test"]: (x["limit"], x["verdict"]) for x in rows(cluster)}
    assert got["ib_send_bw"] == (95, "good")
    assert got["ib_send_lat"] == (2, "good")
    with open(cluster.path("etc", "health.conf"), "a") as f:
        f.write("[limits other]\nlatancy = 1\n")
    r = health(cluster, "run")
    assert r.returncode == 5 and "[limits other] latancy: not known" in r.stderr


def test_a_run_that_is_ended_leaves_no_job(cluster):
    configure(cluster, fresh="no", wait="5s")
    start_afresh(cluster)
    cluster.must("scontrol", "update", "partitionname=roce", "state=down")
    try:
        r = health(cluster, "run")
    finally:
        cluster.must("scontrol", "update", "partitionname=roce", "state=up")
    assert r.returncode == 1 and "it did not end in 5 s (PENDING)" in r.stdout
    wait_for("no job is left", 30, lambda: not cluster.must(
        "squeue", "-h", "-n", "slurm-vsphere-health"))
    assert os.stat(cluster.path("out", "health")).st_mode & 0o077 == 0
