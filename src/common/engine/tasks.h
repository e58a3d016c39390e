/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls to vCenter that are under way for nodes, beside their limits (tasks.c).
 * The lock is held.
 */
#ifndef VS_ENGINE_TASKS_H
#define VS_ENGINE_TASKS_H

#include "engine/core_i.h"

/*
 * Sets the node's call, in the place of the one before: it began at now_ms; id is
 * the client's, 0: the call is done, and its effect isn't shown yet. vm and host
 * are moIds, or NULL. VS_OP_NONE: the node has none any more.
 */
void vs_op_set(struct vs_core *c, struct vs_node *n, enum vs_op_kind kind,
	       uint64_t id, const char *vm, const char *host, int64_t now_ms);
/* Is there room for one more call of this action within MaxProvisioning= or
 * MaxPowerOps=? */
bool vs_op_affords(const struct vs_core *c, enum vs_action action);
/* No more calls may be sent to this host (moId) now. */
bool vs_op_host_full(const struct vs_core *c, const char *host);
/* Is a clone under way of which no node is known? Nodes without a VM wait. */
bool vs_strays_wait(const struct vs_core *c);

#endif
