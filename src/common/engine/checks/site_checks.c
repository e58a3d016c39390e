/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checks of plan/checks, made when something that they ask has changed, and
 * what a hard finding leads to: the PF takes no VM until it is fixed.
 *
 * Rules: hosts are looked at once a second at most, and slurmctld's threads are
 * lent the lock between two of them; what hosts share, with the slow beat. What
 * placement refuses by itself (no VF, no network, no datastore) is not refused
 * again here. Nothing that runs is touched. The lock is held.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/checks/checks_i.h"
#include "engine/hosts/hosts.h"
#include "engine/inventory/inventory.h"
#include "util/mem.h"

#define AGAIN_MS 1000

struct vs_checks vs_checks;

/* ---- the question ---------------------------------------------------------- */

int *vs_checks_nodes(const struct vs_core *c)
{
	int *n = vs_calloc(c->nprofiles + 1, sizeof(*n));

	for (size_t i = 0; i < c->nnodes; i++)
		n[c->nodes[i].profile - c->profiles]++;
	return n;
}

struct vs_check_site vs_checks_site(const struct vs_core *c, const int *nodes,
				    const char *names)
{
	return (struct vs_check_site) {
		.inv = &c->inv, .adapters = c->adapters, .nets = c->nets,
		.nadapters = c->conf->nadapters, .profiles = c->profiles,
		.nodes = nodes, .nprofiles = c->nprofiles, .store = c->store,
		.store_name = names, .user = c->conf->username,
	};
}

/* ---- findings, kept ---------------------------------------------------------- */

static struct vs_checked *vs_checked_use(struct vs_checked *k)
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

void vs_checked_set(struct vs_checked **slot, struct vs_found_list *take)
{
	static const struct vs_found_list none;
	struct vs_checked *old = *slot, *now = vs_calloc(1, sizeof(*now));

	vs_found_sort(take);
	now->l = *take;
	*slot = vs_checked_use(now);
	vs_checks_publish(old ? &old->l : &none, &now->l);
	vs_checked_drop(old);
}

/* ---- hosts ------------------------------------------------------------------- */

static void had_set(struct vs_host *h)
{
	for (int i = 0; h->facts && i < h->npfs; i++)
		h->facts->pfs[i].had = vs_pf_change_most(h, h->pfs[i].pci);
}

struct look {
	struct vs_check_site site;
	struct vs_usual *usual;
	struct vs_found_list *found;
};

static void host_count(struct vs_core *c, struct vs_host *h, void *arg)
{
	struct look *l = arg;

	if (vs_host_cluster(c, h) < 0)
		return;
	if (h->connected)
		vs_usual_count(l->usual, &l->site, h);
	vs_usual_count_capacity(l->usual, &l->site, h);
}

static void host_look(struct vs_core *c, struct vs_host *h, void *arg)
{
	struct look *l = arg;

	if (vs_host_cluster(c, h) < 0)
		return;
	had_set(h);
	vs_check_host(&l->site, l->usual, h, l->found);
}

/* Returns false if the pass has to restart. */
static bool hosts_check(struct vs_core *c)
{
	VS_FREE int *nodes = vs_checks_nodes(c);
	VS_FREE char *names = vs_stores_named(c->conf);
	struct vs_found_list found = { .f = NULL };
	struct look l = { vs_checks_site(c, nodes, names), vs_usual_new(),
			  &found };
	bool done = vs_each_host(c, host_count, &l) &&
		vs_each_host(c, host_look, &l);

	vs_usual_free(l.usual);
	if (!done) {
		vs_found_clear(&found);
		return false;
	}
	vs_checked_set(&vs_checks.hosts, &found);
	vs_unfit_set(c, &vs_checks.hosts->l);
	return true;
}

/* ---- the turn ------------------------------------------------------------- */

