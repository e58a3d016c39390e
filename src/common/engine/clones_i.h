/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many VMs are made in an hour (MaxClonesPerHour=): a part of core_i.h. */
#ifndef VS_ENGINE_CLONES_I_H
#define VS_ENGINE_CLONES_I_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vs_core;
struct vs_node;
struct vs_vm;

#define VS_CLONES_MINUTES 60
#define VS_CLONES_MANY 1000	/* an hour: told where there is no cap */

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
};

/* Pure: n more in this minute. A clock that was set back by more than an hour
 * forgets what was. */
void vs_clones_note(struct vs_clones *k, int64_t minute, int n);
/* Pure: those of the hour that ends with this minute. */
int vs_clones_made(const struct vs_clones *k, int64_t minute);
/* Pure: the minute in which no more than `max` of them are left. */
int64_t vs_clones_left(const struct vs_clones *k, int64_t minute, int max);

/* clones.c; lock held. A clone is sent for the node, or it has been given (or
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

#endif
