// SPDX-License-Identifier: GPL-2.0-or-later
// ports_test.go: ports of distributed switches, and what setting `connectable` takes.

package main

import "testing"

// nics are a VM's NICs as they are shown.
func (c *client) nics(vm obj) []obj {
	c.t.Helper()
	var res []obj
	for _, d := range c.read(vm, "config.hardware.device").([]any) {
		if d.(obj)["macAddress"] != nil {
			res = append(res, d.(obj))
		}
	}
	return res
}

// edited is what an edit of a NIC says: type, key, network, address and no more.
func edited(card, more obj) obj {
	port := card["backing"].(obj)["port"].(obj)
	d := obj{"_typeName": card["_typeName"], "key": card["key"], "addressType": "manual", "macAddress": "00:50:56:01:02:03",
		"backing": obj{"_typeName": card["backing"].(obj)["_typeName"], "port": obj{
			"_typeName": "DistributedVirtualSwitchPortConnection", "switchUuid": port["switchUuid"], "portgroupKey": port["portgroupKey"]}}}
	for k, v := range more {
		d[k] = v
	}
	return d
}

func edit(device obj) obj {
	return obj{"deviceChange": []any{obj{"_typeName": "VirtualDeviceConfigSpec", "operation": "edit", "device": device}}}
}

func port(card obj) string {
	key, _ := card["backing"].(obj)["port"].(obj)["portKey"].(string)
	return key
}

func (c *client) reconfigure(vm, spec obj) any {
	c.t.Helper()
	spec["_typeName"] = "VirtualMachineConfigSpec"
	return c.vmOp(vm, "ReconfigVM_Task", obj{"spec": spec})
}

func TestEachCardOnASwitchHasAPortOfItsOwn(t *testing.T) {
	c := start(t, nil).login()
	tmpl, seen := c.find("DC0/vm/rhel9-ofed"), map[string]bool{}
	n1, n2 := c.clone("n1", "esx02", c.sriov(nil)), c.clone("n2", "esx02", edit(edited(c.nics(tmpl)[0], nil)))
	for _, vm := range []obj{tmpl, n1, n2} {
		for _, card := range c.nics(vm) {
			id := card["backing"].(obj)["port"].(obj)["switchUuid"].(string) + port(card)
			if port(card) == "" || card["backing"].(obj)["port"].(obj)["connectionCookie"] == nil || seen[id] {
				t.Fatalf("%v %v", vm, card)
			}
			seen[id] = true
		}
	}
	if len(seen) != 4 {
		t.Fatal(seen)
	}
	was := port(c.nics(n2)[0])
	c.ok(c.reconfigure(n2, edit(edited(c.nics(n2)[0], nil))))
	if now := port(c.nics(n2)[0]); now != was {
		t.Fatalf("port %s became %s", was, now)
	}
}

func TestAPortOfAnotherVMIsRefused(t *testing.T) {
	c := start(t, nil).login()
	theirs := c.nics(c.find("DC0/vm/rhel9-ofed"))[0]
	f, text := c.taskFault("ResourceInUse", c.cloneTask("n1", "esx02", edit(edited(theirs, obj{"backing": theirs["backing"]}))))
	if f["name"] != port(theirs) || text != "The resource '"+port(theirs)+"' is in use." {
		t.Fatal(f, text)
	}
	vm := c.clone("n2", "esx02", obj{})
	ours := c.nics(vm)[0]
	c.taskFault("ResourceInUse", c.reconfigure(vm, edit(edited(ours, obj{"backing": theirs["backing"]}))))
	c.ok(c.reconfigure(vm, edit(edited(ours, obj{"backing": ours["backing"]}))))
	src := c.source("VirtualVmxnet3", "VM-PG")
	body := func(card obj) obj {
		return obj{"spec": obj{"_typeName": "VirtualMachineInstantCloneSpec", "name": "n3", "location": obj{
			"_typeName": "VirtualMachineRelocateSpec", "folder": c.find("DC0/vm/slurm"), "deviceChange": edit(card)["deviceChange"]}}}
	}
	card := c.nics(src)[0]
	c.taskFault("ResourceInUse", c.vmOp(src, "InstantClone_Task", body(edited(card, obj{"backing": card["backing"]}))))
	c.ok(c.vmOp(src, "InstantClone_Task", body(edited(card, nil))))
}

func TestSettingConnectableTakesAPrivilege(t *testing.T) {
	c := start(t, withPerms(leastPerms())).login()
	connect := obj{"connectable": obj{"_typeName": "VirtualDeviceConnectInfo", "startConnected": true, "allowGuestControl": true, "connected": false}}
	vm := c.clone("n1", "esx02", obj{})
	spec := edit(edited(c.nics(vm)[0], connect))
	spec["_typeName"] = "VirtualMachineConfigSpec"
	f := c.fails("NoPermission", vm, "ReconfigVM_Task", obj{"spec": spec})
	if f["privilegeId"] != "VirtualMachine.Interact.DeviceConnection" {
		t.Fatal(f)
	}
	spec = obj{"_typeName": "VirtualMachineConfigSpec", "deviceChange": []any{c.nic("VirtualVmxnet3", "VM-PG", connect)}}
	if f = c.fails("NoPermission", vm, "ReconfigVM_Task", obj{"spec": spec}); f["privilegeId"] != "VirtualMachine.Interact.DeviceConnection" {
		t.Fatal(f)
	}
	c.ok(c.reconfigure(vm, obj{"deviceChange": []any{c.nic("VirtualVmxnet3", "VM-PG", nil)}}))
	c.ok(c.reconfigure(vm, edit(edited(c.nics(vm)[0], nil))))
}
