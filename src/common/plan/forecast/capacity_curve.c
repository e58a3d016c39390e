/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A curve: what each holder gains, summed in the order of the groups' ends.
 *
 * Rules: a gain is counted where it was set until it is set again, whatever has
 * become of the group meanwhile: what was added is what is taken away. Passing
 * over all groups is a pass over two arrays, over nothing that lies apart.
 * Never asks what a holder gains: release_gain.c says it.
 */
#include <stdlib.h>
#include <string.h>
#include "plan/forecast/timeline.h"
#include "util/mem.h"

void vs_curve_clear(struct vs_curve *c)
{
	free(c->gains);
	free(c->by_slot);
	free(c->sum);
	memset(c, 0, sizeof(*c));
}

void vs_curve_size(struct vs_curve *c, size_t nids)
{
	vs_curve_clear(c);
	c->gains = vs_calloc(nids + 1, sizeof(*c->gains));
	c->nids = nids;
}

static void slots_grow(struct vs_curve *c, size_t n)
{
	size_t had = c->cap_slots;

	VS_GROW(c->by_slot, c->cap_slots, n);
	if (c->cap_slots > had)
		memset(&c->by_slot[had], 0,
		       (c->cap_slots - had) * sizeof(*c->by_slot));
}

void vs_curve_set(struct vs_curve *c, const struct vs_timeline *t, int id,
		  size_t much)
{
	const struct vs_holders *of = t->held[id].of;
	struct vs_gain *g = &c->gains[id];

	if (g->much)
		c->by_slot[g->slot] -= g->much;
	*g = (struct vs_gain) { 0 };
	if (!much || !of)
		return;
	slots_grow(c, of->slot + 1);
	*g = (struct vs_gain) { of->slot, much };
	c->by_slot[g->slot] += much;
}

void vs_curve_sum(struct vs_curve *c, const struct vs_timeline *t)
{
	size_t sum = 0;

	c->n = vs_timeline_ended(t, VS_TIME_NEVER - 1);
	slots_grow(c, t->ngroups + t->nslots);
	VS_GROW(c->sum, c->cap, c->n + 1);
	for (size_t i = 0; i < c->n; i++)
		c->sum[i] = sum += c->by_slot[t->by_end[i].slot];
}

/* The first group with which so much is gained; c->n: none. */
static size_t first_with(const struct vs_curve *c, size_t much)
{
	size_t lo = 0, hi = c->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (c->sum[mid] >= much)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

int64_t vs_curve_at(const struct vs_curve *c, const struct vs_timeline *t,
		    size_t much)
{
	size_t at = first_with(c, much);

	return at < c->n ? t->by_end[at].end : VS_TIME_NEVER;
}

int64_t vs_curve_first_at(const struct vs_curve *c, const struct vs_timeline *t,
			  size_t more, const int *keep, size_t n)
{
	size_t want = more, at;

	if (!more)
		return 0;
	for (;;) {
		size_t kept = 0;

		at = first_with(c, want);
		if (at == c->n)
			return VS_TIME_NEVER;
		for (size_t i = 0; i < n; i++)
			if (t->held[keep[i]].of &&
			    t->held[keep[i]].of->end <= t->by_end[at].end)
				kept += c->gains[keep[i]].much;
		if (more + kept <= want)
			return t->by_end[at].end;
		want = more + kept;
	}
}

size_t vs_curve_released_by(const struct vs_curve *c,
			    const struct vs_timeline *t, int64_t at)
{
	size_t i = vs_timeline_ended(t, at);

	if (i > c->n)
		i = c->n;
	return i ? c->sum[i - 1] : 0;
}
