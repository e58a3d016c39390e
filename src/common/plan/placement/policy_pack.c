/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The policy pack: the fewest hosts, among those choices few leaf switches,
 * then hosts where the VMs lie, then the tightest fit. Hosts that could hold a
 * VM with more VFs (NICsPerNode=) than these take are left whole while others do.
 *
 * Rules: the number of hosts is the least possible for the class beside the
 * hosts that the gang uses already; leaves are added one at a time, the one
 * that brings most, at most MAX_LEAF_ROUNDS times: beyond, a gang is spread
 * over so many that the choice means little. Never trades a host for a leaf.
 */
#include <stdlib.h>
#include <string.h>
#include "plan/placement/placement_i.h"
#include "util/mem.h"

#define MAX_LEAF_ROUNDS 8

struct bin {
	size_t site, room, prefs, quota, leaf;
	bool used;		/* the gang is there already */
	bool whole;		/* kept for VMs with more VFs */
};

struct bins {
	struct bin *b;
	size_t n;
	size_t need;		/* VMs that have no place yet */
	bool *leaf_open;	/* by leaf number */
	size_t nleaves;
};

static int by_use_and_room(const void *a, const void *b)
{
	const struct bin *x = a, *y = b;

	if (x->used != y->used)
		return x->used ? -1 : 1;
	if (!x->used && x->whole != y->whole)
		return x->whole ? 1 : -1;
	if (x->room != y->room)
		return x->room > y->room ? -1 : 1;
	if (x->prefs != y->prefs)
		return x->prefs > y->prefs ? -1 : 1;
	return x->site < y->site ? -1 : 1;
}

static void leaves_number(const struct vs_work *w, struct bins *s)
{
	VS_FREE size_t *first = vs_calloc(s->n, sizeof(*first));

	for (size_t i = 0; i < s->n; i++) {
		const char *leaf = w->sites[s->b[i].site].host->leaf;
		size_t k = 0;

		while (k < s->nleaves && strcmp(leaf,
				w->sites[s->b[first[k]].site].host->leaf))
			k++;
		if (k == s->nleaves)
			first[s->nleaves++] = i;
		s->b[i].leaf = k;
	}
	s->leaf_open = vs_calloc(s->nleaves, sizeof(*s->leaf_open));
}

/*
 * What a pool allows is shared out, the first bins first, so that any choice
 * of bins is one that the pool holds; where it holds all anyway, none is cut.
 */
static void bins_cut(const struct vs_work *w, size_t cls, struct bins *s)
{
	VS_FREE struct vs_pool_capacity *left = vs_pools_copy(w);
	const struct vs_class *c = &w->classes[cls];
	size_t kept = 0;

	for (size_t i = 0; i < s->n; i++) {
		struct bin b = s->b[i];
		const struct vs_site *site = &w->sites[b.site];

		if (!vs_pool_fits(w, c, site, s->need))
			b.room = vs_pool_share(w, c, site, left, b.room);
		if (b.room)
			s->b[kept++] = b;
	}
	s->n = kept;
	qsort(s->b, s->n, sizeof(*s->b), by_use_and_room);
}

static void bins_init(const struct vs_work *w, size_t cls, struct bins *s)
{
	VS_FREE size_t *prefs = vs_calloc(w->nsites, sizeof(*prefs));

	for (size_t i = 0; i < w->n; i++) {
		if (w->class_of[i] != cls || w->site_of[i] != VS_NO_NODE)
			continue;
		s->need++;
		if (w->prefers[i] != VS_NO_NODE)
			prefs[w->prefers[i]]++;
	}
	s->b = vs_calloc(w->nsites, sizeof(*s->b));
	for (size_t i = 0; i < w->nsites; i++) {
		size_t room = vs_fit_capacity(w, cls, i, VS_CAPACITY_MAX);

		if (room)
			s->b[s->n++] = (struct bin) {
				.site = i, .room = room, .prefs = prefs[i],
				.used = w->sites[i].placed > 0,
				.whole = vs_site_whole(w, &w->classes[cls],
						       &w->sites[i]),
			};
	}
	qsort(s->b, s->n, sizeof(*s->b), by_use_and_room);
	bins_cut(w, cls, s);
	leaves_number(w, s);
}

/* What the k roomiest unused bins hold, in open leaves and this one. */
static size_t top_sum(const struct bins *s, size_t k, size_t leaf)
{
	size_t sum = 0;

	for (size_t i = 0; i < s->n && k; i++) {
		const struct bin *b = &s->b[i];

		if (!b->used && (s->leaf_open[b->leaf] || b->leaf == leaf)) {
			sum += b->room;
			k--;
		}
	}
	return sum;
}

static size_t fewest_bins(const struct bins *s, size_t need)
{
	size_t sum = 0, k = 0;

	for (size_t i = 0; i < s->n && sum < need; i++) {
		if (!s->b[i].used) {
			sum += s->b[i].room;
			k++;
		}
	}
	return k;
}

