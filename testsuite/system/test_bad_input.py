# SPDX-License-Identifier: GPL-2.0-or-later
"""Wrong configuration, wrong credentials, a wrong vCenter: each one clear line
that names the file, the line or the field."""

import re
import time

import pytest

from cluster import ClusterError, wait_for
from worlds import world

GOOD = [
    "ClusterName=HPC1 ResourcePool=slurm",
    "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
    "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed",
]


def refuses(c, *patterns):
    """slurmctld doesn't start, and one line of its log has all patterns."""
    with pytest.raises(ClusterError):
        c.start()
    lines = [ln for ln in c.ctld_log().splitlines()
             if re.search(r"\b(error|fatal):", ln)]
    assert [ln for ln in lines if all(re.search(p, ln) for p in patterns)], \
        "\n".join(lines)


# name: (lines of vsphere.conf, what the one line must have)
FILES = {
    "an unknown key": (
        GOOD + ["Folderr=slurm"], [r"vsphere\.conf", r"line \d+", "Folderr"]),
    "an unknown key of a line": (
        [GOOD[0], GOOD[1] + " Mtuu=9000", GOOD[2]],
        [r"vsphere\.conf", r"line \d+", "Mtuu"]),
    "a duplicate key": (
        ["Datastore=other"] + GOOD,
        [r"vsphere\.conf", r"line \d+", "Datastore"]),
    "a PF written wrong": (
        [GOOD[0], GOOD[1] + " PF=0000:3b:00:1", GOOD[2]],
        [r"vsphere\.conf", r"line \d+", "PF", "0000:3b:00:1",
         r"dddd:bb:ss\.f|0000:3b:00\.1"]),
    "a partition with an unknown adapter": (
        [GOOD[0], GOOD[1],
         "PartitionName=roce Adapter=sriov-roxe Template=rhel9-ofed"],
        [r"vsphere\.conf", r"line \d+", "sriov-roxe"]),
    "an adapter of unknown type": (
        [GOOD[0], "AdapterName=sriov-roce Type=sriof Network=SRIOV-ROCE-PG",
         GOOD[2]],
        [r"vsphere\.conf", r"line \d+", "sriof", "sriov"]),
    "a fresh VM for each job on nodes that jobs share": (
        GOOD[:2] + [GOOD[2] + " Retention=destroy"],
        [r"vsphere\.conf", r"line \d+", "destroy", "EXCLUSIVE"]),
    "an adapter given twice": (
        [GOOD[0], GOOD[1], GOOD[1], GOOD[2]],
        [r"vsphere\.conf", r"line \d+", "sriov-roce"]),
}


@pytest.mark.parametrize("what", FILES)
def test_the_plugin_refuses_and_names_file_and_line_for(fresh, what):
    lines, patterns = FILES[what]
    refuses(fresh(start=False, nodes=2, vsphere={"lines": lines}), *patterns)


def test_a_node_with_two_adapters_is_refused_by_name(fresh):
    c = fresh(start=False, nodes=2, vsphere={"lines": GOOD[:2] + [
        "AdapterName=vmxnet3 Type=vmxnet3 Network=VM-PG", GOOD[2]]})
    c.choose_ports()
    c.node_lines = [c.node_line(1, 2, "sriov-roce,vmxnet3")]
    refuses(c, r"vm00[12]|vm\[001-002\]", "sriov-roce", "vmxnet3")


def test_a_node_without_an_adapter_is_refused_by_name(fresh):
    c = fresh(start=False, nodes=2)
    c.choose_ports()
    c.node_lines = [c.node_line(1, 2, "")]
    refuses(c, r"vm00[12]|vm\[001-002\]", "sriov-roce")


def test_a_password_file_that_others_can_read_is_refused(fresh):
    c = fresh(start=False, nodes=2)
    c.password_mode = 0o644
    refuses(c, r"vcenter\.password", "0600|mode")


def test_a_password_file_that_is_not_there_is_refused(fresh):
    c = fresh(start=False, nodes=2,
              vsphere={"PasswordFile": "/nonexistent/vcenter.password"})
    refuses(c, "/nonexistent/vcenter.password")


