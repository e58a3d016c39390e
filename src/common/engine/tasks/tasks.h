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
void vs_op_set(struct vs_core *c, struct vs_node *n, enum vs_op_kind kind,
	       uint64_t id, const char *vm, const char *host, int64_t now_ms);
/* Who hears what becomes of calls of a kind (I1). */
struct vs_task_owner {
	/* A call for the node on this host (moId, "" or NULL) has failed, or could
	 * not be made. The node has no call any more. */
	void (*failed)(struct vs_core *c, struct vs_node *n,
		       enum vs_op_kind kind, const char *host,
		       const struct vs_err *err, int64_t now_ms);
};
/* Sets who owns calls of this kind; the owner has to live as long as the process. */
void vs_tasks_own(enum vs_op_kind kind, const struct vs_task_owner *owner);
/* Tells the owner. Each kind has to have one. */
void vs_task_failed(struct vs_core *c, struct vs_node *n, enum vs_op_kind kind,
		    const char *host, const struct vs_err *err,
		    int64_t now_ms);

/* A call with this id, which is the client's and not 0, is under way on a host
 * (moId; "": on none that is known). */
void vs_task_begin(struct vs_core *c, uint64_t id, const char *host);
/* The call is over. Nothing happens if none with this id is under way. */
void vs_task_end(struct vs_core *c, uint64_t id);
/* No call is under way any more. */
void vs_tasks_clear(struct vs_core *c);
/* How many are under way on each host, by host->index. The array is the core's,
 * and true until a call begins or ends, or vCenter shows other hosts. */
const int *vs_tasks_by_host(struct vs_core *c);
/* Is there room for one more call of this action within MaxProvisioning= or
 * MaxPowerOps=? */
bool vs_op_affords(const struct vs_core *c, enum vs_action action);
/* No more calls may be sent to this host (moId) now. */
bool vs_op_host_full(const struct vs_core *c, const char *host);
/* Is a clone under way of which no node is known? Nodes without a VM wait. */
bool vs_strays_wait(const struct vs_core *c);

#endif
