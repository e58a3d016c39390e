/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The brake on ends that nobody asked for: a part of core_i.h. */
#ifndef VS_ENGINE_REMOVAL_GUARD_H
#define VS_ENGINE_REMOVAL_GUARD_H

#include "plan/inventory/inventory.h"

struct vs_core;

/* Has the brake let this VM's end pass? Once it has, for good. */
enum vs_braked { VS_BRAKE_UNASKED, VS_BRAKE_PASSED, VS_BRAKE_WAITS };

#define VS_BRAKE_MINUTES 10
struct vs_brake_end {			/* a VM that it let go */
	char vm[VS_MOID_LEN];
	int64_t minute;			/* since the epoch */
	bool confirmed;			/* by an operator: not counted */
	UT_hash_handle hh;
};
struct vs_brake_asked {			/* Slurm has powered its node down */
	char node[VS_NAME_LEN];
	char vm[VS_MOID_LEN];
	int64_t minute;
	UT_hash_handle hh;
};
struct vs_brake {
	bool on;
	struct vs_brake_end *ends;	/* uthash by vm */
	struct vs_brake_asked *asked;	/* uthash by node */
	int64_t asked_minute;		/* when these were looked through */
};

/* removal_guard.c: may this VM be switched off or destroyed outside of Slurm's own
 * words? Counts it once; lock held */
bool vs_brake_asks(struct vs_core *c, enum vs_braked *state, const char *vm,
		   const char *name);
/* All VMs that it let go are forgotten, and it is off. */
void vs_brake_release(struct vs_brake *b);
void vs_brake_count(struct vs_brake *b, const char *vm, int64_t minute,
		    bool confirmed);
void vs_brake_clear(struct vs_brake *b);
/* Slurm has powered the VM's node down, or uses it again (ends: false). Across a
 * restart that is known for ten minutes; lock held */
void vs_brake_asked(struct vs_core *c, const char *node, const char *vm,
		    bool ends);
/* Of this node, and of this VM of it unless NULL. */
bool vs_brake_was_asked(const struct vs_brake *b, const char *node,
			const char *vm);
void vs_brake_asked_at(struct vs_brake *b, const char *node, const char *vm,
		       int64_t minute);

#endif
