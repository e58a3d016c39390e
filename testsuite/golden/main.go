// SPDX-License-Identifier: GPL-2.0-or-later

// Golden reads lines "TYPE<TAB>JSON", decodes each into govmomi's type of that
// name and encodes it back. A member or a _typeName that is lost on the way is
// one that vCenter would not understand: the line fails.
//
// Golden -faults DIR prints lines of the same form, for the client's decoder: an
// instance of each fault type that DIR, govmomi's vim25/types, declares.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/vmware/govmomi/vim25/types"
)

// govmomi leaves an empty version out; to the collector both mean "all".
const emptyVersion = "WaitForUpdatesExRequestType.version"

// lost says where have (what came back) does not hold all of want.
func lost(path string, want, have any) string {
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok {
			return path + ": no object"
		}
		for k, v := range w {
			got, there := h[k]
			if !there && path+"."+k == emptyVersion && v == "" {
				continue
			}
			if !there {
				return path + "." + k + ": lost"
			}
			if l := lost(path+"."+k, v, got); l != "" {
				return l
			}
		}
	case []any:
		h, ok := have.([]any)
		if !ok || len(h) != len(w) {
			if len(w) == 0 && have == nil {
				return ""
			}
			return path + ": another length"
		}
		for i := range w {
			if l := lost(fmt.Sprintf("%s[%d]", path, i), w[i], h[i]); l != "" {
				return l
			}
		}
	default:
		if !reflect.DeepEqual(want, have) {
			return fmt.Sprintf("%s: %v became %v", path, want, have)
		}
	}
	return ""
}

func check(name, text string) error {
	typ, ok := types.TypeFunc()(name)
	if !ok {
		return fmt.Errorf("govmomi has no type %s", name)
	}
	obj := reflect.New(typ).Interface()
	if err := types.NewJSONDecoder(strings.NewReader(text)).Decode(obj); err != nil {
		return err
	}
	var out bytes.Buffer
	if err := types.NewJSONEncoder(&out).Encode(obj); err != nil {
		return err
	}
	var want, have any
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		return err
	}
	if err := json.Unmarshal(out.Bytes(), &have); err != nil {
		return err
	}
	if l := lost(name, want, have); l != "" {
		return fmt.Errorf("%s", l)
	}
	return nil
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == "-faults" {
		if err := faults(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 1<<24)
	good, bad := 0, 0
	for in.Scan() {
		name, text, ok := strings.Cut(in.Text(), "\t")
		err := fmt.Errorf("no tab in the line")
		if ok {
			err = check(name, text)
		}
		if err != nil {
			bad++
			fmt.Printf("not ok %s: %v\n  %s\n", name, err, text)
			continue
		}
		good++
	}
	if err := in.Err(); err != nil {
		fmt.Println(err)
		bad++
	}
	fmt.Printf("%d bodies good, %d bad\n", good, bad)
	if bad > 0 || good == 0 {
		os.Exit(1)
	}
}
