/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_submit/vsphere: refuses a job that vSphere's nodes can never run, with a
 * sentence that names the way out. Slurm would refuse most of them too ("Requested
 * node configuration is not available"), hold the others, or let them wait for
 * ever; select/cons_tres_vsphere is right without this plugin.
 *
 * Of a job it changes one thing: entries of its SPANK environment that only
 * slurm-vsphere may write are dropped. Never waits, and refuses nothing where the
 * core isn't loaded.
 * Called with slurmctld's read locks (conf, job, node, partition), from 23.11 on
 * by several threads at a time; updates with JOB W and NODE W.
 */
#include "plugins/slurm/compat.h"
#include "plugins/job_assignment.h"
#include "plugins/job_env.h"
#include "plugins/slurm/call_timing.h"
#include "feasibility.h"

VS_EXPORT const char plugin_name[] =
	"Clear errors for jobs that vSphere's nodes can never run";
VS_EXPORT const char plugin_type[] = "job_submit/vsphere";
VS_EXPORT const uint32_t plugin_version = SLURM_VERSION_NUMBER;

VS_EXPORT int init(void)
{
	debug("%s loaded", plugin_type);
	return SLURM_SUCCESS;
}

VS_EXPORT int fini(void)
{
	return SLURM_SUCCESS;
}

/* What was said goes into the log too: before 23.02 an update tells its user no
 * more than the error's name. */
static int answer(const struct vs_request *w, char **err_msg)
{
	char sentence[VS_SENTENCE] = "", job[32] = "";
	int rc;

	vs_timed_begin();
	rc = vs_feasibility_check(w, sentence);
	vs_timed_end();
	if (!rc)
		return SLURM_SUCCESS;
	if (w->job)
		snprintf(job, sizeof(job), "JobId=%u ", w->job);
	info("%s: %suid=%u refused: %s", plugin_type, job, w->user, sentence);
	if (err_msg) {
		xfree(*err_msg);
		*err_msg = xstrdup(sentence);
	}
	return rc;
}

VS_EXPORT int job_submit(job_desc_msg_t *desc, uint32_t submit_uid,
			 char **err_msg)
{
	struct vs_request w;

	if (vs_job_env_replace(&desc->spank_job_env, &desc->spank_job_env_size,
			       vs_assignment_env_managed, NULL, 0))
		info("%s: uid=%u sent " VS_ASSIGNMENT_ENV "* variables, which "
		     "only slurm-vsphere may set: dropped",
		     plugin_type, submit_uid);
	vs_request_read_new(&w, desc);
	return answer(&w, err_msg);
}

/* Comes before Slurm asks whether this user may: who may not learns nothing. */
VS_EXPORT int job_modify(job_desc_msg_t *desc, job_record_t *job_ptr,
			 uint32_t submit_uid VS_MODIFY_ARGS)
{
	struct vs_request w;

	if (submit_uid != job_ptr->user_id && !validate_operator(submit_uid))
		return SLURM_SUCCESS;
	if (!vs_request_read_change(&w, desc, job_ptr))
		return SLURM_SUCCESS;
	return answer(&w, VS_MODIFY_MSG);
}
