/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parents of instant clones take of hosts: on which of them none is
 * counted yet, for placement (plan/placement/clone_source_cost.c), and the hold of
 * one that is switched on again. Found once a second: between two of them another clone may
 * count a parent that has come meanwhile. The lock is held.
 */
#include "engine/allocation/allocation.h"
#include "engine/clone_source/clone_source.h"
#include "engine/clone_source/clone_source_i.h"
#include "engine/state/state.h"
#include "util/mem.h"
#include "util/name.h"

void vs_clone_sources_requested(
	struct vs_core *c,
	void (*each)(struct vs_core *c, const struct vs_clone_source_tag *m,
		     const char *name))
{
	for (const struct vs_clone_source *p = vs_clone_sources.all; p;
	     p = p->hh.next)
		if (p->key.store[0])
			each(c, &p->key.mark, p->name);
}

/* The room that is known of such VMs is of what was. */
void vs_clone_sources_absent_update(struct vs_core *c)
{
	bool asked = false, changed;
	uint64_t was;

	for (size_t i = 0; i < c->nprofiles; i++)
		asked |= c->profiles[i].clone == VS_CLONE_INSTANT;
	if (!asked)
		return;
	was = vs_clone_hosts_hash(c);
	vs_clone_hosts_find(c);
	changed = was != vs_clone_hosts_hash(c);
	for (size_t i = 0; i < c->nprofiles && changed; i++)
		if (c->profiles[i].clone == VS_CLONE_INSTANT)
			vs_profile_capacity_outdate(c, i);
	if (changed)
		vs_capacity_freed();
}

void vs_clone_source_claim_again(struct vs_core *c, struct vs_clone_source *p,
				 const struct vs_claim *like,
				 const struct vs_vm *vm)
{
	struct vs_claim *h = vs_ledger_get(&c->ledger, vm->name);

	if (h)
		return;
	vs_strlcpy(p->name, vm->name, sizeof(p->name));
	vs_strlcpy(p->host, vm->host, sizeof(p->host));
	vs_clone_source_capacity_take(c, p, like, 0);
	h = vs_ledger_get(&c->ledger, vm->name);
	if (h)
		vs_ledger_set_vm(&c->ledger, h, vm->moid);
}
