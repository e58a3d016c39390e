/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that had to wait, with the latest pending reason of each: what the job
 * needs. Its job record shows the reason as long as it is true.
 *
 * The most important reason of the last tests counts. Of many jobs, some are
 * updated in each pass, in turn. This file ends no VMs; reclaim_idle.c asks it
 * which jobs need VFs. The caller holds the core's lock.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/forecast/forecast.h"
#include "engine/jobs/jobs.h"
#include "engine/jobs/jobs_i.h"
#include "engine/slurm/outbox.h"
#include "engine/slurm/slurm_ops.h"
#include "engine/state/state.h"
#include "util/mem.h"
#include "util/time.h"

void vs_pending_free(struct vs_pending *r)
{
	vs_forecast_settled(r->job);
	HASH_DEL(vs_jobs.refused, r);
	free(r->ids);
	free(r);
}

/* A job is tested part by part, in each of its partitions, and by backfill: the
 * strongest word of late counts, of equal ones the scheduler's own. */
static bool counts_more(const struct vs_pending *r,
			const struct vs_requesting_job *a)
{
	int64_t age_ms = vs_clock() - r->at_ms;

	return (r->lacks < a->lacks && age_ms < VS_PENDING_COUNTS_MS) ||
	       (r->lacks <= a->lacks && a->in_backfill && !r->in_backfill &&
		age_ms < VS_PENDING_FRESH_MS);
}

bool vs_job_needs_vfs(const struct vs_pending *r, int64_t now_ms)
{
	return r->lacks == VS_PENDING_VFS &&
	       now_ms - r->at_ms < VS_PENDING_FRESH_MS;
}

/* What of VFs is to be said of a job for whose nodes Slurm waits; "": nothing. */
static void nodes_words(struct vs_core *c, const int *ids, size_t n,
			size_t need, const char *have, char *why, size_t size)
{
	char needs[VS_NAME_LEN + 80];
	bool vf = false;

	why[0] = '\0';
	for (size_t i = 0; i < n && !vf; i++) {
		const struct vs_node *node = vs_node_at(c, ids[i]);

		vf = node && vs_adapter_takes(node->profile->adapter);
	}
	vs_need_text(c, ids, n, need, needs, sizeof(needs));
	if (vf)
		snprintf(why, size, "%s, %s", needs, have);
}

void vs_job_set_pending(struct vs_core *c, const struct vs_requesting_job *a,
			const int *ids, size_t n, size_t need, const char *why)
{
	uint32_t job = a->job;
	char words[sizeof(((struct vs_pending *)0)->why)];
	struct vs_pending *r;

	vs_assert_locked();
	if (!a->in_backfill && a->lacks != VS_PENDING_NODES)
		vs_forecast_refused(c, a, ids, n);
	if (a->lacks == VS_PENDING_NODES) {
		nodes_words(c, ids, n, need, why, words, sizeof(words));
		why = words;
	}
	HASH_FIND(hh, vs_jobs.refused, &job, sizeof(job), r);
	vs_metrics_pending(r, a->lacks, vs_clock());
	if (!why[0] || (r && counts_more(r, a)))
		return;
	if (!r) {
		r = vs_calloc(1, sizeof(*r));
		r->job = job;
		vs_metrics_pending(r, a->lacks, vs_clock());
		HASH_ADD(hh, vs_jobs.refused, job, sizeof(r->job), r);
	}
	/* The time that is said was reckoned for other counts. */
	if (r->need != need || strncmp(r->why, why, sizeof(r->why) - 1))
		vs_estimate_forget(r);
	r->ids = vs_realloc(r->ids, n + 1, sizeof(*r->ids));
	memcpy(r->ids, ids, n * sizeof(*ids));
	r->n = n;
	r->need = need;
	r->in_backfill = a->in_backfill;
	r->lacks = a->lacks;
	r->rank = a->rank;
	r->lasts = a->lasts > UINT32_MAX ? UINT32_MAX : (uint32_t)a->lasts;
	r->at_ms = vs_clock();
	vs_strlcpy(r->why, why, sizeof(r->why));
	vs_estimate_tested(c, r);
}

bool vs_jobs_need_vfs(void)
{
	const struct vs_pending *r = vs_jobs.refused;

	vs_assert_locked();
	while (r && r->lacks == VS_PENDING_NODES)
		r = r->hh.next;
	return r;
}

