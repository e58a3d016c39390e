/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Times on the command line, in the forms that people know of sbatch --begin.
 * Strict: what isn't wholly one of them is refused, for a wrong guess would
 * drain a host on another day.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "verbs.h"
#include "util/mem.h"

#define DAY_S 86400
#define LAST_S ((int64_t)1 << 37)	/* of what a tm can say, and more */

static const struct { const char *name; int64_t s; } units[] = {
	{ "", 1 }, { "second", 1 }, { "seconds", 1 }, { "minute", 60 },
	{ "minutes", 60 }, { "hour", 3600 }, { "hours", 3600 },
	{ "day", DAY_S }, { "days", DAY_S }, { "week", 7 * DAY_S },
	{ "weeks", 7 * DAY_S },
};

static int64_t from_now(const char *text, int64_t now_s)
{
	char *end;
	long n;

	if (!*text)
		return now_s;
	if (*text != '+' || text[1] < '0' || text[1] > '9')
		return -1;
	errno = 0;
	n = strtol(text + 1, &end, 10);
	for (size_t i = 0; !errno && i < VS_COUNT(units); i++)
		if (!strcmp(end, units[i].name) && n <= LAST_S / units[i].s)
			return now_s + n * units[i].s;
	return -1;
}

static bool in_form(const char *text, const char *form, struct tm *tm)
{
	const char *end;

	*tm = (struct tm) { .tm_isdst = -1 };
	end = strptime(text, form, tm);
	tm->tm_isdst = -1;
	return end && !*end;
}

/* Of today, or the day after if that is over. */
static int64_t of_day(int hour, int minute, int second, int days, int64_t now_s)
{
	time_t now = (time_t)now_s, at;
	struct tm day;

	if (!localtime_r(&now, &day))
		return -1;
	for (;; days++) {
		struct tm tm = day;

		tm.tm_mday += days;
		tm.tm_hour = hour;
		tm.tm_min = minute;
		tm.tm_sec = second;
		tm.tm_isdst = -1;
		at = mktime(&tm);
		if (at == (time_t)-1 || at > now || days)
			return (int64_t)at;
	}
}

int64_t svf_start_parse(const char *text, int64_t now_s)
{
	static const char *const dates[] = {
		"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d",
	};
	struct tm tm;

	if (!strncmp(text, "now", 3))
		return from_now(text + 3, now_s);
	if (!strcmp(text, "midnight"))
		return of_day(0, 0, 0, 1, now_s);
	if (!strcmp(text, "noon"))
		return of_day(12, 0, 0, 0, now_s);
	if (!strcmp(text, "tomorrow"))
		return of_day(0, 0, 0, 1, now_s);
	if (in_form(text, "%H:%M", &tm) || in_form(text, "%H:%M:%S", &tm))
		return of_day(tm.tm_hour, tm.tm_min, tm.tm_sec, 0, now_s);
	for (size_t i = 0; i < VS_COUNT(dates); i++)
		if (in_form(text, dates[i], &tm))
			return (int64_t)mktime(&tm);
	return -1;
}
