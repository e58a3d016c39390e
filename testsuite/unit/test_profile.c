/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan/inventory/vm_profile: the hash and its halves, what a VM costs a host. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "plan/inventory/vm_profile.h"
#include "util/mem.h"

static struct vs_adapter adapter;
static struct vs_profile profile;

static int setup(void **state)
{
	(void)state;
	adapter = (struct vs_adapter) {
		.name = "sriov-roce", .type = VS_ADAPTER_SRIOV,
		.network = "PG", .mtu = 9000,
	};
	profile = (struct vs_profile) {
		.adapter = &adapter, .template_moid = "vm-42",
		.template_version = "2026-01-01T00:00:00Z", .vcpus = 8,
		.memory_mb = 16384,
	};
	return 0;
}

static enum vs_profile_fit against(const char *before)
{
	char now[VS_PROFILE_HASH_LEN];

	assert_int_equal(vs_profile_hash(&profile, now), 0);
	return vs_profile_fit(before, now);
}

static void a_profile_has_the_same_hash_each_time(void **state)
{
	char a[VS_PROFILE_HASH_LEN], b[VS_PROFILE_HASH_LEN];
	struct vs_profile copy;

	(void)state;
	memset(&copy, 0xa5, sizeof(copy));	/* padding must not matter */
	copy.adapter = profile.adapter;
	vs_strlcpy(copy.template_moid, "vm-42", sizeof(copy.template_moid));
	vs_strlcpy(copy.template_version, profile.template_version,
		   sizeof(copy.template_version));
	copy.vcpus = 8;
	copy.memory_mb = 16384;
	copy.latency_high = copy.dynamic = false;
	copy.storage_policy[0] = '\0';
	copy.net = 0;
	copy.hw = (struct vs_hardware){ 0 };
	assert_int_equal(vs_profile_hash(&profile, a), 0);
	assert_int_equal(vs_profile_hash(&copy, b), 0);
	assert_string_equal(a, b);
	assert_int_equal(strlen(a), 17);
	assert_int_equal(a[8], '-');
	assert_int_equal(vs_profile_fit(a, b), VS_FIT_RIGHT);
}

/* Its disks were placed by another one, or by none. */
static void another_storage_policy_asks_for_a_rebuild(void **state)
{
	char a[VS_PROFILE_HASH_LEN], b[VS_PROFILE_HASH_LEN];

	(void)state;
	vs_profile_hash(&profile, a);
	vs_strlcpy(profile.storage_policy,
		   "aa6d5a82-1c88-45da-85d3-3d74b91a5bad",
		   sizeof(profile.storage_policy));
	vs_profile_hash(&profile, b);
	assert_int_equal(vs_profile_fit(a, b), VS_FIT_REBUILD);
	profile.annotation = "no backup";
	vs_profile_hash(&profile, a);
	assert_int_equal(vs_profile_fit(a, b), VS_FIT_RIGHT);
}

/* The hash that VMs of before NICsPerNode= carry: FNV-1a of "vm-42",
 * "2026-01-01T00:00:00Z" - "sriov-roce", "PG", "", "2 0 9000 8 16384 0". */
static void one_nic_is_what_it_always_was(void **state)
{
	char now[VS_PROFILE_HASH_LEN];

	(void)state;
	for (adapter.per_node = 0; adapter.per_node < 2; adapter.per_node++) {
		adapter.rails = adapter.per_node;
		assert_int_equal(vs_profile_hash(&profile, now), 0);
		assert_string_equal(now, "1a809a9a-d8c38684");
	}
	assert_int_equal(adapter.per_node, 2);
	assert_int_equal(against(now), VS_FIT_RECONFIGURE);
	assert_int_equal(vs_profile_hash(&profile, now), 0);
	adapter.rails = false;
	assert_int_equal(against(now), VS_FIT_RECONFIGURE);
	assert_int_equal(vs_profile_hash(&profile, now), 0);
	adapter.per_node = 3;
	assert_int_equal(against(now), VS_FIT_RECONFIGURE);
}

static void without_a_template_there_is_no_hash(void **state)
{
	char out[VS_PROFILE_HASH_LEN] = "untouched";

	(void)state;
	profile.template_moid[0] = '\0';
	assert_int_equal(vs_profile_hash(&profile, out), -1);
	assert_string_equal(out, "untouched");
}

static void what_only_placement_reads_is_not_in_it(void **state)
{
	char was[VS_PROFILE_HASH_LEN];

	(void)state;
	assert_int_equal(vs_profile_hash(&profile, was), 0);
	profile.template_hw = 21;
	profile.disk_mb = 40960;
	assert_int_equal(against(was), VS_FIT_RIGHT);
}

