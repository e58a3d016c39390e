# SPDX-License-Identifier: GPL-2.0-or-later
"""bench.sh: which parts it knows, what its lines look like, and how the
table of doc/performance.md follows them. Nothing is measured here."""

import re
import subprocess
import sys

import pytest

from conftest import TOP

sys.path[:0] = [str(TOP / "testsuite/bench"), str(TOP / "testsuite/system")]

import bench_lines                      # noqa: E402
import bench_peers                      # noqa: E402
import bench_table                      # noqa: E402
import boundary                         # noqa: E402

BENCH = TOP / "contribs/bench.sh"


def bench(tmp_path, *args):
    return subprocess.run(
        ["bash", BENCH, *args], text=True, capture_output=True, check=False,
        stdin=subprocess.DEVNULL, timeout=60,
        env={"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "HOME": str(tmp_path),
             "VS_CACHE": str(tmp_path / "cache")})


@pytest.fixture(autouse=True)
def stubs(tmp_path):
    (tmp_path / "bin").mkdir(exist_ok=True)


def known(tmp_path):
    err = bench(tmp_path).stderr
    return re.search(r"measured\? (.*) or all", err).group(1).split()


@pytest.mark.parametrize("args, says", [
    ([], "what is to be measured"),
    (["choose"], "unknown part 'choose'"),
    (["start", "--fast"], "unknown part '--fast'"),
    (["-"], "unknown part '-'"),
    (["--release"], "--release needs one of testsuite/matrix/releases"),
    (["--release", "9.9", "start"], "--release 9.9 is no row"),
    (["--vhpc-toolkit"], "--vhpc-toolkit needs the directory of its source"),
    (["--vhpc-toolkit", "/nowhere", "peers"], "vhpc_toolkit/command.py is not there"),
])
def test_what_is_no_part_is_one_line_that_names_the_parts(
        tmp_path, args, says):
    r = bench(tmp_path, *args)
    assert (r.returncode, r.stdout, r.stderr.count("\n")) == (1, "", 1)
    assert says in r.stderr


def test_the_help_tells_of_each_part_and_of_its_time(tmp_path):
    r = bench(tmp_path, "--help")
    assert r.returncode == 0
    for part in known(tmp_path):
        assert re.search(rf"^  {part} .*\(\d+ (min|s)\)$", r.stdout, re.M), part
    assert "  all " in r.stdout


def test_what_a_part_runs_is_in_the_tree(tmp_path):
    """Scripts and programs of testsuite/bench."""
    table = re.search(r'^table="\n(.*?)^"', BENCH.read_text(),
                      re.M | re.S).group(1)
    rows = [ln.split() for ln in table.splitlines()]
    assert [r[0] for r in rows] == known(tmp_path)
    makefile = (TOP / "testsuite/bench/local.mk").read_text()
    programs = [w for line in re.findall(r"^bench_programs \+?= (.*)$",
                                         makefile, re.M) for w in line.split()]
    for _, needs, *runs in rows:
        for what in [needs, *runs]:
            if what.endswith(".py"):
                assert (TOP / "testsuite/bench" / what).exists(), what
            elif what != "-":
                assert f"testsuite/bench/{what}" in programs, what


# ---- the process boundary ----------------------------------------------------

def test_each_folder_of_the_core_has_a_side():
    """boundary.py counts what crosses from one side to the other."""
    common = TOP / "src/common"
    folders = {f"{layer}/{d.name}" for layer in ("engine", "plan", "vcenter")
               for d in (common / layer).iterdir()
               if d.is_dir() and list(d.glob("*.c"))}
    assert folders | {"util"} == set(boundary.SIDES)
    assert (TOP / boundary.API).exists()


def test_a_function_that_the_other_side_calls_is_found(tmp_path):
    """The API belongs to the scheduler's side, and so does what it calls there."""
    for name, text in {
            "engine/jobs/.libs/core_la-jobs.o": "void job(void) {}",
            "engine/run/.libs/core_la-api.o": "void job(void); void seal(void); void put(void);"
                                              "void api(void) { job(); seal(); put(); }",
            "engine/run/.libs/core_la-loop.o": "void job(void); void put(void);"
                                               "void seal(void); void loop(void) { job(); put(); seal(); }",
            "engine/tasks/.libs/core_la-tasks.o": "void put(void) {}",
            "util/.libs/core_la-seal.o": "void seal(void) {}"}.items():
        o = tmp_path / "src/common" / name
        o.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["gcc", "-x", "c", "-c", "-", "-o", str(o)], input=text, text=True,
                       check=True)
    assert dict(boundary.references(tmp_path)) == {
        ("API", "engine/tasks"): {"put"}, ("engine/run", "engine/jobs"): {"job"}}


# ---- the lines ---------------------------------------------------------------

@pytest.fixture
def lines(capsys, monkeypatch):
    monkeypatch.setattr(bench_lines, "failed", [])

    def run(*measurements):
        rc = bench_lines.run(*measurements)
        out = capsys.readouterr()
        return rc, out.out, out.err
    return run


def test_a_figure_is_at_most_its_bar_or_at_least(lines):
    def figures():
        bench_lines.line("a", 1.05, "ratio", 1.05)
        bench_lines.line("b", 4, "ratio", 4, at_least=True)
        bench_lines.remark("quiet")
    assert lines(figures) == (
        0, "a 1.050 ratio 1.05 pass\nb 4 ratio >=4 pass\n# quiet\n", "")


