// SPDX-License-Identifier: GPL-2.0-or-later
// clone.go: CloneVM_Task. The clone is invisible until the task is done; a
// failed or cancelled one leaves nothing. The source's extraConfig is copied
// and then changed by the spec.

package main

import (
	"strings"

	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

func linked(s *types.VirtualMachineCloneSpec) bool {
	return s.Location.DiskMoveType == string(types.VirtualMachineRelocateDiskMoveOptionsCreateNewChildDiskBacking)
}

// checkLinked: a child disk needs a parent that is read-only, a snapshot, and
// a snapshot must be one of the source.
func (v *vmachine) checkLinked(s *types.VirtualMachineCloneSpec) error {
	if s.Snapshot == nil {
		if linked(s) {
			return invalidArgument("spec.snapshot")
		}
		return nil
	}
	o := v.w.get(*s.Snapshot)
	if o == nil {
		return notFound(*s.Snapshot)
	}
	if sn, ok := o.ptr.(*mo.VirtualMachineSnapshot); !ok || sn.Vm != v.o.ref {
		return invalidArgument("spec.snapshot")
	}
	return nil
}

// cloneWhere is where a clone goes.
type cloneWhere struct {
	host  *host
	pool  ref
	store *object
}

func cloneVM(c *call) (any, error) {
	req := c.req.(*types.CloneVM_Task)
	src := c.o.vm
	if err := src.reachable(); err != nil {
		return nil, err
	}
	if err := src.claim(); err != nil {
		return nil, err
	}
	fo := c.w.get(req.Folder)
	if fo == nil || req.Folder.Type != "Folder" {
		return nil, notFound(req.Folder)
	}
	if len(c.w.inv.Restrict) > 0 && !c.foreign && !c.w.folderOurs(req.Folder) {
		c.w.count.foreignTouches++
		return nil, c.noPermission()
	}
	if err := src.checkLinked(&req.Spec); err != nil {
		return nil, err
	}
	where, err := c.cloneTarget(src, &req.Spec)
	if err != nil {
		return nil, err
	}
	name := unescapeName(req.Name)
	t := &task{cancelable: true, hosts: []*host{src.h}}
	if where.host != src.h {
		t.hosts = append(t.hosts, where.host)
	}
	t.stores, t.copies = []*object{where.store}, !linked(&req.Spec)
	if !t.copies {
		t.own = "CloneVM_Task/linked"
	}
	if from := c.w.get(src.m.Datastore[0]); from != where.store && !linked(&req.Spec) {
		t.stores = append(t.stores, from)
	}
	src.sources++
	reserved, giveBack := c.w.reserveName(req.Folder, name)
	t.run = func() (any, error) {
		if !reserved {
			return nil, c.w.duplicate(req.Folder, name)
		}
		if c.w.inv.CloneDevice == "refused" && addsPassthru(req.Spec.Config) {
			return nil, invalidArgument("spec.config.deviceChange")
		}
		v, err := src.cloneTo(req, name, where)
		if err == nil && req.Spec.PowerOn {
			err = v.powerOnHere()
		}
		if err != nil {
			return nil, err
		}
		return v.o.ref, nil
	}
	t.after = func() {
		src.sources--
		giveBack()
	}
	return c.w.tasks.start(c, "CloneVM_Task", "VirtualMachine.clone", src.o, t), nil
}

func addsPassthru(s *types.VirtualMachineConfigSpec) bool {
	if s == nil {
		return false
	}
	for _, ch := range s.DeviceChange {
		if spec := ch.GetVirtualDeviceConfigSpec(); spec.Operation == "add" && isPassthru(spec.Device) {
			return true
		}
	}
	return false
}

// reserveName keeps a name in a folder for a task that is under way; false: it
// is taken, and nothing is to be given back.
func (w *world) reserveName(folder ref, name string) (bool, func()) {
	if w.nameTaken(folder, name) != nil {
		return false, func() {}
	}
	slot := folder.Value + "/" + name
	w.names[slot] = ref{Type: "VirtualMachine", Value: w.newID("vm-")}
	return true, func() { delete(w.names, slot) }
}

// duplicate is the fault for a name that was taken when the clone was asked.
func (w *world) duplicate(folder ref, name string) error {
	by := w.nameTaken(folder, name)
	if by == nil { // the clone that had it was cancelled since
		by = &ref{Type: "VirtualMachine", Value: "vm-0"}
	}
	return fault(&types.DuplicateName{Name: name, Object: *by}, "The name '%s' already exists.", name)
}

// powerOnHere is the power-on that a clone spec asks for.
func (v *vmachine) powerOnHere() error {
	held, err := v.fits(v.h)
	if err == nil {
		err = v.takeSwap()
	}
	if err == nil {
		v.turnOn(held)
	}
	return err
}

func unescapeName(n string) string {
	return strings.NewReplacer("%2f", "/", "%2F", "/", "%5c", "\\", "%5C", "\\", "%25", "%").Replace(n)
}

// escapeName is a name as vCenter shows and finds it. Standard networks alone are
// shown as they are.
func escapeName(n string) string {
	return strings.NewReplacer("/", "%2f", "\\", "%5c", "%", "%25").Replace(n)
}

// nameTaken gives who has a name in a folder, clones under way included.
func (w *world) nameTaken(folder ref, name string) *ref {
	if r, ok := w.byPath[folder.Value][name]; ok {
		return &r
	}
	if r, ok := w.names[folder.Value+"/"+name]; ok {
		return &r
	}
	return nil
}

func (w *world) folderOurs(r ref) bool {
	for _, dc := range w.dcs {
		for _, n := range w.inv.Restrict {
			if dc.folders[n] == r {
				return true
			}
		}
	}
	return false
}

// cloneTarget works out host, pool and datastore of a clone.
func (c *call) cloneTarget(src *vmachine, spec *types.VirtualMachineCloneSpec) (*cloneWhere, error) {
	loc := &spec.Location
	res := &cloneWhere{host: src.h}
	switch {
	case loc.Pool != nil:
		if c.w.pools[*loc.Pool] == nil {
			return nil, notFound(*loc.Pool)
		}
		res.pool = *loc.Pool
	case src.m.Config.Template || src.m.ResourcePool == nil:
		return nil, invalidArgument("spec.location.pool")
	default:
		res.pool = *src.m.ResourcePool
	}
	cl := c.w.pools[res.pool]
	if loc.Host != nil {
		o := c.w.get(*loc.Host)
		if o == nil || o.host == nil {
			return nil, notFound(*loc.Host)
		}
		if o.host.c != cl {
			return nil, invalidArgument("spec.location.host")
		}
		res.host = o.host
	} else if res.host == nil || res.host.c != cl {
		res.host = cl.hosts[c.w.ids%len(cl.hosts)]
	}
	if err := res.host.accepts(); err != nil {
		return nil, err
	}
	if loc.Datastore != nil {
		o := c.w.get(*loc.Datastore)
		if o == nil {
			return nil, notFound(*loc.Datastore)
		}
		if _, ok := o.ptr.(*mo.Datastore); !ok {
			return nil, invalidArgument("spec.location.datastore")
		}
		res.store = o
	} else {
		res.store = c.w.get(src.m.Datastore[0])
	}
	for _, d := range loc.Disk {
		if !src.hasDisk(d.DiskId) {
			return nil, invalidArgument("spec.location.disk.diskId")
		}
	}
	if linked(spec) && !res.host.mounts(src.m.Datastore[0]) {
		return nil, src.diskUnseen(res.host)
	}
	if !res.host.mounts(res.store.ref) {
		return nil, res.host.unmounted(res.store)
	}
	return res, nil
}

// draft is what a clone would be, as far as its spec can tell: no object yet.
func (src *vmachine) draft(folder ref, spec *types.VirtualMachineCloneSpec, name string, where *cloneWhere) (*vmachine, error) {
	w := src.w
	for _, h := range []*host{src.h, where.host} { // one of them may be lost since
		if err := h.connected(); err != nil {
			return nil, err
		}
	}
	v := w.newVM(src.dc, name, folder)
	v.diskGB = src.diskGB
	keep := *v.m.Config
	*v.m.Config = *src.m.Config
	c := v.m.Config
	c.Name, c.Uuid, c.InstanceUuid = name, keep.Uuid, keep.InstanceUuid
	c.Template, c.Annotation, c.ContentLibItemInfo = spec.Template, "", nil
	c.Hardware.Device = src.clonedDevices(spec)
	v.h = where.host // for checks against the host's PFs
	if spec.Config != nil {
		if err := v.configure(spec.Config); err != nil {
			return nil, err
		}
	}
	c.Name = name
	v.h = nil
	if c.InstanceUuid != keep.InstanceUuid && w.byInstance(c.InstanceUuid) != nil {
		c.InstanceUuid = keep.InstanceUuid // vCenter changes it on conflict
	}
	return v, v.applyPolicies(&spec.Location)
}

// cloneTo makes the clone, or nothing.
func (src *vmachine) cloneTo(req *types.CloneVM_Task, name string, where *cloneWhere) (*vmachine, error) {
	w := src.w
	v, err := src.draft(req.Folder, &req.Spec, name, where)
	if err != nil {
		return nil, err
	}
	if !linked(&req.Spec) {
		if err := v.takeDisks(where.store); err != nil {
			return nil, err
		}
	}
	v.bump()
	w.install(v, where.host, where.pool, where.store)
	return v, nil
}

func (w *world) byInstance(uuid string) *vmachine {
	for _, v := range w.vms {
		if strings.EqualFold(v.m.Config.InstanceUuid, uuid) {
			return v
		}
	}
	return nil
}

// copyDevices copies devices so that a clone can change its own: the NICs get
// new addresses and ports, the disks new files.
func (w *world) copyDevices(list []types.BaseVirtualDevice) []types.BaseVirtualDevice {
	var res []types.BaseVirtualDevice
	for _, d := range list {
		cp := deepCopy(d).(types.BaseVirtualDevice)
		if e, ok := cp.(types.BaseVirtualEthernetCard); ok {
			card := e.GetVirtualEthernetCard()
			card.MacAddress, card.AddressType = newMAC(), "assigned"
			if p := portOf(card.Backing); p != nil {
				w.newPort(p)
			}
		}
		if disk, ok := cp.(*types.VirtualDisk); ok {
			if b, ok := disk.Backing.(*types.VirtualDiskFlatVer2BackingInfo); ok {
				b.FileName, b.Datastore = "", nil
			}
		}
		res = append(res, cp)
	}
	return res
}
