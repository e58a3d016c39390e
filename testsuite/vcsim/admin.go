// SPDX-License-Identifier: GPL-2.0-or-later
// admin.go: /-/: counters, faults, the state beyond the API, and the hand of
// somebody else: foreign operations, outages, changed hosts.

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/vmware/govmomi/vim25/types"
)

func (s *server) admin(mux *http.ServeMux) {
	w := s.w
	mux.HandleFunc("/-/counters", func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.expire()
		answerJSON(rw, w.counters())
	})
	mux.HandleFunc("/-/counters/reset", func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.count = newCounters()
		answerJSON(rw, map[string]any{})
	})
	mux.HandleFunc("/-/faults", func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.Method {
		case http.MethodDelete:
			w.faults.clear()
		case http.MethodPost:
			if err := w.faults.addAll(body); err != nil {
				http.Error(rw, err.Error(), http.StatusBadRequest)
				return
			}
		}
		answerJSON(rw, map[string]any{})
	})
	mux.HandleFunc("/-/state", func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		answerJSON(rw, w.state())
	})
	mux.HandleFunc("/-/do", func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var op adminOp
		err := readStrict(body, &op)
		var res any
		if err == nil {
			w.mu.Lock()
			res, err = s.do(&op)
			w.mu.Unlock()
		}
		if err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}
		answerJSON(rw, res)
	})
}

func answerJSON(rw http.ResponseWriter, v any) {
	if v == nil {
		v = map[string]any{}
	}
	b, err := json.Marshal(v)
	if err != nil {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
		return
	}
	rw.Header().Set("Content-Type", "application/json")
	_, _ = rw.Write(append(b, '\n'))
}

// adminOp is a foreign hand's deed.
type adminOp struct {
	Op         string   `json:"op"`
	Host       string   `json:"host"`
	State      string   `json:"state"`
	Mode       string   `json:"mode"`
	Pci        string   `json:"pci"`
	NewPci     string   `json:"newPci"`
	Vfs        *int     `json:"vfs"`
	Vm         string   `json:"vm"`
	Name       string   `json:"name"`
	Spec       *vmSpec  `json:"spec"`
	Folder     string   `json:"folder"`
	Duration   Dur      `json:"duration"`
	User       string   `json:"user"`
	Password   string   `json:"password"`
	Datacenter string   `json:"datacenter"`
	Slots      slotSpec `json:"slots"`
	Datastore  string   `json:"datastore"`
	FreeGB     *int64   `json:"freeGB"`
}

func (s *server) do(op *adminOp) (any, error) {
	w := s.w
	switch op.Op {
	case "hostState", "maintenance", "setVfs", "renumberPf":
		h := w.hostBy[op.Host]
		if h == nil {
			return nil, fmt.Errorf("host: there is no %q", op.Host)
		}
		return w.doHost(h, op)
	case "powerOn", "powerOff", "rename", "migrate", "destroyVm", "cloneVm", "attachDisk":
		v := w.findVM(op.Vm)
		if v == nil {
			return nil, fmt.Errorf("vm: there is no %q", op.Vm)
		}
		return w.doVM(v, op)
	case "addVm":
		if op.Spec == nil || len(w.dcs) == 0 {
			return nil, fmt.Errorf("spec: missing")
		}
		return w.addVM(op.Spec)
	case "setSlots":
		w.inv.TaskSlots = op.Slots.or(w.inv.TaskSlots)
		w.tasks.pump()
	case "setFree":
		for _, d := range w.dcs {
			if o := d.stores[op.Datastore]; o != nil && op.FreeGB != nil {
				w.setFree(o, *op.FreeGB<<30)
				return nil, nil
			}
		}
		return nil, fmt.Errorf("datastore: there is no %q, or freeGB is missing", op.Datastore)
	case "vfRelease":
		w.inv.VfRelease = op.Duration
	case "expireSessions", "restart":
		for _, x := range w.sessions {
			w.endSession(x)
		}
		if op.Op == "restart" {
			w.tasks.reset()
		}
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
		return nil, s.ca.renew()
	default:
		return nil, fmt.Errorf("op: %q is unknown", op.Op)
	}
	return nil, nil
}

