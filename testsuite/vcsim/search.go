// SPDX-License-Identifier: GPL-2.0-or-later
// search.go: look-ups, ServiceContent, PlaceVm, QueryConfigTarget.

package main

import (
	"sort"
	"strings"
	"time"

	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

func serviceContent(c *call) (any, error) { return c.w.content, nil }

func currentTime(c *call) (any, error) {
	return rawJSON(quote(time.Now().UTC().Format(time.RFC3339Nano))), nil
}

// childOf finds an entity's child by name.
func (w *world) childOf(parent ref, name string) *object {
	if r, ok := w.byPath[parent.Value][name]; ok {
		return w.get(r)
	}
	return nil
}

func findByInventoryPath(c *call) (any, error) {
	req := c.req.(*types.FindByInventoryPath)
	if o := c.w.byInventoryPath(req.InventoryPath); o != nil && c.w.sees(c.s, o) {
		return o.ref, nil
	}
	return nil, nil
}

func findChild(c *call) (any, error) {
	req := c.req.(*types.FindChild)
	if c.w.get(req.Entity) == nil {
		return nil, notFound(req.Entity)
	}
	if o := c.w.childOf(req.Entity, req.Name); o != nil && c.w.sees(c.s, o) {
		return o.ref, nil
	}
	return nil, nil
}

func (w *world) findUuid(s *session, uuid string, vm, instance bool) []ref {
	var res []ref
	if !vm {
		for _, h := range w.hosts {
			if strings.EqualFold(h.m.Hardware.SystemInfo.Uuid, uuid) && w.sees(s, h.o) {
				res = append(res, h.o.ref)
			}
		}
		return res
	}
	for r, v := range w.vms {
		have := v.m.Config.Uuid
		if instance {
			have = v.m.Config.InstanceUuid
		}
		if strings.EqualFold(have, uuid) && w.sees(s, v.o) {
			res = append(res, r)
		}
	}
	sort.Slice(res, func(i, j int) bool { return res[i].Value < res[j].Value })
	return res
}

func findByUuid(c *call) (any, error) {
	req := c.req.(*types.FindByUuid)
	if l := c.w.findUuid(c.s, req.Uuid, req.VmSearch, isTrue(req.InstanceUuid)); len(l) > 0 {
		return l[0], nil
	}
	return nil, nil
}

func findAllByUuid(c *call) (any, error) {
	req := c.req.(*types.FindAllByUuid)
	if l := c.w.findUuid(c.s, req.Uuid, req.VmSearch, isTrue(req.InstanceUuid)); len(l) > 0 {
		return l, nil
	}
	return nil, nil
}

// placementSound: a clone is of something, under a name, by a spec.
func placementSound(c *call, s *types.PlacementSpec) error {
	lacks := ""
	switch {
	case s.PlacementType != "clone":
	case s.Vm == nil:
		lacks = "vm"
	case s.CloneName == "":
		lacks = "cloneName"
	case s.CloneSpec == nil:
		lacks = "cloneSpec"
	}
	if lacks != "" {
		return fault(&types.InvalidArgument{InvalidProperty: "placementSpec." + lacks}, "A specified parameter was not correct: placementSpec.%s", lacks)
	}
	if s.Vm != nil && c.w.get(*s.Vm) == nil {
		return notFound(*s.Vm)
	}
	return nil
}

// placeVM recommends hosts by memory left. It counts no VFs and reserves
// nothing, as the real one.
func placeVM(c *call) (any, error) {
	req := c.req.(*types.PlaceVm)
	var cl *cluster
	for _, x := range c.w.clusters {
		if x.o == c.o {
			cl = x
		}
	}
	if cl.spec.Drs == "" || cl.spec.Drs == "disabled" {
		return nil, fault(&types.InvalidState{}, "DRS is not enabled on cluster %s.", cl.spec.Name)
	}
	if err := placementSound(c, &req.PlacementSpec); err != nil {
		return nil, err
	}
	asked := map[ref]bool{}
	for _, r := range req.PlacementSpec.Hosts {
		o := c.w.get(r)
		if o == nil {
			return nil, notFound(r)
		}
		if o.host == nil || o.host.c != cl {
			return nil, fault(&types.InvalidArgument{InvalidProperty: "placementSpec.hosts"}, "A host is not in cluster %s.", cl.spec.Name)
		}
		asked[r] = true
	}
	var hosts []*host
	for _, h := range cl.hosts {
		if h.accepts() == nil && (len(asked) == 0 || asked[h.o.ref]) {
			hosts = append(hosts, h)
		}
	}
	sort.SliceStable(hosts, func(i, j int) bool {
		a, _ := hosts[i].unreserved()
		b, _ := hosts[j].unreserved()
		return a > b
	})
	res := types.PlacementResult{}
	for i, h := range hosts[:min(len(hosts), 3)] {
		hr, pool, ds := h.o.ref, cl.root, cl.dc.storeList[0].ref
		act := &types.PlacementAction{Vm: req.PlacementSpec.Vm, TargetHost: &hr,
			RelocateSpec: &types.VirtualMachineRelocateSpec{Host: &hr, Pool: &pool, Datastore: &ds}}
		act.Type = "PlacementV1"
		res.Recommendations = append(res.Recommendations, types.ClusterRecommendation{Key: itoa(int64(i + 1)), Type: "V1", Time: time.Now().UTC(),
			Rating: int32(5 - i), Reason: "xvmotionPlacement", ReasonText: "Placement", Action: []types.BaseClusterAction{act}})
	}
	if len(hosts) == 0 {
		res.DrsFault = &types.ClusterDrsFaults{Reason: "No host is compatible", FaultsByVm: []types.BaseClusterDrsFaultsFaultsByVm{
			&types.ClusterDrsFaultsFaultsByVm{Vm: req.PlacementSpec.Vm, Fault: []types.LocalizedMethodFault{
				localized(&types.InvalidHostState{}, "The operation is not allowed in the current state of the host.")}}}}
	}
	return res, nil
}

func queryConfigTarget(c *call) (any, error) {
	req := c.req.(*types.QueryConfigTarget)
	var cl *cluster
	for _, x := range c.w.clusters {
		if x.browser == c.this {
			cl = x
		}
	}
	if cl == nil || len(cl.hosts) == 0 {
		return nil, nil
	}
	h := cl.hosts[0]
	if req.Host != nil {
		o := c.w.get(*req.Host)
		if o == nil || o.host == nil {
			return nil, notFound(*req.Host)
		}
		h = o.host
	}
	res := types.ConfigTarget{NumCpus: int32(h.spec.Cores * 2), NumCpuCores: int32(h.spec.Cores), NumNumaNodes: int32(h.spec.Numa),
		MaxCpusPerHost: int32(h.spec.Cores * 2), SupportedMaxMemMB: int32(h.spec.MemoryMB)}
	sys := h.m.Hardware.SystemInfo.Uuid
	for i, n := range h.spec.Pnics {
		if n.Sriov == nil {
			continue
		}
		info := types.VirtualMachineSriovInfo{VirtualFunction: false, Pnic: n.Device}
		info.Name, info.SystemId, info.PciDevice = n.Pci, sys, h.m.Hardware.PciDevice[i]
		for _, p := range h.m.Config.SriovDevicePool {
			np := p.(*types.HostSriovNetworkDevicePoolInfo)
			if np.Key == n.Switch {
				dp := &types.VirtualMachineSriovNetworkDevicePoolInfo{SwitchKey: np.SwitchKey, SwitchUuid: np.SwitchUuid}
				dp.Key = np.Key
				info.DevicePool = dp
			}
		}
		res.Sriov = append(res.Sriov, info)
	}
	res.PciPassthrough = h.configTarget()
	for i := range h.spec.Dvx {
		res.DvxClassInfo = append(res.DvxClassInfo, h.spec.Dvx[i].classTarget())
	}
	for _, n := range h.c.dc.spec.Networks {
		net := h.c.dc.nets[n.Name]
		if pg, ok := net.o.ptr.(*mo.DistributedVirtualPortgroup); ok && h.reaches(n.Switch) {
			res.DistributedVirtualPortgroup = append(res.DistributedVirtualPortgroup, types.DistributedVirtualPortgroupInfo{
				SwitchName: net.sw.m.Name, SwitchUuid: net.sw.m.Uuid, PortgroupName: pg.Name, PortgroupKey: pg.Key,
				PortgroupType: "earlyBinding", Portgroup: pg.Self})
		}
	}
	return res, nil
}
