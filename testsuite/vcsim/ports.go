// SPDX-License-Identifier: GPL-2.0-or-later
// ports.go: ports of distributed switches. Each NIC on one has a port of
// its own, also that of a template and of a VM that is off, as port groups with
// early binding (the default) give them. A spec may leave the port out, and then
// the switch chooses; a port that another VM is connected to is refused.

package main

import (
	"math/rand"
	"strconv"

	"github.com/vmware/govmomi/vim25/types"
)

type portConnection = types.DistributedVirtualSwitchPortConnection

// portOf is the connection of a NIC's backing, nil where it has none.
func portOf(b types.BaseVirtualDeviceBackingInfo) *portConnection {
	if x, ok := b.(*types.VirtualEthernetCardDistributedVirtualPortBackingInfo); ok {
		return &x.Port
	}
	return nil
}

// newPort connects to a port that no NIC has had before.
func (w *world) newPort(p *portConnection) {
	for _, sw := range w.dvs {
		if sw.m.Uuid == p.SwitchUuid {
			sw.ports++
			p.PortKey, p.ConnectionCookie = strconv.Itoa(sw.ports), 1+rand.Int31n(1<<30)
		}
	}
}

// portHolder is the VM that is connected to a port, or nil.
func (w *world) portHolder(p *portConnection) *vmachine {
	for _, v := range w.vms {
		for _, d := range v.nics() {
			if q := portOf(d.GetVirtualDevice().Backing); q != nil && q.SwitchUuid == p.SwitchUuid && q.PortKey == p.PortKey {
				return v
			}
		}
	}
	return nil
}

// takePort connects a NIC of a spec; was: the NIC that it replaces, or nil.
func (v *vmachine) takePort(card, was *types.VirtualEthernetCard) error {
	p := portOf(card.Backing)
	if p == nil {
		return nil
	}
	if p.PortKey != "" {
		if by := v.w.portHolder(p); by != nil && by != v {
			return fault(&types.ResourceInUse{Type: "DistributedVirtualPort", Name: p.PortKey}, "The resource '%s' is in use.", p.PortKey)
		}
	}
	if was != nil {
		if old := portOf(was.Backing); old != nil && old.SwitchUuid == p.SwitchUuid && old.PortgroupKey == p.PortgroupKey &&
			(p.PortKey == "" || p.PortKey == old.PortKey) {
			*p = *old
			return nil
		}
	}
	if p.PortKey == "" {
		v.w.newPort(p)
	} else {
		p.ConnectionCookie = 1 + rand.Int31n(1<<30)
	}
	return nil
}
