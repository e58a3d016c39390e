/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preemption: which running jobs' ends would give a job the VFs (or the room)
 * that it lacks? Slurm preempts for CPUs and memory; a VF is held by a VM, of
 * whatever node, and that VM has to go when its job has left.
 *
 * Rules: no job is named whose end isn't needed, none at all if all ends
 * together would not do, or if idle VMs and those on their way out will.
 * Placement itself judges, as if those VMs were gone; nodes that the job is to
 * get keep their VMs. The VMs of those who are named are promised away: no other
 * job gets them, and they go off with their jobs. The lock is held.
 */
#include <stdlib.h>
#include "engine/allocation/allocation.h"
#include "engine/forecast/forecast.h"
#include "engine/jobs/jobs.h"
#include "engine/preemption/preemption.h"
#include "engine/state/state.h"
#include "engine/vmspec/vmspec.h"
#include "util/mem.h"

#define TRIES_MAX 64		/* of sparing some */

struct question {
	struct vs_core *c;
	struct vs_place_env env;
	struct vs_place_node *place;	/* the job's nodes that need one */
	size_t nplace;
	const struct vs_victim *victims;
	size_t nvictims;
	size_t *asked;			/* of victims, nasked that may be named */
	size_t nasked;
	bool *ended;			/* by victim: as if it had */
	bool *in;			/* by node id: one of the job's */
	int *stays;			/* by node id: jobs, 0: its VM is gone */
	struct vs_as_if as_if;
	struct vs_gone *gone;		/* by node id */
	int *changed;			/* hosts, by index, since the last try */
	bool *has_changed;
	size_t nchanged;
	int tries;
};

static void changed(struct question *q, const struct vs_host *h)
{
	if (!h || q->has_changed[h->index])
		return;
	q->has_changed[h->index] = true;
	q->changed[q->nchanged++] = h->index;
}

/* Its VM goes (1), or stays after all (-1). */
static void moves(struct question *q, const struct vs_node *n, int sign)
{
	struct vs_core *c = q->c;
	const struct vs_vm *vm = vs_node_vm(c, n);
	const struct vs_claim *h = vs_ledger_get(&c->ledger, n->name);
	struct vs_gone *g = &q->gone[n->id];

	g->node = n->name;
	g->vm = vm;
	vs_as_if_gone(&q->as_if, g, sign > 0);
	changed(q, vm ? vm->host_ptr : NULL);
	changed(q, h ? vs_host_get(&c->inv, h->host) : NULL);
	if (vm && vs_vm_shown_on(vm))
		vs_as_if_shared(&q->as_if, vm,
				vs_node_pool_wrong(c, vm) ?
					-1 :
					vs_shared_capacity_pool(
						&c->inv, vm->host_ptr->cluster),
				sign);
}

static bool may_move(const struct question *q, int id)
{
	return id >= 0 && (size_t)id < q->c->nnodes && !q->in[id] &&
	       !(q->c->nodes[id].flags & VS_NODE_STAYS);
}

/* A VM goes when the last of the jobs on it has ended. */
static void end(struct question *q, size_t victim, bool ended)
{
	const struct vs_victim *v = &q->victims[victim];

	if (q->ended[victim] == ended)
		return;
	q->ended[victim] = ended;
	for (size_t k = 0; k < v->n; k++) {
		int id = v->ids[k];

		if (!may_move(q, id) || vs_node_gives_way(&q->c->nodes[id]))
			continue;
		q->stays[id] += ended ? -1 : 1;
		if (q->stays[id] == (ended ? 0 : 1))
			moves(q, &q->c->nodes[id], ended ? 1 : -1);
	}
}

/* Could all of the job's nodes be had if those VMs were gone? */
static bool fits(struct question *q)
{
	while (q->nchanged) {
		int index = q->changed[--q->nchanged];

		q->has_changed[index] = false;
		vs_as_if_host(&q->as_if, index);
	}
	return vs_place_could(&q->env, q->place, q->nplace);
}

/* As if the first so many had ended. */
static bool fits_after(struct question *q, size_t many)
{
	for (size_t i = 0; i < q->nasked; i++)
		end(q, q->asked[i], i < many);
	return fits(q);
}

/* Some VM of its jobs has a VF that one of the job's nodes might take. */
static bool has_vfs(const struct question *q, const struct vs_victim *v)
{
	struct vs_core *c = q->c;

	for (size_t i = 0; i < v->n; i++) {
		const struct vs_claim *h;
		const struct vs_node *n;

		if (!may_move(q, v->ids[i]))
			continue;
		n = &c->nodes[v->ids[i]];
		h = vs_ledger_get(&c->ledger, n->name);
		for (size_t k = 0; h && h->nvfs && k < q->nplace; k++)
			if (vs_forecast_shared(c, n->profile,
					       q->place[k].profile))
				return true;
	}
	return false;
}

/* Those alone, or all of them. */
static void ask(struct question *q, bool all)
{
	fits_after(q, 0);
	q->nasked = 0;
	for (size_t i = 0; i < q->nvictims; i++)
		if (all || has_vfs(q, &q->victims[i]))
			q->asked[q->nasked++] = i;
}

