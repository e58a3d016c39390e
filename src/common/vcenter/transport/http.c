/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HTTP for the client: one curl multi handle, HTTP/1.1 keep-alive, bounded
 * bodies, a deadline for every call, the session's header.
 *
 * Rules: a mutating call is handed to the network once. libcurl itself would
 * send a POST again when a kept connection turns out to be dead, so the second
 * attempt is refused (PREREQFUNCTION), or the connection is never a kept one
 * where libcurl is too old for that. What was sent and not answered is
 * VS_E_UNKNOWN, what was never sent is VS_E_RETRY. Redirects are not followed,
 * proxies of the environment not used.
 *
 * It never logs a body or a header, nor the session's key in a path.
 */
#include <ctype.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/crash.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/time.h"
#include "vcenter/transport/fault.h"
#include "vcenter/transport/http.h"
#include "vcenter/transport/setup.h"
#include "vcenter/transport/tally.h"

#define MAX_CONNECTIONS 10L
#define CONNECT_TIMEOUT_MS 15000L

static CURLcode setup_rc;

static void setup(void)
{
	setup_rc = curl_global_init(CURL_GLOBAL_DEFAULT);
}

int vs_vc_setup(struct vs_err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, setup);
	return setup_rc == CURLE_OK ? 0 :
		vs_err_set(err, VS_E_BUG, "libcurl cannot be set up: %s",
			   curl_easy_strerror(setup_rc));
}

int vs_vcx_http_init(struct vcx_http *http, struct vs_err *err)
{
	TAILQ_INIT(&http->calls);
	if (vs_vc_setup(err))
		return -1;
	http->multi = curl_multi_init();
	if (!http->multi)
		return vs_err_set(err, VS_E_BUG, "libcurl cannot be set up");
	curl_multi_setopt(http->multi, CURLMOPT_MAX_HOST_CONNECTIONS,
			  MAX_CONNECTIONS);
	curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS, MAX_CONNECTIONS);
	return 0;
}

void vs_vcx_http_fini(struct vcx_http *http)
{
	vs_vcx_drop_all(http);
	if (http->multi)
		curl_multi_cleanup(http->multi);
}

static size_t on_body(char *p, size_t size, size_t n, void *arg)
{
	struct vcx_call *call = arg;

	call->http->stats.waits_ms = call->http->now;
	if (vs_buf_add(&call->reply, p, size * n)) {
		call->too_big = true;
		return 0;
	}
	return size * n;
}

/* A line of the answer's head for who looks on. What may carry a session is
 * left out by its name, whatever its value is. */
static void keep_header(struct vcx_call *call, const char *p, size_t len)
{
	static const char *const secret[] = { "session", "cookie", "auth",
		"token" };
	const char *colon = memchr(p, ':', len);
	VS_FREE char *name = colon ? strndup(p, (size_t)(colon - p)) : NULL;

	for (size_t i = 0; name && i < VS_COUNT(secret); i++)
		if (strcasestr(name, secret[i]))
			return;
	call->head.max = 16384;
	if (name)
		vs_buf_add(&call->head, p, len);
}

static size_t on_header(char *p, size_t size, size_t n, void *arg)
{
	static const char name[] = "vmware-api-session-id:";
	const size_t skip = sizeof(name) - 1;
	struct vcx_call *call = arg;
	size_t len = size * n, from = skip;

	if (call->http->observer.fn)
		keep_header(call, p, len);
	if (!(call->flags & VCX_SESSION) || len <= skip ||
	    strncasecmp(p, name, skip))
		return size * n;
	while (from < len && isspace((unsigned char)p[from]))
		from++;
	while (len > from && isspace((unsigned char)p[len - 1]))
		len--;
	if (len == from || len - from >= sizeof(call->http->token))
		return size * n;
	for (size_t i = from; i < len; i++)
		if (!isgraph((unsigned char)p[i]))
			return size * n;
	memcpy(call->http->token, p + from, len - from);
	call->http->token[len - from] = '\0';
	return size * n;
}

#if LIBCURL_VERSION_NUM >= 0x075000
static int on_prereq(void *arg, char *ip, char *local_ip, int port,
		     int local_port)
{
	struct vcx_call *call = arg;

	(void)ip;
	(void)local_ip;
	(void)port;
	(void)local_port;
	return call->tries++ && (call->flags & VCX_MUTATING) ?
		CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}
