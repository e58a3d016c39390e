// SPDX-License-Identifier: GPL-2.0-or-later
// dohost.go: what befalls hosts and their physical functions.

package main

import (
	"fmt"
	"time"

	"github.com/vmware/govmomi/vim25/types"
)

func (w *world) doHost(h *host, op *adminOp) (any, error) {
	c := &call{w: w, o: h.o, this: h.o.ref, foreign: true}
	switch op.Op {
	case "hostState":
		state, err := connectionState(op.State)
		if err == nil {
			h.setState(state)
		}
		return nil, err
	case "failHost":
		h.fail()
		return nil, nil
	case "standby":
		if op.Mode == "exit" {
			return c.exitStandby(h)
		}
		if op.State == "" {
			return c.enterStandby(h, "")
		}
		state, err := connectionState(op.State)
		if err != nil {
			return nil, err
		}
		return c.enterStandby(h, state)
	case "setHost":
		return nil, h.set(op.Set)
	case "maintenance":
		switch {
		case op.Mode == "exit" || op.State == "exit":
			return exitMaintenance(c)
		case op.Mode == "cancel":
			if h.entering == nil {
				return nil, fmt.Errorf("mode: host %s is not on its way", h.spec.Name)
			}
			return nil, w.tasks.cancel(h.entering)
		}
		c.req = &types.EnterMaintenanceMode_Task{EvacuatePoweredOffVms: &op.Evacuate, Timeout: int32(time.Duration(op.Timeout) / time.Second)}
		return enterMaintenance(c)
	}
	return nil, h.changePF(op)
}

func connectionState(s string) (types.HostSystemConnectionState, error) {
	switch s {
	case "connected", "disconnected", "notResponding":
		return types.HostSystemConnectionState(s), nil
	}
	return "", fmt.Errorf("state: unknown %q", s)
}

// changePF is setVfs or renumberPf; running VMs are untouched.
func (h *host) changePF(op *adminOp) error {
	p := h.pfBy(op.Pci)
	if p == nil {
		return fmt.Errorf("pci: host %s has no PF %q", h.spec.Name, op.Pci)
	}
	if op.Op == "setVfs" {
		if op.Vfs == nil || *op.Vfs < 0 || *op.Vfs > p.max {
			return fmt.Errorf("vfs: 0 to %d are possible", p.max)
		}
		p.lowered, p.vfs = max(0, p.vfs-*op.Vfs), *op.Vfs
	} else {
		p.renumber(op.NewPci)
	}
	h.passthru()
	w := h.o.w()
	w.touch(h.o, "config", "hardware")
	p.loweredAt = w.seq
	return nil
}

// renumber gives a PF another address, as a changed slot does.
func (p *pf) renumber(to string) {
	h := p.h
	hw := *h.m.Hardware
	hw.PciDevice = append([]types.HostPciDevice(nil), hw.PciDevice...)
	for i := range hw.PciDevice {
		if hw.PciDevice[i].Id == p.id {
			hw.PciDevice[i] = pciDevice(to, hw.PciDevice[i].DeviceId)
		}
	}
	for i := range hw.NumaInfo.NumaNode {
		for k, id := range hw.NumaInfo.NumaNode[i].PciId {
			if id == p.id {
				hw.NumaInfo.NumaNode[i].PciId[k] = to
			}
		}
	}
	h.m.Hardware = &hw
	for i := range h.spec.Pnics {
		if h.spec.Pnics[i].Pci == p.id {
			h.spec.Pnics[i].Pci = to
			h.m.Config.Network.Pnic[i].Pci = to
		}
	}
	for _, b := range h.m.Config.SriovDevicePool {
		np := b.(*types.HostSriovNetworkDevicePoolInfo)
		for i := range np.Pnic {
			if np.Pnic[i].Pci == p.id {
				np.Pnic[i].Pci = to
			}
		}
	}
	p.id = to
}
