// SPDX-License-Identifier: GPL-2.0-or-later
// clone_device_test.go: a vCenter that takes no passthrough devices in a clone.

package main

import "testing"

func TestAVCenterMayRefuseDevicesInClones(t *testing.T) {
	c := start(t, func(inv *inventory) { inv.CloneDevice = "refused" }).login()
	f, _ := c.taskFault("InvalidArgument", c.cloneTask("n1", "esx02", c.sriov(nil)))
	if f["invalidProperty"] != "spec.config.deviceChange" || c.find("DC0/vm/slurm/n1") != nil {
		t.Fatal(f)
	}
	vm := c.clone("n1", "esx02", obj{"deviceChange": []any{c.nic("VirtualVmxnet3", "VM-PG", nil)}})
	c.ok(c.reconfigure(vm, c.sriov(nil)))
	c.do("cloneDevices", obj{"value": ""})
	c.clone("n2", "esx02", c.sriov(nil))
	c.do("setBuild", obj{"value": "24322831"})
	about := c.prop(obj{"type": "ServiceInstance", "value": "ServiceInstance"}, "content").(obj)["about"].(obj)
	if about["build"] != "24322831" || about["fullName"] != "VMware vCenter Server 8.0.3 build-24322831" {
		t.Fatal(about)
	}
}
