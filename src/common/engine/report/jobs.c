/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The jobs that the core knows of, all in one answer: those that have managed
 * nodes, by the claims, and those that wait for them, by their last refusal.
 *
 * Rules: work grows with nodes and jobs, not with their product; the lock is
 * lent between the pieces, so that names are copied and nothing is kept by
 * pointer. What a user may not see is left out before anything is said of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/forecast/forecast.h"
#include "engine/jobs/jobs.h"
#include "engine/report/report.h"
#include "engine/report/report_i.h"
#include "engine/slurm/lookup.h"
#include "engine/slurm/slurm_ops.h"
#include "engine/state/state.h"
#include "util/hash.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/time.h"

#define LEND_EVERY 64		/* jobs */

struct strings { char **s; size_t n, cap; };

struct row {
	uint32_t job;
	struct strings nodes, hosts, adapters;
	size_t vfs, devices, making, need;
	int64_t waited_ms, provision_ms;	/* the longest of its nodes' */
	bool untold;			/* of one of them it isn't known */
	int64_t since_ms;
	const char *phase;		/* a constant */
	char text[512];
	int64_t expected;
	UT_hash_handle hh;
};

static void strings_add(struct strings *l, const char *s)
{
	VS_GROW(l->s, l->cap, l->n + 1);
	l->s[l->n++] = vs_strdup(s);
}

static void strings_free(struct strings *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->s[i]);
	free(l->s);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted, each once. */
static void strings_put(struct json_object *o, const char *key,
			struct strings *l)
{
	struct json_object *arr;

	if (!l->n)
		return;
	arr = vs_jb_arr();
	qsort(l->s, l->n, sizeof(*l->s), by_text);
	for (size_t i = 0; i < l->n; i++)
		if (!i || strcmp(l->s[i], l->s[i - 1]))
			vs_jb_add_str(arr, l->s[i]);
	vs_jb_put(o, key, arr);
}

static struct row *row_of(struct row **rows, uint32_t job)
{
	struct row *r;

	HASH_FIND(hh, *rows, &job, sizeof(job), r);
	if (r)
		return r;
	r = vs_calloc(1, sizeof(*r));
	r->job = job;
	HASH_ADD(hh, *rows, job, sizeof(r->job), r);
	return r;
}

/* ---- what is known; lock held ---------------------------------------------------- */

/* Few of a job's nodes follow one of another adapter. */
static void adapter_add(struct row *r, const struct vs_node *n)
{
	const char *name = n->profile->adapter->name;

	if (!r->adapters.n || strcmp(r->adapters.s[r->adapters.n - 1], name))
		strings_add(&r->adapters, name);
}

/* Of a VM that jobs share the latest one's is known. */
static void took_add(struct row *r, const struct vs_node *n, int64_t now_ms)
{
	const struct vs_startup_times *t = &n->took;
	int64_t ms = (t->up_ms ? t->up_ms : now_ms) - t->began_ms;

	if (!t->began_ms || n->claims.job != r->job)
		r->untold = true;
	if (t->lacked_ms > r->waited_ms)
		r->waited_ms = t->lacked_ms;
	if (ms > r->provision_ms)
		r->provision_ms = ms;
}

/* A hold has its adapter's own first. */
static void nics_add(struct row *r, const struct vs_node *n,
		      const struct vs_claim *h)
{
	const struct vs_adapter *a = n->profile->adapter;
	int all = h ? h->nvfs : 0;
	int vfs = vs_adapter_nics(a) ? vs_adapter_vfs(a) : 0;

	r->vfs += (size_t)(vfs < all ? vfs : all);
	r->devices += (size_t)(vfs < all ? all - vfs : 0);
}

static void node_add(struct vs_core *c, struct row *r, struct vs_node *n)
{
	const struct vs_claim *h = vs_ledger_get(&c->ledger, n->name);
	const struct vs_vm *vm = vs_node_vm(c, n);
	const struct vs_host *host =
		vm && vm->power == VS_POWER_ON ? vm->host_ptr :
		h ? vs_host_get(&c->inv, h->host) :
		vm && vm->power == VS_POWER_SUSPENDED ? vm->host_ptr : NULL;

	strings_add(&r->nodes, n->name);
	adapter_add(r, n);
	if (host)
		strings_add(&r->hosts, host->name);
	nics_add(r, n, h);
	took_add(r, n, vs_clock());
	if (n->flags & VS_NODE_UP)
		return;
	r->making++;
	if (r->phase && n->since.action_ms <= r->since_ms)
		return;
	r->since_ms = n->since.action_ms;
	r->phase = n->op.kind != VS_OP_NONE  ? vs_op_name(n->op.kind) :
		   n->seen == VS_OBSERVED_ON ? "booting" :
					       vs_action_name(n->action);
}

static void claim_add(struct vs_core *c, struct vs_node *n, void *arg)
{
	struct row **rows = arg;

	if (n->claims.job)
		node_add(c, row_of(rows, n->claims.job), n);
	for (size_t k = 0; k < n->claims.nbeside; k++)
		node_add(c, row_of(rows, n->claims.beside[k].job), n);
}

static void refused_add(struct row **rows)
{
	struct vs_pending *r;

	for (r = vs_refusals(); r; r = r->hh.next)
		row_of(rows, r->job);
}

