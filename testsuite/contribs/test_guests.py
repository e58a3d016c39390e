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


@pytest.mark.parametrize("code, says", [
    (0, ""), (25, "ann has no range of ids in /etc/subuid and /etc/subgid for the image's files: as root, "
                  "usermod --add-subuids 300000-365535 --add-subgids 300000-365535 ann\n")])
def test_an_ordinary_user_is_told_which_ids_the_image_needs(shell, code, says):
    rc, out, err = shell(f"""
id() {{ case $1 in -u) echo 1000 ;; -un) echo ann ;; esac; }}
mmdebstrap() {{ [ "$*" = "--unshare-helper true" ] && return {code}; }}
. "$TOP/testsuite/guests/image.sh"
[[ " ${{VS_PACKAGES_GUESTS[*]}} " = *" uidmap "* ]]
ids_missing
""", TOP=str(TOP))
    assert (rc, out, err) == (0, says, "")


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

    def start(text, **env):
        program(tmp_path, "qemu-system-x86_64", f'echo "$@" >{tmp_path}/argv\n{text}')
        p = subprocess.Popen([TOP / "testsuite/guests/hypervisor"], env={
            **os.environ, "VM_NAME": "vm001", "VM_DIR": str(d), "VM_BOOT": "1",
            "VM_CARDS": str(d / "cards.json"), "VM_GUESTINFO": str(d / "guestinfo.json"),
            "VS_CLUSTER_DIR": str(tmp_path / "cluster"), "VG_ACCEL": "tcg", "VG_MEMORY": "64",
            "VG_IMAGES": "/images", "VG_DISK": "/disk",
            "PATH": f"{tmp_path}/bin:{os.environ['PATH']}", **env})
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


# QEMU's monitor; what it was told is written into the file `told`.
MONITOR = """
import json, pathlib, socket, subprocess, sys
top, run, status = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
door = socket.socket(socket.AF_UNIX)
door.bind(run + "/qmp")
door.listen()
while True:
    s = door.accept()[0]
    f = s.makefile("rw")
    print(json.dumps({"QMP": {}}), file=f, flush=True)
    for line in f:
        what = json.loads(line)
        (top / "told").open("a").write(what["execute"] + "\\n")
        if what["execute"] == "migrate":
            subprocess.run(what["arguments"]["uri"].removeprefix("exec:"), shell=True, input=b"m")
        print(json.dumps({"return": {"status": status}}), file=f, flush=True)
        if what["execute"] == "quit":
            sys.exit()
"""


def source(vm, tmp_path, status):
    """A clone source whose migrations end so; what it is answered to its request."""
    (vm.dir / "guestinfo.json").write_text(json.dumps({"guestinfo.slurm.parent": "yes"}))
    (tmp_path / "monitor.py").write_text(MONITOR)
    (tmp_path / "bin").mkdir(exist_ok=True)
    program(tmp_path, "qemu-img", f'echo "$@" >{tmp_path}/img')
    p = vm(f"exec {sys.executable} {tmp_path}/monitor.py {tmp_path} {vm.dir}/run {status}\n")
    wait_for("the monitor listens", 30, (vm.dir / "run/qmp").exists)
    with socket.socket(socket.AF_UNIX) as s:
        wait_for("it answers", 10, lambda: s.connect_ex(str(vm.dir / "run/rpc")) == 0)
        with s.makefile("rw") as f:
            f.write("instantclone.freeze\n")
            f.flush()
            return p, f.readline()


def test_a_clone_source_is_saved_and_stays_frozen_until_it_is_powered_off(vm, tmp_path):
    p, answer = source(vm, tmp_path, "completed")
    assert answer == ""     # that is for its clones
    wait_for("it is frozen", 10, (vm.dir / "frozen").exists)
    assert (vm.dir / "memory").read_text() == "m" and p.poll() is None
    told = [x for x in (tmp_path / "told").read_text().split() if x != "qmp_capabilities"]
    assert told == ["migrate-set-parameters", "migrate", "query-migrate", "quit"]
    assert f"file={vm.dir}/disk.qcow2,format=qcow2,if" in (tmp_path / "argv").read_text()
    assert (tmp_path / "img").read_text().endswith(f"-b /disk {vm.dir}/disk.qcow2\n")
    p.send_signal(signal.SIGTERM)
    p.wait(10)


