/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a VM goes that leaves its host: chosen from the ledger as for any other
 * VM, with a hold there before vCenter is asked and until the VM is shown there.
 *
 * Rules: a host of its cluster that sees its datastore; so many at a time on each
 * host, coming and going (MaxVmotionsPerHost). Thousands may want to leave at
 * once: so many targets are looked for in a turn, each node in its turn, and
 * after each slurmctld's threads go first (loop.c).
 */
#include <stdio.h>
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/forecast/forecast.h"
#include "engine/hosts/hosts.h"
#include "engine/inventory/inventory.h"
#include "engine/maintenance/maintenance.h"
#include "engine/maintenance/maintenance_i.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "engine/vmspec/vmspec.h"
#include "util/mem.h"

#define PLACES 16		/* looked for in a turn */
#define MARK '>'		/* no node's name begins so */

/* ---- the hold on the target ------------------------------------------------ */

static void hold_name(const struct vs_node *n, char out[VS_NAME_LEN])
{
	snprintf(out, VS_NAME_LEN, "%c%.*s", MARK, VS_NAME_LEN - 2, n->name);
}

const char *vs_vmotion_claim_node(const char *hold)
{
	return hold[0] == MARK ? hold + 1 : NULL;
}

bool vs_vmotion_claimed(const struct vs_core *c, const struct vs_node *n)
{
	char name[VS_NAME_LEN];

	hold_name(n, name);
	return vs_ledger_get(&c->ledger, name);
}

bool vs_vmotion_unhold(struct vs_core *c, const struct vs_node *n)
{
	char name[VS_NAME_LEN];

	hold_name(n, name);
	return !vs_ledger_release(&c->ledger, name);
}

void vs_vmotion_claim_end(struct vs_core *c, const struct vs_node *n)
{
	if (!vs_vmotion_unhold(c, n))
		return;
	vs_capacity_freed();
	vs_state_file_dirty();
}

/* Its disks stay where they are, and so does its swap file. */
struct vs_claim *vs_vmotion_claim(struct vs_core *c, struct vs_node *n,
				  const struct vs_place_node *at)
{
	struct vs_claim hold;
	struct vs_err err;

	vs_claim_build(c, n, at, n->claims.job, &hold);
	hold_name(n, hold.node);
	hold.id = -1;
	hold.disk_mb = hold.swap_mb = 0;
	hold.moves = false;
	if (vs_ledger_take(&c->ledger, &hold, &err)) {
		vs_error("bug: %s node=%s", err.text, n->name);
		return NULL;
	}
	return vs_ledger_get(&c->ledger, hold.node);
}

/* ---- whose turn it is ------------------------------------------------------ */

/* A task of before us on a VM that is on may be a vMotion, to a host that
 * vCenter doesn't name: a host that is chosen now may be the same one. */
static bool is_stranger(const struct vs_node *n, const struct vs_vm *vm,
			int64_t now_ms)
{
	return n->op.kind == VS_OP_ADOPTED && vm &&
	       vm->power == VS_POWER_ON && !vs_op_hangs(n, now_ms) &&
	       n->vmotion.state != VS_VMOTION_GOES;
}

static void count(const struct vs_host *h)
{
	if (h)
		vs_vmotions.on[h->index]++;
}

void vs_vmotion_begun(const struct vs_host *from,
		      const struct vs_host *to)
{
	count(from);
	count(to);
}

void vs_vmotions_update(struct vs_core *c, int64_t now_ms)
{
	struct vs_vmotions *v = &vs_vmotions;
	size_t nhosts = (size_t)c->inv.nhosts;
	const struct vs_node *n;

	vs_assert_locked();
	VS_GROW(v->on, v->cap_on, nhosts + 1);
	memset(v->on, 0, nhosts * sizeof(*v->on));
	v->strangers = false;
	LIST_FOREACH(n, &c->busy, busy) {
		const struct vs_vm *vm = vs_vm_get(&c->inv, n->op.vm);
		const struct vs_host *to = vs_host_get(&c->inv, n->op.host);

		v->strangers |= is_stranger(n, vm, now_ms);
		if (n->op.kind != VS_OP_VMOTION)
			continue;
		count(to);
		if (vm && vm->host_ptr != to)
			count(vm->host_ptr);
	}
	v->from = v->short_of ? v->next : 0;
	v->short_of = false;
	v->places = 0;
}

static bool is_busy(const struct vs_core *c, const struct vs_host *h)
{
	return vs_vmotions.on[h->index] >= c->conf->max_vmotions_per_host;
}

bool vs_vmotion_in_order(struct vs_core *c, const struct vs_node *n,
			 const struct vs_vm *vm)
{
	struct vs_vmotions *v = &vs_vmotions;

	if (v->strangers || is_busy(c, vm->host_ptr) || n->id < v->from ||
	    !vs_op_affords(c, VS_DO_RELOCATE))
		return false;
	if (v->places < PLACES) {
		v->places++;
		return true;
	}
	if (!v->short_of)
		v->next = n->id;
	v->short_of = true;
	return false;
}

/* ---- where to ---------------------------------------------------------------- */

struct ask {
	struct vs_core *c;
	const struct vs_node *n;
	const struct vs_vm *vm;
	bool spare_busy;		/* hosts whose budget is used up */
};

