# SPDX-License-Identifier: GPL-2.0-or-later
"""Templates that lack something or have another's, a clock that is an hour off, a guest
that hangs, a root that stays read-only, and the ways to an address: what becomes of the
first job, and what people are told."""

import contextlib
import datetime
import os
import pathlib
import re
import subprocess
import tarfile

import pytest

import texts
from daemons import patience, wait_for
from guest_cluster import BOOT_S, CONTROLLER, HOSTS, VSPHERE_LINES, GuestCluster

NETWORKD, MANAGER = "systemd-networkd", "NetworkManager"


@contextlib.contextmanager
def one_guest(change=None, boot_s=None, hosts=HOSTS[:1], **env):
    """A cluster whose only node boots with this template, on one host, where a boot that
    fails is not tried again. boot_s: of a guest that never registers, so long is it
    waited for; else as long as this machine needs."""
    c = GuestCluster(nodes=1, vfs=1, change=change, hosts=hosts, **env)
    boot_s = int(boot_s or BOOT_S * max(1, patience()))
    c.vsphere["BootTimeout"] = boot_s
    c.slurm["ResumeTimeout"] = 2 * boot_s + 60      # a boot on each host
    try:
        yield c
    finally:
        c.remove()


def begin(c):
    c.start()
    c.wait_ready()
    return c.submit("hostname\n", "-N1")


def fails(c, case):
    """The job never runs, and its node goes down. doc/operations/guest-trouble.md has
    what is said then."""
    job = begin(c)
    wait_for("the node is down with a reason", 3 * BOOT_S, lambda: (
        "DOWN" in c.node("vm001")["State"].split("+")[0] and
        c.node("vm001").get("Reason")), every=1)
    wait_for("Slurm says why the job waits", 60, lambda: texts.is_as_quoted(
        case, "squeue %r", c.squeue(job)))
    texts.check(c, case, job, "vm001")
    assert c.job_state(job) == "PENDING"


def boots(c):
    return c.ctld_log().count("node=vm001 power-on done")


def serves(c):
    assert "vm001" in c.wait_done(begin(c))
    return c.shell("vm001")


def test_a_template_without_nss_myhostname_serves_with_debians_munge():
    """munged can't look up its own name: 0.5.15 warns, and others end (testsuite/guest)."""
    def change(disk):
        text = disk.read("/etc/nsswitch.conf").replace(" myhostname", "")
        disk.text(text, "/etc/nsswitch.conf")
    with one_guest(change) as c:
        shell = serves(c)
        assert "myhostname" not in shell("grep hosts: /etc/nsswitch.conf")
        assert 'Failed to lookup origin "vm001"' in shell("journalctl -b -u munge")


def test_a_template_without_a_munge_key_says_so():
    """And is not booted on another host, which would have the same template."""
    with one_guest(lambda disk: disk.remove("/etc/munge/munge.key"), hosts=HOSTS) as c:
        fails(c, "the template lacks the munge key")
        assert boots(c) == 1


def test_a_template_with_another_munge_key_says_what_to_look_at():
    def change(disk):
        disk.text("another key of a cluster, long enough for munge" * 3, "/etc/munge/munge.key",
                  0o400, disk.owner("munge"))
    with one_guest(change) as c:
        fails(c, "the template has another cluster's munge key")
        assert "Invalid credential" in c.ctld_log()


def test_a_clock_that_is_an_hour_off_says_so():
    then = datetime.datetime.utcnow() - datetime.timedelta(hours=1)
    with one_guest(VG_RTC=f"base={then:%Y-%m-%dT%H:%M:%S}") as c:
        fails(c, "the guest's clock is an hour off, and no time server answers")
        assert re.search("(Rewound|Expired) credential", c.ctld_log())


# Of another Debian, in a root of its own, because it needs that Debian's libraries.
NEWER = "/opt/other"
FILES_OF_SLURMD = re.compile(
    r"usr/(s?bin/(slurmd|slurmstepd|scontrol)[^/]*"
    r"|lib64/[^/]*|lib/x86_64-linux-gnu/([^/]*\.so[^/]*|slurm-wlm/.*))")
