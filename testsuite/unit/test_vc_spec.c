/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every body the vCenter client sends, against bodies written by hand from
 * vSphere's API (VI JSON 8.0.1.0). ' stands for " in the expected texts.
 * testsuite/golden has govmomi's own types decode the same bodies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "vc_spec_stage.h"

static const struct vs_vc_nic_spec sriov = {
	.kind = VS_VC_NET_SRIOV, .mac = "00:50:56:01:02:03",
	.network = "dvportgroup-30", .switch_uuid = "50 2a",
	.portgroup_key = "dvportgroup-30", .mtu_change_allowed = true,
};

static const struct vs_spec_types no_types;

static const struct vs_vc_kv marks[] = {
	{ "slurm.vsphere.owner", "a/vm001/b" },
	{ "slurm.vsphere.profile", "00ff" },
};

static void a_session_is_asked_for_in_english(void **state)
{
	char *login = vs_spec_login("slurm@vsphere.local", "p\"\\\t\xc3\xa9");

	assert_string_equal(login, "{\"userName\":\"slurm@vsphere.local\","
			    "\"password\":\"p\\\"\\\\\\u0009\xc3\xa9\","
			    "\"locale\":\"en\"}");
	(void)state;
	free(login);
	is(vs_spec_hello((const char *const[]){ "8.0.3.0", "8.0.1.0" }, 2),
	   "{'api_releases':['8.0.3.0','8.0.1.0']}");
}

static void names_in_paths_are_escaped_as_vcenter_keeps_them(void **state)
{
	(void)state;
	is(vs_spec_path((const char *const[]){ "DC 1", "vm", "a%b\\c/rhel9",
					       NULL }),
	   "{'inventoryPath':'DC 1/vm/a%25b%5cc/rhel9'}");
}

static void views_say_what_they_hold(void **state)
{
	struct json_object *a = vs_jb_arr(), *b = vs_jb_arr();

	(void)state;
	is(vs_spec_container_view("Folder", "group-d1",
		(const char *const[]){ "VirtualMachine", "HostSystem", NULL }),
	   "{'container':" REF("Folder", "group-d1") ","
	   "'type':['VirtualMachine','HostSystem'],'recursive':true}");
	vs_jb_add(a, vs_jb_new_ref("Task", "task-901"));
	is(vs_spec_list_view(a), "{'obj':[" REF("Task", "task-901") "]}");
	a = vs_jb_arr();
	vs_jb_add(a, vs_jb_new_ref("Task", "task-901"));
	vs_jb_add(b, vs_jb_new_ref("Task", "task-850"));
	is(vs_spec_modify_list(a, b),
	   "{'add':[" REF("Task", "task-901") "],"
	   "'remove':[" REF("Task", "task-850") "]}");
	is(vs_spec_modify_list(NULL, vs_jb_arr()), "{'remove':[]}");
}

static struct json_object *a_filter(void)
{
	struct json_object *p = vs_jb_arr(), *o = vs_jb_arr();

	vs_jb_add(p, vs_spec_props("Task", (const char *const[]){
		"info.state", "info.error", NULL }));
	vs_jb_add(o, vs_spec_view_members("ListView", "session[52a]52c"));
	return vs_spec_filter(p, o);
}

#define FILTER "{'_typeName':'PropertyFilterSpec'," \
	"'propSet':[{'_typeName':'PropertySpec','type':'Task'," \
	"'all':false,'pathSet':['info.state','info.error']}]," \
	"'objectSet':[{'_typeName':'ObjectSpec','obj':" \
	REF("ListView", "session[52a]52c") ",'skip':true," \
	"'selectSet':[{'_typeName':'TraversalSpec','name':'members'," \
	"'type':'ListView','path':'view','skip':false}]}]," \
	"'reportMissingObjectsInResults':true}"

