/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The select plugin's decision, between a core and a stock plugin that the test
 * plays (select_stage.c). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "select_stage.h"

/* ---- run now ------------------------------------------------------------------------ */

static void warm_comes_before_off_and_off_before_new(void **state)
{
	(void)state;
	w.avail[6] = VS_AVAIL_WARM;
	w.avail[3] = VS_AVAIL_OFF;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 3, 3, 3), 0);
	nodes_are("036");
	assert_true(w.weights[6] < w.weights[3]);
	assert_true(w.weights[3] < w.weights[0]);
	assert_int_equal(w.asked, 1);
}

/* What Slurm writes for a node that is powered down, in 22.05: the flag only
 * where some of the same configuration are up. */
static void powered_down(int node, bool flag, uint32_t weight)
{
	node_record_table_ptr[node]->config_ptr->weight = weight;
	node_record_table_ptr[node]->sched_weight =
		(flag ? UINT64_C(0x20000000000) : 0) |
		(UINT64_C(0xfffffffe) << 8) | 0xff;
}

static void warm_comes_before_off_whatever_its_weight(void **state)
{
	(void)state;
	for (int i = 0; i < NODES; i++)
		powered_down(i, i % 2, 1);
	w.avail[6] = VS_AVAIL_WARM;
	node_record_table_ptr[6]->sched_weight = (9 << 8) | 0xff;
	w.avail[3] = VS_AVAIL_OFF;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 2, 2, 2), 0);
	nodes_are("36");
}

static void an_administrators_weight_counts_more_than_what_exists(void **state)
{
	(void)state;
	for (int i = 0; i < NODES; i++)
		powered_down(i, i % 2, 2);
	w.avail[6] = VS_AVAIL_OFF;
	powered_down(4, true, 1);
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 2, 2, 2), 0);
	nodes_are("46");
}

static void backfill_prefers_the_same(void **state)
{
	(void)state;
	w.avail[6] = VS_AVAIL_WARM;
	w.avail[3] = VS_AVAIL_OFF;
	/* left over from another job's test, when it still was off */
	powered_down(6, true, 1);
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 2, 2, 2), 0);
	nodes_are("36");
}

static void weights_are_slurms_again_afterwards(void **state)
{
	(void)state;
	ask(SELECT_MODE_RUN_NOW, 1, 1, 1);
	for (int i = 0; i < NODES; i++)
		assert_int_equal(node_record_table_ptr[i]->sched_weight,
				 (1 << 8) | 0xff);
}

static void a_node_that_cannot_be_served_is_left_out(void **state)
{
	(void)state;
	w.avail[0] = w.avail[1] = VS_AVAIL_NONE;
	node_record_table_ptr[0]->sched_weight = 0xff;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 2, 2, 2), 0);
	assert_int_equal(w.asked, 1);
	nodes_are("23");
}

static void a_node_that_the_job_names_is_never_left_out(void **state)
{
	(void)state;
	require("1");
	w.avail[1] = VS_AVAIL_NONE;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 2, 2, 2), ESLURM_NODES_BUSY);
	assert_int_equal(w.refused, 1);
	assert_null(job.job_resrcs);
}

static void a_shortage_lowers_what_stock_may_take(void **state)
{
	(void)state;
	w.room = w.vfs = 3;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 2, 6, 5), 0);
	assert_int_equal(w.max[0], 3);
	assert_int_equal(w.req[0], 3);
	nodes_are("012");
}

static void all_stay_to_choose_from_in_a_shortage(void **state)
{
	(void)state;
	w.room = w.vfs = 2;
	for (int i = 0; i < 6; i++)
		w.busy[i] = true;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 2, 2, 2), 0);
	nodes_are("67");
}

