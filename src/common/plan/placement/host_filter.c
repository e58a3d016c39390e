/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Placement's hard criteria as things stand: may a VM of this class run on
 * this host now, and what is left when it does?
 *
 * Rules: the criteria are asked in the order of the refusals' texts, so that
 * the reason given is the first that an administrator would fix; nothing is
 * read twice per call. Never prefers a host: that is the policies' part.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "plan/placement/placement_i.h"
#include "plan/inventory/shared_devices.h"
#include "util/mem.h"

#define HW_LATENCY_HIGH 14	/* vSphere: latency sensitivity "high" */
#define MILLION 1000000

const struct vs_fit *vs_fit_get(const struct vs_work *w, size_t cls,
				size_t site)
{
	return &w->fits[cls][w->sites[site].brief->index];
}

/* What refuses it whatever is free. */
static enum vs_refusal fixed(const struct vs_class *c, const struct vs_site *s,
			     const struct vs_fit *f)
{
	if (vs_class_counts(c) && s->sum->unknown &&
	    (!f->fixed || f->fixed == VS_REFUSE_NO_PF ||
	     f->fixed == VS_REFUSE_NO_DEVICE || f->fixed == VS_REFUSE_RAILS))
		return VS_REFUSE_UNKNOWN;
	return f->fixed;
}

/* ---- what is free now --------------------------------------------------- */

int64_t vs_fit_cpu(const struct vs_class *c, const struct vs_site *s)
{
	return vs_profile_cpu_mhz(c->profile, s->brief->core_mhz);
}

enum vs_refusal vs_fit_check(const struct vs_work *w, size_t cls, size_t site)
{
	const struct vs_class *c = &w->classes[cls];
	const struct vs_site *s = &w->sites[site];
	const struct vs_fit *f = vs_fit_get(w, cls, site);
	enum vs_refusal no = fixed(c, s, f), pool;
	int64_t cpu, vms;

	if (no)
		return no;
	if (vs_class_counts(c) && !vs_vf_capacity(c, s, f, 0))
		return vs_vf_short(c, s, f);
	cpu = vs_fit_cpu(c, s);
	vms = 1 + vs_fit_clone_sources(w, cls, site, VS_NO_NODE);
	if (cpu && cpu * vms > s->sum->cpu_free)
		return VS_REFUSE_CPU;
	if (c->mem_mb * vms > s->sum->mem_free)
		return VS_REFUSE_MEMORY;
	pool = vs_pool_fit(w, c, s);
	if (pool)
		return pool;
	if (s->avoided ||
	    (vs_class_counts(c) && !vs_vf_capacity(c, s, f, s->avoided_pfs)))
		return VS_REFUSE_EXCLUDED;
	if (s->placed >= s->most)
		return VS_REFUSE_TRIAL;
	return s->busy ? VS_REFUSE_BUSY : VS_REFUSE_NONE;
}

static size_t min_size(size_t a, int64_t b)
{
	return b < 0 ? 0 : (uint64_t)b < a ? (size_t)b : a;
}

size_t vs_fit_capacity(const struct vs_work *w, size_t cls, size_t site,
		       size_t limit)
{
	const struct vs_class *c = &w->classes[cls];
	const struct vs_site *s = &w->sites[site];
	const struct vs_fit *f = vs_fit_get(w, cls, site);
	int64_t cpu = vs_fit_cpu(c, s), parents;

	if (fixed(c, s, f) || s->avoided || s->busy)
		return 0;
	limit = min_size(limit, (int64_t)(s->most - s->placed));
	if (vs_class_counts(c))
		limit = min_size(limit, (int64_t)vs_vf_capacity(
						c, s, f, s->avoided_pfs));
	parents = vs_fit_clone_sources(w, cls, site, VS_NO_NODE);
	if (cpu && !(w->ever && !s->brief->cores))
		limit = min_size(limit, s->sum->cpu_free / cpu - parents);
	if (!(w->ever && !s->brief->memory_mb))
		limit = min_size(limit, s->sum->mem_free / c->mem_mb - parents);
	return limit;
}

static int64_t share(int64_t part, int64_t whole)
{
	return whole > 0 ? part * MILLION / whole : 0;
}

