// SPDX-License-Identifier: GPL-2.0-or-later
// suspend_test.go: a suspended VM's guest is stopped and continues, and what it
// has of its host and its datastore meanwhile.

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// suspendHook counts, and so does a child in a session of its own; a second one
// has been stopped by the guest itself.
const suspendHook = `echo "boot $VM_BOOT" >> "$VM_DIR/log"
count() { n=0; while :; do n=$((n + 1)); echo $n > "$VM_DIR/$1.new"; mv "$VM_DIR/$1.new" "$VM_DIR/$1"; sleep 0.02; done; }
setsid sh -c 'echo $$ > "$VM_DIR/far"; while [ -d "$VM_DIR" ]; do sleep 0.02; done' &
sleep 300 & echo $! > "$VM_DIR/held"; kill -STOP $!
count near`

func hooked(inv *inventory) { inv.Guest.Command = []string{"/bin/sh", "-c", suspendHook} }

func (c *client) dirOf(vm obj) string { return filepath.Join(c.s.w.dir, "vms", vm["value"].(string)) }

func stateOfProcess(pid int) string {
	p, ok := readProcess(pid)
	if !ok {
		return "none"
	}
	return p.state
}

// still: stopped, or waiting for the exec of a child that is.
func still(pid int) bool {
	for i := 0; i < 3; i++ {
		if s := stateOfProcess(pid); s != "T" && s != "D" {
			return false
		}
		time.Sleep(10 * time.Millisecond)
	}
	return true
}

// guest waits until a VM's guest does what it will do, and gives the processes
// that are far and held.
func (c *client) guestOf(vm obj) (far, held int) {
	c.t.Helper()
	dir := c.dirOf(vm)
	until(c.t, "the guest's begin", func() bool {
		far, held = atoi(text(dir+"/far")), atoi(text(dir+"/held"))
		return far > 0 && held > 0 && stateOfProcess(held) == "T" && atoi(text(dir+"/near")) > 2
	})
	return far, held
}

func (c *client) suspendedVM(cfg obj) obj {
	c.t.Helper()
	vm := c.clone("n1", "esx01", cfg)
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	c.ok(c.vmOp(vm, "SuspendVM_Task", nil))
	return vm
}

func TestASuspendedGuestStandsStillAndGoesOn(t *testing.T) {
	c := start(t, hooked).login()
	vm := c.clone("n1", "esx02", obj{"memoryMB": 4096})
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	far, held := c.guestOf(vm)
	boot := fmt.Sprint(c.read(vm, "runtime.bootTime"))
	c.ok(c.vmOp(vm, "SuspendVM_Task", nil))
	if p, tools := c.read(vm, "runtime.powerState"), c.read(vm, "guest.toolsRunningStatus"); p != "suspended" || tools != "guestToolsNotRunning" || c.read(vm, "runtime.suspendTime") == nil {
		t.Fatal(p, tools)
	}
	until(t, "all of it stands still", func() bool { return still(far) })
	was := text(c.dirOf(vm) + "/near")
	time.Sleep(200 * time.Millisecond)
	if now := text(c.dirOf(vm) + "/near"); now != was {
		t.Fatalf("it runs: %s, %s", was, now)
	}
	if s := c.vm("n1"); s["guest"] != true || s["stopped"].(float64) < 3 {
		t.Fatal(s)
	}
	c.fails("InvalidPowerState", vm, "ShutdownGuest", nil)
	c.taskFault("InvalidPowerState", c.vmOp(vm, "SuspendVM_Task", nil))

	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	until(t, "it goes on", func() bool { return atoi(text(c.dirOf(vm)+"/near")) > atoi(was) && !still(far) })
	if s := stateOfProcess(held); s != "T" {
		t.Fatalf("what the guest had stopped runs: %s", s)
	}
	if s := c.vm("n1"); s["boots"] != 1.0 || s["stopped"] != 0.0 || text(c.dirOf(vm)+"/log") != "boot 1\n" {
		t.Fatal(s, text(c.dirOf(vm)+"/log"))
	}
	if now := fmt.Sprint(c.read(vm, "runtime.bootTime")); now != boot || c.read(vm, "runtime.powerState") != "poweredOn" || c.read(vm, "guest.toolsRunningStatus") != "guestToolsRunning" {
		t.Fatal(boot, now)
	}
}

