/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzing plan: bytes become hosts, VMs, holds and gangs; after each step the
 * ledger must say what the naive model says, and each placement must keep the
 * invariants: no VF twice, release(take(x)) = x, a gang whole or not at all,
 * nothing where it may not be, never "no" to a gang of one kind that fits.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "plan_run.h"
#include "util/mem.h"

/* ---- placement ---------------------------------------------------------- */

static int host_number(const struct vs_host *h)
{
	return h->moid[5] - '0';
}

static bool avoid(void *arg, const struct vs_host *h, const struct vs_pf *pf,
		  char *why, size_t size)
{
	const struct run *r = arg;
	const struct m_host *m = &r->m.host[host_number(h)];

	snprintf(why, size, "failed");
	return pf ? m->pf[pf - h->pfs].avoided : m->avoided;
}

struct gang {
	struct vs_place_node node[NODES];
	int cls[NODES], name[NODES];
	int n;
	bool one_class;
};

static void gang_read(struct run *r, struct gang *g, char names[][16],
		      char moids[][VS_MOID_LEN])
{
	int want = 1 + below(r, 10), mix = below(r, 3), cls = below(r, CLASSES);
	bool prefer = below(r, 2);

	memset(g, 0, sizeof(*g));
	g->one_class = true;
	for (int i = 0; i < NODES && g->n < want; i++) {
		struct vs_place_node *n = &g->node[g->n];

		if (r->m.hold[i].there)
			continue;
		g->cls[g->n] = mix ? cls : below(r, CLASSES);
		g->one_class &= g->cls[g->n] == g->cls[0];
		g->name[g->n] = i;
		snprintf(names[g->n], 16, "n%d", i);
		host_moid(below(r, HOSTS), moids[g->n]);
		n->node = names[g->n];
		n->profile = &r->profile[g->cls[g->n]];
		n->net = &r->net[g->cls[g->n]];
		if (prefer)
			n->prefer_host = moids[g->n];
		n->exists = below(r, 2);
		g->n++;
	}
}

static void check_member(struct run *r, const struct gang *g, int i)
{
	const struct vs_place_node *n = &g->node[i];
	const struct m_class *c = &r->m.cls[g->cls[i]];
	int at = host_number(n->host), pool = 0, pf, was = NO;
	const struct m_host *h = &r->m.host[at];

	MUST(n->host == host_get(r, at));
	MUST(h->there && h->usable && !h->avoided && h->ops < OPS_MAX);
	MUST(!h->hw || h->hw >= m_hw(c));
	MUST(n->npfs == (c->vf ? c->vfs : 0));
	if (!c->vf)
		return;
	for (int k = 0; k < n->npfs; k++, was = pf) {
		pf = (int)(n->pfs[k] - n->host->pfs);
		MUST(pf < h->npfs && (c->rails ? pf > was : pf >= was));
		MUST(m_reaches(h, c, pf, false) && !h->pf[pf].avoided);
	}
	MUST(!m_unknown(&r->m, at));
	for (int p = 0; p < h->npfs; p++)
		pool += h->pf[p].sw == c->sw;
	MUST(n->pf_automatic == (pool == 1 && c->named == NO));
}

/* All of the gang on one host together: no VF twice, CPU and memory left. */
static void check_host(struct run *r, const struct gang *g, int at)
{
	int64_t cpu, mem, cpu_taken = 0, mem_taken = 0;
	int vfs[PFS] = { 0 };
	struct m_use u;

	m_room(&r->m, at, &cpu, &mem);
	for (int i = 0; i < g->n; i++) {
		const struct m_class *c = &r->m.cls[g->cls[i]];

		if (host_number(g->node[i].host) != at)
			continue;
		cpu_taken += m_cpu_need(c, r->m.host[at].mhz);
		mem_taken += m_mem_need(c);
		for (int k = 0; k < g->node[i].npfs; k++)
			vfs[g->node[i].pfs[k] - g->node[i].host->pfs]++;
	}
	MUST(!mem_taken || mem_taken <= mem);
	MUST(!cpu_taken || cpu_taken <= cpu);
	for (int p = 0; p < r->m.host[at].npfs; p++) {
		m_use(&r->m, at, p, &u);
		MUST(!vfs[p] || vfs[p] <= u.free);
	}
}

