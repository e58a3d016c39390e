// SPDX-License-Identifier: GPL-2.0-or-later
// counters.go: what the tests ask about: calls, touches, invariants.

package main

type counters struct {
	calls              map[string]int
	mutating           int
	powerOnFullPF      int
	powerOnKnownFullPF int
	foreignTouches     int
	foreignDisks       int
	maxInFlight        int
	logins             int
	failedLogins       int
	lockedLogins       int
	waits              int
	faultsBy           map[string]int // by the rule's label
	faults             int
}

func newCounters() *counters { return &counters{calls: map[string]int{}, faultsBy: map[string]int{}} }

func (c *counters) fault(r *faultRule) {
	c.faults++
	if r.Label != "" {
		c.faultsBy[r.Label]++
	}
}

func (w *world) counters() map[string]any {
	c := w.count
	return map[string]any{"calls": c.calls, "mutating": c.mutating, "powerOnFullPF": c.powerOnFullPF, "powerOnKnownFullPF": c.powerOnKnownFullPF,
		"foreignTouches": c.foreignTouches, "foreignDisks": c.foreignDisks, "maxInFlight": c.maxInFlight, "logins": c.logins,
		"failedLogins": c.failedLogins, "lockedLogins": c.lockedLogins, "sessions": len(w.sessions),
		"waits": c.waits, "faults": c.faults, "faultsBy": c.faultsBy}
}
