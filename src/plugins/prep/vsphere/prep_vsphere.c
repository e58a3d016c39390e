/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prep/vsphere: in slurmctld a job's prolog waits until its VMs have
 * registered, and its epilog lets them go; in slurmd the RDMA device is looked
 * at before the job's first step, and where the VM is, which came with the job,
 * is written down for its steps.
 *
 * Rules: a hook returns at once, the core answers later, exactly once; the
 * callbacks take slurmctld's locks, so they are called with none held; their
 * code is a wait status. A failed prolog is reported only for a job that still
 * is configuring: for a finished one it would be a resurrection.
 */
#include <errno.h>
#include <time.h>
#include "plugins/slurm/bitmap_iter.h"
#include "plugins/core_loader.h"
#include "plugins/guest_files.h"
#include "plugins/slurm/call_timing.h"
#include "device_check.h"
#include "requeue_now.h"
#include "util/mem.h"

VS_EXPORT const char plugin_name[] = "vSphere VMs for jobs";
VS_EXPORT const char plugin_type[] = "prep/vsphere";
VS_EXPORT const uint32_t plugin_version = SLURM_VERSION_NUMBER;

#define WAIT_STATUS_FAILED (1 << 8)	/* exit code 1 */
#define CLOCK_BEHIND_MAX 60	/* s that a failed prolog waits at most */

/* They outlive a fini: slurmctld up to 23.11 may load PrEpPlugins again at
 * reconfigure without telling its callbacks again (hence -z nodelete). */
static const struct vs_core_api *core;
static prep_callbacks_t callbacks;

/* ---- the core's answers, in its thread ------------------------------------------ */

/*
 * Slurm launches a job when its prolog is over if it is configuring. Where a
 * suspension has wiped that, it would never launch it: say so again.
 */
static bool configuring(uint32_t job)
{
	job_record_t *job_ptr;
	bool yes;

	vs_lock_jobs_write();
	job_ptr = find_job_record(job);
	yes = job_ptr && vs_job_in_prolog(job_ptr);
	if (yes && !IS_JOB_CONFIGURING(job_ptr))
		vs_job_flag_set(job_ptr, JOB_CONFIGURING);
	vs_unlock_jobs_write();
	return yes;
}

static void prolog_done(uint32_t job, bool ok)
{
	int rc = !configuring(job) || ok ? 0 : WAIT_STATUS_FAILED;

	if (callbacks.prolog_slurmctld)
		callbacks.prolog_slurmctld(rc, job, false);
	vs_requeue_release(job);
}

static void epilog_done(uint32_t job)
{
	if (callbacks.epilog_slurmctld)
		callbacks.epilog_slurmctld(0, job, false);
	vs_requeue_release(job);
}

static void hook_up(void)
{
	static const struct vs_prep_ops ops = { prolog_done, epilog_done };

	if (core && callbacks.prolog_slurmctld && callbacks.epilog_slurmctld)
		core->prep_ops(&ops);
}

/* ---- life ------------------------------------------------------------------------ */

VS_EXPORT int init(void)
{
	hook_up();
	debug("%s loaded", plugin_type);
	return SLURM_SUCCESS;
}

VS_EXPORT int fini(void)
{
	return SLURM_SUCCESS;
}

/* Only slurmctld has callbacks to give. */
VS_EXPORT void prep_p_register_callbacks(prep_callbacks_t *given)
{
	struct vs_err err = { 0 };

	if (!given)
		return;
	callbacks = *given;
	if (!core)
		core = vs_core_open(&err);
	if (!core)
		error("%s: %s", plugin_type, err.text);
	hook_up();
}

VS_EXPORT void prep_p_required(prep_call_type_t type, bool *required)
{
	switch (type) {
	case PREP_PROLOG_SLURMCTLD:
	case PREP_EPILOG_SLURMCTLD:
		*required = core && running_in_slurmctld();
		break;
	case PREP_PROLOG:
		*required = running_in_slurmd();
		break;
	default:
		*required = false;
		break;
	}
}

/* ---- slurmctld --------------------------------------------------------------------- */

/* The core's ids of a job's nodes; free() them. */
static size_t job_ids(const job_record_t *job_ptr, int **ids)
{
	bitstr_t *nodes = job_ptr->node_bitmap;
	VS_FREE const char **names = NULL;
	size_t max, n = 0, ours = 0;

	*ids = NULL;
	if (!core || !callbacks.prolog_slurmctld || !callbacks.epilog_slurmctld ||
	    !core->running() || !nodes)
		return 0;
	max = (size_t)bit_set_count(nodes) + 1;
	names = vs_calloc(max, sizeof(*names));
	*ids = vs_calloc(max, sizeof(**ids));
	VS_EACH_BIT(i, nodes)
		if (node_record_table_ptr[i])
			names[n++] = node_record_table_ptr[i]->name;
	core->node_ids(names, n, *ids);
	for (size_t i = 0; i < n; i++)
		if ((*ids)[i] >= 0)
			(*ids)[ours++] = (*ids)[i];
	return ours;
}

/*
 * slurmctld sets the flag itself for nodes of booting_node_bitmap, which a node
 * leaves when its boot is old (slurm_ops/node_state.c). Without the flag the time
 * limit of a job that is beside another one would run while the node boots.
 * JOB W, NODE R.
 */
