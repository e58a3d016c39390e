// SPDX-License-Identifier: GPL-2.0-or-later
// build.go: makes the objects of an inventory directly: folders, switches,
// networks, clusters, pools. Stock vcsim's models take minutes for a thousand
// hosts; this takes seconds.

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vmware/govmomi/simulator/vpx"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

type datacenter struct {
	spec       *dcSpec
	o          *object
	m          *mo.Datacenter
	vmFolder   ref
	hostFolder ref
	folders    map[string]ref
	ours       map[ref]bool
	stores     map[string]*object
	storeList  []*object
	nets       map[string]*network
	switches   map[string]*dvswitch
	clusters   map[string]*cluster
}

type dvswitch struct {
	o     *object
	m     *mo.VmwareDistributedVirtualSwitch
	spec  *switchSpec
	ports int // given out so far
}

type network struct {
	o   *object
	sw  *dvswitch // nil for a standard network
	key string
	nsx string
}

type cluster struct {
	spec    *clusterSpec
	dc      *datacenter
	o       *object
	m       *mo.ClusterComputeResource
	root    ref
	browser ref // its EnvironmentBrowser
	pools   map[string]ref
	hosts   []*host

	recorded bool // from a recording: what is not the simulator's stays as it is
	override map[ref]vmOverride
	order    []ref // of the overrides
}

func (w *world) build() error {
	if w.inv.load != "" {
		if err := w.loadRecording(w.inv.load); err != nil {
			return err
		}
		return w.setPermissions(nil, w.inv.Permissions)
	}
	w.content = vpx.ServiceContent
	a := &w.content.About
	a.ApiVersion, a.ApiType, a.InstanceUuid = w.inv.About.ApiVersion, w.inv.About.ApiType, randomUUID()
	a.Version = strings.Join(strings.Split(a.ApiVersion, ".")[:3], ".")
	w.setBuild("24022515")
	if no := w.inv.About.Checkers; no != nil && !*no {
		w.content.VmProvisioningChecker, w.content.VmCompatibilityChecker = nil, nil
	}
	w.singletons()
	root := &mo.Folder{ChildType: []string{"Folder", "Datacenter"}}
	root.Self, root.Name = w.content.RootFolder, "Datacenters"
	w.entityDefaults(&root.ManagedEntity)
	w.add(w.content.RootFolder, root)
	for i := range w.inv.Datacenters {
		if err := w.buildDC(&w.inv.Datacenters[i]); err != nil {
			return fmt.Errorf("datacenters[%d]: %w", i, err)
		}
	}
	return w.setPermissions(nil, w.inv.Permissions)
}

func (w *world) setBuild(build string) {
	a := &w.content.About
	a.Build, a.FullName = build, "VMware vCenter Server "+a.Version+" build-"+build
	w.showContent()
}

// showContent brings what ServiceInstance shows up to date, once it is there.
func (w *world) showContent() {
	if o := w.get(ref{Type: "ServiceInstance", Value: "ServiceInstance"}); o != nil {
		o.ptr.(*mo.ServiceInstance).Content = w.content
	}
}

// singletons are the objects of ServiceContent that can be read.
func (w *world) singletons() {
	c := &w.content
	si := &mo.ServiceInstance{Content: w.content}
	si.Self = ref{Type: "ServiceInstance", Value: "ServiceInstance"}
	w.addScoped(si.Self, si)
	tm := &mo.TaskManager{MaxCollector: 32}
	tm.Self = *c.TaskManager
	w.addScoped(tm.Self, tm)
	sm := &mo.SessionManager{}
	sm.Self = *c.SessionManager
	w.addScoped(sm.Self, sm)
	if c.CustomizationSpecManager != nil { // optional: ESXi has none
		cm := &mo.CustomizationSpecManager{}
		cm.Self = *c.CustomizationSpecManager
		w.addScoped(cm.Self, cm)
	}
}

