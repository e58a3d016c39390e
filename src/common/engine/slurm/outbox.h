/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the thread has to tell Slurm once the lock is dropped (outbox.c). A part of
 * core_i.h, which includes it. Noted with the lock held, said without it.
 *
 * Rules: words are said in the order in which they were noted; what many nodes
 * have in common is said once, after the others. Nothing here knows who asks.
 */
#ifndef VS_ENGINE_OUTBOX_H
#define VS_ENGINE_OUTBOX_H

#include "engine/state/core_i.h"

enum vs_tell_kind { VS_TELL_REBUILD, VS_TELL_POWER_DOWN, VS_TELL_FAIL,
		    VS_TELL_GIVEUP, VS_TELL_SCAN, VS_TELL_PROLOG,
		    VS_TELL_EPILOG, VS_TELL_REASON, VS_TELL_SCHEDULE,
		    VS_TELL_BOOT_PUSH, VS_TELL_BOOTED, VS_TELL_ADOPT,
		    VS_TELL_DRAIN, VS_TELL_UNDRAIN, VS_TELL_POWER_UP,
		    VS_TELL_GOT, VS_TELL_REQUEUED };

struct vs_tell;
/* Slurm's answer to what was asked with vs_tell_ask(), in the same turn. The lock is
 * held; the node may have gone with its configuration meanwhile. */
typedef void vs_told_fn(struct vs_core *c, const struct vs_tell *t,
			bool accepted);
struct vs_tell {
	enum vs_tell_kind kind;
	char node[VS_NAME_LEN];
	uint32_t job;
	bool ok;
	int64_t at_ms;			/* BOOTED: since when, 0: not said */
	char text[VS_GUEST_SAYS + 112];
	vs_told_fn *done;		/* NULL: no answer is wanted */
	struct vs_got *got;		/* said just before it; NULL: nothing */
	bool accepted;			/* Slurm's answer, once it is said */
};

/* What a job got, until Slurm is told. */
struct vs_got {
	uint32_t job;
	struct vs_port_got *rows;	/* it owns them and their strings */
	size_t n, cap;
	struct vs_got *next;
};

/* Notes a word; text may be NULL. The lock is held. */
void vs_tell(enum vs_tell_kind kind, const char *node,
	     uint32_t job, bool ok, const char *text);
/* The same of REBUILD, POWER_UP and POWER_DOWN, which Slurm may refuse: done hears. */
void vs_tell_ask(enum vs_tell_kind kind, const char *node,
		 uint32_t job, bool ok, const char *text, vs_told_fn *done);
/* BOOTED: the node's VM was powered on by us at at_ms, 0: not by us. */
void vs_tell_booted(const char *node, int64_t at_ms,
		    bool ask);
/* What is noted and not said yet, *n of them, until the next is noted. */
const struct vs_tell *vs_outbox_tells(size_t *n);
/* The same, which the caller frees: nothing is noted then. */
struct vs_tell *vs_outbox_take(size_t *n);
void vs_outbox_clear(void);
/* "Its job is gone" was true of this node when it was noted: it is not said. */
void vs_outbox_giveup_unsaid(const char *node);
/* Who hears of answered prologs and epilogs, in the place of the port; or NULL. */
void vs_outbox_hooks(void (*prolog_done)(uint32_t job, bool ok),
		     void (*epilog_done)(uint32_t job));
/* Keeps what a job got: it is said just before the answer to its prolog
 * (VS_TELL_PROLOG), or by VS_TELL_GOT. The lock is held. */
void vs_outbox_got(struct vs_got *g_take);
/* Forgets all of that. The lock is held. */
void vs_outbox_gots_clear(void);
/* Gives what jobs got to the words that say it. The lock is held. */
void vs_outbox_gots_take(struct vs_tell *tells, size_t n);
/* Says all words, and notes Slurm's answers in them. The engine's thread, no lock
 * held. whole: all nodes were looked at in this turn. *push_ms: when power saving was last told of nodes. */
void vs_outbox_say(struct vs_core *c, struct vs_tell *tells, size_t n,
		   bool whole, int64_t now_ms, int64_t *push_ms);
/* Who asked hears of the answers. The lock is held. */
void vs_outbox_answered(struct vs_core *c, const struct vs_tell *tells,
			size_t n);

#endif
