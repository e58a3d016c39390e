/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HTTP for the client: calls to one vCenter over one curl multi handle, their
 * answers as JSON. The caller knows what a call is for; no file of this folder
 * looks into struct vs_vc.
 *
 * All functions are called in the client's thread. They take no lock. A call
 * belongs to its struct vcx_http until its fn has returned, or it is dropped.
 */
#ifndef VS_VCENTER_TRANSPORT_HTTP_H
#define VS_VCENTER_TRANSPORT_HTTP_H

#include <curl/curl.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "util/buf.h"
#include "util/err.h"
#include "util/json.h"
#include "vcenter/transport/exchange.h"

struct vs_vc;
struct vcx_http;

enum {
	VCX_MUTATING = 1,	/* never sent twice; a lost reply is UNKNOWN */
	VCX_SECRET = 2,		/* the body is wiped after use */
	VCX_TEXT = 4,		/* the reply is no JSON */
	VCX_POLL = 8,		/* its own timeout: wait_seconds + 30 */
	VCX_QUIT = 16,		/* outlives a lost session: logout, cancel */
	VCX_SESSION = 32,	/* its reply brings the session's token */
};

struct vcx_call {
	TAILQ_ENTRY(vcx_call) link;
	struct vcx_http *http;	/* it was made by */
	struct vs_vc *vc;	/* http->vc */
	CURL *easy;
	struct curl_slist *headers;
	char *what;		/* method and path, for people; no secret */
	char *body;
	unsigned int flags;
	unsigned int tries;	/* times libcurl was about to send it */
	struct vs_buf reply;
	struct vs_buf head;	/* its lines, if there is an observer */
	long status;
	bool too_big, refused_xml;
	bool no_id;		/* never handed to libcurl */
	bool unanswered;	/* it ended without an answer */
#ifdef VS_CRASH_POINTS
	bool seen_sent;
#endif
	char why[CURL_ERROR_SIZE];
	/* err NULL: success. The reply lives until the return. */
	void (*fn)(struct vcx_call *call, struct vs_j reply,
		   const struct vs_err *err);
	void *arg;
	uint64_t id;		/* of a mutating call's operation */
};
TAILQ_HEAD(vcx_calls, vcx_call);
typedef void vcx_fn(struct vcx_call *call, struct vs_j reply,
		    const struct vs_err *err);

/* The connections to one vCenter. The client sets the members above `multi` and
 * frees the strings; http.c owns `multi` and those below. */
struct vcx_http {
	struct vs_vc *vc;	/* copied into each call, not read */
	char *url, *ca_file;
	bool insecure;
	int call_timeout_ms;	/* of all but a VCX_POLL, */
	int wait_seconds;	/* which vCenter answers at least so often */
	size_t max_body;	/* bytes of one reply */
	const char *release;	/* in each path; NULL: not negotiated yet */
	int64_t now;		/* monotonic, in ms */
	struct vcx_observer observer;	/* hears of a call before its fn */
	CURLM *multi;
	struct vcx_calls calls;
	char token[512];	/* of the session, "": there is none */
	/* Read for svf status, in any thread. */
	struct {
		_Atomic uint64_t calls, mutating, errors;
		_Atomic int64_t waits_ms;	/* since then; 0: for nothing */
	} stats;
};

/*
 * These five make a call (flags: VCX_*), which a later vs_vcx_pump() ends: fn is
 * called once, unless the call is dropped before. Never NULL; the caller may set
 * arg, id and flags of what is returned, and owns nothing of it. body_take may be
 * NULL. A call of an object whose moid is not known ends with VS_E_BUG, unsent.
 */
struct vcx_call *vs_vcx_raw(struct vcx_http *http, unsigned int flags,
			    vcx_fn *fn, const char *verb, const char *path,
			    struct json_object *body_take);
/* The same with a body that is text, or NULL. */
struct vcx_call *vs_vcx_raw_text(struct vcx_http *http, unsigned int flags,
				 vcx_fn *fn, const char *verb,
				 const char *path, char *text_take);
struct vcx_call *vs_vcx_post(struct vcx_http *http, unsigned int flags,
			     vcx_fn *fn, const char *type, const char *moid,
			     const char *method,
			     struct json_object *body_take);
/* The same with a body that is text; with VCX_SECRET it is wiped after use. */
struct vcx_call *vs_vcx_post_text(struct vcx_http *http, unsigned int flags,
				  vcx_fn *fn, const char *type,
				  const char *moid, const char *method,
				  char *text_take);
struct vcx_call *vs_vcx_get(struct vcx_http *http, vcx_fn *fn, const char *type,
			    const char *moid, const char *property);
/* Sends and receives what can be without waiting; calls the fn of each call that
 * has ended. */
void vs_vcx_pump(struct vcx_http *http);
/* Drops calls without calling back: all but VCX_MUTATING and VCX_QUIT; all. */
void vs_vcx_drop_reads(struct vcx_http *http);
void vs_vcx_drop_all(struct vcx_http *http);
/* Returns 0, or -1 and sets err (VS_E_BUG). Calls vs_vc_setup(). */
int vs_vcx_http_init(struct vcx_http *http, struct vs_err *err);
void vs_vcx_http_fini(struct vcx_http *http);

/* ---- certificates (certificate.c) ---------------------------------------- */
/* A call failed with rc; why is libcurl's text of it. True if the certificate is
 * what is wrong. These three don't fail, take no lock and own nothing. */
bool vs_vcx_certificate_is_it(CURLcode rc, const char *why);
/* The cause in words: why itself where it names one, else by OpenSSL's number
 * (CURLINFO_SSL_VERIFYRESULT; -1 if it is unknown). Lives as long as why. */
const char *vs_vcx_certificate_cause(CURLcode rc, const char *why,
				     long verified);
/* What the administrator is to do about that cause. Never NULL. */
const char *vs_vcx_certificate_fix(const char *why);

#endif
