# SPDX-License-Identifier: GPL-2.0-or-later
"""What the plugin refuses to begin jobs with, that it is told where people look
and heals without a restart; and Mode=observe with a read-only account."""

import pathlib
import re
import sys

import pytest

from cluster import Cluster, wait_for
from daemons import USERNAME
from worlds import world

TOP = pathlib.Path(__file__).parents[2]
sys.path.append(str(TOP / "testsuite/lint"))
import rights as privileges    # noqa: E402

AT = {
    "The Folder, propagating": ["DC0/vm/slurm"],
    "Each ResourcePool (or the cluster, if none is given)":
        ["DC0/host/HPC1/Resources/slurm"],
    "Each Template": ["DC0/vm/rhel9-ofed"],
    "The Datastore": ["DC0/datastore/vsan"],
    "Each Network, and those of the templates' own NICs":
        ["DC0/network/VM-PG", "DC0/network/SRIOV-ROCE-PG"],
}
READ_ONLY = [{"user": USERNAME, "role": "ReadOnly"}]


# What is needed only with a key of vsphere.conf has a heading of its own.
ROLES = {head: sorted(privs) for head, privs in privileges.manual(TOP).items()
         if ", with " not in head}
LEAST = READ_ONLY + [{"user": USERNAME, "entity": e, "role": role}
                     for role, entities in AT.items() for e in entities]


def no_call_needed_more(cluster):
    """The simulator counts what calls need, by a list of its own."""
    needs = {(p, kind) for p, kinds in cluster.counters()["needs"].items()
             for kind in kinds}
    assert needs and needs <= privileges.by_kind(privileges.product(TOP))


def make_cluster():
    c = Cluster(inventory=world(hosts=2, vfs=2, roles=ROLES,
                                permissions=LEAST), nodes=4)
    c.vsphere = {"ShutdownGrace": 1}
    c.slurm = {"SuspendTimeout": 3}
    return c


def look(cluster):
    """An operator has vCenter read again at once."""
    cluster.run("svf", "reconcile")


def notes(cluster):
    status = cluster.svf("status")
    return status.get("notes", []) + [f["text"] for f in status.get("findings", [])]


def refused(cluster, words, mend):
    """A job waits with these words wherever people look; then it runs."""
    look(cluster)
    wait_for("it is found", 20, lambda: [n for n in notes(cluster)
                                         if words in n])
    job = cluster.sbatch("-N1", script="hostname")
    wait_for("the job says why", 20, lambda: words in cluster.squeue(job))
    assert words in cluster.svf("why", str(job))["text"]
    assert re.search("error: slurm-vsphere: jobs stay pending: .*" +
                     re.escape(words), cluster.ctld_log())
    mend()
    look(cluster)
    assert cluster.wait_job(job, 40).strip().startswith("vm")
    assert not [n for n in notes(cluster) if words in n]


def test_what_the_manual_page_asks_for_is_enough(cluster):
    assert set(ROLES) == set(AT)
    assert not notes(cluster)
    job = cluster.sbatch("-N1", "-w", "vm004", script="hostname")
    assert cluster.wait_job(job, 40).strip() == "vm004"
    cluster.must("scontrol", "update", "nodename=vm004", "state=power_down")
    wait_for("it is off", 30, lambda: not cluster.is_on("vm004"))
    no_call_needed_more(cluster)
    assert not re.search("NoPermission|privileges", cluster.ctld_log())


def test_a_missing_right_is_named_until_it_is_given(cluster):
    less = {k: [p for p in v if not p.endswith(("AddNewDisk", "PowerOff"))]
            for k, v in ROLES.items()}
    cluster.do("permissions", roles=less, permissions=LEAST)
    refused(cluster, "the account lacks privileges on Folder=slurm: "
            "VirtualMachine.Config.AddNewDisk, "
            "VirtualMachine.Interact.PowerOff",
            lambda: cluster.do("permissions", roles=ROLES, permissions=LEAST))


@pytest.mark.parametrize("kind, rights", [
    ("linked", ["VirtualMachine.State.CreateSnapshot",
                "VirtualMachine.Provisioning.Clone"]),
    ("instant", ["VirtualMachine.Provisioning.Clone"])])
