/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the hosts of a placement share: resource pools and the datastore.
 *
 * Rules: a pool or datastore whose capacity isn't known refuses no VM, vCenter
 * judges at power-on. Where the datastore is one for all a gang's need of it is
 * one sum; of several each VM gets, after those placed before it, the one with
 * most room that its host sees. Of a pool, a VM takes the same memory on each
 * host, but its CPU by the host's cores: where that is what is short, slow
 * cores go first. Never looks at a host's own room: place_fit does.
 */
#include <stdlib.h>
#include <string.h>
#include "plan/placement/placement_i.h"
#include "util/mem.h"
#include "util/name.h"

/* ---- pools -------------------------------------------------------------- */

void vs_pools_init(struct vs_work *w)
{
	size_t n = w->env->inv->npools;

	w->store_mb = VS_CAPACITY_UNKNOWN;
	w->pools = vs_calloc(n, sizeof(*w->pools));
	if (!w->ever) {
		for (size_t i = 0; i < n; i++)
			w->pools[i] = w->sums->pools[i];
		if (w->env->store)
			w->store_mb = w->sums->store_mb;
	}
	w->pools_before = vs_pools_copy(w);
}

struct vs_pool_capacity *vs_pools_copy(const struct vs_work *w)
{
	size_t n = w->env->inv->npools;
	struct vs_pool_capacity *copy = vs_calloc(n, sizeof(*copy));

	for (size_t i = 0; i < n; i++)
		copy[i] = w->pools[i];
	return copy;
}

/* ---- several datastores ------------------------------------------------- */

int vs_store_lies(const struct vs_work *w, const struct vs_place_node *n)
{
	return n->exists && n->store ?
		vs_shared_capacity_pool(w->env->inv, n->store) : -1;
}

bool vs_store_same(const struct vs_work *w, const struct vs_class *c,
		   const struct vs_place_node *n, int lies)
{
	return !w->env->inv->nuses ||
	       (c->exists == n->exists && c->store == lies);
}

/* One of the VM's that exists. */
static bool sees_disks(const struct vs_work *w, const struct vs_class *c,
		       const struct vs_site *s)
{
	return c->store >= 0 && s->nstores &&
	       vs_host_has_store(s->host,
				 w->env->inv->pools[c->store].cluster);
}

bool vs_store_moves(const struct vs_work *w, const struct vs_class *c,
		    const struct vs_site *s)
{
	return c->store >= 0 && s->nstores && !sees_disks(w, c, s);
}

/* What one more of the class needs there, wherever it lies. */
static int64_t store_mb(const struct vs_work *w, const struct vs_class *c,
			const struct vs_site *s)
{
	if (w->env->has_pool)
		return 0;
	return c->swap_mb + (!c->exists ? c->profile->disk_mb :
			     vs_store_moves(w, c, s) ?
			     vs_profile_moved_mb(c->profile) : 0);
}

int vs_store_at(const struct vs_work *w, const struct vs_class *c,
		const struct vs_site *s, const struct vs_pool_capacity *left,
		int64_t *mb)
{
	const short *stores = s->brief->stores;
	int best = -1;

	if (!s->nstores)
		return -1;
	*mb = store_mb(w, c, s);
	if (sees_disks(w, c, s))
		return c->store;
	for (int i = 0; i < s->nstores; i++)
		if (best < 0 || left[stores[i]].mem_mb > left[best].mem_mb)
			best = stores[i];
	return best;
}

/* ---- what both have -------------------------------------------------- */

static enum vs_refusal room_fit(const struct vs_work *w,
				const struct vs_pool_capacity *left,
				const struct vs_class *c,
				const struct vs_site *s)
{
	int64_t cpu = vs_fit_cpu(c, s), mb;
	int store = vs_store_at(w, c, s, left, &mb);

	if (s->pool >= 0 && cpu && cpu > left[s->pool].cpu_mhz)
		return VS_REFUSE_POOL_CPU;
	if (s->pool >= 0 && c->mem_mb > left[s->pool].mem_mb)
		return VS_REFUSE_POOL_MEMORY;
	return store >= 0 && mb && mb > left[store].mem_mb ?
		VS_REFUSE_STORE_CAPACITY : VS_REFUSE_NONE;
}