static int64_t store_need(const struct run *r, const struct gang *g)
{
	int64_t need = 0;

	for (int i = 0; i < g->n; i++)
		need += m_store_need(&r->m.cls[g->cls[i]], g->node[i].exists);
	return need;
}

/* What the gang leaves of a pool. */
static void pool_after(struct run *r, const struct gang *g, int pool,
		       int64_t *cpu, int64_t *mem)
{
	m_pool_left(&r->m, pool, cpu, mem);
	for (int i = 0; i < g->n; i++) {
		const struct m_class *c = &r->m.cls[g->cls[i]];
		int at = host_number(g->node[i].host);

		if (m_pool_of(&r->m, at) != pool)
			continue;
		if (*cpu != M_UNKNOWN)
			*cpu -= m_cpu_need(c, r->m.host[at].mhz);
		if (*mem != M_UNKNOWN)
			*mem -= m_mem_need(c);
	}
}

/* All of the gang together: what hosts share is left too. */
static void check_shared(struct run *r, const struct gang *g)
{
	int64_t cpu, mem, cpu0, mem0, need = store_need(r, g);

	MUST(!need || need <= m_store_left(&r->m));
	for (int p = 0; p < POOLS; p++) {
		m_pool_left(&r->m, p, &cpu0, &mem0);
		pool_after(r, g, p, &cpu, &mem);
		MUST(cpu == cpu0 || cpu >= 0);
		MUST(mem == mem0 || mem >= 0);
	}
}

static bool pool_takes_one(struct run *r, const struct gang *g, int host)
{
	const struct m_class *c = &r->m.cls[g->cls[0]];
	int pool = m_pool_of(&r->m, host);
	int64_t cpu, mem, need = m_cpu_need(c, r->m.host[host].mhz);

	if (pool == NO)
		return true;
	pool_after(r, g, pool, &cpu, &mem);
	return (!need || need <= cpu) && m_mem_need(c) <= mem;
}

/* Where a pool's CPU bounds a class that reserves it, slow cores go before
 * what a policy would choose. */
static bool cpu_bounds(struct run *r, const struct gang *g)
{
	int64_t cpu, mem;

	for (int p = 0; p < POOLS; p++) {
		m_pool_left(&r->m, p, &cpu, &mem);
		if (r->m.pool[p].there && cpu != M_UNKNOWN &&
		    r->m.cls[g->cls[0]].latency)
			return true;
	}
	return false;
}

/* The fewest hosts: each time the one that takes most, by its pool too. */
static int fewest_hosts(struct run *r, const struct gang *g, int *fits)
{
	const struct m_class *c = &r->m.cls[g->cls[0]];
	int64_t mem[POOLS], cpu;
	int hosts = 0;

	for (int p = 0; p < POOLS; p++)
		m_pool_left(&r->m, p, &cpu, &mem[p]);
	for (int left = g->n; left > 0; hosts++) {
		int big = NO, most = 0, p;

		for (int h = 0; h < HOSTS; h++) {
			int n = fits[h];

			p = m_pool_of(&r->m, h);
			if (p != NO && mem[p] / m_mem_need(c) < n)
				n = (int)(mem[p] / m_mem_need(c));
			if (n > most) {
				most = n;
				big = h;
			}
		}
		MUST(big != NO);
		p = m_pool_of(&r->m, big);
		if (p != NO && mem[p] != M_UNKNOWN)
			mem[p] -= most * m_mem_need(c);
		left -= most;
		fits[big] = 0;
	}
	return hosts;
}

/* What the policies promise of a gang of one kind. */
static void check_policy(struct run *r, const struct gang *g)
{
	int on[HOSTS] = { 0 }, fits[HOSTS], hosts = 0;

	if (cpu_bounds(r, g))
		return;
	for (int i = 0; i < g->n; i++)
		on[host_number(g->node[i].host)]++;
	for (int h = 0; h < HOSTS; h++) {
		fits[h] = m_fits(&r->m, h, &r->m.cls[g->cls[0]], false);
		hosts += on[h] > 0;
	}
	if (r->env.policy == VS_PLACE_SPREAD) {
		for (int a = 0; a < HOSTS; a++)
			for (int b = 0; b < HOSTS; b++)
				MUST(on[b] >= fits[b] || on[a] <= on[b] + 1 ||
				     !pool_takes_one(r, g, b));
	}
	if (r->env.policy == VS_PLACE_PACK)
		MUST(hosts == fewest_hosts(r, g, fits));
}

