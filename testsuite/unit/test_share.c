/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan/allocation/shared_capacity: what is left of pools and the datastore
 * between two readings. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "plan_world.h"
#include "plan/allocation/shared_capacity.h"
#include "util/mem.h"

#define POOL_MB 100000
#define POOL_MHZ 50000
#define STORE_MB 200000
/* of a VM of 4 vCPUs and 8 GB */
#define OVERHEAD (64 + 8 * 4 + 82)

static struct world w;
static struct vs_vm *vm;

static void read_all(void)
{
	vs_shared_capacity_begin(&w.inv);
	vs_shared_capacity_set_pool(&w.inv, "domain-c1", "pool a", POOL_MHZ,
				    POOL_MB);
	vs_shared_capacity_set_pool(&w.inv, "domain-c2", "pool b", POOL_MHZ,
				    POOL_MB);
	vs_shared_capacity_set_store(&w.inv, "vsan", STORE_MB);
	vs_shared_capacity_end(&w.inv);
}

/* esx01 in the first cluster, esx02 in the second; a managed VM on esx01, off;
 * the values that were read include all of it. */
static int setup(void **state)
{
	(void)state;
	w_init(&w);
	w_host(&w, "esx01");
	vs_strlcpy(w_host(&w, "esx02")->cluster, "domain-c2", VS_MOID_LEN);
	vm = w_vm(&w, "vm-1", "n1", "esx01");
	w_ours(&w, vm);
	vm->cpu_reserved_mhz = 3000;
	vm->mem_reserved_mb = 6000;
	read_all();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	w_clear(&w);
	return 0;
}

static struct vs_pool_capacity pools[2];
static int64_t store;

static void sum(void)
{
	struct vs_free_capacity made = { 0 };

	vs_free_capacity_update(&made, &w.ledger, &w.inv, W_FOLDER,
				W_CLUSTER_ID);
	for (size_t i = 0; i < made.npools; i++)
		pools[i] = made.pools[i];
	store = made.store_mb;
	vs_free_capacity_clear(&made);
}

/* So much less than was read, of the first pool and of the datastore. */
static void less(int64_t cpu, int64_t mem, int64_t disk)
{
	sum();
	assert_int_equal(POOL_MHZ - pools[0].cpu_mhz, cpu);
	assert_int_equal(POOL_MB - pools[0].mem_mb, mem);
	assert_int_equal(STORE_MB - store, disk);
}

static void what_was_read_is_left(void **state)
{
	(void)state;
	less(0, 0, 0);
	assert_int_equal(pools[1].mem_mb, POOL_MB);
	assert_int_equal(vs_shared_capacity_pool(&w.inv, "domain-c1"), 0);
	assert_int_equal(vs_shared_capacity_pool(&w.inv, "domain-c2"), 1);
	assert_int_equal(vs_shared_capacity_pool(&w.inv, "domain-c3"), -1);
	assert_string_equal(w.inv.pools[1].name, "pool b");
}

static void nothing_is_known_before_it_was_read(void **state)
{
	(void)state;
	vs_shared_capacity_forget(&w.inv);
	assert_int_equal(w.inv.npools, 0);
	vm->power = VS_POWER_ON;
	sum();
	assert_true(store == VS_CAPACITY_UNKNOWN);
	vs_shared_capacity_set_pool(&w.inv, "domain-c1", "pool a", -1, POOL_MB);
	sum();
	assert_true(pools[0].cpu_mhz == VS_CAPACITY_UNKNOWN);
	assert_int_equal(pools[0].mem_mb, POOL_MB - 6000 - OVERHEAD);
	vs_shared_capacity_set_pool(&w.inv, "domain-c1", "pool a", 0, -1);
	vs_shared_capacity_set_store(&w.inv, "vsan", 0);
	sum();
	assert_int_equal(pools[0].cpu_mhz, -3000);
	assert_true(pools[0].mem_mb == VS_CAPACITY_UNKNOWN);
	assert_int_equal(store, -(8192 - 6000));
}