@pytest.mark.parametrize("key", ["SuspendProgram", "ResumeProgram",
                                 "SuspendTime"])
def test_power_saving_not_configured_is_refused_by_key(fresh, key):
    c = fresh(start=False, nodes=2, slurm={key: None})
    refuses(c, key)


def complains(c, *patterns, timeout=25):
    """slurmctld runs; one line of its log has all patterns, the job that
    waits says so too, and nothing was changed in vCenter."""
    job = c.sbatch("-N1")

    def line():
        return [ln for ln in c.ctld_log().splitlines() if " error: " in ln
                and all(re.search(p, ln) for p in patterns)]
    got = wait_for(f"an error with {patterns}", timeout, line)
    assert not re.search("simulated-secret", c.ctld_log()), "I8"
    assert c.job_state(job) == "PENDING"
    assert c.mutating() == 0
    wait_for(f"svf why says {patterns[-1]}", 15, lambda: re.search(
        patterns[-1], c.svf("why", str(job))["text"]))
    return got


# name: (vsphere.conf's top, its lines, pattern)
OBJECTS = {
    "a template": ({}, [GOOD[0], GOOD[1],
                        "PartitionName=roce Adapter=sriov-roce Template=rhel7"],
                   ["rhel7"]),
    "a network": ({}, [GOOD[0],
                       "AdapterName=sriov-roce Type=sriov Network=NO-SUCH-PG",
                       GOOD[2]], ["NO-SUCH-PG"]),
    "a folder": ({"Folder": "slrum"}, GOOD, ["slrum"]),
    "a cluster": ({}, ["ClusterName=HPC9 ResourcePool=slurm"] + GOOD[1:],
                  ["HPC9"]),
    "a resource pool": ({}, ["ClusterName=HPC1 ResourcePool=slrum"] + GOOD[1:],
                        ["slrum"]),
    "a datacenter": ({"Datacenter": "DC7"}, GOOD, ["DC7"]),
    "a datastore": ({"Datastore": "nosuchstore"}, GOOD, ["nosuchstore"]),
}


@pytest.mark.parametrize("what", OBJECTS)
def test_what_vcenter_does_not_have_is_named(fresh, what):
    top, lines, patterns = OBJECTS[what]
    complains(fresh(nodes=2, ready=False, vsphere={**top, "lines": lines}), *patterns)


def test_a_wrong_password_is_said_and_not_tried_again(fresh):
    c = fresh(start=False, nodes=2)
    c.password = "wrong"
    c.start()
    complains(c, "PasswordFile|password|credentials|login")
    assert c.counters()["failedLogins"] <= 2


def test_a_certificate_that_does_not_verify_is_said(fresh):
    """The system's store knows nothing of the simulator's authority."""
    c = fresh(nodes=2, ready=False, vsphere={"CAFile": None})
    complains(c, "certificate")


def test_a_vcenter_older_than_8_0_u1_is_said(fresh):
    c = fresh(nodes=2, ready=False, inventory=world(about={"apiVersion": "8.0.0.0"}))
    complains(c, r"8\.0 Update 1")
    began = time.monotonic()
    while time.monotonic() - began < 5:     # nothing changes: no new tries
        assert c.calls("hello") == 1
        time.sleep(0.5)


def test_an_esxi_address_instead_of_vcenter_is_said(fresh):
    c = fresh(nodes=2, ready=False, inventory=world(about={"apiType": "HostAgent"}))
    complains(c, "ESXi")


def test_another_clusters_id_in_the_folder_is_said(fresh):
    alien = "11111111-2222-4333-8444-555555555555"
    uuid = "5001c0de-0000-4000-8000-0000000000aa"
    c = fresh(nodes=2, ready=False, inventory=world(vms=[{
        "name": "vm077", "folder": "slurm", "host": "esx01.example.org",
        "numCPUs": 1, "memoryMB": 1024, "nics": ["VM-PG"],
        "instanceUuid": uuid,
        "extraConfig": {"slurm.vsphere.owner": f"{alien}/vm077/{uuid}"}}]))
    complains(c, alien)