#endif

/* slurmctld starts programs, which must not have vCenter's connection; libcurl
 * of before 2025 opens its sockets without close-on-exec. (Its own pair that
 * wakes a poll has no such hook: what is written there says nothing.) */
static int on_socket(void *arg, curl_socket_t fd, curlsocktype why)
{
	(void)arg;
	(void)why;
	return fcntl(fd, F_SETFD, FD_CLOEXEC) ? CURL_SOCKOPT_ERROR :
		CURL_SOCKOPT_OK;
}

static void set_transport(struct vcx_call *call)
{
	struct vcx_http *http = call->http;
	CURL *e = call->easy;
	long ms = call->flags & VCX_POLL ? (http->wait_seconds + 30) * 1000L :
		http->call_timeout_ms;

#if LIBCURL_VERSION_NUM >= 0x075500
	curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "https");
#else
	curl_easy_setopt(e, CURLOPT_PROTOCOLS, (long)CURLPROTO_HTTPS);
#endif
#if LIBCURL_VERSION_NUM >= 0x075700
	/* A VCenterCAFile that was replaced counts from the next connection on. */
	curl_easy_setopt(e, CURLOPT_CA_CACHE_TIMEOUT, 0L);
#endif
#if LIBCURL_VERSION_NUM >= 0x075000
	curl_easy_setopt(e, CURLOPT_PREREQFUNCTION, on_prereq);
	curl_easy_setopt(e, CURLOPT_PREREQDATA, call);
#else
	if (call->flags & VCX_MUTATING)
		curl_easy_setopt(e, CURLOPT_FRESH_CONNECT, 1L);
#endif
	curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(e, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(e, CURLOPT_SOCKOPTFUNCTION, on_socket);
	curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, ms);
	curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS,
			 ms < CONNECT_TIMEOUT_MS ? ms : CONNECT_TIMEOUT_MS);
	/* A session of TLS that is resumed shows no certificate. */
	curl_easy_setopt(e, CURLOPT_SSL_SESSIONID_CACHE, 0L);
	curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, http->insecure ? 0L : 1L);
	curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, http->insecure ? 0L : 2L);
	if (http->ca_file) {
		curl_easy_setopt(e, CURLOPT_CAINFO, http->ca_file);
		curl_easy_setopt(e, CURLOPT_CAPATH, NULL);
	}
	curl_easy_setopt(e, CURLOPT_USERAGENT, "slurm-vsphere");
	curl_easy_setopt(e, CURLOPT_ERRORBUFFER, call->why);
	curl_easy_setopt(e, CURLOPT_PRIVATE, call);
	curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(e, CURLOPT_WRITEDATA, call);
	curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(e, CURLOPT_HEADERDATA, call);
}

static void add_header(struct vcx_call *call, const char *line)
{
	struct curl_slist *l = curl_slist_append(call->headers, line);

	if (!l)
		abort();
	call->headers = l;
}

static void wipe(char *s)
{
	if (s)
		explicit_bzero(s, strlen(s));
}

static void call_free(struct vcx_call *call)
{
	TAILQ_REMOVE(&call->http->calls, call, link);
	if (TAILQ_EMPTY(&call->http->calls) && !call->unanswered)
		call->http->stats.waits_ms = 0;
	if (call->easy) {
		curl_multi_remove_handle(call->http->multi, call->easy);
		curl_easy_cleanup(call->easy);
	}
	for (struct curl_slist *l = call->headers; l; l = l->next)
		wipe(l->data);		/* one has the session's key */
	curl_slist_free_all(call->headers);
	if (call->flags & VCX_SECRET)
		wipe(call->body);
	free(call->body);
	free(call->what);
	vs_buf_free(&call->reply);
	vs_buf_free(&call->head);
	free(call);
}

/* path NULL: of an object whose id isn't known. The call fails in the next
 * turn, as one that was never sent. */
