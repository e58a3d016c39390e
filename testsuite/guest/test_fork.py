# SPDX-License-Identifier: GPL-2.0-or-later
"""Parents of instant clones, and what their clones do before they are nodes."""

import os
import pathlib
import subprocess

import pytest

from test_guest import (GUEST, ID, MAC, PORT, SCRIPT, Guest, Real, failed,
                        kernel_takes)

REAL = PORT.parents[2] / "contribs/guest/slurm-vsphere-port"

# The kernel's side of RNDRESEEDCRNG (0x5207), for a plain file: this machine's own
# generator is not touched, and no privilege is needed.
CALLS = """
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
int ioctl(int fd, unsigned long request, ...)
{
	struct stat st;
	FILE *f = fopen(getenv("CALLS"), "a");

	fstat(fd, &st);
	fprintf(f, "%lx after %d bytes\\n", request, (int)st.st_size);
	fclose(f);
	return 0;
}
"""

PARENT = {"parent": "yes"}


@pytest.fixture
def guest(tmp_path):
    return Guest(tmp_path)


def run_hook(guest, *command, **env):
    return subprocess.run([str(GUEST / "simulator-hook"), *command],
                          env={**guest.environment(), **env}, text=True,
                          timeout=30, capture_output=True, check=False)


def recorder(guest):
    """A slurmd that writes its words down."""
    cmd = guest.dir / "slurmd"
    cmd.write_text(f'#!/bin/sh\necho "$@" >"{guest.dir}/args"\n')
    cmd.chmod(0o755)
    return str(cmd)


def test_a_parent_is_frozen_and_is_nobodys_node(guest):
    guest.info = dict(PARENT)
    p = subprocess.Popen([str(GUEST / "simulator-hook"), "touch",
                          str(guest.dir / "started")],
                         env=guest.environment(), stderr=subprocess.PIPE,
                         text=True, start_new_session=True)
    try:
        for _ in range(300):
            if (guest.dir / "frozen").exists():
                break
            try:
                p.wait(0.1)
                break
            except subprocess.TimeoutExpired:
                pass
        assert (guest.dir / "frozen").exists() and p.poll() is None, \
            p.stderr.read()
    finally:
        os.killpg(p.pid, 9)
        p.wait(10)
    assert not guest.started()
    assert not (guest.dir / "root/etc/hostname").exists()
    assert not (guest.dir / "slurm-vsphere/ready").exists()
    assert guest.told() == {"guestinfo.slurm.state": "booting",
                            "guestinfo.slurm.reason": "parent"}


def test_a_clone_becomes_its_own_node_and_slurmd_begins_its_uptime_anew(guest):
    slurmd = recorder(guest)
    r = run_hook(guest, slurmd, "-D", "-N", "vm007", VM_FORKED="/parent")
    assert r.returncode == 0, r.stderr
    assert (guest.dir / "root/etc/hostname").read_text() == "vm007\n"
    assert (guest.dir / "root/etc/machine-id").read_text() == ID + "\n"
    assert (guest.dir / "args").read_text().split() == ["-D", "-N", "vm007",
                                                        "-b"]
    assert guest.ready()[0] == "ok"


def test_the_clones_own_slurmd_gets_it_too_and_again_when_it_is_restarted(guest):
    env = {"SV_SLURMD": recorder(guest), "VM_BOOT_ID": "of-the-clone-source"}
    run_hook(guest, VM_FORKED="/parent", **env)
    want = ["-D", "-N", "vm007", "--conf-server", "ctl1:6817,ctl2:6817", "-b"]
    assert (guest.dir / "args").read_text().split() == want
    (guest.dir / "args").unlink()
    run_hook(guest, **env)      # systemd starts the unit again
    assert (guest.dir / "args").read_text().split() == want


def test_a_cold_boot_has_its_own_uptime(guest):
    run_hook(guest, SV_SLURMD=recorder(guest))
    assert "-b" not in (guest.dir / "args").read_text().split()


# ---- as on a real machine ----------------------------------------------------------

