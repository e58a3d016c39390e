# SPDX-License-Identifier: GPL-2.0-or-later
"""What real guests showed of a boot: a restart of the unit during a job, a reload
while the port is waited for, a root that stays read-only, an identity that failed,
a munged that does not run; and the units themselves."""

import os
import pathlib
import select
import shutil
import signal
import subprocess
import time

import pytest

from test_guest import (  # noqa: F401
    GUEST, ID, PORT, SCRIPT, boots, failed, guest, kernel_takes, real)


def start(real, *more):                     # noqa: F811
    mtu = real.root / "sys/class/net/eth1/mtu"
    return real.run("start", *more, "--", "touch", str(real.dir / "started"),
                    ip=kernel_takes(mtu))


def run_dir(real):                          # noqa: F811
    return real.dir / "slurm-vsphere"


def commands(real, **bodies):               # noqa: F811
    """Recorders for programs of the system, by their names."""
    where = real.dir / "bin"
    where.mkdir(exist_ok=True)
    for name, body in bodies.items():
        cmd = where / name
        cmd.write_text(f'#!/bin/sh\necho "{name} $*" >>"{real.dir}/commands"\n'
                       f'{body}\n')
        cmd.chmod(0o755)
    real.env["PATH"] = f"{where}:{os.environ['PATH']}"


def commands_run(real):                     # noqa: F811
    log = real.dir / "commands"
    return log.read_text().splitlines() if log.exists() else []


# ---- the unit during a job -------------------------------------------------------

def test_a_restart_during_a_job_leaves_the_place_of_its_vm(real):  # noqa: F811
    """Its next step has SLURM_VSPHERE_HOST and _PF of that file."""
    boots(real, "one")
    assert start(real).returncode == 0
    place = run_dir(real) / "place"
    place.write_text("host esx1\npf 0000:3b:00.0\n")
    assert real.run("identity").returncode == 0
    assert real.ready()[0] == "ok"      # slurmd is not restarted with it
    assert start(real).returncode == 0
    assert place.read_text() == "host esx1\npf 0000:3b:00.0\n"
    boots(real, "two")
    assert real.run("identity").returncode == 0
    assert not place.exists()


def waiting(real, verb):                    # noqa: F811
    """The script, while slurm-vsphere-port waits for a port that is DOWN."""
    (real.dir / "state").write_text("1: DOWN\n")
    looks = run_dir(real) / "looks"
    mtu = real.root / "sys/class/net/eth1/mtu"
    env = {**real.environment(), "SV_ROOT": str(real.root), "SV_WAIT": "25",
           "SV_GUESTINFO_CMD": str(GUEST / "simulator-hook"),
           "SV_IP": real.write_ip(kernel_takes(mtu)),
           "SV_VERBS": str(real.dir / "verbs"), "SV_VERBS_LOG": str(looks),
           "SLURM_VSPHERE_RUN": str(run_dir(real))}
    p = subprocess.Popen([str(SCRIPT), verb, "--", "touch",
                          str(real.dir / "started")], env=env, text=True,
                         stderr=subprocess.PIPE, start_new_session=True)
    end = time.monotonic() + 20
    while not (looks.exists() and looks.read_text()):
        assert time.monotonic() < end and p.poll() is None, p.stderr.read()
        time.sleep(0.02)
    return p


def children(pid):
    text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(x) for x in text.split()]


def test_a_reload_while_the_port_is_waited_for_is_survived(real):  # noqa: F811
    p = waiting(real, "start")
    try:
        p.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            p.wait(0.5)
        (real.dir / "state").write_text("4: ACTIVE\n")
        assert p.wait(20) == 0, p.stderr.read()
        assert real.started() and real.ready()[0] == "ok"
    finally:
        if p.poll() is None:
            os.killpg(p.pid, signal.SIGKILL)
            p.wait(10)


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGKILL])
def test_what_waits_for_the_port_ends_with_the_unit(real, sign):  # noqa: F811
    """KillMode=process: systemd signals the script alone."""
    p = waiting(real, "start")
    waits, = children(p.pid)
    exe = pathlib.Path(f"/proc/{waits}/exe").resolve()
    assert exe.name.endswith(PORT.name)
    fd = os.pidfd_open(waits)
    try:
        p.send_signal(sign)
        p.wait(10)
        assert select.select([fd], [], [], 5)[0], "slurm-vsphere-port is left"
    finally:
        os.close(fd)
        if pathlib.Path(f"/proc/{waits}").exists():
            os.killpg(p.pid, signal.SIGKILL)


