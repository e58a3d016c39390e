// SPDX-License-Identifier: GPL-2.0-or-later
// system.go: what ESXi keeps of a host for itself, and what VMs can have of it.

package main

import "github.com/vmware/govmomi/vim25/types"

// systemSpec is a host's system part. Without it a host keeps 6 % and 1 GiB of its
// memory, at most an eighth, and a tenth of its CPU. Recordings of real hosts, all
// but one with vSAN, show 10 to 19 % of the memory and 10 to 24 % of the CPU.
type systemSpec struct {
	MemoryMB int64 `json:"memoryMB"`
	Mhz      int64 `json:"mhz"`
}

func (h *host) allMhz() int64 { return int64(h.spec.Cores) * int64(h.spec.Mhz) }

func (h *host) system() (memMB, mhz int64) {
	if s := h.spec.System; s != nil {
		return min(s.MemoryMB, h.spec.MemoryMB), min(s.Mhz, h.allMhz())
	}
	mem := h.spec.MemoryMB
	return min(mem*6/100+1024, mem/8), h.allMhz() / 10
}

// forVMs is what all VMs of a host together can reserve.
func (h *host) forVMs() (memMB, mhz int64) {
	mem, mhz := h.system()
	return h.spec.MemoryMB - mem, h.allMhz() - mhz
}

func systemPool(key string, mhz, memMB int64, below ...types.HostSystemResourceInfo) types.HostSystemResourceInfo {
	alloc := func(n int64) *types.ResourceAllocationInfo {
		a := allocation(n, 0)
		a.ExpandableReservation = types.NewBool(true)
		return &a
	}
	return types.HostSystemResourceInfo{Key: key, Child: below,
		Config: &types.ResourceConfigSpec{CpuAllocation: *alloc(mhz), MemoryAllocation: *alloc(memMB)}}
}

// resources tells the system part as real hosts do: some is reserved by the pools
// themselves, the rest by those below them, as deep as two levels. What VMs have
// is in no pool, not even host/user.
func (h *host) resources() {
	mem, mhz := h.system()
	deep, few := mem/4, mhz/8
	hostd := systemPool("host/vim/vmvisor/hostd", 0, deep)
	all := systemPool("host", h.allMhz(), h.spec.MemoryMB,
		systemPool("host/system", few/2, mem-deep, systemPool("host/system/kernel", few, 0)),
		systemPool("host/vim", mhz-few, 0, systemPool("host/vim/vmvisor", few, 0, hostd)),
		systemPool("host/iofilters", 0, 0), systemPool("host/user", 0, 0))
	all.Config.CpuAllocation.ExpandableReservation = types.NewBool(false)
	all.Config.MemoryAllocation.ExpandableReservation = types.NewBool(false)
	h.m.SystemResources = &all
}

// effective tells whether vCenter counts on a host for VMs.
func (h *host) effective() bool {
	rt := &h.m.Runtime
	return rt.ConnectionState == "connected" && rt.PowerState == "poweredOn" && !rt.InMaintenanceMode
}
