// SPDX-License-Identifier: GPL-2.0-or-later
// hostdev_test.go: devices that a host hands to VMs whole.

package main

import (
	"strings"
	"testing"
)

// gpus gives the hosts two GPUs each, one of them labelled; a third waits for
// a reboot. The host "bare" has none.
func gpus(inv *inventory) {
	cl := &inv.Datacenters[0].Clusters[0]
	bare := cl.Hosts[0]
	bare.Name, bare.Count = "bare", 0
	cl.Hosts = append(cl.Hosts, bare)
	h := &cl.Hosts[0]
	h.Devices = []pciSpec{{Pci: "0000:65:00.0", Vendor: 0x10de, Device: 0x20b0, Name: "A100"},
		{Pci: "0000:ca:00.0", Vendor: 0x10de, Device: 0x20b0, Name: "A100", Label: "b"},
		{Pci: "0000:e3:00.0", Vendor: 0x10de, Device: 0x20b0, Name: "A100", Reboot: true}}
}

func gpu(more obj) obj {
	b := obj{"_typeName": "VirtualPCIPassthroughDynamicBackingInfo", "deviceName": "",
		"allowedDevice": []any{obj{"_typeName": "VirtualPCIPassthroughAllowedDevice", "vendorId": 0x10de, "deviceId": 0x20b0}}}
	for k, v := range more {
		b[k] = v
	}
	return obj{"memoryMB": 4096, "memoryReservationLockedToMax": true, "deviceChange": []any{obj{"_typeName": "VirtualDeviceConfigSpec",
		"operation": "add", "device": obj{"_typeName": "VirtualPCIPassthrough", "key": -102, "backing": b}}}}
}

func TestADynamicDeviceBelongsToOneVM(t *testing.T) {
	c := start(t, gpus).login()
	host := "esx01"
	first, second := c.clone("n1", host, gpu(nil)), c.clone("n2", host, gpu(obj{"customLabel": "b"}))
	third := c.clone("n3", host, gpu(nil))
	c.ok(c.vmOp(second, "PowerOnVM_Task", nil))
	c.ok(c.vmOp(first, "PowerOnVM_Task", nil))
	_, text := c.taskFault("InsufficientResourcesFault", c.vmOp(third, "PowerOnVM_Task", nil))
	if !strings.Contains(text, "One or more devices (pciPassthru0) required by VM n3 are not available") {
		t.Fatal(text)
	}
	if n := c.counter("powerOnFullPF"); n != 1 {
		t.Fatalf("powerOnFullPF=%d", n)
	}
	for _, d := range c.read(first, "config.hardware.device").([]any) {
		if d.(obj)["_typeName"] == "VirtualPCIPassthrough" && d.(obj)["backing"].(obj)["assignedId"] != "pciPassthru:0000:65:00.0" {
			t.Fatal(d)
		}
	}
	c.ok(c.vmOp(first, "PowerOffVM_Task", nil))
	c.ok(c.vmOp(third, "PowerOnVM_Task", nil))
	c.taskFault("GenericVmConfigFault", c.vmOp(third, "CreateSnapshot_Task", obj{"name": "s", "memory": false, "quiesce": false}))
}

func TestADeviceThatNobodyHasOrAllows(t *testing.T) {
	c := start(t, gpus).login()
	vm := c.clone("n1", "bare", gpu(nil))
	c.taskFault("InsufficientResourcesFault", c.vmOp(vm, "PowerOnVM_Task", nil))
	vm = c.clone("n2", "esx01", gpu(obj{"customLabel": "none has this"}))
	c.taskFault("InsufficientResourcesFault", c.vmOp(vm, "PowerOnVM_Task", nil))
	c.taskFault("InvalidDeviceSpec", c.cloneTask("n3", "esx01", gpu(obj{"allowedDevice": []any{}})))
	cfg := gpu(nil)
	cfg["memoryReservationLockedToMax"] = false
	vm = c.clone("n4", "esx01", cfg)
	_, text := c.taskFault("GenericVmConfigFault", c.vmOp(vm, "PowerOnVM_Task", nil))
	if !strings.Contains(text, "memory reservation") {
		t.Fatal(text)
	}
}

func TestADynamicDeviceWantsHardwareVersion17(t *testing.T) {
	c := start(t, func(inv *inventory) {
		gpus(inv)
		for i := range inv.Datacenters[0].Templates {
			inv.Datacenters[0].Templates[i].HardwareVersion = "vmx-14"
		}
	}).login()
	c.taskFault("DeviceUnsupportedForVmVersion", c.cloneTask("n1", "esx01", gpu(nil)))
}

func TestLargeBarsWantEfiAndAWindow(t *testing.T) {
	for _, firmware := range []string{"bios", "efi"} {
		c := start(t, func(inv *inventory) {
			gpus(inv)
			inv.Datacenters[0].Clusters[0].Hosts[0].Devices[0].BarGB = 80
			for i := range inv.Datacenters[0].Templates {
				inv.Datacenters[0].Templates[i].Firmware = firmware
			}
		}).login()
		for size, good := range map[string]bool{"": false, "64": false, "100": false, "128": firmware == "efi"} {
			cfg := gpu(nil)
			if size != "" {
				cfg["extraConfig"] = []any{option("pciPassthru.use64bitMMIO", "TRUE"), option("pciPassthru.64bitMMIOSizeGB", size)}
			}
			vm := c.clone("n"+size, "esx01", cfg)
			if task := c.vmOp(vm, "PowerOnVM_Task", nil); good {
				c.ok(task)
				c.ok(c.vmOp(vm, "PowerOffVM_Task", nil))
			} else {
				c.taskFault("GenericVmConfigFault", task)
			}
		}
	}
}

func option(key, value string) obj {
	return obj{"_typeName": "OptionValue", "key": key, "value": obj{"_typeName": "string", "_value": value}}
}