# ---- an identity that fails ------------------------------------------------------

def unwritable(real, name):                 # noqa: F811
    """As on a read-only root, for root too: nothing writes to a folder."""
    path = real.root / "etc" / name
    path.unlink(missing_ok=True)
    path.mkdir()
    return path


@pytest.mark.parametrize("name, text", [("hostname", "vm007\n"),
                                        ("machine-id", ID + "\n")])
def test_on_a_read_only_root_the_file_is_covered(real, name, text):  # noqa: F811
    path = unwritable(real, name)
    commands(real, mount="", chcon="")
    r = real.run("identity")
    assert (r.returncode, r.stderr) == (0, "")
    cover = run_dir(real) / "etc" / name
    assert cover.read_text() == text
    assert cover.stat().st_mode & 0o777 == 0o644
    assert commands_run(real) == [f"chcon --reference={path} {cover}",
                                  f"mount --bind {cover} {path}"]


def test_a_host_name_that_cannot_be_kept_is_set_all_the_same(real):  # noqa: F811
    unwritable(real, "hostname")
    commands(real, mount="exit 32", chcon="")
    r = real.run("identity")
    assert r.returncode == 0 and "host name is set for this boot only" in r.stderr
    assert (real.root / "proc/sys/kernel/hostname").read_text() == "vm007"


def test_a_machine_id_that_cannot_be_set_is_told_and_tried_again(real):  # noqa: F811
    """identity.service is over then, and slurmd's unit runs all the same."""
    path = unwritable(real, "machine-id")
    commands(real, mount="exit 32", chcon="", systemctl="")
    for r in (real.run("identity"), start(real)):
        failed(real, r, 1, "etc/machine-id can't be written", state="bad-template")
    path.rmdir()
    r = start(real)
    assert r.returncode == 0, r.stderr
    assert path.read_text() == ID + "\n" and real.started()
    # the network came up without the node's files
    again = [f"systemctl try-restart {u}.service" for u in (
        "systemd-networkd", "NetworkManager", "ssh", "sshd")]
    assert [x for x in commands_run(real) if x.startswith("systemctl")] == again
    assert start(real).returncode == 0      # and once only
    assert [x for x in commands_run(real) if x.startswith("systemctl")] == again


# ---- munge -----------------------------------------------------------------------

MUNGE = "echo 'munge: Error: Failed to access \"/run/munge/munge.socket.2\": " \
        "No such file or directory' >&2; exit 6"


def no_munged(real, getent, journal=""):    # noqa: F811
    commands(real, munge=MUNGE, getent=getent,
             journalctl=f"printf '%s\\n' '{journal}'")
    real.env["SV_MUNGE"] = "munge"


def key(real):                              # noqa: F811
    f = real.root / "etc/munge/munge.key"
    f.parent.mkdir()
    f.write_text("key")


def test_a_name_that_munged_cannot_look_up_is_diagnosed(real):  # noqa: F811
    real.run("identity")
    key(real)
    no_munged(real, "exit 2", "munged: Error: Failed to lookup origin")
    failed(real, start(real), 1, "munged does not answer: ",
           "can't look up its own name vm007", "install libnss-myhostname", state="bad-template")
    assert "getent hosts vm007" in commands_run(real)


def test_a_template_without_munge_key_is_diagnosed(real):  # noqa: F811
    no_munged(real, "")
    failed(real, start(real), 1, "etc/munge/munge.key is missing or empty",
           state="bad-template")


@pytest.mark.parametrize("journal, words", [
    ("munged: Error: Keyfile is insecure: invalid permissions",
     "munged does not answer: Keyfile is insecure: invalid permissions"),
    ("", "Failed to access")])
def test_else_the_reason_is_munges_own(real, journal, words):  # noqa: F811
    key(real)
    no_munged(real, "", journal)
    failed(real, start(real), 1, words, state="bad-template")


def test_a_site_without_munge_is_not_asked_for_it(real):  # noqa: F811
    """AuthType=auth/slurm."""
    real.env["SV_MUNGE"] = "/nowhere/munge"
    assert start(real).returncode == 0


# ---- slurmctld -------------------------------------------------------------------

