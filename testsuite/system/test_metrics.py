# SPDX-License-Identifier: GPL-2.0-or-later
"""MetricsPort=: Prometheus gets the values that svf prints; who may ask and how;
and no client can delay another client or slurmctld. Three hosts
with eight VFs, of which slurm-vsphere may use five, and six nodes, and a GPU that no
node has; the metrics come with the second test."""

import datetime
import json
import os
import pathlib
import re
import socket
import time

import pytest

import monitoring
from cluster import TOP, Cluster, free_ports, patience, wait_for
from monitoring import (
    PREFIX, families, families_now, page, promtool, value)
from stages import Held
from worlds import ROCE_AND_ETH, foreign, host, world

E1, E2, E3 = (f"esx{i:02d}.example.org" for i in (1, 2, 3))
HERE = pathlib.Path(TOP) / "contribs/monitoring"
PLACES = 8      # connections at once, as promised


def make_cluster():
    hosts = [host(E1, 4), host(E2, 2), host(E3, 2)]
    hosts[0]["devices"] = [{"pci": "0000:65:00.0", "vendor": 0x10de,
                            "device": 0x20b0, "name": "GA100"}]
    c = Cluster(nodes=6, inventory=world(
        hosts=hosts,
        vms=[foreign("theirs1", E2), foreign("theirs2", E3),
             foreign("theirs3", E3)]))
    c.vsphere = {"ShutdownGrace": 1, "AllowMoreNodesThanVFs": "yes", "lines": [
        *ROCE_AND_ETH[:2], "AdapterName=gpu Type=dynamic-directpath"
        " Vendor=0x10de Device=0x20b0", ROCE_AND_ETH[3]]}
    c.slurm = {"SuspendTimeout": 2,
               "SchedulerParameters": c.scheduler_parameters +
               ",sched_interval=2"}
    c.metrics_port, c.metrics_owned = free_ports(2)
    return c


def threads(c):
    pid = c.daemons["slurmctld"].pid
    return [p.read_text().strip()
            for p in pathlib.Path(f"/proc/{pid}/task").glob("*/comm")]


def serve(c, port):
    """vsphere.conf says this port now, and no other."""
    f = c.path("etc", "vsphere.conf")
    lines = [ln for ln in f.read_text().splitlines()
             if not ln.startswith("MetricsPort=")]
    f.write_text("\n".join([f"MetricsPort={port}"] + lines) + "\n")
    c.must("scontrol", "reconfigure")


def served(c):
    return c.svf("status").get("metrics")


@pytest.fixture
def port(cluster):
    """Where the metrics are, whatever ran before."""
    wait_for("svf has answers", 20, lambda: cluster.svf("status"))
    if served(cluster) != f"http://127.0.0.1:{cluster.metrics_port}/metrics":
        serve(cluster, cluster.metrics_port)
        wait_for("metrics are served", 20, lambda: served(cluster))
    wait_for("vCenter is read", 20, lambda: value(
        families(cluster.metrics_port), "vcenter_up") == 1)
    return cluster.metrics_port


@pytest.fixture
def prometheus(cluster, port):
    p = monitoring.Prometheus(cluster, port, port + 1)
    yield p
    cluster.daemons.pop("prometheus").end(grace=5)


def test_nothing_is_served_unless_it_is_asked_for(cluster):
    assert "vs_engine" in threads(cluster)
    assert "vs_metrics" not in threads(cluster)
    status = cluster.svf("status")
    assert not {"metrics", "metrics_error"} & set(status)
    with pytest.raises(OSError):
        page(cluster.metrics_port)


def test_a_port_in_use_is_told_and_stops_nothing(cluster):
    with socket.socket() as s:
        s.bind(("127.0.0.1", cluster.metrics_port))
        s.listen()
        serve(cluster, cluster.metrics_port)
        why = wait_for("svf status says so", 20, lambda: cluster.svf(
            "status").get("metrics_error"))
        assert f"MetricsPort={cluster.metrics_port}: cannot listen: " in why
        assert f"metrics are not served: {why}" in cluster.ctld_log()
        assert why in cluster.svf("status", json_out=False)
        cluster.wait_job(cluster.sbatch("-N1", script="hostname"), 60)
        assert not served(cluster)
        # once, however often it is tried
        assert cluster.ctld_log().count("metrics are not served") == 1
    wait_for("it is served when the port is free", 20, lambda: served(cluster))
    assert "metrics_error" not in cluster.svf("status")
    assert value(families(cluster.metrics_port), "vcenter_up") == 1


