// SPDX-License-Identifier: GPL-2.0-or-later
// collector.go: property collectors and filters of the VI JSON endpoint. A
// filter is a materialised view: for each member the encoded value of each
// path and the change number at which the filter saw it change. So any version
// whose change number is still known can be recomputed, and a wait costs
// O(changes). All under w.mu.

package main

import (
	"bytes"
	"container/list"
	"sort"

	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

type collector struct {
	o        *object
	s        *session
	filters  []*filter
	wake     chan struct{}
	turn     chan struct{} // one token: waits are serialised
	cancel   chan struct{} // closed to cancel the wait under way
	closed   bool
	versions map[string]*version
	lastID   int
	reads    map[string]*pagedRead
	readID   int
}

// version is what a version string stands for.
type version struct {
	id        int
	seq       uint64
	truncated bool
	rest      []pageItem
}

type filter struct {
	o       *object
	col     *collector
	spec    types.PropertyFilterSpec
	paths   map[string][]*propPath // by concrete kind, filled as kinds are met
	tops    map[string]map[string]bool
	members map[ref]*member2
	order   *list.List // of *member2, by last change
	dirty   map[*object]struct{}
	stale   bool
	views   []*view
	simple  bool
	deps    []*object
	missing []ref
}

// member2 is an object in a filter.
type member2 struct {
	o      *object
	ref    ref
	enter  uint64
	last   uint64
	gone   bool
	denied bool
	vals   [][]byte
	seqs   []uint64
	born   []uint64 // when the value last came to be set, for op add
	el     *list.Element
}

func (s *session) newCollector(w *world, r ref) *collector {
	p := &mo.PropertyCollector{}
	p.Self = r
	c := &collector{s: s, wake: make(chan struct{}, 1), turn: make(chan struct{}, 1),
		cancel: make(chan struct{}), versions: map[string]*version{}, reads: map[string]*pagedRead{}}
	c.o = newObject(r, p)
	s.collectors[r] = c
	return c
}

func (c *collector) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *collector) cancelWait() {
	close(c.cancel)
	c.cancel = make(chan struct{})
}

func (f *filter) mark(o *object) {
	f.dirty[o] = struct{}{}
	f.col.signal()
}

// cares tells whether a change of these top-level properties can matter.
func (f *filter) cares(kind string, props []string) bool {
	f.pathsOf(kind)
	for _, p := range props {
		if f.tops[kind][p] {
			return true
		}
	}
	return false
}

// pathsOf gives the paths that apply to a concrete kind.
func (f *filter) pathsOf(kind string) []*propPath {
	if p, ok := f.paths[kind]; ok {
		return p
	}
	paths := specPaths(f.spec.PropSet, kind)
	tops := map[string]bool{}
	for _, p := range paths {
		tops[p.top()] = true
	}
	f.paths[kind], f.tops[kind] = paths, tops
	return paths
}

// specPaths: the most derived matching PropertySpec wins, as paths.
func specPaths(set []types.PropertySpec, kind string) []*propPath {
	var res []*propPath
	seen := map[string]bool{}
	for _, k := range kindOf(kind) {
		for i := range set {
			if set[i].Type != k {
				continue
			}
			names := set[i].PathSet
			if set[i].All != nil && *set[i].All {
				names = allProps(kind)
			}
			for _, n := range names {
				if p, ok := declaredPath(kind, n); ok && !seen[n] {
					seen[n] = true
					res = append(res, p)
				}
			}
		}
	}
	return res
}

func allProps(kind string) []string {
	var res []string
	for n := range membersOf(kinds[kind]) {
		if n != "self" {
			res = append(res, n)
		}
	}
	sort.Strings(res)
	return res
}

func wanted(set []types.PropertySpec, kind string) bool {
	for i := range set {
		if isKind(kind, set[i].Type) {
			return true
		}
	}
	return false
}

// checkSpec refuses unknown types and paths, as the real one does.
func checkSpec(spec *types.PropertyFilterSpec) error {
	for _, ps := range spec.PropSet {
		if kinds[ps.Type] == nil {
			return &wireFault{fault: &types.InvalidArgument{InvalidProperty: "specSet.propSet.type"}, text: "A specified parameter was not correct: " + ps.Type}
		}
		for _, p := range ps.PathSet {
			if _, ok := declaredPath(ps.Type, p); !ok {
				return &wireFault{fault: &types.InvalidProperty{Name: p}, text: "The property " + p + " is not in " + ps.Type}
			}
		}
	}
	return nil
}

