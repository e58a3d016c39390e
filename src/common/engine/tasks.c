/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls under way for nodes: who has one, how many there are beside their
 * limits, and clones of which no node is known.
 *
 * Rules: a node has one call at a time, and all that sets it does so here. The
 * lock is held.
 */
#include <string.h>
#include "engine/tasks.h"
#include "util/mem.h"

static bool is_power(enum vs_op_kind k)
{
	return k == VS_OP_POWER_ON || k == VS_OP_POWER_OFF ||
	       k == VS_OP_SHUTDOWN;
}

bool vs_op_host_full(const struct vs_core *c, const char *host)
{
	const struct vs_node *n;
	int on_host = vs_parents_ops_on(c, host);

	LIST_FOREACH(n, &c->busy, busy)
		on_host += !strcmp(n->op.host, host);
	return on_host >= c->conf->host_max;
}

void vs_op_set(struct vs_core *c, struct vs_node *n, enum vs_op_kind kind,
	       uint64_t id, const char *vm, const char *host, int64_t now_ms)
{
	struct vs_node_op *op = &n->op;

	vs_node_touch(n);
	/* jobs may wait for its budget: see vs_env_budget */
	if (op->id && (op->cancel_asked || vs_op_host_full(c, op->host)))
		c->vf_freed = true;
	if (op->id && op->kind != VS_OP_ADOPTED)
		(*(is_power(op->kind) ? &c->power_ops : &c->provisioning))--;
	if (op->id) {
		LIST_REMOVE(n, busy);
		c->op_ended = true;
	}
	if (id)
		LIST_INSERT_HEAD(&c->busy, n, busy);
	memset(op, 0, sizeof(*op));
	op->kind = kind;
	op->id = id;
	op->since_ms = now_ms;
	vs_strlcpy(op->vm, vm ? vm : "", sizeof(op->vm));
	vs_strlcpy(op->host, host ? host : "", sizeof(op->host));
	if (id && kind != VS_OP_ADOPTED)
		(*(is_power(kind) ? &c->power_ops : &c->provisioning))++;
}

bool vs_op_affords(const struct vs_core *c, enum vs_action a)
{
	if (a == VS_DO_POWER_ON || a == VS_DO_SHUTDOWN)
		return c->power_ops < c->conf->power_max;
	return c->provisioning < c->conf->provision_max;
}

bool vs_strays_wait(const struct vs_core *c)
{
	for (size_t i = 0; i < c->nstrays; i++)
		if (!c->strays[i].left)
			return true;
	return false;
}
