/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When could these nodes' VMs all be there, and who goes before whom? Asked
 * inside Slurm's scheduler: what comes free is kept per kind of VM, and follows
 * what changes.
 *
 * With no more nodes than VFs, Slurm's own reservation of nodes is one of VFs too,
 * and nothing is added to it; plans count with AllowMoreNodesThanVFs=yes. The lock
 * is held.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/forecast/forecast.h"
#include "engine/forecast/forecast_i.h"
#include "engine/hosts/hosts.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "plan/inventory/shared_devices.h"
#include "util/mem.h"
#include "util/time.h"

#define SOON 60			/* s: vCenter is at work on it */
#define SOON_MOST_MS 300000	/* and it isn't believed for longer */
#define IN_ORDER_MS 70000	/* longer than two of Slurm's full passes */

/* ---- what a kind gains ------------------------------------------------------------ */

const struct vs_curve *vs_forecast_curve(struct vs_core *c, size_t kind)
{
	struct vs_capacity_released *g = &vs_forecast.kinds[kind].gains;
	struct vs_profile *p = &c->profiles[kind];
	struct vs_place_node like = {
		.node = "", .profile = p,
		.net = &c->nets[p->adapter - c->adapters],
	};
	struct vs_place_env env;

	vs_env_fill(c, &env);
	vs_capacity_released_follow(g, &vs_forecast.timeline, &env, &like);
	return &g->curve;
}

/* ---- kinds that want the same VFs ------------------------------------------------- */

/* The row is of use to it, or vGPUs of that profile take of the GPUs that it
 * needs. */
static bool draws_on(const struct vs_adapter *a, const struct vs_network *net,
		     const struct vs_host *h, int row)
{
	for (int i = 0; i < h->npfs; i++)
		if ((i == row || vs_entry_crowds(h, i, row)) &&
		    vs_pf_serves(a, net, &h->pfs[i]))
			return true;
	return false;
}

static bool same_vfs(const struct vs_core *c, const struct vs_profile *a,
		     const struct vs_profile *b)
{
	const struct vs_network *na = &c->nets[a->adapter - c->adapters];
	const struct vs_network *nb = &c->nets[b->adapter - c->adapters];

	if (a->adapter == b->adapter)
		return true;
	if (!vs_adapter_takes(a->adapter) ||
	    !vs_adapter_takes(b->adapter))
		return false;
	for (const struct vs_host *h = c->inv.hosts; h; h = h->hh.next)
		for (int i = 0; i < h->npfs; i++)
			if (vs_pf_serves(b->adapter, nb, &h->pfs[i]) &&
			    draws_on(a->adapter, na, h, i))
				return true;
	return false;
}

static void shared_renew(struct vs_core *c)
{
	struct vs_forecast *w = &vs_forecast;

	if (w->shared_of == c->inv.hosts_itself + 1)
		return;
	w->shared_of = c->inv.hosts_itself + 1;
	for (size_t a = 0; a < w->nkinds; a++)
		for (size_t b = 0; b < w->nkinds; b++)
			w->timeline.shared[a * w->nkinds + b] =
				same_vfs(c, &c->profiles[a], &c->profiles[b]);
}

/* ---- questions -------------------------------------------------------------------- */

/* w->need: how many of each kind. */
static size_t *count_kinds(struct vs_core *c, const int *ids, size_t n)
{
	size_t *need = vs_forecast.need;

	memset(need, 0, vs_forecast.nkinds * sizeof(*need));
	for (size_t i = 0; i < n; i++)
		if (vs_node_at(c, ids[i]))
			need[c->kept[ids[i]].profile]++;
	return need;
}

static bool rule_b(const struct vs_core *c)
{
	return c->conf->allow_more_nodes_than_vfs && vs_forecast.timeline.nplans;
}

static struct vs_applicant applicant(const struct vs_requesting_job *a,
				     size_t kind)
{
	return (struct vs_applicant) {
		.job = a->job, .rank = a->rank, .kind = kind,
		.reserved = a->reserved,
	};
}

