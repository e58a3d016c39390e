// SPDX-License-Identifier: GPL-2.0-or-later
// hosts_test.go: maintenance, standby, silent and dead hosts, HA and DRS.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func (c *client) hostOf(vm obj) string {
	c.t.Helper()
	return c.read(c.read(vm, "runtime.host").(obj), "name").(string)
}

func (c *client) stateOf(task any) any {
	c.t.Helper()
	return c.prop(task.(obj), "info").(obj)["state"]
}

func cluster1(change func(*clusterSpec)) func(*inventory) {
	return func(inv *inventory) { change(&inv.Datacenters[0].Clusters[0]) }
}

func TestMaintenanceCanBeCancelled(t *testing.T) {
	c := start(t, nil).login()
	vm, off := c.clone("n1", "esx02", obj{}), c.clone("n2", "esx02", obj{})
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	h := c.find("DC0/host/HPC1/esx02")
	tk := c.call(h, "EnterMaintenanceMode_Task", obj{"timeout": 0}).(obj)
	c.fails("TaskInProgress", h, "EnterMaintenanceMode_Task", obj{"timeout": 0})
	c.fails("InvalidHostState", c.find("DC0/vm/rhel9-ofed"), "CloneVM_Task", obj{"folder": c.find("DC0/vm/slurm"), "name": "n3",
		"spec": obj{"_typeName": "VirtualMachineCloneSpec", "template": false, "powerOn": false, "location": obj{
			"_typeName": "VirtualMachineRelocateSpec", "pool": c.find("DC0/host/HPC1/Resources/slurm"), "host": h}}})
	c.do("maintenance", obj{"host": "esx02", "mode": "cancel"})
	c.taskFault("RequestCanceled", tk)
	if c.read(h, "runtime.inMaintenanceMode") != false {
		t.Fatal("in maintenance")
	}
	c.ok(c.vmOp(off, "PowerOnVM_Task", nil))
}

func TestMaintenanceWaitsForClonesUnderWay(t *testing.T) {
	c := start(t, slow("CloneVM_Task", 300*time.Millisecond)).login()
	cl := c.cloneTask("n1", "esx02", obj{})
	tk := c.do("maintenance", obj{"host": "esx02"})
	task := mor("Task", tk["value"].(string))
	if c.stateOf(task) != "running" {
		t.Fatal("it did not wait")
	}
	c.ok(cl)
	c.ok(task)
}

func TestMaintenanceHasATimeout(t *testing.T) {
	c := start(t, nil).login()
	vm := c.clone("n1", "esx02", obj{})
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	tk := c.call(c.find("DC0/host/HPC1/esx02"), "EnterMaintenanceMode_Task", obj{"timeout": 1})
	c.taskFault("Timedout", tk)
}

func TestDrsEvacuatesWhatItCanMove(t *testing.T) {
	c := start(t, cluster1(func(s *clusterSpec) { s.Drs = "fullyAutomated" })).login()
	vm, off, stuck := c.clone("n1", "esx02", obj{}), c.clone("n2", "esx02", obj{}), c.clone("n3", "esx02", c.sriov(nil))
	for _, v := range []obj{vm, stuck} {
		c.ok(c.vmOp(v, "PowerOnVM_Task", obj{"host": c.find("DC0/host/HPC1/esx02")}))
	}
	tpl := c.find("DC0/vm/rhel9") // a template is registered there as well, and stays
	tk := c.call(c.find("DC0/host/HPC1/esx02"), "EnterMaintenanceMode_Task", obj{"timeout": 0, "evacuatePoweredOffVms": true})
	until(t, "moved", func() bool { return c.hostOf(vm) != "esx02" && c.hostOf(off) != "esx02" })
	if c.hostOf(stuck) != "esx02" || c.stateOf(tk) != "running" || c.read(vm, "runtime.powerState") != "poweredOn" {
		t.Fatal("a VM with a passthrough NIC was moved")
	}
	c.ok(c.vmOp(stuck, "PowerOffVM_Task", nil))
	c.ok(tk)
	if c.hostOf(stuck) == "esx02" || c.hostOf(tpl) != "esx02" {
		t.Fatal(c.hostOf(stuck), c.hostOf(tpl))
	}
}

