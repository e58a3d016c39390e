# SPDX-License-Identifier: GPL-2.0-or-later
"""Slurm's source of exactly the installed release, or one line; and a matrix of
releases that counts what ran, and nothing else."""

import os
import pathlib
import shutil
import subprocess

import pytest

from conftest import TOP, program

# ---- slurm-source.sh ---------------------------------------------------------


@pytest.fixture
def source(tmp_path):
    """Runs slurm-source.sh where slurmctld says it is of some release."""
    (tmp_path / "bin").mkdir()

    def run(*words, says="22.05.8"):
        program(tmp_path, "slurmctld", f"echo slurm-wlm {says}\n")
        return subprocess.run(
            ["bash", TOP / "contribs/packaging/slurm-source.sh", *map(str, words)],
            text=True, capture_output=True, check=False, timeout=60,
            env={**os.environ, "VS_CACHE": str(tmp_path / "cache"),
                 "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"})
    return run


def tree(where, version, configured=True):
    """What looks like a source tree of Slurm."""
    (where / "slurm").mkdir(parents=True)
    (where / "slurm/slurm.h.in").touch()
    header = f'#define SLURM_VERSION_STRING "{version}"'
    (where / "configure").write_text(
        f"#!/bin/sh\necho \"$*\" >said\necho '{header}' >config.h\n")
    (where / "configure").chmod(0o755)
    if configured:
        (where / "config.h").write_text(header + "\n")
    return where


def refused(r, text):
    assert r.returncode == 1 and not r.stdout
    assert r.stderr.startswith("slurm-source.sh: ") and text in r.stderr
    assert r.stderr.count("\n") == 1


def test_a_tree_of_the_installed_release_is_taken_as_it_lies(source, tmp_path):
    t = tree(tmp_path / "t", "22.05.8")
    r = source("--from", t)
    assert r.returncode == 0 and r.stdout == f"{t}\n"
    assert not (t / "said").exists()


def test_a_tree_that_is_not_configured_is(source, tmp_path):
    t = tree(tmp_path / "t", "22.05.8", configured=False)
    r = source("--from", t)
    assert r.returncode == 0 and r.stdout == f"{t}\n"
    assert (t / "said").exists()


def test_a_tree_of_another_micro_release_is_refused(source, tmp_path):
    t = tree(tmp_path / "t", "22.05.7")
    refused(source("--from", t), "is the source of Slurm 22.05.7, installed is "
            "22.05.8: give the source of exactly that one")


def test_what_is_no_tree_is_refused(source, tmp_path):
    refused(source("--from", tmp_path), "is no source tree of Slurm")
    refused(source("--from", tmp_path / "none"), "no directory")
    refused(source("--from"), "no directory is named")


def test_a_release_without_a_known_checksum_is_refused(source):
    refused(source("24.11.4"), "no checksum of Slurm 24.11.4 is known")


def test_two_slurms_on_one_machine_are_refused(source, tmp_path):
    program(tmp_path, "dpkg-query", "case $* in *Status*) echo installed ;; "
            "*Version*) echo 22.05.8-4 ;; *) echo slurm-wlm ;; esac\n")
    refused(source(says="24.11.5"), "slurmctld says it is 24.11.5, its package "
            "slurmctld is 22.05.8-4: two Slurms are installed")


def test_a_slurm_of_no_package_needs_its_own_source(source, tmp_path):
    program(tmp_path, "dpkg-query", "exit 1\n")
    refused(source(), "comes from no Debian package: configure with "
            "--with-slurm-source=DIR")


@pytest.mark.parametrize("version", ["21.08.8", "27.05.1"])
def test_configure_refuses_a_release_it_does_not_know(tmp_path, version):
    t = tree(tmp_path / "t", version)
    (t / "slurm/slurm_version.h").touch()
    (tmp_path / "build").mkdir()
    r = subprocess.run(
        ["sh", TOP / "configure", f"--with-slurm-source={t}"], text=True,
        cwd=tmp_path / "build", capture_output=True, check=False, timeout=120)
    assert r.returncode == 1 and (
        f"error: Slurm {version} is not known to this release of "
        "slurm-vsphere: 22.05 to 26.05 are") in r.stderr


# ---- the matrix ----------------------------------------------------------------

