/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What prefetch.c and headroom.c keep, for them and their tests. The lock is
 * held. */
#ifndef VS_ENGINE_PREFETCH_I_H
#define VS_ENGINE_PREFETCH_I_H

#include "engine/prefetch/prefetch.h"

/* Slurm's plan, as read last; planned: soonest start first. */
struct vs_coming { int id; uint32_t job; int64_t at_ms; };
struct vs_plans {
	uint64_t read, weighed;		/* readings, and what was decided on;
					 * 0: that was before VFs began to go */
	struct vs_coming *planned, *ends;	/* ends: of a running job's node */
	size_t nplanned, nends;
	LIST_HEAD(, vs_node) ahead;	/* made ready for it */
	size_t nahead;
	int *in_vain;			/* nodes by kind, at this reading */
	uint64_t made, used, removed;	/* VMs so far */
};
extern struct vs_plans vs_plans;

#endif
