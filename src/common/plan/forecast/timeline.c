/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holders and when they let go.
 *
 * Rules: everything is updated by change: a job's end moves one entry, a
 * holder changes its group in constant time, and whose place or end has
 * changed is found without a search (by_change). No holder is judged here:
 * capacity_curve.c says whether a holder's end helps. future_jobs.c has the
 * plans.
 */
#include <stdlib.h>
#include <string.h>
#include "plan/forecast/timeline.h"
#include "util/mem.h"

static void groups_clear(struct vs_timeline *t)
{
	struct vs_holders *g, *tmp;

	HASH_ITER(hh, t->groups, g, tmp) {
		HASH_DEL(t->groups, g);
		free(g->ids);
		free(g);
	}
	t->ngroups = t->nslots = 0;
}

static void plans_clear(struct vs_timeline *t)
{
	vs_timeline_unreserve(t);
	while (t->plans)
		vs_timeline_plan_drop(t, t->plans->job);
}

void vs_timeline_clear(struct vs_timeline *t)
{
	plans_clear(t);
	groups_clear(t);
	free(t->by_end);
	free(t->slots);
	free(t->held);
	free(t->by_start);
	free(t->by_stop);
	free(t->shared);
	*t = (struct vs_timeline) { .generation = t->generation + 1 };
}

void vs_timeline_size(struct vs_timeline *t, size_t nids, size_t nkinds)
{
	plans_clear(t);
	for (size_t i = 0; i < t->ngroups; i++)
		t->by_end[i].of->n = 0;
	free(t->held);
	free(t->shared);
	t->held = vs_calloc(nids + 1, sizeof(*t->held));
	t->nids = nids;
	TAILQ_INIT(&t->by_change);
	for (size_t i = 0; i < nids; i++)
		TAILQ_INSERT_HEAD(&t->by_change, &t->held[i], by_change);
	t->shared = vs_calloc(nkinds * nkinds + 1, sizeof(*t->shared));
	t->nkinds = nkinds;
	t->sized = ++t->generation;
}

/* ---- groups, by end ------------------------------------------------------------ */

size_t vs_timeline_ended(const struct vs_timeline *t, int64_t at)
{
	size_t lo = 0, hi = t->ngroups;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->by_end[mid].end > at)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static size_t index_of(const struct vs_timeline *t, const struct vs_holders *g)
{
	size_t i = vs_timeline_ended(t, g->end);

	while (i && t->by_end[i - 1].of != g)
		i--;
	return i - 1;
}

static void insert(struct vs_timeline *t, struct vs_holders *g)
{
	size_t at = vs_timeline_ended(t, g->end);

	VS_GROW(t->by_end, t->cap_groups, t->ngroups + 1);
	memmove(&t->by_end[at + 1], &t->by_end[at],
		(t->ngroups - at) * sizeof(*t->by_end));
	t->by_end[at] = (struct vs_ending) { g->end, g->slot, g };
	t->ngroups++;
}

static void take_out(struct vs_timeline *t, const struct vs_holders *g)
{
	size_t at = index_of(t, g);

	t->ngroups--;
	memmove(&t->by_end[at], &t->by_end[at + 1],
		(t->ngroups - at) * sizeof(*t->by_end));
}

static struct vs_holders *group_get(const struct vs_timeline *t, uint32_t job)
{
	struct vs_holders *g;

	HASH_FIND(hh, t->groups, &job, sizeof(job), g);
	return g;
}

static struct vs_holders *group(struct vs_timeline *t, uint32_t job)
{
	struct vs_holders *g = group_get(t, job);

	if (g)
		return g;
	g = vs_calloc(1, sizeof(*g));
	g->job = job;
	g->end = job == VS_HOLDER_IDLE ? 0 : VS_TIME_NEVER;
	g->slot = t->nslots ? t->slots[--t->nslots] : t->ngroups;
	HASH_ADD(hh, t->groups, job, sizeof(g->job), g);
	insert(t, g);
	return g;
}

/* Its place, or when that comes free, is another from this generation on. */
static void note(struct vs_timeline *t, int id)
{
	struct vs_timeline_place *h = &t->held[id];

	h->changed = t->generation;
	TAILQ_REMOVE(&t->by_change, h, by_change);
	TAILQ_INSERT_TAIL(&t->by_change, h, by_change);
}

void vs_timeline_end(struct vs_timeline *t, uint32_t job, int64_t end)
{
	struct vs_holders *g = group(t, job);

	if (g->end == end)
		return;
	take_out(t, g);
	g->end = end;
	insert(t, g);
	t->generation++;
	for (size_t i = 0; i < g->n; i++)
		note(t, g->ids[i]);
}

int64_t vs_timeline_job_end(const struct vs_timeline *t, uint32_t job)
{
	const struct vs_holders *g = group_get(t, job);

	return g ? g->end : VS_TIME_NEVER;
}

void vs_timeline_let_go(struct vs_timeline *t, int id)
{
	struct vs_holders *g = t->held[id].of;
	size_t at = t->held[id].at;

	if (!g)
		return;
	g->ids[at] = g->ids[--g->n];
	t->held[g->ids[at]].at = at;
	t->held[id].of = NULL;
	t->generation++;
	note(t, id);
}

void vs_timeline_claim(struct vs_timeline *t, int id, uint32_t job)
{
	struct vs_holders *g;

	if (t->held[id].of && t->held[id].of->job == job)
		return;
	vs_timeline_let_go(t, id);
	g = group(t, job);
	VS_GROW(g->ids, g->cap, g->n + 1);
	t->held[id].of = g;
	t->held[id].at = g->n;
	g->ids[g->n++] = id;
	t->generation++;
	note(t, id);
}

void vs_timeline_forget(struct vs_timeline *t, uint32_t job)
{
	struct vs_holders *g = group_get(t, job);

	if (!g || g->n)
		return;
	take_out(t, g);
	VS_GROW(t->slots, t->cap_slots, t->nslots + 1);
	t->slots[t->nslots++] = g->slot;
	HASH_DEL(t->groups, g);
	free(g->ids);
	free(g);
	t->generation++;
}
