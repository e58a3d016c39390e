// SPDX-License-Identifier: GPL-2.0-or-later
// do.go: POST /-/do: what others than the client do: administrators in vCenter,
// hosts that change or fail, vCenter's own outages. Nothing here is counted.

package main

import (
	"fmt"
	"time"

	"github.com/vmware/govmomi/vim25/types"
)

// adminOp is another user's operation; which members count depends on op.
type adminOp struct {
	Op              string              `json:"op"`
	Wait            bool                `json:"wait"`
	Host            string              `json:"host"`
	State           string              `json:"state"`
	Mode            string              `json:"mode"`
	Evacuate        bool                `json:"evacuate"`
	Timeout         Dur                 `json:"timeout"`
	Pci             string              `json:"pci"`
	NewPci          string              `json:"newPci"`
	Vfs             *int                `json:"vfs"`
	Vm              string              `json:"vm"`
	Name            string              `json:"name"`
	Key             string              `json:"key"`
	Value           string              `json:"value"`
	MemoryMB        int64               `json:"memoryMB"`
	CPUMhz          int64               `json:"cpuMhz"`
	Force           bool                `json:"force"`
	Spec            *vmSpec             `json:"spec"`
	Folder          string              `json:"folder"`
	Cluster         string              `json:"cluster"`
	Drs             *string             `json:"drs"`
	Dpm             *string             `json:"dpm"`
	DrsPerverse     *bool               `json:"drsPerverse"`
	Ha              *bool               `json:"ha"`
	HaPassthrough   *bool               `json:"haPassthrough"`
	HaPriority      string              `json:"haPriority"`
	HaHosts         string              `json:"haHosts"`
	Duration        Dur                 `json:"duration"`
	User            string              `json:"user"`
	Password        string              `json:"password"`
	Slots           slotSpec            `json:"slots"`
	How             string              `json:"how"`
	Seed            int64               `json:"seed"`
	Churn           churnSpec           `json:"churn"`
	Roles           map[string][]string `json:"roles"`
	Permissions     []permSpec          `json:"permissions"`
	Lockout         lockoutSpec         `json:"lockout"`
	NewInstanceUuid bool                `json:"newInstanceUuid"`
	ReuseIds        bool                `json:"reuseIds"`
	Task            string              `json:"task"`
	Tasks           string              `json:"tasks"`
	Error           string              `json:"error"`
	Datastore       string              `json:"datastore"`
	FreeGB          *int64              `json:"freeGB"`
	Accessible      *bool               `json:"accessible"`
	Set             *hostSet            `json:"set"`
	SetVm           *vmSet              `json:"setVm"`
}

func (s *server) do(op *adminOp) (any, error) {
	w := s.w
	switch op.Op {
	case "hostState", "failHost", "maintenance", "standby", "setVfs", "renumberPf", "setHost":
		h := w.hostBy[op.Host]
		if h == nil {
			return nil, fmt.Errorf("host: there is no %q", op.Host)
		}
		return w.doHost(h, op)
	case "cluster":
		for _, c := range w.clusters {
			if c.spec.Name == op.Cluster {
				return nil, c.change(op)
			}
		}
		return nil, fmt.Errorf("cluster: there is no %q", op.Cluster)
	case "addVm":
		if op.Spec == nil || len(w.dcs) == 0 {
			return nil, fmt.Errorf("spec: missing")
		}
		return w.addVM(op.Spec)
	}
	if vmOps[op.Op] != nil {
		v := w.findVM(op.Vm)
		if v == nil {
			return nil, fmt.Errorf("vm: there is no %q", op.Vm)
		}
		return vmOps[op.Op](&call{w: w, o: v.o, this: v.o.ref, foreign: true}, v, op)
	}
	return s.doServer(op)
}

// doServer is what befalls vCenter itself.
func (s *server) doServer(op *adminOp) (any, error) {
	w := s.w
	switch op.Op {
	case "setDuration":
		w.inv.Durations[op.Name] = op.Duration
	case "vfRelease":
		w.inv.VfRelease = op.Duration
	case "cloneDevices":
		w.inv.CloneDevice = op.Value
	case "setBuild": // an update of vCenter; a client sees it when it connects again
		w.setBuild(op.Value)
	case "expireSessions":
		w.endSessions()
	case "restart":
		return nil, s.restart(op)
	case "outage":
		return nil, s.outage(op.Duration, op.How)
	case "cutConnections":
		s.ln.cut()
	case "forgetVersions":
		for _, x := range w.sessions {
			for _, col := range x.collectors {
				col.versions = map[string]*version{}
				col.signal()
			}
		}
	case "endTask":
		return nil, w.endTask(op)
	case "churn":
		return nil, w.setChurn(op.Churn)
	case "permissions":
		return nil, w.setPermissions(op.Roles, op.Permissions)
	case "backup":
		w.saveBackup()
	case "restoreBackup":
		return nil, w.restoreBackup(op)
	case "seed":
		w.faults.seed(op.Seed)
	case "lockout":
		w.inv.Lockout = op.Lockout.or(w.inv.Lockout)
	case "unlock":
		delete(w.lockout, op.User)
	case "stall":
		w.stallTo = time.Now().Add(time.Duration(op.Duration))
	case "latency":
		w.latency = time.Duration(op.Duration)
	case "setPassword":
		for i := range w.inv.Users {
			if w.inv.Users[i].Name == op.User {
				w.inv.Users[i].Password = op.Password
				delete(w.lockout, op.User)
				return nil, nil
			}
		}
		return nil, fmt.Errorf("user: there is no %q", op.User)
	case "newCertificate":
		return nil, s.ca.renew(op.How)
	default:
		return nil, w.doRoom(op)
	}
	return nil, nil
}

