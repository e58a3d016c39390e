# SPDX-License-Identifier: GPL-2.0-or-later
"""What a hostile user does in a chaos run: submissions that no command of Slurm's
would send, lengths, whatever the control channel's port takes, and words in the
guest of a VM.

Rules: nothing here is to have an effect. What has one is a BUG in the journal,
which the judge counts; jobs of these submissions are ended at once. What could not
be tried (slurmctld was away, a guest had ended) is refused in the journal, and
chaos_judge.py says so of a kind that was never tried.
"""

import os
import random
import re
import socket
import struct
import subprocess
import threading
import time
from contextlib import nullcontext

from channel import asked, asked_often, order_fields
from chaos_plan import PARTITIONS
from cluster import ClusterError
from submitter import build
from users import NOBODY, as_user

ROCE_NODES = PARTITIONS["roce"][2]
PLAN_BURST, PLANS_A_S = 10, 1       # control.c: what a user may ask for
NEEDS_ROOT = "only root can act as another user"
CROWD_S = 30        # all places, taken again and again, are free again by then
GONE_S = 15         # a destroyed VM's files have gone
AWAY = re.compile(      # what Slurm's commands say where slurmctld is not there
    r"Unable to contact slurm controller|Connection (refused|reset)|timed out", re.I)
LENGTHS = {     # an option of about n bytes
    "constraint": lambda n: "(" + "&".join(["sriov-roce"] * (n // 11)) + ")",
    "nodelist": lambda n: ",".join(["vm[001-024]"] * (n // 11)),
    "licenses": lambda n: "x" * n,
    "comment": lambda n: "vsphere: " * (n // 9),
    "partition": lambda n: ",".join(["roce"] * (n // 5)),
}


class Bug(Exception):
    """It had an effect."""


def must_reach(r):
    """A refusal is what such a submission is to get. Only one that slurmctld did
    not see was not tried."""
    if r.returncode and (AWAY.search(r.stderr) or not r.stderr.strip()):
        raise ClusterError(r.stderr or "no word")


def judge_order(verb, parts):
    for p in parts:
        if "operators of Slurm may do that" not in p.get("error", ""):
            raise Bug(f"an ordinary user's order {verb} was taken: {p}")


def judge_plans(answers, seconds):
    """More plans for a user than the rate allows in that time."""
    made = sum("too many requests" not in parts[0].get("error", "")
               for parts in answers)
    if made > PLAN_BURST + PLANS_A_S * seconds + 1:
        raise Bug(f"a user got {made} plans in {seconds:.1f} s")


class Hostile:
    def __init__(self, cluster, lasting, absences):
        """absences: how often slurmctld has been away until now, and whether it
        is away now."""
        self.c, self.lasting, self.absences = cluster, lasting, absences
        self.lock, self.guest = threading.Lock(), threading.Lock()
        self.program = None
        # Only root can act as another user.
        self.uid = NOBODY if os.getuid() == 0 else 0

    def another(self):
        if not self.uid:
            raise ClusterError(NEEDS_ROOT)
        return self.uid

    def submitter(self):
        with self.lock:
            self.program = self.program or build(self.c.path("bin"))
            return self.program

    # ---- submissions ---------------------------------------------------------------
    def environment(self, a):
        node = f"vm{1 + int(a['pick'] * ROCE_NODES):03d}"
        r = as_user(self.c, self.uid, self.submitter(), "batch", node,
                    str(a["ours"]), str(a["nulls"]), str(a["users"]))
        must_reach(r)
        if r.stdout.strip():
            self.c.run("scancel", r.stdout.strip())

    def length(self, a):
        f = self.c.path("out", f"hostile-{a['pick']}.sh")
        f.write_text(f"#!/bin/sh\n#SBATCH --{a['what']}="
                     f"\"{LENGTHS[a['what']](a['bytes'])}\"\ntrue\n")
        f.chmod(0o755)
        # sbatch itself would refuse fewer nodes than a list names
        size = [] if a["what"] == "nodelist" else ["-N1"]
        r = as_user(self.c, self.uid, "sbatch", "--parsable", *size, "-t1",
                    "-J", "hostile", "-o", "/dev/null", f)
        self.c.run("scancel", "--name", "hostile")
        must_reach(r)

    # ---- the control channel ---------------------------------------------------------
    def connect(self):
        return socket.create_connection(("127.0.0.1", self.c.control_port),
                                        timeout=10)

    def garbage(self, a):
        rng = random.Random(a["pick"])
        text = rng.randbytes(a["bytes"])
        head = rng.choice((b"", struct.pack(">I", len(text)), b"\xff" * 4,
                           struct.pack(">I", len(text)) + b"MUNGE:"))
        with self.connect() as s:
            try:
                s.sendall(head + text)
                s.shutdown(socket.SHUT_WR)
                answer = s.recv(1)
            except TimeoutError as e:
                raise ClusterError("it was not closed") from e
            except OSError:
                return      # it was closed before all was read
            if answer != b"":
                raise Bug("who sent garbage was answered")

    def many(self, a):
        """More than there are places, and each says half a frame."""
        held = []
        try:
            for _ in range(a["connections"]):
                held.append(self.connect())
                held[-1].sendall(b"\0\0")
            self.lasting(a["seconds"])
            self.root_is_answered()
        finally:
            for s in held:
                s.close()

    def root_is_answered(self):
        """While the others are still connected: they lose their places."""
        was, end = self.absences(), time.monotonic() + CROWD_S
        while True:
            try:
                if asked(self.c, 0, "status"):
                    return
                why = "closed"
            except ClusterError as e:
                why = str(e)
            if self.absences() != was or was[1]:
                raise ClusterError("slurmctld was away")
            if time.monotonic() > end:
                raise Bug(f"root had no answer beside many for {CROWD_S} s: {why}")

    def order(self, a):
        parts = asked(self.c, self.another(), a["verb"],
                      **order_fields(a["verb"], a["node"], a["host"]))
        if not parts:
            raise ClusterError("no answer")
        judge_order(a["verb"], parts)

    def plans(self, a):
        """Faster than the rate that a user has."""
        was, began = self.absences(), time.monotonic()
        answers = asked_often(self.c, a["times"], self.another(), "plan",
                              nodes=a["nodes"])
        if self.absences() != was or was[1] or not all(answers):
            raise ClusterError("an answer is missing")
        judge_plans(answers, time.monotonic() - began)

    # ---- in a guest ------------------------------------------------------------
    def guestinfo(self, a):
        on = sorted(n for n in self.c.names_on() if n.startswith("vm") and
                    self.c.path("guests", n).resolve().is_dir())
        if not on:
            raise ClusterError("no VM has a guest")
        node = on[int(a["pick"] * len(on))]
        there = self.c.path("guests", node).resolve()
        mine, refused = there / "guestinfo.user", there / "guestinfo.refused"
        refused.unlink(missing_ok=True)
        mine.write_text("".join(f"guestinfo.slurm.{k}={v}\n"
                                for k, v in a["words"].items()))
        end = time.monotonic() + 15
        while mine.exists() and time.monotonic() < end:
            time.sleep(0.2)
        if mine.exists():
            mine.unlink(missing_ok=True)
            raise ClusterError("the guest has ended")
        # With a VM that is destroyed its files go one by one.
        while there.exists() and not refused.exists():
            if time.monotonic() > end + GONE_S:
                raise Bug(f"a user's words were taken in the guest of {node}")
            time.sleep(0.2)
        if not refused.exists():
            raise ClusterError("the guest has ended")

    def do(self, kind, a):
        """None, or what the journal says of it."""
        try:
            with self.guest if kind == "guestinfo" else nullcontext():
                getattr(self, kind)(a)
        except Bug as e:
            return f"BUG: {e}"
        except subprocess.TimeoutExpired:
            return "refused: too late"
        return None
