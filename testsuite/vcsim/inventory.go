// SPDX-License-Identifier: GPL-2.0-or-later
// inventory.go: what the simulated vCenter holds at start, as declared in a
// JSON file. An unknown key or a wrong type is an error that says its path.

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"
)

// Dur is a duration written as Go writes them ("200ms").
type Dur time.Duration

// UnmarshalJSON reads "200ms".
func (d *Dur) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("a duration is a string such as \"200ms\"")
	}
	v, err := time.ParseDuration(s)
	*d = Dur(v)
	return err
}

type aboutSpec struct {
	ApiVersion string `json:"apiVersion"`
	ApiType    string `json:"apiType"`
	Hello      *bool  `json:"hello"`
	Checkers   *bool  `json:"checkers"`   // false: without VirtualMachineProvisioningChecker and VirtualMachineCompatibilityChecker
	Transcoder *bool  `json:"transcoder"` // by the release: from 8.0.2.0 on
}

type userSpec struct {
	Name     string `json:"name"`
	Password string `json:"password"`
}

type slotSpec struct {
	VCenter int `json:"vcenter"`
	Host    int `json:"host"`
	Units   int `json:"hostUnits"` // of a host, instead: see cost()
	Store   int `json:"datastore"`
}

// lockoutSpec: so many wrong passwords in a window lock an account for a time.
type lockoutSpec struct {
	Failures int `json:"failures"`
	Window   Dur `json:"window"`
	Unlock   Dur `json:"unlock"`
}

type guestSpec struct {
	Command []string `json:"command"`
}

type inventory struct {
	About       aboutSpec           `json:"about"`
	Users       []userSpec          `json:"users"`
	Seed        int64               `json:"seed"`
	Lockout     lockoutSpec         `json:"lockout"`
	SessionIdle Dur                 `json:"sessionIdle"`
	EmptyReply  string              `json:"emptyReply"`
	Restrict    []string            `json:"restrict"`
	Roles       map[string][]string `json:"roles"`
	Permissions []permSpec          `json:"permissions"`
	FilterLists bool                `json:"filterLists"`
	Durations   map[string]Dur      `json:"durations"`
	TaskSlots   slotSpec            `json:"taskSlots"`
	VfRelease   Dur                 `json:"vfRelease"`
	NoRoomFault string              `json:"noRoomFault"`
	Faults      faultForm           `json:"faults"`          // inside data
	CloneDevice string              `json:"cloneDevices"`    // "refused": a clone whose spec adds a passthrough device
	Policies    []string            `json:"storagePolicies"` // ids of those that PBM knows
	Guest       guestSpec           `json:"guest"`
	Datacenters []dcSpec            `json:"datacenters"`

	load string // directory of a recording, of which all objects are
}

type dcSpec struct {
	Name       string        `json:"name"`
	Folders    []string      `json:"folders"`
	Datastores []dsSpec      `json:"datastores"`
	Switches   []switchSpec  `json:"switches"`
	Networks   []netSpec     `json:"networks"`
	Clusters   []clusterSpec `json:"clusters"`
	Templates  []vmSpec      `json:"templates"`
	VMs        []vmSpec      `json:"vms"`
}

type dsSpec struct {
	Name       string   `json:"name"`
	CapacityGB int64    `json:"capacityGB"`
	FreeGB     int64    `json:"freeGB"`
	Hosts      []string `json:"hosts"` // that mount it; none: all of them
}

type switchSpec struct {
	Name   string `json:"name"`
	MaxMtu int32  `json:"maxMtu"`
}

type netSpec struct {
	Name   string `json:"name"`
	Switch string `json:"switch"`
	Vlan   int32  `json:"vlan"`
	Accept string `json:"accept"` // of its security policy: macChanges, forgedTransmits, allowPromiscuous, with commas; "": none
	Nsx    string `json:"nsx"`    // a segment, overlay or vlan: a port group of the switch, or without one an opaque network
}

type clusterSpec struct {
	Name          string     `json:"name"`
	Drs           string     `json:"drs"`
	DrsPerverse   bool       `json:"drsPerverse"`
	Dpm           string     `json:"dpm"` // manual, automated; "": off
	Ha            bool       `json:"ha"`
	HaPriority    string     `json:"haPriority"` // of VMs without an override; "" is medium
	HaHosts       string     `json:"haHosts"`    // hostMonitoring; "": not said, which is enabled
	HaPassthrough bool       `json:"haPassthrough"`
	Pools         []string   `json:"pools"`
	Hosts         []hostSpec `json:"hosts"`
}

