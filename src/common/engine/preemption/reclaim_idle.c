/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Idle warm VMs that stand in a waiting job's way. A job was refused for want
 * of VFs or of room; those that sit on VMs which it cannot use are asked back
 * by powering their nodes down the way Slurm does, oldest idle first, no more
 * than the job is short of. Never touches a node with a job, never an unknown,
 * nor one that Slurm is told to keep on (SuspendExcNodes and the like).
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/hosts/hosts.h"
#include "engine/jobs/jobs.h"
#include "engine/preemption/preemption.h"
#include "engine/state/state.h"
#include "engine/vmspec/vmspec.h"
#include "plan/allocation/freed_by.h"
#include "util/mem.h"
#include "util/time.h"

#define PER_PASS 8
#define SLICE 128		/* nodes that are judged before the lock is
				 * yielded */
#define LOOK_MS 5000		/* Slurm looks at its queue after a job's end */

/* What the wanted VM takes of a host and of what hosts share. */
struct need { int64_t cpu_mhz, mem_mb, store_mb; };

static struct need need_of(const struct vs_node *want,
			   const struct vs_host *host)
{
	const struct vs_profile *p = want->profile;

	return (struct need) {
		.cpu_mhz = vs_profile_cpu_mhz(p, host->core_mhz),
		.mem_mb = vs_profile_reserved_mb(p) +
			vs_profile_overhead_mb(p),
		.store_mb = vs_profile_swap_mb(p) +
			(want->kept->exists ? 0 : p->disk_mb),
	};
}

static bool lacks(const struct need *n, int64_t cpu_mhz, int64_t mem_mb)
{
	return (n->cpu_mhz && n->cpu_mhz > cpu_mhz) || n->mem_mb > mem_mb;
}

/* Is the victim's share of its pool, or of the datastore, what is short? */
static bool helps_all(struct vs_core *c, const struct vs_node *victim,
		      const struct vs_host *host, const struct need *n)
{
	const struct vs_free_capacity *sums = vs_free_capacity_get(c);
	int at = vs_shared_capacity_pool(&c->inv, host->cluster);
	const struct vs_vm *vm;

	if (at >= 0 &&
	    lacks(n, sums->pools[at].cpu_mhz, sums->pools[at].mem_mb)) {
		vm = vs_node_vm(c, victim);
		if (vm && !vs_node_pool_wrong(c, vm))
			return true;
	}
	return n->store_mb > sums->store_mb &&
	       vs_profile_swap_mb(victim->profile) > 0;
}

static void freed_start(struct vs_core *c, struct vs_freed *f,
			const struct vs_host *host, const struct vs_node *want)
{
	vs_freed_start(f, host, &vs_free_capacity_get(c)->hosts[host->index],
		       want->profile->adapter, want->net);
}

/* A VF of the wanted kind on its host: free already, or the victim's. For those
 * who take several, or vGPUs, see reclaim_groups(). */
static bool helps_vf(struct vs_core *c, const struct vs_claim *h,
		     const struct vs_host *host, const struct vs_node *want,
		     bool room)
{
	struct vs_freed f;

	freed_start(c, &f, host, want);
	if (!room && vs_freed_capacity(&f) > 0 &&
	    !vs_free_capacity_get(c)->hosts[host->index].unknown)
		return true;
	return vs_freed_singly(want->profile->adapter) &&
	       vs_freed_add(&f, h, INT_MAX);
}

/* Placement uses this host: room on any other is of no use. */
static bool takes_vms(struct vs_core *c, const struct vs_host *host)
{
	return vs_host_usable(host) && !vs_exclusion_get(c, host->moid, NULL) &&
		!vs_maintenance_window_blocking(host->moid);
}

/*
 * Would the end of this node's VM free what the requested VM still needs: a VF,
 * CPU or memory of its host, or capacity that hosts share?
 */
static bool helps(struct vs_core *c, const struct vs_node *victim,
		  const struct vs_node *want)
{
	const struct vs_claim *h = vs_ledger_get(&c->ledger, victim->name);
	struct vs_host *host = h ? vs_host_get(&c->inv, h->host) : NULL;
	const struct vs_host_sum *sum;
	struct need n;

	if (!host || !takes_vms(c, host))
		return false;
	n = need_of(want, host);
	if (helps_all(c, victim, host, &n))
		return true;
	if (!vs_host_on_net(host, want->profile->adapter, want->net))
		return false;
	if (!vs_adapter_takes(want->profile->adapter))
		return true;	/* short of CPU or memory */
	sum = &vs_free_capacity_get(c)->hosts[host->index];
	return helps_vf(c, h, host, want,
			!lacks(&n, sum->cpu_free, sum->mem_free));
}