// doRoom is what there is to share: slots, datastores, pools.
func (w *world) doRoom(op *adminOp) error {
	switch op.Op {
	case "setSlots":
		w.inv.TaskSlots = op.Slots.or(w.inv.TaskSlots)
		w.tasks.pump()
	case "setFree":
		for _, d := range w.dcs {
			if o := d.stores[op.Datastore]; o != nil && op.FreeGB != nil {
				w.setFree(o, *op.FreeGB<<30)
				return nil
			}
		}
		return fmt.Errorf("datastore: there is no %q, or freeGB is missing", op.Datastore)
	case "setPool":
		return w.setPool(op)
	case "limitPool":
		return w.limitPool(op)
	case "setStore":
		return w.setStore(op)
	default:
		return fmt.Errorf("op: %q is unknown", op.Op)
	}
	return nil
}

func (l lockoutSpec) or(old lockoutSpec) lockoutSpec {
	if l.Failures > 0 {
		old.Failures = l.Failures
	}
	if l.Window > 0 {
		old.Window = l.Window
	}
	if l.Unlock > 0 {
		old.Unlock = l.Unlock
	}
	return old
}

// restart forgets sessions and tasks. What was under way is lost without
// effect, or ends on the hosts without an answer to the client.
func (s *server) restart(op *adminOp) error {
	switch op.Tasks {
	case "", "lost":
	case "finish":
		s.w.tasks.finishAll()
	default:
		return fmt.Errorf("tasks: %q is not lost or finish", op.Tasks)
	}
	s.w.endSessions()
	s.w.tasks.reset()
	if op.Duration > 0 {
		return s.outage(op.Duration, op.How)
	}
	return nil
}

func (s *server) outage(d Dur, how string) error {
	w, t := s.w, time.Duration(d)
	switch how {
	case "":
		w.away = outage{time.Now().Add(t), "503"}
	case "502", "503", "drop":
		w.away = outage{time.Now().Add(t), how}
		if how == "drop" {
			s.ln.cut()
		}
	case "refuse":
		s.ln.refuse(t)
		s.ln.cut()
	default:
		return fmt.Errorf("how: %q is not one of 502, 503, drop, refuse", how)
	}
	return nil
}

// endTask ends a task that hangs, well, with an error, or as canceled.
func (w *world) endTask(op *adminOp) error {
	t := w.tasks.byRef[ref{Type: "Task", Value: op.Task}]
	if t == nil || t.finished {
		return fmt.Errorf("task: there is no unfinished %q", op.Task)
	}
	switch {
	case op.Mode == "cancel":
		t.m.Info.Cancelled = true
		w.tasks.finish(t, nil, canceled())
	case op.Mode != "":
		return fmt.Errorf("mode: %q is not cancel", op.Mode)
	case op.Error != "":
		w.tasks.finish(t, nil, fmt.Errorf("%s", op.Error))
	default:
		w.tasks.complete(t)
	}
	return nil
}

// outcome waits for the task that an operation has begun, if any.
func (w *world) outcome(res any, limit time.Duration) (any, error) {
	r, ok := res.(ref)
	for end := time.Now().Add(limit); ok; time.Sleep(5 * time.Millisecond) {
		w.mu.Lock()
		t := w.tasks.byRef[r]
		over := t == nil || t.finished
		var info types.TaskInfo
		if t != nil {
			info = t.m.Info
		}
		w.mu.Unlock()
		if over {
			out := map[string]any{"task": r.Value, "state": info.State}
			if info.Error != nil {
				out["error"] = info.Error.LocalizedMessage
			}
			return out, nil
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("wait: task %s has not ended", r.Value)
		}
	}
	return res, nil
}

// addVM makes a foreign VM; unlike a declared one it takes its disks' room.
func (w *world) addVM(s *vmSpec) (any, error) {
	v, err := w.buildForeign(w.dcs[0], s)
	if err != nil {
		return nil, err
	}
	return map[string]any{"moid": v.o.ref.Value}, nil
}

func (w *world) buildForeign(d *datacenter, s *vmSpec) (*vmachine, error) {
	v, err := w.buildVM(d, s)
	if err != nil {
		return nil, err
	}
	v.disks = room{}
	if err := v.takeDisks(w.get(v.m.Datastore[0])); err != nil {
		v.turnOff()
		w.erase(v, true)
		return nil, err
	}
	if v.on() {
		v.foreignOn = w.seq
	}
	return v, nil
}

// findVM takes a moId or a name.
func (w *world) findVM(id string) *vmachine {
	if v := w.vms[ref{Type: "VirtualMachine", Value: id}]; v != nil {
		return v
	}
	for _, v := range w.vms {
		if v.m.Name == id {
			return v
		}
	}
	return nil
}
