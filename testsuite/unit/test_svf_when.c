/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times of the command line. Expected instants are from date(1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "svf/verbs/verbs.h"
#include "util/mem.h"

#define NOW 1772366400		/* 2026-03-01T13:00:00+01:00 */

static int setup(void **state)
{
	(void)state;
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	return 0;
}

static void slurms_forms_are_understood(void **state)
{
	static const struct { const char *text; int64_t at; } rows[] = {
		{ "now", NOW }, { "now+90", NOW + 90 },
		{ "now+2hours", NOW + 7200 }, { "now+1week", NOW + 604800 },
		{ "14:00", 1772370000 },	/* today */
		{ "13:00", 1772452800 },	/* over: tomorrow */
		{ "12:59:59", 1772452799 },
		{ "noon", 1772449200 }, { "midnight", 1772406000 },
		{ "tomorrow", 1772406000 },
		{ "2026-03-02", 1772406000 },
		{ "2026-03-01T14:00", 1772370000 },
		{ "2026-03-01T14:00:01", 1772370001 },
		{ "2026-07-01T08:00", 1782885600 },	/* summer time */
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(rows); i++)
		assert_int_equal(svf_start_parse(rows[i].text, NOW),
				 rows[i].at);
}

/* On 2026-03-29 the clock goes from 2:00 to 3:00. */
static void a_day_may_have_23_hours(void **state)
{
	(void)state;
	assert_int_equal(svf_start_parse("12:00", 1774695600 + 3600),
			 1774778400);
}

static void what_is_not_wholly_a_time_is_none(void **state)
{
	static const char *const texts[] = {
		"", "now-1", "now+", "now+ 3", "now+3 hours", "now+2fortnights",
		"now+99999999999999999999", "25:00", "14:00x", "14", "2026-13-01",
		"2026-03-01 14:00", "yesterday", "nowhere", "-1",
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(texts); i++)
		assert_int_equal(svf_start_parse(texts[i], NOW), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slurms_forms_are_understood),
		cmocka_unit_test(a_day_may_have_23_hours),
		cmocka_unit_test(what_is_not_wholly_a_time_is_none),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, NULL);
}
