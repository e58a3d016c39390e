# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest did at boot, and when: seconds since its VM was powered on.

The simulator's power-on, guestinfo's requests and slurmctld's log are on this
machine's clock. What systemd did is on the guest's clock since its kernel began: the
guest is asked what that clock says, and the quickest of some answers ties the two."""

import datetime
import re
import time

UNITS = ("slurm-vsphere-identity", "systemd-networkd", "network-online.target", "munge",
         "chrony", "slurm-vsphere-slurmd")


def registration(cluster, node):
    """When slurmctld first took the node's registration after its last power-on."""
    began = cluster.power_on_time(node)
    for m in re.finditer(rf"^\[(\S+)\] .*[Nn]ode {node} (?:now responding|"
                         r"returned to service)", cluster.ctld_log(), re.M):
        at = datetime.datetime.fromisoformat(m.group(1)).timestamp()
        if at >= began:
            return at - began
    raise AssertionError(f"slurmctld's log has no registration of {node}")


def units(cluster, node):
    """{unit: (start, active)} in seconds since the kernel began."""
    text = cluster.shell(node)(
        "systemctl show -p Id -p InactiveExitTimestampMonotonic -p ActiveEnterTimestampMonotonic "
        + " ".join(UNITS))
    res = {}
    for block in text.strip().split("\n\n"):
        row = dict(line.split("=", 1) for line in block.splitlines())
        start, active = (int(row[f"{k}TimestampMonotonic"]) / 1e6
                         for k in ("InactiveExit", "ActiveEnter"))
        res[row["Id"].removesuffix(".service")] = start, active
    return res


def ahead(shell, command):
    """By how many seconds the guest's clock that the command prints is ahead of this
    machine's, and the error: of several readings that of the shortest call."""
    readings = []
    for _ in range(8):
        before = time.time()
        there = float(shell(command))
        took = time.time() - before
        readings.append((took / 2, there - before - took / 2))
    error, seconds = min(readings)
    return seconds, error


def kernel_began(cluster, node):
    """When the guest's clock was 0, on this machine's."""
    return -ahead(cluster.shell(node), "cut -d ' ' -f 1 /proc/uptime")[0]


def boot(cluster, node):
    """[(seconds since power-on, what)] in order."""
    began = cluster.power_on_time(node)
    requests = [(at - began, text) for at, text in cluster.requests(node) if at >= began]
    first = next(at for at, text in requests if text.startswith("info-get"))
    u = units(cluster, node)
    zero = kernel_began(cluster, node) - began
    rows = [(zero, "the kernel begins"),
            (first, "slurm-vsphere-identity asks for guestinfo"),
            (zero + u["slurm-vsphere-identity"][1], "name, machine-id and network files are written"),
            (zero + u["network-online.target"][1], "the management network is up"),
            (zero + u["munge"][1], "munge is up"),
            (zero + u["slurm-vsphere-slurmd"][0], "slurm-vsphere-slurmd starts"),
            (cluster.state_time(node, "ready"), "the RDMA port is right, slurmd starts"),
            (registration(cluster, node), "slurmctld has the registration")]
    return sorted(rows)


def say_boots(cluster, nodes):
    """Prints each node's timeline, with the share of each step."""
    for node in nodes:
        rows = boot(cluster, node)
        end = rows[-1][0]
        print(f"{node}: seconds since power-on, and the step's share of {end:.1f} s")
        before = 0
        for at, what in rows:
            print(f"  {at:6.1f}  {100 * (at - before) / end:4.0f} %  {what}")
            before = at
