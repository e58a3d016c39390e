/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs whose guest is lost while Slurm believes them running: their VM was
 * switched off, or HA has restarted it on another host. slurm-vsphere reports
 * both to Slurm, which would miss the second for long: with ReturnToService=2 a
 * guest that rebooted within SlurmdTimeout counts as healthy, and only the node
 * of a job's batch script is asked what runs there.
 *
 * A guest counts as restarted only if its VM runs on another host, and was
 * unreachable or off since it was last seen on. vMotion moves a VM without
 * that, and the task of slurm-vsphere's own vMotion tells its outcome. Slurm
 * ends the job; slurm-vsphere never does.
 *
 * This file also releases nodes that stay COMPLETING. A slurmctld that restarts
 * with a node off and COMPLETING takes it from its job, and leaves it
 * COMPLETING until it registers; but no job will power it up.
 */
#include <string.h>
#include "engine/jobs/jobs.h"
#include "engine/provision/provision.h"
#include "engine/reconcile/reconcile.h"
#include "engine/slurm/outbox.h"
#include "engine/slurm/slurm_ops.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"

#define STUCK_MS 5000
#define AGAIN_MS 5000		/* after a power-off that failed */

/* By vMotion, as vCenter reports and shows. */
static bool moved(const struct vs_node *n, const struct vs_vm *vm)
{
	return vm && n->op.kind == VS_OP_VMOTION && !n->op.id &&
		!strcmp(vm->host, n->op.host);
}

void vs_guest_lost_observe(struct vs_core *c, struct vs_node *n, int64_t now_ms)
{
	const struct vs_vm *vm = vs_node_vm(c, n);

	if (n->claims.ending_ms && now_ms >= n->claims.ending_ms) {
		vs_guest_lost_end(n);
		vs_node_mark_changed(n);
		vs_name_freed();
	}
	if (!(n->flags & VS_NODE_ALLOCATED) || !c->loaded)
		n->guest.ran_on[0] = '\0';
	else if (moved(n, vm))
		vs_strlcpy(n->guest.ran_on, vm->host, sizeof(n->guest.ran_on));
	/* a suspended guest is the same one wherever it is resumed */
	if (vm && *n->guest.ran_on && vm->power == VS_POWER_SUSPENDED)
		vs_strlcpy(n->guest.ran_on, vm->host, sizeof(n->guest.ran_on));
	else if (!vm || !vm->connected || vm->power != VS_POWER_ON)
		vs_node_condition(n, VS_COND_GUEST_LOST, true);
	else if (!strcmp(n->guest.ran_on, vm->host))
		vs_node_condition(n, VS_COND_GUEST_LOST, false);
}

static void unstick(struct vs_node *n, int64_t now_ms)
{
	const uint32_t stuck = VS_NODE_POWERED_DOWN | VS_NODE_COMPLETING;
	const uint32_t others = VS_NODE_ALLOCATED | VS_NODE_POWERING_UP |
		VS_NODE_POWERING_DOWN | VS_NODE_POWER_DOWN_ASKED |
		VS_NODE_DOWN | VS_NODE_DRAIN | VS_NODE_TAKEN;

	if ((n->flags & (stuck | others)) != stuck) {
		n->guest.stuck_ms = 0;
		return;
	}
	if (!n->guest.stuck_ms)
		n->guest.stuck_ms = now_ms;
	if (now_ms - n->guest.stuck_ms < STUCK_MS)
		return;
	n->guest.stuck_ms = now_ms;
	vs_outbox_post(VS_REQUEST_RELEASE, n->name, 0, false,
		       "its VM was off, and the end of its last job was never reported");
}

/* Its job has ended, and its slurmd can't tell Slurm so; or its silence has cost it
 * its node. A suspended VM is resumed by the administrator who suspended it alone,
 * and has no job there that it could continue. */
void vs_guest_lost_suspended_apply(struct vs_core *c, struct vs_node *n,
				   int64_t now_ms)
{
	if (n->seen != VS_OBSERVED_SUSPENDED ||
	    now_ms < n->retry.not_before_ms ||
	    !(n->flags & (VS_NODE_COMPLETING | VS_NODE_SILENT)))
		return;
	vs_info("node=%s its VM is suspended and its job has ended: the VM is powered off",
		n->name);
	vs_retry_pause(n, now_ms + AGAIN_MS);
	vs_op_at(c, n, VS_DO_SHUTDOWN, NULL, now_ms);
}

void vs_guest_lost_apply(struct vs_core *c, struct vs_node *n, int64_t now_ms)
{
	const struct vs_vm *vm = vs_node_vm(c, n);
	const uint32_t running = VS_NODE_UP | VS_NODE_ALLOCATED;
	bool elsewhere;

	unstick(n, now_ms);
	if ((n->flags & running) != running || n->seen != VS_OBSERVED_ON ||
	    !vm || n->op.kind == VS_OP_VMOTION)
		return;
	elsewhere = n->guest.ran_on[0] && vs_node_is(n, VS_COND_GUEST_LOST) &&
		strcmp(n->guest.ran_on, vm->host);
	vs_strlcpy(n->guest.ran_on, vm->host, sizeof(n->guest.ran_on));
	vs_node_condition(n, VS_COND_GUEST_LOST, false);
	if (!elsewhere || vs_job_waits(n->claims.job))
		return;
	vs_error("node=%s has a job in Slurm but its VM was restarted on host=%s",
		 n->name, vm->host_ptr->name);
	vs_guest_lost_begin(c, n, now_ms);
	vs_guest_lost_release(n, n->claims.job,
			      "its VM was restarted on another host while a job ran");
}
