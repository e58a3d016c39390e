/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The select plugin's answers about later, between a core and a stock plugin that the test
 * plays (select_stage.c). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "select_stage.h"

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

static void now_becomes_later_when_the_vfs_are_not_there(void **state)
{
	time_t now = time(NULL);

	(void)state;
	w.start = now;
	w.vfs = 1;
	w.when = now + 500;
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 2, 2, 2), 0);
	assert_int_equal(job.start_time, now + 500);
	nodes_are("01");
	assert_int_equal(w.refused, 1);
}

/* The timeline counts; where they lie is placement's. */
static void never_now_where_they_have_no_place_together(void **state)
{
	time_t now = time(NULL);

	(void)state;
	w.start = now;
	w.vfs = 1;
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 2, 2, 2), 0);
	assert_true(job.start_time >= now + 60);
	assert_true(job.start_time <= time(NULL) + 60);
}

static void the_earlier_of_two_ways_is_taken(void **state)
{
	time_t now = time(NULL);

	(void)state;
	/* node 0 has no VF now; without it stock finds room in 900 s, with it
	 * in 300, but not before 700 by the VFs */
	w.avail[0] = VS_AVAIL_NONE;
	w.start_without_0 = now + 900;
	w.start = now + 300;
	w.when = now + 700;
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 2, 2, 2), 0);
	assert_int_equal(job.start_time, now + 700);
	nodes_are("01");
	w.when = now + 1000;
	w.when_without_0 = now + 1;
	bit_set_all(bits);
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 2, 2, 2), 0);
	assert_int_equal(job.start_time, now + 900);
	nodes_are("12");
}

static void what_backfill_is_told_is_planned(void **state)
{
	time_t now = time(NULL);

	(void)state;
	w.start = now + 300;
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 2, 2, 2), 0);
	assert_int_equal(w.planned, 0);		/* a user's --test-only */
	job.bit_flags |= BACKFILL_TEST;
	bit_set_all(bits);
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 2, 2, 2), 0);
	assert_int_equal(w.planned, 1);
	assert_string_equal(w.plan, "01");
	assert_int_equal(w.plan_start, now + 300);
	w.start = now;
	bit_set_all(bits);
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 2, 2, 2), 0);
	assert_int_equal(w.planned, 1);		/* it begins */
}

static void what_is_kept_for_others_is_no_room(void **state)
{
	time_t now = time(NULL);

	(void)state;
	w.start = now;
	w.spare = w.left = 3;
	w.when = now + 200;
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 2, 6, 5), 0);
	nodes_are("012");
	bit_set_all(bits);
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 4, 4, 4), ESLURM_NODES_BUSY);
	assert_string_equal(w.why, ", reserved for higher-priority jobs");
	assert_true(w.need == 4 && w.have == 8);
	assert_int_equal(w.lacks, VS_PENDING_TURN);
	for (int i = 0; i < 3; i++)		/* jobs run on these */
		bit_clear(idle_node_bitmap, i);
	bit_set_all(bits);
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 4, 4, 4), ESLURM_NODES_BUSY);
	assert_true(w.need == 4 && w.have == 5);
	bit_set_all(idle_node_bitmap);
	w.refused = 0;
	bit_set_all(bits);
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 4, 4, 4), 0);
	assert_int_equal(job.start_time, now + 200);
	assert_int_equal(w.refused, 1);
	assert_int_equal(w.lacks, VS_PENDING_TURN);
	w.spare = w.left = 0;
	w.ours[7] = false;
	bit_set_all(bits);
	assert_int_equal(ask(SELECT_MODE_RUN_NOW, 1, 1, 1), 0);
	nodes_are("7");
}

/* The free VFs are kept for jobs with higher priority: no VM may be reclaimed
 * for this job, in whichever mode it is tested. */
static void no_room_and_none_to_spare_is_kept_for_others_too(void **state)
{
	static const uint16_t modes[] = {
		SELECT_MODE_RUN_NOW, SELECT_MODE_WILL_RUN,
	};

	(void)state;
	w.start = time(NULL);
	w.room = w.vfs = w.spare = 0;
	for (int i = 0; i < 2; i++) {
		w.left = 0;
		bit_set_all(bits);
		ask(modes[i], 1, 1, 1);
		assert_int_equal(w.refused, 2 * i + 1);
		assert_int_equal(w.lacks, VS_PENDING_TURN);
		assert_string_equal(w.why, ", reserved for higher-priority jobs");
		assert_true(w.need == 1 && w.have == 0);
		/* no job is before it: it waits for VFs, not for its turn */
		w.left = NODES;
		bit_set_all(bits);
		ask(modes[i], 1, 1, 1);
		assert_int_equal(w.refused, 2 * i + 2);
		assert_int_equal(w.lacks, VS_PENDING_VFS);
		assert_string_equal(w.why, "; of 0");
	}
}

