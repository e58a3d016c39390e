/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan/reconcile/next_action: every pair of the table, and what must hold for
 * all of them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "plan/reconcile/next_action.h"

#define WAIT VS_DO_WAIT
#define CLON VS_DO_CLONE
#define PREP VS_DO_PREPARE
#define INST VS_DO_INSTANT
#define RELO VS_DO_RELOCATE
#define RECO VS_DO_RECONFIGURE
#define PWON VS_DO_POWER_ON
#define SHUT VS_DO_SHUTDOWN
#define DEST VS_DO_DESTROY
#define REPO VS_DO_REPORT
#define IDLE VS_DO_NOTHING

/* A job's life, read line by line; columns as enum vs_observed:
 *	UNKN  BUSY  NONE  NINST OFF   ELSE  OTHER STALE ON    WRONG SUSP  ALIEN */
static const enum vs_action expected[VS_WANTS][VS_SEENS] = {
	/* VS_DESIRED_OFF */
	{ WAIT, WAIT, IDLE, IDLE, IDLE, IDLE, IDLE, IDLE, SHUT, SHUT, SHUT, IDLE },
	/* VS_DESIRED_GONE */
	{ WAIT, WAIT, IDLE, IDLE, DEST, DEST, DEST, DEST, SHUT, SHUT, SHUT, IDLE },
	/* VS_DESIRED_READY */
	{ WAIT, WAIT, CLON, PREP, IDLE, RELO, RECO, DEST, SHUT, SHUT, SHUT, REPO },
	/* VS_DESIRED_ON */
	{ WAIT, WAIT, CLON, INST, PWON, RELO, RECO, DEST, IDLE, SHUT, SHUT, REPO },
	/* VS_DESIRED_KEEP */
	{ WAIT, WAIT, REPO, REPO, REPO, REPO, REPO, REPO, IDLE, IDLE, IDLE, REPO },
	/* VS_DESIRED_AHEAD */
	{ WAIT, WAIT, CLON, IDLE, IDLE, IDLE, IDLE, IDLE, SHUT, SHUT, SHUT, IDLE },
	/* VS_DESIRED_RENEW */
	{ WAIT, WAIT, CLON, INST, PWON, RELO, RECO, DEST, SHUT, SHUT, SHUT, REPO },
};

static void every_pair_has_its_action(void **state)
{
	(void)state;
	for (int w = 0; w < VS_WANTS; w++) {
		for (int s = 0; s < VS_SEENS; s++) {
			if (vs_next_action(w, s) != expected[w][s])
				fail_msg("%s x %s: %s, expected %s",
					 vs_desired_name(w),
					 vs_observed_name(s),
					 vs_action_name(vs_next_action(w, s)),
					 vs_action_name(expected[w][s]));
		}
	}
}

static void what_is_unknown_or_foreign_is_never_touched(void **state)
{
	(void)state;
	for (int w = 0; w < VS_WANTS; w++) {
		enum vs_action alien = vs_next_action(w, VS_OBSERVED_FOREIGN);

		assert_int_equal(vs_next_action(w, VS_OBSERVED_UNKNOWN),
				 VS_DO_WAIT);
		assert_int_equal(vs_next_action(w, VS_OBSERVED_BUSY),
				 VS_DO_WAIT);
		assert_true(alien == VS_DO_NOTHING || alien == VS_DO_REPORT);
	}
}

static void nothing_that_runs_is_destroyed_or_configured(void **state)
{
	(void)state;
	for (int w = 0; w < VS_WANTS; w++) {
		for (int s = VS_OBSERVED_ON; s <= VS_OBSERVED_ON_WRONG; s++) {
			enum vs_action a = vs_next_action(w, s);

			assert_true(a == VS_DO_NOTHING || a == VS_DO_SHUTDOWN);
		}
	}
}

static void a_vm_that_is_not_there_is_only_ever_cloned(void **state)
{
	(void)state;
	for (int w = 0; w < VS_WANTS; w++) {
		enum vs_action a = vs_next_action(w, VS_OBSERVED_NONE);

		assert_true(a == VS_DO_NOTHING || a == VS_DO_CLONE ||
			    a == VS_DO_REPORT);
	}
}

/* What a step leads to, if it works. */
static enum vs_observed after(enum vs_observed s, enum vs_action a)
{
	switch (a) {
	case VS_DO_CLONE:
	case VS_DO_RELOCATE:
	case VS_DO_RECONFIGURE:
	case VS_DO_SHUTDOWN:
		return s == VS_OBSERVED_ON_WRONG ? VS_OBSERVED_OFF_OTHER :
						   VS_OBSERVED_OFF;
	case VS_DO_POWER_ON:
	case VS_DO_INSTANT:
		return VS_OBSERVED_ON;
	case VS_DO_DESTROY:
		return VS_OBSERVED_NONE;
	default:
		return s;
	}
}

