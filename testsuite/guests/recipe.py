#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""recipe.py TREE GUESTS DIR: plays the role of contribs/guest/ansible, as a site does, on
a root of Debian, and writes what it left as a VM's disk: DIR/base.ext4, and in
DIR/munge.key the key that the site gave. TREE holds slurm-vsphere as `make install` left
it; GUESTS is the directory of image.sh, for the modules of its kernel.

A template has a kernel and was booted once before it was sealed. Both are stood in for."""

import pathlib
import os
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "contribs"), str(HERE.parent / "lib")]

from template_root import AS_ROOT, Guest, checked      # noqa: E402

CONTROLLER = "10.77.0.1"


def variables(tree, key):
    """A site's, with a time server and a controller of its own."""
    makefile = pathlib.Path(os.environ["VS_BUILD"], "Makefile").read_text()
    return {"slurm_vsphere_guest_slurm_version":
            re.search(r"^SLURM_RELEASE = (.*)$", makefile, re.M)[1],
            "slurm_vsphere_guest_munge_key": str(key),
            "slurm_vsphere_guest_tree": str(tree),
            "slurm_vsphere_guest_conf_server": f"{CONTROLLER}:6817",
            "slurm_vsphere_guest_ntp_servers": [CONTROLLER]}


def add_modules(guests, root, scratch):
    modules = scratch / "modules"
    modules.mkdir()
    checked("debugfs", "-R", f"rdump /usr/lib/modules {modules}", guests / "base.ext4")
    checked(*AS_ROOT, "cp", "-r", modules / "modules", root / "usr/lib/")


# What the package of Debian's kernel depends on.
KERNEL = "apt-get -q update; apt-get -q -y --no-install-recommends install kmod"
# The first boot of Debian writes them, which takes minutes on an emulated processor.
BOOTED = "rm -rf /var/lib/apt/lists/* /var/cache/apt/*; touch /etc/.updated /var/.updated"


def write_image(root, target):
    used = int(checked(*AS_ROOT, "du", "-smx", root).split()[0])
    with open(target, "wb") as f:
        f.truncate((used * 5 // 4 + 200) << 20)
    checked(*AS_ROOT, "mke2fs", "-q", "-t", "ext4", "-O", "^has_journal,^metadata_csum",
            "-E", "lazy_itable_init=1", "-m", "0", "-d", root, target)
    checked("fallocate", "--dig-holes", target)


def main():
    tree, guests, target = (pathlib.Path(a) for a in sys.argv[1:])
    target.mkdir(parents=True, exist_ok=True)
    key = target / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(128))
    with tempfile.TemporaryDirectory(prefix="vs-recipe-") as d:
        guest = Guest("recipe", pathlib.Path(d) / "files")
        try:
            guest.run(KERNEL)
            guest.start("the test's")
            rc, out = guest.play(variables(tree, key))
            print(out)
            if rc:
                return rc
            guest.stop()
            guest.run(BOOTED)
            add_modules(guests, guest.root, pathlib.Path(d))
            write_image(guest.root, target / "base.ext4")
        finally:
            guest.end()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.SubprocessError as e:
        sys.exit(f"recipe.py: {e}")
