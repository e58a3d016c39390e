# SPDX-License-Identifier: GPL-2.0-or-later
"""svf again and again (-i), in colour, and the shell's TAB."""

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


def make_cluster():
    return Cluster(nodes=2, inventory=world(hosts=2, vfs=2, durations={
        "CloneVM_Task": "2s"}))


def test_what_is_under_way_is_said_with_how_long_it_took_lately(cluster):
    cluster.wait_job(cluster.sbatch("-N1", "-w", "vm001"), 60)
    cluster.must("svf", "vm", "rebuild", "vm001")
    wait_for("its VM is gone", 60, lambda: not cluster.our_vm("vm001"))
    job = cluster.sbatch("-N1", "-w", "vm001")
    wait_for("the usual time", 20, lambda: re.search(
        r"^vm001 +clone 00:00:\d\d of 00:00:\d\d\s*$", cluster.must(
            "svf", "nodes", "-O", "node,action"), re.M))
    cluster.wait_job(job, 60)


def test_iterate_follows_a_node_in_a_pipe_and_over_a_restart(cluster):
    """Each answer is a block of its own: a line with the time, all nodes, an
    empty line."""
    p = subprocess.Popen(["svf", "nodes", "-i", "1", "-O",
                          "node,node_state,jobid,action"], env=cluster.env, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    out = []

    def said(pattern):
        while select.select([p.stdout], [], [], 0)[0]:
            more = os.read(p.stdout.fileno(), 65536).decode()
            out.append(more)
            if not more:
                break
        return re.search(pattern, "".join(out), re.M)
    try:
        wait_for("both nodes", 20, lambda: said(
            r"\A\w{3} \w{3} \d\d \d\d:\d\d:\d\d \d{4}\nNODE .*\n"
            r"vm001 .*\nvm002 +POWERED_DOWN .*\n\n"))
        job = Held(cluster, "-N1", "-w", "vm002")
        wait_for("what is done, and since when", 30, lambda: said(
            r"^vm002 .*clone 00:00:\d\d"))
        job.wait_running()
        wait_for("the job", 20, lambda: said(
            rf"^vm002 +ALLOCATED +{job.id} "))
        job.let_go()
        wait_for("its end", 20, lambda: said(
            rf"^vm002 +ALLOCATED +{job.id} (.*\n)+vm002 +IDLE "))
        cluster.wait_job(job.id)
        cluster.end_slurmctld()
        try:
            wait_for("that it is away", 20, lambda: said(r"^svf: "))
        finally:
            cluster.start_slurmctld()
            cluster.wait_ready()
        wait_for("an answer", 20, lambda: said(r"^svf: (.*\n)+vm001 "))
        p.terminate()
        assert p.wait(10) == -signal.SIGTERM
    finally:
        p.kill()
        p.wait()
    assert "\x1b" not in "".join(out)


def test_colour_is_for_terminals_that_want_it(cluster):
    host = cluster.svf("hosts")["hosts"][0]["host"]
    cluster.must("svf", "host", "drain", host, "a", "test")
    try:
        for env, want in (({}, True), ({"NO_COLOR": "1"}, False),
                          ({"TERM": "dumb"}, False)):
            with Terminal(cluster, "svf", "hosts", **env) as t:
                assert t.end() == 0
                assert bool(re.search("\x1b\\[33mDRAIN(ED|ING)\x1b\\[0m",
                                      t.text)) == want, env
        assert "\x1b" not in cluster.svf("hosts", json_out=False)
        assert "\x1b[33mDRAIN" in cluster.must("svf", "hosts",
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
        tab("svf hosts --Format=host,lea", "svf hosts --Format=host,leaf")
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
        tab("svf hosts --Format=host,lea", "svf hosts --Format=host,leaf")
        tab("svf vm for", "svf vm forget ")
        tab("svf nodes vm0", "svf nodes vm00")
        t.text = ""
        t.type("svf nodes vm00\t\t")
        wait_for("both nodes are offered", 10, lambda: t.read() and
                 re.search(r"vm001 +vm002", t.text))
