// SPDX-License-Identifier: GPL-2.0-or-later
// stock_test.go: govmomi's own simulator over copies of the objects: a property
// collector and an encoder of another project, to compare with.

package main

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/mo"
)

// stock serves what the world is now, and gives the URL.
func stock(t *testing.T, w *world) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	ctx := simulator.NewContext()
	root := deepCopy(w.get(w.content.RootFolder).ptr).(*mo.Folder)
	ctx, si := simulator.NewServiceInstance(ctx, w.content, *root)
	svc := simulator.New(ctx, si)
	svc.Listen = &url.URL{Scheme: "http", Host: "127.0.0.1", Path: "/sdk", User: url.UserPassword("slurm@vsphere.local", "secret")}
	svc.RegisterSDK(ctx.Map)
	for _, o := range w.ordered() {
		cp := deepCopy(o.ptr).(mo.Reference)
		if o.ref == w.content.RootFolder {
			ctx.Map.Get(o.ref).(*simulator.Folder).Folder = *cp.(*mo.Folder)
		} else if o.entity() != nil || ctx.Map.Get(o.ref) == nil {
			ctx.Map.Put(cp)
		}
	}
	s := httptest.NewServer(http.HandlerFunc(svc.ServeSDK))
	t.Cleanup(s.Close)
	return s.URL
}
