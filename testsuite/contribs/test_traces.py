# SPDX-License-Identifier: GPL-2.0-or-later
"""golden/traces.py names the first difference of two builds' traces."""

import shutil
import subprocess

import pytest

from conftest import TOP

OLD = {1: "0 clone name=vm1 host=host-1\n100 power_on vm=vm-1\n", 2: "0 destroy vm=vm-1\n",
       10: "0 slurm: schedule\n"}
# Stands in for the unit test: traces of two worlds.
PROGRAM = """#!/bin/sh
[ -d "$VS_TRACE" ] || exit 1
echo "0 destroy vm=$VM" >"$VS_TRACE/1"
echo "100 schedule" >"$VS_TRACE/2"
printf '1 1 00\\n2 1 01\\n' >"$VS_TRACE/digests"
"""


@pytest.fixture
def traces(tmp_path):
    """Runs a copy of traces.py in tmp_path."""
    shutil.copy(TOP / "testsuite/golden/traces.py", tmp_path)
    program = tmp_path / "build/testsuite/unit/test_engine_model"
    program.parent.mkdir(parents=True)
    program.write_text(PROGRAM)
    program.chmod(0o755)

    def run(*words):
        done = subprocess.run(
            ["/usr/bin/python3", str(tmp_path / "traces.py"), *words], cwd=tmp_path,
            text=True, capture_output=True, check=False, timeout=60)
        return done.returncode, done.stdout + done.stderr
    return run


def written(directory, worlds):
    directory.mkdir()
    for seed, text in worlds.items():
        (directory / str(seed)).write_text(text)
    (directory / "digests").write_text(str(worlds))
    return directory.name


@pytest.mark.parametrize("change, says", [
    ({}, None),
    ({1: "0 clone name=vm1 host=host-2\n100 power_on vm=vm-1\n"},
     "world 1, line 1:\n- 0 clone name=vm1 host=host-1\n+ 0 clone name=vm1 host=host-2\n"
     "differs: host=host-1 -> host=host-2\n1 of 3 worlds differ\n"),
    ({1: "0 clone name=vm1 uuid=u host=host-1\n100 power_on vm=vm-1\n"},
     "world 1, line 1:\n- 0 clone name=vm1 host=host-1\n"
     "+ 0 clone name=vm1 uuid=u host=host-1\n"
     "differs: (none) -> uuid=u\n1 of 3 worlds differ\n"),
    ({1: "0 clone name=vm1 host=host-1\n"},
     "world 1, line 2:\n- 100 power_on vm=vm-1\n+ (no more calls)\n1 of 3 worlds differ\n"),
    ({2: "100 destroy vm=vm-1\n", 10: ""},
     "world 2, line 1:\n- 0 destroy vm=vm-1\n+ 100 destroy vm=vm-1\n"
     "differs: 0 -> 100\n2 of 3 worlds differ\n"),
    ({10: None}, "world 10, line 1:\n- 0 slurm: schedule\n+ (no more calls)\n"
     "1 of 3 worlds differ\n"),
    ({11: "0 slurm: schedule\n"}, "world 11, line 1:\n- (no more calls)\n"
     "+ 0 slurm: schedule\n1 of 4 worlds differ\n"),
])
def test_the_first_difference_is_named(traces, tmp_path, change, says):
    old = written(tmp_path / "old", OLD)
    new = written(tmp_path / "new", {k: v for k, v in {**OLD, **change}.items()
                                     if v is not None})
    assert traces("compare", old, new) == \
        ((1, says) if says else (0, "3 worlds, no difference\n"))


def test_directories_without_traces_are_a_failure(traces, tmp_path):
    (tmp_path / "empty").mkdir()
    rc, out = traces("compare", "empty", "empty")
    assert rc == 1 and "empty holds no traces" in out, out


def test_a_build_makes_prints_and_keeps(traces, tmp_path, monkeypatch):
    monkeypatch.setenv("VM", "vm-7")
    assert traces("make", "build", "one") == (0, "")
    monkeypatch.setenv("VM", "vm-8")
    assert traces("make", "build", "two") == (0, "")
    assert "differs: vm=vm-7 -> vm=vm-8\n" in traces("compare", "one", "two")[1]
    assert traces("print", "build", "1") == (0, "0 destroy vm=vm-8\n")
    assert traces("print", "build", "3") == (1, "there is no world 3\n")
    assert traces("keep", "build") == (0, "")
    assert (tmp_path / "model_traces.txt").read_text().endswith("1 1 00\n2 1 01\n")


def test_a_build_that_is_not_there_or_fails_is_a_failure(traces, tmp_path):
    assert traces("print", "none", "1")[0] == 1
    (tmp_path / "build/testsuite/unit/test_engine_model").write_text(
        "#!/bin/sh\necho BROKEN\nexit 1\n")
    rc, out = traces("keep", "build")
    assert rc == 1 and "failed:\nBROKEN" in out, out
    assert not (tmp_path / "model_traces.txt").exists()
