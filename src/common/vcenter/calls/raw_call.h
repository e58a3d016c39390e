/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls by hand: for who wants to know how a vCenter answers rather than to
 * get something done. The engine has no use for it.
 */
#ifndef VS_VCENTER_CALLS_RAW_CALL_H
#define VS_VCENTER_CALLS_RAW_CALL_H

#include "util/json.h"
#include "vcenter/calls/calls.h"
#include "vcenter/transport/exchange.h"

struct vs_vc_answer {
	long status;		/* of HTTP, 0: there was none */
	const char *text;	/* the body as it came, "" for none */
	size_t len;
	struct vs_j reply;	/* null cursor where the body is none or a
				 * fault; err says so */
};

/* Content-Type of a POST: as every call of the client, or by hand. */
enum vs_vc_content { VS_VC_CONTENT_USUAL, VS_VC_CONTENT_NONE,
	VS_VC_CONTENT_JSON, VS_VC_CONTENT_XML };

struct vs_vc_raw_request {
	const char *type, *moid;
	const char *method;	/* or a property, where get is set */
	bool get;
	/* Instead of these: a path of the server. It is asked whatever state
	 * the client is in, with the session if there is one, and its answer
	 * isn't parsed. text: the body, as it stands (body_take is NULL). */
	const char *path, *text;
	enum vs_vc_content content;
	bool mutating;		/* sent once, counted as such */
	int timeout_ms;		/* 0: as every call */
	/* Once, whatever comes, unless the client is freed before. All of it
	 * lives until the return. err NULL: HTTP 2xx. */
	void (*fn)(void *arg, const struct vs_vc_answer *answer,
		   const struct vs_err *err);
	void *arg;
};

/* Ask, once there is a session. body_take may be NULL; it is taken in any
 * case. -1 with err: nothing was sent. */
int vs_vc_raw_call(struct vs_vc *vc, const struct vs_vc_raw_request *q,
		   struct json_object *body_take, struct vs_err *err);

/*
 * Has fn called for each call that ends, before the client acts on it. What it
 * gets lives until the return. fn must not call the client. NULL: no more.
 */
void vs_vc_observe_calls(struct vs_vc *vc, vs_vc_exchange_fn *fn, void *arg);

/* The body that vs_vc_vm_clone would send, whatever may be changed; NULL with
 * err as there. The caller frees it. */
struct json_object *vs_vc_clone_body(struct vs_vc *vc,
				     const struct vs_vc_clone *c,
				     struct vs_err *err);

/* Well-known objects ("propertyCollector", ...), NULL: not known yet. */
const char *vs_vc_id(const struct vs_vc *vc, const char *type);

#endif
