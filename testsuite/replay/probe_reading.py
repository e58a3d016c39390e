# SPDX-License-Identifier: GPL-2.0-or-later
"""What a directory of `svf-probe --record` holds, as reading.py's Things.

Each object's properties are put together from all answers by the rules of the
PropertyCollector: an update assigns or removes paths, an object that left all
filters is gone, and a login begins with nothing. Then the same functions say what
the product must find as for a recording of govc. Nothing is shared with
probe_convert.py or with the product.
"""

import json
import pathlib
import re
import xml.etree.ElementTree as ET

import reading

TYPE = "{http://www.w3.org/2001/XMLSchema-instance}type"
INVENTORY = ("HostSystem", "VirtualMachine")
# The probe's own filters ask for a name or two.
LEAST_PATHS = 5


def is_probe(directory):
    return (pathlib.Path(directory) / "index.jsonl").is_file()


def members(parent, tag, value):
    """value as an element of that name below parent, a list as one for each."""
    if isinstance(value, list):
        for v in value:
            members(parent, tag, v)
        return
    if isinstance(value, dict) and "_value" in value:
        members(parent, tag, value["_value"])
        return
    e = ET.SubElement(parent, tag)
    if isinstance(value, bool):
        e.text = "true" if value else "false"
    elif not isinstance(value, dict):
        e.text = str(value)
    elif value.get("_typeName") == "ManagedObjectReference":
        e.text = value["value"]
        e.attrib["type"] = value["type"]
    else:
        e.attrib[TYPE] = value.get("_typeName", "")
        for k, v in value.items():
            if k != "_typeName":
                members(e, k, v)


class Shown(reading.Thing):
    """An object as answers have shown it: paths and values."""

    def __init__(self, moid, paths, hidden=None):
        self.moid, self.of, self.hidden = moid, {}, dict(hidden or {})
        for path, value in sorted(paths.items()):
            self.put(path, value)

    def put(self, path, value):
        keyed = re.fullmatch(r'config\.extraConfig\["(.*)"\]', path)
        names = ["config", "extraConfig"] if keyed else path.split(".")
        boxed = isinstance(value, dict) and "_value" in value
        value = value["_value"] if boxed else value
        if len(names) == 1:
            holder = ET.Element("holder")
            if isinstance(value, list):
                members(holder, "val", {"item": value})
            else:
                members(holder, "val", value)
            self.of[path] = holder[0]
            return
        at = self.of.setdefault(names[0], ET.Element("val"))
        for name in names[1:-1]:
            found = at.find(name)
            at = ET.SubElement(at, name) if found is None else found
        members(at, names[-1], value)


# What is asked for of VMs in the folder alone.
OWN = ("name", "folder", "pool", "tools_running", "frozen", "snapshot")


def vm_fields(vm):
    fields = reading.vm_fields(vm)
    return fields if "name" in vm.of else {
        k: v for k, v in fields.items() if k not in OWN}


def fault_type(fault):
    """Flat, or in a LocalizedMethodFault."""
    return (fault.get("fault") or fault)["_typeName"]


class State:
    """What the updates have shown: per object its filters, values, faults."""

    def __init__(self):
        self.filters = set()
        self.values, self.hidden, self.within = {}, {}, {}

    def update(self, filter_moid, u):
        key = (u["obj"]["type"], u["obj"]["value"])
        if u["kind"] == "leave":
            self.within.get(key, set()).discard(filter_moid)
            if not self.within.get(key):
                self.values.pop(key, None)
                self.hidden.pop(key, None)
            return
        self.within.setdefault(key, set()).add(filter_moid)
        self.assign(key, u.get("changeSet", []), u.get("missingSet", []))

    def assign(self, key, changes, missing):
        values, hidden = (d.setdefault(key, {}) for d in (self.values, self.hidden))
        for c in changes:
            hidden.pop(c["name"], None)
            if c.get("op", "assign") in ("assign", "add") and "val" in c:
                values[c["name"]] = c["val"]
            else:
                values.pop(c["name"], None)
        for m in missing:
            values.pop(m["path"], None)
            hidden[m["path"]] = fault_type(m["fault"])

    def things(self, kind):
        return [Shown(moid, paths, self.hidden.get((kind, moid)))
                for (k, moid), paths in self.values.items() if k == kind]


class Recording:
    """All answers, read once from first to last; or those up to a number."""

    def __init__(self, directory, until=None):
        self.directory = pathlib.Path(directory)
        self.state, self.read, self.rights, self.content = State(), {}, [], None
        self.most = 0, None     # VMs at once, and the last answer that had so many
        for line in open(self.directory / "index.jsonl"):
            row = json.loads(line)
            if until and row["number"] > until:
                break
            if row["status"] == 200 and row.get("file", "").endswith(".json") and \
                    (self.directory / row["file"]).exists():
                self.answer(row, row["path"].rsplit("/", 1)[-1])

    def load(self, row, key):
        return json.loads((self.directory / row[key]).read_text())

    def answer(self, row, method):
        if method == "Login":
            self.state = State()
        elif method == "content":
            self.content = Shown("content", {"content": self.load(row, "file")})
        elif method == "CreateFilter":
            spec = self.load(row, "request")["spec"]["propSet"]
            if spec[0]["type"] in INVENTORY and \
                    len(spec[0]["pathSet"]) >= LEAST_PATHS:
                self.state.filters.add(self.load(row, "file")["value"])
        elif method == "WaitForUpdatesEx":
            for f in self.load(row, "file").get("filterSet", []):
                if f["filter"]["value"] in self.state.filters:
                    for u in f.get("objectSet", []):
                        self.state.update(f["filter"]["value"], u)
            vms = sum(kind == "VirtualMachine" for kind, _ in self.state.values)
            if vms >= self.most[0]:
                self.most = vms, row["number"]
        elif method.endswith("RetrievePropertiesEx"):
            self.page(row)
        elif method == "HasUserPrivilegeOnEntities":
            self.rights.append((row["number"], self.load(row, "request"),
                                self.load(row, "file")))

    def page(self, row):
        for o in self.load(row, "file").get("objects", []):
            key = (o["obj"]["type"], o["obj"]["value"])
            got = {p["name"]: p["val"] for p in o.get("propSet", [])}
            # one property may be asked for alone, and is the last that is known
            self.read.setdefault(key, {}).update(got)

    def templates(self):
        """Those that were read whole, disks' size included."""
        return [Shown(moid, paths) for (kind, moid), paths in self.read.items()
                if kind == "VirtualMachine" and "config.hardware.device" in paths
                and "config.firmware" in paths]

    def hosts(self):
        """systemResources is read beside the updates."""
        out = self.state.things("HostSystem")
        for h in out:
            extra = self.read.get(("HostSystem", h.moid), {})
            if "systemResources" in extra:
                h.put("systemResources", extra["systemResources"])
        return out

    def clusters(self):
        return [Shown(moid, paths) for (kind, moid), paths in self.read.items()
                if kind == "ClusterComputeResource"
                and "configurationEx" in paths and
                "summary.effectiveMemory" in paths]

    def template_networks(self, moid):
        return [r["value"] for r in self.read.get(
            ("VirtualMachine", moid), {}).get("network", {}).get("_value", [])]
