/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checks of plan/check, made when something that they ask has changed, and
 * what a hard finding leads to: the PF takes no VM until it is mended.
 *
 * Rules: hosts are looked at once a second at most, and slurmctld's threads are
 * lent the lock between two of them; what hosts share, with the slow beat. What
 * placement refuses by itself (no VF, no network, no datastore) is not refused
 * again here. Nothing that runs is touched. The lock is held.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/core_i.h"
#include "util/mem.h"

#define AGAIN_MS 1000
#define SLICE 64		/* nodes between two lendings of the lock */

/* slurmctld's threads go first, and may bring another configuration: then what
 * was begun is of the old one. */
static bool lent_well(const struct vs_core *c)
{
	uint64_t epoch = c->epoch;

	vs_lock_lend();
	return c->epoch == epoch;
}

/* ---- the question ---------------------------------------------------------- */

static bool *profiles_used(const struct vs_core *c)
{
	bool *used = vs_calloc(c->nprofiles + 1, sizeof(*used));

	for (size_t i = 0; i < c->nnodes; i++)
		used[c->nodes[i].profile - c->profiles] = true;
	return used;
}

static struct vs_check_site site_of(const struct vs_core *c, const bool *used,
				    const char *names)
{
	return (struct vs_check_site) {
		.inv = &c->inv, .adapters = c->adapters, .nets = c->nets,
		.nadapters = c->conf->nadapters, .profiles = c->profiles,
		.used = used, .nprofiles = c->nprofiles, .store = c->store,
		.store_name = names, .user = c->conf->username,
	};
}

/* ---- findings, kept ---------------------------------------------------------- */

struct vs_checked *vs_checked_use(struct vs_checked *k)
{
	if (k)
		k->users++;
	return k;
}

void vs_checked_drop(struct vs_checked *k)
{
	if (!k || --k->users)
		return;
	vs_found_clear(&k->l);
	free(k);
}

/* In the place of what was found before, and said. */
static void found_set(struct vs_checked **slot, struct vs_found_list *take)
{
	static const struct vs_found_list none;
	struct vs_checked *old = *slot, *now = vs_calloc(1, sizeof(*now));

	vs_found_sort(take);
	now->l = *take;
	*slot = vs_checked_use(now);
	vs_checks_say(old ? &old->l : &none, &now->l);
	vs_checked_drop(old);
}

/* ---- what a hard finding keeps away ----------------------------------------- */

static void unfit_free(struct vs_unfit *all)
{
	struct vs_unfit *u, *next;

	HASH_ITER(hh, all, u, next) {
		HASH_DEL(all, u);
		while (u->avoids) {
			struct vs_avoid *a = u->avoids;

			u->avoids = a->next;
			free(a);
		}
		free(u);
	}
}

static void unfit_add(struct vs_unfit **all, const struct vs_found *f)
{
	struct vs_unfit *u;
	struct vs_avoid *a;

	HASH_FIND_STR(*all, f->bars, u);
	if (!u) {
		u = vs_calloc(1, sizeof(*u));
		vs_strlcpy(u->moid, f->bars, sizeof(u->moid));
		HASH_ADD_STR(*all, moid, u);
	}
	a = vs_calloc(1, sizeof(*a));
	a->cause = VS_AVOID_UNFIT;
	a->until_ms = VS_AVOID_FOREVER;
	vs_strlcpy(a->moid, f->bars, sizeof(a->moid));
	vs_strlcpy(a->pf, f->pf, sizeof(a->pf));
	snprintf(a->why, sizeof(a->why), "%s: %s, should be %s",
		 vs_check_kinds[f->code].code, f->is, f->should);
	a->next = u->avoids;
	u->avoids = a;
}

static bool same_avoids(const struct vs_unfit *u, const struct vs_unfit *v)
{
	const struct vs_avoid *a = u->avoids, *b = v ? v->avoids : NULL;

	for (; a && b; a = a->next, b = b->next)
		if (strcmp(a->pf, b->pf) || strcmp(a->why, b->why))
			return false;
	return !a && !b;
}

