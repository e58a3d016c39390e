// SPDX-License-Identifier: GPL-2.0-or-later

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"reflect"
	"sort"
	"strings"
	"time"

	"github.com/vmware/govmomi/vim25/types"
)

// Of a fault within a fault within a fault no more is filled in.
const faultDepth = 4

var (
	methodFault = reflect.TypeOf((*types.BaseMethodFault)(nil)).Elem()
	timeType    = reflect.TypeOf(time.Time{})
)

// faultTypes lists the fault types that dir (govmomi's vim25/types) declares.
// InvalidArgumentFault is InvalidArgument's element in SOAP, and no type.
func faultTypes(dir string) ([]string, error) {
	noTests := func(i fs.FileInfo) bool { return !strings.HasSuffix(i.Name(), "_test.go") }
	packages, err := parser.ParseDir(token.NewFileSet(), dir, noTests, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var names []string
	find := types.TypeFunc()
	for _, p := range packages {
		ast.Inspect(p, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			name := spec.Name.Name
			typ, ok := find(name)
			if !ok || typ.Name() != name || typ.Kind() != reflect.Struct || !reflect.PointerTo(typ).Implements(methodFault) {
				return true
			}
			of, ok := find(strings.TrimSuffix(name, "Fault"))
			if ok && of != typ && typ.ConvertibleTo(of) {
				return true
			}
			names = append(names, name)
			return true
		})
	}
	sort.Strings(names)
	return names, nil
}

// fill sets every member. A slot for several types takes the plainest of them.
func fill(v reflect.Value, depth int) error {
	if v.Type() == timeType {
		v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
		return nil
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := 0; i < v.NumField(); i++ {
			if err := fill(v.Field(i), depth); err != nil {
				return fmt.Errorf("%s.%w", v.Type().Field(i).Name, err)
			}
		}
	case reflect.Pointer:
		if depth >= faultDepth {
			return nil
		}
		v.Set(reflect.New(v.Type().Elem()))
		return fill(v.Elem(), depth+1)
	case reflect.Slice:
		if depth >= faultDepth {
			return nil
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		return fill(v.Index(0), depth+1)
	case reflect.Interface:
		return fillInterface(v, depth)
	case reflect.String:
		v.SetString("text of " + v.Type().Name())
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint8:
		v.SetUint(7)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(1.5)
	default:
		return fmt.Errorf("%s: what is to be filled in?", v.Type())
	}
	return nil
}

func fillInterface(v reflect.Value, depth int) error {
	if v.NumMethod() == 0 { // a slot for anything
		v.Set(reflect.ValueOf("anything"))
		return nil
	}
	typ, ok := types.TypeFunc()(strings.TrimPrefix(v.Type().Name(), "Base"))
	if v.Type() == methodFault {
		typ, ok = reflect.TypeOf(types.SystemError{}), true
	}
	if !ok || !reflect.PointerTo(typ).Implements(v.Type()) {
		return fmt.Errorf("%s: no type for it", v.Type())
	}
	if depth >= faultDepth && v.Type() != methodFault {
		return nil
	}
	x := reflect.New(typ)
	v.Set(x)
	if depth >= faultDepth {
		return nil
	}
	return fill(x.Elem(), depth+1)
}

// flat puts the fault itself, with its text, in the place of each wrapper.
func flat(v any) any {
	switch x := v.(type) {
	case []any:
		for i := range x {
			x[i] = flat(x[i])
		}
	case map[string]any:
		for k := range x {
			x[k] = flat(x[k])
		}
		if inner, ok := x["fault"].(map[string]any); ok && x["_typeName"] == "LocalizedMethodFault" {
			inner["faultstring"] = x["localizedMessage"]
			return inner
		}
	}
	return v
}

// faults prints "TYPE<TAB>JSON" for each fault type, nested and flat.
func faults(dir string) error {
	names, err := faultTypes(dir)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	for _, name := range names {
		typ, _ := types.TypeFunc()(name)
		f := reflect.New(typ)
		if err := fill(f.Elem(), 0); err != nil {
			return fmt.Errorf("%s.%w", name, err)
		}
		var nested bytes.Buffer
		wrapped := types.LocalizedMethodFault{Fault: f.Interface().(types.BaseMethodFault), LocalizedMessage: "It failed."}
		if err := types.NewJSONEncoder(&nested).Encode(wrapped); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		var doc any
		if err := json.Unmarshal(nested.Bytes(), &doc); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		text, err := json.Marshal(flat(doc))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(out, "%s\t%s\n%s\t%s\n", name, bytes.TrimSpace(nested.Bytes()), name, text)
	}
	fmt.Fprintf(os.Stderr, "%d fault types generated, in 2 forms\n", len(names))
	if len(names) == 0 {
		return fmt.Errorf("%s declares no fault", dir)
	}
	return out.Flush()
}
