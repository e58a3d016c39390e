/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls by hand, over the client's own session and connections. A fault ends
 * the call, never the client: who asks odd questions must bear odd answers.
 */
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "vcenter/ask.h"
#include "vcenter/vc_i.h"

static void on_answer(struct vcx_call *call, struct vs_j reply,
		      const struct vs_err *err)
{
	struct vs_vc_question *q = call->arg;
	struct vs_vc_answer a = { .status = call->status, .reply = reply,
		.text = call->reply.data ? call->reply.data : "",
		.len = call->reply.len };

	q->fn(q->arg, &a, err);
	free(q);
}

int vs_vc_ask(struct vs_vc *vc, const struct vs_vc_question *q,
	      struct json_object *body_take, struct vs_err *err)
{
	/* QUIT: a lost session drops reads without a word. */
	unsigned int flags = VCX_QUIT | (q->mutating ? VCX_MUTATING : 0);
	struct vs_vc_question *copy;
	struct vcx_call *call;

	if (!vs_vc_is_up(vc)) {
		vs_jb_free(body_take);
		return vs_err_set(err, VS_E_RETRY, "not connected to vCenter");
	}
	if (q->mutating && vc->read_only) {
		vs_jb_free(body_take);
		return vs_err_set(err, VS_E_REQUEST, "reading alone is allowed");
	}
	copy = vs_calloc(1, sizeof(*copy));
	*copy = *q;
	if (q->get)
		call = vs_vcx_get(vc, on_answer, q->type, q->moid, q->method);
	else
		call = vs_vcx_post(vc, flags, on_answer, q->type, q->moid,
				   q->method, body_take);
	call->flags |= flags;
	call->arg = copy;
	if (q->timeout_ms)
		curl_easy_setopt(call->easy, CURLOPT_TIMEOUT_MS,
				 (long)q->timeout_ms);
	return 0;
}

const char *vs_vc_id(const struct vs_vc *vc, const char *type)
{
	const struct { const char *type, *id; } ids[] = {
		{ "PropertyCollector", vc->ids.collector },
		{ "SessionManager", vc->ids.sessions },
		{ "ViewManager", vc->ids.views },
		{ "TaskManager", vc->ids.tasks },
		{ "Folder", vc->ids.root },
	};

	for (size_t i = 0; i < VS_COUNT(ids); i++)
		if (!strcmp(ids[i].type, type))
			return ids[i].id;
	return NULL;
}