func TestAGuestStandsStillWhileItsMemoryIsWritten(t *testing.T) {
	c := start(t, func(inv *inventory) {
		hooked(inv)
		inv.Durations["SuspendVM_Task"] = Dur(time.Minute)
	}).login()
	vm := c.clone("n1", "esx02", obj{})
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	far, _ := c.guestOf(vm)
	c.admin("POST", "faults", obj{"rules": []any{obj{"on": "task", "method": "SuspendVM_Task", "hang": true}}})
	for end, fault := range map[string]string{"error": "SystemError", "mode": "RequestCanceled"} {
		tk := c.vmOp(vm, "SuspendVM_Task", nil).(obj)
		until(t, "it stands still", func() bool { return still(far) })
		if p := c.read(vm, "runtime.powerState"); p != "poweredOn" {
			t.Fatal(p)
		}
		c.do("endTask", obj{"task": tk["value"], end: "cancel"})
		c.taskFault(fault, tk)
		until(t, "it goes on", func() bool { return !still(far) })
		if s := c.vm("n1"); s["power"] != "poweredOn" || s["stopped"] != 0.0 {
			t.Fatal(s)
		}
	}
}

func TestASuspendThatLosesItsHostIsNone(t *testing.T) {
	c := start(t, func(inv *inventory) {
		hooked(inv)
		inv.Durations["SuspendVM_Task"] = Dur(300 * time.Millisecond)
	}).login()
	vm := c.clone("n1", "esx02", obj{})
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	far, _ := c.guestOf(vm)
	before := c.freeMB()
	tk := c.vmOp(vm, "SuspendVM_Task", nil)
	c.do("hostState", obj{"host": "esx02", "state": "notResponding"})
	c.taskFault("HostNotConnected", tk)
	until(t, "it goes on", func() bool { return !still(far) })
	c.do("hostState", obj{"host": "esx02", "state": "connected"})
	if p := c.read(vm, "runtime.powerState"); p != "poweredOn" || c.freeMB() != before {
		t.Fatal(p, c.freeMB(), before)
	}
}

func TestSuspendTakesItsOwnRight(t *testing.T) {
	c := start(t, func(inv *inventory) {
		inv.Roles = map[string][]string{"most": {"VirtualMachine.Interact.PowerOn", "VirtualMachine.Interact.PowerOff"}}
		inv.Permissions = []permSpec{{User: "slurm@vsphere.local", Entity: "", Role: "Admin"}}
	}).login()
	vm := c.clone("n1", "esx02", obj{})
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	c.do("permissions", obj{"permissions": []any{obj{"user": "slurm@vsphere.local", "entity": "", "role": "most", "propagate": true}}})
	if f := c.fails("NoPermission", vm, "SuspendVM_Task", nil); f["privilegeId"] != "VirtualMachine.Interact.Suspend" {
		t.Fatal(f)
	}
	c.ok(c.vmOp(vm, "PowerOffVM_Task", nil))
}

