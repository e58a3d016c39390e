// SPDX-License-Identifier: GPL-2.0-or-later
// rights.go: which privileges a call takes, and on which objects, by the
// methods' own documentation; and AuthorizationManager, by which a client asks.
// Methods that are not in the table take System.View.

package main

import (
	"strings"

	"github.com/vmware/govmomi/vim25/types"
)

// documented is the simulator's own list of privileges, each with the text that it
// is from: T:n is a line of govmomi v0.55.0's vim25/types/types.go, which is
// VMware's documentation; M:name is the page of that method in the vSphere Web
// Services API reference, under "Required Privileges".
var documented = [][2]string{
	{"VirtualMachine.Inventory.CreateFromExisting", "T:10677"},
	{"VirtualMachine.Inventory.Delete", "M:Destroy_Task"},
	{"VirtualMachine.Inventory.Unregister", "M:UnregisterVM"},
	{"VirtualMachine.Provisioning.Clone", "M:CloneVM_Task"},
	{"VirtualMachine.Provisioning.DeployTemplate", "M:CloneVM_Task"},
	{"VirtualMachine.Provisioning.CreateTemplateFromVM", "M:CloneVM_Task"},
	{"VirtualMachine.Provisioning.CloneTemplate", "M:CloneVM_Task"},
	{"VirtualMachine.Provisioning.Customize", "M:CloneVM_Task"},
	{"VirtualMachine.Provisioning.MarkAsTemplate", "M:MarkAsTemplate"},
	{"VirtualMachine.Interact.PowerOn", "M:PowerOnVM_Task"},
	{"VirtualMachine.Interact.PowerOff", "M:PowerOffVM_Task"},
	{"VirtualMachine.Interact.CreateSecondary", "M:CreateSecondaryVM_Task"},
	{"VirtualMachine.Interact.Suspend", "M:SuspendVM_Task"},
	{"VirtualMachine.Interact.DeviceConnection", "T:89997"},
	{"VirtualMachine.State.CreateSnapshot", "M:CreateSnapshot_Task"},
	{"VirtualMachine.Config.AddNewDisk", "T:90007"},
	{"VirtualMachine.Config.AddExistingDisk", "T:90005"},
	{"VirtualMachine.Config.RemoveDisk", "T:90009"},
	{"VirtualMachine.Config.AddRemoveDevice", "T:90010"},
	{"VirtualMachine.Config.EditDevice", "T:90003"},
	{"VirtualMachine.Config.AdvancedConfig", "T:90059"},
	{"VirtualMachine.Config.CPUCount", "T:89938"}, // written CpuCount there
	{"VirtualMachine.Config.Memory", "T:89957"},
	{"VirtualMachine.Config.Resource", "T:90017"},
	{"VirtualMachine.Config.Settings", "T:89769"},
	{"VirtualMachine.Config.Rename", "T:89754"},
	{"VirtualMachine.Config.Annotation", "M:ReconfigVM_Task"},
	{"Resource.AssignVMToPool", "T:69132"},
	{"Resource.ColdMigrate", "M:RelocateVM_Task"},
	{"Resource.HotMigrate", "M:RelocateVM_Task"},
	{"Datastore.AllocateSpace", "T:16590"},
	{"Network.Assign", "T:90012"},
	{"Host.Config.Maintenance", "T:13071"},
	{"Sessions.ValidateSession", "M:SessionIsActive"},
	{"Global.CancelTask", "M:CancelTask"},
	{"StorageProfile.View", ""}, // of clones with a profile nothing is said: demanded to be safe
}

var rights map[string]func(c *call) []need