// beforeRead fills what is computed when asked for: recentTask, currentSession, view.
func (w *world) beforeRead(s *session, o *object) {
	if tm, ok := o.ptr.(*mo.TaskManager); ok {
		tm.RecentTask = nil
		for _, r := range w.tasks.recentTasks() {
			if w.sees(s, w.get(r)) {
				tm.RecentTask = append(tm.RecentTask, r)
			}
		}
	}
	switch p := o.ptr.(type) {
	case *mo.SessionManager:
		p.CurrentSession = &s.user
	case *mo.ContainerView:
		p.View = s.views[o.ref].refs()
	case *mo.ListView:
		p.View = s.views[o.ref].refs()
	}
}

func (w *world) newFolder(parent ref, name string, childType ...string) ref {
	letter := strings.ToLower(childType[len(childType)-1][:1])
	r := ref{Type: "Folder", Value: w.newID("group-" + letter)}
	f := &mo.Folder{ChildType: childType}
	f.Self, f.Name, f.Parent = r, name, &parent
	w.entityDefaults(&f.ManagedEntity)
	w.add(r, f)
	w.adopt(parent, r, name)
	return r
}

func (w *world) entityDefaults(e *mo.ManagedEntity) {
	e.OverallStatus, e.ConfigStatus = types.ManagedEntityStatusGreen, types.ManagedEntityStatusGreen
	e.EffectiveRole = []int32{-1}
}

// adopt makes r a child of a folder.
func (w *world) adopt(parent, r ref, name string) {
	w.setChild(parent, name, r)
	if o := w.get(parent); o != nil {
		if f, ok := o.ptr.(*mo.Folder); ok {
			f.ChildEntity = append(f.ChildEntity[:len(f.ChildEntity):len(f.ChildEntity)], r)
			w.touch(o, "childEntity")
		}
	}
}

// disown is adopt's opposite.
func (w *world) disown(parent, r ref, name string) {
	w.delChild(parent, name)
	if o := w.get(parent); o != nil {
		if f, ok := o.ptr.(*mo.Folder); ok {
			f.ChildEntity = withoutRef(f.ChildEntity, r)
			w.touch(o, "childEntity")
		}
	}
}

func withoutRef(list []ref, r ref) []ref {
	res := make([]ref, 0, len(list))
	for _, x := range list {
		if x != r {
			res = append(res, x)
		}
	}
	return res
}

func (w *world) buildDC(spec *dcSpec) error {
	r := ref{Type: "Datacenter", Value: w.newID("datacenter-")}
	root := w.content.RootFolder
	d := &datacenter{spec: spec, m: &mo.Datacenter{}, folders: map[string]ref{}, ours: map[ref]bool{},
		stores: map[string]*object{}, nets: map[string]*network{}, switches: map[string]*dvswitch{}, clusters: map[string]*cluster{}}
	d.m.Self, d.m.Name, d.m.Parent = r, spec.Name, &root
	w.entityDefaults(&d.m.ManagedEntity)
	d.o = w.add(r, d.m)
	w.adopt(root, r, spec.Name)
	d.m.VmFolder = w.newFolder(r, "vm", "Folder", "VirtualMachine")
	d.m.HostFolder = w.newFolder(r, "host", "Folder", "ComputeResource", "HostFolder")
	d.m.DatastoreFolder = w.newFolder(r, "datastore", "Folder", "StoragePod", "Store")
	d.m.NetworkFolder = w.newFolder(r, "network", "Folder", "Network")
	d.vmFolder, d.hostFolder = d.m.VmFolder, d.m.HostFolder
	for _, n := range spec.Folders {
		d.folders[n] = w.newFolder(d.vmFolder, n, "Folder", "VirtualMachine")
		d.ours[d.folders[n]] = true
	}
	w.dcs = append(w.dcs, d)
	for i := range spec.Datastores {
		w.buildStore(d, &spec.Datastores[i])
	}
	w.buildNetworks(d)
	for i := range spec.Clusters {
		if err := w.buildCluster(d, &spec.Clusters[i]); err != nil {
			return fmt.Errorf("clusters[%d]: %w", i, err)
		}
	}
	w.linkSwitches(d)
	return w.buildVMs(d)
}