static bool want_the_same(const struct vs_forecast *w, size_t a, size_t b)
{
	return a == b || w->timeline.shared[a * w->nkinds + b];
}

bool vs_forecast_shared(struct vs_core *c, const struct vs_profile *a,
			const struct vs_profile *b)
{
	shared_renew(c);
	return want_the_same(&vs_forecast, (size_t)(a - c->profiles),
			     (size_t)(b - c->profiles));
}

enum waits_for { FOR_ROOM, FOR_A_WHILE, FOR_UNKNOWN };

/* What such nodes that want a place have, and need besides capacity. */
struct wants {
	int *holding;			/* these hold what they need */
	size_t nholding, more;		/* so many need a place, */
	bool fresh;			/* some of them with a new VM */
};

/*
 * Those among them that want what this kind wants. A start that is always a
 * minute ahead would have backfill keep all that is free for a job that waits
 * for an administrator: where no end is known, the answer is unknown.
 */
static enum waits_for sort_out(struct vs_core *c, const int *ids, size_t n,
			       size_t kind, struct wants *w)
{
	enum waits_for waits = FOR_ROOM;

	w->nholding = w->more = 0;
	w->fresh = false;
	for (size_t i = 0; i < n; i++) {
		const struct vs_node_summary *k;

		if (!vs_node_at(c, ids[i]))
			continue;
		k = vs_node_summary_get(c, ids[i]);
		if (!want_the_same(&vs_forecast, kind, (size_t)k->profile))
			continue;
		if (k->lasts)
			return FOR_UNKNOWN;
		if (k->holds) {
			w->holding[w->nholding++] = ids[i];
			continue;
		}
		if (!k->place && k->unserved_ms &&
		    vs_clock() - k->unserved_ms > SOON_MOST_MS)
			return FOR_UNKNOWN;
		if (!k->place)
			waits = FOR_A_WHILE;
		w->more++;
		w->fresh |= !k->exists;
	}
	return w->fresh && c->now[kind].missing[0] ? FOR_UNKNOWN : waits;
}

static int64_t later_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* By the VFs alone, then by those who go before. */
static int64_t kind_when(struct vs_core *c, const struct vs_requesting_job *a,
			 size_t kind, const struct wants *w, int64_t from)
{
	struct vs_timeline *t = &vs_forecast.timeline;
	bool plans = rule_b(c);
	size_t room = vs_capacity_profile(c, kind)->room[!w->fresh],
	       more = w->more;
	struct vs_applicant who = applicant(a, kind);
	const struct vs_curve *v;
	int64_t at;

	if (more > room) {
		more -= room;
		v = vs_forecast_curve(c, kind);
		at = vs_curve_first_at(v, t, more, w->holding, w->nholding);
		if (at == VS_TIME_NEVER)
			return VS_TIME_NEVER;
		from = later_of(from,
				later_of(at, a->now) + vs_power_down_s(c));
	}
	if (!plans)
		return from;
	return vs_timeline_start(t, vs_forecast_curve(c, kind), &who, room,
				 w->nholding + w->more, from, a->lasts);
}

/* By a configuration, by an operator's pause, by its own account, or by a vCenter
 * that has been away for minutes. */
static bool blocked_for_long(const struct vs_core *c)
{
	return c->observe || c->blocked[0] || c->unserved[0] || vs_pause_get() ||
		(c->vc_state[0] &&
		 vs_wall_ms() - vs_vc_since_ms() > SOON_MOST_MS);
}

static int64_t when_all(struct vs_core *c, const struct vs_requesting_job *a,
			const int *ids, size_t n, int64_t from)
{
	VS_FREE int *holding = vs_calloc(n + 1, sizeof(*holding));
	struct wants w = { .holding = holding };
	int64_t at = from, soon = later_of(from, a->now + SOON);
	const size_t *need;

	if (vs_query_blocked(c))
		return blocked_for_long(c) ? a->now + VS_START_UNKNOWN : soon;
	soon = later_of(soon, vs_clones_open(c));
	shared_renew(c);
	need = count_kinds(c, ids, n);
	for (size_t kind = 0; kind < vs_forecast.nkinds; kind++) {
		int64_t when = soon;

		if (!need[kind])
			continue;
		switch (sort_out(c, ids, n, kind, &w)) {
		case FOR_ROOM:
			when = kind_when(c, a, kind, &w, from);
			break;
		case FOR_A_WHILE:
			break;
		case FOR_UNKNOWN:
			when = VS_TIME_NEVER;
		}
		if (when == VS_TIME_NEVER)
			return a->now + VS_START_UNKNOWN;
		at = later_of(at, when);
	}
	return at;
}

