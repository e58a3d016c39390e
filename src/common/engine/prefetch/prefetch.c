/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prefetch: VMs for jobs that Slurm has planned to start soon are made ready
 * while the jobs still wait. Where VFs are to spare the node is powered up the
 * way an administrator would, so that the job finds a warm VM; where they are
 * not its VM is cloned alone, and stays off, until VFs are on their way to its
 * very job: then it is powered up, to be switched on as soon as they are there.
 *
 * Rules: off unless Prefetch= says how many; jobs that have begun go first, and
 * half of every budget stays theirs; a VM that is off holds no VF, and no VF is
 * taken that a waiting job could have; exactly the planned nodes, once for each
 * job; VMs that bear their job's name can't be made ahead of it. What no plan
 * has named for the grace of PrefetchOptions goes: a plan that is missing for a while means
 * nothing, because backfill wipes all of them when it restarts. After a restart
 * nothing is known of all this: what is on is a warm VM and what is off is a
 * node's VM, as after any job. The lock is held.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/jobs/jobs.h"
#include "engine/prefetch/prefetch.h"
#include "engine/prefetch/prefetch_i.h"
#include "engine/provision/provision.h"
#include "engine/slurm/outbox.h"
#include "engine/slurm/slurm_ops.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "util/mem.h"

#define ASKED_MS 30000		/* beyond any sane power_save_interval */
#define TRIES_AHEAD 2
#define IN_VAIN 8

struct vs_plans vs_plans;

/* ---- one node's state --------------------------------------------------------- */

static void set(struct vs_node *n,
		enum vs_prefetch_state state, int64_t now_ms)
{
	struct vs_node_prefetch *a = &n->ahead;

	if (a->state == VS_PREFETCH_NOT && state != VS_PREFETCH_NOT) {
		LIST_INSERT_HEAD(&vs_plans.ahead, n, ahead.entry);
		vs_plans.nahead++;
	} else if (a->state != VS_PREFETCH_NOT && state == VS_PREFETCH_NOT) {
		LIST_REMOVE(n, ahead.entry);
		vs_plans.nahead--;
		a->built = false;
	}
	a->state = state;
	a->rose = false;
	a->since_ms = now_ms;
	a->unneeded_ms = 0;
	vs_node_mark_changed(n);
}

/* A job has it, or another user uses it. */
static void used(struct vs_node *n)
{
	if (n->ahead.state == VS_PREFETCH_GOES && n->op.kind == VS_OP_DESTROY)
		vs_plans.removed++;
	else
		vs_plans.used++;
	set(n, VS_PREFETCH_NOT, vs_clock());
}

void vs_prefetch_clear(void)
{
	vs_assert_locked();
	while (!LIST_EMPTY(&vs_plans.ahead))
		set(LIST_FIRST(&vs_plans.ahead), VS_PREFETCH_NOT, 0);
	vs_plans.nplanned = vs_plans.nends = 0;
}

void vs_prefetch_carry(struct vs_core *c)
{
	vs_assert_locked();
	LIST_INIT(&vs_plans.ahead);
	vs_plans.nahead = 0;
	for (size_t i = 0; i < c->nnodes; i++) {
		struct vs_node *n = &c->nodes[i];

		if (n->ahead.state == VS_PREFETCH_NOT)
			continue;
		LIST_INSERT_HEAD(&vs_plans.ahead, n, ahead.entry);
		vs_plans.nahead++;
	}
	vs_plans.nplanned = vs_plans.nends = 0;
}

/* Slurm doesn't power it up: what there is of it stays off. */
static void stays_off(struct vs_node *n, int64_t now_ms)
{
	n->ahead.spent = n->ahead.job;
	set(n, n->ahead.built ? VS_PREFETCH_CLONE : VS_PREFETCH_NOT, now_ms);
}

/* Slurm's answer to VS_REQUEST_POWER_UP. */
static void up_told(struct vs_core *c, const struct vs_outbox_request *t,
		    bool accepted)
{
	struct vs_node *n = accepted ? NULL : vs_node_named(c, t->node);

	if (n && n->ahead.state == VS_PREFETCH_UP && !n->ahead.rose)
		stays_off(n, vs_clock());
}