static void reading_and_waiting(void **state)
{
	(void)state;
	is(vs_spec_create_filter(a_filter()),
	   "{'spec':" FILTER ",'partialUpdates':false}");
	is(vs_spec_retrieve(a_filter()),
	   "{'specSet':[" FILTER "],"
	   "'options':{'_typeName':'RetrieveOptions'}}");
	is(vs_spec_continue("0"), "{'token':'0'}");
	is(vs_spec_object("Task", "task-1"),
	   "{'_typeName':'ObjectSpec','obj':" REF("Task", "task-1") ","
	   "'skip':false}");
	is(vs_spec_wait("", 20),
	   "{'version':'','options':{'_typeName':'WaitOptions',"
	   "'maxWaitSeconds':20,'maxObjectUpdates':500}}");
}

static void a_clone_is_off_marked_and_has_its_nic(void **state)
{
	struct json_object *nic = nic_of(SHOWN_NIC);
	const struct vs_vc_clone c = {
		.source = "vm-100", .folder = "group-v20", .name = "vm001",
		.uuid = "50211e0a-0000-4000-8000-000000000001",
		.pool = "resgroup-9", .host = "host-10",
		.datastore = "datastore-5",
		.hw = { .vcpus = 32, .cores_per_socket = 16,
			.memory_mb = 131072, .memory_locked = true,
			.cpu_reserved_mhz = 83200, .latency_high = true,
			.nics = &sriov, .nnics = 1, .mgmt_mac = "00:50:56:00:00:09",
			.extra = marks, .nextra = 2 },
	};

	(void)state;
	is(vs_spec_clone(&c, nic),
	   "{'folder':" REF("Folder", "group-v20") ",'name':'vm001',"
	   "'spec':{'_typeName':'VirtualMachineCloneSpec',"
	   "'location':{'_typeName':'VirtualMachineRelocateSpec',"
	   "'datastore':" REF("Datastore", "datastore-5") ","
	   "'pool':" REF("ResourcePool", "resgroup-9") ","
	   "'host':" REF("HostSystem", "host-10") "},"
	   "'template':false,"
	   "'config':{'_typeName':'VirtualMachineConfigSpec',"
	   "'instanceUuid':'50211e0a-0000-4000-8000-000000000001',"
	   "'numCPUs':32,'numCoresPerSocket':16,'memoryMB':131072,"
	   "'memoryReservationLockedToMax':true,"
	   "'memoryAllocation':{'_typeName':'ResourceAllocationInfo',"
	   "'reservation':131072},"
	   "'cpuAllocation':{'_typeName':'ResourceAllocationInfo',"
	   "'reservation':83200},"
	   "'latencySensitivity':{'_typeName':'LatencySensitivity',"
	   "'level':'high'},"
	   "'deviceChange':["
	   "{'_typeName':'VirtualDeviceConfigSpec','operation':'edit',"
	   "'device':{'_typeName':'VirtualVmxnet3','key':4000," DVS ","
	   "'addressType':'manual','macAddress':'00:50:56:00:00:09'}},"
	   "{'_typeName':'VirtualDeviceConfigSpec','operation':'add',"
	   "'device':{'_typeName':'VirtualSriovEthernetCard','key':-101,"
	   DVS "," MAC ",'allowGuestOSMtuChange':true}}],"
	   "'extraConfig':[{'_typeName':'OptionValue',"
	   "'key':'slurm.vsphere.owner','value':{'_typeName':'string',"
	   "'_value':'a/vm001/b'}},{'_typeName':'OptionValue',"
	   "'key':'slurm.vsphere.profile','value':{'_typeName':'string',"
	   "'_value':'00ff'}}]},"
	   "'powerOn':false}}");
	vs_jb_free(nic);
}

