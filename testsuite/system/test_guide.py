# SPDX-License-Identifier: GPL-2.0-or-later
"""The documents' commands, run as they stand there: those for vCenter against
govmomi's own simulator, those for the controller and for users on a cluster
whose slurm.conf and vsphere.conf are those of doc/quickstart.md."""

import json
import os
import pathlib
import re
import subprocess

import pytest

import guide
from cluster import Cluster, wait_for
from test_preflight import ROLES
from users import NOBODY, needs_root
from worlds import host, template, world

TOOLS = pathlib.Path(os.environ["VS_SIM"]).parent
# Pages with commands, in the order in which they are run.
VCENTER = ("admin/vcenter", "admin/template")
CONTROLLER = ("quickstart", "operations/maintenance", "operations/monitoring",
              "admin/production", "existing-cluster", "troubleshooting")
USERS = ("user-guide",)
PROBE = ("admin/production",)


# ---- the pages themselves ----------------------------------------------------

@pytest.mark.parametrize("page", guide.PAGES)
def test_what_can_run_here_is_run(page):
    assert guide.not_run(page) == []
    known = {"", "sh", "sh run", "sh run user", "sh run vcenter", "sh run probe",
             "text"}
    odd = {k for k, _ in guide.blocks(page)
           if k not in known and not k.startswith("conf ")}
    assert not odd


def test_each_batch_script_of_a_page_is_bash():
    """testsuite/guests runs those of MPI and containers."""
    scripts = [body for page in guide.PAGES for _, body in guide.blocks(page)
               if body.startswith("#!/bin/bash")]
    assert len(scripts) >= 4
    for body in scripts:
        r = subprocess.run(["bash", "-n"], input=body, text=True, capture_output=True)
        assert r.returncode == 0, body + r.stderr


@pytest.mark.parametrize("page", [p for p in guide.PAGES if p != "../NEWS"])
def test_svf_in_its_text_is_svf_as_it_is(page):
    """Each `svf VERB ...`: the verb, the order and the options are there."""
    svf = next(pathlib.Path(os.environ["VS_ROOT"]).glob("usr/**/bin/svf"))
    for line in guide.inline(page, "svf"):
        words = [w for w in line.split() if w != "-h"]
        r = subprocess.run([svf, words[0], "--help"], text=True,
                           capture_output=True)
        assert r.returncode == 0, line
        known = r.stdout + subprocess.run([svf, "--help"], text=True,
                                          capture_output=True).stdout
        for word in words[1:]:
            if word.startswith("--") or words[0] in ("vm", "host") and \
                    word == words[1]:
                assert re.search(rf"(?<![\w-]){word.split('=')[0]}(?!\w)",
                                 known), line


@pytest.mark.parametrize("page", [p for p in guide.PAGES if p != "../NEWS"])
def test_no_page_names_a_key_of_before(page):
    """But slurm.conf's own."""
    gone = guide.keys_of_before() - {"ClusterName", "CPUs", "PrologTimeout"}
    assert len(gone) > 20
    assert not gone & set(re.findall(r"\b([A-Z]\w+)=", guide.text(page)))


SNIPPETS = [(page, body) for page in guide.PAGES
            for body in guide.snippets(page)]


@pytest.mark.parametrize("page, body", SNIPPETS)
def test_svf_conf_takes_each_snippet(page, body, tmp_path):
    """Lines of vsphere.conf in a text, with what a file needs besides."""
    assert len(SNIPPETS) >= 4
    whole = [ln for ln in guide.conf("quickstart", "vsphere.conf").splitlines()
             if not ln.startswith(("AdapterName", "PartitionName"))]
    if "PartitionName=" not in body:
        body += f"PartitionName=p Adapter={body.split()[0].split('=')[1]} Template=t\n"
    (tmp_path / "vsphere.conf").write_text("\n".join(whole) + "\n" + body)
    svf = next(pathlib.Path(os.environ["VS_ROOT"]).glob("usr/**/bin/svf"))
    r = subprocess.run([svf, "conf", tmp_path / "vsphere.conf"], text=True,
                       capture_output=True)
    assert r.returncode == 0, r.stderr