enum vs_refusal vs_pool_fit(const struct vs_work *w, const struct vs_class *c,
			    const struct vs_site *s)
{
	return room_fit(w, w->pools, c, s);
}

static void room_charge(struct vs_pool_capacity *r, int64_t cpu, int64_t mem)
{
	if (r->cpu_mhz != VS_CAPACITY_UNKNOWN)
		r->cpu_mhz -= cpu;
	if (r->mem_mb != VS_CAPACITY_UNKNOWN)
		r->mem_mb -= mem;
}

void vs_pool_charge(struct vs_work *w, const struct vs_class *c,
		    const struct vs_site *s, int store, int sign)
{
	if (s->pool >= 0)
		room_charge(&w->pools[s->pool], sign * vs_fit_cpu(c, s),
			    sign * c->mem_mb);
	if (store >= 0)
		room_charge(&w->pools[store], 0, sign * store_mb(w, c, s));
}

short vs_store_pick(const struct vs_work *w, size_t cls, size_t site)
{
	int64_t mb;

	return (short)vs_store_at(w, &w->classes[cls], &w->sites[site],
				  w->pools, &mb);
}

static size_t times(int64_t room, int64_t each, size_t most)
{
	if (!each || room == VS_CAPACITY_UNKNOWN)
		return most;
	if (room < each)
		return 0;
	return (uint64_t)(room / each) < most ? (size_t)(room / each) : most;
}

/* One after the other, each to where most is left then; how many of n. */
static size_t stores_share(const struct vs_work *w, const struct vs_class *c,
			   const struct vs_site *s,
			   struct vs_pool_capacity *left, size_t n)
{
	size_t got = 0, some;

	while (got < n) {
		int64_t mb;
		int store = vs_store_at(w, c, s, left, &mb);

		if (store < 0 || !mb ||
		    left[store].mem_mb == VS_CAPACITY_UNKNOWN)
			return n;
		/* no other can become better: all n in the first round */
		some = s->nstores == 1 || store == c->store ? n : 1;
		some = times(left[store].mem_mb, mb, some);
		if (!some)
			break;
		room_charge(&left[store], 0, (int64_t)some * mb);
		got += some;
	}
	return got;
}

size_t vs_pool_share(const struct vs_work *w, const struct vs_class *c,
		     const struct vs_site *s, struct vs_pool_capacity *left,
		     size_t n)
{
	int64_t cpu = vs_fit_cpu(c, s);
	struct vs_pool_capacity *r = s->pool < 0 ? NULL : &left[s->pool];

	if (r) {
		n = times(r->cpu_mhz, cpu, n);
		n = times(r->mem_mb, c->mem_mb, n);
	}
	n = stores_share(w, c, s, left, n);
	if (r)
		room_charge(r, (int64_t)n * cpu, (int64_t)n * c->mem_mb);
	return n;
}

/* On all that it sees. */
static size_t stores_hold(const struct vs_work *w, const struct vs_class *c,
			  const struct vs_site *s, size_t need)
{
	int64_t mb = store_mb(w, c, s);
	size_t n = 0;

	if (sees_disks(w, c, s))
		return times(w->pools[c->store].mem_mb, mb, need);
	for (int i = 0; i < s->nstores && n < need; i++)
		n += times(w->pools[s->brief->stores[i]].mem_mb, mb, need - n);
	return s->nstores ? n : need;
}

bool vs_pool_fits(const struct vs_work *w, const struct vs_class *c,
		  const struct vs_site *s, size_t need)
{
	const struct vs_site *dear = &w->sites[w->by_mhz[w->nsites - 1]];

	if (stores_hold(w, c, s, need) != need)
		return false;
	return s->pool < 0 ||
	       (times(w->pools[s->pool].cpu_mhz, vs_fit_cpu(c, dear), need) ==
		need && times(w->pools[s->pool].mem_mb, c->mem_mb, need) ==
		need);
}

/* Slow cores first: of a pool's CPU that makes the most VMs. */
size_t vs_class_capacity(const struct vs_work *w, size_t cls, size_t limit,
			 struct vs_pool_short *short_of)
{
	VS_FREE struct vs_pool_capacity *left = vs_pools_copy(w);
	const struct vs_class *c = &w->classes[cls];
	size_t sum = 0;

