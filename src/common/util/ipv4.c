/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ipv4.h. Pure. */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "util/ipv4.h"

int vs_ipv4_parse(const char *s, size_t len, uint32_t *out)
{
	char ip[INET_ADDRSTRLEN] = "";
	struct in_addr a;

	if (len >= sizeof(ip))
		return -1;
	memcpy(ip, s, len);
	if (strlen(ip) != len || inet_pton(AF_INET, ip, &a) != 1)
		return -1;
	*out = ntohl(a.s_addr);
	return 0;
}

/* A whole number of digits alone, up to max: strtoul() would take blanks and
 * signs. */
static int number(const char *s, size_t len, uint32_t max, uint32_t *out)
{
	uint64_t n = 0;

	if (!len || len > 9)
		return -1;
	for (size_t i = 0; i < len; i++) {
		if (!isdigit((unsigned char)s[i]))
			return -1;
		n = n * 10 + (uint64_t)(s[i] - '0');
	}
	if (n > max)
		return -1;
	*out = (uint32_t)n;
	return 0;
}

static uint32_t host_bits(int prefix)
{
	return UINT32_MAX >> prefix;
}

/* "FIRST-LAST" or the subnet's own address, of which prefix is known. */
static int addresses(const char *s, size_t len, const char *word, size_t wlen,
		     struct vs_ipv4_pool *p, struct vs_err *err)
{
	const char *dash = memchr(s, '-', len);
	uint32_t bits = host_bits(p->prefix);

	if (dash) {
		size_t head = (size_t)(dash - s);

		if (vs_ipv4_parse(s, head, &p->first) ||
		    vs_ipv4_parse(dash + 1, len - head - 1, &p->last))
			return -1;
		p->net = p->first & ~bits;
		if (p->first <= p->last && (p->last & ~bits) == p->net &&
		    p->first != p->net && p->last != (p->net | bits))
			return 0;
		return vs_err_set(err, VS_E_CONFIG,
			"%.*s: expected a first and a last address in one subnet of that prefix, the first not above the last",
			(int)wlen, word);
	}
	if (vs_ipv4_parse(s, len, &p->net))
		return -1;
	if (p->net & bits)
		return vs_err_set(err, VS_E_CONFIG,
			"%.*s: expected the subnet's own address, with nothing behind the prefix",
			(int)wlen, word);
	p->first = p->net + 1;
	p->last = (p->net | bits) - 1;
	return 0;
}

static int parse(const char *s, size_t len, struct vs_ipv4_pool *out,
		 struct vs_err *err)
{
	struct vs_ipv4_pool p = { .at = 1 };
	struct vs_err why = { 0 };
	const char *at = memchr(s, '@', len);
	size_t body = at ? (size_t)(at - s) : len;
	const char *slash = memchr(s, '/', body);
	size_t head = slash ? (size_t)(slash - s) : 0;
	uint32_t prefix;

	if (len == 4 && !memcmp(s, "dhcp", 4)) {
		*out = (struct vs_ipv4_pool) { .dhcp = true };
		return 0;
	}
	if (len >= VS_IPV4_POOL_LEN || !slash ||
	    number(slash + 1, body - head - 1, 30, &prefix) || prefix < 8 ||
	    (at && number(at + 1, len - body - 1, UINT32_MAX, &p.at)))
		goto bad;
	p.prefix = (int)prefix;
	if (addresses(s, head, s, len, &p, &why)) {
		if (!why.text[0])
			goto bad;
		return vs_err_set(err, VS_E_CONFIG, "%s", why.text);
	}
	*out = p;
	return 0;
bad:
	return vs_err_set(err, VS_E_CONFIG,
		"%.*s: expected an IPv4 subnet as 10.1.0.0/16, a range as 10.1.0.10-10.1.0.250/16, each perhaps with @NUMBER, or dhcp",
		(int)(len < 40 ? len : 40), s);
}

int vs_ipv4_pool_nth(const char *list, int n, struct vs_ipv4_pool *out,
		struct vs_err *err)
{
	for (; n > 0; n--) {
		list += strcspn(list, ",");
		list += *list == ',';
	}
	return parse(list, strcspn(list, ","), out, err);
}

int vs_ipv4_pool_count(const char *list)
{
	int n = 1;

	for (; *list; list++)
		n += *list == ',';
	return n;
}

int vs_ipv4_pool_address(const struct vs_ipv4_pool *p, const char *node,
		    char out[VS_IPV4_LEN], struct vs_err *err)
{
	size_t len = strlen(node), digits = 0;
	char ip[INET_ADDRSTRLEN], first[INET_ADDRSTRLEN];
	uint32_t n = 0, max = p->last - p->first;
	struct in_addr a;

	if (p->dhcp) {
		snprintf(out, VS_IPV4_LEN, "dhcp");
		return 0;
	}
	while (digits < len && isdigit((unsigned char)node[len - digits - 1]))
		digits++;
	a.s_addr = htonl(p->first);
	inet_ntop(AF_INET, &a, first, sizeof(first));
	if (number(node + len - digits, digits, UINT32_MAX, &n) ||
	    n < p->at || n - p->at > max)
		return vs_err_set(err, VS_E_CONFIG,
			"node %.64s: expected a name that ends with a number from %u to %llu for its address, %u having %s/%d",
			node, p->at, (unsigned long long)p->at + max, p->at,
			first, p->prefix);
	a.s_addr = htonl(p->first + (n - p->at));
	inet_ntop(AF_INET, &a, ip, sizeof(ip));
	snprintf(out, VS_IPV4_LEN, "%s/%d", ip, p->prefix);
	return 0;
}

bool vs_ipv4_pool_meets(const struct vs_ipv4_pool *a, const struct vs_ipv4_pool *b)
{
	return !a->dhcp && !b->dhcp && a->first <= b->last &&
		b->first <= a->last;
}

bool vs_ipv4_pool_net_meets(const struct vs_ipv4_pool *a, const struct vs_ipv4_pool *b)
{
	uint32_t bits = host_bits(a->prefix < b->prefix ? a->prefix : b->prefix);

	return !a->dhcp && !b->dhcp && (a->net & ~bits) == (b->net & ~bits);
}

int vs_addr_is_loopback(const char *addr)
{
	struct in6_addr v6;
	struct in_addr v4;

	if (inet_pton(AF_INET, addr, &v4) == 1)
		return ntohl(v4.s_addr) >> 24 == 127;
	if (inet_pton(AF_INET6, addr, &v6) == 1)
		return IN6_IS_ADDR_LOOPBACK(&v6);
	return -1;
}
