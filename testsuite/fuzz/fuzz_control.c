/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What comes over the control channel before and after munge: the first byte
 * says which parser the rest is for (F frame, Q question, P part of an answer).
 *
 * What must hold: nothing crashes; -1 comes with a code and a text; a frame is
 * whole at one length only, and no shorter piece of a good one is refused; what
 * was parsed and is written again parses to the same.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/rpc/message.h"
#include "util/mem.h"
#include "util/seal.h"

static void must(bool good)
{
	if (!good)
		abort();
}

static void refused(const struct vs_err *err)
{
	must(err->code != VS_OK && err->text[0] != '\0');
}

static void frame(const unsigned char *in, size_t size)
{
	struct vs_err err = { 0 };
	size_t len = 0, other;
	int rc = vs_frame_check(in, size, VS_CTL_REQUEST_MAX, &len, &err);

	if (rc < 0)
		refused(&err);
	if (rc == 0) {
		must(len > 0 && len <= VS_CTL_REQUEST_MAX &&
		     len + VS_FRAME_HEAD <= size);
		must(!memchr(in + VS_FRAME_HEAD, '\0', len));
	}
	for (size_t n = 0; rc >= 0 && n < size; n++) {
		int part = vs_frame_check(in, n, VS_CTL_REQUEST_MAX, &other,
					  NULL);
		bool whole = rc == 0 && n >= len + VS_FRAME_HEAD;

		must(part == (whole ? 0 : 1));
	}
}

/* It is refused with a text, or for this controller by one of its names. */
static void target(const struct vs_ctl_request *r)
{
	const struct vs_ctl_self self = { .host = "ctl1.example.org",
					  .cluster = "hpc", .addr = "10.0.0.7" };
	struct vs_err err = { 0 };
	bool elsewhere;

	if (vs_ctl_request_check(r, &self, &elsewhere, &err)) {
		refused(&err);
		must(elsewhere == (r->to[0] != '\0'));
		return;
	}
	must(r->protocol <= VS_CTL_PROTOCOL);
	must(!elsewhere && !strcasecmp(r->cluster, "hpc") &&
	     (strcasestr(r->to, "ctl1") || !strcmp(r->to, "10.0.0.7")));
}

static void request(const char *text, size_t size)
{
	struct vs_ctl_request r = { 0 }, again = { 0 };
	struct vs_err err = { 0 };
	VS_FREE char *s = NULL;

	if (vs_ctl_request_parse(text, size, &r, &err)) {
		refused(&err);
		return;
	}
	must(r.protocol && r.id[0]);
	if (r.protocol > VS_CTL_PROTOCOL) {
		target(&r);
		return;
	}
	must(r.verb[0]);
	s = vs_ctl_request_format(&r);
	must(!vs_ctl_request_parse(s, strlen(s), &again, NULL));
	must(!strcmp(r.verb, again.verb) && !strcmp(r.id, again.id) &&
	     r.job == again.job && !strcmp(r.nodes, again.nodes) &&
	     !strcmp(r.to, again.to) && !strcmp(r.cluster, again.cluster));
	target(&r);
}

static void part(const char *text, size_t size)
{
	struct vs_ctl_part p = { 0 }, again = { 0 };
	struct vs_err err = { 0 };
	VS_FREE char *s = NULL;
	size_t len;

	if (vs_ctl_part_parse(text, size, &p, &err)) {
		refused(&err);
		return;
	}
	must(p.bytes >= text && p.bytes + p.len == text + size);
	s = vs_ctl_part_format(&p, &len);
	must(!vs_ctl_part_parse(s, len, &again, NULL));
	must(p.refused == again.refused && !strcmp(p.id, again.id) &&
	     p.part == again.part && p.of == again.of && p.len == again.len &&
	     !memcmp(p.bytes, again.bytes, p.len));
	must(!p.refused || (p.err.code == again.err.code &&
			    !strcmp(p.err.text, again.err.text) &&
			    p.elsewhere == again.elsewhere));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	VS_FREE char *copy = vs_calloc(1, size + 1);	/* its own bounds */

	if (!size)
		return 0;
	memcpy(copy, data, size);
	switch (copy[0]) {
	case 'F':
		frame((unsigned char *)copy + 1, size - 1);
		break;
	case 'Q':
		request(copy + 1, size - 1);
		break;
	default:
		part(copy + 1, size - 1);
		break;
	}
	return 0;
}

#define FUZZ_CORPUS "control"
#include "fuzz_main.h"
