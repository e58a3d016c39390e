/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is free, kept up to date by what has changed.
 *
 * Rules: a host's part is summed again when the host, a VM on it or a hold on
 * it has changed, and always while one of its holds hangs on a VM that is
 * elsewhere; ledger.c and shared_capacity.c compute the sums. When hosts or
 * pools come or go, or the set of managed VMs changes, everything is summed
 * again. Never right by itself alone: a field that is written without a word to
 * the inventory or the ledger is not seen (testsuite/fuzz compares).
 */
#include <stdlib.h>
#include <string.h>
#include "plan/allocation/free_capacity.h"
#include "util/mem.h"

void vs_free_capacity_forget_fits(struct vs_free_capacity *s)
{
	for (size_t i = 0; i < s->nfits; i++)
		free(s->fits[i].by_host);
	free(s->fits);
	s->fits = NULL;
	s->nfits = 0;
}

void vs_free_capacity_clear(struct vs_free_capacity *s)
{
	vs_free_capacity_forget_fits(s);
	free(s->hosts);
	free(s->pools);
	free(s->by_name);
	free(s->briefs);
	free(s->stores);
	free(s->name_at);
	free(s->spare_sites);
	free(s->spare_ranks);
	free(s->by_mhz);
	free(s->taken);
	free(s->room);
	free(s->all.pools);
	free(s->lost);
	free(s->crossing);
	free(s->turn_of);
	free(s->stamp);
	memset(s, 0, sizeof(*s));
}

/* ---- orders ------------------------------------------------------------- */

static int by_host_name(const void *a, const void *b)
{
	const struct vs_host *x = *(struct vs_host *const *)a;
	const struct vs_host *y = *(struct vs_host *const *)b;
	int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->moid, y->moid);
}

struct speed { int mhz; size_t at; };

static int by_speed(const void *a, const void *b)
{
	const struct speed *x = a, *y = b;

	if (x->mhz != y->mhz)
		return x->mhz < y->mhz ? -1 : 1;
	return x->at < y->at ? -1 : 1;
}

static void orders(struct vs_free_capacity *s, const struct vs_inventory *inv)
{
	VS_FREE struct speed *speeds = vs_calloc(s->nhosts, sizeof(*speeds));

	for (size_t i = 0; i < s->nhosts; i++)
		s->by_name[i] = inv->by_index[i];
	qsort(s->by_name, s->nhosts, sizeof(*s->by_name), by_host_name);
	for (size_t i = 0; i < s->nhosts; i++)
		s->name_at[s->by_name[i]->index] = i;
	for (size_t i = 0; i < s->nhosts; i++)
		speeds[i] = (struct speed) { s->by_name[i]->core_mhz, i };
	qsort(speeds, s->nhosts, sizeof(*speeds), by_speed);
	for (size_t i = 0; i < s->nhosts; i++)
		s->by_mhz[i] = speeds[i].at;
}

/* ---- one host ----------------------------------------------------------- */

struct now {			/* an update under way */
	struct vs_free_capacity *s;
	const struct vs_ledger *l;
	const struct vs_inventory *inv;
};

static void taken_start(const struct now *u, struct vs_taken *t, int sign)
{
	for (size_t i = 0; i < u->s->npools; i++) {
		u->s->all.pools[i].cpu_mhz += sign * t->pools[i].cpu_mhz;
		u->s->all.pools[i].mem_mb += sign * t->pools[i].mem_mb;
	}
	u->s->all.store_mb += sign * t->store_mb;
	if (sign < 0) {
		memset(t->pools, 0, u->s->npools * sizeof(*t->pools));
		t->store_mb = 0;
	}
}

static void take_holds(const struct now *u, const struct vs_host_claims *of,
		       struct vs_taken *t)
{
	const struct vs_claim *d;

	LIST_FOREACH(d, &of->list, on_host)
		vs_shared_capacity_take_claim(u->inv, d, t);
}

/* Its sum may change with what isn't on it. */
static bool crosses(const struct now *u, const struct vs_host *h,
		    const struct vs_host_claims *of)
{
	const struct vs_claim *d;

	LIST_FOREACH(d, &of->list, on_host) {
		const struct vs_vm *vm =
			d->vm[0] ? vs_vm_get(u->inv, d->vm) : NULL;

		if (d->vm[0] && (!vm || vm->host_ptr != h))
			return true;
	}
	return false;
}

static void brief(const struct now *u, const struct vs_host *h)
{
	struct vs_brief *b = &u->s->briefs[u->s->name_at[h->index]];

	*b = (struct vs_brief) {
		.index = h->index,
		.pool = vs_shared_capacity_pool(u->inv, h->cluster),
		.npfs = h->npfs,
		.cores = h->cores,
		.core_mhz = h->core_mhz,
		.memory_mb = h->memory_mb,
	};
	for (int i = 0; i < h->npfs; i++)
		b->shared |= h->pfs[i].of && h->pfs[i].of->named ==
			VS_NIC_PCI_VGPU ? 1u << i : 0;
	b->stores = &u->s->stores[(size_t)h->index * VS_HOST_STORES];
	if (u->inv->nuses)
		b->nstores = vs_shared_capacity_stores(u->inv, h, b->stores,
						       VS_HOST_STORES);
}