/* Why not there; NULL: it may. */
static const char *unfit(const struct ask *a, const struct vs_host *h,
			 struct vs_err *err)
{
	const char *store = vs_vm_datastore(a->c, a->vm);

	if (h == a->vm->host_ptr)
		return "the VM is on this host now";
	if (strcmp(h->cluster, a->vm->host_ptr->cluster))
		return "in another cluster";
	if (store && !vs_host_has_store(h, store))
		return "does not mount the VM's datastore";
	if (!strcmp(h->moid, a->n->vmotion.not_to))
		return "vCenter has just refused to move the VM there";
	return vs_capability_check(a->c, a->n, a->vm, VS_OPERATION_VMOTION, h,
				   err) ?
		       err->text :
		       NULL;
}

/* Asked for the refusal's text alone. */
static bool left_out(void *arg, const struct vs_host *h,
		     const struct vs_pf *pf, char *why, size_t size)
{
	const struct ask *a = arg;
	struct vs_err err;
	const char *no = pf ? NULL : unfit(a, h, &err);

	if (!no && !pf && a->spare_busy && is_busy(a->c, h))
		no = "MaxVmotionsPerHost";
	if (!no)
		return vs_exclusion_explain(a->c, h, pf, why, size);
	vs_strlcpy(why, no, size);
	return true;
}

/* Is one left out that would do, were it not busy? */
static bool bars_add(const struct ask *a)
{
	struct vs_host_block *bars = vs_exclusion_blocks_cached();
	bool busy = false;
	struct vs_err err;

	for (const struct vs_host *h = a->c->inv.hosts; h; h = h->hh.next) {
		struct vs_host_block *b = &bars[h->index];

		if (b->avoided)
			continue;
		b->avoided = unfit(a, h, &err) != NULL;
		if (!b->avoided && a->spare_busy && is_busy(a->c, h))
			b->avoided = busy = true;
	}
	return busy;
}

/* vs_until_set() says for how long. */
static bool env_fill(struct ask *a, struct vs_place_env *env)
{
	vs_env_fill(a->c, env);
	env->avoid = left_out;
	env->arg = a;
	env->has_pool = true;
	return bars_add(a);
}

static int place(struct ask *a, struct vs_place_node *at, bool *busy,
		 struct vs_err *err)
{
	struct vs_place_env env;

	*busy = env_fill(a, &env);
	if (vs_place(&env, at, 1, err))
		return -1;
	return at->moves ? vs_err_set(err, VS_E_SHORTAGE,
				      "no other host mounts the VM's datastore") : 0;
}

enum vs_target vs_vmotion_target(struct vs_core *c, struct vs_node *n,
				 const struct vs_vm *vm,
				 struct vs_place_node *at, struct vs_err *err)
{
	struct ask a = { c, n, vm, true };
	enum vs_target found = VS_TARGET_FOUND;
	bool busy;

	vs_vmotions.placed = true;
	vs_place_node_fill(c, n, at);
	vs_until_set(vs_until_job(n));
	if (place(&a, at, &busy, err)) {
		found = VS_TARGET_NONE;
		a.spare_busy = false;
		if (busy && !place(&a, at, &busy, err))
			found = VS_TARGET_BUSY;
	}
	vs_until_set(0);
	return found;
}

static bool elsewhere(void *arg, const struct vs_host *h,
		      const struct vs_pf *pf, char *why, size_t size)
{
	(void)pf;
	(void)why;
	(void)size;
	return h != arg;
}

/* What is left out is left out of new choices: it goes there already. */
int vs_vmotion_at(struct vs_core *c, const struct vs_node *n,
		  const struct vs_host *to, struct vs_place_node *at)
{
	struct vs_place_env env;
	struct vs_err err;

	vs_env_fill(c, &env);
	env.avoid = elsewhere;
	env.arg = (void *)to;
	env.bars = NULL;
	env.has_pool = true;
	vs_place_node_fill(c, n, at);
	return vs_place(&env, at, 1, &err);
}

size_t vs_vmotion_places(struct vs_core *c, struct vs_node *const *nodes,
			 size_t n, struct vs_place_node *at, char *why,
			 size_t size)
{
	const struct vs_vm *vm = vs_node_vm(c, nodes[0]);
	struct ask a = { c, nodes[0], vm, false };
	struct vs_place_env env;
	struct vs_err err = { 0 };
	size_t room;

	for (size_t i = 0; i < n; i++)
		vs_place_node_fill(c, nodes[i], &at[i]);
	vs_until_set(vs_until_job(nodes[0]));
	env_fill(&a, &env);
	why[0] = '\0';
	room = vs_place_count(&env, &at[0], n, why, size);
	if (room < n && !why[0] && vs_place(&env, at, room + 1, &err))
		vs_strlcpy(why, err.text, size);
	if (room && vs_place(&env, at, room, &err)) {
		vs_strlcpy(why, err.text, size);
		room = 0;
	}
	vs_until_set(0);
	return room;
}

bool vs_vmotion_placed_taken(void)
{
	bool placed = vs_vmotions.placed;

	vs_vmotions.placed = false;
	return placed;
}
