/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What must be known of the resolved objects before anything is built on them:
 * the clusters' pools, DRS and HA. Then the client says that it is up.
 */
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "vcenter/client/client_i.h"
#include "vcenter/spec/spec.h"

static void set_cluster(struct vcx_cluster *c, struct vs_j props)
{
	vs_vcx_cluster_set(c, vs_vcx_prop(props, "configurationEx"));
	c->read = true;
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
		.about = vc->session.about,
		.instance_uuid = vc->session.instance_uuid,
		.release = vc->http.release, .user = vc->session.user,
		.datacenter = vc->resolved.dc, .folder = vc->resolved.folder,
		.datastore = vc->stores[0].moid,
		.stores = vc->stores, .nstores = vc->nstores,
		.clusters = c, .nclusters = vc->nclusters,
		.networks = n, .nnetworks = vc->nnetworks,
		.templates = t, .ntemplates = vc->ntemplates,
	};

	for (size_t i = 0; i < vc->nclusters; i++)
		c[i] = vs_vcx_cluster_view(&vc->clusters[i]);
	for (size_t i = 0; i < vc->nnetworks; i++) {
		struct vcx_network *o = &vc->networks[i];

		n[i] = (struct vs_vc_network){ .name = o->name,
			.moid = o->moid, .switch_uuid = o->switch_uuid,
			.portgroup_key = o->portgroup_key, .nsx = o->nsx,
			.accepts = o->accepts,
			.opaque = !strcmp(o->type, "OpaqueNetwork") };
	}
	for (size_t i = 0; i < vc->ntemplates; i++) {
		t[i] = vs_vcx_template_view(&vc->templates[i]);
		vc->templates[i].changed = false;
	}
	if (vc->ev.up) {
		vs_inv_together(vc->inv, true);
		vc->ev.up(vc->ev_arg, &f);
		vs_inv_together(vc->inv, false);
	}
}

static void on_details(struct vcx_read *r)
{
	struct vs_vc *vc = r->vc;
	struct vs_err err;

	for (size_t i = 0; i < vc->nclusters; i++) {
		if (vc->clusters[i].read && *vc->clusters[i].pool_moid)
			continue;
		vs_err_set(&err, VS_E_CONFIG,
			   "VSphereCluster=%s: the cluster cannot be read: the account of VCenterUser= needs Read-only on it",
			   vc->clusters[i].name);
		vs_vcx_fail(vc, &err);
		return;
	}
	vs_vcx_resolve_free(vc);
	tell_up(vc);
	vs_vcx_event(vc, VCX_EV_RESOLVED);
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
	vs_vcx_read(&r, vs_spec_filter(props, objects));
}
