/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each hold's end makes room for, kept by host.
 *
 * Rules: hosts don't depend on each other (what they share is left out), so
 * that the gains of a host are computed again only if something on it has
 * changed: what is free on them, who holds a place there, when one of those
 * lets go, what is left out of them. All of a host's old gains go before any
 * host's new ones come, because a hold may have moved. Never asks a node for
 * its hold: a host knows its holds, and one that came or went has told its
 * host.
 */
#include <stdlib.h>
#include <string.h>
#include "plan/forecast/timeline.h"
#include "util/mem.h"

struct leaver {				/* a hold on the host at hand */
	int64_t end;
	int id;
	const struct vs_claim *hold;
};

struct work {
	struct vs_capacity_released *g;
	const struct vs_timeline *t;
	const struct vs_place_env *env;
	struct vs_later *later;
	struct leaver *leavers;
	size_t cap;
};

void vs_capacity_released_clear(struct vs_capacity_released *g)
{
	vs_curve_clear(&g->curve);
	free(g->bars);
	free(g->first);
	free(g->on);
	free(g->stale);
	free(g->hosts);
	memset(g, 0, sizeof(*g));
}

/* ---- which hosts ---------------------------------------------------------------- */

static void stale(struct vs_capacity_released *g, int host)
{
	if (host < 0 || g->stale[host])
		return;
	g->stale[host] = true;
	g->hosts[g->nstale++] = host;
}

static void begin_anew(struct vs_capacity_released *g,
		       const struct vs_timeline *t,
		       const struct vs_free_capacity *sums, uint64_t key)
{
	size_t n = sums->nhosts;

	vs_capacity_released_clear(g);
	vs_curve_size(&g->curve, t->nids);
	g->nhosts = n;
	g->bars = vs_calloc(n + 1, sizeof(*g->bars));
	g->first = vs_calloc(n + 1, sizeof(*g->first));
	g->stale = vs_calloc(n + 1, sizeof(*g->stale));
	g->hosts = vs_calloc(n + 1, sizeof(*g->hosts));
	g->on = vs_calloc(t->nids + 1, sizeof(*g->on));
	for (size_t i = 0; i < t->nids; i++)
		g->on[i] = (struct vs_counted) { -1, -1 };
	for (size_t i = 0; i < n; i++) {
		g->first[i] = -1;
		stale(g, (int)i);
	}
	g->key = key;
	g->built = sums->built;
	g->sized = t->sized;
}

static void find_stale(const struct work *w)
{
	const struct vs_free_capacity *sums = w->env->sums;
	const struct vs_timeline *t = w->t;
	struct vs_capacity_released *g = w->g;
	const struct vs_timeline_place *h;

	for (size_t i = 0; i < g->nhosts; i++)
		if (sums->stamp[i] > g->turn)
			stale(g, (int)i);
	if (memcmp(g->bars, w->env->bars, g->nhosts * sizeof(*g->bars)))
		for (size_t i = 0; i < g->nhosts; i++)
			if (memcmp(&g->bars[i], &w->env->bars[i],
				   sizeof(*g->bars)))
				stale(g, (int)i);
	if (g->held == t->generation)
		return;
	TAILQ_FOREACH_REVERSE(h, &t->by_change, vs_timeline_changed, by_change)
	{
		if (h->changed <= g->held)
			break;
		stale(g, g->on[h - t->held].host);
	}
}

/* ---- one of them ---------------------------------------------------------------- */

static void forget(const struct work *w, int host)
{
	struct vs_capacity_released *g = w->g;

	for (int id = g->first[host]; id >= 0; ) {
		int next = g->on[id].next;

		vs_curve_set(&g->curve, w->t, id, 0);
		g->on[id] = (struct vs_counted) { -1, -1 };
		id = next;
	}
	g->first[host] = -1;
}

static bool before(const struct leaver *a, const struct leaver *b)
{
	return a->end < b->end || (a->end == b->end && a->id < b->id);
}

/* Those on the host in the order in which they go; all of them are noted, those
 * whose end is unknown too. */
static size_t leavers(struct work *w, const struct vs_host *host)
{
	const struct vs_host_claims *of = vs_ledger_host_claims(w->env->ledger,
								host->moid);
	struct vs_capacity_released *g = w->g;
	const struct vs_claim *h;
	size_t n = 0;

	if (!of)
		return 0;
	LIST_FOREACH(h, &of->list, on_host) {
		struct leaver one = { .id = h->id, .hold = h };
		size_t at = n;

		if (one.id < 0)
			continue;
		g->on[one.id] = (struct vs_counted) {
			g->first[host->index], host->index,
		};
		g->first[host->index] = one.id;
		if (!w->t->held[one.id].of ||
		    w->t->held[one.id].of->end == VS_TIME_NEVER)
			continue;
		one.end = w->t->held[one.id].of->end;
		VS_GROW(w->leavers, w->cap, n + 1);
		for (; at && before(&one, &w->leavers[at - 1]); at--)
			w->leavers[at] = w->leavers[at - 1];
		w->leavers[at] = one;
		n++;
	}
	return n;
}

static void reckon(struct work *w, int at)
{
	const struct vs_host *host = w->env->inv->by_index[at];
	size_t n = leavers(w, host);

	if (n)
		vs_later_on(w->later, host);
	for (size_t i = 0; i < n; i++)
		vs_curve_set(&w->g->curve, w->t, w->leavers[i].id,
			     vs_later_gone(w->later, w->leavers[i].hold));
}

void vs_capacity_released_follow(struct vs_capacity_released *g,
				 const struct vs_timeline *t,
				 const struct vs_place_env *env,
				 const struct vs_place_node *like)
{
	struct work w = { .g = g, .t = t, .env = env };
	uint64_t key;

	w.later = vs_later_begin(env, like, &key);
	if (!g->first || g->key != key || g->built != env->sums->built ||
	    g->sized != t->sized)
		begin_anew(g, t, env->sums, key);
	else
		find_stale(&w);
	for (size_t i = 0; i < g->nstale; i++)
		forget(&w, g->hosts[i]);
	for (size_t i = 0; i < g->nstale; i++) {
		reckon(&w, g->hosts[i]);
		g->stale[g->hosts[i]] = false;
	}
	if (g->nstale || g->held != t->generation)
		vs_curve_sum(&g->curve, t);
	memcpy(g->bars, env->bars, g->nhosts * sizeof(*g->bars));
	g->nstale = 0;
	g->turn = env->sums->turn;
	g->held = t->generation;
	free(w.leavers);
	vs_later_end(w.later);
}
