# SPDX-License-Identifier: GPL-2.0-or-later
"""What contribs' scripts do to a machine and say when they can't: setup.sh in a
shell of its own with apt-get and dpkg-query replaced, demo.py's records."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

from conftest import TOP, program

sys.path[:0] = [str(TOP / "testsuite/demo"), str(TOP / "testsuite/system")]

import daemons                          # noqa: E402
import demo                             # noqa: E402
from daemons import ClusterError, free_ports, wait_for      # noqa: E402

# ---- apt's sources ---------------------------------------------------------

def test_oneline_entries_of_this_release_become_entries_of_sources(
        shell, tmp_path):
    (tmp_path / "s.list").write_text(
        "# deb http://a/debian bookworm main\n"
        "deb [signed-by=/k.gpg arch=amd64] http://a/debian bookworm main\n"
        "deb-src http://a/debian bookworm main\n"
        "deb http://other/tool stable main\n"
        "deb http://a/sec bookworm-security main contrib\n")
    rc, out, _ = shell('apt_oneline s.list deb-src bookworm ""')
    assert rc == 0 and out.splitlines() == [
        "deb-src [signed-by=/k.gpg arch=amd64] http://a/debian bookworm main",
        "deb-src http://a/sec bookworm-security main contrib"]


def test_oneline_entries_get_the_backports_beside_the_release(shell, tmp_path):
    (tmp_path / "s.list").write_text("deb http://a/debian bookworm main\n")
    _, out, _ = shell("apt_oneline s.list deb bookworm -backports")
    assert out.splitlines() == [
        "deb http://a/debian bookworm main",
        "deb http://a/debian bookworm-backports main"]


def test_deb822_entries_keep_their_keys_and_lose_other_releases(
        shell, tmp_path):
    (tmp_path / "s.sources").write_text(
        "Types: deb deb-src\n# a comment\nURIs: http://a/debian\n"
        "Suites: bookworm bookworm-updates trixie\nComponents: main\n"
        "Signed-By: /k.gpg\n\n"
        "Enabled: no\nTypes: deb\nURIs: http://off\nSuites: bookworm\n\n"
        "Types: deb\nURIs: http://other\nSuites: nodistro\n")
    _, out, _ = shell("apt_deb822 s.sources deb bookworm -backports")
    assert out.strip().splitlines() == [
        "Types: deb", "URIs: http://a/debian",
        "Suites: bookworm bookworm-backports bookworm-updates",
        "Components: main", "Signed-By: /k.gpg"]


# ---- one line that says what is wrong --------------------------------------

def test_a_failed_command_is_one_line_with_its_cause_and_its_log(shell):
    rc, out, err = shell(
        'run_logged "$T/log" "the build" sh -c "echo checking fatality;'
        ' echo a.c:1: error: no such thing; echo make: Error 1; exit 2"')
    assert (rc, out) == (1, "")
    assert err.count("\n") == 1
    assert "the build failed: a.c:1: error: no such thing (" in err
    assert "/log)" in err


@pytest.mark.parametrize("lines, best", [
    (["Err:1 http://a x", "  Temporary failure resolving 'a'",
      "E: Some index files failed to download."],
     "Temporary failure resolving 'a'"),
    (["go: downloading x", "go: x: dial tcp: lookup p: no such host", "end"],
     "go: x: dial tcp: lookup p: no such host"),
    (["# pkg", "ld: final link failed: No space left on device", "error: ld"],
     "ld: final link failed: No space left on device"),
    (["quiet", "the last word"], "the last word"),
])
def test_the_cause_is_found_in_a_log(shell, tmp_path, lines, best):
    (tmp_path / "log").write_text("\n".join(lines) + "\n")
    rc, out, _ = shell('reason "$T/log"')
    assert (rc, out.strip()) == (0, best)


def test_a_cache_that_cannot_be_written_is_one_line(shell, tmp_path):
    (tmp_path / "file").touch()
    rc, out, err = shell("lock_cache", VS_CACHE=str(tmp_path / "file/cache"))
    assert (rc, out, err.count("\n")) == (1, "", 1)
    assert "VS_CACHE=DIR" in err


def test_a_relative_cache_is_taken_from_where_we_are(shell, tmp_path):
    _, out, _ = shell('echo "$VS_CACHE"', VS_CACHE="near")
    assert out.strip() == f"{tmp_path}/near"


# ---- packages and services -------------------------------------------------

def test_no_service_starts_while_packages_are_installed(shell, tmp_path):
    program(tmp_path, "apt-get", '"$T/policy-rc.d"; echo $? >>"$T/policy"\n')
    rc, _, err = shell("apt_install munge gcc slurmctld")
    assert rc == 0, err
    assert (tmp_path / "policy").read_text() == "101\n"
    assert not (tmp_path / "policy-rc.d").exists()
    assert (tmp_path / "calls").read_text().splitlines() == [
        "update-rc.d munge disable", "update-rc.d slurmctld disable"]


def test_a_configuration_that_is_there_is_kept_without_a_question(
        shell, tmp_path):
    program(tmp_path, "apt-get", 'echo "$@" >"$T/argv"\n')
    assert shell("apt_install slurmctld")[0] == 0
    argv = (tmp_path / "argv").read_text()
    assert "Dpkg::Options::=--force-confold" in argv
    assert "Dpkg::Options::=--force-confdef" in argv


def test_the_machines_own_policy_stays(shell, tmp_path):
    program(tmp_path, "apt-get", "exit 0\n")
    (tmp_path / "policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
    assert shell("apt_install gcc")[0] == 0
    assert (tmp_path / "policy-rc.d").read_text() == "#!/bin/sh\nexit 101\n"


def test_a_policy_that_a_killed_run_left_goes_with_the_next(shell, tmp_path):
    program(tmp_path, "apt-get", "kill -9 $PPID\n")
    shell("apt_install gcc; true")
    assert (tmp_path / "policy-rc.d").exists()
    program(tmp_path, "apt-get", "exit 0\n")
    assert shell("apt_install gcc")[0] == 0
    assert not (tmp_path / "policy-rc.d").exists()


def test_without_a_network_the_install_is_one_line_and_no_policy_stays(
        shell, tmp_path):
    program(tmp_path, "apt-get", "echo \"  Temporary failure resolving 'a'\";"
            " echo 'E: Failed'; exit 100\n")
    rc, out, err = shell("apt_install gcc")
    assert (rc, out, err.count("\n")) == (1, "", 1)
    assert "Temporary failure resolving 'a'" in err
    assert not (tmp_path / "policy-rc.d").exists()


def test_an_interrupted_install_leaves_no_policy(shell, tmp_path):
    program(tmp_path, "apt-get", 'echo $$ >"$T/pid"; exec sleep 60\n')
    p = shell.start("apt_install munge")
    pid = tmp_path / "pid"
    wait_for("apt runs", 20, lambda: pid.exists() and pid.read_text().strip())
    assert (tmp_path / "policy-rc.d").exists()
    # As a terminal does: the shell that installs and what it runs.
    apt = int(pid.read_text())
    stat = pathlib.Path(f"/proc/{apt}/stat").read_text()
    os.kill(int(stat.rpartition(")")[2].split()[1]), signal.SIGINT)
    os.kill(apt, signal.SIGINT)
    p.communicate(timeout=20)
    assert p.returncode == 130
    assert not (tmp_path / "policy-rc.d").exists()
    assert "munge disable" in (tmp_path / "calls").read_text()


# ---- demo.py ---------------------------------------------------------------

def test_of_a_daemons_log_the_fatal_line_is_told():
    e = ClusterError(
        "slurmctld did not start: [2026-01-01T00:00:00.1] error: one\n"
        "[2026-01-01T00:00:00.2] fatal: no port: Address already in use\n"
        "[2026-01-01T00:00:00.3] error: after it")
    assert demo.one_line(e) == (
        "slurmctld did not start: fatal: no port: Address already in use: "
        "another program took the port first, run it again")


class Somewhere:
    def __init__(self, d):
        self.dir = d


def test_a_demo_that_lives_is_not_taken_and_a_killed_one_is(tmp_path):
    d = tmp_path / "vs-test1"
    d.mkdir()
    (d / "run").mkdir()
    alive = demo.Record.new(tmp_path, Somewhere(d))
    (other,) = demo.Record.all(tmp_path)
    assert not other.take()
    alive.handle.close()        # what the kernel does at its death
    assert other.take() and not other.kept()
    (third,) = demo.Record.all(tmp_path)
    assert not third.take(), "two end the same demo"
    assert other.end() == d
    assert not d.exists() and not demo.Record.all(tmp_path)


def test_what_a_killed_demo_left_running_is_ended_with_it(tmp_path):
    d = tmp_path / "vs-test2"
    (d / "run").mkdir(parents=True)
    left = subprocess.Popen(["sleep", "300"],
                            env={**os.environ, "VS_CLUSTER_DIR": str(d)})
    demo.Record.new(tmp_path, Somewhere(d)).handle.close()
    (r,) = demo.Record.all(tmp_path)
    assert r.take()
    r.end()
    assert left.wait(10) == -signal.SIGKILL


def test_only_a_directory_of_the_records_own_name_is_removed(tmp_path):
    other = tmp_path / "precious"
    (other / "run").mkdir(parents=True)
    r = demo.Record.new(tmp_path, Somewhere(tmp_path / "vs-test3"))
    r.file.write_text(f"{other}\n")
    r.handle.close()
    assert r.take()
    r.end()
    assert other.exists() and not r.file.exists()


# ---- an interrupted run of the tests ---------------------------------------

CONFTEST = """
import sys
import time
sys.path.insert(0, {where!r})
import shards
def pytest_cmdline_main(config):
    return shards.main(config)
