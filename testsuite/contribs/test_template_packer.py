# SPDX-License-Identifier: GPL-2.0-or-later
"""contribs/guest/packer: the files agree with each other, Packer accepts them, and what it
makes in govmomi's vCenter is the VM that the documents ask for. No installer runs there."""

import json
import re
import subprocess
import time

import pytest

from conftest import TOP
from template_packer import SITE, copied, packer, vcenter
from template_root import checked

PACKER = TOP / "contribs/guest/packer"
BUILDS = ["vsphere-iso.debian-12", "vsphere-iso.rhel-9", "vsphere-clone.existing"]
HCL = sorted(PACKER.glob("*.hcl"))


def text(*names):
    return "\n".join((PACKER / n).read_text() for n in names or (
        f.name for f in HCL if f.name.endswith(".pkr.hcl")))


@pytest.fixture
def recipe(tmp_path):
    return copied(tmp_path)


def test_the_files_have_packers_form():
    for f in HCL:
        done = subprocess.run(["packer", "fmt", "-check", "-diff", f], text=True,
                              capture_output=True, check=False)
        assert done.returncode == 0, f"{f}:\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("build", BUILDS)
def test_packer_accepts_the_files(recipe, build):
    p = packer(recipe, "validate", build)
    out, _ = p.communicate(timeout=60)
    assert p.returncode == 0, out


def test_packer_refuses_a_build_without_the_password(recipe):
    p = packer(recipe, "validate", BUILDS[0], password=None)
    out, _ = p.communicate(timeout=60)
    assert p.returncode != 0 and "vcenter_password" in out, out


def test_each_variable_is_declared_and_used():
    declared = re.findall(r'^variable "(\w+)"', text("variables.pkr.hcl"), re.M)
    assert sorted(declared) == sorted(set(declared))
    assert set(re.findall(r"\bvar\.(\w+)", text())) == set(declared)
    example = re.findall(r"^(\w+) +=", text("example.pkrvars.hcl"), re.M)
    assert set(example) <= set(declared)
    required = {n for n in declared if not re.search(
        rf'^variable "{n}" {{\n(?:  .*\n)*?  default', text("variables.pkr.hcl"), re.M)}
    assert required - set(example) == {"vcenter_password"}


def test_no_file_has_a_secret():
    body = re.search(r'variable "vcenter_password" {\n(.*?)\n}', text(), re.S)[1]
    assert re.findall(r"\w+ += \w+", body) == ["type      = string", "sensitive = true"]
    for f in [*HCL, *(PACKER / "http").iterdir()]:
        for line in f.read_text().splitlines():
            if re.search(r"passw|rootpw|secret|token|PRIVATE KEY", line, re.I) and \
                    not line.startswith("#"):
                assert line.strip() in (
                    'variable "vcenter_password" {', "rootpw --lock",
                    "d-i passwd/root-password-crypted password *",
                    *re.findall(r"^password +.*= var\.vcenter_password$", line.strip()),
                    *re.findall(r"^d-i passwd/(?:make-user|root-login) boolean \w+$", line)), line


def test_each_plugin_that_is_used_is_asked_for():
    used = {n.split("-")[0] for n in re.findall(r'^source "([\w-]+)"', text(), re.M)}
    used |= set(re.findall(r'^  provisioner "([\w-]+)"', text(), re.M))
    assert set(re.findall(r"^    (\w+) = {$", text("plugins.pkr.hcl"), re.M)) == used


def test_boot_commands_name_files_that_are_served():
    named = re.findall(r"HTTPPort }}/([\w.]+)", text("build.pkr.hcl"))
    assert sorted(named) == sorted(f.name for f in (PACKER / "http").iterdir()
                                   if f.name != "authorized_keys")


# ---- what the installers read --------------------------------------------------

def run_by_installer(tmp_path, script, programs, served="http://192.0.2.1:8000"):
    """Runs a script with stand-ins; paths of the installed system are below tmp_path."""
    (tmp_path / "bin").mkdir(exist_ok=True)
    (tmp_path / "target/root").mkdir(parents=True)
    for name, body in programs.items():
        f = tmp_path / "bin" / name
        f.write_text("#!/bin/sh\n" + body.replace("SERVED", served))
        f.chmod(0o755)
    done = subprocess.run(["sh", "-euc", script], text=True, capture_output=True, check=False,
                          cwd=tmp_path, env={"PATH": f"{tmp_path}/bin:/usr/bin:/bin"})
    assert done.returncode == 0, done.stderr
    ssh = tmp_path / "target/root/.ssh"
    assert (ssh / "authorized_keys").read_text() == f"{served}/authorized_keys\n"
    assert oct(ssh.stat().st_mode)[-3:] == "700"
    assert oct((ssh / "authorized_keys").stat().st_mode)[-3:] == "600"


