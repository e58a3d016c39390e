// SPDX-License-Identifier: GPL-2.0-or-later

// A vCenter as doc/admin/vcenter.md finds it: three hosts in a cluster, a
// datastore, a VM that is to become the template, and nothing of slurm-vsphere.
// It is govmomi's own simulator, over SOAP, so that that page's govc commands are
// tried against a simulator of another project. Prints its URL, ends with stdin.
// With the argument "tls" it speaks HTTPS, which Packer asks for.
package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"os"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/mo"
)

func site() (*simulator.Model, error) {
	m := simulator.VPX()
	m.Host, m.Cluster, m.ClusterHost = 0, 1, 3
	m.Datastore, m.Machine, m.Portgroup = 1, 1, 0
	m.Autostart = false
	m.ServiceContent.About.ApiVersion = "8.0.3.0"
	if err := m.Create(); err != nil {
		return nil, err
	}
	hosts := 0
	for _, e := range m.Map().All("") {
		o, ok := e.(mo.Entity)
		if !ok {
			continue
		}
		switch o.Reference().Type {
		case "HostSystem":
			hosts++
			h := o.(*simulator.HostSystem)
			h.Name = fmt.Sprintf("esx%02d.example.org", hosts)
			h.Summary.Config.Name = h.Name
		case "ClusterComputeResource":
			o.Entity().Name = "HPC1"
		case "Datastore":
			o.Entity().Name = "vsanDatastore"
		case "VirtualMachine":
			v := o.(*simulator.VirtualMachine)
			v.Name = "rhel9-ofed"
			v.Config.Name, v.Summary.Config.Name = v.Name, v.Name
		}
	}
	return m, nil
}

func main() {
	m, err := site()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if len(os.Args) > 1 && os.Args[1] == "tls" {
		m.Service.TLS = new(tls.Config)
	}
	s := m.Service.NewServer()
	fmt.Println(s.URL.String())
	_, _ = io.Copy(io.Discard, os.Stdin)
	s.Close()
}
