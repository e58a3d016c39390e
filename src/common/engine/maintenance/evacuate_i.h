/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files evacuate*.c keep, for them and their tests. The lock is
 * held. */
#ifndef VS_ENGINE_EVACUATE_I_H
#define VS_ENGINE_EVACUATE_I_H

#include "engine/state/core_i.h"

/* A vMotion of before this process, by the hints. */
struct vs_bound {
	char node[VS_NAME_LEN], vm[VS_MOID_LEN], host[VS_MOID_LEN];
	struct vs_bound *next;
};

struct vs_vmotions {
	uint64_t moved, failed, others;	/* others: by another user */
	struct vs_bound *bound;
	/* of this turn, see vs_vmotions_update */
	int *on; size_t cap_on;		/* coming and going, by host->index */
	bool strangers;			/* some move to an unknown host */
	int places;			/* looked for */
	bool short_of;			/* more would have been; then next is */
	int from, next;			/* the first node of the next turn */
	bool placed;			/* since the lock was lent */
};
extern struct vs_vmotions vs_vmotions;

#endif
