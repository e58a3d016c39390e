# SPDX-License-Identifier: GPL-2.0-or-later
"""svf support: one archive with versions, configuration, log and states, and with no
secret of those that are planted here."""

import json
import os
import re
import stat
import tarfile

from cluster import Cluster
from users import NOBODY, as_user
from worlds import world

SESSION = "52b1a9e0-5d3c-9f1e-7a42-0c1d2e3f4a5b"
PLANTED = {
    "AccountingStoragePass": "st0re-pass-1",
    "StoragePass": "st0re-pass-2",
    "JobCompPass": "st0re-pass-3",
}


def make_cluster():
    c = Cluster(nodes=3, inventory=world(hosts=1, vfs=2))
    c.vsphere = {"ShutdownGrace": 1}
    return c


def plant(c):
    """Copies of the site's files with what no reader of the archive may see. Returns
    SLURM_CONF and the secrets."""
    there = c.path("run", "planted")
    there.mkdir(exist_ok=True)
    password = c.path("etc", "vcenter.password").read_text().strip()
    (there / "vsphere.conf").write_text(
        c.path("etc", "vsphere.conf").read_text() +
        "# the old password was comment-s3cret\n"
        "Include included.conf\n"
        f"# AdminPassword={password}\n")
    (there / "included.conf").write_text(
        "SvfListenAddr=127.0.0.1 # comment-s3cret\n")
    text = c.path("etc", "slurm.conf").read_text()
    log = there / "slurmctld.log"
    text = re.sub(r"(?m)^SlurmctldLogFile=.*$", f"SlurmctldLogFile={log}", text)
    (there / "slurm.conf").write_text(text + "# pw: comment-s3cret\n" + "".join(
        f"{k}={v}\n" for k, v in PLANTED.items()))
    log.write_text(c.ctld_log() +
                   f"[t] vmware-api-session-id: {SESSION}\n"
                   "[t] the proxy http://joe:url-s3cret@proxy:3128/ answers\n"
                   "[t] login with password=log-s3cret failed\n"
                   f"[t] it echoed {password} back\n"
                   f"[t] session[{SESSION}] is gone\n"
                   "[t] MUNGE:AwQDAAC0s3cretCredent1al+x/=: was refused\n")
    return there / "slurm.conf", [
        password, "comment-s3cret", SESSION, "url-s3cret", "log-s3cret",
        "s3cretCredent1al", *PLANTED.values()]


def read(archive):
    with tarfile.open(archive) as tar:
        return {m.name.split("/", 1)[1]: tar.extractfile(m).read().decode()
                for m in tar.getmembers() if m.isfile()}


def test_the_archive_is_whole_and_has_no_secret(cluster):
    c = cluster
    conf, secrets = plant(c)
    key = c.path("etc", "munge.key").read_bytes()
    archive = c.path("run", "one.tar.gz")
    said = json.loads(c.must("env", f"SLURM_CONF={conf}", "svf", "--json",
                             "support", str(archive)))
    files = read(archive)
    assert sorted(files) == sorted(said["files"])
    assert {"versions.txt", "vsphere.conf", "slurm.conf", "slurmctld.log",
            "status.json", "hosts.json", "nodes.json", "jobs.json",
            "reconcile.json", "check.json"} <= set(files)
    for name, text in files.items():
        for secret in secrets:
            assert secret not in text, (name, secret)
        assert key not in text.encode()
        if name.endswith(".json"):
            assert isinstance(json.loads(text), dict), name
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600
    assert "VCenterUser=" in files["vsphere.conf"]
    assert "SvfListenAddr=127.0.0.1" in files["vsphere.conf"]
    assert "SelectType=select/cons_tres_vsphere" in files["slurm.conf"]
    assert not [k for k in PLANTED if k in files["slurm.conf"]]
    assert "slurm-vsphere: ready:" in files["slurmctld.log"]
    assert json.loads(files["status.json"])["up"] is True
    assert "slurm-vsphere" in files["versions.txt"]


def test_a_configuration_with_an_error_keeps_its_secrets_too(cluster):
    """The password file is included by mistake: what svf says of it is in the archive,
    and the states are not."""
    c = cluster
    conf, secrets = plant(c)
    password = c.path("etc", "vcenter.password")
    broken = conf.parent / "vsphere.conf"
    broken.write_text(broken.read_text() +
                      f"Include {password}\nVCenterPassword={secrets[0]}x\n")
    archive = c.path("run", "two.tar.gz")
    r = c.run("env", f"SLURM_CONF={conf}", "svf", "support", str(archive))
    assert r.returncode == 0, r.stderr
    files = read(archive)
    assert "VCenterUser=" in files["vsphere.conf"]
    assert "status.json is left out" in files["left-out.txt"]
    for name, text in files.items():
        for secret in secrets:
            assert secret not in text, (name, secret)
    assert secrets[0] not in r.stdout + r.stderr


def test_nothing_is_replaced_and_nothing_is_left_behind(cluster):
    c = cluster
    tmp = c.path("run", "tmp")
    tmp.mkdir(exist_ok=True)
    there = c.path("run", "there.tar.gz")
    there.write_text("mine")
    r = c.run("env", f"TMPDIR={tmp}", "svf", "support", str(there))
    assert r.returncode == 5 and there.read_text() == "mine"
    assert list(tmp.iterdir()) == []
    r = c.run("env", f"TMPDIR={tmp}", "svf", "support", "/no/such/dir/x.tar.gz")
    assert r.returncode == 5 and "/no/such/dir" in r.stderr
    assert c.run("svf", "support", "a", "b").returncode == 2


def test_a_user_gets_what_a_user_may_see(cluster):
    c = cluster
    there = c.path("out", "user.tar.gz")
    r = as_user(c, NOBODY, "svf", "support", str(there))
    assert r.returncode == 0, r.stderr
    files = read(there)
    assert "status.json" in files
    assert os.stat(there).st_uid == NOBODY
    assert "vcenter" not in json.loads(files["status.json"])