/* The later it begins the more planned maintenance it would run into. */
int64_t vs_start_time(struct vs_core *c, const struct vs_requesting_job *a,
		      const int *ids, size_t n, int64_t from)
{
	int64_t was = vs_until_set(later_of(from, a->now) + a->lasts), at;
	size_t barring;

	vs_assert_locked();
	do {
		barring = vs_windows_barring();
		at = when_all(c, a, ids, n, from);
		vs_until_set(at + a->lasts);
	} while (vs_windows_barring() > barring);
	vs_until_set(was);
	return at;
}

/* All are of this kind, and could be served if there were room for them. */
static bool only_room_lacks(struct vs_core *c, const int *ids, size_t n,
			    size_t kind)
{
	for (size_t i = 0; i < n; i++) {
		const struct vs_node_summary *k;

		if (!vs_node_at(c, ids[i]))
			return false;
		k = vs_node_summary_get(c, ids[i]);
		if (k->avail == VS_AVAIL_NONE || (size_t)k->profile != kind)
			return false;
	}
	return !c->now[kind].barred[0] && !c->now[kind].missing[0];
}

static bool some_free(struct vs_core *c, const struct vs_adapter *a)
{
	const struct vs_free_capacity *sums = vs_free_capacity_get(c);

	for (const struct vs_host *h = c->inv.hosts; h; h = h->hh.next)
		for (int i = 0; i < h->npfs; i++)
			if (sums->hosts[h->index].pf[i].free > 0 &&
			    vs_pf_reaches(a, &c->nets[a - c->adapters],
					  &h->pfs[i]))
				return true;
	return false;
}

/* Else it is something else that there is no room for. All hosts answer that:
 * the answer is kept until one of them changes. */
bool vs_forecast_vf_is_free(struct vs_core *c, size_t kind)
{
	const struct vs_adapter *a = c->profiles[kind].adapter;
	struct vs_forecast_profile *k = &vs_forecast.kinds[kind];
	uint64_t of = vs_free_capacity_get(c)->generation;

	if (k->vf_free_of == of && k->vf_free_facts == c->facts_epoch)
		return k->vf_free;
	k->vf_free = (!vs_adapter_vfs(a) || some_free(c, a)) &&
		     (!a->with || some_free(c, a->with));
	k->vf_free_of = of;
	k->vf_free_facts = c->facts_epoch;
	return k->vf_free;
}

/* How many VFs that such VMs want does this node's have? */
static size_t vfs_of(const struct vs_core *c, int id, size_t kind)
{
	size_t its = (size_t)c->kept[id].profile;

	return want_the_same(&vs_forecast, kind, its) ?
		(size_t)vs_adapter_takes(c->profiles[its].adapter) : 0;
}

/* All holders are gone through only when one of them has changed. */
const size_t *vs_forecast_vfs_held(struct vs_core *c, size_t kind)
{
	const struct vs_timeline *t = &vs_forecast.timeline;
	struct vs_forecast_profile *k = &vs_forecast.kinds[kind];

	shared_renew(c);
	if (k->held && k->held_of == t->generation &&
	    k->held_hosts == vs_forecast.shared_of)
		return k->held;
	VS_GROW(k->held, k->held_cap, t->ngroups + 1);
	k->held[0] = 0;
	for (size_t i = 0; i < t->ngroups; i++) {
		const struct vs_holders *g = t->by_end[i].of;

		k->held[i + 1] = k->held[i];
		for (size_t j = 0; j < g->n; j++)
			k->held[i + 1] += vfs_of(c, g->ids[j], kind);
	}
	k->held_of = t->generation;
	k->held_hosts = vs_forecast.shared_of;
	return k->held;
}

