/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the configuration to the tables the engine works on: adapters,
 * profiles (one per distinct setting) and nodes. A new configuration takes
 * over what is under way for nodes that it still has, by name. And who hears of
 * what a module of a lower level does, which must not know them: the order of a
 * list is the order of the calls.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/allocation/allocation.h"
#include "engine/checks/checks.h"
#include "engine/clone_source/clone_source.h"
#include "engine/forecast/forecast.h"
#include "engine/hosts/hosts.h"
#include "engine/jobs/jobs.h"
#include "engine/maintenance/maintenance.h"
#include "engine/prefetch/prefetch.h"
#include "engine/provision/provision.h"
#include "engine/reconcile/reconcile.h"
#include "engine/run/run.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "engine/vmspec/vmspec.h"
#include "util/mem.h"

static int adapter_index(const struct vs_conf *conf, const char *name)
{
	const struct vs_conf_adapter *a = vs_conf_adapter_named(conf, name);

	return a ? (int)(a - conf->adapters) : -1;
}

int vs_setup_check(const struct vs_conf *conf, struct vs_err *err)
{
	enum vs_adapter_type type;

	for (size_t i = 0; i < conf->nadapters; i++)
		if (vs_adapter_type_parse(conf->adapters[i].type, &type, err))
			return vs_err_prefix(err, "AdapterName=%s",
					     conf->adapters[i].name);
	for (size_t i = 0; i < conf->nnodes; i++) {
		const struct vs_conf_node *n = &conf->nodes[i];

		if (!vs_conf_partition_named(conf, n->partition) ||
		    adapter_index(conf, n->adapter) < 0)
			return vs_err_set(err, VS_E_CONFIG,
				"node %s: its partition or adapter is not in vsphere.conf",
				n->name);
	}
	return 0;
}

static const char *or_none(const char *s)
{
	return s ? s : "";
}

static void device_make(const struct vs_core *c,
			const struct vs_conf_adapter *from,
			struct vs_adapter *a, int *lines)
{
	int with = from->with ? adapter_index(c->conf, from->with) : -1;

	a->vendor = (uint16_t)from->vendor;
	a->device = (uint16_t)from->device;
	a->mmio_gb = from->mmio_gb;
	a->strict_acs = !from->relax_acs;
	a->addresses = vs_addresses_new(from->address);
	if (vs_adapter_type_info(a)->fixed)
		a->line = (*lines)++;
	vs_strlcpy(a->label, from->device_class ? from->device_class :
		   from->profile ? from->profile : or_none(from->label),
		   sizeof(a->label));
	vs_strlcpy(a->params, or_none(from->parameters), sizeof(a->params));
	a->most = from->device_class ? from->instances : from->per_gpu;
	a->with = with < 0 ? NULL : &c->adapters[with];
}

static void adapters_make(struct vs_core *c)
{
	const struct vs_conf *conf = c->conf;
	int lines = 0;

	c->adapters = vs_calloc(conf->nadapters + 1, sizeof(*c->adapters));
	c->nets = vs_calloc(conf->nadapters + 1, sizeof(*c->nets));
	c->rails = vs_calloc(conf->nadapters + 1, sizeof(*c->rails));
	c->nrails = 0;
	for (size_t i = 0; i < conf->nadapters; i++) {
		const struct vs_conf_adapter *from = &conf->adapters[i];
		struct vs_adapter *a = &c->adapters[i];

		vs_strlcpy(a->name, from->name, sizeof(a->name));
		vs_adapter_type_parse(from->type, &a->type, NULL);
		vs_strlcpy(a->network, or_none(from->network),
			   sizeof(a->network));
		vs_strlcpy(a->pf, or_none(from->pf), sizeof(a->pf));
		a->mtu = from->mtu;
		a->per_node = from->per_node;
		a->rails = from->per_node > 1 && vs_adapter_nics(a) &&
			!(from->distinct_pfs &&
			  !strcasecmp(from->distinct_pfs, "no"));
		vs_strlcpy(a->subnet, or_none(from->subnet),
			   sizeof(a->subnet));
		device_make(c, from, a, &lines);
		a->link = from->link_layer &&
			!strcasecmp(from->link_layer, "InfiniBand") ?
			VS_LINK_INFINIBAND : VS_LINK_ETHERNET;
		if (vs_adapter_vfs(a) > 1)
			c->rails[c->nrails++] = (struct vs_rail_group) {
				a, &c->nets[i] };
	}
}

