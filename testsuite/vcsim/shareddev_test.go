// SPDX-License-Identifier: GPL-2.0-or-later
// shareddev_test.go: vGPUs and DVX devices, as the simulator hands them out.

package main

import (
	"fmt"
	"sort"
	"strings"
	"testing"
)

const fpgaClass = "com.vendor.fpga"

// shares gives the hosts two GPUs and a DVX class; "bare" has neither, and
// "wrong" a GPU in another mode.
func shares(inv *inventory) {
	cl := &inv.Datacenters[0].Clusters[0]
	bare, wrong := cl.Hosts[0], cl.Hosts[0]
	bare.Name, bare.Count = "bare", 0
	wrong.Name, wrong.Count = "wrong", 0
	a100 := gpuSpec{Pci: "0000:65:00.0", Name: "NVIDIA A100-PCIE-40GB", Device: 0x20f1, MemoryGB: 40,
		Profiles: map[string][]int{"nvidia_a100-20c": {2, 2}, "nvidia_a100-40c": {1, 1}, "nvidia_a100-1-5c": {7, 7}}}
	other, graphics := a100, a100
	other.Pci, graphics.Type = "0000:ca:00.0", "shared"
	wrong.Gpus = []gpuSpec{graphics}
	cl.Hosts[0].Gpus = []gpuSpec{a100, other}
	cl.Hosts[0].Dvx = []dvxSpec{{Class: fpgaClass, Instances: 2, Needs: []string{"queues"}}}
	cl.Hosts = append(cl.Hosts, bare, wrong)
}

func sharedVM(backing obj) obj {
	return obj{"memoryMB": 4096, "memoryReservationLockedToMax": true, "deviceChange": []any{pciDev(backing)}}
}

func vgpuOf(profile string) obj {
	return sharedVM(obj{"_typeName": "VirtualPCIPassthroughVmiopBackingInfo", "vgpu": profile})
}

func dvxOf(params ...string) obj {
	list := []any{}
	for _, p := range params {
		list = append(list, obj{"_typeName": "OptionValue", "key": p, "value": obj{"_typeName": "string", "_value": "8"}})
	}
	return sharedVM(obj{"_typeName": "VirtualPCIPassthroughDvxBackingInfo", "deviceClass": fpgaClass, "configParams": list})
}

func (c *client) switchOn(name, host string, cfg obj) any {
	c.t.Helper()
	return c.vmOp(c.clone(name, host, cfg), "PowerOnVM_Task", nil)
}

func TestAGPURunsOneProfileAtATime(t *testing.T) {
	c := start(t, shares).login()
	whole := c.clone("whole", "esx01", vgpuOf("nvidia_a100-40c"))
	c.ok(c.vmOp(whole, "PowerOnVM_Task", nil))
	for _, name := range []string{"a", "b"} {
		c.ok(c.switchOn(name, "esx01", vgpuOf("nvidia_a100-20c")))
	}
	third := c.clone("third", "esx01", vgpuOf("nvidia_a100-20c"))
	_, text := c.taskFault("InsufficientGraphicsResourcesFault", c.vmOp(third, "PowerOnVM_Task", nil))
	if !strings.Contains(text, "graphics resource") {
		t.Fatal(text)
	}
	c.ok(c.vmOp(whole, "PowerOffVM_Task", nil))
	c.ok(c.vmOp(third, "PowerOnVM_Task", nil))
	if n := c.counter("powerOnFullPF"); n != 1 {
		t.Fatalf("powerOnFullPF=%d", n)
	}
	h := c.find("DC0/host/HPC1/esx01")
	vms := 0
	for _, g := range c.read(h, "config.graphicsInfo").([]any) {
		if list, ok := g.(obj)["vm"].([]any); ok {
			vms += len(list)
		}
	}
	if vms != 3 {
		t.Fatalf("%d VMs have a GPU, by the host", vms)
	}
}

