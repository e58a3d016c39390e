# SPDX-License-Identifier: GPL-2.0-or-later
"""The vCenter client alone: coming up, logging in, the life of a VM."""

import os
import shutil
import time

import pytest

from daemons import patience
from vclive import PASSWORD, clone, pair, start, world   # noqa: F401


# ---- coming up ---------------------------------------------------------------

def test_the_inventory_is_loaded_between_load_begin_and_load_end(pair):
    sim, live = pair
    order = [e["event"] for e in live.seen if e["event"] != "slow_begin"]
    assert order[0] == "up" and order[1] == "load_begin"
    assert order[-1] == "load_end" and order.count("up") == 1
    up = live.seen[0]
    assert up["release"] == "8.0.3.0"
    assert [n["name"] for n in up["networks"]] == ["ROCE-PG", "VM-PG"]
    host = live.host("esx02")
    assert (host["cores"], host["core_mhz"]) == (48, 2600)
    # by the cluster's effective sums: two hosts of the same size
    assert host["memory_mb"] == 262144 - 262144 * 6 // 100 - 1024
    assert host["cpu_mhz"] == 48 * 2600 * 9 // 10
    assert host["pfs"] == [{
        "pci": "0000:3b:00.0", "pnic": "vmnic4", "vfs": 2, "numa": 1,
        # half of the host: there are two of them
        "numa_cores": host["cores"] // 2,
        "numa_mb": host["memory_mb"] // 2,
        "link_up": True, "switch_uuid": up["networks"][0]["switch_uuid"]}]
    foreign = [v for v in live.vms.values() if len(v["nics"]) == 2]
    assert len(foreign) == 1 and "name" not in foreign[0]
    assert foreign[0]["nics"][1]["pci"] == "0000:3b:00.0"
    assert foreign[0]["nics"][1]["kind"] == "sriov"


def test_a_large_inventory_comes_page_by_page(start):
    w = world()
    w["datacenters"][0]["vms"].append(
        {"name": "many%04d", "count": 700, "folder": "slurm",
         "host": "esx02", "numCPUs": 1, "memoryMB": 16, "nics": ["VM-PG"],
         "extraConfig": {"slurm.vsphere.owner": "a/b/c"}})
    live = start.live(start(w)).up()
    named = [v for v in live.vms.values() if "name" in v]
    assert len(named) == 700
    assert all("power" in v and v["owner"] == "a/b/c" for v in named)


def test_vcenter_8_0u1_without_hello_is_spoken_to_in_its_release(start):
    live = start.live(start(world(apiVersion="8.0.1.0", hello=False)))
    assert live.wait("up", 15)["release"] == "8.0.1.0"
    live.wait("load_end")


def test_a_newer_vcenter_is_spoken_to_in_the_newest_release_we_know(start):
    live = start.live(start(world(apiVersion="9.0.0.0")))
    assert live.wait("up", 15)["release"] == "8.0.3.0"


@pytest.mark.parametrize("status", [502, 503])
def test_hello_may_be_down_while_the_rest_answers(start, status):
    """It is the vAPI endpoint's, another service than /sdk."""
    sim = start()
    down = {"on": "request", "method": "hello", "http": status,
            "body": "no healthy upstream"}
    sim.fault(**down)
    live = start.live(sim).up()
    assert live.seen[0]["release"] == "8.0.3.0"
    assert sim.calls("vimServiceVersions.xml") == 1


def test_where_the_versions_are_down_as_well_it_is_tried_again(start):
    sim = start()
    for method in "hello", "vimServiceVersions.xml":
        sim.fault(on="request", method=method, count=2, http=503,
                  body="no healthy upstream")
    live = start.live(sim)
    assert live.wait("down")["code"] == "retry"
    live.up()
    assert live.seen[-1]["event"] == "load_end"
    assert sim.calls("hello") == 1


@pytest.mark.parametrize("hello", [True, False])
def test_a_vcenter_before_8_0u1_is_refused_in_one_sentence(start, hello):
    live = start.live(start(world(apiVersion="7.0.3.0", hello=hello)))
    down = live.wait("down", 15)
    assert down["code"] == "config"
    assert "older than vCenter 8.0 Update 1" in down["text"]
    assert "7.0.3.0" in down["text"]


def test_an_esxi_host_is_called_by_its_name(start):
    live = start.live(start(world(apiType="HostAgent")))
    down = live.wait("down", 15)
    assert down["code"] == "config"
    assert "is an ESXi host, not a vCenter" in down["text"]