/* Their nodes are looked at anew. */
static bool touch_changed(struct vs_core *c, struct vs_unfit *of,
			  struct vs_unfit *other)
{
	struct vs_unfit *u, *v;
	bool any = false;

	for (u = of; u; u = u->hh.next) {
		const struct vs_host *h = vs_host_get(&c->inv, u->moid);

		HASH_FIND_STR(other, u->moid, v);
		if (same_avoids(u, v))
			continue;
		any = true;
		if (h)
			vs_nodes_touch_on(c, h);
	}
	return any;
}

static void bars_set(struct vs_core *c)
{
	const struct vs_found_list *l = &c->checks.hosts->l;
	struct vs_unfit *old = c->checks.unfit;
	bool came, went;

	c->checks.unfit = NULL;
	for (size_t i = 0; i < l->n; i++)
		if (l->f[i].bars[0])
			unfit_add(&c->checks.unfit, &l->f[i]);
	came = touch_changed(c, c->checks.unfit, old);
	went = touch_changed(c, old, c->checks.unfit);
	unfit_free(old);
	if (came || went)
		c->avoid_gen++;
	c->vf_freed |= went;
}

const struct vs_avoid *vs_checks_unfit(const struct vs_core *c,
				       const char *host)
{
	struct vs_unfit *u;

	if (!c->checks.unfit)
		return NULL;
	HASH_FIND_STR(c->checks.unfit, host, u);
	return u ? u->avoids : NULL;
}

/* ---- hosts ------------------------------------------------------------------- */

static void had_set(struct vs_core *c, struct vs_host *h)
{
	for (int i = 0; h->facts && i < h->npfs; i++)
		h->facts->pfs[i].had = vs_drift_had(c, h, h->pfs[i].pci);
}

/* False: it has to begin anew. */
static bool hosts_look(struct vs_core *c, struct vs_usual *usual,
		       struct vs_found_list *l)
{
	VS_FREE bool *used = profiles_used(c);
	VS_FREE char *names = vs_stores_named(c->conf);
	struct vs_check_site s = site_of(c, used, names);

	for (struct vs_host *h = c->inv.hosts; h; h = h->hh.next)
		if (vs_host_cluster(c, h) >= 0 && h->connected) {
			vs_usual_count(usual, &s, h);
			if (!lent_well(c))
				return false;
		}
	for (struct vs_host *h = c->inv.hosts; h; h = h->hh.next) {
		if (vs_host_cluster(c, h) < 0)
			continue;
		had_set(c, h);
		vs_check_host(&s, usual, h, l);
		if (!lent_well(c))
			return false;
	}
	return true;
}

static bool hosts_check(struct vs_core *c)
{
	struct vs_found_list found = { .f = NULL };
	struct vs_usual *usual = vs_usual_new();
	bool done = hosts_look(c, usual, &found);

	vs_usual_free(usual);
	if (!done) {
		vs_found_clear(&found);
		return false;
	}
	found_set(&c->checks.hosts, &found);
	bars_set(c);
	return true;
}

/* ---- what hosts share -------------------------------------------------------- */

static bool stores_away(const struct vs_core *c)
{
	size_t away = 0;

	for (size_t i = 0; i < c->checks.nstores; i++)
		away += c->checks.stores[i].away;
	return away && away == c->checks.nstores;
}

/* Of nodes whose VM isn't there, or is off; -1: it has to begin anew. */
static int64_t store_needs(struct vs_core *c)
{
	int64_t mb = 0;

	for (size_t i = 0; i < c->nnodes; i++) {
		const struct vs_node *n = &c->nodes[i];
		const struct vs_vm *vm = vs_node_vm(c, n);

		if (!vm)
			mb += n->profile->disk_mb;
		if (!vm || vm->power != VS_POWER_ON)
			mb += vs_profile_swap_mb(n->profile);
		if (i % SLICE == SLICE - 1 && !lent_well(c))
			return -1;
	}
	return mb;
}

