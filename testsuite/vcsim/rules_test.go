// SPDX-License-Identifier: GPL-2.0-or-later
// rules_test.go: VMware's table of what a device keeps its VM from, cell by
// cell: the wrong spec or operation is sent, and ESXi's fault comes.

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// ruled is a kind of device, as a client asks for it, and the table's row: what
// is allowed of it on 8.0U3.
type ruled struct {
	name, least string // and the newest hardware version that is too old for it
	pinned      bool
	allowed     string
	add         func(c *client) obj
}

const theGPU = "0000:65:00.0"

func pciDev(backing obj) obj {
	return obj{"_typeName": "VirtualDeviceConfigSpec", "operation": "add", "device": obj{
		"_typeName": "VirtualPCIPassthrough", "key": -102, "backing": backing}}
}

func onCard(kind, net string) func(c *client) obj {
	return func(c *client) obj { return c.nic(kind, net, nil) }
}

func (c *client) fixedGPU() obj {
	h := c.find("DC0/host/HPC1/esx01")
	uuid := c.read(h, "hardware.systemInfo.uuid")
	return pciDev(obj{"_typeName": "VirtualPCIPassthroughDeviceBackingInfo", "deviceName": "A100", "id": theGPU,
		"deviceId": "20b0", "systemId": uuid, "vendorId": 0x10de})
}

func anyGPU(*client) obj { return gpu(nil)["deviceChange"].([]any)[0].(obj) }

var ruledKinds = []ruled{
	{"vmxnet3", "", false, "plug memory vmotion snapshot suspend ft", onCard("VirtualVmxnet3", "VM-PG")},
	{"pvrdma", "vmx-12", false, "memory vmotion snapshot suspend", onCard("VirtualVmxnet3Vrdma", "PVRDMA-PG")},
	{"sriov", "vmx-09", true, "", onCard("VirtualSriovEthernetCard", "SRIOV-ROCE-PG")},
	{"directpath", "", true, "", (*client).fixedGPU},
	{"dynamic-directpath", "vmx-16", true, "", anyGPU},
	{"dvx", "vmx-19", true, "vmotion snapshot suspend", ofClass(fpgaClass)},
	{"dvx without checkpoints", "vmx-19", true, "", ofClass("com.vendor.plain")},
	{"vgpu", "vmx-10", true, "vmotion snapshot suspend", func(*client) obj { return pciDev(aVgpu) }},
}

var aVgpu = obj{"_typeName": "VirtualPCIPassthroughVmiopBackingInfo", "vgpu": "nvidia_a100-40c"}

func ofClass(name string) func(*client) obj {
	return func(*client) obj {
		return pciDev(obj{"_typeName": "VirtualPCIPassthroughDvxBackingInfo", "deviceClass": name})
	}
}

// allKinds gives the hosts some of everything, and no VMs.
func allKinds(inv *inventory) {
	gpus(inv)
	inv.Datacenters[0].VMs = nil
	h := &inv.Datacenters[0].Clusters[0].Hosts[0]
	h.Gpus = []gpuSpec{{Pci: "0000:b1:00.0", Name: "NVIDIA A100-PCIE-40GB", Device: 0x20f1, MemoryGB: 40,
		Profiles: map[string][]int{"nvidia_a100-40c": {1, 1}}}}
	h.Dvx = []dvxSpec{{Class: fpgaClass, Instances: 2, Checkpoint: true}, {Class: "com.vendor.plain", Instances: 2}}
}

func (k *ruled) may(what string) bool {
	for _, w := range strings.Fields(k.allowed) {
		if w == what {
			return true
		}
	}
	return false
}

// config is a VM with such a device, and hot-add of memory and CPUs enabled.
func (k *ruled) config(c *client) obj {
	cfg := obj{"memoryMB": 4096, "numCPUs": 2, "memoryHotAddEnabled": true, "cpuHotAddEnabled": true, "deviceChange": []any{k.add(c)}}
	if k.pinned {
		cfg["memoryReservationLockedToMax"] = true
	}
	return cfg
}

