/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A client of vCenter for the configuration in force: its address, account and
 * names, each name once. The lock is held.
 */
#include <string.h>
#include "engine/inventory/inventory.h"
#include "engine/run/run.h"
#include "engine/state/state.h"
#include "util/mem.h"

static const char **distinct(size_t n, const char *(*name)(const struct vs_core *,
							    size_t),
			     const struct vs_core *c)
{
	const char **list = vs_calloc(n + 1, sizeof(*list));
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		while (k < used && name(c, i) && strcmp(list[k], name(c, i)))
			k++;
		if (k == used && name(c, i))
			list[used++] = name(c, i);
	}
	return list;
}

static const char *network_name(const struct vs_core *c, size_t i)
{
	return c->conf->adapters[i].network;
}

static const char *template_name(const struct vs_core *c, size_t i)
{
	return c->conf->partitions[i].template_name;
}

static bool notes_wanted(const struct vs_conf *conf)
{
	for (size_t i = 0; i < conf->npartitions; i++)
		if (conf->partitions[i].annotation)
			return true;
	return false;
}

static bool policy_wanted(const struct vs_conf *conf)
{
	for (size_t i = 0; i < conf->npartitions; i++)
		if (conf->partitions[i].storage_policy)
			return true;
	return false;
}

static bool clone_wanted(const struct vs_conf *conf, enum vs_clone_type wanted)
{
	enum vs_clone_type kind;

	for (size_t i = 0; i < conf->npartitions; i++)
		if (!vs_clone_parse(conf->partitions[i].clone, &kind) &&
		    kind == wanted)
			return true;
	return false;
}

/* Of hosts' releases nothing is known yet: it may. */
static bool vmotion_wanted(const struct vs_conf *conf)
{
	enum vs_adapter_type type;

	for (size_t i = 0; conf->max_vmotions_per_host && i < conf->nadapters; i++)
		if (!vs_adapter_type_parse(conf->adapters[i].type, &type,
					   NULL) &&
		    vs_adapter_can(type, VS_OPERATION_VMOTION, 0))
			return true;
	return false;
}

struct vs_vc *vs_watch_connect(struct vs_core *c,
			       const struct vs_vc_events *events,
			       bool read_only, struct vs_err *err)
{
	const struct vs_conf *conf = c->conf;
	VS_FREE const char **nets = distinct(conf->nadapters, network_name, c);
	VS_FREE const char **templates =
		distinct(conf->npartitions, template_name, c);
	VS_FREE const char **clusters =
		vs_calloc(conf->nclusters + 1, sizeof(*clusters));
	VS_FREE const char **pools =
		vs_calloc(conf->nclusters + 1, sizeof(*pools));
	VS_FREE char *stores = vs_stores_named(conf);
	struct vs_vc_conf vc = {
		.url = conf->vcenter,
		.username = conf->username,
		.password_file = conf->password_file,
		.password_uid = conf->password_uid,
		.ca_file = conf->ca_file,
		.insecure = !conf->verify_tls,
		.read_only = read_only || c->observe,
		.call_timeout_ms = 60000,
		.wait_seconds = VS_WAIT_S,
		.max_body = 64 << 20,
		.devices = vs_device_entries_needed(c),
		.notes = notes_wanted(conf),
		.policy = policy_wanted(conf),
		.linked = clone_wanted(conf, VS_CLONE_LINKED),
		.instant = clone_wanted(conf, VS_CLONE_INSTANT),
		.vmotion = !c->observe && vmotion_wanted(conf),
		.names = {
			.datacenter = conf->datacenter,
			.folder = conf->folder,
			.datastore = stores,
			.clusters = clusters,
			.pools = pools,
			.networks = nets,
			.templates = templates,
		},
	};

	for (size_t i = 0; i < conf->nclusters; i++) {
		clusters[i] = conf->clusters[i].name;
		pools[i] = conf->clusters[i].pool ? conf->clusters[i].pool : "";
	}
	return vs_vc_new(&vc, events, c, err);
}
