/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls to vCenter for a node. One at a time per node; after a success the
 * node counts as busy until vCenter has shown the effect, so that nothing is
 * decided on what is known to be old. A call's end is found by its id: nodes
 * may have been renumbered by a new configuration meanwhile. Nothing is ever
 * sent twice: what went wrong is looked at again, from the two truths.
 */
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/clone_source/clone_source.h"
#include "engine/jobs/jobs.h"
#include "engine/provision/provision.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "engine/vmspec/vmspec.h"
#include "util/mem.h"
#include "util/time.h"

#define STRAY_MS (5 * 60 * 1000)

static const char *host_name(const struct vs_core *c, const char *moid)
{
	const struct vs_host *h = vs_host_get(&c->inv, moid);

	return h ? h->name : "-";
}

static struct vs_node *node_of_op(struct vs_core *c, uint64_t id)
{
	struct vs_node *n;

	LIST_FOREACH(n, &c->busy, busy)
		if (n->op.id == id)
			return n;
	return NULL;
}

/* ---- the end of a call ------------------------------------------------------ */

static void hold_back_to_promised(struct vs_core *c, struct vs_node *n)
{
	struct vs_claim *h = vs_ledger_get(&c->ledger, n->name);

	if (h && h->state == VS_CLAIM_STARTING)
		vs_ledger_set_state(&c->ledger, h, VS_CLAIM_RESERVED);
}

static void op_started(void *arg, uint64_t id, const char *task)
{
	struct vs_core *c = arg;
	struct vs_node *n;

	n = node_of_op(c, id);
	if (n)
		vs_op_task_note(n, task);
	if (n && n->op.cancel_asked && vs_changes_permitted())
		vs_vc_task_cancel(c->vc, task, NULL);
}

static void op_done(void *arg, uint64_t id, const char *result,
		    const struct vs_err *err)
{
	struct vs_core *c = arg;
	struct vs_node_op was;
	struct vs_node *n;
	int64_t now_ms = vs_clock();

	n = node_of_op(c, id);
	if (!n)
		return;
	was = n->op;
	vs_guest_info_done(n, !err);
	if (vs_clone_way_end(n, &was, err)) {
		vs_op_set(c, n, VS_OP_NONE, 0, NULL, NULL, now_ms);
	} else if (err) {
		vs_op_set(c, n, VS_OP_NONE, 0, NULL, NULL, now_ms);
		if (was.kind == VS_OP_POWER_ON &&
		    err->code != VS_E_UNKNOWN && err->code != VS_E_STATE)
			hold_back_to_promised(c, n);
		vs_task_failed(c, n, was.kind, was.host, err, now_ms);
	} else {
		vs_info("node=%s %s done host=%s task=%s ms=%lld", n->name,
			vs_op_name(was.kind), host_name(c, was.host),
			was.task[0] ? was.task : "-",
			(long long)(now_ms - was.since_ms));
		vs_duration_note(n->profile, was.kind, now_ms - was.since_ms);
		vs_startup_times_note(n, was.kind, now_ms - was.since_ms);
		if (was.kind == VS_OP_RELOCATE)
			vs_move_done(n);
		if (was.kind == VS_OP_SHUTDOWN)
			vs_metrics_off_asked(n, was.since_ms);
		else
			vs_metrics_duration(was.kind, now_ms - was.since_ms);
		/* Now it settles: id 0, until vCenter shows it. */
		vs_op_set(c, n, was.kind, 0,
		       result && result[0] ? result : was.vm, was.host,
		       now_ms);
		vs_op_spec_note(n, was.source, false);
		vs_retry_pause(n, 0);
		vs_retry_error(n, NULL);
		if (was.kind == VS_OP_SHUTDOWN)
			n->power.shutdown_ms = now_ms;
	}
}