static void sum_host(const struct now *u, const struct vs_host *h)
{
	struct vs_free_capacity *s = u->s;
	struct vs_taken *t = &s->taken[h->index];
	const struct vs_host_claims *of = vs_ledger_host_claims(u->l, h->moid);
	struct vs_host_sum was = s->hosts[h->index];
	const struct vs_vm *vm;

	if (s->turn_of[h->index] == s->turn)
		return;
	s->turn_of[h->index] = s->turn;
	brief(u, h);
	vs_ledger_sum(u->l, u->inv, h, s->folder, s->cluster_id,
		      &s->hosts[h->index]);
	s->strangers += s->hosts[h->index].strangers - was.strangers;
	s->beside += s->hosts[h->index].beside - was.beside;
	taken_start(u, t, -1);
	LIST_FOREACH(vm, &h->vms, on_host)
	vs_shared_capacity_take_vm(u->inv, vm, s->folder, s->cluster_id, t);
	if (of) {
		take_holds(u, of, t);
		if (crosses(u, h, of)) {
			VS_GROW(s->crossing, s->cap_crossing,
				s->ncrossing + 1);
			s->crossing[s->ncrossing++] = h->index;
		}
	}
	taken_start(u, t, 1);
	if (memcmp(&was, &s->hosts[h->index], sizeof(was)))
		s->generation++;
	else if (h->itself <= s->inv && (!of || of->changed <= s->ledger))
		return;
	s->stamp[h->index] = s->turn;
}

static void sum_nowhere(const struct now *u)
{
	struct vs_taken *t = &u->s->taken[u->s->nhosts];
	const struct vs_vm *vm;

	taken_start(u, t, -1);
	u->s->strangers -= u->s->stray_strangers;
	u->s->stray_strangers = 0;
	LIST_FOREACH(vm, &u->inv->strays, on_host) {
		vs_shared_capacity_take_vm(u->inv, vm, u->s->folder,
					   u->s->cluster_id, t);
		u->s->stray_strangers +=
			vs_vm_is_foreign(vm, u->s->folder, u->s->cluster_id);
	}
	u->s->strangers += u->s->stray_strangers;
	for (size_t i = 0; i < u->s->nlost; i++)
		take_holds(u, u->s->lost[i], t);
	taken_start(u, t, 1);
}

static void lose(struct vs_free_capacity *s, const struct vs_host_claims *of)
{
	for (size_t i = 0; i < s->nlost; i++) {
		if (s->lost[i] == of)
			return;
	}
	VS_GROW(s->lost, s->cap_lost, s->nlost + 1);
	s->lost[s->nlost++] = of;
}

/* ---- all of them -------------------------------------------------------- */

static void size_for(struct vs_free_capacity *s, const struct vs_inventory *inv)
{
	size_t n = (size_t)inv->nhosts + 1, np = inv->npools;
	uint64_t generation = s->generation, turn = s->turn;

	vs_free_capacity_clear(s);
	s->generation = generation + 1;
	s->turn = s->built = turn + 1;
	s->nhosts = n - 1;
	s->npools = np;
	s->hosts = vs_calloc(n, sizeof(*s->hosts));
	s->turn_of = vs_calloc(n, sizeof(*s->turn_of));
	s->stamp = vs_calloc(n, sizeof(*s->stamp));
	s->by_name = vs_calloc(n, sizeof(*s->by_name));
	s->briefs = vs_calloc(n, sizeof(*s->briefs));
	s->stores = vs_calloc(n * VS_HOST_STORES, sizeof(*s->stores));
	s->name_at = vs_calloc(n, sizeof(*s->name_at));
	s->by_mhz = vs_calloc(n, sizeof(*s->by_mhz));
	s->pools = vs_calloc(np, sizeof(*s->pools));
	s->all.pools = vs_calloc(np, sizeof(*s->all.pools));
	s->taken = vs_calloc(n, sizeof(*s->taken));
	s->room = vs_calloc(n * np, sizeof(*s->room));
	for (size_t i = 0; i < n; i++)
		s->taken[i].pools = s->room + i * np;
}

static void rebuild(const struct now *u, const char *folder,
		    const char *cluster_id)
{
	struct vs_free_capacity *s = u->s;
	const struct vs_host_claims *of;

	size_for(s, u->inv);
	vs_strlcpy(s->folder, folder, sizeof(s->folder));
	vs_strlcpy(s->cluster_id, cluster_id, sizeof(s->cluster_id));
	orders(s, u->inv);
	for (size_t i = 0; i < s->nhosts; i++)
		sum_host(u, u->inv->by_index[i]);
	TAILQ_FOREACH(of, &u->l->by_change, by_change) {
		if (!vs_host_get(u->inv, of->host))
			lose(s, of);
	}
}

static bool must_rebuild(const struct now *u, const char *folder,
			 const char *cluster_id)
{
	const struct vs_free_capacity *s = u->s;

	return !s->generation || s->hosts_changed != u->inv->hosts_changed ||
	       s->pools_changed != u->inv->pools_changed ||
	       s->cleared != u->l->cleared || strcmp(s->folder, folder) ||
	       strcmp(s->cluster_id, cluster_id);
}

