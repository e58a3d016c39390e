/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The error box. A caller that wants to know owns a struct vs_err and hands it
 * down. The function that knows the cause fills it. Each caller on the way up
 * passes it on or prefixes it. The caller that stops passing it logs it, once.
 *
 * The code says what to do next, the text says what happened.
 */
#ifndef VS_UTIL_ERR_H
#define VS_UTIL_ERR_H

enum vs_code {
	VS_OK = 0,
	VS_E_RETRY,		/* same request again, after a while */
	VS_E_RELOGIN,		/* the session is gone: log in, then again */
	VS_E_LOGIN,		/* credentials refused: stop until they change */
	VS_E_OTHER_HOST,	/* this host cannot: try another one */
	VS_E_SHORTAGE,		/* nothing free now: wait, not a fault */
	VS_E_REQUEST,		/* the request is wrong: never again as it is */
	VS_E_CONFIG,		/* an administrator must fix something */
	VS_E_GONE,		/* the object does not exist (any more) */
	VS_E_EXISTS,		/* the name is taken */
	VS_E_BUSY,		/* another task holds the object */
	VS_E_STATE,		/* already in that state, or state forbids it */
	VS_E_CANCELED,		/* cancelled, as was intended */
	VS_E_UNKNOWN,		/* outcome unknown: look before acting again */
	VS_E_BUG,		/* of slurm-vsphere */
};
#define VS_CODES (VS_E_BUG + 1)

struct vs_err {
	enum vs_code code;
	char fault[64];		/* vCenter's fault type, or "" */
	char text[640];		/* one sentence, no newline, no secret */
};

/* Fill err (which may be NULL) and return -1. */
int vs_err_set(struct vs_err *err, enum vs_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Put "what: " in front of the text. Returns -1. */
int vs_err_prefix(struct vs_err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* A short constant name of a code ("retry", "other-host", ...). */
const char *vs_code_name(enum vs_code code);

#endif
