# SPDX-License-Identifier: GPL-2.0-or-later
"""Wrong configuration, wrong credentials, a wrong vCenter: each one clear line
that names the file, the line or the field."""

import json
import re
import time

import pytest

from cluster import ClusterError, wait_for
from daemons import PASSWORD, USERNAME
from worlds import world

GOOD = [
    "VSphereCluster=HPC1 ResourcePool=slurm",
    "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
    "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed",
]


LINE = r"vsphere\.conf line \d+: "


def refuses(c, pattern):
    """slurmctld doesn't start, and one line of its log says why in these
    words."""
    with pytest.raises(ClusterError):
        c.start()
    lines = [ln for ln in c.ctld_log().splitlines()
             if re.search(r"\b(error|fatal):", ln)]
    assert [ln for ln in lines
            if re.search("slurm-vsphere: " + pattern, ln)], "\n".join(lines)


# name: (lines of vsphere.conf, the one line)
FILES = {
    "an unknown key": (
        GOOD + ["Folderr=slurm"],
        LINE + 'unknown key "Folderr": did you mean Folder\\?'),
    "an unknown key of a line": (
        [GOOD[0], GOOD[1] + " Mtuu=9000", GOOD[2]],
        LINE + 'unknown key "Mtuu": did you mean MTU\\?'),
    "a key of an earlier release": (
        GOOD[:2] + [GOOD[2] + " Preempt=suspend"],
        LINE + "Preempt= was removed: .*preempted by requeue or cancel"),
    "a duplicate key": (
        ["Datastore=other"] + GOOD,
        LINE + r"Datastore is given twice, first in line \d+"),
    "a PF written wrong": (
        [GOOD[0], GOOD[1] + " PF=0000:3b:00:1", GOOD[2]],
        LINE + r'PF: "0000:3b:00:1" is not a PCI address: expected '
        r'dddd:bb:ss\.f in hex, such as 0000:3b:00\.1'),
    "a partition with an unknown adapter": (
        [GOOD[0], GOOD[1],
         "PartitionName=roce Adapter=sriov-roxe Template=rhel9-ofed"],
        LINE + "Adapter=sriov-roxe: expected the name of an AdapterName= "
        "line"),
    "an adapter of unknown type": (
        [GOOD[0], "AdapterName=sriov-roce Type=sriof Network=SRIOV-ROCE-PG",
         GOOD[2]],
        LINE + r"Type=sriof: expected one of sriov\|pvrdma\|vmxnet3"),
    "a fresh VM for each job on nodes that jobs share": (
        GOOD[:2] + [GOOD[2] + " Retention=destroy"],
        LINE + "Retention=destroy .*OverSubscribe=EXCLUSIVE"),
    "an adapter given twice": (
        [GOOD[0], GOOD[1], GOOD[1], GOOD[2]],
        LINE + "AdapterName=sriov-roce is given twice"),
}


@pytest.mark.parametrize("what", FILES)
def test_the_plugin_refuses_and_names_file_and_line_for(fresh, what):
    lines, pattern = FILES[what]
    refuses(fresh(start=False, nodes=2, vsphere={"lines": lines}), pattern)


@pytest.mark.parametrize("url", ["http://me:s3cret@vc.example.org",
                                 "https://me:s3cret@vc.example.org"])
def test_an_address_with_a_password_in_it_is_refused_and_not_printed(fresh,
                                                                     url):
    c = fresh(start=False, nodes=2, vsphere={"VCenter": url})
    refuses(c, LINE + r"VCenter: expected https://host or https://host:port, "
            r"without a user or password in it \(they go into VCenterUser= and "
            r"VCenterPasswordFile=\)")
    assert "s3cret" not in c.ctld_log()


def test_a_node_with_two_adapters_is_refused_by_name(fresh):
    c = fresh(start=False, nodes=2, vsphere={"lines": GOOD[:2] + [
        "AdapterName=vmxnet3 Type=vmxnet3 Network=VM-PG", GOOD[2]]})
    c.choose_ports()
    c.node_lines = [c.node_line(1, 2, "sriov-roce,vmxnet3")]
    refuses(c, LINE + "node vm001 has two adapters among its Features, "
            "sriov-roce and vmxnet3: expected exactly one")


