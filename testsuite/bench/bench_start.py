#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How fast jobs start: lines `name value unit bar pass|fail`, on daemons that
are otherwise idle."""

import statistics
import sys
import time

from bench_lines import line, remark, run
from cluster import Cluster, wait_for
from worlds import world

REGISTER_BAR_S = 1.0
WARM_BAR_S = 0.2
ROUNDS = 20


def first_line(cluster, *options):
    """(seconds from submit to the script's first line, that instant)."""
    began = time.time()
    job = cluster.sbatch(*options, script="date +%s.%N")
    at = float(cluster.wait_job(job, 60).split()[0])
    return at - began, at


def new_vms(cluster):
    """From the last registration to the first line: the worst of four gangs."""
    worst = 0.0
    before = cluster.mutating()
    for lo in (1, 3, 5, 7):
        names = [f"vm{i:03d}" for i in (lo, lo + 1)]
        _, at = first_line(cluster, "-N2", "-w", ",".join(names))
        worst = max(worst, at - cluster.last_registration(names))
    line("registration_to_first_line_max", worst, "s", REGISTER_BAR_S)
    calls = (cluster.mutating() - before) / 8
    line("mutating_calls_per_new_vm", calls, "calls", 2)


def srun_first_line(cluster):
    """Seconds from srun's start to its job's first line. An allocation of srun
    is tried at submit; sbatch's waits for slurmctld's next scheduling beat, up
    to a second or two of phase that would drown what is measured here."""
    began = time.time()
    out = cluster.must("srun", "-N4", "-n4", "-w", "vm[001-004]", "date",
                       "+%s.%N", timeout=60)
    return min(float(ln) for ln in out.split()) - began


def warm_reuse(cluster, plain):
    """The same jobs, turn by turn, on warm VMs and on plain cons_tres."""
    ours, stock = [], []
    calls = cluster.mutating()
    for _ in range(ROUNDS):
        ours.append(srun_first_line(cluster))
        stock.append(srun_first_line(plain))
    per_vm = (cluster.mutating() - calls) / (4 * ROUNDS)
    a, b = statistics.median(ours), statistics.median(stock)
    remark(f"warm median {a:.3f} s (worst {max(ours):.3f}), plain cons_tres "
           f"median {b:.3f} s (worst {max(stock):.3f}), {ROUNDS} jobs each")
    line("warm_reuse_over_plain", a - b, "s", WARM_BAR_S)
    line("mutating_calls_per_warm_vm", per_vm, "calls", 0)


def off_and_changed(cluster):
    names = ["vm001", "vm002"]
    for n in names:
        cluster.must("scontrol", "update", f"nodename={n}", "state=power_down")
    wait_for("both are off", 40, lambda: all(
        cluster.is_powered_down(n) and not cluster.is_on(n) for n in names))
    calls = cluster.mutating()
    first_line(cluster, "-N2", "-w", "vm[001-002]")
    per = (cluster.mutating() - calls) / 2
    line("mutating_calls_per_right_vm_off", per, "calls", 1)
    cluster.change_vsphere("Template=rhel9-ofed",
                           "Template=rhel9-ofed MemoryOverhead=512")
    calls = cluster.mutating()
    first_line(cluster, "-N2", "-w", "vm[001-002]")
    per = (cluster.mutating() - calls) / 2
    line("mutating_calls_per_changed_vm", per, "calls", 4)


def measure():
    cluster = Cluster(inventory=world(hosts=4, vfs=4))
    cluster.vsphere = {"ShutdownGrace": 2}
    plain = Cluster(plain=True, nodes=4)
    try:
        cluster.start()
        plain.start()
        wait_for("the plain nodes are up", 30, lambda: all(
            s == "IDLE" for s in plain.node_states().values()))
        wait_for("the plugin has read vCenter", 20,
                 lambda: cluster.svf("hosts")["hosts"])
        new_vms(cluster)
        warm_reuse(cluster, plain)
        off_and_changed(cluster)
    finally:
        plain.remove()
        cluster.remove()


if __name__ == "__main__":
    sys.exit(run(measure))