WRAPPER = f"""#!/bin/sh
for d in proc dev run etc tmp; do
	mountpoint -q {NEWER}/$d || mount --bind /$d {NEWER}/$d
done
exec chroot {NEWER} %s "$@"
"""


def other_slurmd(disk):
    """A slurmd of a release whose messages slurmctld does not take."""
    made = set()

    def directory(path):
        for parent in [*reversed(path.parents), path]:
            if parent != path.root and parent not in made:
                made.add(parent)
                disk.directory(parent)
    for d in ("proc", "dev", "run", "etc", "tmp"):
        directory(pathlib.PurePosixPath(NEWER, d))
    with tarfile.open(os.environ["VS_OTHER_SLURMD"]) as tar:
        for n, member in enumerate(tar):
            name = member.name.removeprefix("./")
            path = pathlib.PurePosixPath(NEWER, name)
            if member.isdir() or not FILES_OF_SLURMD.fullmatch(name):
                continue
            directory(path.parent)
            if member.issym():
                disk.link(path, member.linkname)
            else:
                f = disk.scratch / f"other{n}"
                f.write_bytes(tar.extractfile(member).read())
                disk.put(f, path, member.mode)
    for name in ("lib", "lib64", "bin", "sbin"):
        disk.link(f"{NEWER}/{name}", f"usr/{name}")
    for name, program in (("sbin/slurmd", "slurmd-wlm"), ("bin/scontrol", "scontrol")):
        disk.text(WRAPPER % f"/usr/{name.split('/')[0]}/{program}", f"/usr/{name}", 0o755)


def test_a_slurmd_of_another_release_says_so():
    with one_guest(other_slurmd) as c:
        fails(c, "slurmd is of a release that slurmctld refuses")
        assert "Invalid Protocol Version" in c.ctld_log()


def test_a_guest_that_hangs_at_boot_is_told_of():
    """And boots once more, on another host, before its node goes down."""
    with one_guest(boot_s=60, hosts=HOSTS, VG_APPEND="systemd.unit=rescue.target") as c:
        fails(c, "the guest hangs at boot")
        assert boots(c) == 2


def enable(disk, unit, target="multi-user"):
    disk.link(f"/etc/systemd/system/{target}.target.wants/{unit}.service",
              f"/usr/lib/systemd/system/{unit}.service")


def without_networkd(disk):
    for path in ("multi-user.target.wants/systemd-networkd.service",
                 "sockets.target.wants/systemd-networkd.socket",
                 "network-online.target.wants/systemd-networkd-wait-online.service"):
        disk.remove(f"/etc/systemd/system/{path}")
    enable(disk, "NetworkManager")
    disk.directory("/etc/systemd/system/network-online.target.wants")
    enable(disk, "NetworkManager-wait-online", "network-online")


LINK_LOCAL = ("[connection]\nid=site\ntype=ethernet\n"
              "[ipv4]\nmethod=link-local\n[ipv6]\nmethod=disabled\n")


def link_local(disk):
    """NetworkManager gives each NIC no more than an address of 169.254.0.0/16."""
    without_networkd(disk)
    disk.text(LINK_LOCAL, "/etc/NetworkManager/system-connections/site.nmconnection", 0o600)


def test_networkmanager_with_an_address_of_a_pool():
    with one_guest(without_networkd) as c:
        shell = serves(c)
        assert shell("systemctl is-active NetworkManager") == "active\n"
        assert "10.77.0.11/24" in shell("ip -br -4 address")


def test_an_address_of_a_pool_comes_before_networkmanagers_link_local_one():
    with one_guest(link_local) as c:
        shell = serves(c)
        assert "10.77.0.11/24" in shell("ip -br -4 address")


def test_a_first_nic_with_a_link_local_address_alone_says_so():
    with one_guest(link_local, boot_s=BOOT_S / 2 * max(1, patience())) as c:
        without_pool(c)
        fails(c, "the first NIC has a link-local address alone")


def without_pool(c):
    """The first NIC's address is the template's business."""
    c.vsphere["lines"] = [line.partition(" ManagementAddresses=")[0] for line in VSPHERE_LINES]


