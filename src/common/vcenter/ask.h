/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls by hand: for who wants to know how a vCenter answers rather than to
 * get something done. The engine has no use for it.
 */
#ifndef VS_VCENTER_ASK_H
#define VS_VCENTER_ASK_H

#include "util/json.h"
#include "vcenter/vc.h"

struct vs_vc_answer {
	long status;		/* of HTTP, 0: there was none */
	const char *text;	/* the body as it came, "" for none */
	size_t len;
	struct vs_j reply;	/* null cursor where the body is none or a
				 * fault; err says so */
};

struct vs_vc_question {
	const char *type, *moid;
	const char *method;	/* or a property, where get is set */
	bool get;
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
int vs_vc_ask(struct vs_vc *vc, const struct vs_vc_question *q,
	      struct json_object *body_take, struct vs_err *err);

/* Well-known objects ("propertyCollector", ...), NULL: not known yet. */
const char *vs_vc_id(const struct vs_vc *vc, const char *type);

#endif