func (w *world) buildStore(d *datacenter, s *dsSpec) {
	r := ref{Type: "Datastore", Value: w.newID("datastore-")}
	m := &mo.Datastore{}
	m.Self, m.Name, m.Parent = r, s.Name, &d.m.DatastoreFolder
	w.entityDefaults(&m.ManagedEntity)
	m.Browser = ref{Type: "HostDatastoreBrowser", Value: "datastoreBrowser-" + r.Value}
	url := "ds:///vmfs/volumes/" + r.Value + "/"
	m.Summary = types.DatastoreSummary{Datastore: &r, Name: s.Name, Url: url, Capacity: s.CapacityGB << 30,
		FreeSpace: s.FreeGB << 30, Accessible: true, MultipleHostAccess: types.NewBool(len(s.Hosts) != 1), Type: "vsan", MaintenanceMode: "normal"}
	m.Info = &types.DatastoreInfo{Name: s.Name, Url: url, FreeSpace: s.FreeGB << 30}
	m.Capability = types.DatastoreCapability{DirectoryHierarchySupported: true, PerFileThinProvisioningSupported: true}
	d.stores[s.Name] = w.add(r, m)
	w.free[r] = i64(s.FreeGB << 30)
	d.storeList = append(d.storeList, d.stores[s.Name])
	w.adopt(d.m.DatastoreFolder, r, s.Name)
	d.m.Datastore = append(d.m.Datastore, r)
}

func (w *world) buildNetworks(d *datacenter) {
	for i := range d.spec.Switches {
		w.buildSwitch(d, &d.spec.Switches[i])
	}
	for i := range d.spec.Networks {
		n := &d.spec.Networks[i]
		net := &network{sw: d.switches[n.Switch], nsx: n.Nsx}
		var r ref
		if net.sw == nil && n.Nsx != "" {
			r = ref{Type: "OpaqueNetwork", Value: w.newID("network-o")}
			m := &mo.OpaqueNetwork{}
			m.Self, m.Name, m.ManagedEntity.Name, m.Parent = r, n.Name, n.Name, &d.m.NetworkFolder
			m.Summary = &types.OpaqueNetworkSummary{NetworkSummary: types.NetworkSummary{Network: &r, Name: n.Name, Accessible: true},
				OpaqueNetworkId: randomUUID(), OpaqueNetworkType: "nsx.LogicalSwitch"}
			w.entityDefaults(&m.ManagedEntity)
			net.o = w.add(r, m)
		} else if net.sw == nil {
			r = ref{Type: "Network", Value: w.newID("network-")}
			m := &mo.Network{}
			m.Self, m.Name, m.ManagedEntity.Name, m.Parent = r, n.Name, n.Name, &d.m.NetworkFolder
			m.Summary = &types.NetworkSummary{Network: &r, Name: n.Name, Accessible: true}
			w.entityDefaults(&m.ManagedEntity)
			net.o = w.add(r, m)
		} else {
			r = ref{Type: "DistributedVirtualPortgroup", Value: w.newID("dvportgroup-")}
			net.key = r.Value
			m := portgroup(r, escapeName(n.Name), d.m.NetworkFolder, net.sw.o.ref, n.Vlan)
			m.Config.DefaultPortConfig.(*types.VMwareDVSPortSetting).MacManagementPolicy = &types.DVSMacManagementPolicy{
				AllowPromiscuous: types.NewBool(strings.Contains(n.Accept, "allowPromiscuous")),
				MacChanges:       types.NewBool(strings.Contains(n.Accept, "macChanges")),
				ForgedTransmits:  types.NewBool(strings.Contains(n.Accept, "forgedTransmits"))}
			if n.Nsx != "" { // which kind of segment it is, only NSX tells
				m.Config.BackingType, m.Config.LogicalSwitchUuid = "nsx", randomUUID()
				m.Config.SegmentId = "/infra/segments/" + n.Name
			}
			w.entityDefaults(&m.ManagedEntity)
			net.o = w.add(r, m)
			net.sw.m.Portgroup = append(net.sw.m.Portgroup, r)
		}
		d.nets[n.Name] = net
		w.adopt(d.m.NetworkFolder, r, n.Name)
		d.m.Network = append(d.m.Network, r)
	}
}

