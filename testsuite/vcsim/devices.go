// SPDX-License-Identifier: GPL-2.0-or-later
// devices.go: deviceChange of a ConfigSpec, by the rules that were seen live:
// SR-IOV NICs get keys from 13031 and units from 65 downward whatever was
// asked, a PF stays what it was, the VF is never reported.

package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/vmware/govmomi/vim25/types"
)

const autoPF = "Automatic-0000:00:00.0"

var macRange = regexp.MustCompile(`^00:50:56:[0-3][0-9a-f](:[0-9a-f]{2}){2}$`)

// byBacking finds the network that a NIC's backing names, or nil.
func (d *datacenter) byBacking(b types.BaseVirtualDeviceBackingInfo) *network {
	switch x := b.(type) {
	case *types.VirtualEthernetCardDistributedVirtualPortBackingInfo:
		for _, n := range d.nets {
			if n.key != "" && n.key == x.Port.PortgroupKey && n.sw.m.Uuid == x.Port.SwitchUuid {
				return n
			}
		}
	case *types.VirtualEthernetCardNetworkBackingInfo: // by its name, as it is: `network` is not used
		if n := d.nets[x.DeviceName]; n != nil && n.sw == nil && n.nsx == "" {
			return n
		}
	}
	return nil
}

// changeDevices applies a deviceChange list to a copy of the device list.
func (v *vmachine) changeDevices(list []types.BaseVirtualDevice, changes []types.BaseVirtualDeviceConfigSpec) ([]types.BaseVirtualDevice, error) {
	res := append([]types.BaseVirtualDevice(nil), list...)
	for i, ch := range changes {
		spec := ch.GetVirtualDeviceConfigSpec()
		if spec.Device == nil {
			return nil, deviceSpec(i, "device")
		}
		dev := spec.Device.GetVirtualDevice()
		at := -1
		for k, d := range res {
			if d.GetVirtualDevice().Key == dev.Key {
				at = k
			}
		}
		var err error
		switch spec.Operation {
		case types.VirtualDeviceConfigSpecOperationAdd:
			res, err = v.addDevice(i, res, spec.Device)
		case types.VirtualDeviceConfigSpecOperationRemove:
			if at < 0 {
				return nil, deviceSpec(i, "key")
			}
			if fmt.Sprintf("%T", res[at]) != fmt.Sprintf("%T", spec.Device) {
				return nil, deviceSpec(i, "device")
			}
			if v.on() && !v.h.allows(res[at], deedPlug) {
				return nil, hotplug(res[at].GetVirtualDevice().Key)
			}
			res = append(res[:at:at], res[at+1:]...)
		case types.VirtualDeviceConfigSpecOperationEdit:
			if at < 0 {
				return nil, deviceSpec(i, "key")
			}
			var d types.BaseVirtualDevice
			if d, err = v.editDevice(i, res[at], spec.Device); err == nil {
				res[at] = d
			}
		default:
			return nil, deviceSpec(i, "operation")
		}
		if err != nil {
			return nil, err
		}
	}
	return res, nil
}

// hotplug is what a live 8.0.3 answered to hot-adding an SR-IOV NIC, to the letter:
// github vmware-tanzu/vm-operator, hack/vcresearch.
func hotplug(key int32) error {
	return genericFault([2]string{"msg.devices.hotplug.failed", "The hot-plug operation failed. "},
		[2]string{"msg.devices.hotadd.failed", fmt.Sprintf("Hot-add of pciPassthru%d failed. ", key-13000)},
		[2]string{"msg.migrate.save.error", "An error occurred while saving the state for migration. "},
		[2]string{"msg.pciPassthru.noSuspend.postedInterrupts", "A virtual machine with a PCI DirectPath I/O device cannot be suspended " +
			"when FPT devices in-use have posted interrupts enabled."},
		[2]string{"msg.pciPassthru.noMigration", "vMotion, Storage vMotion, Fault Tolerance, and PCI hot-plug cannot be used for a virtual machine " +
			"with PCI DirectPath I/O device. "})
}

func isPassthru(d types.BaseVirtualDevice) bool {
	switch d.(type) {
	case *types.VirtualSriovEthernetCard, *types.VirtualPCIPassthrough:
		return true
	}
	return false
}

// nextKey gives the first free key from start in steps.
func nextKey(list []types.BaseVirtualDevice, start, step int32) int32 {
	used := map[int32]bool{}
	for _, d := range list {
		used[d.GetVirtualDevice().Key] = true
	}
	for used[start] {
		start += step
	}
	return start
}