def pytest_configure(config):
    shards.interrupt_once()
"""
SLOW_END = """
import pathlib, time, pytest
@pytest.fixture
def daemon():
    me = pathlib.Path(__file__)
    yield me
    me.with_suffix(".ending").touch()
    time.sleep({end})
    me.with_suffix(".ended").touch()
def test_it_waits(daemon):      # an interrupt before here has nothing to end
    daemon.with_suffix(".began").touch()
    time.sleep(60)
"""


def test_an_interrupted_run_waits_until_all_its_files_have_cleaned_up(tmp_path):
    (tmp_path / "conftest.py").write_text(
        CONFTEST.format(where=str(TOP / "testsuite/system")))
    files = [tmp_path / f"test_{n}.py" for n in "abc"]
    for f in files:
        f.write_text(SLOW_END.replace("{end}", "0.5"))
    # The one that starts first (it waits most) ends last.
    files[0].write_text(SLOW_END.replace("{end}", "3") + "# wait_\n")
    env = {k: v for k, v in os.environ.items() if k != "VS_SHARD"}
    p = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."],
        cwd=tmp_path, env={**env, "VS_JOBS": "3"}, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    wait_for("the tests run", 60, lambda: all(
        f.with_suffix(".began").exists() for f in files))
    os.killpg(p.pid, signal.SIGINT)     # as a terminal does
    wait_for("they end", 20, lambda: all(
        f.with_suffix(".ending").exists() for f in files))
    os.killpg(p.pid, signal.SIGINT)     # and again
    assert p.wait(30) == 2
    assert all(f.with_suffix(".ended").exists() for f in files)


# ---- parts side by side ----------------------------------------------------

PARTS = r"""
. "$TOP/testsuite/lib/lanes.sh"
results=$T/results copy= passed=0 failed=0
mkdir -p "$results"
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); say "FAILED: $*"; }
until_there() { timeout 30 sh -c 'until [ -e "$1" ]; do sleep 0.05; done' sh "$T/$1"; }
"""


def test_parts_side_by_side_are_summed_whatever_ends_them(shell):
    rc, out, _ = shell(PARTS + """
