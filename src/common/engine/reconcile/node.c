/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One node: what Slurm wants of its VM, what vCenter shows of it, and what
 * the step table makes of the two. The lock is held throughout; calls to
 * vCenter are only queued here (operations.c), words to Slurm only noted
 * (vs_outbox_post).
 */
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/clone_source/clone_source.h"
#include "engine/forecast/forecast.h"
#include "engine/hosts/hosts.h"
#include "engine/inventory/inventory.h"
#include "engine/jobs/jobs.h"
#include "engine/maintenance/maintenance.h"
#include "engine/prefetch/prefetch.h"
#include "engine/provision/provision.h"
#include "engine/reconcile/reconcile.h"
#include "engine/slurm/outbox.h"
#include "engine/slurm/slurm_ops.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "engine/vmspec/vmspec.h"
#include "util/mem.h"
#include "util/time.h"

#define REPORT_MS (60 * 1000)
#define OFF_SURE_MS 3000	/* Slurm's word and vCenter's may cross */
#define OFF_AGAIN_MS 2000
#define REFUSED_MS 60000		/* so long Slurm may refuse a rebuild */

static bool seen_is_off(enum vs_observed s)
{
	return vs_observed_none(s) || s == VS_OBSERVED_OFF ||
	       s == VS_OBSERVED_OFF_ELSEWHERE || s == VS_OBSERVED_OFF_OTHER ||
	       s == VS_OBSERVED_OFF_STALE;
}

/* ---- wanted ---------------------------------------------------------------- */

static enum vs_desired want_off(const struct vs_node *n)
{
	return n->profile->retention == VS_RETAIN_DESTROY ||
		n->profile->clone == VS_CLONE_INSTANT ||
		n->orders.rebuild[0] ? VS_DESIRED_GONE : VS_DESIRED_OFF;
}

static enum vs_desired desired_state(const struct vs_node *n, int64_t now_ms)
{
	uint32_t f = n->flags;

	if (f & VS_NODE_POWERING_DOWN)
		return want_off(n);
	if (vs_node_is(n, VS_COND_ADOPTING))
		return VS_DESIRED_KEEP;
	if (f & VS_NODE_POWERED_DOWN)
		return n->claims.job && (f & VS_NODE_ALLOCATED) ?
			       VS_DESIRED_READY :
		       n->claims.job && !(f & VS_NODE_DOWN) &&
				       now_ms - n->claims.since_ms < 3000 ?
			       VS_DESIRED_READY :
		       n->ahead.state == VS_PREFETCH_CLONE ? VS_DESIRED_AHEAD :
		       n->ahead.state == VS_PREFETCH_GOES  ? VS_DESIRED_GONE :
							     want_off(n);
	if (f & VS_NODE_POWERING_UP)
		return vs_node_is(n, VS_COND_RELEASED) ? want_off(n) :
							 VS_DESIRED_ON;
	if (vs_node_is(n, VS_COND_REBUILD) && (f & VS_NODE_UP))
		return VS_DESIRED_RENEW;
	return VS_DESIRED_KEEP;
}

/* ---- seen ------------------------------------------------------------------ */

static enum vs_observed seen_on(struct vs_core *c, const struct vs_node *n,
				struct vs_vm *vm)
{
	return !vs_node_is(n, VS_COND_POWER_CYCLE) &&
		vs_node_vm_right(c, n, vm, n->claims.job, n->claims.restart) ?
		VS_OBSERVED_ON : VS_OBSERVED_ON_WRONG;
}

static enum vs_observed observed_state(struct vs_core *c, struct vs_node *n)
{
	struct vs_vm *vm;

