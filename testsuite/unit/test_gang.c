/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan/placement: gangs of several kinds, and exchanges among them. */
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

static void a_gang_is_placed_whole_or_not_at_all(void **state)
{
	static const enum vs_policy all[] = { VS_PLACE_BALANCE, VS_PLACE_PACK,
					      VS_PLACE_SPREAD };

	(void)state;
	host("esx01", "a", 3);
	host("esx02", "b", 2);
	for (size_t p = 0; p < VS_COUNT(all); p++) {
		w.env.policy = all[p];
		place(5);
		assert_int_equal(on("esx01", 5), 3);
		for (int i = 0; i < 6; i++)
			gang[i].host = NULL;
		assert_int_equal(vs_place(&w.env, gang, 6, NULL), -1);
		for (int i = 0; i < 6; i++)
			assert_null(gang[i].host);
	}
}

static struct vs_adapter named;
static struct vs_profile p_named;

/* The first n nodes of the gang ask for W_PF0 by name. */
static void name_pf(size_t from, size_t n)
{
	named = w.roce;
	vs_strlcpy(named.name, "sriov-rail0", sizeof(named.name));
	vs_strlcpy(named.pf, W_PF0, VS_PCI_LEN);
	p_named = w.p_roce;
	p_named.adapter = &named;
	for (size_t i = from; i < from + n; i++)
		gang[i].profile = &p_named;
}

static void the_most_constrained_of_a_mixed_gang_goes_first(void **state)
{
	struct vs_host *h = host("esx01", "", 4);

	(void)state;
	w_pf(h, W_PF1, 4);
	name_pf(4, 4);
	place(8);
	for (int i = 0; i < 4; i++)
		assert_string_equal(gang[i].pfs[0]->pci, W_PF1);
	for (int i = 4; i < 8; i++)
		assert_string_equal(gang[i].pfs[0]->pci, W_PF0);
}

static void two_kinds_share_a_pfs_vfs(void **state)
{
	(void)state;
	host("esx01", "", 5);
	name_pf(0, 3);
	place(5);
	assert_true(vs_place_could(&w.env, gang, 5));
	/* each kind has room, but not beside the other */
	assert_int_equal(vs_place(&w.env, gang, 6, NULL), -1);
	assert_false(vs_place_could(&w.env, gang, 6));
}

/* ---- exchanges ---------------------------------------------------------- */

/* The host reaches that network, which is like the world's but for its name. */
static void reach(struct vs_host *h, struct vs_network *net, const char *moid)
{
	*net = w.net;
	vs_strlcpy(net->moid, moid, sizeof(net->moid));
	vs_strlcpy(h->nets[h->nnets++], moid, VS_MOID_LEN);
	vs_host_changed(&w.inv, h);
}

/* Three VMs of 20 GB fill esx01; one more that only esx01 reaches needs one
 * of them to go to esx02. */
static void a_vm_gives_way_where_another_fits_nowhere_else(void **state)
{
	static struct vs_network elsewhere;
	struct vs_host *a = host("esx01", "", 8), *b = host("esx02", "", 8);

	(void)state;
	w.p_roce.memory_mb = 20 * 1024;
	a->memory_mb = 62 * 1024;
	b->memory_mb = 21 * 1024;
	elsewhere = w.net;
	vs_strlcpy(elsewhere.moid, "dvportgroup-99", VS_MOID_LEN);
	vs_strlcpy(a->nets[a->nnets++], elsewhere.moid, VS_MOID_LEN);
	for (int i = 0; i < 3; i++)
		gang[i].prefer_host = "host-esx01";
	gang[3].net = &elsewhere;
	for (int p = VS_PLACE_BALANCE; p <= VS_PLACE_SPREAD; p++) {
		w.env.policy = p;
		place(4);
		assert_string_equal(gang[3].host->name, "esx01");
		assert_int_equal(on("esx01", 4), 3);
		assert_int_equal(on("esx02", 4), 1);
	}
	/* of two hosts that could take it, the policy's choice */
	host("esx00", "", 8)->memory_mb = 24 * 1024;
	w.env.policy = VS_PLACE_BALANCE;
	place(4);
	assert_int_equal(on("esx00", 4), 1);
	w.env.policy = VS_PLACE_PACK;
	place(4);
	assert_int_equal(on("esx02", 4), 1);
	/* and where that is the first one by name */
	vs_host_get(&w.inv, "host-esx00")->memory_mb = 21 * 1024;
	b->memory_mb = 24 * 1024;
	place(4);
	assert_int_equal(on("esx00", 4), 1);
	assert_int_equal(on("esx01", 4), 3);
}