static enum vs_retention retention_of(const struct vs_conf_partition *part)
{
	if (part->retention && !strcasecmp(part->retention, "power_off"))
		return VS_RETAIN_OFF;
	if (part->retention && !strcasecmp(part->retention, "destroy"))
		return VS_RETAIN_DESTROY;
	return VS_RETAIN_WARM;
}

static enum vs_placement placement_of(const struct vs_conf_partition *part)
{
	static const char *const words[] = {
		[VS_PLACEMENT_BALANCE] = "balance",
		[VS_PLACEMENT_PACK] = "pack",
		[VS_PLACEMENT_SPREAD] = "spread",
		[VS_PLACEMENT_DRS] = "drs",
	};

	for (size_t i = 1; part->placement && i < VS_COUNT(words); i++)
		if (!strcasecmp(part->placement, words[i]))
			return (enum vs_placement)i;
	return VS_PLACEMENT_GLOBAL;
}

static bool some_drs(const struct vs_conf *conf)
{
	for (size_t i = 0; i < conf->npartitions; i++)
		if (placement_of(&conf->partitions[i]) == VS_PLACEMENT_DRS)
			return true;
	return false;
}

static enum vs_clone_type clone_of(const struct vs_conf_partition *part)
{
	enum vs_clone_type kind = VS_CLONE_FULL;

	vs_clone_parse(part->clone, &kind);
	return kind;
}

static bool same_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

/* A running guest has what it was given: another word, another profile. */
static uint64_t net_of(const struct vs_conf_partition *p)
{
	const char *texts[] = { p->subnet, p->addresses, p->gateway, p->dns,
				p->dns_search };
	uint64_t h = VS_HASH_START;
	bool any = false;

	for (size_t i = 0; i < VS_COUNT(texts); i++) {
		h = vs_hash_str(h, texts[i] ? texts[i] : "");
		any |= texts[i] != NULL;
	}
	return any ? h : 0;
}

/* Profiles are few, nodes are many: one profile per distinct setting. */
static size_t profile_index(struct vs_core *c, const struct vs_conf_node *n,
			    const struct vs_conf_partition *part)
{
	struct vs_profile want = {
		.adapter = &c->adapters[adapter_index(c->conf, n->adapter)],
		.vcpus = n->vcpus,
		.memory_mb = n->memory_mb,
		.latency_high = part->latency &&
			!strcasecmp(part->latency, "high"),
		.retention = retention_of(part),
		.dynamic = n->dynamic,
		.clone = clone_of(part),
		.placement = placement_of(part),
		.clone_per_host = vs_clone_per_host(part->clone),
		.annotation = part->annotation,
		.net = net_of(part),
	};

	vs_hardware_set(&want, part);
	vs_strlcpy(want.template_name, part->template_name,
		   sizeof(want.template_name));
	vs_strlcpy(want.storage_policy, part->storage_policy ?
		   part->storage_policy : "", sizeof(want.storage_policy));
	for (size_t i = 0; i < c->nprofiles; i++) {
		const struct vs_profile *p = &c->profiles[i];

		if (p->adapter == want.adapter && p->vcpus == want.vcpus &&
		    p->memory_mb == want.memory_mb &&
		    p->latency_high == want.latency_high &&
		    p->retention == want.retention &&
		    p->clone == want.clone &&
		    p->placement == want.placement &&
		    p->clone_per_host == want.clone_per_host &&
		    p->dynamic == want.dynamic && p->net == want.net &&
		    vs_hardware_same(&p->hw, &want.hw) &&
		    same_text(p->annotation, want.annotation) &&
		    !strcmp(p->storage_policy, want.storage_policy) &&
		    !strcmp(p->template_name, want.template_name))
			return i;
	}
	c->profiles[c->nprofiles] = want;
	return c->nprofiles++;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct vs_conf_node *)a)->name,
		      ((const struct vs_conf_node *)b)->name);
}

