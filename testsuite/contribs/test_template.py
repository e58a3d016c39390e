# SPDX-License-Identifier: GPL-2.0-or-later
"""The role of contribs/guest/ansible, played against a root of Debian 12: what the
template then holds, what it does not hold any more, and that a second run changes nothing."""

import fcntl
import json
import os
import pathlib
import re
import subprocess
import time

import pytest

from conftest import TOP
from template_packer import SITE, copied, packer, vcenter
import template_root
from template_root import ANSIBLE, Guest, checked

PLUGINS = f"/usr/lib/{os.uname().machine}-linux-gnu/slurm-wlm"
KEY = bytes(range(128))
# What a VM that was a node, or was booted once, has of its own.
ONCE = ["/etc/slurm/slurm.conf", "/etc/ssh/slurm-vsphere-vm", "/var/lib/munge/munge.seed",
        "/etc/udev/rules.d/70-persistent-net.rules", "/var/spool/slurmd/cred_state",
        "/var/lib/slurm/slurmd/cred_state", "/var/lib/dhcp/dhclient.ens192.leases",
        "/var/lib/NetworkManager/internal-1.lease", "/var/lib/NetworkManager/secret_key",
        "/var/lib/systemd/random-seed", "/var/lib/systemd/credential.secret",
        "/var/lib/cloud/instance/id", "/var/log/journal/0123/system.journal",
        "~root/.bash_history", "/var/cache/apt/archives/x_1_all.deb"]
LOGS = ["/var/log/messages", "/var/log/slurm/slurmd.log"]


def changed(output):
    """What the recap counts."""
    (n,) = re.findall(r"^vm +: ok=\d+ +changed=(\d+) +unreachable=0 +failed=0 ", output, re.M)
    return int(n)


def test_one_file_at_a_time_makes_and_copies_the_base(tmp_path, monkeypatch):
    """test_template_rhel.py runs beside this file."""
    seen = []

    def look(what, result=None):
        with open(tmp_path / "cache/template.lock", "w", encoding="utf-8") as f:
            try:
                fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
                seen.append(f"{what} free")
            except BlockingIOError:
                seen.append(f"{what} locked")
        return result

    monkeypatch.setattr(template_root, "CACHE", tmp_path / "cache/template")
    monkeypatch.setattr(template_root, "base", lambda: look("base", "b"))
    monkeypatch.setattr(template_root, "checked", lambda *words: "cp" in words and look("copy"))
    Guest("x", tmp_path / "files")
    look("after")
    assert seen == ["base locked", "copy locked", "after free"]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The variables of a site, whose slurm-vsphere is the build that is tested."""
    d = tmp_path_factory.mktemp("site")
    (d / "munge.key").write_bytes(KEY)
    build = pathlib.Path(os.environ["VS_BUILD"])
    checked("make", "-s", "-C", build, "install", f"DESTDIR={d / 'tree'}")
    release = re.search(r"^SLURM_RELEASE = (.*)$", (build / "Makefile").read_text(), re.M)[1]
    return {"slurm_vsphere_guest_slurm_version": release,
            "slurm_vsphere_guest_munge_key": str(d / "munge.key"),
            "slurm_vsphere_guest_tree": str(d / "tree"),
            "slurm_vsphere_guest_conf_server": "ctl1:6817,ctl2:6817"}


@pytest.fixture(scope="module")
def guest(tmp_path_factory):
    g = Guest("debian", tmp_path_factory.mktemp("vm") / "files")
    yield g
    g.end()


@pytest.fixture(scope="module")
def template(guest, site):
    """A guest that the role was played on, with sshd's host keys of its own."""
    guest.run("\n".join(f"mkdir -p {pathlib.PurePath(f).parent}; echo x >{f}"
                        for f in [*ONCE, *LOGS]))
    guest.run("dbus-uuidgen >/etc/machine-id; cp /etc/machine-id /var/lib/dbus/machine-id")
    guest.start("its own")
    rc, out = guest.play(site)
    assert rc == 0, out
    assert changed(out) > 10, out
    # sshd takes no new connection after it
    assert re.findall(r"^TASK \[(?:\w+ : )?(.*?)\]", out, re.M)[-1] == "Remove the SSH host keys"
    return guest


