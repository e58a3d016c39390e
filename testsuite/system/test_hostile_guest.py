# SPDX-License-Identifier: GPL-2.0-or-later
"""A user in a guest writes guestinfo, which root in the guest acts on at boot.

The simulator lets each user of a guest write it unless the VM has
guest_rpc.rpci.auth.cmd.info-set=TRUE, as VMware does. A line in guestinfo.user
of the guest's directory is such a user's.
"""

import json
import re

import pytest

from cluster import Cluster, wait_for
from daemons import TOP
from stages import Held
from test_check import findings
from worlds import world

INFO_SET = "guest_rpc.rpci.auth.cmd.info-set"
HOSTILE = {
    "conf-server": "10.9.9.9:6817", "node": "vm777", "dynamic": "yes",
    "parent": "yes", "mac": "00:50:56:01:02:99", "mtu": "576",
    "link-layer": "none", "machine-id": "f" * 32, "address": "10.9.9.8/24",
    "first-address": "10.9.9.7/24", "first-mac": "00:50:56:01:02:98",
    "gateway": "10.9.9.1", "dns": "10.9.9.2", "dns-search": "evil.example",
    "adapter": "vmxnet3", "cluster": "other", "device": "10de:20b0",
}
SCRIPT = (TOP / "contribs/guest/slurm-vsphere-guest").read_text()


def make_cluster():
    c = Cluster(nodes=2, inventory=world(hosts=1, vfs=2))
    c.vsphere = {"ShutdownGrace": 1}
    c.slurm = {"SuspendTimeout": 3}
    return c


def user_writes(c, node):
    """All of them, by a process without privileges in the node's guest. True:
    they were taken."""
    guest = c.path("guests", node)
    (guest / "guestinfo.refused").unlink(missing_ok=True)
    (guest / "guestinfo.user").write_text("".join(
        f"guestinfo.slurm.{k}={v}\n" for k, v in HOSTILE.items()))
    wait_for("the simulator has taken the file", 10,
             lambda: not (guest / "guestinfo.user").exists())
    return not (guest / "guestinfo.refused").exists()


def told(c, node):
    """What the node's guest was told at its last boot."""
    return json.loads(c.path("guests", node, "guestinfo.json").read_text())


def good(words):
    return not any(words.get(f"guestinfo.slurm.{k}") == v
                   for k, v in HOSTILE.items()) and \
        words["guestinfo.slurm.node"] == "vm001"


def acted_on(c, node):
    """What root in the guest acts on in this boot, as the script has read it."""
    kept = c.path("guests", node, "slurm-vsphere", "guestinfo")
    return {f"guestinfo.slurm.{k}": (kept / k).read_text() for k in HOSTILE}


def ready_node(c, node):
    """The node that the guest has become, of the file that prep/vsphere reads."""
    ready = c.path("guests", node, "slurm-vsphere", "ready")
    return re.findall(r"(?m)^node (.*)$",
                      ready.read_text() if ready.exists() else "")


def boots(c):
    return next(v["boots"] for v in c.our_vms() if v["name"] == "vm001")


def power_down(c):
    c.run("scontrol", "update", "nodename=vm001", "state=power_down")
    wait_for("its VM is off", 60, lambda: "vm001" not in c.names_on() and
             c.is_powered_down("vm001"))


def writable(c):
    """What svf check says of VMs whose users may write."""
    return " ".join(f["actual"] for f in findings(c)
                    if f["code"] == "guest-writes" and
                    f["severity"] == "warning")


def job_runs(c):
    assert c.wait_job(c.sbatch("-N1", "-w", "vm001", script="hostname"),
                      90).strip() == "vm001"


def restart(c, how):
    """The guest boots again without vCenter, or its unit restarts."""
    ready = c.path("guests", "vm001", "slurm-vsphere", "ready")
    before = ready.stat().st_ino, ready.stat().st_mtime_ns
    c.do("reboot", vm="vm001", how=how)
    wait_for("the guest is ready again", 30, lambda: ready.exists() and
             (ready.stat().st_ino, ready.stat().st_mtime_ns) != before and
             ready_node(c, "vm001"))


EVENTS = {"a power cycle": power_down,
          "a reboot": lambda c: restart(c, "boot"),
          "a restart of the unit": lambda c: restart(c, "unit")}


def test_every_value_that_root_reads_is_tried_and_watched():
    read = set(re.search(r"^guest_keys='(.*)'$", SCRIPT, re.M)[1].split())
    assert read == set(HOSTILE)
    # none is read beside these, but a parent's after it was frozen
    assert set(re.findall(r"\$\(info ([a-z-]+)\)", SCRIPT)) <= read
    assert set(re.findall(r"info_now ([a-z-]+)", SCRIPT)) == {"parent"}
    decode = (TOP / "src/common/vcenter/decode/vm.c").read_text()
    assert set(re.findall(r'X\([A-Z_]+, "guestinfo\.slurm\.([a-z-]+)"\)',
                          decode)) == read


