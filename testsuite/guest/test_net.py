# SPDX-License-Identifier: GPL-2.0-or-later
"""Addresses in the guest: whom it tells of the first NIC's, what it sets itself,
what it waits for."""

import pytest

from test_guest import (  # noqa: F401
    MAC, failed, guest, kernel_takes, real, two_rails)

FIRST = {"first-mac": "00:50:56:11:02:03", "first-address": "10.9.0.17/24",
         "gateway": "10.9.0.1", "dns": "10.9.0.2,10.9.0.3",
         "dns-search": "hpc.example.org,example.org"}


def test_identity_tells_the_networks_configuration_the_first_cards_address(guest):  # noqa: F811
    guest.info.update(FIRST)
    assert guest.boot().returncode == 0
    run = guest.dir / "root/run"
    assert (run / "systemd/network/10-slurm-vsphere-first.network"
            ).read_text().splitlines() == [
        "[Match]", "MACAddress=00:50:56:11:02:03",
        "[Network]", "IPv6AcceptRA=no", "Address=10.9.0.17/24",
        "Gateway=10.9.0.1",
        "DNS=10.9.0.2", "DNS=10.9.0.3", "Domains=hpc.example.org example.org"]
    f = run / ("NetworkManager/system-connections/"
               "slurm-vsphere-first.nmconnection")
    assert f.stat().st_mode & 0o777 == 0o600    # it takes no other
    assert f.read_text().splitlines() == [
        "[connection]", "id=slurm-vsphere-first", "type=ethernet",
        "autoconnect-priority=100",
        "[ethernet]", "mac-address=00:50:56:11:02:03",
        "[ipv4]", "method=manual", "address1=10.9.0.17/24,10.9.0.1",
        "dns=10.9.0.2;10.9.0.3;",
        "dns-search=hpc.example.org;example.org;", "[ipv6]",
        "method=link-local"]


def test_cards_with_addresses_of_ours_are_left_alone_by_others(guest):  # noqa: F811
    other = two_rails(guest)
    guest.info["address"] = "10.1.0.7/16,10.2.0.7/16"
    assert guest.boot().returncode == 0
    run = guest.dir / "root/run"
    left = run / "systemd/network/10-slurm-vsphere-nics.network"
    assert left.read_text().splitlines() == [
        "[Match]", f"MACAddress={MAC} {other}", "[Link]", "Unmanaged=yes"]
    assert (run / "NetworkManager/conf.d/10-slurm-vsphere.conf").read_text() \
        == f"[keyfile]\nunmanaged-devices=mac:{MAC};mac:{other}\n"
    assert not (run / "NetworkManager/system-connections").exists()
    assert guest.ready()[1]["gid"] == "::ffff:10.1.0.7,::ffff:10.2.0.7"
    assert guest.ready()[1]["gid-index"] == "3,3"
    guest.info["address"] = "dhcp,dhcp"     # of the distribution again
    assert guest.boot().returncode == 0
    assert not left.exists()


@pytest.mark.parametrize("addresses, ours", [
    ("10.1.0.7/16,dhcp", 0), ("dhcp,10.2.0.7/16", 1)])
def test_of_mixed_cards_those_with_a_lease_stay_with_the_distribution(
        guest, addresses, ours):  # noqa: F811
    mac = (MAC, two_rails(guest))[ours]
    guest.info["address"] = addresses
    assert guest.boot().returncode == 0
    run = guest.dir / "root/run"
    assert (run / "systemd/network/10-slurm-vsphere-nics.network"
            ).read_text().splitlines() == [
        "[Match]", f"MACAddress={mac}", "[Link]", "Unmanaged=yes"]
    assert (run / "NetworkManager/conf.d/10-slurm-vsphere.conf").read_text() \
        == f"[keyfile]\nunmanaged-devices=mac:{mac}\n"


@pytest.mark.parametrize("key, value", [
    ("first-address", "10.9.0.17"), ("gateway", "10.9.0.1;reboot"),
    ("dns", "a.b"), ("dns-search", "x`id`"), ("first-mac", "eth0")])
def test_an_address_that_is_none_is_never_written_down(guest, key, value):  # noqa: F811
    guest.info.update({**FIRST, key: value})
    failed(guest, guest.boot(), 3, f"guestinfo.slurm.{key}")


HAS = 'case "$*" in "-4 -o address show dev {} scope global") ' \
      'echo "2: {}    inet {} brd x";; esac'


def test_a_lease_is_waited_for_and_asked_of_the_gid_table(real):  # noqa: F811
    real.info["address"] = "dhcp"
    real.boot("true")
    start = ("start", "--", "touch", str(real.dir / "started"))
    mtu = real.root / "sys/class/net/eth1/mtu"
    failed(real, real.run(*start, ip=kernel_takes(mtu)), 1,
           "eth1 has no IPv4 address: does a DHCP server serve its network")
    r = real.run(*start, ip=kernel_takes(mtu) + "\n" +
                 HAS.format("eth1", "eth1", "192.0.2.9/24"))
    assert r.returncode == 0, r.stderr
    assert real.ready()[1]["gid"] == "::ffff:192.0.2.9"
    assert "address replace" not in real.calls.read_text()


def test_a_first_card_without_its_address_stops_the_node(real):  # noqa: F811
    real.info.update(FIRST)
    start = ("start", "--", "touch", str(real.dir / "started"))
    mtu = real.root / "sys/class/net/eth1/mtu"
    takes = kernel_takes(mtu) + "\n"
    failed(real, real.run(*start, ip=takes + HAS.format(
        "eth0", "eth0", "10.9.0.170/24")), 1,
        "eth0 has not the address 10.9.0.17/24", "NetworkManager")
    assert real.run(*start, ip=takes + HAS.format(
        "eth0", "eth0", "10.9.0.17/24")).returncode == 0


def test_each_card_gets_its_own_address(real):  # noqa: F811
    two_rails(real)
    real.info["address"] = "10.1.0.7/16,10.2.0.7/16"
    real.boot("true")
    sys = real.root / "sys/class/net"
    r = real.run("start", "--", "touch", str(real.dir / "started"),
                 ip=f'[ "$5" != mtu ] || echo "$6" >"{sys}/$4/mtu"')
    assert r.returncode == 0, r.stderr
    assert [x for x in real.calls.read_text().splitlines()
            if x.startswith("address")] == [
        "address replace 10.1.0.7/16 dev eth2",
        "address replace 10.2.0.7/16 dev eth1"]
