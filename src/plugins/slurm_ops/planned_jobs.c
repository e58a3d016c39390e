/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is to come, by Slurm's own plan: backfill leaves the nodes and the time
 * of each job that it has planned in the job's record (and wipes all of them
 * when it restarts); running jobs have ends.
 *
 * Rules: one walk over the job list under JOB R, in the engine's thread; what is
 * copied under the lock is bounded, names are made of it without the lock.
 */
#include <stdlib.h>
#include "plugins/slurm/bitmap_iter.h"
#include "ops.h"
#include "ops_i.h"
#include "util/mem.h"

#define JOBS_MAX 64		/* the soonest of those that are planned */

struct planned {
	uint32_t job;
	time_t start;
	const char *nodes;	/* the record's own; a copy later */
};

struct walk {
	time_t now, until;
	struct planned jobs[JOBS_MAX];	/* by start */
	size_t njobs;
	struct end { uint32_t job; time_t at; } *ends;	/* by node's index */
	int nnodes;
};

/* In its place by time; the latest falls out. */
static void note_planned(struct walk *w, const job_record_t *job_ptr)
{
	size_t at = w->njobs < JOBS_MAX ? w->njobs++ : JOBS_MAX - 1;

	if (at == JOBS_MAX - 1 && w->jobs[at].nodes &&
	    w->jobs[at].start <= job_ptr->start_time)
		return;
	for (; at && w->jobs[at - 1].start > job_ptr->start_time; at--)
		w->jobs[at] = w->jobs[at - 1];
	w->jobs[at] = (struct planned) {
		.job = job_ptr->job_id, .start = job_ptr->start_time,
		.nodes = job_ptr->sched_nodes,
	};
}

static void note_end(struct walk *w, const job_record_t *job_ptr)
{
	VS_EACH_BIT(i, job_ptr->node_bitmap)
		if (i < w->nnodes && w->ends[i].at < job_ptr->end_time)
			w->ends[i] = (struct end) {
				job_ptr->job_id, job_ptr->end_time,
			};
}

static int note(void *x, void *arg)
{
	const job_record_t *job_ptr = x;
	struct walk *w = arg;

	if (IS_JOB_PENDING(job_ptr)) {
		if (job_ptr->priority && job_ptr->sched_nodes &&
		    job_ptr->start_time && job_ptr->start_time <= w->until)
			note_planned(w, job_ptr);
	} else if (IS_JOB_RUNNING(job_ptr) && job_ptr->node_bitmap) {
		note_end(w, job_ptr);
	}
	return 0;
}

static size_t say_planned(const struct planned *p, time_t now,
			  struct vs_slurm_planned *rows, size_t max)
{
	vs_hostlist_t names = hostlist_create(p->nodes);
	size_t n = 0;
	char *name;

	while (n < max && (name = hostlist_shift(names))) {
		rows[n] = (struct vs_slurm_planned) {
			.job = p->job, .in_s = p->start - now,
		};
		vs_strlcpy(rows[n++].node, name, sizeof(rows[0].node));
		free(name);
	}
	hostlist_destroy(names);
	return n;
}

/* Names of nodes whose last job ends in time. NODE R at least. */
static size_t say_ends(const struct walk *w, struct vs_slurm_planned *rows,
		       size_t max)
{
	size_t n = 0;

	for (int i = 0; i < w->nnodes && n < max; i++) {
		const node_record_t *node_ptr = node_record_table_ptr[i];

		if (!w->ends[i].at || w->ends[i].at > w->until || !node_ptr ||
		    !node_ptr->name)
			continue;
		rows[n] = (struct vs_slurm_planned) {
			.job = w->ends[i].job, .ends = true,
			.in_s = w->ends[i].at - w->now,
		};
		vs_strlcpy(rows[n++].node, node_ptr->name,
			   sizeof(rows[0].node));
	}
	return n;
}

size_t vs_slurm_planned_jobs(void *ctx, int64_t within_s,
			     struct vs_slurm_planned *rows, size_t max)
{
	struct walk *w = vs_calloc(1, sizeof(*w));
	size_t n;

	(void)ctx;
	w->now = time(NULL);
	w->until = w->now + within_s;
	vs_lock_jobs_read();
	w->nnodes = node_record_count;
	w->ends = vs_calloc((size_t)w->nnodes + 1, sizeof(*w->ends));
	list_for_each(job_list, note, w);
	/* Half of the rows at least are the plan's. */
	n = w->njobs ? say_ends(w, rows, max / 2) : 0;
	for (size_t i = 0; i < w->njobs; i++)
		w->jobs[i].nodes = vs_strdup(w->jobs[i].nodes);
	vs_unlock_jobs_read();
	for (size_t i = 0; i < w->njobs; i++) {
		n += say_planned(&w->jobs[i], w->now, rows + n, max - n);
		free((char *)w->jobs[i].nodes);
	}
	free(w->ends);
	free(w);
	return n;
}
