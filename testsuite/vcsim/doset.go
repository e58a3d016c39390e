// SPDX-License-Identifier: GPL-2.0-or-later
// doset.go: how hosts, templates and what they share are set up, changed by an
// administrator's hand: power policy, clock, drivers, SR-IOV, switches, mounts.

package main

import (
	"fmt"

	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

// hostSet: what is given is set, all else stays.
type hostSet struct {
	Power      *string   `json:"power"` // static, dynamic, low, custom
	Ntp        *[]string `json:"ntp"`
	Reboot     *bool     `json:"reboot"`
	Mgmt       *string   `json:"mgmt"` // the network of its management
	Build      *string   `json:"build"`
	ApiVersion *string   `json:"apiVersion"`
	MemoryMB   *int64    `json:"memoryMB"`
	Cores      *int      `json:"cores"`
	NumaPci    *bool     `json:"numaPci"` // false: its NUMA nodes list no PCI device

	Pci           string  `json:"pci"` // of the NIC that the next ones speak of
	DriverVersion *string `json:"driverVersion"`
	Firmware      *string `json:"firmware"`
	Link          *bool   `json:"link"`
	Capable       *bool   `json:"capable"`
	Enabled       *bool   `json:"enabled"` // SR-IOV
	Active        *bool   `json:"active"`
	Requested     *int    `json:"requested"`
	Max           *int    `json:"max"`
	Uplink        *bool   `json:"uplink"` // of the switch that it was declared in

	Switch    string `json:"switch"`
	Mtu       *int32 `json:"mtu"`
	Member    *bool  `json:"member"`
	Datastore string `json:"datastore"`
	Mounted   *bool  `json:"mounted"`
}

// facts are what an untouched host says of itself.
func (h *host) facts() {
	h.setPower("static")
	h.setMgmt("Management Network", nil)
	h.m.Config.DateTimeInfo = &types.HostDateTimeInfo{SystemClockProtocol: "ntp",
		NtpConfig: &types.HostNtpConfig{Server: []string{"ntp.example.org"}}}
}

// setMgmt: vmk0 is on this network, or on a standard port group of the host's
// own. What a service uses is named with the service before it.
func (h *host) setMgmt(name string, n *network) {
	vnic := func(kind string) types.HostVirtualNic {
		v := types.HostVirtualNic{Device: "vmk0", Key: "key-vim.host.VirtualNic-vmk0", Portgroup: name,
			Spec: types.HostVirtualNicSpec{Mac: "00:50:56:60:00:01", Mtu: 1500, Ip: &types.HostIpConfig{Dhcp: true}}}
		if n != nil && n.sw != nil {
			v.Portgroup = ""
			v.Spec.DistributedVirtualPort = &types.DistributedVirtualSwitchPortConnection{SwitchUuid: n.sw.m.Uuid, PortgroupKey: n.key}
		}
		v.Key = kind + "." + v.Key
		return v
	}
	h.m.Config.VirtualNicManagerInfo = &types.HostVirtualNicManagerInfo{NetConfig: []types.VirtualNicManagerNetConfig{
		{NicType: "management", MultiSelectAllowed: true, CandidateVnic: []types.HostVirtualNic{vnic("management")},
			SelectedVnic: []string{"management.key-vim.host.VirtualNic-vmk0"}},
		{NicType: "vmotion", MultiSelectAllowed: true, CandidateVnic: []types.HostVirtualNic{vnic("vmotion")}}}}
}

func (h *host) setPower(short string) {
	names := map[string]string{"static": "High Performance", "dynamic": "Balanced", "low": "Low Power", "custom": "Custom"}
	keys := map[string]int32{"static": 1, "dynamic": 2, "low": 3, "custom": 4}
	h.m.Config.PowerSystemInfo = &types.PowerSystemInfo{CurrentPolicy: types.HostPowerPolicy{Key: keys[short],
		Name: "PowerPolicy." + short + ".name", ShortName: short, Description: names[short]}}
}

func (h *host) set(s *hostSet) error {
	if s == nil {
		return fmt.Errorf("set: missing")
	}
	c := *h.m.Config
	h.m.Config = &c
	if s.Power != nil {
		h.setPower(*s.Power)
	}
	if s.Ntp != nil {
		c.DateTimeInfo = &types.HostDateTimeInfo{SystemClockProtocol: "ntp", NtpConfig: &types.HostNtpConfig{Server: *s.Ntp}}
	}
	if s.Reboot != nil {
		h.m.Summary.RebootRequired = *s.Reboot
	}
	if s.Mgmt != nil {
		n := h.c.dc.nets[*s.Mgmt]
		if n == nil {
			return fmt.Errorf("mgmt: there is no network %q", *s.Mgmt)
		}
		h.setMgmt(*s.Mgmt, n)
	}
	h.setProduct(s)
	h.setSize(s)
	if err := h.setNIC(s); err != nil {
		return err
	}
	if err := h.setReach(s); err != nil {
		return err
	}
	h.passthru()
	h.o.w().touch(h.o, "config", "hardware", "summary", "network", "datastore")
	return nil
}

func (h *host) setProduct(s *hostSet) {
	about := h.m.Config.Product
	if s.Build != nil {
		about.Build = *s.Build
	}
	if s.ApiVersion != nil {
		about.ApiVersion, about.Version = *s.ApiVersion, *s.ApiVersion
		about.FullName = "VMware ESXi " + *s.ApiVersion
	}
	h.m.Config.Product = about
	h.m.Summary.Config.Product = &about
}

func (h *host) setSize(s *hostSet) {
	hw := *h.m.Hardware
	if s.MemoryMB != nil {
		h.spec.MemoryMB = *s.MemoryMB
		hw.MemorySize = *s.MemoryMB << 20
	}
	if s.Cores != nil {
		h.spec.Cores = *s.Cores
		hw.CpuInfo.NumCpuCores, hw.CpuInfo.NumCpuThreads = int16(*s.Cores), int16(*s.Cores*2)
	}
	if s.NumaPci != nil {
		hw.NumaInfo = h.numa(*s.NumaPci)
	}
	h.m.Hardware = &hw
	if s.MemoryMB != nil || s.Cores != nil {
		h.resources()
		h.o.w().touch(h.o, "systemResources")
		h.touchRuntime()
		h.quick()
	}
}

// setNIC changes a NIC and the PF behind it.
func (h *host) setNIC(s *hostSet) error {
	if s.Pci == "" {
		return nil
	}
	net := *h.m.Config.Network
	net.Pnic = append([]types.PhysicalNic(nil), net.Pnic...)
	h.m.Config.Network = &net
	at := -1
	for i := range net.Pnic {
		if net.Pnic[i].Pci == s.Pci {
			at = i
		}
	}
	if at < 0 {
		return fmt.Errorf("pci: host %s has no NIC %q", h.spec.Name, s.Pci)
	}
	nic := &net.Pnic[at]
	if s.DriverVersion != nil {
		nic.DriverVersion = *s.DriverVersion
	}
	if s.Firmware != nil {
		nic.FirmwareVersion = *s.Firmware
	}
	if s.Link != nil {
		nic.LinkSpeed = nil
		if *s.Link {
			nic.LinkSpeed = &types.PhysicalNicLinkInfo{SpeedMb: max(1000, h.spec.Pnics[at].SpeedMb), Duplex: true}
		}
	}
	if s.Uplink != nil {
		h.setUplink(at, *s.Uplink)
	}
	h.pfBy(s.Pci).set(s)
	return nil
}

// setUplink takes a NIC out of its switch, or puts it back; the host stays a
// member.
func (h *host) setUplink(at int, in bool) {
	net := h.m.Config.Network
	key, name := net.Pnic[at].Key, h.spec.Pnics[at].Switch
	list := append([]types.HostProxySwitch(nil), net.ProxySwitch...)
	for i := range list {
		if list[i].DvsName != name {
			continue
		}
		keys := []string{}
		for _, k := range list[i].Pnic {
			if k != key {
				keys = append(keys, k)
			}
		}
		if in {
			keys = append(keys, key)
		}
		list[i].Pnic = keys
	}
	net.ProxySwitch = list
	if p := h.pfBy(net.Pnic[at].Pci); p != nil {
		p.sw = ""
		if in {
			p.sw = name
		}
	}
}

func (p *pf) set(s *hostSet) {
	if p == nil {
		return
	}
	if s.Capable != nil {
		p.incapable = !*s.Capable
	}
	if s.Enabled != nil {
		p.off = !*s.Enabled
	}
	if s.Active != nil {
		p.active = *s.Active
	}
	if s.Requested != nil {
		p.asked = *s.Requested
	}
	if s.Max != nil {
		p.max = *s.Max
	}
}

// setReach: switches and datastores of this host alone.
func (h *host) setReach(s *hostSet) error {
	w := h.o.w()
	if s.Mtu != nil {
		list := append([]types.HostProxySwitch(nil), h.m.Config.Network.ProxySwitch...)
		for i := range list {
			if list[i].DvsName == s.Switch {
				list[i].Mtu = *s.Mtu
			}
		}
		net := *h.m.Config.Network
		net.ProxySwitch = list
		h.m.Config.Network = &net
	}
	if s.Member != nil {
		h.setMember(s.Switch, *s.Member)
	}
	if s.Mounted == nil {
		return nil
	}
	d := h.c.dc.stores[s.Datastore]
	if d == nil {
		return fmt.Errorf("datastore: there is no %q", s.Datastore)
	}
	ds := d.ptr.(*mo.Datastore)
	mounts := []types.DatastoreHostMount{}
	for _, m := range ds.Host {
		if m.Key != h.o.ref {
			mounts = append(mounts, m)
		}
	}
	h.m.Datastore = withoutRef(h.m.Datastore, d.ref)
	if *s.Mounted {
		h.m.Datastore = append(h.m.Datastore, d.ref)
		mounts = append(mounts, types.DatastoreHostMount{Key: h.o.ref, MountInfo: types.HostMountInfo{AccessMode: "readWrite",
			Accessible: types.NewBool(true), Mounted: types.NewBool(true)}})
	}
	ds.Host = mounts
	w.touch(d, "host")
	return nil
}

// setMember: no port group of a switch that the host is no member of is its.
func (h *host) setMember(name string, in bool) {
	net := *h.m.Config.Network
	h.m.Config.Network = &net
	h.m.Network = h.networks()
	net.ProxySwitch = nil
	h.m.Config.SriovDevicePool = nil
	h.proxySwitches(h.c.dc)
	if in {
		return
	}
	for _, n := range h.c.dc.spec.Networks {
		if n.Switch == name {
			h.m.Network = withoutRef(h.m.Network, h.c.dc.nets[n.Name].o.ref)
		}
	}
	kept := []types.HostProxySwitch{}
	for _, p := range h.m.Config.Network.ProxySwitch {
		if p.DvsName != name {
			kept = append(kept, p)
		}
	}
	h.m.Config.Network.ProxySwitch = kept
}

// vmSet: how a template is set up.
type vmSet struct {
	GuestId  *string `json:"guestId"`
	Hardware *string `json:"hardware"` // "vmx-20"
	HotAdd   *bool   `json:"hotAdd"`
	Tools    *bool   `json:"tools"`
	Snapshot *bool   `json:"snapshot"`
	Card     *string `json:"card"` // a type, as declared; "" takes it out
	Network  string  `json:"network"`
}

func doSetVM(_ *call, v *vmachine, op *adminOp) (any, error) {
	s := op.SetVm
	if s == nil {
		return nil, fmt.Errorf("setVm: missing")
	}
	c := v.m.Config
	if s.GuestId != nil {
		c.GuestId, c.GuestFullName = *s.GuestId, *s.GuestId
	}
	if s.Hardware != nil {
		c.Version = *s.Hardware
	}
	if s.HotAdd != nil {
		c.CpuHotAddEnabled, c.MemoryHotAddEnabled = s.HotAdd, s.HotAdd
	}
	if s.Tools != nil {
		v.m.Guest.ToolsVersionStatus2 = toolsVersion(*s.Tools)
	}
	if s.Snapshot != nil {
		v.m.Snapshot = nil
		if *s.Snapshot {
			v.snapshot("by-hand", "")
		}
	}
	if s.Card != nil {
		if err := v.setCard(*s.Card, s.Network); err != nil {
			return nil, err
		}
	}
	v.bump()
	v.summarise()
	v.w.touch(v.o, "config", "guest", "snapshot")
	return nil, nil
}

func toolsVersion(in bool) string {
	if in {
		return "guestToolsUnmanaged"
	}
	return "guestToolsNotInstalled"
}

const handMade = int32(7777) // the key of a NIC that doSetVM has put in

func (v *vmachine) setCard(kind, network string) error {
	kept := []types.BaseVirtualDevice{}
	for _, d := range v.m.Config.Hardware.Device {
		if d.GetVirtualDevice().Key != handMade {
			kept = append(kept, d)
		}
	}
	if kind != "" {
		dev, err := v.buildCard(&cardSpec{Type: kind, Network: network}, handMade)
		if err != nil {
			return err
		}
		kept = append(kept, dev)
	}
	v.m.Config.Hardware.Device = kept
	return nil
}

// setStore: a datastore that no host reaches any more, or again.
func (w *world) setStore(op *adminOp) error {
	for _, d := range w.dcs {
		if o := d.stores[op.Datastore]; o != nil && op.Accessible != nil {
			o.ptr.(*mo.Datastore).Summary.Accessible = *op.Accessible
			w.touch(o, "summary")
			return nil
		}
	}
	return fmt.Errorf("datastore: there is no %q, or accessible is missing", op.Datastore)
}