def test_a_reconfigure_takes_them_away_again(cluster, port):
    serve(cluster, 0)
    wait_for("they are served no more", 20, lambda: not served(cluster))
    wait_for("their thread has ended", 10,
             lambda: "vs_metrics" not in threads(cluster))
    with pytest.raises(OSError):
        page(port)


def test_an_address_of_others_is_warned_of(cluster, port):
    f = cluster.path("etc", "vsphere.conf")
    was = f.read_text()
    try:
        f.write_text("MetricsAddr=0.0.0.0\n" + was)
        cluster.must("svf", "conf", str(f))
        assert "is not loopback" not in cluster.ctld_log()
        cluster.must("scontrol", "reconfigure")
        wait_for("the log warns", 20, lambda: "MetricsAddr=0.0.0.0 is not "
                 "loopback: anyone who reaches it" in cluster.ctld_log())
        assert page(port)[0] == 200
        for wrong in ("MetricsAddr=localhost", "MetricsAddr=10.1",
                      f"MetricsAddr=127.0.0.1\nSvfPort={port}"):
            f.write_text(wrong + "\n" + re.sub("(?m)^SvfPort=.*$", "", was)
                         if "SvfPort" in wrong else wrong + "\n" + was)
            r = cluster.run("svf", "conf", str(f))
            assert r.returncode != 0 and "Metrics" in r.stderr, r
    finally:
        f.write_text(was)


def test_the_page_is_what_another_implementation_reads(cluster, port):
    fams, plain = families(port), families(port, openmetrics=False)
    assert fams[PREFIX + "build"].type == "info"
    assert fams[PREFIX + "step_failures"].type == "counter"
    assert fams[PREFIX + "step_duration_seconds"].unit == "seconds"
    assert fams[PREFIX + "vf_wait_seconds"].type == "histogram"
    assert all(f.documentation for f in fams.values())
    assert all(n.startswith(PREFIX) for n in fams)
    # The older format has the same samples.
    def names(fs):
        return {(s.name, tuple(sorted(s.labels.items())))
                for f in fs.values() for s in f.samples}
    assert names(fams) == names(plain)
    r = promtool("check", "metrics", input=page(port)[2])
    assert r.returncode == 0 and not r.stdout and not r.stderr, r


def test_get_metrics_alone_is_answered(port):
    assert page(port, path="/")[0] == 404
    assert page(port, path="/metrics/")[0] == 404
    assert page(port, method="POST")[0] == 405
    assert page(port, method="HEAD")[0] == 405
    assert page(port, path="/metrics?x=1")[0] == 200


def clones(cluster):
    return cluster.counters()["calls"].get("CloneVM_Task", 0)


def test_prometheus_says_what_svf_says(cluster, port, prometheus):
    ask = prometheus.query
    was = families_now(port)
    starts = value(was, "vm_starts", "_total")
    # Those that a process before this one made are not in its count.
    before = clones(cluster) - sum(
        s.value for s in was[PREFIX + "vcenter_calls"].samples
        if s.labels.get("call") == "CloneVM_Task" and
        s.labels["outcome"] == "ok" and s.name.endswith("_total"))
    job = Held(cluster, "-N3", "-t5").wait_running()

    def same():
        st, hosts = cluster.svf("status"), cluster.svf("hosts")["hosts"]
        nodes = cluster.svf("nodes")["nodes"]
        pfs = [pf for h in hosts for pf in h["pfs"] if "device" not in pf]
        for state in ("free", "managed", "foreign", "reserved", "unverified"):
            assert ask(f'sum({PREFIX}vfs{{state="{state}"}})') == sum(
                pf[state] for pf in pfs), state
        assert ask(f'sum({PREFIX}vfs)') == sum(pf["total"] for pf in pfs)
        for h in hosts:
            assert ask(f'sum({PREFIX}vfs{{host="{h["host"]}",state="managed"}})') \
                == sum(pf["managed"] for pf in h["pfs"] if pf in pfs)
        assert ask(f'{PREFIX}hosts{{state="up"}}') == len(hosts)
        for state in ("allocated", "powered_down", "idle"):
            assert ask(f'sum({PREFIX}nodes{{state="{state}"}})') == sum(
                n["node_state"] == state.upper() for n in nodes)
        assert ask(f'sum({PREFIX}node_vms{{state="on"}})') == sum(
            n["vm_state"] == "ON" for n in nodes)
        assert ask(f'{PREFIX}clones_last_hour') == st["clones_hour"]
        assert ask(f'sum({PREFIX}operations_in_flight)') == st["in_flight"]
        # The count grows while slurmctld runs, so svf, asked later, shows no less.
        for part, key in (("select_calls",) * 2, ("locks", "slurm_locks")):
            n = ask(f'{PREFIX}slurmctld_blocked_seconds_count{{part="{part}",'
                    'clock="wall"}')
            assert 0 < n <= cluster.svf("status")[key]["count"]
        return True
    wait_for("Prometheus and svf agree", 30, lambda: agree(same))
    # Of three VMs, made for this job or there before it, each was switched on.
    assert ask(f"{PREFIX}vm_starts_total") >= starts + 2
    assert ask(f'{PREFIX}step_duration_seconds_count{{step="boot"}}') == ask(
        f"{PREFIX}vm_starts_total")
    made = clones(cluster) - before
    assert made and ask(f'{PREFIX}vcenter_calls_total{{call="CloneVM_Task",'
                        'outcome="ok"}') == made
    job.end_well()


