/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Idle warm VMs that stand in a waiting job's way. A job was refused for want
 * of VFs or of room; those that sit on VMs which it cannot use are asked back
 * by powering their nodes down the way Slurm does, oldest idle first, no more
 * than the job is short of. Never touches a node with a job, never an unknown.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/core_i.h"
#include "util/mem.h"
#include "util/time.h"

#define REFUSAL_FRESH_MS 15000
#define PER_PASS 8

static bool going(const struct vs_node *n)
{
	return (n->flags & (VS_NODE_POWERING_DOWN | VS_NODE_POWER_DOWN_ASKED)) ||
	       n->leave;
}

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
	const struct vs_sums *sums = vs_sums_now(c);
	const struct vs_vm *vm = vs_node_vm(c, victim);
	int at = vs_room_pool(&c->inv, host->cluster);

	if (at >= 0 && vm && !vs_node_pool_wrong(c, vm) &&
	    lacks(n, sums->pools[at].cpu_mhz, sums->pools[at].mem_mb))
		return true;
	return n->store_mb > sums->store_mb &&
	       vs_profile_swap_mb(victim->profile) > 0;
}

/* A VF of the wanted kind on its host: free already, or the victim's. */
static bool helps_vf(struct vs_core *c, const struct vs_hold *h,
		     const struct vs_host *host, const struct vs_node *want,
		     bool room)
{
	const struct vs_host_sum *sum = &vs_sums_now(c)->hosts[host->index];

	for (int i = 0; i < host->npfs; i++) {
		const struct vs_pf *pf = &host->pfs[i];

		if (!vs_pf_reaches(want->profile->adapter, want->net, pf))
			continue;
		if (!strcmp(h->pf, pf->pci) ||
		    (!room && !sum->unknown && sum->pf[i].free > 0))
			return true;
	}
	return false;
}

/*
 * Would this node's end give a VM like the wanted one what it lacks: a VF, its
 * host's CPU or memory, or of what hosts share?
 */
static bool helps(struct vs_core *c, const struct vs_node *victim,
		  const struct vs_node *want)
{
	const struct vs_hold *h = vs_ledger_get(&c->ledger, victim->name);
	struct vs_host *host = h ? vs_host_get(&c->inv, h->host) : NULL;
	const struct vs_host_sum *sum;
	struct need n;

	if (!host || !vs_host_usable(host))
		return false;
	n = need_of(want, host);
	if (helps_all(c, victim, host, &n))
		return true;
	if (!vs_host_has_net(host, want->net->moid))
		return false;
	if (!vs_adapter_kinds[want->profile->adapter->type].takes_vf)
		return true;	/* short of CPU or memory */
	sum = &vs_sums_now(c)->hosts[host->index];
	return helps_vf(c, h, host, want,
			!lacks(&n, sum->cpu_free, sum->mem_free));
}

/* One that still lacks a place speaks for all. */
static const struct vs_node *wanted_like(struct vs_core *c,
					 const struct vs_refused *r)
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

/* Nodes that stand in nobody's way any more, and those that may be asked. */
struct idle {
	uint64_t epoch;		/* of the configuration that numbers them */
	int *going, *warm;	/* warm: longest idle first */
	size_t ngoing, nwarm;
	bool *in;		/* by node id: one of the job's own */
};

static bool may_go(const struct vs_node *n)
{
	return n->wanted == VS_WANT_KEEP && !n->job && !going(n) &&
	       (n->flags & VS_NODE_UP) &&
	       !(n->flags & (VS_NODE_ALLOCATED | VS_NODE_COMPLETING)) &&
	       n->seen != VS_SEEN_UNKNOWN;
}

static int by_idle(const void *a, const void *b, void *arg)
{
	const struct vs_node *nodes = arg;
	const struct vs_node *x = &nodes[*(const int *)a];
	const struct vs_node *y = &nodes[*(const int *)b];

	if (x->action_since_ms != y->action_since_ms)
		return x->action_since_ms < y->action_since_ms ? -1 : 1;
	return x->id - y->id;
}