func (c *client) reconfig(vm, spec obj) any {
	spec["_typeName"] = "VirtualMachineConfigSpec"
	return c.vmOp(vm, "ReconfigVM_Task", obj{"spec": spec})
}

// judge wants a task to end well, or in that fault with those words.
func (c *client) judge(good bool, task any, want, words string) {
	c.t.Helper()
	if good {
		c.ok(task)
		return
	}
	f, text := c.taskFault(want, task)
	if !strings.Contains(text+fmt.Sprint(f), words) {
		c.t.Fatalf("%q wanted, got %q %v", words, text, f)
	}
}

func eachKind(t *testing.T, change func(inv *inventory), do func(t *testing.T, c *client, k *ruled)) {
	for i := range ruledKinds {
		k := &ruledKinds[i]
		t.Run(k.name, func(t *testing.T) {
			do(t, start(t, func(inv *inventory) {
				allKinds(inv)
				if change != nil {
					change(inv)
				}
			}).login(), k)
		})
	}
}

func TestWhatADeviceKeepsItsVMFrom(t *testing.T) {
	eachKind(t, nil, func(t *testing.T, c *client, k *ruled) {
		vm := c.clone("n1", "esx01", k.config(c))
		c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))

		c.judge(k.may("memory"), c.reconfig(vm, obj{"memoryMB": 8192}), "MemoryHotPlugNotSupported", "Memory hot plug")
		c.judge(k.may("memory"), c.reconfig(vm, obj{"numCPUs": 4}), "CpuHotPlugNotSupported", "CPU hot plug")
		c.taskFault("InvalidPowerState", c.reconfig(vm, obj{"memoryMB": 1024}))
		c.judge(k.may("snapshot"), c.vmOp(vm, "CreateSnapshot_Task", obj{"name": "s", "memory": false, "quiesce": false}),
			"GenericVmConfigFault", "prevents the snapshot operation")
		there := obj{"spec": obj{"_typeName": "VirtualMachineRelocateSpec", "host": c.find("DC0/host/HPC1/esx02")}}
		c.judge(k.may("vmotion"), c.vmOp(vm, "RelocateVM_Task", there), "DisallowedMigrationDeviceAttached", "DeviceNotSupported")

		c.judge(k.may("suspend"), c.vmOp(vm, "SuspendVM_Task", nil), "GenericVmConfigFault", "does not allow suspend")
		if k.may("suspend") {
			if p := c.read(vm, "runtime.powerState"); p != "suspended" {
				t.Fatal(p)
			}
			c.taskFault("InvalidPowerState", c.vmOp(vm, "SuspendVM_Task", nil))
			c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
		}

		// its second one comes, or the one it has goes, while it is on
		c.judge(k.may("plug"), c.reconfig(vm, obj{"deviceChange": []any{k.add(c)}}), "GenericVmConfigFault", "msg.devices.hotplug.failed")
		list := c.read(vm, "config.hardware.device").([]any)
		out := obj{"_typeName": "VirtualDeviceConfigSpec", "operation": "remove", "device": list[len(list)-1]}
		c.judge(k.may("plug"), c.reconfig(vm, obj{"deviceChange": []any{out}}), "GenericVmConfigFault", "msg.devices.hotplug.failed")

		// off, everything but what the device is itself may be changed, and it may
		// move, unless its device has an address on this host
		c.ok(c.vmOp(vm, "PowerOffVM_Task", nil))
		c.ok(c.reconfig(vm, obj{"memoryMB": 4096, "numCPUs": 1}))
		c.judge(k.name != "directpath", c.vmOp(vm, "RelocateVM_Task", there), "CannotAccessVmDevice", "is not accessible")
	})
}