# check.sh's own, and what would take an hour.
MATRIX = """
. "$TOP/testsuite/lib/count.sh"
. "$TOP/testsuite/lib/lanes.sh"
. "$TOP/testsuite/matrix/chroot.sh"
. "$TOP/testsuite/matrix/releases.sh"
. "$TOP/testsuite/check/matrix.sh"
passed=0 failed=0 results=$T slurm_tree= copy= chaos_options=()
matrix_record() { echo "$1 $2" >>"$T/recorded"; }
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); say "FAILED: $*"; }
need_cluster() { VS_SIM=$VS_CACHE/sim/vcsim; mkdir -p "$VS_CACHE/sim"; touch "$VS_CACHE"/sim/{vcsim,govc,bare,peer}; }
codename() { echo home; }
chroot_made() { mkdir -p "$2"; }
tree_into() { :; }
database_into() { echo "$1" >>"$T/databases"; }
slurm_built() { echo "built $2" >>"$T/built"; }
part_unit() { ok; }
part_guest() { :; }
part_contribs() { :; }
part_vcsim() { :; }
part_system() { ok; bad "a test"; }
part_chaos() { ok; }
slurmctld() { echo "slurm-wlm 22.05.8"; }
in_chroot() {
	case $* in
	*slurmctld*) echo "slurm $(cat "$T/says")" ;;
	*) cat "$T/prints" ;;
	esac
}
VS_TOP=$T/top
mkdir -p "$VS_TOP/testsuite/matrix" "$VS_CACHE"
printf '# release suite kind\\n22.05 home must\\n24.11 away must\\n25.05 away given\\n26.05 far try near\\n' \
	>"$VS_TOP/testsuite/matrix/releases"
"""


@pytest.fixture
def matrix(shell, tmp_path):
    def run(prints, says, more=""):
        (tmp_path / "prints").write_text(prints)
        (tmp_path / "says").write_text(says + "\n")
        rc, out, err = shell(
            MATRIX + more + 'part_matrix; say "$passed $failed"',
            TOP=str(TOP))
        assert rc == 0, err
        return out.splitlines(), (tmp_path / "matrix.sum").read_text()
    return run


def test_the_sum_names_what_ran_with_its_figures(matrix):
    out, last = matrix("== unit\n7 passed, 1 failed\n", "24.11.5",
                       "only_release=24.11\n")
    assert out[-1] == "7 1"
    assert last == "matrix: ran: Slurm 24.11.5 (7 passed, 1 failed)\n"


def test_each_chroot_gets_this_machines_database(matrix, tmp_path):
    matrix("7 passed, 0 failed\n", "24.11.5", "only_release=24.11\n")
    where = (tmp_path / "databases").read_text().split()
    assert [pathlib.Path(d).name for d in where] == ["away"]


def test_the_machines_own_release_runs_without_a_chroot(matrix):
    out, last = matrix("", "", "only_release=22.05\n")
    assert out[-1] == "3 1"
    assert last == "matrix: ran: Slurm 22.05.8 (3 passed, 1 failed)\n"


def test_what_ran_is_recorded_with_the_results_of_its_chroot(matrix, tmp_path):
    matrix("7 passed, 1 failed\n", "24.11.5", "only_release=24.11\n")
    version, where = (tmp_path / "recorded").read_text().split()
    assert version == "24.11.5"
    assert where.endswith("/chroot/away/var/cache/slurm-vsphere/results")


def test_a_run_that_breaks_off_is_a_failure_and_did_not_run(matrix):
    out, last = matrix("7 passed, 0 failed\ncheck.sh: no network\n", "24.11.5",
                       "only_release=24.11\n")
    assert out[-1] == "0 2" and "came to no end" in "\n".join(out)
    assert last == "matrix: ran: none\n"


def test_daemons_of_another_release_are_a_failure(matrix):
    out, last = matrix("7 passed, 0 failed\n", "25.05.1",
                       "only_release=24.11\n")
    assert out[-1] == "7 2"
    assert "are of Slurm 25.05.1, not 24.11" in "\n".join(out)
    assert last == "matrix: ran: none\n"


def a_source(tmp_path, version):
    given = tmp_path / f"given-{version}"
    given.mkdir()
    (given / "META").write_text(f"  Name:\tslurm\n  Version:\t{version}\n")
    return given


NO_SOURCE = "slurm-source.sh: the archive has no source of slurm-wlm 26.05.5-1\n"


def test_a_release_without_source_is_said_not_to_have_run(matrix):
    out, last = matrix(NO_SOURCE + "0 passed, 1 failed\n", "26.05.5",
                       "only_release=26.05\n")
    # it may be left out of all of them, but was asked for
    assert out[-1] == "0 1"
    assert last == "matrix: ran: none; not run: 26.05\n"
    assert "the archive of far has no source" in "\n".join(out)


def test_a_release_that_must_run_fails_without_source(matrix):
    out, last = matrix(NO_SOURCE + "0 passed, 1 failed\n", "24.11.5",
                       "only_release=24.11\n")
    assert out[-1] == "0 2" and last == "matrix: ran: none\n"


