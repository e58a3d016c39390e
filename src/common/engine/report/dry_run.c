/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What would be done for a job that got these nodes now (shape: report.h):
 * asked of the very functions that do it (dry_run_places.c, the step table), so that
 * the plan and what is done can't differ. Takes no hold, notes nothing, sends
 * nothing. Seconds are estimates (durations.c).
 *
 * Any user may ask, for all nodes at once. So the lock is lent between two nodes,
 * and places and estimate are made without it, of copies. A configuration that
 * changed meanwhile, or an inventory that is loaded again, ends the plan. All
 * places are of one moment. The steps of a node are found after that: if one of
 * the nodes has changed in between, the plan starts over. Where nodes change all
 * the time, the last try stays, and shows what such a node has become since.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/clone_source/clone_source.h"
#include "engine/forecast/forecast.h"
#include "engine/preemption/preemption.h"
#include "engine/report/report.h"
#include "engine/report/report_i.h"
#include "engine/slurm/lookup.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "engine/vmspec/vmspec.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/time.h"

#define STEPS_MAX 6		/* off, destroyed, cloned, on: 4 are the most */
#define TRIES_MAX 3		/* while nodes change */
#define SOME_JOB UINT32_MAX	/* one that no VM was ever made for */

struct row {
	struct vs_node *n;
	const struct vs_plan_want *want;
	const struct vs_claim *hold;	/* it has or would have it; or NULL */
	enum vs_action steps[STEPS_MAX];
	size_t nsteps;
	bool waits;			/* it can't be served now */
	int64_t parent_ms;		/* until there is what its VM is cloned
					 * of; -1: never measured */
	int64_t step_ms[STEPS_MAX], boot_ms;	/* how long each lasts */
	int64_t alone_ms;		/* all of it; -1: not known */
	int64_t ready_ms;		/* while the estimate is made */
};

struct plan {
	struct row *rows;		/* as the nodes were named */
	struct row **row_of;		/* by node id, while none is found */
	struct vs_plan_places places;
	int *ids;			/* as they were named, each once */
	size_t n, others;
	size_t nodes, profiles;		/* that there are */
	bool after_idle;		/* it is served when idle VMs are off, */
	int *going;			/* and these would be asked to go */
	size_t ngoing;
	struct vs_clone_source_asked *parents;
	int64_t calls;			/* to vCenter, for parents too */
	int resume_timeout_s;		/* the nodes' longest, 0: not known */
	bool queued;			/* jobs of their partitions are pending */
	struct vs_plan_base base;
};

bool vs_plan_stands(const struct vs_core *c, const struct vs_plan_base *b)
{
	return c->epoch == b->epoch && vs_load_seq() == b->load_seq;
}

/* The nodes of a plan and not all, so each.c does not do; a plan ends also when the
 * inventory is loaded again. */
bool vs_plan_yield(const struct vs_core *c, const struct vs_plan_base *b)
{
	vs_lock_yield();
	return vs_plan_stands(c, b);
}

static bool lend(const struct vs_core *c, const struct plan *p)
{
	return vs_plan_yield(c, &p->base);
}

static void plan_free(void *arg)
{
	struct plan *p = arg;

	vs_plan_places_free(&p->places);
	vs_clone_sources_asked_free(p->parents);
	free(p->rows);
	free(p->ids);
	free(p->row_of);
	free(p->going);
}

/* ---- steps ------------------------------------------------------------------- */

/* The VM as it would be after that step; what is seen of it then. */
static enum vs_observed after(struct vs_core *c, const struct row *r,
			      enum vs_action a, struct vs_vm *vm)
{
	const char *pool;

