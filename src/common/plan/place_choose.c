/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * On which PFs of a host a VM's cards are to be, and which of its devices they
 * get: by NUMA node, by what is free, by address.
 *
 * Rules: asked only of a host that has room; deterministic; what comes first in
 * the answer are the adapter's own, then what is beside it (With=).
 */
#include <string.h>
#include "plan/place_i.h"

/* Is there memory for it on the NUMA node of this PF, and a core for each vCPU,
 * beside the other VMs that have a VF there? Where nobody knows the nodes, all
 * are alike; what isn't known of one is its part of the host. */
static bool numa_holds(const struct vs_class *c, const struct vs_site *s,
		       int at)
{
	const struct vs_host *h = s->host;
	const struct vs_pf *pf = &h->pfs[at];
	int64_t mb, vcpus;

	if (pf->numa < 0 || pf->numa >= VS_HOST_NODES || h->numa_nodes < 2)
		return true;
	mb = s->sum->node_mem_mb[pf->numa];
	vcpus = s->sum->node_vcpus[pf->numa];
	return mb + c->mem_mb <= (pf->numa_mb ? pf->numa_mb :
				  h->memory_mb / h->numa_nodes) &&
	       vcpus + c->profile->vcpus <= (pf->numa_cores ? pf->numa_cores :
					     h->cores / h->numa_nodes);
}

/* Beside devices that are picked: on the NUMA node of one of them? */
static bool numa_near(const struct vs_host *h, const struct vs_picked *with,
		      int at)
{
	for (int k = 0; k < with->n; k++)
		if (h->pfs[with->pf[k]].numa >= 0 &&
		    h->pfs[with->pf[k]].numa == h->pfs[at].numa)
			return true;
	return !with->n;
}

/* Of these rows, n for one VM. */
struct choice {
	uint32_t mask;
	int n;
	bool rails;			/* each on one of its own */
	struct vs_picked near;		/* to be on their NUMA nodes */
};

/* For one more card beside those that are picked. Of several rails each goes
 * where most is free: any other choice may leave room for fewer VMs. */
static int choose_pf(const struct vs_class *c, const struct vs_site *s,
		     const struct choice *of, const struct vs_picked *with)
{
	int best = -1, best_vfs = 0;
	bool best_numa = false;

	for (int i = 0; i < s->host->npfs; i++) {
		int vfs = vs_row_free(s, i), order;
		bool numa;

		for (int k = 0; k < with->n; k++)
			vfs -= with->pf[k] != i ? 0 : of->rails ? vfs : 1;
		if (!(of->mask & 1u << i) || vfs <= 0)
			continue;
		numa = numa_holds(c, s, i) && numa_near(s->host, &of->near, i);
		order = of->rails ? 0 : (int)numa - (int)best_numa;
		if (!order)
			order = vfs - best_vfs;
		if (!order)
			order = (int)numa - (int)best_numa;
		if (!order)
			order = strcmp(s->host->pfs[best].pci,
				       s->host->pfs[i].pci);
		if (best < 0 || order > 0) {
			best = i;
			best_vfs = vfs;
			best_numa = numa;
		}
	}
	return best;
}

static struct vs_picked choose(const struct vs_class *c,
			       const struct vs_site *s, const struct choice *of)
{
	const struct vs_pf *pfs = s->host->pfs;
	struct vs_picked p = { .n = 0 };

	while (p.n < of->n) {
		int pf = choose_pf(c, s, of, &p), k = p.n++;

		for (; k && strcmp(pfs[p.pf[k - 1]].pci, pfs[pf].pci) > 0; k--)
			p.pf[k] = p.pf[k - 1];
		p.pf[k] = (signed char)pf;
	}
	return p;
}

/* What is beside is chosen first, for there is the least choice. */
struct vs_picked vs_choose_pfs(const struct vs_work *w, size_t cls, size_t site)
{
	const struct vs_class *c = &w->classes[cls];
	const struct vs_site *s = &w->sites[site];
	const struct vs_fit *f = vs_fit_of(w, cls, site);
	struct choice devices = { .mask = f->beside & ~s->avoided_pfs,
				  .n = c->beside };
	struct choice own = { .mask = f->pfs & ~s->avoided_pfs, .n = c->vfs,
			      .rails = c->rails };
	struct vs_picked p;

	own.near = choose(c, s, &devices);
	p = choose(c, s, &own);
	for (int k = 0; k < own.near.n; k++)
		p.pf[p.n++] = own.near.pf[k];
	return p;
}
