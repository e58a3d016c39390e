# SPDX-License-Identifier: GPL-2.0-or-later
"""What testsuite/guests does without a guest: a machine that can't run one, the
hypervisor's answers, the end of QEMU with its parent."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys

import pytest

from conftest import TOP, program

sys.path.insert(0, str(TOP / "testsuite/system"))

from daemons import running, wait_for       # noqa: E402

PART = """
. "$TOP/testsuite/lib/count.sh"
. "$TOP/testsuite/lib/run.sh"
. "$TOP/testsuite/lib/lanes.sh"
. "$TOP/testsuite/check/guests.sh"
results=$T/results copy= suite_options=() VS_TUN=$T/no-tun
mkdir -p "$results"
: >"$results/ran"
need_packages() { :; }
need_cluster() { die "set up"; }
"""
MAC = "00:50:56:00:00:01"


def test_in_all_a_machine_without_tun_is_named_in_the_last_lines(shell, tmp_path):
    rc, out, err = shell(PART + "guests_named=\npart_guests\n", TOP=str(TOP))
    assert rc == 0, err
    line = f"guests: NOT RUN: {tmp_path}/no-tun can't be opened\n"
    assert out.endswith(line) and (tmp_path / "results/ran").read_text() == line


def test_a_run_that_names_the_part_fails_there(shell, tmp_path):
    rc, _, err = shell(PART + "guests_named=1\npart_guests\n", TOP=str(TOP))
    assert rc == 1
    assert err == f"bash: guests can't be run here: {tmp_path}/no-tun can't be opened\n"


def test_guests_begin_when_all_other_parts_have_ended(shell, tmp_path):
    rc, out, _ = shell(PART + """
passed=0 failed=0
part_guests() { ls "$T" | tr '\\n' ' ' >"$T/seen"; ok; }
part_system() { sleep 1; : >"$T/system.end"; ok; }
part_lint() { sleep 1; : >"$T/lint.end"; ok; }
parts=(system guests lint)
side_by_side
say "$passed $failed"
""", TOP=str(TOP))
    assert rc == 0 and out.endswith("3 0\n"), out
    assert {"system.end", "lint.end"} <= set((tmp_path / "seen").read_text().split())


@pytest.fixture
def vm(tmp_path):
    """A hypervisor whose QEMU is a stand-in: vm(text) starts it."""
    (tmp_path / "bin").mkdir()
    d = tmp_path / "vm"
    (d / "run").mkdir(parents=True)
    (tmp_path / "cluster/guests").mkdir(parents=True)
    (d / "cards.json").write_text(json.dumps([
        {"type": "vmxnet3", "mac": MAC}, {"type": "sriov", "mac": MAC}]))
    (d / "guestinfo.json").write_text(json.dumps({"guestinfo.slurm.node": "vm001"}))
    started = []

    def start(text):
        program(tmp_path, "qemu-system-x86_64", f'echo "$@" >{tmp_path}/argv\n{text}')
        p = subprocess.Popen([TOP / "testsuite/guests/hypervisor"], env={
            **os.environ, "VM_NAME": "vm001", "VM_DIR": str(d), "VM_BOOT": "1",
            "VM_CARDS": str(d / "cards.json"), "VM_GUESTINFO": str(d / "guestinfo.json"),
            "VS_CLUSTER_DIR": str(tmp_path / "cluster"), "VG_ACCEL": "tcg", "VG_MEMORY": "64",
            "VG_IMAGES": "/images", "VG_DISK": "/disk",
            "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"})
        started.append(p)
        return p
    start.dir = d
    yield start
    for p in started:
        p.kill()
        p.wait()


def test_a_signal_to_its_group_does_not_reach_qemu(vm, tmp_path):
    """The simulator's ShutdownGuest: the guest is asked, QEMU is not ended."""
    p = vm(f"ps -o pgid= -p $$ >{tmp_path}/group.new; mv {tmp_path}/group.new {tmp_path}/group\n"
           "exec sleep 300\n")
    wait_for("it runs", 30, (tmp_path / "group").exists)
    assert int((tmp_path / "group").read_text()) not in (p.pid, os.getpgid(p.pid))


def test_qemu_ends_with_the_hypervisor(vm, tmp_path):
    p = vm(f"echo $$ >{tmp_path}/pid.new; mv {tmp_path}/pid.new {tmp_path}/pid; exec sleep 300\n")
    wait_for("it runs", 30, (tmp_path / "pid").exists)
    pid = int((tmp_path / "pid").read_text())
    assert running(pid)
    p.send_signal(signal.SIGKILL)
    wait_for("QEMU has ended", 10, lambda: not running(pid))


@pytest.mark.parametrize("code, means", [(0, 42), (1, 1)])
def test_a_guest_that_powers_off_is_no_failure(vm, code, means):
    assert vm(f"exit {code}\n").wait(30) == means


def test_nics_and_the_machine_are_as_a_vm_shows_them(vm, tmp_path):
    vm("exit 0\n").wait(30)
    argv = (tmp_path / "argv").read_text()
    assert "manufacturer=VMware,, Inc." in argv and "snapshot=on" in argv
    assert f"vmxnet3,x-disable-pcie=on,id=nic0,netdev=n0,mac={MAC}" in argv
    assert f"virtio-net-pci,id=nic1,netdev=n1,mac={MAC}" in argv


def test_guestinfo_is_read_and_written(vm):
    vm("exec sleep 300\n")
    door = vm.dir / "run/rpc"
    wait_for("it listens", 30, door.exists)
    with socket.socket(socket.AF_UNIX) as s:
        wait_for("it answers", 10, lambda: s.connect_ex(str(door)) == 0)
        with s.makefile("rw") as f:
            def ask(text):
                f.write(text + "\n")
                f.flush()
                return f.readline().rstrip("\n")
            assert ask("info-get guestinfo.slurm.node") == "1 vm001"
            assert ask("info-get guestinfo.none") == "0 No value found"
            assert ask("info-set guestinfo.slurm.state ready now") == "1"
            assert ask("info-get guestinfo.slurm.state") == "1 ready now"
            assert ask("nonsense") == "0 Unknown command"
    assert (vm.dir / "guestinfo.set").read_text() == "guestinfo.slurm.state=ready now\n"
    asked = [line.split(" ", 1)[1] for line in (vm.dir / "rpc.log").read_text().splitlines()]
    assert asked[0] == "power-on 1" and asked[-1] == "nonsense"


def test_rpctool_without_a_port_fails_with_a_reason(tmp_path):
    tool = pathlib.Path(tmp_path, "vmtoolsd")
    subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", "-DOPEN_TRIES=1", "-o", tool,
                    TOP / "testsuite/guests/rpctool.c"], check=True)
    r = subprocess.run([tool, "--cmd", "info-get x"], text=True, capture_output=True, check=False)
    assert r.returncode == 1 and r.stderr.startswith("Failed sending message to VMware: ")
    assert subprocess.run([tool, "x"], capture_output=True, check=False).returncode == 2


@pytest.mark.parametrize("words, says", [
    (["--guests"], "--guests qemu is expected"),
    (["--guests", "qemu", "--keep"], "one option at most is expected")])
def test_the_demo_refuses_what_it_does_not_know(tmp_path, words, says):
    r = subprocess.run([TOP / "contribs/demo.sh", *words], text=True, capture_output=True,
                       check=False, env={**os.environ, "VS_CACHE": str(tmp_path)})
    assert (r.returncode, r.stderr) == (1, f"demo.sh: {says}\n")