static void check_refusal(struct run *r, const struct gang *g, int room,
			  const struct vs_err *err)
{
	MUST(err->code == VS_E_SHORTAGE && err->text[0]);
	for (int i = 0; i < g->n; i++)
		MUST(!g->node[i].host && !g->node[i].npfs);
	MUST(!g->one_class || room < g->n ||
	     store_need(r, g) > m_store_left(&r->m));
}

static void gang_hold(struct run *r, const struct gang *g)
{
	for (int i = 0; i < g->n; i++) {
		const struct vs_place_node *n = &g->node[i];
		const struct m_class *c = &r->m.cls[g->cls[i]];
		int at = host_number(n->host);
		struct m_held had[NICS] = { 0 };

		for (int k = 0; k < n->npfs; k++)
			had[k] = (struct m_held) {
				r->m.host[at].pf[n->pfs[k] -
						 n->host->pfs].bus,
				n->pf_automatic };
		hold_take(r, g->name[i], (struct m_hold) {
			.host = at, .vm = NO, .nnics = n->npfs,
			.nic = { had[0], had[1], had[2] },
			.cpu = m_cpu_need(c, r->m.host[at].mhz),
			.mem = m_mem_need(c),
			.disk = n->exists ? 0 : c->disk,
			.swap = m_store_need(c, true),
		});
	}
}

static void do_place(struct run *r)
{
	char names[NODES][16], moids[NODES][VS_MOID_LEN];
	char why[128];
	struct vs_err err = { 0 };
	struct gang g, again;
	int64_t need, store;
	int room, ever = 0, rc, one;

	r->env.policy = below(r, 3);
	gang_read(r, &g, names, moids);
	if (!g.n)
		return;
	ops_fill(r);
	keep(r);
	r->env.sums = below(r, 4) ? &r->kept : NULL;
	for (int h = 0; h < HOSTS; h++)
		ever += m_fits(&r->m, h, &r->m.cls[g.cls[0]], true);
	one = room = m_fits_all(&r->m, &r->m.cls[g.cls[0]]);
	need = m_store_need(&r->m.cls[g.cls[0]], g.node[0].exists);
	store = m_store_left(&r->m);
	if (need && store / need < one)
		one = store < 0 ? 0 : (int)(store / need);
	MUST(vs_place_count(&r->env, &g.node[0], 1000000, why, sizeof(why)) ==
	     (size_t)one);
	MUST(vs_place_capacity(&r->env, &g.node[0], 1000000) == (size_t)ever);
	again = g;
	rc = vs_place(&r->env, g.node, g.n, &err);
	MUST(vs_place(&r->env, again.node, g.n, NULL) == rc);
	MUST(!memcmp(g.node, again.node, sizeof(g.node)));
	if (rc) {
		check_refusal(r, &g, room, &err);
		return;
	}
	for (int i = 0; i < g.n; i++)
		check_member(r, &g, i);
	for (int h = 0; h < HOSTS; h++)
		if (r->m.host[h].there)
			check_host(r, &g, h);
	check_shared(r, &g);
	if (g.one_class)
		check_policy(r, &g);
	gang_hold(r, &g);
}

/* ---- after each step ---------------------------------------------------- */

static void check_room(struct run *r)
{
	const struct vs_pool_capacity *pools;
	int64_t cpu, mem, store;

	keep(r);
	pools = r->kept.pools;
	store = r->kept.store_mb;
	MUST(store == m_store_left(&r->m));
	for (int p = 0; p < POOLS; p++) {
		char name[VS_MOID_LEN];
		int at;

		snprintf(name, sizeof(name), "c%d", p);
		at = vs_shared_capacity_pool(&r->inv, name);
		MUST((at >= 0) == r->m.pool[p].there);
		m_pool_left(&r->m, p, &cpu, &mem);
		MUST(at < 0 || (pools[at].cpu_mhz == cpu &&
				pools[at].mem_mb == mem));
	}
}

