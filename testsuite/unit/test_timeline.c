/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When places come free, and who has them next. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include "cmocka_range.h"
#include "plan/forecast/timeline.h"

#define IDS 16
#define NOBODY ((const int *)NULL)

static struct vs_timeline t;
static struct vs_curve curve;
static size_t gains[IDS];		/* by id */

static int stage_up(void **state)
{
	(void)state;
	vs_timeline_size(&t, IDS, 2);
	vs_curve_size(&curve, IDS);
	for (int i = 0; i < IDS; i++)
		gains[i] = 1;
	return 0;
}

static int stage_down(void **state)
{
	(void)state;
	vs_timeline_clear(&t);
	vs_curve_clear(&curve);
	return 0;
}

/* Ids first..last are kept by a job until `end`. */
static void runs(uint32_t job, int first, int last, int64_t end)
{
	for (int id = first; id <= last; id++)
		vs_timeline_claim(&t, id, job);
	vs_timeline_end(&t, job, end);
}

static const struct vs_curve *all(void)
{
	for (int id = 0; id < (int)t.nids; id++)
		vs_curve_set(&curve, &t, id, gains[id]);
	vs_curve_sum(&curve, &t);
	return &curve;
}

static int64_t when(size_t more)
{
	return vs_curve_first_at(all(), &t, more, NOBODY, 0);
}

/* ---- holders ------------------------------------------------------------------------ */

static void places_come_free_in_the_order_of_ends(void **state)
{
	(void)state;
	runs(1, 0, 1, 300);
	runs(2, 2, 2, 100);
	runs(3, 3, 5, 200);
	assert_int_equal(when(0), 0);
	assert_int_equal(when(1), 100);
	assert_int_equal(when(2), 200);
	assert_int_equal(when(4), 200);
	assert_int_equal(when(5), 300);
	assert_int_equal(when(6), 300);
	assert_true(when(7) == VS_TIME_NEVER);
}

static void an_end_that_moves_moves_its_places(void **state)
{
	(void)state;
	runs(1, 0, 0, 300);
	runs(2, 1, 1, 100);
	vs_timeline_end(&t, 2, 400);
	assert_int_equal(when(1), 300);
	assert_int_equal(when(2), 400);
	vs_timeline_end(&t, 1, 500);
	assert_int_equal(when(1), 400);
	assert_int_equal(when(2), 500);
}

static void idle_ones_come_first_and_some_never_go(void **state)
{
	(void)state;
	runs(1, 0, 0, 300);
	vs_timeline_claim(&t, 1, VS_HOLDER_IDLE);
	vs_timeline_claim(&t, 2, VS_HOLDER_STAYS);
	vs_timeline_claim(&t, 3, 9);	/* its end isn't known */
	assert_int_equal(when(1), 0);
	assert_int_equal(when(2), 300);
	assert_true(when(3) == VS_TIME_NEVER);
}

static void a_holder_changes_hands(void **state)
{
	(void)state;
	runs(1, 0, 2, 100);
	runs(2, 1, 1, 900);		/* a job beside it */
	assert_int_equal(when(2), 100);
	assert_int_equal(when(3), 900);
	vs_timeline_let_go(&t, 0);
	vs_timeline_let_go(&t, 0);
	assert_int_equal(when(1), 100);
	assert_int_equal(when(2), 900);
	vs_timeline_claim(&t, 2, 2);
	assert_int_equal(when(1), 900);
}

static void a_job_that_ended_is_forgotten_once_it_holds_nothing(void **state)
{
	(void)state;
	runs(1, 0, 1, 100);
	runs(2, 2, 2, 200);
	vs_timeline_forget(&t, 2);
	assert_int_equal(vs_timeline_job_end(&t, 2), 200);
	vs_timeline_let_go(&t, 2);
	vs_timeline_forget(&t, 2);
	vs_timeline_forget(&t, 3);
	assert_int_equal(t.ngroups, 1);
	assert_true(vs_timeline_job_end(&t, 2) == VS_TIME_NEVER);
	assert_int_equal(when(2), 100);
}

static void every_change_shows_and_nothing_else(void **state)
{
	uint64_t was;

	(void)state;
	runs(1, 0, 1, 100);
	was = t.generation;
	vs_timeline_end(&t, 1, 100);
	vs_timeline_claim(&t, 0, 1);
	vs_timeline_let_go(&t, 5);
	vs_timeline_forget(&t, 1);
	assert_true(t.generation == was);
	vs_timeline_end(&t, 1, 101);
	assert_true(t.generation != was);
	was = t.generation;
	vs_timeline_let_go(&t, 0);
	assert_true(t.generation != was);
}

