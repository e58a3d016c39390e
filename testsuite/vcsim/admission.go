// SPDX-License-Identifier: GPL-2.0-or-later
// admission.go: what a power-on needs and whether a host has it: state, VFs,
// memory, CPU. A VF belongs to one VM from power-on to power-off.

package main

import (
	"strings"
	"time"

	"github.com/vmware/govmomi/vim25/types"
)

// demand is what one NIC wants: a PF by id, or any of a switch, or one VF.
type demand struct {
	card  int32
	index int
	pf    string
	sw    string
	vf    string
	dev   *types.VirtualPCIPassthroughDynamicBackingInfo
	vgpu  string
	dvx   string
}

// demands lists the VFs that a VM's NICs need.
func (v *vmachine) demands() []demand {
	var res []demand
	n := 0
	for _, d := range v.m.Config.Hardware.Device {
		switch c := d.(type) {
		case *types.VirtualSriovEthernetCard:
			dm := demand{card: c.Key, index: n}
			if net := v.dc.byBacking(c.Backing); net != nil && net.sw != nil {
				dm.sw = net.sw.spec.Name
			}
			if id := c.SriovBacking.PhysicalFunctionBacking.Id; !strings.HasPrefix(id, "Automatic-") {
				dm.pf = id
			}
			res = append(res, dm)
			n++
		case *types.VirtualPCIPassthrough:
			switch b := c.Backing.(type) {
			case *types.VirtualPCIPassthroughDeviceBackingInfo:
				res = append(res, demand{card: c.Key, index: n, vf: b.Id})
			case *types.VirtualPCIPassthroughDynamicBackingInfo:
				res = append(res, demand{card: c.Key, index: n, dev: b})
			case *types.VirtualPCIPassthroughVmiopBackingInfo:
				res = append(res, demand{card: c.Key, index: n, vgpu: b.Vgpu})
			case *types.VirtualPCIPassthroughDvxBackingInfo:
				res = append(res, demand{card: c.Key, index: n, dvx: b.DeviceClass})
			}
			n++
		}
	}
	return res
}

// candidates are the PFs that a demand may be served from.
func (h *host) candidates(d demand) []*pf {
	var res []*pf
	for _, p := range h.pfs {
		switch {
		case d.dev != nil:
			if p.dev != nil && p.dev.serves(d.dev) {
				res = append(res, p)
			}
		case d.vgpu != "":
			if p.gpu != nil {
				res = append(res, p)
			}
		case d.dvx != "":
			if p.dvx != nil && p.id == d.dvx {
				res = append(res, p)
			}
		case d.vf != "":
			if p.indexOf(d.vf) >= 0 {
				res = append(res, p)
			}
		case d.pf != "":
			if p.id == d.pf && p.dev == nil && p.gpu == nil && p.dvx == nil {
				res = append(res, p)
			}
		case d.sw != "" && p.sw == d.sw:
			res = append(res, p)
		}
	}
	return res
}

func (p *pf) indexOf(vf string) int {
	for i := 0; i < p.max; i++ {
		if p.vfID(i) == vf {
			return i
		}
	}
	return -1
}

// assign picks a VF for each demand against a copy of what is used; the
// second result is the first demand that got none.
func (h *host) assign(ds []demand, extra map[*pf]int) ([]heldVF, *demand) {
	var res []heldVF
	taken := map[*pf]map[int]bool{}
	promised := map[*pf]map[string]int{} // vGPUs
	load := func(p *pf) int { return len(p.used) + len(taken[p]) + extra[p] }
	for k := range ds {
		d := &ds[k]
		var best *pf
		for _, p := range h.candidates(*d) {
			if d.vgpu != "" && !p.takes(d.vgpu, promised[p]) {
				continue
			}
			if load(p) < p.usable() && (best == nil || load(p) < load(best)) {
				best = p
			}
		}
		if best == nil {
			return res, d
		}
		vf := -1
		if d.vf != "" {
			if vf = best.indexOf(d.vf); best.used[vf] != nil || best.late[vf] > 0 || taken[best][vf] {
				return res, d
			}
		} else {
			for i := 0; i < best.usable(); i++ {
				if best.used[i] == nil && best.late[i] == 0 && !taken[best][i] {
					vf = i
					break
				}
			}
			if vf < 0 { // extra demands only count, they have no index
				vf = best.usable() + len(taken[best])
			}
		}
		if taken[best] == nil {
			taken[best] = map[int]bool{}
		}
		taken[best][vf] = true
		if promised[best] == nil {
			promised[best] = map[string]int{}
		}
		promised[best][d.vgpu]++
		res = append(res, heldVF{p: best, vf: vf, card: d.card})
	}
	return res, nil
}

