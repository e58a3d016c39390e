/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configured names -> managed object ids, once per session; the templates'
 * besides on each slow beat (templates.c).
 *
 * Rules: one view over the datacenter brings all names at once, so that a name
 * that is missing can be answered with the names that are there. A name that
 * stands for two objects is refused, never guessed. Names are compared as
 * people write them (vCenter keeps % / \ in them as %25 %2f %5c).
 */
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "vcenter/client/client_i.h"
#include "vcenter/spec/spec.h"

struct entry {
	char *type, *moid, *name, *up;	/* up: parent, owner or switch */
	char *key;			/* port group key or switch uuid */
	bool nsx;			/* a port group that NSX made */
	unsigned int accepts;		/* VS_VC_ACCEPTS_* */
};

struct vcx_resolve {
	struct entry *e;
	size_t n, cap;
	char *view;
};

static void entries_clear(struct vcx_resolve *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->e[i].type);
		free(r->e[i].moid);
		free(r->e[i].name);
		free(r->e[i].up);
		free(r->e[i].key);
	}
	r->n = 0;
}

void vs_vcx_resolve_free(struct vs_vc *vc)
{
	struct vcx_resolve *r = vc->resolve;

	if (!r)
		return;
	entries_clear(r);
	free(r->e);
	free(r->view);
	free(r);
	vc->resolve = NULL;
}

static bool is_type(const struct entry *e, const char *type)
{
	if (!strcmp(type, "Network"))
		return strstr(e->type, "Network") ||
			!strcmp(e->type, "DistributedVirtualPortgroup");
	return !strcmp(e->type, type);
}

/* "; there are: a, b, c" */
static char *what_exists(struct vs_vc *vc, const char *type, const char *up)
{
	struct vcx_resolve *r = vc->resolve;
	char *out = vs_strdup("");
	size_t n = 0;

	for (size_t i = 0; i < r->n && n < 9; i++) {
		VS_FREE char *old = NULL;

		if (!is_type(&r->e[i], type) ||
		    (up && strcmp(r->e[i].up, up)))
			continue;
		old = out;
		out = vs_asprintf("%s%s%s", old, n ? ", " : "; there are: ",
				  n == 8 ? "..." : r->e[i].name);
		n++;
	}
	return out;
}

/* A line of vsphere.conf and what it stands for. */
struct wish {
	const char *key, *value;
	const char *type, *what;	/* in vCenter, and for people */
	const char *name;		/* part of value, NULL: all of it */
	const char *up;			/* below this one, NULL: anywhere */
	const char *in, *in_name;	/* "datacenter", its name */
};

static void refuse(struct vs_vc *vc, const struct wish *w, const char *how,
		   const char *what, const char *more)
{
	const char *name = w->name && strcmp(w->name, w->value) ? w->name :
		NULL;
	struct vs_err err;

	vs_err_set(&err, VS_E_CONFIG,
		   "%s=%s: vCenter has %s %s %s%s%s%s%s%s%s%s", w->key, w->value,
		   how, what, name ? "called \"" : "of that name",
		   name ? name : "", name ? "\"" : "",
		   w->in ? " in " : "", w->in ? w->in : "", w->in ? " \"" : "",
		   w->in ? w->in_name : "", w->in ? "\"" : "");
	vs_strlcpy(err.text + strlen(err.text), more,
		   sizeof(err.text) - strlen(err.text));
	vs_vcx_fail(vc, &err);
}

/* The one entry of that name. NULL: the client has failed. */
static struct entry *find(struct vs_vc *vc, const struct wish *w)
{
	const char *name = w->name ? w->name : w->value;
	struct vcx_resolve *r = vc->resolve;
	struct entry *found = NULL;

	for (size_t i = 0; i < r->n; i++) {
		struct entry *e = &r->e[i];

		if (!is_type(e, w->type) ||
		    !vs_vcx_same_name(e->name, name) ||
		    (w->up && strcmp(e->up, w->up)))
			continue;
		if (found) {
			VS_FREE char *two = vs_asprintf(
				" (%s, %s): rename one of them", found->moid,
				e->moid);
			VS_FREE char *what = vs_asprintf("%ss", w->what);

			refuse(vc, w, "two", what, two);
			return NULL;
		}
		found = e;
	}
	if (!found) {
		VS_FREE char *have = what_exists(vc, w->type, w->up);

		refuse(vc, w, "no", w->what, have);
	}
	return found;
}

/* ---- reading all of a view ------------------------------------------------ */

/*
 * A port group's security policy: macManagementPolicy since vSphere 6.7, each a
 * boolean; securityPolicy before, each a BoolPolicy. What isn't said counts as
 * rejected, the default of a distributed switch. The whole defaultPortConfig is
 * read: its policies are of a derived type, VMwareDVSPortSetting.
 */
