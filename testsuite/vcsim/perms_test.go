// SPDX-License-Identifier: GPL-2.0-or-later
// perms_test.go: what a user sees and may, and what he is told when he may not.

package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

const slurmUser = "slurm@vsphere.local"

// leastRole is what the manual page of vsphere.conf asks for.
var leastRole = map[string][]string{
	"folder": {"VirtualMachine.Inventory.CreateFromExisting", "VirtualMachine.Inventory.Delete", "VirtualMachine.Config.AddNewDisk",
		"VirtualMachine.Config.AddRemoveDevice", "VirtualMachine.Config.EditDevice", "VirtualMachine.Config.AdvancedConfig",
		"VirtualMachine.Config.CPUCount", "VirtualMachine.Config.Memory", "VirtualMachine.Config.Resource", "VirtualMachine.Config.Settings",
		"VirtualMachine.Interact.Power*", "Resource.ColdMigrate", "Resource.AssignVMToPool"},
	"pool":     {"Resource.AssignVMToPool"},
	"template": {"VirtualMachine.Provisioning.DeployTemplate"},
	"store":    {"Datastore.AllocateSpace"},
	"network":  {"Network.Assign"},
}

func leastPerms() []permSpec {
	no := false
	p := func(entity, role string) permSpec { return permSpec{User: slurmUser, Entity: entity, Role: role} }
	return []permSpec{p("", "ReadOnly"), p("DC0/vm/slurm", "folder"), p("DC0/host/HPC1/Resources/slurm", "pool"),
		{User: slurmUser, Entity: "DC0/vm/rhel9-ofed", Role: "template", Propagate: &no}, p("DC0/datastore/vsanDatastore", "store"),
		p("DC0/network/VM-PG", "network"), p("DC0/network/SRIOV-ROCE-PG", "network")}
}

func withPerms(perms []permSpec) func(*inventory) {
	return func(inv *inventory) { inv.Roles, inv.Permissions = leastRole, perms }
}

func TestTheLeastPrivilegesAreEnough(t *testing.T) {
	c := start(t, withPerms(leastPerms())).login()
	cfg := c.sriov(nil)
	cfg["numCPUs"], cfg["instanceUuid"] = 2, uuidA
	cfg["extraConfig"] = extra("slurm.vsphere.owner", "c1/n1/"+uuidA)
	vm := c.clone("n1", "esx02", cfg)
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	c.ok(c.vmOp(vm, "PowerOffVM_Task", nil))
	c.ok(c.vmOp(vm, "ReconfigVM_Task", obj{"spec": obj{"_typeName": "VirtualMachineConfigSpec", "memoryMB": 8192}}))
	c.ok(c.vmOp(vm, "RelocateVM_Task", obj{"spec": obj{"_typeName": "VirtualMachineRelocateSpec", "host": c.find("DC0/host/HPC1/esx03")}}))
	c.ok(c.vmOp(vm, "Destroy_Task", nil))
	for _, call := range [][2]string{{"PowerOffVM_Task", "VirtualMachine.Interact.PowerOff"}, {"Destroy_Task", "VirtualMachine.Inventory.Delete"}} {
		f := c.fails("NoPermission", c.find("DC0/vm/foreign1"), call[0], nil)
		if f["privilegeId"] != call[1] || f["object"].(obj)["value"] != c.find("DC0/vm/foreign1")["value"] {
			t.Fatal(f)
		}
	}
	if f := c.fails("NoPermission", c.find("DC0/host/HPC1/esx01"), "EnterMaintenanceMode_Task", obj{"timeout": 0}); f["privilegeId"] != "Host.Config.Maintenance" {
		t.Fatal(f)
	}
}

