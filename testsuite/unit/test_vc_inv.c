/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Update sets of the property collector -> typed events. ' stands for ". */
#include "inv_stage.h"

#define DEVICES "{'_typeName':'ArrayOfVirtualDevice','_value':[" \
	"{'_typeName':'VirtualLsiLogicController','key':1000}," \
	"{'_typeName':'VirtualDisk','key':2000,'backing':{'_typeName':" \
	"'VirtualDiskFlatVer2BackingInfo','fileName':'[s] vm1/a.vmdk'}}," \
	"{'_typeName':'VirtualE1000e','key':4000,'addressType':'manual'," \
	"'macAddress':'00:50:56:AA:BB:CC'}," \
	"{'_typeName':'VirtualSriovEthernetCard','key':13031," \
	"'addressType':'assigned','macAddress':'00:50:56:00:00:01'," \
	"'sriovBacking':{'physicalFunctionBacking':{'id':" \
	"'Automatic-0000:00:00.0'}}}," \
	"{'_typeName':'VirtualSriovEthernetCard','key':13030," \
	"'addressType':'assigned','macAddress':'00:50:56:00:00:02'," \
	"'sriovBacking':{'physicalFunctionBacking':{'id':" \
	"'Automatic-0000:3B:00.0'}}}," \
	"{'_typeName':'VirtualSriovEthernetCard','key':13029," \
	"'addressType':'assigned','macAddress':'00:50:56:00:00:03'," \
	"'sriovBacking':{'physicalFunctionBacking':{'id':" \
	"'0000:af:00.1'}}}," \
	"{'_typeName':'VirtualSriovEthernetCard','key':13028," \
	"'addressType':'assigned','macAddress':'00:50:56:00:00:04'}," \
	"{'_typeName':'VirtualPCIPassthrough','key':13000,'backing':" \
	"{'_typeName':'VirtualPCIPassthroughDeviceBackingInfo'," \
	"'id':'0000:3b:00.3'}}," \
	"{'_typeName':'VirtualPCIPassthrough','key':13001,'backing':" \
	"{'_typeName':'VirtualPCIPassthroughVmiopBackingInfo'," \
	"'vgpu':'nvidia_a100-4c'}}," \
	"{'_typeName':'VirtualPCIPassthrough','key':13002,'backing':" \
	"{'_typeName':'VirtualPCIPassthroughDvxBackingInfo'," \
	"'deviceClass':'com.vendor.fpga'}}," \
	"{'_typeName':'VirtualPCIPassthrough','key':13003,'backing':" \
	"{'_typeName':'VirtualPCIPassthroughPluginBackingInfo'}}]}"

static void every_kind_of_nic_is_recognised(void **state)
{
	DELIVERS(*state, UPDATE(SET("f-vms", OBJ("enter", "VirtualMachine",
		"vm-1", POWER("poweredOn") ","
		CHANGE("runtime.host", REF("HostSystem", "host-1")) ","
		CHANGE("config.memoryReservationLockedToMax",
		       "{'_typeName':'boolean','_value':true}") ","
		CHANGE("config.memoryAllocation",
		       "{'_typeName':'ResourceAllocationInfo',"
		       "'reservation':4096}") ","
		CHANGE("config.hardware.device", DEVICES)))),
		"vm vm-1 power=poweredOn host=host-1 owner=- uuid= locked=1 mem=4096"
		" nic=1/00:50:56:aa:bb:cc/"
		" nic=4/00:50:56:00:00:01/auto"
		" nic=4/00:50:56:00:00:02/auto0000:3b:00.0"
		" nic=4/00:50:56:00:00:03/0000:af:00.1"
		" nic=4/00:50:56:00:00:04/auto"
		" nic=5//0000:3b:00.3 nic=8//nvidia_a100-4c"
		" nic=7//com.vendor.fpga;");
}

