# SPDX-License-Identifier: GPL-2.0-or-later
"""check.sh's quick: which tests a changed file asks for."""

import fnmatch
import pathlib

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
QUICK = '. "$TOP/testsuite/check/quick.sh"\nVS_TOP=$TOP\n'
SORT = """
patterns=() files=() changed=() others=()
quick_sort <<<"$FILES"
say "${patterns[*]}|${files[*]}|${changed[*]}|${others[*]}"
"""


def rows():
    for line in (TOP / "testsuite/check/quick.table").read_text().splitlines():
        if not line.startswith("#"):
            yield line.split(": ")


def names(folder, end):
    return [p.name[5:-len(end)] for p in (TOP / "testsuite" / folder).glob(f"test_*{end}")]


def test_each_row_names_what_exists():
    units, system = names("unit", ".c"), names("system", ".py")
    for folder, patterns, files in rows():
        assert (TOP / folder).is_dir(), folder
        for pattern in patterns.split():
            assert fnmatch.filter(units, pattern), (folder, pattern)
        assert len(files.split()) == 2 and set(files.split()) <= set(system), folder


def test_each_unit_program_and_each_folder_has_a_row():
    units = names("unit", ".c")
    reached = {u for _, patterns, _ in rows() for p in patterns.split()
               for u in fnmatch.filter(units, p)}
    assert reached == set(units)
    folders = [folder for folder, _, _ in rows()]
    for source in (TOP / "src").rglob("*.c"):
        path = str(source.relative_to(TOP))
        assert [f for f in folders if path.startswith(f + "/")], path


@pytest.mark.parametrize("changed, asked", [
    ("src/common/engine/forecast/start_time.c",
     "engine_forecast engine_pending_text engine_plan job_start_time gains timeline"
     "|test_timeline.py test_waiting.py||"),
    ("src/common/engine/new_module/a.c", "engine*|test_job.py test_outage.py||"),
    ("src/plugins/prep/vsphere/prep_vsphere.c",
     "prep device port|test_adapters.py test_launch.py||"),
    ("testsuite/unit/test_conf.c", "conf|||"),
    ("testsuite/system/test_top.py", "||test_top.py|"),
    ("testsuite/contribs/test_man.py", "|||contribs test_man.py"),
    ("contribs/guest/slurm-vsphere-guest", "|||guest test_guest.py"),
    ("doc/install.md", "|||"),
])
def test_a_changed_file_asks_for_its_modules_tests(shell, changed, asked):
    rc, out, err = shell(QUICK + f"FILES={changed}\n" + SORT, TOP=str(TOP))
    assert rc == 0 and out.strip() == asked, (out, err)


def test_what_git_says_has_changed_is_what_is_looked_at(shell, tmp_path):
    git = "git -c user.name=a -c user.email=a@example.org -C $T/repo"
    rc, out, err = shell(QUICK + f"""
mkdir $T/repo; {git} init -q; VS_TOP=$T/repo upgrade_from=
for f in a b; do echo 1 >$T/repo/$f; {git} add $f; {git} commit -q -m $f; done
say "clean: $(quick_changed)"
echo 2 >$T/repo/a; echo 3 >$T/repo/c
say "dirty: $(quick_changed | tr '\\n' ' ')"
upgrade_from=none; quick_changed""", TOP=str(TOP))
    assert out.splitlines()[:2] == ["clean: b", "dirty: a c "], (out, err)
    assert rc and "git knows no commit none" in err
