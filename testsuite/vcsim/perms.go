// SPDX-License-Identifier: GPL-2.0-or-later
// perms.go: roles and permissions: who may see an object and what he may do to
// it. A permission on an object replaces what it inherits; a VM inherits from
// its folder, its pool and its host alike. Where no permission is declared at
// all, everybody may everything.

package main

import (
	"fmt"
	"path"
	"sort"
	"strings"

	"github.com/vmware/govmomi/vim25/types"
)

type permSpec struct {
	User      string `json:"user"`
	Entity    string `json:"entity"` // an inventory path; "" is the root
	Role      string `json:"role"`
	Propagate *bool  `json:"propagate"`
}

type perm struct {
	user      string
	role      string
	propagate bool
}

const (
	readPriv = "System.Read"
	specPriv = "VirtualMachine.Provisioning.ReadCustSpecs"
	viewPriv = "System.View"
)

// setPermissions replaces roles (when given) and permissions.
func (w *world) setPermissions(roles map[string][]string, specs []permSpec) error {
	perms := map[ref][]perm{}
	known := w.inv.Roles
	if roles != nil {
		known = roles
	}
	for i, s := range specs {
		switch s.Role {
		case "Admin", "ReadOnly", "View", "NoAccess":
		default:
			if _, ok := known[s.Role]; !ok {
				return fmt.Errorf("permissions[%d].role: there is no %q", i, s.Role)
			}
		}
		o := w.byInventoryPath(s.Entity)
		if o == nil {
			return fmt.Errorf("permissions[%d].entity: there is no %q", i, s.Entity)
		}
		perms[o.ref] = append(perms[o.ref], perm{strings.ToLower(s.User), s.Role, s.Propagate == nil || *s.Propagate})
	}
	w.inv.Roles, w.perms = known, perms
	w.reconsider()
	return nil
}

func (w *world) byInventoryPath(p string) *object {
	o := w.get(w.content.RootFolder)
	for _, n := range strings.Split(strings.Trim(p, "/"), "/") {
		if n != "" && o != nil {
			o = w.childOf(o.ref, unescapeName(n))
		}
	}
	return o
}

// reconsider lets views and filters see what permissions have changed.
func (w *world) reconsider() {
	if len(w.sessions) == 0 {
		return
	}
	for _, o := range w.ordered() {
		w.publish(o)
	}
	for _, s := range w.sessions {
		for _, c := range s.collectors {
			for _, f := range c.filters {
				f.stale = true
				for _, m := range f.members {
					f.dirty[m.o] = struct{}{}
				}
			}
			c.signal()
		}
	}
}

// rolesOn are a user's roles on an object, own or inherited.
func (w *world) rolesOn(user string, o *object, inherited bool, depth int) []string {
	var res []string
	for _, p := range w.perms[o.ref] {
		if p.user == user && (p.propagate || !inherited) {
			res = append(res, p.role)
		}
	}
	if len(res) > 0 || depth > 32 {
		return res
	}
	for _, r := range w.parents(o) {
		if po := w.get(r); po != nil {
			res = append(res, w.rolesOn(user, po, true, depth+1)...)
		}
	}
	return res
}

// grants: what every role has but the one without access and the one that only
// views, and what is listed, with patterns such as VirtualMachine.Config.*.
func (w *world) grants(role, priv string) bool {
	switch {
	case role == "Admin":
		return true
	case role == "NoAccess":
		return false
	case priv == "System.Anonymous" || priv == viewPriv:
		return true
	case priv == readPriv:
		return role != "View"
	}
	for _, p := range w.inv.Roles[role] {
		if ok, _ := path.Match(p, priv); ok {
			return true
		}
	}
	return false
}

// subject is the managed entity whose permissions count for an object.
func (w *world) subject(o *object) *object {
	if o != nil && o.entity() != nil {
		return o
	}
	if o != nil {
		if t := w.tasks.byRef[o.ref]; t != nil {
			if e := w.get(*t.m.Info.Entity); e != nil {
				return e
			}
		}
		for _, c := range w.clusters {
			if c.browser == o.ref {
				return c.o
			}
		}
	}
	return w.get(w.content.RootFolder)
}

