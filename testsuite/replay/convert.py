# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of `govc object.save` as the answers of VI JSON that replay.c reads.

The recordings are SOAP. pyvmomi's types say which member is a list, a number or
a reference. Faults are flat, as vCenter 8.0.3 sends them.

Rules: the product says which properties it asks for (replay --paths), and nothing
else is sent. What can't be converted ends the conversion. An update has at most
100 objects, as vCenter's pages do.
"""

import json
import pathlib
import re
import xml.etree.ElementTree as ET

import pyVmomi  # noqa: F401  registers the types
from pyVmomi import VmomiSupport as V

PAGE = 100
PLAIN = {"string": str, "int": int, "long": int, "short": int, "byte": int,
         "boolean": lambda text: text in ("true", "1"), "float": float,
         "double": float, "dateTime": str, "base64Binary": str, "anyURI": str}
BOXES = {"base64Binary": "binary"}


class Unknown(Exception):
    """A type or a value that is not understood."""


def xsi(e):
    """The value of xsi:type, "" if there is none."""
    for key, value in e.attrib.items():
        if key.endswith("}type"):
            return value
    return ""


def wsdl(name):
    """pyvmomi's type of a name, None for one that it doesn't know."""
    try:
        return V.GetWsdlType("urn:vim25", name)
    except KeyError:
        return None


def reference(e):
    return {"_typeName": "ManagedObjectReference",
            "type": e.attrib.get("type") or xsi(e).split(":")[-1],
            "value": (e.text or "").strip()}


def element(e, declared):
    """An element of a declared type."""
    if declared is object or declared is None:
        return boxed(e)
    if issubclass(declared, V.ManagedObject):
        return reference(e)
    if issubclass(declared, V.DataObject):
        return data(e, declared)
    text = e.text or ""
    if issubclass(declared, bool):
        return text in ("true", "1")
    if issubclass(declared, float):
        return float(text)
    return int(text) if issubclass(declared, int) else text


def fault(e):
    """A LocalizedMethodFault, flat."""
    inner = e.find("fault")
    return dict(data(inner, None), faultstring=e.findtext("localizedMessage") or "")


def loose(e):
    """A member that is newer than pyvmomi: a number if it looks so, else a
    string. A list of one can't be told from a single member."""
    if len(e):
        return untyped(e, xsi(e).split(":")[-1])
    if "type" in e.attrib:
        return reference(e)
    text = e.text or ""
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def untyped(e, name):
    """An object of a type that is newer than pyvmomi."""
    out = {"_typeName": name}
    for c in e:
        if c.tag not in out:
            out[c.tag] = loose(c)
        elif isinstance(out[c.tag], list):
            out[c.tag].append(loose(c))
        else:
            out[c.tag] = [out[c.tag], loose(c)]
    return out


def data(e, declared):
    name = xsi(e).split(":")[-1]
    kind = wsdl(name) if name else declared
    if kind is None:
        return untyped(e, name)
    if kind._wsdlName == "LocalizedMethodFault":
        return fault(e)
    members = {p.name: p for p in kind._GetPropertyList()}
    out = {"_typeName": kind._wsdlName}
    for c in e:
        member = members.get(c.tag)
        if c.tag in ("dynamicType", "dynamicProperty"):
            continue
        if member is None:
            out[c.tag] = loose(c)
        elif issubclass(member.type, V.Array):
            out.setdefault(c.tag, []).append(element(c, member.type.Item))
        else:
            out[c.tag] = element(c, member.type)
    return out


def boxed(e):
    """The value of a property, or any: what has no object's type is in a box."""
    name = xsi(e).split(":")[-1]
    if name in PLAIN:
        return {"_typeName": BOXES.get(name, name),
                "_value": PLAIN[name](e.text or "")}
    if name == "ManagedObjectReference" or (not name and "type" in e.attrib):
        return reference(e)
    if name.startswith("ArrayOf"):
        item = name[len("ArrayOf"):]
        plain = item[0].lower() + item[1:]
        if item == "ManagedObjectReference":
            values = [reference(c) for c in e]
        elif plain in PLAIN:
            values = [PLAIN[plain](c.text or "") for c in e]
        else:
            values = [data(c, wsdl(item)) for c in e]
        return {"_typeName": name, "_value": values}
    kind = wsdl(name)
    if kind is None:
        raise Unknown(f"type {name!r}")
    if issubclass(kind, V.DataObject):
        return data(e, kind)
    return {"_typeName": name, "_value": e.text or ""}  # an enum


