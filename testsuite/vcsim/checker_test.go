// SPDX-License-Identifier: GPL-2.0-or-later
// checker_test.go: what the checkers find, that they change nothing, and the
// transcoder; each may be missing, as in an older vCenter.

package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

var provisioning = obj{"_typeName": "ManagedObjectReference", "type": "VirtualMachineProvisioningChecker", "value": "ProvChecker"}
var compatibility = obj{"_typeName": "ManagedObjectReference", "type": "VirtualMachineCompatibilityChecker", "value": "CompatChecker"}

// checked runs a checker's task and gives the faults that it found.
func (c *client) checked(who obj, method string, body obj) []string {
	c.t.Helper()
	res := c.ok(c.call(who, method, body)).(obj)
	if res["_typeName"] != "ArrayOfCheckResult" {
		c.t.Fatalf("result: %v", res)
	}
	var found []string
	for _, r := range res["_value"].([]any) {
		list, _ := r.(obj)["error"].([]any)
		for _, e := range list {
			f := e.(obj)
			if inner, nested := f["fault"].(obj); nested {
				f = inner
			}
			found = append(found, f["_typeName"].(string))
		}
	}
	return found
}

func (c *client) cloneQuestion(name string, host obj) obj {
	return obj{"vm": c.find("DC0/vm/rhel9-ofed"), "folder": c.find("DC0/vm/slurm"), "name": name,
		"spec": obj{"_typeName": "VirtualMachineCloneSpec", "powerOn": false, "template": false,
			"location": obj{"_typeName": "VirtualMachineRelocateSpec", "pool": c.find("DC0/host/HPC1/Resources/slurm"), "host": host},
			"config":   c.sriov(nil)}}
}

func TestACheckedCloneIsRefusedForItsNameAndForItsHost(t *testing.T) {
	c := start(t, nil).login()
	good := c.cloneQuestion("n1", c.find("DC0/host/HPC1/esx02"))
	if f := c.checked(provisioning, "CheckClone_Task", good); f != nil {
		t.Fatal(f)
	}
	before := len(c.s.w.vms)
	if n := c.s.w.count.mutating; n != 0 || c.s.w.count.calls["CloneVM_Task"] != 0 {
		t.Fatal(n)
	}
	store := c.find("DC0/datastore/vsanDatastore")
	if f := c.checked(provisioning, "CheckClone_Task", c.cloneQuestion("n1", store)); len(f) != 1 {
		t.Fatal(f)
	}
	if after := len(c.s.w.vms); after != before {
		t.Fatalf("%d VMs, there were %d", after, before)
	}
	c.clone("n1", "esx02", c.sriov(nil))
	if f := c.checked(provisioning, "CheckClone_Task", good); len(f) != 1 || f[0] != "DuplicateName" {
		t.Fatal(f)
	}
}

func TestACheckedConfigurationIsRefusedForItsDevice(t *testing.T) {
	c := start(t, nil).login()
	spec := func(d obj) obj {
		return obj{"vm": c.find("DC0/vm/rhel9-ofed"), "spec": obj{"_typeName": "VirtualMachineConfigSpec", "deviceChange": []any{
			obj{"_typeName": "VirtualDeviceConfigSpec", "operation": "remove", "device": d}}}}
	}
	gone := spec(obj{"_typeName": "VirtualVmxnet3", "key": 4999})
	if f := c.checked(compatibility, "CheckVmConfig_Task", gone); len(f) != 1 {
		t.Fatal(f)
	}
	there := spec(obj{"_typeName": "VirtualVmxnet3", "key": 4000})
	if f := c.checked(compatibility, "CheckVmConfig_Task", there); f != nil {
		t.Fatal(f)
	}
	if f := c.checked(compatibility, "CheckPowerOn_Task", obj{"vm": c.find("DC0/vm/rhel9-ofed")}); len(f) != 1 || f[0] != "NotSupported" {
		t.Fatal(f)
	}
}

func TestACheckedInstantCloneSaysWhatItsSourceIs(t *testing.T) {
	c := start(t, nil).login()
	before := len(c.s.w.vms)
	spec := obj{"_typeName": "VirtualMachineInstantCloneSpec", "name": "n1", "location": obj{"_typeName": "VirtualMachineRelocateSpec",
		"folder": c.find("DC0/vm/slurm"), "pool": c.find("DC0/host/HPC1/Resources/slurm")}}
	ask := func(vm obj, want string) {
		t.Helper()
		f := c.checked(provisioning, "CheckInstantClone_Task", obj{"vm": vm, "spec": spec})
		if strings.Join(f, " ") != want {
			t.Fatal(f)
		}
	}
	ask(c.find("DC0/vm/rhel9-ofed"), "InvalidArgument")
	vm := c.ok(c.cloneTask("off", "esx01", obj{})).(obj)
	ask(vm, "InvalidPowerState")
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	ask(vm, "")
	spec["location"].(obj)["host"] = c.find("DC0/host/HPC1/esx01")
	ask(vm, "InvalidArgument")
	if n := len(c.s.w.vms); n != before+1 || c.s.w.count.calls["InstantClone_Task"] != 0 {
		t.Fatal(n)
	}
}

func TestAVCenterWithoutCheckers(t *testing.T) {
	no := false
	c := start(t, func(inv *inventory) { inv.About.Checkers = &no }).login()
	c.fails("ManagedObjectNotFound", provisioning, "CheckClone_Task", c.cloneQuestion("n1", nil))
}

// transcoded posts XML to the transcoder.
func (c *client) transcoded(release, kind, xml string) (int, string) {
	req, _ := http.NewRequestWithContext(context.Background(), "POST", c.s.url()+"/sdk/vim25/"+release+"/transcoder", strings.NewReader(xml))
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Accept", "application/json")
	req.Header.Set(sessionHeader, c.token)
	res, err := c.http.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(b)
}

const optionXML = `<object xmlns="urn:vim25" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema" ` +
	`xsi:type="OptionValue"><key>a.b</key><value xsi:type="xsd:int">7</value></object>`

func TestTheTranscoderSpeaksJSON(t *testing.T) {
	c := start(t, nil).login()
	st, body := c.transcoded("8.0.3.0", "application/xml", optionXML)
	var got obj
	if err := json.Unmarshal([]byte(body), &got); st != 200 || err != nil {
		t.Fatal(st, body)
	}
	if v, _ := got["value"].(obj); got["_typeName"] != "OptionValue" || got["key"] != "a.b" || v["_typeName"] != "int" || v["_value"] != 7.0 {
		t.Fatal(body)
	}
	for _, bad := range []string{"", "<object/>", strings.Replace(optionXML, "OptionValue", "NoSuchType", 1), "{}"} {
		if st, body := c.transcoded("8.0.3.0", "application/xml", bad); st != 400 || !strings.Contains(body, "InvalidRequest") {
			t.Fatal(st, body)
		}
	}
	if st, body := c.transcoded("8.0.3.0", "text/plain", optionXML); st != 400 || !strings.Contains(body, "InvalidArgument") {
		t.Fatal(st, body)
	}
	if st, _ := c.transcoded("8.0.1.0", "application/xml", optionXML); st != 404 {
		t.Fatal(st)
	}
	c.token = ""
	if st, _ := c.transcoded("8.0.3.0", "application/xml", optionXML); st != 401 {
		t.Fatal(st)
	}
}

func TestAVCenterWithoutATranscoder(t *testing.T) {
	no := false
	c := start(t, func(inv *inventory) { inv.About.Transcoder = &no }).login()
	if st, _ := c.transcoded("8.0.3.0", "application/xml", optionXML); st != 404 {
		t.Fatal(st)
	}
}
