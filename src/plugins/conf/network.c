/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses in vsphere.conf: the values of its keys, what lines say together, and
 * a node's own. Two networks: that of the template's first NIC (ManagementAddresses=,
 * with Gateway=, DNS= and DNSSearch=), and those of the adapter's NICs, one for
 * each (AdapterAddresses=). No Slurm here.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "util/mem.h"
#include "util/ipv4.h"
#include "conf_i.h"

/* ---- a value alone ------------------------------------------------------------- */

static int pools_value(const char *s, struct vs_err *err)
{
	struct vs_ipv4_pool p;

	for (int i = 0; i < vs_ipv4_pool_count(s); i++)
		if (vs_ipv4_pool_nth(s, i, &p, err))
			return -1;
	return 0;
}

static bool domain_valid(const char *s, size_t len)
{
	if (!len || len > 253 || !isalnum((unsigned char)*s))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '-' && s[i] != '.')
			return false;
	return true;
}

int vs_conf_net_value(const struct vs_conf_key *k, const char *s,
		      struct vs_err *err)
{
	uint32_t ip;
	size_t len;

	if (vs_ipv4_pool_count(s) > k->max)
		return vs_err_set(err, VS_E_CONFIG,
				  "%.80s: expected %ld at most", s, k->max);
	if (k->type == VS_CONF_POOLS)
		return pools_value(s, err);
	for (const char *at = s;; at += len + 1) {
		len = strcspn(at, ",");
		if (k->type == VS_CONF_IPS ? vs_ipv4_parse(at, len, &ip) :
		    !domain_valid(at, len))
			return vs_err_set(err, VS_E_CONFIG,
				"%.80s: expected %s%s", s,
				k->type == VS_CONF_IPS ? "an IPv4 address" :
				"a domain's name",
				k->max > 1 ? ", or several with commas" : "");
		if (!at[len])
			return 0;
	}
}

/* ---- lines together -------------------------------------------------------------- */

struct place {			/* where a pool stands */
	struct vs_ipv4_pool pool;
	int line;
	const char *key, *text;	/* the whole value */
};

struct places {
	struct place *all;
	size_t n, cap;
};

static void add(struct places *ps, const char *key, const char *text, int line)
{
	for (int i = 0; text && i < vs_ipv4_pool_count(text); i++) {
		struct place p = { .line = line, .key = key, .text = text };

		if (vs_ipv4_pool_nth(text, i, &p.pool, NULL))
			continue;
		VS_GROW(ps->all, ps->cap, ps->n + 1);
		ps->all[ps->n++] = p;
	}
}

static bool same_pool(const struct place *a, const struct place *b)
{
	return a->pool.first == b->pool.first &&
		a->pool.last == b->pool.last && a->pool.at == b->pool.at &&
		a->pool.prefix == b->pool.prefix;
}

static int clash(const struct vs_conf_file *f, const struct place *a,
		 const struct place *b, const char *how, const char *expected,
		 struct vs_err *err)
{
	VS_FREE char *at = vs_conf_line_name(f, b->line, a->line);

	return vs_conf_err(f, a->line, err, "%s=%s %s %s=%s (%s): %s", a->key,
			   a->text, how, b->key, b->text, at, expected);
}

/* The pools of one VM's NICs. */
static int apart(const struct vs_conf_file *f, const struct places *vm,
		 struct vs_err *err)
{
	for (size_t i = 0; i < vm->n; i++)
		for (size_t k = 0; k < i; k++) {
			const struct place *a = &vm->all[i], *b = &vm->all[k];

			if (vs_ipv4_pool_net_meets(&a->pool, &b->pool))
				return clash(f, a, b, "is in the subnet of",
					     "each NIC of a VM needs its own subnet",
					     err);
		}
	return 0;
}

/* All lines' pools: it is not known yet which VM has a number in one of
 * them. */
static int overlaps(const struct vs_conf_file *f, const struct places *ps,
		    struct vs_err *err)
{
	for (size_t i = 0; i < ps->n; i++)
		for (size_t k = 0; k < i; k++) {
			const struct place *a = &ps->all[i], *b = &ps->all[k];

			if (!same_pool(a, b) &&
			    vs_ipv4_pool_meets(&a->pool, &b->pool))
				return clash(f, a, b, "overlaps with",
					     "expected pools that share no address, or the same one",
					     err);
		}
	return 0;
}

/* Without a list of its own a NIC has no address: so for each or for none. */
static int one_for_each(const struct vs_conf_file *f, int line,
			const char *subnet, const struct vs_conf_adapter *a,
			struct vs_err *err)
{
	if (!subnet || vs_ipv4_pool_count(subnet) == a->per_node)
		return 0;
	return vs_conf_err(f, line, err,
		"AdapterAddresses=%s has %d, and AdapterName=%s gives a node NICsPerNode=%d NICs: expected one subnet for each, with commas",
		subnet, vs_ipv4_pool_count(subnet), a->name, a->per_node);
}

static int gateway_fits(const struct vs_conf_file *f,
			const struct vs_conf_record *r,
			const struct vs_conf_partition *p, struct vs_err *err)
{
	struct vs_ipv4_pool pool;
	uint32_t ip;

	if (!p->gateway || vs_ipv4_pool_nth(p->addresses, 0, &pool, NULL) ||
	    vs_ipv4_parse(p->gateway, strlen(p->gateway), &ip))
		return 0;
	if ((ip & ~(UINT32_MAX >> pool.prefix)) != pool.net)
		return vs_conf_err(f, vs_conf_key_line(r, "Gateway"), err,
			"Gateway=%s is not in the subnet of ManagementAddresses=%s",
			p->gateway, p->addresses);
	if (strchr(p->addresses, '-') && ip >= pool.first && ip <= pool.last)
		return vs_conf_err(f, vs_conf_key_line(r, "Gateway"), err,
			"Gateway=%s is one of ManagementAddresses=%s: expected a pool without it",
			p->gateway, p->addresses);
	return 0;
}

