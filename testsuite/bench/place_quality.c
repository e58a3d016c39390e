/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How good placement is, against one that tries everything: small random worlds
 * with adapters that share PFs, hosts of unequal size, pools, VMs that run
 * already and gangs of mixed kinds. One half of the gangs is as large as can be
 * placed at all.
 *
 * Rules: the same worlds each time; a placement that the world doesn't allow
 * ends the benchmark.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "exact.h"
#include "place.h"
#include "unit/plan_world.h"
#include "util/mem.h"

static uint64_t seed;

static int rnd(int from, int to)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return from + (int)((seed >> 33) % (uint64_t)(to - from + 1));
}

/* ---- a world, as the exact one sees it ------------------------------------------ */

static void host_make(struct x_host *h)
{
	static const int mhz[] = { 2000, 2600, 3100 };
	int vms = rnd(0, 2);

	memset(h, 0, sizeof(*h));
	h->npfs = rnd(1, X_PFS);
	for (int i = 0; i < h->npfs; i++) {
		h->vfs[i] = rnd(1, 4);
		h->used[i] = rnd(0, 3) ? 0 : 1;
	}
	h->cores = 4 * rnd(3, 12);
	h->mhz = mhz[rnd(0, 2)];
	h->mem = 1024 * (int64_t)rnd(24, 96);
	for (int i = 0; i < vms; i++) {
		h->cpu_given += (int64_t)4 * h->mhz;
		h->mem_given += 8192;
		h->mem_reserved += vs_overhead_mb(4, 8192);
	}
	for (int i = 0; i < h->npfs; i++)
		h->mem_reserved += h->used[i] * vs_overhead_mb(0, 0);
	h->pool = rnd(0, 1);
}

/* Adapters: all uplinks of a network; one of them, named; the third is another
 * one of them, another network's or takes none. */
static void kind_make(struct x_kind *k, int i)
{
	static const unsigned int third[] = { 0, 1, X_NET_B };

	k->pfs = i == 0 ? X_NET_A : i == 1 ? 2 : third[rnd(0, 2)];
	k->vcpus = 2 * rnd(1, 6);
	k->mem = 1024 * (int64_t)rnd(4, 20);
	k->cpu_reserved = rnd(0, 2) == 0;
	k->mem_reserved = (k->pfs || k->cpu_reserved ? k->mem : 0) +
		vs_overhead_mb(k->vcpus, k->mem);
}

static void world_make(struct x_world *w)
{
	int64_t cores = 0;

	memset(w, 0, sizeof(*w));
	w->nhosts = rnd(2, X_HOSTS);
	w->nkinds = rnd(1, X_KINDS);
	for (int i = 0; i < w->nhosts; i++) {
		host_make(&w->hosts[i]);
		cores += w->hosts[i].cores;
	}
	for (int i = 0; i < w->nkinds; i++)
		kind_make(&w->kinds[i], i);
	for (int i = 0; i < 2; i++) {
		bool tight = rnd(0, 3) == 0;

		w->pools[i].cpu = tight ? cores * rnd(200, 1200) : INT32_MAX;
		w->pools[i].mem = tight ? 1024 * rnd(16, 120) : INT32_MAX;
	}
}

/* A gang of up to n of random kinds; how many it is. */
static void gang_make(struct x_world *w, int n)
{
	int count[X_KINDS] = { 0 };

	w->n = 0;
	for (int i = 0; i < n; i++)
		count[rnd(0, w->nkinds - 1)]++;
	for (int k = 0; k < w->nkinds; k++)
		while (count[k]--)
			w->kind_of[w->n++] = k;
}

/* One more of a kind, where that can be placed at all. */
static bool gang_grow(struct x_world *w, int kind)
{
	struct x_world more = *w;
	int at = 0;
	double none;

	if (w->n == X_GANG)
		return false;
	while (at < w->n && w->kind_of[at] <= kind)
		at++;
	memmove(&more.kind_of[at + 1], &w->kind_of[at],
		(size_t)(w->n - at) * sizeof(w->kind_of[0]));
	more.kind_of[at] = kind;
	more.n++;
	if (!x_solve(&more, X_ANY, &none))
		return false;
	*w = more;
	return true;
}

/* A gang that can be placed; as large as possible, or of any size. */
static bool instance_make(struct x_world *w, bool full)
{
	double none;

	world_make(w);
	gang_make(w, full ? 2 : rnd(2, 8));
	if (!x_solve(w, X_ANY, &none))
		return false;
	while (full) {
		int first = rnd(0, w->nkinds - 1), k = 0;

		while (k < w->nkinds &&
		       !gang_grow(w, (first + k) % w->nkinds))
			k++;
		if (k == w->nkinds)
			break;
	}
	return true;
}

/* ---- the same world for the product ----------------------------------------------- */

static const char *const pcis[X_PFS] = {
	"0000:3b:00.0", "0000:5e:00.0", "0000:86:00.0",
};

struct real {
	struct world w;
	struct vs_network other;
	struct vs_adapter adapters[X_KINDS];
	struct vs_profile profiles[X_KINDS];
	struct vs_place_node nodes[X_GANG];
	char names[X_GANG][8];
};

static void runs(struct real *r, const char *host, const char *pci, int vcpus,
		 int64_t memory_mb)
{
	static int last;
	char moid[16];
	struct vs_vm *vm;

	snprintf(moid, sizeof(moid), "vm-%d", ++last);
	vm = w_vm(&r->w, moid, moid, host);
	vm->power = VS_POWER_ON;
	vm->vcpus = vcpus;
	vm->memory_mb = memory_mb;
	if (pci)
		w_nic(vm, VS_NIC_SRIOV, pci);
}

