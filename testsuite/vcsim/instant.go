// SPDX-License-Identifier: GPL-2.0-or-later
// instant.go: InstantClone_Task, by its documentation (6.7): the source is on,
// the clone begins on the same host where the source's memory stands, sharing
// its disks, and is on at once. Devices that can't be forked refuse it. A
// source that isn't frozen gets a delta disk with each clone.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/vmware/govmomi/vim25/types"
)

// forkable: what keeps state outside of the VM's memory can't be forked. Of
// PVRDMA nothing is documented: refused.
func (v *vmachine) forkable() error {
	for _, d := range v.m.Config.Hardware.Device {
		_, rdma := d.(*types.VirtualVmxnet3Vrdma)
		if isPassthru(d) || rdma {
			return fault(&types.DisallowedMigrationDeviceAttached{}, "A device that prevents the operation is attached to '%s'.", v.m.Name)
		}
	}
	return nil
}

// checkInstant: the documented location is folder, pool and edits of NICs.
// CheckInstantClone_Task refuses a host and a datastore, and so do we.
func checkInstant(s *types.VirtualMachineInstantCloneSpec) error {
	l := &s.Location
	if s.Name == "" {
		return invalidArgument("spec.name")
	}
	if l.Host != nil || l.Datastore != nil || len(l.Disk) > 0 || len(l.Profile) > 0 || l.DiskMoveType != "" || l.Transform != "" || l.Service != nil {
		return invalidArgument("spec.location")
	}
	for _, b := range l.DeviceChange {
		ch := b.GetVirtualDeviceConfigSpec()
		_, card := ch.Device.(types.BaseVirtualEthernetCard)
		if !card || ch.Operation != types.VirtualDeviceConfigSpecOperationEdit {
			return fault(&types.DisallowedMigrationDeviceAttached{}, "Only edits of network adapters are allowed in an instant clone.")
		}
	}
	return nil
}

// instantWhere is the folder and pool of the clone: the source's, if none is given.
func (c *call) instantWhere(src *vmachine, l *types.VirtualMachineRelocateSpec) (folder, pool ref, err error) {
	folder, pool = src.dc.m.VmFolder, *src.m.ResourcePool
	if l.Folder != nil {
		folder = *l.Folder
	}
	if fo := c.w.get(folder); fo == nil || folder.Type != "Folder" {
		return folder, pool, notFound(folder)
	}
	if l.Pool != nil {
		pool = *l.Pool
	}
	if cl := c.w.pools[pool]; cl == nil {
		return folder, pool, notFound(pool)
	} else if cl != src.h.c {
		return folder, pool, invalidArgument("spec.location.pool")
	}
	if len(c.w.inv.Restrict) > 0 && !c.foreign && !c.w.folderOurs(folder) {
		c.w.count.foreignTouches++
		return folder, pool, c.noPermission()
	}
	return folder, pool, nil
}

func instantCloneVM(c *call) (any, error) {
	req := c.req.(*types.InstantClone_Task)
	src := c.o.vm
	if err := src.reachable(); err != nil {
		return nil, err
	}
	if src.m.Config.Template {
		return nil, invalidArgument("vm")
	}
	if err := src.claim(); err != nil {
		return nil, err
	}
	if err := checkInstant(&req.Spec); err != nil {
		return nil, err
	}
	folder, pool, err := c.instantWhere(src, &req.Spec.Location)
	if err != nil {
		return nil, err
	}
	name := unescapeName(req.Spec.Name)
	reserved, giveBack := c.w.reserveName(folder, name)
	src.sources++
	t := &task{cancelable: true, hosts: []*host{src.h}, stores: []*object{c.w.get(src.m.Datastore[0])}}
	t.run = func() (any, error) {
		if !reserved {
			return nil, c.w.duplicate(folder, name)
		}
		v, err := src.fork(&req.Spec, name, folder, pool)
		if err != nil {
			return nil, err
		}
		return v.o.ref, nil
	}
	t.after = func() {
		src.sources--
		giveBack()
	}
	return c.w.tasks.start(c, "InstantClone_Task", "VirtualMachine.instantClone", src.o, t), nil
}

