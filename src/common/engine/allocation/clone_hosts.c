/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * On which hosts the clone source of an instant clone is not counted yet: there
 * placement counts what it takes as well (plan/placement/clone_source_cost.c).
 *
 * Rules: found once a second (host_cost.c) and where the hosts or the
 * configuration are others. Between two of them another clone may count a source
 * that has come meanwhile. The lock is held.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/state/state.h"
#include "util/mem.h"

static struct {
	bool *bare;			/* by profile and host */
	size_t cap, hosts;		/* hosts of each profile */
	uint64_t seen, epoch;		/* inv.hosts_changed and the core's epoch
					 * of which that is */
} found;

static vs_clones_requested_fn *orders;

void vs_clones_requested_subscribe(vs_clones_requested_fn *fn)
{
	orders = fn;
}

static void stands_on(struct vs_core *c, const struct vs_clone_source_tag *m,
		      const char *moid)
{
	const struct vs_host *h = vs_host_get(&c->inv, moid);

	for (size_t i = 0; h && i < c->nprofiles; i++) {
		struct vs_clone_source_tag is;

		if (!vs_clone_source_tag_fill(c->profiles[i].clone,
					      c->now[i].hash, &is) &&
		    is.kind == m->kind && !strcmp(is.of, m->of))
			found.bare[i * found.hosts + (size_t)h->index] = false;
	}
}

static void ordered(struct vs_core *c, const struct vs_clone_source_tag *m,
		    const char *name)
{
	const struct vs_claim *h = vs_ledger_get(&c->ledger, name);

	if (h && h->memory_mb)
		stands_on(c, m, h->host);
}

void vs_clone_hosts_find(struct vs_core *c)
{
	const struct vs_vm *vm;
	size_t n;

	found.hosts = (size_t)c->inv.nhosts;
	found.seen = c->inv.hosts_changed;
	found.epoch = c->epoch;
	n = c->nprofiles * found.hosts;
	VS_GROW(found.bare, found.cap, n + 1);
	memset(found.bare, true, n);
	LIST_FOREACH(vm, &c->inv.parents, with_parents)
		if (vm->power == VS_POWER_ON &&
		    vs_vm_owner(vm, c->folder, c->cluster_id) ==
		    VS_OWNER_CLONE_SOURCE)
			stands_on(c, &vm->parent, vm->host);
	if (orders)
		orders(c, ordered);
}

const bool *vs_clone_hosts_bare(struct vs_core *c)
{
	if (!found.bare || found.epoch != c->epoch ||
	    found.seen != c->inv.hosts_changed ||
	    found.hosts != (size_t)c->inv.nhosts)
		vs_clone_hosts_find(c);
	return found.bare;
}

uint64_t vs_clone_hosts_hash(const struct vs_core *c)
{
	if (found.epoch != c->epoch)
		return 0;
	return vs_hash(vs_hash(VS_HASH_START, &found.epoch,
			       sizeof(found.epoch)),
		       found.bare, found.bare ? c->nprofiles * found.hosts : 0);
}

void vs_clone_hosts_free(void)
{
	free(found.bare);
	memset(&found, 0, sizeof(found));
}