/* Its power-on is begun in the very turn that shows the VF free. */
static void vf_free(struct vs_core *c)
{
	struct vs_node *n;

	LIST_FOREACH(n, &vs_plans.ahead, ahead.entry) {
		if (n->ahead.state != VS_PREFETCH_UP || n->retry.tries ||
		    vs_ledger_get(&c->ledger, n->name))
			continue;
		vs_retry_pause(n, 0);
		vs_node_mark_changed(n);
	}
}

void vs_prefetch_claim_changed(struct vs_core *c, struct vs_node *n,
			       enum vs_claim_event e,
			       const struct vs_claim *before)
{
	(void)before;
	if (e == VS_CLAIM_RELEASED)
		vf_free(c);
	else if (e == VS_CLAIM_BY_JOB && n->ahead.state != VS_PREFETCH_NOT)
		used(n);
}

static bool planned(const struct vs_core *c, const struct vs_node *n)
{
	return c->conf->prefetch.vms && n->ahead.read == vs_plans.read;
}

/* ---- when no job comes ------------------------------------------------------------ */

static void remove_vm(struct vs_node *n, int64_t now_ms)
{
	vs_info("node=%s its prefetched VM is removed: no job needs it",
		n->name);
	set(n, VS_PREFETCH_GOES, now_ms);
	vs_node_removable(n, true);	/* created here, and never used */
}

static void goes(struct vs_node *n, int64_t now_ms)
{
	if (n->ahead.state == VS_PREFETCH_CLONE) {
		remove_vm(n, now_ms);
	} else if (n->flags & VS_NODE_POWERING_UP) {
		vs_boot_cancel(n);
	} else if ((n->flags & VS_NODE_UP) && !vs_node_is(n, VS_COND_VACATE) &&
		   !(n->flags & VS_NODE_STAYS)) {
		vs_node_vacate(n, 0);
		vs_node_mark_changed(n);
	}
}

static void follow_up(struct vs_node *n, int64_t now_ms)
{
	struct vs_node_prefetch *a = &n->ahead;

	if (n->flags & (VS_NODE_POWERING_UP | VS_NODE_UP)) {
		a->rose = true;
		return;
	}
	if (!(n->flags & VS_NODE_POWERED_DOWN) ||
	    (n->flags & (VS_NODE_POWER_UP_ASKED | VS_NODE_POWERING_DOWN)) ||
	    (!a->rose && now_ms - a->since_ms < ASKED_MS))
		return;
	/* It is down again: SuspendTime, an administrator, or ourselves. */
	if (!a->unneeded_ms) {
		stays_off(n, now_ms);
	} else if (a->built) {
		remove_vm(n, now_ms);
	} else {
		vs_plans.removed++;
		set(n, VS_PREFETCH_NOT, now_ms);
	}
}

/* Slurm or an administrator changes it without a request of slurm-vsphere. */
static bool taken(const struct vs_node *n)
{
	return n->flags & (VS_NODE_POWERING_UP | VS_NODE_POWER_UP_ASKED |
			   VS_NODE_UP | VS_NODE_ALLOCATED);
}

static void follow(struct vs_core *c, struct vs_node *n, int64_t now_ms)
{
	struct vs_node_prefetch *a = &n->ahead;

	if (a->state == VS_PREFETCH_UP)
		follow_up(n, now_ms);
	else if (taken(n))
		used(n);
	else if (a->state == VS_PREFETCH_GOES && vs_observed_none(n->seen)) {
		vs_plans.removed++;
		set(n, VS_PREFETCH_NOT, now_ms);
	}
	if (a->state == VS_PREFETCH_NOT || a->state == VS_PREFETCH_GOES)
		return;
	if (planned(c, n) && !vs_node_is(n, VS_COND_VACATE))
		a->unneeded_ms = 0;
	else if (!a->unneeded_ms)
		a->unneeded_ms = now_ms;
	else if (now_ms - a->unneeded_ms >=
		 (int64_t)c->conf->prefetch.grace_s * 1000)
		goes(n, now_ms);
}

/* ---- what may be made ahead --------------------------------------------------------- */

