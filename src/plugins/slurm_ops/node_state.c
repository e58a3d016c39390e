/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The core's requests for a node's state, each in the way that Slurm's own
 * state machine survives: POWERING_UP before a VM goes away under a node that
 * is up, boot_req_time pushed while our queue holds a node back, power-down
 * that no job can slip under, down that ResumeTimeout doesn't overwrite.
 *
 * Rules: flags are read again under the write lock, because they may have
 * changed since the core saw them; an administrator's drain or reason is never
 * cleared.
 */
#include "plugins/slurm/compat.h"
#include "ops.h"
#include "ops_i.h"
#include "util/mem.h"

#define POWER_FLAGS (NODE_STATE_POWERED_DOWN | NODE_STATE_POWERING_UP | \
		     NODE_STATE_POWERING_DOWN)

#define BOOT_SLACK_S 2

static bool reason_ours(const node_record_t *n)
{
	return !xstrncmp(n->reason, VS_REASON_TAG, strlen(VS_REASON_TAG));
}

/* From now on Slurm waits for this node to boot. */
static void set_powering_up(node_record_t *n, time_t boot_req)
{
	n->node_state &= ~(NODE_STATE_POWERED_DOWN | NODE_STATE_POWER_UP);
	n->node_state |= NODE_STATE_POWERING_UP | NODE_STATE_NO_RESPOND;
	n->boot_req_time = boot_req;
	vs_node_bits_powering_up(n);
	last_node_update = time(NULL);
}

/* Their time limit must not run while the node boots. JOB W, own thread. */
static int mark_job(void *x, void *arg)
{
	job_record_t *job_ptr = x;
	const node_record_t *n = arg;

	if (IS_JOB_RUNNING(job_ptr) && IS_JOB_CONFIGURING(job_ptr) &&
	    job_ptr->node_bitmap && bit_test(job_ptr->node_bitmap, n->index))
		vs_job_flag_set(job_ptr, JOB_POWER_UP_NODE);
	return 0;
}

/* At power saving's next tick. With a job on it Slurm waits for its end first,
 * and that for its VM. */
static bool going(const node_record_t *n)
{
	return (n->node_state & NODE_STATE_POWER_DOWN) && !n->run_job_cnt;
}

static int rebuild(node_record_t *n)
{
	if (n->node_state & NODE_STATE_POWERING_UP)
		return 0;	/* asked twice, or booting anyway */
	if ((n->node_state & (POWER_FLAGS | NODE_STATE_COMPLETING)) ||
	    going(n) || IS_NODE_DOWN(n) || vs_slurm_node_runs(n))
		return -1;
	set_powering_up(n, time(NULL));
	list_for_each(job_list, mark_job, n);
	return 0;
}

/* Half a ResumeTimeout behind, never now: a guest that boots where vCenter
 * can't be asked is to be taken all the same. ResumeTimeout holds again. */
void vs_slurm_nodes_boot_push(void *ctx, const char *const *nodes, size_t count)
{
	int next = 0;

	(void)ctx;
	for (size_t i = 0; i < count; i++) {
		node_record_t *n;

		if (i % VS_SLURM_SLICE == 0)
			vs_lock_nodes_write();
		n = vs_slurm_node_next(nodes[i], &next);
		if (n && (n->node_state & NODE_STATE_POWERING_UP)) {
			time_t least = time(NULL) -
				vs_slurm_resume_timeout(n) / 2;

			n->boot_req_time = MAX(n->boot_req_time, least);
			bit_set(booting_node_bitmap, n->index);
		}
		if (i % VS_SLURM_SLICE == VS_SLURM_SLICE - 1 || i == count - 1)
			vs_unlock_nodes_write();
	}
}

/*
 * slurmctld takes only a guest that booted after boot_req_time, which was
 * pushed until vCenter showed the VM on: perhaps beyond its boot. So it is set
 * to when the VM was switched on, however long ago; of one of which that is
 * unknown here, to the beginning of time. Both sides count whole seconds, hence
 * the slack.
 *
 * ResumeTimeout counts from there too, and would end such a boot before its
 * guest can register. It is about nodes of that bitmap alone; BootTimeout, which
 * the engine counts from when it saw the VM on, ends the boot instead.
 */
void vs_slurm_node_booted(void *ctx, const char *node, int64_t ago_ms, bool ask)
{
	node_record_t *n;
	time_t now = time(NULL);

	(void)ctx;
	vs_lock_nodes_write();
	n = find_node_record2((char *)node);
	if (n && (n->node_state & NODE_STATE_POWERING_UP)) {
		if (ago_ms >= 0)
			n->boot_req_time = now - ago_ms / 1000 - BOOT_SLACK_S;
		else if (ask)
			n->boot_req_time = 1;
		if (n->boot_req_time < now - vs_slurm_resume_timeout(n) / 2)
			bit_clear(booting_node_bitmap, n->index);
		if (ask)
			vs_node_ask_registration(n);
	}
	vs_unlock_nodes_write();
}

