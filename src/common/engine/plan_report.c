/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What would be done for a job that got these nodes now (shape: report.h):
 * asked of the very functions that do it (vs_job_places, vs_hold_plan, the step
 * table), so that the plan and the deed can't differ. Takes no hold, notes
 * nothing, sends nothing. Seconds are estimates (pace.c).
 *
 * Any user may ask, for all nodes at once. So only the placement itself is one
 * piece under the core's lock; between two nodes the lock is lent, and the
 * estimate is made without it, of figures that were copied. A configuration that
 * changed meanwhile ends the plan. The inventory may change too: vCenter removes
 * a host, or all of them when it is read again. So no pointer into the inventory
 * outlives the lock: a place becomes a hold, which has names alone, before the
 * lock is lent.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/core_i.h"
#include "engine/report.h"
#include "util/hostlist.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/time.h"

#define STEPS_MAX 6		/* off, destroyed, cloned, on: 4 are the most */
#define SOME_JOB UINT32_MAX	/* one that no VM was ever made for */

struct row {
	struct vs_node *n;
	bool placed;			/* it has or would have this: */
	struct vs_hold hold;
	enum vs_action steps[STEPS_MAX];
	size_t nsteps;
	bool waits;			/* it can't be served now */
	int64_t parent_ms;		/* until there is what its VM is cloned
					 * of; -1: never measured */
	int64_t step_ms[STEPS_MAX], boot_ms;	/* how long each lasts */
	int64_t alone_ms;		/* all of it; -1: not known */
	int host;			/* its place's index */
	int64_t ready_ms;		/* while the estimate is made */
};

struct work {				/* of the placement */
	struct vs_node **place;
	struct vs_place_node *at;
	const struct vs_place_node **of;	/* by the node's id */
};

struct plan {
	struct row *rows;
	struct work work;
	size_t n, others;
	bool served;
	struct vs_err why;		/* it isn't */
	bool after_idle;		/* but when idle VMs are off, and */
	int *going;			/* these would be asked to go */
	size_t ngoing;
	uint64_t epoch;			/* of the configuration */
	uint64_t load_seq;		/* of the inventory */
};

/* Is it the configuration, and the inventory, with which the plan began? */
static bool stands(const struct vs_core *c, const struct plan *p)
{
	return c->epoch == p->epoch && c->load_seq == p->load_seq;
}

/* Between two nodes. False: the configuration is another, c->nodes too, or the
 * inventory is read again. */
static bool lend(const struct vs_core *c, const struct plan *p)
{
	vs_lock_lend();
	return stands(c, p);
}

static void plan_free(struct plan *p)
{
	free(p->rows);
	free(p->work.place);
	free(p->work.at);
	free(p->work.of);
	free(p->going);
}

/* ---- steps ------------------------------------------------------------------- */

/* The VM as it would be after that step; what is seen of it then. */
static enum vs_seen after(struct vs_core *c, const struct row *r,
			  enum vs_action a, struct vs_vm *vm)
{
	const struct vs_hold *h = r->placed ? &r->hold : NULL;
	const char *pool;

	switch (a) {
	case VS_DO_POWER_ON:
	case VS_DO_INSTANT:
		return VS_SEEN_ON;
	case VS_DO_DESTROY:
		return vs_node_seen_none(r->n);
	case VS_DO_SHUTDOWN:
		vm->power = VS_POWER_OFF;
		break;
	case VS_DO_RELOCATE:
		vs_strlcpy(vm->host, r->hold.host, sizeof(vm->host));
		vm->host_ptr = vs_host_get(&c->inv, vm->host);
		pool = vs_pool_of(c, vm->host_ptr);
		vs_strlcpy(vm->pool, pool ? pool : "", sizeof(vm->pool));
		break;
	default:
		return VS_SEEN_OFF;
	}
	return vs_node_seen_off(c, r->n, vm, h, SOME_JOB, 0);
}

