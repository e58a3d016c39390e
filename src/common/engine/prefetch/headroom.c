/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What may be had ahead of a job: VFs that no job waits for, those that idle
 * VMs give back for that job, or a place for a VM that is switched on later,
 * when others have gone.
 *
 * Rules: a place is looked for by placement itself, with the sums as they will
 * be at the planned start: without the VMs that will have given way by then,
 * with those that were made ahead before. A VM that stays warm for the very
 * kind of node in question is none that gives way: the job will run on it. The
 * sums are as they were when a question is over. The lock is held.
 */
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/jobs/jobs.h"
#include "engine/prefetch/prefetch.h"
#include "engine/prefetch/prefetch_i.h"
#include "engine/state/state.h"
#include "util/mem.h"

#define LATE_MS 60000		/* its end and our start are estimates */

static bool takes_vf(const struct vs_node *n)
{
	return vs_adapter_takes(n->profile->adapter);
}

/* Does a job that waits for VMs like `of` want what this node would take?
 * Adapters may share PFs; one of VFs waits for a VF. */
static bool wants_it(const struct vs_core *c, const struct vs_pending *r,
		     const struct vs_node *n)
{
	return r->n && r->ids[0] >= 0 && (size_t)r->ids[0] < c->nnodes &&
	       (takes_vf(n) || !takes_vf(&c->nodes[r->ids[0]]));
}

/* Backfill's data about jobs behind others is their plan, and no request
 * now. */
static bool stands(const struct vs_pending *r, int64_t now_ms)
{
	return now_ms - r->at_ms < VS_PENDING_FRESH_MS &&
	       (r->lacks == VS_PENDING_VFS ||
		(r->lacks == VS_PENDING_TURN && !r->in_backfill));
}

bool vs_prefetch_has_surplus(struct vs_core *c, const struct vs_node *n,
			     int64_t now_ms)
{
	size_t wanted = 0;
	const struct vs_node *other;
	struct vs_pending *r;

	for (r = vs_refusals(); r; r = r->hh.next)
		if (stands(r, now_ms) &&
		    wants_it(c, r, n))
			wanted += r->need;
	LIST_FOREACH(other, &vs_plans.ahead, ahead.entry)
		wanted += other != n && other->ahead.state == VS_PREFETCH_UP &&
			!vs_ledger_get(&c->ledger, other->name);
	return vs_capacity_count(c, n) > wanted;
}

/* ---- VFs that a job's own idle VMs give back for it ---------------------------- */

/* In VFs: one that goes may have more of them than one that comes needs. */
bool vs_prefetch_vf_comes(struct vs_core *c, const struct vs_node *n)
{
	int come = -vs_adapter_takes(n->profile->adapter);
	const struct vs_node *other;

	if (!takes_vf(n) || n->seen != VS_OBSERVED_OFF)
		return false;
	for (size_t i = 0; i < c->nnodes; i++) {
		const struct vs_claim *h;

		other = &c->nodes[i];
		if (other->claims.reclaimed_for != n->ahead.job ||
		    !vs_node_going(other))
			continue;
		h = vs_ledger_get(&c->ledger, other->name);
		if (h)
			come += h->nvfs;
	}
	LIST_FOREACH(other, &vs_plans.ahead, ahead.entry)
		if (other->ahead.state == VS_PREFETCH_UP &&
		    other->ahead.job == n->ahead.job &&
		    !vs_ledger_get(&c->ledger, other->name))
			come -= vs_adapter_takes(other->profile->adapter);
	return come >= 0;
}

static bool goes_before(const struct vs_pending *r, const struct vs_pending *own)
{
	return !own || r->rank > own->rank ||
		(r->rank == own->rank && r->job < own->job);
}

static int free_of(struct vs_core *c, const struct vs_host *h,
		   const struct vs_adapter *a, const struct vs_network *net)
{
	int free = 0;

	for (int i = 0; h && i < h->npfs; i++)
		if (vs_pf_reaches(a, net, &h->pfs[i]))
			free += vs_free_capacity_get(c)
					->hosts[h->index]
					.pf[i]
					.free;
	return free;
}

static bool free_at_home(struct vs_core *c, const struct vs_node *n)
{
	const struct vs_adapter *a = n->profile->adapter;
	const struct vs_vm *vm = vs_node_vm(c, n);
	const struct vs_host *h = vm ? vs_host_get(&c->inv, vm->host) : NULL;

	return (!vs_adapter_vfs(a) ||
		free_of(c, h, a, n->net) >= vs_adapter_vfs(a)) &&
	       (!vs_adapter_additional(a) ||
		free_of(c, h, a->with, n->net) >= vs_adapter_additional(a));
}

/* What comes free first is not on its host, but on that of another which waits
 * beside it: no VM need move. */
static bool is_anothers(struct vs_core *c, const struct vs_node *n)
{
	const struct vs_node *other;

	if (free_at_home(c, n))
		return false;
	LIST_FOREACH(other, &vs_plans.ahead, ahead.entry)
		if (other != n && other->ahead.state == VS_PREFETCH_UP &&
		    other->ahead.job == n->ahead.job &&
		    !vs_ledger_get(&c->ledger, other->name) &&
		    free_at_home(c, other))
			return true;
	return false;
}

bool vs_prefetch_may_place(struct vs_core *c, const struct vs_node *n,
			   int64_t now_ms)
{
	const struct vs_pending *own;
	struct vs_pending *r;

	if (n->claims.job || n->ahead.state != VS_PREFETCH_UP ||
	    vs_prefetch_has_surplus(c, n, now_ms))
		return true;
	if (takes_vf(n) && is_anothers(c, n))
		return false;
	r = vs_refusal(n->ahead.job);
	own = r;
	for (r = vs_refusals(); r; r = r->hh.next)
		if (r != own && stands(r, now_ms) &&
		    wants_it(c, r, n) && goes_before(r, own))
			return false;
	return true;
}

