/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A node's way from our power-on to its registration, as far as vCenter shows
 * it: Slurm's ResumeTimeout waits while the VM isn't on, vCenter there or not
 * (for ProvisionTimeout where no job waits for it), Slurm hears when the
 * boot began, a guest that says it is ready (or nothing, with its tools running)
 * is asked to register, and one that says why it can't be, goes off again or says
 * nothing for BootTimeout, is tried once on another host before Slurm gets the
 * node back with the cause. A guest that blames its template isn't.
 *
 * Rules: what a guest says is a hint, believed of the present boot only; it
 * never keeps a VM on or a VF held.
 */
#include <stdio.h>
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/hosts/hosts.h"
#include "engine/jobs/jobs.h"
#include "engine/provision/provision.h"
#include "engine/reconcile/reconcile.h"
#include "engine/slurm/outbox.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"

#define ASK_MS 5000
#define ASK_SILENT_MS 15000
#define LATE_POWER_UP_MS 30000	/* beyond any sane power_save_interval */

/* The guest says that what is wrong is the template's: no host is to blame, and none
 * would help. */
static bool template_failed(const struct vs_vm *vm)
{
	return !strcmp(vm->guest.state, "bad-template");
}

/* True with words: this boot leads nowhere. */
static bool boot_failed(const struct vs_core *c, const struct vs_node *n,
			const struct vs_vm *vm, int64_t now_ms, char *why,
			size_t size)
{
	const char *said = vm->guest.reason;

	if (!strcmp(vm->guest.state, "failed") || template_failed(vm)) {
		snprintf(why, size, "the guest says: %s", said);
		return true;
	}
	if (now_ms - n->power.on_ms < (int64_t)c->conf->boot_timeout_s * 1000)
		return false;
	snprintf(why, size,
		 "VM is on but slurmd did not register within BootTimeout=%d s%s%s%s%s",
		 c->conf->boot_timeout_s, vm->guest.state[0] ?
		 "; the guest says: " : "", vm->guest.state,
		 said[0] ? ": " : "", said);
	return true;
}

/* The host or its PF is the first suspect: once more, elsewhere. When that
 * fails too it is the node or its template, and the first host is cleared. */
static void try_elsewhere(struct vs_core *c, struct vs_node *n,
			  const struct vs_vm *vm, const char *why,
			  int64_t now_ms)
{
	const struct vs_claim *h = vs_ledger_get(&c->ledger, n->name);
	struct vs_err err;

	vs_err_set(&err, VS_E_OTHER_HOST, "%s", why);
	vs_retry_error(n, &err);
	vs_metrics_failed(VS_DURATION_BOOT, VS_E_OTHER_HOST);
	if (n->boot.host[0]) {
		vs_exclude_failed(n->boot.host, n->boot.pf, now_ms, why);
		vs_breaker_cleared(n->boot.host, n->name);
	}
	if (n->boot.host[0] || template_failed(vm)) {
		vs_node_force_release(n, why);
		return;
	}
	vs_strlcpy(n->boot.host, vm->host, sizeof(n->boot.host));
	/* of several it is unknown which it was */
	vs_strlcpy(n->boot.pf, h && h->nvfs == 1 ? h->vfs[0].pf : "",
		   sizeof(n->boot.pf));
	vs_exclude_failed(n->boot.host, n->boot.pf, now_ms + VS_EXCLUDE_HOST_MS,
			  why);
	vs_breaker_failed(c, n->boot.host, n->name, why, now_ms);
	if (!vs_capacity_count(c, n) && vm->power == VS_POWER_ON) {
		vs_node_force_release(n, why);
		return;
	}
	/* An administrator may have powered it off: once more, if only here. */
	if (!vs_capacity_count(c, n)) {
		vs_exclude_failed(n->boot.host, n->boot.pf, now_ms, why);
		vs_exclude_expire(now_ms);
		vs_info("node=%s boots again: %s", n->name, why);
		return;
	}
	vs_info("node=%s boots again on another host: %s", n->name, why);
	vs_node_condition(n, VS_COND_POWER_CYCLE, true);
}

/* Power saving's next tick serves a job that was cancelled since the last one
 * all the same. What an administrator asks for has been seen as asked. */
bool vs_boot_comes_late(const struct vs_node *n, uint32_t flags)
{
	return n->claims.left_ms && (flags & VS_NODE_POWERING_UP) && !n->claims.job &&
	       vs_clock() - n->claims.left_ms < LATE_POWER_UP_MS;
}

/*
 * Slurm's word. It waits for a boot that comes after it: one that was before,
 * of a VM that outlived its node's power-down, it would never take. What a node
 * was before slurmctld started isn't known, and nothing is concluded from it.
 */
void vs_boot_asked(struct vs_core *c, struct vs_node *n, uint32_t flags)
{
	const struct vs_vm *vm;

	if (!(flags & VS_NODE_POWERING_UP)) {
		n->boot.up_asked_ms = 0;
		return;
	}
	if (n->boot.up_asked_ms)
		return;
	vm = vs_node_vm(c, n);
	n->boot.up_asked_ms = vs_clock();
	n->boot.told_ms = 0;
	vs_node_condition(n, VS_COND_GUEST_READY, false);
	if (n->flags && !c->observe &&
	    !(vm ? vm->power == VS_POWER_OFF : c->loaded))
		vs_node_condition(n, VS_COND_POWER_CYCLE, true);
}

