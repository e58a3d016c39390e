/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long things take here, by template: a moving mean of what was measured,
 * for estimates alone (svf plan, prefetch). Nothing hangs on it being right,
 * it is kept in memory and restarts with the process. And times of day as
 * people read them. The lock is held.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "engine/state/state.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/time.h"

#define TEMPLATES_MAX 64	/* forgotten ones make room */
#define WEIGHT 4		/* the last one counts a fourth */
#define DOWN_MS 5000		/* beside ShutdownGrace, until one was seen to go */
#define DOWN_MOST_MS 60000

static const char *const keys[VS_DURATIONS] = {
	[VS_OP_CLONE] = "clone_ms",
	[VS_OP_RECONFIGURE] = "reconfigure_ms",
	[VS_OP_RELOCATE] = "relocate_ms",
	[VS_OP_POWER_ON] = "power_on_ms",
	[VS_OP_POWER_OFF] = "power_off_ms",
	[VS_OP_DESTROY] = "destroy_ms",
	[VS_DURATION_BOOT] = "boot_ms",
	[VS_DURATION_CLONE_SOURCE] = "clone_source_ms",
};

static struct vs_durations *paces;	/* uthash by template's moid */

static struct vs_durations *pace_find(const struct vs_profile *p)
{
	struct vs_durations *t;

	HASH_FIND_STR(paces, p->template_moid, t);
	return t;
}

static struct vs_durations *pace_new(const struct vs_profile *p)
{
	struct vs_durations *t = vs_calloc(1, sizeof(*t));

	if (HASH_COUNT(paces) >= TEMPLATES_MAX) {
		struct vs_durations *oldest = paces;

		HASH_DEL(paces, oldest);
		free(oldest);
	}
	vs_strlcpy(t->template_moid, p->template_moid,
		   sizeof(t->template_moid));
	HASH_ADD_STR(paces, template_moid, t);
	return t;
}

void vs_duration_note(const struct vs_profile *p, int what,
		      int64_t ms)
{
	struct vs_durations *t;

	if (what < 0 || what >= VS_DURATIONS || !keys[what] || ms < 0 ||
	    !p->template_moid[0])
		return;
	t = pace_find(p);
	if (!t)
		t = pace_new(p);
	vs_strlcpy(t->name, p->template_name, sizeof(t->name));
	t->ms[what] = t->known & 1u << what ?
		t->ms[what] + (ms - t->ms[what]) / WEIGHT : ms;
	t->known |= 1u << what;
}

int64_t vs_duration_ms(const struct vs_profile *p,
		       int what)
{
	const struct vs_durations *t = pace_find(p);

	vs_assert_locked();
	return t && what >= 0 && what < VS_DURATIONS && t->known & 1u << what ?
		t->ms[what] : -1;
}

void vs_paces_clear(void)
{
	struct vs_durations *t, *tmp;

	HASH_ITER(hh, paces, t, tmp) {
		HASH_DEL(paces, t);
		free(t);
	}
}

void vs_report_paces(struct json_object *top)
{
	struct json_object *arr = paces ? vs_jb_arr() : NULL;

	vs_assert_locked();
	for (const struct vs_durations *t = paces; t; t = t->hh.next) {
		struct json_object *o = vs_jb_obj(NULL);

		vs_jb_str(o, "template", t->name);
		for (int i = 0; i < VS_DURATIONS; i++)
			if (t->known & 1u << i)
				vs_jb_int(o, keys[i], t->ms[i]);
		vs_jb_add(arr, o);
	}
	if (arr)
		vs_jb_put(top, "usual_durations", arr);
}

void vs_clock_text(int64_t at, char *out, size_t size)
{
	time_t then = (time_t)at, now = (time_t)(vs_wall_ms() / 1000);
	struct tm day, today;

	localtime_r(&then, &day);
	localtime_r(&now, &today);
	strftime(out, size, day.tm_yday == today.tm_yday &&
		 day.tm_year == today.tm_year ? "%H:%M" : "%Y-%m-%dT%H:%M",
		 &day);
}

static int64_t down_ms;		/* how long a reclaimed VM takes to go; 0: unknown */

void vs_forecast_down_set(int64_t ms)
{
	down_ms = ms;
}

int64_t vs_forecast_down_ms(void)
{
	return down_ms;
}

int64_t vs_power_down_s(const struct vs_core *c)
{
	int64_t ms = down_ms ? down_ms :
		DOWN_MS + (int64_t)c->conf->shutdown_grace_s * 1000;

	/* Guests that do as they are told take no minutes. */
	return ((ms < DOWN_MOST_MS ? ms : DOWN_MOST_MS) + 999) / 1000;
}
