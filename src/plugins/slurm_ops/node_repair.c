/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Repairs of nodes that Slurm's own rules would leave as they are for ever. A
 * wrong state of a node that is up ends when the node registers. A node that is
 * powered down never registers. It stays as an operator's "resume", a forced
 * power-down or a start from state files of different ages has left it:
 *
 * - counted as allocated without a job: no job gets it, and power saving passes
 *   it over;
 * - "not responding", though a node that is off cannot respond;
 * - DOWN because it did not respond for SlurmdTimeout, and powered down since,
 *   by SuspendTime or by force. ReturnToService=1 or 2 says that such a node
 *   returns to service when it registers;
 * - idle, but not in Slurm's bitmaps of available, idle and up nodes.
 *
 * Rules: only nodes of this cluster's VMs, powered down and without a job, are
 * repaired. A node that is drained or failing stays so. A node with a flag that
 * is not known here is left alone.
 */
#include "ops.h"
#include "ops_i.h"

static bool no_job(const node_record_t *n)
{
	return !n->run_job_cnt && !n->comp_job_cnt && !n->sus_job_cnt;
}

static bool rests(const node_record_t *n)
{
	const uint32_t known = NODE_STATE_BASE | NODE_STATE_POWERED_DOWN |
		NODE_STATE_CLOUD | NODE_STATE_NO_RESPOND | NODE_STATE_DRAIN |
		NODE_STATE_FAIL | NODE_STATE_RES | NODE_STATE_MAINT |
		NODE_STATE_PLANNED | NODE_STATE_DYNAMIC_NORM |
		NODE_STATE_DYNAMIC_FUTURE;

	return (n->node_state & NODE_STATE_POWERED_DOWN) &&
		!(n->node_state & ~known) && no_job(n);
}

static bool as_allocated(const node_record_t *n)
{
	uint32_t base = n->node_state & NODE_STATE_BASE;

	return base == NODE_STATE_ALLOCATED || base == NODE_STATE_MIXED;
}

/* Set DOWN by slurmctld itself, for its silence. */
bool vs_slurm_node_silent(const node_record_t *n)
{
	return IS_NODE_DOWN(n) && !IS_NODE_DRAIN(n) &&
	       !xstrncmp(n->reason, "Not responding", 14);
}

static bool no_use(const node_record_t *n)
{
	return n->node_state & (NODE_STATE_DRAIN | NODE_STATE_FAIL);
}

static bool counted_out(const node_record_t *n)
{
	return !bit_test(avail_node_bitmap, n->index) ||
		!bit_test(idle_node_bitmap, n->index) ||
		!bit_test(up_node_bitmap, n->index) ||
		(!n->no_share_job_cnt &&
		 !bit_test(share_node_bitmap, n->index));
}

bool vs_slurm_node_stuck(const node_record_t *n)
{
	if (!rests(n))
		return false;
	if (as_allocated(n))
		return true;
	if (vs_slurm_node_silent(n) && !no_use(n))
		return slurm_conf.ret2service;
	return (n->node_state & NODE_STATE_BASE) == NODE_STATE_IDLE &&
		!no_use(n) &&
		((n->node_state & NODE_STATE_NO_RESPOND) || counted_out(n));
}

static const char *stuck_words(const node_record_t *n)
{
	if (as_allocated(n))
		return "was counted as allocated, though no job has it";
	if (IS_NODE_DOWN(n))
		return "was DOWN because it did not respond";
	return n->node_state & NODE_STATE_NO_RESPOND ?
		"need not respond" : "was counted as not available";
}

void vs_slurm_node_repair(node_record_t *n)
{
	if (!vs_slurm_node_stuck(n))
		return;
	info("slurm-vsphere: node %s is powered down and %s: it is idle again",
	     n->name, stuck_words(n));
	if (IS_NODE_DOWN(n))
		xfree(n->reason);
	n->node_state &= ~(NODE_STATE_BASE | NODE_STATE_NO_RESPOND);
	n->node_state |= NODE_STATE_IDLE;
	n->owner = NO_VAL;
	xfree(n->mcs_label);
	vs_node_bits_powered_down(n);
	bit_set(idle_node_bitmap, n->index);
	bit_set(up_node_bitmap, n->index);
	if (!n->no_share_job_cnt)
		bit_set(share_node_bitmap, n->index);
	if (!no_use(n))
		make_node_avail(n);
	last_node_update = time(NULL);
}

int vs_slurm_resume_timeout(const node_record_t *n)
{
	return n->resume_timeout && n->resume_timeout != NO_VAL16 ?
		n->resume_timeout : slurm_conf.resume_timeout;
}

/*
 * The engine pushes boot_req_time, but not while slurmctld is away, and power
 * saving's first tick comes before vCenter is there. ResumeTimeout is about the
 * nodes of that bitmap alone. The engine's next push sets the bit again.
 */
void vs_slurm_node_boot_kept(node_record_t *n)
{
	if ((n->node_state & NODE_STATE_POWERING_UP) &&
	    n->boot_req_time < time(NULL) - vs_slurm_resume_timeout(n) / 2)
		bit_clear(booting_node_bitmap, n->index);
}

/* kill_running_job_by_node_name() makes a node idle only by its jobs' ends. */
void vs_slurm_node_emptied(node_record_t *n)
{
	if (!(n->node_state & NODE_STATE_POWER_DOWN) || !as_allocated(n) ||
	    !no_job(n))
		return;
	n->node_state = NODE_STATE_IDLE | (n->node_state & NODE_STATE_FLAGS);
	last_node_update = time(NULL);
}

void vs_slurm_nodes_repair(const char *const *names, size_t n)
{
	int next = 0;

	if (!n)
		return;
	vs_lock_write();
	for (size_t i = 0; i < n; i++) {
		node_record_t *node_ptr = vs_slurm_node_next(names[i], &next);

		if (node_ptr)
			vs_slurm_node_repair(node_ptr);
	}
	vs_unlock_write();
}
