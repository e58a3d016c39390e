/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The private copy that a placement without the lock works on.
 *
 * Rules: each pointer of a copy points into the copy, or is NULL. A host is
 * copied again when its own fields or its sum have changed: vs_host.itself and
 * vs_free_capacity.stamp say so. Never writes what it copies.
 */
#include <stdlib.h>
#include <string.h>
#include "plan/placement/snapshot.h"
#include "util/mem.h"

#define WHY_LEN 96

/* Why the host, or that device of it, is left out. */
struct vs_why_left_out { char host[WHY_LEN], pf[VS_HOST_PFS][WHY_LEN]; };

void vs_snapshot_begin(struct vs_snapshot *s, const struct vs_place_env *env,
		       const struct vs_place_tables *from)
{
	const struct vs_inventory *inv = env->inv;

	memset(s, 0, sizeof(*s));
	vs_inventory_init(&s->inv);
	s->inv.nhosts = inv->nhosts;
	s->inv.npools = inv->npools;
	s->inv.nuses = inv->nuses;
	s->sums.nhosts = (size_t)inv->nhosts;
	s->sums.npools = inv->npools;
	s->sums.generation = 1;
	s->hosts_changed = inv->hosts_changed;
	s->pools_changed = inv->pools_changed;
	s->cleared = env->ledger->cleared;
	s->tables.nadapters = from->nadapters;
	s->tables.nprofiles = from->nprofiles;
	s->env.nrails = env->nrails;
}

void vs_snapshot_alloc(struct vs_snapshot *s)
{
	size_t n = s->sums.nhosts;

	s->hosts = vs_calloc(n, sizeof(*s->hosts));
	s->itself = vs_calloc(n, sizeof(*s->itself));
	s->stamp = vs_calloc(n, sizeof(*s->stamp));
	s->inv.by_index = vs_calloc(n, sizeof(*s->inv.by_index));
	s->inv.pools = vs_calloc(s->inv.npools, sizeof(*s->inv.pools));
	s->inv.uses = vs_calloc(s->inv.nuses, sizeof(*s->inv.uses));
	s->sums.hosts = vs_calloc(n, sizeof(*s->sums.hosts));
	s->sums.by_name = vs_calloc(n, sizeof(*s->sums.by_name));
	s->sums.briefs = vs_calloc(n, sizeof(*s->sums.briefs));
	s->sums.stores = vs_calloc(n * VS_HOST_STORES, sizeof(*s->sums.stores));
	s->sums.name_at = vs_calloc(n, sizeof(*s->sums.name_at));
	s->sums.by_mhz = vs_calloc(n, sizeof(*s->sums.by_mhz));
	s->sums.pools = vs_calloc(s->inv.npools, sizeof(*s->sums.pools));
	s->bars = vs_calloc(n, sizeof(*s->bars));
	s->ops = vs_calloc(n, sizeof(*s->ops));
	if (n <= VS_PLACE_HOSTS_TOLD)
		s->why = vs_calloc(n, sizeof(*s->why));
	s->adapters = vs_calloc(s->tables.nadapters, sizeof(*s->adapters));
	s->nets = vs_calloc(s->tables.nadapters, sizeof(*s->nets));
	s->profiles = vs_calloc(s->tables.nprofiles, sizeof(*s->profiles));
	s->rails = vs_calloc(s->env.nrails, sizeof(*s->rails));
	s->bare = vs_calloc(s->tables.nprofiles * n, sizeof(*s->bare));
	for (size_t i = 0; i < n; i++)
		s->inv.by_index[i] = &s->hosts[i];
}

bool vs_snapshot_stands(const struct vs_snapshot *s,
			const struct vs_place_env *env)
{
	return s->hosts_changed == env->inv->hosts_changed &&
	       s->pools_changed == env->inv->pools_changed &&
	       s->cleared == env->ledger->cleared;
}

/* ---- hosts -------------------------------------------------------------- */

/* Its kinds of devices, as many as its rows name. */
static void devices_copy(struct vs_host *to, const struct vs_host *from)
{
	size_t n = 0;

	for (int i = 0; i < from->npfs; i++)
		if (from->pfs[i].of &&
		    (size_t)(from->pfs[i].of - from->devices) >= n)
			n = (size_t)(from->pfs[i].of - from->devices) + 1;
	to->devices = n ? vs_calloc(n, sizeof(*to->devices)) : NULL;
	for (size_t i = 0; i < n; i++)
		to->devices[i] = from->devices[i];
	for (int i = 0; i < from->npfs; i++)
		if (from->pfs[i].of)
			to->pfs[i].of = &to->devices[from->pfs[i].of -
						     from->devices];
}

