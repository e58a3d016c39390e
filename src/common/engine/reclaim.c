/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Idle warm VMs that stand in a waiting job's way. A job was refused for want
 * of VFs or of room; those that sit on VMs which it cannot use are asked back
 * by powering their nodes down the way Slurm does, oldest idle first, no more
 * than the job is short of. Never touches a node with a job, never an unknown.
 */
#include <string.h>
#include "engine/core_i.h"
#include "util/mem.h"
#include "util/time.h"

#define REFUSAL_FRESH_MS 15000
#define PER_PASS 8

static bool in_set(const struct vs_refused *r, int id)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->ids[i] == id)
			return true;
	return false;
}

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

static void reclaim_for(struct vs_core *c, const struct vs_refused *r,
			int64_t now_ms)
{
	const struct vs_node *want = wanted_like(c, r);
	size_t room = vs_ask_room(c, r->ids, r->n, NULL, 0);
	size_t missing = room < r->need ? r->need - room : 0;
	size_t placeless = 0;

	/* Room is of no use to those that wait for something else. */
	for (size_t i = 0; i < r->n; i++)
		placeless += r->ids[i] >= 0 && (size_t)r->ids[i] < c->nnodes &&
			c->kept[r->ids[i]].place;
	if (missing > placeless)
		missing = placeless;
	/* What is on its way out already counts. */
	for (size_t i = 0; want && i < c->nnodes && missing; i++)
		if (going(&c->nodes[i]) && !in_set(r, (int)i) &&
		    helps(c, &c->nodes[i], want))
			missing--;
	while (want && missing) {
		struct vs_node *oldest = NULL;

		for (size_t i = 0; i < c->nnodes; i++) {
			struct vs_node *n = &c->nodes[i];

			if (n->wanted != VS_WANT_KEEP || n->job || going(n) ||
			    !(n->flags & VS_NODE_UP) ||
			    (n->flags & (VS_NODE_ALLOCATED |
					 VS_NODE_COMPLETING)) ||
			    n->seen == VS_SEEN_UNKNOWN || in_set(r, (int)i) ||
			    !helps(c, n, want))
				continue;
			if (!oldest ||
			    n->action_since_ms < oldest->action_since_ms)
				oldest = n;
		}
		if (!oldest)
			return;
		vs_info("node=%s idle VM is reclaimed for JobId=%u",
			oldest->name, r->job);
		oldest->leave = true;
		vs_node_touch(oldest);
		oldest->action_since_ms = now_ms;
		missing--;
	}
}

/* A few jobs a pass, in turn: a long queue must not cost more than a short. */
void vs_reclaim(struct vs_core *c, int64_t now_ms)
{
	unsigned int n = HASH_COUNT(c->refused), skip, done = 0;
	struct vs_refused *r, *tmp;

	/* What waits for an administrator is in nobody's way. */
	if (vs_ask_blocked(c))
		return;
	skip = n > PER_PASS ? c->reclaim_turn % n : 0;
	HASH_ITER(hh, c->refused, r, tmp) {
		if (skip) {
			skip--;
			continue;
		}
		if (++done > PER_PASS)
			break;
		c->reclaim_turn++;
		if (now_ms - r->at_ms < REFUSAL_FRESH_MS)
			reclaim_for(c, r, now_ms);
	}
}