void vs_checks_block(struct vs_core *c)
{
	const struct vs_checked *k = vs_checks.site;

	for (size_t i = 0; k && i < k->l.n; i++) {
		const struct vs_found *f = &k->l.f[i];
		VS_FREE char *why = vs_asprintf("%s %s: %s, should be %s",
			f->code == VS_CHECK_STORE_AWAY ? "datastore" :
			"template", f->object, f->is, f->should);

		if (f->code == VS_CHECK_STORE_AWAY && vs_stores_away() &&
		    !c->unserved[0])
			vs_strlcpy(c->unserved, why, sizeof(c->unserved));
		for (size_t p = 0; p < c->nprofiles; p++)
			if (vs_check_blocks(f, &c->profiles[p]))
				vs_host_block(c, p, why);
	}
}

void vs_checks_update(struct vs_core *c, int64_t now_ms)
{
	struct vs_checks *k = &vs_checks;

	vs_assert_locked();
	k->site_stale |= vs_shared_outdated_taken();
	if (k->site_stale && !vs_checks_share(c))
		return;
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

void vs_checks_template(const struct vs_vc_template *t)
{
	struct vs_checks *k = &vs_checks;
	struct vs_template_facts *f;
	size_t i = 0;

	vs_assert_locked();
	while (i < k->ntemplates && strcmp(k->templates[i].facts.name, t->name))
		i++;
	if (i == k->ntemplates)
		k->templates = vs_realloc(k->templates, ++k->ntemplates,
					  sizeof(*k->templates));
	k->templates[i].lack = t->lack;
	f = &k->templates[i].facts;
	*f = (struct vs_template_facts) {
		.hw = t->hw, .passthrough = t->passthrough, .bios = t->bios,
		.snapshot = three(t->snapshot), .hot_add = three(t->hot_add),
		.tools = three(t->tools),
	};
	vs_strlcpy(f->name, t->name, sizeof(f->name));
	vs_strlcpy(f->guest, t->guest ? t->guest : "", sizeof(f->guest));
	for (; f->nnets < t->nnets && f->nnets < VS_COUNT(f->nets); f->nnets++)
		vs_strlcpy(f->nets[f->nnets], t->nets[f->nnets].moid,
			   sizeof(f->nets[0]));
	k->site_stale = k->stale = true;
}

void vs_checks_slow(const struct vs_vc_slow *s)
{
	struct vs_checks *k = &vs_checks;

	free(k->pools);
	k->pools = vs_calloc(s->npools + 1, sizeof(*k->pools));
	for (k->npools = 0; k->npools < s->npools; k->npools++) {
		const struct vs_vc_pool *from = &s->pools[k->npools];
		struct vs_checked_pool *to = &k->pools[k->npools];

		vs_strlcpy(to->name, from->cluster, sizeof(to->name));
		to->most_mhz = from->most_mhz;
		to->most_mb = from->most_mb;
		to->own_mhz = from->own_mhz;
		to->own_mb = from->own_mb;
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
		vs_strlcpy(to->moid, from->moid, sizeof(to->moid));
		to->free_mb = from->free_mb;
		to->away = from->away;
	}
	k->read_ms = vs_clock();
	k->told = k->begun;
	k->site_stale = true;
}

void vs_checks_renew(void)
{
	vs_assert_locked();
	vs_checks.stale = vs_checks.site_stale = true;
	vs_checks.at_ms = 0;
}

/* ---- for others ---------------------------------------------------------------- */

void vs_checks_reading(void)
{
	vs_checks.begun++;
}

uint64_t vs_checks_begun(void)
{
	return vs_checks.begun;
}

uint64_t vs_checks_judged(void)
{
	return vs_checks.judged;
}

int64_t vs_checks_read_ms(void)
{
	return vs_checks.read_ms;
}

void vs_checks_found(struct vs_checked **site, struct vs_checked **hosts)
{
	*site = vs_checked_use(vs_checks.site);
	*hosts = vs_checked_use(vs_checks.hosts);
}

void vs_checks_look(void)
{
	vs_checks.look = true;
}

bool vs_checks_look_taken(void)
{
	bool look = vs_checks.look;

	vs_checks.look = false;
	return look;
}