/* Off by Slurm's word and by vCenter's, with nothing under way. */
static bool rests_off(struct vs_core *c, const struct vs_node *n)
{
	return n->flags == VS_NODE_POWERED_DOWN && !n->claims.job &&
	       !vs_node_is(n, VS_COND_RELEASED | VS_COND_ADOPTING |
			   VS_COND_VACATE) && n->op.kind == VS_OP_NONE &&
	       n->retry.look_after <= c->slow_seq &&
	       (vs_observed_none(n->seen) || n->seen == VS_OBSERVED_OFF);
}

static bool may_have(struct vs_core *c, const struct vs_node *n,
		     const struct vs_coming *p, int64_t now_ms)
{
	return n->profile->retention != VS_RETAIN_DESTROY &&
	       n->ahead.spent != p->job && rests_off(c, n) &&
	       p->at_ms - now_ms <=
	       (int64_t)c->conf->prefetch.window_s * 1000 &&
	       !vs_node_blocked(c, n) && !vs_clone_blocked(c, n);
}

void vs_prefetch_suspend_set(struct vs_node *n, int64_t after_ms)
{
	n->ahead.suspend_ms = after_ms;
}

/* Slurm would power it down again before its job starts. */
static bool too_soon_to_power(const struct vs_node *n, const struct vs_coming *p,
			      int64_t now_ms)
{
	return n->ahead.suspend_ms > 0 && p->at_ms - now_ms >= n->ahead.suspend_ms;
}

/* Half of what may be in flight, so that no job waits for all of it. */
static bool in_flight_full(const struct vs_core *c)
{
	const struct vs_node *n;
	int count = 0;

	LIST_FOREACH(n, &vs_plans.ahead, ahead.entry)
		count += n->ahead.state == VS_PREFETCH_UP ?
			!(n->flags & VS_NODE_UP) :
			n->ahead.state == VS_PREFETCH_CLONE &&
			n->seen != VS_OBSERVED_OFF;
	return count >= (c->conf->max_provision_ops + 1) / 2 ||
	       vs_tasks_provisioning() >= c->conf->max_provision_ops;
}

static void power(struct vs_node *n, int64_t now_ms)
{
	bool had = n->ahead.state == VS_PREFETCH_CLONE;
	bool built = had || vs_observed_none(n->seen);

	vs_plans.made += !had;
	set(n, VS_PREFETCH_UP, now_ms);
	n->ahead.built = built;
	vs_job_left_forget(n);
	vs_info("node=%s is powered up in advance for JobId=%u", n->name,
		n->ahead.job);
	vs_outbox_ask(VS_REQUEST_POWER_UP, n->name, n->ahead.job, false, NULL,
		      up_told);
}

/* To look for a place costs, with many hosts: where there was none for a few of
 * a kind, the others of it wait for the next reading. */
static void clone_it(struct vs_core *c, struct vs_node *n, int64_t now_ms)
{
	int *in_vain = &vs_plans.in_vain[n->profile - c->profiles];
	struct vs_claim at;

	if (*in_vain >= IN_VAIN)
		return;
	if (!vs_prefetch_place(c, n, &at)) {
		(*in_vain)++;
		return;
	}
	set(n, VS_PREFETCH_CLONE, now_ms);
	n->ahead.built = true;
	vs_plans.made++;
	vs_retry_reset(n);
}

static void weigh(struct vs_core *c, const struct vs_coming *p, int64_t now_ms)
{
	struct vs_node *n = &c->nodes[p->id];
	bool cloned = n->ahead.state == VS_PREFETCH_CLONE;

	if ((n->ahead.state != VS_PREFETCH_NOT && !cloned) ||
	    (!cloned && vs_plans.nahead >= (size_t)c->conf->prefetch.vms) ||
	    !may_have(c, n, p, now_ms) || in_flight_full(c) ||
	    (vs_observed_none(n->seen) && vs_clones_scarce(c)))
		return;
	if (vs_prefetch_vf_comes(c, n) ||
	    (!too_soon_to_power(n, p, now_ms) &&
	     vs_prefetch_has_surplus(c, n, now_ms)))
		power(n, now_ms);
	else if (!cloned && n->seen == VS_OBSERVED_NONE)
		clone_it(c, n, now_ms);
}

