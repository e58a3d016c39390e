/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between Slurm's releases and is more than a name. Rule: callers
 * hold the locks that each function names; nothing here decides anything.
 */
#include "compat.h"
#include "call_timing.h"

void vs_job_flag_set(job_record_t *job_ptr, uint32_t flag)
{
#if VS_GE(23, 11)
	job_state_set_flag(job_ptr, flag);
#else
	job_ptr->job_state |= flag;
#endif
}

int vs_update_node(update_node_msg_t *msg)
{
#if VS_GE(26, 5)
	return update_node(msg, slurm_conf.slurm_user_id);
#else
	msg->reason_uid = slurm_conf.slurm_user_id;
	return update_node(msg, 0);
#endif
}

int vs_resv_create(resv_desc_msg_t *desc)
{
#if VS_GE(23, 2)
	char *err_msg = NULL;
	int rc = create_resv(desc, &err_msg);

	xfree(err_msg);
	return rc;
#else
	return create_resv(desc);
#endif
}

int vs_resv_update(resv_desc_msg_t *desc)
{
#if VS_GE(23, 2)
	char *err_msg = NULL;
	int rc = update_resv(desc, &err_msg);

	xfree(err_msg);
	return rc;
#else
	return update_resv(desc);
#endif
}

#if VS_GE(23, 2)
const char *vs_resv_comment(const slurmctld_resv_t *resv_ptr)
{
	return resv_ptr->comment ? resv_ptr->comment : "";
}

void vs_resv_comment_set(resv_desc_msg_t *desc, const char *comment)
{
	desc->comment = xstrdup(comment);
}
#else
const char *vs_resv_comment(const slurmctld_resv_t *resv_ptr)
{
	(void)resv_ptr;
	return "";
}

void vs_resv_comment_set(resv_desc_msg_t *desc, const char *comment)
{
	(void)desc;
	(void)comment;
}
#endif

void vs_node_bits_powering_up(node_record_t *node_ptr)
{
#if VS_GE(24, 5)
	bit_clear(power_down_node_bitmap, node_ptr->index);
	bit_set(power_up_node_bitmap, node_ptr->index);
#else
	bit_clear(power_node_bitmap, node_ptr->index);
#endif
	bit_set(booting_node_bitmap, node_ptr->index);
}

void vs_node_bits_powered_down(node_record_t *node_ptr)
{
#if VS_GE(24, 5)
	bit_set(power_down_node_bitmap, node_ptr->index);
	bit_clear(power_up_node_bitmap, node_ptr->index);
#else
	bit_set(power_node_bitmap, node_ptr->index);
#endif
	bit_clear(booting_node_bitmap, node_ptr->index);
}

void vs_node_ask_registration(node_record_t *node_ptr)
{
	agent_arg_t *args = xmalloc(sizeof(*args));

	args->msg_type = REQUEST_NODE_REGISTRATION_STATUS;
	args->protocol_version = node_ptr->protocol_version ?
		node_ptr->protocol_version : SLURM_PROTOCOL_VERSION;
	args->hostlist = hostlist_create(node_ptr->name);
	args->node_count = 1;
	set_agent_arg_r_uid(args, SLURM_AUTH_UID_ANY);
	agent_queue_request(args);
}

const char *vs_reason_name(job_record_t *job_ptr)
{
#if VS_GE(24, 5)
	return job_state_reason_string(job_ptr->state_reason);
#else
	return job_reason_string(job_ptr->state_reason);
#endif
}

uint32_t vs_suspend_exc_states(void)
{
	uint32_t states = 0;
#if VS_GE(23, 2)
	char *copy = xstrdup(slurm_conf.suspend_exc_states), *save = NULL;

	for (char *tok = copy ? strtok_r(copy, ",", &save) : NULL; tok;
	     tok = strtok_r(NULL, ",", &save))
		states |= parse_node_state_flag(tok);
	xfree(copy);
#endif
	return states;
}

bool vs_begun_by_reconfigure(void)
{
	return VS_GE(23, 11) && getenv("SLURMCTLD_RECONF");
}

bool vs_another_goes_on(void)
{
	return VS_GE(23, 11) && getenv("SLURMCTLD_RECONF_PARENT_FD");
}

