// SPDX-License-Identifier: GPL-2.0-or-later
// dovm.go: what users with all privileges do to VMs, also to managed ones.

package main

import (
	"fmt"

	"github.com/vmware/govmomi/vim25/types"
)

var vmOps map[string]func(c *call, v *vmachine, op *adminOp) (any, error)

func init() {
	vmOps = map[string]func(c *call, v *vmachine, op *adminOp) (any, error){
		"powerOn":  func(c *call, v *vmachine, _ *adminOp) (any, error) { return c.powerOnAt(v, v.h) },
		"powerOff": func(c *call, _ *vmachine, _ *adminOp) (any, error) { return powerOffVM(c) },
		"suspend":  func(c *call, _ *vmachine, _ *adminOp) (any, error) { return suspendVM(c) },
		"rename": func(c *call, _ *vmachine, op *adminOp) (any, error) {
			c.req = &types.Rename_Task{NewName: op.Name}
			return renameVM(c)
		},
		"destroyVm":    doDestroy,
		"unregister":   func(c *call, _ *vmachine, _ *adminOp) (any, error) { return unregisterVM(c) },
		"cloneVm":      doClone,
		"migrate":      doMigrate,
		"moveVm":       doMove,
		"markTemplate": func(c *call, _ *vmachine, _ *adminOp) (any, error) { return markAsTemplate(c) },
		"markVm": func(c *call, v *vmachine, _ *adminOp) (any, error) {
			c.req = &types.MarkAsVirtualMachine{Pool: v.h.c.root}
			return markAsVM(c)
		},
		"attachDisk": func(_ *call, v *vmachine, op *adminOp) (any, error) {
			v.attachDisk(op.Name)
			return nil, nil
		},
		"snapshot": func(c *call, _ *vmachine, op *adminOp) (any, error) {
			c.req = &types.CreateSnapshot_Task{Name: op.Name}
			return createSnapshot(c)
		},
		"removeSnapshots": func(_ *call, v *vmachine, _ *adminOp) (any, error) {
			v.removeSnapshots()
			return nil, nil
		},
		"setExtra": func(c *call, _ *vmachine, op *adminOp) (any, error) {
			return doReconfig(c, types.VirtualMachineConfigSpec{ExtraConfig: []types.BaseOptionValue{&types.OptionValue{Key: op.Key, Value: op.Value}}})
		},
		"setMemory": func(c *call, _ *vmachine, op *adminOp) (any, error) {
			return doReconfig(c, types.VirtualMachineConfigSpec{MemoryMB: op.MemoryMB})
		},
		"reboot":   func(_ *call, v *vmachine, op *adminOp) (any, error) { return nil, v.restart(op.How) },
		"vmState":  doState,
		"override": doOverride,
		"setVm":    doSetVM,
	}
}

func doReconfig(c *call, spec types.VirtualMachineConfigSpec) (any, error) {
	c.req = &types.ReconfigVM_Task{Spec: spec}
	return reconfigVM(c)
}

// doDestroy with force pulls the plug first, as a person does by hand.
func doDestroy(c *call, v *vmachine, op *adminOp) (any, error) {
	if op.Force && v.busy == nil && v.reachable() == nil {
		v.turnOff()
		if v.suspended() {
			v.forget()
		}
	}
	return destroyVM(c)
}

func doMigrate(c *call, v *vmachine, op *adminOp) (any, error) {
	h := c.w.hostBy[op.Host]
	if h == nil {
		return nil, fmt.Errorf("host: there is no %q", op.Host)
	}
	spec := types.VirtualMachineRelocateSpec{Host: &h.o.ref}
	if h.c != v.h.c {
		spec.Pool = &h.c.root
	}
	c.req = &types.RelocateVM_Task{Spec: spec}
	return relocateVM(c)
}

func (v *vmachine) folderNamed(name string) (ref, error) {
	if name == "" {
		return v.dc.vmFolder, nil
	}
	f, ok := v.dc.folders[name]
	if !ok {
		return f, fmt.Errorf("folder: there is no %q", name)
	}
	return f, nil
}

// doMove is MoveIntoFolder_Task.
func doMove(c *call, v *vmachine, op *adminOp) (any, error) {
	to, err := v.folderNamed(op.Folder)
	if err != nil {
		return nil, err
	}
	t := &task{run: func() (any, error) {
		if dup := c.w.nameTaken(to, v.m.Name); dup != nil && *dup != v.o.ref {
			return nil, fault(&types.DuplicateName{Name: v.m.Name, Object: *dup}, "The name '%s' already exists.", v.m.Name)
		}
		v.moveTo(to)
		return nil, nil
	}}
	return c.vmTask(v, "MoveIntoFolder_Task", "Folder.moveInto", t)
}

func (v *vmachine) moveTo(folder ref) {
	v.w.disown(*v.m.Parent, v.o.ref, v.m.Name)
	v.m.Parent = &folder
	v.w.adopt(folder, v.o.ref, v.m.Name)
	v.w.touch(v.o, "parent")
	v.w.publish(v.o)
}

func doClone(c *call, v *vmachine, op *adminOp) (any, error) {
	folder := *v.m.Parent
	if op.Folder != "" {
		f, err := v.folderNamed(op.Folder)
		if err != nil {
			return nil, err
		}
		folder = f
	}
	req := &types.CloneVM_Task{Folder: folder, Name: op.Name}
	if v.m.ResourcePool == nil {
		req.Spec.Location.Pool = &v.h.c.root
	}
	c.req = req
	return cloneVM(c)
}

// doState makes a VM unreadable, or readable again.
func doState(_ *call, v *vmachine, op *adminOp) (any, error) {
	switch op.State {
	case "connected":
		v.broken = ""
	case "orphaned", "inaccessible", "invalid":
		v.broken = op.State
	default:
		return nil, fmt.Errorf("state: %q is not one of connected, orphaned, inaccessible, invalid", op.State)
	}
	v.showConnection()
	return nil, nil
}

func doOverride(_ *call, v *vmachine, op *adminOp) (any, error) {
	o := vmOverride{ha: op.HaPriority}
	if op.Drs != nil {
		o.drs = *op.Drs
	}
	return nil, v.h.c.setOverride(v, o)
}
