/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much memory and CPU of a host VMs can have.
 *
 * Sources, in this order:
 * 1. HostSystem.systemResources: the host's own reservation minus what ESXi has
 *    reserved for itself below it. It is a large tree (150 kB of JSON), so it is
 *    read with the slow values, for a few hosts at a time, and again each hour.
 * 2. The cluster's effective sums (ComputeResourceSummary.effectiveMemory and
 *    effectiveCpu), against which vCenter admits VMs. They limit the hosts
 *    together. Hosts without systemResources share what the others leave of them.
 * 3. An estimate from the physical size.
 *
 * Recordings of five real clusters (ESXi 6.7 and 7.0.1, vSAN) give the figures.
 * systemResources alone says 0 to 1.2 % more than the effective sums. The estimate
 * of memory lies 2.5 % below to 0.8 % above them. The estimate of CPU lies 2.6 %
 * below to 0.9 % above them, and 16 % above on a host of six cores.
 *
 * Rules: no source is needed. The effective sums count only hosts that run and
 * are not in maintenance: they are compared only while the inventory has as many
 * of those hosts. A figure rises only by 1/200 or more, because each change has
 * the host looked at again.
 */
#include <string.h>

#include "vcenter/decode/inventory.h"
#include "vcenter/spec/spec.h"

#define DEPTH_MAX 16
#define READ_MS 3600000		/* systemResources is read again */
#define READ_HOSTS 16		/* in one beat */
#define SMALL_MB 163840		/* a host below 160 GiB */

/* ---- systemResources ------------------------------------------------------ */

static int64_t reserved(struct vs_j node, const char *allocation)
{
	int64_t n = vs_j_int_or(vs_j_opt(vs_j_opt(vs_j_opt(node, "config"),
						  allocation), "reservation"),
				0);

	return n > 0 ? n : 0;
}

/* A pool keeps what it reserves itself, or what those below it do. */
static int64_t taken(struct vs_j node, const char *allocation, int depth)
{
	int64_t own = reserved(node, allocation), below = 0;
	struct vs_j list = vs_j_opt(node, "child");
	size_t n = depth < DEPTH_MAX ? vs_j_len(list) : 0;

	for (size_t i = 0; i < n; i++)
		below += taken(vs_j_at(list, i), allocation, depth + 1);
	return below > own ? below : own;
}

static int64_t left_by_system(struct vs_j root, const char *allocation)
{
	struct vs_j list = vs_j_opt(root, "child");
	int64_t left = reserved(root, allocation);
	size_t n = vs_j_len(list);

	for (size_t i = 0; i < n; i++) {
		struct vs_j child = vs_j_at(list, i);

		/* The VMs' own pool: it is what is asked for. */
		if (strcmp(vs_j_str_or(vs_j_opt(child, "key"), ""),
			   "host/user"))
			left -= taken(child, allocation, 1);
	}
	/* 0: not told. An HCX host has nothing for VMs, and says so. */
	return left > 0 ? left : reserved(root, allocation) ? 1 : 0;
}

void vs_capacity_system(struct vcx_host *h, struct vs_j system_resources)
{
	struct vcx_capacity *c = &h->capacity;

	c->sys_mem = left_by_system(system_resources, "memoryAllocation");
	c->sys_cpu = left_by_system(system_resources, "cpuAllocation");
	c->sys_of = c->memory_mb;
	c->sys_cores = h->v.cores;
}

void vs_capacity_size(struct vcx_host *h, int64_t memory_mb, int cores)
{
	struct vcx_capacity *c = &h->capacity;

	c->memory_mb = memory_mb;
	h->v.cores = cores;
	if ((memory_mb && memory_mb != c->sys_of) ||
	    (cores && cores != c->sys_cores))
		c->sys_mem = c->sys_cpu = c->read_at = 0;
}

/* ---- one host ------------------------------------------------------------- */

int64_t vs_capacity_guess_mb(int64_t mb)
{
	int64_t left = mb < SMALL_MB ? mb * 82 / 100 : mb * 88 / 100 - 1024;

	return left > 0 ? left : 0;
}

int64_t vs_capacity_guess_mhz(int64_t mhz)
{
	return mhz * 88 / 100;
}

/* Before the cluster's sums: all of it is `most`. */
static int64_t base(int64_t sys, int64_t guess, int64_t most)
{
	return !sys ? guess : most && sys > most ? most : sys;
}

static int64_t share(int64_t of, const struct vcx_part *p, int64_t most)
{
	int64_t n = of * p->num / p->den;

	if (!n && of)
		n = 1;
	return most && n > most ? most : n;
}

/* Without effective sums, systemResources may say 1.2 % too much. */
static int64_t figure(int64_t sys, int64_t guess, int64_t most,
		      const struct vcx_parts *p)
{
	static const struct vcx_part safe = { 985, 1000 }, all = { 1, 1 };
	const struct vcx_part *part = sys ? &p->sys : &p->guess;

	if (!part->den)
		part = sys ? &safe : &all;
	return share(base(sys, guess, most), part, most);
}

