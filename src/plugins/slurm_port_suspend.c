/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs whose VMs are suspended for another job's sake. To Slurm it is what gang
 * scheduling does (indf_susp false): the job is SUSPENDED, its processes are
 * stopped, its cores, memory and priority stay its own, its time limit doesn't
 * run; an operator's `scontrol suspend` gives the cores away and sets priority 0.
 * Of one that is suspended already it only sets the priority: a hold. By that
 * alone stock cons_tres tells them apart when it counts anew (a start, any
 * reconfiguration), and the operator's resume when it takes cores; so for one
 * with our mark the select plugin makes good for it.
 * The mark is an entry of spank_job_env, saved with the job's state in the same
 * breath. It names the run: a requeued job isn't marked, whoever left it there.
 *
 * A VM that is suspended is silent. On what slurmctld makes of that this rests
 * (22.05.8 and 26.05.3, alike):
 * - ping_nodes() sets a node DOWN (and ends what runs or is suspended there) when
 *   last_response is older than SlurmdTimeout before the last round of pings, and
 *   by nothing else; the first round after a start has no such bound, the second
 *   has. It is saved and read back: who was away for long finds these nodes old,
 *   before vCenter has been asked. So they have SlurmdTimeout anew at a start.
 * - A ping or registration that isn't answered makes it NO_RESPOND and takes it out
 *   of avail_node_bitmap (node_not_resp), unless last_response is newer than the
 *   message. That is the truth of such a node, and keeps other jobs from what is
 *   free of it. So it is set here at once, as node_not_resp() does; what takes it
 *   off is an answer alone (_node_did_resp, validate_node_specs), which puts the node
 *   back into the bitmaps by their own rules. not_responding is for a line in
 *   the log every few minutes ("Nodes ... not responding"): cleared.
 * - A node "unexpectedly rebooted" if its boot is later than last_response. A
 *   guest's uptime stands still while it is suspended, so its boot moves on: but by
 *   as much as last_response did.
 * - Time limits, InactiveLimit and the end of a reservation are for running jobs
 *   (job_time_limit). A batch job is missed at its node's registration alone
 *   (validate_jobs_on_node), where its stopped steps are reported.
 * - Power saving powers down no node with a suspended job (sus_job_cnt).
 */
#include "bits.h"
#include "got.h"
#include "job_env.h"
#include "slurm_port.h"
#include "slurm_port_i.h"
#include "util/mem.h"

static bool resumes;		/* JOB W */

uint32_t vs_port_suspended_for(const job_record_t *job_ptr)
{
	return vs_got_marked(job_ptr->spank_job_env,
			     job_ptr->spank_job_env_size, job_ptr->restart_cnt);
}

/* Takes the marks of all runs off, and sets this one (NULL: none). */
static void mark_set(job_record_t *job_ptr, char *mark)
{
	vs_job_env_replace(&job_ptr->spank_job_env,
			   &job_ptr->spank_job_env_size, vs_got_is_mark,
			   &mark, mark ? 1 : 0);
}

static void comment_take(job_record_t *job_ptr, char *line)
{
	xfree(job_ptr->system_comment);
	job_ptr->system_comment = xstrdup(line);
	free(line);
	last_job_update = time(NULL);
}

static void mark(job_record_t *job_ptr, uint32_t for_job)
{
	VS_FREE char *entry = vs_got_mark(for_job, job_ptr->restart_cnt);

	mark_set(job_ptr, entry);
	comment_take(job_ptr, vs_got_line_suspended(job_ptr->system_comment,
						    for_job));
}

static void unmark_told(job_record_t *job_ptr)
{
	mark_set(job_ptr, NULL);
	comment_take(job_ptr, vs_got_line_resumed(job_ptr->system_comment));
}

/* A component of a heterogeneous job can't be suspended alone, and its leader's
 * others may be on VMs that go on. */
static bool may_suspend(const job_record_t *job_ptr)
{
	return IS_JOB_RUNNING(job_ptr) && !IS_JOB_COMPLETING(job_ptr) &&
	       !vs_job_in_prolog(job_ptr) && !job_ptr->het_job_id &&
	       !job_ptr->preempt_time && job_ptr->node_bitmap &&
	       job_ptr->priority;
}

int vs_port_job_suspend(void *ctx, uint32_t job, uint32_t for_job)
{
	job_record_t *job_ptr;
	int rc = -1;

	(void)ctx;
	vs_lock_write();
	job_ptr = find_job_record(job);
	if (job_ptr && may_suspend(job_ptr)) {
		rc = vs_job_suspend_op(job_ptr, SUSPEND_JOB);
		if (rc)
			info("slurm-vsphere: %pJ can't be suspended: %s",
			     job_ptr, slurm_strerror(rc));
		else
			mark(job_ptr, for_job);
	}
	vs_unlock_write();
	if (!rc)
		schedule_job_save();
	return rc ? -1 : 0;
}

int vs_port_job_resume(void *ctx, uint32_t job)
{
	job_record_t *job_ptr;
	int rc = -1;

	(void)ctx;
	vs_lock_write();
	job_ptr = find_job_record(job);
	if (job_ptr && IS_JOB_SUSPENDED(job_ptr) && job_ptr->priority &&
	    vs_port_suspended_for(job_ptr)) {
		resumes = true;
		rc = vs_job_suspend_op(job_ptr, RESUME_JOB);
		resumes = false;
		if (rc)
			error("slurm-vsphere: %pJ can't be resumed: %s",
			      job_ptr, slurm_strerror(rc));
	}
	/* One that an operator holds, or that can't be resumed, stays marked. */
	if (job_ptr && IS_JOB_RUNNING(job_ptr) &&
	    vs_port_suspended_for(job_ptr))
		unmark_told(job_ptr);
	vs_unlock_write();
	if (!rc)
		schedule_job_save();
	return rc ? -1 : 0;
}

