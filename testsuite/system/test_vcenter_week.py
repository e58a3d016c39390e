# SPDX-License-Identifier: GPL-2.0-or-later
"""A site's first week with its vCenter: what a real one has that a tidy one
hasn't. Each is served, or refused by name."""

import json
import time

from cluster import wait_for
from worlds import template, world


def reason_of(cluster, job):
    return " ".join([cluster.squeue(job, "%r"),
                     cluster.job(job).get("SystemComment", "")])


def notes(c):
    status = c.svf("status")
    return status.get("notes", []) + [f["text"] for f in status.get("findings", [])]


# ---- how many VMs are made in an hour -----------------------------------------

CAPPED = {"MaxClonesPerHour": 2}


def hints(c):
    return json.loads(c.path("state", "slurm_vsphere.hints").read_text())


def test_the_hours_vms_are_used_up_and_said_so_until_the_hour_is_over(fresh):
    """A restart forgets nothing; VMs that are there run jobs all the while."""
    c = fresh(nodes=4, inventory=world(hosts=2, vfs=2), vsphere=CAPPED)
    c.wait_ready()
    two = c.sbatch("-N2", script="true")
    c.wait_job(two, 60)
    wait_for("svf status counts them", 5,
             lambda: c.svf("status")["clones_hour"] == 2)
    assert c.svf("status")["clones_max"] == 2
    wait_for("it is told", 10, lambda: any(
        "MaxClonesPerHour=2 VMs were created" in n for n in notes(c)))
    waits = c.sbatch("-N3", script="true")
    wait_for("the reason says what, and until when", 20, lambda:
             "MaxClonesPerHour=2 is reached until" in reason_of(c, waits))
    assert "MaxClonesPerHour=2 is reached until" in \
        c.svf("why", str(waits))["text"]
    # no start is expected before that
    expected = c.svf("why", str(waits)).get("start_time")
    assert expected is None or expected > time.time() + 50 * 60
    c.wait_job(c.sbatch("-N2", "-t5", script="true"), 30)
    assert c.calls("CloneVM_Task") == 2
    # An hour all but a minute ago, by what slurmctld remembers.
    wait_for("it is written", 10, lambda: sum(
        m["made"] for m in hints(c).get("clones", [])) == 2)
    c.end_slurmctld()
    was = hints(c)
    was["clones"] = [{"minute": int(time.time() // 60) - 59, "made": 2}]
    c.path("state", "slurm_vsphere.hints").write_text(json.dumps(was))
    c.start_slurmctld()
    c.wait_ready()
    if int(time.time() // 60) - 59 == was["clones"][0]["minute"]:
        assert c.job_state(waits) == "PENDING"
    c.wait_job(waits, 90)
    assert time.time() // 60 >= was["clones"][0]["minute"] + 60
    assert c.calls("CloneVM_Task") == 3


# ---- datastores -----------------------------------------------------------------

def store(name, free=1000, hosts=()):
    return {"name": name, "capacityGB": 20000, "freeGB": free,
            "hosts": list(hosts)}


def esx(i):
    return f"esx{i:02d}.example.org"


def stores_world(stores, hosts=2, vfs=2, **more):
    w = world(hosts=hosts, vfs=vfs, **more)
    # The first is where the template lies, which no VM may go to.
    w["datacenters"][0]["datastores"] += stores
    return w


def where(c):
    """Of each managed VM: its host's short name and its datastore."""
    return {v["name"]: (v["host"].split(".")[0], v["datastore"])
            for v in c.our_vms()}


def test_each_cluster_has_a_datastore_of_its_own(fresh):
    w = stores_world([store("nfs-a"), store("nfs-b")], hosts=1)
    dc = w["datacenters"][0]
    dc["datastores"][1]["hosts"] = [esx(1)]
    dc["datastores"][2]["hosts"] = [esx(2)]
    second = world(hosts=2, vfs=2)["datacenters"][0]["clusters"][0]
    dc["clusters"].append({**second, "name": "HPC2",
                           "hosts": second["hosts"][1:]})
    c = fresh(nodes=4, inventory=w, vsphere={"Datastore": None, "lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm Datastore=nfs-a",
        "VSphereCluster=HPC2 ResourcePool=slurm Datastore=nfs-b",
        "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
        "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed"]})
    c.wait_job(c.sbatch("-N4", script="srun true"), 60)
    assert sorted(where(c).values()) == [("esx01", "nfs-a")] * 2 + [
        ("esx02", "nfs-b")] * 2
    assert c.calls("CloneVM_Task") == 4


LOCAL = {"Datastore": "local-1,local-2"}


def local_world(**more):
    """Two hosts with a datastore of their own each, and one with none."""
    return stores_world([store("local-1", hosts=[esx(1)]),
                         store("local-2", hosts=[esx(2)])], hosts=3, **more)


def test_vms_lie_on_their_hosts_own_datastores(fresh):
    """The host that has none of them gets no VM, and is named."""
    c = fresh(nodes=6, inventory=local_world(), vsphere={
        **LOCAL, "AllowMoreNodesThanVFs": "yes"})
    wait_for("the host without one is named", 20, lambda: any(
        "esx03.example.org mounts no datastore of Datastore=local-1,local-2" in n
        for n in notes(c)))
    c.wait_job(c.sbatch("-N4", script="srun true"), 60)
    assert sorted(where(c).values()) == [("esx01", "local-1")] * 2 + [
        ("esx02", "local-2")] * 2
    assert c.sbatch("-N5", script="true", expect=False).returncode
    assert "5 nodes of sriov-roce are requested, the hosts have capacity for 4" in \
        c.ctld_log()


def test_a_vm_that_is_off_takes_its_disks_along_to_another_host(fresh):
    c = fresh(nodes=2, inventory=local_world(vfs=1), vsphere={
        **LOCAL, "lines": [
            "VSphereCluster=HPC1 ResourcePool=slurm",
            "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
            "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed "
            "Retention=power_off"]})
    c.wait_job(c.sbatch("-N1", "-w", "vm001", script="true"), 60)
    wait_for("it is off", 30, lambda: not c.names_on() and
             c.is_powered_down("vm001"))
    host, lies = where(c)["vm001"]
    other = {"esx01": "esx02", "esx02": "esx01"}[host]
    c.must("svf", "host", "drain", host + ".example.org")
    c.wait_job(c.sbatch("-N1", "-w", "vm001", script="true"), 60)
    assert where(c)["vm001"] == (other, "local-" + other[-1])
    assert lies == "local-" + host[-1]
    assert c.calls("CloneVM_Task") == 1 and c.calls("RelocateVM_Task") == 1
    assert [t for t in c.state()["tasks"] if t["state"] == "error"] == []


def test_the_datastore_with_most_room_is_taken_and_a_full_one_left(fresh):
    """A gang that no datastore holds alone waits; room that comes lets it run."""
    w = stores_world([store("a", 16), store("b", 15)])
    c = fresh(nodes=4, inventory=w, vsphere={"Datastore": "a,b"})
    first = c.sbatch("-N1", script="echo began; sleep 300")
    wait_for("it runs", 60, lambda: "began" in c.output(first))
    assert [s for _, s in where(c).values()] == ["a"]
    more = c.sbatch("-N2", "-C", "sriov-roce", script="true")
    wait_for("the reason names a datastore", 40, lambda: "datastore" in
             reason_of(c, more))
    assert c.calls("CloneVM_Task") == 1
    c.do("setFree", datastore="b", freeGB=40)
    c.wait_job(more, 60)
    assert sorted(s for _, s in where(c).values()) == ["a", "b", "b"]
    assert [t for t in c.state()["tasks"] if t["state"] == "error"] == []


def test_a_datastore_that_has_filled_up_is_left_for_another(fresh):
    """Since it was read: no node pays for it, and the job begins once."""
    w = stores_world([store("a", 25), store("b", 15)])
    c = fresh(nodes=2, inventory=w, vsphere={"Datastore": "a,b"})
    c.do("setFree", datastore="a", freeGB=5)
    job = c.sbatch("-N1", script="true")
    c.wait_job(job, 60)
    assert [s for _, s in where(c).values()] == ["b"]
    assert c.job(job)["Restarts"] == "0"
    assert c.calls("CloneVM_Task") == 2
    assert "NoDiskSpace" in c.ctld_log()
    assert not [s for s in c.node_states().values() if s.startswith("DOWN")]


# ---- hosts that DPM has switched off ----------------------------------------------

def test_a_host_in_standby_is_no_loss_and_dpm_is_told(fresh):
    """It gets no VM; a job that needs it waits, and is not told "never"; rule A
    isn't broken. DPM by itself is only told."""
    w = world(hosts=2, vfs=2)
    w["datacenters"][0]["clusters"][0]["dpm"] = "automated"
    c = fresh(nodes=4, inventory=w)
    wait_for("DPM is told", 20, lambda: any(
        "DPM of cluster HPC1 powers off idle hosts" in n for n in notes(c)))
    c.do("standby", host=esx(2), mode="enter")
    wait_for("it is in standby", 20, lambda: {
        h["host"]: h["state"] for h in c.svf("hosts")["hosts"]
    }[esx(2)] == "STANDBY")
    job = c.sbatch("-N3", script="true")
    wait_for("it waits", 30, lambda: "needs 3 sriov-roce VFs" in
             reason_of(c, job))
    assert c.job_state(job) == "PENDING"
    assert not [n for n in notes(c) if "VFs have disappeared" in n]
    assert "can never run" not in c.ctld_log()
    c.wait_job(c.sbatch("-N2", "-t1", script="true"), 60)
    assert {v["host"] for v in c.our_vms()} == {esx(1)}
    c.do("standby", host=esx(2), mode="exit")
    c.wait_job(job, 60)
    c.do("cluster", cluster="HPC1", dpm="manual")
    wait_for("it is told no more", 30, lambda: not any(
        "DPM of cluster" in n for n in notes(c)))


# ---- templates ------------------------------------------------------------------

def test_jobs_of_an_encrypted_template_wait_and_others_run(fresh):
    w = world(hosts=2, vfs=2, templates=[template(),
                                         template("sealed", tpm=True)])
    c = fresh(nodes=4, inventory=w, start=False, vsphere={"lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
        "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed",
        "PartitionName=tpm Adapter=sriov-roce Template=sealed"]})
    c.choose_ports()
    c.node_lines = [c.node_line(1, 2, "sriov-roce"),
                    c.node_line(3, 4, "sriov-roce")]
    c.partition_lines = ["PartitionName=roce Nodes=vm[001-002] Default=YES",
                         "PartitionName=tpm Nodes=vm[003-004]"]
    c.start()
    c.wait_ready()
    job = c.sbatch("-N1", "-p", "tpm", script="true")
    wait_for("why", 30, lambda: "Template=sealed: the template has a virtual TPM" in
             c.svf("why", str(job))["text"])
    wait_for("squeue's reason", 30, lambda: "the template has a virtual TPM" in
             reason_of(c, job))
    c.wait_job(c.sbatch("-N2", script="true"), 60)
    assert c.job_state(job) == "PENDING"
    # Replaced by one without, it serves.
    c.do("destroyVm", vm="sealed")
    wait_for("it is gone", 10, lambda: not [
        v for v in c.state()["vms"] if v["name"] == "sealed"])
    c.do("addVm", spec={**template("sealed"), "host": esx(1)})
    c.wait_job(job, 90)


def test_a_library_items_vm_template_is_a_template_as_any_other(fresh):
    """VM template items are in the inventory, in whatever folder; OVF items
    aren't, and the reason says what to do."""
    w = world(hosts=1, vfs=2, templates=[template(
        "golden", folder="items", libraryItem="7a0f1c3e-0000-4000-8000-1")])
    w["datacenters"][0]["folders"].append("items")
    lines = [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
        "PartitionName=roce Adapter=sriov-roce Template=golden"]
    c = fresh(nodes=2, inventory=w, vsphere={"lines": lines})
    c.wait_job(c.sbatch("-N1", "-w", "vm001", script="true"), 60)
    c.change_vsphere("Template=golden", "Template=golden-ovf")
    c.must("scontrol", "reconfigure")
    job = c.sbatch("-N1", "-w", "vm002", script="true")
    wait_for("the way out is said", 40, lambda: "an item of a content library "
             "(govc library.deploy)" in
             c.svf("why", str(job))["text"])
    assert c.job_state(job) == "PENDING"


# ---- federated logins --------------------------------------------------------------

FEDERATED = "an account of an external identity provider"


def test_a_federated_account_is_told_that_it_has_no_password_login(fresh):
    c = fresh(nodes=1, inventory=world(hosts=1, vfs=1), ready=False,
              vsphere={"VCenterUser": "hpc@corp.example.org"})
    wait_for("svf says so", 30, lambda: FEDERATED in c.svf("status").get(
        "error", ""))
    assert "vsphere.local" in c.svf("status")["error"]
    assert c.calls("Login") == 1


def test_a_wrong_password_of_vcenters_own_domain_is_just_that(fresh):
    c = fresh(nodes=1, inventory=world(hosts=1, vfs=1), ready=False,
              vsphere={"VCenterUser": "Other@VSPHERE.local"})
    wait_for("it is refused", 30, lambda: "refuses the login" in c.svf(
        "status").get("error", ""))
    assert FEDERATED not in c.svf("status")["error"]


# ---- NSX -----------------------------------------------------------------------------

def nsx_world():
    w = world(hosts=2, vfs=2)
    w["datacenters"][0]["networks"] += [
        {"name": "seg-rdma", "switch": "dvs-roce", "nsx": "overlay"},
        {"name": "seg-vm", "switch": "dvs-mgmt", "nsx": "vlan"},
        {"name": "seg-old", "nsx": "overlay"}]
    return w


def test_rdma_cards_on_nsx_segments_are_refused_by_name_ethernet_runs(fresh):
    c = fresh(nodes=6, inventory=nsx_world(), start=False, vsphere={"lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        "AdapterName=roce Type=sriov Network=seg-rdma",
        "AdapterName=eth Type=vmxnet3 Network=seg-vm",
        "AdapterName=old Type=vmxnet3 Network=seg-old",
        "PartitionName=roce Adapter=roce Template=rhel9-ofed",
        "PartitionName=eth Adapter=eth Template=rhel9-ofed",
        "PartitionName=old Adapter=old Template=rhel9-ofed"]})
    c.choose_ports()
    c.node_lines = [c.node_line(1, 2, "roce"), c.node_line(3, 4, "eth"),
                    c.node_line(5, 6, "old")]
    c.partition_lines = ["PartitionName=roce Nodes=vm[001-002]",
                         "PartitionName=eth Nodes=vm[003-004] Default=YES",
                         "PartitionName=old Nodes=vm[005-006]"]
    c.start()
    c.wait_ready()
    says = {"roce": "Network=seg-rdma is an NSX segment",
            "old": "Network=seg-old is an opaque NSX network"}
    jobs = {p: c.sbatch("-N1", "-p", p, script="true") for p in says}
    for p, job in jobs.items():
        wait_for(f"why of {p}", 30,
                 lambda: says[p] in c.svf("why", str(job))["text"])
    c.wait_job(c.sbatch("-N2", script="true"), 60)
    assert {c.job_state(j) for j in jobs.values()} == {"PENDING"}
    assert len([n for n in notes(c) if "NSX" in n]) == 2
    assert c.calls("CloneVM_Task") == 2


# ---- storage policies, notes -------------------------------------------------------

POLICY = "aa6d5a82-1c88-45da-85d3-3d74b91a5bad"


def partition(more):
    return {"lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
        "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed " + more]}