/* One that still lacks a place speaks for all. */
static const struct vs_node *wanted_like(struct vs_core *c,
					 const struct vs_pending *r)
{
	const struct vs_node *any = NULL;

	for (size_t i = 0; i < r->n; i++) {
		if (r->ids[i] < 0 || (size_t)r->ids[i] >= c->nnodes)
			continue;
		any = &c->nodes[r->ids[i]];
		if (!vs_ledger_get(&c->ledger, any->name))
			break;
	}
	return any;
}

/* Nodes that stand in no job's way any more, and those that may be powered
 * down. */
struct idle {
	uint64_t epoch;		/* of the configuration that numbers them */
	int *going, *warm;	/* warm: longest idle first */
	size_t ngoing, nwarm;
	bool *in;		/* by node id: one of the job's own */
	int *would;		/* no node is powered down, they are noted
				 * here */
	size_t nwould;
};

/* Powered down now, or, in a dry run, in a moment. */
static bool is_idle(const struct idle *all, const struct vs_node *n)
{
	if (all->would)
		return vs_node_gives_way(n) && !vs_node_going(n);
	return n->wanted == VS_DESIRED_KEEP && !n->claims.job &&
	       !vs_node_going(n) && (n->flags & VS_NODE_UP) &&
	       !(n->flags &
		 (VS_NODE_ALLOCATED | VS_NODE_COMPLETING | VS_NODE_STAYS)) &&
	       !vs_observed_unsure(n->seen);
}

/* One like those that the job waits for it would rather have as it is, if Slurm
 * were to look: that is seen by a refusal which doesn't name it. */
static bool may_go(const struct vs_pending *r, const struct idle *all,
		   const struct vs_node *want, const struct vs_node *n,
		   int64_t now_ms)
{
	return !all->in[n->id] && is_idle(all, n) &&
	       (n->profile != want->profile || r->at_ms >= n->since.idle_ms ||
		now_ms - n->since.idle_ms >= LOOK_MS);
}

static int by_idle(const void *a, const void *b, void *arg)
{
	const struct vs_node *nodes = arg;
	const struct vs_node *x = &nodes[*(const int *)a];
	const struct vs_node *y = &nodes[*(const int *)b];

	if (x->since.idle_ms != y->since.idle_ms)
		return x->since.idle_ms < y->since.idle_ms ? -1 : 1;
	return x->id - y->id;
}

bool vs_node_gives_way(const struct vs_node *n)
{
	/* with its job gone it is idle in a moment */
	return vs_node_going(n) || vs_node_is_preempting(n) ||
	       (!n->claims.job && (n->flags & VS_NODE_UP) &&
		!(n->flags & VS_NODE_STAYS) &&
		!vs_observed_unsure(n->seen));
}

static void idle_find(struct vs_core *c, struct idle *all)
{
	all->epoch = c->epoch;
	all->going = vs_calloc(c->nnodes + 1, sizeof(*all->going));
	all->warm = vs_calloc(c->nnodes + 1, sizeof(*all->warm));
	all->in = vs_calloc(c->nnodes + 1, sizeof(*all->in));
	for (size_t i = 0; i < c->nnodes; i++) {
		if (vs_node_going(&c->nodes[i]))
			all->going[all->ngoing++] = (int)i;
		else if (is_idle(all, &c->nodes[i]))
			all->warm[all->nwarm++] = (int)i;
	}
	qsort_r(all->warm, all->nwarm, sizeof(*all->warm), by_idle, c->nodes);
}

static void idle_free(struct idle *all)
{
	free(all->going);
	free(all->warm);
	free(all->in);
}

static void mark(const struct vs_core *c, const struct vs_pending *r,
		 struct idle *all, bool in)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->ids[i] >= 0 && (size_t)r->ids[i] < c->nnodes)
			all->in[r->ids[i]] = in;
}

/* How many of the job's nodes want for room, and it of no use to others. */
static size_t missing_of(struct vs_core *c, const struct vs_pending *r)
{
	size_t room = vs_query_capacity(c, r->ids, r->n, NULL, NULL, 0);
	size_t missing = room < r->need ? r->need - room : 0;
	size_t placeless = 0;

	/* Room is of no use to those that wait for something else. */
	for (size_t i = 0; i < r->n; i++)
		placeless += r->ids[i] >= 0 && (size_t)r->ids[i] < c->nnodes &&
			c->kept[r->ids[i]].place;
	return missing < placeless ? missing : placeless;
}

