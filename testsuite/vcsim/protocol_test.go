// SPDX-License-Identifier: GPL-2.0-or-later
// protocol_test.go: strict bodies, releases, faults that were declared, empty
// replies, inventory errors.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestBodiesAreDecodedStrictly(t *testing.T) {
	c := start(t, nil).login()
	vm := c.clone("n1", "esx01", obj{})
	spec := func(k string, v any) obj { return obj{"spec": obj{"_typeName": "VirtualMachineConfigSpec", k: v}} }
	dev := c.nic("VirtualVmxnet3", "VM-PG", nil)
	delete(dev["device"].(obj), "_typeName")
	for name, body := range map[string]obj{
		"unknown member":      spec("numCPUz", 2),
		"wrong type":          spec("numCPUs", "2"),
		"overflow":            spec("numCPUs", 1<<40),
		"no _typeName":        spec("deviceChange", []any{dev}),
		"wrong _typeName":     spec("cpuAllocation", obj{"_typeName": "Description", "label": "", "summary": ""}),
		"unboxed Any":         spec("extraConfig", []any{obj{"_typeName": "OptionValue", "key": "a", "value": "b"}}),
		"unknown parameter":   {"spec": obj{}, "x": 1},
		"missing parameter":   {},
		"member of a release": spec("virtualNuma", obj{"_typeName": "VirtualMachineVirtualNuma"}),
	} {
		if name == "member of a release" {
			c.rel = "7.0.0.0"
		}
		v, f := c.try(vm, "ReconfigVM_Task", body)
		c.rel = "8.0.1.0"
		if f != "InvalidRequest" {
			t.Errorf("%s: %v", name, v)
		}
	}
	c.fails("MethodNotFound", vm, "Dance", nil)
	c.fails("MethodNotFound", c.find("DC0/host/HPC1/esx01"), "PowerOnVM_Task", nil)
	st, b, _ := c.raw(context.Background(), "POST", "/sdk/vim25/8.0.1.0/VirtualMachine/"+vm["value"].(string)+"/PowerOnVM_Task", "{}{}")
	if st != 500 {
		t.Fatal(st, string(b))
	}
}

func TestPathsNotInTheDeclaredTypeAreRefused(t *testing.T) {
	c := start(t, nil).login()
	read := func(kind, path string) obj {
		return obj{"options": obj{}, "specSet": []any{obj{"_typeName": "PropertyFilterSpec",
			"propSet":   []any{obj{"_typeName": "PropertySpec", "type": kind, "pathSet": []any{path}}},
			"objectSet": []any{obj{"_typeName": "ObjectSpec", "obj": c.find("DC0/host/HPC1")}}}}}
	}
	f := c.fails("InvalidProperty", defaultPC, "RetrievePropertiesEx", read("ClusterComputeResource", "configurationEx.drsConfig"))
	if f["name"] != "configurationEx.drsConfig" {
		t.Fatal(f)
	}
	c.call(defaultPC, "RetrievePropertiesEx", read("ClusterComputeResource", "configurationEx"))
	c.fails("InvalidProperty", defaultPC, "RetrievePropertiesEx", read("VirtualMachine", "config.nothing"))
	c.fails("InvalidArgument", defaultPC, "RetrievePropertiesEx", read("Spaceship", "name"))
}

func TestReleasesAreNegotiated(t *testing.T) {
	c := start(t, nil)
	st, b, _ := c.raw(context.Background(), "POST", "/api/vcenter/system?action=hello", `{"api_releases":["9.0.0.0","8.0.3.0","8.0.1.0"]}`)
	if st != 200 || !strings.Contains(string(b), `"8.0.3.0"`) {
		t.Fatal(st, string(b))
	}
	c.rel = "9.0.0.0"
	c.fails("InvalidRequest", mor("ServiceInstance", "ServiceInstance"), "RetrieveServiceContent", nil)
	c.rel = "8.0.1.0"
	if v := c.prop(mor("ServiceInstance", "ServiceInstance"), "content").(obj); v["about"].(obj)["apiType"] != "VirtualCenter" {
		t.Fatal(v)
	}
	c.fails("NotAuthenticated", viewMgr, "CreateListView", obj{})
	st, b, _ = c.raw(context.Background(), "GET", "/sdk/vimServiceVersions.xml", "")
	if st != 200 || !strings.Contains(string(b), "<version>8.0.3.0</version>") || !strings.Contains(string(b), "<version>8.0.1.0</version>") {
		t.Fatal(st, string(b))
	}
	no := false
	c = start(t, func(inv *inventory) { inv.About.Hello = &no })
	if st, _, _ = c.raw(context.Background(), "POST", "/api/vcenter/system?action=hello", `{}`); st != 404 {
		t.Fatal(st)
	}
}

