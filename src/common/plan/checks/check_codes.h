/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The codes of what `svf check` can find: check_rows.h. The checks, the texts of
 * answers, `svf check --codes` and the man page come from it.
 *
 * Constant data, which svf and the plugins are linked with too: this header
 * includes no other one of plan.
 */
#ifndef VS_PLAN_CHECK_CODES_H
#define VS_PLAN_CHECK_CODES_H

enum vs_severity {
	VS_HARD,		/* what it speaks of takes no job */
	VS_WARNING,		/* jobs run, but slower, or less safely */
	VS_UNSURE,		/* it can't be told */
};

enum vs_check {
#define FOUND(id, ...) VS_CHECK_##id,
#define CHECK(id, ...) VS_CHECK_##id,
#define FLAG(id, ...) VS_CHECK_##id,
#define AGAIN(...)
#include "plan/checks/check_rows.h"
	VS_CHECKS
};

struct vs_check_kind {
	const char *code;
	enum vs_severity severity;	/* a finding may be milder */
	const char *of;			/* what its objects are */
	const char *what;		/* is found, a phrase */
	const char *why;		/* it matters, a sentence */
};
extern const struct vs_check_kind vs_check_kinds[VS_CHECKS];

const char *vs_severity_name(enum vs_severity s);

#endif
