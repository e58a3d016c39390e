// SPDX-License-Identifier: GPL-2.0-or-later
// admin.go: /-/: counters, faults, the state beyond the API, and the entry for
// what other users and hosts do (do.go).

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"
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
		case http.MethodGet:
			answerJSON(rw, map[string]any{"rules": w.faults.list()})
			return
		}
		answerJSON(rw, map[string]any{})
	})
	mux.HandleFunc("/-/state", func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		answerJSON(rw, w.state())
	})
	mux.HandleFunc("/-/keys", func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		answerJSON(rw, w.keys)
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
		if err == nil && op.Wait {
			res, err = w.outcome(res, 60*time.Second)
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

// storeName is a VM's datastore; a recorded VM may have none, or one that isn't recorded.
func (w *world) storeName(v *vmachine) string {
	if len(v.m.Datastore) == 0 || w.get(v.m.Datastore[0]) == nil {
		return ""
	}
	return w.get(v.m.Datastore[0]).name()
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
			parent, _ := v.extra("slurm.vsphere.parent")
			vms = append(vms, map[string]any{"name": v.m.Name, "moid": o.ref.Value, "folder": w.folderPath(o),
				"power": v.m.Runtime.PowerState, "connection": v.m.Runtime.ConnectionState, "host": v.h.spec.Name, "datastore": w.storeName(v), "policies": v.policies, "annotation": v.m.Config.Annotation, "owner": owner, "template": v.m.Config.Template,
				"instanceUuid": v.m.Config.InstanceUuid, "cards": v.cardInfos(), "boots": v.boots,
				"memoryMB": v.m.Config.Hardware.MemoryMB, "reservedMB": v.reservedMB(), "passthru": v.passthruExtra(), "hardware": v.hardwareState(), "guest": v.guest != nil, "stopped": v.stopped(),
				"frozen": v.frozen(), "deltas": v.deltas, "snapshots": v.snapshotNames(), "bases": v.bases(), "baseLost": v.baseLost,
				"parent": parent})
		}
		if t := w.tasks.byRef[o.ref]; t != nil {
			e, ended := "", 0.0
			if at := t.m.Info.CompleteTime; at != nil {
				ended = float64(at.UnixMicro()) / 1e6
			}
			if t.m.Info.Error != nil {
				e = t.m.Info.Error.LocalizedMessage
			}
			tasks = append(tasks, map[string]any{"moid": o.ref.Value, "method": t.kind, "entity": t.m.Info.EntityName,
				"state": t.m.Info.State, "error": e, "ended": ended})
		}
	}
	return map[string]any{"hosts": hosts, "vms": vms, "tasks": tasks}
}