def test_a_node_without_an_adapter_is_refused_by_name(fresh):
    c = fresh(start=False, nodes=2)
    c.choose_ports()
    c.node_lines = [c.node_line(1, 2, "")]
    refuses(c, LINE + "node vm001 has no adapter among its Features: expected "
            "sriov-roce ")


def test_a_password_file_that_others_can_read_is_refused(fresh):
    c = fresh(start=False, nodes=2)
    c.password_mode = 0o644
    refuses(c, LINE + r"VCenterPasswordFile=/.*/vcenter\.password has mode 0644: "
            r"expected 0600 or 0400 \(chmod 600 it\)")


def test_a_password_file_that_is_not_there_is_refused(fresh):
    c = fresh(start=False, nodes=2,
              vsphere={"VCenterPasswordFile": "/nonexistent/vcenter.password"})
    refuses(c, LINE + r"VCenterPasswordFile=/nonexistent/vcenter\.password: No such "
            "file")


@pytest.mark.parametrize("what", ["no-file", "no-certificate"])
def test_a_ca_file_of_no_use_is_refused(fresh, what):
    """At a start; and at a reconfigure the working connection stays."""
    c = fresh(nodes=2)
    logins = c.counters()["logins"]
    bad = c.path("etc", "other.pem")
    if what == "no-certificate":
        bad.write_text("-----BEGIN " "PRIVATE KEY-----\n")
    text = {"no-file": rf"VCenterCAFile={bad}: No such file or directory",
            "no-certificate": rf"VCenterCAFile={bad}: the file has no certificate: expected "
            r"PEM text \(-----BEGIN CERTIFICATE-----\)"}[what]
    old = re.search("^VCenterCAFile=(.*)$", c.path("etc", "vsphere.conf").read_text(),
                    re.M)[1]
    c.change_vsphere(f"VCenterCAFile={old}", f"VCenterCAFile={bad}", refused=True)
    wait_for("it is refused", 20, lambda: re.search(
        LINE + text + ".*the old configuration stays in force", c.ctld_log()))
    c.wait_job(c.sbatch("-N1", script="true"), 40)
    assert c.counters()["logins"] <= logins + c.reexec
    c.end_slurmctld()
    with pytest.raises(ClusterError):
        c.start_slurmctld()
    assert re.search("fatal: slurm-vsphere: .*" + text, c.ctld_log())
    f = c.path("etc", "vsphere.conf")
    f.write_text(f.read_text().replace(str(bad), old))
    c.start_slurmctld()


@pytest.mark.parametrize("key", ["SuspendProgram", "ResumeProgram",
                                 "SuspendTime"])
def test_power_saving_not_configured_is_refused_by_key(fresh, key):
    c = fresh(start=False, nodes=2, slurm={key: None})
    refuses(c, rf"slurm\.conf: {key} is missing.*\({key}=[^ ,)]+")


def complains(c, text, public=None, timeout=25):
    """slurmctld runs; one line of its log is this text (a regular expression);
    the job that waits says so too, but to everybody neither the address nor
    the account; nothing was changed in vCenter."""
    job = c.sbatch("-N1")
    public = public or text

    def line():
        return [ln for ln in c.ctld_log().splitlines()
                if re.search(" error: slurm-vsphere: " + text, ln)]
    wait_for(f"the error {text}", timeout, line)
    assert not re.search("simulated-secret", c.ctld_log()), "I8"
    assert c.job_state(job) == "PENDING"
    assert c.mutating() == 0
    why = wait_for(f"svf why says {public}", 15, lambda: (
        lambda t: re.search(public, t) and t)(
            c.svf("why", str(job))["text"]))
    shown = wait_for("a reason in the job", 30, lambda: (
        lambda t: "SystemComment" in t and t)(
            c.must("scontrol", "show", "job", str(job))))
    shown += c.squeue(job)
    for word in (c.sim_url, c.sim_url.split("://")[1], USERNAME):
        assert word not in why + shown, word
    return job