func portgroup(r ref, name string, folder, sw ref, vlan int32) *mo.DistributedVirtualPortgroup {
	m := &mo.DistributedVirtualPortgroup{Key: r.Value}
	m.Self, m.Name, m.ManagedEntity.Name, m.Parent = r, name, name, &folder
	m.Summary = &types.NetworkSummary{Network: &r, Name: name, Accessible: true}
	m.Config = types.DVPortgroupConfigInfo{Key: r.Value, Name: name, NumPorts: 256, DistributedVirtualSwitch: &sw,
		Type: "earlyBinding", ConfigVersion: "1", AutoExpand: types.NewBool(true),
		DefaultPortConfig: &types.VMwareDVSPortSetting{Vlan: &types.VmwareDistributedVirtualSwitchVlanIdSpec{VlanId: vlan}},
		Policy:            &types.VMwareDVSPortgroupPolicy{}}
	return m
}

func (w *world) buildSwitch(d *datacenter, s *switchSpec) {
	r := ref{Type: "VmwareDistributedVirtualSwitch", Value: w.newID("dvs-")}
	m := &mo.VmwareDistributedVirtualSwitch{}
	m.Self, m.Name, m.Parent = r, s.Name, &d.m.NetworkFolder
	m.Uuid = dvsUuid(randomUUID())
	w.entityDefaults(&m.ManagedEntity)
	info := &types.VMwareDVSConfigInfo{MaxMtu: s.MaxMtu}
	info.Uuid, info.Name, info.ConfigVersion, info.NumPorts = m.Uuid, s.Name, "1", 256
	info.CreateTime = w.started
	info.UplinkPortPolicy = &types.DVSNameArrayUplinkPortPolicy{UplinkPortName: []string{"Uplink 1", "Uplink 2"}}
	info.DefaultPortConfig, info.Policy = &types.VMwareDVSPortSetting{}, &types.DVSPolicy{}
	m.Config, m.Capability = info, types.DVSCapability{}
	m.Summary = types.DVSSummary{Name: s.Name, Uuid: m.Uuid, NumPorts: 256}
	sw := &dvswitch{m: m, spec: s, o: w.add(r, m)}
	w.adopt(d.m.NetworkFolder, r, s.Name)
	d.switches[s.Name] = sw
	w.dvs = append(w.dvs, sw)
	up := ref{Type: "DistributedVirtualPortgroup", Value: w.newID("dvportgroup-")}
	pg := portgroup(up, s.Name+"-DVUplinks", d.m.NetworkFolder, r, 0)
	pg.Config.Uplink = types.NewBool(true)
	w.entityDefaults(&pg.ManagedEntity)
	w.add(up, pg)
	w.adopt(d.m.NetworkFolder, up, pg.Name)
	info.UplinkPortgroup = []ref{up}
	m.Portgroup = append(m.Portgroup, up)
}

// dvsUuid is a uuid in the form switches have: "50 2a ..-..".
func dvsUuid(u string) string {
	hex := strings.ReplaceAll(u, "-", "")
	var b strings.Builder
	for i := 0; i < 32; i += 2 {
		switch {
		case i == 16:
			b.WriteByte('-')
		case i > 0:
			b.WriteByte(' ')
		}
		b.WriteString(hex[i : i+2])
	}
	return b.String()
}

// linkSwitches puts the hosts' uplinks into the switches.
func (w *world) linkSwitches(d *datacenter) {
	for _, sw := range d.switches {
		info := sw.m.Config.(*types.VMwareDVSConfigInfo)
		for _, c := range d.clusters {
			for _, h := range c.hosts {
				back := &types.DistributedVirtualSwitchHostMemberPnicBacking{}
				for _, n := range h.spec.Pnics {
					if n.Switch == sw.spec.Name {
						back.PnicSpec = append(back.PnicSpec, types.DistributedVirtualSwitchHostMemberPnicSpec{PnicDevice: n.Device})
					}
				}
				if len(back.PnicSpec) == 0 {
					continue
				}
				hr := h.o.ref
				info.Host = append(info.Host, types.DistributedVirtualSwitchHostMember{Status: "up", UplinkPortKey: []string{},
					Config: types.DistributedVirtualSwitchHostMemberConfigInfo{Host: &hr, MaxProxySwitchPorts: 512, Backing: back}})
				sw.m.Summary.HostMember = append(sw.m.Summary.HostMember, hr)
			}
		}
	}
}