// fork makes the clone, or nothing.
func (src *vmachine) fork(s *types.VirtualMachineInstantCloneSpec, name string, folder, pool ref) (*vmachine, error) {
	w, h := src.w, src.h
	if err := src.reachable(); err != nil {
		return nil, err
	}
	if !src.on() {
		return nil, powerState(types.VirtualMachinePowerStatePoweredOn, src.m.Runtime.PowerState)
	}
	if err := src.forkable(); err != nil {
		return nil, err
	}
	if _, err := src.fits(h); err != nil { // a second one of its size
		return nil, err
	}
	v := w.newVM(src.dc, name, folder)
	keep := *v.m.Config
	*v.m.Config = *src.m.Config
	cfg := v.m.Config
	cfg.Name, cfg.Uuid, cfg.InstanceUuid, cfg.Annotation = name, keep.Uuid, keep.InstanceUuid, ""
	if s.BiosUuid != "" {
		cfg.Uuid = strings.ToLower(s.BiosUuid)
	}
	cfg.Hardware.Device = w.copyDevices(src.m.Config.Hardware.Device)
	if err := v.configure(&types.VirtualMachineConfigSpec{ExtraConfig: s.Config, DeviceChange: s.Location.DeviceChange}); err != nil {
		return nil, err
	}
	cfg.Name = name
	v.bump()
	w.install(v, h, pool, w.get(src.m.Datastore[0]))
	if err := v.takeSwap(); err != nil {
		w.erase(v, true)
		return nil, err
	}
	if !src.frozen() {
		src.addDeltas()
	}
	v.forkedFrom = src
	v.turnOn(nil)
	v.forkedFrom = nil
	v.m.Runtime.BootTime = src.m.Runtime.BootTime // its memory says so
	w.touch(v.o, "runtime")
	return v, nil
}

// addDeltas: what both have read so far is read-only from now on.
func (v *vmachine) addDeltas() {
	devs := append([]types.BaseVirtualDevice(nil), v.m.Config.Hardware.Device...)
	v.deltas++
	for i, d := range devs {
		disk, ok := d.(*types.VirtualDisk)
		if !ok {
			continue
		}
		b, ok := disk.Backing.(*types.VirtualDiskFlatVer2BackingInfo)
		if !ok {
			continue
		}
		cp, nb := *disk, *b
		base := strings.TrimSuffix(b.FileName, ".vmdk")
		if v.deltas > 1 {
			base = base[:len(base)-7]
		}
		nb.FileName, nb.Parent = fmt.Sprintf("%s-%06d.vmdk", base, v.deltas), b
		cp.Backing = &nb
		devs[i] = &cp
	}
	v.m.Config.Hardware.Device = devs
	v.bump()
	v.w.touch(v.o, "config")
}

func (v *vmachine) frozen() bool { return isTrue(v.m.Runtime.InstantCloneFrozen) }

func (v *vmachine) setFrozen(yes bool) {
	if v.frozen() != yes {
		v.m.Runtime.InstantCloneFrozen = types.NewBool(yes)
		v.w.touch(v.o, "runtime")
	}
}

// takeFreeze: the guest has asked for it (instantclone.freeze), and makes no
// step any more: its tools fall silent.
func (v *vmachine) takeFreeze() {
	if v.frozen() {
		return
	}
	if _, err := os.Stat(filepath.Join(v.guestDir(), "frozen")); err == nil {
		v.setFrozen(true)
		v.setTools(false)
	}
}

// forkEnv tells a guest's hook that it continues where another guest was frozen.
func (v *vmachine) forkEnv() []string {
	_ = os.Remove(filepath.Join(v.guestDir(), "frozen"))
	src := v.forkedFrom
	if src == nil {
		return nil
	}
	up := int64(0)
	if at := src.m.Runtime.BootTime; at != nil {
		up = int64(time.Since(*at).Seconds())
	}
	return []string{"VM_FORKED=" + src.guestDir(), "VM_UPTIME=" + strconv.FormatInt(up, 10)}
}
