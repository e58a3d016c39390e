/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Datastores. With one for all (Datastore= at the top, no other) it is in
 * core.store; with several (a list, or VSphereCluster= lines with their own,
 * local ones of single hosts among them) each is a row of the inventory's
 * pools, and a new VM goes to the one with most room that its host sees.
 *
 * Rules: a host that sees none of those that its cluster may use gets no VM,
 * and is named. A VM that is off and goes to a host that doesn't see its disks
 * takes them along (requests.c). The lock is held.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/inventory/inventory.h"
#include "engine/state/state.h"
#include "util/buf.h"
#include "util/mem.h"
#include "util/name.h"

#define NAMES_MAX 65536
#define TOLD_MAX 8		/* hosts named */

/* The cluster's own, or the top's; never NULL. */
static const char *list_of(const struct vs_conf *conf, size_t cluster)
{
	const char *own = conf->clusters[cluster].datastore;

	return own && own[0] ? own : conf->datastore ? conf->datastore : "";
}

char *vs_stores_named(const struct vs_conf *conf)
{
	struct vs_buf b = VS_BUF_INIT(NAMES_MAX);
	bool top = false;
	char *names;

	/* the top's need not exist where each cluster has its own */
	for (size_t i = 0; i < conf->nclusters; i++)
		top |= list_of(conf, i) == conf->datastore;
	if (top && conf->datastore)
		vs_buf_printf(&b, "%s", conf->datastore);
	for (size_t i = 0; i < conf->nclusters; i++)
		if (conf->clusters[i].datastore)
			vs_buf_printf(&b, "%s%s", b.len ? "," : "",
				      conf->clusters[i].datastore);
	names = vs_strdup(b.data ? b.data : "");
	vs_buf_free(&b);
	return names;
}

static bool has_name(const char *list, const char *name)
{
	size_t len = strlen(name), n;
	const char *s;

	while ((n = vs_list_next(&list, &s)))
		if (n == len && !strncmp(s, name, n))
			return true;
	return false;
}

static void use_add(struct vs_inventory *inv, const char *cluster,
		    const char *store)
{
	inv->uses = vs_realloc(inv->uses, inv->nuses + 1, sizeof(*inv->uses));
	inv->uses[inv->nuses] = (struct vs_store_use) { .full_until_ms = 0 };
	vs_strlcpy(inv->uses[inv->nuses].cluster, cluster, VS_MOID_LEN);
	vs_strlcpy(inv->uses[inv->nuses++].store, store, VS_MOID_LEN);
}

void vs_stores_found(struct vs_core *c, const struct vs_vc_found *f)
{
	vs_assert_locked();
	vs_strlcpy(c->store, f->nstores > 1 ? "" :
		   f->datastore ? f->datastore : "", sizeof(c->store));
	free(c->inv.uses);
	c->inv.uses = NULL;
	c->inv.nuses = 0;
	for (size_t i = 0; f->nstores > 1 && i < c->conf->nclusters; i++)
		for (size_t k = 0; k < f->nstores; k++)
			if (c->cluster_moids[i] &&
			    has_name(list_of(c->conf, i), f->stores[k].name))
				use_add(&c->inv, c->cluster_moids[i],
					f->stores[k].moid);
	c->inv.pools_changed = ++c->inv.generation;
}

static bool grew(int64_t was, int64_t is)
{
	return is < 0 ? was >= 0 : was >= 0 && is > was;
}

static bool is_full(const struct vs_core *c, const char *moid)
{
	for (size_t i = 0; i < c->inv.nuses; i++)
		if (!strcmp(c->inv.uses[i].store, moid))
			return vs_clock() < c->inv.uses[i].full_until_ms;
	return false;
}

bool vs_datastores_received(struct vs_core *c, const struct vs_vc_slow *s)
{
	bool more = false;

	for (size_t i = 0; c->inv.nuses && i < s->nstores; i++) {
		int at = vs_shared_capacity_pool(&c->inv, s->stores[i].moid);
		int64_t mb = s->stores[i].away || is_full(c, s->stores[i].moid)
			? 0 : s->stores[i].free_mb;

		more |= at >= 0 && grew(c->inv.pools[at].mem_mb, mb);
		vs_shared_capacity_set_stores(&c->inv, s->stores[i].moid,
					      s->stores[i].name, mb);
	}
	return more;
}