func TestEmptyRepliesHaveThreeForms(t *testing.T) {
	for form, want := range map[string]string{"empty": "200:", "null": "200:null", "204": "204:"} {
		c := start(t, func(inv *inventory) { inv.EmptyReply = form }).login()
		pc := c.watch("VirtualMachine", "name")
		v := c.wait(pc, "", 1, 0)["version"]
		st, b, _ := c.raw(context.Background(), "POST", fmt.Sprintf("/sdk/vim25/8.0.1.0/PropertyCollector/%s/WaitForUpdatesEx", pc["value"]),
			fmt.Sprintf(`{"version":%q,"options":{"maxWaitSeconds":0}}`, v))
		if got := fmt.Sprintf("%d:%s", st, b); got != want {
			t.Errorf("%s: %s", form, got)
		}
	}
}

func TestDeclaredFaultsHappen(t *testing.T) {
	c := start(t, nil).login()
	vm := c.clone("n1", "esx01", obj{})
	add := func(rules ...obj) {
		c.admin("DELETE", "faults", nil)
		c.admin("POST", "faults", obj{"rules": rules})
	}
	add(obj{"on": "request", "method": "PowerOnVM_Task", "object": "n*", "skip": 1, "count": 1,
		"fault": obj{"_typeName": "SystemError", "reason": "made up"}, "message": "boom"})
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	if f := c.fails("SystemError", vm, "PowerOnVM_Task", nil); f["faultstring"] != "boom" || f["reason"] != "made up" {
		t.Fatal(f)
	}
	c.taskFault("InvalidPowerState", c.vmOp(vm, "PowerOnVM_Task", nil))
	add(obj{"on": "task", "method": "PowerOffVM_Task", "count": 1, "fault": obj{"_typeName": "Timedout"}, "message": "late", "delay": "50ms"})
	if _, text := c.taskFault("Timedout", c.vmOp(vm, "PowerOffVM_Task", nil)); text != "late" || c.read(vm, "runtime.powerState") != "poweredOn" {
		t.Fatal(text)
	}
	add(obj{"on": "request", "method": "RetrieveServiceContent", "count": 1, "http": 503, "body": "<html>busy</html>"})
	st, b, _ := c.raw(context.Background(), "POST", "/sdk/vim25/8.0.1.0/ServiceInstance/ServiceInstance/RetrieveServiceContent", "")
	if st != 503 || string(b) != "<html>busy</html>" {
		t.Fatal(st, string(b))
	}
	path := "/sdk/vim25/8.0.1.0/VirtualMachine/" + vm["value"].(string) + "/PowerOffVM_Task"
	add(obj{"on": "request", "method": "PowerOffVM_Task", "drop": "before", "count": 1})
	if _, _, err := c.raw(context.Background(), "POST", path, ""); err == nil {
		t.Fatal("not dropped")
	}
	time.Sleep(60 * time.Millisecond)
	if c.read(vm, "runtime.powerState") != "poweredOn" {
		t.Fatal("executed")
	}
	add(obj{"on": "reply", "method": "PowerOffVM_Task", "drop": "after", "count": 1})
	if _, _, err := c.raw(context.Background(), "POST", path, ""); err == nil {
		t.Fatal("not dropped")
	}
	time.Sleep(60 * time.Millisecond)
	if c.read(vm, "runtime.powerState") != "poweredOff" {
		t.Fatal("not executed")
	}
	add(obj{"on": "reply", "method": "RetrieveServiceContent", "truncate": 17, "count": 1})
	_, b, err := c.raw(context.Background(), "POST", "/sdk/vim25/8.0.1.0/ServiceInstance/ServiceInstance/RetrieveServiceContent", "")
	if err == nil || len(b) != 17 {
		t.Fatal(err, string(b))
	}
}

func TestAStalledServerAcceptsAndIsSilent(t *testing.T) {
	c := start(t, nil).login()
	c.admin("POST", "do", obj{"op": "stall", "duration": "300ms"})
	begin := time.Now()
	c.prop(sessionMgr, "currentSession")
	if time.Since(begin) < 200*time.Millisecond {
		t.Fatal("no stall")
	}
	// What was asked before is not answered either: a wait of 1 s ends later.
	pc := c.watch("VirtualMachine", "name")
	version := c.wait(pc, "", 0, 0)["version"].(string)
	asked, answered := time.Now(), make(chan time.Time)
	go func() {
		c.wait(pc, version, 1, 0)
		answered <- time.Now()
	}()
	for c.admin("GET", "counters", nil)["calls"].(obj)["WaitForUpdatesEx"] != 2.0 {
		time.Sleep(10 * time.Millisecond)
	}
	c.admin("POST", "do", obj{"op": "stall", "duration": "2s"})
	if took := (<-answered).Sub(asked); took < 2*time.Second {
		t.Fatal("it spoke after ", took)
	}
	c.admin("POST", "do", obj{"op": "restart"})
	c.fails("NotAuthenticated", viewMgr, "CreateListView", obj{})
}

func TestANewCertificateIsNotTrusted(t *testing.T) {
	c := start(t, nil).login()
	c.admin("POST", "do", obj{"op": "newCertificate"})
	c.http.CloseIdleConnections()
	if _, _, err := c.raw(context.Background(), "GET", "/-/counters", ""); err == nil {
		t.Fatal("still trusted")
	}
	newClient(t, c.s).login()
}