func init() {
	one := func(priv string) func(c *call) []need {
		return func(c *call) []need { return []need{{c.o, priv}} }
	}
	none := func(*call) []need { return nil }
	rights = map[string]func(c *call) []need{
		"Login": none, "Logout": none, "RetrieveServiceContent": none, "CurrentTime": none,
		"RetrieveProperties": none, "RetrievePropertiesEx": none, "ContinueRetrievePropertiesEx": none, "CancelRetrievePropertiesEx": none,
		"DestroyPropertyFilter": none,
		"SessionIsActive":       func(c *call) []need { return []need{{c.w.get(c.w.content.RootFolder), "Sessions.ValidateSession"}} },
		"CancelTask":            cancelRights,
		"CloneVM_Task":          cloneRights,
		"InstantClone_Task":     instantRights,
		"ReconfigVM_Task":       reconfigRights,
		"RelocateVM_Task":       relocateRights,
		"PowerOnVM_Task":        one("VirtualMachine.Interact.PowerOn"),
		"PowerOffVM_Task":       one("VirtualMachine.Interact.PowerOff"),
		"SuspendVM_Task":        one("VirtualMachine.Interact.Suspend"),
		"ShutdownGuest":         one("VirtualMachine.Interact.PowerOff"),
		"Destroy_Task":          destroyRights,
		"UnregisterVM":          one("VirtualMachine.Inventory.Unregister"),
		"Rename_Task":           one("VirtualMachine.Config.Rename"),
		"MarkAsTemplate":        one("VirtualMachine.Provisioning.MarkAsTemplate"),
		"MarkAsVirtualMachine": func(c *call) []need {
			return []need{{c.w.get(c.req.(*types.MarkAsVirtualMachine).Pool), "Resource.AssignVMToPool"}}
		},
		"CreateSecondaryVM_Task":    one("VirtualMachine.Interact.CreateSecondary"),
		"CreateSnapshot_Task":       one("VirtualMachine.State.CreateSnapshot"),
		"EnterMaintenanceMode_Task": one("Host.Config.Maintenance"),
		"ExitMaintenanceMode_Task":  one("Host.Config.Maintenance"),
	}
}

// cancelRights: everybody may cancel his own tasks.
func cancelRights(c *call) []need {
	t := c.w.tasks.byRef[c.this]
	if t == nil {
		return nil
	}
	if by, ok := t.m.Info.Reason.(*types.TaskReasonUser); ok && by.UserName == c.s.user.UserName {
		return nil
	}
	return []need{{c.o, "Global.CancelTask"}}
}

// destroyRights: the privilege is wanted on the parent as well.
func destroyRights(c *call) []need {
	const p = "VirtualMachine.Inventory.Delete"
	return []need{{c.o, p}, {c.w.get(*c.o.vm.m.Parent), p}}
}

func cloneRights(c *call) []need {
	req, v, w := c.req.(*types.CloneVM_Task), c.o.vm, c.w
	what := map[[2]bool]string{{true, false}: "DeployTemplate", {true, true}: "CloneTemplate", {false, false}: "Clone", {false, true}: "CreateTemplateFromVM"}
	res := []need{{c.o, "VirtualMachine.Provisioning." + what[[2]bool{v.m.Config.Template, req.Spec.Template}]}}
	if v.m.Config.KeyId != nil {
		res = append(res, need{c.o, "Cryptographer.Clone"})
	}
	if req.Spec.Customization != nil {
		res = append(res, need{c.o, "VirtualMachine.Provisioning.Customize"})
	}
	folder := w.get(req.Folder)
	res = append(res, need{folder, "VirtualMachine.Inventory.CreateFromExisting"}, need{folder, "VirtualMachine.Config.AddNewDisk"})
	loc := &req.Spec.Location
	if pool := orRef(loc.Pool, v.m.ResourcePool); pool != nil && !req.Spec.Template {
		res = append(res, need{w.get(*pool), "Resource.AssignVMToPool"})
	}
	if store := orRef(loc.Datastore, &v.m.Datastore[0]); store != nil {
		res = append(res, need{w.get(*store), "Datastore.AllocateSpace"})
	}
	var nets []*object
	for _, d := range v.nics() {
		if n := v.dc.byBacking(d.GetVirtualDevice().Backing); n != nil {
			nets = append(nets, n.o)
		}
	}
	for _, o := range nets {
		res = append(res, need{o, "Network.Assign"})
	}
	if len(loc.Profile) > 0 {
		res = append(res, need{w.get(w.content.RootFolder), "StorageProfile.View"})
	}
	if req.Spec.Config != nil {
		res = append(res, v.configNeeds(folder, req.Spec.Config, true)...)
	}
	return res
}