def test_soap_instead_of_json_is_an_esxi_host_too(start):
    sim = start(world(hello=False))
    sim.fault(on="request", object="ServiceInstance", http=500,
              body='<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope/>')
    down = start.live(sim).wait("down", 15)
    assert down["code"] == "config"
    assert "is an ESXi host, not a vCenter" in down["text"]
    assert sim.calls("Login") == 0


def test_a_vcenter_that_is_starting_is_waited_for(start):
    sim = start()
    sim.fault(on="request", object="ServiceInstance", http=503, count=1,
              body="no healthy upstream")
    live = start.live(sim)
    assert live.wait("down", 15)["code"] == "retry"
    live.up()


@pytest.mark.parametrize("key,value,says", [
    ("dc", "DC9", "Datacenter=DC9: vCenter has no datacenter of that name; "
     "there are: DC0"),
    ("folder", "slurn", "Folder=slurn: vCenter has no VM folder of that name "
     'in datacenter "DC0"; there are: slurm'),
    ("folder", "slurm/deep", 'Folder=slurm/deep: vCenter has no VM folder '
     'called "deep" in datacenter "DC0"'),
    ("cluster", "HPC9", "VSphereCluster=HPC9: vCenter has no cluster of that "
     'name in datacenter "DC0"; there are: HPC1'),
    ("cluster", "HPC1/none", "ResourcePool=none: vCenter has no resource pool "
     'of that name in cluster "HPC1"; there are: '),
    ("store", "nas", "Datastore=nas: vCenter has no datastore of that name in "
     'datacenter "DC0"; there are: vsan'),
    ("network", "ROCE", "Network=ROCE: vCenter has no network of that name in "
     'datacenter "DC0"; there are: '),
])
def test_a_name_that_is_missing_is_named(start, key, value, says):
    live = start.live(start(), **{key: value})
    down = live.wait("down", 15)
    assert down["code"] == "config"
    assert down["text"].startswith(says)
    live.quiet(1.5, "up", "down")


# ---- login and TLS -----------------------------------------------------------

def test_a_wrong_password_is_tried_once_until_the_file_changes(start):
    sim = start()
    (start.work / "password").write_text("wrong\n")
    (start.work / "password").chmod(0o600)
    live = start.live(sim)
    assert live.wait("down", 15)["code"] == "login"
    live.quiet(5, "up", "down")
    assert sim.calls("Login") == 1
    live.password.write_text(PASSWORD)
    live.up()
    assert sim.calls("Login") == 2


def test_retry_now_tries_a_refused_password_once_more(start):
    sim = start()
    (start.work / "password").write_text("wrong\n")
    (start.work / "password").chmod(0o600)
    live = start.live(sim)
    live.wait("down", 15)
    live.tell("retry")
    live.wait("down", 15)
    assert sim.calls("Login") == 2


def test_a_password_file_that_others_can_read_is_not_used(start):
    sim = start()
    (start.work / "password").write_text(PASSWORD)
    (start.work / "password").chmod(0o644)
    live = start.live(sim)
    down = live.wait("down", 15)
    assert down["code"] == "config"
    assert "expected 0600 or 0400 (chmod 600 it)" in down["text"]
    assert sim.calls("Login") == 0


@pytest.mark.parametrize("content, why", [
    (b"s\xfccret\n", "its first line is no UTF-8 text"),
    (b"sec\0ret\n", "its first line is no UTF-8 text"),
    (b"s" * 1024, "has a first line of more than 1023 bytes"),
    (b"\r\nsecret\n", "holds no password")])
def test_what_is_no_password_costs_no_failed_login(start, content, why):
    sim = start()
    (start.work / "password").write_bytes(content)
    (start.work / "password").chmod(0o600)
    down = start.live(sim).wait("down", 15)
    assert down["code"] == "config" and down["text"].endswith(why)
    assert sim.calls("Login") == 0


def test_a_password_file_of_somebody_else_is_not_used(start):
    """At each login, not at the first alone."""
    sim = start()
    live = start.live(sim).up()
    os.chown(live.password, 65534, -1)
    sim.do("expireSessions")
    down = live.wait("down", code="config")
    assert down["text"] == (f"VCenterPasswordFile {live.password} belongs to uid "
                            "65534: it must belong to uid 0 (chown it)")
    assert sim.calls("Login") == 1
    os.chown(live.password, 0, -1)
    live.tell("retry")
    live.up()
    assert sim.calls("Login") == 2


