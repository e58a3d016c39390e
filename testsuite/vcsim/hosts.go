// SPDX-License-Identifier: GPL-2.0-or-later
// hosts.go: hosts that enter maintenance or standby (a task that waits for the
// last VM), that stop responding with their VMs alive, that fail with them, and
// that come back. What happens on a host that vCenter doesn't hear of is shown
// when it is heard of again.

package main

import (
	"time"

	"github.com/vmware/govmomi/vim25/types"
)

// leaving is a host's way into maintenance or standby.
type leaving struct {
	kind     string // method
	desc     string
	evacuate bool // registered VMs that are off have to go too
	timeout  time.Duration
	done     func()
}

func enterMaintenance(c *call) (any, error) {
	h, evacuate, timeout := c.o.host, false, time.Duration(0)
	if req, ok := c.req.(*types.EnterMaintenanceMode_Task); ok {
		evacuate, timeout = isTrue(req.EvacuatePoweredOffVms), time.Duration(req.Timeout)*time.Second
	}
	if h.m.Runtime.InMaintenanceMode {
		return nil, fault(&types.InvalidState{}, "The host is in maintenance mode already.")
	}
	return c.leave(h, &leaving{kind: "EnterMaintenanceMode_Task", desc: "HostSystem.enterMaintenanceMode", evacuate: evacuate,
		timeout: timeout, done: func() { h.m.Runtime.InMaintenanceMode = true }})
}

// enterStandby is an operation of DPM or of a user. Sources disagree on the
// connection state of such a host; the caller gives it.
func (c *call) enterStandby(h *host, conn types.HostSystemConnectionState) (any, error) {
	if h.m.Runtime.PowerState != types.HostSystemPowerStatePoweredOn {
		return nil, fault(&types.InvalidState{}, "The host is in standby already, or disconnected.")
	}
	h.m.Runtime.StandbyMode = "entering"
	h.touchRuntime()
	return c.leave(h, &leaving{kind: "PowerDownHostToStandBy_Task", desc: "HostSystem.powerDownToStandBy", done: func() {
		h.m.Runtime.StandbyMode, h.m.Runtime.PowerState = "in", types.HostSystemPowerStateStandBy
		if conn != "" {
			h.setState(conn)
		}
	}})
}

func (c *call) exitStandby(h *host) (any, error) {
	t := &task{run: func() (any, error) {
		if h.m.Runtime.StandbyMode != "in" {
			return nil, fault(&types.InvalidState{}, "The host is not in standby.")
		}
		h.m.Runtime.StandbyMode = "none"
		h.setState(types.HostSystemConnectionStateConnected)
		return nil, nil
	}}
	return c.w.tasks.start(c, "PowerUpHostFromStandBy_Task", "HostSystem.powerUpFromStandBy", h.o, t), nil
}

// leave starts the task that waits for the last VM and the last provisioning.
func (c *call) leave(h *host, l *leaving) (any, error) {
	if err := h.connected(); err != nil {
		return nil, err
	}
	if h.entering != nil {
		return nil, fault(&types.TaskInProgress{Task: h.entering.o.ref}, "The operation is not allowed while another task is in progress.")
	}
	t := &task{cancelable: true}
	t.until = func() bool { return !h.busyVMs() && !h.provisioning() && !(l.evacuate && h.registered()) }
	t.run = func() (any, error) {
		l.done()
		h.touchRuntime()
		return nil, nil
	}
	t.after = func() {
		if h.entering == t {
			h.entering = nil
		}
		if h.m.Runtime.StandbyMode == "entering" {
			h.m.Runtime.StandbyMode = "none"
			h.touchRuntime()
		}
	}
	h.entering = t
	r := c.w.tasks.start(c, l.kind, l.desc, h.o, t)
	if l.timeout > 0 {
		t.timer = time.AfterFunc(l.timeout, func() {
			c.w.mu.Lock()
			defer c.w.mu.Unlock()
			if !t.finished {
				c.w.tasks.finish(t, nil, fault(&types.Timedout{}, "Operation timed out."))
			}
		})
	}
	h.evacuate(t, l.evacuate)
	h.checkMaintenance()
	return r, nil
}

// evacuate is DRS: where it is fully automated it moves what can be moved, and
// where it is on at all it registers VMs that are off elsewhere, if asked to.
func (h *host) evacuate(t *task, all bool) {
	w, drs := h.o.w(), h.c.spec.Drs
	if t.finished || drs == "" || drs == "disabled" {
		return
	}
	for _, v := range h.ordered() {
		movable := v.on() && drs == "fullyAutomated" && !v.kept(deedDrs) || !v.on() && all && !v.m.Config.Template
		if !movable || v.busy != nil || v.h.c.drsOf(v) == "disabled" {
			continue
		}
		for _, to := range h.c.hosts {
			if _, err := v.fits(to); to == h || v.on() && err != nil || to.accepts() != nil {
				continue
			}
			c := &call{w: w, o: v.o, this: v.o.ref, foreign: true,
				req: &types.RelocateVM_Task{Spec: types.VirtualMachineRelocateSpec{Host: &to.o.ref}}}
			_, _ = relocateVM(c)
			break
		}
	}
	time.AfterFunc(200*time.Millisecond, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		h.evacuate(t, all)
	})
}

