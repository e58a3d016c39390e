# SPDX-License-Identifier: GPL-2.0-or-later
"""Two instant clones of one running machine: memory, disk and devices of a clone source
that froze itself, and from there two nodes that share nothing but that past.

The NICs are vmxnet3, which is all that can be cloned so; both have soft-RoCE. The VMs
have no vmgenid: that the kernel's generator is another one is the script's doing."""

import pathlib
import re
import subprocess

import pytest

import boot_times
import jobs
from daemons import wait_for
from guest_cluster import BOOT_S, HOSTS, GuestCluster

HERE = pathlib.Path(__file__).resolve().parent
NODES = ("vm001", "vm002")
# The first program that runs in a clone draws before anything was renewed.
TOOLS = """#!/bin/sh
[ "$2" = instantclone.freeze ] || exec vmware-rpctool "$2"
vmware-rpctool "$2"
code=$?
draw >/run/drawn.thaw
date +%s.%N >/run/clock.before
exit $code
"""
# Drawn beside the reseed, because some seconds later the kernel may have done its own.
PORT = """#!/bin/sh
[ "$1" = reseed ] || exec slurm-vsphere-port.real "$@"
draw >/run/drawn.before
slurm-vsphere-port.real "$@"
code=$?
draw >/run/drawn.after
exit $code
"""
RULE = """ACTION=="add", SUBSYSTEM=="net", DRIVERS=="vmxnet3", \
RUN+="/usr/bin/rdma link add rxe-$name type rxe netdev $name"
"""


def change(disk):
    draw = disk.scratch / "draw"
    subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", draw, HERE / "draw.c"],
                   check=True)
    disk.put(draw, "/usr/bin/draw", 0o755)
    disk.text(TOOLS, "/usr/bin/vmtoolsd", 0o755)
    port = "/usr/sbin/slurm-vsphere-port"
    disk.commands += [f"ln {port} {port}.real", f"unlink {port}"]
    disk.text(PORT, port, 0o755)
    disk.text(RULE, "/etc/udev/rules.d/99-soft-roce.rules")


def make_cluster():
    c = GuestCluster(nodes=2, hosts=HOSTS[:1], change=change)
    c.vsphere["lines"] = [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        "AdapterName=vmxnet3 Type=vmxnet3 Network=SRIOV-ROCE-PG MTU=9000 "
        "AdapterAddresses=10.88.0.11-10.88.0.200/24",
        "PartitionName=roce Adapter=vmxnet3 Template=rhel9-ofed Clone=instant "
        "ManagementAddresses=10.77.0.11-10.77.0.200/24"]
    c.node_lines = [line.replace("sriov-roce", "vmxnet3") for line in c.default_nodes()]
    return c


def submit(cluster, script, *options):
    return cluster.submit(script, "-C", "vmxnet3", *options)


def sources(cluster):
    return [vm for vm in cluster.state()["vms"] if vm["name"].startswith("parent-")]


@pytest.fixture(scope="module")
def text(cluster):
    """The output of a job on both. The first clone is older than the second one, for
    which the clock has stood still for a while."""
    first = submit(cluster, "hostname\n", "-N1", "-w", NODES[0])
    assert cluster.wait_done(first, 2 * BOOT_S) == "vm001\n"
    job = submit(cluster, jobs.SEES + jobs.PERFTEST +
                 "perftest ib_send_bw '-s 65536 -n 300'\n", "-N2")
    text = cluster.wait_done(job)
    say_times(cluster)
    return text


def say_times(cluster):
    source = sources(cluster)[0]["name"]
    rows = cluster.requests(source)
    asked = [at for at, request in rows if request == "instantclone.freeze"][0]
    print(f"\nthe clone source asked to be frozen {asked - rows[0][0]:.1f} s after its power-on")
    print((cluster.vm_dir(source) / "console.log").read_text().strip())
    for node in NODES:
        print(f"{node}: instant clone to ready {cluster.state_time(node, 'ready'):.1f} s, to "
              f"slurmctld's registration {boot_times.registration(cluster, node):.1f} s")


def both(cluster, command):
    return [cluster.shell(n)(command).strip() for n in NODES]


def differ(cluster, what, command):
    a, b = both(cluster, command)
    assert a and b and a != b, f"{what}: {a!r} and {b!r}"
    print(f"{what}: {a} | {b}")
    return a, b


def test_both_continue_from_one_clone_source_that_stays_frozen(cluster, text):
    found = sources(cluster)
    assert len(found) == 1 and found[0]["frozen"] and found[0]["power"] == "poweredOn", found
    calls = cluster.counters()["calls"]
    assert calls["InstantClone_Task"] == 2
    assert calls["CloneVM_Task"] == calls["PowerOnVM_Task"] == 1, calls
    ids = both(cluster, "cat /proc/sys/kernel/random/boot_id")
    assert ids[0] == ids[1], "they have booted"
    rows = [r for _, r in cluster.requests(found[0]["name"])]
    assert rows[-1] == "instantclone.freeze"
    assert "info-get guestinfo.slurm.node" in rows


