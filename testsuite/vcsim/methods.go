// SPDX-License-Identifier: GPL-2.0-or-later
// methods.go: the table of methods, and who may call them.

package main

import (
	"strings"

	"github.com/vmware/govmomi/vim25/types"
)

type method struct {
	types     []string
	run       func(c *call) (any, error)
	anonymous bool
	mutating  bool // changes a VM or a host: counted, subject to restrict
	nullable  bool // an absent result is an empty reply, not a 204
	singleton bool // works without an object of that id in the store
}

var methods map[string]*method

func on(kinds ...string) []string { return kinds }

func init() {
	vm := on("VirtualMachine")
	pc := on("PropertyCollector")
	methods = map[string]*method{
		"Login":                        {types: on("SessionManager"), run: login, anonymous: true},
		"Logout":                       {types: on("SessionManager"), run: logout},
		"SessionIsActive":              {types: on("SessionManager"), run: sessionIsActive},
		"RetrieveServiceContent":       {types: on("ServiceInstance"), run: serviceContent, anonymous: true},
		"CurrentTime":                  {types: on("ServiceInstance"), run: currentTime, anonymous: true},
		"CreateContainerView":          {types: on("ViewManager"), run: createContainerView},
		"CreateListView":               {types: on("ViewManager"), run: createListView},
		"ModifyListView":               {types: on("ListView"), run: modifyListView, nullable: true},
		"DestroyView":                  {types: on("ListView", "ContainerView"), run: destroyView},
		"CreatePropertyCollector":      {types: pc, run: createPropertyCollector},
		"DestroyPropertyCollector":     {types: pc, run: destroyPropertyCollector},
		"CreateFilter":                 {types: pc, run: createFilter},
		"DestroyPropertyFilter":        {types: on("PropertyFilter"), run: destroyFilter},
		"WaitForUpdatesEx":             {types: pc, run: countedWait, nullable: true},
		"CancelWaitForUpdates":         {types: pc, run: cancelWaitForUpdates},
		"RetrieveProperties":           {types: pc, run: retrieveProperties},
		"RetrievePropertiesEx":         {types: pc, run: retrievePropertiesEx, nullable: true},
		"ContinueRetrievePropertiesEx": {types: pc, run: continueRetrieve, nullable: true},
		"CancelRetrievePropertiesEx":   {types: pc, run: cancelRetrieve},
		"FindByInventoryPath":          {types: on("SearchIndex"), run: findByInventoryPath, nullable: true},
		"FindByUuid":                   {types: on("SearchIndex"), run: findByUuid, nullable: true},
		"FindAllByUuid":                {types: on("SearchIndex"), run: findAllByUuid, nullable: true},
		"FindChild":                    {types: on("SearchIndex"), run: findChild, nullable: true},
		"CancelTask":                   {types: on("Task"), run: cancelTask},
		"CloneVM_Task":                 {types: vm, run: cloneVM, mutating: true},
		"InstantClone_Task":            {types: vm, run: instantCloneVM, mutating: true},
		"ReconfigVM_Task":              {types: vm, run: reconfigVM, mutating: true},
		"PowerOnVM_Task":               {types: vm, run: powerOnVM, mutating: true},
		"PowerOffVM_Task":              {types: vm, run: powerOffVM, mutating: true},
		"ShutdownGuest":                {types: vm, run: shutdownGuest, mutating: true},
		"SuspendVM_Task":               {types: vm, run: suspendVM, mutating: true},
		"Destroy_Task":                 {types: vm, run: destroyVM, mutating: true},
		"RelocateVM_Task":              {types: vm, run: relocateVM, mutating: true},
		"UnregisterVM":                 {types: vm, run: unregisterVM, mutating: true},
		"Rename_Task":                  {types: vm, run: renameVM, mutating: true},
		"MarkAsTemplate":               {types: vm, run: markAsTemplate, mutating: true},
		"MarkAsVirtualMachine":         {types: vm, run: markAsVM, mutating: true},
		"CreateSnapshot_Task":          {types: vm, run: createSnapshot, mutating: true},
		"CreateSecondaryVM_Task":       {types: vm, run: checkFT, mutating: true},
		"EnterMaintenanceMode_Task":    {types: on("HostSystem"), run: enterMaintenance, mutating: true},
		"ExitMaintenanceMode_Task":     {types: on("HostSystem"), run: exitMaintenance, mutating: true},
		"HasPrivilegeOnEntities":       {types: on("AuthorizationManager"), run: hasPrivilegeOnEntities, nullable: true},
		"HasPrivilegeOnEntity":         {types: on("AuthorizationManager"), run: hasPrivilegeOnEntity, nullable: true},
		"HasUserPrivilegeOnEntities":   {types: on("AuthorizationManager"), run: hasUserPrivilegeOnEntities, nullable: true},
		"FetchUserPrivilegeOnEntities": {types: on("AuthorizationManager"), run: fetchUserPrivilegeOnEntities, nullable: true},
		"PlaceVm":                      {types: on("ClusterComputeResource"), run: placeVM},
		"QueryConfigTarget":            {types: on("EnvironmentBrowser"), run: queryConfigTarget, nullable: true},
		"CheckClone_Task":              {types: on("VirtualMachineProvisioningChecker"), run: checkClone},
		"CheckVmConfig_Task":           {types: on("VirtualMachineCompatibilityChecker"), run: checkVMConfig},
		"CheckInstantClone_Task":       {types: on("VirtualMachineProvisioningChecker"), run: checkInstantClone},
		"CheckPowerOn_Task":            {types: on("VirtualMachineCompatibilityChecker"), run: checkPowerOn},
	}
	markSingletons()
}

