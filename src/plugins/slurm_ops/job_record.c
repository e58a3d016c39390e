/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job got, written into its record in slurmctld: system_comment, which
 * `scontrol show job` shows to those who may see the job; and its SPANK environment, which goes to each node with the order to run its
 * prolog. A job that is back in the queue has neither. Never comment: that is
 * people's, and so is admin_comment, which slurmdbd keeps, unless the site
 * wants the line there and no user has written one (system_comment is never
 * sent to slurmdbd, 22.05 to 26.05).
 */
#include <stdlib.h>
#include "plugins/job_assignment.h"
#include "plugins/job_env.h"
#include "ops_i.h"
#include "util/mem.h"

#define REQUEUED VS_ASSIGNMENT_TAG "requeued: "

static char *fold(const char *const *names, size_t n)
{
	vs_hostlist_t list = hostlist_create(NULL);
	char *ranged, *out;

	for (size_t i = 0; i < n; i++)
		hostlist_push_host(list, names[i]);
	ranged = hostlist_ranged_string_xmalloc(list);
	out = vs_strdup(ranged);
	xfree(ranged);
	hostlist_destroy(list);
	return out;
}

/* JOB W. The entries of users stay, those of an earlier run are replaced. */
static void env_replace(job_record_t *job_ptr, char **env, size_t n)
{
	vs_job_env_replace(&job_ptr->spank_job_env,
			   &job_ptr->spank_job_env_size,
			   vs_assignment_env_managed, env, (uint32_t)n);
}

static bool is_ours(const char *comment)
{
	return !xstrncmp(comment, VS_ASSIGNMENT_TAG, strlen(VS_ASSIGNMENT_TAG));
}

static void comment_set(char **comment, const char *text)
{
	if (!xstrcmp(*comment, text))
		return;
	xfree(*comment);
	*comment = xstrdup(text);
	last_job_update = time(NULL);
}

/* text NULL: it is back in the queue. */
static void admin_comment_set(job_record_t *job_ptr, const char *text)
{
	if (is_ours(job_ptr->admin_comment) ||
	    (text && (!job_ptr->admin_comment || !*job_ptr->admin_comment)))
		comment_set(&job_ptr->admin_comment, text);
}

/* What it waited for stands; its nodes keep what they were told at the launch. */
static void moved(job_record_t *job_ptr, const struct vs_slurm_assignment *rows,
		  size_t n)
{
	VS_FREE struct vs_slurm_assignment *now = vs_calloc(n, sizeof(*now));
	VS_FREE char *text = NULL, *took = NULL;
	const char *was = strstr(job_ptr->system_comment, " waited_s=");

	if (!IS_JOB_RUNNING(job_ptr) && !IS_JOB_SUSPENDED(job_ptr))
		return;
	memcpy(now, rows, n * sizeof(*now));
	took = was ? vs_strdup(was + 1) : NULL;
	now[0].took = took;
	text = vs_assignment_text(now, n, fold);
	comment_set(&job_ptr->system_comment, text);
	if (is_ours(job_ptr->admin_comment))
		comment_set(&job_ptr->admin_comment, text);
}

void vs_slurm_job_assignment(void *ctx, uint32_t job,
			     const struct vs_slurm_assignment *rows, size_t n)
{
	VS_FREE char *text = n && !rows[0].moved ?
		vs_assignment_text(rows, n, fold) : NULL;
	size_t nenv = 0;
	char **env = vs_assignment_env(rows, n, &nenv);
	job_record_t *job_ptr;

	(void)ctx;
	vs_lock_jobs_write();
	job_ptr = find_job_record(job);
	if (job_ptr && text && IS_JOB_RUNNING(job_ptr) &&
	    IS_JOB_CONFIGURING(job_ptr)) {
		comment_set(&job_ptr->system_comment, text);
		if (rows[0].admin_comment)
			admin_comment_set(job_ptr, text);
		env_replace(job_ptr, env, nenv);
	} else if (job_ptr && n && rows[0].moved &&
		   is_ours(job_ptr->system_comment)) {
		moved(job_ptr, rows, n);
	} else if (job_ptr && !n && IS_JOB_PENDING(job_ptr) &&
		   is_ours(job_ptr->system_comment)) {
		/* of its last run it says no more but its end */
		if (xstrncmp(job_ptr->system_comment, REQUEUED,
			     strlen(REQUEUED)))
			comment_set(&job_ptr->system_comment, NULL);
		admin_comment_set(job_ptr, NULL);
		env_replace(job_ptr, NULL, 0);
	}
	vs_unlock_jobs_write();
	for (size_t i = 0; i < nenv; i++)
		free(env[i]);
	free(env);
}

void vs_slurm_job_requeued(void *ctx, uint32_t job, const char *text)
{
	VS_FREE char *line = vs_asprintf(REQUEUED "%.*s",
		VS_ASSIGNMENT_TEXT - (int)strlen(REQUEUED), text);
	job_record_t *job_ptr;

	(void)ctx;
	vs_lock_jobs_write();
	job_ptr = find_job_record(job);
	if (job_ptr && IS_JOB_PENDING(job_ptr))
		comment_set(&job_ptr->system_comment, line);
	vs_unlock_jobs_write();
}
