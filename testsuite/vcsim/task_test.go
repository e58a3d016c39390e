// SPDX-License-Identifier: GPL-2.0-or-later
// task_test.go: clones, cancel, names, locks, power, hosts.

package main

import (
	"fmt"
	"testing"
	"time"
)

func slow(kind string, d time.Duration) func(*inventory) {
	return func(inv *inventory) { inv.Durations[kind] = Dur(d) }
}

func TestACloneIsInvisibleUntilDone(t *testing.T) {
	c := start(t, slow("CloneVM_Task", 300*time.Millisecond)).login()
	uuid := "50211e0a-0000-4000-8000-000000000001"
	tk := c.cloneTask("n1", "esx01", obj{"instanceUuid": uuid})
	if i := c.prop(tk.(obj), "info").(obj); i["state"] != "running" || i["entityName"] != "rhel9-ofed" {
		t.Fatal(i)
	}
	by := obj{"uuid": uuid, "vmSearch": true, "instanceUuid": true}
	if c.find("DC0/vm/slurm/n1") != nil || c.call(searchIndex, "FindByUuid", by) != nil {
		t.Fatal("visible")
	}
	vm := c.ok(tk).(obj)
	if got := c.call(searchIndex, "FindByUuid", by).(obj); got["value"] != vm["value"] || c.find("DC0/vm/slurm/n1")["value"] != vm["value"] {
		t.Fatal(got)
	}
	other := c.clone("n2", "esx01", obj{"instanceUuid": uuid})
	if u := c.read(other, "config.instanceUuid"); u == uuid || u == nil {
		t.Fatal(u)
	}
}

func TestACancelledCloneLeavesNothing(t *testing.T) {
	c := start(t, slow("CloneVM_Task", 200*time.Millisecond)).login()
	tk := c.cloneTask("n1", "esx01", obj{}).(obj)
	c.call(tk, "CancelTask", nil)
	c.taskFault("RequestCanceled", tk)
	time.Sleep(300 * time.Millisecond)
	if i := c.prop(tk, "info").(obj); i["state"] != "error" || i["cancelled"] != true || i["result"] != nil {
		t.Fatal(i)
	}
	if c.find("DC0/vm/slurm/n1") != nil {
		t.Fatal("it appeared")
	}
	c.ok(c.cloneTask("n1", "esx01", obj{}))
	on := c.vmOp(c.find("DC0/vm/slurm/n1"), "PowerOnVM_Task", nil).(obj)
	c.fails("NotSupported", on, "CancelTask", nil)
	c.ok(on)
	c.fails("InvalidState", on, "CancelTask", nil)
}

func TestNamesAreUniqueInAFolder(t *testing.T) {
	c := start(t, slow("CloneVM_Task", 100*time.Millisecond)).login()
	a, b := c.cloneTask("n1", "esx01", obj{}), c.cloneTask("n1", "esx02", obj{})
	f, _ := c.taskFault("DuplicateName", b)
	if f["name"] != "n1" || f["object"].(obj)["type"] != "VirtualMachine" {
		t.Fatal(f)
	}
	vm := c.ok(a).(obj)
	f, _ = c.taskFault("DuplicateName", c.cloneTask("n1", "esx02", obj{}))
	if f["object"].(obj)["value"] != vm["value"] {
		t.Fatal(f)
	}
}

