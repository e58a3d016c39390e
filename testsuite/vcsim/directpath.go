// SPDX-License-Identifier: GPL-2.0-or-later
// directpath.go: devices that a VM names by their address (DirectPath I/O,
// fixed). A backing must be the host's own: its address, its ids, its systemId;
// whether passthrough is enabled, and who has the device, shows at power-on.

package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vmware/govmomi/vim25/types"
)

// device is the one at an address that the host may hand out whole, or nil.
func (h *host) device(pci string) *pf {
	for _, p := range h.pfs {
		if p.dev != nil && strings.EqualFold(p.id, pci) {
			return p
		}
	}
	return nil
}

// hasVF tells whether the address is that of a VF, which is passed through
// without a network then: its backing has no systemId.
func (h *host) hasVF(pci string) bool {
	for _, p := range h.pfs {
		if p.dev == nil && p.indexOf(strings.ToLower(pci)) >= 0 {
			return true
		}
	}
	return false
}

func badBacking(i int, property, text string, args ...any) error {
	f := &types.InvalidDeviceBacking{}
	f.DeviceIndex, f.Property = int32(i), fmt.Sprintf("virtualDeviceSpec[%d].device.backing.%s", i, property)
	return fault(f, "Invalid backing for device '%d': %s", i, fmt.Sprintf(text, args...))
}

// is tells whether a backing's ids are the device's: the vendor's as a short,
// the device's as hex.
func (d *pciSpec) is(b *types.VirtualPCIPassthroughDeviceBackingInfo) bool {
	id, err := strconv.ParseUint(strings.TrimPrefix(b.DeviceId, "0x"), 16, 16)
	return err == nil && int(id) == d.Device && int(uint16(b.VendorId)) == d.Vendor
}

// checkFixed is what vCenter refuses of a backing by address.
func (v *vmachine) checkFixed(i int, b *types.VirtualPCIPassthroughDeviceBackingInfo) error {
	if b.Id == "" {
		return deviceSpec(i, "backing.id")
	}
	b.Id = strings.ToLower(b.Id)
	if v.h == nil || v.h.hasVF(b.Id) {
		return nil
	}
	p := v.h.device(b.Id)
	if p == nil {
		return badBacking(i, "id", "host %s has no device %s.", v.h.spec.Name, b.Id)
	}
	if b.SystemId != v.h.systemID() {
		return badBacking(i, "systemId", "%q is not the system of host %s.", b.SystemId, v.h.spec.Name)
	}
	if !p.dev.is(b) {
		return badBacking(i, "deviceId", "device %s of host %s is %04x:%04x.", b.Id, v.h.spec.Name, p.dev.Vendor, p.dev.Device)
	}
	return nil
}

// fixed lists the backings by address of a VM that are no VFs'.
func (v *vmachine) fixed(h *host) []*types.VirtualPCIPassthroughDeviceBackingInfo {
	var res []*types.VirtualPCIPassthroughDeviceBackingInfo
	for _, d := range v.m.Config.Hardware.Device {
		if p, ok := d.(*types.VirtualPCIPassthrough); ok {
			if b, ok := p.Backing.(*types.VirtualPCIPassthroughDeviceBackingInfo); ok && b.SystemId != "BYPASS" && !h.hasVF(b.Id) {
				res = append(res, b)
			}
		}
	}
	return res
}

func powerOnFailed(key, text string, args ...any) error {
	return genericFault([2]string{"msg.pciPassthru." + key, fmt.Sprintf(text, args...)},
		[2]string{"msg.moduletable.powerOnFailed", "Module 'DevicePowerOn' power on failed."})
}

// fitsFixed: the devices are there, enabled for passthrough, and no VM has them.
func (v *vmachine) fitsFixed(h *host) error {
	for i, b := range v.fixed(h) {
		p := h.device(b.Id)
		if p == nil || b.SystemId != h.systemID() || !p.dev.is(b) || !p.dev.given() {
			return powerOnFailed("createAdapterFailedPCIDevice",
				"Failed to register the device pciPassthru%d for %s due to unavailable hardware or software support.", i, b.Id)
		}
		if len(p.used)+len(p.late) > 0 {
			return powerOnFailed("createAdapterFailedDeviceInUse", "Device %s is already in use.", strings.TrimPrefix(b.Id, "0000:"))
		}
	}
	return nil
}

// follows tells whether a VM that is off may be registered on another host: a
// device by its address is not there.
func (v *vmachine) follows(to *host) error {
	for i, b := range v.fixed(v.h) {
		if b.SystemId != to.systemID() {
			return fault(&types.CannotAccessVmDevice{Device: fmt.Sprintf("PCI device %d", i), Backing: b.Id},
				"Device 'PCI device %d' uses backing '%s', which is not accessible.", i, b.Id)
		}
	}
	return nil
}

// configTarget lists what the host offers to VMs by address.
func (h *host) configTarget() []types.BaseVirtualMachinePciPassthroughInfo {
	var res []types.BaseVirtualMachinePciPassthroughInfo
	for _, p := range h.pfs {
		if p.dev != nil && p.dev.given() {
			one := &types.VirtualMachinePciPassthroughInfo{PciDevice: p.dev.hardware(), SystemId: h.systemID()}
			one.Name = p.id
			res = append(res, one)
		}
	}
	return res
}

// fixedCard is a NIC of type directpath in the inventory.
func (v *vmachine) fixedCard(s *cardSpec, key int32) (types.BaseVirtualDevice, error) {
	p := v.h.device(s.Pci)
	if p == nil {
		return nil, fmt.Errorf("pci: host %s has no device %q", v.h.spec.Name, s.Pci)
	}
	d := &types.VirtualPCIPassthrough{}
	b := &types.VirtualPCIPassthroughDeviceBackingInfo{Id: p.id, DeviceId: strconv.FormatInt(int64(p.dev.Device), 16),
		SystemId: v.h.systemID(), VendorId: int16(p.dev.Vendor)}
	b.DeviceName = p.dev.Name
	d.Key, d.Backing = key, b
	return d, nil
}
