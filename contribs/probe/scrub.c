/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names and addresses of the site, and what stands for them in a report and in
 * a recording.
 *
 * Rules: a name is replaced by a kind and a number (host-1) unless --names was
 * given, and so are addresses and uuids, because faults quote all of them. The
 * report says only what an address is (ADDRESS); a recording numbers them and
 * keeps their form, so that equal ones stay equal and a decoder reads them.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "probe.h"
#include "util/mem.h"
#include "util/name.h"

#define SCRUB_MAX ((size_t)256 << 20)	/* bytes of one text */

static unsigned char letter(const char *s)
{
	return (unsigned char)tolower((unsigned char)*s);
}

const char *names_get(const struct names *m, const char *name)
{
	for (size_t i = m->heads[letter(name)]; i; i = m->list[i - 1].next)
		if (!strcasecmp(m->list[i - 1].name, name))
			return m->list[i - 1].alias;
	return NULL;
}

static void names_put(struct names *m, const char *name, const char *alias)
{
	size_t *head = &m->heads[letter(name)];

	VS_GROW(m->list, m->cap, m->n + 1);
	m->list[m->n] = (struct name) { .name = vs_strdup(name),
		.alias = vs_strdup(alias), .next = *head };
	*head = ++m->n;
}

void names_free(struct names *m)
{
	for (size_t i = 0; i < m->n; i++) {
		explicit_bzero(m->list[i].name, strlen(m->list[i].name));
		free(m->list[i].name);
		free(m->list[i].alias);
	}
	free(m->list);
	memset(m, 0, sizeof(*m));
}

/* A vCenter has folders of these names in each datacenter; they are in moIds
 * and in property paths too. */
static bool is_default(const char *name)
{
	static const char *const list[] = { "vm", "host", "datastore",
		"network", "Datacenters", "Resources" };

	for (size_t i = 0; i < VS_COUNT(list); i++)
		if (!strcmp(list[i], name))
			return true;
	return false;
}

static int number_after(const char *alias, size_t len)
{
	return alias[len] == '-' ? (int)strtol(alias + len + 1, NULL, 10) : 0;
}

static char *next_alias(const struct names *m, const char *kind)
{
	size_t len = strlen(kind);
	int n = 1;

	for (size_t i = 0; i < m->n; i++) {
		const char *had = m->list[i].alias;

		if (!strncmp(had, kind, len) && number_after(had, len) >= n)
			n = number_after(had, len) + 1;
	}
	return vs_asprintf("%s-%d", kind, n);
}

static void alias_once(struct probe *p, const char *name, const char *alias)
{
	if (!names_get(&p->names, name))
		names_put(&p->names, name, alias);
}

/* esx01.example.org is esx01 to many a fault, and its neighbours, of which
 * nothing was said, are in example.org too. */
static void alias_parts(struct probe *p, const char *name, const char *alias)
{
	const char *dot = strchr(name, '.');
	VS_FREE char *brief = NULL, *domain = NULL;

	if (!dot || dot - name < 3 || isdigit((unsigned char)name[0]))
		return;
	brief = strndup(name, (size_t)(dot - name));
	alias_once(p, brief, alias);
	if (strchr(dot + 1, '.') && !names_get(&p->names, dot + 1)) {
		domain = next_alias(&p->names, "domain");
		names_put(&p->names, dot + 1, domain);
	}
}

void alias_add(struct probe *p, const char *name, const char *kind)
{
	VS_FREE char *alias = NULL;

	if (!name || strlen(name) < 2 || is_default(name) ||
	    names_get(&p->names, name))
		return;
	alias = next_alias(&p->names, kind);
	names_put(&p->names, name, alias);
	alias_parts(p, name, alias);
}

const char *value_alias(struct probe *p, const char *value, const char *member)
{
	const char *had = names_get(&p->values, value);
	VS_FREE char *alias = NULL;

	if (had)
		return had;
	alias = vs_asprintf("%s-%zu", member, p->values.n + 1);
	names_put(&p->values, value, alias);
	return names_get(&p->values, value);
}

/* ---- in a text ----------------------------------------------------------- */

static bool word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The longest name that stands at s as a word of its own. */
static size_t name_at(const struct probe *p, const char *text, const char *s,
		      const char **alias)
{
	bool inside = s > text && word_char(s[-1]) && word_char(*s);
	size_t best = 0, i = inside ? 0 : p->names.heads[letter(s)];

	for (; i; i = p->names.list[i - 1].next) {
		const char *name = p->names.list[i - 1].name;
		size_t len = strlen(name);

		if (len <= best || strncasecmp(s, name, len) ||
		    (word_char(s[len]) && word_char(name[len - 1])))
			continue;
		best = len;
		*alias = p->names.list[i - 1].alias;
	}
	return best;
}

/* API releases look like addresses. No number of theirs has had two digits. */
static bool is_release(const char *s, int len)
{
	return len == 7 && *s >= '5' && s[1] == '.' && s[3] == '.' &&
		s[5] == '.';
}

/* Masks are no site's secret. */
static bool is_mask(int a, int b, int c, int d)
{
	return a == 255 || !(a | b | c | d);
}

