/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values that several decoders read: a property by its path, a list of strings
 * or of references, an object's name.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "vcenter/decode/objects.h"

struct vs_j vs_vcx_prop(struct vs_j prop_set, const char *path)
{
	struct vs_j none = { .doc = prop_set.doc };
	size_t n = vs_j_len(prop_set);

	for (size_t i = 0; i < n; i++) {
		struct vs_j p = vs_j_at(prop_set, i);

		if (!strcmp(vs_j_str(vs_j_get(p, "name")), path))
			return vs_j_opt(p, "val");
	}
	vs_strlcpy(none.where, path, sizeof(none.where));
	return none;
}

char *vs_str_lower(const char *s)
{
	char *out = vs_strdup(s);

	for (char *p = out; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return out;
}

void vs_strs_free(char **strs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(strs[i]);
	free(strs);
}

char **vs_strs_read(struct vs_j arr, bool refs, size_t *n)
{
	char **out = NULL;

	*n = vs_j_len(arr);
	if (*n)
		out = vs_calloc(*n, sizeof(*out));
	for (size_t i = 0; i < *n; i++) {
		struct vs_j j = vs_j_at(arr, i);

		out[i] = vs_strdup(refs ? vs_j_ref(j, NULL) : vs_j_str(j));
	}
	return out;
}

bool vs_vcx_same_name(const char *actual, const char *wanted)
{
	for (; *actual && *wanted; wanted++) {
		char c = *actual++;

		if (c == '%' && !strncasecmp(actual, "25", 2))
			actual += 2;
		else if (c == '%' && !strncasecmp(actual, "2f", 2))
			c = '/', actual += 2;
		else if (c == '%' && !strncasecmp(actual, "5c", 2))
			c = '\\', actual += 2;
		if (c != *wanted)
			return false;
	}
	return !*actual && !*wanted;
}