func nextUnit(list []types.BaseVirtualDevice, start, step int32) *int32 {
	used := map[int32]bool{}
	for _, d := range list {
		if u := d.GetVirtualDevice().UnitNumber; u != nil && d.GetVirtualDevice().ControllerKey == 100 {
			used[*u] = true
		}
	}
	for used[start] {
		start += step
	}
	return &start
}

func (v *vmachine) addDevice(i int, list []types.BaseVirtualDevice, dev types.BaseVirtualDevice) ([]types.BaseVirtualDevice, error) {
	if v.on() && !v.h.allows(dev, deedPlug) {
		return nil, hotplug(nextKey(list, 13031, -1))
	}
	if err := v.checkKind(list, dev); err != nil {
		return nil, err
	}
	base := dev.GetVirtualDevice()
	for _, d := range list {
		if base.Key >= 0 && d.GetVirtualDevice().Key == base.Key && base.Key != 0 {
			return nil, deviceSpec(i, "key")
		}
	}
	label := ""
	switch d := dev.(type) {
	case *types.VirtualSriovEthernetCard:
		if err := v.checkSriov(i, d, nil); err != nil {
			return nil, err
		}
		base.Key, base.UnitNumber = nextKey(list, 13031, -1), nextUnit(list, 65, -1)
		label = fmt.Sprintf("SR-IOV network adapter %d", 13032-base.Key)
	case *types.VirtualPCIPassthrough:
		if err := v.checkDevice(i, d); err != nil {
			return nil, err
		}
		base.Key, base.UnitNumber = nextKey(list, 13000, 1), nextUnit(list, 18, 1)
		label = fmt.Sprintf("PCI device %d", base.Key-13000)
	case types.BaseVirtualEthernetCard:
		n := 0
		for _, o := range list {
			if _, ok := o.(types.BaseVirtualEthernetCard); ok && !isPassthru(o) {
				n++
			}
		}
		if n >= 10 {
			return nil, fault(&types.TooManyDevices{}, "The maximum number of network adapters is 10.")
		}
		base.Key, base.UnitNumber = nextKey(list, 4000, 1), nextUnit(list, 7, 1)
		label = fmt.Sprintf("Network adapter %d", base.Key-3999)
	default:
		base.Key = nextKey(list, 9000, 1)
		label = "Device"
	}
	if card, ok := dev.(types.BaseVirtualEthernetCard); ok {
		if err := v.checkCard(i, dev, card.GetVirtualEthernetCard(), nil); err != nil {
			return nil, err
		}
	}
	base.ControllerKey = 100
	base.DeviceInfo = &types.Description{Label: label, Summary: label}
	return append(list, dev), nil
}

// checkCard: the backing exists, its port is free, the MAC is allowed, PVRDMA is on
// a switch. was: the NIC that an edit replaces, or nil.
func (v *vmachine) checkCard(i int, dev types.BaseVirtualDevice, card, was *types.VirtualEthernetCard) error {
	n := v.dc.byBacking(card.Backing)
	if n == nil {
		f := &types.InvalidDeviceBacking{}
		f.DeviceIndex, f.Property = int32(i), fmt.Sprintf("virtualDeviceSpec[%d].device.backing", i)
		return fault(f, "Invalid backing for device '%d': the network does not exist.", i)
	}
	if b, ok := card.Backing.(*types.VirtualEthernetCardNetworkBackingInfo); ok {
		b.Network = &n.o.ref
	}
	if _, ok := dev.(*types.VirtualSriovEthernetCard); ok && n.nsx == "overlay" {
		f := &types.InvalidDeviceBacking{}
		f.DeviceIndex = int32(i)
		return fault(f, "An SR-IOV NIC can't be on an overlay segment.")
	}
	if r, ok := dev.(*types.VirtualVmxnet3Vrdma); ok {
		if n.sw == nil {
			f := &types.InvalidDeviceBacking{}
			f.DeviceIndex = int32(i)
			return fault(f, "PVRDMA demands a distributed port group.")
		}
		if r.DeviceProtocol == "" {
			r.DeviceProtocol = "rocev2"
		} else if r.DeviceProtocol != "rocev1" && r.DeviceProtocol != "rocev2" {
			return deviceSpec(i, "deviceProtocol")
		}
	}
	switch card.AddressType {
	case "manual", "Manual":
		card.MacAddress = strings.ToLower(card.MacAddress)
		if !macRange.MatchString(card.MacAddress) {
			return deviceSpec(i, "macAddress")
		}
	case "", "assigned", "Assigned", "generated", "Generated":
		card.AddressType, card.MacAddress = "assigned", newMAC()
	default:
		return deviceSpec(i, "addressType")
	}
	if card.Connectable == nil && was != nil {
		card.Connectable = was.Connectable
	}
	if card.Connectable == nil {
		card.Connectable = &types.VirtualDeviceConnectInfo{StartConnected: true, AllowGuestControl: true}
	}
	if card.WakeOnLanEnabled == nil && was != nil {
		card.WakeOnLanEnabled = was.WakeOnLanEnabled
	}
	if card.WakeOnLanEnabled == nil {
		card.WakeOnLanEnabled = types.NewBool(false)
	}
	return v.takePort(card, was)
}

