/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Placement's hard criteria that hang on what a host is and has, whatever is
 * free on it: the same for every question until the host changes, and so kept
 * beside the sums.
 *
 * Rules: the criteria are asked in the order of the refusals' texts; what is
 * kept is keyed by all that a criterion reads of the class and of the site's
 * settings. Never looks at a VM or a hold.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "plan/placement/placement_i.h"
#include "util/mem.h"

#define KEPT_MAX 64		/* kinds of VMs */

static bool cluster_allowed(const struct vs_work *w, const struct vs_host *h)
{
	const char **m = w->env->clusters;

	if (!m)
		return true;
	for (; *m; m++) {
		if (!strcmp(*m, h->cluster))
			return true;
	}
	return false;
}

/* The rows of devices that are to be beside the class's own. */
static uint32_t beside(const struct vs_class *c, const struct vs_host *h)
{
	uint32_t mask = 0;

	for (int i = 0; c->beside && i < h->npfs; i++)
		if (vs_pf_reaches(c->profile->adapter->with, c->net,
				  &h->pfs[i]))
			mask |= 1u << i;
	return mask;
}

/* PFs that reach the class's network, and how many uplinks of its switch
 * there are (the pool that an automatic NIC draws from). */
static uint32_t reaching_pfs(const struct vs_work *w, const struct vs_class *c,
			     const struct vs_host *h, int *pool)
{
	const struct vs_adapter *a = c->profile->adapter;
	uint32_t mask = 0;

	*pool = 0;
	for (int i = 0; i < h->npfs; i++) {
		const struct vs_pf *pf = &h->pfs[i];

		*pool += c->net->switch_uuid[0] &&
			!strcmp(pf->switch_uuid, c->net->switch_uuid);
		if (!vs_pf_reaches(a, c->net, pf))
			continue;
		/* InfiniBand ports appear to ESXi as NICs without link */
		if (a->link == VS_LINK_ETHERNET && !pf->link_up && !w->ever)
			continue;
		mask |= 1u << i;
	}
	return mask;
}

static int count(uint32_t pfs)
{
	int n = 0;

	for (; pfs; pfs &= pfs - 1)
		n++;
	return n;
}

static enum vs_refusal host_state(const struct vs_host *h)
{
	return !h->connected ? VS_REFUSE_CONNECTION :
	       h->maintenance || h->entering_maintenance ?
	       VS_REFUSE_MAINTENANCE :
	       h->quarantine ? VS_REFUSE_QUARANTINE : VS_REFUSE_STANDBY;
}

static enum vs_refusal fixed_host(const struct vs_work *w,
				  const struct vs_class *c,
				  const struct vs_host *h)
{
	/* for "ever", what hasn't been delivered is no reason */
	if (!w->ever && !vs_host_usable(h))
		return host_state(h);
	if (!cluster_allowed(w, h))
		return VS_REFUSE_CLUSTER;
	if (w->env->store && !(w->ever && !h->nstores) &&
	    !vs_host_has_store(h, w->env->store))
		return VS_REFUSE_STORE;
	if (w->env->inv->nuses && !(w->ever && !h->nstores) &&
	    !vs_host_has_any_store(w->env->inv, h))
		return VS_REFUSE_STORE;
	if (h->max_hw && h->max_hw < c->min_hw)
		return VS_REFUSE_HW;
	if (!(w->ever && !h->nnets && c->net) &&
	    !vs_host_on_net(h, c->profile->adapter, c->net))
		return VS_REFUSE_NETWORK;
	return VS_REFUSE_NONE;
}

/* As placement's choice asks it of what is left: what isn't known of a node is
 * its part of the host. */
static void numa_size(const struct vs_host *h, const struct vs_pf *pf,
		      int64_t *mb, int *cores)
{
	*mb = pf->numa_mb ? pf->numa_mb : h->memory_mb / h->numa_nodes;
	*cores = pf->numa_cores ? pf->numa_cores : h->cores / h->numa_nodes;
}

/* NumaAffinity=pf: PFs whose node can't ever hold the VM are none of it. One
 * of several NICs may be on the nodes of all of them. */
static bool numa_could(const struct vs_class *c, const struct vs_host *h,
		       uint32_t *pfs)
{
	uint64_t counted = 0;
	int64_t all_mb = 0, mb;
	int all_cores = 0, cores;

	for (int i = 0; i < h->npfs && h->numa_nodes > 1; i++) {
		const struct vs_pf *pf = &h->pfs[i];

		if (!(*pfs & 1u << i))
			continue;
		if (pf->numa < 0 || pf->numa > 63)
			return true;
		numa_size(h, pf, &mb, &cores);
		if (c->vfs == 1 && (mb < c->mem_mb ||
				    cores < c->profile->vcpus))
			*pfs &= ~(1u << i);
		if (counted & 1ull << pf->numa)
			continue;
		counted |= 1ull << pf->numa;
		all_mb += mb;
		all_cores += cores;
	}
	return *pfs && (!counted || (all_mb >= c->mem_mb &&
				     all_cores >= c->profile->vcpus));
}

