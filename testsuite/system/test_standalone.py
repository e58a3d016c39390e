# SPDX-License-Identifier: GPL-2.0-or-later
"""svf check --standalone: configuration, connection, login, names and rights are
checked before slurmctld was ever started. Only munged and the simulator run here."""

import json
import re

import pytest

from cluster import wait_for
from daemons import USERNAME
from test_preflight import LEAST, ROLES
from worlds import world

STEPS = ["slurm.conf", "vsphere.conf", "connection", "login", "names",
         "inventory"]


@pytest.fixture
def site(fresh):
    """A configured controller on which slurmctld has never run."""
    c = fresh(start=False, nodes=4, vsphere={"ShutdownGrace": 1},
              slurm={"SuspendTimeout": 3},
              inventory=world(hosts=2, vfs=4, roles=ROLES, permissions=LEAST))
    c.choose_ports()
    c.start_vcsim()
    c.write_configuration()
    return c


def check(c, *options):
    r = c.run("svf", "check", "--standalone", "--json", *options)
    return r.returncode, json.loads(r.stdout), r


def change(c, name, old, new):
    path = c.path("etc", name)
    text = path.read_text()
    assert re.search(old, text), (old, text)
    path.write_text(re.sub(old, new, text))


def failed(c, step):
    """The step that failed, after the others were right."""
    status, doc, _ = check(c)
    steps = {s["step"]: s for s in doc["steps"]}
    assert [s["step"] for s in doc["steps"]] == STEPS[:STEPS.index(step) + 1]
    assert [s["result"] for s in doc["steps"][:-1]] == \
        ["ok"] * (len(doc["steps"]) - 1)
    assert steps[step]["result"] == "failed" and steps[step]["fix"]
    assert "findings" not in doc
    people = c.run("svf", "check", "--standalone")
    assert people.returncode == status
    assert steps[step]["text"] in people.stdout
    assert "to do:" in people.stdout
    return status, steps[step]


def test_all_is_well_and_nothing_is_changed(site):
    status, doc, _ = check(site)
    assert [(s["step"], s["result"]) for s in doc["steps"]] == \
        [(s, "ok") for s in STEPS]
    assert [f for f in doc["findings"] if f["severity"] == "hard"] == []
    assert status == 0 and doc["hosts"] == 2
    people = site.run("svf", "check", "--standalone")
    assert people.returncode == 0 and "VMware vCenter Server 8" in people.stdout
    assert site.mutating() == 0
    assert list(site.path("state").iterdir()) == []


def test_settings_of_slurm_conf_and_of_its_partitions(site):
    def findings():
        return {f["code"]: f for f in check(site)[1]["findings"]}
    assert "slurm-resume-timeout" in findings()
    change(site, "slurm.conf", "PartitionName=roce", "PartitionName=roce "
           "ResumeTimeout=1800")
    assert "slurm-resume-timeout" not in findings()
    change(site, "slurm.conf", r"(?m)^SelectTypeParameters=.*$",
           "SelectTypeParameters=CR_Socket")
    status, doc, _ = check(site)
    hard, = [f for f in doc["findings"] if f["severity"] == "hard"]
    assert hard["code"] == "slurm-select-parameters" and status == 1
    assert hard["actual"] == "CR_Socket"


def test_a_wrong_password(site):
    site.path("etc", "vcenter.password").write_text("wrong\n")
    status, step = failed(site, "login")
    assert status == 4
    assert "password" in step["text"] and USERNAME in step["text"]


def test_a_refused_login_is_not_tried_again_by_slurmctld(site):
    """vCenter locks an account after a few, and the password is no better since."""
    note = site.path("state", "slurm_vsphere.login")
    password = site.path("etc", "vcenter.password")
    right = password.read_text()
    password.write_text("wrong\n")
    assert check(site)[0] == 4
    assert note.stat().st_uid == site.path("state").stat().st_uid
    logins = site.calls("Login")
    site.write_guest()
    site.start_munged()
    site.start_slurmctld()
    wait_for("it says so", 30, lambda: "is tried again in" in site.ctld_log())
    assert site.calls("Login") == logins
    site.end_slurmctld()
    # a login that is taken ends it
    password.write_text(right)
    assert check(site)[0] == 0
    assert not note.exists()


