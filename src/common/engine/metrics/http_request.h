/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * As much of HTTP as one page needs: is a request whole, what does it ask for, and
 * the head of its answer. Pure.
 */
#ifndef VS_ENGINE_HTTP_REQUEST_H
#define VS_ENGINE_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#define VS_METRICS_REQUEST_MAX 8192	/* longer ones are refused */

struct vs_metrics_request {
	int status;		/* 200, or why not: 400, 404, 405, 431, 505 */
	bool openmetrics;	/* the answer's format, by Accept */
};

/* 1: more bytes are needed; 0: *out says what to answer. No shorter piece of the
 * same bytes says anything else than 1 or the same. */
int vs_metrics_request_parse(const char *text, size_t len,
			     struct vs_metrics_request *out);
const char *vs_metrics_type(bool openmetrics);	/* the content type */
/* Status line and headers for a body of so many bytes of this type, into out; its
 * length. The connection is closed after it. */
#define VS_METRICS_HEAD_MAX 320
size_t vs_metrics_head(int status, const char *type, size_t body,
		       char out[VS_METRICS_HEAD_MAX]);

#endif