// A suspended VM has its memory on the datastore and nothing on its host.
func TestASuspendedVMHasNothingOfItsHost(t *testing.T) {
	c := start(t, allKinds).login()
	host := func() obj {
		for _, h := range c.admin("GET", "state", nil)["hosts"].([]any) {
			if h.(obj)["name"] == "esx01" {
				return h.(obj)
			}
		}
		return nil
	}
	used := func() (n float64) {
		for _, p := range host()["pfs"].([]any) {
			n += p.(obj)["used"].(float64)
		}
		return n
	}
	cfg := sharedVM(aVgpu)
	cfg["memoryMB"], cfg["memoryReservationLockedToMax"] = 4096, true
	vm, other := c.clone("n1", "esx01", cfg), c.clone("n2", "esx01", cfg)
	free, left := c.freeMB(), host()["unreservedMB"]
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	if used() != 1 || host()["unreservedMB"] == left || c.freeMB() != free {
		t.Fatal(host(), c.freeMB())
	}
	c.taskFault("InsufficientGraphicsResourcesFault", c.vmOp(other, "PowerOnVM_Task", nil))
	c.ok(c.vmOp(vm, "SuspendVM_Task", nil))
	if used() != 0 || host()["unreservedMB"] != left {
		t.Fatal(host())
	}
	if n := free - c.freeMB(); n != 4096 {
		t.Fatalf("%d MB of memory on the datastore", n)
	}
	if f := fmt.Sprint(c.read(vm, "layoutEx.file")); !strings.Contains(f, "[vsanDatastore] n1/n1.vmss") {
		t.Fatal(f)
	}

	// another VM has its vGPU meanwhile: it can't be resumed
	c.ok(c.vmOp(other, "PowerOnVM_Task", nil))
	c.taskFault("InsufficientGraphicsResourcesFault", c.vmOp(vm, "PowerOnVM_Task", nil))
	if p := c.read(vm, "runtime.powerState"); p != "suspended" || free-c.freeMB() != 4096 {
		t.Fatal(p, c.freeMB())
	}
	c.ok(c.vmOp(other, "PowerOffVM_Task", nil))
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	if used() != 1 || c.freeMB() != free || strings.Contains(fmt.Sprint(c.read(vm, "layoutEx.file")), ".vmss") {
		t.Fatal(host(), c.freeMB())
	}
	c.ok(c.vmOp(vm, "SuspendVM_Task", nil))
	c.ok(c.vmOp(vm, "PowerOffVM_Task", nil))
	if p := c.read(vm, "runtime.powerState"); p != "poweredOff" || c.freeMB() != free || used() != 0 {
		t.Fatal(p, c.freeMB(), used())
	}
}

func TestGoingOnNeedsRoomOnTheHostAndTheDatastore(t *testing.T) {
	c := start(t, func(inv *inventory) {
		inv.Datacenters[0].VMs = nil
		inv.Datacenters[0].Clusters[0].Hosts[0].MemoryMB = 6000
	}).login()
	vm := c.clone("n1", "esx02", obj{"memoryMB": 4096})
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	free := c.freeMB() // its swap file is there
	c.do("setFree", obj{"datastore": "vsanDatastore", "freeGB": 3})
	f, words := c.taskFault("NoDiskSpace", c.vmOp(vm, "SuspendVM_Task", nil))
	if f["file"] != "[vsanDatastore] n1/n1.vmss" || c.read(vm, "runtime.powerState") != "poweredOn" {
		t.Fatal(f, words)
	}
	c.do("setFree", obj{"datastore": "vsanDatastore", "freeGB": free >> 10})
	c.ok(c.vmOp(vm, "SuspendVM_Task", nil))
	if n := c.freeMB(); n>>10 != free>>10 { // one file has gone, the other has come
		t.Fatal(n, free)
	}
	c.do("setFree", obj{"datastore": "vsanDatastore", "freeGB": 3})
	c.taskFault("NoDiskSpace", c.vmOp(vm, "PowerOnVM_Task", nil))
	c.do("setFree", obj{"datastore": "vsanDatastore", "freeGB": free >> 10})
	locked := obj{"memoryMB": 4096, "memoryReservationLockedToMax": true}
	other := c.clone("n2", "esx02", locked)
	c.ok(c.reconfig(vm, obj{"memoryReservationLockedToMax": true}))
	c.ok(c.vmOp(other, "PowerOnVM_Task", nil))
	c.taskFault("InsufficientMemoryResourcesFault", c.vmOp(vm, "PowerOnVM_Task", nil))
	c.ok(c.vmOp(other, "PowerOffVM_Task", nil))
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
}