def test_a_certificate_that_does_not_verify_names_cafile(start):
    sim = start()
    other = start.work / "other.pem"
    shutil.copy(sim.ca, other)
    sim.do("newCertificate")
    live = start.live(sim, ca=other)
    down = live.wait("down", 15)
    assert down["code"] == "config"
    assert "VCenterCAFile" in down["text"] and "certificate" in down["text"]
    assert sim.calls("Login") == 0
    shutil.copy(sim.ca, other)      # the next try reads it again
    live.tell("retry")
    live.up()


def test_unverified_tls_warns_at_login(start):
    live = start.live(start(), ca=None, insecure=1).up()
    assert "is not verified" in live.errors()


def test_nobody_at_the_address_is_retried(start):
    sim = start()
    live = start.live(sim, url="https://127.0.0.1:9")
    down = live.wait("down", 15)
    assert down["code"] == "retry" and "no connection to" in down["text"]
    live.quiet(3, "down")           # told once


# ---- the life of a VM --------------------------------------------------------

def test_a_vm_is_cloned_powered_on_and_destroyed_in_one_call_each(pair):
    sim, live = pair
    done = clone(live, "vm001", "esx01", "mgmt=00:50:56:00:09:09",
                 "slurm.vsphere.owner=c/vm001/u",
                 "slurm.vsphere.profile=00ff",
                 "uuid=50211e0a-0000-4000-8000-000000000001")
    assert done["code"] == "ok" and done["result"].startswith("vm-")
    vm = live.vm("vm001")       # its update came before the task's end
    assert vm and vm["moid"] == done["result"]
    assert vm["power"] == "poweredOff" and vm["owner"] == "c/vm001/u"
    assert vm["profile"] == "00ff" and vm["mem_locked"]
    assert vm["uuid"] == "50211e0a-0000-4000-8000-000000000001"
    assert [c["mac"] for c in vm["nics"]] == [
        "00:50:56:00:09:09", "00:50:56:00:01:02"]
    assert vm["disks_own"] and vm["disk_dir"].startswith("[vsan] ")
    assert live.run(f"power_on {vm['moid']}")["code"] == "ok"
    live.until("it is on", lambda: vm["power"] == "poweredOn")
    live.until("its PF is known",
               lambda: vm["nics"][1]["pci"] == "0000:3b:00.0")
    again = live.run(f"power_on {vm['moid']}")
    assert again["code"] == "state"
    assert live.run(f"power_off {vm['moid']}")["code"] == "ok"
    assert live.run(f"destroy {vm['moid']}")["code"] == "ok"
    live.until("it is gone", lambda: live.vm("vm001") is None)
    for method, n in (("CloneVM_Task", 1), ("PowerOnVM_Task", 2),
                      ("PowerOffVM_Task", 1), ("Destroy_Task", 1)):
        assert sim.calls(method) == n, method
    assert live.stats()["mutating"] == 5


def test_waiting_costs_one_long_poll(pair):
    sim, live = pair
    before = sim.ask("counters")["calls"]
    live.quiet(4, "vm", "host", "down")
    after = sim.ask("counters")["calls"]
    new = {k: after[k] - before.get(k, 0) for k in after
           if after[k] != before.get(k, 0)}
    assert set(new) <= {"WaitForUpdatesEx"} and sum(new.values()) <= 1


def test_a_stream_of_changes_is_told_together(pair):
    """Each for itself would be a call of its own."""
    sim, _ = pair
    before, began = sim.ask("counters")["waits"], time.monotonic()
    sim.do("churn", churn={"rate": 50, "seed": 1, "max": 8})
    while sum(sim.ask("counters")["churn"].values()) < 100:
        assert time.monotonic() - began < 30 * patience()
        time.sleep(0.05)
    took = time.monotonic() - began
    waits = sim.ask("counters")["waits"] - before
    sim.do("churn", churn={"rate": 0, "clear": True})
    assert 2 <= waits <= took / 0.2 + 5


