/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which known name a mistyped one is most like. */
#include <string.h>

#include "list.h"
#include "util/mem.h"
#include "util/name.h"

void svf_near_try(struct svf_near *n, const char *name)
{
	size_t len = strlen(n->word), d;

	if (len > VS_DISTANCE_MAX || strlen(name) > VS_DISTANCE_MAX)
		return;
	d = vs_name_distance(n->word, len, name, strlen(name));
	if (d > (len + 1) / 3 || (n->name && d >= n->d))
		return;
	n->name = name;
	n->d = d;
}

char *svf_near_hint(const struct svf_near *n)
{
	return n->name ? vs_asprintf("; did you mean '%s'?", n->name) :
		vs_strdup("");
}
