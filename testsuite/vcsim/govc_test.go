// SPDX-License-Identifier: GPL-2.0-or-later
// govc_test.go: govc lists the same VMs, devices and hosts over SOAP and over VI JSON
// as govmomi's own simulator shows (stock_test.go), and changes VMs over both.

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
	"testing"
)

func buildGovc(t *testing.T) string {
	bin := filepath.Join(t.TempDir(), "govc")
	if out, err := exec.Command("go", "build", "-o", bin, "./govc").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return bin
}

// govc runs a command at a URL ("": the server's); its output is brought into a form
// that can be compared.
func govc(t *testing.T, c *client, bin, jsonMode, at string, args ...string) string {
	t.Helper()
	if at == "" {
		at = c.s.url()
	}
	cmd := exec.Command(bin, args...)
	cmd.Env = append(os.Environ(), "GOVC_URL="+at+"/sdk", "GOVC_USERNAME=slurm@vsphere.local", "GOVC_PASSWORD=secret",
		"GOVC_TLS_CA_CERTS="+c.s.w.dir+"/ca.pem", "GOVC_PERSIST_SESSION=false", "GOVC_VIM_VERSION=8.0.3.0", "GOVC_VI_JSON="+jsonMode,
		"GOVMOMI_HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("govc %v: %v: %s", args, err, out)
	}
	var v any
	if json.Unmarshal(out, &v) == nil {
		b, _ := json.MarshalIndent(prune(v), "", " ")
		return string(b)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// prune drops what is empty: SOAP can't tell an empty list from none.
func prune(v any) any {
	switch x := v.(type) {
	case map[string]any:
		for k, e := range x {
			if e = prune(e); e == nil {
				delete(x, k)
			} else {
				x[k] = e
			}
		}
		if len(x) == 0 {
			return nil
		}
	case []any:
		for i := range x {
			x[i] = prune(x[i])
		}
		if len(x) == 0 {
			return nil
		}
	}
	return v
}

// governed makes a VM with an SR-IOV NIC by govc, and powers it on and off.
func governed(t *testing.T, c *client, bin, jsonMode, vm string) {
	t.Helper()
	do := func(args ...string) { t.Helper(); govc(t, c, bin, jsonMode, "", args...) }
	do("vm.clone", "-vm", "rhel9", "-on=false", "-host", "esx02", "-pool", "slurm", "-folder", "slurm", vm)
	do("vm.change", "-vm", "slurm/"+vm, "-e", "guestinfo.x=1", "-memory-pin=true")
	do("vm.network.add", "-vm", "slurm/"+vm, "-net", "SRIOV-ROCE-PG", "-net.adapter", "sriov")
	do("vm.power", "-on", "slurm/"+vm)
	if l := govc(t, c, bin, jsonMode, "", "vm.info", "-e", "slurm/"+vm); !strings.Contains(l, "poweredOn") || !strings.Contains(l, "guestinfo.x") {
		t.Fatal(l)
	}
	do("vm.power", "-off", "slurm/"+vm)
	do("vm.destroy", "slurm/"+vm)
}

func TestGovcSeesTheSameOverSoapAndJson(t *testing.T) {
	c := start(t, nil).login()
	bin := buildGovc(t)
	a := c.clone("n1", "esx03", c.sriov(nil))
	c.ok(c.vmOp(a, "PowerOnVM_Task", nil))
	gone := c.clone("n2", "esx03", obj{})
	same := func() {
		t.Helper()
		other := stock(t, c.s.w)
		for _, args := range [][]string{{"find", "/"}, {"ls", "-l", "/DC0/vm/slurm"}, {"vm.info", "-json", "*"}, {"vm.info", "-json", "slurm/*"},
			{"device.info", "-json", "-vm", "slurm/n1"}, {"device.info", "-json", "-vm", "foreign1"}, {"device.ls", "-vm", "slurm/n1"},
			{"host.info", "-json", "*"}, {"object.collect", "-json", "-s", "host/HPC1/esx01", "config.pciPassthruInfo"},
			{"object.collect", "-json", "-s", "vm/slurm/n1", "config.hardware.device"}, {"object.collect", "-json", "-s", "host/HPC1", "configurationEx"},
			{"object.collect", "-type", "m", "/", "name", "runtime.powerState", "runtime.host"}} {
			soap, vi, stock := govc(t, c, bin, "", "", args...), govc(t, c, bin, "true", "", args...), govc(t, c, bin, "", other, args...)
			if soap != vi || soap != stock || len(soap) < 10 {
				t.Fatalf("govc %v\n--- SOAP\n%s\n--- JSON\n%s\n--- stock\n%s", args, soap, vi, stock)
			}
		}
	}
	same()
	c.ok(c.vmOp(gone, "Destroy_Task", nil))
	c.ok(c.vmOp(a, "PowerOffVM_Task", nil))
	same()
	if l := govc(t, c, bin, "", "", "find", "/", "-type", "m"); strings.Contains(l, "n2") || !strings.Contains(l, "/DC0/vm/slurm/n1") {
		t.Fatal(l)
	}
}

func TestGovcChangesVMsOverSoapAndJson(t *testing.T) {
	c := start(t, nil).login()
	bin := buildGovc(t)
	calls := map[string]obj{}
	for _, mode := range []string{"", "true"} {
		c.admin("POST", "counters/reset", nil)
		governed(t, c, bin, mode, "n3")
		calls[mode] = c.admin("GET", "counters", nil)["calls"].(obj)
		delete(calls[mode], "WaitForUpdatesEx") // how many depends on when the tasks end
		if calls[mode]["CloneVM_Task"] != 1.0 || c.counter("mutating") != 6 {
			t.Fatal(calls[mode], c.counter("mutating"))
		}
	}
	if !reflect.DeepEqual(calls[""], calls["true"]) {
		t.Fatalf("SOAP: %v\nJSON: %v", calls[""], calls["true"])
	}
}