/* Three VMs fill esx01. One that only esx01 reaches needs one of them to go: to
 * esx03, where the gang is already. esx02 would be fuller, and a host more. */
static void a_vm_gives_way_to_a_host_that_the_gang_uses(void **state)
{
	static struct vs_network here, far;
	static struct vs_profile small;
	struct vs_host *a = host("esx01", "", 8), *c;

	(void)state;
	w.env.policy = VS_PLACE_PACK;
	small = w.p_roce;
	small.memory_mb = 10 * 1024;
	w.p_roce.memory_mb = 20 * 1024;
	a->memory_mb = 62 * 1024;
	host("esx02", "", 8)->memory_mb = 21 * 1024;
	c = host("esx03", "", 8);
	c->memory_mb = 42 * 1024;
	reach(c, &far, "net-far");
	reach(a, &here, "net-here");
	gang[3].net = &far;
	gang[4].net = &here;
	gang[3].profile = gang[4].profile = &small;
	place(5);
	assert_string_equal(gang[4].host->name, "esx01");
	assert_int_equal(on("esx01", 5), 3);
	assert_int_equal(on("esx03", 5), 2);
}

/* It is on the host where its disk is, which is no operator's request: it gives
 * way, and the request for another VM's host is kept. */
static void a_disk_keeps_no_vm_from_giving_way(void **state)
{
	static struct vs_network here;
	struct vs_host *a = host("esx01", "", 8);

	(void)state;
	w.env.policy = VS_PLACE_PACK;
	w.p_roce.memory_mb = 20 * 1024;
	a->memory_mb = 62 * 1024;
	host("esx02", "", 8)->memory_mb = 21 * 1024;
	host("esx03", "", 8)->memory_mb = 1024;
	reach(a, &here, "net-here");
	for (int i = 0; i < 3; i++)
		gang[i].prefer_host = "host-esx01";
	gang[3].net = &here;
	w.p_eth.memory_mb = 256;
	gang[4].profile = &w.p_eth;
	gang[4].prefer_host = "host-esx03";
	gang[4].wished = true;
	place(5);
	assert_string_equal(gang[3].host->name, "esx01");
	assert_string_equal(gang[4].host->name, "esx03");
	assert_int_equal(on("esx01", 5), 3);
	assert_int_equal(on("esx02", 5), 1);
}

/* Of the three on esx01, only one on the PF that is asked for helps. */
static void the_one_on_the_right_pf_gives_way(void **state)
{
	(void)state;
	w_pf(host("esx01", "", 2), W_PF1, 1);
	w_pf(w_host(&w, "esx02"), W_PF1, 1);
	for (int i = 0; i < 3; i++)
		gang[i].prefer_host = "host-esx01";
	name_pf(3, 1);
	place(4);
	assert_string_equal(gang[3].pfs[0]->pci, W_PF0);
	assert_int_equal(on("esx01", 4), 3);
}

/* The VM that could move is too small to make room. */
static void a_vm_does_not_give_way_in_vain(void **state)
{
	static struct vs_network elsewhere;
	static struct vs_profile small;
	struct vs_host *a = host("esx01", "", 8);
	struct vs_err err = { 0 };

	(void)state;
	elsewhere = w.net;
	vs_strlcpy(elsewhere.moid, "dvportgroup-99", VS_MOID_LEN);
	vs_strlcpy(a->nets[a->nnets++], elsewhere.moid, VS_MOID_LEN);
	host("esx02", "", 8)->memory_mb = 1200;
	small = w.p_eth;
	small.memory_mb = 1024;
	gang[0].profile = &small;
	gang[0].prefer_host = "host-esx01";
	for (int i = 1; i < 4; i++)
		gang[i].net = &elsewhere;
	a->memory_mb = 3 * (8192 + vs_overhead_mb(4, 8192)) + 50;
	place(4);				/* the small one moves away */
	assert_string_equal(gang[0].host->name, "esx02");
	gang[0].net = &elsewhere;
	assert_int_equal(vs_place(&w.env, gang, 4, &err), -1);
	assert_int_equal(w_refusal(&err, "esx01"), VS_REFUSE_MEMORY);
}

