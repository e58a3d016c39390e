/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the end of a job, or of its guest, means for its node: a boot that no
 * job waits for any more, and the time in which slurmctld still ends the job.
 * The lock is held.
 */
#include "engine/jobs/jobs.h"
#include "engine/slurm/outbox.h"
#include "engine/state/core_i.h"
#include "engine/state/state.h"

/* Don't boot a VM that nobody waits for. */
void vs_boot_for_nobody(struct vs_node *n)
{
	n->left_ms = 0;
	if (n->giveup)
		return;
	n->giveup = true;
	vs_tell(VS_TELL_GIVEUP, n->name, 0, false,
		"the job it was powered up for is gone");
}

/*
 * slurmctld tries for a while to reach the guest that is gone, to end its job.
 * Should the VM be on again it would be the job's next run that is ended.
 */
void vs_ended_begins(const struct vs_core *c, struct vs_node *n, int64_t now_ms)
{
	n->ending_ms = now_ms + (int64_t)c->conf->slurm.kill_tries_s * 1000;
	vs_node_touch(n);
}

void vs_ended_over(struct vs_node *n)
{
	n->ending_ms = 0;
}
