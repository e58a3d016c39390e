// SPDX-License-Identifier: GPL-2.0-or-later
// tasks.go: tasks are queued for slots (vCenter's, hosts', datastores'), run for the
// duration of their kind, and take effect at their end. A cancelled task takes
// none. Forgotten ten minutes after they ended, or when more than 200 are done.

package main

import (
	"time"

	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

type task struct {
	o          *object
	m          *mo.Task
	kind       string    // method, as in durations
	own        string    // a duration of its own, where it is given
	hosts      []*host   // slots it takes: a provisioning task's hosts
	stores     []*object // and datastores
	copies     bool      // disks, whole
	cancelable bool
	run        func() (any, error) // under w.mu, at the end of the duration
	after      func()              // under w.mu, however it ended
	begun      func()              // under w.mu, when it leaves the queue
	until      func() bool         // when set, the task ends when it says so
	over       func(t *task) error // a declared fault for this task
	hang       bool
	extra      time.Duration
	finished   bool
	powering   *vmachine
	foreign    bool // a power-on by the admin's foreign hand
	timer      *time.Timer
}

type taskManager struct {
	w       *world
	byRef   map[ref]*task
	queue   []*task
	running []*task
	done    []*task
	recent  []ref
}

// start makes a task and queues it.
func (tm *taskManager) start(c *call, kind, desc string, entity *object, t *task) ref {
	w := tm.w
	r := ref{Type: "Task", Value: w.newID("task-")}
	t.kind = kind
	t.m = &mo.Task{}
	t.m.Self = r
	user := "root"
	if c != nil && c.s != nil {
		user = c.s.user.UserName
	}
	t.m.Info = types.TaskInfo{Key: r.Value, Task: r, Name: kind, DescriptionId: desc, Entity: &entity.ref,
		EntityName: entity.name(), State: types.TaskInfoStateQueued, Cancelled: false, Cancelable: t.cancelable,
		Reason: &types.TaskReasonUser{UserName: user}, QueueTime: time.Now().UTC(), EventChainId: int32(w.ids)}
	t.o = w.add(r, t.m)
	tm.byRef[r] = t
	tm.recent = append(tm.recent, r)
	w.faults.forTask(t, kind, entity.name())
	tm.queue = append(tm.queue, t)
	tm.pump()
	return r
}

// or fills in what is not given.
func (s slotSpec) or(old slotSpec) slotSpec {
	if s.VCenter > 0 {
		old.VCenter = s.VCenter
	}
	if s.Host > 0 {
		old.Host = s.Host
	}
	if s.Units > 0 {
		old.Units = s.Units
	}
	if s.Store > 0 {
		old.Store = s.Store
	}
	return old
}

// most is what a host bears at once: so many tasks, or so many units.
func (s slotSpec) most() int {
	if s.Units > 0 {
		return s.Units
	}
	return s.Host
}

// cost: by the units that VMware has published for 6.x and 7.x (a host has 16),
// a full clone takes 4, a linked one 1, a move of disks 8.
func (t *task) cost(s slotSpec) int {
	switch {
	case s.Units == 0 || !t.copies:
		return 1
	case t.kind == "RelocateVM_Task":
		return 8
	}
	return 4
}

// pump moves queued tasks into free slots, oldest first.
func (tm *taskManager) pump() {
	slots := tm.w.inv.TaskSlots
	use, stores := map[*host]int{}, map[*object]int{}
	take := func(t *task) {
		for _, h := range t.hosts {
			use[h] += t.cost(slots)
		}
		for _, s := range t.stores {
			stores[s]++
		}
	}
	for _, t := range tm.running {
		take(t)
	}
	rest := tm.queue[:0:0]
	for _, t := range tm.queue {
		ok := len(tm.running) < slots.VCenter
		for _, h := range t.hosts {
			ok = ok && use[h]+t.cost(slots) <= slots.most()
		}
		for _, s := range t.stores {
			ok = ok && (slots.Store <= 0 || stores[s] < slots.Store)
		}
		if !ok {
			rest = append(rest, t)
			continue
		}
		take(t)
		tm.running = append(tm.running, t)
		tm.begin(t)
	}
	tm.queue = rest
	tm.countInFlight()
}

func (tm *taskManager) countInFlight() {
	c := tm.w.count
	c.maxInFlight = max(c.maxInFlight, len(tm.running)+len(tm.queue))
	by := map[string]int{}
	for _, list := range [][]*task{tm.running, tm.queue} {
		for _, t := range list {
			by[t.kind]++
			c.maxInFlightBy[t.kind] = max(c.maxInFlightBy[t.kind], by[t.kind])
		}
	}
}

func (tm *taskManager) begin(t *task) {
	w := tm.w
	now := time.Now().UTC()
	t.m.Info.State, t.m.Info.StartTime = types.TaskInfoStateRunning, &now
	w.touch(t.o, "info")
	if t.begun != nil {
		t.begun()
	}
	if t.hang || t.until != nil {
		return
	}
	d := w.duration(t.timed(w)) + t.extra
	t.timer = time.AfterFunc(d, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		tm.complete(t)
	})
}