func TestEachMissingPrivilegeIsNamed(t *testing.T) {
	c := start(t, withPerms(leastPerms())).login()
	for role, list := range leastRole {
		for i, priv := range list {
			if strings.HasSuffix(priv, "Power*") || priv == "VirtualMachine.Config.EditDevice" || priv == "Resource.ColdMigrate" ||
				priv == "VirtualMachine.Inventory.Delete" || role == "folder" && priv == "Resource.AssignVMToPool" {
				continue // no matter for a clone
			}
			less := map[string][]string{}
			for k, v := range leastRole {
				less[k] = v
			}
			less[role] = append(append([]string{}, list[:i]...), list[i+1:]...)
			c.do("permissions", obj{"roles": less, "permissions": leastPerms()})
			cfg := c.sriov(nil)
			cfg["numCPUs"], cfg["instanceUuid"], cfg["extraConfig"] = 2, uuidA, extra("a", "b")
			cfg["_typeName"] = "VirtualMachineConfigSpec"
			f := c.fails("NoPermission", c.find("DC0/vm/rhel9-ofed"), "CloneVM_Task", obj{"folder": c.find("DC0/vm/slurm"), "name": "n1",
				"spec": obj{"_typeName": "VirtualMachineCloneSpec", "template": false, "powerOn": false, "config": cfg,
					"location": obj{"_typeName": "VirtualMachineRelocateSpec", "pool": c.find("DC0/host/HPC1/Resources/slurm"), "host": c.find("DC0/host/HPC1/esx02")}}})
			if f["privilegeId"] != priv || !strings.Contains(fmt.Sprint(f["missingPrivileges"]), priv) {
				t.Fatalf("without %s of %s: %v", priv, role, f)
			}
		}
	}
}

// What clones of a parent take besides: its own right on the source, and of linked
// ones the parent's snapshot.
func TestClonesOfAParentTakeRightsOfTheirOwn(t *testing.T) {
	c := start(t, nil).login()
	src := c.source("VirtualVmxnet3", "VM-PG")
	card := edited(c.nics(src)[0], nil)
	deeds := map[string]obj{
		"CreateSnapshot_Task": {"name": "s", "memory": false, "quiesce": false},
		"InstantClone_Task": {"spec": obj{"_typeName": "VirtualMachineInstantCloneSpec", "name": "n1", "location": obj{
			"_typeName": "VirtualMachineRelocateSpec", "folder": c.find("DC0/vm/slurm"), "pool": c.find("DC0/host/HPC1/Resources/slurm"),
			"deviceChange": []any{obj{"_typeName": "VirtualDeviceConfigSpec", "operation": "edit", "device": card}}}}},
	}
	wants := map[string]map[string]string{
		"CreateSnapshot_Task": {"VirtualMachine.State.CreateSnapshot": "folder"},
		"InstantClone_Task": {"VirtualMachine.Provisioning.Clone": "folder", "VirtualMachine.Interact.PowerOn": "folder",
			"VirtualMachine.Inventory.CreateFromExisting": "folder", "Resource.AssignVMToPool": "pool",
			"Datastore.AllocateSpace": "store", "Network.Assign": "network"},
	}
	roles := func(without, of string) map[string][]string {
		res := map[string][]string{}
		for k, v := range leastRole {
			res[k] = []string{"System.Read"}
			if k == "folder" { // in place of Power*
				v = append([]string{"VirtualMachine.Interact.PowerOn", "VirtualMachine.Provisioning.Clone", "VirtualMachine.State.CreateSnapshot"}, v...)
			}
			for _, p := range v {
				if !(k == of && (p == without || p == "VirtualMachine.Interact.Power*") || k == "folder" && p == without) {
					res[k] = append(res[k], p)
				}
			}
		}
		return res
	}
	for method, list := range wants {
		for priv, role := range list {
			c.do("permissions", obj{"roles": roles(priv, role), "permissions": leastPerms()})
			if f := c.fails("NoPermission", src, method, deeds[method]); f["privilegeId"] != priv {
				t.Fatalf("%s without %s: %v", method, priv, f)
			}
		}
		c.do("permissions", obj{"roles": roles("", ""), "permissions": leastPerms()})
		c.ok(c.call(src, method, deeds[method]))
	}
}

