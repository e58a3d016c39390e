/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The curve of a kind of VM: how much more room there is for it as the holders
 * of a timeline let go, one group after the other. The gain of each holder is
 * kept from one query to the next. Only gains whose inputs have changed are
 * computed again.
 *
 * Owns struct vs_curve and struct vs_capacity_released and their arrays;
 * vs_curve_clear() and vs_capacity_released_clear() free them. A curve is right
 * for the timeline that the last vs_curve_sum() or
 * vs_capacity_released_follow() was given, until that changes. No function
 * fails, and none takes a lock: the caller keeps others from the timeline and
 * from what env points to during the call.
 */
#ifndef VS_PLAN_CAPACITY_CURVE_H
#define VS_PLAN_CAPACITY_CURVE_H

#include "plan/placement/placement.h"

struct vs_timeline;

struct vs_gain {			/* an id's */
	size_t slot, much;		/* of its group; 0: it gains nothing */
};

struct vs_curve {
	struct vs_gain *gains;		/* by id */
	size_t nids;
	size_t *by_slot;		/* gained with each group */
	size_t cap_slots;
	size_t *sum;			/* with the first 0..n groups by end */
	size_t n, cap;
};

void vs_curve_clear(struct vs_curve *c);
/* Sets all gains to 0. Ids are below nids. */
void vs_curve_size(struct vs_curve *c, size_t nids);
/* So much more fits once id has gone, together with all that go before it;
 * 0 too where it holds no place. */
void vs_curve_set(struct vs_curve *c, const struct vs_timeline *t, int id,
		  size_t much);
/* After these, and after the timeline has changed, before a question. */
void vs_curve_sum(struct vs_curve *c, const struct vs_timeline *t);

/* When is there room for `more` than now, if the n holders `keep` stay where
 * they are? The end of a group, VS_TIME_NEVER, or 0 for more == 0. */
int64_t vs_curve_first_at(const struct vs_curve *c, const struct vs_timeline *t,
			  size_t more, const int *keep, size_t n);
/* The end with which so much is gained, VS_TIME_NEVER. */
int64_t vs_curve_at(const struct vs_curve *c, const struct vs_timeline *t,
		    size_t much);
/* What is gained by that time. */
size_t vs_curve_released_by(const struct vs_curve *c,
			    const struct vs_timeline *t, int64_t at);

/* ---- from the ledger -------------------------------------------------------- */

/* A curve of what the holds of a ledger make room for, whose vs_claim.id are the
 * timeline's; on each host they go in the order of their ends, then of
 * their ids. */
struct vs_capacity_released {
	struct vs_curve curve;
	/* what it was made of, and what has changed since */
	uint64_t key, built, turn, held, sized;
	struct vs_host_block *bars;		/* by host->index */
	int *first;			/* of the ids on each host, -1: none */
	struct vs_counted { int next, host; } *on; /* by id; -1: the end, no
						    * host */
	size_t nhosts;
	bool *stale;			/* by host->index, all false between */
	int *hosts;			/* those that are, nstale of them */
	size_t nstale;
};

void vs_capacity_released_clear(struct vs_capacity_released *g);
/* Make it true for VMs like `like`: costs what has changed on hosts and in the
 * timeline. env has sums that are up to date, and bars. */
void vs_capacity_released_follow(struct vs_capacity_released *g,
				 const struct vs_timeline *t,
				 const struct vs_place_env *env,
				 const struct vs_place_node *like);

#endif