static unsigned int accepted(struct vs_j config)
{
	static const struct { const char *key; unsigned int bit; } rows[] = {
		{ "macChanges", VS_VC_ACCEPTS_MAC_CHANGES },
		{ "forgedTransmits", VS_VC_ACCEPTS_FORGED },
		{ "allowPromiscuous", VS_VC_ACCEPTS_PROMISCUOUS },
	};
	struct vs_j mac = vs_j_opt(config, "macManagementPolicy");
	struct vs_j old = vs_j_opt(config, "securityPolicy");
	unsigned int bits = 0;

	for (size_t i = 0; i < VS_COUNT(rows); i++) {
		struct vs_j v = vs_j_opt(mac, rows[i].key);

		if (vs_j_null(v))
			v = vs_j_opt(vs_j_opt(old, rows[i].key), "value");
		if (vs_j_bool_or(v, false))
			bits |= rows[i].bit;
	}
	return bits;
}

static void keep(struct vcx_read *r, const char *type, const char *moid,
		 struct vs_j props, struct vs_j missing)
{
	static const char *const ups[] = { "parent", "owner", "vmFolder",
		"config.distributedVirtualSwitch" };
	static const char *const keys[] = { "key", "uuid" };
	struct vcx_resolve *res = r->vc->resolve;
	struct entry *e;

	(void)missing;
	VS_GROW(res->e, res->cap, res->n + 1);
	e = &res->e[res->n++];
	*e = (struct entry){ .type = vs_strdup(type), .moid = vs_strdup(moid) };
	e->name = vs_strdup(vs_j_str_or(vs_vcx_prop(props, "name"), ""));
	for (size_t i = 0; i < VS_COUNT(ups); i++) {
		const char *ref = vs_j_ref(vs_vcx_prop(props, ups[i]), NULL);

		if (*ref)
			vs_str_replace(&e->up, ref);
	}
	for (size_t i = 0; i < VS_COUNT(keys); i++)
		vs_str_replace(&e->key, vs_j_str_or(vs_vcx_prop(props, keys[i]),
						    e->key));
	e->nsx = !strcmp(vs_j_str_or(vs_vcx_prop(props, "config.backingType"),
				     ""), "nsx");
	e->accepts = accepted(vs_vcx_prop(props, "config.defaultPortConfig"));
	if (!e->up)
		e->up = vs_strdup("");
}

static void on_quiet(struct vcx_call *call, struct vs_j reply,
		     const struct vs_err *err)
{
	(void)call;
	(void)reply;
	(void)err;
}

static void drop_view(struct vs_vc *vc)
{
	if (vc->resolve->view)
		vs_vcx_post(&vc->http, 0, on_quiet, "ContainerView",
			    vc->resolve->view, "DestroyView", NULL);
	vs_str_replace(&vc->resolve->view, NULL);
}

struct wanted { const char *type; const char *paths[6]; };

static void read_view(struct vs_vc *vc, const struct wanted *w, size_t n,
		      void (*end)(struct vcx_read *r))
{
	struct vcx_read r = { .vc = vc, .object = keep, .end = end };
	struct json_object *props = vs_jb_arr(), *objects = vs_jb_arr();

	for (size_t i = 0; i < n; i++)
		vs_jb_add(props, vs_spec_props(w[i].type, w[i].paths));
	vs_jb_add(objects, vs_spec_view_members("ContainerView",
						vc->resolve->view));
	vs_vcx_read(&r, vs_spec_filter(props, objects));
}

static bool took_view(struct vcx_call *call, struct vs_j reply,
		      const struct vs_err *err)
{
	if (err) {
		vs_vcx_fail(call->vc, err);
		return false;
	}
	vs_str_replace(&call->vc->resolve->view, vs_j_ref(reply, NULL));
	return !vs_vcx_bad(call->vc, reply);
}

/* ---- 2: everything else that has a name ----------------------------------- */

#define IN_DC .in = "datacenter", .in_name = vc->dc_name

static bool match_folder(struct vs_vc *vc)
{
	VS_FREE char *path = vs_strdup(vc->folder_name);
	const char *at = vc->resolved.vm_folder;
	char *rest = path, *part;

	while ((part = strsep(&rest, "/"))) {
		struct entry *e;

		if (!*part)
			continue;
		e = find(vc, &(struct wish){ .key = "Folder",
				.value = vc->folder_name, .name = part,
				.type = "Folder", .what = "VM folder",
				.up = at, IN_DC });
		if (!e)
			return false;
		at = e->moid;
	}
	vs_str_replace(&vc->resolved.folder, at);
	return true;
}

