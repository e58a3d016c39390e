/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configuration as plain data: made with the defaults, freed whole. Every
 * string and array belongs to the struct. Nothing here reads files, checks
 * values or knows Slurm: the plugins and the unit tests link it alike.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/state/state.h"
#include "util/mem.h"

struct vs_conf *vs_conf_new(void)
{
	struct vs_conf *conf = vs_calloc(1, sizeof(*conf));

	conf->placement = vs_strdup("balance");
	conf->mode = vs_strdup("observe");
	conf->svf_listen_addr = vs_strdup("127.0.0.1");
	conf->svf_port = 6828;
	conf->verify_tls = true;
	conf->metrics.addr = vs_strdup("127.0.0.1");
	conf->max_provision_ops = 20;
	conf->max_power_ops = 50;
	conf->max_ops_per_host = 8;
	conf->max_vmotions_per_host = 4;
	conf->prefetch.window_s = 600;
	conf->prefetch.grace_s = 300;
	conf->boot_timeout_s = 600;
	conf->provision_timeout_s = 3600;
	conf->shutdown_grace_s = 30;
	conf->slurm.kill_tries_s = 33;
	conf->slurm.resume_timeout_s = 60;
	return conf;
}

static void free_adapters(struct vs_conf *conf)
{
	for (size_t i = 0; i < conf->nadapters; i++) {
		struct vs_conf_adapter *a = &conf->adapters[i];

		free(a->name);
		free(a->type);
		free(a->network);
		free(a->pf);
		free(a->link_layer);
		free(a->subnet);
		free(a->distinct_pfs);
		free(a->label);
		free(a->address);
		free(a->with);
		free(a->device_class);
		free(a->parameters);
		free(a->profile);
	}
	free(conf->adapters);
}

static void free_partitions(struct vs_conf *conf)
{
	for (size_t i = 0; i < conf->npartitions; i++) {
		struct vs_conf_partition *p = &conf->partitions[i];

		free(p->name);
		free(p->adapter);
		free(p->template_name);
		free(p->retention);
		free(p->latency);
		free(p->storage_policy);
		free(p->annotation);
		free(p->clone);
		free(p->placement);
		free(p->subnet);
		free(p->addresses);
		free(p->gateway);
		free(p->dns);
		free(p->dns_search);
		free(p->secure_boot);
		free(p->numa_affinity);
	}
	free(conf->partitions);
}

void vs_conf_node_clear(struct vs_conf_node *node)
{
	free(node->name);
	free(node->partition);
	free(node->adapter);
	free(node->address);
	free(node->first_address);
}

const struct vs_conf_adapter *vs_conf_adapter_named(const struct vs_conf *conf,
						    const char *name)
{
	for (size_t i = 0; i < conf->nadapters; i++)
		if (!strcmp(conf->adapters[i].name, name))
			return &conf->adapters[i];
	return NULL;
}

const struct vs_conf_partition *vs_conf_partition_named(
	const struct vs_conf *conf, const char *name)
{
	for (size_t i = 0; i < conf->npartitions; i++)
		if (!strcmp(conf->partitions[i].name, name))
			return &conf->partitions[i];
	return NULL;
}

static void free_places(struct vs_conf *conf)
{
	for (size_t i = 0; i < conf->nclusters; i++) {
		free(conf->clusters[i].name);
		free(conf->clusters[i].pool);
		free(conf->clusters[i].datastore);
	}
	free(conf->clusters);
	for (size_t i = 0; i < conf->nhosts; i++) {
		free(conf->hosts[i].name);
		free(conf->hosts[i].leaf);
	}
	free(conf->hosts);
	for (size_t i = 0; i < conf->nnodes; i++)
		vs_conf_node_clear(&conf->nodes[i]);
	free(conf->nodes);
}

void vs_conf_free(struct vs_conf *conf)
{
	if (!conf)
		return;
	free(conf->vcenter);
	free(conf->username);
	free(conf->password_file);
	free(conf->ca_file);
	free(conf->datacenter);
	free(conf->folder);
	free(conf->datastore);
	free(conf->placement);
	free(conf->mode);
	free(conf->svf_listen_addr);
	free(conf->metrics.addr);
	free(conf->munge_socket);
	free(conf->state_dir);
	free(conf->slurm.cluster);
	free(conf->slurm.conf_server);
	free_adapters(conf);
	free_partitions(conf);
	free_places(conf);
	free(conf);
}