/* What the rest of the update says is taken all the same. */
static void a_dynamic_device_that_allows_nothing_is_read(void **state)
{
	DELIVERS(*state, UPDATE(SET("f-vms", OBJ("enter", "VirtualMachine",
		"vm-1", POWER("poweredOff") ","
		CHANGE("config.hardware.device",
		"[{'_typeName':'VirtualPCIPassthrough','key':13000,'backing':"
		"{'_typeName':'VirtualPCIPassthroughDynamicBackingInfo',"
		"'allowedDevice':[],'customLabel':'fabric-a'}}]") ","
		CHANGE("runtime.host", REF("HostSystem", "host-1"))))),
		"vm vm-1 power=poweredOff host=host-1 owner=- uuid= locked=0"
		" mem=0 nic=6//;");
}

#define ENTER_A OBJ("enter", "VirtualMachine", "vm-1", POWER("poweredOff") \
	"," CHANGE("runtime.host", REF("HostSystem", "host-1")) "," \
	CHANGE("config.hardware.device", "[{'_typeName':'VirtualDisk'," \
	"'backing':{'fileName':'[s] vm1/a.vmdk'}}]"))
#define ENTER_B OBJ("enter", "VirtualMachine", "vm-1", \
	CHANGE("name", STR("vm001")) "," \
	CHANGE("parent", REF("Folder", "group-1")) "," \
	CHANGE("config.instanceUuid", STR("u1")) "," \
	CHANGE("config.files.vmPathName", STR("[s] vm1/vm1.vmx")) "," \
	CHANGE(OWNER, "{'_typeName':'OptionValue','key':'slurm.vsphere.owner'" \
	",'value':" STR("a/b/c") "}"))

static void one_vm_in_two_filters_is_one_event(void **state)
{
	DELIVERS(*state, UPDATE(SET("f-ours", ENTER_B) ","
				SET("f-vms", ENTER_A)),
		"vm vm-1 name=vm001 power=poweredOff host=host-1"
		" folder=group-1 owner=a/b/c uuid=u1 locked=0 mem=0"
		" dir=[s] vm1/ own=1;");
	DELIVERS(*state, UPDATE(SET("f-vms", OBJ("modify", "VirtualMachine",
		"vm-1", POWER("poweredOn")))), "vm vm-1 power=poweredOn;");
}

static void it_is_gone_when_it_has_left_both(void **state)
{
	feed(*state, UPDATE(SET("f-ours", ENTER_B) "," SET("f-vms", ENTER_A)));
	/* Outside of the folder it still says whose it is. */
	DELIVERS(*state, UPDATE(SET("f-ours", OBJ("leave", "VirtualMachine",
		"vm-1", ""))),
		"vm vm-1 folder= owner=a/b/c uuid= locked=0 mem=0;");
	DELIVERS(*state, UPDATE(SET("f-vms", OBJ("leave", "VirtualMachine",
		"vm-1", ""))), "gone vm-1;");
	DELIVERS(*state, UPDATE(SET("f-ours", OBJ("leave", "VirtualMachine",
		"vm-9", ""))), "");
}

#define CHILD CHANGE("config.hardware.device", "[{'_typeName':'VirtualDisk'," \
	"'backing':{'fileName':'[s] vm1/a.vmdk','parent':{'fileName':" \
	"'[s] p/p.vmdk'}}}]")

/* A VM that a user cloned into another folder may depend on a clone source's
 * disk. */
static void what_stands_on_what_is_seen_outside_of_the_folder(void **state)
{
	const char *const *paths = vs_inv_paths(*state, VCX_F_VMS);
	bool asks = false;

	for (size_t i = 0; paths[i]; i++)
		asks |= !strcmp(paths[i], "config.files.vmPathName");
	assert_true(asks);
	DELIVERS(*state, UPDATE(SET("f-vms", OBJ("enter", "VirtualMachine",
		"vm-1", CHANGE("config.files.vmPathName",
			       STR("[s] vm1/vm1.vmx")) "," CHILD))),
		"vm vm-1 host= owner=- uuid= locked=0 mem=0"
		" dir=[s] vm1/ own=1 bases=[s] p/\n;");
}