def test_clones_of_parents_want_rights_of_their_own(fresh, kind, rights):
    """Not more of them than their kind takes; with these they are made. Jobs of
    other partitions don't wait for that."""
    c = fresh(nodes=2, inventory=world(hosts=1, roles=ROLES, permissions=LEAST),
              vsphere={"ShutdownGrace": 1, "lines": [
                  "VSphereCluster=HPC1 ResourcePool=slurm",
                  "AdapterName=eth Type=vmxnet3 Network=VM-PG",
                  "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG",
                  "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed",
                  "PartitionName=eth Adapter=eth Template=rhel9-ofed"]},
              partition_lines=["PartitionName=eth Nodes=vm001 Default=YES",
                               "PartitionName=roce Nodes=vm002"],
              start=False)
    c.choose_ports()
    c.node_lines = [c.node_line(1, 1, "eth"), c.node_line(2, 2, "sriov-roce")]
    c.start()
    c.wait_ready()
    role = next(r for r, at in AT.items() if "DC0/vm/slurm" in at)
    assert not set(rights) & set(ROLES[role])
    assert not notes(c)
    c.change_vsphere("Adapter=eth Template=rhel9-ofed",
                     f"Adapter=eth Template=rhel9-ofed Clone={kind}")

    def lacking():
        return sorted(n.rsplit(" ", 1)[1] for n in notes(c)
                      if "the account lacks privileges on Folder=slurm: " in n)
    look(c)
    wait_for("these are found", 20, lambda: lacking() == sorted(rights))
    job = c.sbatch("-N1", script="hostname")
    wait_for("the job says why", 20, lambda: "the account lacks" in c.squeue(job))
    other = c.sbatch("-N1", "-p", "roce", script="hostname")
    assert c.wait_job(other, 60).strip() == "vm002"
    assert c.job_state(job) == "PENDING"
    assert "the account lacks" in c.svf("why", str(job))["text"]
    c.do("permissions", permissions=LEAST,
         roles={**ROLES, role: ROLES[role] + rights})
    look(c)
    assert c.wait_job(job, 90).strip() == "vm001"
    assert not lacking()
    assert [v for v in c.state()["vms"] if v["name"].startswith("parent-")]
    no_call_needed_more(c)
    assert not re.search("NoPermission", c.ctld_log())


def test_notes_on_vms_want_a_right_of_their_own(cluster):
    role = next(r for r, at in AT.items() if "DC0/vm/slurm" in at)
    right = "VirtualMachine.Config.Annotation"
    assert right not in ROLES[role]
    cluster.change_vsphere("Template=rhel9-ofed",
                           'Template=rhel9-ofed Notes="no backup"')
    refused(cluster, "the account lacks privileges on Folder=slurm: " + right,
            lambda: cluster.do("permissions", permissions=LEAST, roles={
                **ROLES, role: ROLES[role] + [right]}))
    cluster.change_vsphere(' Notes="no backup"', "")
    cluster.do("permissions", roles=ROLES, permissions=LEAST)


def test_storage_policies_want_a_right_at_the_root(fresh):
    policy = "aa6d5a82-1c88-45da-85d3-3d74b91a5bad"
    c = fresh(nodes=1, vsphere={"ShutdownGrace": 1}, inventory=world(
        hosts=1, roles=ROLES, permissions=LEAST, storagePolicies=[policy]))
    c.wait_ready()
    assert not notes(c)
    c.change_vsphere("Template=rhel9-ofed",
                     f"Template=rhel9-ofed StoragePolicy={policy}")

    def give():
        assert c.calls("CloneVM_Task") == 0
        fix = c.run("svf", "check", "rights-missing").stdout
        assert "govc role.create ROLE System.Anonymous System.Read " \
            f"System.View StorageProfile.View\n" in fix
        assert f"-principal '{USERNAME}' -role ROLE -propagate=true /" in fix
        c.do("permissions", permissions=[
            {"user": USERNAME, "role": "Root"}] + LEAST[1:], roles={
            **ROLES, "Root": ["StorageProfile.View", "System.View",
                              "System.Read", "System.Anonymous"]})
    refused(c, "the account lacks privileges on vCenter's root: "
            "StorageProfile.View", give)
    no_call_needed_more(c)


def test_drs_that_chooses_hosts_is_refused_until_it_is_manual(cluster):
    cluster.do("cluster", cluster="HPC1", drs="partiallyAutomated")
    refused(cluster, "DRS of cluster HPC1 chooses hosts automatically",
            lambda: cluster.do("cluster", cluster="HPC1", drs="manual"))


def test_ha_that_restarts_vms_is_refused_until_it_is_disabled(cluster):
    cluster.do("cluster", cluster="HPC1", ha=True)
    refused(cluster, "HA of cluster HPC1 would restart VMs",
            lambda: cluster.do("cluster", cluster="HPC1",
                               haPriority="disabled"))


def test_a_job_that_runs_ends_and_its_vms_go_off_all_the_same(cluster):
    job = cluster.sbatch("-N1", "-w", "vm003",
                         script="hostname; while [ ! -e go ]; do sleep .1; "
                         "done")
    wait_for("it runs", 40, lambda: cluster.output(job))
    cluster.do("cluster", cluster="HPC1", drs="fullyAutomated")
    look(cluster)
    wait_for("it is found", 20, lambda: notes(cluster))
    cluster.must("scancel", str(job))
    cluster.must("scontrol", "update", "nodename=vm003", "state=power_down")
    wait_for("its VM is off", 40, lambda: not cluster.is_on("vm003"))
    cluster.do("cluster", cluster="HPC1", drs="manual")
    look(cluster)
    wait_for("it is mended", 20, lambda: not notes(cluster))