static void take(const struct vs_pending *r,
		 struct idle *all, struct vs_node *n)
{
	if (all->would) {
		all->would[all->nwould++] = n->id;
		all->in[n->id] = true;		/* once */
		return;
	}
	vs_info("node=%s idle VM is reclaimed for JobId=%u", n->name, r->job);
	vs_node_vacate(n, r->job);
	vs_plans_outdate();
	vs_node_mark_changed(n);
	all->going[all->ngoing++] = n->id;
}

/* Idle nodes by host, each list in its own order; -1: its end. */
struct by_host {
	int *first_going, *first_warm;	/* by host->index */
	int *next;			/* by node id */
};

/* One that was warm may be on its way since. */
static void chain(struct vs_core *c, const int *ids, size_t n, bool on_its_way,
		  int *first, int *next)
{
	for (int i = 0; i < c->inv.nhosts; i++)
		first[i] = -1;
	for (size_t i = n; i-- > 0;) {
		const struct vs_claim *h = vs_ledger_get(&c->ledger,
						c->nodes[ids[i]].name);
		const struct vs_host *host =
			h ? vs_host_get(&c->inv, h->host) : NULL;

		if (!host || vs_node_going(&c->nodes[ids[i]]) != on_its_way)
			continue;
		next[ids[i]] = first[host->index];
		first[host->index] = ids[i];
	}
}

static void by_host_make(struct vs_core *c, const struct idle *all,
			 struct by_host *b)
{
	size_t hosts = (size_t)c->inv.nhosts + 1;

	b->next = vs_calloc(c->nnodes + 1, sizeof(*b->next));
	b->first_going = vs_calloc(hosts, sizeof(*b->first_going));
	b->first_warm = vs_calloc(hosts, sizeof(*b->first_warm));
	chain(c, all->going, all->ngoing, true, b->first_going, b->next);
	chain(c, all->warm, all->nwarm, false, b->first_warm, b->next);
}

static void by_host_free(struct by_host *b)
{
	free(b->next);
	free(b->first_going);
	free(b->first_warm);
}
#define BY_HOST_FREE __attribute__((cleanup(by_host_free)))

/* What is missing still: there is more room than there was. */
static size_t gained(size_t missing, int *room, const struct vs_freed *f)
{
	size_t n = (size_t)(vs_freed_capacity(f) - *room);

	*room = vs_freed_capacity(f);
	return missing - (n < missing ? n : missing);
}

/* Those of a host that together give the wanted VMs all that they take. */
static size_t reclaim_on(struct vs_core *c, const struct vs_pending *r,
			 struct idle *all, const struct vs_node *want,
			 const struct by_host *b, struct vs_freed *f,
			 size_t missing, int64_t now_ms)
{
	VS_FREE int *group = vs_calloc(c->nnodes + 1, sizeof(*group));
	int at = f->host->index, room = vs_freed_capacity(f);
	size_t n = 0;

	for (int id = b->first_going[at]; id >= 0; id = b->next[id])
		if (!all->in[id])
			vs_freed_add(f, vs_ledger_get(&c->ledger,
						      c->nodes[id].name),
				     INT_MAX);
	missing = gained(missing, &room, f);
	for (int id = b->first_warm[at]; id >= 0 && missing; id = b->next[id]) {
		struct vs_node *node = &c->nodes[id];

		if (!may_go(r, all, want, node, now_ms) ||
		    !vs_freed_add(f, vs_ledger_get(&c->ledger, node->name),
				  room))
			continue;
		group[n++] = id;
		if (vs_freed_capacity(f) <= room)
			continue;
		missing = gained(missing, &room, f);
		while (n)
			take(r, all, &c->nodes[group[--n]]);
	}
	return missing;
}

/*
 * A VM that takes several VFs, or a vGPU, may need more than one to go, on one
 * host: where some are on their way already, and where the longest idle one is.
 */
static size_t reclaim_groups(struct vs_core *c, const struct vs_pending *r,
			     struct idle *all, const struct vs_node *want,
			     size_t missing, int64_t now_ms)
{
	size_t ngoing = all->ngoing, n = ngoing + all->nwarm;
	VS_FREE bool *done = vs_calloc((size_t)c->inv.nhosts + 1,
				       sizeof(*done));
	BY_HOST_FREE struct by_host b = { 0 };

	by_host_make(c, all, &b);
	for (size_t i = 0; i < n && missing; i++) {
		int id = i < ngoing ? all->going[i] : all->warm[i - ngoing];
		const struct vs_claim *h =
			vs_ledger_get(&c->ledger, c->nodes[id].name);
		struct vs_host *host =
			h ? vs_host_get(&c->inv, h->host) : NULL;
		struct vs_freed f;

		if (!host || done[host->index] || !takes_vms(c, host) ||
		    !vs_host_on_net(host, want->profile->adapter, want->net))
			continue;
		done[host->index] = true;
		freed_start(c, &f, host, want);
		missing = reclaim_on(c, r, all, want, &b, &f, missing, now_ms);
	}
	return missing;
}

