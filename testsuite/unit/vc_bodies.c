/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every kind of body the vCenter client sends, one "TYPE<TAB>JSON" a line, for
 * testsuite/golden, where govmomi's types decode them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "util/json.h"
#include "util/mem.h"
#include "vcenter/decode/inventory.h"
#include "vcenter/spec/spec.h"

static void line(const char *type, struct json_object *body)
{
	char *text = vs_jb_text_free(body);

	printf("%s\t%s\n", type, text);
	free(text);
}

static struct vs_vc_nic_spec spec_nic(enum vs_vc_net_type kind, const char *pci,
				  bool distributed)
{
	return (struct vs_vc_nic_spec){
		.kind = kind, .mac = "00:50:56:01:02:03", .pci = pci,
		.network = distributed ? "dvportgroup-30" : "network-7",
		.network_name = distributed ? NULL : "Eth-10.3.0.0/16",
		.switch_uuid = distributed ? "50 2a" : "",
		.portgroup_key = distributed ? "dvportgroup-30" : "",
		.mtu_change_allowed = true,
	};
}

static struct json_object *one(struct json_object *item)
{
	struct json_object *a = vs_jb_arr();

	vs_jb_add(a, item);
	return a;
}

static struct json_object *filter(const char *type, enum vcx_filter f,
				  const char *view_type)
{
	return vs_spec_filter(
		one(vs_spec_props(type, vs_inv_paths(NULL, f))),
		one(vs_spec_view_members(view_type, "session[52a]52c")));
}

static void session_bodies(void)
{
	const char *const types[] = { "VirtualMachine", "HostSystem", NULL };
	const char *const path[] = { "DC0", "vm", "rhel9", NULL };

	char *login = vs_spec_login("slurm@vsphere.local", "x");

	printf("LoginRequestType\t%s\n", login);
	free(login);
	line("FindByInventoryPathRequestType", vs_spec_path(path));
	line("CreateContainerViewRequestType",
	     vs_spec_container_view("Folder", "group-v3", types));
	line("CreateListViewRequestType",
	     vs_spec_list_view(one(vs_jb_new_ref("Task", "task-1"))));
	line("ModifyListViewRequestType",
	     vs_spec_modify_list(one(vs_jb_new_ref("Task", "task-1")),
				 one(vs_jb_new_ref("Task", "task-2"))));
	line("CreateFilterRequestType", vs_spec_create_filter(
		filter("VirtualMachine", VCX_F_VMS, "ContainerView")));
	line("CreateFilterRequestType", vs_spec_create_filter(
		filter("VirtualMachine", VCX_F_MANAGED, "ContainerView")));
	line("CreateFilterRequestType", vs_spec_create_filter(
		filter("HostSystem", VCX_F_HOSTS, "ContainerView")));
	line("CreateFilterRequestType", vs_spec_create_filter(
		vs_spec_filter(one(vs_spec_props("HostSystem",
						 vs_inv_host_paths)),
			one(vs_spec_view_members("ContainerView",
						 "session[52a]52c")))));
	line("CreateFilterRequestType", vs_spec_create_filter(
		filter("Task", VCX_F_TASKS, "ListView")));
	line("RetrievePropertiesExRequestType", vs_spec_retrieve(
		vs_spec_filter(one(vs_spec_props("Task",
				vs_inv_paths(NULL, VCX_F_TASKS))),
			one(vs_spec_object("Task", "task-1")))));
	line("ContinueRetrievePropertiesExRequestType",
	     vs_spec_continue("0"));
	line("WaitForUpdatesExRequestType", vs_spec_wait("", 20));
	line("WaitForUpdatesExRequestType", vs_spec_wait("7", 20));
}

static void clone_body(const struct vs_vc_nic_spec *c, bool latency,
		       const char *snapshot, struct json_object *nic)
{
	const struct vs_vc_kv marks[] = {
		{ "slurm.vsphere.owner", "a/vm001/b" },
		{ "slurm.vsphere.profile", "00ff" },
	};
	const struct vs_vc_clone clone = {
		.source = "vm-100", .folder = "group-v20", .name = "vm001",
		.uuid = "50211e0a-0000-4000-8000-000000000001",
		.pool = "resgroup-9", .host = "host-10",
		.datastore = "datastore-5", .snapshot = snapshot,
		.hw = { .vcpus = 32, .cores_per_socket = 16,
			.memory_mb = 131072, .memory_locked = latency,
			.cpu_reserved_mhz = latency ? 83200 : 0,
			.latency_high = latency, .exact = !latency,
			.nics = c, .nnics = c ? 2 : 0, .extra = marks, .nextra = 2,
			.mgmt_mac = nic ? "00:50:56:00:00:09" : NULL },
	};

	struct vs_vc_clone kept = clone;
	const int disks[] = { 2000, 2001 };

	line("CloneVMRequestType", vs_spec_clone(&clone, nic));
	kept.policy = "aa6d5a82-1c88-45da-85d3-3d74b91a5bad";
	kept.disks = disks;
	kept.ndisks = 2;
	kept.annotation = "no backup";
	line("CloneVMRequestType", vs_spec_clone(&kept, nic));
}

