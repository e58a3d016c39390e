// SPDX-License-Identifier: GPL-2.0-or-later
// suspend.go: SuspendVM_Task, where the VM's devices allow it, and the
// PowerOnVM_Task that resumes it. The guest is stopped from the task's begin on,
// because its memory is written: a file of that size beside its disks. A
// suspended VM has nothing of its host but the registration. When it is switched
// on again it needs all of it again, and continues where it was, without a boot.
// When it is switched off, its memory is thrown away.

package main

import (
	"time"

	"github.com/vmware/govmomi/vim25/types"
)

func (v *vmachine) suspended() bool {
	return v.m.Runtime.PowerState == types.VirtualMachinePowerStateSuspended
}

// suspendable tells why a VM can't be suspended; nil if it can.
func (v *vmachine) suspendable() error {
	if err := v.reachable(); err != nil {
		return err
	}
	if !v.on() {
		return powerState(types.VirtualMachinePowerStatePoweredOn, v.m.Runtime.PowerState)
	}
	if label, held := v.forbids(deedSuspend); held {
		return genericFault([2]string{"msg.suspend.failed", "The suspend operation failed."},
			[2]string{"msg.pciPassthru.noSuspend", "Device '" + label + "' does not allow suspend."})
	}
	return nil
}

func suspendVM(c *call) (any, error) {
	v := c.o.vm
	if err := v.reachable(); err != nil {
		return nil, err
	}
	t := &task{}
	t.begun = func() {
		if v.guest != nil && v.suspendable() == nil {
			v.guest.freeze()
		}
	}
	t.run = func() (any, error) {
		if err := v.suspendable(); err != nil {
			return nil, err
		}
		return nil, v.suspend()
	}
	t.after = func() {
		if v.guest != nil && !v.suspended() {
			v.guest.thaw()
		}
	}
	return c.vmTask(v, "SuspendVM_Task", "VirtualMachine.suspend", t)
}

// suspend writes the memory, while the swap file is still there, and gives back
// what the VM has of its host.
func (v *vmachine) suspend() error {
	r, err := v.takeRoom(v.w.get(v.m.Datastore[0]), v.m.Name+".vmss", int64(v.m.Config.Hardware.MemoryMB)<<20)
	if err != nil {
		return err
	}
	v.memory = r
	if v.guest != nil {
		v.guest.freeze() // what was not there when the task began
	}
	v.hadTools = v.m.Guest.ToolsRunningStatus == "guestToolsRunning"
	v.setTools(false)
	v.leaveHost()
	now := time.Now().UTC()
	v.m.Runtime.PowerState, v.m.Runtime.SuspendTime = types.VirtualMachinePowerStateSuspended, &now
	v.layOut()
	v.summarise()
	v.w.touch(v.o, "runtime", "layoutEx")
	v.h.quick()
	v.h.checkMaintenance()
	return nil
}

// resume continues the guest: bootTime and the counts of boots stay.
func (v *vmachine) resume(held []heldVF) {
	v.takeHost(held)
	rt := &v.m.Runtime
	rt.PowerState = types.VirtualMachinePowerStatePoweredOn
	rt.SuspendInterval += int64(time.Since(*rt.SuspendTime).Seconds())
	v.memory.release(v.w)
	v.layOut()
	v.summarise()
	v.w.touch(v.o, "runtime", "config", "layoutEx")
	v.h.quick()
	if v.guest != nil {
		v.guest.thaw()
	}
	v.setTools(v.hadTools && (v.guest != nil || !v.hasProcess()))
}

// forget is PowerOffVM_Task of a VM that is suspended: its memory is thrown away.
func (v *vmachine) forget() {
	v.endGuest()
	v.memory.release(v.w)
	v.setFrozen(false)
	rt := &v.m.Runtime
	rt.PowerState, rt.BootTime, rt.SuspendInterval = types.VirtualMachinePowerStatePoweredOff, nil, 0
	v.layOut()
	v.summarise()
	v.w.touch(v.o, "runtime", "layoutEx")
}

// checkSuspended: the hardware that a suspended VM's memory knows of stays as
// it is.
func (v *vmachine) checkSuspended(s *types.VirtualMachineConfigSpec) error {
	if !v.suspended() || len(s.DeviceChange) == 0 && s.NumCPUs == 0 && s.MemoryMB == 0 && s.NumCoresPerSocket == nil &&
		s.Version == "" && s.Firmware == "" && s.MemoryHotAddEnabled == nil && s.CpuHotAddEnabled == nil && s.VirtualNuma == nil {
		return nil
	}
	return powerState(types.VirtualMachinePowerStatePoweredOff, types.VirtualMachinePowerStateSuspended)
}

// needOff is for what is done to VMs alone that are off.
func (v *vmachine) needOff() error {
	if v.on() || v.suspended() {
		return powerState(types.VirtualMachinePowerStatePoweredOff, v.m.Runtime.PowerState)
	}
	return nil
}
