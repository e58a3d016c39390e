// SPDX-License-Identifier: GPL-2.0-or-later
// wire_test.go: replies that are lost or spoilt, a vCenter that is away, one
// that restarts, accounts that lock.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

const contentPath = "/sdk/vim25/8.0.1.0/ServiceInstance/ServiceInstance/RetrieveServiceContent"

func (c *client) rules(rules ...obj) {
	c.t.Helper()
	c.admin("DELETE", "faults", nil)
	if len(rules) > 0 {
		c.admin("POST", "faults", obj{"rules": rules})
	}
}

func (c *client) get(path string) (int, []byte, error) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return c.raw(ctx, "POST", path, "")
}

func TestALostReplyOfAWaitIsDeliveredAgain(t *testing.T) {
	c := start(t, nil).login()
	pc := c.watch("VirtualMachine", "name", "runtime.powerState")
	v := c.wait(pc, "", 1, 0)["version"].(string)
	vm := c.find("DC0/vm/foreign1")
	c.ok(c.vmOp(vm, "PowerOffVM_Task", nil))
	path := fmt.Sprintf("/sdk/vim25/8.0.1.0/PropertyCollector/%s/WaitForUpdatesEx", pc["value"])
	for _, rule := range []obj{{"drop": "after"}, {"truncate": 40}, {"cut": 40}, {"body": ""}, {"garble": 3}} {
		rule["on"], rule["method"], rule["count"] = "reply", "WaitForUpdatesEx", 1
		c.rules(rule)
		_, b, err := c.raw(context.Background(), "POST", path, `{"version":"`+v+`"}`)
		if err == nil && json.Valid(b) && len(b) > 0 && strings.Contains(string(b), "poweredOff") {
			t.Fatalf("%v: not spoilt: %s", rule, b)
		}
		c.rules()
		u := c.wait(pc, v, 1, 0) // the same version again
		if o := updates(u)[vm["value"].(string)]; o == nil || o["kind"] != "modify" {
			t.Fatalf("%v: %v", rule, u)
		}
	}
	c.do("forgetVersions", nil)
	c.fails("InvalidCollectorVersion", pc, "WaitForUpdatesEx", obj{"version": v})
	if u := c.wait(pc, "", 1, 0); updates(u)[vm["value"].(string)]["kind"] != "enter" {
		t.Fatal(u)
	}
}

func TestBodiesCanBeCutPaddedAndGarbled(t *testing.T) {
	c := start(t, nil)
	_, whole, err := c.get(contentPath)
	if err != nil {
		t.Fatal(err)
	}
	for name, rule := range map[string]obj{"cut": {"cut": 100}, "pad": {"pad": 3 << 20}, "garble": {"garble": 5}, "empty": {"cut": 0}} {
		rule["on"], rule["method"], rule["label"] = "reply", "RetrieveServiceContent", name
		c.rules(rule)
		st, b, err := c.get(contentPath)
		if err != nil || st != http.StatusOK {
			t.Fatal(name, st, err)
		}
		differ := 0
		for i := range b {
			if len(b) == len(whole) && b[i] != whole[i] {
				differ++
			}
		}
		ok := map[string]bool{"cut": len(b) == 100 && !json.Valid(b), "pad": len(b) == len(whole)+3<<20 && json.Valid(b),
			"garble": differ == 5, "empty": len(b) == 0}
		if !ok[name] {
			t.Errorf("%s: %d bytes, %d differ", name, len(b), differ)
		}
		if r := c.admin("GET", "faults", nil)["rules"].([]any)[0].(obj); r["hits"] != 1.0 || r["label"] != name {
			t.Fatal(r)
		}
	}
}

func TestAReplyThatNeverComes(t *testing.T) {
	c := start(t, nil).login()
	vm := c.find("DC0/vm/foreign1")
	path := "/sdk/vim25/8.0.1.0/VirtualMachine/" + vm["value"].(string) + "/PowerOffVM_Task"
	hang := func(on string) {
		c.rules(obj{"on": on, "method": "PowerOffVM_Task", "hang": true})
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		if _, _, err := c.raw(ctx, "POST", path, ""); err == nil {
			t.Fatal(on + ": it came")
		}
	}
	hang("request")
	time.Sleep(60 * time.Millisecond)
	if c.read(vm, "runtime.powerState") != "poweredOn" {
		t.Fatal("executed")
	}
	hang("reply")
	until(t, "executed", func() bool { return c.read(vm, "runtime.powerState") == "poweredOff" })
}

func TestATaskThatNeverEndsCanBeEnded(t *testing.T) {
	c := start(t, nil).login()
	a, b := c.clone("n1", "esx02", obj{}), c.clone("n2", "esx02", obj{})
	c.rules(obj{"on": "task", "method": "PowerOnVM_Task", "hang": true})
	x, y := c.vmOp(a, "PowerOnVM_Task", nil).(obj), c.vmOp(b, "PowerOnVM_Task", nil).(obj)
	time.Sleep(100 * time.Millisecond)
	if c.stateOf(x) != "running" || c.read(a, "runtime.powerState") != "poweredOff" {
		t.Fatal("it ended")
	}
	c.fails("TaskInProgress", a, "PowerOffVM_Task", nil)
	c.do("endTask", obj{"task": x["value"]})
	c.ok(x)
	c.do("endTask", obj{"task": y["value"], "error": "gone"})
	c.taskFault("SystemError", y)
	if c.read(a, "runtime.powerState") != "poweredOn" || c.read(b, "runtime.powerState") != "poweredOff" {
		t.Fatal("wrong effect")
	}
}