def name_of(kind):
    return V.GetWsdlName(kind).split(":")[-1]


def box(value, declared):
    """A member of an object as a property's value. declared is None for one that
    is newer than pyvmomi."""
    if isinstance(value, dict):
        return value
    if isinstance(value, list):
        item = getattr(declared, "Item", None)
        name = ("string" if item is None else
                "ManagedObjectReference" if issubclass(item, V.ManagedObject) else
                name_of(item))
        return {"_typeName": "ArrayOf" + name[0].upper() + name[1:], "_value": value}
    if declared is None:
        return {"_typeName": {bool: "boolean", int: "long"}.get(type(value), "string"),
                "_value": value}
    return {"_typeName": name_of(declared), "_value": value}


def at(properties, path):
    """The value of a path below the recorded properties, None: unset."""
    keyed = re.fullmatch(r'config\.extraConfig\["(.*)"\]', path)
    if keyed:
        for option in (properties.get("config") or {}).get("extraConfig", []):
            if option["key"] == keyed.group(1):
                return option
        return None
    first, *rest = path.split(".")
    value, declared = properties.get(first), None
    for key in rest:
        if not isinstance(value, dict) or key not in value:
            return None
        kind = wsdl(value["_typeName"])
        declared = next((p.type for p in kind._GetPropertyList() if p.name == key),
                        None)
        value = value[key]
    return value if value is None or not rest else box(value, declared)


class Recorded:
    """One object of a recording."""

    def __init__(self, file):
        root = ET.parse(file).getroot()
        obj = root.find("obj")
        self.kind, self.moid = obj.attrib["type"], obj.text.strip()
        self.ref = reference(obj)
        self.properties, self.missing = {}, {}
        for p in root.findall("propSet"):
            try:
                self.properties[p.findtext("name")] = boxed(p.find("val"))
            except (Unknown, ValueError) as x:
                if self.kind in ("HostSystem", "VirtualMachine",
                                 "ClusterComputeResource"):
                    raise Unknown(f"{file}: {p.findtext('name')}: {x}") from x
        for m in root.findall("missingSet"):
            self.missing[m.findtext("path")] = fault(m.find("fault"))

    def update(self, paths):
        """It enters a filter that asks for these paths."""
        changes, missing = [], []
        for path in paths:
            value = at(self.properties, path)
            if value is not None:
                changes.append({"_typeName": "PropertyChange", "name": path,
                                "op": "assign", "val": value})
            elif path in self.missing:
                missing.append({"_typeName": "MissingProperty", "path": path,
                                "fault": self.missing[path]})
        out = {"_typeName": "ObjectUpdate", "kind": "enter", "obj": self.ref,
               "changeSet": changes}
        if missing:
            out["missingSet"] = missing
        return out

    def template(self, paths):
        values = [(p, at(self.properties, p)) for p in paths]
        return {"template": self.moid,
                "props": [{"_typeName": "DynamicProperty", "name": p, "val": v}
                          for p, v in values if v is not None]}


def objects(directory, kind):
    """The recorded objects of a kind, in the order of their files."""
    for file in sorted(pathlib.Path(directory).glob(f"[0-9]*-{kind}-*.xml")):
        yield Recorded(file)


def update_set(version, more, filters):
    return {"update": {
        "_typeName": "UpdateSet", "version": str(version), "truncated": more,
        "filterSet": [
            {"_typeName": "PropertyFilterUpdate",
             "filter": {"_typeName": "ManagedObjectReference",
                        "type": "PropertyFilter", "value": name},
             "objectSet": updates} for name, updates in filters]}}