func TestStandbyWaitsAndRefuses(t *testing.T) {
	c := start(t, nil).login()
	vm := c.clone("n1", "esx02", obj{})
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	h := c.find("DC0/host/HPC1/esx02")
	tk := mor("Task", c.do("standby", obj{"host": "esx02"})["value"].(string))
	if c.stateOf(tk) != "running" || c.read(h, "runtime.standbyMode") != "entering" || c.read(h, "runtime.powerState") != "poweredOn" {
		t.Fatal("too early")
	}
	c.ok(c.vmOp(vm, "PowerOffVM_Task", nil))
	c.ok(tk)
	if c.read(h, "runtime.standbyMode") != "in" || c.read(h, "runtime.powerState") != "standBy" || c.read(h, "runtime.connectionState") != "connected" {
		t.Fatal("not in standby")
	}
	c.taskFault("InvalidHostState", c.vmOp(vm, "PowerOnVM_Task", nil))
	c.do("standby", obj{"host": "esx02", "mode": "exit", "wait": true})
	if c.read(h, "runtime.powerState") != "poweredOn" || c.read(h, "runtime.standbyMode") != "none" {
		t.Fatal("not back")
	}
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	c.ok(c.vmOp(vm, "PowerOffVM_Task", nil))
	c.do("standby", obj{"host": "esx02", "state": "notResponding", "wait": true})
	if c.read(h, "runtime.connectionState") != "notResponding" || c.read(h, "runtime.powerState") != "standBy" {
		t.Fatal("the switch is not obeyed")
	}
}

func TestASilentHostsVMsLiveOnAndAreSeenAgain(t *testing.T) {
	c := start(t, func(inv *inventory) {
		inv.Guest.Command = []string{"/bin/sh", "-c", `echo $$ > "$VM_DIR/pid"; while ! [ -e "$VM_DIR/halt" ]; do sleep 0.05; done; exit 42`}
	}).login()
	a, b := c.clone("n1", "esx02", c.sriov(nil)), c.clone("n2", "esx02", c.sriov(nil))
	dir := func(vm obj) string { return filepath.Join(c.s.w.dir, "vms", vm["value"].(string)) }
	for _, vm := range []obj{a, b} {
		c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
		until(t, "boot", func() bool { return text(dir(vm)+"/pid") != "" })
	}
	h := c.find("DC0/host/HPC1/esx02")
	off := c.vmOp(a, "PowerOffVM_Task", nil)
	c.do("hostState", obj{"host": "esx02", "state": "notResponding"})
	c.taskFault("HostNotConnected", off)
	if c.read(h, "runtime.powerState") != "unknown" || c.read(a, "runtime.connectionState") != "disconnected" || c.read(a, "runtime.powerState") != "poweredOn" {
		t.Fatal("what vCenter can't know is shown as known")
	}
	if err := os.WriteFile(dir(b)+"/halt", nil, 0o644); err != nil { // it ends while the host is unreachable
		t.Fatal(err)
	}
	until(t, "the guest's end", func() bool { return c.vm("n2")["guest"] == false })
	if c.read(b, "runtime.powerState") != "poweredOn" || c.vm("n1")["guest"] != true {
		t.Fatal("seen through a dead line, or killed")
	}
	c.do("hostState", obj{"host": "esx02", "state": "connected"})
	if c.read(a, "runtime.powerState") != "poweredOn" || c.read(b, "runtime.powerState") != "poweredOff" || c.read(h, "runtime.powerState") != "poweredOn" {
		t.Fatal("the truth isn't shown")
	}
}

// vm is a VM of the simulator's own account.
func (c *client) vm(name string) obj {
	c.t.Helper()
	for _, v := range c.admin("GET", "state", nil)["vms"].([]any) {
		if v.(obj)["name"] == name {
			return v.(obj)
		}
	}
	return nil
}

