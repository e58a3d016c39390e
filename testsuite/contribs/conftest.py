# SPDX-License-Identifier: GPL-2.0-or-later
"""Several files at once (testsuite/system/shards.py), without a second look. Temporary
files go with the run; a shell of its own for contribs' functions."""

import os
import pathlib
import signal
import subprocess
import sys

import pytest

TOP = pathlib.Path(os.environ.get("VS_TOP",
                                  pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))

import scratch  # noqa: E402
import shards   # noqa: E402

JOBS = 2
# The longest, as they were measured.
FIRST = ("test_release", "test_check_counts", "test_man", "test_template")


def pytest_cmdline_main(config):
    return shards.main(config, JOBS, FIRST, look_again=False)


def pytest_configure(config):
    scratch.make(config)


def pytest_unconfigure(config):
    scratch.remove(config)


LINT = TOP / "testsuite/lint"


def plant(top, files):
    """Writes these files, by their names below top."""
    for name, text in files.items():
        f = top / name
        f.parent.mkdir(parents=True, exist_ok=True)
        f.write_text(text)


def lint_run(script, top, *options):
    """The exit status and what the script of testsuite/lint said of a tree."""
    done = subprocess.run(
        ["/usr/bin/python3", str(LINT / script), "--top", str(top), *options],
        text=True, capture_output=True, check=False, timeout=60)
    return done.returncode, done.stdout + done.stderr


# As root by name only: what would change the machine is written down.
STUBS = r"""
as_root() {
	case $1 in
	update-rc.d) echo "$*" >>"$T/calls" ;;
	*) "$@" ;;
	esac
}
need_root() { :; }
package_installed() { true; }
VS_POLICY=$T/policy-rc.d
"""


@pytest.fixture
def shell(tmp_path):
    """Runs lines of shell after setup.sh; stub programs are in tmp_path/bin."""
    (tmp_path / "bin").mkdir()

    def start(script, **env):
        return subprocess.Popen(
            ["bash", "-c", f'. "{TOP}/testsuite/lib/setup.sh"\n{STUBS}\n{script}'],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, cwd=tmp_path,
            # Who runs the tests in the background has it ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            env={
                **os.environ, "T": str(tmp_path),
                "VS_CACHE": str(tmp_path / "cache"),
                "PATH": f"{tmp_path}/bin:{os.environ['PATH']}", **env})

    def run(script, **env):
        p = start(script, **env)
        out, err = p.communicate(timeout=60)
        return p.returncode, out, err
    run.start = start
    return run


def program(tmp_path, name, text):
    f = tmp_path / "bin" / name
    f.write_text("#!/bin/sh\n" + text)
    f.chmod(0o755)