static int64_t all_mhz(const struct vcx_host *h)
{
	return (int64_t)h->v.cores * h->v.core_mhz;
}

int64_t vs_capacity_mb(const struct vcx_host *h)
{
	const struct vcx_capacity *c = &h->capacity;

	return figure(c->sys_mem, vs_capacity_guess_mb(c->memory_mb),
		      c->memory_mb, &c->mem);
}

int64_t vs_capacity_mhz(const struct vcx_host *h)
{
	const struct vcx_capacity *c = &h->capacity;

	return figure(c->sys_cpu, vs_capacity_guess_mhz(all_mhz(h)),
		      all_mhz(h), &c->cpu);
}

/* ---- a cluster ------------------------------------------------------------ */

struct sums { int hosts; int64_t mem[2], cpu[2]; };	/* told, guessed */

static bool in_cluster(const struct vcx_host *h, const char *cluster)
{
	return h->in && !strcmp(h->v.cluster, cluster);
}

static bool effective(const struct vcx_host *h)
{
	return h->v.connected && h->v.powered_on && !h->v.maintenance;
}

static void sum_host(struct sums *s, const struct vcx_host *h)
{
	const struct vcx_capacity *c = &h->capacity;

	s->hosts++;
	s->mem[!c->sys_mem] += base(c->sys_mem,
				    vs_capacity_guess_mb(c->memory_mb),
				    c->memory_mb);
	s->cpu[!c->sys_cpu] += base(c->sys_cpu,
				    vs_capacity_guess_mhz(all_mhz(h)),
				    all_mhz(h));
}

static void parts(struct vcx_parts *p, const int64_t sum[2], int64_t most)
{
	int64_t all = sum[0] + sum[1];

	if (all > most) {
		p->sys = p->guess = (struct vcx_part){ most, all };
		return;
	}
	p->sys = (struct vcx_part){ 1, 1 };
	p->guess = (struct vcx_part){ 1, 1 };
	if (sum[1])
		p->guess = (struct vcx_part){ most - sum[0], sum[1] };
}

void vs_capacity_cluster(struct vs_inv *inv, const char *cluster,
			 const struct vcx_effective *e)
{
	struct sums s = { 0 };
	struct vcx_parts mem, cpu;
	struct vcx_host *h;

	for (h = inv->hosts; h; h = h->hh.next)
		if (in_cluster(h, cluster) && effective(h))
			sum_host(&s, h);
	if (!s.hosts || s.hosts != e->hosts || e->mem_mb <= 0 ||
	    e->cpu_mhz <= 0)
		return;
	parts(&mem, s.mem, e->mem_mb);
	parts(&cpu, s.cpu, e->cpu_mhz);
	for (h = inv->hosts; h; h = h->hh.next) {
		if (!in_cluster(h, cluster))
			continue;
		h->capacity.mem = mem;
		h->capacity.cpu = cpu;
	}
}

static bool differs(int64_t told, int64_t is)
{
	return is < told || is - told > told / 200;
}

void vs_capacity_finish(struct vs_inv *inv)
{
	for (struct vcx_host *h = inv->hosts; h; h = h->hh.next) {
		struct vcx_capacity *c = &h->capacity;

		if (!h->in || (!differs(c->told_mb, vs_capacity_mb(h)) &&
			       !differs(c->told_mhz, vs_capacity_mhz(h))))
			continue;
		h->v.has |= VS_VC_HOST_HW | VS_VC_HOST_PFS;
		if (!h->dirty)
			TAILQ_INSERT_TAIL(&inv->dirty_hosts, h, link);
		h->dirty = true;
	}
}

/* ---- with the slow values ----------------------------------------------- */

void vs_capacity_request(struct vs_inv *inv, int64_t now_ms,
			 struct json_object *props, struct json_object *objects)
{
	static const char *const path[] = { "systemResources", NULL };
	struct vcx_host *h;
	int n = 0;

	for (h = inv->hosts; h && n < READ_HOSTS; h = h->hh.next) {
		if (!h->in || !h->v.connected || now_ms < h->capacity.read_at)
			continue;
		if (!n++)
			vs_jb_add(props, vs_spec_props("HostSystem", path));
		vs_jb_add(objects, vs_spec_object("HostSystem", h->v.moid));
		h->capacity.read_at = now_ms + READ_MS;
	}
}

/* ---- a NUMA node -------------------------------------------------------- */

int vs_inv_pci_numa(const struct vcx_host *h, const char *pci, int *cores,
		    int64_t *mb)
{
	const struct vcx_numa *u = NULL;

	for (size_t i = 0; i < h->nnumas && !u; i++)
		if (!strcmp(h->numas[i].pci, pci))
			u = &h->numas[i];
	*cores = u && h->threads > 0 ?
		(int)((int64_t)u->threads * h->v.cores / h->threads) : 0;
	*mb = u && h->capacity.memory_mb ?
		u->mb * vs_capacity_mb(h) / h->capacity.memory_mb : 0;
	return u ? u->node : -1;
}