static void who_leaves_the_folder_still_says_where_it_lies(void **state)
{
	feed(*state, UPDATE(SET("f-ours", ENTER_B) "," SET("f-vms", ENTER_A)));
	feed(*state, UPDATE(SET("f-ours", OBJ("leave", "VirtualMachine",
		"vm-1", ""))));
	DELIVERS(*state, UPDATE(SET("f-vms", OBJ("modify", "VirtualMachine",
		"vm-1", CHILD))),
		"vm vm-1 dir=[s] vm1/ own=1 bases=[s] p/\n;");
}

static void a_foreign_disk_is_seen(void **state)
{
	feed(*state, UPDATE(SET("f-ours", ENTER_B)));
	DELIVERS(*state, UPDATE(SET("f-vms", OBJ("enter", "VirtualMachine",
		"vm-1", CHANGE("config.hardware.device",
		"[{'_typeName':'VirtualDisk','backing':{'fileName':"
		"'[s] vm1/a.vmdk'}},{'_typeName':'VirtualDisk','backing':"
		"{'fileName':'[s] other/b.vmdk'}}]")))),
		"vm vm-1 host= uuid=u1 locked=0 mem=0 dir=[s] vm1/ own=0;");
}

static void a_mark_that_is_unset_or_empty_is_gone(void **state)
{
	feed(*state, UPDATE(SET("f-ours", ENTER_B)));
	DELIVERS(*state, UPDATE(SET("f-ours", OBJ("modify", "VirtualMachine",
		"vm-1", "{'name':'" OWNER "','op':'assign'}"))),
		"vm vm-1 owner=-;");
	DELIVERS(*state, UPDATE(SET("f-ours", OBJ("modify", "VirtualMachine",
		"vm-1", CHANGE(OWNER, STR("x/y/z"))))),
		"vm vm-1 owner=x/y/z;");
	DELIVERS(*state, UPDATE(SET("f-ours", OBJ("modify", "VirtualMachine",
		"vm-1", CHANGE(OWNER, "{'_typeName':'OptionValue','value':"
		STR("") "}")))), "vm vm-1 owner=-;");
}

static void wants(struct vs_inv *inv, const char *moid, enum vcx_filter f)
{
	struct vcx_refetch *r = TAILQ_FIRST(&inv->refetch);

	if (!moid) {
		assert_null(r);
		return;
	}
	assert_non_null(r);
	assert_string_equal(r->moid, moid);
	assert_int_equal(r->filter, f);
	assert_null(TAILQ_NEXT(r, link));
}

static void the_numa_nodes_that_it_is_bound_to_are_told(void **state)
{
	feed(*state, UPDATE(SET("f-ours", ENTER_B)));
	DELIVERS(*state, UPDATE(SET("f-ours", OBJ("modify", "VirtualMachine",
		"vm-1", CHANGE(NUMA, "{'_typeName':'OptionValue','value':"
		STR("0,1") "}")))),
		"vm vm-1 uuid=u1 locked=0 mem=0 numa=0,1;");
	DELIVERS(*state, UPDATE(SET("f-ours", OBJ("modify", "VirtualMachine",
		"vm-1", "{'name':'" NUMA "','op':'assign'}"))),
		"vm vm-1 uuid=u1 locked=0 mem=0;");
}

static void a_change_of_a_parent_or_an_element_has_it_read_anew(void **state)
{
	struct vs_inv *inv = *state;

	feed(inv, UPDATE(SET("f-ours", ENTER_B) "," SET("f-vms", ENTER_A)));
	wants(inv, NULL, 0);
	DELIVERS(inv, UPDATE(SET("f-vms", OBJ("modify", "VirtualMachine",
		"vm-1", "{'name':'summary.quickStats','op':'assign','val':{}}"
		))), "");
	wants(inv, NULL, 0);
	DELIVERS(inv, UPDATE(SET("f-vms", OBJ("modify", "VirtualMachine",
		"vm-1", "{'name':'config','op':'assign'},"
		"{'name':'config.hardware.device[4000]','op':'remove'}"))), "");
	wants(inv, "vm-1", VCX_F_VMS);
}

