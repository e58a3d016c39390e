/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs whose VMs are suspended for another job's sake (suspend.c, suspend_say.c):
 * a part of core_i.h. The lock is held, but where it says otherwise. */
#ifndef VS_ENGINE_SUSPEND_I_H
#define VS_ENGINE_SUSPEND_I_H

#include <stdbool.h>
#include <stdint.h>
#include "plan/inventory.h"
#include "util/hash.h"

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
	UT_hash_handle hh;
	uint32_t job, for_job;
	enum vs_suspend_state state;
	int64_t since_ms;		/* in this state */
	int64_t wall_ms;		/* suspended since; 0: it isn't */
	int64_t try_ms;			/* not resumed before that */
	int64_t asked_s, asked_ms;	/* its slurmds were asked; 0: not */
	bool answered;			/* all of them have */
	bool back;			/* to be resumed, whoever waits */
	bool pends;			/* for_job does, as last seen */
	bool waits;			/* and for what this one has given */
	bool counted;			/* begun is known */
	uint32_t begun;			/* tasks of for_job's array, before all
					 * was given */
	bool held;			/* by an operator */
	bool stopped;			/* for Slurm it is suspended, as last seen */
	char why[200];			/* it can't be resumed; "" */
	int64_t lacks_ms;		/* a VM isn't to be had since; 0 */
	int64_t fails_ms;		/* resumes fail since; 0 */
	bool lost;			/* for so long that Slurm is to judge */
	bool more_to_come;		/* others for for_job are on their way */
	bool short_of;			/* one of them has turned back */
	/* its nodes, by what vCenter shows of their VMs; of the last pass */
	int *ids;
	size_t nodes, cap_ids, on, suspended, busy;
	size_t was_on;			/* of the pass before */
};

/* A job for which others were suspended, and that didn't begin in their room:
 * something else keeps it, a limit perhaps. */
struct vs_vain {
	UT_hash_handle hh;
	uint32_t job;
	int times;
	int64_t until_ms;		/* nobody is suspended for it before that */
};

struct vs_suspends {
	struct vs_suspend *jobs;	/* uthash by job */
	int64_t looked_ms, kept_ms;	/* see suspend_say.c */
	bool look;			/* at a new one, before a word is said */
	size_t found_from;		/* the next node to look at for such jobs */
	size_t continued;		/* nodes whose jobs were told to go on */
	int calls;			/* the most that were under way together */
	uint32_t *givers;		/* of this pass, see vs_suspend_givers */
	int tries;			/* to resume some, in this turn */
	uint32_t tried;			/* the last of them */
	struct vs_vain *vain;		/* uthash by job */
	uint64_t suspended, resumed, failed;	/* jobs, jobs, calls */
};

#define VS_SUSPEND_KEEP_MS 5000	/* so often Slurm hears that a silence is known */
#define VS_SUSPEND_ASK_MS 15000	/* a question may come before its guest's network */
/* What SlurmdTimeout is at least. ping_nodes() lets a node be silent for that and
 * a third (the time between two rounds): longer than the one that comes late on a
 * busy controller, and than both questions to a guest that goes on. */
#define VS_SUSPEND_SILENCE_MS (VS_SUSPEND_KEEP_MS + VS_SUSPEND_ASK_MS)

#define VS_SUSPEND_TRY_MS 1000
#define VS_SUSPEND_REFUSED_MS (10 * 60 * 1000)	/* such a VM goes on, or its job ends */

#define VS_EACH_SUSPEND(c, s) \
	for (struct vs_suspend *s = (c)->suspends.jobs; s; s = s->hh.next)