// enterMember brings an object into a filter.
func (f *filter) enterMember(w *world, o *object) {
	if !wanted(f.spec.PropSet, o.ref.Type) {
		return
	}
	w.seq++
	m, denied := f.members[o.ref], !w.sees(f.col.s, o)
	if m != nil && !m.gone && m.denied != denied {
		f.leaveMember(w, o.ref)
	}
	if m != nil && !m.gone {
		return
	}
	if m != nil {
		f.order.Remove(m.el)
	}
	paths := f.pathsOf(o.ref.Type)
	m = &member2{o: o, ref: o.ref, denied: denied, enter: w.seq, last: w.seq, vals: make([][]byte, len(paths)),
		seqs: make([]uint64, len(paths)), born: make([]uint64, len(paths))}
	for i, p := range paths {
		if !denied {
			m.vals[i] = f.col.s.encodeProp(o, p)
		}
		m.seqs[i], m.born[i] = w.seq, w.seq
	}
	f.members[o.ref] = m
	m.el = f.order.PushBack(m)
	o.watchers[f] = struct{}{}
	f.col.signal()
}

func (f *filter) leaveMember(w *world, r ref) {
	m := f.members[r]
	if m == nil || m.gone {
		return
	}
	w.seq++
	m.gone, m.last, m.vals = true, w.seq, nil
	f.order.MoveToBack(m.el)
	delete(m.o.watchers, f)
	delete(f.dirty, m.o)
	f.col.signal()
}

// refresh brings the filter up to date with the store.
func (f *filter) refresh(w *world) {
	if f.stale {
		f.stale = false
		f.reselect(w)
	}
	for o := range f.dirty {
		delete(f.dirty, o)
		if o.gone {
			f.leaveMember(w, o.ref)
			continue
		}
		m := f.members[o.ref]
		if m == nil || m.gone || m.denied {
			continue
		}
		for i, p := range f.pathsOf(o.ref.Type) {
			v := f.col.s.encodeProp(o, p)
			if bytes.Equal(v, m.vals[i]) {
				continue
			}
			w.seq++
			if m.vals[i] == nil {
				m.born[i] = w.seq
			}
			m.vals[i], m.seqs[i], m.last = v, w.seq, w.seq
			f.order.MoveToBack(m.el)
		}
	}
}

// reselect walks the object set again.
func (f *filter) reselect(w *world) {
	for _, o := range f.deps {
		delete(o.deps, f)
	}
	for _, v := range f.views {
		delete(v.filters, f)
	}
	sel := newSelection(w, f.col.s, &f.spec)
	f.deps, f.views, f.simple, f.missing = sel.deps, sel.views, sel.simple, sel.missing
	for _, o := range f.deps {
		if !f.simple {
			o.deps[f] = struct{}{}
		}
	}
	for _, v := range f.views {
		v.filters[f] = struct{}{}
	}
	for r, m := range f.members {
		if !m.gone && !sel.has[r] {
			f.leaveMember(w, r)
		}
	}
	for _, o := range sel.objs {
		f.enterMember(w, o)
	}
}

// viewAdded and viewDropped are the cheap way for filters straight over views.
func (f *filter) viewAdded(v *view, r ref) {
	if !f.simple || f.stale {
		f.stale = true
		f.col.signal()
		return
	}
	w := f.col.s.w
	if o := w.get(r); o != nil {
		f.enterMember(w, o)
	}
}

func (f *filter) viewDropped(v *view, r ref) {
	if !f.simple || f.stale || len(f.views) > 1 {
		f.stale = true
		f.col.signal()
		return
	}
	f.leaveMember(f.col.s.w, r)
}

func (f *filter) detach() {
	for _, m := range f.members {
		delete(m.o.watchers, f)
	}
	for _, o := range f.deps {
		delete(o.deps, f)
	}
	for _, v := range f.views {
		delete(v.filters, f)
	}
}

// prune forgets members that left before any version that can still be asked.
func (f *filter) prune(oldest uint64) {
	for e := f.order.Front(); e != nil; {
		m, next := e.Value.(*member2), e.Next()
		if m.last > oldest {
			return
		}
		if m.gone {
			f.order.Remove(e)
			if f.members[m.ref] == m {
				delete(f.members, m.ref)
			}
		}
		e = next
	}
}
