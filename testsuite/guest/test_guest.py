# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest's script on a fake /sys, as it stands: no part of it is replaced.

Most tests go by way of simulator-hook, which makes that /sys of the VM's NICs;
those about a real guest's commands (ip, vmtoolsd) call the script without
--simulate, with recorders in their place."""

import json
import os
import pathlib
import subprocess
import time

import pytest

TOP = pathlib.Path(os.environ.get("VS_TOP",
                                  pathlib.Path(__file__).parents[2]))
GUEST = TOP / "contribs/guest"
SCRIPT = GUEST / "slurm-vsphere-guest"
PORT = pathlib.Path(os.environ.get("VS_BUILD", TOP)) / \
    "testsuite/guest/simulated-port"
MAC = "00:50:56:01:02:03"
ID = "0123456789abcdef0123456789abcdef"


class Guest:
    def __init__(self, path):
        self.dir = path
        self.info = {"node": "vm007", "mac": MAC, "link-layer": "Ethernet",
                     "machine-id": ID, "mtu": "9000",
                     "conf-server": "ctl1:6817,ctl2:6817"}
        self.cards = [
            {"type": "vmxnet3", "mac": "00:50:56:11:02:03",
             "network": "VM Network"},
            {"type": "sriov", "mac": MAC, "network": "SRIOV-ROCE-PG"},
        ]
        self.env = {"SV_WAIT": "1", "SV_POLL": "0.05", "SV_PORT": str(PORT),
                    "SV_MUNGE": "true", "SV_SCONTROL": "true"}

    def environment(self):
        (self.dir / "guestinfo.json").write_text(json.dumps(
            {f"guestinfo.slurm.{k}": v for k, v in self.info.items()},
            indent=1))
        (self.dir / "cards.json").write_text(json.dumps(self.cards, indent=1))
        return {"PATH": os.environ["PATH"], "VM_NAME": "vm007",
                "VM_DIR": str(self.dir),
                "VM_GUESTINFO": str(self.dir / "guestinfo.json"),
                "VM_CARDS": str(self.dir / "cards.json"), **self.env}

    def boot(self, *command):
        """Power-on; the command leaves a file `started` if it was reached."""
        command = command or ("touch", str(self.dir / "started"))
        return subprocess.run([str(GUEST / "simulator-hook"), *command],
                              env=self.environment(), text=True, timeout=30,
                              capture_output=True, check=False)

    def after_a_look(self, body):
        """The world changes exactly after the RDMA devices were looked at."""
        then = self.dir / "then"
        then.write_text(f"#!/bin/sh\n{body}\n")
        then.chmod(0o755)
        self.env.update(SV_VERBS_THEN=str(then), SV_WAIT="20",
                        SV_VERBS_LOG=str(self.dir / "slurm-vsphere/looks"))

    def looks(self):
        return len((self.dir / "slurm-vsphere/looks").read_text())

    def started(self):
        return (self.dir / "started").exists()

    def ready(self):
        lines = (self.dir / "slurm-vsphere/ready").read_text().splitlines()
        return lines[0], dict(x.split(" ", 1) for x in lines[1:])

    def told(self):
        text = (self.dir / "guestinfo.set").read_text()
        return dict(x.split("=", 1) for x in text.splitlines())


@pytest.fixture
def guest(tmp_path):
    return Guest(tmp_path)


def failed(guest, result, code, *words, state="failed"):
    assert result.returncode == code, result.stderr
    assert not guest.started()
    first, _ = guest.ready()
    assert first.startswith("failed: ")
    for w in words:
        assert w in first
    told = guest.told()
    assert told["guestinfo.slurm.state"] == state
    assert told["guestinfo.slurm.reason"] == first[len("failed: "):]


def test_a_failure_is_never_seen_with_other_words(guest):
    """vCenter shows the two keys one by one, and they outlive a boot."""
    del guest.cards[1]
    guest.boot()
    lines = (guest.dir / "guestinfo.log").read_text().splitlines()
    seen, states = {"state": "failed", "reason": "of the last boot"}, []
    for line in lines:
        key, value = line.split(" ", 1)
        seen[key.removeprefix("guestinfo.slurm.")] = value
        states.append((seen["state"], seen["reason"]))
    assert [s for s in states if s[0] == "failed"] == states[-1:]
    assert MAC in states[-1][1]


def test_a_roce_card_is_found_by_its_mac_and_slurmd_starts(guest):
    r = guest.boot()
    assert r.returncode == 0, r.stderr
    assert guest.started()
    first, words = guest.ready()
    assert first == "ok"
    assert words["netdev"] == "eth1"
    assert words["device"] == "mlx5_1"
    assert words["mtu"] == "9000"
    state = pathlib.Path(words["port"]) / "state"
    assert state.read_text() == "4: ACTIVE\n"
    assert guest.told()["guestinfo.slurm.state"] == "ready"


@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_nothing_but_printable_ascii_is_believed(guest, shell):
    """The script's shell is dash on Debian and bash on RHEL, with any locale."""
    values = {"adapter": "roce", "dns": "a b", "gateway": "\x1b[1m", "dns-search": "caf\u00e9",
              "cluster": "two\nlines\n", "first-mac": "!~", "node": "vm007"}
    for key, value in values.items():
        (guest.dir / key).write_text(value)
    tool = guest.dir / "guestinfo"
    tool.write_text('#!/bin/sh\ncase $1 in info-get*) '
                    'exec cat "${0%/*}/${1##*.}" 2>/dev/null ;; esac\n')
    tool.chmod(0o755)
    subprocess.run([shell, str(SCRIPT), "--simulate", "identity"], check=True, timeout=30, env={
        "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "SV_ROOT": str(guest.dir / "root"),
        "SLURM_VSPHERE_RUN": str(guest.dir / "run"), "SV_GUESTINFO_CMD": str(tool)})
    kept = {key: (guest.dir / "run/guestinfo" / key).read_bytes() for key in values}
    assert kept == {"adapter": b"roce", "dns": b"ab", "gateway": b"[1m", "dns-search": b"caf",
                    "cluster": b"twolines", "first-mac": b"!~", "node": b"vm007"}
    assert (guest.dir / "run/guestinfo/parent").read_bytes() == b""


