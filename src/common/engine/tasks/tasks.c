/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls under way: which node has one, how many there are beside their
 * limits, on which hosts they work, and clones of which no node is known.
 *
 * Rules: a node has one call at a time, and all that sets it does so here. Who
 * makes calls for something else says when one begins and ends. The lock is held.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/tasks/tasks.h"
#include "util/hash.h"
#include "util/mem.h"

struct vs_task {
	uint64_t id;
	char host[VS_MOID_LEN];
	UT_hash_handle hh;
};

/* ---- whose ------------------------------------------------------------------- */

static const struct vs_task_owner *owners[VS_OPS];

void vs_tasks_own(enum vs_op_kind kind, const struct vs_task_owner *owner)
{
	owners[kind] = owner;
}

void vs_task_failed(struct vs_core *c, struct vs_node *n, enum vs_op_kind kind,
		    const char *host, const struct vs_err *err, int64_t now_ms)
{
	vs_assert_locked();
	owners[kind]->failed(c, n, kind, host, err, now_ms);
}

/* ---- on which host ----------------------------------------------------------- */

void vs_task_begin(struct vs_core *c, uint64_t id, const char *host)
{
	struct vs_task *t = vs_calloc(1, sizeof(*t));

	t->id = id;
	vs_strlcpy(t->host, host, sizeof(t->host));
	HASH_ADD(hh, c->tasks.all, id, sizeof(t->id), t);
}

static void end(struct vs_core *c, struct vs_task *t)
{
	HASH_DEL(c->tasks.all, t);
	free(t);
}

void vs_task_end(struct vs_core *c, uint64_t id)
{
	struct vs_task *t;

	vs_assert_locked();
	HASH_FIND(hh, c->tasks.all, &id, sizeof(id), t);
	if (t)
		end(c, t);
}

void vs_tasks_clear(struct vs_core *c)
{
	struct vs_task *t, *tmp;

	HASH_ITER(hh, c->tasks.all, t, tmp)
		end(c, t);
}

const int *vs_tasks_by_host(struct vs_core *c)
{
	struct vs_tasks *all = &c->tasks;
	size_t nhosts = (size_t)c->inv.nhosts;

	VS_GROW(all->by_host, all->cap_by_host, nhosts + 1);
	memset(all->by_host, 0, nhosts * sizeof(*all->by_host));
	for (const struct vs_task *t = all->all; t; t = t->hh.next) {
		const struct vs_host *h = vs_host_get(&c->inv, t->host);

		if (h)
			all->by_host[h->index]++;
	}
	return all->by_host;
}

/* ---- beside their limits ----------------------------------------------------- */

static bool is_power(enum vs_op_kind k)
{
	return k == VS_OP_POWER_ON || k == VS_OP_POWER_OFF ||
	       k == VS_OP_SHUTDOWN;
}

bool vs_op_host_full(const struct vs_core *c, const char *host)
{
	int on_host = 0;

	for (const struct vs_task *t = c->tasks.all; t; t = t->hh.next)
		on_host += !strcmp(t->host, host);
	return on_host >= c->conf->host_max;
}

void vs_op_set(struct vs_core *c, struct vs_node *n, enum vs_op_kind kind,
	       uint64_t id, const char *vm, const char *host, int64_t now_ms)
{
	struct vs_node_op *op = &n->op;

	vs_assert_locked();
	vs_node_touch(n);
	/* jobs may wait for its budget: see vs_env_budget */
	if (op->id && (op->cancel_asked || vs_op_host_full(c, op->host)))
		c->vf_freed = true;
	if (op->id && op->kind != VS_OP_ADOPTED)
		(*(is_power(op->kind) ? &c->power_ops : &c->provisioning))--;
	if (op->id) {
		vs_task_end(c, op->id);
		LIST_REMOVE(n, busy);
		c->op_ended = true;
	}
	if (id) {
		vs_task_begin(c, id, host ? host : "");
		LIST_INSERT_HEAD(&c->busy, n, busy);
	}
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
	vs_assert_locked();
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
