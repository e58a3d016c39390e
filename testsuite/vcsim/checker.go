// SPDX-License-Identifier: GPL-2.0-or-later
// checker.go: VirtualMachineProvisioningChecker and
// VirtualMachineCompatibilityChecker: what a clone, a configuration or a power-on
// would meet. They change nothing. The answer is a task whose result is a list
// of CheckResult: what is wrong stands there, and the task itself succeeds.

package main

import "github.com/vmware/govmomi/vim25/types"

// check starts the task of a checker; what look finds is its result.
func (c *call) check(kind string, v *vmachine, at *host, look func() error) (any, error) {
	if no := c.w.inv.About.Checkers; no != nil && !*no {
		return nil, notFound(c.this)
	}
	t := &task{cancelable: true}
	t.run = func() (any, error) {
		res := types.CheckResult{Vm: &v.m.Self}
		if at != nil {
			res.Host = &at.m.Self
		}
		if err := look(); err != nil {
			f := asFault(err)
			res.Error = []types.LocalizedMethodFault{localized(f.fault, f.text)}
		}
		return types.ArrayOfCheckResult{CheckResult: []types.CheckResult{res}}, nil
	}
	return c.w.tasks.start(c, kind, "vim.vm.check."+kind, v.o, t), nil
}

// vmOf finds the VM that a question is about.
func (c *call) vmOf(r ref) (*vmachine, error) {
	if v := c.w.vms[r]; v != nil && c.w.sees(c.s, v.o) {
		return v, nil
	}
	return nil, notFound(r)
}

// hostOf finds the host that a question names; without one it is the VM's own.
func (c *call) hostOf(r *ref, own *host) (*host, error) {
	if r == nil {
		return own, nil
	}
	if o := c.w.get(*r); o != nil && o.host != nil {
		return o.host, nil
	}
	return nil, notFound(*r)
}

func checkClone(c *call) (any, error) {
	req := c.req.(*types.CheckClone_Task)
	src, err := c.vmOf(req.Vm)
	if err != nil {
		return nil, err
	}
	if c.w.get(req.Folder) == nil {
		return nil, notFound(req.Folder)
	}
	return c.check("CheckClone_Task", src, nil, func() error {
		if err := src.checkLinked(&req.Spec); err != nil {
			return err
		}
		if c.w.nameTaken(req.Folder, unescapeName(req.Name)) != nil {
			return c.w.duplicate(req.Folder, req.Name)
		}
		where, err := c.cloneTarget(src, &req.Spec)
		if err != nil {
			return err
		}
		_, err = src.draft(req.Folder, &req.Spec, req.Name, where)
		return err
	})
}

func checkVMConfig(c *call) (any, error) {
	req := c.req.(*types.CheckVmConfig_Task)
	if req.Vm == nil {
		return nil, invalidArgument("vm") // a configuration of no VM: not simulated
	}
	src, err := c.vmOf(*req.Vm)
	if err != nil {
		return nil, err
	}
	h, err := c.hostOf(req.Host, src.h)
	if err != nil {
		return nil, err
	}
	return c.check("CheckVmConfig_Task", src, h, func() error {
		v := c.w.newVM(src.dc, src.m.Name, *src.m.Parent)
		*v.m.Config = *src.m.Config
		v.m.Config.Hardware.Device = c.w.copyDevices(src.m.Config.Hardware.Device)
		v.h = h
		return v.configure(&req.Spec)
	})
}

func checkPowerOn(c *call) (any, error) {
	req := c.req.(*types.CheckPowerOn_Task)
	v, err := c.vmOf(req.Vm)
	if err != nil {
		return nil, err
	}
	h, err := c.hostOf(req.Host, v.h)
	if err != nil {
		return nil, err
	}
	return c.check("CheckPowerOn_Task", v, h, func() error {
		if v.m.Config.Template {
			return fault(&types.NotSupported{}, "The operation is not supported on a template.")
		}
		_, err := v.fits(h)
		return err
	})
}

// checkInstantClone is asked of a source that is off, too: that is one of its answers.
func checkInstantClone(c *call) (any, error) {
	req := c.req.(*types.CheckInstantClone_Task)
	src, err := c.vmOf(req.Vm)
	if err != nil {
		return nil, err
	}
	return c.check("CheckInstantClone_Task", src, nil, func() error {
		if src.m.Config.Template {
			return invalidArgument("vm")
		}
		if !src.on() {
			return powerState(types.VirtualMachinePowerStatePoweredOn, src.m.Runtime.PowerState)
		}
		if err := checkInstant(&req.Spec); err != nil {
			return err
		}
		_, _, err := c.instantWhere(src, &req.Spec.Location)
		return err
	})
}
