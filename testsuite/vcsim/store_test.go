// SPDX-License-Identifier: GPL-2.0-or-later
// store_test.go: datastore room, slots, linked clones, VFs released late.

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func (c *client) do(op string, more obj) obj {
	c.t.Helper()
	body := obj{"op": op}
	for k, v := range more {
		body[k] = v
	}
	return c.admin("POST", "do", body)
}

func (c *client) freeMB() int {
	c.t.Helper()
	return int(c.read(c.find("DC0/datastore/vsanDatastore"), "summary.freeSpace").(float64)) >> 20
}

func TestAFullCloneTakesItsDisksRoomAndDestroyGivesItBack(t *testing.T) {
	c := start(t, nil).login()
	before := c.freeMB()
	a := c.clone("n1", "esx01", obj{})
	if n := before - c.freeMB(); n != 40<<10 {
		t.Fatal(n)
	}
	c.do("setFree", obj{"datastore": "vsanDatastore", "freeGB": 39})
	f, text := c.taskFault("NoDiskSpace", c.cloneTask("n2", "esx01", obj{}))
	if f["datastore"] != "vsanDatastore" || text != "Insufficient disk space on datastore 'vsanDatastore'." {
		t.Fatal(f, text)
	}
	if c.find("DC0/vm/slurm/n2") != nil || c.freeMB() != 39<<10 {
		t.Fatal("it left something")
	}
	c.ok(c.vmOp(a, "Destroy_Task", nil))
	if n := c.freeMB(); n != 79<<10 {
		t.Fatal(n)
	}
	c.clone("n2", "esx01", obj{})
}

func TestUnreservedMemoryNeedsASwapFileAtPowerOn(t *testing.T) {
	c := start(t, nil).login()
	plain, locked := c.clone("n1", "esx02", obj{"memoryMB": 4096}), c.clone("n2", "esx02", c.sriov(nil))
	half := c.clone("n3", "esx02", obj{"memoryMB": 4096, "memoryAllocation": obj{"_typeName": "ResourceAllocationInfo", "reservation": 3072}})
	c.do("setFree", obj{"datastore": "vsanDatastore", "freeGB": 3})
	c.taskFault("NoDiskSpace", c.vmOp(plain, "PowerOnVM_Task", nil))
	c.ok(c.vmOp(locked, "PowerOnVM_Task", nil))
	if n := c.freeMB(); n != 3072 {
		t.Fatal(n)
	}
	c.ok(c.vmOp(half, "PowerOnVM_Task", nil))
	if n := c.freeMB(); n != 2048 {
		t.Fatal(n)
	}
	more := obj{"spec": obj{"_typeName": "VirtualMachineConfigSpec", "memoryAllocation": obj{"_typeName": "ResourceAllocationInfo", "reservation": 4096}}}
	c.ok(c.vmOp(half, "ReconfigVM_Task", more))
	c.ok(c.vmOp(half, "PowerOffVM_Task", nil))
	if n := c.freeMB(); n != 3072 {
		t.Fatalf("%d MB: what was taken is not what was given back", n)
	}
}

func TestTheFaultOfAFullDatastoreCanBeChosen(t *testing.T) {
	for _, kind := range []string{"InsufficientStorageSpace", "GenericVmConfigFault"} {
		c := start(t, func(inv *inventory) { inv.NoRoomFault = kind }).login()
		vm := c.clone("n1", "esx02", obj{"memoryMB": 4096})
		c.do("setFree", obj{"datastore": "vsanDatastore", "freeGB": 1})
		c.taskFault(kind, c.vmOp(vm, "PowerOnVM_Task", nil))
	}
}

func TestALinkedCloneNeedsASnapshotAndNoRoom(t *testing.T) {
	c := start(t, func(inv *inventory) { inv.Datacenters[0].Templates[1].Snapshot = "base" }).login()
	c.do("setFree", obj{"datastore": "vsanDatastore", "freeGB": 1})
	spec := func(snap any) obj {
		s := obj{"_typeName": "VirtualMachineCloneSpec", "template": false, "powerOn": false,
			"location": obj{"_typeName": "VirtualMachineRelocateSpec", "diskMoveType": "createNewChildDiskBacking",
				"pool": c.find("DC0/host/HPC1/Resources/slurm"), "host": c.find("DC0/host/HPC1/esx02")}}
		if snap != nil {
			s["snapshot"] = snap
		}
		return obj{"folder": c.find("DC0/vm/slurm"), "name": "n1", "spec": s}
	}
	tpl := c.find("DC0/vm/rhel9")
	if f := c.fails("InvalidArgument", tpl, "CloneVM_Task", spec(nil)); f["invalidProperty"] != "spec.snapshot" {
		t.Fatal(f)
	}
	snap := c.read(tpl, "snapshot").(obj)["currentSnapshot"].(obj)
	c.fails("InvalidArgument", c.find("DC0/vm/rhel9-ofed"), "CloneVM_Task", spec(snap))
	c.fails("ManagedObjectNotFound", tpl, "CloneVM_Task", spec(mor("VirtualMachineSnapshot", "snapshot-0")))
	vm := c.ok(c.call(tpl, "CloneVM_Task", spec(snap))).(obj)
	c.ok(c.vmOp(vm, "Destroy_Task", nil))
	if n := c.freeMB(); n != 1024 {
		t.Fatal(n)
	}
}

