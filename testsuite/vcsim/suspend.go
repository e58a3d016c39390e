// SPDX-License-Identifier: GPL-2.0-or-later
// suspend.go: SuspendVM_Task, where the VM's devices allow it. A suspended VM
// gives back what it had of its host; PowerOnVM_Task begins its guest anew,
// which a real one goes on with.

package main

import (
	"time"

	"github.com/vmware/govmomi/vim25/types"
)

func suspendVM(c *call) (any, error) {
	v := c.o.vm
	if err := v.reachable(); err != nil {
		return nil, err
	}
	t := &task{run: func() (any, error) {
		if err := v.reachable(); err != nil {
			return nil, err
		}
		if !v.on() {
			return nil, powerState(types.VirtualMachinePowerStatePoweredOn, v.m.Runtime.PowerState)
		}
		if label, held := v.forbids(deedSuspend); held {
			return nil, genericFault([2]string{"msg.suspend.failed", "The suspend operation failed."},
				[2]string{"msg.pciPassthru.noSuspend", "Device '" + label + "' does not allow suspend."})
		}
		v.turnOff()
		now := time.Now().UTC()
		v.m.Runtime.PowerState, v.m.Runtime.SuspendTime = types.VirtualMachinePowerStateSuspended, &now
		v.summarise()
		c.w.touch(v.o, "runtime")
		return nil, nil
	}}
	return c.vmTask(v, "SuspendVM_Task", "VirtualMachine.suspend", t)
}

// forget is PowerOffVM_Task of a VM that is suspended: its memory is thrown away.
func (v *vmachine) forget() {
	v.m.Runtime.PowerState, v.m.Runtime.SuspendTime = types.VirtualMachinePowerStatePoweredOff, nil
	v.summarise()
	v.w.touch(v.o, "runtime")
}
