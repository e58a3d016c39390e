/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions about a node, its VM and its jobs that one look at memory answers:
 * which node, which VM, where it is, who has it, what is under way for it.
 *
 * Rules: nothing is changed here but what a caller asks to be noted, and no
 * other module is asked. The lock is held.
 */
#include <string.h>
#include "engine/state/state.h"

#define HANGS_MS 60000		/* longer than any task on a VM but a clone */
#define GIVEN_MS 60000		/* unless the preemptor asks again */

struct vs_node *vs_node_named(struct vs_core *c, const char *name)
{
	size_t lo = 0, hi = c->nnodes;

	vs_assert_locked();
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int cmp = strcmp(c->nodes[mid].name, name);

		if (!cmp)
			return &c->nodes[mid];
		if (cmp < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

struct vs_vm *vs_node_vm(struct vs_core *c, const struct vs_node *n)
{
	vs_assert_locked();
	if (!c->folder[0])
		return NULL;
	return vs_vm_get_named(&c->inv, c->folder, n->name);
}

const char *vs_node_preferred_host(const struct vs_node *n,
				   const struct vs_vm *vm)
{
	const struct vs_vm_actions *o = &n->orders;

	if (!o->wish[0] || (vm && vm->power != VS_POWER_OFF &&
			    strcmp(vm->moid, o->rebuild) != 0))
		return NULL;
	return o->wish;
}

bool vs_vm_is_reachable(const struct vs_vm *vm)
{
	return vm->readable && vm->connected && vm->host_ptr;
}

bool vs_node_vm_unsure(const struct vs_vm *vm)
{
	return !vs_vm_is_reachable(vm) || (vm->power != VS_POWER_ON &&
					   vm->power != VS_POWER_OFF);
}

bool vs_job_has(const struct vs_node *n, uint32_t job)
{
	vs_assert_locked();
	if (n->claims.job == job)
		return true;
	for (size_t i = 0; i < n->claims.nbeside; i++)
		if (n->claims.beside[i].job == job)
			return true;
	return false;
}

bool vs_job_runs(const struct vs_node *n)
{
	bool runs = n->claims.job && vs_node_is(n, VS_COND_JOB_RUNS);

	vs_assert_locked();
	for (size_t i = 0; i < n->claims.nbeside; i++)
		runs |= n->claims.beside[i].runs;
	return runs;
}

bool vs_node_is_preempting(const struct vs_node *n)
{
	return n->claims.promised_ms && vs_clock() - n->claims.promised_ms < GIVEN_MS;
}

static struct vs_wait *waits;	/* prologs that wait */

struct vs_wait **vs_waits_first(void)
{
	return &waits;
}

struct vs_wait **vs_wait_find(uint32_t job)
{
	struct vs_wait **link = &waits;

	while (*link && (*link)->job != job)
		link = &(*link)->next;
	return link;
}

bool vs_job_waits(uint32_t job)
{
	return job && *vs_wait_find(job);
}


const struct vs_wait *vs_waits(void)
{
	return waits;
}

static const struct vs_vm *own_vm(struct vs_core *c, const struct vs_node *n)
{
	const struct vs_vm *vm = vs_node_vm(c, n);

	return vm && vs_vm_owner(vm, c->folder, c->cluster_id) ==
		VS_OWNER_MANAGED ? vm : NULL;
}

const struct vs_host *vs_node_on(struct vs_core *c, const struct vs_node *n)
{
	const struct vs_vm *vm = own_vm(c, n);

	return vm && vm->power == VS_POWER_ON ? vm->host_ptr : NULL;
}

bool vs_node_sleeps(struct vs_core *c, const struct vs_node *n)
{
	const struct vs_vm *vm = own_vm(c, n);

	return vm && vm->power == VS_POWER_SUSPENDED;
}

const struct vs_host *vs_node_there(struct vs_core *c, const struct vs_node *n)
{
	return vs_node_sleeps(c, n) ? vs_node_vm(c, n)->host_ptr :
		vs_node_on(c, n);
}

const struct vs_cluster_policy *vs_cluster_policy_get(const struct vs_core *c,
						      const struct vs_vm *vm)
{
	for (size_t i = 0; i < c->nguards; i++)
		if (vm->host_ptr &&
		    !strcmp(c->guards[i].cluster, vm->host_ptr->cluster))
			return &c->guards[i];
	return NULL;
}

bool vs_cluster_policy_moves(const struct vs_core *c, const struct vs_vm *vm)
{
	const struct vs_cluster_policy *g = vs_cluster_policy_get(c, vm);

	return vm->policy.drs == VS_AS_CLUSTER ? g && g->moves :
		vm->policy.drs == VS_AUTOMATED && vm->policy.drs_moves;
}

int vs_host_cluster(const struct vs_core *c, const struct vs_host *h)
{
	vs_assert_locked();
	for (int i = 0; c->cluster_moids && c->cluster_moids[i]; i++)
		if (!strcmp(c->cluster_moids[i], h->cluster))
			return i;
	return -1;
}

static const char *const op_names[VS_OPS] = {
	"none", "clone", "reconfigure", "relocate", "power-on", "shutdown",
	"power-off", "destroy", "adopted", "vmotion",
};

const char *vs_op_name(enum vs_op_type k)
{
	return k < VS_OPS ? op_names[k] : "?";
}

bool vs_op_hangs(const struct vs_node *n, int64_t now_ms)
{
	return n->op.id && n->op.kind != VS_OP_CLONE &&
		now_ms - n->op.since_ms > HANGS_MS;
}