/* ---- the sums as they will be ------------------------------------------------ */

/* A VF comes (+1) or goes (-1). */
static void shift_vf(const struct vs_host *host,
		     const char *pf, int sign)
{
	for (int i = 0; i < host->npfs; i++)
		if (!strcmp(host->pfs[i].pci, pf))
			vs_free_capacity_cached()
				->hosts[host->index]
				.pf[i]
				.free += sign;
}

/* What else a VM takes of its host and its pool. */
static void shift(struct vs_core *c, const struct vs_host *host,
		  const struct vs_node *n, int sign)
{
	const struct vs_profile *p = n->profile;
	struct vs_host_sum *sum =
		&vs_free_capacity_cached()->hosts[host->index];
	int pool = vs_shared_capacity_pool(&c->inv, host->cluster);
	int64_t cpu = sign * vs_profile_cpu_mhz(p, host->core_mhz);
	int64_t mem = sign * (vs_profile_reserved_mb(p) +
			      vs_profile_overhead_mb(p));

	sum->cpu_free += cpu;
	sum->mem_free += mem;
	sum->cpu_given -= cpu;
	sum->mem_given -= mem;
	if (pool < 0)
		return;
	if (vs_free_capacity_cached()->pools[pool].cpu_mhz !=
	    VS_CAPACITY_UNKNOWN)
		vs_free_capacity_cached()->pools[pool].cpu_mhz += cpu;
	if (vs_free_capacity_cached()->pools[pool].mem_mb !=
	    VS_CAPACITY_UNKNOWN)
		vs_free_capacity_cached()->pools[pool].mem_mb += mem;
}

/* Its VM will be off by then, or make way for others. */
static bool gives_way(const struct vs_node *of, const struct vs_node *n)
{
	return of != n && (of->profile != n->profile ||
			   of->profile->retention != VS_RETAIN_WARM);
}

static void shift_held(struct vs_core *c, const struct vs_node *of, int sign)
{
	const struct vs_claim *h = vs_ledger_get(&c->ledger, of->name);
	const struct vs_host *host = h ? vs_host_get(&c->inv, h->host) : NULL;

	if (!host)
		return;
	for (int i = 0; i < h->nvfs; i++)
		shift_vf(host, h->vfs[i].pf, sign);
	shift(c, host, of, sign);
}

/* So many of one adapter. Which of the host's PFs is open still: one each, and
 * again from the first where that isn't enough. */
static void shift_some(const struct vs_host *host,
		       const struct vs_adapter *a, const struct vs_network *net,
		       int left, int sign)
{
	for (bool any = true; left && any;) {
		any = false;
		for (int i = 0; i < host->npfs && left; i++) {
			if (!vs_pf_reaches(a, net, &host->pfs[i]))
				continue;
			shift_vf(host, host->pfs[i].pci, sign);
			any = true;
			left--;
		}
	}
}

/* Made ahead and off: it will want its share, where it lies. */
static void shift_ahead(struct vs_core *c, const struct vs_node *of, int sign)
{
	const struct vs_vm *vm = vs_node_vm(c, of);
	const struct vs_host *host =
		vs_host_get(&c->inv, vm ? vm->host : of->op.host);
	const struct vs_adapter *a = of->profile->adapter;

	if (of->ahead.state != VS_PREFETCH_CLONE || !host)
		return;
	shift_some(host, a, of->net, vs_adapter_vfs(a), -sign);
	if (a->with)
		shift_some(host, a->with, of->net, vs_adapter_additional(a),
			   -sign);
	shift(c, host, of, -sign);
}

/* On its way out for a job that waits; not by a job's end. */
static bool going(const struct vs_node *n)
{
	return !n->claims.job && vs_node_going(n);
}

/* To the time of the node's start (+1), and back (-1). */
static void shift_all(struct vs_core *c, const struct vs_node *n, int sign)
{
	const struct vs_plans *p = &vs_plans;
	const struct vs_node *of;

	for (size_t i = 0; i < p->nends; i++) {
		of = &c->nodes[p->ends[i].id];
		if (p->ends[i].at_ms <= n->ahead.start_ms + LATE_MS &&
		    gives_way(of, n) && !going(of))
			shift_held(c, of, sign);
	}
	for (size_t i = 0; i < c->nnodes; i++)
		if (going(&c->nodes[i]) && &c->nodes[i] != n)
			shift_held(c, &c->nodes[i], sign);
	LIST_FOREACH(of, &vs_plans.ahead, ahead.entry)
		if (of != n)
			shift_ahead(c, of, sign);
}

/* Disks are made now: for those, and for all that jobs may want meanwhile. */
static bool store_has_room(const struct vs_core *c, const struct vs_node *n)
{
	return vs_free_capacity_cached()->store_mb == VS_CAPACITY_UNKNOWN ||
	       vs_free_capacity_cached()->store_mb /
			       (c->conf->max_provision_ops + 1) >=
		       n->profile->disk_mb;
}

bool vs_prefetch_place(struct vs_core *c, struct vs_node *n,
		       struct vs_claim *hold)
{
	struct vs_place_env env;
	struct vs_place_node at;
	int rc;

	vs_env_fill(c, &env);
	vs_env_budget(c, &env);
	env.ops_max = (env.ops_max + 1) / 2;
	if (!store_has_room(c, n))
		return false;
	vs_place_node_fill(c, n, &at);
	shift_all(c, n, 1);
	rc = vs_place(&env, &at, 1, NULL);
	shift_all(c, n, -1);
	if (rc)
		return false;
	vs_claim_build(c, n, &at, 0, hold);
	return true;
}
