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


def test_a_recording_without_hosts_has_shown_nothing(tmp_path, north):
    for f in north.iterdir():
        if "HostSystem" not in f.name:
            (tmp_path / f.name).write_text(f.read_text())
    assert "no host or no VM is recorded: nothing was shown" in \
        replay.compare(str(PROGRAM), tmp_path)[1]
