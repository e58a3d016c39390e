# SPDX-License-Identifier: GPL-2.0-or-later
"""The template that the Ansible role makes, as a booted machine: its first VM gets its
clock from the site's time server, registers and serves a job. VMware Tools, the RDMA
hardware and the kernel are the tests'; all else is what the role left (recipe.py)."""

import datetime
import os
import pathlib

import ntp
import template
from daemons import patience
from guest_cluster import CONTROLLER, GuestCluster

BOOT_S = 600        # a whole Debian: SSH host keys, chrony-wait, dbus and more


class RecipeCluster(GuestCluster):
    """Its munge key and its VM's disk are the recipe's."""

    recipe = pathlib.Path(os.environ.get("VS_RECIPE", "/nonexistent"))

    def start_munged(self):
        key = self.path("etc", "munge.key")
        key.touch(mode=0o600)
        key.write_bytes((self.recipe / "munge.key").read_bytes())
        super().start_munged()

    def make_disk(self, disk):
        template.make(self.recipe / "base.ext4", disk, None, None)


def make_cluster():
    an_hour_ago = datetime.datetime.utcnow() - datetime.timedelta(hours=1)
    c = RecipeCluster(nodes=1, vfs=1, VG_MEMORY="512",
                      VG_RTC=f"base={an_hour_ago:%Y-%m-%dT%H:%M:%S}")
    c.slurm["ResumeTimeout"] = int(BOOT_S * max(1, patience()))
    return c


def test_the_template_that_the_role_made_boots_and_serves_a_job(cluster):
    """The hardware clock is an hour behind: the role's chrony sets the clock right."""
    with ntp.server(CONTROLLER):
        job = cluster.submit("hostname; id -un; date -u\n", "-N1")
        text = cluster.wait_done(job, BOOT_S).splitlines()
    assert text[:2] == ["vm001", template.ordinary_user()[0]], text
    shell = cluster.shell("vm001")
    print("\n" + shell("systemd-analyze critical-chain slurm-vsphere-slurmd.service; "
                       "systemctl list-units --failed --no-legend; true"))
    assert shell("head -n 1 /run/slurm-vsphere/ready") == "ok\n"
    assert shell("cat /etc/slurm-vsphere/conf-server") == f"{CONTROLLER}:6817\n"
    on = shell("systemctl is-active munge chrony slurm-vsphere-slurmd systemd-networkd; true")
    assert on == "active\n" * 4
    assert "slurmd.service" not in shell("systemctl list-units --no-legend slurmd.service; true")
    assert len(shell("ls /etc/ssh/ssh_host_*_key").split()) >= 1
    assert shell("cat /etc/machine-id").strip() != ""