static void each_setting_asks_for_a_reconfiguration(void **state)
{
	char was[VS_PROFILE_HASH_LEN];

	(void)state;
	assert_int_equal(vs_profile_hash(&profile, was), 0);
	profile.vcpus = 9;
	assert_int_equal(against(was), VS_FIT_RECONFIGURE);
	setup(NULL);
	profile.memory_mb++;
	assert_int_equal(against(was), VS_FIT_RECONFIGURE);
	setup(NULL);
	profile.latency_high = true;
	assert_int_equal(against(was), VS_FIT_RECONFIGURE);
	setup(NULL);
	profile.dynamic = true;
	assert_int_equal(against(was), VS_FIT_RECONFIGURE);
	setup(NULL);
	adapter.mtu = 1500;
	assert_int_equal(against(was), VS_FIT_RECONFIGURE);
	setup(NULL);
	adapter.type = VS_ADAPTER_PVRDMA;
	assert_int_equal(against(was), VS_FIT_RECONFIGURE);
	setup(NULL);
	adapter.link = VS_LINK_INFINIBAND;
	assert_int_equal(against(was), VS_FIT_RECONFIGURE);
	setup(NULL);
	vs_strlcpy(adapter.network, "PG2", sizeof(adapter.network));
	assert_int_equal(against(was), VS_FIT_RECONFIGURE);
	setup(NULL);
	vs_strlcpy(adapter.pf, "0000:3b:00.0", sizeof(adapter.pf));
	assert_int_equal(against(was), VS_FIT_RECONFIGURE);
	setup(NULL);
	vs_strlcpy(adapter.name, "other", sizeof(adapter.name));
	assert_int_equal(against(was), VS_FIT_RECONFIGURE);
	setup(NULL);
	vs_strlcpy(adapter.subnet, "10.1.0.0/16", sizeof(adapter.subnet));
	assert_int_equal(against(was), VS_FIT_RECONFIGURE);
	setup(NULL);
	profile.net = 1;
	assert_int_equal(against(was), VS_FIT_RECONFIGURE);
	setup(NULL);
	assert_int_equal(against(was), VS_FIT_RIGHT);
}

static void each_hardware_setting_asks_for_a_reconfiguration(void **state)
{
	static const struct vs_hardware all[] = {
		{ .cpu_mhz = 1000 }, { .cpu_mhz = VS_RESERVE_FULL },
		{ .mem_mb = 1000 }, { .mem_mb = VS_RESERVE_FULL },
		{ .cpu_shares = VS_SHARES_LOW }, { .cpu_shares = 1 },
		{ .mem_shares = VS_SHARES_LOW }, { .mem_shares = 1 },
		{ .cores_per_socket = 2 }, { .secure_boot = VS_HW_YES },
		{ .secure_boot = VS_HW_NO }, { .numa_pf = true },
	};
	char was[VS_COUNT(all) + 1][VS_PROFILE_HASH_LEN];

	(void)state;
	adapter.type = VS_ADAPTER_VMXNET3;
	for (size_t i = 0; i <= VS_COUNT(all); i++) {
		if (i)
			profile.hw = all[i - 1];
		assert_int_equal(vs_profile_hash(&profile, was[i]), 0);
		for (size_t k = 0; k < i; k++)
			assert_int_equal(vs_profile_fit(was[k], was[i]),
					 VS_FIT_RECONFIGURE);
	}
	/* what the template has is its changeVersion's */
	profile.template_cores = 4;
	profile.template_secure = VS_HW_YES;
	assert_int_equal(against(was[VS_COUNT(all)]), VS_FIT_RIGHT);
}

/* A vCPU runs on one core at most: more can't be had of slow ones. */
static void reservations_are_what_the_line_says(void **state)
{
	(void)state;
	adapter.type = VS_ADAPTER_VMXNET3;
	assert_false(vs_profile_reserves_cpu(&profile));
	profile.hw = (struct vs_hardware){ .cpu_mhz = 17000, .mem_mb = 4096 };
	assert_true(vs_profile_reserves_cpu(&profile));
	assert_int_equal(vs_profile_cpu_mhz(&profile, 2500), 17000);
	assert_int_equal(vs_profile_cpu_mhz(&profile, 2000), 16000);
	assert_int_equal(vs_profile_cpu_mhz(&profile, 0), 17000);
	assert_int_equal(vs_profile_reserved_mb(&profile), 4096);
	assert_int_equal(vs_profile_swap_mb(&profile), 16384 - 4096);
	assert_false(vs_profile_mem_locked(&profile));
	assert_false(vs_profile_cold(&profile));
	profile.hw = (struct vs_hardware){
		.cpu_mhz = VS_RESERVE_FULL, .mem_mb = VS_RESERVE_FULL };
	assert_int_equal(vs_profile_cpu_mhz(&profile, 2500), 20000);
	assert_int_equal(vs_profile_cpu_mhz(&profile, 3000), 24000);
	assert_int_equal(vs_profile_reserved_mb(&profile), 16384);
	assert_true(vs_profile_mem_locked(&profile));
	assert_true(vs_profile_cold(&profile));
	profile.hw = (struct vs_hardware){ .mem_mb = 99999 };
	assert_int_equal(vs_profile_reserved_mb(&profile), 16384);
	profile.hw = (struct vs_hardware){ .numa_pf = true };
	assert_true(vs_profile_cold(&profile));
	assert_false(vs_profile_efi(&profile));
	profile.hw.secure_boot = VS_HW_YES;
	assert_true(vs_profile_efi(&profile));
}

