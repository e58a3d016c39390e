# SPDX-License-Identifier: GPL-2.0-or-later
"""The comparison notices what a decoder could get wrong: the real program's output
is changed on its way."""

import os
import pathlib

import pytest

import replay
import sample

PROGRAM = pathlib.Path(os.environ["VS_BUILD"]) / "testsuite/replay/replay"


@pytest.fixture(scope="module")
def north(tmp_path_factory):
    return sample.write(tmp_path_factory.mktemp("recordings") / "samples")[0]


@pytest.fixture
def wrong(tmp_path, north):
    """wrong(FILTER): what differs when the output goes through a shell filter."""
    def run(words):
        script = tmp_path / "program"
        script.write_text(f"#!/bin/bash\nset -o pipefail\n'{PROGRAM}' \"$@\" | {words}\n")
        script.chmod(0o755)
        return replay.compare(str(script), north)[1]
    return run


def test_what_comes_out_unchanged_is_right(wrong):
    assert wrong("cat") == []


def test_a_number_that_differs_is_named_with_its_place(wrong):
    assert wrong("""sed '/"host-32"/s/"most":16/"most":15/g'""") == [
        "host host-32.pfs[0].most: 15, expected 16",
        "host host-32.pfs[1].most: 15, expected 16"]


def test_a_lost_field_and_a_lost_object_are_named(wrong):
    assert wrong("""sed '/"vm":"vm-42"/s/"power":"poweredOn",//' |
                 grep -v '"vm":"vm-43"'""") == [
        "vm vm-42.power: 'not delivered', expected 'poweredOn'",
        "vm vm-43: not delivered"]


def test_a_list_that_is_shorter_and_an_object_that_is_not_there_are_named(wrong):
    said = wrong("""sed 's/"management":\\["dvportgroup-22"\\]/"management":[]/;
                 s/"vm":"vm-45"/"vm":"vm-99"/'""")
    assert "host host-31.management: [], expected ['dvportgroup-22']" in said
    assert "vm vm-99: not in the recording" in said
    assert "vm vm-45: not delivered" in said


def test_a_figure_out_of_its_bounds_is_named(wrong):
    said = wrong("""sed 's/"memory_mb":[0-9]*,/"memory_mb":999999,/'""")
    assert any(s.startswith("host host-31.memory_mb: 999999, expected ") for s in said)


def test_true_is_not_one():
    assert replay.differences("x", True, 1) == ["x: 1, expected True"]
    assert replay.differences("x", 0, False) == ["x: False, expected 0"]


def test_a_document_that_is_refused_ends_the_replay(wrong):
    with pytest.raises(RuntimeError, match="the decoder refuses it"):
        wrong('if [ "$1" ]; then cat; else false; fi')


def test_a_clone_that_keeps_the_templates_port_is_named(wrong):
    said = wrong("""sed '/^{"clone":"vm-41"/s/"switchUuid":/"portKey":"165",&/g'""")
    assert "clone vm-41.whole: portKey is sent" in said
    assert "clone vm-41.plain: portKey is sent" in said
    assert "clone vm-41.instant: portKey is sent" in said
    assert any(s.startswith("clone vm-41.whole: [{") for s in said)


def test_a_device_key_that_the_recording_has_not_is_named(wrong):
    said = wrong("""sed '/^{"clone":"vm-43"/s/"key":4001/"key":4009/g'""")
    assert [s.split(":")[0] for s in said] == ["clone vm-43.reconfigure",
                                               "clone vm-43.address"]
    said = wrong("""sed '/^{"clone":"vm-43"/s/"diskId":2000/"diskId":2005/g'""")
    assert said == ["clone vm-43.whole: disks [2005], expected [2000]",
                    "clone vm-43.plain: disks [2005], expected [2000]"]


def test_a_clone_that_is_not_specified_is_named(wrong):
    assert wrong("""grep -v '^{"clone":"vm-41"'""") == ["clone vm-41: no spec"]


def test_a_right_that_is_lost_or_too_many_is_named(wrong):
    said = wrong("""sed '/^{"rights"/s/VirtualMachine.Config.CPUCount, //'""")
    assert len(said) == 1 and said[0].startswith(
        "rights group-v4.lacks ('Folder', 'group-v4', 'jobs'): [")
    said = wrong("""sed '/^{"rights"/s/"excess":.*/"excess":[]}/'""")
    assert said and all(s.startswith("rights group-v4.excess (") for s in said)


def test_a_right_of_which_the_product_says_nothing_is_named(wrong):
    assert wrong("""sed '/^{"rights"/s/"known":true/"known":false/'""") == [
        "rights group-v4: the product makes nothing of the answer"]


def test_an_id_of_the_content_that_is_lost_is_named(wrong):
    assert wrong("""sed 's/"authorizationManager":"AuthorizationManager"//
                 s/,}$/}/'""") == [
        "content.authorizationManager: 'not delivered', expected "
        "'AuthorizationManager'"]


def without(north, directory, kind):
    for f in north.iterdir():
        if kind not in f.name:
            (directory / f.name).write_text(f.read_text())
    return replay.compare(str(PROGRAM), directory)[1]


def test_a_recording_without_roles_has_shown_no_right(tmp_path, north):
    assert "no right is recorded: nothing was shown" in \
        without(north, tmp_path, "AuthorizationManager")


def test_a_recording_without_vms_has_shown_no_clone(tmp_path, north):
    assert "no template or VM with a NIC is recorded: no clone was shown" in \
        without(north, tmp_path, "VirtualMachine-")


def test_a_recording_without_hosts_has_shown_nothing(tmp_path, north):
    assert "no host or no VM is recorded: nothing was shown" in \
        without(north, tmp_path, "HostSystem")
