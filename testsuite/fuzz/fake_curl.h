/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A libcurl without a network, for tests that link the real client: each call
 * is queued, and the test's fake_answer() says how it ends. Define
 * CURL_DISABLE_TYPECHECK before the first include; fake_more() says whether
 * another call is to be answered now.
 */
#ifndef VS_FAKE_CURL_H
#define VS_FAKE_CURL_H

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "util/mem.h"
#include "vcenter/client/client_i.h"

#undef curl_easy_setopt
#undef curl_easy_getinfo

typedef size_t fn_data(char *p, size_t size, size_t n, void *arg);

struct fake_easy {
	TAILQ_ENTRY(fake_easy) link;
	fn_data *write, *header;
	void *write_arg, *header_arg, *private;
	const char *body;
	const struct curl_slist *headers;
	char url[512];
	long status, sent;
	bool queued;
};

static TAILQ_HEAD(, fake_easy) queue = TAILQ_HEAD_INITIALIZER(queue);

static CURLcode fake_answer(struct fake_easy *e);
static bool fake_more(void);

CURLcode curl_global_init(long flags)
{
	(void)flags;
	return CURLE_OK;
}

CURLM *curl_multi_init(void)
{
	return vs_calloc(1, 1);
}

CURLMcode curl_multi_cleanup(CURLM *m)
{
	free(m);
	return CURLM_OK;
}

CURLMcode (curl_multi_setopt)(CURLM *m, CURLMoption o, ...)
{
	(void)m;
	(void)o;
	return CURLM_OK;
}

CURL *curl_easy_init(void)
{
	return (CURL *)vs_calloc(1, sizeof(struct fake_easy));
}

void curl_easy_cleanup(CURL *e)
{
	free(e);
}

CURLcode curl_easy_setopt(CURL *curl, CURLoption o, ...)
{
	struct fake_easy *e = (struct fake_easy *)curl;
	va_list ap;
	void *p;

	va_start(ap, o);
	p = o < CURLOPTTYPE_OBJECTPOINT || o >= CURLOPTTYPE_OFF_T ? NULL :
		va_arg(ap, void *);
	va_end(ap);
	if (o == CURLOPT_WRITEFUNCTION)
		e->write = (fn_data *)p;
	else if (o == CURLOPT_HEADERFUNCTION)
		e->header = (fn_data *)p;
	else if (o == CURLOPT_WRITEDATA)
		e->write_arg = p;
	else if (o == CURLOPT_HEADERDATA)
		e->header_arg = p;
	else if (o == CURLOPT_PRIVATE)
		e->private = p;
	else if (o == CURLOPT_POSTFIELDS)
		e->body = p;
	else if (o == CURLOPT_HTTPHEADER)
		e->headers = p;
	else if (o == CURLOPT_URL)
		vs_strlcpy(e->url, p, sizeof(e->url));
	return CURLE_OK;
}

CURLcode curl_easy_getinfo(CURL *curl, CURLINFO info, ...)
{
	struct fake_easy *e = (struct fake_easy *)curl;
	va_list ap;
	void *p;

	va_start(ap, info);
	p = va_arg(ap, void *);
	va_end(ap);
	if (info == CURLINFO_RESPONSE_CODE)
		*(long *)p = e->status;
	else if (info == CURLINFO_REQUEST_SIZE)
		*(long *)p = e->sent;
	else if (info == CURLINFO_PRIVATE)
		*(void **)p = e->private;
	return CURLE_OK;
}

CURLMcode curl_multi_add_handle(CURLM *m, CURL *curl)
{
	struct fake_easy *e = (struct fake_easy *)curl;

	(void)m;
	TAILQ_INSERT_TAIL(&queue, e, link);
	e->queued = true;
	return CURLM_OK;
}

CURLMcode curl_multi_remove_handle(CURLM *m, CURL *curl)
{
	struct fake_easy *e = (struct fake_easy *)curl;

	(void)m;
	if (e->queued)
		TAILQ_REMOVE(&queue, e, link);
	e->queued = false;
	return CURLM_OK;
}

CURLMcode curl_multi_perform(CURLM *m, int *running)
{
	(void)m;
	*running = !TAILQ_EMPTY(&queue);
	return CURLM_OK;
}

CURLMcode curl_multi_poll(CURLM *m, struct curl_waitfd extra[], unsigned int n,
			  int ms, int *ret)
{
	(void)m;
	(void)extra;
	(void)n;
	(void)ms;
	(void)ret;
	return CURLM_OK;
}

/* The first byte of a line says how the call ends (see fuzz_client.c), the
 * rest is the body. */
static CURLcode fake_deliver(struct fake_easy *e, const char *line, size_t len)
{
	static const long codes[] = { ['2'] = 200, ['4'] = 404, ['5'] = 500,
		['3'] = 503, ['L'] = 200, ['A'] = 401, ['R'] = 302 };
	static char header[] = "vmware-api-session-id: 5212-ab\r\n";
	unsigned char how = len ? (unsigned char)*line : '2';

	e->sent = how != '1';
	if (how == '1')
		return CURLE_COULDNT_RESOLVE_HOST;
	if (how == '0')
		return CURLE_RECV_ERROR;
	e->status = how < VS_COUNT(codes) && codes[how] ? codes[how] : 200;
	if (how == 'L')
		e->header(header, 1, sizeof(header) - 1, e->header_arg);
	if (len > 1 && e->write((char *)line + 1, 1, len - 1, e->write_arg) !=
	    len - 1)
		return CURLE_WRITE_ERROR;
	return CURLE_OK;
}

CURLMsg *curl_multi_info_read(CURLM *m, int *left)
{
	static CURLMsg msg;
	struct fake_easy *e = TAILQ_FIRST(&queue);

	*left = 0;
	if (!e || !fake_more())
		return NULL;
	curl_multi_remove_handle(m, (CURL *)e);
	msg.msg = CURLMSG_DONE;
	msg.easy_handle = (CURL *)e;
	msg.data.result = fake_answer(e);
	return &msg;
}

#endif
