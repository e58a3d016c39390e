/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The core's queries and requests to slurmctld: flags of nodes, states of jobs,
 * reasons. Called from the engine's thread with none of our locks held; each
 * function takes slurmctld's locks, shortly, and waits for nothing else. Nodes
 * and jobs are found by name and id every time.
 *
 * What changes a node's life is in node_state.c.
 */
#include <stdlib.h>
#include <time.h>
#include "plugins/slurm/bitmap_iter.h"
#include "plugins/slurm/conf_check.h"
#include "plugins/slurm/suspend_exclusions.h"
#include "plugins/job_assignment.h"
#include "ops.h"
#include "ops_i.h"
#include "util/mem.h"

#define COMMENT_SECONDS 30	/* between two system_comments of one job */
#define RESUMED_S 2

static bool controlling;
static time_t taken_at;		/* shutdown_time when control was taken */
static bool saves;		/* the thread that saves state was seen since */

bool vs_slurm_take(void)
{
	__atomic_store_n(&taken_at, slurmctld_config.shutdown_time,
			 __ATOMIC_RELEASE);
	__atomic_store_n(&saves, false, __ATOMIC_RELEASE);
	return vs_slurm_active_set(true);
}

bool vs_slurm_active_set(bool active)
{
	return __atomic_exchange_n(&controlling, active, __ATOMIC_ACQ_REL);
}

/* No such call comes after a reconfigure that failed while there are no jobs: that
 * state is saved for two seconds with no end in sight tells as much. */
static bool resumes(bool saving)
{
	static time_t since;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!saving)
		since = 0;
	else if (!since)
		since = now.tv_sec;
	return saving && now.tv_sec - since >= RESUMED_S;
}

/*
 * fini isn't called, and threads live on through a re-exec or a yield to the
 * primary: shutdown_time tells. It goes back to 0 in a controller that has
 * yielded, perhaps within a third of a second, but then the thread that saves
 * Slurm's state is no more until control is taken again. Either is remembered
 * until a call of the select plugin shows that this process is in control. A
 * backup that takes over has ended its standby by setting shutdown_time, and
 * reads its state before that is 0 again.
 */
static bool port_active(void *ctx)
{
	time_t at = slurmctld_config.shutdown_time;
	bool saving = slurmctld_config.thread_id_save != 0;

	(void)ctx;
	if (!at)
		__atomic_store_n(&taken_at, 0, __ATOMIC_RELEASE);
	else if (at != __atomic_load_n(&taken_at, __ATOMIC_ACQUIRE))
		vs_slurm_active_set(false);
	if (saving)
		__atomic_store_n(&saves, true, __ATOMIC_RELEASE);
	else if (__atomic_exchange_n(&saves, false, __ATOMIC_ACQ_REL))
		vs_slurm_active_set(false);
	if (resumes(saving && !at))
		vs_slurm_active_set(true);
	return __atomic_load_n(&controlling, __ATOMIC_ACQUIRE);
}

void vs_slurm_log(enum vs_log_level level, const char *line)
{
	switch (level) {
	case VS_LOG_ERROR:
		error("slurm-vsphere: %s", line);
		break;
	case VS_LOG_INFO:
		info("slurm-vsphere: %s", line);
		break;
	case VS_LOG_DEBUG:
		debug("slurm-vsphere: %s", line);
		break;
	}
}

/* ---- reading ------------------------------------------------------------------ */

