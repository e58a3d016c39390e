/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm delays a requeued job by the lifetime of a credential (121 s by
 * default), so that slurmds can forget the old one. A job that was requeued
 * while its VMs were still being built had no credential out: it needn't wait.
 *
 * Slurm sets the delay at the end of the job's completion, which others (prep/
 * script) may hold up after our last word: a thread looks again until then. It
 * lives only while there is such a job.
 *
 * A short list of job ids under a mutex of its own; slurmctld's lock is always
 * taken first, or not while it is held.
 */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#include "plugins/slurm/compat.h"
#include "requeue_now.h"
#include "util/mem.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct noted {
	uint32_t job;
	int looks;
} *jobs;
static size_t njobs, cap;
static bool watched;

#define LOOK_MS 500
#define LOOKS_MAX (10 * 60 * 1000 / LOOK_MS)	/* an epilog may take its time */

static void *watch(void *arg);

/* The list's lock is held. */
static void watch_start(void)
{
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t thread;

	if (watched)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	watched = !pthread_create(&thread, &attr, watch, NULL);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void vs_requeue_note(uint32_t job)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < njobs; i++) {
		if (jobs[i].job == job) {
			jobs[i].looks = 0;
			pthread_mutex_unlock(&lock);
			return;
		}
	}
	VS_GROW(jobs, cap, njobs + 1);
	jobs[njobs++] = (struct noted) { .job = job };
	watch_start();
	pthread_mutex_unlock(&lock);
}

static bool noted(uint32_t job)
{
	bool yes = false;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; !yes && i < njobs; i++)
		yes = jobs[i].job == job;
	pthread_mutex_unlock(&lock);
	return yes;
}

static void forget(uint32_t job)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < njobs; i++)
		if (jobs[i].job == job)
			jobs[i--] = jobs[--njobs];
	pthread_mutex_unlock(&lock);
}

void vs_requeue_release(uint32_t job)
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

/* The next job to look at; 0 when the list is through, and *left with what is
 * still on it. Those that were looked at too often are dropped. */
static uint32_t next_job(size_t *at, size_t *left)
{
	uint32_t job = 0;

	pthread_mutex_lock(&lock);
	while (*at < njobs && jobs[*at].looks++ >= LOOKS_MAX)
		jobs[*at] = jobs[--njobs];
	if (*at < njobs)
		job = jobs[(*at)++].job;
	*left = njobs;
	if (!njobs)
		watched = false;
	pthread_mutex_unlock(&lock);
	return job;
}

static void *watch(void *arg)
{
	size_t left = 1;

	(void)arg;
	while (left) {
		uint32_t job;
		size_t at = 0;

		usleep(LOOK_MS * 1000);
		if (slurmctld_config.shutdown_time)
			continue;
		while ((job = next_job(&at, &left)))
			vs_requeue_release(job);
	}
	return NULL;
}
