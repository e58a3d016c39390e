/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The policy balance, second part: VMs of the gang that were placed one after
 * the other are moved, or change places, while that makes the hosts' loads less
 * unlike.
 *
 * Rules: unlike is the variance of the loads of all hosts that a VM of the gang
 * could run on; a VM that lies on a host stays there; deterministic, and bounded
 * by tries: where the gang is on too many hosts for that, nothing is moved.
 * Never leaves a VM without a place.
 */
#include <string.h>
#include "plan/placement/placement_i.h"
#include "util/mem.h"

#define TRIES 4000
#define TRIES_A_ROUND 2000
#define KINDS 16		/* kinds of VMs tried on one host */

struct level {
	struct vs_work *w;
	bool *counts;		/* by site */
	int64_t *load;		/* by site, as things stand */
	double n, sum, squares;
	int tries;
};

struct change {			/* x goes to site, y comes in its place */
	size_t site, y;
	double cost;
};

/* One of each class and PF on a site that may be moved. */
static size_t movable_on(const struct vs_work *w, size_t site, size_t *out)
{
	size_t n = 0;

	for (size_t y = w->sites[site].first; y != VS_NO_NODE && n < KINDS;
	     y = w->next[y])
		if (w->prefers[y] != site)
			n = vs_group_add(w, out, n, y);
	return n;
}

/* The variance, times a constant, if these two sites' loads were as they are
 * now. */
static double cost_with(const struct level *l, size_t a, size_t b)
{
	const size_t sites[] = { a, b };
	double sum = l->sum, squares = l->squares;

	for (size_t i = 0; i < VS_COUNT(sites); i++) {
		double was = (double)l->load[sites[i]];
		double is = (double)vs_site_load(l->w, sites[i]);

		sum += is - was;
		squares += is * is - was * was;
	}
	return l->n * squares - sum * sum;
}

static void keep_better(const struct level *l, size_t a, size_t b, size_t y,
			struct change *best)
{
	double cost = cost_with(l, a, b);

	/* loads are whole numbers: less is less by one at least */
	if (cost < best->cost - 0.5)
		*best = (struct change) { b, y, cost };
}

/* x is nowhere at the moment; it was on site a. */
static void try_site(struct level *l, size_t x, size_t a, size_t b,
		     struct change *best)
{
	struct vs_work *w = l->w;
	size_t others[KINDS], n = movable_on(w, b, others);

	l->tries--;
	if (!vs_fit_check(w, w->class_of[x], b)) {
		vs_put(w, x, b);
		keep_better(l, a, b, VS_NO_NODE, best);
		vs_unput(w, x);
	}
	for (size_t i = 0; i < n; i++) {
		size_t y = others[i];
		struct vs_picked pfs = w->pfs_of[y];

		if (w->class_of[y] == w->class_of[x])
			continue;
		l->tries--;
		vs_unput(w, y);
		if (!vs_fit_check(w, w->class_of[x], b)) {
			vs_put(w, x, b);
			/* x may have taken of a datastore that y needs */
			if (!vs_fit_check(w, w->class_of[y], a)) {
				vs_put(w, y, a);
				keep_better(l, a, b, y, best);
				vs_unput(w, y);
			}
			vs_unput(w, x);
		}
		vs_put_on_pfs(w, y, b, &pfs);
	}
}

static void loads_now(struct level *l)
{
	l->n = l->sum = l->squares = 0;
	for (size_t i = 0; i < l->w->nsites; i++) {
		double load;

		if (!l->counts[i])
			continue;
		l->load[i] = vs_site_load(l->w, i);
		load = (double)l->load[i];
		l->n++;
		l->sum += load;
		l->squares += load * load;
	}
}

/* To where it is best, if that is better than where it is. */
static bool move(struct level *l, size_t x)
{
	struct vs_work *w = l->w;
	size_t a = w->site_of[x];
	struct vs_picked pfs = w->pfs_of[x];
	struct change best = {
		.cost = l->n * l->squares - l->sum * l->sum,
		.site = VS_NO_NODE, .y = VS_NO_NODE,
	};

	vs_unput(w, x);
	for (size_t b = 0; b < w->nsites; b++) {
		if (b != a && l->counts[b])
			try_site(l, x, a, b, &best);
	}
	if (best.site == VS_NO_NODE) {
		vs_put_on_pfs(w, x, a, &pfs);
		return false;
	}
	if (best.y != VS_NO_NODE)
		vs_unput(w, best.y);
	vs_put(w, x, best.site);
	if (best.y != VS_NO_NODE)
		vs_put(w, best.y, a);
	loads_now(l);
	return true;
}

static bool round_of_moves(struct level *l)
{
	bool moved = false;

	for (size_t a = 0; a < l->w->nsites; a++) {
		size_t here[KINDS], n = movable_on(l->w, a, here);

		for (size_t i = 0; i < n && l->tries > 0; i++) {
			/* one before it may have taken its place */
			if (l->w->site_of[here[i]] == a)
				moved |= move(l, here[i]);
		}
	}
	return moved;
}

static bool counts(const struct vs_work *w, size_t site)
{
	const struct vs_site *s = &w->sites[site];

	for (size_t c = 0; c < w->nclasses; c++) {
		if (!vs_fit_get(w, c, site)->fixed && !s->avoided)
			return true;
	}
	return false;
}

void vs_place_level(struct vs_work *w)
{
	VS_FREE bool *count = vs_calloc(w->nsites, sizeof(*count));
	VS_FREE int64_t *load = vs_calloc(w->nsites, sizeof(*load));
	struct level l = { .w = w, .counts = count, .load = load,
			   .tries = TRIES };
	size_t used = 0, n = 0;

	for (size_t i = 0; i < w->nsites; i++) {
		count[i] = counts(w, i);
		n += count[i];
		used += w->sites[i].placed > 0;
	}
	if (n * used > TRIES_A_ROUND)
		return;
	loads_now(&l);
	while (l.tries > 0 && round_of_moves(&l))
		;
}
