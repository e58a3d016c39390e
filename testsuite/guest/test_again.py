# SPDX-License-Identifier: GPL-2.0-or-later
"""`slurm-vsphere-guest check`, which prep/vsphere runs before each job: it checks
again all that `ready` lists, and its message says what changed."""

import os
import shutil
import subprocess

import pytest

from test_guest import MAC, SCRIPT, guest, failed, two_rails  # noqa: F401

OTHER = "00:50:56:0a:0b:0c"


def ask(guest, **env):                      # noqa: F811
    """As slurmd does: no guestinfo, nothing on PATH that it needed."""
    return subprocess.run(
        ["/bin/sh", str(SCRIPT), "check"], text=True, timeout=60, check=False,
        capture_output=True, env={
            "PATH": "/nowhere", "SV_VERBS": str(guest.dir / "verbs"),
            "SLURM_VSPHERE_RUN": str(guest.dir / "slurm-vsphere"), **env})


def net(guest, netdev):                     # noqa: F811
    return guest.dir / "root/sys/class/net" / netdev


def right(guest):                           # noqa: F811
    r = ask(guest)
    assert (r.returncode, r.stderr) == (0, "")


def wrong(guest, words, **env):             # noqa: F811
    """The last line is what slurmd makes the node's reason."""
    r = ask(guest, **env)
    assert r.returncode == 1 and words in r.stderr.splitlines()[-1], r


@pytest.fixture
def roce(guest):                            # noqa: F811
    guest.info["address"] = "10.1.0.7/16"
    assert guest.boot().returncode == 0
    right(guest)
    return guest


@pytest.fixture
def ib(guest):                              # noqa: F811
    guest.info.update({"link-layer": "InfiniBand", "mtu": "4092"})
    guest.cards[1]["network"] = "SRIOV-IB-PG"
    assert guest.boot().returncode == 0
    right(guest)
    return guest


@pytest.fixture
def vmxnet3(guest):                         # noqa: F811
    guest.cards[1]["type"] = "vmxnet3"
    guest.info["link-layer"] = "none"
    guest.env["SV_PORT"] = "/nowhere/port"   # such a template needs none
    assert guest.boot().returncode == 0
    right(guest)
    return guest


# What happens to an interface: file, its new line (None: all of it is gone), words.
INTERFACE = {
    "mtu": ("mtu", "1500", "eth1 has MTU 1500, vsphere.conf says 9000: "
            "somebody in the guest changed it since boot (ip link set dev "
            "eth1 mtu 9000)"),
    "down": ("flags", "0x1002", "eth1 is down: somebody in the guest took it "
             "down since boot (ip link set dev eth1 up)"),
    "another": ("address", OTHER, f"eth1 has the address {OTHER}, at boot it "
                f"was {MAC}: "),
    "gone": (None, None, f"the interface eth1 (MAC {MAC}) is gone: "),
}


def spoil(guest, netdev, file, line):       # noqa: F811
    if file:
        (net(guest, netdev) / file).write_text(line + "\n")
    else:
        shutil.rmtree(net(guest, netdev))


@pytest.mark.parametrize("what", INTERFACE)
def test_an_interface_that_was_changed_is_told_of(roce, what):
    file, line, words = INTERFACE[what]
    spoil(roce, "eth1", file, line)
    wrong(roce, words)


@pytest.mark.parametrize("what", INTERFACE)
def test_a_vmxnet3_card_is_looked_at_as_well(vmxnet3, what):
    file, line, words = INTERFACE[what]
    spoil(vmxnet3, "eth1", file, line)
    wrong(vmxnet3, words)


@pytest.mark.parametrize("state", ["down", "lowerlayerdown", "notpresent"])
def test_a_vmxnet3_card_without_link_is_told_of(vmxnet3, state):
    (net(vmxnet3, "eth1") / "operstate").write_text(state + "\n")
    wrong(vmxnet3, "eth1 has no link: is the NIC connected in vCenter")


def test_a_link_that_nobody_knows_of_is_none_that_is_missing(vmxnet3):
    for state in ("unknown", "dormant", "up"):
        (net(vmxnet3, "eth1") / "operstate").write_text(state + "\n")
        right(vmxnet3)


def test_a_vmxnet3_card_that_boots_without_link_stops_the_node(guest):  # noqa: F811
    guest.cards[1]["type"] = "vmxnet3"
    guest.info["link-layer"] = "none"
    guest.env["VM_LINK"] = "down"
    failed(guest, guest.boot(), 1, "eth1 has no link: is the NIC connected",
           "(after 1 s)")


