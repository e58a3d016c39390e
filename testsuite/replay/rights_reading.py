# SPDX-License-Identifier: GPL-2.0-or-later
"""What the product must find of an account's rights in a recording.

What is needed where is slurm-vsphere(7)'s, not the product's table. What is too much
is the list below. A right of each object is vCenter's own answer in a recording of
svf-probe. In a recording of govc there is no such answer: an object's effectiveRole
names the recording account's roles, and AuthorizationManager.roleList their
privileges (vSphere API, ManagedEntity.effectiveRole).
"""

import functools
import pathlib
import sys

import reading

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(TOP / "testsuite/lint"))

import rights as manual  # noqa: E402

# Above the folder an account of its own has no use for these.
ABOVE_ALONE = ["VirtualMachine.Inventory.Delete", "VirtualMachine.Config.Settings",
               "VirtualMachine.Interact.PowerOff"]
# These change what is not slurm-vsphere's, wherever they are.
ANYWHERE = ["Host.Config.Maintenance", "Authorization.ModifyPermissions"]
FOLDER = {"The Folder, propagating": "jobs",
          "The Folder, with Notes=": "notes",
          "The Folder, with Clone=linked or Clone=instant": "parents",
          "The Folder, with Clone=linked": "linked"}
MERGED = {"vmotion": "jobs"}     # the page has them under one head


@functools.lru_cache
def page():
    return manual.manual(TOP)


def need(head):
    """The privileges under a heading of slurm-vsphere(7)."""
    found = [v for k, v in page().items() if k.startswith(head)]
    if not found:
        raise RuntimeError(f"slurm-vsphere(7) has no heading {head!r}")
    return set().union(*found)


@functools.lru_cache
def needs():
    """{key of the configuration: {use: privileges}}"""
    table = page()
    return {"": {"policy": need("The vCenter's root, with StoragePolicy=")},
            "Folder": {use: table[head] for head, use in FOLDER.items()},
            "ResourcePool": {"jobs": need("Each ResourcePool")},
            "Datastore": {"jobs": need("The Datastore")},
            "Network": {"jobs": need("Each Network")},
            "Template": {"jobs": need("Each Template")}}


class Account:
    """What a configuration names: (key, moId) in order, and the templates' own
    networks: (template, network). The vCenter's root has no key, and is told by
    no name."""

    def __init__(self, objects, own_networks=()):
        self.objects, self.own_networks = objects, list(own_networks)

    def moids(self):
        return {m for _, m in self.objects} | {n for _, n in self.own_networks}

    def lacks(self, has):
        """{(key, moId, use): sorted privileges}; has(moId) are those that it has."""
        out, table = {}, needs()
        for key, moid in self.objects:
            for use, privs in table.get(key, {}).items():
                out[key, moid if key else "", use] = privs - has(moid)
        for template, network in self.own_networks:
            out.setdefault(("Template", template, "jobs"), set()).update(
                p + " on the network of its own NIC"
                for p in table["Network"]["jobs"] - has(network))
        return {k: sorted(v) for k, v in out.items() if v}

    def excess(self, has):
        """What is too much above is not said again of what is below."""
        out, said = {}, set()
        for key, moid in self.objects:
            above = key in ("", "Datacenter")
            if not above and key not in ("Folder", "ResourcePool"):
                continue
            spare = has(moid) & set((ABOVE_ALONE if above else []) + ANYWHERE) - said
            if spare:
                out[key, moid if key else "", "jobs"] = sorted(spare)
            said |= spare if above else set()
        return out


def told(lacks):
    """The product's list in the same form."""
    out = {}
    for one in lacks:
        use = MERGED.get(one["use"], one["use"])
        out.setdefault((one["key"], one["name"], use), []).extend(
            one["privs"].split(", "))
    return {k: sorted(v) for k, v in out.items()}


# ---- a recording of govc -----------------------------------------------------------