func (w *world) buildCluster(d *datacenter, s *clusterSpec) error {
	r := ref{Type: "ClusterComputeResource", Value: w.newID("domain-c")}
	c := &cluster{spec: s, dc: d, m: &mo.ClusterComputeResource{}, pools: map[string]ref{}}
	c.m.Self, c.m.Name, c.m.Parent = r, s.Name, &d.hostFolder
	w.entityDefaults(&c.m.ManagedEntity)
	eb := ref{Type: "EnvironmentBrowser", Value: w.newID("envbrowser-")}
	c.browser = eb
	e := &mo.EnvironmentBrowser{}
	e.Self = eb
	w.addScoped(eb, e)
	c.show()
	c.o = w.add(r, c.m)
	w.adopt(d.hostFolder, r, s.Name)
	d.clusters[s.Name] = c
	w.clusters = append(w.clusters, c)
	w.buildPools(c)
	for i := range s.Hosts {
		for k := 1; k <= max(1, s.Hosts[i].Count); k++ {
			if err := w.buildHost(c, &s.Hosts[i], expandName(s.Hosts[i].Name, k)); err != nil {
				return fmt.Errorf("hosts[%d]: %w", i, err)
			}
		}
	}
	c.summarise()
	return nil
}

// buildPools makes the cluster's root pool and the named ones in it.
func (w *world) buildPools(c *cluster) {
	var mk func(parent ref, name string) *mo.ResourcePool
	mk = func(parent ref, name string) *mo.ResourcePool {
		p := &mo.ResourcePool{Owner: c.o.ref}
		p.Self = ref{Type: "ResourcePool", Value: w.newID("resgroup-")}
		p.Name, p.Parent = name, &parent
		w.entityDefaults(&p.ManagedEntity)
		w.add(p.Self, p)
		w.pools[p.Self] = c
		return p
	}
	root := mk(c.o.ref, "Resources")
	c.root, c.m.ResourcePool = root.Self, &root.Self
	for _, n := range c.spec.Pools {
		p := mk(root.Self, n)
		c.pools[n] = p.Self
		root.ResourcePool = append(root.ResourcePool, p.Self)
		w.setChild(root.Self, n, p.Self)
	}
	w.setChild(c.o.ref, "Resources", root.Self)
}

// summarise sums the hosts up in the cluster and its pools.
func (c *cluster) summarise() {
	c.sum()
	c.m.Datastore, c.m.Network = nil, nil
	for _, d := range c.dc.storeList {
		if slices.ContainsFunc(c.hosts, func(h *host) bool { return h.mounts(d.ref) }) {
			c.m.Datastore = append(c.m.Datastore, d.ref)
		}
	}
	for _, n := range c.dc.spec.Networks {
		c.m.Network = append(c.m.Network, c.dc.nets[n.Name].o.ref)
	}
}

// sum sums up what the hosts have, and what VMs can have of those that run them.
func (c *cluster) sum() {
	s := &types.ClusterComputeResourceSummary{}
	for _, h := range c.hosts {
		s.TotalCpu += int32(h.spec.Cores * h.spec.Mhz)
		s.TotalMemory += h.spec.MemoryMB << 20
		s.NumCpuCores += int16(h.spec.Cores)
		s.NumHosts++
		if h.effective() {
			mem, mhz := h.forVMs()
			s.NumEffectiveHosts++
			s.EffectiveCpu += int32(mhz)
			s.EffectiveMemory += mem
		}
	}
	s.OverallStatus = types.ManagedEntityStatusGreen
	// Recordings of real vCenters: unset where no host of the cluster answers.
	c.m.EnvironmentBrowser = nil
	if slices.ContainsFunc(c.hosts, func(h *host) bool { return h.connected() == nil }) {
		c.m.EnvironmentBrowser = &c.browser
	}
	c.m.Summary = s
}
