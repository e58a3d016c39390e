// SPDX-License-Identifier: GPL-2.0-or-later
// dovm_test.go: an administrator's operations on managed VMs, and which of the
// client's own operations are counted against it.

package main

import (
	"testing"
	"time"
)

// ourVM is a clone that passes the tests of ownership.
func (c *client) ourVM(name, host, uuid string) obj {
	c.t.Helper()
	return c.clone(name, host, obj{"instanceUuid": uuid, "extraConfig": extra("slurm.vsphere.owner", "c1/"+name+"/"+uuid)})
}

const uuidA = "50211e0a-0000-4000-8000-00000000000a"

func TestAnAdministratorHandlesOurVMs(t *testing.T) {
	c := start(t, nil).login()
	vm := c.ourVM("n1", "esx02", uuidA)
	if r := c.do("powerOn", obj{"vm": "n1", "wait": true}); r["state"] != "success" {
		t.Fatal(r)
	}
	if r := c.do("destroyVm", obj{"vm": "n1", "wait": true}); r["state"] != "error" || r["error"] == "" {
		t.Fatal(r)
	}
	c.do("powerOff", obj{"vm": "n1", "wait": true})
	c.do("rename", obj{"vm": "n1", "name": "theirs", "wait": true})
	c.do("migrate", obj{"vm": "theirs", "host": "esx04", "wait": true})
	c.do("moveVm", obj{"vm": "theirs", "wait": true})
	if c.find("DC0/vm/theirs")["value"] != vm["value"] || c.find("DC0/vm/slurm/n1") != nil || c.hostOf(vm) != "esx04" {
		t.Fatal("not moved")
	}
	c.do("moveVm", obj{"vm": "theirs", "folder": "slurm", "wait": true})
	c.do("setExtra", obj{"vm": "theirs", "key": "a", "value": "b", "wait": true})
	c.do("cloneVm", obj{"vm": "theirs", "name": "copy", "wait": true})
	twin := c.find("DC0/vm/slurm/copy")
	if c.read(twin, `config.extraConfig["slurm.vsphere.owner"]`) == nil || c.read(twin, `config.extraConfig["a"]`) == nil {
		t.Fatal("a copy carries the mark")
	}
	c.do("markTemplate", obj{"vm": "copy"})
	if c.read(twin, "config.template") != true || c.read(twin, "resourcePool") != nil {
		t.Fatal("no template")
	}
	c.do("markVm", obj{"vm": "copy"})
	c.do("powerOn", obj{"vm": "copy", "wait": true})
	c.do("destroyVm", obj{"vm": "copy", "force": true, "wait": true})
	c.do("unregister", obj{"vm": "theirs"})
	if c.find("DC0/vm/slurm/copy") != nil || c.find("DC0/vm/slurm/theirs") != nil {
		t.Fatal("still there")
	}
	if c.counter("foreignTouches") != 0 || c.counter("mutating") != 1 || c.counter("disksDeleted") != 0 {
		t.Fatal(c.admin("GET", "counters", nil)) // the client sent only the clone
	}
}

func TestATouchIsHeldAgainstUsOnceItCouldBeKnown(t *testing.T) {
	c := start(t, nil).login()
	vm := c.ourVM("n1", "esx02", uuidA)
	pc := c.watch("VirtualMachine", "name", "parent", "config.hardware.device")
	v := c.wait(pc, "", 1, 0)["version"].(string)
	c.do("moveVm", obj{"vm": "n1", "wait": true})
	c.do("attachDisk", obj{"vm": "n1", "name": "[vsanDatastore] data/data.vmdk"})
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil)) // a race that no client can win
	c.ourVM("n2", "esx02", "50211e0a-0000-4000-8000-00000000000b")
	c.do("attachDisk", obj{"vm": "n2", "name": "[vsanDatastore] data/late.vmdk"})
	c.ok(c.vmOp(c.find("DC0/vm/slurm/n2"), "Destroy_Task", nil))
	if n := c.admin("GET", "counters", nil); n["foreignDisks"] != 1.0 || n["foreignKnownDisks"] != 0.0 {
		t.Fatal(n)
	}
	c.admin("POST", "counters/reset", nil)
	c.ok(c.vmOp(vm, "ReconfigVM_Task", obj{"spec": obj{"_typeName": "VirtualMachineConfigSpec"}}))
	if c.counter("foreignTouches") != 1 || c.counter("foreignKnownTouches") != 0 {
		t.Fatal(c.admin("GET", "counters", nil))
	}
	v = c.wait(pc, v, 1, 0)["version"].(string)
	c.wait(pc, v, 0, 0)
	time.Sleep(knownAfter + 50*time.Millisecond)
	c.ok(c.vmOp(vm, "PowerOffVM_Task", nil))
	c.ok(c.vmOp(vm, "ReconfigVM_Task", obj{"spec": obj{"_typeName": "VirtualMachineConfigSpec", "deviceChange": []any{obj{
		"_typeName": "VirtualDeviceConfigSpec", "operation": "remove", "fileOperation": "destroy",
		"device": obj{"_typeName": "VirtualDisk", "key": 2001, "capacityInKB": 1 << 20}}}}}))
	if c.counter("foreignDisks") != 1 {
		t.Fatal("a disk that was deleted by a reconfiguration doesn't count")
	}
	c.do("attachDisk", obj{"vm": "n1", "name": "[vsanDatastore] data/more.vmdk"})
	v = c.wait(pc, v, 1, 0)["version"].(string)
	c.wait(pc, v, 0, 0)
	time.Sleep(knownAfter + 50*time.Millisecond)
	c.ok(c.vmOp(vm, "Destroy_Task", nil))
	n := c.admin("GET", "counters", nil)
	if n["foreignKnownTouches"] != 3.0 || n["foreignDisks"] != 2.0 || n["foreignKnownDisks"] != 2.0 || n["disksDeleted"] != 2.0 || len(n["notes"].([]any)) != 6 {
		t.Fatal(n)
	}
}