class Roles:
    """Which privileges the recording's account has on an object."""

    def __init__(self, directory):
        found = reading.things(directory, "AuthorizationManager")
        self.roles = {} if not found else {
            reading.text(r, "roleId"): {p.text for p in r.findall("privilege")}
            for r in reading.below(found[0].of.get("roleList"), "*")}
        self.of = {}
        for file in sorted(pathlib.Path(directory).glob("[0-9]*.xml")):
            thing = reading.Thing(file)
            if "effectiveRole" in thing.of:
                self.of[thing.moid] = [i.text for i in thing.of["effectiveRole"]]

    def has(self, moid):
        return set().union(*(self.roles[r] for r in self.of.get(moid, [])))


def govc_accounts(directory):
    """{name: Account}: the whole site with its first datacenter's VM folder, then
    each other VM folder alone."""
    def moids(kind):
        return [t.moid for t in reading.things(directory, kind)]

    content = reading.things(directory, "ServiceInstance")[0]
    datacenter = reading.things(directory, "Datacenter")[0]
    top = [("", content.text("content/rootFolder")), ("Datacenter", datacenter.moid)]
    first = datacenter.text("vmFolder")
    templates = [v for v in reading.things(directory, "VirtualMachine")
                 if v.text("config/template") == "true"]
    networks = [m for kind in ("Network", "OpaqueNetwork",
                               "DistributedVirtualPortgroup") for m in moids(kind)]
    known = set(networks)
    out = {first: Account(
        top + [("Folder", first)] +
        [("ResourcePool", m) for m in moids("ResourcePool")] +
        [("Datastore", m) for m in moids("Datastore")] +
        [("Network", m) for m in networks] +
        [("Template", v.moid) for v in templates],
        [(v.moid, n) for v in templates for n in v.references("network")
         if n in known])}
    for f in reading.things(directory, "Folder"):
        kinds = [e.text for e in reading.below(f.of.get("childType"), "*")]
        if "VirtualMachine" in kinds and f.moid != first:
            out[f.moid] = Account(top + [("Folder", f.moid)])
    return out


def of_govc(directory):
    """{name: (Account, has, None)}"""
    roles = Roles(directory)
    return {name: (a, roles.has, None) for name, a in
            govc_accounts(directory).items()}


# ---- a recording of svf-probe ------------------------------------------------------

KEY = {"ResourcePool": "ResourcePool", "Datastore": "Datastore",
       "VirtualMachine": "Template"}


def probe_account(recording, entities):
    """The client asks in this order: root, datacenter, folder, pools, datastores,
    networks, then each template and the networks of its NICs."""
    objects, own, template = [], [], None
    for n, e in enumerate(entities):
        if n < 3:
            key = ("", "Datacenter", "Folder")[n]
        elif e["type"] in KEY:
            key = KEY[e["type"]]
            template = e["value"] if key == "Template" else template
        elif template:
            continue        # of the template, see below
        else:
            key = "Network"
        objects.append((key, e["value"]))
        if key == "Template":
            own += [(template, m) for m in recording.template_networks(template)]
    return Account(objects, own)


def granted(answer):
    return {o["entity"]["value"]: {p["privId"] for p in o.get("privAvailability", [])
                                   if p.get("isGranted")} for o in answer}


def of_probe(recording):
    """{name: (Account, has, the recorded question)}"""
    out = {}
    for number, request, answer in recording.rights:
        has = granted(answer)
        out[str(number)] = (probe_account(recording, request["entities"]),
                            lambda moid, has=has: has.get(moid, set()), request)
    return out


# ---- the comparison ----------------------------------------------------------------

def compare(name, expected, got):
    account, has, request = expected
    path = f"rights {name}"
    if not got["known"]:
        return [f"{path}: the product makes nothing of the answer"]
    asked = [e["value"] for e in got["request"]["entities"]]
    wrong = []
    if set(asked) != account.moids() or len(asked) != len(set(asked)):
        wrong.append(f"{path}: asked of {asked}, expected {sorted(account.moids())}")
    if request and set(got["request"]["privId"]) != set(request["privId"]):
        wrong.append(f"{path}: other privileges are asked for than in the recording")
    for what, want in (("lacks", account.lacks(has)),
                       ("excess", account.excess(has))):
        have = told(got[what])
        wrong += [f"{path}.{what} {key}: {have.get(key, [])}, expected "
                  f"{want.get(key, [])}" for key in sorted(want.keys() | have.keys())
                  if want.get(key, []) != have.get(key, [])]
    return wrong
