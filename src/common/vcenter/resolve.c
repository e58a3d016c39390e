/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configured names -> managed object ids, once per session.
 *
 * Rules: one view over the datacenter brings all names at once, so that a name
 * that is missing can be answered with the names that are there. A name that
 * stands for two objects is refused, never guessed. Names are compared as
 * people write them (vCenter keeps % / \ in them as %25 %2f %5c).
 */
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "vcenter/spec.h"
#include "vcenter/vc_i.h"

struct entry {
	char *type, *moid, *name, *up;	/* up: parent, owner or switch */
	char *key;			/* port group key or switch uuid */
};

struct vcx_resolve {
	struct entry *e;
	size_t n, cap;
	char *view;
	size_t next_template;
	bool scanned;
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

static bool same_name(const char *actual, const char *wanted)
{
	for (; *actual && *wanted; wanted++) {
		char c = *actual++;

		if (c == '%' && !strncasecmp(actual, "25", 2))
			actual += 2;
		else if (c == '%' && !strncasecmp(actual, "2f", 2))
			c = '/', actual += 2;
		else if (c == '%' && !strncasecmp(actual, "5c", 2))
			c = '\\', actual += 2;
		if (c != *wanted)
			return false;
	}
	return !*actual && !*wanted;
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

/* The one entry of that name (below `up` if given). NULL: client failed. */
static struct entry *find(struct vs_vc *vc, const char *type,
			  const char *what, const char *name, const char *up)
{
	struct vcx_resolve *r = vc->resolve;
	struct entry *found = NULL;
	struct vs_err err;

	for (size_t i = 0; i < r->n; i++) {
		struct entry *e = &r->e[i];

		if (!is_type(e, type) || !same_name(e->name, name) ||
		    (up && strcmp(e->up, up)))
			continue;
		if (found) {
			vs_err_set(&err, VS_E_CONFIG,
				"%s \"%s\" is ambiguous: vCenter has two of them in datacenter \"%s\" (%s, %s)",
				what, name, vc->dc_name, found->moid, e->moid);
			vs_vcx_fail(vc, &err);
			return NULL;
		}
		found = e;
	}
	if (!found) {
		VS_FREE char *have = what_exists(vc, type, up);

		vs_err_set(&err, VS_E_CONFIG,
			   "vCenter has no %s \"%s\" in datacenter \"%s\"%s",
			   what, name, vc->dc_name, have);
		vs_vcx_fail(vc, &err);
	}
	return found;
}

/* ---- reading all of a view ------------------------------------------------ */

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
		vs_vcx_post(vc, 0, on_quiet, "ContainerView",
			    vc->resolve->view, "DestroyView", NULL);
	vs_str_replace(&vc->resolve->view, NULL);
}

struct wanted { const char *type; const char *paths[4]; };

static void read_view(struct vs_vc *vc, const struct wanted *w, size_t n,
		      void (*end)(struct vcx_read *r))
{
	struct vcx_read r = { .vc = vc, .object = keep, .end = end };
	struct json_object *props = vs_jb_arr(), *objects = vs_jb_arr();

	for (size_t i = 0; i < n; i++)
		vs_jb_add(props, vs_spec_props(w[i].type, w[i].paths));
	vs_jb_add(objects, vs_spec_view_members("ContainerView",
						vc->resolve->view));
	vs_vcx_read(&r, vs_spec_filter_of(props, objects));
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

/* ---- 3: templates, by path, else by looking at all VMs' names ------------- */

static void next_template(struct vs_vc *vc);

static void on_all_vms(struct vcx_read *r)
{
	struct vs_vc *vc = r->vc;

	vc->resolve->scanned = true;
	drop_view(vc);
	next_template(vc);
}

static void on_vm_view(struct vcx_call *call, struct vs_j reply,
		       const struct vs_err *err)
{
	static const struct wanted w = { "VirtualMachine", { "name", NULL } };

	if (took_view(call, reply, err))
		read_view(call->vc, &w, 1, on_all_vms);
}

static void on_template(struct vcx_call *call, struct vs_j reply,
			const struct vs_err *err)
{
	static const char *const types[] = { "VirtualMachine", NULL };
	struct vs_vc *vc = call->vc;
	const char *type, *moid = err ? "" : vs_j_ref(reply, &type);

	if (err) {
		vs_vcx_fail(vc, err);
		return;
	}
	if (vs_vcx_bad(vc, reply))
		return;
	if (*moid && !strcmp(type, "VirtualMachine")) {
		struct vcx_resolve *r = vc->resolve;

		vs_str_replace(&vc->templates[r->next_template++].moid, moid);
		next_template(vc);
		return;
	}
	entries_clear(vc->resolve);
	vs_vcx_post(vc, 0, on_vm_view, "ViewManager", vc->ids.views,
		    "CreateContainerView",
		    vs_spec_container_view("Datacenter", vc->dc, types));
}

static void next_template(struct vs_vc *vc)
{
	struct vcx_resolve *r = vc->resolve;
	struct vcx_template *t = &vc->templates[r->next_template];
	const char *path[] = { vc->dc_name, "vm", t->name, NULL };
	struct entry *e;

	if (r->next_template == vc->ntemplates) {
		vs_vcx_details(vc);
		return;
	}
	if (!r->scanned) {
		vs_vcx_post(vc, 0, on_template, "SearchIndex", vc->ids.search,
			    "FindByInventoryPath", vs_spec_path(path));
		return;
	}
	if (!(e = find(vc, "VirtualMachine", "template", t->name, NULL)))
		return;
	vs_str_replace(&t->moid, e->moid);
	r->next_template++;
	next_template(vc);
}

/* ---- 2: everything else that has a name ----------------------------------- */

static bool match_folder(struct vs_vc *vc)
{
	VS_FREE char *path = vs_strdup(vc->folder_name);
	const char *at = vc->vm_folder;
	char *rest = path, *part;

	while ((part = strsep(&rest, "/"))) {
		struct entry *e;

		if (!*part)
			continue;
		if (!(e = find(vc, "Folder", "VM folder", part, at)))
			return false;
		at = e->moid;
	}
	vs_str_replace(&vc->folder, at);
	return true;
}

static bool match_clusters(struct vs_vc *vc)
{
	for (size_t i = 0; i < vc->nclusters; i++) {
		struct vcx_cluster *c = &vc->clusters[i];
		struct entry *e = find(vc, "ClusterComputeResource", "cluster",
				       c->name, NULL);

		if (!e)
			return false;
		vs_str_replace(&c->moid, e->moid);
		vs_str_replace(&c->pool_moid, NULL);
		vs_str_replace(&c->drs_behavior, NULL);
		if (!c->pool)
			continue;	/* the root pool, read with the rest */
		e = find(vc, "ResourcePool", "resource pool", c->pool,
			 c->moid);
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
		struct entry *e = find(vc, "Network", "network", n->name, NULL);

		if (!e)
			return false;
		vs_str_replace(&n->moid, e->moid);
		vs_str_replace(&n->portgroup_key, e->key ? e->key : "");
		vs_str_replace(&n->switch_uuid, "");
		for (size_t k = 0; k < r->n && *e->up; k++)
			if (!strcmp(r->e[k].moid, e->up) && r->e[k].key)
				vs_str_replace(&n->switch_uuid, r->e[k].key);
	}
	return true;
}

static void on_names(struct vcx_read *r)
{
	struct vs_vc *vc = r->vc;
	struct entry *e;

	drop_view(vc);
	if (!match_folder(vc) || !match_clusters(vc) || !match_networks(vc))
		return;
	if (!(e = find(vc, "Datastore", "datastore", vc->store_name, NULL)))
		return;
	vs_str_replace(&vc->store, e->moid);
	next_template(vc);
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
			"config.distributedVirtualSwitch", NULL } },
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
	if (!(e = find(vc, "Datacenter", "datacenter", vc->dc_name, NULL)))
		return;
	vs_str_replace(&vc->dc, e->moid);
	vs_str_replace(&vc->vm_folder, e->up);
	entries_clear(vc->resolve);
	vs_vcx_post(vc, 0, on_names_view, "ViewManager", vc->ids.views,
		    "CreateContainerView",
		    vs_spec_container_view("Datacenter", vc->dc, types));
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
	vs_vcx_post(vc, 0, on_dc_view, "ViewManager", vc->ids.views,
		    "CreateContainerView",
		    vs_spec_container_view("Folder", vc->ids.root, types));
}
