// SPDX-License-Identifier: GPL-2.0-or-later
// policy.go: storage policies. Which one a VM and its disks have PBM tells, not
// the VIM API: the simulator keeps it for the tests.

package main

import (
	"fmt"
	"slices"

	"github.com/vmware/govmomi/vim25/types"
)

func (v *vmachine) hasDisk(key int32) bool {
	return slices.ContainsFunc(v.m.Config.Hardware.Device, func(d types.BaseVirtualDevice) bool {
		disk, ok := d.(*types.VirtualDisk)
		return ok && disk.Key == key
	})
}

// policyOf is the id that a list of profiles names, "": none.
func (w *world) policyOf(list []types.BaseVirtualMachineProfileSpec) (string, error) {
	for _, p := range list {
		d, ok := p.(*types.VirtualMachineDefinedProfileSpec)
		if !ok {
			continue
		}
		if !slices.Contains(w.inv.Policies, d.ProfileId) {
			f := &types.SystemError{Reason: "PBM error occurred during PreCloneCheckCallback: pbm.fault.PBMFault"}
			return "", fault(f, "A general system error occurred: PBM error occurred during PreCloneCheckCallback: the profile %s is not known.", d.ProfileId)
		}
		return d.ProfileId, nil
	}
	return "", nil
}

// applyPolicies: the profile of the whole is the home directory's, each disk
// has its own.
func (v *vmachine) applyPolicies(loc *types.VirtualMachineRelocateSpec) error {
	v.policies = map[string]string{}
	home, err := v.w.policyOf(loc.Profile)
	if err != nil {
		return err
	}
	v.policies["home"] = home
	for _, d := range loc.Disk {
		p, err := v.w.policyOf(d.Profile)
		if err != nil {
			return err
		}
		v.policies[fmt.Sprint(d.DiskId)] = p
	}
	return nil
}
