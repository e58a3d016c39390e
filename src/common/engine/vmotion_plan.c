/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What becomes of the VMs on a host that is to be empty, node by node: asked
 * before it is drained (svf host plan), and told with the order.
 *
 * Rules: as of now, and nothing is held for it: a job that begins meanwhile may
 * take the room. Of each kind of VM so many move as there is room for, in the
 * order of the nodes' names; kinds that share hosts may be promised the same.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/core_i.h"
#include "util/json.h"
#include "util/mem.h"

struct room {			/* of a profile */
	bool asked;
	size_t left;
	char why[256];
};

struct plan {
	struct vs_core *c;
	const struct vs_host *from;
	struct room *rooms;		/* by profile */
	struct json_object *rows;
	size_t moves, stays;
	bool requeue;
};

static int by_id(const void *a, const void *b)
{
	return (*(struct vs_node *const *)a)->id -
		(*(struct vs_node *const *)b)->id;
}

static struct room *room_of(struct plan *p, struct vs_node *n,
			    const struct vs_vm *vm)
{
	struct room *r = &p->rooms[n->profile - p->c->profiles];

	if (!r->asked)
		r->left = vs_vmotion_room(p->c, n, vm, r->why, sizeof(r->why));
	r->asked = true;
	return r;
}

/* Why it stays; NULL: it moves. */
static const char *stays(struct plan *p, struct vs_node *n,
			 const struct vs_vm *vm, struct vs_err *err)
{
	struct room *r;

	if (vs_vmotion_may(p->c, n, vm, err))
		return err->text;
	if (n->vmotion.state == VS_VMOTION_STAYS)
		return n->vmotion.why;
	if (vs_vmotion_moves(&n->vmotion))
		return NULL;
	r = room_of(p, n, vm);
	if (!r->left)
		return r->why;
	r->left--;
	return NULL;
}

static void row_add(struct plan *p, struct vs_node *n)
{
	const struct vs_vm *vm = vs_node_vm(p->c, n);
	struct json_object *o = vs_jb_obj(NULL);
	struct vs_err err = { 0 };
	const char *why = NULL;
	bool used = n->job || (n->flags & (VS_NODE_ALLOCATED |
					   VS_NODE_COMPLETING));

	vs_jb_str(o, "node", n->name);
	if (n->job)
		vs_jb_int(o, "job", n->job);
	if (used && vm)
		why = stays(p, n, vm, &err);
	vs_jb_str(o, "will", !used ? "off" : !why ? "move" :
		  p->requeue ? "requeue" : "stay");
	if (why)
		vs_jb_str(o, "why", why);
	p->moves += used && !why;
	p->stays += used && why;
	vs_jb_add(p->rows, o);
}

void vs_vmotion_plan(struct vs_core *c, const struct vs_host *h, bool requeue,
		     struct json_object *top)
{
	const struct vs_holds *holds = vs_ledger_holds(&c->ledger, h->moid);
	const struct vs_avoid *now =
		vs_avoid_cause(c, VS_AVOID_DRAINED, h->moid);
	VS_FREE struct vs_node **nodes = NULL;
	struct plan p = { .c = c, .from = h, .requeue = requeue || (now && now->requeue),
			  .rows = vs_jb_arr() };
	const struct vs_hold *hold;
	size_t n = 0, cap = 0;

	p.rooms = vs_calloc(c->nprofiles + 1, sizeof(*p.rooms));
	if (holds)
		LIST_FOREACH(hold, &holds->list, on_host) {
			struct vs_node *node = vs_node_named(c, hold->node);

			if (!node || vs_node_on(c, node) != h)
				continue;
			VS_GROW(nodes, cap, n + 1);
			nodes[n++] = node;
		}
	if (n)
		qsort(nodes, n, sizeof(*nodes), by_id);
	for (size_t i = 0; i < n; i++)
		row_add(&p, nodes[i]);
	vs_jb_int(top, "moves", (int64_t)p.moves);
	vs_jb_int(top, "stays", (int64_t)p.stays);
	vs_jb_put(top, "nodes", p.rows);
	free(p.rooms);
}
