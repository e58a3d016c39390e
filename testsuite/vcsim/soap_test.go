// SPDX-License-Identifier: GPL-2.0-or-later
// soap_test.go: tests that speak VI JSON run over SOAP too: a bridge writes their
// calls as envelopes by govmomi's types, and the replies as VI JSON.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	vim "github.com/vmware/govmomi/object"
	vimsession "github.com/vmware/govmomi/session"
	"github.com/vmware/govmomi/vim25"
	vimmethods "github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"
	"github.com/vmware/govmomi/vim25/xml"
)

// post sends an envelope, and gives the status and the body.
func (c *client) post(ctx context.Context, body string) (int, []byte, error) {
	base := c.base
	if base == "" {
		base = c.s.url()
	}
	env := `<?xml version="1.0"?><Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"` +
		` xmlns:xsd="http://www.w3.org/2001/XMLSchema"><Body>` + body + `</Body></Envelope>`
	req, err := http.NewRequestWithContext(ctx, "POST", base+"/sdk", strings.NewReader(env))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("SOAPAction", "urn:vim25/"+c.rel)
	if c.token != "" {
		req.AddCookie(&http.Cookie{Name: soapCookie, Value: c.token})
	}
	res, err := c.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	for _, k := range res.Cookies() {
		c.token = k.Value
	}
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, b, err
}

// readReply decodes an envelope: the response, or its fault.
func readReply(b []byte, res any) (*soap.Fault, error) {
	env := struct {
		Body struct {
			Fault *soap.Fault `xml:"http://schemas.xmlsoap.org/soap/envelope/ Fault"`
			Inner struct {
				XML []byte `xml:",innerxml"`
			} `xml:",any"`
		}
	}{}
	dec := xml.NewDecoder(bytes.NewReader(b))
	dec.TypeFunc = types.TypeFunc()
	if err := dec.Decode(&env); err != nil || env.Body.Fault != nil {
		return env.Body.Fault, err
	}
	text := `<r xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema">` + string(env.Body.Inner.XML) + `</r>`
	dec = xml.NewDecoder(strings.NewReader(text))
	dec.TypeFunc = types.TypeFunc()
	return nil, dec.Decode(res)
}

// shown is a value as the JSON client sees it.
func shown(t *testing.T, b []byte) any {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	return v
}

func (c *client) trySOAP(r obj, method, text string) (any, string) {
	c.t.Helper()
	kind, ok := types.TypeFunc()(method)
	if !ok {
		c.t.Fatalf("no request type for %s", method)
	}
	p := reflect.New(kind)
	if text == "" {
		text = "{}"
	}
	if err := types.NewJSONDecoder(strings.NewReader(text)).Decode(p.Interface()); err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
	p.Elem().FieldByName("This").Set(reflect.ValueOf(ref{Type: fmt.Sprint(r["type"]), Value: fmt.Sprint(r["value"])}))
	var b bytes.Buffer
	if err := xml.NewEncoder(&b).Encode(element{name: method, val: p.Interface()}); err != nil {
		c.t.Fatal(err)
	}
	res := reflect.New(reflect.TypeOf(results[method]))
	fault := c.exchange(b.String(), res.Interface())
	if fault != nil {
		f := shown(c.t, encodeAny(fault.VimFault()))
		f.(obj)["faultstring"] = fault.String
		return f, fmt.Sprint(f.(obj)["_typeName"])
	}
	field := res.Elem().FieldByName("Returnval")
	if !field.IsValid() || field.Kind() == reflect.Pointer && field.IsNil() {
		return nil, ""
	}
	return shown(c.t, encodeTyped(field.Interface())), ""
}

func (c *client) exchange(body string, res any) *soap.Fault {
	c.t.Helper()
	st, b, err := c.post(context.Background(), body)
	if err != nil {
		c.t.Fatal(err)
	}
	fault, err := readReply(b, res)
	if err != nil || (st == http.StatusOK) != (fault == nil) {
		c.t.Fatalf("status %d: %v in %s", st, err, b)
	}
	return fault
}

func (c *client) fetchSOAP(r obj, name string) any {
	c.t.Helper()
	res := &fetchResponse{}
	if f := c.exchange(fmt.Sprintf(`<Fetch xmlns="urn:vim25"><_this type="%s">%s</_this><prop>%s</prop></Fetch>`, r["type"], r["value"], name), res); f != nil {
		c.t.Fatalf("Fetch %s: %s", name, f.String)
	}
	if res.Returnval == nil {
		return nil
	}
	v := shown(c.t, encodeAny(res.Returnval))
	if o, ok := v.(obj); ok && o["_value"] != nil {
		return o["_value"]
	}
	return v
}

