/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Placement: a host and a PF for each VM of a gang, or the reasons why not.
 * Deterministic: the same input gives the same answer. A gang whole or not
 * at all. Never touches the ledger: the caller takes the holds.
 *
 * Owns struct vs_later; all else is the caller's. Of what env points to, the
 * sums alone are written: placement keeps arrays in them from one question to
 * the next. vs_place()
 * returns -1 and VS_E_SHORTAGE where not all nodes have a place; no other
 * function fails. No function takes a lock: the caller keeps others from what
 * env points to during the call, or places on a copy (snapshot.h).
 */
#ifndef VS_PLAN_PLACEMENT_H
#define VS_PLAN_PLACEMENT_H

#include "plan/allocation/ledger.h"
#include "plan/inventory/pf_match.h"
#include "plan/allocation/free_capacity.h"

enum vs_policy { VS_PLACE_BALANCE, VS_PLACE_PACK, VS_PLACE_SPREAD };

struct vs_place_node {		/* one VM to place */
	const char *node;
	const struct vs_profile *profile;
	const struct vs_network *net;
	const char *prefer_host;	/* moId where its VM lies; NULL: none */
	bool wished;			/* it is where an operator wants it: goes
					 * before the policy */
	bool exists;			/* its VM does: no disks are made */
	const char *store;		/* of several datastores, the one that
					 * it lies on (moId); NULL: not known */
	/* out, valid on success */
	const struct vs_host *host;
	const struct vs_pf *pfs[VS_NICS_MAX]; /* one for each NIC, in the
					 * order of their addresses */
	int npfs;			/* 0: takes none */
	bool pf_automatic;		/* one PF of that switch on the host,
					 * and the adapter names none */
	const char *to_store;		/* of several, NULL: any */
	bool moves;			/* its disks must go there */
};

#define VS_PLACE_HOSTS_TOLD 6	/* hosts named in a refusal's text */

/* What is left out of a host. */
struct vs_host_block {
	bool avoided;			/* all of it */
	bool trial;			/* at most `most` of these there */
	uint32_t pfs;			/* these, by their place in vs_host.pfs */
	size_t most;
};

/* An adapter whose VMs take several VFs: under pack, hosts that could hold one
 * more such VM are kept for it, and taken by VMs of fewer VFs last of all. */
struct vs_rail_group {
	const struct vs_adapter *adapter;
	const struct vs_network *net;
};

struct vs_place_env {
	const struct vs_inventory *inv;
	const struct vs_ledger *ledger;
	struct vs_free_capacity *sums;	/* of these two and up to date; NULL:
					 * they are made for the call */
	const char *folder, *cluster_id;
	enum vs_policy policy;
	const struct vs_rail_group *rails;
	size_t nrails;
	const char *store;		/* datastore's moId, NULL: don't care,
					 * nor for the room on it, unless the
					 * inventory has several */
	const char **clusters;		/* moIds allowed, NULL-terminated;
					 * NULL: don't care */
	/* hosts and PFs to leave out (failed lately, drained by an operator);
	 * NULL: none. why is for the refusal's text, and all that is asked
	 * for where there are bars, of VS_PLACE_HOSTS_TOLD hosts at most. */
	bool (*avoid)(void *arg, const struct vs_host *h, const struct vs_pf *pf,
		      char *why, size_t size);
	void *arg;
	bool has_pool;			/* the VM is on: its share of the pool
					 * and of the datastore is taken */
	const struct vs_host_block *bars; /* by host->index: the same without
					 * asking for each; NULL: ask */
	const int *ops;			/* under way, by host->index; NULL:
					 * don't care */
	int ops_max;			/* a host with so many takes no more */
	/* On which hosts no clone source of such instant clones is counted yet:
	 * the first clone there takes as much for it. A row for each of
	 * profiles, by host->index; NULL: don't care. */
	const bool *bare;
	const struct vs_profile *profiles;
};

