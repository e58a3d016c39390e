/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Placement: a gang whole or not at all, or the reasons why not.
 *
 * Rules: nodes are placed class by class, the one with least to spare first,
 * by the policy; where a gang mixes classes and one finds no place left, a
 * bounded number of exchanges is tried (a VM of another class moves away to
 * make room), then a few other orders of the classes. Deterministic. The caller's nodes are written on success only.
 * Never touches the ledger.
 */
#include <stdlib.h>
#include <string.h>
#include "plan/placement/placement_i.h"
#include "util/mem.h"
#include "util/name.h"

#define ORDERS 3		/* of classes, after the first one */
#define REPAIR_TRIES 64		/* exchanges per order */
#define REPAIR_DEPTH 3		/* VMs moved for one */
#define REPAIR_KINDS 32		/* kinds of VMs tried on one host */

static const char *const refusal_texts[] = {
	[VS_REFUSE_NONE] = "fits",
	[VS_REFUSE_CONNECTION] = "not connected",
	[VS_REFUSE_STANDBY] = "in or entering standby, or powered off",
	[VS_REFUSE_MAINTENANCE] = "in or entering maintenance",
	[VS_REFUSE_QUARANTINE] = "quarantined",
	[VS_REFUSE_CLUSTER] = "in no cluster of vsphere.conf",
	[VS_REFUSE_NETWORK] = "does not have the network",
	[VS_REFUSE_STORE] = "does not mount the datastore",
	[VS_REFUSE_NO_PF] = "no PF with link reaches the network",
	[VS_REFUSE_RAILS] = "fewer PFs reach the network than a VM has NICs",
	[VS_REFUSE_NUMA] = "no PF on a NUMA node that holds the VM",
	[VS_REFUSE_VF] = "no free VF",
	[VS_REFUSE_NO_DEVICE] = "no such device with passthrough enabled",
	[VS_REFUSE_DEVICE] = "no free device",
	[VS_REFUSE_VFS] = "too few free VFs for all NICs of a VM",
	[VS_REFUSE_UNKNOWN] = "VFs unknown, a VM or its PFs cannot be read",
	[VS_REFUSE_CPU] = "too little CPU left for the reservation",
	[VS_REFUSE_MEMORY] = "too little memory left",
	[VS_REFUSE_POOL_CPU] = "too little CPU left in the resource pool",
	[VS_REFUSE_POOL_MEMORY] =
		"too little memory left in the resource pool",
	[VS_REFUSE_STORE_CAPACITY] = "too little free space on the datastore",
	[VS_REFUSE_HW] = "too old for the VM's hardware version",
	[VS_REFUSE_EXCLUDED] = "excluded",
	[VS_REFUSE_TRIAL] = "failed recently, one trial VM is started first",
	[VS_REFUSE_BUSY] = "the maximum of operations is running",
};
_Static_assert(VS_COUNT(refusal_texts) == VS_REFUSALS,
	       "a refusal has no text");

const char *vs_refusal_text(enum vs_refusal r)
{
	return (unsigned int)r < VS_REFUSALS ? refusal_texts[r] : "?";
}

/* ---- exchanges ---------------------------------------------------------- */

static bool repair(struct vs_work *w, size_t node, int depth);

static bool place_one(struct vs_work *w, size_t node, int depth)
{
	size_t site = vs_place_best(w, w->class_of[node]);

	if (site == VS_NO_NODE)
		return depth > 0 && repair(w, node, depth - 1);
	vs_put(w, node, site);
	return true;
}

size_t vs_group_add(const struct vs_work *w, size_t *out, size_t n, size_t y)
{
	for (size_t k = 0; k < n; k++)
		if (w->class_of[out[k]] == w->class_of[y] &&
		    !memcmp(&w->pfs_of[out[k]], &w->pfs_of[y],
			    sizeof(*w->pfs_of)))
			return n;
	out[n] = y;
	return n + 1;
}

/* One node of each other class and PF on a site. */
static size_t others_on(const struct vs_work *w, size_t site, size_t cls,
			size_t *out)
{
	size_t n = 0;

	for (size_t y = w->sites[site].first; y != VS_NO_NODE &&
	     n < REPAIR_KINDS; y = w->next[y])
		if (w->class_of[y] != cls && !vs_place_preference_met(w, y))
			n = vs_group_add(w, out, n, y);
	return n;
}

