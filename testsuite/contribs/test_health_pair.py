# SPDX-License-Identifier: GPL-2.0-or-later
"""pair.sbatch: the options that perftest is given."""

import subprocess
import sys

import pytest

from conftest import TOP

sys.path.insert(0, str(TOP / "contribs/health"))

import perf         # noqa: E402

PAIR = TOP / "contribs/health/pair.sbatch"


@pytest.mark.parametrize("more", [
    "", "-q 4", "--report_gbits", "-q 4 --report_gbits -D 2", "-s 8 --duration 3"])
def test_no_option_is_said_twice(tmp_path, more):
    """Newer perftests refuse that."""
    port = tmp_path / "class/infiniband/mlx5_0/ports/1"
    port.mkdir(parents=True)
    (port / "state").write_text("4: ACTIVE\n")
    (port / "rate").write_text("100 Gb/sec (4X EDR)\n")
    program = tmp_path / "ib_send_bw"
    program.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    program.chmod(0o755)
    r = subprocess.run(
        ["bash", "-c", "eval \"$(sed -n '/^nic_find()/,/^}/p; /^perftest()/,/^}/p' "
         "\"$1\")\"; perftest ib_send_bw 0", "task", PAIR],
        text=True, capture_output=True, timeout=30, check=True, env={
            "PATH": f"{tmp_path}:/usr/bin:/bin", "HEALTH_SYS": str(tmp_path),
            "SLURM_VSPHERE_DEVICE": "mlx5_0", "HEALTH_BW_OPTIONS": more})
    said = r.stdout.split()
    short = {"--duration": "-D", "--size": "-s"}
    options = [short.get(w, w) for w in said if w.startswith("-")]
    assert len(set(options)) == len(options), said
    assert {"--report_gbits", "-D", "-s", "-d", "-i", "-F"} <= set(options), said
    assert set(more.split()) <= set(said), said


# Of srun what is after its options; scontrol knows two nodes.
SRUN = """#!/bin/bash
while [[ $1 == -* ]]; do
	[ "$1" != -w ] || { export SLURMD_NODENAME=$2; shift; }
	shift
done
[ -n "$SRUN_ENDS" ] || exec "$@"
"$@"
printf %s "$SRUN_ENDS"
"""
SCONTROL = """#!/bin/bash
[ "$2" != hostnames ] || printf '%s\\n' vm001 vm002
"""
# The server is ended in the middle of a line, by who sees its client fail.
BW = """#!/bin/bash
case ${*: -1} in
vm00?)	until [ -s said ]; do sleep 0.05; done
	rm said
	echo "Unable to modify QP"
	exit 3 ;;
esac
printf 'a line\\nhalf a li'
echo x >said
exec sleep 60
"""


# A client whose first WRONG runs could not measure the clock.
BUSY = """#!/bin/bash
case ${*: -1} in
vm00?)	until [ -s said ]; do sleep 0.05; done
	rm said
	figure=92.00
	if [ "$(wc -l <runs)" -le "$WRONG" ]; then
		figure=0.000000
		echo 'Correlation coefficient r^2: 0.81796 < 0.9'
	fi
	echo ' #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]'
	echo " 65536      514           $figure            $figure            0.1" ;;
*)	echo run >>runs
	echo x >said ;;
esac
"""


def pair(tmp_path, program=BW, **env):
    """What pair.sbatch prints, and that as it is read."""
    port = tmp_path / "class/infiniband/mlx5_0/ports/1"
    port.mkdir(parents=True)
    (port / "state").write_text("4: ACTIVE\n")
    (port / "rate").write_text("100 Gb/sec (4X EDR)\n")
    for name, text in (("srun", SRUN), ("scontrol", SCONTROL),
                       ("ib_send_bw", program)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    r = subprocess.run(["bash", PAIR], text=True, capture_output=True,
                       timeout=60, check=True, cwd=tmp_path, env={
        "PATH": f"{tmp_path}:/usr/bin:/bin", "HEALTH_SYS": str(tmp_path),
        "SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "vm[001-002]",
        "SLURM_VSPHERE_DEVICE": "mlx5_0", "HEALTH_TESTS": "ib_send_bw", **env})
    return r.stdout, perf.read_job(r.stdout)


def test_a_server_that_is_ended_in_mid_line_hides_no_result(tmp_path):
    text, job = pair(tmp_path)
    assert [(t["from"], t["rc"]) for t in job["tests"]] == [
        ("vm001", 3), ("vm002", 3)], text
    for t in job["tests"]:
        assert t["text"].endswith("server: a line\nserver: half a li\n"), text
        with pytest.raises(perf.Unreadable, match="Unable to modify QP"):
            perf.measure(t)
    assert job["done"]


def test_a_step_that_is_ended_in_mid_line_hides_no_nic(tmp_path):
    text, job = pair(tmp_path, SRUN_ENDS="srun: err", HEALTH_TESTS=" ")
    assert sorted(job["nics"]) == [("vm001", 0), ("vm002", 0)], text
    assert job["done"]


@pytest.mark.parametrize("wrong, runs", [(0, 2), (2, 4)])
def test_perftest_runs_again_where_it_could_not_measure_the_clock(tmp_path, wrong, runs):
    text, job = pair(tmp_path, BUSY, WRONG=str(wrong))
    assert [perf.measure(t) for t in job["tests"]] == [92.0, 92.0], text
    assert len((tmp_path / "runs").read_text().split()) == runs


def test_a_clock_that_is_never_measured_is_named(tmp_path):
    text, job = pair(tmp_path, BUSY, WRONG="9")
    assert len((tmp_path / "runs").read_text().split()) == 6
    for t in job["tests"]:
        assert t["rc"] == 0, text
        with pytest.raises(perf.Unreadable, match="could not measure the machine's clock"):
            perf.measure(t)
