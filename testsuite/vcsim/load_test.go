// SPDX-License-Identifier: GPL-2.0-or-later
// load_test.go: a recording is served as it was recorded, but for the release.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

const xsi = `xmlns:XMLSchema-instance="http://www.w3.org/2001/XMLSchema-instance" XMLSchema-instance:type=`

func named(name, parent string) string {
	return prop("name", `"xsd:string"`, name) + prop("parent", `"ManagedObjectReference" type="`+strings.Split(parent, ":")[0]+`"`, strings.Split(parent, ":")[1])
}

func prop(name, kind, val string) string {
	return "<propSet><name>" + name + "</name><val " + xsi + kind + ">" + val + "</val></propSet>"
}

func mref(kind string) string { return `"ManagedObjectReference" type="` + kind + `"` }

// recorded writes a recording: a host with two PFs, a VM without a latency and
// one without a configuration.
func recorded(t *testing.T, without string) string {
	t.Helper()
	dir := t.TempDir()
	pnic := func(n int) string {
		return fmt.Sprintf("<pnic><key>nic-%d</key><device>vmnic%d</device><pci>0000:3B:00.%d</pci></pnic>", n, n, n)
	}
	sriov := func(n int) string {
		return fmt.Sprintf("<pciPassthruInfo "+xsi+`"HostSriovInfo"><id>0000:3B:00.%d</id><dependentDevice></dependentDevice><passthruEnabled>false</passthruEnabled>`+
			"<passthruCapable>true</passthruCapable><passthruActive>false</passthruActive><sriovEnabled>false</sriovEnabled><sriovCapable>true</sriovCapable>"+
			"<sriovActive>false</sriovActive><numVirtualFunctionRequested>0</numVirtualFunctionRequested><numVirtualFunction>0</numVirtualFunction>"+
			"<maxVirtualFunctionSupported>%d</maxVirtualFunctionSupported></pciPassthruInfo>", n, 8+n)
	}
	runtime := func(state string) string {
		return prop("runtime", `"VirtualMachineRuntimeInfo"`, `<host type="HostSystem">host-9</host><connectionState>`+state+"</connectionState><powerState>poweredOff</powerState>")
	}
	for i, o := range []struct{ kind, id, props string }{
		{"ServiceInstance", "ServiceInstance", prop("content", `"ServiceContent"`, `<rootFolder type="Folder">group-d1</rootFolder>`+
			`<propertyCollector type="PropertyCollector">pc</propertyCollector><viewManager type="ViewManager">ViewManager</viewManager>`+
			"<about><name>n</name><fullName>VMware vCenter Server 6.7.0 build-1</fullName><version>6.7.0</version><build>1</build><apiVersion>6.7.3</apiVersion>"+
			"<apiType>VirtualCenter</apiType></about>"+`<sessionManager type="SessionManager">s</sessionManager><taskManager type="TaskManager">t</taskManager>`+
			`<searchIndex type="SearchIndex">x</searchIndex>`)},
		{"Folder", "group-d1", prop("name", `"xsd:string"`, "Datacenters")},
		{"Datacenter", "datacenter-2", named("Lab%2fOne", "Folder:group-d1") + prop("vmFolder", mref("Folder"), "group-v3") + prop("hostFolder", mref("Folder"), "group-h4")},
		{"Folder", "group-v3", named("vm", "Datacenter:datacenter-2")},
		{"Folder", "group-h4", named("host", "Datacenter:datacenter-2")},
		{"ClusterComputeResource", "domain-c7", named("C", "Folder:group-h4")},
		{"HostSystem", "host-9", named("esx", "ClusterComputeResource:domain-c7") +
			prop("runtime", `"HostRuntimeInfo"`, "<connectionState>connected</connectionState><powerState>poweredOn</powerState>") +
			prop("config", `"HostConfigInfo"`, "<product><version>6.7.0</version><build>42</build><apiVersion>6.7.3</apiVersion></product><network>"+pnic(0)+pnic(1)+"</network>"+sriov(0)+sriov(1))},
		{"VirtualMachine", "vm-5964", named("a", "Folder:group-v3") + runtime("connected") + prop("config", `"VirtualMachineConfigInfo"`, "<name>a</name><hardware><numCPU>2</numCPU></hardware>")},
		{"VirtualMachine", "vm-12", named("b", "Folder:group-v3") + runtime("inaccessible")},
		{"LicenseManager", "LicenseManager", ""},
	} {
		if o.kind == without {
			continue
		}
		text := fmt.Sprintf("<ObjectContent><obj type=\"%s\">%s</obj>%s</ObjectContent>", o.kind, o.id, o.props)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d-%s-%s.xml", i, o.kind, o.id)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func loaded(t *testing.T, inventory, dir string) (*world, error) {
	t.Helper()
	inv, err := parseInventory([]byte(inventory))
	if err != nil {
		t.Fatal(err)
	}
	inv.load = dir
	w := newWorld(inv, t.TempDir())
	return w, w.build()
}

func TestARecordingIsServedWithAnotherRelease(t *testing.T) {
	w, err := loaded(t, `{"datacenters":[{"name":"Lab/One","folders":["slurm"]}]}`, recorded(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	if a := w.content.About; a.Version != "8.0.3" || a.ApiVersion != "8.0.3.0" || a.FullName != "VMware vCenter Server 6.7.0 build-1" || a.Build != "1" {
		t.Errorf("about: %+v", a)
	}
	h := w.get(ref{Type: "HostSystem", Value: "host-9"}).ptr.(*mo.HostSystem)
	if h.Config.Product.Build != "42" || h.Config.Product.Version != "6.7.0" {
		t.Errorf("the host's product: %+v", h.Config.Product)
	}
	if o := w.byInventoryPath("Lab%2fOne/vm/a"); o == nil || o.vm == nil || o.vm.h.spec.Name != "esx" {
		t.Error("the VM isn't found by its path, or is on no host")
	}
	if o := w.byInventoryPath("Lab%2fOne/vm/slurm"); o == nil || !w.dcs[0].ours[o.ref] {
		t.Error("the folder that the inventory names isn't there, or isn't ours")
	}
	if id := w.newID("vm-"); id != "vm-5966" { // the folder took 5965
		t.Errorf("a new object gets the id %s, which may be a recorded one", id)
	}
	if b := w.vms[ref{Type: "VirtualMachine", Value: "vm-12"}]; b.broken != "inaccessible" || !b.o.hidden["config"] {
		t.Error("a VM without a configuration shows one")
	}
	if n := len(w.state()["vms"].([]any)); n != 2 {
		t.Errorf("the state has %d VMs", n)
	}
}

func TestOnlyTheChangedPFOfARecordedHostChanges(t *testing.T) {
	w, err := loaded(t, `{}`, recorded(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	two, h := 2, w.hostBy["esx"]
	if err := h.changePF(&adminOp{Op: "setVfs", Pci: "0000:3B:00.1", Vfs: &two}); err != nil {
		t.Fatal(err)
	}
	info := h.m.Config.PciPassthruInfo
	first, second := info[0].(*types.HostSriovInfo), info[1].(*types.HostSriovInfo)
	if first.SriovActive || first.NumVirtualFunction != 0 || first.MaxVirtualFunctionSupported != 8 {
		t.Errorf("the other PF: %+v", first)
	}
	if !second.SriovActive || !second.SriovEnabled || second.NumVirtualFunction != 2 || second.NumVirtualFunctionRequested != 2 || !second.PassthruCapable {
		t.Errorf("the PF: %+v", second)
	}
	ten := 10
	if h.changePF(&adminOp{Op: "setVfs", Pci: "0000:3B:00.1", Vfs: &ten}) == nil {
		t.Error("more VFs than its NIC supports are enabled")
	}
}

func TestWhatIsNoRecordingIsRefused(t *testing.T) {
	for _, kind := range []string{"ServiceInstance", "Folder"} {
		if _, err := loaded(t, `{}`, recorded(t, kind)); err == nil {
			t.Errorf("a recording without a %s is loaded", kind)
		}
	}
	if _, err := loaded(t, `{"datacenters":[{"name":"Other"}]}`, recorded(t, "")); err == nil {
		t.Error("a datacenter that the recording hasn't is taken")
	}
}