static void what_is_too_small_to_help_stays(void **state)
{
	struct vs_host *a = host("esx01", "", 8), *b = host("esx02", "", 8);
	static struct vs_profile small;
	int64_t one = 8192 + vs_overhead_mb(4, 8192);

	(void)state;
	small = w.p_eth;
	small.memory_mb = 1024;
	/* each holds one and nearly two */
	a->memory_mb = b->memory_mb = 2 * one - 1;
	gang[0].profile = gang[1].profile = &small;
	place(4);
	gang[4] = gang[0];
	gang[5] = gang[3];
	assert_int_equal(vs_place(&w.env, gang, 6, NULL), -1);
}

static struct vs_network nets[3];

/* A host with one VF that reaches some of three networks. */
static struct vs_host *one_vf(const char *name, bool x, bool y, bool z)
{
	struct vs_host *h = host(name, "", 1);

	for (int i = 0; i < 3; i++) {
		nets[i] = w.net;
		snprintf(nets[i].moid, sizeof(nets[i].moid), "net-%d", i);
		if (i == 0 ? x : i == 1 ? y : z)
			vs_strlcpy(h->nets[h->nnets++], nets[i].moid,
				   VS_MOID_LEN);
	}
	return h;
}

static void one_gives_way_to_one_that_gives_way(void **state)
{
	(void)state;
	one_vf("esx1a", true, true, false);
	one_vf("esx1b", true, true, false);
	one_vf("esx2", false, true, true);
	one_vf("esx3", false, false, true);
	gang[0].net = &nets[2];
	gang[0].prefer_host = "host-esx2";
	gang[1].net = gang[2].net = &nets[1];
	gang[1].prefer_host = "host-esx1a";
	gang[2].prefer_host = "host-esx1b";
	gang[3].net = &nets[0];
	place(4);
	assert_string_equal(gang[0].host->name, "esx3");
	assert_int_equal(on("esx2", 4), 1);
	assert_int_equal(on("esx1a", 4), 1);
	assert_int_equal(on("esx1b", 4), 1);
	for (int i = 0; i < 4; i++)
		assert_true(vs_host_has_net(gang[i].host, gang[i].net->moid));
}

#define PAIRS 5

/*
 * Five VMs lie on esx10, which they fill, and each could be on a host of its
 * own as well. Five more can be on esx10 and, one of them, on esx11. In
 * whatever order they are placed, four of the first five must give way to them.
 * Those are more than there are other orders to try.
 */
static void in_each_others_way(struct vs_place_node *g)
{
	static struct vs_network here[PAIRS], both;
	static struct vs_profile sizes[PAIRS];
	struct vs_host *a = host("esx10", "", PAIRS);
	char name[16];

	reach(a, &both, "net-both");
	reach(host("esx11", "", 1), &both, "net-both");
	for (int i = 0; i < PAIRS; i++) {
		snprintf(name, sizeof(name), "net-%d", i);
		reach(a, &here[i], name);
		snprintf(name, sizeof(name), "esx2%d", i);
		reach(host(name, "", 1), &here[i], here[i].moid);
		sizes[i] = w.p_roce;
		sizes[i].memory_mb = 1024 + i;	/* kinds of their own */
		g[i] = (struct vs_place_node) {
			.node = "lies", .profile = &w.p_roce, .net = &here[i],
			.prefer_host = "host-esx10",
		};
		g[PAIRS + i] = (struct vs_place_node) {
			.node = "comes", .profile = &sizes[i], .net = &both,
		};
	}
}

