# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU's monitor of one VM, by its machine protocol (QMP)."""

import json
import socket


def qmp(directory, execute, **arguments):
    """One command to QEMU's monitor; its result."""
    def answer(lines):
        for line in lines:
            got = json.loads(line)
            if "error" in got:
                raise RuntimeError(f"{execute}: {got['error']['desc']}")
            if "return" in got:
                return got["return"]
        raise RuntimeError(f"{execute}: QEMU ended")

    with socket.socket(socket.AF_UNIX) as s:
        s.connect(str(directory / "run/qmp"))
        with s.makefile() as f:
            f.readline()    # the greeting
            s.sendall(b'{"execute": "qmp_capabilities"}\n')
            answer(f)
            s.sendall(json.dumps({"execute": execute, "arguments": arguments}).encode() + b"\n")
            return answer(f)