static void steps_find(struct vs_core *c, struct row *r)
{
	const struct vs_vm *now = vs_node_vm(c, r->n);
	struct vs_vm vm = { 0 };
	enum vs_seen seen = vs_node_seen_none(r->n);

	if (now)
		vm = *now;
	if (now && vm.power == VS_POWER_ON)
		seen = vs_job_runs(r->n) ||
			vs_node_vm_right(c, r->n, now, SOME_JOB, 0) ?
			VS_SEEN_ON : VS_SEEN_ON_WRONG;
	else if (now)
		seen = vs_node_seen_off(c, r->n, now, r->placed ? &r->hold :
					NULL, SOME_JOB, 0);
	while (r->nsteps < STEPS_MAX) {
		enum vs_action a = vs_step(VS_WANT_ON, seen);

		if (a == VS_DO_NOTHING || a == VS_DO_WAIT || a == VS_DO_REPORT)
			break;
		r->steps[r->nsteps++] = a;
		seen = after(c, r, a, &vm);
	}
}

static const char *what_is_done(const struct row *r)
{
	if (r->waits)
		return "wait";
	if (!r->nsteps)
		return "reuse";
	return r->steps[0] == VS_DO_SHUTDOWN || r->steps[0] == VS_DO_DESTROY ?
		"rebuild" : vs_action_name(r->steps[0]);
}

/* ---- places ------------------------------------------------------------------ */

static void row_place(struct vs_core *c, struct row *r,
		      const struct vs_place_node *at)
{
	const struct vs_hold *h = vs_ledger_get(&c->ledger, r->n->name);

	r->placed = at || h;
	if (at)
		vs_hold_of(c, r->n, at, 0, &r->hold);
	else if (h)
		r->hold = *h;
}

/* In the words of a waiting job's reason. */
static void say_why(struct vs_core *c, const int *ids, struct plan *p)
{
	char why[256] = "", words[256];
	size_t room = vs_ask_room(c, ids, p->n, NULL, why, sizeof(why));

	if (room >= p->n)
		return;
	vs_lack_words(c, ids, p->n, p->n, room, why, words, sizeof(words));
	vs_err_set(&p->why, VS_E_SHORTAGE, "%s", words);
}

/* Those that are to get a place, and which. 0, or -1 with p->why. */
static int places_find(struct vs_core *c, const int *ids, struct plan *p,
		       struct vs_node **place, struct vs_place_node *at,
		       size_t *nplace)
{
	VS_FREE struct vs_node **nodes = NULL;

	if (!c->observe)
		return vs_job_places(c, ids, p->n, place, nplace, &p->why) ||
			vs_hold_plan(c, place, *nplace, at, &p->why) ? -1 : 0;
	nodes = vs_calloc(p->n + 1, sizeof(*nodes));
	for (size_t i = 0; i < p->n; i++)
		nodes[i] = &c->nodes[ids[i]];
	return vs_observe_plan(c, nodes, p->n, place, at, nplace, &p->why);
}

/* It can't be had now: why, and whether idle VMs could give way. */
static void not_served(struct vs_core *c, const int *ids, struct plan *p)
{
	if (c->observe)
		return;
	say_why(c, ids, p);
	p->after_idle = !vs_make_room(c, 0, ids, p->n, NULL, 0, NULL);
	p->going = vs_calloc(c->nnodes + 1, sizeof(*p->going));
	if (p->after_idle)
		p->ngoing = vs_reclaim_would(c, ids, p->n, p->going);
}

/* Where each node is or would be, as names. The lock is not lent: the places
 * point into the inventory. */
static void rows_place(struct vs_core *c, const int *ids, struct plan *p)
{
	struct work *w = &p->work;
	size_t nplace;

	p->served = !places_find(c, ids, p, w->place, w->at, &nplace);
	for (size_t i = 0; p->served && i < nplace; i++)
		w->of[w->place[i]->id] = &w->at[i];
	for (size_t i = 0; i < p->n; i++) {
		p->rows[i].n = &c->nodes[ids[i]];
		row_place(c, &p->rows[i], w->of[ids[i]]);
	}
}

/* False: as of lend(). */
static bool plan_make(struct vs_core *c, const int *ids, struct plan *p)
{
	rows_place(c, ids, p);
	if (!p->served)
		not_served(c, ids, p);
	for (size_t i = 0; i < p->n; i++) {
		struct row *r = &p->rows[i];

		if (!lend(c, p))
			return false;
		r->waits = !p->served && (!r->placed || vs_ask_blocked(c) ||
			vs_node_avail(c, r->n) == VS_AVAIL_NONE);
		if (!r->waits)
			steps_find(c, r);
	}
	return lend(c, p);
}

/* ---- how long ---------------------------------------------------------------- */