func TestTheSameOverSOAP(t *testing.T) {
	overSOAP = true
	defer func() { overSOAP = false }()
	for name, test := range sameOverSOAP {
		t.Run(name, test)
	}
}

func TestEachMethodHasAResult(t *testing.T) {
	for name := range methods {
		if results[name] == nil || !strings.Contains(fmt.Sprint(reflect.TypeOf(results[name])), name) && name != "HasPrivilegeOnEntity" {
			t.Errorf("%s: %T", name, results[name])
		}
	}
	if len(results) != len(methods) {
		t.Errorf("%d methods, %d results", len(methods), len(results))
	}
}

// vim is a client of govmomi's, logged in.
func (c *client) vim() *vim25.Client {
	c.t.Helper()
	u, err := url.Parse(c.s.url() + "/sdk")
	if err != nil {
		c.t.Fatal(err)
	}
	sc := soap.NewClient(u, false)
	if err := sc.SetRootCAs(c.s.w.dir + "/ca.pem"); err != nil {
		c.t.Fatal(err)
	}
	v, err := vim25.NewClient(context.Background(), sc)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := vimsession.NewManager(v).Login(context.Background(), url.UserPassword("slurm@vsphere.local", "secret")); err != nil {
		c.t.Fatal(err)
	}
	return v
}

// vimFault names the fault of a call or of a task.
func vimFault(err error) string {
	var of interface{ Fault() types.BaseMethodFault }
	switch {
	case soap.IsSoapFault(err):
		return reflect.TypeOf(soap.ToSoapFault(err).VimFault()).Name()
	case errors.As(err, &of):
		return reflect.TypeOf(of.Fault()).Elem().Name()
	}
	return fmt.Sprint(err)
}