static void assert_out_of_the_way(const struct vs_place_node *g)
{
	int lie = 0, came = 0;

	for (int i = 0; i < 2 * PAIRS; i++) {
		bool there = !strcmp(g[i].host->name, "esx10");

		assert_true(vs_host_has_net(g[i].host, g[i].net->moid));
		*(i < PAIRS ? &lie : &came) += there;
	}
	assert_int_equal(lie, 1);
	assert_int_equal(came, PAIRS - 1);
}

static void exchanges_do_what_no_order_does(void **state)
{
	(void)state;
	in_each_others_way(gang);
	for (int p = VS_PLACE_BALANCE; p <= VS_PLACE_PACK; p++) {
		w.env.policy = (enum vs_policy)p;
		place(2 * PAIRS);
		assert_out_of_the_way(gang);
	}
}

/* The tries are for hosts where one VM could take another's place: three hosts
 * before them with 72 VMs that couldn't use none up. */
static void exchanges_are_tried_where_they_could_help(void **state)
{
	static struct vs_place_node g[3 * VS_HOST_PFS + 2 * PAIRS];
	struct vs_network far;
	struct vs_err err = { 0 };
	char name[16];

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct vs_host *h = w_host(&w, i == 0 ? "esx01" :
					   i == 1 ? "esx02" : "esx03");

		for (int k = 0; k < VS_HOST_PFS; k++) {
			snprintf(name, sizeof(name), "0000:%02x:00.0", k);
			w_pf(h, name, 1);
		}
		reach(h, &far, "net-far");
	}
	in_each_others_way(g);
	for (size_t i = 2 * PAIRS; i < VS_COUNT(g); i++)
		g[i] = (struct vs_place_node) {
			.node = "far", .profile = &w.p_roce, .net = &far,
		};
	if (vs_place(&w.env, g, VS_COUNT(g), &err))
		fail_msg("%s", err.text);
	assert_out_of_the_way(g);
}

/* Of two VMs of one kind, the one without an operator's request gives way. */
static void a_vm_on_the_host_that_is_requested_stays(void **state)
{
	struct vs_host *a = host("esx01", "", 2);
	static struct vs_network here;

	(void)state;
	host("esx02", "", 1);
	reach(a, &here, "net-here");
	gang[2].net = &here;
	for (int i = 0; i < 2; i++) {
		gang[0].prefer_host = gang[1].prefer_host = "host-esx01";
		gang[i].wished = true;
		gang[!i].wished = false;
		place(3);
		assert_string_equal(gang[i].host->name, "esx01");
		assert_string_equal(gang[!i].host->name, "esx02");
		assert_string_equal(gang[2].host->name, "esx01");
	}
}

/* gang[2] is of a kind with gang[3] and gang[4]. It stays where its disk is
 * when the last of them takes another VM's place; that there is a resource
 * pool, which has room for all, is no matter. */
static void an_exchange_moves_no_vm_that_is_not_in_the_way(void **state)
{
	static struct vs_network x, y, z;
	struct vs_host *a = host("esx01", "", 1), *b = host("esx02", "", 2),
		*slow = host("esx03", "", 1), *away = host("esx04", "", 1);

	(void)state;
	slow->core_mhz = 1000;
	vs_hosts_reordered(&w.inv);
	reach(a, &x, "net-x");
	reach(b, &x, "net-x");
	reach(slow, &x, "net-x");
	reach(a, &y, "net-y");
	reach(away, &y, "net-y");
	reach(b, &z, "net-z");
	gang[0].net = &z;
	gang[1].net = &y;
	gang[1].prefer_host = "host-esx01";
	gang[2] = gang[4];
	for (int i = 2; i < 5; i++)
		gang[i].net = &x;
	gang[2].prefer_host = "host-esx02";
	vs_shared_capacity_begin(&w.inv);
	vs_shared_capacity_set_pool(&w.inv, "domain-c1", "slurm", 1000000,
				    1000000);
	vs_shared_capacity_end(&w.inv);
	place(5);
	assert_string_equal(gang[2].host->name, "esx02");
	assert_string_equal(gang[1].host->name, "esx04");
}

#define SIDE 6			/* hosts and VMs of a small world */

/* Can VMs from i on be given hosts that they reach and that are free, one each?
 * bits: SIDE * VM + host, set where the VM reaches the host. */
