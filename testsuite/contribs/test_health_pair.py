# SPDX-License-Identifier: GPL-2.0-or-later
"""pair.sbatch: the options that perftest is given."""

import subprocess

import pytest

from conftest import TOP

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
        ["bash", "-c", "eval \"$(sed -n '/^card_find()/,/^}/p; /^perftest()/,/^}/p' "
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