bool vs_stores_asked(const struct vs_core *c, const char *moid)
{
	for (size_t i = 0; i < c->inv.nuses; i++)
		if (!strcmp(c->inv.uses[i].store, moid))
			return true;
	return !strcmp(c->store, moid);
}

const char *vs_vm_datastore(const struct vs_core *c, const struct vs_vm *vm)
{
	int at = vm ? vs_vm_store(&c->inv, vm) : -1;

	return at < 0 ? NULL : c->inv.pools[at].cluster;
}

void vs_stores_disks(struct vs_core *c, const struct vs_node *n,
		     int64_t made_mb)
{
	struct vs_vm *vm = vs_node_vm(c, n);

	if (!vm || vm->share.told.there || vm->share.made_mb == made_mb)
		return;
	vm->share.made_mb = made_mb;
	vs_vm_changed(&c->inv, vm);
}

bool vs_stores_full(struct vs_core *c, const char *moid, int64_t until_ms)
{
	int at = vs_shared_capacity_pool(&c->inv, moid);

	if (at < 0)
		return false;
	c->inv.pools[at].mem_mb = 0;
	c->inv.generation++;
	for (size_t i = 0; i < c->inv.nuses; i++)
		if (!strcmp(c->inv.uses[i].store, moid))
			c->inv.uses[i].full_until_ms = until_ms;
	return true;
}

void vs_stores_try_again(struct vs_core *c)
{
	vs_assert_locked();
	for (size_t i = 0; i < c->inv.nuses; i++)
		c->inv.uses[i].full_until_ms = 0;
}

bool vs_stores_right(const struct vs_core *c, const struct vs_claim *h)
{
	const struct vs_host *host = vs_host_get(&c->inv, h->host);

	return !c->inv.nuses ||
	       (h->store[0] && host && (!host->stores_known ||
					vs_host_has_store(host, h->store)));
}

/* The reserved datastore doesn't count: after a restart none is known, and a
 * user may have moved the VM, with its disks or without. */
void vs_datastores_claimed(struct vs_core *c, struct vs_claim *h,
			   const struct vs_vm *vm)
{
	int at = vs_vm_store(&c->inv, vm);

	if (!c->inv.nuses)
		return;
	if (at < 0)
		vs_ledger_set_store(&c->ledger, h, vs_stores_right(c, h) ?
				    h->store : "", false);
	else
		vs_ledger_set_store(&c->ledger, h, c->inv.pools[at].cluster,
				    h->moves && vm->share.told.there &&
				    vm->share.told.store != at);
}

/* ---- the preflight ------------------------------------------------------------ */

static bool sees_one(const struct vs_core *c, const struct vs_host *h)
{
	return c->inv.nuses ? vs_host_has_any_store(&c->inv, h) :
		vs_host_has_store(h, c->store);
}

static void check_cluster(struct vs_core *c, size_t i)
{
	struct vs_buf b = VS_BUF_INIT(1600);
	size_t n = 0;

	for (struct vs_host *h = c->inv.hosts; h; h = h->hh.next) {
		if (strcmp(h->cluster, c->cluster_moids[i]) || !h->nstores ||
		    sees_one(c, h))
			continue;
		if (n++ < TOLD_MAX)
			vs_buf_printf(&b, "%s%s", n > 1 ? ", " : "", h->name);
	}
	if (n)
		/* svf check has it host by host. */
		vs_finding_add(
			VS_STOPS_PLANS, NULL,
			"VSphereCluster=%s: %s%s mount%s no datastore of Datastore=%s: no VM is placed there; mount one of them there, or name one of their datastores in Datastore= of this VSphereCluster= line",
			c->conf->clusters[i].name, b.data,
			n > TOLD_MAX ? " and others" : "", n == 1 ? "s" : "",
			list_of(c->conf, i));
	vs_buf_free(&b);
}

void vs_stores_check(struct vs_core *c)
{
	for (size_t i = 0; i < c->conf->nclusters && c->cluster_moids &&
	     c->cluster_moids[i]; i++)
		check_cluster(c, i);
}
