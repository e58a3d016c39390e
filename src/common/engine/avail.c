/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Could this node be served now? Slurm's scheduler asks it of all nodes at
 * once, many times a second, with its own locks held: what a node's own facts
 * say is kept until one of them is touched, and how much room there is for
 * nodes that need a place is kept per profile. Whoever takes a place asks
 * anew. The lock is held.
 */
#include "engine/core_i.h"

/* Only an administrator ends it, or vCenter when a host is back. */
static bool lasts(struct vs_core *c, const struct vs_node *n,
		  const struct vs_vm *vm)
{
	if (n->missing || vs_node_barred_for_long(c, n))
		return true;
	return vm &&
		(vs_vm_owner(vm, c->folder, c->cluster_id) != VS_OWNER_OURS ||
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
	n->kept->barred = vs_node_barred(c, n) != NULL;
	n->kept->lasts = lasts(c, n, vm);
	if (n->kept->barred || n->missing ||
	    (vm && vs_vm_owner(vm, c->folder, c->cluster_id) != VS_OWNER_OURS))
		return VS_AVAIL_NONE;
	if (vm && vs_node_vm_unsure(vm))
		return VS_AVAIL_NONE;
	if (vm && vm->power == VS_POWER_ON) {
		if (vs_node_given(n))
			return VS_AVAIL_NONE;
		/* It holds its VF already; whether it must be rebuilt first
		 * only decides how warm it is. */
		host = vm->host_ptr;
		if (n->orders.evict || (host && vs_host_wanted(c, host)))
			return VS_AVAIL_NONE;
		if (n->adopt)
			return VS_AVAIL_NONE;	/* warm in a moment */
		if (!(n->flags & VS_NODE_UP))
			return n->kept->holds ? VS_AVAIL_OFF : VS_AVAIL_NONE;
		if (n->profile->retention == VS_RETAIN_DESTROY)
			return c->now[n->profile - c->profiles].missing[0] ?
				VS_AVAIL_NONE : VS_AVAIL_NEW;
		if (vs_node_vm_right(c, n, vm, n->job, n->restart))
			return VS_AVAIL_WARM;
		/* It is rebuilt when the job that runs on it has ended. */
		return n->job ? VS_AVAIL_NONE : VS_AVAIL_NEW;
	}
	*place = !n->kept->holds;
	if (!*place)
		return VS_AVAIL_OFF;
	if (!vm && n->op.kind == VS_OP_CLONE)
		return VS_AVAIL_OFF;	/* in a moment: made ahead */
	return vm && vs_node_fit(c, n, vm) == VS_FIT_RIGHT ? VS_AVAIL_OFF :
		VS_AVAIL_NEW;
}

static void kept_renew(struct vs_core *c, struct vs_node *n)
{
	n->kept->avail = alone(c, n, &n->kept->place);
	if (n->kept->avail != VS_AVAIL_NONE)
		n->kept->unserved_ms = 0;
	else if (!n->kept->unserved_ms)
		n->kept->unserved_ms = vs_clock();
	n->kept->epoch = c->facts_epoch;
}

enum vs_avail vs_node_avail(struct vs_core *c, struct vs_node *n)
{
	kept_renew(c, n);
	return n->kept->place && !vs_room_for(c, n) ? VS_AVAIL_NONE :
		n->kept->avail;
}

const struct vs_kept *vs_kept_now(struct vs_core *c, int id)
{
	if (c->kept[id].epoch != c->facts_epoch)
		kept_renew(c, &c->nodes[id]);
	return &c->kept[id];
}

uint64_t vs_kept_version(const struct vs_core *c, int id)
{
	return (uint64_t)c->facts_epoch << 32 | c->kept[id].touches;
}

/* One of the node's own facts has changed. */
void vs_node_touch(struct vs_node *n)
{
	n->kept->fresh = n->kept->rests = false;
	n->kept->epoch = 0;
	n->kept->touches++;
}

/* Something has changed that many of them hang on. */
void vs_nodes_touch(struct vs_core *c)
{
	if (!++c->facts_epoch)
		c->facts_epoch = 1;
	c->full_ms = INT64_MIN / 2;
}

/* Those whose VM is on this host. */
void vs_nodes_touch_on(struct vs_core *c, const struct vs_host *h)
{
	struct vs_vm *vm;

	LIST_FOREACH(vm, &h->vms, on_host) {
		struct vs_node *n = vs_node_named(c, vm->name);

		if (n)
			vs_node_touch(n);
	}
}
