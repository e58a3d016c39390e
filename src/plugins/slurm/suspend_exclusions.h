/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nodes that Slurm does not power down: SuspendExcNodes, -Parts, -States. */
#ifndef VS_PLUGINS_SLURM_SUSPEND_EXCLUSIONS_H
#define VS_PLUGINS_SLURM_SUSPEND_EXCLUSIONS_H

#include "engine/slurm/slurm_ops.h"
#include "compat.h"

/* What keeps a node on though it is idle, as flags of engine/slurm/slurm_ops.h. NODE R; the first reads slurm.conf again now and then, no lock held. */
void vs_suspend_exclusions_read(void);
uint32_t vs_suspend_excluded(const node_record_t *n);
/* How long the node stays on while it is idle; 0: for ever. Slurm works it out from
 * the SuspendTime of the node's partitions and of the cluster. NODE R. */
int64_t vs_suspend_ms(const node_record_t *n);
/* Nodes that are no VMs and would be powered down by a program that does
 * nothing: how many, and the first one's name. Under vs_lock_parts_read(). */
size_t vs_suspend_unmanaged(const char **first, char **list);

#endif
