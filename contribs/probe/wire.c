/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions about the wire: how VI JSON says nothing, how values are boxed,
 * how long a poll may last, what a vanished object does to a read. Reads only,
 * through a property collector of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "probe.h"
#include "util/mem.h"
#include "util/name.h"
#include "vcenter/spec/spec.h"

/* ---- a collector on our folder's name --------------------------------------------- */

struct watch { char *pc, *version; };

static int watch_open(struct probe *p, struct watch *w, struct answer *a)
{
	static const char *const name[] = { "name", NULL };
	struct json_object *props = vs_jb_arr(), *objects = vs_jb_arr();
	struct reply r;
	int rc = -1;

	memset(w, 0, sizeof(*w));
	vs_jb_add(props, vs_spec_props("Folder", name));
	vs_jb_add(objects, vs_spec_object("Folder", p->folder));
	if (!ask(p, &r, "PropertyCollector", vs_vc_id(p->vc, "PropertyCollector"),
		 "CreatePropertyCollector", NULL, 0))
		w->pc = vs_strdup(vs_j_ref(vs_j_root(&r.doc), NULL));
	reply_free(&r);
	if (w->pc && !ask(p, &r, "PropertyCollector", w->pc, "CreateFilter",
			  vs_spec_create_filter(vs_spec_filter(props,
							       objects)), 0)) {
		reply_free(&r);
		if (!ask(p, &r, "PropertyCollector", w->pc, "WaitForUpdatesEx",
			 vs_spec_wait("", 5), 0)) {
			w->version = vs_strdup(vs_j_str_or(vs_j_opt(
				vs_j_root(&r.doc), "version"), ""));
			rc = 0;
		}
	}
	if (rc)
		saw_err(a, "no property collector of our own", &r.err);
	reply_free(&r);
	return rc;
}

static void watch_close(struct probe *p, struct watch *w)
{
	struct reply r;

	if (w->pc) {
		ask(p, &r, "PropertyCollector", w->pc,
		    "DestroyPropertyCollector", NULL, 0);
		reply_free(&r);
	}
	free(w->pc);
	free(w->version);
}

static void q_empty(struct probe *p, struct answer *a)
{
	struct watch w;
	struct reply r;

	if (!watch_open(p, &w, a)) {
		if (ask(p, &r, "PropertyCollector", w.pc, "WaitForUpdatesEx",
			vs_spec_wait(w.version, 1), 0))
			saw_err(a, "a wait that ended without news", &r.err);
		else
			saw(a, "a wait that ended without news: HTTP %ld, %s",
			    r.status, !r.len ? "no body" : r.len < 20 ?
			    r.text : "an update set");
		judge(a, !r.err.code && (!r.len || !strncmp(r.text, "null", 4)));
		reply_free(&r);
	}
	watch_close(p, &w);
}

/* The next set of a wait that may bring one object at a time. */
static bool next_set(struct probe *p, struct watch *w, struct answer *a)
{
	struct json_object *o = vs_spec_wait(w->version, 5);
	struct reply r;
	bool more;

	vs_jb_int(vs_jb_member(o, "options"), "maxObjectUpdates", 1);
	if (ask(p, &r, "PropertyCollector", w->pc, "WaitForUpdatesEx", o, 0))
		saw_err(a, "a wait for one object", &r.err);
	more = vs_j_bool_or(vs_j_opt(vs_j_root(&r.doc), "truncated"), false);
	vs_str_replace(&w->version, vs_j_str_or(vs_j_opt(vs_j_root(&r.doc),
							 "version"), ""));
	reply_free(&r);
	return more;
}

static void q_truncated(struct probe *p, struct answer *a)
{
	static const char *const name[] = { "name", NULL };
	struct json_object *props = vs_jb_arr(), *objects = vs_jb_arr();
	struct watch w;
	struct reply r;
	bool first, second;

	vs_jb_add(props, vs_spec_props("VirtualMachine", name));
	vs_jb_add(props, vs_spec_props("ClusterComputeResource", name));
	vs_jb_add(objects, vs_spec_object("VirtualMachine", p->source));
	vs_jb_add(objects, vs_spec_object("ClusterComputeResource",
					  p->cluster));
	if (watch_open(p, &w, a)) {
		vs_jb_free(props);
		vs_jb_free(objects);
	} else if (ask(p, &r, "PropertyCollector", w.pc, "CreateFilter",
		       vs_spec_create_filter(vs_spec_filter(props, objects)),
		       0)) {
		saw_err(a, "CreateFilter", &r.err);
		reply_free(&r);
	} else {
		reply_free(&r);
		first = next_set(p, &w, a);
		second = next_set(p, &w, a);
		saw(a, "of two objects one is asked for: the first set is %s, the second %s",
		    first ? "truncated" : "whole", second ? "too" : "is not");
		judge(a, first && !second);
	}
	watch_close(p, &w);
}