void check_kept(struct run *r)
{
	struct vs_free_capacity made = { 0 };
	uint64_t was = r->kept.generation;
	struct vs_host_sum before[HOSTS];
	size_t n = r->kept.nhosts;

	memcpy(before, r->kept.hosts, n * sizeof(before[0]));
	keep(r);
	MUST(r->kept.generation != was || (n == r->kept.nhosts &&
	     !memcmp(before, r->kept.hosts, n * sizeof(before[0]))));
	vs_free_capacity_update(&made, &r->ledger, &r->inv, FOLDER, CLUSTER);
	MUST(made.nhosts == r->kept.nhosts && made.npools == r->kept.npools);
	MUST(!memcmp(made.hosts, r->kept.hosts,
		     made.nhosts * sizeof(*made.hosts)));
	MUST(!memcmp(made.pools, r->kept.pools,
		     made.npools * sizeof(*made.pools)));
	MUST(!memcmp(made.by_name, r->kept.by_name,
		     made.nhosts * sizeof(*made.by_name)));
	MUST(!memcmp(made.by_mhz, r->kept.by_mhz,
		     made.nhosts * sizeof(*made.by_mhz)));
	MUST(made.store_mb == r->kept.store_mb);
	vs_free_capacity_clear(&made);
}

static void check_ledger(struct run *r)
{
	struct vs_host_sum sums[HOSTS];

	sums_now(r, sums);
	for (int i = 0; i < HOSTS; i++) {
		struct vs_host *h = host_get(r, i);
		struct vs_host_sum plain;
		int64_t cpu, mem;

		MUST(!h == !r->m.host[i].there);
		if (!h)
			continue;
		m_room(&r->m, i, &cpu, &mem);
		vs_ledger_sum(&r->ledger, &r->inv, h, NULL, NULL, &plain);
		MUST(cpu == plain.cpu_free && mem == plain.mem_free);
		MUST(sums[h->index].cpu_free == cpu);
		MUST(sums[h->index].mem_free == mem);
		for (int p = 0; p < h->npfs; p++) {
			struct vs_pf_use use;
			struct m_use u;

			m_use(&r->m, i, p, &u);
			vs_ledger_pf_use(&r->ledger, &r->inv, h, &h->pfs[p],
					 FOLDER, CLUSTER, &use);
			MUST(use.ours == u.ours && use.suspect == 0);
			MUST(use.foreign == u.others && use.held == u.held);
			MUST(use.free == u.free);
			MUST(use.unknown == m_unknown(&r->m, i));
			MUST(!memcmp(&use, &sums[h->index].pf[p],
				     sizeof(use)));
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const steps[])(struct run *) = {
		do_host, do_host, do_host_gone, do_vm, do_vm, do_vm_power,
		do_vm_power, do_vm_gone, do_take, do_hold, do_hold, do_class,
		do_place, do_place, do_place, do_place, do_begin, do_values,
		do_values, do_forget,
	};
	struct run *r = vs_calloc(1, sizeof(*r));

	r->p = data;
	r->end = data + size;
	vs_inventory_init(&r->inv);
	TAILQ_INIT(&r->ledger.by_change);
	r->m.store = -1;
	r->env = (struct vs_place_env) {
		.inv = &r->inv, .ledger = &r->ledger, .folder = FOLDER,
		.cluster_id = CLUSTER, .avoid = avoid, .arg = r,
		.store = STORE, .ops = r->ops, .ops_max = OPS_MAX,
	};
	for (int i = 0; i < CLASSES; i++)
		class_read(r, i);
	keep(r);
	while (r->p < r->end) {
		steps[byte(r) % VS_COUNT(steps)](r);
		check_kept(r);
		check_ledger(r);
		check_room(r);
	}
	vs_free_capacity_clear(&r->kept);
	vs_ledger_clear(&r->ledger);
	while (r->inv.vms)
		vs_inventory_remove_vm(&r->inv, r->inv.vms->moid);
	while (r->inv.hosts)
		vs_inventory_remove_host(&r->inv, r->inv.hosts->moid);
	free(r->inv.by_index);
	free(r->inv.pools);
	free(r->inv.uses);
	free(r);
	return 0;
}

#define FUZZ_CORPUS "plan"
#include "fuzz_main.h"
