/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VMs that run under a node which Slurm believes powered down. slurmctld saves
 * its state some seconds late: one that was killed comes back to a time before
 * the node was powered up, and the VM, perhaps with a job in it, is the truth.
 *
 * Rules: looked for once after a start, when vCenter shows the VM, which for one
 * on a host that doesn't answer may be much later; such a VM is left on and its
 * guest asked to register; when it doesn't, Slurm gets the node back with the
 * cause. Where Retention doesn't keep it, it goes the way of all
 * others, by a power-down of Slurm's: otherwise a few kills in a row would reach the
 * removal limit (and need an operator). Never switches anything off itself.
 */
#include <stdio.h>
#include "engine/jobs/jobs.h"
#include "engine/reconcile/reconcile.h"
#include "engine/slurm/outbox.h"
#include "engine/state/state.h"
#include "engine/vmspec/vmspec.h"

#define ASK_MS 2000

/* On and right, or a task of before the start may just switch it on. */
static bool lives(struct vs_core *c, struct vs_node *n)
{
	struct vs_vm *vm = vs_node_vm(c, n);

	if (!vm || !vm->readable || !vm->connected ||
	    vs_vm_owner(vm, c->folder, c->cluster_id) != VS_OWNER_MANAGED)
		return false;
	return n->op.kind == VS_OP_ADOPTED ||
	       (vm->power == VS_POWER_ON &&
		vs_node_vm_right(c, n, vm, n->claims.job, n->claims.restart));
}

/* Slurm believes that a job runs there, powers up nothing for it, and there is
 * nothing: what it has lost is the job's end. */
bool vs_adopt_lost(struct vs_core *c, const struct vs_node *n)
{
	const struct vs_vm *vm = vs_node_vm(c, n);

	return (n->flags & VS_NODE_POWERED_DOWN) &&
	       (n->flags & VS_NODE_ALLOCATED) && n->claims.job &&
	       vs_node_is(n, VS_COND_JOB_LAUNCHED) &&
	       (!vm || vm->power == VS_POWER_OFF);
}

/* A job's node is kept in any case; a free one if no administrator has taken it
 * away. */
static bool wanted_back(const struct vs_node *n)
{
	uint32_t f = n->flags;

	if (!(f & VS_NODE_POWERED_DOWN) ||
	    (f & (VS_NODE_POWERING_UP | VS_NODE_POWERING_DOWN | VS_NODE_DOWN |
		  VS_NODE_POWER_DOWN_ASKED)))
		return false;
	return n->claims.job || !(f & VS_NODE_DRAIN);
}

void vs_adopt_observe(struct vs_core *c, struct vs_node *n, int64_t now_ms)
{
	if (!vs_node_is(n, VS_COND_COMPARED | VS_COND_ADOPTING) &&
	    !c->observe && wanted_back(n) && lives(c, n)) {
		vs_info("node=%s is POWERED_DOWN in Slurm but its VM runs: adopted JobId=%u",
			n->name, n->claims.job);
		vs_node_condition(n, VS_COND_ADOPTING, true);
		vs_node_condition(n, VS_COND_COMPARED, true);
		n->adoption.since_ms = now_ms;
		n->adoption.asked_ms = 0;
	}
	if (n->flags & VS_NODE_UP)
		vs_node_condition(n, VS_COND_POWER_CYCLE, false);
	if (!vs_node_is(n, VS_COND_ADOPTING))
		return;
	/* Slurm was quicker: it waits for a boot that comes after its word,
	 * and would never take the one that has been. */
	if (n->flags & VS_NODE_POWERING_UP)
		vs_node_condition(n, VS_COND_POWER_CYCLE, true);
	if (!wanted_back(n) || !lives(c, n)) {
		vs_node_condition(n, VS_COND_ADOPTING, false);
		if (!n->claims.job && (n->flags & VS_NODE_UP) &&
		    n->profile->retention != VS_RETAIN_WARM)
			vs_node_vacate(n, 0);
		else
			vs_node_stay(n);
		vs_capacity_freed();
		vs_name_freed();
	}
}

/*
 * After a look. What Slurm says of the node's power since the start is no
 * memory. Whatever is observed only may be switched on by people meanwhile: when
 * that is over it is as at a start.
 */
void vs_adopt_looked(struct vs_core *c, struct vs_node *n)
{
	if (c->observe)
		vs_node_condition(n, VS_COND_COMPARED, false);
	else if (!c->blocked[0] &&
		 ((n->flags & (VS_NODE_UP | VS_NODE_POWERING_UP |
			       VS_NODE_POWERING_DOWN)) ||
		  (n->flags && !vs_observed_unsure(n->seen) &&
		   n->seen != VS_OBSERVED_BUSY)))
		vs_node_condition(n, VS_COND_COMPARED, true);
}

void vs_adopt_apply(struct vs_core *c, struct vs_node *n, int64_t now_ms)
{
	char why[160];

	if (!vs_node_is(n, VS_COND_ADOPTING) ||
	    now_ms - n->adoption.asked_ms < ASK_MS)
		return;
	n->adoption.asked_ms = now_ms;
	if (now_ms - n->adoption.since_ms < (int64_t)c->conf->boot_timeout_s * 1000) {
		vs_outbox_post(VS_REQUEST_ADOPT, n->name, 0, false, NULL);
		return;
	}
	vs_node_condition(n, VS_COND_ADOPTING, false);
	snprintf(why, sizeof(why),
		 "VM was on after a restart but slurmd did not register within BootTimeout=%d s",
		 c->conf->boot_timeout_s);
	if (n->claims.job)
		vs_outbox_post(VS_REQUEST_FAIL, n->name, n->claims.job, false,
			       why);
	vs_error("node=%s %s", n->name, why);
}
