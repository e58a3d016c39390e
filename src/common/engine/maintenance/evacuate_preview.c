/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What becomes of the VMs on a host that is to be empty, node by node: asked
 * before it is drained (svf host drain --dry-run), and told with the order.
 *
 * Rules: as of now, and nothing is held for it: a job that begins meanwhile may
 * take the room. Those that are told to move all find room beside each other,
 * kind by kind in the order of the nodes' names: what the kinds before have
 * taken is claimed while the lock is held, and released before the lock is.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/forecast/forecast.h"
#include "engine/hosts/hosts.h"
#include "engine/inventory/inventory.h"
#include "engine/maintenance/maintenance.h"
#include "engine/maintenance/maintenance_i.h"
#include "engine/state/state.h"
#include "util/json.h"
#include "util/mem.h"

#define KINDS 16		/* on a host, whose room is looked for */

struct kind {			/* what is placed alike */
	const struct vs_profile *profile;
	const char *store;
	size_t windows;		/* that bar hosts to its jobs */
	struct vs_node **nodes;	/* n of them */
	size_t n;
	struct vs_place_node *at;	/* of the first `moves` */
	size_t moves, told;
	char why[256];		/* of the others */
};

struct plan {
	struct vs_core *c;
	struct kind kinds[KINDS];
	size_t nkinds;
	struct json_object *rows;
	size_t moves, stays;
	bool requeue;
};

static int by_id(const void *a, const void *b)
{
	return (*(struct vs_node *const *)a)->id -
		(*(struct vs_node *const *)b)->id;
}

static bool used(const struct vs_node *n)
{
	return n->claims.job || (n->flags & (VS_NODE_ALLOCATED | VS_NODE_COMPLETING));
}

/* Why it stays whatever there is room for; NULL: it doesn't. */
static const char *must_stay(const struct plan *p, const struct vs_node *n,
			     struct vs_err *err)
{
	if (vs_vmotion_may(p->c, n, vs_node_vm(p->c, n), err))
		return err->text;
	return n->vmotion.state == VS_VMOTION_STAYS ? n->vmotion.why : NULL;
}

static size_t windows_of(const struct vs_node *n)
{
	size_t barring;

	vs_until_set(vs_until_job(n));
	barring = vs_windows_barring();
	vs_until_set(0);
	return barring;
}

/* make: it may be a new one. NULL: there are too many, or none. */
static struct kind *kind_of(struct plan *p, const struct vs_node *n, bool make)
{
	const char *store = vs_vm_datastore(p->c, vs_node_vm(p->c, n));
	size_t windows = windows_of(n);
	struct kind *k;

	for (k = p->kinds; k < p->kinds + p->nkinds; k++)
		if (k->profile == n->profile && k->windows == windows &&
		    !strcmp(k->store ? k->store : "", store ? store : ""))
			return k;
	if (!make || p->nkinds == KINDS)
		return NULL;
	k = &p->kinds[p->nkinds++];
	k->profile = n->profile;
	k->store = store;
	k->windows = windows;
	return k;
}

static void kinds_fill(struct plan *p, struct vs_node **nodes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct vs_err err;
		struct kind *k;

		if (!used(nodes[i]) || must_stay(p, nodes[i], &err) ||
		    vs_vmotion_claimed(p->c, nodes[i]))
			continue;
		k = kind_of(p, nodes[i], true);
		if (!k)
			continue;
		if (!k->nodes)
			k->nodes = vs_calloc(n, sizeof(struct vs_node *));
		k->nodes[k->n++] = nodes[i];
	}
}

static void kinds_place(struct plan *p)
{
	for (struct kind *k = p->kinds; k < p->kinds + p->nkinds; k++) {
		k->at = vs_calloc(k->n, sizeof(*k->at));
		k->moves = vs_vmotion_places(p->c, k->nodes, k->n, k->at,
					     k->why, sizeof(k->why));
		for (size_t i = 0; i < k->moves; i++)
			vs_vmotion_claim(p->c, k->nodes[i], &k->at[i]);
	}
	for (struct kind *k = p->kinds; k < p->kinds + p->nkinds; k++)
		for (size_t i = 0; i < k->moves; i++)
			vs_vmotion_unhold(p->c, k->nodes[i]);
}

static void kinds_free(struct plan *p)
{
	for (struct kind *k = p->kinds; k < p->kinds + p->nkinds; k++) {
		free(k->nodes);
		free(k->at);
	}
}

/* Why it stays; NULL: it moves. */
static const char *stays(struct plan *p, struct vs_node *n, struct vs_err *err)
{
	const char *why = must_stay(p, n, err);
	struct kind *k;

	if (why || vs_vmotion_claimed(p->c, n))
		return why;
	k = kind_of(p, n, false);
	if (!k)
		return "the host has VMs of too many types to check the capacity for all of them together";
	return k->told < k->moves && ++k->told ? NULL : k->why;
}

static void row_add(struct plan *p, struct vs_node *n)
{
	struct json_object *o = vs_jb_obj(NULL);
	struct vs_err err = { 0 };
	const char *why = NULL;

	vs_jb_str(o, "node", n->name);
	if (n->claims.job)
		vs_jb_int(o, "job", n->claims.job);
	if (used(n))
		why = stays(p, n, &err);
	vs_jb_str(o, "outcome", !used(n) ? "off" : !why ? "move" :
		  p->requeue ? "requeue" : "stay");
	if (why)
		vs_jb_str(o, "reason", why);
	p->moves += used(n) && !why;
	p->stays += used(n) && why;
	vs_jb_add(p->rows, o);
}

void vs_vmotion_plan(struct vs_core *c, const struct vs_host *h, bool requeue,
		     struct json_object *top)
{
	const struct vs_host_claims *holds = vs_ledger_host_claims(&c->ledger,
								   h->moid);
	const struct vs_exclusion *now =
		vs_exclusion_find(VS_EXCLUDED_DRAINED, h->moid);
	VS_FREE struct vs_node **nodes = NULL;
	struct plan p = { .c = c, .requeue = requeue || (now && now->requeue),
			  .rows = vs_jb_arr() };
	const struct vs_claim *hold;
	const struct vs_vm *vm;
	size_t n = 0, cap = 0;

	vs_assert_locked();
	if (holds)
		LIST_FOREACH(hold, &holds->list, on_host) {
			struct vs_node *node = vs_node_named(c, hold->node);

			if (!node || vs_node_there(c, node) != h)
				continue;
			VS_GROW(nodes, cap, n + 1);
			nodes[n++] = node;
		}
	/* of those that are suspended there is none */
	LIST_FOREACH(vm, &h->vms, on_host) {
		struct vs_node *node = vs_node_named(c, vm->name);

		if (!node || vs_node_vm(c, node) != vm ||
		    !vs_node_sleeps(c, node) ||
		    vs_ledger_get(&c->ledger, node->name))
			continue;
		VS_GROW(nodes, cap, n + 1);
		nodes[n++] = node;
	}
	if (n)
		qsort(nodes, n, sizeof(*nodes), by_id);
	kinds_fill(&p, nodes, n);
	kinds_place(&p);
	for (size_t i = 0; i < n; i++)
		row_add(&p, nodes[i]);
	kinds_free(&p);
	vs_jb_int(top, "nodes_moving", (int64_t)p.moves);
	vs_jb_int(top, "nodes_staying", (int64_t)p.stays);
	vs_jb_put(top, "nodes", p.rows);
}