type hostSpec struct {
	Name       string      `json:"name"`
	Count      int         `json:"count"`
	Cores      int         `json:"cores"`
	Mhz        int         `json:"mhz"`
	MemoryMB   int64       `json:"memoryMB"`
	System     *systemSpec `json:"system"`
	Numa       int         `json:"numa"`
	ApiVersion string      `json:"apiVersion"`
	Pnics      []pnicSpec  `json:"pnics"`
	Devices    []pciSpec   `json:"devices"`
	Gpus       []gpuSpec   `json:"gpus"`
	Dvx        []dvxSpec   `json:"dvx"`
}

type pnicSpec struct {
	Device  string     `json:"device"`
	Pci     string     `json:"pci"`
	Numa    int        `json:"numa"`
	SpeedMb int32      `json:"speedMb"`
	Switch  string     `json:"switch"`
	Rdma    bool       `json:"rdma"`
	Driver  string     `json:"driver"` // with its version and the firmware: "nmlx5_core 4.23.0.66 22.39.2048"
	Sriov   *sriovSpec `json:"sriov"`
}

type sriovSpec struct {
	Vfs     int   `json:"vfs"`
	Max     int   `json:"max"`
	Active  *bool `json:"active"`
	Capable *bool `json:"capable"` // false: SR-IOV is off in the firmware or the BIOS
}

type vmSpec struct {
	Name            string            `json:"name"`
	Count           int               `json:"count"`
	Folder          string            `json:"folder"`
	Host            string            `json:"host"`
	Pool            string            `json:"pool"`
	Datastore       string            `json:"datastore"`
	PowerOn         bool              `json:"powerOn"`
	Template        *bool             `json:"template"`
	HardwareVersion string            `json:"hardwareVersion"`
	Firmware        string            `json:"firmware"` // bios, efi; "" is efi
	GuestId         string            `json:"guestId"`
	NumCPUs         int32             `json:"numCPUs"`
	MemoryMB        int32             `json:"memoryMB"`
	LockMemory      *bool             `json:"lockMemory"`
	DiskGB          int64             `json:"diskGB"`
	Snapshot        string            `json:"snapshot"`
	Nics            []string          `json:"nics"`
	Cards           []cardSpec        `json:"cards"`
	ExtraConfig     map[string]string `json:"extraConfig"`
	InstanceUuid    string            `json:"instanceUuid"`
	Tpm             bool              `json:"tpm"`         // a virtual TPM, which encrypts the VM's files
	Encrypted       bool              `json:"encrypted"`   // its files and disks
	LibraryItem     string            `json:"libraryItem"` // uuid of the content library's VM template item that it is
}

type cardSpec struct {
	Type    string `json:"type"`
	Network string `json:"network"`
	Pf      string `json:"pf"`
	Vf      string `json:"vf"`
	Vendor  int    `json:"vendor"` // of Type pci: any device of these ids
	Device  int    `json:"device"`
	Label   string `json:"label"`
	Profile string `json:"profile"` // of Type vgpu
	Class   string `json:"class"`   // of Type dvx
	Pci     string `json:"pci"`     // of Type directpath: the device's address
	Mac     string `json:"mac"`
}

var defaultDurations = map[string]time.Duration{
	"CloneVM_Task": 200 * time.Millisecond, "ReconfigVM_Task": 50 * time.Millisecond,
	"PowerOnVM_Task": 100 * time.Millisecond, "PowerOffVM_Task": 50 * time.Millisecond,
	"SuspendVM_Task": 200 * time.Millisecond, "Destroy_Task": 50 * time.Millisecond, "RelocateVM_Task": 100 * time.Millisecond,
	"ShutdownGuest": 200 * time.Millisecond, "HaRestart": 500 * time.Millisecond, "call": 0,
}

// readStrict decodes a JSON document into out; what out's type doesn't
// declare is an error with its path.
func readStrict(data []byte, out any) error {
	doc, err := parseJSON(data)
	if err != nil {
		return err
	}
	if err := checkShape(doc, reflect.TypeOf(out).Elem(), "", plainRules); err != nil {
		return err
	}
	return json.Unmarshal(data, out)
}