func TestHaRestartsAFailedHostsVMsElsewhere(t *testing.T) {
	c := start(t, func(inv *inventory) {
		inv.Datacenters[0].Clusters[0].Ha = true
		inv.Durations["HaRestart"] = Dur(100 * time.Millisecond)
		inv.Guest.Command = []string{"/bin/sh", "-c", `echo $$ > "$VM_DIR/pid.$VM_BOOT"; sleep 300`}
	}).login()
	a, b, s := c.clone("n1", "esx02", obj{}), c.clone("n2", "esx02", obj{}), c.clone("n3", "esx02", c.sriov(nil))
	for _, vm := range []obj{a, b, s} {
		c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	}
	c.do("override", obj{"vm": "n2", "haPriority": "disabled"})
	if !strings.Contains(string(encodeAny(c.s.w.clusters[0].m.ConfigurationEx)), `"restartPriority":"disabled"`) {
		t.Fatal("the override isn't shown")
	}
	file := filepath.Join(c.s.w.dir, "vms", a["value"].(string), "pid")
	until(t, "boot", func() bool { return text(file+".1") != "" })
	c.do("failHost", obj{"host": "esx02"})
	until(t, "restart", func() bool { return c.hostOf(a) != "esx02" })
	if c.read(a, "runtime.powerState") != "poweredOn" || c.read(a, "runtime.connectionState") != "connected" {
		t.Fatal("not up")
	}
	until(t, "second boot", func() bool { return text(file+".2") != "" })
	time.Sleep(200 * time.Millisecond)
	for _, vm := range []obj{b, s} {
		if c.hostOf(vm) != "esx02" || c.read(vm, "runtime.powerState") != "poweredOn" || c.read(vm, "runtime.connectionState") != "disconnected" {
			t.Fatal("restarted, or known to be off")
		}
	}
	c.do("hostState", obj{"host": "esx02", "state": "connected"})
	if c.read(b, "runtime.powerState") != "poweredOff" || c.read(s, "runtime.powerState") != "poweredOff" || c.counter("haRestarts") != 1 {
		t.Fatal("dead VMs are shown as on")
	}
	c.do("cluster", obj{"cluster": "HPC1", "haPassthrough": true})
	c.ok(c.vmOp(s, "PowerOnVM_Task", nil))
	c.do("failHost", obj{"host": "esx02"})
	until(t, "restart with its NIC", func() bool { return c.hostOf(s) != "esx02" })
	if c.vm("n3")["cards"].([]any)[1].(obj)["vf"] == "" {
		t.Fatal("without a VF")
	}
}

// The host doesn't ask them to end first, as a switch-off does.
func TestAKilledHostEndsItsGuestsAtOnce(t *testing.T) {
	asked := filepath.Join(t.TempDir(), "asked")
	c := start(t, func(inv *inventory) {
		inv.Guest.Command = []string{"/bin/sh", "-c", `trap "touch ` + asked + `" TERM; echo $$ > "$VM_DIR/pid"; while :; do sleep 0.1; done`}
	}).login()
	vm := c.clone("n1", "esx02", obj{})
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	file, pid := filepath.Join(c.s.w.dir, "vms", vm["value"].(string), "pid"), 0
	until(t, "boot", func() bool { pid = atoi(text(file)); return pid > 0 })
	c.do("failHost", obj{"host": "esx02"})
	until(t, "the guest's end", func() bool { return syscall.Kill(pid, 0) != nil })
	if _, err := os.Stat(asked); err == nil {
		t.Fatal("it was asked to end")
	}
}

func atoi(s string) int {
	n := 0
	for _, r := range strings.TrimSpace(s) {
		n = n*10 + int(r-'0')
	}
	return n
}