static void nodes_make(struct vs_core *c)
{
	struct vs_conf *conf = c->conf;

	qsort(conf->nodes, conf->nnodes, sizeof(*conf->nodes), by_name);
	c->profiles = vs_calloc(conf->nnodes + 1, sizeof(*c->profiles));
	c->nodes = vs_calloc(conf->nnodes + 1, sizeof(*c->nodes));
	free(c->kept);
	c->kept = vs_calloc(conf->nnodes + 1, sizeof(*c->kept));
	c->nnodes = conf->nnodes;
	for (size_t i = 0; i < conf->nnodes; i++) {
		const struct vs_conf_node *from = &conf->nodes[i];
		struct vs_node *n = &c->nodes[i];
		size_t p = profile_index(c, from,
					 vs_conf_partition_named(conf, from->partition));

		n->name = from->name;
		n->id = (int)i;
		n->kept = &c->kept[i];
		n->kept->profile = (int)p;
		n->conf = from;
		n->profile = &c->profiles[p];
		n->net = &c->nets[n->profile->adapter - c->adapters];
	}
	c->now = vs_calloc(c->nprofiles + 1, sizeof(*c->now));
}

/* A power-on may be under way: vCenter's word ends its hold (orphan_vms.c). */
static void hold_leaves(struct vs_core *c, const char *node)
{
	const struct vs_claim *h = vs_ledger_get(&c->ledger, node);
	char moving[VS_NAME_LEN + 1];		/* see evacuate.c */

	if (h && h->state == VS_CLAIM_STARTING)
		vs_orphans_claims_left();
	else
		vs_ledger_release(&c->ledger, node);
	snprintf(moving, sizeof(moving), ">%s", node);
	vs_ledger_release(&c->ledger, moving);
	vs_capacity_freed();
}

/* What is under way survives a new configuration. */
static void nodes_carry(struct vs_core *c, const struct vs_node *old,
			size_t nold)
{
	vs_tasks_busy_none(c);
	for (size_t i = 0; i < nold; i++) {
		struct vs_node *n = vs_node_named(c, old[i].name);
		struct vs_node fresh;

		if (!n) {
			hold_leaves(c, old[i].name);
			vs_task_end(old[i].op.id);
			vs_health_gone(&old[i]);
			free(old[i].claims.beside);
			free(old[i].foreign);
			continue;
		}
		fresh = *n;
		*n = old[i];
		n->name = fresh.name;
		n->id = fresh.id;
		n->kept = fresh.kept;
		n->conf = fresh.conf;
		n->profile = fresh.profile;
		n->net = fresh.net;
		if (n->op.id)
			vs_tasks_busy_add(c, n);
		vs_node_mark_changed(n);
	}
}

/* The ledger knows nodes by name; their ids are others. */
static void claims_carry(struct vs_core *c)
{
	for (struct vs_claim *h = c->ledger.holds; h; h = h->hh.next) {
		const struct vs_node *n = vs_node_named(c, h->node);

		h->id = n ? n->id : -1;
	}
}

/* Waits and refusals speak in ids: translate, or drop what has gone. */
struct before { struct vs_core *c; const struct vs_node *nodes; size_t n; };

static void ids_carry(void *arg, int *ids, size_t *n)
{
	const struct before *was = arg;
	size_t kept = 0;

	for (size_t i = 0; i < *n; i++) {
		struct vs_node *now = ids[i] >= 0 && (size_t)ids[i] < was->n ?
			vs_node_named(was->c, was->nodes[ids[i]].name) : NULL;

		if (now)
			ids[kept++] = now->id;
	}
	*n = kept;
}