/*
 * Registration itself clears POWERED_DOWN. POWERING_UP would be wrong here:
 * with it slurmctld takes only a guest that booted after boot_req_time, and
 * an old boot_req_time is ResumeTimeout's prey at once.
 */
static int adopt(node_record_t *n)
{
	if (!(n->node_state & NODE_STATE_POWERED_DOWN) ||
	    (n->node_state & (NODE_STATE_POWERING_DOWN |
			      NODE_STATE_POWERING_UP)) ||
	    !(IS_NODE_IDLE(n) || IS_NODE_ALLOCATED(n) || IS_NODE_MIXED(n)))
		return -1;
	n->last_response = time(NULL);
	vs_node_ask_registration(n);
	return 0;
}

/*
 * The raw flag alone let a job onto the node before power saving's next tick,
 * and spoiled nodes that were on their way down already.
 */
static int power_down(node_record_t *n)
{
	const uint32_t not_idle = POWER_FLAGS | NODE_STATE_COMPLETING |
		NODE_STATE_REBOOT_REQUESTED | NODE_STATE_REBOOT_ISSUED;

	if (!IS_NODE_IDLE(n) || (n->node_state & not_idle) ||
	    n->run_job_cnt || n->comp_job_cnt || n->sus_job_cnt)
		return -1;
	/* Slurm lifts each drain at a power-down that was requested, but not
	 * at one for idleness. */
	if (IS_NODE_DRAIN(n) && !reason_ours(n))
		n->last_busy = 1;
	else
		n->node_state |= NODE_STATE_POWER_DOWN;
	bit_clear(avail_node_bitmap, n->index);
	last_node_update = time(NULL);
	return 0;
}

/* Off at once, whatever the rest of its state is: without this ResumeTimeout
 * comes later and wipes the reason. */
static void set_powered_down(node_record_t *n)
{
	n->node_state &= ~(NODE_STATE_POWERING_UP | NODE_STATE_NO_RESPOND |
			   NODE_STATE_POWER_DOWN | NODE_STATE_POWER_UP);
	n->node_state |= NODE_STATE_POWERED_DOWN;
	n->boot_req_time = 0;
	n->last_busy = 0;
	vs_node_bits_powered_down(n);
	last_node_update = time(NULL);
}

/* Our reason, an administrator's words kept behind it. */
static char *fail_reason(const node_record_t *n, const char *reason)
{
	if (n->reason && *n->reason && !reason_ours(n) &&
	    xstrncmp(n->reason, "Not responding", 14))
		return xstrdup_printf(VS_REASON_TAG "%s (before: %s)", reason,
				      n->reason);
	return xstrdup_printf(VS_REASON_TAG "%s", reason);
}

/* The node has jobs, but not the one for which this was decided, a moment ago
 * and without slurmctld's lock. JOB R. */
static bool came_too_late(const node_record_t *n, uint32_t job)
{
	const job_record_t *job_ptr;

	if (!n->run_job_cnt || job == VS_JOB_ANY)
		return false;
	job_ptr = job ? find_job_record(job) : NULL;
	return !job_ptr || !job_ptr->node_bitmap ||
		!bit_test(job_ptr->node_bitmap, n->index);
}

static int fail(node_record_t *n, uint32_t job, const char *reason)
{
	char *text;

	if (came_too_late(n, job))
		return -1;
	text = fail_reason(n, reason);
	if (n->node_state & (NODE_STATE_POWERING_UP | NODE_STATE_POWERED_DOWN))
		set_powered_down(n);
	xfree(n->reason);
	set_node_down_ptr(n, text);
	last_node_update = time(NULL);
	xfree(text);
	return 0;
}

static int drain(node_record_t *n, const char *reason)
{
	char *text;

	if (IS_NODE_DRAIN(n))
		return -1;
	text = fail_reason(n, reason);
	xfree(n->reason);
	drain_nodes(n->name, text, slurm_conf.slurm_user_id);
	xfree(text);
	return 0;
}

void vs_slurm_node_refuse(node_record_t *n, const char *why)
{
	if (IS_NODE_DRAIN(n))
		return;
	error("slurm-vsphere: %s; no job gets node %s: delete the node, and create it again",
	      why, n->name);
	drain(n, why);
}