size_t vs_jobs_next(bool lacking, int64_t now_ms,
		    unsigned int *turn, uint32_t *jobs, size_t max)
{
	struct vs_pending *r, *tmp;
	size_t n = 0, first, i = 0, count;

	HASH_ITER(hh, vs_jobs.refused, r, tmp)
		n += !lacking || vs_job_needs_vfs(r, now_ms);
	count = n < max ? n : max;
	first = n > max ? *turn % n : 0;
	HASH_ITER(hh, vs_jobs.refused, r, tmp) {
		size_t at;

		if (lacking && !vs_job_needs_vfs(r, now_ms))
			continue;
		at = (i++ + n - first) % n;
		if (at < count)
			jobs[at] = r->job;
	}
	*turn += (unsigned int)count;
	return count;
}

/* The job waits for something else now, and Slurm doesn't ask whether VFs would
 * do. */
static bool other_reason(const struct vs_pending *r, enum vs_job_waits waits)
{
	return waits == VS_WAITS_ELSE &&
	       vs_clock() - r->at_ms >= VS_PENDING_ASKED_MS;
}

/* What its record says of it isn't true any more. */
static void refused_over(struct vs_pending *r)
{
	if (r->told[0])
		vs_outbox_post(VS_REQUEST_REASON, NULL, r->job, false, "");
	vs_pending_free(r);
}

/* Slurm's first word on it replaces what was estimated. */
static void plan_known(struct vs_pending *r, int64_t start)
{
	if (start && !r->planned) {
		vs_estimate_forget(r);
		r->wiped = true;
	}
	r->planned = start;
}

void vs_job_rechecked(uint32_t job, enum vs_job_waits waits,
		      int64_t start)
{
	struct vs_pending *r;

	vs_assert_locked();
	HASH_FIND(hh, vs_jobs.refused, &job, sizeof(job), r);
	if (r && (waits == VS_WAITS_NOT || other_reason(r, waits))) {
		refused_over(r);
	} else if (r) {
		plan_known(r, start);
		r->wiped |= waits == VS_WAITS_WORDLESS;
	}
}

/* Slurm rewrites a pending job's reason in every cycle: say it again, but not
 * more often than people read. */
static bool is_due(const struct vs_pending *r, const char *why, int64_t now_ms)
{
	return now_ms - r->told_ms >= (strcmp(why, r->told) ? 1000 : 3000);
}

#define LOOKS_PER_PASS 16
#define WORDS_PER_PASS 64

void vs_job_pending_text(struct vs_core *c, const struct vs_pending *r,
			 char *out, size_t size)
{
	vs_assert_locked();
	if (c->observe)
		vs_observe_text(c, r, out, size);
	else
		vs_estimate_text(r, out, size);
}

/* look: its time may be estimated again. Returns true if it was. */
static bool say_reason(struct vs_core *c, struct vs_pending *r, bool look,
		       int64_t now_ms)
{
	char words[sizeof(r->told)];

	if ((r->at_ms <= r->told_ms && !r->wiped) || !is_due(r, "", now_ms))
		return false;
	look &= vs_estimate_is_due(r, now_ms);
	if (look)
		vs_estimate_update(c, r, now_ms);
	else if (!r->expected_ms)
		return false;		/* in its turn */
	vs_job_pending_text(c, r, words, sizeof(words));
	if (!is_due(r, words, now_ms))
		return look;
	vs_strlcpy(r->told, words, sizeof(r->told));
	r->told_ms = now_ms;
	r->wiped = false;
	vs_outbox_post(VS_REQUEST_REASON, NULL, r->job, false, words);
	return look;
}

void vs_job_reasons(struct vs_core *c, int64_t now_ms)
{
	uint32_t jobs[WORDS_PER_PASS];
	struct vs_pending *r;
	int looks = 0;
	size_t n = vs_jobs_next(false, now_ms, &vs_jobs.reasons_turn, jobs,
				VS_COUNT(jobs));

	vs_assert_locked();
	for (size_t i = 0; i < n; i++) {
		HASH_FIND(hh, vs_jobs.refused, &jobs[i], sizeof(jobs[i]), r);
		if (now_ms - r->at_ms > 10 * 60 * 1000)
			refused_over(r);
		else
			looks += say_reason(c, r, looks < LOOKS_PER_PASS,
					    now_ms);
	}
}

struct vs_pending *vs_refusals(void)
{
	return vs_jobs.refused;
}

struct vs_pending *vs_refusal(uint32_t job)
{
	struct vs_pending *r;

	HASH_FIND(hh, vs_jobs.refused, &job, sizeof(job), r);
	return r;
}

void vs_jobs_renumber(void (*fn)(void *arg, int *ids, size_t *n), void *arg)
{
	struct vs_pending *r, *tmp;

	for (struct vs_wait *w = *vs_waits_first(); w; w = w->next)
		fn(arg, w->ids, &w->n);
	HASH_ITER(hh, vs_jobs.refused, r, tmp)
		fn(arg, r->ids, &r->n);
}
