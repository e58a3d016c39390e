/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the end of a job, or of its guest, means for its node: a boot that no
 * job waits for any more, and the time in which slurmctld still ends the job.
 * The lock is held.
 */
#include "engine/jobs/jobs.h"
#include "engine/slurm/outbox.h"
#include "engine/state/state.h"
#include "util/mem.h"

/* Don't boot a VM that no job waits for. */
void vs_boot_cancel(struct vs_node *n)
{
	n->claims.left_ms = 0;
	if (vs_node_is(n, VS_COND_RELEASED))
		return;
	vs_node_release(n, true);
	vs_outbox_post(VS_REQUEST_RELEASE, n->name, 0, false,
		       "the job that waited for the node has ended");
}

/*
 * slurmctld tries for a while to reach the guest that is gone, to end its job.
 * Should the VM be on again it would be the job's next run that is ended.
 */
void vs_guest_lost_begin(const struct vs_core *c, struct vs_node *n,
			 int64_t now_ms)
{
	n->claims.ending_ms = now_ms + (int64_t)c->conf->slurm.kill_tries_s * 1000;
	vs_node_mark_changed(n);
}

void vs_jobs_requeued_note(const struct vs_node *n, const char *why)
{
	if (n->claims.job)
		vs_outbox_post(VS_REQUEST_REQUEUED, NULL, n->claims.job, false,
			       why);
	for (size_t i = 0; i < n->claims.nbeside; i++)
		vs_outbox_post(VS_REQUEST_REQUEUED, NULL,
			       n->claims.beside[i].job, false, why);
}

void vs_guest_lost_release(const struct vs_node *n, uint32_t job,
			   const char *why)
{
	VS_FREE char *jobs_why = vs_asprintf("node %s: %s", n->name, why);

	vs_outbox_post(VS_REQUEST_RELEASE, n->name, job, false, why);
	vs_jobs_requeued_note(n, jobs_why);
}

void vs_guest_lost_end(struct vs_node *n)
{
	n->claims.ending_ms = 0;
}

void vs_job_left_forget(struct vs_node *n)
{
	n->claims.left_ms = 0;
}

void vs_node_vacate(struct vs_node *n, uint32_t job)
{
	vs_node_condition(n, VS_COND_VACATE, true);
	if (job)
		n->claims.reclaimed_for = job;
}

void vs_node_stay(struct vs_node *n)
{
	vs_node_condition(n, VS_COND_VACATE, false);
}

void vs_node_reclaimed_forget(struct vs_node *n)
{
	n->claims.reclaimed_for = 0;
}

void vs_node_release(struct vs_node *n, bool on)
{
	vs_node_condition(n, VS_COND_RELEASED, on);
}

void vs_node_removable(struct vs_node *n, bool on)
{
	vs_node_condition(n, VS_COND_REMOVABLE, on);
}

void vs_node_rebuild(struct vs_node *n, bool on)
{
	vs_node_condition(n, VS_COND_REBUILD, on);
}

void vs_node_promise(struct vs_node *n, int64_t now_ms)
{
	n->claims.promised_ms = now_ms;
}