static void update_state(const char *node, uint32_t state, const char *reason)
{
	update_node_msg_t msg;

	slurm_init_update_node_msg(&msg);
	msg.node_names = (char *)node;
	msg.node_state = state;
	msg.reason = (char *)reason;
	if (vs_update_node(&msg))
		error("slurm-vsphere: slurmctld refuses to update node %s",
		      node);
}

static int undrain(node_record_t *n)
{
	if (!IS_NODE_DRAIN(n) || !reason_ours(n))
		return -1;
	if (IS_NODE_DOWN(n) || (n->node_state & NODE_STATE_POWERING_DOWN))
		/* "resume" would do more than we mean */
		n->node_state &= ~NODE_STATE_DRAIN;
	else
		update_state(n->name, NODE_RESUME, NULL);
	if (!IS_NODE_DOWN(n))
		xfree(n->reason);
	last_node_update = time(NULL);
	return 0;
}

/* An administrator or a program took the node out of service, with a reason.
 * Slurm's power-down could bring it back (idle_on_node_suspend), and
 * slurm-vsphere would write another reason. */
static bool taken_away(const node_record_t *n)
{
	return (IS_NODE_DOWN(n) || IS_NODE_DRAIN(n)) && n->reason &&
	       *n->reason && !reason_ours(n) && !vs_slurm_node_silent(n);
}

/* Slurm's own reasons for a boot that didn't come, or came by itself, name no
 * fault that an administrator has found. */
bool vs_slurm_node_taken(const node_record_t *n)
{
	return taken_away(n) && xstrncmp(n->reason, "ResumeTimeout", 13) &&
	       xstrncmp(n->reason, "Node unexpectedly rebooted", 26) &&
	       xstrncmp(n->reason, "Not responding", 14);
}

static int release(node_record_t *n, uint32_t job, const char *reason)
{
	char *text;

	if (came_too_late(n, job) ||
	    (n->node_state & NODE_STATE_POWERING_DOWN))
		return -1;
	if (taken_away(n) && !n->run_job_cnt && !n->sus_job_cnt) {
		set_powered_down(n);
		return 0;
	}
	if (!n->run_job_cnt && !(n->node_state & NODE_STATE_COMPLETING) &&
	    (n->node_state & NODE_STATE_POWERED_DOWN))
		return -1;
	text = xstrdup_printf(VS_REASON_TAG "%s", reason);
	if (vs_slurm_node_silent(n))
		update_state(n->name, NODE_RESUME, NULL);
	update_state(n->name, NODE_STATE_POWER_DOWN | NODE_STATE_POWERED_DOWN,
		     text);
	vs_slurm_node_emptied(n);
	xfree(text);
	return 0;
}

/* A node that is down, drained, planned for other jobs or changing its state is
 * never powered up here. */
static int power_up(node_record_t *n)
{
	const uint32_t others = NODE_STATE_POWERING_UP |
		NODE_STATE_POWERING_DOWN | NODE_STATE_POWER_DOWN |
		NODE_STATE_POWER_UP | NODE_STATE_DRAIN | NODE_STATE_COMPLETING |
		NODE_STATE_FAIL | NODE_STATE_MAINT;

	if (!IS_NODE_IDLE(n) || n->run_job_cnt || (n->node_state & others) ||
	    !(n->node_state & NODE_STATE_POWERED_DOWN))
		return -1;
	update_state(n->name, NODE_STATE_POWER_UP, NULL);
	return 0;
}

/* JOB W, NODE W, PART W. */
static int change_node(node_record_t *n, enum vs_slurm_request change,
		       uint32_t job, const char *reason)
{
	switch (change) {
	case VS_REQUEST_REBUILD:
		return rebuild(n);
	case VS_REQUEST_POWER_DOWN:
		return power_down(n);
	case VS_REQUEST_POWER_UP:
		return power_up(n);
	case VS_REQUEST_ADOPT:
		return adopt(n);
	case VS_REQUEST_FAIL:
		return fail(n, job, reason);
	case VS_REQUEST_RELEASE:
		return release(n, job, reason);
	case VS_REQUEST_DRAIN:
		return drain(n, reason);
	case VS_REQUEST_UNDRAIN:
		return undrain(n);
	default:
		return -1;	/* no change of a node */
	}
}

int vs_slurm_node_set(void *ctx, const char *node, enum vs_slurm_request change,
		      uint32_t job, const char *reason)
{
	node_record_t *n;
	int rc = -1;

	(void)ctx;
	vs_lock_write();
	n = find_node_record2((char *)node);
	if (n)
		rc = change_node(n, change, job, reason);
	vs_unlock_write();
	return rc;
}

void vs_slurm_power_scan(void *ctx)
{
	(void)ctx;
	vs_lock_nodes_write();
	last_node_update = time(NULL);
	vs_unlock_nodes_write();
}
