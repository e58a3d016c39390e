/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checks of what hosts share: templates, datastores, resource pools. Made
 * when the slow beat has brought them.
 *
 * Rules: what nodes need counts where they may be: in clusters that their
 * adapter reaches, on datastores of those. slurmctld's threads are lent the
 * lock while the nodes are walked through. The lock is held.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/checks/checks_i.h"
#include "engine/clone_source/clone_source.h"
#include "engine/inventory/inventory.h"
#include "util/mem.h"

bool vs_stores_away(void)
{
	size_t away = 0;

	for (size_t i = 0; i < vs_checks.nstores; i++)
		away += vs_checks.stores[i].away;
	return away && away == vs_checks.nstores;
}

static void store_need(struct vs_core *c, struct vs_node *n, void *mb)
{
	int64_t *of = (int64_t *)mb + (n->profile - c->profiles);
	const struct vs_vm *vm = vs_node_vm(c, n);

	if (!vm)
		*of += n->profile->disk_mb;
	if (!vm || vm->power != VS_POWER_ON)
		*of += vs_profile_swap_mb(n->profile);
}

/* By profile, of nodes whose VM isn't there, or is off; NULL: the pass has to
 * restart. */
static int64_t *store_needs(struct vs_core *c)
{
	int64_t *mb = vs_calloc(c->nprofiles + 1, sizeof(*mb));

	if (vs_each_node(c, store_need, mb))
		return mb;
	free(mb);
	return NULL;
}

/* ---- templates --------------------------------------------------------------- */

static void missing_add(const struct vs_core *c,
			const struct vs_checked_template *t, size_t profile,
			struct vs_found_list *l)
{
	bool hostless = c->now[profile].hostless;

	vs_found_add(l, VS_CHECK_TEMPLATE_MISSING, t->facts.name,
		     vs_strdup(c->now[profile].missing),
		     vs_strdup(hostless ? "a template whose host is connected" :
			       "a template that can be read"),
		     hostless ? vs_template_host_fix(c, profile) :
		     vs_template_fix(t->facts.name, t->lack, c->conf->username));
}

static void templates_check(struct vs_core *c, const struct vs_check_site *s,
			    struct vs_found_list *l)
{
	for (size_t i = 0; i < vs_checks.ntemplates; i++) {
		const struct vs_checked_template *t = &vs_checks.templates[i];
		size_t of = c->nprofiles;	/* one that lacks it */
		bool wanted = false;

		for (size_t p = 0; p < c->nprofiles; p++) {
			if (strcmp(c->profiles[p].template_name,
				   t->facts.name))
				continue;
			wanted |= s->nodes[p] > 0;
			if (c->now[p].missing[0])
				of = p;
		}
		if (wanted && of < c->nprofiles)
			missing_add(c, t, of, l);
		else if (wanted)
			vs_check_template(s, &t->facts, l);
	}
}

/* ---- what profiles may use ---------------------------------------------------- */

/* A row of it for each profile, in one piece. */
static bool **matrix(size_t rows, size_t columns)
{
	bool **m = vs_calloc(rows + 1, sizeof(*m));
	bool *cells = vs_calloc(rows * columns + 1, sizeof(*cells));

	for (size_t i = 0; i <= rows; i++)
		m[i] = cells + i * columns;
	return m;
}

static void matrix_free(bool **m)
{
	free(m[0]);
	free(m);
}

static bool cluster_uses(const struct vs_core *c, const char *cluster,
			 const char *store)
{
	for (size_t i = 0; i < c->inv.nuses; i++)
		if (!strcmp(c->inv.uses[i].cluster, cluster) &&
		    !strcmp(c->inv.uses[i].store, store))
			return true;
	return false;
}

/* With one datastore for all, wherever they are. */
static bool may_use(const struct vs_core *c, const struct vs_check_site *s,
		    size_t p, const char *store)
{
	if (!c->inv.nuses)
		return true;
	for (int i = 0; c->cluster_moids && c->cluster_moids[i]; i++)
		if (cluster_uses(c, c->cluster_moids[i], store) &&
		    vs_check_reaches(s, c->cluster_moids[i], p))
			return true;
	return false;
}

