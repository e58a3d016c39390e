/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs whose VMs are suspended for another job's sake (suspend.c, suspend_say.c):
 * a part of core_i.h. The lock is held, but where it says otherwise. */
#ifndef VS_ENGINE_SUSPEND_I_H
#define VS_ENGINE_SUSPEND_I_H

#include <stdbool.h>
#include <stdint.h>

struct vs_core;
struct vs_node;
struct vs_victim;
struct vs_vm;

enum vs_suspend_state {
	VS_SUSPEND_STOPS,	/* Slurm is to stop its processes */
	VS_SUSPEND_HEEDS,	/* it was told; its slurmds are to answer first */
	VS_SUSPEND_GOES,	/* its VMs are being suspended */
	VS_SUSPEND_IS,		/* all of them are */
	VS_SUSPEND_RESUMES,	/* they are powered on, in room that is held */
	VS_SUSPEND_WAKES,	/* they are on; its slurmds are to answer */
};

/* A job from the decision until Slurm has resumed it. */
struct vs_suspend {
	struct vs_suspend *next;
	uint32_t job, for_job;
	enum vs_suspend_state state;
	int64_t since_ms;		/* in this state */
	int64_t wall_ms;		/* suspended since; 0: it isn't */
	int64_t try_ms;			/* not resumed before that */
	int64_t asked_s, asked_ms;	/* its slurmds were asked; 0: not */
	bool answered;			/* all of them have */
	bool back;			/* to be resumed, whoever waits */
	bool waits;			/* for_job pends, as last seen */
	bool held;			/* by an operator */
	bool stopped;			/* for Slurm it is suspended, as last seen */
	char why[200];			/* it can't be resumed; "" */
	/* its nodes, by what vCenter shows of their VMs; of the last pass */
	size_t nodes, on, suspended, busy;
};

struct vs_suspends {
	struct vs_suspend *first;
	int64_t looked_ms, kept_ms;	/* see suspend_say.c */
	size_t continued;		/* nodes whose jobs were told to go on */
	int calls;			/* under way */
	int tries;			/* to resume some, in this turn */
	uint64_t suspended, resumed, failed;	/* jobs, jobs, calls */
};

#define VS_SUSPEND_REFUSED_MS (10 * 60 * 1000)	/* such a VM goes on, or its job ends */

/* NULL: it is not. */
struct vs_suspend *vs_suspend_of(const struct vs_core *c, uint32_t job);
const char *vs_suspend_state_name(enum vs_suspend_state s);
/* May all its VMs be suspended, now? */
bool vs_suspend_may(struct vs_core *c, const struct vs_victim *v);
void vs_suspend_begin(struct vs_core *c, const struct vs_victim *v,
		      uint32_t for_job);
/* Some job on the node is: nobody else may come there. */
bool vs_suspend_on(const struct vs_core *c, const struct vs_node *n);
/* The node's VM is on its way out by that. */
bool vs_suspend_goes(const struct vs_core *c, const struct vs_node *n);
/* It is to be on again, or the others of its job are still on: it needs its hold. */
bool vs_suspend_comes_back(const struct vs_core *c, const struct vs_node *n);
/* Its VM is suspended, and nobody will resume it. */
void vs_suspend_act(struct vs_core *c, struct vs_node *n, int64_t now_ms);
void vs_suspends_pass(struct vs_core *c, int64_t now_ms);
/* Some are under way. */
bool vs_suspends_stir(const struct vs_core *c);
void vs_suspends_clear(struct vs_core *c);
void vs_suspend_drop(struct vs_core *c, struct vs_suspend *s, const char *why);
void vs_suspend_state(struct vs_suspend *s, enum vs_suspend_state state,
		      int64_t now_ms);
/* After a restart, or found so: from what Slurm and vCenter show. */
void vs_suspend_found(struct vs_core *c, uint32_t job, uint32_t for_job,
		      bool held);

/* suspend_room.c: idle VMs go, if that gives its VM room where it is. */
void vs_suspend_make_way(struct vs_core *c, const struct vs_node *n,
			 const struct vs_vm *vm, int64_t now_ms);

/* suspend_report.c: how many jobs; one of them in words, "its VMs are suspended
 * since 14:05 for JobId=20; ..." */
size_t vs_suspends_count(const struct vs_core *c);
void vs_suspend_words(struct vs_core *c, const struct vs_suspend *s, char *out,
		      size_t size);

/* suspend_say.c: words to Slurm, and what it says; without the lock */
void vs_suspend_say(struct vs_core *c, int64_t now_ms);

#endif
