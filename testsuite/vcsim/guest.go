// SPDX-License-Identifier: GPL-2.0-or-later
// guest.go: the process that stands for a guest. It is started in its own
// process group at power-on and ended at power-off; its exit status 42 means
// that the guest powered itself off.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/vmware/govmomi/vim25/types"
)

const guestPoweroff = 42

type guest struct {
	cmd     *exec.Cmd
	done    chan struct{}
	ended   bool      // we ended it
	closing bool      // ShutdownGuest was asked
	stopped []process // while it is frozen
}

func (v *vmachine) guestDir() string { return filepath.Join(v.w.dir, "vms", v.dir) }

func (v *vmachine) removeDir() {
	if v.w.dir != "" {
		dir := v.guestDir()
		go func() { _ = os.RemoveAll(dir) }()
	}
}

// cardInfo is one entry of VM_CARDS.
type cardInfo struct {
	Type    string `json:"type"`
	Mac     string `json:"mac"`
	Network string `json:"network"`
	Pf      string `json:"pf"`
	Vf      string `json:"vf"`
	Numa    int    `json:"numa"`
	Vendor  string `json:"vendor"` // of a device: "0x10de"
	Device  string `json:"device"`
}

func (v *vmachine) cardInfos() []cardInfo {
	res := []cardInfo{}
	for _, d := range v.m.Config.Hardware.Device {
		ci := cardInfo{Numa: -1}
		switch d.(type) {
		case *types.VirtualSriovEthernetCard:
			ci.Type = "sriov"
		case *types.VirtualVmxnet3Vrdma:
			ci.Type = "pvrdma"
		case *types.VirtualPCIPassthrough:
			ci.Type = "rawvf"
		case types.BaseVirtualEthernetCard:
			ci.Type = "vmxnet3"
		default:
			continue
		}
		if c, ok := d.(types.BaseVirtualEthernetCard); ok {
			ci.Mac = c.GetVirtualEthernetCard().MacAddress
			if n := v.dc.byBacking(d.GetVirtualDevice().Backing); n != nil {
				ci.Network = n.o.name()
			}
		}
		for _, x := range v.held {
			if x.card == d.GetVirtualDevice().Key {
				ci.Pf, ci.Vf, ci.Numa = x.p.id, x.p.vfID(x.vf), x.p.numa
				x.p.seenBy(&ci)
				if dev := x.p.dev; dev != nil {
					ci.Type, ci.Vendor, ci.Device = "pci", fmt.Sprintf("0x%04x", dev.Vendor), fmt.Sprintf("0x%04x", dev.Device)
				}
			}
		}
		res = append(res, ci)
	}
	return res
}

func (v *vmachine) guestinfo() map[string]string {
	res := map[string]string{}
	for _, b := range v.m.Config.ExtraConfig {
		if o := b.GetOptionValue(); strings.HasPrefix(o.Key, "guestinfo.") {
			res[o.Key], _ = o.Value.(string)
		}
	}
	return res
}

func writeJSONFile(file string, v any) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".tmp", append(b, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(file+".tmp", file)
}

// boot starts the guest's command at power-on or a reboot.
func (v *vmachine) boot() {
	v.bootID = randomUUID()
	v.startGuest()
}

// restart ends the guest's processes and starts its command again; the VM stays
// on and vCenter has no part in it. how: "boot", or "unit", which is the same boot.
func (v *vmachine) restart(how string) error {
	g := v.guest
	if how != "boot" && how != "unit" {
		return fmt.Errorf("how: boot or unit is expected")
	}
	if g == nil || !v.on() || g.frozen() {
		return fmt.Errorf("vm: %s has no guest that runs", v.m.Name)
	}
	v.endGuest()
	go func() {
		<-g.done
		v.w.mu.Lock()
		defer v.w.mu.Unlock()
		if v.guest != nil || !v.on() || v.o.gone {
			return
		}
		if how == "boot" {
			v.bootID = randomUUID()
		}
		v.startGuest()
	}()
	return nil
}

