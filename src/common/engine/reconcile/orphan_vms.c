/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Orphans: VMs that this cluster owns by every test, but whose name is no node any more
 * (a node list that shrank). They hold VFs and capacity that no job can use:
 * the guest is shut down, the VM switched off and destroyed.
 *
 * Rules: Slurm must not know a node of that name at all; a slow beat must have
 * shown that no task is under way on the VM; what can't be read or sits on a
 * host that doesn't answer is not touched; the removal limit counts each; a VM with a
 * disk outside of its own directory stays. One that fails is tried again later
 * and never stops the others. While a power-on of one may be under way, its VF
 * is held.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/maintenance/maintenance.h"
#include "engine/reconcile/reconcile.h"
#include "engine/slurm/slurm_ops.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "plan/allocation/shared_capacity.h"
#include "util/mem.h"
#include "util/time.h"

#define SCAN_MS 1000
#define SHOWN_MS 3000		/* vCenter's time to show what was done */
#define PAUSE_MAX_MS (5 * 60 * 1000)

static struct {
	struct vs_orphan *orphans;	/* uthash by moid */
	bool holds_left;		/* some are of names that are no nodes */
	int64_t orphans_ms;		/* looked for then */
} own;

const struct vs_orphan *vs_orphans(void)
{
	return own.orphans;
}

size_t vs_orphans_confirm(int64_t minute)
{
	size_t n = 0;

	for (struct vs_orphan *o = own.orphans; o; o = o->hh.next) {
		if (o->braked != VS_REMOVAL_WAITS)
			continue;
		o->braked = VS_REMOVAL_PASSED;
		vs_removal_count(o->vm, minute, true);
		n++;
	}
	return n;
}

static struct vs_orphan *by_op(uint64_t id)
{
	struct vs_orphan *o = own.orphans;

	while (o && o->op != id)
		o = o->hh.next;
	return o;
}

static void op_set(struct vs_orphan *o, uint64_t id)
{
	if (o->op)
		vs_tasks_power_add(-1);
	o->op = id;
	if (id)
		vs_tasks_power_add(1);
}

static void forget(struct vs_orphan *o)
{
	op_set(o, 0);
	HASH_DEL(own.orphans, o);
	free(o);
}

/* ---- the end of a call ---------------------------------------------------- */

static void done(void *arg, uint64_t id, const char *result,
		 const struct vs_err *err)
{
	struct vs_core *c = arg;
	struct vs_orphan *o;
	int64_t now_ms = vs_clock();

	(void)result;
	o = by_op(id);
	if (o) {
		op_set(o, 0);
		o->not_before_ms = now_ms + SHOWN_MS;
		if (err) {
			int64_t pause = (int64_t)SHOWN_MS << o->tries;

			if (o->tries < 7)
				o->tries++;
			o->not_before_ms = now_ms + (pause < PAUSE_MAX_MS ?
						     pause : PAUSE_MAX_MS);
			o->judged_after = c->slow_seq;
			vs_info("orphan vm=%s failed code=%s: %s", o->name,
				vs_code_name(err->code), err->text);
		}
	}
}

static const struct vs_vc_op calls = { .done = done, .arg = &vs_core };

/* ---- one orphan ------------------------------------------------------------ */

static int64_t end_call(struct vs_core *c, struct vs_orphan *o,
			const struct vs_vm *vm, int64_t now_ms,
			struct vs_err *err)
{
	int64_t grace = (int64_t)c->conf->shutdown_grace_s * 1000;

	if (vm->power == VS_POWER_OFF) {
		vs_info("orphan vm=%s is destroyed: no node has its name",
			vm->name);
		return vs_vc_vm_destroy(c->vc, vm->moid, &calls, err);
	}
	if (vm->tools_running && !o->shutdown_ms) {
		o->shutdown_ms = now_ms;
		vs_info("orphan vm=%s is shut down: no node has its name",
			vm->name);
		return vs_vc_vm_shutdown_guest(c->vc, vm->moid, &calls, err);
	}
	if (o->shutdown_ms && now_ms - o->shutdown_ms < grace)
		return 0;
	vs_info("orphan vm=%s is powered off: no node has its name", vm->name);
	return vs_vc_vm_power_off(c->vc, vm->moid, &calls, err);
}