class Machine(Real):
    """With a driver behind each NIC, and recorders for the system's commands."""

    def __init__(self, path):
        super().__init__(path)
        self.info["address"] = ""
        self.log = self.dir / "commands"
        self.bin = self.dir / "bin"
        self.bin.mkdir()
        for name in ("hwclock", "chronyc", "systemctl"):
            self.command(name, "")
        self.driver = self.root / "sys/bus/pci/drivers/vmxnet3"
        self.driver.mkdir(parents=True)
        for n in ("fn0", "fn1"):
            (self.root / "sys/devices" / n / "driver").symlink_to(self.driver)
        self.seed = self.dir / "seed"
        self.port("cat >'%s'" % self.seed)
        mtu = self.root / "sys/class/net/eth1/mtu"
        self.ip = kernel_takes(mtu)
        self.env["PATH"] = f"{self.bin}:{os.environ['PATH']}"

    def command(self, name, body):
        cmd = self.bin / name
        cmd.write_text(f'#!/bin/sh\necho "{name} $*" >>"{self.log}"\n{body}\n')
        cmd.chmod(0o755)

    def port(self, reseed):
        """slurm-vsphere-port, whose reseed is this shell command."""
        tool = self.bin / "port"
        tool.write_text(f"""#!/bin/sh
if [ "$1" = reseed ]; then
    echo "$*" >>"{self.log}"
    {reseed}
    exit
fi
exec "{PORT}" "$@"
""")
        tool.chmod(0o755)
        self.env["SV_PORT"] = str(tool)

    def fork(self, *verb):
        """The freeze returns in the clone, with the clone's guestinfo."""
        of_clone = self.dir / "clone.json"
        self.environment()
        (self.dir / "guestinfo.json").rename(of_clone)
        mine, self.info = self.info, dict(PARENT)
        tools = self.dir / "tools"
        tools.write_text(f"""#!/bin/sh
if [ "$1" = instantclone.freeze ]; then
    echo frozen >>"{self.log}"; cp "{of_clone}" "$VM_GUESTINFO"; exit 1
fi
exec "{GUEST}/simulator-hook" "$1"
""")
        tools.chmod(0o755)
        try:
            return self.run_with(tools, *verb)
        finally:
            self.info = mine

    def run_with(self, tools, *verb):
        env = {**self.environment(), "SV_ROOT": str(self.root),
               "SV_GUESTINFO_CMD": str(tools), "SV_IP": self.write_ip(self.ip),
               "SV_VERBS": str(self.dir / "verbs"),
               "SLURM_VSPHERE_RUN": str(self.dir / "slurm-vsphere")}
        begin = self.dir / "begin"
        begin.write_text(f'#!/bin/sh\necho "$@" >"{self.dir}/started"\n')
        begin.chmod(0o755)
        verb = verb or ("start", "--", str(begin))
        return subprocess.run([str(SCRIPT), *verb], env=env, text=True,
                              timeout=30, capture_output=True, check=False)

    def ready_file(self):
        return self.dir / "slurm-vsphere/ready"

    def said(self):
        return self.log.read_text().splitlines()


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_clock_name_cards_and_munge_are_made_anew_in_their_order(machine):
    r = machine.fork()
    assert machine.started(), r.stderr
    assert (machine.dir / "started").read_text() == "-b\n"
    assert machine.said() == [
        "frozen", "hwclock --hctosys", "chronyc makestep",
        f"reseed {machine.root}/dev/urandom",
        "systemctl try-restart systemd-networkd.service",
        "systemctl try-restart NetworkManager.service",
        "systemctl try-restart ssh.service",
        "systemctl try-restart sshd.service",
        "systemctl --job-mode=ignore-dependencies try-restart munge.service"]
    assert (machine.root / "proc/sys/kernel/hostname").read_text() == "vm007"
    assert (machine.root / "etc/machine-id").read_text() == ID + "\n"
    # the last NIC's; the kernel would take each
    assert (machine.driver / "unbind").read_text() == "fn1"
    assert (machine.driver / "bind").read_text() == "fn1"
    assert machine.ready()[1]["mac"] == MAC


def test_a_clock_that_cannot_be_set_stops_the_node(machine):
    machine.command("hwclock", "echo 'Cannot access the Hardware Clock' >&2; "
                               "exit 1")
    failed(machine, machine.fork(), 1, "clock", "Cannot access the Hardware")


def test_a_generator_that_is_not_seeded_again_stops_the_node(machine):
    machine.port("echo '/dev/urandom: refused' >&2; exit 1")
    failed(machine, machine.fork(), 1, "random numbers", "refused")


def test_a_clone_whose_renewal_failed_does_it_again(machine):
    """systemd starts the unit again, and now guestinfo is the clone's."""
    machine.port("echo '/dev/urandom: refused' >&2; exit 1")
    failed(machine, machine.fork(), 1, "random numbers")
    tools = machine.dir / "tools"
    failed(machine, machine.run_with(tools), 1, "random numbers")
    machine.port("cat >'%s'" % machine.seed)
    r = machine.run_with(tools)
    assert machine.started(), r.stderr
    assert (machine.dir / "started").read_text() == "-b\n"
    assert "vm007" in machine.seed.read_text()
    begun = machine.said()
    machine.run_with(tools)             # and not once more
    assert machine.said() == begun


