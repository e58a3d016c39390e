// SPDX-License-Identifier: GPL-2.0-or-later
// directpath_test.go: devices that a VM names by their address.

package main

import (
	"strings"
	"testing"
)

const fpga = "0000:65:00.0"

// fpgas gives two hosts an FPGA at the same address, one of them another that
// passthrough isn't enabled for.
func fpgas(inv *inventory) {
	cl := &inv.Datacenters[0].Clusters[0]
	no := false
	second := cl.Hosts[0]
	second.Name, second.Count = "second", 0
	cl.Hosts[0].Devices = []pciSpec{{Pci: fpga, Vendor: 0x10ee, Device: 0x5000, Name: "U250"},
		{Pci: "0000:ca:00.0", Vendor: 0x10ee, Device: 0x5000, Name: "U250", Enabled: &no}}
	second.Devices = []pciSpec{{Pci: fpga, Vendor: 0x10ee, Device: 0x5000, Name: "U250"}}
	cl.Hosts = append(cl.Hosts, second)
}

// target asks a host for its devices: address to systemId.
func (c *client) target(host string) map[string]string {
	eb := c.prop(c.find("DC0/host/HPC1"), "environmentBrowser").(obj)
	res := map[string]string{}
	list, _ := c.call(eb, "QueryConfigTarget", obj{"host": c.find("DC0/host/HPC1/" + host)}).(obj)["pciPassthrough"].([]any)
	for _, d := range list {
		d := d.(obj)
		res[d["pciDevice"].(obj)["id"].(string)] = d["systemId"].(string)
	}
	return res
}

func fixed(id, device, system string) obj {
	return obj{"memoryMB": 4096, "memoryReservationLockedToMax": true, "deviceChange": []any{obj{"_typeName": "VirtualDeviceConfigSpec",
		"operation": "add", "device": obj{"_typeName": "VirtualPCIPassthrough", "key": -102, "backing": obj{
			"_typeName": "VirtualPCIPassthroughDeviceBackingInfo", "deviceName": "U250", "id": id,
			"deviceId": device, "systemId": system, "vendorId": 0x10ee}}}}}
}

func TestAFixedDeviceIsTheHostsOwn(t *testing.T) {
	c := start(t, fpgas).login()
	here, there := c.target("esx01"), c.target("second")
	if len(here) != 1 || len(there) != 1 || here[fpga] == "" || here[fpga] == there[fpga] {
		t.Fatal(here, there)
	}
	for what, cfg := range map[string]obj{"no such device": fixed("0000:66:00.0", "5000", here[fpga]),
		"another host's systemId": fixed(fpga, "5000", there[fpga]), "BYPASS": fixed(fpga, "5000", "BYPASS"),
		"another device id": fixed(fpga, "5001", here[fpga]), "no hex": fixed(fpga, "20480", here[fpga])} {
		if _, text := c.taskFault("InvalidDeviceBacking", c.cloneTask("bad", "esx01", cfg)); text == "" {
			t.Fatal(what)
		}
	}
	vm := c.clone("n1", "esx01", fixed(fpga, "5000", here[fpga]))
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	if used := c.counter("powerOnFullPF"); used != 0 {
		t.Fatal(used)
	}
}

func TestAFixedDeviceBelongsToOneVM(t *testing.T) {
	c := start(t, fpgas).login()
	sys := c.target("esx01")[fpga]
	first, second := c.clone("n1", "esx01", fixed(fpga, "5000", sys)), c.clone("n2", "esx01", fixed(fpga, "5000", sys))
	c.ok(c.vmOp(first, "PowerOnVM_Task", nil))
	_, text := c.taskFault("GenericVmConfigFault", c.vmOp(second, "PowerOnVM_Task", nil))
	if !strings.Contains(text, "Device 65:00.0 is already in use") {
		t.Fatal(text)
	}
	if n := c.counter("powerOnFullPF"); n != 1 {
		t.Fatalf("powerOnFullPF=%d", n)
	}
	c.ok(c.vmOp(first, "PowerOffVM_Task", nil))
	c.ok(c.vmOp(second, "PowerOnVM_Task", nil))
	c.taskFault("GenericVmConfigFault", c.vmOp(second, "CreateSnapshot_Task", obj{"name": "s", "memory": false, "quiesce": false}))
}

func TestAFixedDeviceMustBeEnabledAndItsMemoryReserved(t *testing.T) {
	c := start(t, fpgas).login()
	sys := c.target("esx01")[fpga]
	vm := c.clone("n1", "esx01", fixed("0000:ca:00.0", "5000", sys))
	_, text := c.taskFault("GenericVmConfigFault", c.vmOp(vm, "PowerOnVM_Task", nil))
	if !strings.Contains(text, "Failed to register the device pciPassthru0 for 0000:ca:00.0") {
		t.Fatal(text)
	}
	cfg := fixed(fpga, "5000", sys)
	cfg["memoryReservationLockedToMax"] = false
	_, text = c.taskFault("GenericVmConfigFault", c.vmOp(c.clone("n2", "esx01", cfg), "PowerOnVM_Task", nil))
	if !strings.Contains(text, "memory reservation") {
		t.Fatal(text)
	}
}

func TestAVMWithAFixedDeviceStaysOnItsHost(t *testing.T) {
	c := start(t, fpgas).login()
	vm := c.clone("n1", "esx01", fixed(fpga, "5000", c.target("esx01")[fpga]))
	to := obj{"spec": obj{"_typeName": "VirtualMachineRelocateSpec", "host": c.find("DC0/host/HPC1/second")}}
	c.taskFault("CannotAccessVmDevice", c.vmOp(vm, "RelocateVM_Task", to))
	remove := func(kind string) any {
		return c.reconfigure(vm, obj{"deviceChange": []any{
			obj{"_typeName": "VirtualDeviceConfigSpec", "operation": "remove", "device": obj{"_typeName": kind, "key": 13000}}}})
	}
	for _, kind := range []string{"VirtualDevice", "VirtualSriovEthernetCard"} { // by its own type alone
		if f, _ := c.taskFault("InvalidDeviceSpec", remove(kind)); f["property"] != "device" {
			t.Fatal(f)
		}
	}
	c.ok(remove("VirtualPCIPassthrough"))
	c.ok(c.vmOp(vm, "RelocateVM_Task", to))
}
