/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of what the preflight finds, and why no new job gets a node of a
 * profile.
 *
 * Rules: preflight.c rebuilds the list and compares it with the old one. The
 * lock is held.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "engine/state/state.h"
#include "util/mem.h"

static struct vs_finding *findings;
static size_t nfindings, cap_findings;
static bool outdated, shared_outdated;

void vs_findings_outdate(void)
{
	outdated = true;
}

void vs_shared_outdate(void)
{
	shared_outdated = true;
}

bool vs_shared_outdated_taken(void)
{
	bool was = shared_outdated;

	shared_outdated = false;
	return was;
}

bool vs_findings_outdated(void)
{
	return outdated;
}

const struct vs_finding *vs_findings(size_t *n)
{
	*n = nfindings;
	return findings;
}

/* A finding is as hard as what it stops. */
static struct vs_found found(enum vs_stops stops, const struct vs_says *s)
{
	struct vs_found f = {
		.code = s->code, .severity = vs_check_kinds[s->code].severity,
		.object = vs_strdup(s->object), .is = vs_strdup(s->is),
		.should = vs_strdup(s->should), .fix = vs_strdup(s->fix),
	};

	if (stops >= VS_STOPS_JOBS)
		f.severity = VS_HARD;
	else if (f.severity == VS_HARD)
		f.severity = VS_WARNING;
	return f;
}

struct vs_finding *vs_findings_begin(size_t *n)
{
	struct vs_finding *old = findings;

	*n = nfindings;
	findings = NULL;
	nfindings = cap_findings = 0;
	outdated = false;
	return old;
}

void vs_findings_free(struct vs_finding *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(list[i].text);
		free(list[i].found.object);
		free(list[i].found.is);
		free(list[i].found.should);
		free(list[i].found.fix);
	}
	free(list);
}

void vs_finding_add(enum vs_stops stops, const struct vs_says *says,
		    const char *fmt, ...)
{
	struct vs_finding *f;
	va_list ap;
	char text[2400];

	vs_assert_locked();
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	VS_GROW(findings, cap_findings, nfindings + 1);
	f = &findings[nfindings++];
	*f = (struct vs_finding) { .stops = stops, .text = vs_strdup(text) };
	if (says)
		f->found = found(stops, says);
}

void vs_host_block(struct vs_core *c, size_t profile, const char *why)
{
	char *barred = c->now[profile].barred;

	vs_assert_locked();
	if (!barred[0])
		vs_strlcpy(barred, why, sizeof(c->now[profile].barred));
}
