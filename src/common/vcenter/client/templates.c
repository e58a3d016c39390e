/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Templates: found by the name in the configuration, read, and looked up again
 * when they are gone. A tool that builds images deletes a template and makes it
 * again under its name, so a name outlives its object here.
 *
 * Rules: a template that is not there is no failure of the client: it is said
 * why it can't be cloned, and it is looked for on each slow beat. A path is
 * asked for each time, all of the datacenter is searched at most once a minute.
 * What is no template is not cloned, for an image that is still being built
 * has the name already. A name that stands for two templates is not guessed.
 * One that is encrypted, or has a virtual TPM, is not cloned: its clones need a
 * key provider, and the account privileges over keys (Cryptographer.*).
 */
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "vcenter/client/client_i.h"
#include "vcenter/spec/spec.h"

#define SEARCH_MS 60000
#define NAMES_SAID 8

struct found { char *moid, *name; };

struct vcx_lookup {
	struct found *f;		/* templates of the datacenter */
	size_t n, cap;
	char *view;
	size_t at;			/* which one's path is asked for */
	bool search;
};

void vs_vcx_lookup_free(struct vs_vc *vc)
{
	struct vcx_lookup *l = vc->lookup;

	if (!l)
		return;
	for (size_t i = 0; i < l->n; i++) {
		free(l->f[i].moid);
		free(l->f[i].name);
	}
	free(l->f);
	free(l->view);
	free(l);
	vc->lookup = NULL;
}

static void judge(struct vs_vc *vc, struct vcx_template *t, const char *have)
{
	VS_FREE char *why = NULL;

	if (!*t->moid)
		why = vs_asprintf("Template=%s: vCenter has no VM template of that name in datacenter \"%s\"; clone a template of another datacenter into it, or deploy an item of a content library (govc library.deploy)%s",
				  t->name, vc->dc_name, have);
	else if (!*t->change_version)
		why = vs_asprintf("Template=%s: the template cannot be read: the account of VCenterUser= needs Read-only on it",
				  t->name);
	else if (!t->is_template)
		why = vs_asprintf("Template=%s: the VM of that name is not a template: convert it to one",
				  t->name);
	else if (t->tpm)
		why = vs_asprintf("Template=%s: the template has a virtual TPM, whose clones need a key provider and Cryptographer privileges: convert it to a VM, remove the TPM (govc device.remove) and mark it as a template again",
				  t->name);
	else if (t->encrypted)
		why = vs_asprintf("Template=%s: the template is encrypted, and clones need a key provider and Cryptographer privileges: convert it to a VM, give it and its disks an unencrypted storage policy and mark it as a template again",
				  t->name);
	t->lack = !*t->moid ? VS_VC_TEMPLATE_ABSENT :
		!*t->change_version ? VS_VC_TEMPLATE_UNREAD :
		!t->is_template ? VS_VC_TEMPLATE_VM :
		t->tpm ? VS_VC_TEMPLATE_TPM :
		t->encrypted ? VS_VC_TEMPLATE_KEY : VS_VC_TEMPLATE_NONE;
	t->changed |= vs_str_replace(&t->missing, why);
}

void vs_vcx_templates_publish(struct vs_vc *vc)
{
	for (size_t i = 0; i < vc->ntemplates; i++) {
		struct vcx_template *t = &vc->templates[i];
		struct vs_vc_template out = vs_vcx_template_view(t);

		if (t->changed && vc->ev.template_changed) {
			vs_inv_together(vc->inv, true);
			vc->ev.template_changed(vc->ev_arg, &out);
			vs_inv_together(vc->inv, false);
		}
		t->changed = false;
	}
}

/* ---- reading those that were found or have changed ------------------------- */

/* The lookup belongs to the login's names; else to a slow beat. */
static bool at_login(const struct vs_vc *vc)
{
	return vc->state < VCX_WATCH;
}

static void lookup_end(struct vs_vc *vc)
{
	vs_vcx_lookup_free(vc);
	if (at_login(vc))
		vs_vcx_details(vc);
	else
		vs_vcx_slow_rights(vc);
}