func TestAReadOnlyUserChangesNothing(t *testing.T) {
	c := start(t, withPerms([]permSpec{{User: slurmUser, Role: "ReadOnly"}})).login()
	vm, h := c.find("DC0/vm/foreign1"), c.find("DC0/host/HPC1/esx01")
	spec := obj{"_typeName": "VirtualMachineConfigSpec", "numCPUs": 1}
	for method, body := range map[string]obj{"PowerOnVM_Task": nil, "PowerOffVM_Task": nil, "Destroy_Task": nil, "ShutdownGuest": nil, "UnregisterVM": nil,
		"ReconfigVM_Task": {"spec": spec}, "Rename_Task": {"newName": "x"}, "MarkAsTemplate": nil,
		"MarkAsVirtualMachine": {"pool": c.find("DC0/host/HPC1/Resources")}, "CreateSnapshot_Task": {"name": "s", "memory": false, "quiesce": false},
		"RelocateVM_Task": {"spec": obj{"_typeName": "VirtualMachineRelocateSpec", "host": h}},
		"CloneVM_Task": {"folder": c.find("DC0/vm/slurm"), "name": "x", "spec": obj{"_typeName": "VirtualMachineCloneSpec", "template": false, "powerOn": false,
			"location": obj{"_typeName": "VirtualMachineRelocateSpec"}}}} {
		var b any
		if body != nil {
			b = body
		}
		c.fails("NoPermission", vm, method, b)
	}
	c.fails("NoPermission", h, "EnterMaintenanceMode_Task", obj{"timeout": 0})
	pc := c.watch("VirtualMachine", "name")
	if len(updates(c.wait(pc, "", 1, 0))) != 3 {
		t.Fatal("he can't read")
	}
}

func TestWhatMayNotBeReadIsNotThere(t *testing.T) {
	no := []permSpec{{User: slurmUser, Role: "ReadOnly"}, {User: slurmUser, Entity: "DC0/vm/foreign1", Role: "NoAccess"},
		{User: slurmUser, Entity: "DC0/host/HPC1/esx01", Role: "NoAccess"}}
	c := start(t, withPerms(no)).login()
	var vm, host obj
	for _, v := range c.admin("GET", "state", nil)["vms"].([]any) {
		if v.(obj)["name"] == "foreign1" {
			vm = mor("VirtualMachine", v.(obj)["moid"].(string))
		}
	}
	host = mor("HostSystem", c.admin("GET", "state", nil)["hosts"].([]any)[0].(obj)["moid"].(string))
	if c.find("DC0/vm/foreign1") != nil || c.find("DC0/host/HPC1/esx01") != nil {
		t.Fatal("found")
	}
	vms, hosts := c.watch("VirtualMachine", "name"), c.watch("HostSystem", "name")
	a, b := c.wait(vms, "", 1, 0), c.wait(hosts, "", 1, 0)
	if updates(a)[vm["value"].(string)] != nil || updates(b)[host["value"].(string)] != nil || len(updates(b)) != 3 {
		t.Fatal("seen", a, b)
	}
	res := c.call(defaultPC, "RetrievePropertiesEx", obj{"options": obj{}, "specSet": []any{obj{"_typeName": "PropertyFilterSpec",
		"propSet":   []any{obj{"_typeName": "PropertySpec", "type": "VirtualMachine", "pathSet": []any{"name", "runtime.host"}}},
		"objectSet": []any{obj{"_typeName": "ObjectSpec", "obj": vm}}}}}).(obj)["objects"].([]any)[0].(obj)
	if res["propSet"] != nil || len(res["missingSet"].([]any)) != 2 || !strings.Contains(fmt.Sprint(res["missingSet"]), "NoPermission") ||
		!strings.Contains(fmt.Sprint(res["missingSet"]), "System.Read") {
		t.Fatal(res)
	}
	walk := c.call(defaultPC, "RetrievePropertiesEx", obj{"options": obj{}, "specSet": []any{obj{"_typeName": "PropertyFilterSpec",
		"propSet": []any{obj{"_typeName": "PropertySpec", "type": "VirtualMachine", "pathSet": []any{"name"}}},
		"objectSet": []any{obj{"_typeName": "ObjectSpec", "obj": c.find("DC0/vm"), "skip": true, "selectSet": []any{
			obj{"_typeName": "TraversalSpec", "type": "Folder", "path": "childEntity", "skip": false}}}}}}}).(obj)
	if len(walk["objects"].([]any)) != 2 {
		t.Fatal(walk)
	}
	st, body, _ := c.raw(context.Background(), "GET", "/sdk/vim25/8.0.1.0/VirtualMachine/"+vm["value"].(string)+"/name", "")
	if _, f := c.decode(st, body); f != "NoPermission" {
		t.Fatal(string(body))
	}
	c.fails("NoPermission", vm, "PowerOffVM_Task", nil)
	list := c.call(viewMgr, "CreateListView", obj{}).(obj)
	if un := c.call(list, "ModifyListView", obj{"add": []any{vm}}); len(un.([]any)) != 1 {
		t.Fatal(un)
	}
	c.do("permissions", obj{"permissions": no[:1]})
	a = c.wait(vms, a["version"].(string), 1, 0)
	if o := updates(a)[vm["value"].(string)]; o == nil || o["kind"] != "enter" {
		t.Fatal(a)
	}
	c.do("permissions", obj{"permissions": no})
	a = c.wait(vms, a["version"].(string), 1, 0)
	if o := updates(a)[vm["value"].(string)]; o == nil || o["kind"] != "leave" {
		t.Fatal(a)
	}
}