func loadInventory(file string) (*inventory, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	inv, err := parseInventory(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return inv, nil
}

func parseInventory(data []byte) (*inventory, error) {
	inv := &inventory{}
	if err := readStrict(data, inv); err != nil {
		return nil, err
	}
	inv.setDefaults()
	for i := range inv.Datacenters {
		if err := inv.Datacenters[i].check(fmt.Sprintf("datacenters[%d]", i)); err != nil {
			return nil, err
		}
	}
	if inv.CloneDevice != "" && inv.CloneDevice != "refused" {
		return nil, fmt.Errorf("cloneDevices: %q is not \"refused\"", inv.CloneDevice)
	}
	switch inv.NoRoomFault {
	case "NoDiskSpace", "InsufficientStorageSpace", "GenericVmConfigFault":
	default:
		return nil, fmt.Errorf("noRoomFault: %q is not one of NoDiskSpace, InsufficientStorageSpace, GenericVmConfigFault", inv.NoRoomFault)
	}
	switch inv.Faults {
	case flatFaults, nestedFaults:
	default:
		return nil, fmt.Errorf("faults: %q is not flat or nested", inv.Faults)
	}
	switch inv.EmptyReply {
	case "empty", "null", "204":
	default:
		return nil, fmt.Errorf("emptyReply: %q is not one of empty, null, 204", inv.EmptyReply)
	}
	return inv, nil
}

func (inv *inventory) setDefaults() {
	if inv.About.ApiVersion == "" {
		inv.About.ApiVersion = "8.0.3.0"
	}
	if inv.About.ApiType == "" {
		inv.About.ApiType = "VirtualCenter"
	}
	if inv.SessionIdle == 0 {
		inv.SessionIdle = Dur(30 * time.Minute)
	}
	if inv.Lockout.Failures == 0 {
		inv.Lockout.Failures = 5
	}
	if inv.Lockout.Window == 0 {
		inv.Lockout.Window = Dur(180 * time.Second)
	}
	if inv.Lockout.Unlock == 0 {
		inv.Lockout.Unlock = Dur(300 * time.Second)
	}
	if inv.EmptyReply == "" {
		inv.EmptyReply = "empty"
	}
	if inv.TaskSlots.VCenter == 0 {
		inv.TaskSlots.VCenter = 640
	}
	if inv.TaskSlots.Store == 0 {
		inv.TaskSlots.Store = 128
	}
	if inv.Faults == "" {
		inv.Faults = flatFaults
	}
	if inv.NoRoomFault == "" {
		inv.NoRoomFault = "NoDiskSpace"
	}
	if inv.TaskSlots.Host == 0 {
		inv.TaskSlots.Host = 8
	}
	if inv.Durations == nil {
		inv.Durations = map[string]Dur{}
	}
	for k, v := range defaultDurations {
		if _, ok := inv.Durations[k]; !ok {
			inv.Durations[k] = Dur(v)
		}
	}
}

func (dc *dcSpec) check(path string) error {
	sw := map[string]bool{"": true}
	for _, s := range dc.Switches {
		sw[s.Name] = true
	}
	for i, n := range dc.Networks {
		if !sw[n.Switch] {
			return fmt.Errorf("%s.networks[%d].switch: %q is not declared", path, i, n.Switch)
		}
		if n.Nsx != "" && n.Nsx != "overlay" && n.Nsx != "vlan" {
			return fmt.Errorf("%s.networks[%d].nsx: unknown %q", path, i, n.Nsx)
		}
	}
	for ci := range dc.Clusters {
		c := &dc.Clusters[ci]
		p := fmt.Sprintf("%s.clusters[%d]", path, ci)
		switch c.Drs {
		case "", "disabled", "manual", "partiallyAutomated", "fullyAutomated":
		default:
			return fmt.Errorf("%s.drs: unknown %q", p, c.Drs)
		}
		if err := checkHaPriority(c.HaPriority); err != nil {
			return fmt.Errorf("%s.%w", p, err)
		}
		for hi := range c.Hosts {
			for ni, n := range c.Hosts[hi].Pnics {
				if !sw[n.Switch] {
					return fmt.Errorf("%s.hosts[%d].pnics[%d].switch: %q is not declared", p, hi, ni, n.Switch)
				}
			}
		}
	}
	return nil
}

// expandName puts i into a name that has a verb such as %02d.
func expandName(name string, i int) string {
	if strings.Contains(name, "%") {
		return fmt.Sprintf(name, i)
	}
	return name
}