static uint32_t flags_of(const node_record_t *n)
{
	static const struct { uint32_t slurm, ours; } map[] = {
		{ NODE_STATE_POWERED_DOWN, VS_NODE_POWERED_DOWN },
		{ NODE_STATE_POWERING_UP, VS_NODE_POWERING_UP },
		{ NODE_STATE_POWERING_DOWN, VS_NODE_POWERING_DOWN },
		{ NODE_STATE_POWER_DOWN, VS_NODE_POWER_DOWN_ASKED },
		{ NODE_STATE_POWER_UP, VS_NODE_POWER_UP_ASKED },
		{ NODE_STATE_COMPLETING, VS_NODE_COMPLETING },
		{ NODE_STATE_DRAIN, VS_NODE_DRAIN },
		{ NODE_STATE_NO_RESPOND, VS_NODE_NO_RESPOND },
	};
	const uint32_t not_up = NODE_STATE_POWERED_DOWN |
		NODE_STATE_POWERING_UP | NODE_STATE_POWERING_DOWN |
		NODE_STATE_NO_RESPOND;
	uint32_t base = n->node_state & NODE_STATE_BASE, flags = 0;

	for (size_t i = 0; i < VS_COUNT(map); i++)
		if (n->node_state & map[i].slurm)
			flags |= map[i].ours;
	if (base == NODE_STATE_DOWN)
		flags |= VS_NODE_DOWN;
	if (vs_slurm_node_silent(n))
		flags |= VS_NODE_SILENT;
	else if (vs_slurm_node_taken(n))
		flags |= VS_NODE_TAKEN;
	if (n->run_job_cnt || n->sus_job_cnt || base == NODE_STATE_ALLOCATED ||
	    base == NODE_STATE_MIXED)
		flags |= VS_NODE_ALLOCATED;
	if (!(n->node_state & not_up) &&
	    (base == NODE_STATE_IDLE || base == NODE_STATE_ALLOCATED ||
	     base == NODE_STATE_MIXED))
		flags |= VS_NODE_UP;
	return flags | vs_suspend_excluded(n);
}

node_record_t *vs_slurm_node_next(const char *name, int *next)
{
	node_record_t *n = NULL;

	if (*next < node_record_count)
		n = node_record_table_ptr[*next];
	/* The one that logs nothing: a VM's node may be no more. */
	if (!n || !n->name || strcmp(n->name, name))
		n = find_node_record2((char *)name);
	if (n)
		*next = (int)n->index + 1;
	return n;
}

#define REPAIRED_AT_ONCE 100	/* under one hold of the lock; the rest later */

/* In slices: slurmctld's lock is never held for all of a large site. */
static void port_nodes_read(void *ctx, struct vs_slurm_node *rows, size_t n)
{
	const char *stuck[REPAIRED_AT_ONCE];
	size_t nstuck = 0;
	int next = 0;

	(void)ctx;
	vs_suspend_exclusions_read();
	for (size_t i = 0; i < n; i++) {
		node_record_t *node_ptr;

		if (i % VS_SLURM_SLICE == 0)
			vs_lock_nodes_read();
		node_ptr = vs_slurm_node_next(rows[i].name, &next);
		rows[i].flags = node_ptr ? flags_of(node_ptr) : 0;
		rows[i].suspend_ms = node_ptr ? vs_suspend_ms(node_ptr) : 0;
		if (node_ptr && nstuck < VS_COUNT(stuck) &&
		    vs_slurm_node_stuck(node_ptr))
			stuck[nstuck++] = rows[i].name;
		if (i % VS_SLURM_SLICE == VS_SLURM_SLICE - 1 || i == n - 1)
			vs_unlock_nodes_read();
	}
	vs_slurm_nodes_repair(stuck, nstuck);
}

bool vs_slurm_on_its_nodes(const job_record_t *job_ptr)
{
	return (IS_JOB_RUNNING(job_ptr) || IS_JOB_SUSPENDED(job_ptr)) &&
	       job_ptr->node_bitmap;
}

struct runs {
	const node_record_t *node_ptr;
	bool launched;
};

/* Under JOB R at least, in a thread of our own: the list's lock is free. */
static int runs_there(void *x, void *arg)
{
	job_record_t *job_ptr = x;
	struct runs *runs = arg;

	runs->launched |= vs_slurm_on_its_nodes(job_ptr) &&
		!vs_job_in_prolog(job_ptr) &&
		bit_test(job_ptr->node_bitmap, runs->node_ptr->index);
	return 0;
}

bool vs_slurm_node_runs(const node_record_t *node_ptr)
{
	struct runs runs = { .node_ptr = node_ptr };

	list_for_each(job_list, runs_there, &runs);
	return runs.launched;
}

struct placed { uint32_t job, uid; };

struct all_placed {
	struct placed *by_node;		/* the first job of each, by index */
	int count;
	bitstr_t *queued;		/* nodes for which jobs are pending */
	const part_record_t *noted;	/* the last that was added to queued */
};

/* As slurmctld's _delayed_job_start_time(), which adds the time of these jobs to the
 * start that sbatch --test-only names. */