/* The set of these nodes, a bit for each id; the space is kept. */
static const uint64_t *set_of(const struct vs_core *c, const int *ids, size_t n)
{
	static uint64_t *set;
	static size_t cap;
	size_t words = c->nnodes / 64 + 1;

	VS_GROW(set, cap, words);
	memset(set, 0, words * sizeof(*set));
	for (size_t i = 0; i < n; i++)
		set[ids[i] / 64] |= UINT64_C(1) << ids[i] % 64;
	return set;
}

/* Do nodes other than these let go of more than so many VFs until then? The jobs
 * that end by then are gone through, fewer than the nodes as a rule. */
static bool others_let_go(struct vs_core *c, const int *ids, size_t n,
			  size_t kind, int64_t by, size_t most)
{
	const struct vs_timeline *t = &vs_forecast.timeline;
	size_t ended = vs_timeline_ended(t, by), vfs = 0;
	const uint64_t *set;

	if (vs_forecast_vfs_held(c, kind)[ended] <= most)
		return false;
	set = set_of(c, ids, n);
	for (size_t i = 0; i < ended && vfs <= most; i++) {
		const struct vs_holders *g = t->by_end[i].of;

		for (size_t j = 0; j < g->n; j++)
			if (!(set[g->ids[j] / 64] >> g->ids[j] % 64 & 1))
				vfs += vfs_of(c, g->ids[j], kind);
	}
	return vfs > most;
}

bool vs_forecast_others_release(struct vs_core *c,
				const struct vs_requesting_job *a,
				const int *ids, size_t n, int64_t by)
{
	struct vs_applicant who;
	size_t kind;

	vs_assert_locked();
	if (!n || vs_query_blocked(c) || !vs_node_at(c, ids[0]))
		return true;
	kind = (size_t)c->kept[ids[0]].profile;
	if (vs_capacity_profile(c, kind)->room[0] ||
	    vs_forecast_vf_is_free(c, kind) ||
	    !only_room_lacks(c, ids, n, kind))
		return true;
	who = applicant(a, kind);
	return others_let_go(c, ids, n, kind, by,
			     vs_timeline_planned(&vs_forecast.timeline, &who,
						 a->now, by + a->lasts));
}

/* Returns true if a job before it was refused and needs the same VFs. */
static bool out_of_order(const struct vs_requesting_job *a,
			 size_t kind)
{
	const struct vs_forecast *w = &vs_forecast;

	for (size_t k = 0; k < w->nkinds; k++) {
		const struct vs_forecast_profile *of = &w->kinds[k];

		if (!of->first || of->first == a->job ||
		    !want_the_same(w, kind, k) ||
		    vs_clock() - of->first_ms > IN_ORDER_MS)
			continue;
		if (of->rank > a->rank ||
		    (of->rank == a->rank && of->first < a->job))
			return true;
	}
	return false;
}

static bool nobody_before(const struct vs_core *c,
			  const struct vs_requesting_job *a)
{
	bool refused = false;

	for (size_t k = 0; a->in_order && k < vs_forecast.nkinds; k++)
		refused |= vs_forecast.kinds[k].first != 0;
	return !refused && !rule_b(c);
}

static size_t kind_spare(struct vs_core *c, const struct vs_requesting_job *a,
			 size_t kind)
{
	const struct vs_timeline *t = &vs_forecast.timeline;
	struct vs_applicant who = applicant(a, kind);

	if (a->in_order && out_of_order(a, kind))
		return 0;
	if (!rule_b(c))
		return SIZE_MAX;
	return vs_timeline_surplus(t, vs_forecast_curve(c, kind), &who,
				   vs_capacity_profile(c, kind)->room[0],
				   a->now,
				   a->now + a->lasts + vs_power_down_s(c));
}

/* The first of those that want the same as this kind. */
static size_t leader_of(const struct vs_forecast *w, size_t kind,
			const size_t *need)
{
	for (size_t k = 0; k < kind; k++)
		if (need[k] && want_the_same(w, kind, k))
			return k;
	return kind;
}