static void a_surplus_is_cleared_and_stock_asked_again(void **state)
{
	(void)state;
	/* the room is there, but not with the nodes that stock likes best */
	w.vfs = 1;
	w.ours[5] = false;
	powered_down(5, true, 9);
	for (int i = 2; i < NODES; i++)
		w.busy[i] = i != 5;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 2, 2, 2), 0);
	nodes_are("05");
	assert_int_equal(w.asked, 2);
	assert_non_null(job.job_resrcs);
	assert_int_equal(w.refused, 0);
}

static void stock_is_asked_thrice_at_most_then_the_job_waits(void **state)
{
	(void)state;
	w.vfs = 0;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 2, 2, 2), ESLURM_NODES_BUSY);
	/* and once without VFs: which nodes does it wait for? */
	assert_int_equal(w.asked, 3 + 1);
	assert_int_equal(w.refused, 1);
	assert_string_equal(w.why, "too few VFs");
	assert_null(job.job_resrcs);
}

static void too_little_room_refuses_with_the_need(void **state)
{
	(void)state;
	w.room = 3;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 4, 4, 4), ESLURM_NODES_BUSY);
	assert_int_equal(w.refused, 1);
	assert_int_equal(w.need, 4);
	assert_string_equal(w.wants, "0123");
	assert_string_equal(w.why, "needs 4 nodes, 3 VFs free");
	assert_null(job.job_resrcs);
}

static void what_is_full_for_slurm_is_not_said_to_be_free(void **state)
{
	(void)state;
	/* two warm VMs, whose nodes have no CPU left, and nothing else */
	w.room = 2;
	for (int i = 0; i < NODES; i++)
		w.avail[i] = i < 2 ? VS_AVAIL_WARM : VS_AVAIL_NONE;
	w.busy[0] = w.busy[1] = true;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 1, 1, 1), ESLURM_NODES_BUSY);
	assert_string_equal(w.why, "needs 1 node, 0 VFs free");
}

/* So that what stands in its way, and nothing that it could use, is asked
 * back for it. */
static void a_refusal_names_the_nodes_that_the_job_would_use(void **state)
{
	(void)state;
	w.avail[2] = w.avail[6] = VS_AVAIL_WARM;
	for (int i = 0; i < NODES; i++)
		if (w.avail[i] != VS_AVAIL_WARM)
			w.avail[i] = VS_AVAIL_NONE;
	w.vfs = 0;
	w.room = 2;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 3, 3, 3), ESLURM_NODES_BUSY);
	assert_string_equal(w.wants, "026");
	assert_int_equal(w.need, 3);
	bit_set_all(bits);
	require("5");
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 1, 1, 1), ESLURM_NODES_BUSY);
	assert_string_equal(w.wants, "5");
	assert_int_equal(w.need, 1);
}

static void slurms_own_reason_stays_when_vfs_are_not_what_lacks(void **state)
{
	(void)state;
	w.room = 3;
	for (int i = 0; i < 6; i++)
		w.busy[i] = true;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 4, 4, 4), ESLURM_NODES_BUSY);
	assert_int_equal(w.refused, 0);
	w.room = NODES;
	bit_set_all(bits);
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 4, 4, 4), ESLURM_NODES_BUSY);
	assert_int_equal(w.refused, 0);
}

static void others_nodes_need_no_vf(void **state)
{
	(void)state;
	w.ours[6] = w.ours[7] = false;
	w.room = w.vfs = 1;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 3, 3, 3), 0);
	assert_int_equal(w.asked, 1);
	nodes_are("067");
	/* however little an administrator likes them */
	bit_set_all(bits);
	for (int i = 6; i < NODES; i++)
		powered_down(i, true, 9);
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 3, 3, 3), 0);
	assert_int_equal(w.asked, 1 + 3);
	nodes_are("067");
	bit_set_all(bits);
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 4, 4, 4), ESLURM_NODES_BUSY);
	assert_int_equal(w.refused, 1);
}

