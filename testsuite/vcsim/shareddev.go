// SPDX-License-Identifier: GPL-2.0-or-later
// shareddev.go: what a host has by name: GPUs that VMs share by profiles of the
// vendor (vGPU), and devices of a DVX class. Kept beside the PFs: a GPU has as
// many VFs as it takes vGPUs of the profile that it runs.

package main

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/vmware/govmomi/vim25/types"
)

// gpuSpec is a GPU of a host in the inventory. Profiles are what its vendor's
// table says: how many of each it takes, alone, and in the mixed mode.
type gpuSpec struct {
	Pci      string           `json:"pci"`
	Name     string           `json:"name"`
	Device   int              `json:"device"` // PCI ids
	Vendor   int              `json:"vendor"` // 0 is NVIDIA
	By       string           `json:"by"`     // the vendor's name, likewise
	Type     string           `json:"type"`   // basic, shared, direct, sharedDirect; "" is sharedDirect
	Mode     string           `json:"mode"`   // none, sameSize, mixedSize, multiInstanceGpu; "": not said
	MemoryGB int64            `json:"memoryGB"`
	Numa     int              `json:"numa"`
	BarGB    int              `json:"barGB"`
	Profiles map[string][]int `json:"profiles"`
}

// dvxSpec is a class of DVX devices that the driver of a host offers.
type dvxSpec struct {
	Class      string      `json:"class"`
	Instances  int         `json:"instances"`
	Needs      []string    `json:"needs"`   // parameters that every device must be given
	Options    []dvxOption `json:"options"` // all that there are, if any: other keys and values of another type are refused
	Checkpoint bool        `json:"checkpoint"`
	DmaTracing bool        `json:"dmaTracing"`
	SriovNic   bool        `json:"sriovNic"`
	Vendor     int         `json:"vendor"` // of the PCI functions that it is made of; 0: none are seen
	Device     int         `json:"device"`
}

// dvxOption is a parameter of a class: its OptionType, and what that allows.
type dvxOption struct {
	Key     string   `json:"key"`
	Type    string   `json:"type"` // long, int, float, bool, string, choice
	Min     int64    `json:"min"`
	Max     int64    `json:"max"`
	Choices []string `json:"choices"`
}

func (o *dvxOption) optionType() types.BaseOptionType {
	switch o.Type {
	case "long":
		return &types.LongOption{Min: o.Min, Max: o.Max, DefaultValue: o.Min}
	case "int":
		return &types.IntOption{Min: int32(o.Min), Max: int32(o.Max), DefaultValue: int32(o.Min)}
	case "float":
		return &types.FloatOption{Min: float32(o.Min), Max: float32(o.Max), DefaultValue: float32(o.Min)}
	case "bool":
		return &types.BoolOption{Supported: true}
	case "string":
		return &types.StringOption{}
	case "choice":
		c := &types.ChoiceOption{}
		for _, k := range o.Choices {
			c.ChoiceInfo = append(c.ChoiceInfo, &types.ElementDescription{Key: k, Description: types.Description{Label: k, Summary: k}})
		}
		return c
	}
	return nil
}

// takes: a value of the option's own type, in its range.
func (o *dvxOption) takes(value any) bool {
	in := func(n float64) bool { return n >= float64(o.Min) && n <= float64(o.Max) }
	switch x := value.(type) {
	case int64:
		return o.Type == "long" && in(float64(x))
	case int32:
		return o.Type == "int" && in(float64(x))
	case float32:
		return o.Type == "float" && in(float64(x))
	case bool:
		return o.Type == "bool"
	case string:
		return o.Type == "string" || o.Type == "choice" && slices.Contains(o.Choices, x)
	}
	return false
}

// classTarget is what QueryConfigTarget says of the class.
func (d *dvxSpec) classTarget() types.VirtualMachineDvxClassInfo {
	named := func(key string) types.ElementDescription {
		return types.ElementDescription{Key: key, Description: types.Description{Label: key, Summary: key}}
	}
	name := named(d.Class)
	res := types.VirtualMachineDvxClassInfo{DeviceClass: &name, VendorName: "Simulated", SriovNic: d.SriovNic}
	for i := range d.Options {
		res.ConfigParams = append(res.ConfigParams, types.OptionDef{ElementDescription: named(d.Options[i].Key), OptionType: d.Options[i].optionType()})
	}
	return res
}

// wrongParam: one that the class hasn't, or with a value of another type.
func (d *dvxSpec) wrongParam(list []types.BaseOptionValue) bool {
	for _, b := range list {
		given := b.GetOptionValue()
		i := slices.IndexFunc(d.Options, func(o dvxOption) bool { return o.Key == given.Key })
		if len(d.Options) > 0 && (i < 0 || !d.Options[i].takes(given.Value)) {
			return true
		}
	}
	return false
}

func (g *gpuSpec) graphicsType() string {
	if g.Type == "" {
		return "sharedDirect"
	}
	return g.Type
}