/* The configuration numbers the nodes as before, and the job still waits. */
static bool is_current(const struct vs_core *c, const struct vs_pending *r,
		       const struct idle *all)
{
	return all->would || (all->epoch == c->epoch && vs_refusal(r->job));
}

/* After each slice slurmctld's threads have the lock. False: as is_current(). */
static bool goes_on(const struct vs_core *c, const struct vs_pending *r,
		    const struct idle *all, size_t i)
{
	int64_t until;

	if (all->would || i % SLICE != SLICE - 1)
		return true;
	until = vs_until_set(0);
	vs_lock_yield();
	vs_until_set(until);
	return is_current(c, r, all);
}

/* What is on its way out already counts. What is missing without it. */
static size_t going_count(struct vs_core *c, const struct vs_pending *r,
			  struct idle *all, const struct vs_node *want,
			  size_t missing)
{
	for (size_t i = 0; i < all->ngoing && missing &&
	     goes_on(c, r, all, i); i++) {
		int id = all->going[i];

		if (all->in[id] || !helps(c, &c->nodes[id], want))
			continue;
		missing--;
		if (all->would)
			all->would[all->nwould++] = id;
	}
	return missing;
}

static void warm_take(struct vs_core *c, const struct vs_pending *r,
		      struct idle *all, const struct vs_node *want,
		      size_t missing, int64_t now_ms)
{
	for (size_t i = 0; i < all->nwarm && missing &&
	     goes_on(c, r, all, i); i++) {
		struct vs_node *n = &c->nodes[all->warm[i]];

		if (!may_go(r, all, want, n, now_ms) || !helps(c, n, want))
			continue;
		take(r, all, n);
		missing--;
	}
}

/* The lock is yielded meanwhile: `r` is the caller's own copy. With all->would,
 * for a forecast, it is not. */
static void reclaim_for(struct vs_core *c, const struct vs_pending *r,
			struct idle *all, int64_t now_ms)
{
	const struct vs_node *want = wanted_like(c, r);
	size_t missing = want ? missing_of(c, r) : 0;

	if (!missing)
		return;
	if (!all->in)
		idle_find(c, all);
	mark(c, r, all, true);
	missing = going_count(c, r, all, want, missing);
	if (missing && is_current(c, r, all)) {
		if (vs_adapter_takes(want->profile->adapter) &&
		    !vs_freed_singly(want->profile->adapter))
			missing = reclaim_groups(c, r, all, want, missing,
						 now_ms);
		warm_take(c, r, all, want, missing, now_ms);
	}
	if (all->would || all->epoch == c->epoch)
		mark(c, r, all, false);
}

static void job_reclaim(struct vs_core *c, uint32_t job, struct idle *all,
			int64_t now_ms)
{
	struct vs_pending *refused = vs_refusal(job), r;
	VS_FREE int *ids = NULL;

	if (!refused)
		return;
	vs_until_set(vs_wall_ms() / 1000 + refused->lasts);
	if (vs_job_needs_vfs(refused, now_ms)) {
		ids = vs_calloc(refused->n + 1, sizeof(*ids));
		if (refused->n)
			memcpy(ids, refused->ids,
			       refused->n * sizeof(*ids));
		r = *refused;
		r.ids = ids;
		reclaim_for(c, &r, all, now_ms);
	}
	vs_until_set(0);
}

size_t vs_reclaim_would(struct vs_core *c, const int *ids, size_t n, int *out)
{
	struct vs_pending r = { .ids = (int *)ids, .n = n, .need = n,
				.at_ms = vs_clock() };
	struct idle all = { .would = out };

	vs_assert_locked();
	reclaim_for(c, &r, &all, r.at_ms);
	idle_free(&all);
	return all.nwould;
}

void vs_reclaim(struct vs_core *c, int64_t now_ms)
{
	static unsigned int turn;	/* whose turn it is among them */
	struct idle all = { .epoch = c->epoch };
	uint32_t jobs[PER_PASS];
	size_t n;

	vs_assert_locked();
	/* A node that waits for an administrator is in no job's way. */
	if (vs_query_blocked(c))
		return;
	/* A few a pass, so that a long queue costs no more than a short one: jobs,
	 * which each.c does not have. */
	n = vs_jobs_next(true, now_ms, &turn, jobs, PER_PASS);
	for (size_t i = 0; i < n && all.epoch == c->epoch; i++) {
		job_reclaim(c, jobs[i], &all, now_ms);
		vs_lock_yield();
	}
	idle_free(&all);
}
