/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames and seals of the control channel. munge says who speaks, hides what
 * is said, and refuses what was said before (its daemon remembers each
 * credential for its life).
 *
 * Rules: a frame's length is checked before a byte of its body is waited for;
 * what doesn't look like a credential never reaches munged. Nothing here does
 * network I/O of its own, keeps state, or logs.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <munge.h>

#include "util/mem.h"
#include "util/seal.h"

static const char cred_start[] = "MUNGE:";
_Static_assert(VS_SEAL_ANYBODY == (int)MUNGE_UID_ANY,
	       "munge uses another value for any user");

void vs_frame_head(unsigned char head[VS_FRAME_HEAD], size_t len)
{
	uint32_t net = htonl((uint32_t)len);

	memcpy(head, &net, sizeof(net));
}

int vs_frame_check(const unsigned char *in, size_t have, size_t max,
		   size_t *len, struct vs_err *err)
{
	size_t start = sizeof(cred_start) - 1, n;
	uint32_t net;

	if (have < VS_FRAME_HEAD)
		return 1;
	memcpy(&net, in, sizeof(net));
	n = ntohl(net);
	if (n > max || n <= start)
		return vs_err_set(err, VS_E_REQUEST,
				  "a frame of %zu bytes, at most %zu is allowed",
				  n, max);
	have -= VS_FRAME_HEAD;
	if (memcmp(in + VS_FRAME_HEAD, cred_start, have < start ? have : start))
		return vs_err_set(err, VS_E_REQUEST,
				  "a frame without a munge credential");
	if (have < n)
		return 1;
	if (memchr(in + VS_FRAME_HEAD, '\0', n))
		return vs_err_set(err, VS_E_REQUEST,
				  "a NUL byte in a frame");
	*len = n;
	return 0;
}

static munge_ctx_t context(const char *socket, struct vs_err *err)
{
	munge_ctx_t ctx = munge_ctx_create();

	if (!ctx)
		abort();
	if (socket && munge_ctx_set(ctx, MUNGE_OPT_SOCKET, socket)) {
		vs_err_set(err, VS_E_CONFIG, "munge: %s",
			   munge_ctx_strerror(ctx));
		munge_ctx_destroy(ctx);
		return NULL;
	}
	return ctx;
}

/* munge's word, and what to do about it. */
static int munge_failed(munge_ctx_t ctx, munge_err_t rc, struct vs_err *err)
{
	const char *text = munge_ctx_strerror(ctx), *hint = "";
	enum vs_code code = VS_E_REQUEST;

	if (!text)
		text = munge_strerror(rc);
	switch (rc) {
	case EMUNGE_SOCKET:
	case EMUNGE_TIMEOUT:
		code = VS_E_RETRY;
		hint = " (is munged running here?)";
		break;
	case EMUNGE_CRED_EXPIRED:
	case EMUNGE_CRED_REWOUND:
		hint = " (do the clocks of both machines agree?)";
		break;
	case EMUNGE_CRED_INVALID:
		hint = " (do both machines have the same munge key?)";
		break;
	default:
		break;
	}
	return vs_err_set(err, code, "munge says: %s%s", text, hint);
}

int vs_seal(const char *socket, int64_t only, const void *data, size_t len,
	    char **cred, struct vs_err *err)
{
	munge_ctx_t ctx = context(socket, err);
	char *out = NULL;
	munge_err_t rc;

	if (!ctx)
		return -1;
	rc = munge_ctx_set(ctx, MUNGE_OPT_TTL, VS_SEAL_TTL);
	if (!rc)
		rc = munge_ctx_set(ctx, MUNGE_OPT_UID_RESTRICTION, (uid_t)only);
	if (!rc)
		rc = munge_encode(&out, ctx, data, (int)len);
	if (rc) {
		munge_failed(ctx, rc, err);
		free(out);
	} else {
		*cred = out;
	}
	munge_ctx_destroy(ctx);
	return rc ? -1 : 0;
}

int vs_unseal(const char *socket, const char *cred, char **data, size_t *len,
	      uint32_t *uid, struct vs_err *err)
{
	munge_ctx_t ctx = context(socket, err);
	VS_FREE char *buf = NULL;	/* munge's, NULL if empty */
	uid_t who = 0;
	gid_t group;
	int n = 0, ttl = 0, rc = -1;
	munge_err_t m;

	if (!ctx)
		return -1;
	/* Replayed and expired credentials are decoded too: buf is set. */
	m = munge_decode(cred, ctx, (void **)&buf, &n, &who, &group);
	if (m) {
		munge_failed(ctx, m, err);
	} else if (munge_ctx_get(ctx, MUNGE_OPT_TTL, &ttl) ||
		   ttl > VS_SEAL_TTL) {
		vs_err_set(err, VS_E_REQUEST,
			   "a credential good for %d s, at most %d is allowed",
			   ttl, VS_SEAL_TTL);
	} else {
		*data = vs_realloc(NULL, 1, (size_t)n + 1);
		if (n > 0)
			memcpy(*data, buf, (size_t)n);
		(*data)[n] = '\0';
		*len = (size_t)n;
		*uid = who;
		rc = 0;
	}
	munge_ctx_destroy(ctx);
	return rc;
}
