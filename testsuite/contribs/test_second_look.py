# SPDX-License-Identifier: GPL-2.0-or-later
"""The second look at system tests that failed beside others: what counts as
passed, what doesn't, and that it is said."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from conftest import TOP

CONFTEST = f"""
import sys
sys.path.insert(0, {str(TOP / "testsuite/system")!r})
import shards
def pytest_cmdline_main(config):
    return shards.main(config)
"""
ABOUT = """
import pathlib, pytest
def nth(name):
    f = pathlib.Path(__file__).with_suffix("." + name)
    f.write_text(f.read_text() + "x" if f.exists() else "x")
    return len(f.read_text())
def test_well():
    nth("well")
"""
FIRST_TIME = """
def test_unsteady():
    assert nth("unsteady") > 1, "too slow"
"""
ALWAYS = """
def test_broken():
    assert nth("broken") == 0, "broken"
"""
UNSTEADY = "UNSTEADY: "


class Result:
    def __init__(self, p, xml):
        self.rc, self.out = p.returncode, p.stdout
        self.kinds = [(c.get("name"), sorted(e.tag for e in c if e.tag in (
            "failure", "error", "skipped")))
            for c in ElementTree.parse(xml).iter("testcase")]
        self.unsteady = [ln for ln in p.stdout.splitlines()
                         if ln.startswith(UNSTEADY)]

    def bad(self):
        return sorted(name for name, kinds in self.kinds if kinds)


@pytest.fixture
def run(tmp_path):
    def start(strict="", **files):
        (tmp_path / "conftest.py").write_text(CONFTEST)
        for name, text in files.items():
            (tmp_path / f"test_{name}.py").write_text(ABOUT + text)
        env = {k: v for k, v in os.environ.items() if k != "VS_SHARD"}
        xml = tmp_path / "all.xml"
        p = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
             f"--junitxml={xml}", "."], cwd=tmp_path, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=120,
            env={**env, "VS_JOBS": "2", "VS_STRICT": strict})
        return Result(p, xml)
    start.times = lambda name, test: len(
        (tmp_path / f"test_{name}.{test}").read_text())
    return start


def test_what_passes_twice_alone_counts_as_passed_and_is_named(run):
    r = run(a="""
@pytest.fixture
def end():
    yield
    assert nth("end") > 1, "left behind"
class TestAll:
    @pytest.mark.parametrize("how", ["a/b[1]", "c::d e"])
    def test_each(self, how):
        assert nth(how[0]) > 1, "too\\nslow"
def test_its_end(end):
    pass
""", b="")
    assert r.rc == 0 and r.bad() == []
    assert sorted(n for n, _ in r.kinds) == [
        "test_each[a/b[1]]", "test_each[c::d e]", "test_its_end",
        "test_well", "test_well"], "each counts once"
    ends = "failed beside others and passed twice alone: "
    assert r.out.rstrip().splitlines()[-3:] == r.unsteady == [
        f"{UNSTEADY}test_a.py::test_each[a/b[1]] {ends}AssertionError: too",
        f"{UNSTEADY}test_a.py::test_each[c::d e] {ends}AssertionError: too",
        f'{UNSTEADY}test_a.py::test_its_end {ends}failed on teardown with '
        '"AssertionError: left behind']
    assert r.out.count("___ TestAll.test_each[c::d e] ___") == 1, "as it failed"
    assert run.times("a", "a") == 3 and run.times("a", "well") == 1


def test_what_fails_at_either_look_is_a_failure(run):
    r = run(a=ALWAYS, b=FIRST_TIME,
            c="def test_now_and_then():\n    assert nth('it') == 2\n")
    assert r.rc == 1 and r.bad() == ["test_broken", "test_now_and_then"]
    assert len(r.kinds) == 6 and len(r.unsteady) == 1
    assert run.times("a", "broken") == 2 and run.times("b", "unsteady") == 3
    assert run.times("c", "it") == 3


def test_more_than_three_are_no_unsteadiness(run):
    r = run(a="\n".join(FIRST_TIME.replace("unsteady", f"u{i}")
                        for i in range(3)), b=FIRST_TIME)
    assert (r.rc, len(r.unsteady), len(r.bad())) == (1, 0, 4)
    assert run.times("b", "unsteady") == 1 and len(r.kinds) == 6


def test_with_strict_there_is_no_second_look(run):
    r = run(strict="1", a=FIRST_TIME)
    assert r.rc == 1 and r.bad() == ["test_unsteady"] and not r.unsteady
    assert run.times("a", "unsteady") == 1


def test_a_modules_fixture_is_one_failure_and_what_is_skipped_has_not_passed(
        run):
    r = run(a="""
