/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Host lists as Slurm writes them, esx[01-16,20],other, where no Slurm is at
 * hand. One pair of brackets a name, a bounded number of names; whatever else
 * is malformed.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/hostlist.h"
#include "util/mem.h"

#define HOSTS_MAX 65536

struct names {
	char **list;
	size_t n, cap;
};

static bool add_name(struct names *out, char *name_take)
{
	if (out->n == HOSTS_MAX) {
		free(name_take);
		return false;
	}
	VS_GROW(out->list, out->cap, out->n + 2);
	out->list[out->n++] = name_take;
	out->list[out->n] = NULL;
	return true;
}

/* "01-16" or "7" at *at, up to ',' or ']'. */
static bool range(struct names *out, const char *prefix, int prefix_len,
		  const char **at, const char *suffix, int suffix_len)
{
	size_t digits = strspn(*at, "0123456789");
	unsigned long lo, hi;

	if (!digits || digits > 9)
		return false;
	lo = hi = strtoul(*at, NULL, 10);
	*at += digits;
	if (**at == '-') {
		size_t more = strspn(++*at, "0123456789");

		if (!more || more > 9)
			return false;
		hi = strtoul(*at, NULL, 10);
		*at += more;
	}
	if (hi < lo || hi - lo >= HOSTS_MAX)
		return false;
	for (; lo <= hi; lo++)
		if (!add_name(out, vs_asprintf("%.*s%0*lu%.*s", prefix_len,
					       prefix, (int)digits, lo,
					       suffix_len, suffix)))
			return false;
	return true;
}

/* One element of the list, [s, end): a name with at most one [...]. */
static bool element(struct names *out, const char *s, const char *end)
{
	const char *open = memchr(s, '[', (size_t)(end - s));
	const char *close = memchr(s, ']', (size_t)(end - s));
	const char *at;

	if (s == end || !open != !close)
		return false;
	if (!open)
		return add_name(out, vs_asprintf("%.*s", (int)(end - s), s));
	if (close < open || memchr(close + 1, '[', (size_t)(end - close) - 1))
		return false;
	for (at = open + 1;; at++) {
		if (!range(out, s, (int)(open - s), &at, close + 1,
			   (int)(end - close) - 1))
			return false;
		if (at == close)
			return true;
		if (*at != ',')
			return false;
	}
}

char **vs_hostlist_expand(const char *list)
{
	struct names out = { 0 };
	const char *s = list, *end = list;
	bool good = true, inside = false;

	for (; good; end++) {
		inside = *end == '[' || (inside && *end != ']');
		if (*end && (inside || *end != ','))
			continue;
		good = element(&out, s, end);
		s = end + 1;
		if (!*end)
			break;
	}
	if (good)
		return out.list;
	vs_hostlist_free(out.list);
	return NULL;
}

void vs_hostlist_free(char **names)
{
	for (char **s = names; s && *s; s++)
		free(*s);
	free(names);
}
