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
AC_ARG_ENABLE([debug], [AS_HELP_STRING([--enable-debug], [none])])
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
    """A project with these programs; more: tests that cannot be built."""
    for d in ("contribs", "testsuite/check", "testsuite/lib", "testsuite/matrix"):
        shutil.copytree(TOP / d, tree / d)
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
                          str(tree / "testsuite/lib/setup.sh")], env=env, text=True,
                         capture_output=True, check=True).stdout
    return pathlib.Path(out.strip())


@pytest.fixture
def check(tmp_path):
    """check(tree, home, part...): exit status and output; caches go again."""
    made = set()

    def run(tree, home, *words, cache=None, **more):
        env = {k: v for k, v in os.environ.items()
               if k not in ("VS_CACHE", "XDG_CACHE_HOME", "VS_BUILD", "VS_RUN")}
        env.update(more, HOME=str(home))
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


def homes(tmp_path, name):
    """A home directory of this name, behind a link of a name like it."""
    real = tmp_path / name
    real.mkdir()
    link = tmp_path / ("li.nk to " + name if " " in name else "li.nk." + name)
    link.symlink_to(real)
    return link


# make builds in ~/.cache below the first home. It can't below the second one,
# and check.sh builds elsewhere.
@pytest.mark.parametrize("name, below", [("ho.me", True), ("ho.me of two", False)])
def test_three_programs_of_which_one_passes(check, tmp_path, name, below):
    home = homes(tmp_path, name)
    tree = home / ("the." + name)
    plant(tree, ["good", "bad", "crash"])
    rc, out = check(tree, home, "unit")
    assert "\nunit: 1 passed, 2 failed, 3 of 3 ran (programs with 3 tests)" in out, out
    assert out.count("1 passed, 2 failed") == 1, out
    assert "FAILED: test_bad: it is not" in out, out
    assert "FAILED: test_crash ended with 134" in out, out
    assert rc != 0
    assert bool(list(home.glob(".cache/slurm-vsphere/build/*/main/config.log"))) == below


def test_a_program_that_ends_before_its_last_test_has_failed(check, tmp_path):
    tree = tmp_path / "tree"
    plant(tree, ["short"])
    rc, out = check(tree, tmp_path, "unit")
    assert rc and "1 of 3 tests gave a result" in out, out


def test_a_test_that_does_not_run_is_a_failure(check, tmp_path):
    tree = tmp_path / "tree"
    plant(tree, ["good"], more="testsuite/unit/test_missing")
    rc, out = check(tree, tmp_path, "unit")
    assert rc and "unit: 1 of 2 did not run (programs" in out, out


def test_only_runs_one_program_and_no_other(check, tmp_path):
    tree = tmp_path / "tree"
    plant(tree, ["good", "bad"])
    rc, out = check(tree, tmp_path, "unit", "--only", "test_good")
    assert (rc, "\nunit: 1 passed, 0 failed, 1 of 1 ran" in out) == (0, True), out
    assert [f.name for f in tmp_path.glob(
        ".cache/slurm-vsphere/build/*/main/testsuite/unit/test_*.o")] == ["test_good.o"]
    rc, out = check(tree, tmp_path, "unit", "--only", "test_goo")
    assert rc and "--only test_goo: unit has no program of that name" in out, out
    for words in (["lint"], ["unit", "system"], []):
        rc, out = check(tree, tmp_path, *words, "--only", "test_good")
        assert rc and "--only test_good: one part is expected" in out, out


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
    assert rc == 1 and "matrix: 1 of 1 did not run (releases)" in out, out
    assert shell_matrix("26.05", "Slurm")[0] == 0
    rc, out = shell_matrix("", "")
    assert rc == 1, out