static struct vcx_call *call_new(struct vcx_http *http, unsigned int flags,
				 vcx_fn *fn, const char *verb, const char *path,
				 const char *what, char *body_take)
{
	struct vcx_call *call = vs_calloc(1, sizeof(*call));
	VS_FREE char *url = vs_asprintf("%s%s", http->url, path ? path : "/");
	char header[sizeof(http->token) + 32];

	vs_crash_before("send", what);
	call->http = http;
	call->vc = http->vc;
	call->flags = flags;
	call->fn = fn;
	call->what = vs_asprintf("%s %s", verb, what);
	call->no_id = !path;
	vs_vcx_mask(call->what);
	call->reply.max = http->max_body;
	TAILQ_INSERT_TAIL(&http->calls, call, link);
	if (!(call->easy = curl_easy_init()))
		abort();
	set_transport(call);
	curl_easy_setopt(call->easy, CURLOPT_URL, url);
	if (!strcmp(verb, "POST")) {
		call->body = body_take ? body_take : vs_strdup("");
		curl_easy_setopt(call->easy, CURLOPT_POST, 1L);
		curl_easy_setopt(call->easy, CURLOPT_POSTFIELDSIZE_LARGE,
				 (curl_off_t)strlen(call->body));
		curl_easy_setopt(call->easy, CURLOPT_POSTFIELDS, call->body);
		/* Without a body there is no type; libcurl has one of its own. */
		add_header(call, call->body[0] ?
			   "Content-Type: application/json" : "Content-Type:");
		add_header(call, "Expect:");
	}
	add_header(call, flags & VCX_TEXT ? "Accept: */*" :
		   "Accept: application/json");
	if (http->token[0]) {
		snprintf(header, sizeof(header), "vmware-api-session-id: %s",
			 http->token);
		add_header(call, header);
		explicit_bzero(header, sizeof(header));
	}
	curl_easy_setopt(call->easy, CURLOPT_HTTPHEADER, call->headers);
	if (call->no_id)
		return call;
	if (curl_multi_add_handle(http->multi, call->easy) != CURLM_OK)
		abort();
	if (!http->stats.waits_ms)
		http->stats.waits_ms = http->now;
	http->stats.calls++;
	if (flags & VCX_MUTATING)
		http->stats.mutating++;
	return call;
}

/* Ids come from vCenter, yet nothing in them may change the path's meaning.
 * Brackets (session[52..]52..) go as they are: the proven form. */
static char *escape_id(const char *s)
{
	static const char hex[] = "0123456789ABCDEF";
	char *out = vs_calloc(1, strlen(s) * 3 + 1), *p = out;

	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (isalnum(c) || strchr("-_.~[]:", c)) {
			*p++ = *s;
			continue;
		}
		*p++ = '%';
		*p++ = hex[c >> 4];
		*p++ = hex[c & 15];
	}
	return out;
}

static char *text_of(struct json_object *body_take)
{
	return body_take ? vs_jb_text_free(body_take) : NULL;
}

struct vcx_call *vs_vcx_raw(struct vcx_http *http, unsigned int flags,
			    vcx_fn *fn, const char *verb, const char *path,
			    struct json_object *body_take)
{
	return call_new(http, flags, fn, verb, path, path, text_of(body_take));
}

struct vcx_call *vs_vcx_raw_text(struct vcx_http *http, unsigned int flags,
				 vcx_fn *fn, const char *verb,
				 const char *path, char *text_take)
{
	return call_new(http, flags, fn, verb, path, path, text_take);
}

/* last: a method or a property of this object. */
static struct vcx_call *call_of(struct vcx_http *http, unsigned int flags,
				vcx_fn *fn, const char *verb, const char *type,
				const char *moid, const char *last,
				char *body_take)
{
	bool known = http->release && moid && *moid;
	VS_FREE char *id = escape_id(known ? moid : "?");
	VS_FREE char *path = vs_asprintf("/sdk/vim25/%s/%s/%s/%s",
					 known ? http->release : "?", type, id,
					 last);

	return call_new(http, flags, fn, verb, known ? path : NULL, path,
			body_take);
}

struct vcx_call *vs_vcx_post(struct vcx_http *http, unsigned int flags,
			     vcx_fn *fn, const char *type, const char *moid,
			     const char *method,
			     struct json_object *body_take)
{
	return call_of(http, flags, fn, "POST", type, moid, method,
		       text_of(body_take));
}

