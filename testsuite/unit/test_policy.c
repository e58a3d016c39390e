/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan/placement: the policies, preferences, preferred hosts, PFs of a host. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "plan_stage.h"
#include "util/mem.h"

static struct vs_host *host(const char *name, const char *leaf, int vfs)
{
	struct vs_host *h = w_host(&w, name);

	vs_strlcpy(h->leaf, leaf, sizeof(h->leaf));
	w_pf(h, W_PF0, vfs);
	return h;
}

/* How many of the gang are on that host. */
static int on(const char *name, size_t n)
{
	int count = 0;

	for (size_t i = 0; i < n; i++)
		count += !strcmp(gang[i].host->name, name);
	return count;
}

static int hosts_used(size_t n)
{
	int count = 0;

	for (struct vs_host *h = w.inv.hosts; h; h = h->hh.next)
		count += on(h->name, n) > 0;
	return count;
}

static bool leaf_is_used(const char *leaf, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(gang[i].host->leaf, leaf))
			return true;
	return false;
}

/* ---- balance ------------------------------------------------------------ */

static void balance_gives_like_hosts_like_numbers(void **state)
{
	(void)state;
	host("esx01", "", 8);
	host("esx02", "", 8);
	host("esx03", "", 8);
	place(12);
	assert_int_equal(on("esx01", 12), 4);
	assert_int_equal(on("esx02", 12), 4);
	assert_int_equal(on("esx03", 12), 4);
}

static void balance_weighs_by_share_and_not_by_number(void **state)
{
	(void)state;
	host("esx01", "", 4);
	host("esx02", "", 12);
	place(8);
	assert_int_equal(on("esx01", 8), 2);
	assert_int_equal(on("esx02", 8), 6);
}

static void balance_sees_what_runs_and_what_is_held(void **state)
{
	(void)state;
	host("esx01", "", 8);
	host("esx02", "", 8);
	w_vm_on(&w, "vm-1", "esx01", W_PF0);
	w_vm_on(&w, "vm-2", "esx01", W_PF0);
	w_hold(&w, "x1", "esx01", W_PF0, VS_CLAIM_RESERVED);
	place(5);
	assert_int_equal(on("esx01", 5), 1);
	assert_int_equal(on("esx02", 5), 4);
}

static void balance_counts_the_scarcest_of_vfs_cpu_and_memory(void **state)
{
	struct vs_host *a = host("esx01", "", 8);

	(void)state;
	host("esx02", "", 8);
	a->memory_mb /= 8;		/* 3 VMs fill it */
	place(4);
	assert_int_equal(on("esx01", 4), 1);
	assert_int_equal(on("esx02", 4), 3);
	a->memory_mb *= 8;
	a->cores = 12;			/* few, but no VM reserves CPU */
	place(4);
	assert_int_equal(on("esx01", 4), 1);
	assert_int_equal(on("esx02", 4), 3);
}

static void balance_looks_only_at_the_pfs_that_serve(void **state)
{
	struct vs_host *a = host("esx01", "", 8);
	struct vs_pf *full = w_pf(a, W_PF1, 8);

	(void)state;
	host("esx02", "", 8);
	vs_strlcpy(full->switch_uuid, "another", VS_LABEL_LEN);
	for (int i = 0; i < 8; i++) {
		char moid[16];

		snprintf(moid, sizeof(moid), "vm-%d", i);
		w_vm_on(&w, moid, "esx01", W_PF1)->memory_mb = 0;
	}
	w_vm_on(&w, "vm-9", "esx02", W_PF0);
	w_vm_on(&w, "vm-10", "esx02", W_PF0);
	a->cores = 480;
	place(1);
	assert_int_equal(on("esx01", 1), 1);
}

static void vms_that_reserve_nothing_are_spread_too(void **state)
{
	struct vs_claim *h;

	(void)state;
	for (int i = 0; i < 8; i++)
		gang[i].profile = &w.p_eth;
	host("esx01", "", 0);
	host("esx02", "", 0);
	place(8);
	assert_int_equal(on("esx01", 8), 4);
	h = w_hold(&w, "x1", "esx01", "", VS_CLAIM_RESERVED);
	h->vcpus = 8;			/* as two of them */
	h->memory_mb = 16384;
	place(6);
	assert_int_equal(on("esx01", 6), 2);
}

