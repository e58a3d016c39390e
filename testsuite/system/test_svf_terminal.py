# SPDX-License-Identifier: GPL-2.0-or-later
"""svf on a terminal: --watch as a person sees it, colour, and the shell's TAB."""

import os
import re
import select
import signal
import subprocess

from cluster import Cluster, wait_for
from daemons import TOP
from stages import Held
from terminal import Terminal
from worlds import world

LEAVE = "\x1b[?7h\x1b[?25h\x1b[?1049l"
ENTER = "\x1b[?1049h"


def make_cluster():
    return Cluster(nodes=2, inventory=world(hosts=2, vfs=2, durations={
        "CloneVM_Task": "2s"}))


def test_watch_follows_a_node_and_leaves_the_terminal_as_it_was(cluster):
    with Terminal(cluster, "svf", "nodes", "--watch=1") as t:
        t.wait_screen("both nodes", lambda s: re.search(
            r"^vm001 .*powered_down", s, re.M) and "vm002" in s)
        assert ENTER in t.text
        job = Held(cluster, "-N1", "-w", "vm001")
        t.wait_screen("what is done, and since when", lambda s: re.search(
            r"^vm001 .*clone \d+s", s, re.M))
        job.wait_running()
        t.wait_screen("the job", lambda s: re.search(
            rf"^vm001 +on +allocated .* {job.id} ", s, re.M))
        job.let_go()
        t.wait_screen("its end", lambda s: re.search(
            r"^vm001 +on +idle ", s, re.M))
        t.type("\x03")
        assert t.end() == 0
        assert t.text.rstrip("^C").endswith(LEAVE), t.text[-60:]
        assert t.text.count(ENTER) == 1
    cluster.wait_job(job.id)


def test_what_is_under_way_is_said_with_how_long_it_took_lately(cluster):
    cluster.wait_job(cluster.sbatch("-N1", "-w", "vm001"), 60)
    cluster.must("svf", "vm", "rebuild", "vm001")
    wait_for("its VM is gone", 60, lambda: not cluster.our_vm("vm001"))
    with Terminal(cluster, "svf", "nodes", "--watch=1", "-o",
                  "node,action") as t:
        job = cluster.sbatch("-N1", "-w", "vm001")
        t.wait_screen("the usual time", lambda s: re.search(
            r"^vm001 +clone \d+s of \d+s\s*$", s, re.M))
        cluster.wait_job(job, 60)
        t.type("\x03")
        assert t.end() == 0


def test_another_size_is_drawn_at_once(cluster):
    with Terminal(cluster, "svf", "hosts", "--watch=600") as t:
        t.wait_screen("all columns", lambda s: "VMS_OURS/OTHER" in s)
        t.resize(30, 80)
        t.wait_screen("fewer columns", lambda s: "HOST" in s and
                      "VMS_OURS/OTHER" not in s, 10)
        t.resize(4, 80)
        t.wait_screen("the first line alone", lambda s: "FREE" in s and
                      "esx01" not in s and "esx02" not in s, 10)
        t.type("\x03")
        assert t.end() == 0


def test_it_goes_on_when_slurmctld_is_away_for_a_while(cluster):
    with Terminal(cluster, "svf", "nodes", "--watch=1") as t:
        t.wait_screen("a node", lambda s: "vm001" in s)
        cluster.end_slurmctld()
        try:
            t.wait_screen("that nobody answers", lambda s: re.search(
                r"nobody answers since \d\d:\d\d:\d\d", s) and "vm001" in s)
        finally:
            cluster.start_slurmctld()
            cluster.wait_ready()
        t.wait_screen("an answer", lambda s: "vm001" in s and
                      "nobody answers" not in s)
        os.kill(t.pid, signal.SIGTERM)
        assert t.end() == 128 + signal.SIGTERM
        assert LEAVE in t.text


def test_what_is_wrong_from_the_beginning_ends_it(cluster):
    with Terminal(cluster, "svf", "nodes", "--watch", "vm999") as t:
        assert t.end() == 1
        assert "no such node: vm999" in t.text and ENTER not in t.text
    for bad in (["reconcile", "--confirm", "--watch"], ["adopt", "--watch"],
                ["nodes", "--watch=0"], ["nodes", "--watch=x"]):
        assert cluster.run("svf", *bad).returncode == 2


