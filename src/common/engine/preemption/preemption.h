/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose end frees capacity for a job. The lock is held.
 */
#ifndef VS_ENGINE_PREEMPTION_H
#define VS_ENGINE_PREEMPTION_H

#include "engine/state/state.h"

/* reclaim_idle.c: idle warm VMs that stand in a waiting job's way; lock held */
void vs_reclaim(struct vs_core *c, int64_t now_ms);
/* Writes the ids of the nodes that reclaim would power down for a job on these
 * nodes, and of those that go already, into out (space for all nodes). Returns
 * their number. Powers none of them down. */
size_t vs_reclaim_would(struct vs_core *c, const int *ids, size_t n, int *out);

/* It is idle and may be asked to go, or it goes already. */
bool vs_node_gives_way(const struct vs_node *n);

/* victims.c: whose end would give a job its VFs; lock held */
int vs_preemption_victims(struct vs_core *c, uint32_t job, const int *ids,
			  size_t n, const struct vs_victim *victims,
			  size_t nvictims, bool *take);

#endif