func TestACloneCopiesExtraConfig(t *testing.T) {
	c := start(t, nil).login()
	uuid := "50211e0a-0000-4000-8000-000000000007"
	a := c.clone("n1", "esx01", obj{"instanceUuid": uuid, "extraConfig": extra("slurm.vsphere.owner", "c1/n1/"+uuid, "guestinfo.a", "1", "guestinfo.b", "2")})
	b := c.ok(c.call(a, "CloneVM_Task", obj{"folder": c.find("DC0/vm/slurm"), "name": "copy", "spec": obj{
		"_typeName": "VirtualMachineCloneSpec", "template": false, "powerOn": false, "location": obj{"_typeName": "VirtualMachineRelocateSpec"},
		"config": obj{"_typeName": "VirtualMachineConfigSpec", "extraConfig": extra("guestinfo.a", "", "guestinfo.b", "3")}}})).(obj)
	mark := c.read(b, `config.extraConfig["slurm.vsphere.owner"]`).(obj)
	if mark["value"].(obj)["_value"] != "c1/n1/"+uuid || mark["_typeName"] != "OptionValue" {
		t.Fatal(mark)
	}
	if c.read(b, `config.extraConfig["guestinfo.a"]`) != nil || c.read(b, "config.instanceUuid") == uuid {
		t.Fatal("not deleted, or the uuid was copied")
	}
	n := c.counter("foreignTouches")
	c.ok(c.vmOp(a, "PowerOnVM_Task", nil))
	if c.counter("foreignTouches") != n {
		t.Fatal("its own VM counts as foreign")
	}
	c.ok(c.vmOp(b, "PowerOnVM_Task", nil))
	if c.counter("foreignTouches") != n+1 {
		t.Fatal("a copy with the mark doesn't count as foreign")
	}
}

func TestATemplateNeedsAPoolAndHasNoSnapshot(t *testing.T) {
	c := start(t, nil).login()
	tpl := c.find("DC0/vm/rhel9-ofed")
	f := c.fails("InvalidArgument", tpl, "CloneVM_Task", obj{"folder": c.find("DC0/vm/slurm"), "name": "x", "spec": obj{
		"_typeName": "VirtualMachineCloneSpec", "template": false, "powerOn": false, "location": obj{"_typeName": "VirtualMachineRelocateSpec"}}})
	if f["invalidProperty"] != "spec.location.pool" {
		t.Fatal(f)
	}
	c.fails("NotSupported", tpl, "CreateSnapshot_Task", obj{"name": "s", "memory": false, "quiesce": false})
	vm := c.clone("n1", "esx01", c.sriov(nil))
	c.taskFault("GenericVmConfigFault", c.vmOp(vm, "CreateSnapshot_Task", obj{"name": "s", "memory": false, "quiesce": false}))
}

func TestOneOperationAtATime(t *testing.T) {
	c := start(t, slow("PowerOnVM_Task", 200*time.Millisecond)).login()
	vm := c.clone("n1", "esx01", obj{})
	tk := c.vmOp(vm, "PowerOnVM_Task", nil).(obj)
	f := c.fails("TaskInProgress", vm, "ReconfigVM_Task", obj{"spec": obj{"_typeName": "VirtualMachineConfigSpec"}})
	if f["task"].(obj)["value"] != tk["value"] {
		t.Fatal(f)
	}
	c.ok(tk)
	c.taskFault("InvalidPowerState", c.vmOp(vm, "PowerOnVM_Task", nil))
	f, _ = c.taskFault("InvalidPowerState", c.vmOp(vm, "Destroy_Task", nil))
	if f["existingState"] != "poweredOn" {
		t.Fatal(f)
	}
	c.ok(c.vmOp(vm, "PowerOffVM_Task", nil))
	c.ok(c.vmOp(vm, "Destroy_Task", nil))
	c.fails("ManagedObjectNotFound", vm, "PowerOnVM_Task", nil)
}

func TestAStaleChangeVersionIsConcurrentAccess(t *testing.T) {
	c := start(t, nil).login()
	vm := c.clone("n1", "esx01", obj{})
	cv := c.read(vm, "config.changeVersion")
	spec := func() obj {
		return obj{"spec": obj{"_typeName": "VirtualMachineConfigSpec", "changeVersion": cv, "numCPUs": 2}}
	}
	c.ok(c.vmOp(vm, "ReconfigVM_Task", spec()))
	c.taskFault("ConcurrentAccess", c.vmOp(vm, "ReconfigVM_Task", spec()))
}

