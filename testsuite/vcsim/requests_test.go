// SPDX-License-Identifier: GPL-2.0-or-later

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatChangesAVMIsLogged(t *testing.T) {
	c := start(t, nil).login()
	file := filepath.Join(t.TempDir(), "requests")
	c.s.w.mu.Lock()
	err := c.s.w.openRequestLog(file)
	c.s.w.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	vm := c.ourVM("n1", "esx02", uuidA)
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	c.do("powerOff", obj{"vm": "n1", "wait": true}) // not a client's
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(lines) != 2 {
		t.Fatal(lines)
	}
	var clone, on obj
	for i, v := range []*obj{&clone, &on} {
		if err := json.Unmarshal([]byte(lines[i]), v); err != nil {
			t.Fatal(err)
		}
	}
	if clone["method"] != "CloneVM_Task" || clone["of"] != "VirtualMachine rhel9-ofed" {
		t.Fatal(clone)
	}
	args := clone["args"].(obj)
	where := args["spec"].(obj)["location"].(obj)
	if args["folder"] != "Folder slurm" || args["name"] != "n1" || where["host"] != "HostSystem esx02" {
		t.Fatal(args)
	}
	if on["method"] != "PowerOnVM_Task" || on["of"] != "VirtualMachine n1" || on["args"] != nil {
		t.Fatal(on)
	}
}