static void host_real(struct real *r, const struct x_host *x, int i)
{
	char name[16];
	struct vs_host *h;

	snprintf(name, sizeof(name), "esx%d", i);
	h = w_host(&r->w, name);
	snprintf(h->cluster, sizeof(h->cluster), "domain-c%d", x->pool);
	h->cores = x->cores;
	h->core_mhz = x->mhz;
	h->memory_mb = x->mem;
	for (int p = 0; p < x->npfs; p++) {
		struct vs_pf *pf = w_pf(h, pcis[p], x->vfs[p]);

		if (X_NET_B & 1u << p)
			vs_strlcpy(pf->switch_uuid, "another", VS_LABEL_LEN);
		for (int k = 0; k < x->used[p]; k++)
			runs(r, name, pcis[p], 0, 0);
	}
	for (int64_t k = 0; k < x->mem_given / 8192; k++)
		runs(r, name, NULL, 4, 8192);
}

static void kind_real(struct real *r, const struct x_kind *x, int i)
{
	struct vs_adapter *a = &r->adapters[i];
	struct vs_profile *p = &r->profiles[i];

	*a = x->pfs ? r->w.roce : r->w.eth;
	snprintf(a->name, sizeof(a->name), "kind%d", i);
	if (x->pfs == 1 || x->pfs == 2)
		vs_strlcpy(a->pf, pcis[x->pfs - 1], sizeof(a->pf));
	*p = r->w.p_roce;
	p->adapter = a;
	p->vcpus = x->vcpus;
	p->memory_mb = x->mem;
	p->latency_high = x->cpu_reserved;
}

static void world_real(struct real *r, const struct x_world *x)
{
	memset(r, 0, sizeof(*r));
	w_init(&r->w);
	r->other = r->w.net;
	vs_strlcpy(r->other.switch_uuid, "another", VS_LABEL_LEN);
	for (int i = 0; i < x->nhosts; i++)
		host_real(r, &x->hosts[i], i);
	vs_shared_capacity_begin(&r->w.inv);
	for (int i = 0; i < 2; i++) {
		char cluster[16];

		snprintf(cluster, sizeof(cluster), "domain-c%d", i);
		vs_shared_capacity_set_pool(&r->w.inv, cluster, cluster,
					    x->pools[i].cpu, x->pools[i].mem);
	}
	vs_shared_capacity_end(&r->w.inv);
	for (int i = 0; i < x->nkinds; i++)
		kind_real(r, &x->kinds[i], i);
	for (int i = 0; i < x->n; i++) {
		snprintf(r->names[i], sizeof(r->names[i]), "n%d", i);
		r->nodes[i] = (struct vs_place_node) {
			.node = r->names[i],
			.profile = &r->profiles[x->kind_of[i]],
			.net = x->kinds[x->kind_of[i]].pfs == X_NET_B ?
				&r->other : &r->w.net,
		};
	}
}

/* ---- the comparison ------------------------------------------------------------------ */

/* The product's answer; false: it found none. */
static bool place_real(const struct x_world *x, enum vs_policy policy,
		       struct x_place *at)
{
	struct real r;
	struct vs_err err = { 0 };
	bool placed;

	world_real(&r, x);
	r.w.env.policy = policy;
	placed = !vs_place(&r.w.env, r.nodes, (size_t)x->n, &err);
	for (int i = 0; placed && i < x->n; i++) {
		const struct vs_place_node *n = &r.nodes[i];

		at[i].host = (int)strtol(n->host->name + strlen("esx"),
					 NULL, 10);
		at[i].pf = n->npfs ? (int)(n->pfs[0] - n->host->pfs) : -1;
	}
	if (placed && !x_allowed(x, at)) {
		fprintf(stderr, "place: an answer that can't be\n");
		abort();
	}
	if (!placed)
		fprintf(stderr, "place: %s\n", err.text);
	w_clear(&r.w);
	return placed;
}

struct found {
	int placed[3];			/* by policy */
	double peak, best_peak, spread, best_spread;
};

static void compare(const struct x_world *x, struct found *f)
{
	static const enum vs_policy all[] = {
		VS_PLACE_BALANCE, VS_PLACE_PACK, VS_PLACE_SPREAD,
	};
	struct x_place at[X_GANG];
	double best;

	for (size_t i = 0; i < VS_COUNT(all); i++) {
		if (!place_real(x, all[i], at))
			continue;
		f->placed[i]++;
		if (all[i] != VS_PLACE_BALANCE)
			continue;
		f->peak += x_cost(x, at, X_PEAK);
		x_solve(x, X_PEAK, &best);
		f->best_peak += best;
		f->spread += x_cost(x, at, X_SPREAD);
		x_solve(x, X_SPREAD, &best);
		f->best_spread += best;
	}
}

bool place_quality(uint64_t from, int instances)
{
	static const char *const names[] = {
		"place_gangs_balance", "place_gangs_pack", "place_gangs_spread",
	};
	struct found f = { .peak = 0 };
	bool good = true;
	struct x_world x;
	int n = 0;

	seed = from;
	while (n < instances) {
		if (!instance_make(&x, n % 2))
			continue;
		compare(&x, &f);
		n++;
	}
	for (size_t i = 0; i < VS_COUNT(names); i++)
		good &= bench_line(names[i], (double)f.placed[i] / n, "ratio",
				   ">=", 0.99);
	good &= bench_line("place_balance_peak", f.peak / f.best_peak,
			   "ratio", "<=", 1.05);
	good &= bench_line("place_balance_spread", f.spread / f.best_spread,
			   "ratio", "<=", 1.05);
	return good;
}
