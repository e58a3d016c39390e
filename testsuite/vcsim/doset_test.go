// SPDX-License-Identifier: GPL-2.0-or-later
// doset_test.go: how a host says that it is set up, and what changes in it.

package main

import "testing"

func (c *client) set(host string, s obj) {
	c.t.Helper()
	c.do("setHost", obj{"host": host, "set": s})
}

func TestAHostSaysHowItIsSetUp(t *testing.T) {
	c := start(t, nil).login()
	h := c.find("DC0/host/HPC1/esx02")
	policy := func() any {
		return c.read(h, "config.powerSystemInfo").(obj)["currentPolicy"].(obj)["shortName"]
	}
	if policy() != "static" || c.read(h, "summary.rebootRequired") != false {
		t.Fatal("it is not as it should be")
	}
	c.set("esx02", obj{"power": "low", "reboot": true, "ntp": []string{}, "build": "7"})
	if policy() != "low" || c.read(h, "summary.rebootRequired") != true || c.read(h, "config.product").(obj)["build"] != "7" {
		t.Fatal("it was not changed")
	}
	if list, ok := c.read(h, "config.dateTimeInfo.ntpConfig").(obj)["server"].([]any); ok && len(list) > 0 {
		t.Fatal("it has servers", list)
	}
	other := c.find("DC0/host/HPC1/esx01")
	if c.read(other, "config.powerSystemInfo").(obj)["currentPolicy"].(obj)["shortName"] != "static" {
		t.Fatal("so was another host")
	}
}

// VFs are there while SR-IOV is enabled and active; what was asked for and what
// is possible is said all the while.
func TestSriovSettingsShowInPassthruInfo(t *testing.T) {
	c := start(t, nil).login()
	h := c.find("DC0/host/HPC1/esx02")
	pf := func() obj {
		for _, x := range c.read(h, "config.pciPassthruInfo").([]any) {
			if p := x.(obj); p["id"] == "0000:3b:00.0" {
				return p
			}
		}
		t.Fatal("no PF")
		return nil
	}
	was := pf()["numVirtualFunction"]
	c.set("esx02", obj{"pci": "0000:3b:00.0", "active": false})
	if p := pf(); p["sriovEnabled"] != true || p["sriovActive"] != false || p["numVirtualFunction"] != 0.0 || p["numVirtualFunctionRequested"] != was {
		t.Fatal(p)
	}
	c.set("esx02", obj{"pci": "0000:3b:00.0", "active": true, "enabled": false})
	if p := pf(); p["sriovEnabled"] != false || p["sriovActive"] != false {
		t.Fatal(p)
	}
	c.set("esx02", obj{"pci": "0000:3b:00.0", "capable": false})
	if p := pf(); p["sriovCapable"] != false || p["numVirtualFunction"] != 0.0 || p["maxVirtualFunctionSupported"] != 0.0 {
		t.Fatal(p)
	}
	c.set("esx02", obj{"pci": "0000:3b:00.0", "capable": true})
	c.set("esx02", obj{"pci": "0000:3b:00.0", "enabled": true, "requested": 9, "max": 12})
	if p := pf(); p["numVirtualFunction"] != was || p["numVirtualFunctionRequested"] != 9.0 || p["maxVirtualFunctionSupported"] != 12.0 {
		t.Fatal(p)
	}
}

// A NIC that is taken out of its switch gives no VF any more; the host is still
// a member, and has the port group.
func TestAnUplinkThatIsTakenOutServesNobody(t *testing.T) {
	c := start(t, nil).login()
	h := c.find("DC0/host/HPC1/esx02")
	nets := len(c.read(h, "network").([]any))
	c.set("esx02", obj{"pci": "0000:3b:00.0", "uplink": false})
	vm := c.clone("n1", "esx02", c.sriov(nil))
	if info := c.done(c.vmOp(vm, "PowerOnVM_Task", nil)); info["state"] != "error" {
		t.Fatal("it was powered on without an uplink")
	}
	if len(c.read(h, "network").([]any)) != nets {
		t.Fatal("a port group went with it")
	}
	c.set("esx02", obj{"pci": "0000:3b:00.0", "uplink": true})
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
}
