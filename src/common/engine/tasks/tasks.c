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
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "util/hash.h"
#include "util/mem.h"

struct vs_task {
	uint64_t id;
	char host[VS_MOID_LEN];
	UT_hash_handle hh;
};

static struct vs_task *tasks;	/* uthash by the client's id */
static int provisioning, power_ops;	/* in flight */
static bool ended;		/* since that was asked: others may have its budget */

/* ---- whose ------------------------------------------------------------------- */

static const struct vs_task_owner *owners[VS_OPS];

void vs_tasks_own(enum vs_op_type kind, const struct vs_task_owner *owner)
{
	owners[kind] = owner;
}

void vs_task_failed(struct vs_core *c, struct vs_node *n, enum vs_op_type kind,
		    const char *host, const struct vs_err *err, int64_t now_ms)
{
	vs_assert_locked();
	owners[kind]->failed(c, n, kind, host, err, now_ms);
}

/* ---- on which host ----------------------------------------------------------- */

void vs_task_begin(uint64_t id, const char *host)
{
	struct vs_task *t = vs_calloc(1, sizeof(*t));

	t->id = id;
	vs_strlcpy(t->host, host, sizeof(t->host));
	HASH_ADD(hh, tasks, id, sizeof(t->id), t);
}

static void end(struct vs_task *t)
{
	HASH_DEL(tasks, t);
	free(t);
}

void vs_task_end(uint64_t id)
{
	struct vs_task *t;

	vs_assert_locked();
	HASH_FIND(hh, tasks, &id, sizeof(id), t);
	if (t)
		end(t);
	ended = true;
}

void vs_tasks_clear(void)
{
	struct vs_task *t, *tmp;

	HASH_ITER(hh, tasks, t, tmp)
		end(t);
	provisioning = power_ops = 0;
}

const int *vs_tasks_by_host(struct vs_core *c)
{
	static int *by_host;
	static size_t cap;
	size_t nhosts = (size_t)c->inv.nhosts;

	VS_GROW(by_host, cap, nhosts + 1);
	memset(by_host, 0, nhosts * sizeof(*by_host));
	for (const struct vs_task *t = tasks; t; t = t->hh.next) {
		const struct vs_host *h = vs_host_get(&c->inv, t->host);

		if (h)
			by_host[h->index]++;
	}
	return by_host;
}

/* ---- beside their limits ----------------------------------------------------- */

static bool is_power(enum vs_op_type k)
{
	return k == VS_OP_POWER_ON || k == VS_OP_POWER_OFF ||
	       k == VS_OP_SHUTDOWN;
}

bool vs_op_host_full(const struct vs_core *c, const char *host)
{
	int on_host = 0;

	for (const struct vs_task *t = tasks; t; t = t->hh.next)
		on_host += !strcmp(t->host, host);
	return on_host >= c->conf->max_ops_per_host;
}

void vs_tasks_busy_none(struct vs_core *c)
{
	LIST_INIT(&c->busy);
}

void vs_tasks_busy_add(struct vs_core *c, struct vs_node *n)
{
	LIST_INSERT_HEAD(&c->busy, n, busy);
}

void vs_op_set(struct vs_core *c, struct vs_node *n, enum vs_op_type kind,
	       uint64_t id, const char *vm, const char *host, int64_t now_ms)
{
	struct vs_node_op *op = &n->op;

	vs_assert_locked();
	vs_node_mark_changed(n);
	/* jobs may wait for its budget: see vs_env_budget */
	if (op->id && (op->cancel_asked || vs_op_host_full(c, op->host)))
		vs_capacity_freed();
	if (op->id && op->kind != VS_OP_ADOPTED)
		(*(is_power(op->kind) ? &power_ops : &provisioning))--;
	if (op->id) {
		vs_task_end(op->id);
		LIST_REMOVE(n, busy);
	}
	if (id) {
		vs_task_begin(id, host ? host : "");
		vs_tasks_busy_add(c, n);
	}
	memset(op, 0, sizeof(*op));
	op->kind = kind;
	op->id = id;
	op->since_ms = now_ms;
	vs_strlcpy(op->vm, vm ? vm : "", sizeof(op->vm));
	vs_strlcpy(op->host, host ? host : "", sizeof(op->host));
	if (id && kind != VS_OP_ADOPTED)
		(*(is_power(kind) ? &power_ops : &provisioning))++;
}

void vs_op_task_note(struct vs_node *n, const char *task)
{
	vs_strlcpy(n->op.task, task, sizeof(n->op.task));
}

void vs_op_spec_note(struct vs_node *n, const char *source, bool devices)
{
	vs_strlcpy(n->op.source, source, sizeof(n->op.source));
	n->op.devices = devices;
}

void vs_op_cancel_note(struct vs_node *n)
{
	n->op.cancel_asked = true;
}

bool vs_op_affords(const struct vs_core *c, enum vs_action a)
{
	vs_assert_locked();
	if (!vs_changes_permitted())
		return false;
	if (a == VS_DO_POWER_ON || a == VS_DO_SHUTDOWN)
		return power_ops < c->conf->max_power_ops;
	return provisioning < c->conf->max_provision_ops;
}

int vs_tasks_provisioning(void)
{
	return provisioning;
}

int vs_tasks_power_ops(void)
{
	return power_ops;
}

void vs_tasks_provisioning_add(int by)
{
	provisioning += by;
}

void vs_tasks_power_add(int by)
{
	power_ops += by;
}

bool vs_tasks_ended(void)
{
	return ended;
}

void vs_tasks_ended_clear(void)
{
	ended = false;
}

/* ---- strays -------------------------------------------------------------------- */

static struct stray {
	uint64_t id;
	char task[VS_MOID_LEN];
	int64_t since_ms;
	bool left;			/* waited for no longer */
} *strays;
static size_t nstrays, cap_strays;

void vs_unowned_task_add(uint64_t id, const char *task, int64_t now_ms)
{
	struct stray *s;

	VS_GROW(strays, cap_strays, nstrays + 1);
	s = &strays[nstrays++];
	*s = (struct stray) { .id = id, .since_ms = now_ms };
	vs_strlcpy(s->task, task, sizeof(s->task));
}

bool vs_unowned_task_end(uint64_t id)
{
	size_t i = 0;

	while (i < nstrays && strays[i].id != id)
		i++;
	if (i == nstrays)
		return false;
	strays[i] = strays[--nstrays];
	return true;
}

bool vs_unowned_task_is_known(const char *task)
{
	for (size_t i = 0; i < nstrays; i++)
		if (!strcmp(strays[i].task, task))
			return true;
	return false;
}

size_t vs_unowned_tasks_count(void)
{
	return nstrays;
}

bool vs_unowned_tasks_wait(void)
{
	for (size_t i = 0; i < nstrays; i++)
		if (!strays[i].left)
			return true;
	return false;
}

const char *vs_unowned_task_abandon(int64_t by_ms)
{
	for (size_t i = 0; i < nstrays; i++)
		if (!strays[i].left && strays[i].since_ms <= by_ms) {
			strays[i].left = true;
			return strays[i].task;
		}
	return NULL;
}

void vs_unowned_tasks_forget(void)
{
	nstrays = 0;
}