static void mark_booting(job_record_t *job_ptr)
{
	VS_EACH_BIT(i, job_ptr->node_bitmap)
		if (node_record_table_ptr[i] &&
		    (node_record_table_ptr[i]->node_state &
		     NODE_STATE_POWERING_UP)) {
			vs_job_flag_set(job_ptr, JOB_POWER_UP_NODE);
			return;
		}
}

/* Runs late, in its own thread: the job may be gone or back in the queue.
 * slurmctld calls it with JOB W and NODE W. */
VS_EXPORT int prep_p_prolog_slurmctld(job_record_t *job_ptr, bool *async)
{
	VS_FREE int *ids = NULL;
	size_t n = 0;

	*async = false;
	if (!vs_job_in_prolog(job_ptr))
		return SLURM_SUCCESS;
	vs_timed_begin();
	n = job_ids(job_ptr, &ids);
	*async = n != 0;
	if (n) {
		mark_booting(job_ptr);
		core->job_wait(job_ptr->job_id, job_ptr->restart_cnt, ids, n);
	}
	vs_timed_end();
	return SLURM_SUCCESS;
}

VS_EXPORT int prep_p_epilog_slurmctld(job_record_t *job_ptr, bool *async)
{
	VS_FREE int *ids = NULL;
	size_t n;

	vs_timed_begin();
	n = job_ids(job_ptr, &ids);
	*async = n != 0;
	if (n && job_ptr->details && job_ptr->details->prolog_running)
		vs_requeue_note(job_ptr->job_id);
	if (n)
		core->job_end(job_ptr->job_id, ids, n, true);
	vs_timed_end();
	return SLURM_SUCCESS;
}

/* ---- slurmd ------------------------------------------------------------------------- */

/* No job fails for want of it. */
static void place_note(const job_env_t *job_env)
{
	struct vs_assignment_place place;
	struct vs_guest guest;
	bool known;

	vs_guest_read(&guest);
	if (!guest.ready)
		return;
	known = !vs_assignment_find(job_env->spank_job_env,
				    job_env->spank_job_env_size, guest.node,
				    &place);
	if (vs_guest_place_write(known ? &place : NULL))
		error("%s: JobId=%u: its steps get no information about this VM: %m",
		      plugin_type, VS_ENV_JOB(job_env));
}

/*
 * Slurm drains a node whose prolog failed with the reason "Prolog error", unless
 * it is drained already: so say the cause first. The reason is not tagged as the
 * core's, which would take it away when it sees fit; a person must look.
 */
static void drain(const char *why)
{
	update_node_msg_t msg;
	struct vs_guest guest;
	char *reason;

	vs_guest_read(&guest);
	if (!guest.node[0])
		return;
	slurm_init_update_node_msg(&msg);
	reason = xstrdup_printf("%s: %s", plugin_type, why);
	msg.node_names = guest.node;
	msg.node_state = NODE_STATE_DRAIN;
	msg.reason = reason;
	if (slurm_update_node(&msg))
		error("%s: slurmctld rejects the reason for node %s: %m",
		      plugin_type, guest.node);
	xfree(reason);
}

/*
 * After a prolog that failed, slurmd revokes the job's credential as of this
 * node's time, and still starts the job if slurmctld has signed the credential
 * at a later one: a clock behind slurmctld's starts a job on a bad node. So the
 * hook ends when this clock has reached slurmctld's time of now.
 */
static void clock_catch_up(uint32_t job)
{
	job_info_msg_t *msg = NULL;
	struct timespec now, left = { 0 };
	time_t theirs;

	if (slurm_load_job(&msg, job, 0))
		return;
	theirs = msg->last_update;
	slurm_free_job_info_msg(msg);
	clock_gettime(CLOCK_REALTIME, &now);
	if (now.tv_sec >= theirs)
		return;
	left.tv_sec = theirs - now.tv_sec;
	if (left.tv_sec > CLOCK_BEHIND_MAX) {
		error("%s: this node's clock is %ld s behind slurmctld's: Slurm may start JobId=%u here although its prolog failed: set the clock (doc/admin/template.md)",
		      plugin_type, (long)left.tv_sec, job);
		return;
	}
	if (left.tv_sec > 1)
		error("%s: this node's clock is %ld s behind slurmctld's: set the clock (doc/admin/template.md)",
		      plugin_type, (long)left.tv_sec);
	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
		;
}

VS_EXPORT int prep_p_prolog(job_env_t *job_env, slurm_cred_t *cred)
{
	char why[640];

	(void)cred;
	place_note(job_env);
	if (!vs_device_check(why, sizeof(why)))
		return SLURM_SUCCESS;
	error("%s: JobId=%u: %s", plugin_type, VS_ENV_JOB(job_env), why);
	drain(why);
	clock_catch_up(VS_ENV_JOB(job_env));
	return WAIT_STATUS_FAILED;
}

VS_EXPORT int prep_p_epilog(job_env_t *job_env, slurm_cred_t *cred)
{
	(void)job_env;
	(void)cred;
	return SLURM_SUCCESS;
}
