// SPDX-License-Identifier: GPL-2.0-or-later
// loadhost.go: what the simulator keeps beside the recorded hosts and VMs: PFs
// and their switches, sizes, who has which VF.

package main

import (
	"slices"
	"strings"

	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

func (w *world) loadHost(d *datacenter, o *object, m *mo.HostSystem) {
	at := slices.IndexFunc(w.clusters, func(c *cluster) bool { return m.Parent != nil && c.o.ref == *m.Parent })
	if at < 0 {
		return
	}
	h := &host{o: o, m: m, c: w.clusters[at], recorded: true, vms: map[*vmachine]bool{}}
	h.spec = hostSpec{Name: unescapeName(m.Name), Cores: 1, Mhz: 1000, Numa: 1, ApiVersion: w.inv.About.ApiVersion}
	if hw := m.Hardware; hw != nil {
		h.spec.Cores, h.spec.Mhz = int(hw.CpuInfo.NumCpuCores), int(hw.CpuInfo.Hz/1000000)
		h.spec.MemoryMB = hw.MemorySize >> 20
		if hw.NumaInfo != nil {
			h.spec.Numa = int(hw.NumaInfo.NumNodes)
		}
	}
	if m.Config != nil {
		h.spec.ApiVersion = m.Config.Product.ApiVersion
		h.loadPnics()
	}
	o.host = h
	w.hosts, w.hostBy[h.spec.Name] = append(w.hosts, h), h
	h.c.hosts = append(h.c.hosts, h)
}

// loadPnics reads the NICs, in the order of config.network.pnic, and the PFs.
func (h *host) loadPnics() {
	net := h.m.Config.Network
	if net == nil {
		return
	}
	for i := range net.Pnic {
		p := &net.Pnic[i]
		n := pnicSpec{Device: p.Device, Pci: p.Pci, Numa: h.numaOf(p.Pci), Driver: p.Driver}
		if p.LinkSpeed != nil {
			n.SpeedMb = p.LinkSpeed.SpeedMb
		}
		for _, sw := range net.ProxySwitch {
			if slices.Contains(sw.Pnic, p.Key) {
				n.Switch = unescapeName(sw.DvsName)
			}
		}
		if s := h.sriovInfo(p.Pci); s != nil {
			f := &pf{h: h, id: p.Pci, device: p.Device, sw: n.Switch, max: int(s.MaxVirtualFunctionSupported),
				active: true, numa: n.Numa, used: map[int]*vmachine{}, late: map[int]int{}}
			if s.SriovActive {
				f.vfs = int(s.NumVirtualFunction)
			}
			h.pfs = append(h.pfs, f)
			n.Sriov = &sriovSpec{Vfs: f.vfs, Max: f.max}
		}
		h.spec.Pnics = append(h.spec.Pnics, n)
	}
}

func (h *host) sriovInfo(pci string) *types.HostSriovInfo {
	for _, b := range h.m.Config.PciPassthruInfo {
		if s, ok := b.(*types.HostSriovInfo); ok && s.SriovCapable && strings.EqualFold(s.Id, pci) {
			return s
		}
	}
	return nil
}

func (h *host) numaOf(pci string) int {
	if h.m.Hardware == nil || h.m.Hardware.NumaInfo == nil {
		return -1
	}
	for _, n := range h.m.Hardware.NumaInfo.NumaNode {
		if slices.ContainsFunc(n.PciId, func(id string) bool { return strings.EqualFold(id, pci) }) {
			return int(n.TypeId)
		}
	}
	return -1
}

// passthruRecorded shows the VFs of the PFs, and leaves all else as it is.
func (h *host) passthruRecorded() {
	list := []types.BaseHostPciPassthruInfo{}
	for _, b := range h.m.Config.PciPassthruInfo {
		s, ok := b.(*types.HostSriovInfo)
		if !ok || h.pfBy(s.Id) == nil {
			list = append(list, b)
			continue
		}
		p, x := h.pfBy(s.Id), *s
		if num := int32(p.usable()); num != x.NumVirtualFunction {
			x.NumVirtualFunction, x.SriovActive, x.SriovEnabled = num, num > 0, num > 0
			x.NumVirtualFunctionRequested = int32(p.requested())
		}
		list = append(list, &x)
	}
	h.m.Config.PciPassthruInfo = list
}

// loadVM wraps a recorded VM. One that vCenter has no configuration of is broken:
// it has an empty one here, which is not shown.
func (w *world) loadVM(d *datacenter, o *object, m *mo.VirtualMachine) {
	if m.Runtime.Host == nil {
		return
	}
	on := w.get(*m.Runtime.Host)
	if on == nil || on.host == nil {
		return
	}
	v := &vmachine{w: w, o: o, m: m, dc: d, h: on.host, dir: o.ref.Value}
	if m.Config == nil {
		v.broken = string(m.Runtime.ConnectionState)
		m.Config = &types.VirtualMachineConfigInfo{Name: m.Name}
		o.hidden = map[string]bool{"config": true, "layoutEx": true}
	}
	if m.Guest == nil {
		m.Guest = &types.GuestInfo{}
	}
	o.vm, w.vms[o.ref], v.h.vms[v] = v, v, true
	for _, dev := range m.Config.Hardware.Device {
		if disk, ok := dev.(*types.VirtualDisk); ok {
			v.diskGB += disk.CapacityInKB >> 20
		}
	}
	if v.on() {
		held, _ := v.h.assign(v.demands(), nil)
		v.takeHost(held)
	}
	v.judge()
}
