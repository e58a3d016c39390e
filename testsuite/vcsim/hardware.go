// SPDX-License-Identifier: GPL-2.0-or-later
// hardware.go: a VM's shares, sockets and boot options, and what of them the
// admin's state shows. A level's number of shares is vSphere's: normal is 1000
// for each vCPU and 10 for each MB, low half of it, high twice.

package main

import (
	"github.com/vmware/govmomi/vim25/types"
)

// sharesOf checks what a spec says, and counts what its level means.
func sharesOf(s *types.SharesInfo, normal int32) (*types.SharesInfo, error) {
	n := map[types.SharesLevel]int32{types.SharesLevelLow: normal / 2, types.SharesLevelNormal: normal, types.SharesLevelHigh: normal * 2}
	if s.Level == types.SharesLevelCustom {
		if s.Shares < 0 || s.Shares > 1000000 {
			return nil, invalidArgument("shares")
		}
		return s, nil
	}
	if _, ok := n[s.Level]; !ok {
		return nil, invalidArgument("shares.level")
	}
	return &types.SharesInfo{Level: s.Level, Shares: n[s.Level]}, nil
}

// shares follow the VM's size, and a reservation is not more than that.
func (v *vmachine) shares() error {
	c := v.m.Config
	for _, x := range []struct {
		a      **types.ResourceAllocationInfo
		normal int32
	}{{&c.CpuAllocation, 1000 * c.Hardware.NumCPU}, {&c.MemoryAllocation, 10 * c.Hardware.MemoryMB}} {
		if *x.a == nil || (*x.a).Shares == nil {
			continue
		}
		s, err := sharesOf((*x.a).Shares, x.normal)
		if err != nil {
			return err
		}
		change := **x.a
		change.Shares = s
		*x.a = &change
	}
	if a := c.MemoryAllocation; a != nil && a.Reservation != nil && *a.Reservation > int64(c.Hardware.MemoryMB) {
		return invalidArgument("configSpec.memoryAllocation.reservation")
	}
	return nil
}

// sockets: 0 is none of one's own; what is said must divide the vCPUs.
func sockets(hw *types.VirtualHardware, said *int32) error {
	switch n := hw.NumCoresPerSocket; {
	case said != nil && (*said < 0 || *said > 0 && hw.NumCPU%*said != 0):
		return invalidArgument("configSpec.numCoresPerSocket")
	case said != nil && *said > 0:
		hw.NumCoresPerSocket, hw.AutoCoresPerSocket = said, types.NewBool(false)
	case said != nil:
		hw.NumCoresPerSocket, hw.AutoCoresPerSocket = types.NewInt32(1), types.NewBool(true)
	case n != nil && *n > 0 && hw.NumCPU%*n != 0:
		hw.NumCoresPerSocket = types.NewInt32(1)
	}
	return nil
}

func (v *vmachine) bootOptions(s *types.VirtualMachineBootOptions) {
	if s == nil || s.EfiSecureBootEnabled == nil {
		return
	}
	o := types.VirtualMachineBootOptions{}
	if v.m.Config.BootOptions != nil {
		o = *v.m.Config.BootOptions
	}
	o.EfiSecureBootEnabled = s.EfiSecureBootEnabled
	v.m.Config.BootOptions = &o
}

// checkSecureBoot: it is EFI's.
func (v *vmachine) checkSecureBoot() error {
	if o := v.m.Config.BootOptions; o == nil || !isTrue(o.EfiSecureBootEnabled) || v.m.Config.Firmware == "efi" {
		return nil
	}
	return genericFault([2]string{"msg.uefi.secureBoot.requiresEfi", "Secure Boot requires EFI firmware."})
}

// latencyOf a VM: some recorded ones have none.
func latencyOf(c *types.VirtualMachineConfigInfo) types.LatencySensitivitySensitivityLevel {
	if c.LatencySensitivity == nil {
		return types.LatencySensitivitySensitivityLevelNormal
	}
	return c.LatencySensitivity.Level
}

// hardwareState is what vCenter shows of it.
func (v *vmachine) hardwareState() map[string]any {
	c := v.m.Config
	numa, _ := v.extra("numa.nodeAffinity")
	_, cpu := v.reserved()
	res := map[string]any{"cpus": c.Hardware.NumCPU, "coresPerSocket": c.Hardware.NumCoresPerSocket, "cpuMhz": cpu, "numa": numa,
		"locked": isTrue(c.MemoryReservationLockedToMax), "latency": latencyOf(c), "secureBoot": c.BootOptions != nil && isTrue(c.BootOptions.EfiSecureBootEnabled),
		"hotAdd": isTrue(c.CpuHotAddEnabled) || isTrue(c.MemoryHotAddEnabled)}
	if a := c.CpuAllocation; a != nil && a.Shares != nil {
		res["cpuShares"] = a.Shares.Shares
	}
	if a := c.MemoryAllocation; a != nil && a.Shares != nil {
		res["memoryShares"] = a.Shares.Shares
	}
	return res
}
