/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Room in the resource pools and on the datastore. vCenter doesn't stream it:
 * it is read now and then, and between two readings the managed VMs and the
 * holds say what has changed.
 *
 *   left = as read last - what our VMs take now that they didn't take then
 *                       + what they took then and don't take now
 *                       - holds that no VM stands for yet
 *
 * A value that was never read is unknown, and unknown is neither full nor gone:
 * it bounds nothing here, and vCenter judges at power-on. What others do shows
 * with the next reading.
 *
 * Writes the pools and the datastore of struct vs_inventory, and told and
 * telling of its VMs. The engine alone writes beside it: it takes the memory of a
 * datastore that vCenter calls full (engine/inventory/datastores.c). No function fails, and none
 * takes a lock: the caller keeps others from the inventory during the call.
 */
#ifndef VS_PLAN_SHARED_CAPACITY_H
#define VS_PLAN_SHARED_CAPACITY_H

#include "plan/allocation/ledger.h"

#define VS_CAPACITY_UNKNOWN INT64_MAX

struct vs_pool_capacity { int64_t cpu_mhz, mem_mb; };	/* of a pool */

/* What is shown now will be in the values that are read from here on. */
void vs_shared_capacity_begin(struct vs_inventory *inv);
/* A value that was read; -1: unknown. One pool per cluster. */
void vs_shared_capacity_set_pool(struct vs_inventory *inv, const char *cluster,
				 const char *name, int64_t cpu_mhz,
				 int64_t mem_mb);
/* Which pool it is: VMs that lie in another one are no part of it. */
void vs_shared_capacity_set_pool_moid(struct vs_inventory *inv,
				      const char *cluster, const char *moid);
/* Of several datastores: VMs take room of the one that they lie on. */
void vs_shared_capacity_set_stores(struct vs_inventory *inv, const char *store,
				   const char *name, int64_t free_mb);
/* Those that this host may use and sees, as indexes of pools; how many. */
int vs_shared_capacity_stores(const struct vs_inventory *inv,
			      const struct vs_host *h, short *out, int max);
void vs_shared_capacity_set_store(struct vs_inventory *inv, const char *name,
				  int64_t free_mb);
/* All values of that reading are set. */
void vs_shared_capacity_end(struct vs_inventory *inv);
/* Nothing is known any more. */
void vs_shared_capacity_forget(struct vs_inventory *inv);

/* The pool that VMs on this cluster's hosts draw from, -1 if none is known. */
int vs_shared_capacity_pool(const struct vs_inventory *inv,
			    const char *cluster);

/* What VMs and holds have taken since the last reading, may be negative. */
struct vs_taken {
	struct vs_pool_capacity *pools;		/* inv->npools of them */
	int64_t store_mb;
};
void vs_shared_capacity_take_vm(const struct vs_inventory *inv,
				const struct vs_vm *vm, const char *folder,
				const char *cluster_id, struct vs_taken *t);
void vs_shared_capacity_take_claim(const struct vs_inventory *inv,
				   const struct vs_claim *hold,
				   struct vs_taken *t);
/* What is left of each pool and of the datastore (MB), VS_CAPACITY_UNKNOWN
 * where that isn't known; may be negative. */
void vs_shared_capacity_left(const struct vs_inventory *inv,
			     const struct vs_taken *t,
			     struct vs_pool_capacity *pools, int64_t *store_mb);

/* Readable, and powered on on a host that we know. */
bool vs_vm_shown_on(const struct vs_vm *vm);
/* What it takes by what is shown of it; pool is set too. */
void vs_vm_share(const struct vs_vm *vm, struct vs_share *out);

#endif
