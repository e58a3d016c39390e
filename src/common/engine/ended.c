/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs whose guest is no more, though Slurm believes them running: their VM was
 * switched off, or HA has started it again on another host. Slurm hears of the
 * first from us, and would miss the second for long: with ReturnToService=2 a
 * guest that has rebooted within SlurmdTimeout is as good as before, and only
 * the node of a job's batch script is asked what runs there.
 *
 * Rules: a guest is known to be another one only by a VM that is on elsewhere
 * and was out of reach or off since it was last seen on: vMotion moves one that
 * is within reach. Slurm ends the job, never we.
 */
#include <string.h>
#include "engine/ended_i.h"

/*
 * slurmctld tries for a while to reach the guest that is gone, to end its job.
 * Should the VM be on again it would be the job's next run that is ended.
 */
void vs_ended_begins(const struct vs_core *c, struct vs_node *n, int64_t now_ms)
{
	n->ending_ms = now_ms + (int64_t)c->conf->kill_tries_s * 1000;
	vs_node_touch(n);
}

void vs_ended_look(struct vs_core *c, struct vs_node *n, int64_t now_ms)
{
	const struct vs_vm *vm = vs_node_vm(c, n);

	if (n->ending_ms && now_ms >= n->ending_ms) {
		n->ending_ms = 0;
		vs_node_touch(n);
		c->name_freed = true;
	}
	if (!(n->flags & VS_NODE_ALLOCATED) || !c->loaded)
		n->ran_on[0] = '\0';
	else if (!vm || !vm->connected || vm->power != VS_POWER_ON)
		n->ran_lost = true;
}

void vs_ended_act(struct vs_core *c, struct vs_node *n, int64_t now_ms)
{
	const struct vs_vm *vm = vs_node_vm(c, n);
	const uint32_t running = VS_NODE_UP | VS_NODE_ALLOCATED;
	bool elsewhere;

	if ((n->flags & running) != running || n->seen != VS_SEEN_ON || !vm)
		return;
	elsewhere = n->ran_on[0] && n->ran_lost && strcmp(n->ran_on, vm->host);
	vs_strlcpy(n->ran_on, vm->host, sizeof(n->ran_on));
	n->ran_lost = false;
	if (!elsewhere || vs_job_waits(c, n->job))
		return;
	vs_error("node=%s has a job for Slurm but its VM was started again on host=%s",
		 n->name, vm->host_ptr->name);
	vs_ended_begins(c, n, now_ms);
	vs_tell(c, VS_TELL_GIVEUP, n->name, n->job, false,
		"its VM was started again on another host under a job");
}