def scontrol(real, says, times=9):          # noqa: F811
    """An scontrol that fails so often, and then no more."""
    tries = real.dir / "tries"
    commands(real, scontrol='[ "$1" != -V ] || { [ -e "$SLURM_CONF" ] && echo slurm-wlm 22.05.8; exit; }; '
             f'cat "$SLURM_CONF" >"{real.dir}/asked"; echo >>"{tries}"; '
             f'[ $(wc -l <"{tries}") -le {times} ] || exit 0; echo "{says}" >&2; exit 1')
    real.env["SV_SCONTROL"] = "scontrol"


REFUSED = [f"slurm_load_ctl_conf error: {words}" for words in (
    "Zero Bytes were transmitted or received", "Protocol authentication error",
    "Incompatible versions of client and server code")]


@pytest.mark.parametrize("says", REFUSED)
def test_a_slurmctld_that_refuses_the_guest_is_said(real, says):  # noqa: F811
    """Another munge key, a clock that is off, another release: slurmd would try for ever."""
    scontrol(real, says)
    failed(real, start(real), 1, "slurmctld refuses this guest (" + says.partition(": ")[2] + "): ",
           "munge key", time.strftime("clock (%Y-", time.gmtime()), "(slurm 22.05.8)")
    assert (real.dir / "asked").read_text().splitlines() == [
        "ClusterName=CONFIGLESS", "SlurmctldHost=ctl1", "SlurmctldPort=6817", "SlurmctldHost=ctl2"]


def test_a_slurmctld_that_was_about_to_end_is_asked_again(real):  # noqa: F811
    scontrol(real, REFUSED[0], times=2)
    assert start(real).returncode == 0 and real.started()
    assert "slurmctld" not in real.told()["guestinfo.slurm.reason"]


@pytest.mark.parametrize("says, told", [
    ("slurm_load_ctl_conf error: Unable to contact slurm controller (connect failure)",
     "Unable to contact slurm controller (connect failure)"),
    ("", "no word within 15 s")])
def test_a_slurmctld_that_does_not_answer_is_slurmds_to_wait_for(real, says, told):  # noqa: F811
    scontrol(real, says)
    assert start(real).returncode == 0 and real.started()
    assert len(commands_run(real)) == 1
    assert real.told()["guestinfo.slurm.reason"].endswith("; slurmctld did not answer: " + told)


@pytest.mark.parametrize("lacks", ["conf-server", "munge", "scontrol", "slurm.key"])
def test_where_slurmctld_cannot_be_asked_slurmd_starts(real, lacks):  # noqa: F811
    scontrol(real, REFUSED[0])
    if lacks == "conf-server":
        del real.info["conf-server"]
    elif lacks == "slurm.key":
        (real.root / "etc/slurm").mkdir(parents=True)
        (real.root / "etc/slurm/slurm.key").touch()
    else:
        real.env[f"SV_{lacks.upper()}"] = "/nowhere"
    assert start(real).returncode == 0 and real.started()
    assert commands_run(real) == []


# ---- the units -------------------------------------------------------------------

def unit(name):
    """{section: {key: [words]}}, as systemd joins lines of one key."""
    sections, at = {}, None
    for line in (GUEST / name).read_text().splitlines():
        if line.startswith("["):
            at = sections.setdefault(line.strip("[]"), {})
        elif line and not line.startswith("#"):
            k, _, value = line.partition("=")
            at.setdefault(k, []).extend(value.split())
    return sections


SLURMD, IDENTITY, FREEZE = (f"slurm-vsphere-{x}.service" for x in (
    "slurmd", "identity", "freeze"))


# The order of Debian 12's own units, and what enables them.
OTHERS = {
    "chrony.service": (
        "Wants=time-sync.target\nBefore=time-sync.target\nAfter=network.target",
        "multi-user.target"),
    "chrony-wait.service": (
        "After=chronyd.service\nBefore=time-sync.target\nWants=time-sync.target",
        "multi-user.target"),
    "NetworkManager.service": (
        "Wants=network.target\nAfter=network-pre.target dbus.service\n"
        "Before=network.target", "multi-user.target"),
    "NetworkManager-wait-online.service": (
        "Requires=NetworkManager.service\nAfter=NetworkManager.service\n"
        "Before=network-online.target", "network-online.target"),
    "munge.service": (
        "Wants=network-online.target\nAfter=network-online.target time-sync.target",
        "multi-user.target"),
    "sssd.service": (
        "Before=systemd-user-sessions.service nss-user-lookup.target",
        "multi-user.target"),
}


