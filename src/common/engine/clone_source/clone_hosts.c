/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * On which hosts the clone source of an instant clone is not counted yet: there
 * placement counts what it takes as well (plan/placement/clone_source_cost.c).
 *
 * Rules: found once a second (host_cost.c) and where the hosts or the
 * configuration are others. Between two of them another clone may count a source
 * that has come meanwhile. The lock is held.
 */
#include <string.h>
#include "engine/clone_source/clone_source_i.h"
#include "engine/state/core_i.h"
#include "util/mem.h"

static void stands_on(struct vs_core *c, const struct vs_parent_mark *m,
		      const char *moid)
{
	struct vs_parents *p = &vs_parents;
	const struct vs_host *h = vs_host_get(&c->inv, moid);

	for (size_t i = 0; h && i < c->nprofiles; i++) {
		struct vs_parent_mark is;

		if (!vs_parent_mark_of(c->profiles[i].clone, c->now[i].hash,
				       &is) &&
		    is.kind == m->kind && !strcmp(is.of, m->of))
			p->bare[i * p->bare_hosts + (size_t)h->index] = false;
	}
}

void vs_parents_bare_find(struct vs_core *c)
{
	struct vs_parents *p = &vs_parents;
	const struct vs_parent *r;
	const struct vs_vm *vm;
	size_t n;

	p->bare_hosts = (size_t)c->inv.nhosts;
	p->bare_seen = c->inv.hosts_changed;
	p->bare_epoch = c->epoch;
	n = c->nprofiles * p->bare_hosts;
	VS_GROW(p->bare, p->cap_bare, n + 1);
	memset(p->bare, true, n);
	LIST_FOREACH(vm, &c->inv.parents, with_parents)
		if (vm->power == VS_POWER_ON &&
		    vs_vm_owner(vm, c->folder, c->cluster_id) ==
		    VS_OWNER_PARENT)
			stands_on(c, &vm->parent, vm->host);
	for (r = p->all; r; r = r->hh.next) {
		const struct vs_hold *h = r->key.store[0] ?
			vs_ledger_get(&c->ledger, r->name) : NULL;

		if (h && h->memory_mb)
			stands_on(c, &r->key.mark, h->host);
	}
}

const bool *vs_parents_bare(void *arg, const struct vs_profile *profile)
{
	struct vs_core *c = arg;
	struct vs_parents *p = &vs_parents;

	if (!p->bare || p->bare_epoch != c->epoch ||
	    p->bare_seen != c->inv.hosts_changed ||
	    p->bare_hosts != (size_t)c->inv.nhosts)
		vs_parents_bare_find(c);
	return p->bare + (size_t)(profile - c->profiles) * p->bare_hosts;
}
