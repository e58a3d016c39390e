# SPDX-License-Identifier: GPL-2.0-or-later
"""A real slurmctld with the plugins against a simulator that serves a recording:
in Mode=observe, then in Mode=manage with one job on a VF.

VS_RECORDINGS has the directories, a line each. Without it the samples are used.
"""

import json
import os
import pathlib
import re

import pytest

from cluster import Cluster, wait_for
from daemons import PASSWORD, USERNAME
from place import Place
from worlds import FAST
import clones
import reading
import sample

VFS = 2
FOLDER = "slurm"


def recordings():
    """The directories; the samples are made when their test begins."""
    return os.environ.get("VS_RECORDINGS", "").splitlines() or ["north", "south"]


def directory_of(name, below):
    if os.path.isabs(name):
        return pathlib.Path(name)
    return {d.name: d for d in sample.write(below / "samples")}[name]


def quoted(value):
    return f'"{value}"'


class Live:
    """A cluster at the site of a recording."""

    def __init__(self, directory):
        self.place = place = Place(directory)
        self.cluster = c = Cluster(nodes=2, inventory={
            "users": [{"name": USERNAME, "password": PASSWORD}], "durations": FAST,
            "datacenters": [{"name": Place.name(place.datacenter),
                             "folders": [FOLDER]}]})
        c.recording = directory
        # (host, pci) of the PF on which the test enables VFs
        self.enabled = place.pf and (place.host["name"], place.pf["pci"])
        kind = "sriov" if place.pf else "vmxnet3"
        c.choose_ports()
        c.node_lines = [c.node_line(1, 2, "net")]
        c.partition_lines = ["PartitionName=vf Nodes=ALL Default=YES"]
        c.vsphere = {
            "Datacenter": quoted(Place.name(place.datacenter)), "Folder": FOLDER,
            "Datastore": quoted(Place.name(place.store)), "Mode": "observe",
            "ShutdownGrace": 1, "lines": [
                f"VSphereCluster={quoted(Place.name(place.cluster))}",
                f"AdapterName=net Type={kind} Network={quoted(place.network)}",
                f"PartitionName=vf Adapter=net Template={quoted(place.template)}"]}

    def hosts(self):
        """What svf hosts must say: name -> (state, {pci: VFs})."""
        return {h["name"]: ("DISCONNECTED" if not h["connected"] else
                            "MAINTENANCE" if h["maintenance"] else "UP",
                            {p["pci"]: VFS if (h["name"], p["pci"]) == self.enabled
                             else p["vfs"] for p in h["pfs"]})
                for h in self.place.of_cluster(self.place.cluster.moid).values()}

    def shown(self):
        return {h["host"]: (h["state"], {p["pci"]: p["total"] for p in h["pfs"]})
                for h in self.cluster.svf("hosts")["hosts"]}

    def true_of_site(self, line):
        """svf check names a PF that is off, or waits for a reboot, or a NIC without
        SR-IOV, and the recording says so; or the site has no port group at all."""
        if "is an opaque NSX network" in line:
            return self.place.opaque
        m = re.search(
            r"check=vf-(off|inactive|incapable) (\S+) ([\da-f:]+\.\d)", line)
        if not m:
            return False
        host = next(h for h in self.place.wanted["host"].values() if h["name"] == m[2])
        if m[1] == "incapable":
            return m[3] in [n["pci"] for n in host["incapable"]]
        return m[3] in [p["pci"] for p in host["pfs"] if not p["vfs"]] and \
            (m[2], m[3]) != self.enabled

    def no_errors(self):
        """Slurm's own at its first start (no state files, no MailProg) aside."""
        said = [ln for ln in self.cluster.ctld_log().splitlines()
                if re.search(r" (error|fatal): .*vsphere", ln) and
                not self.true_of_site(ln)]
        assert "\n".join(said) == ""

    def start(self):
        """As Cluster.start(). The administrator has told DRS and HA to leave the
        VMs alone, and has enabled VFs on one PF."""
        c, place = self.cluster, self.place
        c.write_guest()
        c.start_munged()
        c.start_vcsim()
        c.do("cluster", cluster=Place.name(place.cluster), drs="manual", ha=False)
        if place.pf:
            c.do("setVfs", host=self.enabled[0], pci=self.enabled[1], vfs=VFS)
        c.write_configuration()
        c.start_slurmctld()
        c.wait_ready()

    def manage(self):
        c = self.cluster
        c.change_vsphere("Mode=observe", "Mode=manage")
        wait_for("slurmctld manages", 30,
                 lambda: c.svf("status")["mode"] == "manage")


    def sent(self, method, name):
        """What the engine has sent for a VM with this call: its arguments, in order."""
        found = [json.loads(line) for f in self.requests.iterdir()
                 for line in f.read_text().splitlines()]
        return [c["args"] for c in found if c["method"] == method and
                name in (c["args"].get("name"), c["of"].split()[-1])]

    def nic_is_right(self, change):
        """A VF of the PF that is enabled, if a PF is named, on the port group of its
        switch. Without a name ESXi takes the VF of the one PF that has some."""
        nic = change["device"]
        assert change["operation"] == "add"
        assert nic["_typeName"] == "VirtualSriovEthernetCard"
        pf = nic.get("sriovBacking", {}).get("physicalFunctionBacking", {})
        assert pf.get("id", self.enabled[1]) == self.enabled[1]
        port = nic["backing"]["port"]
        assert port["portgroupKey"] == self.place.group.text("key")
        assert port["switchUuid"] == self.place.pf["switch"]

    def as_logged(self, changes):
        """The simulator's log has an object's type and name in place of a reference."""
        for backing in (c["device"].get("backing", {}) for c in changes):
            ref = backing.get("network")
            if ref:
                name = next(n.text("name") for n in reading.things(
                    self.place.directory, ref["type"]) if n.moid == ref["value"])
                backing["network"] = f"{ref['type']} {name}"
        return changes

    def changes_are_right(self, name, spec, added):
        """The engine's own spec says of the recorded template's devices what the
        replay of a clone must say (clones.py), and adds one VF or none."""
        changes = spec.get("deviceChange", [])
        macs = [c["device"]["macAddress"] for c in changes if c["operation"] == "edit"]
        want = self.as_logged(clones.edit(self.place.source, True, *macs))
        assert clones.body(name, changes, want, added) == []
        for change in clones.split(changes)[1]:
            self.nic_is_right(change)


