// SPDX-License-Identifier: GPL-2.0-or-later
// lifecycle.go: destroy, unregister, relocate, rename, templates, snapshots.
// host.vm is kept right throughout.

package main

import (
	"strings"

	"github.com/vmware/govmomi/vim25/types"
)

// erase takes a VM out of everything.
func (w *world) erase(v *vmachine, files bool) {
	v.endGuest()
	if files {
		v.disks.release(w)
		v.memory.release(w)
		v.removeDir()
	}
	if v.m.ResourcePool != nil {
		w.poolOf(v, *v.m.ResourcePool, false)
	}
	w.disown(*v.m.Parent, v.o.ref, v.m.Name)
	h := v.h
	if h != nil {
		h.c.dropOverride(v.o.ref)
	}
	v.place(nil)
	delete(w.vms, v.o.ref)
	w.remove(v.o)
	if h != nil {
		h.checkMaintenance()
	}
}

func destroyVM(c *call) (any, error) {
	v := c.o.vm
	if err := v.reachable(); err != nil {
		return nil, err
	}
	t := &task{run: func() (any, error) {
		if err := v.reachable(); err != nil {
			return nil, err
		}
		if err := v.needOff(); err != nil {
			return nil, err
		}
		if v.sources > 0 {
			return nil, fault(&types.ResourceInUse{Type: "VirtualMachine", Name: v.m.Name}, "The resource '%s' is in use.", v.m.Name)
		}
		if !c.foreign {
			v.countDisks()
		}
		c.w.orphanChildren(v, c.foreign)
		c.w.erase(v, true)
		return nil, nil
	}}
	return c.vmTask(v, "Destroy_Task", "VirtualMachine.destroy", t)
}

// foreignDisks are disks that are attached but lie in no directory of the VM:
// Destroy_Task deletes them all the same.
func (v *vmachine) foreignDisks() int {
	n := 0
	for _, d := range v.m.Config.Hardware.Device {
		if v.isForeignDisk(d) {
			n++
		}
	}
	return n
}

func (v *vmachine) isForeignDisk(d types.BaseVirtualDevice) bool {
	disk, ok := d.(*types.VirtualDisk)
	if !ok {
		return false
	}
	b, ok := disk.Backing.(*types.VirtualDiskFlatVer2BackingInfo)
	return ok && !strings.HasPrefix(b.FileName, v.m.Config.Files.LogDirectory)
}

// countRemoved counts foreign disks that a reconfiguration deletes or edits.
func (v *vmachine) countRemoved(before []types.BaseVirtualDevice, changes []types.BaseVirtualDeviceConfigSpec) {
	for _, ch := range changes {
		s := ch.GetVirtualDeviceConfigSpec()
		for _, d := range before {
			if d.GetVirtualDevice().Key == s.Device.GetVirtualDevice().Key && v.isForeignDisk(d) &&
				(s.Operation == types.VirtualDeviceConfigSpecOperationEdit || s.FileOperation == types.VirtualDeviceConfigSpecFileOperationDestroy) {
				v.blameDisks(1)
			}
		}
	}
}

func (v *vmachine) blameDisks(n int) {
	c := v.w.count
	c.foreignDisks += n
	if v.w.isKnown(v.diskAt) {
		c.foreignKnownDisks += n
	}
	c.note("foreign disk of %s deleted or changed", v.m.Name)
}

// countDisks counts what our Destroy_Task deletes.
func (v *vmachine) countDisks() {
	c := v.w.count
	for _, d := range v.m.Config.Hardware.Device {
		if _, ok := d.(*types.VirtualDisk); ok {
			c.disksDeleted++
		}
	}
	if n := v.foreignDisks(); n > 0 {
		v.blameDisks(n)
	}
}