func (v *vmachine) startGuest() {
	w := v.w
	if !v.hasProcess() {
		v.setTools(true)
		return
	}
	dir := v.guestDir()
	run := filepath.Join(dir, "run")
	err := os.MkdirAll(run, 0o755)
	if err == nil {
		err = writeJSONFile(filepath.Join(dir, "guestinfo.json"), v.guestinfo())
	}
	if err == nil {
		err = writeJSONFile(filepath.Join(dir, "cards.json"), v.cardInfos())
	}
	if err != nil {
		log.Printf("guest of %s: %v", v.m.Name, err)
		return
	}
	_ = os.Remove(v.guestinfoSet()) // of an earlier boot
	cmd := exec.Command(w.inv.Guest.Command[0], w.inv.Guest.Command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "VM_NAME="+v.m.Name, "VM_MOID="+v.o.ref.Value, "VM_HOST="+v.h.spec.Name, "VM_DIR="+dir,
		"VM_GUESTINFO="+filepath.Join(dir, "guestinfo.json"), "VM_CARDS="+filepath.Join(dir, "cards.json"),
		fmt.Sprintf("VM_BOOT=%d", v.boots), "VM_BOOT_ID="+v.bootID, "VM_RUNINFO="+run)
	cmd.Env = append(cmd.Env, v.forkEnv()...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if out, err := os.OpenFile(filepath.Join(dir, "console.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err == nil {
		cmd.Stdout, cmd.Stderr = out, out
		defer out.Close()
	}
	g := &guest{cmd: cmd, done: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		log.Printf("guest of %s: %v", v.m.Name, err)
		return
	}
	v.guest = g
	w.guests[g] = true
	v.setTools(true)
	go v.attend(g)
	go v.pollGuestinfo(g)
}

// hasProcess: foreign VMs (outside of our folders) have no guest process.
func (v *vmachine) hasProcess() bool {
	return len(v.w.inv.Guest.Command) > 0 && v.w.inFolders(v.o)
}

// attend waits for a guest's end and draws the conclusion.
func (v *vmachine) attend(g *guest) {
	err := g.cmd.Wait()
	close(g.done)
	code := 0
	var ee *exec.ExitError
	if errors.As(err, &ee) {
		code = ee.ExitCode()
	}
	v.w.mu.Lock()
	defer v.w.mu.Unlock()
	delete(v.w.guests, g)
	if v.guest != g {
		return
	}
	v.takeGuestinfo()
	v.guest = nil
	v.setTools(false)
	if v.on() && !g.ended && (code == guestPoweroff || g.closing) {
		g.kill(syscall.SIGKILL)
		v.powerLost()
	}
}

func (g *guest) kill(sig syscall.Signal) { _ = syscall.Kill(-g.cmd.Process.Pid, sig) }

// endGuest ends the process group: TERM, and KILL after two seconds.
func (v *vmachine) endGuest() {
	g := v.guest
	if g == nil {
		return
	}
	v.guest, g.ended = nil, true
	if g.frozen() {
		g.destroy()
		return
	}
	g.kill(syscall.SIGTERM)
	go func() {
		select {
		case <-g.done:
		case <-time.After(2 * time.Second):
		}
		g.kill(syscall.SIGKILL)
	}()
}

// shutdown asks the guest to go; the VM is off when it has, or after d.
func (v *vmachine) shutdown(d time.Duration) {
	g, boot := v.guest, v.boots
	off := func() {
		v.w.mu.Lock()
		defer v.w.mu.Unlock()
		if v.on() && v.boots == boot && !v.o.gone {
			v.powerLost()
		}
	}
	if g == nil {
		time.AfterFunc(d, off)
		return
	}
	g.closing = true
	g.kill(syscall.SIGTERM)
	go func() {
		select {
		case <-g.done: // attend turns it off
		case <-time.After(max(d, 100*time.Millisecond)):
			off()
		}
	}()
}

// pollGuestinfo takes key=value lines that the guest leaves in guestinfo.set.
func (v *vmachine) pollGuestinfo(g *guest) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-g.done: // attend has taken its last words
			return
		case <-tick.C:
		}
		v.w.mu.Lock()
		if v.guest == g {
			v.takeGuestinfo()
			v.takeUserWrites()
			v.takeFreeze()
		}
		v.w.mu.Unlock()
	}
}

// takeGuestinfo takes what root in the guest has written.
func (v *vmachine) takeGuestinfo() { v.takeWrites(v.guestinfoSet()) }

// infoSetKey keeps all processes of a guest but root's from writing guestinfo.
// Without it every user may, and vCenter keeps it (open-vm-tools issue 288).
const infoSetKey = "guest_rpc.rpci.auth.cmd.info-set"

// takeUserWrites is info-set by a process without privileges: key=value lines in
// guestinfo.user, which is gone afterwards, and is guestinfo.refused if it was
// refused.
func (v *vmachine) takeUserWrites() {
	file := filepath.Join(v.guestDir(), "guestinfo.user")
	if on, _ := v.extra(infoSetKey); strings.EqualFold(on, "TRUE") {
		_ = os.Rename(file, filepath.Join(v.guestDir(), "guestinfo.refused"))
	} else if v.takeWrites(file) {
		_ = os.Remove(file)
	}
}

func (v *vmachine) takeWrites(file string) bool {
	b, err := os.ReadFile(file)
	if err != nil || len(b) == 0 || b[len(b)-1] != '\n' {
		return false
	}
	for _, line := range strings.Split(string(b), "\n") {
		if k, val, ok := strings.Cut(line, "="); ok && strings.HasPrefix(k, "guestinfo.") {
			if old, _ := v.extra(k); old != val {
				v.setExtra(k, val)
				v.w.touch(v.o, "config")
			}
		}
	}
	return true
}

func (v *vmachine) guestinfoSet() string { return filepath.Join(v.guestDir(), "guestinfo.set") }

// endAll ends all guests and waits for them until ctx is over.
func (w *world) endAll(ctx context.Context) {
	w.mu.Lock()
	var gs []*guest
	for g := range w.guests {
		g.ended = true
		if g.frozen() {
			g.destroy()
		}
		g.kill(syscall.SIGTERM)
		gs = append(gs, g)
	}
	w.mu.Unlock()
	for _, g := range gs {
		select {
		case <-g.done:
		case <-ctx.Done():
		}
		g.kill(syscall.SIGKILL)
	}
}
