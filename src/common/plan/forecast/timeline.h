/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The timeline: when those who hold a place today let go of it, and who has
 * been promised one for later. Holders stand in groups, one for each running
 * job, ordered by the job's end; plans are jobs that are to begin later, and
 * reservations.
 *
 * Times are seconds since the epoch. "Kinds" are sorts of VM (profiles):
 * capacity_curve.h says how much room one holder's end makes for a kind.
 *
 * Owns struct vs_timeline, its groups and its plans; vs_timeline_clear() frees
 * them. A pointer to a plan is good until the plan is dropped or replaced, or
 * vs_timeline_size() is called. No function fails, and none takes a lock: the
 * caller keeps others from the timeline during the call.
 */
#ifndef VS_PLAN_TIMELINE_H
#define VS_PLAN_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include "plan/forecast/capacity_curve.h"
#include "util/hash.h"

#define VS_TIME_NEVER INT64_MAX

/* Holders by who keeps them there: jobs have their id. */
#define VS_HOLDER_IDLE 0u		/* no job: may go at any time */
#define VS_HOLDER_STAYS UINT32_MAX	/* unknown when it goes */

struct vs_holders {			/* a group */
	uint32_t job;
	int64_t end;
	size_t slot;			/* its number while it is there */
	int *ids;
	size_t n, cap;
	UT_hash_handle hh;
};

/* Groups in order, side by side for those that pass over all of them. */
struct vs_ending {
	int64_t end;
	size_t slot;
	struct vs_holders *of;
};

struct vs_timeline_place {			/* an id's place */
	struct vs_holders *of;		/* NULL: none */
	size_t at;			/* in of->ids */
	uint64_t changed;		/* generation of the last change */
	TAILQ_ENTRY(vs_timeline_place) by_change;
};

struct vs_plan {
	uint32_t job;			/* 0: a reservation */
	uint64_t rank;			/* the higher the sooner */
	int64_t start, end;
	int64_t told_ms;		/* the caller's: when it was said last */
	uint32_t passes;		/* the caller's: of backfill, ended by then */
	size_t *need;			/* VMs, by kind */
	UT_hash_handle hh;		/* by job; reservations are in no hash */
};

struct vs_timeline {
	struct vs_holders *groups;	/* uthash by job */
	struct vs_ending *by_end;	/* ngroups of them */
	size_t ngroups, cap_groups;
	size_t *slots;			/* free ones */
	size_t nslots, cap_slots;
	struct vs_timeline_place *held;		/* by id */
	size_t nids;
	TAILQ_HEAD(vs_timeline_changed, vs_timeline_place) by_change; /* latest last */
	uint64_t generation;		/* moves with every change of these */
	uint64_t sized;			/* at the last vs_timeline_size() */

	struct vs_plan *plans;		/* uthash by job */
	struct vs_plan **by_start, **by_stop; /* all, reservations too */
	size_t nplans, cap_start, cap_stop;
	size_t nkinds;
	bool *shared;			/* kinds that want the same places */
};

void vs_timeline_clear(struct vs_timeline *t);
/* Ids are below nids, kinds below nkinds from here on; holders and plans are
 * gone, groups and their ends stay. */
void vs_timeline_size(struct vs_timeline *t, size_t nids, size_t nkinds);

/* ---- holders --------------------------------------------------------------- */

/* The job's end, as known now. */
void vs_timeline_end(struct vs_timeline *t, uint32_t job, int64_t end);
/* VS_TIME_NEVER if it isn't known. */
int64_t vs_timeline_job_end(const struct vs_timeline *t, uint32_t job);
/* id holds a place, and `job` keeps it. */
void vs_timeline_claim(struct vs_timeline *t, int id, uint32_t job);
void vs_timeline_let_go(struct vs_timeline *t, int id);
/* It has ended: forgotten unless something still holds a place for it. */
void vs_timeline_forget(struct vs_timeline *t, uint32_t job);

/* How many groups end by then: they are the first of by_end. */
size_t vs_timeline_ended(const struct vs_timeline *t, int64_t at);

/* ---- plans ----------------------------------------------------------------- */

/* A job's plan, instead of the one it had. need[nkinds] is copied. Returns the
 * plan, which is the timeline's; never NULL. */
struct vs_plan *vs_timeline_plan(struct vs_timeline *t, uint32_t job,
				 uint64_t rank, int64_t start, int64_t end,
				 const size_t *need, int64_t now_ms);
struct vs_plan *vs_timeline_job_plan(const struct vs_timeline *t, uint32_t job);
/* Another start; it lasts as long as before. */
void vs_timeline_plan_move(struct vs_timeline *t, struct vs_plan *p,
			   int64_t start);
void vs_timeline_plan_drop(struct vs_timeline *t, uint32_t job);
/* Forgets all reservations. The caller adds them again. */
void vs_timeline_unreserve(struct vs_timeline *t);
void vs_timeline_reserve(struct vs_timeline *t, int64_t start, int64_t end,
			 const size_t *need);

/* Who asks. */
struct vs_applicant {
	uint32_t job;
	uint64_t rank;
	size_t kind;
	bool reserved;			/* it runs in a reservation: none is in
					 * its way */
};
/* How many places of the applicant's those who go before have been promised, at
 * one and the same time between the two, at most. */
size_t vs_timeline_planned(const struct vs_timeline *t,
			   const struct vs_applicant *a, int64_t from,
			   int64_t to);
/* How many VMs of the kind can run from `from` until `to` without standing in
 * the way of those who go before the applicant, if there is `room` now and the
 * curve says what comes. */
size_t vs_timeline_surplus(const struct vs_timeline *t,
			   const struct vs_curve *c,
			   const struct vs_applicant *a, size_t room,
			   int64_t from, int64_t to);
/* The earliest time, from `from` on, for `need` of them and `lasts` seconds;
 * VS_TIME_NEVER. */
int64_t vs_timeline_start(const struct vs_timeline *t, const struct vs_curve *c,
			  const struct vs_applicant *a, size_t room,
			  size_t need, int64_t from, int64_t lasts);

#endif
