/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PFs of a host: how many VMs of a class their free VFs and devices serve, and
 * on which of them a VM's NICs are to be (by NUMA node, by what is free, by
 * address).
 *
 * Rules: a VM's NICs are all on one host; its rails, where they matter, each
 * on a PF of their own. PFs are chosen only on a host that has room;
 * deterministic; what comes first in the choice are the adapter's own devices,
 * then what is beside them (ExtraDevice=).
 */
#include <string.h>
#include "plan/placement/placement_i.h"
#include "plan/inventory/shared_devices.h"

/* ---- how many VMs ------------------------------------------------------- */

int vs_entry_free(const struct vs_site *s, int row)
{
	int free = s->sum->pf[row].free;

	for (int i = 0; free > 0 && s->brief->shared >> row & 1 &&
	     i < s->brief->npfs; i++) {
		int gpu = vs_entry_crowds(s->host, i, row), left;

		if (!gpu || s->sum->pf[i].held <= 0)
			continue;
		left = s->sum->pf[i].free > 0 ? s->sum->pf[i].free / gpu : 0;
		free = left < free ? left : free;
	}
	return free;
}

size_t vs_vf_free(const struct vs_site *s, uint32_t pfs)
{
	size_t n = 0;

	for (int i = 0; i < s->brief->npfs; i++) {
		if ((pfs & 1u << i) && s->sum->pf[i].free > 0)
			n += vs_entry_free(s, i);
	}
	return n;
}

/* How many VMs that take `vfs` each of these. */
static size_t room_on(const struct vs_site *s, uint32_t pfs, int vfs,
		      bool rails)
{
	int free[VS_HOST_PFS], n = 0;

	if (vfs == 1)
		return vs_vf_free(s, pfs);
	for (int i = 0; i < s->brief->npfs; i++) {
		if (pfs & 1u << i)
			free[n++] = vs_entry_free(s, i);
	}
	return (size_t)vs_rails_capacity(free, n, vfs, rails);
}

/* No row is both a VF's and a device's, nor of two kinds of devices: so the
 * lesser of the two is what there is room for. */
size_t vs_vf_capacity(const struct vs_class *c, const struct vs_site *s,
		      const struct vs_fit *f, uint32_t not_these)
{
	size_t own = c->vfs ? room_on(s, f->pfs & ~not_these, c->vfs,
				      c->rails) : VS_CAPACITY_MAX;
	size_t beside = c->beside ? room_on(s, f->beside & ~not_these,
					    c->beside, false) : VS_CAPACITY_MAX;

	return own < beside ? own : beside;
}

enum vs_refusal vs_vf_short(const struct vs_class *c, const struct vs_site *s,
			    const struct vs_fit *f)
{
	if (!c->vfs || room_on(s, f->pfs, c->vfs, c->rails))
		return VS_REFUSE_DEVICE;
	if (c->vfs > 1 && vs_vf_free(s, f->pfs))
		return VS_REFUSE_VFS;
	return vs_adapter_nics(c->profile->adapter) ? VS_REFUSE_VF :
		VS_REFUSE_DEVICE;
}

static bool holds_one(const struct vs_rail_group *k, const struct vs_site *s)
{
	int free[VS_HOST_PFS], n = 0;

	for (int i = 0; i < s->host->npfs; i++) {
		if (vs_pf_reaches(k->adapter, k->net, &s->host->pfs[i]))
			free[n++] = s->sum->pf[i].free;
	}
	return vs_rails_capacity(free, n, vs_adapter_vfs(k->adapter),
				 k->adapter->rails) > 0;
}

bool vs_site_whole(const struct vs_work *w, const struct vs_class *c,
		   const struct vs_site *s)
{
	for (size_t i = 0; c->vfs && i < w->env->nrails; i++) {
		const struct vs_rail_group *k = &w->env->rails[i];

		if (vs_adapter_vfs(k->adapter) > c->vfs && holds_one(k, s))
			return true;
	}
	return false;
}

/* ---- which PFs ---------------------------------------------------------- */

/* Is there memory for it on the NUMA node of this PF, and a core for each vCPU,
 * beside the other VMs that have a VF there? If vCenter doesn't show NUMA
 * nodes, all PFs are alike. An unknown value of a node is the node's part of
 * the host. */
static bool numa_fits(const struct vs_class *c, const struct vs_site *s,
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

/* For one more NIC beside those that are picked. Of several rails each goes
 * where most is free: any other choice may leave room for fewer VMs. */
static int choose_pf(const struct vs_class *c, const struct vs_site *s,
		     const struct choice *of, const struct vs_picked *with)
{
	int best = -1, best_vfs = 0;
	bool best_numa = false;

	for (int i = 0; i < s->host->npfs; i++) {
		int vfs = vs_entry_free(s, i), order;
		bool numa;

		for (int k = 0; k < with->n; k++)
			vfs -= with->pf[k] != i ? 0 : of->rails ? vfs : 1;
		if (!(of->mask & 1u << i) || vfs <= 0)
			continue;
		numa = numa_fits(c, s, i) && numa_near(s->host, &of->near, i);
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
	const struct vs_fit *f = vs_fit_get(w, cls, site);
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
