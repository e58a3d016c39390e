/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The body of an instant clone, against one written by hand from vSphere's API
 * (VI JSON 8.0.1.0). ' stands for " in the expected text, as in test_vc_spec.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "vc_spec_stage.h"

static const struct vs_vc_kv marks[] = {
	{ "slurm.vsphere.owner", "a/vm001/b" },
	{ "slurm.vsphere.profile", "00ff" },
};

static void an_instant_clone_has_its_own_nics_and_words_alone(void **state)
{
	const struct vs_vc_nic_spec spec = {
		.kind = VS_VC_NET_VMXNET3, .mac = "00:50:56:01:02:03",
		.network = "dvportgroup-30", .switch_uuid = "50 2a",
		.portgroup_key = "dvportgroup-30",
	};
	struct vs_vc_instant in = {
		.source = "vm-200", .folder = "group-v20", .name = "vm001",
		.bios_uuid = "50211e0a-0000-4000-8000-000000000001",
		.pool = "resgroup-9", .mgmt_mac = "00:50:56:01:02:09",
		.nics = &spec, .keys = (const int []){ 4001 }, .nnics = 1,
		.extra = marks, .nextra = 1,
	};
	struct json_object *nic = nic_of(SHOWN_NIC);

	(void)state;
	is(vs_spec_instant(&in, nic),
	   "{'spec':{'_typeName':'VirtualMachineInstantCloneSpec',"
	   "'name':'vm001','location':{"
	   "'_typeName':'VirtualMachineRelocateSpec',"
	   "'folder':" REF("Folder", "group-v20") ","
	   "'pool':" REF("ResourcePool", "resgroup-9") ","
	   "'deviceChange':[{'_typeName':'VirtualDeviceConfigSpec',"
	   "'operation':'edit','device':{'_typeName':'VirtualVmxnet3',"
	   "'key':4000," DVS ",'addressType':'manual',"
	   "'macAddress':'00:50:56:01:02:09'}},"
	   "{'_typeName':'VirtualDeviceConfigSpec','operation':'edit',"
	   "'device':{'_typeName':'VirtualVmxnet3','key':4001," DVS ","
	   MAC "}}]},"
	   "'config':[{'_typeName':'OptionValue','key':'slurm.vsphere.owner',"
	   "'value':{'_typeName':'string','_value':'a/vm001/b'}}],"
	   "'biosUuid':'50211e0a-0000-4000-8000-000000000001'}}");
	vs_jb_free(nic);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_instant_clone_has_its_own_nics_and_words_alone),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
