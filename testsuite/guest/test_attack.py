# SPDX-License-Identifier: GPL-2.0-or-later
"""testsuite/guests/attack.sh, which a booted VM runs as an ordinary user: on a tree of
files that are as in a VM it finds nothing, and it finds each that is left open."""

import os
import subprocess

import pytest

from test_guest import TOP, boots, real  # noqa: F401

ATTACK = TOP / "testsuite/guests/attack.sh"
CLOSED = {  # path below the root: mode
    "etc/munge/munge.key": 0o400, "var/lib/munge/munged.seed": 0o600,
    "var/log/munge/munged.log": 0o640, "etc/shadow": 0o640,
    "etc/ssh/ssh_host_rsa_key": 0o600, "etc/hostname": 0o644,
    "etc/machine-id": 0o644, "var/spool/slurmd/cred_state": 0o600,
    "var/spool/slurmd/job00001/slurm_script": 0o700,
    "usr/sbin/slurm-vsphere-guest": 0o755, "usr/sbin/slurm-vsphere-port": 0o755,
    "usr/lib/systemd/system/slurm-vsphere-slurmd.service": 0o644,
    "etc/slurm-vsphere/conf-server": 0o644,
    "etc/slurm-vsphere/forked.d/10-site": 0o755,
    "run/systemd/network/10.network": 0o644,
    "run/NetworkManager/system-connections/x": 0o600,
    "etc/systemd/system/x.service": 0o644, "run/systemd/system/x.service": 0o644,
    "etc/libibverbs.d/mlx5.driver": 0o644,
    "usr/lib/x86_64-linux-gnu/slurm-wlm/prep_vsphere.so": 0o644,
    "run/slurm-vsphere/ready": 0o644, "run/slurm-vsphere/place": 0o644,
    "run/slurm-vsphere/guestinfo/node": 0o600,
    "run/slurm-vsphere/guestinfo/conf-server": 0o600}
PRIVATE = ("run/slurm-vsphere/guestinfo", "etc/munge")
ROOT = os.getuid() == 0     # else the owner is kept out, but for chmod


def close(path, mode):
    path.chmod(mode if ROOT else mode & (0o555 if mode & 0o007 else 0))


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "root"
    for name in CLOSED:
        f = root / name
        f.parent.mkdir(parents=True, exist_ok=True)
        f.write_text("ok\n")
    folders = sorted((d for d in [root, *root.rglob("*")] if d.is_dir()),
                     reverse=True)
    for name, mode in CLOSED.items():
        close(root / name, mode)
    for d in folders:
        close(d, 0o700 if str(d.relative_to(root)) in PRIVATE else 0o755)
    top = tmp_path
    while not top.stat().st_mode & 0o001:       # other users pass
        top.chmod(top.stat().st_mode | 0o011)
        top = top.parent
    yield root
    subprocess.run(["chmod", "-R", "u+rwX", root], check=True)


def attack(root):
    """{its name: what came of it}"""
    become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    r = subprocess.run([*(become if ROOT else []), "sh", "-s", "files"],
                       input=ATTACK.read_text(), text=True, timeout=120,
                       capture_output=True, check=False, cwd="/",
                       env={"PATH": os.environ["PATH"], "SV_ROOT": str(root)})
    lines = r.stdout.splitlines()
    assert lines[-1].startswith("attack.sh: ") and not r.stderr, r
    rows = dict(reversed(x.split(":")[0].split(" ", 1)) for x in lines[:-1])
    if not ROOT:
        rows = {k: v for k, v in rows.items() if not k.endswith("-chmod")}
    assert r.returncode == (1 if wrong(rows) or not ROOT else 0)
    return rows


def wrong(rows):
    return {k for k, v in rows.items() if v in ("SUCCEEDED", "BROKEN")}


def test_in_a_closed_tree_all_is_refused(root):
    rows = attack(root)
    assert wrong(rows) == set()
    assert rows["ready-read"] == "works"
    assert sum(v == "refused" for v in rows.values()) > 40


def opened(path, mode):
    """And its folders can be passed."""
    path.parent.chmod(path.parent.stat().st_mode | 0o011)
    path.chmod(mode)


@pytest.mark.parametrize("path, mode, found", [
    ("etc/munge/munge.key", 0o444, {"munge-key-read"}),
    ("etc/shadow", 0o644, {"shadow-read"}),
    ("etc/ssh/ssh_host_rsa_key", 0o644, {"host-key-read"}),
    ("run/slurm-vsphere/guestinfo/node", 0o644, {"guestinfo-copy-read"}),
    ("var/spool/slurmd/cred_state", 0o644, {"spool-read"}),
    ("run/slurm-vsphere/ready", 0o666, {"ready-write"}),
    *([("var/spool/slurmd/job00001/slurm_script", 0o755,
        {"others-job-scripts-read"})] if ROOT else []),
    ("usr/sbin/slurm-vsphere-guest", 0o777, {"guest-script-write"}),
    ("usr/sbin/slurm-vsphere-port", 0o4755, {"setuid-programs"}),
    ("etc/slurm-vsphere/forked.d", 0o777, {"site-programs-into"}),
    ("run/systemd/network", 0o777, {"networkd-into"}),
    ("run/slurm-vsphere/ready", 0o600, {"ready-read"})])
def test_what_is_left_open_is_found(root, path, mode, found):
    opened(root / path, mode if ROOT or mode != 0o600 else 0)
    assert wrong(attack(root)) == found


def test_an_open_folder_of_the_script_is_found(root):
    (root / "run/slurm-vsphere").chmod(0o777)
    assert {"run-into", "ready-replace", "place-remove",
            "guestinfo-copy-swap"} <= wrong(attack(root))


def test_the_scripts_own_files_are_not_written_by_others(real):    # noqa: F811
    """Of all that the script writes below /run, whatever umask it has."""
    boots(real, "one")
    real.info["address"] = "10.1.0.7/16"
    real.boot("true")
    old = os.umask(0)
    try:
        assert real.run("identity").returncode == 0
        real.run("start", "--", "true")
    finally:
        os.umask(old)
    below = [real.dir / "slurm-vsphere", *(real.dir / "slurm-vsphere").rglob("*")]
    assert len(below) > 10
    assert not [p for p in below if p.stat().st_mode & 0o022]
    assert not [p for p in (real.root / "run").rglob("*")
                if p.stat().st_mode & 0o022]
