// SPDX-License-Identifier: GPL-2.0-or-later
// load.go: a world from a recording of a vCenter, in the form that govmomi's
// `govc object.save` writes. The objects are served as they were recorded. Only
// what the client negotiates by is another: about.version, apiVersion and the
// release. What the simulator needs beside the objects (which PF has how many
// VFs, which network lies on which switch) is read from them: loadhost.go.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
	"github.com/vmware/govmomi/vim25/xml"
)

var refNumber = regexp.MustCompile(`[0-9]+$`)

// loadRecording builds the world from the files of dir. Folders that the
// inventory names are the client's; they are made if the recording has none of
// them.
func (w *world) loadRecording(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.xml"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := w.loadFile(file); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
	}
	if w.get(w.content.RootFolder) == nil {
		return fmt.Errorf("%s: a recording has a ServiceInstance and its root folder", dir)
	}
	w.building = true
	defer func() { w.building = false }()
	for _, o := range w.ordered() {
		w.nameChild(o)
	}
	for _, o := range w.ordered() {
		if m, ok := o.ptr.(*mo.Datacenter); ok {
			w.loadDC(o, m)
		}
	}
	return w.loadFolders()
}

// loadFile adds the object of one file. Kinds that nothing here serves are left out.
func (w *world) loadFile(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	dec := xml.NewDecoder(f)
	dec.TypeFunc = types.TypeFunc()
	var content types.ObjectContent
	if err := dec.Decode(&content); err != nil {
		return err
	}
	kind := kinds[content.Obj.Type]
	if kind == nil {
		return nil
	}
	ptr := reflect.New(kind).Interface()
	if err := mo.LoadObjectContent([]types.ObjectContent{content}, ptr); err != nil {
		return err
	}
	if n, err := strconv.Atoi(refNumber.FindString(content.Obj.Value)); err == nil {
		w.ids = max(w.ids, n)
	}
	switch m := ptr.(type) {
	case *mo.ServiceInstance:
		return w.loadContent(m)
	case *mo.TaskManager, *mo.SessionManager, *mo.Task: // of the simulator's own
		return nil
	case *mo.Network:
		m.ManagedEntity.Name = m.Name
	case *mo.OpaqueNetwork:
		m.ManagedEntity.Name = m.Name
	case *mo.DistributedVirtualPortgroup:
		m.ManagedEntity.Name = m.Name
	}
	w.add(content.Obj, ptr)
	return nil
}

// loadContent takes the recorded ServiceContent, with the inventory's release.
func (w *world) loadContent(m *mo.ServiceInstance) error {
	w.content = m.Content
	c, a := &w.content, &w.content.About
	if c.TaskManager == nil || c.SessionManager == nil || c.SearchIndex == nil || c.ViewManager == nil {
		return fmt.Errorf("content has no task, session or view manager, or no search index")
	}
	a.ApiVersion = w.inv.About.ApiVersion
	a.Version = strings.Join(strings.Split(a.ApiVersion, ".")[:3], ".")
	w.singletons()
	return nil
}

// nameChild lets an object be found below its parent.
func (w *world) nameChild(o *object) {
	if e := o.entity(); e != nil && e.Parent != nil {
		w.setChild(*e.Parent, unescapeName(e.Name), o.ref)
	}
}

// loadDC wraps a recorded datacenter and all that is below it.
func (w *world) loadDC(o *object, m *mo.Datacenter) {
	d := &datacenter{o: o, m: m, spec: &dcSpec{Name: unescapeName(m.Name)}, vmFolder: m.VmFolder, hostFolder: m.HostFolder,
		folders: map[string]ref{}, ours: map[ref]bool{}, stores: map[string]*object{}, nets: map[string]*network{},
		switches: map[string]*dvswitch{}, clusters: map[string]*cluster{}}
	w.dcs = append(w.dcs, d)
	w.loadStores(d)
	w.loadNetworks(d)
	for _, o := range w.ofDC(d) {
		switch m := o.ptr.(type) {
		case *mo.ClusterComputeResource:
			w.loadCluster(d, o, m)
		case *mo.ComputeResource: // a host by itself: a cluster that is not shown
			c := &mo.ClusterComputeResource{ComputeResource: *m}
			w.loadCluster(d, o, c)
		}
	}
	for _, o := range w.ofDC(d) {
		if m, ok := o.ptr.(*mo.HostSystem); ok {
			w.loadHost(d, o, m)
		}
	}
	for _, o := range w.ofDC(d) {
		if m, ok := o.ptr.(*mo.VirtualMachine); ok {
			w.loadVM(d, o, m)
		}
	}
}