static int64_t max64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t vf_share(const struct vs_site *s, uint32_t pfs, int more)
{
	int64_t total = 0, used = 0;

	for (int i = 0; i < s->brief->npfs; i++) {
		if (!(pfs & 1u << i))
			continue;
		total += s->sum->pf[i].total;
		used += s->sum->pf[i].total - s->sum->pf[i].free;
	}
	return share(used + more, total);
}

static int64_t other_shares(const struct vs_site *s, int64_t mhz, int64_t mb)
{
	const struct vs_brief *h = s->brief;

	return max64(share(s->sum->cpu_given + mhz,
			   (int64_t)h->cores * h->core_mhz),
		     share(s->sum->mem_given + mb, h->memory_mb));
}

int64_t vs_fit_load(const struct vs_work *w, size_t cls, size_t site)
{
	const struct vs_class *c = &w->classes[cls];
	const struct vs_site *s = &w->sites[site];
	const struct vs_profile *p = c->profile;
	int64_t load = other_shares(s, (int64_t)p->vcpus * s->brief->core_mhz,
				    max64(c->mem_mb, p->memory_mb));

	if (c->vfs)
		load = max64(load, vf_share(s, vs_fit_get(w, cls, site)->pfs,
					    c->vfs));
	if (c->beside)
		load = max64(load, vf_share(s, vs_fit_get(w, cls, site)->beside,
					    c->beside));
	return load;
}

int64_t vs_site_load(const struct vs_work *w, size_t site)
{
	const struct vs_site *s = &w->sites[site];
	int64_t load = other_shares(s, 0, 0);

	for (size_t c = 0; c < w->nclasses; c++)
		load = max64(load, vf_share(s, vs_fit_get(w, c, site)->pfs, 0));
	return load;
}

/* ---- putting a node on a site ------------------------------------------- */

static struct vs_host_sum *own_sum(struct vs_site *s)
{
	if (!s->own) {
		s->own = vs_calloc(1, sizeof(*s->own));
		*s->own = *s->sum;
		s->sum = s->own;
	}
	return s->own;
}

/* n of the row go (-n: come), and what that takes of other rows. */
static void row_takes(const struct vs_host *h, struct vs_host_sum *sum,
		      int row, int n)
{
	sum->pf[row].free -= n;
	sum->pf[row].held = sum->pf[row].held + n > 0 ?
		sum->pf[row].held + n : 0;
	for (int i = 0; h->pfs[row].of && i < h->npfs; i++)
		sum->pf[i].free -= n * vs_entry_crowds(h, i, row);
}

void vs_site_gone(struct vs_site *s, const struct vs_claim *hold)
{
	struct vs_host_sum *sum = own_sum(s);

	for (int c = 0; c < hold->nvfs; c++)
		for (int i = 0; i < s->host->npfs; i++)
			if (!strcmp(s->host->pfs[i].pci, hold->vfs[c].pf))
				row_takes(s->host, sum, i, -1);
	sum->cpu_free += hold->cpu_mhz;
	sum->mem_free += hold->mem_mb;
}

static void site_charge(struct vs_work *w, size_t node, int sign)
{
	const struct vs_class *c = &w->classes[w->class_of[node]];
	struct vs_site *s = &w->sites[w->site_of[node]];
	struct vs_host_sum *sum = own_sum(s);
	const struct vs_profile *p = c->profile;
	const struct vs_picked *pfs = &w->pfs_of[node];
	uint32_t rows = 0;
	int vms = sign * (1 + vs_fit_clone_sources(w, w->class_of[node],
						   w->site_of[node], node));

	for (int i = 0; i < pfs->n; i++) {
		row_takes(s->host, sum, pfs->pf[i], sign);
		rows |= 1u << pfs->pf[i];
	}
	vs_sum_nodes(sum, vs_entries_nodes(s->host, rows), sign, c->mem_mb,
		     p->vcpus);
	sum->cpu_free -= vms * vs_fit_cpu(c, s);
	sum->mem_free -= vms * c->mem_mb;
	sum->cpu_given += sign * (int64_t)p->vcpus * s->host->core_mhz;
	sum->mem_given += sign * max64(c->mem_mb, p->memory_mb);
	sum->vms += sign;
	s->placed += sign;
	vs_pool_charge(w, c, s, pfs->store, sign);
}

