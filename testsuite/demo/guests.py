#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""demo.sh --guests qemu: a job boots two VMs, which have a kernel, systemd and an
RDMA device of their own, and runs ib_send_bw between them. Runs inside space.sh."""

import pathlib
import re
import signal
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "guests"), str(HERE.parent / "system")]

import demo                                                 # noqa: E402
import jobs                                                 # noqa: E402
from cluster import wait_for                                # noqa: E402
from demo import Progress, must, show, tell                 # noqa: E402
from guest_cluster import BOOT_S, GuestCluster              # noqa: E402
from boot_times import say_boots                              # noqa: E402

NODES = ("vm001", "vm002")
JOB = r"""
date +"first line at %s.%N"
srun -l uname -sr
srun -l -w "$SLURMD_NODENAME" -N1 -n1 ibv_devinfo | grep -E 'hca_id|transport|state|active_mtu|link_layer'
""" + jobs.PERFTEST + r"""
date +"second step at %s.%N"
perftest ib_send_bw '-s 65536 -n 300'
perftest ib_send_lat '-n 300'
date +"last line at %s.%N"
"""
# Times, and perftest's report of its options and of the connection.
NOT_SHOWN = re.compile(r"\w+ \w+ at [\d.]+$|\d: -+$|1:\s+[\w*./\t -]+:\s|\d:\s*$|\s*$")


def at(text, what):
    return float(re.search(rf"^{what} at ([\d.]+)$", text, re.M)[1])


def first_job(cluster):
    tell("\n$ sbatch job.sh        # --constraint=sriov-roce --nodes=2, by an ordinary user")
    began = time.time()
    job = cluster.submit(JOB, "-N2")
    Progress(cluster, job, began).until_it_ends(BOOT_S + 120)
    text = cluster.text_of(job)
    shown = [line for line in text.splitlines() if NOT_SHOWN.match(line) is None]
    tell("\nthe job's output:\n  " + "\n  ".join(shown))
    must(shown and "Linux" in text and "rxe0" in text, "the job has not seen kernel and RDMA device")
    must(jobs.bandwidth(text) > 0, "ib_send_bw printed no bandwidth")
    tell()
    say_boots(cluster, NODES)
    tell(f"the job's first line {at(text, 'first line') - began:.1f} s after sbatch, its two perftest "
         f"steps {at(text, 'last line') - at(text, 'second step'):.1f} s")


def second_job(cluster):
    calls = cluster.mutating()
    began = time.time()
    job = cluster.submit('date +"first line at %s.%N"\nsrun -l hostname\n', "-N2")
    text = cluster.wait_done(job, 60)
    must(cluster.mutating() == calls, "a warm VM needed a call to vCenter")
    tell(f"\nthe same two VMs, still warm: first line {at(text, 'first line') - began:.1f} s after sbatch")


def power_down(cluster):
    began = time.time()
    cluster.must("scontrol", "update", f"nodename={','.join(NODES)}", "state=power_down")
    wait_for("both VMs are off", 120, lambda: not cluster.names_on())
    tell(f"\nboth VMs have shut down, {time.time() - began:.1f} s after scontrol ... state=power_down")
    n = cluster.counters()
    must(n["powerOnFullPF"] == 0, "a power-on was sent to a full PF")


def story(cluster):
    began = time.time()
    cluster.start()
    cluster.wait_ready()
    tell(f"munged, a vCenter with 2 ESXi hosts (simulated), slurmctld and a template with "
         f"slurm-vsphere are up after {time.time() - began:.1f} s")
    tell(f"the VMs will run in QEMU with {cluster.guest_env['VG_ACCEL'].upper()}:")
    tell("  " + pathlib.Path(cluster.guest_env["VG_IMAGES"], "about").read_text().strip()
         .replace("\n", ", "))
    show(cluster, "svf", "hosts")
    first_job(cluster)
    second_job(cluster)
    power_down(cluster)
    tell(f"\neach step succeeded, in {time.time() - began:.0f} s")


def main(cache):
    for s in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(s, demo.on_signal)
    cluster = GuestCluster(nodes=2, vfs=2)
    why = ""
    try:
        story(cluster)
    except KeyboardInterrupt:
        why = "interrupted, everything that it started is ended"
    except Exception as e:
        why = demo.one_line(e) + demo.save_logs(cluster, cache)
    for s in demo.SIGNALS:
        signal.signal(s, signal.SIG_IGN)
    cluster.remove()
    if why:
        demo.complain(why)
    return 1 if why else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[-1]))