def test_an_mtu_that_nobody_asked_for_is_nobodys_business(guest):  # noqa: F811
    del guest.info["mtu"]
    assert guest.boot().returncode == 0
    (net(guest, "eth1") / "mtu").write_text("4200\n")
    right(guest)


def test_each_of_several_cards_is_looked_at(guest):     # noqa: F811
    two_rails(guest)
    assert guest.boot().returncode == 0
    right(guest)
    for netdev in ("eth1", "eth2"):
        (net(guest, netdev) / "mtu").write_text("1500\n")
        wrong(guest, f"{netdev} has MTU 1500")
        (net(guest, netdev) / "mtu").write_text("9000\n")
    right(guest)


def test_the_port_is_asked_with_its_own_words(roce):
    (roce.dir / "state").write_text("1: DOWN\n")
    wrong(roce, "mlx5_1 port 1 is DOWN, not ACTIVE: look at the uplink")
    (roce.dir / "state").write_text("4: ACTIVE\n")
    verbs = roce.dir / "verbs"
    verbs.write_text(verbs.read_text().replace("::ffff:10.1.0.7",
                                               "::ffff:10.1.0.8"))
    wrong(roce, "another GID at index 3 than at boot")


@pytest.mark.parametrize("which, old, new, words", [
    ("node", "guid 005056fffe010203", "guid 005056fffe0a0b0c",
     "mlx5_1 has the node GUID 005056fffe0a0b0c and the port GUID "
     "005056fffe010203, at boot they were 005056fffe010203 and "
     "005056fffe010203: "),
    ("port", "fffe01:0203", "fffe0a:0b0c", "the port GUID 005056fffe0a0b0c"),
    ("port", "fe80::0050:56ff:fe01:0203", "fe80::", "the port GUID "
     "0000000000000000")])
def test_infiniband_guids_that_are_others_are_told_of(ib, which, old, new,
                                                      words):
    verbs = ib.dir / "verbs"
    was = verbs.read_text()
    old, new = (old, new) if old in was else (
        "fe01:0203", "fe0a:0b0c")           # as the hook writes a GID
    assert old in was
    verbs.write_text(was.replace(old, new))
    # a subnet manager that doesn't know them: not the state is the cause
    (ib.dir / "state").write_text("2: INIT\n")
    wrong(ib, words)


def test_of_an_ipoib_address_the_guid_counts(ib):
    address = net(ib, "ib1") / "address"
    was = address.read_text().strip()
    address.write_text("80:00:12:34" + was[11:] + "\n")     # another queue pair
    right(ib)
    address.write_text(was[:-8] + "0a:0b:0c\n")
    wrong(ib, f"ib1 has the address {was[:-8]}0a:0b:0c, at boot it was {was}")


@pytest.mark.parametrize("answer", ["exit 2", "exit 127", "kill -SEGV $$"])
def test_a_program_that_cannot_be_asked_leaves_the_ports_state(roce, answer):
    tool = roce.dir / "tool"
    tool.write_text(f"#!/bin/sh\n{answer}\n")
    tool.chmod(0o755)
    ready = roce.dir / "slurm-vsphere/ready"
    ready.write_text("".join(
        f"checker {tool}\n" if x.startswith("checker ") else x
        for x in ready.read_text().splitlines(True)))
    assert ask(roce).returncode == 0
    (roce.dir / "state").write_text("1: DOWN\n")
    wrong(roce, 'is "1: DOWN", not ACTIVE')


def test_it_changes_nothing(roce):
    def all_files():
        return {p: p.read_bytes() for p in roce.dir.rglob("*") if p.is_file()}
    (net(roce, "eth1") / "mtu").write_text("1500\n")
    before = all_files()
    wrong(roce, "MTU")
    assert all_files() == before


@pytest.mark.parametrize("ready", [None, "", "failed: no NIC\n"])
def test_without_a_card_that_was_right_there_is_no_answer(roce, ready):
    path = roce.dir / "slurm-vsphere/ready"
    if ready is None:
        path.unlink()
    else:
        path.write_text(ready)
    assert ask(roce).returncode == 2


def test_ready_names_the_script_and_the_cards(roce):
    _, words = roce.ready()
    assert words["guest-check"] == str(SCRIPT.resolve())
    assert os.access(words["guest-check"], os.X_OK)
    assert words["nic"] == f"9000 {MAC} {net(roce, 'eth1')}"
