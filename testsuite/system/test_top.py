# SPDX-License-Identifier: GPL-2.0-or-later
"""svf top on a terminal, as a person sees it: what stands on the screen at two
sizes, what keys do, slurmctld away and back, how it ends; and svf map."""

import json
import os
import re
import signal
import subprocess
import time
import xml.etree.ElementTree as ElementTree

from cluster import Cluster, patience, wait_for
from stages import Held, ready_count, wait_ready_again
from terminal import Screen, Terminal
from users import DAEMON, as_user, needs_root
from worlds import foreign, host, world

E1, E2, E3 = (f"esx0{i}.example.org" for i in (1, 2, 3))
SVG = "{http://www.w3.org/2000/svg}"


def make_cluster():
    c = Cluster(nodes=4, inventory=world(
        hosts=[host(E1, 2), host(E2, 4), host(E3, 2, ib_vfs=4)],
        vms=[foreign("theirs", E2)], durations={"CloneVM_Task": "2s"}))
    # Slurm looks at a queue once a minute when nothing changes.
    c.slurm = {"SchedulerParameters":
               c.scheduler_parameters + ",sched_interval=2"}
    return c


def host_line(screen, name):
    found = re.search(rf"^{name} .*?(?= \| |$)", screen, re.M)
    return found[0].rstrip() if found else ""


def cells(screen, name, pf="vmnic4"):
    line = host_line(screen, name) or ""
    found = re.search(rf"{pf} (\S+)", line)
    return found[1] if found else ""


def all_cells(screen):
    return "".join(cells(screen, f"esx0{i}") for i in (1, 2, 3))


def top(cluster, rows=24, cols=80, **env):
    t = Screen(cluster, "svf", "top", "-i", "1", rows=rows, cols=cols, **env)
    t.wait_screen("the hosts", lambda s: "esx03" in s)
    return t


def test_one_sees_what_goes_on(cluster):
    """Jobs' VFs from the first clone to the end, a foreign VM, a drained host,
    who waits and why: at 80x24 and at 200x50."""
    cluster.must("svf", "host", "drain", E3, "fan", "replaced")
    with top(cluster) as small, top(cluster, 50, 200) as wide:
        both = (small, wide)
        for t in both:
            t.wait_screen("nothing of ours", lambda s: cells(s, "esx01") == ".."
                          and cells(s, "esx02") == "#..." and "vCenter up" in s
                          and "QUEUE: 0 jobs waiting" in s)
            t.wait_screen("a drained host", lambda s: re.search(
                r"^esx03 +DRAIN(?:ED|ING) +0/6 +vmnic4 --  vmnic6 ----", s, re.M) and
                "fan replaced" in s)
        job = Held(cluster, "-N2")
        for t in both:
            t.wait_screen("VFs on their way, small letters", lambda s:
                          all_cells(s).count("a") == 2 and re.search(
                              rf"a?.*{job.id} +\S+ +roce +\S+ +2 VFs  "
                              r"2 nodes to come: clone", s))
        job.wait_running()
        for t in both:
            t.wait_screen("VFs in use", lambda s: all_cells(s).count("A") == 2
                          and re.search(rf"A {job.id} .* RUNNING +2 VFs", s)
                          and "2 VM starts" in s and "0 failures" in s)
        more = Held(cluster, "-N1", "-t", "10").wait_running()
        waits = cluster.sbatch("-N4")
        for t in both:
            t.wait_screen("who waits, and why", lambda s:
                          all_cells(s).count("B") == 1 and
                          "QUEUE: 1 job waiting" in s and re.search(
                              rf"{waits} +\S+ +roce", s) and
                          "needs 4 sriov-roce VFs" in s)
        assert "| ENGINE" in wide.screen() and "| ENGINE" not in small.screen()
        cluster.must("scancel", str(waits))
        for held in (job, more):
            held.let_go()
        for t in both:
            t.wait_screen("warm VMs without a job", lambda s:
                          all_cells(s).count("=") == 3 and
                          "JOBS WITH VFS: 0" in s)
            t.type("q")
            assert t.end() == 0
    cluster.must("svf", "host", "resume", E3)