def test_a_pf_that_is_no_uplink_is_refused_until_another_is_named(cluster):
    text = cluster.path("etc", "vsphere.conf").read_text()
    cluster.change_vsphere("MTU=9000", "MTU=9000 PF=0000:18:00.0")
    refused(cluster, "on no host is PF=0000:18:00.0 an uplink of "
            "Network=SRIOV-ROCE-PG with VFs",
            lambda: cluster.change_vsphere("MTU=9000 PF=0000:18:00.0",
                                           "MTU=9000"))
    assert cluster.path("etc", "vsphere.conf").read_text() == text


# ---- Mode=observe -----------------------------------------------------------

def observed(fresh):
    """Two managed nodes beside one that is no VM."""
    c = fresh(start=False, nodes=2, vsphere={"Mode": "observe",
                                             "ShutdownGrace": 1},
              slurm={"SuspendTimeout": 3},
              inventory=world(hosts=2, vfs=1, roles=ROLES,
                              permissions=READ_ONLY))
    c.default_nodes = lambda: [
        c.node_line(1, 2, "sriov-roce"),
        c.node_line(3, 3, "").replace("State=CLOUD", "State=UNKNOWN")]
    c.partition_lines = ["PartitionName=roce Nodes=vm[001-002] Default=YES",
                         "PartitionName=old Nodes=vm003"]
    c.nodes = 3
    c.start()
    c.start_static_slurmd("vm003")
    return c.wait_ready()


def test_observe_plans_with_a_read_only_account_and_changes_nothing(fresh):
    c = observed(fresh)
    status = c.svf("status")
    assert status["mode"] == "observe"
    assert any("for Mode=manage the account lacks privileges on Folder=slurm: "
               "VirtualMachine.Inventory.CreateFromExisting, " in n
               for n in [f["text"] for f in status["findings"]])
    assert sum(pf["total"] for h in c.svf("hosts")["hosts"]
               for pf in h["pfs"]) == 2
    job = c.sbatch("-N2", script="srun hostname")
    plan = (r"Mode=observe: would place vm00[12] on esx0[12]\.example\.org PF "
            r"0000:3b:00\.0, vm00[12] on esx0[12]\.example\.org PF")
    wait_for("the job says what would be done", 20,
             lambda: re.search(plan, c.squeue(job)))
    assert re.search(plan, c.svf("why", str(job))["text"])
    other = c.sbatch("-N1", "-p", "old", script="hostname")
    assert c.wait_job(other, 30).strip() == "vm003"
    counters = c.counters()
    assert counters["mutating"] == 0 and c.calls("CancelTask") == 0
    assert c.our_vms() == []
    # It manages when it may, and leaves alone what it began when it may not.
    c.do("permissions", roles=ROLES, permissions=LEAST)
    c.change_vsphere("Mode=observe", "Mode=manage")
    out = c.wait_job(job, 60)
    assert "vm001" in out and "vm002" in out
    calls = c.mutating()
    c.change_vsphere("Mode=manage", "Mode=observe")
    wait_for("it observes", 20,
             lambda: c.svf("status")["mode"] == "observe" and
             c.svf("status")["up"])
    c.must("scontrol", "update", "nodename=vm001", "state=power_down")
    c.wait_node("vm001", lambda s: "POWERED_DOWN" in s, 30)
    later = c.sbatch("-N1", "-w", "vm002", script="hostname")
    wait_for("a warm node waits too", 20,
             lambda: "would use VMs that are running, such as vm002" in c.squeue(later))
    assert c.mutating() == calls and c.names_on() == {"vm001", "vm002"}
    c.change_vsphere("Mode=observe", "Mode=manage")
    assert c.wait_job(later, 40).strip() == "vm002"


def test_an_arrays_task_has_a_why_of_its_own(cluster):
    cluster.do("cluster", cluster="HPC1", drs="fullyAutomated")
    look(cluster)
    wait_for("it is found", 20, lambda: notes(cluster))
    job = cluster.sbatch("-N1", "--array=3-4", script="hostname")
    wait_for("the task says why", 20, lambda: "DRS of cluster" in
             cluster.svf("why", f"{job}_3")["text"])
    assert cluster.svf("why", f"{job}_4")["state"] == "PENDING"
    r = cluster.run("svf", "why", f"{job}_5")
    assert r.returncode == 1 and f"no such job: {job}_5" in r.stderr
    cluster.must("scancel", str(job))
    cluster.do("cluster", cluster="HPC1", drs="manual")
