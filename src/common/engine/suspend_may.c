/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which jobs may be suspended (suspend.c): all their VMs, by what they are made of,
 * by what is under way for them, and by the room for their memory on datastores.
 * And for whom: not for one that had its room and didn't begin. The lock is held.
 */
#include <stdlib.h>
#include "engine/core_i.h"
#include "util/mem.h"
#include "util/time.h"

#define VAIN_MS (10 * 60 * 1000)
#define VAIN_MAX_MS (4 * 60 * 60 * 1000)

/* Memory becomes a file beside the disks. sign: 1, or -1 takes it out again. */
static void count(struct vs_core *c, struct vs_unwritten *u,
		  const struct vs_node *n, int sign)
{
	const struct vs_vm *vm = vs_node_vm(c, n);
	int at = vm ? vs_room_store_of(&c->inv, vm) : -1;
	int64_t mb = sign * n->profile->memory_mb;

	u->all_mb += mb;
	if (at < 0)
		u->unknown_mb += mb;
	else
		u->store_mb[at] += mb;
}

void vs_unwritten_begin(struct vs_core *c, struct vs_unwritten *u)
{
	*u = (struct vs_unwritten) {
		.store_mb = vs_calloc(c->inv.npools + 1, sizeof(int64_t)),
	};
	for (size_t i = 0; i < c->nnodes && c->suspends.jobs; i++)
		if (vs_suspend_goes(c, &c->nodes[i]) &&
		    c->nodes[i].seen != VS_SEEN_SUSPENDED)
			count(c, u, &c->nodes[i], 1);
}

void vs_unwritten_add(struct vs_core *c, struct vs_unwritten *u,
		      const struct vs_victim *v)
{
	for (size_t i = 0; i < v->n; i++)
		if (vs_node_at(c, v->ids[i]))
			count(c, u, &c->nodes[v->ids[i]], 1);
}

void vs_unwritten_end(struct vs_unwritten *u)
{
	free(u->store_mb);
	u->store_mb = NULL;
}

static bool has_space_for(struct vs_core *c, const struct vs_node *n,
			  const struct vs_unwritten *u)
{
	const struct vs_vm *vm = vs_node_vm(c, n);
	int at = vm ? vs_room_store_of(&c->inv, vm) : -1;

	if (at >= 0)
		return c->inv.pools[at].mem_mb > u->store_mb[at] + u->unknown_mb;
	return !c->inv.store.there || c->inv.store.free_mb > u->all_mb;
}

/* For all its VMs. */
static bool has_space(struct vs_core *c, const struct vs_victim *v,
		      struct vs_unwritten *u)
{
	bool has = true;

	for (size_t i = 0; i < v->n; i++)
		count(c, u, &c->nodes[v->ids[i]], 1);
	for (size_t i = 0; i < v->n && has; i++)
		has = has_space_for(c, &c->nodes[v->ids[i]], u);
	for (size_t i = 0; i < v->n; i++)
		count(c, u, &c->nodes[v->ids[i]], -1);
	return has;
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

bool vs_suspend_may(struct vs_core *c, const struct vs_victim *v,
		    struct vs_unwritten *u)
{
	for (size_t i = 0; i < v->n; i++)
		if (!vs_node_at(c, v->ids[i]) ||
		    !may(c, &c->nodes[v->ids[i]], v->job))
			return false;
	return v->n && !v->never_suspend && !c->observe && c->port->job_suspend &&
	       !vs_suspend_of(c, v->job) && !vs_job_waits(c, v->job) &&
	       has_space(c, v, u);
}

/* ---- for whom ------------------------------------------------------------------ */

/* Those that are long over are nobody's any more, or as good as new. */
static void vain_tidy(struct vs_core *c, int64_t now_ms)
{
	struct vs_vain *v, *next;

	HASH_ITER(hh, c->suspends.vain, v, next) {
		if (now_ms - v->until_ms < VAIN_MAX_MS)
			continue;
		HASH_DEL(c->suspends.vain, v);
		free(v);
	}
}

void vs_suspend_in_vain(struct vs_core *c, uint32_t for_job, int64_t now_ms)
{
	struct vs_vain *v;
	int64_t ms = VAIN_MS;

	vain_tidy(c, now_ms);
	HASH_FIND(hh, c->suspends.vain, &for_job, sizeof(for_job), v);
	if (!v) {
		v = vs_calloc(1, sizeof(*v));
		v->job = for_job;
		HASH_ADD(hh, c->suspends.vain, job, sizeof(v->job), v);
	}
	for (int i = 0; i < v->times && ms < VAIN_MAX_MS; i++)
		ms *= 2;
	/* of several that were suspended for it at once the first counts */
	if (now_ms < v->until_ms)
		return;
	v->times++;
	v->until_ms = now_ms + (ms < VAIN_MAX_MS ? ms : VAIN_MAX_MS);
	vs_info("JobId=%u doesn't begin in the room that others were suspended for: nobody is for %d minutes",
		for_job, (int)((v->until_ms - now_ms) / 60000));
}

int64_t vs_suspend_vain_until(const struct vs_core *c, uint32_t for_job)
{
	struct vs_vain *v;

	HASH_FIND(hh, c->suspends.vain, &for_job, sizeof(for_job), v);
	return v && vs_clock() < v->until_ms ? v->until_ms : 0;
}