func TestFaultToleranceTakesVmxnet3Alone(t *testing.T) {
	eachKind(t, nil, func(t *testing.T, c *client, k *ruled) {
		vm := c.clone("n1", "esx01", k.config(c))
		want := "VmFaultToleranceConfigIssueWrapper"
		if k.may("ft") {
			want = "VmFaultToleranceConfigIssue" // there is no HA, which it wants as well
		}
		c.fails(want, vm, "CreateSecondaryVM_Task", obj{})
	})
}

func TestHotAddHasToBeEnabledBefore(t *testing.T) {
	c := start(t, nil).login()
	vm := c.clone("n1", "esx01", obj{"memoryMB": 4096, "numCPUs": 2})
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	c.taskFault("MemoryHotPlugNotSupported", c.reconfig(vm, obj{"memoryMB": 8192}))
	c.taskFault("CpuHotPlugNotSupported", c.reconfig(vm, obj{"numCPUs": 4}))
	c.taskFault("InvalidPowerState", c.reconfig(vm, obj{"memoryHotAddEnabled": true}))
}

func TestPinnedDevicesWantAllMemoryReserved(t *testing.T) {
	eachKind(t, nil, func(t *testing.T, c *client, k *ruled) {
		cfg := k.config(c)
		delete(cfg, "memoryReservationLockedToMax")
		vm := c.clone("n1", "esx01", cfg)
		c.judge(!k.pinned, c.vmOp(vm, "PowerOnVM_Task", nil), "GenericVmConfigFault", "(sched.mem.min) should be equal to memsize(4096)")
	})
}

func TestUptWantsAllMemoryReserved(t *testing.T) {
	c := start(t, nil).login()
	c.rel = "8.0.3.0"
	cfg := obj{"memoryMB": 4096, "deviceChange": []any{c.nic("VirtualVmxnet3", "VM-PG", obj{"uptv2Enabled": true})}}
	vm := c.clone("n1", "esx01", cfg)
	c.judge(false, c.vmOp(vm, "PowerOnVM_Task", nil), "GenericVmConfigFault", "sched.mem.min")
	c.ok(c.reconfig(vm, obj{"memoryReservationLockedToMax": true}))
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
}

func TestADeviceWantsItsHardwareVersion(t *testing.T) {
	for i := range ruledKinds {
		k := &ruledKinds[i]
		if k.least == "" {
			continue
		}
		var n int
		_, _ = fmt.Sscanf(k.least, "vmx-%d", &n)
		for version, good := range map[string]bool{k.least: false, fmt.Sprintf("vmx-%02d", n+1): true} {
			c := start(t, func(inv *inventory) {
				allKinds(inv)
				for i := range inv.Datacenters[0].Templates {
					inv.Datacenters[0].Templates[i].HardwareVersion = version
				}
			}).login()
			c.judge(good, c.cloneTask("n1", "esx01", k.config(c)), "DeviceUnsupportedForVmVersion", "requires hardware version")
		}
	}
}

func TestAHostRunsNoNewerVM(t *testing.T) {
	for release, good := range map[string]bool{"7.0.3.0": false, "8.0.0.0": true} {
		c := start(t, func(inv *inventory) {
			inv.Datacenters[0].VMs = nil
			inv.Datacenters[0].Clusters[0].Hosts[0].ApiVersion = release
		}).login()
		vm := c.clone("n1", "esx02", obj{})
		c.judge(good, c.vmOp(vm, "PowerOnVM_Task", nil), "VirtualHardwareVersionNotSupported", "vmx-20 is not supported on host esx02")
	}
}

func TestOnlyPvrdmaDemandsADistributedSwitch(t *testing.T) {
	for _, kind := range []string{"VirtualVmxnet3", "VirtualVmxnet3Vrdma", "VirtualSriovEthernetCard"} {
		c := start(t, nil).login()
		dev := c.nic(kind, "VM-PG", obj{"backing": obj{"_typeName": "VirtualEthernetCardNetworkBackingInfo", "deviceName": "std-net"}})
		c.judge(kind != "VirtualVmxnet3Vrdma", c.cloneTask("n1", "esx01", obj{"deviceChange": []any{dev}}),
			"InvalidDeviceBacking", "demands a distributed port group")
	}
}