@pytest.mark.faults
def test_a_full_pf_is_known_by_its_text(pair):
    sim, live = pair
    codes = []
    for i in range(2):      # two VFs, the foreign VM has one
        vm = clone(live, f"vm{i}", "esx01",
                   f"mac=00:50:56:00:02:{i:02x}")["result"]
        codes.append(live.run(f"power_on {vm}"))
    assert codes[0]["code"] == "ok"
    assert codes[1]["code"] == "other-host"
    assert codes[1]["fault"] == "NoVirtualFunction"
    assert "virtual function" in codes[1]["text"].lower()
    # Elsewhere there is room.
    assert live.run(f"relocate {vm} host={live.host('esx02')['moid']}"
                    )["code"] == "ok"
    assert live.run(f"power_on {vm}")["code"] == "ok"


def test_a_reconfigure_changes_card_mark_and_address(pair):
    sim, live = pair
    moid = clone(live, "vm001")["result"]
    vm = live.vm("vm001")
    old = vm["nics"][1]
    assert live.run(
        f"reconfigure {moid} change_version={vm['change_version']} "
        f"remove={old['key']} nic=vmxnet3 network=1 mac=00:50:56:00:03:03 "
        "mgmt=00:50:56:00:04:04 mgmt_key=4000 vcpus=4 "
        "slurm.vsphere.job=7")["code"] == "ok"
    live.until("the NICs are new", lambda: [
        (c["kind"], c["mac"]) for c in vm["nics"]] == [
            ("vmxnet3", "00:50:56:00:04:04"), ("vmxnet3", "00:50:56:00:03:03")])
    live.until("the mark is new", lambda: vm["job"] == "7")
    assert vm["vcpus"] == 4
    stale = live.run(f"reconfigure {moid} change_version=old vcpus=2")
    assert stale["code"] == "retry" and stale["fault"] == "ConcurrentAccess"


def test_locks_reservations_and_latency_are_taken_away(pair):
    sim, live = pair
    moid = clone(live, "vm001", "esx01", "exact=1", "cpu_mhz=5200",
                 "latency_high=1")["result"]
    vm = live.vm("vm001")
    assert vm["mem_locked"] and vm["latency_high"]
    assert (vm["mem_reserved_mb"], vm["cpu_reserved_mhz"]) == (4096, 5200)
    assert live.run(f"reconfigure {moid} memory_mb=4096 exact=1"
                    )["code"] == "ok"
    live.until("they are gone", lambda: not (
        vm["mem_locked"] or vm["latency_high"] or vm["mem_reserved_mb"] or
        vm["cpu_reserved_mhz"]))


def test_a_name_that_is_taken_says_so(pair):
    sim, live = pair
    assert clone(live, "vm001")["code"] == "ok"
    assert clone(live, "vm001")["code"] == "exists"


def test_a_cancelled_clone_ends_as_cancelled_and_leaves_no_vm(start):
    w = world()
    w["durations"]["CloneVM_Task"] = "30s"
    sim = start(w)
    live = start.live(sim).up()
    i = live.send(f"clone vm001 host={live.host('esx01')['moid']}")
    live.tell(f"cancel {live.wait('started', id=i)['task']}")
    assert live.wait("done", id=i)["code"] == "canceled"
    live.quiet(0.5, "done", "vm")
    assert sim.vm("vm001") is None


def test_a_running_task_is_seen_and_adopted_by_the_next_client(start):
    w = world()
    w["durations"]["CloneVM_Task"] = "3s"
    sim = start(w)
    first = start.live(sim).up()
    i = first.send(f"clone vm001 host={first.host('esx01')['moid']}")
    task = first.wait("started", id=i)["task"]
    second = start.live(sim)
    slow = second.wait("slow", 15)
    assert [(t["moid"], t["name"], t["user"]) for t in slow["tasks"]] == [
        (task, "VirtualMachine.clone", second.seen[0]["user"])]
    second.up()
    assert second.run(f"adopt {task}")["result"] == sim.vm("vm001")["moid"]
    assert first.wait("done", id=i)["code"] == "ok"
    # It has ended: adopting it again still tells how.
    assert second.run(f"adopt {task}")["code"] == "ok"
    assert second.run("adopt task-99999")["code"] == "unknown"


def test_changes_by_others_stream_in(pair):
    sim, live = pair
    esx = live.host("esx02")
    sim.do("setVfs", host="esx02", pci="0000:3b:00.0", vfs=5)
    live.until("five VFs", lambda: esx["pfs"][0]["vfs"] == 5)
    sim.do("renumberPf", host="esx02", pci="0000:3b:00.0",
           newPci="0000:5e:00.0")
    live.until("another address", lambda: esx["pfs"] and
               esx["pfs"][0]["pci"] == "0000:5e:00.0" and
               esx["pfs"][0]["numa"] == 1)
    sim.do("hostState", host="esx02", state="notResponding")
    live.until("it does not respond", lambda: not esx["connected"])
    sim.do("hostState", host="esx02", state="connected")
    live.until("it is back", lambda: esx["connected"])
    vm = clone(live, "vm001")["result"]
    sim.do("rename", vm="vm001", name="vm009")
    live.until("renamed", lambda: live.vms[vm]["name"] == "vm009")
    sim.do("destroyVm", vm="vm009")
    live.until("gone", lambda: vm not in live.vms)


