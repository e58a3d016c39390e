/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan/placement: what hosts share, resource pools and the datastore; and what a
 * host has under way. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "plan_world.h"
#include "plan/allocation/shared_capacity.h"
#include "util/mem.h"

#define MANY 16
/* one sriov VM of 4 vCPUs and 8 GB, overhead included */
#define EACH (8192 + 64 + 8 * 4 + 82)

static struct world w;
static struct vs_place_node gang[MANY];
static struct vs_err err;

static int setup(void **state)
{
	(void)state;
	w_init(&w);
	w.env.store = W_STORE;
	w_gang(&w, gang, MANY);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	w_clear(&w);
	return 0;
}

static struct vs_host *host(const char *name, const char *cluster, int vfs)
{
	struct vs_host *h = w_host(&w, name);

	vs_strlcpy(h->cluster, cluster, sizeof(h->cluster));
	w_pf(h, W_PF0, vfs);
	return h;
}

static void pool(const char *cluster, int64_t cpu_mhz, int64_t mem_mb)
{
	char name[64];

	snprintf(name, sizeof(name), "resource pool of %s", cluster);
	vs_shared_capacity_set_pool(&w.inv, cluster, name, cpu_mhz, mem_mb);
}

static int place(size_t n)
{
	return vs_place(&w.env, gang, n, &err);
}

static void refused(size_t n, const char *text)
{
	assert_int_equal(place(n), -1);
	assert_int_equal(err.code, VS_E_SHORTAGE);
	assert_string_equal(err.text, text);
}

static int on(const char *name, size_t n)
{
	int count = 0;

	for (size_t i = 0; i < n; i++)
		count += !strcmp(gang[i].host->name, name);
	return count;
}

static size_t room(const char *because)
{
	char why[256] = "not written";
	size_t n = vs_place_count(&w.env, &gang[0], 100, why, sizeof(why));

	assert_string_equal(why, because);
	assert_int_equal(w_count(&w.env, &gang[0], 100), n);
	return n;
}

/* ---- memory of a pool --------------------------------------------------- */

static void a_pool_that_isnt_known_refuses_nobody(void **state)
{
	(void)state;
	host("esx01", "c1", 4);
	assert_int_equal(place(4), 0);
	pool("c1", -1, -1);
	assert_int_equal(place(4), 0);
	assert_int_equal(room(""), 4);
	pool("c2", 0, 0);		/* another cluster's */
	assert_int_equal(place(4), 0);
}

static void a_gang_of_four_does_not_fit_into_a_pool_for_three(void **state)
{
	(void)state;
	host("esx01", "c1", 4);
	host("esx02", "c1", 4);
	pool("c1", -1, 4 * EACH - 1);
	refused(4, "needs 4 sriov-roce VFs, capacity for 3 VMs (resource pool of c1 has "
		"33479 MB of memory left, each VM needs 8370 MB)");
	assert_null(gang[0].host);
	assert_int_equal(place(3), 0);
	pool("c1", -1, 4 * EACH);
	assert_int_equal(place(4), 0);
	assert_int_equal(place(5), -1);
}

static void room_says_which_pool_it_is(void **state)
{
	(void)state;
	host("esx01", "c1", 4);
	pool("c1", -1, 3 * EACH + 100);
	assert_int_equal(room("resource pool of c1 has 25210 MB of memory "
			      "left, each VM needs 8370 MB"), 3);
	pool("c1", -1, -1);
	assert_int_equal(room(""), 4);
	pool("c1", -1, 0);
	assert_int_equal(room("resource pool of c1 has 0 MB of memory left, "
			      "each VM needs 8370 MB"), 0);
	/* where the hosts are full, that is the reason */
	pool("c1", -1, 4 * EACH);
	assert_int_equal(room(""), 4);
}

static void promised_vms_count_against_the_pool(void **state)
{
	(void)state;
	host("esx01", "c1", 4);
	pool("c1", -1, 2 * EACH);
	w_hold(&w, "other", "esx01", W_PF0, VS_CLAIM_RESERVED);	/* 1000 MB */
	assert_int_equal(place(2), -1);
	assert_int_equal(place(1), 0);
	vs_ledger_release(&w.ledger, "other");
	assert_int_equal(place(2), 0);
}