static void equal_hosts_are_taken_by_number_of_vms_then_by_name(void **state)
{
	struct vs_claim *h;

	(void)state;
	host("esx02", "", 8);
	host("esx01", "", 8);
	place(1);
	assert_int_equal(on("esx01", 1), 1);
	/* a hold of which nothing is told weighs nothing, but is one */
	h = w_hold(&w, "x1", "esx01", "", VS_CLAIM_RESERVED);
	h->cpu_mhz = h->mem_mb = 0;
	place(1);
	assert_int_equal(on("esx02", 1), 1);
}

static void a_vm_stays_where_its_disk_is_unless_that_is_full(void **state)
{
	(void)state;
	host("esx01", "", 8);
	host("esx02", "", 2);
	for (int i = 0; i < 4; i++)
		gang[i].prefer_host = "host-esx02";
	gang[4].prefer_host = "host-gone";
	gang[5].prefer_host = "";
	place(6);
	assert_int_equal(on("esx02", 6), 2);
	assert_string_equal(gang[0].host->name, "esx02");
	assert_string_equal(gang[1].host->name, "esx02");
	w_vm_on(&w, "vm-1", "esx02", W_PF0);
	w_vm_on(&w, "vm-2", "esx02", W_PF0);
	place(6);
	assert_int_equal(on("esx02", 6), 0);
}

static void those_with_a_disk_somewhere_come_first(void **state)
{
	(void)state;
	host("esx01", "", 1);
	host("esx02", "", 1);
	gang[1].prefer_host = "host-esx01";
	place(2);
	assert_string_equal(gang[1].host->name, "esx01");
	assert_string_equal(gang[0].host->name, "esx02");
}

/* A VM takes 8370 MB with the overhead: of 38000 MB that is 0.22 of the host, of
 * 28000 MB it is 0.30. One VF of four is 0.25. */
static void balance_compares_a_share_of_vfs_with_one_of_memory(void **state)
{
	struct vs_host *b;

	(void)state;
	host("esx01", "", 4);
	b = host("esx02", "", 64);
	b->memory_mb = 38000;
	place(1);
	assert_int_equal(on("esx02", 1), 1);
	b->memory_mb = 28000;
	place(1);
	assert_int_equal(on("esx01", 1), 1);
}

/* The only VF of a host is all of them. */
static void balance_takes_the_last_vf_of_a_host_last(void **state)
{
	(void)state;
	host("esx01", "", 1);
	host("esx02", "", 8);
	place(1);
	assert_int_equal(on("esx02", 1), 1);
}

static void a_partitions_own_policy_replaces_the_sites(void **state)
{
	(void)state;
	host("esx01", "a", 8);
	host("esx02", "b", 8);
	host("esx03", "c", 8);
	w.p_roce.placement = VS_PLACEMENT_SPREAD;
	place(3);
	assert_int_equal(hosts_used(3), 3);
	w.p_roce.placement = VS_PLACEMENT_PACK;
	place(3);
	assert_int_equal(hosts_used(3), 1);
	w.env.policy = VS_PLACE_PACK;
	for (int own = VS_PLACEMENT_GLOBAL; own <= VS_PLACEMENT_DRS; own++) {
		w.p_roce.placement = (enum vs_placement)own;
		place(3);
		assert_int_equal(hosts_used(3), own == VS_PLACEMENT_GLOBAL ||
				 own == VS_PLACEMENT_PACK ? 1 : 3);
	}
}

/* ---- spread ------------------------------------------------------------- */

static void spread_puts_one_vm_on_a_host_while_possible(void **state)
{
	(void)state;
	w.env.policy = VS_PLACE_SPREAD;
	host("esx01", "", 100);
	host("esx02", "", 4);
	host("esx03", "", 1);
	place(3);
	assert_int_equal(hosts_used(3), 3);
	place(6);
	assert_int_equal(on("esx01", 6), 3);
	assert_int_equal(on("esx02", 6), 2);
	assert_int_equal(on("esx03", 6), 1);
}

enum part { MEMORY, CORES, VFS, DEVICES, PARTS };

/* A VM takes 60 GB, 4 cores, a VF or a device. The n-th smallest host of `order`
 * has (n + 7) * 10 GB or n + 8 of the others: the larger, the less loaded. */
static void resize(struct vs_host *h, enum part part, int n)
{
	h->memory_mb = (part == MEMORY ? 70 + 10 * n : 4000) * 1024;
	h->cores = part == CORES ? 8 + n : 400;
	h->pfs[0].vfs = part == VFS ? 8 + n : 64;
	h->pfs[1].vfs = part == DEVICES ? 8 + n : 64;
	vs_host_changed(&w.inv, h);
}