/* Has vCenter shown what the finished call did? */
static bool settled(struct vs_core *c, const struct vs_node *n)
{
	const struct vs_vm *vm = vs_vm_get(&c->inv, n->op.vm);

	switch (n->op.kind) {
	case VS_OP_CLONE:
		return vm && vm->readable && vm->owner_mark &&
		       vs_node_vm(c, n) == vm;
	case VS_OP_POWER_ON:
		return vm && vm->power == VS_POWER_ON;
	case VS_OP_POWER_OFF:
		return !vm || (vm->power != VS_POWER_ON &&
			       vm->power != VS_POWER_SUSPENDED);
	case VS_OP_DESTROY:
		return !vm;
	case VS_OP_RELOCATE:
	case VS_OP_VMOTION:
		return !vm || (!strcmp(vm->host, n->op.host) &&
			       !vs_node_pool_wrong(c, vm));
	case VS_OP_RECONFIGURE:
		return !vm || vs_hardware_settled(c, n, vm);
	default:
		return true;
	}
}

void vs_op_await(struct vs_core *c, struct vs_node *n, int64_t now_ms)
{
	struct vs_err err;

	if (n->op.kind == VS_OP_NONE || n->op.id)
		return;
	if (settled(c, n)) {
		vs_op_set(c, n, VS_OP_NONE, 0, NULL, NULL, now_ms);
		vs_retry_uncount(n);
		return;
	}
	if (now_ms - n->op.since_ms < VS_AWAIT_MS)
		return;
	vs_err_set(&err, VS_E_STATE,
		   "vCenter reported its %s as done but does not show it",
		   vs_op_name(n->op.kind));
	vs_retry_error(n, &err);
	vs_info("node=%s %s: reading again", n->name, err.text);
	if (n->op.kind == VS_OP_CLONE)
		vs_clone_unshown(c, n, now_ms);
	if (n->op.kind != VS_OP_VMOTION && vs_retry_count(n))
		vs_node_force_release(n, err.text);
	vs_op_set(c, n, VS_OP_NONE, 0, NULL, NULL, now_ms);
	vs_retry_reread(c, n);
	vs_vc_poll_request(c->vc);
}

static const struct vs_vc_op op_calls = {
	.started = op_started, .done = op_done, .arg = &vs_core,
};

/* ---- budgets ---------------------------------------------------------------- */

static bool budget_left(const struct vs_core *c, enum vs_action a,
			const char *host)
{
	return vs_op_affords(c, a) &&
		(a == VS_DO_SHUTDOWN || !vs_op_host_full(c, host));
}

/* Ends without a request: see removal_guard.c. An evicted VM goes off by an
 * operator's word, also where Slurm shows no power-down of its node. What was
 * made for one job and is off has had that job's end, also if no record of the job is
 * left. */
static bool brake_passed(struct vs_node *n,
			 const struct vs_vm *vm, enum vs_action action)
{
	struct vs_err err;

	if ((action != VS_DO_SHUTDOWN && action != VS_DO_DESTROY) ||
	    (vs_node_is(n, VS_COND_REMOVABLE) &&
	     !(action == VS_DO_DESTROY && n->orders.rebuild[0])) ||
	    (action == VS_DO_SHUTDOWN && (n->orders.evict || (vm &&
		vs_removal_was_requested(n->name, vm->moid)))) ||
	    (n->wanted != VS_DESIRED_OFF && n->wanted != VS_DESIRED_GONE) ||
	    (action == VS_DO_DESTROY && vm && vm->job_tag[0]) ||
	    vs_removal_check(&n->braked, vm ? vm->moid : n->name, n->name))
		return true;
	vs_err_set(&err, VS_E_STATE,
		   "the removal limit is reached: an operator must decide (svf reconcile)");
	vs_retry_error(n, &err);
	return false;
}

/* Does the call's spec add VFs or devices? (See requests.c.) */
static bool adds_devices(const struct vs_node *n,
			 const struct vs_vm *vm, enum vs_action action,
			 const struct vs_claim *h)
{
	return vs_adapter_takes(n->profile->adapter) &&
	       (action == VS_DO_CLONE ? !vs_clone_way_plain() :
		action == VS_DO_RECONFIGURE && vm && h &&
		!strcmp(vm->host, h->host));
}

