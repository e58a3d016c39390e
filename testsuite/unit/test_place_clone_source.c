/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan/placement: the parents that the first instant clones bring to their hosts. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "plan_world.h"
#include "util/mem.h"

#define GB ((int64_t)1024)
#define HOSTS 2

static struct world w;
static struct vs_profile instant;
static struct vs_host *esx01;
static struct vs_free_capacity sums;
static bool bare[HOSTS];		/* none to spare: ASan sees who reads more */

/* One host of 256 GB with no parent; VMs of 100 GB, all reserved. */
static int setup(void **state)
{
	(void)state;
	w_init(&w);
	esx01 = w_host(&w, "esx01");
	instant = w.p_eth;
	instant.clone = VS_CLONE_INSTANT;
	instant.memory_mb = instant.hw.mem_mb = 100 * GB;
	w.env.bare = bare;
	w.env.profiles = &instant;
	bare[0] = bare[1] = true;
	memset(&sums, 0, sizeof(sums));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	vs_free_capacity_clear(&sums);
	w_clear(&w);
	return 0;
}

static struct vs_place_node vm(const char *name, bool exists)
{
	return (struct vs_place_node) {
		.node = name, .profile = &instant, .net = &w.net,
		.exists = exists, .prefer_host = exists ? esx01->moid : NULL,
	};
}

static void one_that_exists_brings_none(void **state)
{
	struct vs_place_node n = vm("n1", true), fresh = vm("n2", false);
	struct vs_err err;

	(void)state;
	esx01->memory_mb = 150 * GB;
	assert_int_equal(vs_place(&w.env, &n, 1, &err), 0);
	assert_ptr_equal(n.host, esx01);
	assert_int_equal(w_count(&w.env, &n, 9), 1);
	assert_int_equal(vs_place_capacity(&w.env, &n, 9), 1);
	assert_int_equal(vs_place(&w.env, &fresh, 1, &err), -1);
	assert_int_equal(w_count(&w.env, &fresh, 9), 0);
	assert_int_equal(vs_place_capacity(&w.env, &fresh, 9), 0);
}

/* In whichever order they come, in one gang. */
static void beside_one_that_exists_a_new_one_brings_its_own(void **state)
{
	struct vs_place_node gang[2] = { vm("n1", true), vm("n2", false) };
	struct vs_place_node back[2] = { vm("n1", false), vm("n2", true) };
	struct vs_err err;

	(void)state;
	assert_int_equal(vs_place(&w.env, gang, 2, &err), -1);
	assert_int_equal(vs_place(&w.env, back, 2, &err), -1);
	gang[1].exists = true;
	assert_int_equal(vs_place(&w.env, gang, 2, &err), 0);
	esx01->memory_mb = 320 * GB;
	gang[1].exists = false;
	assert_int_equal(vs_place(&w.env, gang, 2, &err), 0);
	assert_int_equal(vs_place(&w.env, back, 2, &err), 0);
}

/* It is a VM of the same size, but no clone of a parent. 100 GB three times is
 * more than the host has. */
static void beside_a_full_clone_a_new_one_brings_its_own(void **state)
{
	struct vs_profile full = instant;
	struct vs_place_node gang[2] = { vm("n1", false), vm("n2", false) };
	struct vs_err err;

	(void)state;
	full.clone = VS_CLONE_FULL;
	for (int i = 0; i < 2; i++) {
		gang[i].profile = &full;
		gang[!i].profile = &instant;
		esx01->memory_mb = 256 * GB;
		assert_int_equal(vs_place(&w.env, gang, 2, &err), -1);
		esx01->memory_mb = 320 * GB;
		assert_int_equal(vs_place(&w.env, gang, 2, &err), 0);
	}
	gang[0].profile = gang[1].profile = &full;
	esx01->memory_mb = 256 * GB;
	assert_int_equal(vs_place(&w.env, gang, 2, &err), 0);
	/* a host of its own holds it without a parent */
	gang[0].profile = &instant;
	esx01->memory_mb = 220 * GB;
	w_host(&w, "esx02")->memory_mb = 110 * GB;
	assert_int_equal(vs_place(&w.env, gang, 2, &err), 0);
	assert_string_equal(gang[0].host->name, "esx01");
	assert_string_equal(gang[1].host->name, "esx02");
}

