/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counting for the metrics, where things happen: a few additions under the lock
 * that is held there anyway. Counters of the process; nothing is decided by them.
 */
#include "engine/state/core_i.h"

_Static_assert(VS_PACES <= VS_METRIC_STEPS, "raise VS_METRIC_STEPS");

const int64_t vs_hist_step_ms[VS_HIST_BOUNDS] = {
	500, 1000, 2500, 5000, 10000, 20000, 30000, 60000, 120000, 300000,
	600000, 1800000,
};
const int64_t vs_hist_wait_ms[VS_HIST_BOUNDS] = {
	1000, 5000, 15000, 60000, 300000, 900000, 1800000, 3600000, 10800000,
	21600000, 43200000, 86400000,
};

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

void vs_metrics_step(struct vs_core *c, int step, int64_t ms)
{
	if (step > VS_OP_NONE && step < VS_PACES)
		add(&c->metrics.steps[step], vs_hist_step_ms, ms);
}

void vs_metrics_failed(struct vs_core *c, int step, enum vs_code code)
{
	if (step > VS_OP_NONE && step < VS_PACES && code < VS_CODES)
		c->metrics.failed[step][code]++;
}

void vs_metrics_given_up(struct vs_core *c, enum vs_code code)
{
	c->metrics.given_up[code]++;
}

void vs_metrics_started(struct vs_core *c, int64_t ms)
{
	c->metrics.starts++;
	if (ms)
		vs_metrics_step(c, VS_PACE_BOOT, ms);
}

void vs_metrics_off_asked(struct vs_node *n, int64_t asked_ms)
{
	if (!n->off_asked_ms)
		n->off_asked_ms = asked_ms;
}

void vs_metrics_off(struct vs_core *c, struct vs_node *n, bool is_off,
		    int64_t now_ms)
{
	if (!n->off_asked_ms || n->seen == VS_SEEN_BUSY ||
	    vs_seen_unsure(n->seen))
		return;
	if (is_off)
		vs_metrics_step(c, VS_OP_SHUTDOWN, now_ms - n->off_asked_ms);
	else if (n->seen != VS_SEEN_ON || n->wanted == VS_WANT_OFF ||
		 n->wanted == VS_WANT_GONE)
		return;			/* it is on its way */
	n->off_asked_ms = 0;
}

void vs_metrics_lacks(struct vs_refused *r, enum vs_lacks lacks,
		      int64_t now_ms)
{
	if (r && !r->lacked_ms && lacks != VS_LACKS_NODES)
		r->lacked_ms = now_ms;
}

void vs_metrics_began(struct vs_core *c, const struct vs_refused *r,
		      int64_t now_ms)
{
	add(&c->metrics.vf_wait, vs_hist_wait_ms,
	    r && r->lacked_ms ? now_ms - r->lacked_ms : 0);
}
