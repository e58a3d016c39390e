/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls to vCenter that are under way, beside their limits (tasks.c). The lock is
 * held.
 *
 * Rules: nothing here knows for what a call is. Those of nodes and of clone
 * sources count for the host on which they work.
 */
#ifndef VS_ENGINE_TASKS_H
#define VS_ENGINE_TASKS_H

#include "engine/state/core_i.h"

/*
 * Sets the node's call, in the place of the one before: it began at now_ms; id is
 * the client's, 0: the call is done, and its effect isn't shown yet. vm and host
 * are moIds, or NULL. VS_OP_NONE: the node has none any more.
 */
void vs_op_set(struct vs_core *c, struct vs_node *n, enum vs_op_type kind,
	       uint64_t id, const char *vm, const char *host, int64_t now_ms);
/* The list of nodes that have a call, made anew when nodes are others: none has;
 * this one has. */
void vs_tasks_busy_none(struct vs_core *c);
void vs_tasks_busy_add(struct vs_core *c, struct vs_node *n);
/* The node's call is this task (its moId). */
void vs_op_task_note(struct vs_node *n, const char *task);
/* What the node's call copies (a VM's moId, "": nothing), and whether its spec adds
 * VFs or devices. */
void vs_op_spec_note(struct vs_node *n, const char *source, bool devices);
/* The node's call is to be cancelled; its end tells whether it was. */
void vs_op_cancel_note(struct vs_node *n);
/* Who hears what becomes of calls of a kind (I1). */
struct vs_task_owner {
	/* A call for the node on this host (moId, "" or NULL) has failed, or could
	 * not be made. The node has no call any more. */
	void (*failed)(struct vs_core *c, struct vs_node *n,
		       enum vs_op_type kind, const char *host,
		       const struct vs_err *err, int64_t now_ms);
};
/* Sets who owns calls of this kind; the owner has to live as long as the process. */
void vs_tasks_own(enum vs_op_type kind, const struct vs_task_owner *owner);
/* Tells the owner. Each kind has to have one. */
void vs_task_failed(struct vs_core *c, struct vs_node *n, enum vs_op_type kind,
		    const char *host, const struct vs_err *err,
		    int64_t now_ms);

/* A call with this id, which is the client's and not 0, is under way on a host
 * (moId; "": on none that is known). */
void vs_task_begin(uint64_t id, const char *host);
/* The call is over. Nothing happens if none with this id is under way. */
void vs_task_end(uint64_t id);
/* No call is under way any more. */
void vs_tasks_clear(void);
/* How many are under way on each host, by host->index. The array is the core's,
 * and true until a call begins or ends, or vCenter shows other hosts. */
const int *vs_tasks_by_host(struct vs_core *c);
/* Is there room for one more call of this action within MaxProvisioning= or
 * MaxPowerOps=? */
bool vs_op_affords(const struct vs_core *c, enum vs_action action);
/* No more calls may be sent to this host (moId) now. */
bool vs_op_host_full(const struct vs_core *c, const char *host);
/* How many count for MaxProvisioning=, and for MaxPowerOps=. Who makes calls for
 * something else than a node adds its own. */
int vs_tasks_provisioning(void);
int vs_tasks_power_ops(void);
void vs_tasks_provisioning_add(int by);
void vs_tasks_power_add(int by);
/* Strays: clones of ours, under way, of which no node is known. Adds one; ends the
 * one with this id, if there is one; is a task one of them? */
void vs_unowned_task_add(uint64_t id, const char *task, int64_t now_ms);
bool vs_unowned_task_end(uint64_t id);
bool vs_unowned_task_is_known(const char *task);
/* How many there are; does any keep nodes without a VM waiting? */
size_t vs_unowned_tasks_count(void);
bool vs_unowned_tasks_wait(void);
/* The task of one that began at that time or before: it is waited for no longer.
 * NULL: there is none. */
const char *vs_unowned_task_abandon(int64_t by_ms);
void vs_unowned_tasks_forget(void);
/* Has one ended since the turn's pass over the nodes? Others may have its budget. */
bool vs_tasks_ended(void);
void vs_tasks_ended_clear(void);

/* ---- retry.c: when a node's next call may be sent ----------------------------- */

/* Another call is due: no failure counts, and the call may be sent at once. */
void vs_retry_reset(struct vs_node *n);
/* The call has succeeded, or is given up: no failure counts. */
void vs_retry_uncount(struct vs_node *n);
/* Counts a failure. Returns true if more than VS_TRIES_MAX in a row were counted. */
bool vs_retry_count(struct vs_node *n);
/* The failure can't end by itself: the next vs_retry_count() returns true. */
void vs_retry_spend(struct vs_node *n);
/* No call is sent before this time of vs_clock(), in ms; 0: at once. */
void vs_retry_pause(struct vs_node *n, int64_t until_ms);
/* Keeps a copy of why the node's call failed, or was not sent, for svf status and for
 * what comes next. NULL: the last failure counts no more. */
void vs_retry_error(struct vs_node *n, const struct vs_err *err);
/* A call's outcome is unknown: the node counts as busy until a periodic poll of
 * vCenter that begins from now on has been read. */
void vs_retry_reread(const struct vs_core *c, struct vs_node *n);
/* The node waits for no poll any more. */
void vs_retry_reread_end(struct vs_node *n);

#endif
