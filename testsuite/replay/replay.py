#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""replay.py PROGRAM DIRECTORY...: recordings of vCenters through the product's
decoder and inventory, against what an independent reader finds in them.

Prints TAP: one test for each recording, with how many objects and fields it
compared. A recording without a host or without a VM has shown nothing and fails.
"""

import json
import pathlib
import subprocess
import sys

import convert
import reading

SHOWN = 20


def leaves(value):
    """How many single values there are."""
    if isinstance(value, dict):
        return sum(map(leaves, value.values()))
    return sum(map(leaves, value)) if isinstance(value, list) else 1


def differences(path, want, got):
    """Lines that say what differs, and where."""
    if path.endswith((".effective", ".effective_hosts")):  # see cluster_sums()
        return []
    if isinstance(want, tuple):  # bounds
        good = isinstance(got, int) and want[0] <= got <= want[1]
        return [] if good else [f"{path}: {got}, expected {want[0]} to {want[1]}"]
    if isinstance(want, dict) and isinstance(got, dict):
        return [line for key in want
                for line in differences(f"{path}.{key}", want[key],
                                        got.get(key, "not delivered"))]
    if isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        return [line for i, (a, b) in enumerate(zip(want, got))
                for line in differences(f"{path}[{i}]", a, b)]
    # True == 1 in Python; in an answer they differ
    same = want == got and type(want) is type(got)
    return [] if same else [f"{path}: {got!r}, expected {want!r}"]


def simple_nic(nic):
    """A template's card as reading.py describes one."""
    backing = nic.get("backing", {})
    if not nic:
        return {}
    return {"_typeName": nic["_typeName"], "key": nic.get("key"),
            "members": sorted(nic), "backing": backing.get("_typeName"),
            "port": sorted(f"{k}={v}" for k, v in backing.get("port", {}).items()
                           if k != "_typeName"),
            "deviceName": backing.get("deviceName", "")}


def delivered(program, directory):
    """What the product delivers of a recording, by kind and moId."""
    paths = json.loads(subprocess.run([program, "--paths"], check=True, text=True,
                                      capture_output=True).stdout)
    run = subprocess.run([program], input="".join(convert.lines(directory, paths)),
                         text=True, capture_output=True)
    if run.returncode:
        raise RuntimeError(f"the decoder refuses it: {run.stderr.strip()}")
    out = {kind: {} for kind in ("host", "vm", "template", "cluster")}
    for line in run.stdout.splitlines():
        fields = json.loads(line)
        kind = next(iter(fields))
        moid = fields.pop(kind)
        if moid in out[kind] and kind != "host":
            raise RuntimeError(f"{kind} {moid} is delivered twice")
        # A host comes again when its figures have changed.
        out[kind].setdefault(moid, {}).update(fields)
    for fields in out["template"].values():
        fields["nic"] = simple_nic(fields["nic"])
    return out


def cluster_sums(clusters, hosts):
    """vCenter admits VMs against the effective sums: never more, at most 3 % less."""
    wrong = []
    for moid, c in clusters.items():
        up = [h for h in hosts.values() if h["cluster"] == moid and h["connected"]
              and not h["maintenance"]]
        for field, real in c["effective"].items():
            if up and len(up) == c["effective_hosts"]:
                wrong += differences(f"cluster {moid}: the hosts' {field}",
                                     (real * 97 // 100, real),
                                     sum(h[field] for h in up))
    return wrong


def compare(program, directory):
    """(what was compared in words, [what differs])"""
    want, got = reading.expected(directory), delivered(program, directory)
    wrong, fields = [], 0
    for kind, things in want.items():
        wrong += [f"{kind} {moid}: not in the recording"
                  for moid in got[kind].keys() - things.keys()
                  if kind != "template"]
        for moid, thing in things.items():
            fields += leaves(thing)
            if moid not in got[kind]:
                wrong.append(f"{kind} {moid}: not delivered")
            else:
                wrong += differences(f"{kind} {moid}", thing, got[kind][moid])
    wrong += cluster_sums(want["cluster"], got["host"])
    if not want["host"] or not want["vm"]:
        wrong.append("no host or no VM is recorded: nothing was shown")
    pfs = sum(len(h["pfs"]) for h in want["host"].values())
    cards = sum(len(v.get("cards", ())) for v in want["vm"].values())
    real = sum(t["is_template"] for t in want["template"].values())
    return (f"{len(want['host'])} hosts with {pfs} PFs, {len(want['vm'])} VMs with "
            f"{cards} cards, {real} templates, {len(want['cluster'])} clusters, "
            f"{fields} fields", wrong)


def main(program, *directories):
    failed = 0
    print(f"1..{len(directories)}", flush=True)
    for n, directory in enumerate(directories, 1):
        name = pathlib.Path(directory).name
        try:
            what, wrong = compare(program, directory)
        except (convert.Unknown, RuntimeError, OSError, ValueError) as x:
            what, wrong = "not replayed", [str(x)]
        failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {n} - {name}: {what}")
        for line in wrong[:SHOWN]:
            print(f"# {line}")
        if len(wrong) > SHOWN:
            print(f"# and {len(wrong) - SHOWN} more")
        sys.stdout.flush()
    return 1 if failed or not directories else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: replay.py PROGRAM DIRECTORY...")
    sys.exit(main(*sys.argv[1:]))
