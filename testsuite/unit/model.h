/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm as the engine sees it, in memory and coarse: see model.c. Who uses it
 * turns the clock, plays vCenter and reads what was broken.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "engine/slurm/slurm_ops.h"

#define MODEL_NODES 3
#define MODEL_JOBS 10
#define MODEL_SUSPENDING_MS 5000

enum model_job_state { MODEL_QUEUED, MODEL_CONFIGURING, MODEL_RUNNING,
		       MODEL_OVER };

struct model_node {
	bool powered_down, powering_up, powering_down;
	bool off_asked, on_asked;	/* power_save has yet to do it */
	bool down, silent;		/* silent: NOT_RESPONDING */
	bool timed_out;			/* DOWN for that, by SlurmdTimeout */
	bool drained;			/* by people */
	bool stale;			/* counted as allocated, no job has it */
	int given_up;			/* so often since it went down last */
	int row;			/* model_rows.c: which it is in, */
	int64_t row_ms;			/* since then */
	int64_t powering_down_until;
	int64_t boot_ms;		/* ResumeTimeout runs since then, */
	bool untimed;			/* unless it is told not to */
	int64_t idle_ms;		/* SuspendTime runs since then */
	int64_t lost_ms;		/* its slurmd is no more; 0: it is */
	int64_t deaf_ms;		/* it hangs until then */
	/* what runs in its VM */
	char moid[32];			/* "": nothing */
	int64_t on_ms;
	int64_t register_ms;		/* slurmd will, 0: it has */
};

struct model_job {
	enum model_job_state state;
	int n, nodes[2], length_ms;
	uint32_t restart;
	bool exclusive;
	bool waits;			/* its prolog has been said */
	bool cleaning;			/* and not been answered: WAIT_CLEANING */
	int64_t begin_ms, prolog_ms, end_ms;
};

struct model {
	int64_t now;
	unsigned seed;
	const char *retention;
	bool events;			/* people and faults are at work */
	bool away;			/* vCenter is */
	bool people;			/* who drain, power down by force, ... */
	int lost;			/* this host doesn't answer; 0: all do */
	int broken;			/* invariants, by now */
	FILE *story;
	struct model_node nodes[MODEL_NODES];
	struct model_job jobs[MODEL_JOBS + 1];	/* by number; none has 0 */
};
extern struct model model;
extern const struct vs_slurm_ops model_port;
extern const struct vs_prep_ops model_prep;

void model_begin(unsigned seed, FILE *story);
unsigned model_random(unsigned below);
bool model_chance(unsigned permille);
void model_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* An invariant is: the story says which. */
void model_broken(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* model.c: what is, and what the engine's words do to it */
bool model_active(const struct model_job *q);	/* it has nodes */
bool model_has(const struct model_job *q, int node);
int model_jobs_on(int node);
bool model_is_up(const struct model_node *n);
uint32_t model_flags(int node);			/* as the port reads them */
void model_tell_flags(void);
struct fake_vm *model_vm(int node);
void model_leave(int job, bool requeue);
void model_requeue_on(int node);
void model_set_down(int node, const char *why);

/* model_life.c: what happens by itself, and what people do; in each pass */
void model_guests(void);
void model_slurm(void);
void model_restarted(void);	/* slurmctld, and the engine forgot all */
bool model_over(void);		/* every job is */
bool model_rests(void);		/* so does every node, powered down */
void model_state(void);		/* into the story */
bool model_lost(const struct fake_vm *vm);	/* on a host that doesn't answer */

/* model_rows.c: the table of doc/dev/node-states.md */
#define MODEL_ROWS_MAX 32
struct model_row {
	const char *name;
	unsigned reached, left;
	unsigned next[MODEL_ROWS_MAX];	/* how often, to which */
};
extern struct model_row model_rows[];
extern const int model_nrows;
void model_rows_look(void);		/* once in each turn */

#endif
