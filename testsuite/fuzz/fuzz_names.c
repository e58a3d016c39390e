/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names that come from files, from vCenter or from users: PCI addresses,
 * uuids, node names, the owner mark, pools of addresses.
 *
 * What must hold: nothing crashes; what is accepted is what it is written back
 * as; no name that is accepted could change a path's or a request's meaning.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "util/name.h"
#include "util/ipv4.h"

static void must(bool good)
{
	if (!good)
		abort();
}

static void pci(const char *s)
{
	char out[VS_PCI_LEN], again[VS_PCI_LEN];
	struct vs_err err = { 0 };

	if (vs_pci_parse(s, out, &err)) {
		must(err.code != VS_OK && err.text[0]);
		return;
	}
	must(strlen(out) == VS_PCI_LEN - 1 && !vs_pci_parse(out, again, NULL) &&
	     !strcmp(out, again));
}

static void mark(const char *s)
{
	VS_FREE char *text = NULL;
	struct vs_owner_tag m;

	if (vs_owner_tag_parse(s, &m))
		return;
	must(vs_uuid_valid(m.uuid) && vs_node_name_valid(m.node) &&
	     m.cluster[0]);
	text = vs_owner_tag_format(&m);
	must(!strcmp(text, s));
}

static void node(const char *s)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyz"
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	if (vs_node_name_valid(s))
		must(strspn(s, good) == strlen(s) && s[0] && s[0] != '-' &&
		     s[0] != '.' && strlen(s) < 64);
}

/* An address is of its pool, and two nodes with other numbers have other ones. */
static void pools(const char *s, const char *name)
{
	char out[VS_IPV4_LEN] = "";
	struct vs_err err = { 0 };
	struct vs_ipv4_pool p;
	uint32_t ip;

	for (int i = 0; i < vs_ipv4_pool_count(s); i++) {
		if (vs_ipv4_pool_nth(s, i, &p, &err)) {
			must(err.code != VS_OK && err.text[0]);
			return;
		}
		if (p.dhcp)
			continue;
		must(p.net < p.first && p.first <= p.last &&
		     vs_ipv4_pool_meets(&p, &p) && vs_ipv4_pool_net_meets(&p, &p));
		if (vs_ipv4_pool_address(&p, name, out, &err))
			continue;
		must(!vs_ipv4_parse(out, strcspn(out, "/"), &ip) &&
		     ip >= p.first && ip <= p.last);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	VS_FREE char *text = vs_calloc(size + 2, 1);
	char *second;
	char mac[VS_MAC_LEN];

	memcpy(text, data, size);
	second = text + strlen(text) + 1;	/* two strings, maybe empty */
	pci(text);
	mark(text);
	node(text);
	must(!vs_uuid_valid(text) || strlen(text) == VS_UUID_LEN - 1);
	pools(text, second);
	vs_mac_make(text, second, 1, 0, mac);
	must(!strncmp(mac, "00:50:56:", 9) && mac[9] < '4');
	return 0;
}

#define FUZZ_CORPUS "names"
#include "fuzz_main.h"
