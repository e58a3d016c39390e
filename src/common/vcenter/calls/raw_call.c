/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls by hand, over the client's own session and connections. A fault ends
 * the call, never the client: who asks odd questions must bear odd answers.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/mem.h"
#include "vcenter/calls/raw_call.h"
#include "vcenter/client/client_i.h"

static void on_answer(struct vcx_call *call, struct vs_j reply,
		      const struct vs_err *err)
{
	struct vs_vc_raw_request *q = call->arg;
	struct vs_vc_answer a = { .status = call->status, .reply = reply,
		.text = call->reply.data ? call->reply.data : "",
		.len = call->reply.len };

	q->fn(q->arg, &a, err);
	free(q);
}

static struct curl_slist *with_line(struct curl_slist *list, const char *line)
{
	struct curl_slist *more = curl_slist_append(list, line);

	if (!more)
		abort();
	return more;
}

/* The client's own headers of these names go, others come. What is converted
 * from XML is wanted as JSON. */
static void set_content(struct vcx_call *call, enum vs_vc_content content)
{
	static const char *const lines[] = {
		[VS_VC_CONTENT_NONE] = "Content-Type:",
		[VS_VC_CONTENT_JSON] = "Content-Type: application/json",
		[VS_VC_CONTENT_XML] = "Content-Type: application/xml",
	};
	struct curl_slist *to = with_line(NULL, lines[content]);

	to = with_line(to, "Accept: application/json");
	for (struct curl_slist *l = call->headers; l; l = l->next) {
		if (strncasecmp(l->data, "Content-Type:", 13) &&
		    strncasecmp(l->data, "Accept:", 7))
			to = with_line(to, l->data);
		explicit_bzero(l->data, strlen(l->data));
	}
	curl_slist_free_all(call->headers);
	call->headers = to;
	curl_easy_setopt(call->easy, CURLOPT_HTTPHEADER, to);
}

static struct vcx_call *send_question(struct vs_vc *vc,
				      const struct vs_vc_raw_request *q,
				      unsigned int flags,
				      struct json_object *body_take)
{
	if (q->path)
		return vs_vcx_raw_text(&vc->http, flags | VCX_TEXT, on_answer,
				       q->get ? "GET" : "POST", q->path,
				       vs_strdup(q->text));
	if (q->get) {
		vs_jb_free(body_take);
		return vs_vcx_get(&vc->http, on_answer, q->type, q->moid,
				  q->method);
	}
	return vs_vcx_post(&vc->http, flags, on_answer, q->type, q->moid,
			   q->method,
			   body_take);
}

int vs_vc_raw_call(struct vs_vc *vc, const struct vs_vc_raw_request *q,
		   struct json_object *body_take, struct vs_err *err)
{
	/* QUIT: a lost session drops reads without a word. */
	unsigned int flags = VCX_QUIT | (q->mutating ? VCX_MUTATING : 0);
	struct vs_vc_raw_request *copy;
	struct vcx_call *call;

	if (!q->path && !vs_vc_is_up(vc)) {
		vs_jb_free(body_take);
		return vs_err_set(err, VS_E_RETRY, "not connected to vCenter");
	}
	if (q->mutating && vc->conf.read_only) {
		vs_jb_free(body_take);
		return vs_err_set(err, VS_E_REQUEST, "only calls that read are allowed");
	}
	copy = vs_calloc(1, sizeof(*copy));
	*copy = *q;
	call = send_question(vc, q, flags, body_take);
	call->flags |= flags;
	call->arg = copy;
	if (q->content)
		set_content(call, q->content);
	if (q->timeout_ms)
		curl_easy_setopt(call->easy, CURLOPT_TIMEOUT_MS,
				 (long)q->timeout_ms);
	return 0;
}

void vs_vc_observe_calls(struct vs_vc *vc, vs_vc_exchange_fn *fn, void *arg)
{
	vc->http.observer = (struct vcx_observer) { fn, arg };
}

const char *vs_vc_id(const struct vs_vc *vc, const char *type)
{
	const struct { const char *type, *id; } ids[] = {
		{ "PropertyCollector", vc->session.ids.collector },
		{ "SessionManager", vc->session.ids.sessions },
		{ "ViewManager", vc->session.ids.views },
		{ "TaskManager", vc->session.ids.tasks },
		{ "Folder", vc->session.ids.root },
	};

	for (size_t i = 0; i < VS_COUNT(ids); i++)
		if (!strcmp(ids[i].type, type))
			return ids[i].id;
	return NULL;
}