def test_the_role_has_no_fault_that_ansible_lint_knows():
    done = subprocess.run(["ansible-lint", "--offline", "--nocolor", "-q", "template.yml"],
                          cwd=ANSIBLE, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_variable_has_a_default_and_a_description():
    text = (ANSIBLE / "roles/slurm_vsphere_guest/meta/argument_specs.yml").read_text()
    said = set(re.findall(r"^      (slurm_\w+):$", text, re.M))
    required = set(re.findall(r"^      (slurm_\w+):\n(?:        .*\n)*?        required: true$",
                              text, re.M))
    text = (ANSIBLE / "roles/slurm_vsphere_guest/defaults/main.yml").read_text()
    assert set(re.findall(r"^(slurm_\w+):", text, re.M)) == said - required
    assert required == {"slurm_vsphere_guest_slurm_version", "slurm_vsphere_guest_munge_key"}


def test_units_are_enabled_and_good(template):
    on = ["munge", "chrony", "chrony-wait", "open-vm-tools", "ssh", "ssh-host-keys",
          "systemd-networkd", "systemd-resolved", "slurm-vsphere-identity",
          "slurm-vsphere-slurmd"]
    said = template.run(f"systemctl is-enabled {' '.join(on)} slurmd || :").split()
    assert said == ["enabled"] * len(on) + ["disabled"]
    template.run("systemd-analyze verify /usr/lib/systemd/system/slurm-vsphere-*.service "
                 "/etc/systemd/system/ssh-host-keys.service")


def test_files_have_their_contents_and_modes(template, site):
    said = template.run("stat -c '%a %U %G %n' /etc/munge/munge.key /usr/sbin/slurm-vsphere-* "
                        f"{PLUGINS}/*_vsphere.so /usr/lib/systemd/system/slurm-vsphere-* "
                        "/etc/slurm-vsphere/*").split("\n")
    assert said[:-1] == [
        "400 munge munge /etc/munge/munge.key",
        "755 root root /usr/sbin/slurm-vsphere-guest", "755 root root /usr/sbin/slurm-vsphere-port",
        *(f"755 root root {PLUGINS}/{p}_vsphere.so" for p in ("prep", "select_cons_tres", "spank")),
        *(f"644 root root /usr/lib/systemd/system/slurm-vsphere-{u}.service"
          for u in ("freeze", "identity", "slurmd")),
        "644 root root /etc/slurm-vsphere/conf-server"]
    assert template.run("od -An -v -tu1 /etc/munge/munge.key").split() == [str(b) for b in KEY]
    assert template.run("cat /etc/slurm-vsphere/conf-server") == "ctl1:6817,ctl2:6817\n"
    same = f"cmp - {site['slurm_vsphere_guest_tree']}/usr/sbin/slurm-vsphere-guest"
    checked("bash", "-c", f"cat '{template.root}/usr/sbin/slurm-vsphere-guest' | {same}")


def test_programs_find_their_libraries(template):
    said = template.run(f"ldd /usr/sbin/slurm-vsphere-port /usr/sbin/slurmd {PLUGINS}/prep_vsphere.so")
    assert "libibverbs" in said and "not found" not in said, said
    template.run("command -v ibv_devinfo ib_write_bw vmtoolsd vmware-rpctool ssh-keygen hwclock")


def test_the_clock_steps_and_users_pin_memory(template):
    said = template.run("chronyd -p -f /etc/chrony/chrony.conf")
    assert re.findall(r"^makestep.*", said, re.M) == ["makestep 1.0 3"]
    assert "pool 2.debian.pool.ntp.org" in said
    said = template.run("cat /etc/security/limits.d/*slurm-vsphere.conf")
    assert re.findall(r"^\* (\w+) memlock (\w+)$", said, re.M) == [
        ("soft", "unlimited"), ("hard", "unlimited")]


def test_networkd_has_the_management_nic_and_ifupdown_none(template):
    said = template.run("cat /etc/systemd/network/50-management.network; readlink /etc/resolv.conf")
    assert "[Match]\nDriver=vmxnet3\n\n[Network]\nDHCP=ipv4\n" in said
    assert said.endswith("/run/systemd/resolve/stub-resolv.conf\n")
    assert re.findall(r"^\w.*", template.run("cat /etc/network/interfaces"), re.M) == [
        "auto lo", "iface lo inet loopback"]
    # the file that slurm-vsphere-guest writes comes first
    guest = (TOP / "contribs/guest/slurm-vsphere-guest").read_text()
    names = re.findall(r"systemd/network/([\w-]+)\.network", guest)
    assert names and max(names) < "50-management"


def test_nothing_is_left_that_may_exist_only_once(template):
    left = template.run(f"ls -d {' '.join(ONCE)} /etc/ssh/ssh_host_* 2>/dev/null || :")
    assert left == ""
    assert template.run("stat -c '%s %a' /etc/machine-id; readlink /var/lib/dbus/machine-id") == \
        "0 444\n/etc/machine-id\n"
    assert template.run("find /var/log -type f -size +0 ! -name wtmp ! -name lastlog") == ""
    assert template.run(f"ls {' '.join(LOGS)}").split() == LOGS     # emptied, not removed


def test_a_second_run_changes_nothing(template, site):
    template.start("the test's")
    rc, out = template.play(site)
    assert (rc, changed(out)) == (0, 0), out
    # the login that this run came by is written there
    assert template.run("find /var/log -type f -size +0 ! -name wtmp ! -name lastlog") == ""


def test_the_unit_makes_host_keys_where_none_are(template):
    """As systemd would run it; then the role removes them again."""
    text = template.run("cat /etc/systemd/system/ssh-host-keys.service")
    (command,) = re.findall(r"^ExecStart=(.*)$", text, re.M)
    template.run(command)
    assert len(template.run("ls /etc/ssh/ssh_host_*_key").split()) >= 2


def test_host_keys_time_servers_and_controllers_as_the_site_has_them(template, site):
    """After the test before this, which made host keys."""
    site = {**site, "slurm_vsphere_guest_keep_host_keys": True,
            "slurm_vsphere_guest_ntp_servers": ["ntp1.example.org", "ntp2.example.org"],
            "slurm_vsphere_guest_conf_server": "", "slurm_vsphere_guest_keep_slurm_conf": True}
    template.run("ssh-keygen -A >/dev/null; echo ClusterName=x >/etc/slurm/slurm.conf")
    rc, out = template.play(site)
    assert (rc, changed(out)) == (0, 4), out
    assert re.findall(r"^(?:pool|server).*", template.run(
        "chronyd -p -f /etc/chrony/chrony.conf"), re.M) == [
            "server ntp1.example.org iburst", "server ntp2.example.org iburst"]
    assert template.run("ls /etc/slurm-vsphere; ls /etc/slurm/slurm.conf") == \
        "keep-host-keys\n/etc/slurm/slurm.conf\n"
    assert template.run("ls /etc/ssh/ssh_host_*_key")
    rc, out = template.play(site)
    assert (rc, changed(out)) == (0, 0), out


@pytest.mark.parametrize("wrong, words", [
    ({"slurm_vsphere_guest_slurm_version": "21.08.1"}, "slurmctld is 21.08.1: install exactly"),
    ({"slurm_vsphere_guest_munge_key": "/nonexistent"}, "/nonexistent is no file"),
    ({"slurm_vsphere_guest_tree": ""}, "set slurm_vsphere_guest_packages or"),
    ({"slurm_vsphere_guest_packages": ["slurm-vsphere-guest"]}, "and not both")])
def test_what_a_site_gets_wrong_is_refused(template, site, wrong, words):
    rc, out = template.play({**site, **wrong})
    assert rc != 0 and words in out.replace("\n", " "), out


@pytest.mark.parametrize("missing", ["slurm_version", "munge_key"])
def test_what_a_site_must_say_is_asked_for(template, site, missing):
    rc, out = template.play({k: v for k, v in site.items() if not k.endswith(missing)})
    assert rc != 0 and f"missing required arguments: slurm_vsphere_guest_{missing}" in out, out


def test_another_distribution_is_refused(template, site):
    rc, out = template.play(site, facts={
        "os_family": "Debian", "distribution": "Debian", "distribution_version": "11.9",
        "distribution_major_version": "11", "architecture": "x86_64"})
    assert rc != 0 and "Debian 11.9: this role knows Debian 12 and RHEL 9" in out, out


# ---- by Packer -----------------------------------------------------------------

def at_this_guest(recipe, guest):
    """Packer's VM is this guest: its port, and no systemd that could power it off."""
    hcl = (recipe / "sources.pkr.hcl").read_text()
    assert hcl.count('  communicator ') == 2
    (recipe / "sources.pkr.hcl").write_text(hcl.replace('  communicator ', f"""
  ssh_port          = {guest.port}
  ip_settle_timeout = "1s"
  communicator """).replace("  linked_clone ", """
  customize {
    linux_options {
      host_name = "made"
      domain    = "example.org"
    }
    network_interface {
      ipv4_address = "127.0.0.1"
      ipv4_netmask = "8"
    }
    ipv4_gateway = "127.0.0.1"
  }
  linked_clone """))
    hcl = (recipe / "build.pkr.hcl").read_text()
    assert hcl.count("; systemctl poweroff") == 1
    (recipe / "build.pkr.hcl").write_text(hcl.replace("; systemctl poweroff", ""))


def test_packer_plays_the_role_and_takes_its_key_away(template, site, tmp_path):
    """vsphere-clone, in govmomi's vCenter. The simulator customizes the VM, and so shows an
    address at which this guest is."""
    recipe, vm = copied(tmp_path), "/DC0/vm/templates/made"
    (tmp_path / "role.yml").write_text(json.dumps(site))
    template.run("mkdir -p ~root/.ssh; echo x >~root/.ssh/authorized_keys; ssh-keygen -A; "
                 "rm -f /etc/slurm-vsphere/* /etc/security/limits.d/*")
    template.start("the test's")
    at_this_guest(recipe, template)
    left = "ls ~root/.ssh/authorized_keys /etc/ssh/ssh_host_* 2>/dev/null || :"
    with vcenter() as (env, address):
        checked("govc", "folder.create", "/DC0/vm/templates", env=env)
        p = packer(recipe, "build", "vsphere-clone.existing", vcenter_server=address,
                   **{**SITE, "ssh_private_key_file": template.files / "key"}, password="pass")
        try:
            end = time.monotonic() + 300
            while p.poll() is None and time.monotonic() < end and template.run(left):
                time.sleep(0.5)
            subprocess.run(["govc", "vm.power", "-off", vm], env=env, capture_output=True,
                           check=False)
            out, _ = p.communicate(timeout=60)
        finally:
            p.kill()
        assert p.returncode == 0, out
        assert "true" in checked("govc", "object.collect", "-s", vm, "config.template", env=env)
    assert re.search(r"failed=0 ", out) and template.run(left) == "", out
    assert template.run("ls /etc/slurm-vsphere /etc/security/limits.d").split() == [
        "/etc/security/limits.d:", "90-slurm-vsphere.conf", "/etc/slurm-vsphere:", "conf-server"]
