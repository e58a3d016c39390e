/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ledger: who holds a VF (and CPU, memory). The sum that keeps a VF from
 * being given twice is done here and nowhere else: per (host, PF), shared by all adapters on it,
 *
 *   free = vfs - NICs of powered-on VMs - holds (promised or requested)
 *
 * A hold belongs to a node (by name). promised: our decision, no call in
 * flight. requested: power-on sent. seen: vCenter shows the NIC in use; then
 * the NIC counts and the hold no more. promised ends by our decision;
 * requested and seen end when vCenter shows the VM off or gone *and* no
 * power-on task of it is queued or running (the engine's word).
 *
 * A hold counts as long as no NIC stands for it. A requested or seen one
 * whose VM is shown on, wherever, is represented by that VM's NIC; a seen
 * one whose VM isn't shown on (an update is missing) still counts. A promised
 * one counts at its place unless its VM is on at that very place.
 * A NIC or hold whose PF can't be told counts against each PF it may be on.
 *
 * Owns struct vs_ledger and its holds. A pointer to a hold is good until
 * vs_ledger_release() of its node or vs_ledger_clear(). At most one hold for a
 * node. vs_ledger_take(), vs_ledger_set_state() and vs_ledger_release() return 0,
 * or -1 and change nothing. No function takes a lock: the caller keeps others
 * from the ledger and from the inventory during the call.
 */
#ifndef VS_PLAN_LEDGER_H
#define VS_PLAN_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include "plan/inventory/inventory.h"
#include "plan/inventory/vm_profile.h"

enum vs_claim_state { VS_CLAIM_RESERVED, VS_CLAIM_STARTING, VS_CLAIM_IN_USE };

/* One of the VFs that a VM takes. */
struct vs_claim_vf {
	char pf[VS_PCI_LEN];
	bool automatic;			/* PF is ESXi's choice; pf is our guess */
};

struct vs_claim {
	char node[VS_NAME_LEN];
	int id;				/* the engine's, of that node; -1: it is
					 * none of its nodes */
	char host[VS_MOID_LEN];
	struct vs_claim_vf vfs[VS_NICS_MAX];	/* in the order of its PFs */
	int nvfs;			/* 0: takes no VF */
	enum vs_claim_state state;
	char vm[VS_MOID_LEN];		/* "" until the VM exists */
	char store[VS_MOID_LEN];	/* of several, "": not told */
	bool moves;			/* the VM's disks go there from another */
	bool parent;			/* of a parent that is made: no node's */
	int64_t cpu_mhz, mem_mb;	/* reserved, overhead included */
	int64_t disk_mb, swap_mb;	/* of the datastore: a clone's disks,
					 * a powered-on VM's swap file */
	int vcpus;			/* what the VM is given, reserved or */
	int64_t memory_mb;		/* not, for balance; 0: not told */
	uint32_t job;			/* 0: no job (administrator, prefetch) */
	UT_hash_handle hh;
	LIST_ENTRY(vs_claim) on_host;	/* kept by the ledger */
};

struct vs_host_claims {			/* of a host, known or not */
	char host[VS_MOID_LEN];
	LIST_HEAD(, vs_claim) list;
	uint64_t changed;		/* generation of the last change */
	TAILQ_ENTRY(vs_host_claims) by_change;
	UT_hash_handle hh;
};

struct vs_ledger {
	struct vs_claim *holds;		/* uthash by node */
	struct vs_host_claims *hosts;	/* uthash by moid; some are empty */
	TAILQ_HEAD(vs_host_claims_changed, vs_host_claims) by_change; /* latest last */
	uint64_t generation;		/* moves with every change */
	uint64_t cleared;		/* of the last clear */
};

void vs_ledger_clear(struct vs_ledger *l);

/* A promised hold for hold->node. -1 VS_E_EXISTS if the node has one,
 * VS_E_BUG if it names no node or no host. */
int vs_ledger_take(struct vs_ledger *l, const struct vs_claim *hold,
		   struct vs_err *err);
struct vs_claim *vs_ledger_get(const struct vs_ledger *l, const char *node);
/* Those on a host; NULL: there never was one. */
const struct vs_host_claims *vs_ledger_host_claims(const struct vs_ledger *l,
						   const char *host);
/* The one door for a hold's state; logs nothing, returns -1 on a transition
 * that is not promised->requested->seen or requested->promised. */
int vs_ledger_set_state(struct vs_ledger *l, struct vs_claim *h,
			enum vs_claim_state state);
/* Move a hold to where vCenter shows its NICs in use, on these PFs. Where none
 * is shown (n 0), or one's pf is "" (an automatic PF that isn't resolved yet),
 * the hold keeps its PFs as a guess, for one that takes VFs never becomes one
 * that takes none. */
void vs_ledger_move(struct vs_ledger *l, struct vs_claim *h, const char *host,
		    const struct vs_claim_vf *vfs, int n);
/* Are these its NICs' PFs? */
bool vs_claim_is_on(const struct vs_claim *h, const struct vs_claim_vf *vfs,
		    int n);
/* "0000:3b:00.0,0000:5e:00.0"; "" where it takes no VF. */
#define VS_PFS_LEN (VS_NICS_MAX * VS_PCI_LEN)
const char *vs_claim_pfs(const struct vs_claim *h, char out[VS_PFS_LEN]);
/* The VM that stands for the hold, "" while there is none. */
void vs_ledger_set_vm(struct vs_ledger *l, struct vs_claim *h, const char *vm);
/* Of several datastores, where its VM lies or will ("": not known). moves: its
 * disks go there from another. */
void vs_ledger_set_store(struct vs_ledger *l, struct vs_claim *h,
			 const char *store, bool moves);
/* 0; -1 if the node has no hold (a double release: the caller's bug). */
int vs_ledger_release(struct vs_ledger *l, const char *node);

struct vs_pf_use {
	int total;		/* vfs */
	int ours, foreign, suspect;	/* NICs of powered-on VMs */
	int beside;		/* of foreign: another Slurm cluster's */
	int held;		/* holds not (yet) visible as NICs */
	int crowded;		/* vGPUs: of GPUs that run another profile */
	int free;		/* may be negative: over-committed */
	bool unknown;		/* a VM on that host cannot be read */
};
/* More are in use than there are. */
static inline bool vs_pf_over(const struct vs_pf_use *u)
{
	return u->free + u->crowded < 0;
}
/* The sum for one PF. folder and cluster_id decide whose NICs they are. */
void vs_ledger_pf_use(const struct vs_ledger *l, const struct vs_inventory *inv,
		      const struct vs_host *h, const struct vs_pf *pf,
		      const char *folder, const char *cluster_id,
		      struct vs_pf_use *out);

/* Bits of the host's rows (vs_host.pfs): what a powered-on VM's NIC may be on,
 * 0: nothing that is counted; and what a hold's NIC may be. */
uint32_t vs_nic_entries(const struct vs_host *h, const struct vs_nic *c);
uint32_t vs_claim_entries(const struct vs_host *h,
			  const struct vs_claim_vf *nic);
/* How many of the row i (an index) are no more to be had for it: 1 of those that
 * it may be on (rows: as told by the above); more, of vGPUs of another profile,
 * which get nothing of its GPU. */
int vs_nic_takes(const struct vs_host *h, uint32_t rows, int i,
		 const struct vs_nic *c);
int vs_claim_takes(const struct vs_host *h, uint32_t rows, int i);
/* Does the VM have NICs of the kind that the hold is for? How many of this row
 * of its host (an index) may be in use on its NICs' behalf? */
bool vs_vm_has_nics(const struct vs_vm *vm, const struct vs_host *h,
		    const struct vs_claim *hold);
int vs_vm_nics_on(const struct vs_vm *vm, int row);

/* All of it for a host, as placement needs it. */
struct vs_host_sum {
	bool unknown;			/* VFs can't be counted */
	int64_t cpu_free, mem_free;	/* not reserved */
	int64_t cpu_given, mem_given;	/* reserved or not */
	int vms;			/* on, or about to be */
	int strangers;			/* VMs of another cluster in folder */
	int beside;			/* the PFs' */
	/* last: placement looks at all hosts, of which each has few PFs */
	struct vs_pf_use pf[VS_HOST_PFS];	/* as in vs_host.pfs */
	/* by NUMA node: of the VMs that have a VF or a device there, once each */
	int32_t node_mem_mb[VS_HOST_NODES];
	int32_t node_vcpus[VS_HOST_NODES];
};
/* The NUMA nodes that these rows are on; those beyond VS_HOST_NODES, and where
 * it isn't known, are left out. */
uint32_t vs_entries_nodes(const struct vs_host *h, uint32_t rows);
/* A VM with devices on these nodes comes (sign 1) or goes (-1). */
void vs_sum_nodes(struct vs_host_sum *sum, uint32_t nodes, int sign,
		  int64_t mem_mb, int vcpus);
/* One host's: O(its VMs + its holds). */
void vs_ledger_sum(const struct vs_ledger *l, const struct vs_inventory *inv,
		   const struct vs_host *h, const char *folder,
		   const char *cluster_id, struct vs_host_sum *sum);
/* A node as if it had neither its hold nor its VM. The caller owns it, and the name
 * in it. */
struct vs_gone {
	const char *node;
	const struct vs_vm *vm;		/* of that name; NULL: it has none */
	UT_hash_handle hh;		/* by node */
};
/* The same as if all of gone were; NULL: none is. */
void vs_ledger_sum_without(const struct vs_ledger *l,
			   const struct vs_inventory *inv,
			   const struct vs_host *h, const char *folder,
			   const char *cluster_id, const struct vs_gone *gone,
			   struct vs_host_sum *sum);

#endif