def agree(look):
    try:
        return look()
    except AssertionError as e:
        print(f"not yet: {e}")
        return False


def test_a_jobs_wait_for_vfs_is_seen_while_it_lasts_and_after(cluster, port):
    """Five VFs are to be had, and six nodes are there."""
    before = families_now(port)
    hog = Held(cluster, "-N5", "-t5").wait_running()
    late = Held(cluster, "-N1", "-t5")
    began = time.monotonic()
    wait_for("one waits for VFs", 30, lambda: value(
        families(port), "jobs_waiting", reason="vfs") == 1)
    wait_for("it has waited for 2 s", 30, lambda: value(
        families(port), "vf_wait_oldest_seconds") > 2)
    hog.end_well()
    late.wait_running()
    waited = time.monotonic() - began
    after = families_now(port)

    def grown(suffix, **labels):
        return value(after, "vf_wait_seconds", suffix, **labels) - \
            value(before, "vf_wait_seconds", suffix, **labels)
    assert grown("_count") == 2
    assert 2 < grown("_sum") <= waited + 1
    assert grown("_bucket", le="1.0") == 1      # the one that had not to wait
    assert value(after, "jobs_waiting", reason="vfs") == 0
    assert value(after, "vf_wait_oldest_seconds") == 0
    late.end_well()


def test_a_shutdown_is_timed_until_the_vm_is_off(cluster, port):
    before = families_now(port)
    cluster.wait_job(cluster.sbatch("-N1", "-w", "vm001", script="true"), 60)
    cluster.must("scontrol", "update", "nodename=vm001", "state=power_down")
    wait_for("it is off", 40, lambda: not cluster.is_on("vm001"))

    def grown(suffix):
        after = families(port)
        return value(after, "step_duration_seconds", suffix, step="shutdown") \
            - value(before, "step_duration_seconds", suffix, step="shutdown")
    wait_for("it is counted", 20, lambda: grown("_count") == 1)
    log = [ln for ln in cluster.ctld_log().splitlines() if "node=vm001" in ln]
    asked, gone = (datetime.datetime.fromisoformat(
        [ln for ln in log if word in ln][-1].split("]")[0][1:])
        for word in (" shutdown begins ", " claim released "))
    assert abs(grown("_sum") - (gone - asked).total_seconds()) < 0.2