static void a_vm_that_came_on_since_takes_its_share(void **state)
{
	(void)state;
	vm->power = VS_POWER_ON;
	less(3000, 6000 + OVERHEAD, 8192 - 6000);
	vm->mem_locked = true;		/* all of it, no swap file */
	less(3000, 8192 + OVERHEAD, 0);
	vm->latency_high = true;	/* 4 vCPUs of 2000 MHz */
	less(8000, 8192 + OVERHEAD, 0);
	vm->cpu_reserved_mhz = 9000;
	less(9000, 8192 + OVERHEAD, 0);
	read_all();
	less(0, 0, 0);			/* it is in the values now */
}

static void a_vm_that_went_off_since_gives_its_share_back(void **state)
{
	(void)state;
	vm->power = VS_POWER_ON;
	read_all();
	vm->power = VS_POWER_OFF;
	less(-3000, -6000 - OVERHEAD, 6000 - 8192);
	vm->power = VS_POWER_UNKNOWN;	/* unknown is never gone */
	less(0, 0, 0);
	vm->power = VS_POWER_OFF;
	vm->readable = false;
	less(0, 0, 0);
	vm->readable = true;
	read_all();
	less(0, 0, 0);
}

static void a_vm_that_changes_while_values_are_read_counts_as_taken(void **state)
{
	(void)state;
	vs_shared_capacity_begin(&w.inv);	/* on after the question */
	vm->power = VS_POWER_ON;
	vs_shared_capacity_end(&w.inv);
	less(3000, 6000 + OVERHEAD, 8192 - 6000);
	vs_shared_capacity_begin(&w.inv);	/* off before the answer */
	vm->power = VS_POWER_OFF;
	vs_shared_capacity_end(&w.inv);
	less(0, 0, 0);
}

static void others_vms_show_with_the_next_reading(void **state)
{
	(void)state;
	vs_str_replace(&vm->owner_mark, NULL);
	vm->power = VS_POWER_ON;
	less(0, 0, 0);
}

static void a_vm_in_another_cluster_is_in_another_pool(void **state)
{
	(void)state;
	vm->power = VS_POWER_ON;
	read_all();
	vs_vm_set_host(&w.inv, vm, "host-esx02");
	less(-3000, -6000 - OVERHEAD, 0);
	assert_int_equal(pools[1].mem_mb, POOL_MB - 6000 - OVERHEAD);
	vs_vm_set_host(&w.inv, vm, "host-not-known");
	less(-3000, -6000 - OVERHEAD, 0);
	assert_int_equal(pools[1].mem_mb, POOL_MB);
}

/* ---- holds -------------------------------------------------------------- */

static struct vs_claim *hold(enum vs_claim_state state)
{
	struct vs_claim *h = w_hold(&w, "n1", "esx01", "", state);

	h->disk_mb = 40000;
	h->swap_mb = 500;
	return h;	/* 100 MHz, 1000 MB */
}

static void a_hold_counts_until_a_vm_stands_for_it(void **state)
{
	struct vs_claim *h = hold(VS_CLAIM_RESERVED);

	(void)state;
	less(100, 1000, 40500);
	vs_ledger_set_vm(&w.ledger, h, vm->moid);
	less(100, 1000, 500);		/* its disks were in the values */
	vm->power = VS_POWER_ON;
	less(3000, 6000 + OVERHEAD, 8192 - 6000);
	vm->readable = false;
	less(100, 1000, 500);
	vm->readable = true;
	vs_vm_set_host(&w.inv, vm, "host-not-known");
	less(100, 1000, 500 + 8192 - 6000);
	vs_vm_set_host(&w.inv, vm, "host-esx01");
	vs_ledger_release(&w.ledger, "n1");
	less(3000, 6000 + OVERHEAD, 8192 - 6000);
}

static void the_disks_of_a_fresh_clone_count_until_the_next_reading(void **state)
{
	struct vs_claim *h = hold(VS_CLAIM_RESERVED);
	struct vs_vm *fresh = w_vm(&w, "vm-2", "n2", "esx01");

	(void)state;
	w_ours(&w, fresh);
	vs_ledger_set_vm(&w.ledger, h, "vm-2");
	less(100, 1000, 40500);
	read_all();
	less(100, 1000, 500);
	vs_inventory_remove_vm(&w.inv, "vm-2");	/* to be cloned again */
	less(100, 1000, 40500);
}

