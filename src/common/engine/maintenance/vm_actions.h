/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What operators have ordered of nodes' VMs (vm_actions.c): kept in the hints. A
 * part of core_i.h, which includes it.
 */
#ifndef VS_ENGINE_VM_ACTIONS_H
#define VS_ENGINE_VM_ACTIONS_H

#include "util/err.h"
#include "util/json.h"
#include "vcenter/calls/calls.h"

struct vs_core;
struct vs_node;
struct vs_vm;

struct vs_vm_actions {		/* of a node */
	bool evict;		/* its VM goes off when no job has it */
	bool requeue;		/* and its jobs are requeued at once */
	bool drained;		/* Slurm showed its drain */
	char rebuild[VS_MOID_LEN];	/* this VM is destroyed, "": none is */
	char wish[VS_MOID_LEN];	/* the host its VM is to be on next if there is
				 * room, "": any; outlives the order */
	char why[120];		/* of who ordered it, "": not said */
};

static inline bool vs_vm_actions_any(const struct vs_vm_actions *o)
{
	return o->evict || o->rebuild[0];
}

/* With the lock held, but for the giving. Ends what is done, or was withdrawn in Slurm; before
 * the node is acted upon, after it was looked at. */
void vs_vm_actions_observe(struct vs_core *c, struct vs_node *n);
/* The node has a hold: the preferred host was considered, and counts no more. */
void vs_vm_actions_placed(struct vs_node *n, const struct vs_vm *vm);
/* What a drained node's reason says. note: with the note of who ordered it, which
 * is not for the records of jobs. */
void vs_vm_actions_text(const struct vs_node *n, bool note, char *why,
			size_t size);
/* "evict", "requeue" (evict, jobs and all), "rebuild", and "evict-on" and
 * "rebuild-on" (why: the host's name) for all these nodes (names: until NULL).
 * Returns 0 with an array "nodes" in top. Returns -1 and sets err: for none of them.
 * The lock is held, and lent between two of them: nodes that a new configuration took away
 * meanwhile, or that it is too late for, are rows with did=refused. */
int vs_vm_actions_request(struct vs_core *c, struct json_object *top,
			  const char *what, char **names, const char *why,
			  struct vs_err *err);
/* Lends the lock; of another configuration than it began with if c->epoch is another. */
struct json_object *vs_vm_actions_json(struct vs_core *c);
void vs_vm_actions_read(struct vs_core *c, struct vs_j list);

#endif