/* What a NIC is on, for an edit that says nothing else. */
static void a_nics_network_is_kept_whatever_it_is(void **state)
{
	(void)state;
	is(nic_of("{'_typeName':'VirtualE1000e','key':4001,'backing':"
		  "{'_typeName':'VirtualEthernetCardNetworkBackingInfo',"
		  "'deviceName':'VM Network','useAutoDetect':false,"
		  "'network':" REF("Network", "network-7") ","
		  "'inPassthroughMode':false},'addressType':'assigned'}"),
	   "{'_typeName':'VirtualE1000e','key':4001,'backing':"
	   "{'_typeName':'VirtualEthernetCardNetworkBackingInfo',"
	   "'deviceName':'VM Network','network':"
	   REF("Network", "network-7") "}}");
	is(nic_of("{'_typeName':'VirtualVmxnet3','key':4000,'backing':"
		  "{'_typeName':'VirtualEthernetCardOpaqueNetworkBackingInfo',"
		  "'opaqueNetworkId':'ls-1',"
		  "'opaqueNetworkType':'nsx.LogicalSwitch'}}"),
	   "{'_typeName':'VirtualVmxnet3','key':4000,'backing':"
	   "{'_typeName':'VirtualEthernetCardOpaqueNetworkBackingInfo',"
	   "'opaqueNetworkId':'ls-1',"
	   "'opaqueNetworkType':'nsx.LogicalSwitch'}}");
	is(nic_of("{'_typeName':'VirtualVmxnet3','key':4000}"),
	   "{'_typeName':'VirtualVmxnet3','key':4000}");
}

/* Its home directory, and each disk. */
static void a_policy_is_said_of_each_disk(void **state)
{
	const int disks[] = { 2000, 2001 };
	const struct vs_vc_clone c = {
		.folder = "group-v20", .name = "vm001", .uuid = "u",
		.pool = "resgroup-9", .host = "host-10",
		.datastore = "datastore-5", .policy = "p-1",
		.disks = disks, .ndisks = 2, .annotation = "no backup",
	};
#define POLICY "'profile':[{'_typeName':'VirtualMachineDefinedProfileSpec'," \
	"'profileId':'p-1'}]"
#define ON_DISK(key) "{'_typeName':'VirtualMachineRelocateSpecDiskLocator'," \
	"'diskId':" key ",'datastore':" REF("Datastore", "datastore-5") "," POLICY "}"

	(void)state;
	is(vs_spec_clone(&c, NULL),
	   "{'folder':" REF("Folder", "group-v20") ",'name':'vm001',"
	   "'spec':{'_typeName':'VirtualMachineCloneSpec',"
	   "'location':{'_typeName':'VirtualMachineRelocateSpec',"
	   "'datastore':" REF("Datastore", "datastore-5") ","
	   "'pool':" REF("ResourcePool", "resgroup-9") ","
	   "'host':" REF("HostSystem", "host-10") "," POLICY ","
	   "'disk':[" ON_DISK("2000") "," ON_DISK("2001") "]},"
	   "'template':false,"
	   "'config':{'_typeName':'VirtualMachineConfigSpec',"
	   "'instanceUuid':'u','annotation':'no backup'},"
	   "'powerOn':false}}");
}

static void a_linked_clone_names_its_snapshot(void **state)
{
	const struct vs_vc_clone c = {
		.source = "vm-100", .folder = "group-v20", .name = "vm001",
		.uuid = "u", .pool = "resgroup-9", .host = "host-10",
		.datastore = "datastore-5", .snapshot = "snapshot-101",
	};

	(void)state;
	is(vs_spec_clone(&c, NULL),
	   "{'folder':" REF("Folder", "group-v20") ",'name':'vm001',"
	   "'spec':{'_typeName':'VirtualMachineCloneSpec',"
	   "'location':{'_typeName':'VirtualMachineRelocateSpec',"
	   "'datastore':" REF("Datastore", "datastore-5") ","
	   "'diskMoveType':'createNewChildDiskBacking',"
	   "'pool':" REF("ResourcePool", "resgroup-9") ","
	   "'host':" REF("HostSystem", "host-10") "},"
	   "'template':false,"
	   "'config':{'_typeName':'VirtualMachineConfigSpec',"
	   "'instanceUuid':'u'},"
	   "'powerOn':false,"
	   "'snapshot':" REF("VirtualMachineSnapshot", "snapshot-101") "}}");
}

