// SPDX-License-Identifier: GPL-2.0-or-later
// store.go: room on datastores. A full clone takes its disks' size, a linked
// one none; a VM that is on takes a swap file as large as the memory that it
// has not reserved. What was taken is given back, no more and no less.

package main

import (
	"fmt"
	"slices"

	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

// room is what something takes of a datastore.
type room struct {
	store *object
	bytes int64
}

func (r *room) release(w *world) {
	if r.store != nil {
		w.setFree(r.store, *w.free[r.store.ref]+r.bytes)
	}
	*r = room{}
}

func (w *world) setFree(store *object, bytes int64) {
	ds := store.ptr.(*mo.Datastore)
	*w.free[store.ref] = min(ds.Summary.Capacity, bytes)
	ds.Summary.FreeSpace = *w.free[store.ref]
	info := *ds.Info.GetDatastoreInfo()
	info.FreeSpace = ds.Summary.FreeSpace
	ds.Info = &info
	w.touch(store, "summary", "info")
}

// takeRoom takes bytes of a datastore for a VM's file.
func (v *vmachine) takeRoom(store *object, file string, bytes int64) (room, error) {
	left := *v.w.free[store.ref]
	if bytes > left {
		return room{}, v.w.noRoom(store.name(), "["+store.name()+"] "+v.m.Name+"/"+file, bytes)
	}
	v.w.setFree(store, left-bytes)
	return room{store, bytes}, nil
}

// noRoom is the fault; which one it is at a power-on has not been seen live.
func (w *world) noRoom(store, file string, bytes int64) error {
	text := fmt.Sprintf("Insufficient disk space on datastore '%s'.", store)
	switch w.inv.NoRoomFault {
	case "InsufficientStorageSpace":
		return fault(&types.InsufficientStorageSpace{}, "%s", text)
	case "GenericVmConfigFault":
		return genericFault([2]string{"msg.vmk.status.VMK_NO_SPACE", "No space left on device"},
			[2]string{"msg.swap.extend", fmt.Sprintf("Failed to extend '%s' from 0 KB to %d KB.", file, bytes>>10)})
	}
	f := &types.NoDiskSpace{Datastore: store}
	f.File = file
	return fault(f, "%s", text)
}

// mounts: a datastore may be local to some hosts.
func (h *host) mounts(store ref) bool {
	return slices.Contains(h.m.Datastore, store)
}

// unmounted is the fault of a placement on a datastore that the host doesn't see.
func (h *host) unmounted(store *object) error {
	f := &types.DatastoreNotWritableOnHost{Host: h.o.ref}
	f.Datastore, f.Name = &store.ref, store.name()
	return fault(f, "Datastore '%s' is not accessible on host '%s'.", store.name(), h.spec.Name)
}

// diskUnseen is the fault of a VM whose disks the host doesn't see.
func (v *vmachine) diskUnseen(h *host) error {
	store := v.w.get(v.m.Datastore[0])
	f := &types.CannotAccessVmDisk{}
	f.Fault = types.LocalizedMethodFault{Fault: &types.DatastoreNotWritableOnHost{Host: h.o.ref}}
	return fault(f, "Unable to access the virtual machine's disk on datastore '%s' from host '%s'.", store.name(), h.spec.Name)
}

// takeDisks takes the room of a VM's disks on a datastore.
func (v *vmachine) takeDisks(store *object) error {
	r, err := v.takeRoom(store, v.m.Name+".vmdk", v.diskGB<<30)
	if err == nil {
		v.disks = r
	}
	return err
}

// moveFile moves what a VM has on a datastore beside its disks.
func (v *vmachine) moveFile(r *room, to *object, kind string) error {
	if r.store == nil {
		return nil
	}
	there, err := v.takeRoom(to, v.m.Name+kind, r.bytes)
	if err == nil {
		r.release(v.w)
		*r = there
	}
	return err
}

// moveDisks moves a VM to another datastore, its swap file or the file of its
// memory with it: it has one of them at most.
func (v *vmachine) moveDisks(to *object) error {
	if v.m.Datastore[0] == to.ref {
		return nil
	}
	old := v.disks
	if err := v.takeDisks(to); err != nil {
		return err
	}
	err := v.moveFile(&v.swap, to, ".vswp")
	if err == nil {
		err = v.moveFile(&v.memory, to, ".vmss")
	}
	if err != nil {
		v.disks.release(v.w)
		v.disks = old
		return err
	}
	old.release(v.w)
	for _, d := range v.m.Config.Hardware.Device {
		if disk, ok := d.(*types.VirtualDisk); ok {
			if b, ok := disk.Backing.(*types.VirtualDiskFlatVer2BackingInfo); ok {
				b.FileName, b.Parent = "", nil
			}
		}
	}
	v.setFiles(to)
	v.bump()
	v.w.touch(v.o, "datastore", "config")
	return nil
}

// takeSwap takes the swap file's room: memory that isn't reserved.
func (v *vmachine) takeSwap() error {
	mem, _ := v.reserved()
	r, err := v.takeRoom(v.w.get(v.m.Datastore[0]), v.m.Name+".vswp", max(0, int64(v.m.Config.Hardware.MemoryMB)-mem)<<20)
	if err == nil {
		v.swap = r
	}
	return err
}