func TestOneProfileSpreadsOverGPUs(t *testing.T) {
	c := start(t, shares).login()
	for _, name := range []string{"a", "b"} {
		c.ok(c.switchOn(name, "esx01", vgpuOf("nvidia_a100-20c")))
	}
	c.taskFault("InsufficientGraphicsResourcesFault", c.switchOn("whole", "esx01", vgpuOf("nvidia_a100-40c")))
}

func TestAVGPUWantsItsHostInTheMode(t *testing.T) {
	c := start(t, shares).login()
	for _, host := range []string{"bare", "wrong"} {
		c.taskFault("InsufficientGraphicsResourcesFault", c.switchOn("on-"+host, host, vgpuOf("nvidia_a100-40c")))
	}
	c.taskFault("InsufficientGraphicsResourcesFault", c.switchOn("unknown", "esx01", vgpuOf("nvidia_a100-80c")))
	c.taskFault("InvalidDeviceSpec", c.cloneTask("none", "esx01", vgpuOf("")))
	if l := c.read(c.find("DC0/host/HPC1/wrong"), "config.sharedPassthruGpuTypes"); l != nil {
		t.Fatal(l)
	}
}

func TestADvxDeviceIsOneOfItsClass(t *testing.T) {
	c := start(t, shares).login()
	first := c.clone("a", "esx01", dvxOf("queues"))
	c.ok(c.vmOp(first, "PowerOnVM_Task", nil))
	c.ok(c.switchOn("b", "esx01", dvxOf("queues", "more")))
	third := c.clone("c", "esx01", dvxOf("queues"))
	c.taskFault("InsufficientResourcesFault", c.vmOp(third, "PowerOnVM_Task", nil))
	c.ok(c.vmOp(first, "PowerOffVM_Task", nil))
	c.ok(c.vmOp(third, "PowerOnVM_Task", nil))
	c.taskFault("InsufficientResourcesFault", c.switchOn("d", "bare", dvxOf("queues")))
	c.taskFault("InvalidDeviceSpec", c.cloneTask("e", "esx01", dvxOf()))
}

func TestSharedDevicesWantMemoryAndVersion(t *testing.T) {
	for _, k := range []struct {
		cfg func() obj
		old string
	}{{func() obj { return vgpuOf("nvidia_a100-20c") }, "vmx-10"}, {func() obj { return dvxOf("queues") }, "vmx-19"}} {
		c := start(t, shares).login()
		cfg := k.cfg()
		cfg["memoryReservationLockedToMax"] = false
		_, text := c.taskFault("GenericVmConfigFault", c.switchOn("n", "esx01", cfg))
		if !strings.Contains(text, "memory reservation") {
			t.Fatal(text)
		}
		c = start(t, func(inv *inventory) {
			shares(inv)
			for i := range inv.Datacenters[0].Templates {
				inv.Datacenters[0].Templates[i].HardwareVersion = k.old
			}
		}).login()
		c.taskFault("DeviceUnsupportedForVmVersion", c.cloneTask("o", "esx01", k.cfg()))
	}
}

// In the mixed mode profiles of different sizes share a GPU, each in its place.
func TestInTheMixedModeProfilesShareAGPU(t *testing.T) {
	c := start(t, func(inv *inventory) {
		shares(inv)
		h := &inv.Datacenters[0].Clusters[0].Hosts[0]
		h.Gpus = h.Gpus[:1]
		h.Gpus[0].Mode = "mixedSize"
		h.Gpus[0].Profiles = map[string][]int{"nvidia_a100-20c": {2, 2}, "nvidia_a100-10c": {4, 4}}
	}).login()
	c.ok(c.switchOn("a", "esx01", vgpuOf("nvidia_a100-20c")))
	c.ok(c.switchOn("b", "esx01", vgpuOf("nvidia_a100-10c")))
	c.ok(c.switchOn("c", "esx01", vgpuOf("nvidia_a100-10c")))
	c.taskFault("InsufficientGraphicsResourcesFault", c.switchOn("d", "esx01", vgpuOf("nvidia_a100-10c")))
}