static void templates_check(struct vs_core *c, const struct vs_check_site *s,
			    struct vs_found_list *l)
{
	for (size_t i = 0; i < c->checks.ntemplates; i++) {
		const struct vs_checked_template *t = &c->checks.templates[i];
		const char *missing = "";
		bool wanted = false;

		for (size_t p = 0; p < c->nprofiles; p++) {
			if (strcmp(c->profiles[p].template_name, t->name))
				continue;
			wanted |= s->used[p];
			missing = c->now[p].missing;
		}
		if (wanted && missing[0])
			vs_found_add(l, VS_CHECK_TEMPLATE_MISSING, t->name,
				vs_strdup(missing),
				vs_strdup("a template that can be read"),
				vs_template_mend(t->name, t->lack,
						 c->conf->username));
		else if (wanted)
			vs_check_template(s, &t->facts, l);
	}
}

static int fastest_mhz(const struct vs_core *c, const char *cluster)
{
	int mhz = 0;

	for (const struct vs_host *h = c->inv.hosts; h; h = h->hh.next)
		if (!strcmp(h->cluster, cluster) && h->core_mhz > mhz)
			mhz = h->core_mhz;
	return mhz;
}

static void pools_check(struct vs_core *c, const struct vs_check_site *s,
			struct vs_found_list *l)
{
	for (size_t i = 0; i < c->checks.npools; i++) {
		const struct vs_checked_pool *p = &c->checks.pools[i];
		VS_FREE char *name = NULL, *path = NULL;
		const struct vs_conf_cluster *cl = NULL;

		for (size_t k = 0; k < c->conf->nclusters; k++)
			if (!strcmp(c->conf->clusters[k].name, p->name))
				cl = &c->conf->clusters[k];
		if (!cl)
			continue;
		name = vs_strdup(cl->pool && cl->pool[0] ? cl->pool : cl->name);
		path = vs_asprintf("/%s/host/%s/Resources%s%s",
				   c->conf->datacenter ? c->conf->datacenter :
				   "DATACENTER", cl->name,
				   cl->pool && cl->pool[0] ? "/" : "",
				   cl->pool ? cl->pool : "");
		vs_check_pool(s, &(struct vs_pool_facts) {
			.name = name, .path = path, .cluster = p->cluster,
			.core_mhz = fastest_mhz(c, p->cluster),
			.most_cpu_mhz = p->most_mhz, .most_mem_mb = p->most_mb,
		}, l);
	}
}

/* Each by itself, and the room on all of them. */
static void stores_check(struct vs_core *c, const char *names,
			 int64_t needs_mb, struct vs_found_list *l)
{
	const struct vs_checks *k = &c->checks;
	struct vs_store_facts all = { .name = names, .accessible = -1 };

	for (size_t i = 0; i < k->nstores; i++) {
		const struct vs_checked_store *d = &k->stores[i];

		vs_check_store(&(struct vs_store_facts) {
			.name = d->name, .accessible = !d->away, .free_mb = -1,
		}, l);
		if (d->free_mb < 0)
			all.free_mb = -1;
		else if (all.free_mb >= 0 && !d->away)
			all.free_mb += d->free_mb;
	}
	all.needs_mb = needs_mb;
	if (k->nstores && !stores_away(c))
		vs_check_store(&all, l);
}

static void site_check(struct vs_core *c, int64_t needs_mb)
{
	VS_FREE bool *used = profiles_used(c);
	VS_FREE char *names = vs_stores_named(c->conf);
	struct vs_check_site s = site_of(c, used, names);
	struct vs_found_list found = { .f = NULL };

	templates_check(c, &s, &found);
	pools_check(c, &s, &found);
	stores_check(c, names, needs_mb, &found);
	found_set(&c->checks.site, &found);
	c->unjudged = true;
}

void vs_checks_bar(struct vs_core *c)
{
	const struct vs_checked *k = c->checks.site;

	for (size_t i = 0; k && i < k->l.n; i++) {
		const struct vs_found *f = &k->l.f[i];
		VS_FREE char *why = vs_asprintf("%s %s: %s, should be %s",
			f->code == VS_CHECK_STORE_AWAY ? "datastore" :
			"template", f->object, f->is, f->should);

		if (f->code == VS_CHECK_STORE_AWAY && stores_away(c) &&
		    !c->unserved[0])
			vs_strlcpy(c->unserved, why, sizeof(c->unserved));
		if (f->code != VS_CHECK_TEMPLATE_HW &&
		    f->code != VS_CHECK_TEMPLATE_CARD)
			continue;
		for (size_t p = 0; p < c->nprofiles; p++)
			if (!strcmp(c->profiles[p].template_name, f->object))
				vs_bar(c, p, why);
	}
}

