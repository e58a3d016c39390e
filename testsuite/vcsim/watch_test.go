// SPDX-License-Identifier: GPL-2.0-or-later
// watch_test.go: versions, pages, truncation, views, sessions.

package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

func crowd(n int) func(*inventory) {
	return func(inv *inventory) {
		inv.Datacenters[0].VMs = append(inv.Datacenters[0].VMs, vmSpec{Name: "crowd%04d", Count: n, Host: "*", MemoryMB: 16, NumCPUs: 1})
	}
}

func TestReadsArePagedAtAHundred(t *testing.T) {
	c := start(t, crowd(247)).login()
	view := c.call(viewMgr, "CreateContainerView", obj{"container": mor("Folder", "group-d1"), "type": []any{"VirtualMachine"}, "recursive": true}).(obj)
	res := c.call(defaultPC, "RetrievePropertiesEx", obj{"options": obj{"maxObjects": 200},
		"specSet": []any{viewSpec(view, map[string][]string{"VirtualMachine": {"name"}})}}).(obj)
	n := len(res["objects"].([]any))
	pages := 1
	for res["token"] != nil {
		last := res["token"]
		res = c.call(defaultPC, "ContinueRetrievePropertiesEx", obj{"token": last}).(obj)
		c.fails("InvalidArgument", defaultPC, "ContinueRetrievePropertiesEx", obj{"token": last})
		n += len(res["objects"].([]any))
		pages++
	}
	if n != 250 || pages != 3 {
		t.Fatal(n, pages)
	}
}

func TestVersionsAreTrue(t *testing.T) {
	c := start(t, crowd(150)).login()
	pc := c.watch("VirtualMachine", "name", "runtime.powerState")
	u := c.wait(pc, "", 1, 60)
	seen, pages := 0, 0
	for {
		pages++
		seen += len(updates(u))
		if u["truncated"] != true {
			break
		}
		v := u["version"].(string)
		u = c.wait(pc, v, 1, 60)
		c.fails("InvalidCollectorVersion", pc, "WaitForUpdatesEx", obj{"version": v})
	}
	if seen != 153 || pages != 3 {
		t.Fatal(seen, pages)
	}
	base := u["version"].(string)
	if r := c.wait(pc, base, 0, 0); r != nil {
		t.Fatal(r)
	}
	vm := c.find("DC0/vm/crowd0001")
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	a := c.wait(pc, base, 1, 0)
	b := c.wait(pc, base, 1, 0) // as if the first answer had been lost
	for _, x := range []obj{a, b} {
		o := updates(x)[vm["value"].(string)]
		if o == nil || o["kind"] != "modify" || len(o["changeSet"].([]any)) != 1 {
			t.Fatal(x)
		}
	}
	if r := c.wait(pc, b["version"].(string), 0, 0); r != nil {
		t.Fatal(r)
	}
	c.fails("InvalidCollectorVersion", pc, "WaitForUpdatesEx", obj{"version": base})
	c.fails("InvalidCollectorVersion", pc, "WaitForUpdatesEx", obj{"version": "4711"})
}

func TestObjectsEnterAndLeave(t *testing.T) {
	c := start(t, nil).login()
	pc := c.watch("VirtualMachine", "name", `config.extraConfig["k"]`)
	u := c.wait(pc, "", 1, 0)
	vm := c.clone("n1", "esx01", obj{})
	id := vm["value"].(string)
	u = c.wait(pc, u["version"].(string), 1, 0)
	if o := updates(u)[id]; o["kind"] != "enter" || len(o["changeSet"].([]any)) != 1 {
		t.Fatal(u)
	}
	for _, want := range []string{"add", "assign", "remove"} {
		val := map[string]string{"add": "1", "assign": "2", "remove": ""}[want]
		c.ok(c.vmOp(vm, "ReconfigVM_Task", obj{"spec": obj{"_typeName": "VirtualMachineConfigSpec", "extraConfig": extra("k", val)}}))
		u = c.wait(pc, u["version"].(string), 1, 0)
		if ch := updates(u)[id]["changeSet"].([]any)[0].(obj); ch["op"] != want || ch["name"] != `config.extraConfig["k"]` {
			t.Fatal(ch)
		}
	}
	c.ok(c.vmOp(vm, "Destroy_Task", nil))
	u = c.wait(pc, u["version"].(string), 1, 0)
	if o := updates(u)[id]; o["kind"] != "leave" || o["changeSet"] != nil {
		t.Fatal(u)
	}
}

func TestAListViewOfTasksStreams(t *testing.T) {
	c := start(t, slow("CloneVM_Task", 100*time.Millisecond)).login()
	view := c.call(viewMgr, "CreateListView", obj{}).(obj)
	pc := c.call(defaultPC, "CreatePropertyCollector", nil).(obj)
	f := c.call(pc, "CreateFilter", obj{"spec": viewSpec(view, map[string][]string{"Task": {"info.state", "info.result", "info.error"}}), "partialUpdates": false}).(obj)
	tk := c.cloneTask("n1", "esx01", obj{}).(obj)
	if v := c.call(view, "ModifyListView", obj{"add": []any{tk, mor("Task", "task-none")}}).([]any); len(v) != 1 {
		t.Fatal(v)
	}
	u := c.wait(pc, "", 1, 0)
	if o := updates(u)[tk["value"].(string)]; o["kind"] != "enter" {
		t.Fatal(u)
	}
	for i := 0; i < 4; i++ {
		if u = c.wait(pc, u["version"].(string), 2, 0); len(updates(u)[tk["value"].(string)]["changeSet"].([]any)) == 2 {
			break // state and result at once
		}
	}
	c.call(view, "ModifyListView", obj{"remove": []any{tk}})
	u = c.wait(pc, u["version"].(string), 1, 0)
	if o := updates(u)[tk["value"].(string)]; o["kind"] != "leave" {
		t.Fatal(u)
	}
	c.call(f, "DestroyPropertyFilter", nil)
	c.call(view, "DestroyView", nil)
	c.call(pc, "DestroyPropertyCollector", nil)
	c.fails("ManagedObjectNotFound", pc, "WaitForUpdatesEx", obj{"version": ""})
}

