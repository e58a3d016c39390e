/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs for the engine and for people: their states, and what squeue shows of them;
 * by an array's task or a component too. Of many jobs, some under one hold of
 * slurmctld's lock.
 */
#include "plugins/job_assignment.h"
#include "plugins/slurm/compat.h"
#include "ops_i.h"
#include "util/mem.h"

uint32_t vs_slurm_job_part(void *ctx, uint32_t job, bool component, uint32_t n)
{
	job_record_t *job_ptr;
	uint32_t part = 0;

	(void)ctx;
	vs_lock_jobs_read();
	job_ptr = component ? find_het_job_record(job, n) :
		find_job_array_rec(job, n);
	if (job_ptr && (!component || job_ptr->het_job_id))
		part = job_ptr->job_id;
	vs_unlock_jobs_read();
	return part;
}

#define TASKS_MAX 16384		/* of an array; of more "..." */

/* "1-3,7", those that are not tasks of their own yet. */
static void tasks_of(const job_record_t *job_ptr, char *out, int size)
{
	bitstr_t *tasks = job_ptr->array_recs->task_id_bitmap;

	vs_strlcpy(out, "...", (size_t)size);
	if (!tasks || bit_size(tasks) > TASKS_MAX)
		return;
	bit_fmt(out, size, tasks);
	if (strlen(out) + 8 > (size_t)size)	/* it may have been cut */
		vs_strlcpy(out, "...", (size_t)size);
}

/* As squeue writes it. */
static void id_of(const job_record_t *job_ptr, char *out, size_t size)
{
	char tasks[32];

	if (job_ptr->array_recs)
		tasks_of(job_ptr, tasks, sizeof(tasks));
	if (job_ptr->array_task_id != NO_VAL)
		snprintf(out, size, "%u_%u", job_ptr->array_job_id,
			 job_ptr->array_task_id);
	else if (job_ptr->array_recs)
		snprintf(out, size, "%u_[%s]", job_ptr->array_job_id, tasks);
	else if (job_ptr->het_job_id)
		snprintf(out, size, "%u+%u", job_ptr->het_job_id,
			 job_ptr->het_job_offset);
	else
		snprintf(out, size, "%u", job_ptr->job_id);
}

static void text_fill(struct vs_slurm_job_text *text, job_record_t *job_ptr)
{
	id_of(job_ptr, text->id, sizeof(text->id));
	vs_strlcpy(text->partition, job_ptr->partition ? job_ptr->partition :
		   "", sizeof(text->partition));
	vs_strlcpy(text->state, job_state_string(job_ptr->job_state),
		   sizeof(text->state));
	vs_strlcpy(text->reason, vs_reason_name(job_ptr),
		   sizeof(text->reason));
	vs_strlcpy(text->desc, job_ptr->state_desc ? job_ptr->state_desc : "",
		   sizeof(text->desc));
	vs_strlcpy(text->requeued,
		   vs_assignment_requeued(job_ptr->system_comment),
		   sizeof(text->requeued));
	if (text->nodes && IS_JOB_PENDING(job_ptr))
		vs_slurm_job_nodes_fill(text->nodes, job_ptr);
}

static void row_fill(struct vs_slurm_job *row)
{
	job_record_t *job_ptr = find_job_record(row->job);

	*row = (struct vs_slurm_job) { .job = row->job, .text = row->text };
	if (!job_ptr)
		return;
	row->there = true;
	row->uid = job_ptr->user_id;
	row->restart = job_ptr->restart_cnt;
	row->configuring = vs_job_in_prolog(job_ptr);
	row->waits = vs_slurm_waits(job_ptr);
	if (vs_slurm_on_its_nodes(job_ptr)) {
		row->is = VS_JOB_RUNNING;
		row->end = IS_JOB_SUSPENDED(job_ptr) ? INT64_MAX :
			job_ptr->end_time;
	} else if (IS_JOB_PENDING(job_ptr)) {
		row->is = VS_JOB_PENDING;
		row->start = job_ptr->start_time;
		row->passes = vs_backfill_passes();
	}
	if (row->text)
		text_fill(row->text, job_ptr);
}

void vs_slurm_jobs_read(void *ctx, struct vs_slurm_job *rows, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++) {
		if (i % VS_SLURM_SLICE == 0)
			vs_lock_jobs_read();
		row_fill(&rows[i]);
		if (i % VS_SLURM_SLICE == VS_SLURM_SLICE - 1 || i == n - 1)
			vs_unlock_jobs_read();
	}
}