def test_what_esxi_keeps_is_read_of_each_host(start):
    w = world()
    cluster = w["datacenters"][0]["clusters"][0]
    of, cluster["hosts"] = cluster["hosts"][0], []
    for name, mb, mhz in ("esx01", 20000, 9000), ("esx02", 40000, 20000):
        cluster["hosts"].append({**of, "name": name, "count": 1, "system":
                                 {"memoryMB": mb, "mhz": mhz}})
    sim = start(w)
    live = start.live(sim).up()

    def told():
        return [(live.host(n)["memory_mb"], live.host(n)["cpu_mhz"])
                for n in ("esx01", "esx02")]
    # What vCenter admits VMs against, for both.
    assert told() == [(232144, 110300)] * 2
    live.tell("slow")
    live.wait("slow")
    own = [(242144, 115800), (222144, 104800)]
    assert told() == own
    # It takes no call of its own.
    before = sim.ask("counters")
    live.tell("slow")
    live.wait("slow")
    after = sim.ask("counters")
    assert {k: n - before["calls"].get(k, 0)
            for k, n in after["calls"].items()
            if n != before["calls"].get(k, 0) and k != "WaitForUpdatesEx"} == {
        "RetrievePropertiesEx": 1, "recentTask": 1,
        "HasUserPrivilegeOnEntities": 1}
    # One is in maintenance, and in no sum: what the others have stays.
    sim.do("maintenance", host="esx02")
    live.wait("host", maintenance=True)
    live.tell("slow")
    live.wait("slow")
    assert told() == own


def test_room_is_told_on_the_slow_beat_with_what_is_in_it(pair):
    sim, live = pair
    template = live.seen[0]["templates"][0]
    assert template["disk_mb"] == 20 * 1024 and template["hw"] == 20

    def beat():
        live.tell("slow")
        slow = live.wait("slow")
        return slow["store_free_mb"], slow["pools"][0]["mem_mb"]
    sim.do("setPool", cluster="HPC1", name="slurm", memoryMB=5000)
    sim.do("setFree", datastore="vsan", freeGB=100)
    assert beat() == (100 * 1024, 5000)
    vm = clone(live, "vm001")["result"]
    assert beat() == (80 * 1024, 5000)
    live.run(f"power_on {vm} host={live.host('esx01')['moid']}")
    live.until("on", lambda: live.vms[vm]["power"] == "poweredOn")
    # What was delivered before the question is in the answer.
    live.tell("slow")
    live.wait("slow_begin")
    assert live.wait("slow")["pools"][0]["mem_mb"] < 5000
    # An overcommitted pool has nothing left, which is not "unknown".
    sim.do("setPool", cluster="HPC1", name="slurm", memoryMB=1)
    assert beat()[1] == 0


def test_who_is_asleep_is_told_of_a_stream_rarely_and_at_once_when_woken(pair):
    sim, live = pair
    live.tell("calm 2")
    sim.do("churn", churn={"rate": 20, "seed": 1, "max": 8})
    live.wait("vm")             # the first update, by an open wait
    live.quiet(1, "down")       # and what came with it
    before = sim.ask("counters")["calls"]
    live.quiet(2, "vm", "host", "down")
    assert sim.ask("counters")["calls"] == before
    began = time.monotonic()
    live.tell("calm 0")
    live.wait("vm", 3)
    assert time.monotonic() - began < 3 * patience()
    sim.do("churn", churn={"rate": 0, "clear": True})


def test_rights_that_suffice_are_not_asked_for_anew_while_nobody_hurries(pair):
    sim, live = pair
    asked = sim.calls("HasUserPrivilegeOnEntities")
    for calm, times in ((1, 0), (2, 0), (0, 1)):
        live.tell(f"calm {calm}")
        live.tell("slow")
        assert live.wait("slow")["rights_known"]
        assert sim.calls("HasUserPrivilegeOnEntities") == asked + times