static void name_add(char **names, const char *name)
{
	char *more = vs_asprintf("%s%s%s", *names, **names ? "," : "", name);

	free(*names);
	*names = more;
}

/* ---- datastores --------------------------------------------------------------- */

struct told {
	const struct vs_core *c;
	struct vs_found_list *l;
	const char *unit;		/* of pools */
};

static void stores_short(void *arg, const bool *in, int64_t has, int64_t needs)
{
	const struct told *t = arg;
	const struct vs_checks *k = &vs_checks;
	VS_FREE char *names = vs_strdup("");

	for (size_t i = 0; i < k->nstores; i++)
		if (in[i])
			name_add(&names, k->stores[i].name);
	vs_check_store(&(struct vs_store_facts) {
		.name = names, .accessible = -1, .free_mb = has,
		.needs_mb = needs }, t->l);
}

static void stores_check(struct vs_core *c, const struct vs_check_site *s,
			 const int64_t *needs, struct vs_found_list *l)
{
	const struct vs_checks *k = &vs_checks;
	VS_FREE int64_t *free_mb = vs_calloc(k->nstores + 1, sizeof(*free_mb));
	bool **may = matrix(c->nprofiles, k->nstores);
	struct told t = { .c = c, .l = l };

	for (size_t i = 0; i < k->nstores; i++) {
		const struct vs_checked_store *d = &k->stores[i];

		vs_check_store(&(struct vs_store_facts) {
			.name = d->name, .accessible = !d->away, .free_mb = -1,
		}, l);
		/* Of one that is away something else is said. */
		free_mb[i] = d->away ? -1 : d->free_mb;
		for (size_t p = 0; p < c->nprofiles; p++)
			may[p][i] = !d->away && may_use(c, s, p, d->moid);
	}
	vs_check_shared(&(struct vs_check_share) {
		.supply = free_mb, .nsupplies = k->nstores, .demand = needs,
		.may = may, .ndemands = c->nprofiles }, stores_short, &t);
	matrix_free(may);
}

/* ---- pools -------------------------------------------------------------------- */

static int fastest_mhz(const struct vs_core *c, const char *cluster)
{
	int mhz = 0;

	for (const struct vs_host *h = c->inv.hosts; h; h = h->hh.next)
		if (!strcmp(h->cluster, cluster) && h->core_mhz > mhz)
			mhz = h->core_mhz;
	return mhz;
}

static const struct vs_conf_cluster *
cluster_of(const struct vs_core *c, const struct vs_checked_pool *p)
{
	for (size_t k = 0; k < c->conf->nclusters; k++)
		if (!strcmp(c->conf->clusters[k].name, p->name))
			return &c->conf->clusters[k];
	return NULL;
}

static bool own_pool(const struct vs_conf_cluster *cl)
{
	return cl && cl->pool && cl->pool[0];
}

static char *pool_path(const struct vs_core *c,
		       const struct vs_conf_cluster *cl)
{
	return vs_asprintf("/%s/host/%s/Resources%s%s",
			   c->conf->datacenter ? c->conf->datacenter :
			   "DATACENTER", cl->name, own_pool(cl) ? "/" : "",
			   own_pool(cl) ? cl->pool : "");
}

/* True: not even one VM fits. */
static bool pool_check(struct vs_core *c, const struct vs_check_site *s,
		       const struct vs_checked_pool *p,
		       const struct vs_conf_cluster *cl,
		       struct vs_found_list *l)
{
	VS_FREE char *path = pool_path(c, cl);

	return vs_check_pool(s, &(struct vs_pool_facts) {
		.name = own_pool(cl) ? cl->pool : cl->name, .path = path,
		.cluster = p->cluster, .core_mhz = fastest_mhz(c, p->cluster),
		.most_cpu_mhz = p->most_mhz, .most_mem_mb = p->most_mb }, l);
}