// timed: a clone that copies no disks, or a power-on that reads a memory, may
// have a duration of its own.
func (t *task) timed(w *world) string {
	if _, ok := w.inv.Durations[t.own]; ok {
		return t.own
	}
	return t.kind
}

func (w *world) duration(kind string) time.Duration {
	if d, ok := w.inv.Durations[kind]; ok {
		return time.Duration(d)
	}
	return 50 * time.Millisecond
}

func (tm *taskManager) complete(t *task) {
	if t.finished {
		return
	}
	var res any
	var err error
	if t.over != nil {
		err = t.over(t)
	}
	if err == nil {
		res, err = t.run()
	}
	tm.finish(t, res, err)
}

func (tm *taskManager) finish(t *task, res any, err error) {
	w := tm.w
	t.finished = true
	now := time.Now().UTC()
	i := &t.m.Info
	i.CompleteTime, i.Cancelable = &now, false
	if i.StartTime == nil {
		i.StartTime = &now
	}
	if err != nil {
		f := asFault(err)
		l := localized(f.fault, f.text)
		i.State, i.Error = types.TaskInfoStateError, &l
	} else {
		i.State, i.Result = types.TaskInfoStateSuccess, res
	}
	if t.after != nil {
		t.after()
	}
	w.touch(t.o, "info")
	tm.running = without(tm.running, t)
	tm.queue = without(tm.queue, t)
	tm.done = append(tm.done, t)
	tm.forget()
	tm.pump()
	for _, h := range t.hosts {
		h.checkMaintenance()
	}
}

func without(list []*task, t *task) []*task {
	for i, x := range list {
		if x == t {
			return append(list[:i:i], list[i+1:]...)
		}
	}
	return list
}

// forget drops old finished tasks.
func (tm *taskManager) forget() {
	for len(tm.done) > 0 && (len(tm.done) > 2000 || time.Since(*tm.done[0].m.Info.CompleteTime) > 10*time.Minute) {
		t := tm.done[0]
		tm.done = tm.done[1:]
		delete(tm.byRef, t.o.ref)
		tm.w.remove(t.o)
	}
	if n := len(tm.recent); n > 1000 {
		tm.recent = append(tm.recent[:0:0], tm.recent[n-500:]...)
	}
}

// recentTasks are the unfinished ones and the last 200 that are done.
func (tm *taskManager) recentTasks() []ref {
	res := []ref{}
	skip := len(tm.done) - 200
	old := map[ref]bool{}
	for i := 0; i < skip; i++ {
		old[tm.done[i].o.ref] = true
	}
	for _, r := range tm.recent {
		if tm.byRef[r] != nil && !old[r] {
			res = append(res, r)
		}
	}
	return res
}

// cancel: a queued one ends at once, a running one if it is cancelable; it
// ends in RequestCanceled, has no effect and doesn't change its mind.
func (tm *taskManager) cancel(t *task) error {
	if t.finished {
		return fault(&types.InvalidState{}, "The operation is not allowed in the current state.")
	}
	if !t.cancelable {
		return fault(&types.NotSupported{}, "The operation is not supported on the object.")
	}
	if t.timer != nil {
		t.timer.Stop()
	}
	t.m.Info.Cancelled = true
	tm.finish(t, nil, canceled())
	return nil
}

func cancelTask(c *call) (any, error) {
	t := c.w.tasks.byRef[c.this]
	if t == nil {
		return nil, notFound(c.this)
	}
	return nil, c.w.tasks.cancel(t)
}

// finishAll ends at once whatever runs, with its effect.
func (tm *taskManager) finishAll() {
	for _, t := range append([]*task(nil), tm.running...) {
		if !t.hang && t.until == nil {
			tm.complete(t)
		}
	}
}

// reset forgets all tasks, as a restart does; what was under way is lost.
func (tm *taskManager) reset() {
	for _, t := range tm.byRef {
		if !t.finished {
			t.finished = true
			if t.timer != nil {
				t.timer.Stop()
			}
			if t.after != nil {
				t.after()
			}
		}
		tm.w.remove(t.o)
	}
	tm.byRef, tm.queue, tm.running, tm.done, tm.recent = map[ref]*task{}, nil, nil, nil, nil
}