def test_the_defaults_that_are_argued_are_the_defaults():
    table = guide.text("admin/controller").split("## Defaults that were kept")[1]
    argued = [d for row in re.findall(r"^\| (`.*?) \|", table.split("\n## ")[0], re.M)
              for d in re.findall(r"`(\w+)=(\S+)`", row)]
    assert len(argued) == 9
    assert not [d for d in argued if guide.keys()[d[0]] != d[1]]


def test_no_page_is_read_by_no_test():
    """Each block that a shell can run is of a page that a test runs."""
    ran = {*CONTROLLER, *USERS, *VCENTER, *PROBE}
    assert {(p, k) for p in guide.PAGES for k, _ in guide.blocks(p)
            if k.startswith("sh run")} == {
        *((p, "sh run") for p in CONTROLLER), *((p, "sh run user") for p in USERS),
        *((p, "sh run vcenter") for p in VCENTER),
        *((p, "sh run probe") for p in PROBE)}, ran


def test_readme_shows_columns_that_svf_has():
    """The options and the header of the capture."""
    (shown,) = [b for _, b in guide.blocks("../README", "text") if "$ svf jobs" in b]
    options, header = shown.splitlines()[:2]
    fields = options.split("-O ")[1].split(",")
    assert header.split() == [f.upper() for f in fields]
    svf = next(pathlib.Path(os.environ["VS_ROOT"]).glob("usr/**/bin/svf"))
    known = subprocess.run([svf, "jobs", "--help"], text=True,
                           capture_output=True, check=True).stdout
    assert not [f for f in fields if not re.search(rf"^[ *]+{f}\b", known, re.M)]


# ---- vCenter -----------------------------------------------------------------

