# SPDX-License-Identifier: GPL-2.0-or-later
"""A directory of `svf-probe --record` as the documents that replay.c reads.

The answers are VI JSON already and go through unchanged. This module only says what
each is an answer to. contribs/probe/README.md describes the directory.

Rules: the client's filters are those that ask for the product's own paths. The
probe's questions have other filters and collectors, which are left out. Answers that
the client reads on its slow beat are given at the end, once for each object: the
last one.
"""

import json
import pathlib

import convert

FILTERS = 4


class Answers:
    """The answers that have a body and are no faults, in their order."""

    def __init__(self, directory, until=None):
        self.directory = pathlib.Path(directory)
        rows = map(json.loads,
                   (self.directory / "index.jsonl").read_text().splitlines())
        self.rows = [r for r in rows if until is None or r["number"] <= until]

    def body(self, row, key="file"):
        text = (self.directory / row[key]).read_text() if key in row else ""
        return json.loads(text) if text.strip() else None

    def good(self, *methods):
        """(row, the collector or other object, request, answer)"""
        for row in self.rows:
            parts = row["path"].split("/")
            if row["status"] == 200 and parts[-1] in methods and \
                    (self.directory / row.get("file", "-")).exists():
                answer = self.body(row)
                if answer is not None:
                    yield row, parts[-2], self.body(row, "request"), answer


def asked(filter_spec, kind):
    """The paths that a PropertyFilterSpec asks for of a kind."""
    return [p for s in filter_spec["propSet"] if s["type"] == kind
            for p in s.get("pathSet", [])]


def filter_name(request, paths):
    """Which of the client's filters it is, None for another one."""
    for name, kind in (("hosts", "HostSystem"), ("vms", "VirtualMachine"),
                       ("ours", "VirtualMachine"), ("tasks", "Task")):
        have = asked(request["spec"], kind)
        # without devices in vsphere.conf the client asks for fewer paths of hosts
        if have and (have == paths[name] or
                     (name == "hosts" and have == paths[name][-len(have):]
                      and "config.pciPassthruInfo" in have)):
            return name
    return None


def inventory(answers, paths):
    """The filters of each session, and what they bring, in order."""
    filters, collector = {}, None
    methods = ("Login", "CreateFilter", "WaitForUpdatesEx", "RetrievePropertiesEx")
    for _, on, request, answer in answers.good(*methods):
        if answer["_typeName"] == "UserSession":
            filters, collector = {}, None
        elif answer["_typeName"] == "ManagedObjectReference":
            name = filter_name(request, paths)
            if name:
                filters[name], collector = answer["value"], on
            if name and len(filters) == FILTERS:
                yield {"filters": filters}
        elif answer["_typeName"] == "UpdateSet":
            if on == collector and len(filters) == FILTERS:
                yield {"update": answer}
        elif len(filters) == FILTERS:
            yield from rereads(request, answer, paths)


def rereads(request, answer, paths):
    """Objects that the client read again because an update named a part."""
    for spec in request["specSet"]:
        name = filter_name({"spec": spec}, paths)
        if name:
            yield from ({"reread": name, "obj": o["obj"],
                         "props": o.get("propSet", []),
                         "missing": o.get("missingSet", [])}
                        for o in answer.get("objects", []))


def read_objects(answers):
    """(paths asked for, object) of each page that was read."""
    spec = None
    for _, _, request, answer in answers.good("RetrievePropertiesEx",
                                              "ContinueRetrievePropertiesEx"):
        spec = request["specSet"][0] if "specSet" in request else spec
        for o in answer.get("objects", []):
            yield asked(spec, o["obj"]["type"]), o


def values(o):
    return {p["name"]: p["val"] for p in o.get("propSet", [])}


def number(value):
    return value["_value"] if isinstance(value, dict) else value


def slow(answers, paths):
    """The last answers to what the client reads beside the inventory."""
    last = {}
    for have, o in read_objects(answers):
        moid, of = o["obj"]["value"], values(o)
        if set(paths["templates"]) <= set(have):
            last["template", moid] = {"template": moid, "props": o["propSet"]}
        if "configurationEx" in of:
            last["cluster", moid] = {"cluster": moid, "conf": of["configurationEx"]}
        if "systemResources" in of:
            last["resources", moid] = {"resources": moid,
                                       "system": of["systemResources"]}
        if "summary.effectiveMemory" in of:
            last["effective", moid] = {
                "effective": moid, "mem_mb": number(of["summary.effectiveMemory"]),
                "cpu_mhz": number(of["summary.effectiveCpu"]),
                "hosts": number(of["summary.numEffectiveHosts"])}
    # the hosts' own figures before their cluster's sums
    return [last[k] for k in sorted(last, key=lambda k: k[0] == "effective")]


def account(entities, nets):
    """What the client's configuration named, from its own question: the root, the
    datacenter, the folder, pools, datastores, networks, and templates with the
    networks of their NICs. A network of a template that is Network= too is asked
    for once, and is then before the template."""
    kinds = [e["type"] for e in entities]
    refs = [{"type": e["type"], "value": e["value"]} for e in entities]
    folders = [r["value"] for r in refs if r["type"] == "Folder"]
    first = kinds.index("VirtualMachine") if "VirtualMachine" in kinds else len(kinds)
    return {"root": folders[0], "folder": folders[-1],
            "datacenter": refs[kinds.index("Datacenter")]["value"],
            "pools": [r for r in refs if r["type"] == "ResourcePool"],
            "stores": [r for r in refs if r["type"] == "Datastore"],
            "networks": [r for r in refs[:first] if "etwork" in r["type"] or
                         r["type"].endswith("Portgroup")],
            "templates": [{"moid": r["value"], "networks": nets.get(r["value"], [])}
                          for r in refs if r["type"] == "VirtualMachine"]}


def rights(answers):
    nets = {o["obj"]["value"]: values(o)["network"]["_value"]
            for _, o in read_objects(answers) if "network" in values(o)}
    for row, _, request, answer in answers.good("HasUserPrivilegeOnEntities"):
        yield {"rights": answer, "name": f"{row['number']}",
               "account": account(request["entities"], nets)}


def contents(answers):
    for _, _, _, answer in answers.good("content"):
        yield {"content": answer}


def documents(directory, paths, until):
    answers = Answers(directory, until)
    found = list(inventory(answers, paths))
    if not found:
        raise convert.Unknown("no filter of this release's client is recorded, or "
                              "first contact ended before")
    yield from contents(answers)
    yield from found
    yield from slow(answers, paths)
    yield from rights(answers)


def lines(directory, paths, until=None):
    """Of the answers up to that number, None: all."""
    for document in documents(directory, paths, until):
        yield json.dumps(document, separators=(",", ":")) + "\n"
