// SPDX-License-Identifier: GPL-2.0-or-later
// backup.go: a vCenter that is restored from a backup. Its inventory is that of
// the backup; the hosts and what runs on them are not. Until vCenter has read
// the hosts again they don't respond; VMs made since are unknown to it and are
// then discovered, under new ids, outside of their folder; VMs deleted since
// are orphans. By VMware's considerations for restoring vCenter Server; what
// those leave open is a switch.

package main

import (
	"fmt"
	"time"

	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

const discovered = "Discovered virtual machine"

type vmRecord struct {
	v      *vmachine
	m      mo.VirtualMachine
	config types.VirtualMachineConfigInfo
	h      *host
}

type backup struct {
	ids  int
	vms  []vmRecord
	seen map[ref]bool
}

func (w *world) saveBackup() {
	b := &backup{ids: w.ids, seen: map[ref]bool{}}
	for _, o := range w.ordered() {
		if v := o.vm; v != nil {
			b.vms = append(b.vms, vmRecord{v: v, m: *v.m, config: *v.m.Config, h: v.h})
			b.seen[o.ref] = true
		}
	}
	w.saved = b
}

// restoreBackup puts the inventory back; what follows when the hosts have been
// read again happens after the operation's duration.
func (w *world) restoreBackup(op *adminOp) error {
	b := w.saved
	if b == nil {
		return fmt.Errorf("there is no backup")
	}
	if op.NewInstanceUuid {
		w.content.About.InstanceUuid = randomUUID()
		w.showContent()
	}
	w.endSessions()
	w.tasks.reset()
	states := map[*host]types.HostSystemConnectionState{}
	for _, h := range w.hosts {
		states[h] = h.m.Runtime.ConnectionState
		h.setState(types.HostSystemConnectionStateNotResponding)
	}
	var unknown []*vmachine
	for _, o := range w.ordered() {
		if v := o.vm; v != nil && !b.seen[o.ref] {
			w.forget(v)
			unknown = append(unknown, v)
		}
	}
	b.rename(w)
	for i := range b.vms {
		if r := &b.vms[i]; w.vms[r.m.Self] == nil {
			w.orphan(r)
		}
	}
	if op.ReuseIds {
		w.ids = b.ids
	}
	time.AfterFunc(time.Duration(op.Duration), func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, h := range w.hosts {
			h.setState(states[h])
		}
		for _, v := range unknown {
			w.discover(v)
		}
		for i := range b.vms {
			if v := w.vms[b.vms[i].m.Self]; v != nil && v.phantom {
				v.broken = "orphaned"
				v.showConnection()
			}
		}
	})
	return nil
}

// rename brings names and folders back, all at once: two may have changed places.
func (b *backup) rename(w *world) {
	var moved []*vmRecord
	for i := range b.vms {
		r := &b.vms[i]
		v := w.vms[r.m.Self]
		if v != nil && (v.m.Name != r.m.Name || *v.m.Parent != *r.m.Parent) {
			w.disown(*v.m.Parent, v.o.ref, v.m.Name)
			moved = append(moved, r)
		}
	}
	for _, r := range moved {
		v, folder := w.vms[r.m.Self], *r.m.Parent
		v.m.Name, v.m.Config.Name, v.m.Parent = r.m.Name, r.m.Name, &folder
		w.adopt(folder, v.o.ref, r.m.Name)
		v.summarise()
		w.touch(v.o, "name", "parent", "config")
		w.publish(v.o)
	}
}

// forget takes a VM out of the inventory; on its host it lives on.
func (w *world) forget(v *vmachine) {
	if v.m.ResourcePool != nil {
		w.poolOf(v, *v.m.ResourcePool, false)
	}
	w.disown(*v.m.Parent, v.o.ref, v.m.Name)
	v.h.m.Vm = withoutRef(v.h.m.Vm, v.o.ref)
	w.touch(v.h.o, "vm")
	delete(w.vms, v.o.ref)
	w.remove(v.o)
}

// discover registers a VM that vCenter finds on a host.
func (w *world) discover(v *vmachine) {
	if v.offUnseen {
		v.turnOff()
	}
	folder, ok := w.byPath[v.dc.vmFolder.Value][discovered]
	if !ok {
		folder = w.newFolder(v.dc.vmFolder, discovered, "Folder", "VirtualMachine")
	}
	m := *v.m
	m.Self = ref{Type: "VirtualMachine", Value: w.newID("vm-")}
	m.Parent = &folder
	for n := 1; w.nameTaken(folder, m.Name) != nil; n++ {
		m.Name = fmt.Sprintf("%s (%d)", v.m.Name, n)
	}
	h, pool := v.h, v.h.c.root
	delete(h.vms, v)
	v.m, v.h, v.foreignAt = &m, nil, 0
	v.o = w.add(m.Self, &m)
	v.o.vm = v
	w.vms[m.Self] = v
	m.ResourcePool = &pool
	if m.Config.Template {
		m.ResourcePool = nil
	}
	v.place(h)
	w.adopt(folder, m.Self, m.Name)
	v.summarise()
	w.poolOf(v, pool, true)
	w.publish(v.o)
}

// orphan is a VM that vCenter remembers and no host has.
func (w *world) orphan(r *vmRecord) {
	m, c := r.m, r.config
	m.Config = &c
	v := &vmachine{w: w, m: &m, dc: r.v.dc, phantom: true, dir: r.v.dir}
	v.o = w.add(m.Self, &m)
	v.o.vm = v
	w.vms[m.Self] = v
	v.place(r.h)
	w.adopt(*m.Parent, m.Self, m.Name)
	v.summarise()
	if m.ResourcePool != nil {
		w.poolOf(v, *m.ResourcePool, true)
	}
	w.publish(v.o)
}