static void other_nodes_forget_holders_but_no_ends(void **state)
{
	(void)state;
	runs(1, 0, 1, 100);
	vs_timeline_plan(&t, 7, 1, 10, 20, (size_t[]){ 1, 0 }, 0);
	vs_timeline_size(&t, 4, 1);
	assert_true(when(1) == VS_TIME_NEVER);
	assert_null(vs_timeline_job_plan(&t, 7));
	vs_timeline_claim(&t, 3, 1);
	assert_int_equal(when(1), 100);
}

/* ---- curves -------------------------------------------------------------------------- */

static void who_gains_nothing_is_not_waited_for(void **state)
{
	(void)state;
	runs(1, 0, 0, 100);
	runs(2, 1, 1, 200);
	gains[0] = 0;
	gains[1] = 3;
	assert_int_equal(when(1), 200);
	assert_int_equal(when(3), 200);
	assert_true(when(4) == VS_TIME_NEVER);
}

static void those_that_the_job_keeps_gain_nothing_for_it(void **state)
{
	(void)state;
	/* it is to run on 0 and 1 itself, and wants two more */
	runs(1, 0, 1, 100);
	runs(2, 2, 2, 200);
	runs(3, 3, 3, 300);
	assert_int_equal(vs_curve_first_at(all(), &t, 2, (int[]) { 0, 1 }, 2),
			 300);
	assert_int_equal(vs_curve_first_at(all(), &t, 1, (int[]) { 0, 1 }, 2),
			 200);
	assert_int_equal(vs_curve_first_at(all(), &t, 2, (int[]){ 0 }, 1), 200);
	/* one that gains nothing, one that holds nothing, one much later */
	gains[0] = 0;
	assert_int_equal(vs_curve_first_at(all(), &t, 1, (int[]){ 0, 9, 3 }, 3),
			 100);
}

static void what_is_gained_by_a_time_and_with_which_end(void **state)
{
	(void)state;
	runs(1, 0, 0, 100);
	runs(2, 1, 1, 200);
	runs(3, 2, 9, 300);
	assert_int_equal(vs_curve_released_by(all(), &t, 99), 0);
	assert_int_equal(vs_curve_released_by(&curve, &t, 100), 1);
	assert_int_equal(vs_curve_released_by(&curve, &t, 1000), 10);
	assert_int_equal(vs_curve_at(&curve, &t, 3), 300);
	assert_true(vs_curve_at(&curve, &t, 11) == VS_TIME_NEVER);
}

static void a_gain_counts_once_whatever_became_of_its_group(void **state)
{
	(void)state;
	runs(1, 0, 1, 100);
	assert_int_equal(vs_curve_released_by(all(), &t, 100), 2);
	/* its job's number is another's now */
	vs_timeline_let_go(&t, 0);
	vs_timeline_let_go(&t, 1);
	vs_timeline_forget(&t, 1);
	runs(2, 2, 4, 200);
	vs_timeline_claim(&t, 0, 2);
	assert_int_equal(vs_curve_released_by(all(), &t, 199), 0);
	assert_int_equal(vs_curve_released_by(&curve, &t, 200), 4);
	vs_curve_set(&curve, &t, 3, 5);
	vs_curve_set(&curve, &t, 4, 0);
	vs_curve_set(&curve, &t, 9, 7);		/* holds nothing */
	vs_curve_sum(&curve, &t);
	assert_int_equal(vs_curve_released_by(&curve, &t, 200), 7);
}

/* ---- plans ----------------------------------------------------------------------------- */

static const struct vs_applicant small = { .job = 50, .rank = 5 };

static void plan(uint32_t job, uint64_t rank, int64_t start, int64_t end,
		 size_t need)
{
	vs_timeline_plan(&t, job, rank, start, end, (size_t[]){ need, 0 }, 0);
}

static size_t spare(const struct vs_applicant *a, size_t room, int64_t from,
		    int64_t to)
{
	return vs_timeline_surplus(&t, all(), a, room, from, to);
}