// sharesOf gives who has which shared devices of a host, sorted.
func (c *client) sharesOf(host string) string {
	names := []string{}
	for _, h := range c.admin("GET", "state", nil)["hosts"].([]any) {
		for _, p := range h.(obj)["pfs"].([]any) {
			id := p.(obj)["id"].(string)
			if h.(obj)["name"] != host || id != "0000:65:00.0" && id != "0000:ca:00.0" && id != fpgaClass {
				continue
			}
			for _, vm := range p.(obj)["by"].(obj) {
				names = append(names, vm.(string))
			}
		}
	}
	sort.Strings(names)
	return strings.Join(names, " ")
}

// shown gives the VMs that a host's own list says of its GPUs.
func (c *client) shown(host string) int {
	vms := 0
	for _, g := range c.read(c.find("DC0/host/HPC1/"+host), "config.graphicsInfo").([]any) {
		list, _ := g.(obj)["vm"].([]any)
		vms += len(list)
	}
	return vms
}

func (c *client) haveIt(want map[string]string) {
	c.t.Helper()
	for host, names := range want {
		if got := c.sharesOf(host); got != names {
			c.t.Fatalf("of %s has %q, not %q", host, got, names)
		}
	}
}

func (c *client) motion(vm obj, host string) any {
	return c.vmOp(vm, "RelocateVM_Task", obj{"spec": obj{"_typeName": "VirtualMachineRelocateSpec", "host": c.find("DC0/host/HPC1/" + host)}})
}

// A VM that moves while it is on has its vGPU of the new host, and none of the old.
func TestVMotionTakesTheVGPUAlong(t *testing.T) {
	c := start(t, shares).login()
	whole := func(name, host string) obj {
		vm := c.clone(name, host, vgpuOf("nvidia_a100-40c"))
		c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
		return vm
	}
	a, b := whole("a", "esx01"), whole("b", "esx01")
	c.haveIt(map[string]string{"esx01": "a b", "esx02": ""})
	c.ok(c.motion(a, "esx02"))
	c.haveIt(map[string]string{"esx01": "b", "esx02": "a"})
	if from, to := c.shown("esx01"), c.shown("esx02"); from != 1 || to != 1 {
		t.Fatalf("the hosts tell of %d and %d VMs with a GPU", from, to)
	}

	// what it left is another's, also of another profile; it doesn't come back
	d := c.clone("d", "esx01", vgpuOf("nvidia_a100-20c"))
	c.ok(c.vmOp(d, "PowerOnVM_Task", nil))
	c.taskFault("InsufficientGraphicsResourcesFault", c.motion(a, "esx01"))
	c.haveIt(map[string]string{"esx01": "b d", "esx02": "a"})
	if at := c.hostOf(a); at != "esx02" {
		t.Fatal(at)
	}
	c.ok(c.vmOp(d, "PowerOffVM_Task", nil))
	c.ok(c.motion(a, "esx01"))
	c.haveIt(map[string]string{"esx01": "a b", "esx02": ""})

	// nor to a host that has no GPU, or one in another mode
	for _, host := range []string{"bare", "wrong"} {
		c.taskFault("InsufficientGraphicsResourcesFault", c.motion(a, host))
	}
	c.ok(c.motion(a, "esx02"))
	for _, vm := range []obj{a, b} {
		c.ok(c.vmOp(vm, "PowerOffVM_Task", nil))
	}
	c.haveIt(map[string]string{"esx01": "", "esx02": ""})
	if from, to := c.shown("esx01"), c.shown("esx02"); from+to != 0 {
		t.Fatalf("the hosts tell of %d and %d VMs with a GPU, which are off", from, to)
	}
	for _, name := range []string{"e", "f"} { // all of both is to be had again
		whole(name+"1", "esx01")
		whole(name+"2", "esx02")
	}
}