static void note_pending(const job_record_t *job_ptr, struct all_placed *all)
{
	const part_record_t *part_ptr = job_ptr->part_ptr;

	if (!IS_JOB_PENDING(job_ptr) || IS_JOB_REVOKED(job_ptr) ||
	    !job_ptr->priority || !part_ptr || !part_ptr->node_bitmap ||
	    part_ptr == all->noted ||
	    bit_size(part_ptr->node_bitmap) != bit_size(all->queued))
		return;
	bit_or(all->queued, part_ptr->node_bitmap);
	all->noted = part_ptr;
}

static int note_job(void *x, void *arg)
{
	job_record_t *job_ptr = x;
	struct all_placed *all = arg;

	note_pending(job_ptr, all);
	if (!vs_slurm_on_its_nodes(job_ptr))
		return 0;
	VS_EACH_BIT(i, job_ptr->node_bitmap)
		if (i < all->count && !all->by_node[i].job)
			all->by_node[i] = (struct placed) {
				job_ptr->job_id, job_ptr->user_id,
			};
	return 0;
}

static void row_put(struct vs_slurm_node_job *row,
		    const node_record_t *node_ptr, const struct all_placed *all)
{
	*row = (struct vs_slurm_node_job){ .node = row->node };
	if (!node_ptr)
		return;
	row->resume_timeout_s = vs_slurm_resume_timeout(node_ptr);
	if ((int)node_ptr->index >= all->count)
		return;
	row->job = all->by_node[node_ptr->index].job;
	row->uid = all->by_node[node_ptr->index].uid;
	row->queued = bit_test(all->queued, node_ptr->index);
}

/* Nodes are looked up in slices. */
static void port_nodes_jobs(void *ctx, struct vs_slurm_node_job *rows, size_t n)
{
	struct all_placed all = { 0 };
	int next = 0;

	(void)ctx;
	vs_lock_jobs_read();
	all.count = node_record_count;
	all.by_node = vs_calloc((size_t)all.count + 1, sizeof(*all.by_node));
	all.queued = bit_alloc(MAX(all.count, 1));
	list_for_each(job_list, note_job, &all);
	vs_unlock_jobs_read();
	for (size_t i = 0; i < n; i++) {
		if (i % VS_SLURM_SLICE == 0)
			vs_lock_nodes_read();
		row_put(&rows[i], vs_slurm_node_next(rows[i].node, &next),
			&all);
		if (i % VS_SLURM_SLICE == VS_SLURM_SLICE - 1 || i == n - 1)
			vs_unlock_nodes_read();
	}
	FREE_NULL_BITMAP(all.queued);
	free(all.by_node);
}

/* ---- who may see what --------------------------------------------------------- */

static void port_viewer(void *ctx, struct vs_viewer *v)
{
	uint16_t private;

	(void)ctx;
	vs_lock_jobs_read();
	private = slurm_conf.private_data;
	vs_unlock_jobs_read();
	v->is_operator = validate_operator(v->uid);
	v->sees_jobs = v->is_operator || !(private & PRIVATE_DATA_JOBS);
	v->sees_nodes = v->is_operator || !(private & PRIVATE_DATA_NODES);
}

/* ---- jobs --------------------------------------------------------------------- */

/* When a job's system_comment was written: each makes clients read all jobs. */
static bool comment_due(uint32_t job)
{
	static struct { uint32_t job; time_t at; } slots[16384];
	size_t i = job % VS_COUNT(slots);
	time_t now = time(NULL);

	if (slots[i].job == job && now - slots[i].at < COMMENT_SECONDS)
		return false;
	slots[i].job = job;
	slots[i].at = now;
	return true;
}

/* Only reasons that say "no capacity now" may be replaced by a better text. */
static bool reason_is_ours(const job_record_t *job_ptr)
{
	return IS_JOB_PENDING(job_ptr) && job_ptr->priority &&
	       (job_ptr->state_reason == WAIT_RESOURCES ||
		job_ptr->state_reason == WAIT_NO_REASON ||
		job_ptr->state_reason == WAIT_PRIORITY ||
		(job_ptr->state_reason == WAIT_LICENSES &&
		 !job_ptr->license_list) ||
		job_ptr->state_reason == WAIT_NODE_NOT_AVAIL);
}