def two_rails(guest):
    other = "00:50:56:01:02:04"
    guest.info["mac"] = f"{MAC},{other}"
    guest.cards.insert(1, {"type": "sriov", "mac": other,
                           "network": "SRIOV-ROCE-PG"})
    return other


def test_all_cards_of_several_are_found_in_their_order(guest):
    other = two_rails(guest)
    r = guest.boot()
    assert r.returncode == 0, r.stderr
    first, words = guest.ready()
    assert first == "ok" and words["mac"] == f"{MAC},{other}"
    assert words["netdev"] == "eth2,eth1"
    assert words["device"] == "mlx5_2,mlx5_1"
    text = (guest.dir / "slurm-vsphere/ready").read_text()
    ports = [x for x in text.splitlines() if x.startswith("port ")]
    assert [p.split("/infiniband/")[1] for p in ports] == [
        "mlx5_2/ports/1", "mlx5_1/ports/1"]
    for n in (1, 2):
        mtu = guest.dir / f"root/sys/class/net/eth{n}/mtu"
        assert mtu.read_text() == "9000\n"


def test_one_card_of_several_that_is_missing_fails_the_boot(guest):
    other = two_rails(guest)
    del guest.cards[1]
    failed(guest, guest.boot(), 1, f"no NIC has the MAC {other}")


def test_the_mac_may_be_written_in_capitals(guest):
    guest.info["mac"] = guest.cards[1]["mac"] = "00:50:56:0A:BC:DE"
    assert guest.boot().returncode == 0
    assert guest.ready()[1]["netdev"] == "eth1"


def test_an_infiniband_card_is_found_by_the_guid_made_of_its_mac(guest):
    guest.info.update({"link-layer": "InfiniBand", "mtu": "4092"})
    guest.cards[1]["network"] = "SRIOV-IB-PG"
    assert guest.boot().returncode == 0
    first, words = guest.ready()
    assert first == "ok"
    assert (words["netdev"], words["device"]) == ("ib1", "mlx5_1")