// As with a vGPU; and what moves into the last of it, two at once, moves once.
func TestVMotionTakesADvxDeviceAlong(t *testing.T) {
	c := start(t, func(inv *inventory) {
		shares(inv)
		inv.Datacenters[0].Clusters[0].Hosts[0].Dvx[0].Checkpoint = true
	}).login()
	on := func(name, host string) obj {
		vm := c.clone(name, host, dvxOf("queues"))
		c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
		return vm
	}
	a, b := on("a", "esx01"), on("b", "esx01")
	on("there", "esx02")
	went, first, second := "a", c.motion(a, "esx02"), c.motion(b, "esx02")
	if c.done(first)["state"] != "success" {
		a, b, went, first, second = b, a, "b", second, first
	}
	c.ok(first)
	c.taskFault("InsufficientResourcesFault", second)
	stayed := map[string]string{"a": "b", "b": "a"}[went]
	c.haveIt(map[string]string{"esx01": stayed, "esx02": went + " there"})
	c.ok(c.vmOp(a, "PowerOffVM_Task", nil))
	c.ok(c.motion(b, "esx02"))
	c.haveIt(map[string]string{"esx01": "", "esx02": stayed + " there"})
}

func TestAParameterOfAClassHasItsOwnType(t *testing.T) {
	c := start(t, func(inv *inventory) {
		shares(inv)
		inv.Datacenters[0].Clusters[0].Hosts[0].Dvx[0].Options = []dvxOption{{Key: "queues", Type: "long", Min: 1, Max: 64},
			{Key: "depth", Type: "int", Max: 9}, {Key: "share", Type: "float", Max: 1}, {Key: "trace", Type: "bool"},
			{Key: "mode", Type: "choice", Choices: []string{"fast", "safe"}}, {Key: "label", Type: "string"}}
	}).login()
	eb := c.prop(c.find("DC0/host/HPC1"), "environmentBrowser").(obj)
	info := c.call(eb, "QueryConfigTarget", obj{"host": c.find("DC0/host/HPC1/esx01")}).(obj)["dvxClassInfo"].([]any)[0].(obj)
	if info["deviceClass"].(obj)["key"] != fpgaClass || info["configParams"].([]any)[0].(obj)["optionType"].(obj)["_typeName"] != "LongOption" {
		t.Fatal(info)
	}
	with := func(key, kind string, value any) obj {
		cfg := dvxOf()
		queues := obj{"_typeName": "OptionValue", "key": "queues", "value": obj{"_typeName": "long", "_value": 8}}
		cfg["deviceChange"].([]any)[0].(obj)["device"].(obj)["backing"].(obj)["configParams"] = []any{queues,
			obj{"_typeName": "OptionValue", "key": key, "value": obj{"_typeName": kind, "_value": value}}}
		return cfg
	}
	for i, good := range []struct {
		key, kind string
		value     any
	}{{"depth", "int", 9}, {"share", "float", 0.5}, {"trace", "boolean", true}, {"mode", "string", "safe"}, {"label", "string", "8"}} {
		c.clone(fmt.Sprint("good", i), "esx01", with(good.key, good.kind, good.value))
	}
	c.taskFault("InvalidDeviceSpec", c.cloneTask("text", "esx01", dvxOf("queues")))
	for _, bad := range []struct {
		key, kind string
		value     any
	}{{"queues", "string", "8"}, {"queues", "int", 8}, {"queues", "long", 65}, {"depth", "long", 9}, {"trace", "string", "true"},
		{"mode", "string", "slow"}, {"label", "long", 8}, {"more", "long", 1}} {
		f, _ := c.taskFault("InvalidDeviceSpec", c.cloneTask("bad", "esx01", with(bad.key, bad.kind, bad.value)))
		if f["property"] != "backing.configParams" {
			t.Fatal(bad, f)
		}
	}
}
