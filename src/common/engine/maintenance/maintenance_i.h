/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of maintenance/ ask of each other, and what they and their tests know
 * of vMotions. The caller holds the core's lock. */
#ifndef VS_ENGINE_MAINTENANCE_I_H
#define VS_ENGINE_MAINTENANCE_I_H

#include "engine/maintenance/maintenance.h"

/* ---- node_drain.c ------------------------------------------------------------- */

/* Drained by another user, and kept on by SuspendExc*: Slurm doesn't power it
 * down, and a power-down that slurm-vsphere asks for would lift the other's drain. */
bool vs_node_kept_on(const struct vs_node *n);

/* ---- evacuate.c --------------------------------------------------------------- */

/* A vMotion of before this process, by the hints. */
struct vs_bound {
	char node[VS_NAME_LEN], vm[VS_MOID_LEN], host[VS_MOID_LEN];
	struct vs_bound *next;
};

struct vs_vmotions {
	uint64_t moved, failed, others;	/* others: by another user */
	struct vs_bound *bound;
	/* of this turn, see vs_vmotions_update */
	int *on; size_t cap_on;		/* coming and going, by host->index */
	bool strangers;			/* some move to an unknown host */
	int places;			/* looked for */
	bool short_of;			/* more would have been; then next is */
	int from, next;			/* the first node of the next turn */
	bool placed;			/* since the lock was lent */
};
extern struct vs_vmotions vs_vmotions;

/*
 * The node's VM is on, on a host that has to become empty. Returns true if the
 * VM is left to its job, because it moves or waits to move. Returns false if it
 * stays (why is in n->vmotion), or if no job needs it.
 */
bool vs_vmotion_leaves(struct vs_core *c, struct vs_node *n,
		       const struct vs_host *from, int64_t now_ms);
/* Could such a VM move by vMotion at all, whatever the capacity? Returns 0. Returns -1
 * and sets err if not. */
int vs_vmotion_may(struct vs_core *c, const struct vs_node *n,
		   const struct vs_vm *vm, struct vs_err *err);

/* ---- evacuate_target.c -------------------------------------------------------- */

/* May a target be looked for now? At most so many times in a turn. */
bool vs_vmotion_in_order(struct vs_core *c, const struct vs_node *n,
			 const struct vs_vm *vm);
enum vs_target { VS_TARGET_FOUND, VS_TARGET_BUSY, VS_TARGET_NONE };
/* BUSY: only hosts have capacity that have as many vMotions under way as may be. NONE:
 * err says why. */
enum vs_target vs_vmotion_target(struct vs_core *c, struct vs_node *n,
				 const struct vs_vm *vm,
				 struct vs_place_node *at, struct vs_err *err);
void vs_vmotion_begun(const struct vs_host *from,
		      const struct vs_host *to);
/* Returns how many of these n nodes of one kind (profile, datastore, host) could move
 * now: the first ones, and at (space for n) has their targets. If they aren't all, why
 * says why not. No claim is taken. */
size_t vs_vmotion_places(struct vs_core *c, struct vs_node *const *nodes,
			 size_t n, struct vs_place_node *at, char *why,
			 size_t size);
/* Takes the node's claim on the target, beside its own. */
struct vs_claim *vs_vmotion_claim(struct vs_core *c, struct vs_node *n,
				  const struct vs_place_node *at);
/* Its place on that very host. Returns 0. Returns -1 if there is none. */
int vs_vmotion_at(struct vs_core *c, const struct vs_node *n,
		  const struct vs_host *to, struct vs_place_node *at);
bool vs_vmotion_claimed(const struct vs_core *c, const struct vs_node *n);
/* Releases the claim on the target. Returns false if there was none. */
bool vs_vmotion_unhold(struct vs_core *c, const struct vs_node *n);
/* The same, and jobs that wait for capacity hear of it. */
void vs_vmotion_claim_end(struct vs_core *c, const struct vs_node *n);

/* ---- evacuate_preview.c, evacuate_hints.c -------------------------------------- */

/* The node's VM is not moving yet, but would if there is capacity. */
bool vs_vmotion_expected(struct vs_core *c, const struct vs_node *n);
/* A task of before this process is under way on the node's VM. If the hints say that
 * it is a vMotion, its target is claimed as it was. */
void vs_vmotion_adopted(struct vs_core *c, struct vs_node *n,
			const struct vs_vm *vm);

#endif
