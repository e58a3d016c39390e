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
	w.avail[6] = VS_AVAIL_RUNNING;
	w.avail[3] = VS_AVAIL_STOPPED;
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
	node_record_table_ptr[node]->weight = weight;
	node_record_table_ptr[node]->node_state |= NODE_STATE_POWERED_DOWN;
	node_record_table_ptr[node]->sched_weight =
		(flag ? UINT64_C(0x20000000000) : 0) |
		(UINT64_C(0xfffffffe) << 8) | 0xff;
}

static void warm_comes_before_off_whatever_its_weight(void **state)
{
	(void)state;
	for (int i = 0; i < NODES; i++)
		powered_down(i, i % 2, 1);
	w.avail[6] = VS_AVAIL_RUNNING;
	node_record_table_ptr[6]->sched_weight = (9 << 8) | 0xff;
	w.avail[3] = VS_AVAIL_STOPPED;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 2, 2, 2), 0);
	nodes_are("36");
}

static void an_administrators_weight_counts_more_than_what_exists(void **state)
{
	(void)state;
	for (int i = 0; i < NODES; i++)
		powered_down(i, i % 2, 2);
	w.avail[6] = VS_AVAIL_STOPPED;
	powered_down(4, true, 1);
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 2, 2, 2), 0);
	nodes_are("46");
}

static void backfill_prefers_the_same(void **state)
{
	(void)state;
	w.avail[6] = VS_AVAIL_RUNNING;
	w.avail[3] = VS_AVAIL_STOPPED;
	/* left over from another job's test, when it still was off */
	powered_down(6, true, 1);
	node_record_table_ptr[6]->node_state &= ~NODE_STATE_POWERED_DOWN;
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 2, 2, 2), 0);
	nodes_are("36");
	assert_int_equal(node_record_table_ptr[3]->weight, 1);
}

static void backfill_minds_an_administrators_weight_too(void **state)
{
	(void)state;
	for (int i = 0; i < NODES; i++)
		powered_down(i, i % 2, 2);
	w.avail[6] = VS_AVAIL_STOPPED;
	powered_down(4, true, 1);
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 2, 2, 2), 0);
	nodes_are("46");
}

static void weights_are_slurms_again_afterwards(void **state)
{
	(void)state;
	ask(SELECT_MODE_RUN_NOW, 1, 1, 1);
	for (int i = 0; i < NODES; i++)
		assert_int_equal(node_record_table_ptr[i]->sched_weight,
				 (1 << 8) | 0xff);
}

/* What Slurm had left in a node's sched_weight is out of date for WILL_RUN: what
 * it would write stays there, and the next question finds the same. */
static void backfill_finds_the_same_weights_each_time(void **state)
{
	uint64_t first[NODES];

	(void)state;
	w.avail[6] = VS_AVAIL_RUNNING;
	w.avail[3] = VS_AVAIL_STOPPED;
	powered_down(6, true, 1);
	powered_down(2, true, 1);
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 2, 2, 2), 0);
	memcpy(first, w.weights, sizeof(first));
	for (int i = 0; i < 3; i++) {
		bit_set_all(bits);
		assert_int_equal(ask(SELECT_MODE_WILL_RUN, 2, 2, 2), 0);
		assert_memory_equal(w.weights, first, sizeof(first));
		nodes_are("36");
	}
	for (int i = 0; i < NODES && !VS_STOCK_WEIGHS; i++)
		assert_true((node_record_table_ptr[i]->sched_weight &
			     UINT64_C(0xffffffffff)) == ((1 << 8) | 0xff));
}

static void a_question_is_counted_by_its_mode(void **state)
{
	(void)state;
	ask(SELECT_MODE_RUN_NOW, 1, 1, 1);
	assert_int_equal(w.asked_as, VS_QUERY_RUN_NOW);
	bit_set_all(bits);
	ask(SELECT_MODE_WILL_RUN, 1, 1, 1);
	assert_int_equal(w.asked_as, VS_QUERY_WILL_RUN);
	bit_set_all(bits);
	ask(SELECT_MODE_TEST_ONLY, 1, 1, 1);
	assert_int_equal(w.asked_as, VS_QUERY_OTHER);
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
	assert_string_equal(w.why, "; of 3");
	assert_int_equal(w.have, 3);
	assert_null(job.job_resrcs);
}

static void what_is_full_for_slurm_is_not_said_to_be_free(void **state)
{
	(void)state;
	/* two warm VMs, whose nodes have no CPU left, and nothing else */
	w.room = 2;
	for (int i = 0; i < NODES; i++)
		w.avail[i] = i < 2 ? VS_AVAIL_RUNNING : VS_AVAIL_NONE;
	w.busy[0] = w.busy[1] = true;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 1, 1, 1), ESLURM_NODES_BUSY);
	assert_true(w.need == 1 && w.have == 0);
}

