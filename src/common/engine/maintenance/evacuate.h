/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VMs that leave a host with their jobs running (evacuate.c). Included by core_i.h,
 * of which it is a part; the lock is held.
 */
#ifndef VS_ENGINE_EVACUATE_H
#define VS_ENGINE_EVACUATE_H

#include "engine/allocation/claim_events.h"
#include "engine/state/operation.h"
#include "plan/inventory/capability.h"

struct json_object;
struct vs_j;
struct vs_core;
struct vs_host;
struct vs_place_node;
struct vs_node;
struct vs_claim;

/* due: it waits for its turn; drs: DRS is to move it; stays: it can't, why says
 * it, and its job has to end there. */
enum vs_vmotion_state { VS_VMOTION_NONE, VS_VMOTION_DUE, VS_VMOTION_DRS,
			VS_VMOTION_GOES, VS_VMOTION_STAYS };

struct vs_vmotion {			/* of a node whose VM is to leave */
	enum vs_vmotion_state state;
	char to[VS_MOID_LEN];		/* it goes there, "" */
	char vm[VS_MOID_LEN];		/* which: beyond the call, if that is lost */
	char not_to[VS_MOID_LEN];	/* the last try failed there, "" */
	char why[240];			/* it stays */
	int tries;
	int64_t since_ms, again_ms;	/* again: not looked at before */
};


/*
 * The node's VM is on, on a host that has to become empty. Returns true if the
 * VM is left to its job, because it moves or waits to move. Returns false if it
 * stays (why is in n->vmotion), or if no job needs it.
 */
bool vs_vmotion_leaves(struct vs_core *c, struct vs_node *n,
		       const struct vs_host *from, int64_t now_ms);
/* Could such a VM move by vMotion at all, room aside? -1 with why not. */
int vs_vmotion_may(struct vs_core *c, const struct vs_node *n,
		   const struct vs_vm *vm, struct vs_err *err);
/* Keeps its hold on the target for as long as that is needed, and ends the
 * story. */
void vs_vmotion_observe(struct vs_core *c, struct vs_node *n);
/* Hears of VMs that run on another host than their hold was on, and of those that
 * an earlier process may have been moving. */
vs_claim_fn vs_evacuation_claim_changed;

/* Did a target take room since this was asked last? Then the lock may be lent. */
bool vs_vmotion_placed_taken(void);

/* evacuate_target.c */
/* Before the nodes are looked at: what is under way, and who goes first. */
void vs_vmotions_update(struct vs_core *c, int64_t now_ms);
/* May a target be looked for now? At most so many times in a turn. */
bool vs_vmotion_in_order(struct vs_core *c, const struct vs_node *n,
			 const struct vs_vm *vm);
enum vs_target { VS_TARGET_FOUND, VS_TARGET_BUSY, VS_TARGET_NONE };
/* busy: there is room on hosts that have as many under way as may be; none: why
 * is in err. */
enum vs_target vs_vmotion_target(struct vs_core *c, struct vs_node *n,
				 const struct vs_vm *vm,
				 struct vs_place_node *at, struct vs_err *err);
void vs_vmotion_begun(const struct vs_host *from,
		      const struct vs_host *to);
/* Of these n nodes of one kind (profile, datastore, host) the first so many
 * could move now, and where to is in at (room for n); if they aren't all, why
 * not. Nothing is held. */
size_t vs_vmotion_places(struct vs_core *c, struct vs_node *const *nodes,
			 size_t n, struct vs_place_node *at, char *why,
			 size_t size);
/* Its hold on the target, beside its own. unhold: was there one? end: and who
 * waits for room hears of it. */
struct vs_claim *vs_vmotion_claim(struct vs_core *c, struct vs_node *n,
				  const struct vs_place_node *at);
/* Its place on that very host. -1: there is none. */
int vs_vmotion_at(struct vs_core *c, const struct vs_node *n,
		  const struct vs_host *to, struct vs_place_node *at);
bool vs_vmotion_claimed(const struct vs_core *c, const struct vs_node *n);
bool vs_vmotion_unhold(struct vs_core *c, const struct vs_node *n);
void vs_vmotion_claim_end(struct vs_core *c, const struct vs_node *n);

/* evacuate_preview.c: "moves", "stays" and "nodes" of report.h's "leave". */
void vs_vmotion_plan(struct vs_core *c, const struct vs_host *h, bool requeue,
		     struct json_object *top);
/* Its VM is not moving yet, but would if there is room. */
bool vs_vmotion_expected(struct vs_core *c, const struct vs_node *n);
/* The node that a hold's name means, of those that are no node's own; NULL. */
const char *vs_vmotion_claim_node(const char *hold);
/* evacuate_hints.c: a task of before this process is under way on the node's VM.
 * Is it by the hints a vMotion, its target is held as it was. */
void vs_vmotion_adopted(struct vs_core *c, struct vs_node *n,
			const struct vs_vm *vm);
struct json_object *vs_vmotions_json(const struct vs_core *c);
void vs_vmotions_read(struct vs_core *c, struct vs_j list);
void vs_vmotions_forget(void);
/* It moves, or is about to. */
static inline bool vs_vmotion_moves(const struct vs_vmotion *m)
{
	return m->state != VS_VMOTION_NONE && m->state != VS_VMOTION_STAYS;
}

/* The owner's part of a vMotion that failed (tasks.h). */
void vs_vmotion_failed(struct vs_core *c, struct vs_node *n,
		       enum vs_op_type kind, const char *host,
		       const struct vs_err *err, int64_t now_ms);

#endif
