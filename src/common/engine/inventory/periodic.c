/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What vCenter doesn't stream, from the client's slow beat into the inventory:
 * hosts on their way into maintenance or standby, and what is free in the resource
 * pools and on the datastore.
 *
 * Rules: the lock is held; only memory changes. A value that wasn't read is
 * unknown and refuses no job; plan/allocation/shared_capacity judges what is read.
 */
#include <stdio.h>
#include <string.h>
#include "engine/inventory/inventory.h"
#include "engine/state/state.h"
#include "plan/allocation/shared_capacity.h"

/* ---- hosts that leave ----------------------------------------------------- */

/* DPM and people let hosts sleep by "powerDownToStandby", and wake them. */
static bool is_standby(const char *task)
{
	return strcasestr(task, "standby") && !strcasestr(task, "powerUp") &&
	       !strcasestr(task, "exit");
}

static bool is_maintenance(const char *task)
{
	return strstr(task, "nterMaintenanceMode") != NULL;
}

static bool runs_on(const struct vs_vc_slow *s, const struct vs_host *h,
		    bool (*what)(const char *task))
{
	for (size_t i = 0; i < s->ntasks; i++)
		if (!strcmp(s->tasks[i].entity, h->moid) &&
		    what(s->tasks[i].name))
			return true;
	return false;
}

static void leaving(struct vs_core *c, struct vs_host *h, bool *flag,
		    bool is, const char *what)
{
	if (*flag == is)
		return;
	*flag = is;
	vs_info("host=%s %s %s", h->name,
		is ? "is entering" : "is no longer entering", what);
	vs_host_nodes_mark_changed(c, h);
	vs_host_changed(&c->inv, h);	/* there is less room, or more */
	vs_capacity_freed();
}

void vs_hosts_leaving_update(struct vs_core *c, const struct vs_vc_slow *s)
{
	vs_assert_locked();
	for (struct vs_host *h = c->inv.hosts; h; h = h->hh.next) {
		leaving(c, h, &h->entering_maintenance,
			runs_on(s, h, is_maintenance), "maintenance");
		leaving(c, h, &h->entering_standby,
			runs_on(s, h, is_standby), "standby");
	}
}

/* ---- room ----------------------------------------------------------------- */

static bool grew(int64_t was, int64_t is)
{
	return was >= 0 && (is < 0 || is > was);
}

/* "resource pool slurm of cluster HPC1" */
static void pool_name(const struct vs_conf_cluster *cl, char out[VS_LABEL_LEN])
{
	if (cl->pool && cl->pool[0])
		snprintf(out, VS_LABEL_LEN, "resource pool %s of cluster %s",
			 cl->pool, cl->name);
	else
		snprintf(out, VS_LABEL_LEN, "cluster %s", cl->name);
}

static void pool_set(struct vs_core *c, const char *cluster, int64_t cpu_mhz,
		     int64_t mem_mb)
{
	char name[VS_LABEL_LEN];
	size_t i = 0;
	int at;

	while (i < c->conf->nclusters && c->cluster_moids &&
	       c->cluster_moids[i] &&
	       strcmp(c->conf->clusters[i].name, cluster))
		i++;
	/* a configuration that is in force, and not yet in the client, which
	 * may have fewer clusters */
	if (i == c->conf->nclusters || !c->cluster_moids ||
	    !c->cluster_moids[i])
		return;
	pool_name(&c->conf->clusters[i], name);
	at = vs_shared_capacity_pool(&c->inv, c->cluster_moids[i]);
	if (at >= 0 && (grew(c->inv.pools[at].cpu_mhz, cpu_mhz) ||
			grew(c->inv.pools[at].mem_mb, mem_mb)))
		vs_capacity_freed();
	vs_shared_capacity_set_pool(&c->inv, c->cluster_moids[i], name, cpu_mhz,
				    mem_mb);
	vs_shared_capacity_set_pool_moid(&c->inv, c->cluster_moids[i],
					 c->pool_moids[i]);
}

void vs_capacity_update(struct vs_core *c, const struct vs_vc_slow *s)
{
	const char *store = s->nstores ? s->stores[0].name :
		c->conf->datastore ? c->conf->datastore : "";

	vs_assert_locked();
	for (size_t i = 0; i < s->npools; i++)
		pool_set(c, s->pools[i].cluster, s->pools[i].cpu_mhz,
			 s->pools[i].mem_mb);
	if (c->inv.store.there && grew(c->inv.store.free_mb, s->store_free_mb))
		vs_capacity_freed();
	if (vs_datastores_received(c, s))
		vs_capacity_freed();
	vs_shared_capacity_set_store(&c->inv, store, s->store_free_mb);
	vs_shared_capacity_end(&c->inv);
}