static void nic_is(const struct vs_vc_nic_spec *nic, const char *device)
{
	struct vs_vc_hw hw = { .nics = nic, .nnics = 1 };
	VS_FREE char *want = vs_asprintf(
		"{'spec':{'_typeName':'VirtualMachineConfigSpec',"
		"'deviceChange':[{'_typeName':'VirtualDeviceConfigSpec',"
		"'operation':'add','device':%s}]}}", device);

	is(vs_spec_reconfigure(NULL, &hw, &no_types), want);
}

static void each_kind_of_nic_has_its_own_body(void **state)
{
	struct vs_vc_nic_spec c = sriov;

	(void)state;
	c.pci = "0000:af:00.0";
	c.mtu_change_allowed = false;
	nic_is(&c, "{'_typeName':'VirtualSriovEthernetCard','key':-101," DVS
		"," MAC ",'allowGuestOSMtuChange':false,"
		"'sriovBacking':{'_typeName':"
		"'VirtualSriovEthernetCardSriovBackingInfo',"
		"'physicalFunctionBacking':{'_typeName':"
		"'VirtualPCIPassthroughDeviceBackingInfo','deviceName':'',"
		"'id':'0000:af:00.0','deviceId':'0','systemId':'BYPASS',"
		"'vendorId':0}}}");
	c = (struct vs_vc_nic_spec) { .kind = VS_VC_PCI_DYNAMIC,
		.vendor = 0x10de, .device = 0x20b0, .label = "fabric-a" };
	nic_is(&c, "{'_typeName':'VirtualPCIPassthrough','key':-101,"
		"'backing':{'_typeName':"
		"'VirtualPCIPassthroughDynamicBackingInfo','deviceName':'',"
		"'allowedDevice':[{'_typeName':"
		"'VirtualPCIPassthroughAllowedDevice','vendorId':4318,"
		"'deviceId':8368}],'customLabel':'fabric-a'}}");
	c = (struct vs_vc_nic_spec) { .kind = VS_VC_PCI_FIXED,
		.pci = "0000:3b:00.0", .vendor = 0x15b3, .device = 0x101b,
		.name = "ConnectX-6", .system = "5f1c7e2a" };
	nic_is(&c, "{'_typeName':'VirtualPCIPassthrough','key':-101,"
		"'backing':{'_typeName':"
		"'VirtualPCIPassthroughDeviceBackingInfo',"
		"'deviceName':'ConnectX-6','id':'0000:3b:00.0',"
		"'deviceId':'101b','systemId':'5f1c7e2a','vendorId':5555}}");
	/* a short with its sign, hex without zeros before it */
	c.vendor = 0xb015;
	c.device = 0x00d1;
	c.name = NULL;
	nic_is(&c, "{'_typeName':'VirtualPCIPassthrough','key':-101,"
		"'backing':{'_typeName':"
		"'VirtualPCIPassthroughDeviceBackingInfo',"
		"'deviceName':'','id':'0000:3b:00.0',"
		"'deviceId':'d1','systemId':'5f1c7e2a','vendorId':-20459}}");
	c = sriov;
	c.kind = VS_VC_NET_PVRDMA;
	nic_is(&c, "{'_typeName':'VirtualVmxnet3Vrdma','key':-101," DVS ","
		MAC ",'deviceProtocol':'rocev2'}");
	c.kind = VS_VC_NET_VMXNET3;
	nic_is(&c, "{'_typeName':'VirtualVmxnet3','key':-101," DVS "," MAC "}");
	c.mac = NULL;
	c.portgroup_key = c.switch_uuid = "";
	c.network = "network-7";
	c.network_name = "Eth-10.3.0.0/16";
	nic_is(&c, "{'_typeName':'VirtualVmxnet3','key':-101,'backing':"
		"{'_typeName':'VirtualEthernetCardNetworkBackingInfo',"
		"'deviceName':'Eth-10.3.0.0/16','network':"
		REF("Network", "network-7") "},"
		"'addressType':'assigned'}");
}