/* It was off when the pool was read. */
static void a_vm_of_ours_that_runs_counts_against_the_pool(void **state)
{
	struct vs_vm *vm;

	(void)state;
	host("esx01", "c1", 4);
	pool("c1", -1, 2 * EACH);
	assert_int_equal(place(2), 0);
	vm = w_vm_on(&w, "vm-1", "esx01", W_PF0);
	vm->mem_reserved_mb = vm->memory_mb;
	/* another's is in another pool */
	assert_int_equal(place(2), 0);
	w_ours(&w, vm);
	assert_int_equal(place(2), -1);
	assert_int_equal(place(1), 0);
}

static void each_cluster_has_its_pool(void **state)
{
	static const enum vs_policy all[] = { VS_PLACE_BALANCE, VS_PLACE_PACK,
					      VS_PLACE_SPREAD };

	(void)state;
	host("esx01", "c1", 4);
	host("esx02", "c1", 4);
	host("esx03", "c2", 4);
	pool("c1", -1, 3 * EACH);
	pool("c2", -1, 2 * EACH);
	for (size_t p = 0; p < VS_COUNT(all); p++) {
		w.env.policy = all[p];
		assert_int_equal(place(5), 0);
		assert_int_equal(on("esx03", 5), 2);
		assert_int_equal(place(6), -1);
		assert_string_equal(err.text, "needs 6 sriov-roce VFs, capacity "
			"for 5 VMs (resource pool of c1 has 25110 MB of memory "
			"left, each VM needs 8370 MB; resource pool of c2 has "
			"16740 MB of memory left, each VM needs 8370 MB)");
	}
	assert_int_equal(w_count(&w.env, &gang[0], 100), 5);
	assert_int_equal(w_count(&w.env, &gang[0], 4), 4);
}

static void a_pool_is_named_beside_hosts_that_lack_something_else(void **state)
{
	char name[16];

	(void)state;
	host("esx01", "c1", 4);
	host("esx02", "c2", 1);
	pool("c1", -1, EACH);
	assert_int_equal(place(3), -1);
	assert_string_equal(err.text, "needs 3 sriov-roce VFs, capacity for 2 VMs "
		"(resource pool of c1 has 8370 MB of memory left, each VM "
		"needs 8370 MB; esx02: no free VF)");
	for (int i = 3; i < 10; i++) {
		snprintf(name, sizeof(name), "esx%02d", i);
		host(name, "c1", 4);
	}
	assert_int_equal(place(3), -1);
	assert_string_equal(err.text, "needs 3 sriov-roce VFs, capacity for 2 VMs "
		"(resource pool of c1 has 8370 MB of memory left, each VM "
		"needs 8370 MB; 1 host: no free VF)");
}

static void pools_bound_no_capacity(void **state)
{
	(void)state;
	host("esx01", "c1", 4);
	pool("c1", 0, 0);
	vs_shared_capacity_set_store(&w.inv, "vsan", 0);
	w.p_roce.disk_mb = 1000;
	assert_int_equal(vs_place_capacity(&w.env, &gang[0], 100), 4);
	assert_int_equal(w_count(&w.env, &gang[0], 100), 0);
}

/* ---- CPU of a pool ------------------------------------------------------ */

static void a_pools_cpu_matters_to_a_reservation_only(void **state)
{
	(void)state;
	host("esx01", "c1", 4);
	pool("c1", 3 * 8000 - 1, -1);
	assert_int_equal(place(4), 0);
	w.p_roce.latency_high = true;	/* 4 vCPUs of 2000 MHz */
	refused(4, "needs 4 sriov-roce VFs, capacity for 2 VMs (resource pool of c1 has "
		"23999 MHz of CPU left, each VM needs 8000 MHz)");
	assert_int_equal(room("resource pool of c1 has 23999 MHz of CPU left, "
			      "each VM needs 8000 MHz"), 2);
	assert_int_equal(place(2), 0);
}