def test_a_guid_with_the_local_bit_turned_is_the_cards(real):
    real.info["link-layer"] = "InfiniBand"
    real.cards[1]["network"] = "SRIOV-IB-PG"
    del real.info["mtu"]
    real.boot("true")
    (real.root / "sys/class/net/ib1/address").write_text(
        "80:00:00:48:fe:80:00:00:00:00:00:00:02:50:56:ff:fe:01:02:03\n")
    assert real.run("start", "--", "touch",
                    str(real.dir / "started")).returncode == 0
    assert real.ready()[1]["netdev"] == "ib1"


def test_another_guid_is_not_taken_for_the_card(guest):
    guest.info["link-layer"] = "InfiniBand"
    guest.cards[1].update(network="SRIOV-IB-PG", mac="00:50:56:01:02:04")
    failed(guest, guest.boot(), 1, "no NIC has the MAC", MAC)


def test_pvrdma_is_found_though_its_ethernet_is_another_function(guest):
    guest.cards[1]["type"] = "pvrdma"
    assert guest.boot().returncode == 0
    assert guest.ready()[1]["device"] == "vmw_pvrdma1"


def test_vmxnet3_wants_no_rdma_device(guest):
    guest.cards[1]["type"] = "vmxnet3"
    guest.info["link-layer"] = "none"
    assert guest.boot().returncode == 0
    first, words = guest.ready()
    assert first == "ok"
    assert "port" not in words and "device" not in words


def test_a_port_that_is_never_active_stops_the_node_in_bounded_time(guest):
    guest.env["VM_PORT_STATE"] = "1: DOWN"
    begin = time.monotonic()
    r = guest.boot()
    assert time.monotonic() - begin < 10
    failed(guest, r, 1, "mlx5_1 port 1 is DOWN, not ACTIVE", "uplink",
           "(after 1 s)")


def test_a_port_that_becomes_active_late_is_waited_for(guest):
    state = guest.dir / "port-state"
    state.write_text("2: INIT\n")
    guest.after_a_look(f'echo "4: ACTIVE" >"{state}"')
    r = guest.boot()
    assert r.returncode == 0, r.stderr
    assert guest.started()
    assert guest.looks() == 2


def test_a_driver_that_loads_late_is_waited_for(guest):
    verbs, late = guest.dir / "verbs", guest.dir / "verbs.late"
    sys = guest.dir / "root/sys/class/infiniband"
    guest.boot("true")
    late.write_text(verbs.read_text().replace("mlx5_1", "mlx5_9"))
    guest.env["VM_RDMA"] = "no"             # no device at first
    guest.after_a_look(f'mkdir -p "{sys}/mlx5_9" && '
                       f'ln -s ../../../devices/fn1 "{sys}/mlx5_9/device" && '
                       f'cp "{late}" "{verbs}"; '
                       f'echo "4: ACTIVE" >"{guest.dir}/state"')
    r = guest.boot()
    assert r.returncode == 0, r.stderr
    assert guest.ready()[1]["device"] == "mlx5_9"
    assert guest.looks() == 2


def test_the_last_boots_ready_is_gone_while_the_port_is_waited_for(guest):
    assert guest.boot().returncode == 0
    (guest.dir / "started").unlink()
    state = guest.dir / "port-state"
    state.write_text("2: INIT\n")
    ready = guest.dir / "slurm-vsphere/ready"
    guest.after_a_look(f'[ ! -e "{ready}" ] || touch "{guest.dir}/stale"; '
                       f'echo "4: ACTIVE" >"{state}"')
    assert guest.boot().returncode == 0
    assert guest.looks() == 2
    assert not (guest.dir / "stale").exists()


def test_a_wrong_link_layer_is_final_and_said_at_once(guest):
    guest.env.update(VM_LINK_LAYER="InfiniBand", SV_WAIT="25")
    begin = time.monotonic()
    r = guest.boot()
    assert time.monotonic() - begin < 10
    failed(guest, r, 3, "mlx5_1 port 1 is InfiniBand", "Ethernet is wanted")