def test_systemd_takes_the_units_and_their_order_has_no_cycle(tmp_path):
    """Enabled in a root of their own, beside systemd's own units."""
    root = tmp_path / "root"
    to = root / "usr/lib/systemd/system"
    (root / "usr/sbin").mkdir(parents=True)
    shutil.copytree("/usr/lib/systemd/system", to, symlinks=True,
                    ignore=shutil.ignore_patterns("slurm*"))
    for name in (SLURMD, IDENTITY, FREEZE):
        shutil.copy(GUEST / name, to / name)
    for name, (order, _) in OTHERS.items():
        (to / name).unlink(missing_ok=True)
        (to / name).write_text(f"[Unit]\n{order}\n[Service]\nExecStart=/bin/kill\n")
    for target, name in [
            *((t, name) for name, (_, t) in OTHERS.items()),
            ("sysinit.target", IDENTITY), ("multi-user.target", SLURMD),
            ("multi-user.target", "systemd-networkd.service"),
            ("network-online.target", "systemd-networkd-wait-online.service"),
            ("sysinit.target", "systemd-time-wait-sync.service")]:
        (to / f"{target}.wants").mkdir(exist_ok=True)
        (to / f"{target}.wants" / name).unlink(missing_ok=True)
        (to / f"{target}.wants" / name).symlink_to(f"../{name}")
    shutil.copy(SCRIPT, root / "usr/sbin")
    (root / "bin").mkdir()
    shutil.copy(shutil.which("kill"), root / "bin/kill")
    shutil.copytree("/usr/lib/systemd", root / "usr/lib/systemd",
                    dirs_exist_ok=True, symlinks=True,
                    ignore=shutil.ignore_patterns("system"))
    for name in (SLURMD, IDENTITY, FREEZE, "multi-user.target"):
        r = subprocess.run(["systemd-analyze", "verify", "--man=no",
                            f"--root={root}", name], text=True, timeout=60,
                           capture_output=True, check=False)
        wrong = [x for x in (r.stdout + r.stderr).splitlines()
                 if "slurm-vsphere" in x or "cycle" in x]
        assert not wrong and (r.returncode == 0 or name.endswith("target"))


def test_the_units_are_enabled_where_the_recipe_enables_them():
    assert unit(IDENTITY)["Install"]["WantedBy"] == ["sysinit.target"]
    assert unit(SLURMD)["Install"]["WantedBy"] == ["multi-user.target"]
    assert "Install" not in unit(FREEZE)    # slurmd's unit wants it


def test_the_machine_id_is_written_after_systemd_has_committed_its_own():
    """Until then /etc/machine-id is a read-only mount."""
    assert "systemd-machine-id-commit.service" in unit(IDENTITY)["Unit"]["After"]
    assert "network-pre.target" in unit(IDENTITY)["Unit"]["Before"]


def test_a_clone_source_freezes_before_anything_waits_for_a_network():
    u = unit(FREEZE)
    assert {"network-online.target", "time-sync.target",
            "systemd-networkd-wait-online.service",
            "NetworkManager-wait-online.service"} <= set(u["Unit"]["Before"])
    assert u["Unit"]["ConditionFileNotEmpty"] == [
        "/run/slurm-vsphere/guestinfo/parent"]
    assert u["Service"]["TimeoutStartSec"] == ["infinity"]
    assert IDENTITY in u["Unit"]["After"]
    assert FREEZE in unit(SLURMD)["Unit"]["After"]
    assert FREEZE in unit(SLURMD)["Unit"]["Wants"]


def test_a_node_without_parent_has_an_empty_file_for_the_condition(real):  # noqa: F811
    assert real.run("identity").returncode == 0
    assert (run_dir(real) / "guestinfo/parent").read_bytes() == b""
    real.info = {"parent": "yes"}
    shutil.rmtree(run_dir(real) / "guestinfo")
    assert real.run("identity").returncode == 0
    assert (run_dir(real) / "guestinfo/parent").read_bytes() == b"yes"


def test_what_slurmd_waits_for_may_fail_and_the_script_says_why():
    u = unit(SLURMD)["Unit"]
    assert "Requires" not in u
    assert {"munge.service", IDENTITY} <= set(u["Wants"]) & set(u["After"])


def test_slurmd_may_lock_all_memory_and_a_reload_never_ends_the_unit():
    s = unit(SLURMD)["Service"]
    assert s["LimitMEMLOCK"] == ["infinity"]
    assert s["RestartForceExitStatus"] == ["SIGHUP"]
