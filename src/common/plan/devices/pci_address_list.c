/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of PCI addresses, each on all hosts or on those named before it. See
 * pci_address_list.h.
 *
 * Rules: an address is compared as a number would be, 0000:3B:00.0 is
 * 0000:3b:00.0; a host is named as vCenter names it, and never guessed at.
 */
#include <stdlib.h>
#include <string.h>
#include "plan/devices/pci_address_list.h"
#include "util/hostlist.h"
#include "util/mem.h"
#include "util/name.h"

/* "host/address" or "address", in place: the address, *host NULL for all. */
static char *split(char *one, const char **host)
{
	char *slash = strchr(one, '/');

	*host = NULL;
	if (!slash)
		return one;
	*slash = '\0';
	*host = one;
	return slash + 1;
}

static int check_one(char *one, struct vs_err *err)
{
	char pci[VS_PCI_LEN];
	const char *host, *address = split(one, &host);

	if (host && !host[0])
		return vs_err_set(err, VS_E_CONFIG,
			"\"/%.40s\" names no host before the slash", address);
	return vs_pci_parse(address, pci, err);
}

int vs_address_check(const char *list, struct vs_err *err)
{
	char **all;
	int rc = 0;

	if (strlen(list) >= VS_ADDRESS_LEN)
		return vs_err_set(err, VS_E_CONFIG,
			"longer than %d characters: write hosts as esx[01-16]",
			VS_ADDRESS_LEN - 1);
	all = vs_hostlist_expand(list);
	if (!all)
		return vs_err_set(err, VS_E_CONFIG,
			"\"%.80s\" is not a list: expected addresses as 0000:3b:00.0, or HOSTS/0000:3b:00.0, with commas",
			list);
	for (size_t i = 0; all[i] && !rc; i++)
		rc = check_one(all[i], err);
	vs_hostlist_free(all);
	return rc;
}

/* ---- made ready ---------------------------------------------------------------- */

struct one { const char *host; char pci[VS_PCI_LEN]; };
struct vs_addresses {
	size_t n;
	char **all;			/* the memory behind the hosts' names */
	struct one of[];		/* by host, "" is each; by address */
};

static int by_host(const void *a, const void *b)
{
	const struct one *x = a, *y = b;
	int order = strcmp(x->host, y->host);

	return order ? order : strcmp(x->pci, y->pci);
}

struct vs_addresses *vs_addresses_new(const char *list)
{
	struct vs_addresses *a;
	char **all;
	size_t n = 0;

	if (!list || !list[0])
		return NULL;
	all = vs_hostlist_expand(list);
	while (all && all[n])
		n++;
	a = vs_calloc(1, sizeof(*a) + n * sizeof(a->of[0]));
	a->all = all;
	for (size_t i = 0; i < n; i++) {
		struct one *to = &a->of[a->n];
		const char *address = split(all[i], &to->host);

		if (!to->host)
			to->host = "";
		a->n += !vs_pci_parse(address, to->pci, NULL);
	}
	qsort(a->of, a->n, sizeof(a->of[0]), by_host);
	return a;
}

void vs_addresses_free(struct vs_addresses *a)
{
	if (a)
		vs_hostlist_free(a->all);
	free(a);
}

static bool has(const struct vs_addresses *a, const char *host,
		const char *pci)
{
	struct one key = { .host = host };

	vs_strlcpy(key.pci, pci, sizeof(key.pci));
	return bsearch(&key, a->of, a->n, sizeof(a->of[0]), by_host) != NULL;
}

bool vs_addresses_has(const struct vs_addresses *a, const char *host,
		      const char *pci)
{
	return !a || has(a, "", pci) || has(a, host, pci);
}
