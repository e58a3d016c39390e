// SPDX-License-Identifier: GPL-2.0-or-later

// Peer makes VMs with an SR-IOV NIC as a Go program on govmomi does it: one session,
// SOAP, one goroutine for each VM under way, and as few calls as vSphere permits. A
// clone gets its NIC and its memory reservation at once. contribs/bench.sh compares
// slurm-vsphere with it. The environment is govc's.
//
// It prints how many VMs it failed to make.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"sync"
	"sync/atomic"

	"github.com/vmware/govmomi/find"
	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/session"
	"github.com/vmware/govmomi/vim25"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"
)

// site is where the VMs go to.
type site struct {
	client   *vim25.Client
	template *object.VirtualMachine
	folder   *object.Folder
	pool     types.ManagedObjectReference
	store    types.ManagedObjectReference
	hosts    []types.ManagedObjectReference
	network  types.BaseVirtualDeviceBackingInfo
}

func connect(ctx context.Context) (*vim25.Client, error) {
	u, err := url.Parse(os.Getenv("GOVC_URL"))
	if err != nil {
		return nil, err
	}
	u.User = url.UserPassword(os.Getenv("GOVC_USERNAME"), os.Getenv("GOVC_PASSWORD"))
	sc := soap.NewClient(u, false)
	if err := sc.SetRootCAs(os.Getenv("GOVC_TLS_CA_CERTS")); err != nil {
		return nil, err
	}
	sc.DefaultTransport().MaxIdleConnsPerHost = 512
	vc, err := vim25.NewClient(ctx, sc)
	if err != nil {
		return nil, err
	}
	return vc, session.NewManager(vc).Login(ctx, u.User)
}

// lookUp finds the objects by their names, once for all VMs.
func lookUp(ctx context.Context, c *vim25.Client, network string) (*site, error) {
	f := find.NewFinder(c)
	dc, err := f.DefaultDatacenter(ctx)
	if err != nil {
		return nil, err
	}
	f.SetDatacenter(dc)
	s := &site{client: c}
	if s.template, err = f.VirtualMachine(ctx, "rhel9-ofed"); err != nil {
		return nil, err
	}
	if s.folder, err = f.Folder(ctx, "slurm"); err != nil {
		return nil, err
	}
	pool, err := f.ResourcePool(ctx, "slurm")
	if err != nil {
		return nil, err
	}
	store, err := f.DefaultDatastore(ctx)
	if err != nil {
		return nil, err
	}
	hosts, err := f.HostSystemList(ctx, "*/*")
	if err != nil {
		return nil, err
	}
	for _, h := range hosts {
		s.hosts = append(s.hosts, h.Reference())
	}
	net, err := f.Network(ctx, network)
	if err != nil {
		return nil, err
	}
	s.pool, s.store = pool.Reference(), store.Reference()
	s.network, err = net.EthernetCardBackingInfo(ctx)
	return s, err
}

// make clones a VM and powers it on.
func (s *site) make(ctx context.Context, i int) error {
	card := &types.VirtualSriovEthernetCard{}
	card.Backing, card.Key = s.network, -1
	yes, host := true, s.hosts[i%len(s.hosts)]
	spec := types.VirtualMachineCloneSpec{
		Location: types.VirtualMachineRelocateSpec{Pool: &s.pool, Host: &host, Datastore: &s.store},
		Config: &types.VirtualMachineConfigSpec{MemoryReservationLockedToMax: &yes, DeviceChange: []types.BaseVirtualDeviceConfigSpec{
			&types.VirtualDeviceConfigSpec{Operation: types.VirtualDeviceConfigSpecOperationAdd, Device: card}}}}
	task, err := s.template.Clone(ctx, s.folder, fmt.Sprintf("peer%04d", i), spec)
	if err != nil {
		return err
	}
	info, err := task.WaitForResult(ctx)
	if err != nil {
		return err
	}
	if task, err = object.NewVirtualMachine(s.client, info.Result.(types.ManagedObjectReference)).PowerOn(ctx); err != nil {
		return err
	}
	return task.Wait(ctx)
}

// makeAll makes n VMs, at most so many at once, and counts the failures.
func (s *site) makeAll(ctx context.Context, n, atOnce int) int32 {
	var wg sync.WaitGroup
	var failed atomic.Int32
	slots := make(chan struct{}, atOnce)
	for i := range n {
		slots <- struct{}{}
		wg.Add(1)
		go func() {
			defer func() { <-slots; wg.Done() }()
			if err := s.make(ctx, i); err != nil {
				fmt.Fprintf(os.Stderr, "peer%04d: %v\n", i, err)
				failed.Add(1)
			}
		}()
	}
	wg.Wait()
	return failed.Load()
}

func main() {
	n := flag.Int("vms", 64, "how many VMs")
	atOnce := flag.Int("at-once", 64, "goroutines that make one each")
	network := flag.String("network", "SRIOV-ROCE-PG", "network of the SR-IOV NIC")
	flag.Parse()
	ctx := context.Background()
	c, err := connect(ctx)
	var s *site
	if err == nil {
		s, err = lookUp(ctx, c, *network)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(s.makeAll(ctx, *n, *atOnce))
	_ = session.NewManager(c).Logout(ctx)
}
