// SPDX-License-Identifier: GPL-2.0-or-later
// vm.go: virtual machines: their making from a spec, their extraConfig, the
// lock that gives TaskInProgress, and what changes with their power.

package main

import (
	"fmt"
	"math/rand"
	"sort"
	"strings"
	"time"

	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

type vmachine struct {
	w          *world
	o          *object
	m          *mo.VirtualMachine
	h          *host
	dc         *datacenter
	diskGB     int64
	policies   map[string]string // of its home and disks, by PBM
	disks      room              // that its disks take
	swap       room              // that its swap file takes while it is on
	memory     room              // that its memory takes while it is suspended
	hadTools   bool              // when it was suspended
	held       []heldVF
	busy       *task
	sources    int // clones under way that read from it
	pending    []demand
	pendOn     *host
	guest      *guest
	boots      int
	changes    int
	phantom    bool   // an orphan: no host has it
	dir        string // of its guest, below vms/
	offUnseen  bool   // went off while its host was not heard of
	broken     string // connection state of a VM that can't be read
	foreign    bool   // not the client's by the tests of ownership, since that change
	foreignAt  uint64
	deltas     int       // disks added to it by instant clones
	forkedFrom *vmachine // until its guest begins
	bootID     string    // of its guest's kernel
	diskAt     uint64    // the change at which a foreign disk was attached
	baseLost   bool      // the files that its disks stand on were deleted
	foreignOn  uint64    // the change at which a foreign hand powered it on, or moved it
}

// heldVF is a VF taken by a NIC of a VM that is on.
type heldVF struct {
	p    *pf
	vf   int
	card int32 // device key
}

func (v *vmachine) on() bool {
	return v.m.Runtime.PowerState == types.VirtualMachinePowerStatePoweredOn && !v.phantom
}

func (v *vmachine) extra(key string) (string, bool) {
	for _, b := range v.m.Config.ExtraConfig {
		if o := b.GetOptionValue(); o.Key == key {
			s, ok := o.Value.(string)
			return s, ok
		}
	}
	return "", false
}

// setExtra changes one key; an empty string deletes it. The list is replaced.
func (v *vmachine) setExtra(key, val string) {
	res := []types.BaseOptionValue{}
	for _, b := range v.m.Config.ExtraConfig {
		if b.GetOptionValue().Key != key {
			res = append(res, b)
		}
	}
	if val != "" {
		res = append(res, &types.OptionValue{Key: key, Value: val})
	}
	v.m.Config.ExtraConfig = res
}

func (v *vmachine) bump() {
	v.changes++
	now := time.Now().UTC()
	v.m.Config.ChangeVersion = now.Format("2006-01-02T15:04:05.000000Z") + fmt.Sprintf(".%d", v.changes)
	v.m.Config.Modified = now
}

// claim locks a VM for an operation; TaskInProgress names the one under way.
func (v *vmachine) claim() error {
	if v.busy != nil {
		return fault(&types.TaskInProgress{Task: v.busy.o.ref}, "The operation is not allowed while another task is in progress.")
	}
	return nil
}

func (w *world) vm(r ref) *vmachine { return w.vms[r] }

// newVM makes the object but puts it nowhere yet.
func (w *world) newVM(d *datacenter, name string, folder ref) *vmachine {
	r := ref{Type: "VirtualMachine", Value: w.newID("vm-")}
	m := &mo.VirtualMachine{}
	m.Self, m.Name, m.Parent = r, name, &folder
	w.entityDefaults(&m.ManagedEntity)
	m.Runtime = types.VirtualMachineRuntimeInfo{ConnectionState: "connected", PowerState: "poweredOff", FaultToleranceState: "notConfigured",
		RecordReplayState: "inactive"}
	m.Guest = &types.GuestInfo{ToolsRunningStatus: "guestToolsNotRunning", GuestState: "notRunning", ToolsStatus: "toolsNotRunning",
		ToolsVersionStatus2: toolsVersion(true)}
	m.GuestHeartbeatStatus = types.ManagedEntityStatusGray
	m.Config = &types.VirtualMachineConfigInfo{Name: name, Uuid: "42" + randomUUID()[2:], InstanceUuid: "50" + randomUUID()[2:]}
	return &vmachine{w: w, m: m, dc: d, dir: r.Value}
}

// install puts a VM into folder, pool, host and views.
func (w *world) install(v *vmachine, h *host, pool ref, store *object) {
	m := v.m
	v.o = w.add(m.Self, m)
	v.o.vm = v
	w.vms[m.Self] = v
	m.ResourcePool = &pool
	if m.Config.Template {
		m.ResourcePool = nil
	}
	v.place(h)
	w.adopt(*m.Parent, m.Self, m.Name)
	v.setFiles(store)
	v.summarise()
	w.poolOf(v, pool, true)
	w.publish(v.o)
}

// place moves the VM's registration to a host, and keeps host.vm right.
func (v *vmachine) place(h *host) {
	if v.h == h {
		return
	}
	if old := v.h; old != nil {
		delete(old.vms, v)
		old.m.Vm = withoutRef(old.m.Vm, v.o.ref)
		v.w.touch(old.o, "vm")
	}
	v.h = h
	if h == nil {
		return
	}
	h.vms[v] = true
	h.m.Vm = append(h.m.Vm[:len(h.m.Vm):len(h.m.Vm)], v.o.ref)
	v.w.touch(h.o, "vm")
	r := h.o.ref
	v.m.Runtime.Host = &r
	v.m.Runtime.ConnectionState = v.connection()
	v.m.EnvironmentBrowser = h.c.browser
	v.w.touch(v.o, "runtime", "environmentBrowser")
}

func (v *vmachine) connection() types.VirtualMachineConnectionState {
	switch {
	case v.h.connected() != nil:
		return types.VirtualMachineConnectionStateDisconnected
	case v.broken != "":
		return types.VirtualMachineConnectionState(v.broken)
	}
	return types.VirtualMachineConnectionStateConnected
}

// showConnection refreshes what depends on it: of a VM whose files can't be
// read no configuration is returned.
func (v *vmachine) showConnection() {
	v.m.Runtime.ConnectionState = v.connection()
	hide := v.broken == "inaccessible" || v.broken == "invalid"
	v.o.hidden = nil
	if hide {
		v.o.hidden = map[string]bool{"config": true, "layoutEx": true}
	}
	v.summarise()
	v.w.touch(v.o, "runtime", "config", "layoutEx")
}

// reachable tells whether an operation on a VM can be begun.
func (v *vmachine) reachable() error {
	if err := v.h.connected(); err != nil {
		return err
	}
	if v.broken != "" {
		return fault(&types.InvalidState{}, "The operation is not allowed in the current state.")
	}
	return nil
}

// poolOf adds or removes a VM in a pool's list.
func (w *world) poolOf(v *vmachine, pool ref, in bool) {
	o := w.get(pool)
	if o == nil || v.m.Config.Template && in {
		return
	}
	p := o.ptr.(*mo.ResourcePool)
	if !w.building {
		p.Vm = withoutRef(p.Vm, v.o.ref)
	}
	if in {
		p.Vm = append(p.Vm, v.o.ref)
	}
	w.touch(o, "vm")
}

func (v *vmachine) setFiles(store *object) {
	ds := store.ptr.(*mo.Datastore)
	dir := fmt.Sprintf("[%s] %s/", ds.Name, v.m.Name)
	v.m.Config.Files = types.VirtualMachineFileInfo{VmPathName: dir + v.m.Name + ".vmx", LogDirectory: dir, SnapshotDirectory: dir, SuspendDirectory: dir}
	v.m.Datastore = []ref{store.ref}
	v.layOut()
	for _, d := range v.m.Config.Hardware.Device {
		if disk, ok := d.(*types.VirtualDisk); ok {
			if b, ok := disk.Backing.(*types.VirtualDiskFlatVer2BackingInfo); ok && b.FileName == "" {
				b.FileName, b.Datastore = dir+v.m.Name+".vmdk", &store.ref
			}
		}
	}
}

// layOut lists the VM's files, as far as they are shown.
func (v *vmachine) layOut() {
	dir := v.m.Config.Files.LogDirectory
	files := []types.VirtualMachineFileLayoutExFileInfo{{Key: 0, Name: dir + v.m.Name + ".vmx", Type: "config", Size: 3000}}
	if v.memory.store != nil {
		files = append(files, types.VirtualMachineFileLayoutExFileInfo{Key: 1, Name: dir + v.m.Name + ".vmss", Type: "suspend", Size: v.memory.bytes})
	}
	v.m.LayoutEx = &types.VirtualMachineFileLayoutEx{Timestamp: time.Now().UTC(), File: files}
}

// summarise refreshes what repeats the config: summary, networks.
func (v *vmachine) summarise() {
	c := v.m.Config
	rt, taken := v.m.Runtime, v.disks.bytes+v.swap.bytes+v.memory.bytes
	v.m.Summary = types.VirtualMachineSummary{Vm: &v.m.Self, Runtime: rt, OverallStatus: "green",
		Guest: &types.VirtualMachineGuestSummary{GuestId: c.GuestId, ToolsRunningStatus: v.m.Guest.ToolsRunningStatus, ToolsStatus: v.m.Guest.ToolsStatus},
		Config: types.VirtualMachineConfigSummary{Name: c.Name, Template: c.Template, VmPathName: c.Files.VmPathName, MemorySizeMB: c.Hardware.MemoryMB,
			NumCpu: c.Hardware.NumCPU, Uuid: c.Uuid, InstanceUuid: c.InstanceUuid, GuestId: c.GuestId, GuestFullName: c.GuestFullName,
			NumEthernetCards: int32(len(v.nics())), NumVirtualDisks: 1},
		Storage:    &types.VirtualMachineStorageSummary{Committed: taken, Unshared: taken, Timestamp: v.w.started},
		QuickStats: types.VirtualMachineQuickStats{GuestHeartbeatStatus: "gray"}}
	if a := c.MemoryAllocation; a != nil && a.Reservation != nil {
		v.m.Summary.Config.MemoryReservation = int32(*a.Reservation)
	}
	v.m.Network = []ref{}
	for _, card := range v.nics() {
		if n := v.dc.byBacking(card.GetVirtualDevice().Backing); n != nil {
			v.m.Network = append(withoutRef(v.m.Network, n.o.ref), n.o.ref)
		}
	}
	v.w.touch(v.o, "summary", "network")
}

// nics are the VM's NICs, passthrough ones included.
func (v *vmachine) nics() []types.BaseVirtualDevice {
	var res []types.BaseVirtualDevice
	for _, d := range v.m.Config.Hardware.Device {
		if _, ok := d.(types.BaseVirtualEthernetCard); ok {
			res = append(res, d)
		}
	}
	return res
}

func i64(n int64) *int64 { return &n }

func (v *vmachine) baseConfig(s *vmSpec) {
	c := v.m.Config
	c.GuestId, c.Version = s.GuestId, s.HardwareVersion
	if c.GuestId == "" {
		c.GuestId = "rhel9_64Guest"
	}
	if c.Version == "" {
		c.Version = fmt.Sprintf("vmx-%02d", min(20, hwOf(v.h.release())))
	}
	c.GuestFullName, c.Firmware = c.GuestId, s.Firmware
	if c.Firmware == "" {
		c.Firmware = "efi"
	}
	c.Hardware = types.VirtualHardware{NumCPU: max(1, s.NumCPUs), NumCoresPerSocket: types.NewInt32(1), MemoryMB: max(64, s.MemoryMB)}
	shares := &types.SharesInfo{Shares: 1000, Level: "normal"}
	c.MemoryAllocation = &types.ResourceAllocationInfo{Reservation: i64(0), Limit: i64(-1), Shares: shares, ExpandableReservation: types.NewBool(false)}
	c.CpuAllocation = &types.ResourceAllocationInfo{Reservation: i64(0), Limit: i64(-1), Shares: shares, ExpandableReservation: types.NewBool(false)}
	c.MemoryReservationLockedToMax = types.NewBool(false)
	c.LatencySensitivity = &types.LatencySensitivity{Level: "normal"}
	v.diskGB = max(1, s.DiskGB)
	disk := &types.VirtualDisk{CapacityInKB: v.diskGB << 20, CapacityInBytes: v.diskGB << 30}
	disk.Key, disk.ControllerKey, disk.UnitNumber = 2000, 1000, types.NewInt32(0)
	disk.DeviceInfo = &types.Description{Label: "Hard disk 1", Summary: fmt.Sprintf("%d KB", v.diskGB<<20)}
	disk.Backing = &types.VirtualDiskFlatVer2BackingInfo{DiskMode: "persistent", ThinProvisioned: types.NewBool(true)}
	pci := &types.VirtualPCIController{}
	pci.Key, pci.DeviceInfo = 100, &types.Description{Label: "PCI controller 0", Summary: "PCI controller 0"}
	scsi := &types.ParaVirtualSCSIController{}
	scsi.Key, scsi.ControllerKey, scsi.Device, scsi.SharedBus = 1000, 100, []int32{2000}, "noSharing"
	scsi.DeviceInfo = &types.Description{Label: "SCSI controller 0", Summary: "VMware paravirtual SCSI"}
	c.Hardware.Device = []types.BaseVirtualDevice{pci, scsi, disk}
	v.encrypt(s)
	if s.LibraryItem != "" {
		c.ContentLibItemInfo = &types.VirtualMachineContentLibraryItemInfo{ContentLibraryItemUuid: s.LibraryItem}
	}
	keys := []string{}
	for k := range s.ExtraConfig {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	c.ExtraConfig = []types.BaseOptionValue{&types.OptionValue{Key: "nvram", Value: v.m.Name + ".nvram"}}
	for _, k := range keys {
		v.setExtra(k, s.ExtraConfig[k])
	}
	if s.InstanceUuid != "" {
		c.InstanceUuid = strings.ToLower(s.InstanceUuid)
	}
	c.Template = isTrue(s.Template)
	v.bump()
}

// encrypt: a virtual TPM has the VM's files encrypted, not its disks.
func (v *vmachine) encrypt(s *vmSpec) {
	c, key := v.m.Config, &types.CryptoKeyId{KeyId: "key-1", ProviderId: &types.KeyProviderId{Id: "nkp"}}
	if s.Tpm || s.Encrypted {
		c.KeyId = key
	}
	if s.Tpm {
		tpm := &types.VirtualTPM{}
		tpm.Key, tpm.ControllerKey = 11000, 100
		tpm.DeviceInfo = &types.Description{Label: "Virtual TPM", Summary: "Virtual TPM"}
		c.Hardware.Device = append(c.Hardware.Device, tpm)
	}
	for _, d := range c.Hardware.Device {
		if disk, ok := d.(*types.VirtualDisk); ok && s.Encrypted {
			disk.Backing.(*types.VirtualDiskFlatVer2BackingInfo).KeyId = key
		}
	}
}

// newMAC is a generated address, in the range vCenter assigns from.
func newMAC() string {
	return fmt.Sprintf("00:50:56:%02x:%02x:%02x", 0x80+rand.Intn(0x40), rand.Intn(256), rand.Intn(256))
}