def test_the_mtu_is_left_alone_if_none_is_given(guest):
    del guest.info["mtu"]
    assert guest.boot().returncode == 0
    assert guest.ready()[1]["mtu"] == "1500"


@pytest.mark.parametrize("mtu", ["9000; reboot", "-1", "nine"])
def test_an_mtu_that_is_no_number_is_refused(guest, mtu):
    guest.info["mtu"] = mtu
    failed(guest, guest.boot(), 3, "mtu")


def test_no_card_with_that_mac(guest):
    guest.info["mac"] = "00:50:56:3f:ff:ff"
    failed(guest, guest.boot(), 1, "00:50:56:3f:ff:ff")


def test_a_card_without_rdma_driver(guest):
    guest.cards[1]["type"] = "vmxnet3"
    failed(guest, guest.boot(), 1, "eth1", "no RDMA device", "driver")


def test_a_vm_that_nobody_made_for_slurm_is_refused(guest):
    guest.info = {}
    failed(guest, guest.boot(), 3, "guestinfo.slurm.node is not set")


@pytest.mark.parametrize("node", ["-oops", "../x", "a/b", "a;b"])
def test_a_node_name_that_is_none_is_refused(guest, node):
    guest.info["node"] = node
    failed(guest, guest.boot(), 3, "no node name")


def test_a_failure_of_an_earlier_boot_does_not_stay(guest):
    guest.env["VM_PORT_STATE"] = "1: DOWN"
    assert guest.boot().returncode == 1
    del guest.env["VM_PORT_STATE"]
    assert guest.boot().returncode == 0
    assert guest.ready()[0] == "ok"
    assert guest.told()["guestinfo.slurm.state"] == "ready"


def test_identity_sets_host_name_and_machine_id(guest):
    guest.boot()
    etc = guest.dir / "root/etc"
    assert (etc / "hostname").read_text() == "vm007\n"
    assert (etc / "machine-id").read_text() == ID + "\n"


@pytest.mark.parametrize("bad", [ID[1:], ID[1:] + "g"])
def test_a_machine_id_that_is_none_is_refused(guest, bad):
    guest.info["machine-id"] = bad
    failed(guest, guest.boot(), 3, "machine-id")


@pytest.mark.parametrize("dynamic", [(), ("-Z",)], ids=["static", "dynamic"])
def test_slurmd_gets_its_node_name_and_all_controllers(guest, dynamic):
    fake = guest.dir / "slurmd"
    fake.write_text('#!/bin/sh\nprintf "%s\\n" "$@" >"$VM_DIR/args"\n'
                    'cp "$SLURM_VSPHERE_RUN/ready" "$VM_DIR/seen"\n')
    fake.chmod(0o755)
    guest.env["SV_SLURMD"] = str(fake)
    if dynamic:
        guest.info["dynamic"] = "yes"
    env = guest.environment()
    subprocess.run([str(GUEST / "simulator-hook")], env=env, timeout=30,
                   check=True, capture_output=True)
    assert (guest.dir / "args").read_text().split() == [
        "-D", "-N", "vm007", *dynamic, "--conf-server",
        "ctl1:6817,ctl2:6817"]
    # slurmd's prep plugin reads the same file
    assert (guest.dir / "seen").read_text().startswith("ok\nport ")


def slurmd_words(guest):
    """What slurmd is started with by the next `start`."""
    fake = guest.dir / "slurmd"
    fake.write_text('#!/bin/sh\nprintf "%s\\n" "$@" >"$VM_DIR/args"\n')
    fake.chmod(0o755)
    guest.env["SV_SLURMD"] = str(fake)
    subprocess.run([str(GUEST / "simulator-hook")], env=guest.environment(),
                   timeout=30, check=True, capture_output=True)
    return (guest.dir / "args").read_text().split()