def test_new_vms_have_their_storage_policy_and_notes(fresh):
    """The policy is set on each disk too. Another policy rebuilds the VM, other
    notes don't. No call more than without."""
    c = fresh(nodes=1, inventory=world(
        hosts=1, vfs=2, storagePolicies=[POLICY]),
        vsphere=partition(f'StoragePolicy={POLICY} Notes="no backup"'))
    c.wait_job(c.sbatch("-N1", script="true"), 60)
    vm = c.our_vms()[0]
    assert vm["policies"] == {"home": POLICY, "2000": POLICY}
    assert vm["annotation"] == "no backup"
    assert c.mutating() == 2
    c.change_vsphere("no backup", "no backup, no scan")
    c.must("scontrol", "reconfigure")
    c.wait_job(c.sbatch("-N1", script="true"), 60)
    assert c.calls("CloneVM_Task") == 1
    other = POLICY.replace("aa6d", "bb6d")
    c.change_vsphere(POLICY, other)
    c.must("scontrol", "reconfigure")
    job = c.sbatch("-N1", script="true")
    wait_for("PBM's refusal of an unknown one is said", 60, lambda:
             "the profile " + other in c.ctld_log())
    c.run("scancel", str(job))


def test_a_policys_name_is_refused_and_the_way_to_its_id_said(fresh):
    c = fresh(nodes=1, inventory=world(hosts=1, vfs=2), start=False,
              vsphere=partition("StoragePolicy=Gold"))
    try:
        c.start()
    except Exception as e:      # slurmctld ends
        said = str(e)
    else:
        said = c.ctld_log()
    assert "StoragePolicy=Gold: expected the policy's id" in said
    assert "govc storage.policy.info" in said
