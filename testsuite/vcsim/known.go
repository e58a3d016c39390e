// SPDX-License-Identifier: GPL-2.0-or-later
// known.go: what a client that waits for updates must have seen. Who asks for
// the next version has read the one before; a moment later it must act on it.
// A power-on that fills a PF beyond what its sender could know of is a race
// that no client can win, and is not counted as powerOnKnownFullPF.

package main

import "time"

// knownAfter is the time from a client's asking for the next version until no
// request of it can rest on an older one: one that was written and still waits
// for a connection, on a busy machine.
const knownAfter = 2 * time.Second

type ack struct {
	seq uint64
	at  time.Time
}

// acknowledged: some client has seen everything up to this change.
func (w *world) acknowledged(seq uint64) {
	if n := len(w.acks); n > 0 && w.acks[n-1].seq >= seq {
		return
	}
	w.acks = append(w.acks, ack{seq, time.Now()})
	for len(w.acks) > 1 && time.Since(w.acks[1].at) >= knownAfter {
		w.acks = w.acks[1:]
	}
}

// isKnown tells whether a change lies so far back that clients act on it.
func (w *world) isKnown(seq uint64) bool {
	for _, a := range w.acks {
		if a.seq >= seq {
			return time.Since(a.at) >= knownAfter
		}
	}
	return seq == 0
}

// unknownTo is how many VFs of a PF clients may still believe free: taken by
// foreign power-ons or by a lowered count that were not acknowledged.
func (p *pf) unknownTo() int {
	w, n := p.h.o.w(), 0
	for _, v := range p.used {
		if !w.isKnown(v.foreignOn) {
			n++
		}
	}
	if p.lowered > 0 && !w.isKnown(p.loweredAt) {
		n += p.lowered
	}
	return n
}
