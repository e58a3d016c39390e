// SPDX-License-Identifier: GPL-2.0-or-later
// shape.go: tells whether a JSON document fits a Go type, strictly. Used for
// our own files (plainRules) and for what clients of the VI JSON endpoint send
// (wireRules), where a declared base type demands a _typeName. It never
// decodes; it says the path of what is wrong.

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/vmware/govmomi/vim25/types"
)

type rules int

const (
	plainRules rules = iota
	wireRules
)

func parseJSON(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var doc any
	if err := dec.Decode(&doc); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("something follows the JSON document")
	}
	return doc, nil
}

// member is what one JSON member of a type decodes into.
type member struct {
	index    []int
	typ      reflect.Type
	optional bool
}

var memberCache sync.Map

// membersOf maps JSON names to fields, embedded structs flattened.
func membersOf(t reflect.Type) map[string]member {
	if m, ok := memberCache.Load(t); ok {
		return m.(map[string]member)
	}
	res := map[string]member{}
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		tag := strings.Split(f.Tag.Get("json"), ",")
		if f.Anonymous && tag[0] == "" {
			for n, m := range membersOf(f.Type) {
				if _, ok := res[n]; !ok {
					m.index = append([]int{i}, m.index...)
					res[n] = m
				}
			}
			continue
		}
		if tag[0] == "-" || tag[0] == "" || f.PkgPath != "" {
			continue
		}
		opt := false
		for _, o := range tag[1:] {
			opt = opt || o == "omitempty"
		}
		res[tag[0]] = member{index: []int{i}, typ: f.Type, optional: opt}
	}
	memberCache.Store(t, res)
	return res
}

var (
	timeType = reflect.TypeOf(time.Time{})
	umType   = reflect.TypeOf((*json.Unmarshaler)(nil)).Elem()
	anyType  = reflect.TypeOf((*any)(nil)).Elem()
)

func bad(path, format string, a ...any) error {
	if path == "" {
		path = "(root)"
	}
	return fmt.Errorf("%s: %s", path, fmt.Sprintf(format, a...))
}

func checkShape(v any, t reflect.Type, path string, r rules) error {
	for t.Kind() == reflect.Pointer {
		if v == nil {
			return nil
		}
		t = t.Elem()
	}
	if t == timeType {
		return checkTime(v, path)
	}
	if r == plainRules && reflect.PointerTo(t).Implements(umType) {
		return nil
	}
	switch t.Kind() {
	case reflect.Interface:
		return checkInterface(v, t, path, r)
	case reflect.Struct:
		return checkStruct(v, t, path, r)
	case reflect.Slice:
		return checkSlice(v, t, path, r)
	case reflect.Map:
		m, ok := v.(map[string]any)
		if !ok {
			return bad(path, "an object is expected")
		}
		for k, e := range m {
			if err := checkShape(e, t.Elem(), join(path, k), r); err != nil {
				return err
			}
		}
		return nil
	}
	return checkScalar(v, t, path)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func checkTime(v any, path string) error {
	s, ok := v.(string)
	if ok {
		_, err := time.Parse(time.RFC3339Nano, s)
		ok = err == nil
	}
	if !ok {
		return bad(path, "a dateTime is expected")
	}
	return nil
}

func checkScalar(v any, t reflect.Type, path string) error {
	ok := false
	switch t.Kind() {
	case reflect.String:
		_, ok = v.(string)
	case reflect.Bool:
		_, ok = v.(bool)
	case reflect.Float32, reflect.Float64:
		_, ok = v.(json.Number)
	default:
		if n, is := v.(json.Number); is {
			i, err := n.Int64()
			ok = err == nil && !reflect.New(t).Elem().CanUint() && !reflect.New(t).Elem().OverflowInt(i) ||
				err == nil && reflect.New(t).Elem().CanUint() && i >= 0 && !reflect.New(t).Elem().OverflowUint(uint64(i))
		}
	}
	if !ok {
		return bad(path, "a value of type %s is expected", t)
	}
	return nil
}

func checkSlice(v any, t reflect.Type, path string, r rules) error {
	if s, ok := v.(string); ok && t.Elem().Kind() == reflect.Uint8 {
		_ = s
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		return bad(path, "an array is expected")
	}
	for i, e := range list {
		if err := checkShape(e, t.Elem(), fmt.Sprintf("%s[%d]", path, i), r); err != nil {
			return err
		}
	}
	return nil
}

func checkStruct(v any, t reflect.Type, path string, r rules) error {
	m, ok := v.(map[string]any)
	if !ok {
		return bad(path, "an object is expected")
	}
	members := membersOf(t)
	for k, e := range m {
		if k == "_typeName" && r == wireRules {
			if err := checkName(e, t, path); err != nil {
				return err
			}
			continue
		}
		f, ok := members[k]
		if !ok {
			return bad(join(path, k), "unknown member of %s", t.Name())
		}
		if e == nil && r == wireRules {
			continue
		}
		if err := checkShape(e, f.typ, join(path, k), r); err != nil {
			return err
		}
	}
	if r == wireRules {
		for k, f := range members {
			if _, ok := m[k]; !ok && !f.optional {
				return bad(join(path, k), "missing, %s demands it", t.Name())
			}
		}
	}
	return nil
}

// checkName: a _typeName that is given must be the declared type's, or its
// request type's for the root.
func checkName(v any, t reflect.Type, path string) error {
	name, ok := v.(string)
	if !ok {
		return bad(join(path, "_typeName"), "a string is expected")
	}
	if path == "" || name == t.Name() || name == strings.TrimPrefix(t.Name(), "Base") {
		return nil
	}
	return bad(join(path, "_typeName"), "%s where %s is declared", name, t.Name())
}

// checkInterface: either an Any slot, or a base type with subtypes, where
// _typeName says which.
func checkInterface(v any, t reflect.Type, path string, r rules) error {
	if r == plainRules {
		return nil
	}
	m, ok := v.(map[string]any)
	if !ok {
		return bad(path, "an object with _typeName is expected")
	}
	name, ok := m["_typeName"].(string)
	if !ok {
		return bad(path, "_typeName is missing, %s has subtypes", t.Name())
	}
	if boxed, ok := m["_value"]; ok && (t == anyType || t.NumMethod() == 0) {
		return checkBox(name, boxed, path)
	}
	real, ok := types.TypeFunc()(name)
	if !ok {
		return bad(join(path, "_typeName"), "unknown type %q", name)
	}
	if t.NumMethod() > 0 && !reflect.PointerTo(real).Implements(t) {
		return bad(join(path, "_typeName"), "%s is no %s", name, t.Name())
	}
	return checkStruct(v, real, path, r)
}

func checkBox(name string, v any, path string) error {
	prim := map[string]reflect.Type{
		"string": reflect.TypeOf(""), "boolean": reflect.TypeOf(true),
		"byte": reflect.TypeOf(uint8(0)), "short": reflect.TypeOf(int16(0)),
		"int": reflect.TypeOf(int32(0)), "long": reflect.TypeOf(int64(0)),
		"float": reflect.TypeOf(float32(0)), "double": reflect.TypeOf(0.0),
		"dateTime": timeType, "binary": reflect.TypeOf([]byte{}),
	}
	t, ok := prim[name]
	if !ok {
		t, ok = types.TypeFunc()(name)
		if ok && t.Kind() == reflect.Struct && strings.HasPrefix(name, "ArrayOf") && t.NumField() == 1 {
			t = t.Field(0).Type
		}
	}
	if !ok {
		return bad(join(path, "_typeName"), "unknown type %q", name)
	}
	return checkShape(v, t, join(path, "_value"), wireRules)
}
