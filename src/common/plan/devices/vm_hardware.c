/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hardware part of a profile: compared, and hashed.
 *
 * Rules: a hash is text, and the same everywhere.
 */
#include <stdio.h>
#include <string.h>
#include "plan/devices/vm_hardware.h"
#include "util/hash.h"

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
