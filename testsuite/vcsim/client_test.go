// SPDX-License-Identifier: GPL-2.0-or-later
// client_test.go: a plain HTTP client for the tests: it knows JSON, not
// govmomi's types.

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

type obj = map[string]any

type client struct {
	t     *testing.T
	s     *server
	http  *http.Client
	token string
	rel   string
	base  string // where it sends to, when not to the front door
	soap  bool   // it sends SOAP, and shows the replies as VI JSON
}

// overSOAP makes clients that send SOAP; the tests run one after the other.
var overSOAP bool

const demoFile = "examples/demo.json"

// start runs a server in-process; change edits the demo inventory first.
func start(t *testing.T, change func(inv *inventory)) *client {
	t.Helper()
	inv, err := loadInventory(demoFile)
	if err != nil {
		t.Fatal(err)
	}
	for k := range inv.Durations {
		if k != "call" {
			inv.Durations[k] = Dur(20 * time.Millisecond)
		}
	}
	if change != nil {
		change(inv)
	}
	s, err := newServer(inv, "127.0.0.1:0", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	go s.serve()
	t.Cleanup(s.stop)
	return newClient(t, s)
}

func newClient(t *testing.T, s *server) *client {
	pem, err := os.ReadFile(s.w.dir + "/ca.pem")
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	return &client{t: t, s: s, rel: "8.0.1.0", soap: overSOAP,
		http: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}}
}

