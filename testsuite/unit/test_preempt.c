/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The select plugin's decision for a job that may end others, between a core and
 * a stock plugin that the test plays (select_stage.c). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "select_stage.h"

static job_record_t others[3];

static int up(void **state)
{
	stage_up(state);
	w.candidates = list_create(NULL);
	for (int i = 0; i < 3; i++) {
		memset(&others[i], 0, sizeof(others[i]));
		others[i].magic = JOB_MAGIC;
		others[i].job_id = 31 + (uint32_t)i;
		others[i].node_bitmap = bit_alloc(NODES);
		bit_set(others[i].node_bitmap, i);
		list_append(w.candidates, &others[i]);
	}
	/* they run on nodes 0 to 2; the job names 6 and 7, without VFs */
	for (int i = 0; i < NODES; i++) {
		w.busy[i] = i < 3;
		w.avail[i] = i < 3 ? VS_AVAIL_RUNNING : VS_AVAIL_NONE;
	}
	w.room = w.vfs = 0;
	return 0;
}

static int down(void **state)
{
	FREE_NULL_LIST(w.candidates);
	FREE_NULL_LIST(w.preempted);
	for (int i = 0; i < 3; i++)
		FREE_NULL_BITMAP(others[i].node_bitmap);
	return stage_down(state);
}

static int is_it(void *x, void *arg)
{
	return x == arg;
}

static void ended_are(const char *list)
{
	char text[4] = "", *to = text;

	for (int i = 0; i < 3 && w.preempted; i++)
		if (list_find_first(w.preempted, is_it, &others[i]))
			*to++ = (char)('1' + i);
	assert_string_equal(text, list);
}

static void who_holds_the_vf_ends_and_the_answer_is_slurms(void **state)
{
	(void)state;
	require("6");
	w.ends[1] = true;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 1, 1, 1), 0);
	nodes_are("6");
	ended_are("2");
	assert_non_null(job.job_resrcs);
	assert_int_equal(w.refused, 0);
}

static void nobody_ends_if_the_core_knows_of_no_help(void **state)
{
	(void)state;
	require("6");
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 1, 1, 1), ESLURM_NODES_BUSY);
	assert_null(w.preempted);
	assert_null(job.job_resrcs);
	assert_int_equal(w.refused, 1);
}

static void nobody_ends_if_idle_vms_will_do(void **state)
{
	(void)state;
	require("6");
	w.idle_do = true;
	w.ends[0] = true;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 1, 1, 1), ESLURM_NODES_BUSY);
	assert_null(w.preempted);
	assert_int_equal(w.refused, 1);	/* so that they are asked back */
	/* nor where stock would, to begin at once */
	FREE_NULL_BITMAP(details.req_node_bitmap);
	bit_set_all(bits);
	w.room = 3;
	w.stock_ends = true;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 1, 1, 1), ESLURM_NODES_BUSY);
	assert_null(w.preempted);
}

/* Slurm would stop its processes, and its VM would keep its VF. */
static void who_may_only_be_suspended_is_never_named(void **state)
{
	(void)state;
	require("6");
	w.mode_of[1] = PREEMPT_MODE_SUSPEND;
	w.ends[1] = true;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 1, 1, 1), ESLURM_NODES_BUSY);
	assert_int_equal(w.victims, 2);
	assert_null(w.preempted);
	assert_null(job.job_resrcs);
	assert_int_equal(w.refused, 1);
	/* nor beside one that ends */
	w.ends[0] = true;
	bit_set_all(bits);
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 1, 1, 1), 0);
	ended_are("1");
}

/* Whatever Slurm has done with them, it may end them. */
static void who_is_suspended_already_or_a_part_may_end(void **state)
{
	(void)state;
	require("6");
	others[0].job_state = JOB_SUSPENDED;
	others[1].job_state = JOB_RUNNING;
	others[1].het_job_id = 31;
	others[2].job_state = JOB_RUNNING;
	w.ends[0] = w.ends[1] = true;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 1, 1, 1), 0);
	assert_int_equal(w.victims, 3);
	ended_are("12");
}

static void stock_may_end_jobs_on_nodes_that_can_be_served(void **state)
{
	(void)state;
	w.room = 3;
	w.stock_ends = true;
	w.ends[1] = true;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 1, 1, 1), 0);
	nodes_are("0");
	ended_are("1");
	assert_int_equal(w.victims, 0);
}

static void a_free_node_is_taken_before_anybody_ends(void **state)
{
	(void)state;
	w.room = 4;
	w.avail[5] = VS_AVAIL_RUNNING;
	w.stock_ends = true;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 1, 1, 1), 0);
	nodes_are("5");
	assert_null(w.preempted);
}

static void no_candidates_no_question(void **state)
{
	(void)state;
	FREE_NULL_LIST(w.candidates);
	require("6");
	w.ends[0] = true;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 1, 1, 1), ESLURM_NODES_BUSY);
	assert_int_equal(w.victims, -1);
}

#define T(f) cmocka_unit_test_setup_teardown(f, up, down)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(who_holds_the_vf_ends_and_the_answer_is_slurms),
		T(nobody_ends_if_the_core_knows_of_no_help),
		T(nobody_ends_if_idle_vms_will_do),
		T(who_may_only_be_suspended_is_never_named),
		T(who_is_suspended_already_or_a_part_may_end),
		T(stock_may_end_jobs_on_nodes_that_can_be_served),
		T(a_free_node_is_taken_before_anybody_ends),
		T(no_candidates_no_question),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
