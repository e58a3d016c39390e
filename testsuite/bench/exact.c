/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Placement by trying everything, VM by VM, host by host, PF by PF.
 *
 * Rules: VMs of one kind are alike, so that each goes no further to the left
 * than the one before it; hosts' loads only grow, so that a way whose peak is
 * no better than the best one's is left. A load is the greatest of the shares
 * of the VFs that serve, of CPU and of memory that are given, reserved or not.
 */
#include <math.h>
#include <string.h>
#include "exact.h"

struct search {
	const struct x_world *w;
	enum x_goal goal;
	struct x_world now;		/* with what is placed so far */
	bool found;
	double best;
};

static double max(double a, double b)
{
	return a > b ? a : b;
}

static double vf_share(const struct x_host *h, unsigned int pfs)
{
	int used = 0, vfs = 0;

	for (int i = 0; i < h->npfs; i++) {
		if (pfs & 1u << i) {
			used += h->used[i];
			vfs += h->vfs[i];
		}
	}
	return vfs ? (double)used / vfs : 0;
}

static bool serves(const struct x_host *h, unsigned int pfs)
{
	return !pfs || (pfs & ((1u << h->npfs) - 1));
}

static double load(const struct x_world *w, const struct x_host *h)
{
	double l = max((double)h->cpu_given / ((double)h->cores * h->mhz),
		       (double)h->mem_given / h->mem);

	for (int i = 0; i < w->n; i++)
		l = max(l, vf_share(h, w->kinds[w->kind_of[i]].pfs));
	return l;
}

/* Of the hosts that the gang, or a part of it, could go to. */
static double cost(const struct x_world *w, enum x_goal goal)
{
	double sum = 0, squares = 0, peak = 0, l;
	int n = 0;

	for (int i = 0; i < w->nhosts; i++) {
		bool counts = false;

		for (int k = 0; k < w->n; k++)
			counts |= serves(&w->hosts[i],
					 w->kinds[w->kind_of[k]].pfs);
		if (!counts)
			continue;
		l = load(w, &w->hosts[i]);
		sum += l;
		squares += l * l;
		peak = max(peak, l);
		n++;
	}
	if (goal == X_PEAK)
		return peak;
	sum /= n;
	return sqrt(max(0, squares / n - sum * sum));
}

static bool fits(const struct x_world *w, int kind, struct x_place at)
{
	const struct x_kind *k = &w->kinds[kind];
	const struct x_host *h = &w->hosts[at.host];
	int64_t cpu = k->cpu_reserved ? (int64_t)k->vcpus * h->mhz : 0;
	const struct x_pool *p = &w->pools[h->pool];

	if (k->pfs && (at.pf < 0 || !(k->pfs & 1u << at.pf) ||
		       at.pf >= h->npfs || h->used[at.pf] >= h->vfs[at.pf]))
		return false;
	return k->mem_reserved <= h->mem - h->mem_reserved &&
	       cpu <= p->cpu && k->mem_reserved <= p->mem;
}

/* Of the gang: what others run there reserves none. */
static int64_t reserved_cpu(const struct x_world *w, const struct x_place *at,
			    int n, int host)
{
	int64_t sum = 0;

	for (int i = 0; i < n; i++) {
		const struct x_kind *k = &w->kinds[w->kind_of[i]];

		if (at[i].host == host && k->cpu_reserved)
			sum += (int64_t)k->vcpus * w->hosts[host].mhz;
	}
	return sum;
}

static bool cpu_fits(const struct x_world *w, const struct x_place *at, int i)
{
	const struct x_kind *k = &w->kinds[w->kind_of[i]];
	const struct x_host *h = &w->hosts[at[i].host];

	return !k->cpu_reserved ||
	       reserved_cpu(w, at, i, at[i].host) + (int64_t)k->vcpus *
	       h->mhz <= (int64_t)h->cores * h->mhz;
}

static void put(struct x_world *w, int kind, struct x_place at, int sign)
{
	const struct x_kind *k = &w->kinds[kind];
	struct x_host *h = &w->hosts[at.host];

	if (k->pfs)
		h->used[at.pf] += sign;
	h->cpu_given += sign * (int64_t)k->vcpus * h->mhz;
	h->mem_given += sign * (k->mem_reserved > k->mem ? k->mem_reserved :
				k->mem);
	h->mem_reserved += sign * k->mem_reserved;
	if (k->cpu_reserved)
		w->pools[h->pool].cpu -= sign * (int64_t)k->vcpus * h->mhz;
	w->pools[h->pool].mem -= sign * k->mem_reserved;
}

static void step(struct search *s, struct x_place *at, int i)
{
	const struct x_world *w = s->w;
	int kind, from = 0;
	double c;

	if (s->found && s->goal == X_ANY)
		return;
	if (s->found && s->goal == X_PEAK && cost(&s->now, X_PEAK) >= s->best)
		return;
	if (i == w->n) {
		c = s->goal == X_ANY ? 0 : cost(&s->now, s->goal);
		if (!s->found || c < s->best)
			s->best = c;
		s->found = true;
		return;
	}
	kind = w->kind_of[i];
	if (i && w->kind_of[i - 1] == kind)
		from = at[i - 1].host * X_PFS +
			(at[i - 1].pf < 0 ? 0 : at[i - 1].pf);
	for (int k = from; k < w->nhosts * X_PFS; k++) {
		at[i] = (struct x_place) { k / X_PFS, k % X_PFS };
		if (!w->kinds[kind].pfs) {
			if (k % X_PFS)
				continue;
			at[i].pf = -1;
		}
		if (!fits(&s->now, kind, at[i]) || !cpu_fits(w, at, i))
			continue;
		put(&s->now, kind, at[i], 1);
		step(s, at, i + 1);
		put(&s->now, kind, at[i], -1);
	}
}

bool x_solve(const struct x_world *w, enum x_goal goal, double *best)
{
	struct search s = { .w = w, .goal = goal, .now = *w };
	struct x_place at[X_GANG];

	step(&s, at, 0);
	*best = s.best;
	return s.found;
}

bool x_allowed(const struct x_world *w, const struct x_place *at)
{
	struct x_world now = *w;

	for (int i = 0; i < w->n; i++) {
		if (!fits(&now, w->kind_of[i], at[i]) || !cpu_fits(w, at, i))
			return false;
		put(&now, w->kind_of[i], at[i], 1);
	}
	return true;
}

double x_cost(const struct x_world *w, const struct x_place *at,
	      enum x_goal goal)
{
	struct x_world now = *w;

	for (int i = 0; i < w->n; i++)
		put(&now, w->kind_of[i], at[i], 1);
	return cost(&now, goal);
}