static const slurmctld_lock_t nodes_read = { .node = READ_LOCK };
static const slurmctld_lock_t jobs_read = {
	.conf = READ_LOCK, .job = READ_LOCK, .node = READ_LOCK,
};
static const slurmctld_lock_t all_write = {
	.conf = READ_LOCK, .job = WRITE_LOCK, .node = WRITE_LOCK,
	.part = WRITE_LOCK, .fed = READ_LOCK,
};
static const slurmctld_lock_t parts_read = {
	.conf = READ_LOCK, .node = READ_LOCK, .part = READ_LOCK,
};
static const slurmctld_lock_t nodes_write = { .node = WRITE_LOCK };
static const slurmctld_lock_t jobs_write = { .job = WRITE_LOCK };
static const slurmctld_lock_t jobs_write_nodes_read = {
	.job = WRITE_LOCK, .node = READ_LOCK,
};
/* As the RPC that deletes a reservation, in all releases: jobs that pend for it
 * are written to. */
static const slurmctld_lock_t resvs_write = {
	.conf = READ_LOCK, .job = WRITE_LOCK, .node = WRITE_LOCK,
	.part = READ_LOCK,
};

void vs_lock_nodes_read(void)
{
	lock_slurmctld(nodes_read);
	vs_timed_locked();
}

void vs_unlock_nodes_read(void)
{
	unlock_slurmctld(nodes_read);
	vs_timed_unlocked();
}

void vs_lock_parts_read(void)
{
	lock_slurmctld(parts_read);
	vs_timed_locked();
}

void vs_unlock_parts_read(void)
{
	unlock_slurmctld(parts_read);
	vs_timed_unlocked();
}

void vs_lock_jobs_read(void)
{
	lock_slurmctld(jobs_read);
	vs_timed_locked();
}

void vs_unlock_jobs_read(void)
{
	unlock_slurmctld(jobs_read);
	vs_timed_unlocked();
}

void vs_lock_write(void)
{
	lock_slurmctld(all_write);
	vs_timed_locked();
}

void vs_unlock_write(void)
{
	unlock_slurmctld(all_write);
	vs_timed_unlocked();
}

void vs_lock_nodes_write(void)
{
	lock_slurmctld(nodes_write);
	vs_timed_locked();
}

void vs_unlock_nodes_write(void)
{
	unlock_slurmctld(nodes_write);
	vs_timed_unlocked();
}

void vs_lock_resvs_write(void)
{
	lock_slurmctld(resvs_write);
	vs_timed_locked();
}

void vs_unlock_resvs_write(void)
{
	unlock_slurmctld(resvs_write);
	vs_timed_unlocked();
}

void vs_lock_jobs_write(void)
{
	lock_slurmctld(jobs_write);
	vs_timed_locked();
}

void vs_unlock_jobs_write(void)
{
	unlock_slurmctld(jobs_write);
	vs_timed_unlocked();
}

void vs_lock_jobs_write_nodes_read(void)
{
	lock_slurmctld(jobs_write_nodes_read);
	vs_timed_locked();
}

void vs_unlock_jobs_write_nodes_read(void)
{
	unlock_slurmctld(jobs_write_nodes_read);
	vs_timed_unlocked();
}

/*
 * No flag says "being submitted". _job_create() stamps last_sched_eval beside
 * submit_time, and both schedulers stamp it again before they test a job; a
 * requeue moves submit_time past it. So an evaluation no later than the second
 * of submission (and one for the clock to turn) is the submission's own, or
 * comes so soon after it that it gives the same answer.
 */
bool vs_job_is_new(const job_record_t *job_ptr)
{
	time_t submit = job_ptr->details ? job_ptr->details->submit_time : 0;

	return submit && !job_ptr->restart_cnt &&
	       job_ptr->last_sched_eval >= submit &&
	       job_ptr->last_sched_eval <= submit + 1;
}

#if VS_GE(23, 2)
/* With bf_licenses it stops the main scheduler instead. */
static bool skips(void)
{
	return !xstrcasestr(slurm_conf.sched_params, "bf_licenses");
}

int vs_rc_waits(void)
{
	return skips() ? ESLURM_LICENSES_UNAVAILABLE : ESLURM_NODES_BUSY;
}

