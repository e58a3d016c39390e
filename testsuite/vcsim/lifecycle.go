// SPDX-License-Identifier: GPL-2.0-or-later
// lifecycle.go: destroy, unregister, relocate, rename, templates, snapshots,
// and the hosts' maintenance and connection. host.vm is kept right throughout.

package main

import (
	"strings"

	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

// erase takes a VM out of everything.
func (w *world) erase(v *vmachine, files bool) {
	v.endGuest()
	if files {
		v.disks.release(w)
		v.removeDir()
	}
	if v.m.ResourcePool != nil {
		w.poolOf(v, *v.m.ResourcePool, false)
	}
	w.disown(*v.m.Parent, v.o.ref, v.m.Name)
	h := v.h
	v.place(nil)
	delete(w.vms, v.o.ref)
	w.remove(v.o)
	if h != nil {
		h.checkMaintenance()
	}
}

func destroyVM(c *call) (any, error) {
	v := c.o.vm
	if err := v.h.connected(); err != nil {
		return nil, err
	}
	t := &task{run: func() (any, error) {
		if v.on() {
			return nil, powerState(types.VirtualMachinePowerStatePoweredOff, types.VirtualMachinePowerStatePoweredOn)
		}
		if v.sources > 0 {
			return nil, fault(&types.ResourceInUse{Type: "VirtualMachine", Name: v.m.Name}, "The resource '%s' is in use.", v.m.Name)
		}
		c.w.count.foreignDisks += v.foreignDisks()
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
		if disk, ok := d.(*types.VirtualDisk); ok {
			b, ok := disk.Backing.(*types.VirtualDiskFlatVer2BackingInfo)
			if ok && !strings.HasPrefix(b.FileName, v.m.Config.Files.LogDirectory) {
				n++
			}
		}
	}
	return n
}

// attachDisk is a person's deed: a disk with data, attached for a while.
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
	if err := v.h.connected(); err != nil {
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
	}
	t := &task{cancelable: true, hosts: []*host{v.h}, run: func() (any, error) { return nil, v.relocate(to, &req.Spec) }}
	if to != v.h {
		t.hosts = append(t.hosts, to)
	}
	if d := req.Spec.Datastore; d != nil && *d != v.m.Datastore[0] {
		t.stores = []*object{c.w.get(v.m.Datastore[0]), c.w.get(*d)}
	}
	return c.vmTask(v, "RelocateVM_Task", "VirtualMachine.relocate", t)
}

// relocate moves a VM; one that is on must fit there, and has no passthrough.
func (v *vmachine) relocate(to *host, spec *types.VirtualMachineRelocateSpec) error {
	if v.on() && to != v.h {
		if len(v.demands()) > 0 {
			return fault(&types.DisallowedMigrationDeviceAttached{}, "A device that prevents migration is attached to the virtual machine.")
		}
		if _, err := v.fits(to); err != nil {
			return err
		}
	}
	if to != v.h && to.m.Runtime.InMaintenanceMode {
		return to.accepts()
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
	v.place(to)
	v.summarise()
	v.w.publish(v.o)
	from.quick()
	to.quick()
	from.checkMaintenance()
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
	if v.on() {
		return nil, powerState(types.VirtualMachinePowerStatePoweredOff, types.VirtualMachinePowerStatePoweredOn)
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

// createSnapshot is refused where the real one refuses it; elsewhere it
// succeeds and keeps a snapshot tree of names only.
func createSnapshot(c *call) (any, error) {
	req := c.req.(*types.CreateSnapshot_Task)
	v := c.o.vm
	if v.m.Config.Template {
		return nil, fault(&types.NotSupported{}, "The operation is not supported on a template.")
	}
	t := &task{run: func() (any, error) {
		if len(v.demands()) > 0 {
			return nil, genericFault([2]string{"msg.snapshot.pciPassthru", "Virtual machine is configured to use a device that prevents the snapshot operation: Device 'pciPassthru0' is a PCI passthrough device."})
		}
		return v.snapshot(req.Name, req.Description), nil
	}}
	return c.vmTask(v, "CreateSnapshot_Task", "VirtualMachine.createSnapshot", t)
}

func (v *vmachine) snapshot(name, text string) ref {
	r := ref{Type: "VirtualMachineSnapshot", Value: v.w.newID("snapshot-")}
	s := &mo.VirtualMachineSnapshot{Config: *v.m.Config, Vm: v.o.ref}
	s.Self = r
	v.w.addScoped(r, s)
	v.m.Snapshot = &types.VirtualMachineSnapshotInfo{CurrentSnapshot: &r, RootSnapshotList: []types.VirtualMachineSnapshotTree{
		{Snapshot: r, Vm: v.o.ref, Name: name, Description: text, State: v.m.Runtime.PowerState}}}
	v.w.touch(v.o, "snapshot")
	return r
}

// enterMaintenance runs until the last powered-on VM is off.
func enterMaintenance(c *call) (any, error) {
	h := c.o.host
	if err := h.connected(); err != nil {
		return nil, err
	}
	if h.entering != nil {
		return nil, fault(&types.TaskInProgress{Task: h.entering.o.ref}, "The operation is not allowed while another task is in progress.")
	}
	if h.m.Runtime.InMaintenanceMode {
		return nil, fault(&types.InvalidState{}, "The host is in maintenance mode already.")
	}
	t := &task{cancelable: true}
	t.until = func() bool { return !h.busyVMs() }
	t.run = func() (any, error) {
		h.m.Runtime.InMaintenanceMode = true
		h.touchRuntime()
		return nil, nil
	}
	t.after = func() {
		if h.entering == t {
			h.entering = nil
		}
	}
	h.entering = t
	r := c.w.tasks.start(c, "EnterMaintenanceMode_Task", "HostSystem.enterMaintenanceMode", h.o, t)
	h.checkMaintenance()
	return r, nil
}

func (h *host) busyVMs() bool {
	for v := range h.vms {
		if v.on() {
			return true
		}
	}
	return false
}

// checkMaintenance ends a waiting EnterMaintenanceMode_Task when it may end.
func (h *host) checkMaintenance() {
	if t := h.entering; t != nil && t.until() {
		h.o.w().tasks.complete(t)
	}
}

func (h *host) touchRuntime() {
	h.o.w().touch(h.o, "runtime", "summary")
}

func exitMaintenance(c *call) (any, error) {
	h := c.o.host
	t := &task{run: func() (any, error) {
		if !h.m.Runtime.InMaintenanceMode {
			return nil, fault(&types.InvalidState{}, "The host is not in maintenance mode.")
		}
		h.m.Runtime.InMaintenanceMode = false
		h.touchRuntime()
		return nil, nil
	}}
	return c.w.tasks.start(c, "ExitMaintenanceMode_Task", "HostSystem.exitMaintenanceMode", h.o, t), nil
}

// setState connects or disconnects a host, its VMs with it.
func (h *host) setState(state types.HostSystemConnectionState) {
	h.m.Runtime.ConnectionState = state
	h.touchRuntime()
	for v := range h.vms {
		v.m.Runtime.ConnectionState = connectionFor(h)
		v.summarise()
		h.o.w().touch(v.o, "runtime")
	}
}