// PowerOnVM_Task's documentation makes no exception for a suspended VM: it
// continues where it is, unless another host is asked for, or DRS places it.
func TestWhereASuspendedVMGoesOn(t *testing.T) {
	c := start(t, nil).login()
	vm := c.clone("n1", "esx02", obj{})
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	goesOn := func(at string, body obj) {
		t.Helper()
		c.ok(c.vmOp(vm, "SuspendVM_Task", nil))
		c.ok(c.vmOp(vm, "PowerOnVM_Task", body))
		if h, s := c.hostOf(vm), c.vm("n1"); h != at || s["boots"] != 1.0 {
			t.Fatal(h, s)
		}
	}
	goesOn("esx02", obj{})
	goesOn("esx01", obj{"host": c.find("DC0/host/HPC1/esx01")})
	c.do("cluster", obj{"cluster": "HPC1", "drs": "fullyAutomated"})
	goesOn("esx01", obj{})
	c.do("cluster", obj{"cluster": "HPC1", "drs": "fullyAutomated", "drsPerverse": true})
	c.ok(c.vmOp(vm, "SuspendVM_Task", nil))
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	if h := c.hostOf(vm); h == "esx01" {
		t.Fatal("DRS was not asked")
	}
}

func TestWhatASuspendedVMRefuses(t *testing.T) {
	c := start(t, nil).login()
	vm := c.suspendedVM(obj{"memoryMB": 4096, "memoryHotAddEnabled": true, "cpuHotAddEnabled": true})
	refused := func(task any) {
		t.Helper()
		if f, _ := c.taskFault("InvalidPowerState", task); f["existingState"] != "suspended" || f["requestedState"] != "poweredOff" {
			t.Fatal(f)
		}
	}
	refused(c.reconfig(vm, obj{"deviceChange": []any{c.nic("VirtualVmxnet3", "VM-PG", nil)}}))
	refused(c.reconfig(vm, obj{"memoryMB": 8192}))
	refused(c.reconfig(vm, obj{"numCPUs": 4}))
	refused(c.vmOp(vm, "Destroy_Task", nil))
	c.fails("InvalidPowerState", vm, "MarkAsTemplate", nil)
	c.taskFault("InvalidPowerState", c.call(vm, "InstantClone_Task", obj{"spec": obj{"_typeName": "VirtualMachineInstantCloneSpec",
		"name": "n2", "location": obj{"_typeName": "VirtualMachineRelocateSpec"}}}))
	c.ok(c.reconfig(vm, obj{"extraConfig": extra("guestinfo.x", "1")}))
	c.ok(c.vmOp(vm, "PowerOffVM_Task", nil))
	c.ok(c.vmOp(vm, "Destroy_Task", nil))
}

// Cold migration is for VMs that are off or suspended: the file goes along.
func TestASuspendedVMCanBeRegisteredElsewhere(t *testing.T) {
	c := start(t, func(inv *inventory) {
		hooked(inv)
		inv.Datacenters[0].Datastores = append(inv.Datacenters[0].Datastores, dsSpec{Name: "other", CapacityGB: 1000, FreeGB: 1000})
	}).login()
	vm := c.clone("n1", "esx01", obj{"memoryMB": 4096})
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	far, _ := c.guestOf(vm)
	c.ok(c.vmOp(vm, "SuspendVM_Task", nil))
	other := c.find("DC0/datastore/other")
	before := c.read(other, "summary.freeSpace").(float64)
	c.ok(c.vmOp(vm, "RelocateVM_Task", obj{"spec": obj{"_typeName": "VirtualMachineRelocateSpec",
		"host": c.find("DC0/host/HPC1/esx02"), "datastore": other}}))
	if n := int(before-c.read(other, "summary.freeSpace").(float64)) >> 20; n != 40<<10+4096 {
		t.Fatalf("%d MB", n)
	}
	if f := fmt.Sprint(c.read(vm, "layoutEx.file")); !strings.Contains(f, "[other] n1/n1.vmss") || !still(far) {
		t.Fatal(f, stateOfProcess(far))
	}
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	until(t, "it goes on", func() bool { return !still(far) })
	if h, s := c.hostOf(vm), c.vm("n1"); h != "esx02" || s["boots"] != 1.0 {
		t.Fatal(h, s)
	}
}

