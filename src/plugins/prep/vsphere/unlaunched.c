/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm delays a requeued job by the lifetime of a credential (121 s by
 * default), so that slurmds can forget the old one. A job that was requeued
 * while its VMs were still being built had no credential out: it needn't wait.
 *
 * A short list of job ids under a mutex of its own; slurmctld's lock is always
 * taken first, or not while it is held.
 */
#include <pthread.h>
#include "../../slurm_compat.h"
#include "unlaunched.h"
#include "util/mem.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t *jobs;
static size_t njobs, cap;

void vs_unlaunched_note(uint32_t job)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < njobs; i++) {
		if (jobs[i] == job) {
			pthread_mutex_unlock(&lock);
			return;
		}
	}
	VS_GROW(jobs, cap, njobs + 1);
	jobs[njobs++] = job;
	pthread_mutex_unlock(&lock);
}

static bool noted(uint32_t job)
{
	bool yes = false;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; !yes && i < njobs; i++)
		yes = jobs[i] == job;
	pthread_mutex_unlock(&lock);
	return yes;
}

static void forget(uint32_t job)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < njobs; i++)
		if (jobs[i] == job)
			jobs[i--] = jobs[--njobs];
	pthread_mutex_unlock(&lock);
}

void vs_unlaunched_release(uint32_t job)
{
	job_record_t *job_ptr;
	bool done = false, queued = false;

	if (!noted(job))
		return;
	vs_lock_jobs_write();
	job_ptr = find_job_record(job);
	if (!job_ptr || !job_ptr->details || IS_JOB_FINISHED(job_ptr)) {
		done = true;
	} else if (IS_JOB_PENDING(job_ptr) && !IS_JOB_COMPLETING(job_ptr) &&
		   !job_ptr->details->prolog_running) {
		time_t now = time(NULL);

		if (job_ptr->details->begin_time > now)
			job_ptr->details->begin_time = now;
		last_job_update = now;
		done = queued = true;
	}
	vs_unlock_jobs_write();
	if (done)
		forget(job);
	if (queued)
		queue_job_scheduler();
}
