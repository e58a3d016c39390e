/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each node or host in turn, while slurmctld's threads have the lock between two
 * slices. The lock is held by the caller, and lent: no pointer of before is kept.
 */
#ifndef VS_ENGINE_EACH_H
#define VS_ENGINE_EACH_H

#include "engine/state/core_i.h"

typedef void vs_each_node_fn(struct vs_core *c, struct vs_node *n, void *arg);
typedef void vs_each_host_fn(struct vs_core *c, struct vs_host *h, void *arg);

/* Calls fn for each node, by id. Returns true if that were all. Returns false if
 * another configuration came: its nodes are others, and fn was called for some of
 * the old ones. */
bool vs_each_node(struct vs_core *c, vs_each_node_fn *fn, void *arg);
/* The same for each host that was there at the start and still is; the lock is lent
 * after each of them, for what is asked of a host takes long. */
bool vs_each_host(struct vs_core *c, vs_each_host_fn *fn, void *arg);

#endif