// A library of another project makes, changes, powers, forks and destroys VMs.
func TestGovmomiHandlesVMsOverSOAP(t *testing.T) {
	c := start(t, nil).login()
	v, ctx := c.vim(), context.Background()
	find := func(path string) ref {
		r := c.find(path)
		return ref{Type: r["type"].(string), Value: r["value"].(string)}
	}
	pool, host := find("DC0/host/HPC1/Resources/slurm"), find("DC0/host/HPC1/esx02")
	pg := vim.NewDistributedVirtualPortgroup(v, find("DC0/network/SRIOV-ROCE-PG"))
	backing, err := pg.EthernetCardBackingInfo(ctx)
	if err != nil {
		t.Fatal(err)
	}
	card := &types.VirtualSriovEthernetCard{}
	card.Backing, card.Key = backing, -1
	yes := true
	spec := types.VirtualMachineCloneSpec{Location: types.VirtualMachineRelocateSpec{Pool: &pool, Host: &host}, Config: &types.VirtualMachineConfigSpec{
		MemoryMB: 4096, MemoryReservationLockedToMax: &yes, DeviceChange: []types.BaseVirtualDeviceConfigSpec{
			&types.VirtualDeviceConfigSpec{Operation: types.VirtualDeviceConfigSpecOperationAdd, Device: card}}}}
	must := func(task *vim.Task, err error) *types.TaskInfo {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		info, err := task.WaitForResult(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	src, folder := vim.NewVirtualMachine(v, find("DC0/vm/rhel9-ofed")), vim.NewFolder(v, find("DC0/vm/slurm"))
	vm := vim.NewVirtualMachine(v, must(src.Clone(ctx, folder, "g1", spec)).Result.(ref))
	must(vm.Reconfigure(ctx, types.VirtualMachineConfigSpec{ExtraConfig: []types.BaseOptionValue{&types.OptionValue{Key: "guestinfo.a", Value: "1"}}}))
	must(vm.PowerOn(ctx))
	devices, err := vm.Device(ctx)
	if err != nil || len(devices.SelectByType((*types.VirtualSriovEthernetCard)(nil))) != 1 {
		t.Fatal(devices, err)
	}
	if f := vimFaultOf(vm.PowerOn(ctx)); f != "InvalidPowerState" {
		t.Fatal(f)
	}
	forked := types.VirtualMachineInstantCloneSpec{Name: "g2", Location: types.VirtualMachineRelocateSpec{Folder: types.NewReference(folder.Reference())}}
	if f := vimFaultOf(vm.InstantClone(ctx, forked)); f != "DisallowedMigrationDeviceAttached" {
		t.Fatal(f)
	}
	if f := vimFaultOf(vm.Destroy(ctx)); f != "InvalidPowerState" {
		t.Fatal(f)
	}
	must(vm.PowerOff(ctx))
	must(vm.Destroy(ctx))
	if _, err := vm.PowerState(ctx); vimFault(err) != "ManagedObjectNotFound" {
		t.Fatal(err)
	}
}

// vimFaultOf waits for a task, and names the fault of it or of its call.
func vimFaultOf(task *vim.Task, err error) string {
	if err == nil {
		err = task.Wait(context.Background())
	}
	return vimFault(err)
}

func TestSessionsOverSOAP(t *testing.T) {
	c := start(t, func(inv *inventory) { inv.Lockout.Failures = 2 })
	v, ctx := c.vim(), context.Background()
	if _, err := vimmethods.GetCurrentTime(ctx, v); err != nil {
		t.Fatal(err)
	}
	sm := vimsession.NewManager(v)
	if s, err := sm.UserSession(ctx); err != nil || s == nil || s.UserName != `VSPHERE.LOCAL\slurm` {
		t.Fatal(s, err)
	}
	if c.counter("sessions") != 1 || c.counter("logins") != 1 {
		t.Fatal("the session is not counted")
	}
	if err := sm.Logout(ctx); err != nil || c.counter("sessions") != 0 {
		t.Fatal(err)
	}
	if _, err := vimmethods.FindByUuid(ctx, v, &types.FindByUuid{This: *v.ServiceContent.SearchIndex, Uuid: "x"}); vimFault(err) != "NotAuthenticated" {
		t.Fatal(err)
	}
	for i := 0; i < 3; i++ {
		if err := sm.Login(ctx, url.UserPassword("slurm@vsphere.local", "wrong")); vimFault(err) != "InvalidLogin" {
			t.Fatal(err)
		}
	}
	if c.counter("lockedLogins") != 1 {
		t.Fatal("the account is not locked")
	}
}

func TestDeclaredFaultsAndLatencyOverSOAP(t *testing.T) {
	c := start(t, func(inv *inventory) { inv.Durations["call"] = Dur(30 * time.Millisecond) }).login()
	v, ctx := c.vim(), context.Background()
	vm := c.find("DC0/vm/foreign1")
	off := func() error {
		_, err := vimmethods.PowerOffVM_Task(ctx, v, &types.PowerOffVM_Task{This: ref{Type: "VirtualMachine", Value: vm["value"].(string)}})
		return err
	}
	c.rules(obj{"on": "request", "method": "PowerOffVM_Task", "object": "foreign1", "fault": obj{"_typeName": "HostCommunication"}, "message": "Why."})
	began := time.Now()
	if err := off(); vimFault(err) != "HostCommunication" || !strings.Contains(err.Error(), "Why.") {
		t.Fatal(err)
	}
	if d := time.Since(began); d < 30*time.Millisecond {
		t.Fatal("a call took", d)
	}
	for _, rule := range []obj{{"on": "request", "drop": "before"}, {"on": "request", "http": 503, "body": "busy"}} {
		rule["method"] = "PowerOffVM_Task"
		c.rules(rule)
		if err := off(); err == nil || c.read(vm, "runtime.powerState") != "poweredOn" {
			t.Fatal(rule, err)
		}
	}
	c.rules(obj{"on": "reply", "method": "PowerOffVM_Task", "truncate": 20})
	if err := off(); err == nil {
		t.Fatal("the reply was whole")
	}
	until(t, "it is off all the same", func() bool { return c.read(vm, "runtime.powerState") == "poweredOff" })
}

func TestWhatIsNoEnvelopeIsRefused(t *testing.T) {
	c := start(t, nil).login()
	for body, text := range map[string]string{"": "no method", "<Nonsense/>": "Nonsense", "<VirtualDevice/>": "no method", "<int/>": "no request type", "<VirtualMachinePowerState/>": "no method",
		`<CurrentTime xmlns="urn:vim25"><_this`: "CurrentTime", `<PowerOnVM_Task xmlns="urn:vim25"><_this type="Folder">group-v3</_this></PowerOnVM_Task>`: "has no method"} {
		st, b, err := c.post(context.Background(), body)
		if err != nil || st != http.StatusInternalServerError || !strings.Contains(string(b), text) || !strings.Contains(string(b), "<faultcode>ServerFaultCode</faultcode>") {
			t.Errorf("%q: %d %v %s", body, st, err, b)
		}
	}
	if res, err := c.http.Get(c.s.url() + "/sdk"); err != nil || res.StatusCode != http.StatusMethodNotAllowed {
		t.Error(res, err)
	}
}
