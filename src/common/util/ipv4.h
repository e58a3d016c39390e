/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * IPv4 addresses of nodes, as vsphere.conf writes them. A node's address follows
 * from its name alone, so that it stays when others come or go.
 */
#ifndef VS_UTIL_IPV4_H
#define VS_UTIL_IPV4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "util/err.h"

#define VS_IPV4_LEN 20	/* "255.255.255.255/32" and its NUL */
#define VS_IPV4_POOL_LEN 48		/* of one, as text */
#define VS_IPV4_POOLS_LEN (8 * VS_IPV4_POOL_LEN)	/* of a list with commas */

/*
 *   10.1.0.0/16                  the node whose name ends with 1 has 10.1.0.1
 *   10.1.0.10-10.1.0.250/16      it has 10.1.0.10
 *   10.1.0.10-10.1.0.250/16@101  not it but number 101 has 10.1.0.10
 *   dhcp                         whatever the network's server gives
 * Addresses are in host order.
 */
struct vs_ipv4_pool {
	bool dhcp;
	uint32_t first, last, net;	/* net: the subnet's own address */
	uint32_t at;			/* the number that has the first one */
	int prefix;			/* 8 to 30 */
};

/* The n-th (from 0) of a list; -1 with what was expected. */
int vs_ipv4_pool_nth(const char *list, int n, struct vs_ipv4_pool *out,
		struct vs_err *err);
/* How many there are in a list. */
int vs_ipv4_pool_count(const char *list);

/* "10.1.0.12/16"; "dhcp". -1 with err: the name ends with no number that has an
 * address there. */
int vs_ipv4_pool_address(const struct vs_ipv4_pool *p, const char *node,
		    char out[VS_IPV4_LEN], struct vs_err *err);

/* Do they share an address; do their subnets? */
bool vs_ipv4_pool_meets(const struct vs_ipv4_pool *a, const struct vs_ipv4_pool *b);
bool vs_ipv4_pool_net_meets(const struct vs_ipv4_pool *a, const struct vs_ipv4_pool *b);

/* Returns 1 if this is an address of loopback, IPv4 or IPv6. Returns 0 for any other
 * numeric address. Returns -1 if it is no numeric address. */
int vs_addr_is_loopback(const char *addr);

/* "10.1.0.1", len bytes: 0 or -1. */
int vs_ipv4_parse(const char *s, size_t len, uint32_t *out);

#endif
