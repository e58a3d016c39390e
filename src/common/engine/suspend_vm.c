/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One VM of a suspended job (suspend.c): its calls that fail or never end, and one
 * that nobody will resume. The lock is held.
 */
#include <stdio.h>
#include "engine/core_i.h"

#define ENDLESS_MS (2 * 60 * 1000)	/* a call of ours; and 5 ms a MB of memory */
#define CANCEL_MS 60000		/* what is called off ends */
#define AGAIN_MS 5000		/* after a failure */

/* A task that never ends would keep its job, and the other one, for ever, be it
 * of before a start. All of them write at once. One that isn't called off either
 * is somebody's to end. */
void vs_suspend_call_off(struct vs_core *c, struct vs_node *n,
			 struct vs_suspend *s, int64_t now_ms)
{
	int64_t may_ms = ENDLESS_MS + 5 * n->profile->memory_mb *
		(c->suspends.calls > 0 ? c->suspends.calls : 1);
	int64_t since_ms = n->op.since_ms + may_ms;

	if ((n->op.kind != VS_OP_SUSPEND && n->op.kind != VS_OP_RESUME &&
	     n->op.kind != VS_OP_ADOPTED) || !n->op.id || now_ms <= since_ms)
		return;
	if (!n->op.cancel_asked) {
		vs_op_cancel(c, n);
	} else if (now_ms - since_ms > CANCEL_MS && !n->op.cancel_said) {
		n->op.cancel_said = true;
		snprintf(s->why, sizeof(s->why),
			 "vCenter's %s on %s was called off and doesn't end: end it there",
			 n->op.task, n->name);
		vs_error("node=%s JobId=%u %s", n->name, s->job, s->why);
	}
}

/* Nobody will resume it: its job has ended, or was requeued, and its slurmd can't
 * tell Slurm so; or its silence, or a person, has cost it its node. */
static bool is_left(struct vs_core *c, struct vs_node *n)
{
	const uint32_t ended = VS_NODE_COMPLETING | VS_NODE_SILENT;

	if (vs_suspend_of_node(c, n))
		return false;
	n->slept &= n->seen == VS_SEEN_BUSY || vs_seen_unsure(n->seen);
	return n->seen == VS_SEEN_SUSPENDED &&
	       ((n->flags & ended) ||
		(n->slept && !n->job && !(n->flags & VS_NODE_ALLOCATED)));
}

void vs_suspend_act(struct vs_core *c, struct vs_node *n, int64_t now_ms)
{
	if (!is_left(c, n) || now_ms < n->not_before_ms)
		return;
	vs_info("node=%s its VM is suspended and its job is no more: it is switched off",
		n->name);
	n->not_before_ms = now_ms + AGAIN_MS;
	vs_op_at(c, n, VS_DO_SHUTDOWN, NULL, now_ms);
}

void vs_suspend_failed(struct vs_core *c, struct vs_node *n,
		       enum vs_op_kind kind, const struct vs_err *err,
		       int64_t now_ms)
{
	struct vs_suspend *s = vs_suspend_of_node(c, n);

	c->suspends.failed++;
	vs_metrics_failed(c, kind, err->code);
	vs_info("node=%s JobId=%u op=%s failed code=%s fault=%s: %s", n->name,
		n->job, vs_op_name(kind), vs_code_name(err->code),
		err->fault[0] ? err->fault : "-", err->text);
	/* Whatever it was: what vCenter shows decides. */
	n->look_after = c->slow_seq + 1;
	vs_vc_slow_now(c->vc);
	if (kind == VS_OP_SUSPEND)
		n->no_suspend_ms = now_ms + VS_SUSPEND_REFUSED_MS;
	if (!s)
		return;
	if (kind == VS_OP_SUSPEND) {
		s->back = true;
	} else {
		vs_suspend_cannot(s, err->text);
		s->fails_ms = s->fails_ms ? s->fails_ms : now_ms;
	}
	s->try_ms = now_ms + AGAIN_MS;
}
