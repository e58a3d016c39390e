/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hardware part of a profile: compared, hashed, and what of it depends on
 * the host that a VM is placed on.
 *
 * Rules: a hash is text, and the same everywhere; NUMA nodes are named only
 * where all of them are known.
 */
#include <stdio.h>
#include <string.h>
#include "plan/hardware.h"
#include "plan/inventory.h"

bool vs_hardware_same(const struct vs_hardware *a, const struct vs_hardware *b)
{
	return a->cpu_mhz == b->cpu_mhz && a->mem_mb == b->mem_mb &&
	       a->cpu_shares == b->cpu_shares &&
	       a->mem_shares == b->mem_shares &&
	       a->cores_per_socket == b->cores_per_socket &&
	       a->secure_boot == b->secure_boot && a->numa_pf == b->numa_pf;
}

uint64_t vs_hardware_hash(const struct vs_hardware *hw, uint64_t hash)
{
	static const struct vs_hardware nothing;
	char text[128];

	if (vs_hardware_same(hw, &nothing))
		return hash;
	snprintf(text, sizeof(text), "hardware %lld %lld %d %d %d %d %d",
		 (long long)hw->cpu_mhz, (long long)hw->mem_mb, hw->cpu_shares,
		 hw->mem_shares, hw->cores_per_socket, (int)hw->secure_boot,
		 (int)hw->numa_pf);
	return vs_hash_str(hash, text);
}

static int node_of(const struct vs_host *h, const char *pci)
{
	for (int i = 0; i < h->npfs; i++)
		if (!strcmp(h->pfs[i].pci, pci))
			return h->pfs[i].numa;
	return -1;
}

const char *vs_numa_nodes(const struct vs_host *h, const char *const *pcis,
			  int n, char out[VS_NUMA_LEN])
{
	uint64_t nodes = 0;
	size_t len = 0;

	out[0] = '\0';
	for (int i = 0; i < n; i++) {
		int node = h->numa_nodes > 1 ? node_of(h, pcis[i]) : -1;

		if (node < 0 || node > 63)
			return out;
		nodes |= 1ull << node;
	}
	for (int k = 0; k < 64 && len + 4 < VS_NUMA_LEN; k++)
		if (nodes & 1ull << k)
			len += (size_t)snprintf(out + len, VS_NUMA_LEN - len,
						len ? ",%d" : "%d", k);
	return out;
}