static void lookup_failed(struct vs_vc *vc, const struct vs_err *err)
{
	vs_vcx_lookup_free(vc);
	if (at_login(vc) || err->code == VS_E_RELOGIN)
		vs_vcx_fail(vc, err);
	else
		vs_vcx_slow_failed(vc, err);
}

static void on_details(struct vcx_read *r, const char *type, const char *moid,
		       struct vs_j props, struct vs_j missing)
{
	struct vs_vc *vc = r->vc;

	(void)type;
	(void)missing;
	for (size_t i = 0; i < vc->ntemplates; i++)
		if (!strcmp(vc->templates[i].moid, moid))
			vs_vcx_template_set(&vc->templates[i], props);
}

static void on_details_end(struct vcx_read *r)
{
	struct vs_vc *vc = r->vc;

	for (size_t i = 0; i < vc->ntemplates; i++) {
		if (vc->templates[i].stale)
			judge(vc, &vc->templates[i], "");
		vc->templates[i].stale = false;
	}
	lookup_end(vc);
}

static void read_failed(struct vcx_read *r, const struct vs_err *err)
{
	lookup_failed(r->vc, err);
}

static void read_details(struct vs_vc *vc)
{
	const struct vcx_read r = { .vc = vc, .object = on_details,
		.end = on_details_end, .failed = read_failed };
	struct json_object *props, *objects = NULL;

	for (size_t i = 0; i < vc->ntemplates; i++) {
		if (!vc->templates[i].stale)
			continue;
		objects = objects ? objects : vs_jb_arr();
		vs_jb_add(objects, vs_spec_object("VirtualMachine",
						  vc->templates[i].moid));
	}
	if (!objects) {
		lookup_end(vc);
		return;
	}
	props = vs_jb_arr();
	vs_jb_add(props, vs_spec_props("VirtualMachine",
				       vs_vcx_template_paths));
	vs_vcx_read(&r, vs_spec_filter(props, objects));
}

/* ---- searching the datacenter ---------------------------------------------- */

/* "; there are: a, b" */
static char *names_said(const struct vcx_lookup *l)
{
	char *out = vs_strdup("");

	for (size_t i = 0; i < l->n && i <= NAMES_SAID; i++) {
		VS_FREE char *old = out;

		out = vs_asprintf("%s%s%s", old, i ? ", " : "; there are: ",
				  i == NAMES_SAID ? "..." : l->f[i].name);
	}
	return out;
}

static void match(struct vs_vc *vc, struct vcx_template *t, const char *have)
{
	const struct vcx_lookup *l = vc->lookup;
	const char *moid = NULL;

	for (size_t i = 0; i < l->n; i++) {
		if (!vs_vcx_same_name(l->f[i].name, t->name))
			continue;
		if (moid) {
			VS_FREE char *why = vs_asprintf(
				"Template=%s: vCenter has two templates of that name in datacenter \"%s\": give the path below its VM folders",
				t->name, vc->dc_name);

			t->changed |= vs_str_replace(&t->missing, why);
			return;
		}
		moid = l->f[i].moid;
	}
	if (!moid) {
		judge(vc, t, have);
		return;
	}
	vs_str_replace(&t->moid, moid);
	t->stale = true;
}

static void on_quiet(struct vcx_call *call, struct vs_j reply,
		     const struct vs_err *err)
{
	(void)call;
	(void)reply;
	(void)err;
}

static void on_one(struct vcx_read *r, const char *type, const char *moid,
		   struct vs_j props, struct vs_j missing)
{
	struct vcx_lookup *l = r->vc->lookup;

	(void)type;
	(void)missing;
	if (!vs_j_bool_or(vs_vcx_prop(props, "config.template"), false))
		return;
	VS_GROW(l->f, l->cap, l->n + 1);
	l->f[l->n++] = (struct found){ .moid = vs_strdup(moid),
		.name = vs_strdup(vs_j_str_or(vs_vcx_prop(props, "name"),
					      "")) };
}