def test_colour_is_the_jobs_and_none_is_needed(cluster):
    """Two jobs have two colours; without colour letters and words remain."""
    jobs = [Held(cluster, "-N1").wait_running() for _ in range(2)]
    with top(cluster) as t:
        t.wait_screen("both jobs", lambda s: {"A", "B"} <= set(all_cells(s)))
        looks = {}
        for letter in "AB":
            row, col = t.find(rf"vmnic4 \S*?({letter})")
            row2, col2 = t.find(rf"^({letter}) \d+ ")
            assert t.cell(row, col).bg == t.cell(row2, col2).bg != "default"
            looks[letter] = t.cell(row, col).bg
        assert looks["A"] != looks["B"]
    for env in ({"NO_COLOR": "1"}, {"TERM": "vt100"}):
        with top(cluster, **env) as t:
            t.wait_screen("both", lambda s: {"A", "B"} <= set(all_cells(s)))
            assert {(c.fg, c.bg) for row in t.vt.buffer.values()
                    for c in row.values()} == {("default", "default")}, env
            t.type(f"/{jobs[1].id}\n")
            t.wait_screen("the job is found", lambda s: "n next" in s)
            assert t.cell(*t.find(r"vmnic4 \S*?(B)")).reverse
            assert not t.cell(*t.find(r"vmnic4 \S*?(A)")).reverse
    for job in jobs:
        job.end_well()


def test_keys_resize_and_help(cluster):
    with top(cluster) as t:
        t.type("h")
        t.wait_screen("help", lambda s: "in use by another VM" in s and
                      "order of hosts" in s)
        t.type("h")
        t.wait_screen("hosts again", lambda s: "esx01" in s)
        t.resize(12, 60)
        t.wait_screen("it fits", lambda s: "q quit" in t.lines[11] and
                      "svf top" in t.lines[0])
        t.wait_screen("more hosts than room", lambda s: "esx03" not in s)
        t.press("end")
        t.wait_screen("the last one", lambda s: "esx03" in s and
                      "esx01" not in s)
        t.press("up", "pgup")
        t.wait_screen("the first one", lambda s: "esx01" in s)
        t.type("/ESX02\n")
        t.wait_screen("it is found", lambda s: t.cell(
            *t.find("esx02")).reverse)
        t.type("/nobody\n")
        t.wait_screen("nothing found", lambda s: "is named 'nobody'" in s)
        t.resize(5, 30)
        t.wait_screen("that it is too small", lambda s:
                      "terminal too small" in s and "needs 40x10" in s)
        t.resize(50, 200)
        t.wait_screen("side by side", lambda s: "| ENGINE" in s)
        t.type("s")
        t.wait_screen("another order", lambda s: "sort: trouble" in s)
        t.type("p")
        at = t.wait_screen("a pause", lambda s: re.search(
            r"PAUSED at (\d\d:\d\d:\d\d)", s))[1]
        cluster.must("svf", "host", "drain", E2, "x")
        t.wait_screen("two seconds later", lambda s: re.search(
            r"^ svf top .*? (\d\d:\d\d:\d\d)", s)[1] > at[:6] +
            f"{min(59, int(at[6:]) + 2):02d}" or int(at[6:]) > 56)
        assert "UP" in host_line(t.screen(), "esx02")
        t.type("p")
        t.wait_screen("no pause", lambda s: "PAUSED" not in s and
                      "DRAIN" in host_line(s, "esx02"))
        t.type("q")
        assert t.end() == 0
    cluster.must("svf", "host", "resume", E2)


def test_it_asks_when_it_is_told_to_and_so_often(cluster):
    with Screen(cluster, "svf", "top", "--iterate=600") as t:
        t.wait_screen("the hosts", lambda s: "every 600 s" in s and
                      " UP " in host_line(s, "esx02"))
        cluster.must("svf", "host", "drain", E2, "x")
        t.type("/esx02\n")
        t.wait_screen("a key is heard", lambda s: "n next" in s)
        assert " UP " in host_line(t.screen(), "esx02")
        t.type(" ")
        t.wait_screen("what is so now", lambda s: "DRAIN" in
                      host_line(s, "esx02"))
        t.type("q")
        assert t.end() == 0
    cluster.must("svf", "host", "resume", E2)


def test_slurmctld_goes_away_and_comes_back(cluster):
    with top(cluster) as t:
        cluster.end_slurmctld()
        try:
            t.wait_screen("that slurmctld is silent", lambda s: re.search(
                r"slurmctld is silent since \d\d:\d\d:\d\d", t.lines[0]) and
                "does not answer" in s and "esx01" in s)
            t.type("h")                 # keys are heard
            t.wait_screen("help", lambda s: "Keys:" in s)
            t.type("h")
        finally:
            cluster.start_slurmctld()
            cluster.wait_ready()
        t.wait_screen("an answer", lambda s: "is silent since" not in s and
                      "vCenter up" in s)
        t.type("q")
        assert t.end() == 0


