// SPDX-License-Identifier: GPL-2.0-or-later
// rules.go: what each kind of device wants of its VM, and what it keeps its VM
// from, by the release of the host: VMware's tables, a row per kind. Each method
// asks here before an operation. What no table says of a fault is in the README.

package main

import (
	"fmt"

	"github.com/vmware/govmomi/vim25/types"
)

type deed int

const (
	deedPlug     deed = iota // adding or removing it while the VM is on
	deedMemory               // adding memory or CPUs to its VM while that is on
	deedMotion               // vMotion
	deedDrs                  // moves by DRS
	deedSnapshot             // of a VM that is on or off, without its memory
	deedSuspend
	deedFT      // Fault Tolerance
	deedRestart // HA's, on another host
	deeds
)

// The first release that allows an operation.
const (
	never  = ""
	always = "0"
	vendor = "vendor" // where the device's class says so
)

// deviceRule is a kind of device.
type deviceRule struct {
	name   string
	hw     int  // least hardware version
	pinned bool // all memory of its VM is reserved; it counts as passthrough
	dvs    bool // on a distributed switch only
	can    [deeds]string
}

var (
	ruleVmxnet3 = &deviceRule{name: "vmxnet3", hw: 7, can: [deeds]string{deedPlug: always, deedMemory: always,
		deedMotion: always, deedDrs: always, deedSnapshot: always, deedSuspend: always, deedFT: always, deedRestart: always}}
	rulePvrdma = &deviceRule{name: "pvrdma", hw: 13, dvs: true, can: [deeds]string{deedMemory: always,
		deedMotion: always, deedDrs: always, deedSnapshot: always, deedSuspend: always, deedRestart: always}}

	ruleSriov  = &deviceRule{name: "sriov", hw: 10, pinned: true, can: [deeds]string{deedRestart: "8.0.2"}}
	ruleFixed  = &deviceRule{name: "directpath", hw: 7, pinned: true}
	ruleDyn    = &deviceRule{name: "dynamic-directpath", hw: 17, pinned: true, can: [deeds]string{deedRestart: "7.0.0"}}
	ruleDvx    = &deviceRule{name: "dvx", hw: 20, pinned: true, can: [deeds]string{deedMotion: vendor, deedDrs: vendor, deedSnapshot: vendor, deedSuspend: vendor, deedRestart: "8.0.0"}}
	ruleVgpu   = &deviceRule{name: "vgpu", hw: 11, pinned: true, can: [deeds]string{deedMotion: "6.7.1", deedSnapshot: "6.7.0", deedSuspend: "6.7.0", deedRestart: "6.5.0"}}
	otherRules = &deviceRule{name: "other", can: ruleVmxnet3.can}
)

// ruleOf gives a device's row; what is no NIC and no passthrough device has
// one that forbids nothing.
func ruleOf(d types.BaseVirtualDevice) *deviceRule {
	switch c := d.(type) {
	case *types.VirtualVmxnet3Vrdma:
		return rulePvrdma
	case *types.VirtualVmxnet3:
		return ruleVmxnet3
	case *types.VirtualSriovEthernetCard:
		if c.DvxBackingInfo != nil {
			return ruleDvx
		}
		return ruleSriov
	case *types.VirtualPCIPassthrough:
		switch c.Backing.(type) {
		case *types.VirtualPCIPassthroughDynamicBackingInfo:
			return ruleDyn
		case *types.VirtualPCIPassthroughDvxBackingInfo:
			return ruleDvx
		case *types.VirtualPCIPassthroughVmiopBackingInfo:
			return ruleVgpu
		}
		return ruleFixed
	}
	return otherRules
}

func (h *host) release() string { return h.m.Summary.Config.Product.ApiVersion }

// vendorCan tells whether the host's driver implements what its vendor may: a
// device class that supports checkpoints.
func (h *host) vendorCan(d types.BaseVirtualDevice) bool {
	class := ""
	switch c := d.(type) {
	case *types.VirtualSriovEthernetCard:
		class = c.DvxBackingInfo.DeviceClass
	case *types.VirtualPCIPassthrough:
		if b, ok := c.Backing.(*types.VirtualPCIPassthroughDvxBackingInfo); ok {
			class = b.DeviceClass
		}
	}
	if h.m.Hardware == nil {
		return false
	}
	for _, k := range h.m.Hardware.DvxClasses {
		if k.DeviceClass == class {
			return k.CheckpointSupported
		}
	}
	return false
}

func (h *host) allows(d types.BaseVirtualDevice, what deed) bool {
	switch from := ruleOf(d).can[what]; from {
	case never:
		return false
	case vendor:
		return h.vendorCan(d)
	default:
		return !versionLess(h.release(), from)
	}
}

// forbids gives the label of the first device that forbids the VM an operation
// on the host where it is.
func (v *vmachine) forbids(what deed) (string, bool) {
	for _, d := range v.m.Config.Hardware.Device {
		if ruleOf(d) != otherRules && !v.h.allows(d, what) {
			return deviceLabel(d), true
		}
	}
	return "", false
}

func (v *vmachine) kept(what deed) bool {
	_, held := v.forbids(what)
	return held
}

// restartable tells whether HA may start the VM on another host: SR-IOV besides
// only where the inventory says that this vCenter does so.
func (v *vmachine) restartable() bool {
	for _, d := range v.m.Config.Hardware.Device {
		if ruleOf(d) == ruleSriov && !v.h.c.spec.HaPassthrough {
			return false
		}
	}
	return !v.kept(deedRestart)
}

