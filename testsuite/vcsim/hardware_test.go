// SPDX-License-Identifier: GPL-2.0-or-later

package main

import (
	"testing"
)

func hardwareOf(c *client, name string) obj {
	for _, v := range c.admin("GET", "state", nil)["vms"].([]any) {
		if v.(obj)["name"] == name {
			return v.(obj)["hardware"].(obj)
		}
	}
	c.t.Fatal("no VM " + name)
	return nil
}

func allocated(shares obj) obj {
	shares["_typeName"] = "SharesInfo"
	return obj{"_typeName": "ResourceAllocationInfo", "shares": shares}
}

func TestSharesFollowLevelAndSize(t *testing.T) {
	c := start(t, nil).login()
	c.clone("n1", "esx01", obj{"numCPUs": 4, "memoryMB": 2048, "cpuAllocation": allocated(obj{"level": "high", "shares": 0}),
		"memoryAllocation": allocated(obj{"level": "low", "shares": 7})})
	if h := hardwareOf(c, "n1"); h["cpuShares"] != 8000.0 || h["memoryShares"] != 10240.0 {
		t.Fatal(h)
	}
	c.clone("n2", "esx01", obj{"numCPUs": 4, "cpuAllocation": allocated(obj{"level": "custom", "shares": 123})})
	if h := hardwareOf(c, "n2"); h["cpuShares"] != 123.0 {
		t.Fatal(h)
	}
	c.taskFault("InvalidArgument", c.cloneTask("n3", "esx01", obj{"cpuAllocation": allocated(obj{"level": "custom", "shares": 1000001})}))
	c.taskFault("InvalidArgument", c.cloneTask("n3", "esx01", obj{"memoryMB": 2048,
		"memoryAllocation": obj{"_typeName": "ResourceAllocationInfo", "reservation": 2049}}))
}

func TestCoresPerSocketDivideTheVcpus(t *testing.T) {
	c := start(t, nil).login()
	c.clone("n1", "esx01", obj{"numCPUs": 6, "numCoresPerSocket": 3})
	if h := hardwareOf(c, "n1"); h["coresPerSocket"] != 3.0 {
		t.Fatal(h)
	}
	c.clone("n2", "esx01", obj{"numCPUs": 6, "numCoresPerSocket": 0})
	if h := hardwareOf(c, "n2"); h["coresPerSocket"] != 1.0 {
		t.Fatal(h)
	}
	c.taskFault("InvalidArgument", c.cloneTask("n3", "esx01", obj{"numCPUs": 6, "numCoresPerSocket": 4}))
}

func TestSecureBootWantsEfi(t *testing.T) {
	for firmware, fault := range map[string]string{"bios": "GenericVmConfigFault", "efi": ""} {
		c := start(t, func(inv *inventory) {
			for i := range inv.Datacenters[0].Templates {
				inv.Datacenters[0].Templates[i].Firmware = firmware
			}
		}).login()
		vm := c.clone("n1", "esx01", obj{"bootOptions": obj{"_typeName": "VirtualMachineBootOptions", "efiSecureBootEnabled": true}})
		if h := hardwareOf(c, "n1"); h["secureBoot"] != true {
			t.Fatal(h)
		}
		if task := c.vmOp(vm, "PowerOnVM_Task", nil); fault == "" {
			c.ok(task)
		} else {
			c.taskFault(fault, task)
		}
	}
}