enum vs_job_waits vs_slurm_waits(const job_record_t *job_ptr)
{
	if (!IS_JOB_PENDING(job_ptr))
		return VS_WAITS_NOT;
	if (!reason_is_ours(job_ptr))
		return VS_WAITS_ELSE;
	return !job_ptr->state_desc &&
	       (job_ptr->state_reason == WAIT_RESOURCES ||
		job_ptr->state_reason == WAIT_LICENSES) ?
	       VS_WAITS_WORDLESS : VS_WAITS_CAPACITY;
}

void vs_slurm_wait_over(job_record_t *job_ptr)
{
	const char *why = vs_assignment_requeued(job_ptr->system_comment);
	char *left;

	if (!vs_assignment_is_wait(job_ptr->system_comment))
		return;
	left = *why && IS_JOB_PENDING(job_ptr) ?
		xstrdup_printf(VS_ASSIGNMENT_REQUEUED "%s", why) : NULL;
	xfree(job_ptr->system_comment);
	job_ptr->system_comment = left;
	last_job_update = time(NULL);
}

void vs_slurm_wait_renew(job_record_t *job_ptr)
{
	if (IS_JOB_PENDING(job_ptr) && !reason_is_ours(job_ptr))
		vs_slurm_wait_over(job_ptr);
}

static bool comment_says(job_record_t *job_ptr, const char *text)
{
	VS_FREE char *line = vs_assignment_wait_text(text,
						     job_ptr->system_comment);

	if (!xstrcmp(job_ptr->system_comment, line) ||
	    !comment_due(job_ptr->job_id))
		return false;
	xfree(job_ptr->system_comment);
	job_ptr->system_comment = xstrdup(line);
	return true;
}

#define UNKNOWN_S (300 * 24 * 3600)	/* the core says "in a year" */

/* Backfill leaves a start beyond its window in the record, and squeue --start
 * shows it as a date. 0 is Slurm's own word for a start that is not known. */
static bool start_is_unknown(job_record_t *job_ptr)
{
	if (job_ptr->start_time - time(NULL) < UNKNOWN_S)
		return false;
	job_ptr->start_time = 0;
	return true;
}

/*
 * state_desc is what squeue shows, and the scheduler wipes it in its next
 * cycle; system_comment stays, until the job waits for something else, or no
 * more: then Slurm's reason stands, and the comment would be a lie.
 */
static void port_job_reason(void *ctx, uint32_t job, const char *text)
{
	job_record_t *job_ptr;
	bool changed = false;

	(void)ctx;
	vs_lock_jobs_write();
	job_ptr = find_job_record(job);
	if (job_ptr && !text[0]) {
		vs_slurm_wait_over(job_ptr);
	} else if (job_ptr && reason_is_ours(job_ptr)) {
		if (xstrcmp(job_ptr->state_desc, text)) {
			xfree(job_ptr->state_desc);
			job_ptr->state_desc = xstrdup(text);
			changed = true;
		}
		changed |= comment_says(job_ptr, text);
		changed |= start_is_unknown(job_ptr);
	}
	if (changed)
		last_job_update = time(NULL);
	vs_unlock_jobs_write();
}

/*
 * The main scheduler has a queue of such requests. Backfill looks at its jobs only
 * after a change of a job, node or partition (_more_work(), 22.05 to 24.11), and no
 * record changes when a pause ends or vCenter is back.
 */
static void port_schedule(void *ctx)
{
	(void)ctx;
	queue_job_scheduler();
	vs_lock_jobs_write();
	last_job_update = time(NULL);
	vs_unlock_jobs_write();
}

const struct vs_slurm_ops vs_slurm_ops_table = {
	.active = port_active,
	.nodes_read = port_nodes_read,
	.node_set = vs_slurm_node_set,
	.nodes_boot_push = vs_slurm_nodes_boot_push,
	.node_booted = vs_slurm_node_booted,
	.power_scan = vs_slurm_power_scan,
	.job_reason = port_job_reason,
	.job_requeued = vs_slurm_job_requeued,
	.job_got = vs_slurm_job_assignment,
	.schedule = port_schedule,
	.nodes_jobs = port_nodes_jobs,
	.jobs_read = vs_slurm_jobs_read,
	.job_part = vs_slurm_job_part,
	.viewer = port_viewer,
	.jobs_ahead = vs_slurm_planned_jobs,
	.resvs_set = vs_slurm_resvs_set,
	.slurm_check = vs_slurm_conf_check,
};