/* So that what stands in its way, and nothing that it could use, is asked
 * back for it. */
static void a_refusal_names_the_nodes_that_the_job_would_use(void **state)
{
	(void)state;
	w.avail[2] = w.avail[6] = VS_AVAIL_RUNNING;
	for (int i = 0; i < NODES; i++)
		if (w.avail[i] != VS_AVAIL_RUNNING)
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

/* What lacks for other nodes does not hide what bars one that the job names. */
static void the_reason_is_that_of_the_nodes_that_it_names(void **state)
{
	(void)state;
	w.vfs = w.room = 1;
	w.barred = 5;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 2, 2, 2), ESLURM_NODES_BUSY);
	assert_string_equal(w.why, "; of 1");
	bit_set_all(bits);
	require("56");
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 2, 2, 2), ESLURM_NODES_BUSY);
	assert_string_equal(w.why, ": it is barred");
	w.barred = 4;
	bit_set_all(bits);
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 2, 2, 2), ESLURM_NODES_BUSY);
	assert_string_equal(w.why, "; of 1");
}

static void what_backfill_alone_looks_at_is_refused_too(void **state)
{
	(void)state;
	w.room = w.vfs = 1;
	w.start = time(NULL);
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 2, 2, 2), 0);
	assert_true(job.start_time > w.start);
	assert_int_equal(w.refused, 1);
	assert_int_equal(w.need, 2);
	assert_int_equal(w.lacks, VS_PENDING_VFS);
	/* of a range, what it must have */
	w.room = w.vfs = 0;
	bit_set_all(bits);
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 1, 3, 3), 0);
	assert_int_equal(w.refused, 2);
	assert_int_equal(w.need, 1);
	assert_true(w.need == 1 && w.have == 0);
	/* but not for what stock itself says is later, nor for a question alone */
	w.start = time(NULL) + 600;
	bit_set_all(bits);
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 2, 2, 2), 0);
	assert_int_equal(w.lacks, VS_PENDING_NODES);
	w.refused = 0;
	w.is_new = true;
	for (int later = 0; later < 2; later++) {
		w.start = time(NULL) + 600 * later;
		bit_set_all(bits);
		assert_int_equal(ask(SELECT_MODE_WILL_RUN, 2, 2, 2), 0);
		assert_int_equal(w.refused, 0);
	}
}

/* After a failover Slurm 22.05 may have no main scheduler, and backfill tests a job
 * once, in the second of its submission. */
static void backfills_first_test_of_a_job_is_no_question_alone(void **state)
{
	(void)state;
	w.is_new = true;
	job.bit_flags |= BACKFILL_TEST;
	w.start = time(NULL);
	w.room = w.vfs = 0;
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 2, 2, 2), 0);
	assert_int_equal(w.refused, 1);
	assert_int_equal(w.need, 2);
	assert_int_equal(w.lacks, VS_PENDING_VFS);
}

/* sbatch --test-only asks for the most nodes of a job that gets the fewest. */
static void a_job_that_gets_the_fewest_nodes_is_told_of_these(void **state)
{
	(void)state;
	w.room = w.vfs = 4;
	w.start = time(NULL);
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 1, 3, 3), 0);
	assert_int_equal(bit_set_count(bits), 3);
	for (uint64_t flag = 1; flag; flag <<= 1) {
		if (!(flag & VS_FEWEST_FLAGS))
			continue;
		job.bit_flags = flag;
		bit_set_all(bits);
		assert_int_equal(ask(SELECT_MODE_WILL_RUN, 1, 3, 3), 0);
		assert_int_equal(bit_set_count(bits), 1);
	}
	job.bit_flags = USE_MIN_NODES;
	/* its tasks may need more */
	w.least = 2;
	bit_set_all(bits);
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 1, 3, 3), 0);
	assert_int_equal(bit_set_count(bits), 2);
	job.bit_flags = 0;
}

/* Slurm knows of tasks per node only when it looks at the nodes. */
static void a_refusal_needs_as_many_nodes_as_the_tasks_do(void **state)
{
	(void)state;
	for (int i = 0; i < NODES; i++)
		w.avail[i] = i < 2 ? VS_AVAIL_RUNNING : VS_AVAIL_NONE;
	w.room = 2;
	w.least = 3;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 1, 8, 1), ESLURM_NODES_BUSY);
	assert_int_equal(w.refused, 1);
	assert_string_equal(w.wants, "012");
	assert_int_equal(w.need, 3);
	assert_true(w.need == 3 && w.have == 2);
}

static void have_jobs(int from, int to)
{
	for (int i = from; i <= to; i++) {
		w.busy[i] = true;
		bit_clear(idle_node_bitmap, i);
	}
}