def read_only(disk):
    """A root that stays read-only; what programs write is in memory."""
    munge = "uid={},gid={},mode=700".format(*disk.owner("munge"))
    disk.text("/dev/vda / ext4 ro 0 0\n", "/etc/fstab")
    wants = "/etc/systemd/system/local-fs.target.wants"
    disk.directory(wants)
    disk.link(f"{wants}/systemd-remount-fs.service",
              "/usr/lib/systemd/system/systemd-remount-fs.service")
    for path, options in (("/tmp", "mode=1777"), ("/var/spool/slurmd", "mode=755"),
                          ("/var/lib/munge", munge), ("/var/log/munge", munge)):
        unit = path[1:].replace("/", "-") + ".mount"
        disk.text(f"[Mount]\nWhat=tmpfs\nWhere={path}\nType=tmpfs\nOptions={options}\n",
                  f"/etc/systemd/system/{unit}")
        disk.link(f"{wants}/{unit}", f"/etc/systemd/system/{unit}")


def test_a_root_that_stays_read_only_serves_with_the_templates_host_keys():
    def change(disk):
        read_only(disk)
        disk.directory("/etc/slurm-vsphere")
        disk.text("", "/etc/slurm-vsphere/keep-host-keys")
    with one_guest(change) as c:
        shell = serves(c)
        assert shell("touch /usr/x 2>&1; true").endswith("Read-only file system\n")
        assert shell("cat /etc/hostname; hostname") == "vm001\nvm001\n"
        assert len(shell("cat /etc/machine-id").strip()) == 32
        for path in ("/etc/hostname", "/etc/machine-id"):
            assert shell(f"findmnt -no TARGET {path}") == path + "\n"


def test_a_root_that_stays_read_only_says_what_host_keys_need():
    with one_guest(read_only) as c:
        fails(c, "the root file system is read-only")


RDMA = "10.88.0.1"


@pytest.fixture
def dhcp(tmp_path):
    """A DHCP server on both bridges that knows the node by its host name."""
    subprocess.run(["ip", "address", "add", f"{RDMA}/24", "dev", "brr"], check=True)
    with open(tmp_path / "dnsmasq.log", "w") as log:
        p = subprocess.Popen([
            "dnsmasq", "--keep-in-foreground", "--port=0", "--interface=brm", "--interface=brr",
            "--bind-interfaces", "--conf-file=/dev/null", "--pid-file", "--user=root",
            "--log-facility=-", "--log-dhcp", f"--dhcp-leasefile={tmp_path}/leases",
            "--dhcp-range=set:first,10.77.0.100,10.77.0.120,1h",
            "--dhcp-range=set:rdma,10.88.0.100,10.88.0.120,1h",
            "--dhcp-host=vm001,10.77.0.11",
            f"--dhcp-option=tag:first,option:router,{CONTROLLER}",
            "--dhcp-option=tag:rdma,option:router"], stdout=log, stderr=subprocess.STDOUT)
    yield
    p.terminate()
    p.wait(10)
    subprocess.run(["ip", "address", "del", f"{RDMA}/24", "dev", "brr"], check=True)


@pytest.mark.parametrize("daemon", [NETWORKD, MANAGER])
def test_dhcp_for_both_nics(dhcp, daemon):
    def change(disk):
        disk.text("[Match]\nType=ether\n[Network]\nDHCP=ipv4\nIPv6AcceptRA=no\n",
                  "/etc/systemd/network/80-dhcp.network")
        if daemon == MANAGER:
            without_networkd(disk)
    with one_guest(change) as c:
        without_pool(c)
        c.vsphere["lines"] = [re.sub(r" AdapterAddresses=\S+", " AdapterAddresses=dhcp", line)
                              for line in c.vsphere["lines"]]
        shell = serves(c)
        netdev = shell("sed -n 's/^netdev //p' /run/slurm-vsphere/ready").strip()
        addresses = dict(line.split()[1:4:2] for line in
                         shell("ip -o -4 address show scope global").splitlines())
        assert addresses.pop(netdev).startswith("10.88.0.1"), addresses
        assert list(addresses.values()) == ["10.77.0.11/24"]
        assert shell(f"systemctl is-active {daemon}") == "active\n"
