// SPDX-License-Identifier: GPL-2.0-or-later
// buildvm.go: templates and VMs of the inventory, foreign ones among them;
// also what the admin's addVm makes.

package main

import (
	"fmt"

	"github.com/vmware/govmomi/vim25/types"
)

func (w *world) buildVMs(d *datacenter) error {
	w.building = true
	defer func() { w.building = false }()
	for i := range d.spec.Templates {
		s := d.spec.Templates[i]
		if s.Template == nil {
			s.Template = types.NewBool(true)
		}
		if err := w.buildMany(d, &s); err != nil {
			return fmt.Errorf("templates[%d]: %w", i, err)
		}
	}
	for i := range d.spec.VMs {
		if err := w.buildMany(d, &d.spec.VMs[i]); err != nil {
			return fmt.Errorf("vms[%d]: %w", i, err)
		}
	}
	w.building = false
	seen := map[*cluster]bool{}
	for _, h := range w.hosts {
		h.ownUsage()
		if !seen[h.c] {
			seen[h.c] = true
			h.quick()
		}
	}
	return nil
}

func (w *world) buildMany(d *datacenter, s *vmSpec) error {
	n := max(1, s.Count)
	var hosts []*host
	for _, h := range w.hosts {
		if h.c.dc == d {
			hosts = append(hosts, h)
		}
	}
	for k := 1; k <= n; k++ {
		one := *s
		one.Name = expandName(s.Name, k)
		if (one.Host == "*" || one.Host == "") && len(hosts) > 0 {
			one.Host = hosts[(k-1)%len(hosts)].spec.Name
		}
		if _, err := w.buildVM(d, &one); err != nil {
			return fmt.Errorf("%s: %w", one.Name, err)
		}
	}
	return nil
}

func (w *world) buildVM(d *datacenter, s *vmSpec) (*vmachine, error) {
	h := w.hostBy[s.Host]
	if h == nil {
		return nil, fmt.Errorf("host: %q is not declared", s.Host)
	}
	folder := d.vmFolder
	if s.Folder != "" {
		f, ok := d.folders[s.Folder]
		if !ok {
			return nil, fmt.Errorf("folder: %q is not declared", s.Folder)
		}
		folder = f
	}
	pool := h.c.root
	if s.Pool != "" {
		p, ok := h.c.pools[s.Pool]
		if !ok {
			return nil, fmt.Errorf("pool: %q is not declared", s.Pool)
		}
		pool = p
	}
	if len(d.storeList) == 0 {
		return nil, fmt.Errorf("the datacenter has no datastore")
	}
	store := d.storeList[0]
	if s.Datastore != "" {
		if store = d.stores[s.Datastore]; store == nil {
			return nil, fmt.Errorf("datastore: %q is not declared", s.Datastore)
		}
	}
	if w.nameTaken(folder, s.Name) != nil {
		return nil, fmt.Errorf("name: the folder has %q already", s.Name)
	}
	v := w.newVM(d, s.Name, folder)
	v.h = h
	v.baseConfig(s)
	if err := v.buildCards(s); err != nil {
		return nil, err
	}
	v.h = nil
	w.install(v, h, pool, store)
	v.disks = room{store, v.diskGB << 30} // freeGB is what is left beside the declared VMs
	v.summarise()
	if s.Snapshot != "" {
		v.snapshot(s.Snapshot, "")
	}
	if s.PowerOn {
		held, err := v.fits(h)
		if err == nil {
			err = v.takeSwap()
		}
		if err != nil {
			w.erase(v, true)
			return nil, fmt.Errorf("powerOn: %v", err)
		}
		v.turnOn(held)
	}
	return v, nil
}

func (v *vmachine) buildCards(s *vmSpec) error {
	var changes []types.BaseVirtualDeviceConfigSpec
	lock := false
	cards := append([]cardSpec(nil), s.Cards...)
	for i := len(s.Nics) - 1; i >= 0; i-- {
		cards = append([]cardSpec{{Type: "vmxnet3", Network: s.Nics[i]}}, cards...)
	}
	for i := range cards {
		dev, err := v.buildCard(&cards[i], int32(-100-i))
		if err != nil {
			return fmt.Errorf("NICs[%d].%w", i, err)
		}
		lock = lock || isPassthru(dev)
		changes = append(changes, &types.VirtualDeviceConfigSpec{Operation: "add", Device: dev})
	}
	devs, err := v.changeDevices(v.m.Config.Hardware.Device, changes)
	if err != nil {
		return err
	}
	v.m.Config.Hardware.Device = devs
	if s.LockMemory != nil {
		lock = *s.LockMemory
	}
	if lock {
		v.allocations(&types.VirtualMachineConfigSpec{MemoryReservationLockedToMax: types.NewBool(true)})
	}
	return nil
}

func (v *vmachine) buildCard(s *cardSpec, key int32) (types.BaseVirtualDevice, error) {
	if s.Type == "rawvf" {
		p := &types.VirtualPCIPassthrough{}
		p.Key, p.Backing = key, &types.VirtualPCIPassthroughDeviceBackingInfo{Id: s.Vf, DeviceId: "101c", SystemId: "BYPASS", VendorId: 5555}
		return p, nil
	}
	if s.Type == "directpath" {
		return v.fixedCard(s, key)
	}
	if s.Type == "vgpu" || s.Type == "dvx" {
		return sharedCard(s, key), nil
	}
	if s.Type == "pci" {
		p := &types.VirtualPCIPassthrough{}
		p.Key, p.Backing = key, &types.VirtualPCIPassthroughDynamicBackingInfo{CustomLabel: s.Label,
			AllowedDevice: []types.VirtualPCIPassthroughAllowedDevice{{VendorId: int32(s.Vendor), DeviceId: int32(s.Device)}}}
		return p, nil
	}
	n := v.dc.nets[s.Network]
	if n == nil {
		return nil, fmt.Errorf("network: %q is not declared", s.Network)
	}
	card := types.VirtualEthernetCard{}
	card.Key = key
	if n.sw != nil {
		b := &types.VirtualEthernetCardDistributedVirtualPortBackingInfo{}
		b.Port = types.DistributedVirtualSwitchPortConnection{SwitchUuid: n.sw.m.Uuid, PortgroupKey: n.key}
		card.Backing = b
	} else {
		b := &types.VirtualEthernetCardNetworkBackingInfo{Network: &n.o.ref}
		b.DeviceName = n.o.name()
		card.Backing = b
	}
	if s.Mac != "" {
		card.AddressType, card.MacAddress = "manual", s.Mac
	}
	switch s.Type {
	case "", "vmxnet3":
		c := &types.VirtualVmxnet3{}
		c.VirtualEthernetCard = card
		return c, nil
	case "pvrdma":
		c := &types.VirtualVmxnet3Vrdma{}
		c.VirtualEthernetCard = card
		return c, nil
	case "sriov":
		c := &types.VirtualSriovEthernetCard{VirtualEthernetCard: card}
		if s.Pf != "" && s.Pf != "automatic" {
			c.SriovBacking = pfBacking(s.Pf)
		}
		return c, nil
	}
	return nil, fmt.Errorf("type: %q is not one of vmxnet3, pvrdma, sriov, rawvf, pci, directpath, vgpu, dvx", s.Type)
}