static vs_claim_fn *const hear_of_claims[] = {
	vs_drs_claim_changed,
	vs_forecast_claim_changed,
	vs_evacuation_claim_changed,
	vs_prefetch_claim_changed,
	vs_node_claim_changed,
};

static const struct vs_task_owner provision = { .failed = vs_node_failed };
static const struct vs_task_owner evacuation = { .failed = vs_vmotion_failed };

static void compose(void)
{
	vs_claims_subscribe(hear_of_claims, VS_COUNT(hear_of_claims));
	vs_clones_requested_subscribe(vs_clone_sources_requested);
	for (int k = VS_OP_NONE; k < VS_OPS; k++)
		vs_tasks_own((enum vs_op_type)k, k == VS_OP_VMOTION ?
			     &evacuation : &provision);
}

void vs_setup_apply(struct vs_core *c, struct vs_conf *conf)
{
	struct vs_conf *old_conf = c->conf;
	struct vs_node *old = c->nodes;
	size_t nold = c->nnodes;

	compose();
	for (size_t i = 0; old_conf && i < old_conf->nadapters; i++)
		vs_addresses_free(c->adapters[i].addresses);
	free(c->adapters);
	free(c->nets);
	free(c->rails);
	free(c->profiles);
	free(c->now);
	c->nprofiles = 0;
	c->conf = conf;
	vs_drs_use(conf->placement && !strcasecmp(conf->placement, "drs"),
		   some_drs(conf));
	/* Nodes may have been drained by us before: as at a start. */
	if (c->observe)
		c->started = false;
	vs_leaving_renew();
	c->observe = !conf->mode || strcasecmp(conf->mode, "manage");
	vs_rights_forget();
	vs_checks_renew();
	adapters_make(c);
	nodes_make(c);
	nodes_carry(c, old, nold);
	claims_carry(c);
	if (old_conf)
		vs_health_limit(c, old_conf->host_drain_threshold);
	vs_prefetch_carry(c);
	vs_jobs_renumber(ids_carry, &(struct before) { c, old, nold });
	__atomic_add_fetch(&c->epoch, 1, __ATOMIC_RELEASE);
	vs_nodes_mark_changed(c);
	vs_forecast_renew(c);
	free(old);
	vs_conf_free(old_conf);
}

struct mac_taken {
	char mac[VS_MAC_LEN];
	UT_hash_handle hh;
};

/* A node keeps its MACs over every rebuild; the rare collision of two names
 * is settled in the order of names. */
static void mac_choose(const struct vs_core *c, const char *node,
		       unsigned int nic, struct mac_taken **taken,
		       char out[VS_MAC_LEN])
{
	struct mac_taken *m;
	unsigned int salt = 0;

	do {
		vs_mac_make(c->cluster_id, node, nic, salt++, out);
		HASH_FIND_STR(*taken, out, m);
	} while (m);
	m = vs_calloc(1, sizeof(*m));
	vs_strlcpy(m->mac, out, sizeof(m->mac));
	HASH_ADD_STR(*taken, mac, m);
}

void vs_setup_macs(struct vs_core *c)
{
	struct mac_taken *taken = NULL, *m, *tmp;

	for (size_t i = 0; i < c->nnodes; i++) {
		struct vs_node *n = &c->nodes[i];

		mac_choose(c, n->name, 0, &taken, n->mgmt_mac);
		mac_choose(c, n->name, 1, &taken, n->macs[0]);
	}
	/* after all first ones: no other node's changes with NICsPerNode= */
	for (size_t i = 0; i < c->nnodes; i++) {
		struct vs_node *n = &c->nodes[i];

		for (int k = 1; k < vs_adapter_total(n->profile->adapter); k++)
			mac_choose(c, n->name, (unsigned int)k + 1, &taken,
				   n->macs[k]);
	}
	HASH_ITER(hh, taken, m, tmp) {
		HASH_DEL(taken, m);
		free(m);
	}
	vs_guest_info_expect(c);
}
