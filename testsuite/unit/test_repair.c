/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes that are powered down and would stay unusable for ever, with the real
 * record: each state that Slurm's flags can make, with and without jobs, in and
 * out of Slurm's bitmaps. What is put right, and what must be left alone.
 */
#include "plugins/slurm/compat.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include "cmocka_range.h"
#include "plugins/slurm_ops/ops.h"
#include "plugins/slurm_ops/ops_i.h"
#include "util/mem.h"

bitstr_t *avail_node_bitmap, *idle_node_bitmap, *booting_node_bitmap;
bitstr_t *power_node_bitmap, *power_down_node_bitmap, *power_up_node_bitmap;
bitstr_t *share_node_bitmap, *up_node_bitmap;
time_t last_node_update;
static node_record_t node;
static int locked;

void vs_lock_write(void) { locked++; }
void vs_unlock_write(void) { locked--; }
void make_node_avail(node_record_t *n) { bit_set(avail_node_bitmap, n->index); }
void vs_node_bits_powered_down(node_record_t *n)
{
	bit_clear(booting_node_bitmap, n->index);
}

node_record_t *vs_slurm_node_next(const char *name, int *next)
{
	(void)next;
	assert_int_equal(locked, 1);
	return strcmp(name, "vm1") ? NULL : &node;
}

#define GOOD (NODE_STATE_CLOUD | NODE_STATE_POWERED_DOWN)

static bitstr_t **const counted[] = { &avail_node_bitmap, &idle_node_bitmap,
				      &up_node_bitmap, &share_node_bitmap };

static void set(uint32_t state, bool in)
{
	node.node_state = state;
	for (size_t i = 0; i < VS_COUNT(counted); i++)
		if (in)
			bit_set(*counted[i], 0);
		else
			bit_clear(*counted[i], 0);
}

static bool all_in(void)
{
	for (size_t i = 0; i < VS_COUNT(counted); i++)
		if (!bit_test(*counted[i], 0))
			return false;
	return true;
}

static void a_node_that_no_job_has_is_idle(void **state)
{
	static const uint32_t bases[] = { NODE_STATE_ALLOCATED, NODE_STATE_MIXED,
					  NODE_STATE_IDLE };

	(void)state;
	for (size_t i = 0; i < VS_COUNT(bases); i++)
		for (int silent = 0; silent < 2; silent++)
			for (int in = 0; in < 2; in++) {
				set(bases[i] | GOOD |
				    (silent ? NODE_STATE_NO_RESPOND : 0), in);
				vs_slurm_node_repair(&node);
				assert_int_equal(node.node_state,
						 NODE_STATE_IDLE | GOOD);
				assert_true(all_in());
				assert_false(vs_slurm_node_stuck(&node));
			}
}

static void one_bitmap_that_lacks_it_is_enough(void **state)
{
	(void)state;
	for (size_t i = 0; i < VS_COUNT(counted); i++) {
		set(NODE_STATE_IDLE | GOOD, true);
		assert_false(vs_slurm_node_stuck(&node));
		bit_clear(*counted[i], 0);
		assert_true(vs_slurm_node_stuck(&node));
		vs_slurm_node_repair(&node);
		assert_true(all_in());
	}
	/* not the one for sharing while a job's whole node is counted */
	set(NODE_STATE_IDLE | GOOD, true);
	node.no_share_job_cnt = 1;
	bit_clear(share_node_bitmap, 0);
	assert_false(vs_slurm_node_stuck(&node));
	node.no_share_job_cnt = 0;
}

static void a_job_keeps_its_node(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		node.run_job_cnt = i == 0;
		node.comp_job_cnt = i == 1;
		node.sus_job_cnt = i == 2;
		set(NODE_STATE_ALLOCATED | GOOD, false);
		vs_slurm_node_repair(&node);
		assert_int_equal(node.node_state, NODE_STATE_ALLOCATED | GOOD);
		assert_false(all_in());
	}
	node.sus_job_cnt = 0;
}

