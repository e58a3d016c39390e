/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The policies balance and spread: one VM after the other goes to the site
 * whose rank is best after placing it.
 *
 * Rules: the same input gives the same answer (ties end at the host's name);
 * a placement touches one site, so that a heap with late corrections finds
 * the next one without a rescan: while a class is placed, ranks only get
 * worse. A host that doesn't fit is never chosen, whatever its rank.
 */
#include "plan/placement/placement_i.h"
#include "util/mem.h"

struct rank {			/* less is better */
	size_t crowd;		/* spread: VMs of the gang there */
	int64_t load;
	int vms;
	size_t site;		/* sites are sorted by host name */
};

static struct rank rank_of(const struct vs_work *w, size_t cls, size_t site)
{
	const struct vs_site *s = &w->sites[site];
	struct rank r = {
		.load = vs_fit_load(w, cls, site),
		.vms = s->sum->vms,
		.site = site,
	};

	if (w->policy == VS_PLACE_SPREAD)
		r.crowd = s->placed;
	/* a repair asks for one host at a time: the fullest is the packed */
	if (w->policy == VS_PLACE_PACK) {
		r.crowd = s->placed ? 0 : 1;
		r.load = -r.load;
	}
	return r;
}

static bool better(const struct rank *a, const struct rank *b)
{
	if (a->crowd != b->crowd)
		return a->crowd < b->crowd;
	if (a->load != b->load)
		return a->load < b->load;
	if (a->vms != b->vms)
		return a->vms < b->vms;
	return a->site < b->site;
}

size_t vs_place_best(const struct vs_work *w, size_t cls)
{
	struct rank best = { .site = VS_NO_NODE }, r;

	for (size_t i = 0; i < w->nsites; i++) {
		if (vs_fit_check(w, cls, i))
			continue;
		r = rank_of(w, cls, i);
		if (best.site == VS_NO_NODE || better(&r, &best))
			best = r;
	}
	return best.site;
}

/* ---- preferred hosts ---------------------------------------------------- */

bool vs_place_preference_met(const struct vs_work *w, size_t node)
{
	return w->heeds && w->nodes[node].wished &&
	       w->site_of[node] != VS_NO_NODE &&
	       w->site_of[node] == w->prefers[node];
}

void vs_place_preferred(struct vs_work *w)
{
	for (size_t i = 0; w->heeds && i < w->n; i++) {
		size_t want = w->prefers[i];

		if (w->nodes[i].wished && want != VS_NO_NODE &&
		    !vs_fit_check(w, w->class_of[i], want))
			vs_put(w, i, want);
	}
}

/* ---- the heap ----------------------------------------------------------- */

struct heap {
	struct rank *a;
	size_t n;
};

static void sift_down(struct heap *h, size_t i)
{
	for (;;) {
		size_t least = i, kid = 2 * i + 1;
		struct rank swap;

		for (size_t k = kid; k < kid + 2 && k < h->n; k++) {
			if (better(&h->a[k], &h->a[least]))
				least = k;
		}
		if (least == i)
			return;
		swap = h->a[i];
		h->a[i] = h->a[least];
		h->a[least] = swap;
		i = least;
	}
}

static void heap_build(const struct vs_work *w, size_t cls, struct heap *h)
{
	h->n = 0;
	for (size_t i = 0; i < w->nsites; i++) {
		if (!vs_fit_check(w, cls, i))
			h->a[h->n++] = rank_of(w, cls, i);
	}
	for (size_t i = h->n / 2; i-- > 0;)
		sift_down(h, i);
}

/* The best site as things stand now, or NULL. */
static const struct rank *heap_top(const struct vs_work *w, size_t cls,
				   struct heap *h)
{
	while (h->n) {
		size_t site = h->a[0].site;
		struct rank now;

		if (vs_fit_check(w, cls, site)) {
			h->a[0] = h->a[--h->n];
		} else {
			now = rank_of(w, cls, site);
			if (!better(&h->a[0], &now))
				return &h->a[0];
			h->a[0] = now;
		}
		sift_down(h, 0);
	}
	return NULL;
}

static bool even(struct vs_work *w, size_t cls, struct rank *ranks)
{
	struct heap heap = { .a = ranks };
	const struct rank *top;

	heap_build(w, cls, &heap);
	/* VMs that lie somewhere first: others can go anywhere */
	for (size_t i = 0; i < w->n; i++) {
		size_t want = w->prefers[i];

		if (w->class_of[i] != cls || want == VS_NO_NODE ||
		    w->site_of[i] != VS_NO_NODE || vs_fit_check(w, cls, want))
			continue;
		top = heap_top(w, cls, &heap);
		if (rank_of(w, cls, want).crowd <= top->crowd)
			vs_put(w, i, want);
	}
	for (size_t i = 0; i < w->n; i++) {
		if (w->class_of[i] != cls || w->site_of[i] != VS_NO_NODE)
			continue;
		top = heap_top(w, cls, &heap);
		if (!top)
			return false;
		vs_put(w, i, top->site);
	}
	return true;
}

bool vs_place_even(struct vs_work *w, size_t cls)
{
	struct rank *ranks = vs_scratch_take(&w->sums->spare_ranks, w->nsites,
					     sizeof(*ranks));
	bool placed = even(w, cls, ranks);

	vs_scratch_give(&w->sums->spare_ranks, ranks);
	return placed;
}