#define ADD(n, v) "{'name':'" n "','op':'add','val':" v "}"
#define OPTION_OF(v) "{'_typeName':'OptionValue','value':" STR(v) "}"
#define KEY(k) "config.extraConfig[\\\"guestinfo.slurm." k "\\\"]"

/* A guest's first report adds keys to its VM, beside one that changes. They are
 * delivered together, and nothing is read again for them. */
static void what_a_guest_says_first_is_told_with_the_rest(void **state)
{
	struct vs_inv *inv = *state;

	feed(inv, UPDATE(SET("f-ours", ENTER_B) "," SET("f-vms", ENTER_A)));
	DELIVERS(inv, UPDATE(SET("f-ours", OBJ("modify", "VirtualMachine",
		"vm-1", ADD(KEY("state"), OPTION_OF("booting"))))),
		"vm vm-1 says=booting:;");
	wants(inv, NULL, 0);
	DELIVERS(inv, UPDATE(SET("f-ours", OBJ("modify", "VirtualMachine",
		"vm-1", CHANGE(KEY("state"), OPTION_OF("failed")) ","
		ADD(KEY("reason"), OPTION_OF("no NIC"))))),
		"vm vm-1 says=failed:no NIC;");
	wants(inv, NULL, 0);
	DELIVERS(inv, UPDATE(SET("f-ours", OBJ("modify", "VirtualMachine",
		"vm-1", "{'name':'" KEY("reason") "','op':'remove'}"))),
		"vm vm-1 says=failed:;");
}

/* One element is not the list. */
static void an_element_that_is_added_to_a_list_has_it_read_anew(void **state)
{
	struct vs_inv *inv = *state;

	feed(inv, UPDATE(SET("f-ours", ENTER_B) "," SET("f-vms", ENTER_A)));
	DELIVERS(inv, UPDATE(SET("f-vms", OBJ("modify", "VirtualMachine",
		"vm-1", ADD("config.hardware.device",
			    "{'_typeName':'VirtualDisk'}")))), "");
	wants(inv, "vm-1", VCX_F_VMS);
}

static void a_change_of_what_never_entered_has_it_read(void **state)
{
	DELIVERS(*state, UPDATE(SET("f-vms", OBJ("modify", "VirtualMachine",
		"vm-7", POWER("poweredOn")))), "");
	wants(*state, "vm-7", VCX_F_VMS);
}

static void what_was_read_anew_replaces_all_of_it(void **state)
{
	struct vs_jdoc doc = parse("[{'name':'runtime.powerState','val':"
				   STR("suspended") "},{'name':"
				   "'config.hardware.device','val':[]}]");

	feed(*state, UPDATE(SET("f-ours", ENTER_B) "," SET("f-vms", ENTER_A)));
	out[0] = '\0';
	vs_inv_reread(*state, VCX_F_VMS, "vm-1", vs_j_root(&doc),
		      (struct vs_j){ 0 });
	vs_inv_flush(*state);
	assert_string_equal(out, "vm vm-1 power=suspended host= uuid=u1"
			    " locked=0 mem=0 dir=[s] vm1/ own=1;");
	vs_jdoc_free(&doc);
}

static void what_we_may_not_read_is_unreadable_and_not_gone(void **state)
{
	DELIVERS(*state, UPDATE(SET("f-vms", "{'kind':'enter','obj':"
		REF("VirtualMachine", "vm-1") ",'changeSet':[" POWER("poweredOn")
		"],'missingSet':[{'path':'config.hardware.device','fault':"
		FLAT("NoPermission") "}]}")),
		"vm vm-1 unreadable power=poweredOn host=;");
}

/* Invalid, inaccessible: vCenter takes all of its config back. What was known
 * of it is not said to be gone. */
