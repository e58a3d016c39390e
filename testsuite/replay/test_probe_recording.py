# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording that svf-probe makes of the simulator goes through the replay, by the
means of check.sh, and the comparison notices what is wrong with it."""

import json
import os
import pathlib
import shutil
import subprocess

import pytest

from test_probe import Probe
import replay

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ["VS_BUILD"]) / "testsuite/replay/replay"


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """With four VMs that svf-probe makes, and removes before its end."""
    work = tmp_path_factory.mktemp("probe")
    p = Probe(work)
    try:
        r = p.run("--only", "version,rights,parallel,shortage,session", "--record",
                  work / "recorded")
        assert r.returncode == 0, r.stderr
    finally:
        p.sim.stop()
    return work / "recorded"


@pytest.fixture
def copied(tmp_path, recording):
    """copied(CHANGE): what differs when CHANGE(rows, directory) has been made."""
    def run(change):
        copy = tmp_path / "copy"
        shutil.copytree(recording, copy)
        change([json.loads(x) for x in open(copy / "index.jsonl")], copy)
        return replay.compare(str(PROGRAM), copy)[1]
    return run


def compared(program, recording):
    return replay.compare(str(program), recording)


def test_a_recording_of_svf_probe_is_replayed_as_one_of_govc(recording):
    said, wrong = compared(PROGRAM, recording)
    assert wrong == []
    end, then = said.split("; at answer ")
    assert end.startswith("2 hosts with 2 PFs, 2 VMs with 3 NICs, 1 templates, ")
    assert ": 2 hosts with 2 PFs, 6 VMs with " in then
    assert "clone specs of 1 of 1 templates and VMs (1 with a NIC)" in end
    assert "objects of vCenter's answers" in end and "rights on 0" not in said


def test_check_sh_finds_both_shapes(tmp_path, recording):
    shutil.copytree(recording, tmp_path / "all/probe")
    (tmp_path / "all/govc").mkdir()
    (tmp_path / "all/govc/0001-ServiceInstance-ServiceInstance.xml").touch()
    (tmp_path / "all/other").mkdir()
    found = subprocess.run(
        ["bash", "-c", '. "$1"; recordings "$2"; echo --; served "$2"/*', "-",
         TOP / "testsuite/check/replay.sh", tmp_path / "all"], text=True, check=True,
        capture_output=True).stdout
    assert found == (f"{tmp_path}/all/govc\n{tmp_path}/all/probe\n--\n"
                     f"{tmp_path}/all/govc\n")


@pytest.mark.parametrize("words, said", [
    ("""'/"host"/s/"most":63/"most":62/'""", ".pfs[0].most: 62, expected 63"),
    ("""'/^{"vm"/s/"owner":"value-[0-9]*"/"owner":"x"/'""", ".owner: 'x', expected '"),
    ("""'/^{"clone"/s/"switchUuid":/"portKey":"1",&/'""", ".whole: portKey is sent"),
    ("""'/^{"rights"/s/"excess":.*/"excess":[]}/'""", ".excess ('', '', 'jobs'): []"),
    ("""'/^{"content"/s/"version":"8/"version":"9/'""", "content.version: '9."),
    ("""'/^{"gone"/d'""", ": not in the recording")])
def test_what_comes_out_wrong_is_named(tmp_path, recording, words, said):
    script = tmp_path / "program"
    script.write_text(f"#!/bin/bash\nset -o pipefail\n"
                      f"'{PROGRAM}' \"$@\" | sed {words}\n")
    script.chmod(0o755)
    assert any(said in w for w in compared(script, recording)[1])


def limited(world, _cluster):
    """An account that lacks some of what it needs, and has too much on the pool."""
    user = "slurm@vsphere.local"
    world["roles"] = {"vms": ["VirtualMachine.Config.*"],
                      "pool": ["Host.Config.Maintenance"], "net": ["Network.Assign"]}
    world["permissions"] = [
        {"user": user, "role": "ReadOnly"},
        {"user": user, "entity": "DC0/vm/probe", "role": "vms"},
        {"user": user, "entity": "DC0/host/HPC1/Resources/slurm", "role": "pool"},
        {"user": user, "entity": "DC0/network/ROCE-PG", "role": "net"}]


def test_rights_that_an_account_lacks_are_replayed(tmp_path):
    p = Probe(tmp_path, limited)
    try:
        r = p.run("--read-only", "--only", "rights", "--record", tmp_path / "rec")
        assert r.returncode == 0, r.stderr
    finally:
        p.sim.stop()
    assert compared(PROGRAM, tmp_path / "rec")[1] == []
    one = next(iter(replay.delivered(PROGRAM, tmp_path / "rec")["rights"].values()))
    lacks = {}
    for x in one["lacks"]:
        lacks.setdefault((x["key"], x["use"]), []).extend(x["privs"].split(", "))
    assert lacks["Template", "jobs"] == [
        "VirtualMachine.Provisioning.DeployTemplate",
        "Network.Assign on the network of its own NIC"]
    assert "VirtualMachine.Interact.PowerOn" in lacks["Folder", "jobs"]
    assert "VirtualMachine.Config.CPUCount" not in lacks["Folder", "jobs"]
    assert [(x["key"], x["privs"]) for x in one["excess"]] == [
        ("ResourcePool", "Host.Config.Maintenance")]
    script = tmp_path / "program"
    script.write_text(f"#!/bin/bash\n'{PROGRAM}' \"$@\" |"
                      " sed 's/Network.Assign on the network[^\"]*//'\n")
    script.chmod(0o755)
    assert any(".lacks ('Template', " in w
               for w in compared(script, tmp_path / "rec")[1])


def of(rows, method):
    return [r for r in rows if r["path"].endswith("/" + method)]


def rewrite(directory, row, change):
    file = directory / row["file"]
    answer = json.loads(file.read_text())
    change(answer)
    file.write_text(json.dumps(answer))


def test_a_recording_without_rights_has_shown_none(copied):
    def change(rows, directory):
        for r in of(rows, "HasUserPrivilegeOnEntities"):
            (directory / r["file"]).unlink()
    assert "no right is recorded: nothing was shown" in copied(change)


def test_a_recording_without_a_template_has_shown_no_clone(copied):
    def change(rows, directory):
        for r in of(rows, "RetrievePropertiesEx"):
            if "config.firmware" in (directory / r["request"]).read_text():
                (directory / r["file"]).unlink()
    assert "no template or VM with a NIC is recorded: no clone was shown" in \
        copied(change)


def test_an_answer_about_one_object_less_is_no_answer(copied):
    """The product takes such an answer for none, and a replay must say so."""
    def change(rows, directory):
        for r in of(rows, "HasUserPrivilegeOnEntities"):
            rewrite(directory, r, lambda answer: answer.pop())
    said = copied(change)
    assert said and all(s.endswith("the product makes nothing of the answer")
                        for s in said)


def test_a_recording_that_ends_before_the_inventory_is_refused(copied):
    def change(rows, directory):
        lines = [json.dumps(r) for r in rows[:of(rows, "CreateFilter")[0]["number"]]]
        (directory / "index.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(replay.convert.Unknown, match="first contact ended before"):
        copied(change)


def test_the_part_of_check_sh_prints_what_it_compared(recording):
    r = subprocess.run(["/usr/bin/python3", "-B", "-W", "ignore",
                        TOP / "testsuite/replay/replay.py", PROGRAM, recording],
                       text=True, capture_output=True)
    assert r.returncode == 0, r.stdout + r.stderr
    assert r.stdout.startswith("1..1\nok 1 - recorded: 2 hosts with 2 PFs, ")