@pytest.mark.parametrize("event", EVENTS)
def test_a_user_can_write_no_value_before_and_after(cluster, event):
    job = Held(cluster, "-N1", "-w", "vm001").wait_running()
    assert not user_writes(cluster, "vm001")
    job.end_well()
    EVENTS[event](cluster)
    job_runs(cluster)
    assert good(told(cluster, "vm001")) and good(acted_on(cluster, "vm001"))
    job = Held(cluster, "-N1", "-w", "vm001").wait_running()
    assert not user_writes(cluster, "vm001")
    job.end_well()
    EVENTS[event](cluster)
    assert event == "a power cycle" or good(acted_on(cluster, "vm001"))
    job_runs(cluster)
    assert good(told(cluster, "vm001")) and good(acted_on(cluster, "vm001"))


def test_a_restart_of_the_unit_reads_nothing_that_a_user_wrote(cluster):
    """Of a VM without the key, where all could be written."""
    job_runs(cluster)
    cluster.do("setExtra", vm="vm001", key=INFO_SET, value="", wait=True)
    assert user_writes(cluster, "vm001")
    restart(cluster, "unit")
    assert not good(told(cluster, "vm001")), "they are there to be read"
    assert good(acted_on(cluster, "vm001"))
    assert ready_node(cluster, "vm001") == ["vm001"]
    n = boots(cluster)
    job_runs(cluster)
    assert boots(cluster) == n + 1 and good(acted_on(cluster, "vm001"))


def test_a_user_of_a_guest_can_write_nothing(cluster):
    job = Held(cluster, "-N1", "-w", "vm001").wait_running()
    assert not user_writes(cluster, "vm001")
    job.end_well()
    calls, n = cluster.mutating(), boots(cluster)
    job_runs(cluster)
    assert (cluster.mutating(), boots(cluster)) == (calls, n), \
        "a warm VM whose values are right costs no call"


def test_a_reboot_without_the_key_is_made_good_before_the_next_job(cluster):
    """scontrol reboot of a VM from before the key: its guest acts on what its
    users wrote. svf check names the VM before that. No job starts in that boot:
    the VM is switched off first, and boots with the key."""
    job_runs(cluster)
    cluster.do("setExtra", vm="vm001", key=INFO_SET, value="", wait=True)
    wait_for("svf check says so", 20, lambda: "vm001" in writable(cluster))
    assert user_writes(cluster, "vm001")
    n = boots(cluster)
    cluster.do("reboot", vm="vm001", how="boot")
    wait_for("root in the guest has read what the user wrote", 30,
             lambda: acted_on(cluster, "vm001")["guestinfo.slurm.node"] ==
             HOSTILE["node"])
    job_runs(cluster)
    assert boots(cluster) > n, "its VM was not switched off before the job"
    assert good(told(cluster, "vm001")) and good(acted_on(cluster, "vm001"))
    assert not user_writes(cluster, "vm001"), "the key is there again"
    wait_for("svf check is content", 20, lambda: not writable(cluster))


@pytest.mark.parametrize("then", ["the next job", "a power cycle"])
def test_values_that_were_changed_are_set_again_before_a_boot(cluster, then):
    """A VM that was made before the key was set, or lost it."""
    job = Held(cluster, "-N1", "-w", "vm001").wait_running()
    cluster.do("setExtra", vm="vm001", key=INFO_SET, value="", wait=True)
    assert user_writes(cluster, "vm001")
    wait_for("svf check says so", 20, lambda: "vm001" in writable(cluster))
    assert cluster.run("svf", "check", "guest-writes").returncode == 0
    job.runs_on()
    job.end_well()
    if then == "a power cycle":
        power_down(cluster)
    n = boots(cluster)
    job_runs(cluster)
    assert boots(cluster) == n + 1, "it was not switched off before the next job"
    assert good(told(cluster, "vm001")), told(cluster, "vm001")
    assert not user_writes(cluster, "vm001"), "the key is there again"
    wait_for("svf check is content", 20, lambda: not writable(cluster))
    calls = cluster.mutating()
    job_runs(cluster)
    assert cluster.mutating() == calls, "and once was enough"


def test_values_that_were_changed_while_the_vm_was_off_are_set_again(cluster):
    job_runs(cluster)
    power_down(cluster)
    cluster.do("setExtra", vm="vm001", key="guestinfo.slurm.conf-server",
               value="10.9.9.9:6817", wait=True)
    calls = cluster.mutating()
    job_runs(cluster)
    assert good(told(cluster, "vm001"))
    assert cluster.mutating() - calls == 2, "a reconfiguration and a power-on"