/* A job that has nodes was refused before it got them. */
static void words_add(struct vs_core *c, struct row *row)
{
	const char *blocked = vs_query_blocked(c);
	struct vs_pending *r;

	r = vs_refusal(row->job);
	if (!r || row->nodes.n)
		return;
	row->need = r->need;
	if (r->lacked_ms)
		row->waited_ms = vs_clock() - r->lacked_ms;
	for (size_t i = 0; i < r->n; i++) {
		const struct vs_node *n = vs_node_at(c, r->ids[i]);

		if (n)
			adapter_add(row, n);
	}
	if (blocked && !c->observe) {
		vs_strlcpy(row->text, blocked, sizeof(row->text));
		return;
	}
	vs_job_pending_text(c, r, row->text, sizeof(row->text));
	row->expected = vs_estimate_start(r);
}

/* ---- the answer ------------------------------------------------------------------ */

static struct json_object *job_json(struct row *r,
				    const struct vs_slurm_job *slurm,
				    bool sees_nodes)
{
	struct json_object *o = vs_jb_obj(NULL);
	bool waits = slurm->waits != VS_WAITS_NOT && !r->nodes.n;

	vs_jb_int(o, "job", r->job);
	vs_jb_str(o, "id", slurm->text->id);
	vs_jb_int(o, "uid", slurm->uid);
	vs_report_str(o, "partition", slurm->text->partition);
	vs_jb_str(o, "state", slurm->text->state);
	strings_put(o, "adapters", &r->adapters);
	if (sees_nodes) {
		strings_put(o, "nodes", &r->nodes);
		strings_put(o, "hosts", &r->hosts);
	}
	if (r->nodes.n)
		vs_jb_int(o, "vfs", (int64_t)r->vfs);
	if (r->devices)
		vs_jb_int(o, "devices", (int64_t)r->devices);
	if (r->waited_ms && !r->untold)
		vs_jb_int(o, "wait_time_s", r->waited_ms / 1000);
	if (r->nodes.n && !r->untold)
		vs_jb_int(o, "provision_time_s", r->provision_ms / 1000);
	if (r->making) {
		vs_jb_int(o, "provisioning", (int64_t)r->making);
		vs_report_str(o, "phase", r->phase);
		if (r->since_ms)
			vs_jb_int(o, "since", vs_report_epoch(r->since_ms));
	}
	if (waits && r->need)
		vs_jb_int(o, "need", (int64_t)r->need);
	/* Slurm's own reason stands first */
	if (!waits)
		vs_report_str(o, "reason", r->text);
	else
		vs_report_str(o, "reason", slurm->waits == VS_WAITS_ELSE ?
			      slurm->text->reason : r->text);
	if (waits && slurm->waits != VS_WAITS_ELSE &&
	    r->expected > vs_wall_ms() / 1000)
		vs_jb_int(o, "start_time", r->expected);
	return o;
}

static int by_job(const struct row *a, const struct row *b)
{
	return a->job < b->job ? -1 : a->job > b->job;
}

static void rows_free(void *arg)
{
	struct row *rows = arg, *r, *tmp;

	HASH_ITER(hh, rows, r, tmp) {
		HASH_DEL(rows, r);
		strings_free(&r->nodes);
		strings_free(&r->hosts);
		strings_free(&r->adapters);
		free(r);
	}
}

struct asked {
	struct row *rows;
	struct vs_lookup l;
	struct vs_slurm_job_text *texts;	/* of l.jobs */
};

static void slurm_ask(void *arg)
{
	struct asked *a = arg;
	size_t i = 0;

	HASH_SORT(a->rows, by_job);
	a->l.n = HASH_COUNT(a->rows);
	a->l.jobs = vs_calloc(a->l.n + 1, sizeof(*a->l.jobs));
	a->texts = vs_calloc(a->l.n + 1, sizeof(*a->texts));
	for (const struct row *r = a->rows; r; r = r->hh.next, i++)
		a->l.jobs[i] = (struct vs_slurm_job) {
			.job = r->job, .text = &a->texts[i],
		};
	vs_lookup_jobs(&a->l);
}

void vs_report_jobs(struct vs_core *c, struct json_object *top,
		    const struct vs_viewer *viewer)
{
	struct json_object *arr = vs_jb_arr();
	struct asked a = { .l.viewer = viewer };
	size_t i = 0;

	vs_assert_locked();
	while (!vs_each_node(c, claim_add, &a.rows)) {
		rows_free(a.rows);	/* of nodes that are no more */
		a.rows = NULL;
	}
	refused_add(&a.rows);
	vs_lock_yield_to(slurm_ask, &a);
	/* Jobs are no nodes, so each.c is of no use. */
	for (struct row *r = a.rows; r; r = r->hh.next, i++) {
		if (!a.l.jobs[i].there)
			continue;
		words_add(c, r);
		vs_jb_add(arr, job_json(r, &a.l.jobs[i],
					viewer->sees_nodes));
		if (i % LEND_EVERY == LEND_EVERY - 1)
			vs_lock_yield();
	}
	vs_jb_put(top, "jobs", arr);
	vs_report_notes(c, top, false);
	vs_lock_yield_to(rows_free, a.rows);
	free(a.l.jobs);
	free(a.texts);
}
