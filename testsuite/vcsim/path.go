// SPDX-License-Identifier: GPL-2.0-or-later
// path.go: property paths such as runtime.powerState or
// config.extraConfig["k"]: whether the declared type has them, and their value
// in an object, encoded as the wire wants it.

package main

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/vmware/govmomi/vim25/types"
)

type seg struct {
	name  string
	key   string
	keyed bool
}

type propPath struct {
	text string
	segs []seg
}

func (p *propPath) top() string { return p.segs[0].name }

// splitPath cuts a path at its dots, but not inside ["..."].
func splitPath(text string) (*propPath, bool) {
	p := &propPath{text: text}
	rest := text
	for rest != "" {
		i := strings.IndexAny(rest, ".[")
		if i < 0 {
			p.segs = append(p.segs, seg{name: rest})
			break
		}
		s := seg{name: rest[:i]}
		if rest[i] == '[' {
			end := strings.Index(rest, "]")
			if len(rest) > i+1 && rest[i+1] == '"' {
				if end = strings.Index(rest, "\"]"); end >= 0 {
					end++
				}
			}
			if end < 0 {
				return nil, false
			}
			s.key, s.keyed = strings.Trim(rest[i+1:end], "\""), true
			rest = strings.TrimPrefix(rest[end+1:], ".")
		} else {
			rest = rest[i+1:]
			if rest == "" {
				return nil, false
			}
		}
		p.segs = append(p.segs, s)
	}
	for _, s := range p.segs {
		if s.name == "" {
			return nil, false
		}
	}
	return p, len(p.segs) > 0
}

// baseStruct gives the struct that a Base interface declares.
func baseStruct(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Interface && strings.HasPrefix(t.Name(), "Base") {
		if r, ok := types.TypeFunc()(t.Name()[4:]); ok {
			return r
		}
	}
	return t
}

var pathCache sync.Map

// declaredPath parses a path and checks it against a managed object type.
func declaredPath(kind, text string) (*propPath, bool) {
	id := kind + "\x00" + text
	if p, ok := pathCache.Load(id); ok {
		return p.(*propPath), true
	}
	t, ok := kinds[kind]
	p, ok2 := splitPath(text)
	if !ok || !ok2 {
		return nil, false
	}
	for i, s := range p.segs {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t = baseStruct(t); t.Kind() != reflect.Struct || t == timeType {
			return nil, false
		}
		m, ok := membersOf(t)[s.name]
		if !ok || i == 0 && s.name == "self" {
			return nil, false
		}
		if t = m.typ; s.keyed {
			if t.Kind() != reflect.Slice {
				return nil, false
			}
			t = t.Elem()
		}
	}
	pathCache.Store(id, p)
	return p, true
}

// get finds the value of a path; false when it is unset.
func (p *propPath) get(root reflect.Value) (any, bool) {
	v := root
	for i, s := range p.segs {
		for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
			if v.IsNil() {
				return nil, false
			}
			v = v.Elem()
		}
		m, ok := membersOf(v.Type())[s.name]
		if !ok {
			return nil, false
		}
		v = v.FieldByIndex(m.index)
		if s.keyed {
			if v, ok = findKeyed(v, s.key); !ok {
				return nil, false
			}
		} else if m.optional && v.IsZero() && v.Kind() != reflect.Struct {
			return nil, false
		} else if i < len(p.segs)-1 && v.Kind() == reflect.Slice {
			return nil, false
		}
	}
	return leaf(v)
}

func leaf(v reflect.Value) (any, bool) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil, false
		}
		if e := v.Elem(); v.Kind() == reflect.Pointer && (e.Kind() != reflect.Struct || e.Type() == timeType) {
			v = e // the type's name on the wire is that of the value
		}
	case reflect.Slice:
		if v.IsNil() {
			v = reflect.MakeSlice(v.Type(), 0, 0)
		}
	}
	return v.Interface(), true
}

func findKeyed(list reflect.Value, key string) (reflect.Value, bool) {
	for i := 0; i < list.Len(); i++ {
		e := list.Index(i)
		s := e
		for s.Kind() == reflect.Pointer || s.Kind() == reflect.Interface {
			s = s.Elem()
		}
		if s.Kind() != reflect.Struct {
			return e, false
		}
		m, ok := membersOf(s.Type())["key"]
		if ok && fmt.Sprint(s.FieldByIndex(m.index).Interface()) == key {
			return e, true
		}
	}
	return list, false
}

// encodeAny writes a value as it stands in an Any slot.
func encodeAny(v any) []byte {
	var buf bytes.Buffer
	v = boxArray(v)
	if err := types.NewJSONEncoder(&buf).Encode(types.DynamicProperty{Name: "x", Val: v}); err != nil {
		panic(fmt.Sprintf("encode %T: %v", v, err))
	}
	b := bytes.TrimSpace(buf.Bytes())
	i := bytes.Index(b, []byte(`"val":`))
	return append([]byte(nil), b[i+6:len(b)-1]...)
}

// boxArray puts a slice into its ArrayOf type.
func boxArray(v any) any {
	rv := reflect.ValueOf(v)
	if rv.Kind() != reflect.Slice {
		return v
	}
	name := rv.Type().Elem().Name()
	if rv.Type().Elem().Kind() == reflect.Interface {
		name = strings.TrimPrefix(name, "Base")
	}
	if alias, ok := map[string]string{"string": "String", "int32": "Int", "int64": "Long", "uint8": "Byte",
		"int16": "Short", "bool": "Boolean", "": "AnyType"}[name]; ok {
		name = alias
	}
	t, ok := types.TypeFunc()("ArrayOf" + name)
	if !ok {
		panic("no ArrayOf" + name)
	}
	box := reflect.New(t).Elem()
	box.Field(0).Set(rv)
	return box.Interface()
}

// encodeProp is the value of a path as it stands in an Any slot for a session,
// or nil.
func (s *session) encodeProp(o *object, p *propPath) []byte {
	if o.hidden[p.top()] || !s.w.reads(s, o, p.top()) {
		return nil
	}
	v, ok := p.get(o.val)
	if !ok {
		return nil
	}
	return encodeAny(s.w.filtered(s, v))
}