void vs_put_on_pfs(struct vs_work *w, size_t node, size_t site,
		   const struct vs_picked *pfs)
{
	struct vs_site *s = &w->sites[site];

	w->site_of[node] = site;
	w->pfs_of[node] = *pfs;
	w->next[node] = s->first;
	s->first = node;
	site_charge(w, node, 1);
}

void vs_put(struct vs_work *w, size_t node, size_t site)
{
	struct vs_picked pfs = vs_choose_pfs(w, w->class_of[node], site);

	pfs.store = vs_store_pick(w, w->class_of[node], site);
	vs_put_on_pfs(w, node, site, &pfs);
}

void vs_unput(struct vs_work *w, size_t node)
{
	size_t *at = &w->sites[w->site_of[node]].first;

	site_charge(w, node, -1);
	while (*at != node)
		at = &w->next[*at];
	*at = w->next[node];
	w->next[node] = w->site_of[node] = VS_NO_NODE;
}

/* ---- the work area ------------------------------------------------------ */

static bool same_class(const struct vs_class *c, const struct vs_place_node *n)
{
	const struct vs_profile *a = c->profile, *b = n->profile;

	return c->net == n->net && a->adapter == b->adapter &&
	       a->vcpus == b->vcpus && a->memory_mb == b->memory_mb &&
	       a->template_hw == b->template_hw &&
	       a->latency_high == b->latency_high &&
	       vs_clone_source_same(c, n) &&
	       vs_hardware_same(&a->hw, &b->hw);
}

void vs_class_fill(struct vs_class *c, const struct vs_place_node *n)
{
	c->profile = n->profile;
	c->net = n->net;
	c->vfs = vs_adapter_vfs(n->profile->adapter);
	c->beside = vs_adapter_additional(n->profile->adapter);
	c->rails = c->vfs > 1 && n->profile->adapter->rails;
	c->min_hw = vs_adapter_hw(n->profile->adapter);
	if (n->profile->latency_high && c->min_hw < HW_LATENCY_HIGH)
		c->min_hw = HW_LATENCY_HIGH;
	/* a clone is of its template's version */
	if (c->min_hw < n->profile->template_hw)
		c->min_hw = n->profile->template_hw;
	c->mem_mb = vs_profile_reserved_mb(n->profile) +
		    vs_profile_overhead_mb(n->profile);
	c->swap_mb = vs_profile_swap_mb(n->profile);
	c->exists = n->exists;
	c->store = -1;
}

static size_t class_find(struct vs_work *w, const struct vs_place_node *n)
{
	int lies = vs_store_lies(w, n);
	size_t i;

	for (i = 0; i < w->nclasses; i++) {
		if (same_class(&w->classes[i], n) &&
		    vs_store_same(w, &w->classes[i], n, lies))
			return i;
	}
	vs_class_fill(&w->classes[i], n);
	w->classes[i].store = lies;
	w->classes[i].bare = vs_clone_source_absent(w->env, n);
	w->nclasses++;
	return i;
}

/* To allocate large blocks each time costs much, because malloc tidies up
 * first. */
void *vs_scratch_take(void **spare, size_t n, size_t size)
{
	void *have = *spare;

	*spare = NULL;
	return have ? have : vs_calloc(n, size);
}

void vs_scratch_give(void **spare, void *have)
{
	free(*spare);
	*spare = have;
}

/* As if it were up and empty. */
static void site_empty(struct vs_site *s)
{
	const struct vs_host *h = s->host;

	s->own = vs_calloc(1, sizeof(*s->own));
	s->sum = s->own;
	for (int i = 0; i < h->npfs; i++)
		s->own->pf[i].free = h->pfs[i].vfs;
	s->own->cpu_free = vs_host_cpu_mhz(h);
	s->own->mem_free = h->memory_mb;
}