part_system() { ok; ok; copy=$T/copy; mkdir "$copy"; }
part_crash() { ok; false; say "never said"; }
part_chaos() { ok; say "after it"; }
part_unit() { bad one; die "that is why"; }
part_lint() { kill -9 $BASHPID; }
part_sanitize() { ok; }
parts=(system crash chaos unit lint sanitize)
side_by_side
say "$passed $failed"
""", TOP=str(TOP))
    lines = out.splitlines()
    assert rc == 0 and lines[-1] == "5 4"
    for text in ("FAILED: crash ended with 1", "after it", "FAILED: one",
                 "bash: that is why", "FAILED: unit ended with 1",
                 "FAILED: lint came to no end"):
        assert text in lines
    assert "never said" not in lines


def test_the_time_of_each_part_is_said_and_kept(shell, tmp_path):
    """unit computes for a second in a program of its own, lint waits for one."""
    rc, out, err = shell(PARTS + """
part_unit() { timeout 60 python3 -c 'import time
while time.process_time() < 1: pass'; ok; }
part_lint() { sleep 2; ok; }
part_replay() { kill -9 $BASHPID; }
parts=(unit lint replay)
{ times; echo 60; } >"$results/prepare.times"
side_by_side
say_times
""", TOP=str(TOP))
    assert rc == 0, err
    rows = [ln.split() for ln in out.splitlines() if ln.startswith("time: ")]
    assert rows[0] == ["time:", "part", "wall", "processor"]
    took = {r[1]: (int(r[2]), int(r[4])) for r in rows[1:]}
    assert sorted(took) == ["lint", "prepare", "unit", "whole"]
    assert rows[1][1] == "prepare" and rows[-1][1] == "whole"
    assert took.pop("prepare")[0] == 60
    assert took.pop("whole")[1] >= took["unit"][1]
    assert took["unit"][1] >= 1 and took["unit"][0] < 60
    assert took["lint"][1] == 0 and took["lint"][0] >= 2
    walls = [int(r[2]) for r in rows[1:-1]]
    assert walls == sorted(walls, reverse=True)
    kept = (tmp_path / "results/times").read_text().splitlines()
    assert kept == [ln for ln in out.splitlines() if ln.startswith("time: ")]


SANITIZE = PARTS + """
. "$TOP/testsuite/check/sanitize.sh"
need_packages() { :; }
need_slurm_source() { :; }
sanitize_options=(a) tsan_options=(t)
run_unit_programs() { : >"$T/building"; until_there tsan.done; say "ran $3"; }
"""


def test_the_second_configure_runs_beside_the_first_build(shell):
    """Each waits for the other: one after the other they would not end."""
    rc, out, err = shell(SANITIZE + """
configured() {
	[ "$1" = tsan ] || return 0
	until_there building && : >"$T/tsan.done"
}
part_sanitize
""", TOP=str(TOP))
    assert rc == 0, err
    assert [ln for ln in out.splitlines() if ln.startswith("ran ")] == [
        "ran sanitize", "ran sanitize with TSan"]


def test_a_second_configure_that_fails_fails_the_part(shell):
    rc, out, _ = shell(SANITIZE + """
configured() { [ "$1" != tsan ] || { : >"$T/tsan.done"; exit 3; }; }
part_sanitize
""", TOP=str(TOP))
    assert rc == 1 and "ran sanitize with TSan" not in out


def test_what_computes_longest_begins_first(shell):
    rc, out, err = shell("""
. "$TOP/testsuite/lib/run.sh"
{ echo testsuite/unit/test_a; printf 'testsuite/%s\n' "${unit_first[@]}" | sort
echo testsuite/unit/test_b; } | longest_first
echo testsuite/unit/test_c | longest_first
echo "${unit_first[*]}"
""", TOP=str(TOP))
    assert rc == 0, err
    *order, names = out.splitlines()
    first = [f"testsuite/{n}" for n in names.split()]
    assert order == first + [f"testsuite/unit/test_{x}" for x in "abc"]
    assert len(first) > 2 and not [f for f in first if not (
        TOP / (f.replace("fuzz/test_", "fuzz/") + ".c")).exists()]


def test_ci_prints_the_releases_and_runs_all_parts(tmp_path):
    for name, says in (("testsuite/matrix/table.py", "table"),
                       ("contribs/check.sh", "strict=${VS_STRICT:-} $*")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f'#!/bin/sh\necho "{says}"\n')
        (tmp_path / name).chmod(0o755)
    (tmp_path / ".ci").mkdir()
    shutil.copy(TOP / ".ci/run", tmp_path / ".ci/run")
    env = {k: v for k, v in os.environ.items() if k != "VS_STRICT"}
    said = subprocess.run([tmp_path / ".ci/run"], env=env, text=True, capture_output=True,
                          check=True).stdout
    assert said == "table\nstrict= all sanitize\n"


def test_contribs_runs_beside_the_parts_that_compute(shell, tmp_path):
    """Each waits for the other to begin: one after the other they would not end."""
    rc, out, err = shell(PARTS + """
part_contribs() { : >"$T/contribs"; until_there unit && ok; }
part_unit() { : >"$T/unit"; until_there contribs && ok; }
parts=(contribs unit)
side_by_side
say "$passed $failed"
""", TOP=str(TOP))
    assert rc == 0, err
    assert out.splitlines()[-1] == "2 0"


def test_parts_side_by_side_end_together_and_clean_up(shell, tmp_path):
    """Only the script is told, as by a service that ends it."""
    p = shell.start(PARTS + """
wait_here() {
	python3 -c "import pathlib, signal, sys, time
def end(*_):
    time.sleep(1); pathlib.Path('$T/$1.ended').touch(); sys.exit(1)
signal.signal(signal.SIGTERM, end)
pathlib.Path('$T/$1.began').touch(); time.sleep(60)"
}
part_system() { copy=$T/copy; mkdir "$copy"; wait_here system; }
part_unit() { wait_here unit; }
part_lint() { : >"$T/late"; }
parts=(system unit lint)
side_by_side
""", TOP=str(TOP))
    wait_for("they run", 30, lambda: len(
        list(tmp_path.glob("*.began"))) == 2)
    p.terminate()
    assert p.wait(30) == 143
    p.communicate()
    assert len(list(tmp_path.glob("*.ended"))) == 2, "it waited for them"
    assert not (tmp_path / "copy").exists()
    assert not (tmp_path / "late").exists(), "nothing more was begun"


def test_what_outlives_a_run_is_ended_and_is_a_failure(shell):
    rc, out, _ = shell(PARTS + """
export VS_RUN=$$.test
setsid sleep 300 </dev/null >/dev/null 2>&1 &
of_the_run=$!
env -u VS_RUN sleep 300 </dev/null >/dev/null 2>&1 &
not_of_it=$!
for p in $of_the_run $not_of_it; do
	until [ "$(cat /proc/$p/comm)" = sleep ]; do sleep 0.05; done
done
nothing_left
wait "$of_the_run" || say "ended with $?"
kill "$not_of_it" && say "the other lives"
say "$failed failed"
""", TOP=str(TOP))
    assert rc == 0
    assert re.search(r"FAILED: left over: process \d+: sleep 300 \nended with 137\n"
                     r"the other lives\n1 failed\n$", out)


# ---- homes, names, ports --------------------------------------------------------

@pytest.mark.parametrize("home", [None, "", "/nonexistent", "/proc"])
def test_without_a_home_that_can_be_written_there_is_one(home):
    env = {k: v for k, v in os.environ.items()
           if k not in ("HOME", "XDG_CACHE_HOME", "VS_CACHE")}
    if home is not None:
        env["HOME"] = home
    got = subprocess.run(
        ["bash", "-c", f'. "{TOP}/testsuite/lib/setup.sh"; printf "%s\\n" "$HOME" '
         '"$VS_CACHE"; : >"$HOME/vs-test.$$" && rm "$HOME/vs-test.$$"'],
        env=env, text=True, capture_output=True, check=True).stdout.split()
    assert got[0] not in ("", "/nonexistent", "/proc")
    assert got[1] == got[0] + "/.cache/slurm-vsphere"
    if got[0].startswith("/var/tmp/"):
        os.rmdir(got[0])


def test_ports_that_are_not_listened_on_yet_have_one_owner():
    """Two clusters at once; what the first has chosen it uses later."""
    found = [free_ports(150) for _ in range(30)]
    blocks = {b for base, _ in found for b in (base, base + 100)}
    assert len(blocks) == 60
    theirs = subprocess.run(
        [sys.executable, "-c", "import daemons\n"
         "for _ in range(20): print(daemons.free_ports(100)[0])"],
        cwd=TOP / "testsuite/system", text=True, capture_output=True,
        check=True).stdout.split()
    assert len(theirs) == 20 and not {int(b) for b in theirs} & blocks
    for _, owned in found:
        owned.close()


@pytest.mark.parametrize("words, says", [
    (["chaos", "--with", "valgrind"], "--with address or --with thread"),
    (["chaos", "--with"], "--with address or --with thread"),
    (["chaos", "--seed"], "--seed needs a number"),
    (["everything"], "unknown part 'everything'"),
    (["chaos", "--with", "thread", "everything"], "unknown part 'everything'"),
])
def test_check_says_which_of_its_words_is_wrong(words, says, tmp_path):
    r = subprocess.run(["bash", TOP / "contribs/check.sh", *words], text=True,
                       capture_output=True, check=False, timeout=20,
                       env={**os.environ, "VS_CACHE": str(tmp_path)})
    assert r.returncode and says in r.stderr


# ---- the folder ------------------------------------------------------------

def test_contribs_shows_what_people_run_and_folders():
    """doc/dev/testing.md says where the rest lies."""
    assert sorted(f.name for f in (TOP / "contribs").iterdir()
                  if f.name not in ("__pycache__", ".dirstamp", ".deps", ".libs")) == [
        "bench.sh", "check.sh", "demo.sh", "guest", "health", "monitoring",
        "packaging", "probe", "vhpc-import", "vsphere.conf"]


# ---- bounds ----------------------------------------------------------------

@pytest.mark.parametrize("want, waits", [(0.5, False), (3.0, True), (99, True)])
def test_a_bound_is_that_of_a_machine_with_nothing_else_to_do(
        monkeypatch, want, waits):
    monkeypatch.setattr(daemons, "busy", lambda: want)
    began = time.monotonic()

    def late():
        return time.monotonic() - began > 1
    if waits:
        wait_for("it", 0.6, late)
    else:
        with pytest.raises(daemons.Timeout, match="0.5 want each CPU"):
            wait_for("it", 0.6, late)
    assert daemons.patient(20) == 20 * min(max(want, 1), daemons.PATIENCE)
    assert daemons.patient(100) <= daemons.PATIENT_S
    assert daemons.patient(300) == 300


def test_how_busy_a_machine_is_can_be_read():
    assert 0 < daemons.busy() < 10000
