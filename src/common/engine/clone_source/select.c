/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parent that a node's clone asks for: there, on its way, or to be made now.
 *
 * Rules: made when the first clone asks, for its node, at its place and under
 * the same budgets; one call at a time for each parent, and all other nodes
 * that ask wait. What is done next is read off what vCenter shows. The lock is
 * held.
 */
#include <stdio.h>
#include <string.h>
#include "engine/clone_source/clone_source.h"
#include "engine/clone_source/clone_source_i.h"
#include "engine/hosts/hosts.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "engine/vmspec/vmspec.h"
#include "util/mem.h"

#define AWAY_MS 60000		/* then another one is made beside it */
#define GAP_MS 10000		/* nothing was done for it: no measure */

/* ---- for a node --------------------------------------------------------------------- */

static void say(struct vs_clone_source *p, const char *what, const char *more)
{
	snprintf(p->why, sizeof(p->why),
		 "waits for the clone source (%s clone): %s%s%s%s",
		 vs_clone_name(p->key.mark.kind), what,
		 p->name[0] ? " " : "", p->name, more);
}

static const char *doing(const struct vs_clone_source *p)
{
	return p->op == VS_CLONE_SOURCE_CLONES ?
		       "the template is being copied to" :
	       p->op == VS_CLONE_SOURCE_SNAPS ? "a snapshot is being made of" :
	       p->op == VS_CLONE_SOURCE_BOOTS ? "a power-on is under way of" :
						"a task is under way on";
}

/* May a call of it be sent now? */
static bool may_begin(struct vs_core *c, struct vs_clone_source *p,
		      const struct vs_vm *vm, int64_t now_ms)
{
	const struct vs_clone_source *r = vm ?
		vs_clone_source_record(c, vm->moid, false) : NULL;
	const char *host = vm ? vm->host : p->host;

	if (p->look_after > c->slow_seq || vs_unowned_tasks_wait())
		say(p, "the state of", " is being read");
	else if (r &&
		 (r->op != VS_CLONE_SOURCE_IDLE || r->look_after > c->slow_seq))
		say(p, "a task is under way on", "");
	else if (now_ms < p->not_before_ms)
		say(p, "a step failed and is tried again:", "");
	else if (vs_tasks_provisioning() >= c->conf->max_provision_ops ||
		 vs_op_host_full(c, host))
		say(p, "MaxProvisionOps or MaxOpsPerHost is reached, for", "");
	else
		return true;
	return false;
}

/* One on a host that is away may come back: it is waited for, not for long. */
static enum vs_clone_source_action step_of(struct vs_clone_source *p,
					   const struct vs_vm *vm,
					   int64_t now_ms)
{
	enum vs_clone_source_action step = vs_clone_source_action(vm);

	if (step != VS_CLONE_SOURCE_AWAY) {
		p->away_ms = 0;
		return step;
	}
	if (!p->away_ms)
		p->away_ms = now_ms;
	return now_ms - p->away_ms < AWAY_MS ? VS_CLONE_SOURCE_AWAY :
		VS_CLONE_SOURCE_MAKE;
}

/* On, and not frozen: its guest's script asks for that. One that doesn't is an
 * administrator's business, and goes off until then. */
static int freezes(struct vs_core *c, struct vs_clone_source *p,
		   const struct vs_vm *vm, int64_t now_ms, struct vs_err *err)
{
	bool failed = !strcmp(vm->guest.state, "failed");
	char why[640];

	if (!p->boots_ms)
		p->boots_ms = now_ms;
	say(p, "it boots and is then frozen:", "");
	if (!failed && now_ms - p->boots_ms <
	    (int64_t)c->conf->boot_timeout_s * 1000)
		return 0;
	snprintf(why, sizeof(why),
		 "clone source %s of instant clones was not frozen within %lld s: %s%.200s (the template needs slurm-vsphere-guest, and VMware Tools with instantclone.freeze)",
		 vm->name, (long long)(now_ms - p->boots_ms) / 1000,
		 failed ? "the guest says: " : "its guest says nothing",
		 failed ? vm->guest.reason : "");
	p->boots_ms = 0;
	if (vs_clone_source_power(c, p, vm, false, now_ms, err))
		return -1;
	vs_clone_sources_block(c, &p->key, now_ms + VS_EXCLUDE_HOST_MS, why);
	return 0;
}

static int call(struct vs_core *c, struct vs_clone_source *p, struct vs_node *n,
		const struct vs_claim *h, const struct vs_vm *vm,
		enum vs_clone_source_action step, int64_t now_ms,
		struct vs_err *err)
{
	switch (step) {
	case VS_CLONE_SOURCE_MAKE:
		return vs_clone_source_make(c, p, n, h, now_ms, err);
	case VS_CLONE_SOURCE_SNAP:
		return vs_clone_source_snap(c, p, vm, now_ms, err);
	case VS_CLONE_SOURCE_BOOT:
		vs_clone_source_claim_again(c, p, h, vm);
		return vs_clone_source_power(c, p, vm, true, now_ms, err);
	default:
		return 0;
	}
}

