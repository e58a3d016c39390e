// SPDX-License-Identifier: GPL-2.0-or-later
// guest_test.go: the guest hook.

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const hookScript = `#!/bin/sh
trap 'echo term >> "$VM_DIR/log"; exit 0' TERM
echo "boot $VM_BOOT $VM_NAME $VM_MOID $VM_HOST" >> "$VM_DIR/log"
cp "$VM_GUESTINFO" "$VM_DIR/gi.$VM_BOOT"; cp "$VM_CARDS" "$VM_DIR/nics.$VM_BOOT"
echo "guestinfo.ready=yes" > "$VM_DIR/guestinfo.set"
[ -e "$VM_DIR/halt" ] && { echo "guestinfo.ready=no" > "$VM_DIR/guestinfo.set"; exit 42; }
sleep 300 & echo $! > "$VM_DIR/child"
wait
`

func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for i := 0; i < 400; i++ {
		if f() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("never: " + what)
}

func text(file string) string {
	b, _ := os.ReadFile(file)
	return string(b)
}

func TestAGuestRunsWhileItsVMIsOn(t *testing.T) {
	hook := filepath.Join(t.TempDir(), "hook")
	if err := os.WriteFile(hook, []byte(hookScript), 0o755); err != nil {
		t.Fatal(err)
	}
	c := start(t, func(inv *inventory) { inv.Guest.Command = []string{hook} }).login()
	cfg := c.sriov(obj{"addressType": "manual", "macAddress": "00:50:56:00:00:09"})
	cfg["extraConfig"] = extra("guestinfo.slurm.node", "n1", "other", "x")
	vm := c.clone("n1", "esx02", cfg)
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	dir := filepath.Join(c.s.w.dir, "vms", vm["value"].(string))
	until(t, "guestinfo", func() bool { return c.read(vm, `config.extraConfig["guestinfo.ready"]`) != nil })
	if c.read(vm, "guest.toolsRunningStatus") != "guestToolsRunning" || !strings.HasPrefix(text(dir+"/log"), "boot 1 n1 vm-") {
		t.Fatal(text(dir + "/log"))
	}
	gi, cards := map[string]string{}, []cardInfo{}
	_ = json.Unmarshal([]byte(text(dir+"/gi.1")), &gi)
	_ = json.Unmarshal([]byte(text(dir+"/nics.1")), &cards)
	if len(gi) != 1 || gi["guestinfo.slurm.node"] != "n1" || len(cards) != 2 || cards[1].Vf != "0000:3b:00.2" || cards[1].Mac != "00:50:56:00:00:09" || cards[1].Network != "SRIOV-ROCE-PG" {
		t.Fatal(gi, cards)
	}
	pid := 0
	until(t, "child", func() bool { _ = json.Unmarshal([]byte(text(dir+"/child")), &pid); return pid > 0 })
	c.ok(c.vmOp(vm, "PowerOffVM_Task", nil))
	until(t, "the group's end", func() bool { return syscall.Kill(pid, 0) != nil })
	if c.read(vm, "guest.toolsRunningStatus") != "guestToolsNotRunning" {
		t.Fatal("tools")
	}
	c.fails("InvalidPowerState", vm, "ShutdownGuest", nil)
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	until(t, "second boot", func() bool { return strings.Contains(text(dir+"/log"), "boot 2 n1") })
	c.call(vm, "ShutdownGuest", nil)
	until(t, "off", func() bool { return c.read(vm, "runtime.powerState") == "poweredOff" })
	if err := os.WriteFile(dir+"/halt", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	until(t, "off by itself", func() bool { return c.read(vm, "runtime.powerState") == "poweredOff" })
	if last := fmt.Sprint(c.read(vm, `config.extraConfig["guestinfo.ready"]`)); !strings.Contains(last, "value:no") {
		t.Fatal("last words: " + last)
	}
	c.ok(c.vmOp(vm, "Destroy_Task", nil))
	until(t, "the directory's end", func() bool { _, err := os.Stat(dir); return err != nil })
}

func TestStoppingTheServerEndsAllGuests(t *testing.T) {
	c := start(t, func(inv *inventory) {
		inv.Guest.Command = []string{"/bin/sh", "-c", `trap "" TERM; echo $$ > "$VM_DIR/pid"; while :; do sleep 0.1; done`}
	}).login()
	vm := c.clone("n1", "esx02", obj{})
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	pid := 0
	until(t, "pid", func() bool {
		_ = json.Unmarshal([]byte(text(filepath.Join(c.s.w.dir, "vms", vm["value"].(string), "pid"))), &pid)
		return pid > 0
	})
	begin := time.Now()
	c.s.stop()
	until(t, "the guest's end", func() bool { return syscall.Kill(pid, 0) != nil })
	if time.Since(begin) > 5*time.Second { // 1.5 of its own
		t.Fatal(time.Since(begin))
	}
}

func TestAGuestRebootsWhileItsVMStaysOn(t *testing.T) {
	hook := filepath.Join(t.TempDir(), "hook")
	if err := os.WriteFile(hook, []byte(hookScript), 0o755); err != nil {
		t.Fatal(err)
	}
	ids := filepath.Join(filepath.Dir(hook), "ids")
	script := "#!/bin/sh\necho $VM_BOOT_ID $(grep -c evil $VM_GUESTINFO) >>" + ids + "\nexec " + hook + "\n"
	outer := filepath.Join(filepath.Dir(hook), "outer")
	if err := os.WriteFile(outer, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	c := start(t, func(inv *inventory) { inv.Guest.Command = []string{outer} }).login()
	vm := c.clone("n1", "esx02", c.sriov(nil))
	lines := func() []string { return strings.Split(strings.TrimSpace(text(ids)), "\n") }
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	until(t, "a boot", func() bool { return text(ids) != "" })
	c.ok(c.reconfig(vm, obj{"extraConfig": extra("guestinfo.slurm.node", "evil")}))
	for i, how := range []string{"unit", "boot"} {
		c.admin("POST", "do", obj{"op": "reboot", "vm": "n1", "how": how})
		until(t, how, func() bool { return len(lines()) == i+2 })
	}
	l := lines()
	first, unit, boot := strings.Fields(l[0]), strings.Fields(l[1]), strings.Fields(l[2])
	if first[0] != unit[0] || unit[0] == boot[0] || first[1] != "0" || unit[1] != "1" || boot[1] != "1" {
		t.Fatal(l)
	}
	if s := c.vm("n1"); s["boots"] != 1.0 || c.read(vm, "runtime.powerState") != "poweredOn" {
		t.Fatal(s)
	}
}

func TestUsersOfAGuestWriteGuestinfoUnlessTheVMForbidsIt(t *testing.T) {
	hook := filepath.Join(t.TempDir(), "hook")
	if err := os.WriteFile(hook, []byte(hookScript), 0o755); err != nil {
		t.Fatal(err)
	}
	c := start(t, func(inv *inventory) { inv.Guest.Command = []string{hook} }).login()
	vm := c.clone("n1", "esx02", c.sriov(nil))
	c.ok(c.vmOp(vm, "PowerOnVM_Task", nil))
	dir := filepath.Join(c.s.w.dir, "vms", vm["value"].(string))
	write := func(line string) {
		if err := os.WriteFile(dir+"/guestinfo.user", []byte(line+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		until(t, "the simulator takes it", func() bool { _, err := os.Stat(dir + "/guestinfo.user"); return err != nil })
	}
	write("guestinfo.slurm.conf-server=evil")
	if got := fmt.Sprint(c.read(vm, `config.extraConfig["guestinfo.slurm.conf-server"]`)); !strings.Contains(got, "evil") {
		t.Fatal("a user of the guest may write it by default: " + got)
	}
	c.ok(c.reconfig(vm, obj{"extraConfig": extra(infoSetKey, "TRUE")}))
	write("guestinfo.slurm.conf-server=worse")
	if got := fmt.Sprint(c.read(vm, `config.extraConfig["guestinfo.slurm.conf-server"]`)); strings.Contains(got, "worse") {
		t.Fatal("refused, yet it is there: " + got)
	}
	if text(dir+"/guestinfo.refused") == "" {
		t.Fatal("nothing says that it was refused")
	}
}