static void largest_are_taken(enum part part, const int order[7])
{
	struct vs_host *hosts[7];
	char name[16];

	for (int i = 0; i < 7; i++) {
		snprintf(name, sizeof(name), "esx%02d", i);
		hosts[i] = vs_host_get_named(&w.inv, name);
		resize(hosts[i], part, order[i]);
	}
	for (size_t n = 1; n <= 7; n++) {
		place(n);
		for (int i = 0; i < 7; i++)
			assert_int_equal(on(hosts[i]->name, n),
					 order[i] >= 7 - (int)n);
	}
}

static void spread_takes_the_least_loaded_hosts_whatever_their_order(void **state)
{
	static const int orders[][7] = {
		{ 0, 1, 2, 3, 4, 5, 6 }, { 6, 5, 4, 3, 2, 1, 0 },
		{ 3, 0, 6, 1, 5, 2, 4 }, { 5, 6, 0, 4, 3, 1, 2 },
		{ 1, 4, 2, 6, 0, 3, 5 }, { 2, 3, 1, 0, 6, 5, 4 },
		{ 4, 2, 3, 5, 1, 6, 0 }, { 0, 6, 1, 2, 3, 4, 5 },
	};
	static struct vs_adapter device;	/* the adapter keeps it */
	char name[16];

	(void)state;
	device = w.roce;
	w.env.policy = VS_PLACE_SPREAD;
	w.p_roce.memory_mb = 60 * 1024;
	vs_strlcpy(device.pf, W_PF1, sizeof(device.pf));
	vs_strlcpy(w.roce.pf, W_PF0, sizeof(w.roce.pf));
	w.roce.with = &device;
	for (int i = 0; i < 7; i++) {
		snprintf(name, sizeof(name), "esx%02d", i);
		w_pf(host(name, "", 64), W_PF1, 64);
	}
	for (int part = MEMORY; part < PARTS; part++)
		for (size_t i = 0; i < VS_COUNT(orders); i++)
			largest_are_taken(part, orders[i]);
}

/* 4 vCPUs of 12 cores are 0.33 of the CPU, one VF of four is 0.25. */
static void spread_weighs_vcpus_by_the_speed_of_cores(void **state)
{
	(void)state;
	w.env.policy = VS_PLACE_SPREAD;
	host("esx01", "", 64)->cores = 12;
	host("esx02", "", 4);
	place(1);
	assert_int_equal(on("esx02", 1), 1);
}

static void spread_heeds_a_disk_only_among_equals(void **state)
{
	(void)state;
	w.env.policy = VS_PLACE_SPREAD;
	host("esx01", "", 8);
	host("esx02", "", 8);
	host("esx03", "", 8);
	for (int i = 0; i < 3; i++)
		gang[i].prefer_host = "host-esx03";
	place(3);
	assert_int_equal(hosts_used(3), 3);
	assert_string_equal(gang[0].host->name, "esx03");
}

/* ---- pack --------------------------------------------------------------- */

static void pack_uses_the_fewest_hosts(void **state)
{
	(void)state;
	w.env.policy = VS_PLACE_PACK;
	host("esx01", "a", 2);
	host("esx02", "a", 5);
	host("esx03", "a", 3);
	host("esx04", "a", 4);
	place(9);
	assert_int_equal(on("esx02", 9), 5);
	assert_int_equal(on("esx04", 9), 4);
	place(14);
	assert_int_equal(hosts_used(14), 4);
}

static void pack_takes_the_tightest_host_for_the_rest(void **state)
{
	(void)state;
	w.env.policy = VS_PLACE_PACK;
	host("esx01", "a", 8);
	host("esx02", "a", 5);
	host("esx03", "a", 2);
	place(2);
	assert_int_equal(on("esx03", 2), 2);
	place(10);
	assert_int_equal(on("esx01", 10), 8);
	assert_int_equal(on("esx03", 10), 2);
}

static void pack_uses_few_leaves_but_no_host_more(void **state)
{
	(void)state;
	w.env.policy = VS_PLACE_PACK;
	host("esx01", "a", 6);
	host("esx02", "b", 5);
	host("esx03", "b", 5);
	host("esx04", "c", 5);
	place(10);			/* two hosts; leaf b has both */
	assert_int_equal(on("esx02", 10), 5);
	assert_int_equal(on("esx03", 10), 5);
	place(11);			/* two hosts at least, two leaves */
	assert_int_equal(on("esx01", 11), 6);
	assert_int_equal(hosts_used(11), 2);
	place(16);
	assert_int_equal(hosts_used(16), 3);
	assert_false(leaf_is_used("c", 16));
}