static void a_vm_without_config_is_unreadable_and_keeps_what_it_had(void **st)
{
	feed(*st, UPDATE(SET("f-ours", ENTER_B) "," SET("f-vms", ENTER_A)));
	DELIVERS(*st, UPDATE(SET("f-vms", OBJ("modify", "VirtualMachine",
		"vm-1", CHANGE("runtime.connectionState", STR("invalid")) ","
		"{'name':'config.hardware.device','op':'indirectRemove'},"
		"{'name':'config.hardware.memoryMB','op':'indirectRemove'}"))
		"," SET("f-ours", OBJ("modify", "VirtualMachine", "vm-1",
		"{'name':'" OWNER "','op':'indirectRemove'}"))),
		"vm vm-1 unreadable;");
	DELIVERS(*st, UPDATE(SET("f-vms", OBJ("modify", "VirtualMachine",
		"vm-1", CHANGE("config.hardware.device", "[{'_typeName':"
		"'VirtualDisk','backing':{'fileName':'[s] vm1/a.vmdk'}}]")))),
		"vm vm-1 power=poweredOff dir=[s] vm1/ own=1;");
}

static void a_lost_session_in_a_missing_set_is_an_error(void **state)
{
	assert_int_equal(feed(*state, UPDATE(SET("f-vms", ENTER_A) ","
		SET("f-ours", "{'kind':'enter','obj':"
		REF("VirtualMachine", "vm-1") ",'missingSet':[{'path':'name',"
		"'fault':" FLAT("NotAuthenticated") "}]}"))), -1);
	assert_int_equal(err.code, VS_E_RELOGIN);
	assert_int_equal(feed(*state, UPDATE("{'filter':"
		REF("PropertyFilter", "f-vms") ",'missingSet':[{'obj':"
		REF("VirtualMachine", "vm-1") ",'fault':"
		NESTED("NotAuthenticated") "}]}")), -1);
	assert_int_equal(err.code, VS_E_RELOGIN);
	assert_string_equal(out, "");
}

/* A reply to CreateFilter that was garbled on its way: what that filter shows
 * is not "nothing". */
static void a_filter_that_is_not_ours_is_an_error(void **state)
{
	assert_int_equal(feed(*state, UPDATE(SET("f-vmz", ENTER_A))), -1);
	assert_int_equal(err.code, VS_E_RETRY);
	assert_string_equal(out, "");
}

#define HOST_ENTER OBJ("enter", "HostSystem", "host-1", \
	CHANGE("runtime.connectionState", STR("connected")) "," \
	CHANGE("hardware.cpuInfo", "{'numCpuCores':32,'numCpuThreads':64," \
	       "'hz':2600000123}") "," \
	CHANGE("hardware.memorySize", "{'_typeName':'long'," \
	       "'_value':137438953472}") "," \
	CHANGE("hardware.numaInfo", "{'numNodes':2,'numaNode':[" \
	       "{'typeId':0,'pciId':['0000:17:00.0']}," \
	       "{'typeId':1,'memorySize':68719476736," \
	       "'cpuID':[1,3,5,7,9,11],'pciId':['0000:3B:00.0'," \
	       "'0000:3b:00.1']}]}") "," \
	CHANGE("config.product", "{'version':'8.0.3'}") "," \
	CHANGE("config.pciPassthruInfo", "{'_typeName':" \
	       "'ArrayOfHostPciPassthruInfo','_value':[" \
	       "{'_typeName':'HostPciPassthruInfo','id':'0000:00:01.0'}," \
	       "{'_typeName':'HostSriovInfo','id':'0000:3b:00.0'," \
	       "'sriovCapable':true,'sriovActive':true," \
	       "'numVirtualFunction':16}," \
	       "{'_typeName':'HostSriovInfo','id':'0000:3b:00.1'," \
	       "'sriovCapable':true,'sriovActive':false," \
	       "'numVirtualFunction':16}," \
	       "{'_typeName':'HostSriovInfo','id':'0000:99:00.0'," \
	       "'sriovCapable':true,'sriovActive':true," \
	       "'numVirtualFunction':7}]}") "," \
	CHANGE("config.network.pnic", "[" \
	       "{'key':'k-4','device':'vmnic4','pci':'0000:3b:00.0'," \
	       "'linkSpeed':{'speedMb':100000}}," \
	       "{'key':'k-5','device':'vmnic5','pci':'0000:3b:00.1'}]") "," \
	CHANGE("config.network.proxySwitch", "[{'dvsUuid':'50 2a'," \
	       "'pnic':['k-4']}]"))

