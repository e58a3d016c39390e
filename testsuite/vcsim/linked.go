// SPDX-License-Identifier: GPL-2.0-or-later
// linked.go: snapshots, and the disks that linked clones share. By VMware's
// documentation: a snapshot makes a VM's disks read-only and gives it delta
// disks; a clone of it with createNewChildDiskBacking has delta disks of its own
// on the same files. Destroying the VM that has those files is allowed, and its
// children are broken: they can't be powered on any more.

package main

import (
	"fmt"
	"strings"

	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

func flat(d types.BaseVirtualDevice) *types.VirtualDiskFlatVer2BackingInfo {
	if disk, ok := d.(*types.VirtualDisk); ok {
		b, _ := disk.Backing.(*types.VirtualDiskFlatVer2BackingInfo)
		return b
	}
	return nil
}

// snapshotOf finds the snapshot that a clone spec names; it has been checked.
func (v *vmachine) snapshotOf(s *types.VirtualMachineCloneSpec) *mo.VirtualMachineSnapshot {
	if s.Snapshot == nil {
		return nil
	}
	if o := v.w.get(*s.Snapshot); o != nil {
		sn, _ := o.ptr.(*mo.VirtualMachineSnapshot)
		return sn
	}
	return nil
}

// clonedDevices are the source's, or those that its snapshot has kept; the disks
// of a linked clone stand on them.
func (v *vmachine) clonedDevices(s *types.VirtualMachineCloneSpec) []types.BaseVirtualDevice {
	from := v.m.Config.Hardware.Device
	if sn := v.snapshotOf(s); sn != nil {
		from = sn.Config.Hardware.Device
	}
	res := v.w.copyDevices(from)
	for i := range res {
		b, base := flat(res[i]), flat(from[i])
		if b == nil {
			continue
		}
		b.Parent = nil
		if linked(s) {
			b.Parent = deepCopy(base).(*types.VirtualDiskFlatVer2BackingInfo)
		}
	}
	return res
}

// snapshot makes one above the current one.
func (v *vmachine) snapshot(name, text string) ref {
	r := ref{Type: "VirtualMachineSnapshot", Value: v.w.newID("snapshot-")}
	s := &mo.VirtualMachineSnapshot{Config: *v.m.Config, Vm: v.o.ref}
	s.Self = r
	v.w.addScoped(r, s)
	node := types.VirtualMachineSnapshotTree{Snapshot: r, Vm: v.o.ref, Name: name, Description: text, State: v.m.Runtime.PowerState}
	info := &types.VirtualMachineSnapshotInfo{CurrentSnapshot: &r}
	if old := v.m.Snapshot; old != nil {
		info.RootSnapshotList = addSnapshot(old.RootSnapshotList, *old.CurrentSnapshot, node)
	} else {
		info.RootSnapshotList = []types.VirtualMachineSnapshotTree{node}
	}
	v.m.Snapshot = info
	v.addDeltas()
	v.w.touch(v.o, "snapshot")
	return r
}

func addSnapshot(list []types.VirtualMachineSnapshotTree, above ref, node types.VirtualMachineSnapshotTree) []types.VirtualMachineSnapshotTree {
	res := append([]types.VirtualMachineSnapshotTree(nil), list...)
	for i := range res {
		if res[i].Snapshot == above {
			res[i].ChildSnapshotList = append(res[i].ChildSnapshotList[:len(res[i].ChildSnapshotList):len(res[i].ChildSnapshotList)], node)
		} else {
			res[i].ChildSnapshotList = addSnapshot(res[i].ChildSnapshotList, above, node)
		}
	}
	return res
}

// removeSnapshots is another user's RemoveAllSnapshots_Task: what was written
// since goes into the files beneath.
func (v *vmachine) removeSnapshots() {
	devs := append([]types.BaseVirtualDevice(nil), v.m.Config.Hardware.Device...)
	for i, d := range devs {
		b := flat(d)
		for b != nil && b.Parent != nil && strings.HasPrefix(b.Parent.FileName, v.m.Config.Files.LogDirectory) {
			b = b.Parent
			cp := *d.(*types.VirtualDisk)
			cp.Backing = b
			devs[i] = &cp
		}
	}
	v.m.Config.Hardware.Device, v.m.Snapshot, v.deltas = devs, nil, 0
	v.bump()
	v.w.touch(v.o, "snapshot", "config")
}

// standsOn tells whether a disk of a VM stands on a file of another's directory.
func (v *vmachine) standsOn(dir string) bool {
	for _, d := range v.m.Config.Hardware.Device {
		for b := flat(d); b != nil; b = b.Parent {
			if b.Parent != nil && strings.HasPrefix(b.Parent.FileName, dir) {
				return true
			}
		}
	}
	return false
}

func (w *world) childrenOf(v *vmachine) []*vmachine {
	var res []*vmachine
	for _, x := range w.vms {
		if x != v && !x.baseLost && x.standsOn(v.m.Config.Files.LogDirectory) {
			res = append(res, x)
		}
	}
	return res
}

// orphanChildren: the files that they stand on are deleted.
func (w *world) orphanChildren(v *vmachine, foreign bool) {
	for _, x := range w.childrenOf(v) {
		x.baseLost = true
		if !foreign {
			w.count.brokenChildren++
			w.count.note("%s is destroyed under %s, which stands on its disks", v.m.Name, x.m.Name)
		}
	}
}

// baseThere is the fault of a power-on whose disks stand on nothing.
func (v *vmachine) baseThere() error {
	if !v.baseLost {
		return nil
	}
	f := &types.FileNotFound{}
	for _, d := range v.m.Config.Hardware.Device {
		if b := flat(d); b != nil && b.Parent != nil {
			f.File = b.Parent.FileName
		}
	}
	return fault(f, "File %s was not found.", f.File)
}

// bases are the VMs that its disks stand on, by the directories' names.
func (v *vmachine) bases() []string {
	res := []string{}
	for _, d := range v.m.Config.Hardware.Device {
		for b := flat(d); b != nil && b.Parent != nil; b = b.Parent {
			if !strings.HasPrefix(b.Parent.FileName, v.m.Config.Files.LogDirectory) {
				res = append(res, fmt.Sprint(b.Parent.FileName))
			}
		}
	}
	return res
}

func (v *vmachine) snapshotNames() []string {
	res := []string{}
	var add func(list []types.VirtualMachineSnapshotTree)
	add = func(list []types.VirtualMachineSnapshotTree) {
		for _, s := range list {
			res = append(res, s.Name)
			add(s.ChildSnapshotList)
		}
	}
	if v.m.Snapshot != nil {
		add(v.m.Snapshot.RootSnapshotList)
	}
	return res
}