/* Of Slurm's own "not now" too it is told what that means in VMs. */
static void what_is_busy_for_slurm_is_a_reason_but_no_shortage(void **state)
{
	(void)state;
	have_jobs(0, 5);
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 4, 4, 4), ESLURM_NODES_BUSY);
	assert_int_equal(w.refused, 1);
	assert_int_equal(w.lacks, VS_PENDING_NODES);
	assert_int_equal(w.need, 4);
	/* there may be any number of VFs: the nodes are those of jobs */
	assert_string_equal(w.why, "2 nodes free");
	/* one idle node of those two has no VF */
	w.room = 7;
	bit_set_all(bits);
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 4, 4, 4), ESLURM_NODES_BUSY);
	assert_int_equal(w.lacks, VS_PENDING_NODES);
	assert_string_equal(w.why, "1 free");
	w.start = time(NULL) + 600;
	bit_set_all(bits);
	/* it waits for something else than nodes: Slurm's own word stands */
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 1, 2, 2), 0);
	assert_int_equal(w.refused, 2);
	bit_set_all(bits);
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 3, 3, 3), 0);
	assert_int_equal(w.refused, 3);
	assert_int_equal(w.lacks, VS_PENDING_NODES);
	assert_int_equal(w.need, 3);
	assert_string_equal(w.why, "1 free");
	/* of which kinds there are is seen from candidates all over */
	assert_true(strchr(w.wants, '0') && strchr(w.wants, '7'));
	have_jobs(6, 6);
	w.room = 8;
	w.start = 0;
	bit_set_all(bits);
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 4, 4, 4), ESLURM_NODES_BUSY);
	assert_string_equal(w.why, "1 node free");
}

/* If nodes that slurm-vsphere doesn't manage are candidates, VFs aren't the
 * reason. */
static void slurms_own_reason_stays_where_other_nodes_would_do(void **state)
{
	(void)state;
	have_jobs(0, 5);
	w.ours[7] = false;
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

/* sbatch --test-only of a new job asks as backfill does of a queued one. */
static void never_is_said_to_test_only_too(void **state)
{
	(void)state;
	w.is_new = true;
	w.ever = 3;
	w.start = time(NULL);
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 4, 4, 4),
			 ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE);
	assert_int_equal(w.refused, 0);
	bit_set_all(bits);
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 3, 6, 3), 0);
	job.bit_flags |= BACKFILL_TEST;	/* as soon as it was submitted */
	bit_set_all(bits);
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 4, 4, 4), 0);
}

static void a_queued_job_is_never_told_never(void **state)
{
	(void)state;
	w.ever = 0;
	w.start = time(NULL);
	assert_int_equal(ask(SELECT_MODE_TEST_ONLY, 4, 4, 4), 0);
	bit_set_all(bits);
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 4, 4, 4), 0);
}

static void stocks_never_stays_never(void **state)
{
	(void)state;
	assert_int_equal(ask(SELECT_MODE_TEST_ONLY, 9, 9, 9), ESLURM_NODES_BUSY);
}

#define T(f) cmocka_unit_test_setup_teardown(f, stage_up, stage_down)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(warm_comes_before_off_and_off_before_new),
		T(warm_comes_before_off_whatever_its_weight),
		T(an_administrators_weight_counts_more_than_what_exists),
		T(backfill_prefers_the_same),
		T(backfill_minds_an_administrators_weight_too),
		T(weights_are_slurms_again_afterwards),
		T(backfill_finds_the_same_weights_each_time),
		T(a_question_is_counted_by_its_mode),
		T(a_node_that_cannot_be_served_is_left_out),
		T(a_node_that_the_job_names_is_never_left_out),
		T(a_shortage_lowers_what_stock_may_take),
		T(all_stay_to_choose_from_in_a_shortage),
		T(a_surplus_is_cleared_and_stock_asked_again),
		T(stock_is_asked_thrice_at_most_then_the_job_waits),
		T(too_little_room_refuses_with_the_need),
		T(the_reason_is_that_of_the_nodes_that_it_names),
		T(what_is_full_for_slurm_is_not_said_to_be_free),
		T(a_refusal_names_the_nodes_that_the_job_would_use),
		T(what_backfill_alone_looks_at_is_refused_too),
		T(backfills_first_test_of_a_job_is_no_question_alone),
		T(a_job_that_gets_the_fewest_nodes_is_told_of_these),
		T(a_refusal_needs_as_many_nodes_as_the_tasks_do),
		T(what_is_busy_for_slurm_is_a_reason_but_no_shortage),
		T(slurms_own_reason_stays_where_other_nodes_would_do),
		T(others_nodes_need_no_vf),
		T(a_job_without_nodes_of_ours_goes_straight_to_stock),
		T(a_reservations_made_up_record_goes_straight_to_stock),
		T(never_is_said_at_submit_for_static_capacity_alone),
		T(never_is_said_to_test_only_too),
		T(a_queued_job_is_never_told_never),
		T(stocks_never_stays_never),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