static void each_wish_comes_to_rest_in_four_steps(void **state)
{
	static const struct {
		enum vs_desired w;
		enum vs_observed end;
	} goals[] = {
		{ VS_DESIRED_READY, VS_OBSERVED_OFF },
		{ VS_DESIRED_ON, VS_OBSERVED_ON },
		{ VS_DESIRED_GONE, VS_OBSERVED_NONE },
	};

	(void)state;
	for (size_t g = 0; g < 3; g++) {
		for (int s = VS_OBSERVED_NONE; s <= VS_OBSERVED_SUSPENDED;
		     s++) {
			enum vs_observed now = s;

			if (s == VS_OBSERVED_NONE_INSTANT)
				continue;	/* it has a test of its own */

			for (int i = 0; i < 4; i++)
				now = after(now,
					    vs_next_action(goals[g].w, now));
			assert_int_equal(now, goals[g].end);
			assert_int_equal(vs_next_action(goals[g].w, now),
					 VS_DO_NOTHING);
		}
	}
}

/* It comes on at once: never before Slurm has asked for power. */
static void an_instant_clone_is_made_for_a_boot_alone(void **state)
{
	(void)state;
	for (int w = 0; w < VS_WANTS; w++) {
		enum vs_action a = vs_next_action(w, VS_OBSERVED_NONE_INSTANT);

		assert_int_not_equal(a, VS_DO_CLONE);
		assert_true((a == VS_DO_INSTANT) ==
			    (w == VS_DESIRED_ON || w == VS_DESIRED_RENEW));
		for (int s = 0; s < VS_SEENS; s++)
			assert_true(s == VS_OBSERVED_NONE_INSTANT ||
				    (vs_next_action(w, s) != VS_DO_INSTANT &&
				     vs_next_action(w, s) != VS_DO_PREPARE));
	}
	assert_int_equal(
		vs_next_action(VS_DESIRED_READY, VS_OBSERVED_NONE_INSTANT),
		VS_DO_PREPARE);
	assert_int_equal(
		after(VS_OBSERVED_NONE_INSTANT,
		      vs_next_action(VS_DESIRED_ON, VS_OBSERVED_NONE_INSTANT)),
		VS_OBSERVED_ON);
}

static void what_is_no_pair_touches_nothing(void **state)
{
	(void)state;
	assert_int_equal(vs_next_action(VS_WANTS, VS_OBSERVED_OFF), VS_DO_WAIT);
	assert_int_equal(vs_next_action(VS_DESIRED_GONE, VS_SEENS), VS_DO_WAIT);
}

static void names_are_there_and_differ(void **state)
{
	(void)state;
	for (int i = 0; i < VS_WANTS; i++)
		for (int k = 0; k < i; k++)
			assert_string_not_equal(vs_desired_name(i),
						vs_desired_name(k));
	for (int i = 0; i < VS_SEENS; i++)
		for (int k = 0; k < i; k++)
			assert_string_not_equal(vs_observed_name(i),
						vs_observed_name(k));
	for (int i = 0; i < VS_ACTIONS; i++)
		for (int k = 0; k < i; k++)
			assert_string_not_equal(vs_action_name(i),
						vs_action_name(k));
	assert_string_equal(vs_action_name(VS_DO_POWER_ON), "power-on");
	assert_string_equal(vs_observed_name(VS_OBSERVED_OFF_STALE),
			    "off-stale");
	assert_string_equal(vs_desired_name(VS_DESIRED_RENEW), "renew");
	assert_string_equal(vs_desired_name(VS_WANTS), "?");
	assert_string_equal(vs_observed_name(VS_SEENS), "?");
	assert_string_equal(vs_action_name(VS_ACTIONS), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pair_has_its_action),
		cmocka_unit_test(what_is_unknown_or_foreign_is_never_touched),
		cmocka_unit_test(nothing_that_runs_is_destroyed_or_configured),
		cmocka_unit_test(a_vm_that_is_not_there_is_only_ever_cloned),
		cmocka_unit_test(each_wish_comes_to_rest_in_four_steps),
		cmocka_unit_test(an_instant_clone_is_made_for_a_boot_alone),
		cmocka_unit_test(what_is_no_pair_touches_nothing),
		cmocka_unit_test(names_are_there_and_differ),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("step", tests, NULL, NULL);
}