static void another_template_or_version_asks_for_a_rebuild(void **state)
{
	char was[VS_PROFILE_HASH_LEN];

	(void)state;
	assert_int_equal(vs_profile_hash(&profile, was), 0);
	profile.template_version[0] = '3';
	assert_int_equal(against(was), VS_FIT_REBUILD);
	setup(NULL);
	vs_strlcpy(profile.template_moid, "vm-43",
		   sizeof(profile.template_moid));
	assert_int_equal(against(was), VS_FIT_REBUILD);
}

static void what_is_done_with_a_vm_is_not_in_the_hash(void **state)
{
	char was[VS_PROFILE_HASH_LEN];

	(void)state;
	assert_int_equal(vs_profile_hash(&profile, was), 0);
	profile.retention = VS_RETAIN_DESTROY;
	vs_strlcpy(profile.template_name, "renamed",
		   sizeof(profile.template_name));
	assert_int_equal(against(was), VS_FIT_RIGHT);
}

static void what_is_no_hash_asks_for_a_rebuild(void **state)
{
	static const char *const bad[] = {
		NULL, "", "0123456789abcdef0", "01234567-89abcde",
		"01234567-89abcdef0", "0123456x-89abcdef", "01234567-89abcdeF",
		"0123456789abcdef-", "-0123456789abcdef",
	};
	const char *good = "01234567-89abcdef";

	(void)state;
	assert_int_equal(vs_profile_fit(good, good), VS_FIT_RIGHT);
	for (size_t i = 0; i < VS_COUNT(bad); i++) {
		assert_int_equal(vs_profile_fit(bad[i], good), VS_FIT_REBUILD);
		assert_int_equal(vs_profile_fit(good, bad[i]), VS_FIT_REBUILD);
		assert_int_equal(vs_profile_fit(bad[i], bad[i]),
				 VS_FIT_REBUILD);
	}
}

static void latency_high_reserves_cpu_and_memory_in_full(void **state)
{
	(void)state;
	adapter.type = VS_ADAPTER_VMXNET3;
	assert_int_equal(vs_profile_cpu_mhz(&profile, 2500), 0);
	assert_int_equal(vs_profile_reserved_mb(&profile), 0);
	profile.latency_high = true;
	assert_int_equal(vs_profile_cpu_mhz(&profile, 2500), 20000);
	assert_int_equal(vs_profile_reserved_mb(&profile), 16384);
}

static void a_vf_reserves_memory_but_no_cpu(void **state)
{
	(void)state;
	assert_int_equal(vs_profile_cpu_mhz(&profile, 2500), 0);
	assert_int_equal(vs_profile_reserved_mb(&profile), 16384);
}

/* VMware's table of overhead memory on virtual machines (6.x-8.0), MB */
static void overhead_is_no_less_than_vmwares_table_says(void **state)
{
	static const struct { int vcpus, memory; double mb; } rows[] = {
		{ 1, 256, 20.29 }, { 8, 256, 48.16 }, { 1, 1024, 25.90 },
		{ 8, 1024, 53.82 }, { 1, 4096, 48.64 }, { 8, 4096, 76.78 },
		{ 1, 16384, 139.62 }, { 2, 16384, 143.98 },
		{ 4, 16384, 151.93 }, { 8, 16384, 168.60 },
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(rows); i++) {
		profile.vcpus = rows[i].vcpus;
		profile.memory_mb = rows[i].memory;
		assert_true(vs_profile_overhead_mb(&profile) >= rows[i].mb);
		/* an estimate, but none that wastes a host */
		assert_true(vs_profile_overhead_mb(&profile) <
			    rows[i].mb * 4 + 100);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_profile_has_the_same_hash_each_time,
				       setup),
		cmocka_unit_test_setup(one_nic_is_what_it_always_was, setup),
		cmocka_unit_test_setup(
			another_storage_policy_asks_for_a_rebuild, setup),
		cmocka_unit_test_setup(without_a_template_there_is_no_hash,
				       setup),
		cmocka_unit_test_setup(what_only_placement_reads_is_not_in_it,
				       setup),
		cmocka_unit_test_setup(each_setting_asks_for_a_reconfiguration,
				       setup),
		cmocka_unit_test_setup(
			each_hardware_setting_asks_for_a_reconfiguration,
			setup),
		cmocka_unit_test_setup(reservations_are_what_the_line_says,
				       setup),
		cmocka_unit_test_setup(
			another_template_or_version_asks_for_a_rebuild, setup),
		cmocka_unit_test_setup(
			what_is_done_with_a_vm_is_not_in_the_hash,
			setup),
		cmocka_unit_test_setup(what_is_no_hash_asks_for_a_rebuild,
				       setup),
		cmocka_unit_test_setup(
			latency_high_reserves_cpu_and_memory_in_full, setup),
		cmocka_unit_test_setup(a_vf_reserves_memory_but_no_cpu, setup),
		cmocka_unit_test_setup(
			overhead_is_no_less_than_vmwares_table_says, setup),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