static void q_poll(struct probe *p, struct answer *a)
{
	int s = p->o.poll_seconds;
	struct watch w;
	struct reply r;

	if (!watch_open(p, &w, a)) {
		bool cut = ask(p, &r, "PropertyCollector", w.pc,
			       "WaitForUpdatesEx", vs_spec_wait(w.version, s),
			       (s + 60) * 1000);

		if (cut)
			saw_err(a, "the poll ended", &r.err);
		saw(a, "%d s were asked for, the answer came after %lld ms", s,
		    (long long)r.ms);
		judge(a, !cut && r.ms >= s * 1000 - 500);
		reply_free(&r);
	}
	watch_close(p, &w);
}

/* ---- reads --------------------------------------------------------------------------- */

static struct json_object *read_two(struct probe *p, bool report)
{
	static const char *const name[] = { "name", NULL };
	struct json_object *props = vs_jb_arr(), *objects = vs_jb_arr(), *f;

	vs_jb_add(props, vs_spec_props("VirtualMachine", name));
	vs_jb_add(objects, vs_spec_object("VirtualMachine", p->source));
	vs_jb_add(objects, vs_spec_object("VirtualMachine", "vm-999999999"));
	f = vs_spec_filter(props, objects);
	vs_jb_bool(f, "reportMissingObjectsInResults", report);
	return vs_spec_retrieve(f);
}

static void q_vanished(struct probe *p, struct answer *a)
{
	for (int report = 1; report >= 0; report--) {
		const char *how = report ? "asked to report it" :
			"not asked to report it";
		struct reply r;

		if (ask(p, &r, "PropertyCollector",
			vs_vc_id(p->vc, "PropertyCollector"),
			"RetrievePropertiesEx", read_two(p, report), 0))
			saw_err(a, how, &r.err);
		else
			saw(a, "%s: %zu of 2 objects come", how,
			    vs_j_len(vs_j_opt(vs_j_root(&r.doc), "objects")));
		if (report)
			judge(a, !r.err.code && vs_j_len(vs_j_opt(
				vs_j_root(&r.doc), "objects")) == 1);
		reply_free(&r);
	}
}

/* One read of the template's properties; the body is in r->text. */
static int read_source(struct probe *p, struct reply *r,
		       const char *const *paths)
{
	struct json_object *props = vs_jb_arr(), *objects = vs_jb_arr();

	vs_jb_add(props, vs_spec_props("VirtualMachine", paths));
	vs_jb_add(objects, vs_spec_object("VirtualMachine", p->source));
	return ask(p, r, "PropertyCollector",
		   vs_vc_id(p->vc, "PropertyCollector"), "RetrievePropertiesEx",
		   vs_spec_retrieve(vs_spec_filter(props, objects)), 0);
}

static void q_boxes(struct probe *p, struct answer *a)
{
	static const char *const paths[] = { "runtime.powerState", "name",
		"config.hardware.memoryMB", "config.extraConfig", NULL };
	static const char *const types[] = { "VirtualMachinePowerState",
		"string", "int", "ArrayOfOptionValue" };
	struct reply r;

	if (read_source(p, &r, paths)) {
		saw_err(a, "the template's properties", &r.err);
		reply_free(&r);
		return;
	}
	for (size_t i = 0; i < VS_COUNT(types); i++) {
		VS_FREE char *word = vs_asprintf("\"%s\"", types[i]);
		bool boxed = strstr(r.text, word);

		saw(a, "%s: %s", types[i], boxed ? "boxed" : "not so named");
		judge(a, boxed);
	}
	reply_free(&r);
}