void vs_checks_pass(struct vs_core *c, int64_t now_ms)
{
	struct vs_checks *k = &c->checks;
	int64_t needs_mb;

	if (k->site_stale) {
		needs_mb = store_needs(c);
		if (needs_mb < 0)
			return;
		k->site_stale = false;
		site_check(c, needs_mb);
	}
	if (!k->stale && k->hosts_seen == c->inv.hosts_itself) {
		k->judged = k->told;
		return;
	}
	if (k->at_ms && now_ms - k->at_ms < AGAIN_MS)
		return;
	k->stale = false;
	k->hosts_seen = c->inv.hosts_itself;
	k->at_ms = now_ms;
	if (hosts_check(c)) {
		k->judged = k->told;
	} else {
		k->stale = true;
		k->at_ms = 0;
	}
}

/* ---- what is told ------------------------------------------------------------- */

static int three(enum vs_vc_auto a)
{
	return a == VS_VC_AUTO_YES ? 1 : a == VS_VC_AUTO_NO ? 0 : -1;
}

void vs_checks_template(struct vs_core *c, const struct vs_vc_template *t)
{
	struct vs_checks *k = &c->checks;
	struct vs_checked_template *to;
	size_t i = 0;

	while (i < k->ntemplates && strcmp(k->templates[i].name, t->name))
		i++;
	if (i == k->ntemplates)
		k->templates = vs_realloc(k->templates, ++k->ntemplates,
					  sizeof(*k->templates));
	to = &k->templates[i];
	vs_strlcpy(to->name, t->name, sizeof(to->name));
	vs_strlcpy(to->guest, t->guest ? t->guest : "", sizeof(to->guest));
	to->lack = t->lack;
	to->facts = (struct vs_template_facts) {
		.hw = t->hw, .passthrough = t->passthrough,
		.snapshot = three(t->snapshot), .hot_add = three(t->hot_add),
		.tools = three(t->tools),
	};
	/* The array may have moved. */
	for (i = 0; i < k->ntemplates; i++) {
		k->templates[i].facts.name = k->templates[i].name;
		k->templates[i].facts.guest = k->templates[i].guest;
	}
	k->site_stale = k->stale = true;
}

void vs_checks_slow(struct vs_core *c, const struct vs_vc_slow *s)
{
	struct vs_checks *k = &c->checks;

	free(k->pools);
	k->pools = vs_calloc(s->npools + 1, sizeof(*k->pools));
	for (k->npools = 0; k->npools < s->npools; k->npools++) {
		const struct vs_vc_pool *from = &s->pools[k->npools];
		struct vs_checked_pool *to = &k->pools[k->npools];

		vs_strlcpy(to->name, from->cluster, sizeof(to->name));
		to->most_mhz = from->most_mhz;
		to->most_mb = from->most_mb;
		for (size_t i = 0; i < s->nclusters; i++)
			if (!strcmp(s->clusters[i].name, from->cluster))
				vs_strlcpy(to->cluster, s->clusters[i].moid,
					   sizeof(to->cluster));
	}
	k->stores = vs_realloc(k->stores, s->nstores + 1, sizeof(*k->stores));
	for (k->nstores = 0; k->nstores < s->nstores; k->nstores++) {
		const struct vs_vc_store *from = &s->stores[k->nstores];
		struct vs_checked_store *to = &k->stores[k->nstores];

		vs_strlcpy(to->name, from->name, sizeof(to->name));
		to->free_mb = from->free_mb;
		to->away = from->away;
	}
	k->read_ms = vs_clock();
	k->told = k->begun;
	k->site_stale = true;
}

void vs_checks_renew(struct vs_core *c)
{
	c->checks.stale = c->checks.site_stale = true;
	c->checks.at_ms = 0;
}
