/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the names in a constraint's text. Slurm itself says what the constraint
 * means (constraint.c).
 */
#include <string.h>
#include "constraint_names.h"

bool vs_features_each(const char *text, vs_feature_fn *fn, void *arg)
{
	while (text && *text) {
		size_t len = strcspn(text, "&|,*()[]");

		if (len && !fn(arg, text, len))
			return false;
		text += len;
		if (*text == '*')	/* a count isn't a name */
			text += 1 + strspn(text + 1, "0123456789");
		else if (*text)
			text++;
	}
	return true;
}

const char *vs_name_clean(const char *s, size_t len,
			  char out[VS_NAME_CLEAN_LEN])
{
	size_t n = len < VS_NAME_CLEAN_LEN - 1 ? len : VS_NAME_CLEAN_LEN - 1;

	for (size_t i = 0; i < n; i++)
		out[i] = s[i] >= ' ' && s[i] < 0x7f && s[i] != '"' ? s[i] : '?';
	out[n] = '\0';
	return out;
}
