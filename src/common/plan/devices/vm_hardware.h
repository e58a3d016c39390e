/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a partition's line says of its VMs' hardware beside NICs, CPUs and
 * memory: reservations, shares, sockets, firmware, NUMA nodes. Part of a
 * profile. All zero: nothing is said. Pure functions, without errors.
 */
#ifndef VS_PLAN_VM_HARDWARE_H
#define VS_PLAN_VM_HARDWARE_H

#include <stdbool.h>
#include <stdint.h>
#include "plan/devices/adapter_type.h"

#define VS_RESERVE_FULL (-1)		/* of amounts */
enum { VS_SHARES_NORMAL = 0, VS_SHARES_LOW = -1, VS_SHARES_HIGH = -2 };
enum vs_hw_word { VS_HW_TEMPLATE, VS_HW_YES, VS_HW_NO };

struct vs_hardware {
	/* reserved, MHz and MB: 0, an amount or VS_RESERVE_FULL */
	int64_t cpu_mhz, mem_mb;
	int cpu_shares, mem_shares;	/* a number, or VS_SHARES_... */
	int cores_per_socket;		/* 0: as the template has it */
	enum vs_hw_word secure_boot;
	bool numa_pf;			/* on the NUMA node of its PF */
};

bool vs_hardware_same(const struct vs_hardware *a, const struct vs_hardware *b);
/* Into the hash of a profile; what says nothing leaves it as it was. */
uint64_t vs_hardware_hash(const struct vs_hardware *hw, uint64_t hash);

#define VS_NUMA_LEN 32			/* "0,1" */

#endif