func TestTasksQueueForADatastore(t *testing.T) {
	c := start(t, func(inv *inventory) {
		inv.Datacenters[0].Datastores = append(inv.Datacenters[0].Datastores, dsSpec{Name: "other", CapacityGB: 1000, FreeGB: 1000})
		inv.TaskSlots.Store = 1
		inv.Durations["CloneVM_Task"] = Dur(300 * time.Millisecond)
	}).login()
	state := func(tk any) any { return c.prop(tk.(obj), "info").(obj)["state"] }
	a, b := c.cloneTask("n1", "esx01", obj{}), c.cloneTask("n2", "esx02", obj{})
	vm := c.find("DC0/vm/foreign1")
	if state(a) != "running" || state(b) != "queued" {
		t.Fatal(state(a), state(b))
	}
	c.ok(c.vmOp(vm, "PowerOffVM_Task", nil)) // needs no room: isn't held up
	if state(b) != "queued" {
		t.Fatal("too early")
	}
	c.do("setSlots", obj{"slots": obj{"datastore": 2}})
	if state(b) != "running" {
		t.Fatal("the new slot is not used")
	}
	c.ok(a)
	c.ok(b)
}

func TestPowerOperationsTakeNoProvisioningSlot(t *testing.T) {
	c := start(t, func(inv *inventory) {
		inv.TaskSlots.Host = 1
		inv.Durations["PowerOnVM_Task"] = Dur(time.Minute)
	}).login()
	var tasks []any
	for i := 0; i < 3; i++ {
		vm := c.clone(fmt.Sprintf("n%d", i), "esx02", obj{})
		tasks = append(tasks, vm)
	}
	for i, vm := range tasks {
		tasks[i] = c.vmOp(vm.(obj), "PowerOnVM_Task", nil)
	}
	for _, tk := range tasks {
		if s := c.prop(tk.(obj), "info").(obj)["state"]; s != "running" {
			t.Fatal(s)
		}
	}
}

func TestAVfIsFreeOnlyWhenEsxiHasReleasedIt(t *testing.T) {
	c := start(t, func(inv *inventory) { inv.VfRelease = Dur(400 * time.Millisecond) }).login()
	c.do("setVfs", obj{"host": "esx02", "pci": "0000:3b:00.0", "vfs": 1})
	a, b := c.clone("n1", "esx02", c.sriov(nil)), c.clone("n2", "esx02", c.sriov(nil))
	c.ok(c.vmOp(a, "PowerOnVM_Task", nil))
	c.ok(c.vmOp(a, "PowerOffVM_Task", nil))
	off := time.Now()
	_, text := c.taskFault("GenericVmConfigFault", c.vmOp(b, "PowerOnVM_Task", nil))
	if !strings.Contains(text, "No SR-IOV virtual function (VF) is available") {
		t.Fatal(text)
	}
	if n := c.counter("powerOnFullPF"); n != 0 {
		t.Fatal("the sender was told that the VM is off, and is blamed")
	}
	until(t, "released", func() bool { return c.done(c.vmOp(b, "PowerOnVM_Task", nil))["state"] == "success" })
	if d := time.Since(off); d < 350*time.Millisecond {
		t.Fatal(d)
	}
	c.do("vfRelease", obj{"duration": "0ms"})
	c.ok(c.vmOp(b, "PowerOffVM_Task", nil))
	c.ok(c.vmOp(a, "PowerOnVM_Task", nil))
}

// A datastore of some hosts alone: others can neither clone to it nor take a VM
// that lies there without its disks.
func TestALocalDatastoreIsItsHostsAlone(t *testing.T) {
	c := start(t, func(inv *inventory) {
		dc := &inv.Datacenters[0]
		dc.Datastores = append(dc.Datastores, dsSpec{Name: "local-1", CapacityGB: 1000, FreeGB: 1000, Hosts: []string{"esx01"}},
			dsSpec{Name: "local-2", CapacityGB: 1000, FreeGB: 1000, Hosts: []string{"esx02"}})
	}).login()
	local1, local2 := c.find("DC0/datastore/local-1"), c.find("DC0/datastore/local-2")
	esx1, esx2 := c.find("DC0/host/HPC1/esx01"), c.find("DC0/host/HPC1/esx02")
	if n := len(c.read(esx1, "datastore").([]any)); n != 2 {
		t.Fatal(n)
	}
	spec := func(host, store obj) obj {
		return obj{"folder": c.find("DC0/vm/slurm"), "name": "n1", "spec": obj{"_typeName": "VirtualMachineCloneSpec",
			"template": false, "powerOn": false, "location": obj{"_typeName": "VirtualMachineRelocateSpec",
				"pool": c.find("DC0/host/HPC1/Resources/slurm"), "host": host, "datastore": store}}}
	}
	tpl := c.find("DC0/vm/rhel9")
	c.fails("DatastoreNotWritableOnHost", tpl, "CloneVM_Task", spec(esx2, local1))
	vm := c.ok(c.call(tpl, "CloneVM_Task", spec(esx1, local1))).(obj)
	move := func(more obj) obj {
		s := obj{"_typeName": "VirtualMachineRelocateSpec", "host": esx2}
		for k, v := range more {
			s[k] = v
		}
		return obj{"spec": s}
	}
	c.taskFault("CannotAccessVmDisk", c.vmOp(vm, "RelocateVM_Task", move(nil)))
	c.fails("DatastoreNotWritableOnHost", vm, "RelocateVM_Task", move(obj{"datastore": local1}))
	c.ok(c.vmOp(vm, "RelocateVM_Task", move(obj{"datastore": local2})))
	if f := c.read(vm, "config.files").(obj)["vmPathName"]; f != "[local-2] n1/n1.vmx" {
		t.Fatal(f)
	}
	if d := c.read(vm, "datastore").([]any); len(d) != 1 || d[0].(obj)["value"] != local2["value"] {
		t.Fatal(d)
	}
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
}