// instantRights: on which object each privilege is needed is guessed from those
// of CloneVM_Task; the networks of the NICs are in the Automation API's page on
// the same operation.
func instantRights(c *call) []need {
	req, v, w := c.req.(*types.InstantClone_Task), c.o.vm, c.w
	folder := orRef(req.Spec.Location.Folder, &v.dc.m.VmFolder)
	res := []need{{c.o, "VirtualMachine.Provisioning.Clone"}, {c.o, "VirtualMachine.Interact.PowerOn"},
		{w.get(*folder), "VirtualMachine.Inventory.CreateFromExisting"}, {w.get(v.m.Datastore[0]), "Datastore.AllocateSpace"}}
	if pool := orRef(req.Spec.Location.Pool, v.m.ResourcePool); pool != nil {
		res = append(res, need{w.get(*pool), "Resource.AssignVMToPool"})
	}
	res = append(res, connects(w.get(*folder), req.Spec.Location.DeviceChange)...)
	for _, ch := range req.Spec.Location.DeviceChange {
		if d := ch.GetVirtualDeviceConfigSpec().Device; d != nil {
			if n := v.dc.byBacking(d.GetVirtualDevice().Backing); n != nil {
				res = append(res, need{n.o, "Network.Assign"})
			}
		}
	}
	return res
}

// connects: setting `connectable` has a privilege of its own (VirtualMachineConfigSpec.deviceChange).
func connects(o *object, changes []types.BaseVirtualDeviceConfigSpec) []need {
	for _, ch := range changes {
		spec := ch.GetVirtualDeviceConfigSpec()
		if spec.Operation != "remove" && spec.Device != nil && spec.Device.GetVirtualDevice().Connectable != nil {
			return []need{{o, "VirtualMachine.Interact.DeviceConnection"}}
		}
	}
	return nil
}

func orRef(a, b *ref) *ref {
	if a != nil {
		return a
	}
	return b
}

func reconfigRights(c *call) []need {
	return c.o.vm.configNeeds(c.o, &c.req.(*types.ReconfigVM_Task).Spec, false)
}

// configNeeds: each part of a ConfigSpec has its privilege. Which one the uuids
// and the latency sensitivity have is not documented: Settings.
func (v *vmachine) configNeeds(o *object, s *types.VirtualMachineConfigSpec, fresh bool) []need {
	var res []need
	add := func(when bool, what string) {
		if when {
			res = append(res, need{o, "VirtualMachine.Config." + what})
		}
	}
	add(s.NumCPUs != 0 || s.NumCoresPerSocket != nil, "CPUCount")
	add(s.MemoryMB != 0, "Memory")
	add(s.MemoryAllocation != nil || s.CpuAllocation != nil || s.MemoryReservationLockedToMax != nil, "Resource")
	add(len(s.ExtraConfig) > 0, "AdvancedConfig")
	add(s.Annotation != "", "Annotation")
	add(s.Name != "" && !fresh, "Rename")
	add(s.InstanceUuid != "" || s.Uuid != "" || s.LatencySensitivity != nil || s.GuestId != "" || s.Version != "" || s.Firmware != "" || s.BootOptions != nil ||
		s.MemoryHotAddEnabled != nil || s.CpuHotAddEnabled != nil || s.VirtualNuma != nil || s.Flags != nil || s.Tools != nil, "Settings")
	res = append(res, connects(o, s.DeviceChange)...)
	for _, ch := range s.DeviceChange {
		spec := ch.GetVirtualDeviceConfigSpec()
		_, disk := spec.Device.(*types.VirtualDisk)
		add(spec.Operation == "edit", "EditDevice")
		add(spec.Operation == "add" && disk && spec.FileOperation != "", "AddNewDisk")
		add(spec.Operation == "add" && disk && spec.FileOperation == "", "AddExistingDisk")
		add(spec.Operation == "remove" && disk, "RemoveDisk")
		add(spec.Operation != "edit" && !disk, "AddRemoveDevice")
		if spec.Operation == "remove" || spec.Device == nil {
			continue
		}
		if n := v.dc.byBacking(spec.Device.GetVirtualDevice().Backing); n != nil {
			res = append(res, need{n.o, "Network.Assign"})
		}
	}
	return res
}

