/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Marks on nodes of which a fact has changed: what was kept of such a node is
 * known no more, and the engine looks at it in its next turn.
 *
 * Rules: whoever changes a fact marks what hangs on it. The lock is held.
 */
#include "engine/state/state.h"

void vs_node_touch(struct vs_node *n)
{
	vs_assert_locked();
	n->kept->fresh = n->kept->rests = false;
	n->kept->epoch = 0;
	n->kept->touches++;
}

void vs_nodes_touch(struct vs_core *c)
{
	vs_assert_locked();
	if (!++c->facts_epoch)
		c->facts_epoch = 1;
	c->full_ms = INT64_MIN / 2;
}

void vs_nodes_touch_on(struct vs_core *c, const struct vs_host *h)
{
	struct vs_vm *vm;

	vs_assert_locked();
	LIST_FOREACH(vm, &h->vms, on_host) {
		struct vs_node *n = vs_node_named(c, vm->name);

		if (n)
			vs_node_touch(n);
	}
}

void vs_kept_renewed(const struct vs_core *c, struct vs_node *n)
{
	vs_assert_locked();
	n->kept->epoch = c->facts_epoch;
}

void vs_profiles_changed(struct vs_core *c)
{
	vs_assert_locked();
	/* "" where the template isn't known: nothing is judged by it. */
	for (size_t i = 0; i < c->nprofiles; i++)
		if (vs_profile_hash(&c->profiles[i], c->now[i].hash))
			c->now[i].hash[0] = '\0';
	vs_nodes_touch(c);
}
