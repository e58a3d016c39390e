/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The error box: who knows the cause fills it, who passes it on prefixes it.
 *
 * Rules: a NULL box is fine everywhere. A text is always one printable line,
 * because parts of it come from the network and it ends in slurmctld's log.
 * Too long a text is cut at its end, never the prefix. Never logs, never
 * allocates.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "util/err.h"
#include "util/mem.h"

static const char *const code_names[] = {
	[VS_OK] = "ok",
	[VS_E_RETRY] = "retry",
	[VS_E_RELOGIN] = "relogin",
	[VS_E_LOGIN] = "login",
	[VS_E_OTHER_HOST] = "other-host",
	[VS_E_SHORTAGE] = "shortage",
	[VS_E_REQUEST] = "request",
	[VS_E_CONFIG] = "config",
	[VS_E_GONE] = "gone",
	[VS_E_EXISTS] = "exists",
	[VS_E_BUSY] = "busy",
	[VS_E_STATE] = "state",
	[VS_E_CANCELED] = "canceled",
	[VS_E_UNKNOWN] = "unknown",
	[VS_E_BUG] = "bug",
};

int vs_err_set(struct vs_err *err, enum vs_code code, const char *fmt, ...)
{
	char text[sizeof(err->text)];
	va_list ap;

	if (!err)
		return -1;
	/* by way of a copy: the old text may be among the arguments */
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	vs_one_line(text);
	memset(err, 0, sizeof(*err));
	err->code = code;
	memcpy(err->text, text, strlen(text) + 1);
	return -1;
}

int vs_err_prefix(struct vs_err *err, const char *fmt, ...)
{
	char text[sizeof(err->text)];
	size_t room = sizeof(text), len;
	va_list ap;

	if (!err)
		return -1;
	va_start(ap, fmt);
	vsnprintf(text, room, fmt, ap);
	va_end(ap);
	len = strlen(text);
	vs_strlcpy(text + len, ": ", room - len);
	len = strlen(text);
	vs_strlcpy(text + len, err->text, room - len);
	vs_one_line(text);
	memcpy(err->text, text, strlen(text) + 1);
	return -1;
}

const char *vs_code_name(enum vs_code code)
{
	if ((size_t)code >= VS_COUNT(code_names))
		return "?";
	return code_names[code];
}