def no_such(key, name, what, where, have):
    return (f'{key}={name}: vCenter has no {what} of that name{where}; '
            f'there are: .*{have}')


DC = ' in datacenter "DC0"'
ELSEWHERE = (r"; clone a template of another datacenter into it, or deploy an "
             r"item of a content library \(govc library\.deploy\)")
# name: (vsphere.conf's top, its lines, the text)
OBJECTS = {
    "a template": ({}, [GOOD[0], GOOD[1],
                        "PartitionName=roce Adapter=sriov-roce Template=rhel7"],
                   no_such("Template", "rhel7", "VM template", DC + ELSEWHERE,
                           "rhel9-ofed")),
    "a network": ({}, [GOOD[0],
                       "AdapterName=sriov-roce Type=sriov Network=NO-SUCH-PG",
                       GOOD[2]],
                  no_such("Network", "NO-SUCH-PG", "network", DC,
                          "SRIOV-ROCE-PG")),
    "a folder": ({"Folder": "slrum"}, GOOD,
                 no_such("Folder", "slrum", "VM folder", DC, "slurm")),
    "a cluster": ({}, ["VSphereCluster=HPC9 ResourcePool=slurm"] + GOOD[1:],
                  no_such("VSphereCluster", "HPC9", "cluster", DC, "HPC1")),
    "a resource pool": ({}, ["VSphereCluster=HPC1 ResourcePool=slrum"] + GOOD[1:],
                        no_such("ResourcePool", "slrum", "resource pool",
                                ' in cluster "HPC1"', "slurm")),
    "a datacenter": ({"Datacenter": "DC7"}, GOOD,
                     no_such("Datacenter", "DC7", "datacenter", "", "DC0")),
    "a datastore": ({"Datastore": "nosuchstore"}, GOOD,
                    no_such("Datastore", "nosuchstore", "datastore", DC,
                            "vsan")),
}


@pytest.mark.parametrize("what", OBJECTS)
def test_what_vcenter_does_not_have_is_named(fresh, what):
    top, lines, text = OBJECTS[what]
    complains(fresh(nodes=2, ready=False, vsphere={**top, "lines": lines}),
              text)


def test_a_wrong_password_is_said_and_not_tried_again(fresh):
    c = fresh(start=False, nodes=2)
    c.password = "wrong"
    c.start()
    rest = (r" and the password in VCenterPasswordFile=/[^ ]*/vcenter\.password "
            r"\(Cannot complete login.*\): correct them; slurm-vsphere stops "
            r"trying, so that the account is not locked, until that file "
            r"changes, scontrol reconfigure or svf reconcile")
    job = complains(
        c, "vCenter refuses the login with VCenterUser=" + re.escape(USERNAME) +
        rest, r"vCenter refuses the login with VCenterUser=\.\.\." + rest)
    assert c.counters()["failedLogins"] == 1
    c.must("scontrol", "reconfigure")
    wait_for("one more try", 20, lambda: c.counters()["failedLogins"] == 2)
    c.svf("reconcile")
    wait_for("one more try", 20, lambda: c.counters()["failedLogins"] == 3)
    c.path("etc", "vcenter.password").write_text(PASSWORD + "\n")
    c.wait_job(job)
    assert c.counters()["failedLogins"] == 3


def test_a_certificate_that_does_not_verify_is_said(fresh):
    """The system's store knows nothing of the simulator's authority."""
    c = fresh(nodes=2, ready=False, vsphere={"VCenterCAFile": None})
    rest = (r" cannot be verified \(.*certificate.*\): put the CA that signed "
            r"it into VCenterCAFile \(vCenter offers it at /certs/download\.zip\)")
    complains(c, "the certificate of " + re.escape(c.sim_url) + rest,
              "the certificate of vCenter" + rest)


