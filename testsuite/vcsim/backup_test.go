// SPDX-License-Identifier: GPL-2.0-or-later
// backup_test.go: vCenter restored from a backup.

package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestARestoredVCenterKnowsOnlyItsBackup(t *testing.T) {
	c := start(t, func(inv *inventory) {
		inv.Guest.Command = []string{"/bin/sh", "-c", `echo $$ > "$VM_DIR/pid"; exec sleep 300`}
	}).login()
	stays, goes, moved := c.clone("stays", "esx02", c.sriov(nil)), c.clone("goes", "esx02", obj{}), c.clone("moved", "esx03", obj{})
	c.ok(c.vmOp(goes, "PowerOnVM_Task", nil))
	uuid := c.prop(mor("ServiceInstance", "ServiceInstance"), "content").(obj)["about"].(obj)["instanceUuid"]
	c.do("backup", nil)
	c.do("rename", obj{"vm": "moved", "name": "goes2", "wait": true})
	c.do("moveVm", obj{"vm": "goes2", "wait": true})
	c.do("destroyVm", obj{"vm": "goes", "force": true, "wait": true})
	fresh := c.clone("goes", "esx04", c.sriov(nil)) // the name again, another VM
	for _, vm := range []obj{stays, fresh} {
		c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	}
	file, pid := filepath.Join(c.s.w.dir, "vms", fresh["value"].(string), "pid"), 0
	until(t, "boot", func() bool { pid = atoi(text(file)); return pid > 0 })
	held := c.vm("goes")["cards"].([]any)[1].(obj)["vf"]
	c.do("restoreBackup", obj{"duration": "400ms"})
	c.fails("NotAuthenticated", viewMgr, "CreateListView", obj{})
	c.login()
	old := c.find("DC0/vm/slurm/goes")
	if old["value"] != goes["value"] || c.read(old, "runtime.connectionState") != "disconnected" || c.read(old, "runtime.powerState") != "poweredOn" {
		t.Fatal("the deleted VM is not remembered", old)
	}
	if c.find("DC0/vm/slurm/moved")["value"] != moved["value"] || c.find("DC0/vm/goes2") != nil {
		t.Fatal("name and folder are not the backup's")
	}
	if l := c.read(c.find("DC0/host/HPC1/esx04"), "vm").([]any); len(l) != 0 {
		t.Fatal("its host is said to have it", l)
	}
	c.fails("ManagedObjectNotFound", fresh, "PowerOffVM_Task", nil)
	c.fails("HostNotConnected", stays, "PowerOffVM_Task", nil)
	if syscall.Kill(pid, 0) != nil {
		t.Fatal("a guest ended with vCenter's memory of it")
	}
	until(t, "resync", func() bool { return c.find("DC0/vm/Discovered virtual machine/goes") != nil })
	again := c.find("DC0/vm/Discovered virtual machine/goes")
	if again["value"] == fresh["value"] || c.read(again, "runtime.powerState") != "poweredOn" || c.hostOf(again) != "esx04" {
		t.Fatal("not what runs there", again)
	}
	if c.read(old, "runtime.connectionState") != "orphaned" || c.read(stays, "runtime.connectionState") != "connected" {
		t.Fatal("orphans are not told from the living")
	}
	c.fails("InvalidState", old, "PowerOffVM_Task", nil)
	for _, v := range c.admin("GET", "state", nil)["vms"].([]any) {
		if v.(obj)["moid"] == again["value"] && v.(obj)["cards"].([]any)[1].(obj)["vf"] != held {
			t.Fatal("its VF is another")
		}
	}
	c.call(old, "UnregisterVM", nil)
	c.ok(c.vmOp(again, "PowerOffVM_Task", nil))
	until(t, "the guest's end", func() bool { return syscall.Kill(pid, 0) != nil })
	c.ok(c.vmOp(again, "Destroy_Task", nil))
	if c.prop(mor("ServiceInstance", "ServiceInstance"), "content").(obj)["about"].(obj)["instanceUuid"] != uuid {
		t.Fatal("it is another vCenter")
	}
}

func TestWhatABackupLeavesOpenIsASwitch(t *testing.T) {
	c := start(t, nil).login()
	uuid := c.prop(mor("ServiceInstance", "ServiceInstance"), "content").(obj)["about"].(obj)["instanceUuid"]
	c.do("backup", nil)
	a := c.clone("n1", "esx02", obj{})
	c.do("restoreBackup", obj{"duration": "1ms", "reuseIds": true, "newInstanceUuid": true})
	c.login()
	until(t, "resync", func() bool { return c.find("DC0/vm/Discovered virtual machine/n1") != nil })
	ids := map[any]bool{c.find("DC0/vm/Discovered virtual machine/n1")["value"]: true}
	for i := 0; i < 3; i++ {
		ids[c.clone([]string{"x", "y", "z"}[i], "esx02", obj{})["value"]] = true
	}
	low := false
	for id := range ids {
		low = low || atoi(strings.TrimPrefix(id.(string), "vm-")) <= atoi(strings.TrimPrefix(a["value"].(string), "vm-"))
	}
	if len(ids) != 4 || !low {
		t.Fatal("ids are not used again, or twice", ids, a)
	}
	if c.prop(mor("ServiceInstance", "ServiceInstance"), "content").(obj)["about"].(obj)["instanceUuid"] == uuid {
		t.Fatal("it says to be the same vCenter")
	}
}
