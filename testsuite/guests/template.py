# SPDX-License-Identifier: GPL-2.0-or-later
"""The VM's disk: the image of image.sh with slurm-vsphere installed in it as
doc/admin/template.md says. By debugfs, so that nothing is mounted and root is not needed."""

import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LIB = "usr/lib/x86_64-linux-gnu/slurm-wlm"
PLUGINS = ("prep_vsphere", "select_cons_tres_vsphere", "spank_vsphere")
WANTED_BY = {"slurm-vsphere-identity": "sysinit", "slurm-vsphere-slurmd": "multi-user",
             "guest-shell": "sysinit"}
ORDINARY_UID = 64001    # of the user who submits where the tests run as root


def ordinary_user():
    """(name, uid, gid) of who submits jobs: who runs the tests, unless that is root."""
    if os.getuid() == 0:
        return "rdmauser", ORDINARY_UID, ORDINARY_UID
    return pwd.getpwuid(os.getuid()).pw_name, os.getuid(), os.getgid()


def passwd_line():
    name, uid, gid = ordinary_user()
    return f"{name}:x:{uid}:{gid}::/tmp:/bin/sh\n"


def group_line():
    name, _, gid = ordinary_user()
    return f"{name}:x:{gid}:\n"


class Disk:
    """Changes to a copy of an ext4 image, all made by apply()."""

    def __init__(self, base, target, scratch):
        self.target, self.scratch = target, scratch
        subprocess.run(["cp", "--sparse=always", base, target], check=True)
        self.commands = []

    def read(self, path):
        return subprocess.run(["debugfs", "-R", f"cat {path}", self.target], check=True,
                              capture_output=True, text=True).stdout

    def owner(self, name):
        for line in self.read("/etc/passwd").splitlines():
            word = line.split(":")
            if word[0] == name:
                return int(word[2]), int(word[3])
        raise LookupError(f"the image has no user {name}")

    def put(self, source, path, mode=0o644, owner=(0, 0)):
        """A file, in the place of one that may be there."""
        self.commands += [f"rm {path}", f"write {source} {path}",
                          f"set_inode_field {path} mode 0{0o100000 | mode:o}",
                          f"set_inode_field {path} uid {owner[0]}",
                          f"set_inode_field {path} gid {owner[1]}"]

    def text(self, text, path, mode=0o644, owner=(0, 0)):
        f = self.scratch / f"text{len(self.commands)}"
        f.write_text(text)
        self.put(f, path, mode, owner)

    def directory(self, path):
        self.commands.append(f"mkdir {path}")

    def link(self, path, to):
        self.commands += [f"rm {path}", f"symlink {path} {to}"]

    def enable(self, unit):
        self.link(f"/etc/systemd/system/{WANTED_BY[unit]}.target.wants/{unit}.service",
                  f"/usr/lib/systemd/system/{unit}.service")

    def remove(self, path):
        self.commands.append(f"rm {path}")

    def apply(self):
        f = self.scratch / "commands"
        f.write_text("\n".join(self.commands) + "\n")
        done = subprocess.run(["debugfs", "-w", "-f", f, self.target], check=True,
                              capture_output=True, text=True)
        # What is removed need not have been there, nor a directory be missing.
        wrong = [line for line in (done.stdout + done.stderr).splitlines()
                 if line.strip() and not line.startswith(("debugfs", "Allocated inode"))
                 and "File not found by ext2_lookup" not in line
                 and "Ext2 directory already exists" not in line]
        if wrong:
            raise RuntimeError(f"{self.target}: {wrong[0]}")


def compile_rpctool(target):
    subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", target,
                    HERE / "rpctool.c"], check=True)


def install_product(disk, root):
    """root: where make install put the plugins and the guest's files."""
    root = pathlib.Path(root)
    for program in ("slurm-vsphere-guest", "slurm-vsphere-port"):
        disk.put(root / "usr/sbin" / program, f"/usr/sbin/{program}", 0o755)
    for unit in sorted((root / "usr/share/slurm-vsphere/guest").glob("*.service")):
        disk.put(unit, f"/usr/lib/systemd/system/{unit.name}")
    for unit in ("slurm-vsphere-identity", "slurm-vsphere-slurmd"):
        disk.enable(unit)
    for plugin in PLUGINS:
        disk.put(root / LIB / f"{plugin}.so", f"/{LIB}/{plugin}.so", 0o755)


def install_tests(disk, munge_key):
    """What stands for VMware Tools, for the RDMA hardware, and for the site's users."""
    rpctool = disk.scratch / "rpctool"
    compile_rpctool(rpctool)
    for name in ("vmware-rpctool", "vmtoolsd"):
        disk.put(rpctool, f"/usr/bin/{name}", 0o755)
    disk.put(HERE / "soft-roce.rules", "/etc/udev/rules.d/99-soft-roce.rules")
    disk.put(HERE / "guest-shell", "/usr/sbin/guest-shell", 0o755)
    disk.put(HERE / "guest-shell.service", "/usr/lib/systemd/system/guest-shell.service")
    disk.enable("guest-shell")
    if munge_key:
        disk.put(munge_key, "/etc/munge/munge.key", 0o400, disk.owner("munge"))
    # No user becomes root by su: the tests' root shell needs no password.
    disk.text(disk.read("/etc/shadow").replace("root::", "root:*:"), "/etc/shadow", 0o600)
    disk.text(disk.read("/etc/passwd") + passwd_line(), "/etc/passwd")
    disk.text(disk.read("/etc/group") + group_line(), "/etc/group")


def make(base, target, root, munge_key, change=None):
    """Writes the VM's disk to target. change(disk) makes a template that differs.
    Without root and munge_key the base has the product and the key."""
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="vs-template-"))
    try:
        disk = Disk(base, target, scratch)
        if root:
            install_product(disk, root)
        install_tests(disk, munge_key)
        if change:
            change(disk)
        disk.apply()
    finally:
        shutil.rmtree(scratch)