static void a_small_job_may_not_take_what_a_big_one_waits_for(void **state)
{
	(void)state;
	/* 4 places: 1 is free, 3 come with job 1 at 100, when 9 wants all */
	runs(1, 0, 2, 100);
	plan(9, 8, 100, 500, 4);
	assert_int_equal(spare(&small, 1, 0, 150), 0);
	assert_int_equal(spare(&small, 1, 0, 100), SIZE_MAX);
	plan(9, 8, 100, 500, 3);
	assert_int_equal(spare(&small, 1, 0, 150), 1);
}

static void only_those_before_it_bind_a_job(void **state)
{
	struct vs_applicant same = { .job = 9, .rank = 5 };
	struct vs_applicant high = { .job = 50, .rank = 9 };
	struct vs_applicant older = { .job = 3, .rank = 8 };
	struct vs_applicant other = { .job = 50, .rank = 5, .kind = 1 };

	(void)state;
	plan(9, 8, 100, 500, 4);
	assert_int_equal(spare(&small, 4, 0, 150), 0);
	assert_int_equal(spare(&same, 4, 0, 150), SIZE_MAX);
	assert_int_equal(spare(&high, 4, 0, 150), SIZE_MAX);
	assert_int_equal(spare(&older, 4, 0, 150), SIZE_MAX);
	assert_int_equal(spare(&other, 4, 0, 150), SIZE_MAX);
	t.shared[2] = t.shared[1] = true;	/* the kinds want the same */
	assert_int_equal(spare(&other, 4, 0, 150), 0);
	vs_timeline_plan_drop(&t, 9);
	assert_int_equal(spare(&small, 4, 0, 150), SIZE_MAX);
}

static void plans_one_after_the_other_are_no_sum(void **state)
{
	(void)state;
	plan(9, 8, 100, 200, 3);
	plan(10, 8, 200, 300, 2);
	plan(11, 8, 250, 400, 1);
	assert_int_equal(spare(&small, 4, 0, 1000), 1);
	assert_int_equal(spare(&small, 4, 200, 1000), 1);
	assert_int_equal(spare(&small, 4, 300, 1000), 3);
	assert_int_equal(spare(&small, 4, 210, 240), 2);
	assert_int_equal(spare(&small, 4, 400, 1000), SIZE_MAX);
}

static void a_plan_whose_time_has_come_still_holds_its_places(void **state)
{
	(void)state;
	/* job 1 should have ended at 100 */
	runs(1, 0, 0, 100);
	plan(9, 8, 100, 500, 2);
	assert_int_equal(spare(&small, 1, 130, 200), 0);
	assert_int_equal(spare(&small, 2, 130, 200), 1);
}

static void a_plan_moves_and_is_replaced(void **state)
{
	(void)state;
	plan(9, 8, 100, 500, 4);
	vs_timeline_plan_move(&t, vs_timeline_job_plan(&t, 9), 300);
	assert_int_equal(vs_timeline_job_plan(&t, 9)->end, 700);
	assert_int_equal(spare(&small, 4, 0, 300), SIZE_MAX);
	assert_int_equal(spare(&small, 4, 600, 700), 0);
	plan(9, 8, 50, 60, 1);
	assert_int_equal(t.nplans, 1);
	assert_int_equal(spare(&small, 4, 0, 300), 3);
}

static void a_reservation_binds_all_but_its_own(void **state)
{
	struct vs_applicant high = { .job = 50, .rank = UINT64_MAX };
	struct vs_applicant own = { .job = 50, .reserved = true };

	(void)state;
	vs_timeline_reserve(&t, 100, 200, (size_t[]){ 3, 0 });
	plan(9, 8, 50, 60, 1);
	assert_int_equal(spare(&high, 4, 0, 1000), 1);
	assert_int_equal(spare(&own, 4, 70, 1000), SIZE_MAX);
	vs_timeline_unreserve(&t);
	assert_int_equal(t.nplans, 1);
	assert_int_equal(spare(&high, 4, 0, 1000), SIZE_MAX);
	assert_int_equal(spare(&small, 4, 0, 1000), 3);
}

static void the_first_slot_that_is_long_enough(void **state)
{
	(void)state;
	plan(9, 8, 100, 200, 4);
	plan(10, 8, 300, 400, 4);
	assert_int_equal(vs_timeline_start(&t, all(), &small, 4, 1, 0, 100), 0);
	assert_int_equal(vs_timeline_start(&t, all(), &small, 4, 1, 1, 100),
			 200);
	assert_int_equal(vs_timeline_start(&t, all(), &small, 4, 1, 0, 101),
			 400);
	/* a running job's end makes room beside a plan */
	runs(1, 0, 0, 150);
	assert_int_equal(vs_timeline_start(&t, all(), &small, 4, 1, 100, 50),
			 150);
	/* whether there are so many at all is the curve's word */
	assert_int_equal(vs_timeline_start(&t, all(), &small, 4, 6, 60, 50),
			 200);
}