void vs_site_fill(const struct vs_work *w, size_t at, struct vs_site *s)
{
	const struct vs_brief *brief = &w->sums->briefs[at];
	const struct vs_host *h = w->sums->by_name[at];
	const struct vs_place_env *env = w->env;
	const struct vs_host_block *bar;
	char why[64];

	*s = (struct vs_site) {
		.host = h, .brief = brief, .first = VS_NO_NODE, .most = INT_MAX,
		.pool = w->ever || env->has_pool ? -1 : brief->pool,
		.nstores = w->ever ? 0 : brief->nstores,
	};
	if (w->ever) {
		site_empty(s);
		return;
	}
	s->sum = &w->sums->hosts[brief->index];
	s->busy = env->ops && env->ops[brief->index] >= env->ops_max;
	if (env->bars) {
		bar = &env->bars[brief->index];
		s->avoided = bar->avoided;
		s->avoided_pfs = bar->pfs;
		if (bar->trial)
			s->most = bar->most;
		return;
	}
	if (!env->avoid)
		return;
	s->avoided = env->avoid(env->arg, h, NULL, why, sizeof(why));
	for (int i = 0; i < h->npfs; i++) {
		if (env->avoid(env->arg, h, &h->pfs[i], why, sizeof(why)))
			s->avoided_pfs |= 1u << i;
	}
}

static void sites_init(struct vs_work *w)
{
	const struct vs_place_env *env = w->env;

	w->sums = env->sums;
	if (!w->sums) {
		vs_free_capacity_update(&w->made, env->ledger, env->inv,
					env->folder ? env->folder : "",
					env->cluster_id ? env->cluster_id : "");
		w->sums = &w->made;
	}
	w->nsites = env->inv->nhosts;
	w->by_mhz = w->sums->by_mhz;
	w->sites = vs_scratch_take(&w->sums->spare_sites, w->nsites,
				   sizeof(*w->sites));
	for (size_t i = 0; i < w->nsites; i++)
		vs_site_fill(w, i, &w->sites[i]);
}

/* Where each node's VM lies, as a site. */
static void prefers_init(struct vs_work *w)
{
	for (size_t i = 0; i < w->n; i++) {
		const char *moid = w->nodes[i].prefer_host;
		const struct vs_host *h = moid && moid[0] ?
			vs_host_get(w->env->inv, moid) : NULL;

		w->prefers[i] = h ? w->sums->name_at[h->index] : VS_NO_NODE;
	}
}

enum vs_policy vs_place_policy(const struct vs_place_env *env,
			       const struct vs_profile *p)
{
	switch (p->placement) {
	case VS_PLACEMENT_PACK:
		return VS_PLACE_PACK;
	case VS_PLACEMENT_SPREAD:
		return VS_PLACE_SPREAD;
	case VS_PLACEMENT_BALANCE:
	case VS_PLACEMENT_DRS:		/* DRS is asked later */
		return VS_PLACE_BALANCE;
	case VS_PLACEMENT_GLOBAL:
		break;
	}
	return env->policy;
}

void vs_work_init(struct vs_work *w, const struct vs_place_env *env,
		  struct vs_place_node *nodes, size_t n, bool ever)
{
	memset(w, 0, sizeof(*w));
	w->env = env;
	w->policy = n ? vs_place_policy(env, nodes[0].profile) : env->policy;
	w->ever = ever;
	w->nodes = nodes;
	w->n = n;
	sites_init(w);
	vs_pools_init(w);
	w->classes = vs_calloc(n, sizeof(*w->classes));
	w->class_of = vs_calloc(n, sizeof(*w->class_of));
	w->site_of = vs_calloc(n, sizeof(*w->site_of));
	w->next = vs_calloc(n, sizeof(*w->next));
	w->pfs_of = vs_calloc(n, sizeof(*w->pfs_of));
	w->prefers = vs_calloc(n, sizeof(*w->prefers));
	for (size_t i = 0; i < n; i++) {
		w->class_of[i] = class_find(w, &nodes[i]);
		w->classes[w->class_of[i]].count++;
		w->site_of[i] = w->next[i] = VS_NO_NODE;
	}
	prefers_init(w);
	w->fits = vs_calloc(w->nclasses, sizeof(*w->fits));
	vs_fits_init(w);
}

void vs_work_free(struct vs_work *w)
{
	for (size_t i = 0; i < w->nsites; i++)
		free(w->sites[i].own);
	if (w->ever)
		for (size_t c = 0; c < w->nclasses; c++)
			free((void *)w->fits[c]);
	vs_scratch_give(&w->sums->spare_sites, w->sites);
	vs_free_capacity_clear(&w->made);
	free(w->pools);
	free(w->pools_before);
	free(w->classes);
	free(w->fits);
	free(w->class_of);
	free(w->site_of);
	free(w->next);
	free(w->pfs_of);
	free(w->prefers);
}
