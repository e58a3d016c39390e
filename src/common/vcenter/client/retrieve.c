/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RetrievePropertiesEx, page by page until vCenter gives no token any more. A
 * live vCenter pages at 100 objects whatever is asked. A vCenter that gives a
 * token without end fails the client.
 *
 * A read belongs to the session: when that is lost, vs_vcx_reads_drop forgets
 * all of them and none calls back any more.
 */
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "vcenter/client/client_i.h"
#include "vcenter/spec/spec.h"

struct read_node {
	struct vcx_read r;
	struct vcx_pages pages;
	LIST_ENTRY(read_node) link;
};

struct vcx_read_list {
	LIST_HEAD(, read_node) head;
};

int vs_vcx_page(struct vcx_pages *p, size_t objects, const char *method,
		struct vs_err *err)
{
	p->pages++;
	p->objects += objects;
	if (p->pages <= VCX_PAGES_MAX && p->objects <= VCX_OBJECTS_MAX)
		return 0;
	return vs_err_set(err, VS_E_RETRY,
			  "vCenter's answer to %s is too long: %u pages with %zu objects, at most %d and %d are allowed",
			  method, p->pages, p->objects, VCX_PAGES_MAX,
			  VCX_OBJECTS_MAX);
}

static void drop(struct read_node *n)
{
	LIST_REMOVE(n, link);
	free(n);
}

void vs_vcx_reads_drop(struct vs_vc *vc)
{
	if (!vc->reads)
		return;
	while (!LIST_EMPTY(&vc->reads->head))
		drop(LIST_FIRST(&vc->reads->head));
	free(vc->reads);
	vc->reads = NULL;
}

static void one_object(struct read_node *n, struct vs_j o)
{
	const char *type, *moid = vs_j_ref(vs_j_get(o, "obj"), &type);

	if (*moid)
		n->r.object(&n->r, type, moid, vs_j_opt(o, "propSet"),
			    vs_j_opt(o, "missingSet"));
}

static void on_page(struct vcx_call *call, struct vs_j reply,
		    const struct vs_err *err)
{
	struct read_node *n = call->arg;
	struct vs_vc *vc = call->vc;
	struct vs_j objects = vs_j_opt(reply, "objects");
	const char *token = vs_j_str_or(vs_j_opt(reply, "token"), "");
	size_t count = err ? 0 : vs_j_len(objects);
	struct vs_err lost;

	/* A page whose reply was lost can't be had again: libcurl asks by
	 * itself, and its token is used up. The read restarts. */
	if (err && err->code == VS_E_REQUEST &&
	    strstr(call->what, "/ContinueRetrievePropertiesEx")) {
		lost = *err;
		lost.code = VS_E_RETRY;
		err = &lost;
	}
	if (err && n->r.failed && err->code != VS_E_RELOGIN) {
		LIST_REMOVE(n, link);
		n->r.failed(&n->r, err);
		free(n);
		return;
	}
	if (err) {
		vs_vcx_fail(vc, err);
		return;
	}
	if (vs_vcx_page(&n->pages, count, "RetrievePropertiesEx", &lost)) {
		vs_vcx_fail(vc, &lost);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		struct vs_j o = vs_j_at(objects, i);

		if (vs_vcx_missing_session(vs_j_opt(o, "missingSet"), &lost)) {
			vs_vcx_fail(vc, &lost);
			return;
		}
		one_object(n, o);
	}
	if (vs_vcx_bad(vc, reply))
		return;
	if (*token) {
		vs_vcx_post(&vc->http, 0, on_page, "PropertyCollector",
			    vc->session.ids.collector,
				    "ContinueRetrievePropertiesEx",
			    vs_spec_continue(token))->arg = n;
		return;
	}
	/* end() may lose the session and with it all reads, this one too. */
	LIST_REMOVE(n, link);
	n->r.end(&n->r);
	free(n);
}

void vs_vcx_read(const struct vcx_read *proto, struct json_object *spec_take)
{
	struct vs_vc *vc = proto->vc;
	struct read_node *n = vs_calloc(1, sizeof(*n));

	if (!vc->reads)
		vc->reads = vs_calloc(1, sizeof(*vc->reads));
	n->r = *proto;
	LIST_INSERT_HEAD(&vc->reads->head, n, link);
	vs_vcx_post(&vc->http, 0, on_page, "PropertyCollector",
		    vc->session.ids.collector,
		    "RetrievePropertiesEx",
		    vs_spec_retrieve(spec_take))->arg = n;
}
