/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What must be known of the resolved objects before anything is built on them:
 * the clusters' DRS and HA settings (configurationEx is read whole: a path may
 * not descend into what it really is), the templates' first network card and
 * what their disks take.
 * Then the client says that it is up.
 */
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "vcenter/spec.h"
#include "vcenter/vc_i.h"

const char *const vs_vcx_template_paths[] = {
	"name", "config.template", "config.version", "config.changeVersion",
	"runtime.host", "config.hardware.device",
	"summary.storage.committed", NULL
};

static bool is_card(struct vs_j dev)
{
	return !vs_j_null(vs_j_opt(dev, "addressType"));
}

/*
 * What a clone of these disks takes: as much as they take themselves, which for
 * thin ones is less than they may grow to. Where that isn't told, what is
 * certain: the thick ones.
 */
static int64_t disks_mb(struct vs_j dev, struct vs_j committed)
{
	int64_t all = 0, thick = 0, bytes, has = vs_j_int_or(committed, 0);
	size_t n = vs_j_len(dev);

	for (size_t i = 0; i < n; i++) {
		struct vs_j d = vs_j_at(dev, i);

		if (strcmp(vs_j_type(d), "VirtualDisk"))
			continue;
		bytes = vs_j_int_or(vs_j_opt(d, "capacityInBytes"),
				    vs_j_int_or(vs_j_opt(d, "capacityInKB"),
						0) * 1024);
		all += bytes;
		if (!vs_j_bool_or(vs_j_opt(vs_j_opt(d, "backing"),
					   "thinProvisioned"), true))
			thick += bytes;
	}
	bytes = has < all ? has : all;
	return (bytes > thick ? bytes : thick) >> 20;
}

bool vs_vcx_template_set(struct vcx_template *t, struct vs_j props)
{
	struct vs_j dev = vs_vcx_prop(props, "config.hardware.device");
	const char *hw = vs_j_str_or(vs_vcx_prop(props, "config.version"), "");
	const char *host = vs_j_ref(vs_vcx_prop(props, "runtime.host"), NULL);
	size_t n = vs_j_len(dev);
	bool is = vs_j_bool_or(vs_vcx_prop(props, "config.template"), false);
	bool changed = t->is_template != is;

	changed |= vs_str_replace(&t->change_version, vs_j_str_or(
			vs_vcx_prop(props, "config.changeVersion"), ""));
	changed |= vs_str_replace(&t->host, host);
	t->is_template = is;
	t->hw = !strncmp(hw, "vmx-", 4) ? (int)strtol(hw + 4, NULL, 10) : 0;
	t->disk_mb = disks_mb(dev, vs_vcx_prop(props,
					       "summary.storage.committed"));
	vs_jb_free(t->nic);
	t->nic = NULL;
	for (size_t i = 0; i < n && !t->nic; i++)
		if (is_card(vs_j_at(dev, i)))
			t->nic = vs_jb_copy(vs_j_at(dev, i));
	return changed;
}

struct vs_vc_template vs_vcx_template_view(const struct vcx_template *t)
{
	return (struct vs_vc_template){ .name = t->name, .moid = t->moid,
		.change_version = t->change_version, .host = t->host,
		.is_template = t->is_template, .hw = t->hw,
		.disk_mb = t->disk_mb };
}

static void set_cluster(struct vcx_cluster *c, struct vs_j props)
{
	struct vs_j conf = vs_vcx_prop(props, "configurationEx");
	struct vs_j drs = vs_j_opt(conf, "drsConfig");
	struct vs_j das = vs_j_opt(conf, "dasConfig");

	c->drs = vs_j_bool_or(vs_j_opt(drs, "enabled"), false);
	vs_str_replace(&c->drs_behavior,
		       vs_j_str_or(vs_j_opt(drs, "defaultVmBehavior"), ""));
	c->drs_overrides = vs_j_bool_or(vs_j_opt(drs,
					"enableVmBehaviorOverrides"), true);
	c->ha = vs_j_bool_or(vs_j_opt(das, "enabled"), false);
	vs_str_replace(&c->ha_restart, vs_j_str_or(vs_j_opt(
			vs_j_opt(das, "defaultVmSettings"), "restartPriority"),
			""));
	if (!c->pool_moid)
		c->pool_moid = vs_strdup(vs_j_ref(vs_vcx_prop(props,
						"resourcePool"), NULL));
}