static bool match_clusters(struct vs_vc *vc)
{
	for (size_t i = 0; i < vc->nclusters; i++) {
		struct vcx_cluster *c = &vc->clusters[i];
		struct entry *e = find(vc, &(struct wish){
				.key = "VSphereCluster", .value = c->name,
				.type = "ClusterComputeResource",
				.what = "cluster", IN_DC });

		if (!e)
			return false;
		vs_str_replace(&c->moid, e->moid);
		vs_str_replace(&c->pool_moid, NULL);
		c->read = false;
		if (!c->pool)
			continue;	/* the root pool, read with the rest */
		e = find(vc, &(struct wish){ .key = "ResourcePool",
				.value = c->pool, .type = "ResourcePool",
				.what = "resource pool", .up = c->moid,
				.in = "cluster", .in_name = c->name });
		if (!e)
			return false;
		vs_str_replace(&c->pool_moid, e->moid);
	}
	return true;
}

static bool match_networks(struct vs_vc *vc)
{
	struct vcx_resolve *r = vc->resolve;

	for (size_t i = 0; i < vc->nnetworks; i++) {
		struct vcx_network *n = &vc->networks[i];
		struct entry *e = find(vc, &(struct wish){ .key = "Network",
				.value = n->name, .type = "Network",
				.what = "network", IN_DC });

		if (!e)
			return false;
		vs_str_replace(&n->type, e->type);
		n->nsx = e->nsx;
		n->accepts = e->accepts;
		vs_str_replace(&n->moid, e->moid);
		vs_str_replace(&n->portgroup_key, e->key ? e->key : "");
		vs_str_replace(&n->switch_uuid, "");
		for (size_t k = 0; k < r->n && *e->up; k++)
			if (!strcmp(r->e[k].moid, e->up) && r->e[k].key)
				vs_str_replace(&n->switch_uuid, r->e[k].key);
	}
	return true;
}

static bool match_stores(struct vs_vc *vc)
{
	for (size_t i = 0; i < vc->nstores; i++) {
		struct entry *e = find(vc, &(struct wish){ .key = "Datastore",
				.value = vc->stores[i].name,
				.type = "Datastore", .what = "datastore",
				IN_DC });

		if (!e)
			return false;
		vs_str_replace((char **)&vc->stores[i].moid, e->moid);
	}
	return true;
}

static void on_names(struct vcx_read *r)
{
	struct vs_vc *vc = r->vc;

	drop_view(vc);
	if (!match_folder(vc) || !match_clusters(vc) || !match_networks(vc) ||
	    !match_stores(vc))
		return;
	for (size_t i = 0; i < vc->ntemplates; i++)
		vs_vcx_template_forget(&vc->templates[i]);
	vs_vcx_templates(vc);
}

static void on_names_view(struct vcx_call *call, struct vs_j reply,
			  const struct vs_err *err)
{
	static const struct wanted w[] = {
		{ "Folder", { "name", "parent", NULL } },
		{ "ClusterComputeResource", { "name", NULL } },
		{ "ResourcePool", { "name", "owner", NULL } },
		{ "Datastore", { "name", NULL } },
		{ "Network", { "name", NULL } },
		{ "DistributedVirtualPortgroup", { "name", "key",
			"config.distributedVirtualSwitch",
			"config.backingType", "config.defaultPortConfig",
			NULL } },
		{ "DistributedVirtualSwitch", { "name", "uuid", NULL } },
	};

	if (took_view(call, reply, err))
		read_view(call->vc, w, VS_COUNT(w), on_names);
}

/* ---- 1: the datacenter ---------------------------------------------------- */

static void on_datacenters(struct vcx_read *r)
{
	static const char *const types[] = { "Folder", "ClusterComputeResource",
		"ResourcePool", "Datastore", "Network",
		"DistributedVirtualSwitch", NULL };
	struct vs_vc *vc = r->vc;
	struct entry *e;

	drop_view(vc);
	e = find(vc, &(struct wish){ .key = "Datacenter",
			.value = vc->dc_name, .type = "Datacenter",
			.what = "datacenter" });
	if (!e)
		return;
	vs_str_replace(&vc->resolved.dc, e->moid);
	vs_str_replace(&vc->resolved.vm_folder, e->up);
	entries_clear(vc->resolve);
	vs_vcx_post(&vc->http, 0, on_names_view, "ViewManager",
		    vc->session.ids.views,
		    "CreateContainerView",
		    vs_spec_container_view("Datacenter", vc->resolved.dc,
					   types));
}

static void on_dc_view(struct vcx_call *call, struct vs_j reply,
		       const struct vs_err *err)
{
	static const struct wanted w = { "Datacenter", { "name", "vmFolder",
							 NULL } };

	if (took_view(call, reply, err))
		read_view(call->vc, &w, 1, on_datacenters);
}

void vs_vcx_resolve(struct vs_vc *vc)
{
	static const char *const types[] = { "Datacenter", NULL };

	vs_vcx_resolve_free(vc);
	vc->resolve = vs_calloc(1, sizeof(*vc->resolve));
	vs_vcx_post(&vc->http, 0, on_dc_view, "ViewManager",
		    vc->session.ids.views,
		    "CreateContainerView",
		    vs_spec_container_view("Folder", vc->session.ids.root,
					   types));
}
