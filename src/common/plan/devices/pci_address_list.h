/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address= of an adapter of fixed devices: which of those of its ids are handed
 * out. "0000:3b:00.0,esx[03-04]/0000:af:00.0" is the first on every host, and
 * the second on two hosts besides. "" is all of them, wherever they are.
 *
 * Owns struct vs_addresses, which never changes once it is made. No function
 * takes a lock.
 */
#ifndef VS_PLAN_PCI_ADDRESS_LIST_H
#define VS_PLAN_PCI_ADDRESS_LIST_H

#include <stdbool.h>
#include "util/err.h"

#define VS_ADDRESS_LEN 512

/* -1 with what is wrong with the list, VS_E_CONFIG; longer than
 * VS_ADDRESS_LEN - 1 is wrong too. */
int vs_address_check(const char *list, struct vs_err *err);
/* The list made ready for many questions; NULL for "". A list that is wrong has
 * none. vs_addresses_free() it. */
struct vs_addresses;
struct vs_addresses *vs_addresses_new(const char *list);
void vs_addresses_free(struct vs_addresses *a);
/* Is the device at this address (as vs_pci_parse() writes it) of this host, by
 * vCenter's name of it, one of them? Of NULL each is. */
bool vs_addresses_has(const struct vs_addresses *a, const char *host,
		      const char *pci);

#endif