def test_each_has_an_identity_of_its_own(cluster, text):
    print()
    assert differ(cluster, "host name", "hostname") == NODES
    differ(cluster, "machine-id", "cat /etc/machine-id")
    differ(cluster, "MACs", "cat /sys/class/net/en*/address /sys/class/net/eth*/address "
                            "2>/dev/null | sort | xargs")
    differ(cluster, "SSH host keys", "cut -d' ' -f2 /etc/ssh/ssh_host_ed25519_key.pub")
    a, b = both(cluster, "ip -br -4 address show scope global")
    for n, words in (("11", a), ("12", b)):
        assert re.findall(r"10\.(?:77|88)\.0\.(\d+)/24", words) == [n, n], words
    macs = {c["mac"].lower() for vm in cluster.state()["vms"] if vm["name"] in NODES
            for c in vm["cards"]}
    shown = set(" ".join(both(cluster, "cat /sys/class/net/e*/address")).split())
    assert len(shown) == 4 and macs == shown, (macs, shown)


def test_their_random_numbers_differ(cluster, text):
    """Because the script seeded the generator: it was the same before. A script that
    does not, has drawn nothing beside the reseed."""
    print()
    for when in ("thaw", "before"):
        a, b = both(cluster, f"cat /run/drawn.{when} || echo no reseed")
        print(f"getrandom, {when}: {'the same in both' if a == b else 'different'}: {a} | {b}")
        assert re.fullmatch("[0-9a-f]{64}", a), a
    assert a == b, "they differ before the reseed: the test shows nothing of it"
    differ(cluster, "getrandom after the reseed", "cat /run/drawn.after")
    differ(cluster, "getrandom now", "draw")
    told = both(cluster, "grep -o -w -m1 rdrand /proc/cpuinfo; dmesg | grep -i -o vmgenid; true")
    assert not any("vmgenid" in t.lower() for t in told), told
    print(f"the kernel was told by: RNDRESEEDCRNG of slurm-vsphere-port; processor: {told[0] or 'no rdrand'}; "
          "no vmgenid")


def test_their_clocks_are_right(cluster, text):
    for node in NODES:
        shell = cluster.shell(node)
        stood = cluster.power_on_time(node) - float(shell("cat /run/clock.before"))
        off, error = boot_times.ahead(shell, "date +%s.%N")
        print(f"\n{node}: the clock was {stood:.1f} s behind at the thaw, and is off by "
              f"{off:+.2f} s (+/- {error:.2f})")
        # QEMU's clock chip begins with a whole second: it is up to 1 s late for ever.
        assert abs(off) - error < 1
        if node == NODES[1]:
            assert stood > 1, "the clock never stood still: the test shows nothing"


def test_munge_trusts_each_from_the_other(cluster, text):
    """And no munged is the clone source's: it has never run there."""
    made = {}
    for node, other in (NODES, NODES[::-1]):
        made[node] = cluster.shell(node)("munge -n").strip()
        row = cluster.shell(other)(f"echo {made[node]} | unmunge")
        assert re.search(r"^STATUS:\s+Success", row, re.M), row
        n = node[-1]
        assert re.search(rf"^ENCODE_HOST:\s+\S+ \(10\.77\.0\.1{n}\)", row, re.M), row
        again = cluster.shell(other)(f"echo {made[node]} | unmunge; true")
        assert "Replayed credential" in again, again
    assert len(set(made.values())) == 2
    for node in NODES:
        stamps = cluster.shell(node)(
            "systemctl show --value -p ActiveEnterTimestampMonotonic slurm-vsphere-freeze;"
            "systemctl show --value -p ExecMainStartTimestampMonotonic munge").split()
        assert 0 < int(stamps[0]) < int(stamps[1]), stamps


def test_rdma_runs_between_them(text):
    rows = jobs.seen(text)
    assert set(rows) == set(NODES), text
    print(f"\nib_send_bw between two instant clones: {jobs.bandwidth(text):.1f} MB/s")
    assert jobs.bandwidth(text) > 1


def test_slurmd_may_be_restarted_in_a_clone(cluster, text):
    """Its uptime is the clone source's, which slurmctld must not take for a boot."""
    shell = cluster.shell("vm002")
    shell("systemctl restart slurm-vsphere-slurmd", 120)
    wait_for("slurmd runs again", 120, lambda: shell(
        "head -n 1 /run/slurm-vsphere/ready; pgrep -cx slurmd; true") == "ok\n1\n")
    job = submit(cluster, "hostname\n", "-N1", "-w", "vm002")
    assert cluster.wait_done(job, 120) == "vm002\n"