int vs_port_resume_test(job_record_t *job_ptr, bool indf,
			const struct vs_core_api *core)
{
	if (resumes || !vs_port_suspended_for(job_ptr) ||
	    (core && !core->job_is_suspended(job_ptr->job_id)))
		return SLURM_SUCCESS;
	if (indf && !job_ptr->priority)
		set_job_prio(job_ptr);	/* as a resumed one's */
	info("slurm-vsphere: %pJ isn't resumed now: its VMs are suspended for another job's sake; it is when they are on again",
	     job_ptr);
	return ESLURM_NODES_BUSY;
}

bool vs_port_has_cores(const job_record_t *job_ptr)
{
	return IS_JOB_SUSPENDED(job_ptr) && vs_port_suspended_for(job_ptr);
}

bool vs_port_is_held(const job_record_t *job_ptr)
{
	return vs_port_has_cores(job_ptr) && !job_ptr->priority;
}

void vs_port_suspend_anew(job_record_t *job_ptr)
{
	if (vs_port_suspended_for(job_ptr))
		unmark_told(job_ptr);
}

void vs_port_job_continue(void *ctx, uint32_t job)
{
	job_record_t *job_ptr;

	(void)ctx;
	vs_lock_jobs_read();
	job_ptr = find_job_record(job);
	if (job_ptr && IS_JOB_RUNNING(job_ptr) && !IS_JOB_COMPLETING(job_ptr) &&
	    !vs_job_in_prolog(job_ptr) && job_ptr->nodes)
		vs_job_send_resume(job_ptr);
	vs_unlock_jobs_read();
}

/* ---- nodes ---------------------------------------------------------------------- */

#define NOT_UP (NODE_STATE_POWERED_DOWN | NODE_STATE_POWERING_UP | \
		NODE_STATE_POWERING_DOWN)

static bool is_up(const node_record_t *n)
{
	return n && !IS_NODE_DOWN(n) && !(n->node_state & NOT_UP);
}

static void known_silent(node_record_t *n)
{
	n->last_response = time(NULL);
	n->not_responding = false;
	if (IS_NODE_NO_RESPOND(n))
		return;
	n->node_state |= NODE_STATE_NO_RESPOND;
	bit_clear(avail_node_bitmap, n->index);
	last_node_update = time(NULL);
}

static int note_taken(void *x, void *arg)
{
	job_record_t *job_ptr = x;

	(void)arg;
	if (!IS_JOB_SUSPENDED(job_ptr) || !job_ptr->node_bitmap ||
	    !vs_port_suspended_for(job_ptr))
		return 0;
	VS_EACH_BIT(i, job_ptr->node_bitmap) {
		node_record_t *n = node_record_table_ptr[i];

		if (is_up(n))
			n->last_response = time(NULL);
	}
	return 0;
}

void vs_port_suspended_taken(void)
{
	vs_lock_write();
	list_for_each(job_list, note_taken, NULL);
	vs_unlock_write();
}

void vs_port_suspended_unseen(void *ctx)
{
	(void)ctx;
	vs_port_suspended_taken();
}

void vs_port_nodes_suspended(void *ctx, const char *const *nodes, size_t count)
{
	int next = 0;

	(void)ctx;
	for (size_t i = 0; i < count; i++) {
		node_record_t *n;

		if (i % VS_PORT_SLICE == 0)
			vs_lock_nodes_write();
		n = vs_port_node_next(nodes[i], &next);
		if (is_up(n))
			known_silent(n);
		if (i % VS_PORT_SLICE == VS_PORT_SLICE - 1 || i == count - 1)
			vs_unlock_nodes_write();
	}
}

/* The second before this one is nobody's answer: one of this second counts. */
int64_t vs_port_nodes_wake(void *ctx, const char *const *nodes, size_t count,
			   int64_t asked)
{
	time_t since = asked ? (time_t)asked : time(NULL) - 1;
	int next = 0;

	(void)ctx;
	for (size_t i = 0; i < count; i++) {
		node_record_t *n;

		if (i % VS_PORT_SLICE == 0)
			vs_lock_nodes_write();
		n = vs_port_node_next(nodes[i], &next);
		if (is_up(n)) {
			if (!asked)
				n->last_response = since;
			vs_node_ask_registration(n);
		}
		if (i % VS_PORT_SLICE == VS_PORT_SLICE - 1 || i == count - 1)
			vs_unlock_nodes_write();
	}
	return since;
}

bool vs_port_nodes_answered(void *ctx, const char *const *nodes, size_t count,
			    int64_t since)
{
	bool all = true;
	int next = 0;

	(void)ctx;
	vs_lock_nodes_read();
	for (size_t i = 0; i < count && all; i++) {
		const node_record_t *n = vs_port_node_next(nodes[i], &next);

		all = is_up(n) && !IS_NODE_NO_RESPOND(n) &&
		      n->last_response > since;
	}
	vs_unlock_nodes_read();
	return all;
}