def test_in_a_pipe_each_change_is_a_block(cluster):
    p = subprocess.Popen(["svf", "nodes", "--watch=1", "-n", "-o",
                          "node,slurm"], env=cluster.env, text=True,
                         stdout=subprocess.PIPE)
    out = []
    try:
        def said(pattern):
            while select.select([p.stdout], [], [], 0)[0]:
                more = os.read(p.stdout.fileno(), 65536).decode()
                out.append(more)
                if not more:
                    break
            return re.search(pattern, "".join(out), re.M)
        wait_for("the first block", 20, lambda: said(r"\A# \d{4}-.*\n(vm.*\n)+"))
        job = cluster.sbatch("-N1", "-w", "vm002")
        wait_for("another one", 30, lambda: said(
            r"\n\n# \d{4}-.*\nvm001 .*\nvm002 +(powering_up|allocated)"))
        cluster.wait_job(job, 60)
        p.send_signal(signal.SIGINT)
        assert p.wait(10) == 0
    finally:
        p.kill()
        p.wait()
    said("")
    blocks = "".join(out).split("\n\n")
    for one, next_one in zip(blocks, blocks[1:]):
        assert one.split("\n", 1)[1].strip() != next_one.split(
            "\n", 1)[1].strip()
    assert "\x1b" not in "".join(out)


def test_colour_is_for_terminals_that_want_it(cluster):
    host = cluster.svf("hosts")["hosts"][0]["host"]
    cluster.must("svf", "host", "drain", host, "a", "test")
    try:
        for env, want in (({}, True), ({"NO_COLOR": "1"}, False),
                          ({"TERM": "dumb"}, False)):
            with Terminal(cluster, "svf", "hosts", **env) as t:
                assert t.end() == 0
                assert ("\x1b[33mdrained\x1b[0m" in t.text) == want, env
        assert "\x1b" not in cluster.svf("hosts", json_out=False)
        assert "\x1b[33mdrained" in cluster.must("svf", "hosts",
                                                  "--color=always")
    finally:
        cluster.must("svf", "host", "resume", host)


def test_tab_completes_verbs_fields_and_the_names_of_nodes(cluster):
    with Terminal(cluster, "bash", "--norc", "--noprofile", "-i",
                  PS1="> ", INPUTRC="/dev/null") as t:
        t.type(f"bind 'set enable-bracketed-paste off'; "
               f"source {TOP}/src/svf/completion.bash; echo rea''dy\n")
        wait_for("the shell", 20, lambda: t.read() and "ready" in t.text)

        def tab(typed, want):
            t.text = ""
            t.type(typed + "\t")
            wait_for(f"TAB after {typed}", 10,
                     lambda: t.read() and want in t.text.replace("\a", ""))
            t.type("\x15")
        tab("svf reco", "svf reconcile ")
        tab("svf hosts --format=host,lea", "svf hosts --format=host,leaf")
        tab("svf nodes vm0", "svf nodes vm00")
        tab("svf vm evict vm001,x vm00", "vm00")
        t.text = ""
        t.type("svf nodes vm00\t\t")
        wait_for("both nodes are offered", 10, lambda: t.read() and
                 re.search(r"vm001 +vm002", t.text))


def test_zsh_loads_its_completion_and_offers_the_same(cluster):
    """compinit finds the installed _svf by its #compdef line."""
    functions = f"{cluster.root}/usr/share/zsh/site-functions"
    with Terminal(cluster, "zsh", "-f", "-i", PS1="> ", PROMPT="> ",
                  ZDOTDIR=str(cluster.path("out"))) as t:
        # -u: the directory may be another user's. No dump in a home.
        t.type(f"fpath=({functions} $fpath); autoload -Uz compinit; "
               "unsetopt zle_bracketed_paste prompt_cr; "
               "compinit -u -D; unset zle_bracketed_paste; "
               "print -r $_comps[svf] rea''dy\n")
        wait_for("the shell knows _svf", 20, lambda: t.read() and
                 "_svf ready" in t.text)

        def tab(typed, want):
            t.text = ""
            t.type(typed + "\t")
            wait_for(f"TAB after {typed}", 10, lambda: t.read() and
                     want in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\a|.\x08", "",
                                    t.text))
            t.type("\x15")
        tab("svf reco", "svf reconcile ")
        tab("svf hosts --so", "svf hosts --sort=")
        tab("svf hosts --format=host,lea", "svf hosts --format=host,leaf")
        tab("svf vm for", "svf vm forget ")
        tab("svf nodes vm0", "svf nodes vm00")
        t.text = ""
        t.type("svf nodes vm00\t\t")
        wait_for("both nodes are offered", 10, lambda: t.read() and
                 re.search(r"vm001 +vm002", t.text))