static void what_hosts_lack_is_said_where_there_is_room_for_none(void **state)
{
	char why[128];

	(void)state;
	w.p_roce.hw.cpu_mhz = VS_RESERVE_FULL;
	host("esx01", "c1", 4)->cores = 3;
	host("esx02", "c1", 4)->memory_mb = 4096;
	host("esx03", "c1", 4)->cores = 3;
	assert_int_equal(vs_place_count(&w.env, &gang[0], 9, why,
					    sizeof(why)), 0);
	assert_string_equal(why,
		"too little CPU left for the reservation on 2 hosts, "
		"too little memory left on 1 host");
	host("esx04", "c1", 0);		/* VFs are short, too */
	assert_int_equal(vs_place_count(&w.env, &gang[0], 9, why,
					    sizeof(why)), 0);
	assert_string_equal(why, "");
	host("esx05", "c1", 1);
	assert_int_equal(vs_place_count(&w.env, &gang[0], 9, why,
					    sizeof(why)), 1);
	assert_string_equal(why, "");
}

static void where_cpu_is_short_slow_cores_go_first(void **state)
{
	static const enum vs_policy all[] = { VS_PLACE_BALANCE, VS_PLACE_PACK,
					      VS_PLACE_SPREAD };

	(void)state;
	w.p_roce.latency_high = true;
	host("esx01", "c1", 4)->core_mhz = 3000;
	host("esx02", "c1", 2)->core_mhz = 1000;
	host("esx03", "c1", 2)->core_mhz = 1000;
	pool("c1", 4 * 4000 + 12000, -1);
	assert_int_equal(w_count(&w.env, &gang[0], 100), 5);
	/* as with a reservation that is full, or more than slow cores have */
	for (size_t p = 0; p < VS_COUNT(all) * 3; p++) {
		w.env.policy = all[p / 3];
		w.p_roce.latency_high = p % 3 == 0;
		w.p_roce.hw.cpu_mhz = p % 3 == 1 ? VS_RESERVE_FULL :
			p % 3 == 2 ? 12000 : 0;
		assert_int_equal(place(5), 0);
		assert_int_equal(on("esx01", 5), 1);
		assert_int_equal(place(6), -1);
	}
	/* where it isn't, the policy has its way */
	pool("c1", 100000, -1);
	w.env.policy = VS_PLACE_PACK;
	assert_int_equal(place(4), 0);
	assert_int_equal(on("esx01", 4), 4);
}

/* It stays on fast cores, and the others leave room for it. */
static void a_vm_on_the_host_that_is_requested_keeps_its_fast_cores(void **state)
{
	(void)state;
	w.p_roce.latency_high = true;
	host("esx01", "c1", 4)->core_mhz = 3000;
	host("esx02", "c1", 4)->core_mhz = 1000;
	pool("c1", 4 * 4000 + 12000, -1);
	gang[1].prefer_host = "host-esx01";
	gang[1].wished = true;
	for (int p = VS_PLACE_BALANCE; p <= VS_PLACE_SPREAD; p++) {
		w.env.policy = (enum vs_policy)p;
		assert_int_equal(place(5), 0);
		assert_string_equal(gang[1].host->name, "esx01");
		assert_int_equal(on("esx02", 5), 4);
	}
}

static void beside_other_vms_cpu_may_not_be_enough_for_all(void **state)
{
	struct vs_profile small = w.p_roce;

	(void)state;
	small.vcpus = 2;
	small.latency_high = w.p_roce.latency_high = true;
	host("esx01", "c1", 8);
	pool("c1", 8000 + 4000, -1);
	gang[1].profile = &small;
	assert_int_equal(place(2), 0);
	gang[2].profile = &small;
	assert_int_equal(place(3), -1);
	assert_non_null(strstr(err.text, "beside 1 other VM, capacity for 3 VMs (resource "
			       "pool of c1 has 12000 MHz of CPU left, each VM "
			       "needs 4000 MHz)"));
}

/* ---- pack --------------------------------------------------------------- */

static void a_pool_that_holds_all_leaves_pack_its_choice(void **state)
{
	(void)state;
	w.env.policy = VS_PLACE_PACK;
	host("esx01", "c1", 4);
	host("esx02", "c1", 3);
	host("esx03", "c1", 3);
	vs_strlcpy(vs_host_get_named(&w.inv, "esx03")->leaf, "near", 16);
	gang[0].prefer_host = gang[1].prefer_host = "host-esx03";
	pool("c1", -1, 3 * EACH);
	assert_int_equal(place(3), 0);
	assert_int_equal(on("esx03", 3), 3);
}

