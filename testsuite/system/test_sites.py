# SPDX-License-Identifier: GPL-2.0-or-later
"""Slurm as sites set it up: guests without a slurm.conf, addresses that come with
the registration or from DNS, commands that agree under PrivateData."""

import json
import os
import re

import pytest

from cluster import Cluster, isolation, slurm_binary, slurm_release, wait_for
from stages import nobody_down
from users import DAEMON, as_user, needs_root
from worlds import world

CONFIGLESS = """#!/bin/sh
# A template without a slurm.conf: slurmd has a controller's address alone, and
# finds munge where it is everywhere.
for a; do [ "$last" != -N ] || name=$a; last=$a; done
unset SLURM_CONF
mount --bind {run} /run || exit 1
exec {slurmd} -D -b -N "$name" --conf-server 127.0.0.1:{port}
"""


def make(fresh, words, **more):
    c = fresh(nodes=2, start=False, inventory=world(hosts=2, vfs=2),
              slurm={"SuspendTimeout": 2, **more})
    c.slurmctld_parameters = ",".join(
        w for w in (Cluster.slurmctld_parameters, words) if w)
    return c


def off_and_on(c):
    """Both nodes run a job, are powered down, and run another."""
    for _ in range(2):
        out = c.wait_job(c.sbatch("-N2", script="srun hostname"), 60)
        assert set(out.split()) == {"vm001", "vm002"}
        last = [c.node(n)["NodeAddr"] for n in c.node_names()]
        c.must("scontrol", "update", "nodename=vm[001-002]", "state=power_down")
        wait_for("both are off", 30, lambda: not c.names_on() and
                 c.is_powered_down("vm001") and c.is_powered_down("vm002"))
    nobody_down(c)
    return last


def test_a_guest_needs_no_slurm_conf_and_gets_no_password(fresh):
    """What the controllers hand out is Slurm's: nothing of vsphere.conf."""
    if not isolation() or os.getuid():
        pytest.skip("needs root, and mounts of a guest's own")
    c = make(fresh, "enable_configless")
    c.choose_ports()
    c.write_guest()
    run = c.path("guest-run", "munge")
    run.mkdir(parents=True)
    (run / "munge.socket.2").symlink_to(c.path("run", "munge.socket"))
    wrapper = c.path("bin", "slurmd-configless")
    wrapper.write_text(CONFIGLESS.format(slurmd=slurm_binary("slurmd"),
                                         port=c.ctld_port, run=run.parent))
    wrapper.chmod(0o755)
    c.write_guest = lambda: None
    env = c.path("bin", "guest.env")
    env.write_text(re.sub(r"^slurmd=.*$", f"slurmd='{wrapper}'",
                          env.read_text(), flags=re.M))
    c.start()
    c.wait_ready()
    out = c.wait_job(c.sbatch("-N2", script="srun hostname"), 60)
    assert set(out.split()) == {"vm001", "vm002"}
    given = c.path("spool", "vm001", "conf-cache")
    files = {f.name: f.read_text() for f in given.iterdir()}
    assert "select/cons_tres_vsphere" in files["slurm.conf"]
    assert "prep/vsphere" in files["slurm.conf"]
    assert not [f for f in files if "vsphere" in f or "password" in f]
    assert c.password not in "".join(files.values())
    assert c.sim_url not in "".join(files.values())
    nobody_down(c)


def wrong_addresses(c):
    return [c.node_line(1, 2, "sriov-roce").replace(
        "NodeAddr=127.0.0.1", "NodeAddr=127.0.0.77")]


def test_addresses_come_with_the_registration(fresh):
    """slurm.conf has a wrong one; each boot brings the right one."""
    c = make(fresh, "" if slurm_release() >= (23, 11) else "cloud_reg_addrs")
    c.choose_ports()
    c.node_lines = wrong_addresses(c)
    c.start()
    c.wait_ready()
    assert off_and_on(c) == ["127.0.0.1"] * 2


def test_without_cloud_reg_addrs_slurm_conf_is_right_about_addresses(fresh):
    if slurm_release() >= (23, 11):
        pytest.skip("Slurm has no registration that leaves NodeAddr alone "
                    "since 23.11")
    c = make(fresh, "")
    c.start()
    c.wait_ready()
    assert off_and_on(c) == ["127.0.0.1"] * 2
    assert [c.node(n)["NodeAddr"] for n in c.node_names()] == ["127.0.0.1"] * 2


def test_cloud_dns_is_fine(fresh):
    c = make(fresh, "cloud_dns")
    c.start()
    c.wait_ready()
    off_and_on(c)


@needs_root
@pytest.mark.parametrize("private", ["cloud", "cloud,nodes", "cloud,jobs",
                                     "cloud,jobs,nodes,partitions"])
def test_svf_and_slurms_own_commands_show_a_user_the_same(fresh, private):
    c = make(fresh, "", PrivateData=private)
    c.start()
    c.wait_ready()
    job = c.sbatch("-N1", "-w", "vm001", script="echo began; sleep 100")
    wait_for("it runs", 40, lambda: "began" in c.output(job))
    for uid in (0, DAEMON):
        nodes = {f.split("=")[1] for f in re.findall(
            r"NodeName=\S+", as_user(c, uid, "scontrol", "-o", "show", "nodes",
                                     "-a").stdout)}
        jobs = set(as_user(c, uid, "squeue", "-h", "-o", "%i").stdout.split())
        rows = json.loads(as_user(c, uid, "svf", "--json", "nodes").stdout)["nodes"]
        assert {r["node"] for r in rows} == nodes
        if nodes:
            assert {str(r["job"]) for r in rows if "job" in r} == jobs
    assert nodes == (set() if "nodes" in private else {"vm001", "vm002"})
