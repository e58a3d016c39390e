/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How it is said what a job that waits needs, what there is of it, and when the
 * rest is expected. One PF per host.
 */
#include <time.h>
#include "engine/forecast/forecast_i.h"
#include "engine_stage.h"
#include "util/time.h"

/* Two VFs for four names; 7 has vm1, 8 has vm2. */
static void begin_full(void)
{
	begin(4, 2, 1, "warm");
	vs_forecast_clear();
	vs_forecast_renew(&vs_core);
	vs_forecast_down_set(10000);
	ready();
	bring_up(7, "vm1");
	bring_up(8, "vm2");
}

static struct vs_pending waits = { .job = 50, .need = 4,
				   .why = "needs 4 sriov-roce VFs, 3 free" };

static const char *words(void)
{
	static char text[256];

	vs_estimate_text(&waits, text, sizeof(text));
	return text;
}

static int64_t wall(void)
{
	return vs_wall_ms() / 1000;
}

static const char *lacks(size_t need, size_t have, const char *why)
{
	static char text[256];
	int ids[4] = { 0, 1, 2, 3 };

	vs_shortage_text(&vs_core, ids, need, need, have, why, text,
			 sizeof(text));
	return text;
}

static void what_lacks_is_said_in_vfs_and_nodes(void **state)
{
	(void)state;
	begin_full();
	assert_string_equal(lacks(4, 3, ""),
			    "needs 4 sriov-roce VFs, 3 free");
	assert_string_equal(lacks(1, 0, ", reserved for higher-priority jobs"),
			    "needs 1 sriov-roce VF, 0 free, reserved for higher-priority jobs");
	assert_string_equal(lacks(2, 1, ": the datastore is full"),
			    "needs 2 sriov-roce VFs, capacity for 1 VM: "
			    "the datastore is full");
	assert_string_equal(lacks(2, 0, "vCenter is not reachable"), "vCenter is not reachable");
}

static void a_time_is_said_as_squeue_prints_it(void **state)
{
	struct tm noon = { 0 };
	time_t then = (time_t)wall();
	char expect[256], day[32];

	(void)state;
	localtime_r(&then, &noon);
	noon.tm_hour = 23;
	noon.tm_min = 59;
	noon.tm_sec = 59;
	waits.need = 4;
	waits.expected = mktime(&noon);
	assert_true(waits.expected >= wall());
	if (waits.expected > wall())
		assert_string_equal(words(), "needs 4 sriov-roce VFs, "
				    "3 free; start expected 23:59");
	waits.expected += 7 * 86400;
	noon.tm_mday += 7;
	mktime(&noon);
	strftime(day, sizeof(day), "%Y-%m-%d", &noon);
	snprintf(expect, sizeof(expect), "needs 4 sriov-roce VFs, 3 "
		 "free; start expected %sT23:59", day);
	assert_string_equal(words(), expect);
	waits.expected = wall() + VS_START_UNKNOWN - 5;
	assert_string_equal(words(), "needs 4 sriov-roce VFs, 3 "
			    "free; start time unknown");
	assert_int_equal(vs_estimate_start(&waits), 0);
	waits.expected = wall() - 5;
	assert_string_equal(words(), waits.why);
}

static void a_long_reason_is_cut_before_the_time(void **state)
{
	struct vs_pending r = { .need = 4 };
	char text[256];

	(void)state;
	memset(r.why, 'x', sizeof(r.why) - 1);
	r.expected = wall() + VS_START_UNKNOWN - 5;
	vs_estimate_text(&r, text, sizeof(text));
	assert_non_null(strstr(text, "; start time unknown"));
}