@pytest.fixture(params=recordings(), ids=lambda name: pathlib.Path(name).name)
def live(request, tmp_path, monkeypatch):
    it = Live(directory_of(request.param, tmp_path))
    it.requests = tmp_path / "requests"
    it.requests.mkdir()
    monkeypatch.setenv("VS_REQUESTS", str(it.requests))
    try:
        it.start()
        yield it
    finally:
        it.cluster.remove()


def vf_holders(cluster):
    """(host, pci, VM) for each VF in use."""
    return [(h["name"], pf["id"], vm) for h in cluster.state()["hosts"]
            for pf in h["pfs"] for vm in pf["by"].values()]


def devices_are_added_after_a_clone_that_is_refused(live):
    c = live.cluster
    c.do("cloneDevices", value="refused")
    assert c.wait_job(c.sbatch("-w", "vm002", script="hostname"), 60).strip() == "vm002"
    whole, plain = live.sent("CloneVM_Task", "vm002")
    live.changes_are_right("vm002", whole["spec"]["config"], True)
    live.changes_are_right("vm002", plain["spec"]["config"], False)
    again, = live.sent("ReconfigVM_Task", "vm002")
    assert clones.names_in(again["spec"]["deviceChange"]) & clones.FORBIDDEN == set()
    for change in clones.split(again["spec"]["deviceChange"])[1]:
        live.nic_is_right(change)
    assert len(clones.split(again["spec"]["deviceChange"])[1]) == 1


def test_a_recorded_site_is_observed_and_then_managed(live):
    c, place = live.cluster, live.place
    assert live.shown() == live.hosts()
    before = sorted(vf_holders(c))
    assert c.mutating() == 0
    live.no_errors()
    live.manage()
    if place.pf and place.cloneable:
        job = c.sbatch("-w", "vm001", script="srun hostname; sleep 2")
        c.wait_state(job, {"RUNNING"}, 60)
        new = [x for x in vf_holders(c) if x not in before]
        assert new == [(*live.enabled, "vm001")]
        assert c.wait_job(job, 60).strip() == "vm001"
        clone, = live.sent("CloneVM_Task", "vm001")
        live.changes_are_right("vm001", clone["spec"]["config"], True)
        devices_are_added_after_a_clone_that_is_refused(live)
    live.no_errors()
    assert c.counters()["foreignTouches"] == 0