def documents(directory, paths):
    """All of a recording, as replay.c reads it."""
    hosts = [h.update(paths["hosts"]) for h in objects(directory, "HostSystem")]
    vms = list(objects(directory, "VirtualMachine"))
    half = PAGE // 2  # each VM is in two filters
    pages = [vms[i:i + half] for i in range(0, len(vms), half)]
    yield {"filters": {"hosts": "f-hosts", "vms": "f-vms", "ours": "f-ours",
                       "tasks": "f-tasks"}}
    yield update_set(1, bool(pages), [("f-hosts", hosts)])
    for n, page in enumerate(pages):
        yield update_set(n + 2, n + 1 < len(pages), [
            ("f-vms", [v.update(paths["vms"]) for v in page]),
            ("f-ours", [v.update(paths["ours"]) for v in page])])
    for v in vms:
        yield v.template(paths["templates"])
    for c in objects(directory, "ClusterComputeResource"):
        if "configurationEx" in c.properties:
            yield {"cluster": c.moid, "conf": c.properties["configurationEx"]}
    yield from capacities(directory)
    yield from contents(directory)
    yield from rights(directory)


def capacities(directory):
    """What VMs can have, as the product reads it with the slow values."""
    for h in objects(directory, "HostSystem"):
        if "systemResources" in h.properties:
            yield {"resources": h.moid, "system": h.properties["systemResources"]}
    for c in objects(directory, "ClusterComputeResource"):
        s = c.properties["summary"]
        yield {"effective": c.moid, "mem_mb": s["effectiveMemory"],
               "cpu_mhz": s["effectiveCpu"], "hosts": s["numEffectiveHosts"]}


def contents(directory):
    for s in objects(directory, "ServiceInstance"):
        yield {"content": s.properties["content"]}


def references_of(directory, *kinds):
    return [o.ref for kind in kinds for o in objects(directory, kind)]


def site(directory):
    """What an account is judged by: all of the site."""
    datacenter = next(objects(directory, "Datacenter"))
    content = next(objects(directory, "ServiceInstance")).properties["content"]
    networks = references_of(directory, "Network", "OpaqueNetwork",
                             "DistributedVirtualPortgroup")
    known = {n["value"] for n in networks}
    return {"root": content["rootFolder"]["value"], "datacenter": datacenter.moid,
            "folder": datacenter.properties["vmFolder"]["value"],
            "pools": references_of(directory, "ResourcePool"),
            "stores": references_of(directory, "Datastore"), "networks": networks,
            "templates": [
                {"moid": v.moid,
                 "networks": [n for n in v.properties["network"]["_value"]
                              if n["value"] in known]}
                for v in objects(directory, "VirtualMachine")
                if v.properties.get("config", {}).get("template")]}


def rights(directory):
    """No recording of govc holds an answer to HasUserPrivilegeOnEntities. It is
    made as vCenter would: by the object's effectiveRole and the roles."""
    roles, answer = {}, []
    for manager in objects(directory, "AuthorizationManager"):
        for r in manager.properties["roleList"]["_value"]:
            roles[r["roleId"]] = set(r.get("privilege", []))
    if not roles:
        return
    everything = sorted(set().union(*roles.values()))
    folders = []
    for file in sorted(pathlib.Path(directory).glob("[0-9]*.xml")):
        o = Recorded(file)
        has = set().union(*(roles[r] for r in o.properties.get(
            "effectiveRole", {}).get("_value", [])))
        answer.append({"_typeName": "EntityPrivilege", "entity": o.ref,
                       "privAvailability": [
                           {"_typeName": "PrivilegeAvailability", "privId": p,
                            "isGranted": p in has} for p in everything]})
        if o.kind == "Folder" and "VirtualMachine" in o.properties.get(
                "childType", {}).get("_value", []):
            folders.append(o.moid)
    whole = site(directory)
    for folder in [whole["folder"]] + [f for f in folders if f != whole["folder"]]:
        account = whole if folder == whole["folder"] else dict(
            whole, folder=folder, pools=[], stores=[], networks=[], templates=[])
        named = {account["root"], account["datacenter"], folder} | {
            r["value"] for k in ("pools", "stores", "networks") for r in account[k]}
        for t in account["templates"]:
            named |= {t["moid"], *(n["value"] for n in t["networks"])}
        yield {"rights": [a for a in answer if a["entity"]["value"] in named],
               "name": folder, "account": account}


def lines(directory, paths):
    for document in documents(directory, paths):
        yield json.dumps(document, separators=(",", ":")) + "\n"
