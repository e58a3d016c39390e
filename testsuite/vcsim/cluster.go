// SPDX-License-Identifier: GPL-2.0-or-later
// cluster.go: DRS and HA of a cluster and their overrides for single VMs, as
// they are shown in configurationEx and as they are obeyed.

package main

import (
	"fmt"

	"github.com/vmware/govmomi/vim25/types"
)

// show rebuilds configurationEx from the cluster's settings.
func (c *cluster) show() {
	s := c.spec
	on := s.Drs != "" && s.Drs != "disabled"
	behave := types.DrsBehavior(s.Drs)
	if !on {
		behave = types.DrsBehaviorFullyAutomated
	}
	ha := s.Ha
	if was, ok := c.m.ConfigurationEx.(*types.ClusterConfigInfoEx); ok && c.recorded {
		x := *was
		x.DrsConfig.Enabled, x.DrsConfig.DefaultVmBehavior, x.DasConfig.Enabled = &on, behave, &ha
		c.m.ConfigurationEx = &x
		return
	}
	x := &types.ClusterConfigInfoEx{
		DrsConfig: types.ClusterDrsConfigInfo{Enabled: &on, DefaultVmBehavior: behave, EnableVmBehaviorOverrides: types.NewBool(true), VmotionRate: 3},
		DasConfig: types.ClusterDasConfigInfo{Enabled: &ha, AdmissionControlEnabled: types.NewBool(false)}}
	if s.HaPriority != "" {
		x.DasConfig.DefaultVmSettings = &types.ClusterDasVmSettings{RestartPriority: s.HaPriority}
	}
	if s.HaHosts != "" {
		x.DasConfig.HostMonitoring = s.HaHosts
	}
	if s.Dpm != "" {
		x.DpmConfigInfo = &types.ClusterDpmConfigInfo{Enabled: types.NewBool(true), DefaultDpmBehavior: types.DpmBehavior(s.Dpm), HostPowerActionRate: 3}
	}
	for _, r := range c.order {
		o := c.override[r]
		if o.drs != "" {
			info := types.ClusterDrsVmConfigInfo{Key: r, Enabled: types.NewBool(o.drs != "disabled")}
			if o.drs != "disabled" {
				info.Behavior = types.DrsBehavior(o.drs)
			}
			x.DrsVmConfig = append(x.DrsVmConfig, info)
		}
		if o.ha != "" {
			x.DasVmConfig = append(x.DasVmConfig, types.ClusterDasVmConfigInfo{Key: r, DasSettings: &types.ClusterDasVmSettings{RestartPriority: o.ha}})
		}
	}
	c.m.ConfigurationEx = x
}

func checkHaPriority(p string) error {
	switch p {
	case "", "disabled", "low", "medium", "high":
		return nil
	}
	return fmt.Errorf("haPriority: unknown %q", p)
}

// vmOverride is what a person set for one VM; "" is the cluster's own.
type vmOverride struct{ drs, ha string }

func (c *cluster) setOverride(v *vmachine, o vmOverride) error {
	switch o.drs {
	case "", "disabled", "manual", "partiallyAutomated", "fullyAutomated":
	default:
		return fmt.Errorf("drs: unknown %q", o.drs)
	}
	if err := checkHaPriority(o.ha); err != nil {
		return err
	}
	c.dropOverride(v.o.ref)
	if o != (vmOverride{}) {
		if c.override == nil {
			c.override = map[ref]vmOverride{}
		}
		c.override[v.o.ref] = o
		c.order = append(c.order, v.o.ref)
	}
	c.reshow()
	return nil
}

// dropOverride: overrides vanish with their VM.
func (c *cluster) dropOverride(r ref) {
	if _, ok := c.override[r]; ok {
		delete(c.override, r)
		c.order = withoutRef(c.order, r)
		c.reshow()
	}
}

func (c *cluster) reshow() {
	c.show()
	c.o.w().touch(c.o, "configurationEx")
}

// drsOf is the automation that holds for a VM.
func (c *cluster) drsOf(v *vmachine) string {
	if c.spec.Drs == "" || c.spec.Drs == "disabled" {
		return "disabled"
	}
	if o := c.override[v.o.ref]; o.drs != "" {
		return o.drs
	}
	return c.spec.Drs
}

// haRestarts tells whether HA restarts a VM. Whether it does so with SR-IOV
// NICs is not known: documents before 8.0U2 say no.
func (c *cluster) haRestarts(v *vmachine) bool {
	prio := c.override[v.o.ref].ha
	if prio == "" {
		prio = c.spec.HaPriority
	}
	return prio != "disabled" && c.spec.HaHosts != "disabled" && v.restartable()
}

// change is a user's change of the cluster's settings.
func (c *cluster) change(op *adminOp) error {
	s := *c.spec
	if op.Drs != nil {
		switch *op.Drs {
		case "disabled", "manual", "partiallyAutomated", "fullyAutomated":
		default:
			return fmt.Errorf("drs: unknown %q", *op.Drs)
		}
		s.Drs = *op.Drs
	}
	if op.Dpm != nil {
		switch *op.Dpm {
		case "", "manual", "automated":
		default:
			return fmt.Errorf("dpm: unknown %q", *op.Dpm)
		}
		s.Dpm = *op.Dpm
	}
	if op.DrsPerverse != nil {
		s.DrsPerverse = *op.DrsPerverse
	}
	if op.Ha != nil {
		s.Ha = *op.Ha
	}
	if op.HaPriority != "" {
		if err := checkHaPriority(op.HaPriority); err != nil {
			return err
		}
		s.HaPriority = op.HaPriority
	}
	if op.HaHosts != "" {
		if op.HaHosts != "enabled" && op.HaHosts != "disabled" {
			return fmt.Errorf("haHosts: unknown %q", op.HaHosts)
		}
		s.HaHosts = op.HaHosts
	}
	if op.HaPassthrough != nil {
		s.HaPassthrough = *op.HaPassthrough
	}
	*c.spec = s
	c.reshow()
	return nil
}