/* Put x in y's place and y elsewhere; as it was if that can't be. */
static bool exchange(struct vs_work *w, size_t x, size_t y, int depth)
{
	size_t site = w->site_of[y];
	struct vs_picked pfs = w->pfs_of[y];

	vs_unput(w, y);
	if (!vs_fit_check(w, w->class_of[x], site)) {
		vs_put(w, x, site);
		if (place_one(w, y, depth))
			return true;
		vs_unput(w, x);
	}
	vs_put_on_pfs(w, y, site, &pfs);
	return false;
}

static bool repair(struct vs_work *w, size_t node, int depth)
{
	size_t cls = w->class_of[node], others[REPAIR_KINDS], n;

	for (size_t s = 0; s < w->nsites; s++) {
		/* no VM of the gang is on a host that is avoided or busy */
		if (vs_fit_get(w, cls, s)->fixed)
			continue;
		n = others_on(w, s, cls, others);
		for (size_t i = 0; i < n; i++) {
			if (w->tries-- <= 0)
				return false;
			if (exchange(w, node, others[i], depth))
				return true;
		}
	}
	return false;
}

/* ---- the gang ----------------------------------------------------------- */

static int64_t spare(const struct vs_class *c)
{
	return (int64_t)c->room - (int64_t)c->count;
}