static void a_promise_elsewhere_is_kept_beside_the_vm(void **state)
{
	struct vs_claim *h = hold(VS_CLAIM_RESERVED);

	(void)state;
	vs_ledger_set_vm(&w.ledger, h, vm->moid);
	vs_vm_set_host(&w.inv, vm, "host-esx02");
	vm->power = VS_POWER_ON;
	less(100, 1000, 500 + 8192 - 6000);
	assert_int_equal(pools[1].cpu_mhz, POOL_MHZ - 3000);
	/* asked to power on, it is for this very VM */
	vs_ledger_set_state(&w.ledger, h, VS_CLAIM_STARTING);
	less(0, 0, 8192 - 6000);
}

static void a_hold_on_a_host_that_is_gone_takes_of_no_pool(void **state)
{
	(void)state;
	hold(VS_CLAIM_RESERVED);
	vs_inventory_remove_host(&w.inv, "host-esx01");
	less(0, 0, 40500);
}

static void take_and_release_leave_no_trace(void **state)
{
	uint64_t was = w.ledger.generation;
	struct vs_claim *h = hold(VS_CLAIM_RESERVED);

	(void)state;
	vs_ledger_set_vm(&w.ledger, h, "vm-1");
	was = w.ledger.generation;
	vs_ledger_set_vm(&w.ledger, h, "vm-1");	/* nothing new */
	assert_true(w.ledger.generation == was);
	vs_ledger_set_vm(&w.ledger, h, "vm-7");
	assert_true(w.ledger.generation > was);
	vs_ledger_release(&w.ledger, "n1");
	less(0, 0, 0);
}

static void whatever_is_read_moves_the_generation(void **state)
{
	uint64_t was = w.inv.generation;

	(void)state;
	vs_shared_capacity_set_store(&w.inv, "vsan", STORE_MB);
	assert_true(w.inv.generation > was);
	was = w.inv.generation;
	vs_shared_capacity_set_pool(&w.inv, "domain-c1", "pool a", 1, 1);
	assert_true(w.inv.generation > was);
	was = w.inv.generation;
	vs_shared_capacity_end(&w.inv);
	assert_true(w.inv.generation > was);
	was = w.inv.generation;
	vs_shared_capacity_forget(&w.inv);
	assert_true(w.inv.generation > was);
}

/* The pool's name in the configuration has changed, its VMs lie where they
 * were made. */
static void a_vm_that_lies_in_an_older_pool_is_no_part_of_the_new_one(void **st)
{
	(void)st;
	vm->power = VS_POWER_ON;
	vs_strlcpy(vm->pool, "resgroup-1", sizeof(vm->pool));
	vs_shared_capacity_set_pool_moid(&w.inv, "domain-c1", "resgroup-1");
	less(3000, 6000 + OVERHEAD, 8192 - 6000);
	vs_shared_capacity_set_pool_moid(&w.inv, "domain-c1", "resgroup-2");
	less(0, 0, 8192 - 6000);
	read_all();
	vm->power = VS_POWER_OFF;
	less(0, 0, 6000 - 8192);
	vs_strlcpy(vm->pool, "resgroup-2", sizeof(vm->pool));
	vm->power = VS_POWER_ON;
	less(3000, 6000 + OVERHEAD, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_read_is_left),
		TEST(nothing_is_known_before_it_was_read),
		TEST(a_vm_that_came_on_since_takes_its_share),
		TEST(a_vm_that_went_off_since_gives_its_share_back),
		TEST(a_vm_that_changes_while_values_are_read_counts_as_taken),
		TEST(others_vms_show_with_the_next_reading),
		TEST(a_vm_in_another_cluster_is_in_another_pool),
		TEST(a_vm_that_lies_in_an_older_pool_is_no_part_of_the_new_one),
		TEST(a_hold_counts_until_a_vm_stands_for_it),
		TEST(the_disks_of_a_fresh_clone_count_until_the_next_reading),
		TEST(a_promise_elsewhere_is_kept_beside_the_vm),
		TEST(a_hold_on_a_host_that_is_gone_takes_of_no_pool),
		TEST(take_and_release_leave_no_trace),
		TEST(whatever_is_read_moves_the_generation),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("share", tests, NULL, NULL);
}