// checkSriov brings the PF backing into its kept form. On an edit the PF may
// not be unset when a backing is given, and the VF is never kept.
func (v *vmachine) checkSriov(i int, d, old *types.VirtualSriovEthernetCard) error {
	if d.AllowGuestOSMtuChange == nil {
		d.AllowGuestOSMtuChange = types.NewBool(false)
	}
	if d.SriovBacking == nil {
		if old != nil {
			d.SriovBacking = old.SriovBacking
			return nil
		}
		d.SriovBacking = pfBacking(autoPF)
		return nil
	}
	b := d.SriovBacking.PhysicalFunctionBacking
	if b == nil || b.Id == "" {
		if old != nil || d.SriovBacking.VirtualFunctionBacking != nil {
			return deviceSpec(i, "sriovBacking.physicalFunctionBacking")
		}
		d.SriovBacking = pfBacking(autoPF)
		return nil
	}
	if strings.HasPrefix(b.Id, "Automatic-") {
		d.SriovBacking = pfBacking(autoPF)
		return nil
	}
	if v.h != nil && v.h.pfBy(b.Id) == nil {
		f := &types.InvalidDeviceBacking{}
		f.DeviceIndex, f.Property = int32(i), "sriovBacking.physicalFunctionBacking.id"
		return fault(f, "The physical function %s does not exist on host %s.", b.Id, v.h.spec.Name)
	}
	d.SriovBacking = pfBacking(b.Id)
	return nil
}

func pfBacking(id string) *types.VirtualSriovEthernetCardSriovBackingInfo {
	return &types.VirtualSriovEthernetCardSriovBackingInfo{
		PhysicalFunctionBacking: &types.VirtualPCIPassthroughDeviceBackingInfo{Id: id, DeviceId: "0", SystemId: "BYPASS", VendorId: 0}}
}

// editDevice replaces a device by what the client wants of it.
func (v *vmachine) editDevice(i int, old, dev types.BaseVirtualDevice) (types.BaseVirtualDevice, error) {
	if fmt.Sprintf("%T", old) != fmt.Sprintf("%T", dev) {
		return nil, deviceSpec(i, "device")
	}
	if v.on() && isPassthru(old) {
		return nil, hotplug(old.GetVirtualDevice().Key)
	}
	was, now := old.GetVirtualDevice(), dev.GetVirtualDevice()
	if now.Backing == nil {
		now.Backing = was.Backing
	}
	now.UnitNumber, now.ControllerKey, now.DeviceInfo = was.UnitNumber, was.ControllerKey, was.DeviceInfo
	if s, ok := dev.(*types.VirtualSriovEthernetCard); ok {
		if err := v.checkSriov(i, s, old.(*types.VirtualSriovEthernetCard)); err != nil {
			return nil, err
		}
	}
	if card, ok := dev.(types.BaseVirtualEthernetCard); ok {
		c, o := card.GetVirtualEthernetCard(), old.(types.BaseVirtualEthernetCard).GetVirtualEthernetCard()
		mac, kind := o.MacAddress, o.AddressType
		keep := c.MacAddress == "" || strings.EqualFold(c.MacAddress, mac)
		if c.AddressType == "" || keep && c.AddressType != "manual" {
			c.AddressType = "assigned"
		}
		if err := v.checkCard(i, dev, c, o); err != nil {
			return nil, err
		}
		if keep {
			c.MacAddress, c.AddressType = mac, kind
		}
	}
	return dev, nil
}
