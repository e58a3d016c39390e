/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the hosts of a placement share: resource pools and the datastore.
 *
 * Rules: a pool or datastore whose room isn't known refuses nobody, vCenter
 * judges at power-on. The datastore is one for all, so that a gang's need of
 * it is one sum. Of a pool, a VM takes the same memory on each host, but its
 * CPU by the host's cores: where that is what is short, slow cores go first.
 * Never looks at a host's own room: place_fit does.
 */
#include <stdlib.h>
#include <string.h>
#include "plan/place_i.h"
#include "util/mem.h"

/* ---- pools -------------------------------------------------------------- */

void vs_pools_init(struct vs_work *w)
{
	size_t n = w->env->inv->npools;

	w->store_mb = VS_ROOM_UNKNOWN;
	w->pools = vs_calloc(n, sizeof(*w->pools));
	if (!w->ever) {
		for (size_t i = 0; i < n; i++)
			w->pools[i] = w->sums->pools[i];
		if (w->env->store)
			w->store_mb = w->sums->store_mb;
	}
	w->pools_before = vs_pools_copy(w);
}

struct vs_room *vs_pools_copy(const struct vs_work *w)
{
	size_t n = w->env->inv->npools;
	struct vs_room *copy = vs_calloc(n, sizeof(*copy));

	for (size_t i = 0; i < n; i++)
		copy[i] = w->pools[i];
	return copy;
}

static enum vs_refusal room_fit(const struct vs_room *left,
				const struct vs_class *c,
				const struct vs_site *s)
{
	int64_t cpu = vs_fit_cpu(c, s), mb;
	int store = vs_store_at(c, s, &mb, NULL);

	if (s->pool >= 0 && cpu && cpu > left[s->pool].cpu_mhz)
		return VS_REFUSE_POOL_CPU;
	if (s->pool >= 0 && c->mem_mb > left[s->pool].mem_mb)
		return VS_REFUSE_POOL_MEMORY;
	return store >= 0 && mb > left[store].mem_mb ? VS_REFUSE_STORE_ROOM :
		VS_REFUSE_NONE;
}

enum vs_refusal vs_pool_fit(const struct vs_work *w, const struct vs_class *c,
			    const struct vs_site *s)
{
	return room_fit(w->pools, c, s);
}

static void room_charge(struct vs_room *r, int64_t cpu, int64_t mem)
{
	if (r->cpu_mhz != VS_ROOM_UNKNOWN)
		r->cpu_mhz -= cpu;
	if (r->mem_mb != VS_ROOM_UNKNOWN)
		r->mem_mb -= mem;
}

void vs_pool_charge(struct vs_work *w, const struct vs_class *c,
		    const struct vs_site *s, int sign)
{
	int64_t mb;
	int store = vs_store_at(c, s, &mb, NULL);

	if (s->pool >= 0)
		room_charge(&w->pools[s->pool], sign * vs_fit_cpu(c, s),
			    sign * c->mem_mb);
	if (store >= 0)
		room_charge(&w->pools[store], 0, sign * mb);
}

static size_t times(int64_t room, int64_t each, size_t most)
{
	if (!each || room == VS_ROOM_UNKNOWN)
		return most;
	if (room < each)
		return 0;
	return (uint64_t)(room / each) < most ? (size_t)(room / each) : most;
}

size_t vs_pool_share(const struct vs_class *c, const struct vs_site *s,
		     struct vs_room *left, size_t n)
{
	int64_t cpu = vs_fit_cpu(c, s), mb;
	int store = vs_store_at(c, s, &mb, NULL);
	struct vs_room *r = s->pool < 0 ? NULL : &left[s->pool];

	if (store >= 0)
		n = times(left[store].mem_mb, mb, n);
	if (r) {
		n = times(r->cpu_mhz, cpu, n);
		n = times(r->mem_mb, c->mem_mb, n);
		room_charge(r, (int64_t)n * cpu, (int64_t)n * c->mem_mb);
	}
	if (store >= 0)
		room_charge(&left[store], 0, (int64_t)n * mb);
	return n;
}

bool vs_pool_holds(const struct vs_work *w, const struct vs_class *c,
		   const struct vs_site *s, size_t need)
{
	const struct vs_site *dear = &w->sites[w->by_mhz[w->nsites - 1]];
	int64_t mb;
	int store = vs_store_at(c, s, &mb, NULL);

	if (store >= 0 && times(w->pools[store].mem_mb, mb, need) != need)
		return false;
	return s->pool < 0 ||
	       (times(w->pools[s->pool].cpu_mhz, vs_fit_cpu(c, dear), need) ==
		need && times(w->pools[s->pool].mem_mb, c->mem_mb, need) ==
		need);
}

/* Slow cores first: of a pool's CPU that makes the most VMs. */
size_t vs_class_room(const struct vs_work *w, size_t cls, size_t limit,
		     struct vs_pool_short *short_of)
{
	VS_FREE struct vs_room *left = vs_pools_copy(w);
	const struct vs_class *c = &w->classes[cls];
	size_t sum = 0;