/* 0x10de as it is, 0xb015 as a negative number; what isn't active says so. */
static void devices_that_are_handed_out_are_told_with_their_ids(void **state)
{
	DELIVERS(*state, UPDATE(SET("f-hosts", OBJ("enter", "HostSystem",
		"host-1",
		CHANGE("hardware.pciDevice", "["
		       "{'id':'0000:CA:00.0','vendorId':4318,'deviceId':8368,"
		       "'deviceName':'GA100'},"
		       "{'id':'0000:3b:00.0','vendorId':5555,'deviceId':-20459,"
		       "'deviceName':'ConnectX'},"
		       "{'id':'0000:65:00.0','vendorId':4318,'deviceId':8368,"
		       "'deviceName':'GA100'},"
		       "{'id':'0000:66:00.0','vendorId':4318,'deviceId':8368,"
		       "'deviceName':'GA100'},"
		       "{'id':'0000:67:00.0','vendorId':4318,'deviceId':8368,"
		       "'deviceName':'GA100'}]") ","
		CHANGE("config.pciPassthruInfo", "["
		       "{'_typeName':'HostPciPassthruInfo','id':'0000:ca:00.0',"
		       "'passthruEnabled':true,'passthruActive':true,"
		       "'hardwareLabel':'fabric-a'},"
		       "{'_typeName':'HostPciPassthruInfo','id':'0000:3b:00.0',"
		       "'passthruEnabled':true,'passthruActive':true},"
		       "{'_typeName':'HostPciPassthruInfo','id':'0000:65:00.0',"
		       "'passthruEnabled':true,'passthruActive':false},"
		       "{'_typeName':'HostPciPassthruInfo','id':'0000:66:00.0',"
		       "'passthruCapable':true,'passthruEnabled':false,"
		       "'passthruActive':false},"
		       "{'_typeName':'HostPciPassthruInfo','id':'0000:67:00.0',"
		       "'passthruCapable':false},"
		       "{'_typeName':'HostPciPassthruInfo','id':'0000:99:00.0',"
		       "'passthruEnabled':true,'passthruActive':true}]")))),
		"host host-1 away 0x0 0MB hw0 0000:ca:00.0=10de:20b0/GA100/fabric-a/n-1"
		" 0000:3b:00.0=15b3:b015/ConnectX//n-1"
		" 0000:65:00.0=waits:10de:20b0/GA100//n-1"
		" 0000:66:00.0=off:10de:20b0/GA100//n-1;");
}

/* GPUs by their address, profiles and classes with what the driver can do. */
static void what_a_host_has_by_name_is_told(void **state)
{
	DELIVERS(*state, UPDATE(SET("f-hosts", OBJ("enter", "HostSystem",
		"host-1",
		CHANGE("hardware.dvxClasses", "["
		       "{'deviceClass':'com.vendor.fpga',"
		       "'checkpointSupported':true,"
		       "'swDMATracingSupported':false,'sriovNic':false},"
		       "{'deviceClass':'com.vendor.nic',"
		       "'checkpointSupported':true,"
		       "'swDMATracingSupported':true,'sriovNic':true}]") ","
		CHANGE("config.sharedPassthruGpuTypes", "{'_typeName':"
		       "'ArrayOfString','_value':['nvidia_a100-4c',"
		       "'nvidia_a100-8c']}") ","
		CHANGE("config.sharedGpuCapabilities", "["
		       "{'vgpu':'nvidia_a100-8c','migrateSupported':true,"
		       "'suspendSupported':true,"
		       "'diskSnapshotSupported':true,"
		       "'memorySnapshotSupported':false}]") ","
		CHANGE("config.graphicsInfo", "["
		       "{'deviceName':'NVIDIA A100','pciId':'CA:00.0',"
		       "'graphicsType':'sharedDirect','vgpuMode':'sameSize',"
		       "'memorySizeInKB':41943040},"
		       "{'deviceName':'NVIDIA A100','pciId':'0000:65:00.0',"
		       "'graphicsType':'shared'}]")))),
		"host host-1 away 0x0 0MB hw0"
		" 0000:ca:00.0=NVIDIA A100/sharedDirect/sameSize/n-1"
		" 0000:65:00.0=NVIDIA A100/shared//n-1"
		" nvidia_a100-4c= nvidia_a100-8c=m"
		" com.vendor.fpga=c com.vendor.nic=mcn;");
	DELIVERS(*state, UPDATE(SET("f-hosts", OBJ("modify", "HostSystem",
		"host-1",
		CHANGE("hardware.dvxClasses", "[]") ","
		CHANGE("config.sharedGpuCapabilities", "[]") ","
		CHANGE("config.sharedPassthruGpuTypes",
		       "['nvidia_a100-8c']") ","
		CHANGE("config.graphicsInfo", "[]")))),
		"host host-1 nvidia_a100-8c=;");
}