/* Its nodes that are its still; no break within. */
#define VS_EACH_OF_SUSPEND(c, s, n)					\
	for (size_t n##_at = 0; n##_at < (s)->nodes; n##_at++)		\
		for (struct vs_node *n = vs_suspend_node(c, s, n##_at); n; \
		     n = NULL)

struct vs_node *vs_suspend_node(struct vs_core *c, const struct vs_suspend *s,
				size_t at);
/* Its VM, if nothing is under way for it and vCenter shows it so. */
const struct vs_vm *vs_suspend_shown(struct vs_core *c, const struct vs_node *n,
				     enum vs_power power);
/* NULL: it is not. */
struct vs_suspend *vs_suspend_of(const struct vs_core *c, uint32_t job);
/* Of the job that the node has. */
struct vs_suspend *vs_suspend_of_node(const struct vs_core *c,
				      const struct vs_node *n);
const char *vs_suspend_state_name(enum vs_suspend_state s);
/* Memory that is still to be written, MB. */
struct vs_unwritten {
	int64_t *store_mb;		/* by pool, c->inv.npools of them */
	int64_t all_mb;
	int64_t unknown_mb;		/* nobody knows where to, of all_mb */
};

/* As of now; the end frees it. add: what v's would write, too. */
void vs_unwritten_begin(struct vs_core *c, struct vs_unwritten *u);
void vs_unwritten_add(struct vs_core *c, struct vs_unwritten *u,
		      const struct vs_victim *v);
void vs_unwritten_end(struct vs_unwritten *u);
/* May all its VMs be suspended, now? u is left as it was. */
bool vs_suspend_may(struct vs_core *c, const struct vs_victim *v,
		    struct vs_unwritten *u);
void vs_suspend_begin(struct vs_core *c, const struct vs_victim *v,
		      uint32_t for_job);
/* It had its room and didn't begin; nobody is suspended for it for a while, each
 * time twice as long. */
void vs_suspend_in_vain(struct vs_core *c, uint32_t for_job, int64_t now_ms);
/* As vs_clock() has it; 0: it may have others suspended. */
int64_t vs_suspend_vain_until(const struct vs_core *c, uint32_t for_job);
/* Some job on the node is: nobody else may come there. */
bool vs_suspend_on(const struct vs_core *c, const struct vs_node *n);
/* The node's VM is on its way out by that. */
bool vs_suspend_goes(const struct vs_core *c, const struct vs_node *n);
/* It is to be on again, or the others of its job are still on: it needs its hold. */
bool vs_suspend_comes_back(const struct vs_core *c, const struct vs_node *n);
void vs_suspends_pass(struct vs_core *c, int64_t now_ms);
/* Some are under way. */
bool vs_suspends_stir(const struct vs_core *c);
void vs_suspends_clear(struct vs_core *c);
void vs_suspend_drop(struct vs_core *c, struct vs_suspend *s, const char *why);
void vs_suspend_state(struct vs_suspend *s, enum vs_suspend_state state,
		      int64_t now_ms);
struct vs_port_look;
/* After a restart, or found so: from what Slurm and vCenter show. */
void vs_suspend_found(struct vs_core *c, const struct vs_port_look *row);

/* suspend_vm.c: its VM is suspended, and nobody will resume it. */
void vs_suspend_act(struct vs_core *c, struct vs_node *n, int64_t now_ms);
/* A call for it, of s, that takes too long. */
void vs_suspend_call_off(struct vs_core *c, struct vs_node *n,
			 struct vs_suspend *s, int64_t now_ms);

/* suspend_lacks.c: a VM of it isn't to be had, whatever room there is: noted, and
 * said in s->why. True: it can't go on now. */
bool vs_suspend_lacks(struct vs_core *c, struct vs_suspend *s, int64_t now_ms);
/* None of its VMs is suspended, as last seen. */
bool vs_suspend_none(struct vs_core *c, const struct vs_suspend *s);
/* After each pass: has it been without a VM, or failed, for too long? */
void vs_suspend_judge(struct vs_suspend *s, int64_t now_ms);
/* Nobody acts: who is stopped for a suspend that doesn't come goes on. */
void vs_suspends_away(struct vs_core *c, int64_t now_ms);
/* One of ours that isn't over, and nobody sees how it is: its slurmds are asked. */
bool vs_suspend_asks_away(const struct vs_core *c, const struct vs_suspend *s,
			  int64_t now_ms);

/* suspend_place.c: what it has given is another one's, which has yet to begin and
 * has its time for that. */
bool vs_suspend_gives_way(const struct vs_suspend *s, int64_t now_ms);
/* Which job does, by host's index: 0 none, UINT32_MAX several; the caller frees. */
uint32_t *vs_suspend_givers(struct vs_core *c, int64_t now_ms);
/* All or none: holds for its suspended VMs where they are; or why not. */
bool vs_suspend_place(struct vs_core *c, struct vs_suspend *s, int64_t now_ms);
/* They are powered on. */
void vs_suspend_power_on(struct vs_core *c, struct vs_suspend *s,
			 int64_t now_ms);
/* What keeps it, for people; logged once. */
void vs_suspend_cannot(struct vs_suspend *s, const char *why);

/* suspend_room.c: idle VMs go, if that gives its VM room where it is. */
void vs_suspend_make_way(struct vs_core *c, const struct vs_node *n,
			 const struct vs_vm *vm, int64_t now_ms);

/* suspend_report.c: how many jobs; one of them in words, "its VMs are suspended
 * since 14:05 for JobId=20; ..." */
size_t vs_suspends_count(const struct vs_core *c);
void vs_suspend_words(struct vs_core *c, const struct vs_suspend *s, char *out,
		      size_t size);

/* Of one that pends: why others aren't suspended for it, behind what text says. */
void vs_suspend_vain_words(const struct vs_core *c, uint32_t for_job,
			   char *text, size_t size);

/* suspend_say.c: words to Slurm, and what it says; without the lock */
void vs_suspend_say(struct vs_core *c, int64_t now_ms);

#endif