/* Where a gang takes all that there is, too, though its CPU is reserved. */
static void pack_of_a_gang_that_fills_all_hosts_heeds_disks(void **state)
{
	(void)state;
	w.env.policy = VS_PLACE_PACK;
	w.p_roce.latency_high = true;
	host("esx01", "c1", 1);
	host("esx02", "c1", 1);
	pool("c1", 100000, -1);
	gang[0].prefer_host = "host-esx02";
	assert_int_equal(place(2), 0);
	assert_string_equal(gang[0].host->name, "esx02");
	assert_string_equal(gang[1].host->name, "esx01");
}

static void pack_takes_the_fewest_hosts_that_pools_allow(void **state)
{
	(void)state;
	w.env.policy = VS_PLACE_PACK;
	host("esx01", "c1", 6);
	host("esx02", "c1", 6);
	host("esx03", "c2", 5);
	host("esx04", "c2", 1);
	pool("c1", -1, 7 * EACH);
	assert_int_equal(place(11), 0);
	/* 6 and 5; the second of the first cluster could take 1 more only */
	assert_int_equal(on("esx01", 11), 6);
	assert_int_equal(on("esx03", 11), 5);
	assert_int_equal(place(13), 0);
	assert_int_equal(on("esx01", 13) + on("esx02", 13), 7);
	assert_int_equal(place(14), -1);
}

/* The pool's room goes to the host with most VFs: with it and the one of the
 * other cluster two hosts hold ten VMs. Given to the first by name it would
 * take three. */
static void pack_gives_a_pools_room_to_the_host_with_most(void **state)
{
	(void)state;
	w.env.policy = VS_PLACE_PACK;
	host("esx01", "c1", 2);
	host("esx02", "c1", 6);
	host("esx03", "c2", 4);
	pool("c1", -1, 6 * EACH);
	assert_int_equal(place(10), 0);
	assert_int_equal(on("esx02", 10), 6);
	assert_int_equal(on("esx03", 10), 4);
}

/* ---- the datastore ------------------------------------------------------ */

static void a_datastore_that_isnt_known_refuses_nobody(void **state)
{
	(void)state;
	host("esx01", "c1", 4);
	w.p_roce.disk_mb = 40000;
	assert_int_equal(place(4), 0);
	vs_shared_capacity_set_store(&w.inv, "vsan", 0);
	assert_int_equal(place(1), -1);
	w.env.store = NULL;
	assert_int_equal(place(4), 0);
	w.env.store = W_STORE;
	w.p_roce.disk_mb = 0;		/* nor does a disk of unknown size */
	assert_int_equal(place(4), 0);
}

static void a_gang_fits_on_the_datastore_whole_or_not_at_all(void **state)
{
	(void)state;
	host("esx01", "c1", 4);
	w.p_roce.disk_mb = 40000;
	vs_shared_capacity_set_store(&w.inv, "vsan", 159999);
	refused(4, "datastore vsan has 159999 MB free, "
		"4 VMs need 160000 MB for disks and swap files");
	assert_null(gang[0].host);
	assert_false(vs_place_could(&w.env, gang, 4));
	assert_int_equal(place(3), 0);
	assert_int_equal(room("datastore vsan has 159999 MB free, 1 VM needs "
			      "40000 MB for disks and swap files"), 3);
	vs_shared_capacity_set_store(&w.inv, "vsan", 160000);
	assert_int_equal(place(4), 0);
	assert_true(vs_place_could(&w.env, gang, 4));
	assert_int_equal(room(""), 4);
	assert_false(vs_place_could(&w.env, gang, 5));	/* nor VFs */
}

static void a_vm_that_exists_needs_no_disk(void **state)
{
	(void)state;
	host("esx01", "c1", 4);
	w.p_roce.disk_mb = 40000;
	vs_shared_capacity_set_store(&w.inv, "vsan", 40000);
	assert_int_equal(place(2), -1);
	gang[0].exists = true;
	assert_int_equal(place(2), 0);
	/* even where more was promised than there is */
	vs_shared_capacity_set_store(&w.inv, "vsan", 0);
	w_hold(&w, "other", "esx01", "", VS_CLAIM_RESERVED)->disk_mb = 40000;
	assert_int_equal(place(1), 0);
	assert_int_equal(room(""), 4);
	gang[0].exists = false;
	assert_int_equal(w_count(&w.env, &gang[0], 100), 0);
}