def test_vcenter_that_is_away_is_told(cluster):
    with top(cluster) as t:
        t.wait_screen("it is up", lambda s: "vCenter up" in s)
        was = ready_count(cluster)
        cluster.do("outage", duration="6s", how="refuse")
        cluster.do("cutConnections")
        t.wait_screen("it is down, and why", lambda s: "vCenter DOWN" in s and
                      "no connection to vCenter" in s)
        wait_ready_again(cluster, was, 40)
        t.wait_screen("it is up again", lambda s: "vCenter up" in s and
                      "no connection" not in s)
        t.type("q")
        assert t.end() == 0


def test_whatever_ends_it_gives_the_terminal_back(cluster):
    for how, status in (("q", 0), ("\x03", 0), (signal.SIGTERM, 143),
                        (signal.SIGHUP, 129)):
        with top(cluster) as t:
            raw = t.text
            if isinstance(how, str):
                t.type(how)
            else:
                os.kill(t.pid, how)
            # What it was, while the terminal still has a program.
            assert t.end() == status, how
            said = t.text[len(raw):]
            assert "\x1b[?1049l" in said or "\x1b[?47l" in said or \
                "\x1b8" in said or "\x1b[34h\x1b[?25h" in said, repr(said)
    out = cluster.path("out")
    with Screen(cluster, "bash", "--norc", "-c",
                f"cd {out}; stty -a >before; svf top; stty -a >after") as t:
        t.wait_screen("the hosts", lambda s: "esx03" in s)
        t.type("\x03")
        t.end()
    assert (out / "after").read_text() == (out / "before").read_text() != ""


def test_it_stops_and_goes_on(cluster):
    """^Z gives the terminal to the shell, fg draws the whole screen again."""
    with Screen(cluster, "bash", "--norc", "--noprofile", "-i",
                PS1="READY> ") as t:
        t.wait_screen("the shell", lambda s: "READY>" in s)
        t.type("svf top\n")
        t.wait_screen("the hosts", lambda s: "esx03" in s)
        t.type("\x1a")
        t.wait_screen("the shell", lambda s: "Stopped" in s)
        t.vt.reset()
        t.type("fg\n")
        t.wait_screen("the hosts again", lambda s: "esx03" in s and
                      "vCenter up" in s)
        t.type("q")
        t.type("exit\n")
        t.end()


def test_no_terminal_is_told_so(cluster):
    r = cluster.run("svf", "top")
    assert r.returncode == 2 and "svf map" in r.stderr and not r.stdout
    with Terminal(cluster, "svf", "top", TERM="dumb") as t:
        assert t.end() == 2 and "TERM=dumb" in t.text
    with Terminal(cluster, "svf", "top", TERM="nosuchterminal") as t:
        assert t.end() == 2 and "TERM=nosuchterminal" in t.text
    for bad in (["-i", "0"], ["-i", "x"], ["-i"], ["--iterate=4000"], ["esx01"],
                ["--json"], ["-i", "5"], ["--watch"]):
        assert cluster.run("svf", "top", *bad).returncode == 2, bad


def hidden(theirs, job, sign):
    assert not re.search(rf"^A {job.id} ", theirs, re.M)
    assert "JOBS WITH VFS: 0" in theirs
    return sign in all_cells(theirs)


@needs_root
def test_what_a_user_may_not_see_is_not_shown(cluster):
    """With PrivateData=jobs,nodes another user's job shows only as a VF in use."""
    conf = cluster.path("etc", "slurm.conf")
    was = conf.read_text()
    job = Held(cluster, "-N1").wait_running()
    try:
        for value, sign in (("cloud,jobs", "*"), ("cloud,jobs,nodes", "*")):
            conf.write_text(re.sub(r"^PrivateData=.*$", f"PrivateData={value}",
                                   was, flags=re.M))
            cluster.must("scontrol", "reconfigure")
            wait_for("it is in force", 20, lambda v=value: set(re.search(
                r"^PrivateData\s*=\s*(\S+)$", cluster.must(
                    "scontrol", "show", "config"), re.M)[1].split(",")) -
                {"cloud"} == set(v.split(",")) - {"cloud"})
            wait_for(f"{value}: in use, and no more", 20, lambda s=sign: hidden(
                as_user(cluster, DAEMON, "svf", "map").stdout, job, s))
            ours = cluster.must("svf", "map")
            assert re.search(rf"^A {job.id} ", ours, re.M)
    finally:
        conf.write_text(was)
        cluster.must("scontrol", "reconfigure")
    job.end_well()


