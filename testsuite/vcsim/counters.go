// SPDX-License-Identifier: GPL-2.0-or-later
// counters.go: what the tests ask about: calls, touches, invariants.

package main

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

type counters struct {
	calls               map[string]int
	mutating            int
	powerOnFullPF       int
	powerOnKnownFullPF  int
	foreignTouches      int
	foreignDisks        int
	brokenChildren      int // linked clones whose base our Destroy_Task deleted
	foreignKnownTouches int
	foreignKnownDisks   int
	disksDeleted        int
	notes               []string // the last accusations, for people
	maxInFlight         int
	maxInFlightBy       map[string]int // by method
	logins              int
	failedLogins        int
	lockedLogins        int
	waits               int
	haRestarts          int
	churn               map[string]int // operations of other users
	faultsBy            map[string]int // by the rule's label
	faults              int
	needs               map[string]map[string]bool // by privilege: kinds of objects
}

func newCounters() *counters {
	return &counters{calls: map[string]int{}, faultsBy: map[string]int{}, notes: []string{}, churn: map[string]int{},
		maxInFlightBy: map[string]int{}, needs: map[string]map[string]bool{}}
}

func (c *counters) fault(r *faultRule) {
	c.faults++
	if r.Label != "" {
		c.faultsBy[r.Label]++
	}
}

func (c *counters) note(format string, a ...any) {
	if len(c.notes) >= 50 {
		c.notes = c.notes[1:]
	}
	c.notes = append(c.notes, time.Now().UTC().Format("15:04:05.000 ")+fmt.Sprintf(format, a...))
}

// kind tells what a privilege is wanted on, in the words of a site's roles.
func (w *world) kind(o *object) string {
	switch {
	case o.ref == w.content.RootFolder:
		return "root"
	case o.vm != nil && o.vm.m.Config.Template:
		return "template"
	}
	if k, ok := map[string]string{"Folder": "folder", "VirtualMachine": "folder", "ResourcePool": "pool",
		"ClusterComputeResource": "pool", "Datastore": "store", "HostSystem": "host"}[o.ref.Type]; ok {
		return k
	}
	return "network"
}

// need keeps which privileges the calls of users took, and on what.
func (c *counters) need(by *call, needs []need) {
	for _, n := range needs {
		if n.o == nil || n.priv == viewPriv {
			continue
		}
		if c.needs[n.priv] == nil {
			c.needs[n.priv] = map[string]bool{}
		}
		c.needs[n.priv][by.w.kind(n.o)] = true
	}
}

func (c *counters) needed() map[string][]string {
	res := map[string][]string{}
	for p, kinds := range c.needs {
		res[p] = slices.Sorted(maps.Keys(kinds))
	}
	return res
}

func (w *world) counters() map[string]any {
	c := w.count
	return map[string]any{"calls": c.calls, "mutating": c.mutating, "powerOnFullPF": c.powerOnFullPF, "powerOnKnownFullPF": c.powerOnKnownFullPF,
		"brokenChildren": c.brokenChildren, "foreignTouches": c.foreignTouches, "foreignDisks": c.foreignDisks,
		"foreignKnownTouches": c.foreignKnownTouches, "foreignKnownDisks": c.foreignKnownDisks, "disksDeleted": c.disksDeleted, "notes": c.notes, "maxInFlight": c.maxInFlight, "maxInFlightBy": c.maxInFlightBy, "logins": c.logins,
		"failedLogins": c.failedLogins, "lockedLogins": c.lockedLogins, "sessions": len(w.sessions),
		"waits": c.waits, "haRestarts": c.haRestarts, "churn": c.churn, "faults": c.faults, "faultsBy": c.faultsBy, "needs": c.needed()}
}
