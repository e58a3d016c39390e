# SPDX-License-Identifier: GPL-2.0-or-later
"""The role's tasks for RHEL 9, as far as no RHEL is needed: in a root of Debian that has
dnf, with the facts of RHEL, and a repository of stand-ins that have the names of RHEL's
packages. Whether RHEL's own packages have these names and units, no test here shows."""

import os
import pathlib
import re

import pytest

from conftest import TOP
from template_root import ANSIBLE, Guest, checked

ROLE = ANSIBLE / "roles/slurm_vsphere_guest"
UNITS = "/usr/lib/systemd/system"
FACTS = {"os_family": "RedHat", "distribution": "RedHat", "distribution_version": "9.4",
         "distribution_major_version": "9", "architecture": os.uname().machine,
         "pkg_mgr": "dnf", "service_mgr": "none"}
# What a package brings besides its name.
UNITS_OF = {"open-vm-tools": ["vmtoolsd"], "munge": ["munge"], "openssh-server": ["sshd"],
            "chrony": ["chronyd", "chrony-wait"], "firewalld": ["firewalld"],
            "slurm-slurmd": ["slurmd"], "systemd-stand-in": []}
OURS = ["slurm-vsphere-select", "slurm-vsphere-prep", "slurm-vsphere-guest"]


def names():
    """The packages that the role asks for on RHEL."""
    text = (ROLE / "vars/RedHat-9.yml").read_text()
    lists = re.findall(r"^slurm_vsphere_guest_(?:base_packages|slurm_default):\n((?:  - .*\n)+)",
                       text, re.M)
    assert len(lists) == 2
    return [*re.findall(r"^  - (.*)$", "".join(lists), re.M), "perftest"]


def files_of(name, top):
    """Writes what a stand-in holds below top; returns its paths."""
    files = {f"{UNITS}/{u}.service": "[Service]\nExecStart=/bin/true\n"
             "[Install]\nWantedBy=multi-user.target\n" for u in UNITS_OF.get(name, ())}
    if name == "slurm-slurmd":
        files["/usr/sbin/slurmd"] = "#!/bin/sh\necho slurm 22.05.9\n"
    if name == "chrony":
        files["/etc/chrony.conf"] = "pool 2.rhel.pool.ntp.org iburst\nmakestep 1.0 3\n"
    if name == "slurm-vsphere-prep":
        files["/usr/lib64/slurm/prep_vsphere.so"] = "x"
    if name == "slurm-vsphere-guest":
        for unit in ("identity", "slurmd"):
            unit = f"slurm-vsphere-{unit}.service"
            files[f"{UNITS}/{unit}"] = (TOP / "contribs/guest" / unit).read_text()
    for path, text in files.items():
        f = pathlib.Path(f"{top}{path}")
        f.parent.mkdir(parents=True, exist_ok=True)
        f.write_text(text)
        f.chmod(0o755 if path.startswith("/usr/sbin") else 0o644)
    return list(files)


def build(d, packages):
    """RPMs of these names, by one spec."""
    spec = ["Name: stand-in\nVersion: 1\nRelease: 1\nSummary: x\nLicense: x\nBuildArch: noarch\n"
            "AutoReqProv: no\n%description\n"]
    lists = [f"%install\ncp -a {d}/content/. %{{buildroot}}/\n"]
    (d / "content").mkdir()
    for name in packages:
        spec.append(f"%package -n {name}\nSummary: x\nAutoReqProv: no\n%description -n {name}\n")
        lists.append(f"%files -n {name}\n" + "\n".join(files_of(name, d / "content")) + "\n")
    (d / "x.spec").write_text("\n".join(spec + lists))
    checked("rpmbuild", "-bb", "--define", f"_topdir {d}/rpm", "--define", "__os_install_post :",
            "--define", "_build_id_links none", d / "x.spec")
    return d / "rpm/RPMS/noarch"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    d = tmp_path_factory.mktemp("rpms")
    made = build(d, [*names(), *OURS, "cloud-init", "firewalld"])
    (d / "munge.key").write_bytes(bytes(64))
    return made, {
        "slurm_vsphere_guest_slurm_version": "22.05.9",
        "slurm_vsphere_guest_munge_key": str(d / "munge.key"),
        "slurm_vsphere_guest_packages": [str(made / f"{p}-1-1.noarch.rpm") for p in OURS]}