@pytest.fixture
def shell_matrix(tmp_path):
    """part_matrix with rows that run, or are left out: exit status, output."""
    script = tmp_path / "matrix.sh"
    script.write_text("""
. "$TOP/testsuite/lib/setup.sh"
. "$TOP/testsuite/lib/count.sh"
. "$TOP/testsuite/matrix/chroot.sh"
. "$TOP/testsuite/matrix/releases.sh"
. "$TOP/testsuite/check/matrix.sh"
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


def test_check_sh_fails_for_a_release_that_has_not_run(check, tmp_path):
    """The whole way, with the archive's answer in place of the chroot's."""
    tree = tmp_path / "tree"
    plant(tree, ["good"])
    (tree / "testsuite/matrix/releases").write_text("26.05 far try\n")
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    for name, text in (("vcsim", ""), ("govc", ""), ("bare", ""), ("peer", ""), ("unshare", (
            "echo 'slurm-source.sh: the archive has no source of slurm-wlm 26.05.5-1'\n"
            "echo 0 passed, 1 failed\n"))):
        (bin_ / name).write_text("#!/bin/sh\n" + text)
        (bin_ / name).chmod(0o755)
    cache = tmp_path / "cache"
    (cache / "chroot/far").mkdir(parents=True)
    (cache / "chroot/far/.vs-made").touch()
    for words, says in ((["--release", "26.05"], "matrix: 1 of 1 did not run"),
                        ([], "matrix: 1 of 1 did not run"),
                        (["--release", "26.11"], "matrix: no releases exist")):
        rc, out = check(tree, tmp_path, "matrix", *words, cache=cache,
                        VS_SIM=str(bin_ / "vcsim"),
                        PATH=f"{bin_}:{os.environ['PATH']}")
        assert rc == 1 and f"FAILED: {says}" in out, out
        assert "matrix: ran: none" in out.splitlines()[-1], out


# ---- a tree that is not whole ----------------------------------------------------

def known_parts(env):
    """By check.sh's own words."""
    r = subprocess.run(["bash", str(TOP / "contribs/check.sh"), "no-part"], env=env,
                       text=True, capture_output=True, check=False, timeout=60)
    assert r.returncode == 1 and r.stderr.count("\n") == 1, r.stderr
    names = r.stderr.split("unknown part 'no-part': ")[1]
    return names.removesuffix(" or all is expected\n").split(", ")


def test_each_part_has_a_file_and_each_file_is_a_part(tmp_path):
    names = known_parts({**os.environ, "VS_CACHE": str(tmp_path)})
    assert sorted(names) == sorted(
        f.stem for f in (TOP / "testsuite/check").iterdir() if f.suffix == ".sh")
    usage = (TOP / "contribs/check.sh").read_text().split("[--seconds")[0]
    assert [n for n in names if n not in usage] == []


@pytest.mark.parametrize("words", [["fuzz"], [], ["all", "sanitize"], ["unit"]])
@pytest.mark.parametrize("text, says", [
    (None, "testsuite/check/fuzz.sh is missing"),
    ("part_fuz() { :; }\n", "testsuite/check/fuzz.sh has no function part_fuzz")])
def test_a_part_without_its_file_or_function_fails_and_nothing_runs(
        check, tmp_path, words, text, says):
    tree = tmp_path / "tree"
    plant(tree, ["good"])
    file = tree / "testsuite/check/fuzz.sh"
    if text:
        file.write_text(text)
    else:
        file.unlink()
    rc, out = check(tree, tmp_path, *words)
    assert rc == 1 and out.startswith(f"check.sh: {says}"), out
    assert out.count("\n") == 1, out


# ---- the parts, without what they set up ------------------------------------------

# check.sh's functions; what builds or installs is left out.
PARTS = r"""
. <(sed '/^# ---- main/,$d; /^[.] .*setup[.]sh"$/d' "$TOP/contribs/check.sh")
results=$T/results
mkdir -p "$results" "$VS_CACHE/log"
VS_TOP=$T/top VS_BUILD=$T/build
exec 9>"$T/lock"
need_packages() { :; }
need_slurm_source() { :; }
need_cluster() { :; }
go_modules() { :; }
build() { :; }
build_vcsim() { :; }
crash_options=() chaos_options=() chaos_with=
"""


@pytest.fixture
def part(shell, tmp_path):
    """part(NAME, FILES): what a part prints where the tree has these files."""
    def run(name, files, more=""):
        for path, text in files.items():
            f = tmp_path / path
            f.parent.mkdir(parents=True, exist_ok=True)
            f.write_text(text)
            f.chmod(0o755)
        rc, out, err = shell(PARTS + more + f"part_{name}\n"
                             'say "$passed passed, $failed failed"', TOP=str(TOP))
        assert rc == 0, out + err
        return out
    return run


# As automake's: the results of an earlier run go first, if it comes to that.
MAKE = """
check-programs:
list-tests:
	@echo testsuite/unit/test_one; echo testsuite/unit/test_two
check: {needs}
	@rm -f $(TESTS:=.log)
	@for t in $(TESTS); do VS_LAUNCH= $(LOG_COMPILER) ./$$t >$$t.log; \\
		echo "RESULT $$t (exit status: $$?)" >>$$t.log; done
"""
PASSES = "#!/bin/sh\necho 1..1\necho ok 1 - it is fine\n"


def test_sanitize_counts_each_of_its_runs_alone(part):
    out = part("sanitize", {
        "top/testsuite/unit/run.sh": (TOP / "testsuite/unit/run.sh").read_text(),
        "build/Makefile": MAKE.format(needs=""),
        "build/testsuite/unit/test_one": PASSES,
        "build/testsuite/unit/test_two": PASSES.replace("ok", "not ok") + "exit 1\n",
    }, "configured() { :; }\n")
    assert "\nsanitize: 1 passed, 1 failed, 2 of 2 ran" in out, out
    assert "\nsanitize with TSan: 1 passed, 1 failed, 2 of 2 ran" in out, out
    assert out.endswith("\n2 passed, 2 failed\n"), out


def test_results_of_an_earlier_run_are_no_results(part):
    """make check runs no test if something else of the tree can't be built."""
    log = PASSES.split("echo ")
    out = part("unit", {
        "build/Makefile": MAKE.format(needs="missing.o"),
        "build/testsuite/unit/test_one.log": "".join(log[1:])
        + "PASS test_one (exit status: 0)\n",
        "build/testsuite/unit/test_two.log": "".join(log[1:])
        + "PASS test_two (exit status: 0)\n",
    })
    assert "\nunit: 0 passed, 0 failed, 0 of 2 ran" in out, out
    assert "No rule to make target 'missing.o'" in out, out
    assert out.endswith("\n0 passed, 1 failed\n"), out


@pytest.mark.parametrize("name", ["guest", "contribs", "system"])
def test_a_pytest_that_ends_early_is_a_failure(part, name):
    out = part(name, {f"top/testsuite/{name}/test_it.py": """
import pytest
def test_one(): pass
def test_two(): pytest.exit("enough", returncode=0)
def test_three(): pass
"""}, "readable_root() { :; }\nrun_logged() { :; }\n")
    assert f"\n{name}: 1 passed, 0 failed, 1 of 3 ran (tests)" in out, out
    assert f"FAILED: {name}: 2 of 3 did not run (tests)" in out, out


@pytest.mark.parametrize("only, ran", [
    ("test_it.py", "2 passed, 0 failed, 2 of 2 ran"),
    ("test_it.py::test_two", "1 passed, 0 failed, 1 of 1 ran")])
def test_only_runs_one_file_or_test_of_it(part, only, ran):
    out = part("contribs", {
        "top/testsuite/contribs/test_it.py": "def test_one(): pass\ndef test_two(): pass\n",
        "top/testsuite/contribs/test_other.py": "def test_one(): assert False\n",
    }, f"only={only}\n")
    assert f"\ncontribs: {ran} (tests)" in out, out


def test_a_test_that_fails_twice_counts_once(part):
    out = part("system", {"top/testsuite/system/test_it.py": """
import pytest
@pytest.fixture
def ends_badly():
    yield
    raise OSError
def test_one(ends_badly): assert False
def test_two(): pytest.exit("enough")
"""}, "readable_root() { :; }\n")
    assert "\nsystem: 0 passed, 1 failed, 1 of 2 ran (tests)" in out, out
    assert "FAILED: system: 1 of 2 did not run (tests)" in out, out


GO = any(shutil.which(g) for g in ("go", "/usr/local/go/bin/go",
                                   "/usr/lib/go/bin/go"))


@pytest.mark.skipif(not GO and "VS_SIM" in os.environ, reason=(
    "no Go is here: the simulator was built and is tested outside"))
def test_go_tests_behind_a_panic_have_not_run(part):
    out = part("vcsim", {
        "top/testsuite/vcsim/go.mod": "module planted\n\ngo 1.21\n",
        "top/testsuite/vcsim/it_test.go": """package planted

import "testing"

func TestOne(t *testing.T)   {}
func TestTwo(t *testing.T)   { panic("planted") }
func TestThree(t *testing.T) {}
""", "top/testsuite/golden/run.sh": "#!/bin/sh\n",
        "top/testsuite/golden/faults.sh": "#!/bin/sh\n",
        "build/Makefile": "check-programs:\n"},
        # a simulator that is given need not be built, but is tested
        "vs_sim_given=$T/vcsim\n")
    assert "\nvcsim: 3 passed, 2 failed, 4 of 5 ran (tests)" in out, out
    assert "FAILED: vcsim: 1 of 5 did not run (tests)" in out, out


def test_cells_of_the_crash_matrix_that_give_no_result(part):
    """Each matrix says how many cells it has; a result is a line."""
    out = part("crash", {"top/testsuite/crash/matrix.py": """
print("ok undisturbed boot")
print("ok before:x in boot")
print("FAILED after:x in boot: no")
print("crash: points=2 cells=3 failed=1 never reached=0")
print("ok M fault in boot")
print("calls: methods=1 cells=1 failed=0 strange=0")
"""})
    assert "\ncrash: 3 passed, 1 failed, 3 of 4 ran (cells)" in out, out
    assert "FAILED: crash: 1 of 4 did not run (cells)" in out, out


@pytest.mark.parametrize("jobs, says", [
    (7, "\nchaos: 1 passed, 0 failed, 1 of 1 ran (runs)"),
    (0, "FAILED: chaos: 1 of 1 did not run (runs)")])
def test_chaos_without_a_job_has_not_run(part, jobs, says):
    out = part("chaos", {"top/testsuite/system/chaos.py":
                         f"print('chaos: seed=1 kills=3 jobs={jobs} violations: I1=0')\n"},
               "readable_root() { :; }\n")
    assert says in out, out


def test_a_fuzz_target_that_is_not_built_is_a_failure(part):
    out = part("fuzz", {
        "build/testsuite/fuzz/test_fuzz_one": "#!/bin/sh\necho Done\n",
        "build/Makefile": "fuzz-targets:\nlist-fuzz:\n"
        "\t@echo testsuite/fuzz/test_fuzz_one\n\t@echo testsuite/fuzz/test_fuzz_two\n",
    }, "find_clang() { echo cc; }\n")
    assert "\nfuzz: 1 passed, 0 failed, 1 of 2 ran (targets)" in out, out
    assert "FAILED: fuzz: 1 of 2 did not run (targets)" in out, out


LINT = """
for f in $(compgen -A function lint_); do
	[ "$f" = lint_house_rules ] || unset -f "$f"
done
need_go() { :; }
tracked() { echo contribs/x; }
lint_fine() { :; }
lint_wrong() { echo planted; return 1; }
"""
NEXT = {"top/contribs/packaging/slurm-source.sh": "#!/bin/sh\necho /nowhere\n"}


def test_lint_runs_each_of_its_checks(part):
    out = part("lint", {**NEXT, "top/testsuite/lint/tree.py":
                        "print('1..2')\nprint('ok 1 - a')\nprint('ok 2 - b')\n"}, LINT)
    assert "FAILED: wrong\n    planted\n" in out, out
    assert "\nlint: 3 passed, 1 failed, 4 of 4 ran (checks, 2 of them" in out, out


@pytest.mark.parametrize("after, failed, says", [
    ("raise OSError('planted')", 2, "house rules: tree.py ended with 1: OSError: planted"),
    ("raise SystemExit", 1, "lint: 1 of 4 did not run (checks"),
])
def test_house_rules_that_end_early_are_a_failure(part, after, failed, says):
    out = part("lint", {**NEXT, "top/testsuite/lint/tree.py":
                        f"print('1..2')\nprint('ok 1 - a', flush=True)\n{after}\n"}, LINT)
    assert f"\nlint: 2 passed, {failed} failed, 3 of 4 ran" in out, out
    assert f"FAILED: {says}" in out, out


def test_coverage_names_sources_that_are_not_counted(part, tmp_path):
    """gcovr knows the files that the compiler wrote notes of, and no others."""
    out = part("coverage", {
        "top/src/common/step.c": "", "top/src/common/bystep.c": "",
        "top/src/common/util/crash.c": "",     # of the crash matrix's build alone
        "build/src/common/lib_la-bystep.gcno": "",
        "build/src/other/lib_la-step.gcno": "",
        "bin/gcovr": "#!/bin/sh\n"
        "printf 'filename,line_total,line_covered\\n"
        "src/common/bystep.c,4,3\\n' >%s/results/coverage.csv\n" % tmp_path,
    }, "configured() { :; }\nrun_unit_programs() { :; }\n")
    assert "\ncoverage: 3 of 4 lines of src 75.0 %" in out, out
    assert out.count("FAILED") == 1, out
    assert "FAILED: coverage: src/common/step.c was not compiled" in out, out


def test_house_rules_without_their_number_are_a_failure(part):
    out = part("lint", {**NEXT, "top/testsuite/lint/tree.py": "print('ok 1 - a')\n"}, LINT)
    assert "FAILED: house rules: tree.py does not print how many it has" in out, out
    # the real one prints it before anything else
    tree = subprocess.run(["/usr/bin/python3", str(TOP / "testsuite/lint/tree.py")],
                          text=True, capture_output=True, check=False, timeout=60).stdout
    assert tree.startswith("1.."), tree


# ---- warnings ------------------------------------------------------------------------


def flags_of(build):
    """How a build's compiler is called."""
    out = subprocess.run(
        ["make", "-s", "-f", "Makefile", "-f", "-", "say"], cwd=build, text=True,
        input="say:\n\t@echo $(CC) $(AM_CFLAGS) $(CFLAGS)\n", check=True,
        capture_output=True).stdout
    assert "-Wall" in out
    return out.split()


def test_a_warning_is_an_error_for_developers_alone(tmp_path):
    """check.sh has configured VS_BUILD; packages configure without an option."""
    subprocess.run(["sh", str(TOP / "configure"), "-q",
                    f"--with-slurm-source={os.environ['VS_SLURM_SRC']}"],
                   cwd=tmp_path, check=True, timeout=300, stdout=subprocess.DEVNULL)
    deprecated = ("__attribute__((deprecated)) void old(void);\n"
                  "void f(void);\nvoid f(void) { old(); }\n")
    for build, source, ends, says in (
            (tmp_path, "static int unused;\n", False, "unused"),
            (os.environ["VS_BUILD"], "static int unused;\n", True, "unused"),
            # a newer library that deprecates something ends no build at all
            (tmp_path, deprecated, False, "deprecated"),
            (os.environ["VS_BUILD"], deprecated, False, "deprecated")):
        r = subprocess.run([*flags_of(build), "-x", "c", "-c", "-o", "/dev/null", "-"],
                           input=source, text=True, capture_output=True, check=False)
        assert (r.returncode != 0) == ends and says in r.stderr, r.stderr
