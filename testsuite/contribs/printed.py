# SPDX-License-Identifier: GPL-2.0-or-later
"""What perftest, the OSU benchmarks and pair.sbatch print, by the formats of their
sources (contribs/health/perf.py names them), not by our reader."""

LINE = "-" * 87 + "\n"
ABOUT = LINE + """                    Send BW Test
 Dual-port       : OFF\t\tDevice         : mlx5_0
 Number of qps   : 1\t\tTransport type : IB
 Mtu             : 4096[B]
 Link type       : Ethernet
""" + LINE + """ local address: LID 0000 QPN 0x0127 PSN 0x4a5a0f
 GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:01:00:01
""" + LINE
GB = " #bytes     #iterations    BW peak[Gb/sec]    " \
    "BW average[Gb/sec]   MsgRate[Mpps]\n"
MB = GB.replace("Gb/sec", "MB/sec")
MIB = GB.replace("Gb/sec", "MiB/sec")
LAT = " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    " \
    "t_avg[usec]    t_stdev[usec]   99% percentile[usec]   " \
    "99.9% percentile[usec] \n"
LAT_DUR = " #bytes        #iterations       t_avg[usec]    tps average\n"


def bw_row(avg, size=65536, peak=0.0):
    return " %-7u    %-10u       %-7.2f            %-7.2f\t\t   %-7.6f\n" % (
        size, 1000, peak, avg, 0.175841)


def lat_row(typical, size=2):
    return " %-7u %u          %-7.2f        %-7.2f      %-7.2f  \t       " \
        "%-7.2f     \t%-7.2f\t\t%-7.2f \t\t%-7.2f\n" % (
            size, 1000, typical - .1, 9.9, typical, typical + .05, .1, 2, 9)


def osu(kind, rows, head=None, more=""):
    title, unit = {"latency": ("Latency", "Latency (us)"),
                   "bw": ("Bandwidth", "Bandwidth (MB/s)")}[kind]
    return f"# OSU MPI {title} Test v5.9\n" + \
        "%-*s%*s%s\n" % (10, "# Size", 18, head or unit, more and
                         "%18s" % "Validation") + \
        "".join("%-*d%*.2f%s\n" % (10, s, 18, v, more and "%18s" % more)
                for s, v in rows)


def job_text(bw=92.0, lat=1.1, rate="100 Gb/sec (4X EDR)", done=True):
    t = "slurm: something\nhealth: version=1 job=7 nodes=vm001,vm002\n"
    for n in ("vm001", "vm002"):
        t += f"health: nic node={n} nic=0 device=mlx5_0 rate={rate}\n"
    for test, a, b, text in (
            ("ib_send_bw", "vm001", "vm002", GB + bw_row(bw)),
            ("ib_send_bw", "vm002", "vm001", GB + bw_row(bw)),
            ("ib_send_lat", "vm001", "vm002", LAT + lat_row(lat))):
        edge = f"test={test} nic=0 from={a} to={b}"
        t += f"health: begin {edge}\n{text}health: end {edge} rc=0\n"
    return t + ("health: done\n" if done else "")