/* After all that jobs want: see vs_node_apply. */
static void clone_ahead(struct vs_core *c, struct vs_node *n,
			int64_t now_ms)
{
	struct vs_claim at;

	if (n->ahead.state != VS_PREFETCH_CLONE || n->action != VS_DO_CLONE ||
	    n->op.kind != VS_OP_NONE || now_ms < n->retry.not_before_ms)
		return;
	if (n->retry.tries < TRIES_AHEAD && vs_prefetch_place(c, n, &at)) {
		vs_op_at(c, n, VS_DO_CLONE, &at, now_ms);
		return;
	}
	/* A host that is busy just now is asked again with the next plan. */
	if (n->retry.tries)
		n->ahead.spent = n->ahead.job;
	vs_plans.made--;
	set(n, VS_PREFETCH_NOT, now_ms);
}

void vs_prefetch_update(struct vs_core *c, int64_t now_ms)
{
	struct vs_node *n, *next;

	vs_assert_locked();
	if (vs_query_blocked(c))
		return;
	for (n = LIST_FIRST(&vs_plans.ahead); n; n = next) {
		next = LIST_NEXT(n, ahead.entry);
		follow(c, n, now_ms);
	}
	if (vs_plans_outdated_taken() || vs_plans.weighed != vs_plans.read) {
		vs_plans.weighed = vs_plans.read;
		vs_plans.in_vain = vs_realloc(vs_plans.in_vain, c->nprofiles + 1,
					      sizeof(*vs_plans.in_vain));
		memset(vs_plans.in_vain, 0,
		       c->nprofiles * sizeof(*vs_plans.in_vain));
		for (size_t i = 0; i < vs_plans.nplanned; i++)
			weigh(c, &vs_plans.planned[i], now_ms);
	}
	for (n = LIST_FIRST(&vs_plans.ahead); n; n = next) {
		next = LIST_NEXT(n, ahead.entry);
		clone_ahead(c, n, now_ms);
	}
}

/* ---- Slurm's plan --------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
	const struct vs_coming *x = a, *y = b;

	if (x->at_ms != y->at_ms)
		return x->at_ms < y->at_ms ? -1 : 1;
	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	return x->id - y->id;
}

/* Soonest first: a node that several jobs are planned on is the first one's. */
void vs_prefetch_planned(struct vs_core *c, const struct vs_slurm_planned *rows,
			 size_t n, int64_t now_ms)
{
	struct vs_plans *p = &vs_plans;

	vs_assert_locked();
	free(p->planned);
	free(p->ends);
	p->planned = vs_calloc(n + 1, sizeof(*p->planned));
	p->ends = vs_calloc(n + 1, sizeof(*p->ends));
	p->nplanned = p->nends = 0;
	p->read++;
	for (size_t i = 0; i < n; i++) {
		const struct vs_node *node = vs_node_named(c, rows[i].node);
		struct vs_coming plan = {
			.job = rows[i].job,
			.at_ms = now_ms + rows[i].in_s * 1000,
		};

		if (!node)
			continue;
		plan.id = node->id;
		if (rows[i].ends)
			p->ends[p->nends++] = plan;
		else
			p->planned[p->nplanned++] = plan;
	}
	qsort(p->planned, p->nplanned, sizeof(*p->planned), by_time);
	for (size_t i = 0; i < p->nplanned; i++) {
		struct vs_node_prefetch *a = &c->nodes[p->planned[i].id].ahead;

		if (a->read == p->read)
			continue;
		a->read = p->read;
		a->job = p->planned[i].job;
		a->start_ms = p->planned[i].at_ms;
	}
}

int64_t vs_prefetch_within_s(const struct vs_core *c)
{
	vs_assert_locked();
	return c->conf->prefetch.vms && !c->observe && c->ready ?
		c->conf->prefetch.window_s : 0;
}

struct vs_prefetched vs_prefetch_counts(void)
{
	return (struct vs_prefetched) { vs_plans.nahead, vs_plans.made,
					vs_plans.used, vs_plans.removed };
}
