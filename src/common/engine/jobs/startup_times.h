/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job had to wait for before it ran: VFs first, then its VMs. startup_times.c.
 * Included by core_i.h, of which it is a part; the lock is held.
 */
#ifndef VS_ENGINE_STARTUP_TIMES_H
#define VS_ENGINE_STARTUP_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vs_core;
struct vs_node;
struct vs_pending;
struct vs_wait;

/* Of a node, for its latest claim. All 0: begun before this process. */
struct vs_startup_times {
	int64_t began_ms;		/* the job got the node */
	int64_t lacked_ms;		/* so long had it lacked VFs */
	int64_t clone_ms, change_ms;	/* change: reconfigured, moved */
	int64_t on_ms, boot_ms;		/* boot: from on to registered */
	bool cold;			/* it was not up already */
	int64_t up_ms;			/* all of the job's were; 0: not yet */
};

/* A job begins on these; r: its refusal, NULL if it had none. */
void vs_startup_times_begin(struct vs_core *c, const int *ids, size_t n,
			    const struct vs_pending *r, int64_t now_ms);
/* One more step of the node's is done, as for vs_duration_note(). */
void vs_startup_times_note(struct vs_node *n, int what, int64_t ms);
/* The job's prolog is answered: all that it waited for is there. */
void vs_startup_times_end(struct vs_core *c, const struct vs_wait *w,
			  int64_t now_ms);
/*
 * "waited_s=12.0 provision_s=35.2 cold=2 clone_s=20.1 power_on_s=3.0
 * boot_s=11.5", of each step the longest of its nodes; free() it. NULL: not
 * known of all of them.
 */
char *vs_startup_times_text(const struct vs_core *c, const struct vs_wait *w,
			    int64_t now_ms);

#endif