def test_a_clone_source_that_cannot_be_saved_goes_on_and_is_told(vm, tmp_path):
    p, answer = source(vm, tmp_path, "failed")
    assert answer == "0 Failed\n" and p.poll() is None
    assert not (vm.dir / "frozen").exists()
    assert "quit" not in (tmp_path / "told").read_text()


def test_a_clone_begins_with_its_sources_memory_and_the_end_of_its_request(vm, tmp_path):
    vm("exec sleep 300\n", VM_FORKED="/source")
    wait_for("it runs", 30, (tmp_path / "argv").exists)
    with socket.socket(socket.AF_UNIX) as s:
        wait_for("it answers", 10, lambda: s.connect_ex(str(vm.dir / "run/rpc")) == 0)
        with s.makefile("rw") as f:
            assert f.readline() == "1\n"
            f.write("info-get guestinfo.slurm.node\n")
            f.flush()
            assert f.readline() == "1 vm001\n"
    argv = (tmp_path / "argv").read_text()
    assert "-incoming exec:cat /source/memory" in argv
    assert "file=/source/disk.qcow2,format=qcow2,snapshot=on" in argv


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


# ---- the time server of the guests ---------------------------------------------------

def test_an_answer_has_the_time_and_belongs_to_its_request(monkeypatch):
    monkeypatch.setattr(ntp.time, "time", lambda: 1e9 + 0.5)
    said = ntp.answer(b"\x23" + b"\0" * 39 + b"mystamp!")
    assert len(said) == 48 and said[0] & 7 == 4 and said[1] == 1
    assert said[24:32] == b"mystamp!"
    now = (10**9 + 2208988800).to_bytes(4, "big") + b"\x80\0\0\0"
    assert said[32:40] == said[40:48] == now


# ---- the page that quotes what is said ---------------------------------------------

sys.path.append(str(TOP / "testsuite/guests"))

import ntp                                  # noqa: E402
import texts                                # noqa: E402

PAGE = """# Trouble

| case | `svf why` | pending reason | node's Reason | what to do |
|---|---|---|---|---|
| the key is gone | `PENDING; waits N s` | none | `munged (x) does` and `not` | [look](a.md) |
"""


class Told:
    """A cluster that says this."""

    def __init__(self, squeue, why, reason):
        self.said = squeue, why, reason

    def squeue(self, _):
        return self.said[0]

    def svf(self, *_, json_out):
        assert not json_out
        return self.said[1]

    def must(self, *_):
        return self.said[2] + "\n"


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "PAGE", tmp_path / "page.md")
    texts.PAGE.write_text(PAGE)


@pytest.mark.parametrize("said, wrong", [
    (("None", "JobId=1\nPENDING; waits 12 s", "munged (x) does what not"), None),
    (("None", "PENDING; waits a s", "munged (x) does not"), "svf why"),
    (("BeginTime", "PENDING; waits 1 s", "munged (x) does not"), "squeue %r"),
    (("None", "PENDING; waits 1 s", "munged x does not"), "Reason"),
    (("None", "PENDING; waits 1 s", "munged (x) does"), "Reason")])
def test_what_is_said_must_be_what_the_page_quotes(page, said, wrong):
    if wrong is None:
        texts.check(Told(*said), "the key is gone", 1, "vm001")
        return
    with pytest.raises(AssertionError, match=wrong):
        texts.check(Told(*said), "the key is gone", 1, "vm001")


def test_each_row_of_the_page_is_a_case_of_a_test():
    """A row that no test reads may say anything."""
    tests = "".join(f.read_text() for f in (TOP / "testsuite/guests").glob("test_*.py"))
    found = set(texts.rows()) - {"case", "---"}
    assert found and not [case for case in found if f'"{case}"' not in tests]