// release gives a VF back, after the time that ESXi takes for it.
func (p *pf) release(vf int) {
	delete(p.used, vf)
	w := p.h.o.w()
	d := time.Duration(w.inv.VfRelease)
	if d <= 0 {
		return
	}
	p.late[vf]++
	time.AfterFunc(d, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if p.late[vf]--; p.late[vf] <= 0 {
			delete(p.late, vf)
		}
	})
}

// notReleased counts what the VMs that are off still hold.
func (h *host) notReleased() map[*pf]int {
	res := map[*pf]int{}
	for _, p := range h.pfs {
		res[p] = len(p.late)
	}
	return res
}

// crowded tells whether power-ons that are queued or running, plus VMs that
// are on, leave no VF for these demands. With known, other users' operations
// count only if the client must know of them.
func (h *host) crowded(ds []demand, known bool) bool {
	if len(ds) == 0 {
		return false
	}
	extra := map[*pf]int{}
	for _, p := range h.pfs {
		if known {
			extra[p] = -p.unknownTo()
		}
	}
	var all []demand
	for _, v := range h.c.dc.pendingOn(h, !known) {
		all = append(all, v.pending...)
	}
	_, short := h.assign(append(all, ds...), extra)
	return short != nil
}

func (d *datacenter) pendingOn(h *host, foreign bool) []*vmachine {
	var res []*vmachine
	for _, t := range h.o.w().tasks.byRef {
		if v := t.powering; v != nil && !t.finished && v.pendOn == h && (foreign || !t.foreign) {
			res = append(res, v)
		}
	}
	return res
}

// overheadMB is what the hypervisor needs beside a VM's memory.
func (v *vmachine) overheadMB() int64 {
	return 80 + int64(v.m.Config.Hardware.MemoryMB)/100
}

func (v *vmachine) reserved() (memMB, cpuMhz int64) {
	c := v.m.Config
	if a := c.MemoryAllocation; a != nil && a.Reservation != nil {
		memMB = *a.Reservation
	}
	if isTrue(c.MemoryReservationLockedToMax) {
		memMB = int64(c.Hardware.MemoryMB)
	}
	if a := c.CpuAllocation; a != nil && a.Reservation != nil {
		cpuMhz = *a.Reservation
	}
	return memMB, cpuMhz
}

// checkReservations: passthrough demands all memory, latency high all CPU too.
func (v *vmachine) checkReservations(h *host) error {
	mem, cpu := v.reserved()
	c := v.m.Config
	high := c.LatencySensitivity != nil && c.LatencySensitivity.Level == "high"
	full := int64(c.Hardware.MemoryMB)
	if (v.pinned() || high) && mem < full {
		return genericFault([2]string{"msg.memSched.invalidMin", "Invalid memory setting: memory reservation (sched.mem.min) should be equal to memsize(" + itoa(full) + ")."},
			[2]string{"msg.moduletable.powerOnFailed", "Module 'MemSched' power on failed."})
	}
	if need := int64(c.Hardware.NumCPU) * int64(h.spec.Mhz); high && cpu < need {
		return genericFault([2]string{"msg.cpuSched.invalidMin", "Invalid CPU reservation for the latency-sensitive VM, (sched.cpu.min) should be at least " + itoa(need) + " MHz."})
	}
	return nil
}