func TestTasksQueueForSlots(t *testing.T) {
	c := start(t, func(inv *inventory) {
		inv.TaskSlots = slotSpec{VCenter: 3, Host: 2}
		inv.Durations["CloneVM_Task"] = Dur(100 * time.Millisecond)
	}).login()
	var tasks []any
	for i := 0; i < 6; i++ {
		tasks = append(tasks, c.cloneTask(fmt.Sprintf("n%d", i), "esx01", obj{}))
	}
	if s := c.prop(tasks[5].(obj), "info").(obj)["state"]; s != "queued" {
		t.Fatal(s)
	}
	c.call(tasks[5].(obj), "CancelTask", nil)
	c.taskFault("RequestCanceled", tasks[5])
	for _, tk := range tasks[:5] {
		c.ok(tk)
	}
	if n := c.counter("maxInFlight"); n != 6 {
		t.Fatal(n)
	}
	if by := c.admin("GET", "counters", nil)["maxInFlightBy"].(obj); len(by) != 1 || by["CloneVM_Task"] != 6.0 {
		t.Fatal(by)
	}
	for _, x := range c.admin("GET", "state", nil)["tasks"].([]any) {
		if at := x.(obj)["ended"].(float64); time.Since(time.UnixMicro(int64(at*1e6))).Abs() > time.Minute {
			t.Fatal(x)
		}
	}
	recent := c.read(mor("TaskManager", "TaskManager"), "recentTask").([]any)
	if len(recent) != 6 {
		t.Fatal(recent)
	}
}

func TestMaintenanceWaitsForTheLastVM(t *testing.T) {
	c := start(t, nil).login()
	vm, off := c.clone("n1", "esx02", obj{}), c.clone("n2", "esx02", obj{})
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	h := c.find("DC0/host/HPC1/esx02")
	tk := c.call(h, "EnterMaintenanceMode_Task", obj{"timeout": 0}).(obj)
	time.Sleep(50 * time.Millisecond)
	if c.prop(tk, "info").(obj)["state"] != "running" || c.read(h, "runtime.inMaintenanceMode") != false {
		t.Fatal("too early")
	}
	c.taskFault("InvalidHostState", c.vmOp(off, "PowerOnVM_Task", nil))
	c.ok(c.vmOp(vm, "PowerOffVM_Task", nil))
	c.ok(tk)
	if c.read(h, "runtime.inMaintenanceMode") != true {
		t.Fatal("not in maintenance")
	}
	c.ok(c.call(h, "ExitMaintenanceMode_Task", obj{"timeout": 0}))
	c.ok(c.vmOp(off, "PowerOnVM_Task", nil))
}

func TestADisconnectedHostRefuses(t *testing.T) {
	c := start(t, nil).login()
	vm := c.clone("n1", "esx02", obj{})
	pc := c.watch("VirtualMachine", "runtime.connectionState")
	u := c.wait(pc, "", 1, 0)
	c.admin("POST", "do", obj{"op": "hostState", "host": "esx02", "state": "notResponding"})
	u = c.wait(pc, u["version"].(string), 1, 0)
	if up := updates(u)[vm["value"].(string)]; up == nil || up["kind"] != "modify" {
		t.Fatal(u)
	}
	c.fails("HostNotConnected", vm, "PowerOnVM_Task", nil)
	c.admin("POST", "do", obj{"op": "hostState", "host": "esx02", "state": "connected"})
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
}

// The copy is made by the source's host, wherever it goes.
func TestACloneNeedsTheHostOfItsSource(t *testing.T) {
	c := start(t, slow("CloneVM_Task", 300*time.Millisecond)).login()
	at := c.read(c.read(c.find("DC0/vm/rhel9-ofed"), "runtime.host").(obj), "name").(string)
	to := map[bool]string{true: "esx02", false: "esx01"}[at == "esx01"]
	tk := c.cloneTask("n1", to, obj{}).(obj)
	c.do("hostState", obj{"host": at, "state": "notResponding"})
	c.taskFault("HostNotConnected", tk)
	if c.find("DC0/vm/slurm/n1") != nil {
		t.Fatal("it appeared")
	}
	c.do("hostState", obj{"host": at, "state": "connected"})
	c.ok(c.cloneTask("n1", to, obj{}))
}

func TestRelocateKeepsHostVMRight(t *testing.T) {
	c := start(t, nil).login()
	vm := c.clone("n1", "esx02", obj{})
	to := c.find("DC0/host/HPC1/esx03")
	c.ok(c.vmOp(vm, "RelocateVM_Task", obj{"spec": obj{"_typeName": "VirtualMachineRelocateSpec", "host": to}}))
	if c.read(vm, "runtime.host").(obj)["value"] != to["value"] {
		t.Fatal("not moved")
	}
	if l := c.read(to, "vm").([]any); len(l) != 1 {
		t.Fatal(l)
	}
	if l := c.read(c.find("DC0/host/HPC1/esx02"), "vm").([]any); len(l) != 1 {
		t.Fatal(l)
	}
}