def test_the_unit_that_freezes_leaves_the_card_and_slurmd_to_the_next(machine):
    """It ends before the clone's network is waited for."""
    r = machine.fork("freeze")
    assert r.returncode == 0, r.stderr
    assert not machine.started() and not machine.ready_file().exists()
    assert machine.said()[0] == "frozen"
    assert (machine.root / "proc/sys/kernel/hostname").read_text() == "vm007"
    begun = machine.said()
    r = machine.run_with(machine.dir / "tools")
    assert machine.started(), r.stderr
    assert (machine.dir / "started").read_text() == "-b\n"
    assert machine.said() == begun


def test_a_node_does_not_freeze(machine):
    r = machine.run("freeze")
    assert (r.returncode, r.stderr) == (0, "")
    assert not machine.log.exists()


def test_what_seeds_the_generator_is_the_clones_own(machine):
    machine.fork()
    assert machine.started()
    seed = machine.seed.read_text()
    assert "vm007" in seed and ID in seed
    assert not (machine.dir / "slurm-vsphere/forked.seed").exists()


def test_the_port_tool_seeds_the_kernels_generator(tmp_path):
    """Its system calls in their order; a file that is no random device fails."""
    calls = tmp_path / "calls.so"
    source = tmp_path / "calls.c"
    source.write_text(CALLS)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", calls, source], check=True)
    device, log = tmp_path / "urandom", tmp_path / "log"
    device.write_text("")
    argv = [str(REAL), "reseed", str(device)]
    r = subprocess.run(argv, input="entropy", text=True, timeout=30,
                       capture_output=True, check=False)
    assert r.returncode == 1 and "RNDRESEEDCRNG" in r.stderr, r
    r = subprocess.run(argv, input="entropy", text=True, timeout=30, check=False,
                       env={"LD_PRELOAD": str(calls), "CALLS": str(log)})
    assert r.returncode == 0
    assert device.read_text() == "entropy"
    assert log.read_text() == "5207 after 7 bytes\n"
    r = subprocess.run([str(REAL), "reseed", str(tmp_path / "none")], input="",
                       text=True, timeout=30, capture_output=True, check=False)
    assert r.returncode == 1 and "can't be opened" in r.stderr


def test_a_munge_that_does_not_come_back_stops_the_node(machine):
    machine.command("systemctl", 'case $* in *munge*) echo "no munge" >&2; '
                                 'exit 1 ;; esac')
    failed(machine, machine.fork(), 1, "munge", "no munge")


def test_a_card_that_its_driver_does_not_take_again_stops_the_node(machine):
    (machine.driver / "bind").mkdir()
    failed(machine, machine.fork(), 1, "driver", "fn0")


def test_the_sites_own_programs_are_run_before_slurmd(machine):
    site = machine.root / "etc/slurm-vsphere/forked.d"
    site.mkdir(parents=True)
    keys = site / "10-keys"
    keys.write_text(f'#!/bin/sh\necho keys >>"{machine.log}"\n')
    (site / "README").write_text("not run")
    keys.chmod(0o755)
    machine.fork()
    assert machine.started() and machine.said()[-1] == "keys"
    (machine.dir / "started").unlink()
    keys.write_text("#!/bin/sh\necho 'no keys' >&2; exit 4\n")
    failed(machine, machine.fork(), 1, "10-keys", "no keys")


def test_a_clone_has_host_keys_of_its_own_and_sshd_takes_them(machine):
    """Its BIOS UUID is still the parent's, as the kernel has read it there."""
    ssh, dmi = machine.root / "etc/ssh", machine.root / "sys/class/dmi/id"
    ssh.mkdir(parents=True)
    dmi.mkdir(parents=True)
    (dmi / "product_uuid").write_text("4210-parent\n")
    (ssh / "slurm-vsphere-vm").write_text("vm 4210-parent\n")
    key = ssh / "ssh_host_ed25519_key"
    seen = {"the parent's\n"}
    machine.command("ssh-keygen",
                    f'[ -e "{key}" ] || od -An -N16 -tx1 /dev/urandom >"{key}"')
    for _ in range(2):
        key.write_text("the parent's\n")
        r = machine.fork()
        assert machine.started(), r.stderr
        assert key.read_text() not in seen
        seen.add(key.read_text())
    said = machine.said()
    assert said.index("systemctl try-restart sshd.service") > \
        next(i for i, x in enumerate(said) if x.startswith("ssh-keygen -A"))


def test_tools_that_cannot_freeze_are_told(machine):
    machine.info = {**PARENT, "node": ""}
    tools = pathlib.Path(machine.dir / "old-tools")
    tools.write_text(f"""#!/bin/sh
[ "$1" != instantclone.freeze ] || exit 1
exec "{GUEST}/simulator-hook" "$1"
""")
    tools.chmod(0o755)
    failed(machine, machine.run_with(tools), 1, "can't be frozen",
           "instantclone.freeze")