static void pack_leaves_the_emptier_leaf_whole(void **state)
{
	(void)state;
	w.env.policy = VS_PLACE_PACK;
	host("esx01", "a", 4);
	host("esx02", "a", 4);
	host("esx03", "b", 4);
	host("esx04", "c", 4);
	host("esx05", "c", 4);
	host("esx06", "d", 9);
	place(4);
	assert_int_equal(on("esx03", 4), 4);
}

/* Four hosts are needed. The leaves with two hosts each are two leaves; with one
 * that has a single host they are three. */
static void pack_opens_the_leaves_that_hold_most(void **state)
{
	(void)state;
	w.env.policy = VS_PLACE_PACK;
	host("esx01", "a", 4);
	host("esx02", "b", 4);
	host("esx03", "c", 4);
	host("esx04", "c", 4);
	host("esx05", "d", 4);
	host("esx06", "d", 4);
	place(16);
	assert_int_equal(hosts_used(16), 4);
	assert_false(leaf_is_used("a", 16));
	assert_false(leaf_is_used("b", 16));
}

static void pack_takes_the_first_of_equal_leaves_by_name(void **state)
{
	(void)state;
	w.env.policy = VS_PLACE_PACK;
	host("esx02", "b", 4);
	host("esx01", "a", 4);
	place(2);
	assert_int_equal(on("esx01", 2), 2);
}

/* The first kind is on esx01, beside which one VM of the second fits. Two more
 * go to a host of the same leaf, though the other leaf is the emptier one. */
static void pack_adds_hosts_of_a_leaf_that_the_gang_uses(void **state)
{
	struct vs_adapter first = w.roce, second = w.roce;
	struct vs_profile p = w.p_roce, q = w.p_roce;

	(void)state;
	w.env.policy = VS_PLACE_PACK;
	w_pf(host("esx01", "b", 4), W_PF1, 1);
	w_pf(host("esx02", "a", 0), W_PF1, 2);
	w_pf(host("esx03", "b", 0), W_PF1, 2);
	vs_strlcpy(first.pf, W_PF0, sizeof(first.pf));
	vs_strlcpy(second.pf, W_PF1, sizeof(second.pf));
	p.adapter = &first;
	q.adapter = &second;
	for (int i = 0; i < 7; i++)
		gang[i].profile = i < 4 ? &p : &q;
	place(7);
	assert_int_equal(on("esx01", 7), 5);
	assert_int_equal(on("esx03", 7), 2);
}

static void pack_heeds_a_disk_only_among_equals(void **state)
{
	(void)state;
	w.env.policy = VS_PLACE_PACK;
	host("esx01", "a", 4);
	host("esx02", "b", 8);
	host("esx03", "b", 8);
	gang[0].prefer_host = "host-esx03";
	place(2);
	assert_int_equal(on("esx03", 2), 2);
	vs_host_get_named(&w.inv, "esx03")->pfs[0].vfs = 3;
	vs_host_get_named(&w.inv, "esx01")->pfs[0].vfs = 2;
	place(2);			/* not the roomiest, nor the tightest */
	assert_int_equal(on("esx03", 2), 2);
	vs_host_get_named(&w.inv, "esx03")->pfs[0].vfs = 8;
	vs_host_get_named(&w.inv, "esx01")->pfs[0].vfs = 4;
	place(8);
	assert_int_equal(on("esx03", 8), 8);
	gang[7].prefer_host = gang[8].prefer_host = "host-esx02";
	place(9);			/* esx01 would be tighter: leaf first */
	assert_int_equal(hosts_used(9), 2);
	assert_false(leaf_is_used("a", 9));
	assert_string_equal(gang[0].host->name, "esx03");
	assert_string_equal(gang[8].host->name, "esx02");
}

/* ---- what an operator wants ---------------------------------------------- */

static void wish(size_t i, const char *moid)
{
	gang[i].prefer_host = moid;
	gang[i].wished = true;
}