func relocateRights(c *call) []need {
	req, v := c.req.(*types.RelocateVM_Task), c.o.vm
	res := []need{{c.o, "Resource.ColdMigrate"}}
	if v.on() {
		res = append(res, need{c.o, "Resource.HotMigrate"})
	}
	if p := req.Spec.Pool; p != nil && (v.m.ResourcePool == nil || *p != *v.m.ResourcePool) {
		// "Move a virtual machine into a resource pool", of the vSphere Security
		// guide's table of common tasks: on the VM as well as on the pool.
		res = append(res, need{c.w.get(*p), "Resource.AssignVMToPool"}, need{c.o, "Resource.AssignVMToPool"})
	}
	if d := req.Spec.Datastore; d != nil && *d != v.m.Datastore[0] {
		res = append(res, need{c.w.get(*d), "Datastore.AllocateSpace"})
	}
	return res
}

// loginOf finds a user by either form of his name.
func (w *world) loginOf(name string) string {
	for _, u := range w.inv.Users {
		if strings.EqualFold(u.Name, name) || strings.EqualFold(upnName(u.Name), name) {
			return u.Name
		}
	}
	return name
}

func (c *call) availability(user string, entities []ref, privs []string) (any, error) {
	res := []types.EntityPrivilege{}
	for _, r := range entities {
		o := c.w.lookup(c.s, r)
		if o == nil || !c.w.sees(c.s, o) {
			return nil, notFound(r)
		}
		e := types.EntityPrivilege{Entity: r, PrivAvailability: []types.PrivilegeAvailability{}}
		for _, p := range privs {
			e.PrivAvailability = append(e.PrivAvailability, types.PrivilegeAvailability{PrivId: p, IsGranted: c.w.has(user, o, p)})
		}
		res = append(res, e)
	}
	return res, nil
}

// ofSession finds whose session a key is.
func (c *call) ofSession(key string) (string, error) {
	for _, s := range c.w.sessions {
		if s.user.Key == key {
			return s.login, nil
		}
	}
	return "", invalidArgument("sessionId")
}

func hasPrivilegeOnEntities(c *call) (any, error) {
	req := c.req.(*types.HasPrivilegeOnEntities)
	user, err := c.ofSession(req.SessionId)
	if err != nil {
		return nil, err
	}
	return c.availability(user, req.Entity, req.PrivId)
}

func hasPrivilegeOnEntity(c *call) (any, error) {
	req := c.req.(*types.HasPrivilegeOnEntity)
	user, err := c.ofSession(req.SessionId)
	if err != nil {
		return nil, err
	}
	o := c.w.lookup(c.s, req.Entity)
	if o == nil {
		return nil, notFound(req.Entity)
	}
	res := []bool{}
	for _, p := range req.PrivId {
		res = append(res, c.w.has(user, o, p))
	}
	return res, nil
}

func hasUserPrivilegeOnEntities(c *call) (any, error) {
	req := c.req.(*types.HasUserPrivilegeOnEntities)
	return c.availability(c.w.loginOf(req.UserName), req.Entities, req.PrivId)
}

func fetchUserPrivilegeOnEntities(c *call) (any, error) {
	req := c.req.(*types.FetchUserPrivilegeOnEntities)
	res := []types.UserPrivilegeResult{}
	for _, r := range req.Entities {
		o := c.w.lookup(c.s, r)
		if o == nil || !c.w.sees(c.s, o) {
			return nil, notFound(r)
		}
		e := types.UserPrivilegeResult{Entity: r}
		for _, p := range c.w.allPrivs() {
			if c.w.has(c.w.loginOf(req.UserName), o, p) {
				e.Privileges = append(e.Privileges, p)
			}
		}
		res = append(res, e)
	}
	return res, nil
}