// vendor is whose it is: a board's own graphics is no NVIDIA's.
func (g *gpuSpec) vendor() (int16, string) {
	if g.Vendor == 0 {
		return 0x10de, "NVIDIA Corporation"
	}
	return int16(g.Vendor), g.By
}

func (h *host) buildShared() error {
	for i := range h.spec.Gpus {
		g := &h.spec.Gpus[i]
		if g.Pci == "" || h.pfBy(g.Pci) != nil || !slices.Contains(types.HostGraphicsInfoGraphicsType("").Strings(), g.graphicsType()) ||
			g.Mode != "" && !slices.Contains(types.HostGraphicsInfoVgpuMode("").Strings(), g.Mode) {
			return fmt.Errorf("gpus: %q of host %s: an address of its own, a type and a mode are expected", g.Pci, h.spec.Name)
		}
		most := 0
		for _, n := range g.Profiles {
			most = max(most, slices.Max(append(n, 0)))
		}
		h.pfs = append(h.pfs, &pf{h: h, id: g.Pci, vfs: most, max: most, active: true, numa: g.Numa, gpu: g,
			used: map[int]*vmachine{}, late: map[int]int{}})
	}
	for i := range h.spec.Dvx {
		d := &h.spec.Dvx[i]
		if d.Class == "" || h.pfBy(d.Class) != nil || d.Instances < 0 {
			return fmt.Errorf("dvx: %q of host %s: a class of its own is expected", d.Class, h.spec.Name)
		}
		for k := range d.Options {
			if d.Options[k].Key == "" || d.Options[k].optionType() == nil {
				return fmt.Errorf("dvx: %q of host %s: options[%d]: a key and a type are expected", d.Class, h.spec.Name, k)
			}
		}
		h.pfs = append(h.pfs, &pf{h: h, id: d.Class, vfs: d.Instances, max: d.Instances, active: true, numa: -1, dvx: d,
			used: map[int]*vmachine{}, late: map[int]int{}})
	}
	return nil
}

// sharedHardware is what hardware.* says of them.
func (h *host) sharedHardware(hw *types.HostHardwareInfo) {
	for _, g := range h.spec.Gpus {
		p := pciDevice(g.Pci, int16(g.Device))
		id, by := g.vendor()
		p.VendorId, p.SubVendorId, p.ClassId, p.VendorName, p.DeviceName = id, id, 0x0302, by, g.Name
		hw.PciDevice = append(hw.PciDevice, p)
		for i := range hw.NumaInfo.NumaNode {
			if g.Numa == i {
				hw.NumaInfo.NumaNode[i].PciId = append(hw.NumaInfo.NumaNode[i].PciId, g.Pci)
			}
		}
	}
	for k, d := range h.spec.Dvx {
		hw.DvxClasses = append(hw.DvxClasses, types.HostDvxClass{DeviceClass: d.Class, CheckpointSupported: d.Checkpoint,
			SwDMATracingSupported: d.DmaTracing, SriovNic: d.SriovNic})
		for i := 0; d.Vendor > 0 && i < d.Instances; i++ {
			p := pciDevice(fmt.Sprintf("0000:d%x:%02x.%x", k, i/8, i%8), int16(d.Device))
			p.VendorId, p.SubVendorId, p.VendorName, p.DeviceName = int16(d.Vendor), int16(d.Vendor), "Simulated", "DVX function"
			hw.PciDevice = append(hw.PciDevice, p)
		}
	}
}

// graphics is what config.* says of GPUs: profiles are offered by those alone
// that are in the mode for them.
func (h *host) graphics() {
	c := h.m.Config
	if len(h.spec.Gpus) == 0 {
		return
	}
	c.GraphicsInfo, c.SharedPassthruGpuTypes, c.SharedGpuCapabilities = nil, nil, nil
	names := map[string]bool{}
	for i := range h.spec.Gpus {
		g := &h.spec.Gpus[i]
		_, by := g.vendor()
		info := types.HostGraphicsInfo{DeviceName: g.Name, VendorName: by, PciId: g.Pci,
			GraphicsType: g.graphicsType(), VgpuMode: g.Mode, MemorySizeInKB: g.MemoryGB << 20}
		for _, v := range h.pfBy(g.Pci).used {
			info.Vm = append(info.Vm, v.o.ref)
		}
		c.GraphicsInfo = append(c.GraphicsInfo, info)
		for name := range g.Profiles {
			names[name] = names[name] || g.graphicsType() == "sharedDirect"
		}
	}
	for name, on := range names {
		if on {
			c.SharedPassthruGpuTypes = append(c.SharedPassthruGpuTypes, name)
		}
	}
	sort.Strings(c.SharedPassthruGpuTypes)
	for _, name := range c.SharedPassthruGpuTypes {
		c.SharedGpuCapabilities = append(c.SharedGpuCapabilities, types.HostSharedGpuCapabilities{Vgpu: name,
			DiskSnapshotSupported: true, SuspendSupported: true, MigrateSupported: true})
	}
}