static int op_of(enum vs_action a)
{
	return a == VS_DO_CLONE || a == VS_DO_INSTANT ? VS_OP_CLONE :
	       a == VS_DO_RELOCATE ? VS_OP_RELOCATE :
	       a == VS_DO_RECONFIGURE ? VS_OP_RECONFIGURE :
	       a == VS_DO_POWER_ON ? VS_OP_POWER_ON :
	       a == VS_DO_SHUTDOWN ? VS_OP_POWER_OFF : VS_OP_DESTROY;
}

static int64_t *earliest(int64_t *slots, int n)
{
	int64_t *best = slots;

	for (int i = 1; i < n; i++)
		if (slots[i] < *best)
			best = &slots[i];
	return best;
}

static bool clones(const struct row *r)
{
	for (size_t i = 0; i < r->nsteps; i++)
		if (r->steps[i] == VS_DO_CLONE ||
		    r->steps[i] == VS_DO_INSTANT)
			return true;
	return false;
}

struct last {				/* by place, for the rows of one */
	struct {
		const struct vs_profile *profile;
		char host[VS_MOID_LEN], store[VS_MOID_LEN];
	} of;
	int64_t ms;
	UT_hash_handle hh;
};

/* Each place is asked of once: the lock is held, and all parents are looked at. */
static void parents_last(const struct vs_core *c, struct plan *p)
{
	VS_FREE struct last *all = vs_calloc(p->n + 1, sizeof(*all));
	struct last *known = NULL, *at = all, *same;

	for (size_t i = 0; i < p->n; i++) {
		struct row *r = &p->rows[i];

		if (!clones(r) || !r->placed ||
		    r->n->profile->clone == VS_CLONE_FULL)
			continue;
		at->of.profile = r->n->profile;
		vs_strlcpy(at->of.host, r->hold.host, sizeof(at->of.host));
		vs_strlcpy(at->of.store, r->hold.store, sizeof(at->of.store));
		HASH_FIND(hh, known, &at->of, sizeof(at->of), same);
		if (!same) {
			same = at++;
			same->ms = vs_parent_lasts(c, r->n, &r->hold);
			HASH_ADD(hh, known, of, sizeof(same->of), same);
		} else {
			*at = (struct last) { .ms = 0 };
		}
		r->parent_ms = same->ms;
	}
	HASH_CLEAR(hh, known);
}

/* What the estimate needs of a row; alone_ms -1: something of it was never
 * measured. */
static void row_measure(const struct vs_core *c, struct row *r)
{
	const struct vs_profile *profile = r->n->profile;
	const struct vs_host *h = vs_host_get(&c->inv, r->hold.host);
	bool known = r->parent_ms >= 0;

	r->host = h ? h->index : c->inv.nhosts;
	r->alone_ms = 0;
	if (!r->nsteps)
		return;
	for (size_t i = 0; i < r->nsteps; i++) {
		r->step_ms[i] = vs_pace_ms(c, profile, op_of(r->steps[i]));
		known &= r->step_ms[i] >= 0;
		r->alone_ms += r->step_ms[i];
	}
	r->boot_ms = vs_pace_ms(c, profile, VS_PACE_BOOT);
	known &= r->boot_ms >= 0;
	r->alone_ms = known ? r->alone_ms + r->boot_ms + r->parent_ms : -1;
}

struct budgets {
	int provision, power, host, nhosts;
};

/* Its next step, as soon as it and the budgets allow. */
static void step_time(struct row *r, size_t step, int64_t *global, int nglobal,
		      int64_t *host, int nhost)
{
	int64_t *a = earliest(global, nglobal);
	int64_t *b = earliest(host, nhost);
	int64_t begin = r->ready_ms;

	begin = *a > begin ? *a : begin;
	begin = *b > begin ? *b : begin;
	r->ready_ms = *a = *b = begin + r->step_ms[step];
}

/*
 * All of them side by side under the budgets, each step of all nodes before the
 * next one; what others have under way is not in it. -1: not known. Without the
 * lock: of the rows' own figures.
 */
