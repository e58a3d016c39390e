// SPDX-License-Identifier: GPL-2.0-or-later
// views.go: ContainerView and ListView. A view keeps its members as a set and
// hands single additions and removals on to the filters built over it.

package main

import (
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

type view struct {
	o         *object
	s         *session
	members   map[ref]bool
	list      []ref
	container bool
	root      ref
	kinds     []string
	recursive bool
	filters   map[*filter]struct{}
}

func (s *session) newView(w *world, kind string) *view {
	r := ref{Type: kind, Value: s.scopedID()}
	v := &view{s: s, members: map[ref]bool{}, filters: map[*filter]struct{}{}}
	var ptr any
	if kind == "ContainerView" {
		p := &mo.ContainerView{}
		p.Self, ptr = r, p
	} else {
		p := &mo.ListView{}
		p.Self, ptr = r, p
	}
	v.o = w.addScoped(r, ptr)
	s.views[r] = v
	return v
}

// refs are the members in their order.
func (v *view) refs() []ref {
	res := make([]ref, 0, len(v.members))
	for _, r := range v.list {
		if v.members[r] {
			res = append(res, r)
		}
	}
	return res
}

func (v *view) put(r ref) {
	if v.members[r] {
		return
	}
	v.members[r] = true
	v.list = append(v.list, r)
	for f := range v.filters {
		f.viewAdded(v, r)
	}
}

func (v *view) drop(r ref) {
	if !v.members[r] {
		return
	}
	delete(v.members, r)
	if len(v.list) > 2*len(v.members)+64 {
		v.list = v.refs()
	} else {
		for i := len(v.list) - 1; i >= 0; i-- {
			if v.list[i] == r {
				v.list = append(v.list[:i], v.list[i+1:]...)
				break
			}
		}
	}
	for f := range v.filters {
		f.viewDropped(v, r)
	}
}

// consider puts an object that came or moved where it belongs.
func (v *view) consider(w *world, o *object) {
	if !v.container {
		return
	}
	match := len(v.kinds) == 0 && o.entity() != nil
	for _, k := range v.kinds {
		match = match || isKind(o.ref.Type, k)
	}
	if match && v.recursive {
		match = w.within(o, v.root, 0)
	} else if match {
		match = false
		for _, p := range w.parents(o) {
			match = match || p == v.root
		}
	}
	if match && w.sees(v.s, o) {
		v.put(o.ref)
	} else {
		v.drop(o.ref)
	}
}

func createContainerView(c *call) (any, error) {
	req := c.req.(*types.CreateContainerView)
	if c.w.get(req.Container) == nil {
		return nil, notFound(req.Container)
	}
	for _, k := range req.Type {
		if kinds[k] == nil {
			return nil, invalidArgument("type")
		}
	}
	v := c.s.newView(c.w, "ContainerView")
	v.container, v.root, v.kinds, v.recursive = true, req.Container, req.Type, req.Recursive
	m := v.o.ptr.(*mo.ContainerView)
	m.Container, m.Type, m.Recursive = req.Container, req.Type, req.Recursive
	for _, o := range c.w.ordered() {
		v.consider(c.w, o)
	}
	return v.o.ref, nil
}

func createListView(c *call) (any, error) {
	req := c.req.(*types.CreateListView)
	v := c.s.newView(c.w, "ListView")
	for _, r := range req.Obj {
		if o := c.w.get(r); o == nil || !c.w.sees(c.s, o) {
			return nil, notFound(r)
		}
		v.put(r)
	}
	return v.o.ref, nil
}

func (c *call) view() (*view, error) {
	if v := c.s.views[c.this]; v != nil {
		return v, nil
	}
	return nil, notFound(c.this)
}

func modifyListView(c *call) (any, error) {
	req := c.req.(*types.ModifyListView)
	v, err := c.view()
	if err != nil {
		return nil, err
	}
	var unresolved []ref
	for _, r := range req.Remove {
		v.drop(r)
	}
	for _, r := range req.Add {
		if o := c.w.get(r); o == nil || !c.w.sees(c.s, o) {
			unresolved = append(unresolved, r)
		} else {
			v.put(r)
		}
	}
	if unresolved == nil {
		return nil, nil
	}
	return unresolved, nil
}

func destroyView(c *call) (any, error) {
	v, err := c.view()
	if err != nil {
		return nil, err
	}
	c.s.dropView(c.w, v)
	return nil, nil
}

func (s *session) dropView(w *world, v *view) {
	delete(s.views, v.o.ref)
	delete(w.objs, v.o.ref)
	for f := range v.filters {
		f.stale = true
	}
}