/* Whatever flag is set besides, also one of a release that is yet to come. */
static void whatever_else_is_going_on_is_left_alone(void **state)
{
	const uint32_t repaired = NODE_STATE_RES | NODE_STATE_CLOUD |
		NODE_STATE_DRAIN | NODE_STATE_NO_RESPOND |
		NODE_STATE_POWERED_DOWN | NODE_STATE_FAIL | NODE_STATE_MAINT |
		NODE_STATE_DYNAMIC_FUTURE | NODE_STATE_PLANNED |
		NODE_STATE_DYNAMIC_NORM;

	(void)state;
	for (int bit = 4; bit < 32; bit++) {
		uint32_t flag = (uint32_t)1 << bit;

		set(NODE_STATE_ALLOCATED | GOOD | flag, true);
		vs_slurm_node_repair(&node);
		assert_int_equal(node.node_state & NODE_STATE_BASE,
				 flag & repaired ? NODE_STATE_IDLE :
				 NODE_STATE_ALLOCATED);
	}
	/* nor one that isn't powered down, nor one that is DOWN */
	set(NODE_STATE_ALLOCATED | NODE_STATE_CLOUD, false);
	assert_false(vs_slurm_node_stuck(&node));
	set(NODE_STATE_DOWN | GOOD, false);
	assert_false(vs_slurm_node_stuck(&node));
}

/* As slurmctld's SlurmdTimeout and then power saving leave it. */
static void set_down(const char *reason, uint32_t more)
{
	set(NODE_STATE_DOWN | GOOD | more, false);
	xfree(node.reason);
	node.reason = xstrdup(reason);
}

static void a_node_that_was_down_for_its_silence_returns(void **state)
{
	(void)state;
	for (uint16_t returns = 1; returns <= 2; returns++) {
		slurm_conf.ret2service = returns;
		set_down("Not responding", 0);
		vs_slurm_node_repair(&node);
		assert_int_equal(node.node_state, NODE_STATE_IDLE | GOOD);
		assert_null(node.reason);
		assert_true(all_in());
		assert_false(vs_slurm_node_stuck(&node));
	}
}

static void a_node_that_is_down_for_anything_else_stays_down(void **state)
{
	static const struct { const char *reason; uint32_t more; } rows[] = {
		{ "cables", 0 }, { NULL, 0 }, { "ResumeTimeout reached", 0 },
		{ "slurm-vsphere: VM could not be had", 0 },
		{ "Not responding", NODE_STATE_DRAIN },
		{ "Not responding", NODE_STATE_FAIL },
		{ "Not responding", NODE_STATE_POWERING_DOWN },
	};

	(void)state;
	slurm_conf.ret2service = 2;
	for (size_t i = 0; i < VS_COUNT(rows); i++) {
		set_down(rows[i].reason, rows[i].more);
		vs_slurm_node_repair(&node);
		assert_int_equal(node.node_state,
				 NODE_STATE_DOWN | GOOD | rows[i].more);
		assert_false(all_in());
	}
	/* an administrator returns it: ReturnToService=0 */
	slurm_conf.ret2service = 0;
	set_down("Not responding", 0);
	assert_false(vs_slurm_node_stuck(&node));
	/* or it is up, and may register */
	slurm_conf.ret2service = 2;
	set_down("Not responding", 0);
	node.node_state &= ~NODE_STATE_POWERED_DOWN;
	assert_false(vs_slurm_node_stuck(&node));
	xfree(node.reason);
}

static void a_drain_stays(void **state)
{
	(void)state;
	set(NODE_STATE_ALLOCATED | GOOD | NODE_STATE_DRAIN, false);
	vs_slurm_node_repair(&node);
	assert_int_equal(node.node_state,
			 NODE_STATE_IDLE | GOOD | NODE_STATE_DRAIN);
	assert_false(bit_test(avail_node_bitmap, 0));
	assert_false(vs_slurm_node_stuck(&node));
}