@pytest.mark.parametrize("args, least", [
    (("a", 1.06, "ratio", 1.05), False), (("a", 3.9, "ratio", 4), True)])
def test_a_bar_that_is_missed_fails_the_part(lines, args, least):
    rc, out, _ = lines(lambda: bench_lines.line(*args, at_least=least))
    assert rc == 1 and out.endswith(" fail\n")


def test_the_table_and_the_limits_of_peers(lines, monkeypatch):
    """A peer is compared with slurm-vsphere at the same number, vHPC-toolkit, which
    starts all at once, with slurm-vsphere at all."""
    monkeypatch.setattr(bench_peers, "results", [
        bench_peers.Result("slurm-vsphere", 64, 16, 36.5, 2, 1, 0, 32),
        bench_peers.Result("slurm-vsphere", 64, 64, 12.4, 2, 0.4, 0, 64),
        bench_peers.Result("govc", 64, 16, 35.9, 4, 90, 1, 16),
        bench_peers.Result("vHPC-toolkit", 64, 64, 190, 4, 200, 0, 20, over=False)])
    rc, out, _ = lines(lambda: bench_peers.judge(64), bench_peers.table)
    assert rc == 1
    assert "peers_64_by_16_over_ideal 1.014 ratio 1.03 pass" in out
    assert "peers_64_by_64_over_ideal 1.033 ratio 1.03 fail" in out
    assert "peers_64_by_64_other_calls_per_vm 0.400 calls 3 pass" in out
    assert "peers_64_govc_16_over_ours 0.984 ratio >=1 fail" in out
    assert "peers_64_vhpc_toolkit_over_ours 15.323 ratio >=15 pass" in out
    assert ("# | govc | 64 | 16 | 35.9 s | 48 s | 4.00 | 90.00 | 1 | 16 |\n"
            "# | vHPC-toolkit | 64 | 64 | more than 190.0 s | 12 s |") in out


def test_what_cannot_be_measured_does_not_keep_the_rest_back(lines):
    def broken():
        raise bench_lines.ClusterError("no munged")

    def fine():
        bench_lines.line("a", 1, "s", 2)
    rc, out, err = lines(broken, fine)
    assert (rc, out) == (1, "a 1 s 2 pass\n")
    assert err == "bench.sh: broken could not be measured: no munged\n"


# ---- the table ----------------------------------------------------------------

PAGE = ("before\n\n" + bench_table.BEGIN_RUNS +
        "| `start` | 2025-01-01 | 01234567 | 4 | 9, 9 | 22.05.8 |\n"
        "| `idle` | 2025-01-01 | 01234567 | 4 | 9, 9 | 22.05.8 |\n\nbetween\n\n" +
        bench_table.BEGIN +
        "| `old` | start | 3 s | ≤ 4 | pass | on two cores |\n"
        "| `left` | idle | 1 s | ≤ 4 | pass | |\n\nafter | text\n")

PRINTED = """\
# start: started 2026-11-29, commit 89abcdef-dirty, 2 processors, load 0.30, Slurm 24.11.5
# a remark
old 5.25e+00 s 4 fail
new 20 ratio >=15 pass
bench.sh: x could not be measured
# start: ended, load 1.20
"""


def test_the_tables_take_new_figures_and_keep_remarks_and_the_rest():
    assert bench_table.renewed(PAGE, PRINTED) == (
        "before\n\n" + bench_table.BEGIN_RUNS +
        "| `start` | 2026-11-29 | 89abcdef-dirty | 2 | 0.30, 1.20 | 24.11.5 |\n"
        "| `idle` | 2025-01-01 | 01234567 | 4 | 9, 9 | 22.05.8 |\n\nbetween\n\n" +
        bench_table.BEGIN +
        "| `old` | start | 5.25 s | ≤ 4 | **fail** | on two cores |\n"
        "| `left` | idle | 1 s | ≤ 4 | pass | |\n"
        "| `new` | start | 20 ratio | ≥ 15 | pass | |\n\nafter | text\n")


def test_a_part_that_came_to_no_end_has_no_run():
    cut = PRINTED[:PRINTED.index("# start: ended")]
    assert bench_table.runs(cut) == {}
    assert list(bench_table.runs(PRINTED)) == ["start"]


@pytest.mark.parametrize("text, names", [
    ("a 1.9 s 4 pass", ["a"]), ("a 2.1 s 4 pass", []), ("a 0 calls 0 pass", []),
    ("a 31 ratio >=15 pass", ["a"]), ("a 29 ratio >=15 pass", []),
])
def test_a_bar_twice_as_far_as_its_figure_is_named(text, names):
    assert bench_table.loose(text) == names


def test_bench_sh_prints_the_lines_that_the_tables_read():
    script = BENCH.read_text()
    printed = re.findall(r'say "(# \$1: .*)"', script)
    assert len(printed) == 2
    values = {"$1": "start", "$(date +%F)": "2026-11-29", "$commit": "89abcdef",
              "$(nproc)": "2", "$(load)": "0.30", "${slurm_version#* }": "22.05.8"}
    for line in printed:
        for name, value in values.items():
            line = line.replace(name, value)
        assert bench_table.STARTED.fullmatch(line) or \
            bench_table.ENDED.fullmatch(line), line


def test_the_page_has_the_tables():
    text = (TOP / "doc/performance.md").read_text()
    assert bench_table.renewed(text, "") == text