/* Class numbers, least to spare first; equal ones as they came. */
static void classes_order(const struct vs_work *w, size_t *order)
{
	for (size_t i = 0; i < w->nclasses; i++) {
		size_t k = i;

		for (; k && spare(&w->classes[order[k - 1]]) >
		     spare(&w->classes[i]); k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
}

/* A class alone that has room for all never fails here; beside others, what
 * it counted on may have been taken. */
static bool place_class(struct vs_work *w, size_t cls)
{
	if (w->policy == VS_PLACE_PACK ? vs_place_packed(w, cls) :
	    vs_place_even(w, cls))
		return true;
	/* fast cores may have taken too much of a pool's CPU, hosts that see
	 * several datastores too much of one that is another's only one */
	if ((w->env->inv->nuses || (w->env->inv->npools &&
		vs_profile_reserves_cpu(w->classes[cls].profile))) &&
	    vs_place_cheapest(w, cls))
		return true;
	for (size_t i = 0; i < w->n; i++) {
		if (w->class_of[i] == cls && w->site_of[i] == VS_NO_NODE &&
		    !place_one(w, i, REPAIR_DEPTH))
			return false;
	}
	return true;
}

/* The class that found no place, or nclasses. */
static size_t place_in(struct vs_work *w, const size_t *order)
{
	for (size_t i = 0; i < w->n; i++) {
		if (w->site_of[i] != VS_NO_NODE)
			vs_unput(w, i);
	}
	w->tries = REPAIR_TRIES;
	vs_place_preferred(w);
	for (size_t i = 0; i < w->nclasses; i++) {
		if (!place_class(w, order[i]))
			return order[i];
	}
	return w->nclasses;
}

/* Who found no place is placed first the next time. */
static bool place_again(struct vs_work *w, const size_t *first, size_t failed)
{
	VS_FREE size_t *order = vs_calloc(w->nclasses, sizeof(*order));

	for (size_t i = 0; i < w->nclasses; i++)
		order[i] = first[i];
	for (int k = 0; w->nclasses > 1 && k < ORDERS; k++) {
		size_t at = 0;

		while (order[at] != failed)
			at++;
		memmove(&order[1], order, at * sizeof(*order));
		order[0] = failed;
		failed = place_in(w, order);
		if (failed == w->nclasses)
			return true;
	}
	return false;
}

/* The classes' order; the first one that there is no room for, or nclasses. */
static size_t rooms_fill(struct vs_work *w, size_t *order)
{
	struct vs_pool_short unused;

	for (size_t c = 0; c < w->nclasses; c++)
		w->classes[c].room = vs_class_capacity(w, c, VS_CAPACITY_MAX,
						       &unused);
	classes_order(w, order);
	for (size_t i = 0; i < w->nclasses; i++)
		if (spare(&w->classes[order[i]]) < 0)
			return order[i];
	return w->nclasses;
}

/* Those that there is room for, each class by itself. */
static size_t place_room(struct vs_work *w, const size_t *order)
{
	size_t failed;

	for (size_t i = 0; i < w->n; i++)
		w->heeds |= w->nodes[i].wished;
	failed = place_in(w, order);
	if (w->heeds && failed < w->nclasses) {
		/* the gang first, then the preferred host */
		w->heeds = false;
		failed = place_in(w, order);
	}
	/* the reasons told are those of the first try */
	return failed == w->nclasses || place_again(w, order, failed) ?
		w->nclasses : place_in(w, order);
}

static size_t place_all(struct vs_work *w)
{
	VS_FREE size_t *order = vs_calloc(w->nclasses, sizeof(*order));
	size_t failed = rooms_fill(w, order);

	if (failed < w->nclasses) {
		/* hopeless; fill up, for the reasons to be those of a host
		 * that takes no more */
		vs_place_even(w, failed);
		return failed;
	}
	failed = place_room(w, order);
	if (failed == w->nclasses && w->policy == VS_PLACE_BALANCE)
		vs_place_level(w);
	return failed;
}

/* ---- the reasons -------------------------------------------------------- */

static void say_host(const struct vs_work *w, size_t cls, size_t site,
		     enum vs_refusal r, struct vs_buf *b)
{
	const struct vs_place_env *env = w->env;
	const struct vs_site *s = &w->sites[site];
	const struct vs_fit *f = vs_fit_get(w, cls, site);
	uint32_t pfs = (f->pfs | f->beside) & s->avoided_pfs;
	char why[96] = "";

	vs_buf_printf(b, "%s: %s", s->host->name[0] ? s->host->name :
		      s->host->moid, vs_refusal_text(r));
	if (r != VS_REFUSE_EXCLUDED)
		return;
	if (s->avoided)
		env->avoid(env->arg, s->host, NULL, why, sizeof(why));
	else
		env->avoid(env->arg, s->host,
			   &s->host->pfs[__builtin_ctz(pfs)], why,
			   sizeof(why));
	if (why[0])
		vs_buf_printf(b, " (%s)", why);
}

/* What hosts share; of several datastores, each. */
static bool is_pool(const struct vs_work *w, enum vs_refusal r)
{
	return r == VS_REFUSE_POOL_CPU || r == VS_REFUSE_POOL_MEMORY ||
	       (r == VS_REFUSE_STORE_CAPACITY && w->env->inv->nuses);
}

/* Each pool that lacks once, whatever the number of its hosts. */
static const char *say_pools(const struct vs_work *w, size_t cls,
			     const enum vs_refusal *why, struct vs_buf *b)
{
	VS_FREE bool *said = vs_calloc(w->env->inv->npools, sizeof(*said));
	struct vs_buf text = VS_BUF_INIT(b->max - b->len - 1);
	bool any;

	for (size_t i = 0; i < w->nsites; i++) {
		struct vs_pool_short s = { i, why[i] };

		if (is_pool(w, why[i]))
			vs_pool_explain(w, &w->classes[cls], &s, said, &text);
	}
	vs_buf_printf(b, "%s", text.len ? text.data : "");
	any = text.len > 0;
	vs_buf_free(&text);
	return any ? "; " : "";
}

static void say_hosts(const struct vs_work *w, size_t cls,
		      const enum vs_refusal *why, struct vs_buf *b)
{
	size_t count[VS_REFUSALS] = { 0 };
	const char *sep = say_pools(w, cls, why, b);

	if (!w->nsites)
		vs_buf_printf(b, "no host is known");
	for (size_t i = 0; i < w->nsites; i++) {
		count[why[i]]++;
		if (w->nsites > VS_PLACE_HOSTS_TOLD || is_pool(w, why[i]))
			continue;
		vs_buf_printf(b, "%s", sep);
		say_host(w, cls, i, why[i], b);
		sep = "; ";
	}
	for (int r = 0; r < VS_REFUSALS && w->nsites > VS_PLACE_HOSTS_TOLD; r++) {
		if (!count[r] || is_pool(w, r))
			continue;
		vs_buf_printf(b, "%s%zu host%s: %s", sep, count[r],
			      vs_plural(count[r]), vs_refusal_text(r));
		sep = "; ";
	}
}

static void say_need(const struct vs_class *c, struct vs_buf *b)
{
	const struct vs_adapter *a = c->profile->adapter;
	const char *name = a->name;

	if (c->vfs > 1)
		vs_buf_printf(b, "needs %zu node%s with %d %s %ss each",
			      c->count, vs_plural(c->count), c->vfs, name,
			      vs_adapter_type_info(a)->unit);
	else
		vs_buf_printf(b, "needs %zu %s %s%s", c->count, name,
			      c->vfs ? vs_adapter_type_info(a)->unit : "VM",
			      vs_plural(c->count));
	if (c->beside)
		vs_buf_printf(b, " with %d %s %s%s each", c->beside,
			      a->with->name,
			      vs_adapter_type_info(a->with)->unit,
			      vs_plural((size_t)c->beside));
}

static int refuse(const struct vs_work *w, size_t cls, struct vs_err *err)
{
	const struct vs_class *c = &w->classes[cls];
	VS_FREE enum vs_refusal *why = vs_calloc(w->nsites, sizeof(*why));
	struct vs_buf b = VS_BUF_INIT(sizeof(err->text) - 1);
	bool pool = false;

	for (size_t i = 0; i < w->nsites; i++) {
		why[i] = vs_fit_check(w, cls, i);
		pool |= is_pool(w, why[i]);
	}
	say_need(c, &b);
	if (c->count < w->n)
		vs_buf_printf(&b, " beside %zu other VM%s", w->n - c->count,
			      vs_plural(w->n - c->count));
	/* VFs may be free although a pool is exhausted. */
	if (pool || c->vfs > 1)
		vs_buf_printf(&b, ", capacity for %zu VM%s (", c->room,
			      vs_plural(c->room));
	else
		vs_buf_printf(&b, ", %zu free (", c->room);
	say_hosts(w, cls, why, &b);
	vs_buf_printf(&b, ")");
	vs_err_set(err, VS_E_SHORTAGE, "%s", b.data);
	vs_buf_free(&b);
	return -1;
}

/* Hosts that would do are refused for the datastore, which is one for all. */
static int refuse_store(const struct vs_work *w, int64_t need_mb,
			struct vs_err *err)
{
	struct vs_buf b = VS_BUF_INIT(sizeof(err->text) - 1);

	vs_store_explain(w, w->n, need_mb, &b);
	vs_err_set(err, VS_E_SHORTAGE, "%s", b.data);
	vs_buf_free(&b);
	return -1;
}

static void answer(const struct vs_work *w)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct vs_site *s = &w->sites[w->site_of[i]];
		struct vs_place_node *n = &w->nodes[i];
		int store = w->pfs_of[i].store;

		n->host = s->host;
		n->to_store = store < 0 ? NULL :
			w->env->inv->pools[store].cluster;
		n->moves = vs_store_moves(w, &w->classes[w->class_of[i]], s);
		n->npfs = w->pfs_of[i].n;
		for (int k = 0; k < n->npfs; k++)
			n->pfs[k] = &s->host->pfs[w->pfs_of[i].pf[k]];
		n->pf_automatic =
			n->npfs &&
			vs_fit_get(w, w->class_of[i], w->site_of[i])->automatic;
	}
}

int vs_place(const struct vs_place_env *env, struct vs_place_node *nodes,
	     size_t n, struct vs_err *err)
{
	struct vs_work w;
	int64_t store_mb;
	size_t failed;
	int rc = 0;

	if (!n)
		return 0;
	vs_work_init(&w, env, nodes, n, false);
	store_mb = vs_store_need(&w);
	if (store_mb && store_mb > w.store_mb)
		rc = refuse_store(&w, store_mb, err);
	else if ((failed = place_all(&w)) < w.nclasses)
		rc = refuse(&w, failed, err);
	else
		answer(&w);
	vs_work_free(&w);
	return rc;
}

bool vs_place_could(const struct vs_place_env *env, struct vs_place_node *nodes,
		    size_t n)
{
	VS_FREE size_t *order = vs_calloc(n, sizeof(*order));
	struct vs_work w;
	int64_t store_mb;
	bool could;

	if (!n)
		return true;
	vs_work_init(&w, env, nodes, n, false);
	store_mb = vs_store_need(&w);
	could = (!store_mb || store_mb <= w.store_mb) &&
		rooms_fill(&w, order) == w.nclasses &&
		(w.nclasses == 1 || place_room(&w, order) == w.nclasses);
	vs_work_free(&w);
	return could;
}