static int64_t estimate_ms(const struct budgets *may, struct plan *p)
{
	VS_FREE int64_t *making = vs_calloc((size_t)may->provision + 1,
					    sizeof(*making));
	VS_FREE int64_t *power = vs_calloc((size_t)may->power + 1,
					   sizeof(*power));
	VS_FREE int64_t *hosts = vs_calloc(((size_t)may->nhosts + 1) *
					   (size_t)may->host, sizeof(*hosts));
	int64_t last = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (p->rows[i].alone_ms < 0)
			return -1;
		p->rows[i].ready_ms = p->rows[i].parent_ms;
	}
	for (size_t step = 0; step < STEPS_MAX; step++) {
		for (size_t i = 0; i < p->n; i++) {
			struct row *r = &p->rows[i];
			bool on_off;

			if (step >= r->nsteps)
				continue;
			on_off = r->steps[step] == VS_DO_POWER_ON ||
				r->steps[step] == VS_DO_SHUTDOWN;
			step_time(r, step, on_off ? power : making,
				  on_off ? may->power : may->provision,
				  hosts + (size_t)(r->host < may->nhosts ?
				  r->host : may->nhosts) * (size_t)may->host,
				  may->host);
		}
	}
	for (size_t i = 0; i < p->n; i++) {
		struct row *r = &p->rows[i];

		if (r->nsteps)
			r->ready_ms += r->boot_ms;
		last = r->ready_ms > last ? r->ready_ms : last;
	}
	return last;
}

/* ---- the report -------------------------------------------------------------- */

/* Parents that must be made before. */
static int64_t parents_calls(struct vs_core *c, const struct plan *p)
{
	VS_FREE const struct vs_hold **holds =
		vs_calloc(p->n + 1, sizeof(*holds));
	VS_FREE const struct vs_node **nodes =
		vs_calloc(p->n + 1, sizeof(*nodes));
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		if (clones(&p->rows[i]) && p->rows[i].placed) {
			holds[n] = &p->rows[i].hold;
			nodes[n++] = p->rows[i].n;
		}
	return (int64_t)vs_parents_lacking(c, holds, nodes, n);
}

static struct json_object *row_json(struct vs_core *c, const struct row *r)
{
	struct json_object *o = vs_jb_obj(NULL), *steps = vs_jb_arr();
	const struct vs_host *host = r->placed && !r->waits ?
		vs_host_get(&c->inv, r->hold.host) : NULL;
	int64_t ms = r->alone_ms;
	char pfs[VS_PFS_LEN];

	vs_jb_str(o, "node", r->n->name);
	vs_jb_str(o, "adapter", r->n->profile->adapter->name);
	vs_jb_str(o, "do", what_is_done(r));
	for (size_t i = 0; i < r->nsteps; i++)
		vs_jb_add_str(steps, vs_action_name(r->steps[i]));
	vs_jb_put(o, "steps", steps);
	if (clones(r) && r->n->profile->clone != VS_CLONE_FULL)
		vs_jb_str(o, "clone", vs_clone_name(r->n->profile->clone));
	vs_report_str(o, "host", host ? host->name : NULL);
	vs_report_str(o, "pf", host ? vs_hold_pfs(&r->hold, pfs) : NULL);
	vs_jb_int(o, "calls", (int64_t)r->nsteps);
	if (ms >= 0 && !r->waits)
		vs_jb_int(o, "seconds", (ms + 999) / 1000);
	return o;
}

static struct json_object *going_json(const struct vs_core *c,
				      const struct plan *p)
{
	struct json_object *arr = vs_jb_arr();

	for (size_t i = 0; i < p->ngoing; i++)
		vs_jb_add_str(arr, c->nodes[p->going[i]].name);
	return arr;
}

/* False: as of lend(). Held at the start and at the end, not in
 * between. */
static bool plan_report(struct vs_core *c, struct plan *p, bool sees_nodes,
			struct json_object *top)
{
	const struct budgets may = {
		.provision = c->conf->provision_max,
		.power = c->conf->power_max, .host = c->conf->host_max,
		.nhosts = c->inv.nhosts,
	};
	struct json_object *arr = vs_jb_arr();
	int64_t calls = parents_calls(c, p), busy = 0, ms;