// fits tells why a VM can't be powered on on a host; nil and its VFs if it can.
func (v *vmachine) fits(h *host) ([]heldVF, error) {
	if err := h.accepts(); err != nil {
		return nil, err
	}
	if err := v.checkVersion(h); err != nil {
		return nil, err
	}
	if err := v.checkReservations(h); err != nil {
		return nil, err
	}
	if err := v.checkSecureBoot(); err != nil {
		return nil, err
	}
	if !h.mounts(v.m.Datastore[0]) {
		return nil, v.diskUnseen(h)
	}
	c := v.m.Config
	if int(c.Hardware.NumCPU) > h.spec.Cores*2 {
		return nil, fault(&types.NotEnoughCpus{NumCpuDest: int32(h.spec.Cores * 2), NumCpuVm: c.Hardware.NumCPU}, "The host does not have enough CPUs.")
	}
	for i, card := range v.nics() {
		if n := v.dc.byBacking(card.GetVirtualDevice().Backing); n == nil || n.sw != nil && !h.reaches(n.sw.spec.Name) {
			return nil, deviceBacking(i, "The network is not accessible on host "+h.spec.Name)
		}
	}
	memFree, cpuFree := h.unreserved()
	mem, cpu := v.reserved()
	mem += v.overheadMB()
	if mem > memFree {
		f := &types.InsufficientMemoryResourcesFault{Unreserved: memFree << 20, Requested: mem << 20}
		return nil, fault(f, "The host does not have sufficient memory resources to satisfy the reservation.")
	}
	if cpu > cpuFree {
		return nil, fault(&types.InsufficientCpuResourcesFault{Unreserved: cpuFree, Requested: cpu}, "The host does not have sufficient CPU resources to satisfy the reservation.")
	}
	ds := v.demands()
	for i, d := range ds {
		if d.pf != "" && h.pfBy(d.pf) == nil {
			return nil, deviceBacking(i, "The physical function "+d.pf+" does not exist on host "+h.spec.Name)
		}
	}
	if err := v.fitsFixed(h); err != nil {
		return nil, err
	}
	held, short := h.assign(ds, h.notReleased())
	if short != nil && (short.vgpu != "" || short.dvx != "") {
		return nil, v.noShared(h, short)
	}
	if short != nil && (short.dev != nil || len(h.candidates(*short)) > 0 && h.candidates(*short)[0].dev != nil) {
		return nil, v.noDevice(h, short.index)
	}
	if short != nil {
		id := short.pf
		if cs := h.candidates(*short); id == "" && len(cs) > 0 {
			id = cs[0].id
		} else if id == "" {
			id = "0000:00:00.0"
		}
		return nil, noVF(short.index, id)
	}
	return held, v.checkMMIO(held)
}

func deviceBacking(i int, text string) error {
	f := &types.InvalidDeviceBacking{}
	f.DeviceIndex = int32(i)
	return fault(f, "%s", text)
}

// unreserved memory (MB) and CPU (MHz) of a host.
func (h *host) unreserved() (int64, int64) {
	mem, cpu := h.forVMs()
	for v := range h.vms {
		if v.on() {
			m, c := v.reserved()
			mem -= m + v.overheadMB()
			cpu -= c
		}
	}
	return mem, cpu
}

// accepts tells whether a host is in a state for operations and power-ons.
func (h *host) accepts() error {
	if err := h.connected(); err != nil {
		return err
	}
	if h.m.Runtime.InMaintenanceMode || h.entering != nil || h.m.Runtime.StandbyMode == "in" {
		return fault(&types.InvalidHostState{InvalidState: types.InvalidState{}, Host: &h.o.ref}, "The operation is not allowed in the current state of the host.")
	}
	return nil
}

func (h *host) connected() error {
	if h != nil && h.m.Runtime.ConnectionState != "connected" {
		return fault(&types.HostNotConnected{}, "Unable to communicate with the remote host, since it is disconnected.")
	}
	return nil
}

// ownUsage refreshes a host's usage numbers.
func (h *host) ownUsage() {
	memFree, cpuFree := h.unreserved()
	mem, cpu := h.forVMs()
	h.m.Summary.QuickStats = types.HostListSummaryQuickStats{OverallMemoryUsage: int32(mem - memFree),
		OverallCpuUsage: int32(cpu - cpuFree), Uptime: 86400}
	h.o.w().touch(h.o, "summary")
}

// quick refreshes a host's and its pools' usage numbers.
func (h *host) quick() {
	if h.o.w().building {
		return
	}
	h.ownUsage()
	var mem, cpu, memMax, cpuMax int64
	for _, x := range h.c.hosts {
		m, c := x.unreserved()
		memAll, cpuAll := x.forVMs()
		memMax, cpuMax = memMax+memAll, cpuMax+cpuAll
		mem, cpu = mem+m, cpu+c
	}
	for r, c := range h.o.w().pools {
		if c != h.c {
			continue
		}
		h.o.w().tellPool(h.o.w().get(r), mem, cpu, memMax, cpuMax)
	}
}