enum vs_refusal { VS_REFUSE_NONE, VS_REFUSE_CONNECTION, VS_REFUSE_STANDBY,
		  VS_REFUSE_MAINTENANCE, VS_REFUSE_QUARANTINE,
		  VS_REFUSE_CLUSTER, VS_REFUSE_NETWORK, VS_REFUSE_STORE,
		  VS_REFUSE_NO_PF, VS_REFUSE_NO_DEVICE,
		  VS_REFUSE_RAILS, VS_REFUSE_NUMA, VS_REFUSE_VF, VS_REFUSE_DEVICE,
		  VS_REFUSE_VFS, VS_REFUSE_UNKNOWN,
		  VS_REFUSE_CPU, VS_REFUSE_MEMORY, VS_REFUSE_POOL_CPU,
		  VS_REFUSE_POOL_MEMORY, VS_REFUSE_STORE_CAPACITY, VS_REFUSE_HW,
		  VS_REFUSE_EXCLUDED, VS_REFUSE_TRIAL, VS_REFUSE_BUSY,
		  VS_REFUSALS };
const char *vs_refusal_text(enum vs_refusal r);	/* "no free VF", ... */

/*
 * The policies. balance: the host whose load (the greatest of its shares of
 * VFs, CPU and memory) is least after placing, and at the end as even a load as
 * a few moves can make; a VM that lies on a host stays there unless that is
 * full. pack: fewest hosts, then fewest leaf switches; hosts kept whole (see rails) last.
 * spread: one VM of the gang per host while possible. Ties go to the host
 * where the VM lies, then by load, then by host name. Under each policy, a VM
 * with a preferred host goes there if it fits and all other VMs still fit.
 *
 * Place all n nodes. 0, or -1 with err VS_E_SHORTAGE and a text such as
 * "needs 4 sriov-roce VFs, 3 free (esx01: no free VF; ...)"; pools and the
 * datastore are named where they are what lacks.
 */
int vs_place(const struct vs_place_env *env, struct vs_place_node *nodes,
	     size_t n, struct vs_err *err);
/* Returns true if all n nodes could be placed. Costs less than vs_place(),
 * because neither places nor reasons are returned. */
bool vs_place_could(const struct vs_place_env *env, struct vs_place_node *nodes,
		    size_t n);

/* The hosts on which one more VM like `like` could be powered on now, by name;
 * out has room for all there are. How many they are. */
size_t vs_place_hosts(const struct vs_place_env *env,
		      const struct vs_place_node *like,
		      const struct vs_host **out);

/* Returns how many more VMs like `like` could be powered on now, at most
 * `limit`. Where a pool or the datastore allows no more, `why` says so
 * ("datastore vsan has 900 MB free, ..."). Where none can be powered on, `why`
 * says what hosts lack of CPU or memory. Else `why` is "". */
size_t vs_place_count(const struct vs_place_env *env,
		      const struct vs_place_node *like, size_t limit,
		      char *why, size_t size);
/* What comes of it when VMs go from a host, one after the other: how many more
 * like `like` there is room for there with each (what hosts share is left out
 * of it). env has sums; it and the inventory stay as they are until the end.
 * key: another one means that all answers may be others. */
struct vs_later;
struct vs_later *vs_later_begin(const struct vs_place_env *env,
				const struct vs_place_node *like,
				uint64_t *key);
void vs_later_on(struct vs_later *l, const struct vs_host *h);
size_t vs_later_gone(struct vs_later *l, const struct vs_claim *hold);
void vs_later_end(struct vs_later *l);
/* The same if every host were up and empty of all VMs, foreign ones too, with
 * all its links: static capacity, for "could this ever run". A host of which
 * something isn't known yet counts as boundless: unknown is no "never". Nor is
 * what lacks in a pool or on a datastore, which change without a word. */
size_t vs_place_capacity(const struct vs_place_env *env,
			 const struct vs_place_node *like, size_t limit);

#endif