static void the_core_is_told_how_the_job_ranks(void **state)
{
	part_record_t part = {
		.priority_tier = 2, .default_time = NO_VAL, .max_time = 30,
	};

	(void)state;
	job.part_ptr = &part;
	job.priority = 5;
	ask(SELECT_MODE_RUN_NOW, 1, 1, 1);
	assert_true(w.in_order && !w.reserved);
	assert_int_equal(w.lasts, 600);
	assert_true(w.until >= time(NULL) + 595 &&
		    w.until <= time(NULL) + 600);
	assert_true(w.rank == ((uint64_t)2 << 32 | 5));
	job.time_limit = NO_VAL;
	job.resv_name = (char *)"r1";
	job.resv_id = 3;
	job.bit_flags |= BACKFILL_SCHED;
	bit_set_all(bits);
	ask(SELECT_MODE_RUN_NOW, 1, 1, 1);
	assert_true(!w.in_order && w.reserved);
	assert_true(w.rank == ((uint64_t)1 << 48 | (uint64_t)2 << 32 | 5));
	assert_int_equal(w.lasts, 1800);
	part.max_time = INFINITE;
	bit_set_all(bits);
	ask(SELECT_MODE_WILL_RUN, 1, 1, 1);
	assert_true(w.lasts > 300 * 24 * 3600);
	job.resv_name = NULL;
}

/* Slurm's queue puts who may preempt the other before all else. */
static void a_qos_that_preempts_ranks_first(void **state)
{
	slurmdb_qos_rec_t qos = { .preempt_bitstr = bit_alloc(8) };
	char *was = slurm_conf.preempt_type;

	(void)state;
	bit_nset(qos.preempt_bitstr, 2, 3);
	job.qos_ptr = &qos;
	job.priority = 5;
	slurm_conf.preempt_type = (char *)"preempt/partition_prio";
	ask(SELECT_MODE_RUN_NOW, 1, 1, 1);
	assert_true(w.rank == 5);
	slurm_conf.preempt_type = (char *)"preempt/qos";
	bit_set_all(bits);
	ask(SELECT_MODE_RUN_NOW, 1, 1, 1);
	assert_true(w.rank == ((uint64_t)2 << 56 | 5));
	slurm_conf.preempt_type = was;
	FREE_NULL_BITMAP(qos.preempt_bitstr);
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

/* Node 0 would get the VF of a node that the job can have itself. */
static void stock_looks_ahead_once_where_no_other_vm_gives_vfs(void **state)
{
	time_t now = time(NULL);

	(void)state;
	w.avail[0] = VS_AVAIL_NONE;
	w.others_give = false;
	for (int i = 1; i < NODES; i++) {
		w.busy[i] = true;
		bit_clear(idle_node_bitmap, i);
	}
	w.start_without_0 = now + 900;
	w.start = now + 300;
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 2, 2, 2), 0);
	assert_int_equal(w.asked, 2);
	assert_int_equal(w.mode[0], SELECT_MODE_WILL_RUN);
	assert_int_equal(w.mode[1], SELECT_MODE_RUN_NOW);
	assert_int_equal(w.others_by, now + 900);
	assert_int_equal(job.start_time, now + 900);
	assert_null(job.job_resrcs);
	nodes_are("12");
	assert_int_equal(w.lacks, VS_PENDING_NODES);
}

static void nor_is_it_forgotten_that_vfs_alone_are_lacking(void **state)
{
	time_t now = time(NULL);

	(void)state;
	w.avail[0] = w.avail[1] = VS_AVAIL_NONE;
	w.others_give = false;
	for (int i = 2; i < NODES; i++)
		w.busy[i] = true;
	w.start_without_0 = now + 900;
	w.when = now + 800;
	w.when_without_0 = now + 900;
	assert_int_equal(ask(SELECT_MODE_WILL_RUN, 2, 2, 2), 0);
	assert_int_equal(job.start_time, now + 800);
	nodes_are("01");
	assert_int_equal(w.lacks, VS_PENDING_VFS);
}

#define T(f) cmocka_unit_test_setup_teardown(f, stage_up, stage_down)
static size_t reservations;

static void core_reserved(const struct vs_reservation *r, size_t n)
{
	(void)r;
	reservations = n;
}

/* All within a second, which is the unit of Slurm's mark of a change. */
static void a_reservation_that_ends_within_its_first_second_is_forgotten(void **state)
{
	slurmctld_resv_t resv = { .node_bitmap = bits };
	time_t now;

	(void)state;
	w.api.reserved = core_reserved;
	resv_list = list_create(NULL);
	do {
		now = time(NULL);
		resv.start_time = now + 3600;
		resv.end_time = now + 7200;
		list_append(resv_list, &resv);
		last_resv_update = now;
		assert_int_equal(ask(SELECT_MODE_WILL_RUN, 2, 2, 2), 0);
		assert_int_equal(reservations, 1);
		bit_set_all(bits);
		list_flush(resv_list);
		last_resv_update = now;
		assert_int_equal(ask(SELECT_MODE_WILL_RUN, 2, 2, 2), 0);
		bit_set_all(bits);
	} while (time(NULL) != now);
	assert_int_equal(reservations, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(now_is_said_when_the_vfs_are_there_now),
		T(now_becomes_later_when_the_vfs_are_not_there),
		T(never_now_where_they_have_no_place_together),
		T(the_earlier_of_two_ways_is_taken),
		T(what_backfill_is_told_is_planned),
		T(what_is_kept_for_others_is_no_room),
		T(no_room_and_none_to_spare_is_kept_for_others_too),
		T(the_core_is_told_how_the_job_ranks),
		T(a_qos_that_preempts_ranks_first),
		T(stocks_own_later_stays),
		T(a_reservation_that_ends_within_its_first_second_is_forgotten),
		T(a_node_that_cannot_be_served_now_may_be_the_first_later),
		T(stock_looks_ahead_once_where_no_other_vm_gives_vfs),
		T(nor_is_it_forgotten_that_vfs_alone_are_lacking),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