static void what_hosts_have_by_name_is_asked_for_by_it(void **state)
{
	struct vs_vc_nic_spec c;

	(void)state;
	c = (struct vs_vc_nic_spec) { .kind = VS_VC_PCI_DVX,
		.label = "com.vendor.fpga", .params = "queues=8,mode=a=b" };
	nic_is(&c, "{'_typeName':'VirtualPCIPassthrough','key':-101,"
		"'backing':{'_typeName':'VirtualPCIPassthroughDvxBackingInfo',"
		"'deviceClass':'com.vendor.fpga','configParams':["
		"{'_typeName':'OptionValue','key':'queues','value':"
		"{'_typeName':'long','_value':8}},"
		"{'_typeName':'OptionValue','key':'mode','value':"
		"{'_typeName':'string','_value':'a=b'}}]}}");
	c = (struct vs_vc_nic_spec) { .kind = VS_VC_PCI_VGPU,
		.label = "nvidia_a100-4c" };
	nic_is(&c, "{'_typeName':'VirtualPCIPassthrough','key':-101,"
		"'backing':{'_typeName':"
		"'VirtualPCIPassthroughVmiopBackingInfo',"
		"'vgpu':'nvidia_a100-4c'}}");
}

static void params_are(struct vs_vc_nic_spec *c, const char *params,
		       const char *want)
{
	VS_FREE char *device = vs_asprintf("{'_typeName':"
		"'VirtualPCIPassthrough','key':-101,'backing':{'_typeName':"
		"'VirtualPCIPassthroughDvxBackingInfo','deviceClass':'com.v',"
		"'configParams':[%s]}}", want);

	c->params = params;
	nic_is(c, device);
}

#define PARAM(key, type, value) "{'_typeName':'OptionValue','key':'" key \
	"','value':{'_typeName':'" type "','_value':" value "}}"

/* OptionValue.value is any, and a strict server takes no other type. */
static void a_parameter_has_the_type_that_its_host_says(void **state)
{
	static const struct vs_vc_option options[] = {
		{ "com.other", "size", VS_VC_VALUE_STRING },
		{ "com.v", "size", VS_VC_VALUE_LONG },
		{ "com.v", "n", VS_VC_VALUE_INT },
		{ "com.v", "share", VS_VC_VALUE_FLOAT },
		{ "com.v", "trace", VS_VC_VALUE_BOOL },
		{ "com.v", "mode", VS_VC_VALUE_STRING },
	};
	struct vs_vc_nic_spec c = { .kind = VS_VC_PCI_DVX, .label = "com.v",
		.options = options, .noptions = VS_COUNT(options) };

	(void)state;
	params_are(&c, "size=16777215,n=-1,share=0.5",
		   PARAM("size", "long", "16777215") "," PARAM("n", "int", "-1")
		   "," PARAM("share", "float", "0.5"));
	params_are(&c, "trace=TRUE,mode=1",
		   PARAM("trace", "boolean", "true") ","
		   PARAM("mode", "string", "'1'"));
	params_are(&c, "trace=false", PARAM("trace", "boolean", "false"));
	/* what is none of its type is for vCenter to refuse */
	params_are(&c, "size=8k,trace=1,share=nan,n=",
		   PARAM("size", "string", "'8k'") ","
		   PARAM("trace", "string", "'1'") ","
		   PARAM("share", "string", "'nan'") ","
		   PARAM("n", "string", "''"));
	params_are(&c, "size=99999999999999999999",
		   PARAM("size", "string", "'99999999999999999999'"));
	/* of an unknown type */
	params_are(&c, "new=8,other=x8",
		   PARAM("new", "long", "8") "," PARAM("other", "string", "'x8'"));
}