def test_failures_a_breaker_and_its_vfs_are_seen(cluster, port, prometheus):
    """Every power-on fails, on one host that is left."""
    cluster.must("scontrol", "update", "nodename=vm[001-006]",
                 "state=power_down")
    wait_for("all are off", 40, lambda: not cluster.names_on() and all(
        cluster.is_powered_down(n) for n in cluster.node_names()))
    before = families_now(port)
    for h in (E2, E3):
        cluster.must("svf", "host", "drain", h, "only for this test")
    fams = families_now(port)
    assert value(fams, "hosts", state="drained") == 2
    # what is free there is kept from jobs; what is used is still used
    assert value(fams, "vfs", host=E2, state="quarantined") == 1
    assert value(fams, "vfs", host=E3, state="foreign") == 2
    assert value(fams, "vfs", host=E2, state="free") == 0
    cluster.fault(on="task", method="PowerOnVM_Task",
                  fault={"_typeName": "GenericVmConfigFault"},
                  message="the NIC is broken")
    jobs = [cluster.sbatch("-N1", script="true") for _ in range(4)]
    try:
        wait_for("the breaker is open", 90, lambda: value(
            families(port), "host_breaker", host=E1) == 2)
        fams = families(port)
        assert value(fams, "vfs", host=E1, state="free") == 0
        assert value(fams, "vfs", host=E1) == 4
        assert value(fams, "hosts", state="quarantined") == 1
        assert value(fams, "host_breaker", host=E2) == 0

        def failed(fs):
            return value(fs, "step_failures", "_total", step="power_on")
        refused = cluster.ctld_log().count(" op=power-on failed code=")
        assert failed(fams) - failed(before) >= 3
        assert refused >= failed(fams) - failed(before)
        wait_for("Prometheus knows", 20, lambda: prometheus.query(
            f"max({PREFIX}host_breaker)") == 2)
    finally:
        cluster.clear_faults()
        for j in jobs:
            cluster.run("scancel", str(j))
        for h in (E1, E2, E3):
            cluster.run("svf", "host", "resume", h)
    assert value(families_now(port), "host_breaker", host=E1) == 0


def test_a_host_that_is_away_has_lost_its_vfs(cluster, port):
    cluster.do("hostState", host=E1, state="notResponding")
    try:
        wait_for("they are lost", 20, lambda: value(
            families(port), "vfs", host=E1, state="lost") > 0)
        fams = families(port)
        assert value(fams, "vfs", host=E1) == 4
        assert value(fams, "vfs", host=E1, state="free") == 0
        assert value(fams, "hosts", state="disconnected") == 1
    finally:
        cluster.do("hostState", host=E1, state="connected")
    wait_for("they are back", 20, lambda: value(
        families(port), "vfs", host=E1, state="lost") == 0)


def dial(port):
    s = socket.create_connection(("127.0.0.1", port), timeout=10)
    s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n")
    return s


def test_who_is_slow_keeps_nobody_out(cluster, port):
    """Every place is taken by requests that never end, a byte now and then;
    svf, jobs and Prometheus don't notice."""
    slow = [dial(port) for _ in range(PLACES)]
    try:
        for s in slow:
            s.sendall(b"X")
        cluster.svf("status")
        began = time.monotonic()
        assert page(port, timeout=60)[0] == 200
        assert time.monotonic() - began < 10 * patience()
        ended = 0
        for s in slow:
            s.settimeout(20)
            try:
                ended += s.recv(1) == b""
            except ConnectionResetError:
                ended += 1
        assert ended == PLACES
    finally:
        for s in slow:
            s.close()


# ---- what contribs/monitoring names ------------------------------------------

def named(text):
    """Metrics, without what PromQL adds to a family's name."""
    return set(re.findall(PREFIX + r"\w+", text))


def samples(port):
    """All names of a page, histograms' parts included."""
    return {s.name for f in families(port).values() for s in f.samples}


def test_alerts_are_right_and_fire(tmp_path):
    r = promtool("check", "rules", HERE / "alerts.yml")
    assert r.returncode == 0, r.stdout + r.stderr
    r = promtool("test", "rules", HERE / "alerts_test.yml")
    assert r.returncode == 0, r.stdout + r.stderr
    alerts = (HERE / "alerts.yml").read_text()
    tested = (HERE / "alerts_test.yml").read_text()
    names = re.findall(r"- alert: (\w+)", alerts)
    assert len(names) == len(set(names)) == 14
    for name in names:
        # one that fires never, and one whose number is another, are found
        assert f"alertname: {name}" in tested and f'"{name}"' in tested, name
        broken = tmp_path / name
        broken.mkdir()
        (broken / "alerts_test.yml").write_text(tested)
        (broken / "alerts.yml").write_text(re.sub(
            rf"(- alert: {name}\n +expr:) (>-\n +)?", r"\1 vector(0) == 1 and ",
            alerts))
        r = promtool("test", "rules", "alerts_test.yml", cwd=broken)
        assert r.returncode != 0, name


def test_each_metric_has_its_panel_and_its_line_in_the_documents(port):
    text = (HERE.parents[1] / "doc/operations/monitoring.md").read_text()
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    lines = {m for row in rows for m in re.findall(r"`(\w+)(?:\{[^`]*\})?`", row.split("|")[1])}
    panels = named((HERE / "grafana.json").read_text())
    # A histogram's and a summary's names are those of its parts on a panel.
    parts = re.compile(r"_(bucket|sum|count|total|info)$")
    panels |= {parts.sub("", n) for n in panels}
    lines |= {parts.sub("", n) for n in lines}
    for name in families(port):
        assert name in panels, name
        assert name.removeprefix(PREFIX) in lines, name