def texts(tree):
    return ["".join(e.itertext()) for e in tree.iter(SVG + "text")]


def test_map_is_a_picture_for_a_ticket(cluster, tmp_path):
    cluster.must("svf", "host", "drain", E3, "<fan> & \"co\" é")
    job = Held(cluster, "-N2").wait_running()
    more = Held(cluster, "-N1", "-t", "10").wait_running()
    waits = cluster.sbatch("-N4")
    wait_for("it waits", 20, lambda: any(
        j["job"] == waits and "reason" in j for j in cluster.svf("jobs")["jobs"]))
    try:
        svg = tmp_path / "map.svg"
        assert cluster.must("svf", "map", "--svg", "-o", str(svg)) == ""
        tree = ElementTree.parse(svg)
        assert tree.getroot().tag == SVG + "svg"
        said = texts(tree)
        squares = [e for e in tree.iter(SVG + "path")]
        drawn = sum(e.get("d").count("M") for e in squares)
        legend = 11 + 2                 # what signs mean, the jobs
        assert drawn == 2 + 4 + 2 + 4 + legend
        assert "AA" in "".join(said) or said.count("A") >= 3
        assert any("cluster HPC1, 3 hosts" in t for t in said)
        assert any(re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", t)
                   for t in said)
        assert "vstest" in said         # ClusterName
        assert any(t.startswith(f"{job.id}  ") and "2 VFs" in t for t in said)
        assert any(t.startswith(f"{waits}  ") for t in said)
        assert any('<fan> & "co" é' in t for t in said)
        for its, n in ((job, 2), (more, 1)):
            mine = [e for e in tree.iter(SVG + "g")
                    if f"job {its.id}," in (e.findtext(SVG + "title") or "")]
            assert len({e.get("fill") for e in mine}) == 1
            assert sum(e.find(SVG + "path").get("d").count("M")
                       for e in mine) == n
        png = tmp_path / "map.png"
        subprocess.run(["rsvg-convert", "-o", png, svg], check=True,
                       capture_output=True)
        assert png.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        assert png.stat().st_size > 5000
        text = cluster.must("svf", "map")
        assert all_cells(text).count("A") == 2 and "\x1b" not in text
        assert "cluster HPC1" in text and "<fan>" in text
        told = json.loads(cluster.must("svf", "map", "--json"))
        assert {"hosts", "nodes", "jobs", "status"} <= set(told)
        bad = cluster.run("svf", "map", "-o", "/nowhere/map.svg")
        assert bad.returncode == 5 and "/nowhere/map.svg" in bad.stderr
    finally:
        cluster.must("scancel", str(waits))
        cluster.must("svf", "host", "resume", E3)
    job.end_well()
    more.end_well()


def test_a_thousand_hosts_are_quick_to_go_through(fresh):
    c = fresh(nodes=4, inventory=world(
        hosts=[{**host("esx%04d.example.org", 8), "count": 1000}]))
    with Screen(c, "svf", "top", rows=50, cols=200) as t:
        t.wait_screen("hosts", lambda s: "esx0001" in s and
                      "1000 hosts" in s, 60)
        t.press("end")
        t.wait_screen("the last", lambda s: "esx1000" in s)
        t.type("/esx0500\n")
        t.wait_screen("the middle", lambda s: t.cell(
            *t.find("esx0500")).reverse)
        began = time.monotonic()
        t.press(*["pgdn"] * 20)
        t.wait_screen("far down", lambda s: "esx1000" in s)
        assert time.monotonic() - began < 10 * patience()
        t.type("q")
        assert t.end() == 0
    svg = c.must("svf", "map", "--svg")
    tree = ElementTree.fromstring(svg)
    width, height = (int(tree.get(k)) for k in ("width", "height"))
    assert len(svg) < 2_000_000 and 0.5 < width / height < 3
    drawn = sum(e.get("d").count("M") for e in tree.iter(SVG + "path"))
    assert drawn == 8000 + 11
