/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What clone_quota.c keeps, for it and its tests alone. The lock is held. */
#ifndef VS_ENGINE_CLONE_QUOTA_I_H
#define VS_ENGINE_CLONE_QUOTA_I_H

#include "engine/state/core_i.h"

/*
 * Whether vCenter takes a clone whose spec adds VFs or devices. Where it has
 * refused one, that node's clone is made without, and its reconfiguration shows
 * whether the clone was the cause. A vCenter of which that is known is asked again
 * when it has another build.
 */
struct vs_clone_way {
	struct vs_vcenter_id now;	/* the one that answers */
	struct vs_vcenter_id takes;	/* has made one; uuid "": none has */
	struct vs_vcenter_id refuses;	/* uuid "": none does */
	char trial[VS_NAME_LEN];	/* node whose clone was refused, or "" */
	int64_t trial_ms;		/* since then */
};

/* The clones that were sent, by minute of the last hour. */
struct vs_clones {
	int64_t minute;			/* since the epoch, of the last one */
	int made[VS_CLONES_MINUTES];	/* by minute % VS_CLONES_MINUTES */
	int owed;			/* to nodes that have a place, not sent */
	bool many, full;
	bool unjudged;			/* owed has changed since a turn's look */
	uint64_t seen_epoch;		/* when owed was counted again */
	int64_t seen_minute;
	char why[96];			/* while full */
	struct vs_clone_way way;
};
extern struct vs_clones vs_clones;

/* Pure: n more in this minute. A clock that was set back by more than an hour
 * forgets what was. */
void vs_clones_note(struct vs_clones *k, int64_t minute, int n);
/* Pure: those of the hour that ends with this minute. */
int vs_clones_made(const struct vs_clones *k, int64_t minute);
/* Pure: the minute in which no more than `max` of them are left. */
int64_t vs_clones_left(const struct vs_clones *k, int64_t minute, int max);

#endif
