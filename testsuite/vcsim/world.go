// SPDX-License-Identifier: GPL-2.0-or-later
// world.go: the store of managed objects, under one mutex. A change is made
// through touch(), which tells the filters that watch the object, and costs
// O(watchers), never O(objects). Functions of this file and of all that change
// the world are called with w.mu held.

package main

import (
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"sort"
	"sync"
	"time"

	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

type ref = types.ManagedObjectReference

// object is one managed object: its mo struct and who watches it.
type object struct {
	ref      ref
	val      reflect.Value // the mo struct, addressable
	ptr      any           // pointer to it
	watchers map[*filter]struct{}
	deps     map[*filter]struct{} // filters whose object set was reached through it
	gone     bool
	hidden   map[string]bool // top-level properties that can't be read now
	world    *world
	vm       *vmachine
	host     *host
}

type world struct {
	mu         sync.Mutex
	inv        *inventory
	dir        string
	seq        uint64
	requestLog *os.File // nil: none
	ids        int
	objs       map[ref]*object
	vms        map[ref]*vmachine
	hosts      []*host
	hostBy     map[string]*host
	clusters   []*cluster
	pools      map[ref]*cluster
	sized      map[ref]poolSize // pools of a size of their own
	limited    map[ref]poolSize // pools with a limit
	dcs        []*datacenter
	dvs        []*dvswitch
	byPath     map[string]map[string]ref // folder moId -> name -> child
	names      map[string]ref            // "folder/name" of clones in progress
	content    types.ServiceContent
	sessions   map[string]*session
	keys       []string // of all sessions there were: tokens and ids
	lockout    map[string]*lock
	tasks      *taskManager
	count      *counters
	faults     *faultEngine
	guests     map[*guest]bool
	stallTo    time.Time
	latency    time.Duration
	acks       []ack
	away       outage
	saved      *backup
	building   bool // sums are made at the end
	perms      map[ref][]perm
	churn      *churn
	free       map[ref]*int64 // bytes left on the datastores
	started    time.Time
}

func newWorld(inv *inventory, dir string) *world {
	w := &world{inv: inv, dir: dir, objs: map[ref]*object{}, vms: map[ref]*vmachine{},
		hostBy: map[string]*host{}, pools: map[ref]*cluster{}, sized: map[ref]poolSize{}, limited: map[ref]poolSize{}, byPath: map[string]map[string]ref{},
		names: map[string]ref{}, guests: map[*guest]bool{}, free: map[ref]*int64{}, sessions: map[string]*session{}, lockout: map[string]*lock{},
		count: newCounters(), faults: &faultEngine{form: inv.Faults, rand: rand.New(rand.NewSource(inv.Seed))}, started: time.Now().UTC(), ids: 10}
	w.tasks = &taskManager{w: w, byRef: map[ref]*task{}}
	return w
}

// newID makes a moId that nothing has.
func (w *world) newID(prefix string) string {
	for {
		w.ids++
		id := fmt.Sprintf("%s%d", prefix, w.ids)
		if !w.taken(id) {
			return id
		}
	}
}

// taken tells whether an object has that id; a restored vCenter may reuse ids.
func (w *world) taken(id string) bool {
	if w.saved == nil {
		return false
	}
	for _, kind := range []string{"VirtualMachine", "Task", "VirtualMachineSnapshot", "Folder"} {
		if w.objs[ref{Type: kind, Value: id}] != nil {
			return true
		}
	}
	return false
}

// add puts an object into the store; ptr is a pointer to its mo struct.
func (w *world) add(r ref, ptr any) *object {
	o := newObject(r, ptr)
	o.world = w
	w.objs[r] = o
	w.seq++
	return o
}

func newObject(r ref, ptr any) *object {
	return &object{ref: r, ptr: ptr, val: reflect.ValueOf(ptr).Elem(),
		watchers: map[*filter]struct{}{}, deps: map[*filter]struct{}{}}
}

// ordered lists all objects in a stable order.
func (w *world) ordered() []*object {
	res := make([]*object, 0, len(w.objs))
	for _, o := range w.objs {
		res = append(res, o)
	}
	sort.Slice(res, func(i, j int) bool {
		a, b := res[i].ref.Value, res[j].ref.Value
		if len(a) != len(b) {
			return len(a) < len(b)
		}
		return a < b
	})
	return res
}

func (o *object) w() *world { return o.world }

// publish lets the views that contain a new or moved object know.
func (w *world) publish(o *object) {
	for _, s := range w.sessions {
		for _, v := range s.views {
			v.consider(w, o)
		}
	}
}

// remove takes an object out of the store, its views and its filters.
func (w *world) remove(o *object) {
	o.gone = true
	delete(w.objs, o.ref)
	w.seq++
	for f := range o.watchers {
		f.mark(o)
	}
	for _, s := range w.sessions {
		for _, v := range s.views {
			v.drop(o.ref)
		}
	}
}

// touch says that top-level properties of an object have changed.
func (w *world) touch(o *object, props ...string) {
	w.seq++
	if o.gone {
		return
	}
	if o.vm != nil {
		o.vm.judge()
	}
	for f := range o.watchers {
		if f.cares(o.ref.Type, props) {
			f.mark(o)
		}
	}
	for f := range o.deps {
		f.stale = true
		f.col.signal()
	}
}

func (w *world) get(r ref) *object { return w.objs[r] }

// entity gives the ManagedEntity part of an object, or nil.
func (o *object) entity() *mo.ManagedEntity {
	if e, ok := o.ptr.(mo.Entity); ok {
		return e.Entity()
	}
	return nil
}

func (o *object) name() string {
	if e := o.entity(); e != nil {
		return e.Name
	}
	return ""
}

// parents are the objects that contain o, along all ways an inventory has.
func (w *world) parents(o *object) []ref {
	var res []ref
	if e := o.entity(); e != nil && e.Parent != nil {
		res = append(res, *e.Parent)
	}
	switch m := o.ptr.(type) {
	case *mo.VirtualMachine:
		if m.ResourcePool != nil {
			res = append(res, *m.ResourcePool)
		}
		if m.Runtime.Host != nil {
			res = append(res, *m.Runtime.Host)
		}
	}
	return res
}

// within tells whether o lies below root.
func (w *world) within(o *object, root ref, depth int) bool {
	if depth > 32 {
		return false
	}
	for _, p := range w.parents(o) {
		if p == root {
			return true
		}
		if po := w.get(p); po != nil && w.within(po, root, depth+1) {
			return true
		}
	}
	return false
}

// setChild notes a folder's child by its name, for look-ups.
func (w *world) setChild(folder ref, name string, child ref) {
	m := w.byPath[folder.Value]
	if m == nil {
		m = map[string]ref{}
		w.byPath[folder.Value] = m
	}
	m[name] = child
}

func (w *world) delChild(folder ref, name string) { delete(w.byPath[folder.Value], name) }

// kindOf lists a managed object type and its bases.
func kindOf(kind string) []string {
	res := []string{kind}
	switch kind {
	case "ClusterComputeResource":
		res = append(res, "ComputeResource")
	case "DistributedVirtualPortgroup", "OpaqueNetwork":
		res = append(res, "Network")
	case "VmwareDistributedVirtualSwitch":
		res = append(res, "DistributedVirtualSwitch")
	}
	switch kind {
	case "VirtualMachine", "HostSystem", "ClusterComputeResource", "Folder", "Datacenter", "Datastore",
		"Network", "DistributedVirtualPortgroup", "OpaqueNetwork", "VmwareDistributedVirtualSwitch", "ResourcePool":
		res = append(res, "ManagedEntity", "ExtensibleManagedObject")
	}
	return res
}

func isKind(kind, base string) bool {
	for _, k := range kindOf(kind) {
		if k == base {
			return true
		}
	}
	return false
}

// kinds are the managed object types that this endpoint knows.
var kinds = map[string]reflect.Type{}

func init() {
	for _, p := range []any{mo.VirtualMachine{}, mo.HostSystem{}, mo.ClusterComputeResource{}, mo.ComputeResource{},
		mo.Folder{}, mo.Datacenter{}, mo.Datastore{}, mo.Network{}, mo.DistributedVirtualPortgroup{},
		mo.VmwareDistributedVirtualSwitch{}, mo.DistributedVirtualSwitch{}, mo.ResourcePool{}, mo.Task{},
		mo.TaskManager{}, mo.ContainerView{}, mo.ListView{}, mo.ManagedObjectView{}, mo.PropertyCollector{}, mo.PropertyFilter{},
		mo.ServiceInstance{}, mo.SessionManager{}, mo.ViewManager{}, mo.SearchIndex{}, mo.EnvironmentBrowser{},
		mo.ManagedEntity{}, mo.ExtensibleManagedObject{}, mo.HostPciPassthruSystem{}, mo.VirtualApp{}, mo.StoragePod{},
		mo.OpaqueNetwork{}, mo.EventManager{}, mo.AlarmManager{}, mo.AuthorizationManager{}, mo.VirtualMachineSnapshot{},
		mo.CustomizationSpecManager{}} {
		t := reflect.TypeOf(p)
		kinds[t.Name()] = t
	}
}