static void a_job_without_nodes_of_ours_goes_straight_to_stock(void **state)
{
	(void)state;
	memset(w.ours, 0, sizeof(w.ours));
	w.room = 0;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 2, 4, 3), 0);
	assert_int_equal(w.max[0], 4);
	assert_int_equal(w.req[0], 3);
	nodes_are("012");
}

static void a_reservations_made_up_record_goes_straight_to_stock(void **state)
{
	(void)state;
	job.job_id = 0;
	w.room = w.vfs = 0;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 2, 4, 3), 0);
	assert_int_equal(w.max[0], 4);
}

/* ---- ever ----------------------------------------------------------------------------- */

static void never_is_said_at_submit_for_static_capacity_alone(void **state)
{
	(void)state;
	w.is_new = true;
	w.ever = 3;
	assert_int_equal(ask(SELECT_MODE_TEST_ONLY, 4, 4, 4),
			 ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE);
	bit_set_all(bits);
	assert_int_equal(ask(SELECT_MODE_TEST_ONLY, 3, 6, 5), 0);
	w.room = w.vfs = 0;		/* none now is no reason */
	memset(w.avail, VS_AVAIL_NONE, sizeof(w.avail));
	bit_set_all(bits);
	assert_int_equal(ask(SELECT_MODE_TEST_ONLY, 3, 3, 3), 0);
	assert_int_equal(w.refused, 0);
}

static void a_queued_job_is_never_told_never(void **state)
{
	(void)state;
	w.ever = 0;
	assert_int_equal(ask(SELECT_MODE_TEST_ONLY, 4, 4, 4), 0);
}

static void stocks_never_stays_never(void **state)
{
	(void)state;
	assert_int_equal(ask(SELECT_MODE_TEST_ONLY, 9, 9, 9), ESLURM_NODES_BUSY);
}

/* ---- when ------------------------------------------------------------------------------ */

static void now_is_said_when_the_vfs_are_there_now(void **state)
{
	time_t now = time(NULL);

	(void)state;
	w.start = now;
	w.avail[0] = VS_AVAIL_NONE;
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 2, 2, 2), 0);
	nodes_are("12");
	assert_int_equal(job.start_time, now);
}

static void now_becomes_later_until_warm_vms_have_given_way(void **state)
{
	time_t now = time(NULL);

	(void)state;
	w.start = now;
	w.vfs = 1;
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 2, 2, 2), 0);
	assert_true(job.start_time >= now + 60);
	assert_true(job.start_time <= time(NULL) + 60);
	nodes_are("01");
	assert_int_equal(w.refused, 0);
}

static void later_is_the_end_of_the_first_job_on_nodes_of_ours(void **state)
{
	job_record_t first = { .job_state = JOB_RUNNING, .job_id = 1 };
	job_record_t others = { .job_state = JOB_RUNNING, .job_id = 2 };
	time_t now = time(NULL);

	(void)state;
	w.ours[7] = false;
	first.end_time = now + 500;
	first.node_bitmap = bit_alloc(NODES);
	bit_set(first.node_bitmap, 1);
	others.end_time = now + 100;
	others.node_bitmap = bit_alloc(NODES);
	bit_set(others.node_bitmap, 7);
	list_append(job_list, &first);
	list_append(job_list, &others);
	w.start = now;
	w.vfs = 0;
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 2, 2, 2), 0);
	assert_int_equal(job.start_time, now + 500);
	FREE_NULL_BITMAP(first.node_bitmap);
	FREE_NULL_BITMAP(others.node_bitmap);
}

