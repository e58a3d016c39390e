// SPDX-License-Identifier: GPL-2.0-or-later
// power.go: power on and off, shutdown, and what DRS does to the host asked.

package main

import (
	"strconv"
	"time"

	"github.com/vmware/govmomi/vim25/types"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// vmTask starts a task that holds its VM's lock.
func (c *call) vmTask(v *vmachine, kind, desc string, t *task) (any, error) {
	if err := v.claim(); err != nil {
		return nil, err
	}
	after := t.after
	t.after = func() {
		if v.busy == t {
			v.busy = nil
		}
		if after != nil {
			after()
		}
	}
	v.busy = t
	return c.w.tasks.start(c, kind, desc, v.o, t), nil
}

func powerOnVM(c *call) (any, error) {
	req := c.req.(*types.PowerOnVM_Task)
	v := c.o.vm
	if err := v.reachable(); err != nil {
		return nil, err
	}
	if v.m.Config.Template {
		return nil, fault(&types.NotSupported{}, "The operation is not supported on a template.")
	}
	want := v.h
	if req.Host != nil {
		o := c.w.get(*req.Host)
		if o == nil || o.host == nil {
			return nil, notFound(*req.Host)
		}
		if o.host.c == v.h.c {
			if _, err := v.fits(o.host); err == nil {
				want = o.host
			}
		}
	}
	return c.powerOnAt(v, want)
}

func (c *call) powerOnAt(v *vmachine, want *host) (any, error) {
	ds := v.demands()
	if !c.foreign && !v.on() && v.busy == nil && want.crowded(ds, false) {
		c.w.count.powerOnFullPF++
		c.w.count.note("power-on to a full PF: %s on %s", v.m.Name, want.spec.Name)
		if want.crowded(ds, true) {
			c.w.count.powerOnKnownFullPF++
		}
	}
	t := &task{powering: v, foreign: c.foreign}
	if v.suspended() {
		t.own = "PowerOnVM_Task/resume"
	}
	t.run = func() (any, error) {
		if v.on() {
			return nil, powerState(types.VirtualMachinePowerStatePoweredOn, types.VirtualMachinePowerStatePoweredOn)
		}
		if err := v.baseThere(); err != nil {
			return nil, err
		}
		h := v.chooseHost(want)
		held, err := v.fits(h)
		if err != nil {
			return nil, err
		}
		if err := v.fitsPool(); err != nil {
			return nil, err
		}
		if err := v.takeSwap(); err != nil {
			return nil, err
		}
		v.place(h)
		if v.suspended() {
			v.resume(held)
		} else {
			v.turnOn(held)
		}
		v.foreignOn = 0
		if c.foreign {
			v.foreignOn = c.w.seq
		}
		return nil, nil
	}
	t.after = func() { v.pending, v.pendOn = nil, nil }
	r, err := c.vmTask(v, "PowerOnVM_Task", "VirtualMachine.powerOn", t)
	if err == nil && !t.finished {
		v.pending, v.pendOn = ds, want
	}
	return r, err
}

// chooseHost is DRS: fully or partially automated, it may place a VM that is
// switched on as it likes. Perverse, it prefers another host to the one asked for.
func (v *vmachine) chooseHost(want *host) *host {
	if drs := want.c.drsOf(v); drs != "fullyAutomated" && drs != "partiallyAutomated" {
		return want
	}
	_, err := v.fits(want)
	if err == nil && !want.c.spec.DrsPerverse {
		return want
	}
	for _, h := range want.c.hosts {
		if h != want {
			if _, e := v.fits(h); e == nil {
				return h
			}
		}
	}
	return want
}

// takeHost gives a VM that is switched on what it has of its host.
func (v *vmachine) takeHost(held []heldVF) {
	v.held = held
	devs := append([]types.BaseVirtualDevice(nil), v.m.Config.Hardware.Device...)
	for _, x := range held {
		x.p.used[x.vf] = v
		for i, d := range devs {
			if s, ok := d.(*types.VirtualSriovEthernetCard); ok && s.Key == x.card && isAuto(s) {
				cp := *s
				cp.SriovBacking = pfBacking("Automatic-" + x.p.id)
				devs[i] = &cp
			}
		}
	}
	v.m.Config.Hardware.Device = devs
	v.assigned(held)
	v.h.graphicsChanged()
}

func (v *vmachine) turnOn(held []heldVF) {
	v.takeHost(held)
	now := time.Now().UTC()
	v.m.Runtime.PowerState, v.m.Runtime.BootTime = types.VirtualMachinePowerStatePoweredOn, &now
	v.boots++
	v.summarise()
	v.w.touch(v.o, "runtime", "config")
	v.h.quick()
	v.boot()
}

func isAuto(s *types.VirtualSriovEthernetCard) bool {
	id := s.SriovBacking.PhysicalFunctionBacking.Id
	return len(id) > 10 && id[:10] == "Automatic-"
}

// giveBack ends what a VM has of its host's devices.
func (v *vmachine) giveBack() {
	for _, x := range v.held {
		if x.p.used[x.vf] == v {
			x.p.release(x.vf)
		}
	}
	v.held = nil
	v.h.graphicsChanged()
}

// leaveHost gives back what a VM has of its host while it is on.
func (v *vmachine) leaveHost() {
	v.giveBack()
	v.swap.release(v.w)
}

// turnOff frees what a VM held; its guest is ended by the caller or has ended.
func (v *vmachine) turnOff() {
	if !v.on() {
		return
	}
	v.leaveHost()
	v.offUnseen = false
	v.setFrozen(false)
	rt := &v.m.Runtime
	rt.PowerState, rt.BootTime, rt.SuspendInterval = types.VirtualMachinePowerStatePoweredOff, nil, 0
	v.endGuest()
	v.setTools(false)
	v.summarise()
	v.w.touch(v.o, "runtime", "summary")
	v.h.quick()
	v.h.checkMaintenance()
}

func (v *vmachine) setTools(running bool) {
	g := *v.m.Guest
	g.ToolsRunningStatus, g.GuestState, g.ToolsStatus = "guestToolsNotRunning", "notRunning", "toolsNotRunning"
	if running {
		g.ToolsRunningStatus, g.GuestState, g.ToolsStatus = "guestToolsRunning", "running", "toolsOk"
	}
	if g.ToolsRunningStatus != v.m.Guest.ToolsRunningStatus {
		v.m.Guest = &g
		v.w.touch(v.o, "guest")
	}
}

func powerOffVM(c *call) (any, error) {
	v := c.o.vm
	if err := v.reachable(); err != nil {
		return nil, err
	}
	t := &task{run: func() (any, error) {
		if err := v.reachable(); err != nil {
			return nil, err
		}
		if v.suspended() {
			v.forget()
			return nil, nil
		}
		if !v.on() {
			return nil, powerState(types.VirtualMachinePowerStatePoweredOff, types.VirtualMachinePowerStatePoweredOff)
		}
		v.turnOff()
		return nil, nil
	}}
	return c.vmTask(v, "PowerOffVM_Task", "VirtualMachine.powerOff", t)
}

func shutdownGuest(c *call) (any, error) {
	v := c.o.vm
	if err := v.reachable(); err != nil {
		return nil, err
	}
	if !v.on() {
		return nil, powerState(types.VirtualMachinePowerStatePoweredOn, v.m.Runtime.PowerState)
	}
	if v.m.Guest.ToolsRunningStatus != "guestToolsRunning" || v.frozen() {
		return nil, fault(&types.ToolsUnavailable{}, "Cannot complete operation because VMware Tools is not running in this virtual machine.")
	}
	v.shutdown(c.w.duration("ShutdownGuest"))
	return nil, nil
}
