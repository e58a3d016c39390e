/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the ends of holds make room for, kept while everything changes, against
 * placement itself: a ledger without those that have gone has so much more
 * room.
 *
 * VS_WORLDS=N: N worlds in place of 60.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>
#include "plan/forecast/timeline.h"
#include "plan_world.h"

#define HOSTS 4
#define IDS 12
#define JOBS 5
#define KINDS 3
#define WORLDS "60"
#define CHANGES 150
#define LIMIT 10000

static struct world w;
static struct vs_timeline t;
static struct vs_free_capacity sums;
static struct vs_host_block bars[HOSTS + 2];
static struct vs_profile p_many;	/* little of everything, for ends that
					 * gain by the VF alone */
static struct vs_capacity_released kept[KINDS];
static uint32_t seed;
static int nhosts;

static uint32_t pick(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static const char *host_name(int i)
{
	static const char *const names[] = { "esx3", "esx1", "esx4", "esx2",
					     "esx9", "esx0" };

	return names[i];
}

static const char *node_name(int id)
{
	static char name[2][16];
	static int turn;

	turn = !turn;
	snprintf(name[turn], sizeof(name[turn]), "vm%d", id);
	return name[turn];
}

static struct vs_place_node like(size_t kind)
{
	struct vs_profile *of[KINDS] = { &w.p_roce, &p_many, &w.p_eth };

	return (struct vs_place_node) { .node = "", .profile = of[kind],
					.net = &w.net };
}

static void host_comes(void)
{
	struct vs_host *h = w_host(&w, host_name(nhosts++));

	w_pf(h, W_PF0, 2);
	w_pf(h, W_PF1, 2);
	h->memory_mb = 40000;
}

static int stage_up(void **state)
{
	(void)state;
	w_init(&w);
	p_many = w.p_roce;
	p_many.memory_mb = 1024;
	p_many.vcpus = 1;
	memset(bars, 0, sizeof(bars));
	for (nhosts = 0; nhosts < HOSTS; )
		host_comes();
	vs_timeline_size(&t, IDS, KINDS);
	w.env.sums = &sums;
	w.env.bars = bars;
	return 0;
}

static int stage_down(void **state)
{
	(void)state;
	for (size_t k = 0; k < KINDS; k++)
		vs_capacity_released_clear(&kept[k]);
	vs_free_capacity_clear(&sums);
	vs_timeline_clear(&t);
	w_clear(&w);
	return 0;
}

/* ---- one change ----------------------------------------------------------------- */

static struct vs_host *some_host(void)
{
	return vs_host_get_named(&w.inv, host_name((int)pick((uint32_t)nhosts)));
}

static void hold_taken(int id, const char *host)
{
	struct vs_claim h = { .id = id, .cpu_mhz = pick(3) * 1000,
			     .mem_mb = 2000 * pick(5), .nvfs = (int)pick(2) };

	vs_strlcpy(h.node, node_name(id), sizeof(h.node));
	snprintf(h.host, sizeof(h.host), "host-%s", host);
	vs_strlcpy(h.vfs[0].pf, pick(2) ? W_PF0 : W_PF1, VS_PCI_LEN);
	vs_ledger_take(&w.ledger, &h, NULL);
}

static void hold_changes(int id)
{
	struct vs_claim *h = vs_ledger_get(&w.ledger, node_name(id));
	struct vs_claim_vf nic = { .automatic = false };

	if (!h) {
		hold_taken(id, some_host()->name);
	} else if (pick(2)) {
		vs_ledger_release(&w.ledger, node_name(id));
	} else {
		vs_strlcpy(nic.pf, pick(2) ? W_PF0 : W_PF1, VS_PCI_LEN);
		vs_ledger_move(&w.ledger, h, some_host()->moid, &nic,
			       h->nvfs);
	}
}

static void host_changes(struct vs_host *h)
{
	switch (pick(4)) {
	case 0:
		h->connected = !h->connected;
		break;
	case 1:
		h->pfs[pick(2)].vfs = (int)pick(4);
		break;
	case 2:
		h->memory_mb = 10000 + pick(4) * 10000;
		break;
	default:
		bars[h->index].avoided = pick(2);
		bars[h->index].pfs = pick(4);
		return;
	}
	vs_host_changed(&w.inv, h);
}

static void vm_changes(void)
{
	static int n;
	char moid[16];
	struct vs_vm *vm;

	snprintf(moid, sizeof(moid), "vm-9%d", n++ % 3);
	vm = vs_vm_get(&w.inv, moid);
	if (!vm)
		vm = w_vm_on(&w, moid, some_host()->name, W_PF0);
	else if (pick(2))
		vs_vm_set_host(&w.inv, vm, some_host()->moid);
	else
		vm->power = pick(2) ? VS_POWER_ON : VS_POWER_OFF;
	vs_vm_changed(&w.inv, vm);
}

static void change(void)
{
	int id = (int)pick(IDS);
	uint32_t job = 1 + pick(JOBS);

	switch (pick(12)) {
	case 0: case 1: case 2:
		hold_changes(id);
		break;
	case 3: case 4:
		vs_timeline_claim(&t, id, job);
		break;
	case 5:
		vs_timeline_let_go(&t, id);
		break;
	case 6: case 7:
		vs_timeline_end(&t, job, 100 * (1 + pick(5)));
		break;
	case 8:
		vs_timeline_forget(&t, job);
		break;
	case 9:
		host_changes(some_host());
		break;
	case 10:
		vm_changes();
		break;
	default:
		if (pick(10))
			break;
		if (nhosts < HOSTS + 2)
			host_comes();
		else if (pick(2))
			w.net.switch_uuid[0] ^= 1;
		else
			w.p_roce.memory_mb ^= 4096;
	}
}

/* ---- judged --------------------------------------------------------------------- */

/* What else there is room for on a host once those have gone that end by then. */
static size_t room(size_t kind, int64_t at)
{
	struct vs_ledger without = { 0 };
	struct vs_place_node one = like(kind);
	struct vs_place_env env = w.env;
	const struct vs_claim *h;
	size_t n;

	TAILQ_INIT(&without.by_change);
	for (h = w.ledger.holds; h; h = h->hh.next) {
		const struct vs_holders *of = t.held[h->id].of;

		if (!of || of->end > at)
			assert_int_equal(vs_ledger_take(&without, h, NULL), 0);
	}
	env.ledger = &without;
	env.sums = NULL;
	n = w_count(&env, &one, LIMIT);
	vs_ledger_clear(&without);
	return n;
}

static void follow(size_t kind)
{
	struct vs_place_node one = like(kind);

	vs_free_capacity_update(&sums, &w.ledger, &w.inv, W_FOLDER,
				W_CLUSTER_ID);
	vs_capacity_released_follow(&kept[kind], &t, &w.env, &one);
}

static void it_is_true(size_t kind)
{
	struct vs_place_node one = like(kind);
	struct vs_capacity_released made = { .turn = 0 };
	size_t now = room(kind, -1);

	follow(kind);
	for (int64_t at = 0; at <= 600; at += 50)
		assert_int_equal(
			vs_curve_released_by(&kept[kind].curve, &t, at),
			room(kind, at) - now);
	/* who gains it doesn't hang on how it came about */
	vs_capacity_released_follow(&made, &t, &w.env, &one);
	for (int id = 0; id < IDS; id++)
		assert_int_equal(kept[kind].curve.gains[id].much,
				 made.curve.gains[id].much);
	vs_capacity_released_clear(&made);
}

/* ---- tests ---------------------------------------------------------------------- */

static void gains_follow_whatever_changes(void **state)
{
	const char *n = getenv("VS_WORLDS");
	unsigned long worlds = strtoul(n ? n : WORLDS, NULL, 10);

	assert_true(worlds > 0);
	for (uint32_t world = 1; world <= worlds; world++) {
		stage_down(state);
		stage_up(state);
		seed = world * 10007;
		for (int i = 0; i < CHANGES; i++) {
			change();
			/* some are asked seldom */
			for (size_t k = 0; k < KINDS; k++)
				if (!pick((uint32_t)k * 4 + 1))
					it_is_true(k);
		}
	}
}

static void one_vf(int id, uint32_t job, int64_t end)
{
	w_hold(&w, node_name(id), "esx1", W_PF0, VS_CLAIM_RESERVED)->id = id;
	vs_timeline_claim(&t, id, job);
	vs_timeline_end(&t, job, end);
}

static void other_ids_are_counted_anew(void **state)
{
	(void)state;
	one_vf(3, 1, 100);
	it_is_true(1);
	assert_int_equal(vs_curve_released_by(&kept[1].curve, &t, 1000), 1);
	vs_timeline_size(&t, IDS, KINDS);
	it_is_true(1);
	assert_int_equal(vs_curve_released_by(&kept[1].curve, &t, 1000), 0);
}

static void one_that_takes_anothers_place_shows(void **state)
{
	(void)state;
	one_vf(3, 1, 100);
	it_is_true(1);
	vs_ledger_release(&w.ledger, node_name(3));
	one_vf(4, 2, 200);	/* the host's sums are what they were */
	it_is_true(1);
	assert_int_equal(vs_curve_released_by(&kept[1].curve, &t, 199), 0);
	assert_int_equal(vs_curve_released_by(&kept[1].curve, &t, 200), 1);
}

static void a_host_that_changed_is_the_only_one_looked_at(void **state)
{
	uint64_t before;

	(void)state;
	for (int id = 0; id < 8; id++) {
		hold_taken(id, host_name(id % HOSTS));
		vs_timeline_claim(&t, id, 1);
	}
	vs_timeline_end(&t, 1, 100);
	follow(0);
	before = sums.turn;
	vs_ledger_release(&w.ledger, node_name(2));
	follow(0);
	for (int i = 0; i < HOSTS; i++)
		assert_int_equal(sums.stamp[i] > before,
				 !strcmp(w.inv.by_index[i]->name,
					 host_name(2)));
}

#define T(f) cmocka_unit_test_setup_teardown(f, stage_up, stage_down)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(gains_follow_whatever_changes),
		T(other_ids_are_counted_anew),
		T(one_that_takes_anothers_place_shows),
		T(a_host_that_changed_is_the_only_one_looked_at),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