static bool matched(uint64_t bits, int i, unsigned int taken)
{
	for (int h = 0; i < SIDE && h < SIDE; h++)
		if (bits >> (SIDE * i + h) & 1 && !(taken >> h & 1) &&
		    matched(bits, i + 1, taken | 1u << h))
			return true;
	return i == SIDE;
}

/* About one in three. */
static uint64_t draw_bits(uint64_t *seed)
{
	uint64_t bits = 0;

	for (int i = 0; i < SIDE * SIDE; i++) {
		*seed ^= *seed << 13;
		*seed ^= *seed >> 7;
		*seed ^= *seed << 17;
		bits |= (uint64_t)((*seed >> 20) % 100 < 35) << i;
	}
	return bits;
}

/* Hosts of one VF each, VMs of a kind each: which reaches which is drawn. */
static void what_any_order_of_hosts_holds_is_placed(void **state)
{
	static struct vs_network each[SIDE];
	struct vs_host *hosts[SIDE];
	uint64_t seed = 88172645463325252ull;
	int could = 0, cannot = 0;
	char name[16];

	(void)state;
	for (int h = 0; h < SIDE; h++) {
		snprintf(name, sizeof(name), "esx%02d", h);
		hosts[h] = host(name, "", 1);
	}
	for (int world = 0; world < 3000; world++) {
		uint64_t bits = draw_bits(&seed);
		bool can = matched(bits, 0, 0);

		for (int h = 0; h < SIDE; h++)
			hosts[h]->nnets = 0;
		for (int i = 0; i < SIDE * SIDE; i++) {
			snprintf(name, sizeof(name), "net-%d", i / SIDE);
			if (bits >> i & 1)
				reach(hosts[i % SIDE], &each[i / SIDE], name);
			gang[i / SIDE].net = &each[i / SIDE];
		}
		w.env.policy = (enum vs_policy)(world % 3);
		if (vs_place(&w.env, gang, SIDE, NULL) != (can ? 0 : -1))
			fail_msg("world %d can%s be placed", world,
				 can ? "" : "not");
		*(can ? &could : &cannot) += 1;
	}
	assert_true(could > 500 && cannot > 500);
}

static void a_gang_that_cannot_be_comes_to_an_end(void **state)
{
	char name[16];

	(void)state;
	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "esx%02d", i);
		host(name, "", 4);
	}
	vs_host_get_named(&w.inv, "esx07")->maintenance = true;
	vs_host_get_named(&w.inv, "esx00")->pfs[0].vfs = 2;
	w_pf(vs_host_get_named(&w.inv, "esx00"), W_PF1, 2);
	name_pf(0, 20);			/* 36 VFs, 20 and 17 are asked */
	for (int p = VS_PLACE_BALANCE; p <= VS_PLACE_SPREAD; p++) {
		w.env.policy = p;
		place(36);
		for (int i = 0; i < 37; i++)
			gang[i].host = NULL;
		assert_int_equal(vs_place(&w.env, gang, 37, NULL), -1);
		for (int i = 0; i < 37; i++)
			assert_null(gang[i].host);
	}
}

static bool avoid_esx02(void *arg, const struct vs_host *h,
			const struct vs_pf *pf, char *why, size_t size)
{
	(void)arg, (void)pf, (void)why, (void)size;
	return !strcmp(h->name, "esx02");
}

static void an_exchange_never_uses_an_avoided_host(void **state)
{
	struct vs_err err = { 0 };

	(void)state;
	w.env.avoid = avoid_esx02;
	host("esx01", "", 2);
	host("esx02", "", 8);
	name_pf(0, 1);
	gang[1].net = gang[2].net = &w.net;
	assert_int_equal(vs_place(&w.env, gang, 3, &err), -1);
	assert_int_equal(w_refusal(&err, "esx01"), VS_REFUSE_VF);
	assert_int_equal(w_refusal(&err, "esx02"), VS_REFUSE_EXCLUDED);
}