static int first_nic(const struct vs_conf_file *f,
		      const struct vs_conf_record *r,
		      const struct vs_conf_partition *p, struct vs_err *err)
{
	const char *key = p->gateway ? "Gateway" : p->dns ? "DNS" :
		p->dns_search ? "DNSSearch" : NULL;

	if (key && (!p->addresses || !strcmp(p->addresses, "dhcp")))
		return vs_conf_err(f, vs_conf_key_line(r, key), err,
			"%s= is allowed with a pool in ManagementAddresses=: with DHCP the server sends it",
			key);
	return p->addresses ? gateway_fits(f, r, p, err) : 0;
}

/* Where that adapter's AdapterAddresses= stands. */
static int subnet_line(const struct vs_conf *conf, const struct vs_conf_file *f,
		       const struct vs_conf_adapter *a)
{
	size_t n = (size_t)(a - conf->adapters);

	for (size_t i = 0; i < f->nrecords; i++)
		if (f->records[i].scope == VS_SCOPE_ADAPTER && !n--)
			return vs_conf_key_line(&f->records[i], "AdapterAddresses");
	return 0;
}

/* Whether or not a partition has such VMs. */
static int check_adapter(const struct vs_conf_file *f,
			 const struct vs_conf_record *r,
			 const struct vs_conf_adapter *a, struct places *ps,
			 struct vs_err *err)
{
	int line = vs_conf_key_line(r, "AdapterAddresses");
	struct places vm = { 0 };
	int rc;

	add(ps, "AdapterAddresses", a->subnet, line);
	add(&vm, "AdapterAddresses", a->subnet, line);
	rc = one_for_each(f, line, a->subnet, a, err) || apart(f, &vm, err);
	free(vm.all);
	return rc ? -1 : 0;
}

static int check_partition(const struct vs_conf *conf,
			   const struct vs_conf_file *f,
			   const struct vs_conf_record *r,
			   const struct vs_conf_partition *p, struct places *ps,
			   struct vs_err *err)
{
	const struct vs_conf_adapter *a =
		vs_conf_adapter_named(conf, p->adapter);
	int line = vs_conf_key_line(r, "AdapterAddresses"),
	    first = vs_conf_key_line(r, "ManagementAddresses");
	struct places vm = { 0 };
	int rc;

	add(ps, "AdapterAddresses", p->subnet, line);
	add(ps, "ManagementAddresses", p->addresses, first);
	if (p->subnet)
		add(&vm, "AdapterAddresses", p->subnet, line);
	else if (a)
		add(&vm, "AdapterAddresses", a->subnet, subnet_line(conf, f, a));
	add(&vm, "ManagementAddresses", p->addresses, first);
	rc = (a && one_for_each(f, line, p->subnet, a, err)) ||
		first_nic(f, r, p, err) || apart(f, &vm, err);
	free(vm.all);
	return rc ? -1 : 0;
}

int vs_conf_net_check(const struct vs_conf *conf, const struct vs_conf_file *f,
		      struct vs_err *err)
{
	struct places ps = { 0 };
	size_t na = 0, np = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < f->nrecords; i++) {
		const struct vs_conf_record *r = &f->records[i];

		if (r->scope == VS_SCOPE_ADAPTER)
			rc = check_adapter(f, r, &conf->adapters[na++], &ps,
					   err);
		else if (r->scope == VS_SCOPE_PARTITION)
			rc = check_partition(conf, f, r,
					     &conf->partitions[np++], &ps, err);
	}
	rc = rc ? rc : overlaps(f, &ps, err);
	free(ps.all);
	return rc;
}

/* ---- a node's own ------------------------------------------------------------------ */

static int list_make(const char *pools, const char *node, char **out,
		     struct vs_err *err)
{
	char list[VS_IPV4_POOLS_LEN] = "", one[VS_IPV4_LEN];
	struct vs_ipv4_pool p;

	for (int i = 0; i < vs_ipv4_pool_count(pools); i++) {
		size_t len = strlen(list);

		if (vs_ipv4_pool_nth(pools, i, &p, err) ||
		    vs_ipv4_pool_address(&p, node, one, err))
			return -1;
		snprintf(list + len, sizeof(list) - len, "%s%s",
			 len ? "," : "", one);
	}
	*out = vs_strdup(list);
	return 0;
}

int vs_conf_net_node(const struct vs_conf *conf,
		     const struct vs_conf_partition *p, struct vs_conf_node *n,
		     struct vs_err *err)
{
	const struct vs_conf_adapter *a =
		vs_conf_adapter_named(conf, p->adapter);
	const char *subnet = p->subnet ? p->subnet : a ? a->subnet : NULL;

	if (subnet && list_make(subnet, n->name, &n->address, err))
		return vs_err_prefix(err, "AdapterAddresses=%s", subnet);
	if (p->addresses && strcmp(p->addresses, "dhcp") &&
	    list_make(p->addresses, n->name, &n->first_address, err))
		return vs_err_prefix(err, "ManagementAddresses=%s", p->addresses);
	if (p->gateway && n->first_address &&
	    strlen(p->gateway) == strcspn(n->first_address, "/") &&
	    !strncmp(p->gateway, n->first_address, strlen(p->gateway)))
		return vs_err_set(err, VS_E_CONFIG,
			"node %s: its address %s is the Gateway=: expected another number in its name, or a pool without the gateway",
			n->name, n->first_address);
	return 0;
}
