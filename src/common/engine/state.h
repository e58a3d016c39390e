/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine's state: the one struct, its mutex and its clock, and questions
 * about nodes, VMs and hosts that need nothing else. A part of core_i.h, which
 * includes it. The lock is held unless said.
 *
 * Rules: nothing here calls vCenter, Slurm or another module of the engine.
 */
#ifndef VS_ENGINE_STATE_H
#define VS_ENGINE_STATE_H

#include "engine/core_i.h"

/* ---- lock.c: no lock held, unless said ----------------------------------- */

extern struct vs_core vs_core;

extern atomic_int vs_lock_wanted;	/* by how many threads of slurmctld's */
extern atomic_uint vs_lock_had;		/* how often one of them has had it */
static inline void vs_lock(void) { pthread_mutex_lock(&vs_core.lock); }
/* slurmctld's threads: the engine's thread lends them the lock at once. */
static inline void vs_lock_now(void)
{
	atomic_fetch_add(&vs_lock_wanted, 1);
	vs_lock();
	atomic_fetch_add(&vs_lock_had, 1);
	atomic_fetch_sub(&vs_lock_wanted, 1);
}
/* By who holds it, but slurmctld's threads: one of those that want it has had it
 * when this returns, if it got a processor within 5 ms. */
void vs_lock_lend(void);
static inline void vs_unlock(void) { pthread_mutex_unlock(&vs_core.lock); }
/* Wakes the engine's thread, or lets it make another turn before it waits. */
void vs_wake(void);
/* The monotonic time in ms; tests bring a clock of their own. */
int64_t vs_clock(void);

/* ---- node_queries.c ------------------------------------------------------ */

/* By the id that the plugins know; NULL: none of ours. */
static inline struct vs_node *vs_node_at(struct vs_core *c, int id)
{
	return id >= 0 && (size_t)id < c->nnodes ? &c->nodes[id] : NULL;
}

/* On its way out, or asked to go. */
static inline bool vs_node_going(const struct vs_node *n)
{
	return n->leave || (n->flags & (VS_NODE_POWERING_DOWN |
					VS_NODE_POWER_DOWN_ASKED));
}

#endif