/* The next call for it, if it needs one: -1 with err if that failed. */
static int go_on(struct vs_core *c, struct vs_clone_source *p,
		 struct vs_node *n, const struct vs_claim *h,
		 const struct vs_vm *vm, enum vs_clone_source_action step,
		 int64_t now_ms, struct vs_err *err)
{
	bool makes = step == VS_CLONE_SOURCE_MAKE;
	int rc;

	vs_strlcpy(p->host, makes ? h->host : vm->host, sizeof(p->host));
	if (vm && !makes)
		vs_strlcpy(p->name, vm->name, sizeof(p->name));
	if (step == VS_CLONE_SOURCE_AWAY) {
		say(p, "vCenter does not reach the host of", "");
		return 0;
	}
	if (step == VS_CLONE_SOURCE_FREEZES)
		return freezes(c, p, vm, now_ms, err);
	p->boots_ms = 0;
	if (!may_begin(c, p, makes ? NULL : vm, now_ms))
		return 0;
	vs_strlcpy(p->node, n->name, sizeof(p->node));
	p->lost = false;
	rc = call(c, p, n, h, vm, step, now_ms, err);
	if (!rc) {
		say(p, doing(p), "");
		return 0;
	}
	p->not_before_ms = now_ms + 1000;
	if (!vs_clone_source_is_setting(err))
		return -1;
	vs_clone_sources_block(c, &p->key, now_ms + VS_EXCLUDE_HOST_MS,
			       err->text);
	err->code = VS_OK;
	return 0;
}

/* The duration is known only of one that a node has asked for all the time. */
static void measure(struct vs_clone_source *p, int64_t now_ms)
{
	int64_t last_ms = p->asked_ms > p->since_ms ? p->asked_ms :
		p->since_ms;	/* the end of its last call */

	if (!p->op_id && now_ms - last_ms > GAP_MS)
		p->begun_ms = 0;
}

const struct vs_vm *vs_clone_source_get(struct vs_core *c, struct vs_node *n,
					const struct vs_claim *h,
					int64_t now_ms, struct vs_err *err)
{
	const char *store = c->inv.nuses ? h->store : c->store;
	char id[3 * VS_MOID_LEN];
	struct vs_clone_source_key key;
	enum vs_clone_source_action step;
	struct vs_clone_source *p;
	struct vs_vm *vm;

	err->code = VS_OK;
	if (vs_clone_source_key_fill(c, n->profile, h->host, store, &key))
		return NULL;	/* the template isn't known now */
	vs_clone_source_key_id(&key, id);
	p = vs_clone_source_record(c, id, true);
	p->key = key;
	measure(p, now_ms);
	p->asked_ms = now_ms;
	n->parent = p;
	if (!vs_clone_source_await(c, p, now_ms)) {
		say(p, doing(p), "");
		return NULL;
	}
	vm = vs_clone_source_choose(&c->inv, &key, c->folder, c->cluster_id);
	step = step_of(p, vm, now_ms);
	if (step == VS_CLONE_SOURCE_MAKE &&
	    vs_clone_source_misplaced_end(c, p, now_ms))
		return NULL;
	if (step != VS_CLONE_SOURCE_READY) {
		go_on(c, p, n, h, vm, step, now_ms, err);
		return NULL;
	}
	p->why[0] = '\0';
	p->boots_ms = 0;
	if (p->begun_ms)
		vs_duration_note(n->profile, VS_DURATION_CLONE_SOURCE,
				 now_ms - p->begun_ms);
	p->begun_ms = 0;
	vs_strlcpy(p->vm, vm->moid, sizeof(p->vm));
	return vm;
}

int vs_clone_source_prepare(struct vs_core *c, struct vs_node *n,
			    const struct vs_claim *h, int64_t now_ms,
			    struct vs_err *err)
{
	return vs_clone_source_get(c, n, h, now_ms, err) || err->code == VS_OK ?
		0 : -1;
}

const char *vs_clone_source_waits(const struct vs_node *n)
{
	bool asks = n->action == VS_DO_CLONE || n->action == VS_DO_PREPARE ||
		n->action == VS_DO_INSTANT;

	vs_assert_locked();
	return n->parent && n->parent->why[0] && n->op.kind == VS_OP_NONE &&
	       asks ? n->parent->why : NULL;
}

enum vs_observed vs_node_observed_none(const struct vs_node *n)
{
	vs_assert_locked();
	return n->profile->clone == VS_CLONE_INSTANT ?
		       VS_OBSERVED_NONE_INSTANT :
		       VS_OBSERVED_NONE;
}

/* ---- what others ask ------------------------------------------------------------------ */

bool vs_clone_sources_unanswered(void)
{
	for (const struct vs_clone_source *p = vs_clone_sources.all; p;
	     p = p->hh.next)
		if (p->op_id && p->op == VS_CLONE_SOURCE_CLONES && !p->task[0])
			return true;
	return false;
}

bool vs_clone_sources_unconfirmed(void)
{
	for (const struct vs_clone_source *p = vs_clone_sources.all; p;
	     p = p->hh.next)
		if (p->lost)
			return true;
	return false;
}

bool vs_clone_sources_task(const char *task)
{
	for (const struct vs_clone_source *p = vs_clone_sources.all; p;
	     p = p->hh.next)
		if (p->op_id && !strcmp(p->task, task))
			return true;
	return false;
}
