/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pure checks of room for all VMs at once: on hosts, and in what several
 * partitions share.
 */
#include "check_stage.h"

/* Four hosts of eight VFs, and a node for each of them. */
static int64_t a_node_for_each_vf(void)
{
	nodes = 32;
	profile.latency_high = false;
	for (int i = 1; i <= HOSTS; i++)
		host(i)->memory_mb = 1024 * 1024;
	return vs_profile_reserved_mb(&profile) +
		vs_profile_overhead_mb(&profile);
}

static void memory_for_fewer_vms_than_vfs_is_told_with_its_figures(void **st)
{
	int64_t each = a_node_for_each_vf();
	char is[128];

	(void)st;
	look();
	assert_int_equal(found.n, 0);
	host(2)->memory_mb = 8 * each;
	look();
	assert_int_equal(found.n, 0);
	host(2)->memory_mb--;
	finds(VS_CHECK_HOST_MEMORY_VFS, "slurm.conf: NodeName=... RealMemory=");
	snprintf(is, sizeof(is), "its VFs serve 8 VMs x %lld MB = %lld MB, it has %lld MB: 7 fit",
		 (long long)each, (long long)each * 8,
		 (long long)each * 8 - 1);
	assert_string_equal(found.f[0].is, is);
	assert_non_null(strstr(found.f[0].should, "all 32 nodes of adapter "
			       "roce: the hosts have it for 31"));
	assert_int_equal(found.f[0].severity, VS_WARNING);
}

/* The fix that the finding names is enough, and barely so. */
static void the_memory_that_is_named_fits_as_often(void **st)
{
	int64_t mb;

	(void)st;
	a_node_for_each_vf();
	host(2)->memory_mb = 200000;
	finds(VS_CHECK_HOST_MEMORY_VFS, "slurm.conf: NodeName=... RealMemory=");
	mb = strtoll(strstr(found.f[0].fix, "RealMemory=") + 11, NULL, 10);
	mb = (mb + 256 + mb / 32 + 3) / 4 * 4;	/* as slurmctld's plugin adds it */
	profile.memory_mb = mb;
	look();
	assert_int_equal(found.n, 0);
	profile.memory_mb = mb + 8;
	finds(VS_CHECK_HOST_MEMORY_VFS, "slurm.conf: NodeName=... RealMemory=");
}

/* A site with a VM a host leaves most VFs unused, and knows it. */
static void vfs_may_be_left_where_all_nodes_find_room(void **st)
{
	int64_t each = a_node_for_each_vf();

	(void)st;
	nodes = 4;
	for (int i = 1; i <= HOSTS; i++)
		host(i)->memory_mb = each;
	look();
	assert_int_equal(found.n, 0);
	/* One that is away now had room, and will have it. */
	host(3)->connected = false;
	look();
	assert_int_equal(found.n, 0);
	nodes = 5;
	look();
	assert_int_equal(found.n, HOSTS - 1);
	assert_int_equal(found.f[0].code, VS_CHECK_HOST_MEMORY_VFS);
}

static void cores_count_where_vms_have_them_to_themselves(void **st)
{
	(void)st;
	a_node_for_each_vf();
	profile.vcpus = 4;
	for (int i = 1; i <= HOSTS; i++)
		host(i)->cpu_mhz = 32 * 2400;
	host(2)->cpu_mhz--;
	look();
	assert_int_equal(found.n, 0);
	profile.latency_high = true;
	finds(VS_CHECK_HOST_CORES_VFS, "slurm.conf: NodeName=... CPUs=3");
	assert_string_equal(found.f[0].is, "its VFs serve 8 VMs x 4 cores = "
			    "32, it has 31 for VMs: 7 fit");
	host(2)->cpu_mhz++;
	look();
	assert_int_equal(found.n, 0);
}

static void that_no_vm_fits_is_told_as_that_alone(void **st)
{
	int64_t each = a_node_for_each_vf();

	(void)st;
	host(2)->memory_mb = each - 1;
	finds(VS_CHECK_HOST_MEMORY, "slurm.conf: NodeName=... RealMemory=");
}

static void vms_without_vfs_go_where_there_is_room(void **st)
{
	(void)st;
	a_node_for_each_vf();
	adapter.type = VS_ADAPTER_PVRDMA;
	nodes = 1000;
	host(2)->memory_mb = 128 * 1024;
	look();
	assert_int_equal(found.n, 0);
}

/* ---- what is shared -------------------------------------------------------- */

static char told[256];

static void tell(void *arg, const bool *in, int64_t has, int64_t needs)
{
	const struct vs_check_share *s = arg;
	size_t len = strlen(told);

	for (size_t i = 0; i < s->nsupplies; i++)
		if (in[i])
			len += (size_t)snprintf(told + len, sizeof(told) - len,
						"%c", (char)('A' + (int)i));
	snprintf(told + len, sizeof(told) - len, ":%lld<%lld ",
		 (long long)has, (long long)needs);
}

/* Demand 0 may use A, 1 may use A and B, 2 may use B. */
static const char *shared(int64_t a, int64_t b, int64_t d0, int64_t d1,
			  int64_t d2)
{
	const int64_t supply[] = { a, b }, demand[] = { d0, d1, d2, 77 };
	bool rows[4][2] = { { true, false }, { true, true }, { false, true },
			    { false, false } };
	bool *may[] = { rows[0], rows[1], rows[2], rows[3] };
	struct vs_check_share s = { supply, 2, demand, may, 4 };

	told[0] = '\0';
	vs_check_shared(&s, tell, &s);
	return told;
}

static void each_set_is_held_against_those_that_have_no_other(void **st)
{
	(void)st;
	assert_string_equal(shared(10, 10, 10, 0, 10), "");
	/* There is room in B: it is of no use to demand 0. */
	assert_string_equal(shared(10, 99, 11, 0, 10), "A:10<11 ");
	assert_string_equal(shared(10, 10, 5, 10, 5), "");
	assert_string_equal(shared(10, 10, 5, 11, 5), "AB:20<21 ");
	assert_string_equal(shared(10, -1, 5, 99, 99), "");
	assert_string_equal(shared(10, -1, 11, 99, 99), "A:10<11 ");
}

/* No demand may use all of what two others share in part. */
static void what_two_share_in_part_is_summed(void **st)
{
	const int64_t supply[] = { 5, 5, 5 }, demand[] = { 8, 8 };
	bool rows[2][3] = { { true, true, false }, { false, true, true } };
	bool *may[] = { rows[0], rows[1] };
	struct vs_check_share s = { supply, 3, demand, may, 2 };

	(void)st;
	told[0] = '\0';
	vs_check_shared(&s, tell, &s);
	assert_string_equal(told, "ABC:15<16 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(memory_for_fewer_vms_than_vfs_is_told_with_its_figures),
		T(the_memory_that_is_named_fits_as_often),
		T(vfs_may_be_left_where_all_nodes_find_room),
		T(cores_count_where_vms_have_them_to_themselves),
		T(that_no_vm_fits_is_told_as_that_alone),
		T(vms_without_vfs_go_where_there_is_room),
		T(each_set_is_held_against_those_that_have_no_other),
		T(what_two_share_in_part_is_summed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