	if (!c->loaded || !c->found)
		return VS_OBSERVED_UNKNOWN;
	if (n->op.kind != VS_OP_NONE)
		return VS_OBSERVED_BUSY;
	if (n->retry.look_after > c->slow_seq)
		return VS_OBSERVED_BUSY;
	vm = vs_node_vm(c, n);
	if (n->absent.how)
		return VS_OBSERVED_UNKNOWN;
	if (!vm)
		return vs_unowned_tasks_wait() ? VS_OBSERVED_BUSY :
			vs_node_observed_none(n);
	if (vs_vm_owner(vm, c->folder, c->cluster_id) != VS_OWNER_MANAGED)
		return VS_OBSERVED_FOREIGN;
	if (vm->connected)
		vs_missing_within_reach(n);
	if (vs_vm_is_reachable(vm) && vm->power == VS_POWER_SUSPENDED)
		return VS_OBSERVED_SUSPENDED;
	vs_guest_info_learn(n, vm);
	if (vs_node_vm_unsure(vm))
		return vs_node_is(n, VS_COND_DECLARED_LOST) &&
			!vs_vm_is_reachable(vm) ?
			vs_node_observed_none(n) : VS_OBSERVED_UNKNOWN;
	if (vm->power == VS_POWER_ON)
		return seen_on(c, n, vm);
	vs_node_condition(n, VS_COND_POWER_CYCLE, false);
	return vs_node_observed_off(c, n, vm,
				    vs_ledger_get(&c->ledger, n->name),
				    n->claims.job, n->claims.restart);
}

static bool is_idle(uint32_t flags)
{
	return (flags & VS_NODE_UP) &&
		!(flags & (VS_NODE_ALLOCATED | VS_NODE_COMPLETING));
}

static bool rests_down(uint32_t flags)
{
	return (flags & VS_NODE_POWERED_DOWN) &&
		!(flags & VS_NODE_POWERING_DOWN);
}

/*
 * scontrol power_down of a node that is powered down takes that state from it
 * until Slurm has done it once more. It is as little up as before, though its
 * state is then the one of a node that is up and asked to go.
 */
static uint32_t not_up_by_that(uint32_t was, uint32_t flags)
{
	/* Any of these: it is not up for another reason, which may end. */
	const uint32_t other = VS_NODE_UP | VS_NODE_POWERING_UP |
		VS_NODE_POWERING_DOWN | VS_NODE_ALLOCATED |
		VS_NODE_COMPLETING | VS_NODE_DOWN | VS_NODE_NO_RESPOND;
	bool down = rests_down(was) ||
		(was & (VS_NODE_POWER_DOWN_ASKED | other)) ==
		VS_NODE_POWER_DOWN_ASKED;

	return down && (flags & VS_NODE_POWER_DOWN_ASKED) ?
		flags & ~VS_NODE_UP : flags;
}

/* Slurm's word. SuspendTimeout's end makes a node allocatable, but tells no
 * scheduler: a job that waits for it would wait for the next full pass. It may
 * come between two looks, or by force, with no POWERING_DOWN before it. */
void vs_node_flags(struct vs_core *c, struct vs_node *n, uint32_t flags)
{
	vs_assert_locked();
	flags = not_up_by_that(n->flags, flags);
	if (n->flags && rests_down(flags) && !rests_down(n->flags))
		vs_name_freed();
	if (flags != n->flags)
		vs_node_mark_changed(n);
	if (((flags ^ n->flags) & VS_NODE_STAYS_EVER) != 0)
		vs_findings_outdate();
	if (is_idle(flags) && !is_idle(n->flags))
		n->since.idle_ms = vs_clock();
	/* Heard while vCenter was away it is Slurm's word all the same. */
	if (flags & VS_NODE_POWERING_DOWN)
		vs_node_removable(n, true);
	if (!(flags & VS_NODE_POWERING_UP))
		vs_node_release(n, false);
	if (flags & VS_NODE_POWER_UP_ASKED)
		vs_job_left_forget(n);
	vs_boot_asked(c, n, flags);
	if (vs_boot_comes_late(n, flags))
		vs_boot_cancel(n);
	n->flags = flags;
}

/* A boot begins when the VM is seen on, and has died when it is seen off again
 * though slurm-vsphere has not powered it off. */
static void boot_look(struct vs_node *n, int64_t now_ms)
{
	if (n->seen == VS_OBSERVED_ON && !n->power.on_ms) {
		vs_power_on_observed(n, now_ms);
	} else if (n->seen != VS_OBSERVED_ON && n->seen != VS_OBSERVED_BUSY) {
		vs_node_condition(n, VS_COND_BOOT_DIED, n->power.on_ms &&
				  vs_node_is(n, VS_COND_STARTING) &&
				  n->wanted == VS_DESIRED_ON &&
				  seen_is_off(n->seen));
		n->boot.told_ms = 0;
		vs_node_condition(n, VS_COND_GUEST_READY, false);
		vs_power_on_over(n, n->seen != VS_OBSERVED_UNKNOWN);
	}
}

