#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""inside.py HOSTNAME NAME:ADDRESS[,...] [SOURCE:TARGET]... -- COMMAND...

Run by unshare in namespaces of its own: the host's name (- leaves it), an
/etc/hosts where the names given are all there are, files bound over others;
then it becomes COMMAND. By system calls, for mount(8) refuses users who own
their namespace without being root in it.
"""

import ctypes
import os
import socket
import sys
import tempfile

MS_BIND = 4096
libc = ctypes.CDLL(None, use_errno=True)


def bind(source, target):
    if libc.mount(os.fsencode(source), os.fsencode(target), None, MS_BIND, None):
        n = ctypes.get_errno()
        sys.exit(f"inside.py: {source} over {target}: {os.strerror(n)}")


def main(argv):
    at = argv.index("--")
    name, names, *binds = argv[:at]
    if name != "-":
        socket.sethostname(name)
    with tempfile.NamedTemporaryFile("w") as f:     # its inode stays in use
        f.write("127.0.0.1 localhost\n")
        for pair in names.split(","):
            f.write(" ".join(reversed(pair.split(":"))) + "\n")
        f.flush()
        os.chmod(f.name, 0o644)
        bind(f.name, "/etc/hosts")
    for pair in binds:
        bind(*pair.split(":"))
    os.execvp(argv[at + 1], argv[at + 1:])


main(sys.argv[1:])