def test_who_picks_an_adapter_sees_what_several_share():
    """Their names are in one label, with commas between them."""
    board = json.loads((HERE / "grafana.json").read_text())
    asked = [t["expr"] for p in board["panels"] for t in p.get("targets", [])
             if "$adapter" in t["expr"]]
    assert len(asked) >= 6
    for expr in asked:
        (at,) = re.findall(r'adapter=~"([^"]*)"', expr)
        for picked in ("(ib|eth)", "eth"):      # as Grafana writes several, one
            want = re.compile(at.replace("$adapter", picked))
            assert [bool(want.fullmatch(n)) for n in (
                "eth", "roce,eth", "eth,roce", "methane", "roce")] == [
                    True, True, True, False, False], expr


def test_each_metric_that_alerts_and_dashboard_name_is_there(port):
    there = samples(port)
    for f in ("alerts.yml", "alerts_test.yml", "grafana.json"):
        unknown = named((HERE / f).read_text()) - there
        assert not unknown, (f, unknown)


def test_each_question_of_the_dashboard_is_understood(port, prometheus):
    """Of a real Prometheus; and each label that is asked for exists."""
    board = json.loads((HERE / "grafana.json").read_text())
    exprs = [t["expr"] for p in board["panels"] for t in p.get("targets", [])]
    assert len(exprs) > 30
    for e in exprs:
        e = e.replace("$__rate_interval", "1m").replace("$instance", ".*")
        prometheus.get("query", query=e.replace("$adapter", ".*"))
    shown = {re.sub("_(bucket|sum|count)$", "", n)
             for n in named((HERE / "grafana.json").read_text())}
    there = {re.sub("_(bucket|sum|count)$", "", n) for n in samples(port)}
    assert there == shown, there ^ shown
    ids = [p["id"] for p in board["panels"]]
    assert len(ids) == len(set(ids))
    for p in board["panels"]:       # Grafana's own default is red from 80 on
        assert p["type"] != "stat" or {"mappings", "thresholds"} & set(
            p["fieldConfig"]["defaults"]), p["title"]
    labels = set(re.findall(r"\{\{(\w+)\}\}", json.dumps(board)))
    have = {k for f in families(port).values() for s in f.samples
            for k in s.labels}
    assert labels <= have, labels - have


SHARED = """
slurm_vsphere_vfs{adapter="roce,rails",pf="0000:3b:00.0",state="free"} 3
slurm_vsphere_vfs{adapter="roce-ib",pf="0000:5e:00.0",state="free"} 5
"""


def test_the_dashboard_finds_an_adapter_whose_pf_others_share(tmp_path):
    """A PF's label names all adapters that draw on it; what the user chooses is
    one of them, or some, as Grafana writes it."""
    board = json.loads((HERE / "grafana.json").read_text())
    expr = next(t["expr"] for p in board["panels"]
                for t in p.get("targets", []) if p["title"] == "VFs by state")
    tests = [{"expr": expr.replace("$instance", ".*").replace("$adapter", a),
              "eval_time": "1m", "exp_samples": [
                  {"labels": '{state="free"}', "value": n}] if n else []}
             for a, n in (("roce", 3), ("rails", 3), ("roce-ib", 5), ("ib", 0),
                          ("(roce|roce-ib)", 8), (".*", 8))]
    (tmp_path / "t.yml").write_text(json.dumps({"tests": [{
        "interval": "1m", "promql_expr_test": tests, "input_series": [
            {"series": line.rsplit(" ", 1)[0],
             "values": line.rsplit(" ", 1)[1] + "x5"}
            for line in SHARED.split("\n") if line]}]}))
    r = promtool("test", "rules", "t.yml", cwd=tmp_path)
    assert r.returncode == 0, r.stdout + r.stderr


def test_nobodys_job_or_name_is_in_it(cluster, port):
    """Any user of the machine may read the page."""
    job = Held(cluster, "-N1", "-J", "verysecretname").wait_running()
    text = page(port)[2]
    assert "verysecretname" not in text and "vm001" not in text
    assert not re.search(rf"\b{job.id}\b", text) or job.id < 100
    assert os.path.basename(str(cluster.path("etc", "vcenter.password"))) \
        not in text
    job.end_well()
