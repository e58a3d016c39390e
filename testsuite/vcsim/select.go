// SPDX-License-Identifier: GPL-2.0-or-later
// select.go: which objects a PropertyFilterSpec reaches: start objects, named
// and nested traversal specs, views.

package main

import (
	"reflect"

	"github.com/vmware/govmomi/vim25/types"
)

type selection struct {
	w       *world
	s       *session
	named   map[string]*types.TraversalSpec
	objs    []*object
	has     map[ref]bool
	walked  map[string]bool
	deps    []*object
	views   []*view
	missing []ref
	simple  bool // only straight over views: additions can be handed on singly
}

func newSelection(w *world, s *session, spec *types.PropertyFilterSpec) *selection {
	sel := &selection{w: w, s: s, named: map[string]*types.TraversalSpec{}, has: map[ref]bool{},
		walked: map[string]bool{}, simple: true}
	for i := range spec.ObjectSet {
		os := &spec.ObjectSet[i]
		sel.collectNames(os.SelectSet)
		o := w.lookup(s, os.Obj)
		if o == nil {
			sel.missing = append(sel.missing, os.Obj)
			continue
		}
		if !isTrue(os.Skip) {
			sel.add(o)
		}
		if s != nil && s.views[os.Obj] == nil && len(os.SelectSet) > 0 {
			sel.simple = false
		}
		if sel.w.sees(s, o) {
			sel.follow(o, os.SelectSet, 0)
		}
	}
	return sel
}

func isTrue(b *bool) bool { return b != nil && *b }

func (sel *selection) collectNames(set []types.BaseSelectionSpec) {
	for _, s := range set {
		if t, ok := s.(*types.TraversalSpec); ok {
			if t.Name != "" {
				sel.named[t.Name] = t
			}
			sel.collectNames(t.SelectSet)
		}
	}
}

func (sel *selection) add(o *object) {
	if !sel.has[o.ref] {
		sel.has[o.ref] = true
		sel.objs = append(sel.objs, o)
	}
}

func (sel *selection) follow(o *object, set []types.BaseSelectionSpec, depth int) {
	for _, s := range set {
		t, ok := s.(*types.TraversalSpec)
		if !ok {
			if t = sel.named[s.GetSelectionSpec().Name]; t == nil {
				continue
			}
		}
		if !isKind(o.ref.Type, t.Type) && t.Type != "ManagedObjectView" && t.Type != "View" {
			continue
		}
		id := o.ref.String() + "|" + t.Name + "|" + t.Path + "|" + t.Type
		if sel.walked[id] || depth > 64 {
			continue
		}
		sel.walked[id] = true
		if len(t.SelectSet) > 0 || depth > 0 {
			sel.simple = false
		}
		for _, r := range sel.targets(o, t) {
			to := sel.w.lookup(sel.s, r)
			if to == nil || !sel.w.sees(sel.s, to) {
				continue
			}
			if !isTrue(t.Skip) {
				sel.add(to)
			}
			sel.follow(to, t.SelectSet, depth+1)
		}
	}
}

// targets are the references a traversal's path gives; o becomes a dependency.
func (sel *selection) targets(o *object, t *types.TraversalSpec) []ref {
	if sel.s != nil {
		if v := sel.s.views[o.ref]; v != nil && t.Path == "view" {
			sel.views = append(sel.views, v)
			return v.refs()
		}
	}
	sel.deps = append(sel.deps, o)
	p, ok := declaredPath(o.ref.Type, t.Path)
	if !ok {
		return nil
	}
	val, ok := p.get(o.val)
	if !ok {
		return nil
	}
	switch x := val.(type) {
	case ref:
		return []ref{x}
	case *ref:
		return []ref{*x}
	case []ref:
		return x
	}
	if rv := reflect.ValueOf(val); rv.Kind() == reflect.Pointer && !rv.IsNil() {
		if x, ok := rv.Elem().Interface().(ref); ok {
			return []ref{x}
		}
	}
	return nil
}

// lookup finds an object of the store or of the session.
func (w *world) lookup(s *session, r ref) *object {
	if s != nil {
		if c := s.collectors[r]; c != nil {
			return c.o
		}
	}
	return w.objs[r]
}
