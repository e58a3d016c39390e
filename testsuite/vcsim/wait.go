// SPDX-License-Identifier: GPL-2.0-or-later
// wait.go: WaitForUpdatesEx. Versions are true: a non-truncated one can be
// asked again and is recomputed, a truncated one is good for one call, one that
// was never given out is InvalidCollectorVersion. Waits on one collector are
// serialised; the client's disconnect, CancelWaitForUpdates, the collector's
// end and the session's end stop a wait.

package main

import (
	"bytes"
	"fmt"
	"sort"
	"strconv"
	"time"

	"github.com/vmware/govmomi/vim25/types"
)

const pageSize = 100

// pageItem is one ready ObjectUpdate of one filter.
type pageItem struct {
	f    *filter
	text []byte
	seq  uint64
}

func waitForUpdatesEx(c *call) (any, error) {
	req := c.req.(*types.WaitForUpdatesEx)
	col := c.s.collectors[c.this]
	if col == nil {
		return nil, notFound(c.this)
	}
	var end <-chan time.Time
	limit := pageSize
	if o := req.Options; o != nil {
		if o.MaxWaitSeconds != nil {
			end = time.After(time.Duration(*o.MaxWaitSeconds) * time.Second)
		}
		if o.MaxObjectUpdates > 0 && int(o.MaxObjectUpdates) < pageSize {
			limit = int(o.MaxObjectUpdates)
		}
	}
	c.w.mu.Unlock()
	defer c.w.mu.Lock()
	if err := col.takeTurn(c); err != nil {
		return nil, err
	}
	defer func() { <-col.turn }()
	return col.wait(c, req.Version, limit, end)
}

func (col *collector) takeTurn(c *call) error {
	select {
	case col.turn <- struct{}{}:
		return nil
	case <-c.ctx.Done():
		return errGone
	case <-c.s.done:
		return canceled()
	}
}

// wait runs without w.mu and takes it for each look.
func (col *collector) wait(c *call, text string, limit int, end <-chan time.Time) (any, error) {
	w := c.w
	w.mu.Lock()
	ver, err := col.accept(w, text)
	cancel := col.cancel
	w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	for {
		w.mu.Lock()
		if col.closed {
			w.mu.Unlock()
			return nil, canceled()
		}
		res := col.answer(w, ver, limit)
		w.mu.Unlock()
		if res != nil {
			return res, nil
		}
		select {
		case <-col.wake:
		case <-end:
			return nil, nil
		case <-cancel:
			return nil, canceled()
		case <-c.s.done:
			return nil, canceled()
		case <-c.ctx.Done():
			return nil, errGone
		}
	}
}

// accept turns a version string into its meaning and forgets older ones.
func (col *collector) accept(w *world, text string) (*version, error) {
	if text == "" {
		col.versions = map[string]*version{}
		return &version{}, nil
	}
	v := col.versions[text]
	if v == nil {
		return nil, &wireFault{fault: &types.InvalidCollectorVersion{}, text: "The collector version is invalid: " + text}
	}
	if v.truncated {
		delete(col.versions, text)
		return v, nil
	}
	for k, old := range col.versions {
		if old.id < v.id {
			delete(col.versions, k)
		}
	}
	for _, f := range col.filters {
		f.prune(v.seq)
	}
	w.acknowledged(v.seq)
	return v, nil
}

// answer computes the updates since a version, or nil when there are none.
func (col *collector) answer(w *world, ver *version, limit int) any {
	items, seq := ver.rest, ver.seq
	if !ver.truncated {
		var missing bool
		for _, f := range col.filters {
			f.refresh(w)
			missing = missing || len(f.missing) > 0 && ver.seq == 0
		}
		for _, f := range col.filters {
			items = append(items, f.since(ver.seq)...)
		}
		if len(items) == 0 && !missing {
			return nil
		}
		seq = w.seq
	}
	next := &version{seq: seq}
	if len(items) > limit {
		next.truncated, next.rest, items = true, items[limit:], items[:limit]
	}
	col.lastID++
	next.id = col.lastID
	name := strconv.Itoa(next.id)
	if next.truncated {
		name = "P" + name
	}
	col.versions[name] = next
	return rawJSON(col.encode(name, next.truncated, items, ver))
}