static void a_pf_is_joined_from_four_places(void **state)
{
	/* 131072 MB less 18 %; the PF without a NIC is no adapter. */
	DELIVERS(*state, UPDATE(SET("f-hosts", HOST_ENTER)),
		"host host-1 connected 32x2600 107479MB hw21"
		" 0000:3b:00.0=vmnic4/50 2a/16/n1:3x53739MB/1"
		" 0000:3b:00.1=vmnic5//0/n1:3x53739MB/0;");
	DELIVERS(*state, UPDATE(SET("f-hosts", OBJ("modify", "HostSystem",
		"host-1", CHANGE("runtime.inMaintenanceMode",
		"{'_typeName':'boolean','_value':true}")))),
		"host host-1 connected maintenance;");
	DELIVERS(*state, UPDATE(SET("f-hosts", OBJ("modify", "HostSystem",
		"host-1", CHANGE("config.network.pnic", "[]")))),
		"host host-1;");
}

/* As four of 13 real hosts say it: nodes with their cores and memory, and no
 * device with any of them. A PF there has no NUMA node, rather than node 0. */
static void nodes_that_list_no_device_have_none(void **state)
{
	DELIVERS(*state, UPDATE(SET("f-hosts", OBJ("enter", "HostSystem",
		"host-1",
		CHANGE("hardware.numaInfo", "{'numNodes':2,'numaNode':["
		       "{'typeId':0,'cpuID':[0,2],"
		       "'memoryRangeLength':68719476736},"
		       "{'typeId':1,'cpuID':[1,3],'pciId':[],"
		       "'memoryRangeLength':68719476736}]}") ","
		CHANGE("config.pciPassthruInfo", "[{'_typeName':"
		       "'HostSriovInfo','id':'0000:3b:00.0',"
		       "'sriovCapable':true,'sriovActive':true,"
		       "'numVirtualFunction':16}]") ","
		CHANGE("config.network.pnic", "[{'key':'k-4',"
		       "'device':'vmnic4','pci':'0000:3b:00.0'}]")))),
		"host host-1 away 0x0 0MB hw0"
		" 0000:3b:00.0=vmnic4//16/n-1:0x0MB/0;");
}

static void tasks_come_after_the_inventory(void **state)
{
	DELIVERS(*state, UPDATE(SET("f-tasks", OBJ("enter", "Task", "task-1",
		CHANGE("info.state", STR("success")) ","
		CHANGE("info.result", REF("VirtualMachine", "vm-1"))))
		"," SET("f-ours", OBJ("enter", "VirtualMachine", "vm-1",
		CHANGE("name", STR("a"))))),
		"vm vm-1 name=a folder= owner=- uuid= locked=0 mem=0;"
		"task task-1 success ->vm-1;");
	DELIVERS(*state, UPDATE(SET("f-tasks", OBJ("modify", "Task", "task-2",
		CHANGE("info", "{'state':'error','error':{'fault':"
		"{'_typeName':'X'}}}")))), "task task-2 error error;");
	DELIVERS(*state, UPDATE("{'filter':" REF("PropertyFilter", "f-tasks")
		",'missingSet':[{'obj':" REF("Task", "task-3") ",'fault':"
		"{'fault':{'_typeName':'ManagedObjectNotFound'}}}]}"),
		"lost task-3;");
}

