/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs: a claim on each of its nodes from job_begin to its end, and a wait while
 * its prolog runs (pending.c: the last refusal of one that pends). It may come
 * again after a restart, in any order, or for jobs that are gone already;
 * nothing here counts on having seen what came before. The lock is held.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/forecast/forecast.h"
#include "engine/hosts/hosts.h"
#include "engine/jobs/jobs.h"
#include "engine/jobs/jobs_i.h"
#include "engine/slurm/outbox.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "util/mem.h"
#include "util/time.h"

static void runs_now(struct vs_node *n, uint32_t job)
{
	if (n->claims.job == job)
		vs_node_condition(n, VS_COND_JOB_RUNS, true);
	for (size_t i = 0; i < n->claims.nbeside; i++)
		n->claims.beside[i].runs |= n->claims.beside[i].job == job;
}

/* The job leaves; the oldest of those beside it steps in its place. */
static void unclaim(struct vs_node *n, uint32_t job)
{
	size_t at = 0;

	vs_node_mark_changed(n);
	if (n->claims.job == job) {
		n->claims.job = n->claims.nbeside ? n->claims.beside[0].job : 0;
		n->claims.restart = n->claims.nbeside ? n->claims.beside[0].restart : 0;
		vs_node_condition(n, VS_COND_JOB_RUNS, n->claims.nbeside &&
				  n->claims.beside[0].runs);
		vs_node_condition(n, VS_COND_JOB_LAUNCHED, false);
	} else {
		while (at < n->claims.nbeside && n->claims.beside[at].job != job)
			at++;
	}
	if (at >= n->claims.nbeside)
		return;
	n->claims.nbeside--;
	memmove(&n->claims.beside[at], &n->claims.beside[at + 1],
		(n->claims.nbeside - at) * sizeof(*n->claims.beside));
	if (n->claims.nbeside)
		return;
	free(n->claims.beside);
	n->claims.beside = NULL;
	n->claims.cap_beside = 0;
}

static void claim(struct vs_core *c, struct vs_node *n, uint32_t job,
		  uint32_t restart)
{
	unclaim(n, job);
	vs_outbox_release_unsent(n->name);
	vs_claim_changed(c, n, VS_CLAIM_BY_JOB, NULL);
	/* What others wait for is not over because one more comes. */
	if (!n->claims.job)
		vs_node_rebuild(n, false);
	if (n->claims.job) {
		VS_GROW(n->claims.beside, n->claims.cap_beside, n->claims.nbeside + 1);
		n->claims.beside[n->claims.nbeside++] = (struct vs_node_job) {
			.job = n->claims.job, .restart = n->claims.restart,
			.runs = vs_node_is(n, VS_COND_JOB_RUNS),
		};
	}
	n->claims.job = job;
	n->claims.restart = restart;
	vs_node_condition(n, VS_COND_JOB_LAUNCHED, false);
	vs_node_condition(n, VS_COND_JOB_RUNS, false);
	n->claims.since_ms = vs_clock();
	vs_node_stay(n);
	vs_node_release(n, false);
	n->claims.left_ms = n->claims.promised_ms = 0;
	vs_retry_reset(n);
	n->took = (struct vs_startup_times) { 0 };
	vs_forecast_update_node(c, n);
}

static int by_id(const void *a, const void *b)
{
	const struct vs_node *const *x = a, *const *y = b;

	return (*x)->id - (*y)->id;
}

int vs_job_place(struct vs_core *c, struct vs_node *node, enum vs_avail avail,
		 struct vs_err *err)
{
	const char *why;

	vs_assert_locked();
	if (!vs_maintenance_window_blocks_node(c, node) &&
	    avail != VS_AVAIL_NONE)
		return !vs_ledger_get(&c->ledger, node->name);
	why = vs_node_blocked(c, node);
	if (!why)
		why = vs_clone_blocked(c, node);
	return vs_err_set(err, VS_E_SHORTAGE,
			  "node %s cannot get a VM now%s%s", node->name,
			  why ? ": " : "", why ? why : "");
}

/* Sorts the nodes, because placement depends on their order. */
static int job_places(struct vs_core *c, const int *ids, size_t n,
		      struct vs_node **place, size_t *nplace,
		      struct vs_err *err)
{
	const char *blocked = vs_query_blocked(c);

	*nplace = 0;
	if (blocked)
		return vs_err_set(err, VS_E_SHORTAGE, "%s", blocked);
	for (size_t i = 0; i < n; i++) {
		struct vs_node *node = vs_node_at(c, ids[i]);
		int needs;

		if (!node)
			continue;
		needs = vs_job_place(c, node, vs_node_avail(c, node), err);
		if (needs < 0)
			return -1;
		if (needs)
			place[(*nplace)++] = node;
	}
	qsort(place, *nplace, sizeof(*place), by_id);
	return 0;
}

/*
 * Every node of the job gets a place, or the job doesn't begin. Nodes whose VM
 * is on keep what they hold; those whose VM is wrong for this job are rebuilt
 * by the engine while the job's prolog waits (node.c).
 */
