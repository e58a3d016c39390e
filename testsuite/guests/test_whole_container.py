# SPDX-License-Identifier: GPL-2.0-or-later
"""A container in each of two booted machines: it sees the VM's RDMA device, and
ib_send_bw runs between the two. The image has charliecloud-runtime (image.sh)."""

import pathlib
import re

import pytest

import jobs
from guest_cluster import BOOT_S, GuestCluster

NODES = ("vm001", "vm002")


def make_cluster():
    return GuestCluster(nodes=2, vfs=1)


@pytest.fixture(scope="module")
def text(cluster):
    script = pathlib.Path(__file__).with_name("container.sh").read_text()
    return cluster.wait_done(cluster.submit(script, "-N2"), BOOT_S + 400)


def test_its_image_is_the_guests_own_root(text):
    rows = re.findall(r"^image (\S+) (\d+) (\d+)$", text, re.M)
    assert sorted(r[0] for r in rows) == sorted(NODES), text
    print("\nimage: " + ", ".join(f"{mb} MB in {s} s" for _, s, mb in rows))


def test_it_sees_the_rdma_device_with_the_jobs_variables(text):
    rows = {r[0]: r[1:] for r in re.findall(
        r"^\d: inside (\S+) (\S+) (\d+) (\S+) (\d+)$", text, re.M)}
    assert set(rows) == set(NODES), text
    for device, _, memlock, uid in rows.values():
        assert device.startswith("rxe") and memlock == "unlimited" and uid != "0"


def test_rdma_runs_between_two_containers(text):
    print(f"\nib_send_bw between containers: {jobs.bandwidth(text):.1f} MB/s")
    assert jobs.bandwidth(text) > 1
