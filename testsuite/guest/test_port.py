# SPDX-License-Identifier: GPL-2.0-or-later
"""slurm-vsphere-port: what it finds and what it says if it can't, over a
libibverbs that shows what a file says, over the real one, and over the kernel's
soft-RoCE where there is one."""

import gzip
import os
import pathlib
import re
import shutil
import subprocess
import time

import pytest

from test_guest import MAC, PORT, Guest, failed, guest, two_rails  # noqa: F401

REAL = PORT.parents[2] / "contribs/guest/slurm-vsphere-port"


# ---- through the script: each kind of failure, in words that help -----------------

KINDS = {
    "no device": ({"VM_RDMA": "no"}, {}, 1,
                  ["eth1 has no RDMA device", "driver in the template"]),
    "port down": ({"VM_PORT_STATE": "1: DOWN"}, {}, 1,
                  ["mlx5_1 port 1 is DOWN, not ACTIVE", "uplink of the PF"]),
    "wrong layer": ({"VM_LINK_LAYER": "InfiniBand"}, {}, 3,
                    ["mlx5_1 port 1 is InfiniBand, Ethernet is wanted",
                     "LINK_TYPE_P1 to ETH"]),
    "small mtu": ({"VM_ACTIVE_MTU": "1024"}, {}, 1,
                  ["active_mtu 1024, for MTU 9000 it should be 4096"]),
    "no address": ({"VM_GIDS": "v1"}, {"address": "10.1.0.7/16"}, 1,
                   ["no GID of RoCE v2 for the address 10.1.0.7 of eth1"]),
    "no tool": ({"SV_PORT": "/nowhere/port"}, {}, 3,
                ["/nowhere/port can't be run", "slurm-vsphere-guest"]),
}
IB_KINDS = {
    "guid 0": ({"VM_NODE_GUID": "0"}, 1, ["node GUID 0", "power the VM off"]),
    "no subnet manager": ({"VM_PORT_STATE": "2: INIT"}, 1,
                          ["is INIT, not ACTIVE", "subnet manager"]),
    "small mtu": ({"VM_ACTIVE_MTU": "2048"}, 1,
                  ["active_mtu 2048, for MTU 4092 it should be 4096",
                   "subnet manager's partition"]),
    "ethernet": ({"VM_LINK_LAYER": "Ethernet"}, 3,
                 ["is Ethernet, InfiniBand is wanted", "LINK_TYPE_P1 to IB"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_roce_card_that_is_not_right_is_told_of(guest, kind):  # noqa: F811
    env, info, code, words = KINDS[kind]
    guest.env.update(env)
    guest.info.update(info)
    failed(guest, guest.boot(), code, *words,
           state="bad-template" if kind == "no tool" else "failed")


@pytest.mark.parametrize("kind", IB_KINDS)
def test_an_infiniband_card_that_is_not_right_is_told_of(guest, kind):  # noqa: F811
    env, code, words = IB_KINDS[kind]
    guest.info.update({"link-layer": "InfiniBand", "mtu": "4092"})
    guest.cards[1]["network"] = "SRIOV-IB-PG"
    guest.env.update(env)
    failed(guest, guest.boot(), code, *words)


def test_a_vf_that_kept_another_vms_guids_is_told_of(guest):  # noqa: F811
    guest.info["link-layer"] = "InfiniBand"
    guest.cards[1]["network"] = "SRIOV-IB-PG"
    del guest.info["mtu"]
    guest.boot("true")
    verbs = guest.dir / "verbs"
    verbs.write_text(verbs.read_text().replace("fffe010203", "fffe0a0b0c")
                     .replace("fe01:0203", "fe0a:0b0c"))
    r = wait(guest, "--netdev", "ib1", "--link-layer", "InfiniBand")
    assert r.returncode == 3
    assert "neither is made of this node's MAC 00:50:56:01:02:03" in r.stderr


def test_ready_has_device_gid_mtu_and_guid(guest):  # noqa: F811
    guest.info["address"] = "10.1.0.7/16"
    assert guest.boot().returncode == 0
    first, words = guest.ready()
    assert first == "ok"
    assert words["rdma"] == "mlx5_1/1/4096/3/::ffff:10.1.0.7"
    assert words["gid-index"] == "3" and words["gid"] == "::ffff:10.1.0.7"
    assert words["active-mtu"] == "4096"
    assert words["node-guid"] == "005056fffe010203"
    assert words["checker"] == str(PORT)


def test_ready_has_them_of_each_of_several_cards(guest):  # noqa: F811
    two_rails(guest)
    assert guest.boot().returncode == 0
    text = (guest.dir / "slurm-vsphere/ready").read_text()
    assert [x.split(" ", 1)[1].split("/")[0] for x in text.splitlines()
            if x.startswith("rdma ")] == ["mlx5_2", "mlx5_1"]
    words = guest.ready()[1]
    assert words["active-mtu"] == "4096,4096" and words["gid-index"] == "1,1"
    assert words["node-guid"] == "005056fffe010203,005056fffe010204"


def test_infiniband_has_no_gid_index(guest):  # noqa: F811
    guest.info.update({"link-layer": "InfiniBand", "mtu": "2044"})
    guest.cards[1]["network"] = "SRIOV-IB-PG"
    assert guest.boot().returncode == 0
    words = guest.ready()[1]
    assert words["rdma"] == ("mlx5_1/1/4096/-/-/005056fffe010203/"
                             "005056fffe010203")
    assert "gid-index" not in words


# ---- the program itself --------------------------------------------------------------

def program(guest, *argv, timeout="0"):     # noqa: F811
    env = {**os.environ, "SV_VERBS": str(guest.dir / "verbs"), **guest.env}
    return subprocess.run([str(PORT), *argv], env=env, text=True, timeout=60,
                          capture_output=True, check=False)


def wait(guest, *argv, timeout="0"):        # noqa: F811
    return program(guest, "wait", "--mac", MAC, "--timeout", timeout,
                   "--root", str(guest.dir / "root"), *argv)


@pytest.fixture
def booted(guest):  # noqa: F811
    guest.info["address"] = "10.1.0.7/16"
    assert guest.boot("true").returncode == 0
    return guest


ROCE = ("--netdev", "eth1", "--link-layer", "Ethernet")


def test_without_an_address_any_gid_of_roce_v2_will_do(booted):
    verbs = booted.dir / "verbs"
    verbs.write_text("".join(x for x in verbs.read_text().splitlines(True)
                             if "::ffff" not in x))
    r = wait(booted, *ROCE)
    assert r.returncode == 0 and "\ngid-index 1\n" in r.stdout
    r = wait(booted, *ROCE, "--address", "dhcp")
    assert r.returncode == 1
    assert "for an IPv4 address of eth1: no lease yet" in r.stderr


def test_the_cards_own_address_goes_before_another_ipv4(booted):
    with (booted.dir / "verbs").open("a") as f:
        f.write("gid 4 v2 2 ::ffff:10.9.9.9\ngid 5 v2 9 ::ffff:10.8.8.8\n")
    assert "gid-index 3\n" in wait(booted, *ROCE).stdout
    assert "gid-index 4\n" in wait(booted, *ROCE, "--address", "10.9.9.9").stdout
    # of another interface (a VLAN of the same device): not the NIC's
    assert wait(booted, *ROCE, "--address", "10.8.8.8").returncode == 1


@pytest.mark.parametrize("mtu, active, good", [
    ("9000", "4096", True), ("9000", "2048", False), ("4192", "4096", True),
    ("4192", "2048", False), ("4191", "2048", True), ("1500", "1024", True),
    ("1500", "512", False), ("1280", "1024", True)])
def test_active_mtu_must_fit_the_interfaces(booted, mtu, active, good):
    verbs = booted.dir / "verbs"
    verbs.write_text("".join(
        f"mtu {active}\n" if x.startswith("mtu ") else x
        for x in verbs.read_text().splitlines(True)))
    r = wait(booted, *ROCE, "--mtu", mtu)
    assert (r.returncode == 0) == good, r.stderr


def test_a_change_is_seen_by_its_event_not_by_the_next_look(booted):
    """Twenty changes, each waited for until it was looked at: by looking every
    half second that takes ten."""
    state, looks = booted.dir / "state", booted.dir / "log/looks"
    looks.parent.mkdir()    # not where changes are watched for
    state.write_text("1: DOWN\n")
    looks.write_text("")
    booted.env["SV_VERBS_LOG"] = str(looks)
    env = {**os.environ, "SV_VERBS": str(booted.dir / "verbs"), **booted.env}
    p = subprocess.Popen([str(PORT), "wait", "--mac", MAC, "--timeout", "60",
                          "--root", str(booted.dir / "root"), *ROCE],
                         env=env, stdout=subprocess.PIPE, text=True)
    begin = time.monotonic()
    for n in range(20):
        seen = len(looks.read_text())
        state.write_text("2: INIT\n")
        while len(looks.read_text()) <= seen:
            assert time.monotonic() - begin < 30
            time.sleep(0.005)
    took = time.monotonic() - begin
    state.write_text("4: ACTIVE\n")
    out, _ = p.communicate(timeout=30)
    assert p.returncode == 0 and out.startswith("device mlx5_1\n")
    assert took < 5


def test_check_says_what_has_changed_since_boot(booted):
    spec = booted.ready()[1]["rdma"]
    verbs, was = booted.dir / "verbs", (booted.dir / "verbs").read_text()
    assert program(booted, "check", "Ethernet", spec).returncode == 0
    for old, new, words in (
            ("::ffff:10.1.0.7", "::ffff:10.1.0.8", "another GID at index 3"),
            ("device mlx5_1", "device mlx5_7", "mlx5_1 is gone"),
            (f"state {booted.dir}/state", "state 1", "is DOWN, not ACTIVE"),
            (f"mtu {booted.dir}/root/sys/class/net/eth1/mtu", "mtu 1024",
             "active_mtu 1024, at boot it was 4096"),
            ("layer Ethernet", "layer InfiniBand", "is InfiniBand"),
            ("guid ", "broken\nguid ", "can't be opened")):
        assert old in was
        verbs.write_text(was.replace(old, new))
        r = program(booted, "check", "Ethernet", spec)
        assert r.returncode in (1, 3) and words in r.stderr


@pytest.mark.parametrize("argv", [
    (), ("wait",), ("wait", *ROCE, "--mac", "xx"), ("check", "Ethernet"),
    ("check", "Token-Ring", "mlx5_0/1/4096/-/-"), ("check", "Ethernet", "x"),
    ("wait", *ROCE, "--mac", MAC, "--mtu", "9000x"),
    ("wait", *ROCE, "--mac", MAC, "--address", "10.1"),
    ("wait", *ROCE, "--mac", MAC, "more")])
def test_a_wrong_call_is_no_answer_about_a_port(booted, argv):
    r = program(booted, *argv)
    assert r.returncode == 2 and "usage:" in r.stderr


# ---- the real libibverbs ----------------------------------------------------------------

def real(*argv):
    return subprocess.run([str(REAL), *argv], text=True, timeout=60,
                          capture_output=True, check=False)


def test_the_real_library_on_a_machine_without_such_a_card():
    r = real("wait", "--netdev", "lo", "--mac", MAC, "--link-layer", "Ethernet",
             "--timeout", "1")
    assert r.returncode == 1 and "lo has no RDMA device" in r.stderr
    r = real("check", "Ethernet", "mlx5_77/1/4096/-/-")
    assert r.returncode == 1 and "mlx5_77 is gone" in r.stderr


def run(*argv):
    return subprocess.run(argv, text=True, capture_output=True, check=False)


def which(tool):
    return shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin:/sbin")


def kernel_says():
    """What this kernel was built with, as far as it tells."""
    release = os.uname().release
    for f in (pathlib.Path("/proc/config.gz"),
              pathlib.Path(f"/boot/config-{release}")):
        if f.exists():
            text = (gzip.decompress(f.read_bytes()) if f.suffix == ".gz" else
                    f.read_bytes()).decode()
            found = re.findall(r"^(?:# )?(CONFIG_(?:MODULES|INFINIBAND|RDMA_RXE)"
                               r"(?:=.*| is not set))$", text, re.M)
            return f"kernel {release}: {', '.join(found)}"
    return f"kernel {release}"


def not_tested(why):
    """Said by the run; with VS_RXE=1 in the environment it is a failure."""
    text = f"soft-RoCE was NOT tested: {why}"
    if os.environ.get("VS_RXE") == "1":
        pytest.fail(text)
    pytest.skip(text)


@pytest.fixture
def rxe():
    """An interface with soft-RoCE on it; without the kernel's part the test is
    not made, and the run says so."""
    if os.getuid():
        not_tested("needs root")
    for tool in ("ip", "rdma"):
        if not which(tool):
            not_tested(f"no {tool}")
    modprobe = which("modprobe")
    loaded = run(modprobe, "rdma_rxe").stderr if modprobe else "no modprobe"
    run("ip", "link", "add", "vsrxe0", "type", "veth", "peer", "name", "vsrxe1")
    try:
        for dev in ("vsrxe0", "vsrxe1"):
            run("ip", "link", "set", dev, "mtu", "9000", "up")
        run("ip", "address", "add", "10.255.77.1/30", "dev", "vsrxe0")
        r = run("rdma", "link", "add", "vsrxe", "type", "rxe", "netdev", "vsrxe0")
        if r.returncode:
            not_tested("; ".join(x.strip() for x in (
                r.stderr, loaded, kernel_says()) if x.strip()))
        mac = pathlib.Path("/sys/class/net/vsrxe0/address").read_text().strip()
        yield mac
        run("rdma", "link", "delete", "vsrxe")
    finally:
        run("ip", "link", "delete", "vsrxe0")


def test_soft_roce_of_the_kernel(rxe):
    args = ("--netdev", "vsrxe0", "--mac", rxe, "--link-layer", "Ethernet",
            "--mtu", "9000", "--timeout", "10")
    r = real("wait", *args, "--address", "10.255.77.1")
    assert r.returncode == 0, r.stderr
    found = dict(x.split(" ", 1) for x in r.stdout.splitlines())
    assert found["device"] == "vsrxe" and found["active-mtu"] == "4096"
    assert found["gid"] == "::ffff:10.255.77.1"
    assert real("check", "Ethernet", found["rdma"]).returncode == 0
    r = real("wait", *args[:-1], "1", "--address", "10.255.77.2")
    assert r.returncode == 1 and "for the address 10.255.77.2" in r.stderr
    run("ip", "link", "set", "vsrxe1", "down")
    r = real("check", "Ethernet", found["rdma"])
    assert r.returncode == 1 and "not ACTIVE" in r.stderr