	short_of->why = VS_REFUSE_NONE;
	for (size_t i = 0; i < w->nsites && sum < limit; i++) {
		const struct vs_site *s = &w->sites[w->by_mhz[i]];
		size_t room = vs_fit_room(w, cls, w->by_mhz[i], limit - sum);
		size_t got = vs_pool_share(c, s, left, room);

		if (got < room && !short_of->why)
			*short_of = (struct vs_pool_short) {
				w->by_mhz[i], room_fit(left, c, s) };
		sum += got;
	}
	return sum;
}

bool vs_place_cheapest(struct vs_work *w, size_t cls)
{
	size_t k = 0;

	for (size_t i = 0; i < w->n; i++) {
		if (w->class_of[i] == cls && w->site_of[i] != VS_NO_NODE)
			vs_unput(w, i);
	}
	for (size_t i = 0; i < w->n; i++) {
		if (w->class_of[i] != cls)
			continue;
		while (k < w->nsites && vs_fit_now(w, cls, w->by_mhz[k]))
			k++;
		if (k == w->nsites)
			return false;
		vs_put(w, i, w->by_mhz[k]);
	}
	return true;
}

/* "resource pool slurm has 900 MB of memory left, each VM needs 1200 MB" */
void vs_pool_say(const struct vs_work *w, const struct vs_class *c,
		 const struct vs_pool_short *s, struct vs_buf *b)
{
	const struct vs_site *site = &w->sites[s->site];
	const struct vs_room *r;
	bool cpu = s->why == VS_REFUSE_POOL_CPU;
	const char *unit = cpu ? "MHz" : "MB";
	int64_t mb;
	int store = vs_store_at(c, site, &mb, NULL);

	if (s->why == VS_REFUSE_STORE_ROOM) {
		vs_buf_printf(b, "datastore %s has %lld MB free, each VM needs %lld MB for disks and swap file",
			      w->env->inv->pools[store].name,
			      (long long)w->pools_before[store].mem_mb,
			      (long long)mb);
		return;
	}
	r = &w->pools_before[site->pool];
	vs_buf_printf(b, "%s has %lld %s of %s left, each VM needs %lld %s",
		      w->env->inv->pools[site->pool].name,
		      (long long)(cpu ? r->cpu_mhz : r->mem_mb), unit,
		      cpu ? "CPU" : "memory",
		      (long long)(cpu ? vs_fit_cpu(c, site) : c->mem_mb),
		      unit);
}

/* ---- the datastore ------------------------------------------------------ */

int vs_store_lies(const struct vs_work *w, const struct vs_place_node *n)
{
	return n->exists && n->store ?
		vs_room_pool(w->env->inv, n->store) : -1;
}

bool vs_store_same(const struct vs_work *w, const struct vs_class *c,
		   const struct vs_place_node *n)
{
	return !w->env->inv->nuses ||
	       (c->exists == n->exists && c->store == vs_store_lies(w, n));
}

int vs_store_best(const struct vs_work *w, const struct vs_brief *b)
{
	const struct vs_room *pools = w->sums->pools;
	int best = -1;

	for (int i = 0; i < b->nstores; i++) {
		int at = b->stores[i];

		if (best < 0 || pools[at].mem_mb > pools[best].mem_mb)
			best = at;
	}
	return best;
}

int vs_store_at(const struct vs_class *c, const struct vs_site *s, int64_t *mb,
		bool *moves)
{
	const struct vs_brief *b = s->brief;
	bool sees = false;

	*mb = c->swap_mb;
	for (int i = 0; c->store >= 0 && i < b->nstores; i++)
		sees |= b->stores[i] == c->store;
	if (moves)
		*moves = c->store >= 0 && !sees && s->store >= 0;
	if (sees)
		return s->store < 0 ? -1 : c->store;
	if (c->store >= 0 || !c->exists)
		*mb += c->profile->disk_mb;
	return s->store;
}

int64_t vs_store_need(const struct vs_work *w)
{
	int64_t need = 0;

	for (size_t i = 0; i < w->n; i++) {
		const struct vs_place_node *n = &w->nodes[i];

		need += w->classes[w->class_of[i]].swap_mb;
		if (!n->exists)
			need += n->profile->disk_mb;
	}
	return need;
}

size_t vs_store_holds(const struct vs_work *w, int64_t need_mb, size_t n)
{
	return times(w->store_mb, need_mb, n);
}

void vs_store_say(const struct vs_work *w, size_t n, int64_t need_mb,
		  struct vs_buf *b)
{
	vs_buf_printf(b, "datastore %s has %lld MB free, %zu VM%s need%s %lld MB for disks and swap files",
		      w->env->inv->store.name, (long long)w->store_mb, n,
		      n == 1 ? "" : "s", n == 1 ? "s" : "",
		      (long long)need_mb);
}
