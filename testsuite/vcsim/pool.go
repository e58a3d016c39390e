// SPDX-License-Identifier: GPL-2.0-or-later
// pool.go: what resource pools allow. A pool that was given a size has that
// much reserved and doesn't expand: what its VMs reserve, their overhead
// included, comes out of it. Any other pool draws on the whole cluster.

package main

import (
	"fmt"

	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

// poolSize is a pool's own reservation; 0: the cluster's.
type poolSize struct{ memMB, cpuMhz int64 }

// usedOf sums what the VMs of a pool that are on reserve.
func (w *world) usedOf(pool ref) (mem, cpu int64) {
	for _, v := range w.vms {
		if v.on() && v.m.ResourcePool != nil && *v.m.ResourcePool == pool {
			m, c := v.reserved()
			mem, cpu = mem+m+v.overheadMB(), cpu+c
		}
	}
	return mem, cpu
}

// fitsPool tells why a VM's pool can't serve its reservations; nil if it can.
func (v *vmachine) fitsPool() error {
	if v.m.ResourcePool == nil {
		return nil
	}
	size, ok := v.w.sized[*v.m.ResourcePool]
	if !ok {
		return nil
	}
	mem, cpu := v.reserved()
	mem += v.overheadMB()
	usedMem, usedCPU := v.w.usedOf(*v.m.ResourcePool)
	if left := size.memMB - usedMem; size.memMB > 0 && mem > left {
		return fault(&types.InsufficientMemoryResourcesFault{Unreserved: left << 20, Requested: mem << 20},
			"The available Memory resources in the parent resource pool are insufficient for the operation.")
	}
	if left := size.cpuMhz - usedCPU; size.cpuMhz > 0 && cpu > left {
		return fault(&types.InsufficientCpuResourcesFault{Unreserved: left, Requested: cpu},
			"The available CPU resources in the parent resource pool are insufficient for the operation.")
	}
	return nil
}

// tellPool refreshes a pool's runtime; the numbers are its cluster's.
func (w *world) tellPool(o *object, mem, cpu, memMax, cpuMax int64) {
	p := o.ptr.(*mo.ResourcePool)
	usedMem, usedCPU := memMax-mem, cpuMax-cpu
	if size, ok := w.sized[o.ref]; ok {
		usedMem, usedCPU = w.usedOf(o.ref)
		if size.memMB > 0 {
			mem = min(mem, size.memMB-usedMem)
		}
		if size.cpuMhz > 0 {
			cpu = min(cpu, size.cpuMhz-usedCPU)
		}
	}
	if most, ok := w.limited[o.ref]; ok {
		if most.memMB > 0 {
			memMax = min(memMax, most.memMB)
		}
		if most.cpuMhz > 0 {
			cpuMax = min(cpuMax, most.cpuMhz)
		}
	}
	p.Config = types.ResourceConfigSpec{Entity: &o.ref, MemoryAllocation: allocation(w.sized[o.ref].memMB, w.limited[o.ref].memMB),
		CpuAllocation: allocation(w.sized[o.ref].cpuMhz, w.limited[o.ref].cpuMhz)}
	if _, root := w.pools[*p.Parent]; !root { // the cluster's own: all of it, and no more
		p.Config.MemoryAllocation, p.Config.CpuAllocation = allocation(memMax, memMax), allocation(cpuMax, cpuMax)
	}
	p.Runtime.OverallStatus = "green"
	p.Runtime.Memory = types.ResourcePoolResourceUsage{ReservationUsed: usedMem << 20, ReservationUsedForVm: usedMem << 20,
		UnreservedForPool: mem << 20, UnreservedForVm: mem << 20, MaxUsage: memMax << 20}
	p.Runtime.Cpu = types.ResourcePoolResourceUsage{ReservationUsed: usedCPU, ReservationUsedForVm: usedCPU,
		UnreservedForPool: cpu, UnreservedForVm: cpu, MaxUsage: cpuMax}
	w.touch(o, "runtime", "config")
}

// allocation as a pool's config has it: a reservation of its own doesn't expand.
func allocation(size, limit int64) types.ResourceAllocationInfo {
	if limit == 0 {
		limit = -1
	}
	return types.ResourceAllocationInfo{Reservation: i64(size), ExpandableReservation: types.NewBool(size == 0), Limit: i64(limit),
		Shares: &types.SharesInfo{Shares: 4000, Level: types.SharesLevelNormal}}
}

// setPool gives a pool a size, or takes it away (no numbers).
func (w *world) setPool(op *adminOp) error { return w.sizePool(w.sized, op) }

// limitPool bounds what all VMs of a pool may use; no numbers: nothing does.
func (w *world) limitPool(op *adminOp) error { return w.sizePool(w.limited, op) }

func (w *world) sizePool(sizes map[ref]poolSize, op *adminOp) error {
	for _, c := range w.clusters {
		pool, ok := c.pools[op.Name]
		if c.spec.Name != op.Cluster || !ok {
			continue
		}
		delete(sizes, pool)
		if op.MemoryMB > 0 || op.CPUMhz > 0 {
			sizes[pool] = poolSize{op.MemoryMB, op.CPUMhz}
		}
		if len(c.hosts) > 0 {
			c.hosts[0].quick()
		}
		return nil
	}
	return fmt.Errorf("name: cluster %q has no pool %q", op.Cluster, op.Name)
}