struct leaf_merit {
	bool enough;
	size_t sum, prefs, total;
};

static bool leaf_better(const struct leaf_merit *a, const struct leaf_merit *b)
{
	if (a->enough != b->enough)
		return a->enough;
	if (!a->enough && a->sum != b->sum)
		return a->sum > b->sum;
	if (a->prefs != b->prefs)
		return a->prefs > b->prefs;
	return a->total < b->total;	/* leave the emptier leaf whole */
}

/* Open leaves until the k roomiest bins in them are enough. */
static void leaves_open(struct bins *s, size_t k, size_t need)
{
	VS_FREE struct leaf_merit *m = vs_calloc(s->nleaves, sizeof(*m));

	for (size_t i = 0; i < s->n; i++) {
		m[s->b[i].leaf].prefs += s->b[i].prefs;
		m[s->b[i].leaf].total += s->b[i].room;
	}
	for (int round = 0; round < MAX_LEAF_ROUNDS; round++) {
		size_t best = s->nleaves;

		if (top_sum(s, k, s->nleaves) >= need)
			return;
		for (size_t l = 0; l < s->nleaves; l++) {
			if (s->leaf_open[l])
				continue;
			m[l].sum = top_sum(s, k, l);
			m[l].enough = m[l].sum >= need;
			if (best == s->nleaves || leaf_better(&m[l], &m[best]))
				best = l;
		}
		s->leaf_open[best] = true;
	}
	memset(s->leaf_open, 1, s->nleaves * sizeof(*s->leaf_open));
}

/* The bin that takes the rest: where VMs lie, then the tightest. */
static struct bin *last_bin(struct bins *s, size_t need)
{
	struct bin *best = NULL;

	for (size_t i = 0; i < s->n; i++) {
		struct bin *b = &s->b[i];

		if (b->used || b->quota || !s->leaf_open[b->leaf] ||
		    b->room < need)
			continue;
		if (!best || b->prefs > best->prefs ||
		    (b->prefs == best->prefs && b->room < best->room))
			best = b;
	}
	return best;
}

static void quotas_fill(struct bins *s, size_t need)
{
	size_t k;

	for (size_t i = 0; i < s->n && s->b[i].used; i++) {
		s->b[i].quota = s->b[i].room < need ? s->b[i].room : need;
		need -= s->b[i].quota;
		s->leaf_open[s->b[i].leaf] = true;
	}
	k = fewest_bins(s, need);
	if (!k)
		return;
	leaves_open(s, k, need);
	for (size_t i = 0; i < s->n && k > 1; i++) {
		struct bin *b = &s->b[i];

		if (b->used || !s->leaf_open[b->leaf])
			continue;
		b->quota = b->room;
		need -= b->quota;
		k--;
	}
	last_bin(s, need)->quota = need;
}

/* Of several datastores another bin may have taken what this one counted on. */
static bool use(struct vs_work *w, size_t node, struct bin *b)
{
	b->quota--;
	if (w->env->inv->nuses && vs_fit_check(w, w->class_of[node], b->site))
		return false;
	vs_put(w, node, b->site);
	return true;
}

/* True: all that is in a quota is placed. */
static bool quotas_use(struct vs_work *w, size_t cls, struct bins *s)
{
	VS_FREE struct bin **at = vs_calloc(w->nsites, sizeof(*at));
	size_t next = 0;
	bool all = true;

	for (size_t i = 0; i < s->n; i++)
		at[s->b[i].site] = &s->b[i];
	for (size_t i = 0; i < w->n; i++) {
		struct bin *b = w->class_of[i] == cls &&
			w->site_of[i] == VS_NO_NODE &&
			w->prefers[i] != VS_NO_NODE ? at[w->prefers[i]] : NULL;

		if (b && b->quota)
			all &= use(w, i, b);
	}
	for (size_t i = 0; i < w->n; i++) {
		if (w->class_of[i] != cls || w->site_of[i] != VS_NO_NODE)
			continue;
		while (next < s->n && !s->b[next].quota)
			next++;
		if (next == s->n)
			break;
		all &= use(w, i, &s->b[next]);
	}
	return all;
}

bool vs_place_packed(struct vs_work *w, size_t cls)
{
	struct bins s = { 0 }, last;
	size_t need, room = 0, broken = 0, n = 0;
	bool all;

	bins_init(w, cls, &s);
	need = s.need;
	for (size_t i = 0; i < s.n; i++) {
		room += s.b[i].room;
		if (s.b[i].whole && !s.b[i].used)
			continue;
		broken += s.b[i].room;
		n = i + 1;
	}
	/* too little: all of it, and the rest is the repair's */
	if (room < need)
		need = room;
	last = s;
	last.b += n;
	last.n -= n;
	s.n = n;
	quotas_fill(&s, broken < need ? broken : need);
	quotas_fill(&last, broken < need ? need - broken : 0);
	s.n += last.n;
	all = quotas_use(w, cls, &s);
	free(s.b);
	free(s.leaf_open);
	return all && room >= s.need;
}