def test_a_wrong_ca(site):
    other = site.path("etc", "other.pem")
    site.must("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes",
              "-keyout", str(site.path("etc", "other.key")), "-out", str(other),
              "-days", "2", "-subj", "/CN=another CA")
    change(site, "vsphere.conf", r"(?m)^VCenterCAFile=.*$",
           f"VCenterCAFile={other}")
    status, step = failed(site, "connection")
    assert status == 3 and "certificate" in step["text"]


def test_nobody_answers(site):
    site.daemons.pop("vcsim").end(grace=5)
    status, _ = failed(site, "connection")
    assert status == 3


def test_a_missing_network_is_named_with_those_that_are_there(site):
    change(site, "vsphere.conf", "Network=SRIOV-ROCE-PG", "Network=NO-SUCH-PG")
    status, step = failed(site, "names")
    assert status == 1
    assert "Network=NO-SUCH-PG" in step["text"]
    assert "SRIOV-ROCE-PG" in step["text"]


@pytest.mark.parametrize("old, new, name", [
    ("Datacenter=DC0", "Datacenter=DC7", "DC7"),
    ("Folder=slurm", "Folder=slurm7", "slurm7"),
    ("Datastore=vsan", "Datastore=vsan7", "vsan7"),
    ("VSphereCluster=HPC1", "VSphereCluster=HPC7", "HPC7"),
    ("ResourcePool=slurm", "ResourcePool=slurm7", "slurm7"),
])
def test_so_is_each_other_name(site, old, new, name):
    change(site, "vsphere.conf", old, new)
    status, step = failed(site, "names")
    assert status == 1 and name in step["text"]


def test_a_missing_template_and_a_missing_privilege_are_findings(site):
    change(site, "vsphere.conf", "Template=rhel9-ofed", "Template=rhel7")
    lacking = "VirtualMachine.Interact.PowerOn"
    site.do("permissions", permissions=LEAST, roles={
        k: [p for p in v if p != lacking] for k, v in ROLES.items()})
    status, doc, _ = check(site)
    hard = {f["code"]: f for f in doc["findings"] if f["severity"] == "hard"}
    assert status == 1
    assert lacking in hard["rights-missing"]["actual"]
    assert hard["template-missing"]["object"] == "rhel7"
    people = site.run("svf", "check", "--standalone").stdout
    assert "rights-missing" in people and lacking in people


def test_what_slurm_conf_lacks_is_a_finding(site):
    change(site, "slurm.conf", r"(?m)^PrEpPlugins=.*$", "PrEpPlugins=prep/script")
    status, doc, _ = check(site)
    assert status == 1
    assert "slurm-prep-plugins" in [f["code"] for f in doc["findings"]]


def test_a_wrong_line_and_a_wrong_file_end_it_before_vcenter_is_asked(site):
    change(site, "vsphere.conf", "MTU=9000", "MTU=none")
    status, step = failed(site, "vsphere.conf")
    assert status == 5 and "line" in step["text"] and "MTU" in step["text"]
    change(site, "vsphere.conf", "MTU=none", "MTU=9000")
    site.path("etc", "vcenter.password").chmod(0o644)
    status, step = failed(site, "vsphere.conf")
    assert status == 5 and "vcenter.password" in step["text"]
    change(site, "slurm.conf", "(?m)^ClusterName=.*$", "ClusterNme=x")
    status, doc, _ = check(site)
    assert status == 5
    assert [s["step"] for s in doc["steps"]] == ["slurm.conf"]
    assert site.calls("Login") == 0


def test_another_user_is_told_who_may(site):
    site.path("etc").chmod(0o755)
    r = site.run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                 "svf", "check", "--standalone")
    assert r.returncode == 5 and "root" in r.stdout