/*
 * Up for Slurm, but its VM is not what the waiting job needs: of another job or
 * template, or it went off while its guest registered. Judged here alone, from
 * what Slurm and vCenter show together: when the job began the one may not have
 * told yet that the node is up. A VM on which others run stays as it is.
 */
static bool must_renew(const struct vs_node *n)
{
	return (n->flags & VS_NODE_UP) &&
		(seen_is_off(n->seen) || n->seen == VS_OBSERVED_ON_WRONG) &&
		!vs_job_runs(n) && vs_job_waits(n->claims.job);
}

void vs_node_claim_changed(struct vs_core *c, struct vs_node *n,
			   enum vs_claim_event e, const struct vs_claim *before)
{
	(void)c;
	(void)before;
	if (e != VS_CLAIM_BY_JOB)
		return;
	n->seen = VS_OBSERVED_BUSY;	/* what it was for others: look first */
	n->boot.host[0] = '\0';
}

void vs_node_observe(struct vs_core *c, struct vs_node *n, int64_t now_ms)
{
	const struct vs_vm *vm;
	enum vs_desired wanted;
	bool ends;

	vs_assert_locked();
	vs_guest_lost_observe(c, n, now_ms);
	vs_adopt_observe(c, n, now_ms);
	wanted = vs_adopt_lost(c, n) ? VS_DESIRED_KEEP :
				       desired_state(n, now_ms);
	ends = wanted == VS_DESIRED_OFF || wanted == VS_DESIRED_GONE;
	if (!ends) {
		vs_node_removable(n, false);
		vs_removal_node_set(n, VS_REMOVAL_UNREQUESTED);
	} else if (vs_node_is(n, VS_COND_RELEASED) ||
		   (n->flags & VS_NODE_POWERING_DOWN)) {
		vs_node_removable(n, true);
	}
	vm = vs_node_vm(c, n);
	if (vm && vm->power != VS_POWER_OFF &&
	    (!ends || vs_node_is(n, VS_COND_REMOVABLE)))
		vs_removal_request(n->name, vm->moid, ends);
	if (wanted != n->wanted) {
		vs_debug("node=%s wanted=%s", n->name, vs_desired_name(wanted));
		n->wanted = wanted;
		vs_retry_reset(n);
		n->since.ready_ms = now_ms;
		vs_shutdown_forget(n);
	}
	vs_op_await(c, n, now_ms);
	if (vs_op_hangs(n, now_ms) && !n->kept->barred)
		vs_node_mark_changed(n);
	vs_missing_observe(c, n, now_ms);
	vs_claim_sync(c, n);
	vs_vmotion_observe(c, n);
	n->seen = observed_state(c, n);
	vs_foreign_observe(c, n);
	/* Only the right VM ends a rebuild: a registration or a ping of the
	 * old guest that was under way may make Slurm believe it up again. */
	if (n->seen == VS_OBSERVED_ON)
		vs_node_rebuild(n, false);
	if (n->wanted == VS_DESIRED_KEEP && must_renew(n)) {
		vs_node_rebuild(n, true);
		n->wanted = desired_state(n, now_ms);
	}
	boot_look(n, now_ms);
	vs_metrics_off(n, seen_is_off(n->seen), now_ms);
	vs_adopt_looked(c, n);
	vs_health_observe(c, n);
}

/* ---- act ------------------------------------------------------------------- */

static bool avoided(const struct vs_core *c, const struct vs_claim *h)
{
	for (int i = 0; i < h->nvfs; i++)
		if (vs_exclusion_get(c, h->host, h->vfs[i].pf))
			return true;
	return vs_exclusion_get(c, h->host, "") ||
	       vs_maintenance_window_blocking(h->host);
}