static void pools_short(void *arg, const bool *in, int64_t has, int64_t needs)
{
	const struct told *t = arg;
	const struct vs_checks *k = &vs_checks;
	bool mem = !strcmp(t->unit, "MB");
	VS_FREE char *names = vs_strdup(""), *fix = vs_strdup("");

	for (size_t i = 0; i < k->npools; i++) {
		const struct vs_conf_cluster *cl;
		VS_FREE char *was = NULL, *path = NULL;

		if (!in[i] || !(cl = cluster_of(t->c, &k->pools[i])))
			continue;
		path = pool_path(t->c, cl);
		name_add(&names, cl->pool);
		was = fix;
		fix = vs_asprintf("%s%sgovc pool.change -%s.limit -1 -%s.expandable=true %s",
				  was, was[0] ? "\n" : "", mem ? "mem" : "cpu",
				  mem ? "mem" : "cpu", path);
	}
	vs_found_add(t->l, VS_CHECK_POOL_NODES, names,
		vs_asprintf("%lld %s for all its VMs", (long long)has, t->unit),
		vs_asprintf("%lld %s, the sum that the nodes without another pool reserve",
			    (long long)needs, t->unit), vs_strdup(fix));
}

/* What they reserve, at the least: by the slowest cores that they may have. */
static int64_t pool_needs(const struct vs_core *c,
			  const struct vs_check_site *s, size_t p,
			  const bool *may, bool mem)
{
	const struct vs_profile *prof = &c->profiles[p];
	int slowest = 0;

	if (mem)
		return s->nodes[p] * (vs_profile_reserved_mb(prof) +
				      vs_profile_overhead_mb(prof));
	for (size_t i = 0; i < vs_checks.npools; i++) {
		int mhz = fastest_mhz(c, vs_checks.pools[i].cluster);

		if (may[i] && (!slowest || mhz < slowest))
			slowest = mhz;
	}
	return s->nodes[p] * vs_profile_cpu_mhz(prof, slowest);
}

/* low: those of which it was said that not even one VM fits. */
static void pools_share(struct vs_core *c, const struct vs_check_site *s,
			const bool *low, bool mem, struct vs_found_list *l)
{
	const struct vs_checks *k = &vs_checks;
	VS_FREE int64_t *has = vs_calloc(k->npools + 1, sizeof(*has));
	VS_FREE int64_t *needs = vs_calloc(c->nprofiles + 1, sizeof(*needs));
	bool **may = matrix(c->nprofiles, k->npools);
	struct told t = { c, l, mem ? "MB" : "MHz" };

	for (size_t i = 0; i < k->npools; i++) {
		const struct vs_checked_pool *p = &k->pools[i];

		has[i] = low[i] || !own_pool(cluster_of(c, p)) ? -1 :
			mem ? p->own_mb : p->own_mhz;
	}
	for (size_t p = 0; p < c->nprofiles; p++) {
		for (size_t i = 0; i < k->npools; i++)
			may[p][i] = vs_check_reaches(s, k->pools[i].cluster, p);
		needs[p] = pool_needs(c, s, p, may[p], mem);
	}
	vs_check_shared(&(struct vs_check_share) {
		.supply = has, .nsupplies = k->npools, .demand = needs,
		.may = may, .ndemands = c->nprofiles }, pools_short, &t);
	matrix_free(may);
}

static void pools_check(struct vs_core *c, const struct vs_check_site *s,
			struct vs_found_list *l)
{
	const struct vs_checks *k = &vs_checks;
	VS_FREE bool *low = vs_calloc(k->npools + 1, sizeof(*low));

	for (size_t i = 0; i < k->npools; i++) {
		const struct vs_conf_cluster *cl = cluster_of(c, &k->pools[i]);

		low[i] = cl && pool_check(c, s, &k->pools[i], cl, l);
	}
	pools_share(c, s, low, true, l);
	pools_share(c, s, low, false, l);
}

bool vs_checks_share(struct vs_core *c)
{
	VS_FREE int64_t *needs = store_needs(c);
	struct vs_found_list found = { .f = NULL };
	VS_FREE int *nodes = NULL;
	VS_FREE char *names = NULL;
	struct vs_check_site s;

	if (!needs)
		return false;
	vs_checks.site_stale = false;
	nodes = vs_checks_nodes(c);
	names = vs_stores_named(c->conf);
	s = vs_checks_site(c, nodes, names);
	templates_check(c, &s, &found);
	pools_check(c, &s, &found);
	stores_check(c, &s, needs, &found);
	vs_check_apart(&s, &found);
	vs_checked_set(&vs_checks.site, &found);
	vs_findings_outdate();
	return true;
}
