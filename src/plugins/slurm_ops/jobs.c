/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs as people ask for them: by an array's task or a component, and what their
 * records say. From the control channel's thread; of many jobs some under one
 * hold of slurmctld's lock. And their states, for the engine.
 */
#include "plugins/slurm/compat.h"
#include "ops_i.h"
#include "util/mem.h"

uint32_t vs_slurm_task_job(void *ctx, uint32_t array, uint32_t task)
{
	job_record_t *job_ptr;
	uint32_t job;

	(void)ctx;
	vs_lock_jobs_read();
	job_ptr = find_job_array_rec(array, task);
	job = job_ptr ? job_ptr->job_id : 0;
	vs_unlock_jobs_read();
	return job;
}

uint32_t vs_slurm_component_job(void *ctx, uint32_t leader, uint32_t offset)
{
	job_record_t *job_ptr;
	uint32_t job;

	(void)ctx;
	vs_lock_jobs_read();
	job_ptr = find_het_job_record(leader, offset);
	job = job_ptr && job_ptr->het_job_id ? job_ptr->job_id : 0;
	vs_unlock_jobs_read();
	return job;
}

int vs_slurm_job_info(void *ctx, uint32_t job, uint32_t *uid, char *state,
		      size_t state_size, char *reason, size_t reason_size)
{
	job_record_t *job_ptr;

	(void)ctx;
	vs_lock_jobs_read();
	job_ptr = find_job_record(job);
	if (job_ptr) {
		*uid = job_ptr->user_id;
		vs_strlcpy(state, job_state_string(job_ptr->job_state),
			   state_size);
		vs_strlcpy(reason, job_ptr->state_desc ? job_ptr->state_desc :
			   vs_reason_name(job_ptr), reason_size);
	}
	vs_unlock_jobs_read();
	return job_ptr ? 0 : -1;
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

static void row_fill(struct vs_slurm_job_row *row)
{
	job_record_t *job_ptr = find_job_record(row->job);

	row->there = job_ptr != NULL;
	if (!job_ptr)
		return;
	row->uid = job_ptr->user_id;
	row->waits = vs_slurm_waits(job_ptr);
	id_of(job_ptr, row->id, sizeof(row->id));
	vs_strlcpy(row->partition, job_ptr->partition ? job_ptr->partition : "",
		   sizeof(row->partition));
	vs_strlcpy(row->state, job_state_string(job_ptr->job_state),
		   sizeof(row->state));
	vs_strlcpy(row->reason, vs_reason_name(job_ptr), sizeof(row->reason));
}

void vs_slurm_jobs_info(void *ctx, struct vs_slurm_job_row *rows, size_t n)
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

static void look(struct vs_slurm_job_look *row)
{
	const job_record_t *job_ptr = find_job_record(row->job);

	row->is = VS_JOB_GONE;
	if (!job_ptr)
		return;
	if (vs_slurm_on_its_nodes(job_ptr)) {
		row->is = VS_JOB_RUNNING;
		row->end = IS_JOB_SUSPENDED(job_ptr) ? INT64_MAX :
			job_ptr->end_time;
	} else if (IS_JOB_PENDING(job_ptr)) {
		row->is = VS_JOB_PENDING;
		row->start = job_ptr->start_time;
		row->passes = vs_backfill_passes();
	}
}

void vs_slurm_jobs_look(void *ctx, struct vs_slurm_job_look *rows, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++) {
		if (i % VS_SLURM_SLICE == 0)
			vs_lock_jobs_read();
		look(&rows[i]);
		if (i % VS_SLURM_SLICE == VS_SLURM_SLICE - 1 || i == n - 1)
			vs_unlock_jobs_read();
	}
}