func TestAFilterOnWhatMayNotBeReadSaysSo(t *testing.T) {
	no := []permSpec{{User: slurmUser, Role: "ReadOnly"}, {User: slurmUser, Entity: "DC0/vm/foreign1", Role: "NoAccess"}}
	c := start(t, withPerms(no[:1])).login()
	vm := c.find("DC0/vm/foreign1")
	pc := c.call(defaultPC, "CreatePropertyCollector", nil).(obj)
	c.call(pc, "CreateFilter", obj{"partialUpdates": false, "spec": obj{"_typeName": "PropertyFilterSpec",
		"propSet":   []any{obj{"_typeName": "PropertySpec", "type": "VirtualMachine", "pathSet": []any{"name"}}},
		"objectSet": []any{obj{"_typeName": "ObjectSpec", "obj": vm}}}})
	u := c.wait(pc, "", 1, 0)
	c.do("permissions", obj{"permissions": no})
	u = c.wait(pc, u["version"].(string), 1, 0)
	o := updates(u)[vm["value"].(string)]
	if len(o["changeSet"].([]any)) != 0 || len(o["missingSet"].([]any)) != 1 {
		t.Fatal(u)
	}
}

func TestListsOfReferencesAreFilteredByASwitch(t *testing.T) {
	for _, filter := range []bool{false, true} {
		c := start(t, func(inv *inventory) {
			withPerms([]permSpec{{User: slurmUser, Role: "ReadOnly"}, {User: slurmUser, Entity: "DC0/vm/foreign1", Role: "NoAccess"}})(inv)
			inv.FilterLists = filter
		}).login()
		n := len(c.read(c.find("DC0/host/HPC1/esx01"), "vm").([]any))
		if n != map[bool]int{false: 2, true: 1}[filter] {
			t.Fatal(filter, n)
		}
	}
}

func TestPrivilegesCanBeAskedFor(t *testing.T) {
	c := start(t, withPerms(leastPerms())).login()
	am := mor("AuthorizationManager", "AuthorizationManager")
	key := c.prop(sessionMgr, "currentSession").(obj)["key"]
	folder, vm := c.find("DC0/vm/slurm"), c.find("DC0/vm/foreign1")
	privs := []any{"VirtualMachine.Interact.PowerOn", "System.Read", "Host.Config.Maintenance"}
	want := `[map[isGranted:%v privId:VirtualMachine.Interact.PowerOn] map[isGranted:true privId:System.Read] map[isGranted:false privId:Host.Config.Maintenance]]`
	for i, res := range []any{c.call(am, "HasPrivilegeOnEntities", obj{"entity": []any{folder, vm}, "sessionId": key, "privId": privs}),
		c.call(am, "HasUserPrivilegeOnEntities", obj{"entities": []any{folder, vm}, "userName": `VSPHERE.LOCAL\slurm`, "privId": privs})} {
		for k, e := range res.([]any) {
			got := strings.ReplaceAll(fmt.Sprint(e.(obj)["privAvailability"]), "_typeName:PrivilegeAvailability ", "")
			if got != fmt.Sprintf(want, k == 0) {
				t.Fatal(i, k, got)
			}
		}
	}
	if r := c.call(am, "HasPrivilegeOnEntity", obj{"entity": vm, "sessionId": key, "privId": privs}); fmt.Sprint(r) != "[false true false]" {
		t.Fatal(r)
	}
	r := c.call(am, "FetchUserPrivilegeOnEntities", obj{"entities": []any{folder}, "userName": slurmUser}).([]any)[0].(obj)["privileges"]
	if s := fmt.Sprint(r); !strings.Contains(s, "VirtualMachine.Config.Memory") || strings.Contains(s, "Host.") || !strings.Contains(s, "System.View") {
		t.Fatal(s)
	}
}