/* How many more there is room for when one of 100 GB is gone. */
static size_t later(bool exists, uint64_t *key)
{
	struct vs_place_node like = vm("", exists);
	const struct vs_claim *h = vs_ledger_get(&w.ledger, "n1");
	struct vs_later *l;
	size_t n;

	vs_free_capacity_update(&sums, &w.ledger, &w.inv, W_FOLDER,
				W_CLUSTER_ID);
	w.env.sums = &sums;
	l = vs_later_begin(&w.env, &like, key);
	vs_later_on(l, esx01);
	n = vs_later_gone(l, h);
	vs_later_end(l);
	w.env.sums = NULL;
	return n;
}

static void in_a_future_the_first_brings_its_parent(void **state)
{
	struct vs_claim h = { .mem_mb = 110 * GB };
	uint64_t with, without, exists;

	(void)state;
	vs_strlcpy(h.node, "n1", sizeof(h.node));
	vs_strlcpy(h.host, esx01->moid, sizeof(h.host));
	assert_int_equal(vs_ledger_take(&w.ledger, &h, NULL), 0);
	esx01->memory_mb = 190 * GB;
	assert_int_equal(later(false, &without), 0);
	assert_int_equal(later(true, &exists), 1);
	bare[0] = false;
	assert_int_equal(later(false, &with), 1);
	/* what is kept of it is thrown away when a parent comes */
	assert_true(with != without);
}

/* 2000 MHz are all of the host, and reserved until n1 is gone. */
static void in_a_future_the_cpu_is_free_too(void **state)
{
	struct vs_claim h = { .mem_mb = GB, .cpu_mhz = 2000 };
	uint64_t key;

	(void)state;
	vs_strlcpy(h.node, "n1", sizeof(h.node));
	vs_strlcpy(h.host, esx01->moid, sizeof(h.host));
	assert_int_equal(vs_ledger_take(&w.ledger, &h, NULL), 0);
	esx01->cores = 1;
	instant.hw.cpu_mhz = 2000;
	assert_int_equal(later(true, &key), 1);
}

/* Of a world with as many hosts as `bare` has entries. */
static uint64_t key_of(const struct vs_profile *p)
{
	struct vs_place_node like = vm("", false);
	uint64_t key = 1;

	vs_free_capacity_update(&sums, &w.ledger, &w.inv, W_FOLDER,
				W_CLUSTER_ID);
	w.env.sums = &sums;
	like.profile = p;
	vs_later_end(vs_later_begin(&w.env, &like, &key));
	return key;
}

/* What is kept of a kind is thrown away when it needs another amount. */
static void what_a_vm_needs_is_in_the_key(void **state)
{
	struct vs_profile p[5];
	uint64_t keys[5];

	(void)state;
	w_host(&w, "esx02");
	for (int i = 0; i < 5; i++) {
		p[i] = instant;
		p[i].clone = VS_CLONE_FULL;
	}
	p[1].hw.mem_mb = p[1].memory_mb = 50 * GB;
	p[2].vcpus++;
	p[3].latency_high = !p[3].latency_high;
	p[4].hw.cpu_mhz = 500;
	assert_true(key_of(&instant) != key_of(&p[0]));
	for (int i = 0; i < 5; i++) {
		keys[i] = key_of(&p[i]);
		assert_true(keys[i] == key_of(&p[i]));
		for (int k = 0; k < i; k++)
			assert_true(keys[i] != keys[k]);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(one_that_exists_brings_none),
		T(beside_one_that_exists_a_new_one_brings_its_own),
		T(beside_a_full_clone_a_new_one_brings_its_own),
		T(in_a_future_the_first_brings_its_parent),
		T(in_a_future_the_cpu_is_free_too),
		T(what_a_vm_needs_is_in_the_key),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
