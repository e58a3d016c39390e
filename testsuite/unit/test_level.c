/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan/placement: gangs of mixed kinds, evened out after they were placed one
 * by one, and placed in another order where the first one finds no place. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "plan_world.h"
#include "util/mem.h"

#define GB 1024
#define GANG 6

static struct world w;
static struct vs_profile large, small;
static struct vs_adapter named;
static struct vs_place_node gang[GANG];
static char names[GANG][16];

static int setup(void **state)
{
	(void)state;
	w_init(&w);
	large = small = w.p_roce;
	large.memory_mb = 60 * GB;
	small.memory_mb = 40 * GB;
	for (int i = 0; i < GANG; i++) {
		snprintf(names[i], sizeof(names[i]), "n%02d", i);
		gang[i] = (struct vs_place_node) {
			.node = names[i], .net = &w.net,
			.profile = i < 2 ? &large : &small,
		};
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	w_clear(&w);
	return 0;
}

static struct vs_host *host(const char *name, int vfs)
{
	struct vs_host *h = w_host(&w, name);

	w_pf(h, W_PF0, vfs);
	return h;
}

static int on(const char *name, const struct vs_profile *p)
{
	int count = 0;

	for (int i = 0; i < GANG; i++)
		count += gang[i].host && !strcmp(gang[i].host->name, name) &&
			gang[i].profile == p;
	return count;
}

static void place(size_t n)
{
	struct vs_err err = { 0 };

	if (vs_place(&w.env, gang, n, &err))
		fail_msg("%s", err.text);
}

/* ---- balance --------------------------------------------------------------- */

/* One by one it would be 60 + 40 + 40 and 60 + 40. */
static void vms_of_two_sizes_change_places_for_an_even_load(void **state)
{
	(void)state;
	host("esx01", 8);
	host("esx02", 8);
	place(5);
	assert_true(on("esx01", &large) == 2 || on("esx02", &large) == 2);
	assert_true(on("esx01", &small) == 3 || on("esx02", &small) == 3);
	assert_string_not_equal(gang[0].host->name, gang[2].host->name);
}

/* The large ones are placed first, on esx01 and esx02. The small ones lie on
 * esx01 and stay there: 60 + 4 * 40 GB. The large one leaves them. */
static void lie_on_esx01(void)
{
	for (int i = 2; i < GANG; i++)
		gang[i].prefer_host = "host-esx01";
	place(GANG);
	assert_int_equal(on("esx01", &small), 4);
	assert_int_equal(on("esx01", &large), 0);
}

static void a_vm_leaves_those_that_stay_where_they_lie(void **state)
{
	(void)state;
	host("esx01", 64);
	host("esx02", 64);
	lie_on_esx01();
	assert_int_equal(on("esx02", &large), 2);
	for (int i = 2; i < GANG; i++)
		gang[i].prefer_host = "host-esx02";
	place(GANG);
	assert_int_equal(on("esx01", &large), 2);
	assert_int_equal(on("esx02", &small), 4);
}

/* It does so for a host that could have none of the others, too. */
static void a_host_that_serves_one_kind_alone_counts(void **state)
{
	(void)state;
	w_pf(host("esx01", 64), W_PF1, 64);
	host("esx02", 64);
	named = w.roce;
	vs_strlcpy(named.pf, W_PF1, sizeof(named.pf));
	small.adapter = &named;
	lie_on_esx01();
	assert_int_equal(on("esx02", &large), 2);
}

/* 60 + 40 and 40 GB: a move alone would make it 40 and 100. */
static void the_only_vm_of_a_host_changes_places_with_a_larger_one(void **state)
{
	(void)state;
	host("esx01", 64);
	host("esx02", 64);
	gang[1].profile = &small;
	gang[1].prefer_host = "host-esx01";
	place(3);
	assert_string_equal(gang[0].host->name, "esx02");
	assert_string_equal(gang[1].host->name, "esx01");
	assert_string_equal(gang[2].host->name, "esx01");
}

/* Once it has gone to esx03, 160, 60 and 60 GB are as even as can be. */
static void a_second_move_is_judged_by_what_the_first_one_left(void **state)
{
	(void)state;
	host("esx01", 64);
	host("esx02", 64);
	host("esx03", 64);
	lie_on_esx01();
	assert_int_equal(on("esx02", &large), 1);
	assert_int_equal(on("esx03", &large), 1);
}

static void a_vm_that_lies_on_a_host_is_not_moved_for_it(void **state)
{
	(void)state;
	host("esx01", 8);
	host("esx02", 8);
	gang[0].prefer_host = gang[2].prefer_host = gang[4].prefer_host =
		"host-esx01";
	gang[1].prefer_host = gang[3].prefer_host = "host-esx02";
	place(5);
	for (int i = 0; i < 5; i++)
		assert_string_equal(gang[i].host->name,
				    i % 2 ? "esx02" : "esx01");
}

/* esx03 is where nothing of the gang could go. */
static void a_host_that_serves_none_of_them_counts_for_nothing(void **state)
{
	(void)state;
	host("esx01", 8);
	host("esx02", 8);
	host("esx03", 8)->maintenance = true;
	place(5);
	assert_true(on("esx01", &large) == 2 || on("esx02", &large) == 2);
	assert_int_equal(on("esx03", &large) + on("esx03", &small), 0);
}

/* 60 of 512 GB are a lesser load than 60 of 256 GB. That a host where the gang
 * may not go is full is no reason to load the others more. */
static void an_avoided_host_counts_for_nothing(void **state)
{
	struct vs_host_block bars[3] = { { .avoided = false } };
	struct vs_vm *vm;

	(void)state;
	host("esx01", 64);
	host("esx02", 64)->memory_mb = 512 * GB;
	host("esx03", 64);
	vm = w_vm_on(&w, "vm-1", "esx03", W_PF0);
	vm->memory_mb = 256 * GB;
	bars[vs_host_get_named(&w.inv, "esx03")->index].avoided = true;
	w.env.bars = bars;
	place(1);
	assert_int_equal(on("esx02", &large), 1);
}

static void what_is_evened_out_stays_within_each_hosts_vfs(void **state)
{
	(void)state;
	host("esx01", 3);
	host("esx02", 2);
	place(5);		/* three and two is all there is */
	assert_int_equal(on("esx01", &large) + on("esx01", &small), 3);
}

/* ---- what it may cost --------------------------------------------------- */

#define HOSTS 50		/* 50 times 50 are more than a round's tries */

/*
 * On so many hosts, four small VMs lie on the first one, and a large VM on each
 * of the last `filled`. Two more large ones are placed before the small ones, so
 * that one of them gets the first host.
 */
static int large_ones_that_stay(int hosts, int filled)
{
	static struct vs_place_node all[GANG + HOSTS];
	static char moids[HOSTS][24];
	char name[16];
	int stay = 0;

	for (int i = 0; i < hosts; i++) {
		snprintf(name, sizeof(name), "esx%02d", i);
		snprintf(moids[i], sizeof(moids[i]), "host-%s", name);
		host(name, 64);
	}
	memcpy(all, gang, sizeof(gang));
	for (int i = 2; i < GANG; i++)
		all[i].prefer_host = moids[0];
	for (int i = 0; i < filled; i++)
		all[GANG + i] = (struct vs_place_node) {
			.node = "fill", .net = &w.net, .profile = &large,
			.prefer_host = moids[hosts - 1 - i],
		};
	assert_int_equal(vs_place(&w.env, all, (size_t)(GANG + filled),
				  NULL), 0);
	for (int i = 0; i < 2; i++)
		stay += !strcmp(all[i].host->moid, moids[0]);
	return stay;
}

static void a_gang_on_few_hosts_is_evened_out(void **state)
{
	(void)state;
	assert_int_equal(large_ones_that_stay(10, 8), 0);
}

static void a_gang_on_few_of_many_hosts_is_evened_out(void **state)
{
	(void)state;
	assert_int_equal(large_ones_that_stay(HOSTS, 0), 0);
}

/* Each of its VMs would be tried on each of them. */
static void a_gang_on_too_many_hosts_is_left_as_it_is(void **state)
{
	(void)state;
	assert_int_equal(large_ones_that_stay(HOSTS, HOSTS - 2), 1);
}

#define WIDE 44			/* as many hosts as are evened out */
#define KINDS 16

/* CPU seconds, the least of five times. */
static double seconds(const struct vs_place_env *env,
		      struct vs_place_node *nodes, size_t n)
{
	double least = 0;

	for (int i = 0; i < 5; i++) {
		clock_t begun = clock();
		double took;

		assert_int_equal(vs_place(env, nodes, n, NULL), 0);
		took = (double)(clock() - begun) / CLOCKS_PER_SEC;
		if (!i || took < least)
			least = took;
	}
	return least;
}

/* Hosts of unlike sizes with `pfs` PFs each, and a gang of `kinds` kinds. */
static double times_as_long(int pfs, int kinds)
{
	static struct vs_place_node wide[WIDE * KINDS];
	static struct vs_profile sizes[KINDS];
	double spread;
	char name[16];

	for (int i = 0; i < WIDE; i++) {
		struct vs_host *h;

		snprintf(name, sizeof(name), "esx%02d", i);
		h = w_host(&w, name);
		h->memory_mb = (512 + 7 * i) * GB;
		for (int k = 0; k < pfs; k++) {
			snprintf(name, sizeof(name), "0000:%02x:00.0", k);
			w_pf(h, name, 64 / pfs);
		}
	}
	for (size_t i = 0; i < VS_COUNT(wide); i++) {
		size_t k = i % (size_t)kinds;

		sizes[k] = w.p_roce;
		sizes[k].memory_mb = 4096 + 131 * (int64_t)(k * k);
		wide[i] = (struct vs_place_node) {
			.node = "n", .net = &w.net, .profile = &sizes[k],
		};
	}
	w.env.policy = VS_PLACE_SPREAD;
	spread = seconds(&w.env, wide, VS_COUNT(wide));
	w.env.policy = VS_PLACE_BALANCE;
	return seconds(&w.env, wide, VS_COUNT(wide)) / spread;
}

/*
 * slurmctld waits for a placement. With 4000 tries balance takes 5 to 10 times
 * as long as spread, which tries nothing; if one kind of tries is without a
 * bound it takes 50 times as long at least.
 */
static void exchanges_cost_a_bounded_time(void **state)
{
	(void)state;
	assert_true(times_as_long(1, KINDS) < 20);
}

static void moves_cost_a_bounded_time(void **state)
{
	(void)state;
	assert_true(times_as_long(KINDS, 1) < 22);
}

static void other_policies_are_left_as_they_are(void **state)
{
	(void)state;
	w.env.policy = VS_PLACE_SPREAD;
	host("esx01", 8);
	host("esx02", 8);
	place(5);
	assert_int_equal(on("esx01", &large), 1);
	assert_int_equal(on("esx02", &large), 1);
}

/* ---- another order ------------------------------------------------------------ */

/*
 * The small ones need a PF that esx03 alone has, and memory of the pool of esx02
 * and esx03. The large ones, placed first, would take that on esx02; nothing on
 * esx03 could make way for it.
 */
static void who_finds_no_place_goes_first_the_next_time(void **state)
{
	(void)state;
	host("esx01", 2);
	vs_strlcpy(host("esx02", 8)->cluster, "domain-c2", VS_MOID_LEN);
	vs_strlcpy(host("esx03", 0)->cluster, "domain-c2", VS_MOID_LEN);
	w_pf(vs_host_get_named(&w.inv, "esx03"), W_PF1, 3);
	named = w.roce;
	vs_strlcpy(named.pf, W_PF1, sizeof(named.pf));
	small.adapter = &named;
	large.memory_mb = 20 * GB;
	small.memory_mb = 9 * GB;
	vs_shared_capacity_begin(&w.inv);
	vs_shared_capacity_set_pool(&w.inv, "domain-c2", "slurm", 1000000,
				    30 * GB);
	vs_shared_capacity_end(&w.inv);
	place(4);
	assert_int_equal(on("esx01", &large), 2);
	assert_int_equal(on("esx03", &small), 2);
}

static void a_gang_that_fits_in_no_order_says_why(void **state)
{
	struct vs_err err = { 0 };

	(void)state;
	host("esx01", 3);
	w_pf(host("esx02", 0), W_PF1, 1);
	named = w.roce;
	vs_strlcpy(named.pf, W_PF1, sizeof(named.pf));
	small.adapter = &named;
	large.memory_mb = 129 * GB;	/* one on a host */
	small.memory_mb = 129 * GB;
	assert_int_equal(vs_place(&w.env, gang, 3, &err), -1);
	assert_int_equal(err.code, VS_E_SHORTAGE);
	assert_non_null(strstr(err.text, "beside 2 other VMs"));
	assert_non_null(strstr(err.text, "esx02: no free VF"));
	assert_null(strstr(err.text, "too little memory left"));
}

/* Two hosts. Seven of esx01's VFs are other VMs', which take nothing else. Returns
 * esx01. The gang takes no VFs. */
static struct vs_host *seven_vfs_are_in_use(void)
{
	struct vs_host *a = host("esx01", 8);

	host("esx02", 8);
	small.adapter = &w.eth;
	small.memory_mb = 8 * GB;
	for (int i = 0; i < GANG; i++)
		gang[i].profile = &small;
	for (int i = 0; i < 7; i++) {
		struct vs_vm *vm;
		char moid[16];

		snprintf(moid, sizeof(moid), "vm-%d", i);
		vm = w_vm_on(&w, moid, "esx01", W_PF0);
		vm->memory_mb = vm->vcpus = 0;
	}
	return a;
}

static void vfs_count_for_those_alone_that_take_some(void **state)
{
	(void)state;
	seven_vfs_are_in_use();
	place(4);
	assert_int_equal(on("esx01", &small), 2);
	assert_int_equal(on("esx02", &small), 2);
}

/* Its VFs are no matter any more, once the host has lost their network. */
static void the_vfs_of_a_lost_network_count_for_nothing(void **state)
{
	static struct vs_network lost;
	struct vs_host *a = seven_vfs_are_in_use();
	struct vs_free_capacity sums = { 0 };

	(void)state;
	lost = w.net;
	vs_strlcpy(lost.moid, "dvportgroup-99", VS_MOID_LEN);
	for (struct vs_host *h = w.inv.hosts; h; h = h->hh.next)
		vs_strlcpy(h->nets[h->nnets++], lost.moid, VS_MOID_LEN);
	large.memory_mb = 8 * GB;
	gang[0].profile = &large;
	gang[0].net = &lost;
	vs_free_capacity_update(&sums, &w.ledger, &w.inv, W_FOLDER,
				W_CLUSTER_ID);
	w.env.sums = &sums;
	place(6);
	a->nnets--;
	vs_host_changed(&w.inv, a);
	vs_free_capacity_update(&sums, &w.ledger, &w.inv, W_FOLDER,
				W_CLUSTER_ID);
	place(6);
	assert_string_equal(gang[0].host->name, "esx02");
	assert_int_equal(on("esx01", &small), 3);
	assert_int_equal(on("esx02", &small), 2);
	vs_free_capacity_clear(&sums);
}

#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(vms_of_two_sizes_change_places_for_an_even_load),
		T(a_vm_leaves_those_that_stay_where_they_lie),
		T(a_host_that_serves_one_kind_alone_counts),
		T(the_only_vm_of_a_host_changes_places_with_a_larger_one),
		T(a_second_move_is_judged_by_what_the_first_one_left),
		T(a_vm_that_lies_on_a_host_is_not_moved_for_it),
		T(a_host_that_serves_none_of_them_counts_for_nothing),
		T(what_is_evened_out_stays_within_each_hosts_vfs),
		T(a_gang_on_few_hosts_is_evened_out),
		T(a_gang_on_few_of_many_hosts_is_evened_out),
		T(a_gang_on_too_many_hosts_is_left_as_it_is),
		T(exchanges_cost_a_bounded_time),
		T(moves_cost_a_bounded_time),
		T(other_policies_are_left_as_they_are),
		T(who_finds_no_place_goes_first_the_next_time),
		T(a_gang_that_fits_in_no_order_says_why),
		T(an_avoided_host_counts_for_nothing),
		T(vfs_count_for_those_alone_that_take_some),
		T(the_vfs_of_a_lost_network_count_for_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