static void a_reconfigure_swaps_nics_in_a_safe_order(void **state)
{
	struct vs_vc_kv job = { "slurm.vsphere.job", "" };
	const int gone[] = { 13031, 13000 };
	const struct vs_spec_types types = {
		.mgmt = "VirtualE1000e",
		.gone = (const char *const []){ "VirtualSriovEthernetCard",
						"VirtualPCIPassthrough" },
	};
	struct vs_vc_hw hw = { .vcpus = 4,
		.nics = &sriov, .nnics = 1, .gone = gone, .ngone = 2,
		.mgmt_mac = "00:50:56:00:00:09", .mgmt_key = 4000,
		.extra = &job, .nextra = 1 };

	(void)state;
	is(vs_spec_reconfigure("2026-01-01T10:00:00.000000Z", &hw, &types),
	   "{'spec':{'_typeName':'VirtualMachineConfigSpec',"
	   "'changeVersion':'2026-01-01T10:00:00.000000Z','numCPUs':4,"
	   "'deviceChange':[{'_typeName':'VirtualDeviceConfigSpec',"
	   "'operation':'edit','device':{'_typeName':'VirtualE1000e',"
	   "'key':4000,'addressType':'manual',"
	   "'macAddress':'00:50:56:00:00:09'}},"
	   "{'_typeName':'VirtualDeviceConfigSpec','operation':'remove',"
	   "'device':{'_typeName':'VirtualSriovEthernetCard','key':13031}},"
	   "{'_typeName':'VirtualDeviceConfigSpec','operation':'remove',"
	   "'device':{'_typeName':'VirtualPCIPassthrough','key':13000}},"
	   "{'_typeName':'VirtualDeviceConfigSpec','operation':'add',"
	   "'device':{'_typeName':'VirtualSriovEthernetCard','key':-101,"
	   DVS "," MAC ",'allowGuestOSMtuChange':true}}],"
	   "'extraConfig':[{'_typeName':'OptionValue',"
	   "'key':'slurm.vsphere.job','value':{'_typeName':'string',"
	   "'_value':''}}]}}");
}

#define NORMAL "'shares':{'_typeName':'SharesInfo','shares':0,'level':'normal'}"

/* A VM of another profile, or a template with reservations that a user set. */
static void what_the_profile_does_not_have_is_taken_away(void **state)
{
	struct vs_vc_hw hw = { .memory_mb = 4096, .exact = true };

	(void)state;
	is(vs_spec_reconfigure("7", &hw, &no_types),
	   "{'spec':{'_typeName':'VirtualMachineConfigSpec',"
	   "'changeVersion':'7','memoryMB':4096,"
	   "'memoryReservationLockedToMax':false,"
	   "'memoryAllocation':{'_typeName':'ResourceAllocationInfo',"
	   "'reservation':0," NORMAL "},"
	   "'cpuAllocation':{'_typeName':'ResourceAllocationInfo',"
	   "'reservation':0," NORMAL "},"
	   "'latencySensitivity':{'_typeName':'LatencySensitivity',"
	   "'level':'normal'}}}");
	hw.memory_locked = hw.latency_high = true;
	hw.cpu_reserved_mhz = 8000;
	is(vs_spec_reconfigure("7", &hw, &no_types),
	   "{'spec':{'_typeName':'VirtualMachineConfigSpec',"
	   "'changeVersion':'7','memoryMB':4096,"
	   "'memoryReservationLockedToMax':true,"
	   "'memoryAllocation':{'_typeName':'ResourceAllocationInfo',"
	   "'reservation':4096," NORMAL "},"
	   "'cpuAllocation':{'_typeName':'ResourceAllocationInfo',"
	   "'reservation':8000," NORMAL "},"
	   "'latencySensitivity':{'_typeName':'LatencySensitivity',"
	   "'level':'high'}}}");
}

