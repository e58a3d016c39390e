/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plans: jobs that are to begin later and reservations, and what is left
 * between them for those that come after.
 *
 * Rules: a plan binds only those who rank behind its job, never the job itself;
 * a plan whose time has come and whose job has not begun holds its places until
 * it is dropped. One question passes once over the plans, in the order of time.
 */
#include <stdlib.h>
#include <string.h>
#include "plan/forecast/timeline.h"
#include "util/mem.h"

#define TRIES 64			/* at least, and more where few plans */
#define WORK 100000			/* are gone through each time */

/* ---- in order -------------------------------------------------------------------- */

static void put_in(struct vs_plan **list, size_t n, struct vs_plan *p,
		   bool by_end)
{
	size_t at = n;

	while (at && (by_end ? list[at - 1]->end > p->end :
		      list[at - 1]->start > p->start))
		at--;
	memmove(&list[at + 1], &list[at], (n - at) * sizeof(*list));
	list[at] = p;
}

static void take_from(struct vs_plan **list, size_t n, const struct vs_plan *p)
{
	size_t at = 0;

	while (list[at] != p)
		at++;
	memmove(&list[at], &list[at + 1], (n - at - 1) * sizeof(*list));
}

static void plan_insert(struct vs_timeline *t, struct vs_plan *p)
{
	VS_GROW(t->by_start, t->cap_start, t->nplans + 1);
	VS_GROW(t->by_stop, t->cap_stop, t->nplans + 1);
	put_in(t->by_start, t->nplans, p, false);
	put_in(t->by_stop, t->nplans, p, true);
	t->nplans++;
}

static void plan_remove(struct vs_timeline *t, const struct vs_plan *p)
{
	take_from(t->by_start, t->nplans, p);
	take_from(t->by_stop, t->nplans, p);
	t->nplans--;
}

static void plan_free(struct vs_plan *p)
{
	free(p->need);
	free(p);
}

static struct vs_plan *plan_new(const struct vs_timeline *t, int64_t start,
				int64_t end, const size_t *need)
{
	struct vs_plan *p = vs_calloc(1, sizeof(*p));

	p->start = start;
	p->end = end;
	p->need = vs_calloc(t->nkinds + 1, sizeof(*p->need));
	memcpy(p->need, need, t->nkinds * sizeof(*need));
	return p;
}

struct vs_plan *vs_timeline_job_plan(const struct vs_timeline *t, uint32_t job)
{
	struct vs_plan *p;

	HASH_FIND(hh, t->plans, &job, sizeof(job), p);
	return p;
}

void vs_timeline_plan_drop(struct vs_timeline *t, uint32_t job)
{
	struct vs_plan *p = vs_timeline_job_plan(t, job);

	if (!p)
		return;
	plan_remove(t, p);
	HASH_DEL(t->plans, p);
	plan_free(p);
}

struct vs_plan *vs_timeline_plan(struct vs_timeline *t, uint32_t job,
				 uint64_t rank, int64_t start, int64_t end,
				 const size_t *need, int64_t now_ms)
{
	struct vs_plan *p;

	vs_timeline_plan_drop(t, job);
	p = plan_new(t, start, end, need);
	p->job = job;
	p->rank = rank;
	p->told_ms = now_ms;
	HASH_ADD(hh, t->plans, job, sizeof(p->job), p);
	plan_insert(t, p);
	return p;
}

void vs_timeline_plan_move(struct vs_timeline *t, struct vs_plan *p,
			   int64_t start)
{
	plan_remove(t, p);
	p->end += start - p->start;
	p->start = start;
	plan_insert(t, p);
}

void vs_timeline_unreserve(struct vs_timeline *t)
{
	size_t n = 0, stop = 0;

	for (size_t i = 0; i < t->nplans; i++)
		if (t->by_stop[i]->job)
			t->by_stop[stop++] = t->by_stop[i];
	for (size_t i = 0; i < t->nplans; i++) {
		struct vs_plan *p = t->by_start[i];

		if (p->job)
			t->by_start[n++] = p;
		else
			plan_free(p);
	}
	t->nplans = n;
}

void vs_timeline_reserve(struct vs_timeline *t, int64_t start, int64_t end,
			 const size_t *need)
{
	plan_insert(t, plan_new(t, start, end, need));
}

/* ---- what is left between them --------------------------------------------------- */

