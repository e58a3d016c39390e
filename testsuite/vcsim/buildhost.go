// SPDX-License-Identifier: GPL-2.0-or-later
// buildhost.go: hosts with NUMA nodes, pnics, uplinks, physical functions.

package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

type host struct {
	o        *object
	m        *mo.HostSystem
	spec     hostSpec
	c        *cluster
	pfs      []*pf
	vms      map[*vmachine]bool
	entering *task // into maintenance or standby
	recorded bool  // from a recording
	failures int
}

// pf is a physical function of a host, and who has its VFs.
type pf struct {
	h         *host
	id        string
	device    string
	sw        string
	vfs       int
	max       int
	active    bool
	incapable bool // SR-IOV is off in the firmware or the BIOS
	off       bool // SR-IOV is not enabled
	asked     int  // VFs requested, 0: as many as there are
	numa      int
	dev       *pciSpec // a device that is handed out whole, by itself; nil: a PF
	gpu       *gpuSpec // a GPU, of which VMs have vGPUs
	dvx       *dvxSpec // all devices of a DVX class
	used      map[int]*vmachine
	late      map[int]int // VFs of VMs that are off, not released yet
	lowered   int         // by how much setVfs last lowered vfs, at that change
	loweredAt uint64
}

func (p *pf) usable() int {
	if !p.active || p.off || p.incapable {
		return 0
	}
	return p.vfs
}

// vfID is the SBDF of the i-th VF: two functions after its PF, onwards.
func (p *pf) vfID(i int) string {
	if p.dev != nil {
		return p.id
	}
	if p.gpu != nil || p.dvx != nil {
		return fmt.Sprintf("%s#%d", p.id, i)
	}
	var seg, bus, slot, fn int
	_, _ = fmt.Sscanf(p.id, "%x:%x:%x.%x", &seg, &bus, &slot, &fn)
	n := slot*8 + fn + 2 + i
	return fmt.Sprintf("%04x:%02x:%02x.%x", seg, bus+n/256, n/8%32, n%8)
}

func (w *world) buildHost(c *cluster, s *hostSpec, name string) error {
	if w.hostBy[name] != nil {
		return fmt.Errorf("two hosts are named %s", name)
	}
	r := ref{Type: "HostSystem", Value: w.newID("host-")}
	h := &host{m: &mo.HostSystem{}, spec: *s, c: c, vms: map[*vmachine]bool{}}
	h.spec.Name, h.spec.Pnics = name, append([]pnicSpec(nil), s.Pnics...)
	h.spec.Cores, h.spec.Mhz, h.spec.Numa = max(1, s.Cores), max(1000, s.Mhz), max(1, s.Numa)
	if h.spec.MemoryMB == 0 {
		h.spec.MemoryMB = 65536
	}
	if h.spec.ApiVersion == "" {
		h.spec.ApiVersion = w.inv.About.ApiVersion
	}
	for _, n := range h.spec.Pnics {
		if n.Sriov != nil {
			h.pfs = append(h.pfs, &pf{h: h, id: n.Pci, device: n.Device, sw: n.Switch, vfs: n.Sriov.Vfs, max: n.Sriov.Max,
				active: n.Sriov.Active == nil || *n.Sriov.Active, incapable: n.Sriov.Capable != nil && !*n.Sriov.Capable, numa: n.Numa, used: map[int]*vmachine{}, late: map[int]int{}})
		}
	}
	if err := h.buildDevices(); err != nil {
		return err
	}
	if err := h.buildShared(); err != nil {
		return err
	}
	m := h.m
	m.Self, m.Name, m.Parent = r, name, &c.o.ref
	w.entityDefaults(&m.ManagedEntity)
	boot := w.started.Add(-24 * time.Hour)
	m.Runtime = types.HostRuntimeInfo{ConnectionState: "connected", PowerState: "poweredOn", StandbyMode: "none",
		BootTime: &boot, InQuarantineMode: types.NewBool(false)}
	h.hardware()
	h.config(c.dc)
	for i, d := range c.dc.storeList {
		if on := c.dc.spec.Datastores[i].Hosts; len(on) > 0 && !slices.Contains(on, name) {
			continue
		}
		m.Datastore = append(m.Datastore, d.ref)
		ds := d.ptr.(*mo.Datastore)
		ds.Host = append(ds.Host, types.DatastoreHostMount{Key: r, MountInfo: types.HostMountInfo{AccessMode: "readWrite",
			Accessible: types.NewBool(true), Mounted: types.NewBool(true)}})
	}
	m.Network = h.networks()
	for _, n := range m.Network {
		no := w.get(n)
		if pg, ok := no.ptr.(*mo.DistributedVirtualPortgroup); ok {
			pg.Host = append(pg.Host, r)
		} else if on, ok := no.ptr.(*mo.OpaqueNetwork); ok {
			on.Host = append(on.Host, r)
		} else {
			no.ptr.(*mo.Network).Host = append(no.ptr.(*mo.Network).Host, r)
		}
	}
	h.o = w.add(r, m)
	h.o.host = h
	w.setChild(c.o.ref, name, r)
	w.hosts, w.hostBy[name] = append(w.hosts, h), h
	c.hosts = append(c.hosts, h)
	c.m.Host = append(c.m.Host, r)
	return nil
}