// attachDisk is a user's operation: a disk with data, attached for a while.
func (v *vmachine) attachDisk(file string) {
	list := v.m.Config.Hardware.Device
	d := &types.VirtualDisk{CapacityInKB: 1 << 20, CapacityInBytes: 1 << 30}
	d.Key = nextKey(list, 2001, 1)
	d.ControllerKey, d.UnitNumber = 1000, types.NewInt32(d.Key-2000)
	d.DeviceInfo = &types.Description{Label: "Hard disk 2", Summary: "1,048,576 KB"}
	d.Backing = &types.VirtualDiskFlatVer2BackingInfo{VirtualDeviceFileBackingInfo: types.VirtualDeviceFileBackingInfo{FileName: file}, DiskMode: "persistent"}
	v.m.Config.Hardware.Device = append(list[:len(list):len(list)], d)
	v.bump()
	v.w.touch(v.o, "config")
	v.diskAt = v.w.seq
}

func unregisterVM(c *call) (any, error) {
	v := c.o.vm
	if v.on() {
		return nil, powerState(types.VirtualMachinePowerStatePoweredOff, types.VirtualMachinePowerStatePoweredOn)
	}
	if err := v.claim(); err != nil {
		return nil, err
	}
	c.w.erase(v, false)
	return nil, nil
}

func relocateVM(c *call) (any, error) {
	req := c.req.(*types.RelocateVM_Task)
	v := c.o.vm
	if err := v.reachable(); err != nil {
		return nil, err
	}
	to := v.h
	if r := req.Spec.Host; r != nil {
		o := c.w.get(*r)
		if o == nil || o.host == nil {
			return nil, notFound(*r)
		}
		to = o.host
	}
	if p := req.Spec.Pool; p != nil {
		if c.w.pools[*p] == nil {
			return nil, notFound(*p)
		}
		if req.Spec.Host == nil && c.w.pools[*p] != to.c {
			to = c.w.pools[*p].hosts[0]
		} else if c.w.pools[*p] != to.c {
			return nil, invalidArgument("spec.pool")
		}
	} else if to.c != v.h.c {
		return nil, invalidArgument("spec.pool")
	}
	if err := to.connected(); err != nil {
		return nil, err
	}
	if d := req.Spec.Datastore; d != nil && c.w.free[*d] == nil {
		return nil, notFound(*d)
	} else if d != nil && !to.mounts(*d) {
		return nil, to.unmounted(c.w.get(*d))
	}
	t := &task{cancelable: true, hosts: []*host{v.h}, run: func() (any, error) {
		from := v.h
		err := v.relocate(to, &req.Spec)
		if c.foreign && v.on() && v.h != from {
			v.foreignOn = c.w.seq
		}
		return nil, err
	}}
	if to != v.h {
		t.hosts = append(t.hosts, to)
	}
	if d := req.Spec.Datastore; d != nil && *d != v.m.Datastore[0] {
		t.stores, t.copies = []*object{c.w.get(v.m.Datastore[0]), c.w.get(*d)}, true
	}
	return c.vmTask(v, "RelocateVM_Task", "VirtualMachine.relocate", t)
}

// relocate moves a VM; one that is on must fit there, and has there what it has
// of its host.
func (v *vmachine) relocate(to *host, spec *types.VirtualMachineRelocateSpec) error {
	if err := v.reachable(); err != nil {
		return err
	}
	live := v.on() && to != v.h
	var there []heldVF
	if live {
		if label, held := v.forbids(deedMotion); held {
			return noMotion(label)
		}
		var err error
		if there, err = v.fits(to); err != nil {
			return err
		}
	}
	if to != v.h && !v.on() {
		if err := v.boundElsewhere(to); err != nil {
			return err
		}
	}
	if to != v.h && to.m.Runtime.InMaintenanceMode {
		return to.accepts()
	}
	if err := v.follows(to); err != nil {
		return err
	}
	if spec.Datastore == nil && !to.mounts(v.m.Datastore[0]) {
		return v.diskUnseen(to)
	}
	if spec.Datastore != nil {
		if err := v.moveDisks(v.w.get(*spec.Datastore)); err != nil {
			return err
		}
	}
	from := v.h
	if spec.Pool != nil {
		if v.m.ResourcePool != nil {
			v.w.poolOf(v, *v.m.ResourcePool, false)
		}
		pool := *spec.Pool
		v.m.ResourcePool = &pool
		v.w.poolOf(v, pool, true)
		v.w.touch(v.o, "resourcePool")
	}
	if live {
		v.giveBack()
	}
	v.place(to)
	if live {
		v.takeHost(there)
	}
	v.summarise()
	v.w.publish(v.o)
	from.quick()
	to.quick()
	from.checkMaintenance()
	return nil
}