	vs_jb_put(top, "nodes", arr);
	parents_last(c, p);
	for (size_t i = 0; i < p->n; i++) {
		row_measure(c, &p->rows[i]);
		if (!lend(c, p))
			return false;
	}
	vs_unlock();
	ms = estimate_ms(&may, p);
	vs_lock();
	for (size_t i = 0; i < p->n; i++) {
		if (!lend(c, p))
			return false;
		calls += (int64_t)p->rows[i].nsteps;
		busy += vs_job_runs(p->rows[i].n);
		if (sees_nodes)
			vs_jb_add(arr, row_json(c, &p->rows[i]));
	}
	vs_jb_int(top, "time", vs_wall_ms() / 1000);
	vs_jb_bool(top, "served", p->served);
	vs_report_str(top, "text", p->why.text);
	if (p->after_idle)
		vs_jb_bool(top, "after_idle", true);
	if (p->ngoing && sees_nodes)
		vs_jb_put(top, "give_way", going_json(c, p));
	if (p->others)
		vs_jb_int(top, "others", (int64_t)p->others);
	if (busy)
		vs_jb_int(top, "busy", busy);
	vs_jb_int(top, "calls", calls);
	if (p->served) {
		vs_jb_int(top, "seconds", ms < 0 ? c->conf->resume_timeout_s :
			  (ms + 999) / 1000);
		vs_jb_bool(top, "measured", ms >= 0);
	}
	vs_report_notes(c, top, false);
	return true;
}

#define NAMES_AT_ONCE 512	/* that are looked up under the lock, 0.1 ms */

/* Ids of managed nodes among the names, each once. False: as of lend(). */
static bool ids_find(struct vs_core *c, char **names, int *ids, struct plan *p)
{
	VS_FREE bool *seen = vs_calloc(c->nnodes + 1, sizeof(*seen));

	for (size_t i = 0; names[i]; i++) {
		const struct vs_node *node = vs_node_named(c, names[i]);

		p->others += !node;
		if (node && !seen[node->id]) {
			seen[node->id] = true;
			ids[p->n++] = node->id;
		}
		if (i % NAMES_AT_ONCE == NAMES_AT_ONCE - 1 && !lend(c, p))
			return false;
	}
	return lend(c, p);
}

/* Memory whose pages are there: each first touch of a page costs a fault. */
static void *touched(size_t n, size_t size)
{
	void *p = vs_calloc(n, size);

	explicit_bzero(p, n * size);
	return p;
}

/* All that a plan of p->n nodes needs, made without the lock: the pages of
 * 10,000 rows take milliseconds. False: as of lend(). */
static bool rows_make(const struct vs_core *c, struct plan *p)
{
	size_t nodes = c->nnodes;

	vs_unlock();
	p->rows = touched(p->n + 1, sizeof(*p->rows));
	p->work.place = touched(p->n + 1, sizeof(*p->work.place));
	p->work.at = touched(p->n + 1, sizeof(*p->work.at));
	p->work.of = touched(nodes + 1, sizeof(*p->work.of));
	vs_lock();
	return stands(c, p);
}

struct json_object *vs_core_plan(const char *nodes, uint32_t uid,
				 struct vs_err *err)
{
	struct vs_core *c = &vs_core;
	char **names = nodes[0] ? vs_hostlist_expand(nodes) : NULL;
	struct plan p = { 0 };
	struct vs_err never = { 0 };
	struct json_object *top;
	VS_FREE int *ids = NULL;
	bool sees_nodes, ever, whole;

	if (!names) {
		vs_err_set(err, VS_E_REQUEST,
			   "plan: a list of nodes is expected");
		return NULL;
	}
	top = vs_jb_obj(NULL);
	sees_nodes = c->port->sees_nodes(c->port->ctx, uid);
	vs_lock();
	p.epoch = c->epoch;
	p.load_seq = c->load_seq;
	ids = vs_calloc(c->nnodes + 1, sizeof(*ids));
	whole = ids_find(c, names, ids, &p);
	ever = !whole || vs_ask_ever(c, ids, p.n, &never);
	if (whole && ever)
		whole = rows_make(c, &p) && plan_make(c, ids, &p) &&
			plan_report(c, &p, sees_nodes, top);
	vs_unlock();
	plan_free(&p);
	vs_hostlist_free(names);
	if (ever && whole)
		return top;
	vs_jb_free(top);
	if (!whole)
		vs_err_set(err, VS_E_SHORTAGE,
			   "plan: the configuration or vCenter's inventory was read again while the plan was made: ask again");
	else
		vs_err_set(err, VS_E_REQUEST,
			   "can never run on the nodes that Slurm chooses: %s",
			   never.text);
	return NULL;
}
