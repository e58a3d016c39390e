# SPDX-License-Identifier: GPL-2.0-or-later
"""svf --json: each verb's answer has the form that its installed schema file says, and
no field that the file does not name."""

import json
import os
import pathlib
import re
import warnings

import jsonschema
import pytest

from cluster import Cluster, wait_for
from daemons import TOP
from worlds import foreign, world

E1 = "esx01.example.org"
SCHEMA = next(pathlib.Path(os.environ["VS_ROOT"]).glob(
    "usr/**/slurm-vsphere/schema"))
FILES = {f.stem: json.loads(f.read_text()) for f in SCHEMA.glob("*.json")}
SCREEN = {"top"}        # has no answer in JSON
# Where answers are made, and how a key is written there.
WRITERS = ("src/common/engine/report", "src/common/engine/maintenance", "src/common/engine/control",
           "src/check", "src/svf")
WRITES = re.compile(r'''\b(?:vs_jb_(?:str|int|bool|real|put)|vs_report_(?:str|state)|strings_put)
                    \(\s*\w+(?:->\w+)?,\s*"(\w+)"''', re.X)
INSIDE = {"asked"}      # between svf and slurmctld alone
# A table's columns that have another word than the key of the same thing.
OTHER_WORD = {("jobid", "job"), ("jobid", "id"), ("adapter", "adapters"), ("pfs", "pfs_total"),
              ("pf", "pci"), ("time", "seconds"), ("vfs", "total"), ("wait_time", "wait_time_s"),
              ("provision_time", "provision_time_s"), ("unverified_vm", "vm")}


def make_cluster():
    return Cluster(nodes=4, inventory=world(hosts=2, vfs=2, vms=[
        foreign("theirs", E1)]))


def validator(name):
    base = SCHEMA.as_uri() + "/"
    store = {f"{base}{n}.json": s for n, s in FILES.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return jsonschema.Draft7Validator(FILES[name], resolver=jsonschema.
                                          RefResolver(base + name + ".json",
                                                      FILES[name], store))


def valid(cluster, *argv, codes=(0,)):
    """The answer, which is what the verb's schema says."""
    r = cluster.run("svf", "--json", *argv)
    assert r.returncode in codes, r.stderr
    answer = json.loads(r.stdout)
    wrong = [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:300]}"
             for e in validator(argv[0]).iter_errors(answer)]
    assert not wrong, (argv, wrong, answer)
    assert answer["meta"]["command"].split()[:2] == ["svf", argv[0]]
    return answer


def test_each_verb_has_a_schema_that_is_one(cluster):
    tables = cluster.must("svf", "--tables")
    verbs = {line.split("\t")[1] for line in tables.splitlines()
             if line.startswith("verb\t")}
    assert set(FILES) == (verbs - SCREEN) | {"meta"}
    for schema in FILES.values():
        jsonschema.Draft7Validator.check_schema(schema)


def keys_of(schema):
    """All keys that a schema names."""
    if isinstance(schema, list):
        return set().union(*map(keys_of, schema))
    if not isinstance(schema, dict):
        return set()
    return set(schema.get("properties", ())).union(*map(keys_of, schema.values()))


def sources():
    """(name, text) of each C file, without what is written into the state file."""
    for f in sorted((TOP / "src").rglob("*.c")):
        yield str(f.relative_to(TOP)), f.read_text().split("/* ---- over restarts")[0]


def test_the_schemas_name_each_key_that_is_written_and_no_other():
    named = keys_of(list(FILES.values()))
    written = {key for name, text in sources() if name.startswith(WRITERS)
               for key in WRITES.findall(text)}
    assert len(written) > 150 and written - named == INSIDE
    texts = "".join(text for _, text in sources())
    assert [key for key in sorted(named) if f'"{key}"' not in texts] == []


def test_a_column_and_its_key_have_one_word():
    text = "".join(text for name, text in sources() if name.startswith("src/svf"))
    columns = set(re.findall(r'\.name = "([\w-]+)",(?:[^{}]*?)\.key = (?:of )?"(\w+)"', text))
    assert len(columns) > 40
    assert {(c, k) for c, k in columns if c != k} == OTHER_WORD


def test_a_field_that_the_schema_does_not_name_is_found():
    good = {"meta": {"plugin": {"type": "svf", "name": "slurm-vsphere"},
                     "command": "svf adopt", "version": "1", "schema": 1},
            "cluster_id": "x", "vms": 1}
    v = validator("adopt")
    assert v.is_valid(good)
    for bad in ({**good, "more": 1}, {**good, "vms": "1"},
                {k: good[k] for k in good if k != "meta"},
                {**good, "meta": {**good["meta"], "schema": 2}}):
        assert not v.is_valid(bad), bad


def test_answers_about_jobs_nodes_and_hosts(cluster):
    hog = cluster.sbatch("-N3", script="sleep 600")
    cluster.wait_state(hog, "RUNNING")
    late = cluster.sbatch("-N1", "-C", "sriov-roce")
    wait_for("svf why names VFs", 15,
             lambda: "VF" in cluster.svf("why", str(late))["text"])
    assert valid(cluster, "hosts")["hosts"][0]["pfs"]
    nodes = valid(cluster, "nodes")["nodes"]
    assert hog in {n.get("job") for n in nodes}
    assert {j["state"] for j in valid(cluster, "jobs")["jobs"]} >= {"RUNNING"}
    assert valid(cluster, "why", str(hog))["nodes"]
    assert valid(cluster, "why", str(late))["text"]
    assert valid(cluster, "status")["up"]
    assert valid(cluster, "map")["hosts"]
    assert valid(cluster, "plan", "-N1")["slurm"]["nodes"]
    assert valid(cluster, "jobs", "-t", "PENDING")["jobs"]


@pytest.mark.parametrize("argv", [
    ["reconcile"], ["reconcile", "--confirm"], ["check", "--codes"],
    ["conf"], ["conf", "--keys"], ["adapters"], ["adapters", "--site"],
    ["clone-sources"]], ids=" ".join)
def test_answers_about_the_site(cluster, argv):
    valid(cluster, *argv)


def test_findings(cluster):
    assert "findings" in valid(cluster, "check", codes=(0, 1))


def test_checks_without_slurmctld(cluster):
    steps = valid(cluster, "check", "--standalone", codes=(0, 1))["steps"]
    assert {s["result"] for s in steps} == {"ok"}, steps


def test_a_pause_and_an_archive(cluster, tmp_path):
    assert valid(cluster, "pause", "a", "test")["paused"]["reason"] == "a test"
    try:
        assert valid(cluster, "status")["paused"]["user"]
    finally:
        valid(cluster, "resume")
    archive = str(tmp_path / "support.tar.gz")
    assert valid(cluster, "support", archive)["file"] == archive


def test_answers_to_requests(cluster):
    cluster.wait_job(cluster.sbatch("-N1", "-w", "vm001"), 90)
    valid(cluster, "host", "drain", "--dry-run", E1)
    assert valid(cluster, "host", "drain", E1, "a", "test")["host"] == E1
    state = next(h for h in valid(cluster, "hosts")["hosts"]
                 if h["host"] == E1)
    assert state["reasons"]
    valid(cluster, "host", "resume", E1)
    assert valid(cluster, "vm", "evict", "vm001")["nodes"][0]["node"] == "vm001"
    valid(cluster, "vm", "move", "vm001", "--on", E1, codes=(0, 1))
    valid(cluster, "vm", "rebuild", "vm001", codes=(0, 1))
