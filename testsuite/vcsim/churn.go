// SPDX-License-Identifier: GPL-2.0-or-later
// churn.go: other users. Foreign VMs come and go, power on with VFs and off,
// are renamed and moved, at a rate. A seed repeats the same operations; whether
// they succeed depends on what else happens.

package main

import (
	"fmt"
	"math/rand"
	"sort"
	"time"
)

type churnSpec struct {
	Rate     float64  `json:"rate"` // operations per second; 0 ends it
	Seed     int64    `json:"seed"`
	Max      int      `json:"max"`      // VMs at a time, default 20
	Networks []string `json:"networks"` // of the NICs; default: all that have VFs
	KeepVfs  int      `json:"keepVfs"`  // leave so many of a PF free
	Hosts    []string `json:"hosts"`    // default: all
	Clear    bool     `json:"clear"`    // take its VMs away at the end
}

type churn struct {
	w      *world
	spec   churnSpec
	rand   *rand.Rand
	hosts  []*host
	vms    []*vmachine
	serial int
	stop   chan struct{}
}

// setChurn ends what churn there is and begins another.
func (w *world) setChurn(spec churnSpec) error {
	c := &churn{w: w, spec: spec, rand: rand.New(rand.NewSource(spec.Seed)), stop: make(chan struct{})}
	if c.spec.Max == 0 {
		c.spec.Max = 20
	}
	if err := c.check(); err != nil {
		return err
	}
	if old := w.churn; old != nil {
		close(old.stop)
		c.vms = old.vms
		c.serial = old.serial
		w.churn = nil
	}
	if spec.Clear {
		c.clear()
	}
	if spec.Rate <= 0 {
		if len(c.vms) > 0 {
			w.churn = c // remembers its VMs
		}
		return nil
	}
	w.churn = c
	go c.run(time.Duration(float64(time.Second) / spec.Rate))
	return nil
}

func (c *churn) check() error {
	for _, n := range c.spec.Hosts {
		h := c.w.hostBy[n]
		if h == nil {
			return fmt.Errorf("churn.hosts: there is no %q", n)
		}
		c.hosts = append(c.hosts, h)
	}
	if len(c.hosts) == 0 {
		c.hosts = c.w.hosts
	}
	if len(c.hosts) == 0 {
		return fmt.Errorf("churn: there are no hosts")
	}
	dc := c.hosts[0].c.dc
	for _, n := range c.spec.Networks {
		if dc.nets[n] == nil {
			return fmt.Errorf("churn.networks: there is no %q", n)
		}
	}
	if len(c.spec.Networks) > 0 {
		return nil
	}
	for n, net := range dc.nets {
		for _, p := range c.hosts[0].pfs {
			if net.sw != nil && net.sw.spec.Name == p.sw {
				c.spec.Networks = append(c.spec.Networks, n)
				break
			}
		}
	}
	sort.Strings(c.spec.Networks)
	return nil
}

func (c *churn) run(beat time.Duration) {
	tick := time.NewTicker(max(beat, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-c.stop:
			return
		case <-tick.C:
		}
		c.w.mu.Lock()
		if c.w.churn == c {
			c.step()
		}
		c.w.mu.Unlock()
	}
}

// The random numbers of one operation. They are drawn before the world is read,
// so that a seed always gives the same operations.
type wish struct {
	what         float64
	vm, host, pg int
}

func (c *churn) wish() wish {
	return wish{c.rand.Float64(), c.rand.Intn(1 << 30), c.rand.Intn(1 << 30), c.rand.Intn(1 << 30)}
}

func (c *churn) step() {
	x := c.wish()
	kept := c.vms[:0]
	for _, v := range c.vms {
		if !v.o.gone {
			kept = append(kept, v)
		}
	}
	c.vms = kept
	if len(c.vms) == 0 || x.what < 0.25 {
		c.come(x)
		return
	}
	v := c.vms[x.vm%len(c.vms)]
	deed, err := "", error(nil)
	switch {
	case x.what < 0.50:
		deed, err = "powerOn", c.powerOn(v)
	case x.what < 0.72:
		deed, err = "powerOff", c.act("powerOff", v, &adminOp{})
	case x.what < 0.84:
		deed, err = "destroy", c.act("destroyVm", v, &adminOp{Force: true})
	case x.what < 0.93:
		c.serial++
		deed, err = "rename", c.act("rename", v, &adminOp{Name: fmt.Sprintf("churn%05d", c.serial)})
	default:
		deed, err = "migrate", c.act("migrate", v, &adminOp{Host: c.hosts[x.host%len(c.hosts)].spec.Name})
	}
	c.count(deed, err)
}

func (c *churn) count(deed string, err error) {
	if err != nil {
		deed = "refused"
	}
	c.w.count.churn[deed]++
}

// come makes a VM; two of three have a NIC that takes a VF.
func (c *churn) come(x wish) {
	if len(c.vms) >= c.spec.Max {
		c.count("", fmt.Errorf("enough"))
		return
	}
	c.serial++
	h := c.hosts[x.host%len(c.hosts)]
	s := &vmSpec{Name: fmt.Sprintf("churn%05d", c.serial), Host: h.spec.Name, MemoryMB: 256, DiskGB: 1}
	if n := len(c.spec.Networks); n > 0 && x.pg%3 > 0 {
		s.Cards = []cardSpec{{Type: "sriov", Network: c.spec.Networks[x.pg/3%n]}}
	}
	res, err := c.w.buildForeign(h.c.dc, s)
	if err == nil {
		c.vms = append(c.vms, res)
	}
	c.count("create", err)
}

func (c *churn) powerOn(v *vmachine) error {
	if v.on() {
		return fmt.Errorf("on already")
	}
	asked := len(v.h.c.dc.pendingOn(v.h, true)) // on whichever PF
	for _, d := range v.demands() {
		for _, p := range v.h.candidates(d) {
			if p.usable()-len(p.used)-asked <= c.spec.KeepVfs {
				return fmt.Errorf("no VF to spare")
			}
		}
	}
	return c.act("powerOn", v, &adminOp{})
}

func (c *churn) act(op string, v *vmachine, a *adminOp) error {
	_, err := vmOps[op](&call{w: c.w, o: v.o, this: v.o.ref, foreign: true}, v, a)
	return err
}

func (c *churn) clear() {
	for _, v := range c.vms {
		if !v.o.gone && v.busy == nil {
			v.turnOff()
			c.w.erase(v, true)
		}
	}
	c.vms = nil
}