	switch (a) {
	case VS_DO_CLONE:
		return vs_node_clone_plain(r->n) ? VS_OBSERVED_OFF_OTHER :
			VS_OBSERVED_OFF;
	case VS_DO_POWER_ON:
	case VS_DO_INSTANT:
		return VS_OBSERVED_ON;
	case VS_DO_DESTROY:
		return vs_node_observed_none(r->n);
	case VS_DO_SHUTDOWN:
		vm->power = VS_POWER_OFF;
		break;
	case VS_DO_RELOCATE:
		vs_strlcpy(vm->host, r->hold->host, sizeof(vm->host));
		vm->host_ptr = vs_host_get(&c->inv, vm->host);
		pool = vs_host_pool(c, vm->host_ptr);
		vs_strlcpy(vm->pool, pool ? pool : "", sizeof(vm->pool));
		break;
	default:
		return VS_OBSERVED_OFF;
	}
	return vs_node_observed_off(c, r->n, vm, r->hold, SOME_JOB, 0);
}

static void steps_find(struct vs_core *c, struct row *r)
{
	const struct vs_vm *now = vs_node_vm(c, r->n);
	struct vs_vm vm = { 0 };
	enum vs_observed seen = vs_node_observed_none(r->n);

	if (now)
		vm = *now;
	if (now && vm.power == VS_POWER_ON)
		seen = vs_job_runs(r->n) ||
			vs_node_vm_right(c, r->n, now, SOME_JOB, 0) ?
			VS_OBSERVED_ON : VS_OBSERVED_ON_WRONG;
	else if (now)
		seen = vs_node_observed_off(c, r->n, now, r->hold, SOME_JOB, 0);
	r->nsteps = 0;
	while (r->nsteps < STEPS_MAX) {
		enum vs_action a = vs_next_action(VS_DESIRED_ON, seen);

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

/* In the words of a waiting job's reason. */
static void say_why(struct vs_core *c, struct plan *p)
{
	char why[256] = "", words[256];
	size_t room = vs_query_capacity(c, p->ids, p->n, NULL, why,
					sizeof(why));

	if (room >= p->n)
		return;
	vs_shortage_text(c, p->ids, p->n, p->n, room, why, words,
			 sizeof(words));
	vs_err_set(&p->places.why, VS_E_SHORTAGE, "%s", words);
}

/* It can't be had now: why, and whether idle VMs could give way. The second is
 * the scheduler's own question, and one piece. False: as of lend(). */
static bool not_served(struct vs_core *c, struct plan *p)
{
	if (c->observe)
		return true;
	say_why(c, p);
	if (!lend(c, p))
		return false;
	p->after_idle = !vs_preemption_victims(c, 0, p->ids, p->n, NULL, 0,
					       NULL);
	if (!p->after_idle || !lend(c, p))
		return !p->after_idle;
	p->going = vs_calloc(c->nnodes + 1, sizeof(*p->going));
	p->ngoing = vs_reclaim_would(c, p->ids, p->n, p->going);
	return lend(c, p);
}

/* The names that a new place's hold lacks. */
static void hold_name(struct vs_core *c, const struct vs_node *n,
		      struct vs_claim *h)
{
	const struct vs_vm *vm = vs_node_vm(c, n);

	vs_strlcpy(h->node, n->name, sizeof(h->node));
	vs_strlcpy(h->vm, vm ? vm->moid : "", sizeof(h->vm));
}

static void row_fill(struct vs_core *c, struct vs_plan_want *w, bool served,
		     struct row *r)
{
	r->n = &c->nodes[w->id];
	r->want = w;
	r->hold = w->placed ? &w->hold : NULL;
	if (r->hold)
		hold_name(c, r->n, &w->hold);
	r->waits = !served && (!r->hold || vs_query_blocked(c) ||
		vs_node_avail(c, r->n) == VS_AVAIL_NONE);
	r->nsteps = 0;
	if (!r->waits)
		steps_find(c, r);
}

/* False: as of lend(). *changed: a node has, since its place was found. */
static bool rows_fill(struct vs_core *c, struct plan *p, bool *changed)
{
	*changed = false;
	for (size_t i = 0; i < p->n; i++) {
		struct vs_plan_want *w = &p->places.wants[i];

		if (!lend(c, p))
			return false;
		*changed |= w->version != vs_node_summary_version(c, w->id);
		row_fill(c, w, p->places.served, p->row_of[w->id]);
	}
	return lend(c, p);
}

/* False: as of lend(). */
static bool plan_make(struct vs_core *c, struct plan *p)
{
	bool changed = true;

	for (int i = 0; i < TRIES_MAX && changed; i++) {
		if (!vs_plan_places_find(c, &p->places, &p->base))
			return false;
		if (p->places.never)
			return true;
		if (!rows_fill(c, p, &changed))
			return false;
	}
	return p->places.served ? lend(c, p) : not_served(c, p);
}

/*
 * The most calls for a row. Nothing tells before the first clone whether vCenter
 * refuses devices there.
 */
static size_t calls_most(const struct row *r)
{
	size_t most = r->nsteps;

	for (size_t i = 0; i < r->nsteps; i++)
		if (r->steps[i] == VS_DO_CLONE && !vs_clone_way_known() &&
		    vs_adapter_takes(r->n->profile->adapter))
			most += VS_CLONE_TRIAL_CALLS;
	return most;
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

/* What the estimate needs of a row; alone_ms -1: something of it was never
 * measured. */
static void row_measure(const struct vs_core *c, struct row *r,
			struct plan *p)
{
	const struct vs_profile *profile = r->n->profile;
	bool known;

	r->alone_ms = 0;
	if (!r->nsteps)
		return;
	if (clones(r) && r->hold)
		r->parent_ms = vs_clone_source_ask(c, r->n, r->hold,
						   &p->parents, &p->calls);
	known = r->parent_ms >= 0;
	for (size_t i = 0; i < r->nsteps; i++) {
		r->step_ms[i] = vs_duration_ms(profile, op_of(r->steps[i]));
		known &= r->step_ms[i] >= 0;
		r->alone_ms += r->step_ms[i];
	}
	r->boot_ms = vs_duration_ms(profile, VS_DURATION_BOOT);
	known &= r->boot_ms >= 0;
	r->alone_ms = known ? r->alone_ms + r->boot_ms + r->parent_ms : -1;
}

struct budgets {
	struct plan *p;
	int provision, power, host, nhosts;
	int64_t last_ms;		/* the answer; -1: not known */
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
 * next one; what others have under way is not in it. Without the lock: of the rows'
 * own figures.
 */
static void estimate(void *arg)
{
	struct budgets *may = arg;
	struct plan *p = may->p;
	VS_FREE int64_t *making = vs_calloc((size_t)may->provision + 1,
					    sizeof(*making));
	VS_FREE int64_t *power = vs_calloc((size_t)may->power + 1,
					   sizeof(*power));
	VS_FREE int64_t *hosts = vs_calloc(((size_t)may->nhosts + 1) *
					   (size_t)may->host, sizeof(*hosts));
	int64_t last = 0;

	may->last_ms = -1;
	for (size_t i = 0; i < p->n; i++) {
		if (p->rows[i].alone_ms < 0)
			return;
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
				  hosts + (size_t)(r->hold ? r->want->host_at :
				  may->nhosts) * (size_t)may->host,
				  may->host);
		}
	}
	for (size_t i = 0; i < p->n; i++) {
		struct row *r = &p->rows[i];

		if (r->nsteps)
			r->ready_ms += r->boot_ms;
		last = r->ready_ms > last ? r->ready_ms : last;
	}
	may->last_ms = last;
}

/* ---- the report -------------------------------------------------------------- */

static struct json_object *row_json(const struct row *r, size_t most)
{
	struct json_object *o = vs_jb_obj(NULL), *steps = vs_jb_arr();
	bool placed = r->hold && !r->waits && r->want->host[0];
	int64_t ms = r->alone_ms;
	char pfs[VS_PFS_LEN];

	vs_jb_str(o, "node", r->n->name);
	vs_jb_str(o, "adapter", r->n->profile->adapter->name);
	vs_jb_str(o, "action", what_is_done(r));
	for (size_t i = 0; i < r->nsteps; i++)
		vs_jb_add_str(steps, vs_action_name(r->steps[i]));
	vs_jb_put(o, "steps", steps);
	if (clones(r) && r->n->profile->clone != VS_CLONE_FULL)
		vs_jb_str(o, "clone", vs_clone_name(r->n->profile->clone));
	vs_report_str(o, "host", placed ? r->want->host : NULL);
	vs_report_str(o, "pf", placed ? vs_claim_pfs(r->hold, pfs) : NULL);
	vs_jb_int(o, "calls", (int64_t)r->nsteps);
	if (most > r->nsteps)
		vs_jb_int(o, "calls_max", (int64_t)most);
	if (ms >= 0 && !r->waits)
		vs_jb_int(o, "seconds", (ms + 999) / 1000);
	return o;
}

/* Is no node kept from a new job by anything that Slurm has against it? */
static bool all_idle(const struct plan *p)
{
	const uint32_t taken = VS_NODE_ALLOCATED | VS_NODE_COMPLETING |
		VS_NODE_DOWN | VS_NODE_DRAIN | VS_NODE_TAKEN |
		VS_NODE_NO_RESPOND | VS_NODE_POWERING_DOWN |
		VS_NODE_POWER_DOWN_ASKED;

	for (size_t i = 0; i < p->n; i++)
		if (p->rows[i].n->flags & taken)
			return false;
	return true;
}

static void times_json(const struct vs_core *c, const struct plan *p,
		       int64_t last_ms, struct json_object *top)
{
	int timeout_s = p->resume_timeout_s ? p->resume_timeout_s :
		c->conf->slurm.resume_timeout_s;

	vs_jb_int(top, "seconds", last_ms < 0 ? timeout_s :
		  (last_ms + 999) / 1000);
	vs_jb_bool(top, "measured", last_ms >= 0);
	if (p->queued && all_idle(p))
		vs_jb_bool(top, "queued", true);
}

static struct json_object *going_json(const struct vs_core *c,
				      const struct plan *p)
{
	struct json_object *arr = vs_jb_arr();

	for (size_t i = 0; i < p->ngoing; i++)
		vs_jb_add_str(arr, c->nodes[p->going[i]].name);
	return arr;
}

/* False: as of lend(). */
static bool plan_report(struct vs_core *c, struct plan *p, bool sees_nodes,
			struct json_object *top)
{
	struct budgets may = {
		.p = p, .provision = c->conf->max_provision_ops,
		.power = c->conf->max_power_ops, .host = c->conf->max_ops_per_host,
		.nhosts = p->places.hosts,
	};
	struct json_object *arr = vs_jb_arr();
	int64_t busy = 0, more = 0;

	vs_jb_put(top, "nodes", arr);
	for (size_t i = 0; i < p->n; i++) {
		row_measure(c, &p->rows[i], p);
		if (!lend(c, p))
			return false;
	}
	vs_lock_yield_to(estimate, &may);
	for (size_t i = 0; i < p->n; i++) {
		size_t most;

		if (!lend(c, p))
			return false;
		most = calls_most(&p->rows[i]);
		p->calls += (int64_t)p->rows[i].nsteps;
		more += (int64_t)(most - p->rows[i].nsteps);
		busy += vs_job_runs(p->rows[i].n);
		if (sees_nodes)
			vs_jb_add(arr, row_json(&p->rows[i], most));
	}
	vs_jb_int(top, "time", vs_wall_ms() / 1000);
	vs_jb_bool(top, "served", p->places.served);
	vs_report_str(top, "reason", p->places.why.text);
	if (p->after_idle)
		vs_jb_bool(top, "after_reclaim", true);
	if (p->ngoing && sees_nodes)
		vs_jb_put(top, "reclaimed_nodes", going_json(c, p));
	if (p->others)
		vs_jb_int(top, "unmanaged_nodes", (int64_t)p->others);
	if (busy)
		vs_jb_int(top, "busy_nodes", busy);
	vs_jb_int(top, "calls", p->calls);
	if (more)
		vs_jb_int(top, "calls_max", p->calls + more);
	if (p->places.served)
		times_json(c, p, may.last_ms, top);
	vs_report_notes(c, top, false);
	return true;
}

#define NAMES_AT_ONCE 512	/* that are looked up under the lock, 0.1 ms */

/* Ids of managed nodes among the names, each once. False: as of lend(). */
static bool ids_find(struct vs_core *c, char **names, struct plan *p)
{
	VS_FREE bool *seen = vs_calloc(c->nnodes + 1, sizeof(*seen));

	for (size_t i = 0; names[i]; i++) {
		const struct vs_node *node = vs_node_named(c, names[i]);

		p->others += !node;
		if (node && !seen[node->id]) {
			seen[node->id] = true;
			p->ids[p->n++] = node->id;
		}
		if (i % NAMES_AT_ONCE == NAMES_AT_ONCE - 1 && !lend(c, p))
			return false;
	}
	return lend(c, p);
}

/* All that a plan of p->n nodes needs, made without the lock: the pages of
 * 10,000 rows take milliseconds. */
static void rows_make(void *arg)
{
	struct plan *p = arg;

	p->rows = vs_calloc(p->n + 1, sizeof(*p->rows));
	/* each first touch of a page costs a fault */
	explicit_bzero(p->rows, (p->n + 1) * sizeof(*p->rows));
	p->row_of = vs_calloc(p->nodes + 1, sizeof(*p->row_of));
	for (size_t i = 0; i < p->n; i++)
		p->row_of[p->ids[i]] = &p->rows[i];
	vs_plan_places_alloc(&p->places, p->ids, p->n, p->profiles);
}

static bool rows_made(const struct vs_core *c, struct plan *p)
{
	vs_lock_yield_to(rows_make, p);
	return vs_plan_stands(c, &p->base);
}

struct slurm_has {		/* for a new job on these nodes */
	char **names;
	int resume_timeout_s;
	bool queued;
};

/* Without the lock: of thousands of names, perhaps. */
static void slurm_ask(void *arg)
{
	const struct vs_viewer all = { .sees_jobs = true };
	VS_FREE struct vs_slurm_node_job *rows = NULL;
	struct vs_lookup l = { .viewer = &all };
	struct slurm_has *has = arg;

	while (has->names[l.n])
		l.n++;
	l.nodes = rows = vs_calloc(l.n + 1, sizeof(*rows));
	for (size_t i = 0; i < l.n; i++)
		rows[i].node = has->names[i];
	vs_lookup_nodes_jobs(&l);
	for (size_t i = 0; i < l.n; i++) {
		has->queued |= rows[i].queued;
		if (rows[i].resume_timeout_s > has->resume_timeout_s)
			has->resume_timeout_s = rows[i].resume_timeout_s;
	}
}

/* False: as of lend(). */
static bool slurm_asked(const struct vs_core *c, struct plan *p, char **names)
{
	struct slurm_has has = { .names = names };

	vs_lock_yield_to(slurm_ask, &has);
	p->resume_timeout_s = has.resume_timeout_s;
	p->queued = has.queued;
	return vs_plan_stands(c, &p->base);
}

int vs_report_plan(struct vs_core *c, struct json_object *top, char **names,
		   bool sees_nodes, struct vs_err *err)
{
	struct plan p = {
		.base = { c->epoch, vs_load_seq() },
		.ids = vs_calloc(c->nnodes + 1, sizeof(*p.ids)),
		.nodes = c->nnodes, .profiles = c->nprofiles,
	};
	bool whole;

	vs_assert_locked();
	whole = ids_find(c, names, &p) && rows_made(c, &p) &&
		slurm_asked(c, &p, names) &&
		plan_make(c, &p) &&
		(p.places.never || plan_report(c, &p, sees_nodes, top));
	if (!whole)
		vs_err_set(err, VS_E_SHORTAGE,
			   "plan: the configuration or vCenter's inventory was read again while the plan was made: ask again");
	else if (p.places.never)
		vs_err_set(err, VS_E_REQUEST,
			   "can never run on the nodes that Slurm chooses: %s",
			   p.places.why.text);
	whole &= !p.places.never;
	vs_lock_yield_to(plan_free, &p);
	return whole ? 0 : -1;
}
