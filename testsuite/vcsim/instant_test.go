// SPDX-License-Identifier: GPL-2.0-or-later
// instant_test.go: instant clones, as InstantClone_Task is documented.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func (c *client) instantTask(src obj, name string, location obj, kv ...string) any {
	c.t.Helper()
	loc := obj{"_typeName": "VirtualMachineRelocateSpec", "folder": c.find("DC0/vm/slurm")}
	for k, v := range location {
		loc[k] = v
	}
	return c.call(src, "InstantClone_Task", obj{"spec": obj{"_typeName": "VirtualMachineInstantCloneSpec", "name": name, "location": loc,
		"biosUuid": "4211aaaa-0000-4000-8000-000000000009", "config": extra(kv...)}})
}

// source is a VM that is on, with a vmxnet3 NIC beside the template's.
func (c *client) source(kind, network string) obj {
	c.t.Helper()
	cfg := obj{"memoryMB": 1024, "extraConfig": extra("guestinfo.a", "1", "guestinfo.b", "2")}
	if kind != "" {
		cfg["deviceChange"] = []any{c.nic(kind, network, obj{})}
		cfg["memoryReservationLockedToMax"] = true
	}
	vm := c.clone("parent", "esx02", cfg)
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	return vm
}

func (c *client) disk(vm obj) (file string, parents int) {
	c.t.Helper()
	for _, d := range c.read(vm, "config.hardware.device").([]any) {
		if d.(obj)["_typeName"] != "VirtualDisk" {
			continue
		}
		b := d.(obj)["backing"].(obj)
		file = b["fileName"].(string)
		for p, ok := b["parent"].(obj); ok; p, ok = p["parent"].(obj) {
			parents++
		}
	}
	return file, parents
}

func TestAnInstantCloneIsOnWhereItsSourceIs(t *testing.T) {
	c := start(t, nil).login()
	src := c.source("VirtualVmxnet3", "VM-PG")
	card := c.read(src, "config.hardware.device").([]any)
	key := any(nil)
	for _, d := range card {
		if d.(obj)["_typeName"] == "VirtualVmxnet3" {
			key = d.(obj)["key"]
		}
	}
	edit := obj{"_typeName": "VirtualDeviceConfigSpec", "operation": "edit", "device": obj{"_typeName": "VirtualVmxnet3", "key": key,
		"addressType": "manual", "macAddress": "00:50:56:00:00:21"}}
	vm := c.ok(c.instantTask(src, "n1", obj{"deviceChange": []any{edit}}, "guestinfo.a", "", "guestinfo.b", "3")).(obj)
	if c.read(vm, "runtime.powerState") != "poweredOn" || c.read(vm, "runtime.host").(obj)["value"] != c.read(src, "runtime.host").(obj)["value"] {
		t.Fatal("not on, or elsewhere")
	}
	if a, b := c.read(vm, "runtime.bootTime"), c.read(src, "runtime.bootTime"); fmt.Sprint(a) != fmt.Sprint(b) || a == nil {
		t.Fatal(a, b)
	}
	if c.read(vm, `config.extraConfig["guestinfo.a"]`) != nil || !strings.Contains(fmt.Sprint(c.read(vm, `config.extraConfig["guestinfo.b"]`)), "value:3") {
		t.Fatal("extraConfig")
	}
	if u := c.read(vm, "config.uuid"); u != "4211aaaa-0000-4000-8000-000000000009" {
		t.Fatal(u)
	}
	if c.read(vm, "config.instanceUuid") == c.read(src, "config.instanceUuid") {
		t.Fatal("the source's instance uuid")
	}
	if !strings.Contains(fmt.Sprint(c.read(vm, "config.hardware.device")), "00:50:56:00:00:21") {
		t.Fatal("the NIC's address")
	}
	if c.find("DC0/vm/slurm/n1")["value"] != vm["value"] {
		t.Fatal("folder")
	}
	c.taskFault("DuplicateName", c.instantTask(src, "n1", nil))
}

func TestARunningSourceGetsADiskWithEachClone(t *testing.T) {
	c := start(t, nil).login()
	src := c.source("", "")
	for i := 1; i <= 3; i++ {
		c.ok(c.instantTask(src, fmt.Sprintf("n%d", i), nil))
		if file, parents := c.disk(src); parents != i || !strings.HasSuffix(file, fmt.Sprintf("parent-%06d.vmdk", i)) {
			t.Fatal(file, parents)
		}
	}
	c.s.w.mu.Lock()
	c.s.w.vms[ref{Type: "VirtualMachine", Value: src["value"].(string)}].setFrozen(true)
	c.s.w.mu.Unlock()
	c.ok(c.instantTask(src, "n4", nil))
	if _, parents := c.disk(src); parents != 3 {
		t.Fatal("a frozen source has got one too:", parents)
	}
	if _, parents := c.disk(c.find("DC0/vm/slurm/n4")); parents != 3 {
		t.Fatal("the clone shares the chain:", parents)
	}
}