static void q_keyed(struct probe *p, struct answer *a)
{
	static const char *const paths[] = { "name",
		"config.extraConfig[\"" VS_KEY_OWNER "\"]", NULL };
	struct reply r;
	struct vs_j o;

	if (read_source(p, &r, paths)) {
		saw_err(a, "a keyed path of a key that isn't set", &r.err);
	} else {
		o = vs_j_at(vs_j_opt(vs_j_root(&r.doc), "objects"), 0);
		saw(a, "a key that isn't set: %zu properties, %zu missing",
		    vs_j_len(vs_j_opt(o, "propSet")),
		    vs_j_len(vs_j_opt(o, "missingSet")));
	}
	judge(a, !r.err.code);
	reply_free(&r);
}

static void q_subtype(struct probe *p, struct answer *a)
{
	static const char *const paths[] = { "configurationEx.drsConfig", NULL };
	struct json_object *props = vs_jb_arr(), *objects = vs_jb_arr();
	struct reply r;

	vs_jb_add(props, vs_spec_props("ClusterComputeResource", paths));
	vs_jb_add(objects, vs_spec_object("ClusterComputeResource",
					  p->cluster));
	if (ask(p, &r, "PropertyCollector",
		vs_vc_id(p->vc, "PropertyCollector"), "RetrievePropertiesEx",
		vs_spec_retrieve(vs_spec_filter(props, objects)), 0))
		saw_err(a, "configurationEx.drsConfig", &r.err);
	else
		saw(a, "configurationEx.drsConfig can be read");
	judge(a, !strcmp(r.err.fault, "InvalidProperty"));
	reply_free(&r);
}

static void q_pages(struct probe *p, struct answer *a)
{
	static const char *const all[] = { "VirtualMachine", NULL };
	static const char *const name[] = { "name", NULL };
	struct json_object *props, *objects;
	VS_FREE char *view = NULL;
	struct reply r;
	size_t n = 0;

	if (!ask(p, &r, "ViewManager", vs_vc_id(p->vc, "ViewManager"),
		 "CreateContainerView", vs_spec_container_view("Folder",
			vs_vc_id(p->vc, "Folder"), all), 0))
		view = vs_strdup(vs_j_ref(vs_j_root(&r.doc), NULL));
	reply_free(&r);
	if (!view)
		return;
	props = vs_jb_arr();
	objects = vs_jb_arr();
	vs_jb_add(props, vs_spec_props("VirtualMachine", name));
	vs_jb_add(objects, vs_spec_view_members("ContainerView", view));
	if (ask(p, &r, "PropertyCollector",
		vs_vc_id(p->vc, "PropertyCollector"), "RetrievePropertiesEx",
		vs_spec_retrieve(vs_spec_filter(props, objects)), 0)) {
		saw_err(a, "all VMs' names", &r.err);
	} else {
		bool more = !vs_j_null(vs_j_opt(vs_j_root(&r.doc), "token"));

		n = vs_j_len(vs_j_opt(vs_j_root(&r.doc), "objects"));
		saw(a, "%zu VMs on the first page, %zu bytes, %s", n, r.len,
		    more ? "and more pages" : "which is all");
		if (more || n > 100)
			judge(a, n == 100);
	}
	reply_free(&r);
	ask(p, &r, "ContainerView", view, "DestroyView", NULL, 0);
	reply_free(&r);
}

const struct question wire_questions[] = {
	{ "empty", READ, "How does vCenter say that nothing has changed?", NULL,
	  "no body, null or HTTP 204", q_empty },
	{ "truncated", READ, "How does an update come that is larger than was asked for?",
	  NULL, "in several sets, all but the last with truncated", q_truncated },
	{ "poll", READ, "Does something between (envoy, a proxy) cut a long poll?",
	  NULL, "a poll may last at least as long as we ask for", q_poll },
	{ "vanished", READ, "What does an object that is gone do to a read of several?",
	  NULL, "with reportMissingObjectsInResults the others come", q_vanished },
	{ "boxes", READ, "How are strings, numbers, enums and arrays named where any type may stand?",
	  NULL, "boxed, by their type's name, arrays as ArrayOf...", q_boxes },
	{ "keyed", READ, "May one key of extraConfig be read by a path?", NULL,
	  "it may; a key that isn't set is left out or missing, and no error",
	  q_keyed },
	{ "subtype", READ, "May a path lead through what only the real type has?",
	  NULL, "InvalidProperty: configurationEx is read whole", q_subtype },
	{ "pages", READ, "How many objects come on one page?", NULL,
	  "100, whatever is asked", q_pages },
	{ 0 }
};
