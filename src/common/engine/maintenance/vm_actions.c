/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Operators' actions on nodes' VMs. Evict powers the VM off as soon as no job
 * has the node, which frees its VF. Rebuild does that too, destroys the VM, and
 * clones it again when Slurm powers the node up. Either may name a preferred
 * host for the next VM, which is honoured once if the host has capacity.
 *
 * This file only keeps the actions. An evicted node is treated as one on a host
 * that is to be empty (node_drain.c): it is drained with slurm-vsphere's
 * reason, Slurm powers it down when idle, and it is undrained when its VM is
 * off. A VM that is to be rebuilt fits no job (vs_node_fit), so the state table
 * destroys it by the rules for all VMs: ownership, disks, removal limit. An
 * action is bound to one VM and doesn't apply to a later VM of that name.
 * `scontrol update state=resume` withdraws it.
 */
#include <stdio.h>
#include <string.h>
#include "engine/maintenance/maintenance.h"
#include "engine/maintenance/maintenance_i.h"
#include "engine/state/state.h"
#include "util/mem.h"

#define LEND_EVERY 64		/* nodes */

static bool has_job(const struct vs_node *n)
{
	return n->claims.job || (n->flags & (VS_NODE_ALLOCATED | VS_NODE_COMPLETING));
}

static void ends(struct vs_node *n, const char *how)
{
	char wish[VS_MOID_LEN];

	vs_strlcpy(wish, n->orders.wish, sizeof(wish));
	vs_info("node=%s %s of its VM %s", n->name,
		n->orders.rebuild[0] ? "rebuild" : "eviction", how);
	n->orders = (struct vs_vm_actions){ .wish = "" };
	vs_strlcpy(n->orders.wish, wish, sizeof(n->orders.wish));
	vs_state_file_dirty();
	vs_node_mark_changed(n);
}

/* Slurm itself lifts the drain when it powers the node down. */
static bool withdrawn(const struct vs_node *n)
{
	return n->orders.drained && (n->flags & VS_NODE_UP) &&
	       !(n->flags & (VS_NODE_DRAIN | VS_NODE_POWER_DOWN_ASKED));
}

void vs_vm_actions_observe(struct vs_core *c, struct vs_node *n)
{
	struct vs_vm_actions *o = &n->orders;
	const struct vs_vm *vm;

	if (!vs_vm_actions_any(o) || vs_observed_unsure(n->seen) ||
	    n->seen == VS_OBSERVED_BUSY)
		return;
	vm = vs_node_vm(c, n);
	if (o->evict && withdrawn(n)) {
		o->wish[0] = '\0';	/* of the order that isn't to be */
		ends(n, "is cancelled: someone resumed the node");
		return;
	}
	if (o->evict && !o->drained && (n->flags & VS_NODE_DRAIN)) {
		o->drained = true;
		vs_state_file_dirty();
	}
	if (o->evict && (!vm || vm->power == VS_POWER_OFF)) {
		o->evict = o->requeue = o->drained = false;
		vs_state_file_dirty();
		if (!o->rebuild[0])
			ends(n, "is done: the VM is off");
	}
	if (o->rebuild[0] && (!vm || strcmp(vm->moid, o->rebuild)))
		ends(n, "continues: the old VM is gone");
}

void vs_vm_actions_placed(struct vs_node *n, const struct vs_vm *vm)
{
	if (vs_node_preferred_host(n, vm))
		n->orders.wish[0] = '\0';
}

void vs_vm_actions_text(const struct vs_node *n, bool note, char *why,
			size_t size)
{
	note = note && n->orders.why[0];
	snprintf(why, size, "its VM is %s by an operator%s%s",
		 n->orders.rebuild[0] ? "rebuilt" : "evicted",
		 note ? ": " : "", note ? n->orders.why : "");
}

/* ---- giving them ----------------------------------------------------------------- */