func TestDrsCanBeTurnedOnWhileItRuns(t *testing.T) {
	c := start(t, nil).login()
	free, pinned := c.clone("n1", "esx02", c.sriov(nil)), c.clone("n2", "esx02", c.sriov(nil))
	c.do("cluster", obj{"cluster": "HPC1", "drs": "fullyAutomated", "drsPerverse": true})
	c.do("override", obj{"vm": "n2", "drs": "manual"})
	cfg := string(encodeAny(c.s.w.clusters[0].m.ConfigurationEx))
	if !strings.Contains(cfg, `"enabled":true,"enableVmBehaviorOverrides":true,"defaultVmBehavior":"fullyAutomated"`) || !strings.Contains(cfg, `"behavior":"manual"`) {
		t.Fatal(cfg)
	}
	h := c.find("DC0/host/HPC1/esx02")
	c.ok(c.vmOp(free, "PowerOnVM_Task", obj{"host": h}))
	c.ok(c.vmOp(pinned, "PowerOnVM_Task", obj{"host": h}))
	if c.hostOf(free) == "esx02" || c.hostOf(pinned) != "esx02" {
		t.Fatal(c.hostOf(free), c.hostOf(pinned))
	}
	c.ok(c.vmOp(pinned, "PowerOffVM_Task", nil))
	c.ok(c.vmOp(pinned, "Destroy_Task", nil))
	if strings.Contains(string(encodeAny(c.s.w.clusters[0].m.ConfigurationEx)), "drsVmConfig") {
		t.Fatal("an override outlived its VM")
	}
}

func TestPartialAutomationIsPlacementAtPowerOn(t *testing.T) {
	c := start(t, nil).login()
	vm := c.clone("n1", "esx02", c.sriov(nil))
	h := c.find("DC0/host/HPC1/esx02")
	for drs, stays := range map[string]bool{"partiallyAutomated": false, "manual": true} {
		c.do("cluster", obj{"cluster": "HPC1", "drs": drs, "drsPerverse": true})
		c.ok(c.vmOp(vm, "PowerOnVM_Task", obj{"host": h}))
		if (c.hostOf(vm) == "esx02") != stays {
			t.Fatal(drs, c.hostOf(vm))
		}
		c.ok(c.vmOp(vm, "PowerOffVM_Task", nil))
		c.ok(c.vmOp(vm, "RelocateVM_Task", obj{"spec": obj{"host": h}}))
	}
}

func TestAClustersRestartPriorityCanBeDisabled(t *testing.T) {
	c := start(t, nil).login()
	c.do("cluster", obj{"cluster": "HPC1", "ha": true, "haPriority": "disabled"})
	cl := c.s.w.clusters[0]
	if cfg := string(encodeAny(cl.m.ConfigurationEx)); !strings.Contains(cfg, `"restartPriority":"disabled"`) {
		t.Fatal(cfg)
	}
	vm := c.clone("n1", "esx02", obj{})
	v := c.s.w.vms[ref{Type: "VirtualMachine", Value: vm["value"].(string)}]
	if cl.haRestarts(v) {
		t.Fatal("HA would restart it")
	}
	c.do("override", obj{"vm": "n1", "haPriority": "high"})
	if !cl.haRestarts(v) {
		t.Fatal("an override counts before its cluster")
	}
	c.do("cluster", obj{"cluster": "HPC1", "haHosts": "disabled"})
	if cfg := string(encodeAny(cl.m.ConfigurationEx)); cl.haRestarts(v) || !strings.Contains(cfg, `"hostMonitoring":"disabled"`) {
		t.Fatal("without host monitoring HA restarts nothing", cfg)
	}
}

func TestAVMThatCantBeReadHasNoConfig(t *testing.T) {
	c := start(t, nil).login()
	vm := c.clone("n1", "esx02", obj{})
	pc := c.watch("VirtualMachine", "name", "runtime.connectionState", "config.instanceUuid")
	v := c.wait(pc, "", 1, 0)["version"].(string)
	c.do("vmState", obj{"vm": "n1", "state": "inaccessible"})
	up := updates(c.wait(pc, v, 1, 0))[vm["value"].(string)]
	ops := map[any]any{}
	for _, ch := range up["changeSet"].([]any) {
		ops[ch.(obj)["name"]] = ch.(obj)["op"]
	}
	if ops["config.instanceUuid"] != "indirectRemove" || ops["runtime.connectionState"] != "assign" {
		t.Fatal(up)
	}
	c.fails("InvalidState", vm, "PowerOnVM_Task", nil)
	c.do("vmState", obj{"vm": "n1", "state": "connected"})
	if c.read(vm, "config.instanceUuid") == nil {
		t.Fatal("gone for good")
	}
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
}

