/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prefetch: what Slurm has planned, and the VMs that are made ready for these jobs. The
 * module owns each node's ahead. The caller holds the core's lock.
 */
#ifndef VS_ENGINE_PREFETCH_H
#define VS_ENGINE_PREFETCH_H

#include "engine/allocation/allocation.h"
#include "engine/state/state.h"

/* VMs that are made ready for planned jobs now, and so far. */
struct vs_prefetched { uint64_t now, made, used, removed; };

/* prefetch.c */
/* How far ahead planned jobs matter, in s; 0: not at all. */
int64_t vs_prefetch_within_s(const struct vs_core *c);
/* What Slurm has planned for nodes within that time. */
struct vs_slurm_planned;
void vs_prefetch_planned(struct vs_core *c, const struct vs_slurm_planned *rows,
			 size_t n, int64_t now_ms);
/* Slurm powers the node down after it was idle for so long; 0: never. */
void vs_prefetch_suspend_set(struct vs_node *n, int64_t after_ms);
void vs_prefetch_update(struct vs_core *c, int64_t now_ms);
struct vs_prefetched vs_prefetch_counts(void);
void vs_prefetch_clear(void);	/* another one's past */
void vs_prefetch_carry(struct vs_core *c);	/* nodes have other ids now */
/* Hears of claims that are released, and of nodes that a job gets. */
vs_claim_fn vs_prefetch_claim_changed;

/* headroom.c: what may be had ahead */
/* Returns true if jobs that wait now, and power-ups that are on their way,
 * leave this node a VF (or capacity). */
bool vs_prefetch_has_surplus(struct vs_core *c, const struct vs_node *n,
			     int64_t now_ms);
/* VFs are on their way to its job, more than that has powered nodes up for. */
bool vs_prefetch_vf_comes(struct vs_core *c, const struct vs_node *n);
/* Powered up ahead, it takes its place: not before jobs that go before its own. */
bool vs_prefetch_may_place(struct vs_core *c, const struct vs_node *n,
			   int64_t now_ms);
/* Where a VM for this node should lie when its job starts: nothing is claimed,
 * hold is filled in for the clone's sake. False: nowhere, as far as is known. */
bool vs_prefetch_place(struct vs_core *c, struct vs_node *n,
		       struct vs_claim *hold);

#endif