// networks that reach a host: standard ones, and those of its switches.
func (h *host) networks() []ref {
	res := []ref{}
	for _, n := range h.c.dc.spec.Networks {
		if h.reaches(n.Switch) {
			res = append(res, h.c.dc.nets[n.Name].o.ref)
		}
	}
	return res
}

func (h *host) reaches(sw string) bool {
	if sw == "" {
		return true
	}
	for _, p := range h.spec.Pnics {
		if p.Switch == sw {
			return true
		}
	}
	// A switch that no host's uplinks are declared for reaches all.
	for _, c := range h.c.dc.spec.Clusters {
		for i := range c.Hosts {
			for _, p := range c.Hosts[i].Pnics {
				if p.Switch == sw {
					return false
				}
			}
		}
	}
	return true
}

// numa tells the NUMA nodes; without pci no device is said to be near one, as of
// 5 of 13 hosts in recordings of real vCenters.
func (h *host) numa(pci bool) *types.HostNumaInfo {
	s := &h.spec
	info := &types.HostNumaInfo{Type: "NUMA", NumNodes: int32(s.Numa)}
	per := s.Cores / s.Numa
	for i := 0; i < s.Numa; i++ {
		n := types.HostNumaNode{TypeId: byte(i), MemoryRangeLength: s.MemoryMB << 20 / int64(s.Numa), MemorySize: s.MemoryMB << 20 / int64(s.Numa)}
		for k := 0; k < per*2; k++ {
			n.CpuID = append(n.CpuID, int16(i*per*2+k))
		}
		for _, p := range s.Pnics {
			if pci && p.Numa == i {
				n.PciId = append(n.PciId, p.Pci)
			}
		}
		for _, d := range s.Devices {
			if pci && d.Numa == i {
				n.PciId = append(n.PciId, d.Pci)
			}
		}
		info.NumaNode = append(info.NumaNode, n)
	}
	return info
}

func (h *host) hardware() {
	h.m.DatastoreBrowser = ref{Type: "HostDatastoreBrowser", Value: "datastoreBrowser-" + h.m.Self.Value}
	s := &h.spec
	hw := &types.HostHardwareInfo{MemorySize: s.MemoryMB << 20}
	hw.CpuInfo = types.HostCpuInfo{NumCpuPackages: int16(s.Numa), NumCpuCores: int16(s.Cores), NumCpuThreads: int16(s.Cores * 2), Hz: int64(s.Mhz) * 1000000}
	hw.SystemInfo = types.HostSystemInfo{Vendor: "Simulated", Model: "SR-IOV host", Uuid: randomUUID()}
	hw.NumaInfo = h.numa(true)
	for _, p := range s.Pnics {
		hw.PciDevice = append(hw.PciDevice, pciDevice(p.Pci, 4123))
	}
	for i := range s.Devices {
		hw.PciDevice = append(hw.PciDevice, s.Devices[i].hardware())
	}
	h.sharedHardware(hw)
	h.m.Hardware = hw
	h.resources()
	h.m.Summary = types.HostListSummary{Host: &h.m.Self, OverallStatus: "green", Runtime: &h.m.Runtime,
		Hardware: &types.HostHardwareSummary{Vendor: "Simulated", Model: "SR-IOV host", Uuid: hw.SystemInfo.Uuid, CpuModel: "Simulated CPU",
			MemorySize: hw.MemorySize, CpuMhz: int32(s.Mhz), NumCpuPkgs: int16(s.Numa), NumCpuCores: int16(s.Cores),
			NumCpuThreads: int16(s.Cores * 2), NumNics: int32(len(s.Pnics))},
		Config: types.HostConfigSummary{Name: s.Name, Port: 443}}
}

func pciDevice(id string, dev int16) types.HostPciDevice {
	var seg, bus, slot, fn int
	_, _ = fmt.Sscanf(id, "%x:%x:%x.%x", &seg, &bus, &slot, &fn)
	return types.HostPciDevice{Id: id, ClassId: 512, Bus: byte(bus), Slot: byte(slot), Function: byte(fn), VendorId: 5555,
		SubVendorId: 5555, VendorName: "Mellanox Technologies", DeviceId: dev, SubDeviceId: 20, DeviceName: "ConnectX-6"}
}

