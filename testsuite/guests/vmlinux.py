#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""vmlinux.py VMLINUZ OUTPUT: the kernel without its compression. QEMU without KVM
would spend seconds of each boot on it."""

import subprocess
import sys

FORMATS = ((b"\xfd7zXZ\x00", "xz"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"\x1f\x8b\x08", "gzip"))


def main(source, target):
    with open(source, "rb") as f:
        image = f.read()
    for magic, program in FORMATS:
        at = image.find(magic)
        while at >= 0:
            # What follows the kernel in the file makes the program fail.
            out = subprocess.run([program, "-dc"], input=image[at:], check=False,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            if out.startswith(b"\x7fELF"):
                with open(target, "wb") as f:
                    f.write(out)
                return 0
            at = image.find(magic, at + 1)
    return f"{source}: no kernel in xz, zstd or gzip was found"


sys.exit(main(*sys.argv[1:]))