static void host_copy(struct vs_host *to, const struct vs_host *from)
{
	free(to->devices);
	*to = *from;
	devices_copy(to, from);
	to->offer = NULL;
	to->facts = NULL;
	LIST_INIT(&to->vms);
	memset(&to->hh, 0, sizeof(to->hh));
	memset(&to->by_change, 0, sizeof(to->by_change));
}

static void sum_copy(struct vs_snapshot *s, const struct vs_free_capacity *from,
		     size_t i)
{
	size_t at = from->name_at[i];
	struct vs_brief *brief = &s->sums.briefs[at];
	short *stores = &s->sums.stores[i * VS_HOST_STORES];

	s->sums.hosts[i] = from->hosts[i];
	*brief = from->briefs[at];
	memcpy(stores, brief->stores, VS_HOST_STORES * sizeof(*stores));
	brief->stores = stores;
}

bool vs_snapshot_hosts(struct vs_snapshot *s, const struct vs_place_env *env,
		       size_t max)
{
	const struct vs_free_capacity *sums = env->sums;
	const struct vs_host *h;

	TAILQ_FOREACH_REVERSE(h, &env->inv->by_change, vs_hosts_changed,
			      by_change) {
		if (h->changed <= s->seen)
			break;
		if (h->itself == s->itself[h->index])
			continue;
		if (!max--)
			return false;
		host_copy(&s->hosts[h->index], h);
		s->itself[h->index] = h->itself;
	}
	for (size_t i = 0; i < s->sums.nhosts; i++) {
		if (sums->stamp[i] == s->stamp[i])
			continue;
		if (!max--)
			return false;
		sum_copy(s, sums, i);
		s->stamp[i] = sums->stamp[i];
	}
	s->seen = env->inv->generation;
	return true;
}

/* ---- the rest ------------------------------------------------------------ */

static void shared_copy(struct vs_snapshot *s, const struct vs_place_env *env)
{
	const struct vs_inventory *inv = env->inv;
	const struct vs_free_capacity *sums = env->sums;

	s->inv.store = inv->store;
	s->inv.generation = inv->generation;
	s->sums.store_mb = sums->store_mb;
	for (size_t i = 0; i < inv->npools; i++) {
		s->inv.pools[i] = inv->pools[i];
		s->sums.pools[i] = sums->pools[i];
	}
	for (size_t i = 0; i < inv->nuses; i++)
		s->inv.uses[i] = inv->uses[i];
	for (size_t i = 0; i < s->sums.nhosts; i++) {
		s->sums.name_at[i] = sums->name_at[i];
		s->sums.by_name[sums->name_at[i]] = &s->hosts[i];
		s->sums.by_mhz[i] = sums->by_mhz[i];
		s->bars[i] = env->bars[i];
		s->ops[i] = env->ops ? env->ops[i] : 0;
	}
}

static void tables_copy(struct vs_snapshot *s,
			const struct vs_place_tables *from)
{
	for (size_t i = 0; i < from->nadapters; i++) {
		const struct vs_adapter *with = from->adapters[i].with;

		s->adapters[i] = from->adapters[i];
		s->adapters[i].addresses = NULL;
		s->adapters[i].with = with ?
			&s->adapters[with - from->adapters] : NULL;
		s->nets[i] = from->nets[i];
	}
	for (size_t i = 0; i < from->nprofiles; i++) {
		s->profiles[i] = from->profiles[i];
		s->profiles[i].adapter = &s->adapters[
			from->profiles[i].adapter - from->adapters];
		s->profiles[i].annotation = NULL;
	}
	s->tables.adapters = s->adapters;
	s->tables.nets = s->nets;
	s->tables.profiles = s->profiles;
}

static void clusters_copy(struct vs_snapshot *s,
			  const struct vs_place_env *env)
{
	size_t n = 0;

	while (env->clusters && env->clusters[n])
		n++;
	s->moids = vs_calloc(n + 1, sizeof(*s->moids));
	s->clusters = vs_calloc(n + 1, sizeof(*s->clusters));
	vs_strlcpy(s->moids[0], env->store ? env->store : "", VS_MOID_LEN);
	for (size_t i = 0; i < n; i++) {
		vs_strlcpy(s->moids[i + 1], env->clusters[i], VS_MOID_LEN);
		s->clusters[i] = s->moids[i + 1];
	}
}