/* A clone source whose mark a user removed has children still. */
static bool stood_on(struct vs_core *c, struct vs_orphan *o,
		     const struct vs_vm *vm, int64_t now_ms)
{
	bool unsure, was = o->stood_on;
	size_t n = vs_clone_source_children(&c->inv, vm, c->folder, &unsure);

	o->stood_on = n > 0;
	if (!n && !unsure)
		return false;
	if (n && !was)
		vs_error(
			"orphan vm=%s stays: %zu VM%s its disks; if it is a "
			"clone source that lost its key " VS_KEY_CLONE_SOURCE
			", it is destroyed after the last of them",
			vm->name, n, n == 1 ? " uses" : "s use");
	o->not_before_ms = now_ms + SHOWN_MS;
	return true;
}

static void act(struct vs_core *c, struct vs_orphan *o, const struct vs_vm *vm,
		int64_t now_ms)
{
	struct vs_err err = { 0 };
	int64_t id;

	if (o->op || now_ms < o->not_before_ms || !o->unknown_to_slurm ||
	    c->slow_seq <= o->judged_after ||
	    vs_tasks_power_ops() >= c->conf->max_power_ops || !vm->readable ||
	    !vm->connected || !vm->host_ptr ||
	    (vm->power != VS_POWER_ON && vm->power != VS_POWER_OFF))
		return;
	if (vm->power == VS_POWER_OFF && !vm->disks.own) {
		if (!o->told)
			vs_error("orphan vm=%s stays: it has a disk outside its own directory, which Destroy_Task would delete; detach that disk",
				 vm->name);
		o->told = true;
		return;
	}
	if (vm->power == VS_POWER_OFF && stood_on(c, o, vm, now_ms))
		return;
	if (!vs_removal_check(&o->braked, vm->moid, vm->name))
		return;
	id = end_call(c, o, vm, now_ms, &err);
	if (id > 0)
		op_set(o, (uint64_t)id);
	else if (id < 0)
		o->not_before_ms = now_ms + SHOWN_MS;
}

/* ---- all of them ------------------------------------------------------------ */

static void scan(struct vs_core *c)
{
	struct vs_orphan *o, *tmp;
	int ours = 0;

	HASH_ITER(hh, own.orphans, o, tmp)
		o->there = false;
	for (struct vs_vm *vm = c->inv.vms; vm; vm = vm->hh.next) {
		if (vs_vm_owner(vm, c->folder, c->cluster_id) !=
		    VS_OWNER_MANAGED)
			continue;
		ours++;
		if (vs_node_named(c, vm->name))
			continue;
		HASH_FIND_STR(own.orphans, vm->moid, o);
		if (!o) {
			o = vs_calloc(1, sizeof(*o));
			vs_strlcpy(o->vm, vm->moid, sizeof(o->vm));
			o->judged_after = c->slow_seq;
			HASH_ADD_STR(own.orphans, vm, o);
		}
		vs_strlcpy(o->name, vm->name, sizeof(o->name));
		o->there = true;
	}
	HASH_ITER(hh, own.orphans, o, tmp)
		if (!o->there)
			forget(o);
	vs_removal_limit_set(ours);
}

/* ---- their VFs --------------------------------------------------------------- */

/* A power-on of it may be under way without a hold. */
static void hold_take(struct vs_core *c, const struct vs_vm *vm)
{
	const struct vs_node *n = vs_node_named(c, vm->name);
	struct vs_claim h = { .id = n ? n->id : -1,
			      .state = VS_CLAIM_RESERVED };
	struct vs_share takes;
	struct vs_claim *taken;

	for (int i = 0; i < vm->nnics && h.nvfs < VS_NICS_MAX; i++)
		if (vm->nics[i].kind == VS_NIC_SRIOV)
			vs_strlcpy(h.vfs[h.nvfs++].pf,
				   vm->nics[i].automatic ||
				   !vm->nics[i].pci[0] ? "?" :
				   vm->nics[i].pci, VS_PCI_LEN);
	if (!h.nvfs || vm->power == VS_POWER_ON || !vm->host_ptr ||
	    vs_ledger_get(&c->ledger, vm->name))
		return;
	vs_vm_share(vm, &takes);
	h.cpu_mhz = takes.cpu_mhz;
	h.mem_mb = takes.mem_mb;
	vs_strlcpy(h.node, vm->name, sizeof(h.node));
	vs_strlcpy(h.host, vm->host, sizeof(h.host));
	vs_strlcpy(h.vm, vm->moid, sizeof(h.vm));
	if (vs_ledger_take(&c->ledger, &h, NULL))
		return;
	taken = vs_ledger_get(&c->ledger, vm->name);
	vs_ledger_set_state(&c->ledger, taken, VS_CLAIM_STARTING);
	own.holds_left = true;
}