static int start(struct vs_core *c, struct vs_node *n, enum vs_action action,
		 struct vs_claim *h, int64_t now_ms)
{
	struct vs_vm *vm = vs_node_vm(c, n);
	const char *host = action == VS_DO_SHUTDOWN ||
		action == VS_DO_DESTROY ?
		vm ? vm->host : "" : h ? h->host : "";
	enum vs_op_type kind = VS_OP_NONE;
	struct vs_err err = { 0 };
	int64_t id = 0;

	if (!budget_left(c, action, host) || !brake_passed(n, vm, action))
		return 0;
	vs_guest_info_done(n, false);	/* of a call whose end was lost */
	id = vs_op_send(c, n, h, vm, action, now_ms, &op_calls, &kind, &err);
	if (id < 0) {
		vs_task_failed(c, n, kind, host, &err, now_ms);
		return -1;
	}
	if (id > 0) {
		vs_op_set(c, n, kind, (uint64_t)id, vm ? vm->moid : "", host,
		       now_ms);
		vs_op_spec_note(n, kind == VS_OP_CLONE && n->parent ?
				n->parent->vm : "",
				adds_devices(n, vm, action, h));
		vs_node_condition(n, VS_COND_STARTING, kind == VS_OP_POWER_ON ||
				  action == VS_DO_INSTANT);
		if (vs_node_is(n, VS_COND_STARTING))
			n->power.sent_ms = now_ms;
		if (kind == VS_OP_CLONE)
			vs_clones_sent(n);
		if (kind != VS_OP_VMOTION)
			n->power.on_ms = 0;	/* it goes off by our hand */
		vs_clone_unconfirmed_set(n, false);
		vs_debug("node=%s %s begins JobId=%u host=%s", n->name,
			 vs_op_name(kind), n->claims.job, host_name(c, host));
	}
	return 0;
}

/*
 * Start what the step table says. 0 if it is under way (or must wait for a
 * budget), -1 if it could not even be asked.
 */
int vs_op_start(struct vs_core *c, struct vs_node *n, enum vs_action action,
		int64_t now_ms)
{
	return start(c, n, action, vs_ledger_get(&c->ledger, n->name), now_ms);
}

void vs_op_at(struct vs_core *c, struct vs_node *n, enum vs_action action,
	      struct vs_claim *at, int64_t now_ms)
{
	start(c, n, action, at, now_ms);
}

void vs_op_cancel(struct vs_core *c, struct vs_node *n)
{
	if (!vs_changes_permitted())
		return;
	vs_op_cancel_note(n);
	vs_node_mark_changed(n);
	vs_info("node=%s %s is cancelled", n->name, vs_op_name(n->op.kind));
	if (n->op.task[0])
		vs_vc_task_cancel(c->vc, n->op.task, NULL);
}

void vs_power_on_observed(struct vs_node *n, int64_t now_ms)
{
	n->power.on_ms = now_ms;
}

void vs_power_on_over(struct vs_node *n, bool sure)
{
	n->power.on_ms = 0;
	if (!sure)
		return;
	vs_node_condition(n, VS_COND_STARTING, false);
	n->power.sent_ms = 0;
}

void vs_power_on_served(struct vs_node *n)
{
	vs_node_condition(n, VS_COND_STARTING, false);
}

void vs_shutdown_forget(struct vs_node *n)
{
	n->power.shutdown_ms = 0;
}

/* The client is down: what was under way is looked for after the reload. */
void vs_op_forget_all(struct vs_core *c)
{
	vs_assert_locked();
	for (size_t i = 0; i < c->nnodes; i++) {
		struct vs_node *n = &c->nodes[i];

		/* A power-on may still happen: its hold stays requested. */
		vs_op_set(c, n, VS_OP_NONE, 0, NULL, NULL, 0);
		vs_retry_reread_end(n);
		vs_clone_unconfirmed_set(n, false);
	}
	vs_unowned_tasks_forget();
	vs_clone_sources_forget_calls(c);
	vs_drs_forget(c);
	vs_tasks_clear();
}

/* ---- tasks that were there before us ---------------------------------------- */

static void stray_done(void *arg, uint64_t id, const char *result,
		       const struct vs_err *err)
{
	struct vs_core *c = arg;

	(void)result;
	(void)err;
	if (vs_unowned_task_end(id)) {
		vs_nodes_mark_changed(c);
		vs_capacity_freed();
		/* Its VM may be shown later than its end. */
		vs_unconfirmed_clones_observe(c);
	}
}

