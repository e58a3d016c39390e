// SPDX-License-Identifier: GPL-2.0-or-later
// retrieve.go: RetrievePropertiesEx and its pages, filters' life, and GET of a
// property.

package main

import (
	"bytes"
	"cmp"
	"container/list"
	"fmt"
	"strconv"

	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

// pagedRead is a read of which pages are left.
type pagedRead struct {
	objs  []readItem
	limit int
}

type readItem struct {
	o     *object
	paths []*propPath
	s     *session
}

func (c *call) collector() (*collector, error) {
	if col := c.s.collectors[c.this]; col != nil {
		return col, nil
	}
	return nil, notFound(c.this)
}

func retrievePropertiesEx(c *call) (any, error) {
	req := c.req.(*types.RetrievePropertiesEx)
	items, err := c.readItems(req.SpecSet)
	if err != nil {
		return nil, err
	}
	col, err := c.collector()
	if err != nil {
		return nil, err
	}
	limit := pageSize
	if n := int(req.Options.MaxObjects); n > 0 && n < limit {
		limit = n
	}
	return col.page(&pagedRead{objs: items, limit: limit}), nil
}

func retrieveProperties(c *call) (any, error) {
	req := c.req.(*types.RetrieveProperties)
	items, err := c.readItems(req.SpecSet)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	writeObjects(&b, items)
	return rawJSON(b.Bytes()), nil
}

func (c *call) readItems(specs []types.PropertyFilterSpec) ([]readItem, error) {
	var items []readItem
	for i := range specs {
		spec := &specs[i]
		if err := checkSpec(spec); err != nil {
			return nil, err
		}
		sel := newSelection(c.w, c.s, spec)
		if len(sel.missing) > 0 && !isTrue(spec.ReportMissingObjectsInResults) {
			return nil, notFound(sel.missing[0])
		}
		for _, o := range sel.objs {
			if wanted(spec.PropSet, o.ref.Type) {
				c.w.beforeRead(c.s, o)
				items = append(items, readItem{o, specPaths(spec.PropSet, o.ref.Type), c.s})
			}
		}
	}
	return items, nil
}

// page answers with the next objects of a read and keeps the rest.
func (col *collector) page(rd *pagedRead) any {
	if len(rd.objs) == 0 {
		return nil
	}
	now := rd.objs
	var b bytes.Buffer
	b.WriteString(`{"_typeName":"RetrieveResult"`)
	if len(now) > rd.limit {
		now, rd.objs = now[:rd.limit], now[rd.limit:]
		col.readID++
		token := strconv.Itoa(col.readID)
		col.reads[token] = rd
		fmt.Fprintf(&b, `,"token":%q`, token)
	}
	b.WriteString(`,"objects":`)
	writeObjects(&b, now)
	b.WriteByte('}')
	return rawJSON(b.Bytes())
}

func writeObjects(b *bytes.Buffer, items []readItem) {
	b.WriteByte('[')
	sep := ""
	for _, it := range items {
		if it.o.gone {
			continue
		}
		fmt.Fprintf(b, `%s{"_typeName":"ObjectContent","obj":%s`, sep, encodeRef(it.o.ref))
		sep = ","
		open := false
		if !it.s.w.sees(it.s, it.o) {
			b.Write(deniedPaths(it.o, it.paths))
			b.WriteByte('}')
			continue
		}
		var denied []*propPath
		for _, p := range it.paths {
			if !it.s.w.reads(it.s, it.o, p.top()) {
				denied = append(denied, p)
				continue
			}
			v := it.s.encodeProp(it.o, p)
			if v == nil {
				continue
			}
			if open {
				b.WriteByte(',')
			} else {
				b.WriteString(`,"propSet":[`)
			}
			open = true
			fmt.Fprintf(b, `{"_typeName":"DynamicProperty","name":%s,"val":%s}`, quote(p.text), v)
		}
		if open {
			b.WriteByte(']')
		}
		b.Write(deniedPaths(it.o, denied))
		b.WriteByte('}')
	}
	b.WriteByte(']')
}

// deniedPaths is the missingSet of what may not be read of an object.
func deniedPaths(o *object, paths []*propPath) []byte {
	var b bytes.Buffer
	for i, p := range paths {
		f := asFault(deny([]need{{o, cmp.Or(readsBy(o, p.top()), readPriv)}}))
		text := encodeAny(localized(f.fault, f.text))
		b.WriteString([]string{`,"missingSet":[`, ","}[min(i, 1)])
		fmt.Fprintf(&b, `{"_typeName":"MissingProperty","path":%s,"fault":%s}`, quote(p.text), text)
	}
	if len(paths) > 0 {
		b.WriteByte(']')
	}
	return b.Bytes()
}

func continueRetrieve(c *call) (any, error) {
	req := c.req.(*types.ContinueRetrievePropertiesEx)
	col, err := c.collector()
	if err != nil {
		return nil, err
	}
	rd := col.reads[req.Token]
	if rd == nil {
		return nil, invalidArgument("token")
	}
	delete(col.reads, req.Token)
	return col.page(rd), nil
}

func cancelRetrieve(c *call) (any, error) {
	req := c.req.(*types.CancelRetrievePropertiesEx)
	col, err := c.collector()
	if err != nil {
		return nil, err
	}
	if col.reads[req.Token] == nil {
		return nil, invalidArgument("token")
	}
	delete(col.reads, req.Token)
	return nil, nil
}

func createPropertyCollector(c *call) (any, error) {
	col := c.s.newCollector(c.w, ref{Type: "PropertyCollector", Value: c.s.scopedID()})
	return col.o.ref, nil
}

func destroyPropertyCollector(c *call) (any, error) {
	col, err := c.collector()
	if err != nil {
		return nil, err
	}
	col.close(c.w)
	delete(c.s.collectors, c.this)
	return nil, nil
}

func (col *collector) close(w *world) {
	for _, f := range col.filters {
		f.detach()
		delete(w.objs, f.o.ref)
	}
	col.filters, col.closed = nil, true
	col.cancelWait()
}

func createFilter(c *call) (any, error) {
	req := c.req.(*types.CreateFilter)
	col, err := c.collector()
	if err != nil {
		return nil, err
	}
	if err := checkSpec(&req.Spec); err != nil {
		return nil, err
	}
	f := &filter{col: col, spec: req.Spec, paths: map[string][]*propPath{}, tops: map[string]map[string]bool{},
		members: map[ref]*member2{}, order: list.New(), dirty: map[*object]struct{}{}}
	f.reselect(c.w)
	if len(f.missing) > 0 && !isTrue(req.Spec.ReportMissingObjectsInResults) {
		f.detach()
		return nil, notFound(f.missing[0])
	}
	p := &mo.PropertyFilter{Spec: req.Spec, PartialUpdates: req.PartialUpdates}
	p.Self = ref{Type: "PropertyFilter", Value: c.s.scopedID()}
	f.o = c.w.addScoped(p.Self, p)
	c.s.filters[p.Self] = f
	col.filters = append(col.filters, f)
	col.signal()
	return p.Self, nil
}

func destroyFilter(c *call) (any, error) {
	f := c.s.filters[c.this]
	if f == nil {
		return nil, notFound(c.this)
	}
	f.detach()
	delete(c.s.filters, c.this)
	delete(c.w.objs, c.this)
	for i, x := range f.col.filters {
		if x == f {
			f.col.filters = append(f.col.filters[:i:i], f.col.filters[i+1:]...)
		}
	}
	return nil, nil
}

func cancelWaitForUpdates(c *call) (any, error) {
	col, err := c.collector()
	if err != nil {
		return nil, err
	}
	col.cancelWait()
	return nil, nil
}