func TestVCenterIsAwayInFourWays(t *testing.T) {
	c := start(t, nil)
	ctl := newClient(t, c.s)
	ctl.base = c.s.control()
	for _, how := range []string{"502", "503", "drop", "refuse"} {
		ctl.do("outage", obj{"duration": "300ms", "how": how})
		c.http.CloseIdleConnections()
		st, b, err := c.get(contentPath)
		switch how {
		case "502", "503":
			if fmt.Sprint(st) != how || json.Valid(b) {
				t.Fatal(how, st, string(b), err)
			}
		default:
			if err == nil {
				t.Fatal(how, st)
			}
		}
		ctl.admin("GET", "counters", nil) // the control port stays open
		until(t, how+": back", func() bool { st, _, err = c.get(contentPath); return err == nil && st == 200 })
	}
}

func TestConnectionsAreCutWhateverTheyDo(t *testing.T) {
	c := start(t, nil).login()
	pc := c.watch("VirtualMachine", "name")
	v := c.wait(pc, "", 1, 0)["version"].(string)
	path := fmt.Sprintf("/sdk/vim25/8.0.1.0/PropertyCollector/%s/WaitForUpdatesEx", pc["value"])
	ctl := newClient(t, c.s)
	cut := make(chan error, 1)
	go func() {
		_, _, err := c.raw(context.Background(), "POST", path, `{"version":"`+v+`"}`)
		cut <- err
	}()
	until(t, "waiting", func() bool { return ctl.counter("waits") == 2 })
	ctl.do("cutConnections", nil)
	select {
	case err := <-cut:
		if err == nil {
			t.Fatal("not cut")
		}
	case <-time.After(5 * time.Second):
		t.Fatal("it hangs")
	}
	if r := c.wait(pc, v, 0, 0); r != nil { // session and version have survived
		t.Fatal(r)
	}
}

func TestARestartForgetsSessionsAndTasks(t *testing.T) {
	for _, tasks := range []string{"lost", "finish"} {
		c := start(t, slow("PowerOnVM_Task", 10*time.Second)).login()
		vm := c.clone("n1", "esx02", obj{})
		tk := c.vmOp(vm, "PowerOnVM_Task", nil).(obj)
		c.do("restart", obj{"tasks": tasks, "duration": "200ms", "how": "503"})
		if st, _, _ := c.get(contentPath); st != 503 {
			t.Fatal(st)
		}
		until(t, "back", func() bool { st, _, _ := c.get(contentPath); return st == 200 })
		c.fails("NotAuthenticated", viewMgr, "CreateListView", obj{})
		c.login()
		if st, b, _ := c.raw(context.Background(), "GET", "/sdk/vim25/8.0.1.0/Task/"+tk["value"].(string)+"/info", ""); st != 500 || !strings.Contains(string(b), "ManagedObjectNotFound") {
			t.Fatal(st, string(b))
		}
		want := map[string]string{"lost": "poweredOff", "finish": "poweredOn"}[tasks]
		if got := c.read(vm, "runtime.powerState"); got != want {
			t.Fatal(tasks, got)
		}
		c.ok(c.do("setMemory", obj{"vm": "n1", "memoryMB": 0})) // its lock is gone
	}
}

func TestALockedAccountOpensAgain(t *testing.T) {
	c := start(t, func(inv *inventory) {
		inv.Lockout = lockoutSpec{Failures: 2, Window: Dur(time.Minute), Unlock: Dur(300 * time.Millisecond)}
	})
	try := func(pw string) string {
		_, f := c.try(sessionMgr, "Login", obj{"userName": "slurm@vsphere.local", "password": pw})
		return f
	}
	for _, pw := range []string{"x", "x", "secret"} {
		if try(pw) != "InvalidLogin" {
			t.Fatal(pw)
		}
	}
	until(t, "open", func() bool { return try("secret") == "" })
	c.do("setPassword", obj{"user": "slurm@vsphere.local", "password": "new"})
	locked := c.counter("lockedLogins")
	c.call(viewMgr, "CreateListView", obj{}) // sessions outlive a password
	if try("secret") != "InvalidLogin" || try("secret") != "InvalidLogin" || try("new") != "InvalidLogin" {
		t.Fatal("not locked")
	}
	c.do("unlock", obj{"user": "slurm@vsphere.local"})
	if try("new") != "" || c.counter("lockedLogins") != locked+1 {
		t.Fatal(c.admin("GET", "counters", nil))
	}
}

func TestASeedRepeatsWhatIsLeftToChance(t *testing.T) {
	c := start(t, nil)
	run := func(seed int) string {
		c.do("seed", obj{"seed": seed})
		c.rules(obj{"on": "request", "method": "RetrieveServiceContent", "probability": 0.5, "http": 503, "body": "x"})
		res := ""
		for i := 0; i < 40; i++ {
			st, _, _ := c.get(contentPath)
			res += fmt.Sprint(st, " ")
		}
		return res
	}
	a, b, other := run(7), run(7), run(8)
	if a != b || a == other || !strings.Contains(a, "503") || !strings.Contains(a, "200") {
		t.Fatal(a, b, other)
	}
}
