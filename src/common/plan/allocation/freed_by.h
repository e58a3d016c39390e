/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a host would have for VMs like one that waits, if others of its VMs
 * ended: VFs, devices, and of vGPUs of another profile the GPUs that they keep.
 * CPU and memory are not in it.
 *
 * struct vs_freed is a value of the caller, without memory of its own. It points
 * to the host and the adapter, which must outlive it. Pure functions, without
 * errors or locks.
 */
#ifndef VS_PLAN_FREED_BY_H
#define VS_PLAN_FREED_BY_H

#include "plan/inventory/pf_match.h"
#include "plan/allocation/free_capacity.h"

struct vs_freed {
	const struct vs_host *host;
	const struct vs_adapter *adapter;	/* of those that wait */
	uint32_t own, beside;			/* rows that serve them (ExtraDevice=) */
	int free[VS_HOST_PFS];			/* below 0: over-committed, or
						 * GPUs that others keep twice */
};

/* sum: the host's. */
void vs_freed_start(struct vs_freed *f, const struct vs_host *host,
		    const struct vs_host_sum *sum, const struct vs_adapter *a,
		    const struct vs_network *net);
/* For how many such VMs there is all that one takes. */
int vs_freed_capacity(const struct vs_freed *f);
/* The hold's VM ends. Returns false and changes nothing if more than `most` VMs
 * (INT_MAX: no limit) gain nothing by this, because they need other
 * resources. */
bool vs_freed_add(struct vs_freed *f, const struct vs_claim *h, int most);
/* Does each that is of use make room for just one more, wherever it is? Else
 * several may have to go together, or one makes room for several. */
bool vs_freed_singly(const struct vs_adapter *a);

#endif
