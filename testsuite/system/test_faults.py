# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults inside data, in both of vCenter's forms: what people read of them, and
what the client makes of what it may not read."""

import types

import pytest

from cluster import wait_for
from test_check import findings
from test_probe import probe        # noqa: F401 (a fixture)
from vcenter_json import Fault, VCenter
from vclive import start            # noqa: F401 (a fixture)
from worlds import world

pytestmark = pytest.mark.faults
USER = "slurm@vsphere.local"
FULL = "Insufficient disk space on datastore 'vsan'."
NO_SPACE = {"_typeName": "NoDiskSpace", "file": "x.vswp", "datastore": "vsan"}


def test_a_licence_that_forbids_a_start_is_named(fresh):
    c = fresh(nodes=2, inventory=world(hosts=1, vfs=2))
    c.fault(on="task", method="PowerOnVM_Task", message="Not in this edition.",
            fault={"_typeName": "InvalidEditionLicense", "feature": "sriov"})
    job = c.sbatch("-N1", script="hostname")

    def found():
        return [f for f in findings(c) if f["code"] == "licence"]
    f, = wait_for("svf check names it", 60, found)
    said = "InvalidEditionLicense: Not in this edition. (feature sriov)"
    assert (f["severity"], f["object"], f["actual"]) == ("hard", "HPC1", said)
    assert said in " ".join(c.svf("hosts")["hosts"][0]["reasons"])
    # All hosts have that licence: it is no fault of the node's, nor the host's.
    assert not [s for s in c.node_states().values() if s.startswith("DOWN")]
    c.clear_faults()
    c.must("svf", "host", "resume", "esx01.example.org")
    c.wait_job(job, 60)
    assert not found()


def test_the_tests_own_client_names_the_fault(start):   # noqa: F811
    sim = start(world(hosts=1))
    sim.fault(on="task", method="ReconfigVM_Task", message=FULL, fault=NO_SPACE)
    vc = VCenter(types.SimpleNamespace(sim_control=sim.url, sim_ca=sim.ca))
    with pytest.raises(Fault, match=FULL) as e:
        vc.reconfigure(vc.find("DC0/vm/rhel9-ofed"), annotation="x")
    assert e.value.name == "NoDiskSpace"


def test_a_vm_that_may_not_be_read_is_read_once_it_may(start):   # noqa: F811
    sim = start()
    live = start.live(sim).up()
    moid, = (m for m, v in live.vms.items() if v["power"] == "poweredOn")
    assert live.vms[moid]["unreadable"] is False
    all_of_it = [{"user": USER, "role": "ReadOnly"}]
    sim.do("permissions", permissions=all_of_it + [
        {"user": USER, "entity": "DC0/vm/foreign1", "role": "View"}])
    sim.do("expireSessions")
    live.wait("down")
    live.wait("load_end", 15)
    live.until("it is unreadable", lambda: live.vms[moid]["unreadable"])
    sim.do("permissions", permissions=all_of_it)
    live.tell("slow")
    live.until("it is readable again",
               lambda: not live.vms[moid]["unreadable"])


def test_the_probe_tells_the_fault_of_a_full_pf(probe):     # noqa: F811
    seen = probe().answers("--only", "shortage")["shortage"]["seen"]
    assert "beyond the PF's VFs: GenericVmConfigFault: pciPassthru0: " \
        "No SR-IOV virtual function (VF) is available" in seen, seen