// boundElsewhere: a VM that is off is not moved away from a device that only its
// host has, by address: a PF that was named, or a device of the host's own.
func (v *vmachine) boundElsewhere(to *host) error {
	for _, d := range v.m.Config.Hardware.Device {
		there, name := true, ""
		switch c := d.(type) {
		case *types.VirtualSriovEthernetCard:
			name = c.SriovBacking.PhysicalFunctionBacking.Id
			there = strings.HasPrefix(name, "Automatic-") || to.pfBy(name) != nil
		case *types.VirtualPCIPassthrough:
			if b, ok := c.Backing.(*types.VirtualPCIPassthroughDeviceBackingInfo); ok {
				name = b.Id
				there = b.SystemId == "" || b.SystemId == "BYPASS" || b.SystemId == to.systemID()
			}
		}
		if !there {
			base := d.GetVirtualDevice()
			return fault(&types.CannotAccessVmDevice{Device: "pciPassthru", Backing: name, Connected: true},
				"The device %d (%s) of '%s' is not accessible on host %s.", base.Key, name, v.m.Name, to.spec.Name)
		}
	}
	return nil
}

func renameVM(c *call) (any, error) {
	req := c.req.(*types.Rename_Task)
	v := c.o.vm
	t := &task{run: func() (any, error) {
		if dup := c.w.nameTaken(*v.m.Parent, req.NewName); dup != nil {
			return nil, fault(&types.DuplicateName{Name: req.NewName, Object: *dup}, "The name '%s' already exists.", req.NewName)
		}
		v.rename(req.NewName)
		v.bump()
		v.summarise()
		c.w.touch(v.o, "name", "config")
		return nil, nil
	}}
	return c.vmTask(v, "Rename_Task", "VirtualMachine.rename", t)
}

func markAsTemplate(c *call) (any, error) {
	v := c.o.vm
	if err := v.needOff(); err != nil {
		return nil, err
	}
	if err := v.claim(); err != nil {
		return nil, err
	}
	if v.m.ResourcePool != nil {
		c.w.poolOf(v, *v.m.ResourcePool, false)
	}
	v.m.ResourcePool, v.m.Config.Template = nil, true
	v.bump()
	v.summarise()
	c.w.touch(v.o, "config", "resourcePool")
	return nil, nil
}

func markAsVM(c *call) (any, error) {
	req := c.req.(*types.MarkAsVirtualMachine)
	v := c.o.vm
	cl := c.w.pools[req.Pool]
	if cl == nil {
		return nil, notFound(req.Pool)
	}
	if !v.m.Config.Template {
		return nil, fault(&types.InvalidState{}, "The virtual machine is not a template.")
	}
	pool := req.Pool
	v.m.ResourcePool, v.m.Config.Template = &pool, false
	c.w.poolOf(v, pool, true)
	if req.Host != nil && c.w.get(*req.Host) != nil {
		v.place(c.w.get(*req.Host).host)
	}
	v.bump()
	v.summarise()
	c.w.touch(v.o, "config", "resourcePool")
	c.w.publish(v.o)
	return nil, nil
}

// createSnapshot is refused where the real one refuses it.
func createSnapshot(c *call) (any, error) {
	req := c.req.(*types.CreateSnapshot_Task)
	v := c.o.vm
	if v.m.Config.Template {
		return nil, fault(&types.NotSupported{}, "The operation is not supported on a template.")
	}
	t := &task{run: func() (any, error) {
		if label, held := v.forbids(deedSnapshot); held {
			return nil, genericFault([2]string{"msg.snapshot.pciPassthru", "Virtual machine is configured to use a device that prevents the snapshot operation: Device '" + label + "' is a PCI passthrough device."})
		}
		return v.snapshot(req.Name, req.Description), nil
	}}
	return c.vmTask(v, "CreateSnapshot_Task", "VirtualMachine.createSnapshot", t)
}