/* The places of the applicant's that this plan takes. */
static size_t taken_by(const struct vs_timeline *t, const struct vs_plan *p,
		       const struct vs_applicant *a)
{
	const bool *shared = &t->shared[a->kind * t->nkinds];
	size_t n = 0;

	if (p->job == a->job && p->job)
		return 0;
	if (p->job ? p->rank < a->rank ||
	    (p->rank == a->rank && p->job > a->job) : a->reserved)
		return 0;
	for (size_t k = 0; k < t->nkinds; k++)
		if (k == a->kind || shared[k])
			n += p->need[k];
	return n;
}

/* What plans take of the applicant's places, asked of one after the other in the
 * order of their starts. */
struct sweep {
	const struct vs_timeline *t;
	const struct vs_applicant *a;
	int64_t from;			/* what is over by then doesn't count */
	size_t taken, stops;
};

/* With this one, which takes `much` from `at` on. */
static size_t sweep(struct sweep *s, size_t much, int64_t at)
{
	const struct vs_timeline *t = s->t;

	for (; s->stops < t->nplans && t->by_stop[s->stops]->end <= at;
	     s->stops++) {
		const struct vs_plan *p = t->by_stop[s->stops];

		if (p->end > s->from)
			s->taken -= taken_by(t, p, s->a);
	}
	return s->taken += much;
}

size_t vs_timeline_planned(const struct vs_timeline *t,
			   const struct vs_applicant *a, int64_t from,
			   int64_t to)
{
	struct sweep s = { .t = t, .a = a, .from = from };
	size_t most = 0;

	for (size_t i = 0; i < t->nplans && t->by_start[i]->start < to; i++) {
		const struct vs_plan *p = t->by_start[i];
		size_t taken;

		if (p->end <= from)
			continue;
		taken = sweep(&s, taken_by(t, p, a), p->start);
		most = taken > most ? taken : most;
	}
	return most;
}

/* What is left at that time, given what the plans take then. */
static size_t left(const struct vs_timeline *t, const struct vs_curve *c,
		   size_t room, int64_t at, size_t taken)
{
	size_t have = room + vs_curve_released_by(c, t, at);

	return have > taken ? have - taken : 0;
}

/* SIZE_MAX: no plan is in the way; *worst: when the least is left. */
static size_t spare(const struct vs_timeline *t, const struct vs_curve *c,
		    const struct vs_applicant *a, size_t room, int64_t from,
		    int64_t to, int64_t *worst)
{
	struct sweep s = { .t = t, .a = a, .from = from };
	size_t least = SIZE_MAX;

	*worst = from;
	for (size_t i = 0; i < t->nplans && t->by_start[i]->start < to; i++) {
		const struct vs_plan *p = t->by_start[i];
		size_t much = p->end > from ? taken_by(t, p, a) : 0, have;
		/* who is to have begun by then and hasn't, waits */
		int64_t at = p->start > from ? p->start : from;

		if (!much)
			continue;
		have = left(t, c, room, at, sweep(&s, much, at));
		if (have < least) {
			least = have;
			*worst = at;
		}
	}
	return least;
}

size_t vs_timeline_surplus(const struct vs_timeline *t,
			   const struct vs_curve *c,
			   const struct vs_applicant *a, size_t room,
			   int64_t from, int64_t to)
{
	int64_t worst;

	return spare(t, c, a, room, from, to, &worst);
}

/* The next time at which it may be otherwise than at `worst`: a plan ends, or
 * running jobs have. */
static int64_t next_try(const struct vs_timeline *t, const struct vs_curve *c,
			const struct vs_applicant *a, int64_t worst,
			size_t missing)
{
	int64_t next = vs_curve_at(c, t,
				   vs_curve_released_by(c, t, worst) + missing);

	for (size_t i = 0; i < t->nplans; i++) {
		const struct vs_plan *p = t->by_stop[i];

		if (p->end > worst && p->end < next && taken_by(t, p, a))
			return p->end;
	}
	return next;
}

int64_t vs_timeline_start(const struct vs_timeline *t, const struct vs_curve *c,
			  const struct vs_applicant *a, size_t room,
			  size_t need, int64_t from, int64_t lasts)
{
	size_t tries = WORK / (t->nplans + 1);

	for (tries = tries > TRIES ? tries : TRIES; tries; tries--) {
		int64_t worst;
		size_t have = spare(t, c, a, room, from, from + lasts, &worst);

		if (have >= need)
			return from;
		from = next_try(t, c, a, worst, need - have);
		if (from == VS_TIME_NEVER)
			break;
	}
	return from;	/* not before that, though it may be later */
}