@pytest.fixture(scope="module", autouse=True)
def cluster():
    assert nth("started") > 1, "not within 20 s"
""" + "".join(f"def test_{i}(): nth('ran')\n" for i in range(5)), b="""
def test_it():
    if nth("it") > 1:
        pytest.skip("not now")
    assert False
""")
    assert r.rc == 1 and r.bad() == ["test_it"] and len(r.kinds) == 8
    assert run.times("a", "ran") == 10 and run.times("a", "started") == 3
    assert len(r.unsteady) == 1 and UNSTEADY + "test_a.py failed" in \
        r.unsteady[0] and "not within 20 s" in r.unsteady[0]


def test_a_file_that_skips_all_at_the_second_look_has_not_passed(run):
    r = run(a="""
@pytest.fixture(scope="module", autouse=True)
def cluster():
    if nth("started") > 1:
        pytest.skip("no cluster")
    assert False, "not within 20 s"
def test_it(): pass
""")
    assert r.rc == 1 and not r.unsteady and r.bad() == ["test_it", "test_well"]


def test_a_module_that_can_not_be_read_and_an_unsteady_test_beside_a_broken_one(
        run):
    r = run(a="import nothing_of_this_name\n", b=FIRST_TIME + ALWAYS)
    assert r.rc == 2 and not r.unsteady
    assert len(r.bad()) == 3 and len(r.kinds) == 4


def test_a_pytest_that_was_killed_is_a_failure_and_nothing_is_looked_at(run):
    r = run(a="""
def test_end():
    if nth("end") == 1:
        import os
        os.kill(os.getpid(), 9)
""", b=FIRST_TIME)
    assert r.rc == 3 and not r.unsteady
    assert run.times("a", "end") == 1 and run.times("b", "unsteady") == 1


def test_check_sh_names_them_above_its_last_line(shell, tmp_path):
    (tmp_path / "results").mkdir()
    line = UNSTEADY + "test_a.py::test_b failed beside others"
    (tmp_path / "results/system.txt").write_text(f"x\n{line}\n{line}\ny\n")
    rc, out, err = shell(f"""
. "{TOP}/testsuite/lib/lanes.sh"
results=$T/results copy= passed=0 failed=0
say_unsteady
rm "$results/system.txt"
say_unsteady
""")
    assert (rc, out, err) == (0, line + "\n", "")
    text = (TOP / "contribs/check.sh").read_text()
    end = text[text.index("\nfinish() {"):]
    assert end.index("\tsay_unsteady\n") < end.index('say "$passed passed')


MEETS = """
import pathlib, time
def test_they_meet():
    here = pathlib.Path(__file__)
    here.with_suffix(".here").touch()
    end = time.monotonic() + 30
    while len(list(here.parent.glob("*.here"))) < 2:
        assert time.monotonic() < end, "the other file does not run"
        time.sleep(0.05)
"""


@pytest.fixture
def contribs(tmp_path):
    """Runs pytest on words, in a folder with the conftest.py of contribs."""
    here = tmp_path / "testsuite/contribs"
    here.mkdir(parents=True)
    for name in ("lib", "system"):
        (here.parent / name).symlink_to(TOP / "testsuite" / name)
    (here / "conftest.py").write_text((TOP / "testsuite/contribs/conftest.py").read_text())

    def run(*words, **files):
        for name, text in files.items():
            (here / f"test_{name}.py").write_text(text)
        env = {k: v for k, v in os.environ.items()
               if k not in ("VS_SHARD", "VS_JOBS", "VS_STRICT", "VS_TOP")}
        p = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words],
            cwd=here, text=True, stdin=subprocess.DEVNULL, capture_output=True,
            timeout=120, env=env, check=False)
        return p.returncode, p.stdout
    run.here = here
    return run


def test_the_files_of_contribs_run_side_by_side_and_are_looked_at_once(contribs):
    rc, out = contribs(".", a=MEETS, b=MEETS + ABOUT + FIRST_TIME)
    assert rc == 1 and UNSTEADY not in out, out
    assert "1 passed" in out and "1 failed, 2 passed" in out, out
    assert (contribs.here / "test_b.unsteady").read_text() == "x"


def test_two_files_that_are_named_run_side_by_side_and_no_other(contribs):
    """As check.sh's quick names them."""
    rc, out = contribs("test_a.py", "test_b.py", a=MEETS, b=MEETS, c=ALWAYS)
    assert rc == 0 and out.count("1 passed") == 2 and "test_c" not in out, out
