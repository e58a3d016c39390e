/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Free capacity, kept up to date: the sums of the ledger for each host, and of
 * shared_capacity.h for what hosts share. Slurm's scheduler asks for them many
 * times a second with its locks held, so that bringing them up to date costs
 * what has changed and not what there is.
 *
 * Owns struct vs_free_capacity and all that it points to. After
 * vs_free_capacity_update() each sum is what vs_ledger_sum() and
 * vs_shared_capacity_left() would return. The sums stay so until the inventory
 * or the ledger changes; the caller calls vs_free_capacity_update() again
 * before the next question. No function fails, and none takes a lock: the
 * caller keeps the inventory and the ledger from changing during the call.
 */
#ifndef VS_PLAN_FREE_CAPACITY_H
#define VS_PLAN_FREE_CAPACITY_H

#include "plan/allocation/shared_capacity.h"

/* What placement keeps of a kind of VM, see host_filter_static.c. */
struct vs_fits {
	uint64_t key, seen;
	struct vs_fit *by_host;		/* by host->index */
};

/* What placement asks of each host, side by side: the hosts themselves are
 * large and lie far apart. */
struct vs_brief {
	int index;			/* the host's */
	int pool;			/* of its cluster, -1: none known */
	int npfs, cores, core_mhz;
	uint32_t shared;		/* rows of vGPUs */
	int64_t memory_mb;
	int nstores;
	short *stores;			/* of several, indexes of pools */
};

struct vs_free_capacity {
	struct vs_host_sum *hosts;	/* by host->index */
	struct vs_pool_capacity *pools;	/* left, as vs_shared_capacity_left() */
	int64_t store_mb;
	int strangers;			/* VMs of another cluster in the folder */
	int beside;			/* VFs that another cluster's VMs have */
	const struct vs_host **by_name;	/* nhosts of them */
	struct vs_brief *briefs;	/* as by_name */
	short *stores;			/* all briefs' */
	size_t *name_at;		/* places in by_name, by host->index */
	size_t *by_mhz;			/* places in by_name, slow cores first */
	uint64_t generation;		/* moves when one of these does, or what
					 * a host is and has; never 0 */

	struct vs_fits *fits;		/* placement's */
	size_t nfits;
	void *spare_sites, *spare_ranks;	/* its arrays, between two */

	/* its own */
	struct vs_taken *taken;		/* by host->index; the last one: what
					 * has no host */
	struct vs_pool_capacity *room;		/* all of taken's pools */
	struct vs_taken all;
	size_t nhosts, npools;
	const struct vs_host_claims **lost; /* of hosts that are not there */
	size_t nlost, cap_lost;
	int *crossing;			/* hosts with a hold whose VM is not on
					 * them: they change with it */
	size_t ncrossing, cap_crossing;
	int stray_strangers;
	uint64_t *turn_of, turn;	/* a host is summed once per turn */
	uint64_t *stamp;		/* the last turn in which a host, its sum
					 * or a hold on it had changed */
	uint64_t built;			/* the turn in which hosts were others */
	char folder[VS_MOID_LEN], cluster_id[VS_UUID_LEN];
	uint64_t inv, ledger, hosts_changed, pools_changed, cleared;
};

void vs_free_capacity_clear(struct vs_free_capacity *s);
void vs_free_capacity_forget_fits(struct vs_free_capacity *s);
/* Bring them up to date; O(hosts' changes since the last time), or O(hosts +
 * VMs + holds) where hosts or pools came or went. */
void vs_free_capacity_update(struct vs_free_capacity *s,
			     const struct vs_ledger *l,
			     const struct vs_inventory *inv, const char *folder,
			     const char *cluster_id);

/*
 * What would be free if some VMs and holds were gone, for a few questions: `s`,
 * which is up to date, is changed in place, and is itself again at the end.
 * Nothing else may be asked of it or change meanwhile.
 */
struct vs_as_if {
	struct vs_free_capacity *s;
	const struct vs_ledger *l;
	const struct vs_inventory *inv;
	struct vs_gone *gone;		/* by node */
	struct vs_host_sum *was;	/* of the hosts that were touched */
	int *touched;			/* their indexes */
	bool *is_touched;		/* by host->index */
	size_t n, cap_was, cap_touched;
	struct vs_pool_capacity *pools;
	int64_t store_mb;
};
void vs_as_if_begin(struct vs_as_if *a, struct vs_free_capacity *s,
		    const struct vs_ledger *l, const struct vs_inventory *inv);
/* The node's VM and hold are gone, or back (gone false). *node is the caller's, has
 * node and vm, and stays until vs_as_if_end(). The hosts of both are as before until
 * vs_as_if_host(). */
void vs_as_if_gone(struct vs_as_if *a, struct vs_gone *node, bool gone);
/* Others are gone from this host now than at its last sum; O(what is on it). */
void vs_as_if_host(struct vs_as_if *a, int index);
/* Of a pool (-1: none) and the datastore: the VM gives its share (sign 1), or
 * takes it again (-1). */
void vs_as_if_shared(struct vs_as_if *a, const struct vs_vm *vm, int pool,
		     int sign);
void vs_as_if_end(struct vs_as_if *a);

#endif
