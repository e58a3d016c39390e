/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many VMs are made in an hour (MaxClonesPerHour=), and whether clones get their
 * devices at once: a part of core_i.h. */
#ifndef VS_ENGINE_CLONE_QUOTA_H
#define VS_ENGINE_CLONE_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "util/name.h"

struct json_object;
struct vs_core;
struct vs_err;
struct vs_j;
struct vs_node;
struct vs_node_op;
struct vs_vc_found;
struct vs_vm;

#define VS_CLONES_MINUTES 60
#define VS_CLONES_MANY 1000	/* an hour: told where there is no cap */

/* A vCenter, by its instanceUuid and its build. */
struct vs_vcenter_id { char uuid[VS_UUID_LEN], build[64]; };

/*
 * Whether vCenter takes a clone whose spec adds VFs or devices. Where it has
 * refused one, that node's clone is made without, and its reconfiguration shows
 * whether the clone was the cause. A vCenter of which that is known is asked again
 * when it has another build.
 */
struct vs_clone_way {
	struct vs_vcenter_id now;	/* the one that answers */
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
	uint64_t seen_epoch;		/* when owed was counted anew */
	int64_t seen_minute;
	char why[96];			/* while full */
	struct vs_clone_way way;
};

/* Pure: n more in this minute. A clock that was set back by more than an hour
 * forgets what was. */
void vs_clones_note(struct vs_clones *k, int64_t minute, int n);
/* Pure: those of the hour that ends with this minute. */
int vs_clones_made(const struct vs_clones *k, int64_t minute);
/* Pure: the minute in which no more than `max` of them are left. */
int64_t vs_clones_left(const struct vs_clones *k, int64_t minute, int max);

/* clone_quota.c; lock held. A clone is sent for the node, or it has been given (or
 * loses) a place for a VM that must be made. */
void vs_clones_sent(struct vs_core *c, struct vs_node *n);
void vs_clones_note_one(struct vs_core *c);	/* for no node */
void vs_clones_owe(struct vs_core *c, struct vs_node *n, bool owed);
/* Once after some of them: may more jobs begin? Says no time until when. */
void vs_clones_judge(struct vs_core *c);
/* Will a VM be made for the node once it has a place for that job? Asked
 * before it has one. */
bool vs_clones_needed(const struct vs_core *c, const struct vs_node *n,
		      uint32_t job);
/* Once a turn: minutes pass, nodes are others. */
void vs_clones_pass(struct vs_core *c);
/* Why no new job gets this node (vm: its VM, or NULL), NULL: not for this. */
const char *vs_clones_bar(struct vs_core *c, const struct vs_node *n,
			  const struct vs_vm *vm);
/* Most of the hour's are used: the rest is for jobs. */
bool vs_clones_scarce(const struct vs_core *c);
/* Seconds since the epoch at which more may be made; 0: now. */
int64_t vs_clones_open(const struct vs_core *c);
void vs_clones_check(struct vs_core *c);	/* of the preflight */
int vs_clones_hour(const struct vs_core *c);	/* made in the last one */

/* clone_quota.c; lock held. vCenter is there: which one it is. */
void vs_clone_way_found(struct vs_core *c, const struct vs_vc_found *f);
/* Are clones made without VFs and devices, which a reconfiguration adds? */
bool vs_clone_way_plain(const struct vs_core *c);
/* Is this node's clone one of them? Not where its adapter takes none. */
bool vs_node_clone_plain(const struct vs_core *c, const struct vs_node *n);
/*
 * The node's clone or reconfiguration has ended; err NULL: well. Returns true if
 * vCenter refused the clone for its devices: it is to be made without them, and
 * nothing is to blame. Else returns false.
 */
bool vs_clone_way_ended(struct vs_core *c, const struct vs_node *n,
			const struct vs_node_op *was, const struct vs_err *err);
/* For the hints file; NULL: nothing is to be kept. The caller frees it. */
struct json_object *vs_clone_way_json(const struct vs_core *c);
void vs_clone_way_read(struct vs_core *c, struct vs_j j);

#endif
