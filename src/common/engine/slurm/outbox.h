/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the engine's thread has to tell Slurm once the lock is dropped (outbox.c):
 * noted with the lock held, said without it.
 *
 * Rules: words are said in the order in which they were noted; what many nodes
 * have in common is said once, after the others. Nothing here knows who asks.
 */
#ifndef VS_ENGINE_OUTBOX_H
#define VS_ENGINE_OUTBOX_H

#include "engine/slurm/slurm_ops.h"
#include "engine/state/state.h"

struct vs_outbox_request;
/* Slurm's answer to what was asked with vs_outbox_ask(), in the same turn. The
 * lock is held; the node may have gone with its configuration meanwhile. */
typedef void vs_outbox_answer_fn(struct vs_core *c,
				 const struct vs_outbox_request *t,
				 bool accepted);
struct vs_outbox_request {
	enum vs_slurm_request kind;
	char node[VS_NAME_LEN];
	uint32_t job;
	bool ok;
	int64_t at_ms;			/* BOOTED: since when, 0: not said */
	char text[VS_GUEST_SAYS + 112];
	vs_outbox_answer_fn *done;		/* NULL: no answer is wanted */
	struct vs_assignment *got;	/* said just before it; NULL: nothing */
	bool accepted;			/* Slurm's answer, once it is said */
};

/* What a job got, until Slurm is told. */
struct vs_assignment {
	uint32_t job;
	struct vs_slurm_assignment *rows; /* it owns them and their strings */
	size_t n, cap;
	struct vs_assignment *next;
};

/* Notes a word; text may be NULL. The lock is held. */
void vs_outbox_post(enum vs_slurm_request kind, const char *node,
		    uint32_t job, bool ok, const char *text);
/* The same of REBUILD, POWER_UP and POWER_DOWN, which Slurm may refuse: done hears. */
void vs_outbox_ask(enum vs_slurm_request kind, const char *node, uint32_t job,
		   bool ok, const char *text, vs_outbox_answer_fn *done);
/* BOOTED: the node's VM was powered on by us at at_ms, 0: not by us. */
void vs_outbox_post_booted(const char *node, int64_t at_ms,
			   bool ask);
/* Returns the *n requests that are not sent yet, and removes them from the outbox.
 * The caller frees the array. */
struct vs_outbox_request *vs_outbox_take(size_t *n);
void vs_outbox_clear(void);
/* "Its job is gone" was true of this node when it was noted: it is not said. */
void vs_outbox_release_unsent(const char *node);
/* Sets who answers prologs and epilogs; NULL: nothing does. */
void vs_outbox_prep_set(const struct vs_prep_ops *ops);
/* Keeps what a job got: it is said just before the answer to its prolog
 * (VS_REQUEST_PROLOG), or by VS_REQUEST_ASSIGNMENT. The lock is held. */
void vs_outbox_post_assignment(struct vs_assignment *g_take);
/* Forgets all of that. The lock is held. */
void vs_outbox_assignments_clear(void);
/* Gives what jobs got to the words that say it. The lock is held. */
void vs_outbox_assignments_take(struct vs_outbox_request *tells, size_t n);
/* Says all words, and notes Slurm's answers in them. The engine's thread, no
 * lock held. whole: all nodes were looked at in this turn. *push_ms: when power
 * saving was last asked for nodes. */
void vs_outbox_say(struct vs_core *c, struct vs_outbox_request *tells, size_t n,
		   bool whole, int64_t now_ms, int64_t *push_ms);
/* Who asked hears of the answers. The lock is held. */
void vs_outbox_answered(struct vs_core *c,
			const struct vs_outbox_request *tells, size_t n);

#endif