// addVM makes a foreign VM; unlike a declared one it takes its disks' room.
func (w *world) addVM(s *vmSpec) (any, error) {
	v, err := w.buildVM(w.dcs[0], s)
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
	return map[string]any{"moid": v.o.ref.Value}, nil
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

func (w *world) doHost(h *host, op *adminOp) (any, error) {
	switch op.Op {
	case "hostState":
		switch op.State {
		case "connected", "disconnected", "notResponding":
			h.setState(types.HostSystemConnectionState(op.State))
			return nil, nil
		}
		return nil, fmt.Errorf("state: unknown %q", op.State)
	case "maintenance":
		c := &call{w: w, o: h.o, this: h.o.ref, foreign: true}
		if op.Mode == "exit" || op.State == "exit" {
			return exitMaintenance(c)
		}
		return enterMaintenance(c)
	}
	p := h.pfBy(op.Pci)
	if p == nil {
		return nil, fmt.Errorf("pci: host %s has no PF %q", h.spec.Name, op.Pci)
	}
	if op.Op == "setVfs" {
		if op.Vfs == nil || *op.Vfs < 0 || *op.Vfs > p.max {
			return nil, fmt.Errorf("vfs: 0 to %d are possible", p.max)
		}
		p.lowered, p.vfs = max(0, p.vfs-*op.Vfs), *op.Vfs
	} else {
		p.renumber(op.NewPci)
	}
	h.passthru()
	w.touch(h.o, "config", "hardware")
	p.loweredAt = w.seq
	return nil, nil
}

// renumber gives a PF another address, as a changed slot does.
func (p *pf) renumber(to string) {
	h := p.h
	hw := *h.m.Hardware
	hw.PciDevice = append([]types.HostPciDevice(nil), hw.PciDevice...)
	for i := range hw.PciDevice {
		if hw.PciDevice[i].Id == p.id {
			hw.PciDevice[i] = pciDevice(to, hw.PciDevice[i].DeviceId)
		}
	}
	for i := range hw.NumaInfo.NumaNode {
		for k, id := range hw.NumaInfo.NumaNode[i].PciId {
			if id == p.id {
				hw.NumaInfo.NumaNode[i].PciId[k] = to
			}
		}
	}
	h.m.Hardware = &hw
	for i := range h.spec.Pnics {
		if h.spec.Pnics[i].Pci == p.id {
			h.spec.Pnics[i].Pci = to
			h.m.Config.Network.Pnic[i].Pci = to
		}
	}
	for _, b := range h.m.Config.SriovDevicePool {
		np := b.(*types.HostSriovNetworkDevicePoolInfo)
		for i := range np.Pnic {
			if np.Pnic[i].Pci == p.id {
				np.Pnic[i].Pci = to
			}
		}
	}
	p.id = to
}

func (w *world) doVM(v *vmachine, op *adminOp) (any, error) {
	c := &call{w: w, o: v.o, this: v.o.ref, foreign: true}
	switch op.Op {
	case "powerOn":
		return c.powerOnAt(v, v.h)
	case "powerOff":
		return powerOffVM(c)
	case "rename":
		c.req = &types.Rename_Task{NewName: op.Name}
		return renameVM(c)
	case "destroyVm":
		return destroyVM(c)
	case "attachDisk":
		v.attachDisk(op.Name)
		return nil, nil
	case "migrate":
		h := w.hostBy[op.Host]
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
	folder := *v.m.Parent
	if op.Folder != "" {
		folder = v.dc.folders[op.Folder]
	}
	req := &types.CloneVM_Task{Folder: folder, Name: op.Name}
	if v.m.ResourcePool == nil {
		req.Spec.Location.Pool = &v.h.c.root
	}
	c.req = req
	return cloneVM(c)
}

// folderPath is a VM's folder as an inventory path.
func (w *world) folderPath(o *object) string {
	var parts []string
	for e := o.entity(); e != nil && e.Parent != nil; {
		p := w.get(*e.Parent)
		if p == nil || p.ref == w.content.RootFolder {
			break
		}
		parts = append([]string{p.name()}, parts...)
		e = p.entity()
	}
	return "/" + strings.Join(parts, "/")
}

func (w *world) state() map[string]any {
	hosts, vms, tasks := []any{}, []any{}, []any{}
	for _, h := range w.hosts {
		pfs := []any{}
		for _, p := range h.pfs {
			by := map[string]string{}
			for i, v := range p.used {
				by[p.vfID(i)] = v.m.Name
			}
			pfs = append(pfs, map[string]any{"id": p.id, "device": p.device, "switch": p.sw, "vfs": p.usable(), "max": p.max,
				"active": p.active, "numa": p.numa, "used": len(p.used), "by": by})
		}
		mem, cpu := h.unreserved()
		hosts = append(hosts, map[string]any{"name": h.spec.Name, "moid": h.o.ref.Value, "cluster": h.c.spec.Name,
			"state": h.m.Runtime.ConnectionState, "maintenance": h.m.Runtime.InMaintenanceMode, "entering": h.entering != nil,
			"pfs": pfs, "vms": len(h.vms), "unreservedMB": mem, "unreservedMhz": cpu})
	}
	for _, o := range w.ordered() {
		if v := o.vm; v != nil {
			owner, _ := v.extra("slurm.vsphere.owner")
			vms = append(vms, map[string]any{"name": v.m.Name, "moid": o.ref.Value, "folder": w.folderPath(o),
				"power": v.m.Runtime.PowerState, "host": v.h.spec.Name, "owner": owner, "template": v.m.Config.Template,
				"instanceUuid": v.m.Config.InstanceUuid, "cards": v.cardInfos(), "boots": v.boots, "guest": v.guest != nil})
		}
		if t := w.tasks.byRef[o.ref]; t != nil {
			e := ""
			if t.m.Info.Error != nil {
				e = t.m.Info.Error.LocalizedMessage
			}
			tasks = append(tasks, map[string]any{"moid": o.ref.Value, "method": t.kind, "entity": t.m.Info.EntityName,
				"state": t.m.Info.State, "error": e})
		}
	}
	return map[string]any{"hosts": hosts, "vms": vms, "tasks": tasks}
}
