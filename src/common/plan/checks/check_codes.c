/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What people are told about each code: columns of check_rows.h. */
#include "plan/checks/check_codes.h"

const struct vs_check_kind vs_check_kinds[VS_CHECKS] = {
#define FOUND(id, code, severity, of, what, why) \
	[VS_CHECK_##id] = { code, VS_##severity, of, what, why },
#define CHECK(id, code, severity, of, unit, facts, chain, judge, what, why) \
	[VS_CHECK_##id] = { code, VS_##severity, of, what, why },
#define FLAG(id, code, severity, of, unit, fact, chain, what, why, text) \
	[VS_CHECK_##id] = { code, VS_##severity, of, what, why },
#define AGAIN(...)
#include "plan/checks/check_rows.h"
};

const char *vs_severity_name(enum vs_severity s)
{
	static const char *const names[] = { "hard", "warning", "unknown" };

	return names[s];
}
