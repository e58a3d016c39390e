// SPDX-License-Identifier: GPL-2.0-or-later
// hostdev.go: devices that a host hands to VMs whole (DirectPath I/O, assignable
// hardware): each belongs to one VM from power-on to power-off, as a VF does,
// and is kept beside the PFs, as one that has a single VF: itself.

package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vmware/govmomi/vim25/types"
)

// pciSpec is a device of a host in the inventory.
type pciSpec struct {
	Pci     string `json:"pci"`
	Vendor  int    `json:"vendor"`
	Device  int    `json:"device"`
	Name    string `json:"name"`
	Label   string `json:"label"` // hardware label
	Numa    int    `json:"numa"`
	BarGB   int    `json:"barGB"`   // its BARs together
	Enabled *bool  `json:"enabled"` // passthrough; false: a device of the host's
	Reboot  bool   `json:"reboot"`  // enabled, and waits for a reboot
	Sriov   bool   `json:"sriov"`   // a port that could have VFs, and is given whole
}

func (h *host) buildDevices() error {
	for i := range h.spec.Devices {
		d := &h.spec.Devices[i]
		if d.Vendor <= 0 || d.Vendor > 0xffff || d.Device <= 0 || d.Device > 0xffff || h.pfBy(d.Pci) != nil {
			return fmt.Errorf("devices: %q of host %s: an address of its own, vendor and device from 1 to 65535 are expected", d.Pci, h.spec.Name)
		}
		h.pfs = append(h.pfs, &pf{h: h, id: d.Pci, vfs: 1, max: 1, active: d.given(), numa: d.Numa, dev: d,
			used: map[int]*vmachine{}, late: map[int]int{}})
	}
	return nil
}

func (d *pciSpec) given() bool { return (d.Enabled == nil || *d.Enabled) && !d.Reboot }

func (d *pciSpec) hardware() types.HostPciDevice {
	p := pciDevice(d.Pci, int16(d.Device))
	p.VendorId, p.SubVendorId, p.ClassId = int16(d.Vendor), int16(d.Vendor), 0x0302
	p.VendorName, p.DeviceName = "Simulated", d.Name
	return p
}

func (d *pciSpec) passthru() types.BaseHostPciPassthruInfo {
	base := types.HostPciPassthruInfo{Id: d.Pci, DependentDevice: d.Pci, PassthruCapable: true,
		PassthruEnabled: d.Enabled == nil || *d.Enabled, PassthruActive: d.given(), HardwareLabel: d.Label}
	if d.Sriov {
		return &types.HostSriovInfo{HostPciPassthruInfo: base, SriovCapable: true}
	}
	return &base
}

// systemID is what a fixed backing of this host's devices must name.
func (h *host) systemID() string { return h.m.Hardware.SystemInfo.Uuid }

// serves tells whether the device is one that the backing allows.
func (d *pciSpec) serves(b *types.VirtualPCIPassthroughDynamicBackingInfo) bool {
	if b.CustomLabel != "" && b.CustomLabel != d.Label {
		return false
	}
	for _, a := range b.AllowedDevice {
		if int(a.VendorId) == d.Vendor && int(a.DeviceId) == d.Device {
			return true
		}
	}
	return false
}

func hwVersion(v *vmachine) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(v.m.Config.Version, "vmx-"))
	return n
}

// checkDevice is what vCenter refuses of a passthrough device in a spec.
func (v *vmachine) checkDevice(i int, d *types.VirtualPCIPassthrough) error {
	switch b := d.Backing.(type) {
	case *types.VirtualPCIPassthroughDynamicBackingInfo:
		if len(b.AllowedDevice) == 0 {
			return deviceSpec(i, "backing.allowedDevice")
		}
		for _, a := range b.AllowedDevice {
			if a.VendorId <= 0 || a.VendorId > 0xffff || a.DeviceId <= 0 || a.DeviceId > 0xffff {
				return deviceSpec(i, "backing.allowedDevice")
			}
		}
		b.AssignedId = "" // the host's, at power-on
	case *types.VirtualPCIPassthroughDeviceBackingInfo:
		return v.checkFixed(i, b)
	default:
		return v.checkShared(i, d.Backing)
	}
	return nil
}

// bars is the 64-bit MMIO that the devices want, GB.
func bars(held []heldVF) int {
	n := 0
	for _, x := range held {
		if x.p.dev != nil {
			n += x.p.dev.BarGB
		}
		if x.p.gpu != nil {
			n += x.p.gpu.BarGB
		}
	}
	return n
}

// checkMMIO: BARs above 16 GB want EFI, the switch, and a window that is a
// power of two and holds them.
func (v *vmachine) checkMMIO(held []heldVF) error {
	need := bars(held)
	if need <= 16 {
		return nil
	}
	on, _ := v.extra("pciPassthru.use64bitMMIO")
	text, _ := v.extra("pciPassthru.64bitMMIOSizeGB")
	size, _ := strconv.Atoi(text)
	if v.m.Config.Firmware == "efi" && strings.EqualFold(on, "TRUE") && size >= need && size&(size-1) == 0 {
		return nil
	}
	return genericFault([2]string{"msg.pciPassthru.mmio", "pciPassthru0: The BARs of the device do not fit into the virtual machine's MMIO space."},
		[2]string{"msg.moduletable.powerOnFailed", "Module 'DevicePowerOn' power on failed."})
}

// noDevice is the answer where no device is free, or none is there.
func (v *vmachine) noDevice(h *host, card int) error {
	return fault(&types.InsufficientResourcesFault{}, "Insufficient resources. One or more devices (pciPassthru%d) required by VM %s are not available on host %s.",
		card, v.m.Name, h.spec.Name)
}

// assigned says which device each dynamic NIC got.
func (v *vmachine) assigned(held []heldVF) {
	for _, x := range held {
		for i, d := range v.m.Config.Hardware.Device {
			p, ok := d.(*types.VirtualPCIPassthrough)
			if !ok || p.Key != x.card {
				continue
			}
			if b, ok := p.Backing.(*types.VirtualPCIPassthroughDynamicBackingInfo); ok {
				dev, back := *p, *b
				back.AssignedId = "pciPassthru:" + x.p.id
				dev.Backing = &back
				v.m.Config.Hardware.Device[i] = &dev
			}
		}
	}
}

func (v *vmachine) reservedMB() int64 {
	mem, _ := v.reserved()
	return mem
}

// passthruExtra is what extraConfig says of passthrough devices.
func (v *vmachine) passthruExtra() map[string]string {
	res := map[string]string{}
	for _, b := range v.m.Config.ExtraConfig {
		if o := b.GetOptionValue(); strings.HasPrefix(o.Key, "pciPassthru.") {
			res[strings.TrimPrefix(o.Key, "pciPassthru.")], _ = o.Value.(string)
		}
	}
	return res
}
