/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hosts that are to become empty, now or at a planned time: nodes on them are drained
 * (node_drain.c), VMs leave them with their jobs (evacuate*.c), and users see how far
 * that is (host_progress.c). And what operators request for single nodes' VMs
 * (vm_actions.c).
 *
 * The module owns each node's vmotion, orders and drain. The caller holds the core's
 * lock. No function here waits; calls to vCenter go through provision/, requests to
 * Slurm through the outbox.
 */
#ifndef VS_ENGINE_MAINTENANCE_H
#define VS_ENGINE_MAINTENANCE_H

#include "engine/allocation/allocation.h"
#include "engine/state/state.h"
#include "util/hash.h"
#include "util/json.h"

struct json_object;
struct vs_slurm_resv;

/* ---- node_drain.c: nodes on hosts that are to become empty --------------------- */

void vs_maintenance_apply(struct vs_core *c, struct vs_node *n, int64_t now_ms);
/* Asks Slurm to power the node down because of why. again: that was logged before.
 * If Slurm refuses, it is asked again. */
void vs_power_down_ask(const struct vs_node *n, bool again, const char *why);
/* Powers down a node that is to be vacated, as soon as it is idle, and once more
 * each minute while Slurm does not. */
void vs_vacate_act(struct vs_node *n, int64_t now_ms);

/* ---- host_progress.c: how far hosts are from being empty ----------------------- */

/* The nodes and VMs that keep a host from being safe. */
struct vs_remaining_vms {
	size_t moves;			/* nodes whose VMs leave with the jobs */
	size_t nodes, jobs;		/* with VMs there, on these */
	size_t asleep;			/* of these, with suspended VMs */
	int vms, others;		/* managed ones without a node, and
					 * foreign ones, that are on */
	int64_t safe_at;		/* the last job's end, s since the
					 * epoch; VS_TIME_NEVER: unknown; 0:
					 * nothing runs there */
};

void vs_host_remaining_vms(struct vs_core *c, const struct vs_host *h,
			   struct vs_remaining_vms *out);
/* "3 jobs on 4 nodes run on it, safe at 14:05" or "empty of ..., safe now". */
void vs_remaining_vms_text(const struct vs_remaining_vms *r, char *out,
			   size_t size);
/* As report.h has it. */
void vs_remaining_vms_json(const struct vs_remaining_vms *r,
			   struct json_object *o);
void vs_draining_hosts_clear(void);
/* Slurm's reservations are compared again: another configuration is in force. */
void vs_leaving_renew(void);
/* Slurm's reservations, as they shall be: all of them. Returns false if Slurm need not
 * be told now; else the caller frees *rows and their strings. */
bool vs_leaving_due(struct vs_core *c, int64_t now_ms,
		    struct vs_slurm_resv **rows, size_t *n);

/* ---- evacuate.c: VMs that leave a host with their jobs running ------------------ */

/* Keeps the claim on the target of the node's vMotion for as long as that is needed,
 * and ends the vMotion's record when vCenter shows where the VM is. */
void vs_vmotion_observe(struct vs_core *c, struct vs_node *n);
/* Hears of VMs that run on another host than their claim was on, and of those that
 * an earlier process may have been moving. */
vs_claim_fn vs_evacuation_claim_changed;
/* Did a vMotion take capacity since this was asked last? Then the lock may be lent. */
bool vs_vmotion_placed_taken(void);
/* The owner's part of a vMotion that failed (tasks.h). */
void vs_vmotion_failed(struct vs_core *c, struct vs_node *n,
		       enum vs_op_type kind, const char *host,
		       const struct vs_err *err, int64_t now_ms);
/* Returns true if the VM moves, or is about to. */
static inline bool vs_vmotion_moves(const struct vs_vmotion *m)
{
	return m->state != VS_VMOTION_NONE && m->state != VS_VMOTION_STAYS;
}

/* evacuate_target.c: before the nodes are looked at: what is under way, and which
 * nodes go first. */
void vs_vmotions_update(struct vs_core *c, int64_t now_ms);
/* evacuate_preview.c: "moves", "stays" and "nodes" of report.h's "leave". */
void vs_vmotion_plan(struct vs_core *c, const struct vs_host *h, bool requeue,
		     struct json_object *top);
/* evacuate_hints.c, for the state file: the caller frees the array. What is read and
 * isn't as expected is left out. */
struct json_object *vs_vmotions_json(const struct vs_core *c);
void vs_vmotions_read(struct vs_core *c, struct vs_j list);
void vs_vmotions_forget(void);
/* Returns the node that the name of a claim means which is on a vMotion's target, or
 * NULL. */
const char *vs_vmotion_claim_node(const char *hold);

/* ---- vm_actions.c: what operators request for nodes' VMs ------------------------ */

static inline bool vs_vm_actions_any(const struct vs_vm_actions *o)
{
	return o->evict || o->rebuild[0];
}

/* Ends requests that are done, or that were withdrawn in Slurm; before the engine acts
 * on the node, after it was looked at. */
void vs_vm_actions_observe(struct vs_core *c, struct vs_node *n);
/* The node has a claim: the preferred host was considered, and counts no more. */
void vs_vm_actions_placed(struct vs_node *n, const struct vs_vm *vm);
/* What a drained node's reason says. note: with the operator's note, which is not for
 * the records of jobs. */
void vs_vm_actions_text(const struct vs_node *n, bool note, char *why,
			size_t size);
/* "evict", "requeue" (evict, and requeue its jobs), "rebuild", and "evict-on" and
 * "rebuild-on" (why: the host's name) for all these nodes (names: until NULL).
 * Returns 0 with an array "nodes" in top. Returns -1 and sets err if no request was
 * taken. Lends the lock between two nodes: a node that a new configuration took away
 * meanwhile, or for which it is too late, has a row with did=refused. */
int vs_vm_actions_request(struct vs_core *c, struct json_object *top,
			  const char *what, char **names, const char *why,
			  struct vs_err *err);
/* For the state file; the caller frees it. Lends the lock: the array is of another
 * configuration than it began with if c->epoch is another. */
struct json_object *vs_vm_actions_json(struct vs_core *c);
void vs_vm_actions_read(struct vs_core *c, struct vs_j list);

#endif