def boots(guest, boot_id):
    """Another boot has another id."""
    f = guest.dir / "root/proc/sys/kernel/random/boot_id"
    f.parent.mkdir(parents=True, exist_ok=True)
    f.write_text(boot_id + "\n")


HOSTILE = {"conf-server": "10.9.9.9:6817", "node": "vm777", "dynamic": "yes",
           "parent": "yes", "mac": "00:50:56:01:02:99", "mtu": "576",
           "link-layer": "none", "machine-id": "f" * 32}


@pytest.mark.parametrize("key", HOSTILE)
def test_what_a_boot_has_read_is_not_read_again(guest, key):
    """A user of the guest may have written it meanwhile."""
    boots(guest, "one")
    was = slurmd_words(guest)
    guest.info[key] = HOSTILE[key]
    assert slurmd_words(guest) == was
    assert was[:3] == ["-D", "-N", "vm007"] and "10.9.9.9:6817" not in was


def test_another_boot_reads_again(guest):
    boots(guest, "one")
    slurmd_words(guest)
    guest.info["conf-server"] = "ctl3:6817"
    boots(guest, "two")
    assert "ctl3:6817" in slurmd_words(guest)


def test_the_templates_own_controller_comes_before_guestinfo(guest):
    f = guest.dir / "root/etc/slurm-vsphere/conf-server"
    f.parent.mkdir(parents=True, exist_ok=True)
    f.write_text("ctl9:6817\n")
    guest.info["conf-server"] = "10.9.9.9:6817"
    assert slurmd_words(guest)[-2:] == ["--conf-server", "ctl9:6817"]


def test_what_was_read_is_roots_alone(guest):
    boots(guest, "one")
    slurmd_words(guest)
    kept = next(guest.dir.rglob("guestinfo/boot")).parent
    assert kept.stat().st_mode & 0o077 == 0


# ---- without --simulate: the commands that are given -------------------------------

class Real(Guest):
    """The script itself, on a /sys that the hook made, with a recorder for ip."""

    def __init__(self, path):
        super().__init__(path)
        self.boot("true")
        self.root = self.dir / "root"
        self.calls = self.dir / "ip.calls"
        (self.root / "proc/sys/kernel").mkdir(parents=True)

    def write_ip(self, body):
        ip = self.dir / "ip"
        ip.write_text(f'#!/bin/sh\necho "$*" >>"{self.calls}"\n{body}\n')
        ip.chmod(0o755)
        return str(ip)

    def run(self, *argv, ip=""):
        self.calls.write_text("")
        env = {**self.environment(), "SV_ROOT": str(self.root),
               "SV_GUESTINFO_CMD": str(GUEST / "simulator-hook"),
               "SV_IP": self.write_ip(ip),
               "SV_VERBS": str(self.dir / "verbs"),
               "SLURM_VSPHERE_RUN": str(self.dir / "slurm-vsphere")}
        return subprocess.run([str(SCRIPT), *argv], env=env, text=True,
                              timeout=30, capture_output=True, check=False)


@pytest.fixture
def real(tmp_path):
    return Real(tmp_path)


def kernel_takes(mtu_file):
    """What the kernel does when ip sets an MTU."""
    return f'[ "$5" != mtu ] || echo "$6" >"{mtu_file}"'


def test_ip_sets_mtu_link_and_address_of_the_card_alone(real):
    real.info["address"] = "10.1.0.7/16"
    real.boot("true")       # the kernel's GID table follows the address
    mtu = real.root / "sys/class/net/eth1/mtu"
    r = real.run("start", "--", "touch", str(real.dir / "started"),
                 ip=kernel_takes(mtu))
    assert r.returncode == 0, r.stderr
    assert real.started()
    assert real.calls.read_text().splitlines() == [
        "link set dev eth1 mtu 9000", "link set dev eth1 up",
        "address replace 10.1.0.7/16 dev eth1"]