/* A place is needed before a VM is built, moved, changed or started. */
static bool place_now(struct vs_core *c, struct vs_node *n, int64_t now_ms)
{
	struct vs_claim *h = vs_ledger_get(&c->ledger, n->name);
	struct vs_host *host = h ? vs_host_get(&c->inv, h->host) : NULL;
	struct vs_err err = { 0 };

	/* Others may have come there since: DRS moves VMs at power-on. */
	if (h && h->state == VS_CLAIM_RESERVED &&
	    (!host || !vs_host_usable(host) || vs_clone_blocked(c, n) ||
	     h->nvfs != vs_adapter_takes(n->profile->adapter) ||
	     avoided(c, h) || !vs_claim_fits(c, n) || !vs_stores_right(c, h))) {
		vs_claim_release(c, n);
		h = NULL;
	}
	if (h &&
	    !(vs_node_is(n, VS_COND_DECLARED_LOST) && vs_clone_blocked(c, n)))
		return true;
	if (!vs_prefetch_may_place(c, n, now_ms)) {
		vs_retry_pause(n, now_ms + 1000);
		return false;
	}
	if (!vs_claim_take(c, n, &err))
		return true;
	if (n->retry.err.code != VS_E_SHORTAGE ||
	    strcmp(n->retry.err.text, err.text))
		vs_info("node=%s waits for placement: %s", n->name, err.text);
	vs_retry_error(n, &err);
	vs_retry_pause(n, now_ms + 1000);
	/* A job can wait in the queue better than here. */
	if (n->claims.job && vs_retry_count(n))
		vs_node_force_release(n, err.text);
	return false;
}

static bool place_ready(struct vs_core *c, struct vs_node *n, int64_t now_ms)
{
	bool ready;

	vs_until_set(vs_until_job(n));
	ready = place_now(c, n, now_ms);
	vs_until_set(0);
	return ready;
}

static bool needs_place(enum vs_action a)
{
	return a == VS_DO_CLONE || a == VS_DO_PREPARE ||
	       a == VS_DO_INSTANT || a == VS_DO_RELOCATE ||
	       a == VS_DO_RECONFIGURE || a == VS_DO_POWER_ON;
}

/* A foreign VM has the name. */
static void report_alien(struct vs_node *n)
{
	struct vs_err err;

	vs_err_set(&err, VS_E_EXISTS, "%s", n->foreign);
	vs_retry_error(n, &err);
	if (n->wanted != VS_DESIRED_KEEP)
		vs_node_force_release(n, n->foreign);
}

/*
 * The VM has vanished or is off, though Slurm believes its node up: a vCenter
 * user did it, or slurmctld was killed and has an older state. A job in the VM
 * is lost, unless vCenter just doesn't show the VM while its slurmd answers. If
 * Slurm set the node down first, only a power-down releases it.
 */
static void report_off(struct vs_core *c, struct vs_node *n, int64_t now_ms)
{
	bool used = n->flags & (VS_NODE_ALLOCATED | VS_NODE_COMPLETING |
				VS_NODE_SILENT);

	/* An administrator set it DOWN, or it is on its way: power saving's
	 * next tick says so. */
	if ((n->flags & (VS_NODE_DOWN | VS_NODE_SILENT)) == VS_NODE_DOWN ||
	    (!used && (n->flags & VS_NODE_POWER_DOWN_ASKED)))
		return;
	if (!n->since.reported_ms || now_ms - n->since.reported_ms >= REPORT_MS) {
		n->since.reported_ms = now_ms;
		vs_error("node=%s %s in Slurm but its VM is %s", n->name,
			 used ? "has a job" : "is up",
			 vs_observed_name(n->seen));
	}
	vs_retry_pause(n, now_ms + OFF_AGAIN_MS);
	if (n->flags & (VS_NODE_ALLOCATED | VS_NODE_COMPLETING))
		vs_guest_lost_begin(c, n, now_ms);
	if (!used)
		vs_power_down_ask(n, false, "its VM was off");
	else if (now_ms - n->since.action_ms >= OFF_SURE_MS &&
		 (!vs_observed_none(n->seen) ||
		  (n->flags & (VS_NODE_NO_RESPOND | VS_NODE_POWERED_DOWN))))
		vs_guest_lost_release(n, n->claims.job ? n->claims.job :
				      VS_JOB_ANY,
				      "its VM was powered off while a job ran");
}

