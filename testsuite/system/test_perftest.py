# SPDX-License-Identifier: GPL-2.0-or-later
"""pair.sbatch with the real perftest, of Debian: its options are understood, its two
ends find one another, and what they print is read as the figure that the wire has.
The wire is fake_wire.c; srun and scontrol, which are none of this, are stand-ins."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import pytest

from cluster import TOP

HERE = pathlib.Path(__file__).parent
HEALTH = pathlib.Path(TOP) / "contribs/health"
sys.path.insert(0, str(HEALTH))

import perf     # noqa: E402

NODES = ("vm001", "vm002")      # that no resolver knows
# on the node that -w names, which is this machine
SRUN = """#!/bin/bash
while [[ $1 == -* ]]; do
	[ "$1" != -w ] || { SLURMD_NODENAME=$2; shift; }
	shift
done
export SLURMD_NODENAME
exec "$@"
"""
SCONTROL = """#!/bin/bash
[ "$1 $2" = "show hostnames" ] && printf '%s\\n' {}
[ "$1 $2" = "show node" ] && printf 'NodeName=%s\\n   NodeAddr={} NodeHostName=x\\n' "$3"
"""
BYTES = 65536



@pytest.fixture
def site(tmp_path):
    """site(ns, **env): the output of pair.sbatch, on a wire with a message each
    ns nanoseconds."""
    wire = tmp_path / "wire.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-Wall", "-Wextra",
                    "-Werror", "-o", wire, HERE / "fake_wire.c"], check=True)
    port = tmp_path / "sys/class/infiniband/mlx5_0/ports/1"
    port.mkdir(parents=True)
    (port / "state").write_text("4: ACTIVE\n")
    (port / "rate").write_text("100 Gb/sec (4X EDR)\n")
    (tmp_path / "bin").mkdir()
    for name, text in (("srun", SRUN), ("scontrol", "")):
        f = tmp_path / "bin" / name
        f.write_text(text)
        f.chmod(0o755)

    def run(ns, address="127.0.0.1", **env):
        (tmp_path / "bin/scontrol").write_text(
            SCONTROL.format(" ".join(NODES), address))
        (tmp_path / "setup").write_text(
            f"export LD_PRELOAD={wire} WIRE_NS={ns}\n")
        r = subprocess.run(
            ["bash", HEALTH / "pair.sbatch"], text=True, timeout=100,
            capture_output=True, check=False, cwd=tmp_path, env={
                **os.environ, "SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "two",
                "SLURM_VSPHERE_DEVICE": "mlx5_0", "NCCL_IB_GID_INDEX": "3",
                "PATH": f"{tmp_path}/bin:{os.environ['PATH']}:/usr/sbin",
                "HEALTH_SYS": str(tmp_path / "sys"),
                "HEALTH_SETUP": str(tmp_path / "setup"), **env})
        return r.stdout + r.stderr
    return run


def read(text):
    """[(test, from, figure or why there is none)]"""
    job = perf.read_job(text)
    assert job["done"] and len(job["nics"]) == 2, text
    got = []
    for t in job["tests"]:
        try:
            got.append((t["test"], t["from"], perf.measure(t)))
        except perf.Unreadable as e:
            got.append((t["test"], t["from"], str(e)))
    return got


def test_what_the_real_perftest_measures_is_read(site):
    """Never more than the wire carries; on a machine that does much else, less."""
    assert shutil.which("ib_send_bw"), "perftest is not installed"
    wire_us = 80
    most = BYTES * 8 / wire_us / 1e3
    got = read(site(wire_us * 1000, HEALTH_BW_OPTIONS="-f 0 -D 2",
                    HEALTH_TESTS="ib_send_bw ib_send_lat"))
    assert [(t, a) for t, a, _ in got] == [
        ("ib_send_bw", NODES[0]), ("ib_send_bw", NODES[1]),
        ("ib_send_lat", NODES[0])]
    for _, _, value in got[:2]:
        assert most / 4 < value < 1.02 * most, (got, most)
    # there and back, of which perftest says half
    assert wire_us / 2 * 0.98 < got[2][2] < wire_us * 4, got


def test_what_the_real_perftest_complains_of_is_told(site):
    """And a client that fails leaves no server behind for the next one to meet:
    both listen at this machine's port 18515."""
    began = time.monotonic()
    got = read(site(80000, address="vm002.invalid", HEALTH_TESTS="ib_send_bw"))
    assert len(got) == 2 and all(
        re.search(r"not known for .*\bvm002\.invalid\b", str(why))
        for _, _, why in got), got
    got = read(site(80000, HEALTH_BW_OPTIONS="--nonsense",
                    HEALTH_TESTS="ib_send_bw"))
    assert len(got) == 2 and all("unrecognized option '--nonsense'" in str(why)
                                 for _, _, why in got), got
    got = read(site(80000, HEALTH_BW_OPTIONS="-f 0 -D 2",
                    HEALTH_TESTS="ib_send_bw"))
    assert all(isinstance(value, float) for _, _, value in got), got
    assert time.monotonic() - began < 240, "a server was waited for"