// ordered lists a host's VMs in a stable order.
func (h *host) ordered() []*vmachine {
	var res []*vmachine
	for _, r := range h.m.Vm {
		if v := h.o.w().vms[r]; v != nil {
			res = append(res, v)
		}
	}
	return res
}

func (h *host) busyVMs() bool {
	for v := range h.vms {
		if v.on() {
			return true
		}
	}
	return false
}

func (h *host) registered() bool {
	for v := range h.vms {
		if !v.m.Config.Template {
			return true
		}
	}
	return false
}

// provisioning tells whether a clone or a relocation from or to h is under way.
func (h *host) provisioning() bool {
	for _, t := range h.o.w().tasks.running {
		for _, x := range t.hosts {
			if x == h {
				return true
			}
		}
	}
	return false
}

// checkMaintenance ends a waiting task of the host when it may end.
func (h *host) checkMaintenance() {
	if t := h.entering; t != nil && !t.hang && t.o != nil && t.until() {
		h.o.w().tasks.complete(t)
	}
}

func (h *host) touchRuntime() {
	h.o.w().touch(h.o, "runtime", "summary")
	h.c.sum()
	h.o.w().touch(h.c.o, "summary", "environmentBrowser")
}

func exitMaintenance(c *call) (any, error) {
	h := c.o.host
	t := &task{run: func() (any, error) {
		if !h.m.Runtime.InMaintenanceMode {
			return nil, fault(&types.InvalidState{}, "The host is not in maintenance mode.")
		}
		h.m.Runtime.InMaintenanceMode = false
		h.touchRuntime()
		return nil, nil
	}}
	return c.w.tasks.start(c, "ExitMaintenanceMode_Task", "HostSystem.exitMaintenanceMode", h.o, t), nil
}

// setState connects or disconnects a host, its VMs with it. The power state of
// a host that isn't heard of is unknown, unless it was put into standby.
func (h *host) setState(state types.HostSystemConnectionState) {
	rt := &h.m.Runtime
	rt.ConnectionState = state
	switch {
	case rt.StandbyMode == "in":
		rt.PowerState = types.HostSystemPowerStateStandBy
	case state == types.HostSystemConnectionStateConnected:
		rt.PowerState = types.HostSystemPowerStatePoweredOn
	default:
		rt.PowerState = types.HostSystemPowerStateUnknown
	}
	h.touchRuntime()
	for _, v := range h.ordered() {
		if h.connected() == nil && v.offUnseen {
			v.turnOff()
		}
		v.showConnection()
	}
}

// fail is a host's death, its VMs' with it: vCenter only hears no more of it.
func (h *host) fail() {
	w := h.o.w()
	h.failures++
	for _, v := range h.ordered() {
		if !v.on() {
			continue
		}
		if g := v.guest; g != nil {
			v.guest = nil
			g.destroy()
		}
		v.offUnseen = true
	}
	h.setState(types.HostSystemConnectionStateNotResponding)
	if h.c.spec.Ha {
		n := h.failures
		h.retryHA(n, w.duration("HaRestart"), 10)
	}
}

// retryHA restarts VMs of a failed host elsewhere, until none is left that
// could be or the host is back.
func (h *host) retryHA(failure int, d time.Duration, tries int) {
	w := h.o.w()
	time.AfterFunc(d, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if h.connected() == nil || h.failures != failure || tries == 0 {
			return
		}
		left := 0
		for _, v := range h.ordered() {
			if v.offUnseen && h.c.haRestarts(v) && !v.restartElsewhere() {
				left++
			}
		}
		if left > 0 {
			h.retryHA(failure, d, tries-1)
		}
	})
}

// restartElsewhere is HA: the VM boots on another host that has all it needs.
func (v *vmachine) restartElsewhere() bool {
	for _, to := range v.h.c.hosts {
		if to == v.h {
			continue
		}
		held, err := v.fits(to)
		if err != nil {
			continue
		}
		v.turnOff()
		if v.takeSwap() != nil {
			return false
		}
		v.place(to)
		v.turnOn(held)
		v.foreignOn = v.w.seq
		v.w.count.haRestarts++
		return true
	}
	return false
}

// powerLost turns a VM off, or notes it while its host isn't heard of.
func (v *vmachine) powerLost() {
	if v.h != nil && v.h.connected() != nil {
		v.offUnseen = true
		return
	}
	v.turnOff()
}
