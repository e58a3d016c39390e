/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What becomes of a node's hold, for modules that keep something by it (claims.c
 * tells them). The lock is held.
 *
 * Rules: reconfigure.c says who hears, and in which order; claims.c knows none of them.
 */
#ifndef VS_ENGINE_CLAIM_EVENTS_H
#define VS_ENGINE_CLAIM_EVENTS_H

#include <stddef.h>

struct vs_core;
struct vs_claim;
struct vs_node;

enum vs_claim_event {
	VS_CLAIM_TAKEN,		/* the node has a hold */
	VS_CLAIM_RELEASED,	/* the node has no hold any more */
	VS_CLAIM_MOVED,		/* vCenter shows its VM on another host: the hold
				 * is there now */
	VS_CLAIM_ADOPTED,	/* its VM is on, and a task that an earlier
				 * process started is under way on it */
	VS_CLAIM_BY_JOB,	/* a job is about to claim the node */
};

/* Called after the hold has changed. before is the hold as it was, of RELEASED and
 * MOVED, and NULL else. The function may take and release holds of other names. */
typedef void vs_claim_fn(struct vs_core *c, struct vs_node *n,
			 enum vs_claim_event e, const struct vs_claim *before);

/* Sets who hears of these events, in this order. The list has to live as long as the
 * process. */
void vs_claims_subscribe(vs_claim_fn *const *list, size_t n);
/* Tells all of them of an event. */
void vs_claim_changed(struct vs_core *c, struct vs_node *n,
		      enum vs_claim_event e, const struct vs_claim *before);

#endif
