// SPDX-License-Identifier: GPL-2.0-or-later
// reconfig.go: a ConfigSpec applied to a VM: all of it or nothing.

package main

import (
	"github.com/vmware/govmomi/vim25/types"
)

func reconfigVM(c *call) (any, error) {
	req := c.req.(*types.ReconfigVM_Task)
	v := c.o.vm
	if err := v.reachable(); err != nil {
		return nil, err
	}
	t := &task{run: func() (any, error) {
		if err := v.reachable(); err != nil {
			return nil, err
		}
		if cv := req.Spec.ChangeVersion; cv != "" && cv != v.m.Config.ChangeVersion {
			return nil, fault(&types.ConcurrentAccess{}, "The object has been modified concurrently.")
		}
		old, name := *v.m.Config, v.m.Name
		if err := v.configure(&req.Spec); err != nil {
			*v.m.Config = old
			return nil, err
		}
		if n := v.m.Config.Name; n != name {
			if dup := c.w.nameTaken(*v.m.Parent, n); dup != nil {
				*v.m.Config = old
				return nil, fault(&types.DuplicateName{Name: n, Object: *dup}, "The name '%s' already exists.", n)
			}
			v.rename(n)
		}
		if !c.foreign {
			v.countRemoved(old.Hardware.Device, req.Spec.DeviceChange)
		}
		v.bump()
		v.summarise()
		c.w.touch(v.o, "config", "name")
		v.h.quick()
		return nil, nil
	}}
	return c.vmTask(v, "ReconfigVM_Task", "VirtualMachine.reconfigure", t)
}

func (v *vmachine) rename(name string) {
	v.w.delChild(*v.m.Parent, v.m.Name)
	v.m.Name, v.m.Config.Name = name, name
	v.w.setChild(*v.m.Parent, name, v.o.ref)
}

// configure applies a spec to the VM's config, which the caller restores on
// an error. Nested objects are replaced, never changed in place.
func (v *vmachine) configure(s *types.VirtualMachineConfigSpec) error {
	c := v.m.Config
	if err := v.checkSuspended(s); err != nil {
		return err
	}
	if err := v.checkGrow(s); err != nil {
		return err
	}
	set := func(to *string, val string) {
		if val != "" {
			*to = val
		}
	}
	set(&c.Name, s.Name)
	set(&c.Annotation, s.Annotation)
	set(&c.GuestId, s.GuestId)
	set(&c.Version, s.Version)
	set(&c.Firmware, s.Firmware)
	set(&c.InstanceUuid, s.InstanceUuid)
	set(&c.Uuid, s.Uuid)
	hw := c.Hardware
	if s.NumCPUs < 0 || s.MemoryMB < 0 || s.MemoryMB%4 != 0 {
		return invalidArgument("configSpec.memoryMB")
	}
	if s.NumCPUs != 0 {
		hw.NumCPU = s.NumCPUs
	}
	if err := sockets(&hw, s.NumCoresPerSocket); err != nil {
		return err
	}
	if s.MemoryMB != 0 {
		hw.MemoryMB = int32(s.MemoryMB)
	}
	devs, err := v.changeDevices(hw.Device, s.DeviceChange)
	if err != nil {
		return err
	}
	hw.Device = devs
	c.Hardware = hw
	v.allocations(s)
	v.bootOptions(s.BootOptions)
	if err := v.shares(); err != nil {
		return err
	}
	for _, b := range s.ExtraConfig {
		o := b.GetOptionValue()
		val, ok := o.Value.(string)
		if !ok && o.Value != nil {
			return invalidArgument("configSpec.extraConfig." + o.Key)
		}
		if old, had := v.extra(o.Key); !had || old != val || val == "" {
			v.setExtra(o.Key, val)
		}
	}
	return nil
}

func (v *vmachine) allocations(s *types.VirtualMachineConfigSpec) {
	c := v.m.Config
	if s.MemoryReservationLockedToMax != nil {
		c.MemoryReservationLockedToMax = s.MemoryReservationLockedToMax
	}
	c.MemoryAllocation = merge(c.MemoryAllocation, s.MemoryAllocation)
	c.CpuAllocation = merge(c.CpuAllocation, s.CpuAllocation)
	if isTrue(c.MemoryReservationLockedToMax) {
		c.MemoryAllocation = merge(c.MemoryAllocation, &types.ResourceAllocationInfo{Reservation: i64(int64(c.Hardware.MemoryMB))})
	}
	if s.LatencySensitivity != nil {
		c.LatencySensitivity = s.LatencySensitivity
	}
	if s.MemoryHotAddEnabled != nil {
		c.MemoryHotAddEnabled = s.MemoryHotAddEnabled
	}
	if s.CpuHotAddEnabled != nil {
		c.CpuHotAddEnabled = s.CpuHotAddEnabled
	}
}

func merge(old, change *types.ResourceAllocationInfo) *types.ResourceAllocationInfo {
	if change == nil {
		return old
	}
	res := types.ResourceAllocationInfo{}
	if old != nil {
		res = *old
	}
	n := change
	if n.Reservation != nil {
		res.Reservation = n.Reservation
	}
	if n.Limit != nil {
		res.Limit = n.Limit
	}
	if n.Shares != nil {
		res.Shares = n.Shares
	}
	if n.ExpandableReservation != nil {
		res.ExpandableReservation = n.ExpandableReservation
	}
	return &res
}