size_t vs_forecast_surplus(struct vs_core *c, const struct vs_requesting_job *a,
			   const int *ids, size_t n, enum vs_avail *avail,
			   size_t *left)
{
	struct vs_forecast *w = &vs_forecast;
	VS_FREE size_t *count = vs_calloc(4 * w->nkinds + 1, sizeof(*count));
	size_t *most = count + w->nkinds, *all = most + w->nkinds, sum = 0;
	size_t *leader = all + w->nkinds;
	const size_t *need;

	vs_assert_locked();
	*left = n;
	if (nobody_before(c, a))
		return n;
	*left = 0;
	need = count_kinds(c, ids, n);
	shared_renew(c);
	for (size_t k = 0; k < w->nkinds; k++) {
		size_t lead = leader[k] = leader_of(w, k, need);
		size_t one = need[k] ? kind_spare(c, a, k) : 0;

		most[lead] = one > most[lead] ? one : most[lead];
		all[lead] += need[k];
	}
	for (size_t i = 0; i < n; i++) {
		size_t lead;

		if (!vs_node_at(c, ids[i]) || avail[i] == VS_AVAIL_NONE)
			continue;
		lead = leader[c->kept[ids[i]].profile];
		if (!most[lead])
			avail[i] = VS_AVAIL_NONE;
		count[lead]++;
	}
	for (size_t k = 0; k < w->nkinds; k++) {
		sum += count[k] < most[k] ? count[k] : most[k];
		*left += all[k] < most[k] ? all[k] : most[k];
	}
	return sum;
}

void vs_forecast_planned(struct vs_core *c, const struct vs_requesting_job *a,
			 const int *ids, size_t n, int64_t start)
{
	struct vs_timeline *t = &vs_forecast.timeline;
	struct vs_plan *p;

	vs_assert_locked();
	if (start >= a->now + VS_START_UNKNOWN / 12) {
		vs_timeline_plan_drop(t, a->job);
		return;
	}
	p = vs_timeline_plan(t, a->job, a->rank, start, start + a->lasts,
			     count_kinds(c, ids, n), vs_clock());
	p->passes = a->passes;
}

/* A job that runs on has its VF there; of one that is over by then it has come
 * free, and is wanted again. */
static bool keeps_it(const struct vs_core *c, int id, int64_t start)
{
	uint32_t job = c->nodes[id].claims.job;

	return job && vs_timeline_job_end(&vs_forecast.timeline, job) > start;
}

/* Of a reservation's nodes, those that a job has got hold theirs. */
void vs_forecast_reserved(struct vs_core *c, const struct vs_reservation *r,
			  size_t n)
{
	VS_FREE int *ids = NULL;

	vs_assert_locked();
	vs_timeline_unreserve(&vs_forecast.timeline);
	for (size_t i = 0; i < n; i++) {
		size_t count = 0;

		ids = vs_realloc(ids, r[i].n + 1, sizeof(*ids));
		for (size_t k = 0; k < r[i].n; k++)
			if (vs_node_at(c, r[i].ids[k]) &&
			    !keeps_it(c, r[i].ids[k], r[i].start))
				ids[count++] = r[i].ids[k];
		if (count)
			vs_timeline_reserve(&vs_forecast.timeline, r[i].start,
					    r[i].end,
					    count_kinds(c, ids, count));
	}
}

void vs_forecast_refused(struct vs_core *c, const struct vs_requesting_job *a,
			 const int *ids, size_t n)
{
	const size_t *need = count_kinds(c, ids, n);

	for (size_t i = 0; i < vs_forecast.nkinds; i++) {
		struct vs_forecast_profile *k = &vs_forecast.kinds[i];

		if (!need[i] || (k->first && k->first != a->job &&
				 k->rank > a->rank &&
				 vs_clock() - k->first_ms <= IN_ORDER_MS))
			continue;
		k->first = a->job;
		k->rank = a->rank;
		k->first_ms = vs_clock();
	}
}
