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
#include "plugins/slurm/bitmap_iter.h"
#include "ops_i.h"
#include "util/mem.h"

#define PREP_TAG "prep/vsphere: "	/* prep_vsphere.c drains a node with it */

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

/*
 * Why the job is back in the queue, as far as its nodes tell; free() it. NULL: they do
 * not. The record still has the nodes: this is before the end of the epilog. JOB R,
 * NODE R.
 */
static char *requeue_cause(const job_record_t *job_ptr)
{
	time_t began = job_ptr->start_time;

	if (!job_ptr->node_bitmap || !began)
		return NULL;
	VS_EACH_BIT(i, job_ptr->node_bitmap) {
		const node_record_t *n = node_record_table_ptr[i];

		if (n && IS_NODE_DRAIN(n) && n->reason_time >= began &&
		    !xstrncmp(n->reason, PREP_TAG, strlen(PREP_TAG)))
			return vs_asprintf("node %s: %s", n->name,
					   n->reason + strlen(PREP_TAG));
		/* Before its launch a job waits for its nodes' boots. */
		if (n && n->boot_time > began && job_ptr->details &&
		    !job_ptr->details->prolog_running)
			return vs_asprintf("node %s booted again while the job ran: its VM was reset, or its guest rebooted",
					   n->name);
	}
	return NULL;
}

/* JOB W. */
static void requeued_set(job_record_t *job_ptr, const char *why)
{
	VS_FREE char *line = vs_asprintf(VS_ASSIGNMENT_REQUEUED "%.*s",
		VS_ASSIGNMENT_TEXT - (int)strlen(VS_ASSIGNMENT_REQUEUED), why);

	comment_set(&job_ptr->system_comment, line);
}

/* Of its last run the record says no more but its end. JOB W, NODE R. */
static void run_forget(job_record_t *job_ptr)
{
	VS_FREE char *why = requeue_cause(job_ptr);

	if (xstrncmp(job_ptr->system_comment, VS_ASSIGNMENT_REQUEUED,
		     strlen(VS_ASSIGNMENT_REQUEUED)))
		comment_set(&job_ptr->system_comment, NULL);
	if (why && !job_ptr->system_comment)
		requeued_set(job_ptr, why);
	admin_comment_set(job_ptr, NULL);
	env_replace(job_ptr, NULL, 0);
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
	vs_lock_jobs_write_nodes_read();
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
		run_forget(job_ptr);
	}
	vs_unlock_jobs_write_nodes_read();
	for (size_t i = 0; i < nenv; i++)
		free(env[i]);
	free(env);
}

void vs_slurm_job_requeued(void *ctx, uint32_t job, const char *text)
{
	job_record_t *job_ptr;

	(void)ctx;
	vs_lock_jobs_write();
	job_ptr = find_job_record(job);
	if (job_ptr && IS_JOB_PENDING(job_ptr))
		requeued_set(job_ptr, text);
	vs_unlock_jobs_write();
}
