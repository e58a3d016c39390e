/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of PCI addresses, each on all hosts or on those named before it. See
 * address.h.
 *
 * Rules: an address is compared as a number would be, 0000:3B:00.0 is
 * 0000:3b:00.0; a host is named as vCenter names it, and never guessed at.
 */
#include <string.h>
#include "plan/address.h"
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
			"\"%.80s\" is no list: expected addresses as 0000:3b:00.0, or HOSTS/0000:3b:00.0, with commas",
			list);
	for (size_t i = 0; all[i] && !rc; i++)
		rc = check_one(all[i], err);
	vs_hostlist_free(all);
	return rc;
}

bool vs_address_has(const char *list, const char *host, const char *pci)
{
	char **all = list[0] ? vs_hostlist_expand(list) : NULL;
	char at[VS_PCI_LEN];
	bool has = !list[0];

	for (size_t i = 0; all && all[i] && !has; i++) {
		const char *on, *address = split(all[i], &on);

		has = (!on || !strcmp(on, host)) &&
		      !vs_pci_parse(address, at, NULL) && !strcmp(at, pci);
	}
	vs_hostlist_free(all);
	return has;
}