func TestACertificateHasTheFlawThatIsAskedFor(t *testing.T) {
	for how, want := range map[string]string{"expired": "expired", "early": "not yet valid", "otherName": "IP SANs", "otherKey": "x509: "} {
		c := start(t, nil).login()
		c.admin("POST", "do", obj{"op": "newCertificate", "how": how})
		fresh := newClient(t, c.s)
		if _, _, err := fresh.raw(context.Background(), "GET", "/-/counters", ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", how, err)
		}
	}
}

func TestInventoryErrorsSayThePath(t *testing.T) {
	for text, want := range map[string]string{
		`{"datacenter":[]}`: "datacenter: unknown",
		`{"datacenters":[{"name":"a","clusters":[{"hosts":[{"pnics":[{"pcy":""}]}]}]}]}`: "datacenters[0].clusters[0].hosts[0].pnics[0].pcy",
		`{"datacenters":[{"name":"a","networks":[{"name":"n","switch":"s"}]}]}`:          "datacenters[0].networks[0].switch",
		`{"taskSlots":{"host":"8"}}`: "taskSlots.host",
		`{"emptyReply":"nil"}`:       "emptyReply",
	} {
		if _, err := parseInventory([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestHostsShowTheirHardware(t *testing.T) {
	c := start(t, nil).login()
	h := c.find("DC0/host/HPC1/esx01")
	b, _ := json.Marshal([]any{c.read(h, "config.pciPassthruInfo"), c.read(h, "config.sriovDevicePool"), c.read(h, "hardware.numaInfo"),
		c.read(h, "config.network.proxySwitch"), c.read(h, "config.network.pnic")})
	for _, want := range []string{`"HostSriovInfo"`, `"numVirtualFunction":8`, `"HostSriovNetworkDevicePoolInfo"`, `"pciId":["0000:17:00.0","0000:3b:00.0"]`, `"speedMb":100000`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s is not in %s", want, b)
		}
	}
	eb := c.prop(c.find("DC0/host/HPC1"), "environmentBrowser").(obj)
	ct := c.call(eb, "QueryConfigTarget", obj{"host": h}).(obj)
	if len(ct["sriov"].([]any)) != 2 {
		t.Fatal(ct)
	}
	c.admin("POST", "do", obj{"op": "renumberPf", "host": "esx01", "pci": "0000:3b:00.0", "newPci": "0000:5e:00.0"})
	if b, _ := json.Marshal(c.read(h, "config.pciPassthruInfo")); !strings.Contains(string(b), "0000:5e:00.0") || strings.Contains(string(b), "0000:3b") {
		t.Fatal(string(b))
	}
}

// As a live vCenter 8.0.3 answers (evoila/meho, issue 3663), or as SOAP does.
func TestFaultsInsideDataHaveTheFormThatIsDeclared(t *testing.T) {
	for _, form := range []faultForm{flatFaults, nestedFaults} {
		denied := permSpec{User: slurmUser, Entity: "DC0/vm/foreign1", Role: "View"}
		c := start(t, func(inv *inventory) {
			withPerms(append(leastPerms(), denied))(inv)
			inv.Faults = form
		}).login()
		outer := func(v any, want, text string) obj {
			t.Helper()
			e := v.(obj)
			if form == flatFaults {
				if e["_typeName"] != want || e["faultstring"] != text || e["localizedMessage"] != nil {
					t.Fatal(form, v)
				}
				return e
			}
			inner, _ := e["fault"].(obj)
			if e["_typeName"] != "LocalizedMethodFault" || inner["_typeName"] != want || e["localizedMessage"] != text || inner["faultstring"] != nil {
				t.Fatal(form, v)
			}
			return inner
		}
		c.admin("POST", "faults", obj{"rules": []obj{{"on": "task", "method": "CloneVM_Task", "message": "No.", "fault": obj{
			"_typeName": "DisallowedMigrationDeviceAttached", "fault": obj{"_typeName": "LocalizedMethodFault",
				"fault": obj{"_typeName": "DeviceNotSupported", "device": "x"}, "localizedMessage": "Why."}}}}})
		info := c.done(c.cloneTask("n1", "esx01", obj{}))
		outer(outer(info["error"], "DisallowedMigrationDeviceAttached", "No.")["fault"], "DeviceNotSupported", "Why.")
		res := c.call(defaultPC, "RetrievePropertiesEx", obj{"options": obj{}, "specSet": []any{obj{"_typeName": "PropertyFilterSpec",
			"propSet":   []any{obj{"_typeName": "PropertySpec", "type": "VirtualMachine", "pathSet": []any{"config.changeVersion"}}},
			"objectSet": []any{obj{"_typeName": "ObjectSpec", "obj": c.find("DC0/vm/foreign1")}}}}}).(obj)["objects"].([]any)[0].(obj)
		missing := res["missingSet"].([]any)[0].(obj)["fault"]
		_, text := faultOf(missing)
		if f := outer(missing, "NoPermission", text); f["privilegeId"] != "System.Read" || text == "" {
			t.Fatal(missing)
		}
	}
	if _, err := parseInventory([]byte(`{"faults":"round"}`)); err == nil {
		t.Fatal("accepted")
	}
}