/* Of more hosts no reason is said. */
static void why_copy(struct vs_snapshot *s, const struct vs_place_env *env)
{
	for (size_t i = 0; s->why && i < s->sums.nhosts; i++) {
		const struct vs_host *h = &s->hosts[i];

		if (s->bars[i].avoided)
			env->avoid(env->arg, h, NULL, s->why[i].host, WHY_LEN);
		for (int k = 0; k < h->npfs; k++)
			if (s->bars[i].pfs & 1u << k)
				env->avoid(env->arg, h, &h->pfs[k],
					   s->why[i].pf[k], WHY_LEN);
	}
}

static bool avoid_copied(void *arg, const struct vs_host *h,
			 const struct vs_pf *pf, char *why, size_t size)
{
	const struct vs_snapshot *s = arg;

	if (s->why)
		vs_strlcpy(why, pf ? s->why[h->index].pf[pf - h->pfs] :
			   s->why[h->index].host, size);
	return true;
}

void vs_snapshot_end(struct vs_snapshot *s, const struct vs_place_env *env,
		     const struct vs_place_tables *from)
{
	shared_copy(s, env);
	tables_copy(s, from);
	clusters_copy(s, env);
	why_copy(s, env);
	if (env->bare)
		memcpy(s->bare, env->bare, from->nprofiles * s->sums.nhosts *
		       sizeof(*s->bare));
	for (size_t i = 0; i < env->nrails; i++)
		s->rails[i] = (struct vs_rail_group) {
			&s->adapters[env->rails[i].adapter - from->adapters],
			&s->nets[env->rails[i].net - from->nets],
		};
	s->env = (struct vs_place_env) {
		.inv = &s->inv,
		.sums = &s->sums,
		.policy = env->policy,
		.rails = s->rails,
		.nrails = env->nrails,
		.store = env->store ? s->moids[0] : NULL,
		.clusters = env->clusters ? s->clusters : NULL,
		.avoid = avoid_copied,
		.arg = s,
		.has_pool = env->has_pool,
		.bars = s->bars,
		.ops = env->ops ? s->ops : NULL,
		.ops_max = env->ops_max,
		.bare = env->bare ? s->bare : NULL,
		.profiles = s->profiles,
	};
}

void vs_snapshot_index(struct vs_snapshot *s)
{
	for (size_t i = 0; i < s->sums.nhosts; i++) {
		struct vs_host *h = &s->hosts[i];

		HASH_ADD_STR(s->inv.hosts, moid, h);
	}
}

void vs_snapshot_node(const struct vs_snapshot *s,
		      const struct vs_place_env *env,
		      const struct vs_place_tables *tables,
		      const struct vs_place_node *from,
		      struct vs_place_node *to)
{
	const struct vs_host *lies = from->prefer_host ?
		vs_host_get(env->inv, from->prefer_host) : NULL;
	int store = from->store ?
			    vs_shared_capacity_pool(env->inv, from->store) :
			    -1;

	*to = (struct vs_place_node) {
		.node = "",
		.profile = &s->profiles[from->profile - tables->profiles],
		.net = from->net ? &s->nets[from->net - tables->nets] : NULL,
		.prefer_host = lies ? s->hosts[lies->index].moid : NULL,
		.wished = from->wished,
		.exists = from->exists,
		.store = store < 0 ? NULL : s->inv.pools[store].cluster,
	};
}

void vs_snapshot_free(struct vs_snapshot *s)
{
	HASH_CLEAR(hh, s->inv.hosts);
	for (size_t i = 0; s->hosts && i < s->sums.nhosts; i++)
		free(s->hosts[i].devices);
	vs_free_capacity_clear(&s->sums);
	free(s->hosts);
	free(s->itself);
	free(s->stamp);
	free(s->inv.by_index);
	free(s->inv.pools);
	free(s->inv.uses);
	free(s->bars);
	free(s->ops);
	free(s->why);
	free(s->adapters);
	free(s->nets);
	free(s->profiles);
	free(s->rails);
	free(s->moids);
	free(s->clusters);
	free(s->bare);
	memset(s, 0, sizeof(*s));
}
