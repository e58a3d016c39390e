/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vsphere.conf's AdapterName= lines: what goes with which type, and what they
 * say together. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "conf_stage.h"
#include "plan/devices/adapter_type.h"
#include "util/mem.h"

/* A right file with more lines, from the ninth on. */
static void refused(const char *more, const char *words)
{
	VS_FREE char *text = stage_text(more);

	if (stage_read(text))
		fail_msg("taken: %s", more);
	if (!strstr(stage_err.text, words))
		fail_msg("\"%s\" lacks \"%s\"", stage_err.text, words);
}

/* Type= takes what plan/devices/adapter_type offers, and the man page says so. */
static void the_types_are_those_of_the_capability_table(void **state)
{
	int at = vs_conf_key_find("Type", 4, 1u << VS_SCOPE_ADAPTER);
	char all[200] = "|";

	(void)state;
	snprintf(all, sizeof(all), "|%s|", vs_conf_keys[at].choices);
	for (int i = 0; i < VS_ADAPTER_TYPES; i++) {
		const struct vs_adapter_type_info *k = &vs_adapter_kinds[i];
		char one[40];

		snprintf(one, sizeof(one), "|%s|", k->name);
		assert_int_equal(strstr(all, one) != NULL, k->offered);
	}
}

#define GPU "AdapterName=gpu Type=dynamic-directpath Vendor=0x10de Device=0x20b0 "

static void a_key_of_another_type_is_refused(void **state)
{
	(void)state;
	refused("AdapterName=x Type=sriov Vendor=0x10de Network=n\n",
	      "Vendor= is allowed with Type=directpath or dynamic-directpath or dvx, not with Type=sriov");
	refused("AdapterName=x Type=vmxnet3\n",
	      "Network= is missing in this AdapterName= line, of Type=vmxnet3");
	refused("AdapterName=x Type=dynamic-directpath Vendor=0x10de\n",
	      "Device= is missing");
	refused("AdapterName=x Type=dynamic-directpath Vendor=4318 Device=0x1\n",
	      "Vendor=4318: expected a PCI id such as 0x10de");
	refused("AdapterName=x Type=dynamic-directpath Vendor=0x10de Device=0x1 Network=n\n",
	      "Network= is allowed with Type=vmxnet3 or pvrdma or sriov");
	refused("AdapterName=x Type=sriov Network=n ExtraDevice=vmxnet3\n",
	      "ExtraDevice=vmxnet3: expected the name of an AdapterName= line of devices");
	refused(GPU "ExtraDevice=gpu\n", "ExtraDevice=gpu: expected the name of an");
	refused("AdapterName=x Type=sriov Network=n MMIOSizeGB=64\n",
		"MMIOSizeGB= is allowed with Type=directpath or dynamic-directpath");
	refused(GPU "Address=0000:3b:00.0\n",
		"Address= is allowed with Type=directpath, not with Type=dynamic-directpath");
}

#define FPGA "AdapterName=fpga Type=directpath Vendor=0x10ee Device=0x5000 "

static void addresses_are_read_strictly(void **state)
{
	VS_FREE char *text = stage_text(FPGA
		"Address=0000:3b:00.0,esx[03-04].example.org/0000:AF:00.0\n"
		"AdapterName=one Type=directpath Vendor=0x10ee Device=0x5000 "
		"Address=0000:5e:00.0\n");
	const struct vs_conf *c;

	(void)state;
	refused("AdapterName=x Type=directpath Vendor=0x10ee\n",
		"Device= is missing in this AdapterName= line, of Type=directpath");
	refused(FPGA "Address=3b:00.0\n",
		"Address=: \"3b:00.0\" is not a PCI address: expected dddd:bb:ss.f");
	refused(FPGA "Address=0000:3b:00:0\n", "is not a PCI address");
	refused(FPGA "Address=/0000:3b:00.0\n", "names no host");
	refused(FPGA "Address=esx[01-/0000:3b:00.0\n",
		"is not a list: expected addresses as 0000:3b:00.0, or HOSTS/0000:3b:00.0");
	refused(FPGA "Address=0000:3b:00.0,\n", "is not a list");
	refused(FPGA "Network=n\n", "Network= is allowed with");
	refused(FPGA "PF=0000:3b:00.0\n", "PF= is allowed with Type=sriov");
	c = stage_read(text);
	assert_non_null(c);
	assert_string_equal(vs_conf_adapter_named(c, "fpga")->address,
		"0000:3b:00.0,esx[03-04].example.org/0000:AF:00.0");
}