/* Backfill has plans, and keeps the order by them. */
bool vs_waits_in_order(const job_record_t *job_ptr)
{
	return skips() && !(job_ptr->bit_flags & BACKFILL_SCHED);
}
#else
int vs_rc_waits(void)
{
	return ESLURM_NODES_BUSY;
}

bool vs_waits_in_order(const job_record_t *job_ptr)
{
	(void)job_ptr;
	return false;
}
#endif

uint32_t vs_backfill_passes(void)
{
	return slurmctld_diag_stats.bf_cycle_counter;
}

/* ---- licenses ------------------------------------------------------------------ */

vs_list_t vs_licenses_read(const char *text)
{
	char *words = (char *)text;	/* it is copied */
	bool valid = false;

#if VS_GE(26, 5)
	return license_validate(words, false, false, false, NULL, &valid, NULL);
#elif VS_GE(25, 5)
	return license_validate(words, false, false, false, NULL, &valid);
#else
	return license_validate(words, false, false, NULL, &valid);
#endif
}

void vs_licenses_take(job_record_t *job_ptr, vs_list_t list)
{
	vs_list_t all = job_ptr->license_list;

	job_ptr->license_list = list;
#if VS_GE(23, 2)
	license_job_get(job_ptr, true);
#else
	license_job_get(job_ptr);
#endif
	job_ptr->license_list = all;
}

void vs_licenses_return(job_record_t *job_ptr, vs_list_t list)
{
	vs_list_t all = job_ptr->license_list;

	job_ptr->license_list = list;
	license_job_return(job_ptr);
	job_ptr->license_list = all;
}

bool vs_licenses_same(const licenses_t *a, const licenses_t *b)
{
#if VS_GE(25, 5)
	if (a->id.lic_id != b->id.lic_id || a->id.hres_id != b->id.hres_id ||
	    xstrcmp(a->nodes, b->nodes))
		return false;
#endif
	return !xstrcmp(a->name, b->name);
}

void vs_licenses_changed(job_record_t *job_ptr)
{
#if VS_GE(25, 5)
	xfree(job_ptr->licenses_allocated);
	job_ptr->licenses_allocated =
		license_list_to_string(job_ptr->license_list);
#else
	(void)job_ptr;
#endif
}

/* ---- job_submit --------------------------------------------------------------- */

int vs_constraint_read(const char *features, uint32_t user, job_record_t **out)
{
	job_record_t *job_ptr = xmalloc(sizeof(*job_ptr));

	job_ptr->magic = JOB_MAGIC;
	job_ptr->user_id = user;
	job_ptr->details = xmalloc(sizeof(*job_ptr->details));
	job_ptr->details->magic = DETAILS_MAGIC;
	job_ptr->details->features = xstrdup(features);
	*out = job_ptr;
#if VS_GE(23, 2)
	return build_feature_list(job_ptr, false, false);
#else
	return build_feature_list(job_ptr, false);
#endif
}

void vs_constraint_free(job_record_t *constraint)
{
	if (!constraint)
		return;
	FREE_NULL_LIST(constraint->details->feature_list);
	xfree(constraint->details->features);
	xfree(constraint->details);
	xfree(constraint);
}

void vs_constraint_nodes(job_record_t *constraint, bitstr_t *nodes)
{
	bool one_of;

	valid_feature_counts(constraint, false, nodes, &one_of);
}

bitstr_t *vs_nodes_bitmap(const char *names)
{
	vs_hostlist_t list = hostlist_create(names);
	bitstr_t *nodes = NULL;
	bool many;
	int rc;

	/* 64 kB of ranges can stand for 400 million names. */
	many = !list || hostlist_count(list) > node_record_count;
	hostlist_destroy(list);
	if (many)
		return NULL;

#if VS_GE(24, 11)
	rc = node_name2bitmap((char *)names, false, &nodes, NULL);
#else
	rc = node_name2bitmap((char *)names, false, &nodes);
#endif
	if (rc)
		FREE_NULL_BITMAP(nodes);
	return nodes;
}

bool vs_federated(void)
{
	return fed_mgr_fed_rec != NULL;
}