def test_debians_answers_are_well_formed_and_bring_the_key(tmp_path):
    said = subprocess.run(["debconf-set-selections", "--checkonly", PACKER / "http/preseed.cfg"],
                          text=True, capture_output=True, check=False)
    assert (said.returncode, said.stdout + said.stderr) == (0, "")
    preseed = text("http/preseed.cfg").replace("\\\n", "")
    (late,) = re.findall(r"^d-i preseed/late_command string (.*)$", preseed, re.M)
    run_by_installer(tmp_path, late.replace("/target/", f"{tmp_path}/target/"), {
        "debconf-get": "[ $1 = preseed/url ] && echo SERVED/preseed.cfg",
        "wget": "[ $1 = -O ] && echo $3 >$2"})


def test_rhels_answers_are_whole_and_bring_the_key(tmp_path):
    ks = text("http/ks.cfg")
    opened = []
    for word in re.findall(r"^%(\w+)", ks, re.M):
        assert (word == "end") == bool(opened), word
        opened = [] if word == "end" else [word]
    assert not opened
    (post,) = re.findall(r"^%post [^\n]*--erroronfail[^\n]*\n(.*?)^%end$", ks, re.M | re.S)
    (tmp_path / "cmdline").write_text(
        "BOOT_IMAGE=/vmlinuz inst.text inst.ks=http://192.0.2.1:8000/ks.cfg quiet\n")
    run_by_installer(tmp_path, post.replace("/root/", f"{tmp_path}/target/root/").replace(
        "/proc/cmdline", f"{tmp_path}/cmdline"), {
        "curl": "for w; do :; done; [ $4 = --output ] && echo $w >$5", "restorecon": "[ $1 = -R ]"})


# ---- in a vCenter --------------------------------------------------------------

def without_guest(recipe):
    """No system is installed in a simulated VM: nothing types there or logs in."""
    for name in ("sources.pkr.hcl", "build.pkr.hcl"):
        hcl = (recipe / name).read_text()
        hcl = re.sub(r'"ssh"', '"none"', hcl)
        hcl = re.sub(r"^  (ssh_\w+|shutdown_command) .*\n", "", hcl, flags=re.M)
        hcl = re.sub(r"^    boot_command = \[\n(.*\n)*?    \]\n", "", hcl, flags=re.M)
        hcl = re.sub(r'^  provisioner "ansible" {\n(.*\n)*?  }\n', "", hcl, flags=re.M)
        (recipe / name).write_text(hcl.replace('"5s"', '"1ms"'))


def facts(env, path):
    """A VM as govc shows it."""
    said = checked("govc", "vm.info", "-json", path, env=env)
    (vm,) = json.loads(said)["virtualMachines"]
    return vm


@pytest.mark.parametrize("build, guest_id", [
    (BUILDS[0], "debian11_64Guest"), (BUILDS[1], "rhel9_64Guest"), (BUILDS[2], None)])
def test_packer_makes_the_template_that_the_documents_ask_for(recipe, build, guest_id):
    without_guest(recipe)
    with vcenter() as (env, address):
        out, on = built(recipe, build, env, address)
        # without a guest to log in to, a clone is not powered on
        assert bool(on) == bool(guest_id), out
        judge(env, guest_id)


def built(recipe, build, env, address):
    """Builds; a VM that is on is powered off, as the command that ends a build does.
    Returns what Packer said, and whether the VM was on."""
    checked("govc", "folder.create", "/DC0/vm/templates", env=env)
    p = packer(recipe, "build", build, vcenter_server=address, password="pass", **SITE)
    try:
        end, on = time.monotonic() + 60, False
        while p.poll() is None and not on and time.monotonic() < end:
            on = subprocess.run(["govc", "vm.info", "/DC0/vm/templates/made"], env=env, text=True,
                                capture_output=True, check=False).stdout.count("poweredOn")
            time.sleep(0.1)
        if on:
            checked("govc", "vm.power", "-off", "/DC0/vm/templates/made", env=env)
        out, _ = p.communicate(timeout=60)
    finally:
        p.kill()
    assert p.returncode == 0, out
    return out, on


def judge(env, guest_id):
    """The template that was made is what doc/admin/template.md says."""
    vm = facts(env, "/DC0/vm/templates/made")
    config = vm["config"]
    assert config["template"] and not vm.get("snapshot")
    assert vm["runtime"]["powerState"] == "poweredOff"
    assert not config["cpuHotAddEnabled"] and not config["memoryHotAddEnabled"]
    assert (config["hardware"]["numCPU"], config["hardware"]["memoryMB"]) == (4, 8192)
    devices = checked("govc", "device.ls", "-vm", "/DC0/vm/templates/made", env=env)
    kinds = [line.split()[1] for line in devices.splitlines()]
    if guest_id:        # a clone has what its source has
        assert (config["guestId"], config["version"], config["firmware"]) == \
            (guest_id, "vmx-17", "efi")
        assert kinds.count("VirtualVmxnet3") == 1 and "VirtualCdrom" not in kinds
        assert kinds.count("VirtualDisk") == 1 and "ParaVirtualSCSIController" in kinds
    assert not [k for k in kinds if k in ("VirtualSriovEthernetCard", "VirtualTPM",
                                          "VirtualPCIPassthrough")]