static void stray_add(struct vs_core *c, const struct vs_vc_task *task,
		      uint64_t id)
{
	vs_unowned_task_add(id, task->moid, vs_clock());
	vs_nodes_mark_changed(c);
	vs_info("task=%s (%s) is under way: adopted", task->moid, task->name);
}

/* One that hangs must not stop all nodes that have no VM. Should it come to an
 * end after all, vCenter takes no second VM of one name. */
void vs_unowned_tasks_update(struct vs_core *c, int64_t now_ms)
{
	const char *task;

	vs_assert_locked();
	if (!vs_changes_permitted())
		return;
	while ((task = vs_unowned_task_abandon(now_ms - STRAY_MS))) {
		vs_error("task=%s, a clone for an unknown node, has not ended in %d s: it is cancelled, and no longer waited for",
			 task, STRAY_MS / 1000);
		vs_vc_task_cancel(c->vc, task, NULL);
		vs_nodes_mark_changed(c);
		vs_capacity_freed();
	}
}

static bool task_known(const struct vs_core *c, const char *task)
{
	const struct vs_node *n;

	if (vs_unowned_task_is_known(task))
		return true;
	if (vs_clone_sources_task(task))
		return true;
	LIST_FOREACH(n, &c->busy, busy)
		if (!strcmp(n->op.task, task))
			return true;
	return false;
}

/* Who has begun it may not be known. */
static bool by_us(const struct vs_vc_task *task)
{
	return !task->user[0] || !vs_vc_user()[0] ||
	       !strcasecmp(task->user, vs_vc_user());
}

static bool from_our_template(const struct vs_core *c, const char *entity)
{
	const struct vs_vm *vm = vs_vm_get(&c->inv, entity);

	if (vm && vm->as_parent)
		return true;
	for (size_t i = 0; i < c->nprofiles; i++)
		if (!strcmp(c->profiles[i].template_moid, entity))
			return true;
	return false;
}

/*
 * Adopts unfinished tasks. A task on a managed VM keeps its node busy until it
 * ends. A clone task names only its source, so while a clone by slurm-vsphere
 * is under way for an unknown node, no node without a VM is started.
 */
void vs_op_adopt_tasks(struct vs_core *c, const struct vs_vc_task *tasks,
		       size_t ntasks)
{
	static const struct vs_vc_op stray = {
		.done = stray_done, .arg = &vs_core,
	};
	int64_t now_ms = vs_clock();

	for (size_t t = 0; t < ntasks; t++) {
		const struct vs_vc_task *task = &tasks[t];
		const struct vs_vm *vm = vs_vm_get(&c->inv, task->entity);
		struct vs_node *n = vm && !strcmp(vm->folder, c->folder) ?
			vs_node_named(c, vm->name) : NULL;
		int64_t id;

		if (vm && vm->as_parent)
			vs_clone_source_busy(c, vm, task);
		if (task_known(c, task->moid))
			continue;
		if (n && !n->op.id && vm == vs_node_vm(c, n)) {
			id = vs_vc_task_adopt(c->vc, task->moid, &op_calls,
					      NULL);
			if (id > 0) {
				vs_guest_info_done(n, false);
				vs_op_set(c, n, VS_OP_ADOPTED, (uint64_t)id,
				       vm->moid, vm->host, now_ms);
				vs_op_task_note(n, task->moid);
				vs_claim_adopt(c, n, vs_node_vm(c, n));
				vs_info("node=%s task=%s (%s) is under way: adopted",
					n->name, task->moid, task->name);
			}
		} else if ((!c->ready || vs_clone_unconfirmed(c)) &&
			   !vs_clone_unanswered(c) && by_us(task) &&
			   strcasestr(task->name, "clone") &&
			   from_our_template(c, task->entity)) {
			id = vs_vc_task_adopt(c->vc, task->moid, &stray, NULL);
			if (id > 0)
				stray_add(c, task, (uint64_t)id);
		}
	}
}
