# SPDX-License-Identifier: GPL-2.0-or-later
"""check.sh runs what exists and says so: a small project with planted tests,
built by the real autotools, below homes that make can't build in."""

import os
import pathlib
import shutil
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
CONFIGURE = """AC_INIT([planted], [1])
AC_CONFIG_AUX_DIR([auxdir])
AC_CONFIG_MACRO_DIRS([m4])
AM_INIT_AUTOMAKE([1.16 foreign subdir-objects])
LT_INIT([disable-static])
AC_PROG_CC
AC_ARG_WITH([slurm-source], [AS_HELP_STRING([--with-slurm-source=DIR], [none])])
AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [none])])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
"""
MAKEFILE = """ACLOCAL_AMFLAGS = -I m4
lib_LTLIBRARIES = libplanted.la
libplanted_la_SOURCES = planted.c
check_PROGRAMS = {programs}
LDADD = libplanted.la
TESTS = $(check_PROGRAMS)
check-programs: $(check_PROGRAMS)
list-tests:
	@for t in $(TESTS) {more}; do echo $$t; done
benches:
.PHONY: check-programs list-tests benches
"""
PROGRAMS = {
    "good": 'puts("1..1\\nok 1 - it is fine");',
    "bad": 'puts("1..1\\nnot ok 1 - it is not"); return 1;',
    "crash": 'puts("1..1"); fflush(stdout); abort();',
    "short": 'puts("1..3\\nok 1 - the first of three");',
}


def plant(tree, programs, more=""):
    """A project with these programs; more: tests that nobody can build."""
    shutil.copytree(TOP / "contribs", tree / "contribs")
    for d in ("m4", "src", "testsuite/unit"):
        (tree / d).mkdir(parents=True)
    shutil.copy(TOP / "testsuite/unit/run.sh", tree / "testsuite/unit")
    (tree / "configure.ac").write_text(CONFIGURE)
    (tree / "planted.c").write_text("int planted;\n")
    (tree / "Makefile.am").write_text(MAKEFILE.format(
        programs=" ".join(f"testsuite/unit/test_{p}" for p in programs),
        more=more))
    for p in programs:
        (tree / f"testsuite/unit/test_{p}.c").write_text(
            "#include <stdio.h>\n#include <stdlib.h>\nextern int planted;\n"
            f"int main(void)\n{{\n\tif (planted)\n\t\treturn 9;\n\t{PROGRAMS[p]}\n"
            "\treturn 0;\n}\n")


def cache_of(tree, env):
    out = subprocess.run(["bash", "-c", '. "$1"; echo "$VS_CACHE"', "x",
                          str(tree / "contribs/lib.sh")], env=env, text=True,
                         capture_output=True, check=True).stdout
    return pathlib.Path(out.strip())


@pytest.fixture
def check(tmp_path):
    """check(tree, home, part...): exit status and output; caches go again."""
    made = set()

    def run(tree, home, *words, cache=None):
        env = {k: v for k, v in os.environ.items()
               if k not in ("VS_CACHE", "XDG_CACHE_HOME", "VS_BUILD", "VS_RUN")}
        env["HOME"] = str(home)
        if cache:
            env["VS_CACHE"] = str(cache)
        source = env.pop("VS_SLURM_SRC")
        at = cache_of(tree, env)
        made.add(at)
        at.mkdir(parents=True, exist_ok=True)
        here = at / os.path.basename(source)
        if not here.exists():
            here.symlink_to(source)
        r = subprocess.run(["bash", str(tree / "contribs/check.sh"), *words],
                           env=env, text=True, check=False, timeout=300,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return r.returncode, r.stdout
    yield run
    for at in made:
        shutil.rmtree(at, ignore_errors=True)


def homes(tmp_path):
    """A home with a dot and a blank, behind a link that has them too."""
    real = tmp_path / "ho.me of two"
    real.mkdir()
    link = tmp_path / "a li.nk"
    link.symlink_to(real)
    return link


def test_three_programs_of_which_one_passes(check, tmp_path):
    home = homes(tmp_path)
    tree = home / "the clo.ne"
    plant(tree, ["good", "bad", "crash"])
    rc, out = check(tree, home, "unit")
    assert "unit: 1 passed, 2 failed, 3 of 3 programs ran" in out, out
    assert out.rstrip().endswith("\n1 passed, 2 failed"), out
    assert "FAILED: test_bad: it is not" in out, out
    assert "FAILED: test_crash ended with 134" in out, out
    assert rc != 0


def test_a_program_that_ends_before_its_last_test_has_failed(check, tmp_path):
    tree = tmp_path / "tree"
    plant(tree, ["short"])
    rc, out = check(tree, tmp_path, "unit")
    assert rc and "1 of 3 tests gave a result" in out, out


def test_a_test_that_does_not_run_is_a_failure(check, tmp_path):
    tree = tmp_path / "tree"
    plant(tree, ["good"], more="testsuite/unit/test_missing")
    rc, out = check(tree, tmp_path, "unit")
    assert rc and "unit: 1 of 2 programs did not run" in out, out


def test_two_clones_in_one_cache_keep_their_builds(check, tmp_path):
    cache = tmp_path / "cache"
    for name in ("one", "two"):
        plant(tmp_path / name, ["good"])
        assert check(tmp_path / name, tmp_path, "unit", cache=cache)[0] == 0
    assert len(list(cache.glob("build/*/main/testsuite/unit/test_good"))) == 2
    shutil.rmtree(tmp_path / "one")
    rc, out = check(tmp_path / "two", tmp_path, "unit", cache=cache)
    assert rc == 0 and "building the plugins" not in out, out
    # and what was built of a clone that is gone goes
    assert len(list(cache.glob("build/*/main"))) == 1


def test_a_release_that_is_not_run_is_a_failure(shell_matrix):
    rc, out = shell_matrix("26.05", "")
    assert rc == 1 and "matrix: 1 of 1 releases did not run" in out, out
    assert shell_matrix("26.05", "Slurm")[0] == 0
    rc, out = shell_matrix("", "")
    assert rc == 1, out


@pytest.fixture
def shell_matrix(tmp_path):
    """part_matrix with rows that run, or are left out: exit status, output."""
    script = tmp_path / "matrix.sh"
    script.write_text("""
. "$TOP/contribs/lib.sh"
. "$TOP/contribs/lanes.sh"
. "$TOP/contribs/matrix.sh"
results=$1 only_release=$2 ran_it=$3 passed=0 failed=0
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAILED: $*"; }
need_cluster() { :; }
matrix_row() {
	if [ -n "$ran_it" ]; then matrix_ran+=("$1"); else matrix_left+=("$1"); fi
}
part_matrix
[ $failed = 0 ]
""")

    def run(release, ran_it):
        r = subprocess.run(["bash", str(script), str(tmp_path), release, ran_it],
                           env={**os.environ, "TOP": str(TOP)}, text=True,
                           capture_output=True, check=False, timeout=60)
        return r.returncode, r.stdout + r.stderr
    return run