func TestWrongPermissionsAreRefused(t *testing.T) {
	for _, p := range []permSpec{{User: slurmUser, Role: "Pope"}, {User: slurmUser, Entity: "DC1", Role: "Admin"}} {
		inv, err := loadInventory(demoFile)
		if err != nil {
			t.Fatal(err)
		}
		inv.Permissions = []permSpec{p}
		if _, err := newServer(inv, "127.0.0.1:0", t.TempDir()); err == nil || !strings.Contains(err.Error(), "permissions[0]") {
			t.Error(p, err)
		}
	}
}

func TestWhatComesWhereNobodyMayLookIsNotAnnounced(t *testing.T) {
	c := start(t, withPerms([]permSpec{{User: slurmUser, Role: "ReadOnly"}, {User: slurmUser, Entity: "DC0/vm/slurm", Role: "NoAccess"},
		{User: slurmUser, Entity: "DC0/host/HPC1", Role: "NoAccess"}})).login()
	pc := c.watch("VirtualMachine", "name")
	v := c.wait(pc, "", 1, 0)["version"].(string)
	c.do("addVm", obj{"spec": obj{"name": "hidden", "folder": "slurm", "host": "esx02"}})
	if u := c.wait(pc, v, 0, 0); u != nil {
		t.Fatal(u)
	}
	c.do("addVm", obj{"spec": obj{"name": "shown", "host": "esx02"}}) // by its folder
	if u := c.wait(pc, v, 1, 0); len(updates(u)) != 1 {
		t.Fatal(u)
	}
}

func TestDestroyTakesARightOnTheParentToo(t *testing.T) {
	c := start(t, func(inv *inventory) {
		inv.Roles = map[string][]string{"deleter": {"VirtualMachine.Inventory.Delete"}}
		inv.Permissions = []permSpec{{User: slurmUser, Role: "ReadOnly"}, {User: slurmUser, Entity: "DC0/vm/foreign1", Role: "deleter"}}
	}).login()
	if f := c.fails("NoPermission", c.find("DC0/vm/foreign1"), "Destroy_Task", nil); f["object"].(obj)["value"] != c.find("DC0/vm")["value"] {
		t.Fatal(f)
	}
}

func TestWhoMayOnlyViewReadsNoConfig(t *testing.T) {
	specs := []permSpec{{User: slurmUser, Role: "ReadOnly"}, {User: slurmUser, Entity: "DC0/vm/foreign1", Role: "View"}}
	c := start(t, withPerms(specs)).login()
	vm := c.find("DC0/vm/foreign1")
	if vm == nil {
		t.Fatal("not found")
	}
	res := c.call(defaultPC, "RetrievePropertiesEx", obj{"options": obj{}, "specSet": []any{obj{"_typeName": "PropertyFilterSpec",
		"propSet":   []any{obj{"_typeName": "PropertySpec", "type": "VirtualMachine", "pathSet": []any{"name", "config.changeVersion"}}},
		"objectSet": []any{obj{"_typeName": "ObjectSpec", "obj": vm}}}}}).(obj)["objects"].([]any)[0].(obj)
	if len(res["propSet"].([]any)) != 1 || len(res["missingSet"].([]any)) != 1 ||
		!strings.Contains(fmt.Sprint(res["missingSet"]), "System.Read") {
		t.Fatal(res)
	}
	vms := c.watch("VirtualMachine", "name", "config.template")
	a := c.wait(vms, "", 1, 0)
	if s := fmt.Sprint(updates(a)[fmt.Sprint(vm["value"])]); strings.Contains(s, "config.template") || !strings.Contains(s, "foreign1") {
		t.Fatal(s)
	}
	c.do("permissions", obj{"permissions": specs[:1]})
	a = c.wait(vms, a["version"].(string), 1, 0)
	if s := fmt.Sprint(updates(a)[fmt.Sprint(vm["value"])]); !strings.Contains(s, "config.template") {
		t.Fatal(s)
	}
}