static void report(struct vs_core *c, struct vs_node *n, int64_t now_ms)
{
	if (n->seen != VS_OBSERVED_FOREIGN) {
		report_off(c, n, now_ms);
	} else if (!n->since.reported_ms || now_ms - n->since.reported_ms >= REPORT_MS) {
		n->since.reported_ms = now_ms;
		report_alien(n);
	}
}

/* Keeps power saving awake, and powers down nodes that are to be vacated. */
static void keep_alive(struct vs_node *n, int64_t now_ms)
{
	if (n->wanted == VS_DESIRED_READY && now_ms - n->since.ready_ms > 1000)
		vs_outbox_post(VS_REQUEST_SCAN, n->name, 0, false, NULL);
	if (!vs_node_is(n, VS_COND_VACATE) && (n->flags & VS_NODE_UP))
		vs_node_reclaimed_forget(n);
	vs_vacate_act(n, now_ms);
	if (!(n->flags & VS_NODE_UP)) {
		vs_node_stay(n);
		vs_node_promise(n, 0);
	}
}

/* Slurm's answer to VS_REQUEST_REBUILD. */
static void rebuilt(struct vs_core *c, const struct vs_outbox_request *t,
		    bool accepted)
{
	struct vs_node *n = vs_node_named(c, t->node);

	if (n && accepted) {
		n->flags = (n->flags & ~VS_NODE_UP) | VS_NODE_POWERING_UP;
	} else if (n) {
		vs_retry_pause(n, vs_clock() + 500);
		/* An epilog may take its time. */
		if (!(n->flags & VS_NODE_COMPLETING) &&
		    vs_clock() - n->since.action_ms > REFUSED_MS)
			vs_node_force_release(
				n, "Slurm does not allow a rebuild of its VM");
	}
}

void vs_node_apply(struct vs_core *c, struct vs_node *n, int64_t now_ms)
{
	enum vs_action action = vs_next_action(n->wanted, n->seen);

	vs_assert_locked();
	if (action != n->action) {
		n->action = action;
		n->since.action_ms = now_ms;
	}
	if (!n->flags)
		return;		/* not in Slurm's node table (yet) */
	vs_boot_apply(c, n, now_ms);
	if (c->observe)
		return;		/* the action is the plan */
	keep_alive(n, now_ms);
	vs_adopt_apply(c, n, now_ms);
	vs_guest_lost_apply(c, n, now_ms);
	vs_maintenance_apply(c, n, now_ms);
	vs_guest_lost_suspended_apply(c, n, now_ms);
	/* Cancels a call for a node that no job needs any more. */
	if (n->op.id && !n->op.cancel_asked &&
	    (n->op.kind <= VS_OP_POWER_ON || n->op.kind == VS_OP_VMOTION) &&
	    (n->wanted == VS_DESIRED_OFF || n->wanted == VS_DESIRED_GONE))
		vs_op_cancel(c, n);
	/* A VM ahead of its job waits for all that jobs need now: prefetch.c. */
	if (action == VS_DO_NOTHING || action == VS_DO_WAIT ||
	    now_ms < n->retry.not_before_ms || n->wanted == VS_DESIRED_AHEAD)
		return;
	if (action == VS_DO_REPORT) {
		report(c, n, now_ms);
		return;
	}
	if (vs_node_is(n, VS_COND_RELEASED) && needs_place(action))
		return;
	if (n->wanted == VS_DESIRED_RENEW) {
		/* Slurm must know before its node's VM goes off. */
		vs_outbox_ask(VS_REQUEST_REBUILD, n->name, n->claims.job, false,
			      NULL, rebuilt);
		return;
	}
	if (needs_place(action) && !place_ready(c, n, now_ms))
		return;
	/* A new place may make another step due. */
	if (needs_place(action)) {
		n->seen = observed_state(c, n);
		action = n->action = vs_next_action(n->wanted, n->seen);
		if (action == VS_DO_NOTHING)
			return;
	}
	if ((action == VS_DO_CLONE || action == VS_DO_PREPARE ||
	     action == VS_DO_INSTANT) && vs_drs_waits(c, n, now_ms))
		return;
	if (action == VS_DO_POWER_ON && !vs_claim_fits(c, n)) {
		vs_claim_release(c, n);
		vs_retry_pause(n, now_ms + 500);
		return;
	}
	vs_op_start(c, n, action, now_ms);
}
