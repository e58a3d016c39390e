/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counting for the metrics, where things happen: a few additions under the lock
 * that is held there anyway. Counters of the process; nothing is decided by them.
 */
#include <string.h>
#include "engine/state/state.h"
#include "util/mem.h"

_Static_assert(VS_DURATIONS <= VS_METRIC_STEPS, "raise VS_METRIC_STEPS");

const int64_t vs_hist_step_ms[VS_HIST_BOUNDS] = {
	500, 1000, 2500, 5000, 10000, 20000, 30000, 60000, 120000, 300000,
	600000, 1800000,
};
const int64_t vs_hist_wait_ms[VS_HIST_BOUNDS] = {
	1000, 5000, 15000, 60000, 300000, 900000, 1800000, 3600000, 10800000,
	21600000, 43200000, 86400000,
};

static struct vs_metrics counted;
static struct vs_times wall_times[VS_TIMED], cpu_times[VS_TIMED];

const struct vs_metrics *vs_metrics_counted(void)
{
	return &counted;
}

void vs_metrics_clear(void)
{
	counted = (struct vs_metrics) { .starts = 0 };
}

void vs_timed_add(enum vs_timed what, int64_t us, int64_t cpu_us)
{
	vs_times_add(&wall_times[what], us);
	vs_times_add(&cpu_times[what], cpu_us);
}

struct vs_times *vs_timed(enum vs_timed what, bool cpu)
{
	return cpu ? &cpu_times[what] : &wall_times[what];
}

static struct vs_query_counts queries[VS_QUERY_MODES];
static _Atomic(struct vs_query_counts *) last_call = &queries[VS_QUERY_OTHER];

void vs_query_counts_call(enum vs_query_mode mode)
{
	struct vs_query_counts *q = &queries[mode];

	q->calls++;
	last_call = q;
}

void vs_query_counts_core(void)
{
	struct vs_query_counts *q = last_call;

	q->core++;
}

void vs_query_counts_stock(void)
{
	struct vs_query_counts *q = last_call;

	q->stock++;
}

const struct vs_query_counts *vs_query_counts(enum vs_query_mode mode)
{
	return &queries[mode];
}

static void add(struct vs_hist *h, const int64_t *bounds, int64_t ms)
{
	int i = 0;

	if (ms < 0)
		ms = 0;
	while (i < VS_HIST_BOUNDS && ms > bounds[i])
		i++;
	h->n[i]++;
	h->sum_ms += ms;
}

void vs_metrics_duration(int step, int64_t ms)
{
	if (step > VS_OP_NONE && step < VS_DURATIONS)
		add(&counted.steps[step], vs_hist_step_ms, ms);
}

void vs_metrics_failed(int step, enum vs_code code)
{
	if (step > VS_OP_NONE && step < VS_DURATIONS && code < VS_CODES)
		counted.failed[step][code]++;
}

void vs_metrics_released(enum vs_code code)
{
	counted.given_up[code]++;
}

void vs_metrics_started(int64_t ms)
{
	counted.starts++;
	if (ms)
		vs_metrics_duration(VS_DURATION_BOOT, ms);
}

void vs_metrics_off_asked(struct vs_node *n, int64_t asked_ms)
{
	if (!n->off_asked_ms)
		n->off_asked_ms = asked_ms;
}

void vs_metrics_off(struct vs_node *n, bool is_off,
		    int64_t now_ms)
{
	if (!n->off_asked_ms || n->seen == VS_OBSERVED_BUSY ||
	    vs_observed_unsure(n->seen))
		return;
	if (is_off)
		vs_metrics_duration(VS_OP_SHUTDOWN, now_ms - n->off_asked_ms);
	else if (n->seen != VS_OBSERVED_ON || n->wanted == VS_DESIRED_OFF ||
		 n->wanted == VS_DESIRED_GONE)
		return;			/* it is on its way */
	n->off_asked_ms = 0;
}

void vs_metrics_pending(struct vs_pending *r, enum vs_pending_reason lacks,
			int64_t now_ms)
{
	if (r && !r->lacked_ms && lacks != VS_PENDING_NODES)
		r->lacked_ms = now_ms;
}

void vs_metrics_began(const struct vs_pending *r,
		      int64_t now_ms)
{
	add(&counted.vf_wait, vs_hist_wait_ms,
	    r && r->lacked_ms ? now_ms - r->lacked_ms : 0);
}

void vs_metrics_clone_source_made(enum vs_clone_type kind)
{
	counted.parents[kind].made++;
}

void vs_metrics_clone_source_failed(enum vs_clone_type kind)
{
	counted.parents[kind].failed++;
}

void vs_metrics_clone_source_ended(enum vs_clone_type kind)
{
	counted.parents[kind].ended++;
}

static struct { char at[96], why[256]; } served;

bool vs_metrics_place_set(const char *at, const char *why)
{
	bool news = strcmp(served.at, at) || strcmp(served.why, why);

	vs_strlcpy(served.at, at, sizeof(served.at));
	vs_strlcpy(served.why, why, sizeof(served.why));
	return news;
}

void vs_metrics_place(const char **at, const char **why)
{
	*at = served.at;
	*why = served.why;
}