static void drop_view(struct vs_vc *vc)
{
	vs_vcx_post(&vc->http, 0, on_quiet, "ContainerView", vc->lookup->view,
		    "DestroyView", NULL);
}

static void on_all(struct vcx_read *r)
{
	struct vs_vc *vc = r->vc;
	VS_FREE char *have = names_said(vc->lookup);

	vc->search_at = vc->now + SEARCH_MS;
	drop_view(vc);
	for (size_t i = 0; i < vc->ntemplates; i++)
		if (!*vc->templates[i].moid)
			match(vc, &vc->templates[i], have);
	read_details(vc);
}

static void search_failed(struct vcx_read *r, const struct vs_err *err)
{
	drop_view(r->vc);
	lookup_failed(r->vc, err);
}

static void on_view(struct vcx_call *call, struct vs_j reply,
		    const struct vs_err *err)
{
	static const char *const paths[] = { "name", "config.template", NULL };
	struct vs_vc *vc = call->vc;
	const struct vcx_read r = { .vc = vc, .object = on_one, .end = on_all,
				    .failed = search_failed };
	const char *view = err ? "" : vs_j_ref(reply, NULL);
	struct json_object *props, *objects;
	struct vs_err bad;

	if (!err && !*view) {
		vs_err_set(&bad, VS_E_RETRY, "%s: an empty answer", call->what);
		err = &bad;
	}
	if (err) {
		lookup_failed(vc, err);
		return;
	}
	vc->lookup->view = vs_strdup(view);
	props = vs_jb_arr();
	objects = vs_jb_arr();
	vs_jb_add(props, vs_spec_props("VirtualMachine", paths));
	vs_jb_add(objects, vs_spec_view_members("ContainerView", view));
	vs_vcx_read(&r, vs_spec_filter(props, objects));
}

/* ---- by path ---------------------------------------------------------------- */

static void next_path(struct vs_vc *vc);

static void on_path(struct vcx_call *call, struct vs_j reply,
		    const struct vs_err *err)
{
	struct vs_vc *vc = call->vc;
	const char *type, *moid = err ? "" : vs_j_ref(reply, &type);
	struct vcx_template *t = &vc->templates[vc->lookup->at];

	if (err) {
		lookup_failed(vc, err);
		return;
	}
	if (*moid && !strcmp(type, "VirtualMachine")) {
		vs_str_replace(&t->moid, moid);
		t->stale = true;
	} else if (!t->missing) {
		judge(vc, t, "");	/* until it was searched for */
	}
	vc->lookup->at++;
	next_path(vc);
}

static void next_path(struct vs_vc *vc)
{
	static const char *const types[] = { "VirtualMachine", NULL };
	struct vcx_lookup *l = vc->lookup;
	bool missing = false;

	while (l->at < vc->ntemplates && *vc->templates[l->at].moid)
		l->at++;
	if (l->at < vc->ntemplates) {
		const char *path[] = { vc->dc_name, "vm",
				       vc->templates[l->at].name, NULL };

		vs_vcx_post(&vc->http, 0, on_path, "SearchIndex",
			    vc->session.ids.search,
			    "FindByInventoryPath", vs_spec_path(path));
		return;
	}
	for (size_t i = 0; i < vc->ntemplates; i++)
		missing |= !*vc->templates[i].moid;
	if (missing && l->search)
		vs_vcx_post(&vc->http, 0, on_view, "ViewManager",
			    vc->session.ids.views,
			    "CreateContainerView", vs_spec_container_view(
				"Datacenter", vc->resolved.dc, types));
	else
		read_details(vc);
}

void vs_vcx_templates(struct vs_vc *vc)
{
	vs_vcx_lookup_free(vc);
	vc->lookup = vs_calloc(1, sizeof(*vc->lookup));
	vc->lookup->search = at_login(vc) || vc->now >= vc->search_at;
	next_path(vc);
}