static void on_detail(struct vcx_read *r, const char *type, const char *moid,
		      struct vs_j props, struct vs_j missing)
{
	struct vs_vc *vc = r->vc;

	(void)type;
	(void)missing;
	for (size_t i = 0; i < vc->nclusters; i++)
		if (!strcmp(vc->clusters[i].moid, moid))
			set_cluster(&vc->clusters[i], props);
	for (size_t i = 0; i < vc->ntemplates; i++)
		if (!strcmp(vc->templates[i].moid, moid))
			vs_vcx_template_set(&vc->templates[i], props);
}

static void tell_up(struct vs_vc *vc)
{
	VS_FREE struct vs_vc_cluster *c =
		vs_calloc(vc->nclusters + 1, sizeof(*c));
	VS_FREE struct vs_vc_network *n =
		vs_calloc(vc->nnetworks + 1, sizeof(*n));
	VS_FREE struct vs_vc_template *t =
		vs_calloc(vc->ntemplates + 1, sizeof(*t));
	struct vs_vc_found f = {
		.about = vc->about, .instance_uuid = vc->instance_uuid,
		.release = vc->release, .user = vc->user,
		.datacenter = vc->dc, .folder = vc->folder,
		.datastore = vc->store,
		.clusters = c, .nclusters = vc->nclusters,
		.networks = n, .nnetworks = vc->nnetworks,
		.templates = t, .ntemplates = vc->ntemplates,
	};

	for (size_t i = 0; i < vc->nclusters; i++) {
		struct vcx_cluster *o = &vc->clusters[i];

		c[i] = (struct vs_vc_cluster){ .name = o->name,
			.moid = o->moid, .pool_moid = o->pool_moid,
			.drs_enabled = o->drs, .drs_behavior = o->drs_behavior,
			.drs_overrides = o->drs_overrides,
			.ha_enabled = o->ha, .ha_restart = o->ha_restart };
	}
	for (size_t i = 0; i < vc->nnetworks; i++) {
		struct vcx_network *o = &vc->networks[i];

		n[i] = (struct vs_vc_network){ .name = o->name,
			.moid = o->moid, .switch_uuid = o->switch_uuid,
			.portgroup_key = o->portgroup_key };
	}
	for (size_t i = 0; i < vc->ntemplates; i++)
		t[i] = vs_vcx_template_view(&vc->templates[i]);
	if (vc->ev.up)
		vc->ev.up(vc->ev_arg, &f);
}

static void on_details(struct vcx_read *r)
{
	struct vs_vc *vc = r->vc;
	struct vs_err err;

	for (size_t i = 0; i < vc->ntemplates; i++) {
		if (vc->templates[i].change_version)
			continue;
		vs_err_set(&err, VS_E_CONFIG,
			   "template \"%s\" can't be read: %s needs Read-only on it",
			   vc->templates[i].name, vc->user);
		vs_vcx_fail(vc, &err);
		return;
	}
	for (size_t i = 0; i < vc->nclusters; i++) {
		if (vc->clusters[i].drs_behavior &&
		    *vc->clusters[i].pool_moid)
			continue;
		vs_err_set(&err, VS_E_CONFIG,
			   "cluster \"%s\" can't be read: %s needs Read-only on it",
			   vc->clusters[i].name, vc->user);
		vs_vcx_fail(vc, &err);
		return;
	}
	vs_vcx_resolve_free(vc);
	tell_up(vc);
	vs_vcx_goto(vc, VCX_WATCH);
}

void vs_vcx_details(struct vs_vc *vc)
{
	static const char *const cluster[] = { "resourcePool",
		"configurationEx", NULL };
	struct vcx_read r = { .vc = vc, .object = on_detail,
			      .end = on_details };
	struct json_object *props = vs_jb_arr(), *objects = vs_jb_arr();

	vs_jb_add(props, vs_spec_props("ClusterComputeResource", cluster));
	for (size_t i = 0; i < vc->nclusters; i++)
		vs_jb_add(objects, vs_spec_object("ClusterComputeResource",
						  vc->clusters[i].moid));
	if (vc->ntemplates)
		vs_jb_add(props, vs_spec_props("VirtualMachine",
					       vs_vcx_template_paths));
	for (size_t i = 0; i < vc->ntemplates; i++) {
		vs_str_replace(&vc->templates[i].change_version, NULL);
		vs_jb_add(objects, vs_spec_object("VirtualMachine",
						  vc->templates[i].moid));
	}
	vs_vcx_read(&r, vs_spec_filter_of(props, objects));
}
