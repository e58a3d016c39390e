# SPDX-License-Identifier: GPL-2.0-or-later
"""What a failed test leaves to look at: Slurm's and the core's view of each of
its clusters, the logs' ends, and the threads of a slurmctld that doesn't answer
or end. Every question has a bound of its own, and all of them one; whatever
goes wrong here is told in the place of an answer.
"""

import pathlib
import re
import shutil
import subprocess
import time

from cluster import Cluster

ASK_S = 8           # one question
ALL_S = 60          # a cluster's
DEBUGGER_S = 30
LOG, SIM_LOG = 8000, 2000
LINES = 200         # of one answer: some clusters have a thousand hosts
QUEUE = "%i %P %u %T %r %Q %D %C %R %N %S %e"
# What an idle slurmctld says in its beats.
IDLE = re.compile(
    r"debug\d?: +(?:sched: Running job scheduler|"
    r"sched: .*(?:default depth|full depth|run_job_scheduler)|"
    r"(?:sched/)?backfill: .*(?:beginning|no jobs|loop|completed)|"
    r"(?:Spawning (?:ping|registration)|Testing job time|"
    r"Performing purge|Performing full system|Updating partition)|"
    r"power_save: .*idle|_slurm_rpc_(?:ping|dump_stats|dump_nodes|dump_jobs|"
    r"dump_job_single|dump_partitions)|Note large processing|"
    r"Still waiting for boot of node)|ping_end: ping_count|"
    r"debug2: .*(?:REQUEST_PING|REQUEST_JOB_INFO|REQUEST_NODE_INFO|"
    r"REQUEST_STATS_INFO)")


def clusters_of(item):
    """Those of the test's fixtures, and what its `fresh` made."""
    values = list(getattr(item, "funcargs", {}).values())
    values += getattr(item, "vs_made", [])
    found = []
    for v in values:
        if isinstance(v, Cluster) and v not in found:
            found.append(v)
    return found


def without_beats(log):
    return "\n".join(ln for ln in log.splitlines() if not IDLE.search(ln))


def end_of(path, n):
    """The last n characters of a file, of whole lines."""
    with open(path, "rb") as f:
        f.seek(0, 2)
        size = f.tell()
        f.seek(max(0, size - n))
        text = f.read().decode(errors="replace")
    return text if size <= n else text.partition("\n")[2]


def beside_the_log(path):
    """The C library's last words, or a sanitizer's. What it logs stands there, too:
    behind its name, and from 26.05 on behind the time."""
    return "\n".join(ln for ln in end_of(path, 10 * LOG).splitlines()
                     if not re.match(r"slurmctld: |\[\d{4}-\d\d-\d\dT", ln)
                     )[-SIM_LOG:]


def tried(fn, *args):
    """What fn says; if it can't, why."""
    try:
        return str(fn(*args)).rstrip() or "(nothing)"
    except Exception as e:  # noqa: B902 pylint: disable=broad-except
        return f"({type(e).__name__}: {e})"


def ask(cluster, *argv):
    r = cluster.run(*argv, timeout=ASK_S)
    lines = (r.stdout + r.stderr).splitlines()
    if len(lines) > LINES:
        lines[LINES:] = [f"({len(lines) - LINES} more lines)"]
    if r.returncode:
        lines.append(f"(it ended with {r.returncode})")
    return "\n".join(lines)


def answers(cluster):
    try:
        return " UP" in cluster.run("scontrol", "ping", timeout=ASK_S).stdout
    except (OSError, subprocess.SubprocessError):
        return False


def views(cluster):
    """(title, how to see it): what Slurm and the core know."""
    yield "squeue", lambda: ask(cluster, "squeue", "-a", "-o", QUEUE)
    yield "sinfo", lambda: ask(cluster, "sinfo", "-a", "-N", "-o",
                               "%N %P %T %t %C %m %f %E")
    if cluster.plain:
        return
    for what in ("hosts", "nodes"):
        yield f"svf {what}", lambda what=what: ask(cluster, "svf", what)

    def why():
        ids = cluster.run("squeue", "-a", "-h", "-t", "PD", "-o", "%A",
                          timeout=ASK_S).stdout.split()
        return "\n".join(f"{i}: {tried(ask, cluster, 'svf', 'why', i)}"
                         for i in dict.fromkeys(ids[:5]))
    yield "svf why", why


def controllers(cluster):
    """The pids of its slurmctld processes, found by the mark in /proc."""
    mark = cluster.mark.encode()
    for p in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (p / "comm").read_text().startswith("slurmctld") and \
                    mark in (p / "environ").read_bytes().split(b"\0"):
                yield int(p.name)
        except OSError:
            pass        # it has ended


def kernels_view(pid):
    """Where its threads wait, as /proc has it."""
    out = []
    for t in sorted(pathlib.Path(f"/proc/{pid}/task").iterdir()):
        state = [ln for ln in tried((t / "status").read_text).splitlines()
                 if ln.startswith(("Name", "State"))]
        out.append(f"{t.name} {' '.join(state)} "
                   f"wchan {tried((t / 'wchan').read_text)}\n"
                   f"{tried((t / 'stack').read_text)}")
    return "\n".join(out)


def threads(pid):
    """The stacks of all its threads."""
    gdb = shutil.which("gdb")
    if gdb:
        try:
            r = subprocess.run(
                [gdb, "-nx", "-batch", "-iex", "set debuginfod enabled off",
                 "-p", str(pid), "-ex", "thread apply all bt"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True, errors="replace",
                timeout=DEBUGGER_S)
            if "#0" in r.stdout:
                return r.stdout[r.stdout.index("\nThread "):].strip() \
                    if "\nThread " in r.stdout else r.stdout
        except (OSError, subprocess.SubprocessError):
            pass
    return kernels_view(pid)


def look(cluster):
    """[(title, text)] of a cluster, as it is now."""
    end = time.monotonic() + ALL_S
    where = cluster.dir
    out = []

    def see(title, fn, *args):
        out.append((f"{title} ({where})", tried(fn, *args)
                    if time.monotonic() < end else "(no time left)"))
    pids = list(controllers(cluster))
    if pids and answers(cluster):
        for title, fn in views(cluster):
            see(title, fn)
    elif not pids:
        out.append((f"slurmctld ({where})", "(there is none)"))
    for pid in pids if len(out) == 0 else []:
        see(f"slurmctld doesn't answer, its threads, pid {pid}", threads, pid)
    see("the end of slurmctld's log",
        lambda: without_beats(cluster.ctld_log())[-LOG:])
    see("the end of vcsim's output", end_of,
        cluster.path("log", "vcsim.out"), SIM_LOG)
    see("what slurmctld printed beside its log", beside_the_log,
        cluster.path("log", "slurmctld.out"))
    return out


def sections(clusters):
    """For a report of pytest: never more than what could be seen."""
    out = []
    for c in clusters:
        try:
            out += look(c)
        except Exception as e:  # noqa: B902 pylint: disable=broad-except
            out.append(("the aftermath", f"({type(e).__name__}: {e})"))
    return out


def say(*clusters):
    """On standard output, which pytest shows with the failure."""
    for title, text in sections(clusters):
        print(f"--- {title}\n{text}")


def say_late(daemon, grace):
    """For Daemon.late: it was told to end, and hasn't."""
    print(f"--- {daemon.argv[0]}: pid {daemon.pid} hasn't ended in {grace} s, "
          f"its threads\n{tried(threads, daemon.pid)}")