	short_of->why = VS_REFUSE_NONE;
	for (size_t i = 0; i < w->nsites && sum < limit; i++) {
		const struct vs_site *s = &w->sites[w->by_mhz[i]];
		size_t room = vs_fit_capacity(w, cls, w->by_mhz[i],
					      limit - sum);
		size_t got = vs_pool_share(w, c, s, left, room);

		if (got < room && !short_of->why)
			*short_of = (struct vs_pool_short) {
				w->by_mhz[i], room_fit(w, left, c, s) };
		sum += got;
	}
	return sum;
}

bool vs_place_cheapest(struct vs_work *w, size_t cls)
{
	size_t k = 0;

	for (size_t i = 0; i < w->n; i++) {
		if (w->class_of[i] == cls && w->site_of[i] != VS_NO_NODE &&
		    !vs_place_preference_met(w, i))
			vs_unput(w, i);
	}
	for (size_t i = 0; i < w->n; i++) {
		if (w->class_of[i] != cls || w->site_of[i] != VS_NO_NODE)
			continue;
		while (k < w->nsites && vs_fit_check(w, cls, w->by_mhz[k]))
			k++;
		if (k == w->nsites)
			return false;
		vs_put(w, i, w->by_mhz[k]);
	}
	return true;
}

/* "resource pool slurm has 900 MB of memory left, each VM needs 1200 MB" */
static void say_pool(const struct vs_work *w, const struct vs_class *c,
		     const struct vs_pool_short *s, struct vs_buf *b)
{
	const struct vs_site *site = &w->sites[s->site];
	const struct vs_pool_capacity *r = &w->pools_before[site->pool];
	bool cpu = s->why == VS_REFUSE_POOL_CPU;
	const char *unit = cpu ? "MHz" : "MB";

	vs_buf_printf(b, "%s has %lld %s of %s left, each VM needs %lld %s",
		      w->env->inv->pools[site->pool].name,
		      (long long)(cpu ? r->cpu_mhz : r->mem_mb), unit,
		      cpu ? "CPU" : "memory",
		      (long long)(cpu ? vs_fit_cpu(c, site) : c->mem_mb),
		      unit);
}

static void say_store(const struct vs_work *w, const struct vs_class *c,
		      const struct vs_site *site, int store, struct vs_buf *b)
{
	vs_buf_printf(b, "datastore %s has %lld MB free, each VM needs %lld MB for disks and swap file",
		      w->env->inv->pools[store].name,
		      (long long)w->pools_before[store].mem_mb,
		      (long long)store_mb(w, c, site));
}

void vs_pool_explain(const struct vs_work *w, const struct vs_class *c,
		     const struct vs_pool_short *s, bool *said,
		     struct vs_buf *b)
{
	const struct vs_site *site = &w->sites[s->site];
	bool stores = s->why == VS_REFUSE_STORE_CAPACITY;
	int n = stores && !sees_disks(w, c, site) ? site->nstores : 1;

	for (int i = 0; i < n; i++) {
		int at = !stores ? site->pool : sees_disks(w, c, site) ?
			c->store : site->brief->stores[i];

		if (said[at])
			continue;
		said[at] = true;
		if (b->len)
			vs_buf_printf(b, "; ");
		if (stores)
			say_store(w, c, site, at, b);
		else
			say_pool(w, c, s, b);
	}
}

/* ---- one datastore for all -------------------------------------------- */

int64_t vs_store_need(const struct vs_work *w)
{
	int64_t need = 0;

	for (size_t i = 0; i < w->n && !w->env->has_pool; i++) {
		const struct vs_place_node *n = &w->nodes[i];

		need += w->classes[w->class_of[i]].swap_mb;
		if (!n->exists)
			need += n->profile->disk_mb;
	}
	return need;
}

size_t vs_store_fits(const struct vs_work *w, int64_t need_mb, size_t n)
{
	return times(w->store_mb, need_mb, n);
}

void vs_store_explain(const struct vs_work *w, size_t n, int64_t need_mb,
		      struct vs_buf *b)
{
	vs_buf_printf(b, "datastore %s has %lld MB free, %zu VM%s need%s %lld MB for disks and swap files",
		      w->env->inv->store.name, (long long)w->store_mb, n,
		      vs_plural(n), n == 1 ? "s" : "",
		      (long long)need_mb);
}
