/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The timeline, kept true: which of our nodes hold a place, until when their
 * jobs run, whose plans still stand.
 *
 * Rules: a claim, its end and a hold that goes are noted at once, for the next
 * question comes in the same cycle of Slurm's; what else becomes of a node is
 * noted when the engine looks at it. Ends and starts of jobs are read from
 * Slurm on the beat, for those alone that we know. The lock is held.
 */
#include <stdlib.h>
#include "engine/allocation/allocation.h"
#include "engine/forecast/forecast.h"
#include "engine/forecast/forecast_i.h"
#include "engine/slurm/slurm_ops.h"
#include "engine/state/state.h"
#include "util/mem.h"
#include "util/time.h"

#define PLAN_MS 90000		/* a plan while backfill makes no passes */
#define PLAN_PASSES 2		/* ended since: the one that made it, and another */

struct vs_forecast vs_forecast;

static void kinds_free(struct vs_forecast *w)
{
	for (size_t i = 0; i < w->nkinds; i++) {
		vs_capacity_released_clear(&w->kinds[i].gains);
		free(w->kinds[i].held);
	}
	free(w->kinds);
	free(w->need);
	w->shared_of = 0;
}

void vs_forecast_clear(void)
{
	struct vs_forecast *w = &vs_forecast;

	vs_assert_locked();
	kinds_free(w);
	vs_timeline_clear(&w->timeline);
	w->kinds = NULL;
	w->need = NULL;
	w->nkinds = 0;
}

void vs_forecast_renew(struct vs_core *c)
{
	struct vs_forecast *w = &vs_forecast;

	vs_assert_locked();
	kinds_free(w);
	w->nkinds = c->nprofiles;
	w->kinds = vs_calloc(w->nkinds + 1, sizeof(*w->kinds));
	w->need = vs_calloc(w->nkinds + 1, sizeof(*w->need));
	vs_timeline_size(&w->timeline, c->nnodes, w->nkinds);
	for (size_t i = 0; i < c->nnodes; i++)
		vs_forecast_update_node(c, &c->nodes[i]);
}

/* ---- nodes ---------------------------------------------------------------------- */

/* The job that keeps it longest. */
static uint32_t keeper(const struct vs_node *n)
{
	const struct vs_timeline *t = &vs_forecast.timeline;
	uint32_t job = n->claims.job;

	for (size_t i = 0; i < n->claims.nbeside; i++)
		if (vs_timeline_job_end(t, n->claims.beside[i].job) >
		    vs_timeline_job_end(t, job))
			job = n->claims.beside[i].job;
	return job;
}

void vs_forecast_update_node(struct vs_core *c, struct vs_node *n)
{
	struct vs_timeline *t = &vs_forecast.timeline;

	vs_assert_locked();
	if ((size_t)n->id >= t->nids)
		return;
	if (!vs_node_going(n) || n->claims.job)
		n->going_ms = 0;
	else if (!n->going_ms)
		n->going_ms = vs_clock();
	if (!vs_ledger_get(&c->ledger, n->name))
		vs_timeline_let_go(t, n->id);
	else if ((n->flags & VS_NODE_STAYS_EVER) && !vs_node_going(n))
		vs_timeline_claim(t, n->id, VS_HOLDER_STAYS);
	else if (n->claims.job)
		vs_timeline_claim(t, n->id, keeper(n));
	else if (n->absent.how || vs_observed_unsure(n->seen))
		vs_timeline_claim(t, n->id, VS_HOLDER_STAYS);
	else
		vs_timeline_claim(t, n->id, VS_HOLDER_IDLE);
}

/* How long that took from when it was to go: what the next ones will take. */
static void released(struct vs_core *c, struct vs_node *n)
{
	int64_t took_ms = vs_clock() - n->going_ms;
	int64_t was_ms = vs_forecast_down_ms();

	if (n->going_ms)
		vs_forecast_down_set(was_ms ? (3 * was_ms + took_ms) / 4 :
					      took_ms);
	n->going_ms = 0;
	vs_forecast_update_node(c, n);
}

void vs_forecast_claim_changed(struct vs_core *c, struct vs_node *n,
			       enum vs_claim_event e,
			       const struct vs_claim *before)
{
	(void)before;
	if (e == VS_CLAIM_TAKEN)
		vs_forecast_update_node(c, n);
	else if (e == VS_CLAIM_RELEASED)
		released(c, n);
}

/* ---- jobs ------------------------------------------------------------------------- */

/* Nodes that it kept longest may be kept by others now. (Where it is the other
 * way round, that shows when all nodes are looked at.) */