@pytest.fixture(scope="module")
def vcenter():
    """govc's environment, at a vCenter on which nothing is prepared."""
    with subprocess.Popen([TOOLS / "bare"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as p:
        try:
            yield {**os.environ, "GOVC_URL": p.stdout.readline().strip(),
                   "GOVC_INSECURE": "1", "GOVC_PERSIST_SESSION": "false",
                   "PATH": f"{TOOLS}:{os.environ['PATH']}"}
        finally:
            p.stdin.close()


@pytest.fixture(scope="module")
def prepared(vcenter):
    out = ""
    for page in VCENTER:
        r = subprocess.run(["bash", "-c", guide.script(page, "sh run vcenter")],
                           env=vcenter, text=True, capture_output=True)
        assert r.returncode == 0, (r.stdout + r.stderr)[-3000:]
        out += r.stdout
    return out


def govc(vcenter, *argv):
    r = subprocess.run([TOOLS / "govc", *argv], env=vcenter, text=True,
                       capture_output=True)
    assert r.returncode == 0, r.stderr[-500:]
    return r.stdout


def test_vcenter_is_prepared_by_the_pages_commands(vcenter, prepared):
    there = govc(vcenter, "find", "/").split()
    for path in ("/DC0/vm/slurm", "/DC0/host/HPC1/Resources/slurm",
                 "/DC0/network/dvs-rdma", "/DC0/network/SRIOV-ROCE-PG"):
        assert path in there
    switch = json.loads(govc(vcenter, "object.collect", "-json",
                             "/DC0/network/dvs-rdma", "config"))
    config = switch[0]["val"]
    assert config["maxMtu"] == 9000
    hosts = json.loads(govc(vcenter, "object.collect", "-json",
                            "/DC0/network/dvs-rdma", "summary"))[0]["val"]
    assert len(hosts["hostMember"]) == 3
    cluster = json.loads(govc(vcenter, "object.collect", "-json",
                              "/DC0/host/HPC1", "configurationEx"))[0]["val"]
    assert cluster["drsConfig"]["defaultVmBehavior"] == "manual"
    assert cluster["dasConfig"]["enabled"] is False


PLACES = {      # of the man page's headings: where the page gives the role
    "The Folder, propagating": ("/DC0/vm/slurm", True),
    "Each ResourcePool (or the cluster, if none is given)":
        ("/DC0/host/HPC1/Resources/slurm", False),
    "Each Template": ("/DC0/vm/templates", True),
    "The Datastore": ("/DC0/datastore/vsanDatastore", False),
    "Each Network, and those of the templates' own NICs":
        ("/DC0/network/SRIOV-ROCE-PG", False)}


def test_the_account_has_what_the_man_page_says_and_no_more(vcenter, prepared):
    """slurm-vsphere(7) lists the privileges, and test_preflight.py has a cluster
    run with exactly these."""
    assert set(ROLES) >= set(PLACES)
    for heading, (path, propagate) in PLACES.items():
        listed = json.loads(govc(vcenter, "permissions.ls", "-json",
                                 "-a=false", path))
        (perm,) = [p for p in listed["Permissions"]
                   if p["principal"] == "slurm@vsphere.local"]
        assert perm["propagate"] is propagate, path
        (role,) = [r for r in listed["Roles"] if r["roleId"] == perm["roleId"]]
        privileges = {p for p in role["privilege"]
                      if not p.startswith("System.")}
        assert privileges == set(ROLES[heading]), heading


# ---- Slurm -------------------------------------------------------------------

def pairs(text):
    return dict(line.split("=", 1) for line in text.splitlines()
                if "=" in line and not line.startswith(
                    ("#", "NodeName", "PartitionName")))


def vsphere_conf(c, text):
    """The page's file, with what is this cluster's own."""
    own = {"VCenter": c.sim_url, "VCenterCAFile": c.sim_ca,
           "VCenterPasswordFile": c.path("etc", "vcenter.password")}
    for key, value in own.items():
        text, n = re.subn(rf"(?m)^{key}=.*$", f"{key}={value}", text)
        assert n == 1, key
    return f"SvfPort={c.control_port}\n{text}"


class Site(Cluster):
    """Slurm as the page has it; ports, paths and what shortens waits apart."""

    def vsphere_conf(self):
        return vsphere_conf(self, guide.conf("quickstart", "vsphere.conf"))


def make_cluster():
    hosts = [host(f"esx{i:02d}.example.org") for i in (1, 2, 3)]
    site = world(hosts=hosts, templates=[template(), template("tiny")])
    site["datacenters"][0]["folders"].append("probe")
    site["datacenters"][0]["datastores"][0]["name"] = "vsanDatastore"
    c = Site(inventory=site, nodes=12)
    text = guide.conf("quickstart", "slurm.conf")
    c.slurm = pairs(text)
    for key, beat in (("SchedulerParameters", "bf_interval=2"),
                      ("SlurmctldParameters", Cluster.slurmctld_parameters)):
        c.slurm[key] += "," + beat
    lines = {ln.split("=")[0]: ln for ln in text.splitlines()}
    node = re.fullmatch(r"NodeName=vm\[001-012\] CPUs=2 RealMemory=1024 "
                        r"Features=sriov-roce State=CLOUD", lines["NodeName"])
    assert node, lines["NodeName"]
    c.partition_lines = [lines["PartitionName"] + " Default=YES"]
    return c


def out_of(c, page, kind):
    return c.path("out", f"{page} {kind}".replace("/", "-").replace(" ", "-"))


def run(c, page, kind, uid=0):
    out = out_of(c, page, kind)
    out.mkdir(exist_ok=True)
    out.chmod(0o777)
    argv = ["bash", "-c", guide.script(page, kind)]
    if uid:
        argv = ["setpriv", f"--reuid={uid}", f"--regid={uid}",
                "--clear-groups", *argv]
    try:
        r = c.run(*argv, cwd=out, timeout=120)
    except subprocess.TimeoutExpired as e:
        raise AssertionError((e.stdout or b"").decode()[-4000:]) from e
    assert r.returncode == 0, (r.stdout + r.stderr)[-4000:]
    return r.stdout


@pytest.fixture(scope="module")
def told(cluster):
    """What the controller's blocks print, of each page."""
    return {page: run(cluster, page, "sh run") for page in CONTROLLER}


def test_the_controllers_commands_lead_to_the_first_job(cluster, told):
    assert "JobState=COMPLETED" in told["quickstart"]
    assert "adapter=sriov-roce" in told["quickstart"]
    assert cluster.counters()["powerOnFullPF"] == 0


def test_an_observer_sees_the_plan(told):
    (block,) = [b for b in told["quickstart"].split("== block")
                if "nothing is changed in vCenter\n" in b and " clone  " in b]
    rows = re.findall(r"^vm00[12] +sriov-roce +clone +esx0\d\S+ +0000:3b:00.0",
                      block, re.M)
    assert len(rows) == 2, block


def test_the_second_job_took_the_firsts_vms(cluster, told):
    assert cluster.counters()["calls"]["CloneVM_Task"] == 2


def test_nothing_is_left_behind_of_the_pages_drain(cluster, told):
    assert all(h["state"] == "UP" and not h.get("reasons")
               for h in cluster.svf("hosts")["hosts"])


def test_a_pause_is_shown_and_ends(told):
    assert "going back to cons_tres" in told["existing-cluster"]


def test_where_to_look_and_what_to_order(cluster, told):
    assert "takes VMs again" in told["troubleshooting"]
    wait_for("none is drained any more", 30, lambda: not [
        n for n, s in cluster.node_states().items() if "DRAIN" in s])


def test_the_probes_commands_leave_nothing_behind(cluster, told):
    assert told["admin/production"]
    run(cluster, "admin/production", "sh run probe")
    recording = out_of(cluster, "admin/production", "sh run probe") / "recording"
    assert (recording / "index.jsonl").stat().st_size
    assert not [f for f in recording.iterdir() if "tiny" in f.read_text()]
    assert not [v for v in cluster.sim("state")["vms"]
                if v["folder"].endswith("/probe")]


@needs_root
def test_the_users_commands(cluster, told):
    out = run(cluster, "user-guide", "sh run user", NOBODY)
    assert re.search(r"^sriov-roce mlx5_\d mlx5_\d:1$", out, re.M), out


# ---- troubleshooting.md -------------------------------------------------------------

def quotes():
    rows = re.findall(r"^\| ([`*].*?) \|", guide.text("troubleshooting"), re.M)
    return [q for row in rows for q in re.findall(r"`([^`]+)`", row)]


def test_each_quoted_message_is_one_of_the_sources():
    words = guide.our_words()
    assert len(quotes()) > 40
    unknown = [(q, p) for q in quotes() for p in guide.pieces(q)
               if p not in words]
    assert not unknown
    assert not [q for q in quotes() if not guide.pieces(q)]


# ---- from-vhpc-toolkit.md ---------------------------------------------------------

def test_each_row_of_the_toolkits_table_has_its_test():
    """vhpc_toolkit.txt names a test for each row; keys are vsphere.conf's."""
    rows = dict(re.findall(r"^\| (`.*?) \| (.*?) \|$",
                           guide.text("from-vhpc-toolkit"), re.M))
    assert len(rows) > 35
    here, unit = guide.TOP / "testsuite/system", guide.TOP / "testsuite/unit"
    tests = dict(line.split(" | ") for line in (
        here / "vhpc_toolkit.txt").read_text().splitlines()
        if not line.startswith("#"))
    assert set(tests) == set(rows)
    keys = set(guide.keys())
    for theirs, ours in rows.items():
        test = tests[theirs]
        if test == "-":
            assert ours.startswith("No: "), theirs
            continue
        file, _, name = test.partition("::")
        text = (unit / file if file.endswith(".c") else here / file).read_text()
        assert not name or f"def {name}(" in text, test
        named = set(re.findall(r"`([A-Z]\w+)=", ours))
        assert named <= keys, (theirs, named - keys)