/* Nodes 6 and 7 are another partition's. */
static void vfs_of_another_partition_come_back_with_its_jobs(void **state)
{
	job_record_t there = { .job_state = JOB_RUNNING, .job_id = 1 };
	time_t now = time(NULL);

	(void)state;
	w.avail[6] = w.avail[7] = VS_AVAIL_WARM;
	there.end_time = now + 500;
	there.node_bitmap = bit_alloc(NODES);
	bit_set(there.node_bitmap, 7);
	list_append(job_list, &there);
	w.start = now;
	w.room = w.vfs = 1;
	for (uint32_t nodes = 2; nodes < 4; nodes++) {
		bit_set_all(bits);
		bit_clear(bits, 6);
		bit_clear(bits, 7);
		assert_int_equal(ask(SELECT_MODE_WILL_RUN, nodes, nodes,
				     nodes), 0);
		if (nodes == 2)
			assert_true(job.start_time >= now + 60 &&
				    job.start_time <= now + 100);
		else
			assert_int_equal(job.start_time, now + 500);
	}
	FREE_NULL_BITMAP(there.node_bitmap);
}

/* Beyond what backfill plans for: no node is kept idle for such a job. */
static void vfs_that_foreign_vms_hold_come_back_nobody_knows_when(void **state)
{
	job_record_t mine = { .job_state = JOB_RUNNING, .job_id = 1 };
	time_t now = time(NULL);

	(void)state;
	mine.end_time = now + 500;
	mine.node_bitmap = bit_alloc(NODES);
	bit_set(mine.node_bitmap, 1);
	list_append(job_list, &mine);
	w.start = now;
	w.room = w.vfs = 1;
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 2, 2, 2), 0);
	assert_true(job.start_time > now + 30 * 24 * 3600);
	FREE_NULL_BITMAP(mine.node_bitmap);
}

static void stocks_own_later_stays(void **state)
{
	time_t later = time(NULL) + 1000;

	(void)state;
	w.start = later;
	w.room = w.vfs = 0;
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 2, 2, 2), 0);
	assert_int_equal(job.start_time, later);
}

static void a_node_that_cannot_be_served_now_may_be_the_first_later(
	void **state)
{
	time_t now = time(NULL);

	(void)state;
	w.avail[0] = VS_AVAIL_NONE;
	w.start_without_0 = now + 900;
	w.start = now + 300;
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 2, 2, 2), 0);
	assert_int_equal(job.start_time, now + 300);
	nodes_are("01");
}

#define T(f) cmocka_unit_test_setup_teardown(f, stage_up, stage_down)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(warm_comes_before_off_and_off_before_new),
		T(warm_comes_before_off_whatever_its_weight),
		T(an_administrators_weight_counts_more_than_what_exists),
		T(backfill_prefers_the_same),
		T(weights_are_slurms_again_afterwards),
		T(a_node_that_cannot_be_served_is_left_out),
		T(a_node_that_the_job_names_is_never_left_out),
		T(a_shortage_lowers_what_stock_may_take),
		T(all_stay_to_choose_from_in_a_shortage),
		T(a_surplus_is_cleared_and_stock_asked_again),
		T(stock_is_asked_thrice_at_most_then_the_job_waits),
		T(too_little_room_refuses_with_the_need),
		T(what_is_full_for_slurm_is_not_said_to_be_free),
		T(a_refusal_names_the_nodes_that_the_job_would_use),
		T(slurms_own_reason_stays_when_vfs_are_not_what_lacks),
		T(others_nodes_need_no_vf),
		T(a_job_without_nodes_of_ours_goes_straight_to_stock),
		T(a_reservations_made_up_record_goes_straight_to_stock),
		T(never_is_said_at_submit_for_static_capacity_alone),
		T(a_queued_job_is_never_told_never),
		T(stocks_never_stays_never),
		T(now_is_said_when_the_vfs_are_there_now),
		T(now_becomes_later_until_warm_vms_have_given_way),
		T(later_is_the_end_of_the_first_job_on_nodes_of_ours),
		T(vfs_of_another_partition_come_back_with_its_jobs),
		T(vfs_that_foreign_vms_hold_come_back_nobody_knows_when),
		T(stocks_own_later_stays),
		T(a_node_that_cannot_be_served_now_may_be_the_first_later),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
