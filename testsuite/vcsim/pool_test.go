// SPDX-License-Identifier: GPL-2.0-or-later
// pool_test.go: pools of a size of their own.

package main

import "testing"

func (c *client) poolLeft() (memMB, cpuMhz int) {
	c.t.Helper()
	rt := c.read(c.find("DC0/host/HPC1/Resources/slurm"), "runtime").(obj)
	num := func(kind string) int { return int(rt[kind].(obj)["unreservedForVm"].(float64)) }
	return num("memory") >> 20, num("cpu")
}

func TestAPoolOfASizeAdmitsNoMoreAndSaysWhatIsLeft(t *testing.T) {
	c := start(t, nil).login()
	whole, cpu := c.poolLeft()
	a := c.clone("n1", "esx01", obj{"memoryMB": 1024, "memoryReservationLockedToMax": true})
	b := c.clone("n2", "esx02", obj{"memoryMB": 1024, "memoryReservationLockedToMax": true})
	each := 1024 + 80 + 10
	c.do("setPool", obj{"cluster": "HPC1", "name": "slurm", "memoryMB": 2*each - 1})
	if mem, mhz := c.poolLeft(); mem != 2*each-1 || mhz != cpu {
		t.Fatal(mem, mhz)
	}
	c.ok(c.vmOp(a, "PowerOnVM_Task", nil))
	if mem, _ := c.poolLeft(); mem != each-1 {
		t.Fatal(mem)
	}
	f, _ := c.taskFault("InsufficientMemoryResourcesFault", c.vmOp(b, "PowerOnVM_Task", nil))
	if f["requested"].(float64) != float64(each<<20) || f["unreserved"].(float64) != float64((each-1)<<20) {
		t.Fatal(f)
	}
	c.do("setPool", obj{"cluster": "HPC1", "name": "slurm"})
	if mem, _ := c.poolLeft(); mem != whole-each {
		t.Fatal(mem, whole)
	}
	c.ok(c.vmOp(b, "PowerOnVM_Task", nil))
}

func TestAPoolSaysInItsConfigWhatItWasGiven(t *testing.T) {
	c := start(t, nil).login()
	config := func(path, of string) (expands bool, reserved, limit int) {
		a := c.read(c.find("DC0/host/HPC1/Resources"+path), "config").(obj)[of].(obj)
		return a["expandableReservation"].(bool), int(a["reservation"].(float64)), int(a["limit"].(float64))
	}
	if e, r, l := config("/slurm", "memoryAllocation"); !e || r != 0 || l != -1 {
		t.Fatal(e, r, l)
	}
	c.do("setPool", obj{"cluster": "HPC1", "name": "slurm", "memoryMB": 4096})
	c.do("limitPool", obj{"cluster": "HPC1", "name": "slurm", "cpuMhz": 9000})
	if e, r, l := config("/slurm", "memoryAllocation"); e || r != 4096 || l != -1 {
		t.Fatal(e, r, l)
	}
	if e, r, l := config("/slurm", "cpuAllocation"); !e || r != 0 || l != 9000 {
		t.Fatal(e, r, l)
	}
	if e, r, l := config("", "memoryAllocation"); e || r < 4096 || r != l {
		t.Fatal(e, r, l)
	}
}

func TestATemplateSaysWhatItsDisksTake(t *testing.T) {
	c := start(t, nil).login()
	got := c.read(c.find("DC0/vm/rhel9-ofed"), "summary").(obj)["storage"].(obj)["committed"].(float64)
	if int(got) != 40<<30 {
		t.Fatal(got)
	}
}