static void fit_fill(const struct vs_work *w, const struct vs_class *c,
		     const struct vs_host *h, struct vs_fit *f)
{
	int pool;

	memset(f, 0, sizeof(*f));
	f->fixed = fixed_host(w, c, h);
	if (f->fixed || !vs_class_counts(c))
		return;
	if (!h->pfs_known) {
		f->fixed = VS_REFUSE_UNKNOWN;
		return;
	}
	if (c->vfs) {
		f->pfs = reaching_pfs(w, c, h, &pool);
		f->automatic = pool == 1 && !c->profile->adapter->pf[0];
	}
	f->beside = beside(c, h);
	if (c->vfs && !f->pfs)
		f->fixed = vs_adapter_nics(c->profile->adapter) ?
			VS_REFUSE_NO_PF : VS_REFUSE_NO_DEVICE;
	else if (c->rails && count(f->pfs) < c->vfs)
		f->fixed = VS_REFUSE_RAILS;
	else if (c->beside && !f->beside)
		f->fixed = VS_REFUSE_NO_DEVICE;
	else if (c->vfs && c->profile->hw.numa_pf && !numa_could(c, h, &f->pfs))
		f->fixed = VS_REFUSE_NUMA;
}

/* ---- kept --------------------------------------------------------------- */

/* Those that adapters of ports have not cost them nothing. */
static uint64_t key_device(uint64_t key, const struct vs_adapter *a)
{
	char plain[48] = "";

	if (!vs_adapter_nics(a)) {
		snprintf(plain, sizeof(plain), "%d %x %x %d", (int)a->type,
			 (unsigned int)a->vendor, (unsigned int)a->device,
			 a->line);
		key = vs_hash_str(vs_hash_str(key, plain), a->label);
	}
	return a->with ? key_device(vs_hash_str(key, "with"), a->with) : key;
}

/* What the nodes of PFs must hold. */
static uint64_t key_numa(uint64_t key, const struct vs_class *c)
{
	char plain[64] = "";

	if (!c->profile->hw.numa_pf)
		return key;
	snprintf(plain, sizeof(plain), "numa %lld %d", (long long)c->mem_mb,
		 c->profile->vcpus);
	return vs_hash_str(key, plain);
}

/* All that fit_fill reads beside the host. */
uint64_t vs_fits_key(const struct vs_work *w, const struct vs_class *c)
{
	const struct vs_adapter *a = c->profile->adapter;
	const char **m = w->env->clusters;
	char plain[48];
	uint64_t key = VS_HASH_START;

	snprintf(plain, sizeof(plain), "%d %d %d %d %d %d %d", c->vfs, c->beside, c->rails,
		 c->min_hw, (int)a->link, m != NULL, c->net != NULL);
	key = key_numa(vs_hash_str(key, plain), c);
	key = key_device(vs_hash_str(key, a->pf), a);
	key = vs_hash_str(key, c->net ? c->net->moid : "");
	key = vs_hash_str(key, c->net ? c->net->switch_uuid : "");
	key = vs_hash_str(key, w->env->store ? w->env->store : "");
	for (; m && *m; m++)
		key = vs_hash_str(key, *m);
	return key;
}

static void fits_fill(const struct vs_work *w, const struct vs_class *c,
		      struct vs_fit *fits)
{
	for (size_t i = 0; i < w->sums->nhosts; i++)
		fit_fill(w, c, w->sums->by_name[i],
			 &fits[w->sums->by_name[i]->index]);
}

static struct vs_fits *kept_find(struct vs_free_capacity *s, uint64_t key)
{
	for (size_t i = 0; i < s->nfits; i++) {
		if (s->fits[i].key == key)
			return &s->fits[i];
	}
	return NULL;
}

static void kept_follow(const struct vs_work *w, const struct vs_class *c,
			struct vs_fits *k)
{
	const struct vs_host *h;

	TAILQ_FOREACH_REVERSE(h, &w->env->inv->by_change, vs_hosts_changed,
			      by_change) {
		if (h->changed <= k->seen)
			break;
		if (h->itself > k->seen)
			fit_fill(w, c, h, &k->by_host[h->index]);
	}
}

static const struct vs_fit *kept(const struct vs_work *w,
				 const struct vs_class *c)
{
	uint64_t key = vs_fits_key(w, c);
	struct vs_fits *k = kept_find(w->sums, key);

	if (!k) {
		w->sums->fits = vs_realloc(w->sums->fits, w->sums->nfits + 1,
					   sizeof(*k));
		k = &w->sums->fits[w->sums->nfits++];
		k->key = key;
		k->by_host = vs_calloc(w->sums->nhosts, sizeof(*k->by_host));
		fits_fill(w, c, k->by_host);
	} else {
		kept_follow(w, c, k);
	}
	k->seen = w->env->inv->generation;
	return k->by_host;
}

void vs_fits_init(struct vs_work *w)
{
	struct vs_fit *fits;

	if (w->sums->nfits > KEPT_MAX)
		vs_free_capacity_forget_fits(w->sums);
	for (size_t c = 0; c < w->nclasses; c++) {
		if (!w->ever) {
			w->fits[c] = kept(w, &w->classes[c]);
			continue;
		}
		fits = vs_calloc(w->sums->nhosts, sizeof(*fits));
		fits_fill(w, &w->classes[c], fits);
		w->fits[c] = fits;
	}
}
