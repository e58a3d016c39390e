# SPDX-License-Identifier: GPL-2.0-or-later
"""The user guide's scripts for containers, as they stand there: an image of the VM's own
root, and a job that runs a program in it on two VMs. The program is ib_send_bw. The
guests have charliecloud-runtime (image.sh)."""

import re
import subprocess

import pytest

import guide
import jobs
from guest_cluster import BOOT_S, GuestCluster

NODES = ("vm001", "vm002")
MESSAGES = 200
# It is in the image too. What it finds says where it runs.
PROGRAM = """#!/bin/sh
[ ! -e /run/slurm-vsphere ] || { echo "no container"; exit 1; }
echo "inside $SLURMD_NODENAME $SLURM_VSPHERE_DEVICE $UCX_IB_GID_INDEX $(ulimit -l) $(id -u)"
exec sh /tmp/perftest.here "$PERFTEST_SERVER" ib_send_bw '-s 65536 -n %d'
"""
# What no program here needs: reading and writing it takes minutes without KVM.
LEFT_OUT = ("./usr/share", "./usr/lib/python3*", "./usr/bin/p*[0-9]", "./usr/lib/modules",
            "./usr/lib/udev", "*/libicu*", "*/perl", "*/libperl*", "*/slurm-wlm",
            "./usr/lib/gcc", "./var/*", "./boot/*")


def change(disk):
    """A disk with space for the image and its tar, and the user's program."""
    subprocess.run(["truncate", "-s", "+1G", disk.target], check=True)
    subprocess.run(["resize2fs", "-f", disk.target], check=True, capture_output=True)
    disk.text(PROGRAM % MESSAGES, "/usr/local/bin/your-program", 0o755)


def make_cluster():
    return GuestCluster(nodes=2, vfs=1, change=change)


@pytest.fixture(scope="module")
def image(cluster):
    """perftest's server. The VMs have no file system in common: each makes the image."""
    script = guide.block_with("user-guide", "image.tar .")
    options = "TAR_OPTIONS=" + " ".join(f"--exclude={w}" for w in LEFT_OUT)
    made = [cluster.submit(script, "-w", n, "-D", "/tmp", f"--export=ALL,{options}")
            for n in NODES]
    for job in made:
        cluster.wait_state(job, ("COMPLETED", "FAILED"), BOOT_S + 200)
        assert cluster.job(job)["JobState"] == "COMPLETED", cluster.text_of(job)
    ready = cluster.submit(jobs.PERFTEST + "echo $server\n", "-N2")
    return cluster.wait_done(ready).strip()


@pytest.fixture(scope="module")
def text(cluster, image):
    script = guide.block_with("user-guide", "ch-run \"$image\"")
    job = cluster.submit(script, "-D", "/tmp", "--export=ALL,SLURM_LABELIO=1,"
                         f"USER=rdmauser,PERFTEST_SERVER={image}")
    return cluster.wait_done(job, 300)


def test_it_sees_the_rdma_device_with_the_jobs_variables(text):
    assert len(re.findall(r"^\d:\s+state:\s+PORT_ACTIVE", text, re.M)) == 2, text
    rows = {r[0]: r[1:] for r in re.findall(
        r"^\d: inside (\S+) (\S+) (\d+) (\S+) (\d+)$", text, re.M)}
    assert set(rows) == set(NODES), text
    for device, _, memlock, uid in rows.values():
        assert device.startswith("rxe") and memlock == "unlimited" and uid != "0"


def test_rdma_runs_between_two_containers(text):
    """The figure itself may be 0 where perftest can't measure a busy machine's clock."""
    row = jobs.row_of(text, "Send BW Test")
    print(f"\nib_send_bw between containers: {row[3]:.1f} MB/s")
    assert row[:2] == [65536, MESSAGES], text
