/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Host lists as Slurm writes them, esx[01-16,20],other, where no Slurm is at
 * hand. One pair of brackets a name; names, their lengths and the bytes of all
 * of them are bounded, before memory is taken for them; whatever else is
 * malformed.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/buf.h"
#include "util/hostlist.h"
#include "util/mem.h"

#define HOSTS_MAX 65536
#define NAME_MAX_BYTES 255	/* as of a host's name in DNS */
#define LIST_MAX (4 * 1024 * 1024)

struct names {
	char **list;
	size_t n, cap, bytes;
};

/* Is there room for one more name of len bytes? */
static bool may_add(struct names *out, size_t len)
{
	out->bytes += len;
	return len <= NAME_MAX_BYTES && out->n < HOSTS_MAX &&
	       out->bytes <= LIST_MAX;
}

static void add_name(struct names *out, char *name_take)
{
	VS_GROW(out->list, out->cap, out->n + 2);
	out->list[out->n++] = name_take;
	out->list[out->n] = NULL;
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
	for (; lo <= hi; lo++) {
		/* The last number may be longer than the first. */
		int width = snprintf(NULL, 0, "%0*lu", (int)digits, lo);

		if (!may_add(out, (size_t)prefix_len + (size_t)suffix_len +
			     (size_t)width))
			return false;
		add_name(out, vs_asprintf("%.*s%0*lu%.*s", prefix_len, prefix,
					  (int)digits, lo, suffix_len, suffix));
	}
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
	if (!open) {
		if (!may_add(out, (size_t)(end - s)))
			return false;
		add_name(out, vs_asprintf("%.*s", (int)(end - s), s));
		return true;
	}
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

/* ---- the way back ------------------------------------------------------------- */

struct cut {			/* a name by its number */
	const char *name;
	size_t prefix, digits;	/* lengths; digits 0: it has no number */
	unsigned long number;
	size_t first;		/* where its kind came first */
};

/* The last run of digits before the first dot; up to nine, as range() reads. */
static struct cut cut_of(const char *name)
{
	size_t end = strcspn(name, "."), start;
	struct cut c = { .name = name };

	if (strpbrk(name, "[],"))
		return c;		/* it can't be told from a list */
	while (end && (name[end - 1] < '0' || name[end - 1] > '9'))
		end--;
	start = end;
	while (start && name[start - 1] >= '0' && name[start - 1] <= '9' &&
	       end - start < 9)
		start--;
	c.prefix = start;
	c.digits = end - start;
	c.number = c.digits ? strtoul(name + start, NULL, 10) : 0;
	return c;
}

static const char *suffix(const struct cut *c)
{
	return c->name + c->prefix + c->digits;
}

/* Same prefix, suffix and number of digits. */
static int by_kind(const struct cut *a, const struct cut *b)
{
	size_t len = a->prefix < b->prefix ? a->prefix : b->prefix;
	int d = strncmp(a->name, b->name, len);

	if (!d)
		d = a->prefix < b->prefix ? -1 : a->prefix > b->prefix;
	if (!d)
		d = a->digits < b->digits ? -1 : a->digits > b->digits;
	if (!d)
		d = strcmp(suffix(a), suffix(b));
	return d;
}

static int by_number(const void *x, const void *y)
{
	const struct cut *a = x, *b = y;
	int d = by_kind(a, b);

	return d ? d : a->number < b->number ? -1 : a->number > b->number;
}

static int by_first(const void *x, const void *y)
{
	const struct cut *a = x, *b = y;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return by_number(x, y);
}

/* Cuts of one kind, by number, as "a[1-3,7]b". */
static void put_kind(struct vs_buf *b, const struct cut *c, size_t n)
{
	bool alone = n == 1 || !c->digits;

	vs_buf_printf(b, "%s%.*s%s", b->len ? "," : "", (int)c->prefix, c->name,
		      alone ? "" : "[");
	for (size_t i = 0, k; i < n && c->digits; i = k) {
		for (k = i + 1; k < n && c[k].number == c[k - 1].number + 1; k++)
			;
		vs_buf_printf(b, "%s%0*lu", i ? "," : "", (int)c->digits,
			      c[i].number);
		if (k - i > 1)
			vs_buf_printf(b, "-%0*lu", (int)c->digits,
				      c[k - 1].number);
	}
	vs_buf_printf(b, "%s%s", alone ? "" : "]", suffix(c));
}

char *vs_hostlist_compress(const char *const *names, size_t n)
{
	VS_FREE struct cut *cuts = vs_calloc(n + 1, sizeof(*cuts));
	struct vs_buf b = VS_BUF_INIT(LIST_MAX);
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		cuts[i] = cut_of(names[i]);
		cuts[i].first = i;
	}
	qsort(cuts, n, sizeof(*cuts), by_number);
	for (size_t i = 0, k; i < n; i = k) {
		size_t first = cuts[i].first;

		for (k = i + 1; k < n && !by_kind(&cuts[i], &cuts[k]); k++)
			first = cuts[k].first < first ? cuts[k].first : first;
		for (size_t j = i; j < k; j++) {
			if (j > i && cuts[j].number == cuts[j - 1].number)
				continue;
			cuts[kept] = cuts[j];
			cuts[kept++].first = first;
		}
	}
	qsort(cuts, kept, sizeof(*cuts), by_first);
	for (size_t i = 0, k; i < kept; i = k) {
		for (k = i + 1; k < kept && cuts[k].first == cuts[i].first; k++)
			;
		put_kind(&b, &cuts[i], k - i);
	}
	return b.data ? b.data : vs_strdup("");
}
