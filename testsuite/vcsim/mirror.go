// SPDX-License-Identifier: GPL-2.0-or-later
// mirror.go: govmomi's stock simulator beside the VI JSON endpoint. It serves
// SOAP from copies of our objects, with its own property collector and its own
// encoder, so that clients of other projects can compare the two. A copy is
// made when an object has changed, before the next SOAP request is served.
// Mutations over SOAP are refused: MethodNotFound.

package main

import (
	"net/http"
	"net/url"
	"reflect"
	"time"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

type mirror struct {
	w     *world
	ctx   *simulator.Context
	svc   *simulator.Service
	queue map[*object]struct{}
	known map[ref]mo.Reference
}

// enqueue notes a changed object; called with w.mu held.
func (m *mirror) enqueue(o *object) {
	if m != nil && m.queue != nil {
		m.queue[o] = struct{}{}
	}
}

func newMirror() *mirror {
	return &mirror{queue: map[*object]struct{}{}, known: map[ref]mo.Reference{}}
}

// start makes the stock service; w.content is known by then.
func (m *mirror) start(w *world) {
	m.w = w
	m.ctx = simulator.NewContext()
	root := deepCopy(w.get(w.content.RootFolder).ptr).(*mo.Folder)
	var si *simulator.ServiceInstance
	m.ctx, si = simulator.NewServiceInstance(m.ctx, w.content, *root)
	sm := m.ctx.Map.SessionManager()
	sm.ValidLogin = m.validLogin
	m.svc = simulator.New(m.ctx, si)
	m.svc.Listen = &url.URL{Scheme: "https", Host: "127.0.0.1", Path: "/sdk", User: url.UserPassword("vcsim", "vcsim")}
	m.svc.RegisterSDK(m.ctx.Map)
}

func (m *mirror) validLogin(req *types.Login) bool {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	for _, u := range m.w.inv.Users {
		if u.Name == req.UserName && u.Password == req.Password {
			return true
		}
	}
	return false
}

// sync brings the copies up to date.
func (m *mirror) sync() {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	for o := range m.queue {
		delete(m.queue, o)
		if o.gone {
			m.ctx.Map.Remove(m.ctx, o.ref)
			delete(m.known, o.ref)
			continue
		}
		old := m.known[o.ref]
		if old == nil {
			m.put(o)
			continue
		}
		var changes []types.PropertyChange
		cur := reflect.ValueOf(old).Elem()
		for p := range o.dirty {
			mb := membersOf(o.val.Type())[p]
			v := deepCopy(o.val.FieldByIndex(mb.index).Interface())
			if v == nil || isNilValue(v) {
				cur.FieldByIndex(mb.index).SetZero()
				continue
			}
			changes = append(changes, types.PropertyChange{Name: p, Val: v})
		}
		o.dirty = nil
		m.ctx.WithLock(old, func() { m.ctx.Update(old, changes) })
	}
}

func isNilValue(v any) bool {
	rv := reflect.ValueOf(v)
	switch rv.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		return rv.IsNil()
	}
	return false
}

func (m *mirror) put(o *object) {
	cp := deepCopy(o.ptr).(mo.Reference)
	o.dirty = nil
	if o.ref == m.w.content.RootFolder {
		f := m.ctx.Map.Get(o.ref).(*simulator.Folder)
		f.Folder = *cp.(*mo.Folder)
		m.known[o.ref] = &f.Folder
		return
	}
	m.known[o.ref] = cp
	m.ctx.Map.Put(cp)
}

// ServeHTTP is /sdk: SOAP.
func (m *mirror) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	m.w.delayCall(r.Context())
	m.sync()
	m.svc.ServeSDK(rw, r)
}

// deepCopy copies a value and all that it points to.
func deepCopy(v any) any {
	if v == nil {
		return nil
	}
	return copyValue(reflect.ValueOf(v)).Interface()
}

func copyValue(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		n := reflect.New(v.Type().Elem())
		n.Elem().Set(copyValue(v.Elem()))
		return n
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		n := reflect.New(v.Type()).Elem()
		n.Set(copyValue(v.Elem()))
		return n
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		n := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := 0; i < v.Len(); i++ {
			n.Index(i).Set(copyValue(v.Index(i)))
		}
		return n
	case reflect.Struct:
		n := reflect.New(v.Type()).Elem()
		n.Set(v)
		if v.Type() == reflect.TypeOf(time.Time{}) {
			return n
		}
		for i := 0; i < v.NumField(); i++ {
			if n.Field(i).CanSet() {
				n.Field(i).Set(copyValue(v.Field(i)))
			}
		}
		return n
	}
	return v
}
