# SPDX-License-Identifier: GPL-2.0-or-later
"""A job whose user is hostile, in a booted machine: what attack.sh tries is refused,
and what a site that lets users write guestinfo is left with.

The guestinfo of these machines is rpctool.c's, on a device that only root may open.
VMware's own refusal (guest_rpc.rpci.auth.cmd.info-set) can be seen on ESXi alone."""

import pathlib
import re

import pytest

import jobs
from daemons import wait_for
from guest_cluster import GuestCluster

NODE = "vm001"
ATTACK = pathlib.Path(__file__).with_name("attack.sh")
# What decides what root does in the VM. Not the place, which belongs to the job.
FILES = ("/etc /usr/sbin /usr/lib/systemd /usr/lib/x86_64-linux-gnu/slurm-wlm "
         "/run/slurm-vsphere/ready /run/slurm-vsphere/guestinfo /run/systemd/network "
         "/run/systemd/system")
SUMS = (f"find {FILES} -type f -printf '%p %m %u %T@\\n' 2>/dev/null | sort; "
        f"find {FILES} -type f -exec sha256sum {{}} + | sort")


def make_cluster():
    return GuestCluster(nodes=1, vfs=1)


@pytest.fixture(scope="module")
def attacked(cluster):
    """(output of the attack, the files' sums before and after it)"""
    cluster.wait_done(cluster.submit("true\n", "-w", NODE))
    shell = cluster.shell(NODE)
    before = shell(SUMS, 120)
    job = cluster.submit(ATTACK.read_text(), "-w", NODE)
    cluster.wait_state(job, ("COMPLETED", "FAILED"), 400)
    return cluster.text_of(job), before, shell(SUMS, 120)


def test_all_that_an_ordinary_user_tries_is_refused(attacked):
    text, _, _ = attacked
    rows = text.splitlines()
    holes = [r for r in rows if r.startswith(("SUCCEEDED", "BROKEN"))]
    assert not holes, "\n".join(holes)
    tries = int(re.search(r"^attack.sh: (\d+) tries, 0 wrong$", text, re.M)[1])
    print(f"\na hostile user: {tries} tries, all as expected")
    assert tries > 100
    assert {"works munge-credential", "works verbs-open", "works ready-read"} <= set(rows)


def test_it_has_changed_no_file_and_no_node(cluster, attacked):
    _, before, after = attacked
    assert before == after and "slurm-vsphere-guest" in before
    node = cluster.node(NODE)
    assert not {"DOWN", "DRAIN", "REBOOT"} & set(re.split(r"[+*]", node["State"])), node
    asked = [text for _, text in cluster.requests(NODE)]
    assert not [text for text in asked if "10.66.6.6" in text or "vm666" in text]
    cluster.wait_done(cluster.submit("true\n", "-w", NODE), 60)     # it serves on


def test_the_directory_of_ready_is_not_the_jobs_to_choose(cluster, attacked):
    """SLURM_VSPHERE_RUN in a job's environment is not slurmstepd's."""
    text = cluster.wait_done(cluster.submit(
        "mkdir -p /tmp/fake\nprintf 'ok\\nnode %s\\nadapter evil\\n' >/tmp/fake/ready\n"
        "printf 'host evil\\npf evil\\n' >/tmp/fake/place\n"
        "export SLURM_VSPHERE_RUN=/tmp/fake\n" + jobs.SEES, "-w", NODE), 60)
    row = jobs.seen(text)[NODE]
    assert row["host"].startswith("esx") and "evil" not in text, text


def test_a_users_guestinfo_does_not_move_slurmd_in_this_boot(cluster, attacked):
    """As on a VM that lets users write guestinfo: root writes it here in their place.
    The job keeps slurm-vsphere from setting it right meanwhile."""
    job = cluster.submit("while [ ! -e /tmp/go ]; do sleep 0.2; done\n" + jobs.SEES,
                         "-w", NODE)
    cluster.wait_state(job, "RUNNING", 60)
    shell = cluster.shell(NODE)
    words = "tr '\\0' ' ' </proc/$(pgrep -o -x slurmd)/cmdline"
    was = shell(words)
    for key, value in (("conf-server", "10.66.6.6:6817"), ("node", "vm666"),
                       ("parent", "yes"), ("mac", "02:00:00:00:00:66")):
        shell(f"vmtoolsd --cmd 'info-set guestinfo.slurm.{key} {value}'")
    assert shell("vmtoolsd --cmd 'info-get guestinfo.slurm.node'").strip() == "vm666"
    pid = shell("pgrep -o -x slurmd").strip()
    shell("systemctl restart slurm-vsphere-identity slurm-vsphere-slurmd", 180)
    wait_for("another slurmd runs", 60, lambda: shell(
        f"p=$(pgrep -o -x slurmd) && [ \"$p\" != {pid} ] && echo yes", check=False) == "yes\n")
    assert shell(words) == was
    assert shell("cat /proc/sys/kernel/hostname").strip() == NODE
    shell("touch /tmp/go")
    assert jobs.seen(cluster.wait_done(job, 90))[NODE]["host"].startswith("esx")


def test_the_next_job_finds_guestinfo_as_slurm_vsphere_wrote_it(cluster, attacked):
    cluster.wait_done(cluster.submit("true\n", "-w", NODE))
    assert cluster.shell(NODE)("vmtoolsd --cmd 'info-get guestinfo.slurm.node'").strip() == NODE
