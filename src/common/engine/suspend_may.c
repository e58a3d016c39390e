/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which jobs may be suspended (suspend.c): all their VMs, by what they are made of,
 * by what is under way for them, and by the room for their memory on datastores.
 * The lock is held.
 */
#include <string.h>
#include "engine/core_i.h"

/* What is still to be written onto that datastore (NULL: the one there is). */
static int64_t unwritten_mb(struct vs_core *c, const char *store)
{
	int64_t mb = 0;

	for (size_t i = 0; i < c->nnodes && c->suspends.first; i++) {
		const struct vs_node *n = &c->nodes[i];
		const char *on = vs_stores_of(c, vs_node_vm(c, n));

		if (vs_suspend_goes(c, n) && n->seen != VS_SEEN_SUSPENDED &&
		    (!store || !on || !strcmp(store, on)))
			mb += n->profile->memory_mb;
	}
	return mb;
}

/* Memory becomes files beside the disks, of all its VMs. */
static bool has_space(struct vs_core *c, const struct vs_victim *v, size_t of)
{
	const char *store = vs_stores_of(c, vs_node_vm(c, &c->nodes[v->ids[of]]));
	int at = store ? vs_room_pool(&c->inv, store) : -1;
	int64_t mb = unwritten_mb(c, store);

	for (size_t i = 0; i < v->n; i++) {
		const struct vs_node *n = &c->nodes[v->ids[i]];
		const char *on = vs_stores_of(c, vs_node_vm(c, n));

		if (!store || !on || !strcmp(store, on))
			mb += n->profile->memory_mb;
	}
	if (at >= 0)
		return c->inv.pools[at].mem_mb > mb;
	return !c->inv.store.there || c->inv.store.free_mb > mb;
}

static bool may(struct vs_core *c, struct vs_node *n, uint32_t job)
{
	const struct vs_vm *vm = vs_node_vm(c, n);

	return n->profile->preempt_suspend && n->job == job && !n->nbeside &&
	       n->runs && (n->flags & VS_NODE_UP) &&
	       (n->seen == VS_SEEN_ON || n->seen == VS_SEEN_ON_WRONG) &&
	       n->op.kind == VS_OP_NONE && !n->missing &&
	       !vs_vmotion_moves(&n->vmotion) && !vs_orders_any(&n->orders) &&
	       vs_clock() >= n->no_suspend_ms && vm && vm->host_ptr &&
	       vm->power == VS_POWER_ON && !vs_host_wanted(c, vm->host_ptr) &&
	       !vs_door(c, n, vm, VS_DEED_SUSPEND, NULL, NULL);
}

bool vs_suspend_may(struct vs_core *c, const struct vs_victim *v)
{
	for (size_t i = 0; i < v->n; i++)
		if (!vs_node_at(c, v->ids[i]) ||
		    !may(c, &c->nodes[v->ids[i]], v->job))
			return false;
	for (size_t i = 0; i < v->n; i++)
		if (!has_space(c, v, i))
			return false;
	return v->n && !v->never_suspend && !c->observe && c->port->job_suspend &&
	       !vs_suspend_of(c, v->job) && !vs_job_waits(c, v->job);
}