func TestAVMHasSoManyPassthroughDevices(t *testing.T) {
	for _, x := range []struct {
		release, version string
		limit            int
	}{{"7.0.3.0", "vmx-19", 16}, {"8.0.0.0", "vmx-20", 32}, {"8.0.1.0", "vmx-20", 64}, {"8.0.3.0", "vmx-20", 64}, {"8.0.3.0", "vmx-21", 128}} {
		c := start(t, func(inv *inventory) {
			inv.Datacenters[0].VMs = nil
			inv.Datacenters[0].Clusters[0].Hosts[0].ApiVersion = x.release
			inv.Datacenters[0].Templates[0].HardwareVersion = x.version
		}).login()
		some := func(n int) obj {
			var l []any
			one := c.nic("VirtualSriovEthernetCard", "SRIOV-ROCE-PG", nil)
			for i := 0; i < n; i++ {
				l = append(l, one)
			}
			return obj{"memoryMB": 4096, "memoryReservationLockedToMax": true, "deviceChange": l}
		}
		vm := c.clone("n1", "esx01", some(x.limit))
		c.judge(false, c.reconfig(vm, obj{"deviceChange": some(1)["deviceChange"]}), "TooManyDevices", fmt.Sprintf("devices is %d.", x.limit))
	}
}

// HA's cells: DirectPath is bound to its host, the others find another device.
func TestHaRestartsWhatMayRunElsewhere(t *testing.T) {
	for _, release := range []string{"8.0.1.0", "8.0.3.0"} {
		c := start(t, func(inv *inventory) {
			allKinds(inv)
			cl := &inv.Datacenters[0].Clusters[0]
			cl.Ha, cl.HaPassthrough, cl.Hosts[0].ApiVersion = true, true, release
			inv.Durations["HaRestart"] = Dur(50 * time.Millisecond)
		}).login()
		vms := map[string]obj{}
		for i := range ruledKinds {
			k := &ruledKinds[i]
			vms[k.name] = c.clone(fmt.Sprintf("n%d", i), "esx01", k.config(c))
			c.ok(c.vmOp(vms[k.name], "PowerOnVM_Task", nil))
		}
		c.do("failHost", obj{"host": "esx01"})
		goes := func(name string) bool {
			return name != "directpath" && (name != "sriov" || release == "8.0.3.0")
		}
		for name, vm := range vms {
			if goes(name) {
				until(t, name, func() bool { return c.hostOf(vm) != "esx01" })
			}
		}
		for name, vm := range vms {
			if at := c.hostOf(vm); !goes(name) && at != "esx01" {
				t.Fatalf("%s on %s went to %s", name, release, at)
			}
		}
	}
}

// vGPU's cells have releases: suspend came with 6.7, vMotion with 6.7U1.
func TestAVgpuMayWhatItsReleaseAllows(t *testing.T) {
	for release, may := range map[string][2]bool{"6.5.0": {}, "6.7.0": {true}, "6.7.1": {true, true}} {
		c := start(t, func(inv *inventory) {
			allKinds(inv)
			for i := range inv.Datacenters[0].Clusters[0].Hosts {
				inv.Datacenters[0].Clusters[0].Hosts[i].ApiVersion = release
			}
			for i := range inv.Datacenters[0].Templates {
				inv.Datacenters[0].Templates[i].HardwareVersion = "vmx-13"
			}
		}).login()
		vm := c.clone("n1", "esx01", sharedVM(aVgpu))
		c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
		there := obj{"spec": obj{"_typeName": "VirtualMachineRelocateSpec", "host": c.find("DC0/host/HPC1/esx02")}}
		c.judge(may[1], c.vmOp(vm, "RelocateVM_Task", there), "DisallowedMigrationDeviceAttached", "DeviceNotSupported")
		c.judge(may[0], c.vmOp(vm, "SuspendVM_Task", nil), "GenericVmConfigFault", "does not allow suspend")
	}
}