static size_t ipv4_at(const char *s)
{
	int a, b, c, d, len = 0;

	if (!isdigit((unsigned char)*s) ||
	    sscanf(s, "%3d.%3d.%3d.%3d%n", &a, &b, &c, &d, &len) != 4 || !len ||
	    word_char(s[len]) || (s[len] == '.' && word_char(s[len + 1])) ||
	    is_release(s, len) || is_mask(a, b, c, d))
		return 0;
	return (size_t)len;
}

/* Eight groups, or fewer with "::". A PCI address has neither. */
static size_t ipv6_at(const char *s)
{
	size_t n = strspn(s, "0123456789abcdefABCDEF:"), colons = 0;
	bool gap = false;

	for (size_t i = 0; i < n; i++) {
		colons += s[i] == ':';
		gap |= s[i] == ':' && i + 1 < n && s[i + 1] == ':';
	}
	return n > 3 && (colons == 7 || (gap && colons < 8)) &&
		!word_char(s[n]) ? n : 0;
}

static size_t mac_at(const char *s)
{
	size_t n = strspn(s, "0123456789abcdefABCDEF:");

	return n >= 17 && s[2] == ':' && s[5] == ':' && s[8] == ':' &&
		s[11] == ':' && s[14] == ':' && !word_char(s[17]) &&
		s[17] != ':' ? 17 : 0;
}

static size_t uuid_at(const char *s)
{
	char uuid[VS_UUID_LEN];

	if (strspn(s, "0123456789abcdefABCDEF-") < VS_UUID_LEN - 1)
		return 0;
	vs_strlcpy(uuid, s, sizeof(uuid));
	for (char *at = uuid; *at; at++)
		*at = (char)tolower((unsigned char)*at);
	return vs_uuid_valid(uuid) ? VS_UUID_LEN - 1 : 0;
}

enum address { IPV4, IPV6, MAC, UUID };

static size_t address_at(const char *s, enum address *what)
{
	static size_t (*const find[])(const char *s) = { [MAC] = mac_at,
		[IPV4] = ipv4_at, [IPV6] = ipv6_at, [UUID] = uuid_at };

	if (!isxdigit((unsigned char)*s) && *s != ':')
		return 0;
	for (size_t i = 0; i < VS_COUNT(find); i++) {
		size_t n = find[i](s);

		if (n) {
			*what = (enum address)i;
			return n;
		}
	}
	return 0;
}

/* A MAC keeps its maker's half: VMware's ranges are of interest. The networks
 * are those for tests (RFC 2544) and for examples (RFC 3849). */
static char *numbered(enum address what, const char *was, size_t n)
{
	switch (what) {
	case IPV4:
		return vs_asprintf("198.%zu.%zu.%zu", 18 + (n >> 16 & 1),
				   n >> 8 & 255, n & 255);
	case IPV6:
		return vs_asprintf("2001:db8::%zx", n & 0xffff);
	case MAC:
		return vs_asprintf("%.8s:%02zx:%02zx:%02zx", was, n >> 16 & 255,
				   n >> 8 & 255, n & 255);
	default:
		return vs_asprintf("00000000-0000-4000-8000-%012zx", n);
	}
}

static const char *number_of(struct probe *p, enum address what,
			     const char *s, size_t len)
{
	VS_FREE char *was = strndup(s, len);
	VS_FREE char *alias = NULL;

	if (!names_get(&p->addresses, was)) {
		alias = numbered(what, was, p->addresses.n + 1);
		names_put(&p->addresses, was, alias);
	}
	return names_get(&p->addresses, was);
}

const char *address_alias(struct probe *p, const char *value)
{
	enum address what;
	size_t n = address_at(value, &what);

	return n && !value[n] ? number_of(p, what, value, n) : NULL;
}

static const char *address_word(struct probe *p, bool number,
				enum address what, const char *s, size_t len)
{
	static const char *const words[] = { [IPV4] = "ADDRESS",
		[IPV6] = "ADDRESS", [MAC] = "MAC", [UUID] = "UUID" };

	return number ? number_of(p, what, s, len) : words[what];
}

static char *scrubbed(struct probe *p, const char *text, bool number,
		      bool name)
{
	struct vs_buf out = VS_BUF_INIT(SCRUB_MAX);
	const char *with = "";

	vs_buf_add(&out, "", 0);
	for (const char *s = text; *s;) {
		size_t n = name ? name_at(p, text, s, &with) : 0;
		enum address what;

		if (!n && (s == text || !word_char(s[-1])) &&
		    (n = address_at(s, &what)))
			with = address_word(p, number, what, s, n);
		if (n)
			vs_buf_printf(&out, "%s", with);
		else
			vs_buf_add(&out, s, 1);
		s += n ? n : 1;
	}
	return out.data ? out.data : vs_strdup("");
}

char *scrub(struct probe *p, const char *text)
{
	return p->o.names ? vs_strdup(text) : scrubbed(p, text, false, true);
}

char *scrub_numbered(struct probe *p, const char *text)
{
	return p->o.names ? vs_strdup(text) : scrubbed(p, text, true, true);
}

char *scrub_path(struct probe *p, const char *path)
{
	return p->o.names ? vs_strdup(path) : scrubbed(p, path, true, false);
}
