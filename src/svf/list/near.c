/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which known name a mistyped one is most like. */
#include <string.h>

#include "list.h"
#include "util/mem.h"

#define NAME_MAX_LEN 64		/* a longer word is like no name */

static size_t least(size_t a, size_t b, size_t c)
{
	a = a < b ? a : b;
	return a < c ? a : c;
}

/* How many letters are to be changed, added or left out. */
static size_t distance(const char *a, const char *b)
{
	size_t row[NAME_MAX_LEN + 1], n = strlen(b);

	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t above_left = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < n; j++) {
			size_t above = row[j + 1];

			row[j + 1] = least(above + 1, row[j] + 1,
					   above_left + (a[i] != b[j]));
			above_left = above;
		}
	}
	return row[n];
}

void svf_near_try(struct svf_near *n, const char *name)
{
	size_t len = strlen(n->word), d;

	if (len > NAME_MAX_LEN || strlen(name) > NAME_MAX_LEN)
		return;
	d = distance(n->word, name);
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
