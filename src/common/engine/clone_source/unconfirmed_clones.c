/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unconfirmed clones: the reply to one was lost, or it is reported done and its
 * VM isn't shown. While a reply is lost, a clone that is under way may be that
 * one (operations.c), and no parent of clones ends.
 *
 * Rules: a lost one is over when what it was to make is shown, or when a whole
 * periodic poll that has begun since showed no clone by slurm-vsphere. The node may be
 * started again then. One that is reported done is there: its parent stays for
 * long. The lock is held.
 */
#include <string.h>
#include "engine/clone_source/clone_source.h"
#include "engine/clone_source/clone_source_i.h"
#include "engine/state/state.h"
#include "engine/tasks/tasks.h"
#include "util/time.h"

#define UNSHOWN_MS (10 * 60 * 1000)

bool vs_clone_unconfirmed(const struct vs_core *c)
{
	for (size_t i = 0; i < c->nnodes; i++)
		if (vs_node_is(&c->nodes[i], VS_COND_CLONE_UNCONFIRMED))
			return true;
	return vs_clone_sources_unconfirmed();
}

void vs_clone_unconfirmed_set(struct vs_node *n, bool lost)
{
	vs_node_condition(n, VS_COND_CLONE_UNCONFIRMED, lost);
}

bool vs_clone_unanswered(const struct vs_core *c)
{
	const struct vs_node *n;

	LIST_FOREACH(n, &c->busy, busy)
		if (n->op.kind == VS_OP_CLONE && !n->op.task[0])
			return true;
	return vs_clone_sources_unanswered();
}

void vs_unconfirmed_clones_observe(struct vs_core *c)
{
	struct vs_clone_source *p;

	for (size_t i = 0; i < c->nnodes; i++)
		if (vs_node_is(&c->nodes[i], VS_COND_CLONE_UNCONFIRMED))
			vs_retry_reread(c, &c->nodes[i]);
	for (p = vs_clone_sources.all; p; p = p->hh.next)
		if (p->lost)
			p->look_after = c->slow_seq + 1;
	vs_vc_poll_request(c->vc);
}

void vs_clone_unshown(struct vs_core *c, const struct vs_node *n,
		      int64_t now_ms)
{
	struct vs_clone_source *r = n->op.source[0] ?
		vs_clone_source_record(c, n->op.source, true) : NULL;

	if (r)
		r->copied_until_ms = now_ms + UNSHOWN_MS;
}

/* The beat of that number may have begun before: the next one has not. */
static bool is_over(const struct vs_core *c, const char *name,
		    uint64_t look_after)
{
	const struct vs_vm *vm = vs_vm_get_named(&c->inv, c->folder, name);

	return c->slow_seq > look_after ||
	       (c->slow_seq == look_after && vm && vm->readable);
}

void vs_unconfirmed_clones_update(struct vs_core *c)
{
	struct vs_clone_source *p;

	if (!c->loaded || vs_unowned_tasks_wait())
		return;
	for (size_t i = 0; i < c->nnodes; i++) {
		struct vs_node *n = &c->nodes[i];

		if (vs_node_is(n, VS_COND_CLONE_UNCONFIRMED) &&
		    is_over(c, n->name, n->retry.look_after))
			vs_node_condition(n, VS_COND_CLONE_UNCONFIRMED, false);
	}
	for (p = vs_clone_sources.all; p; p = p->hh.next)
		if (p->lost && is_over(c, p->name, p->look_after))
			p->lost = false;
}