func TestBracketsInIdsMayBeEscaped(t *testing.T) {
	c := start(t, nil).login()
	view := c.call(viewMgr, "CreateListView", obj{}).(obj)
	esc := strings.NewReplacer("[", "%5B", "]", "%5D").Replace(view["value"].(string))
	c.call(mor("ListView", esc), "ModifyListView", obj{})
	c.call(view, "ModifyListView", obj{})
}

func TestWaitsEnd(t *testing.T) {
	c := start(t, nil).login()
	pc := c.watch("VirtualMachine", "name")
	v := c.wait(pc, "", 1, 0)["version"].(string)
	path := fmt.Sprintf("/sdk/vim25/8.0.1.0/PropertyCollector/%s/WaitForUpdatesEx", pc["value"])
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := c.raw(ctx, "POST", path, `{"version":"`+v+`"}`); err == nil {
		t.Fatal("no disconnect")
	}
	begin := time.Now()
	if r := c.wait(pc, v, 0, 0); r != nil || time.Since(begin) > 5*time.Second {
		t.Fatal("the dead client's wait still holds the collector")
	}
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		st, b, _ := c.raw(context.Background(), "POST", path, `{"version":"`+v+`","options":{"maxWaitSeconds":20}}`)
		if _, f := c.decode(st, b); f != "RequestCanceled" {
			t.Errorf("%d %s", st, b)
		}
	}()
	time.Sleep(100 * time.Millisecond)
	c.call(pc, "CancelWaitForUpdates", nil)
	wg.Wait()
	if time.Since(begin) > 5*time.Second {
		t.Fatal("late")
	}
}

func TestSessionsExpireWithAllTheirObjects(t *testing.T) {
	c := start(t, func(inv *inventory) { inv.SessionIdle = Dur(150 * time.Millisecond) }).login()
	pc := c.watch("VirtualMachine", "name")
	time.Sleep(250 * time.Millisecond)
	f := c.fails("NotAuthenticated", pc, "WaitForUpdatesEx", obj{"version": ""})
	if f["privilegeId"] != "System.View" || f["object"] == nil {
		t.Fatal(f)
	}
	c.login()
	c.fails("ManagedObjectNotFound", pc, "WaitForUpdatesEx", obj{"version": ""})
	pc = c.watch("VirtualMachine", "name")
	v := c.wait(pc, "", 1, 0)["version"].(string)
	if r := c.wait(pc, v, 1, 0); r != nil { // a wait keeps the session alive
		t.Fatal(r)
	}
	c.call(sessionMgr, "Logout", nil)
	c.fails("NotAuthenticated", pc, "WaitForUpdatesEx", obj{"version": ""})
	if n := c.counter("sessions"); n != 0 {
		t.Fatal(n)
	}
}

func TestBadLoginsLockTheAccount(t *testing.T) {
	c := start(t, nil)
	for i := 0; i < 5; i++ {
		c.fails("InvalidLogin", sessionMgr, "Login", obj{"userName": "slurm@vsphere.local", "password": "x"})
	}
	c.fails("InvalidLogin", sessionMgr, "Login", obj{"userName": "slurm@vsphere.local", "password": "secret"})
	if c.counter("failedLogins") != 6 || c.counter("lockedLogins") != 1 {
		t.Fatal(c.admin("GET", "counters", nil))
	}
}

// A site of 1,000 hosts and 4,000 VMs.
// What has changed is delivered, not what there is: by a comparison within the run.
func TestABigSiteDeliversWhatHasChanged(t *testing.T) {
	c := start(t, func(inv *inventory) {
		inv.Datacenters[0].Clusters[0].Hosts[0].Name, inv.Datacenters[0].Clusters[0].Hosts[0].Count = "esx%02d", 1000
		inv.Durations["PowerOffVM_Task"] = 0
		crowd(4000)(inv)
		vms := inv.Datacenters[0].VMs
		vms[len(vms)-1].PowerOn = true
	}).login()
	begin := time.Now()
	pc := c.watch("VirtualMachine", "name", "runtime.powerState", "runtime.host", "config.hardware.device")
	u := c.wait(pc, "", 1, 0)
	for u["truncated"] == true {
		u = c.wait(pc, u["version"].(string), 1, 0)
	}
	first := time.Since(begin)
	vm := c.find("DC0/vm/crowd2000")
	begin = time.Now()
	c.vmOp(vm, "PowerOffVM_Task", nil)
	u = c.wait(pc, u["version"].(string), 5, 0)
	one := time.Since(begin)
	if updates(u)[vm["value"].(string)] == nil {
		t.Fatal(u)
	}
	t.Logf("first read %v, one power-off %v", first, one)
	if len(updates(u)) > 1 || one > first {
		t.Fatal("as much as all of it", len(updates(u)))
	}
}