/* As vs_spec_nic() makes it. */
static struct json_object *template_nic(void)
{
	struct json_object *nic = vs_jb_obj("VirtualVmxnet3");
	struct json_object *backing =
		vs_jb_obj("VirtualEthernetCardNetworkBackingInfo");

	vs_jb_int(nic, "key", 4000);
	vs_jb_str(backing, "deviceName", "VM Network");
	vs_jb_ref(backing, "network", "Network", "network-7");
	vs_jb_put(nic, "backing", backing);
	return nic;
}

static void vm_bodies(void)
{
	struct json_object *nic = template_nic();
	struct vs_vc_kv job = { "slurm.vsphere.job", "" };
	struct vs_vc_nic_spec c[2], *const two = c;
	const struct vs_spec_types types = { .mgmt = "VirtualE1000e",
		.gone = (const char *const []){ "VirtualSriovEthernetCard",
						"VirtualPCIPassthrough" } };

	for (int kind = VS_VC_NET_SRIOV; kind <= VS_VC_NET_VMXNET3; kind++) {
		for (int dvs = 0; dvs < 2; dvs++) {
			c[0] = c[1] = spec_nic(kind, NULL, dvs);
			clone_body(c, false, NULL, NULL);
			clone_body(c, true, "snapshot-1", nic);
		}
	}
	c[0] = spec_nic(VS_VC_NET_SRIOV, "0000:af:00.0", true);
	c[1] = spec_nic(VS_VC_NET_SRIOV, "0000:3b:00.0", true);
	clone_body(c, true, NULL, nic);
	c[1] = (struct vs_vc_nic_spec){ .kind = VS_VC_PCI_DYNAMIC,
					 .vendor = 0x10de, .device = 0x20b0 };
	clone_body(c, true, NULL, nic);
	c[0] = c[1];
	c[0].label = "fabric-a";
	clone_body(c, true, NULL, NULL);
	c[1] = (struct vs_vc_nic_spec){ .kind = VS_VC_PCI_FIXED,
		.pci = "0000:3b:00.0", .vendor = 0x10ee, .device = 0x5000,
		.name = "Alveo U250", .system = "5f1c7e2a-0000-0000-0000-000000000000" };
	clone_body(c, true, NULL, nic);
	c[1].vendor = 0xb015;
	c[1].device = 0x00d1;
	clone_body(c, true, NULL, NULL);
	c[1] = (struct vs_vc_nic_spec){ .kind = VS_VC_PCI_DVX,
		.label = "com.vendor.fpga", .params = "queues=8,mode=a" };
	clone_body(c, true, NULL, nic);
	c[1] = (struct vs_vc_nic_spec){ .kind = VS_VC_PCI_VGPU,
		.label = "nvidia_a100-4c" };
	clone_body(c, true, NULL, NULL);
	clone_body(NULL, false, NULL, NULL);
	line("ReconfigVMRequestType", vs_spec_reconfigure(
		"2026-01-01T10:00:00.000000Z", &(struct vs_vc_hw){
			.vcpus = 4, .memory_mb = 4096, .memory_locked = true,
			.exact = true, .nics = two, .nnics = 2,
			.gone = (const int []){ 13031, 13032 }, .ngone = 2,
			.mgmt_key = 4000,
			.mgmt_mac = "00:50:56:00:00:09",
			.extra = &job, .nextra = 1 }, &types));
	line("ReconfigVMRequestType", vs_spec_reconfigure("7",
		&(struct vs_vc_hw){ .memory_mb = 4096, .exact = true }, &types));
	line("ReconfigVMRequestType", vs_spec_reconfigure("7",
		&(struct vs_vc_hw){ .memory_mb = 4096, .exact = true,
			.vcpus = 4, .cores_per_socket = -1,
			.mem_reserved_mb = 1024, .cpu_shares = 5000,
			.mem_shares = VS_VC_SHARES_HIGH, .cold = true,
			.secure_boot = VS_VC_AUTO_YES }, &types));
	line("RelocateVMRequestType", vs_spec_relocate("host-1", "resgroup-1",
						      NULL));
	line("RelocateVMRequestType", vs_spec_relocate("host-1", "resgroup-1",
						      "datastore-7"));
	line("QueryConfigTargetRequestType", vs_spec_config_target("host-1"));
	line("PowerOnVMRequestType", vs_spec_power_on("host-1"));
	vs_jb_free(nic);
}

static void instant_bodies(void)
{
	const struct vs_vc_nic_spec c[2] = {
		spec_nic(VS_VC_NET_VMXNET3, NULL, true),
		spec_nic(VS_VC_NET_VMXNET3, NULL, false),
	};
	const struct vs_vc_kv job = { "slurm.vsphere.job", "" };
	struct json_object *nic = template_nic();

	line("InstantCloneRequestType", vs_spec_instant(&(struct vs_vc_instant){
		.source = "vm-200", .folder = "group-v20", .name = "vm001",
		.bios_uuid = "50211e0a-0000-4000-8000-000000000001",
		.pool = "resgroup-9", .mgmt_mac = "00:50:56:00:00:09",
		.nics = c, .keys = (const int []){ 4001, 4002 },
		.nnics = 2, .extra = &job, .nextra = 1 }, nic));
	vs_jb_free(nic);
}

int main(void)
{
	session_bodies();
	vm_bodies();
	instant_bodies();
	return 0;
}
