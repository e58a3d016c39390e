/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A host that is wanted: in maintenance, or entering it (which vCenter shows as
 * a task only, until the last VM is off), or drained by an operator.
 */
#include <stdio.h>
#include "engine/hosts/hosts.h"
#include "engine/state/state.h"
#include "util/mem.h"

bool vs_host_is_cordoned(const struct vs_host *h)
{
	vs_assert_locked();
	return h->maintenance || h->entering_maintenance ||
	       vs_exclusion_find(VS_EXCLUDED_DRAINED, h->moid);
}

void vs_host_cordon_text(const struct vs_host *h,
			 bool note, char *why, size_t size)
{
	const struct vs_exclusion *a =
		vs_exclusion_find(VS_EXCLUDED_DRAINED, h->moid);
	char words[VS_EXCLUSION_TEXT] = "wanted";

	if (a && note)
		vs_strlcpy(words, a->why, sizeof(words));
	else if (a)
		vs_exclusion_text(a, words);
	if (h->maintenance || h->entering_maintenance)
		snprintf(why, size, "host %.100s is %s maintenance", h->name,
			 h->maintenance ? "in" : "entering");
	else
		snprintf(why, size, "host %.90s is %.150s", h->name, words);
}

void vs_host_cordon_reason(const struct vs_host *h,
			   char *why, size_t size)
{
	vs_host_cordon_text(h, true, why, size);
}