/* Forty kinds on one host are more than one exchange looks at. */
static void a_host_full_of_kinds_is_no_trouble(void **state)
{
	static struct vs_profile kinds[40];

	(void)state;
	for (int i = 0; i < 40; i++) {
		kinds[i] = w.p_roce;
		kinds[i].memory_mb = 1024 + i * 128;
		gang[i].profile = &kinds[i];
	}
	host("esx01", "", 40);
	place(40);
	assert_int_equal(on("esx01", 40), 40);
	assert_int_equal(vs_place(&w.env, gang, 41, NULL), -1);
}

static void nodes_of_another_size_are_another_kind(void **state)
{
	static struct vs_profile more_cpu, more_memory, latency, reserves;
	int64_t each = 8192 + vs_overhead_mb(4, 8192);

	(void)state;
	more_cpu = more_memory = latency = reserves = w.p_roce;
	more_cpu.vcpus = 5;
	more_memory.memory_mb = 9000;
	latency.latency_high = true;
	gang[1].profile = &more_cpu;
	gang[2].profile = &more_memory;
	gang[3].profile = &latency;
	host("esx01", "", 8)->memory_mb = 4 * each +
		(9000 - 8192) * 101 / 100 + 8 + 1;
	place(4);
	/* each one's need is its own */
	w.inv.by_index[0]->memory_mb -= 10;
	assert_int_equal(vs_place(&w.env, gang, 4, NULL), -1);
	w.inv.by_index[0]->memory_mb += 10;
	w.inv.by_index[0]->cores = 3;
	assert_int_equal(vs_place(&w.env, gang, 4, NULL), -1);
	gang[3].profile = &w.p_roce;
	place(4);
	reserves.hw.cpu_mhz = 5999;	/* of 3 x 2000 */
	gang[3].profile = &reserves;
	place(4);
	gang[2].profile = &reserves;
	assert_int_equal(vs_place(&w.env, gang, 4, NULL), -1);
}

static void a_packed_second_kind_stays_on_the_gangs_leaf(void **state)
{
	(void)state;
	w.env.policy = VS_PLACE_PACK;
	host("esx01", "a", 0);
	host("esx02", "a", 0);
	host("esx03", "b", 4);
	host("esx04", "b", 0);
	w.p_eth.memory_mb = 100 * 1024;		/* two a host */
	w.p_eth.latency_high = true;
	for (int i = 4; i < 7; i++)
		gang[i].profile = &w.p_eth;
	gang[4].prefer_host = "host-esx01";
	gang[5].prefer_host = "host-esx04";
	place(7);
	assert_int_equal(on("esx03", 7), 6);
	assert_string_equal(gang[5].host->name, "esx04");
	assert_int_equal(on("esx04", 7), 1);
	gang[5].prefer_host = NULL;
	for (int i = 7; i < 10; i++)		/* two hosts more */
		gang[i].profile = &w.p_eth;
	place(10);
	assert_int_equal(on("esx03", 10), 6);
	assert_int_equal(on("esx01", 10), 2);	/* where one's disk is */
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_gang_is_placed_whole_or_not_at_all),
		TEST(the_most_constrained_of_a_mixed_gang_goes_first),
		TEST(two_kinds_share_a_pfs_vfs),
		TEST(a_vm_gives_way_where_another_fits_nowhere_else),
		TEST(the_one_on_the_right_pf_gives_way),
		TEST(a_vm_does_not_give_way_in_vain),
		TEST(what_is_too_small_to_help_stays),
		TEST(one_gives_way_to_one_that_gives_way),
		TEST(exchanges_do_what_no_order_does),
		TEST(exchanges_are_tried_where_they_could_help),
		TEST(a_vm_on_the_host_that_is_requested_stays),
		TEST(an_exchange_moves_no_vm_that_is_not_in_the_way),
		TEST(what_any_order_of_hosts_holds_is_placed),
		TEST(a_gang_that_cannot_be_comes_to_an_end),
		TEST(an_exchange_never_uses_an_avoided_host),
		TEST(a_host_full_of_kinds_is_no_trouble),
		TEST(nodes_of_another_size_are_another_kind),
		TEST(a_packed_second_kind_stays_on_the_gangs_leaf),
		TEST(a_vm_gives_way_to_a_host_that_the_gang_uses),
		TEST(a_disk_keeps_no_vm_from_giving_way),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("gang", tests, NULL, NULL);
}
