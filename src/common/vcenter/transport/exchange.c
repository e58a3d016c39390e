/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the observer of calls is told: a request and its answer, without what would
 * let its reader use the session.
 */
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "vcenter/transport/exchange.h"
#include "vcenter/transport/fault.h"
#include "vcenter/transport/http.h"

/* A copy without the session's token and its key. */
static char *without_session(const struct vcx_http *http, const char *text)
{
	char *copy = vs_strdup(text), *at = copy;
	size_t n = strlen(http->token);

	while (n && (at = strstr(at, http->token)))
		memset(at, 'x', n);
	vs_vcx_mask_key(copy);
	return copy;
}

/* The path as it was sent, or what stands for one that never was. */
static char *path_of(const struct vcx_call *call)
{
	const char *blank = strchr(call->what, ' ');
	size_t n = strlen(call->http->url);
	char *url = NULL;

	curl_easy_getinfo(call->easy, CURLINFO_EFFECTIVE_URL, &url);
	if (call->no_id || !url || strncmp(url, call->http->url, n))
		return vs_strdup(blank ? blank + 1 : "");
	return without_session(call->http, url + n);
}

void vs_vcx_exchange_publish(const struct vcx_call *call,
			     const struct vs_err *err)
{
	const struct vcx_http *http = call->http;
	VS_FREE char *sent = NULL, *head = NULL, *text = NULL, *path = NULL;
	struct vs_vc_exchange x = { .status = call->status, .err = err,
		.method = call->body ? "POST" : "GET" };
	curl_off_t us = 0, tls_us = 0;

	if (!(call->flags & VCX_SECRET))
		sent = without_session(http, call->body ? call->body : "");
	head = without_session(http, call->head.data ? call->head.data : "");
	text = without_session(http, call->reply.data ? call->reply.data : "");
	curl_easy_getinfo(call->easy, CURLINFO_TOTAL_TIME_T, &us);
	curl_easy_getinfo(call->easy, CURLINFO_APPCONNECT_TIME_T, &tls_us);
	path = path_of(call);
	x.path = path;
	x.sent = sent;
	x.head = head;
	x.text = text;
	x.len = strlen(text);
	x.us = us;
	x.tls_us = tls_us;
	http->observer.fn(http->observer.arg, &x);
}