static void a_wish_goes_before_any_policy(void **state)
{
	(void)state;
	host("esx01", "a", 8);
	host("esx02", "b", 2);
	host("esx03", "c", 8);
	wish(2, "host-esx02");
	wish(3, "host-esx02");
	wish(4, "host-esx02");		/* for which it has no room */
	for (int p = VS_PLACE_BALANCE; p <= VS_PLACE_SPREAD; p++) {
		w.env.policy = (enum vs_policy)p;
		place(6);
		assert_string_equal(gang[2].host->name, "esx02");
		assert_string_equal(gang[3].host->name, "esx02");
		assert_int_equal(on("esx02", 6), 2);
		/* the rest by the policy: pack takes one host for it */
		assert_int_equal(hosts_used(6), p == VS_PLACE_PACK ? 2 : 3);
	}
}

static void the_request_for_the_first_node_counts(void **state)
{
	struct vs_adapter named = w.roce;
	struct vs_profile p = w.p_roce;

	(void)state;
	w.env.policy = VS_PLACE_SPREAD;
	w_pf(host("esx01", "a", 8), W_PF1, 1);
	host("esx02", "b", 8);
	vs_strlcpy(named.pf, W_PF1, sizeof(named.pf));
	p.adapter = &named;
	gang[1].profile = &p;		/* esx01 alone has that PF */
	wish(0, "host-esx01");
	place(2);
	assert_string_equal(gang[0].host->name, "esx01");
	assert_string_equal(gang[1].host->name, "esx01");
}

/* The disk of another VM is no request: spread takes a host of its own for it. */
static void a_disk_beside_a_request_is_a_preference_only(void **state)
{
	(void)state;
	w.env.policy = VS_PLACE_SPREAD;
	host("esx01", "a", 8);
	host("esx02", "b", 8);
	wish(0, "host-esx01");
	gang[1].prefer_host = "host-esx01";
	place(2);
	assert_string_equal(gang[0].host->name, "esx01");
	assert_string_equal(gang[1].host->name, "esx02");
}

/* It is counted once, and the gang gathers where it is. */
/* Both hosts are filled. Those VMs that lie on one of them stay there, and those
 * that lie nowhere take what is left, whichever come first. */
static void pack_keeps_vms_where_they_lie_on_each_host_that_it_fills(void **state)
{
	static const char *const lie[] = { "host-esx01", "host-esx02" };

	(void)state;
	w.env.policy = VS_PLACE_PACK;
	host("esx01", "", 2);
	host("esx02", "", 2);
	for (size_t i = 0; i < VS_COUNT(lie); i++) {
		gang[2].prefer_host = gang[3].prefer_host = lie[i];
		place(4);
		assert_string_equal(gang[2].host->moid, lie[i]);
		assert_string_equal(gang[3].host->moid, lie[i]);
	}
}

static void pack_fills_the_host_that_is_wished(void **state)
{
	(void)state;
	w.env.policy = VS_PLACE_PACK;
	host("esx01", "a", 8);
	host("esx02", "b", 2);
	wish(2, "host-esx02");
	place(3);
	assert_string_equal(gang[2].host->name, "esx02");
	assert_int_equal(on("esx02", 3), 2);
	assert_int_equal(on("esx01", 3), 1);
}

static void a_wish_keeps_nobody_else_from_a_place(void **state)
{
	struct vs_adapter named = w.roce;
	struct vs_profile p = w.p_roce;

	(void)state;
	vs_strlcpy(named.pf, W_PF1, sizeof(named.pf));
	p.adapter = &named;
	w_pf(w_host(&w, "esx01"), W_PF1, 1);
	host("esx02", "", 1);
	gang[1].profile = &p;		/* esx01 alone has that PF */
	wish(0, "host-esx01");
	for (int i = VS_PLACE_BALANCE; i <= VS_PLACE_SPREAD; i++) {
		w.env.policy = (enum vs_policy)i;
		place(2);
		assert_string_equal(gang[0].host->name, "esx02");
		assert_string_equal(gang[1].host->name, "esx01");
		assert_true(vs_place_could(&w.env, gang, 2));
	}
}

static void pack_of_a_gang_that_spans_many_leaves_is_whole(void **state)
{
	char name[16], leaf[16];

	(void)state;
	w.env.policy = VS_PLACE_PACK;
	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "esx%02d", i);
		snprintf(leaf, sizeof(leaf), "leaf%02d", i);
		host(name, leaf, i < 20 ? 2 : 1);
	}
	place(30);
	assert_int_equal(hosts_used(30), 15);
}