// graphicsChanged tells which VMs have vGPUs now.
func (h *host) graphicsChanged() {
	if len(h.spec.Gpus) == 0 {
		return
	}
	c := *h.m.Config
	h.m.Config = &c
	h.graphics()
	h.o.w().touch(h.o, "config")
}

// profileOf is the vGPU that a VM's NIC asks for, "" where it is none.
func (v *vmachine) profileOf(card int32) string {
	for _, d := range v.m.Config.Hardware.Device {
		if p, ok := d.(*types.VirtualPCIPassthrough); ok && p.Key == card {
			if b, ok := p.Backing.(*types.VirtualPCIPassthroughVmiopBackingInfo); ok {
				return b.Vgpu
			}
		}
	}
	return ""
}

// running counts the vGPUs of each profile that VMs which are on have of a GPU.
func (p *pf) running() map[string]int {
	res := map[string]int{}
	for vf, v := range p.used {
		for _, x := range v.held {
			if x.p == p && x.vf == vf {
				res[v.profileOf(x.card)]++
			}
		}
	}
	return res
}

// takes tells whether a GPU has room for one more vGPU beside those that run
// and those promised just now: of another profile only in the mixed mode, and
// there each has its share.
func (p *pf) takes(profile string, promised map[string]int) bool {
	n := p.gpu.Profiles[profile]
	mig := strings.Count(profile, "-") == 2
	if len(n) != 2 || p.gpu.graphicsType() != "sharedDirect" || (p.gpu.Mode == "multiInstanceGpu") != mig && p.gpu.Mode != "" && p.gpu.Mode != "none" {
		return false
	}
	all := p.running()
	for name, k := range promised {
		all[name] += k
	}
	late := len(p.late)
	if p.gpu.Mode != "mixedSize" {
		for name, k := range all {
			if name != profile && k > 0 {
				return false
			}
		}
		return all[profile]+late < n[0]
	}
	sum := 0.0
	for name, k := range all {
		sum += float64(k) / float64(p.gpu.Profiles[name][1])
	}
	return sum+float64(late+1)/float64(n[1]) <= 1.0001
}

// checkShared is what vCenter refuses of such a backing in a spec.
func (v *vmachine) checkShared(i int, backing types.BaseVirtualDeviceBackingInfo) error {
	switch b := backing.(type) {
	case *types.VirtualPCIPassthroughVmiopBackingInfo:
		if b.Vgpu == "" {
			return deviceSpec(i, "backing.vgpu")
		}
	case *types.VirtualPCIPassthroughDvxBackingInfo:
		if b.DeviceClass == "" {
			return deviceSpec(i, "backing.deviceClass")
		}
		given := map[string]bool{}
		for _, o := range b.ConfigParams {
			given[o.GetOptionValue().Key] = true
		}
		for k := range v.hostSpec().Dvx {
			d := &v.hostSpec().Dvx[k]
			if d.Class == b.DeviceClass && d.wrongParam(b.ConfigParams) {
				return deviceSpec(i, "backing.configParams")
			}
			for _, need := range d.Needs {
				if d.Class == b.DeviceClass && !given[need] {
					return deviceSpec(i, "backing.configParams")
				}
			}
		}
	default:
		return deviceSpec(i, "backing")
	}
	return nil
}

func (v *vmachine) hostSpec() *hostSpec {
	if v.h == nil {
		return &hostSpec{}
	}
	return &v.h.spec
}

// noShared is the answer where there is none to be had of that name.
func (v *vmachine) noShared(h *host, d *demand) error {
	if d.dvx != "" {
		return v.noDevice(h, d.index)
	}
	return fault(&types.InsufficientGraphicsResourcesFault{}, "The amount of graphics resource available in the parent resource pool is insufficient for the operation.")
}

// sharedCard is one of a VM of the inventory.
func sharedCard(s *cardSpec, key int32) types.BaseVirtualDevice {
	p := &types.VirtualPCIPassthrough{}
	p.Key, p.Backing = key, &types.VirtualPCIPassthroughVmiopBackingInfo{Vgpu: s.Profile}
	if s.Type == "dvx" {
		p.Backing = &types.VirtualPCIPassthroughDvxBackingInfo{DeviceClass: s.Class}
	}
	return p
}

// seenBy is what a guest sees of such a device.
func (p *pf) seenBy(ci *cardInfo) {
	if p.gpu != nil {
		ci.Type, ci.Vendor, ci.Device = "pci", "0x10de", fmt.Sprintf("0x%04x", p.gpu.Device)
	}
	if p.dvx != nil && p.dvx.Vendor > 0 {
		ci.Type, ci.Vendor, ci.Device = "pci", fmt.Sprintf("0x%04x", p.dvx.Vendor), fmt.Sprintf("0x%04x", p.dvx.Device)
	}
}