func (c *client) effective() [3]int {
	s := c.read(c.find("DC0/host/HPC1"), "summary").(obj)
	n := func(k string) int { return int(s[k].(float64)) }
	return [3]int{n("effectiveMemory"), n("effectiveCpu"), n("numEffectiveHosts")}
}

// left is what systemResources leaves to VMs, as its documentation has it.
func left(o obj, alloc string) int {
	own := func(o obj) int {
		return int(o["config"].(obj)[alloc].(obj)["reservation"].(float64))
	}
	var taken func(o obj) int
	taken = func(o obj) int {
		below := 0
		l, _ := o["child"].([]any)
		for _, x := range l {
			below += taken(x.(obj))
		}
		return max(own(o), below)
	}
	n := own(o)
	for _, x := range o["child"].([]any) {
		n -= taken(x.(obj))
	}
	return n
}

func reserved(mhz int) obj {
	return obj{"_typeName": "ResourceAllocationInfo", "reservation": mhz}
}

func TestAHostKeepsAPartForItself(t *testing.T) {
	c := start(t, cluster1(func(s *clusterSpec) {
		s.Hosts[0].Cores, s.Hosts[0].Mhz, s.Hosts[0].MemoryMB = 8, 2000, 65536
		s.Hosts[0].System = &systemSpec{MemoryMB: 5536, Mhz: 1000}
	})).login()
	h := c.find("DC0/host/HPC1/esx02")
	sys := c.read(h, "systemResources").(obj)
	if mem, cpu := left(sys, "memoryAllocation"), left(sys, "cpuAllocation"); mem != 60000 || cpu != 15000 {
		t.Fatal(mem, cpu)
	}
	all := c.effective()
	if all[0] != 60000*all[2] || all[1] != 15000*all[2] {
		t.Fatal(all)
	}
	vm := c.clone("n1", "esx02", obj{"memoryMB": 60000, "memoryReservationLockedToMax": true})
	c.taskFault("InsufficientMemoryResourcesFault", c.vmOp(vm, "PowerOnVM_Task", nil))
	vm = c.clone("n2", "esx02", obj{"numCPUs": 8, "memoryMB": 1024, "cpuAllocation": reserved(15001)})
	c.taskFault("InsufficientCpuResourcesFault", c.vmOp(vm, "PowerOnVM_Task", nil))
	vm = c.clone("n3", "esx02", obj{"numCPUs": 8, "memoryMB": 59200, "memoryReservationLockedToMax": true,
		"cpuAllocation": reserved(15000)})
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	// What doesn't run VMs isn't counted.
	c.ok(c.do("maintenance", obj{"host": "esx03"}))
	if got := c.effective(); got != [3]int{all[0] - 60000, all[1] - 15000, all[2] - 1} {
		t.Fatal(got)
	}
	c.ok(c.do("maintenance", obj{"host": "esx03", "mode": "exit"}))
	if got := c.effective(); got != all {
		t.Fatal(got)
	}
}

func TestAClusterOfWhichNoHostAnswersHasNoBrowser(t *testing.T) {
	c := start(t, nil).login()
	cluster, hosts := c.find("DC0/host/HPC1"), c.effective()[2]
	browser := c.read(cluster, "environmentBrowser")
	all := func(state string) {
		for i := 1; i <= hosts; i++ {
			c.do("hostState", obj{"host": fmt.Sprintf("esx%02d", i), "state": state})
		}
	}
	all("disconnected")
	if c.read(cluster, "environmentBrowser") != nil || c.effective() != [3]int{} {
		t.Fatal(c.read(cluster, "environmentBrowser"), c.effective())
	}
	all("connected")
	if c.read(cluster, "environmentBrowser").(obj)["value"] != browser.(obj)["value"] || c.effective()[2] != hosts {
		t.Fatal("another browser")
	}
}