struct vcx_call *vs_vcx_post_text(struct vcx_http *http, unsigned int flags,
				  vcx_fn *fn, const char *type,
				  const char *moid, const char *method,
				  char *text_take)
{
	return call_of(http, flags, fn, "POST", type, moid, method, text_take);
}

struct vcx_call *vs_vcx_get(struct vcx_http *http, vcx_fn *fn, const char *type,
			    const char *moid, const char *property)
{
	return call_of(http, 0, fn, "GET", type, moid, property, NULL);
}

/*
 * What a lost or never sent call means. How it ended says nothing: when a kept
 * connection dies under a request, libcurl connects again by itself, and it is
 * that attempt's error that we are told.
 */
static enum vs_code lost_code(const struct vcx_call *call)
{
	long sent = 0;

	curl_easy_getinfo(call->easy, CURLINFO_REQUEST_SIZE, &sent);
	return (sent > 0 || call->tries) && (call->flags & VCX_MUTATING) ?
		VS_E_UNKNOWN : VS_E_RETRY;
}

/* "after 3 ms": the same trouble has the same words, and is told once. */
static void forget_time(char *why)
{
	char *at = strstr(why, " after "), *end;

	if (!at)
		return;
	strtoul(at + 7, &end, 10);
	if (end > at + 7 && !strncmp(end, " ms", 3))
		memmove(at, end + 3, strlen(end + 3) + 1);
}

static int transport_error(struct vcx_call *call, CURLcode rc,
			   struct vs_err *err)
{
	const char *url = call->http->url;
	const char *why = call->why[0] ? call->why : curl_easy_strerror(rc);
	long verified = -1;

	if (lost_code(call) == VS_E_UNKNOWN)
		return vs_err_set(err, VS_E_UNKNOWN,
			"%s: sent, but its answer was lost: %s", call->what,
			call->too_big ? "it is larger than allowed" : why);
	if (vs_vcx_certificate_is_it(rc, why)) {
		curl_easy_getinfo(call->easy, CURLINFO_SSL_VERIFYRESULT,
				  &verified);
		why = vs_vcx_certificate_cause(rc, why, verified);
		return vs_err_set(err, VS_E_CONFIG,
			"the certificate of %s cannot be verified (%s): %s",
			url, why, vs_vcx_certificate_fix(why));
	}
	switch (rc) {
	case CURLE_SSL_CACERT_BADFILE:
		return vs_err_set(err, VS_E_CONFIG,
			"VCenterCAFile %s cannot be used to verify %s: %s",
			call->http->ca_file ? call->http->ca_file : "(system)",
			url, why);
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
	case CURLE_SSL_CONNECT_ERROR:
		forget_time(call->why);
		return vs_err_set(err, VS_E_RETRY, "no connection to %s: %s",
				  url, why);
	default:
		break;
	}
	if (call->too_big)
		why = "the reply is larger than allowed";
	return vs_err_set(err, VS_E_RETRY, "%s: %s", call->what, why);
}

/* The call's fate when the answer is no JSON value of vCenter's. */
static enum vs_code odd_code(const struct vcx_call *call)
{
	if (!(call->flags & VCX_MUTATING))
		return VS_E_RETRY;
	return call->status >= 400 && call->status < 500 ? VS_E_REQUEST :
		VS_E_UNKNOWN;
}

static int status_error(struct vcx_call *call, struct vs_jdoc *doc,
			struct vs_err *err)
{
	const char *text = call->reply.data ? call->reply.data : "";
	struct vs_err ignored;

	while (isspace((unsigned char)*text))
		text++;
	call->refused_xml = call->status == 500 && *text == '<';
	if (call->status == 500 && *text == '{' &&
	    !vs_jdoc_parse(doc, call->reply.data, call->reply.len, &ignored) &&
	    *vs_j_type(vs_j_root(doc))) {
		vs_vcx_fault(vs_j_root(doc), VCX_IN_CALL, err);
		return -1;
	}
	return vs_err_set(err, odd_code(call), "%s: HTTP %ld%s", call->what,
			  call->status,
			  call->refused_xml ? " with XML, not JSON" : "");
}