static void idle_find(struct vs_core *c, struct idle *all)
{
	all->epoch = c->epoch;
	all->going = vs_calloc(c->nnodes + 1, sizeof(*all->going));
	all->warm = vs_calloc(c->nnodes + 1, sizeof(*all->warm));
	all->in = vs_calloc(c->nnodes + 1, sizeof(*all->in));
	for (size_t i = 0; i < c->nnodes; i++) {
		if (going(&c->nodes[i]))
			all->going[all->ngoing++] = (int)i;
		else if (may_go(&c->nodes[i]))
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

static void mark(const struct vs_core *c, const struct vs_refused *r,
		 struct idle *all, bool in)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->ids[i] >= 0 && (size_t)r->ids[i] < c->nnodes)
			all->in[r->ids[i]] = in;
}

/* How many of the job's nodes want for room, and it of no use to others. */
static size_t missing_of(struct vs_core *c, const struct vs_refused *r)
{
	size_t room = vs_ask_room(c, r->ids, r->n, NULL, NULL, 0);
	size_t missing = room < r->need ? r->need - room : 0;
	size_t placeless = 0;

	/* Room is of no use to those that wait for something else. */
	for (size_t i = 0; i < r->n; i++)
		placeless += r->ids[i] >= 0 && (size_t)r->ids[i] < c->nnodes &&
			c->kept[r->ids[i]].place;
	return missing < placeless ? missing : placeless;
}

static void reclaim_for(struct vs_core *c, const struct vs_refused *r,
			struct idle *all, int64_t now_ms)
{
	const struct vs_node *want = wanted_like(c, r);
	size_t missing = want ? missing_of(c, r) : 0;

	if (!missing)
		return;
	if (!all->in)
		idle_find(c, all);
	mark(c, r, all, true);
	/* What is on its way out already counts. */
	for (size_t i = 0; i < all->ngoing && missing; i++)
		missing -= !all->in[all->going[i]] &&
			helps(c, &c->nodes[all->going[i]], want);
	for (size_t i = 0; i < all->nwarm && missing; i++) {
		struct vs_node *n = &c->nodes[all->warm[i]];

		if (all->in[all->warm[i]] || !may_go(n) || !helps(c, n, want))
			continue;
		vs_info("node=%s idle VM is reclaimed for JobId=%u", n->name,
			r->job);
		n->leave = true;
		vs_node_touch(n);
		n->action_since_ms = now_ms;
		all->going[all->ngoing++] = n->id;
		missing--;
	}
	mark(c, r, all, false);
}

/* Whose turn it is; a few a pass, so that a long queue costs no more than a
 * short one. */
static size_t jobs_in_turn(struct vs_core *c, uint32_t jobs[PER_PASS])
{
	unsigned int n = HASH_COUNT(c->refused);
	unsigned int skip = n > PER_PASS ? c->reclaim_turn % n : 0;
	struct vs_refused *r, *tmp;
	size_t count = 0;

	HASH_ITER(hh, c->refused, r, tmp) {
		if (skip)
			skip--;
		else if (count < PER_PASS)
			jobs[count++] = r->job;
	}
	c->reclaim_turn += count;
	return count;
}

void vs_reclaim(struct vs_core *c, int64_t now_ms)
{
	struct idle all = { .epoch = c->epoch };
	uint32_t jobs[PER_PASS];
	size_t n;

	/* What waits for an administrator is in nobody's way. */
	if (vs_ask_blocked(c))
		return;
	n = jobs_in_turn(c, jobs);
	for (size_t i = 0; i < n && all.epoch == c->epoch; i++) {
		struct vs_refused *r;

		HASH_FIND(hh, c->refused, &jobs[i], sizeof(jobs[i]), r);
		if (r && now_ms - r->at_ms < REFUSAL_FRESH_MS)
			reclaim_for(c, r, &all, now_ms);
		vs_lock_lend();
	}
	idle_free(&all);
}