/* Extends Slurm's ResumeTimeout, while the VM isn't on or it is unknown since
 * when; for a node that no job waits for not longer than a job would wait. */
static void push(struct vs_core *c, struct vs_node *n, int64_t now_ms)
{
	char why[160];

	if (n->claims.job || !vs_changes_permitted() ||
	    now_ms - n->boot.up_asked_ms < (int64_t)c->conf->provision_timeout_s * 1000) {
		vs_outbox_post(VS_REQUEST_BOOT_PUSH, n->name, 0, false, NULL);
		return;
	}
	if (c->observe)
		return;
	vs_node_release(n, true);
	snprintf(why, sizeof(why),
		 "no job waits for the node and its VM was not on within ProvisionTimeout=%d s",
		 c->conf->provision_timeout_s);
	vs_error("node=%s is powered down: %s", n->name, why);
	vs_outbox_post(VS_REQUEST_RELEASE, n->name, 0, false, why);
}

void vs_boots_paused(struct vs_core *c, int64_t since_ms, int64_t now_ms)
{
	vs_assert_locked();
	for (size_t i = 0; i < c->nnodes; i++) {
		int64_t *asked_ms = &c->nodes[i].boot.up_asked_ms;

		if (*asked_ms)
			*asked_ms += now_ms - (*asked_ms > since_ms ?
					       *asked_ms : since_ms);
	}
}

/* While nothing is compared, or nothing may be done. */
void vs_boots_push(struct vs_core *c, int64_t now_ms)
{
	vs_assert_locked();
	for (size_t i = 0; i < c->nnodes; i++) {
		struct vs_node *n = &c->nodes[i];

		if ((n->flags & VS_NODE_POWERING_UP) && !vs_node_is(n, VS_COND_RELEASED) &&
		    !n->boot.told_ms)
			push(c, n, now_ms);
	}
}

static void booted(struct vs_node *n, int64_t now_ms,
		   bool ask)
{
	vs_outbox_post_booted(n->name, n->power.sent_ms, ask);
	n->boot.told_ms = now_ms;
}

/* It registers by itself, now; only one that wasn't taken is asked. */
static void is_ready(struct vs_node *n, int64_t now_ms)
{
	if (!vs_node_is(n, VS_COND_GUEST_READY)) {
		vs_node_condition(n, VS_COND_GUEST_READY, true);
		n->boot.told_ms = now_ms;
	} else if (now_ms - n->boot.told_ms >= ASK_MS) {
		booted(n, now_ms, true);
	}
}

/* A quick guest registers before Slurm has heard when its boot began, is
 * refused for that, and does it once only. */
static bool silent(const struct vs_node *n, const struct vs_vm *vm,
		   int64_t now_ms)
{
	return !vm->guest.state[0] && vm->tools_running &&
		now_ms - n->boot.told_ms >= ASK_SILENT_MS;
}

/* Slurm refuses the guest, or may have, for when it was switched on alone: no
 * host is to blame. */
static void again(struct vs_node *n, const char *why)
{
	vs_metrics_failed(VS_DURATION_BOOT, VS_E_RETRY);
	vs_info("node=%s boots again: %s", n->name, why);
	vs_node_condition(n, VS_COND_POWER_CYCLE, true);
}

void vs_boot_apply(struct vs_core *c, struct vs_node *n, int64_t now_ms)
{
	const struct vs_vm *vm = vs_node_vm(c, n);
	bool died = vs_node_is(n, VS_COND_BOOT_DIED);
	char why[VS_GUEST_SAYS + 112];

	vs_node_condition(n, VS_COND_BOOT_DIED, false);
	if (n->flags & VS_NODE_UP) {
		n->boot.host[0] = '\0';
		if (vs_node_is(n, VS_COND_STARTING) &&
		    n->seen == VS_OBSERVED_ON && vm) {
			vs_breaker_served(c, vm->host);
			vs_metrics_started(n->power.on_ms ?
					   now_ms - n->power.on_ms : 0);
			if (n->power.on_ms) {
				vs_duration_note(n->profile, VS_DURATION_BOOT,
						 now_ms - n->power.on_ms);
				vs_startup_times_note(n, VS_DURATION_BOOT,
						      now_ms - n->power.on_ms);
			}
		}
		if (n->seen == VS_OBSERVED_ON)
			vs_power_on_served(n);
	}
	if (n->wanted != VS_DESIRED_ON || vs_node_is(n, VS_COND_RELEASED))
		return;
	if (died && vm) {
		try_elsewhere(c, n, vm, "VM went off during boot", now_ms);
		return;
	}
	if (n->seen != VS_OBSERVED_ON || !vm) {
		push(c, n, now_ms);
		return;
	}
	if (boot_failed(c, n, vm, now_ms, why, sizeof(why)) && !c->observe) {
		if (n->power.sent_ms)
			try_elsewhere(c, n, vm, why, now_ms);
		else
			again(n, why);
	} else if (!n->boot.told_ms || silent(n, vm, now_ms)) {
		/* A guest may be up if its VM was switched on by a person, or
		 * by the engine before a restart: it registers once only. */
		booted(n, now_ms, n->boot.told_ms ||
		       (!n->power.sent_ms && !c->observe));
	} else if (!strcmp(vm->guest.state, "ready")) {
		is_ready(n, now_ms);
	}
}
