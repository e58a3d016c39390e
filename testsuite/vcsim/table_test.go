// SPDX-License-Identifier: GPL-2.0-or-later
// table_test.go: the product's table of privileges against this simulator's list
// and against what the calls that the product makes need.

package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var placeOf = map[string]string{"ON_FOLDER": "folder", "FOR_NOTES": "folder", "FOR_PARENTS": "folder", "FOR_LINKED": "folder",
	"FOR_VMOTION": "folder", "FOR_POLICY": "root", "ON_POOL": "pool", "ON_TEMPLATE": "template", "ON_STORE": "store",
	"ON_NETWORK": "network", "ON_OWN_NETWORK": "network"}

// productTable reads the table of vcenter/client/rights.c: "privilege kind", sorted.
func productTable(t *testing.T) []string {
	text, err := os.ReadFile("../../src/common/vcenter/client/rights.c")
	if err != nil {
		t.Fatal(err)
	}
	var res []string
	for _, m := range regexp.MustCompile(`\{ "([\w.]+)", ([\w |]+),\s`).FindAllStringSubmatch(string(text), -1) {
		for _, flag := range strings.Split(m[2], " | ") {
			if flag == "0" {
				continue
			}
			if placeOf[flag] == "" {
				t.Fatalf("%s: what is %s?", m[1], flag)
			}
			res = append(res, m[1]+" "+placeOf[flag])
		}
	}
	slices.Sort(res)
	return slices.Compact(res)
}

// needed is what the calls so far took, in the same form.
func (c *client) needed() []string {
	var res []string
	for p, kinds := range c.admin("GET", "counters", nil)["needs"].(obj) {
		for _, k := range kinds.([]any) {
			res = append(res, fmt.Sprintf("%s %s", p, k))
		}
	}
	slices.Sort(res)
	return res
}

func TestTheProductsPrivilegesAreDocumented(t *testing.T) {
	known := map[string]bool{}
	for _, d := range documented {
		known[d[0]] = true
	}
	for _, row := range productTable(t) {
		if p, _, _ := strings.Cut(row, " "); !known[p] {
			t.Errorf("%s: no text says that there is such a privilege", p)
		}
	}
}

// The specs are of the product's kinds: see testsuite/golden for its own bodies.
func TestTheProductsTableIsWhatItsCallsNeed(t *testing.T) {
	role := map[string][]string{"folder": append([]string{"VirtualMachine.Config.Annotation", "VirtualMachine.State.CreateSnapshot",
		"VirtualMachine.Provisioning.Clone", "Resource.HotMigrate"}, leastRole["folder"]...),
		"root": {"StorageProfile.View", "System.View", "System.Read", "System.Anonymous"}}
	for k, v := range leastRole {
		if role[k] == nil {
			role[k] = v
		}
	}
	perms := append(leastPerms(), permSpec{User: slurmUser, Entity: "DC0/host/HPC1/Resources", Role: "pool"})
	perms[0].Role = "root"
	c := start(t, func(inv *inventory) { inv.Roles, inv.Permissions, inv.Policies = role, perms, []string{uuidA} }).login()

	// a node's VM, from clone to end
	cfg := c.sriov(nil)
	cfg["numCPUs"], cfg["instanceUuid"], cfg["annotation"] = 2, uuidA, "of Slurm"
	cfg["extraConfig"] = extra("slurm.vsphere.owner", "c1/n1/"+uuidA)
	vm := c.clone("n1", "esx02", cfg)
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	c.ok(c.vmOp(vm, "PowerOffVM_Task", nil))
	first := c.read(vm, "config.hardware.device").([]any)
	var nic obj
	for _, d := range first {
		if d.(obj)["_typeName"] == "VirtualVmxnet3" {
			nic = d.(obj)
		}
	}
	c.ok(c.reconfig(vm, obj{"memoryMB": 8192, "deviceChange": []any{obj{"_typeName": "VirtualDeviceConfigSpec", "operation": "edit",
		"device": obj{"_typeName": nic["_typeName"], "key": nic["key"], "backing": nic["backing"]}}}}))
	c.ok(c.vmOp(vm, "RelocateVM_Task", obj{"spec": obj{"_typeName": "VirtualMachineRelocateSpec", "host": c.find("DC0/host/HPC1/esx03"),
		"pool": c.find("DC0/host/HPC1/Resources")}}))
	c.ok(c.vmOp(vm, "Destroy_Task", nil))

	// a storage policy
	c.ok(c.call(c.find("DC0/vm/rhel9-ofed"), "CloneVM_Task", obj{"folder": c.find("DC0/vm/slurm"), "name": "n2",
		"spec": obj{"_typeName": "VirtualMachineCloneSpec", "template": false, "powerOn": false, "location": obj{
			"_typeName": "VirtualMachineRelocateSpec", "pool": c.find("DC0/host/HPC1/Resources/slurm"), "host": c.find("DC0/host/HPC1/esx02"),
			"profile": []any{obj{"_typeName": "VirtualMachineDefinedProfileSpec", "profileId": uuidA}}}}}))

	// a parent, its linked clone; vMotion
	parent := c.clone("p1", "esx02", obj{})
	c.ok(c.vmOp(parent, "CreateSnapshot_Task", obj{"name": "s", "memory": false, "quiesce": false}))
	c.ok(c.call(parent, "CloneVM_Task", obj{"folder": c.find("DC0/vm/slurm"), "name": "n3", "spec": obj{"_typeName": "VirtualMachineCloneSpec",
		"template": false, "powerOn": false, "location": obj{"_typeName": "VirtualMachineRelocateSpec",
			"pool": c.find("DC0/host/HPC1/Resources/slurm"), "host": c.find("DC0/host/HPC1/esx02")}}}))
	moves := c.clone("n4", "esx02", obj{})
	c.ok(c.vmOp(moves, "PowerOnVM_Task", nil))
	c.ok(c.vmOp(moves, "RelocateVM_Task", obj{"spec": obj{"_typeName": "VirtualMachineRelocateSpec", "host": c.find("DC0/host/HPC1/esx03")}}))

	want, got := productTable(t), c.needed()
	for _, row := range want {
		if !slices.Contains(got, row) {
			t.Errorf("no call needed %s, which the product asks for", row)
		}
	}
	for _, row := range got {
		if !slices.Contains(want, row) {
			t.Errorf("a call needed %s, which the product doesn't ask for", row)
		}
	}
}