func TestSuspendedVMsDontHoldUpMaintenance(t *testing.T) {
	c := start(t, func(inv *inventory) { inv.Datacenters[0].VMs = nil }).login()
	vm := c.clone("n1", "esx02", obj{})
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	tk := c.do("maintenance", obj{"host": "esx02"})
	task := mor("Task", tk["value"].(string))
	if s := c.stateOf(task); s != "running" {
		t.Fatal(s)
	}
	c.ok(c.vmOp(vm, "SuspendVM_Task", nil))
	c.ok(task)
	c.taskFault("InvalidHostState", c.vmOp(vm, "PowerOnVM_Task", nil))
	c.do("maintenance", obj{"host": "esx02", "mode": "exit", "wait": true})
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
}

// A host that dies has nothing of a suspended VM: its memory is a file.
func TestASuspendedVMOutlivesItsHostsDeath(t *testing.T) {
	c := start(t, func(inv *inventory) {
		hooked(inv)
		inv.Datacenters[0].Clusters[0].Ha = true
		inv.Durations["HaRestart"] = Dur(20 * time.Millisecond)
	}).login()
	vm, on := c.clone("n1", "esx02", obj{}), c.clone("n2", "esx02", obj{})
	for _, v := range []obj{vm, on} {
		c.ok(c.vmOp(v, "PowerOnVM_Task", nil))
	}
	far, _ := c.guestOf(vm)
	c.ok(c.vmOp(vm, "SuspendVM_Task", nil))
	c.do("failHost", obj{"host": "esx02"})
	c.fails("HostNotConnected", vm, "PowerOnVM_Task", nil)
	until(t, "HA's restart of the other", func() bool { return c.hostOf(on) != "esx02" })
	if h, conn := c.hostOf(vm), c.read(vm, "runtime.connectionState"); h != "esx02" || conn != "disconnected" || !still(far) {
		t.Fatal(h, conn, stateOfProcess(far))
	}
	c.do("hostState", obj{"host": "esx02", "state": "connected"})
	if p := c.read(vm, "runtime.powerState"); p != "suspended" {
		t.Fatal(p)
	}
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	until(t, "it goes on", func() bool { return !still(far) })
}

func TestFrozenGuestsEnd(t *testing.T) {
	for name, end := range map[string]func(c *client, vm obj){
		"switched off": func(c *client, vm obj) { c.ok(c.vmOp(vm, "PowerOffVM_Task", nil)) },
		"unregistered": func(c *client, vm obj) { c.call(vm, "UnregisterVM", nil) },
		"by force":     func(c *client, vm obj) { c.do("destroyVm", obj{"vm": "n1", "force": true, "wait": true}) },
		"stop":         func(c *client, _ obj) { c.s.stop() },
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, hooked).login()
			vm := c.clone("n1", "esx02", obj{})
			c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
			far, held := c.guestOf(vm)
			c.do("suspend", obj{"vm": "n1", "wait": true})
			begin := time.Now()
			end(c, vm)
			for _, pid := range []int{far, held} {
				until(t, "its end", func() bool { return syscall.Kill(pid, 0) != nil || stateOfProcess(pid) == "none" })
			}
			if d := time.Since(begin); name == "stop" && d > 5*time.Second {
				t.Fatal(d)
			}
		})
	}
}

// Reading the memory may take another time than a boot.
func TestGoingOnHasADurationOfItsOwn(t *testing.T) {
	c := start(t, func(inv *inventory) { inv.Durations["PowerOnVM_Task/resume"] = Dur(time.Minute) }).login()
	vm := c.suspendedVM(obj{})
	tk := c.vmOp(vm, "PowerOnVM_Task", nil)
	time.Sleep(200 * time.Millisecond)
	if s := c.stateOf(tk); s != "running" {
		t.Fatal(s)
	}
}
