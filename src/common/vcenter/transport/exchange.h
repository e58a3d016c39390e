/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A request to vCenter and its answer, for those who record what is said. */
#ifndef VS_VCENTER_TRANSPORT_EXCHANGE_H
#define VS_VCENTER_TRANSPORT_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

struct vcx_call;

/*
 * A call that has ended, made by the client or by hand. No secret is in it: what
 * may carry a session is not among the headers, a session's key or token in the
 * texts is gone, and the body of a login isn't shown.
 */
struct vs_vc_exchange {
	const char *method, *path;	/* of HTTP; the path without a
				 * session's key */
	const char *sent;	/* body, "" for none, NULL: not to be shown */
	long status;		/* of HTTP, 0: there was no answer */
	const char *head;	/* lines of the answer's head, each with CRLF */
	const char *text;	/* the body as it came, "" for none */
	size_t len;
	int64_t us, tls_us;	/* in all, until TLS was set up (0: the
				 * connection was there, or it failed) */
	const struct vs_err *err;	/* NULL: HTTP 2xx that is understood */
};
typedef void vs_vc_exchange_fn(void *arg, const struct vs_vc_exchange *x);

struct vcx_observer {
	vs_vc_exchange_fn *fn;		/* NULL: no call is observed */
	void *arg;
};

/* Tells the observer, which must be there, of a call that has ended. err NULL:
 * HTTP 2xx that is understood. */
void vs_vcx_exchange_publish(const struct vcx_call *call,
			     const struct vs_err *err);

#endif
