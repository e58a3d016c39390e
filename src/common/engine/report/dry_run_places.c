/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the nodes of a plan would be: by the very functions that place a job's
 * nodes (vs_job_place, vs_claim_request, vs_place).
 *
 * All nodes may be asked for, and slurmctld may not wait for that. So nodes and
 * hosts are read in pieces, and the lock is lent between two of them. The last
 * piece reads again what has changed since: then all of it is of that moment.
 * The placement itself runs on this private copy, without the lock.
 *
 * Rules: no pointer into the inventory or the configuration is kept while the
 * lock is lent. Pointers here are into the snapshot, which has none of them.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/hosts/hosts.h"
#include "engine/jobs/jobs.h"
#include "engine/report/report_i.h"
#include "engine/state/state.h"
#include "util/mem.h"

#define NODES_AT_ONCE 128	/* read under the lock, 0.1 ms */
#define HOSTS_AT_ONCE 32	/* likewise; a host's copy is 14 kB */
#define PIECES_MAX 10000	/* all of a large site, ten times */
#define TRIES_MAX 5		/* if hosts come or go meanwhile */

static int by_id(const void *a, const void *b)
{
	const struct vs_plan_want *x = a, *y = b;

	return x->id - y->id;
}

/* Sorted, however the nodes were named: their order decides their places. */
void vs_plan_places_alloc(struct vs_plan_places *p, const int *ids, size_t n,
			  size_t nprofiles)
{
	p->ids = ids;
	p->n = n;
	p->wants = vs_calloc(n + 1, sizeof(*p->wants));
	p->at = vs_calloc(n + 1, sizeof(*p->at));
	p->need = vs_calloc(nprofiles + 1, sizeof(*p->need));
	/* each first touch of a page costs a fault */
	explicit_bzero(p->at, (n + 1) * sizeof(*p->at));
	explicit_bzero(p->wants, (n + 1) * sizeof(*p->wants));
	for (size_t i = 0; i < n; i++)
		p->wants[i].id = ids[i];
	qsort(p->wants, n, sizeof(*p->wants), by_id);
}

void vs_plan_places_free(struct vs_plan_places *p)
{
	vs_snapshot_free(&p->snap);
	free(p->wants);
	free(p->at);
	free(p->need);
	memset(p, 0, sizeof(*p));
}

/* ---- what is read, lock held -------------------------------------------------- */

static void env_fill(struct vs_core *c, struct vs_place_env *env)
{
	vs_env_fill(c, env);
	if (!c->observe)
		vs_env_budget(c, env);
}

static int node_asks(struct vs_core *c, struct vs_node *n,
		     struct vs_place_node *to, struct vs_err *err)
{
	int needs;

	if (c->observe)
		return vs_observe_place(c, n, to, err);
	needs = vs_job_place(c, n, vs_node_summary_get(c, n->id)->avail, err);
	if (needs > 0 && vs_claim_request(c, n, to, err))
		return -1;
	return needs;
}

static void host_note(struct vs_plan_want *want, const struct vs_host *h,
		      int nhosts)
{
	vs_strlcpy(want->host, h ? h->name : "", sizeof(want->host));
	want->host_at = h ? h->index : nhosts;
}

static void node_read(struct vs_core *c, struct vs_plan_places *p, size_t i,
		      const struct vs_place_env *env)
{
	const struct vs_place_tables tables = vs_tables_get(c);
	struct vs_plan_want *want = &p->wants[i];
	struct vs_node *n = &c->nodes[want->id];
	const struct vs_claim *h = vs_ledger_get(&c->ledger, n->name);
	struct vs_place_node at;
	struct vs_err err;

	want->needs = node_asks(c, n, &at, &err);
	if (want->needs > 0)
		vs_snapshot_node(&p->snap, env, &tables, &at, &p->at[i]);
	want->held = h != NULL;
	if (h) {
		want->hold = *h;
		host_note(want, vs_host_get(&c->inv, h->host), c->inv.nhosts);
	}
	want->version = vs_node_summary_version(c, want->id);
}

/* Reads at most `max` nodes that were not read yet, or have changed since. True:
 * no other is left. */
static bool nodes_read(struct vs_core *c, struct vs_plan_places *p,
		       const struct vs_place_env *env, size_t max)
{
	for (size_t i = 0; i < p->n; i++) {
		if (p->wants[i].version ==
		    vs_node_summary_version(c, p->wants[i].id))
			continue;
		if (!max--)
			return false;
		node_read(c, p, i, env);
	}
	return true;
}