/* A time that moves by seconds isn't news. */
static void what_was_said_moves_by_minutes_and_seldom(void **state)
{
	struct vs_pending *r;
	int wants;
	int64_t was;

	(void)state;
	begin_full();
	vs_forecast_job_end(&vs_core, 7, wall() + 1000);
	vs_forecast_job_end(&vs_core, 8, wall() + 1000);
	wants = id("vm3");
	refuse(50, &wants, 1, 1, "needs 1 node, 0 sriov-roce VFs free");
	r = vs_refusals();
	assert_true(vs_estimate_is_due(r, now));
	vs_estimate_update(&vs_core, r, now);
	was = r->expected;
	assert_true(was >= wall() + 1000 && was <= wall() + 1020);
	assert_false(vs_estimate_is_due(r, now + 29000));
	assert_true(vs_estimate_is_due(r, now + 30000));
	vs_forecast_job_end(&vs_core, 7, wall() + 1040);
	vs_forecast_job_end(&vs_core, 8, wall() + 1040);
	vs_estimate_update(&vs_core, r, now + 30000);
	assert_int_equal(r->expected, was);
	vs_forecast_job_end(&vs_core, 7, wall() + 900);
	vs_estimate_update(&vs_core, r, now + 60000);
	assert_true(r->expected <= wall() + 920);
	/* what Slurm has planned comes first */
	vs_timeline_plan(&vs_forecast.timeline, 50, 5, wall() + 2000,
			 wall() + 3000, (size_t[]){ 1 }, now);
	vs_estimate_update(&vs_core, r, now + 90000);
	assert_true(r->expected > wall() + 1900);
}

/* A job's record never shows new counts with the time of earlier ones. */
static void a_time_is_of_the_same_moment_as_the_counts(void **state)
{
	static const struct { size_t need; const char *why; bool same; } rows[] = {
		{ 2, "needs 2 sriov-roce VFs, 1 free", false },
		{ 2, "needs 2 sriov-roce VFs, 1 free", true },
		{ 2, "needs 2 sriov-roce VFs, 0 free", false },
		{ 1, "needs 2 sriov-roce VFs, 0 free", false },
	};
	struct vs_pending *r = NULL;
	int wants[2];

	(void)state;
	begin_full();
	wants[0] = id("vm3");
	wants[1] = id("vm4");
	for (size_t i = 0; i < VS_COUNT(rows); i++) {
		int64_t was = wall() + 5000;

		if (r)
			r->expected = was;
		refuse(50, wants, rows[i].need, rows[i].need, rows[i].why);
		r = vs_refusals();
		assert_string_equal(r->why, rows[i].why);
		assert_int_equal(vs_estimate_is_due(r, now), !rows[i].same);
		assert_int_equal(r->expected == was, rows[i].same);
		vs_estimate_update(&vs_core, r, now);
	}
}

/* The only VFs of two hosts; a job that ends between Slurm's test and the pass gives
 * one back, and the counts don't know it. */
static void no_time_of_another_moment_is_shown(void **state)
{
	const char *const none = "needs 2 sriov-roce VFs, 0 free";
	const char *const one = "needs 2 sriov-roce VFs, 1 free";
	struct vs_pending *r;
	char text[256];
	int wants[2];

	(void)state;
	begin_full();
	vs_forecast_job_end(&vs_core, 7, wall() + 1000);
	vs_forecast_job_end(&vs_core, 8, wall() + 2000);
	wants[0] = id("vm3");
	wants[1] = id("vm4");
	refuse(50, wants, 2, 2, none);
	end_job(7, "vm1");
	powered_down("vm1");
	r = vs_refusals();
	assert_int_equal(vs_query_capacity(&vs_core, wants, 2, NULL, NULL, 0), 1);
	vs_estimate_update(&vs_core, r, now);
	vs_estimate_text(r, text, sizeof(text));
	assert_string_equal(text, none);
	assert_true(r->expected_ms && vs_estimate_is_due(r, now));
	refuse(50, wants, 2, 2, one);
	vs_estimate_update(&vs_core, r, now);
	vs_estimate_text(r, text, sizeof(text));
	assert_memory_equal(text, one, strlen(one));
	assert_non_null(strstr(text, "; start expected "));
	assert_true(r->expected >= wall() + 2000 && r->expected <= wall() + 2020);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_lacks_is_said_in_vfs_and_nodes),
		cmocka_unit_test(a_time_is_said_as_squeue_prints_it),
		cmocka_unit_test(a_long_reason_is_cut_before_the_time),
		cmocka_unit_test(what_was_said_moves_by_minutes_and_seldom),
		cmocka_unit_test(a_time_is_of_the_same_moment_as_the_counts),
		cmocka_unit_test(no_time_of_another_moment_is_shown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