func (col *collector) encode(name string, truncated bool, items []pageItem, ver *version) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"_typeName":"UpdateSet","version":%q,"filterSet":[`, name)
	first := true
	for _, f := range col.filters {
		var list []pageItem
		for _, it := range items {
			if it.f == f {
				list = append(list, it)
			}
		}
		missing := f.missing
		if ver.seq != 0 || ver.truncated {
			missing = nil
		}
		if len(list) == 0 && len(missing) == 0 {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		fmt.Fprintf(&b, `{"_typeName":"PropertyFilterUpdate","filter":%s`, encodeRef(f.o.ref))
		if len(list) > 0 {
			b.WriteString(`,"objectSet":[`)
			for i, it := range list {
				if i > 0 {
					b.WriteByte(',')
				}
				b.Write(it.text)
			}
			b.WriteByte(']')
		}
		writeMissing(&b, missing)
		b.WriteByte('}')
	}
	fmt.Fprintf(&b, `],"truncated":%v}`, truncated)
	return b.Bytes()
}

func writeMissing(b *bytes.Buffer, missing []ref) {
	if len(missing) == 0 {
		return
	}
	b.WriteString(`,"missingSet":[`)
	for i, r := range missing {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(b, `{"_typeName":"MissingObject","obj":%s,"fault":%s}`, encodeRef(r),
			encodeAny(localized(&types.ManagedObjectNotFound{Obj: r}, "The object has already been deleted or has not been completely created")))
	}
	b.WriteByte(']')
}

// since lists a filter's updates after a change number, oldest first.
func (f *filter) since(seq uint64) []pageItem {
	var res []pageItem
	for e := f.order.Back(); e != nil; e = e.Prev() {
		m := e.Value.(*member2)
		if m.last <= seq {
			break
		}
		if t := f.update(m, seq); t != nil {
			res = append(res, pageItem{f: f, text: t, seq: m.last})
		}
	}
	sort.SliceStable(res, func(i, j int) bool { return res[i].seq < res[j].seq })
	return res
}

// update is one ObjectUpdate as JSON; nil when the client needn't know.
func (f *filter) update(m *member2, seq uint64) []byte {
	kind := "modify"
	switch {
	case m.gone && (m.enter > seq || seq == 0):
		return nil
	case m.gone:
		kind = "leave"
	case m.enter > seq:
		kind = "enter"
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"_typeName":"ObjectUpdate","kind":%q,"obj":%s`, kind, encodeRef(m.ref))
	if kind != "leave" {
		b.WriteString(`,"changeSet":[`)
		f.writeChanges(&b, m, seq, kind)
		b.WriteByte(']')
		if m.denied {
			b.Write(deniedPaths(m.o, f.pathsOf(m.ref.Type)))
		}
	}
	b.WriteByte('}')
	return b.Bytes()
}

func (f *filter) writeChanges(b *bytes.Buffer, m *member2, seq uint64, kind string) {
	first := true
	for i, p := range f.pathsOf(m.ref.Type) {
		if kind == "enter" && m.vals[i] == nil || kind == "modify" && m.seqs[i] <= seq {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		op := "assign"
		keyed := p.segs[len(p.segs)-1].keyed
		switch {
		case m.vals[i] == nil && keyed:
			op = "remove"
		case m.vals[i] == nil:
			op = "indirectRemove"
		case keyed && kind == "modify" && m.born[i] > seq:
			op = "add"
		}
		fmt.Fprintf(b, `{"_typeName":"PropertyChange","name":%s,"op":%q`, quote(p.text), op)
		if m.vals[i] != nil {
			b.WriteString(`,"val":`)
			b.Write(m.vals[i])
		}
		b.WriteByte('}')
	}
}