/* ESXi would give the one what is promised to the other. */
static void devices_by_address_and_of_any_are_kept_apart(void **state)
{
	VS_FREE char *apart = stage_text(FPGA "HardwareLabel=a\n"
		"AdapterName=b Type=dynamic-directpath Vendor=0x10ee "
		"Device=0x5000 HardwareLabel=b\n");

	(void)state;
	refused(FPGA "\nAdapterName=b Type=dynamic-directpath Vendor=0x10ee "
		"Device=0x5000\n", "AdapterName=fpga is Type=directpath and "
		"AdapterName=b is Type=dynamic-directpath, of the same");
	refused(FPGA "HardwareLabel=a\nAdapterName=b Type=dynamic-directpath "
		"Vendor=0x10ee Device=0x5000 HardwareLabel=a\n",
		"give each a HardwareLabel= of its own");
	refused(FPGA "HardwareLabel=a\nAdapterName=b Type=dynamic-directpath "
		"Vendor=0x10ee Device=0x5000\n", "ESXi may assign a device of one");
	assert_non_null(stage_read(apart));
}

#define DVX "AdapterName=d Type=dvx DeviceClass=com.vendor.fpga "
#define VGPU "AdapterName=v Type=vgpu Profile=nvidia_a100-4c "

static void classes_and_profiles_have_keys_of_their_own(void **state)
{
	(void)state;
	refused("AdapterName=d Type=dvx Instances=4\n",
		"DeviceClass= is missing in this AdapterName= line, of Type=dvx");
	refused(DVX "\n", "Instances= is missing");
	refused(DVX "Vendor=0x1dd8\n", "Vendor= and Device= must be set together");
	refused(DVX "Instances=4 Parameters=\"queues\"\n",
		"expected \"key=value,key=value\"");
	refused(DVX "Instances=4 Parameters=\"queues=8,\"\n",
		"expected \"key=value,key=value\"");
	refused(DVX "Instances=4 HardwareLabel=a\n",
		"HardwareLabel= is allowed with Type=directpath or dynamic-directpath, not with Type=dvx");
	refused(DVX "Instances=4 Profile=nvidia_a100-4c\n",
		"Profile= is allowed with Type=vgpu, not with Type=dvx");
	refused("AdapterName=v Type=vgpu\n", "Profile= is missing");
	refused("AdapterName=v Type=vgpu Profile=a100\n",
		"expected a vGPU profile's name as the host has it");
	refused(VGPU "DeviceClass=x\n", "DeviceClass= is allowed with Type=dvx");
	refused(VGPU "Network=n\n", "Network= is allowed with");
	refused(VGPU "Vendor=0x10de Device=0x1\n", "Vendor= is allowed with");
	refused("AdapterName=x Type=sriov Network=n PerGPU=2\n",
		"PerGPU= is allowed with Type=vgpu, not with Type=sriov");
}

static void the_same_devices_are_counted_in_one_way(void **state)
{
	(void)state;
	refused(DVX "Instances=4\nAdapterName=e Type=dvx DeviceClass=com.vendor.fpga Instances=5\n",
		"not the same Instances=");
	refused(DVX "Vendor=0x10ee Device=0x5000\nAdapterName=f Type=directpath "
		"Vendor=0x10ee Device=0x5000\n", "and only one has DeviceClass=");
	refused(GPU "\n" DVX "Vendor=0x10de Device=0x20b0\n",
		"each device would be reserved twice");
	refused(VGPU "\nAdapterName=w Type=vgpu Profile=nvidia_a100-4c PerGPU=2\n",
		"not the same PerGPU=");
	refused(VGPU "ExtraDevice=w\nAdapterName=w Type=vgpu Profile=nvidia_a100-8c\n",
		"a VM has vGPUs of one profile");
	refused(VGPU "\nAdapterName=w Type=vgpu Profile=nvidia_a100-4c ExtraDevice=v\n",
		"are the devices of AdapterName=w itself");
}

