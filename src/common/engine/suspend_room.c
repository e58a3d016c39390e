/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Room for a VM that is suspended and may go on: idle warm VMs are powered down
 * for it as for a job that waits (reclaim.c), the longest idle first, those of
 * its host before others (a pool or a datastore may be what is short).
 *
 * Rules: nobody goes if all of them would not do, nor who isn't needed; not
 * before Slurm has looked at its queue since they are idle, for they may be just
 * right for a job there. Placement itself judges, as if they were gone.
 */
#include <stdlib.h>
#include "engine/core_i.h"
#include "util/mem.h"

#define LOOK_MS 5000
#define IDLE_MAX 64

struct way {
	struct vs_core *c;
	struct vs_place_env env;
	struct vs_as_if as_if;
	struct vs_place_node want;
	bool *gone;			/* by node id: as if its VM were off */
	int ids[IDLE_MAX];		/* idle ones */
	size_t n;
};

static bool is_gone(void *arg, const char *name, const struct vs_vm *vm)
{
	const struct way *w = arg;
	const struct vs_node *n = vs_node_named(w->c, name);

	return n && w->gone[n->id] && (!vm || vs_node_vm(w->c, n) == vm);
}

static void set_gone(struct way *w, int id, bool gone)
{
	struct vs_core *c = w->c;
	const struct vs_vm *vm = vs_node_vm(c, &c->nodes[id]);

	if (w->gone[id] == gone || !vm || !vm->host_ptr)
		return;
	w->gone[id] = gone;
	if (vs_vm_shown_on(vm))
		vs_as_if_shared(&w->as_if, vm, vs_node_pool_wrong(c, vm) ? -1 :
				vs_room_pool(&c->inv, vm->host_ptr->cluster),
				gone ? 1 : -1);
	vs_as_if_host(&w->as_if, vm->host_ptr->index);
}

static bool fits(struct way *w)
{
	return vs_place_could(&w->env, &w->want, 1);
}

static bool is_idle(const struct vs_node *n, int64_t now_ms)
{
	return n->wanted == VS_WANT_KEEP && !n->job &&
	       vs_node_gives_way(n) && !vs_node_going(n) &&
	       !(n->flags & (VS_NODE_ALLOCATED | VS_NODE_COMPLETING)) &&
	       now_ms - n->idle_ms >= LOOK_MS;
}

struct order { struct vs_core *c; const struct vs_host *host; };

static int by_use(const void *a, const void *b, void *arg)
{
	const struct order *o = arg;
	const struct vs_node *x = &o->c->nodes[*(const int *)a];
	const struct vs_node *y = &o->c->nodes[*(const int *)b];
	bool here_x = vs_node_on(o->c, x) == o->host;
	bool here_y = vs_node_on(o->c, y) == o->host;

	if (here_x != here_y)
		return here_x ? -1 : 1;
	if (x->idle_ms != y->idle_ms)
		return x->idle_ms < y->idle_ms ? -1 : 1;
	return x->id - y->id;
}

/* Those on their way count as gone. */
static void find(struct way *w, const struct vs_host *host, int64_t now_ms)
{
	struct vs_core *c = w->c;
	VS_FREE int *ids = vs_calloc(c->nnodes + 1, sizeof(*ids));
	struct order o = { c, host };
	size_t n = 0;

	for (size_t i = 0; i < c->nnodes; i++) {
		const struct vs_node *node = &c->nodes[i];

		if (!node->job && vs_node_going(node))
			set_gone(w, (int)i, true);
		else if (is_idle(node, now_ms))
			ids[n++] = (int)i;
	}
	qsort_r(ids, n, sizeof(*ids), by_use, &o);
	for (w->n = 0; w->n < n && w->n < IDLE_MAX; w->n++)
		w->ids[w->n] = ids[w->n];
}

/* The first that do, but for those that aren't needed; 0: all would not. */
static size_t choose(struct way *w)
{
	size_t n = 0;

	while (n < w->n && !fits(w))
		set_gone(w, w->ids[n++], true);
	if (!fits(w))
		return 0;
	for (size_t i = 0; i + 1 < n; i++) {
		set_gone(w, w->ids[i], false);
		if (!fits(w))
			set_gone(w, w->ids[i], true);
	}
	return n;
}

void vs_suspend_make_way(struct vs_core *c, const struct vs_node *n,
			 const struct vs_vm *vm, int64_t now_ms)
{
	VS_FREE bool *gone = vs_calloc(c->nnodes + 1, sizeof(*gone));
	struct way w = { .c = c, .gone = gone };
	size_t chosen;

	vs_hold_here_env(c, n, vm, &w.env, &w.want);
	vs_as_if_begin(&w.as_if, w.env.sums, &c->ledger, &c->inv, is_gone, &w);
	find(&w, vm->host_ptr, now_ms);
	chosen = choose(&w);
	vs_as_if_end(&w.as_if);
	for (size_t i = 0; i < chosen; i++) {
		struct vs_node *idle = &c->nodes[w.ids[i]];

		if (!gone[idle->id])
			continue;
		vs_info("node=%s idle VM is reclaimed for JobId=%u, which is suspended",
			idle->name, n->job);
		idle->leave = true;
		idle->reclaimed_for = n->job;
		idle->action_since_ms = now_ms;
		c->plans.weighed = 0;
		vs_node_touch(idle);
	}
}