static void what_is_no_update_set_is_refused_with_its_path(void **state)
{
	assert_int_equal(feed(*state, UPDATE(SET("f-vms", "{'kind':7,'obj':"
		REF("VirtualMachine", "vm-1") "}"))), -1);
	assert_string_equal(err.text,
		"filterSet[0].objectSet[0].kind: expected a string");
	assert_int_equal(feed(*state, "{'filterSet':{}}"), -1);
	assert_int_equal(feed(*state, "7"), -1);
}

/* Update 2 of 6.7 has vmx-15 and calls itself 6.7.0, as what was before it. */
static void the_newest_hardware_of_a_host_goes_by_version_and_build(void **state)
{
	static const struct { const char *product; int hw; } of[] = {
		{ "{'version':'6.7.0','build':'8169922'}", 14 },
		{ "{'version':'6.7.0','build':'13006602'}", 14 },
		{ "{'version':'6.7.0','build':'13006603'}", 15 },
		{ "{'version':'6.7.0','build':'17700523'}", 15 },
		{ "{'version':'6.7.0'}", 14 },
		{ "{'version':'6.7.0','build':'custom'}", 14 },
		{ "{'version':'6.5.0','build':'18678235'}", 13 },
		{ "{'version':'7.0.1','build':'16850804'}", 18 },
		{ "{'version':'8.0.3','build':'24022510'}", 21 },
		{ "{'version':'6.0.0','build':'99999999'}", 0 },
	};

	for (size_t i = 0; i < VS_COUNT(of); i++) {
		VS_FREE char *set = vs_asprintf(UPDATE(SET("f-hosts",
			OBJ("enter", "HostSystem", "host-1",
			    CHANGE("config.product", "%s")))), of[i].product);
		VS_FREE char *want = vs_asprintf(" 0x0 0MB hw%d;", of[i].hw);

		assert_int_equal(feed(*state, set), 0);
		if (!strstr(out, want))
			fail_msg("%s: %s", of[i].product, out);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(every_kind_of_nic_is_recognised),
		T(a_dynamic_device_that_allows_nothing_is_read),
		T(one_vm_in_two_filters_is_one_event),
		T(it_is_gone_when_it_has_left_both),
		T(what_stands_on_what_is_seen_outside_of_the_folder),
		T(who_leaves_the_folder_still_says_where_it_lies),
		T(a_foreign_disk_is_seen),
		T(a_mark_that_is_unset_or_empty_is_gone),
		T(a_vm_without_config_is_unreadable_and_keeps_what_it_had),
		T(the_numa_nodes_that_it_is_bound_to_are_told),
		T(a_change_of_a_parent_or_an_element_has_it_read_anew),
		T(what_a_guest_says_first_is_told_with_the_rest),
		T(an_element_that_is_added_to_a_list_has_it_read_anew),
		T(a_change_of_what_never_entered_has_it_read),
		T(what_was_read_anew_replaces_all_of_it),
		T(what_we_may_not_read_is_unreadable_and_not_gone),
		T(a_lost_session_in_a_missing_set_is_an_error),
		T(a_filter_that_is_not_ours_is_an_error),
		T(a_pf_is_joined_from_four_places),
		T(nodes_that_list_no_device_have_none),
		T(devices_that_are_handed_out_are_told_with_their_ids),
		T(what_a_host_has_by_name_is_told),
		T(tasks_come_after_the_inventory),
		T(what_is_no_update_set_is_refused_with_its_path),
		T(the_newest_hardware_of_a_host_goes_by_version_and_build),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