static int judge(struct vcx_call *call, CURLcode rc, struct vs_jdoc *doc,
		 struct vs_err *err)
{
	struct vs_err why;

	if (call->no_id)
		return vs_err_set(err, VS_E_BUG,
			"%s: not sent, because the object's id is not known",
			call->what);
	if (rc != CURLE_OK)
		return transport_error(call, rc, err);
	curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &call->status);
	if (call->status / 100 != 2)
		return status_error(call, doc, err);
	if ((call->flags & VCX_TEXT) || !call->reply.len)
		return 0;
	if (vs_jdoc_parse(doc, call->reply.data, call->reply.len, &why))
		return vs_err_set(err, odd_code(call), "%s: %s", call->what,
				  why.text);
	return 0;
}

static void finish(struct vcx_call *call, CURLcode rc)
{
	struct vcx_http *http = call->http;
	struct vs_jdoc doc = { 0 };
	struct vs_err err = { 0 };
	bool failed = judge(call, rc, &doc, &err) < 0;
	curl_off_t us = 0;

	/* Code that cleans up in fn must not meet this call again, and fn may
	 * still look at its reply and status. */
	TAILQ_REMOVE(&http->calls, call, link);
	call->unanswered = rc != CURLE_OK;
	if (!call->unanswered)
		http->stats.waits_ms = http->now;
	if (failed) {
		http->stats.errors++;
		vs_debug("vCenter's answer is an error call=\"%s\" code=%s fault=%s",
			 call->what, vs_code_name(err.code),
			 err.fault[0] ? err.fault : "none");
	}
	curl_easy_getinfo(call->easy, CURLINFO_TOTAL_TIME_T, &us);
	vs_tally_note(call->what, failed ? err.code : VS_OK, us);
	if (http->observer.fn)
		vs_vcx_exchange_publish(call, failed ? &err : NULL);
	vs_crash_before("answer", call->what);
	call->fn(call, vs_j_root(&doc), failed ? &err : NULL);
	vs_crash_after("answer", call->what);
	vs_jdoc_free(&doc);
	TAILQ_INSERT_TAIL(&http->calls, call, link);
	call_free(call);
}

#ifdef VS_CRASH_POINTS
static void see_sent(struct vcx_http *http)
{
	struct vcx_call *call;
	long sent = 0;

	TAILQ_FOREACH(call, &http->calls, link) {
		curl_easy_getinfo(call->easy, CURLINFO_REQUEST_SIZE, &sent);
		if (call->seen_sent ||
		    sent <= (long)(call->body ? strlen(call->body) : 0))
			continue;
		call->seen_sent = true;
		vs_crash_after("send", call->what);
	}
}
#else
#define see_sent(http) ((void)0)
#endif

static struct vcx_call *first_unsent(const struct vcx_http *http)
{
	struct vcx_call *call;

	TAILQ_FOREACH(call, &http->calls, link)
		if (call->no_id)
			return call;
	return NULL;
}

/* As many as there are now: what their ends bring waits for the next turn. */
static void finish_unsent(struct vcx_http *http)
{
	struct vcx_call *call;
	size_t n = 0;

	TAILQ_FOREACH(call, &http->calls, link)
		n += call->no_id;
	while (n-- && (call = first_unsent(http)))
		finish(call, CURLE_OK);
}

void vs_vcx_pump(struct vcx_http *http)
{
	int running, left;
	CURLMsg *m;

	finish_unsent(http);

	curl_multi_perform(http->multi, &running);
	see_sent(http);
	while ((m = curl_multi_info_read(http->multi, &left))) {
		struct vcx_call *call = NULL;

		if (m->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &call);
		finish(call, m->data.result);
	}
}

void vs_vcx_drop_reads(struct vcx_http *http)
{
	struct vcx_call *call = TAILQ_FIRST(&http->calls), *next;

	for (; call; call = next) {
		next = TAILQ_NEXT(call, link);
		if (!(call->flags & (VCX_MUTATING | VCX_QUIT)))
			call_free(call);
	}
}

void vs_vcx_drop_all(struct vcx_http *http)
{
	while (!TAILQ_EMPTY(&http->calls))
		call_free(TAILQ_FIRST(&http->calls));
}