// markSingletons: managers answer without an object in the store.
func markSingletons() {
	for _, m := range methods {
		switch m.types[0] {
		case "SessionManager", "ServiceInstance", "ViewManager", "SearchIndex", "AuthorizationManager",
			"VirtualMachineProvisioningChecker", "VirtualMachineCompatibilityChecker":
			m.singleton = true
		}
	}
}

func countedWait(c *call) (any, error) {
	c.w.count.waits++
	return waitForUpdatesEx(c)
}

// admit counts a mutating call, and refuses it under "restrict".
func (c *call) admit() error {
	if c.foreign {
		return nil
	}
	w := c.w
	w.count.mutating++
	if c.o == nil || c.o.vm == nil {
		if len(w.inv.Restrict) > 0 {
			w.count.foreignTouches++
			return c.noPermission()
		}
		return nil
	}
	if c.method == "CloneVM_Task" {
		return nil
	}
	inside := w.inFolders(c.o)
	if v := c.o.vm; v.foreign {
		w.count.foreignTouches++
		if w.isKnown(v.foreignAt) {
			w.count.foreignKnownTouches++
		}
		w.count.note("foreign touch: %s of %s", c.method, v.m.Name)
	}
	if len(w.inv.Restrict) > 0 && !inside {
		return c.noPermission()
	}
	return nil
}

func (c *call) noPermission() error {
	f := &types.NoPermission{Object: &c.this, PrivilegeId: "VirtualMachine.Interact.PowerOn"}
	return fault(f, "Permission to perform this operation was denied.")
}

// inFolders tells whether an object lies in one of the client's folders.
func (w *world) inFolders(o *object) bool {
	for p := o; p != nil; {
		e := p.entity()
		if e == nil || e.Parent == nil {
			return false
		}
		if p = w.get(*e.Parent); p == nil || p.ref.Type != "Folder" {
			return false
		}
		for _, dc := range w.dcs {
			if len(w.inv.Restrict) > 0 {
				for _, n := range w.inv.Restrict {
					if p.ref == dc.folders[n] {
						return true
					}
				}
			} else if dc.ours[p.ref] {
				return true
			}
		}
	}
	return false
}

// judge notes whether the client manages the VM: it is in one of the client's
// folders, is no template, and has a mark that names its own uuid.
func (v *vmachine) judge() {
	f := !v.w.inFolders(v.o) || v.m.Config.Template || !v.owned()
	if f != v.foreign || v.foreignAt == 0 {
		v.foreign, v.foreignAt = f, v.w.seq
	}
}

// owned: the mark names the VM's own instance uuid, or, as an instant clone's
// may not be given, its BIOS uuid.
func (v *vmachine) owned() bool {
	mark, ok := v.extra("slurm.vsphere.owner")
	parts := strings.Split(mark, "/")
	return ok && len(parts) == 3 && v.m.Config.InstanceUuid != "" &&
		(strings.EqualFold(parts[2], v.m.Config.InstanceUuid) || strings.EqualFold(parts[2], v.m.Config.Uuid))
}

// laterTypes are members that came with a release; older schemas lack them.
var laterMembers = map[string]string{"strictLatencyConfig": "8.0.3.1", "partialMaintenanceMode": "8.0.3.0",
	"numaNode": "8.0.0.1", "uptv2Enabled": "8.0.0.1", "virtualNuma": "8.0.0.1", "simultaneousThreads": "8.0.0.1",
	"deviceGroups": "8.0.0.1", "dvxBackingInfo": "8.0.0.1"}

// checkRelease refuses members that the negotiated release doesn't have.
func checkRelease(doc any, release, path string) error {
	switch x := doc.(type) {
	case []any:
		for _, e := range x {
			if err := checkRelease(e, release, path); err != nil {
				return err
			}
		}
	case map[string]any:
		for k, e := range x {
			if min, ok := laterMembers[k]; ok && versionLess(release, min) {
				return bad(join(path, k), "unknown member in release %s", release)
			}
			if err := checkRelease(e, release, join(path, k)); err != nil {
				return err
			}
		}
	}
	return nil
}