func deviceLabel(d types.BaseVirtualDevice) string {
	if i, ok := d.GetVirtualDevice().DeviceInfo.(*types.Description); ok {
		return i.Label
	}
	return "device"
}

// pinned tells whether ESXi pins the VM's memory for a device of it.
func (v *vmachine) pinned() bool {
	for _, d := range v.m.Config.Hardware.Device {
		if c, ok := d.(*types.VirtualVmxnet3); ruleOf(d).pinned || ok && isTrue(c.Uptv2Enabled) {
			return true
		}
	}
	return false
}

// hwOf is the newest hardware version of a release of ESXi.
func hwOf(release string) int {
	hw := 11
	for _, r := range []struct {
		from string
		hw   int
	}{{"6.5.0", 13}, {"6.7.0", 14}, {"6.7.2", 15}, {"7.0.0", 17}, {"7.0.1", 18}, {"7.0.2", 19}, {"8.0.0", 20}, {"8.0.2", 21}, {"9.0.0", 22}} {
		if !versionLess(release, r.from) {
			hw = r.hw
		}
	}
	return hw
}

// maxPassthru is how many passthrough devices a VM may have (Broadcom KB 309986).
func (v *vmachine) maxPassthru() int {
	release := v.h.release()
	switch {
	case !versionLess(release, "8.0.2") && hwVersion(v) >= 21:
		return 128
	case !versionLess(release, "8.0.1"):
		return 64
	case !versionLess(release, "8.0.0"):
		return 32
	}
	return 16
}

// checkKind is what any device must find in its VM before it is added: its
// hardware version, and room for one more.
func (v *vmachine) checkKind(list []types.BaseVirtualDevice, dev types.BaseVirtualDevice) error {
	r := ruleOf(dev)
	if hwVersion(v) < r.hw {
		f := &types.DeviceUnsupportedForVmVersion{CurrentVersion: v.m.Config.Version, ExpectedVersion: fmt.Sprintf("vmx-%02d", r.hw)}
		return fault(f, "Device '%s' requires hardware version %s; the virtual machine has %s.", r.name, f.ExpectedVersion, f.CurrentVersion)
	}
	n := 0
	for _, d := range list {
		if ruleOf(d).pinned {
			n++
		}
	}
	if limit := v.maxPassthru(); r.pinned && n >= limit {
		return fault(&types.TooManyDevices{}, "The maximum number of PCI passthrough devices is %d.", limit)
	}
	return nil
}

// checkVersion: a host runs no VM that is newer than itself.
func (v *vmachine) checkVersion(h *host) error {
	if hwVersion(v) <= hwOf(h.release()) {
		return nil
	}
	return fault(&types.VirtualHardwareVersionNotSupported{HostName: h.spec.Name, Host: h.o.ref},
		"The virtual machine version %s is not supported on host %s.", v.m.Config.Version, h.spec.Name)
}

// checkGrow is for more, or less, memory and CPUs of a VM that is on.
func (v *vmachine) checkGrow(s *types.VirtualMachineConfigSpec) error {
	c := v.m.Config
	if !v.on() {
		return nil
	}
	cpus, mem := s.NumCPUs-c.Hardware.NumCPU, int32(s.MemoryMB)-c.Hardware.MemoryMB
	if s.NumCPUs != 0 && cpus < 0 || s.MemoryMB != 0 && mem < 0 ||
		differs(s.CpuHotAddEnabled, c.CpuHotAddEnabled) || differs(s.MemoryHotAddEnabled, c.MemoryHotAddEnabled) {
		return powerState(types.VirtualMachinePowerStatePoweredOff, types.VirtualMachinePowerStatePoweredOn)
	}
	_, held := v.forbids(deedMemory)
	if s.NumCPUs != 0 && cpus > 0 && (held || !isTrue(c.CpuHotAddEnabled)) {
		return fault(&types.CpuHotPlugNotSupported{}, "CPU hot plug is not supported for this virtual machine.")
	}
	if s.MemoryMB != 0 && mem > 0 && (held || !isTrue(c.MemoryHotAddEnabled)) {
		return fault(&types.MemoryHotPlugNotSupported{}, "Memory hot plug is not supported for this virtual machine.")
	}
	return nil
}

func differs(want, is *bool) bool { return want != nil && *want != isTrue(is) }

// noMotion is the answer to vMotion of a VM that has such a device.
func noMotion(label string) error {
	f := &types.DisallowedMigrationDeviceAttached{Fault: localized(&types.DeviceNotSupported{Device: label}, label+" does not support migration.")}
	return fault(f, "'%s' is a type of device that prevents migration.", label)
}

// checkFT is CreateSecondaryVM_Task as far as it refuses; a secondary VM isn't
// simulated.
func checkFT(c *call) (any, error) {
	v := c.o.vm
	if v.m.Config.Template {
		return nil, fault(&types.NotSupported{}, "The operation is not supported on a template.")
	}
	if label, held := v.forbids(deedFT); held {
		err := localized(&types.DeviceNotSupported{Device: label}, "Device '"+label+"' is not supported by Fault Tolerance.")
		f := &types.VmFaultToleranceConfigIssueWrapper{EntityName: v.m.Name, Entity: &v.o.ref, Error: &err}
		return nil, fault(f, "%s", err.LocalizedMessage)
	}
	if !v.h.c.spec.Ha {
		f := &types.VmFaultToleranceConfigIssue{Reason: "haNotEnabled", EntityName: v.m.Name, Entity: &v.o.ref}
		return nil, fault(f, "vSphere HA is not enabled on the cluster.")
	}
	return nil, fault(&types.NotSupported{}, "No secondary virtual machine is made here.")
}