// raw sends a request and gives status and body; err is the transport's.
func (c *client) raw(ctx context.Context, verb, path, body string) (int, []byte, error) {
	base := c.base
	if base == "" {
		base = c.s.url()
	}
	req, err := http.NewRequestWithContext(ctx, verb, base+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if c.token != "" {
		req.Header.Set(sessionHeader, c.token)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	if h := res.Header.Get(sessionHeader); h != "" {
		c.token = h
	}
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, b, err
}

// try calls a method; the fault's _typeName is the second result.
func (c *client) try(r obj, method string, body any) (any, string) {
	c.t.Helper()
	text := ""
	if body != nil {
		b, _ := json.Marshal(body)
		text = string(b)
	}
	if c.soap {
		return c.trySOAP(r, method, text)
	}
	path := fmt.Sprintf("/sdk/vim25/%s/%s/%s/%s", c.rel, r["type"], r["value"], method)
	st, b, err := c.raw(context.Background(), "POST", path, text)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.decode(st, b)
}

func (c *client) decode(st int, b []byte) (any, string) {
	c.t.Helper()
	var v any
	if len(b) > 0 {
		if err := json.Unmarshal(b, &v); err != nil {
			c.t.Fatalf("status %d: %v in %q", st, err, b)
		}
	}
	switch st {
	case 200, 204:
		return v, ""
	case 500:
		return v, v.(obj)["_typeName"].(string)
	}
	c.t.Fatalf("status %d: %s", st, b)
	return nil, ""
}

func (c *client) call(r obj, method string, body any) any {
	c.t.Helper()
	v, f := c.try(r, method, body)
	if f != "" {
		c.t.Fatalf("%s: %v", method, v)
	}
	return v
}

// fails wants a fault of that type.
func (c *client) fails(want string, r obj, method string, body any) obj {
	c.t.Helper()
	v, f := c.try(r, method, body)
	if f != want {
		c.t.Fatalf("%s: fault %q wanted, got %v", method, want, v)
	}
	return v.(obj)
}

func (c *client) prop(r obj, name string) any {
	c.t.Helper()
	if c.soap {
		return c.fetchSOAP(r, name)
	}
	st, b, err := c.raw(context.Background(), "GET", fmt.Sprintf("/sdk/vim25/%s/%s/%s/%s", c.rel, r["type"], r["value"], name), "")
	if err != nil {
		c.t.Fatal(err)
	}
	v, f := c.decode(st, b)
	if f != "" {
		c.t.Fatalf("GET %s: %v", name, v)
	}
	return v
}

func mor(kind, id string) obj {
	return obj{"_typeName": "ManagedObjectReference", "type": kind, "value": id}
}

var (
	sessionMgr  = mor("SessionManager", "SessionManager")
	viewMgr     = mor("ViewManager", "ViewManager")
	searchIndex = mor("SearchIndex", "SearchIndex")
	defaultPC   = mor("PropertyCollector", "propertyCollector")
)

func (c *client) login() *client {
	c.t.Helper()
	c.call(sessionMgr, "Login", obj{"userName": "slurm@vsphere.local", "password": "secret"})
	return c
}

func (c *client) find(path string) obj {
	c.t.Helper()
	v := c.call(searchIndex, "FindByInventoryPath", obj{"inventoryPath": path})
	r, _ := v.(obj)
	return r
}

// done waits for a task and gives its info.
func (c *client) done(task any) obj {
	c.t.Helper()
	for i := 0; i < 1000; i++ {
		info := c.prop(task.(obj), "info").(obj)
		if s := info["state"]; s == "success" || s == "error" {
			return info
		}
		time.Sleep(5 * time.Millisecond)
	}
	c.t.Fatal("the task doesn't end")
	return nil
}

// ok wants a task to succeed.
func (c *client) ok(task any) any {
	c.t.Helper()
	info := c.done(task)
	if info["state"] != "success" {
		c.t.Fatalf("task: %v", info["error"])
	}
	return info["result"]
}

// taskFault wants a task to end in a fault and gives fault and text.
func (c *client) taskFault(want string, task any) (obj, string) {
	c.t.Helper()
	info := c.done(task)
	e, text := faultOf(info["error"])
	if e["_typeName"] != want {
		c.t.Fatalf("task: %s wanted, got %v", want, info)
	}
	return e, text
}

// faultOf gives a fault inside data and its text, in either form.
func faultOf(v any) (obj, string) {
	e, _ := v.(obj)
	text, _ := e["faultstring"].(string)
	if e["_typeName"] == "LocalizedMethodFault" {
		text, _ = e["localizedMessage"].(string)
		e, _ = e["fault"].(obj)
	}
	return e, text
}

func (c *client) vmOp(vm obj, method string, body any) any {
	c.t.Helper()
	return c.call(vm, method, body)
}

// nic is a new NIC for a deviceChange, on a port group of the demo.
func (c *client) nic(kind, net string, more obj) obj {
	c.t.Helper()
	pg := c.find("DC0/network/" + net)
	cfg := c.prop(pg, "config").(obj)
	uuid := c.prop(cfg["distributedVirtualSwitch"].(obj), "uuid")
	d := obj{"_typeName": kind, "key": -101, "addressType": "assigned", "backing": obj{
		"_typeName": "VirtualEthernetCardDistributedVirtualPortBackingInfo", "port": obj{
			"_typeName": "DistributedVirtualSwitchPortConnection", "switchUuid": uuid, "portgroupKey": pg["value"]}}}
	for k, v := range more {
		d[k] = v
	}
	return obj{"_typeName": "VirtualDeviceConfigSpec", "operation": "add", "device": d}
}

func explicitPF(id string) obj {
	return obj{"sriovBacking": obj{"_typeName": "VirtualSriovEthernetCardSriovBackingInfo",
		"physicalFunctionBacking": obj{"_typeName": "VirtualPCIPassthroughDeviceBackingInfo", "id": id, "deviceId": "0",
			"systemId": "BYPASS", "vendorId": 0, "deviceName": ""}}}
}

func extra(kv ...string) []any {
	var l []any
	for i := 0; i < len(kv); i += 2 {
		l = append(l, obj{"_typeName": "OptionValue", "key": kv[i], "value": obj{"_typeName": "string", "_value": kv[i+1]}})
	}
	return l
}

// cloneTask clones rhel9-ofed into the slurm folder on a host.
func (c *client) cloneTask(name, host string, config obj) any {
	c.t.Helper()
	config["_typeName"] = "VirtualMachineConfigSpec"
	return c.call(c.find("DC0/vm/rhel9-ofed"), "CloneVM_Task", obj{"folder": c.find("DC0/vm/slurm"), "name": name,
		"spec": obj{"_typeName": "VirtualMachineCloneSpec", "template": false, "powerOn": false, "config": config,
			"location": obj{"_typeName": "VirtualMachineRelocateSpec", "pool": c.find("DC0/host/HPC1/Resources/slurm"),
				"host": c.find("DC0/host/HPC1/" + host)}}})
}

func (c *client) clone(name, host string, config obj) obj {
	c.t.Helper()
	return c.ok(c.cloneTask(name, host, config)).(obj)
}

// sriov is a config with one SR-IOV NIC and locked memory.
func (c *client) sriov(more obj) obj {
	return obj{"memoryMB": 4096, "memoryReservationLockedToMax": true,
		"deviceChange": []any{c.nic("VirtualSriovEthernetCard", "SRIOV-ROCE-PG", more)}}
}

// read gets one property path of an object; nil when unset.
func (c *client) read(r obj, path string) any {
	c.t.Helper()
	res := c.call(defaultPC, "RetrievePropertiesEx", obj{"options": obj{}, "specSet": []any{obj{"_typeName": "PropertyFilterSpec",
		"propSet":   []any{obj{"_typeName": "PropertySpec", "type": r["type"], "pathSet": []any{path}}},
		"objectSet": []any{obj{"_typeName": "ObjectSpec", "obj": r}}}}})
	ps, _ := res.(obj)["objects"].([]any)[0].(obj)["propSet"].([]any)
	if len(ps) == 0 {
		return nil
	}
	v := ps[0].(obj)["val"].(obj)
	if b, ok := v["_value"]; ok {
		return b
	}
	return v
}

func viewSpec(view obj, props map[string][]string) obj {
	var set []any
	for k, p := range props {
		set = append(set, obj{"_typeName": "PropertySpec", "type": k, "all": false, "pathSet": p})
	}
	return obj{"_typeName": "PropertyFilterSpec", "propSet": set, "reportMissingObjectsInResults": true,
		"objectSet": []any{obj{"_typeName": "ObjectSpec", "obj": view, "skip": true, "selectSet": []any{obj{"_typeName": "TraversalSpec",
			"type": view["type"], "path": "view", "skip": false}}}}}
}

// watch makes a collector with a filter over a view of the whole inventory.
func (c *client) watch(kind string, paths ...string) obj {
	c.t.Helper()
	view := c.call(viewMgr, "CreateContainerView", obj{"container": mor("Folder", "group-d1"), "type": []any{kind}, "recursive": true}).(obj)
	pc := c.call(defaultPC, "CreatePropertyCollector", nil).(obj)
	c.call(pc, "CreateFilter", obj{"spec": viewSpec(view, map[string][]string{kind: paths}), "partialUpdates": false})
	return pc
}

// wait is one WaitForUpdatesEx.
func (c *client) wait(pc obj, version string, secs, limit int) obj {
	c.t.Helper()
	o := obj{"_typeName": "WaitOptions", "maxWaitSeconds": secs}
	if limit > 0 {
		o["maxObjectUpdates"] = limit
	}
	v := c.call(pc, "WaitForUpdatesEx", obj{"version": version, "options": o})
	r, _ := v.(obj)
	return r
}

// updates flattens an update set: "kind name" of objects, by their id.
func updates(u obj) map[string]obj {
	res := map[string]obj{}
	fs, _ := u["filterSet"].([]any)
	for _, f := range fs {
		os, _ := f.(obj)["objectSet"].([]any)
		for _, o := range os {
			res[o.(obj)["obj"].(obj)["value"].(string)] = o.(obj)
		}
	}
	return res
}

func (c *client) admin(verb, path string, body any) obj {
	c.t.Helper()
	b, _ := json.Marshal(body)
	st, out, err := c.raw(context.Background(), verb, "/-/"+path, string(b))
	if err != nil || st != 200 {
		c.t.Fatalf("%s: %d %s %v", path, st, out, err)
	}
	v := obj{}
	_ = json.Unmarshal(bytes.TrimSpace(out), &v)
	return v
}

func (c *client) counter(name string) int {
	return int(c.admin("GET", "counters", nil)[name].(float64))
}