FLAWS = {
    "expired": ("expired", "renew vCenter's certificate, or correct slurmctld's "
                "clock"),
    "early": ("not yet valid", "correct slurmctld's clock, or vCenter's"),
    "otherName": ("name", "set VCenter= to a name that the certificate has"),
    "otherKey": (".*", r"VCenterCAFile has another CA of the same name: use this "
                 r"vCenter's CA \(download it at /certs/download\.zip\)")}


@pytest.mark.parametrize("flaw", FLAWS)
def test_what_is_wrong_with_a_certificate_is_said(fresh, flaw):
    """And what corrects that; the corrected one counts at once."""
    c = fresh(nodes=2)
    c.do("newCertificate", how=flaw)
    c.do("cutConnections")
    cause, fix = FLAWS[flaw]
    # (Newer releases of libcurl add OpenSSL's number in parentheses.)
    rest = rf" cannot be verified \(.*{cause}.*\): {fix}"
    job = complains(c, "the certificate of " + re.escape(c.sim_url) + rest,
                    "the certificate of vCenter" + rest)
    assert re.search(rest, c.must("svf", "status"))
    found = json.loads(c.run("svf", "--json", "check").stdout)["findings"]
    assert re.search(rest, str([f for f in found
                                if f["code"] == "vcenter-away"]))
    c.do("newCertificate")
    began = time.monotonic()
    c.wait_job(job)
    assert time.monotonic() - began < 30, "not after the usual minute"


def test_a_corrected_mode_of_the_password_file_counts_at_once(fresh):
    c = fresh(start=False, nodes=2)
    c.path("etc").mkdir(parents=True, exist_ok=True)
    c.start()
    c.wait_ready()
    c.path("etc", "vcenter.password").chmod(0o644)
    c.do("expireSessions")
    job = complains(c, r"VCenterPasswordFile /[^ ]*/vcenter\.password has mode 0644: "
                    r"expected 0600 or 0400 \(chmod 600 it\)",
                    r"VCenterPasswordFile .* has mode 0644: expected 0600 or 0400 "
                    r"\(chmod 600 it\)")
    c.path("etc", "vcenter.password").chmod(0o600)
    began = time.monotonic()
    c.wait_job(job)
    assert time.monotonic() - began < 30, "not after the usual minute"


def test_a_vcenter_older_than_8_0_u1_is_said(fresh):
    c = fresh(nodes=2, ready=False,
              inventory=world(about={"apiVersion": "8.0.0.0"}))
    complains(c, r"VCenter=[^ ]+ is older than vCenter 8\.0 Update 1 "
              r"\(8\.0\.0\.0\): slurm-vsphere needs its VI JSON "
              "API")
    began = time.monotonic()
    while time.monotonic() - began < 5:     # nothing changes: no new tries
        assert c.calls("hello") == 1
        time.sleep(0.5)


def test_an_esxi_address_instead_of_vcenter_is_said(fresh):
    c = fresh(nodes=2, ready=False,
              inventory=world(about={"apiType": "HostAgent"}))
    complains(c, r"VCenter=[^ ]+ is an ESXi host, not a vCenter: name the "
              "vCenter that manages the hosts")


def test_another_clusters_id_in_the_folder_is_said(fresh):
    alien = "11111111-2222-4333-8444-555555555555"
    uuid = "5001c0de-0000-4000-8000-0000000000aa"
    c = fresh(nodes=2, ready=False, inventory=world(vms=[{
        "name": "vm077", "folder": "slurm", "host": "esx01.example.org",
        "numCPUs": 1, "memoryMB": 1024, "nics": ["VM-PG"],
        "instanceUuid": uuid,
        "extraConfig": {"slurm.vsphere.owner": f"{alien}/vm077/{uuid}"}}]))
    text = (rf"the folder holds VM vm077 of another cluster \(id {alien}\): "
            "give each cluster a folder of its own")
    complains(c, "no job gets a VM: " + text, text)