@pytest.fixture(scope="module")
def guest(tmp_path_factory, site):
    """A root with dnf, a repository and what a minimal RHEL has."""
    g = Guest("rhel", tmp_path_factory.mktemp("vm") / "files")
    made, _ = site
    repo = g.files / "repo"
    repo.mkdir()
    for f in made.iterdir():
        if not f.name.startswith("slurm-vsphere"):
            (repo / f.name).write_bytes(f.read_bytes())
    checked("createrepo_c", "-q", repo)
    g.run("mkdir -p /etc/yum.repos.d; printf '[site]\\nname=site\\nbaseurl=file:///run/test/repo\\n"
          "gpgcheck=0\\n' >/etc/yum.repos.d/site.repo; useradd -r munge; install -d -o munge -g munge "
          "-m 700 /etc/munge; sed -i 's/^hosts:.*/hosts: files dns myhostname/' /etc/nsswitch.conf; "
          "rm -f /etc/systemd/system/sshd.service /usr/lib/systemd/system/{ssh,systemd-networkd}.service; "
          "mkdir -p /usr/lib64/slurm; "
          "rpm -i --force-debian --nodeps /run/test/repo/{cloud-init,firewalld}-*.rpm; "
          "systemctl enable firewalld")
    g.start("the test's")
    yield g
    g.end()


@pytest.fixture(scope="module")
def template(guest, site):
    rc, out = guest.play(site[1], facts=FACTS)
    assert rc == 0, out
    return guest


def test_dnf_installs_what_the_role_names(template):
    had = template.run("rpm -qa --qf '%{NAME}\\n'").split()
    assert sorted(had) == sorted([*names(), *OURS, "firewalld"])


def test_units_are_enabled_and_firewalld_is_not(template):
    on = ["vmtoolsd", "munge", "chronyd", "chrony-wait", "sshd", "slurm-vsphere-identity",
          "slurm-vsphere-slurmd"]
    said = template.run(f"systemctl is-enabled {' '.join(on)} slurmd firewalld || :").split()
    assert said == ["enabled"] * len(on) + ["disabled"] * 2


def test_what_is_debians_is_left_out(template):
    assert template.run("ls /etc/systemd/network /etc/systemd/system/ssh-host-keys.service "
                        "2>/dev/null || :") == "/etc/systemd/network:\n"
    assert template.run("stat -c '%a %U' /etc/munge/munge.key; stat -c %s /etc/machine-id; "
                        "ls /etc/ssh/ssh_host_* 2>/dev/null || :") == "400 munge\n0\n"


def test_a_second_run_changes_nothing(template, site):
    rc, out = template.play(site[1], facts=FACTS)
    assert rc == 0 and re.search(r" changed=0 +unreachable=0 +failed=0 ", out), out


def test_a_name_service_without_myhostname_is_refused(template, site):
    template.run("sed -i 's/^hosts:.*/hosts: files dns/' /etc/nsswitch.conf")
    rc, out = template.play(site[1], facts=FACTS)
    assert rc != 0 and "the line hosts lacks myhostname" in out, out


def test_the_names_are_those_of_the_guide():
    """The recipe by hand, in contribs/guest/README.md, has the same packages of RHEL."""
    text = (TOP / "contribs/guest/README.md").read_text()
    by_hand = {p for line in re.findall(r"\(dnf install ([^)]*)\)", text) for p in line.split()}
    assert by_hand and by_hand <= set(names()), by_hand - set(names())