static void memory_that_isnt_reserved_needs_a_swap_file(void **state)
{
	(void)state;
	host("esx01", "c1", 4);
	vs_shared_capacity_set_store(&w.inv, "vsan", 8191);
	assert_int_equal(place(4), 0);	/* sriov: all reserved */
	for (int i = 0; i < 4; i++)
		gang[i].profile = &w.p_eth;
	gang[0].exists = true;
	refused(1, "datastore vsan has 8191 MB free, "
		"1 VM needs 8192 MB for disks and swap files");
	w.p_eth.latency_high = true;
	assert_int_equal(place(4), 0);
}

static void promised_vms_count_against_the_datastore(void **state)
{
	(void)state;
	host("esx01", "c1", 4);
	w.p_roce.disk_mb = 40000;
	vs_shared_capacity_set_store(&w.inv, "vsan", 100000);
	w_hold(&w, "other", "esx01", W_PF0, VS_CLAIM_RESERVED)->disk_mb = 40000;
	assert_int_equal(place(2), -1);
	assert_int_equal(place(1), 0);
	vs_ledger_release(&w.ledger, "other");
	assert_int_equal(place(2), 0);
}

/* ---- the budget of operations ------------------------------------------- */

static void a_host_with_its_hands_full_is_refused(void **state)
{
	int ops[2] = { 7, 0 };
	struct vs_host *esx01 = host("esx01", "c1", 4);

	(void)state;
	w.env.ops = ops;
	w.env.ops_max = 8;
	assert_int_equal(place(1), 0);
	ops[esx01->index] = 8;
	refused(1, "needs 1 sriov-roce VF, 0 free (esx01: the "
		"maximum of operations is running)");
	assert_int_equal(room(""), 0);
	/* for now, that is */
	assert_int_equal(vs_place_capacity(&w.env, &gang[0], 100), 4);
	/* its own operations queue, they are no reason against a gang */
	ops[esx01->index] = 7;
	assert_int_equal(place(3), 0);
	/* nor is another host's load */
	host("esx02", "c1", 4);
	ops[esx01->index] = 9;
	assert_int_equal(place(3), 0);
	assert_int_equal(on("esx02", 3), 3);
	assert_int_equal(room(""), 4);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_pool_that_isnt_known_refuses_nobody),
		TEST(a_gang_of_four_does_not_fit_into_a_pool_for_three),
		TEST(room_says_which_pool_it_is),
		TEST(promised_vms_count_against_the_pool),
		TEST(each_cluster_has_its_pool),
		TEST(a_pool_is_named_beside_hosts_that_lack_something_else),
		TEST(pools_bound_no_capacity),
		TEST(a_pools_cpu_matters_to_a_reservation_only),
		TEST(what_hosts_lack_is_said_where_there_is_room_for_none),
		TEST(where_cpu_is_short_slow_cores_go_first),
		TEST(beside_other_vms_cpu_may_not_be_enough_for_all),
		TEST(a_pool_that_holds_all_leaves_pack_its_choice),
		TEST(pack_of_a_gang_that_fills_all_hosts_heeds_disks),
		TEST(pack_takes_the_fewest_hosts_that_pools_allow),
		TEST(a_datastore_that_isnt_known_refuses_nobody),
		TEST(a_gang_fits_on_the_datastore_whole_or_not_at_all),
		TEST(a_vm_that_exists_needs_no_disk),
		TEST(memory_that_isnt_reserved_needs_a_swap_file),
		TEST(promised_vms_count_against_the_datastore),
		TEST(a_host_with_its_hands_full_is_refused),
		TEST(pack_gives_a_pools_room_to_the_host_with_most),
		TEST(a_vm_on_the_host_that_is_requested_keeps_its_fast_cores),
		TEST(a_vm_of_ours_that_runs_counts_against_the_pool),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