static void pack_puts_a_second_kind_where_the_gang_is(void **state)
{
	(void)state;
	w.env.policy = VS_PLACE_PACK;
	host("esx01", "a", 4);
	host("esx02", "a", 4);
	host("esx03", "b", 4);
	for (int i = 4; i < 12; i++)
		gang[i].profile = &w.p_eth;
	place(12);
	assert_int_equal(hosts_used(12), 1);
	w.p_eth.memory_mb = 250 * 1024;
	w.p_eth.latency_high = true;	/* one a host, beside none */
	place(6);
	assert_int_equal(hosts_used(6), 3);
}

/* ---- PFs of a host ------------------------------------------------------ */

static void the_pf_with_more_free_vfs_is_taken(void **state)
{
	struct vs_host *h = host("esx01", "", 3);

	(void)state;
	w_pf(h, W_PF1, 5);
	place(4);
	assert_string_equal(gang[0].pfs[0]->pci, W_PF1);
	assert_string_equal(gang[1].pfs[0]->pci, W_PF1);
	assert_string_equal(gang[2].pfs[0]->pci, W_PF0);	/* equal: by address */
	assert_string_equal(gang[3].pfs[0]->pci, W_PF1);
}

/* ---- all of them -------------------------------------------------------- */

static void the_same_input_gives_the_same_answer(void **state)
{
	struct vs_place_node first[20];
	char name[16];

	(void)state;
	for (int p = VS_PLACE_BALANCE; p <= VS_PLACE_SPREAD; p++) {
		w.env.policy = p;
		for (int round = 0; round < 2; round++) {
			w_inventory_clear(&w.inv);
			for (int i = 0; i < 10; i++) {	/* any order */
				int k = round ? 9 - i : i;

				snprintf(name, sizeof(name), "esx%02d", k);
				host(name, k & 1 ? "a" : "b", 4 + k % 3);
			}
			place(20);
			for (int i = 0; i < 20; i++) {
				const char *moid = gang[i].host->moid;

				if (!round)
					first[i].prefer_host = vs_strdup(moid);
				else
					assert_string_equal(
						first[i].prefer_host, moid);
				if (round)
					free((char *)first[i].prefer_host);
			}
		}
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(balance_gives_like_hosts_like_numbers),
		TEST(balance_weighs_by_share_and_not_by_number),
		TEST(balance_sees_what_runs_and_what_is_held),
		TEST(balance_counts_the_scarcest_of_vfs_cpu_and_memory),
		TEST(balance_looks_only_at_the_pfs_that_serve),
		TEST(vms_that_reserve_nothing_are_spread_too),
		TEST(equal_hosts_are_taken_by_number_of_vms_then_by_name),
		TEST(a_vm_stays_where_its_disk_is_unless_that_is_full),
		TEST(those_with_a_disk_somewhere_come_first),
		TEST(a_partitions_own_policy_replaces_the_sites),
		TEST(spread_puts_one_vm_on_a_host_while_possible),
		TEST(spread_takes_the_least_loaded_hosts_whatever_their_order),
		TEST(spread_heeds_a_disk_only_among_equals),
		TEST(pack_uses_the_fewest_hosts),
		TEST(pack_takes_the_tightest_host_for_the_rest),
		TEST(pack_uses_few_leaves_but_no_host_more),
		TEST(pack_leaves_the_emptier_leaf_whole),
		TEST(pack_heeds_a_disk_only_among_equals),
		TEST(a_wish_goes_before_any_policy),
		TEST(the_request_for_the_first_node_counts),
		TEST(a_disk_beside_a_request_is_a_preference_only),
		TEST(pack_keeps_vms_where_they_lie_on_each_host_that_it_fills),
		TEST(pack_fills_the_host_that_is_wished),
		TEST(a_wish_keeps_nobody_else_from_a_place),
		TEST(pack_of_a_gang_that_spans_many_leaves_is_whole),
		TEST(pack_puts_a_second_kind_where_the_gang_is),
		TEST(the_pf_with_more_free_vfs_is_taken),
		TEST(the_same_input_gives_the_same_answer),
		TEST(balance_compares_a_share_of_vfs_with_one_of_memory),
		TEST(balance_takes_the_last_vf_of_a_host_last),
		TEST(spread_weighs_vcpus_by_the_speed_of_cores),
		TEST(pack_opens_the_leaves_that_hold_most),
		TEST(pack_takes_the_first_of_equal_leaves_by_name),
		TEST(pack_adds_hosts_of_a_leaf_that_the_gang_uses),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