func (w *world) has(user string, o *object, priv string) bool {
	if len(w.perms) == 0 {
		return true
	}
	for _, r := range w.rolesOn(strings.ToLower(user), w.subject(o), false, 0) {
		if w.grants(r, priv) {
			return true
		}
	}
	return false
}

// sees tells whether an object exists for a session; its own tasks do.
func (w *world) sees(s *session, o *object) bool {
	if len(w.perms) == 0 || s == nil || o == nil {
		return true
	}
	if t := w.tasks.byRef[o.ref]; t != nil {
		if by, ok := t.m.Info.Reason.(*types.TaskReasonUser); ok && by.UserName == s.user.UserName {
			return true
		}
	}
	if o.entity() == nil && w.subject(o).ref == w.content.RootFolder {
		return true // a manager, or an object of the session
	}
	return w.has(s.login, o, viewPriv)
}

// reads: config and hardware take System.Read, all else that is asked for here
// System.View (the API reference's "Required Privileges" of each property), but of
// the specifications of customization.
func (w *world) reads(s *session, o *object, top string) bool {
	priv := readsBy(o, top)
	return s == nil || priv == "" || w.has(s.login, o, priv)
}

// readsBy is the privilege that a property takes; "" is System.View.
func readsBy(o *object, top string) string {
	switch {
	case o.ref.Type == "CustomizationSpecManager":
		return specPriv
	case o.entity() != nil && (top == "config" || top == "hardware"):
		return readPriv
	}
	return ""
}

// filtered leaves out what a session can't see, where the switch says so.
func (w *world) filtered(s *session, v any) any {
	list, ok := v.([]ref)
	if !ok || !w.inv.FilterLists || len(w.perms) == 0 || s == nil {
		return v
	}
	res := []ref{}
	for _, r := range list {
		if w.sees(s, w.get(r)) {
			res = append(res, r)
		}
	}
	return res
}

// need is a privilege on an object that a call takes.
type need struct {
	o    *object
	priv string
}

// authorize refuses a call for want of privileges, and says of which.
func (c *call) authorize() error {
	if len(c.w.perms) == 0 || c.foreign || c.s == nil {
		return nil
	}
	needs := []need{{c.o, viewPriv}}
	if f := rights[c.method]; f != nil {
		needs = f(c)
	} else if c.o == nil {
		return nil
	}
	c.w.count.need(c, needs)
	var missing []need
	for _, n := range needs {
		if n.o != nil && !c.w.has(c.s.login, n.o, n.priv) && !(n.priv == viewPriv && c.w.sees(c.s, n.o)) {
			missing = append(missing, n)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return deny(missing)
}

func deny(missing []need) error {
	first := missing[0].o.ref
	f := &types.NoPermission{Object: &first, PrivilegeId: missing[0].priv}
	for _, n := range missing {
		at := -1
		for i := range f.MissingPrivileges {
			if f.MissingPrivileges[i].Entity == n.o.ref {
				at = i
			}
		}
		if at < 0 {
			f.MissingPrivileges = append(f.MissingPrivileges, types.NoPermissionEntityPrivileges{Entity: n.o.ref})
			at = len(f.MissingPrivileges) - 1
		}
		e := &f.MissingPrivileges[at]
		e.PrivilegeIds = append(e.PrivilegeIds, n.priv)
	}
	return fault(f, "Permission to perform this operation was denied.")
}

// allPrivs are the privileges that this simulator knows of, for a list of what
// a user has.
func (w *world) allPrivs() []string {
	set := map[string]bool{"System.Anonymous": true, viewPriv: true, readPriv: true}
	for _, d := range documented {
		p := d[0]
		set[p] = true
	}
	for _, r := range w.inv.Roles {
		for _, p := range r {
			if !strings.ContainsAny(p, "*?[") {
				set[p] = true
			}
		}
	}
	res := []string{}
	for p := range set {
		res = append(res, p)
	}
	sort.Strings(res)
	return res
}