/* What bars the whole plan, or the first of its nodes that can't be served. */
static void why_read(struct vs_core *c, struct vs_plan_places *p)
{
	const char *blocked = c->observe ? vs_observe_blocked(c) :
		vs_query_blocked(c);
	struct vs_place_node unused;

	p->served = !blocked;
	p->why = (struct vs_err) { 0 };
	if (blocked)
		vs_err_set(&p->why, VS_E_SHORTAGE, "%s", blocked);
	for (size_t i = 0; i < p->n && p->served; i++)
		if (p->wants[i].needs < 0)
			p->served = node_asks(c, &c->nodes[p->wants[i].id],
					      &unused, &p->why) >= 0;
}

static void rest_read(struct vs_core *c, struct vs_plan_places *p,
		      const struct vs_place_env *env)
{
	const struct vs_place_tables tables = vs_tables_get(c);

	vs_snapshot_end(&p->snap, env, &tables);
	p->hosts = c->inv.nhosts;
	why_read(c, p);
	vs_query_needs(c, p->ids, p->n, p->need);
}

enum got { GOT_ALL, GOT_OTHER_HOSTS, GOT_NONE };

/* Without the lock: what is large. */
static void all_alloc(void *arg)
{
	struct vs_plan_places *p = arg;

	vs_snapshot_alloc(&p->snap);
	for (size_t i = 0; i < p->n; i++)
		p->wants[i].version = 0;
}

/* All that the placement needs, as of the end. */
static enum got all_read(struct vs_core *c, struct vs_plan_places *p,
			 const struct vs_plan_base *b)
{
	const struct vs_place_tables tables = vs_tables_get(c);
	struct vs_place_env env;

	env_fill(c, &env);
	vs_snapshot_free(&p->snap);
	vs_snapshot_begin(&p->snap, &env, &tables);
	vs_lock_yield_to(all_alloc, p);
	/* Not by each.c: what has changed meanwhile is read again at the end. */
	for (int i = 0; i < PIECES_MAX && vs_plan_stands(c, b); i++) {
		env_fill(c, &env);
		if (!vs_snapshot_stands(&p->snap, &env))
			return GOT_OTHER_HOSTS;
		if (vs_snapshot_hosts(&p->snap, &env, HOSTS_AT_ONCE) &&
		    nodes_read(c, p, &env, NODES_AT_ONCE)) {
			rest_read(c, p, &env);
			return GOT_ALL;
		}
		vs_lock_yield();
	}
	return GOT_NONE;
}

/* ---- the placement, no lock held ---------------------------------------------- */

/* A hold has names alone. Those of the node and of its VM are still missing. */
static void place_note(struct vs_plan_want *want,
		       const struct vs_place_node *at)
{
	want->placed = true;
	vs_claim_fill(at->profile, at, 0, &want->hold);
	host_note(want, at->host, 0);
}

static void place(struct vs_plan_places *p)
{
	size_t n = 0, k = 0;

	for (size_t i = 0; i < p->n; i++) {
		p->wants[i].placed = p->wants[i].held;
		if (p->wants[i].needs > 0)
			p->at[n++] = p->at[i];
	}
	if (!p->served)
		return;
	p->served = !vs_place(&p->snap.env, p->at, n, &p->why);
	for (size_t i = 0; i < p->n && p->served; i++)
		if (p->wants[i].needs > 0)
			place_note(&p->wants[i], &p->at[k++]);
}

static void snapshot_place(void *arg)
{
	struct vs_plan_places *p = arg;

	vs_snapshot_index(&p->snap);
	p->never = !vs_query_fits(&p->snap.env, &p->snap.tables, p->need,
				  &p->why);
	if (!p->never)
		place(p);
	vs_snapshot_free(&p->snap);
}

bool vs_plan_places_find(struct vs_core *c, struct vs_plan_places *p,
			 const struct vs_plan_base *b)
{
	enum got got = GOT_OTHER_HOSTS;

	for (int i = 0; i < TRIES_MAX && got == GOT_OTHER_HOSTS; i++)
		got = all_read(c, p, b);
	if (got != GOT_ALL)
		return false;
	vs_lock_yield_to(snapshot_place, p);
	return vs_plan_stands(c, b);
}