// ofDC lists the objects of a datacenter in a stable order. VMs of a vApp have
// no parent: their hosts have.
func (w *world) ofDC(d *datacenter) []*object {
	var res []*object
	for _, o := range w.ordered() {
		at := o
		if m, ok := o.ptr.(*mo.VirtualMachine); ok && m.Parent == nil && m.Runtime.Host != nil {
			at = w.get(*m.Runtime.Host)
		}
		for at != nil && at != d.o {
			e := at.entity()
			if e == nil || e.Parent == nil {
				break
			}
			at = w.get(*e.Parent)
		}
		if at == d.o && o != d.o {
			res = append(res, o)
		}
	}
	return res
}

func (w *world) loadStores(d *datacenter) {
	for _, r := range d.m.Datastore {
		o := w.get(r)
		if o == nil {
			continue
		}
		ds, ok := o.ptr.(*mo.Datastore)
		if !ok {
			continue
		}
		if ds.Info == nil {
			ds.Info = &types.DatastoreInfo{Name: ds.Name, Url: ds.Summary.Url, FreeSpace: ds.Summary.FreeSpace}
		}
		name := unescapeName(ds.Name)
		d.spec.Datastores = append(d.spec.Datastores, dsSpec{Name: name})
		d.stores[name], d.storeList = o, append(d.storeList, o)
		w.free[r] = i64(ds.Summary.FreeSpace)
	}
}

func (w *world) loadNetworks(d *datacenter) {
	byRef := map[ref]*dvswitch{}
	for _, o := range w.ofDC(d) {
		m, ok := o.ptr.(*mo.VmwareDistributedVirtualSwitch)
		if !ok {
			continue
		}
		sw := &dvswitch{o: o, m: m, spec: &switchSpec{Name: unescapeName(m.Name)}}
		if info, ok := m.Config.(*types.VMwareDVSConfigInfo); ok {
			sw.spec.MaxMtu = info.MaxMtu
		}
		byRef[o.ref], d.switches[sw.spec.Name] = sw, sw
		d.spec.Switches = append(d.spec.Switches, *sw.spec)
		w.dvs = append(w.dvs, sw)
	}
	for _, o := range w.ofDC(d) {
		n := &network{o: o}
		switch m := o.ptr.(type) {
		case *mo.DistributedVirtualPortgroup:
			if sw := m.Config.DistributedVirtualSwitch; sw != nil {
				n.sw, n.key = byRef[*sw], m.Key
			}
			if n.sw == nil || isTrue(m.Config.Uplink) {
				continue
			}
		case *mo.OpaqueNetwork:
			n.nsx = "overlay"
		case *mo.Network:
		default:
			continue
		}
		w.loadNetwork(d, n)
	}
}

func (w *world) loadNetwork(d *datacenter, n *network) {
	spec := netSpec{Name: unescapeName(n.o.name()), Nsx: n.nsx}
	if n.sw != nil {
		spec.Switch = n.sw.spec.Name
	}
	d.nets[spec.Name] = n
	d.spec.Networks = append(d.spec.Networks, spec)
}

func (w *world) loadCluster(d *datacenter, o *object, m *mo.ClusterComputeResource) {
	c := &cluster{dc: d, o: o, m: m, recorded: true, spec: &clusterSpec{Name: unescapeName(m.Name)}, pools: map[string]ref{}}
	if conf, ok := m.ConfigurationEx.(*types.ClusterConfigInfoEx); ok {
		c.spec.Ha, c.spec.HaHosts = isTrue(conf.DasConfig.Enabled), conf.DasConfig.HostMonitoring
		if isTrue(conf.DrsConfig.Enabled) {
			c.spec.Drs = string(conf.DrsConfig.DefaultVmBehavior)
		}
	}
	if m.ResourcePool != nil {
		c.root = *m.ResourcePool
	}
	for _, o := range w.ordered() {
		if p, ok := o.ptr.(*mo.ResourcePool); ok && p.Owner == c.o.ref {
			c.pools[unescapeName(p.Name)] = o.ref
			w.pools[o.ref] = c
		}
	}
	d.clusters[c.spec.Name] = c
	w.clusters = append(w.clusters, c)
}

// loadFolders notes which folders are the client's, as the inventory names them.
func (w *world) loadFolders() error {
	for i := range w.inv.Datacenters {
		spec := &w.inv.Datacenters[i]
		at := slices.IndexFunc(w.dcs, func(d *datacenter) bool { return d.spec.Name == spec.Name })
		if at < 0 {
			return fmt.Errorf("datacenters[%d].name: the recording has no %q", i, spec.Name)
		}
		d := w.dcs[at]
		for _, n := range spec.Folders {
			r := ref{}
			if o := w.childOf(d.vmFolder, n); o != nil {
				r = o.ref
			} else {
				r = w.newFolder(d.vmFolder, n, "Folder", "VirtualMachine")
			}
			d.folders[n], d.ours[r] = r, true
			d.spec.Folders = append(d.spec.Folders, n)
		}
	}
	return nil
}