/* Why there is nothing to be ordered of this VM; NULL: it can be. */
static const char *refusal(struct vs_core *c, const struct vs_node *n,
			   const struct vs_vm *vm, bool rebuild, bool requeue)
{
	const struct vs_profile_capacity *now =
		&c->now[n->profile - c->profiles];

	if (vs_vm_owner(vm, c->folder, c->cluster_id) != VS_OWNER_MANAGED)
		return "the VM of that name is not managed by slurm-vsphere and is never changed";
	if (n->absent.how || (vs_node_vm_unsure(vm) && !vs_node_sleeps(c, n)))
		return "the state of its VM is unknown: the VM's host does not answer (if the VM is lost: svf vm forget)";
	if (rebuild && !vm->disks.own)
		return "its VM has a disk outside its own directory, which would be deleted with the VM: detach that disk first";
	if (vm->power == VS_POWER_ON && vs_node_kept_on(n) &&
	    !(requeue && (n->flags & (VS_NODE_ALLOCATED |
				      VS_NODE_COMPLETING))))
		return "someone else drained the node, and Slurm keeps it on (SuspendExcNodes, -Parts or -States): resume the node first, or remove it from those keys";
	if (rebuild && now->missing[0])
		return now->missing;
	return NULL;
}

struct order {			/* as it was given */
	const char *what, *why;
	char wish[VS_MOID_LEN];		/* where, "": not said */
};

static int wished(struct vs_core *c, struct order *o, struct vs_err *err)
{
	const struct vs_host *h = vs_host_get_named(&c->inv, o->why);

	if (!h)
		return vs_err_set(err, VS_E_GONE,
				  "no such host: %.100s (nothing was changed)",
				  o->why);
	vs_strlcpy(o->wish, h->moid, sizeof(o->wish));
	o->why = "";
	return 0;
}

/* Orders add up: an eviction doesn't end a rebuild, nor one that waits for the
 * job another's --requeue. */
static void give(struct vs_core *c, struct vs_node *n,
		 const struct order *order, struct json_object *row)
{
	const struct vs_vm *vm = vs_node_vm(c, n);
	struct vs_vm_actions *o = &n->orders;
	bool rebuild = !strncmp(order->what, "rebuild", 7), on;
	bool requeue = o->requeue || !strcmp(order->what, "requeue");
	const char *no = vm ? refusal(c, n, vm, rebuild, requeue) : NULL;

	/* also for those whose VM is off, or not there, and needs no order */
	if (!no && order->wish[0])
		vs_strlcpy(o->wish, order->wish, sizeof(o->wish));
	on = vm && vm->power != VS_POWER_OFF;
	if (no || !vm || (!on && !rebuild)) {
		vs_jb_str(row, "action", no ? "refused" : "nothing");
		vs_jb_str(row, "description", no ? no :
			  vm && order->wish[0] ? "its VM is off already, and starts on that host next if the host has capacity" :
			  vm ? "its VM is off already" :
			  n->op.kind == VS_OP_CLONE ?
			  "its VM is being cloned now" :
			  "the node has no VM: one is cloned when a job needs it");
		return;
	}
	if (!vs_vm_actions_any(o)) {
		o->drained = false;
		n->drain.at_ms = INT64_MIN / 2;	/* at once */
		n->drain.said = VS_SAID_NOTHING;
	}
	o->evict = on;
	o->requeue = on && requeue;
	if (rebuild)
		vs_strlcpy(o->rebuild, vm->moid, sizeof(o->rebuild));
	else if (o->rebuild[0])
		vs_jb_str(row, "description", "an earlier rebuild request is still active: the VM is powered off, then destroyed");
	if (order->why[0])
		vs_one_line(vs_strlcpy(o->why, order->why, sizeof(o->why)));
	vs_node_mark_changed(n);
	if (on && has_job(n) && !o->requeue)
		vs_jb_str(row, "action", "after-job");
	else
		vs_jb_str(row, "action", on ? "off" : "destroy");
	if (on && n->claims.job)
		vs_jb_int(row, "job", n->claims.job);
}

/* Can anything be ordered at all? */
static int stands(const struct vs_core *c, struct vs_err *err)
{
	if (c->observe)
		return vs_err_set(err, VS_E_STATE,
				  "Mode=observe: nothing is changed in vCenter");
	if (!c->loaded || !c->found)
		return vs_err_set(err, VS_E_RETRY,
				  "vCenter's inventory is not loaded");
	return 0;
}

/* slurmctld's threads go first: with the next node nothing of before holds. Not by
 * each.c, for these are the names that were asked for. */
static void breathe(size_t i)
{
	if (i % LEND_EVERY == LEND_EVERY - 1)
		vs_lock_yield();
}