/* Nodes that no end of a job would help. */
static bool barred(struct vs_core *c, const int *ids, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct vs_node_summary *k = vs_node_summary_get(c,
								      ids[i]);

		if ((!k->place && k->avail == VS_AVAIL_NONE) || k->barred ||
		    vs_clone_blocked(c, &c->nodes[ids[i]]))
			return true;
	}
	return false;
}

static void give(const struct question *q, uint32_t job,
		 const struct vs_victim *v)
{
	for (size_t i = 0; i < v->n; i++) {
		struct vs_node *n;

		if (!may_move(q, v->ids[i]) || q->stays[v->ids[i]])
			continue;
		n = &q->c->nodes[v->ids[i]];
		vs_info("node=%s its VM is released with its job, for JobId=%u",
			n->name, job);
		vs_node_promise(n, vs_clock());
		vs_node_mark_changed(n);
	}
}

/* How many of the first do it; 0: all of them would not. */
static size_t first_enough(struct question *q)
{
	size_t lo = 0, hi = 1;

	while (hi < q->nasked && !fits_after(q, hi)) {
		lo = hi;
		hi *= 2;
	}
	if (hi >= q->nasked) {
		hi = q->nasked;
		if (!hi || !fits_after(q, hi))
			return 0;
	}
	while (lo + 1 < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (fits_after(q, mid))
			hi = mid;
		else
			lo = mid;
	}
	fits_after(q, hi);
	return hi;
}

/* Which of these are not needed? Those whose turn would come last are spared
 * first; halves at a time, for few jobs often have all that is wanted. */
static void spare(struct question *q, size_t from, size_t to)
{
	if (from >= to || q->tries++ >= TRIES_MAX)
		return;
	for (size_t i = from; i < to; i++)
		end(q, q->asked[i], false);
	if (fits(q))
		return;
	for (size_t i = from; i < to; i++)
		end(q, q->asked[i], true);
	if (from + 1 == to)
		return;
	spare(q, from + (to - from) / 2, to);
	spare(q, from, from + (to - from) / 2);
}

/* If VFs are what is missing, jobs without VFs are no candidates. */
static int choose(struct question *q)
{
	size_t many;
	int taken = 0;

	q->tries = 0;
	ask(q, false);
	many = first_enough(q);
	if (!many) {
		ask(q, true);
		many = first_enough(q);
	}
	if (!many)
		return -1;
	spare(q, 0, many - 1);
	for (size_t i = 0; i < q->nvictims; i++)
		taken += q->ended[i];
	return taken;
}

static void question_end(struct question *q)
{
	vs_as_if_end(&q->as_if);
	free(q->gone);
	free(q->place);
	free(q->asked);
	free(q->ended);
	free(q->in);
	free(q->stays);
	free(q->changed);
	free(q->has_changed);
}

static void question_begin(struct question *q, struct vs_core *c,
			   const int *ids, size_t n)
{
	size_t nhosts = (size_t)c->inv.nhosts + 1;

	q->c = c;
	q->place = vs_calloc(n + 1, sizeof(*q->place));
	q->asked = vs_calloc(q->nvictims + 1, sizeof(*q->asked));
	q->ended = vs_calloc(q->nvictims + 1, sizeof(*q->ended));
	q->in = vs_calloc(c->nnodes + 1, sizeof(*q->in));
	q->stays = vs_calloc(c->nnodes + 1, sizeof(*q->stays));
	q->gone = vs_calloc(c->nnodes + 1, sizeof(*q->gone));
	q->changed = vs_calloc(nhosts, sizeof(*q->changed));
	q->has_changed = vs_calloc(nhosts, sizeof(*q->has_changed));
	vs_env_fill(c, &q->env);
	vs_as_if_begin(&q->as_if, q->env.sums, &c->ledger, &c->inv);
	for (size_t i = 0; i < n; i++) {
		q->in[ids[i]] = true;
		if (c->kept[ids[i]].place)
			vs_place_node_fill(c, &c->nodes[ids[i]],
					   &q->place[q->nplace++]);
	}
	for (size_t i = 0; i < c->nnodes; i++) {
		const struct vs_node *node = &c->nodes[i];
		bool idle = !q->in[i] && vs_node_gives_way(node);

		q->stays[i] = idle ? 0 : 1 + (int)node->claims.nbeside;
		if (idle)
			moves(q, node, 1);
	}
}

/* Those that have been chosen are named, and their VMs given. */
static void carry_out(struct question *q, uint32_t job, bool *take)
{
	for (size_t i = 0; i < q->nvictims; i++) {
		if (!q->ended[i])
			continue;
		take[i] = true;
		give(q, job, &q->victims[i]);
	}
}

int vs_preemption_victims(struct vs_core *c, uint32_t job, const int *ids,
			  size_t n, const struct vs_victim *victims,
			  size_t nvictims, bool *take)
{
	struct question q = { .victims = victims, .nvictims = nvictims };
	int taken;

	vs_assert_locked();
	for (size_t i = 0; i < nvictims; i++)
		take[i] = false;
	for (size_t i = 0; i < n; i++)
		if (ids[i] < 0 || (size_t)ids[i] >= c->nnodes)
			return -1;
	if (vs_query_blocked(c) || barred(c, ids, n))
		return -1;
	question_begin(&q, c, ids, n);
	taken = fits(&q) ? 0 : choose(&q);
	if (taken > 0)
		carry_out(&q, job, take);
	question_end(&q);
	return taken;
}
