/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names that must be right to the last byte: PCI and MAC addresses, uuids,
 * the owner mark, node names.
 *
 * Rules: parsers take the whole string or refuse it; derived names depend on
 * their arguments alone, for a node must look the same after every rebuild.
 * Never looks anything up.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include "util/mem.h"
#include "util/name.h"

#define MARK_MAX (VS_UUID_LEN + 64 + VS_UUID_LEN)

/* isxdigit() depends on the locale, which slurmctld may set. */
static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static bool alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

/* x: a hex digit, anything else: itself. */
static bool matches(const char *s, const char *form)
{
	for (; *form; s++, form++) {
		if (*form == 'x' ? hex_value(*s) < 0 : *s != *form)
			return false;
	}
	return !*s;
}

int vs_pci_parse(const char *s, char out[VS_PCI_LEN], struct vs_err *err)
{
	/* 5 bits of slot, 3 of function */
	if (!s || !matches(s, "xxxx:xx:xx.x") || hex_value(s[8]) > 1 ||
	    hex_value(s[11]) > 7)
		return vs_err_set(err, VS_E_CONFIG, "\"%.40s\" is not a PCI "
						    "address: expected "
						    "dddd:bb:ss.f in hex, "
						    "such as 0000:3b:00.1", s ? s : "");
	for (int i = 0; i < VS_PCI_LEN; i++)
		out[i] = s[i] >= 'A' && s[i] <= 'F' ? s[i] - 'A' + 'a' : s[i];
	return 0;
}

uint64_t vs_hash(uint64_t h, const void *data, size_t len)
{
	const unsigned char *p = data;

	while (len--)
		h = (h ^ *p++) * 0x100000001b3ULL;
	return h;
}

uint64_t vs_hash_str(uint64_t h, const char *s)
{
	return vs_hash(h, s, strlen(s) + 1);
}

void vs_mac_make(const char *cluster_id, const char *node, unsigned int index,
		 unsigned int salt, char out[VS_MAC_LEN])
{
	/* bytes in a fixed order, so that a controller on another kind of
	 * machine derives the same address */
	unsigned char tail[8] = { index, index >> 8, index >> 16, index >> 24,
				  salt, salt >> 8, salt >> 16, salt >> 24 };
	uint64_t h = VS_HASH_START;

	h = vs_hash_str(h, cluster_id);
	h = vs_hash_str(h, node);
	h = vs_hash(h, tail, sizeof(tail));
	h ^= h >> 44 ^ h >> 22;		/* FNV's low bits alone mix badly */
	snprintf(out, VS_MAC_LEN, "00:50:56:%02x:%02x:%02x",
		 (unsigned int)(h >> 16 & 0x3f), (unsigned int)(h >> 8 & 0xff),
		 (unsigned int)(h & 0xff));
}

void vs_uuid_random(char out[VS_UUID_LEN])
{
	unsigned char b[16];
	ssize_t n;

	do {
		n = getrandom(b, sizeof(b), 0);
	} while (n < 0 && errno == EINTR);
	/* 16 bytes come whole or not at all; a uuid that is not random could
	 * make a foreign VM look managed */
	if (n != sizeof(b))
		abort();
	b[6] = (b[6] & 0x0f) | 0x40;
	b[8] = (b[8] & 0x3f) | 0x80;
	snprintf(out, VS_UUID_LEN, "%02x%02x%02x%02x-%02x%02x-%02x%02x-"
		 "%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2], b[3],
		 b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
		 b[13], b[14], b[15]);
}

bool vs_uuid_valid(const char *s)
{
	return s && matches(s, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx");
}

bool vs_utf8_valid(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;

	while (*p) {
		static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
		int more = *p < 0x80 ? 0 : *p >= 0xc0 && *p < 0xe0 ? 1 :
			(*p & 0xf0) == 0xe0 ? 2 : (*p & 0xf8) == 0xf0 ? 3 : -1;
		uint32_t c;

		if (more < 0)
			return false;
		c = more ? *p & (0x3fu >> more) : *p;
		p++;
		for (int i = 0; i < more; i++, p++) {
			if ((*p & 0xc0) != 0x80)
				return false;
			c = c << 6 | (*p & 0x3f);
		}
		if (c < least[more] || c > 0x10ffff ||
		    (c >= 0xd800 && c < 0xe000))
			return false;
	}
	return true;
}

bool vs_node_name_valid(const char *s)
{
	size_t len = 0;

	if (!s || *s == '-' || *s == '.')
		return false;
	for (; s[len]; len++) {
		if (len == 63 || !(alnum(s[len]) || strchr("._-", s[len])))
			return false;
	}
	return len > 0;
}

static bool cluster_id_valid(const char *s)
{
	for (const char *p = s; *p; p++) {
		if (!alnum(*p) && *p != '-')
			return false;
	}
	return *s != '\0';
}

int vs_owner_tag_version(const char *s)
{
	const int most = 999999;
	int version = 0;

	if (!s || *s != 'v')
		return 1;
	for (s++; *s >= '0' && *s <= '9' && version < most; s++)
		version = version * 10 + (*s - '0');
	return *s == ':' && version ? version : 1;
}

int vs_owner_tag_parse(const char *s, struct vs_owner_tag *out)
{
	char copy[MARK_MAX], *node, *uuid;
	struct vs_owner_tag m = { 0 };

	if (!s || strlen(s) >= sizeof(copy))
		return -1;
	vs_strlcpy(copy, s, sizeof(copy));
	node = strchr(copy, '/');
	if (!node)
		return -1;
	*node++ = '\0';
	uuid = strchr(node, '/');
	if (!uuid)
		return -1;
	*uuid++ = '\0';
	if (strlen(copy) >= sizeof(m.cluster) || !cluster_id_valid(copy) ||
	    !vs_node_name_valid(node) || !vs_uuid_valid(uuid))
		return -1;
	vs_strlcpy(m.cluster, copy, sizeof(m.cluster));
	vs_strlcpy(m.node, node, sizeof(m.node));
	vs_strlcpy(m.uuid, uuid, sizeof(m.uuid));
	*out = m;
	return 0;
}

char *vs_owner_tag_format(const struct vs_owner_tag *m)
{
	return vs_asprintf("%s/%s/%s", m->cluster, m->node, m->uuid);
}

/* ---- addresses ------------------------------------------------------------ */

unsigned int vs_name_distance(const char *a, size_t alen, const char *b,
			      size_t blen)
{
	unsigned int row[VS_DISTANCE_MAX + 1];

	alen = alen > VS_DISTANCE_MAX ? VS_DISTANCE_MAX : alen;
	blen = blen > VS_DISTANCE_MAX ? VS_DISTANCE_MAX : blen;
	for (size_t j = 0; j <= blen; j++)
		row[j] = (unsigned int)j;
	for (size_t i = 1; i <= alen; i++) {
		unsigned int diag = row[0];

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= blen; j++) {
			unsigned int up = row[j], best;

			best = diag + !!strncasecmp(&a[i - 1], &b[j - 1], 1);
			if (up + 1 < best)
				best = up + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
			diag = up;
		}
	}
	return row[blen];
}

size_t vs_list_next(const char **list, const char **name)
{
	static const char blanks[] = " \t", passed[] = " \t,";
	const char *start = *list + strspn(*list, passed);
	size_t len = strcspn(start, ",");

	*list = start + len;
	*name = start;
	while (len && strchr(blanks, start[len - 1]))
		len--;
	return len;
}