func (h *host) config(dc *datacenter) {
	c := &types.HostConfigInfo{Host: h.m.Self}
	about := types.AboutInfo{Name: "VMware ESXi", FullName: "VMware ESXi " + h.spec.ApiVersion, Vendor: "VMware, Inc.",
		Version: strings.Join(strings.Split(h.spec.ApiVersion, ".")[:3], "."), Build: "24022510", OsType: "vmnix-x86",
		ProductLineId: "embeddedEsx", ApiType: "HostAgent", ApiVersion: h.spec.ApiVersion}
	c.Product = about
	h.m.Summary.Config.Product = &about
	c.Network = &types.HostNetworkInfo{}
	idx := strings.TrimLeft(h.m.Self.Value, "host-")
	n, _ := strconv.Atoi(idx)
	for i, p := range h.spec.Pnics {
		nic := types.PhysicalNic{Key: "key-vim.host.PhysicalNic-" + p.Device, Device: p.Device, Pci: p.Pci,
			Mac: fmt.Sprintf("b8:59:9f:%02x:%02x:%02x", n/256%256, n%256, i), WakeOnLanSupported: false,
			ResourcePoolSchedulerAllowed: types.NewBool(true)}
		nic.Driver, nic.DriverVersion, nic.FirmwareVersion = p.driver()
		if p.SpeedMb > 0 {
			nic.LinkSpeed = &types.PhysicalNicLinkInfo{SpeedMb: p.SpeedMb, Duplex: true}
		}
		if p.Rdma {
			key := "key-vim.host.RdmaDevice-vmrdma" + strconv.Itoa(i)
			c.Network.RdmaDevice = append(c.Network.RdmaDevice, types.HostRdmaDevice{Key: key, Device: "vmrdma" + strconv.Itoa(i),
				Driver: "nmlx5_rdma", Capability: types.HostRdmaDeviceCapability{RoceV1Capable: true, RoceV2Capable: true}})
			nic.RdmaDevice = key
		}
		c.Network.Pnic = append(c.Network.Pnic, nic)
	}
	h.m.Config = c
	h.facts()
	h.proxySwitches(dc)
	h.passthru()
}

// proxySwitches and device pools: what the host says of its switches.
func (h *host) proxySwitches(dc *datacenter) {
	c := h.m.Config
	for i := range dc.spec.Switches {
		sw := dc.switches[dc.spec.Switches[i].Name]
		key := "DvsPortset-" + strconv.Itoa(i)
		ps := types.HostProxySwitch{DvsUuid: sw.m.Uuid, DvsName: sw.m.Name, Key: key, NumPorts: 512, NumPortsAvailable: 500, Mtu: sw.spec.MaxMtu}
		pool := &types.HostSriovNetworkDevicePoolInfo{SwitchKey: key, SwitchUuid: sw.m.Uuid}
		pool.Key = sw.m.Name
		for k, p := range h.spec.Pnics {
			if p.Switch != sw.m.Name {
				continue
			}
			ps.Pnic = append(ps.Pnic, c.Network.Pnic[k].Key)
			if p.Sriov != nil {
				pool.Pnic = append(pool.Pnic, c.Network.Pnic[k])
			}
		}
		if len(ps.Pnic) > 0 {
			c.Network.ProxySwitch = append(c.Network.ProxySwitch, ps)
		}
		if len(pool.Pnic) > 0 {
			c.SriovDevicePool = append(c.SriovDevicePool, pool)
		}
	}
}

// passthru rebuilds config.pciPassthruInfo from the PFs.
func (h *host) passthru() {
	if h.recorded {
		h.passthruRecorded()
		return
	}
	list := []types.BaseHostPciPassthruInfo{}
	for _, n := range h.spec.Pnics {
		base := types.HostPciPassthruInfo{Id: n.Pci, DependentDevice: n.Pci, PassthruCapable: true}
		p := h.pfBy(n.Pci)
		if p == nil {
			list = append(list, &base)
			continue
		}
		if p.incapable {
			list = append(list, &types.HostSriovInfo{HostPciPassthruInfo: base})
			continue
		}
		num := int32(p.usable())
		list = append(list, &types.HostSriovInfo{HostPciPassthruInfo: base, SriovEnabled: p.vfs > 0 && !p.off, SriovCapable: true,
			SriovActive: num > 0, NumVirtualFunctionRequested: int32(p.requested()), NumVirtualFunction: num,
			MaxVirtualFunctionSupported: int32(p.max)})
	}
	for i := range h.spec.Devices {
		list = append(list, h.spec.Devices[i].passthru())
	}
	h.m.Config.PciPassthruInfo = list
	h.graphics()
}

// driver of a NIC, its version and the NIC's firmware.
func (n *pnicSpec) driver() (string, string, string) {
	f := append(strings.Fields(n.Driver), "", "", "")
	if n.Driver == "" {
		return "nmlx5_core", "4.23.0.66", "22.39.2048"
	}
	return f[0], f[1], f[2]
}

func (p *pf) requested() int {
	if p.asked > 0 {
		return p.asked
	}
	return p.vfs
}

func (h *host) pfBy(id string) *pf {
	for _, p := range h.pfs {
		if p.id == id {
			return p
		}
	}
	return nil
}