/* One after the other, each as long as the next: not one is out of sight. */
static void a_slot_behind_many_plans_is_found(void **state)
{
	const int many = 300, more = 3000;

	(void)state;
	for (int i = 0; i < many; i++)
		plan((uint32_t)(1000 + i), 8, 100 * i, 100 * (i + 1), 4);
	assert_int_equal(vs_timeline_start(&t, all(), &small, 4, 1, 0, 100),
			 100 * many);
	/* where looking costs too much it is "not before" */
	for (int i = many; i < more; i++)
		plan((uint32_t)(1000 + i), 8, 100 * i, 100 * (i + 1), 4);
	assert_uint_in_range(vs_timeline_start(&t, all(), &small, 4, 1, 0, 100),
			     100 * 64, 100 * more);
}

/* ---- all of it, against counting second by second --------------------------------------- */

static uint32_t seed;

static uint32_t pick(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static size_t counted(int64_t at, size_t room, const size_t need[8],
		      const int64_t start[8], const int64_t end[8],
		      int64_t from)
{
	size_t have = room, taken = 0;

	for (uint32_t job = 1; job < 6; job++)
		for (int id = 0; id < IDS; id++)
			if (t.held[id].of && t.held[id].of->job == job &&
			    t.held[id].of->end <= at)
				have += gains[id];
	for (int i = 0; i < 8; i++)
		if (start[i] <= at && end[i] > at && end[i] > from)
			taken += need[i];
	return have > taken ? have - taken : 0;
}

static void what_is_spare_is_what_counting_finds(void **state)
{
	(void)state;
	for (seed = 1; seed < 2000000; seed += 10007) {
		uint32_t keep = seed;
		size_t need[8], room;
		int64_t start[8], end[8], from, to;
		size_t least = SIZE_MAX, got;

		stage_down(NULL);
		stage_up(NULL);
		for (int id = 0; id < IDS; id++) {
			gains[id] = pick(3);
			if (pick(3))
				vs_timeline_claim(&t, id, 1 + pick(5));
		}
		for (uint32_t job = 1; job < 6; job++)
			vs_timeline_end(&t, job, pick(100));
		for (int i = 0; i < 8; i++) {
			start[i] = pick(100);
			end[i] = start[i] + 1 + pick(40);
			need[i] = 1 + pick(3);
			plan(100 + (uint32_t)i, 8, start[i], end[i], need[i]);
		}
		room = pick(6);
		from = pick(60);
		to = from + 1 + pick(60);
		for (int64_t at = from; at < to; at++) {
			size_t have = counted(at, room, need, start, end, from);
			bool any = false;

			for (int i = 0; i < 8; i++)
				any |= start[i] <= at && end[i] > at;
			if (any && have < least)
				least = have;
		}
		got = spare(&small, room, from, to);
		assert_int_equal(got, least);
		seed = keep;
	}
}

#define T(f) cmocka_unit_test_setup_teardown(f, stage_up, stage_down)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(places_come_free_in_the_order_of_ends),
		T(an_end_that_moves_moves_its_places),
		T(idle_ones_come_first_and_some_never_go),
		T(a_holder_changes_hands),
		T(a_job_that_ended_is_forgotten_once_it_holds_nothing),
		T(every_change_shows_and_nothing_else),
		T(other_nodes_forget_holders_but_no_ends),
		T(who_gains_nothing_is_not_waited_for),
		T(those_that_the_job_keeps_gain_nothing_for_it),
		T(what_is_gained_by_a_time_and_with_which_end),
		T(a_gain_counts_once_whatever_became_of_its_group),
		T(a_small_job_may_not_take_what_a_big_one_waits_for),
		T(only_those_before_it_bind_a_job),
		T(plans_one_after_the_other_are_no_sum),
		T(a_plan_whose_time_has_come_still_holds_its_places),
		T(a_plan_moves_and_is_replaced),
		T(a_reservation_binds_all_but_its_own),
		T(the_first_slot_that_is_long_enough),
		T(a_slot_behind_many_plans_is_found),
		T(what_is_spare_is_what_counting_finds),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