func TestPerverseDrsChoosesAnotherHost(t *testing.T) {
	c := start(t, func(inv *inventory) {
		inv.Datacenters[0].Clusters[0].Drs, inv.Datacenters[0].Clusters[0].DrsPerverse = "fullyAutomated", true
	}).login()
	vm := c.clone("n1", "esx02", c.sriov(nil))
	h := c.find("DC0/host/HPC1/esx02")
	c.ok(c.vmOp(vm, "PowerOnVM_Task", obj{"host": h}))
	if c.read(vm, "runtime.host").(obj)["value"] == h["value"] {
		t.Fatal("it stayed")
	}
	spec := obj{"_typeName": "PlacementSpec", "placementType": "clone", "vm": vm, "cloneName": "n2",
		"cloneSpec": obj{"_typeName": "VirtualMachineCloneSpec", "location": obj{"_typeName": "VirtualMachineRelocateSpec"}, "template": false, "powerOn": false}}
	ask := obj{"placementSpec": spec}
	res := c.call(c.find("DC0/host/HPC1"), "PlaceVm", ask).(obj)
	if len(res["recommendations"].([]any)) < 2 {
		t.Fatal(res)
	}
	spec["hosts"] = []any{h}
	res = c.call(c.find("DC0/host/HPC1"), "PlaceVm", ask).(obj)
	only := res["recommendations"].([]any)[0].(obj)["action"].([]any)[0].(obj)["targetHost"].(obj)
	if only["value"] != h["value"] {
		t.Fatal("a host that was not offered: ", only)
	}
	spec["hosts"] = []any{vm}
	c.fails("InvalidArgument", c.find("DC0/host/HPC1"), "PlaceVm", ask)
	delete(spec, "hosts")
	delete(spec, "cloneSpec")
	c.fails("InvalidArgument", c.find("DC0/host/HPC1"), "PlaceVm", ask)
}

func TestPowerOnHonoursItsHost(t *testing.T) {
	c := start(t, nil).login()
	vm := c.clone("n1", "esx02", obj{})
	h := c.find("DC0/host/HPC1/esx03")
	c.ok(c.vmOp(vm, "PowerOnVM_Task", obj{"host": h}))
	if c.read(vm, "runtime.host").(obj)["value"] != h["value"] {
		t.Fatal("host not honoured")
	}
	c.fails("InvalidState", c.find("DC0/host/HPC1"), "PlaceVm", obj{"placementSpec": obj{"_typeName": "PlacementSpec"}})
}

func TestADestroyedForeignDiskIsCounted(t *testing.T) {
	c := start(t, nil).login()
	vm, other := c.clone("n1", "esx01", obj{}), c.clone("n2", "esx01", obj{})
	c.admin("POST", "do", obj{"op": "attachDisk", "vm": "n1", "name": "[vsanDatastore] data/data.vmdk"})
	c.ok(c.vmOp(other, "Destroy_Task", nil))
	if n := c.counter("foreignDisks"); n != 0 {
		t.Fatal(n)
	}
	c.ok(c.vmOp(vm, "Destroy_Task", nil))
	if n := c.counter("foreignDisks"); n != 1 {
		t.Fatal(n)
	}
}

func TestRestrictedAccountsAreRefused(t *testing.T) {
	c := start(t, func(inv *inventory) { inv.Restrict = []string{"slurm"} }).login()
	f := c.fails("NoPermission", c.find("DC0/vm/foreign1"), "PowerOffVM_Task", nil)
	if f["privilegeId"] == nil || c.counter("foreignTouches") != 1 {
		t.Fatal(f)
	}
	c.clone("n1", "esx01", obj{})
	c.fails("NoPermission", c.find("DC0/host/HPC1/esx01"), "EnterMaintenanceMode_Task", obj{"timeout": 0})
}