static void classes_and_profiles_are_read(void **state)
{
	VS_FREE char *text = stage_text(DVX
		"Instances=4 Parameters=\"queues=8,mode=a b\" ExtraDevice=v\n"
		VGPU "PerGPU=5 MMIOSizeGB=64\n"
		"AdapterName=x Type=sriov Network=n ExtraDevice=v\n");
	const struct vs_conf *c = stage_read(text);
	const struct vs_conf_adapter *a;

	(void)state;
	assert_non_null(c);
	a = vs_conf_adapter_named(c, "d");
	assert_string_equal(a->device_class, "com.vendor.fpga");
	assert_string_equal(a->parameters, "queues=8,mode=a b");
	assert_int_equal(a->instances, 4);
	assert_string_equal(a->with, "v");
	a = vs_conf_adapter_named(c, "v");
	assert_string_equal(a->profile, "nvidia_a100-4c");
	assert_int_equal(a->per_gpu, 5);
	assert_int_equal(a->mmio_gb, 64);
}

static void what_lines_say_together_is_checked(void **state)
{
	(void)state;
	refused(GPU "\nAdapterName=b Type=dynamic-directpath Vendor=0x10de "
		"Device=0x20b0 HardwareLabel=b\n", "give both one, or none");
	refused(GPU "NICsPerNode=4\nAdapterName=x Type=sriov Network=n NICsPerNode=5 "
		"ExtraDevice=gpu\n", "a VM has 8 at most");
	refused(GPU "NICsPerNode=4\nAdapterName=same Type=dynamic-directpath "
		"Vendor=0x10de Device=0x20b0 ExtraDevice=gpu\n",
		"ExtraDevice=gpu are the devices of AdapterName=same itself");
}

static void instant_clones_are_for_types_that_allow_them(void **state)
{
	VS_FREE char *text = stage_text("PartitionName=i Adapter=vmxnet3 "
					"Template=t Clone=instant\n");

	(void)state;
	refused("PartitionName=i Adapter=sriov-roce Template=t Clone=instant\n",
		"Clone=instant: AdapterName=sriov-roce is of Type=sriov, which "
		"allows no instant clones (svf adapters)");
	refused(GPU "\nAdapterName=x Type=vmxnet3 Network=n ExtraDevice=gpu\n"
		"PartitionName=i Adapter=x Template=t Clone=instant\n",
		"AdapterName=gpu is of Type=dynamic-directpath, which allows no "
		"instant clones");
	refused("PartitionName=i Adapter=vmxnet3 Template=t Clone=instant "
		"StoragePolicy=aa6d5a82-1c88-45da-85d3-3d74b91a5bad\n",
		"Clone=instant and StoragePolicy= exclude each other");
	if (!stage_read(text))
		fail_msg("%s", stage_err.text);
}

static void a_device_beside_a_nic_is_read(void **state)
{
	VS_FREE char *text = stage_text(GPU "MMIOSizeGB=160 HardwareLabel=a\n"
		"AdapterName=x Type=sriov Network=n ExtraDevice=gpu\n"
		"AdapterName=y Type=sriov Network=n ExtraDevice=gpu RelaxACS=no\n");
	const struct vs_conf *c = stage_read(text);
	const struct vs_conf_adapter *a;

	(void)state;
	assert_non_null(c);
	a = vs_conf_adapter_named(c, "gpu");
	assert_int_equal(a->vendor, 0x10de);
	assert_int_equal(a->device, 0x20b0);
	assert_int_equal(a->mmio_gb, 160);
	assert_string_equal(a->label, "a");
	assert_null(a->network);
	assert_string_equal(vs_conf_adapter_named(c, "x")->with, "gpu");
	assert_true(vs_conf_adapter_named(c, "x")->relax_acs);
	assert_false(vs_conf_adapter_named(c, "y")->relax_acs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, stage_up, stage_down)
		T(the_types_are_those_of_the_capability_table),
		T(a_key_of_another_type_is_refused),
		T(addresses_are_read_strictly),
		T(devices_by_address_and_of_any_are_kept_apart),
		T(classes_and_profiles_have_keys_of_their_own),
		T(the_same_devices_are_counted_in_one_way),
		T(classes_and_profiles_are_read),
		T(what_lines_say_together_is_checked),
		T(instant_clones_are_for_types_that_allow_them),
		T(a_device_beside_a_nic_is_read),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
