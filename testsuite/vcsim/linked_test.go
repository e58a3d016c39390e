// SPDX-License-Identifier: GPL-2.0-or-later

package main

import (
	"strings"
	"testing"
	"time"
)

// linkedOf asks for a linked clone of a VM's current snapshot.
func (c *client) linkedOf(parent obj, name, host string) any {
	snap := c.read(parent, "snapshot").(obj)["currentSnapshot"].(obj)
	return c.call(parent, "CloneVM_Task", obj{"folder": c.find("DC0/vm/slurm"), "name": name, "spec": obj{
		"_typeName": "VirtualMachineCloneSpec", "template": false, "powerOn": false, "snapshot": snap,
		"location": obj{"_typeName": "VirtualMachineRelocateSpec", "diskMoveType": "createNewChildDiskBacking",
			"pool": c.find("DC0/host/HPC1/Resources/slurm"), "host": c.find("DC0/host/HPC1/" + host)}}})
}

func (c *client) snap(vm obj, name string) {
	c.ok(c.vmOp(vm, "CreateSnapshot_Task", obj{"name": name, "memory": false, "quiesce": false}))
}

// chain lists the files of the first disk, its own first.
func (c *client) chain(vm obj) []string {
	var res []string
	for _, d := range c.read(vm, "config.hardware.device").([]any) {
		if d.(obj)["_typeName"] != "VirtualDisk" {
			continue
		}
		for b := d.(obj)["backing"]; b != nil; b = b.(obj)["parent"] {
			res = append(res, b.(obj)["fileName"].(string))
		}
		return res
	}
	return nil
}

func TestALinkedCloneStandsOnItsParentsDisks(t *testing.T) {
	c := start(t, nil).login()
	parent := c.clone("p", "esx01", obj{})
	was := c.read(parent, "config.changeVersion")
	c.snap(parent, "base")
	if c.read(parent, "config.changeVersion") == was {
		t.Fatal("a snapshot changes the disks, and so the configuration")
	}
	own := c.chain(parent)
	if len(own) != 2 || own[1] != "[vsanDatastore] p/p.vmdk" {
		t.Fatal(own)
	}
	child := c.ok(c.linkedOf(parent, "n1", "esx02")).(obj)
	if got := c.chain(child); len(got) != 2 || got[0] != "[vsanDatastore] n1/n1.vmdk" || got[1] != own[1] {
		t.Fatal(got)
	}
	// a second snapshot stands above the first, whose children stay as they are
	c.snap(parent, "more")
	tree := c.read(parent, "snapshot").(obj)["rootSnapshotList"].([]any)
	if len(tree) != 1 || len(tree[0].(obj)["childSnapshotList"].([]any)) != 1 {
		t.Fatal(tree)
	}
	// a full clone stands on nothing
	if got := c.chain(c.ok(c.call(parent, "CloneVM_Task", obj{"folder": c.find("DC0/vm/slurm"), "name": "full",
		"spec": obj{"_typeName": "VirtualMachineCloneSpec", "template": false, "powerOn": false,
			"location": obj{"_typeName": "VirtualMachineRelocateSpec"}}})).(obj)); len(got) != 1 {
		t.Fatal(got)
	}
}

func TestDestroyingAParentBreaksItsChildren(t *testing.T) {
	for _, foreign := range []bool{false, true} {
		c := start(t, nil).login()
		parent := c.clone("p", "esx01", obj{})
		c.snap(parent, "base")
		child := c.ok(c.linkedOf(parent, "n1", "esx02")).(obj)
		other := c.ok(c.linkedOf(parent, "n2", "esx02")).(obj)
		c.ok(c.vmOp(other, "Destroy_Task", nil)) // a child leaves nothing behind
		if n := c.counter("brokenChildren"); n != 0 {
			t.Fatal(n)
		}
		if foreign {
			c.do("destroyVm", obj{"vm": "p", "wait": true})
		} else {
			c.ok(c.vmOp(parent, "Destroy_Task", nil))
		}
		if n := c.counter("brokenChildren"); n != map[bool]int{false: 1, true: 0}[foreign] {
			t.Fatal(foreign, n)
		}
		_, text := c.taskFault("FileNotFound", c.vmOp(child, "PowerOnVM_Task", nil))
		if !strings.Contains(text, "[vsanDatastore] p/p.vmdk") {
			t.Fatal(text)
		}
		c.ok(c.vmOp(child, "Destroy_Task", nil))
	}
}

func TestSnapshotsThatAreRemovedLeaveTheChildren(t *testing.T) {
	c := start(t, nil).login()
	parent := c.clone("p", "esx01", obj{})
	c.snap(parent, "base")
	child := c.ok(c.linkedOf(parent, "n1", "esx02")).(obj)
	c.do("removeSnapshots", obj{"vm": "p"})
	if s := c.read(parent, "snapshot"); s != nil {
		t.Fatal(s)
	}
	if got := c.chain(parent); len(got) != 1 || got[0] != "[vsanDatastore] p/p.vmdk" {
		t.Fatal(got)
	}
	c.ok(c.vmOp(child, "PowerOnVM_Task", nil))
}

// Published for 6.x and 7.x: a host has 16 units, a full clone takes 4.
func TestAHostBearsFourFullClonesOrSixteenLinkedOnes(t *testing.T) {
	c := start(t, func(inv *inventory) {
		inv.TaskSlots.Units = 16
		inv.Durations["CloneVM_Task"] = Dur(time.Minute)
		inv.Durations["CloneVM_Task/linked"] = Dur(50 * time.Second)
	}).login()
	running := func(tasks []any) (n int) {
		for _, tk := range tasks {
			if c.prop(tk.(obj), "info").(obj)["state"] == "running" {
				n++
			}
		}
		return n
	}
	c.do("setDuration", obj{"name": "CloneVM_Task", "duration": "1ms"})
	parent := c.clone("p", "esx01", obj{})
	c.snap(parent, "base")
	c.do("setDuration", obj{"name": "CloneVM_Task", "duration": "1m"})
	var full, many []any
	for i := 0; i < 6; i++ {
		full = append(full, c.cloneTask("f"+string(rune('a'+i)), "esx02", obj{}))
	}
	if n := running(full); n != 4 {
		t.Fatal(n)
	}
	for _, tk := range full {
		c.call(tk.(obj), "CancelTask", nil)
	}
	for i := 0; i < 18; i++ {
		many = append(many, c.linkedOf(parent, "l"+string(rune('a'+i)), "esx02"))
	}
	if n := running(many); n != 16 {
		t.Fatal(n)
	}
}