/* Numbers of shares count with "custom" alone (vSphere's SharesInfo). */
static void hardware_is_said_as_the_line_has_it(void **state)
{
	struct vs_vc_hw hw = {
		.vcpus = 8, .cores_per_socket = 4, .memory_mb = 4096,
		.mem_reserved_mb = 1024, .cpu_reserved_mhz = 3000,
		.cpu_shares = 5000, .mem_shares = VS_VC_SHARES_LOW,
		.cold = true, .secure_boot = VS_VC_AUTO_YES,
	};

	(void)state;
	is(vs_spec_reconfigure("7", &hw, &no_types),
	   "{'spec':{'_typeName':'VirtualMachineConfigSpec',"
	   "'changeVersion':'7','numCPUs':8,'numCoresPerSocket':4,"
	   "'memoryMB':4096,"
	   "'memoryAllocation':{'_typeName':'ResourceAllocationInfo',"
	   "'reservation':1024,'shares':{'_typeName':'SharesInfo',"
	   "'shares':0,'level':'low'}},"
	   "'cpuAllocation':{'_typeName':'ResourceAllocationInfo',"
	   "'reservation':3000,'shares':{'_typeName':'SharesInfo',"
	   "'shares':5000,'level':'custom'}},"
	   "'cpuHotAddEnabled':false,'memoryHotAddEnabled':false,"
	   "'bootOptions':{'_typeName':'VirtualMachineBootOptions',"
	   "'efiSecureBootEnabled':true}}}");
	hw = (struct vs_vc_hw){ .cores_per_socket = -1,
				.secure_boot = VS_VC_AUTO_NO };
	is(vs_spec_reconfigure("7", &hw, &no_types),
	   "{'spec':{'_typeName':'VirtualMachineConfigSpec',"
	   "'changeVersion':'7','numCoresPerSocket':0,"
	   "'bootOptions':{'_typeName':'VirtualMachineBootOptions',"
	   "'efiSecureBootEnabled':false}}}");
}

static void moving_and_powering_name_host_and_pool(void **state)
{
	(void)state;
	is(vs_spec_relocate("host-11", "resgroup-9", NULL),
	   "{'spec':{'_typeName':'VirtualMachineRelocateSpec',"
	   "'pool':" REF("ResourcePool", "resgroup-9") ","
	   "'host':" REF("HostSystem", "host-11") "}}");
	is(vs_spec_relocate("host-11", "resgroup-9", "datastore-7"),
	   "{'spec':{'_typeName':'VirtualMachineRelocateSpec',"
	   "'datastore':" REF("Datastore", "datastore-7") ","
	   "'pool':" REF("ResourcePool", "resgroup-9") ","
	   "'host':" REF("HostSystem", "host-11") "}}");
	is(vs_spec_relocate("host-11", NULL, NULL),
	   "{'spec':{'_typeName':'VirtualMachineRelocateSpec',"
	   "'host':" REF("HostSystem", "host-11") "}}");
	is(vs_spec_power_on("host-11"),
	   "{'host':" REF("HostSystem", "host-11") "}");
	assert_null(vs_spec_power_on(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_session_is_asked_for_in_english),
		cmocka_unit_test(
			names_in_paths_are_escaped_as_vcenter_keeps_them),
		cmocka_unit_test(views_say_what_they_hold),
		cmocka_unit_test(reading_and_waiting),
		cmocka_unit_test(a_clone_is_off_marked_and_has_its_nic),
		cmocka_unit_test(a_nics_network_is_kept_whatever_it_is),
		cmocka_unit_test(a_policy_is_said_of_each_disk),
		cmocka_unit_test(a_linked_clone_names_its_snapshot),
		cmocka_unit_test(each_kind_of_nic_has_its_own_body),
		cmocka_unit_test(what_hosts_have_by_name_is_asked_for_by_it),
		cmocka_unit_test(a_parameter_has_the_type_that_its_host_says),
		cmocka_unit_test(a_reconfigure_swaps_nics_in_a_safe_order),
		cmocka_unit_test(what_the_profile_does_not_have_is_taken_away),
		cmocka_unit_test(hardware_is_said_as_the_line_has_it),
		cmocka_unit_test(moving_and_powering_name_host_and_pool),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