def test_a_release_built_from_a_directory_is_said_to_be(matrix, tmp_path):
    given = a_source(tmp_path, "26.05.3")
    out, last = matrix("7 passed, 0 failed\n", "26.05.3",
                       f"only_release=26.05 slurm_given={given}\n")
    assert out[-1] == "7 0"
    assert last == ("matrix: ran: Slurm 26.05.3 built from source "
                    "(7 passed, 0 failed)\n")
    assert (tmp_path / "built").read_text() == f"built {given}\n"
    # A source is built in the suite of the row's last column.
    assert (tmp_path / "recorded").read_text().endswith(
        "/chroot/near-26.05/var/cache/slurm-vsphere/results\n")


def test_a_release_that_no_distribution_has_waits_for_its_source(matrix, tmp_path):
    out, last = matrix("7 passed, 0 failed\n", "24.11.5")
    assert "not run: 25.05" in last
    assert "no distribution has it" in "\n".join(out)
    (tmp_path / "matrix.sum").unlink()
    given = a_source(tmp_path, "25.05.8")
    _, last = matrix("7 passed, 0 failed\n", "25.05.8",
                     f"only_release=25.05 slurm_given={given}\n")
    assert last == "matrix: ran: Slurm 25.05.8 built from source (7 passed, 0 failed)\n"


def test_a_release_that_was_asked_for_and_has_no_source_fails(matrix):
    out, last = matrix("7 passed, 0 failed\n", "25.05.8", "only_release=25.05\n")
    assert out[-1] == "0 1" and last == "matrix: ran: none; not run: 25.05\n"


def test_each_source_has_a_chroot_of_its_own(matrix, tmp_path):
    given = [a_source(tmp_path, v) for v in ("25.05.8", "24.11.7")]
    text = "\n".join(map(str, given))
    matrix("7 passed, 0 failed\n", "24.11.7",
           f"only_release=24.11 slurm_given='{text}'\n")
    assert (tmp_path / "built").read_text() == f"built {given[1]}\n"
    assert (tmp_path / "recorded").read_text().endswith(
        "/chroot/away-24.11/var/cache/slurm-vsphere/results\n")


def test_a_source_stands_for_its_own_release_alone(matrix, tmp_path):
    given = a_source(tmp_path, "26.05.3")
    out, last = matrix("7 passed, 0 failed\n", "24.11.5",
                       f"only_release=24.11 slurm_given={given}\n")
    assert last == "matrix: ran: Slurm 24.11.5 (7 passed, 0 failed)\n"
    assert not (tmp_path / "built").exists()


@pytest.mark.parametrize("only, version", [
    ("", "23.02.8"), ("24.11", "26.05.3"), ("", "24.1.5")])
def test_a_source_of_no_row_is_refused(shell, tmp_path, only, version):
    given = a_source(tmp_path, version)
    rc, _, err = shell(MATRIX + f"only_release={only} slurm_given={given}\n"
                       "source_has_a_row", TOP=str(TOP))
    assert rc and "is the source of no release" in err


def test_the_database_of_a_chroot_has_its_own_libraries(shell, tmp_path):
    """cat stands for MariaDB: it says which libraries it runs with, and
    complains of the options that it is given."""
    (tmp_path / "share/charsets").mkdir(parents=True)
    (tmp_path / "share/tables.sql").touch()
    shutil.copy(shutil.which("cat"), tmp_path / "bin/mariadbd")
    rc, out, err = shell(
        'need_packages() { :; }; as_root() { "$@"; }\n'
        '. "$TOP/testsuite/matrix/database.sh"\nVS_MARIADB_SHARE=$T/share\n'
        'VS_MARIADB=$T/bin/mariadbd\n'
        'mkdir -p "$T/root/usr/local/share/mysql/older"\n'
        'database_into "$T/root"; database_into "$T/root"; rm -r "$T/bin"\n'
        '"$T/root/usr/local/sbin/mariadbd" -- /proc/self/maps || echo said',
        TOP=str(TOP))
    local = tmp_path / "root/usr/local"
    assert rc == 0 and out.endswith("said\n"), err
    loaded = {line.split()[-1] for line in out.splitlines() if ".so" in line}
    assert len(loaded) >= 2 and {pathlib.Path(f).parent for f in loaded} == {
        local / "lib/slurm-vsphere-mariadb"}
    assert f"--lc-messages-dir={local}/share/mysql': " in err
    assert f"--character-sets-dir={local}/share/mysql/charsets': " in err
    assert sorted(f.name for f in (local / "share/mysql").iterdir()) == [
        "charsets", "tables.sql"]
