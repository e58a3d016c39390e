# SPDX-License-Identifier: GPL-2.0-or-later
"""testsuite/matrix/table.py: what ran against which release, as a table."""

import pathlib
import sys

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "testsuite/matrix"))

import table                                                # noqa: E402

XML = """<testsuites><testsuite>
<testcase classname="test_job" name="a"/>
<testcase classname="test_job" name="b"><failure message="x">y</failure></testcase>
<testcase classname="test_launch.Of" name="c"/>
<testcase classname="test_launch" name="d"><skipped/></testcase>
<testcase classname="test_mpi" name="e"><error message="z"/></testcase>
</testsuite></testsuites>"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A run's results, a document, no runs that are kept."""
    (tmp_path / "unit.counts").write_text("1859 0\n")
    (tmp_path / "system.xml").write_text(XML)
    monkeypatch.setattr(table, "RAN", tmp_path / "ran")
    monkeypatch.setattr(table, "DOCUMENT", tmp_path / "compatibility.md")
    table.DOCUMENT.write_text(f"before\n{table.BEGIN}{table.END}after\n")
    return tmp_path


def run(place, version, commit="0123abcd"):
    table.main("record", version, commit, str(place), str(place / "new"))
    table.main("keep", str(place / "new"))
    (place / "new").unlink()
    return table.DOCUMENT.read_text()


def row(text, name):
    return [c.strip() for line in text.splitlines() if line.startswith(f"| {name}")
            for c in line.split("|")[2:-1]]


def test_a_run_is_a_column(place):
    text = run(place, "24.11.5")
    assert text.startswith("before\n") and text.endswith("after\n")
    assert row(text, "tests that passed") == ["24.11.5"]
    assert row(text, "unit tests") == ["1859"]
    assert row(text, "jobs on VMs") == ["2, 1 failed"]      # a skipped one is no result
    assert row(text, "MPI") == ["0, 1 failed"]
    assert row(text, "metrics") == ["-"] and row(text, "chaos") == ["-"]
    assert row(text, "commit") == ["0123abcd"]


def test_a_newer_run_of_a_release_takes_the_place_of_the_older(place):
    run(place, "26.05.3")
    run(place, "24.11.5")
    text = run(place, "26.05.4", "89abcdef")
    assert row(text, "tests that passed") == ["24.11.5", "26.05.4"]
    assert row(text, "commit") == ["0123abcd", "89abcdef"]


def test_a_table_that_was_changed_by_hand_is_found(place):
    text = run(place, "24.11.5")
    table.main("check")
    table.DOCUMENT.write_text(text.replace("1859", "1860"))
    with pytest.raises(SystemExit) as e:
        table.main("check")
    assert "is not that of testsuite/matrix/ran" in str(e.value)


def test_results_without_system_tests_are_no_run(place):
    (place / "system.xml").unlink()
    with pytest.raises(FileNotFoundError):
        run(place, "24.11.5")


def test_each_file_of_the_system_tests_stands_in_one_row():
    names = [n for files in table.features().values() for n in files]
    have = {p.stem.removeprefix("test_") for p in (TOP / "testsuite/system").glob("test_*.py")}
    assert sorted(names) == sorted(have)


def test_the_documents_table_is_that_of_the_runs_that_are_kept():
    table.main("check")