static void follow(const struct now *u)
{
	struct vs_free_capacity *s = u->s;
	VS_FREE int *crossing = s->crossing;
	size_t ncrossing = s->ncrossing;
	const struct vs_host_claims *of;
	const struct vs_host *h;

	s->crossing = NULL;
	s->ncrossing = s->cap_crossing = 0;
	s->turn++;
	for (size_t i = 0; i < ncrossing; i++)
		sum_host(u, u->inv->by_index[crossing[i]]);
	TAILQ_FOREACH_REVERSE(h, &u->inv->by_change, vs_hosts_changed,
			      by_change) {
		if (h->changed <= s->inv)
			break;
		if (h->itself > s->inv)
			s->generation++;
		sum_host(u, h);
	}
	TAILQ_FOREACH_REVERSE(of, &u->l->by_change, vs_host_claims_changed,
			      by_change) {
		if (of->changed <= s->ledger)
			break;
		h = vs_host_get(u->inv, of->host);
		if (h)
			sum_host(u, h);
		else
			lose(s, of);
	}
}

static void shared_left(const struct now *u)
{
	struct vs_free_capacity *s = u->s;
	VS_FREE struct vs_pool_capacity *was = vs_calloc(s->npools,
							 sizeof(*was));
	int64_t store_mb = s->store_mb;

	for (size_t i = 0; i < s->npools; i++)
		was[i] = s->pools[i];
	vs_shared_capacity_left(u->inv, &s->all, s->pools, &s->store_mb);
	if (store_mb != s->store_mb ||
	    memcmp(was, s->pools, s->npools * sizeof(*was)))
		s->generation++;
}

/* ---- as if ---------------------------------------------------------------- */

void vs_as_if_begin(struct vs_as_if *a, struct vs_free_capacity *s,
		    const struct vs_ledger *l, const struct vs_inventory *inv)
{
	*a = (struct vs_as_if) {
		.s = s,
		.l = l,
		.inv = inv,
		.is_touched = vs_calloc(s->nhosts + 1, sizeof(bool)),
		.pools = vs_calloc(s->npools + 1,
				   sizeof(struct vs_pool_capacity)),
		.store_mb = s->store_mb,
	};
	for (size_t i = 0; i < s->npools; i++)
		a->pools[i] = s->pools[i];
}

void vs_as_if_gone(struct vs_as_if *a, struct vs_gone *node, bool gone)
{
	if (gone)
		HASH_ADD_KEYPTR(hh, a->gone, node->node, strlen(node->node),
				node);
	else
		HASH_DEL(a->gone, node);
}

void vs_as_if_host(struct vs_as_if *a, int index)
{
	struct vs_host_sum *sum = &a->s->hosts[index];

	if (!a->is_touched[index]) {
		a->is_touched[index] = true;
		VS_GROW(a->touched, a->cap_touched, a->n + 1);
		VS_GROW(a->was, a->cap_was, a->n + 1);
		a->touched[a->n] = index;
		a->was[a->n++] = *sum;
	}
	vs_ledger_sum_without(a->l, a->inv, a->inv->by_index[index],
			      a->s->folder, a->s->cluster_id, a->gone, sum);
}

static void give(int64_t *left, int64_t share)
{
	if (*left != VS_CAPACITY_UNKNOWN)
		*left += share;
}

void vs_as_if_shared(struct vs_as_if *a, const struct vs_vm *vm, int pool,
		     int sign)
{
	struct vs_share takes;

	vs_vm_share(vm, &takes);
	give(&a->s->store_mb, sign * takes.swap_mb);
	if (pool < 0)
		return;
	give(&a->s->pools[pool].cpu_mhz, sign * takes.cpu_mhz);
	give(&a->s->pools[pool].mem_mb, sign * takes.mem_mb);
}

void vs_as_if_end(struct vs_as_if *a)
{
	struct vs_free_capacity *s = a->s;

	for (size_t i = 0; i < a->n; i++)
		s->hosts[a->touched[i]] = a->was[i];
	for (size_t i = 0; i < s->npools; i++)
		s->pools[i] = a->pools[i];
	s->store_mb = a->store_mb;
	HASH_CLEAR(hh, a->gone);
	free(a->was);
	free(a->touched);
	free(a->is_touched);
	free(a->pools);
}

void vs_free_capacity_update(struct vs_free_capacity *s,
			     const struct vs_ledger *l,
			     const struct vs_inventory *inv, const char *folder,
			     const char *cluster_id)
{
	const struct now u = { s, l, inv };

	if (must_rebuild(&u, folder, cluster_id))
		rebuild(&u, folder, cluster_id);
	else if (s->inv == inv->generation && s->ledger == l->generation)
		return;
	else
		follow(&u);
	sum_nowhere(&u);
	shared_left(&u);
	s->inv = inv->generation;
	s->ledger = l->generation;
	s->hosts_changed = inv->hosts_changed;
	s->pools_changed = inv->pools_changed;
	s->cleared = l->cleared;
}
