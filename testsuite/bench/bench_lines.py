# SPDX-License-Identifier: GPL-2.0-or-later
"""What the parts of bench.sh share: the line of a figure, its bar, and how a
part ends. `name value unit bar pass|fail`; a remark begins with #."""

import os
import pathlib
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "system"))

# pylint: disable=wrong-import-position
from cluster import ClusterError, Timeout       # noqa: E402

failed = []


def line(name, value, unit, bar, at_least=False):
    """A figure and its bar: the most it may be, or with at_least the least."""
    ok = value >= bar if at_least else value <= bar
    text = f"{value:.3f}" if isinstance(value, float) else str(value)
    print(f"{name} {text} {unit} {'>=' if at_least else ''}{bar} "
          f"{'pass' if ok else 'fail'}", flush=True)
    if not ok:
        failed.append(name)
    return ok


def remark(text):
    print(f"# {text}", flush=True)


def run(*measurements):
    """Each of them, whatever becomes of the others; the part's exit status."""
    # SIGTERM exits normally, so the daemons that were started are ended too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    rc = 0
    for measure in measurements:
        try:
            measure()
        except (ClusterError, Timeout, AssertionError, OSError) as e:
            print(f"bench.sh: {measure.__name__} could not be measured: {e}",
                  file=sys.stderr)
            rc = 1
    return 1 if failed else rc


def slurmctld_pid(cluster):
    """Its own, not that of a shell around it."""
    for p in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (p / "comm").read_text() == "slurmctld\n" and \
                    cluster.mark.encode() in (p / "environ").read_bytes():
                return int(p.name)
        except OSError:
            continue
    raise ClusterError("there is no slurmctld")


def thread_cpu(pid, name):
    """CPU seconds of the threads of that name."""
    total = 0
    for t in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            if (t / "comm").read_text().strip() == name:
                total += int((t / "schedstat").read_text().split()[0])
        except OSError:
            continue
    return total / 1e9


def peak_mib(pid):
    for ln in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if ln.startswith("VmHWM:"):
            return int(ln.split()[1]) / 1024
    raise OSError(f"/proc/{pid}/status tells no VmHWM")


def children_cpu():
    t = os.times()
    return t.children_user + t.children_system
