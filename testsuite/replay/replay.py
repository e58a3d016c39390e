#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""replay.py PROGRAM DIRECTORY...: recordings of vCenters through the product's
decoder and inventory, against what an independent reader finds in them.

A directory is what `govc object.save` wrote, or what `svf-probe --record` wrote
(it has an index.jsonl). Prints TAP: one test for each recording, with how many
objects and fields it compared. A recording without a host, a VM, a clone's spec or
an answer about rights has shown nothing and fails.
"""

import json
import pathlib
import subprocess
import sys

import clones
import convert
import probe_convert
import probe_reading
import reading
import rights_reading

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
    """A template's NIC as reading.py describes one."""
    backing = nic.get("backing", {})
    if not nic:
        return {}
    return {"_typeName": nic["_typeName"], "key": nic.get("key"),
            "members": sorted(nic), "backing": backing.get("_typeName"),
            "port": sorted(f"{k}={v}" for k, v in backing.get("port", {}).items()
                           if k != "_typeName"),
            "deviceName": backing.get("deviceName", "")}


KINDS = ("host", "vm", "template", "cluster", "clone", "content", "rights")


def gather(lines, repeats):
    """What is there at the end, by kind and moId. repeats: whether an object may
    come again. A host comes again when its figures have changed."""
    out = {kind: {} for kind in KINDS}
    for line in lines:
        fields = json.loads(line)
        kind = next(iter(fields))
        moid = fields.pop(kind)
        if kind == "forget":
            out["host"].clear()
            out["vm"].clear()
        elif kind == "gone":
            out["host"].pop(moid, None)
            out["vm"].pop(moid, None)
        elif moid in out[kind] and kind != "host" and not repeats:
            raise RuntimeError(f"{kind} {moid} is delivered twice")
        else:
            out[kind].setdefault(moid, {}).update(fields)
    return out


def delivered(program, directory, until=None):
    """What the product delivers of a recording, by kind and moId. until: of one of
    svf-probe, the number of the last answer."""
    probe = probe_reading.is_probe(directory)
    paths = json.loads(subprocess.run([program, "--paths"], check=True, text=True,
                                      capture_output=True).stdout)
    documents = probe_convert.lines(directory, paths, until) if probe else \
        convert.lines(directory, paths)
    run = subprocess.run([program], input="".join(documents),
                         text=True, capture_output=True)
    if run.returncode:
        raise RuntimeError("the decoder refuses it: " + "".join(
            run.stderr.splitlines()[-1:]))
    out = gather(run.stdout.splitlines(), probe)
    for fields in out["template"].values():
        fields["nic"] = simple_nic(fields["nic"])
    for fields in out["rights"].values():
        fields["request"] = json.loads(fields["request"])
    return out


class Wanted:
    """What must come out of a recording: fields by kind and moId, the templates
    and VMs as reading.py's Things, the accounts, ServiceContent's element."""

    def __init__(self, directory, until=None):
        self.most = None, None
        if probe_reading.is_probe(directory):
            r = probe_reading.Recording(directory, until)
            self.most = r.most
            vms, self.templates = r.state.things("VirtualMachine"), r.templates()
            self.fields = reading.fields_of(r.hosts(), vms, self.templates,
                                            r.clusters(), probe_reading.vm_fields)
            self.rights = rights_reading.of_probe(r)
            self.content = r.content and r.content.of["content"]
        else:
            vms = reading.things(directory, "VirtualMachine")
            self.templates = [v for v in vms if reading.readable(v)]
            self.fields = reading.expected(directory)
            self.rights = rights_reading.of_govc(directory)
            self.content = reading.things(directory,
                                          "ServiceInstance")[0].of["content"]
        self.vms = {v.moid: v for v in vms}


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


def compare_objects(want, got):
    """(how many fields, [what differs])"""
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
    return fields, wrong


def compare_clones(want, got):
    """(in words, [what is wrong])"""
    wrong = [f"clone {t.moid}: no spec" for t in want.templates
             if t.moid not in got]
    for t in want.templates:
        if t.moid in got:
            wrong += clones.compare(t, want.vms.get(t.moid), got[t.moid])
    nics = sum(clones.first_nic(t) is not None for t in want.templates)
    if not nics:
        wrong.append("no template or VM with a NIC is recorded: no clone was shown")
    done = sum(t.moid in got for t in want.templates)
    return (f"clone specs of {done} of {len(want.templates)} templates and VMs "
            f"({nics} with a NIC)", wrong)


def compare_rights(want, got):
    wrong = [f"rights {name}: not delivered" for name in want if name not in got]
    wrong += [f"rights {name}: not in the recording" for name in got
              if name not in want]
    for name in want.keys() & got.keys():
        wrong += rights_reading.compare(name, want[name], got[name])
    objects = sum(len(want[n][0].moids()) for n in want.keys() & got.keys())
    if not objects:
        wrong.append("no right is recorded: nothing was shown")
    of = "of vCenter's answers" if any(w[2] for w in want.values()) else \
        "of roles and effectiveRole"
    return (f"rights on {objects} of {sum(len(w[0].moids()) for w in want.values())} "
            f"objects {of}", wrong)


def compare_content(want, got):
    if want is None:
        return ["no ServiceContent is recorded"]
    return differences("content", reading.content_fields(want),
                       got.get("ServiceInstance", {}))


def compare(program, directory):
    """(what was compared in words, [what differs]). A recording of svf-probe is
    compared at its end, and at the answer that showed the most VMs."""
    wanted = Wanted(directory)
    said, wrong = compare_one(wanted, delivered(program, directory))
    vms, until = wanted.most
    if until is None:
        return said, wrong
    then, more = compare_one(Wanted(directory, until),
                             delivered(program, directory, until))
    return (f"{said}; at answer {until}: {then}",
            wrong + [f"at answer {until}: {w}" for w in more])


def compare_one(wanted, got):
    want = wanted.fields
    fields, wrong = compare_objects(want, got)
    cloned, bad_clones = compare_clones(wanted, got["clone"])
    rights, bad_rights = compare_rights(wanted.rights, got["rights"])
    wrong += bad_clones + bad_rights + compare_content(wanted.content,
                                                       got["content"])
    pfs = sum(len(h["pfs"]) for h in want["host"].values())
    nics = sum(len(v.get("nics", ())) for v in want["vm"].values())
    real = sum(t["is_template"] for t in want["template"].values())
    return (f"{len(want['host'])} hosts with {pfs} PFs, {len(want['vm'])} VMs with "
            f"{nics} NICs, {real} templates, {len(want['cluster'])} clusters, "
            f"{fields} fields, {cloned}, {rights}", wrong)


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
