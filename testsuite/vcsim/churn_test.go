// SPDX-License-Identifier: GPL-2.0-or-later
// churn_test.go: other users.

package main

import (
	"strings"
	"testing"
)

// churned looks at what others have now: no more than they may, and how many
// VFs theirs hold.
func churned(t *testing.T, c *client) (taken int) {
	t.Helper()
	st := c.admin("GET", "state", nil)
	n := 0
	for _, vm := range st["vms"].([]any) {
		if strings.HasPrefix(vm.(obj)["name"].(string), "churn") {
			n++
		}
	}
	if n > 12 {
		t.Fatal(n, "VMs")
	}
	for _, h := range st["hosts"].([]any) {
		for _, p := range h.(obj)["pfs"].([]any) {
			if n := p.(obj)["used"].(float64); p.(obj)["vfs"] == 8.0 && n > 2 {
				t.Fatal(n, "VFs are used, 6 of 8 should be left")
			}
			for _, by := range p.(obj)["by"].(obj) {
				if strings.HasPrefix(by.(string), "churn") {
					taken++
				}
			}
		}
	}
	return taken
}

func TestOtherUsersComeAndGo(t *testing.T) {
	c := start(t, nil).login()
	pc := c.watch("VirtualMachine", "name", "runtime.powerState")
	v := c.wait(pc, "", 1, 0)["version"].(string)
	c.do("churn", obj{"churn": obj{"rate": 1000, "seed": 7, "max": 12, "networks": []string{"SRIOV-ROCE-PG"}, "keepVfs": 6, "hosts": []string{"esx02"}}})
	deeds := func() obj { return c.admin("GET", "counters", nil)["churn"].(obj) }
	until(t, "all kinds of deeds", func() bool {
		n := deeds()
		for _, k := range []string{"create", "powerOn", "powerOff", "destroy", "rename", "migrate"} {
			if n[k] == nil {
				return false
			}
		}
		return true
	})
	taken := 0
	for done := 0.0; done < 600; {
		done = 0
		for _, n := range deeds() {
			done += n.(float64)
		}
		taken += churned(t, c)
	}
	if taken == 0 {
		t.Fatal("no VF was taken")
	}
	c.do("churn", obj{"churn": obj{"rate": 0}})
	before := deeds()
	if u := c.wait(pc, v, 1, 0); len(updates(u)) == 0 {
		t.Fatal("nobody was told")
	}
	if after := deeds(); after["create"] != before["create"] || after["rename"] != before["rename"] {
		t.Fatal("it goes on")
	}
	n := c.admin("GET", "counters", nil)
	if n["mutating"] != 0.0 || n["foreignTouches"] != 0.0 || n["powerOnFullPF"] != 0.0 || n["foreignDisks"] != 0.0 {
		t.Fatal("other users' deeds are held against us", n)
	}
	free := c.freeMB()
	c.do("churn", obj{"churn": obj{"rate": 0, "clear": true}})
	if vm := c.vm("foreign1"); vm == nil || c.freeMB() < free {
		t.Fatal("it took what wasn't its own")
	}
}

func TestASeedRepeatsTheChurn(t *testing.T) {
	names := func(seed int64) string {
		c := start(t, func(inv *inventory) {
			for k := range inv.Durations {
				inv.Durations[k] = 0
			}
		})
		w := c.s.w
		w.mu.Lock()
		defer w.mu.Unlock()
		if err := w.setChurn(churnSpec{Rate: 0.001, Seed: seed, Max: 5}); err != nil {
			t.Fatal(err)
		}
		res := ""
		for i := 0; i < 300; i++ {
			w.churn.step()
			for _, k := range append([]*task(nil), w.tasks.running...) {
				w.tasks.complete(k)
			}
			alive := 0
			for _, v := range w.churn.vms {
				if v.o.gone {
					continue
				}
				if alive++; alive > 5 {
					t.Fatal("more than max")
				}
				res += v.m.Name + "@" + v.h.spec.Name + string(v.m.Runtime.PowerState) + " "
			}
		}
		return res
	}
	a, b, other := names(7), names(7), names(8)
	if a != b || a == other || len(a) < 1000 {
		t.Fatal(len(a), len(b), len(other))
	}
}

func TestWrongChurnIsRefused(t *testing.T) {
	c := start(t, nil)
	for _, spec := range []churnSpec{{Rate: 1, Hosts: []string{"nowhere"}}, {Rate: 1, Networks: []string{"nothing"}}} {
		c.s.w.mu.Lock()
		if err := c.s.w.setChurn(spec); err == nil || c.s.w.churn != nil {
			t.Error(spec)
		}
		c.s.w.mu.Unlock()
	}
}