@pytest.mark.parametrize("address", ["10.1.0.7", "/16", "1.2.3.4/5/6", "x/1"])
def test_an_address_without_prefix_or_worse_is_refused(real, address):
    real.info["address"] = address
    mtu = real.root / "sys/class/net/eth1/mtu"
    failed(real, real.run("start", "--", "touch", str(real.dir / "started"),
                          ip=kernel_takes(mtu)), 3, "ADDRESS/PREFIX")
    assert "address" not in real.calls.read_text()


def test_an_mtu_that_the_card_refuses_stops_the_node(real):
    failed(real, real.run("start", "--", "touch", str(real.dir / "started"),
                          ip="echo 'mtu greater than device maximum' >&2; exit 2"),
           3, "eth1", "MTU 9000", "greater than device maximum", "allowed")


def test_an_mtu_that_is_not_taken_is_noticed(real):
    (real.root / "sys/class/net/eth1/mtu").write_text("1500\n")
    failed(real, real.run("start", "--", "touch", str(real.dir / "started")),
           3, "MTU is 1500 after setting 9000")


def test_identity_tells_the_kernel_too(real):
    assert real.run("identity").returncode == 0
    assert (real.root / "proc/sys/kernel/hostname").read_text() == "vm007"


def test_a_bond_with_the_cards_mac_is_not_the_card(real):
    bond = real.root / "sys/class/net/a-bond"
    bond.mkdir()
    (bond / "address").write_text(MAC + "\n")
    mtu = real.root / "sys/class/net/eth1/mtu"
    r = real.run("start", "--", "touch", str(real.dir / "started"),
                 ip=kernel_takes(mtu))
    assert r.returncode == 0, r.stderr
    assert real.ready()[1]["netdev"] == "eth1"


# ---- SSH keys -------------------------------------------------------------------

KEYGEN = r"""#!/bin/sh
# ssh-keygen -A -f ROOT: keys that are there stay; ssh-keygen -q -t TYPE -N '' -f FILE
make() { [ -e "$1" ] || { od -An -N16 -tx1 /dev/urandom >"$1"; cp "$1" "$1.pub"; }; }
case $1 in
-A)	:
	make "$3/etc/ssh/ssh_host_rsa_key"
	make "$3/etc/ssh/ssh_host_ecdsa_key"
	make "$3/etc/ssh/ssh_host_ed25519_key" ;;
-q)	case $2,$4$5,$6,$7 in
	-t,-N,-f,"${7%/*}/ssh_host_${3}_key") make "$7" ;;
	*) exit 1 ;;
	esac ;;
esac
"""


class Clone(Real):
    """Of a template that holds the host keys of the VM that it was made of."""

    def __init__(self, path, uuid):
        path.mkdir()
        super().__init__(path)
        self.ssh = self.root / "etc/ssh"
        self.ssh.mkdir(parents=True)
        for kind in ("rsa", "ed25519", "ecdsa"):
            (self.ssh / f"ssh_host_{kind}_key").write_text(f"template {kind}\n")
            (self.ssh / f"ssh_host_{kind}_key.pub").write_text("template\n")
        (self.ssh / "sshd_config").write_text("PermitRootLogin no\n")
        (self.ssh / "slurm-vsphere-vm").write_text("vm of-the-template\n")
        (self.dir / "bin").mkdir()
        keygen = self.dir / "bin/ssh-keygen"
        keygen.write_text(KEYGEN)
        keygen.chmod(0o755)
        self.env["PATH"] = f"{self.dir / 'bin'}:{os.environ['PATH']}"
        dmi = self.root / "sys/class/dmi/id"
        dmi.mkdir(parents=True)
        (dmi / "product_uuid").write_text(uuid + "\n")

    def keys(self):
        return {f.name: f.read_text() for f in self.ssh.glob("ssh_host_*")}

    def identity(self):
        r = self.run("identity")
        assert r.returncode == 0, r.stderr
        return self.keys()


@pytest.fixture
def clone(tmp_path):
    return lambda name, uuid: Clone(tmp_path / name, uuid)


