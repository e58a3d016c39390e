#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ib_send_bw, ib_send_lat, osu_latency and osu_bw for guests without RDMA.

Called by one of these names it prints what that program prints (the formats are
those of perftest 4.5's REPORT_FMT* and of OSU's c/util), with the speed that the
test gave the slower of the two hosts: $VS_CLUSTER_DIR/fabric/HOST holds
"GBITS USEC", "100 1.1" without it. A file fabric/PROGRAM.fails is what it says
instead, with 1 as its exit status.

The two ends find one another by files, as the real ones do by a socket: a client
whose server doesn't listen yet is refused in perftest's own words.
"""

import os
import pathlib
import sys
import time

DIR = pathlib.Path(os.environ.get("VS_CLUSTER_DIR", ".")) / "fabric"
LINE = "-" * 87
DEADLINE_S = 40

ABOUT = """ Dual-port       : OFF\t\tDevice         : {device}
 Number of qps   : 1\t\tTransport type : IB
 Connection type : RC\t\tUsing SRQ      : OFF
 PCIe relax order: ON
 ibv_wr* API     : ON
 TX depth        : 128
 Mtu             : 4096[B]
 Link type       : Ethernet
 GID index       : 3
 Max inline data : 0[B]
 rdma_cm QPs\t : OFF
 Data ex. method : Ethernet"""
ENDS = """ local address: LID 0000 QPN 0x0127 PSN 0x4a5a0f
 GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:01:00:01
 remote address: LID 0000 QPN 0x0127 PSN 0x6d1b2f
 GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:01:00:02"""
BW_HEAD = " #bytes     #iterations    BW peak[Gb/sec]    " \
    "BW average[Gb/sec]   MsgRate[Mpps]"
BW_ROW = " %-7u    %-10u       %-7.2f            %-7.2f\t\t   %-7.6f"
LAT_HEAD = " #bytes #iterations    t_min[usec]    t_max[usec]  " \
    "t_typical[usec]    t_avg[usec]    t_stdev[usec]   " \
    "99% percentile[usec]   99.9% percentile[usec] "
LAT_ROW = " %-7u %u          %-7.2f        %-7.2f      %-7.2f  \t       " \
    "%-7.2f     \t%-7.2f\t\t%-7.2f \t\t%-7.2f"


def speed_of(host):
    f = DIR / host
    words = f.read_text().split() if f.exists() else ["100", "1.1"]
    # A wire carries a little less than its rate.
    return float(words[0]) * 0.978, float(words[1])


def between(a, b):
    (ga, ua), (gb, ub) = speed_of(a), speed_of(b)
    return min(ga, gb), max(ua, ub)


def until(what):
    end = time.time() + DEADLINE_S
    while time.time() < end:
        got = what()
        if got:
            return got
        time.sleep(0.05)
    sys.exit("nobody came")


def print_perftest(name, device, gbits, usec):
    bw = name == "ib_send_bw"
    print(LINE)
    print(" " * 20 + ("Send BW Test" if bw else "Send Latency Test"))
    print(ABOUT.format(device=device), LINE, ENDS, LINE, sep="\n")
    if bw:
        print(BW_HEAD)
        # In warm-ups of the CPU's clock it says so, in the middle of all.
        print("Conflicting CPU frequency values detected: 2400.000000 != "
              "1800.000000. CPU Frequency is not max.")
        print(BW_ROW % (65536, 429000, 0.0, gbits, gbits / 65536 / 8 * 1e3))
    else:
        print(LAT_HEAD)
        print(LAT_ROW % (2, 10000, usec - 0.05, usec + 4, usec, usec + 0.03,
                         0.08, usec + 0.2, usec + 3))
    print(LINE)


def perftest(name, argv):
    device = argv[argv.index("-d") + 1]
    peer = argv[-1] if argv[-2] == "-F" else None
    meet = DIR / "meet"
    meet.mkdir(exist_ok=True)
    mine = os.environ["SLURM_VSPHERE_HOST"]
    if peer:
        at = meet / f"{os.environ['SLURM_JOB_ID']}-server"
        if not at.exists():
            print(f"Couldn't connect to {peer}:18515", file=sys.stderr)
            print(" Unable to open file descriptor for socket connection",
                  file=sys.stderr)
            sys.exit(1)
        theirs = at.read_text()
        print_perftest(name, device, *between(mine, theirs))
        sys.stdout.flush()
        at.unlink()
        return
    at = meet / f"{os.environ['SLURM_JOB_ID']}-server"     # one at a time
    new = at.with_suffix(".new")
    new.write_text(mine)
    new.rename(at)
    print("\n************************************\n"
          "* Waiting for client to connect... *\n"
          "************************************")
    until(lambda: not at.exists())


def osu(name):
    step = f"{os.environ['SLURM_JOB_ID']}.{os.environ['SLURM_STEP_ID']}"
    meet = DIR / "meet"
    meet.mkdir(exist_ok=True)
    mine = os.environ["SLURM_VSPHERE_HOST"]
    if os.environ["SLURM_PROCID"] != "0":
        at = meet / step
        new = at.with_suffix(".new")
        new.write_text(mine)
        new.rename(at)
        return
    gbits, usec = between(mine, until(
        lambda: (meet / step).exists() and (meet / step).read_text()))
    if name == "osu_latency":
        print("# OSU MPI Latency Test v7.3\n# Datatype: MPI_CHAR.")
        print("%-*s%*s" % (10, "# Size", 18, "Avg Latency(us)"))
        for n in range(23):
            print("%-*d%*.*f" % (10, 1 << n, 18, 2, usec + (1 << n) / 12e3))
    else:
        print("# OSU MPI Bandwidth Test v7.3\n# Datatype: MPI_CHAR.")
        print("%-*s%*s" % (10, "# Size", 18, "Bandwidth (MB/s)"))
        for n in range(23):
            most = gbits * 1e3 / 8
            print("%-*d%*.*f" % (10, 1 << n, 18, 2,
                                 most * (1 << n) / ((1 << n) + 4096)))


def main():
    name = pathlib.Path(sys.argv[0]).name
    fails = DIR / (name + ".fails")
    if fails.exists():
        sys.stdout.write(fails.read_text())
        sys.exit(1)
    if name.startswith("osu_"):
        osu(name)
    else:
        perftest(name, sys.argv[1:])


if __name__ == "__main__":
    main()