static void shared_again(struct vs_core *c, uint32_t job)
{
	struct vs_holders *g;
	VS_FREE int *ids = NULL;
	size_t n;

	HASH_FIND(hh, vs_forecast.timeline.groups, &job, sizeof(job), g);
	if (!g || !g->n)
		return;
	n = g->n;
	ids = vs_calloc(n, sizeof(*ids));
	for (size_t i = 0; i < n; i++)
		ids[i] = g->ids[i];
	for (size_t i = 0; i < n; i++)
		if (c->nodes[ids[i]].claims.nbeside)
			vs_forecast_update_node(c, &c->nodes[ids[i]]);
}

void vs_forecast_job_end(struct vs_core *c, uint32_t job, int64_t end)
{
	struct vs_timeline *t = &vs_forecast.timeline;

	vs_assert_locked();
	if (vs_timeline_job_end(t, job) == end)
		return;
	vs_timeline_end(t, job, end);
	shared_again(c, job);
}

void vs_forecast_settled(uint32_t job)
{
	struct vs_forecast *w = &vs_forecast;

	vs_timeline_plan_drop(&w->timeline, job);
	for (size_t i = 0; i < w->nkinds; i++)
		if (w->kinds[i].first == job)
			w->kinds[i].first = 0;
}

/* ---- Slurm's word on the beat --------------------------------------------------- */

static size_t jobs_known(const struct vs_timeline *t,
			 struct vs_slurm_job **rows)
{
	const struct vs_plan *p;
	size_t n = 0;

	*rows = vs_calloc(t->ngroups + t->nplans + 1, sizeof(**rows));
	for (size_t i = 0; i < t->ngroups; i++)
		if (t->by_end[i].of->job != VS_HOLDER_IDLE &&
		    t->by_end[i].of->job != VS_HOLDER_STAYS)
			(*rows)[n++].job = t->by_end[i].of->job;
	for (p = t->plans; p; p = p->hh.next)
		(*rows)[n++].job = p->job;
	return n;
}

/*
 * Backfill plans every job again in each of its passes, as far as it gets. Slurm
 * keeps nothing for a job that a pass did not plan: a node was drained, say. Its
 * old plan would keep VFs from the jobs behind it.
 */
static bool plan_is_old(struct vs_plan *p, const struct vs_slurm_job *row,
			int64_t now_ms)
{
	if (row->passes < p->passes)
		p->passes = row->passes;	/* counted from 0 again */
	return row->passes - p->passes >= PLAN_PASSES ||
		now_ms - p->told_ms > PLAN_MS;
}

static void plan_observed(const struct vs_slurm_job *row,
			  int64_t now_ms)
{
	struct vs_timeline *t = &vs_forecast.timeline;
	struct vs_plan *p = vs_timeline_job_plan(t, row->job);

	if (!p)
		return;
	if (row->start)
		p->told_ms = now_ms;
	if (row->is != VS_JOB_PENDING || plan_is_old(p, row, now_ms))
		vs_forecast_settled(row->job);
	else if (row->start && row->start != p->start)
		vs_timeline_plan_move(t, p, row->start);
}

static void job_seen(struct vs_core *c, const struct vs_slurm_job *row,
		     int64_t now_ms)
{
	int64_t end = vs_timeline_job_end(&vs_forecast.timeline, row->job);

	plan_observed(row, now_ms);
	if (row->is == VS_JOB_RUNNING) {
		vs_forecast_job_end(c, row->job, row->end);
		return;
	}
	if (row->is == VS_JOB_GONE && end > vs_wall_ms() / 1000)
		vs_forecast_job_end(c, row->job, vs_wall_ms() / 1000);
	vs_timeline_forget(&vs_forecast.timeline, row->job);
}

size_t vs_forecast_jobs(struct vs_slurm_job **rows)
{
	vs_assert_locked();
	return jobs_known(&vs_forecast.timeline, rows);
}

void vs_forecast_seen(struct vs_core *c, const struct vs_slurm_job *rows,
		      size_t n)
{
	int64_t now_ms = vs_clock();

	vs_assert_locked();
	for (size_t i = 0; i < n; i++)
		job_seen(c, &rows[i], now_ms);
}

/* The end of the node's jobs, for vs_until_set(). */
int64_t vs_until_job(const struct vs_node *n)
{
	int64_t end = n->claims.job ? vs_timeline_job_end(&vs_forecast.timeline,
							  n->claims.job) :
				      VS_TIME_NEVER;

	for (size_t i = 0; i < n->claims.nbeside; i++) {
		int64_t one = vs_timeline_job_end(&vs_forecast.timeline,
						  n->claims.beside[i].job);

		end = one > end ? one : end;
	}
	return end == VS_TIME_NEVER ? 0 : end;
}
