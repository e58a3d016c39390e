/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VMs that leave a host with their jobs running (vmotion.c), and the door that
 * what a type forbids doesn't pass (door.c). Included by core_i.h, of which it
 * is a part; the lock is held.
 */
#ifndef VS_ENGINE_VMOTION_I_H
#define VS_ENGINE_VMOTION_I_H

#include "plan/deed.h"

struct json_object;
struct vs_core;
struct vs_node;
struct vs_hold;

/* due: it waits for its turn; drs: DRS is to move it; stays: it can't, why says
 * it, and its job has to end there. */
enum vs_vmotion_state { VS_VMOTION_NONE, VS_VMOTION_DUE, VS_VMOTION_DRS,
			VS_VMOTION_GOES, VS_VMOTION_STAYS };

struct vs_vmotion {			/* of a node whose VM is to leave */
	enum vs_vmotion_state state;
	char to[VS_MOID_LEN];		/* it goes there, "" */
	char not_to[VS_MOID_LEN];	/* the last try failed there, "" */
	char why[240];			/* it stays */
	int tries;
	int64_t since_ms, again_ms;	/* again: not looked at before */
};

struct vs_vmotions {
	int release;			/* vCenter's, 0: not known */
	uint64_t moved, failed, others;	/* others: by somebody else */
};

/* door.c: 0, or -1 with VS_E_REQUEST and why it is forbidden: by what the node's
 * VM is made of (vm: as it is there, or NULL) and the oldest of the releases of
 * vCenter, of its host and of the one that it is to go to (NULL: none). */
int vs_door(const struct vs_core *c, const struct vs_node *n,
	    const struct vs_vm *vm, enum vs_deed deed,
	    const struct vs_host *to, struct vs_err *err);

/*
 * The node's VM is on, on a host that is to be empty: is it left to its job,
 * because it moves, or waits for that? False: it stays (why is in n->vmotion),
 * or nobody needs it.
 */
bool vs_vmotion_leaves(struct vs_core *c, struct vs_node *n,
		       const struct vs_host *from, int64_t now_ms);
/* Could such a VM move by vMotion at all, room aside? -1 with why not. */
int vs_vmotion_may(struct vs_core *c, const struct vs_node *n,
		   const struct vs_vm *vm, struct vs_err *err);
/* Keeps its hold on the target for as long as that is needed, and ends the
 * story. */
void vs_vmotion_look(struct vs_core *c, struct vs_node *n);
void vs_vmotion_failed(struct vs_core *c, struct vs_node *n, const char *host,
		       const struct vs_err *err, int64_t now_ms);
/* Its VM is on, on another host than its hold's. */
void vs_vmotion_elsewhere(struct vs_core *c, struct vs_node *n,
			  const struct vs_hold *h, const struct vs_vm *vm);
/* How many more like its VM could move now; 0 with why not. */
size_t vs_vmotion_room(struct vs_core *c, struct vs_node *n,
		       const struct vs_vm *vm, char *why, size_t size);
/* vmotion_plan.c: "moves", "stays" and "nodes" of report.h's "leave". */
void vs_vmotion_plan(struct vs_core *c, const struct vs_host *h, bool requeue,
		     struct json_object *top);
/* Its VM is not moving yet, but would if there is room. */
bool vs_vmotion_expected(struct vs_core *c, const struct vs_node *n);
/* The node that a hold's name means, of those that are no node's own; NULL. */
const char *vs_vmotion_hold_of(const char *hold);
/* It moves, or is about to. */
static inline bool vs_vmotion_moves(const struct vs_vmotion *m)
{
	return m->state != VS_VMOTION_NONE && m->state != VS_VMOTION_STAYS;
}

#endif
