/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes that Slurm's own rules would leave as they are for ever, put right. What
 * is wrong with a node that is up ends when it registers again; one that is
 * powered down never does, and stays as a start from state files of different
 * ages, an operator's "resume" or a forced power-down has left it:
 *
 * - counted as allocated, and no job has it: no job gets it, and power saving
 *   passes it over;
 * - "not responding", though nobody is there to respond;
 * - idle, and not among those that Slurm calls available, idle or up.
 *
 * Rules: powered-down nodes of ours without a job alone; a node that is drained
 * or failing stays so; a flag that is not known here means hands off.
 */
#include "slurm_port_i.h"

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

bool vs_port_node_stuck(const node_record_t *n)
{
	if (!rests(n))
		return false;
	if (as_allocated(n))
		return true;
	return (n->node_state & NODE_STATE_BASE) == NODE_STATE_IDLE &&
		!no_use(n) &&
		((n->node_state & NODE_STATE_NO_RESPOND) || counted_out(n));
}

void vs_port_node_mend(node_record_t *n)
{
	if (!vs_port_node_stuck(n))
		return;
	info("slurm-vsphere: node %s is powered down and %s: it is idle again",
	     n->name, as_allocated(n) ?
	     "was counted as allocated, though no job has it" :
	     n->node_state & NODE_STATE_NO_RESPOND ?
	     "need not respond" : "was counted as not available");
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

void vs_port_nodes_mend(const char *const *names, size_t n)
{
	int next = 0;

	if (!n)
		return;
	vs_lock_write();
	for (size_t i = 0; i < n; i++) {
		node_record_t *node_ptr = vs_port_node_next(names[i], &next);

		if (node_ptr)
			vs_port_node_mend(node_ptr);
	}
	vs_unlock_write();
}