/* On: its NIC counts. Gone, or off with no task at work on it: nothing does. */
static bool hold_is_over(const struct vs_core *c, const struct vs_claim *h)
{
	const struct vs_vm *vm = vs_vm_get(&c->inv, h->vm);
	const struct vs_orphan *o;

	if (!vm ||
	    vs_vm_owner(vm, c->folder, c->cluster_id) != VS_OWNER_MANAGED)
		return true;
	if (!vm->readable || !vm->connected || vm->power == VS_POWER_UNKNOWN)
		return false;
	HASH_FIND_STR(own.orphans, vm->moid, o);
	return vm->power == VS_POWER_ON || (o && c->slow_seq > o->judged_after);
}

static void holds_end(struct vs_core *c)
{
	struct vs_claim *h, *tmp;

	if (!own.holds_left)
		return;
	own.holds_left = false;
	HASH_ITER(hh, c->ledger.holds, h, tmp) {
		if (h->parent || vs_node_named(c, h->node) ||
		    vs_vmotion_claim_node(h->node))
			continue;
		if (!hold_is_over(c, h)) {
			own.holds_left = true;
			continue;
		}
		vs_ledger_release(&c->ledger, h->node);
		vs_capacity_freed();
	}
}

void vs_orphans_update(struct vs_core *c, int64_t now_ms)
{
	vs_assert_locked();
	if (now_ms - own.orphans_ms >= SCAN_MS) {
		own.orphans_ms = now_ms;
		scan(c);
		holds_end(c);
	}
	if (c->observe || c->blocked[0] || !vs_changes_permitted())
		return;
	for (struct vs_orphan *o = own.orphans, *next; o; o = next) {
		const struct vs_vm *vm = vs_vm_get(&c->inv, o->vm);

		next = o->hh.next;
		if (vm && vs_vm_owner(vm, c->folder, c->cluster_id) ==
		    VS_OWNER_MANAGED)
			act(c, o, vm, now_ms);
	}
}

/* A task is under way on this VM, which is no node's. */
static void orphan_busy(struct vs_core *c, const struct vs_vm *vm)
{
	struct vs_orphan *o;

	HASH_FIND_STR(own.orphans, vm->moid, o);
	if (o)
		o->judged_after = c->slow_seq;
	if (vs_vm_owner(vm, c->folder, c->cluster_id) == VS_OWNER_MANAGED)
		hold_take(c, vm);
}

void vs_orphans_tasks(struct vs_core *c, const struct vs_vc_task *tasks,
		      size_t ntasks)
{
	for (size_t i = 0; i < ntasks; i++) {
		const struct vs_vm *vm = vs_vm_get(&c->inv, tasks[i].entity);

		if (vm && (strcmp(vm->folder, c->folder) ||
			   !vs_node_named(c, vm->name)))
			orphan_busy(c, vm);
	}
}

void vs_orphans_forget_calls(struct vs_core *c)
{
	for (struct vs_orphan *o = own.orphans; o; o = o->hh.next) {
		op_set(o, 0);
		o->judged_after = c->slow_seq;
	}
}

void vs_orphans_clear(void)
{
	struct vs_orphan *o, *tmp;

	vs_assert_locked();
	HASH_ITER(hh, own.orphans, o, tmp)
		forget(o);
}

/* ---- Slurm's word ------------------------------------------------------------- */

size_t vs_orphans_list(struct vs_slurm_node **rows)
{
	size_t n = 0;

	vs_assert_locked();
	*rows = vs_calloc(HASH_COUNT(own.orphans) + 1, sizeof(**rows));
	for (const struct vs_orphan *o = own.orphans; o; o = o->hh.next)
		(*rows)[n++].name = vs_strdup(o->name);
	return n;
}

void vs_orphans_answered(const struct vs_slurm_node *rows,
			 size_t n)
{
	vs_assert_locked();
	for (struct vs_orphan *o = own.orphans; o; o = o->hh.next)
		for (size_t i = 0; i < n; i++)
			if (!strcmp(rows[i].name, o->name))
				o->unknown_to_slurm = !rows[i].flags;
}

void vs_orphans_claims_left(void)
{
	own.holds_left = true;
}