func TestWhatCantBeForkedIsRefused(t *testing.T) {
	c := start(t, nil).login()
	for _, k := range [][2]string{{"VirtualSriovEthernetCard", "SRIOV-ROCE-PG"}, {"VirtualVmxnet3Vrdma", "PVRDMA-PG"}} {
		src := c.source(k[0], k[1])
		c.taskFault("DisallowedMigrationDeviceAttached", c.instantTask(src, "n1", nil))
		c.ok(c.vmOp(src, "PowerOffVM_Task", nil))
		c.ok(c.vmOp(src, "Destroy_Task", nil))
	}
	src := c.source("", "")
	spec := func(loc obj) obj {
		loc["_typeName"] = "VirtualMachineRelocateSpec"
		return obj{"spec": obj{"_typeName": "VirtualMachineInstantCloneSpec", "name": "n1", "location": loc}}
	}
	c.fails("InvalidArgument", src, "InstantClone_Task", spec(obj{"host": c.find("DC0/host/HPC1/esx02")}))
	c.fails("InvalidArgument", src, "InstantClone_Task", spec(obj{"datastore": c.read(src, "datastore").([]any)[0]}))
	c.fails("DisallowedMigrationDeviceAttached", src, "InstantClone_Task", spec(obj{"deviceChange": []any{c.nic("VirtualVmxnet3", "VM-PG", obj{})}}))
	c.fails("InvalidArgument", c.find("DC0/vm/rhel9"), "InstantClone_Task", spec(obj{}))
	c.ok(c.vmOp(src, "PowerOffVM_Task", nil))
	c.taskFault("InvalidPowerState", c.instantTask(src, "n1", nil))
	if c.find("DC0/vm/slurm/n1") != nil {
		t.Fatal("something was left")
	}
}

func TestACloneNeedsTheRoomOfItsSource(t *testing.T) {
	c := start(t, func(inv *inventory) {
		inv.Datacenters[0].VMs = nil
		h := &inv.Datacenters[0].Clusters[0].Hosts[0]
		h.MemoryMB, h.System = 1024*4+512, &systemSpec{MemoryMB: 1024} // without it the host would keep an eighth
	}).login()
	cfg := obj{"memoryMB": 1024, "memoryReservationLockedToMax": true}
	src := c.clone("parent", "esx02", cfg)
	c.ok(c.vmOp(src, "PowerOnVM_Task", nil))
	c.ok(c.instantTask(src, "n1", nil))
	c.ok(c.instantTask(src, "n2", nil))
	c.taskFault("InsufficientMemoryResourcesFault", c.instantTask(src, "n3", nil))
}

// A frozen guest makes no step; its clones continue from there, with its uptime.
func TestAFrozenGuestGoesOnInItsClones(t *testing.T) {
	hook := filepath.Join(t.TempDir(), "hook")
	script := `#!/bin/sh
if [ -n "${VM_FORKED:-}" ]; then
	echo "guestinfo.told=$(cat "$VM_FORKED/memory") up=$VM_UPTIME" >"$VM_DIR/guestinfo.set"
else
	echo remembered >"$VM_DIR/memory"; : >"$VM_DIR/frozen"
fi
sleep 300
`
	if err := os.WriteFile(hook, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	c := start(t, func(inv *inventory) { inv.Guest.Command = []string{hook} }).login()
	src := c.source("", "")
	until(t, "frozen", func() bool { return c.read(src, "runtime.instantCloneFrozen") == true })
	c.fails("ToolsUnavailable", src, "ShutdownGuest", nil)
	c.s.w.mu.Lock()
	v := c.s.w.vms[ref{Type: "VirtualMachine", Value: src["value"].(string)}]
	at := v.m.Runtime.BootTime.Add(-1000 * 1e9)
	v.m.Runtime.BootTime = &at
	c.s.w.mu.Unlock()
	vm := c.ok(c.instantTask(src, "n1", nil)).(obj)
	until(t, "the clone's words", func() bool {
		return strings.Contains(fmt.Sprint(c.read(vm, `config.extraConfig["guestinfo.told"]`)), "value:remembered up=100")
	})
	if c.read(vm, "runtime.instantCloneFrozen") == true || c.read(src, "runtime.instantCloneFrozen") != true {
		t.Fatal("who is frozen?")
	}
	c.ok(c.vmOp(src, "PowerOffVM_Task", nil))
	if c.read(src, "runtime.instantCloneFrozen") == true || c.read(vm, "runtime.powerState") != "poweredOn" {
		t.Fatal("off, and its clone with it")
	}
}
