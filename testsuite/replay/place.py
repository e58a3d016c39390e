# SPDX-License-Identifier: GPL-2.0-or-later
"""What an administrator would configure at a recorded site: a cluster that has
hosts with PFs, a port group of the switch they are in, a template, a datastore.
Where no PF is in a switch, place.pf is None and the network is any."""

import urllib.parse

import reading


class Place:
    """Names as vsphere.conf takes them. None where the site has none."""

    def __init__(self, directory):
        self.directory = directory
        self.hosts = reading.things(directory, "HostSystem")
        self.wanted = reading.expected(directory)
        named = [c for c in reading.things(directory, "ClusterComputeResource")
                 if self.of_cluster(c.moid)]
        # the one with the most PFs whose hosts answer
        self.cluster = max(named, key=lambda c: sum(
            len(h["pfs"]) + h["connected"] for h in self.of_cluster(c.moid).values()))
        self.folders = {f.moid: f for f in reading.things(directory, "Folder")}
        self.datacenter = next(d for d in reading.things(directory, "Datacenter")
                               if d.moid == self.datacenter_of(self.cluster))
        self.opaque = False     # no port group can be had
        self.pick_pf()
        self.pick_template()
        self.network = self.pick_network()

    @staticmethod
    def name(thing):
        """vCenter escapes a slash in a name."""
        return urllib.parse.unquote(thing.text("name"))

    def datacenter_of(self, thing):
        at = thing
        while at.text("parent") in self.folders:
            at = self.folders[at.text("parent")]
        return at.text("parent")

    def of_cluster(self, moid):
        return {m: h for m, h in self.wanted["host"].items() if h["cluster"] == moid}

    def pick_pf(self):
        """A PF with the most VFs possible, on a host that is up, whose switch has
        a port group there."""
        best = None
        groups = reading.things(self.directory, "DistributedVirtualPortgroup")
        for moid, h in self.of_cluster(self.cluster.moid).items():
            if not h["connected"] or h["maintenance"]:
                continue
            for pf in h["pfs"]:
                switch = {s["uuid"]: s["name"] for s in h["switches"]}.get(pf["switch"])
                here = [g for g in groups if g.moid in h["networks"] and
                        g.text("config/uplink") != "true" and
                        self.switch_uuid(g) == pf["switch"]]
                if switch and here and (best is None or pf["most"] > best[1]["most"]):
                    best = h, pf, here[0]
        self.host, self.pf, self.group = best or (None, None, None)

    def switch_uuid(self, group):
        moid = group.text("config/distributedVirtualSwitch")
        return next((s.text("uuid") for s in reading.things(
            self.directory, "VmwareDistributedVirtualSwitch") if s.moid == moid), None)

    def pick_template(self):
        """A template on a host of the cluster, and the datastore it is on."""
        hosts = self.of_cluster(self.cluster.moid)
        found = [v for v in reading.things(self.directory, "VirtualMachine")
                 if v.text("config/template") == "true" and
                 v.text("runtime/host") in hosts]
        stores = {d.moid: d for d in reading.things(self.directory, "Datastore")}
        answer = [set(h["datastores"]) for h in hosts.values() if h["connected"]]
        reach = set.intersection(*answer)
        self.cloneable = bool(found)
        self.source = found[0] if found else None
        self.template = self.name(found[0]) if found else "none"
        self.store = max((stores[m] for m in reach if m in stores),
                         key=lambda d: int(d.text("summary/freeSpace", "0")))

    def pick_network(self):
        """The PF's port group, or any network that a host of the cluster has."""
        if self.group:
            return self.name(self.group)
        reached = {n for h in self.of_cluster(self.cluster.moid).values()
                   for n in h["networks"]}
        kinds = ("DistributedVirtualPortgroup", "Network", "OpaqueNetwork")
        kind, network = next((k, n) for k in kinds
                             for n in reading.things(self.directory, k)
                             if n.moid in reached and
                             n.text("config/uplink") != "true")
        self.opaque = kind == "OpaqueNetwork"
        return self.name(network)