int vs_job_begin(struct vs_core *c, uint32_t job, uint32_t restart,
		 const int *ids, size_t n, struct vs_err *err)
{
	VS_FREE struct vs_node **place = vs_calloc(n + 1, sizeof(*place));
	struct vs_pending *r;
	size_t nplace;

	vs_assert_locked();
	for (size_t i = 0; i < n && !vs_query_blocked(c); i++) {
		struct vs_node *node = vs_node_at(c, ids[i]);

		if (node)
			vs_claim_sync(c, node);
	}
	if (job_places(c, ids, n, place, &nplace, err))
		return -1;
	if (vs_claim_take_gang(c, place, nplace, job, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct vs_node *node = vs_node_at(c, ids[i]);
		struct vs_claim *h;

		if (!node)
			continue;
		claim(c, node, job, restart);
		h = vs_ledger_get(&c->ledger, node->name);
		if (h)
			h->job = job;
		vs_node_mark_changed(node);
	}
	vs_forecast_settled(job);
	HASH_FIND(hh, vs_jobs.refused, &job, sizeof(job), r);
	vs_metrics_began(r, vs_clock());
	vs_startup_times_begin(c, ids, n, r, vs_clock());
	if (r)
		vs_pending_free(r);
	return 0;
}

void vs_job_claim(struct vs_core *c, uint32_t job, uint32_t restart,
		  const int *ids, size_t n, bool launched)
{
	vs_assert_locked();
	for (size_t i = 0; i < n; i++) {
		struct vs_node *node = vs_node_at(c, ids[i]);

		if (node && !vs_job_has(node, job))
			claim(c, node, job, restart);
		if (node && node->claims.job == job)
			vs_node_condition(node, VS_COND_JOB_LAUNCHED, launched);
		if (node && launched)
			runs_now(node, job);
	}
}

void vs_job_wait(struct vs_core *c, uint32_t job, uint32_t restart,
		 const int *ids, size_t n)
{
	struct vs_wait **link = vs_wait_find(job);
	struct vs_wait *w = *link;

	vs_assert_locked();
	vs_job_claim(c, job, restart, ids, n, false);
	if (!w) {
		w = *link = vs_calloc(1, sizeof(*w));
		w->job = job;
		w->since_ms = vs_clock();
	}
	for (size_t i = 0; i < n; i++)
		if (vs_node_at(c, ids[i]))
			vs_node_mark_changed(&c->nodes[ids[i]]);
	w->restart = restart;
	free(w->ids);
	w->ids = vs_calloc(n + 1, sizeof(*w->ids));
	memcpy(w->ids, ids, n * sizeof(*ids));
	w->n = n;
}

/* Its prolog is over. */
void vs_job_started(struct vs_core *c, const struct vs_wait *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (vs_node_at(c, w->ids[i]))
			runs_now(&c->nodes[w->ids[i]], w->job);
}

static void node_leaves(struct vs_core *c, struct vs_node *n, uint32_t job)
{
	unclaim(n, job);
	vs_forecast_update_node(c, n);
	if (n->claims.job)
		return;		/* others share it */
	vs_node_rebuild(n, false);
	vs_node_removable(n, true);	/* what was made for it may go */
	if (n->profile->retention != VS_RETAIN_WARM || vs_node_is_preempting(n))
		vs_node_vacate(n, 0);
	if (n->flags & VS_NODE_POWERING_UP)
		vs_boot_cancel(n);
	else if (n->flags & VS_NODE_POWERED_DOWN)
		n->claims.left_ms = vs_clock();
}

/* A job may lose single nodes: those that it keeps, first. */
static size_t still_has(struct vs_core *c, uint32_t job, int *ids, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (vs_node_at(c, ids[i]) && vs_job_has(&c->nodes[ids[i]], job))
			ids[kept++] = ids[i];
	return kept;
}

void vs_job_end(struct vs_core *c, uint32_t job, const int *ids, size_t n,
		bool notify)
{
	struct vs_wait **link = vs_wait_find(job);
	struct vs_wait *w = *link;

	vs_assert_locked();
	for (size_t i = 0; i < n; i++) {
		struct vs_node *node = vs_node_at(c, ids[i]);

		if (node && vs_job_has(node, job))
			node_leaves(c, node, job);
	}
	if (w)
		w->n = still_has(c, job, w->ids, w->n);
	/* A prolog that still waits is answered: the job is gone from here. */
	if (w && !w->n) {
		vs_outbox_post(VS_REQUEST_PROLOG, NULL, job, true, NULL);
		vs_wait_end(link);
	}
	if (notify)
		vs_outbox_post(VS_REQUEST_EPILOG, NULL, job, true, NULL);
	vs_capacity_freed();
}

/* Everything about jobs is forgotten: this is no active controller. */
void vs_jobs_clear(void)
{
	struct vs_pending *r, *tmp;

	vs_assert_locked();
	while (*vs_waits_first())
		vs_wait_end(vs_waits_first());
	vs_assignments_clear();
	HASH_ITER(hh, vs_jobs.refused, r, tmp)
		vs_pending_free(r);
}
