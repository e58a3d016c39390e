// SPDX-License-Identifier: GPL-2.0-or-later
// big_test.go: the figures that the simulator has to keep, measured over HTTPS
// with the program itself, while other users are busy. It takes a quiet
// machine: go test -run Figures -figures .

package main

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"syscall"
	"testing"
	"time"
)

var figures = flag.Bool("figures", false, "measure the figures for 1,000 hosts and 4,000 VMs")

// bigSite is 1,000 hosts, and 4,000 VMs with a VF each.
func bigSite(t *testing.T) string {
	doc, site := obj{}, obj{}
	b, err := os.ReadFile(demoFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	site = doc["datacenters"].([]any)[0].(obj)
	h := site["clusters"].([]any)[0].(obj)["hosts"].([]any)[0].(obj)
	h["name"], h["count"] = "esx%02d", 1000
	site["vms"] = append(site["vms"].([]any), obj{"name": "vm%04d", "count": 4000, "host": "*", "powerOn": true, "memoryMB": 4096,
		"nics": []string{"VM-PG"}, "cards": []any{obj{"type": "sriov", "network": "SRIOV-ROCE-PG"}}})
	doc["durations"].(obj)["PowerOffVM_Task"] = "0ms"
	out, _ := json.Marshal(doc)
	file := filepath.Join(t.TempDir(), "big.json")
	if err := os.WriteFile(file, out, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestTheFiguresAreKept(t *testing.T) {
	if !*figures {
		t.Skip("takes -figures")
	}
	dir := t.TempDir()
	bin := filepath.Join(dir, "vcsim")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	begin := time.Now()
	cmd := exec.Command(bin, "-inventory", bigSite(t), "-dir", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}()
	ready := obj{}
	for json.Unmarshal([]byte(text(filepath.Join(dir, "ready.json"))), &ready) != nil {
		if time.Since(begin) > 90*time.Second {
			t.Fatal("never ready")
		}
		time.Sleep(10 * time.Millisecond)
	}
	load := time.Since(begin)
	c := newClient(t, &server{w: &world{dir: dir}})
	c.base = ready["url"].(string)
	c.login()
	begin = time.Now()
	hosts := c.watch("HostSystem", "name", "runtime.connectionState", "config.pciPassthruInfo", "config.network.pnic", "hardware.numaInfo")
	pc := c.watch("VirtualMachine", "name", "runtime.powerState", "runtime.host", "runtime.connectionState", "config.hardware.device",
		`config.extraConfig["slurm.vsphere.owner"]`)
	version := ""
	for _, col := range []obj{hosts, pc} {
		for u := (obj{"truncated": true, "version": ""}); u["truncated"] == true; version = u["version"].(string) {
			u = c.wait(col, u["version"].(string), 5, 0)
		}
	}
	first := time.Since(begin)
	c.do("churn", obj{"churn": obj{"rate": 20, "seed": 1, "max": 200}})
	var took []time.Duration
	for i := 0; i < 100; i++ {
		vm := c.find("DC0/vm/vm" + string([]byte{'1', byte('0' + i/10), byte('0' + i%10), '7'}))
		begin = time.Now()
		c.vmOp(vm, "PowerOffVM_Task", nil)
		for seen := false; !seen; {
			u := c.wait(pc, version, 5, 0)
			version = u["version"].(string)
			seen = updates(u)[vm["value"].(string)] != nil
		}
		took = append(took, time.Since(begin))
	}
	sort.Slice(took, func(i, j int) bool { return took[i] < took[j] })
	t.Logf("ready after %v, first read %v, a power-off is delivered after %v (median), %v (worst of 100)", load, first, took[50], took[99])
	if load > 60*time.Second || took[99] > 200*time.Millisecond {
		t.Fatal("too slow")
	}
}
