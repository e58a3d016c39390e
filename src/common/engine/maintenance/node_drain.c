/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes whose VM is on a host that is wanted (cordon.c), or suspended there: it
 * can be resumed there alone, or is evicted by an operator (vm_actions.c). They are
 * drained with the cause, idle ones powered down at once, running jobs finish;
 * when the VM is off or elsewhere slurm-vsphere ends its own drain, and no other.
 */
#include <stdio.h>
#include <string.h>
#include "engine/hosts/hosts.h"
#include "engine/jobs/jobs.h"
#include "engine/maintenance/maintenance.h"
#include "engine/maintenance/maintenance_i.h"
#include "engine/slurm/outbox.h"
#include "engine/slurm/slurm_ops.h"
#include "engine/state/state.h"

#define AGAIN_MS 5000
#define VACATE_AGAIN_MS 60000

/* Whose VM is to go off: its host, NULL if it needn't. */
static const struct vs_host *wanted_host(struct vs_core *c,
					 const struct vs_node *n)
{
	const struct vs_host *h = vs_node_there(c, n);

	return h && (n->orders.evict || vs_host_is_cordoned(h)) ? h : NULL;
}

static bool idle(const struct vs_node *n)
{
	return !n->claims.job && (n->flags & VS_NODE_UP) &&
	       !(n->flags & (VS_NODE_ALLOCATED | VS_NODE_COMPLETING |
			     VS_NODE_POWER_DOWN_ASKED));
}

bool vs_node_kept_on(const struct vs_node *n)
{
	const uint32_t kept = VS_NODE_STAYS | VS_NODE_TAKEN | VS_NODE_DRAIN;

	return (n->flags & kept) == kept && !(n->flags & VS_NODE_DOWN);
}

/* Slurm's answer to a power-down. Refused: the node was not idle yet. */
static void power_down_told(struct vs_core *c,
			    const struct vs_outbox_request *t, bool accepted)
{
	struct vs_node *n = accepted ? NULL : vs_node_named(c, t->node);

	if (!n)
		return;
	n->drain.vacate_ms = 0;
	n->drain.said = VS_SAID_NOTHING;
}

void vs_power_down_ask(const struct vs_node *n, bool again, const char *why)
{
	vs_outbox_ask(VS_REQUEST_POWER_DOWN, n->name, 0, again, why,
		      power_down_told);
}

/* Retention=power_off|destroy: as soon as Slurm has no use for the node. One that an
 * administrator drained may stay up for long. */
void vs_vacate_act(struct vs_node *n, int64_t now_ms)
{
	if (!vs_node_is(n, VS_COND_VACATE))
		n->drain.vacate_ms = 0;
	if (!vs_node_is(n, VS_COND_VACATE) || !idle(n) ||
	    (n->drain.vacate_ms &&
	     now_ms - n->drain.vacate_ms < VACATE_AGAIN_MS))
		return;
	vs_power_down_ask(n, n->drain.vacate_ms != 0,
			  n->ahead.state == VS_PREFETCH_UP ?
			  "it was powered up in advance for a job that no longer needs it" :
			  "Retention of its partition");
	n->drain.vacate_ms = now_ms;
}

/* It is idle. Each is logged once. */
static void power_down(struct vs_node *n, const char *why)
{
	if (!vs_node_kept_on(n)) {
		vs_power_down_ask(n, n->drain.said == VS_SAID_DOWN, why);
		n->drain.said = VS_SAID_DOWN;
		return;
	}
	if (n->drain.said != VS_SAID_STAYS)
		vs_info("node=%s stays on though %s: someone else drained the node, and Slurm keeps it on (SuspendExcNodes, -Parts or -States)",
			n->name, why);
	n->drain.said = VS_SAID_STAYS;
}

/* Its jobs are requeued, as an operator has ordered. A node that Slurm has DOWN
 * is powered down by force, because Slurm would not. */
static bool by_force(const struct vs_node *n, bool requeue)
{
	const uint32_t used = VS_NODE_ALLOCATED | VS_NODE_COMPLETING;

	return (requeue && (n->claims.job || (n->flags & used))) ||
		(n->orders.evict && (n->flags & VS_NODE_DOWN) && !n->claims.job &&
		 !(n->flags & used));
}

/* Of this node, or of all on the host. */
static bool to_requeue(const struct vs_node *n,
		       const struct vs_host *h)
{
	const struct vs_exclusion *a =
		vs_exclusion_find(VS_EXCLUDED_DRAINED, h->moid);

	return n->orders.evict ? n->orders.requeue : a && a->requeue;
}

/* jobs_why: what users read, and so without an operator's note. why: the node's
 * reason. */
static void requeue(struct vs_node *n, const char *why,
		    const char *jobs_why)
{
	vs_outbox_post(VS_REQUEST_RELEASE, n->name, VS_JOB_ANY, false, why);
	vs_jobs_requeued_note(n, jobs_why);
}

/* And why its VM didn't leave with its job. */
static void why_stays(const struct vs_node *n,
		      const struct vs_host *h, bool note, char *why,
		      size_t size)
{
	size_t len;

	if (n->orders.evict) {
		vs_vm_actions_text(n, note, why, size);
		return;
	}
	vs_host_cordon_text(h, note, why, size);
	len = strlen(why);
	if (n->vmotion.state == VS_VMOTION_STAYS)
		snprintf(why + len, size - len, "; %s: %s",
			 to_requeue(n, h) ? "jobs are requeued" :
			 "the VM stays until the job ends", n->vmotion.why);
}

void vs_maintenance_apply(struct vs_core *c, struct vs_node *n, int64_t now_ms)
{
	const struct vs_host *h;
	char why[400], jobs_why[400];

	vs_vm_actions_observe(c, n);
	h = wanted_host(c, n);
	/* The tag tells which drains slurm-vsphere set before a restart: it ends them. */
	if (!c->started && (n->flags & VS_NODE_DRAIN))
		vs_node_condition(n, VS_COND_HOST_DRAIN, true);
	if (h && !n->orders.evict && vs_vmotion_leaves(c, n, h, now_ms))
		return;
	if ((!h && !vs_node_is(n, VS_COND_HOST_DRAIN)) ||
	    now_ms - n->drain.at_ms < AGAIN_MS)
		return;
	n->drain.at_ms = now_ms;
	if (!h) {
		vs_node_condition(n, VS_COND_HOST_DRAIN, false);
		n->drain.said = VS_SAID_NOTHING;
		vs_outbox_post(VS_REQUEST_UNDRAIN, n->name, 0, false, NULL);
		return;
	}
	vs_node_condition(n, VS_COND_HOST_DRAIN, true);
	why_stays(n, h, true, why, sizeof(why));
	if (by_force(n, to_requeue(n, h))) {
		if (n->flags & VS_NODE_ALLOCATED)
			vs_guest_lost_begin(c, n, now_ms);
		why_stays(n, h, false, jobs_why, sizeof(jobs_why));
		if (to_requeue(n, h))
			requeue(n, why, jobs_why);
		else
			vs_outbox_post(VS_REQUEST_RELEASE, n->name, 0, false,
				       why);
		return;
	}
	if (!(n->flags & VS_NODE_DRAIN))
		vs_outbox_post(VS_REQUEST_DRAIN, n->name, 0, false, why);
	if (idle(n))
		power_down(n, why);
}
