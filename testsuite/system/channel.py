# SPDX-License-Identifier: GPL-2.0-or-later
"""The control channel as others see it than svf. Caught is someone who listens at
its address: an order of svf's is caught there, tried to be opened, and handed to a
slurmctld. asked() is any user's own program, which may send what svf would not."""

import json
import re
import socket
import struct
import subprocess
import sys

from cluster import ClusterError

# Each verb that changes something, and what its "name" is the name of.
ORDERS = {"confirm": None, "adopt": None, "forget": "node", "evict": "node",
          "requeue": "node", "rebuild": "node", "evict-on": "host",
          "rebuild-on": "host", "drain": "host", "drain-requeue": "host",
          "leave": "host", "leave-requeue": "host", "resume": "host",
          "pause": None, "pause-end": None}


def order_fields(verb, node, host):
    """What a request of that verb has besides it."""
    what = ORDERS[verb]
    return {"name": {"node": node, "host": host}[what]} if what else {}


# Run as another user: prints its port, then the frame that comes, and what
# munge says when this user opens it.
LISTENER = r"""
import os, socket, struct, subprocess, sys
s = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print(s.getsockname()[1], flush=True)
c = s.accept()[0]
f = c.makefile("rb")
cred = f.read(struct.unpack(">I", f.read(4))[0]).decode()
c.close()
print(cred, flush=True)
if sys.argv[2] == "False":
    sys.exit()
r = subprocess.run(["unmunge", "-S", os.environ["MUNGE_SOCKET"]], input=cred,
                   text=True, capture_output=True)
print(r.returncode, r.stdout, r.stderr)
"""

# Run as the user who asks, so many times: seals for SlurmUser, prints the parts of
# each answer as a list in one line.
ASKER = r"""
import os, socket, struct, subprocess, sys
munge = ["-S", os.environ["MUNGE_SOCKET"]]
def ask():
    cred = subprocess.run(["munge", *munge, "-t", "60", "-u", sys.argv[1]],
                          input=sys.argv[3].encode(), stdout=subprocess.PIPE,
                          check=True).stdout.strip()
    with socket.create_connection(("127.0.0.1", int(sys.argv[2])), timeout=60) as s:
        s.sendall(struct.pack(">I", len(cred)) + cred)
        f, parts = s.makefile("rb"), []
        while head := f.read(4):
            part = f.read(struct.unpack(">I", head)[0])
            opened = subprocess.run(["unmunge", *munge, "-m", "/dev/null"],
                                    input=part, stdout=subprocess.PIPE, check=True)
            parts.append(opened.stdout.decode().partition("\n")[0])
    print("[" + ",".join(parts) + "]")
for _ in range(int(sys.argv[4])):
    ask()
"""


def asked(c, uid, verb, **fields):
    """The parts of slurmctld's answer to that user; [] if it closed."""
    return asked_often(c, 1, uid, verb, **fields)[0]


def asked_often(c, times, uid, verb, **fields):
    """As asked(), one answer after the other: [parts, ...]."""
    who = ["setpriv", f"--reuid={uid}", f"--regid={uid}",
           "--clear-groups"] if uid else []
    text = json.dumps({"verb": verb, "to": socket.gethostname(),
                       "cluster": "vstest", "id": "x" * 36, **fields})
    r = subprocess.run([*who, sys.executable, "-c", ASKER, "0",
                        str(c.control_port), text, str(times)], text=True,
                       capture_output=True, env=c.env, cwd="/")
    if r.returncode:
        raise ClusterError((r.stderr.splitlines() or ["no answer"])[-1])
    return [json.loads(answer) for answer in r.stdout.splitlines()]


class Caught:
    """An order, as it came to a listener of user uid at 127.0.0.1:port."""

    def __init__(self, c, uid, *order, port=0, conf=None, opens=False):
        """conf: what replaces what in copies of the two files; SVF_CONTROL is
        set where it is None. opens: the user tries to; munged refuses later
        what could be opened."""
        argv = ["setpriv", f"--reuid={uid}", f"--regid={uid}",
                "--clear-groups"] if uid else []
        p = subprocess.Popen([*argv, sys.executable, "-c", LISTENER, str(port),
                              str(opens)], stdout=subprocess.PIPE, text=True,
                             env=c.env, cwd="/")
        try:
            port = int(p.stdout.readline())
            env = f"SVF_CONTROL=127.0.0.1:{port}"
            if conf is not None:
                env = f"SLURM_CONF={conf_copy(c, port, conf)}"
            self.svf = c.run("env", env, "svf", *order)
            self.cred = p.stdout.readline().strip()
            self.opened = p.stdout.read()
        finally:
            p.kill()
            p.wait()
        assert self.cred.startswith("MUNGE:"), "an order was caught"

    def hand_over(self, port, address="127.0.0.1"):
        """To slurmctld at that port: is there an answer?"""
        with socket.create_connection((address, port), timeout=30) as s:
            s.sendall(struct.pack(">I", len(self.cred)) + self.cred.encode())
            return s.makefile("rb").read().startswith(b"\0")


def conf_copy(c, port, change):
    """slurm.conf and vsphere.conf for a svf that asks at port."""
    there = c.path(f"svf-{port}")
    there.mkdir()
    for name in ("slurm.conf", "vsphere.conf"):
        text = c.path("etc", name).read_text()
        text = re.sub(r"(?m)^Svf(ListenAddr|Port)=.*$", "", text)
        if name == "vsphere.conf":
            text = f"SvfListenAddr=127.0.0.1\nSvfPort={port}\n{text}"
        for was, new in change.items():
            text = re.sub(was, new, text)
        (there / name).write_text(text)
    return there / "slurm.conf"