def test_no_two_vms_have_one_host_key_nor_the_templates(clone):
    one, two = clone("one", "4210-aa"), clone("two", "4210-bb")
    template = one.keys()
    first, second = one.identity(), two.identity()
    assert set(first) == set(second) == {
        f"ssh_host_{k}_key{pub}" for k in ("rsa", "ecdsa", "ed25519")
        for pub in ("", ".pub")}
    seen = [*template.values(), *first.values(), *second.values()]
    for name in ("ssh_host_rsa_key", "ssh_host_ed25519_key"):
        assert seen.count(first[name]) == seen.count(second[name]) == 2
    assert (one.ssh / "sshd_config").read_text() == "PermitRootLogin no\n"


def test_a_vm_that_is_kept_keeps_its_host_keys(clone):
    vm = clone("one", "4210-aa")
    keys = vm.identity()
    assert vm.identity() == keys
    # cloned from it: another VM
    (vm.root / "sys/class/dmi/id/product_uuid").write_text("4210-bb\n")
    assert not set(vm.identity().values()) & set(keys.values())


def test_without_a_uuid_the_first_boot_makes_keys(clone):
    vm = clone("one", "")
    (vm.root / "sys/class/dmi/id/product_uuid").unlink()
    keys = vm.identity()
    assert "template rsa\n" not in keys.values() and len(keys) == 6
    assert vm.identity() == keys


def test_a_slow_cpu_has_the_host_keys_that_are_made_fast(clone):
    """RSA would take a minute: the boot does not wait for it."""
    vm = clone("one", "4210-aa")
    (vm.dir / "bin/ssh-keygen").write_text(KEYGEN.replace("-A)\t:", "-A)\texec sleep 60"))
    began = time.monotonic()
    assert set(vm.identity()) == {f"ssh_host_{k}_key{pub}" for k in ("ed25519", "ecdsa")
                                  for pub in ("", ".pub")}
    assert time.monotonic() - began < 30


def test_with_fips_the_host_keys_that_can_be_made_are(clone):
    vm = clone("one", "4210-aa")
    (vm.dir / "bin/ssh-keygen").write_text(
        KEYGEN.replace('\tmake "$3/etc/ssh/ssh_host_ed25519_key" ;;', "\t;;")
        .replace("-q)\t", "-q)\t[ $3 != ed25519 ] || exit 1\n\t"))
    assert {n for n in vm.identity() if not n.endswith(".pub")} == {
        "ssh_host_rsa_key", "ssh_host_ecdsa_key"}


def test_without_ssh_keygen_there_are_no_host_keys(clone):
    vm = clone("one", "4210-aa")
    (vm.dir / "bin/ssh-keygen").write_text("#!/bin/sh\nexit 1\n")
    assert vm.identity() == {}
    (vm.dir / "bin/ssh-keygen").write_text(KEYGEN)
    assert len(vm.identity()) == 6, "a boot that was cut short is made good"


def test_a_site_may_keep_the_templates_host_keys(clone):
    vm = clone("one", "4210-aa")
    was = vm.keys()
    keep = vm.root / "etc/slurm-vsphere/keep-host-keys"
    keep.parent.mkdir(exist_ok=True)
    keep.touch()
    assert vm.identity() == was


def test_no_authorized_keys_are_given_to_a_vm(clone):
    """Of the template's own file the guest's script changes nothing."""
    vm = clone("one", "4210-aa")
    mine = vm.root / "root/.ssh/authorized_keys"
    mine.parent.mkdir(parents=True)
    mine.write_text("ssh-ed25519 AAAA admin\n")
    vm.info["authorized-keys"] = vm.info["ssh-key"] = "ssh-ed25519 BBBB user"
    vm.identity()
    r = vm.run("start", "--", "true")
    assert r.returncode == 0, r.stderr
    assert list(vm.root.rglob("authorized_keys*")) == [mine]
    assert mine.read_text() == "ssh-ed25519 AAAA admin\n"
    assert not [f for f in vm.dir.rglob("*") if f.is_file() and
                f.name != "guestinfo.json" and b"BBBB" in f.read_bytes()]


def test_without_sshd_nothing_is_made(real):
    assert real.run("identity").returncode == 0
    assert not (real.root / "etc/ssh").exists()
