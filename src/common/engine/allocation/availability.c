/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Could this node be served now? Slurm's scheduler asks it of all nodes at
 * once, many times a second, with its own locks held: what a node's own facts
 * say is kept until one of them is touched, and how much room there is for
 * nodes that need a place is kept per profile. Code that takes a place asks
 * again. The lock is held.
 */
#include "engine/allocation/allocation.h"
#include "engine/hosts/hosts.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "engine/vmspec/vmspec.h"

/* Only an administrator ends it, or vCenter when a host is back. */
static bool lasts(struct vs_core *c, const struct vs_node *n,
		  const struct vs_vm *vm)
{
	if (n->absent.how || vs_node_blocked_permanently(c, n))
		return true;
	return vm &&
	       (vs_vm_owner(vm, c->folder, c->cluster_id) != VS_OWNER_MANAGED ||
		vs_node_vm_unsure(vm));
}

/* By the node's own facts; *place: it needs one besides. */
static enum vs_avail alone(struct vs_core *c, struct vs_node *n, bool *place)
{
	struct vs_vm *vm = vs_node_vm(c, n);
	struct vs_host *host;

	*place = false;
	n->kept->exists = vm != NULL;
	n->kept->holds = vs_ledger_get(&c->ledger, n->name) != NULL;
	n->kept->barred = vs_node_blocked(c, n) != NULL;
	n->kept->lasts = lasts(c, n, vm);
	if (n->kept->barred || n->absent.how ||
	    (vm &&
	     vs_vm_owner(vm, c->folder, c->cluster_id) != VS_OWNER_MANAGED))
		return VS_AVAIL_NONE;
	if (vm && vs_node_vm_unsure(vm))
		return VS_AVAIL_NONE;
	if (vm && vm->power == VS_POWER_ON) {
		if (vs_node_is_preempting(n))
			return VS_AVAIL_NONE;
		/* It holds its VF already; whether it must be rebuilt first
		 * only decides how warm it is. */
		host = vm->host_ptr;
		if (n->orders.evict || (host && vs_host_is_cordoned(host)))
			return VS_AVAIL_NONE;
		if (vs_node_is(n, VS_COND_ADOPTING))
			return VS_AVAIL_NONE;	/* warm in a moment */
		if (!(n->flags & VS_NODE_UP))
			return n->kept->holds ? VS_AVAIL_STOPPED :
						VS_AVAIL_NONE;
		if (n->profile->retention == VS_RETAIN_DESTROY)
			return c->now[n->profile - c->profiles].missing[0] ?
				VS_AVAIL_NONE : VS_AVAIL_TO_CREATE;
		if (vs_node_vm_right(c, n, vm, n->claims.job, n->claims.restart))
			return VS_AVAIL_RUNNING;
		/* It is rebuilt when the job that runs on it has ended. */
		return n->claims.job ? VS_AVAIL_NONE : VS_AVAIL_TO_CREATE;
	}
	*place = !n->kept->holds;
	if (!*place)
		return VS_AVAIL_STOPPED;
	if (!vm && n->op.kind == VS_OP_CLONE)
		return VS_AVAIL_STOPPED;	/* in a moment: made ahead */
	return vm && vs_node_fit(c, n, vm) == VS_FIT_RIGHT ? VS_AVAIL_STOPPED :
		VS_AVAIL_TO_CREATE;
}

void vs_node_summary_renew(struct vs_core *c, struct vs_node *n)
{
	bool place;

	vs_assert_locked();
	n->kept->avail = alone(c, n, &place);
	n->kept->place = place;
	if (n->kept->avail != VS_AVAIL_NONE)
		n->kept->unserved_ms = 0;
	else if (!n->kept->unserved_ms)
		n->kept->unserved_ms = vs_clock();
	vs_node_summary_renewed(c, n);
}

enum vs_avail vs_node_avail(struct vs_core *c, struct vs_node *n)
{
	vs_node_summary_renew(c, n);
	return n->kept->place && !vs_capacity_count(c, n) ? VS_AVAIL_NONE :
		n->kept->avail;
}

uint64_t vs_node_summary_version(const struct vs_core *c, int id)
{
	vs_assert_locked();
	return (uint64_t)c->facts_epoch << 32 | c->kept[id].touches;
}

const char *vs_vm_automated(const struct vs_core *c, const struct vs_vm *vm)
{
	const struct vs_cluster_policy *g = vs_cluster_policy_get(c, vm);

	if (vm->policy.drs == VS_AUTOMATED)
		return "an override lets DRS choose hosts for its VM: set the override to manual or disabled";
	if (vm->policy.ha == VS_AUTOMATED)
		return "an override lets HA restart its VM without Slurm: set the override to disabled";
	if (g && vm->policy.drs == VS_AS_CLUSTER && g->drs[0])
		return g->drs;
	if (g && vm->policy.ha == VS_AS_CLUSTER && g->ha[0])
		return g->ha;
	return NULL;
}

/* It ends by itself, within minutes. */
static const char *barred_for_now(struct vs_core *c, const struct vs_node *n,
				  const struct vs_vm *vm)
{
	if (n->op.id && n->op.cancel_asked)
		return "a cancelled task of its VM has not ended";
	if (vs_op_hangs(n, vs_clock()))
		return "a task of its VM has run for more than a minute";
	if (!vm && vs_unowned_tasks_wait())
		return "a clone for an unknown node is running: nodes without a VM wait for its end, 5 minutes at most";
	if (n->claims.ending_ms)
		return "slurmctld may still be ending the job whose VM was powered off";
	return vs_clones_blocked(c, n, vm);
}

const char *vs_node_blocked_permanently(struct vs_core *c,
					const struct vs_node *n)
{
	const struct vs_profile_capacity *now =
		&c->now[n->profile - c->profiles];
	const struct vs_vm *vm = vs_node_vm(c, n);

	if (n->foreign)
		return n->foreign;
	if (vs_node_is(n, VS_COND_DECLARED_LOST) && vm && !vm->connected)
		return vs_clone_blocked(c, n);
	if (now->barred[0])
		return now->barred;
	if (vm && now->missing[0] && vs_node_fit(c, n, vm) == VS_FIT_REBUILD)
		return now->missing;
	if (!vs_adapter_takes(n->profile->adapter))
		return NULL;
	if (vm)
		return vs_vm_automated(c, vm);
	return now->barred_new[0] ? now->barred_new : NULL;
}

const char *vs_node_blocked(struct vs_core *c, const struct vs_node *n)
{
	const char *why = barred_for_now(c, n, vs_node_vm(c, n));

	return why ? why : vs_node_blocked_permanently(c, n);
}