static int all_known(struct vs_core *c, char **names, struct vs_err *err)
{
	for (size_t i = 0; names[i]; i++) {
		if (!vs_node_named(c, names[i]))
			return vs_err_set(err, VS_E_GONE, "no such node: %.64s (nothing was changed)",
					  names[i]);
		breathe(i);
	}
	return 0;
}

/* What was true of all when the order began may no longer be of this one: its
 * order isn't given then, and the answer says so. */
static struct json_object *give_named(struct vs_core *c, const char *name,
				      const struct order *order)
{
	struct json_object *row = vs_jb_obj(NULL);
	struct vs_node *n = vs_node_named(c, name);
	struct vs_err err = { 0 };
	char text[200];

	vs_jb_str(row, "node", name);
	if (!n)
		vs_err_set(&err, VS_E_GONE, "the node no longer exists");
	if (n && !stands(c, &err)) {
		give(c, n, order, row);
		vs_state_file_dirty();
		return row;
	}
	snprintf(text, sizeof(text), "the node changed during the request: %.120s; repeat the command",
		 err.text);
	vs_jb_str(row, "action", "refused");
	vs_jb_str(row, "description", text);
	return row;
}

int vs_vm_actions_request(struct vs_core *c, struct json_object *top,
			  const char *what, char **names, const char *why,
			  struct vs_err *err)
{
	bool somewhere = !strcmp(what, "evict-on") ||
		!strcmp(what, "rebuild-on");
	struct order order = { .what = what, .why = why };
	struct json_object *arr = vs_jb_arr();
	int rc;

	vs_assert_locked();
	rc = stands(c, err) ? -1 : all_known(c, names, err);
	if (!rc && somewhere)
		rc = wished(c, &order, err);
	for (size_t i = 0; !rc && names[i]; i++) {
		vs_jb_add(arr, give_named(c, names[i], &order));
		breathe(i);
	}
	vs_jb_put(top, "nodes", arr);
	return rc ? -1 : 0;
}

/* ---- over restarts ----------------------------------------------------------------- */

static void order_json(struct vs_core *c, struct vs_node *n, void *arr)
{
	const struct vs_vm_actions *of = &n->orders;
	struct json_object *o;

	(void)c;
	if (!vs_vm_actions_any(of))
		return;
	o = vs_jb_obj(NULL);
	vs_jb_str(o, "node", n->name);
	vs_jb_bool(o, "evict", of->evict);
	vs_jb_bool(o, "requeue", of->requeue);
	vs_jb_bool(o, "drained", of->drained);
	if (of->rebuild[0])
		vs_jb_str(o, "rebuild", of->rebuild);
	if (of->wish[0])
		vs_jb_str(o, "wish", of->wish);
	vs_jb_str(o, "why", of->why);
	vs_jb_add(arr, o);
}

struct json_object *vs_vm_actions_json(struct vs_core *c)
{
	struct json_object *arr = vs_jb_arr();

	vs_each_node(c, order_json, arr);
	return arr;
}

/* Of nodes that are no more: nothing. */
void vs_vm_actions_read(struct vs_core *c, struct vs_j list)
{
	for (size_t i = 0; i < vs_j_len(list); i++) {
		struct vs_j j = vs_j_at(list, i);
		struct vs_node *n = vs_node_named(c, vs_j_str(
			vs_j_get(j, "node")));
		struct vs_vm_actions o = {
			.evict = vs_j_bool_or(vs_j_opt(j, "evict"), false),
			.requeue = vs_j_bool_or(vs_j_opt(j, "requeue"), false),
			.drained = vs_j_bool_or(vs_j_opt(j, "drained"), false),
		};

		vs_strlcpy(o.rebuild, vs_j_str_or(vs_j_opt(j, "rebuild"), ""),
			   sizeof(o.rebuild));
		vs_strlcpy(o.wish, vs_j_str_or(vs_j_opt(j, "wish"), ""),
			   sizeof(o.wish));
		vs_one_line(vs_strlcpy(o.why, vs_j_str_or(vs_j_opt(j, "why"), ""),
				       sizeof(o.why)));
		if (list.doc->err.code)
			return;
		if (!n || !vs_vm_actions_any(&o))
			continue;
		n->orders = o;
		vs_node_mark_changed(n);
	}
}