/* Its VM was off, so that it is powered down by force: no guest registers. */
static void a_node_that_is_to_go_down_is_idle_without_a_job(void **state)
{
	static const uint32_t bases[] = { NODE_STATE_ALLOCATED, NODE_STATE_MIXED,
					  NODE_STATE_IDLE };
	const uint32_t flags = NODE_STATE_CLOUD | NODE_STATE_POWER_DOWN |
		NODE_STATE_NO_RESPOND;

	(void)state;
	for (size_t i = 0; i < VS_COUNT(bases); i++) {
		set(bases[i] | flags, false);
		vs_slurm_node_emptied(&node);
		assert_int_equal(node.node_state, NODE_STATE_IDLE | flags);
		assert_false(bit_test(avail_node_bitmap, 0));
		for (int k = 0; k < 3; k++) {
			node.run_job_cnt = k == 0;
			node.comp_job_cnt = k == 1;
			node.sus_job_cnt = k == 2;
			set(bases[i] | flags, false);
			vs_slurm_node_emptied(&node);
			assert_int_equal(node.node_state, bases[i] | flags);
		}
		node.sus_job_cnt = 0;
	}
	/* one that is not to go down registers, and one that is DOWN stays so */
	set(NODE_STATE_ALLOCATED | NODE_STATE_CLOUD, false);
	vs_slurm_node_emptied(&node);
	assert_int_equal(node.node_state, NODE_STATE_ALLOCATED | NODE_STATE_CLOUD);
	set(NODE_STATE_DOWN | flags, false);
	vs_slurm_node_emptied(&node);
	assert_int_equal(node.node_state, NODE_STATE_DOWN | flags);
}

static bool kept(uint32_t state, time_t ago, uint16_t timeout)
{
	time_t at = time(NULL) - ago;

	set(state, true);
	bit_set(booting_node_bitmap, 0);
	node.boot_req_time = at;
	node.resume_timeout = timeout;
	vs_slurm_node_boot_kept(&node);
	/* or a guest that has booted since would be refused */
	assert_int_equal(node.boot_req_time, at);
	assert_int_equal(node.node_state, state);
	return !bit_test(booting_node_bitmap, 0);
}

static void an_old_boot_is_not_ended_and_its_guest_not_refused(void **state)
{
	const uint32_t boots = NODE_STATE_ALLOCATED | NODE_STATE_CLOUD |
		NODE_STATE_POWERING_UP | NODE_STATE_NO_RESPOND;

	(void)state;
	slurm_conf.resume_timeout = 60;
	assert_true(kept(boots, 35, 60));
	assert_true(kept(boots, 1000, 60));
	assert_false(kept(boots, 25, 60));
	assert_false(kept(boots & ~NODE_STATE_POWERING_UP, 1000, 60));
	/* no limit of the node's own */
	assert_true(kept(boots, 35, NO_VAL16));
	assert_false(kept(boots, 25, NO_VAL16));
	assert_true(kept(boots, 35, 0));
	assert_false(kept(boots, 35, 600));
	bit_clear(booting_node_bitmap, 0);
}

static void names_that_are_no_more_are_passed_over(void **state)
{
	static const char *const names[] = { "gone", "vm1" };

	(void)state;
	set(NODE_STATE_ALLOCATED | GOOD, false);
	vs_slurm_nodes_repair(names, 2);
	assert_true(all_in());
	assert_int_equal(locked, 0);
	vs_slurm_nodes_repair(names, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_that_no_job_has_is_idle),
		cmocka_unit_test(one_bitmap_that_lacks_it_is_enough),
		cmocka_unit_test(a_job_keeps_its_node),
		cmocka_unit_test(whatever_else_is_going_on_is_left_alone),
		cmocka_unit_test(a_node_that_was_down_for_its_silence_returns),
		cmocka_unit_test(
			a_node_that_is_down_for_anything_else_stays_down),
		cmocka_unit_test(a_drain_stays),
		cmocka_unit_test(a_node_that_is_to_go_down_is_idle_without_a_job),
		cmocka_unit_test(an_old_boot_is_not_ended_and_its_guest_not_refused),
		cmocka_unit_test(names_that_are_no_more_are_passed_over),
	};

	node.name = "vm1";
	for (size_t i = 0; i < VS_COUNT(counted); i++)
		*counted[i] = bit_alloc(1);
	booting_node_bitmap = bit_alloc(1);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
