/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What clone_quota.c and removal_guard.c keep, each for itself and its tests. The
 * caller holds the core's lock. */
#ifndef VS_ENGINE_TASKS_I_H
#define VS_ENGINE_TASKS_I_H

#include "engine/tasks/tasks.h"

/* ---- clone_quota.c ---------------------------------------------------------- */

#define VS_CLONES_MINUTES 60
#define VS_CLONES_MANY 1000	/* an hour: reported where there is no cap */

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

/* ---- removal_guard.c -------------------------------------------------------- */

#define VS_REMOVAL_MINUTES 10
struct vs_removal_permit {		/* a VM whose removal was permitted */
	char vm[VS_MOID_LEN];
	int64_t minute;			/* since the epoch */
	bool confirmed;			/* by an operator: not counted */
	UT_hash_handle hh;
};
struct vs_removal_request {	/* Slurm has powered its node down */
	char node[VS_NAME_LEN];
	char vm[VS_MOID_LEN];
	int64_t minute;
	UT_hash_handle hh;
};
struct vs_removal_limit {
	bool on;
	struct vs_removal_permit *ends;	/* uthash by vm */
	struct vs_removal_request *asked;	/* uthash by node */
	int64_t asked_minute;		/* when these were looked through */
	int ours;			/* VMs of this cluster */
};
extern struct vs_removal_limit vs_removal_limit;

#endif
